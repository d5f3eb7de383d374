"""Results: time series of a run as an xarray Dataset with names and units; saved, loaded, plotted.

Variables are quantities (observe/quantities.py), with `world` as first dimension in a batch, then `time`, then the
part and its axes: `position` (time, body, axis), `energy` (time, kind). Unless others are asked for they are the usual
ones, VARIABLES. One whose parts a model has none of (joints, hands, probes) is left out; a part that comes and goes,
such as a hand, is NaN while it is away.
"""

import io
import math
import sys
import time as wall
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .author.checks import file_path, positive, show
from .author.errors import ModelError
from .author.files import write_file
from .author.names import closest
from .observe.bench import Bench
from .observe.quantities import COMPONENTS, QUANTITIES, Quantity
from .observe.quantities import KINDS as KINDS_OF_PARTS
from .observe.running import Running
from .version import __version__

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_SAMPLES = 10**8  # of one run: a time alone is then 0.8 GB
KINDS = COMPONENTS["kind"]  # of energy

# Usual variables: dimensions after time, units, long name.
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    q.in_results: (q.dimensions, q.unit, q.doc) for q in QUANTITIES.values() if q.usual
}


def steps_and_stride(duration: float, every: float | None, dt: float, sampled: bool = True) -> tuple[int, int]:
    """Steps of a run and between its samples; `ModelError` where the times do not fit the step [s]."""
    steps = round(positive("run", "duration", duration, "s") / dt)
    if steps < 1:
        raise ModelError(f"run: duration is {show(duration)} s, less than a step of {show(dt)} s; shorten dt")
    stride = stride_of(every, dt)
    if sampled and steps // stride > MOST_SAMPLES:
        told = f"{steps // stride:.3g} samples, more than {MOST_SAMPLES:g}"
        raise ModelError(f"run: duration is {show(duration)} s, {told}; give a longer every, or several runs")
    return steps, stride


def stride_of(every: float | None, dt: float) -> int:
    """Steps between samples."""
    if every is None:
        return 1
    every = positive("run", "every", every, "s")
    stride = max(1, round(every / dt))
    if not abs(every - stride * dt) <= 1e-6 * dt:
        raise ModelError(
            f"run: every is {show(every)} s, not a whole multiple of dt = {show(dt)} s; give {show(stride * dt)}"
        )
    return stride


def quantities_of(variables: Sequence[str] | None) -> list[Quantity]:
    """The quantities of so many names, each once; by default the usual ones."""
    if variables is None:
        return [quantity for quantity in QUANTITIES.values() if quantity.usual]
    if isinstance(variables, str) or not isinstance(variables, Sequence):
        raise ModelError(f"run: variables is {show(variables)}, expected a list of names")
    of_runs = [quantity for quantity in QUANTITIES.values() if quantity.in_results]
    known = {name: quantity for quantity in of_runs for name in (quantity.name, quantity.in_results)}
    for name in variables:
        if name not in known:
            raise ModelError(f"run: no variable {show(name)}; {closest(name, known)}")
    return list({known[name].name: known[name] for name in variables}.values())


