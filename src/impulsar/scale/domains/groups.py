"""Which rank has which of the bodies that touch, and copies of which; and how they move on.

    home     of a body: the rank in whose piece of the curve its centre of mass is
    owner    its home; but what joints or springs hold together (and what they hold to the ground) stays whole on the
             rank that is the home of its first body at the start: its joints are solved there, as on one rank
    solver   of a contact: of bodies of one level of sizes (engine/large/solids.py) the lower of their homes, else the
             smaller one's home
    holders  of a body: the ranks that may solve contacts of it, which have it or a copy: those in whose pieces
             something of its level or a smaller one may come within reach, of its own level up to its home

Cells of the curve are as wide as the smallest bodies reach. Copies are made of what may come within reach before a body
has gone half the skin; then bodies move on to their new homes, with the impulses of their contacts.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ...engine.large.bench import LargeBench
from ...engine.large.borders import Border
from ...engine.large.bulk import Bulk
from ...engine.large.extras import acting_in
from ...engine.large.pile import solid_arrays
from .partition import Curve
from .ranks import Neighbours

if TYPE_CHECKING:
    from .pile import Shared

SKIN = 0.5  # of the radius of the lowest level: bodies may go half of it until copies are made anew
REACH = 2.2  # of the radius of a level: as far are centres of its bodies apart that a step counts as contacts, at most
LOOKED_AT = 2**20  # places at a time
FIELDS = (
    *("numbers", "copies", "copied_from", "holders", "copy_holders", "home", "copy_home", "to", "to_rank", "since"),
)  # of a Group
OF_JOINTS = ("joint_kind", "p_PF", "q_PF", "p_CM", "q_CM", "length")


@dataclass(frozen=True)
class Group:
    """The bodies of a rank at a time."""

    curve: Curve
    numbers: np.ndarray  # of its bodies in the world, sorted
    copies: np.ndarray  # numbers of the bodies of which it has copies, by rank
    copied_from: np.ndarray  # [copy] rank
    holders: np.ndarray  # [body] how many ranks solve contacts of it
    copy_holders: np.ndarray  # [copy] the same
    home: np.ndarray  # [body] rank
    copy_home: np.ndarray  # [copy]
    to: np.ndarray  # places of bodies that others have copies of, by rank
    to_rank: np.ndarray
    since: np.ndarray  # [body, 3] where bodies were when copies were made [m]

    @property
    def neighbours(self) -> set[int]:
        return {int(k) for k in np.union1d(self.copied_from, self.to_rank)}

    @property
    def here(self) -> np.ndarray:
        """Numbers of bodies and copies."""
        return np.concatenate([self.numbers, self.copies])

    def arrays(self) -> dict[str, np.ndarray]:
        """For a checkpoint."""
        kept = {name: getattr(self, name) for name in FIELDS}
        return kept | {"edge": np.array(self.curve.edge), "cuts": self.curve.cuts}

    @staticmethod
    def of(kept: dict[str, np.ndarray]) -> "Group":
        return Group(Curve(float(kept["edge"]), kept["cuts"]), **{name: kept[name] for name in FIELDS})


@dataclass(frozen=True)
class Sizes:
    """Of the bodies of a world: the radius of what is on the lowest level [m], and the level of each."""

    radius: float
    level: np.ndarray  # [body]

    @property
    def edge(self) -> float:
        """Of the curve's cells: as far as bodies of the lowest level reach, until copies are made anew [m]."""
        return (REACH + SKIN) * self.radius


def sizes_of(bulk: Bulk) -> Sizes:
    """Balls by radius are all on one level."""
    if not any(bulk.shapes):
        return Sizes(float(bulk.radius.max()), np.zeros(bulk.bodies, np.int64))
    solid, radius, _ = solid_arrays(bulk, "cpu")
    return Sizes(radius, solid.level.numpy()[bulk.kind].astype(np.int64))


def held_together(bulk: Bulk) -> np.ndarray:
    """[body] the first body of those that joints and springs hold together with it, -1: none hold it."""
    first = np.concatenate([bulk.first, [one.first for one in bulk.springs]]).astype(np.int64)
    second = np.concatenate([bulk.second, [one.second for one in bulk.springs]]).astype(np.int64)
    both = (first >= 0) & (second >= 0)
    graph = csr_matrix((np.ones(both.sum()), (first[both], second[both])), shape=(bulk.bodies,) * 2)
    part = connected_components(graph, directed=False)[1]
    leader = np.unique(part, return_index=True)[1][part]
    held = np.zeros(bulk.bodies, bool)
    for end in (first, second):
        held[end[end >= 0]] = True
    return np.where(held, leader, -1)


