"""Pictures without a browser: the motion as a stroboscope shows it, and the demo's figure.

Everything is projected by plain linear algebra and drawn flat, the nearest last. A shape's silhouette
is the convex hull of its projected points, each widened to a disc: two points and a radius for a
capsule, eight corners and none for a box; a mesh or a height field is drawn triangle by triangle. Obstacles are
behind all that moves, a plane as a patch of a grid. V is the picture's frame: x to the right, y up, z to the eye.
"""

import io
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .author.checks import file_path, number, show
from .author.errors import ModelError
from .author.model import Model
from .author.parts import Body, Joint
from .author.rotations import rotation_matrix
from .author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from .author.surfaces import Obstacle
from .observe.quantities import KINDS, QUANTITIES
from .observe.running import Running
from .results import (
    COLOURS,
    INK,
    check_picture,
    check_result,
    check_title,
    draw_energy,
    draw_imbalance,
    draw_panes,
    first_world,
    head_and_foot,
    literally,
    new_figure,
    panes,
    save_figure,
)

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes


FLAT = 0.02  # motion thinner than this share of its largest extent is drawn in its plane
ELEVATION, AZIMUTH = math.radians(20.0), math.radians(28.0)  # of the eye, off the broadside
POSES = 9
MOST_POSES = 1000  # in one picture
CIRCLE = np.column_stack([f(np.linspace(0.0, 2 * math.pi, 24, endpoint=False)) for f in (np.cos, np.sin)])
ROOM = 0.4  # of the size of what moves: so far around it obstacles belong into the picture
GRID = 12  # cells along a plane's patch
STONE, RED = np.array([0.80, 0.81, 0.79]), np.array([0.86, 0.20, 0.16])
SLIDE_AXIS = {"prismatic": 2, "cylindrical": 2, "point-on-line": 2, "pin-slot": 0}  # axis of F that is free


@dataclass(frozen=True)
class View:
    """A projection along z of V."""

    R_VW: np.ndarray
    labels: tuple[str, str] | None  # names of the picture's axes; None: an oblique view
    size: float  # largest extent of what is seen [m]

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Picture coordinates [..., 2] of world points [..., 3]."""
        return points @ self.R_VW[:2].T


@dataclass(frozen=True)
class Outline:
    """Points of a body whose hull, widened by `radius`, is its silhouette [m]; with `triangles` these are."""

    body: str
    points: np.ndarray  # p_BQ [point, axis]
    radius: float
    triangles: np.ndarray | None = None  # [triangle, corner]
    shape: tuple[str, int] = ("", 0)  # owner and number of the shape; -1: a visual
    colour: str | None = None  # of a visual, where one pose is shown


@dataclass(frozen=True)
class Pose:
    """Where every body is at one time; ground is among them."""

    time: float
    p_WB: dict[str, np.ndarray]
    R_WB: dict[str, np.ndarray]

    def place(self, body: str, points: np.ndarray) -> np.ndarray:
        """World places of points [..., 3] of a body."""
        return self.p_WB[body] + points @ self.R_WB[body].T


def draw_motion(
    model: Model,
    dataset: "xr.Dataset",
    path: str | Path,
    poses: int = POSES,
    start: float | None = None,
    stop: float | None = None,
    title: str | None = None,
) -> None:
    """Draw poses of a result, evenly spaced from `start` to `stop` [s], and the probes' traces into a file."""
    check_result(dataset)
    check_title(title)
    check_picture(file_path("picture", path))
    figure = new_figure(8.0, 7.0)
    ax = figure.subplots()
    motion(ax, model, first_world(dataset), poses, start, stop)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    figure.set_size_inches(8.0, float(np.clip(7.0 * (top - bottom) / (right - left) + 1.8, 4.0, 9.0)))
    figure.suptitle(title or literally(dataset.attrs["model"]), color=INK)
    save_figure(figure, path)


