"""What a user holds of a world: a hand on it, a body or a joint to read from."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import edits
from ..author.checks import show
from ..author.errors import ModelError
from ..author.parts import Body
from ..author.profiles import Value
from ..author.rotations import conjugate, multiply_all, rotate, rotation_vectors, unit_quaternion
from ..author.sensors import Camera
from ..observe.quantities import QUANTITIES
from ..observe.reading import out

if TYPE_CHECKING:
    from .world import World


class Reaction(NamedTuple):
    """What a joint transmits to its second body, at the joint, world axes."""

    force: np.ndarray  # [N]
    torque: np.ndarray  # [N m]


class Hand:
    """A hold on a body."""

    def __init__(self, world: "World", name: str):
        self.world, self.name = world, name

    def move(self, target: Value | None = None, orientation: Any = None) -> edits.Answer:
        """Go to a world point [m], or along a profile; and turn the body to an orientation.

        orientation: a unit quaternion xyzw, or a rotation vector [rad] or a profile of one. None: on as before.
        """
        target = tuple(target) if isinstance(target, list) else target
        return self.world.apply(edits.Move(self.name, target, self._turn(orientation)))

    def _turn(self, orientation: Any) -> Any:
        """An orientation as the edit takes it: a quaternion as a rotation vector."""
        if (
            isinstance(orientation, np.ndarray)
            and orientation.shape == (self.world.worlds, 4)
            and orientation.ndim == 2
        ):
            each = [unit_quaternion(f"hand '{self.name}'", "orientation", q) for q in orientation]
            return rotation_vectors(np.array(each))
        if isinstance(orientation, tuple | list | np.ndarray) and len(orientation) == 4:
            q = unit_quaternion(f"hand '{self.name}'", "orientation", orientation)
            return tuple(rotation_vectors(q).tolist())
        return tuple(orientation) if isinstance(orientation, list) else orientation

    def grip(
        self,
        stiffness: float | None = None,
        damping: float | None = None,
        angular_stiffness: float | None = None,
        angular_damping: float | None = None,
    ) -> edits.Answer:
        """Hold on with other springs and dampers, in the units of `World.grab`; None: as it is."""
        return self.world.apply(edits.Grip(self.name, stiffness, damping, angular_stiffness, angular_damping))

    def release(self) -> edits.Answer:
        """Let go."""
        return self.world.apply(edits.Release(self.name))

    @property
    def force(self) -> np.ndarray:
        """Force on the body over the last step [N]."""
        return self.world.hand_forces()[self.name]

    @property
    def torque(self) -> np.ndarray:
        """Torque on the body, beside that of the force, over the last step [N m]."""
        return self.world.hand_torques()[self.name]


class Tip(Hand):
    """A sphere that pushes what it meets."""

    @property
    def position(self) -> np.ndarray:
        """Where it is [m]."""
        return self.world.body(self.name).position

    @property
    def force(self) -> np.ndarray:
        """On what it touches, over the last step [N]; of the first world of a batch."""
        touching = [contact for contact in self.world.contacts() if self.name in (contact.first, contact.second)]
        own = [contact.force if contact.first == self.name else -contact.force for contact in touching]
        return np.sum(own, axis=0) if own else np.zeros(3)


class BodyView:
    """What a body does now; arrays get a leading world dimension in a batch."""

    def __init__(self, world: "World", index: int):
        self._world, self._index = world, index

    def _read(self, quantity: str) -> Any:
        return out(QUANTITIES[f"body.{quantity}"].read(self._world.moment())[self._index], self._world.worlds)

    @property
    def position(self) -> np.ndarray:
        """Of the centre of mass [m]."""
        return self._read("position")

    @property
    def orientation(self) -> np.ndarray:
        """Quaternion xyzw, body to world."""
        return self._read("orientation")

    @property
    def velocity(self) -> np.ndarray:
        """Of the centre of mass [m/s]."""
        return self._read("velocity")

    @property
    def angular_velocity(self) -> np.ndarray:
        """In world axes [rad/s]."""
        return self._read("angular_velocity")

    @property
    def acceleration(self) -> np.ndarray:
        """Of the centre of mass, at this instant [m/s²]; what that means at a jump is in `observe.instant`."""
        return self._read("acceleration")

    @property
    def angular_acceleration(self) -> np.ndarray:
        """In world axes, at this instant [rad/s²]."""
        return self._read("angular_acceleration")

    @property
    def force(self) -> np.ndarray:
        """All that acts on the body now, weight and joints among it: mass times acceleration [N]."""
        return self._read("force")

    @property
    def torque(self) -> np.ndarray:
        """The same about the centre of mass, world axes: the rate of its angular momentum, I α + ω × I ω [N m]."""
        return self._read("torque")

    @property
    def kinetic_energy(self) -> float | np.ndarray:
        """Of its motion and its spin [J]."""
        return self._read("kinetic_energy")

    def point(self, at=(0.0, 0.0, 0.0), frame: str = "body") -> np.ndarray:
        """World place of a point given in the body's frame, or in that of its "link" [m]."""
        at = self._world.model.point_of("point", "at", (self._body.name, at, frame))
        return self.position + rotate(self.orientation, at)

    @property
    def _body(self) -> Body:
        return self._world.model.bodies[self._world.system.tree.bodies[self._index]]

    @property
    def link_position(self) -> np.ndarray:
        """Of the origin of the author's frame L, a link's in a robot's file [m]; without one, as `position`."""
        return self.position + rotate(self.orientation, self._body.p_BL)

    @property
    def link_orientation(self) -> np.ndarray:
        """Quaternion xyzw, the author's frame to world."""
        return multiply_all(self.orientation, self._body.q_BL)


