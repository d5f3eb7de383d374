"""How far rows that are redundant by construction are open."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.joints import LOCK_NAMES
from ..engine.system.extents import METRES
from ..engine.system.slots import CLOSURE, IDLE
from .reading import out

if TYPE_CHECKING:
    from .bench import Bench


class Openings:
    """The rows of a bench that are no rows, because others imply them to within `redundancy`."""

    def __init__(self, bench: "Bench"):
        self._bench, system = bench, bench.system
        holds = system.parameter("basis").min(axis=1)
        spare = {
            (slot.name, slot.code)
            for slot, is_held in zip(system.slots, holds, strict=True)
            if slot.kind == IDLE or (slot.kind == CLOSURE and not is_held)
        }
        self._locks = [
            (f"joint '{name}' {LOCK_NAMES[code]}", i, system.size if code in METRES else 1.0)
            for i, (name, code) in enumerate(bench.readout.locks if spare else ())
            if (name, code) in spare
        ]

    def read(self) -> dict[str, Any]:
        """By name, such as "joint 'hinge' tilt x" [rad, or lengths over the size]."""
        if not self._locks:
            return {}
        errors = np.abs(self._bench.readout.lock_errors())
        worlds = self._bench.system.counts.worlds
        return {name: out(errors[i] / scale, worlds) for name, i, scale in self._locks}
