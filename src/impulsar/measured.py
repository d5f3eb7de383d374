"""A run beside measured data: times aligned, each channel's deviation, a figure (Wang 2011 §6).

A log is a CSV file with a time column; times of the run are t_run = t_log + offset. Inside the time that both have,
the log is interpolated onto the run's samples, run r_k and log m_k, k = 1 ... n, with d = r - m:

    rms = √(Σ d² / n)      largest = max |d|      correlation = Σ r' m' / √(Σ r'² Σ m'²),  x' = x - mean

and the first two over the range of the log, max m - min m. An offset is found where the correlation of all channels,
each over its own overlap, is largest: on a grid by FFT, then between its points.

Channels have the names of the studio's signals, which its CSV files have (docs/quantities.md), and shorter ones:
"body.slider.position.x" is also "slider.position.x", "slider.x" and, by the result's variable, "position.slider.x".
"""

import argparse
import csv
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .author.checks import file_path, is_number, show
from .author.errors import FileError, ModelError
from .author.files import write_file
from .author.names import closest
from .observe.quantities import KINDS, QUANTITIES
from .results import (
    COLOURS,
    INK,
    check_picture,
    check_result,
    first_world,
    legend,
    literally,
    load,
    new_figure,
    save_figure,
    style,
    told_by,
)

if TYPE_CHECKING:
    import xarray as xr

TIMES = ("time", "t")  # names of the time column
UNITS = {  # of a column: what it is in SI, and how much of that
    "deg": ("rad", math.pi / 180), "°": ("rad", math.pi / 180), "deg/s": ("rad/s", math.pi / 180),
    "°/s": ("rad/s", math.pi / 180), "rpm": ("rad/s", math.pi / 30), "1/min": ("rad/s", math.pi / 30),
    "mm": ("m", 1e-3), "cm": ("m", 1e-2), "mm/s": ("m/s", 1e-3), "cm/s": ("m/s", 1e-2), "g": ("m/s²", 9.80665),
    "m/s^2": ("m/s²", 1.0), "mm/s²": ("m/s²", 1e-3), "rad/s^2": ("rad/s²", 1.0), "kN": ("N", 1e3), "mN": ("N", 1e-3),
    "Nm": ("N m", 1.0), "N·m": ("N m", 1.0), "Nmm": ("N m", 1e-3), "N mm": ("N m", 1e-3), "mJ": ("J", 1e-3),
    "kJ": ("J", 1e3), "ms": ("s", 1e-3), "min": ("s", 60.0), "": ("", 1.0),
}  # fmt: skip
MOST_POINTS = 2**20  # of the grid on which an offset is looked for
LEAST_OVERLAP = 0.25  # of the shorter of run and log, at an offset that is looked for
AS_GOOD = 1e-4  # correlations that differ by less, or by as much as the best lacks to 1, fit alike


@dataclass(frozen=True)
class Channel:
    """A number of a run over time."""

    name: str  # as a signal
    unit: str
    values: np.ndarray


@dataclass
class Log:
    """Columns of a CSV file over their own times; a column has no sample where its cell is empty."""

    path: str
    columns: dict[str, str]  # heading -> unit in brackets behind it, if any
    cells: dict[str, tuple[np.ndarray, np.ndarray]]  # heading -> times [s], values as they are written

    def find(self, name: str) -> str:
        """The heading of a column by its name, with or without the unit."""
        bare = {_bare(heading)[0]: heading for heading in self.columns}
        if name in self.columns or name in bare:
            return name if name in self.columns else bare[name]
        raise ModelError(f"'{self.path}': no column {show(name)}; {closest(name, bare)}")


