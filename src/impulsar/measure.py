"""Energy books, constraint error and the step report: what a step did, measured.

Books (Mariti 2012 eq. 28): every entry is integrated from its own force and velocity. An impulse p of
a row whose velocity goes from u₋ to u₊ does the work p (u₋ + u₊) / 2, exactly, in the geometry of the
step. A hand works by its force times its own velocity; what its damper and spring take is booked from
their own laws. The imbalance

    kinetic + potential + elastic - start - work + losses

is the error of the integration: nothing is computed as the remainder of the rest.
"""

import numpy as np
import warp as wp

from .constrain.accelerations import row_target_rate
from .constrain.frames import coordinate, freedom_pair, pair_velocity, point_of
from .constrain.joints import closure_angle, lock
from .constrain.rows import hand_target, spring_pair
from .coordinates.generalized import row_velocity
from .joints import Group
from .model import Joint
from .spatial import HALF, ONE, UNLIMITED, ZERO, angular, f64, linear
from .state import State, StateArrays, WorkArrays
from .system import System, SystemArrays
from .system.slots import CLOSURE, COMPLIANCE, COUPLING, HAND, MOTOR_TORQUE, MOTORS, SPRING

KINETIC, POTENTIAL, ELASTIC = 0, 1, 2

# Rows of WorkArrays.report, over the steps of one launch.
ITERATIONS, TOTAL_ITERATIONS, MOST_ITERATIONS = 0, 1, 2
ENDED_BY_LIMIT = 3  # steps that the iteration limit ended
POSITION_RESIDUAL, POSITION_SLOT = 4, 5  # worst bilateral row before the last step's correction
VELOCITY_RESIDUAL, VELOCITY_SLOT = 6, 7  # worst bilateral row after the last step's solve
ROWS = 8  # in the last step
SUB_STEPS = 10  # of an error-controlled method
BROKEN = 9  # 0, or why the step could not be taken:
NOT_FINITE, FORCES, UNDERFLOW, WORK, TORN = 1, 2, 3, 4, 5
COARSE = 11  # tolerance of what was left of steps that the limit of work ended; infinity: by impulses
IMBALANCE = 12  # of the books, of all energy that was turned over
FASTEST = 13  # spin of a body at the end [rad/s]


