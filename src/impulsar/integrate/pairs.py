"""Embedded Runge-Kutta pairs as data.

Dormand and Prince 1980, RK5(4)7M: order 5 with an error estimate of order 4, the last stage at the end
of the step. Stored row by row: 7 x 7 coefficients a, then b (the solution), e = b - b̂ (the error), c.
"""

from fractions import Fraction as F

import numpy as np

STAGES = 7
B_AT, E_AT, C_AT = STAGES * STAGES, STAGES * STAGES + STAGES, STAGES * STAGES + 2 * STAGES
ORDER = 5

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


def dormand_prince() -> np.ndarray:
    """The tableau as one array of float64."""
    a = np.zeros((STAGES, STAGES))
    for i, row in enumerate(A):
        a[i, : len(row)] = [float(value) for value in row]
    b = [float(value) for value in B]
    e = [float(high - low) for high, low in zip(B, B_LOW, strict=True)]
    c = [float(sum(row)) for row in A]
    return np.concatenate([a.ravel(), b, e, c])
