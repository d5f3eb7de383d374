"""The parts of a model: what an author says of each, checked field by field.

Symbols of a joint as in `joints`: F on its first body P, M on its second C. Points and frames are stored in
the frames of the bodies; a body's frame B has its origin at the centre of mass.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from impulsar.author.checks import (
    TINY,
    colour,
    flag,
    name_or_none,
    not_negative,
    number,
    ordered_pair,
    positive,
    show,
    vector,
    weight,
)
from impulsar.author.couplings import Coupling
from impulsar.author.errors import ModelError
from impulsar.author.expressions import read_expression
from impulsar.author.fluids import Fluid
from impulsar.author.joints import CATALOGUE, Group, JointType
from impulsar.author.keyframes import Keyframe
from impulsar.author.names import LONGEST_NAME, check_name
from impulsar.author.profiles import Value, check_value
from impulsar.author.rotations import rotation_matrix, unit_quaternion
from impulsar.author.shapes import Shape, check_solids, inertia_tensor, shape_list
from impulsar.author.surfaces import Material, MaterialPair, NoContact, Obstacle
from impulsar.author.visuals import Visual, visual_list


@dataclass(eq=False)
class Body:
    """A rigid body. Its frame B has the origin at the centre of mass; its author's frame L, a link's in a robot's
    file, may be elsewhere."""

    name: str
    mass: float  # [kg]; ground has 0 and is never integrated; 0 of what only carries others, without inertia
    inertia: np.ndarray  # (3, 3) about the centre of mass, body axes [kg m²]
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))  # p_WB [m]
    orientation: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))  # q_WB, unit, xyzw
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))  # v_WB [m/s]
    angular_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))  # w_WB, world axes [rad/s]
    shapes: list[Shape] = field(default_factory=list)
    material: str | None = None  # of the shapes that have none of their own
    density: float | None = None  # mass and inertia follow the shapes by it [kg/m³]; None: they were given
    colour: str | None = None  # "#rrggbb"; None: one by its place in the list
    visuals: list[Visual] = field(default_factory=list)  # what is drawn instead of the shapes, where there are any
    p_BL: np.ndarray = field(default_factory=lambda: np.zeros(3))  # origin of the author's frame [m]
    q_BL: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))  # its axes, unit, xyzw

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"body '{check_name('body', self.name)}'"
        self.mass = weight(owner, self.mass, not np.any(self.inertia))
        self.inertia = inertia_tensor(owner, self.inertia, self.is_carrier)
        self.position = vector(owner, "position", self.position, "m")
        self.orientation = unit_quaternion(owner, "orientation", self.orientation)
        self.velocity = vector(owner, "velocity", self.velocity, "m/s")
        self.angular_velocity = vector(owner, "angular_velocity", self.angular_velocity, "rad/s")
        self.shapes = shape_list(owner, self.shapes)
        self.material = name_or_none(owner, "material", self.material)
        check_solids(owner, self.shapes, self.material)
        self.density = None if self.density is None else positive(owner, "density", self.density, "kg/m³")
        self.colour = colour(owner, self.colour)
        self.visuals = visual_list(owner, self.visuals)
        self.p_BL = vector(owner, "position of link", self.p_BL, "m")
        self.q_BL = unit_quaternion(owner, "orientation of link", self.q_BL)

    @property
    def drawn(self) -> list[tuple[Shape, str | None]]:
        """What is seen of it, with the colours that are not its own: its visuals, else its shapes."""
        return [(one.shape, one.colour) for one in self.visuals] or [(shape, None) for shape in self.shapes]

    @property
    def has_link(self) -> bool:
        """Whether the author's frame is not the body's own."""
        return bool(np.any(self.p_BL) or abs(self.q_BL[3]) != 1.0)

    def link_point(self, p_LQ: np.ndarray) -> np.ndarray:
        """p_BQ [m] of a point of the author's frame."""
        return self.p_BL + rotation_matrix(self.q_BL) @ p_LQ

    @property
    def is_carrier(self) -> bool:
        """Whether it weighs nothing, and is there between joints only."""
        return self.mass == 0.0

    def point(self, p_WQ: np.ndarray) -> np.ndarray:
        """p_BQ [m] of a world point at the authored pose."""
        return rotation_matrix(self.orientation).T @ (p_WQ - self.position)

    def world_point(self, p_BQ: np.ndarray) -> np.ndarray:
        """p_WQ [m] of a point of the body at the authored pose."""
        return self.position + rotation_matrix(self.orientation) @ p_BQ


