"""A mechanism at body level: every joint as rows over the velocities [v, w] of each body.

What the analyses need of the physics comes from Warp, by one kernel: the rows' Jacobian and errors, the
applied forces, the mass matrix. The linear algebra is done here on the host.

    M a = f + Jᵀ λ      J v = rate      J a + drift = 0      error = 0

Metres and radians are made comparable by a characteristic length ℓ, the root mean square distance of the
joints from the centres of mass that they hold: rows in radians are multiplied by ℓ, angular velocities
count as ℓ w, so that a torque counts as torque / ℓ. R and C below are these scales of rows and columns.
"""

# mypy: disable-error-code="index,operator"

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import warp as wp

from ..author.errors import ModelError
from ..author.joints import ALIGN_X, ALIGN_Y, CROSS, LOCK_NAMES, LOCK_RX, LOCK_RY, LOCK_RZ
from ..author.model import Model
from ..engine.constrain import kinds, motor
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.rows import own_coordinate
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.inverse import inverse_dynamics, joint_inertia
from ..engine.coordinates.retract import move_coordinates
from ..engine.coordinates.tree import kinematics
from ..engine.device import check_device
from ..engine.forces.total import total
from ..engine.launch import launch
from ..engine.spatial import ONE, ZERO, f64, spatial, vec6, zero3
from ..engine.start.redundancy import row_key, spare_rows
from ..engine.state import State, StateArrays, WorkArrays, allocate_work
from ..engine.system import System, SystemArrays
from ..engine.system.rank import PLAY
from ..engine.system.slots import (
    CLOSURE,
    COUPLING,
    HAND,
    LIMIT_HIGH,
    LIMIT_LOW,
    MOTOR_POSITION,
    MOTOR_SPEED,
    Slot,
)
from ..observe.readout import Readout, coordinate_name
from ..world.views import Reaction
from ..world.world import World
from .rotors import Rotors

LIMITS = (LIMIT_LOW, LIMIT_HIGH)
DRIVES = (MOTOR_SPEED, MOTOR_POSITION)
ANGULAR_LOCKS = (LOCK_RX, LOCK_RY, LOCK_RZ, ALIGN_X, ALIGN_Y, CROSS)


@wp.kernel(enable_backward=False)
def balance_kernel(
    # model
    m: SystemArrays,
    rows: wp.array(dtype=wp.int32),  # slots
    t: wp.array(dtype=f64),  # [1] [s]
    # state in
    s: StateArrays,
    x: WorkArrays,
    rest: wp.array2d(dtype=f64),  # [dof, 1] zeros: no acceleration
    # out
    M: wp.array2d(dtype=f64),  # [dof · dofs + dof, 1]
    bias: wp.array2d(dtype=f64),  # [dof, 1] joint forces under which nothing accelerates
    error: wp.array2d(dtype=f64),  # [row, 1] position error [m, rad]
    measured: wp.array2d(dtype=f64),  # [row, 1] coordinate of a motor's or limit's freedom [m, rad]
    rate: wp.array2d(dtype=f64),  # [row, 1] what J v should be
    change: wp.array2d(dtype=f64),  # [row, 1] acceleration of a position motor's target
    drift: wp.array2d(dtype=f64),  # [row, 1] J̇ v less the target's acceleration
):
    """Everything that the balance of forces needs, at the present state; also fills x.J."""
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    total(m, s, x, t[0], 0, w)
    joint_inertia(m, x, M, w)
    inverse_dynamics(m, x, rest, bias, spatial(zero3(), -m.gravity[0, w]), w)
    for i in range(rows.shape[0]):
        r = rows[i]
        kinds.fill(m, s, x, r, ZERO, ONE, w)
        error[i, w] = kinds.error(m, s, x, r, t[0], w)
        rate[i, w] = kinds.target_rate(m, x, r, t[0], w)
        drift[i, w] = kinds.acceleration(m, x, r, t[0], w)
        change[i, w] = ZERO
        if motor.is_servo(x, r, w):
            change[i, w] = motor.target_acceleration(m, x, r, t[0], w)
        measured[i, w] = ZERO
        if kinds.has_coordinate(x, r, w):
            measured[i, w] = own_coordinate(m, s, x, r, w)


@wp.kernel(enable_backward=False)
def move_kernel(m: SystemArrays, s: StateArrays, change: wp.array2d(dtype=f64)):
    """q ← q ⊕ change."""
    move_coordinates(m, s, change, wp.tid())


@wp.kernel(enable_backward=False)
def reactions_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """x.reaction from the forces in s.impulse."""
    w = wp.tid()
    list_rows(m, x, w)
    for j in range(m.first.shape[0]):
        x.reaction[j, w] = vec6()
    for r in range(x.row_count[0, w]):
        if kinds.is_in_joint(x, r, w):
            kinds.react(m, x, r, s.impulse[r, w], w)


