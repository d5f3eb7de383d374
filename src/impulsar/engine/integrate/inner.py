"""States of force elements, integrated beside coordinates and velocities: the deflections of tyres.

They are rows of the state block "inner" [m]; forces leave their rates of an instant in x.inner_rate (forces/total.py).
What sub-steps do with coordinates (control.py, rosenbrock.py) they do with these, by the same weights and under
the same error control; an impulsive step takes half of its size at the rates of either end (books.py).
"""

import warp as wp

from ..spatial import ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .pairs import E_AT, IMPLICIT, SOLVES, STAGES


@wp.func
def save_inner(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    for k in range(s.inner.shape[0]):
        x.inner_start[k, w] = s.inner[k, w]


@wp.func
def return_inner(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    for k in range(s.inner.shape[0]):
        s.inner[k, w] = x.inner_start[k, w]


@wp.func
def keep_inner_rates(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], stage: int, w: int):
    """Put the rates of the present state into a stage."""
    n = s.inner.shape[0]
    for k in range(n):
        x.k_inner[stage * n + k, w] = x.inner_rate[k, w]


@wp.func
def copy_inner_stage(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], last: int, w: int):
    """A stage as the first of the next sub-step."""
    n = s.inner.shape[0]
    for k in range(n):
        x.k_inner[k, w] = x.k_inner[last * n + k, w]


@wp.func
def clear_inner_stages(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], first: int, end: int, w: int):
    """No rates in some stages."""
    n = s.inner.shape[0]
    for k in range(first * n, end * n):
        x.k_inner[k, w] = ZERO


@wp.func
def set_inner_stage(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], weights: int, stages: int, h: f64, w: int
):
    """Put y₀ + h Σ a_j k_j of the first stages in place, a from `weights` on in the tableau."""
    n = s.inner.shape[0]
    for k in range(n):
        gain = ZERO
        for j in range(stages):
            gain += m.tableau[weights + j] * x.k_inner[j * n + k, w]
        s.inner[k, w] = x.inner_start[k, w] + h * gain


@wp.func
def add_inner(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], stage: int, step: f64, w: int):
    """Go on by the rates of a stage over a step."""
    n = s.inner.shape[0]
    for k in range(n):
        s.inner[k, w] = s.inner[k, w] + step * x.k_inner[stage * n + k, w]


@wp.func
def inner_error(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    pair: int,
    h: f64,
    rtol: f64,
    least: f64,
    w: int,
) -> f64:
    """Sum of squares of their errors in a sub-step h, in units of the tolerance; least: of a length [m]."""
    n = s.inner.shape[0]
    stages = STAGES
    if pair == IMPLICIT:
        stages = SOLVES
    total = ZERO
    for k in range(n):
        e = ZERO
        for j in range(stages):
            e += m.tableau[pair + E_AT + j] * x.k_inner[j * n + k, w]
        ratio = h * e / (least + rtol * wp.max(wp.abs(x.inner_start[k, w]), wp.abs(s.inner[k, w])))
        total += ratio * ratio
    return total
