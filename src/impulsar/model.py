"""What a user authors: bodies, joints, springs, loads, probes and couplings, one part at a time.

Points and axes in the calls of `Model` are world coordinates at the authored pose; the parts store
them in the frames of their bodies. A body's frame B has its origin at the centre of mass; ground's
frame is the world W. Symbols of a joint as in `joints`: F on its first body P, M on its second C.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from impulsar import joints as codes
from impulsar.inputs import Value, is_number, scalar_profiles
from impulsar.joints import CATALOGUE, Group, JointType
from impulsar.shapes import (  # noqa: F401  the shapes are part of what a user authors
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    ModelError,
    Shape,
    Sphere,
    Vector,
    conjugate,
    frame_from_axes,
    inertia_tensor,
    multiply,
    not_negative,
    number,
    ordered_pair,
    positive,
    rotation_matrix,
    shape_list,
    show,
    uniform_solid,
    unit_quaternion,
    vector,
)

Frame = tuple[Vector, Vector]  # position [m] and orientation (xyzw) in the body's frame
NO_AXIS = ("fixed", "spherical", "distance", "free")
TWO_AXES = {"pin-slot": "the slot's direction", "universal": "the second shaft"}
GAP = 1e-6  # how far joint frames may miss each other along locked directions [m, rad]


@dataclass(eq=False)
class Body:
    """A rigid body. Its frame B has the origin at the centre of mass."""

    name: str
    mass: float  # [kg]; ground has 0 and is never integrated
    inertia: np.ndarray  # (3, 3) about the centre of mass, body axes [kg m²]
    position: np.ndarray  # p_WB [m]
    orientation: np.ndarray  # q_WB, unit, xyzw
    velocity: np.ndarray  # v_WB [m/s]
    angular_velocity: np.ndarray  # w_WB, world axes [rad/s]
    shapes: list[Shape] = field(default_factory=list)

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"body '{self.name}'"
        self.mass = positive(owner, "mass", self.mass, "kg")
        self.inertia = inertia_tensor(owner, self.inertia)
        self.position = vector(owner, "position", self.position, "m")
        self.orientation = unit_quaternion(owner, "orientation", self.orientation)
        self.velocity = vector(owner, "velocity", self.velocity, "m/s")
        self.angular_velocity = vector(owner, "angular_velocity", self.angular_velocity, "rad/s")
        self.shapes = shape_list(owner, self.shapes)

    def point(self, p_WQ: np.ndarray) -> np.ndarray:
        """p_BQ [m] of a world point at the authored pose."""
        return rotation_matrix(self.orientation).T @ (p_WQ - self.position)

    def world_point(self, p_BQ: np.ndarray) -> np.ndarray:
        """p_WQ [m] of a point of the body at the authored pose."""
        return self.position + rotation_matrix(self.orientation) @ p_BQ


@dataclass(eq=False)
class Motor:
    """Drives one group of a joint by exactly one of speed [rad/s, m/s], position [rad, m] or torque
    [N m, N], never with more than `max_torque`. On a ball, speed and torque are 3-vectors along F."""

    speed: Value | None = None
    position: Value | None = None
    torque: Value | None = None
    max_torque: float = math.inf

    def __post_init__(self) -> None:
        self.check("motor", None)

    def check(self, owner: str, group: Group | None) -> None:
        """Raise `ModelError` if this motor cannot drive `group` (None: not yet in a joint)."""
        given = {k: v for k in ("speed", "position", "torque") if (v := getattr(self, k)) is not None}
        if len(given) != 1:
            got = ", ".join(f"{what}={show(value)}" for what, value in given.items()) or "none"
            raise ModelError(f"{owner}: got {got}; give a motor exactly one of speed, position and torque")
        expected = "a number >= 0 [N m or N], or inf"
        self.max_torque = number(owner, "max_torque", self.max_torque, expected, lambda x: x >= 0)
        if group is None:
            return
        ((what, value),) = given.items()
        if group.is_ball and what == "position":
            raise ModelError(
                f"{owner}: motor position is {show(value)}, but the ball '{group.name}' has no such motor; "
                "give speed or torque as 3 numbers"
            )
        _value(owner, f"motor {what}", value, 3 if group.is_ball else 1)


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
    viscous: float = 0.0  # [N s/m, N m s/rad]
    motor: Motor | None = None
    stiffness: float = 0.0  # [N/m, N m/rad]
    damping: float = 0.0  # [N s/m, N m s/rad]
    rest: float = 0.0  # coordinate where the spring is free [m, rad]

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
        self.viscous = not_negative(owner, "viscous", self.viscous, f"{force} s/{unit}")
        self.stiffness = not_negative(owner, "stiffness", self.stiffness, f"{force}/{unit}")
        self.damping = not_negative(owner, "damping", self.damping, f"{force} s/{unit}")
        self.rest = number(owner, "rest", self.rest, f"a finite number [{unit}]")
        if group.is_ball and self.rest != 0:
            raise ModelError(f"{owner}: rest is {show(self.rest)}, but a ball's spring rests at 0; give 0")
        if self.motor is not None:
            if not isinstance(self.motor, Motor):
                raise ModelError(f"{owner}: motor is {show(self.motor)}, expected a Motor(speed=...)")
            self.motor.check(owner, group)


def _value(owner: str, what: str, value: Value, size: int) -> None:
    try:
        scalar_profiles(value, size)
    except ValueError as error:
        raise ModelError(f"{owner}: {what}: {error}") from error


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

    @property
    def kind(self) -> JointType:
        """This joint's line of the catalogue."""
        return CATALOGUE[self.type]

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"joint '{self.name}'"
        _joint_type(owner, self.type)
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
        names = [group.name for group in self.kind.groups]
        if sorted(self.features) != sorted(names):
            got = ", ".join(self.features) or "none"
            raise ModelError(f"{owner}: features of {got}, expected those of {', '.join(names) or 'none'}")
        for group in self.kind.groups:
            self.features[group.name].check(f"{owner} {group.name}", group)


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
        owner = f"spring '{self.name}'"
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
        owner = f"load '{self.name}'"
        self.p_BQ = vector(owner, "at", self.p_BQ, "m")
        _value(owner, "force", self.force, 3)
        _value(owner, "torque", self.torque, 3)
        if self.frame not in ("world", "body"):
            raise ModelError(f"{owner}: frame is {self.frame!r}, expected 'world' or 'body'")