@dataclass(eq=False)
class Motor:
    """Drives one group of a joint by exactly one of speed [rad/s, m/s], position [rad, m] or torque
    [N m, N], never with more than `max_torque`. On a ball, speed and torque are 3-vectors along F.

    Without gains a speed or position is held rigidly, as far as the torque goes. With `kp` and `kv` the motor is a
    servo, a force: kp (position - q) + kv (its rate - q̇); of a speed, which has `kv` alone, kv (speed - q̇). Behind a
    `gear` all of these are the motor's own: it moves by gear times the joint, which has gear times its torque.
    """

    speed: Value | None = None
    position: Value | None = None
    torque: Value | None = None
    max_torque: float = math.inf
    kp: float | None = None  # of a position [N m/rad, N/m]
    kv: float | None = None  # of a position or speed [N m s/rad, N s/m]
    gear: float = 1.0  # motion of the motor over that of the joint

    def __post_init__(self) -> None:
        self.check("motor", None)

    @property
    def what(self) -> str:
        """What it drives: "speed", "position" or "torque"."""
        return next(name for name in ("speed", "position", "torque") if getattr(self, name) is not None)

    @property
    def is_servo(self) -> bool:
        """Whether it is a force of coordinate and rate."""
        return self.kp is not None or self.kv is not None

    def check_gains(self, owner: str) -> None:
        """Raise `ModelError` at gains or a gear that no motor has."""
        for what, unit, known in (
            ("kp", "N m/rad, N/m", ("position",)),
            ("kv", "N m s/rad, N s/m", ("position", "speed")),
        ):
            gain = getattr(self, what)
            if gain is None:
                continue
            setattr(self, what, not_negative(owner, what, gain, unit))
            if self.what not in known:
                told = f"but the motor is of a {self.what}; {what} is of a {' or a '.join(known)}: leave it out"
                raise ModelError(f"{owner}: {what} is {show(gain)}, {told}")
        expected = "a finite number other than 0"
        self.gear = number(owner, "gear", self.gear, expected, lambda x: abs(x) >= TINY and math.isfinite(x))

    def check(self, owner: str, group: Group | None) -> None:
        """Raise `ModelError` if this motor cannot drive `group` (None: not yet in a joint)."""
        given = {k: v for k in ("speed", "position", "torque") if (v := getattr(self, k)) is not None}
        if len(given) != 1:
            got = ", ".join(f"{what}={show(value)}" for what, value in given.items()) or "none"
            raise ModelError(f"{owner}: got {got}; give a motor exactly one of speed, position and torque")
        expected = "a number >= 0 [N m or N], or inf"
        self.max_torque = number(owner, "max_torque", self.max_torque, expected, lambda x: x >= 0)
        self.check_gains(owner)
        if group is None:
            return
        ((what, value),) = given.items()
        if group.is_ball and (self.is_servo or self.gear != 1.0):
            raise ModelError(f"{owner}: the motor has gains or a gear, but '{group.name}' is a ball; leave them out")
        if group.is_ball and what == "position":
            raise ModelError(
                f"{owner}: motor position is {show(value)}, but the ball '{group.name}' has no such motor; "
                "give speed or torque as 3 numbers"
            )
        check_value(owner, f"motor {what}", value, 3 if group.is_ball else 1)


