"""The edits, one dataclass each. Points are in the body's own frame, from its centre of mass [m]."""

from dataclasses import dataclass

from ..inputs import Value


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
    """Send a hand to a world point [m], or along a profile; a Ramp without start begins where the hand is."""

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
class SetStep(Edit):
    """Change the nominal step [s]."""

    dt: float
