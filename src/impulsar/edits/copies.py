"""Copies of bodies and of what holds them: once, in a row, around a line, or in a mirror; and bodies moved with it.

All of them are isometries of the world, x ↦ c + s + σ R (x - c): turned and shifted with σ = 1, and with σ = -1 and R
half a turn about n the mirror image in the plane through c across n, as 1 - 2nnᵀ = -R(n, π). A velocity becomes σ R v,
an angular velocity, which is axial, R w. The image of a body keeps a right-handed frame: its own axes are mirrored
too, by S = σ B with B half a turn about x, so that

    R_WB' = σR · R_WB · Sᵀ      p_BQ' = S p_BQ      I' = S I Sᵀ      shapes by their mirror images

and of a joint the axes of F and M by J, one for each type (`author.mirrors`). Without a mirror S and J are 1.
"""

import math
from dataclasses import replace
from itertools import count as counting
from typing import Any

import numpy as np

from ..author.checks import is_number, number, show, vector
from ..author.mirrors import HALF_X, UNTURNED, mirrored_coupling, mirrored_joint, mirrored_shape
from ..author.model import KINDS, Model
from ..author.parts import PARTS, Body
from ..author.rotations import conjugate, multiply_all, rotate_all
from .carry import Places
from .data import Copy, Mirror, Remove, Several, Shift
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out
from .topology import place_of

MOST = 100  # copies
# with the bodies, if all that they hold is copied or the ground; a coupling comes after its joints
COPIED = ("joint", "spring", "coupling", "probe", "distance", "angle", "no_contact")
HELD = ("joint", "spring")  # by which bodies are held on the ground


class Isometry:
    """x ↦ c + s + σ R (x - c)."""

    def __init__(self, q: np.ndarray, centre: np.ndarray, shift: np.ndarray, is_mirror: bool = False):
        self.q, self.centre, self.shift, self.is_mirror = q, centre, shift, is_mirror
        self.sign = -1.0 if is_mirror else 1.0
        self.own = HALF_X if is_mirror else UNTURNED  # B: what a body's own axes are turned by

    def point(self, p: np.ndarray) -> np.ndarray:
        """Where a world point goes."""
        return self.centre + self.shift + self.sign * rotate_all(self.q, p - self.centre)

    def twist(self, V: np.ndarray) -> np.ndarray:
        """What twists [..., 6] become."""
        return np.concatenate([rotate_all(self.q, V[..., :3]), self.sign * rotate_all(self.q, V[..., 3:])], axis=-1)

    def orientation(self, q_WB: np.ndarray) -> np.ndarray:
        """That of a body."""
        return multiply_all(multiply_all(self.q, q_WB), conjugate(self.own))

    def in_body(self, p: np.ndarray) -> np.ndarray:
        """Where a point of a body's frame is in the frame of its image."""
        return self.sign * rotate_all(self.own, p) if self.is_mirror else p

    def body(self, body: Body) -> dict[str, Any]:
        """What is other in the image of a body besides its place."""
        if not self.is_mirror:
            return {}
        S = np.diag([-1.0, 1.0, 1.0])
        return {
            "inertia": S @ body.inertia @ S,
            "shapes": [mirrored_shape(shape) for shape in body.shapes],
            "visuals": [replace(own, shape=mirrored_shape(own.shape)) for own in body.visuals],
            "p_BL": S @ body.p_BL,
            "q_BL": multiply_all(multiply_all(HALF_X, body.q_BL), conjugate(HALF_X)),
        }


def _turn(owner: str, edit: Copy | Shift) -> Isometry:
    """About a line through the centre, and shifted."""
    axis = vector(owner, "axis", edit.axis, "any unit")
    angle = number(owner, "angle", edit.angle, "a finite number [rad]")
    size = float(np.linalg.norm(axis))
    if not size > 0:
        raise EditError(f"{owner}: axis is {show(edit.axis)}, expected a direction other than zero")
    q = np.array([*(math.sin(angle / 2) * axis / size), math.cos(angle / 2)])
    return Isometry(q, vector(owner, "centre", edit.centre, "m"), vector(owner, "shift", edit.shift, "m"))