@dataclass(eq=False)
class Features:
    """What acts on one group of a joint. Units: m and N for a slide, rad and N m otherwise.

    Of a ball, `limits` is the range of the twist about M's z and `swing` the half angle of the cone
    that z may fill; the spring acts on the rotation vector.
    """

    limits: tuple[float, float] | None = None  # lower, upper
    swing: float | None = None  # [rad]
    restitution: float = 0.0  # of the limits
    friction: float = 0.0  # Coulomb bound [N, N m]
    static_friction: float = 0.0  # bound while it sticks, where that is more [N, N m]
    viscous: float = 0.0  # [N s/m, N m s/rad]
    motor: Motor | None = None
    stiffness: float = 0.0  # [N/m, N m/rad]
    damping: float = 0.0  # [N s/m, N m s/rad]
    rest: float = 0.0  # coordinate where the spring is free [m, rad]
    armature: float = 0.0  # inertia that moves with the coordinate: a geared rotor's, reflected [kg, kg m²]

    def changed(self, what: str, value: Any) -> "Features":
        """These features with one parameter of PARTS set, or the motor's own value by "drive"."""
        if what in ("lower", "upper"):
            low, high = self.limits or (-math.inf, math.inf)
            return replace(self, limits=(value, high) if what == "lower" else (low, value))
        if what in ("max_torque", "kp", "kv", "drive"):
            assert self.motor is not None
            what = self.motor.what if what == "drive" else what
            return replace(self, motor=replace(self.motor, **{what: value}))
        return replace(self, **{what: value})

    def check(self, owner: str, group: Group) -> None:
        """Raise `ModelError` at the first feature that `group` cannot have."""
        unit, force = group.unit, group.force_unit
        if self.limits is not None:
            self.limits = ordered_pair(owner, "limits", self.limits, unit)
        if self.swing is not None:
            if not group.is_ball:
                raise ModelError(f"{owner}: swing is {show(self.swing)}, but this is no ball; give limits")
            self.swing = number(owner, "swing", self.swing, "a half angle > 0 [rad]", lambda x: x > 0)
        fraction, is_fraction = "a number from 0 to 1", lambda x: 0 <= x <= 1
        self.restitution = number(owner, "limit_restitution", self.restitution, fraction, is_fraction)
        self.friction = not_negative(owner, "friction", self.friction, force)
        self.static_friction = not_negative(owner, "static_friction", self.static_friction, force)
        if self.static_friction > 0.0 and not self.friction:
            told = show(self.static_friction)
            raise ModelError(f"{owner}: static_friction is {told} without friction; give friction > 0 too")
        self.viscous = not_negative(owner, "viscous", self.viscous, f"{force} s/{unit}")
        self.stiffness = not_negative(owner, "stiffness", self.stiffness, f"{force}/{unit}")
        self.damping = not_negative(owner, "damping", self.damping, f"{force} s/{unit}")
        self.rest = number(owner, "rest", self.rest, f"a finite number [{unit}]")
        self.armature = not_negative(owner, "armature", self.armature, group.inertia_unit)
        if group.is_ball and self.rest != 0:
            raise ModelError(f"{owner}: rest is {show(self.rest)}, but a ball's spring rests at 0; give 0")
        if self.motor is not None:
            if not isinstance(self.motor, Motor):
                raise ModelError(f"{owner}: motor is {show(self.motor)}, expected a Motor(speed=...)")
            self.motor.check(owner, group)


