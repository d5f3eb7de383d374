"""A `Model` as a `Bulk`: what a large world takes of it, and what it refuses by name."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from ...author.errors import ModelError
from ...author.joints import CATALOGUE, THREAD
from ...author.materials import contact_properties, materials_in_use
from ...author.model import Model
from ...author.parts import Features, Joint
from ...author.profiles import scalar_profiles
from ...author.rotations import multiply, rotate
from ...author.shapes import Shape
from ...author.surfaces import Obstacle
from ...author.touching import Exclusions, owners, rigid_groups, touching_shapes
from ...engine.large.bulk import Bulk
from ...engine.large.extras import Line, Push, feature_slots

REFUSED = ("couplings", "tyres", "sensors", "script")  # parts that would be dropped


def bulk_of(model: Model) -> Bulk:
    """Bodies, joints and what acts on them; ModelError at a part that large worlds do not have yet."""
    model.check()
    for what in REFUSED:
        if getattr(model, what):
            raise ModelError(f"model '{model.name}': large worlds have no {what} yet; remove them, or take im.World")
    joints = [joint for joint in model.joints.values() if joint.kind.locks or _acting(joint)]
    for joint in joints:
        if THREAD in CATALOGUE[joint.type].locks:
            raise ModelError(f"joint '{joint.name}': large worlds have no {joint.type} joints")
    bodies = list(model.bodies.values())
    place = {body.name: k for k, body in enumerate(bodies)} | {model.ground: -1, "ground": -1}
    types = tuple(dict.fromkeys(joint.type for joint in joints))
    bulk = Bulk(
        position=_table([body.position for body in bodies], 3),
        orientation=_table([body.orientation for body in bodies], 4),
        kind=np.arange(len(bodies)),
        mass=np.array([body.mass for body in bodies], float),
        inertia=np.array([body.inertia for body in bodies], float).reshape(-1, 3, 3),
        twist=_table([[*body.angular_velocity, *body.velocity] for body in bodies], 6),
        types=types,
        joint_kind=np.array([types.index(joint.type) for joint in joints], np.int64),
        first=np.array([place[joint.first] for joint in joints], np.int64),
        second=np.array([place[joint.second] for joint in joints], np.int64),
        p_PF=_table([joint.p_PF for joint in joints], 3),
        q_PF=_table([joint.q_PF for joint in joints], 4),
        p_CM=_table([joint.p_CM for joint in joints], 3),
        q_CM=_table([joint.q_CM for joint in joints], 4),
        length=np.array([joint.length or 0.0 for joint in joints]),
        gravity=tuple(float(value) for value in model.gravity),  # type: ignore[arg-type]
        immersed=model if model.fluids else None,
        name=model.name,
    )
    _take_actions(bulk, model, joints, place)
    _take_shapes(bulk, model, place)
    return bulk


def _table(rows: list, width: int) -> np.ndarray:
    return np.array(rows, float).reshape(-1, width)


def _acting(joint: Joint) -> bool:
    """Whether something acts in a joint's freedoms."""
    return any(vars(features) != vars(Features()) for features in joint.features.values())


def _take_actions(bulk: Bulk, model: Model, joints: list[Joint], place: dict) -> None:
    """Features of joints, springs and loads."""
    for number, joint in enumerate(joints):
        slots, channels = feature_slots(joint, number, len(bulk.channels))
        bulk.slots += slots
        bulk.channels += channels
    for spring in model.springs.values():
        line = Line(place[spring.first], place[spring.second], spring.p_PQ, spring.p_CQ)
        bulk.spring(line, spring.stiffness, spring.damping, spring.free_length)
    for load in model.loads.values():
        push = Push(place[load.body], load.p_BQ, load.frame == "body", len(bulk.channels))
        bulk.loads.append(push)
        bulk.channels += [*scalar_profiles(load.force, 3), *scalar_profiles(load.torque, 3)]


def _take_shapes(bulk: Bulk, model: Model, place: dict) -> None:
    """Shapes with a material, those of the ground, what they are like against each other, and who never touches."""
    shapes: dict[str, list[Shape]] = defaultdict(list)
    known = owners(model)
    for one in touching_shapes(model):
        owner, shape = known[one.owner], replace(one.shape, material=one.material)
        if isinstance(owner, Obstacle):
            offset = owner.position + rotate(owner.orientation, np.asarray(shape.offset))
            turned = multiply(owner.orientation, np.asarray(shape.orientation))
            shape = replace(shape, offset=offset, orientation=turned)
        shapes[one.owner].append(shape)
    if not any(name in model.bodies for name in shapes):
        return
    bulk.shapes = tuple(tuple(shapes.get(name, ())) for name in model.bodies)
    ground = [name for name in shapes if name not in model.bodies]
    bulk.obstacles = tuple(shape for name in ground for shape in shapes[name])
    bulk.materials = tuple(materials_in_use(model))
    bulk.surfaces = _surfaces(model, bulk.materials)
    where, at = {}, 0
    for name in ground:
        where[name] = [-1 - k for k in range(at, at + len(shapes[name]))]
        at += len(shapes[name])
    numbers = {name: [place[name]] for name in model.bodies} | where
    apart = [pair for a, b in _never_touch(model, list(shapes)) for pair in product(numbers[a], numbers[b])]
    bulk.no_contact = np.array([pair for pair in apart if max(pair) >= 0], np.int64).reshape(-1, 2)
    bulk.joined_apart = False


def _surfaces(model: Model, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    found = {what: np.zeros((len(names), len(names))) for what in ("friction", "holding", "restitution")}
    for i, j in product(range(len(names)), repeat=2):
        own = contact_properties(model, names[i], names[j])
        for what in ("rolling", "spinning"):
            if getattr(own, what):
                raise ModelError(
                    f"materials '{names[i]}' and '{names[j]}' have {what} friction, which large worlds have not;"
                    " set it to 0, or take im.World"
                )
        found["friction"][i, j], found["holding"][i, j] = own.friction, own.static
        found["restitution"][i, j] = own.restitution
    return found


def _never_touch(model: Model, names: list[str]) -> list[tuple[str, str]]:
    """Pairs that have shapes and never touch; only those are asked that a joint, a group or a `no_contact` is about."""
    excluded, group = Exclusions(model), rigid_groups(model)
    members: dict[str, list[str]] = defaultdict(list)
    for name in names:
        members[group[name]].append(name)
    asked = {frozenset(pair) for some in members.values() for pair in combinations(some, 2)}
    ends = [(joint.first, joint.second) for joint in model.joints.values()]
    ends += [(part.a, part.b) for part in model.no_contacts.values()]
    for a, b in ends:
        asked |= {frozenset(pair) for pair in product(members[group[a]], members[group[b]]) if pair[0] != pair[1]}
    pairs = sorted(tuple(sorted(pair)) for pair in asked)
    return [(a, b) for a, b in pairs if excluded.why(a, b) is not None]
