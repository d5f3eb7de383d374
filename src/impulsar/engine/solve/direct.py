"""Direct solve of the bilateral rows, all at once: A λ = b with A = J M⁻¹ Jᵀ.

Rows that are redundant by construction are left out beforehand (start/redundancy.py); here is judged whether a row
depends on others at this instant: a singular position (system/rank.py has the rule). A is factored as LDLᵀ within its
envelope, row by row in the order of the slots; rows that share no tree do not respond to each other, so a chain of
free bodies has a narrow band and costs O(N). The strength of a row is what the rows before it leave of it,

    strength = pivot / diagonal · |J|²          about s² at a distance s from a singular position [rad, lengths]

with |J|² by geometry alone, turns and shifts made comparable by the mechanism's length: so a row that vanishes
as a whole is as weak as one that others imply. Where masses differ by much the pivot says little of geometry:
a weak row is judged again by J Jᵀ. A row weaker than DEPENDENT gets 1/D = 0 and no multiplier. Where rows that
are redundant but for an opening o were left out, those kept are off by about o² = c: near a singular position the
mechanism is like x y = c instead of x y = 0, which bends off its branch at a distance of c^(1/3). Momentum carries
it on along the branch, so rows are left out within twice that.

Row i of the factor is at envelope_row[i] .. for columns envelope_start[i] .. i. The linearly implicit pair
appends the compliant rows, whose softness stands on the diagonal beside their response.
"""

import warp as wp

from ..constrain import kinds
from ..coordinates.tree import apply_impulse, row_product, row_response
from ..spatial import ONE, ZERO, f64, matters
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.rank import NEAR
from .ldl import eliminate, solve_envelope

TWO_THIRDS = wp.constant(wp.float64(0.6666666666666666))
DEPENDENT = wp.constant(wp.float64(NEAR**2))  # strength of a row that depends on others at this instant
ROUNDING = wp.constant(wp.float64(1e-14))  # pivot, of its diagonal, that is nothing but rounding
CHOOSE = wp.constant(wp.float64(1e-4))  # strength below which spare rows may take over,
STRONGER = wp.constant(wp.float64(100.0))  # if they are so many times as strong


@wp.func
def dependent_below(m: wp.ref[SystemArrays], w: int) -> f64:
    """Strength below which a row depends on others at this instant."""
    slack = m.slack[0, w]
    if slack > ZERO:
        return wp.max(DEPENDENT, f64(4.0) * wp.pow(slack, TWO_THIRDS))
    return DEPENDENT


@wp.func(inline=False)
def fill_products(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], n: int, w: int):
    """J M⁻¹ Jᵀ of those of the first n rows that are solved, where the factor will be.

    The softness of compliant rows stands on the diagonal.
    """
    for i in range(n):
        r = m.solvable[i]
        if x.solved[r, w] != 0:
            at = m.envelope_row[i] - m.envelope_start[i]
            for j in range(m.envelope_start[i], i + 1):
                other = m.solvable[j]
                if x.solved[other, w] != 0:
                    x.factor[at + j, w] = row_response(m, x, r, other, w)
            if i >= m.bilateral.shape[0]:
                x.factor[at + i, w] = x.factor[at + i, w] + x.row_softness[r, w]


