"""`result.impulsar`: a result's plots, animations and a view of it to turn and scrub, from the dataset itself."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .author.checks import file_path, is_number, number, show, whole
from .author.errors import ModelError
from .author.model import Model
from .author.names import closest
from .films import Animation, Film, Recording
from .measured import Channel, channels
from .observe.quantities import KINDS, QUANTITIES
from .render import motion
from .results import (
    COLOURS,
    INK,
    RAN,
    ROUNDING,
    check_result,
    check_title,
    draw_events,
    draw_panes,
    head_and_foot,
    legend,
    literally,
    new_figure,
    panes,
    save_figure,
    style,
)

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

MOST_CURVES = 8  # in one pane, unless they are named one by one
LONGEST = 10.0  # of a film by default: a longer run is played faster [s]
MOST_PICTURES = 3000


class Plot(Figure):
    """A figure that a notebook shows, whether pyplot is loaded or not."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=100)
        return data.getvalue()


class Accessor:
    """What a result of `world.run` can show of itself. `world`: which one of a batch."""

    def __init__(self, dataset: "xr.Dataset"):
        self._dataset = dataset

    def channels(self, world: int = 0) -> list[str]:
        """Names of all that `plot` can draw, such as "body.link10.position.z"."""
        return list(dict.fromkeys(one.name for one in channels(self._one(world)).values()))

    def plot(
        self,
        *panes_: str | Sequence[str],
        parts: str | Sequence[str] | None = None,
        component: str | None = None,
        world: int = 0,
        path: str | Path | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draw over time: by default energies, coordinates, reactions, and errors beyond rounding.

        Each argument is a pane, or one for each unit: a variable ("position", "reaction_force", "energy"), of which
        `parts` (bodies, joints, probes, by name) and `component` ("x", "norm", "kinetic") choose; a channel as signals
        are named ("body.link10.position.z", "link10.z"); or a list of channels of one unit. A path also writes it.
        """
        check_title(title)
        one = self._one(world)
        chosen = [parts] if isinstance(parts, str) else parts
        drawn = [(curves, pane) for pane in panes_ for curves in _curves(one, pane, chosen, component)]
        if not drawn and (chosen is not None or component is not None):
            raise ModelError(
                "plot: parts or component without a variable; name one, such as plot('position', parts=...)"
            )
        if drawn:
            columns = min(2, len(drawn))
            figure, axes = _grid(len(drawn), columns)
            for ax, (curves, pane) in zip(axes, drawn, strict=True):
                _draw(ax, one, curves, pane)
            told = ""
        else:
            makers, told = panes(one)
            figure, axes = _grid(len(makers), 2)
            draw_panes(axes, one, makers)
        head_and_foot(figure, one, title, told)
        if title is None and "world" in self._dataset.dims:
            figure.suptitle(f"{figure.get_suptitle()}, world {world} of {self._dataset.sizes['world']}", color=INK)
        if path is not None:
            save_figure(figure, path)
        return figure

    def animate(
        self,
        path: str | Path | None = None,
        model: Model | Any = None,
        fps: int = 20,
        speed: float | None = None,
        world: int = 0,
        size: tuple[float, float] = (6.0, 5.0),
        title: str | None = None,
    ) -> "Animation | Path":
        """Play the motion: below the cell, or into a file (.gif, .webp, .png; .mp4, .webm by ffmpeg; .html).

        model: a model or world, by default that of the run (a result read from a file knows none). fps: pictures a
        second. speed: against real time, by default 1, or faster where that takes more than 10 s. size [inch].
        """
        check_title(title)
        one, of = self._one(world), self._model(model, "animate")
        span = float(one["time"][-1] - one["time"][0])
        fps = whole("animate", "fps", fps, 1, 120)
        if np.shape(size) != (2,) or not all(is_number(one) and 1.0 <= one <= 40.0 for one in size):
            raise ModelError(f"animate: size is {show(size)}, expected width and height from 1 to 40 inches")
        if speed is None:
            speed = max(1.0, span / LONGEST)
        speed = number("animate", "speed", speed, "more than 0", lambda value: 0 < value < math.inf)
        count = max(2, 1 + math.ceil(span / speed * fps - 1e-9))
        if count > MOST_PICTURES:
            raise ModelError(
                f"animate: {count} pictures, at most {MOST_PICTURES}; play it faster (speed=) or fewer a second (fps=)"
            )
        times = np.linspace(float(one["time"][0]), float(one["time"][-1]), count)
        film = Film(of, one, np.abs(one["time"].values - times[:, None]).argmin(axis=1))
        animation = Animation(film, fps, size, title or f"{of.name}{_pace(speed)}")
        if path is None:
            return animation
        return animation.write(file_path("animation", path), lambda: self.view(of, world=world))

    def view(self, model: Model | Any = None, width: str = "100%", height: int = 480, world: int = 0) -> Recording:
        """The motion in three dimensions, to turn, scrub and zoom, in the notebook itself: it plays without a kernel.

        model: as in `animate`. height [pixels].
        """
        from .studio.player import player_html
        from .world.world import World

        one, of = self._one(world), self._model(model, "view")
        height = whole("view", "height", height, 100, 10_000)
        figure = new_figure(8.0, 6.0)
        motion(figure.subplots(), of, one)
        data = io.BytesIO()
        figure.savefig(data, format="png", dpi=80)
        return Recording(player_html(World(of), one), data.getvalue(), width, height)

    def _one(self, world: int) -> "xr.Dataset":
        """The result of one world, if it is one."""
        data = self._dataset
        check_result(data)
        missing = [name for name in ("model", "method") if name not in data.attrs]
        if "time" not in data.dims or data.sizes["time"] < 1 or missing:
            raise ModelError(
                "result.impulsar: this dataset is no result of world.run; it has no times or no model's name"
            )
        worlds = data.sizes.get("world", 1)
        k = whole("result.impulsar", "world", world, 0, worlds - 1)
        return data.isel(world=k) if "world" in data.dims else data

    def _model(self, given: Any, what: str) -> Model:
        found = given if given is not None else getattr(self._dataset.encoding.get(RAN), "model", None)
        found = getattr(found, "model", found)  # of a world
        if found is None:
            raise ModelError(f"{what}: a result read from a file does not know the shapes; give {what}(model=...)")
        if not isinstance(found, Model):
            raise ModelError(f"{what}: model is {show(given)}, expected a Model or a World")
        needed = {"position", "orientation"} - set(self._dataset.data_vars)
        if needed:
            raise ModelError(f"{what}: the result has no {' and no '.join(sorted(needed))}; run with all variables")
        missing = set(found.bodies) - {str(name) for name in self._dataset["body"].values}
        if missing:
            raise ModelError(
                f"{what}: the result has no body '{min(missing)}' of model '{found.name}'; give the model run"
            )
        return found


def _pace(speed: float) -> str:
    return "" if abs(speed - 1) < 1e-9 else f", {speed:.3g} times real time"


def _grid(count: int, columns: int) -> "tuple[Plot, list[Axes]]":
    rows = math.ceil(count / columns)
    figure = Plot(
        figsize=(5.5 * columns if count > 1 else 7.0, 0.5 + 3.4 * rows), layout="constrained", facecolor="white"
    )
    FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(rows, columns, k + 1) for k in range(count)]


def _curves(
    one: "xr.Dataset", pane: str | Sequence[str], parts: Sequence[str] | None, component: str | None
) -> list[list[Channel]]:
    """What an argument shows, in a pane for each unit."""
    known = channels(one)
    if not isinstance(pane, str):
        if (
            not isinstance(pane, list | tuple | np.ndarray)
            or not len(pane)
            or not all(isinstance(name, str) for name in pane)
        ):
            raise ModelError(f"plot: pane is {show(pane)}, expected names of channels")
        found = [curve for name in pane for curves in _curves(one, name, parts, component) for curve in curves]
    elif pane in known:
        found = [known[pane]]
    elif pane in one.data_vars:
        found = _of_variable(one, pane, known, parts, component)
    else:
        names = [*map(str, one.data_vars), *known]
        raise ModelError(f"plot: the result has no variable or channel {show(pane)}; {closest(pane, names)}")
    units = list(dict.fromkeys(curve.unit for curve in found))
    if len(units) > 1 and not isinstance(pane, str):
        raise ModelError(f"plot: {show(pane)} mixes [{units[0]}] and [{units[1]}]; give each a pane of its own")
    return [[curve for curve in found if curve.unit == unit] for unit in units]


def _of_variable(
    one: "xr.Dataset", variable: str, known: dict[str, Channel], parts: Sequence[str] | None, component: str | None
) -> list[Channel]:
    """The curves of a variable: those of the parts and components asked for."""
    quantity = next((q for q in QUANTITIES.values() if q.in_results == variable), None)
    if quantity is None:
        raise ModelError(f"plot: '{variable}' is no quantity over time; plot it by xarray's own .plot()")
    there = [str(part) for part in one[KINDS[quantity.kind].dimension].values] if quantity.kind else [""]
    for part in parts or ():
        if part not in there:
            raise ModelError(f"plot: '{variable}' has no part {show(part)}; {closest(part, there)}")
    allowed = [*quantity.components, *(["norm"] if quantity.dimension == "axis" else [])]
    if component is not None and component not in allowed:
        raise ModelError(f"plot: '{variable}' has no component {show(component)}; {closest(component, allowed)}")
    endings = [component] if component is not None else list(quantity.components) or [""]
    names = [".".join(filter(None, (variable, part, end))) for part in parts or there for end in endings]
    return [known[name] for name in names]


def _draw(ax: "Axes", one: "xr.Dataset", curves: list[Channel], pane: str | Sequence[str]) -> None:
    """Curves into axes, with the unit, names and events; what is left out is told below."""
    sizes = [float(np.nanmax(np.abs(curve.values), initial=0.0)) for curve in curves]
    moving = [curve for curve, size in zip(curves, sizes, strict=True) if size > ROUNDING * max(sizes)]
    shown, told = curves, ""
    if isinstance(pane, str) and moving:
        shown = moving[:MOST_CURVES]
        parts = [f"{len(curves) - len(moving)} that stay zero"] if len(moving) < len(curves) else []
        parts += [f"{len(moving) - len(shown)} more; choose parts="] if len(shown) < len(moving) else []
        told = f"\nnot drawn: {', '.join(parts)}" if parts else ""
    for k, curve in enumerate(shown):
        colour, dash = COLOURS[k % len(COLOURS)], ("-", "--", ":")[k // len(COLOURS) % 3]
        label = literally(curve.name if len(curve.name) < 40 else f"...{curve.name[-36:]}")
        ax.plot(one["time"], curve.values, dash, color=colour, linewidth=1.2, label=label)
    kinds = {curve.name.split(".")[-2:][0] for curve in curves}  # such as position, of body.crank.position.x
    what = pane.replace("_", " ") if isinstance(pane, str) and "." not in pane else kinds.pop()
    if not isinstance(pane, str) and kinds:
        what = "value"
    style(ax, f"{literally(what)} [{curves[0].unit or '-'}]")
    legend(ax, 2 if any(len(curve.name) > 14 for curve in shown) else 4)
    draw_events(ax, one)
    ax.set_xlabel(f"time [s]{told}")
