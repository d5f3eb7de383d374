"""LDLᵀ of symmetric matrices, dense and in an envelope.

The lower half is replaced by L below the diagonal and 1/D on it. A row that those before it imply has 1/D = 0, and
solves give it nothing.

    dense       entry (i, j) of n rows at A[at + stride · i + j]
    envelope    row i at A[ends[i]] .. for columns starts[i] .. i
"""

import warp as wp

from ..spatial import ONE, ZERO, f64, matters

DEPENDENT = wp.constant(wp.float64(1e-12))  # pivot, of its diagonal, of a row that others imply


@wp.func
def factor_dense(A: wp.array2d(dtype=f64), at: int, stride: int, n: int, w: int):
    """Factor in place."""
    for i in range(n):
        row = at + stride * i
        for j in range(i + 1):
            other = at + stride * j
            full = A[row + j, w]
            value = full
            for k in range(j):
                inverse = A[at + stride * k + k, w]
                if inverse > ZERO:
                    value -= A[row + k, w] * A[other + k, w] / inverse
            if i != j:
                value *= A[other + j, w]
            elif value > DEPENDENT * full:
                value = ONE / value
            else:
                value = ZERO
            A[row + j, w] = value


@wp.func
def solve_dense(A: wp.array2d(dtype=f64), at: int, stride: int, n: int, b: wp.array2d(dtype=f64), w: int):
    """Solve in place for b."""
    for i in range(n):
        value = b[i, w]
        for k in range(i):
            value -= A[at + stride * i + k, w] * b[k, w]
        b[i, w] = value
    for back in range(n):
        i = n - 1 - back
        inverse = A[at + stride * i + i, w]
        value = b[i, w] * inverse
        for k in range(i + 1, n):
            value -= A[at + stride * k + i, w] * b[k, w]
        if inverse == ZERO:
            value = ZERO
        b[i, w] = value


@wp.func
def eliminate(
    A: wp.array2d(dtype=f64),
    starts: wp.array(dtype=wp.int32),
    ends: wp.array(dtype=wp.int32),
    i: int,
    full: f64,
    w: int,
) -> f64:
    """L of row i of an envelope, whose diagonal is `full`, when those before it are done; returns D.

    Whether 1/D is entered on the diagonal is for the caller to judge.
    """
    start = starts[i]
    at = ends[i] - start
    for j in range(start, i):
        value = ZERO
        if A[ends[j + 1] - 1, w] > ZERO:
            value = A[at + j, w]
            other = ends[j] - starts[j]
            for k in range(wp.max(start, starts[j]), j):
                value -= A[at + k, w] * A[other + k, w]
        A[at + j, w] = value  # L D so far
    d = full
    for j in range(start, i):
        value = A[at + j, w]
        scaled = value * A[ends[j + 1] - 1, w]
        d -= value * scaled
        A[at + j, w] = scaled
    return d


@wp.func
def solve_envelope(
    A: wp.array2d(dtype=f64),
    starts: wp.array(dtype=wp.int32),
    ends: wp.array(dtype=wp.int32),
    n: int,
    b: wp.array2d(dtype=f64),
    w: int,
):
    """Solve in place for b: L y = b, z = y / D, Lᵀ x = z."""
    for i in range(n):
        at = ends[i] - starts[i]
        value = ZERO
        if A[at + i, w] != ZERO:
            value = b[i, w]
            for j in range(starts[i], i):
                value -= A[at + j, w] * b[j, w]
        b[i, w] = value
    for i in range(n):
        b[i, w] = b[i, w] * A[ends[i + 1] - 1, w]
    for back in range(n):
        i = n - 1 - back
        at = ends[i] - starts[i]
        value = b[i, w]
        if matters(value):
            for j in range(starts[i], i):
                b[j, w] = b[j, w] - A[at + j, w] * value
