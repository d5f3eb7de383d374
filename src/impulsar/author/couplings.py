"""Couplings of joints: one linear equation over two coordinates or more.

    b = ratio · a + offset + Σ weight_k · q_k

A gear, a belt or a rack has a and b alone; a differential, or a tendon over several joints, has further ones.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .checks import number, positive, show
from .errors import ModelError
from .names import check_name


@dataclass(eq=False)
class Coupling:
    """Keeps coordinate b = ratio · coordinate a + offset: gear, repeater; rack and pinion with a slide. Of several
    joints, a differential or a tendon, b = ratio · a + offset + Σ weight · coordinate over `more`."""

    name: str
    joint_a: str
    group_a: str
    joint_b: str
    group_b: str
    ratio: float  # unit of b per unit of a
    belt: float | None = None  # radius of a's wheel, of one with a belt that is drawn [m]; b's is belt / |ratio|
    offset: float = 0.0  # b where a and the others are zero [rad, m]
    more: dict[str, float] = field(default_factory=dict)  # "joint.group": weight, unit of b per unit of it

    @property
    def ends(self) -> list[tuple[str, str, float]]:
        """Joint, group and weight of each coordinate: Σ weight · coordinate = offset; a, b, then the others."""
        others = [(*split_coordinate(name), -weight) for name, weight in self.more.items()]
        return [(self.joint_a, self.group_a, -self.ratio), (self.joint_b, self.group_b, 1.0), *others]

    @property
    def joints(self) -> list[str]:
        """Of its coordinates, in the order of `ends`."""
        return [joint for joint, _, _ in self.ends]

    def renamed(self, kind: str, name: str, to: str) -> "Coupling":
        """With another name of one of the joints of `more`."""
        if kind != "joint" or name not in self.joints[2:]:
            return self
        other = {f"{to if joint == name else joint}.{group}": -weight for joint, group, weight in self.ends[2:]}
        return replace(self, more=other)

    def check(self) -> None:
        """Raise `ModelError` at a wrong field."""
        owner = f"coupling '{check_name('coupling', self.name)}'"
        if not isinstance(self.more, Mapping):
            raise ModelError(f"{owner}: more is {show(self.more)}, expected weights by coordinate, {{'joint': 1.0}}")
        for name in self.more:
            if not isinstance(name, str) or "." not in name:
                raise ModelError(f"{owner}: more names {show(name)}, expected 'joint.group' such as 'hinge.angle'")
        self.more = {name: number(owner, f"weight of '{name}'", own) for name, own in self.more.items()}
        if self.more and self.belt is not None:
            raise ModelError(f"{owner}: belt is {show(self.belt)}, but it couples several; leave it out")
        self.belt = None if self.belt is None else positive(owner, "belt", self.belt, "m")
        expected = "a finite number other than 0"
        self.ratio = number(owner, "ratio", self.ratio, expected, lambda x: x != 0 and math.isfinite(x))
        self.offset = number(owner, "offset", self.offset, "a finite number [rad or m]")
        seen: set[tuple[str, str]] = set()
        for joint, group, _ in self.ends:
            if (joint, group) in seen:
                raise ModelError(f"{owner}: couples {group} of '{joint}' to itself; give another")
            seen.add((joint, group))


def split_coordinate(name: str) -> tuple[str, str]:
    """Joint and group of "joint.group"; a joint's name may have points of its own."""
    joint, _, group = name.rpartition(".")
    return joint, group
