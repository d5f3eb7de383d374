"""cross-lift (Mariti 2012 §5.2, table 2): a scissor lift with 33 redundant constraint equations."""

import math

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Body
from ..author.profiles import Ramp, Table
from ..author.rotations import conjugate, frame_from_axes, rotate
from ..author.shapes import Box, Capsule
from ..edits import Grab, Move, Release

LENGTH, WIDTH = 0.3, 0.35  # of a link, between the sides [m]
ANGLE = math.radians(40.0)  # of the links to the horizontal at the start
LINK, ROD = (750e-6, 750e-6, 2e-6), (1021e-6, 1021e-6, 2e-6)  # inertia, the small value along z [kg m²]
STIFFNESS = 40e3  # of each side's spring [N/m]
PIN = (0, 1, 0)
CASES = ("free", "load", "hand")


def build(case: str = "free", damping: float = 20.0) -> Model:
    """Two-stage scissor lift on springs (case: free; load 100 N for 2 < t < 4; hand on the plate).

    Sides A and B at y = 0 and 0.35. Height is that of the plate's pin line above the base pivots:
    0.38525342 m at rest, 0.37774964 m under 100 N.
    """
    if case not in CASES:
        raise ModelError(f"scene 'cross-lift': case is {case!r}, expected one of: {', '.join(CASES)}")
    model = Model("cross-lift")
    dx, dz = LENGTH * math.cos(ANGLE), LENGTH * math.sin(ANGLE)
    sides = {"A": 0.0, "B": WIDTH}
    links: dict[str, Body] = {}
    for side, y in sides.items():
        for number, a, b in (
            (1, (0, y, 0), (dx, y, dz)),
            (2, (dx, y, 0), (0, y, dz)),
            (3, (dx, y, dz), (0, y, 2 * dz)),
            (4, (0, y, dz), (dx, y, 2 * dz)),
        ):
            links[f"{number}{side}"] = _bar(model, f"link{number}{side}", a, b, LINK)
    rods = {
        "1": _bar(model, "rod1", (dx, 0, dz), (dx, WIDTH, dz), ROD),
        "2": _bar(model, "rod2", (0, 0, dz), (0, WIDTH, dz), ROD),
    }
    platform = ((0, 0, 2 * dz - 0.004), (dx, WIDTH, 2 * dz + 0.006))  # a picture: the paper's plate is a bar
    plate = _bar(model, "plate", (0, 0, 2 * dz), (0, WIDTH, 2 * dz), ROD, platform)

    def hinge(name: str, first: Body, second: Body, at: tuple) -> None:
        model.joint(name, "revolute", first, second, at=at, axis=PIN)

    def pin_slot(name: str, first: Body, second: Body, at: tuple) -> None:
        model.joint(name, "pin-slot", first, second, at=at, axis=PIN, axis2=(1, 0, 0))

    for side, y in sides.items():
        one, two, three, four = (links[f"{number}{side}"] for number in (1, 2, 3, 4))
        hinge(f"base{side}", model.ground, one, (0, y, 0))
        pin_slot(f"base-slot{side}", model.ground, two, (dx, y, 0))
        hinge(f"cross-low{side}", one, two, (dx / 2, y, dz / 2))
        hinge(f"stage1{side}", one, three, (dx, y, dz))
        hinge(f"stage2{side}", two, four, (0, y, dz))
        hinge(f"cross-high{side}", three, four, (dx / 2, y, 1.5 * dz))
        hinge(f"top{side}", plate, three, (0, y, 2 * dz))
        pin_slot(f"top-slot{side}", plate, four, (dx, y, 2 * dz))
        hinge(f"rod1{side}", one, rods["1"], (dx, y, dz))
        hinge(f"rod2{side}", two, rods["2"], (0, y, dz))
        model.spring(f"spring{side}", model.ground, two, (0, y, 0), (dx, y, 0), STIFFNESS, damping)
    model.probe("plate pin", plate, at=(0, WIDTH / 2, 2 * dz))
    if case == "load":
        down = Table((2.0, 2.0, 4.0, 4.0), (0.0, -100.0, -100.0, 0.0))
        model.load("weight", plate, force=(0.0, 0.0, down))
    if case == "hand":
        model.at(1.0, Grab("hand", "plate", stiffness=10e3, damping=20.0))
        model.at(1.0, Move("hand", Ramp(None, (0.0, WIDTH / 2, 2 * dz - 0.02), 1.0, 1.5)))
        model.at(3.0, Release("hand"))
    model.dt, model.duration, model.reference_energy = 0.01, 5.0, 1.2324e-3
    return model


def _bar(model: Model, name: str, a: tuple, b: tuple, inertia: tuple, box: tuple | None = None) -> Body:
    """A body of 0.1 kg from a to b, its z along it, its centre of mass in the middle; a box by two of its corners."""
    start, end = np.asarray(a, float), np.asarray(b, float)
    turn, shapes = frame_from_axes(name, end - start, None), []
    if box is not None:
        low, high = np.asarray(box, float)
        offset = rotate(conjugate(turn), (low + high - start - end) / 2)
        shapes = [Box(high - low, offset=offset, orientation=conjugate(turn))]
    return model.body(
        name,
        mass=0.1,
        inertia=inertia,
        position=(start + end) / 2,
        orientation=turn,
        shape=[Capsule(radius=0.006, length=float(np.linalg.norm(end - start))), *shapes],
    )