def draw_run(model: Model, dataset: "xr.Dataset", path: str | Path, title: str | None = None) -> None:
    """Draw the motion beside energies, coordinates, reactions, and errors beyond rounding into a file."""
    check_result(dataset)
    check_title(title)
    one = first_world(dataset)
    drawn, told = panes(one)
    rows = (len(drawn) + 1) // 2
    figure = new_figure(16.0, max(6.5, 0.8 + 3.2 * rows))
    grid = figure.add_gridspec(rows, 3, width_ratios=(1.1, 1.0, 1.0))
    motion(figure.add_subplot(grid[:, 0]), model, one, POSES, *_window(one))
    draw_panes([figure.add_subplot(grid[k // 2, 1 + k % 2]) for k in range(len(drawn))], one, drawn)
    head_and_foot(figure, dataset, title, told)
    save_figure(figure, path)


def draw_demo(model: Model, dataset: "xr.Dataset", path: str | Path) -> None:
    """Draw the motion, while a hand holds and just after if one did, beside the energy books into a file."""
    one = first_world(dataset)
    figure = new_figure(13.0, 6.5)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.15), height_ratios=(1.5, 1.0))
    start, stop = _window(one)
    motion(figure.add_subplot(grid[:, 0]), model, one, POSES, start, stop)
    top = figure.add_subplot(grid[0, 1])
    bottom = figure.add_subplot(grid[1, 1], sharex=top)
    draw_energy(top, one)
    draw_imbalance(bottom, one)
    if start is not None and stop is not None:
        for ax in (top, bottom):
            ax.axvspan(start, stop, color="#f3efe2", zorder=-1)
        bottom.set_title("shaded: the time shown on the left", loc="right", fontsize=8, color="#7a704f")
    top.tick_params(labelbottom=False)
    bottom.set_xlabel("time [s]")
    figure.align_ylabels((top, bottom))
    dt, method = dataset.attrs["dt"], dataset.attrs["method"]
    figure.suptitle(f"{literally(dataset.attrs['model'])} by {method}, dt = {1000 * dt:g} ms", color=INK)
    save_figure(figure, path)


def _window(dataset: "xr.Dataset") -> tuple[float | None, float | None]:
    """From the first hold of a hand to a moment after the last; None without hands."""
    if "hand_force" not in dataset:
        return None, None
    held = dataset["hand_force"].notnull().any(("hand", "axis")).values
    times = dataset["time"].values
    first, last = np.flatnonzero(held)[[0, -1]]
    begin, end = float(times[max(first - 1, 0)]), float(times[last])
    return begin, min(float(times[-1]), end + 0.25 * (end - begin))


def motion(
    ax: "Axes",
    model: Model,
    dataset: "xr.Dataset",
    poses: int = POSES,
    start: float | None = None,
    stop: float | None = None,
) -> None:
    """Draw the stroboscopic picture of one world's result into axes."""
    owner = f"picture of '{model.name}'"
    if isinstance(poses, bool) or not isinstance(poses, int) or not 1 <= poses <= MOST_POSES:
        raise ModelError(f"{owner}: {show(poses)} poses, expected 1 or more, at most {MOST_POSES}")
    start, stop = (None if t is None else number(owner, w, t) for w, t in (("start", start), ("stop", stop)))
    part = dataset.sel(time=slice(start, stop))
    if part.sizes["time"] == 0:
        raise ModelError(
            f"picture of '{model.name}': no samples from {show(start)} to {show(stop)} s; choose other times"
        )
    chosen = np.unique(np.linspace(0, part.sizes["time"] - 1, poses).round().astype(int))
    shown = [pose_at(part, int(k)) for k in chosen]
    draw_poses(ax, model, shown, lambda view: _draw_traces(ax, part, view))


def pose_now(world: Running, number: int = 0) -> Pose:
    """Where every body of a world is now, of a batch by its number."""
    now, rows = world.moment(), KINDS["body"].rows(world.runner.bench)
    p, q = (QUANTITIES[f"body.{what}"].read(now)[:, number] for what in ("position", "orientation"))
    p_WB = {name: p[row].copy() for name, row in rows.items()} | {"ground": np.zeros(3)}
    R_WB = {name: rotation_matrix(q[row]) for name, row in rows.items()} | {"ground": np.eye(3)}
    return Pose(world.time, p_WB, R_WB)


def pose_authored(model: Model) -> Pose:
    """Where every body of a model is as authored."""
    p_WB = {name: np.asarray(body.position) for name, body in model.bodies.items()} | {"ground": np.zeros(3)}
    R_WB = {name: rotation_matrix(body.orientation) for name, body in model.bodies.items()} | {"ground": np.eye(3)}
    return Pose(0.0, p_WB, R_WB)


def pose_png(model: Model, pose: Pose, width: int = 960, height: int = 720) -> bytes:
    """One pose as a PNG picture of so many pixels."""
    for what, pixels in (("width", width), ("height", height)):
        if not (isinstance(pixels, int) and 100 <= pixels <= 8000):
            raise ModelError(f"picture of '{model.name}': {what} is {show(pixels)}, expected 100 to 8000 pixels")
    figure = new_figure(width / 120, height / 120)
    ax = figure.subplots()

    def mark_probes(view: View) -> None:
        for name, probe in model.probes.items():
            x, y = view.flat(pose.place(probe.body, probe.p_BQ))
            ax.plot(x, y, "x", color=COLOURS[1], markersize=7, zorder=8)
            ax.annotate(literally(name), (x, y), (6, 4), textcoords="offset points", fontsize=8, zorder=9)

    draw_poses(ax, model, [pose], mark_probes)
    ax.set_title(f"{literally(model.name)}, t = {pose.time:.4g} s", color=INK, fontsize=11)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=120)
    return data.getvalue()


def draw_pose(
    model: Model, pose: Pose, path: str | Path, red: Collection[tuple[str, int]] = (), title: str | None = None
) -> None:
    """One pose into a file, some shapes (owner and number) in red."""
    check_title(title)
    check_picture(file_path("picture", path))
    figure = new_figure(8.0, 6.5)
    ax = figure.subplots()
    draw_poses(ax, model, [pose], lambda view: None, red)
    figure.suptitle(literally(title or model.name), color=INK)
    save_figure(figure, path)


def draw_points(
    model: Model,
    pose: Pose,
    points: np.ndarray,
    path: str | Path,
    triangles: np.ndarray | None = None,
    in_front: bool = False,
    title: str | None = None,
) -> None:
    """Points [point, 3], behind the mechanism or in front of it, and triangles of them into a file."""
    from matplotlib.collections import PolyCollection

    check_title(title)
    check_picture(file_path("picture", path))
    figure = new_figure(8.0, 7.0)
    ax = figure.subplots()

    def draw_cloud(view: View) -> None:
        flat = view.flat(points)
        if triangles is not None and len(triangles):
            ax.add_collection(
                PolyCollection(list(flat[triangles]), facecolors="#cfe3f7", edgecolors="none", zorder=1.5)
            )
        size = float(np.clip(200.0 / math.sqrt(max(len(points), 1)), 0.3, 8.0))
        ax.scatter(flat[:, 0], flat[:, 1], s=size, color=COLOURS[0], linewidths=0, zorder=7 if in_front else 1.6)

    draw_poses(ax, model, [pose], draw_cloud, also=points)
    figure.suptitle(literally(title or model.name), color=INK)
    save_figure(figure, path)


def draw_poses(
    ax: "Axes",
    model: Model,
    shown: list[Pose],
    draw_more: Callable[[View], None],
    red: Collection[tuple[str, int]] = (),
    also: np.ndarray | None = None,
    plain: bool = False,
) -> None:
    """Draw bodies, springs and ground of poses, the last one boldly, and what else belongs into the view.

    Shapes in `red` (owner and number) are, in the last pose; points `also` [point, 3] are to be seen too; a `plain`
    picture has no axes.
    """
    outlines = [outline for body in model.bodies.values() for outline in body_outlines(model, body)]
    origin = np.zeros((0 if outlines else 1, 3))  # of an empty model
    seen = np.vstack([origin, *(pose.place(o.body, o.points) for pose in shown for o in outlines)])
    seen = seen if also is None else np.vstack([seen, also])
    view = choose_view(model, seen)
    colours = _colours(len(shown)) if len(shown) > 1 else _colours(3)[1:2]
    draw_more(view)
    draw_obstacles(ax, model, view, seen, red)
    for k, pose in enumerate(shown):
        last = k == len(shown) - 1
        _draw_pose(ax, outlines, pose, view, colours[k], last, red if last else (), len(shown) == 1)
    _draw_springs(ax, model, shown[-1], view)
    _draw_ground(ax, model, shown, view)
    if plain:
        ax.set_axis_off()
        ax.set_aspect("equal")
        middle, half = _middle(view.flat(seen))
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - 0.75 * half, middle[1] + 0.75 * half)
        return
    _finish(ax, view, view.flat(seen))
    if len(shown) > 1:
        _time_bar(ax, shown, colours)


