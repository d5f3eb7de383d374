"""Trees of boxes around triangles, in the order in which a ray passes them: a node, all that is inside it, then `skip`,
the next one outside. Who does not come into a node's box goes there at once, so that no stack is kept.
"""

from dataclasses import dataclass

import numpy as np

LEAF = 8  # triangles of a leaf at most
ROOM = 1e-9  # by which boxes are larger than what is in them, of the whole: rounding of a ray's way into them


@dataclass(frozen=True)
class Tree:
    """Boxes and triangles of one shape, in its frame."""

    low: np.ndarray  # [node, 3] [m]
    high: np.ndarray
    skip: np.ndarray  # [node]
    span: np.ndarray  # [node, first and end] triangles; none of an inner node
    corner: np.ndarray  # [triangle, 3, axis] [m]

    @classmethod
    def empty(cls) -> "Tree":
        """That of a shape without triangles."""
        return cls(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, int), np.zeros((0, 2), int), np.zeros((0, 3, 3)))


def tree_of(corner: np.ndarray) -> Tree:
    """A tree of triangles [triangle, 3, axis], halved at the median of their middles along the longest side."""
    if not len(corner):
        return Tree.empty()
    low, high = corner.min(axis=1), corner.max(axis=1)
    middle, room = (low + high) / 2, ROOM * max(float(np.ptp(corner.reshape(-1, 3), axis=0).max()), 1e-300)
    order = np.arange(len(corner))
    boxes: list[tuple[np.ndarray, np.ndarray]] = []
    skips: list[int] = []
    spans: list[tuple[int, int]] = []
    waiting: list[tuple[int, int, int]] = [(0, len(corner), -1)]  # first, end; or a node that is done with, behind it
    while waiting:
        first, end, done = waiting.pop()
        if done >= 0:
            skips[done] = len(boxes)
            continue
        own = order[first:end]
        boxes.append((low[own].min(axis=0) - room, high[own].max(axis=0) + room))
        waiting.append((0, 0, len(skips)))
        skips.append(0)
        if end - first <= LEAF:
            spans.append((first, end))
            continue
        spans.append((0, 0))
        half, axis = (end - first) // 2, int(np.argmax(np.ptp(middle[own], axis=0)))
        order[first:end] = own[np.argpartition(middle[own, axis], half)]
        waiting += [(first + half, end, -1), (first, first + half, -1)]
    lows, highs = (np.array(side) for side in zip(*boxes, strict=True))
    return Tree(lows, highs, np.array(skips), np.array(spans), corner[order])