class Samples:
    """Buffers of one run, allocated for the samples expected: [sample, row, world, component], as quantities are read.

    Parts are those of the start; an edit that changes them on the way leaves NaN where one is gone.
    """

    def __init__(self, world: Running, expected: int, quantities: Sequence[Quantity] | None = None):
        self.world = world
        self.count = 0
        self.origin, self.dt = world.time, world.dt
        self.time = np.zeros(expected)
        self._bench = self._first = world.runner.bench
        chosen = quantities_of(None) if quantities is None else quantities
        self._rows = {kind: KINDS_OF_PARTS[kind].rows(self._bench) for kind in {q.kind for q in chosen}}
        self._passing = [q for q in chosen if KINDS_OF_PARTS[q.kind].comes_and_goes]
        self._lasting = [q for q in chosen if q not in self._passing and self._rows[q.kind]]
        self._moved: dict[str, tuple[list[int], list[int]]] | None = None  # rows of kinds, then and now, if others
        self._buffers: dict[str, np.ndarray] = {}
        self._parts: dict[str, dict[str, np.ndarray]] = {q.name: {} for q in self._passing}  # as they appear

    def take(self, report: Any, time: float | None = None) -> None:
        """Sample the world as it is now; `report` is that of the steps since the last sample. time: if not a step's."""
        world, k = self.world, self.count
        if k == len(self.time):
            self._double()
        if world.runner.bench is not self._bench:
            self._follow(world.runner.bench)
        self.time[k] = self._time() if time is None else time
        now = world.moment(0 if report is None else report.iterations)
        for quantity in self._lasting:
            values = quantity.read(now)
            buffer = self._buffers.get(quantity.name)
            if buffer is None:
                buffer = self._buffers[quantity.name] = np.zeros((len(self.time), *values.shape))
            if self._moved is None or not quantity.kind:
                buffer[k] = values
            else:
                then, there = self._moved[quantity.kind]
                buffer[k] = np.nan
                buffer[k, then] = values[there]
        for quantity in self._passing:
            if rows := KINDS_OF_PARTS[quantity.kind].rows(self._bench):
                values = quantity.read(now)
                for name, row in rows.items():
                    self._part(quantity, name, values[row])[k] = values[row]
        self.count += 1  # last, so that an interrupt leaves no half sample

    def _part(self, quantity: Quantity, name: str, value: np.ndarray) -> np.ndarray:
        """Buffer of a part that comes and goes."""
        parts = self._parts[quantity.name]
        if name not in parts:
            parts[name] = np.full((len(self.time), *value.shape), np.nan)
        return parts[name]

    def _follow(self, bench: Bench) -> None:
        """Find the parts again after an edit that built the system anew."""
        self._bench, self._moved = bench, {}
        for kind, then in self._rows.items():
            there = KINDS_OF_PARTS[kind].rows(bench)
            both = [name for name in then if name in there]
            self._moved[kind] = [then[name] for name in both], [there[name] for name in both]

    def _time(self) -> float:
        """Simulated time, free of the rounding that a sum of steps gathers: 0.3, not 0.30000000000000004."""
        now = self.world.time
        if self.world.dt != self.dt:
            self.origin, self.dt = now, self.world.dt
        return round(self.origin + round((now - self.origin) / self.dt) * self.dt, 12)

    def _double(self) -> None:
        """Make room where an edit shortened the step on the way."""
        more = len(self.time)
        self.time = np.append(self.time, np.zeros(more))
        for buffers in (self._buffers, *self._parts.values()):
            for name, data in buffers.items():
                buffers[name] = np.append(data, np.full_like(data, np.nan), axis=0)

    def drop_after(self, time: float) -> None:
        """Forget the samples after a time [s]."""
        self.count = int(np.searchsorted(self.time[: self.count], time, side="right"))

    def dataset(self, ending: dict[str, Any]) -> "xr.Dataset":
        """What was sampled, with names, units and attributes."""
        import xarray as xr

        world, model = self.world, self.world.model
        names = {kind: list(rows) for kind, rows in self._rows.items()}
        variables = {}
        for quantity in (*self._lasting, *self._passing):
            if quantity in self._passing:
                parts = self._parts[quantity.name]
                if not parts:
                    continue
                names[quantity.kind] = list(parts)
                data = np.stack([values[: self.count] for values in parts.values()], axis=1)
            else:
                order = list(self._rows[quantity.kind].values())
                data = self._buffers[quantity.name][: self.count, order]
            variables[quantity.in_results] = self._variable(quantity, data)
        give_accessor()
        attributes = {
            "model": model.name,
            "method": world.method.name,
            "dt": world.dt,
            "impulsar_version": __version__,
            **ending,
        }
        if model.reference_energy is not None:
            attributes["reference_energy"] = float(model.reference_energy)
        ordered = {q.in_results: variables[q.in_results] for q in QUANTITIES.values() if q.in_results in variables}
        found = xr.Dataset(ordered, self._coordinates(ordered, names), attributes)
        found.encoding[RAN] = Ran(model)
        return found

    def _variable(self, quantity: Quantity, data: np.ndarray) -> tuple:
        """Data [sample, part, world, component] as a variable: dimensions, values, attributes."""
        data = np.moveaxis(data, 2, 0)  # [world, sample, part, component]
        if not quantity.kind:
            data = data[:, :, 0]
        if quantity.name == "iterations":
            data = data.astype(np.int64)
        unit = quantity.unit
        if quantity.slide_unit or quantity.kind == "sensor":
            rows = range(len(self._rows[quantity.kind]))
            unit = ", ".join(dict.fromkeys(quantity.unit_of(self._first, row) for row in rows))
        leading: tuple[str, ...] = ("world", "time") if self.world.worlds > 1 else ("time",)
        values = data if self.world.worlds > 1 else data[0]
        return (*leading, *quantity.dimensions), values.copy(), {"units": unit, "long_name": quantity.doc}

    def _coordinates(self, variables: dict[str, tuple], names: dict[str, list[str]]) -> dict[str, Any]:
        """Names along the dimensions that there are."""
        present = {dimension for dimensions, _, _ in variables.values() for dimension in dimensions}
        found: dict[str, Any] = {
            "time": ("time", self.time[: self.count].copy(), {"units": "s", "long_name": "simulated time"}),
        }
        for kind, parts in names.items():
            found[KINDS_OF_PARTS[kind].dimension] = parts
        found |= {dimension: list(components) for dimension, components in COMPONENTS.items()}
        if "world" in present:
            found["world"] = np.arange(self.world.worlds)
        found = {dimension: values for dimension, values in found.items() if dimension in present | {"time"}}
        if "coordinate" in found:
            units = self._first.readout.coordinate_units
            found["unit"] = ("coordinate", list(units), {"long_name": "unit of the joint coordinate"})
        return found


