"""Every case of `impulsar validate` that takes seconds, on every device, as a test of its law."""

import pytest

from impulsar.validate import cases, every_case, run_case
from impulsar.validate.direct_cases import vibration_lost

LONG = ("method-order", "table1", "table1-fewer")  # 15 s and more: studies
QUICK = [
    pytest.param(case, id=case.name, marks=[pytest.mark.study] if case.name in LONG else [])
    for case in cases().values()
    if not case.slow
]
ON_HOST = {"table1", "table1-fewer", "one-trajectory", "trajectory-order", "simmc-floor-order"}


@pytest.mark.parametrize("case", QUICK)
def test_case_holds(case, device):
    if device != "cpu" and case.name in ON_HOST:
        pytest.skip("measured on the host; its figure is no GPU's")
    outcome = run_case(case, device)
    assert outcome.holds, f"{case.law}: {outcome.line}"


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_lift_keeps_its_vibration(coordinates, device):
    """A tenth of what the case `lift-vibration` allows for 10 s, in 1 s: losses add up."""
    assert vibration_lost(coordinates, 1.0, device) < 0.05


def test_names_are_unique_and_bounds_finite():
    """Of the cases as they are written: a table by name would hide the first of two."""
    written = every_case()
    names = [case.name for case in written]
    assert len(names) > 80
    assert [name for name in names if names.count(name) > 1] == []
    assert list(cases()) == names
    assert [case.name for case in written if not 0.0 <= case.bound < float("inf")] == []
    assert set(names) >= ON_HOST
