"""Which rows say something new: one rule, for everything that asks.

Rows are in rad and sizes of the mechanism, per rad and size that its bodies move, and free of masses. They are taken
strongest first: what is left of a row, by those taken before it, is its pivot. Two questions are kept apart by the
tolerance alone:

    by construction     pivots up to the play of the bearings, `World(redundancy=...)`: such a row is redundant
    at this instant     pivots up to NEAR, or up to the joints' errors where these are larger: a singular position

The kernels judge instants by the same rule (engine/solve/direct.py), where a strength is the square of a pivot. Where
it is below WEAK they take care, for a singular position is near. The levers of some mechanisms are short against their
size, a car's knuckles against the car: those that are weaker than that in ordinary poses are near one where a share
OF_USUAL of their usual strength is left.
"""

import numpy as np

PLAY = 1e-4  # of a bearing [rad, or lengths over the mechanism's size]: the default by construction
NEAR = 1e-5  # of a singular position [rad, sizes]
WEAK = 1e-2  # strength of the weakest row below which a singular position is near
OF_USUAL = 0.1  # of the usual strength, where that is below WEAK


def weak_below(usual: float) -> float:
    """Strength below which a mechanism of a usual one is near a singular position."""
    return WEAK if usual >= WEAK else OF_USUAL * usual


def strongest(J: np.ndarray, tolerance: float, worth: np.ndarray) -> list[int]:
    """Rows in the order of what those before leave of them times their worth, down to the tolerance."""
    left = J.copy()
    order: list[int] = []
    for _ in range(min(J.shape)):
        size = np.linalg.norm(left, axis=1)
        size[order] = 0.0
        i = int(np.argmax(np.where(size > tolerance, size * worth, 0.0)))
        if size[i] <= tolerance:
            break
        order.append(i)
        unit = left[i] / size[i]
        left -= np.outer(left @ unit, unit)
        left -= np.outer(left @ unit, unit)  # twice is enough
    return order


def independent(J: np.ndarray, tolerance: float = NEAR, most: int | None = None) -> tuple[list[int], np.ndarray]:
    """The strongest rows, all of one worth, at most so many; and how the others are made of them [other, row].

    A row longer than one counts as one: a coupling's ratio, or a long lever, says no more than a short one.
    """
    from scipy.linalg import qr, solve_triangular  # 0.3 s to import

    if 0 in J.shape:
        return [], np.zeros((len(J), 0))
    size = np.maximum(np.linalg.norm(J, axis=1), 1.0)
    R, order = qr((J / size[:, None]).T, mode="r", pivoting=True, check_finite=False)
    rank = int((np.abs(np.diag(R)) > tolerance).sum())
    rank = rank if most is None else min(rank, most)
    kept, others = order[:rank], order[rank:]
    parts = solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False).T if rank else R[:0, rank:].T
    parts = parts * size[others, None] / size[kept]
    back = np.argsort(others)
    return kept.tolist(), parts[back]


def null_space(J: np.ndarray, tolerance: float = NEAR) -> np.ndarray:
    """Orthonormal columns that span what the independent rows leave free."""
    kept, _ = independent(J, tolerance)
    if not kept:
        return np.eye(J.shape[1])
    Q, _ = np.linalg.qr(J[kept].T, mode="complete")
    return Q[:, len(kept) :]
