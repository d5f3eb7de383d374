"""Bodies that touch, in domains: who has which, who has copies, and how contacts across borders are solved.

After Preclik and Rüde 2015 (Comput. Part. Mech. 2), block Gauss-Seidel over the domains with aggregated messages:

    a contact is solved by one rank alone: by the lower of its bodies' two, which has a copy of the other's body
    a sweep     each rank sweeps its own contacts, copies among their bodies; then what was done to copies goes to their
                owners in one message a neighbour (contacts), and the new states come back (bodies)
    a body of which n ranks have something has the n-th part of its mass with each, and then the mean of what they did:

        V ← V + Σ_k (V_k - V) / n,   each V_k by impulses on m / n: momentum is that of the impulses, once each

Where we depart: they damp what is done to copies by a factor; splitting masses (Tonge 2012) needs none, and the point
to which sweeps converge is that of one rank.

Domains are pieces of a space curve. Copies are made of what may come within reach before a body has gone half the skin;
then bodies move on to the ranks in whose domains their centres are, with the impulses of their contacts, and domains
are cut anew where one has too many.
"""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import warp as wp

from ...author.errors import StepError
from ...engine.large.arrays import LargeArrays
from ...engine.large.bench import SHARES, LargeBench
from ...engine.large.borders import POSE, TWIST, WIDTH, Border, farthest, scaled_answers
from ...engine.large.bulk import Bulk
from ...engine.large.contacts import KEPT, Contacts
from ...engine.spatial import f64, mat33, vec3
from .partition import Curve
from .ranks import Neighbours

SKIN = 0.5  # of the largest radius: bodies may go half of it until copies are made anew
REACH = 2.2  # of the largest radius: as far are centres apart that a step counts as contacts, at most
CORNERS = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), -1).reshape(27, 3)
FIELDS = ("numbers", "copies", "copied_from", "holders", "copy_holders", "to", "to_rank", "since")  # of a Group


@dataclass(frozen=True)
class Group:
    """The bodies of a rank at a time."""

    curve: Curve
    numbers: np.ndarray  # of its bodies in the world, sorted
    copies: np.ndarray  # numbers of the bodies of which it has copies, by rank
    copied_from: np.ndarray  # [copy] rank
    holders: np.ndarray  # [body] ranks that have it or a copy
    copy_holders: np.ndarray  # [copy] the same
    to: np.ndarray  # places of bodies that others have copies of, by rank
    to_rank: np.ndarray
    since: np.ndarray  # [body, 3] where bodies were when copies were made [m]

    @property
    def neighbours(self) -> set[int]:
        return {int(k) for k in np.union1d(self.copied_from, self.to_rank)}

    def arrays(self) -> dict[str, np.ndarray]:
        """For a checkpoint."""
        kept = {name: getattr(self, name) for name in FIELDS}
        return kept | {"edge": np.array(self.curve.edge), "cuts": self.curve.cuts}

    @staticmethod
    def of(kept: dict[str, np.ndarray]) -> "Group":
        return Group(Curve(float(kept["edge"]), kept["cuts"]), **{name: kept[name] for name in FIELDS})


def edge_of(bulk: Bulk) -> float:
    """Of cells by which space is divided: as far as a copy may matter [m]."""
    return (REACH + SKIN) * float(bulk.radius.max())


def group(curve: Curve, numbers: np.ndarray, states: np.ndarray, net: Neighbours) -> tuple[Group, np.ndarray]:
    """Copies for bodies that are where they belong, and their states, the copies' behind; all ranks call it."""
    rank, p = net.ranks.rank, states[:, :3]
    near = np.stack([curve.owner(p + curve.edge * corner) for corner in CORNERS], 1)
    wanted = np.zeros((len(numbers), net.ranks.size), bool)
    wanted[np.arange(len(numbers))[:, None], near] = True
    wanted[:, rank:] = False  # the lower rank solves a contact: only it needs a copy
    holders = 1 + wanted.sum(1)
    records = np.column_stack([numbers, holders, states])
    net.reach({int(k) for k in np.flatnonzero(wanted.any(0))})
    sent = {k: records[wanted[:, k]] for k in net.others}
    found = net.send("bodies", sent, records.shape[1])
    came = np.concatenate([*found, np.zeros((0, records.shape[1]))])
    made = Group(
        curve,
        numbers,
        copies=came[:, 0].astype(np.int64),
        copied_from=np.repeat(np.array(net.others, np.int64), [len(one) for one in found]),
        holders=holders,
        copy_holders=came[:, 1].astype(np.int64),
        to=np.concatenate([*(np.flatnonzero(wanted[:, k]) for k in net.others), np.zeros(0, np.int64)]),
        to_rank=np.repeat(np.array(net.others, np.int64), [len(sent[k]) for k in net.others]),
        since=p.copy(),
    )
    return made, np.concatenate([states, came[:, 2:]])


