"""A mechanism in parts: each rank has its bodies, and copies of those that its joints lead to.

Copies do not answer to impulses (their inverse mass is 0), so that blocks of A have the share of this rank's bodies
alone; rows are read off copies, whose states come from their owners before.

What acts in the freedoms of a cut joint (engine/large/laws.py) both of its ranks have, and follow alike from the same
states to the same bits; its softness on the diagonal of A, and whether its line changes, count on the rank that tells
the joint's errors. Lines that change, and slopes along a direction of Newton's method, are summed over all ranks, so
that all take the same steps. Springs are joints without locks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...engine.large.arrays import LargeArrays
from ...engine.large.bench import LargeBench
from ...engine.large.borders import Border, Columns, scaled_answers
from ...engine.large.bulk import Bulk
from ...engine.large.extras import acting_in, with_springs
from ...engine.large.laws import Laws
from ...engine.large.wet import immerse_bodies
from ...engine.spatial import f64, mat33
from .interface import Interface
from .ranks import Neighbours, Ranks

WRITERS = ("drift", "kick", "_kick_half", "move", "push")
READERS = ("place_rows", "measure_errors", "measure_rates", "measure_accelerations")
OF_LAWS = ("follow", "_set", "_choose", "_widen", "_keep_start", "_keep_end", "end", "hold", "_measure")
JOINTS = ("joint_kind", "p_PF", "q_PF", "p_CM", "q_CM", "length")


@dataclass(frozen=True)
class Part:
    """A rank's share of a mechanism."""

    bulk: Bulk  # its bodies in the order of their numbers, then the copies
    bodies: np.ndarray  # numbers of its bodies in the world
    copies: np.ndarray
    copied_from: np.ndarray  # [copy] rank
    joints: np.ndarray  # numbers of the joints at its bodies, those of springs behind all others
    cut: np.ndarray  # of these the places of those across borders
    led: np.ndarray  # [cut] whether this rank tells their errors


def part_of(bulk: Bulk, owner: np.ndarray, rank: int) -> Part:
    """The share of a rank, of bodies that have these owners [body]."""
    every = with_springs(bulk)
    ends = np.stack([every.first, every.second])
    whose = np.where(ends >= 0, owner[ends], -1)
    numbers = np.flatnonzero((whose == rank).any(0))
    ends, whose = ends[:, numbers], whose[:, numbers]
    joints, springs = numbers[numbers < bulk.joints], numbers[numbers >= bulk.joints] - bulk.joints
    bodies = np.flatnonzero(owner == rank)
    copies = np.unique(ends[(whose >= 0) & (whose != rank)])
    local = np.full(bulk.bodies + 1, -1)
    here = np.concatenate([bodies, copies])
    local[here] = np.arange(len(here))
    acting = acting_in(bulk, joints, springs.tolist(), local)
    acting["loads"] = [one for one in acting["loads"] if one.body < len(bodies)]
    cut = np.flatnonzero(((whose >= 0) & (whose != rank)).any(0))
    mine = replace(
        bulk,
        position=bulk.position[here],
        orientation=bulk.orientation[here],
        twist=bulk.twist[here],
        kind=bulk.kind[here],
        first=local[bulk.first[joints]],
        second=local[bulk.second[joints]],
        **{name: getattr(bulk, name)[joints] for name in JOINTS},
        **acting,  # type: ignore[arg-type]
    )
    return Part(mine, bodies, copies, owner[copies], numbers, cut, whose[1, cut] == rank)


