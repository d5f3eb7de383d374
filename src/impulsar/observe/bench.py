"""A system with its state and work arrays: what readings are taken of and edits work on."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..engine.owed import owed
from ..engine.state import State, WorkArrays, allocate_work
from ..engine.system import System
from ..engine.system.slots import CLOSURE, COUPLING, IDLE
from .forces import Forces
from .instant import Instant
from .openings import Openings
from .readout import Readout
from .tyres import Treads

if TYPE_CHECKING:
    from .rays import Rays
    from .sensing import Sensors


@dataclass
class Bench:
    """What edits work on: a system with its state and work arrays."""

    system: System
    state: State
    arrays: WorkArrays  # after compiled steps behind the state; `work` is not
    beat: float | None = None  # impulse step of `direct`, by which motors come back to targets [s]; None: other methods

    def __post_init__(self) -> None:
        self._owed = owed(self.arrays)

    @property
    def work(self) -> WorkArrays:
        """What the stages of the last step left."""
        if self._owed.settle is not None:
            self._owed.settle()
        return self.arrays

    @cached_property
    def _views(self) -> dict[str, np.ndarray]:
        return {}  # of work arrays on the CPU; Warp takes 3 us to make one

    def read(self, name: str) -> np.ndarray:
        """A work array on the host [row, world]; on the CPU a view."""
        if self._owed.settle is not None:
            self._owed.settle()
        view = self._views.get(name)
        if view is None:
            array = getattr(self.arrays, name)
            view = array.numpy()
            if array.device.is_cpu:
                self._views[name] = view
        return view

    @property
    def h(self) -> float:
        """Step of an impulsive method [s]."""
        return float(self._step[0] if self._step is not None else self.system.arrays.h.numpy()[0])

    @cached_property
    def _step(self) -> np.ndarray | None:
        return self.system.arrays.h.numpy() if self.state.array.device.is_cpu else None

    @cached_property
    def room(self) -> tuple[State, WorkArrays]:
        """A state and work arrays of its own, to try something in."""
        return State(self.system.counts, self.system.device), allocate_work(self.system.counts, self.system.device)

    @cached_property
    def forces(self) -> Forces:
        """Reads forces of motors, hands, loads and joints."""
        return Forces(self)

    @cached_property
    def openings(self) -> Openings:
        """Reads how far rows that are no rows are open."""
        return Openings(self)

    @cached_property
    def instant(self) -> Instant:
        """Reads exact accelerations."""
        return Instant(self)

    @cached_property
    def readout(self) -> Readout:
        """Reads joint coordinates and constraint errors."""
        return Readout(self.system, self.state, self.arrays)

    @cached_property
    def tyres(self) -> Treads:
        """Reads contacts, forces and slips of tyres."""
        return Treads(self.system, self.state, self.arrays)

    @cached_property
    def sensors(self) -> "Sensors":
        """Samples and reads the model's sensors."""
        from .sensing import Sensors  # which reads quantities of a bench

        return Sensors(self)

    @cached_property
    def rays(self) -> "Rays":
        """Casts rays against the shapes."""
        from .rays import Rays  # whose kernels are compiled where something looks

        return Rays(self)

    @property
    def has_rows(self) -> bool:
        """Whether joints are closed by rows: those of a tree alone are by themselves."""
        return any(slot.kind in (CLOSURE, IDLE, COUPLING) for slot in self.system.slots)

    def worst_lock(self) -> float:
        """Largest position error of a joint that rows close [m, rad]."""
        return float(np.abs(self.readout.lock_errors()).max(initial=0.0)) if self.has_rows else 0.0
