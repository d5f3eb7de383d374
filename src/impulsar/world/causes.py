"""What a trajectory is differentiated with respect to: parameters of parts and of the model, the start, motors and
loads with the numbers of their profiles, hands, gains of controllers.

A cause is how elements of the system's arrays, points of probes and rows of the start change with it. Of a parameter
of a part that is one element, by 1. A parameter of the model changes what follows it in expressions, the start among
them: there the arrays of models that are built at seven values are differentiated, by differences of order 6.
"""

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..author.checks import show
from ..author.errors import ModelError
from ..author.names import closest
from ..edits.parameters import find
from ..edits.refusal import EditError
from ..engine.compile.step import PARAMETER
from ..engine.system import SystemArrays
from ..engine.system.channels import HARMONIC, RAMP, SMOOTH, TABLE
from ..engine.system.slots import BILATERAL, FRICTION, MOTORS
from .steering import GAIN, VARIABLE, gains_of

if TYPE_CHECKING:
    from .world import World

PROBE = "probe"  # inputs (PROBE, name, axis) of outcomes
STEP = 4e-3  # between the values at which models are built, of the value; of none, so much
SIXTH = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0))  # weights of f(x + k d) - f(x - k d), over d
NOISE = 1e-11  # of an array's largest element per step: a change below is rounding
AS_THEY_ARE = ("basis", "rank")  # which rows hold the mechanism: another choice is another system
SCALES = ("slack", "weak", "size", "home", "slot_weight", "dof_weight", "h", "nominal_h", "options", "tableau")
GEOMETRY = ("p_PF", "q_PF", "p_CM", "q_CM", "R_PF", "R_CM", "q_zero", "pitch", "length")
AXES = ("x", "y", "z")
OF_PASSAGE = ("start", "end", "t0", "t1")
NUMBERS = {RAMP: OF_PASSAGE, SMOOTH: OF_PASSAGE, HARMONIC: ("mean", "amplitude", "omega", "phase")}  # of profiles


@dataclass
class Cause:
    """Derivatives of elements and of rows of the start.

    Elements are (PARAMETER, array, part, component), (PROBE, name, axis), (VARIABLE, parameter of the model) and
    (GAIN, controller, constant).
    """

    path: str
    elements: dict[tuple, float] = field(default_factory=dict)
    start: dict[int, float] = field(default_factory=dict)


def find_cause(world: "World", path: object) -> Cause:
    """What a path leads to; raises ModelError where nothing can be differentiated by it."""
    if not isinstance(path, str) or not path:
        raise ModelError(f"sensitivity: to has {show(path)}, expected text such as 'arm.mass' or 'hinge.velocity'")
    if path in world.model.parameters:
        return _of_model(world, path)
    stem, _, what = path.rpartition(".")
    if what in ("position", "velocity") and stem in world.readout.coordinates:
        return _of_start(world, path, stem, what)
    if what == "motor" and stem in world.model.joints:
        return Cause(path, _shift(world, _motor(world, path, stem)))
    if path.partition(".")[0] in world.system.hand_names:
        return _of_hand(world, path)
    if (found := _of_profile(world, path, stem, what)) is not None:
        return found
    if stem in world.runner.beats.controllers:
        return _of_gain(world, path, stem, what)
    return _of_part(world, path)


def _of_gain(world: "World", path: str, controller: str, name: str) -> Cause:
    """A constant that a controller's function reads."""
    known = gains_of(world.runner.beats.controllers[controller])
    if name not in known:
        raise ModelError(
            f"sensitivity: '{path}': controller '{controller}' reads no such constant; {closest(name, list(known))}"
        )
    return Cause(path, {(GAIN, controller, name): 1.0})


def _of_part(world: "World", path: str) -> Cause:
    system, axes = world.system, ""
    target = _found(world, path)
    if target is None:
        stem, _, axes = path.rpartition(".")
        target = _found(world, stem) if "." in stem else None
    if target is None:
        known = [*world.model.parameters, *(f"{name}.mass" for name in world.model.bodies)]
        raise ModelError(
            f"sensitivity: '{path}' is no number that a step reads; expected a parameter of a part, of the model, "
            f"'joint.motor', or 'joint.position' and 'joint.velocity' of the start; {closest(path, known)}"
        )
    if target.parameter.inputs is not None:
        if axes not in AXES:
            raise ModelError(f"sensitivity: '{path}' has three components; say which: '{path}.x'")
        return Cause(path, _shift(world, target.rows[AXES.index(axes)]))
    array, width = target.parameter.array, system.width(target.parameter.array)
    places = _components(path, axes, width)
    return Cause(path, {(PARAMETER, array, row, k): 1.0 for row in target.rows for k in places})


def _found(world: "World", path: str) -> Any:
    try:
        return find(world.system, path)
    except EditError:
        return None


