"""Sensors as parts of a model: a name, and what is mounted."""

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from .checks import show
from .errors import ModelError
from .parts import PARTS, PartKind, check_name
from .sensors import Encoder, Sensor

if TYPE_CHECKING:
    from .model import Model


@dataclass(eq=False)
class Mounted:
    """A sensor of the model."""

    name: str
    sensor: Sensor

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field."""
        owner = f"sensor '{check_name('sensor', self.name)}'"
        if not isinstance(self.sensor, Sensor):
            raise ModelError(f"{owner}: sensor is {show(self.sensor)}, expected one such as im.sensors.Imu('arm')")
        self.sensor.check(owner)

    @property
    def on(self) -> dict[str, str]:
        """Names of the parts that it is on, by kind."""
        given = {"body": self.sensor.body, "joint": self.sensor.joint}
        return {kind: name for kind, name in given.items() if name}

    def renamed(self, kind: str, name: str, to: str) -> "Mounted":
        """The same on a part that has another name."""
        if self.on.get(kind) != name:
            return self
        return replace(self, sensor=replace(self.sensor, **{kind: to}))  # type: ignore[arg-type]


class SensorKind(PartKind):
    """The kind of part that sensors are."""

    def goes_with(self, part: Mounted, lost: set[tuple[str, str]]) -> bool:
        """Whether it is on a part that is lost."""
        return not lost.isdisjoint(part.on.items())


PARTS["sensor"] = SensorKind(Mounted, "sensors")


class Sensing:
    """The calls of Model that have to do with sensors."""

    def sensor(self, name: str, sensor: Sensor) -> Mounted:
        """Mount a sensor: model.sensor("imu", im.sensors.Imu("chassis", at=(0, 0, 0.1), rate=100.0))."""
        model = cast("Model", self)
        model.claim("sensor", name)
        part = Mounted(name, copy.copy(sensor))
        part.check()
        self.check_mounted(part)
        model.sensors[name] = part
        return part

    def check_mounted(self, part: Mounted) -> None:
        """Raise `ModelError` if a sensor is on nothing that there is."""
        model, owner, sensor = cast("Model", self), f"sensor '{part.name}'", part.sensor
        for kind in ("body", "joint"):
            if kind in vars(type(sensor)).get("__dataclass_fields__", {}):
                (model.find_body if kind == "body" else model.find_joint)(owner, getattr(sensor, kind))
        if isinstance(sensor, Encoder):
            groups = [own.name for own in model.joints[sensor.joint].kind.groups if not own.is_ball]
            if sensor.coordinate not in ("", *groups) or (not sensor.coordinate and len(groups) != 1):
                told = f"coordinate is {show(sensor.coordinate)}, but joint '{sensor.joint}' has"
                raise ModelError(f"{owner}: {told} {', '.join(groups) or 'none that can be counted'}; give one of them")
