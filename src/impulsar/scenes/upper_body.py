"""An upper body: torso on a waist hinge, two arms of seven hinges, hands of a thumb and two fingers; its kinematics.

It is described as it stands straight with hanging arms, palms facing in: x is forward, y to its left, z up. Turned,
a link has the pose (R, p), by which x_W = R x + p of its points x in that straight pose. Its joint turns it against its
parent by q about the axis a through the point c,

    R_i = R_p Rot(a, q)          p_i = p_p + R_p (c - Rot(a, q) c)

The right side is the mirror image of the left, its axes such that equal angles are mirror images.

Angles of an arm that bring its palm to a pose are found by Newton's iteration; as seven are one more than it takes,
near a posture q_N:

    q ← q + J⁺ e + (1 - J⁺ J) (q_N - q)
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.rotations import cross, frame_from_axes, quaternion, rotation_matrix
from ..author.shapes import Box, Capsule, Shape, Sphere, compose

Pose = tuple[np.ndarray, np.ndarray]
SIDES = {"left": 1.0, "right": -1.0}
WAIST, SHOULDER, ELBOW, WRIST = 0.75, 1.25, 0.96, 0.70  # heights [m]
APART = 0.17  # of a shoulder from the middle [m]
ARM = ("shoulder pitch", "shoulder spread", "shoulder turn", "elbow", "wrist turn", "wrist tilt", "wrist flex")
FINGERS = ("thumb", "index", "ring")
TIP = 0.011  # radius of a finger's tip [m]
CURL = 0.6  # a finger's second joint turns by so much of its first, by a repeater
NEAR = 1e-12  # a hand is where it has to be [m, rad]


@dataclass(frozen=True)
class Link:
    """A body in the straight pose, and its hinge on its parent."""

    name: str
    parent: str
    joint: str
    at: np.ndarray  # [m]
    axis: np.ndarray
    mass: float  # [kg]
    shapes: tuple[Shape, ...]  # offsets in the straight pose

    def turned(self, parent: Pose, angle: float) -> Pose:
        """Its pose, its joint turned by so much [rad]."""
        R, p = parent
        turn = about(self.axis, angle)
        return R @ turn, p + R @ (self.at - turn @ self.at)


def links(pad: str) -> dict[str, Link]:
    """All of it by the names of joints, parents first; finger tips are of the material `pad`, the rest is a picture."""
    trunk = (
        _bar((0, 0, WAIST + 0.06), (0, 0, SHOULDER - 0.18), 0.095),
        Box((0.17, 0.26, 0.26), offset=(0, 0, SHOULDER - 0.10)),
        _bar((0, -APART + 0.03, SHOULDER), (0, APART - 0.03, SHOULDER), 0.05),
        _bar((0, 0, SHOULDER), (0.01, 0, SHOULDER + 0.12), 0.045),
        _bar((0.02, 0, SHOULDER + 0.19), (0.03, 0, SHOULDER + 0.25), 0.08),
    )
    found = [Link("torso", "ground", "waist", np.array([0, 0, WAIST]), np.array([0.0, 1, 0]), 30.0, trunk)]
    for side, sign in SIDES.items():
        found += _arm(side, sign, pad)
    return {link.joint: link for link in found}


def _arm(side: str, sign: float, pad: str) -> list[Link]:
    """The seven links of an arm, and two of each finger."""
    shoulder, elbow, wrist = (np.array([0.0, sign * APART, z]) for z in (SHOULDER, ELBOW, WRIST))
    middle = (elbow + wrist) / 2
    forward, outward, along = np.array([0.0, -1, 0]), np.array([sign, 0.0, 0]), np.array([0.0, 0, sign])
    palm = Box((0.085, 0.026, 0.085), offset=wrist - (0, 0, 0.0525))
    parts = (
        ("shoulder", shoulder, forward, 0.8, Sphere(0.058, offset=shoulder)),
        ("yoke", shoulder, outward, 0.6, Sphere(0.05, offset=shoulder)),
        ("upper arm", shoulder, along, 2.0, _bar(shoulder, elbow, 0.043)),
        ("forearm", elbow, forward, 0.9, _bar(elbow, middle, 0.038)),
        ("lower forearm", middle, along, 0.6, _bar(middle, 0.77 * wrist + 0.23 * middle, 0.031)),
        ("heel", wrist, forward, 0.2, Sphere(0.028, offset=wrist)),
        ("palm", wrist, outward, 0.4, palm),
    )
    found, parent = [], "torso"
    for joint, (name, at, axis, mass, shape) in zip(ARM, parts, strict=True):
        found.append(Link(f"{side} {name}", parent, f"{side} {joint}", at, axis, mass, (shape,)))
        parent = f"{side} {name}"
    down, inward = np.array([0.0, 0, -1]), np.array([0.0, -sign, 0])
    inner = wrist + 0.01 * inward
    for finger, base, way, length in (
        ("thumb", inner + 0.085 * down + 0.014 * inward - (0.032, 0, 0), np.array([1.0, 0, 0]), 0.065),
        ("index", inner + 0.095 * down + (0.026, 0, 0), down, 0.08),
        ("ring", inner + 0.095 * down - (0.026, 0, 0), down, 0.08),
    ):
        axis, bend, tip = cross(way, inward), base + 0.55 * length * way, base + length * way
        name, far = f"{side} {finger}", (_bar(bend, tip, 0.009), Sphere(TIP, offset=tip, material=pad))
        found.append(Link(name, parent, f"{name} knuckle", base, axis, 0.06, (_bar(base, bend, 0.01),)))
        found.append(Link(f"{name} tip", name, f"{name} bend", bend, axis, 0.04, far))
    return found


def _bar(a, b, radius: float) -> Capsule:
    a, b = np.asarray(a, float), np.asarray(b, float)
    along = frame_from_axes("bar", b - a, None)
    return Capsule(radius, float(np.linalg.norm(b - a)), offset=(a + b) / 2, orientation=along)


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation about a unit axis by an angle [rad]."""
    return rotation_matrix(np.append(np.sin(angle / 2) * axis, np.cos(angle / 2)))


