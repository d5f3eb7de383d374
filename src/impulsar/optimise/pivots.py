"""Places of a planar linkage's pins as parameters: what a fit moves in a model that was authored by numbers.

Hinges across the plane that are at one place are one pin, the point that draws is another. Each has two coordinates in
the plane. Links that reach from pin to pin follow both: length, middle and direction are expressions of the same
parameters, so that what is fitted stays a linkage of rods.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..author.errors import ModelError
from ..author.expressions import is_name
from ..author.model import Model
from ..author.parts import Body
from ..author.rotations import rotate
from ..author.shapes import Capsule, Cylinder
from ..author.variables import find_field, read_field
from ..edits.data import SetParameters

SAME = 1e-9  # of the size: at one place; of 1: along one axis
TURNS = 12  # ways round in which a linkage is laid onto a curve
SCATTER = 0.25  # of the curve's size: how far pins are moved for other designs


@dataclass(frozen=True)
class Pin:
    """A place of the plane that moves."""

    at: np.ndarray  # in the plane [2]
    words: tuple[str, str]  # its parameters
    parts: tuple[str, ...]  # what is there: hinges, or the point that draws


@dataclass(frozen=True)
class Pivots:
    """A model whose pins follow parameters, for a fit, and what makes the model that it comes from such a one."""

    model: Model
    names: tuple[str, ...]  # of the parameters that a fit changes
    axes: str  # of the plane, "xy"
    pins: tuple[Pin, ...] = ()  # none: the model has parameters of its own
    links: Mapping[str, str] = field(default_factory=dict)  # expressions of the links between pins, by path
    turns: Mapping[str, str] = field(default_factory=dict)  # parameters that these follow besides, with their texts

    def edit(self, values: Mapping[str, float]) -> SetParameters:
        """What gives the model that it comes from these values, and puts it where it is closed on the fitted branch."""
        pinned = {path: text for pin in self.pins for path, text in _places(pin, self.axes).items()}
        return SetParameters({**values, **self.turns}, {**self.links, **pinned}, at_start=True)

    def designs(self, curve: np.ndarray, points: np.ndarray, count: int, seed: int = 0) -> np.ndarray | None:
        """Designs to begin with [design, parameter]: the linkage itself laid onto points of the plane, turned and
        mirrored, by the size and middle of its own curve [point, 2]; and around these others, from numbers of a seed.
        """
        if not self.pins:
            return None
        middle, goal = curve.mean(axis=0), points.mean(axis=0)
        size, own = (float(np.sqrt(((a - a.mean(axis=0)) ** 2).sum(axis=1).mean())) for a in (points, curve))
        places = (np.array([pin.at for pin in self.pins]) - middle) * (size / own if own > 0.0 else 1.0)
        laid = []
        for side in (1.0, -1.0):
            for angle in np.linspace(0.0, 2.0 * np.pi, TURNS, endpoint=False):
                c, s = np.cos(angle), np.sin(angle)
                laid.append(goal + places * (1.0, side) @ np.array([[c, s], [-s, c]]))
        rng = np.random.default_rng(seed)
        more = np.array(laid)[rng.integers(len(laid), size=max(0, count - len(laid)))]
        more = more + SCATTER * size * rng.standard_normal(more.shape)
        return np.vstack([laid, more]).reshape(-1, len(self.names))


def pivots(model: Model, drive: str, probe: str, ground: bool = True, around: np.ndarray | None = None) -> Pivots:
    """A planar linkage with its pins as parameters, and the place of a probe on its body.

    drive: the hinge that moves it, which says the plane; ground: pins on the ground move too. around: points of the
    plane [point, 2]: pins stay within their box and that of the linkage, made larger by its size on every side. A model
    whose pins follow parameters already is taken as it is.
    """
    axes = _plane(model, drive)
    if probe not in model.probes:
        raise ModelError(f"curve: no probe '{probe}'; there are: {', '.join(model.probes) or 'none'}")
    placed = {find_field(model, path).kind for path in model.expressions}
    known = tuple(name for name, own in model.parameters.items() if own.expression is None)
    if known and placed & {"joint", "body"}:
        return Pivots(model, known, axes)
    pins = _pins(model, axes, probe, ground)
    new = model.copy()
    places = np.vstack([[pin.at for pin in pins], np.zeros((0, 2)) if around is None else around])
    low, high = places.min(axis=0), places.max(axis=0)
    far = np.inf if around is None else float(np.linalg.norm(high - low))
    for pin in pins:
        for k, word in enumerate(pin.words):
            least, most = (None, None) if around is None else (float(low[k] - far), float(high[k] + far))
            new.parameter(word, float(pin.at[k]), least, most, "m")
        for path, text in _places(pin, axes).items():
            new.expression(path, text)
    links, turns = _links(model, axes, pins)
    return Pivots(new, tuple(word for pin in pins for word in pin.words), axes, pins, links, turns)


def _plane(model: Model, drive: str) -> str:
    """Axes of the plane across a hinge."""
    if drive not in model.joints or model.joints[drive].type != "revolute":
        raise ModelError(f"curve: drive is '{drive}', expected a hinge of the linkage")
    axis = np.abs(_vector(model, drive, "axis"))
    if axis.max() < 1.0 - SAME:
        raise ModelError(f"curve: the hinge '{drive}' lies along no axis of the world; turn the linkage into one")
    return "xyz".replace("xyz"[int(axis.argmax())], "")


def _vector(model: Model, name: str, what: str) -> np.ndarray:
    return np.asarray(read_field(model, replace(find_field(model, f"{name}.{what}.x"), axis=None)), float)


def _flat(point: np.ndarray, axes: str) -> np.ndarray:
    return point[["xyz".index(axis) for axis in axes]]


def _pins(model: Model, axes: str, probe: str, ground: bool) -> tuple[Pin, ...]:
    """Hinges across the plane, by place, and the probe."""
    across = "xyz".index(next(iter(set("xyz") - set(axes))))
    found: list[tuple[np.ndarray, list[str]]] = []
    for name, joint in model.joints.items():
        if joint.type != "revolute" or abs(_vector(model, name, "axis")[across]) < 1.0 - SAME:
            continue
        at = _flat(_vector(model, name, "at"), axes)
        near = next(
            (parts for place, parts in found if np.abs(place - at).max() <= SAME * (1.0 + np.abs(at).max())), None
        )
        found.append((at, [name])) if near is None else near.append(name)
    if not ground:
        found = [
            one for one in found if all("ground" not in (model.joints[n].first, model.joints[n].second) for n in one[1])
        ]
    found.append((_flat(_vector(model, probe, "at"), axes), [probe]))
    words = {*model.parameters}
    pins = []
    for at, parts in found:
        own = tuple(_word(f"{parts[0]}_{axis}", words) for axis in axes)
        pins.append(Pin(at, (own[0], own[1]), tuple(parts)))
    return tuple(pins)


def _word(text: str, taken: set[str]) -> str:
    """A name that can stand in expressions, and that nothing has."""
    word = re.sub(r"\W", "_", text, flags=re.ASCII)
    word = word if is_name(word) else f"p_{word}"
    while word in taken:
        word += "_"
    taken.add(word)
    return word


def _places(pin: Pin, axes: str) -> dict[str, str]:
    """Expressions that put the parts of a pin there."""
    return {f"{part}.at.{axis}": word for part in pin.parts for axis, word in zip(axes, pin.words, strict=True)}


def _links(model: Model, axes: str, pins: Sequence[Pin]) -> tuple[dict[str, str], dict[str, str]]:
    """Expressions of links that reach from pin to pin, and parameters that they follow besides: their turns."""
    texts: dict[str, str] = {}
    turns: dict[str, str] = {}
    words = {*model.parameters, *(word for pin in pins for word in pin.words)}
    for name, body in model.bodies.items():
        ends = _ends(model, body, axes, pins)
        if ends is None:
            continue
        (a, c), (b, d) = ends[0].words, ends[1].words
        way = ends[1].at - ends[0].at
        turn = _word(f"{name}_turn", words)
        turns[turn] = f"atan2({d} - {c}, {b} - {a}) - {float(np.arctan2(way[1], way[0]))!r}"
        texts[f"{name}.length"] = f"hypot({b} - {a}, {d} - {c})"
        for axis, one, other in ((axes[0], a, b), (axes[1], c, d)):
            texts[f"{name}.position.{axis}"] = f"({one} + {other})/2"
        texts |= _turned(name, body, axes, turn)
    return texts, turns


def _ends(model: Model, body: Body, axes: str, pins: Sequence[Pin]) -> tuple[Pin, Pin] | None:
    """The pins at both ends of a rod about whose middle the body is; None where it is none."""
    if len(body.shapes) != 1 or not isinstance(body.shapes[0], Capsule | Cylinder):
        return None
    shape = body.shapes[0]
    if np.abs(shape.offset).max() > SAME * (1.0 + shape.length):
        return None
    half = (
        0.5
        * shape.length
        * rotate(body.orientation, rotate(np.asarray(shape.orientation, float), np.array([0, 0, 1.0])))
    )
    held = {n for n, joint in model.joints.items() if body.name in (joint.first, joint.second)}
    found = []
    for end in (body.position - half, body.position + half):
        at = _flat(end, axes)
        near = [p for p in pins if held & set(p.parts) and np.abs(p.at - at).max() <= 1e-6 * shape.length]
        found += near[:1]
    return (found[0], found[1]) if len(found) == 2 and found[0] is not found[1] else None


def _turned(name: str, body: Body, axes: str, turn: str) -> dict[str, str]:
    """The orientation of a body that is turned in the plane from how it is authored:
    q = (n sin h, cos h) q0 with h half of the turn, n = u × v."""
    n = np.cross(*(np.eye(3)["xyz".index(axis)] for axis in axes))
    q, w = body.orientation[:3], body.orientation[3]
    by_sine = [*(w * n + np.cross(n, q)), -float(n @ q)]
    texts = {}
    for axis, of_cosine, of_sine in zip("xyzw", body.orientation, by_sine, strict=True):
        texts[f"{name}.orientation.{axis}"] = f"{float(of_cosine)!r}*cos({turn}/2) + {float(of_sine)!r}*sin({turn}/2)"
    return texts