class TyreView:
    """What a tyre does now; arrays get a leading world dimension in a batch."""

    def __init__(self, world: "World", index: int):
        self._world, self._index = world, index

    def _read(self, quantity: str) -> Any:
        return out(QUANTITIES[f"tyre.{quantity}"].read(self._world.moment())[self._index], self._world.worlds)

    @property
    def force(self) -> np.ndarray:
        """Of the road on the wheel, world axes [N]."""
        return self._read("force")

    @property
    def torque(self) -> np.ndarray:
        """Of the road about the wheel's centre of mass, world axes [N m]."""
        return self._read("torque")

    @property
    def patch(self) -> np.ndarray:
        """The force along the rolling direction, to the left, and along the road's normal: the load [N]."""
        return self._read("patch")

    @property
    def contact(self) -> np.ndarray:
        """Where it touches the road [m]."""
        return self._read("contact")

    @property
    def moment(self) -> float | np.ndarray:
        """Aligning moment about the road's normal [N m]."""
        return self._read("moment")

    @property
    def slip(self) -> float | np.ndarray:
        """Longitudinal slip of the deflected tyre."""
        return self._read("slip")

    @property
    def angle(self) -> float | np.ndarray:
        """Slip angle of the deflected tyre [rad]."""
        return self._read("angle")

    @property
    def camber(self) -> float | np.ndarray:
        """Lean of the wheel to the right [rad]."""
        return self._read("camber")

    @property
    def deflection(self) -> float | np.ndarray:
        """How deep the rim's lowest point would be in the road [m]."""
        return self._read("deflection")