def poses(body: Mapping[str, Link], angles: Mapping[str, float]) -> dict[str, Pose]:
    """Poses of the links by name; angles by joint [rad], 0 where none is given."""
    found = {"ground": (np.eye(3), np.zeros(3))}
    for joint, link in body.items():
        found[link.name] = link.turned(found[link.parent], angles.get(joint, 0.0))
    return found


def reach(
    body: Mapping[str, Link], waist: float, goal: Pose, grip: np.ndarray, near: np.ndarray, side: str = "left"
) -> np.ndarray:
    """Angles of an arm [rad] whose palm is turned by the goal's R and has its point `grip` at the goal's p."""
    joints = [f"{side} {joint}" for joint in ARM]
    q = np.array(near, float)
    for _ in range(200):
        found = poses(body, {"waist": waist} | dict(zip(joints, q, strict=True)))
        R, p = found[f"{side} palm"]
        place = R @ grip + p
        error = np.concatenate([_rotation_vector(goal[0] @ R.T), goal[1] - place])
        rows = []
        for joint in joints:
            link = body[joint]
            R_P, p_P = found[link.parent]
            axis = R_P @ link.axis
            rows.append(np.concatenate([axis, cross(axis, place - R_P @ link.at - p_P)]))
        J = np.array(rows).T
        back = np.linalg.pinv(J)
        if np.abs(error).max() < NEAR:
            return q
        step = back @ error + (np.eye(len(q)) - back @ J) @ (near - q)
        q = q + step * min(1.0, 0.3 / float(np.abs(step).max()))
    raise ModelError(f"upper body: the {side} hand does not reach {goal[1]} with the waist at {waist:g} rad")


def _rotation_vector(R: np.ndarray) -> np.ndarray:
    q = quaternion(R)
    sine = float(np.linalg.norm(q[:3]))
    return 2.0 * q[:3] if sine < 1e-9 else 2.0 * np.arctan2(sine, q[3]) / sine * q[:3]


def add(model: Model, body: Mapping[str, Link], angles: Mapping[str, float], motors: Mapping[str, Motor]) -> None:
    """Add it to a model in a pose, with motors by joint; second joints of fingers follow the first by repeaters."""
    found = poses(body, angles)
    for joint, link in body.items():
        R, p = found[link.name]
        _, unit_inertia, centred = compose(link.shapes)
        centre = np.asarray(link.shapes[0].offset) - np.asarray(centred[0].offset)
        inertia = link.mass * (unit_inertia + unit_inertia.T) / 2
        model.body(
            link.name,
            mass=link.mass,
            inertia=inertia,
            position=R @ centre + p,
            orientation=quaternion(R),
            shape=centred,
        )
        model.joint(joint, "revolute", link.parent, link.name, at=R @ link.at + p, axis=R @ link.axis,
                    motor=motors.get(joint))  # fmt: skip
        if joint.endswith("bend"):
            finger = joint.removesuffix(" bend")
            model.coupling(f"{finger} repeater", f"{finger} knuckle", joint, ratio=CURL)
