"""Polygons of a plane: area, centroid, and convex pieces that fill one.

Ears are cut off (a corner whose triangle holds no other corner), and pieces that share a side are joined again while
what comes of it is convex (Hertel and Mehlhorn 1983: at most four times as many pieces as are needed).
"""

import numpy as np

from .refusal import EditError


def _cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def area_of(corners: np.ndarray) -> float:
    """Signed: above 0 where the corners go round anticlockwise."""
    a, b = corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]
    return float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum() / 2)


def centroid_of(corners: np.ndarray) -> np.ndarray:
    """Of the area of a polygon."""
    first = corners[0]
    a, b = corners - first, np.roll(corners, -1, axis=0) - first
    areas = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return first + (areas[:, None] * (a + b)).sum(axis=0) / (3 * areas.sum())


def check_simple(owner: str, corners: np.ndarray) -> None:
    """Refuse a polygon without area, or whose sides meet elsewhere than at its corners."""
    n, size = len(corners), float(np.ptp(corners, axis=0).max())
    sides = [(corners[k], corners[(k + 1) % n]) for k in range(n)]
    short = next((k for k, (a, b) in enumerate(sides) if np.linalg.norm(b - a) <= 1e-9 * size), None)
    if short is not None:
        raise EditError(f"{owner}: corners {short + 1} and {(short + 1) % n + 1} are one; leave one out")
    for i in range(n):
        for j in range(i + 2, n - (i == 0)):
            if _cross_each_other(*sides[i], *sides[j]):
                raise EditError(f"{owner}: sides {i + 1} and {j + 1} cross each other; give the corners in order")
    if abs(area_of(corners)) <= 1e-9 * size * size:
        raise EditError(f"{owner}: its corners lie on a line; move one of them")


def _cross_each_other(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> bool:
    sides = _cross(b - a, c - a) * _cross(b - a, d - a), _cross(d - c, a - c) * _cross(d - c, b - c)
    if sides[0] < 0 and sides[1] < 0:
        return True
    on = [(c, a, b), (d, a, b), (a, c, d), (b, c, d)]
    return any(_cross(q - p, x - p) == 0 and 0 <= (x - p) @ (q - p) <= (q - p) @ (q - p) for x, p, q in on)


def convex_pieces(corners: np.ndarray) -> list[np.ndarray]:
    """Convex polygons that fill a simple one, each anticlockwise; of a convex one itself."""
    order = list(range(len(corners))) if area_of(corners) > 0 else list(range(len(corners)))[::-1]
    if _is_convex(corners, order):
        return [corners[order]]
    pieces = _triangles(corners, order)
    while (joined := _joined(corners, pieces)) is not None:
        pieces = joined
    return [corners[piece] for piece in pieces]


def _is_convex(corners: np.ndarray, ring: list[int]) -> bool:
    points = corners[ring]
    ways = np.roll(points, -1, axis=0) - points
    after = np.roll(ways, -1, axis=0)
    return bool((ways[:, 0] * after[:, 1] - ways[:, 1] * after[:, 0] >= 0).all())


def _triangles(corners: np.ndarray, ring: list[int]) -> list[list[int]]:
    left, found = list(ring), list[list[int]]()
    while len(left) > 3:
        k = next(k for k in range(len(left)) if _is_ear(corners, left, k))
        found.append([left[k - 1], left[k], left[(k + 1) % len(left)]])
        del left[k]
    return [*found, left]


def _is_ear(corners: np.ndarray, ring: list[int], k: int) -> bool:
    a, b, c = (corners[ring[(k + step) % len(ring)]] for step in (-1, 0, 1))
    if _cross(b - a, c - b) < 0:
        return False
    if _cross(b - a, c - b) == 0:  # on a line: nothing is lost with it
        return True
    others = (corners[i] for i in ring if i not in (ring[k - 1], ring[k], ring[(k + 1) % len(ring)]))
    return not any(min(_cross(q - p, x - p) for p, q in ((a, b), (b, c), (c, a))) >= 0 for x in others)


def _joined(corners: np.ndarray, pieces: list[list[int]]) -> list[list[int]] | None:
    """With two pieces made one; None where no two can be."""
    for i, one in enumerate(pieces):
        for j in range(i + 1, len(pieces)):
            other = pieces[j]
            for a, b in zip(one, one[1:] + one[:1], strict=True):
                if a not in other or other[(other.index(a) - 1) % len(other)] != b:
                    continue
                at, there = one.index(a), other.index(a)
                ring = (
                    one[: at + 1] + [other[(there + k) % len(other)] for k in range(1, len(other) - 1)] + one[at + 1 :]
                )
                if _is_convex(corners, ring):
                    return [*pieces[:i], *pieces[i + 1 : j], *pieces[j + 1 :], ring]
    return None