def _bodies(owner: str, names: object, model: Model) -> list[str]:
    if not isinstance(names, tuple | list) or not names or len(set(map(str, names))) < len(names):
        raise EditError(f"{owner}: bodies are {show(names)}, expected names of bodies, each once")
    for body in names:
        known(owner, "body", body, model.bodies)
    return list(names)


@carries_out(Copy)
def copy_bodies(edit: Copy, desk: Desk) -> Plan:
    """Add copies at the places that bodies have now, moved on."""
    from_names = _bodies("copy", edit.bodies, desk.model)
    if isinstance(edit.count, bool) or not is_number(edit.count) or edit.count not in range(1, MOST + 1):
        raise EditError(f"copy: count is {show(edit.count)}, expected a whole number from 1 to {MOST}")
    text = f"{', '.join(map(repr, edit.bodies))} copied {edit.count} time{'' if edit.count == 1 else 's'}"
    return _copied(desk, from_names, _turn("copy", edit), int(edit.count), text)


@carries_out(Mirror)
def mirror_bodies(edit: Mirror, desk: Desk) -> Plan:
    """Add the mirror images of bodies, where they are now, in a plane."""
    owner = "mirror"
    bodies = _bodies(owner, edit.bodies, desk.model)
    point = place_of(desk.model, owner, "point", edit.point, desk.bench)
    normal = vector(owner, "normal", edit.normal, "any unit")
    size = float(np.linalg.norm(normal))
    if edit.along is not None:
        way = place_of(desk.model, owner, "along", edit.along, desk.bench) - point
        if not np.linalg.norm(way) > 1e-12 * max(1.0, float(np.linalg.norm(point))):
            raise EditError(f"{owner}: along is where point is, {show(point)}; give two points that differ")
        way = way / np.linalg.norm(way)
        normal = normal - (normal @ way) * way
    if not np.linalg.norm(normal) > 1e-9 * size:
        cure = "a direction other than zero" + ("" if edit.along is None else ", across the line")
        raise EditError(f"{owner}: normal is {show(edit.normal)}, expected {cure}")
    half = np.array([*(normal / np.linalg.norm(normal)), 0.0])
    return _copied(
        *(desk, bodies, Isometry(half, point, np.zeros(3), is_mirror=True), 1),
        f"{', '.join(map(repr, bodies))} mirrored",
    )


def _copied(desk: Desk, bodies: list[str], way: Isometry, count: int, text: str) -> Plan:
    """The plan that adds images of bodies, each of the one before."""
    new, places = desk.model.copy(), Places.of(desk.bench)
    plan = Plan(new, text, places=places)
    from_names, made, turned = bodies, [], {name: name for name in desk.model.joints}
    for _ in range(count):
        names = _copy_once(new, places, from_names, way)
        from_names = [names[body] for body in from_names]
        made += from_names
        for old, name in names.items():
            if name in new.joints:
                turned[name] = turned[old]
                codes = new.joints[name].kind.freedoms  # whole turns are those of the first
                plan.renumbered |= {(name, code): (turned[old], code) for code in codes}
    plan.inverse = Several(tuple(Remove("body", name) for name in made))
    return plan


