"""Bodies that touch, in domains: how contacts across borders are solved.

After Preclik and Rüde 2015 (Comput. Part. Mech. 2), block Gauss-Seidel over the domains with aggregated messages:

    a contact is solved by one rank alone (groups.py), which has copies of bodies that are not its own
    a sweep     each rank sweeps its own contacts, copies among their bodies; then what was done to copies goes to their
                owners in one message a neighbour (contacts), and the new states come back (bodies)
    a body of which n ranks solve contacts has the n-th part of its mass with each, and then the mean of what they did:

        V ← V + Σ_k (V_k - V) / n,   each V_k by impulses on m / n: momentum is that of the impulses, once each

Where we depart: they damp what is done to copies by a factor; splitting masses (Tonge 2012) needs none, and the point
to which sweeps converge is that of one rank.

Poses are moved apart alike, turns as rotation vectors. Where shapes are swept there and back both ways come before one
message: with Q a sweep, Q* the way back and P the mean, P Q Q* P is symmetric, so changes die away without rocking, as
on one rank (engine/large/manifold.py). Joints are solved by the ranks that own their bodies, and states sent to the
copies after it.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import warp as wp

from ...author.errors import StepError
from ...engine.large.arrays import LargeArrays
from ...engine.large.bench import LargeBench
from ...engine.large.borders import POSE, TWIST, WIDTH, Border, farthest, scaled_answers
from ...engine.large.bulk import conjugate, multiply
from ...engine.large.contacts import KEPT, LISTED, Contacts, Touching
from ...engine.large.pile import POINTS, Pile
from ...engine.spatial import f64, mat33, vec3
from .groups import Group
from .ranks import Neighbours

PLACES, TURNS, TWISTS = slice(0, 3), slice(3, 7), slice(7, WIDTH)  # columns of a state
PAIRS = {"first": wp.int32, "second": wp.int32, "colour": wp.int32}  # of shapes that touch
TOLD = ("on_first", "on_second", "normal", "side", "shapes", "push", "slip")  # of a point that moves on
WIDTHS = (3, 3, 3, 1, 2, 1, 3)


class Shared(Touching):
    """Contacts that a rank solves, and what is done to bodies that others have as well."""

    TAKES_GRAPHS = False  # messages come between sweeps

    group: Group
    net: Neighbours

    def share(self, made: Group, net: Neighbours, jointed: bool) -> None:
        """Become a part of a world; jointed: whether it has joints."""
        bench, device = self.bench, self.bench.device
        self.group, self.net, self.jointed = made, net, jointed
        self.a = self._split_masses()
        if bench.wet and bench.wet.adds:
            many = np.concatenate([made.holders, made.copy_holders]).astype(float)
            self.a.answer = wp.zeros_like(bench.a.answer)
            scaled_answers(bench, many, self.a.answer)
        home = np.concatenate([made.home, made.copy_home]).astype(np.int32)
        self.grid.home, self.grid.here = wp.array(home, dtype=wp.int32, device=device), net.ranks.rank
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

    def _agreed(self, stage: Callable[[], None]) -> None:
        """What one rank cannot do, none does."""
        trouble = ""
        try:
            stage()
        except StepError as error:
            trouble = str(error)
        self.net.ranks.agree(trouble)

    def _colour(self) -> None:
        self._agreed(super()._colour)

    def way(self, h: float) -> float:
        """How far a body of any rank may have gone since copies were made, after a step h [m]."""
        self._launch(farthest, self.bench.shares, self.bench.x, self._since, self.bench.sums[0])
        return self.largest(float(self.bench.sums[0].numpy().max())) + self._way(self.fastest(), h)

    # joints ---------------------------------------------------------------------------------------

    def with_joints(self, stage: Callable[[], None]) -> None:
        """A stage of the joints of this rank, if it has any; then others have its bodies as they are."""
        self._agreed(stage if self.bench.jointed else lambda: None)
        self.update_copies()

    def update_copies(self) -> None:
        """States of bodies that others have copies of."""
        own = self._own_border.take()
        back = self.net.swap("bodies", self._split(own[self._slot], self._counts_out), self._counts_in)
        if back:
            self._copy_border.put(np.concatenate(back))

    # sweeps ---------------------------------------------------------------------------------------

    def _in_shares(self, sweep: Callable[[], None], parts: int) -> None:
        """A sweep of this rank's contacts; what was done to copies goes to the owners, in the order of ranks, and what
        came of it goes back."""
        before = self._own_border.take(), self._copy_border.take()
        sweep()
        own, copied = self._own_border.take(), self._copy_border.take()
        columns = TWISTS if parts == TWIST else slice(0, 7)
        done = _change(before[1], copied, parts)
        came = self.net.swap("contacts", self._split(done, self._counts_in), self._counts_out)
        total = _change(before[0], own, parts)
        begin = 0
        for part in came:  # a body comes once from a rank
            total[self._slot[begin : begin + len(part)]] += part
            begin += len(part)
        _put_change(own, before[0], total * self._share, parts)
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
        """What contacts leave, by numbers of the world: first body, second or -1 - obstacle, then the rest."""
        raise NotImplementedError

    def inherit(self, listed: np.ndarray) -> None:
        """Begin with what `listed` has; contacts of bodies that are not here are left out."""
        raise NotImplementedError

    def _named(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the world of bodies here."""
        return self.group.here[first], np.where(second >= 0, self.group.here[np.maximum(second, 0)], second)

    def _placed(self, one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bodies here by numbers of the world, and which pairs are here."""
        here = self.group.here
        order = np.argsort(here, kind="stable")

        def place(numbers: np.ndarray) -> np.ndarray:
            at = order[np.minimum(np.searchsorted(here[order], numbers), len(here) - 1)]
            return np.where(here[at] == numbers, at, -1)

        first, second = place(one), np.where(two >= 0, place(np.maximum(two, 0)), two)
        return first, second, (first >= 0) & ((two < 0) | (second >= 0))

    def _begin(self, first: np.ndarray) -> wp.array:
        """Where the contacts of each body begin."""
        begin = np.searchsorted(first, np.arange(self.bench.bodies + 1)).astype(np.int32)
        return wp.array(begin, dtype=wp.int32, device=self.bench.device)

    def _on_device(self, arrays: dict[str, np.ndarray], kinds: dict[str, Any]) -> list[wp.array]:
        """Arrays of the host, with room for one."""
        made = []
        for name, kind in kinds.items():
            values = arrays[name] if len(arrays[name]) else np.zeros((1, *arrays[name].shape[1:]))
            made.append(wp.array(np.ascontiguousarray(values), dtype=kind, device=self.bench.device))
        return made

    def arrays(self) -> dict[str, np.ndarray]:
        """What contacts leave for the next step, as arrays of the host."""
        raise NotImplementedError

    def take_arrays(self, kept: dict[str, np.ndarray]) -> None:
        """Go on from them."""
        raise NotImplementedError


def _change(before: np.ndarray, after: np.ndarray, parts: int) -> np.ndarray:
    """From state to state [body, 6]: of twists, or of poses, turns as rotation vectors."""
    if parts == TWIST:
        return after[:, TWISTS] - before[:, TWISTS]
    turn = multiply(after[:, TURNS], conjugate(before[:, TURNS]))
    turn = np.where(turn[:, 3:] < 0.0, -turn, turn)
    sine = np.linalg.norm(turn[:, :3], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, turn[:, 3:])
    vector = turn[:, :3] * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)
    return np.concatenate([after[:, PLACES] - before[:, PLACES], vector], 1)


def _put_change(state: np.ndarray, before: np.ndarray, change: np.ndarray, parts: int) -> None:
    """The state after a change."""
    if parts == TWIST:
        state[:, TWISTS] = before[:, TWISTS] + change
        return
    state[:, PLACES] = before[:, PLACES] + change[:, :3]
    half = 0.5 * np.linalg.norm(change[:, 3:], axis=1, keepdims=True)
    turned = np.concatenate([0.5 * np.sinc(half / np.pi) * change[:, 3:], np.cos(half)], 1)
    q = multiply(turned, before[:, TURNS])
    state[:, TURNS] = np.where(half > 0.0, q / np.linalg.norm(q, axis=1, keepdims=True), before[:, TURNS])


class SharedContacts(Shared, Contacts):
    """Balls by radius."""

    def __init__(self, bench: LargeBench, made: Group, net: Neighbours, jointed: bool):
        Contacts.__init__(self, bench)
        self.share(made, net, jointed)

    def _give_again(self) -> None:
        self._in_shares(lambda: Contacts._give_again(self), int(TWIST))

    def _sweep(self) -> None:
        self._in_shares(lambda: Contacts._sweep(self), int(TWIST))

    def _separate(self) -> None:
        self._in_shares(lambda: Contacts._separate(self), int(POSE))

    def listed(self) -> np.ndarray:
        n = self.count
        pair = self._named(self.list.first.numpy()[:n], self.list.second.numpy()[:n])
        return np.column_stack([*pair, self.list.normal.numpy()[:n], self.list.slip.numpy()[:n]])

    def inherit(self, listed: np.ndarray) -> None:
        two = listed[:, 1].astype(np.int64)
        first, second, known = self._placed(listed[:, 0].astype(np.int64), two)
        first, second, values = first[known], second[known], listed[known, 2:]
        turned = (two[known] >= 0) & (second < first)
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        values[turned, 1:] *= -1.0  # slip is what the second body feels
        order = np.lexsort((second, first))
        first, second, values = first[order], second[order], values[order]
        made = {"first": first, "second": second, "colour": np.full(len(first), -1)}
        made |= {"normal": values[:, 0], "slip": values[:, 1:]}
        self.restore((len(first), self._begin(first), *self._on_device(made, LISTED)))

    def arrays(self) -> dict[str, np.ndarray]:
        n = self.count
        return {"begin": self.list.begin.numpy()} | {name: getattr(self.list, name).numpy()[:n] for name in KEPT}

    def take_arrays(self, kept: dict[str, np.ndarray]) -> None:
        begin = wp.array(kept["begin"], dtype=wp.int32, device=self.bench.device)
        self.restore((len(kept["first"]), begin, *self._on_device(kept, LISTED)))


class SharedPile(Shared, Pile):
    """Shapes."""

    def __init__(self, bench: LargeBench, made: Group, net: Neighbours, jointed: bool, kinds: np.ndarray):
        Pile.__init__(self, bench, kinds)
        self.share(made, net, jointed)

    def _give_again(self) -> None:
        self._in_shares(lambda: Pile._give_again(self), int(TWIST))

    def _sweep(self, slow: float = -1.0) -> None:
        self._in_shares(lambda: Pile._sweep(self, slow), int(TWIST))

    def _separate(self) -> None:
        self._in_shares(lambda: Pile._separate(self), int(POSE))

    def listed(self) -> np.ndarray:
        """A row a point."""
        begin = self.points.begin.numpy()[: self.count + 1]
        pair = np.repeat(np.arange(self.count), np.diff(begin))
        names = self._named(self.list.first.numpy()[pair], self.list.second.numpy()[pair])
        points = [
            getattr(self.points, name).numpy()[: len(pair)].reshape(len(pair), width)
            for name, width in zip(TOLD, WIDTHS, strict=True)
        ]
        return np.column_stack([*names, *points])

    def inherit(self, listed: np.ndarray) -> None:
        two = listed[:, 1].astype(np.int64)
        first, second, known = self._placed(listed[:, 0].astype(np.int64), two)
        first, second, two = first[known], second[known], two[known]
        p = dict(zip(TOLD, np.split(listed[known, 2:], np.cumsum(WIDTHS)[:-1], axis=1), strict=True))
        level = self.solid.level.numpy()[self.bench.bulk.kind]
        other = np.maximum(second, 0)
        smaller = (level[other] < level[first]) | ((level[other] == level[first]) & (other < first))
        turned = ((two >= 0) & smaller)[:, None]  # the first is the smaller, or the lower number here
        first, second = np.where(turned[:, 0], second, first), np.where(turned[:, 0], first, second)
        p["on_first"], p["on_second"] = (
            np.where(turned, p[one], p[another])
            for one, another in (("on_second", "on_first"), ("on_first", "on_second"))
        )
        p["shapes"], p["side"] = np.where(turned, p["shapes"][:, ::-1], p["shapes"]), np.abs(turned - p["side"])
        sign = np.where(turned, -1.0, 1.0)
        p["normal"], p["slip"] = sign * p["normal"], sign * p["slip"]
        order = np.lexsort((second, first))
        first, second = first[order], second[order]
        new = np.ones(len(first), bool)
        new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        begin = np.append(np.flatnonzero(new), len(first))
        points = {name: values[order] for name, values in p.items()} | {"begin": begin, "before": np.zeros(len(first))}
        for name in ("side", "push"):
            points[name] = points[name].ravel()
        self._go_on(first[new], second[new], np.full(int(new.sum()), -1), points)

    def _go_on(self, first: np.ndarray, second: np.ndarray, colour: np.ndarray, points: dict[str, np.ndarray]) -> None:
        pairs = self._on_device({"first": first, "second": second, "colour": colour}, PAIRS)
        made = self._on_device(points, {"begin": wp.int32, **POINTS})
        self.restore((len(first), max(len(points["push"]), 1), [self._begin(first), *pairs], made))

    def arrays(self) -> dict[str, np.ndarray]:
        n, begin = self.count, self.points.begin.numpy()[: self.count + 1]
        made = {name: getattr(self.list, name).numpy()[:n] for name in PAIRS} | {"point_begin": begin}
        many = int(begin[-1]) if n else 0
        return made | {f"point_{name}": getattr(self.points, name).numpy()[:many] for name in POINTS}

    def take_arrays(self, kept: dict[str, np.ndarray]) -> None:
        points = {name: kept[f"point_{name}"] for name in ("begin", *POINTS)}
        self._go_on(kept["first"], kept["second"], kept["colour"], points)
