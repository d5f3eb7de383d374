"""Tracks of a GPS receiver: the fixes of a run beside the truth, on the Earth; drawn, as GeoJSON and as KML.

GeoJSON is RFC 7946 (WGS 84, longitude before latitude, degrees, metres), KML is OGC 07-147r2. Where there is no fix
the line of fixes has a gap.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from .author.checks import file_path
from .author.errors import ModelError
from .author.files import write_file
from .author.model import Model
from .author.names import closest
from .author.rotations import rotate_all
from .author.sensors import Gps
from .observe.gps import axes_of, geographic
from .results import COLOURS, INK, new_figure, save_figure, style

if TYPE_CHECKING:
    import xarray as xr

KML = "http://www.opengis.net/kml/2.2"
EPOCH = np.datetime64("1993-07-01T00:00:00", "ms")  # of Gps.time
DIGITS = 9  # of degrees: a tenth of a millimetre


@dataclass(frozen=True, eq=False)
class Track:
    """Samples of a receiver, each beside the truth at the time that it was taken."""

    name: str  # of the sensor
    times: np.ndarray  # [sample] [s]
    clock: np.ndarray  # [sample] UTC, by the constellation's epoch
    fix: np.ndarray  # [sample, 3] in the world, NaN without a fix [m]
    truth: np.ndarray  # [sample, 3] of the antenna [m]
    satellites: np.ndarray
    hdop: np.ndarray
    fix_places: np.ndarray  # [sample, 3] longitude, latitude [deg], height [m]
    places: np.ndarray  # of the truth, likewise

    @property
    def valid(self) -> np.ndarray:
        """Which samples have a fix."""
        return np.isfinite(self.fix[:, 0])

    @property
    def errors(self) -> np.ndarray:
        """Horizontal distance of each fix from the truth [m]; NaN without one."""
        return np.hypot(*(self.fix - self.truth)[:, :2].T)


def track(dataset: "xr.Dataset", model: Model, sensor: str = "gps", world: int = 0) -> Track:
    """The track of a receiver in a run's result, of one world of a batch."""
    found = _receiver(model, sensor)
    needed = {"sensor", "position", "orientation"} - set(dataset.data_vars)
    if needed:
        raise ModelError(f"track: the result has no {', '.join(sorted(needed))}; run it with the usual variables")
    if "world" in dataset.dims:
        dataset = dataset.isel(world=world)
    times = dataset["time"].values
    rows = _sampled(times, found)
    values = {name: dataset["sensor"].sel(channel=f"{sensor}.{name}").values[rows]
              for name in ("position.x", "position.y", "position.z", "satellites", "hdop")}  # fmt: skip
    fix = np.stack([values[f"position.{axis}"] for axis in "xyz"], axis=1)
    taken = np.searchsorted(times, times[rows] - found.latency - 1e-9 / found.rate)
    here = dataset.isel(time=taken)
    at = np.asarray(found.at, float)
    truth = np.tile(at, (len(rows), 1))
    if found.body in dataset["body"].values:
        p, q = (here[name].sel(body=found.body).values for name in ("position", "orientation"))
        truth = p + rotate_all(q, at)
    clock = EPOCH + np.round(1e3 * (found.time + times[taken])).astype("timedelta64[ms]")
    return Track(sensor, times[taken], clock, fix, truth, values["satellites"], values["hdop"],
                 _on_earth(found, fix), _on_earth(found, truth))  # fmt: skip


def _receiver(model: Model, sensor: str) -> Gps:
    part = model.sensors.get(sensor)
    if part is None or not isinstance(part.sensor, Gps):
        known = [name for name, each in model.sensors.items() if isinstance(each.sensor, Gps)]
        told = closest(sensor, known) if known else "the model has none; add im.sensors.Gps"
        raise ModelError(f"track: no GPS receiver named '{sensor}'; {told}")
    return part.sensor