def _middle(flat: np.ndarray) -> tuple[np.ndarray, float]:
    """Middle and half width of a picture of 4 to 3 about points [point, 2], with room around them."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    return (low + high) / 2, 0.6 * float(max(high[0] - low[0], 4 / 3 * (high[1] - low[1]), 1e-9))


def strip_png(model: Model, dataset: "xr.Dataset", count: int = 12, width: int = 160) -> bytes:
    """Poses of a result side by side, each so wide and three quarters as high [pixels], from one place."""
    one = first_world(dataset)
    chosen = np.linspace(0, one.sizes["time"] - 1, count).round().astype(int)
    poses = [pose_at(one, int(k)) for k in chosen]
    outlines = [outline for body in model.bodies.values() for outline in body_outlines(model, body)]
    round_ = np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])  # what a radius adds to a point
    seen = np.vstack([
        (pose.place(o.body, o.points)[:, None] + o.radius * round_).reshape(-1, 3) for pose in poses for o in outlines
    ])  # fmt: skip
    figure = new_figure(count * width / 100, 0.75 * width / 100)
    figure.set_layout_engine("none")
    figure.patch.set_alpha(0.0)
    for k, pose in enumerate(poses):
        ax = figure.add_axes((k / count, 0.0, 1 / count, 1.0))
        draw_poses(ax, model, [pose], lambda view: None, also=seen, plain=True)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=100)
    return data.getvalue()


def pose_at(dataset: "xr.Dataset", sample: int) -> Pose:
    """The pose at a sample."""
    at = dataset.isel(time=sample)
    names = [str(name) for name in dataset["body"].values]
    p_WB = dict(zip(names, at["position"].values, strict=True)) | {"ground": np.zeros(3)}
    q_WB = dict(zip(names, at["orientation"].values, strict=True)) | {"ground": np.array([0.0, 0.0, 0.0, 1.0])}
    return Pose(float(at["time"]), p_WB, {name: rotation_matrix(q) for name, q in q_WB.items()})


# what is seen -----------------------------------------------------------------------------------------


def body_outlines(model: Model, body: Body) -> list[Outline]:
    """A body's shapes; without shapes, a thin solid through its joints and springs."""
    if body.drawn:
        seen = [(body.name, -1 if body.visuals else k) for k in range(len(body.drawn))]
        return [Outline(body.name, *_shape_points(one), at, c) for at, (one, c) in zip(seen, body.drawn, strict=True)]
    points = [j.p_PF for j in model.joints.values() if j.first == body.name]
    points += [j.p_CM for j in model.joints.values() if j.second == body.name]
    points += [s.p_PQ for s in model.springs.values() if s.first == body.name]
    points += [s.p_CQ for s in model.springs.values() if s.second == body.name]
    spread = np.ptp(np.array([*points, np.zeros(3)]), axis=0).max()
    if len(points) < 2:
        points.append(np.zeros(3))
    return [Outline(body.name, np.array(points), 0.03 * spread if spread > 0 else _ball_radius(body))]