def _near(curve: Curve, p: np.ndarray, level: np.ndarray, ranks: int) -> np.ndarray:
    """[body, rank] whether a rank's pieces are within reach of bodies of these levels."""
    out = np.zeros((len(p), ranks), bool)
    for one in np.unique(level):
        most = 2 ** int(one)
        steps = np.stack(np.meshgrid(*[np.arange(-most, most + 1.0)] * 3, indexing="ij"), -1).reshape(-1, 3)
        which = np.flatnonzero(level == one)
        for some in np.array_split(which, -(-len(which) * len(steps) // LOOKED_AT)):
            places = p[some, None] + curve.edge * steps
            owners = curve.owner(places.reshape(-1, 3)).reshape(len(some), -1)
            out[some[:, None], owners] = True
    return out


def group(
    curve: Curve, numbers: np.ndarray, states: np.ndarray, net: Neighbours, sizes: Sizes
) -> tuple[Group, np.ndarray]:
    """Copies for bodies that are where they belong, and their states, the copies' behind; all ranks call it."""
    rank, p, level = net.ranks.rank, states[:, :3], sizes.level[numbers]
    home = curve.owner(p)
    wanted = _near(curve, p, level, net.ranks.size)
    wanted &= (np.arange(net.ranks.size) <= home[:, None]) | (level > sizes.level.min())[:, None]
    holders = wanted.sum(1)
    wanted[:, rank] = False
    records = np.column_stack([numbers, holders, home, states])
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
        home=home,
        copy_home=came[:, 2].astype(np.int64),
        to=np.concatenate([*(np.flatnonzero(wanted[:, k]) for k in net.others), np.zeros(0, np.int64)]),
        to_rank=np.repeat(np.array(net.others, np.int64), [len(sent[k]) for k in net.others]),
        since=p.copy(),
    )
    return made, np.concatenate([states, came[:, 3:]])


def bench_of(whole: Bulk, made: Group, states: np.ndarray, device: str) -> LargeBench:
    """The bench of a rank's bodies and copies; joints, springs and what acts in them are at its own bodies."""
    here, n = made.here, len(made.numbers)
    local = np.full(whole.bodies + 1, -1)
    local[here] = np.arange(len(here))
    is_own = np.zeros(whole.bodies + 1, bool)
    is_own[made.numbers] = True
    joints = np.flatnonzero(is_own[whole.first] | is_own[whole.second])
    springs = [k for k, one in enumerate(whole.springs) if is_own[one.first] or is_own[one.second]]
    bulk = replace(
        whole,
        position=states[:, :3].copy(),
        orientation=states[:, 3:7].copy(),
        twist=states[:, 7:].copy(),
        kind=whole.kind[here],
        first=local[whole.first[joints]],
        second=local[whole.second[joints]],
        **{name: getattr(whole, name)[joints] for name in OF_JOINTS},
        **acting_in(whole, joints, springs, local),  # type: ignore[arg-type]
        no_contact=_apart(whole, local),
        joined_apart=True,
    )
    return LargeBench(bulk, device, own=n)


def _apart(whole: Bulk, local: np.ndarray) -> np.ndarray:
    """Pairs that never touch of bodies that are here, copies that a joint joins elsewhere among them."""
    joined = np.stack([whole.first, whole.second], 1) if whole.joined_apart else np.zeros((0, 2), np.int64)
    joined = joined[(joined >= 0).all(1)]
    pairs = np.concatenate([joined, np.asarray(whole.no_contact, np.int64).reshape(-1, 2)])
    there = np.where(pairs >= 0, local[np.maximum(pairs, 0)], pairs)
    return there[((pairs < 0) | (there >= 0)).all(1)]


def move_on(
    contacts: "Shared", curve: Curve, held: np.ndarray, sizes: Sizes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bodies to their new homes, contacts to those that solve them now; `held` [body of the world] stay.

    Numbers, states and contacts of what this rank has then; all ranks call it.
    """
    bench, net, made = contacts.bench, contacts.net, contacts.group
    every = Border(bench.x, np.arange(bench.bodies), bench.device).take()
    listed = contacts.listed()
    home = curve.owner(every[:, :3])  # of copies too: they are where their bodies are
    records = np.column_stack([made.numbers, every[: bench.own]])
    solver = _solvers(listed, made.here, home, sizes.level[made.here])
    goes = np.where(held[made.numbers], net.ranks.rank, home[: bench.own])
    net.reach({int(k) for k in np.union1d(goes, solver)} - {net.ranks.rank} | set(net.others))
    came = net.send("bodies", {k: records[goes == k] for k in net.others}, records.shape[1])
    records = np.concatenate([records[goes == net.ranks.rank], *came])
    records = records[np.argsort(records[:, 0])]
    came = net.send("contacts", {k: listed[solver == k] for k in net.others}, listed.shape[1])
    listed = np.concatenate([listed[solver == net.ranks.rank], *came])
    return records[:, 0].astype(np.int64), records[:, 1:], listed


def _solvers(listed: np.ndarray, here: np.ndarray, home: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Ranks that solve contacts, by homes and levels [body here]."""
    order = np.argsort(here)

    def place(numbers: np.ndarray) -> np.ndarray:
        return order[np.minimum(np.searchsorted(here[order], numbers), len(here) - 1)]

    two = listed[:, 1].astype(np.int64)
    one, other = place(listed[:, 0].astype(np.int64)), place(np.maximum(two, 0))
    smaller = np.where(level[one] <= level[other], home[one], home[other])
    both = np.where(level[one] == level[other], np.minimum(home[one], home[other]), smaller)
    return np.where(two >= 0, both, home[one])
