"""The energy books: what is stored, what was put in and what was lost, by part."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from ..engine.state import State, WorkArrays
from ..engine.system import System
from ..engine.system.slots import COMPLIANCE, ELEMENT, FRICTION, HAND, LIMIT_HIGH, LIMIT_LOW, MOTORS, SPRING

Joules = Any  # a float, or an array of one per world


@dataclass
class Books:
    """Energy books [J] (Mariti 2012 eq. 28); arrays per world in a batch."""

    kinetic: Joules
    potential: Joules
    elastic: Joules
    start: Joules
    work: dict[str, Joules] = field(default_factory=dict)  # by hand, motor, load, fluid: done on the mechanism
    losses: dict[str, Joules] = field(default_factory=dict)  # by damper, friction, limit, drag

    @property
    def total(self):
        """Energy of the mechanism now."""
        return self.kinetic + self.potential + self.elastic

    @property
    def imbalance(self):
        """What the books are out by: the error of the integration."""
        return self.total - self.start - sum(self.work.values()) + sum(self.losses.values())

    @classmethod
    def read(cls, system: System, state: State, work: WorkArrays) -> "Books":
        """Collect the entries of all slots under their parts' names."""
        energy = work.energy.numpy()
        one = system.counts.worlds == 1

        def out(values: np.ndarray):
            return float(values[0]) if one else values.copy()

        kinetic, potential, elastic = (out(energy[k]) for k in range(3))
        books = cls(kinetic, potential, elastic, out(state.read("start_energy")[0]))
        done, loss, viscous = (state.read(name) for name in ("work", "loss", "viscous_loss"))
        for r, slot in enumerate(system.slots):
            if slot.kind == HAND:
                name = system.hand_names[slot.part]
                if name:
                    _add(books.work, name, out(done[r]))
                    _add(books.losses, f"{name} damper", out(loss[r]))
            elif slot.kind in MOTORS:
                _add(books.work, f"{slot.name} motor", out(done[r]))
            elif slot.kind == FRICTION:
                _add(books.losses, f"{slot.name} friction", -out(done[r]))
            elif slot.kind in (LIMIT_LOW, LIMIT_HIGH):
                _add(books.losses, f"{slot.name} limit", -out(done[r]))
            elif slot.kind in (SPRING, COMPLIANCE):
                if slot.b or loss[r].any():
                    _add(books.losses, f"{slot.name} damper", out(loss[r]))
                if slot.d or viscous[r].any():
                    _add(books.losses, f"{slot.name} viscous", out(viscous[r]))
            elif slot.kind >= ELEMENT:
                if done[r].any():
                    _add(books.work, slot.name, out(done[r]))
                if loss[r].any():
                    _add(books.losses, slot.name, out(loss[r]))
                if viscous[r].any():
                    _add(books.losses, f"{slot.name} damper", out(viscous[r]))
        for k, name in enumerate(system.load_names):
            if name:
                _add(books.work, name, out(state.read("load_work")[k]))
        fluids = state.read("fluid_work")
        for k, name in enumerate(system.model.fluids):
            buoyancy, current, drag = fluids[3 * k : 3 * k + 3]
            _add(books.work, f"{name} buoyancy", out(buoyancy))
            if current.any():
                _add(books.work, f"{name} current", out(current))
            _add(books.losses, f"{name} drag", out(drag))
        touched = state.read("contact_work")
        if touched.any():
            _add(books.losses, "contacts", -out(touched[0]))
        past = state.read("past_hands")
        if past.any():
            _add(books.work, "released hands", out(past[0]))
            _add(books.losses, "released hands' dampers", out(past[1]))
        removed = state.read("past_parts")
        if removed.any():
            _add(books.work, "removed parts", out(removed[0]))
            _add(books.losses, "removed parts", out(removed[1]))
        put_in = state.read("edits")
        if put_in.any():
            _add(books.work, "edits", out(put_in[0]))
        if state.read("clamped").any():
            _add(books.losses, "clamps", out(state.read("clamped")[0]))
        return books

    def rows(self) -> list[tuple[str, float]]:
        """Every entry by its name, of a batch the mean [J]."""
        rows = [("kinetic", self.kinetic), ("potential", self.potential), ("elastic", self.elastic)]
        rows += [(f"work of {name}", value) for name, value in self.work.items()]
        rows += [(f"loss in {name}", value) for name, value in self.losses.items()]
        rows += [("start", self.start), ("imbalance", self.imbalance)]
        return [(name, float(np.mean(value))) for name, value in rows]

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows) + 2
        return "\n".join(f"{name:<{width}}{value:>14.6e} J" for name, value in rows)

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        cells = "".join(
            f'<tr><td style="text-align:left">{escape(name)}</td><td>{value:.6g}</td></tr>'
            for name, value in self.rows()
        )
        return f"<table><thead><tr><th>energy books</th><th>J</th></tr></thead><tbody>{cells}</tbody></table>"


def _add(entries: dict, name: str, value) -> None:
    entries[name] = entries.get(name, 0.0) + value
