"""Where joints are placed and what sits in them: frames on both bodies, features of each group of freedoms."""

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from . import joints as codes
from .checks import Vector, is_number, show, vector
from .errors import ModelError
from .joints import JointType
from .parts import Body, Features, Joint, joint_type_of
from .rotations import conjugate, frame_from_axes, multiply, rotation_matrix, unit_quaternion

Frame = tuple[Vector, Vector]  # position [m] and orientation (xyzw) in the body's frame


NO_AXIS = tuple(kind.name for kind in codes.CATALOGUE.values() if not kind.has_axis)
TWO_AXES = {kind.name: kind.second_axis for kind in codes.CATALOGUE.values() if kind.second_axis}


def frame_gap(joint: Joint, P: Body, C: Body) -> tuple[float, float]:
    """How far a joint's frames are apart at the authored pose along what it locks [m, rad]."""
    q_WF = multiply(P.orientation, joint.q_PF)
    q_FM = multiply(conjugate(q_WF), multiply(C.orientation, joint.q_CM))
    p_FM = rotation_matrix(q_WF).T @ (C.world_point(joint.p_CM) - P.world_point(joint.p_PF))
    R_FM = rotation_matrix(q_FM)
    sine = np.linalg.norm(q_FM[:3])
    turn = q_FM[:3] * (2 * math.atan2(sine, abs(q_FM[3])) / sine if sine > 0 else 2.0)
    tilt = math.atan2(math.hypot(R_FM[0, 2], R_FM[1, 2]), R_FM[2, 2])  # of M's z from F's z
    metres, radians = [], []
    for lock in joint.kind.locks:
        if lock in codes.ALL_SLIDES:
            metres.append(p_FM[lock - codes.LOCK_X])
        elif lock in codes.ALL_TURNS:
            radians.append(turn[lock - codes.LOCK_RX])
        elif lock == codes.ALIGN_X:  # ALIGN_Y never comes without it, and `tilt` is the norm of both
            radians.append(tilt)
        elif lock == codes.CROSS:
            radians.append(math.asin(min(1.0, max(-1.0, R_FM[2, 0]))))
        elif lock == codes.THREAD:
            metres.append(p_FM[2] - (joint.pitch or 0.0) * math.atan2(R_FM[1, 0], R_FM[0, 0]))
        elif lock == codes.LENGTH:
            metres.append(np.linalg.norm(p_FM) - (joint.length or 0.0))
    return math.hypot(*metres), math.hypot(*radians)


def checked_frame(owner: str, what: str, frame: Frame | None) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(frame, tuple | list) or len(frame) != 2:
        raise ModelError(f"{owner}: {what} is {show(frame)}, expected (position, orientation xyzw)")
    position = vector(owner, f"position of {what}", frame[0], "m")
    return position, unit_quaternion(owner, f"orientation of {what}", frame[1])


def place_frames(
    owner: str,
    type: str,
    P: Body,
    C: Body,
    at: Vector | None,
    axis: Vector | None,
    axis2: Vector | None,
    at_b: Vector | None,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Frames F on P and M on C from world points and axes."""
    if at is None:
        if type != "free":
            raise ModelError(f"{owner}: at is None, expected 3 numbers [m], or frame_a and frame_b")
        at = C.position
    if (at_b is None) == (type == "distance"):
        raise ModelError(f"{owner}: at_b is {show(at_b)}; a distance joint needs it, no other takes it")
    if type == "distance" and not (axis is None and axis2 is None):
        raise ModelError(f"{owner}: axis is {show(axis)}, but a distance joint has none; remove it")
    if axis is None and type not in NO_AXIS:
        raise ModelError(f"{owner}: axis is None, but a {type} joint needs one; give 3 numbers in world axes")
    if axis2 is None and type in TWO_AXES:
        raise ModelError(f"{owner}: axis2 is None, expected 3 numbers: {TWO_AXES[type]}")
    p_WF = vector(owner, "at", at, "m")
    p_WM = p_WF if at_b is None else vector(owner, "at_b", at_b, "m")
    q_WF = frame_from_axes(owner, (0.0, 0.0, 1.0) if axis is None else axis, axis2)
    q_PF, q_CM = multiply(conjugate(P.orientation), q_WF), multiply(conjugate(C.orientation), q_WF)
    return (P.point(p_WF), q_PF), (C.point(p_WM), q_CM)


def make_features(owner: str, kind: JointType, given: dict[str, object]) -> dict[str, Features]:
    """The features of every group of a joint type, from what a user gave for the joint."""
    features = {group.name: Features() for group in kind.groups}
    for what, value in given.items():
        for name, item in by_group(owner, kind, what, value).items():
            if what == "limits" and kind.group(name).is_ball:
                features[name].swing, features[name].limits = _ball_limits(owner, item)
            else:
                setattr(features[name], what, item)
    return features


def closed_joint(joint: Joint) -> Joint:
    """What a joint that is cut is when it is closed; raises `ModelError` where `closed` says nothing sensible."""
    owner, given = f"joint '{joint.name}'", dict(joint.closed or {})
    kind = joint_type_of(f"{owner}, closed", given.pop("type", None))
    own = {name: given.pop(name, None) for name in ("loop", "pitch", "length")}
    features = {field.name for field in fields(Features) if field.name != "swing"}
    given["restitution"] = given.pop("limit_restitution", 0.0)
    for name in given:
        if name not in features:
            raise ModelError(f"{owner}: closed has {name!r}; known are type, loop, pitch, length and features")
    found = replace(joint, type=kind.name, features=make_features(owner, kind, given), closed=None, **own)
    found.check()
    return found


def by_group(owner: str, kind: JointType, what: str, value: object) -> dict[str, object]:
    """One feature's values by group name; empty if the value is the default."""
    if value is None or (is_number(value) and value == 0):
        return {}
    names = [group.name for group in kind.groups]
    listed = ", ".join(names)
    label = "limit_restitution" if what == "restitution" else what
    if not names:
        raise ModelError(f"{owner}: {label} is {show(value)}, but a {kind.name} joint has none; remove it")
    is_ball_limit = what == "limits" and isinstance(value, dict) and set(value) <= {"swing", "twist"}
    if isinstance(value, dict) and not is_ball_limit:
        for name in value:
            if name not in names:
                raise ModelError(f"{owner}: {label} of {show(name)}; groups of a {kind.name} joint: {listed}")
        return value
    if len(names) > 1:
        raise ModelError(
            f"{owner}: {label} is {show(value)}, but a {kind.name} joint has several groups: {listed}; "
            f"give {label}={{'{names[0]}': ...}}"
        )
    return {names[0]: value}


def _ball_limits(owner: str, value: object) -> tuple[Any, Any]:
    """Swing and twist of a ball, as given."""
    if value is None:
        return None, None
    if not isinstance(value, dict) or not value or not set(value) <= {"swing", "twist"}:
        cure = "expected {'swing': half angle, 'twist': (lower, upper)} [rad] for a ball"
        raise ModelError(f"{owner}: limits is {show(value)}, {cure}")
    return value.get("swing"), value.get("twist")
