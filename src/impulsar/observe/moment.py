"""A moment of a bench: what several quantities are read from is computed once, and only when asked for."""

from functools import cached_property
from typing import Any

import numpy as np

from .bench import Bench
from .books import Books
from .contacts import Contact, Contacts


class Moment:
    """A bench as it is now, of use until it is stepped or edited.

    Arrays are [row, world] and components, in the order of the system's rows. iterations, step_time: what no array
    tells, from whoever steps.
    """

    def __init__(self, bench: Bench, iterations: Any = 0.0, step_time: Any = 0.0):
        self.bench = bench
        self._given = {"iterations": iterations, "step_time": step_time}

    def given(self, name: str) -> np.ndarray:
        """What was told from outside [1, world]."""
        values = np.empty((1, self.bench.system.counts.worlds))
        values[:] = self._given[name]
        return values

    @cached_property
    def _instant(self) -> tuple[np.ndarray, np.ndarray]:
        return self.bench.instant.read()

    @property
    def accelerations(self) -> np.ndarray:
        """[body, world, turn and shift] [rad/s², m/s²]."""
        return self._instant[0]

    @property
    def resultants(self) -> np.ndarray:
        """What changes the momenta of the bodies [body, world, torque and force] [N m, N]."""
        return self._instant[1]

    @cached_property
    def contacts(self) -> list[Contact]:
        """Those of the first world that are closed."""
        return Contacts(self.bench).read(0)

    @cached_property
    def contact_forces(self) -> np.ndarray:
        """Sum of the contact forces on each body [body, world, axis] [N]."""
        return Contacts(self.bench).body_forces()

    @cached_property
    def freedoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates [coordinate, world]."""
        return self.bench.readout.freedoms()

    @cached_property
    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """[joint, world, torque and force], and which of it is determinate, likewise."""
        return self.bench.forces.reactions()

    @cached_property
    def springs(self) -> tuple[np.ndarray, np.ndarray]:
        """Length [m] and pull [N] of the springs [spring, world]."""
        return self.bench.readout.springs()

    @cached_property
    def loads(self) -> np.ndarray:
        """Force and torque of the loads [load, world, 6], world axes; nothing of those that do not act."""
        return self.bench.forces.loads()

    @cached_property
    def books(self) -> Books:
        """The energy books."""
        return Books.read(self.bench.system, self.bench.state, self.bench.work)
