"""gear-train: a motor lifts a weight through two stages of gears and a rack; the dimensions are ours.

In the plane x, y; pinion 1 drives wheel 2, on whose shaft pinion 3 drives wheel 4, on whose shaft pinion 5 lifts a
rack with a weight, m together. With i = (z2 / z1) (z4 / z3) and the pitch radius ρ of pinion 5, all without friction:

    speeds      ω2 = -ω1 z1 / z2,   ω4 = ω1 / i,   v = ρ ω1 / i
    torque      τ = (I1 + I23 (z1 / z2)² + (I45 + m ρ²) / i²) ω̇1 + m g ρ / i

Teeth are involutes of 20°, a picture: what keeps the ratios is couplings of the joints' coordinates.
"""

import math

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Smooth
from ..author.shapes import Box, Cylinder, Mesh, Shape
from .parts import above, at_least

MODULE, THICK, Z5, G = 0.004, 0.012, 15, 9.81  # of the teeth, of a wheel [m]; teeth of the rack's pinion
PITCH = MODULE * Z5 / 2  # radius of that pinion [m]
PRESSURE = math.radians(20.0)
DENSITY, WEIGHT = 7800.0, 5.0  # [kg/m³], of rack and weight [kg]
BELOW, ABOVE, START = 0.40, 0.05, 0.5  # of the rack at the start [m]; time to reach the speed [s]
LEVELS = (0.0, -1.25 * THICK, -2.5 * THICK)  # of the wheels along z [m]
OUT = (0, 0, 1)


def build(speed: float = 12.0, z1: int = 18, z2: int = 36, z3: int = 15, z4: int = 45) -> Model:
    """Two stages of gears and a rack lift a weight of 5 kg: six turns of the motor to one.

    `speed` [rad/s] of the motor, reached after half a second; `z1` to `z4` are numbers of teeth. What to look at: the
    motor's torque, a sixth of the last pinion's.
    """
    above("gear-train", speed=speed)
    for what, teeth in (("z1", z1), ("z2", z2), ("z3", z3), ("z4", z4)):
        at_least("gear-train", what, teeth, 8)
    model = Model("gear train", gravity=(0.0, -G, 0.0))
    lay = MODULE * (z1 + z2) / 2
    output = lay + MODULE * (z3 + z4) / 2
    # where a pinion has a tooth its wheel has a gap
    shafts = {
        "input": (0.0, [(z1, 0.0, LEVELS[0])]),
        "lay": (lay, [(z2, math.pi + math.pi / z2, LEVELS[0]), (z3, 0.0, LEVELS[1])]),
        "output": (output, [(z4, math.pi + math.pi / z4, LEVELS[1]), (Z5, 0.0, LEVELS[2])]),
    }
    for name, (x, gears) in shafts.items():
        body = f"{name} shaft"
        _add_shaft(model, body, x, gears)
        motor = Motor(speed=Smooth(0.0, speed, 0.0, START)) if name == "input" else None
        model.joint(name, "revolute", model.ground, body, at=(x, 0, 0), axis=OUT, motor=motor)
    hook = (output + PITCH + 0.015, -BELOW - 0.035, LEVELS[2])
    bar = Mesh(*rack(MODULE, THICK, -BELOW, ABOVE), offset=(-0.015, BELOW + 0.035, 0))
    box = Box((0.07, 0.07, 0.05))
    model.body("rack", mass=WEIGHT, inertia=(5e-2, 5e-3, 5e-2), position=hook, shape=[box, bar])
    model.joint("slide", "prismatic", model.ground, "rack", at=hook, axis=(0, 1, 0))
    model.coupling("mesh 1-2", "input", "lay", ratio=-z1 / z2)
    model.coupling("mesh 3-4", "lay", "output", ratio=-z3 / z4)
    model.coupling("mesh 5-rack", "output", "slide", ratio=PITCH)
    model.probe("weight", "rack", at=hook)
    model.dt, model.duration = 0.005, 4.0
    model.reference_energy = WEIGHT * G * PITCH * speed * z1 * z3 / (z2 * z4) * model.duration
    return model