@dataclass(eq=False)
class Joint:
    """A joint between frame F on `first` and frame M on `second`."""

    name: str
    type: str  # a key of joints.CATALOGUE
    first: str
    second: str
    p_PF: np.ndarray  # [m]
    q_PF: np.ndarray
    p_CM: np.ndarray  # [m]
    q_CM: np.ndarray
    length: float | None = None  # of a distance joint [m]
    pitch: float | None = None  # of a screw joint [m/rad]
    loop: bool | None = None  # True: the author cuts the loop here; None: the builder chooses
    features: dict[str, Features] = field(default_factory=dict)  # by group, one for every group
    contact: bool = False  # True: the two bodies may touch all the same
    closed: dict[str, Any] | None = None  # of one that is cut: type, loop, pitch, length and features that it had

    @property
    def kind(self) -> JointType:
        """This joint's line of the catalogue."""
        return CATALOGUE[self.type]

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"joint '{check_name('joint', self.name)}'"
        joint_type_of(owner, self.type)
        for frame, p, q in (("frame_a", "p_PF", "q_PF"), ("frame_b", "p_CM", "q_CM")):
            setattr(self, p, vector(owner, f"position of {frame}", getattr(self, p), "m"))
            setattr(self, q, unit_quaternion(owner, f"orientation of {frame}", getattr(self, q)))
        for what, only in (("length", "distance"), ("pitch", "screw")):
            value = getattr(self, what)
            if self.type != only and value is not None:
                raise ModelError(f"{owner}: {what} is {show(value)}, but only {only} joints have one; remove it")
        if self.type == "distance":
            self.length = positive(owner, "length from at to at_b", self.length, "m")
        if self.type == "screw":
            expected = "a finite number other than 0 [m/rad]; for 0 use a revolute joint"
            self.pitch = number(owner, "pitch", self.pitch, expected, lambda x: x != 0 and math.isfinite(x))
        if not (self.loop is None or isinstance(self.loop, bool)):
            raise ModelError(f"{owner}: loop is {show(self.loop)}, expected True, False or None")
        self.contact = flag(owner, "contact", self.contact)
        if self.closed is not None and (self.type != "free" or not isinstance(self.closed, Mapping)):
            raise ModelError(f"{owner}: closed is {show(self.closed)}, expected what a free joint is when it is closed")
        names = [group.name for group in self.kind.groups]
        if sorted(self.features) != sorted(names):
            got = ", ".join(self.features) or "none"
            raise ModelError(f"{owner}: features of {got}, expected those of {', '.join(names) or 'none'}")
        for group in self.kind.groups:
            self.features[group.name].check(f"{owner} {group.name}", group)

    def group_of(self, code: int) -> Group:
        """The group that a freedom, or a limit's measure on a ball, belongs to."""
        own = next((group for group in self.kind.groups if code in group.freedoms), None)
        return own or next(group for group in self.kind.groups if group.is_ball)


@dataclass(eq=False)
class Spring:
    """A spring-damper along the line from a point of `first` to a point of `second`."""

    name: str
    first: str
    second: str
    p_PQ: np.ndarray  # the end on `first`, in its frame [m]
    p_CQ: np.ndarray  # the end on `second`, in its frame [m]
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    free_length: float  # [m]

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"spring '{check_name('spring', self.name)}'"
        self.p_PQ = vector(owner, "at_a", self.p_PQ, "m")
        self.p_CQ = vector(owner, "at_b", self.p_CQ, "m")
        self.stiffness = not_negative(owner, "stiffness", self.stiffness, "N/m")
        self.damping = not_negative(owner, "damping", self.damping, "N s/m")
        self.free_length = not_negative(owner, "free_length", self.free_length, "m")


@dataclass(eq=False)
class Load:
    """A force [N] at a point of a body and a torque [N m], along world or body axes."""

    name: str
    body: str
    force: Value
    torque: Value
    p_BQ: np.ndarray  # where the force acts [m]
    frame: str = "world"

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"load '{check_name('load', self.name)}'"
        self.p_BQ = vector(owner, "at", self.p_BQ, "m")
        check_value(owner, "force", self.force, 3)
        check_value(owner, "torque", self.torque, 3)
        if not isinstance(self.frame, str) or self.frame not in ("world", "body"):
            raise ModelError(f"{owner}: frame is {show(self.frame)}, expected 'world' or 'body'")


