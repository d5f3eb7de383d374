"""Edits of joints: from a model and the present places to a new model.

Nothing is changed in place: a part that an edit changes is a new object, and so is the model; parts that
stay are the same objects, by which `carry` knows them. Points and axes in the options are world coordinates
at the present pose of the first world.
"""

import copy
import inspect
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..author.checks import number, show, vector
from ..author.joints import SCREW, TURN_Z, Group, JointType
from ..author.model import Model
from ..author.parts import Body, Features, Joint, joint_type_of
from ..author.places import along, is_point_of_body, is_two_places
from ..author.placing import TWO_AXES, by_group, checked_frame, make_features, place_frames
from ..author.rotations import conjugate, frame_from_axes, multiply_all, rotate_all
from ..engine.freedoms import code_coordinates, pose_at
from ..observe.bench import Bench
from .carry import STILL, JointPlace, Places, joint_frames
from .data import ChangeJoint, Edit
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out

FEATURES = {  # keyword of Model.joint: field of Features
    "limits": "limits",
    "limit_restitution": "restitution",
    "friction": "friction",
    "static_friction": "static_friction",
    "viscous": "viscous",
    "motor": "motor",
    "stiffness": "stiffness",
    "damping": "damping",
    "rest": "rest",
    "armature": "armature",
}
GEOMETRY = ("type", "first", "second", "at", "axis", "axis2", "at_b", "frame_a", "frame_b", "pitch")
PLACED = ("at", "axis", "axis2", "at_b", "frame_a", "frame_b")  # by which the author says where