def _ball_radius(body: Body) -> float:
    """Radius of the ball with the body's mass and mean inertia, 2/5 m r² = I."""
    return math.sqrt(2.5 * float(np.trace(body.inertia)) / 3 / (body.mass or 1.0))


def _shape_points(shape: Shape) -> tuple[np.ndarray, float, np.ndarray | None]:
    """Points of a shape in its body's frame, how far its surface lies around their hull, and its triangles if it is
    not their hull."""
    radius, triangles = 0.0, None
    if isinstance(shape, Box):
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        points = corners * shape.size
    elif isinstance(shape, Sphere):
        points, radius = np.zeros((1, 3)), shape.radius
    elif isinstance(shape, Capsule):
        points, radius = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * shape.length, shape.radius
    elif isinstance(shape, Cylinder):
        ring = np.column_stack([shape.radius * CIRCLE, np.full(len(CIRCLE), 0.5 * shape.length)])
        points = np.vstack([ring, ring * (1.0, 1.0, -1.0)])
    elif isinstance(shape, Cone):
        ring = np.column_stack([shape.radius * CIRCLE, np.full(len(CIRCLE), -0.5 * shape.length)])
        points = np.vstack([ring, (0.0, 0.0, 0.5 * shape.length)])
    elif isinstance(shape, ConvexHull):
        points = np.asarray(shape.points)
    elif isinstance(shape, Mesh):
        points, triangles = np.asarray(shape.vertices), np.asarray(shape.triangles)
    elif isinstance(shape, HeightField):
        points, triangles = field_triangles(shape)
    else:
        raise ModelError(f"shape {type(shape).__name__}: cannot be drawn; use a shape of impulsar")
    return shape.offset + points @ rotation_matrix(shape.orientation).T, radius, triangles