@dataclass(eq=False)
class Probe:
    """A point of a body, to be traced."""

    name: str
    body: str
    p_BQ: np.ndarray  # [m]

    def check(self) -> None:
        """Raise `ModelError` at a wrong field; make arrays of sequences."""
        owner = f"probe '{check_name('probe', self.name)}'"
        self.p_BQ = vector(owner, "at", self.p_BQ, "m")


@dataclass(eq=False)
class Distance:
    """The distance between a point of `first` and one of `second`, to be measured."""

    name: str
    first: str
    second: str
    p_PQ: np.ndarray  # on `first`, in its frame [m]
    p_CQ: np.ndarray  # on `second`, in its frame [m]

    def check(self) -> None:
        """Raise `ModelError` at a wrong field; make arrays of sequences."""
        owner = f"distance '{check_name('distance', self.name)}'"
        self.p_PQ, self.p_CQ = vector(owner, "at_a", self.p_PQ, "m"), vector(owner, "at_b", self.p_CQ, "m")


@dataclass(eq=False)
class Angle:
    """The angle between a line of `first`, from A to B, and one of `second`, to be measured."""

    name: str
    first: str
    second: str
    p_PA: np.ndarray  # on `first`, in its frame [m]
    p_PB: np.ndarray
    p_CA: np.ndarray  # on `second`, in its frame [m]
    p_CB: np.ndarray

    def check(self) -> None:
        """Raise `ModelError` at a wrong field; make arrays of sequences."""
        owner = f"angle '{check_name('angle', self.name)}'"
        for field_, what in (("p_PA", "from_a"), ("p_PB", "to_a"), ("p_CA", "from_b"), ("p_CB", "to_b")):
            setattr(self, field_, vector(owner, what, getattr(self, field_), "m"))
        if (self.p_PA == self.p_PB).all() or (self.p_CA == self.p_CB).all():
            raise ModelError(f"{owner}: a line begins where it ends; give two points that differ")