@dataclass(frozen=True)
class Row:
    """One row by name."""

    slot: int
    kind: int
    part: str  # joint or coupling
    label: str  # which of its rows
    angular: bool  # in radians

    @property
    def name(self) -> str:
        """How messages call it."""
        if self.kind == COUPLING:
            return f"coupling '{self.part}'"
        if self.kind in DRIVES:
            return f"motor of joint '{self.part}'" + (f" ({self.label})" if self.label else "")
        return f"joint '{self.part}' {self.label}"

    @property
    def unit(self) -> str:
        """Of its error."""
        return "rad" if self.angular else "m"


@dataclass(frozen=True)
class Balance:
    """Forces and rows at one state; arrays are [row], [dof] and [row, dof], a body's dofs being v, w."""

    J: np.ndarray
    M: np.ndarray
    force: np.ndarray  # applied, less gyroscopic torques [N, N m]
    error: np.ndarray  # [m, rad]
    measured: np.ndarray  # coordinates of motors and limits [m, rad]
    rate: np.ndarray  # [m/s, rad/s]
    change: np.ndarray  # of a position motor's target [m/s², rad/s²]
    drift: np.ndarray  # [m/s², rad/s²]


class Mechanism:
    """A model at its authored pose, or a world as it is now, at body level."""

    def __init__(self, source: Model | World, device: str = "cpu", check_meeting: bool = True):
        if isinstance(source, World) and source.worlds > 1:
            raise ModelError(f"analysis: the world has {source.worlds} copies; give a world of one, or its model")
        if not isinstance(source, Model | World):
            raise ModelError(f"analysis: got {type(source).__name__}, expected a Model or a World")
        self.model = source.model if isinstance(source, World) else source
        device = source.device if isinstance(source, World) else check_device(device)
        hands, loads = 0, 0
        if isinstance(source, World):
            hands, loads = source.system.counts.hands, source.system.counts.loads - len(self.model.loads)
            check_meeting = False  # joints that were made in motion do not meet at the authored pose
        self.system = System(self.model, 1, device, "apart", hands, loads, check_meeting)
        self.system.arrays.nominal_h.fill_(1.0)
        self.state = State(self.system.counts, device)
        self.work = allocate_work(self.system.counts, device)
        self.readout = Readout(self.system, self.state, self.work)
        self.rotors = Rotors(self.system)
        self.bodies = self.system.tree.bodies
        self.dofs = self.system.counts.dofs
        self.rows = [row for r, slot in enumerate(self.system.slots) if (row := self._row(r, slot)) is not None]
        self.time = 0.0
        self.state.write("q", self.system.start_coordinates()[:, None])
        if isinstance(source, World):
            _take_over(self, source)
        n = len(self.rows)
        ints = np.array([row.slot for row in self.rows], np.int32)
        self._slots = wp.array(ints, dtype=wp.int32, device=device, shape=(n,))
        self._rest = wp.zeros((self.dofs, 1), dtype=f64, device=device)
        self._out = [wp.zeros((size, 1), dtype=f64, device=device) for size in (self.dofs**2, self.dofs, *[n] * 5)]
        self._t = wp.zeros(1, dtype=f64, device=device)
        self.length = self.system.length
        self.redundancy = source.redundancy if isinstance(source, World) else PLAY
        angular = np.array([row.angular for row in self.rows], bool)
        self.R = np.where(angular, self.length, 1.0)
        self.C = np.tile([1.0, 1.0, 1.0, *[1.0 / self.length] * 3], len(self.bodies))
        self._world = source if isinstance(source, World) else None

    @property
    def has_carriers(self) -> bool:
        """Whether bodies without mass make M singular."""
        return any(body.is_carrier for body in self.model.bodies.values())

    @cached_property
    def spare(self) -> frozenset[int]:
        """Rows that are redundant by construction, as the world has it or from the present pose on.

        They may be open by the play, and nothing is moved to close them.
        """
        if self._world is None:
            keys = spare_rows(self.posed_model(), self.redundancy, self.system.device)
        else:
            system = self._world.system
            slots = [
                slot for slot, holds in zip(system.slots, system.parameter("basis")[:, 0], strict=True) if not holds
            ]
            keys = {row_key(slot) for slot in slots}
        joints = (CLOSURE, COUPLING)
        rows = [i for i, row in enumerate(self.rows) if row.kind in joints]
        return frozenset(i for i in rows if row_key(self.system.slots[self.rows[i].slot]) in keys)

    def holding(self, rows: Sequence[int]) -> list[int]:
        """Those of some rows that are not spare."""
        return [i for i in rows if i not in self.spare]

    @property
    def play(self) -> np.ndarray:
        """By row: how far it may be open if it is spare [m, rad]."""
        return self.redundancy * np.array([1.0 if row.angular else self.size for row in self.rows])

    def _row(self, r: int, slot: Slot) -> Row | None:
        """The row of a slot, None where it is a force or friction."""
        model = self.model
        if slot.kind == CLOSURE:
            return Row(r, slot.kind, slot.name, LOCK_NAMES[slot.code], slot.code in ANGULAR_LOCKS)
        if slot.kind == COUPLING:
            coupling = model.couplings[slot.name]
            group = model.joints[coupling.joint_b].kind.group(coupling.group_b)
            return Row(r, slot.kind, slot.name, "", not group.is_slide)
        if slot.kind in DRIVES or slot.kind in LIMITS:
            joint = model.joints[slot.name]
            group = next((g for g in joint.kind.groups if slot.code in g.freedoms), joint.kind.groups[-1])
            label = "" if len(joint.kind.groups) == 1 else group.name
            return Row(r, slot.kind, slot.name, label, not group.is_slide)
        return None

    @property
    def size(self) -> float:
        """Extent of the mechanism: how far its centres of mass are apart, and a characteristic length [m]."""
        p = self.positions
        return float(np.linalg.norm(np.ptp(p, axis=0))) + self.length if len(p) else self.length

    def pick(self, *kinds: int) -> list[int]:
        """Indices of the rows of some kinds."""
        return [i for i, row in enumerate(self.rows) if row.kind in kinds]

    # state ----------------------------------------------------------------------------------------

    @property
    def positions(self) -> np.ndarray:
        """Of the centres of mass [body, 3] [m]."""
        return self.state.read("q")[:, 0].reshape(-1, 7)[:, :3].copy()

    @property
    def orientations(self) -> np.ndarray:
        """Quaternions xyzw [body, 4]."""
        return self.state.read("q")[:, 0].reshape(-1, 7)[:, 3:].copy()

    def snapshot(self) -> np.ndarray:
        """The state as data."""
        return self.state.numpy().copy()

    def restore(self, snapshot: np.ndarray) -> None:
        """Go back to a snapshot."""
        self.state.array.assign(snapshot)

    def move(self, change: np.ndarray) -> None:
        """Displace every body by [translation, rotation vector], world axes [m, rad]."""
        given = wp.array(np.asarray(change, float)[:, None], dtype=f64, device=self.system.device)
        launch(move_kernel, 1, [self.system.arrays, self.state.arrays, given], self.system.device)

    def balance(self, v: np.ndarray | None = None) -> Balance:
        """Forces and rows at the present pose and time, at velocities v (default: at rest)."""
        self.state.write("v", np.zeros((self.dofs, 1)) if v is None else v[:, None])
        system = self.system
        if system.channels.callables:
            system.channels.sample_callables(system.arrays, self.time, 1e-3, 1)
        self._t.fill_(self.time)
        self.state.write("time", np.full((1, 1), self.time))
        inputs = [system.arrays, self._slots, self._t, self.state.arrays, self.work, self._rest, *self._out]
        launch(balance_kernel, 1, inputs, system.device)
        M, bias, error, measured, rate, change, drift = (array.numpy()[:, 0].copy() for array in self._out)
        J = system.dense_rows(self.work.J.numpy())[[row.slot for row in self.rows]]
        for i in self.pick(*LIMITS):  # which way such a row points is the limit's matter: here along the freedom
            J[i] *= 1.0 if self.rows[i].kind == LIMIT_LOW else -1.0
        force = self.work.tau.numpy()[:, 0] - bias
        found = Balance(J, M.reshape(self.dofs, self.dofs), force, error, measured, rate, change, drift)
        return self.rotors.added(found, self.work)

    def reactions(
        self, chosen: Sequence[int], lam: np.ndarray, acceleration: np.ndarray | None = None
    ) -> dict[str, Reaction]:
        """What every joint transmits when the chosen rows carry the forces lam, after `balance`; at accelerations of
        the bodies, by default none."""
        impulse = self.state.read("impulse").copy()
        for i, value in zip(chosen, lam, strict=True):
            sign = -1.0 if self.rows[i].kind == LIMIT_HIGH else 1.0
            impulse[self.rows[i].slot] = sign * value
        self.state.write("impulse", impulse)
        inputs = [self.system.arrays, self.state.arrays, self.work]
        launch(reactions_kernel, 1, inputs, self.system.device)
        wrench = self.work.reaction.numpy()[:, 0].copy()
        if acceleration is not None:
            self.rotors.add_reactions(wrench, acceleration)
        index = self.system.joint_index
        return {
            name: Reaction(wrench[index[name], 3:].copy(), wrench[index[name], :3].copy()) for name in self.model.joints
        }

    def joint_positions(self) -> dict[str, float]:
        """Coordinate of every freedom by name, as results call them; after `balance` [m, rad]."""
        values = self.readout.freedoms()[0][:, 0]
        return dict(zip(self.readout.coordinates, map(float, values), strict=True))

    def drive_name(self, row: Row) -> str:
        """What results call the coordinate that a motor or limit row acts on."""
        joint, slot = self.model.joints[row.part], self.system.slots[row.slot]
        group = next(g for g in joint.kind.groups if slot.code in g.freedoms)
        return coordinate_name(joint, group, slot.code)

    def posed_model(self) -> Model:
        """A copy of the model at the present poses."""
        clone = copy_model(self.model)
        for name, p, q in zip(self.bodies, self.positions, self.orientations, strict=True):
            clone.bodies[name] = replace(clone.bodies[name], position=p, orientation=q)
        return clone