RAN = "impulsar_ran"


class Ran:
    """What a result keeps of its run beside the data, in `encoding`: no file and no other process has it."""

    def __init__(self, model: Any = None):
        self.model = model  # whose shapes pictures show

    def __reduce__(self) -> tuple:
        return Ran, ()

    def __deepcopy__(self, memo: Any) -> "Ran":
        return self


def give_accessor() -> None:
    """Let datasets have `.impulsar`: plots, animations and views of them."""
    import xarray as xr

    if not hasattr(xr.Dataset, "impulsar"):
        from .accessor import Accessor

        xr.register_dataset_accessor("impulsar")(Accessor)


def with_events(dataset: "xr.Dataset", found: Samples, names: Sequence[str]) -> "xr.Dataset":
    """A result with the events of its run: when, which, and `event_` and the name of each variable there."""
    when = ("event", found.time[: found.count].copy(), {"units": "s", "long_name": "time of the event"})
    dataset = dataset.assign_coords(event_time=when, event_name=("event", np.array(names, str)))
    if not names:
        return dataset
    there = found.dataset({}).drop_vars("iterations", errors="ignore")
    return dataset.assign({f"event_{name}": values.rename(time="event").drop_vars("event", errors="ignore")
                           for name, values in there.data_vars.items()})  # fmt: skip


@contextmanager
def progress_bar(name: str, start: float, duration: float, wanted: bool | None) -> Iterator[Callable[[float], None]]:
    """A bar with simulated time and times real time; yields what to tell the time to."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda time: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.2f} of {task.total:.2f} s"),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    began = shown = wall.perf_counter()
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task(name, total=duration, speed="")

        def show_time(time: float) -> None:
            nonlocal shown
            now = wall.perf_counter()
            done = time - start
            is_last = done >= (1 - 1e-9) * duration
            if now - shown > 0.1 or is_last:
                shown = now
                speed = f"{done / max(now - began, 1e-9):.3g} × real time"
                bar.update(task, completed=duration if is_last else done, speed=speed, refresh=True)

        yield show_time


def save(dataset: "xr.Dataset", path: str | Path) -> None:
    """Write a result to a NetCDF file; what `load` reads back is equal to the last bit."""
    path = file_path("result", path)
    check_result(dataset)
    write_file(path, netcdf(dataset))


def netcdf(dataset: "xr.Dataset") -> bytes:
    """A result as the bytes of a NetCDF file: made in memory, because HDF5 does not outlive a file that it cannot
    write to its end."""
    data = io.BytesIO()
    dataset.to_netcdf(data, engine="h5netcdf")
    return data.getvalue()


@contextmanager
def told_by(path: Path) -> Iterator[None]:
    """What the system or the format does not allow, with the file's name."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"'{path.name:.100}': {error.strerror or error!s:.200}; check the name and the place"
        ) from error


