"""Every joint type as tree and as loop joint, with every feature: it works or is refused by name."""

import pytest

from impulsar.author.joints import CATALOGUE
from impulsar.engine.methods import METHODS
from impulsar.validate import joint_matrix
from impulsar.validate.joint_matrix import FEATURES, LAWLESS, TIGHT, Cell, cells, check_cell

ROWS = 2 + 1 + 6 * (2 + 1)  # of a type: simgc, simmc, and six in both coordinates; both roles in generalized ones
EVERYWHERE = (
    "simgc",
    "simmc",
    "direct",
)  # methods whose every cell is a test; of the others a hinge is, the rest a study


def as_test(cell: Cell) -> object:
    marks = []
    if cell.method not in EVERYWHERE and (
        cell.type != "revolute" or (cell.role, cell.coordinates) == ("tree", "generalized")
    ):
        marks.append(pytest.mark.study)
    elif cell.feature in ("servo", "armature") and cell.type not in ("revolute", "prismatic", "spherical"):
        marks.append(pytest.mark.study)
    elif (cell.method, cell.feature) == ("projected", "motor position"):  # minutes
        marks.append(pytest.mark.study)
    return pytest.param(cell, id=cell.name, marks=marks)


def test_every_method_is_in_the_matrix() -> None:
    assert {(name, coordinates) for name, made in METHODS.items() for coordinates in made.coordinates} == set(TIGHT)
    assert len(cells()) == len(set(cells())) == len(CATALOGUE) * ROWS * len(FEATURES)


@pytest.mark.parametrize("cell", [as_test(cell) for cell in cells()])
def test_cell(cell: Cell, device: str) -> None:
    """Closed forms in check_cell; only what the catalogue does not have may be refused."""
    verdict = check_cell(cell, device)
    groups = CATALOGUE[cell.type].groups
    balls = [group for group in groups if group.is_ball]
    if cell.feature in ("joint", "reaction"):
        assert verdict == "works"
    elif not groups:
        assert verdict.startswith("refused: ")
    elif cell.feature == "armature" and cell.role == "loop":
        assert verdict.startswith("refused: ") and ("closes a loop" in verdict or "has no law" in verdict)
    elif cell.feature in ("motor position", "servo") and balls:
        assert verdict == "works, rotation refused" if len(groups) > 1 else verdict.startswith("refused: ")
    elif cell.feature in LAWLESS.get(cell.method, ()):
        assert verdict.startswith("refused: ") and f"{cell.method} has no law" in verdict
    elif cell.method == "variational" and cell.feature == "motor speed" and balls:
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
    assert len(rows) == len(CATALOGUE) * ROWS
    marks = sum(row.count("works") + row.count("refused") + row.count("FAILS") for row in rows)
    assert marks == len(rows) * len(FEATURES)
    assert "FAILS: too soft" in printed
    joint_matrix._last.clear()