def refuse_tyres(what: str, model: Model) -> None:
    """Raise ModelError at tyres: what they carry along the road depends on how they came there."""
    for tyre in model.tyres:
        raise ModelError(f"tyre '{tyre}': has deflections, of which {what} knows nothing; run the model, or remove it")


def copy_model(model: Model) -> Model:
    """A model of its own; what is never changed in place (shapes, profiles, callables) is shared."""
    clone = copy.copy(model)
    clone.ground = replace(model.ground)
    clone.bodies = {name: replace(body) for name, body in model.bodies.items()}
    clone.joints = {
        name: replace(joint, features={group: replace(item) for group, item in joint.features.items()})
        for name, joint in model.joints.items()
    }
    clone.springs = {name: replace(part) for name, part in model.springs.items()}
    clone.loads = {name: replace(part) for name, part in model.loads.items()}
    clone.probes = {name: replace(part) for name, part in model.probes.items()}
    clone.couplings = {name: replace(part) for name, part in model.couplings.items()}
    clone.script = list(model.script)
    return clone


def _take_over(mechanism: Mechanism, world: World) -> None:
    """Pose, whole turns, time, parameters, inputs, hands and loads of a world as it is now."""
    old, new = world.system, mechanism.system
    mechanism.time = world.time
    poses = [np.concatenate([world.body(name).position, world.body(name).orientation]) for name in mechanism.bodies]
    mechanism.state.write("q", np.array(poses).reshape(-1, 1))
    mechanism.state.write("loop_q", world.readout.freedoms()[0])  # in the author's order in both
    _take_parameters(old, new)
    mechanism.rotors.take_over(old)
    new.channels.items = list(old.channels.items)
    _take_hands(mechanism, world)
    bodies = {i: new.body_index[name] for name, i in old.body_index.items()}
    new.load_names = list(old.load_names)
    new.arrays.load_body.assign(np.array([bodies.get(b, b) for b in old.arrays.load_body.numpy()], np.int32))
    new.arrays.load_in_body.assign(old.arrays.load_in_body.numpy())
    new.replace_parameter("load_point", old.parameter("load_point"))
    new.channels.write(new.arrays)
    new.count_live_slots()