@dataclass(eq=False)
class Variable:
    """A parameter of the model: a number that sizes, places and other values are expressions of."""

    name: str  # a word, as it stands in expressions
    value: float
    minimum: float | None = None  # of its range; None: it has no end there
    maximum: float | None = None
    unit: str = ""  # as it is shown
    expression: str | None = None  # of other parameters, which the value then follows

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field."""
        owner = f"parameter '{check_name('parameter', self.name)}'"
        self.value = number(owner, "value", self.value)
        for what in ("minimum", "maximum"):
            if getattr(self, what) is not None:
                setattr(self, what, number(owner, what, getattr(self, what)))
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        if not low <= self.value <= high:
            raise ModelError(f"{owner}: value is {show(self.value)}, expected one from {show(low)} to {show(high)}")
        if not isinstance(self.unit, str) or len(self.unit) > LONGEST_NAME or not self.unit.isprintable():
            raise ModelError(f"{owner}: unit is {show(self.unit)}, expected a short text such as 'm'")
        if self.expression is not None:
            read_expression(owner, self.expression)


@dataclass(eq=False)
class Grouping:
    """Parts that go by one name: picked, moved, hidden, copied, mirrored and removed together."""

    name: str
    parts: tuple[str, ...]  # each once

    def check(self) -> None:
        """Raise `ModelError` at a wrong field."""
        owner = f"group '{check_name('group', self.name)}'"
        if not isinstance(self.parts, tuple | list) or not all(isinstance(part, str) for part in self.parts):
            raise ModelError(f"{owner}: parts are {show(self.parts)}, expected names of parts")
        self.parts = tuple(self.parts)
        if not self.parts or len(set(self.parts)) < len(self.parts):
            raise ModelError(f"{owner}: parts are {show(self.parts)}, expected one name or more, each once")


def joint_type_of(owner: str, type: object) -> JointType:
    if not isinstance(type, str) or type not in CATALOGUE:
        close = get_close_matches(type[:100] if isinstance(type, str) else "", list(CATALOGUE), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise ModelError(f"{owner}: no joint type {show(type)}; {hint}types are: {', '.join(CATALOGUE)}")
    return CATALOGUE[type]


# the table of part kinds --------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """Which values a parameter may have, element by element."""

    expected: str
    allows: Any  # of an array: where it holds
    may_be_infinite: bool = False


FINITE = Rule("a finite number", np.isfinite)
POSITIVE = Rule("> 0", lambda x: x >= TINY)
NOT_NEGATIVE = Rule(">= 0", lambda x: x >= 0)
BOUND = Rule(">= 0", lambda x: x >= 0, may_be_infinite=True)
HEIGHT = Rule("a number", lambda x: x > -np.inf, may_be_infinite=True)
DEPTH = Rule("> 0", lambda x: x >= TINY, may_be_infinite=True)
FRACTION = Rule("a number from 0 to 1", lambda x: (x >= 0) & (x <= 1))
NOT_ZERO = Rule("a number other than 0", lambda x: np.abs(x) >= TINY)
NOT_GIVEN = -1.0  # of an optional parameter in arrays; what is given is >= 0


@dataclass(frozen=True)
class Parameter:
    """A value of a part that `world.set("part.name", value)` changes while the mechanism runs."""

    name: str  # in the path, and of the field of the part or of a joint's Features
    unit: str  # {unit} and {force}: those of the joint's group
    array: str  # where kernels read it: a row for each part, or a letter of the slots below; "" for inputs
    slots: tuple[str, ...] = ()  # kinds of slots that have the letter, see engine/system/slots.py
    rule: Rule = FINITE
    inputs: tuple[int, int] | None = None  # of a value that may be a profile: its first and last input + 1
    optional: bool = False  # it may be None, "not given", which arrays hold as NOT_GIVEN
    at_least: str = ""  # parameter of the same part that it is not below, and is given with
    by_freedom: bool = False  # its array has a row for each freedom of the tree


@dataclass(frozen=True)
class Point:
    """A point that a part keeps in a body's frame, and its author gives in the world."""

    field: str  # of the part
    option: str  # of the call of Model
    body: str  # the field that names the body
    array: str  # where kernels read it


@dataclass(frozen=True)
class PartKind:
    """A kind of part: all that models, edits, files, the studio and the docs ask of it."""

    cls: type
    plural: str  # attribute of Model, and key of scene files
    refers: Mapping[str, str] = field(default_factory=dict)  # field: kind of part it names, "body or obstacle"
    parameters: tuple[Parameter, ...] = ()
    points: tuple[Point, ...] = ()
    arrays: tuple[str, ...] = ()  # further arrays that have a row for each part
    slot: int = -1  # code of the slot that each part has, -1: it has none; see engine/system/slots.py
    lists: str = ""  # field with names of parts of any kind, which it is no longer of when they go
    drawn: bool = True  # whether clients are told of it as a part; what acts is told apart

    @property
    def numbers(self) -> tuple[Parameter, ...]:
        """Parameters that have arrays with a row for each part."""
        return tuple(own for own in self.parameters if own.array and not own.slots and not own.by_freedom)

    def named(self, part: Any) -> list[tuple[str, str, Any]]:
        """What a part refers to: field, kind of part and name; of a coupling all of its joints."""
        found = [(what, kinds, getattr(part, what)) for what, kinds in self.refers.items()]
        return found + [("more", "joint", joint) for joint in (part.joints[2:] if isinstance(part, Coupling) else ())]

    def goes_with(self, part: Any, lost: set[tuple[str, str]]) -> bool:
        """Whether a part names one of those that are lost (kind, name), and goes where that goes."""
        named = [(kind, name) for _, kinds, name in self.named(part) for kind in kinds.split(" or ")]
        return not lost.isdisjoint(named)

    def parameter(self, name: str) -> Parameter | None:
        """A parameter by name."""
        return next((own for own in self.parameters if own.name == name), None)

    def letters(self, part: Any) -> dict[str, float]:
        """What a, b, c and d of a part's slot are."""
        return {own.array[-1]: getattr(part, own.name) for own in self.parameters if own.slots}


