"""`DomainWorld`: one large world over the ranks of an MPI job, a domain each.

Every rank makes the same world, and takes the same steps; each has its own bodies, and copies of what these touch or
are joined to. A body belongs to the rank in whose domain its centre of mass is (Wang 2011 §4.2). The four exchanges,
named after Wang's four buffers:

    bodies        states of bodies, from their owners to those who have copies; bodies that move on to another rank
    contacts      what contacts did to copies, to the owners; impulses of contacts that move on
    constraints   shares of the Schur complement of joints across borders
    reduction     shares of its right-hand sides; sums and largest values over all ranks

The first two go between neighbours, the last two to all ranks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from ...author.errors import ModelError, StepError
from ...author.model import Model
from ...engine.large.bench import LargeBench
from ...engine.large.borders import Border
from ...engine.large.bulk import Bulk
from ...engine.large.contacts import Touching
from ...engine.large.extras import with_springs
from ..large.world import LargeWorld
from .checkpoints import read_set, write_set
from .groups import SKIN, Group, bench_of, group, held_together, move_on, sizes_of
from .mechanism import MechanismBench, part_of
from .partition import Curve, by_graph, cut_curve
from .pile import Shared, SharedContacts, SharedPile
from .ranks import Neighbours, Ranks, job

UNEVEN = 1.15  # times its even share that a rank may have before domains are cut anew


class DomainWorld(LargeWorld):
    """A large world in domains, one a rank of `comm` (an mpi4py communicator; by default all ranks of the job).

    Options are those of `LargeWorld`. `positions`, `orientations` and `velocities` are of this rank's bodies, whose
    numbers in the world are `numbers`; `gather()` has them of all. Every rank has to make the same calls.
    """

    def __init__(self, what: Bulk | Model, dt: float = 1e-3, *, comm: Any = None, **options: Any):
        self.ranks = Ranks((job() if comm is None else comm).Dup())
        self.regrouped = 0  # times that bodies have moved on
        self._books: dict[str, float] = {}  # of fluids, of bodies that have been here
        super().__init__(what, dt, **options)

    def _build(self, bulk: Bulk) -> tuple[LargeBench, Touching | None]:
        self.bulk = bulk
        bulk.check()
        if bulk.touches:
            return self._pile(bulk)
        owner = by_graph(with_springs(bulk), self.ranks)
        part = part_of(bulk, owner, self.ranks.rank)
        self.numbers = part.bodies
        return MechanismBench(part, owner, bulk, self.ranks, self.device), None

    # bodies that touch ----------------------------------------------------------------------------

    def _pile(self, bulk: Bulk) -> tuple[LargeBench, Shared]:
        """Bodies as the curve has them at the start; those that joints hold together where their first is."""
        self._net, size = Neighbours(self.ranks), self.ranks.size
        if bulk.bodies < size:
            raise ModelError(f"{bulk.name}: {bulk.bodies} bodies cannot be divided among {size} ranks; take fewer")
        self._sizes, self._jointed = sizes_of(bulk), bool(bulk.joints or bulk.springs)
        share = np.array_split(bulk.position, size)[self.ranks.rank]
        curve = cut_curve(self._sizes.edge, share, self.ranks)
        leader = held_together(bulk)
        self._held = leader >= 0
        owner = curve.owner(bulk.position[np.where(self._held, leader, np.arange(bulk.bodies))])
        mine = np.flatnonzero(owner == self.ranks.rank)
        states = np.concatenate([bulk.position, bulk.orientation, bulk.twist], 1)[mine]
        return self._grouped(curve, mine, states)

    def _grouped(self, curve: Curve, numbers: np.ndarray, states: np.ndarray) -> tuple[LargeBench, Shared]:
        made, states = group(curve, numbers, states, self._net, self._sizes)
        return self._benched(made, states)

    def _benched(self, made: Group, states: np.ndarray) -> tuple[LargeBench, Shared]:
        bench = bench_of(self.bulk, made, states, self.device)
        self.numbers = made.numbers
        if any(self.bulk.shapes):
            return bench, SharedPile(bench, made, self._net, self._jointed, np.unique(self.bulk.kind))
        return bench, SharedContacts(bench, made, self._net, self._jointed)

    def _start(self) -> None:
        super()._start()  # all ranks take part: how far joints are apart is asked of all
        if isinstance(self.contacts, Shared):
            self.contacts.update_copies()

    def _step_fixed(self) -> int:
        if self.contacts and self.ranks.size > 1:
            self._regroup()
        return super()._step_fixed()

    def _regroup(self) -> None:
        """Bodies move on, and copies are made anew, before one could come within reach unseen."""
        contacts, acting = self.contacts, self.bench.laws
        assert isinstance(contacts, Shared)
        way = contacts.way(self.dt)
        if way <= 0.5 * SKIN * self._sizes.radius:
            return
        curve = contacts.group.curve
        at_home = self.ranks.total(np.bincount(contacts.group.home, minlength=self.ranks.size).astype(float))
        if at_home.max() > UNEVEN * self.bodies / self.ranks.size:
            curve = cut_curve(curve.edge, self.positions, self.ranks)
        self._books = self._fluid_books()
        numbers, states, listed = move_on(contacts, curve, self._held, self._sizes)
        self.bench, made = self._grouped(curve, numbers, states)
        self.contacts = made
        made.inherit(listed)
        if acting and self.bench.laws:  # of the same joints: these stay
            self.bench.laws.restore(acting.snapshot())
        self.regrouped += 1

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Go back to where the steps began if no rank can take them; a rank that fails alone must not wait for the
        others, which do not go back."""
        before = self.snapshot()
        try:
            yield
        except BaseException as error:
            if isinstance(error, StepError) or self.ranks.size == 1:
                self.restore(before)
            raise

    # where it goes on from ------------------------------------------------------------------------

    def pull(self, body: int, target: Any, at: Any = (0.0, 0.0, 0.0)) -> None:
        """Not here: a body goes from rank to rank."""
        raise ModelError("DomainWorld: has no hands; pull in a LargeWorld")

    def snapshot(self) -> tuple:
        """All that is needed to go on from here, on this rank."""
        return (self.bench, self.contacts, self.numbers, self._books, super().snapshot())

    def restore(self, kept: tuple) -> None:
        """Go back to a snapshot; all ranks call it."""
        moved_on = kept[1] is not self.contacts
        self.bench, self.contacts, self.numbers, self._books, rest = kept
        super().restore(rest)
        if moved_on and isinstance(self.contacts, Shared):
            self._net.reach(self.contacts.group.neighbours)
        if isinstance(self.bench, MechanismBench):
            self.bench.stale = True

    def arrays(self) -> dict[str, np.ndarray]:
        """The same as arrays of the host, as checkpoints have them."""
        x = self.bench.x
        made = {name: getattr(x, name).numpy() for name in ("p_WB", "q_WB", "twist")}
        made["numbers"] = self.numbers
        made["at"] = np.array([self.time, self.count, self._longest, self._drag, self._since, self._next])
        if self.bench.wet:
            gone = [self._books.get(name, 0.0) for name in self.bench.wet.books()]
            made["work"], made["books"] = self.bench.wet.work.numpy(), np.array(gone)
        if self.bench.laws:
            made |= {f"laws_{k}": one.numpy() for k, one in enumerate(self.bench.laws.snapshot())}
        if isinstance(self.contacts, Shared):
            made |= self.contacts.group.arrays() | self.contacts.arrays()
        return made

    def take_arrays(self, kept: dict[str, np.ndarray]) -> None:
        """Go on from arrays of a checkpoint; all ranks call it."""
        states = np.concatenate([kept[name][:, 0] for name in ("p_WB", "q_WB", "twist")], 1)
        if isinstance(self.contacts, Shared):
            made = Group.of(kept)
            self._net.reach(made.neighbours)
            self.bench, self.contacts = self._benched(made, states)
            self.contacts.take_arrays(kept)
        if self.bench.laws:
            before = self.bench.laws.snapshot()
            self.bench.laws.restore(
                tuple(wp.array(kept[f"laws_{k}"], dtype=one.dtype, device=self.device) for k, one in enumerate(before))
            )
        if self.bench.wet:
            self.bench.wet.work.assign(kept["work"])
            self._books = dict(zip(self.bench.wet.books(), kept["books"].tolist(), strict=True))
        self.numbers = kept["numbers"]
        Border(self.bench.x, np.arange(self.bench.bodies), self.device).put(states)
        self.time, self._longest, self._drag, self._next = (float(kept["at"][k]) for k in (0, 2, 3, 5))
        self.count, self._since = int(kept["at"][1]), int(kept["at"][4])
        if isinstance(self.bench, MechanismBench):
            self.bench.stale = True

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint of all ranks beneath a folder; all ranks call it."""
        return write_set(self, Path(folder))

    def resume(self, folder: str | Path) -> None:
        """Go on from the last full checkpoint beneath a folder, to the same bits; all ranks call it."""
        read_set(self, Path(folder))

    # what all ranks share -------------------------------------------------------------------------

    def _largest(self, value: float) -> float:
        return self.ranks.largest(value)

    def _unsettled(self) -> int:
        here = super()._unsettled()
        return here if isinstance(self.bench, MechanismBench) else int(self.ranks.total(np.array([float(here)]))[0])

    def _touching(self) -> tuple[int, float]:
        count, overlap = super()._touching()
        return int(self.ranks.total(np.array([count]))[0]), self.ranks.largest(overlap)

    # readings -------------------------------------------------------------------------------------

    @property
    def positions(self) -> np.ndarray:
        """Centres of mass of this rank's bodies [body, 3] [m]."""
        return super().positions[: self.bench.own]

    @property
    def orientations(self) -> np.ndarray:
        """Unit quaternions xyzw [body, 4]."""
        return super().orientations[: self.bench.own]

    @property
    def velocities(self) -> np.ndarray:
        """Twists [body, 6], angular first, world axes [rad/s, m/s]."""
        return super().velocities[: self.bench.own]

    def gather(self) -> dict[str, np.ndarray] | None:
        """On rank 0 positions, orientations and velocities of all bodies in the order of their numbers, else None."""
        mine = {name: getattr(self, name) for name in ("positions", "orientations", "velocities")}
        every = self.ranks.comm.gather((self.numbers, mine), root=0)
        if every is None:
            return None
        order = np.argsort(np.concatenate([numbers for numbers, _ in every]))
        return {name: np.concatenate([one[name] for _, one in every])[order] for name in mine}

    def energy(self) -> dict[str, float]:
        """Kinetic and potential energy of all bodies, and the books of fluids [J]."""
        kinetic, potential = self.bench.energy()
        mine = {"kinetic": kinetic, "potential": potential} | self._fluid_books()
        total = self.ranks.total(np.array([*mine.values()]))
        return {name: float(value) for name, value in zip(mine, total, strict=True)}

    def _fluid_books(self) -> dict[str, float]:
        """Of this rank, by what its bodies and those that have moved on did here."""
        if not self.bench.wet or self.method != "fixed":
            return {}
        return {name: value + self._books.get(name, 0.0) for name, value in self.bench.wet.books().items()}

    def momentum(self) -> np.ndarray:
        """Linear momentum of all bodies [3] [kg m/s]."""
        mass = self.bulk.mass[self.bulk.kind[self.numbers]]
        return self.ranks.total((mass[:, None] * self.velocities[:, 3:]).sum(0))

    def constraint_error(self) -> float:
        """2-norm of all position errors [m and rad]."""
        if not self.joints:
            return 0.0
        return float(np.sqrt(self.ranks.total(np.array([np.sum(self._measured("errors") ** 2)]))[0]))

    def exchanges(self) -> dict[str, dict[str, float]]:
        """Calls, bytes sent and seconds of this rank's exchanges, by kind."""
        return {kind: asdict(tally) for kind, tally in self.ranks.tallies.items()}
