"""The joint catalogue: what each joint type leaves free, what it locks, and which features it takes.

A joint holds frame F of its first body and frame M of its second. z is the joint's axis, x its
second axis (the slot of a pin-slot, the second shaft of a universal joint). At zero coordinates F
and M coincide. The pose of M in F is a translation along F's axes, then a rotation:

    X_FM(q) = translation(p(q)) · rotation(R(q))

A *freedom* is one way M may move in F. Freedoms come in named groups, which are what a user gives
limits, friction, a motor or a spring-damper to; a group has one freedom, or three for a ball. A
*lock* is one way it may not: one row where the joint closes a loop. Freedoms and locks are codes
that the kernels read as data: nothing is compiled per joint type.
"""

from dataclasses import dataclass
from functools import cached_property

# Freedoms. The rate of each is a component of the twist of M relative to F.
SLIDE_X, SLIDE_Y, SLIDE_Z = 0, 1, 2  # M's origin along an axis of F [m]
TURN_Z = 3  # rotation about F's z [rad]
TURN_X = 4  # rotation about M's x, after TURN_Z (universal) [rad]
BALL_X, BALL_Y, BALL_Z = 5, 6, 7  # angular velocity along an axis of F; the attitude is a quaternion
SCREW = 8  # rotation about F's z with a translation of pitch · angle along it [rad]

# Measured on a ball for its limits; not freedoms of their own.
TWIST = 9  # rotation about z that is left when z has been swung from F to M [rad]
SWING = 10  # angle between F's z and M's z [rad]

# Locks. Error and direction of each are in engine/constrain/locks.py.
LOCK_X, LOCK_Y, LOCK_Z = 20, 21, 22  # M's origin along an axis of F [m]
LOCK_RX, LOCK_RY, LOCK_RZ = 23, 24, 25  # rotation vector of M in F [rad]
ALIGN_X, ALIGN_Y = 26, 27  # M's z stays along F's z [rad]
CROSS = 28  # M's x stays perpendicular to F's z [rad]
THREAD = 29  # slide - pitch · angle [m]
LENGTH = 30  # distance of the origins - length [m]

BALL = (BALL_X, BALL_Y, BALL_Z)
LOCK_NAMES = {
    LOCK_X: "x",
    LOCK_Y: "y",
    LOCK_Z: "z",
    LOCK_RX: "turn x",
    LOCK_RY: "turn y",
    LOCK_RZ: "turn z",
    ALIGN_X: "tilt x",
    ALIGN_Y: "tilt y",
    CROSS: "cross",
    THREAD: "thread",
    LENGTH: "length",
}


@dataclass(frozen=True)
class Group:
    """One named freedom of a joint type, or the three of a ball."""

    name: str
    freedoms: tuple[int, ...]

    @property
    def is_ball(self) -> bool:
        return len(self.freedoms) == 3

    @property
    def is_slide(self) -> bool:
        return self.freedoms[0] <= SLIDE_Z

    @property
    def unit(self) -> str:
        """Unit of the coordinate."""
        return "m" if self.is_slide else "rad"

    @property
    def force_unit(self) -> str:
        """Unit of the generalized force."""
        return "N" if self.is_slide else "N m"

    @property
    def inertia_unit(self) -> str:
        """Unit of the generalized inertia."""
        return "kg" if self.is_slide else "kg m²"

    @property
    def units(self) -> dict[str, str]:
        """What stands in the units of its parameters."""
        return {"unit": self.unit, "force": self.force_unit, "inertia": self.inertia_unit}


@dataclass(frozen=True)
class JointType:
    """One line of the catalogue."""

    name: str
    groups: tuple[Group, ...]
    locks: tuple[int, ...]
    has_axis: bool = True  # whether its author gives one
    second_axis: str | None = None  # what a second one is, where its author gives that too
    tree: bool = True  # False: in a tree it is a free joint plus its lock rows

    @cached_property
    def freedoms(self) -> tuple[int, ...]:
        return tuple(code for group in self.groups for code in group.freedoms)

    def group(self, name: str) -> Group:
        return next(group for group in self.groups if group.name == name)


SLIDE = Group("slide", (SLIDE_Z,))
ANGLE = Group("angle", (TURN_Z,))
ROTATION = Group("rotation", BALL)
X, Y, Z = Group("x", (SLIDE_X,)), Group("y", (SLIDE_Y,)), Group("z", (SLIDE_Z,))
ALL_SLIDES = (LOCK_X, LOCK_Y, LOCK_Z)
ALL_TURNS = (LOCK_RX, LOCK_RY, LOCK_RZ)
ALIGN = (ALIGN_X, ALIGN_Y)

CATALOGUE: dict[str, JointType] = {
    entry.name: entry
    for entry in (
        JointType("fixed", (), (*ALL_SLIDES, *ALL_TURNS), has_axis=False),
        JointType("revolute", (ANGLE,), (*ALL_SLIDES, *ALIGN)),
        JointType("prismatic", (SLIDE,), (LOCK_X, LOCK_Y, *ALL_TURNS)),
        JointType("cylindrical", (SLIDE, ANGLE), (LOCK_X, LOCK_Y, *ALIGN)),
        JointType(
            "universal",
            (Group("first", (TURN_Z,)), Group("second", (TURN_X,))),
            (*ALL_SLIDES, CROSS),
            second_axis="the second shaft",
        ),
        JointType("spherical", (ROTATION,), ALL_SLIDES, has_axis=False),
        JointType("planar", (X, Y, ANGLE), (LOCK_Z, *ALIGN)),
        JointType("screw", (Group("angle", (SCREW,)),), (LOCK_X, LOCK_Y, *ALIGN, THREAD)),
        JointType(
            "pin-slot",
            (Group("slide", (SLIDE_X,)), ANGLE),
            (LOCK_Y, LOCK_Z, *ALIGN),
            second_axis="the slot's direction",
        ),
        JointType("point-on-line", (SLIDE, ROTATION), (LOCK_X, LOCK_Y)),
        JointType("point-on-plane", (X, Y, ROTATION), (LOCK_Z,)),
        JointType("distance", (), (LENGTH,), has_axis=False, tree=False),
        JointType("free", (X, Y, Z, ROTATION), (), has_axis=False),
    )
}
