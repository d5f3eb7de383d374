"""Profiles of time: their values, their jumps, their components and their refusals."""

import math

import numpy as np
import pytest

from impulsar.author.profiles import Component, Harmonic, Ramp, Smooth, Table, scalar_profiles

RAMP = Ramp(1.0, 3.0, 2.0, 4.0)
SMOOTH = Smooth(1.0, 3.0, 2.0, 4.0)
JUMP = Table((0.0, 1.0, 1.0, 2.0), (0.0, 1.0, 5.0, 7.0))


@pytest.mark.parametrize(
    ("profile", "t", "value"),
    [
        (RAMP, 0.0, 1.0),
        (RAMP, 2.0, 1.0),
        (RAMP, 2.5, 1.5),
        (RAMP, 4.0, 3.0),
        (RAMP, 9.0, 3.0),
        (Ramp((0, 0, 0), (1, 2, 4), 0, 2), 0.5, (0.25, 0.5, 1.0)),
        (SMOOTH, 0.0, 1.0),
        (SMOOTH, 2.0, 1.0),
        (SMOOTH, 2.5, 1.0 + 2 * 0.103515625),  # u = 1/4: (10 - 15/4 + 6/16) / 64
        (SMOOTH, 3.0, 2.0),
        (SMOOTH, 4.0, 3.0),
        (SMOOTH, 9.0, 3.0),
        (Smooth((0, 0, 0), (1, 2, 4), 0, 2), 1.0, (0.5, 1.0, 2.0)),
        (Harmonic(2.0, math.pi), 0.5, 2.0),
        (Harmonic(2.0, 1.0, phase=math.pi / 2, mean=3.0), 0.0, 5.0),
        (Harmonic((1, 0, 2), math.pi, mean=(0, 1, 0)), 0.5, (1.0, 1.0, 2.0)),
        (JUMP, -1.0, 0.0),
        (JUMP, 0.5, 0.5),
        (JUMP, np.nextafter(1.0, 0.0), 1.0),
        (JUMP, 1.0, 5.0),
        (JUMP, 1.5, 6.0),
        (JUMP, 3.0, 7.0),
        (Table((0.0, 0.0), (1.0, 2.0)), -1e-9, 1.0),
        (Table((0.0, 0.0), (1.0, 2.0)), 0.0, 2.0),
        (Table((0.0,), (4.0,)), 5.0, 4.0),
        (Table((0, 2), [(0, 0, 0), np.array([2.0, 4.0, 6.0])]), 1.0, (1.0, 2.0, 3.0)),
    ],
)
def test_value(profile, t, value):
    """The definition of each profile, to rounding; a scalar profile gives a float."""
    result = profile(t)
    assert isinstance(result, float if np.ndim(value) == 0 else np.ndarray)
    np.testing.assert_allclose(result, value, rtol=1e-15, atol=1e-15)


def test_ramp_takes_its_start_later():
    """A ramp without start is completed by with_start; one with a start keeps it."""
    open_ramp = Ramp(None, (1.0, 0.0, 0.0), 3.0, 4.0)
    with pytest.raises(ValueError, match="with_start"):
        open_ramp(3.0)
    np.testing.assert_array_equal(open_ramp.with_start((3.0, 2.0, 1.0))(3.0), (3.0, 2.0, 1.0))
    assert RAMP.with_start(9.0) is RAMP


def test_smooth_has_continuous_acceleration():
    """Rate and acceleration are the derivatives of the value, 0 at both ends and beyond, and meet their bounds."""
    D, T = 2.0, 2.0
    t = np.linspace(1.9, 4.1, 2201)
    q, v, a = (np.array([f(s) for s in t]) for f in (SMOOTH, SMOOTH.rate, SMOOTH.acceleration))
    d = t[1] - t[0]  # central differences err by d²/6 of the third derivative, 60 D/T³ at most of q, 360 D/T⁴ of v
    inner = slice(1, -1)
    assert np.abs((q[2:] - q[:-2]) / (2 * d) - v[inner]).max() < d**2 / 6 * 60 * D / T**3
    assert np.abs((v[2:] - v[:-2]) / (2 * d) - a[inner]).max() < d * 60 * D / T**3  # the jerk jumps at the ends
    assert np.abs(np.diff(a)).max() < d * 60 * D / T**3 * (1 + 1e-9)  # nor does the acceleration jump anywhere
    for end in (2.0, 4.0):
        assert SMOOTH.rate(end) == SMOOTH.acceleration(end) == 0
    for beyond in (-5.0, 1.999, 4.001, 100.0):
        assert SMOOTH.rate(beyond) == SMOOTH.acceleration(beyond) == 0
    assert v.max() == pytest.approx(15 / 8 * D / T, rel=1e-6)
    assert np.abs(a).max() == pytest.approx(10 / math.sqrt(3) * D / T**2, rel=1e-5)
    assert (np.diff(q) >= 0).all() and q.min() == 1 and q.max() == 3  # it does not overshoot


