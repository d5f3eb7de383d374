"""Contacts of a world as data: who touches whom, where, how hard, and whether it slides."""

from dataclasses import dataclass

import numpy as np

from ..author.touching import Touching, touching_shapes
from ..engine.constrain.contact import DEAD, SLIDES, STICKS
from ..engine.state import CONTACT_NUMBERS
from ..engine.state import Contact as At
from .bench import Bench

MODES = {SLIDES: "slides", STICKS: "sticks"}  # else open


@dataclass(frozen=True, eq=False)
class Contact:
    """A point at which two shapes touch."""

    first: str  # body or obstacle, or "ground"
    second: str
    shapes: tuple[int, int]  # which of their shapes
    point: np.ndarray  # [m]
    normal: np.ndarray  # from the first to the second
    gap: float  # < 0: they overlap [m]
    force: np.ndarray  # on the second [N]
    mode: str  # "sticks", "slides" or "open": it carries nothing

    def __repr__(self) -> str:
        force = " ".join(f"{part:.3g}" for part in self.force)
        return f"Contact({self.first!r} on {self.second!r}, {self.mode}, force ({force}) N, gap {self.gap:.2g} m)"


class Contacts:
    """Reads the contacts of a bench."""

    def __init__(self, bench: Bench):
        self._bench = bench
        self._shapes: list[Touching] = touching_shapes(bench.system.model) if bench.system.counts.contacts else []

    def read(self, world: int) -> list[Contact]:
        """Those of one world that are closed."""
        if not self._shapes:
            return []
        rows = self._numbers(world)
        closed = (rows[:, At.gap] <= float(DEAD)) | rows[:, At.impulse : At.impulse + 3].any(axis=1)
        forces = self._forces(rows, world)
        return [self._contact(row, force) for row, force in zip(rows[closed], forces[closed], strict=True)]

    def body_forces(self) -> np.ndarray:
        """The sum of contact forces on each body [body, world, 3] [N]."""
        system = self._bench.system
        total = np.zeros((system.counts.bodies, system.counts.worlds, 3))
        index = [system.body_index.get(shape.owner, -1) for shape in self._shapes]
        for world in range(system.counts.worlds if self._shapes else 0):
            rows = self._numbers(world)
            for row, force in zip(rows, self._forces(rows, world), strict=True):
                for shape, sign in ((int(row[At.first]), -1.0), (int(row[At.second]), 1.0)):
                    if index[shape] >= 0:
                        total[index[shape], world] += sign * force
        return total

    def _numbers(self, world: int) -> np.ndarray:
        """What the state keeps of the contacts of a world [contact, number]."""
        block = self._bench.state.read("contact")[:, world]
        count = int(block[0])
        return block[1 : 1 + CONTACT_NUMBERS * count].reshape(count, CONTACT_NUMBERS)

    def _forces(self, rows: np.ndarray, world: int) -> np.ndarray:
        last = float(self._bench.state.read("last_h")[0, world]) or self._bench.h
        return rows[:, At.impulse : At.impulse + 3] / last

    def _contact(self, row: np.ndarray, force: np.ndarray) -> Contact:
        first, second = (self._shapes[int(row[at])] for at in (At.first, At.second))
        point, normal = (row[at : at + 3].copy() for at in (At.point, At.normal))
        mode = MODES.get(int(row[At.mode]), "open")
        shapes = first.index, second.index
        return Contact(first.owner, second.owner, shapes, point, normal, float(row[At.gap]), force.copy(), mode)