@dataclass
class Deviation:
    """A channel of a run beside a column of a log."""

    column: str
    channel: str
    unit: str
    rms: float
    largest: float
    at: float  # when the largest is [s of the run]
    correlation: float | None  # None where one of them is constant
    range: float  # of the log
    times: np.ndarray = field(repr=False)
    run: np.ndarray = field(repr=False)
    log: np.ndarray = field(repr=False)

    @property
    def relative_rms(self) -> float:
        """Over the range of the log."""
        return _over(self.rms, self.range)

    @property
    def relative_largest(self) -> float:
        """Over the range of the log."""
        return _over(self.largest, self.range)

    def data(self) -> dict[str, Any]:
        """For JSON; what is not finite is None."""
        found = {name: getattr(self, name) for name in ("column", "channel", "unit", "rms", "largest", "at", "range")}
        found |= {"correlation": self.correlation, "samples": len(self.times)}
        return found | {
            name: value if math.isfinite(value := getattr(self, name)) else None
            for name in ("relative_rms", "relative_largest")
        }


@dataclass
class Comparison:
    """A run beside a log."""

    log: str
    model: str
    offset: float  # added to the log's times [s]
    is_found: bool  # whether the offset was looked for
    alike: int  # other offsets that fit as well
    deviations: list[Deviation]
    left_out: dict[str, str]  # columns that no channel goes by, with a hint

    @property
    def worst(self) -> Deviation:
        """The channel with the largest rms over its range."""
        return max(self.deviations, key=lambda one: one.relative_rms)

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "log": self.log,
            "model": self.model,
            "offset": self.offset,
            "offset_found": self.is_found,
            "offsets_alike": self.alike,
            "channels": [one.data() for one in self.deviations],
            "left_out": list(self.left_out),
        }

    def __str__(self) -> str:
        how = "found by correlation" if self.is_found else "as given"
        alike = f"; {self.alike} other offsets fit as well" if self.alike else ""
        lines = [f"{self.model} beside {self.log}: offset {self.offset:.6g} s, {how}{alike}"]
        width = max(len(one.channel) for one in self.deviations)
        for one in self.deviations:
            fit = "constant" if one.correlation is None else f"correlation {one.correlation:.6f}"
            share = f"{100 * one.relative_rms:.3g} % of its range"
            lines.append(
                f"  {one.channel:<{width}}  rms {one.rms:.3g} {one.unit} ({share}), "
                f"largest {one.largest:.3g} at {one.at:.6g} s, {fit}, {len(one.times)} samples"
            )
        lines += [f"  column '{name}' is left out: {hint}" for name, hint in self.left_out.items()]
        return "\n".join(lines)

    def plot(self, path: str | Path) -> None:
        """Draw both curves and their difference, a row for each channel."""
        rows = len(self.deviations)
        figure = new_figure(11.0, 0.6 + 2.5 * rows)
        axes = figure.subplots(rows, 2, squeeze=False, sharex=True, width_ratios=(3, 2))
        for (left, right), one in zip(axes, self.deviations, strict=True):
            left.plot(one.times, one.log, color=COLOURS[4], linewidth=2.6, alpha=0.75, label="log")
            left.plot(one.times, one.run, color=COLOURS[0], linewidth=1.2, label="run")
            style(left, f"[{one.unit}]")
            legend(left, 2)
            left.set_title(literally(one.channel), loc="right", fontsize=9, color=INK)
            right.axhline(0.0, color="#9aa5ad", linewidth=0.8)
            right.plot(one.times, one.run - one.log, color=COLOURS[1], linewidth=1.1)
            share = f"run - log: rms {one.rms:.2g} {one.unit}, {100 * one.relative_rms:.2g} % of the range"
            style(right, f"[{one.unit}]", share)
        for ax in axes[-1]:
            ax.set_xlabel("time of the run [s]")
        figure.suptitle(literally(f"{self.model} beside {self.log}, offset {self.offset:.6g} s"), color=INK)
        save_figure(figure, path)


def _over(value: float, scale: float) -> float:
    return value / scale if scale else math.inf if value else 0.0


