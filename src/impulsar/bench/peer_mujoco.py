"""The chain in MuJoCo, as its users would write it."""

from typing import Any

import numpy as np

from ..model import Model


def chain(model: Model, dt: float) -> tuple[Any, Any]:
    """(mjModel, mjData) of a chain scene: hinges about x, no contacts, semi-implicit Euler."""
    import mujoco

    xml = [f'<mujoco><option timestep="{dt!r}" gravity="0 0 -9.81" integrator="Euler">']
    xml.append('<flag contact="disable" eulerdamp="disable"/></option><worldbody>')
    p, q = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    for body in model.bodies.values():
        joint = next(joint for joint in model.joints.values() if joint.second == body.name)
        # the links are all aligned, so only the first one turns against its parent
        first = not np.array_equal(q, body.orientation)
        shift = body.world_point(joint.p_CM) - p
        x, y, z, s = body.orientation.tolist() if first else (0.0, 0.0, 0.0, 1.0)
        local = shift if first else body.point(body.position + shift)
        place = body.point(body.position) - joint.p_CM
        xml.append(f'<body pos="{_text(local)}" quat="{s!r} {x!r} {y!r} {z!r}"><joint type="hinge" axis="1 0 0"/>')
        xml.append(
            f'<inertial mass="{body.mass!r}" pos="{_text(place)}" diaginertia="{_text(np.diag(body.inertia))}"/>'
        )
        p, q = body.world_point(joint.p_CM), body.orientation
    xml.append("</body>" * len(model.bodies) + "</worldbody></mujoco>")
    peer = mujoco.MjModel.from_xml_string("".join(xml))
    return peer, mujoco.MjData(peer)


def _text(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
