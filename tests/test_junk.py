"""Junk calls of the public functions: a part of the case `junk-calls` of `impulsar validate`."""

import numpy as np
import pytest

from impulsar.author.errors import ModelError
from impulsar_verification import junk_calls


def test_junk_calls_end_in_named_errors_or_right_results():
    """Two calls of each of the functions, other ones than the case makes first."""
    functions = junk_calls.calls()
    assert len(functions) >= 59
    tally = junk_calls.junk_campaign(2 * len(functions), seed=11)
    assert not tally.faults
    assert tally.counts["named"] > 100


@pytest.mark.parametrize(
    ("wrong", "fault"),
    (
        (lambda: {}["x"], "KeyError"),
        (lambda: np.zeros(3) > np.zeros(2), "ValueError"),
        (lambda: float("x"), "ValueError"),
        (lambda: None.x, "AttributeError"),
        (lambda: [1.0] + "x", "TypeError"),
        (lambda: 1.0 * 10**400, "OverflowError"),
    ),
)
def test_what_is_a_fault(wrong, fault):
    """What an operation raises by itself is one, whatever its class; what is raised in words is none."""
    with pytest.raises(Exception) as caught:
        wrong()
    assert type(caught.value).__name__ == fault
    assert not junk_calls.is_meant(caught.value)
    with pytest.raises(ModelError) as caught:
        junk_calls.Model(3)
    assert junk_calls.is_meant(caught.value)


def test_a_call_that_takes_long_is_a_fault():
    """The watch rings in Python code; the time of native code is measured."""
    tally = junk_calls.Tally()
    tally.note("accepted", "f()", junk_calls.LONGEST + 1.0)
    assert tally.faults
    with pytest.raises(junk_calls.TooLong), junk_calls.limited(0.05):
        while True:
            pass
