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
    """Take hold of a body's point by a spring [N/m] and damper [N s/m] (Mariti 2012 eq. 10)."""

    hand: str
    body: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stiffness: float = 1000.0
    damping: float = 1.0


@dataclass(frozen=True)
class Move(Edit):
    """Send a hand to a world point [m], or along a profile; a Ramp or Smooth without start begins where the hand is."""

    hand: str
    target: Value


@dataclass(frozen=True)
class Release(Edit):
    """Let go. The energy left in the hand's spring is booked to the hand."""

    hand: str


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
    """Set "part.parameter" to a value, or to one value per world."""

    path: str
    value: object


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
class SetState(Edit):
    """Put bodies where they are given (position, orientation, velocity, angular_velocity by body name).

    What the joints do not allow is taken out of it, in the mass norm.
    """

    bodies: Mapping[str, Mapping[str, Any]]


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
