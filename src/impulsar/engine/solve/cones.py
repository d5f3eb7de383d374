"""Rows that are bounded together: the vector of their impulses stays in a ball, or a disc.

    |p| ≤ high       or, where the bound is another row's impulse,       |p| ≤ high · p_of

The three friction or motor rows of a ball joint have the first, the two friction rows of a contact the second, with
the coefficient of friction for `high` and the normal row for `of`. They share one effective mass, so that friction
opposes slip.
"""

import warp as wp

from ..coordinates.tree import apply_impulse, row_velocity
from ..spatial import ONE, ZERO, f64, vec6
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays


@wp.func
def bound_scale(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """What a row's bounds are multiples of: 1, or the impulse of the row that bounds it."""
    of = x.row_bound_of[r, w]
    if of < 0:
        return ONE
    return wp.max(s.impulse[of, w], ZERO)


@wp.func
def bounds(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """Least and largest impulse of a row [N s, N m s]."""
    if x.row_bound_of[r, w] < 0:
        return x.row_low[r, w], x.row_high[r, w]
    scale = bound_scale(s, x, r, w)
    return scale * x.row_low[r, w], scale * x.row_high[r, w]


@wp.func
def cone_bound(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Largest impulse of the rows that begin at r."""
    return bound_scale(s, x, r, w) * x.row_high[r, w]


@wp.func
def cone_impulse(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Size of the vector of the impulses of the rows that begin at r."""
    if x.row_group[r, w] == 1:
        return wp.abs(s.impulse[r, w])
    square = ZERO
    for k in range(x.row_group[r, w]):
        square += s.impulse[r + k, w] * s.impulse[r + k, w]
    return wp.sqrt(square)


@wp.func
def share_cone_mass(x: wp.ref[WorkArrays], rows: int, w: int):
    """Give rows that are bounded together the effective mass of their sum: 1 / Σ 1/m."""
    for a in range(rows):
        r = x.active[a, w]
        n = x.row_group[r, w]
        if n > 1:
            own = ZERO
            for k in range(n):
                if x.row_mass[r + k, w] > ZERO:
                    own += ONE / x.row_mass[r + k, w]
            for k in range(n):
                if x.row_mass[r + k, w] > ZERO:
                    x.row_mass[r + k, w] = ONE / own


@wp.func
def push_cone(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Impulses of the rows that begin at r, up to six, within their bound; returns the largest change.

    p ← proj(p - u m_eff), all from the same velocity: where it slides, p is then along -u. With
    the velocity updated between the rows friction would not oppose slip.
    """
    n = x.row_group[r, w]
    before = vec6()
    after = vec6()
    for k in range(n):
        before[k] = s.impulse[r + k, w]
        u = row_velocity(m, x, s.v, r + k, w) + x.row_bias[r + k, w]
        after[k] = before[k] - u * x.row_mass[r + k, w]
    size = wp.length(after)
    bound = cone_bound(s, x, r, w)
    if size > bound:
        after = after * (bound / size)
    worst = ZERO
    for k in range(n):
        s.impulse[r + k, w] = after[k]
        apply_impulse(m, x, s.v, r + k, after[k] - before[k], w)
        worst = wp.max(worst, wp.abs(after[k] - before[k]))
    return worst


@wp.func
def clip_cone(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Bring the impulses of the rows that begin at r back to their bound; False where they are within it."""
    size = cone_impulse(s, x, r, w)
    bound = cone_bound(s, x, r, w)
    if size <= bound:
        return False
    for k in range(x.row_group[r, w]):
        p = s.impulse[r + k, w]
        s.impulse[r + k, w] = p * (bound / size)
        apply_impulse(m, x, s.v, r + k, p * (bound / size) - p, w)
    return True
