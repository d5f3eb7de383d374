"""Films of results: pictures one by one as matplotlib plays them, and the studio's picture that plays by itself."""

import base64
import html
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .author.checks import file_path
from .author.errors import ModelError
from .author.files import write_file
from .author.model import Model
from .render import View, body_outlines, draw_poses, pose_at
from .results import COLOURS, INK, literally

if TYPE_CHECKING:
    import xarray as xr

PILLOW = (".gif", ".webp", ".png")  # pictures that move, which Pillow writes
FFMPEG = (".mp4", ".webm", ".mov")
ROUND = np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])  # what a radius adds to a point


@dataclass(frozen=True)
class Film:
    """A motion and the samples of it that are shown."""

    model: Model
    dataset: "xr.Dataset"  # of one world
    samples: np.ndarray

    @cached_property
    def seen(self) -> np.ndarray:
        """Points of all pictures, so that all are drawn from one place [point, 3]."""
        outlines = [outline for body in self.model.bodies.values() for outline in body_outlines(self.model, body)]
        spread = np.unique(np.linspace(0, len(self.samples) - 1, 60).round().astype(int))
        poses = [pose_at(self.dataset, int(self.samples[k])) for k in spread]
        return np.vstack([
            np.zeros((0 if outlines else 1, 3)),
            *((p.place(o.body, o.points)[:, None] + o.radius * ROUND).reshape(-1, 3) for p in poses for o in outlines),
        ])  # fmt: skip

    def draw(self, ax, k: int) -> None:
        """Draw the picture of a number into axes: bodies, and the probes' paths up to there."""
        sample = int(self.samples[k])
        ax.clear()

        def trace(view: View) -> None:
            for number, name in enumerate(self.dataset["name"].values if "probe" in self.dataset else ()):
                path = view.flat(self.dataset["probe"].sel(name=name).values[: sample + 1])
                ax.plot(*path.T, color=COLOURS[(number + 1) % len(COLOURS)], linewidth=1.2, zorder=5)

        draw_poses(ax, self.model, [pose_at(self.dataset, sample)], trace, also=self.seen, plain=True)
        ax.set_title(f"t = {float(self.dataset['time'][sample]):.2f} s", fontsize=9, color=INK)


class Animation(FuncAnimation):
    """Pictures of a motion; a notebook plays them."""

    def __init__(self, film: Film, fps: int, size: tuple[float, float], title: str):
        self.film, self.fps = film, fps
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        figure.suptitle(literally(title), color=INK, fontsize=11)
        self._ax = figure.subplots()
        count = len(film.samples)
        super().__init__(figure, self._show, frames=count, interval=1000 / fps, cache_frame_data=False)

    def __del__(self) -> None:
        """Nothing: whether it was ever played is nobody's concern."""

    def _show(self, k: int) -> list:
        self.film.draw(self._ax, k)
        return []

    def _repr_html_(self) -> str:
        """A picture that moves, in the text itself: matplotlib's own player asks another host for its buttons."""
        with tempfile.TemporaryDirectory(prefix="impulsar-") as folder:
            path = Path(folder) / "film.webp"
            self.save(path, writer=PillowWriter(fps=self.fps), dpi=80)
            text = base64.b64encode(path.read_bytes()).decode()
        return f'<img src="data:image/webp;base64,{text}" alt="{html.escape(self.film.model.name)} in motion">'

    def write(self, path: Path, recording: "Callable[[], Recording]") -> Path:
        """Write into a file of the kind its name says."""
        kind = path.suffix.lower()
        if kind == ".html":
            recording().save(path)
        elif kind in PILLOW:
            self.save(path, writer=PillowWriter(fps=self.fps), dpi=80)
        elif kind in FFMPEG and shutil.which("ffmpeg"):
            self.save(path, writer=FFMpegWriter(fps=self.fps), dpi=120)
        elif kind in FFMPEG:
            raise ModelError(f"animation: {kind} needs ffmpeg, which is not on the PATH; install it, or name a .webp")
        else:
            known = ", ".join((*PILLOW, *FFMPEG, ".html"))
            raise ModelError(f"animation '{path.name:.100}': no format {kind!r}; formats are: {known}")
        return path


class Recording:
    """A motion below the cell, to turn and scrub; it needs no kernel, so a saved notebook plays it."""

    def __init__(self, page: str, picture: bytes, width: str, height: int):
        self.page, self.picture, self.width, self.height = page, picture, width, height

    def _repr_html_(self) -> str:
        style = f"border:0;width:{html.escape(self.width)};height:{self.height}px"
        return f'<iframe srcdoc="{html.escape(self.page)}" style="{style}" title="Recorded motion"></iframe>'

    def _repr_png_(self) -> bytes:
        return self.picture

    def save(self, path: str | Path) -> None:
        """Write the page into a file, which opens anywhere."""
        write_file(file_path("recording", path), self.page.encode())