def bench_of(whole: Bulk, made: Group, states: np.ndarray, device: str) -> LargeBench:
    """The bench of a rank's bodies and copies."""
    here = np.concatenate([made.numbers, made.copies])
    local = replace(
        whole,
        position=states[:, :3].copy(),
        orientation=states[:, 3:7].copy(),
        twist=states[:, 7:].copy(),
        kind=whole.kind[here],
    )
    return LargeBench(local, device, own=len(made.numbers))


class SharedContacts(Contacts):
    """Contacts that a rank solves, and what is done to bodies that others have as well."""

    TAKES_GRAPHS = False  # messages come between sweeps

    def __init__(self, bench: LargeBench, made: Group, net: Neighbours):
        super().__init__(bench)
        self.group, self.net, device = made, net, bench.device
        self.a = self._split_masses()
        if bench.wet and bench.wet.adds:
            many = np.concatenate([made.holders, made.copy_holders]).astype(float)
            self.a.answer = wp.zeros_like(bench.a.answer)
            scaled_answers(bench, many, self.a.answer)
        self._counts_out = [int((made.to_rank == k).sum()) for k in net.others]
        self._counts_in = [int((made.copied_from == k).sum()) for k in net.others]
        self._shown, self._slot = np.unique(made.to, return_inverse=True)
        self._share = 1.0 / made.holders[self._shown][:, None]
        self._own_border = Border(bench.x, self._shown, device)
        self._copy_border = Border(bench.x, np.arange(bench.own, bench.bodies), device)
        self._since = wp.array(made.since, dtype=vec3, device=device)

    def _split_masses(self) -> LargeArrays:
        """Arrays in which a body that n ranks share has the n-th part of its mass."""
        bench, bulk = self.bench, self.bench.bulk
        many = np.concatenate([self.group.holders, self.group.copy_holders])
        keys, kind = np.unique(np.stack([bulk.kind, many], 1), axis=0, return_inverse=True)
        old, parts = keys.T
        a, whole = LargeArrays(), cast(Any, bench.a)
        for name in whole._cls.vars:
            setattr(a, name, getattr(whole, name))
        a.kind = wp.array(kind.ravel().astype(np.int32), dtype=wp.int32, device=bench.device)
        a.mass = wp.array(bulk.mass[old] / parts, dtype=f64, device=bench.device)
        inertia = bulk.inertia[old] / parts[:, None, None]
        a.inertia = wp.array(inertia, dtype=mat33, device=bench.device)
        a.inverse = wp.array(np.linalg.inv(inertia), dtype=mat33, device=bench.device)
        a.radius = wp.array(bulk.radius[old], dtype=f64, device=bench.device)
        return a

    # what ranks agree on --------------------------------------------------------------------------

    def largest(self, value: float) -> float:
        return self.net.ranks.largest(value)

    def _colour(self) -> None:
        trouble = ""
        try:
            super()._colour()
        except StepError as error:
            trouble = str(error)
        self.net.ranks.agree(trouble)

    def way(self, h: float) -> float:
        """How far a body of any rank may have gone since copies were made, after a step h [m]."""
        self._launch(farthest, SHARES, self.bench.x, self._since, self.bench.sums[0])
        return self.largest(float(self.bench.sums[0].numpy().max())) + self._way(self.fastest(), h)

    # sweeps ---------------------------------------------------------------------------------------

    def _sweep(self, again: int = 0) -> None:
        before = self._own_border.take(), self._copy_border.take()
        super()._sweep(again)
        self._share_out(before, slice(7, WIDTH), int(TWIST))

    def _separate(self) -> None:
        before = self._own_border.take(), self._copy_border.take()
        super()._separate()
        self._share_out(before, slice(0, 3), int(POSE))

    def _share_out(self, before: tuple[np.ndarray, np.ndarray], columns: slice, parts: int) -> None:
        """What was done to copies goes to the owners, in the order of ranks; what came of it goes back."""
        own, copied = self._own_border.take(), self._copy_border.take()
        done = copied[:, columns] - before[1][:, columns]
        came = self.net.swap("contacts", self._split(done, self._counts_in), self._counts_out)
        total = own[:, columns] - before[0][:, columns]
        begin = 0
        for part in came:  # a body comes once from a rank
            total[self._slot[begin : begin + len(part)]] += part
            begin += len(part)
        own[:, columns] = before[0][:, columns] + total * self._share
        self._own_border.put(own, parts)
        back = self.net.swap("bodies", self._split(own[self._slot][:, columns], self._counts_out), self._counts_in)
        if back:
            copied[:, columns] = np.concatenate(back)
        self._copy_border.put(copied, parts)

    @staticmethod
    def _split(table: np.ndarray, counts: list[int]) -> list[np.ndarray]:
        return np.split(table, np.cumsum(counts)[:-1]) if counts else []

    # moving on ------------------------------------------------------------------------------------

    def listed(self) -> np.ndarray:
        """Contacts as numbers of the world [contact, 6]: bodies (second: or -1 - plane), normal, slip impulses."""
        here = np.concatenate([self.group.numbers, self.group.copies])
        n = self.count
        first, second = self.list.first.numpy()[:n], self.list.second.numpy()[:n]
        second = np.where(second >= 0, here[second], second)
        return np.column_stack([here[first], second, self.list.normal.numpy()[:n], self.list.slip.numpy()[:n]])

    def inherit(self, listed: np.ndarray) -> None:
        """Begin with impulses of contacts as `listed` has them; those of bodies that are not here are left out."""
        here = np.concatenate([self.group.numbers, self.group.copies])
        order = np.argsort(here, kind="stable")

        def place(numbers: np.ndarray) -> np.ndarray:
            at = order[np.minimum(np.searchsorted(here[order], numbers), len(here) - 1)]
            return np.where(here[at] == numbers, at, -1)

        one, two = listed[:, 0].astype(np.int64), listed[:, 1].astype(np.int64)
        first, second = place(one), np.where(two >= 0, place(np.maximum(two, 0)), two)
        known = (first >= 0) & ((two < 0) | (second >= 0))
        first, second, values = first[known], second[known], listed[known, 2:]
        turned = (two[known] >= 0) & (second < first)
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        values[turned, 1:] *= -1.0  # slip is what the second body feels
        order = np.lexsort((second, first))
        first, second, values = first[order], second[order], values[order]
        begin = np.searchsorted(first, np.arange(self.bench.bodies + 1))
        uncoloured = np.full(len(first), -1)
        self.restore(self._kept(begin, first, second, uncoloured, values[:, 0], values[:, 1:]))

    def _kept(self, begin: np.ndarray, *arrays: np.ndarray) -> tuple:
        """A snapshot of arrays of the host."""
        device, made = self.bench.device, []
        dtypes = (wp.int32, wp.int32, wp.int32, f64, vec3)
        for values, dtype in zip(arrays, dtypes, strict=True):
            shape = np.ascontiguousarray(values if len(values) else np.zeros((1, *values.shape[1:])))
            made.append(wp.array(shape, dtype=dtype, device=device))
        return (len(arrays[0]), wp.array(begin.astype(np.int32), dtype=wp.int32, device=device), *made)

    def arrays(self) -> dict[str, np.ndarray]:
        """What contacts leave for the next step, as arrays of the host."""
        n = self.count
        return {"begin": self.list.begin.numpy()} | {name: getattr(self.list, name).numpy()[:n] for name in KEPT}

    def take_arrays(self, kept: dict[str, np.ndarray]) -> None:
        self.restore(self._kept(kept["begin"], *(kept[name] for name in KEPT)))


