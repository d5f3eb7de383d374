"""Models and edits as Python: a script that builds the same model, bit for bit, by the calls that a person writes.

Each part is written by the most readable call that gives its fields back exactly: a joint by `at` and `axis` where
rounding allows it, else by its frames on both bodies; a field that no call gives is set behind it. What is written is
carried out on a second model as it is written, so that nothing is claimed that was not seen.
"""

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from ..author.errors import FileError, ModelError
from ..author.model import Model
from ..author.parts import PARTS, Body, Features, Joint, Motor
from ..author.placing import NO_AXIS, TWO_AXES
from ..author.profiles import Formula, Harmonic, Ramp, Smooth, Table
from ..author.rotations import multiply, rotation_matrix
from ..author.sensors import Sensor
from ..author.shapes import Shape
from ..author.visuals import Visual
from ..edits import data as edits
from ..version import __version__
from .codec import OPTIONS, RECORDS, model_to_json

WIDE = 110  # of a call on one line
DIGITS = (4, 6, 9, 12, 15, 16, 17, None)  # after the point, of points and axes that are tried
FEATURES = {entry.name: entry.default for entry in fields(Features) if entry.name not in ("limits", "swing")}
Call = dict[str, Any]


def literal(value: Any) -> str:
    """A value as Python reads it back, exactly."""
    if isinstance(value, np.ndarray):
        return literal(value.tolist())
    if isinstance(value, str):
        return f'"{value}"' if value.isprintable() and not set(value) & {'"', "\\"} else repr(value)
    if isinstance(value, bool | np.bool_) or value is None:
        return repr(None if value is None else bool(value))
    if isinstance(value, int | np.integer):
        return repr(int(value))
    if isinstance(value, float | np.floating):
        text = repr(float(value))
        return f'float("{text}")' if text in ("inf", "-inf", "nan") else text
    if isinstance(value, list | tuple):
        items = ", ".join(map(literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Motor):
        usual = {"max_torque": float("inf"), "kp": None, "kv": None, "gear": 1.0}
        given = {what: getattr(value, what) for what in (value.what, *usual)}
        return call("im.Motor", given, usual)
    if isinstance(value, edits.Edit | edits.End):
        return construct(value, "edits.")
    if isinstance(value, Shape | Visual | Ramp | Smooth | Harmonic | Table | Formula):
        return construct(value, "im.")
    if isinstance(value, Sensor):
        return construct(value, "im.sensors.")
    if is_dataclass(value) and hasattr(value, "name"):  # a part stands for its name
        return literal(value.name)
    raise FileError(f"{value!r:.200} cannot be written as Python; give numbers, texts, shapes, motors or profiles")


def construct(thing: Any, module: str) -> str:
    """A dataclass by its constructor, without fields that are as by default."""
    defaults = {}
    for entry in fields(thing):
        if entry.default is not MISSING:
            defaults[entry.name] = entry.default
        elif entry.default_factory is not MISSING:
            defaults[entry.name] = entry.default_factory()
    given = {entry.name: getattr(thing, entry.name) for entry in fields(thing) if entry.init}
    return call(f"{module}{type(thing).__name__}", given, defaults)


def call(function: str, given: Call, defaults: Call | None = None, first: list[str] | None = None) -> str:
    """A call with keyword arguments, those left out that are as by default; `first` are positional, written."""
    shown = [f"{key}={literal(value)}" for key, value in given.items() if not _is_default(key, value, defaults or {})]
    return f"{function}({', '.join([*(first or []), *shown])})"


def _is_default(key: str, value: Any, defaults: Call) -> bool:
    return key in defaults and literal(value) == literal(defaults[key])


def model_to_python(model: Model) -> str:
    """The lines that build a model called `model`, exactly; raises FileError where it holds a callable."""
    model_to_json(model)  # refuses what is not data, with its place
    return "\n".join(_Script(model).lines)


def to_script(model: Model) -> str:
    """A program that builds a model and runs it."""
    title = model.name.replace("\\", "\\\\").replace('"', "'")
    body = model_to_python(model)
    return (
        f'"""{title}, written by impulsar {__version__}."""\n\n{imports(body)}\n{body}\n\n'
        'if __name__ == "__main__":\n'
        "    world = im.World(model)\n"
        "    world.run(model.duration or 1.0, every=10 * world.dt)\n"
        "    print(world.energy())\n"
    )


def imports(body: str) -> str:
    """What lines of a script need."""
    numpy = "import numpy as np\n\n" if "np.array(" in body else ""
    return f"{numpy}import impulsar as im\n{'from impulsar import edits' + chr(10) if 'edits.' in body else ''}"


class _Script:
    """Writes a model, and builds it again on the way."""

    def __init__(self, model: Model):
        self.model = model
        given = {"gravity": model.gravity}
        self.again = Model(model.name, gravity=model.gravity)
        self.lines = [call("model = im.Model", given, {"gravity": Model().gravity}, [literal(model.name)])]
        if model.ground.shapes:
            self._do(f"model.ground.shapes = [{', '.join(map(literal, model.ground.shapes))}]")
            self.again.ground.shapes = list(model.ground.shapes)
        # parameters and materials come before what is made of them, and in the order of the model within a kind
        first = ("parameters", "materials", "material_pairs")
        for kind in sorted(PARTS, key=lambda kind: PARTS[kind].plural not in first):
            for part in getattr(model, PARTS[kind].plural).values():
                self._add(kind, part)
        for path, text in model.expressions.items():
            self._do(f"model.expression({literal(path)}, {literal(text)})")
        for name in OPTIONS:
            if getattr(model, name) is not None:
                self._do(f"model.{name} = {literal(getattr(model, name))}")
        for time, edit in model.script:
            self._do(f"model.at({literal(time)}, {literal(edit)})")

    def _do(self, line: str) -> None:
        self.lines.append(line)

    def _add(self, kind: str, part: Any) -> None:
        """By the first call that gives the part, else by the last one and its fields one by one."""
        plural = PARTS[kind].plural
        record, mine = RECORDS[plural], getattr(self.again, plural)
        wanted = json.dumps(record.write(part, part.name))
        made, given = None, {}
        for given in calls_of(kind, part, self.model):
            mine.pop(part.name, None)
            try:
                made = getattr(self.again, kind)(**_named(kind, part, given))
            except (ModelError, ValueError, TypeError):
                made = None
                continue
            if json.dumps(record.write(made, part.name)) == wanted:
                break
        if made is None:
            raise FileError(f"{kind} '{part.name}': no call gives it; save it as a scene file")
        self._do(_fold(f"model.{kind}", _named(kind, part, given)))
        for entry in fields(part):
            have, want = getattr(made, entry.name), getattr(part, entry.name)
            if entry.name in ("features", "shapes", "visuals") or literal(have) == literal(want):
                continue
            setattr(made, entry.name, want)
            self._do(f"model.{plural}[{literal(part.name)}].{entry.name} = {_field(want)}")
        if json.dumps(record.write(made, part.name)) != wanted:
            raise FileError(f"{kind} '{part.name}': cannot be written as Python exactly; save it as a scene file")


def _field(value: Any) -> str:
    """A field as the part keeps it: arrays are arrays."""
    return f"np.array({literal(value)})" if isinstance(value, np.ndarray) else literal(value)


def _named(kind: str, part: Any, given: Call) -> Call:
    """With the name, which is not the first argument everywhere."""
    return {**given, "name": part.name} if kind in ("material_pair", "no_contact") else {"name": part.name, **given}


def _fold(function: str, given: Call) -> str:
    """A call on one line, or with an argument on each."""
    items = [f"{key}={literal(value)}" for key, value in given.items()]
    if next(iter(given)) == "name":
        items[0] = literal(given["name"])
    line = f"{function}({', '.join(items)})"
    if len(line) <= WIDE:
        return line
    return "\n".join([f"{function}(", *(f"    {item}," for item in items), ")"])


def calls_of(kind: str, part: Any, model: Model) -> Iterator[Call]:
    """Arguments that may give a part, the most readable first."""
    if kind == "body":
        yield _of_body(part)
    elif kind == "joint":
        yield from _of_joint(part, model)
    elif kind == "parameter":
        plain = {name: own for name in ("minimum", "maximum") if (own := getattr(part, name)) is not None}
        plain |= {"unit": part.unit} if part.unit else {}
        yield {"value": part.value if part.expression is None else part.expression, **plain}
        yield {"value": part.value, **plain}  # of one that is declared behind it: the text is set later
    elif kind == "obstacle":
        yield {
            "shape": part.shape,
            **_without({"position": part.position, "orientation": part.orientation}, (np.zeros(3), (0.0, 0, 0, 1))),
            **({"material": part.material} if part.material is not None else {}),
        }
    elif PARTS[kind].points:
        yield from _with_points(kind, part, model)
    else:
        yield {entry.name: getattr(part, entry.name) for entry in fields(part) if _is_given(entry, part)}


def _is_given(entry: Any, part: Any) -> bool:
    """Whether a field has to be said."""
    value = getattr(part, entry.name)
    if entry.name == "name" or value is None:
        return False
    return entry.default is MISSING or literal(value) != literal(entry.default)


def _without(given: Call, defaults: tuple) -> Call:
    return {
        key: value for (key, value), default in zip(given.items(), defaults, strict=True)
        if [float(x) for x in np.ravel(value)] != [float(x) for x in np.ravel(default)]
    }  # fmt: skip


def _of_body(body: Body) -> Call:
    inertia = body.inertia
    if not np.any(inertia - np.diag(np.diag(inertia))):
        inertia = np.diag(inertia)
    still, upright = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    placed = {name: getattr(body, name) for name in ("position", "orientation", "velocity", "angular_velocity")}
    given = {"mass": body.mass, "inertia": inertia, **_without(placed, (still, upright, still, still))}
    if body.shapes:
        given["shape"] = body.shapes[0] if len(body.shapes) == 1 else body.shapes
    for name in ("material", "colour"):
        if getattr(body, name, None) is not None:
            given[name] = getattr(body, name)
    if body.visuals:
        given["visual"] = body.visuals
    if body.has_link:
        given["link"] = (body.p_BL, body.q_BL)
    return given


def _of_joint(joint: Joint, model: Model) -> Iterator[Call]:
    """By point and axes, as a person places it; then by the frames as they are."""
    P, C = (model.ground if name == "ground" else model.bodies[name] for name in (joint.first, joint.second))
    ends = {"type": joint.type, "first": joint.first, "second": joint.second}
    rest = _features(joint)
    R_WF = rotation_matrix(multiply(P.orientation, joint.q_PF))
    p_F, p_M = P.world_point(joint.p_PF), C.world_point(joint.p_CM)
    for digits, at in ((digits, at) for digits in DIGITS for at in (p_F, p_M)):
        given: Call = {**ends, "at": _round(p_F if joint.type == "distance" else at, digits)}
        if joint.type == "distance":
            yield {**given, "at_b": _round(p_M, digits), **rest}
        elif joint.type in NO_AXIS:
            yield {**given, **rest}
        elif joint.type in TWO_AXES:
            yield {**given, "axis": _round(R_WF[:, 2], digits), "axis2": _round(R_WF[:, 0], digits), **rest}
        else:
            yield {**given, "axis": _round(R_WF[:, 2], digits), **rest}
    frames = {"frame_a": (joint.p_PF, joint.q_PF), "frame_b": (joint.p_CM, joint.q_CM)}
    yield {**ends, **frames, **rest}


def _round(vector: np.ndarray, digits: int | None) -> np.ndarray:
    return vector if digits is None else np.round(vector, digits) + 0.0  # no negative zeros


def _features(joint: Joint) -> Call:
    """Features, plain where the type has one group, else by group; and what is left of a joint's own."""
    given: Call = {}
    for name, default in FEATURES.items():
        values = {group: getattr(own, name) for group, own in joint.features.items() if getattr(own, name) != default}
        if values:
            key = "limit_restitution" if name == "restitution" else name
            given[key] = values if len(joint.features) > 1 else next(iter(values.values()))
    limits: Call = {}
    for group, own in joint.features.items():
        if joint.kind.group(group).is_ball:
            ball = {key: value for key, value in (("swing", own.swing), ("twist", own.limits)) if value is not None}
            if ball:
                limits[group] = ball
        elif own.limits is not None:
            limits[group] = own.limits
    if limits:
        given["limits"] = limits if len(joint.features) > 1 else next(iter(limits.values()))
    for name in ("pitch", "loop", "closed"):
        if getattr(joint, name) is not None:
            given[name] = getattr(joint, name)
    return {**given, "contact": True} if joint.contact else given


def _with_points(kind: str, part: Any, model: Model) -> Iterator[Call]:
    """Springs, loads and probes: points in the world, rounded while that gives them back."""
    points = {point.field: point for point in PARTS[kind].points}
    plain = {e.name: getattr(part, e.name) for e in fields(part) if e.name not in points and _is_given(e, part)}
    refers = {name: plain.pop(name) for name in PARTS[kind].refers}
    for digits in DIGITS:
        at = {}
        for field, point in points.items():
            name = getattr(part, point.body)
            body = model.ground if name == "ground" else model.bodies[name]
            at[point.option] = _round(body.world_point(getattr(part, field)), digits)
        yield {**refers, **at, **plain}
