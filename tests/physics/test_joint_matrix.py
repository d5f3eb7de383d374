"""Every joint type as tree and as loop joint, with every feature: it works or is refused by name."""

import pytest

from impulsar.author.joints import CATALOGUE
from impulsar.engine.methods import METHODS
from impulsar.validate import joint_matrix
from impulsar.validate.joint_matrix import FEATURES, TIGHT, Cell, cells, check_cell


def test_every_method_is_in_the_matrix() -> None:
    assert {(name, coordinates) for name, method in METHODS.items() for coordinates in method.coordinates} == set(TIGHT)
    assert len(cells()) == len(set(cells())) == len(CATALOGUE) * (2 + 2 + 1 + 1) * len(FEATURES)


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: cell.name)
def test_cell(cell: Cell, device: str) -> None:
    """Closed forms in check_cell; only what the catalogue does not have may be refused."""
    verdict = check_cell(cell, device)
    groups = CATALOGUE[cell.type].groups
    balls = [group for group in groups if group.is_ball]
    if cell.feature in ("joint", "reaction"):
        assert verdict == "works"
    elif not groups:
        assert verdict.startswith("refused: ")
    elif cell.feature == "motor position" and balls:
        assert verdict == "works, rotation refused" if len(groups) > 1 else verdict.startswith("refused: ")
    else:
        assert verdict == "works"


def test_matrix_has_no_empty_cell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed table has a word for every type, role and feature, and counts what fails."""
    verdicts = iter(["works", "refused: has none", "works, rotation refused"] * len(cells()))

    def verdict(cell: Cell, device: str = "cpu") -> str:
        if cell == Cell("screw", "loop", "simgc", "generalized", "spring"):
            raise joint_matrix.Mismatch("too soft")
        return next(verdicts)

    monkeypatch.setattr(joint_matrix, "check_cell", verdict)
    assert joint_matrix.count_failures() == 1.0
    joint_matrix.print_matrix()
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.split()[0] in CATALOGUE]
    assert len(rows) == len(CATALOGUE) * (2 + 2 + 1 + 1)  # both roles in generalized coordinates
    marks = sum(row.count("works") + row.count("refused") + row.count("FAILS") for row in rows)
    assert marks == len(rows) * len(FEATURES)
    assert "FAILS: too soft" in printed
    joint_matrix._last.clear()
