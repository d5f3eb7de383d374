"""Parts added and removed while the mechanism runs, by the table of part kinds.

Points and axes in the options are world coordinates at the present pose of the first world; what is added is at
the same world points in all worlds.
"""

import copy
import inspect
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..author.checks import show
from ..author.fluids import without_body
from ..author.model import KINDS, Model
from ..author.parts import PARTS, Joint
from ..author.places import is_point_of_body, is_two_places
from ..observe.bench import Bench
from .carry import STILL, JointPlace, Places
from .data import Add, Edit, Remove
from .expressions import keep_texts, refuse_followed
from .inputs import claim
from .materials import refuse_used
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out
from .topology import joint_features, options_of

KEPT = ("pitch", "loop", "contact", "closed")  # of a joint, by which it is put back


@carries_out(Add)
def add_part(edit: Add, desk: Desk) -> Plan:
    """Add a part at the present pose."""
    claim(desk.bench.system, edit.kind, edit.name)
    kind = _kind(edit.kind)
    owner = f"{kind} '{edit.name}'"
    call = getattr(Model, kind)
    options = options_of(call, owner, edit.options)
    required = [
        name
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.default is inspect.Parameter.empty and name not in ("self", "name", *options)
    ]
    if required:
        raise EditError(f"{owner}: lacks {', '.join(required)}; give them in options")
    model, places = desk.model, Places.of(desk.bench)
    posed = model.copy()
    axis = options.get("axis")
    for value in (*options.values(), *(axis if is_two_places(axis) else ())):
        name = value[0] if is_point_of_body(value) else value
        if isinstance(name, str) and name in model.bodies:
            body = copy.copy(model.bodies[name])
            body.position, body.orientation = places.p_WB[name][0].copy(), places.q_WB[name][0].copy()
            posed.bodies[name] = body
    part = getattr(posed, kind)(name=edit.name, **options)
    part.check()
    new = keep_texts(owner, model.having(kind, part), posed)
    plan = Plan(new, f"{owner} is added", Remove(kind, edit.name))
    if kind == "body":
        places.put(part.name, part.position, part.orientation, np.concatenate([part.angular_velocity, part.velocity]))
        plan.places = places
    elif kind == "joint" and "frame_a" not in options:
        plan.joints[part.name] = _in_every_world(part, places)
    plan.points[part.name] = {
        point.array: _point_in_every_world(getattr(part, point.body), getattr(part, point.field), places)
        for point in PARTS[kind].points
        if point.array
    }
    return plan


def _in_every_world(joint: Joint, places: Places) -> JointPlace:
    """Frames of a joint that is at the same world frames in all worlds as in the first."""
    n = places.worlds
    F = places.frame(joint.first, joint.p_PF, joint.q_PF)
    M = places.frame(joint.second, joint.p_CM, joint.q_CM)
    world = [np.tile(values[0], (n, 1)) for values in (*F, *M)]
    length = None if joint.length is None else np.full(n, joint.length)
    return JointPlace(*places.local(joint.first, *world[:2]), *places.local(joint.second, *world[2:]), length)


def _point_in_every_world(body: str, p_BQ: np.ndarray, places: Places) -> np.ndarray:
    """A point of a body that is at the same world point in all worlds as in the first [world, 3]."""
    n = places.worlds
    p_WQ = np.tile(places.frame(body, p_BQ, STILL)[0][0], (n, 1))
    return places.local(body, p_WQ, np.tile(STILL, (n, 1)))[0]


@carries_out(Remove)
def remove_part(edit: Remove, desk: Desk) -> Plan:
    """Remove a part, and with it all that refers to it."""
    kind, model, system = _kind(edit.kind), desk.model, desk.bench.system
    part = known(f"edit of a {kind}", kind, edit.name, getattr(model, KINDS[kind]))
    if kind == "material":
        refuse_used(model, part.name)
    if kind == "parameter":
        refuse_followed(model, part.name)
    new = model.copy()
    del getattr(new, KINDS[kind])[part.name]
    lost, gone = {(kind, part.name)} if kind != "material" else set(), []
    for other, entry in PARTS.items():  # a kind comes after those it refers to
        parts = getattr(new, entry.plural)
        for name, own in list(parts.items()):
            if entry.goes_with(own, lost):
                del parts[name]
                lost.add((other, name))
                gone.append(f"{other} '{name}'")
    for fluid in list(new.fluids.values()) if kind == "body" else ():
        if changes := without_body(fluid, part.name):
            new.fluids[fluid.name] = replace(fluid, **changes)
            gone.append(f"its place in fluid '{fluid.name}'")
    if kind == "body":
        held = system.arrays.hand_body.numpy()
        index = system.body_index[part.name]
        gone += [f"hand '{hand}'" for k, hand in enumerate(system.hand_names) if hand and held[k] == index]
    text = f"{kind} '{part.name}' is removed" + (f", and with it {', '.join(gone)}" if gone else "")
    is_alone = not gone and all(part.name not in group.parts for group in model.groups.values())
    return Plan(new, text, _put_back(kind, part, desk.bench) if is_alone else None)


def _put_back(kind: str, part: Any, bench: Bench) -> Edit | None:
    """The edit that adds a part again where it is now."""
    places = Places.of(bench)
    if kind == "joint":
        options = {name: getattr(part, name) for name in ("type", "first", "second", *KEPT)}
        options |= joint_features(part)
        options |= {"frame_a": (part.p_PF, part.q_PF), "frame_b": (part.p_CM, part.q_CM)}
        return None if part.type == "distance" else Add(kind, part.name, options)
    if kind == "body":
        V = places.twist[part.name][0]
        pose = {"position": places.p_WB[part.name][0], "orientation": places.q_WB[part.name][0]}
        motion = {"velocity": V[3:], "angular_velocity": V[:3]}
        own = {"shape": part.shapes or None, "material": part.material, "colour": part.colour}
        own |= {"visual": part.visuals or None, "link": (part.p_BL, part.q_BL)}
        own |= {"density": part.density} if part.density else {"mass": part.mass, "inertia": part.inertia}
        return Add(kind, part.name, own | pose | motion)
    points = {point.field: point for point in PARTS[kind].points}
    options = {entry.name: getattr(part, entry.name) for entry in fields(part) if entry.name not in ("name", *points)}
    if kind == "parameter":
        text = options.pop("expression")
        options["value"] = options["value"] if text is None else text
    for field, point in points.items():
        options[point.option] = places.frame(getattr(part, point.body), getattr(part, field), STILL)[0][0]
    return Add(kind, part.name, options)


def _kind(kind: object) -> str:
    if not isinstance(kind, str) or kind not in KINDS:
        raise EditError(f"edit: no kind of part {show(kind)}; kinds are: {', '.join(KINDS)}")
    return kind