def check_result(dataset: object) -> None:
    """Refuse what is no result of a run."""
    import xarray as xr

    if not isinstance(dataset, xr.Dataset):
        raise ModelError(f"result: dataset is {show(dataset)}, expected what world.run returned")


def load(path: str | Path) -> "xr.Dataset":
    """Read a result that `save` wrote."""
    import xarray as xr

    give_accessor()
    path = file_path("result", path)
    with told_by(path):
        dataset = xr.load_dataset(path, engine="h5netcdf")
    texts = [name for name, values in dataset.coords.items() if values.dtype == object]
    return dataset.assign_coords({name: dataset.coords[name].astype(str) for name in texts})


# plots ------------------------------------------------------------------------------------------------

INK = "#22303c"
ROUNDING = 1e-12  # of the largest of its kind: less tells of the machine, not of the mechanism
COLOURS = ("#1f77b4", "#d1495b", "#2e933c", "#8e5bb5", "#e08e2b", "#3aa6a6", "#8c6d46", "#6b7785")
KIND_COLOURS = dict(zip(KINDS, (COLOURS[1], COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[4], INK), strict=True))


def plot(dataset: "xr.Dataset", path: str | Path, title: str | None = None) -> None:
    """Draw energies, coordinates, reactions, and errors beyond rounding into a picture file."""
    check_result(dataset)
    check_title(title)
    one = first_world(dataset)
    drawn, told = panes(one)
    rows = (len(drawn) + 1) // 2
    figure = new_figure(11.0, 0.5 + 3.4 * rows)
    draw_panes([figure.add_subplot(rows, 2, k + 1) for k in range(len(drawn))], one, drawn)
    head_and_foot(figure, dataset, title, told)
    save_figure(figure, path)


Draw = Callable[["Axes", "xr.Dataset"], None]


def panes(one: "xr.Dataset") -> tuple[list[Draw], str]:
    """What is to be drawn of one world's result, and in words what is left out because it is rounding."""
    drawn: list[Draw] = [draw_energy] if "energy" in one else []
    if {"joint_position", "probe", "position"} & set(one):
        drawn.append(draw_coordinates)
    reactions, unfelt = _reactions(one)
    drawn += reactions
    errors: list[tuple[Draw, float, float, str]] = []
    if "energy" in one:
        worst, scale = float(np.abs(one["energy"].sel(kind="imbalance")).max()), float(np.abs(one["energy"]).max())
        errors.append((draw_imbalance, worst, ROUNDING * scale, f"energy books out by {worst:.2g} J at most"))
    if "constraint_error" in one:
        error = float(one["constraint_error"].max())
        text = f"constraint error {error:.2g} m and rad at most"
        errors.append((draw_constraint_error, error, ROUNDING * _extent(one), text))
    told = [text for _, off, bound, text in errors if off <= bound]
    drawn += [draw for draw, off, bound, _ in errors if off > bound]
    if not drawn:
        known = ", ".join(map(str, one.data_vars))
        raise ModelError(f"plot: the result has neither energies nor coordinates; name what to draw, of: {known}")
    return drawn, "; ".join(told + unfelt)


