"""Ways to break a run: each is right, raised or reported under every method; and the page that lists them."""

from pathlib import Path

import pytest

from impulsar_verification.fault_ways import FAULTS
from impulsar_verification.faults import SETUPS, SILENT, SLOW, WARNING, Fault, Trial, attempt

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
# a minute each, and left to the case `faults`: shorter ones beside them end by the same 10^6 evaluations
LONG = {("load 1e12", "direct", "maximal")}
RUNS = [(fault, setup) for fault in FAULTS for setup in SETUPS if (fault.name, *setup) not in LONG]


@pytest.mark.parametrize(("fault", "setup"), RUNS, ids=["-".join((fault.name, *setup)) for fault, setup in RUNS])
def test_no_fault_is_silent(fault, setup):
    """A run is right by its law, or says that it is not; what a report tells, `World(strict=True)` raises.

    A warning when a world is built is nothing that a report tells.
    """
    found = attempt(fault, *setup)
    if found.verdict == SLOW and (fault.name, *setup) == ("chain 1e9", "direct", "maximal"):
        pytest.xfail("takes more than 20 s of the processor")
    assert found.verdict not in (SILENT, SLOW), f"{fault.way}: {found.cell}"
    if found.verdict == "reported" and found.words != WARNING:
        assert attempt(fault, *setup, True).verdict == "raised"


@pytest.mark.parametrize(
    ("found", "verdict"), [(1.0, "right"), (1.0 + 1e-6, "right"), (2.0, SILENT), (float("nan"), SILENT)]
)
def test_a_wrong_result_without_words_is_silent(found, verdict):
    """The judge: within 1e-4 is right, anything else, nan too, is silent where nothing is said."""
    fault = Fault("f", "w", "1", lambda trial: trial.expect(found, 1.0))
    assert attempt(fault, "direct", "generalized").verdict == verdict


def test_what_is_raised_or_said_counts():
    """A raised error is named; what a report tells stands beside a wrong result; no law and no word is silent."""

    def raises(trial: Trial) -> None:
        raise ValueError("first line\nsecond")

    def tells(trial: Trial) -> None:
        trial.said.append("stiffness (strut)")
        trial.expect(2.0, 1.0)

    raised = attempt(Fault("f", "w", "", raises), "direct", "maximal")
    assert (raised.verdict, raised.words, raised.message) == ("raised", "ValueError", "first line")
    assert attempt(Fault("f", "w", "", tells), "direct", "maximal").verdict == "reported"
    assert attempt(Fault("f", "w", "", lambda trial: None), "direct", "maximal").verdict == SILENT


def test_one_run_is_left_out():
    assert len(RUNS) == len(FAULTS) * len(SETUPS) - 1


def test_page_lists_every_way_and_nothing_silent():
    """docs/limits.md is of these ways: `python -m impulsar_verification.faults docs/limits.md` makes it anew."""
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and line.split("|")[1].strip().isdigit()]
    assert [row.split(" | ")[1] for row in rows] == [fault.way for fault in FAULTS]
    assert not [row for row in rows if SILENT in row or SLOW in row]
