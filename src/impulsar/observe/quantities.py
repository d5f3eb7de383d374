"""Quantities: everything that can be measured of a running mechanism, in one table.

Results, the studio's signals, the views of a world and the page read it; an entry here is all that a new one takes.
A quantity has a name ("body.velocity"), a unit, components, a sentence that says what it is and in which frame, and
one way to be read: of all parts and worlds at once, [row, world] and components, at a `Moment`. What that gives may be
a view of arrays that the next step writes: copy what is to be kept. One part is a row of it, by `KINDS[kind].rows`.

A signal is one number of the first world: kind, part, path and component, "body.arm.velocity.x", "joint.hinge.
reaction.force.norm", "probe.tip.z"; of what belongs to no part "energy.kinetic", "constraint_error".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..engine.system.build import EMPTY
from .bench import Bench
from .measures import angles, distances, parameters, probes
from .moment import Moment

COMPONENTS: dict[str, tuple[str, ...]] = {  # by dimension
    "axis": ("x", "y", "z"),
    "quaternion": ("x", "y", "z", "w"),
    "kind": ("kinetic", "potential", "elastic", "work", "loss", "imbalance"),
}
NORM = "norm"  # of a vector, beside its axes


@dataclass(frozen=True)
class Kind:
    """What quantities are of."""

    dimension: str  # in results
    rows: Callable[[Bench], dict[str, int]]  # of its parts by name, in the author's order
    comes_and_goes: bool = False  # by edits while a world runs; results have NaN while it is away


def _bodies(bench: Bench) -> dict[str, int]:
    return {name: bench.system.body_index[name] for name in bench.system.model.bodies}


def _named(names: list[str | None]) -> dict[str, int]:
    return {name: k for k, name in enumerate(names) if name}


def _loads(bench: Bench) -> dict[str, int]:
    bodies = bench.system.arrays.load_body.numpy()
    return {name: k for name, k in _named(bench.system.load_names).items() if bodies[k] != EMPTY}


KINDS: dict[str, Kind] = {
    "body": Kind("body", _bodies),
    "joint": Kind("joint", lambda bench: {name: k for k, name in enumerate(bench.system.model.joints)}),
    "coordinate": Kind("coordinate", lambda bench: {name: k for k, name in enumerate(bench.readout.coordinates)}),
    "spring": Kind("spring", lambda bench: {name: k for k, name in enumerate(bench.system.model.springs)}),
    "coupling": Kind("coupling", lambda bench: {name: k for k, name in enumerate(bench.system.model.couplings)}),
    "tyre": Kind("tyre", lambda bench: {name: k for k, name in enumerate(bench.system.model.tyres)}),
    "probe": Kind("name", lambda bench: {name: k for k, name in enumerate(bench.system.model.probes)}),
    "distance": Kind("span", lambda bench: {name: k for k, name in enumerate(bench.system.model.distances)}),
    "angle": Kind("corner", lambda bench: {name: k for k, name in enumerate(bench.system.model.angles)}),
    "parameter": Kind("parameter", lambda bench: {name: k for k, name in enumerate(bench.system.model.parameters)}),
    "sensor": Kind("channel", lambda bench: bench.sensors.rows if bench.system.model.sensors else {}),
    "hand": Kind("hand", lambda bench: _named(bench.system.hand_names), comes_and_goes=True),
    "load": Kind("load", _loads, comes_and_goes=True),
    "": Kind("", lambda bench: {"": 0}),  # the whole
}


@dataclass(frozen=True)
class Quantity:
    """Something that can be measured."""

    name: str  # kind of part and what it is; what belongs to no part has no kind
    unit: str
    doc: str
    read: Callable[[Moment], np.ndarray]  # [row, world], components
    dimension: str = ""  # of its components, of COMPONENTS
    slide_unit: str = ""  # of coordinates that are lengths, where that is another
    variable: str | None = ""  # in results, if not the name; None: of a session alone
    usual: bool = True  # whether results have it unless asked otherwise
    path: str | None = None  # behind the part in a signal, if not the name's end
    title: str = ""  # in the page, if not the name's end
    panes: Mapping[str, tuple[str, ...]] | None = None  # in the page: components by title, if not all in one
    sure: Callable[[Moment], np.ndarray] | None = None  # like read, False where it is a choice; None: it never is

    @cached_property
    def kind(self) -> str:
        """Of the parts that have it; empty: it is of the whole."""
        kind = self.name.partition(".")[0]
        return kind if kind in KINDS else ""

    @cached_property
    def components(self) -> tuple[str, ...]:
        """Their names; none of a number."""
        return COMPONENTS.get(self.dimension, ())

    @cached_property
    def in_results(self) -> str:
        """The variable's name; empty where results cannot have it."""
        return "" if self.variable is None else self.variable or self.name.replace(".", "_")

    @cached_property
    def dimensions(self) -> tuple[str, ...]:
        """Of the variable, behind the time."""
        return tuple(d for d in (KINDS[self.kind].dimension, self.dimension) if d)

    @cached_property
    def tail(self) -> str:
        """What stands behind the part in a signal, without the component; all of it where there is no part."""
        end = self.name.partition(".")[2] if self.kind else self.name
        return end if self.path is None else self.path

    @cached_property
    def endings(self) -> dict[str, int | None]:
        """What may stand behind the part in a signal, and which component that is; None: the norm, or the number."""
        if not self.components:
            return {self.tail: None}
        found: dict[str, int | None] = {name: k for k, name in enumerate(self.components)}
        if self.dimension == "axis":
            found[NORM] = None
        return {f"{self.tail}.{name}".lstrip("."): k for name, k in found.items()}

    def unit_of(self, bench: Bench, row: int) -> str:
        """Unit of one part's."""
        if self.kind == "sensor":
            return bench.sensors.units[row]
        return self.slide_unit if self.slide_unit and bench.readout.coordinate_units[row] == "m" else self.unit