def options_of(call: Any, owner: str, given: object, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Keyword arguments of a call of Model, if they are that."""
    names = [name for name in inspect.signature(call).parameters if name not in ("self", "name", *without)]
    if not isinstance(given, Mapping):
        raise EditError(f"{owner}: options are {show(given)}, expected keyword arguments by name")
    for name in given:
        if name not in names:
            raise EditError(f"{owner}: has no option {name!r}; options are: {', '.join(names)}")
    return dict(given)


@carries_out(ChangeJoint)
def change_joint(edit: ChangeJoint, desk: Desk) -> Plan:
    """Make a joint anew."""
    bench, model = desk.bench, desk.model
    old = known("edit of a joint", "joint", edit.joint, model.joints)
    owner = f"joint '{old.name}'"
    changes = options_of(Model.joint, owner, edit.changes)
    for what in ("at", "at_b"):
        if is_point_of_body(changes.get(what)):
            changes[what] = _point_of(model, owner, what, changes[what], bench)
    if is_two_places(axis := changes.get("axis")):
        changes["axis"] = along(owner, "axis", *(place_of(model, owner, "axis", place, bench) for place in axis))
    if not changes:
        raise EditError(f"{owner}: no changes given; give keyword arguments of Model.joint")
    if edit.frames not in ("present", "authored"):
        raise EditError(f"{owner}: frames is {edit.frames!r}, expected 'present' or 'authored'")
    kind = joint_type_of(owner, changes.get("type", old.type))
    first, second = (_body_name(model, owner, changes.get(end, getattr(old, end))) for end in ("first", "second"))
    model.pair(owner, first, second)
    features, lost = _changed_features(owner, old, kind, changes)
    pitch = changes.get("pitch", old.pitch if kind.name == "screw" else None)
    if kind.name == "screw":
        expected = "a finite number other than 0 [m/rad], which a screw joint needs"
        pitch = number(owner, "pitch", pitch, expected, lambda x: x != 0 and math.isfinite(x))
    joint = replace(
        old,
        type=kind.name,
        first=first,
        second=second,
        pitch=pitch,
        length=old.length if kind.name == "distance" else None,
        loop=changes.get("loop", old.loop),
        contact=changes.get("contact", old.contact),
        features=features,
        closed=changes.get("closed", old.closed) if kind.name == "free" else None,
    )
    joints: dict[str, JointPlace] = {}
    moved = any(name in changes and changes[name] is not None for name in GEOMETRY)
    remade = moved and (kind.name, first, second, pitch) != (old.type, old.first, old.second, old.pitch)
    remade = remade or any(changes.get(name) is not None for name in PLACED)
    kept: dict[int, int] = {}
    if remade and edit.frames == "authored":
        _author_frames(owner, joint, old, model, changes)
    elif remade:
        kept = {} if any(changes.get(name) is not None for name in PLACED) else kept_freedoms(old.kind, kind)
        joints[old.name] = _present_frames(owner, joint, old, bench, changes, kept)
    joint.check()
    new = model.having("joint", joint)
    gone = drop_couplings(new, joint)
    text = f"{owner} is {_article(kind.name)} joint" if kind.name != old.type else f"{owner} is changed"
    if lost:
        text += f"; without {', '.join(lost)}"
    if gone:
        text += f"; without coupling {', '.join(gone)}"
    plan = Plan(new, text, None if gone else _undo_change(old, joint, remade), joints=joints)
    if remade:
        codes = set(old.kind.freedoms) | set(kind.freedoms)
        plan.forgotten = {(old.name, code) for code in codes if code not in kept and edit.frames == "present"}
        plan.renumbered = {(old.name, now): (old.name, was) for now, was in kept.items()}
    return plan


def _point_of(model: Model, owner: str, what: str, place: Any, bench: Bench) -> np.ndarray:
    """Where a point of a body is now, in the first world [m]."""
    body = model.find_body(owner, place[0])
    return Places.of(bench).frame(body.name, model.point_of(owner, what, place), STILL)[0][0]


def place_of(model: Model, owner: str, what: str, place: Any, bench: Bench) -> np.ndarray:
    """Where a place is now: of the world, or a point of a body [m]."""
    if is_point_of_body(place):
        return _point_of(model, owner, what, place, bench)
    return vector(owner, what, place, "m")


def kept_freedoms(old: JointType, new: JointType) -> dict[int, int]:
    """Freedoms that a new type has in common with the old, as code now: code then.

    What stays free keeps its coordinate, so that limits, springs and motors keep their meaning.
    """
    kept: dict[int, int] = {}
    for group in new.groups:
        for other in old.groups:
            if same_freedom(group, other):
                kept.update(zip(group.freedoms, other.freedoms, strict=True))
    return kept


def same_freedom(a: Group, b: Group) -> bool:
    """Whether two groups are the same freedom; the angle of a screw is one about the same axis."""
    alike = {SCREW: TURN_Z}
    return a.name == b.name and [alike.get(c, c) for c in a.freedoms] == [alike.get(c, c) for c in b.freedoms]


def _changed_features(
    owner: str, old: Joint, kind: JointType, changes: dict[str, Any]
) -> tuple[dict[str, Features], list[str]]:
    """Features of the groups that stay, with the changes; and what is lost with the groups that go."""
    features = {group.name: Features() for group in kind.groups}
    lost = []
    for group in old.kind.groups:
        stays = any(same_freedom(group, other) for other in kind.groups)
        if stays:
            features[group.name] = copy.copy(old.features[group.name])
            continue
        default = Features()
        lost += [
            f"{what} of {group.name}"
            for what in ("limits", "swing", "friction", "viscous", "motor", "stiffness", "damping")
            if getattr(old.features[group.name], what) != getattr(default, what) and not _given(changes, what)
        ]
    for keyword, what in FEATURES.items():
        if keyword not in changes:
            continue
        value = changes[keyword]
        named = by_group(owner, kind, what, value)
        default = Features()
        for name in named or features:  # a default value resets all groups
            setattr(features[name], what, getattr(default, what))
            if what == "limits":
                features[name].swing = None
        for name, item in make_features(owner, kind, {what: value}).items():
            if name in named:
                setattr(features[name], what, getattr(item, what))
                if what == "limits":
                    features[name].swing = item.swing
    return features, lost


def _given(changes: dict[str, Any], what: str) -> bool:
    return what in changes or (what == "swing" and "limits" in changes)


def _author_frames(owner: str, joint: Joint, old: Joint, model: Model, changes: dict[str, Any]) -> None:
    """Frames at the authored pose: as they were, or where the changes put them then."""
    bodies = {"ground": model.ground, **model.bodies}
    P, C = bodies[joint.first], bodies[joint.second]
    if changes.get("frame_a") is not None or changes.get("frame_b") is not None:
        F, M = (checked_frame(owner, name, changes.get(name)) for name in ("frame_a", "frame_b"))
    elif any(changes.get(name) is not None for name in PLACED):
        F, M = place_frames(owner, joint.type, P, C, *(changes.get(name) for name in ("at", "axis", "axis2", "at_b")))
    else:
        here = Places(1)
        for body in (bodies[old.first], bodies[old.second], P, C):
            here.put(body.name, body.position, body.orientation, np.zeros(6))
        world_F = here.frame(old.first, old.p_PF[None], old.q_PF[None])
        world_M = here.frame(old.second, old.p_CM[None], old.q_CM[None])
        F = tuple(values[0] for values in here.local(joint.first, *world_F))
        M = tuple(values[0] for values in here.local(joint.second, *world_M))
    joint.p_PF, joint.q_PF = F
    joint.p_CM, joint.q_CM = M
    if joint.type == "distance" and joint.length is None:
        joint.length = float(np.linalg.norm(C.world_point(M[0]) - P.world_point(F[0])))


def _present_frames(
    owner: str, joint: Joint, old: Joint, bench: Bench, changes: dict[str, Any], kept: dict[int, int]
) -> JointPlace:
    """Frames by which the joint is closed at the present pose of every world; writes those of the first."""
    places = Places.of(bench)
    if changes.get("frame_a") is not None or changes.get("frame_b") is not None:
        if any(changes.get(name) is not None for name in ("at", "axis", "axis2", "at_b")):
            raise EditError(f"{owner}: has both points and frames; give at and axis, or the frames")
        given = [checked_frame(owner, name, changes.get(name)) for name in ("frame_a", "frame_b")]
        n = places.worlds
        local = [np.broadcast_to(values, (n, len(values))) for frame in given for values in frame]
        world = [*places.frame(joint.first, *local[:2]), *places.frame(joint.second, *local[2:])]
    else:
        world = list(joint_frames(bench, old, places))
        _move_frames(owner, joint, changes, world, kept, bench)
    F, M = places.local(joint.first, *world[:2]), places.local(joint.second, *world[2:])
    length = None
    if joint.type == "distance":
        length = np.linalg.norm(world[2] - world[0], axis=-1)
        if not (length > 1e-9).all():
            raise EditError(f"{owner}: its ends coincide; give at on the first and at_b on the second body")
        joint.length = float(length[0])
    place = JointPlace(*F, *M, length)
    joint.p_PF, joint.q_PF, joint.p_CM, joint.q_CM = (
        getattr(place, name)[0].copy() for name in ("p_PF", "q_PF", "p_CM", "q_CM")
    )
    return place


def _move_frames(
    owner: str,
    joint: Joint,
    changes: dict[str, Any],
    world: list[np.ndarray],  # p_WF, q_WF, p_WM, q_WM by world; changed in place
    kept: dict[int, int],
    bench: Bench,
) -> None:
    """F's axes stay where they are on the first body, or along the axes given; M is put to F at its coordinates."""
    n = len(world[0])
    at, axis, axis2, at_b = (changes.get(name) for name in ("at", "axis", "axis2", "at_b"))
    if joint.type == "distance":
        if axis is not None or axis2 is not None:
            raise EditError(f"{owner}: axis is {show(axis)}, but a distance joint has none; remove it")
        if at is not None:
            world[0] = np.tile(vector(owner, "at", at, "m"), (n, 1))
        if at_b is not None:
            world[2] = np.tile(vector(owner, "at_b", at_b, "m"), (n, 1))
        return
    if at_b is not None:
        raise EditError(f"{owner}: at_b is {show(at_b)}; a distance joint needs it, no other takes it")
    if axis is not None or axis2 is not None:
        x_F, z_F = (rotate_all(world[1][:1], np.eye(3)[k][None])[0] for k in (0, 2))
        if axis2 is None and joint.type in TWO_AXES:
            z = vector(owner, "axis", axis, "any unit")
            axis2 = x_F - (x_F @ z) / max(z @ z, 1e-300) * z
        world[1] = np.tile(frame_from_axes(owner, z_F if axis is None else axis, axis2), (n, 1))
    if at is not None:
        world[2] = np.tile(vector(owner, "at", at, "m"), (n, 1))
    coordinates = {
        now: present_coordinate(bench, joint.name, was) for now, was in kept.items() if code_coordinates(now)
    }
    p_FM, q_FM = joint_pose(joint, coordinates, n)
    world[3] = multiply_all(world[1], q_FM)
    world[0] = world[2] - rotate_all(world[1], p_FM)


def present_coordinate(bench: Bench, joint: str, code: int) -> np.ndarray:
    """Coordinate of a freedom in every world, whole turns counted; of a ball its quaternion [world, 4]."""
    at = bench.system.coordinate[joint, code]
    ball = code_coordinates(code) == 4
    if ball and at >= 0:
        return bench.state.read("q")[at : at + 4].T.copy()
    if ball:
        places = Places.of(bench)
        _, q_WF, _, q_WM = joint_frames(bench, bench.system.model.joints[joint], places)
        return multiply_all(conjugate(q_WF), q_WM)
    return (bench.state.read("q")[at] if at >= 0 else bench.state.read("loop_q")[-1 - at]).copy()


def joint_pose(joint: Joint, coordinates: dict[int, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """p_FM and q_FM [world, ...] at the coordinates given, zero for the others."""
    values = np.zeros((sum(map(code_coordinates, joint.kind.freedoms)), n))
    c = 0
    for code in joint.kind.freedoms:
        size = code_coordinates(code)
        if code in coordinates:
            values[c : c + size] = coordinates[code].T
        elif size == 4:
            values[c + 3] = 1.0
        c += size
    return pose_at(joint.kind.freedoms, values, joint.pitch or 0.0)


def _undo_change(old: Joint, new: Joint, remade: bool) -> Edit:
    """The change back: to the old frames where the old joint fits into the new one, else at the present pose."""
    back: dict[str, Any] = {
        name: getattr(old, name) for name in ("type", "first", "second", "loop", "contact", "closed")
    }
    back |= joint_features(old)
    if old.pitch is not None:
        back["pitch"] = old.pitch
    if not remade:
        return ChangeJoint(old.name, back)
    fits = set(old.kind.locks) <= set(new.kind.locks) and (old.first, old.second) == (new.first, new.second)
    if fits or old.type == "distance":
        back |= {"frame_a": (old.p_PF, old.q_PF), "frame_b": (old.p_CM, old.q_CM)}
        return ChangeJoint(old.name, back, "authored")
    return ChangeJoint(old.name, back)


def joint_features(joint: Joint) -> dict[str, Any]:
    """The features of a joint as keyword arguments of Model.joint, all of them, defaults too."""
    given: dict[str, Any] = {}
    default = Features()
    for keyword, what in FEATURES.items():
        values = {}
        for group in joint.kind.groups:
            own = joint.features[group.name]
            value = getattr(own, what)
            if what == "limits" and group.is_ball:
                ball = {"swing": own.swing, "twist": own.limits}
                value = {key: item for key, item in ball.items() if item is not None} or None
            if value != getattr(default, what):
                values[group.name] = value
        given[keyword] = values or getattr(default, what)
    return given


def drop_couplings(model: Model, joint: Joint) -> list[str]:
    """Take away couplings of groups that a joint no longer has."""
    groups = [group.name for group in joint.kind.groups if not group.is_ball]
    gone = [
        name
        for name, own in model.couplings.items()
        if any(end == joint.name and group not in groups for end, group, _ in own.ends)
    ]
    for name in gone:
        del model.couplings[name]
    return [f"'{name}'" for name in gone]


def _body_name(model: Model, owner: str, body: object) -> str:
    return model.find_body(owner, body.name if isinstance(body, Body) else body).name  # type: ignore[arg-type]


def _article(kind: str) -> str:
    return f"a {kind}" if kind[0] not in "aeiou" else f"an {kind}"