@dataclass(eq=False)
class Probe:
    """A point of a body, to be traced."""

    name: str
    body: str
    p_BQ: np.ndarray  # [m]

    def check(self) -> None:
        """Raise `ModelError` at a wrong field; make arrays of sequences."""
        self.p_BQ = vector(f"probe '{self.name}'", "at", self.p_BQ, "m")


@dataclass(eq=False)
class Coupling:
    """Keeps coordinate b = ratio · coordinate a: gear, repeater; rack and pinion with a slide."""

    name: str
    joint_a: str
    group_a: str
    joint_b: str
    group_b: str
    ratio: float  # unit of b per unit of a

    def check(self) -> None:
        """Raise `ModelError` at a wrong field."""
        owner = f"coupling '{self.name}'"
        expected = "a finite number other than 0"
        self.ratio = number(owner, "ratio", self.ratio, expected, lambda x: x != 0 and math.isfinite(x))
        if (self.joint_a, self.group_a) == (self.joint_b, self.group_b):
            raise ModelError(f"{owner}: couples {self.group_a} of '{self.joint_a}' to itself; give another")


class Model:
    """A mechanism as authored. `gravity` [m/s²] in world axes.

    `horizon` [s] until when solutions of different methods can be compared, `reference_energy` [J],
    `duration` [s] and `dt` [s] are a scene's own figures, None where it states none.
    """

    def __init__(self, name: str = "model", gravity: Vector = (0.0, 0.0, -9.81)) -> None:
        self.name = name
        self.gravity = vector(f"model '{name}'", "gravity", gravity, "m/s²")
        still = (np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))
        self.ground = Body("ground", 0.0, np.zeros((3, 3)), *still)
        self.bodies: dict[str, Body] = {}  # without ground
        self.joints: dict[str, Joint] = {}
        self.springs: dict[str, Spring] = {}
        self.loads: dict[str, Load] = {}
        self.probes: dict[str, Probe] = {}
        self.couplings: dict[str, Coupling] = {}
        self.script: list[tuple[float, object]] = []
        self.horizon: float | None = None
        self.reference_energy: float | None = None
        self.duration: float | None = None
        self.dt: float | None = None

    def at(self, time: float, edit: object) -> None:
        """Have `edit` applied at `time` [s] of a run."""
        self.script.append((not_negative(f"model '{self.name}'", "time of a script's edit", time, "s"), edit))

    def body(
        self,
        name: str,
        mass: float | None = None,
        inertia: Vector | Sequence[Vector] | None = None,
        position: Vector = (0.0, 0.0, 0.0),
        orientation: Vector = (0.0, 0.0, 0.0, 1.0),
        velocity: Vector = (0.0, 0.0, 0.0),
        angular_velocity: Vector = (0.0, 0.0, 0.0),
        shape: Shape | Sequence[Shape] | None = None,
        density: float | None = None,
    ) -> Body:
        """Add a rigid body: mass [kg] and inertia [kg m²], or shape and density [kg/m³], or shape and mass.

        `inertia` is three principal values or a 3x3 tensor about the centre of mass, body axes.
        `position` [m] is that of the centre of mass: where the shapes give the inertia, their offsets
        are taken anew from their centroid. Velocities [m/s, rad/s] are in world axes.
        """
        owner = self._claim("body", name, self.bodies)
        shapes = shape_list(owner, shape)
        if inertia is None:
            mass, tensor, shapes = uniform_solid(owner, mass, shapes, density)
        elif density is not None:
            raise ModelError(f"{owner}: density is {show(density)}, but inertia is given too; give one of them")
        else:
            tensor = inertia_tensor(owner, inertia)
        body = Body(
            name,
            positive(owner, "mass", mass, "kg"),
            tensor,
            vector(owner, "position", position, "m"),
            unit_quaternion(owner, "orientation", orientation),
            vector(owner, "velocity", velocity, "m/s"),
            vector(owner, "angular_velocity", angular_velocity, "rad/s"),
            shapes,
        )
        self.bodies[name] = body
        return body

    def joint(
        self,
        name: str,
        type: str,
        first: Body | str,
        second: Body | str,
        at: Vector | None = None,
        axis: Vector | None = None,
        axis2: Vector | None = None,
        at_b: Vector | None = None,
        frame_a: Frame | None = None,
        frame_b: Frame | None = None,
        limits: object = None,
        limit_restitution: float | dict[str, float] = 0.0,
        friction: float | dict[str, float] = 0.0,
        viscous: float | dict[str, float] = 0.0,
        motor: Motor | dict[str, Motor] | None = None,
        stiffness: float | dict[str, float] = 0.0,
        damping: float | dict[str, float] = 0.0,
        rest: float | dict[str, float] = 0.0,
        pitch: float | None = None,
        loop: bool | None = None,
    ) -> Joint:
        """Join `second` to `first` by a type of the catalogue.

        Placed by the world point `at` [m], `axis` (z of the joint's frame) and `axis2` (its x: the slot
        of a pin-slot, the second shaft of a universal joint); a distance joint by `at` on the first
        and `at_b` on the second body; or by `frame_a` and `frame_b`, each (position, orientation
        xyzw) in the body's own frame. `pitch` [m/rad] of a screw.

        A feature is a plain value where the type has one group, else a dict by group name:
        `friction={"slide": 1.0, "angle": 0.01}`. Limits are (lower, upper) [m, rad], of a ball
        {"swing": half angle, "twist": (lower, upper)}. Units of the others: see `Features`.
        """
        owner = self._claim("joint", name, self.joints)
        kind = _joint_type(owner, type)
        P, C = self._pair(owner, first, second)
        if frame_a is not None or frame_b is not None:
            if not all(value is None for value in (at, axis, axis2, at_b)):
                raise ModelError(f"{owner}: has both points and frames; give at and axis, or the frames")
            F, M = (_frame(owner, w, f) for w, f in (("frame_a", frame_a), ("frame_b", frame_b)))
        else:
            F, M = _place(owner, type, P, C, at, axis, axis2, at_b)
        length = None
        if type == "distance":
            length = float(np.linalg.norm(C.world_point(M[0]) - P.world_point(F[0])))
        given = {
            "limits": limits,
            "restitution": limit_restitution,
            "friction": friction,
            "viscous": viscous,
            "motor": motor,
            "stiffness": stiffness,
            "damping": damping,
            "rest": rest,
        }
        features = _features(owner, kind, given)
        joint = Joint(name, type, P.name, C.name, *F, *M, length, pitch, loop, features)
        joint.check()
        self.joints[name] = joint
        return joint

    def coupling(
        self,
        name: str,
        joint_a: Joint | str,
        joint_b: Joint | str,
        ratio: float = 1.0,
        group_a: str | None = None,
        group_b: str | None = None,
    ) -> Coupling:
        """Keep coordinate_b = ratio · coordinate_a; with one slide, `ratio` is in m/rad or rad/m."""
        owner = self._claim("coupling", name, self.couplings)
        a, b = self._joint(owner, joint_a), self._joint(owner, joint_b)
        group_a, group_b = _single(owner, a, group_a), _single(owner, b, group_b)
        coupling = Coupling(name, a.name, group_a, b.name, group_b, ratio)
        coupling.check()
        self.couplings[name] = coupling
        return coupling

    def spring(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        at_a: Vector,
        at_b: Vector,
        stiffness: float,
        damping: float = 0.0,
        free_length: float | None = None,
    ) -> Spring:
        """Add a spring [N/m] and damper [N s/m] between the world points `at_a` on the first body and
        `at_b` on the second; `free_length` [m] is their authored distance if not given."""
        owner = self._claim("spring", name, self.springs)
        P, C = self._pair(owner, first, second)
        p_WA, p_WB = vector(owner, "at_a", at_a, "m"), vector(owner, "at_b", at_b, "m")
        free = float(np.linalg.norm(p_WB - p_WA)) if free_length is None else free_length
        spring = Spring(name, P.name, C.name, P.point(p_WA), C.point(p_WB), stiffness, damping, free)
        spring.check()
        self._check_ends(spring)
        self.springs[name] = spring
        return spring

    def load(
        self,
        name: str,
        body: Body | str,
        force: Value = (0.0, 0.0, 0.0),
        torque: Value = (0.0, 0.0, 0.0),
        at: Vector | None = None,
        frame: str = "world",
    ) -> Load:
        """Load a body by force [N] at the world point `at` (default: the centre of mass) and torque
        [N m]; numbers, profiles or callables of time, along the axes of `frame`, "world" or "body"."""
        owner = self._claim("load", name, self.loads)
        target = self._moving(owner, body)
        p_BQ = np.zeros(3) if at is None else target.point(vector(owner, "at", at, "m"))
        load = Load(name, target.name, force, torque, p_BQ, frame)
        load.check()
        self.loads[name] = load
        return load

    def probe(self, name: str, body: Body | str, at: Vector) -> Probe:
        """Trace the point of a body that is at the world point `at` [m] in the authored pose."""
        owner = self._claim("probe", name, self.probes)
        target = self._body(owner, body)
        probe = Probe(name, target.name, target.point(vector(owner, "at", at, "m")))
        self.probes[name] = probe
        return probe

    def check(self, meeting: bool = True) -> None:
        """Raise `ModelError` at the first mistake of the whole model; the builder calls it.

        meeting=False lets joints be open at the authored pose, for `analysis.assemble` to close.
        """
        owner = f"model '{self.name}'"
        self.gravity = vector(owner, "gravity", self.gravity, "m/s²")
        if not self.bodies:
            raise ModelError(f"{owner}: has no bodies; add one by model.body(name, mass=..., inertia=...)")
        if np.any(self.ground.position) or abs(self.ground.orientation[3]) != 1:
            raise ModelError("body 'ground': was moved; its frame is the world, fix a body to it instead")
        for parts in (self.bodies, self.joints, self.springs, self.loads, self.probes, self.couplings):
            for name, part in parts.items():
                if part.name != name:
                    kind = type(part).__name__.lower()
                    raise ModelError(f"{kind} '{name}': is renamed {part.name!r}; add a new {kind} instead")
                part.check()
        for joint in self.joints.values():
            self._pair(f"joint '{joint.name}'", joint.first, joint.second)
            if meeting:
                self._check_meeting(joint)
        for spring in self.springs.values():
            self._check_ends(spring)
        for load in self.loads.values():
            self._moving(f"load '{load.name}'", load.body)
        for probe in self.probes.values():
            self._body(f"probe '{probe.name}'", probe.body)
        for coupling in self.couplings.values():
            owner = f"coupling '{coupling.name}'"
            _single(owner, self._joint(owner, coupling.joint_a), coupling.group_a)
            _single(owner, self._joint(owner, coupling.joint_b), coupling.group_b)

    def _claim(self, kind: str, name: str, parts: dict) -> str:
        """How errors call a new part, if its name is free."""
        if not isinstance(name, str) or not name:
            raise ModelError(f"{kind} {name!r}: name is {show(name)}, expected a string that is not empty")
        if name in parts or (kind == "body" and name == "ground"):
            taken = "reserved for the world" if name == "ground" else "taken"
            raise ModelError(f"{kind} '{name}': the name is {taken}; choose another")
        return f"{kind} '{name}'"

    def _body(self, owner: str, body: Body | str) -> Body:
        known = {"ground": self.ground, **self.bodies}
        if isinstance(body, Body):
            if known.get(body.name) is not body:
                raise ModelError(f"{owner}: body '{body.name}' is not of this model; add it by model.body")
            return body
        if not isinstance(body, str) or body not in known:
            raise ModelError(f"{owner}: no body named {show(body)}; {_closest(body, known)}")
        return known[body]

    def _moving(self, owner: str, body: Body | str) -> Body:
        target = self._body(owner, body)
        if target is self.ground:
            raise ModelError(f"{owner}: acts on 'ground', which does not move; give another body")
        return target

    def _pair(self, owner: str, first: Body | str, second: Body | str) -> tuple[Body, Body]:
        P, C = self._body(owner, first), self._body(owner, second)
        if P is C:
            raise ModelError(f"{owner}: goes from body '{P.name}' to itself; give two bodies")
        return P, C

    def _joint(self, owner: str, joint: Joint | str) -> Joint:
        name = joint.name if isinstance(joint, Joint) else joint
        if not isinstance(name, str) or name not in self.joints:
            raise ModelError(f"{owner}: no joint named {show(name)}; {_closest(name, self.joints)}")
        return self.joints[name]

    def _check_ends(self, spring: Spring) -> None:
        owner = f"spring '{spring.name}'"
        P, C = self._pair(owner, spring.first, spring.second)
        apart = np.linalg.norm(C.world_point(spring.p_CQ) - P.world_point(spring.p_PQ))
        if spring.free_length > 0 and apart < 1e-9 * spring.free_length:
            raise ModelError(
                f"{owner}: its ends coincide, so that free_length {show(spring.free_length)} m has no "
                "direction; move at_b or give free_length=0"
            )

    def _check_meeting(self, joint: Joint) -> None:
        owner = f"joint '{joint.name}'"
        P, C = self._pair(owner, joint.first, joint.second)
        far, turned = frame_gap(joint, P, C)
        if far > GAP or turned > GAP:
            raise ModelError(
                f"{owner}: frames do not meet at the authored pose: {far:.3g} m and {turned:.3g} rad apart "
                f"where a {joint.type} joint is locked; move body '{C.name}' or correct the frames"
            )


