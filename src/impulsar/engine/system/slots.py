"""Slots: every row that a model may ever ask for, in a fixed order.

A slot is a place for one row. Whether it is a row in a given step (a limit that is far away is not) is
decided in the step, and its accumulated impulse stays with the slot: that is the warm start.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...author.joints import CATALOGUE, SWING, TWIST, Group
from ...author.model import Model
from ...author.parts import PARTS, Features, Joint
from ...author.profiles import Scalar, scalar_profiles
from .tree import JointKey

CLOSURE = 0  # a lock of a joint that closes a loop
LIMIT_LOW, LIMIT_HIGH = 1, 2
FRICTION = 3  # Coulomb
MOTOR_SPEED, MOTOR_POSITION = 4, 5
MOTOR_TORQUE = 6  # a force, never a row: the slot keeps its books
COMPLIANCE = 7  # spring, damper and viscous friction in a joint
SPRING = PARTS["spring"].slot  # between two points
HAND = 9
TURNS = 3  # codes of a hand: 0 to 2 pull along the axes of the world, and from here on turn about them
COUPLING = PARTS["coupling"].slot
IDLE = 11  # a lock that the tree satisfies by itself: out of the plane of a planar mechanism
SERVO, SPEED_SERVO = 12, 13  # motors that are a force of coordinate and rate, and a row of an impulsive step
ELEMENT = 14  # and above: force elements of the table of parts, never rows; their slots keep their books
HAS_ELEMENTS = int(any(entry.slot >= ELEMENT for entry in PARTS.values()))
# What a direct solve may take: equations, motors while they are strong enough, friction while it sticks.
BILATERAL = (CLOSURE, MOTOR_SPEED, MOTOR_POSITION, COUPLING, FRICTION)
MODAL = (FRICTION, LIMIT_LOW, LIMIT_HIGH)  # what has modes
SOFT = (COMPLIANCE, SPRING, HAND, SERVO, SPEED_SERVO)  # what the linearly implicit pair takes with them
SERVOS = (SERVO, SPEED_SERVO)
MOTORS = (MOTOR_SPEED, MOTOR_POSITION, MOTOR_TORQUE, *SERVOS)
ROLES = {  # what the table of parts calls them
    LIMIT_LOW: "lower limit",
    LIMIT_HIGH: "upper limit",
    FRICTION: "friction",
    **(dict.fromkeys(MOTORS, "motor") | dict.fromkeys(SERVOS, "servo")),
    COMPLIANCE: "compliance",
    **{entry.slot: kind for kind, entry in PARTS.items() if entry.slot >= 0},
}
OWNERS = {HAND: "hand"} | {entry.slot: kind for kind, entry in PARTS.items() if entry.slot >= 0}  # else: joint
KIND_NAMES = ROLES | {  # as files call them; an idle lock is a closure there
    CLOSURE: "closure",
    MOTOR_SPEED: "speed motor",
    MOTOR_POSITION: "position motor",
    MOTOR_TORQUE: "torque motor",
    SERVO: "servo",
    SPEED_SERVO: "speed servo",
    HAND: "hand",
    IDLE: "closure",
}
SlotKey = tuple[str, str, int]  # part, kind and code, by which files tell slots apart


@dataclass
class Slot:
    """One slot; what a, b, c, d mean is said in SystemArrays."""

    name: str
    kind: int
    part: int
    code: int = 0
    q: int = 0
    dof: int = -1
    group: int = 1  # of rows bounded together: their number at the first, 0 at the others
    channel: int = -1
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0

    @property
    def role(self) -> str | None:
        """What the table of parts calls its kind."""
        return "swing limit" if self.kind == LIMIT_HIGH and self.code == SWING else ROLES.get(self.kind)

    @property
    def owner(self) -> str:
        """Kind of the part that it is of."""
        return OWNERS.get(self.kind, "joint")

    @property
    def key(self) -> SlotKey:
        """By which files tell it from the others."""
        return self.name, KIND_NAMES[self.kind], self.code


def has_turns(keys: Iterable[SlotKey]) -> bool:
    """Whether there are rows of hands that turn."""
    return any(kind == KIND_NAMES[HAND] and code == TURNS for _, kind, code in keys)


def cone_size(k: int, n: int) -> int:
    """Slot.group of the k-th of n rows that are bounded together."""
    return n if k == 0 else 0


class SlotBuilder:
    """Walks the model and lists its slots and the channels of its motors."""

    def __init__(
        self,
        joint_index: dict[JointKey, int],
        coordinate: dict[tuple[JointKey, int], int],
        dof: dict[tuple[JointKey, int], int],
    ):
        self.joint_index = joint_index
        self.dof = dof  # (joint, freedom) -> velocity of a tree joint
        self.coordinate = coordinate  # (joint, freedom) -> where its coordinate is, as Slot.q
        self.slots: list[Slot] = []
        self.ranges: dict[str, range] = {}  # of slots, by name: nobody has to know what comes first or last
        self.channels: list[Scalar] = []

    def add_all(self, model: Model, loops: list[Joint], kinds: tuple[str, ...], hands: int, turns: int) -> None:
        """Every slot of a model whose `loops` are closed by rows, of its parts of some kinds, with room for hands."""
        for joint in loops:
            self.add_closures(joint)
        self._end_range("closure")
        for joint in model.joints.values():
            self.add_features(joint)
        self._end_range("feature")
        for kind in kinds:
            self.add_parts(model, kind)
            self._end_range(kind)
        self.add_hands(hands, 0)
        self._end_range("hand")
        self.add_hands(turns, TURNS)
        self._end_range("turn")

    def _end_range(self, name: str) -> None:
        """The slots since the last range are those of this one."""
        first = max((before.stop for before in self.ranges.values()), default=0)
        self.ranges[name] = range(first, len(self.slots))

    def add_closures(self, joint: Joint) -> None:
        """A row for each lock of a joint that closes a loop."""
        part = self.joint_index[joint.name]
        for lock in CATALOGUE[joint.type].locks:
            angle = self.coordinate.get((joint.name, CATALOGUE[joint.type].freedoms[0]), 0) if joint.pitch else 0
            self.slots.append(Slot(joint.name, CLOSURE, part, lock, q=angle))

    def add_features(self, joint: Joint) -> None:
        """Rows for the features of a joint's freedoms, whether it is a tree joint or closes a loop."""
        for group in CATALOGUE[joint.type].groups:
            features = joint.features.get(group.name)
            if features is not None:
                self.slots += self._motor(joint, group, features)
                self.slots += self._compliance(joint, group, features)
                self.slots += self._friction(joint, group, features)
                self.slots += self._limits(joint, group, features)

    def _at(self, joint: Joint, code: int) -> dict:
        return {
            "name": joint.name,
            "part": self.joint_index[joint.name],
            "code": code,
            "q": self.coordinate.get((joint.name, code), 0),
            "dof": self.dof.get((joint.name, code), -1),
        }

    def _motor(self, joint: Joint, group: Group, features: Features) -> Iterator[Slot]:
        motor = features.motor
        if motor is None:
            return
        kind, value = next(
            (kind, value)
            for kind, value in (
                (MOTOR_SPEED, motor.speed),
                (MOTOR_POSITION, motor.position),
                (MOTOR_TORQUE, motor.torque),
            )
            if value is not None
        )
        if motor.is_servo:
            kind = SERVO if motor.position is not None else SPEED_SERVO
        gear = 0.0 if motor.gear == 1.0 else motor.gear  # 0: none
        gains = {"b": motor.kp or 0.0, "c": motor.kv or 0.0, "d": gear}
        for k, item in enumerate(scalar_profiles(value, len(group.freedoms))):
            self.channels.append(item)
            size = cone_size(k, len(group.freedoms)) if kind == MOTOR_SPEED else 1
            where = self._at(joint, group.freedoms[k])
            yield Slot(**where, kind=kind, group=size, channel=len(self.channels) - 1, a=motor.max_torque, **gains)

    def _compliance(self, joint: Joint, group: Group, features: Features) -> Iterator[Slot]:
        if features.stiffness or features.damping or features.viscous:
            for code in group.freedoms:
                yield Slot(
                    **self._at(joint, code),
                    kind=COMPLIANCE,
                    a=features.stiffness,
                    b=features.damping,
                    c=features.rest,
                    d=features.viscous,
                )

    def _friction(self, joint: Joint, group: Group, features: Features) -> Iterator[Slot]:
        if features.friction:
            for k, code in enumerate(group.freedoms):
                size = cone_size(k, len(group.freedoms))
                where = self._at(joint, code)
                yield Slot(**where, kind=FRICTION, group=size, a=features.friction, b=features.static_friction)

    def _limits(self, joint: Joint, group: Group, features: Features) -> Iterator[Slot]:
        code = TWIST if group.is_ball else group.freedoms[0]
        if features.limits is not None:
            for kind, bound in zip((LIMIT_LOW, LIMIT_HIGH), features.limits, strict=True):
                if np.isfinite(bound):
                    yield Slot(**self._at(joint, code), kind=kind, a=bound, b=features.restitution)
        if features.swing is not None:
            yield Slot(**self._at(joint, SWING), kind=LIMIT_HIGH, a=features.swing, b=features.restitution)

    def add_parts(self, model: Model, kind: str) -> None:
        """A row for each part of a kind, with its letters as the table of parts says."""
        entry = PARTS[kind]
        for number, part in enumerate(getattr(model, entry.plural).values()):
            self.slots.append(Slot(part.name, entry.slot, number, **entry.letters(part)))  # type: ignore[arg-type]

    def add_hands(self, hands: int, first: int) -> None:
        """Three rows for each hand, of codes from `first` on."""
        for part in range(hands):
            self.slots += [Slot(f"hand {part}", HAND, part, first + axis) for axis in range(3)]


def joint_blocks(slots: list[Slot]) -> list[int]:
    """At the first closure of each joint the number of its closures, elsewhere 0."""
    sizes = [0] * len(slots)
    first = 0
    for r, slot in enumerate(slots):
        if slot.kind == CLOSURE:
            if r == 0 or slots[first].part != slot.part or slots[first].kind != CLOSURE:
                first = r
            sizes[first] += 1
    return sizes