def compare(
    result: "xr.Dataset | str | Path",
    log: str | Path,
    columns: Mapping[str, str] | None = None,
    offset: float | str = 0.0,
) -> Comparison:
    """A run beside a log: a Dataset of `world.run` or its file, and a CSV file.

    columns: what is compared, heading of the log -> channel of the run, or "time" for the time column; by default all
    columns that go by the name of a channel. offset: added to the log's times [s], or "auto".
    """
    dataset = load(result) if isinstance(result, str | Path) else result
    check_result(dataset)
    if columns is not None and not isinstance(columns, Mapping):
        raise ModelError(f"compare: columns is {show(columns)}, expected headings and channels, {{'x': 'slider.x'}}")
    if offset != "auto" and not (is_number(offset) and math.isfinite(offset)):
        raise ModelError(f"compare: offset is {show(offset)}, expected a time [s] or 'auto'")
    one = first_world(dataset)
    wanted = dict(columns or {})
    clocks = [name for name, channel in wanted.items() if channel == "time"]
    table = read_log(log, clocks[0] if clocks else None)
    pairs, left_out = _pairs(one, table, {name: wanted[name] for name in wanted if name not in clocks})
    times = one["time"].values.astype(float)
    alike = 0
    shift = 0.0 if offset == "auto" else float(offset)
    if offset == "auto":
        shift, alike = _find_offset(times, [(channel, *table.cells[heading]) for heading, channel in pairs.items()])
    deviations = [_deviation(times, channel, table, heading, shift) for heading, channel in pairs.items()]
    name = str(dataset.attrs.get("model", "result"))
    return Comparison(table.path, name, shift, offset == "auto", alike, deviations, left_out)


# channels ---------------------------------------------------------------------------------------------


def channels(dataset: "xr.Dataset") -> dict[str, Channel]:
    """The channels of a result by all their names; of two that share one, the first has it."""
    found: dict[str, Channel] = {}
    aliases: dict[str, Channel] = {}
    for channel, others in _named(first_world(dataset)):
        found.setdefault(channel.name, channel)
        for name in others:
            aliases.setdefault(name, channel)
    return found | {name: channel for name, channel in aliases.items() if name not in found}


def _named(dataset: "xr.Dataset") -> Iterator[tuple[Channel, list[str]]]:
    """Channels with their other names."""
    for quantity in QUANTITIES.values():
        if quantity.in_results not in dataset:
            continue
        variable = dataset[quantity.in_results]
        parts = [str(part) for part in dataset[KINDS[quantity.kind].dimension].values] if quantity.kind else [""]
        units = [str(unit) for unit in dataset["unit"].values] if quantity.slide_unit else []
        for row, part in enumerate(parts):
            values = variable.values[:, row] if quantity.kind else variable.values
            unit = quantity.slide_unit if units and units[row] == "m" else quantity.unit
            for ending, component in quantity.endings.items():
                if component is not None:
                    numbers = values[..., component]
                else:
                    numbers = np.sqrt((values**2).sum(axis=-1)) if quantity.components else values
                last = quantity.components[component] if component is not None else ""
                last = last or ("norm" if quantity.components else "")
                parted = ".".join(filter(None, (quantity.in_results, part, last)))
                if not quantity.kind:
                    yield Channel(ending, unit, numbers.astype(float)), [parted]
                    continue
                others = [f"{part}.{ending}", parted]
                if quantity.tail == "position" and last:
                    others.append(f"{part}.{last}")
                if quantity.kind == "coordinate":
                    others.append(f"joint.{part}.{ending}")
                yield Channel(f"{quantity.kind}.{part}.{ending}", unit, numbers.astype(float)), others