def _sampled(times: np.ndarray, sensor: Gps) -> np.ndarray:
    """Rows of a result at which a new sample has come, each once."""
    first, last = times[0], times[-1]
    k = np.arange(math.ceil((first - sensor.latency) * sensor.rate - 1e-9), math.floor(last * sensor.rate + 1e-9) + 1)
    come = k / sensor.rate + sensor.latency
    rows = np.searchsorted(times, come - 1e-9 / sensor.rate)
    off = times[np.minimum(rows, len(times) - 1)] - come
    if (rows[come <= last] == len(times)).any() or (np.abs(off[come <= last]) > 1e-6 / sensor.rate).any():
        told = "has no rows at the times of some samples"
        raise ModelError(f"track: the result {told}; run it with every = {1 / sensor.rate:g} s or a part of it")
    return rows[come <= last + 1e-9 / sensor.rate]


def _on_earth(sensor: Gps, points: np.ndarray) -> np.ndarray:
    """Longitude, latitude [deg] and height [m] of points of the world."""
    origin, axes = axes_of(sensor)
    found = np.full((len(points), 3), np.nan)
    for k in np.flatnonzero(np.isfinite(points[:, 0])):
        latitude, longitude, height = geographic(origin + axes.T @ points[k])
        found[k] = math.degrees(longitude), math.degrees(latitude), height
    return found


# files --------------------------------------------------------------------------------------------


def geojson(track: Track) -> dict[str, Any]:
    """A FeatureCollection: the truth as a line, the fixes as lines between gaps, and each sample as a point."""
    lines = [_coordinates(track.places[part]) for part in _pieces(np.ones(len(track.times), bool))]
    fixes = [_coordinates(track.fix_places[part]) for part in _pieces(track.valid)]
    features = [
        _feature({"type": "MultiLineString", "coordinates": lines}, {"name": "truth"}),
        _feature({"type": "MultiLineString", "coordinates": fixes}, {"name": track.name}),
    ]
    for k in range(len(track.times)):
        where: dict[str, Any] = {"type": "Point", "coordinates": _coordinates(track.fix_places[k : k + 1])[0]}
        features.append(_feature(where if track.valid[k] else None, _told(track, k)))
    return {"type": "FeatureCollection", "features": features}


def _told(track: Track, k: int) -> dict[str, Any]:
    """What is told of a sample."""
    told = {"time": float(track.times[k]), "utc": f"{track.clock[k]}Z", "fix": bool(track.valid[k]),
            "satellites": None if np.isnan(track.satellites[k]) else int(track.satellites[k])}  # fmt: skip
    if track.valid[k]:
        told |= {"hdop": round(float(track.hdop[k]), 3), "error": round(float(track.errors[k]), 3)}
    return told


