"""A `Model` as a `Bulk`: what a large world takes of it, and what it refuses by name."""

import numpy as np

from ...author.errors import ModelError
from ...author.joints import CATALOGUE, THREAD
from ...author.model import Model
from ...author.parts import Features, Joint
from ...engine.large.bulk import Bulk

REFUSED = ("springs", "couplings", "loads", "tyres", "fluids", "sensors", "script")  # parts that would be dropped


def bulk_of(model: Model) -> Bulk:
    """Bodies and joints of a model; ModelError at a part that large worlds do not have yet."""
    model.check()
    for what in REFUSED:
        if getattr(model, what):
            raise ModelError(f"model '{model.name}': large worlds have no {what} yet; remove them, or take im.World")
    touching = [body.name for body in model.bodies.values() if body.material or any(s.material for s in body.shapes)]
    if touching:
        raise ModelError(f"body '{touching[0]}': large worlds have no contact yet; remove its material")
    joints = [joint for joint in model.joints.values() if joint.kind.locks]
    for joint in joints:
        _check(joint)
    bodies = list(model.bodies.values())
    place = {body.name: k for k, body in enumerate(bodies)} | {model.ground: -1, "ground": -1}
    types = tuple(dict.fromkeys(joint.type for joint in joints))
    return Bulk(
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
        name=model.name,
    )


def _table(rows: list, width: int) -> np.ndarray:
    return np.array(rows, float).reshape(-1, width)


def _check(joint: Joint) -> None:
    if THREAD in CATALOGUE[joint.type].locks:
        raise ModelError(f"joint '{joint.name}': large worlds have no {joint.type} joints")
    for group, features in joint.features.items():
        if vars(features) != vars(Features()):
            raise ModelError(
                f"joint '{joint.name}': {group} has a limit, friction, motor or spring, which large worlds have not yet"
            )
