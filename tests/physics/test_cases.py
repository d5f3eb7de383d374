"""Every case of `impulsar validate` that takes seconds, on every device, as a test of its law."""

import pytest

from impulsar.validate import cases, run_case

QUICK = [case for case in cases().values() if not case.slow]
TIMED = {"linear-cost", "import-time", "first-step-cold", "first-step-cached", "edit-time", "topology-time"}  # a clock
ON_HOST = TIMED | {"table1", "table1-fewer", "one-trajectory", "trajectory-order", "simmc-floor-order"}


def as_parameter(case):
    return pytest.param(case, id=case.name, marks=[pytest.mark.timed] if case.name in TIMED else [])


@pytest.mark.parametrize("case", [as_parameter(case) for case in QUICK])
def test_case_holds(case, device):
    if device != "cpu" and case.name in ON_HOST:
        device = "cpu"
    outcome = run_case(case, device)
    assert outcome.holds, f"{case.law}: {outcome.line}"


def test_names_are_unique_and_bounds_finite():
    assert all(case.bound == case.bound and case.bound < float("inf") for case in cases().values())
    assert {case.name for case in QUICK} <= set(cases())