def _take_parameters(old: System, new: System) -> None:
    """What may have been set on the running world: of bodies by name, of rows by part, kind and freedom."""
    new.replace_parameter("gravity", old.parameter("gravity"))
    for name in ("mass", "inertia"):
        values = old.parameter(name)
        new.replace_parameter(name, values[[old.body_index[body] for body in new.tree.bodies]])
    places = {(slot.name, slot.kind, slot.code): r for r, slot in enumerate(old.slots)}
    for name in ("slot_a", "slot_b", "slot_c", "slot_d"):
        before, now = old.parameter(name), new.parameter(name)
        for r, slot in enumerate(new.slots):
            if slot.kind != CLOSURE:
                now[r] = before[places[slot.name, slot.kind, slot.code]]
        new.replace_parameter(name, now)


def _take_hands(mechanism: Mechanism, world: World) -> None:
    """Hands hold still where their targets are now."""
    old, new = world.system, mechanism.system
    new.hand_names = list(old.hand_names)
    held, trees = old.arrays.hand_body.numpy().copy(), new.arrays.slot_trees.numpy().copy()
    targets = mechanism.state.read("hand_target").copy()
    for hand, body in enumerate(held):
        if body < 0:
            continue
        held[hand] = new.body_index[old.tree.bodies[body]]
        first = int(old.arrays.hand_channel.numpy()[hand])
        for axis in range(3):
            item = old.channels.items[first + axis]
            value = float(np.ravel(item(world.time) if callable(item) else item)[0])
            new.channels.items[first + axis] = targets[3 * hand + axis] = value
    for r, slot in enumerate(new.slots):
        if slot.kind == HAND and held[slot.part] >= 0:
            trees[r, 0] = held[slot.part]  # every body is a tree of its own
    new.arrays.hand_body.assign(held)
    new.arrays.slot_trees.assign(trees)
    new.replace_parameter("hand_point", old.parameter("hand_point"))
    mechanism.state.write("hand_target", targets)
