"""Mirror images of shapes and joints.

In a mirror a rotation keeps its sense about the image of its axis only if that is turned round: angular quantities are
axial. A joint's frames F and M are mirrored in the world and their own axes by J, which leaves them right-handed; the
pose of M in F becomes J X_FM J. With J = -1 all rotations and with them angles, balls, limits, motors and springs on
them stay as they are, while slides change their sign; with J across z what lies in the plane of x and y stays too, and
across x a slide along z. So most types keep all their coordinates. Where a slide and a turn about it are both free, the
sense of the one against the other is what a mirror changes, and the slide's sign does; a screw's pitch likewise.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .errors import ModelError
from .parts import Coupling, Features, Joint
from .profiles import Formula, Harmonic, Passage, Table, Value
from .rotations import multiply
from .shapes import ConvexHull, Mesh, Shape

UNTURNED = np.array([0.0, 0.0, 0.0, 1.0])
HALF_X, HALF_Z = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])  # half a turn: -1 times it mirrors
ACROSS_X = np.array([-1.0, 1.0, 1.0])
J_OF = {"prismatic": HALF_X, "planar": HALF_Z, "pin-slot": HALF_Z}  # -J; of other types it is 1


def mirrored_shape(shape: Shape) -> Shape:
    """A shape of a body mirrored across the body's x, in a frame mirrored across its own x: so lies its image, and
    points that it is made of have their x turned round."""
    changes: dict[str, Any] = {
        "offset": shape.offset * ACROSS_X,
        "orientation": multiply(multiply(HALF_X, np.asarray(shape.orientation)), HALF_X) * -1.0,
    }
    if isinstance(shape, ConvexHull):
        changes["points"] = np.asarray(shape.points) * ACROSS_X
    if isinstance(shape, Mesh):
        changes["vertices"] = np.asarray(shape.vertices) * ACROSS_X
        changes["triangles"] = np.asarray(shape.triangles)[:, ::-1]
    return replace(shape, **changes)


def turns_round(joint: Joint, group: str) -> bool:
    """Whether a coordinate of a joint's image has the other sign."""
    return joint.type not in J_OF and joint.kind.group(group).is_slide


def mirrored_joint(joint: Joint) -> tuple[np.ndarray, dict[str, Any]]:
    """-J as a quaternion, which the frames' axes are turned by, and what else is other in a joint's image."""
    if joint.closed is not None:
        raise ModelError(f"joint '{joint.name}': is cut, and has no mirror image; close it first")
    features = {
        name: _turned_round(joint, name, own) if turns_round(joint, name) else own
        for name, own in joint.features.items()
    }
    pitch = None if joint.pitch is None else -joint.pitch
    return J_OF.get(joint.type, UNTURNED), {"features": features, "pitch": pitch}


def mirrored_coupling(coupling: Coupling, joints: list[Joint]) -> dict[str, Any]:
    """Ratio, offset and weights of the image of a coupling, of joints in the order of its ends."""
    is_a, is_b, *rest = (turns_round(own, end[1]) for own, end in zip(joints, coupling.ends, strict=True))
    return {
        "ratio": -coupling.ratio if is_a != is_b else coupling.ratio,
        "offset": -coupling.offset + 0.0 if is_b else coupling.offset,
        "more": {
            name: -weight if is_one != is_b else weight
            for (name, weight), is_one in zip(coupling.more.items(), rest, strict=True)
        },
    }


def _turned_round(joint: Joint, group: str, own: Features) -> Features:
    """Features of a slide whose coordinate has the other sign."""
    limits = None if own.limits is None else (-own.limits[1], -own.limits[0])
    motor = own.motor
    if motor is not None:
        value = opposite(f"joint '{joint.name}' {group}", getattr(motor, motor.what))
        motor = replace(motor, **{motor.what: value})  # type: ignore[arg-type]
    return replace(own, limits=limits, rest=-own.rest + 0.0, motor=motor)


def opposite(owner: str, value: Value) -> Value:
    """A number or profile of the other sign."""
    if isinstance(value, Passage):
        return replace(value, start=None if value.start is None else _minus(value.start), end=_minus(value.end))
    if isinstance(value, Harmonic):
        return replace(value, amplitude=_minus(value.amplitude), mean=_minus(value.mean))
    if isinstance(value, Table):
        return Table(value.times, tuple(map(_minus, value.values)))
    if isinstance(value, Formula):
        return Formula(f"-({value.text})")
    if callable(value):
        raise ModelError(f"{owner}: its motor follows a callable of Python, which has no mirror image; give a profile")
    return _minus(value)


def _minus(value: Any) -> Any:
    return tuple(-item for item in value) if isinstance(value, tuple) else -value