@wp.func(inline=False)
def measure_energy(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Kinetic, potential (zero at the origin) and elastic energy [J]."""
    kinetic = ZERO
    potential = ZERO
    fastest = ZERO
    whole = ZERO
    g = m.gravity[0, w]
    for i in range(m.parent.shape[0]):
        V = x.twist[i, w]
        mass = m.mass[i, w]
        v = linear(V)
        omega = angular(V)
        whole += mass
        fastest = wp.max(fastest, wp.dot(omega, omega))
        kinetic += HALF * (mass * wp.dot(v, v) + wp.dot(omega, x.I_W[i, w] * omega))
        potential -= mass * wp.dot(g, x.p_WB[i, w])
    elastic = ZERO
    for r in range(m.slot_kind.shape[0]):
        stretch = spring_stretch(m, s, x, r, w)
        elastic += HALF * m.slot_a[r, w] * stretch * stretch
    x.energy[KINETIC, w] = kinetic
    x.energy[POTENTIAL, w] = potential
    x.energy[ELASTIC, w] = elastic
    x.report[FASTEST, w] = wp.sqrt(fastest)
    fall = whole * wp.length(g) * m.size[0]
    x.report[IMBALANCE, w] = relative_imbalance(m, s, kinetic, potential, elastic, fall, w)


@wp.func
def relative_imbalance(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    kinetic: f64,
    potential: f64,
    elastic: f64,
    fall: f64,
    w: int,
) -> f64:
    """What the books are out by, of all that was turned over and of a fall by the mechanism's size."""
    out = kinetic + potential + elastic - s.start_energy[0, w] - s.edits[0, w] + s.clamped[0, w]
    out += s.past_hands[1, w] + s.past_parts[1, w] - s.past_hands[0, w] - s.past_parts[0, w]
    turned = kinetic + elastic + wp.abs(s.edits[0, w]) + wp.abs(s.past_hands[0, w]) + wp.abs(s.past_parts[0, w])
    for r in range(m.slot_kind.shape[0]):
        lost = s.loss[r, w] + s.viscous_loss[r, w]
        out += lost - s.work[r, w]
        turned += wp.abs(lost) + wp.abs(s.work[r, w])
    for k in range(m.load_body.shape[0]):
        out -= s.load_work[k, w]
        turned += wp.abs(s.load_work[k, w])
    turned += fall
    if wp.abs(out) <= f64(1e-12) * (wp.abs(potential) + wp.abs(s.start_energy[0, w])) + turned * f64(1e-15):
        return ZERO
    return out / (turned + wp.abs(out))


@wp.func
def spring_stretch(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Stretch of a slot's spring [m, rad]; 0 where the slot has none."""
    kind = m.slot_kind[r]
    part = m.slot_part[r]
    code = m.slot_code[r]
    if kind == COMPLIANCE:
        return coordinate(m, s, x, part, code, m.slot_q[r], w) - m.slot_c[r, w]
    if kind == SPRING:
        _, far = spring_pair(m, x, part, w)
        return far - m.slot_c[r, w]
    if kind == HAND and m.hand_body[part] >= 0:
        tip = point_of(x, m.hand_body[part], m.hand_point[part, w], w)
        return tip[code] - s.hand_target[3 * part + code, w]
    return ZERO


@wp.func
def book_row(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int):
    """Work and losses of one row over the step, before positions move."""
    kind = m.slot_kind[r]
    if kind == CLOSURE or kind == COUPLING:
        return
    u = row_velocity(m, x, s.v, r, w)
    u_old = row_velocity(m, x, x.v_old, r, w)
    mean = HALF * (u + u_old)
    damped = u - HALF * (ONE - x.row_late[r, w]) * (u - u_old)  # the velocity that a damper felt
    p = s.impulse[r, w]
    if kind == HAND:
        hand = m.slot_part[r]
        axis = m.slot_code[r]
        moved = hand_target(m, s, hand, axis, t + h, w) - hand_target(m, s, hand, axis, t, w)
        s.work[r, w] = s.work[r, w] + p / h * moved
        s.loss[r, w] = s.loss[r, w] + m.slot_b[r, w] * (h * damped - moved) * (mean - moved / h)
    elif kind == SPRING or kind == COMPLIANCE:
        s.loss[r, w] = s.loss[r, w] + h * m.slot_b[r, w] * damped * mean
        if kind == COMPLIANCE:
            s.viscous_loss[r, w] = s.viscous_loss[r, w] + h * m.slot_d[r, w] * damped * mean
    else:
        s.work[r, w] = s.work[r, w] + p * mean


@wp.func(inline=False)
def book_rows(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, t: f64, h: f64, w: int
):
    """Book the rows of a step h from time t."""
    for a in range(rows):
        book_row(m, s, x, x.active[a, w], t, h, w)
    for r in range(m.slot_kind.shape[0]):
        if m.slot_kind[r] == MOTOR_TORQUE:
            book_row(m, s, x, r, t, h, w)


@wp.func
def start_report(x: wp.ref[WorkArrays], w: int):
    for k in range(x.report.shape[0]):
        x.report[k, w] = ZERO


@wp.func
def finite_or_infinite(error: f64) -> f64:
    """A residual that is no number is no small one."""
    if wp.isfinite(error):
        return error
    return f64(wp.inf)


@wp.func
def report_step(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    s: wp.ref[StateArrays],
    rows: int,
    iterations: int,
    limit: int,
    w: int,
):
    """Add a step to the report: iterations, what ended it, residuals of the bilateral rows."""
    n = f64(iterations)
    x.report[ITERATIONS, w] = n
    x.report[TOTAL_ITERATIONS, w] = x.report[TOTAL_ITERATIONS, w] + n
    x.report[MOST_ITERATIONS, w] = wp.max(x.report[MOST_ITERATIONS, w], n)
    if iterations >= limit and rows > 0:
        x.report[ENDED_BY_LIMIT, w] = x.report[ENDED_BY_LIMIT, w] + f64(1.0)
    x.report[ROWS, w] = f64(rows)
    position = ZERO
    velocity = ZERO
    for a in range(rows):
        r = x.active[a, w]
        if x.row_low[r, w] <= -UNLIMITED and x.row_softness[r, w] == ZERO:
            error = finite_or_infinite(wp.abs(x.row_error[r, w]))
            if error >= position:
                position = error
                x.report[POSITION_SLOT, w] = f64(r)
            rate = finite_or_infinite(wp.abs(row_velocity(m, x, s.v, r, w) + x.row_bias[r, w]))
            if rate >= velocity:
                velocity = rate
                x.report[VELOCITY_SLOT, w] = f64(r)
    x.report[POSITION_RESIDUAL, w] = position
    x.report[VELOCITY_RESIDUAL, w] = velocity


@wp.func
def report_substeps(x: wp.ref[WorkArrays], sub_steps: int, evaluations: int, cut: int, coarse: f64, w: int):
    """Add a nominal step of an error-controlled method: evaluations count as iterations."""
    n = f64(evaluations)
    x.report[ITERATIONS, w] = n
    x.report[TOTAL_ITERATIONS, w] = x.report[TOTAL_ITERATIONS, w] + n
    x.report[MOST_ITERATIONS, w] = wp.max(x.report[MOST_ITERATIONS, w], n)
    x.report[SUB_STEPS, w] = x.report[SUB_STEPS, w] + f64(sub_steps)
    if cut != 0:
        x.report[ENDED_BY_LIMIT, w] = x.report[ENDED_BY_LIMIT, w] + f64(1.0)
    x.report[COARSE, w] = wp.max(x.report[COARSE, w], coarse)


@wp.func
def report_velocities(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Worst velocity error of the rows of a direct solve whose J is filled."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            error = wp.abs(row_velocity(m, x, s.v, r, w) - row_target_rate(m, r, t, w))
            if error > x.report[VELOCITY_RESIDUAL, w]:
                x.report[VELOCITY_RESIDUAL, w] = error
                x.report[VELOCITY_SLOT, w] = f64(r)


@wp.func
def check_finite(x: wp.ref[WorkArrays], w: int):
    """Mark the report once the energy is no longer a number: what is not finite stays so."""
    if not (wp.isfinite(x.energy[KINETIC, w]) and wp.isfinite(x.energy[POTENTIAL, w])):
        x.report[BROKEN, w] = wp.max(x.report[BROKEN, w], f64(NOT_FINITE))


@wp.kernel(enable_backward=False)
def constraint_error_kernel(
    # model
    m: SystemArrays,
    lock_joint: wp.array(dtype=wp.int32),  # every lock of every joint, of the tree too
    lock_code: wp.array(dtype=wp.int32),
    lock_q: wp.array(dtype=wp.int32),
    # state in
    s: StateArrays,
    x: WorkArrays,
    # out
    error: wp.array2d(dtype=f64),  # [lock, world]
):
    """Position error of every lock of every joint, from the bodies' poses."""
    w = wp.tid()
    for k in range(lock_joint.shape[0]):
        angle = closure_angle(m, s, x, lock_joint[k], lock_code[k], lock_q[k], w)
        _, value = lock(m, x, lock_joint[k], lock_code[k], angle, w)
        error[k, w] = value


@wp.kernel(enable_backward=False)
def freedoms_kernel(
    # model
    m: SystemArrays,
    joint: wp.array(dtype=wp.int32),  # every freedom of every authored joint
    code: wp.array(dtype=wp.int32),
    where: wp.array(dtype=wp.int32),
    dof: wp.array(dtype=wp.int32),
    # state in
    s: StateArrays,
    x: WorkArrays,
    # out
    position: wp.array2d(dtype=f64),  # [freedom, world]
    velocity: wp.array2d(dtype=f64),
):
    """Coordinate and rate of every freedom, of tree and loop joints alike."""
    w = wp.tid()
    for k in range(joint.shape[0]):
        position[k, w] = coordinate(m, s, x, joint[k], code[k], where[k], w)
        if dof[k] >= 0:
            velocity[k, w] = s.v[dof[k], w]
        else:
            velocity[k, w] = pair_velocity(x, freedom_pair(m, x, joint[k], code[k], w), w)


class Readout:
    """Reads joint coordinates and constraint errors of a system's state."""

    def __init__(self, system: System, state: State, work: WorkArrays):
        self._system, self._state, self._work = system, state, work
        joints = system.model.joints.values()
        freedoms = [(joint, group, code) for joint in joints for group in joint.kind.groups for code in group.freedoms]
        self.coordinates = [coordinate_name(joint, group, code) for joint, group, code in freedoms]
        self.coordinate_units = [group.unit for _, group, _ in freedoms]
        self.rows: dict[str, list[int]] = {joint.name: [] for joint in joints}
        for k, (joint, _, _) in enumerate(freedoms):
            self.rows[joint.name].append(k)
        keys = [(joint.name, code) for joint, _, code in freedoms]
        self.motor_slots = (
            [
                next(
                    (r for r, slot in enumerate(system.slots) if slot.kind in MOTORS and (slot.name, slot.code) == key),
                    -1,
                )
                for key in keys
            ]
            if any(slot.kind in MOTORS for slot in system.slots)
            else [-1] * len(keys)
        )
        self._freedoms = [
            self._ints([system.joint_index[name] for name, _ in keys]),
            self._ints([code for _, code in keys]),
            self._ints([system.coordinate[key] for key in keys]),
            self._ints([system.dof.get(key, -1) for key in keys]),
        ]
        locks = [(joint, lock_code) for joint in joints for lock_code in joint.kind.locks]
        self.locks = [(joint.name, code) for joint, code in locks]
        self.lock_names = [name for name, _ in self.locks]
        self._locks = [
            self._ints([system.joint_index[joint.name] for joint, _ in locks]),
            self._ints([lock_code for _, lock_code in locks]),
            self._ints(
                [system.coordinate[joint.name, joint.kind.freedoms[0]] if joint.pitch else 0 for joint, _ in locks]
            ),
        ]
        worlds, device = system.counts.worlds, system.device
        self._position = wp.zeros((len(keys), worlds), dtype=f64, device=device)
        self._velocity = wp.zeros((len(keys), worlds), dtype=f64, device=device)
        self._error = wp.zeros((len(locks), worlds), dtype=f64, device=device)

    def _ints(self, values: list[int]) -> wp.array:
        return wp.array(np.array(values, np.int32), dtype=wp.int32, device=self._system.device, shape=(len(values),))

    def freedoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of every freedom [freedom, world]."""
        inputs = [self._system.arrays, *self._freedoms, self._state.arrays, self._work, self._position, self._velocity]
        wp.launch(freedoms_kernel, self._system.counts.worlds, inputs=inputs, device=self._system.device)
        return self._position.numpy(), self._velocity.numpy()

    def lock_errors(self) -> np.ndarray:
        """Position error of every lock of every joint [lock, world]."""
        inputs = [self._system.arrays, *self._locks, self._state.arrays, self._work, self._error]
        wp.launch(constraint_error_kernel, self._system.counts.worlds, inputs=inputs, device=self._system.device)
        return self._error.numpy()


def coordinate_name(joint: Joint, group: Group, code: int) -> str:
    """How results call a freedom: the joint's name, with the group's where it has several."""
    name = joint.name if len(joint.kind.groups) == 1 else f"{joint.name}.{group.name}"
    return f"{name}.{'xyz'[group.freedoms.index(code)]}" if group.is_ball else name
