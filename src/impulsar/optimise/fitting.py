"""Synthesis of linkages: parameters of a model so that outcomes follow targets, on scipy.optimize.

    min over p (and φ_k)   Σ_k |Y(p, φ_k) - target_k|²

of a coupler curve (a probe's places, the drive's positions given or free), a function (a joint's coordinate over the
drive's) or poses (places of several probes of a body). Positions that cannot be assembled pull back by what their
joints miss, and Grashof's condition by what it is broken by. `starts` designs are tried at first, in one batch.
`watch` sees every design that is better than those before; what ends a fit early, it or Ctrl-C, keeps the best so far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..author.checks import show
from ..author.errors import ModelError
from ..author.model import Model
from ..author.variables import find_field, read_field
from .linkage import Linkage, Positions, Slopes

SETTLED = 6  # steps of the drive to the place that is nearest to a target
TURN = 72  # positions of a whole turn
SPREAD = 0.3  # of values, or of the size: how far designs are tried where a parameter has no range
POLISHED = 3  # of these, the best
GRASHOF = 10.0  # weight of a length by which it is broken
MARGIN = 1e-3  # of the size, by which it is to hold
SIGNS = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])  # of crank, coupler, rocker, ground
MISSED = 3.0  # weight of what joints miss
LEAP = 0.8  # [rad, m] from one position of a turn to the next: no leap


@dataclass(frozen=True)
class Design:
    """The best linkage so far."""

    values: dict[str, float]  # of its parameters
    rms: float  # as of `Fit`
    error: float
    evaluations: int
    curve: np.ndarray = field(repr=False)  # outcomes over a whole turn, or at the positions given [position, of]


Watch = Callable[[Design], bool | None]


class _Enough(Exception):
    """The best so far will do."""


@dataclass(frozen=True)
class Fit:
    """A linkage that was fitted to targets."""

    model: Model  # with the values found
    values: dict[str, float]  # of its parameters
    rms: float  # root mean square of what targets are missed by [as outcomes]
    before: float  # the same at the start
    size: float  # of the targets: the diagonal of the box around them
    closed: bool  # whether it can be assembled at all positions
    evaluations: int
    targets: np.ndarray = field(repr=False)  # [position, of]
    curve: np.ndarray = field(repr=False)  # outcomes over a whole turn, or at the positions given [position, of]
    curve_before: np.ndarray = field(repr=False)
    of: tuple[str, ...] = ()  # outcomes
    at: np.ndarray | None = field(default=None, repr=False)  # drive's positions that were given [rad, m]

    @property
    def error(self) -> float:
        """rms over the size of the targets."""
        return self.rms / self.size

    def picture(self, path: str) -> None:
        """Targets and curves before and after, as a picture."""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 5))
        before, after = f"before, {self.before / self.size:.1%}", f"after, {self.error:.2g}"
        for k in range(0, max(self.targets.shape[1] - 1, 1), 2):  # places of each probe, or a function of the drive
            lines = [self._drawn(values, k) for values in (self.curve_before, self.curve, self.targets)]
            axes.plot(*lines[0], "--", color="0.6", label=None if k else before)
            axes.plot(*lines[1], color="tab:blue", label=None if k else after)
            axes.plot(*lines[2], "o", color="tab:red", markersize=4, label=None if k else "targets")
        if self.targets.shape[1] > 1:
            axes.set_aspect("equal")
        elif self.of:
            axes.set(xlabel="drive [rad, m]" if self.at is not None else "position", ylabel=f"{self.of[0]} [rad, m]")
        axes.legend()
        figure.savefig(path, dpi=120, bbox_inches="tight")
        plt.close(figure)

    def _drawn(self, values: np.ndarray, first: int) -> list[np.ndarray]:
        """Two rows: places by two of their axes, or a function over the drive."""
        if values.shape[1] > 1:
            return list(values.T[first : first + 2])
        return [self.at if self.at is not None else np.arange(len(values)), values[:, 0]]


def fit_curve(
    model: Model | Linkage, probe: str, points: Any, drive: str, at: Any = None, axes: str = "xy", **options: Any
) -> Fit:
    """Parameters for which a probe goes through points [point, axis] [m]; at: where the drive is there, None: anywhere.

    drive: the joint that moves it; options: as of `fit`.
    """
    return fit(model, drive, tuple(f"{probe}.position.{axis}" for axis in axes), points, at, **options)


def fit_function(model: Model, drive: str, joint: str, at: Any, values: Any, **options: Any) -> Fit:
    """Parameters for which a joint has coordinates where the drive is at others [rad, m]; options as of `fit`."""
    return fit(model, drive, (f"{joint}.position",), np.reshape(_numbers(values), (-1, 1)), at, **options)


def fit_poses(
    model: Model, probes: Sequence[str], places: Any, drive: str, at: Any = None, axes: str = "xy", **options: Any
) -> Fit:
    """Parameters for which probes of a body are at places [pose, probe, axis] [m] one pose after the other."""
    of = tuple(f"{probe}.position.{axis}" for probe in probes for axis in axes)
    given = _numbers(places)
    return fit(model, drive, of, given.reshape(len(given), -1), at, **options)


def fit(
    model: Model | Linkage,
    drive: str,
    of: Sequence[str],
    targets: Any,
    at: Any = None,
    *,
    to: Sequence[str] | None = None,
    grashof: Sequence[str] | None = None,
    starts: Any = 0,
    seed: int = 0,
    rounds: int = 60,
    watch: Watch | None = None,
) -> Fit:
    """Parameters of a model for which outcomes have targets [position, of] as its drive moves.

    model: or a Linkage of these outcomes, which is taken as it is.
    at: the driven coordinate at each [rad, m], None: anywhere on a turn; to: the parameters, by default all; their
    ranges are kept. grashof: four hinges O, A, B, C, of which O-A is to be a crank that turns. starts: so many designs
    are tried at first, within the ranges, from numbers of a seed, or designs themselves [design, parameter]; rounds:
    evaluations at most of each that is improved.
    watch: is called with each `Design` that is better than those before; where it returns true, the fit ends.
    """
    linkage = model if isinstance(model, Linkage) else Linkage(model, drive, of, to)
    wanted = _numbers(targets)
    if wanted.ndim != 2 or wanted.shape[1] != len(linkage.labels) or not len(wanted) or not np.isfinite(wanted).all():
        raise ModelError(f"fit: targets are {show(targets)}, expected numbers [position, {len(linkage.labels)}]")
    drives = None if at is None else _numbers(at)
    if drives is not None and not (drives.shape == wanted.shape[:1] and np.isfinite(drives).all()):
        raise ModelError(f"fit: at is {show(at)}, expected a number for each of {len(wanted)} targets")
    if not isinstance(rounds, int) or rounds < 1:
        raise ModelError(f"fit: rounds is {show(rounds)}, expected a whole number >= 1")
    task = _Task(linkage, wanted, drives, grashof, watch)
    before = task.look(linkage.values)
    try:
        for values in task.first(starts, np.random.default_rng(seed)):
            task.improve(values, rounds)
    except (_Enough, KeyboardInterrupt):
        pass
    found = task.best
    q, rms = task.look(found)
    closed = bool(task.closed_at(found, q))
    return Fit(
        linkage.with_values(found),
        dict(zip(linkage.names, map(float, found), strict=True)),
        rms,
        before[1],
        task.size,
        closed,
        task.evaluations,
        wanted,
        task.curve(found),
        task.curve(linkage.values),
        tuple(linkage.labels),
        drives,
    )


def _numbers(given: Any) -> np.ndarray:
    """As an array; NaN where they are no numbers."""
    try:
        return np.asarray(given, float)
    except (TypeError, ValueError):
        return np.full((1, 1), np.nan)


class _Task:
    """Residuals of a linkage against targets, and their derivatives."""

    def __init__(
        self,
        linkage: Linkage,
        wanted: np.ndarray,
        at: np.ndarray | None,
        grashof: Sequence[str] | None,
        watch: Watch | None = None,
    ):
        self.linkage, self.wanted, self.at, self.watch = linkage, wanted, at, watch
        self.best, self.least = linkage.values, np.inf  # the best so far, and its sum of squares
        self.size = float(np.linalg.norm(np.ptp(wanted, axis=0))) or 1.0
        self.evaluations = 0
        self._drawn: np.ndarray | None = None  # coordinates of the last curve
        self.links = None if grashof is None else tuple(grashof)
        if self.links is not None and (len(self.links) != 4 or set(self.links) - set(linkage.model.joints)):
            raise ModelError(f"fit: grashof is {show(grashof)}, expected four joints O, A, B, C")
        self.pivots = Slopes(self._pivots, linkage.steps)

    # where to begin -------------------------------------------------------------------------------

    def first(self, starts: Any, rng: np.random.Generator) -> list[np.ndarray]:
        """The best of the model's own values and others: given, or so many."""
        own, (low, high) = self.linkage.values, self.bounds()
        given = _numbers(starts)
        if given.ndim == 0 and given < 1:
            return [own]
        if given.ndim == 0:
            far = SPREAD * np.maximum(np.abs(own), 0.1 * self.linkage.size)
            ends = [np.where(np.isfinite(end), end, own + sign * far) for end, sign in ((low, -1.0), (high, 1.0))]
            given = ends[0] + (ends[1] - ends[0]) * rng.random((int(given), len(own)))
        if given.ndim != 2 or given.shape[1] != len(own) or not np.isfinite(given).all():
            raise ModelError(f"fit: starts are {show(starts)}, expected a number of them or [design, {len(own)}]")
        tried = np.vstack([own, np.clip(given, low, high)])
        e = np.array([self.linkage.elements_at(values) for values in tried]).T
        drives = self._turn() if self.at is None else self.at
        q = self.linkage.follow(drives, e)
        scores = []
        for k in range(len(tried)):
            score = self._match(q[:, :, k], drives, e[:, k])[2]
            scores.append(
                score + 10.0 * self.size * float(self.links is not None and self._broken_by(tried[k])[0].any())
            )
        return [tried[k] for k in np.argsort(scores, kind="stable")[:POLISHED]]

    def _turn(self) -> np.ndarray:
        start = self.linkage.start[self.linkage.driven]
        return start + np.linspace(0.0, 2.0 * np.pi, TURN, endpoint=False)

    def _match(self, q: np.ndarray, drives: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Coordinates and drive of the nearest position to each target, and the rms."""
        lanes = np.broadcast_to(e[:, None], (len(e), q.shape[1]))
        found, _ = self.linkage._evaluate(q, lanes, False)
        gap = np.abs(found[: self.linkage.locks]).max(axis=0, initial=0.0) / self.linkage.size
        y = found[self.linkage.locks :].T
        if self.at is not None:
            return q, drives, float(np.sqrt((((y - self.wanted) ** 2).sum(axis=1)).mean())) + float(gap.max())
        off = ((y[None] - self.wanted[:, None]) ** 2).sum(axis=2) + 1e6 * (gap > 1e-8)
        nearest = off.argmin(axis=1)
        return q[:, nearest], drives[nearest], float(np.sqrt(off.min(axis=1).mean()))

    def look(self, values: np.ndarray) -> tuple[np.ndarray, float]:
        """Coordinates at the targets, with the drive where it is nearest, and the rms there."""
        q, drives, rms = self._begin(values)
        if self.at is None:
            settled = [self._nearest(values, *way[:2])[0] for way in ((q, drives), self._in_order(values))]
            best = min(settled, key=self._rms)
            return best.q, self._rms(best)
        return q, rms

    def _begin(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        e = self.linkage.elements_at(values)
        drives = self._turn() if self.at is None else self.at
        return self._match(self.linkage.follow(drives, e[:, None])[:, :, 0], drives, e)

    def _nearest(self, values: np.ndarray, q: np.ndarray, drives: np.ndarray) -> tuple[Positions, np.ndarray]:
        """With the parameters as they are, the drive at each target to its nearest place, by Gauss-Newton."""
        followed = self.linkage.slopes.at(values)
        for _ in range(SETTLED):
            found = self.linkage.positions(values, q, drives, followed)
            q, off = found.q, found.values - self.wanted.T
            step = -(off * found.by_drive).sum(axis=0) / np.maximum((found.by_drive**2).sum(axis=0), 1e-300)
            drives = drives + np.clip(step, -0.1, 0.1)
            if np.abs(step).max() < 1e-9:
                break
        return self.linkage.positions(values, q, drives, followed), drives

    def _rms(self, found: Positions) -> float:
        return float(np.sqrt(((found.values - self.wanted.T) ** 2).sum(axis=0).mean()))

    def closed_at(self, values: np.ndarray, q: np.ndarray) -> bool:
        found = self.linkage.close(q, q[self.linkage.driven], self.linkage.elements_at(values))
        return bool((found[1] <= 1e-8).all())

    def curve(self, values: np.ndarray) -> np.ndarray:
        """Outcomes over a turn, or at the positions given; NaN where it cannot be assembled."""
        e = self.linkage.elements_at(values)
        turn = self._turn()
        drives = np.append(turn, turn[0] + 2.0 * np.pi) if self.at is None else self.at
        q = self._way(drives, e)
        lanes = np.broadcast_to(e[:, None], (len(e), q.shape[1]))
        found = self.linkage._evaluate(q, lanes, False)[0]
        gap = np.abs(found[: self.linkage.locks]).max(axis=0, initial=0.0) / self.linkage.size
        return np.where(gap <= 1e-8, found[self.linkage.locks :], np.nan).T

    def _way(self, drives: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Coordinates [coordinate, position] as the drive goes; from those of the design before, all at once, where
        they begin at the model's own pose and nothing leaps: so it is the same way of assembly."""
        if self._drawn is not None and drives[0] == self.linkage.start[self.linkage.driven]:
            q, gap = self.linkage.close(self._drawn, drives, e)
            begins = np.abs(q[:, 0] - self.linkage.start).max() < 1e-6
            if begins and (gap <= 1e-8).all() and np.abs(np.diff(q, axis=1)).max(initial=0.0) < LEAP:
                self._drawn = q
                return q
        q = self.linkage.follow(drives, e[:, None])[:, :, 0]
        self._drawn = q
        return q

    # residuals ------------------------------------------------------------------------------------

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of the parameters."""
        variables = [self.linkage.model.parameters[name] for name in self.linkage.names]
        low = np.array([-np.inf if one.minimum is None else one.minimum for one in variables])
        high = np.array([np.inf if one.maximum is None else one.maximum for one in variables])
        return low, high

    def improve(self, values: np.ndarray, rounds: int) -> None:
        """From a start; with a free drive from two: at the nearest places, and at places in order."""
        self._improve(values, self._begin(values), rounds)
        if self.at is None:
            self._improve(values, self._in_order(values), rounds)

    def _note(self, values: np.ndarray, residuals: np.ndarray) -> None:
        """Keep what is better than all before, and show it."""
        cost = float((residuals**2).sum())
        if not cost < self.least:
            return
        self.best, self.least = values.copy(), cost
        if self.watch is None:
            return
        off = residuals[: self.wanted.size]
        rms = float(np.sqrt((off**2).sum() / len(self.wanted)))
        named = dict(zip(self.linkage.names, map(float, values), strict=True))
        if self.watch(Design(named, rms, rms / self.size, self.evaluations, self.curve(values))):
            raise _Enough

    def _in_order(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Targets taken for one turn of the drive, one after the other, from where and the way round that fits best.

        The nearest places may all be on one side of a narrow curve.
        """
        e, drives = self.linkage.elements_at(values), self._turn()
        q = self.linkage.follow(drives, e[:, None])[:, :, 0]
        lanes = np.broadcast_to(e[:, None], (len(e), q.shape[1]))
        y = self.linkage._evaluate(q, lanes, False)[0][self.linkage.locks :].T
        even = np.round(np.arange(len(self.wanted)) * TURN / len(self.wanted)).astype(int)
        ways = [(first + sign * even) % TURN for first in range(TURN) for sign in (1, -1)]
        scores = [((y[way] - self.wanted) ** 2).sum() for way in ways]
        best = ways[int(np.argmin(scores))]
        return q[:, best], drives[best], float(np.sqrt(min(scores) / len(self.wanted)))

    def _improve(self, values: np.ndarray, begin: tuple[np.ndarray, np.ndarray, float], rounds: int) -> None:
        guess = [begin[0], begin[1]]  # coordinates, drive
        kept: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        least = [np.inf]

        def both(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            key = p.tobytes()
            if key not in kept:
                self.evaluations += 1
                if self.at is None:
                    found, drives = self._nearest(p, guess[0], guess[1])
                else:
                    found, drives = self.linkage.positions(p, guess[0], guess[1]), guess[1]
                kept.clear()
                kept[key] = self._residuals(p, found)
                cost = float((kept[key][0] ** 2).sum())
                if cost < least[0]:  # a step that is taken; from one that is not, nothing is to be followed
                    least[0] = cost
                    guess[:] = found.q, drives
                self._note(p, kept[key][0])
            return kept[key]

        low, high = self.bounds()
        start = np.clip(values, low + 1e-12, high - 1e-12)
        least_squares(
            lambda p: both(p)[0],
            start,
            lambda p: both(p)[1],
            bounds=(low, high),
            x_scale=np.maximum(np.abs(start), 0.1 * self.linkage.size),
            max_nfev=rounds,
            xtol=1e-12,
            ftol=1e-12,
        )

    def _residuals(self, values: np.ndarray, found: Positions) -> tuple[np.ndarray, np.ndarray]:
        """What targets are missed by, joints and Grashof's condition; and derivatives by parameters.

        Where the drive is free, what it can make good by moving along the curve is no part of the derivatives.
        """
        n = len(values)
        off = found.values - self.wanted.T  # [outcome, target]
        by = found.by_parameters
        if self.at is None:
            along = found.by_drive / np.maximum(np.sqrt((found.by_drive**2).sum(axis=0)), 1e-300)
            by = by - along[:, None] * np.einsum("ol,opl->pl", along, by)[None]
        open_lanes = ~found.closed
        missed = np.where(open_lanes, found.misses, 0.0).T.ravel()
        missed_by = np.where(open_lanes, found.misses_by, 0.0).transpose(2, 0, 1).reshape(len(missed), n)
        rows = [off.T.ravel(), MISSED * missed]
        slopes = [by.transpose(2, 0, 1).reshape(off.size, n), MISSED * missed_by]
        if self.links is not None:
            broken, broken_by = self._broken_by(values)
            rows.append(GRASHOF * broken)
            slopes.append(GRASHOF * broken_by)
        return np.concatenate(rows), np.vstack(slopes)

    def _pivots(self, values: np.ndarray) -> np.ndarray:
        """Places of the hinges of Grashof's condition, one after the other."""
        model = self.linkage.without_ranges(values)
        links = self.links or ()
        return np.array([read_field(model, find_field(model, f"{name}.at.{axis}")) for name in links for axis in "xyz"])

    def _broken_by(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much Grashof's condition for a crank O-A is broken, a + one other <= the two others [m]; and how that
        changes with parameters."""
        places, slopes = self.pivots.at(values)
        points, by = places.reshape(4, 3), slopes.reshape(4, 3, -1)
        sides = [points[(k + 1) % 4] - points[k] for k in range(4)]
        lengths = np.array([np.linalg.norm(side) for side in sides])
        slope = np.array(
            [side / size @ (by[(k + 1) % 4] - by[k]) for k, (side, size) in enumerate(zip(sides, lengths, strict=True))]
        )
        over = SIGNS @ lengths + MARGIN * self.linkage.size
        return np.maximum(over, 0.0), np.where(over[:, None] > 0.0, SIGNS @ slope, 0.0)