OF_TERM = "more_weight"  # array of the weights of couplings of several joints, a row for each


def weight_of(coordinate: str) -> Parameter:
    """The parameter of a coupling that a coordinate's weight is."""
    return Parameter(coordinate, "1", OF_TERM)


OF_JOINTS = ("p_PF", "q_PF", "p_CM", "q_CM", "R_PF", "R_CM", "pitch", "length")
SOFTNESS = (
    Parameter("stiffness", "{force}/{unit}", "slot_a", ("compliance",), NOT_NEGATIVE),
    Parameter("damping", "{force} s/{unit}", "slot_b", ("compliance",), NOT_NEGATIVE),
    Parameter("rest", "{unit}", "slot_c", ("compliance",)),
    Parameter("viscous", "{force} s/{unit}", "slot_d", ("compliance",), NOT_NEGATIVE),
)


def _surface(array: str, optional: tuple[str, ...]) -> tuple[Parameter, ...]:
    """The parameters of a material or of a pair of them."""
    units = {"friction": "1", "static": "1", "restitution": "1", "rolling": "m", "spinning": "m"}
    return tuple(
        Parameter(
            name,
            unit,
            f"{array}_{name}",
            rule=FRACTION if name == "restitution" else NOT_NEGATIVE,
            optional=name in optional,
            at_least="friction" if name == "static" else "",
        )
        for name, unit in units.items()
    )