def field_triangles(field: HeightField) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a height field, facing up."""
    heights = np.asarray(field.heights)
    nx, ny = heights.shape
    x, y = (np.linspace(-0.5, 0.5, n) * size for n, size in zip((nx, ny), field.size, strict=True))
    points = np.column_stack([np.repeat(x, ny), np.tile(y, nx), heights.ravel()])
    low = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
    halves = ([low, low + ny, low + ny + 1], [low, low + ny + 1, low + 1])
    return points, np.vstack([np.column_stack(half) for half in halves])


def choose_view(model: Model, points: np.ndarray) -> View:
    """The plane of a flat motion, along world axes; else obliquely onto its broad side, gravity down."""
    extent = np.ptp(points, axis=0)
    size = float(extent.max()) or 1.0
    up_axis = int(np.argmax(np.abs(model.gravity))) if np.any(model.gravity) else 2
    up = np.eye(3)[up_axis] * (1.0 if model.gravity[up_axis] <= 0 else -1.0)
    thin = int(np.argmin(extent))
    if extent[thin] <= FLAT * size and thin != up_axis:
        right_axis = ({0, 1, 2} - {thin, up_axis}).pop()
        right = np.eye(3)[right_axis]
        return View(np.array([right, up, np.cross(right, up)]), ("xyz"[right_axis], "xyz"[up_axis]), size)
    level = points - points.mean(axis=0)
    level -= np.outer(level @ up, up)
    broad = np.linalg.svd(level, full_matrices=False)[2][0]
    broad -= (broad @ up) * up
    broad = broad / np.linalg.norm(broad) if np.linalg.norm(broad) > 1e-9 else np.roll(up, 1)
    broad *= 1.0 if broad.sum() >= 0 else -1.0
    ahead = np.cross(broad, up)  # to the eye
    right = math.cos(AZIMUTH) * broad + math.sin(AZIMUTH) * ahead
    ahead = np.cross(right, up)
    eye = math.cos(ELEVATION) * ahead + math.sin(ELEVATION) * up
    return View(np.array([right, np.cross(eye, right), eye]), None, size)


def hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull of points in the plane, anticlockwise (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    chains = []
    for run in (ordered, ordered[::-1]):
        chain: list[np.ndarray] = []
        for p in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Twice the signed area of a triangle."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def silhouette(outline: Outline, pose: Pose, view: View) -> np.ndarray:
    """Corners of a body's outline in the picture [corner, 2]."""
    flat = view.flat(pose.place(outline.body, outline.points))
    if outline.radius > 0:
        flat = (flat[:, None] + outline.radius * CIRCLE).reshape(-1, 2)
    return hull(flat)


# drawing ----------------------------------------------------------------------------------------------


def _colours(count: int) -> np.ndarray:
    """From pale to dark over the poses, RGB."""
    from matplotlib import colormaps

    return np.asarray(colormaps["YlGnBu"](np.linspace(0.25, 0.8, count)))[:, :3]