def _copy_once(model: Model, places: Places, bodies: list[str], way: Isometry) -> dict[str, str]:
    """Copy bodies and what holds them inside a model; returns the names of the copies."""
    names = {"ground": "ground"}
    for name in bodies:
        body = model.bodies[name]
        names[name] = _free(model, name)
        p, q, V = (values[name] for values in (places.p_WB, places.q_WB, places.twist))
        twist = way.twist(V)
        places.put(names[name], way.point(p), way.orientation(q), twist)
        model.bodies[names[name]] = replace(
            body,
            name=names[name],
            position=places.p_WB[names[name]][0].copy(),
            orientation=places.q_WB[names[name]][0].copy(),
            velocity=twist[0, 3:].copy(),
            angular_velocity=twist[0, :3].copy(),
            **way.body(body),
        )
    still = {"ground", *model.obstacles}  # what all copies have in common
    for kind in COPIED:
        entry, parts = PARTS[kind], getattr(model, KINDS[kind])
        for own in list(parts.values()):
            ends = [end for _, _, end in entry.named(own)]
            if not all(end in names or end in still for end in ends) or still.issuperset(ends):
                continue
            changes: dict[str, Any] = {field: names.get(end := getattr(own, field), end) for field in entry.refers}
            changes |= _image(kind, own, way, model)
            if kind == "coupling":  # of the joints' images
                weights = changes.get("more", own.more).values()
                named = (f"{names[joint]}.{group}" for joint, group, _ in own.ends[2:])
                changes["more"] = dict(zip(named, weights, strict=True))
            names[own.name] = _free(model, own.name)
            parts[names[own.name]] = replace(own, name=names[own.name], **changes)
    for group in list(model.groups.values()):
        of_bodies = [part in names for part in group.parts if part in model.bodies]
        if of_bodies and all(of_bodies):
            images = tuple(names[part] for part in group.parts if part in names)
            names[group.name] = _free(model, group.name)
            model.groups[names[group.name]] = replace(group, name=names[group.name], parts=images)
    return names


def _image(kind: str, part: Any, way: Isometry, model: Model) -> dict[str, Any]:
    """What of a part is other in its image, besides the names."""
    if kind == "coupling":
        joints = [model.joints[name] for name in part.joints]
        return mirrored_coupling(part, joints) if way.is_mirror else {}
    fields = {point.field: point.body for point in PARTS[kind].points}
    fields |= {"p_PF": "first", "p_CM": "second"} if kind == "joint" else {}
    found: dict[str, Any] = {
        field: (way.point if getattr(part, end) == "ground" else way.in_body)(getattr(part, field))
        for field, end in fields.items()
    }
    if kind != "joint":
        return found
    axes, others = mirrored_joint(part) if way.is_mirror else (UNTURNED, {})
    for field in ("p_PF", "p_CM"):
        frame, on_ground = field.replace("p_", "q_"), getattr(part, fields[field]) == "ground"
        found[frame] = multiply_all(multiply_all(way.q if on_ground else way.own, getattr(part, frame)), axes)
    return found | others


@carries_out(Shift)
def shift_bodies(edit: Shift, desk: Desk) -> Plan:
    """Move bodies, now and as authored, and where they and nothing else are held, what holds them on the ground."""
    owner = "shift"
    bodies, way = _bodies(owner, edit.bodies, desk.model), _turn(owner, edit)
    new, places = desk.model.copy(), Places.of(desk.bench)
    for name in bodies:
        p, q, V = (values[name] for values in (places.p_WB, places.q_WB, places.twist))
        places.put(name, way.point(p), way.orientation(q), way.twist(V))
        body = new.bodies[name]
        twist = way.twist(np.concatenate([body.angular_velocity, body.velocity]))
        new.bodies[name] = replace(
            body,
            position=way.point(body.position),
            orientation=way.orientation(body.orientation),
            velocity=twist[3:],
            angular_velocity=twist[:3],
        )
    for kind in HELD:
        parts = getattr(new, KINDS[kind])
        for own in list(parts.values()):
            if {own.first, own.second} <= {"ground", *bodies} and "ground" in (own.first, own.second):
                parts[own.name] = replace(own, **_image(kind, own, way, new))
    back = Shift(
        edit.bodies,
        *(_numbers(-way.shift), -edit.angle, _numbers(edit.axis), _numbers(way.centre + way.shift)),
    )
    return Plan(new, f"{', '.join(map(repr, bodies))} moved", back, places=places)


def _numbers(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


def _free(model: Model, name: str) -> str:
    """A name like this one that is free: "link 3" after "link 2"."""
    stem, _, last = name.rpartition(" ")
    stem, first = (stem, int(last) + 1) if stem and last.isdigit() else (name, 2)
    return next(found for k in counting(first) if model.holder(found := f"{stem} {k}") is None)
