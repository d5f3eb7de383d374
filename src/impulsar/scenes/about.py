"""What scenes are about: sentences, what they are measured by now, and what the studio draws for them.

Each is a function of the world as it is: lengths and ratios are those that somebody may have set since.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..author.parts import Joint
from ..author.rotations import rotate, rotation_matrix
from . import gear_train as gears
from . import peaucellier as cell
from . import scissor as lift
from . import six_bar as shaper
from . import tippe_top as top

if TYPE_CHECKING:
    from ..world.world import World

Point = Sequence[float] | np.ndarray
BORE = 0.024  # radius of the slider-crank's piston [m]


@dataclass(frozen=True)
class Tube:
    """A piston, or the cylinder that it runs in: around a line in a body's frame [m]."""

    body: str
    start: Point
    end: Point
    radius: float
    hollow: bool = False


@dataclass(frozen=True)
class Note:
    """A sentence; a value ends it. Lines are in the world; turns are points whose paths in a whole turn are drawn."""

    text: str
    value: float | None = None
    unit: str = ""
    lines: tuple[Sequence[Point], ...] = ()
    tubes: tuple[Tube, ...] = ()
    turns: tuple[tuple[str, Point], ...] = ()


def peaucellier(world: "World") -> list[Note]:
    """The output point runs on a line, by hinges alone."""
    probe = world.model.probes["path D"]
    x, line, high = float(world.point(probe.body, probe.p_BQ)[0]), cell.LINE, 0.32
    text = f"D runs on the straight line x = {line:.4f} m, by hinges alone (Peaucellier 1864). It is off by"
    return [Note(text, abs(x - line), "m", lines=(((line, -high, 0), (line, high, 0)),))]


def four_bar(world: "World") -> list[Note]:
    """Grashof's law, and a coupler curve."""
    O, A, B, C = (world.model.joints[name] for name in "OABC")
    sides = [_length(world, O, A, "crank"), _length(world, A, B, "coupler"), _length(world, C, B, "rocker")]
    sides.append(float(np.linalg.norm(np.subtract(O.p_PF, C.p_PF))))
    short, *middle, long = sorted(sides)
    ends, others = short + long, sum(middle)
    if ends < others:
        turns = f"less than the other two, {others:.3g} m, so the shortest link can turn right round (Grashof)."
    else:
        turns = f"no less than the other two, {others:.3g} m, so no link can turn right round (Grashof)."
    text = f"The shortest and the longest link are {ends:.3g} m together, {turns}"
    start, end = np.array(A.p_CM), np.array(B.p_PF)
    beside = (start + end) / 2 - 0.3 * np.cross(rotate(A.q_CM, np.array([0.0, 0.0, 1.0])), end - start)
    return [Note(text), Note("The curve is that of a point beside the coupler.", turns=(("coupler", beside),))]


def slider_crank(world: "World") -> list[Note]:
    """A piston in its cylinder."""
    pin = world.model.joints["pin"]
    crank = 2 * float(np.linalg.norm(pin.p_PF))
    rod = _length(world, pin, world.model.joints["wrist"], "rod")
    near, far = rod - crank, rod + crank
    tubes = (
        Tube("slider", (-0.03, 0, 0), (0.03, 0, 0), BORE),
        Tube("ground", (max(near, 0.0) - 0.035, 0, 0), (far + 0.05, 0, 0), 1.06 * BORE, hollow=True),
    )
    stroke = f"The piston's stroke is twice the crank, {far - near:.3g} m. It is now, from its upper dead centre, at"
    return [Note(stroke, far - float(world.body("slider").position[0]), "m", tubes=tubes)]


def six_bar(world: "World") -> list[Note]:
    """Quick return."""
    asin = math.asin(shaper.CRANK / shaper.PIVOT)
    ratio = (math.pi + 2 * asin) / (math.pi - 2 * asin)
    return [Note(f"The ram goes back {ratio:.3g} times as fast as forth: the crank drives the lever nearer its pivot.")]


def scissor(world: "World") -> list[Note]:
    """Height over the foot."""
    stages = sum(name.startswith("cross") for name in world.model.joints)
    x = float(world.body("nut").position[0])
    height = float(world.point("plate")[2])
    law = stages * math.sqrt(max(lift.LENGTH**2 - x * x, 0.0))
    text = f"The plate is {stages} √(l² - x²) above the foot at x, {law:.4f} m. It is off by"
    return [Note(text, abs(height - law), "m")]


def jansen_leg(world: "World") -> list[Note]:
    """The toe's path."""
    probe = world.model.probes["toe"]
    text = "Eleven lengths, found by search (Jansen 1990), make the toe walk: flat on the ground, then up and forth."
    return [Note(text, turns=((probe.body, probe.p_BQ),))]


def gear_train(world: "World") -> list[Note]:
    """Ratio of the train."""
    couplings = world.model.couplings
    ratio = 1 / (couplings["mesh 1-2"].ratio * couplings["mesh 3-4"].ratio)
    turned = float(world.joint("input").position) - ratio * float(world.joint("output").position)
    text = f"{ratio:.4g} turns of the motor are one of the last wheel, which lifts {gears.WEIGHT:g} kg. They are off by"
    return [Note(text, abs(turned), "rad")]


def tippe_top(world: "World") -> list[Note]:
    """Jellett's invariant."""
    now = _jellett(world.body("top").orientation, world.body("top").angular_velocity)
    start = world.model.bodies["top"]
    first = _jellett(start.orientation, start.angular_velocity)
    text = f"No force at the contact changes Jellett's λ = -L·a, {first:.4g} kg m³/s at the start. Its change is now"
    return [Note(text, 100 * (now - first) / first, "%")]


def _jellett(orientation: np.ndarray, angular_velocity: np.ndarray) -> float:
    turn = rotation_matrix(orientation)
    inertia = np.diag([top.RATIO * top.ALONG, top.RATIO * top.ALONG, top.ALONG])
    momentum = turn @ inertia @ turn.T @ angular_velocity
    contact = top.OFF * top.RADIUS * turn[:, 2] - np.array([0.0, 0.0, top.RADIUS])
    return -float(momentum @ contact)


def _length(world: "World", first: Joint, second: Joint, body: str) -> float:
    """Between two joints of a body."""
    if body not in world.model.bodies:
        raise KeyError(body)
    a, b = (joint.p_CM if joint.second == body else joint.p_PF for joint in (first, second))
    return float(np.linalg.norm(np.subtract(a, b)))