@wp.func(inline=False)
def fill_by_geometry(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """J Jᵀ of the bilateral rows that are solved."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            at = m.envelope_row[i] - m.envelope_start[i]
            for j in range(m.envelope_start[i], i + 1):
                other = m.bilateral[j]
                if x.solved[other, w] != 0:
                    x.geometry[at + j, w] = row_product(m, x, r, other, w)


@wp.func
def factor_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], n: int, judge: bool, w: int) -> f64:
    """LDLᵀ of those of the first n rows that are marked as solved, whose products are filled in.

    Returns the strength of the weakest bilateral row, and leaves those of all in x.row_strength; without `judge`
    it takes them from there.
    """
    return factor_envelope(m, x, x.factor, n, judge, w)


@wp.func(inline=False)
def factor_envelope(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], F: wp.array2d(dtype=f64), n: int, judge: bool, w: int
) -> f64:
    """`factor_rows`, in place."""
    starts = m.envelope_start
    ends = m.envelope_row
    weakest = ONE
    dependent = dependent_below(m, w)
    for i in range(n):
        r = m.solvable[i]
        own = ends[i + 1] - 1
        full = F[own, w]
        F[own, w] = ZERO
        if x.solved[r, w] == 0:
            continue
        d = eliminate(F, starts, ends, i, full, w)
        strength = ONE
        if i < m.bilateral.shape[0]:
            strength = x.row_strength[r, w]
            if judge:
                strength = wp.max(d, ZERO) / full * x.row_size[r, w]
                x.row_strength[r, w] = strength
            weakest = wp.min(weakest, strength)
        if d > ROUNDING * full and strength > dependent:
            F[own, w] = ONE / d
    return weakest


@wp.func
def factor_bilateral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> f64:
    """LDLᵀ of the bilateral rows marked as solved; returns the strength of the weakest."""
    n = m.bilateral.shape[0]
    fill_products(m, x, n, w)
    weakest = factor_rows(m, x, n, True, w)
    if weakest < m.weak[0, w]:
        fill_by_geometry(m, x, w)
        weakest = factor_envelope(m, x, x.geometry, n, True, w)
        if judged_otherwise(m, x, w):
            fill_products(m, x, n, w)
            factor_rows(m, x, n, False, w)
    return weakest


@wp.func
def judged_otherwise(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether, by the strengths of geometry, another set of rows is to be left out of the factor than is."""
    dependent = dependent_below(m, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            holds = x.row_strength[r, w] > dependent
            if (x.factor[m.envelope_row[i + 1] - 1, w] > ZERO) != holds:
                return True
    return False


@wp.func(inline=False)
def choose_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Mark the strongest of the closures and couplings as solved, as many as their rank; J of all is filled.

    By geometry: Cholesky of J Jᵀ that takes the row of which most is left each time.
    """
    n = m.bilateral.shape[0]
    for i in range(n):
        r = m.bilateral[i]
        if kinds.is_equation(x, r, w):
            x.solved[r, w] = int(0)
            for j in range(i + 1):
                x.gram[i * n + j, w] = row_product(m, x, r, m.bilateral[j], w)
    ranks = int(m.rank[0, w])
    for _ in range(ranks):
        best = int(-1)
        most = ROUNDING
        for i in range(n):
            r = m.bilateral[i]
            if kinds.is_equation(x, r, w) and x.solved[r, w] == 0 and x.gram[i * n + i, w] > most:
                most = x.gram[i * n + i, w]
                best = i
        if best < 0:
            return
        x.solved[m.bilateral[best], w] = int(1)
        # take its part out of the rows that are left
        for i in range(n):
            r = m.bilateral[i]
            if x.solved[r, w] == 0 and kinds.is_equation(x, r, w):
                part = symmetric(x, n, i, best, w) / most
                if part != ZERO:
                    for j in range(i + 1):
                        rest = m.bilateral[j]
                        if x.solved[rest, w] == 0:
                            x.gram[i * n + j, w] = x.gram[i * n + j, w] - part * symmetric(x, n, j, best, w)


@wp.func
def symmetric(x: wp.ref[WorkArrays], n: int, i: int, j: int, w: int) -> f64:
    """Entry of the rows' products, of which the lower half is kept."""
    if i >= j:
        return x.gram[i * n + j, w]
    return x.gram[j * n + i, w]


@wp.func(inline=False)
def solve_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], n: int, w: int):
    """Solve A λ = b of n rows in place in x.multiplier."""
    F = x.factor  # local, as above
    y = x.multiplier
    starts = m.envelope_start
    ends = m.envelope_row
    solve_envelope(F, starts, ends, n, y, w)


@wp.func
def solve_bilateral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Solve A λ = b of the bilateral rows."""
    solve_rows(m, x, m.bilateral.shape[0], w)


@wp.func
def apply_multipliers(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), w: int):
    """v ← v + M⁻¹ Jᵀ λ of all bilateral rows."""
    for i in range(m.bilateral.shape[0]):
        lam = x.multiplier[i, w]
        if matters(lam):
            apply_impulse(m, x, v, m.bilateral[i], lam, w)
