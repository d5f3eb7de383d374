"""Springs and dampers of tree joints that are too fast to be followed: part of the inertia of an impulsive sub-step.

Such a row is taken at the end of the sub-step, p = -h k (d + h u) - h c u. Along a freedom of the tree that is

    (M + W) Δv = h (f - k d - (c + h k) v₋) + Jᵀ p of the other rows        W = h (c + h k) on the diagonal

so it goes into D = S · U + W of the articulated bodies: the same velocities as by a sweep over the rows, to round-off,
whatever the masses are. A sweep would not end where two of them turn what hardly weighs anything, as the yaw and roll
of a head that a file has as a point. There M itself is lost in rounding, and M + W is not: so such a mechanism moves by
impulsive sub-steps alone, and its impacts have W, too.
"""

import warp as wp

from ..constrain import compliant
from ..coordinates.tree import accelerate, articulate_with
from ..spatial import HALF, INFINITY, ZERO, f64, spatial, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays

IN_INERTIA = 2  # WorkArrays.solved of such a row
FOLLOWED = wp.constant(wp.float64(2.0))  # rates above so many of a sub-step are taken at its end: soften_midway
LOST = wp.constant(wp.float64(1e13))  # rate of a damper above which the inertia that it acts on is rounding [1/s]
FAST = wp.constant(wp.float64(1e9))  # and above which it is where that inertia is so small a part of another's
LIGHT = wp.constant(wp.float64(1e9))


@wp.func
def is_in_inertia(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row is a spring or damper that `soften_tree` took."""
    if r < m.slot_dof.shape[0] and compliant.is_row(x, r, w):
        if m.slot_dof[r] >= 0:
            return x.lag_v[m.slot_dof[r], w] > ZERO
    return False


@wp.func(inline=False)
def soften_tree(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int) -> int:
    """W into x.lag_v and forces into x.tau of rows that a sub-step of h cannot follow; returns how many.

    Rates are judged by 1 / D of M alone, velocities are x.v_old.
    """
    count = int(0)
    for i in range(s.v.shape[0]):
        x.lag_v[i, w] = ZERO
    for r in range(wp.min(x.row_count[0, w], m.slot_dof.shape[0])):
        at = m.slot_dof[r]
        if at < 0 or not compliant.is_row(x, r, w):
            continue
        k = compliant.stiffness(m, r, w)
        c = compliant.damping(m, x, r, w)
        inverse = x.D_inv[at, w]
        fast = wp.max(h * wp.sqrt(wp.max(k * inverse, ZERO)), h * c * inverse)
        if fast >= FOLLOWED or (inverse < ZERO and c + h * k > ZERO):
            x.lag_v[at, w] = h * (c + h * k)
            d = compliant.stretch(m, s, x, r, w)
            x.tau[at, w] = x.tau[at, w] - k * d - (c + h * k) * x.v_old[at, w]
            count += 1
    return count


@wp.func
def kick_softly(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """v ← v₋ + h (M + W)⁻¹ f."""
    articulate_with(m, x, 1, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 0, w)
    for i in range(s.v.shape[0]):
        s.v[i, w] = x.v_old[i, w] + h * x.qdd[i, w]


@wp.func
def mark_soft(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Leave the rows that are in the inertia out of the sweeps."""
    for r in range(x.row_count[0, w]):
        if is_in_inertia(m, x, r, w):
            x.solved[r, w] = int(IN_INERTIA)
            s.impulse[r, w] = ZERO


@wp.func
def note_soft(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """What they gave, for reactions."""
    for r in range(x.row_count[0, w]):
        if is_in_inertia(m, x, r, w):
            at = m.slot_dof[r]
            s.impulse[r, w] = -x.lag_v[at, w] * (s.v[at, w] + x.row_bias[r, w])


@wp.func
def is_light(x: wp.ref[WorkArrays], inverse: f64, w: int) -> bool:
    """Whether 1 / D of a freedom is that of so small a part of the heaviest one's inertia."""
    heaviest = INFINITY
    for i in range(x.D_inv.shape[0]):
        if x.D_inv[i, w] > ZERO:
            heaviest = wp.min(heaviest, x.D_inv[i, w])
    return inverse > LIGHT * heaviest


@wp.func(inline=False)
def is_lost(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a damped freedom of the tree moves nothing that M could say; D is that of M alone."""
    for r in range(wp.min(x.row_count[0, w], m.slot_dof.shape[0])):
        at = m.slot_dof[r]
        if at >= 0 and compliant.is_row(x, r, w):
            c = compliant.damping(m, x, r, w)
            inverse = x.D_inv[at, w]
            if c > ZERO and (inverse < ZERO or c * inverse > LOST):
                return True
            if c * inverse > FAST:  # free bodies have no D
                if is_light(x, inverse, w):
                    return True
    return False


@wp.func
def book_struck(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """What they took in an impact."""
    for r in range(x.row_count[0, w]):
        if is_in_inertia(m, x, r, w):
            at = m.slot_dof[r]
            loss = HALF * x.lag_v[at, w] * (s.v[at, w] * s.v[at, w] - x.v_old[at, w] * x.v_old[at, w])
            s.viscous_loss[r, w] = s.viscous_loss[r, w] + loss
