"""What follows from poses and twists of a running system: coordinates, errors of locks, springs, points, energy."""

import numpy as np
import warp as wp

from ..author.keyframes import coordinate_name
from ..engine.constrain import compliant
from ..engine.constrain.frames import coordinate, freedom_pair, pair_velocity, point_of
from ..engine.constrain.kinds import is_loss
from ..engine.constrain.locks import closure_angle, lock
from ..engine.coordinates.inertia import twice_kinetic, twice_rotors
from ..engine.ledger import DRAG
from ..engine.spatial import HALF, ZERO, f64, vec3, vec6
from ..engine.state import State, StateArrays, WorkArrays
from ..engine.system import System, SystemArrays
from ..engine.system.measured import ELASTIC, KINETIC, POTENTIAL
from ..engine.system.slots import MOTORS, SPRING
from .reading import Reading


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
    norm: wp.array2d(dtype=f64),  # [1, world]
):
    """Position error of every lock of every joint, from the bodies' poses, and their 2-norm."""
    w = wp.tid()
    square = ZERO
    for k in range(lock_joint.shape[0]):
        angle = closure_angle(m, s, x, lock_joint[k], lock_code[k], lock_q[k], w)
        _, value = lock(m, x, lock_joint[k], lock_code[k], angle, w)
        error[k, w] = value
        square += value * value
    norm[0, w] = wp.sqrt(square)


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


@wp.kernel(enable_backward=False)
def springs_kernel(
    # model
    m: SystemArrays,
    slot: wp.array(dtype=wp.int32),  # [spring]
    # state in
    x: WorkArrays,
    # out
    length: wp.array2d(dtype=f64),  # [spring, world] [m]
    pull: wp.array2d(dtype=f64),  # of spring and damper on their ends [N]
):
    """Springs between points, as `apply_compliance` has them."""
    w = wp.tid()
    for k in range(slot.shape[0]):
        r = slot[k]
        line, far = compliant.spring_pair(m, x, m.slot_part[r], w)
        length[k, w] = far
        stretch = far - compliant.rest(m, r, w)
        pull[k, w] = compliant.stiffness(m, r, w) * stretch + compliant.damper(m, r, w) * pair_velocity(x, line, w)


@wp.kernel(enable_backward=False)
def points_kernel(
    # model
    body: wp.array(dtype=wp.int32),  # [point] -1: ground
    p_BQ: wp.array(dtype=vec3),
    # state in
    x: WorkArrays,
    # out
    p_WQ: wp.array2d(dtype=vec3),  # [point, world]
):
    """World places of points of bodies."""
    w = wp.tid()
    for k in range(body.shape[0]):
        p_WQ[k, w] = point_of(x, body[k], p_BQ[k], w)


@wp.kernel(enable_backward=False)
def kinetic_kernel(
    # model
    m: SystemArrays,
    # state in
    s: StateArrays,
    x: WorkArrays,
    # out
    energy: wp.array2d(dtype=f64),  # [body, world] [J]
):
    """Kinetic energy of every body, with the armature of the joint that carries it."""
    w = wp.tid()
    for i in range(m.parent.shape[0]):
        energy[i, w] = HALF * (twice_kinetic(m, x, i, x.twist[i, w], w) + twice_rotors(m, s.v, i, w))


@wp.kernel(enable_backward=False)
def energies_kernel(
    # model
    m: SystemArrays,
    # state in
    s: StateArrays,
    x: WorkArrays,
    # out
    kinds: wp.array2d(dtype=vec6),  # [1, world] kinetic, potential, elastic, work, loss, imbalance [J]
):
    """The energy books in sums; entry by entry they are in observe/books.py."""
    w = wp.tid()
    work = s.past_hands[0, w] + s.past_parts[0, w] + s.edits[0, w]
    loss = s.past_hands[1, w] + s.past_parts[1, w] + s.clamped[0, w] - s.contact_work[0, w]
    for r in range(m.slot_kind.shape[0]):
        loss += s.loss[r, w] + s.viscous_loss[r, w]
        if is_loss(m, r):
            loss -= s.work[r, w]
        else:
            work += s.work[r, w]
    for k in range(m.load_body.shape[0]):
        work += s.load_work[k, w]
    for k in range(s.fluid_work.shape[0]):
        if k % 3 == DRAG:
            loss += s.fluid_work[k, w]
        else:
            work += s.fluid_work[k, w]
    kinetic = x.energy[KINETIC, w]
    potential = x.energy[POTENTIAL, w]
    elastic = x.energy[ELASTIC, w]
    out = kinetic + potential + elastic - s.start_energy[0, w] - work + loss
    kinds[0, w] = vec6(kinetic, potential, elastic, work, loss, out)


