"""Rows: where their slots are, and who knows one kind from another."""

import re
from pathlib import Path

import impulsar as im
from impulsar.engine.system import System
from impulsar.engine.system.slots import CLOSURE, COUPLING, HAND, SPRING

RANGES = {"closure": {CLOSURE}, "feature": None, "coupling": {COUPLING}, "spring": {SPRING}, "hand": {HAND}}


def test_ranges_of_slots_have_names(mechanism: im.Model) -> None:
    """Every slot is in one range, those of a range are of one kind of part, and hands are found by name."""
    system = System(mechanism, hands=2)
    assert [r for name in RANGES for r in system.range(name)] == list(range(len(system.slots)))
    for name, kinds in RANGES.items():
        found = {system.slots[r].kind for r in system.range(name)}
        assert found <= kinds if kinds else not found & {CLOSURE, COUPLING, SPRING, HAND}
    assert system.range("closure") and system.range("feature") and len(system.range("hand")) == 6
    for hand in range(2):
        slots = system.slots[system.hand_slots(hand)]
        assert [(slot.part, slot.code) for slot in slots] == [(hand, axis) for axis in range(3)]


def test_kinds_are_told_apart_in_one_place() -> None:
    """What a slot's kind and letters mean is read in constrain/ only, and only kinds.py knows more than one kind."""
    source = Path(im.__file__).parent
    letters, kinds = (
        re.compile(r"\.(slot_(kind|[abcd])|row_kind)\["),
        re.compile(r"^from \. import .*closure", re.MULTILINE),
    )
    knows = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if letters.search(path.read_text())}
    assert knows and all(name.startswith("engine/constrain/") for name in knows), knows
    all_kinds = {path.name for path in (source / "engine/constrain").glob("*.py") if kinds.search(path.read_text())}
    assert all_kinds == {"kinds.py"}
