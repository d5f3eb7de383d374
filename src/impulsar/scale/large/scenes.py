"""Large mechanisms, made as arrays."""

import math

import numpy as np

from ...author.checks import number, positive, whole
from ...author.errors import ModelError
from ...author.shapes import Box
from ...engine.large.bulk import Bulk, multiply, rotate

LENGTH, MASS = 0.05, 0.1  # of a link of Mariti 2012 table 1 [m, kg]
INERTIA = np.diag([21e-6, 21e-6, 0.5e-6])[None]  # its z along the link


def _count(scene: str, n: object) -> int:
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise ModelError(f"large scene '{scene}': n is {n!r}, expected an integer >= 1")
    return int(n)


def _positive(scene: str, unit: str, **values: object) -> None:
    for what, value in values.items():
        positive(f"large scene '{scene}'", what, value, unit)


def chain(n: int = 1_000_000, bend: float = 0.1, seed: int = 0, planar: bool = False) -> Bulk:
    """n links from the origin, bent at random by `bend` a joint [rad].

    Hinges are along x and y in turns; planar: all along x.
    """
    n = _count("chain", n)
    number("large scene 'chain'", "bend", bend, "a finite number [rad]", math.isfinite)
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
    children = whole("large scene 'tree'", "children", children, 1, 4)
    number("large scene 'tree'", "spread", spread, "a finite number [rad]", math.isfinite)
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


def spheres(
    n: int = 100_000, radius: float = 0.01, friction: float = 0.5, high: float = 1.0, seed: int = 0, gap: float = 1.1
) -> Bulk:
    """n spheres of 10 g above the floor of an open box, in layers; they fall and come to rest.

    high: how much higher than wide they stand at the start; gap: between centres, in diameters.
    """
    n = _count("spheres", n)
    _positive("spheres", "m", radius=radius)
    _positive("spheres", "1", high=high, gap=gap)
    wide = max(1, math.ceil((n / high) ** (1.0 / 3.0)))
    k = np.arange(n)
    places = np.stack([k % wide, k // wide % wide, k // wide**2], 1)
    pitch = 2.0 * gap * radius
    position = pitch * (places + 0.5) + 0.05 * radius * np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 3))
    side = -pitch * wide
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


def settling(
    n: int = 1_000_000, radius: float = 0.005, density: float = 2500.0, spacing: float = 2.0, seed: int = 0
) -> Bulk:
    """n spheres of glass [kg/m³] in a tank of water, a lattice of `spacing` diameters; they sink and come to rest.

    Drag by Schiller and Naumann, buoyancy and added mass; they do not feel each other through the water.
    """
    n = _count("settling", n)
    _positive("settling", "m", radius=radius)
    _positive("settling", "kg/m³", density=density)
    _positive("settling", "1", spacing=spacing)
    bulk = spheres(n, radius, high=2.0, seed=seed, gap=spacing)
    mass = density * 4.0 / 3.0 * math.pi * radius**3
    bulk.mass = np.array([mass])
    bulk.inertia = 0.4 * mass * radius**2 * np.eye(3)[None]
    bulk.name = f"{n} spheres settling"
    bulk.fluid("water", surface=None)
    return bulk


def boxes(n: int = 100_000, edge: float = 0.02, friction: float = 0.5, high: float = 1.0, seed: int = 0) -> Bulk:
    """n cubes of 10 g above the floor of an open box, in layers, each turned at random; they fall and come to rest.

    high: how much higher than wide they stand at the start.
    """
    n = _count("boxes", n)
    _positive("boxes", "m", edge=edge)
    _positive("boxes", "1", high=high)
    wide = max(1, math.ceil((n / high) ** (1.0 / 3.0)))
    k = np.arange(n)
    gap = 1.8 * edge
    orientation = np.random.default_rng(seed).normal(size=(n, 4))
    side = -gap * wide
    mass = 0.01
    return Bulk(
        gap * (np.stack([k % wide, k // wide % wide, k // wide**2], 1) + 0.5),
        orientation / np.linalg.norm(orientation, axis=1, keepdims=True),
        np.zeros(n, np.int64),
        np.array([mass]),
        mass * edge**2 / 6.0 * np.eye(3)[None],
        shapes=((Box((edge,) * 3),),),
        planes=np.array([[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, side], [0, 1, 0, 0], [0, -1, 0, side]], float),
        friction=friction,
        name=f"{n} boxes",
    )


def stack(n: int = 10, edge: float = 0.1, friction: float = 0.5) -> Bulk:
    """n cubes of 1 kg on top of each other on a floor."""
    n = _count("stack", n)
    _positive("stack", "m", edge=edge)
    position = np.zeros((n, 3))
    position[:, 2] = edge * (np.arange(n) + 0.5)
    return Bulk(
        position,
        np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)),
        np.zeros(n, np.int64),
        np.array([1.0]),
        edge**2 / 6.0 * np.eye(3)[None],
        shapes=((Box((edge,) * 3),),),
        planes=np.array([[0.0, 0.0, 1.0, 0.0]]),
        friction=friction,
        name=f"stack of {n}",
    )


def net(n: int = 1000, gap: float = 0.2) -> Bulk:
    """A net of n x n square plates of 5 cm and 100 g that hangs from its first row and starts flat.

    Neighbours are joined by rods with a ball joint at either end, between the middles of their edges, `gap` of an edge
    long. One ball joint at the middle of a common edge instead would be 4 n² rows in the plane for 3 n² freedoms: a net
    that is singular where it is flat, and folds along straight lines alone.
    """
    n = _count("net", n)
    if not (isinstance(gap, int | float) and 0.0 < gap < 10.0):
        raise ModelError(f"large scene 'net': gap is {gap!r}, expected a number > 0 and < 10")
    edge, mass = 0.05, 0.1
    pitch = edge * (1.0 + gap)
    j, i = np.divmod(np.arange(n * n), n)
    position = np.stack([pitch * i, pitch * j, np.zeros(n * n)], 1)
    inertia = mass * edge**2 / 12.0 * np.diag([1.0, 1.0, 2.0])
    still = np.tile([0.0, 0.0, 0.0, 1.0], (n * n, 1))
    bulk = Bulk(position, still, np.zeros(n * n, np.int64), np.array([mass]), inertia[None], name=f"net of {n} x {n}")
    across, along = np.flatnonzero(i < n - 1), np.flatnonzero(j < n - 1)
    top, half = np.flatnonzero(j == 0), edge / 2.0
    first = np.concatenate([across, along, np.full(n, -1)])
    second = np.concatenate([across + 1, along + n, top])
    out = np.concatenate([np.tile([half, 0, 0], (len(across), 1)), np.tile([0, half, 0], (len(along) + n, 1))])
    held = position[top] - [0.0, pitch - half, 0.0]  # as if by a row before the first
    at = np.concatenate([position[across], position[along], held - out[-n:]]) + out
    bulk.join("distance", first, second, at, to=position[second] - out)
    return bulk
