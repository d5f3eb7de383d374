"""Systems built anew for an edit: on the side, with the state carried over, checked, then handed over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..author.groups import tidied
from ..engine.coordinates.inertia import momenta
from ..engine.freedoms import code_counts_turns
from ..engine.start.locked import refuse_locked_motors
from ..engine.system import System
from ..engine.system.tree import JointKey
from ..observe.bench import Bench
from .carry import Change, Places, carry
from .hands import elastic_energy, slots_of
from .overlaps import Push, push_carried
from .refusal import EditError
from .registry import Answer, Plan


@dataclass
class Rebuilt:
    """A system built on the side with the state carried over, ready to be swapped in."""

    bench: Bench
    plan: Plan
    energy: np.ndarray  # added [world] [J]
    momentum: np.ndarray  # added, angular and linear [world, 6]
    moved: float  # [m]
    push: Push | None = None  # bodies that were put into each other

    def answer(self, out: Callable[[np.ndarray], Any]) -> Answer:
        """What it did."""
        pushed = self.push.energy if self.push else np.zeros_like(self.energy)
        told = [self.plan.text, *([str(self.push)] if self.push else []), *self._missed()]
        return Answer(
            "; ".join(told),
            True,
            overlaps=self.push.overlaps if self.push else (),
            pushed=out(pushed),
            energy=out(self.energy),
            momentum=out(self.momentum[:, 3:]),
            angular_momentum=out(self.momentum[:, :3]),
            moved=self.moved,
            inverse=self.plan.inverse,
        )

    def _missed(self) -> list[str]:
        """What the joints did not allow of the state that was asked for, of the first world."""
        found, places = [], self.plan.places
        now = Places.of(self.bench)
        for name, what in self.plan.asked if places is not None else ():
            assert places is not None
            (wanted, unit), (there, _) = (_part_of(each, name, what) for each in (places, now))
            off = float(np.abs(there - wanted).max())
            if off > MISSED * (1.0 + np.abs(wanted).max()):
                shown = ", ".join(f"{value:.4g}" for value in there.tolist())
                found.append(f"the joints leave '{name}' {what.replace('_', ' ')} ({shown}){unit}, off by {off:.3g}")
        return found


MISSED = 1e-9  # a state that was asked for and is off by more is told


def _part_of(places: Places, name: str, what: str) -> tuple[np.ndarray, str]:
    """Of a body's place in the first world, and its unit."""
    match what:
        case "position":
            return places.p_WB[name][0], " m"
        case "orientation":
            q = places.q_WB[name][0]
            return q if q[3] >= 0 else -q, ""
        case "velocity":
            return places.twist[name][0, 3:], " m/s"
    return places.twist[name][0, :3], " rad/s"


def rebuild(
    old: Bench,
    plan: Plan,
    coordinates: str,
    hands: int | None = None,
    loads: int | None = None,
    fresh: bool = False,
    turning: bool = False,
) -> Rebuilt:
    """Build the system of a plan, carry the state over and check it; raises EditError if it cannot be."""
    was, plan.model = old.system, tidied(plan.model)
    refuse_stacked(was)
    hands = was.counts.hands if hands is None else hands
    spare = (was.counts.loads if loads is None else loads) - len(was.model.loads)
    system = System(
        *(plan.model, was.counts.worlds, was.device, coordinates, hands, max(0, spare)),
        checked=True,
        contacts=was.asked,
        turning=turning or (bool(was.counts.turns) and not fresh),
    )
    change = Change(system, plan.places or Places.of(old), plan.joints, plan.points, turns(old, plan), fresh)
    outcome = carry(old, change)
    if outcome.open:
        worst = sorted(outcome.open.items(), key=lambda item: -item[1])[:6]
        told = ", ".join(f"'{name}' by {gap:.3g}" for name, gap in worst)
        raise EditError(
            f"model '{plan.model.name}': cannot be assembled like this; these joints stay open: {told} [m, rad]; "
            'move the bodies nearer, or make the joint at the present pose (frames="present")'
        )
    new = outcome.bench
    refuse_locked_motors(new.system, new.state, new.work, EditError)
    push = push_carried(old, new)
    left = release_lost(old, new) if not fresh else 0.0
    start, after = (bench.work.energy.numpy().sum(axis=0) for bench in (old, new))
    added = after - start
    if not (np.isfinite(after).all() and np.isfinite(new.state.numpy()).all()):
        raise EditError(f"model '{plan.model.name}': its state would not be finite; check the values given")
    if fresh:
        new.state.write("start_energy", after[None])
    else:
        new.state.write("edits", new.state.read("edits") + added + left)
    moved = max(outcome.moved, push.moved if push else 0.0)
    return Rebuilt(new, plan, added, momentum(new) - momentum(old), moved, push)


def refuse_stacked(system: System) -> None:
    """Refuse to build worlds anew that were built of models of their own: one model cannot say what they are."""
    if system.each:
        raise EditError(
            f"model '{system.model.name}': its worlds were built of models of their own, and cannot be built anew; "
            "change the models and make a World of them"
        )


def turns(bench: Bench, plan: Plan) -> dict[tuple[JointKey, int], np.ndarray]:
    """Coordinates, whole turns counted, that those of the new system are to be near."""
    q, loop_q = bench.state.read("q"), bench.state.read("loop_q")
    before = {
        key: (q[at] if at >= 0 else loop_q[-1 - at]).copy()
        for key, at in bench.system.coordinate.items()
        if code_counts_turns(key[1])
    }
    kept = {key: values for key, values in before.items() if key not in plan.forgotten}
    kept |= {now: before[was] for now, was in plan.renumbered.items() if was in before}
    return kept


def release_lost(old: Bench, new: Bench) -> np.ndarray | float:
    """Book hands whose body is gone as if they had let go; returns the energy left in their springs [world]."""
    left: np.ndarray | float = 0.0
    for k, name in enumerate(old.system.hand_names):
        if not name or new.system.hand_names[k] is not None:
            continue
        was, now = slots_of(old.system, k), slots_of(new.system, k)
        energy = elastic_energy(old, k)
        past = new.state.read("past_hands").copy()
        past[0] += old.state.read("work")[was].sum(axis=0) - energy
        past[1] += old.state.read("loss")[was].sum(axis=0)
        new.state.write("past_hands", past)
        for block in ("work", "loss", "impulse"):
            values = new.state.read(block).copy()
            values[now] = 0.0
            new.state.write(block, values)
        left = left + energy
    return left


def momentum(bench: Bench) -> np.ndarray:
    """Angular, about the world's origin, and linear momentum [world, 6]."""
    own = momenta(bench.system.parameter("mass"), bench.read("I_W"), bench.read("twist"))
    total = own.sum(axis=0)
    moved = np.einsum("bwi,bwj->wij", bench.read("p_WB"), own[..., 3:])  # Σ p Pᵀ, of which Σ p × P is a part
    total[:, :3] += moved[:, [1, 2, 0], [2, 0, 1]] - moved[:, [2, 0, 1], [1, 2, 0]]
    return total
