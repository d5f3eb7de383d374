"""A system with its state and work arrays: what readings are taken of and edits work on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..engine.state import State, WorkArrays
from ..engine.system import System
from ..engine.system.slots import CLOSURE, COUPLING, IDLE
from .instant import Instant
from .readout import Readout


@dataclass
class Bench:
    """What edits work on: a system with its state and work arrays."""

    system: System
    state: State
    work: WorkArrays
    beat: float | None = None  # impulse step of `direct`, by which motors come back to targets [s]; None: other methods

    @cached_property
    def instant(self) -> Instant:
        """Reads exact accelerations."""
        return Instant(self)

    @cached_property
    def readout(self) -> Readout:
        """Reads joint coordinates and constraint errors."""
        return Readout(self.system, self.state, self.work)

    @property
    def has_rows(self) -> bool:
        """Whether joints are closed by rows: those of a tree alone are by themselves."""
        return any(slot.kind in (CLOSURE, IDLE, COUPLING) for slot in self.system.slots)

    def worst_lock(self) -> float:
        """Largest position error of a joint that rows close [m, rad]."""
        return float(np.abs(self.readout.lock_errors()).max(initial=0.0)) if self.has_rows else 0.0


def out(values: np.ndarray, worlds: int) -> Any:
    """Values [world, ...]: of one world alone, or of all with the world first."""
    values = np.array(values)
    if worlds > 1:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]
