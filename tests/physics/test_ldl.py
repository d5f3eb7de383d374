"""LDLᵀ, dense and in an envelope, against NumPy."""

import numpy as np
import pytest
import warp as wp

from impulsar.engine.solve.ldl import eliminate, factor_dense, solve_dense, solve_envelope
from impulsar.engine.spatial import ONE, ZERO, f64

N, STRIDE, AT = 7, 9, 4


@wp.kernel(enable_backward=False)
def dense_kernel(A: wp.array2d(dtype=f64), b: wp.array2d(dtype=f64), at: int, stride: int):
    w = wp.tid()
    factor_dense(A, at, stride, b.shape[0], w)
    solve_dense(A, at, stride, b.shape[0], b, w)


@wp.kernel(enable_backward=False)
def envelope_kernel(
    A: wp.array2d(dtype=f64), starts: wp.array(dtype=wp.int32), ends: wp.array(dtype=wp.int32), b: wp.array2d(dtype=f64)
):
    w = wp.tid()
    for i in range(b.shape[0]):
        own = ends[i + 1] - 1
        full = A[own, w]
        A[own, w] = ZERO
        d = eliminate(A, starts, ends, i, full, w)
        if d > f64(1e-12) * full:
            A[own, w] = ONE / d
    solve_envelope(A, starts, ends, b.shape[0], b, w)


def matrix(dependent: bool) -> np.ndarray:
    """J Jᵀ of random rows; the fourth of them, if dependent, the sum of two others."""
    J = np.random.default_rng(5).normal(size=(N, N + 2))
    if dependent:
        J[3] = J[0] + J[2]
    return J @ J.T


def solved_dense(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By `solve_dense`, the upper half and what lies around poisoned."""
    stored = np.full(AT + STRIDE * N, np.nan)
    for i in range(N):
        stored[AT + STRIDE * i : AT + STRIDE * i + i + 1] = A[i, : i + 1]
    out = wp.array(b[:, None], dtype=f64, device="cpu")
    wp.launch(
        dense_kernel, 1, inputs=[wp.array(stored[:, None], dtype=f64, device="cpu"), out, AT, STRIDE], device="cpu"
    )
    return out.numpy()[:, 0]


def solved_in_envelope(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By `solve_envelope`, each row from its first entry on."""
    starts = [int(np.flatnonzero(A[i])[0]) for i in range(N)]
    rows = [A[i, start : i + 1] for i, start in enumerate(starts)]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    ints = [wp.array(np.array(values, np.int32), dtype=wp.int32, device="cpu") for values in (starts, ends)]
    out = wp.array(b[:, None], dtype=f64, device="cpu")
    stored = wp.array(np.concatenate(rows)[:, None], dtype=f64, device="cpu")
    wp.launch(envelope_kernel, 1, inputs=[stored, *ints, out], device="cpu")
    return out.numpy()[:, 0]


@pytest.mark.parametrize("solved", [solved_dense, solved_in_envelope])
@pytest.mark.parametrize("dependent", [False, True])
def test_a_solution_solves(solved, dependent):
    """A x = b to cond(A) eps; where a row is implied, b in the range of A is met and that row gets nothing."""
    A = matrix(dependent)
    b = A @ np.arange(1.0, N + 1.0)
    x = solved(A, b)
    kept = [i for i in range(N) if not (dependent and i == 3)]
    bound = np.linalg.cond(A[np.ix_(kept, kept)]) * 1e-15 * np.abs(b).max()
    assert A @ x == pytest.approx(b, abs=bound)
    assert (x[3] == 0.0) == dependent


def test_rows_of_an_envelope_may_begin_late():
    """An arrow and a band: entries outside the envelope stay zero and are not stored."""
    A = np.diag(np.arange(4.0, 4.0 + N))
    A[1, 0] = A[0, 1] = 1.0
    A[5, 3] = A[3, 5] = -2.0
    A[6] = A[:, 6] = 0.5
    A[6, 6] = 20.0
    b = np.linspace(-1.0, 2.0, N)
    assert solved_in_envelope(A, b) == pytest.approx(np.linalg.solve(A, b), rel=1e-13)