def _components(path: str, axes: str, width: tuple[int, ...]) -> list[int]:
    """Which components of an element: the only one, that of an axis, or of a tensor both that are the same."""
    if width == () and not axes:
        return [0]
    if width == (3,) and axes in AXES:
        return [AXES.index(axes)]
    if width == (3, 3) and len(axes) == 2 and set(axes) <= set(AXES):
        i, j = (AXES.index(axis) for axis in axes)
        return sorted({3 * i + j, 3 * j + i})
    told = {(): "no components", (3,): "components x, y, z"}.get(width, "components xx, yy, zz, xy, xz, yz")
    raise ModelError(f"sensitivity: '{path}': what it leads to has {told}")


def _motor(world: "World", path: str, joint: str) -> int:
    """The channel of a joint's motor."""
    system = world.system
    channels = [system.slots[r].channel for r in system.slots_of.get(joint, []) if system.slots[r].kind in MOTORS]
    if len(channels) != 1:
        raise ModelError(f"sensitivity: '{path}': joint '{joint}' has {len(channels)} motors, expected one")
    return channels[0]


def _of_profile(world: "World", path: str, owner: str, what: str) -> Cause | None:
    """A number of the profile that a motor or a component of a load follows: 'crank.motor.omega', 'push.force.x.t0'."""
    stem, _, last = owner.rpartition(".")
    if last == "motor" and stem in world.model.joints:
        channel = _motor(world, path, stem)
    elif last in AXES and "." in stem and (target := _found(world, stem)) and target.parameter.inputs is not None:
        channel = target.rows[AXES.index(last)]
    else:
        return None
    kind = int(world.system.arrays.channel_kind.numpy()[channel])
    known = NUMBERS.get(kind, ())
    if what not in known:
        told = f"has the numbers {', '.join(known)}" if known else f"has none that has a name; take '{owner}'"
        raise ModelError(f"sensitivity: '{path}': what '{owner}' follows {told}")
    return Cause(path, {(PARAMETER, f"channel_{'abcd'[known.index(what)]}", channel, 0): 1.0})


def _of_hand(world: "World", path: str) -> Cause:
    """The springs of a hand, and its target, to which it moves evenly in the first step."""
    system, (name, _, what) = world.system, path.partition(".")
    hand = system.hand_names.index(name)
    part, _, axis = what.partition(".")
    if part == "target" and axis in AXES:
        return Cause(path, _shift(world, int(system.arrays.hand_channel.numpy()[hand]) + AXES.index(axis)))
    springs = {"stiffness": "slot_a", "damping": "slot_b"}
    slots = system.turn_slots(hand) if what.startswith("angular_") else system.hand_slots(hand)
    array = springs.get(what.removeprefix("angular_"))
    if array is None or slots.stop <= slots.start:
        raise ModelError(
            f"sensitivity: '{path}': expected '{name}.stiffness', '{name}.damping', '{name}.target.x', or "
            f"'{name}.angular_stiffness' and '{name}.angular_damping' of a hand that turns"
        )
    return Cause(path, {(PARAMETER, array, row, 0): 1.0 for row in range(slots.start, slots.stop)})


def _shift(world: "World", channel: int) -> dict[tuple, float]:
    """Elements by which an input is so much more at all times."""
    arrays = world.system.arrays
    kind = int(arrays.channel_kind.numpy()[channel])
    if kind == TABLE:
        samples = range(int(arrays.table_start.numpy()[channel]), int(arrays.table_end.numpy()[channel]))
        return {(PARAMETER, "table_value", k, 0): 1.0 for k in samples}
    both = kind in (RAMP, SMOOTH)
    assert both or kind == HARMONIC or kind == 0
    return {(PARAMETER, name, channel, 0): 1.0 for name in (("channel_a", "channel_b") if both else ("channel_a",))}


def _of_start(world: "World", path: str, name: str, what: str) -> Cause:
    """A coordinate or rate of a joint at the start, the others as they are."""
    system = world.system
    if any(slot.kind in BILATERAL and slot.kind != FRICTION for slot in system.slots):
        raise ModelError(
            f"sensitivity: '{path}': joints close loops, so that one coordinate of the start is not free; have the "
            "start follow a parameter of the model, and take the sensitivity to that"
        )
    owner, code = freedom_of(world, name)
    joint = world.model.joints[owner]
    where, dof = system.coordinate[joint.name, code], system.dof.get((joint.name, code), -1)
    if dof < 0 or (what == "position" and any(group.is_ball for group in joint.kind.groups)):
        raise ModelError(f"sensitivity: '{path}': a {joint.type} joint's {what} is no single number of the state")
    rows = world.state.rows
    return Cause(path, start={rows["q"].start + where if what == "position" else rows["v"].start + dof: 1.0})


