"""Coulomb friction in a freedom: no bias, |impulse| ≤ h · bound; the rows of a ball are bounded together."""

import warp as wp

from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import FRICTION
from .rows import own_jacobian, set_bounded


@wp.func
def is_friction(kind: int) -> bool:
    return kind == FRICTION


@wp.func
def bound(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """Largest force or torque [N, N m]."""
    return m.slot_a[r, w]


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    own_jacobian(m, x, r, ONE, w)
    set_bounded(x, r, ZERO, h * bound(m, r, w), w)
    return 1
