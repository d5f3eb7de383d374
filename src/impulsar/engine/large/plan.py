"""Which joints are eliminated when: made on the host, once per topology.

    A = J M⁻¹ Jᵀ     a block a joint on the diagonal, a block for every two joints on a common body beside it

A level eliminates joints of which no two share a body, nor a block that an earlier level has filled in: leaves of trees
are raked off, and of a chain every second joint goes. So a chain or a tree of n joints has O(log n) levels,
and what a level does it does for all its joints at once. Among joints with few neighbours those with the fewest go
first. Where all that are left have many (a net), they are the core, which levels do not take.

The order depends on the topology alone: it is the same every run, and so are the bits of a solve.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, depth_first_order

MOST_NEIGHBOURS = 8  # of a joint that a level eliminates
ROUNDS = 4  # of choosing joints for a level
SMALL_CORE = 24  # so many joints that are left over are eliminated one by one


@dataclass(frozen=True)
class Gather:
    """For each of `target` the terms first[k] .. first[k + 1] that are summed into it."""

    target: np.ndarray
    first: np.ndarray
    left: np.ndarray
    right: np.ndarray


@dataclass(frozen=True)
class Level:
    """Joints eliminated together, and what that changes in those that are left.

    nodes      the joints
    blocks     the blocks that they own, one a joint that is left beside them
    diagonal   D_n -= Σ W_enᵀ Δ_e⁻¹ W_en      target n, left and right the block (e, n)
    beside     A_nm -= Σ W_enᵀ Δ_e⁻¹ W_em     target the block (n, m), left the block (e, n), right (e, m)

    The first in the order of their first terms, the others in that of their targets, which are read and written, but
    where each is begun by one term: so most of what the threads of a level read and write lies side by side.
    """

    nodes: np.ndarray
    blocks: np.ndarray
    diagonal: Gather
    beside: Gather


@dataclass(frozen=True)
class Plan:
    """Blocks (owner, other) beside the diagonal, filled ones included; the owner is eliminated first.

    Joints have columns, in the order of their elimination: a level has the columns from one to another. Its blocks are
    numbered one behind the other, too: the first ones of all its joints, then the second ones.
    """

    nodes: int
    column: np.ndarray  # [joint]
    joint: np.ndarray  # [column]
    owner: np.ndarray  # [block] column
    other: np.ndarray
    filled: np.ndarray  # [block] whether it is not of the graph, but filled in by a level
    first: np.ndarray  # [column + 1] where the blocks that it owns begin in `own`
    own: np.ndarray  # [place] block
    levels: tuple[Level, ...]
    core: np.ndarray  # columns that no level eliminates: the last ones


def neighbours(first: np.ndarray, second: np.ndarray, bodies: int) -> np.ndarray:
    """Pairs (a < b) of joints that share a body [pair, 2]; ground (-1) couples nothing."""
    joints = np.arange(len(first))
    body = np.concatenate([first, second])
    joint = np.concatenate([joints, joints])
    joint, body = joint[body >= 0], body[body >= 0]
    order = np.lexsort((joint, body))
    joint, body = joint[order], body[order]
    found = []
    apart = 1
    while True:  # joints at distance `apart` in the list of one body
        same = body[apart:] == body[:-apart]
        if not same.any():
            break
        found.append(np.stack([joint[:-apart][same], joint[apart:][same]], 1))
        apart += 1
    if not found:
        return np.zeros((0, 2), np.int64)
    pairs = np.concatenate(found)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return _unique(np.sort(pairs, 1), len(first))


def looped(first: np.ndarray, second: np.ndarray, bodies: int, kept: np.ndarray | None = None) -> np.ndarray:
    """Whether loops are among the joints that each hangs together with; kept: joints that may close one elsewhere."""
    ends = np.stack([first, second], 1)
    inner = ends[(ends >= 0).all(1)]
    part = connected_components(_graph(inner, bodies), directed=False)[1]
    own = part[ends.max(1)]
    many, held = (np.bincount(own[one], minlength=len(part)) for one in (slice(None), (ends < 0).any(1)))
    size = np.bincount(part, minlength=len(part))
    loops = many - held > size - 1  # as many as bodies less one make a tree
    loops |= held > 1  # the ground closes one
    out = loops[own]
    out[[] if kept is None else kept] = True
    return out


def _unique(pairs: np.ndarray, nodes: int) -> np.ndarray:
    keys = np.unique(pairs[:, 0] * nodes + pairs[:, 1])
    return np.stack(np.divmod(keys, nodes), 1) if nodes else pairs


def make_plan(nodes: int, pairs: np.ndarray, kept: np.ndarray | None = None) -> Plan:
    """The elimination of a graph with these pairs (a < b) [pair, 2].

    kept: nodes that no level may eliminate; they are the core.
    """
    free = np.ones(nodes, bool)
    free[[] if kept is None else kept] = False
    chosen, graphs = _order(nodes, pairs, free)
    left_over = np.ones(nodes, bool)
    for level in chosen:
        left_over[level] = False
    joint = np.concatenate([*chosen, np.flatnonzero(left_over)])
    column = np.empty(nodes, np.int64)
    column[joint] = np.arange(nodes)
    given = _unique(np.sort(column[pairs], 1), nodes)
    every = _unique(np.concatenate([given, *(np.sort(column[one], 1) for one in graphs)]), nodes)
    ends = np.cumsum([0, *(len(level) for level in chosen)])
    first = np.searchsorted(every[:, 0], np.arange(nodes + 1))  # what goes first has the lower column, and owns
    turn = np.arange(len(every)) - first[every[:, 0]]
    order = np.lexsort((every[:, 0], turn, np.searchsorted(ends, every[:, 0], "right")))
    own = np.empty_like(order)
    own[order] = np.arange(len(order))
    owner, other = every[order].T
    finder = Finder(owner, other, nodes)
    filled = ~np.isin(owner * nodes + other, given[:, 0] * nodes + given[:, 1])
    levels = tuple(_level(np.arange(*span), first, own, other, filled, finder) for span in pairwise(ends))
    return Plan(nodes, column, joint, owner, other, filled, first, own, levels, np.arange(ends[-1], nodes))


def _order(nodes: int, pairs: np.ndarray, free: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Joints level by level of those that are free to go, and the pairs that each level fills in."""
    left = free.copy()
    levels, filled = [], []
    while left.any():
        count = np.bincount(pairs.ravel(), minlength=nodes)
        few = max(MOST_NEIGHBOURS, int(count.max(initial=0)) if left.sum() <= SMALL_CORE else 0)
        level = _independent(pairs, count, left & (count <= few))
        if not len(level):
            break
        left[level] = False
        gone = np.zeros(nodes, bool)
        gone[level] = True
        touched = gone[pairs[:, 0]] | gone[pairs[:, 1]]
        fill = _fill(pairs[touched], gone, nodes)
        pairs = _unique(np.concatenate([pairs[~touched], fill]), nodes)
        levels.append(level)
        filled.append(fill)
    return levels, filled