# parameters of the model --------------------------------------------------------------------------


def _of_model(world: "World", name: str) -> Cause:
    variable = world.model.parameters[name]
    if variable.expression is not None:
        raise ModelError(f"sensitivity: parameter '{name}' follows '{variable.expression}'; take one that it follows")
    model = world.model.copy()
    model.parameters[name] = replace(variable, minimum=None, maximum=None)
    distance = STEP * abs(variable.value) or STEP

    def numbers(value: float) -> dict[str, np.ndarray]:
        return _numbers(world, model.with_parameters(**{name: value}))

    here = numbers(variable.value)
    slopes = {key: np.zeros_like(values) for key, values in here.items()}
    for k, weight in SIXTH:
        above, below = numbers(variable.value + k * distance), numbers(variable.value - k * distance)
        for key in here:
            if above[key].shape != here[key].shape or below[key].shape != here[key].shape:
                raise ModelError(f"sensitivity: parameter '{name}': another value makes another system ('{key}')")
            slopes[key] += weight * (above[key] - below[key])
    for key, slope in slopes.items():
        floor = NOISE * max(float(np.abs(here[key]).max(initial=0.0)), 1e-3)
        slope[np.abs(slope) <= floor] = 0.0
        slope /= distance
    moves = any(slopes[key].any() for key in GEOMETRY)
    return Cause(name, _elements(name, slopes), _start(world, name, here["start"], slopes["start"], moves))


def _numbers(world: "World", model: Any) -> dict[str, np.ndarray]:
    """All numbers of a world that is built of a model: its arrays, points of probes, its start."""
    from .world import World

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        built = World(model, method=world.method, coordinates=world.coordinates, dt=world.dt)
    found: dict[str, np.ndarray] = {"start": built.state.numpy()[:, 0].copy()}
    for name in SystemArrays.vars:  # type: ignore[attr-defined]
        array = getattr(built.system.arrays, name)
        if isinstance(array, wp.array) and name not in SCALES and name != "listing":
            found[name] = array.numpy().astype(float)
    for name, parameter in model.parameters.items():
        found[f"variable {name}"] = np.array(parameter.value, float)
    for name, probe in model.probes.items():
        found[f"probe {name}"] = np.array(probe.p_BQ, float)
    return found


def _elements(name: str, slopes: dict[str, np.ndarray]) -> dict[tuple, float]:
    found: dict[tuple, float] = {}
    for key, slope in slopes.items():
        if key == "start" or not slope.any():
            continue
        if key.startswith("variable "):
            found[VARIABLE, key[9:]] = float(slope)
            continue
        if key.startswith("probe "):
            found |= {(PROBE, key[6:], k): float(value) for k, value in enumerate(slope) if value}
            continue
        dtype = SystemArrays.vars[key].type.dtype  # type: ignore[attr-defined]
        if dtype is wp.int32 or key in AS_THEY_ARE:
            raise ModelError(f"sensitivity: parameter '{name}': another value makes another system ('{key}')")
        ndim = SystemArrays.vars[key].type.ndim  # type: ignore[attr-defined]
        by_world = ndim == 2 and slope.shape[1] == 1  # of one world: [part, world, ...]
        for at in zip(*np.nonzero(slope), strict=True):
            index, rest = (at[:1], at[2:]) if by_world else (at[:ndim], at[ndim:])
            part = int(index[0]) if len(index) == 1 else tuple(int(k) for k in index)
            shape = slope.shape[2:] if by_world else slope.shape[ndim:]
            component = int(np.ravel_multi_index(rest, shape)) if rest else 0
            found[PARAMETER, key, part, component] = float(slope[at])
    return found


def _start(world: "World", name: str, built: np.ndarray, slope: np.ndarray, moves: bool) -> dict[int, float]:
    """Rows of the start that change, if the world is there; moves: joints are elsewhere."""
    rows = world.state.rows
    moving = np.zeros(len(slope), bool)
    for block in ("q", "v", "loop_q", "inner"):
        moving[rows[block]] = True
    changes = {int(row): float(slope[row]) for row in np.flatnonzero((slope != 0.0) & moving)}
    now = world.state.numpy()
    if (changes or moves) and not np.allclose(now[moving], built[moving, None], rtol=1e-9, atol=1e-9):
        raise ModelError(
            f"sensitivity: parameter '{name}' moves joints or the start, and the world has left it; take the "
            "sensitivity before the first step"
        )
    return changes


def freedom_of(world: "World", name: str) -> tuple[str, int]:
    """Joint and code of a coordinate, by the name that results have of it."""
    joints = world.model.joints.values()
    keys = [(joint.name, code) for joint in joints for group in joint.kind.groups for code in group.freedoms]
    return keys[world.readout.coordinates.index(name)]