def _add_shaft(model: Model, name: str, x: float, gears: list[tuple[int, float, float]]) -> None:
    """A body of gears (teeth, angle of a tooth, z) about (x, 0), as heavy as discs of their pitch circles."""
    radii = np.array([MODULE * teeth / 2 for teeth, _, _ in gears])
    heights = np.array([z for _, _, z in gears])
    masses = DENSITY * math.pi * radii**2 * THICK
    middle = float(masses @ heights / masses.sum())
    along = float(masses @ radii**2) / 2
    across = float(masses @ (radii**2 / 4 + THICK**2 / 12 + (heights - middle) ** 2))
    low, high = heights.min() - THICK, heights.max() + THICK
    axle: Shape = Cylinder(0.006, float(high - low), offset=(0, 0, (low + high) / 2 - middle))
    wheels = [Mesh(*gear(teeth, MODULE, THICK, angle), offset=(0, 0, z - middle)) for teeth, angle, z in gears]
    model.body(
        name,
        mass=float(masses.sum()),
        inertia=(across, across, along),
        position=(x, 0, middle),
        shape=[*wheels, axle],
    )


def gear(teeth: int, module: float, thickness: float, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a spur gear about z with a tooth's middle at an angle [m, rad].

    Addendum one module, dedendum 1.25; flanks are involutes of the base circle from it, or the root, outwards.
    """
    pitch = module * teeth / 2
    base, outer, root = pitch * math.cos(PRESSURE), pitch + module, pitch - 1.25 * module
    half = math.pi / (2 * teeth) + _involute(PRESSURE)  # of a tooth at the base circle
    radii = np.linspace(max(base, root), outer, 5)
    flank = [(r, half - _involute(math.acos(min(base / r, 1.0)))) for r in radii]
    foot = flank[0][1] + 0.1 * (math.pi / teeth - flank[0][1])  # a little wider, as a fillet is
    right = [(root, foot), *flank] if root < base else flank
    tooth = [(r, -turn) for r, turn in right] + [(r, turn) for r, turn in reversed(right)]
    outline = np.array(
        [
            (r * math.cos(around + turn), r * math.sin(around + turn))
            for around in angle + 2 * math.pi * np.arange(teeth) / teeth
            for r, turn in tooth
        ]
    )
    n = len(outline)
    rings = [np.column_stack([outline, np.full(n, z)]) for z in (-thickness / 2, thickness / 2)]
    vertices = np.vstack([*rings, [(0, 0, -thickness / 2), (0, 0, thickness / 2)]])
    here, after = np.arange(n), (np.arange(n) + 1) % n
    lower, upper = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    sides = ([here, after, after + n], [here, after + n, here + n], [after, here, lower], [here + n, after + n, upper])
    return vertices, np.vstack([np.column_stack(side) for side in sides])


def rack(module: float, thickness: float, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a rack along y, its teeth towards -x about its pitch line x = 0, a gap at y = 0."""
    pitch, lean = math.pi * module, math.tan(PRESSURE)
    tops, roots = module * lean, 1.25 * module * lean  # by how much a flank is off its pitch point there
    corners = []
    for k in range(math.ceil(low / pitch + 0.25), math.floor(high / pitch - 0.25) + 1):
        y = pitch * k  # of a gap: its sides are at y ± pitch/4
        corners += [(-module, y - pitch / 4 - tops), (1.25 * module, y - pitch / 4 + roots)]
        corners += [(1.25 * module, y + pitch / 4 - roots), (-module, y + pitch / 4 + tops)]
    front = np.array([(1.25 * module, low), *corners, (1.25 * module, high)])
    n = len(front)
    back = np.column_stack([np.full(n, 6 * module), front[:, 1]])
    sides = [np.column_stack([part, np.full(n, z)]) for z in (-thickness / 2, thickness / 2) for part in (front, back)]
    a, d = np.arange(n - 1), np.arange(1, n)  # here and next, of the four lines of corners at n apart
    quads = [(0, n), (n, 3 * n), (3 * n, 2 * n), (2 * n, 0)]
    faces = [np.column_stack(half) for p, q in quads for half in ([a + p, d + p, d + q], [a + p, d + q, a + q])]
    ends = [[0, n, 3 * n], [0, 3 * n, 2 * n], [n - 1, 4 * n - 1, 2 * n - 1], [n - 1, 3 * n - 1, 4 * n - 1]]
    return np.vstack(sides), np.vstack([*faces, ends])


def _involute(angle: float) -> float:
    """inv α = tan α - α."""
    return math.tan(angle) - angle