class MechanismBench(LargeBench):
    """The bench of a part. Whoever reads rows has the copies' states of now."""

    def __init__(self, part: Part, owner: np.ndarray, whole: Bulk, ranks: Ranks, device: str):
        self.neighbours, self.stale = Neighbours(ranks), True
        self.neighbours.reach({int(k) for k in np.unique(part.copied_from)})
        n = len(part.bodies)
        self._lists(part, owner, joined := with_springs(whole))
        trouble = ""
        try:
            super().__init__(part.bulk, device, part.cut, n, whole)
        except ModelError as error:
            trouble = str(error)
        ranks.agree(trouble, ModelError)
        self._shown = Border(self.x, np.concatenate([*self._to, np.zeros(0, np.int64)]), device)
        self._copied = Border(self.x, np.arange(n, self.bodies), device)
        self._told_elsewhere = Columns(self.b, self.factor.plan.column[part.cut[~part.led]])
        first, second = joined.first, joined.second
        every = np.flatnonzero((owner[first] != owner[second]) & (first >= 0) & (second >= 0))
        nets = len(self.factor.plan.core) - len(part.cut) if self.jointed else 0
        if len(every) or (ranks.size > 1 and ranks.largest(float(nets))):
            self.factor.core = Interface(self.factor, part.joints, part.cut, every, ranks, whole.name)
        if self.wet and self.wet.adds:
            scaled_answers(self, (np.arange(self.bodies) < self.own).astype(float), self.a.answer)
        self._hook()
        if self.laws:
            self._share_laws(self.laws, part)

    def _lists(self, part: Part, owner: np.ndarray, whole: Bulk) -> None:
        """Which bodies go to which neighbour, and how many copies come from each."""
        place = np.full(whole.bodies, -1)
        place[part.bodies] = np.arange(len(part.bodies))
        rank = self.neighbours.ranks.rank
        ends = np.stack([whole.first, whole.second])
        whose = np.where(ends >= 0, owner[ends], -1)
        self._to: list[np.ndarray] = []
        self._from: list[int] = []
        for other in self.neighbours.others:
            shared = (whose == rank).any(0) & (whose == other).any(0)
            self._to.append(place[np.unique(ends[:, shared][whose[:, shared] == rank])])
            self._from.append(int((part.copied_from == other).sum()))
        order = np.lexsort((part.copies, part.copied_from))
        self._order = order  # copies by rank, as messages come

    def _fill_system(self) -> None:
        """Kinds are there twice: copies take impulses and do not answer."""
        super()._fill_system()
        a, kinds = self.a, len(self.bulk.mass)
        a.kind = self._whole(self.bulk.kind + kinds * (np.arange(self.bodies) >= self.own))
        a.mass = self._of(np.concatenate([self.bulk.mass, np.full(kinds, np.inf)]), f64)
        a.inertia = self._of(np.concatenate([self.bulk.inertia] * 2), mat33)
        a.inverse = self._of(np.concatenate([np.linalg.inv(self.bulk.inertia), np.zeros((kinds, 3, 3))]), mat33)
        a.radius = self._of(np.zeros(2 * kinds), f64)

    def answering(self) -> LargeArrays:
        """Arrays in which copies answer as their bodies do."""
        made, own = LargeArrays(), cast(Any, self.a)
        for name in own._cls.vars:
            setattr(made, name, getattr(own, name))
        made.kind = self._whole(self.bulk.kind)
        if self.wet and self.wet.adds:
            made.answer = wp.zeros_like(own.answer)
        self._answering = made
        return made

    def summed(self, value: float) -> float:
        return float(self.neighbours.ranks.total(np.array([value]))[0])

    def _share_laws(self, laws: Laws, part: Part) -> None:
        """What acts in joints is read of copies as they are now, and counts on one rank."""
        led = np.ones(self.joints, np.int32)
        led[part.cut[~part.led]] = 0
        laws.arrays.led.assign(led[laws.arrays.joint.numpy()])
        for name in OF_LAWS:
            setattr(laws, name, self._updated(getattr(laws, name)))
        if self.wet and self.wet.adds:
            immerse = self.wet.immerse
            whole = self.launcher(immerse_bodies, self.bodies, [self.m, self.x, self._answering])

            def both() -> None:
                immerse()
                whole()

            self.wet.immerse = self._updated(both)

    def _updated(self, stage: Callable[..., None]) -> Callable[..., None]:
        def run(*given: Any, **named: Any) -> None:
            self.update_copies()
            stage(*given, **named)

        return run

    def _hook(self) -> None:
        for name in WRITERS:
            setattr(self, name, self._then_stale(getattr(self, name)))
        for name in READERS:
            setattr(self, name, self._after_update(name, getattr(self, name)))

    def _then_stale(self, stage: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            stage()
            self.stale = True

        return run

    def _after_update(self, name: str, stage: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            self.update_copies()
            if name == "measure_accelerations":
                self._update_accelerations()
            stage()
            if name != "place_rows":
                self._told_elsewhere.blank()

        return run

    def update_copies(self) -> None:
        """The exchange of bodies: states of those that others have copies of."""
        if not self.stale:
            return
        found = self._exchanged(self._shown.take())
        self._copied.put(found)
        self.stale = False

    def _update_accelerations(self) -> None:
        found = self._exchanged(self._shown.take_twists(self.x.acceleration))
        self._copied.put_twists(self.x.acceleration, found)

    def _exchanged(self, shown: np.ndarray) -> np.ndarray:
        parts = np.split(shown, np.cumsum([len(one) for one in self._to])[:-1]) if self._to else []
        found = self.neighbours.swap("bodies", parts, self._from)
        out = np.empty((len(self._order), shown.shape[1]))
        if found:
            out[self._order] = np.concatenate(found)
        return out

    def evaluate(self) -> None:
        """Accelerations; poses of a stage are new."""
        self.stale = True
        super().evaluate()

    def longest_step(self) -> float:
        self.update_copies()
        return super().longest_step()
