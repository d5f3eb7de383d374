"""Clearance and interference (Mariti 2012 §2): how near shapes come to each other over a run, and where they overlap.

Gaps are measured at the samples of a run and, about their least and where they change sign, between them: there a
body is on the cubic through the two samples' poses with their velocities,

    x(s) = h00 x0 + h10 Δt ẋ0 + h01 x1 + h11 Δt ẋ1,   q̇ = ½ (ω, 0) q, then of unit norm

which is off by Δt⁴/384 of the fourth derivative. A pair that meets and parts between two samples without a least
gap at one of them is missed: sample as often as that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import not_negative, show, whole
from ..author.errors import ModelError
from ..author.model import Model
from ..author.rotations import multiply_all, rotation_matrix
from ..render import Pose, draw_pose
from ..results import COLOURS, INK, check_result, legend, literally, new_figure, save_figure, style
from ..world.world import World
from .gaps import Gaps, Pair, find_pairs

if TYPE_CHECKING:
    import xarray as xr

NARROW = 17  # times in which a span is looked at anew
ROUNDS = 8  # each 8 times narrower
MOST_MINIMA = 4  # of a pair that are looked at between samples
MOST_CURVES = 8  # in a plot
NEEDED = ("position", "orientation")
RATES = ("velocity", "angular_velocity")


@dataclass(frozen=True)
class Overlap:
    """A span in which two shapes overlap."""

    start: float  # [s]; the run's first sample where they already did
    end: float
    depth: float  # the largest [m]
    time: float  # of that [s]


@dataclass(frozen=True)
class PairClearance:
    """How near two shapes came."""

    pair: Pair
    gap: float  # the least [m], < 0: they overlap
    time: float  # of that [s]
    point_first: np.ndarray  # nearest points then, of overlapping shapes the deepest, in the world [m]
    point_second: np.ndarray
    overlaps: tuple[Overlap, ...]


@dataclass(frozen=True)
class Clearance:
    """Least gaps of pairs of shapes over a run, the narrowest first."""

    model: Model
    time: np.ndarray  # of the samples [s]
    gap: np.ndarray  # [sample, pair] [m]
    pairs: tuple[PairClearance, ...]
    left_out: tuple[tuple[Pair, str], ...]  # pairs that cannot be measured, and why
    track: "Track" = field(repr=False)

    @property
    def overlapping(self) -> tuple[PairClearance, ...]:
        """Pairs that overlap at some time."""
        return tuple(found for found in self.pairs if found.overlaps)

    def of(self, first: str, second: str) -> PairClearance:
        """The narrowest pair of shapes of two bodies or obstacles, in whichever order."""
        for found in self.pairs:
            if {found.pair.first, found.pair.second} == {first, second}:
                return found
        raise ModelError(f"clearance: {show(first)} and {show(second)} were not measured; name them in pairs=")

    def __str__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s"
        lines = [f"{self.model.name}: {len(self.pairs)} pairs, {len(self.overlapping)} overlap, {span}"]
        lines += [f"  {'pair':<32} {'least gap [m]':>14} {'at [s]':>10}  overlap [s]"] if self.pairs else []
        for found in self.pairs:
            spans = ", ".join(f"{each.start:.4g} to {each.end:.4g}" for each in found.overlaps)
            lines.append(f"  {found.pair!s:<32} {found.gap:14.6g} {found.time:10.4g}  {spans}".rstrip())
        lines += [f"  left out: {pair}: {why}" for pair, why in self.left_out]
        return "\n".join(lines)

    def data(self) -> dict:
        """For JSON."""
        return {
            "model": self.model.name,
            "pairs": [
                {
                    "first": [found.pair.first, found.pair.first_shape],
                    "second": [found.pair.second, found.pair.second_shape],
                    "gap": found.gap,
                    "time": found.time,
                    "points": [found.point_first.tolist(), found.point_second.tolist()],
                    "overlaps": [vars(each) for each in found.overlaps],
                }
                for found in self.pairs
            ],
            "left_out": [[str(pair), why] for pair, why in self.left_out],
        }

    def plot(self, path: str | Path, title: str | None = None) -> None:
        """Gaps over time into a file: pairs that overlap in red, the narrowest others beside them."""
        figure = new_figure(8.0, 4.5)
        ax = figure.subplots()
        style(ax, "gap [m]")
        ax.axhline(0.0, color=INK, linewidth=1.0)
        others = [colour for colour in COLOURS if colour != COLOURS[1]]  # which is red itself
        for k, found in enumerate(self.pairs[:MOST_CURVES]):
            colour = "#c0341d" if found.overlaps else others[k % len(others)]
            line = ("-", "--", "-.", ":")[k % 4] if found.overlaps else "-"
            width = 1.6 if found.overlaps else 1.1
            ax.plot(self.time, self.gap[:, k], line, color=colour, linewidth=width, label=literally(str(found.pair)))
            ax.plot(found.time, found.gap, "o", color=colour, markersize=4)
            for each in found.overlaps:
                ax.axvspan(each.start, each.end, color="#c0341d", alpha=0.12, linewidth=0, zorder=-1)
        ax.set_xlabel("time [s]")
        if self.pairs:
            legend(ax, 3)
        figure.suptitle(title or literally(self.model.name), color=INK)
        save_figure(figure, path)

    def picture(self, path: str | Path, time: float | None = None) -> None:
        """The mechanism into a file at a time [s], by default when two overlap most or are nearest; what overlaps
        then is red."""
        if time is None:
            time = self.pairs[0].time if self.pairs else float(self.time[0])
        red = set()
        for found in self.overlapping:
            if any(each.start <= time <= each.end for each in found.overlaps):
                pair = found.pair
                red |= {(pair.first, pair.first_shape), (pair.second, pair.second_shape)}
        worst = f", {self.pairs[0].pair}: {self.pairs[0].gap:.3g} m" if self.pairs else ""
        title = f"{self.model.name}, t = {time:.4g} s{worst}"
        draw_pose(self.model, self.track.pose(self.model, time), path, red, title)


class Track:
    """Poses of all bodies at any time of a run."""

    def __init__(self, model: Model, dataset: "xr.Dataset"):
        names = [str(name) for name in dataset["body"].values]
        if set(names) != set(model.bodies):
            raise ModelError(f"clearance: the result has bodies {', '.join(names)}, the model has others; give its own")
        order = [names.index(name) for name in model.bodies]
        self.time = np.asarray(dataset["time"].values, float)
        self.p, q = (np.asarray(dataset[name].values, float)[:, order] for name in NEEDED)
        for k in range(1, len(q)):  # of q and -q that which is nearer to the one before
            q[k] *= np.where((q[k] * q[k - 1]).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
        self.q = q
        if not (np.isfinite(self.p).all() and np.isfinite(q).all()):
            raise ModelError("clearance: the result has poses that are not finite; give the part before")
        self.v: np.ndarray | None = None  # without velocities poses are linear between samples
        self.q_rate: np.ndarray | None = None
        if all(name in dataset for name in RATES):
            v, w = (np.asarray(dataset[name].values, float)[:, order] for name in RATES)
            if np.isfinite(v).all() and np.isfinite(w).all():
                turning = np.concatenate([w, np.zeros((*w.shape[:-1], 1))], axis=-1)
                self.v, self.q_rate = v, 0.5 * multiply_all(turning, q)

    def at(self, time: np.ndarray, body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """p [n, some, 3] and q [n, some, 4] of bodies [n, some] at times [n]; body -1 is the ground."""
        k = np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, max(len(self.time) - 2, 0))
        after = np.minimum(k + 1, len(self.time) - 1)
        span = np.maximum(self.time[after] - self.time[k], 1e-300)
        s = np.clip((time - self.time[k]) / span, 0.0, 1.0)[:, None, None]
        at = k[:, None], after[:, None], body, s, span[:, None, None]
        p, q = self._between(self.p, self.v, *at), self._between(self.q, self.q_rate, *at)
        q /= np.linalg.norm(q, axis=-1, keepdims=True)
        is_ground = (body < 0)[..., None]
        return np.where(is_ground, 0.0, p), np.where(is_ground, (0.0, 0.0, 0.0, 1.0), q)

    @staticmethod
    def _between(x: np.ndarray, rate: np.ndarray | None, k: Any, after: Any, body: Any, s: Any, span: Any) -> Any:
        x0, x1 = x[k, body], x[after, body]
        if rate is None:
            return (1 - s) * x0 + s * x1
        h00, h10, h01, h11 = (1 - s) ** 2 * (1 + 2 * s), s * (1 - s) ** 2, s**2 * (3 - 2 * s), s**2 * (s - 1)
        return h00 * x0 + h10 * span * rate[k, body] + h01 * x1 + h11 * span * rate[after, body]

    def pose(self, model: Model, time: float) -> Pose:
        """All bodies at a time, for a picture."""
        body = np.arange(len(model.bodies))[None, :]
        p, q = self.at(np.array([time]), body)
        p_WB = dict(zip(model.bodies, p[0], strict=True)) | {"ground": np.zeros(3)}
        R_WB = {name: rotation_matrix(each) for name, each in zip(model.bodies, q[0], strict=True)}
        return Pose(float(time), p_WB, R_WB | {"ground": np.eye(3)})


def clearance(
    source: "Model | World | xr.Dataset",
    duration: float | None = None,
    every: float | None = None,
    *,
    model: Model | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    tolerance: float = 1e-9,
    world: int = 0,
    device: str = "cpu",
) -> Clearance:
    """Least gaps and overlaps of pairs of shapes, with a material or without, over a run.

    source: a result, with the `model` it is of, and in a batch which `world`; or a world, or a model, which is run for
    a `duration` [s] and sampled `every` [s] (a world is put back after that), or without one looked at as it is.
    pairs: names of two bodies or obstacles each; by default all that move against each other and that no joint joins.
    Overlaps are deeper than `tolerance` [m].
    """
    tolerance = not_negative("clearance", "tolerance", tolerance, "m")
    model, dataset = _run(source, duration, every, model, world)
    found, left_out = find_pairs("clearance", model, pairs)
    track = Track(model, dataset)
    search = _Search(Gaps(model, found, device), track)
    gap = search.gaps.measure_all(track.p, track.q)
    if not np.isfinite(gap).all():
        raise ModelError("clearance: a gap is not finite; check that the shapes are within 1e9 m of each other")
    told = _narrowest(search, gap, tolerance)
    order = sorted(range(len(told)), key=lambda k: told[k].gap)
    return Clearance(model, track.time, gap[:, order], tuple(told[k] for k in order), tuple(left_out), track)


def _run(
    source: Any, duration: float | None, every: float | None, model: Model | None, world: int
) -> tuple[Model, "xr.Dataset"]:
    """The model and the samples of a run."""
    if isinstance(source, Model | World):
        if model is not None:
            raise ModelError(f"clearance: a {type(source).__name__} has its own model; leave model= out")
        own = source if isinstance(source, World) else World(source)
        moment = own.snapshot()
        try:
            dataset = own.run(
                own.dt if duration is None else duration, every, progress=False, variables=[*NEEDED, *RATES]
            )
        finally:
            own.restore(moment)
        dataset = dataset.isel(time=slice(0, 1)) if duration is None else dataset
        model = own.model
    else:
        check_result(source)
        dataset = source
        if not isinstance(model, Model):
            raise ModelError(f"clearance: model is {show(model)}, expected the Model that the result is of")
        for what, value in (("duration", duration), ("every", every)):
            if value is not None:
                raise ModelError(f"clearance: {what} is {show(value)}, but a result has its times; leave it out")
    missing = [name for name in NEEDED if name not in dataset]
    if missing:
        raise ModelError(f"clearance: the result has no {' and '.join(missing)}; run with them among the variables")
    if "world" in dataset.dims:
        dataset = dataset.isel(world=whole("clearance", "world", world, 0, dataset.sizes["world"] - 1))
    return model, dataset


class _Search:
    """Gaps of pairs at any time of a run."""

    def __init__(self, gaps: Gaps, track: Track):
        self.gaps, self.track = gaps, track

    def measure(self, time: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps [n] and nearest points [n, end, axis] of pairs [n] at times [n]."""
        return self.gaps.measure(pair, *self.track.at(time, self.gaps.bodies[pair]))

    def _look(self, pair: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times and gaps [n, NARROW] from low to high."""
        times = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, NARROW)
        gaps, _ = self.measure(times.ravel(), np.repeat(pair, NARROW))
        return times, gaps.reshape(times.shape)

    def least(self, pair: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """When pairs are nearest between low and high [n]."""
        each = np.arange(len(pair))
        time = low
        for _ in range(ROUNDS if len(pair) else 0):
            times, gaps = self._look(pair, low, high)
            k = gaps.argmin(axis=1)
            time, low, high = (
                times[each, k],
                times[each, np.maximum(k - 1, 0)],
                times[each, np.minimum(k + 1, NARROW - 1)],
            )
        return time

    def meets(self, pair: np.ndarray, apart: np.ndarray, inside: np.ndarray, tolerance: float) -> np.ndarray:
        """When pairs begin to overlap on the way from a time at which they are apart to one at which they do [n]."""
        each = np.arange(len(pair))
        for _ in range(ROUNDS if len(pair) else 0):
            times, gaps = self._look(pair, apart, inside)
            is_in = gaps < -tolerance
            is_in[:, -1] = True
            k = np.maximum(is_in.argmax(axis=1), 1)
            apart, inside = times[each, k - 1], times[each, k]
        return inside


def _narrowest(search: _Search, gap: np.ndarray, tolerance: float) -> list[PairClearance]:
    """Least gap and overlaps of every pair, looked at between the samples."""
    time, count = search.track.time, gap.shape[1]
    pair, at = _minima(gap, tolerance)
    before, behind = np.maximum(at - 1, 0), np.minimum(at + 1, len(time) - 1)
    seen = search.least(pair, time[before], time[behind])
    least, points = search.measure(seen, pair)
    spans = [
        _spans(np.append(time, seen[pair == k]), np.append(gap[:, k], least[pair == k]), tolerance)
        for k in range(count)
    ]
    ends = [
        (k, span, side)
        for k in range(count)
        for span in spans[k]
        for side in ("start", "end")
        if span[side] is not None
    ]
    index = np.array([k for k, _, _ in ends], int)
    apart, inside = (np.array([span[side][j] for _, span, side in ends], float) for j in range(2))
    met = search.meets(index, apart, inside, tolerance)
    for (_, span, side), when in zip(ends, met, strict=True):
        span[side] = (float(when), float(when))
    found = []
    for k in range(count):
        own = np.flatnonzero(pair == k)
        best = own[least[own].argmin()]
        overlaps = tuple(
            Overlap(
                float(time[0]) if span["start"] is None else span["start"][1],
                float(time[-1]) if span["end"] is None else span["end"][1],
                -span["gap"],
                span["time"],
            )
            for span in spans[k]
        )
        found.append(
            PairClearance(
                search.gaps.pairs[k], float(least[best]), float(seen[best]), points[best, 0], points[best, 1], overlaps
            )
        )
    return found


def _minima(gap: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs and samples about which a least gap is looked for: the lowest of each pair, and of every overlap."""
    wide = np.pad(gap, ((1, 1), (0, 0)), constant_values=np.inf)
    is_low = (gap <= wide[:-2]) & (gap <= wide[2:])
    pairs, samples = [], []
    for k in range(gap.shape[1]):
        lows = np.flatnonzero(is_low[:, k])
        chosen = set(lows[np.argsort(gap[lows, k], kind="stable")[:MOST_MINIMA]].tolist())
        for run in _runs(gap[:, k] < -tolerance):
            chosen.add(run.start + int(gap[run, k].argmin()))
        pairs += [k] * len(chosen)
        samples += sorted(chosen)
    return np.array(pairs, int), np.array(samples, int)


def _runs(holds: np.ndarray) -> list[slice]:
    """Where something holds without a break."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], holds.astype(int), [0]])))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _spans(time: np.ndarray, gap: np.ndarray, tolerance: float) -> list[dict[str, Any]]:
    """Spans of overlap among samples in any order: the deepest, and at either end a time apart and one inside."""
    order = np.argsort(time, kind="stable")
    time, gap = time[order], gap[order]
    found: list[dict[str, Any]] = []
    for run in _runs(gap < -tolerance):
        deepest = run.start + int(gap[run].argmin())
        found.append(
            {
                "start": None if run.start == 0 else (time[run.start - 1], time[run.start]),
                "end": None if run.stop == len(time) else (time[run.stop], time[run.stop - 1]),
                "gap": float(gap[deepest]),
                "time": float(time[deepest]),
            }
        )
    return found