PARTS: dict[str, PartKind] = {
    "body": PartKind(
        Body,
        "bodies",
        {"material": "material"},
        parameters=(Parameter("mass", "kg", "mass", rule=POSITIVE), Parameter("inertia", "kg m²", "inertia")),
    ),
    "joint": PartKind(
        Joint,
        "joints",
        {"first": "body", "second": "body"},
        (
            Parameter("lower", "{unit}", "slot_a", ("lower limit",)),
            Parameter("upper", "{unit}", "slot_a", ("upper limit",)),
            Parameter("swing", "rad", "slot_a", ("swing limit",), NOT_NEGATIVE),
            Parameter("restitution", "1", "slot_b", ("lower limit", "upper limit", "swing limit"), FRACTION),
            Parameter("friction", "{force}", "slot_a", ("friction",), NOT_NEGATIVE),
            Parameter("static_friction", "{force}", "slot_b", ("friction",), NOT_NEGATIVE),
            Parameter("max_torque", "{force}", "slot_a", ("motor", "servo"), BOUND),
            Parameter("kp", "{force}/{unit}", "slot_b", ("servo",), NOT_NEGATIVE),
            Parameter("kv", "{force} s/{unit}", "slot_c", ("servo",), NOT_NEGATIVE),
            *SOFTNESS,
            Parameter("armature", "{inertia}", "armature", rule=NOT_NEGATIVE, by_freedom=True),
        ),
        arrays=OF_JOINTS,
    ),
    "spring": PartKind(
        Spring,
        "springs",
        {"first": "body", "second": "body"},
        (
            Parameter("stiffness", "N/m", "slot_a", ("spring",), NOT_NEGATIVE),
            Parameter("damping", "N s/m", "slot_b", ("spring",), NOT_NEGATIVE),
            Parameter("free_length", "m", "slot_c", ("spring",), NOT_NEGATIVE),
        ),
        (Point("p_PQ", "at_a", "first", "spring_p_first"), Point("p_CQ", "at_b", "second", "spring_p_second")),
        slot=8,
    ),
    "load": PartKind(
        Load,
        "loads",
        {"body": "body"},
        (Parameter("force", "N", "", inputs=(0, 3)), Parameter("torque", "N m", "", inputs=(3, 6))),
        (Point("p_BQ", "at", "body", "load_point"),),
        drawn=False,
    ),
    "probe": PartKind(Probe, "probes", {"body": "body"}, points=(Point("p_BQ", "at", "body", ""),)),
    "distance": PartKind(
        Distance,
        "distances",
        {"first": "body", "second": "body"},
        points=(Point("p_PQ", "at_a", "first", ""), Point("p_CQ", "at_b", "second", "")),
    ),
    "angle": PartKind(
        Angle,
        "angles",
        {"first": "body", "second": "body"},
        points=(
            *(Point("p_PA", "from_a", "first", ""), Point("p_PB", "to_a", "first", "")),
            *(Point("p_CA", "from_b", "second", ""), Point("p_CB", "to_b", "second", "")),
        ),
    ),
    "coupling": PartKind(
        Coupling,
        "couplings",
        {"joint_a": "joint", "joint_b": "joint"},
        (
            Parameter("ratio", "1", "slot_b", ("coupling",), NOT_ZERO),
            Parameter("offset", "rad, m", "slot_c", ("coupling",)),
        ),
        slot=10,
    ),
    "material": PartKind(Material, "materials", parameters=_surface("material", ("static",))),
    "material_pair": PartKind(
        MaterialPair,
        "material_pairs",
        {"a": "material", "b": "material"},
        _surface("pair", ("friction", "static", "restitution", "rolling", "spinning")),
    ),
    "parameter": PartKind(Variable, "parameters", drawn=False),
    "obstacle": PartKind(Obstacle, "obstacles", {"material": "material"}),
    "fluid": PartKind(
        Fluid,
        "fluids",
        parameters=(
            Parameter("density", "kg/m³", "fluid_density", rule=NOT_NEGATIVE),
            Parameter("viscosity", "Pa s", "fluid_viscosity", rule=NOT_NEGATIVE),
            Parameter("surface", "m", "fluid_surface", rule=HEIGHT),
            Parameter("current", "m/s", "", inputs=(0, 3)),
            Parameter("drag", "1", "fluid_drag", rule=NOT_NEGATIVE, optional=True),
            Parameter("wave_amplitude", "m", "fluid_wave_amplitude", rule=NOT_NEGATIVE),
            Parameter("wave_number", "1/m", "fluid_wave_number", rule=NOT_NEGATIVE),
            Parameter("wave_direction", "rad", "fluid_wave_direction"),
            Parameter("wave_phase", "rad", "fluid_wave_phase"),
            Parameter("depth", "m", "fluid_depth", rule=DEPTH),
        ),
    ),
    "no_contact": PartKind(NoContact, "no_contacts", {"a": "body or obstacle", "b": "body or obstacle"}),
    "group": PartKind(Grouping, "groups", lists="parts"),
    "keyframe": PartKind(Keyframe, "keyframes", drawn=False),
}


def value_of(part: Any, what: str, groups: tuple[str, ...] = ()) -> Any:
    """The value of a parameter of a part; of a joint in the first of the groups, None where that is without."""
    if isinstance(part, Coupling) and what in part.more:
        return part.more[what]
    if not isinstance(part, Joint):
        return getattr(part, what)
    own = part.features[groups[0]]
    if what in ("lower", "upper"):
        return own.limits and own.limits[what == "upper"]
    if what in ("max_torque", "kp", "kv"):
        return own.motor and getattr(own.motor, what)
    return getattr(own, what)


def changed(part: Any, what: str, value: Any, groups: tuple[str, ...] = ()) -> Any:
    """A new part with one of its parameters set; of a joint in some of its groups."""
    if isinstance(part, Joint):
        return replace(part, features=part.features | {g: part.features[g].changed(what, value) for g in groups})
    if isinstance(part, Body):  # what is given follows no density
        return replace(part, **{what: value}, density=None)
    if isinstance(part, Coupling) and what in part.more:
        return replace(part, more=part.more | {what: value})
    return replace(part, **{what: value})