def _draw_pose(
    ax: "Axes",
    outlines: list[Outline],
    pose: Pose,
    view: View,
    colour: np.ndarray,
    last: bool,
    red: Collection[tuple[str, int]] = (),
    alone: bool = False,
) -> None:
    from matplotlib.collections import PolyCollection

    def depth(outline: Outline) -> float:
        return float(pose.place(outline.body, outline.points).mean(axis=0) @ view.R_VW[2])

    polygons: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    edges: list[np.ndarray] = []
    for outline in sorted(outlines, key=depth):
        name, k = outline.shape
        own = colour if outline.colour is None or not alone else np.array(list(bytes.fromhex(outline.colour[1:]))) / 255
        own = RED if outline.shape in red or (k < 0 and any(name == other for other, _ in red)) else own
        corners, shades = _polygons(outline, pose, view, own)
        polygons += corners
        faces += shades
        edge = np.array([0.12, 0.16, 0.20]) if last else 0.75 * own
        edges += [edge] if outline.triangles is None else shades
    ax.add_collection(
        PolyCollection(polygons, facecolors=faces, edgecolors=edges, linewidths=0.8 if last else 0.4,
                       alpha=1.0 if last else 0.8, zorder=4 if last else 3)
    )  # fmt: skip


def _polygons(outline: Outline, pose: Pose, view: View, colour: np.ndarray) -> tuple[list, list]:
    """Corners and colours of an outline: its silhouette, or its triangles from far to near, lit from the eye."""
    if outline.triangles is None:
        return [silhouette(outline, pose, view)], [colour]
    corners = pose.place(outline.body, outline.points)[outline.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    light = 0.55 + 0.45 * np.abs(normals @ view.R_VW[2]) / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    order = np.argsort(corners.mean(axis=1) @ view.R_VW[2], kind="stable")
    return list(view.flat(corners[order])), list(light[order, None] * colour)


def draw_obstacles(
    ax: "Axes", model: Model, view: View, seen: np.ndarray, red: Collection[tuple[str, int]] = ()
) -> None:
    """Shapes of the ground and obstacles, as far as they are about what is seen."""
    from matplotlib.collections import PolyCollection

    still = Pose(0.0, {"ground": np.zeros(3)}, {"ground": np.eye(3)})
    low, high = seen.min(axis=0) - ROOM * view.size, seen.max(axis=0) + ROOM * view.size
    drawn: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []  # depth, corners, colours of face and edge
    for name, k, shape, p_WO, R_WO in _ground_shapes(model):
        colour = RED if (name, k) in red else STONE
        if isinstance(shape, Plane):
            R_WS = R_WO @ rotation_matrix(shape.orientation)
            _draw_plane(ax, view, seen, p_WO + R_WO @ shape.offset, R_WS, colour)
            continue
        points, radius, triangles = _shape_points(shape)
        outline = Outline("ground", p_WO + points @ R_WO.T, radius, triangles)
        polygons, faces = _polygons(outline, still, view, colour)
        depths = [float(outline.points.mean(axis=0) @ view.R_VW[2])]
        if triangles is not None:
            depths = sorted((outline.points[triangles].mean(axis=1) @ view.R_VW[2]).tolist())
        edges = [0.7 * face for face in faces] if triangles is None else faces
        drawn += zip(depths, polygons, faces, edges, strict=True)
        least, most = outline.points.min(axis=0) - radius, outline.points.max(axis=0) + radius
        if (least <= high).all() and (most >= low).all():
            ax.update_datalim(view.flat(np.clip(outline.points, low, high)))
    if drawn:
        _, polygons, faces, edges = zip(*sorted(drawn, key=lambda each: each[0]), strict=True)
        ax.add_collection(
            PolyCollection(polygons, facecolors=faces, edgecolors=edges, linewidths=0.6, zorder=1), autolim=False
        )


def _ground_shapes(model: Model) -> Iterator[tuple[str, int, Shape, np.ndarray, np.ndarray]]:
    """Owner, number and shape of all that stands still, and its frame's place and rotation."""
    owners: dict[str, Body | Obstacle] = {"ground": model.ground, **model.obstacles}
    for name, owner in owners.items():
        for k, shape in enumerate(owner.shapes):
            yield name, k, shape, np.asarray(owner.position), rotation_matrix(owner.orientation)


def _draw_plane(ax: "Axes", view: View, seen: np.ndarray, p: np.ndarray, R: np.ndarray, colour: np.ndarray) -> None:
    """A patch of a plane as a grid, under the middle of what is seen; from the side a hatched line."""
    from matplotlib.collections import LineCollection

    middle, reach = (seen.min(axis=0) + seen.max(axis=0)) / 2, 0.5 * np.linalg.norm(np.ptp(seen, axis=0))
    centre = middle - ((middle - p) @ R[:, 2]) * R[:, 2]
    if abs(R[:, 2] @ view.R_VW[2]) < 1e-3:
        along = np.cross(R[:, 2], view.R_VW[2])
        left, right = sorted(map(view.flat, (centre - reach * along, centre + reach * along)), key=lambda end: end[0])
        _hatch(ax, left, right, -0.03 * view.size * math.copysign(1.0, view.R_VW[1] @ R[:, 2]))
        return
    ticks = np.linspace(-reach, reach, GRID + 1)
    ends = np.array([[[s, -reach], [s, reach]] for s in ticks] + [[[-reach, s], [reach, s]] for s in ticks])
    lines = view.flat(centre + ends @ R[:, :2].T)
    ax.fill(*lines[[0, 0, GRID, GRID], [0, 1, 1, 0]].T, facecolor=0.35 * colour + 0.65, edgecolor="none", zorder=0.8)
    ax.add_collection(LineCollection(list(lines), colors=[0.9 * colour], linewidths=0.7, zorder=0.9), autolim=False)


def _draw_traces(ax: "Axes", dataset: "xr.Dataset", view: View) -> None:
    if "probe" not in dataset:
        return
    for k, name in enumerate(dataset["name"].values):
        path = view.flat(dataset["probe"].sel(name=name).values)
        label = f"path of {literally(name)}"
        ax.plot(*path.T, color=COLOURS[(k + 1) % len(COLOURS)], linewidth=1.2, zorder=5, label=label)


def _draw_springs(ax: "Axes", model: Model, pose: Pose, view: View) -> None:
    """Each spring as a zigzag between its ends in the last pose."""
    for spring in model.springs.values():
        a, b = (view.flat(pose.place(*end)) for end in ((spring.first, spring.p_PQ), (spring.second, spring.p_CQ)))
        along = b - a
        across = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-12) * 0.015 * view.size
        s = np.array([0.0, 0.15, *np.linspace(0.2, 0.8, 9), 0.85, 1.0])
        side = np.array([0, 0, *[1, -1] * 4, 1, 0, 0])
        ax.plot(*(a + s[:, None] * along + side[:, None] * across).T, color=COLOURS[1], linewidth=1.2, zorder=6)