def frame_gap(joint: Joint, P: Body, C: Body) -> tuple[float, float]:
    """How far a joint's frames are apart at the authored pose along what it locks [m, rad]."""
    q_WF = multiply(P.orientation, joint.q_PF)
    q_FM = multiply(conjugate(q_WF), multiply(C.orientation, joint.q_CM))
    p_FM = rotation_matrix(q_WF).T @ (C.world_point(joint.p_CM) - P.world_point(joint.p_PF))
    R_FM = rotation_matrix(q_FM)
    sine = np.linalg.norm(q_FM[:3])
    turn = q_FM[:3] * (2 * math.atan2(sine, abs(q_FM[3])) / sine if sine > 0 else 2.0)
    tilt = math.atan2(math.hypot(R_FM[0, 2], R_FM[1, 2]), R_FM[2, 2])  # of M's z from F's z
    metres, radians = [], []
    for lock in joint.kind.locks:
        if lock in codes.ALL_SLIDES:
            metres.append(p_FM[lock - codes.LOCK_X])
        elif lock in codes.ALL_TURNS:
            radians.append(turn[lock - codes.LOCK_RX])
        elif lock == codes.ALIGN_X:  # ALIGN_Y never comes without it, and `tilt` is the norm of both
            radians.append(tilt)
        elif lock == codes.CROSS:
            radians.append(math.asin(min(1.0, max(-1.0, R_FM[2, 0]))))
        elif lock == codes.THREAD:
            metres.append(p_FM[2] - (joint.pitch or 0.0) * math.atan2(R_FM[1, 0], R_FM[0, 0]))
        elif lock == codes.LENGTH:
            metres.append(np.linalg.norm(p_FM) - (joint.length or 0.0))
    return math.hypot(*metres), math.hypot(*radians)


