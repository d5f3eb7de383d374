"""Which ways through a step are compiled, as data: with state and parameters all that decides the bits of its steps.

A way is given by a sample: a state of one world from which the step goes that way. So a snapshot or a journal keeps
numbers, from which whoever goes on traces the same ways.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .calls import Constants

MOST_VARIANTS = 12
LARGEST = 60_000  # operations of a step, beyond which compiling takes minutes
UNASKED = 20_000  # and beyond which it takes longer than one waits who did not ask for it
DUE = (4, 8, 16, 32, 64)  # steps after which variants are made, then every DUE[-1] steps
RARER = 8  # times as many of them after each step that could not be followed
MOST_REFUSALS = 3  # after which no more is tried
NEVER = 2**62


@dataclass(frozen=True)
class Sample:
    """A state of one world of a batch, from which a step is traced."""

    world: int
    rows: bytes  # of the state, float64

    @classmethod
    def of(cls, state: np.ndarray, world: int) -> "Sample":
        """The present state [row, world] of a world."""
        return cls(world, np.ascontiguousarray(state[:, world]).tobytes())

    @property
    def numbers(self) -> np.ndarray:
        """The rows as numbers."""
        return np.frombuffer(self.rows)


@dataclass
class Recipe:
    """Samples in the order in which they became variants."""

    learns: bool  # whether steps in which all guards break become variants by themselves, after so many steps
    samples: list[Sample] = field(default_factory=list)
    count: int = 0  # steps since the first sample; of one that learns
    broke: tuple[int, Sample] | None = None  # step and state of the last break since a sample was taken
    largest: int = LARGEST  # operations of a step: longer ones are left to the kernel
    refusals: int = 0  # steps that could not be followed, at seconds each

    def __post_init__(self) -> None:
        self.due = next_due(self.count, self.refusals)
        self.constants = Constants()  # of the ways, once they are traced

    def clear(self) -> None:
        """Begin anew."""
        self.samples, self.count, self.broke, self.refusals = [], 0, None, 0
        self.due = next_due(0)
        self.constants = Constants()

    def advance(self, steps: int) -> None:
        """Count steps."""
        self.count += steps
        if self.count >= self.due:
            self.due = next_due(self.count, self.refusals)

    def refuse(self) -> None:
        """A step could not be followed: the next is tried much later, or none."""
        self.refusals += 1
        self.due = next_due(self.count, self.refusals)

    def is_later(self, at: int, world: int) -> bool:
        """Whether a break in a step goes before the one that is kept: the last, of worlds in the same step the first.

        Where a mechanism goes over to another way it passes by some that it does not go again.
        """
        return self.broke is None or (at, -world) > (self.broke[0], -self.broke[1].world)

    def copy(self) -> "Recipe":
        """The same, to be kept."""
        return Recipe(self.learns, list(self.samples), self.count, self.broke, self.largest, self.refusals)

    def bits(self) -> bytes:
        """What of it decides the future."""
        parts = [b"%d:" % sample.world + sample.rows for sample in self.samples]
        if self.learns:
            parts.append(b"%d %d" % (self.count, self.largest) + (b" %d" % self.refusals if self.refusals else b""))
            parts += [b"%d:" % self.broke[0] + self.broke[1].rows] if self.broke else []
        return b"|".join(parts)

    def data(self) -> dict[str, Any]:
        """As a journal keeps it: numbers and arrays."""
        found = [*self.samples, *([self.broke[1]] if self.broke else [])]
        rows = np.array([sample.numbers for sample in found]) if found else np.zeros((0, 0))
        worlds = [sample.world for sample in found]
        broke = self.broke[0] if self.broke else -1
        numbers = {"count": self.count, "broke": broke, "largest": self.largest, "refusals": self.refusals}
        return {"learns": self.learns, **numbers, "worlds": worlds, "states": rows}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Recipe":
        """That of `data`, whose values were checked."""
        found = [Sample(world, row.tobytes()) for world, row in zip(data["worlds"], data["states"], strict=True)]
        broke = (data["broke"], found.pop()) if data["broke"] >= 0 else None
        return cls(data["learns"], found, data["count"], broke, data["largest"], data["refusals"])


def next_due(count: int, refusals: int = 0) -> int:
    """The number of steps, above this one, after which variants are made."""
    if refusals:
        rare = DUE[-1] * RARER**refusals
        return (count // rare + 1) * rare if refusals < MOST_REFUSALS else NEVER
    return next((due for due in DUE if due > count), (count // DUE[-1] + 1) * DUE[-1])