class Readout:
    """Reads joint coordinates and constraint errors of a system's state."""

    def __init__(self, system: System, state: State, work: WorkArrays):
        self._system = system
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
        of_freedoms = [
            self._ints([system.joint_index[name] for name, _ in keys]),
            self._ints([code for _, code in keys]),
            self._ints([system.coordinate[key] for key in keys]),
            self._ints([system.dof.get(key, -1) for key in keys]),
        ]
        locks = [(joint, lock_code) for joint in joints for lock_code in joint.kind.locks]
        self.locks = [(joint.name, code) for joint, code in locks]
        self.lock_names = [name for name, _ in self.locks]
        of_locks = [
            self._ints([system.joint_index[joint.name] for joint, _ in locks]),
            self._ints([lock_code for _, lock_code in locks]),
            self._ints(
                [system.coordinate[joint.name, joint.kind.freedoms[0]] if joint.pitch else 0 for joint, _ in locks]
            ),
        ]
        arrays, q, x = system.arrays, state.arrays, work
        self._freedoms = self._reading(freedoms_kernel, [arrays, *of_freedoms, q, x], *[(len(keys), f64)] * 2)
        self._locks = self._reading(constraint_error_kernel, [arrays, *of_locks, q, x], (len(locks), f64), (1, f64))
        springs = [r for r, slot in enumerate(system.slots) if slot.kind == SPRING]
        self._springs = self._reading(springs_kernel, [arrays, self._ints(springs), x], *[(len(springs), f64)] * 2)
        probes = system.model.probes.values()
        at = np.array([probe.p_BQ for probe in probes]).reshape(-1, 3)
        where = self._ints([system.body_index.get(probe.body, -1) for probe in probes])
        points = wp.array(at, dtype=vec3, device=system.device, shape=(len(at),))
        self._points = self._reading(points_kernel, [where, points, x], (len(at), vec3))
        self._energies = self._reading(energies_kernel, [arrays, q, x], (1, vec6))
        self._kinetic = self._reading(kinetic_kernel, [arrays, q, x], (system.counts.bodies, f64))

    def _ints(self, values: list[int]) -> wp.array:
        return wp.array(np.array(values, np.int32), dtype=wp.int32, device=self._system.device, shape=(len(values),))

    def _reading(self, kernel: wp.Kernel, inputs: list, *out: tuple[int, type]) -> Reading:
        """Of a kernel that writes arrays [row, world] of so many rows."""
        worlds, device = self._system.counts.worlds, self._system.device
        made = [wp.zeros((rows, worlds), dtype=dtype, device=device) for rows, dtype in out]
        return Reading(kernel, worlds, inputs, made)

    def freedoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of every freedom [freedom, world]."""
        position, velocity = self._freedoms.read()
        return position, velocity

    @property
    def freedom_reading(self) -> Reading:
        """What reads them, for who goes on with them on the device."""
        return self._freedoms

    @property
    def energy_reading(self) -> Reading:
        """What reads the sums of the energy books, likewise."""
        return self._energies

    @property
    def lock_reading(self) -> Reading:
        """What reads errors of locks, likewise."""
        return self._locks

    @property
    def lock_array(self) -> wp.array:
        """Where `lock_errors` leaves them, on the device."""
        return self._locks.out[0]

    def lock_errors(self) -> np.ndarray:
        """Position error of every lock of every joint [lock, world]."""
        return self._locks.read()[0]

    def constraint_errors(self) -> np.ndarray:
        """2-norm of these [1, world]."""
        return self._locks.read()[1]

    def energies(self) -> np.ndarray:
        """Kinetic, potential, elastic, work, loss, imbalance [1, world, kind] [J]."""
        return self._energies.read()[0]

    def springs(self) -> tuple[np.ndarray, np.ndarray]:
        """Length [m] and pull [N] of every spring between points [spring, world]."""
        length, pull = self._springs.read()
        return length, pull

    def points(self) -> np.ndarray:
        """World places of the probes [probe, world, axis] [m]."""
        return self._points.read()[0]

    def kinetic(self) -> np.ndarray:
        """Kinetic energy of every body [body, world] [J]."""
        return self._kinetic.read()[0]


__all__ = ["Readout", "coordinate_name"]
