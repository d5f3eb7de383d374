"""A hinged mechanism in MuJoCo, as its users would write it: hinges in a tree, loops by connect equalities."""

from typing import Any

import numpy as np

from ..author.model import Model
from ..author.parts import Body
from ..author.rotations import conjugate, multiply, rotation_matrix
from ..engine.system.tree import GROUND, span


def build(model: Model, dt: float) -> tuple[Any, Any]:
    """(mjModel, mjData) of a model of hinges and nothing else; Euler, Newton solver, default settings, no contacts."""
    import mujoco

    tree = span(model)
    bodies: dict[str, Body] = {GROUND: model.ground, **model.bodies}
    children: dict[str, list[int]] = {}
    for i, parent in enumerate(tree.parents):
        children.setdefault(GROUND if parent < 0 else tree.bodies[parent], []).append(i)
    xml = [f'<mujoco><option timestep="{dt!r}" gravity="{_text(model.gravity)}" integrator="Euler">']
    xml.append('<flag contact="disable" eulerdamp="disable"/></option><worldbody>')
    stack: list[int | str] = list(reversed(children.get(GROUND, [])))
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            xml.append(item)
            continue
        body, joint, parent = bodies[tree.bodies[item]], tree.carriers[item], tree.parents[item]
        P = bodies[GROUND if parent < 0 else tree.bodies[parent]]
        x, y, z, s = multiply(conjugate(P.orientation), body.orientation)
        forward = joint.second == body.name
        place, turn = (joint.p_CM, joint.q_CM) if forward else (joint.p_PF, joint.q_PF)
        axis = rotation_matrix(turn)[:, 2] * (1.0 if forward else -1.0)
        xml.append(f'<body name="{body.name}" pos="{_text(P.point(body.position))}" quat="{_text([s, x, y, z])}">')
        xml.append(f'<joint type="hinge" pos="{_text(place)}" axis="{_text(axis)}"/>')
        inertia = _text(np.diag(body.inertia))
        xml.append(f'<inertial mass="{body.mass!r}" pos="0 0 0" diaginertia="{inertia}"/>')
        stack.append("</body>")
        stack += reversed(children.get(body.name, []))
    xml.append("</worldbody><equality>")
    for joint in tree.loops:
        # connect pins a point of the first body to the second; a second point along the axis would make a hinge
        first, second = (name if name != GROUND else "world" for name in (joint.first, joint.second))
        xml.append(f'<connect body1="{first}" body2="{second}" anchor="{_text(joint.p_PF)}"/>')
    xml.append("</equality></mujoco>")
    peer = mujoco.MjModel.from_xml_string("".join(xml))
    return peer, mujoco.MjData(peer)


def state_of(peer: Any, data: Any) -> np.ndarray:
    """MuJoCo's whole state."""
    import mujoco

    state = np.empty(mujoco.mj_stateSize(peer, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(peer, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return state


def gap(model: Model, peer: Any, data: Any) -> float:
    """Largest distance between the two ends of a cut hinge in MuJoCo [m]."""
    import mujoco

    mujoco.mj_forward(peer, data)

    def place(name: str, p: np.ndarray) -> np.ndarray:
        if name == GROUND:
            return p
        k = peer.body(name).id
        return data.xpos[k] + data.xmat[k].reshape(3, 3) @ p

    return max(
        float(np.linalg.norm(place(joint.first, joint.p_PF) - place(joint.second, joint.p_CM)))
        for joint in span(model).loops
    )


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
