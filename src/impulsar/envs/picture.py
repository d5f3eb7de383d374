"""What a camera beside a mechanism sees: pictures for Gymnasium's `render`, drawn without a window."""

from itertools import product

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ..render import Pose, View, body_outlines, draw_poses, pose_authored, pose_now
from ..results import COLOURS, new_figure
from ..world import World

DOTS = 100  # of an inch [1/inch]
ROOM = 1.5  # around the authored mechanism, of its size


class Picture:
    """Pictures of the worlds of a batch, from a place from which all that they showed so far is seen."""

    def __init__(self, world: World):
        self.world = world
        figure = new_figure(640 / DOTS, 480 / DOTS)
        figure.set_dpi(DOTS)
        self._canvas, self._axes = FigureCanvasAgg(figure), figure.subplots()
        self._room = _corners(_points(world, pose_authored(world.model)), ROOM)

    def of(self, k: int, marks: np.ndarray) -> np.ndarray:
        """World k now, with marks [mark, 3] in it [480, 640, 3]."""
        self._axes.clear()

        def draw_marks(view: View) -> None:
            self._axes.plot(*view.flat(marks).T, "x", color=COLOURS[1], markersize=9, markeredgewidth=2, zorder=8)

        pose = pose_now(self.world, k)
        self._room = _corners(np.vstack([self._room, _points(self.world, pose), marks]), 1.0)
        draw_poses(self._axes, self.world.model, [pose], draw_marks, also=self._room, plain=True)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy()


def _points(world: World, pose: Pose) -> np.ndarray:
    """Points of all bodies [point, 3]."""
    outlines = [outline for body in world.model.bodies.values() for outline in body_outlines(world.model, body)]
    return np.vstack([np.zeros((0 if outlines else 1, 3)), *(pose.place(one.body, one.points) for one in outlines)])


def _corners(points: np.ndarray, room: float) -> np.ndarray:
    """Corners of the box around points, so many times as large [8, 3]."""
    low, high = points.min(0), points.max(0)
    return (low + high) / 2 + room * (high - low) / 2 * np.array(list(product((-1.0, 1.0), repeat=3)))