def _feature(geometry: dict[str, Any] | None, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _coordinates(places: np.ndarray) -> list[list[float]]:
    return [[round(x, DIGITS), round(y, DIGITS), round(z, 3)] for x, y, z in places.tolist()]


def _pieces(valid: np.ndarray) -> list[slice]:
    """Runs of two or more samples that have a fix: a line has two ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], valid.astype(int), [0]])))
    return [slice(a, b) for a, b in edges.reshape(-1, 2).tolist() if b - a > 1]


def kml(track: Track) -> str:
    """A KML document with a line of the truth, lines of the fixes, and a point with its time for each fix."""
    ElementTree.register_namespace("", KML)
    root = ElementTree.Element(_tag("kml"))
    document = _add(root, "Document")
    _add(document, "name", f"impulsar: {track.name}")
    for name, colour in (("truth", "ff2a2a2a"), (track.name, "ff1f2ed1")):  # aabbggrr
        look = _add(document, "Style", id=name.replace(" ", "_"))
        line = _add(look, "LineStyle")
        _add(line, "color", colour)
        _add(line, "width", "3")
    _lines(document, "truth", [track.places])
    _lines(document, track.name, [track.fix_places[part] for part in _pieces(track.valid)])
    folder = _add(document, "Folder")
    _add(folder, "name", "fixes")
    for k in np.flatnonzero(track.valid):
        mark = _add(folder, "Placemark")
        _add(mark, "name", f"{track.times[k]:g} s")
        _add(mark, "description", f"{track.satellites[k]:.0f} satellites, off by {track.errors[k]:.2f} m")
        _add(_add(mark, "TimeStamp"), "when", f"{track.clock[k]}Z")
        _add(_add(mark, "Point"), "coordinates", _text(track.fix_places[k : k + 1]))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _tag(name: str) -> str:
    return f"{{{KML}}}{name}"


def _add(parent: ElementTree.Element, name: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, _tag(name), attributes)
    child.text = text
    return child


def _lines(document: ElementTree.Element, name: str, pieces: Iterable[np.ndarray]) -> None:
    mark = _add(document, "Placemark")
    _add(mark, "name", name)
    _add(mark, "styleUrl", f"#{name.replace(' ', '_')}")
    several = _add(mark, "MultiGeometry")
    for places in pieces:
        _add(_add(several, "LineString"), "coordinates", _text(places))


def _text(places: np.ndarray) -> str:
    return " ".join(",".join(f"{x:.{DIGITS}f}".rstrip("0").rstrip(".") for x in place) for place in places.tolist())


def write(track: Track, path: str | Path) -> None:
    """Write a track as what the name of the file says: .geojson, .json, .kml, or a picture."""
    path = file_path("track", path)
    kind = path.suffix.lower()
    if kind in (".geojson", ".json"):
        write_file(path, json.dumps(geojson(track), indent=1).encode())
    elif kind == ".kml":
        write_file(path, kml(track).encode())
    else:
        plot(track, path)


# picture ------------------------------------------------------------------------------------------


def plot(track: Track, path: str | Path, model: Model | None = None) -> None:
    """Draw path, number of satellites and both horizontal coordinates over time, each beside the truth; with a model
    the boxes of its ground as they stand."""
    figure = new_figure(9.0, 9.0)
    grid = figure.add_gridspec(4, 1, height_ratios=(1.7, 1, 1, 1))
    above = figure.add_subplot(grid[0])
    if model is not None:
        _draw_houses(above, model)
    valid, truth, fix = track.valid, track.truth, track.fix
    above.plot(truth[:, 0], truth[:, 1], color=INK, linewidth=1.2, label="truth")
    above.plot(fix[:, 0], fix[:, 1], ".-", color=COLOURS[1], linewidth=0.8, markersize=4, label=track.name)
    above.plot(*truth[~valid, :2].T, "x", color=COLOURS[4], markersize=5, label="no fix")
    above.set_aspect("equal", adjustable="datalim")
    above.set_xlabel("x [m]")
    style(above, "y [m]", "path")
    above.legend(fontsize=8, loc="upper left")
    axes = [figure.add_subplot(grid[k]) for k in (1, 2, 3)]
    axes[0].step(track.times, track.satellites, where="post", color=COLOURS[0])
    axes[0].axhline(3.5, color=COLOURS[4], linewidth=0.8, linestyle="--")
    axes[0].set_ylim(0, max(10.0, float(np.nanmax(track.satellites)) + 1.0))
    style(axes[0], "satellites", "satellites heard; below the line there is no fix")
    for ax, k in zip(axes[1:], range(2), strict=True):
        ax.plot(track.times, truth[:, k], color=INK, linewidth=1.2, label="truth")
        ax.plot(track.times, fix[:, k], ".-", color=COLOURS[1], linewidth=0.8, markersize=4, label=track.name)
        style(ax, f"{'xy'[k]} [m]")
    axes[-1].set_xlabel("time [s]")
    save_figure(figure, path)


def _draw_houses(ax: Any, model: Model) -> None:
    from .author.shapes import Box

    for part in model.obstacles.values():
        if isinstance(part.shape, Box):
            half = np.asarray(part.shape.size, float) / 2
            corners = (
                np.array([[a, b, 0.0] for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]) * half + part.shape.offset
            )
            flat = (part.position + rotate_all(part.orientation, corners))[:, :2]
            ax.fill(*flat.T, facecolor="#d9d5cb", edgecolor="#a39d8f", linewidth=0.8)
            if part.position[2] > half[2] * 1.01:
                continue  # over the way
            ax.annotate(
                f"{2 * half[2]:.3g} m", flat.mean(axis=0), ha="center", va="center", fontsize=6, color="#6b7785"
            )
