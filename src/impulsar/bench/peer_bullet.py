"""Bodies that touch in PyBullet as its users would write them: boxes and balls on planes, and the scene `grasp`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..author.materials import contact_properties
from ..author.model import Model
from ..author.rotations import rotation_matrix
from ..author.shapes import Box, Shape, Sphere
from ..scenes import grasp


class Bullet:
    """A world of its own; default solver."""

    def __init__(self, dt: float):
        import pybullet

        self.api = pybullet
        self.client = pybullet.connect(pybullet.DIRECT)
        self.ids: dict[str, int] = {}
        self.call("setTimeStep", dt)
        self.drive: Callable[[], None] = lambda: None
        self.in_gripper: Callable[[], np.ndarray] = self.places

    def call(self, what: str, *args: Any, **more: Any) -> Any:
        """A function of PyBullet, in this world."""
        return getattr(self.api, what)(*args, physicsClientId=self.client, **more)

    def step(self, steps: int) -> None:
        """So many steps, with what drives the motors before each."""
        for _ in range(steps):
            self.drive()
            self.call("stepSimulation")

    def places(self) -> np.ndarray:
        """Centres of the free bodies [body, axis]."""
        return np.array([self.call("getBasePositionAndOrientation", number)[0] for number in self.ids.values()])

    def deepest(self) -> float:
        """How far shapes overlap at most [m]."""
        return max((-one[8] for one in self.call("getContactPoints")), default=0.0)

    def shape(self, shape: Shape) -> int:
        """A shape to touch with."""
        if isinstance(shape, Box):
            return self.call("createCollisionShape", self.api.GEOM_BOX, halfExtents=[size / 2 for size in shape.size])
        if isinstance(shape, Sphere):
            return self.call("createCollisionShape", self.api.GEOM_SPHERE, radius=shape.radius)
        raise TypeError(f"{type(shape).__name__} is not compared")

    def close(self) -> None:
        """Let it go."""
        self.call("disconnect")


def build(model: Model, dt: float) -> Bullet:
    """Free bodies and planes of one material."""
    world = Bullet(dt)
    world.call("setGravity", *(float(part) for part in model.gravity))
    names = {shape.material or part.material for part in model.bodies.values() for shape in part.shapes}
    friction = contact_properties(model, *(2 * [str(names.pop())])).friction
    coefficient = friction**0.5  # it multiplies those of the two
    for obstacle in model.obstacles.values():
        plane = world.call("createCollisionShape", world.api.GEOM_PLANE)
        number = world.call(
            "createMultiBody", 0, plane, -1, list(map(float, obstacle.position)), list(map(float, obstacle.orientation))
        )
        world.call("changeDynamics", number, -1, lateralFriction=coefficient)
    for body in model.bodies.values():
        where = list(map(float, body.position)), list(map(float, body.orientation))
        number = world.call("createMultiBody", float(body.mass), world.shape(body.shapes[0]), -1, *where)
        # it would put bodies to sleep, and damp them
        world.call("changeDynamics", number, -1, lateralFriction=coefficient, linearDamping=0, angularDamping=0)
        world.ids[body.name] = number
    return world


def gripper(dt: float, friction: float = 0.6, grip: float = 1.05) -> Bullet:
    """The scene `grasp` with a box: yaw and lift held to their profiles, fingers by force, with a gear between them."""
    world = Bullet(dt)
    world.call("setGravity", 0, 0, -grasp.G)
    z = grasp.TABLE + grasp.SIZE / 2
    half = grasp.SIZE / 2
    pad = world.call("createCollisionShape", world.api.GEOM_BOX, halfExtents=[0.015, 0.005, 0.02])
    table = world.call("createCollisionShape", world.api.GEOM_BOX, halfExtents=[0.1, 0.1, grasp.TABLE / 2])
    thing = world.call("createCollisionShape", world.api.GEOM_BOX, halfExtents=[half] * 3)
    number = world.call("createMultiBody", 0, table, -1, [grasp.RADIUS, 0, grasp.TABLE / 2])
    world.call("changeDynamics", number, -1, lateralFriction=0)
    held = world.call("createMultiBody", grasp.MASS, thing, -1, [grasp.RADIUS, 0, z])
    y = half + grasp.OPEN + 0.005
    api = world.api
    arm = world.call(
        "createMultiBody",
        0,
        -1,
        -1,
        [0, 0, 0],
        linkMasses=[4.0, 1.9, 0.08, 0.08],
        linkCollisionShapeIndices=[-1, -1, pad, pad],
        linkVisualShapeIndices=[-1] * 4,
        linkPositions=[[0, 0, 0], [0, 0, z], [grasp.RADIUS, y, 0], [grasp.RADIUS, -y, 0]],
        linkOrientations=[[0, 0, 0, 1]] * 4,
        linkInertialFramePositions=[[0, 0, 0]] * 4,
        linkInertialFrameOrientations=[[0, 0, 0, 1]] * 4,
        linkParentIndices=[0, 1, 2, 2],
        linkJointTypes=[api.JOINT_REVOLUTE, api.JOINT_PRISMATIC, api.JOINT_PRISMATIC, api.JOINT_PRISMATIC],
        linkJointAxis=[[0, 0, 1], [0, 0, 1], [0, -1, 0], [0, 1, 0]],
    )
    for link in (2, 3):
        world.call("setJointMotorControl2", arm, link, api.VELOCITY_CONTROL, force=0)
    gear = world.call("createConstraint", arm, 2, arm, 3, api.JOINT_GEAR, [0, 1, 0], [0, 0, 0], [0, 0, 0])
    world.call("changeConstraint", gear, gearRatio=-1, erp=0.1, maxForce=1e3)
    for body, links in ((held, (-1,)), (arm, (2, 3))):
        for link in links:
            world.call("changeDynamics", body, link, lateralFriction=friction**0.5, linearDamping=0, angularDamping=0)
    force = grip * grasp.least_grip(friction)
    clock = [0]

    def drive() -> None:
        time = clock[0] * dt
        clock[0] += 1
        for link, profile in enumerate((grasp.YAW, grasp.RISE)):
            goal = profile(time)
            world.call("setJointMotorControl2", arm, link, api.POSITION_CONTROL, targetPosition=goal, force=1e6)
        for link in (2, 3):
            world.call("setJointMotorControl2", arm, link, api.TORQUE_CONTROL, force=force / 2)

    def in_gripper() -> np.ndarray:
        palm, turn = world.call("getLinkState", arm, 1, computeForwardKinematics=True)[4:6]
        place = world.call("getBasePositionAndOrientation", held)[0]
        return rotation_matrix(turn).T @ (np.array(place) - palm)

    world.drive, world.in_gripper = drive, in_gripper
    return world
