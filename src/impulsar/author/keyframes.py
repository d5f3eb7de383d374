"""Key frames: joint coordinates under a name, to go to while the mechanism runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from .checks import number, show
from .errors import ModelError
from .joints import Group
from .names import check_name, closest

if TYPE_CHECKING:
    from .model import Model
    from .parts import Joint


@dataclass(eq=False)
class Keyframe:
    """Coordinates [m, rad] and velocities [m/s, rad/s] by name: "hinge", "rail.slide", "ball.rotation.x"; what is not
    named is at the start, and at rest."""

    name: str
    positions: dict[str, Any]
    velocities: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise `ModelError` at a wrong field."""
        owner = f"keyframe '{check_name('keyframe', self.name)}'"
        for what in ("positions", "velocities"):
            given = getattr(self, what)
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise ModelError(f"{owner}: {what} are {show(given)}, expected numbers by the names of coordinates")
            values = {name: number(owner, f"'{name}'", value, "a finite number") for name, value in given.items()}
            setattr(self, what, values)

    def renamed(self, kind: str, name: str, to: str) -> "Keyframe":
        """The same where a joint has another name."""
        if kind != "joint":
            return self
        own = [
            {to + key[len(name) :] if f"{key}.".startswith(f"{name}.") else key: value for key, value in given.items()}
            for given in (self.positions, self.velocities)
        ]
        return Keyframe(self.name, *own)


class Keyframes:
    """The call of Model that adds key frames."""

    keyframes: dict[str, Keyframe]

    def keyframe(
        self, name: str, positions: Mapping[str, float], velocities: Mapping[str, float] | None = None
    ) -> Keyframe:
        """Name a place of the mechanism by joint coordinates [m, rad], and velocities; `world.go_to(name)` puts it
        there. Coordinates are called as in results: "hinge", of one group of several "rail.slide"."""
        model = cast("Model", self)
        owner = model.claim("keyframe", name)
        frame = Keyframe(name, positions, velocities or {})  # type: ignore[arg-type]
        frame.check()
        known = coordinates_of(model)
        for coordinate in (*frame.positions, *frame.velocities):
            if coordinate not in known:
                raise ModelError(f"{owner}: no coordinate named {show(coordinate)}; {closest(coordinate, known)}")
        model.keyframes[name] = frame
        return frame


def coordinate_name(joint: "Joint", group: Group, code: int) -> str:
    """How results call a freedom: the joint's name, with the group's where it has several."""
    name = joint.name if len(joint.kind.groups) == 1 else f"{joint.name}.{group.name}"
    return f"{name}.{'xyz'[group.freedoms.index(code)]}" if group.is_ball else name


def coordinates_of(model: "Model") -> list[str]:
    """What results call the coordinates of a model."""
    joints = model.joints.values()
    freedoms = ((joint, group, code) for joint in joints for group in joint.kind.groups for code in group.freedoms)
    return [coordinate_name(joint, group, code) for joint, group, code in freedoms]