def _pairs(dataset: "xr.Dataset", log: Log, wanted: dict[str, str]) -> tuple[dict[str, Channel], dict[str, str]]:
    """Which column goes with which channel; and the columns that are left out, with hints."""
    known = channels(dataset)
    if wanted:
        found = {}
        for name, channel in wanted.items():
            heading = log.find(name)
            if channel not in known:
                raise ModelError(f"compare: the result has no channel {show(channel)}; {closest(channel, known)}")
            found[heading] = known[channel]
        return found, {}
    found, left_out = {}, dict[str, str]()
    for heading in log.columns:
        goes_by = next((name for name in (_bare(heading)[0], heading) if name in known), None)
        if goes_by is None:
            hint = closest(_bare(heading)[0], known)
            left_out[heading] = f"the result has no such channel{'; ' + hint if hint.startswith('did') else ''}"
        else:
            found[heading] = known[goes_by]
    if not found:
        heading, hint = next(iter(left_out.items()))
        raise ModelError(
            f"'{log.path}': no column is a channel of the result; '{heading:.80}': {hint}; map columns to channels"
        )
    return found, left_out


# logs -------------------------------------------------------------------------------------------------


def read_log(path: str | Path, clock: str | None = None) -> Log:
    """Read a CSV file: a heading, cells divided by commas, semicolons or tabs, decimal points, # before comments."""
    path = file_path("log", path)
    with told_by(path):
        data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"'{path.name}': is no text in UTF-8 (byte {error.start}); save it as CSV") from error
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise FileError(f"'{path.name}': is empty; expected a line of headings and lines of numbers")
    mark = next((mark for mark in "\t;" if mark in lines[0][1]), ",")
    rows = list(csv.reader((line for _, line in lines), delimiter=mark, skipinitialspace=True))
    headings = [_heading(cell) for cell in rows[0]]
    body = [(k, row) for (k, _), row in zip(lines[1:], rows[1:], strict=False)]
    if not body:
        raise FileError(f"'{path.name}': has headings and no samples")
    twice = next((name for name in headings if headings.count(name) > 1), None)
    if twice is not None:
        raise FileError(f"'{path.name}': column '{twice}' is there twice; rename one")
    column = _clock(path.name, headings, clock)
    values = {name: _numbers(path.name, name, k, body) for k, name in enumerate(headings)}
    times = _times(path.name, headings[column], values.pop(headings[column]), [k for k, _ in body])
    there = {name: np.isfinite(found) for name, found in values.items()}
    units = {name: _bare(name)[1] for name in values}
    return Log(path.name, units, {name: (times[there[name]], values[name][there[name]]) for name in values})


def _heading(cell: str) -> str:
    """A heading as it was meant: the studio puts a quote before what a spreadsheet takes for a formula."""
    cell = cell.strip()
    return cell[1:] if re.match(r"'[=+\-@]", cell) else cell


def _bare(heading: str) -> tuple[str, str]:
    """Name and unit of "name [unit]"."""
    found = re.fullmatch(r"(.*\S)\s*\[([^\[\]]*)\]", heading)
    return (found[1], found[2].strip()) if found else (heading, "")


def _clock(file: str, headings: list[str], clock: str | None) -> int:
    """Which column has the times."""
    names = [_bare(heading)[0] for heading in headings]
    for k, (name, heading) in enumerate(zip(names, headings, strict=True)):
        if clock in (name, heading) if clock is not None else name.lower() in TIMES:
            return k
    if clock is not None:
        raise FileError(f"'{file}': no column {show(clock)} for the times; {closest(clock, names)}")
    raise FileError(f"'{file}': no column is called time; map one to it, such as --map '{names[0]:.60}=time'")


def _numbers(file: str, name: str, k: int, body: list[tuple[int, list[str]]]) -> np.ndarray:
    """A column; NaN where a cell is empty."""
    found = np.full(len(body), np.nan)
    for row, (line, cells) in enumerate(body):
        cell = cells[k].strip() if k < len(cells) else ""
        if not cell:
            continue
        with suppress(ValueError):
            found[row] = float(cell)
        if not math.isfinite(found[row]):
            raise FileError(
                f"'{file}': line {line}: '{name}' is {show(cell)}, expected a finite number with a decimal point, or "
                "nothing"
            )
    return found