def _twist(columns: slice) -> Callable[[Moment], np.ndarray]:
    return lambda now: now.bench.read("twist")[..., columns]


TURN, SHIFT = slice(0, 3), slice(3, 6)  # of a spatial vector

_TABLE = (
    Quantity(
        "body.position", "m", "position of the centre of mass", lambda now: now.bench.read("p_WB"), "axis",
        variable="position",
    ),
    Quantity(
        "body.orientation", "1", "orientation, body to world", lambda now: now.bench.read("q_WB"), "quaternion",
        variable="orientation",
    ),
    Quantity(
        "body.velocity", "m/s", "velocity of the centre of mass", _twist(SHIFT), "axis", variable="velocity",
    ),
    Quantity(
        "body.angular_velocity", "rad/s", "angular velocity in world axes", _twist(TURN), "axis",
        variable="angular_velocity",
    ),
    Quantity(
        "body.acceleration", "m/s²", "acceleration of the centre of mass at the instant",
        lambda now: now.accelerations[..., SHIFT], "axis", variable="acceleration",
    ),
    Quantity(
        "body.angular_acceleration", "rad/s²", "angular acceleration in world axes at the instant",
        lambda now: now.accelerations[..., TURN], "axis", variable="angular_acceleration",
    ),
    Quantity(
        "body.force", "N", "all that acts on the body, weight and joints among it: mass times acceleration",
        lambda now: now.resultants[..., SHIFT], "axis", variable="force",
    ),
    Quantity(
        "body.contact_force", "N", "sum of the contact forces on the body in the last sub-step, world axes",
        lambda now: now.contact_forces, "axis", variable="contact_force", usual=False,
    ),
    Quantity(
        "body.torque", "N m", "the same about the centre of mass: rate of the angular momentum, world axes",
        lambda now: now.resultants[..., TURN], "axis", variable="torque",
    ),
    Quantity(
        "body.kinetic_energy", "J", "kinetic energy of the body", lambda now: now.bench.readout.kinetic(), usual=False,
    ),
    Quantity(
        "coordinate.position", "rad", "joint coordinate", lambda now: now.freedoms[0], slide_unit="m",
        variable="joint_position", title="coordinate",
    ),
    Quantity(
        "coordinate.velocity", "rad/s", "rate of the joint coordinate", lambda now: now.freedoms[1], slide_unit="m/s",
        variable="joint_velocity", title="speed",
    ),
    Quantity(
        "coordinate.motor_torque", "N m", "torque or force of the motor, mean over the last step",
        lambda now: now.bench.forces.motors(), slide_unit="N", variable="motor_torque", title="motor",
    ),
    Quantity(
        "joint.reaction_force", "N", "force of the joint on its second body, mean over the last step",
        lambda now: now.reactions[0][..., SHIFT], "axis", variable="reaction_force", path="reaction.force",
        sure=lambda now: now.reactions[1][..., SHIFT],
    ),
    Quantity(
        "joint.reaction_torque", "N m", "torque of the joint on its second body, at the joint, likewise",
        lambda now: now.reactions[0][..., TURN], "axis", variable="reaction_torque", path="reaction.torque",
        sure=lambda now: now.reactions[1][..., TURN],
    ),
    Quantity(
        "joint.reaction_force_known", "1", "1 where the component of the force is determinate, 0 where it is a choice",
        lambda now: now.reactions[1][..., SHIFT].astype(float), "axis", usual=False, path="reaction.force_known",
    ),
    Quantity(
        "joint.reaction_torque_known", "1", "the same of the torque",
        lambda now: now.reactions[1][..., TURN].astype(float), "axis", usual=False, path="reaction.torque_known",
    ),
    Quantity(
        "spring.force", "N", "pull of the spring and its damper on its ends", lambda now: now.springs[1], usual=False,
    ),
    Quantity(
        "coupling.force", "N m",
        "torque or force of the coupling on its coordinate b, mean over the last step; on others it is -ratio, -weight "
        "times as much", lambda now: now.bench.forces.couplings(), usual=False,
    ),
    Quantity("spring.length", "m", "length of the spring", lambda now: now.springs[0], usual=False),
    Quantity(
        "tyre.force", "N", "force of the road on the wheel, world axes",
        lambda now: now.bench.tyres.vectors("force"), "axis", usual=False,
    ),
    Quantity(
        "tyre.patch", "N", "the same along the rolling direction (x), to the left (y) and along the road's normal (z)",
        lambda now: now.bench.tyres.vectors("patch"), "axis", usual=False,
    ),
    Quantity(
        "tyre.torque", "N m", "torque of the road about the wheel's centre of mass, world axes",
        lambda now: now.bench.tyres.vectors("torque"), "axis", usual=False,
    ),
    Quantity(
        "tyre.contact", "m", "where it touches the road", lambda now: now.bench.tyres.vectors("point"), "axis",
        usual=False,
    ),
    Quantity("tyre.moment", "N m", "aligning moment", lambda now: now.bench.tyres.numbers("moment"), usual=False),
    Quantity(
        "tyre.slip", "1", "longitudinal slip of the deflected tyre", lambda now: now.bench.tyres.numbers("slip"),
        usual=False,
    ),
    Quantity(
        "tyre.angle", "rad", "slip angle of the deflected tyre", lambda now: now.bench.tyres.numbers("angle"),
        usual=False,
    ),
    Quantity(
        "tyre.camber", "rad", "lean of the wheel to the right", lambda now: now.bench.tyres.numbers("camber"),
        usual=False,
    ),
    Quantity(
        "tyre.deflection", "m", "how deep the rim's lowest point would be in the road",
        lambda now: now.bench.tyres.numbers("deflection"), usual=False,
    ),
    Quantity(
        "hand.force", "N", "force of the hand on its body, mean over the last step",
        lambda now: now.bench.forces.hands(), "axis", variable="hand_force",
    ),
    Quantity(
        "hand.torque", "N m", "torque of the hand on its body beside that of its force, mean over the last step",
        lambda now: now.bench.forces.hand_torques(), "axis", variable="hand_torque",
    ),
    Quantity(
        "load.force", "N", "force of the load now, world axes", lambda now: now.loads[..., :3], "axis", usual=False,
    ),
    Quantity(
        "load.torque", "N m", "torque of the load now, beside that of its force, world axes",
        lambda now: now.loads[..., 3:], "axis", usual=False,
    ),
    Quantity(
        "probe.position", "m", "position of the probe", lambda now: probes(now.bench), "axis",
        variable="probe", path="",
    ),
    Quantity(
        "distance.length", "m", "distance between two points", lambda now: distances(now.bench), variable="distance",
    ),
    Quantity(
        "angle.value", "rad", "angle between two lines of bodies, 0 to π", lambda now: angles(now.bench),
        variable="angle", title="angle",
    ),
    Quantity(
        "sensor.value", "1", "what a sensor's channel gave last, in the channel's unit; NaN while there is nothing",
        lambda now: now.bench.sensors.read(), variable="sensor",
    ),
    Quantity(
        "parameter.value", "1", "value of a parameter of the model, in its own unit", lambda now: parameters(now.bench),
        usual=False,
    ),
    Quantity(
        "energy", "J", "energy books since the start", lambda now: now.bench.readout.energies(), "kind",
        panes={
            "energy": ("kinetic", "potential", "elastic"),
            "work and loss": ("work", "loss"),
            "imbalance of the books": ("imbalance",),
        },
    ),
    Quantity(
        "energy.total", "J", "kinetic, potential and elastic energy",
        lambda now: now.bench.readout.energies()[..., :3].sum(axis=-1), title="energy", usual=False,
    ),
    Quantity(
        "constraint_error", "m and rad", "2-norm of all position-level joint equations",
        lambda now: now.bench.readout.constraint_errors(),
    ),
    Quantity(
        "iterations", "1", "sweeps of the solver since the last sample", lambda now: now.given("iterations"),
    ),
    Quantity("step_time", "s", "wall time of a step", lambda now: now.given("step_time"), variable=None, usual=False),
)  # fmt: skip
QUANTITIES: dict[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
