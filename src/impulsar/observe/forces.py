"""Forces of the last step: of motors and hands, and reactions of joints."""

from typing import Any

import numpy as np

from ..engine.system.slots import CLOSURE, HAND, IDLE
from .bench import Bench, out
from .least_norm import LeastNorm

MOST_LOCKS = 1500  # beyond so many joint equations the solver's own reactions stand, taken as determinate


class Forces:
    """Reads a bench. Impulses acted over the last step, or h [s] where no step was taken."""

    def __init__(self, bench: Bench):
        self._bench = bench
        self._has_loops = any(slot.kind in (CLOSURE, IDLE) for slot in bench.system.slots)
        self._least_norm: LeastNorm | None = None

    def _span(self, h: float) -> np.ndarray:
        """The time over which each world's impulses acted [s]."""
        last = self._bench.state.read("last_h")[0]
        return np.where(last > 0.0, last, h)

    def motors(self, h: float) -> np.ndarray:
        """Torque of each coordinate's motor, mean over the last step [coordinate, world] [N m, N]."""
        impulse, span = self._bench.state.read("impulse"), self._span(h)
        slots = self._bench.readout.motor_slots
        return np.array([impulse[r] / span if r >= 0 else np.zeros(len(span)) for r in slots])

    def hands(self, h: float) -> dict[str, Any]:
        """Force of each hand on its body over the last step [N]."""
        system, impulse = self._bench.system, self._bench.state.read("impulse")
        forces = {}
        for r, slot in enumerate(system.slots):
            name = system.hand_names[slot.part] if slot.kind == HAND and slot.code == 0 else None
            if name:
                forces[name] = out((impulse[r : r + 3] / self._span(h)).T, system.counts.worlds)
        return forces

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all joints in the author's order [joint, world, torque and force], and whether determinate."""
        system, work, readout = self._bench.system, self._bench.work, self._bench.readout
        order = [system.joint_index[name] for name in system.model.joints]
        raw = work.reaction.numpy()[order]
        if not (self._has_loops and raw.any() and len(readout.lock_names) <= MOST_LOCKS):
            return raw.copy(), np.ones(raw.shape[:2], bool)
        if self._least_norm is None:
            self._least_norm = LeastNorm(system, work)
        return self._least_norm.reactions(raw, readout.lock_errors())
