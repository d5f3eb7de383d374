"""Ports of controllers: what they read and write by name, of all worlds at once.

Read is any signal ("joint.hinge.position", "body.arm.velocity.x"), a whole vector ("body.arm.velocity"), the same
without its kind ("hinge.position"), or a sensor ("imu", all its channels). Written are motors ("hinge.torque",
"hinge.speed", "hinge.position", with a group where a joint has several: "screw.angle.torque"), loads ("push.force",
"push.torque.z") and parameters ("arm.mass", "target"). Motors and loads are written into their channels, parameters by
the edit `SetParameter`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..author.errors import ModelError
from ..edits import EditError, SetParameter, known
from ..edits.loads import acting, inputs
from ..edits.parameters import find as find_parameter
from ..edits.parameters import group_of
from ..engine.system.slots import MOTORS
from ..observe.bench import Bench
from ..observe.moment import Moment
from ..observe.quantities import KINDS, QUANTITIES, Quantity
from .signals import find

if TYPE_CHECKING:
    from .runner import Runner

AXES = ("x", "y", "z")
DRIVES = ("torque", "speed", "position")


@dataclass(frozen=True)
class Input:
    """Some numbers of a quantity of one part."""

    quantity: Quantity
    rows: tuple[int, ...]
    component: int | None = None  # None: all that there are
    is_norm: bool = False

    @property
    def size(self) -> int:
        """How many numbers."""
        alone = self.component is not None or self.is_norm or not self.quantity.components
        return len(self.rows) if alone else len(self.rows) * len(self.quantity.components)

    def read(self, now: Moment) -> np.ndarray:
        """[world, number]."""
        values = self.quantity.read(now)[list(self.rows)]  # [row, world], components
        if self.component is not None:
            values = values[..., self.component]
        elif self.is_norm:
            values = np.linalg.norm(values, axis=-1)
        values = np.moveaxis(values, 1, 0)
        return values.reshape(len(values), -1)


def input_of(bench: Bench, owner: str, name: object) -> Input:
    """What a name that is read leads to."""
    if not isinstance(name, str) or not name:
        raise EditError(f"{owner}: reads {name!r}, expected a name such as 'hinge.position'")
    path = _with_kind(bench, name)
    whole = _whole(bench, path)
    if whole is not None:
        return whole
    try:
        place = find(bench, path)
    except ModelError as error:
        raise EditError(f"{owner}: reads '{name}': {error}") from error
    rows = KINDS[place.quantity.kind].rows(bench)
    if place.part not in rows:
        raise EditError(f"{owner}: reads '{name}', which is not there now; attach it while '{place.part}' is there")
    is_norm = place.component is None and bool(place.quantity.components)
    return Input(place.quantity, (rows[place.part],), place.component, is_norm)


def _with_kind(bench: Bench, name: str) -> str:
    """A name with the kind of its part before it."""
    if name.partition(".")[0] in KINDS:
        return name
    model = bench.system.model
    for part in _beginnings(name):
        kind = model.kind_of(part) or ("load" if part in bench.system.load_names else None)
        if kind is not None:
            return f"{kind}.{name}"
    return name


def _beginnings(name: str) -> list[str]:
    """Of "a.b.c" what may be a part: "a.b.c", "a.b", "a"."""
    words = name.split(".")
    return [".".join(words[:k]) for k in range(len(words), 0, -1)]


def _whole(bench: Bench, path: str) -> Input | None:
    """All components of a quantity, or all channels of a sensor."""
    kind, _, rest = path.partition(".")
    if kind not in KINDS:
        return None
    rows = KINDS[kind].rows(bench)
    if kind == "sensor" and rest in bench.system.model.sensors:
        sensors = bench.sensors
        first = list(sensors.devices).index(rest)
        before = sum(len(device.channels) for device in list(sensors.devices.values())[:first])
        return Input(QUANTITIES["sensor.value"], tuple(range(before, before + len(sensors.devices[rest].channels))))
    for quantity in (q for q in QUANTITIES.values() if q.kind == kind and q.components):
        part = rest.removesuffix(f".{quantity.tail}") if quantity.tail else rest
        if part in rows and (part != rest or not quantity.tail):
            return Input(quantity, (rows[part],))
    return None


class Output:
    """Numbers that a controller writes."""

    size: int

    def write(self, values: np.ndarray) -> None:
        """Write [world, number]."""
        raise NotImplementedError

    def present(self) -> np.ndarray:
        """What is there now [world, number]."""
        raise NotImplementedError


class ChannelOutput(Output):
    """Channels of a motor or a load."""

    def __init__(self, runner: "Runner", rows: tuple[int, ...]):
        self._system, self.rows, self.size = runner.system, rows, len(rows)
        self._device = runner.device != "cpu"

    def take(self) -> bool:
        """Make the channels numbers, as they are now or zero; True: the kernels' arrays were replaced."""
        channels = self._system.channels
        numbers: list[Any] = [item if isinstance(item, int | float | np.ndarray) else 0.0 for item in self._items()]
        return channels.put(self._system.arrays, self.rows, numbers)

    def _items(self) -> list[Any]:
        return [self._system.channels.items[c] for c in self.rows]

    def write(self, values: np.ndarray) -> None:
        array, items = self._system.arrays.channel_a, cast(list[Any], self._system.channels.items)
        data, alone = array.numpy(), len(values) == 1
        for k, c in enumerate(self.rows):
            data[c] = values[:, k]
            items[c] = float(values[0, k]) if alone else values[:, k].copy()
        if self._device:
            array.assign(data)

    def take_note(self) -> None:
        """Have what a launch has written as that which the channels follow."""
        data, items = self._system.arrays.channel_a.numpy(), cast(list[Any], self._system.channels.items)
        for c in self.rows:
            items[c] = float(data[c, 0]) if data.shape[1] == 1 else data[c].copy()

    def present(self) -> np.ndarray:
        worlds = self._system.counts.worlds
        values = [item if isinstance(item, int | float | np.ndarray) else 0.0 for item in self._items()]
        return np.stack([np.broadcast_to(np.asarray(item, float).ravel(), worlds) for item in values], axis=1)


