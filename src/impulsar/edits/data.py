"""The edits, one dataclass each: plain data, which a file or a message can hold.

Points given as `at` are in the body's own frame, from its centre of mass [m]; inside `options` and
`changes`, which are keyword arguments of the calls of `Model`, they are world coordinates at the
present pose.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..author.parts import Motor
from ..author.profiles import Value


@dataclass(frozen=True)
class Edit:
    """A change to a running world."""


@dataclass(frozen=True)
class Grab(Edit):
    """Take hold of a body's point by a spring [N/m] and damper [N s/m] (Mariti 2012 eq. 10), and of its orientation by
    angular ones [N m/rad, N m s/rad]; 0: it may turn as it likes."""

    hand: str
    body: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stiffness: float = 1000.0
    damping: float = 1.0
    angular_stiffness: float = 0.0
    angular_damping: float = 0.0


@dataclass(frozen=True)
class Grip(Edit):
    """Give a hand that holds a body other springs and dampers, in the units of Grab; None: as it is.

    It goes on from where it is; what begins to turn begins with the body's orientation.
    """

    hand: str
    stiffness: float | None = None
    damping: float | None = None
    angular_stiffness: float | None = None
    angular_damping: float | None = None


@dataclass(frozen=True)
class Move(Edit):
    """Send a hand to a world point [m], or along a profile; a Ramp or Smooth without start begins where the hand is.

    turn: rotation vector [rad] from the world's axes to those that the body it holds should have, or a profile of one;
    None: on as before.
    """

    hand: str
    target: Value | None
    turn: Value | None = None


@dataclass(frozen=True)
class Release(Edit):
    """Let go. The energy left in the hand's spring is booked to the hand."""

    hand: str


@dataclass(frozen=True)
class Push(Edit):
    """Put a sphere into the world that pushes what it meets and never sticks: a hand that holds nothing.

    Move sends it somewhere, Release takes it away.
    """

    hand: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the world [m]
    radius: float = 0.01  # [m]
    force: float = 50.0  # the most along each axis of the world [N]
    mass: float | None = None  # its own [kg]; None: a tenth of that of the lightest body that it can push


@dataclass(frozen=True)
class ApplyLoad(Edit):
    """Put a load on a body, or change the one of that name."""

    name: str
    body: str
    force: Value = (0.0, 0.0, 0.0)
    torque: Value = (0.0, 0.0, 0.0)
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame: str = "world"


@dataclass(frozen=True)
class RemoveLoad(Edit):
    """Take a load away; its work stays in the books."""

    name: str


@dataclass(frozen=True)
class SetParameter(Edit):
    """Set "part.parameter" to a value, or to one value per world; "a.value" of a parameter "a" of the model, and with
    it all that follows it."""

    path: str
    value: object


@dataclass(frozen=True)
class Bind(Edit):
    """Have what a path leads to ("arm.length", "pin.p_PF.x") follow an expression of parameters; None: no longer."""

    path: str
    expression: str | None


@dataclass(frozen=True)
class SetParameters(Edit):
    """Set parameters of the model, a text being an expression of others, and have paths follow expressions, all at
    once: one system is built. Those that the model does not have yet are declared, in metres. at_start: the bodies then
    stand at the new model's own pose, at rest; else they stay where they are as far as joints allow."""

    values: Mapping[str, Any]  # numbers or texts
    expressions: Mapping[str, str] = field(default_factory=dict)
    at_start: bool = False


@dataclass(frozen=True)
class SetMaterial(Edit):
    """Give a body or an obstacle, or one of its shapes, another material; None: its body's, or none."""

    part: str
    material: str | None
    shape: int | None = None  # number of the shape, from 0


@dataclass(frozen=True)
class SetStep(Edit):
    """Change the nominal step [s]."""

    dt: float


@dataclass(frozen=True)
class Drive(Edit):
    """Give the motor in a joint a new value: a number, a profile, or point by point what a handle says."""

    joint: str
    value: Value
    group: str | None = None  # of a joint with several


@dataclass(frozen=True)
class SetMotor(Edit):
    """Attach a motor to a joint, replace the one it has, or detach it (None)."""

    joint: str
    motor: Motor | None
    group: str | None = None


