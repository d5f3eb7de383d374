"""Machines among many bodies: a hopper with a gate, a conveyor of plates. Joints with motors, and contact."""

import math

import numpy as np

from ...author.errors import ModelError
from ...author.parts import Features, Motor
from ...author.profiles import Ramp
from ...author.shapes import Box, Sphere
from ...engine.large.bulk import Bulk

STEEL, GRAIN = 7800.0, 2500.0  # [kg/m³]
SLOPE = math.radians(60.0)  # of a hopper's walls
UNIT = (0.0, 0.0, 0.0, 1.0)


def _number(scene: str, what: str, value: object, least: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= least:
        raise ModelError(f"large scene {scene!r}: {what} is {value!r}, expected a number > {least:g}")
    return float(value)


def _box_kind(size: tuple[float, float, float]) -> tuple[float, np.ndarray]:
    """Mass and inertia of a box of steel."""
    x, y, z = size
    mass = STEEL * x * y * z
    return mass, mass / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])


def hopper(n: int = 20_000, radius: float = 0.01, outlet: float = 10.0, opens: float = 1.0, seed: int = 0) -> Bulk:
    """n grains above two sloping walls with a slot between them, which a hinged gate closes until `opens` [s].

    outlet: width of the slot, in radii; the walls before and behind are as far apart. The gate is the last body, its
    hinge has a motor: from there on it swings down by a right angle in 0.2 s.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ModelError(f"large scene 'hopper': n is {n!r}, expected an integer >= 1")
    radius, opens = _number("hopper", "radius", radius), _number("hopper", "opens", opens)
    slot = radius * _number("hopper", "outlet", outlet, 2.0)
    rng, pitch, thick = np.random.default_rng(seed), 2.3 * radius, 2.0 * radius
    deep = max(1, int(slot / pitch))  # grains from front to back
    wide = max(math.ceil(3.0 * slot / pitch), math.ceil(math.sqrt(n / deep)))  # and from side to side
    half = 0.5 * (wide + 1) * pitch
    long = (half - 0.5 * slot) / math.cos(SLOPE)
    k = np.arange(n)
    layer = np.stack([k % wide - 0.5 * (wide - 1), k // wide % deep - 0.5 * (deep - 1), k // (wide * deep)], 1)
    grains = pitch * layer + rng.uniform(-0.05, 0.05, (n, 3)) * radius
    grains[:, 2] += long * math.sin(SLOPE) + 2.0 * radius
    size = (slot + 4.0 * radius, slot - 0.5 * radius, thick)
    mass, inertia = _box_kind(size)
    below = -half - 2.0 * size[0]  # where the floor is: the gate hangs free
    grain = GRAIN * 4.0 / 3.0 * math.pi * radius**3
    walls = []
    for side in (1.0, -1.0):
        along, out = np.array([math.cos(SLOPE), 0, math.sin(SLOPE)]), np.array([math.sin(SLOPE), 0, -math.cos(SLOPE)])
        middle = (0.5 * slot * np.array([1.0, 0, 0]) + 0.5 * long * along + 0.5 * thick * out) * (side, 1.0, 1.0)
        turn = (0.0, -side * math.sin(0.5 * SLOPE), 0.0, math.cos(0.5 * SLOPE))
        walls.append(Box((long, 2.0 * slot, thick), offset=tuple(middle), orientation=turn))
    bulk = Bulk(
        np.concatenate([grains, [[0.0, 0.0, -0.5 * thick]]]),
        np.tile(UNIT, (n + 1, 1)),
        np.append(np.zeros(n, np.int64), 1),
        np.array([grain, mass]),
        np.stack([0.4 * grain * radius**2 * np.eye(3), inertia]),
        shapes=((Sphere(radius),), (Box(size),)),
        obstacles=tuple(walls),
        planes=np.array(
            [[1, 0, 0, -half], [-1, 0, 0, -half], [0, 1, 0, -0.5 * slot], [0, -1, 0, -0.5 * slot], [0, 0, 1, below]]
        ),
        name=f"hopper of {n}",
    )
    bulk.no_contact = np.array([[n, -1], [n, -2]])  # the gate and the walls it closes
    bulk.join(
        "revolute", np.array([-1]), np.array([n]), np.array([[-0.5 * size[0], 0.0, -0.5 * thick]]), (0.0, 1.0, 0.0)
    )
    down = Ramp(0.0, 0.5 * math.pi, t0=opens, t1=opens + 0.2)
    bulk.give([0], Features(motor=Motor(position=down)))
    return bulk


def conveyor(plates: int = 1000, speed: float = 0.5, friction: float = 0.5) -> Bulk:
    """Plates of 10 x 40 x 2 cm in a row on a bed, hinged to each other, each with a box of 8 cm on it.

    The first is on a rail along x, by which a motor pulls them all at `speed` [m/s] from the start; the boxes slip
    until friction has brought them to it. Plates are the first bodies, from the front to the back.
    """
    if not isinstance(plates, int) or isinstance(plates, bool) or plates < 2:
        raise ModelError(f"large scene 'conveyor': plates is {plates!r}, expected an integer >= 2")
    speed = _number("conveyor", "speed", speed)
    size, edge = (0.1, 0.4, 0.02), 0.08
    kinds = [_box_kind(size), _box_kind((edge,) * 3)]
    along = -size[0] * np.arange(plates)
    zero = np.zeros(plates)
    plate = np.stack([along, zero, zero + 0.5 * size[2]], 1)
    load = np.stack([along, zero, zero + size[2] + 0.5 * edge], 1)
    n = 2 * plates
    bulk = Bulk(
        np.concatenate([plate, load]),
        np.tile(UNIT, (n, 1)),
        np.repeat([0, 1], plates),
        np.array([mass for mass, _ in kinds]),
        np.stack([inertia for _, inertia in kinds]),
        shapes=((Box(size),), (Box((edge,) * 3),)),
        planes=np.array([[0.0, 0.0, 1.0, 0.0]]),
        friction=friction,
        name=f"conveyor of {plates} plates",
    )
    bulk.join("prismatic", np.array([-1]), np.array([0]), plate[:1], (1.0, 0.0, 0.0))
    before = np.arange(plates - 1)
    bulk.join("revolute", before, before + 1, plate[:-1] - [0.5 * size[0], 0.0, 0.0], (0.0, 1.0, 0.0))
    bulk.give([0], Features(motor=Motor(speed=speed)))
    return bulk
