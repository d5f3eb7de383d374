"""The embedded pairs as data: an order condition for every rooted tree, in exact arithmetic."""

from fractions import Fraction as F
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from impulsar.engine.integrate import pairs
from impulsar.engine.integrate.pairs import B_LOW, A, B

Tree = tuple  # of the subtrees at its root


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """Rooted trees with so many nodes: 1, 1, 2, 4, 9, 20 of them."""
    if order == 1:
        return ((),)
    return tuple({tuple(sorted(parts)) for sizes in split(order - 1) for parts in forests(sizes)})


def split(total: int, least: int = 1) -> list[tuple[int, ...]]:
    """A number as a sum of rising ones."""
    if total == 0:
        return [()]
    return [(part, *rest) for part in range(least, total + 1) for rest in split(total - part, part)]


def forests(sizes: tuple[int, ...]) -> list[tuple[Tree, ...]]:
    """All choices of trees of these sizes."""
    found: list[tuple[Tree, ...]] = [()]
    for size in sorted(set(sizes)):
        picks = combinations_with_replacement(trees(size), sizes.count(size))
        found = [old + pick for pick in picks for old in found] if found else []
    return found


def nodes(tree: Tree) -> int:
    return 1 + sum(nodes(part) for part in tree)


def density(tree: Tree) -> int:
    """γ(t): what the weight of a tree must be one over."""
    product = nodes(tree)
    for part in tree:
        product *= density(part)
    return product


def stage_weights(tree: Tree) -> list[F]:
    """Σ over the stages of the products of a along the tree, at each stage as its root."""
    weights = [F(1)] * len(A)
    for part in tree:
        below = stage_weights(part)
        weights = [
            w * sum((a * b for a, b in zip(row, below, strict=False)), F(0)) for w, row in zip(weights, A, strict=True)
        ]
    return weights


def misses(b: tuple, order: int) -> int:
    """Trees of an order whose condition does not hold."""
    return sum(
        sum(x * w for x, w in zip(b, stage_weights(tree), strict=True)) != F(1, density(tree)) for tree in trees(order)
    )


def test_there_are_so_many_trees() -> None:
    assert [len(trees(n)) for n in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.parametrize(("b", "order"), [(B, 5), (B_LOW, 4)], ids=["solution", "estimate"])
def test_the_explicit_pair_has_its_orders(b: tuple, order: int) -> None:
    """Dormand and Prince's RK5(4)7M: every condition up to its order, and not those of the next."""
    assert [misses(b, n) for n in range(1, order + 1)] == [0] * order
    assert misses(b, order + 1) > 0


def test_the_last_stage_is_the_end_of_the_step() -> None:
    assert A[6] == B[:6] and B[6] == 0


def test_rows_sum_to_the_times_of_the_stages() -> None:
    """c = (0, 1/5, 3/10, 4/5, 8/9, 1, 1) as it is stored, and the error weights sum to 0."""
    stored = pairs.tableaux()[: pairs.IMPLICIT]
    c = stored[pairs.C_AT : pairs.C_AT + pairs.STAGES]
    np.testing.assert_allclose(c, [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1], rtol=1e-15)
    assert stored[pairs.E_AT : pairs.E_AT + pairs.STAGES].sum() == pytest.approx(0.0, abs=1e-15)


def test_the_implicit_pair_is_of_order_3_with_any_matrix() -> None:
    """ROS34PW2 as a W-method (Rang and Angermann 2005): sums over b with α to order 3, those with γ vanish."""
    n = pairs.SOLVES
    alpha, gamma = np.zeros((n, n)), pairs.GAMMA * np.eye(n)
    for i in range(n):
        alpha[i, : len(pairs.ROS_A[i])] = pairs.ROS_A[i]
        gamma[i, : len(pairs.ROS_GAMMA[i])] += pairs.ROS_GAMMA[i]
    b, a, g = np.array(pairs.ROS_B), alpha.sum(axis=1), gamma.sum(axis=1)
    found = [b.sum(), b @ a, b @ a**2, b @ alpha @ a, b @ g, b @ alpha @ g, b @ gamma @ a, b @ gamma @ g]
    np.testing.assert_allclose(found, [1, 1 / 2, 1 / 3, 1 / 6, 0, 0, 0, 0], atol=1e-14)
    low = np.array(pairs.ROS_B_LOW)
    np.testing.assert_allclose([low.sum(), low @ a, low @ g], [1, 1 / 2, 0], atol=1e-14)
