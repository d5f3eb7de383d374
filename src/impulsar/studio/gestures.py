"""Which edits belong to one gesture, so that a person undoes what was done and not one of its hundred parts."""

import math
import time as wall
from collections import deque
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from .. import edits
from ..author.checks import vector
from ..author.parts import Body
from ..author.profiles import Ramp
from ..author.rotations import nearest_vector
from ..edits.hands import hands_of
from ..world.world import World
from .clock import Clock

POINTER = (1 / 60, 0.05)  # least and most wall time between a hand's moves that its target takes to follow one [s]
MOST_STARTS = 10_000  # of gestures that are kept
SMOOTH = (  # edits after which bodies go on from where they were, unless they say that they moved some
    edits.Grab, edits.Push, edits.Grip, edits.Move, edits.Release, edits.ApplyLoad, edits.RemoveLoad,
    edits.SetMotor, edits.SetParameter, edits.SetMaterial, edits.SetStep, edits.SetMethod, edits.Pause,
)  # fmt: skip
TOGETHER = 0.7  # wall time between edits of one thing that make one gesture [s]


def overridden(subjects: Sequence[tuple | None]) -> dict[int, int]:
    """Of edits that wait for one step: those that a newer one of the same thing overrides, and by which.

    An edit of no such thing (None) stands between what comes before and after it.
    """
    found: dict[int, int] = {}
    newer: dict[tuple, int] = {}
    for k in reversed(range(len(subjects))):
        thing = subjects[k]
        if thing is None:
            newer.clear()
        elif thing in newer:
            found[k] = newer[thing]
        else:
            newer[thing] = k
    return found


STIFFEST = 100.0  # [rad] that a held body may vibrate by in a step: beyond it, steps take longer than they last


def held_body(edit: edits.Edit, world: World) -> Body | None:
    """The body that an edit takes hold of, or takes another grip of."""
    name, system = getattr(edit, "body", None), world.system
    if isinstance(edit, edits.Grip) and edit.hand in system.hand_names:
        name = system.tree.bodies[int(system.arrays.hand_body.numpy()[system.hand_names.index(edit.hand)])]
    return world.model.bodies.get(name) if isinstance(edit, edits.Grab | edits.Grip) and isinstance(name, str) else None


def carried(grab: Any, body: Body, dt: float) -> tuple[Any, str]:
    """A Grab or Grip as stiff as steps of dt [s] carry it on a body, and what is to be said of that."""
    told = []
    if body.is_carrier:  # what it carries has to be moved, and that is not known here
        return grab, ""
    for what, inertia, unit in (
        ("stiffness", body.mass, "N/m"),
        ("angular_stiffness", float(np.linalg.eigvalsh(body.inertia)[0]), "N m/rad"),
    ):
        most, given = inertia * (STIFFEST / dt) ** 2, getattr(grab, what)
        if isinstance(given, int | float) and most < given < math.inf:
            most = float(f"{most:.3g}")
            grab = replace(grab, **{what: most})
            told.append(
                f"{given:g} {unit} is more than steps of {dt:g} s carry on '{body.name}'; {most:g} {unit} is used"
            )
    return grab, f"hand: {'; '.join(told)}" if told else ""


def hands_but(world: World, others: Set[str]) -> list[str]:
    """Names of the hands that hold or push, without others and those of the model's script."""
    names = set(hands_of(world.system)) - others
    if not names:
        return []
    return sorted(names - {edit.hand for _, edit in world.runner.script if isinstance(edit, edits.Grab | edits.Push)})


class Pace:
    """How often every hand is moved, so that its target can go on evenly until the next move."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def span(self, hand: str, now: float) -> float:
        """Wall time that the target may take to where the hand is sent now [s]."""
        least, most = POINTER
        self._last = {name: last for name, last in self._last.items() if now - last < 1.0}
        span = min(max(now - self._last.get(hand, now), least), most)
        self._last[hand] = now
        return span

    def evened(self, move: edits.Move, clock: Clock, world: World) -> edits.Move:
        """A move to a point, or a turn, as a way there in whole steps: pointers come at a slower beat than steps."""
        if not any(isinstance(value, tuple | list) for value in (move.target, move.turn)):
            return move
        span = self.span(move.hand, wall.monotonic()) * (clock.factor if clock.slow else clock.speed)
        end = world.time + math.ceil(span / world.dt) * world.dt
        try:
            target, turn = (
                Ramp(None, tuple(value), world.time, end) if isinstance(value, tuple | list) else value
                for value in (move.target, short_way(move, world))
            )
            return edits.Move(move.hand, target, turn)
        except ValueError:  # not a point: for the engine to refuse
            return move


def short_way(move: edits.Move, world: World) -> Any:
    """What a move turns to, as the rotation vector that is nearest to where its hand is turned now."""
    names = world.system.hand_names
    if not isinstance(move.turn, tuple | list) or move.hand not in names or not world.system.counts.turns:
        return move.turn
    k = 3 * names.index(move.hand)
    now = world.runner.state.read("hand_turn")[k : k + 3, 0]
    return tuple(nearest_vector(vector(f"hand '{move.hand}'", "turn", move.turn, "rad"), now).tolist())


class Gestures:
    """Positions in a history at which gestures began."""

    def __init__(self) -> None:
        self._starts: deque[int] = deque(maxlen=MOST_STARTS)  # ascending
        self._held: dict[str, int] = {}  # start of the gesture of every hand that holds
        self._last: tuple[tuple | None, float] = (None, 0.0)

    def note(self, position: int, edit: edits.Edit, now: float) -> None:
        """An edit that was made at a position of the history, at a wall time."""
        while self._starts and self._starts[-1] >= position:
            self._starts.pop()
        thing = edits.subject(edit)
        goes_on = thing is not None and thing == self._last[0] and now - self._last[1] < TOGETHER
        self._last = thing, now
        if isinstance(edit, edits.Grab | edits.Push):
            self._held[edit.hand] = position
        elif isinstance(edit, edits.Move | edits.Grip) and edit.hand in self._held:
            goes_on = True
        elif isinstance(edit, edits.Release):
            goes_on = self._held.pop(edit.hand, position) < position
        if not goes_on:
            self._starts.append(position)

    def start(self, position: int) -> int:
        """Where the gesture began whose edits are the last before a position."""
        return next((start for start in reversed(self._starts) if start < position), position - 1)
