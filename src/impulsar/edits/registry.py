"""The registry of edits: what carries each one out, what it changes for those who look on, which of them merge.

A handler is `handler(edit, desk)`. It checks the edit and returns an Answer where arrays were written, a Plan
where the system is to be built anew, or More where there is no room; it raises EditError and has changed nothing
if the edit cannot be. A new edit is a dataclass in `data` and a function registered here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..author.model import Model
from ..observe.bench import Bench
from .carry import JointPlace, Places
from .data import Edit
from .overlaps import Overlap

Per = Any  # a number or 3 numbers; in a batch an array with one per world


@dataclass(frozen=True)
class Answer:
    """What an edit did."""

    text: str
    arrays_replaced: bool = False  # the recorded launch must be made again
    energy: Per = 0.0  # that it added to the kinetic, potential and elastic energy [J]
    momentum: Per = (0.0, 0.0, 0.0)  # and to the linear momentum [N s]
    angular_momentum: Per = (0.0, 0.0, 0.0)  # about the world's origin [N m s]
    moved: float = 0.0  # farthest that a body's centre was moved [m]
    inverse: Edit | None = None  # the edit that would undo this one now
    overlaps: tuple[Overlap, ...] = ()  # bodies that it put into each other, which were pushed apart
    pushed: Per = 0.0  # of `energy`: what that took [J]


@dataclass
class Plan:
    """A new model, and what the state needs to be carried into it."""

    model: Model
    text: str
    inverse: Edit | None = None
    places: Places | None = None  # where they are not the present ones
    joints: dict[str, JointPlace] = field(default_factory=dict)
    points: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)  # by part and array, [world, 3]
    forgotten: set[tuple[str, int]] = field(default_factory=set)  # freedoms that are measured anew
    renumbered: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)  # freedom: the one it was
    asked: Sequence[tuple[str, str]] = ()  # bodies and what of their state was asked for, to tell what came of it
    then: Edit | None = None  # to be carried out on what was built: one value for each world


@dataclass(frozen=True)
class More:
    """There is no room: the world is to make some and ask again."""

    hands: bool = False
    loads: bool = False
    turning: bool = False  # for hands that turn what they hold


class Desk(Protocol):
    """Where edits are carried out."""

    @property
    def bench(self) -> Bench:
        """System, state and work arrays."""

    @property
    def model(self) -> Model:
        """The model as it is now; never changed in place."""


@dataclass(frozen=True)
class Entry:
    """How one kind of edit is carried out."""

    handler: Callable[[Any, Any], Answer | Plan | More]
    tells: frozenset[str]  # what those who look on must be told anew: "parts", "acting" (hands, loads, motors)
    subject: Callable[[Any], tuple] | None  # what it sets: of two that wait, the later one of a thing is enough
    books: bool  # whether energy that it adds by writing arrays is booked to edits
    writes: bool  # whether it writes arrays that bodies, forces and energies are to be found from again
    moves: Callable[[Any], bool]  # whether momentum is to be weighed before and after


REGISTRY: dict[type[Edit], Entry] = {}


def carries_out(
    edit: type[Edit],
    tells: str = "parts acting",
    subject: Callable[[Any], tuple] | None = None,
    books: bool = True,
    writes: bool = True,
    moves: Callable[[Any], bool] = lambda edit: False,
) -> Callable:
    """Register the function below as the handler of a kind of edit."""

    def register(handler: Callable) -> Callable:
        REGISTRY[edit] = Entry(handler, frozenset(tells.split()), subject, books, writes, moves)
        return handler

    return register


def subject(edit: Edit | None) -> tuple | None:
    """The thing that an edit sets anew each time, None for other edits and where there is none."""
    entry = REGISTRY.get(type(edit)) if edit is not None else None
    return None if entry is None or entry.subject is None else (type(edit).__name__, *entry.subject(edit))