def _times(file: str, heading: str, times: np.ndarray, lines: list[int]) -> np.ndarray:
    """The times [s], which must grow."""
    unit = _bare(heading)[1]
    factor = _factor(file, heading, unit, "s")
    missing = np.flatnonzero(np.isnan(times))
    if len(missing):
        raise FileError(f"'{file}': line {lines[missing[0]]}: has no time")
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if len(back):
        row = int(back[0]) + 1
        told = f"the time {times[row]:.9g} after {times[row - 1]:.9g}"
        raise FileError(f"'{file}': line {lines[row]}: {told}; expected times that grow: sort it, or split it")
    return times * factor


def _factor(file: str, heading: str, unit: str, wanted: str) -> float:
    """What a number of the column is in the unit of the channel."""
    if unit in ("", wanted):
        return 1.0
    base, factor = UNITS.get(unit, (None, 1.0))
    if base != wanted:
        raise FileError(f"'{file}': column '{heading:.80}' is in {show(unit)}, expected {wanted}; convert it")
    return factor


# alignment --------------------------------------------------------------------------------------------


def _deviation(times: np.ndarray, channel: Channel, log: Log, heading: str, offset: float) -> Deviation:
    """One channel beside one column."""
    at, values = log.cells[heading]
    if not len(at):
        raise ModelError(f"'{log.path}': column '{heading:.80}' has no values")
    factor = _factor(log.path, heading, log.columns[heading], channel.unit)
    at = at + offset
    inside = (times >= at[0]) & (times <= at[-1])
    if not inside.any():
        raise ModelError(
            f"compare: '{heading:.80}' has no time in common with the run: log {at[0]:.6g} to {at[-1]:.6g} s with the "
            f"offset {offset:.6g} s, run {times[0]:.6g} to {times[-1]:.6g} s; give an offset, or 'auto'"
        )
    inside &= np.isfinite(channel.values)
    if not inside.any():
        raise ModelError(f"compare: channel '{channel.name}' has no value in the time of the log")
    t, run = times[inside], channel.values[inside]
    measured = np.interp(t, at, values) * factor
    d = run - measured
    k = int(np.argmax(np.abs(d)))
    return Deviation(
        heading, channel.name, channel.unit, float(np.sqrt(np.mean(d**2))), float(abs(d[k])), float(t[k]),
        _correlation(run, measured), float(np.ptp(measured)), t, run, measured,
    )  # fmt: skip


