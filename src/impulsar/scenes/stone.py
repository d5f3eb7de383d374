"""stone (Mikhaylyuk 2017 fig. 7: an anthropomorphic robot grasps a stone)."""

import math
from collections.abc import Mapping

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Smooth
from ..author.shapes import Box, ConvexHull, Cylinder
from ..edits import Drive
from . import parts, upper_body
from .parts import above
from .upper_body import ARM, CURL, FINGERS, SIDES, TIP, Link, poses, reach

G, DENSITY = 9.81, 2200.0  # [m/s²], of the stone [kg/m³]
TABLE, AHEAD = 0.80, 0.43  # height of the table, and how far in front of the body the stone lies [m]
POINTS = 1e-3 * np.array(  # of the stone, its base at z = 0 [m]
    [
        (-40, -94, 0), (34, -99, 0), (52, -20, 0), (42, 95, 0), (-34, 97, 0), (-54, 8, 0),
        (-60, -107, 46), (54, -110, 52), (-6, -120, 66), (-54, -102, 126), (44, -99, 118),
        (-56, 108, 44), (58, 110, 50), (8, 121, 62), (50, 102, 114), (-56, 100, 128),
        (70, -30, 58), (76, 30, 74), (-74, -25, 70), (-71, 34, 62),
        (-32, -60, 141), (30, -56, 133), (32, 54, 140), (-28, 60, 139), (-2, -4, 147),
    ]
)  # fmt: skip
PALM = np.array([0.002, upper_body.APART, upper_body.WRIST - 0.128])  # what of the left hand is beside its middle [m]
OPEN, FURTHER = 0.1, 1.8  # of knuckles at the start [rad], and how far they are to close, of the way to the touch
START, NEAR, AROUND, CLOSED, LIFT, LIFTED, END = 0.2, 1.4, 2.2, 3.2, 3.4, 5.4, 10.4  # [s]
LEAN, TILT, ASIDE, BACK = 0.25, 0.15, 0.10, 0.05  # of waist and hands [rad]; before they close in, and lifted [m]
REST = (0.1, 0.25, 0.0, 1.5, 0.0, 0.0, 0.0)  # angles of an arm at the start [rad]
POSTURE = (0.2, 0.0, 0.0, 1.4, 0.0, 0.0, 0.0)  # near which arms are bent


def build(grip: float = 25.0, friction: float = 0.8, lift: float = 0.2) -> Model:
    """An upper body with two arms of seven freedoms takes a stone from a table, lifts it and holds it for 5 s.

    Each of the six fingers has a motor of bounded torque, by which its tip presses with `grip` [N] along its way,
    whatever the stone is like there. What to look at: the tips do not slip on the stone from 3.4 s on, when it is
    gripped, to the end; with a grip of 10 N it stays on the table.
    """
    above("stone", grip=grip, friction=friction, lift=lift)
    model = Model("stone")
    model.material("pad", friction=1.0)
    model.material("rock", friction=0.6)
    model.material_pair("pad", "rock", friction=friction)
    _furnish(model)
    hull = ConvexHull(POINTS + np.array([AHEAD, 0.0, TABLE]))
    stone = parts.stone(model, "stone", hull, DENSITY, material="rock")
    body = upper_body.links("pad")
    plan = _plan(body, hull.center, lift)
    start = plan[0] | {f"{side} {finger} knuckle": OPEN for side in SIDES for finger in FINGERS}
    start |= {joint.replace("knuckle", "bend"): CURL * OPEN for joint in start if "knuckle" in joint}
    motors = {joint: Motor(position=Smooth(0.0, plan[1][joint] - plan[0][joint], START, NEAR)) for joint in plan[0]}
    for side in SIDES:
        for finger in FINGERS:
            touch, lever = _touch(body, plan[2], f"{side} {finger}", hull)
            close = Smooth(0.0, FURTHER * (touch - OPEN), AROUND, CLOSED)  # all touch at the same time
            motors[f"{side} {finger} knuckle"] = Motor(position=close, max_torque=grip * lever)
    upper_body.add(model, body, start, motors)
    for before, after, t0, t1 in ((plan[1], plan[2], NEAR, AROUND), (plan[2], plan[3], LIFT, LIFTED)):
        for joint, angle in after.items():
            model.at(t0, Drive(joint, Smooth(before[joint] - start[joint], angle - start[joint], t0, t1)))
    model.probe("middle", stone, at=hull.center)
    model.dt, model.duration = 0.01, END
    model.reference_energy = stone.mass * G * lift  # the stone lifted
    return model


def _furnish(model: Model) -> None:
    """The table, and what the body stands on."""
    middle = AHEAD + 0.03
    model.obstacle("table", Box((0.5, 1.0, 0.04)), position=(middle, 0, TABLE - 0.02), material="wood")
    for k, (x, y) in enumerate(((-0.2, -0.45), (-0.2, 0.45), (0.2, -0.45), (0.2, 0.45))):
        leg = Cylinder(radius=0.02, length=TABLE - 0.04)
        model.obstacle(f"leg{k + 1}", leg, position=(middle + x, y, TABLE / 2 - 0.02))
    post = Cylinder(radius=0.1, length=upper_body.WAIST)
    model.obstacle("pedestal", post, position=(0, 0, upper_body.WAIST / 2))


def _plan(body: Mapping[str, Link], centre: np.ndarray, lift: float) -> list[dict[str, float]]:
    """Angles of waist and arms: at the start, hands beside the stone, around it, and with it lifted [rad].

    Around it and above, arms are in planes y = const: whatever hinges across them do at the same rate in both arms
    does not move the hands against each other.
    """
    level = upper_body.about(np.array([0.0, 1.0, 0.0]), TILT - math.pi / 2)
    x, y, z = centre[0], upper_body.APART, centre[2]
    found = [(0.0, np.array(REST))]
    for lean, at in ((LEAN, (x, y + ASIDE, z)), (LEAN, (x, y, z)), (0.0, (x - BACK, y, z + lift))):
        found.append((lean, reach(body, lean, (level, np.array(at)), PALM, np.array(POSTURE))))
    return [
        {"waist": lean} | {f"{side} {joint}": float(q) for side in SIDES for joint, q in zip(ARM, arm, strict=True)}
        for lean, arm in found
    ]


def _touch(body: Mapping[str, Link], angles: Mapping[str, float], finger: str, hull: ConvexHull) -> tuple[float, float]:
    """The knuckle's angle at which a finger's tip touches [rad], and how far the tip goes for a radian there [m]."""
    from scipy.spatial import ConvexHull as Hull

    planes = Hull(hull.points).equations
    tip = np.asarray(body[f"{finger} bend"].shapes[-1].offset)

    def place(angle: float) -> np.ndarray:
        R, p = poses(body, {**angles, f"{finger} knuckle": angle, f"{finger} bend": CURL * angle})[f"{finger} tip"]
        return R @ tip + p

    def gap(angle: float) -> float:
        return float((planes[:, :3] @ place(angle) + planes[:, 3]).max()) - TIP

    low, high = OPEN, OPEN
    while gap(high) > 0.0:
        high += 0.02
        if high > 1.5:
            raise ModelError(f"scene 'stone': {finger} does not reach the stone")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(middle) > 0.0 else (low, middle)
    return high, float(np.linalg.norm(place(high + 1e-4) - place(high - 1e-4))) / 2e-4