class ParameterOutput(Output):
    """A parameter of a part or of the model."""

    size = 1

    def __init__(self, runner: "Runner", path: str):
        self._runner, self.path = runner, path

    def write(self, values: np.ndarray) -> None:
        value: Any = float(values[0, 0]) if len(values) == 1 else values[:, 0].copy()
        if self.path.removesuffix(".value") in self._runner.system.model.parameters:
            value = float(values[0, 0])
        self._runner.carry_out(SetParameter(self.path, value))

    def present(self) -> np.ndarray:
        system = self._runner.system
        worlds, name = system.counts.worlds, self.path.removesuffix(".value")
        if name in system.model.parameters:
            return np.full((worlds, 1), system.model.parameters[name].value)
        target = find_parameter(system, self.path)
        values = np.zeros(1) if target is None else system.parameter(target.parameter.array)[target.rows[0]]
        return np.broadcast_to(np.asarray(values, float).ravel(), worlds).reshape(-1, 1).copy()


def output_of(runner: "Runner", owner: str, name: object) -> Output:
    """What a name that is written leads to."""
    if not isinstance(name, str) or ("." not in name and name not in runner.system.model.parameters):
        raise EditError(f"{owner}: writes {name!r}, expected a name such as 'hinge.torque' or 'push.force'")
    part, _, what = name.rpartition(".")
    model, system = runner.system.model, runner.system
    if what in DRIVES and (part in model.joints or group_of(model, part) is not None):
        return ChannelOutput(runner, _motor_rows(runner, owner, part, what))
    for load, at in acting(system).items():
        rest = name.removeprefix(f"{load}.")
        kind, _, axis = rest.partition(".")
        if rest != name and kind in ("force", "torque") and axis in ("", *AXES):
            rows = inputs(system, at)[:3] if kind == "force" else inputs(system, at)[3:]
            return ChannelOutput(runner, tuple(rows) if not axis else (rows[AXES.index(axis)],))
    if name in model.parameters or name.removesuffix(".value") in model.parameters:
        return ParameterOutput(runner, name)
    return _parameter(runner, owner, name)


def _parameter(runner: "Runner", owner: str, name: str) -> ParameterOutput:
    """A number of a part that arrays hold."""
    try:
        target = find_parameter(runner.system, name)
    except ModelError as error:
        raise EditError(f"{owner}: writes '{name}': {error}") from error
    if target is None or target.parameter.inputs is not None or runner.system.width(target.parameter.array) != ():
        cure = "build the part with it, so that it is a number that can be written"
        raise EditError(f"{owner}: writes '{name}', which is no motor, load or number of a part; {cure}")
    return ParameterOutput(runner, name)


def _motor_rows(runner: "Runner", owner: str, part: str, what: str) -> tuple[int, ...]:
    """Channels of the motor of a joint, or of one of its groups."""
    system = runner.system
    found = group_of(system.model, part)
    joint = system.model.joints[part if found is None else found[0]]
    with_motor = [name for name, own in joint.features.items() if own.motor is not None]
    if found is not None:
        with_motor = [name for name in with_motor if name == found[1]]
    if len(with_motor) != 1:
        has = "no motor" if not with_motor else f"motors in {', '.join(with_motor)}"
        cure = (
            f"give it motor=im.Motor({what}=0.0)" if not with_motor else f"write '{joint.name}.{with_motor[0]}.{what}'"
        )
        raise EditError(f"{owner}: writes '{part}.{what}', but joint '{joint.name}' has {has}; {cure}")
    motor = joint.features[with_motor[0]].motor
    assert motor is not None
    known(f"{owner}: motor of joint '{joint.name}'", "value", what, {motor.what: motor})
    codes = joint.kind.group(with_motor[0]).freedoms
    rows = [r for r in system.slots_of.get(joint.name, []) if system.slots[r].kind in MOTORS]
    rows = [r for r in rows if system.slots[r].code in codes]
    held = next((r for r in rows if r in system.locked_motors), None)
    if held is not None:
        raise EditError(f"{owner}: joint '{joint.name}' is held by {system.locked_motors[held]}; it cannot be driven")
    return tuple(system.slots[r].channel for r in rows)
