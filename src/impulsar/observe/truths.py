"""What sensors measure, by kernels: encoders, IMUs, forces and torques, switches, rays and pictures.

Each truth is some readings, launched one after the other, of which the last writes value [channel, world]. Those that
several sensors need at one time, coordinates, accelerations, reactions and places of shapes, are named as needs and
launched once. Nothing here comes back to the host, so that a relay can take samples between two steps of a launch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..author.sensors import Camera, Encoder, ForceTorque, Imu, Lidar, OnBody, Proximity, Sensor, Touch
from ..engine.spatial import ONE, ZERO, angular, f64, linear, quat, vec3, vec6
from ..engine.state import CONTACT_NUMBERS, StateArrays, WorkArrays
from ..engine.state import Contact as At
from ..engine.system import SystemArrays
from .rays import Shapes, strike
from .reading import Reading

if TYPE_CHECKING:
    from .bench import Bench

NUMBERS = wp.constant(CONTACT_NUMBERS)
IMPULSE, ON_FIRST, ON_SECOND = (wp.constant(int(x)) for x in (At.impulse, At.on_first, At.on_second))


@dataclass(frozen=True)
class Truth:
    """What measures a sensor: what it needs, and its own launches."""

    needs: tuple[str, ...]
    readings: tuple[Reading, ...]


@wp.func
def turn_of(x: WorkArrays, body: int, w: int) -> quat:
    if body < 0:
        return quat(ZERO, ZERO, ZERO, ONE)
    return x.q_WB[body, w]


@wp.func
def eye_of(x: WorkArrays, body: int, at: vec3, w: int) -> vec3:
    """Where a point of a body is; of the ground where body < 0."""
    if body < 0:
        return at
    return x.p_WB[body, w] + wp.quat_rotate(x.q_WB[body, w], at)


@wp.kernel(enable_backward=False)
def encoder_kernel(
    row: wp.int32,
    position: wp.array2d(dtype=f64),  # [freedom, world]
    velocity: wp.array2d(dtype=f64),
    # out
    value: wp.array2d(dtype=f64),
):
    w = wp.tid()
    value[0, w] = position[row, w]
    value[1, w] = velocity[row, w]


@wp.kernel(enable_backward=False)
def imu_kernel(
    # model
    m: SystemArrays,
    body: wp.int32,  # -1: the ground
    at: vec3,
    turn: quat,
    # state in
    x: WorkArrays,
    acceleration: wp.array2d(dtype=vec6),  # [body, world] of the instant
    # out
    value: wp.array2d(dtype=f64),
):
    """f = Rᵀ(a + ω̇ × r + ω × (ω × r) - g), and Rᵀ ω."""
    w = wp.tid()
    q = turn_of(x, body, w) * turn
    a = vec3(ZERO, ZERO, ZERO)
    spin = vec3(ZERO, ZERO, ZERO)
    if body >= 0:
        r = wp.quat_rotate(x.q_WB[body, w], at)
        A = acceleration[body, w]
        spin = angular(x.twist[body, w])
        a = linear(A) + wp.cross(angular(A), r) + wp.cross(spin, wp.cross(spin, r))
    force = wp.quat_rotate_inv(q, a - m.gravity[0, w])
    rate = wp.quat_rotate_inv(q, spin)
    for k in range(3):
        value[k, w] = force[k]
        value[3 + k, w] = rate[k]


@wp.kernel(enable_backward=False)
def force_kernel(
    # model
    row: wp.int32,  # of the reactions
    body: wp.int32,
    arm: vec3,  # from the point to the joint, in the body
    of_body: wp.int32,  # 1: along the axes of the body
    # state in
    x: WorkArrays,
    reaction: wp.array2d(dtype=vec6),
    # out
    value: wp.array2d(dtype=f64),
):
    """What a joint transmits, about a point: τ_Q = τ_M + p_QM × f."""
    w = wp.tid()
    q = turn_of(x, body, w)
    force = linear(reaction[row, w])
    torque = angular(reaction[row, w]) + wp.cross(wp.quat_rotate(q, arm), force)
    if of_body != 0:
        force = wp.quat_rotate_inv(q, force)
        torque = wp.quat_rotate_inv(q, torque)
    for k in range(3):
        value[k, w] = force[k]
        value[3 + k, w] = torque[k]


@wp.kernel(enable_backward=False)
def touch_kernel(
    # model
    m: SystemArrays,
    body: wp.int32,
    threshold: f64,
    # state in
    s: StateArrays,
    # out
    value: wp.array2d(dtype=f64),
):
    """Whether contacts push a body by more than so much, mean over the last step."""
    w = wp.tid()
    last = s.last_h[0, w]
    if last <= ZERO:
        last = m.h[0]
    total = vec3(ZERO, ZERO, ZERO)
    count = int(0)
    if s.contact.shape[0] > 0:
        count = int(s.contact[0, w])
    for i in range(count):
        k = 1 + NUMBERS * i
        push = vec3(s.contact[k + IMPULSE, w], s.contact[k + IMPULSE + 1, w], s.contact[k + IMPULSE + 2, w]) / last
        if int(s.contact[k + ON_FIRST, w]) == body:
            total = total - push
        if int(s.contact[k + ON_SECOND, w]) == body:
            total = total + push
    value[0, w] = ZERO
    if wp.length(total) > threshold:
        value[0, w] = ONE


@wp.kernel(enable_backward=False)
def ray_kernel(
    # model
    g: Shapes,
    body: wp.int32,
    at: vec3,
    turn: quat,
    ray: wp.array(dtype=vec3),  # [ray] unit vectors in the sensor's frame
    distance: f64,  # > 0: of a switch
    # state in
    x: WorkArrays,
    # out
    value: wp.array2d(dtype=f64),  # [ray, world]
):
    """Distances along rays, or whether something is nearer."""
    i, w = wp.tid()
    d = wp.quat_rotate(turn_of(x, body, w) * turn, ray[i])
    h = strike(g, body, eye_of(x, body, at, w), d, w)
    if distance <= ZERO:
        value[i, w] = h.s
    elif h.s < distance:
        value[i, w] = ONE
    else:
        value[i, w] = ZERO


@wp.kernel(enable_backward=False)
def eye_kernel(
    # model
    body: wp.int32,
    at: vec3,
    turn: quat,
    # state in
    x: WorkArrays,
    # out
    p: wp.array(dtype=vec3),  # [world]
    q: wp.array(dtype=quat),
):
    """Where a camera is, and how it is turned."""
    w = wp.tid()
    p[w] = eye_of(x, body, at, w)
    q[w] = turn_of(x, body, w) * turn


class Needs:
    """What several sensors of a bench need: launches by name, and what the host does before them."""

    def __init__(self, bench: "Bench"):
        self._bench = bench

    @cached_property
    def freedoms(self) -> list[Reading]:
        """Coordinates and rates."""
        return [self._bench.readout.freedom_reading]

    @cached_property
    def instant(self) -> list[Reading]:
        """Accelerations of this moment."""
        return self._bench.instant.readings()

    @cached_property
    def reactions(self) -> list[Reading]:
        """Forces of joints, of redundant ones the least."""
        return self._bench.forces.reaction_readings()

    @cached_property
    def shapes(self) -> list[Reading]:
        """Where shapes are."""
        return self._bench.rays.readings()

    def prepare(self, names: Sequence[str]) -> None:
        """What the host has to do before these are launched."""
        if "instant" in names:
            self._bench.instant.prepare()


def truth_of(bench: "Bench", sensor: Sensor, value: wp.array) -> Truth | None:
    """What measures a sensor on the device; None: the host reads it."""
    make = TRUTHS.get(type(sensor))
    return None if make is None else make(bench, sensor, value)


def encoder_row(bench: "Bench", sensor: Encoder) -> int:
    """The coordinate that an encoder counts."""
    rows = bench.readout.rows[sensor.joint]
    names = [bench.readout.coordinates[row] for row in rows]
    wanted = f"{sensor.joint}.{sensor.coordinate}"
    return rows[names.index(wanted)] if len(rows) > 1 else rows[0]


def _place(bench: "Bench", sensor: OnBody) -> list[Any]:
    """Body, place and orientation in it, as kernels take them."""
    return [bench.system.body_index.get(sensor.body, -1), vec3(*sensor.at), quat(*sensor.orientation)]


def _encoder(bench: "Bench", sensor: Encoder, value: wp.array) -> Truth:
    given = [encoder_row(bench, sensor), *bench.readout.freedom_reading.out]
    return Truth(("freedoms",), (Reading(encoder_kernel, value.shape[1], given, [value]),))


def _imu(bench: "Bench", sensor: Imu, value: wp.array) -> Truth:
    given = [bench.system.arrays, *_place(bench, sensor), bench.work, bench.instant.acceleration]
    return Truth(("instant",), (Reading(imu_kernel, value.shape[1], given, [value]),))


def _force_torque(bench: "Bench", sensor: ForceTorque, value: wp.array) -> Truth:
    joint, forces = bench.system.model.joints[sensor.joint], bench.forces
    arm = np.zeros(3) if sensor.at is None else np.asarray(joint.p_CM, float) - sensor.at
    row = list(bench.system.model.joints).index(sensor.joint)
    row = row if forces.chooses else bench.system.joint_index[sensor.joint]
    of = [row, bench.system.body_index.get(joint.second, -1), vec3(*arm), int(sensor.frame == "body")]
    given = [*of, bench.work, forces.reaction_array]
    return Truth(("reactions",), (Reading(force_kernel, value.shape[1], given, [value]),))


def _touch(bench: "Bench", sensor: Touch, value: wp.array) -> Truth:
    body = bench.system.body_index.get(sensor.body, -1)
    given = [bench.system.arrays, body, f64(sensor.threshold), bench.state.arrays]
    return Truth((), (Reading(touch_kernel, value.shape[1], given, [value]),))


def _rays(bench: "Bench", sensor: OnBody, rays: np.ndarray, distance: float, value: wp.array) -> Truth:
    along = wp.array(rays, dtype=vec3, device=value.device)
    given = [bench.rays.shapes_there, *_place(bench, sensor), along, f64(distance), bench.work]
    return Truth(("shapes",), (Reading(ray_kernel, value.shape, given, [value]),))


def _lidar(bench: "Bench", sensor: Lidar, value: wp.array) -> Truth:
    return _rays(bench, sensor, sensor.rays(), 0.0, value)


def _proximity(bench: "Bench", sensor: Proximity, value: wp.array) -> Truth:
    return _rays(bench, sensor, np.array([[1.0, 0.0, 0.0]]), sensor.distance, value)


def _camera(bench: "Bench", sensor: Camera, value: wp.array) -> Truth:
    from .pictures import picture_reading  # whose kernel is compiled where a camera is

    worlds, device = value.shape[1], value.device
    eye = [wp.zeros(worlds, dtype=kind, device=device) for kind in (vec3, quat)]
    where = Reading(eye_kernel, worlds, [*_place(bench, sensor), bench.work], eye)
    return Truth(("shapes",), (where, picture_reading(bench, sensor, eye, value)))


TRUTHS: dict[type, Callable[[Any, Any, wp.array], Truth]] = {
    Encoder: _encoder,
    Imu: _imu,
    ForceTorque: _force_torque,
    Touch: _touch,
    Lidar: _lidar,
    Proximity: _proximity,
    Camera: _camera,
}
