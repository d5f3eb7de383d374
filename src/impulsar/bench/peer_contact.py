"""Free bodies that touch, in MuJoCo as its users would write them: boxes and balls on planes, elliptic cones."""

from typing import Any

import numpy as np

from ..author.materials import contact_properties
from ..author.model import Model
from ..author.shapes import Box, Plane, Shape, Sphere


def build(model: Model, dt: float) -> tuple[Any, Any]:
    """(mjModel, mjData) of a model of free bodies and obstacles of one material; Newton solver, default softness."""
    import mujoco

    names = {shape.material or part.material for part in model.bodies.values() for shape in part.shapes}
    friction = contact_properties(model, *(2 * [str(names.pop())])).friction
    xml = [f'<mujoco><option timestep="{dt!r}" gravity="{_text(model.gravity)}" cone="elliptic"/>']
    xml.append(f'<default><geom friction="{friction!r} 0 0" condim="3"/></default><worldbody>')
    xml += [_geom(one.shape, one.position, one.orientation) for one in model.obstacles.values()]
    for body in model.bodies.values():
        xml.append(f'<body name="{body.name}" pos="{_text(body.position)}" quat="{_quaternion(body.orientation)}">')
        xml.append("<freejoint/>" + _inertial(body) + "".join(_geom(shape, (0, 0, 0), None) for shape in body.shapes))
        xml.append("</body>")
    xml.append("</worldbody></mujoco>")
    peer = mujoco.MjModel.from_xml_string("".join(xml))
    return peer, mujoco.MjData(peer)


def deepest(data: Any) -> float:
    """How far shapes overlap at most [m]."""
    return max((-float(data.contact[k].dist) for k in range(data.ncon)), default=0.0)


def places(model: Model, data: Any) -> np.ndarray:
    """Centres of all bodies [body, axis]."""
    return np.array([data.body(name).xpos for name in model.bodies])


def _inertial(body: Any) -> str:
    return f'<inertial mass="{body.mass!r}" pos="0 0 0" diaginertia="{_text(np.diag(body.inertia))}"/>'


def _geom(shape: Shape, position: Any, orientation: Any) -> str:
    """A shape in the frame of its body, or of an obstacle."""
    where = f'pos="{_text(position)}"' + ("" if orientation is None else f' quat="{_quaternion(orientation)}"')
    if isinstance(shape, Box):
        return f'<geom type="box" size="{_text(np.asarray(shape.size) / 2)}" {where}/>'
    if isinstance(shape, Sphere):
        return f'<geom type="sphere" size="{shape.radius!r}" {where}/>'
    if isinstance(shape, Plane):
        return f'<geom type="plane" size="0 0 1" {where}/>'
    raise TypeError(f"{type(shape).__name__} is not compared")


def _quaternion(q: Any) -> str:
    x, y, z, s = q
    return _text((s, x, y, z))


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