@dataclass(frozen=True)
class ChangeJoint(Edit):
    """Change a joint by keyword arguments of `Model.joint`: type, first, second, axis, limits, friction, ...

    The joint is made anew at the present pose; frames="authored" keeps its frames and moves the bodies.
    """

    joint: str
    changes: Mapping[str, Any]
    frames: str = "present"


@dataclass(frozen=True)
class Add(Edit):
    """Add a part of a kind of `author.parts.PARTS` ("body", "joint", "material", ...), and its keyword arguments."""

    kind: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Remove(Edit):
    """Remove a part of one of the kinds of `Add`, and with a body everything that holds on to it."""

    kind: str
    name: str


@dataclass(frozen=True)
class Cut(Edit):
    """Open the mechanism at a joint: it holds nothing until it is closed, and keeps its frames and what it was."""

    joint: str


@dataclass(frozen=True)
class Close(Edit):
    """Close a joint that was cut: it is what it was, and the bodies move to where its frames meet."""

    joint: str


@dataclass(frozen=True)
class SetState(Edit):
    """Put bodies where they are given (position, orientation, velocity, angular_velocity by body name).

    What the joints do not allow is taken out of it, in the mass norm.
    """

    bodies: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class PutWorlds(Edit):
    """Put worlds of a batch (by number; None: all) at joint coordinates, moving at joint velocities.

    q, v: numbers by the names of coordinates, each one or one for each of the worlds; or arrays of all coordinates
    [coordinate] or [world, coordinate]. What q does not name is at the start; without q all is, moving as it did; with
    q what v does not name is at rest. Loops are closed from there, and what that changes is told.
    """

    worlds: Any = None
    q: Any = None
    v: Any = None


@dataclass(frozen=True)
class SetStart(Edit):
    """Make the present pose the one that the model starts from, and with `velocities` its motion too.

    Nothing moves; Reset comes back to here, and a scene file begins here. Joint coordinates keep their zero.
    """

    velocities: bool = True


@dataclass(frozen=True)
class DragTo(Edit):
    """With time stopped, bring a point of a body as near to a world point as the joints allow [m]."""

    body: str
    target: tuple[float, float, float]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Reset(Edit):
    """Go back to the start: the model as it is now, at its authored pose, with fresh books."""


@dataclass(frozen=True)
class Pause(Edit):
    """Stop time, or let it run again."""

    paused: bool = True


@dataclass(frozen=True)
class SetMethod(Edit):
    """Go on with another method, by name and options."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Several(Edit):
    """Carry out several edits, all or none of them; undo takes them back as one."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Rename(Edit):
    """Call a part by another name, wherever it is named; state and books stay as they are."""

    name: str
    to: str


@dataclass(frozen=True)
class End:
    """An end of a link that is drawn: a point of the plane or of a body, or so far from the end before it."""

    at: tuple[float, float] | None = None  # in the plane, along its u and v [m]
    body: str | None = None  # pinned to this one, at
    point: tuple[float, float, float] | None = None  # of its own frame [m]
    length: float | None = None  # of the link that ends here [m]
    angle: float | None = None  # of that link, from u towards v [rad]
    toward: tuple[float, float] | None = None  # in the plane: where it points to, if no angle is given [m]
    ground: bool = False  # pinned to the ground


@dataclass(frozen=True)
class Draw(Edit):
    """Add links end to end in a plane, pinned where they meet, to the bodies that they begin and end at, and to the
    ground where that is asked for.

    A length that is given with a point turns the link before about its other end, if that has a length and no angle.
    """

    links: tuple[str, ...]
    ends: tuple[End, ...]  # one more than links
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the plane [m]
    u: tuple[float, float, float] = (1.0, 0.0, 0.0)
    v: tuple[float, float, float] = (0.0, 0.0, 1.0)
    radius: float = 0.005  # [m]
    density: float = 1000.0  # [kg/m³]


@dataclass(frozen=True)
class Copy(Edit):
    """Copy bodies, with the joints and springs among them and to the ground, their couplings and probes: each copy
    turned about a line and shifted from the one before."""

    bodies: tuple[str, ...]
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    angle: float = 0.0  # [rad], about
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)  # through
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    count: int = 1


