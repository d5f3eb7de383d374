"""Large mechanisms, made as arrays."""

import math

import numpy as np

from ...author.errors import ModelError
from ...engine.large.bulk import Bulk, multiply, rotate

LENGTH, MASS = 0.05, 0.1  # of a link of Mariti 2012 table 1 [m, kg]
INERTIA = np.diag([21e-6, 21e-6, 0.5e-6])[None]  # its z along the link


def _count(scene: str, n: object) -> int:
    if not (isinstance(n, int) and n >= 1):
        raise ModelError(f"large scene '{scene}': n is {n!r}, expected an integer >= 1")
    return n


def chain(n: int = 1_000_000, bend: float = 0.1, seed: int = 0, planar: bool = False) -> Bulk:
    """n links from the origin, bent at random by `bend` a joint [rad].

    Hinges are along x and y in turns; planar: all along x.
    """
    n = _count("chain", n)
    rng = np.random.default_rng(seed)
    angles = bend * rng.uniform(-1.0, 1.0, n)
    axes = np.where(((np.arange(n) % 2 == 0) | planar)[:, None], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    orientation = _products(np.concatenate([np.sin(angles / 2)[:, None] * axes, np.cos(angles / 2)[:, None]], 1))
    down = LENGTH * rotate(orientation, np.array([0.0, 0.0, -1.0]))
    ends = np.cumsum(down, 0)
    tops = ends - down
    bulk = Bulk(tops + 0.5 * down, orientation, np.zeros(n, np.int64), np.array([MASS]), INERTIA, name=f"chain of {n}")
    bulk.join("revolute", np.arange(-1, n - 1), np.arange(n), tops, rotate(orientation, axes))
    return bulk


def _products(q: np.ndarray) -> np.ndarray:
    """q₀, q₀ q₁, q₀ q₁ q₂, ...: by doubling the reach."""
    out, reach = q.copy(), 1
    while reach < len(q):
        out[reach:] = multiply(out[:-reach], out[reach:])
        reach *= 2
    return out / np.linalg.norm(out, axis=1, keepdims=True)


def tree(n: int = 1_000_000, children: int = 2, spread: float = 0.5) -> Bulk:
    """n links from the origin, each carrying so many more on hinges, whose axes lie around it.

    spread: by how much a child leans off its parent [rad].
    """
    n = _count("tree", n)
    if not (isinstance(children, int) and 1 <= children <= 4):
        raise ModelError(f"large scene 'tree': children is {children!r}, expected 1 to 4")
    parent = (np.arange(n) - 1) // children
    which = (np.arange(n) - 1) % children
    orientation = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
    tops, ends = np.zeros((n, 3)), np.zeros((n, 3))
    around = 2.0 * np.pi * which / children
    axes = np.stack([np.cos(around), np.sin(around), np.zeros(n)], 1)
    lean = np.concatenate([np.sin(spread / 2) * axes, np.full((n, 1), np.cos(spread / 2))], 1)
    first, last = 0, 1
    while first < n:  # one generation after the other
        own = slice(first, min(last, n))
        if first:
            orientation[own] = multiply(orientation[parent[own]], lean[own])
            tops[own] = ends[parent[own]]
        ends[own] = tops[own] + LENGTH * rotate(orientation[own], np.array([0.0, 0.0, -1.0]))
        first, last = last, children * last + 1
    bulk = Bulk((tops + ends) / 2.0, orientation, np.zeros(n, np.int64), np.array([MASS]), INERTIA, name=f"tree of {n}")
    bulk.join("revolute", parent, np.arange(n), tops, rotate(orientation, axes))
    return bulk


def spheres(n: int = 100_000, radius: float = 0.01, friction: float = 0.5, high: float = 1.0, seed: int = 0) -> Bulk:
    """n spheres of 10 g above the floor of an open box, in layers; they fall and come to rest.

    high: how much higher than wide they stand at the start.
    """
    n = _count("spheres", n)
    wide = max(1, math.ceil((n / high) ** (1.0 / 3.0)))
    k = np.arange(n)
    places = np.stack([k % wide, k // wide % wide, k // wide**2], 1)
    gap = 2.2 * radius
    position = gap * (places + 0.5) + 0.05 * radius * np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3))
    side = -gap * wide
    planes = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, side], [0, 1, 0, 0], [0, -1, 0, side]], float)
    mass = 0.01
    return Bulk(
        position,
        np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)),
        np.zeros(n, np.int64),
        np.array([mass]),
        0.4 * mass * radius**2 * np.eye(3)[None],
        radius=np.array([radius]),
        planes=planes,
        friction=friction,
        name=f"{n} spheres",
    )