def _draw_ground(ax: "Axes", model: Model, poses: list[Pose], view: View) -> None:
    """A pin with hatched ground at every joint to ground; along a slide, a hatched guide."""
    r = 0.03 * view.size
    if not model.joints:
        return
    middle = np.mean([view.flat(p) for pose in poses for name, p in pose.p_WB.items() if name != "ground"], axis=0)
    for joint in model.joints.values():
        if "ground" not in (joint.first, joint.second) or joint.type in ("free", "distance"):
            continue
        on_first = joint.first == "ground"
        p, q = (joint.p_PF, joint.q_PF) if on_first else (joint.p_CM, joint.q_CM)
        at = view.flat(p)
        if joint.type in SLIDE_AXIS:
            along = rotation_matrix(q)[:, SLIDE_AXIS[joint.type]]
            reach = np.array([_moving_end(joint, pose) - p for pose in poses]) @ along
            ends = (p + along * (reach.min() - 5 * r), p + along * (reach.max() + 5 * r))
            left, right = sorted(map(view.flat, ends), key=lambda end: end[0])
            _hatch(ax, left, right, -r)
            continue
        down = 1.0 if middle[1] < at[1] - 0.1 * view.size else -1.0  # above what hangs, else below
        base, side = at + np.array([0.0, down * 1.4 * r]), np.array([r, 0.0])
        corners = np.array([at, base - side, base + side])
        ax.fill(*corners.T, facecolor="#c9d0d5", edgecolor=INK, linewidth=0.8, zorder=6)
        _hatch(ax, base - 1.5 * side, base + 1.5 * side, down * r)
        ax.plot(*at, "o", color="white", markeredgecolor=INK, markersize=4.5, markeredgewidth=1.0, zorder=7)


