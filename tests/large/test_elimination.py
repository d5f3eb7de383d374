"""Elimination of joints level by level beside a dense solve."""

import numpy as np
import pytest

from impulsar.engine.large.factor import Factor
from impulsar.engine.large.plan import make_plan, neighbours

RNG = np.random.default_rng(1)


def topology(name: str) -> tuple[np.ndarray, np.ndarray]:
    """First and second body of each joint."""
    if name == "one":
        return np.array([-1]), np.array([0])
    if name == "chain":
        return np.arange(-1, 59), np.arange(60)
    if name == "tree":
        return (np.arange(63) - 1) // 2, np.arange(63)
    if name == "deep tree":  # with a level all of whose blocks it fills in itself, several from one joint
        return (np.arange(300) - 1) // 2, np.arange(300)
    if name == "any tree":
        return np.array([-1, *[RNG.integers(0, k) for k in range(1, 60)]]), np.arange(60)
    if name == "ring":
        return np.arange(40), np.roll(np.arange(40), -1)
    joints = np.arange(20)  # a ladder: two rails and its rungs
    first = np.concatenate([joints[:-1], 20 + joints[:-1], joints])
    return first, np.concatenate([joints[1:], 21 + joints[:-1], 20 + joints])


@pytest.mark.parametrize("rows", [1, 3, 5, 6])
@pytest.mark.parametrize("name", ["one", "chain", "tree", "deep tree", "any tree", "ring", "ladder"])
def test_solve(name, rows):
    """A x = b for A = J Jᵀ + 1 of random rows: within rounding times the condition of A, whatever the topology."""
    first, second = topology(name)
    bodies = int(max(first.max(), second.max())) + 1
    plan = make_plan(len(first), neighbours(first, second, bodies))
    assert len(plan.core) == 0
    A = np.eye(len(first) * rows)
    J = RNG.normal(size=(2, len(first), rows, 6))
    for body in range(bodies):
        S = np.zeros((len(A), 6))
        for side, ends in enumerate((first, second)):
            for j in np.flatnonzero(ends == body):
                S[j * rows : (j + 1) * rows] += J[side, j]
        A += S @ S.T
    factor = Factor(plan, rows, "cpu")
    factor.diagonal.fill_(np.nan)
    factor.beside.fill_(np.nan)
    blocks = A.reshape(len(first), rows, len(first), rows)
    below = [(i, k) for i in range(rows) for k in range(i + 1)]
    nodes = plan.joint
    factor.diagonal.assign(np.array([blocks[nodes, i, nodes, k] for i, k in below]))
    between = blocks[nodes[plan.owner], :, nodes[plan.other]]
    between[plan.filled] = np.nan  # levels fill them in
    factor.beside.assign(between.reshape(len(plan.owner), rows * rows).T.copy())
    x = RNG.normal(size=len(A))
    factor.b.assign(np.ascontiguousarray((A @ x).reshape(len(first), rows)[nodes].T))
    factor.factor()
    factor.solve()
    error = np.abs(factor.b.numpy()[:, plan.column].T.ravel() - x).max()
    assert error < 100 * np.finfo(float).eps * np.linalg.cond(A)


@pytest.mark.parametrize(("children", "most"), [(1, 2.0), (2, 2.5)])
def test_work_grows_like_the_number_of_joints(children, most):
    """A level takes a fixed part of the joints: O(log n) levels, and so many blocks a joint at most."""
    for n in (1000, 16_000):
        parents = (np.arange(n) - 1) // children
        plan = make_plan(n, neighbours(parents, np.arange(n), n))
        assert len(plan.owner) < most * n
        assert len(plan.levels) < 3 * np.log2(n)
        assert sum(len(level.nodes) for level in plan.levels) == n


def test_nets_have_a_core():
    """Of a grid of bodies with a joint to each neighbour some joints are left, which levels do not take."""
    k = np.arange(400).reshape(20, 20)
    first = np.concatenate([k[:-1].ravel(), k[:, :-1].ravel()])
    second = np.concatenate([k[1:].ravel(), k[:, 1:].ravel()])
    assert len(make_plan(len(first), neighbours(first, second, 400)).core) > 0