def _independent(pairs: np.ndarray, count: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    """Nodes of which no two are a pair: of paths every second one, then those with fewest neighbours, ties by a mixed
    number."""
    nodes = len(count)
    mixed = (np.arange(nodes, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
    rank = (count.astype(np.uint64) << np.uint64(24)) + mixed
    key = rank.astype(np.float64) + np.arange(nodes) / max(nodes, 1)
    chosen = _alternate(pairs, eligible & (count <= 2))
    open_ = eligible & ~chosen
    beside = chosen[pairs[:, 0]] | chosen[pairs[:, 1]]
    open_[pairs[beside].ravel()] = False
    for _ in range(ROUNDS):
        both = open_[pairs[:, 0]] & open_[pairs[:, 1]]
        a, b = pairs[both].T
        beaten = np.zeros(nodes, bool)
        first_wins = key[a] < key[b]
        beaten[np.where(first_wins, b, a)] = True
        new = open_ & ~beaten
        if not new.any():
            break
        chosen |= new
        open_ &= ~new
        beside = new[pairs[:, 0]] | new[pairs[:, 1]]
        open_[pairs[beside].ravel()] = False
    return np.flatnonzero(chosen)


def _alternate(pairs: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Of nodes with at most two neighbours every second one along the paths and rings that they make."""
    chosen = np.zeros(len(some), bool)
    nodes = np.flatnonzero(some)
    if not len(nodes):
        return chosen
    place = np.full(len(some), -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[pairs[some[pairs].all(1)]]
    path = connected_components(_graph(edges, len(nodes)), directed=False)[1]
    count = np.bincount(edges.ravel(), minlength=len(nodes))
    open_ = np.zeros(path.max() + 1, bool)
    open_[path[count < 2]] = True
    _, cut = np.unique(np.where(open_[path[edges[:, 0]]], -1, path[edges[:, 0]]), return_index=True)
    cut = cut[~open_[path[edges[cut, 0]]]]  # an edge of each ring
    kept = np.delete(edges, cut, 0)
    ends = np.flatnonzero(np.bincount(kept.ravel(), minlength=len(nodes)) < 2)
    ends = ends[np.argsort(path[ends], kind="stable")]
    starts = ends[np.flatnonzero(np.diff(path[ends], prepend=-1))]
    stops = ends[np.flatnonzero(np.diff(path[ends], append=-1))]
    in_line = np.concatenate([kept, np.stack([stops[:-1], starts[1:]], 1)])  # all paths, one behind the other
    order = depth_first_order(_graph(in_line, len(nodes)), starts[0], directed=False, return_predecessors=False)
    at = np.empty(len(nodes), np.int64)
    at[order] = np.arange(len(nodes))
    take = (at - at[starts][path]) % 2 == 0
    take[edges[cut, 1][take[edges[cut]].all(1)]] = False
    chosen[nodes[take]] = True
    return chosen


def _graph(edges: np.ndarray, nodes: int) -> csr_matrix:
    return csr_matrix((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), (nodes, nodes))


def _fill(touched: np.ndarray, gone: np.ndarray, nodes: int) -> np.ndarray:
    """Pairs of neighbours of nodes that are eliminated."""
    swap = gone[touched[:, 1]]
    owner = np.where(swap, touched[:, 1], touched[:, 0])
    other = np.where(swap, touched[:, 0], touched[:, 1])
    order = np.lexsort((other, owner))
    owner, other = owner[order], other[order]
    left, right = _within(owner)
    return _unique(np.sort(np.stack([other[left], other[right]], 1), 1), nodes)


def _within(owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (i < j) of every two in a sorted list that have the same owner."""
    left, right, apart = [], [], 1
    while apart < len(owner):
        same = np.flatnonzero(owner[apart:] == owner[:-apart])
        if not len(same):
            break
        left.append(same)
        right.append(same + apart)
        apart += 1
    empty = np.zeros(0, np.int64)
    return (np.concatenate(left), np.concatenate(right)) if left else (empty, empty)


class Finder:
    """Where the block of two columns is."""

    def __init__(self, owner: np.ndarray, other: np.ndarray, nodes: int):
        keys = owner * nodes + other
        self._nodes, self._order = nodes, np.argsort(keys)
        self._keys = keys[self._order]

    def __call__(self, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The block, and whether `one` owns it."""
        if not len(one):
            return np.zeros(0, np.int64), np.zeros(0, bool)
        straight = self._place(one, two)
        found = self._keys[straight] == one * self._nodes + two
        return self._order[np.where(found, straight, self._place(two, one))], found

    def _place(self, one: np.ndarray, two: np.ndarray) -> np.ndarray:
        return np.minimum(np.searchsorted(self._keys, one * self._nodes + two), len(self._keys) - 1)


def _level(
    nodes: np.ndarray, first: np.ndarray, own: np.ndarray, other: np.ndarray, filled: np.ndarray, find: Finder
) -> Level:
    sizes = first[nodes + 1] - first[nodes]
    blocks = own[np.repeat(first[nodes] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())]
    left, right = _within(np.repeat(np.arange(len(nodes)), sizes))
    left, right = blocks[left], blocks[right]
    target, straight = find(other[left], other[right])
    left, right = np.where(straight, left, right), np.where(straight, right, left)
    beside = other[blocks]
    _, begin, group = np.unique(beside, return_index=True, return_inverse=True)
    key = target
    if len(np.unique(target)) == len(target) and filled[target].all():
        key = np.argsort(np.argsort(left, kind="stable"))  # its place among the terms
    return Level(nodes, blocks, _gather(beside, blocks, blocks, begin[group]), _gather(target, left, right, key))


def _gather(target: np.ndarray, left: np.ndarray, right: np.ndarray, key: np.ndarray) -> Gather:
    """key: of each term, the same for those of a target; in order of the keys."""
    order = np.argsort(key, kind="stable")
    key, target, left, right = key[order], target[order], left[order], right[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return Gather(target[first], np.append(first, len(target)), left, right)
