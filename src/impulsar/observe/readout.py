"""Joint coordinates and errors of locks, read from a running system."""

import numpy as np
import warp as wp

from ..author.joints import Group
from ..author.parts import Joint
from ..engine.constrain.frames import coordinate, freedom_pair, pair_velocity
from ..engine.constrain.locks import closure_angle, lock
from ..engine.spatial import f64
from ..engine.state import State, StateArrays, WorkArrays
from ..engine.system import System, SystemArrays
from ..engine.system.slots import MOTORS


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