@dataclass(frozen=True)
class Mirror(Edit):
    """Add the mirror images of bodies, of the joints and springs among them and to the ground, and so on as `Copy`
    does, in the plane through a point across a normal."""

    bodies: tuple[str, ...]
    normal: tuple[float, float, float] = (1.0, 0.0, 0.0)
    point: object = (0.0, 0.0, 0.0)  # of the world, or of a body, ("arm", (0, 0, 0.1)) [m]
    along: object = None  # another such point: the plane goes through it too, the normal is turned to be across


@dataclass(frozen=True)
class Shift(Edit):
    """Move bodies together, turned about a line and shifted, now and as authored, with what holds them alone on the
    ground; joints to other bodies stay, and close."""

    bodies: tuple[str, ...]
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    angle: float = 0.0  # [rad], about
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)  # through
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]


@dataclass(frozen=True)
class Cam(Edit):
    """Add a disc cam on a shaft on the ground, and the follower that it lifts along a guide, pressed on by a spring.

    As the cam turns by `rise` from u to v the follower goes up by `lift`, then it dwells, comes back over `fall`, and
    rests for what is left of the turn, in the middle of which it begins.
    """

    name: str  # of the cam; the others are called after it: "follower of NAME", "shaft of NAME"
    at: tuple[float, float] = (0.0, 0.0)  # the shaft, in the plane [m]
    base: float = 0.03  # radius of the base circle [m]
    lift: float = 0.01  # [m]
    rise: float = 2.0943951023931953  # [rad]
    dwell: float = 1.0471975511965976  # [rad]
    fall: float = 2.0943951023931953  # [rad]
    law: str = "cycloidal"  # of rise and fall: "cycloidal", "harmonic", "3-4-5"
    follower: str = "roller"  # or "flat"
    roller: float = 0.01  # its radius [m]
    angle: float = 1.5707963267948966  # of the guide, from u towards v [rad]
    speed: float = 0.0  # of a motor on the shaft [rad/s]; 0: there is none
    stiffness: float = 200.0  # of the spring, which is shorter by `lift` at the bottom [N/m]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the plane [m]
    u: tuple[float, float, float] = (1.0, 0.0, 0.0)
    v: tuple[float, float, float] = (0.0, 0.0, 1.0)
    thickness: float = 0.01  # half of it on either side of the plane [m]
    density: float = 1000.0  # [kg/m³]
    material: str = "oiled"  # a name that is new is that of one with friction 0.1 and no rebound


@dataclass(frozen=True)
class Plate(Edit):
    """Add a plate by the corners of a polygon in a plane, in order; pinned where one is on a body or ground."""

    name: str
    ends: tuple[End, ...]  # its corners
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the plane [m]
    u: tuple[float, float, float] = (1.0, 0.0, 0.0)
    v: tuple[float, float, float] = (0.0, 0.0, 1.0)
    thickness: float = 0.01  # half of it on either side of the plane [m]
    density: float = 1000.0  # [kg/m³]


@dataclass(frozen=True)
class Attach(Edit):
    """Let a controller act at a rate [Hz], from now on: a callable of the time [s] and what it reads, as an array, that
    returns what it writes, or a Warp function, which a launch calls; one of that name is exchanged.

    hold: what stays of a call that fails, "last" or "zero"; budget: wall time that a call may take [s], None: any;
    memory: how many numbers a Warp function keeps from call to call.
    """

    name: str
    controller: Any  # a callable; a journal keeps what it returned
    rate: float
    reads: tuple[str, ...] = ()  # "hinge.position", "body.arm.velocity", names of sensors
    writes: tuple[str, ...] = ()  # "hinge.torque", "push.force.x", "arm.mass"
    hold: str = "last"
    budget: float | None = None
    memory: int = 0


@dataclass(frozen=True)
class Detach(Edit):
    """Let a controller act no more; what it wrote stays, or is zero, as it was to hold."""

    name: str


@dataclass(frozen=True)
class Compile(Edit):
    """Take steps from now on by code that is compiled for this mechanism, along the ways that a step goes from these
    states; elsewhere, and without any, by the kernel. What changes the mechanism ends it."""

    states: tuple[tuple[float, ...], ...] = ()  # the state's rows, of a world each
    worlds: tuple[int, ...] = ()  # which of a batch