@pytest.mark.parametrize(
    "vector",
    [
        Smooth((0, 1, 2), (3, 3, 3), 0, 1),
        Ramp((0, 1, 2), (3, 3, 3), 0, 1),
        Harmonic((1, 2, 3), 4.0, (0, 1, 2), 0.5),
        Table((0, 1), ((0, 1, 2), (5, 6, 7))),
        lambda t: (t, 2 * t, 3 * t),
        (1.0, RAMP, lambda t: 3 * t),
    ],
)
def test_components(vector):
    """Scalar items evaluate to the components of the vector they were split from."""
    items = scalar_profiles(vector, 3)
    for t in (0.0, 0.3, 1.0):
        whole = vector(t) if callable(vector) else [v(t) if callable(v) else v for v in vector]
        assert [item(t) if callable(item) else item for item in items] == pytest.approx(list(whole), rel=1e-15)


def test_kinds_are_kept():
    """Numbers stay numbers, profiles profiles; a callable becomes components."""
    assert scalar_profiles(2, 1) == [2.0]
    assert scalar_profiles((1, 2, 3), 3) == [1.0, 2.0, 3.0]
    assert scalar_profiles(RAMP, 1) == [RAMP]
    assert scalar_profiles(math.sin, 1) == [Component(math.sin, 0)]
    assert scalar_profiles(Ramp((0, 0, 0), (1, 2, 3), 0, 1), 3)[2] == Ramp(0.0, 3.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Ramp(0.0, math.nan, 0, 1), "Ramp: end is nan"),
        (lambda: Ramp("a", 1.0, 0, 1), "start is 'a'"),
        (lambda: Ramp(0.0, 1.0, 2, 2), "t1 = 2 is not after t0 = 2"),
        (lambda: Ramp(0.0, 1.0, 0, math.inf), "t1 is inf"),
        (lambda: Ramp(0.0, (1, 2, 3), 0, 1), "differ in length"),
        (lambda: Ramp(0.0, (1, 2), 0, 1), "expected a number or 3 numbers"),
        (lambda: Ramp(0.0, True, 0, 1), "end is True"),
        (lambda: Smooth(0.0, 1.0, 2, 1), "Smooth: t1 = 1 is not after t0 = 2"),
        (lambda: Smooth(0.0, 1.0, 2, 2), "Smooth: t1 = 2 is not after t0 = 2"),
        (lambda: Smooth(0.0, math.inf, 0, 1), "Smooth: end is inf"),
        (lambda: Smooth(0.0, (1, 2, 3), 0, 1), "Smooth: start 0.0 and end .* differ in length"),
        (lambda: Smooth(None, 1.0, 0, 1).rate(0.5), "Smooth: start is None"),
        (lambda: scalar_profiles(Smooth(None, 1.0, 0, 1), 1), "Smooth: start is None, which only a hand"),
        (lambda: Harmonic(1.0, math.inf), "omega is inf"),
        (lambda: Harmonic((1, 2, (3, 4)), 1.0), "expected a number or 3 numbers"),
        (lambda: Table((), ()), "at least one"),
        (lambda: Table((0, 1), (1.0,)), "2 times but 1 values"),
        (lambda: Table((0, 2, 1), (1.0, 2.0, 3.0)), r"times\[2\] = 1 is before 2"),
        (lambda: Table((0, 1), (1.0, (1, 2, 3))), "values differ in length"),
        (lambda: Table((0, math.nan), (1.0, 2.0)), r"times\[1\] is nan"),
        (lambda: scalar_profiles(RAMP, 3), "Ramp has 1 component"),
        (lambda: scalar_profiles(Harmonic((1, 2, 3), 1.0), 1), "expected 1"),
        (lambda: scalar_profiles(Ramp(None, 1.0, 0, 1), 1), "give a start"),
        (lambda: scalar_profiles("high", 1), "value is 'high', expected a number"),
        (lambda: scalar_profiles((1, 2), 3), "expected 3 numbers"),
        (lambda: scalar_profiles((1, 2, math.nan), 3), "nan, expected a finite number"),
    ],
)
def test_refused(make, text):
    """Every mistake is one line that names the value."""
    with pytest.raises(ValueError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