def _correlation(a: np.ndarray, b: np.ndarray) -> float | None:
    """Of two series; None where one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0.0 else None


def _find_offset(times: np.ndarray, pairs: list[tuple[Channel, np.ndarray, np.ndarray]]) -> tuple[float, int]:
    """The offset of the largest correlation [s], and how many others fit as well: of those the least."""
    from scipy.optimize import minimize_scalar

    pairs = [
        (channel, at, values)
        for channel, at, values in pairs
        if len(at) > 2 and np.ptp(values) > 0.0 and np.ptp(channel.values[np.isfinite(channel.values)]) > 0.0
    ]
    if not pairs or len(times) < 3:
        raise ModelError("compare: no offset can be found of channels that are constant; give one")
    first = min(at[0] for _, at, _ in pairs)
    spans = times[-1] - times[0], max(at[-1] for _, at, _ in pairs) - first
    step = min(float(np.median(np.diff(series))) for series in (times, *(at for _, at, _ in pairs)))
    step = max(step, sum(spans) / MOST_POINTS)
    score, shifts = _scores(times, pairs, first, spans, step)
    peaks = [k for k in range(len(score)) if score[k] == score[max(0, k - 1) : k + 2].max() and np.isfinite(score[k])]
    best = max(score[k] for k in peaks)
    alike = [k for k in peaks if score[k] >= best - max(AS_GOOD, 1.0 - best)]
    chosen = min(alike, key=lambda k: abs(shifts[k]))

    def miss(offset: float) -> float:
        return -float(np.mean([_correlated(times, pair, offset) for pair in pairs]))

    found = minimize_scalar(
        miss, bounds=(shifts[chosen] - step, shifts[chosen] + step), method="bounded", options={"xatol": 1e-4 * step}
    )
    return float(found.x), len(alike) - 1


def _correlated(times: np.ndarray, pair: tuple[Channel, np.ndarray, np.ndarray], offset: float) -> float:
    """Correlation of a channel and a column at an offset; 0 where there is none."""
    channel, at, values = pair
    inside = (times >= at[0] + offset) & (times <= at[-1] + offset) & np.isfinite(channel.values)
    if inside.sum() < 3:
        return 0.0
    return _correlation(channel.values[inside], np.interp(times[inside], at + offset, values)) or 0.0


def _scores(
    times: np.ndarray, pairs: list, first: float, spans: tuple[float, float], step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean correlation of the channels over offsets [s] on a grid, each over the overlap at that offset.

    With masks a, b that are 1 where run and log are: n = a * b, Σr = ar * b, Σm = a * bm, Σrm = ar * bm, and so on,
    every * a correlation by FFT.
    """
    from scipy.signal import correlate

    runs, logs = (np.arange(math.floor(span / step) + 1) * step for span in spans)
    total: np.ndarray | float = 0.0
    for channel, at, values in pairs:
        there = np.isfinite(channel.values)
        r = np.interp(runs + times[0], times[there], channel.values[there])
        m = np.interp(logs + first, at, values)
        r, m = (r - r.mean()) / (r.std() or 1.0), (m - m.mean()) / (m.std() or 1.0)
        a, b = np.ones_like(r), ((logs + first >= at[0]) & (logs + first <= at[-1])).astype(float)
        n, Sr, Sm, Srm, Srr, Smm = (
            correlate(x, y, method="fft")
            for x, y in ((a, b), (r, b), (a, b * m), (r, b * m), (r * r, b), (a, b * m * m))
        )
        n = np.maximum(n, 1.0)
        size = np.sqrt(np.maximum(Srr - Sr * Sr / n, 1e-9 * n) * np.maximum(Smm - Sm * Sm / n, 1e-9 * n))
        total = total + np.where(n < LEAST_OVERLAP * min(len(r), b.sum()), -np.inf, (Srm - Sr * Sm / n) / size)
    shifts = (np.arange(len(runs) + len(logs) - 1) - (len(logs) - 1)) * step + times[0] - first
    return np.asarray(total) / len(pairs), shifts


# the command ------------------------------------------------------------------------------------------


def command(args: argparse.Namespace) -> int:
    """Compare, print and write what was asked for. Returns the exit status."""
    columns = {}
    for text in args.map:
        name, equals, channel = text.partition("=")
        if not (name and equals and channel):
            raise ModelError(f"--map {text!r}: expected COLUMN=CHANNEL, such as --map 'x=slider.x'")
        columns[name.strip()] = channel.strip()
    offset: float | str = "auto" if args.offset == "auto" else _number("--offset", args.offset, -math.inf)
    bound = None if args.bound is None else _number("--bound", args.bound, 0.0)
    pictures = [path for path in (args.plot, args.out and args.out / "compare.png") if path]
    for path in pictures:
        check_picture(path)
    found = compare(args.result, args.log, columns or None, offset)
    holds = bound is None or found.worst.relative_rms <= bound
    data = found.data() | ({} if bound is None else {"bound": bound, "holds": holds})
    written = []
    for path in pictures:
        found.plot(path)
        written.append(str(path))
    if args.out:
        write_file(args.out / "compare.json", (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())
        written.append(str(args.out / "compare.json"))
    if args.json:
        print(json.dumps(data | {"written": written}))
    else:
        print("\n".join([str(found), *(f"wrote {path}" for path in written)]))
        if bound is not None:
            told = "holds" if holds else "FALLS SHORT"
            print(f"worst rms {100 * found.worst.relative_rms:.3g} % of its range (bound {100 * bound:g} %): {told}")
    return 0 if holds else 1


def _number(option: str, text: str, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= least):
        raise ModelError(f"{option} {text!r}: expected a number{'' if least < 0 else ' >= 0'}")
    return value
