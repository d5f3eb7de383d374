"""Embedded pairs as data.

EXPLICIT   Dormand and Prince 1980, RK5(4)7M: order 5 with an error estimate of order 4, the last stage at
           the end of the step.
IMPLICIT   Rang and Angermann 2005, ROS34PW2: a linearly implicit pair of order 3(2) and four stages, which
           keeps its order with any matrix in place of the Jacobian, and is L-stable with the right one.

STEADY     explicit formulas without an error estimate, in the place of EXPLICIT: of Runge and Kutta, of Heun, of Euler.

Each is stored row by row: 7 x 7 coefficients a, then b (the solution), e = b - b̂ (the error), c. The row
after the stages of the implicit pair is b: the state at the end. Its matrix γ, 4 x 4, comes next, and last the
weights d of the explicit pair's state inside a step (Hairer, Nørsett and Wanner 1993, II.6): of order 4 there,

    y(θ) = y₀ + θ (y₁ - y₀ + (1 - θ) (h k₁ - y₁ + y₀ + θ (2 (y₁ - y₀) - h k₁ - h k₇ + (1 - θ) h Σ d_j k_j)))

A formula of fewer stages leaves out those before the last, which is at the end of the step in any case; with d = 0 the
state inside is Hermite's cubic. The very last number is how many stages there are without the last.
"""

from collections.abc import Sequence
from fractions import Fraction as F

import numpy as np

from ..ledger import STAGES

B_AT, E_AT, C_AT = STAGES * STAGES, STAGES * STAGES + STAGES, STAGES * STAGES + 2 * STAGES
EXPLICIT, IMPLICIT = 0, STAGES * STAGES + 3 * STAGES  # where each begins
SOLVES = 4  # stages of the implicit pair
GAMMA_AT = 2 * IMPLICIT
D_AT = GAMMA_AT + SOLVES * SOLVES
COUNT_AT = D_AT + STAGES
GAMMA = 0.435866521508459

A = (
    (),
    (F(1, 5),),
    (F(3, 40), F(9, 40)),
    (F(44, 45), F(-56, 15), F(32, 9)),
    (F(19372, 6561), F(-25360, 2187), F(64448, 6561), F(-212, 729)),
    (F(9017, 3168), F(-355, 33), F(46732, 5247), F(49, 176), F(-5103, 18656)),
    (F(35, 384), F(0), F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84)),
)
B = (*A[6], F(0))
B_LOW = (F(5179, 57600), F(0), F(7571, 16695), F(393, 640), F(-92097, 339200), F(187, 2100), F(1, 40))
D = (
    F(-12715105075, 11282082432),
    F(0),
    F(87487479700, 32700410799),
    F(-10690763975, 1880347072),
    F(701980252875, 199316789632),
    F(-1453857185, 822651844),
    F(69997945, 29380423),
)
STEADY: dict[str, tuple[tuple, tuple]] = {  # a and b
    "rk4": (((), (F(1, 2),), (F(0), F(1, 2)), (F(0), F(0), F(1))), (F(1, 6), F(1, 3), F(1, 3), F(1, 6))),
    "heun": (((), (F(1),)), (F(1, 2), F(1, 2))),
    "euler": (((),), (F(1),)),
}
ROS_A = ((), (0.871733043016918,), (0.8445706001536942, -0.11299064236484185), (0.0, 0.0, 1.0))
ROS_B = (0.24212380706095346, -1.2232505839045147, 1.545260255335102, GAMMA)
ROS_B_LOW = (0.3781090314581937, -0.09604229221242318, 0.5, 0.2179332607542295)
ROS_GAMMA = (
    (),
    (-0.871733043016918,),
    (-0.9033805701304408, 0.054180672388095326),
    (0.24212380706095346, -1.2232505839045147, 0.5452602553351021),
)


def tableaux(steady: str = "") -> np.ndarray:
    """Both pairs as one array of float64; with the name of a steady formula that one in place of the explicit pair."""
    gamma = np.zeros((SOLVES, SOLVES))
    for i, row in enumerate(ROS_GAMMA):
        gamma[i, : len(row)] = row
    explicit, inside, count = _tableau(A, B, B_LOW), [float(value) for value in D], STAGES - 1
    if steady:
        a, b = STEADY[steady]
        count = len(b)
        gap = STAGES - 1 - count
        weights = (*b, *(F(0),) * gap)
        explicit = _tableau((*a, *((),) * gap, weights), (*weights, F(0)), (*weights, F(0)))
        inside = [0.0] * STAGES
    return np.concatenate([explicit, _tableau((*ROS_A, ROS_B), ROS_B, ROS_B_LOW), gamma.ravel(), inside, [count]])


def _tableau(a: Sequence, b: Sequence, b_low: Sequence) -> np.ndarray:
    rows = np.zeros((STAGES + 3, STAGES))
    for i, row in enumerate(a):
        rows[i, : len(row)] = [float(value) for value in row]
        rows[STAGES + 2, i] = float(sum(row))
    rows[STAGES, : len(b)] = [float(value) for value in b]
    rows[STAGES + 1, : len(b)] = [float(high - low) for high, low in zip(b, b_low, strict=True)]
    return rows.ravel()
