"""Forces: of motors and hands over the last step, of loads now, and reactions of joints."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..author.rotations import rotate
from ..engine.owed import impulses
from ..engine.system.build import EMPTY
from ..engine.system.slots import CLOSURE, IDLE
from .least_norm import LeastNorm
from .reading import Reading

if TYPE_CHECKING:
    from .bench import Bench

MOST_LOCKS = 1500  # beyond so many joint equations the solver's own reactions stand, taken as determinate


class Forces:
    """Reads a bench. Impulses acted over the last step, or over the nominal one where no step was taken."""

    def __init__(self, bench: "Bench"):
        self._bench, slots = bench, bench.system.slots
        self._has_loops = any(slot.kind in (CLOSURE, IDLE) for slot in slots)
        self._motors = np.array(bench.readout.motor_slots, int)
        self._hands, self._turns = (np.array(bench.system.range(name), int) for name in ("hand", "turn"))
        self._order = np.array([bench.system.joint_index[name] for name in bench.system.model.joints], int)

    def _mean(self, slots: np.ndarray) -> np.ndarray:
        """Mean forces of slots [slot, world]."""
        last = self._bench.state.read("last_h")[0]
        return impulses(self._bench.state, self._bench.arrays)[slots] / np.where(last > 0.0, last, self._bench.h)

    def motors(self) -> np.ndarray:
        """Torque of each coordinate's motor, mean over the last step [coordinate, world] [N m, N]; 0 without one."""
        if not len(self._motors) or self._motors.max() < 0:
            return np.zeros((len(self._motors), self._bench.system.counts.worlds))
        return np.where(self._motors[:, None] >= 0, self._mean(self._motors), 0.0)

    def couplings(self) -> np.ndarray:
        """What each coupling does to its coordinate b, mean over the last step [coupling, world] [N m, N]."""
        return self._mean(np.array(self._bench.system.range("coupling"), int))

    def hands(self) -> np.ndarray:
        """Force of each hand on its body over the last step [hand, world, axis] [N]."""
        return self._vectors(self._hands)

    def hand_torques(self) -> np.ndarray:
        """Torque of each hand on its body, beside that of its force, over the last step [hand, world, axis] [N m]."""
        if not len(self._turns):
            return np.zeros((len(self._hands) // 3, self._bench.system.counts.worlds, 3))
        return self._vectors(self._turns)

    def _vectors(self, slots: np.ndarray) -> np.ndarray:
        """Mean forces of slots that are three each [part, world, axis]."""
        return self._mean(slots).reshape(-1, 3, self._bench.system.counts.worlds).swapaxes(1, 2)

    def loads(self) -> np.ndarray:
        """Force and torque of each load now [load, world, 6] [N, N m], world axes; nothing of those that do not act."""
        system, now = self._bench.system, float(self._bench.state.read("time")[0, 0])
        bodies, turned = system.arrays.load_body.numpy(), system.arrays.load_in_body.numpy()
        first, items = system.arrays.load_channel.numpy(), system.channels.items
        found = np.zeros((len(bodies), system.counts.worlds, 6))
        for k, body in enumerate(bodies):
            if body != EMPTY:
                for c, item in enumerate(items[first[k] : first[k] + 6]):
                    found[k, :, c] = item(now) if callable(item) else item
                if turned[k]:
                    q_WB = self._bench.read("q_WB")[body]
                    for part in (slice(0, 3), slice(3, 6)):
                        found[k, :, part] = rotate(q_WB, found[k, :, part])
        return found

    @cached_property
    def _least_norm(self) -> LeastNorm:
        return LeastNorm(self._bench)

    @property
    def chooses(self) -> bool:
        """Whether reactions are chosen among those of redundant joints."""
        return self._has_loops and len(self._bench.readout.lock_names) <= MOST_LOCKS

    @property
    def reaction_array(self) -> wp.array:
        """Reactions on the device: in the author's order where they are chosen, else in the system's."""
        return self._least_norm.chosen if self.chooses else self._bench.work.reaction

    def reaction_readings(self) -> list[Reading]:
        """What is launched before they are there."""
        return self._least_norm.readings() if self.chooses else []

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all joints in the author's order [joint, world, torque and force], and which of it is determinate."""
        raw = self._bench.read("reaction")[self._order]
        if not (self.chooses and raw.any()):
            return raw, np.ones(raw.shape, bool)
        return self._least_norm.reactions()