class JointView:
    """What a joint does now: a number for a joint with one freedom, an array for more."""

    def __init__(self, world: "World", name: str):
        self._world, self._name = world, name
        self._rows = world.readout.rows[name]
        self._index = list(world.model.joints).index(name)

    @property
    def reaction(self) -> Reaction:
        """All that the joint transmits to its second body, at the joint, world axes.

        At an instant for `direct`, the mean over the last step for impulsive methods. Where redundant
        constraints leave a choice it is that of least norm.
        """
        wrench = out(self._world.reactions()[0][self._index], self._world.worlds)
        return Reaction(force=wrench[..., 3:], torque=wrench[..., :3])

    @property
    def reaction_determinate(self) -> bool | np.ndarray:
        """False where redundant constraints make the reaction a choice."""
        determinate = self._world.reactions()[1][self._index]
        return bool(determinate[0]) if self._world.worlds == 1 else determinate.copy()

    @property
    def reaction_open(self) -> Reaction:
        """True in the components of force and torque, world axes, that redundant constraints make a choice."""
        found = out(~self._world.moment().reactions[1][self._index], self._world.worlds)
        return Reaction(force=found[..., 3:], torque=found[..., :3])

    def reaction_in(self, frame: str) -> Reaction:
        """The reaction along "world" axes or the axes of the "joint" (frame F on the first body)."""
        if not isinstance(frame, str) or frame not in ("world", "joint"):
            raise ModelError(f"joint '{self._name}': frame is {show(frame)}, expected 'world' or 'joint'")
        force, torque = self.reaction
        if frame == "world":
            return self.reaction
        joint = self._world.model.joints[self._name]
        for q in (*([] if joint.first == "ground" else [self._world.body(joint.first).orientation]), joint.q_PF):
            force, torque = rotate(conjugate(q), force), rotate(conjugate(q), torque)
        return Reaction(force, torque)

    def _values(self, values: np.ndarray):
        chosen = values[self._rows]  # [freedom, world]
        return out(chosen[0] if len(self._rows) == 1 else chosen.T, self._world.worlds)

    def _of_coordinates(self, quantity: str):
        return self._values(QUANTITIES[f"coordinate.{quantity}"].read(self._world.moment()))

    @property
    def position(self):
        """Coordinates [m, rad]; of a ball its rotation vector."""
        return self._of_coordinates("position")

    @property
    def velocity(self):
        """Rates [m/s, rad/s]; of a ball its angular velocity along the axes of F."""
        return self._of_coordinates("velocity")

    @property
    def motor_torque(self):
        """Mean over the last step [N m, N]; 0 without a motor."""
        return self._of_coordinates("motor_torque")


class SensorView:
    """A sensor to read from: what has come of it by now."""

    def __init__(self, world: "World", name: str):
        self._world, self.name = world, name

    def _newest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        bench = self._world.runner.bench
        device = edits.known("world", "sensor", self.name, bench.sensors.devices)
        return device.newest(self._world.time, bench.state.read("sensor"))

    @property
    def value(self) -> np.ndarray | float:
        """All channels, in a batch one row for each world; NaN while there is nothing."""
        found = out(self._newest()[0].T, self._world.worlds)
        return float(found[0]) if np.shape(found) == (1,) else found

    @property
    def time(self) -> float | np.ndarray:
        """When that was sampled [s]; NaN while nothing has come."""
        return out(self._newest()[1], self._world.worlds)

    @property
    def valid(self) -> bool | np.ndarray:
        """Whether there is a value: something has come, and a receiver has a fix."""
        found = self._newest()[2]
        return bool(found[0]) if self._world.worlds == 1 else found

    @property
    def channels(self) -> list[str]:
        """Names of the channels."""
        return [channel.name for channel in self._world.runner.bench.sensors.devices[self.name].channels]

    @property
    def depth(self) -> np.ndarray:
        """A camera's picture of depths [row, column] [m], in a batch [world, row, column]; NaN while there is none."""
        return self._picture(0)

    @property
    def colour(self) -> np.ndarray:
        """A camera's picture: red, green and blue, 0 to 255 [row, column, 3]; black while there is none."""
        packed = np.nan_to_num(self._picture(1)).astype(np.uint32)
        return np.stack([packed >> 16 & 255, packed >> 8 & 255, packed & 255], axis=-1).astype(np.uint8)

    def _picture(self, which: int) -> np.ndarray:
        sensor = self._world.system.model.sensors[self.name].sensor
        if not isinstance(sensor, Camera):
            raise AttributeError(f"sensor '{self.name}': is no camera; read its value")
        half = self._newest()[0].reshape(2, sensor.height, sensor.width, -1)[which]
        return np.array(out(np.moveaxis(half, -1, 0), self._world.worlds))
