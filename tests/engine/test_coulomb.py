"""Rows with bounds that depend on each other, against the laws that they have to fulfil."""

import numpy as np
import pytest
import warp as wp

from impulsar.engine.solve.bounded import Bounded
from impulsar.engine.solve.coulomb import solve_bounded
from impulsar.engine.spatial import f64
from impulsar.engine.start.contacts import room_for_problem

INFINITY = 1e300


@wp.kernel(enable_backward=False)
def bounded_kernel(c: Bounded, error: wp.array(dtype=f64)):
    w = wp.tid()
    error[w] = solve_bounded(c, w)


class Problem:
    """Contacts, limits and friction over freedoms without equations, one of many worlds."""

    def __init__(self, J, masses, velocity, group, of, low, high):
        self.W = J @ (J.T / masses[:, None])
        self.b = J @ velocity
        self.group, self.of, self.low, self.high = group, of, low, high

    @property
    def size(self) -> int:
        return len(self.b)


def solve(problems, start=None, envelope=None):
    """Impulses and errors of all problems, each in a world of its own."""
    most, worlds = max(problem.size for problem in problems), len(problems)
    c = room_for_problem(most, worlds, "cpu")
    ints = {name: np.zeros((most, worlds), np.int32) for name in ("start", "at", "group", "of")}
    floats = {name: np.full((most, worlds), np.nan) for name in ("b", "low", "high", "p")}
    floats["W"] = np.full((most * (most + 1) // 2, worlds), np.nan)
    count = np.zeros((1, worlds), np.int32)
    for w, problem in enumerate(problems):
        n = problem.size
        count[0, w] = n
        at = 0
        for k in range(n):
            first = 0 if envelope is None else envelope(problem, k)
            ints["start"][k, w], ints["at"][k, w] = first, at - first
            floats["W"][at : at + k + 1 - first, w] = problem.W[k, first : k + 1]
            at += k + 1 - first
        for name in ("group", "of"):
            ints[name][:n, w] = getattr(problem, name)
        for name in ("b", "low", "high"):
            floats[name][:n, w] = getattr(problem, name)
        floats["p"][:n, w] = 0.0 if start is None else start[w]
    c.count.assign(count)
    for name, data in ints.items():
        getattr(c, name).assign(data)
    for name, data in floats.items():
        getattr(c, name).assign(data)
    error = wp.zeros(worlds, dtype=f64, device="cpu")
    wp.launch(bounded_kernel, worlds, inputs=[c, error], device="cpu")
    p = c.p.numpy()
    return [p[: problem.size, w] for w, problem in enumerate(problems)], error.numpy()


def broken(problem: Problem, p: np.ndarray) -> float:
    """By how much p misses the laws: its bounds, rest inside of them, and friction against slip; of the largest."""
    u = problem.W @ p + problem.b
    own = np.diag(problem.W)
    large = max(np.abs(p).max(), np.abs(problem.b / own).max())
    worst, k = 0.0, 0
    while k < problem.size:
        size = problem.group[k]
        rows = slice(k, k + size)
        of = problem.of[k]
        scale = 1.0 if of < 0 else p[of]
        if size == 1:
            low, high = problem.low[k] * scale, problem.high[k] * scale
            worst = max(worst, low - p[k], p[k] - high)
            slip = u[k] / own[k]
            if slip > 0:
                worst = max(worst, min(slip, p[k] - low))
            else:
                worst = max(worst, min(-slip, high - p[k]))
        else:
            bound, length = problem.high[k] * scale, np.linalg.norm(p[rows])
            slip = np.linalg.norm(u[rows]) / own[rows].max()
            worst = max(worst, length - bound, min(slip, bound - length))
            if slip > 1e-9 * large:  # against it
                worst = max(worst, np.abs(p[rows] + bound * u[rows] / np.linalg.norm(u[rows])).max())
        k += size
    return worst / large


def contacts(rng, count: int, freedoms: int = 30, redundant: bool = False) -> Problem:
    """Random contacts of three rows each, some in the place of others."""
    masses = rng.uniform(0.3, 3.0, freedoms)
    blocks = []
    for k in range(count):
        block = np.zeros((3, freedoms))
        touched = rng.choice(freedoms, 6, replace=False)
        block[:, touched] = rng.normal(size=(3, 6))
        blocks.append(blocks[rng.integers(k)].copy() if redundant and k and rng.random() < 0.3 else block)
    mu = np.repeat(rng.uniform(0.1, 1.2, count), 3)
    normal = np.arange(3 * count) % 3 == 0
    group = np.tile([1, 2, 0], count)
    of = np.where(normal, -1, np.arange(3 * count) // 3 * 3)
    low, high = np.where(normal, 0.0, -mu), np.where(normal, INFINITY, mu)
    velocity = rng.normal(size=freedoms)
    return Problem(np.vstack(blocks), masses, velocity, group, of, low, high)


@pytest.mark.parametrize("redundant", [False, True])
def test_random_contacts(redundant):
    """Of 300 problems of 1 to 9 contacts 299 at least are solved: they fulfil Coulomb's law, and stay there."""
    rng = np.random.default_rng(3)
    problems = [contacts(rng, rng.integers(1, 10), redundant=redundant) for _ in range(300)]
    impulses, errors = solve(problems)
    solved = errors < 1e-9
    assert solved.mean() > 0.99
    for k in np.flatnonzero(solved):
        assert broken(problems[k], impulses[k]) < 1e-7
    again, errors = solve(problems, impulses)
    for k in np.flatnonzero(solved):
        assert errors[k] < 1e-9
        assert problems[k].W @ again[k] == pytest.approx(problems[k].W @ impulses[k], abs=1e-8)


def held(rng, rise: float, h: float = 0.01) -> Problem:
    """A stone of 7 kg on four corners, held by six finger tips, each on a light joint whose motor has a bound.

    In a step h the hands begin to rise with a speed: 6 + 6 freedoms, 36 rows. The floor has µ = 0.4, the tips 0.8.
    """
    masses = np.array([7.0] * 3 + [0.04] * 3 + [0.05] * 6)
    blocks, motors, floor = [], np.zeros((6, 12)), []
    for k in range(6):
        out = np.array([rng.uniform(-0.3, 0.3), (-1.0) ** k, rng.uniform(-0.3, 0.3)])
        place = np.array([rng.uniform(-0.05, 0.05), 0.11 * (-1.0) ** k, rng.uniform(-0.04, 0.04)])
        n = out / np.linalg.norm(out)
        press = n + rng.normal(size=3) * 0.5  # which way the joint moves its tip, against n
        block = touch(place, -n)
        block[:, 6 + k] = block[:, :3] @ (press / np.linalg.norm(press))
        blocks.append(block)
        motors[k, 6 + k] = 1.0
    for x, y in ((-0.05, -0.09), (0.05, -0.09), (-0.05, 0.09), (0.05, 0.09)):
        floor.append(touch(np.array([x, y, -0.07]), np.array([0.0, 0.0, 1.0])))
    mu = np.concatenate([np.full(6, 1.0), np.repeat([0.8] * 6 + [0.4] * 4, 3)])
    first = np.concatenate([np.full(6, True), np.arange(30) % 3 == 0])
    group = np.concatenate([np.ones(6, int), np.tile([1, 2, 0], 10)])
    of = np.concatenate([np.full(6, -1), np.where(first[6:], -1, 6 + np.arange(30) // 3 * 3)])
    low, high = np.where(first, 0.0, -mu), np.where(first, INFINITY, mu)
    low[:6], high[:6] = -25.0 * h, 25.0 * h
    velocity = np.zeros(12)
    velocity[2] = -9.81 * h
    problem = Problem(np.vstack([motors, *blocks, *floor]), masses, velocity, group, of, low, high)
    problem.b[:6] += 1.0  # on they would go
    for k, block in enumerate(blocks):
        problem.b[6 + 3 * k : 9 + 3 * k] -= block[:, :3] @ (0.0, 0.0, rise)
    return problem


def touch(place: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Rows of a stone's velocities along n and two directions across at a place, 12 freedoms."""
    aside = np.linalg.svd(n[None])[2][1:]
    return np.hstack([np.array([[*d, *np.cross(place, d)] for d in (n, *aside)]), np.zeros((3, 6))])


@pytest.mark.parametrize("rise", [1e-5, 1e-3])
def test_a_stone_is_taken_from_the_floor(rise):
    """From standing there while it is held to hanging between the tips: of 36 rows 12 count, few sets of which fit."""
    seeds = np.random.default_rng(7).integers(2**31, size=300)
    impulses, errors = solve([held(np.random.default_rng(seed), 0.0) for seed in seeds])
    assert errors.max() < 1e-9
    lifted = [held(np.random.default_rng(seed), rise) for seed in seeds]
    impulses, errors = solve(lifted, impulses)
    solved = errors < 1e-9
    assert solved.mean() > 0.99
    for k in np.flatnonzero(solved):
        assert broken(lifted[k], impulses[k]) < 1e-7


def test_what_is_not_solved_says_so():
    """The error that is returned is that of the impulses: nothing claims to be better than it is."""
    rng = np.random.default_rng(4)
    problems = [contacts(rng, 9, freedoms=12, redundant=True) for _ in range(100)]
    impulses, errors = solve(problems)
    for problem, p, error in zip(problems, impulses, errors, strict=True):
        assert broken(problem, p) < 1e3 * error + 1e-8


def test_limits_and_friction_of_joints():
    """Rows alone with fixed bounds are a box-constrained quadratic programme: the least of pᵀWp/2 + pᵀb."""
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(5)
    problems = []
    for _ in range(50):
        n = rng.integers(1, 12)
        J = rng.normal(size=(n, 15))
        limits = rng.random(n) < 0.5
        low = np.where(limits, 0.0, -rng.uniform(0.1, 1.0, n))
        high = np.where(limits, INFINITY, -low)
        problems.append(Problem(J, np.ones(15), rng.normal(size=15), np.ones(n), -np.ones(n), low, high))
    impulses, errors = solve(problems)
    assert errors.max() < 1e-9
    for problem, p in zip(problems, impulses, strict=True):
        root = np.linalg.cholesky(problem.W)
        high = np.where(problem.high > 1e200, np.inf, problem.high)
        found = lsq_linear(root.T, -np.linalg.solve(root, problem.b), (problem.low, high), tol=1e-14).x
        assert p == pytest.approx(found, abs=1e-6)


def test_a_box_that_slides_and_one_that_stays():
    """A point mass on a plane, pushed down and along: μ = 0.5 holds up to half of the normal impulse."""
    problems = []
    for along in (0.3, 0.49, 0.51, 2.0):
        J = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        law = ([1, 2, 0], [-1, 0, 0], [0.0, -0.5, -0.5], [INFINITY, 0.5, 0.5])
        problems.append(Problem(J, np.ones(3), np.array([0.6 * along, 0.8 * along, -1.0]), *map(np.array, law)))
    impulses, errors = solve(problems)
    assert errors.max() < 1e-12
    for (normal, x, y), along in zip(impulses, (0.3, 0.49, 0.51, 2.0), strict=True):
        assert normal == pytest.approx(1.0, abs=1e-9)
        size = min(along, 0.5)
        assert (x, y) == pytest.approx((-0.6 * size, -0.8 * size), abs=1e-9)


def test_an_envelope_leaves_out_what_is_zero():
    """A row of contacts, each between two neighbours: within its envelope the same as in the whole matrix."""
    rng = np.random.default_rng(6)
    problems = []
    for _ in range(20):
        problem = contacts(rng, 8, freedoms=30)
        J = np.zeros((24, 30))
        for k in range(8):
            J[3 * k : 3 * k + 3, 3 * k : 3 * k + 6] = rng.normal(size=(3, 6))
        law = (problem.group, problem.of, problem.low, problem.high)
        problems.append(Problem(J, rng.uniform(0.3, 3.0, 30), rng.normal(size=30), *law))
    whole, errors = solve(problems)
    narrow, again = solve(problems, envelope=lambda problem, k: int(np.flatnonzero(problem.W[k])[0]))
    assert max(errors.max(), again.max()) < 1e-9
    for a, b in zip(whole, narrow, strict=True):
        assert a == pytest.approx(b, abs=1e-8)
