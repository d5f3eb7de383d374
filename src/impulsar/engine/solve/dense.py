"""Full systems of equations, by elimination with the largest pivot of each column."""

import warp as wp

from ..spatial import ZERO, f64

NOTHING = wp.constant(wp.float64(1e-14))  # pivot, of the largest there was, of an equation that others imply


@wp.func(inline=False)
def solve_full(A: wp.array2d(dtype=f64), b: wp.array2d(dtype=f64), n: int, w: int) -> bool:
    """Solve A x = b in place of b, A [n · row + column] is lost. An unknown that nothing determines is 0.

    False where the solution is not finite.
    """
    largest = ZERO
    for k in range(n):
        at = k
        for i in range(k + 1, n):
            if wp.abs(A[i * n + k, w]) > wp.abs(A[at * n + k, w]):
                at = i
        pivot = A[at * n + k, w]
        largest = wp.max(largest, wp.abs(pivot))
        if at != k:
            for j in range(k, n):
                kept = A[k * n + j, w]
                A[k * n + j, w] = A[at * n + j, w]
                A[at * n + j, w] = kept
            kept = b[k, w]
            b[k, w] = b[at, w]
            b[at, w] = kept
        if wp.abs(pivot) <= NOTHING * largest:
            A[k * n + k, w] = ZERO
            continue
        for i in range(k + 1, n):
            part = A[i * n + k, w] / pivot
            if part != ZERO:
                for j in range(k + 1, n):
                    A[i * n + j, w] = A[i * n + j, w] - part * A[k * n + j, w]
                b[i, w] = b[i, w] - part * b[k, w]
    total = ZERO
    for back in range(n):
        k = n - 1 - back
        value = b[k, w]
        for j in range(k + 1, n):
            value -= A[k * n + j, w] * b[j, w]
        pivot = A[k * n + k, w]
        if pivot == ZERO:
            value = ZERO
        else:
            value /= pivot
        b[k, w] = value
        total += wp.abs(value)
    return wp.isfinite(total)
