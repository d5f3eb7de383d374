"""Bodies that touch in MuJoCo as its users would write them: boxes and balls on planes, and the scene `grasp`."""

from typing import Any

import numpy as np

from ..author.materials import contact_properties
from ..author.model import Model
from ..author.shapes import Box, Plane, Shape, Sphere
from ..scenes import grasp


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


def gripper(dt: float, friction: float = 0.6, grip: float = 1.05) -> tuple[Any, Any]:
    """The scene `grasp` with a box: stiff position actuators, a force at one finger, the other coupled to it."""
    import mujoco

    z, half = grasp.TABLE + grasp.SIZE / 2, grasp.SIZE / 2
    y = half + grasp.OPEN + 0.005
    fingers = "".join(
        f'''<body name="{side}" pos="{grasp.RADIUS} {sign * y} 0">
        <joint name="{side}" type="slide" axis="0 {-sign} 0"/>
        <inertial mass="0.08" pos="0 0 0.03" diaginertia="4e-5 4e-5 4e-6"/>
        <geom type="box" size="0.015 0.005 0.02"/></body>'''
        for side, sign in (("left", 1.0), ("right", -1.0))
    )
    xml = f'''<mujoco><option timestep="{dt!r}" gravity="0 0 {-grasp.G}" cone="elliptic"/>
    <default><geom friction="{friction} 0 0" condim="3" priority="1"/></default><worldbody>
    <geom type="box" size="0.1 0.1 {grasp.TABLE / 2}" pos="{grasp.RADIUS} 0 {grasp.TABLE / 2}" friction="0 0 0"
          priority="2"/>
    <body name="thing" pos="{grasp.RADIUS} 0 {z}"><freejoint/>
        <geom type="box" size="{half} {half} {half}" mass="{grasp.MASS}"/></body>
    <body name="column"><joint name="yaw" type="hinge" axis="0 0 1"/>
        <inertial mass="4" pos="0 0 0.35" diaginertia="0.17 0.17 0.005"/>
        <body name="palm" pos="0 0 {z}"><joint name="lift" type="slide" axis="0 0 1"/>
            <inertial mass="1.9" pos="0.3 0 0.12" diaginertia="0.01 0.05 0.05"/>{fingers}</body></body>
    </worldbody><equality><joint joint1="left" joint2="right" polycoef="0 1 0 0 0"/></equality>
    <actuator><position joint="yaw" kp="1e4" dampratio="1"/><position joint="lift" kp="1e5" dampratio="1"/>
    <motor joint="left"/></actuator></mujoco>'''
    peer = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(peer)
    data.ctrl[2] = grip * grasp.least_grip(friction)
    return peer, data


def drive(peer: Any, data: Any, steps: int) -> None:
    """So many steps of the gripper, its actuators given their profiles before each."""
    import mujoco

    for _ in range(steps):
        data.ctrl[0], data.ctrl[1] = grasp.YAW(data.time), grasp.RISE(data.time)
        mujoco.mj_step(peer, data)


def in_gripper(data: Any) -> np.ndarray:
    """Where the thing is in the palm's frame [m]."""
    palm = data.body("palm")
    return palm.xmat.reshape(3, 3).T @ (data.body("thing").xpos - palm.xpos)


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