def _reactions(one: "xr.Dataset") -> tuple[list[Draw], list[str]]:
    """Reactions that are more than rounding, and in words those that are not."""
    if not {"reaction_force", "reaction_torque"} <= set(one):
        return [], []
    drawn: list[Draw] = []
    force, torque = (
        float(np.linalg.norm(one[f"reaction_{what}"].values, axis=-1)[1:].max(initial=0.0))
        for what in ("force", "torque")
    )
    if force > ROUNDING:
        drawn.append(partial(draw_reactions, name="reaction_force", label="reaction force [N]"))
    if torque > 1e3 * ROUNDING * max(force * _extent(one), ROUNDING):
        drawn.append(partial(draw_reactions, name="reaction_torque", label="reaction torque [N m]"))
        return drawn, []
    return drawn, ["no reaction torques"] if drawn else []


def _extent(one: "xr.Dataset") -> float:
    """Of all that moves [m]."""
    return float(np.ptp(one["position"].values, axis=(0, 1)).max()) or 1.0 if "position" in one else 1.0


def draw_panes(axes: "Sequence[Axes]", one: "xr.Dataset", drawn: Sequence[Draw]) -> None:
    """Each into its axes, over one time, with the run's events."""
    for k, (ax, draw) in enumerate(zip(axes, drawn, strict=True)):
        if k:
            ax.sharex(axes[0])
        draw(ax, one)
        draw_events(ax, one)
    for ax in axes[-2:]:
        ax.set_xlabel("time [s]")


def head_and_foot(figure: "Figure", dataset: "xr.Dataset", title: str | None, told: str) -> None:
    """Title, and below all what is said instead of drawn."""
    worlds = f", world 0 of {dataset.sizes['world']}" if "world" in dataset.dims else ""
    default = f"{dataset.attrs['model']} by {dataset.attrs['method']}, dt = {dataset.attrs['dt']:g} s{worlds}"
    figure.suptitle(title or literally(default), color=INK)
    if told:
        figure.supxlabel(literally(f"rounding, not drawn: {told}"), fontsize=8, color="#6b7785", x=0.99, ha="right")


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure [inch] that no window will show."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a figure to a file of the kind its name says."""
    path = file_path("picture", path)
    check_picture(path)
    data = io.BytesIO()
    figure.savefig(data, format=path.suffix[1:].lower(), dpi=150)
    write_file(path, data.getvalue())


def literally(text: str) -> str:
    """A name as a picture shows it: a dollar is a dollar and begins no formula."""
    return text.replace("$", r"\$")


def check_title(title: object) -> None:
    """Refuse a title that cannot be drawn."""
    if title is not None and (not isinstance(title, str) or not title.isprintable()):
        raise ModelError(f"picture: title is {show(title)}, expected a text that can be printed")