def move_on(contacts: SharedContacts, curve: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bodies to the ranks in whose domains they are, contacts to those that solve them now.

    Numbers, states and contacts of what this rank has then; all ranks call it.
    """
    bench, net, made = contacts.bench, contacts.net, contacts.group
    every = Border(bench.x, np.arange(bench.bodies), bench.device).take()
    listed = contacts.listed()
    owner = curve.owner(every[:, :3])  # of copies too: they are where their bodies are
    here = np.concatenate([made.numbers, made.copies])
    records = np.column_stack([made.numbers, every[: bench.own]])
    solver = _solvers(listed, here, owner)
    goes = owner[: bench.own]
    net.reach({int(k) for k in np.union1d(goes, solver)} - {net.ranks.rank} | set(net.others))
    came = net.send("bodies", {k: records[goes == k] for k in net.others}, records.shape[1])
    records = np.concatenate([records[goes == net.ranks.rank], *came])
    records = records[np.argsort(records[:, 0])]
    came = net.send("contacts", {k: listed[solver == k] for k in net.others}, 6)
    listed = np.concatenate([listed[solver == net.ranks.rank], *came])
    return records[:, 0].astype(np.int64), records[:, 1:], listed


def _solvers(listed: np.ndarray, here: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Ranks that solve contacts, by the owners [body here]."""
    order = np.argsort(here)
    first = owner[order[np.searchsorted(here[order], listed[:, 0])]]
    two = listed[:, 1].astype(np.int64)
    second = owner[order[np.minimum(np.searchsorted(here[order], np.maximum(two, 0)), len(here) - 1)]]
    return np.where(two >= 0, np.minimum(first, second), first)