def _moving_end(joint: Joint, pose: Pose) -> np.ndarray:
    """Where a joint sits on the body that is not ground."""
    if joint.first == "ground":
        return pose.place(joint.second, joint.p_CM)
    return pose.place(joint.first, joint.p_PF)


def _hatch(ax: "Axes", a: np.ndarray, b: np.ndarray, r: float) -> None:
    """A line with strokes on its lower side (r < 0), or its upper (r > 0)."""
    ax.plot(*np.array([a, b]).T, color=INK, linewidth=1.2, zorder=2)
    along = b - a
    count = max(4, round(float(np.linalg.norm(along)) / (0.6 * abs(r))))
    for s in (np.arange(count) + 0.5) / count:
        foot = a + s * along
        ax.plot(*np.array([foot, foot + r * np.array([0.35, 0.55])]).T, color=INK, linewidth=0.7, zorder=2)


def _finish(ax: "Axes", view: View, seen: np.ndarray) -> None:
    """Equal scales, axes with units or a triad with its length, names of the paths."""
    ax.set_aspect("equal")
    wide, high = np.maximum(ax.dataLim.size, 1e-9 * view.size)
    ax.margins(min(max(0.05, 0.2 * high / wide - 0.5), 100.0), 0.05)  # figures on a narrow axis need room
    ax.autoscale_view()
    if view.labels:
        ax.set(xlabel=f"{view.labels[0]} [m]", ylabel=f"{view.labels[1]} [m]")
        ax.grid(color="#eef1f3", linewidth=0.8)
        ax.set_axisbelow(True)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    else:
        ax.set_axis_off()
        _draw_triad(ax, view, seen)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=4, fontsize=9, frameon=False, borderaxespad=0.0)


def _draw_triad(ax: "Axes", view: View, seen: np.ndarray) -> None:
    """World axes with their length, in the corner farthest from all that is seen."""
    length = 10.0 ** math.floor(math.log10(0.2 * view.size))
    length *= max(m for m in (1, 2, 5) if m * length <= 0.2 * view.size)
    arms = length * view.R_VW[:2].T  # of x, y, z in the picture
    gap = 0.05 * view.size
    low, high = np.minimum(arms.min(axis=0), 0.0) - (gap, 1.6 * gap), np.maximum(arms.max(axis=0), 0.0) + gap
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    corners = [np.array([x, y]) for x in (left - low[0], right - high[0]) for y in (bottom - low[1], top - high[1])]

    def clearance(origin: np.ndarray) -> float:
        return float(np.maximum(seen - origin - high, origin + low - seen).max(axis=1).min())

    origin = max(corners, key=clearance)
    if clearance(origin) < 0:  # no corner is free: make room below
        origin = np.array([left, bottom - high[1]]) - (low[0], 0.0)
        ax.set_ylim(bottom - (high - low)[1], top)
    for name, arm in zip("xyz", arms, strict=True):
        x, y = origin + arm
        ax.annotate(
            "", (x, y), tuple(origin), arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}
        )
        x, y = origin + arm * (1 + 0.6 * gap / length)
        ax.text(x, y, name, ha="center", va="center", fontsize=9, color=INK)
    x, y = origin[0] + (low + high)[0] / 2, origin[1] + low[1]
    ax.text(x, y, f"{length:g} m each", fontsize=8, color=INK, ha="center", va="bottom")


def _time_bar(ax: "Axes", poses: list[Pose], colours: np.ndarray) -> None:
    """A bar that gives every pose's time by its colour."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    times = [pose.time for pose in poses]
    steps = range(len(times) + 1)
    mappable = ScalarMappable(BoundaryNorm(steps, len(times)), ListedColormap(colours))
    bar = ax.figure.colorbar(mappable, ax=ax, orientation="horizontal", fraction=0.035, pad=0.03, aspect=45)
    bar.set_ticks([k + 0.5 for k in range(len(times))], labels=[f"{time:.3g}" for time in times])
    bar.ax.tick_params(which="both", labelsize=8, length=0)
    bar.outline.set_visible(False)
    bar.set_label("time of the pose [s]", fontsize=9)