def check_picture(path: Path) -> None:
    """Refuse a name whose ending is no picture format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    known = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise ModelError(f"picture '{path}': no format {path.suffix!r}; formats are: {', '.join(sorted(known))}")


def first_world(dataset: "xr.Dataset") -> "xr.Dataset":
    """The result of one world."""
    return dataset.isel(world=0) if "world" in dataset.dims else dataset


def style(ax: "Axes", label: str, title: str = "") -> None:
    """Title, quantity with unit, light grid, no box."""
    ax.set_title(title, loc="left", fontsize=9, color=INK)
    ax.set_ylabel(label)
    ax.grid(color="#e3e7ea", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.margins(x=0.01)


def legend(ax: "Axes", columns: int) -> None:
    """Names of the curves in rows where the title would be, outside the curves."""
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns, fontsize=9, frameon=False,
        borderaxespad=0.0, borderpad=0.1, handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


def draw_energy(ax: "Axes", dataset: "xr.Dataset") -> None:
    """Curves of the energy books, potential energy from its start; entries that stay zero are left out."""
    energy = dataset["energy"]
    scale = float(np.abs(energy).max())
    for kind in KINDS[:-1]:
        values = energy.sel(kind=kind)
        if np.abs(values).max() <= 1e-9 * scale:
            continue
        label, dashes = ("potential - start", "-") if kind == "potential" else (kind, "--" if kind == "work" else "-")
        values = values - values[0] if kind == "potential" else values
        ax.plot(dataset["time"], values, dashes, color=KIND_COLOURS[kind], linewidth=1.4, label=label)
    style(ax, "energy [J]")
    legend(ax, 5)


def draw_events(ax: "Axes", dataset: "xr.Dataset", most: int = 16) -> None:
    """A thin line at each event of the run, with its name where there are few."""
    if "event_time" not in dataset.coords:
        return
    times = dataset["event_time"].values
    for time, name in zip(times, dataset["event_name"].values, strict=True):
        ax.axvline(time, color="#9aa5ad", linewidth=0.7, linestyle=(0, (4, 2)), zorder=0.9)
        if len(times) <= most:
            ax.annotate(
                literally(str(name)), (time, 1.0), (-1.5, -2.0), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, ha="right", va="top", fontsize=6.5, color="#6b7785",
            )  # fmt: skip


def draw_imbalance(ax: "Axes", dataset: "xr.Dataset") -> None:
    """What the books are out by, in per cent of the reference energy where the model states one."""
    reference = dataset.attrs.get("reference_energy")
    values = dataset["energy"].sel(kind="imbalance")
    label = "imbalance [J]"
    if reference:
        values = 100 * values / reference
        label = f"imbalance [% of {reference:.4g} J]"
    ax.axhline(0.0, color="#9aa5ad", linewidth=0.8)
    ax.plot(dataset["time"], values, color=INK, linewidth=1.2)
    style(ax, label, "error of the energy books")


def draw_constraint_error(ax: "Axes", dataset: "xr.Dataset") -> None:
    """Constraint error on a logarithmic scale of two decades or more; exact zeros leave a gap."""
    error = dataset["constraint_error"].where(dataset["constraint_error"] > 0)
    ax.plot(dataset["time"], error, color=COLOURS[1], linewidth=1.2)
    if error.notnull().any():
        ax.set_yscale("log")
        low, high = math.floor(math.log10(error.min())), math.ceil(math.log10(error.max()))
        ax.set_ylim(10.0 ** min(low, high - 2), 10.0**high)
    style(ax, "2-norm [m and rad]", "constraint error")


def draw_coordinates(ax: "Axes", dataset: "xr.Dataset", most: int = 8) -> None:
    """Joint coordinates of one unit where there are few, else the traces of the probes."""
    names = list(dataset["coordinate"].values) if "joint_position" in dataset else []
    if "probe" in dataset and (not names or len(names) > most):
        shown = [(f"{name}.{axis}", dataset["probe"].sel(name=name, axis=axis))
                 for name in dataset["name"].values for axis in "xyz"]  # fmt: skip
        title, label = "probes", "position [m]"
    elif names:
        units = dataset["unit"].values
        unit = units[0]
        shown = [(name, dataset["joint_position"].sel(coordinate=name))
                 for name, own in zip(names, units, strict=True) if own == unit]  # fmt: skip
        title, label = "joint coordinates", f"coordinate [{unit}]"
    else:
        shown = [(f"{name}.z", dataset["position"].sel(body=name, axis="z")) for name in dataset["body"].values]
        title, label = "bodies", "position [m]"
    for k, (name, values) in enumerate(shown[:most]):
        ax.plot(dataset["time"], values, color=COLOURS[k % len(COLOURS)], linewidth=1.2, label=literally(name))
    style(ax, label)
    legend(ax, 4)
    if len(shown) > most:
        ax.set_title(f"{title}: the first {most} of {len(shown)}", loc="right", fontsize=8, color=INK)


def draw_reactions(ax: "Axes", dataset: "xr.Dataset", name: str, label: str, most: int = 4) -> None:
    """Sizes of the reactions of the joints that carry most, from the first step on."""
    size = np.linalg.norm(dataset[name].values, axis=-1)[1:]  # [time, joint]; there is none before a step
    joints = dataset["joint"].values
    heaviest = np.argsort(-size.max(axis=0, initial=0.0), kind="stable")[:most]
    for k, j in enumerate(np.sort(heaviest)):
        name = literally(str(joints[j]))
        ax.plot(dataset["time"][1:], size[:, j], color=COLOURS[k % len(COLOURS)], linewidth=1.2, label=name)
    style(ax, f"{label}, {most} largest of {len(joints)}" if len(joints) > most else label)
    legend(ax, 4)
