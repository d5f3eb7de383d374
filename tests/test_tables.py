"""Tables of the docs: each is one that a case writes, and the quick ones are measured anew."""

import re

import pytest

from impulsar_verification.tables import QUICK, TABLES, kept, markdown, sig

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")


def test_every_table_has_its_place_in_the_docs() -> None:
    assert set(kept()) == set(TABLES)


def test_numbers_have_two_digits() -> None:
    numbers = (0.0, 628.0, 45.2, 0.000123, 1e-15, 6.1e-5, 251.3, 1e20)
    assert [sig(x) for x in numbers] == ["0", "628", "45", "0.00012", "1e-15", "6.1e-5", "250", "1e20"]
    assert markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize("name", QUICK)
def test_what_is_written_is_what_is_measured(name: str) -> None:
    """The same words, and every number within a tenth: other processors round otherwise.

    `python -m impulsar_verification.tables` writes them anew.
    """
    written, measured = kept()[name], TABLES[name]()
    assert NUMBER.sub("#", written) == NUMBER.sub("#", measured)
    pairs = zip(NUMBER.findall(written), NUMBER.findall(measured), strict=True)
    assert [pair for pair in pairs if float(pair[0]) != pytest.approx(float(pair[1]), rel=0.1)] == []