def _closest(name: object, known: dict) -> str:
    close = get_close_matches(str(name), list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(known) or 'none'}"


def _joint_type(owner: str, type: object) -> JointType:
    if not isinstance(type, str) or type not in CATALOGUE:
        close = get_close_matches(str(type), list(CATALOGUE), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise ModelError(f"{owner}: no joint type {show(type)}; {hint}types are: {', '.join(CATALOGUE)}")
    return CATALOGUE[type]


def _single(owner: str, joint: Joint, group: str | None) -> str:
    """The group of one freedom that a coupling takes, the joint's only one by default."""
    names = [entry.name for entry in joint.kind.groups if not entry.is_ball]
    if group is None and len(names) == 1 and len(joint.kind.groups) == 1:
        return names[0]
    if group not in names:
        raise ModelError(
            f"{owner}: group is {show(group)}, but joint '{joint.name}' ({joint.type}) can be coupled by: "
            f"{', '.join(names) or 'nothing; use a joint with a slide or an angle'}"
        )
    return group


def _frame(owner: str, what: str, frame: Frame | None) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(frame, tuple | list) or len(frame) != 2:
        raise ModelError(f"{owner}: {what} is {show(frame)}, expected (position, orientation xyzw)")
    position = vector(owner, f"position of {what}", frame[0], "m")
    return position, unit_quaternion(owner, f"orientation of {what}", frame[1])


def _place(
    owner: str,
    type: str,
    P: Body,
    C: Body,
    at: Vector | None,
    axis: Vector | None,
    axis2: Vector | None,
    at_b: Vector | None,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Frames F on P and M on C from world points and axes."""
    if at is None:
        if type != "free":
            raise ModelError(f"{owner}: at is None, expected 3 numbers [m], or frame_a and frame_b")
        at = C.position
    if (at_b is None) == (type == "distance"):
        raise ModelError(f"{owner}: at_b is {show(at_b)}; a distance joint needs it, no other takes it")
    if type == "distance" and not (axis is None and axis2 is None):
        raise ModelError(f"{owner}: axis is {show(axis)}, but a distance joint has none; remove it")
    if axis is None and type not in NO_AXIS:
        raise ModelError(f"{owner}: axis is None, but a {type} joint needs one; give 3 numbers in world axes")
    if axis2 is None and type in TWO_AXES:
        raise ModelError(f"{owner}: axis2 is None, expected 3 numbers: {TWO_AXES[type]}")
    p_WF = vector(owner, "at", at, "m")
    p_WM = p_WF if at_b is None else vector(owner, "at_b", at_b, "m")
    q_WF = frame_from_axes(owner, (0.0, 0.0, 1.0) if axis is None else axis, axis2)
    q_PF, q_CM = multiply(conjugate(P.orientation), q_WF), multiply(conjugate(C.orientation), q_WF)
    return (P.point(p_WF), q_PF), (C.point(p_WM), q_CM)


def _features(owner: str, kind: JointType, given: dict[str, object]) -> dict[str, Features]:
    """The features of every group of a joint type, from what a user gave for the joint."""
    features = {group.name: Features() for group in kind.groups}
    for what, value in given.items():
        for name, item in _by_group(owner, kind, what, value).items():
            if what == "limits" and kind.group(name).is_ball:
                features[name].swing, features[name].limits = _ball_limits(owner, item)
            else:
                setattr(features[name], what, item)
    return features


def _by_group(owner: str, kind: JointType, what: str, value: object) -> dict[str, object]:
    """One feature's values by group name; empty if the value is the default."""
    if value is None or (is_number(value) and value == 0):
        return {}
    names = [group.name for group in kind.groups]
    listed = ", ".join(names)
    label = "limit_restitution" if what == "restitution" else what
    if not names:
        raise ModelError(f"{owner}: {label} is {show(value)}, but a {kind.name} joint has none; remove it")
    is_ball_limit = what == "limits" and isinstance(value, dict) and set(value) <= {"swing", "twist"}
    if isinstance(value, dict) and not is_ball_limit:
        for name in value:
            if name not in names:
                raise ModelError(f"{owner}: {label} of {show(name)}; groups of a {kind.name} joint: {listed}")
        return value
    if len(names) > 1:
        raise ModelError(
            f"{owner}: {label} is {show(value)}, but a {kind.name} joint has several groups: {listed}; "
            f"give {label}={{'{names[0]}': ...}}"
        )
    return {names[0]: value}


def _ball_limits(owner: str, value: object) -> tuple[Any, Any]:
    """Swing and twist of a ball, as given."""
    if value is None:
        return None, None
    if not isinstance(value, dict) or not value or not set(value) <= {"swing", "twist"}:
        cure = "expected {'swing': half angle, 'twist': (lower, upper)} [rad] for a ball"
        raise ModelError(f"{owner}: limits is {show(value)}, {cure}")
    return value.get("swing"), value.get("twist")
