"""Freedoms of joints: pose, axes, rate, retraction and coordinate of every code of author/joints.py.

The only ifs on codes of freedoms. M's pose in F is built freedom by freedom, in the order of the joint's catalogue:

    code            coordinates      pose of M in F                            axes of its rate
    SLIDE_X, Y, Z   1 [m]            along an axis of F                        slide along it
    TURN_Z          1 [rad]          about z                                   turn z_F
    TURN_X          1 [rad]          about x, after TURN_Z                     turn x_M
    SCREW           1 [rad]          about z, pitch · angle along it           turn z_F, slide pitch z_F
    BALL_X, Y, Z    4 and 0 and 0    a quaternion                              turn about an axis of F

TWIST and SWING are measured on a ball and have no coordinates. These maps know no arrays: kernels call them from
coordinates/, constrain/ and integrate/, and the host by the small kernels at the end, since what a system is built
from and an edit carries over must be what a step makes of it.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import warp as wp

from ..author.joints import BALL_X, BALL_Z, SCREW, SLIDE_Z, SWING, TURN_X, TURN_Z, TWIST
from .launch import launch
from .spatial import (
    HALF,
    ONE,
    TWO,
    ZERO,
    axis_of,
    column,
    exp_rotation,
    f64,
    mat33,
    nearest_turn,
    normalize_rotation,
    quat,
    rotation_vector,
    vec3,
    zero3,
)

OVER = wp.constant(wp.float64(0.25))  # square of the cosine of half the angle from F's z to M's: 120 degrees


@wp.func
def coordinates_of(code: int) -> int:
    """How many coordinates a freedom has; those of a ball are counted at its first."""
    if code < BALL_X or code == SCREW:
        return 1
    if code == BALL_X:
        return 4
    return 0


@wp.func
def is_slide(code: int) -> bool:
    return code <= SLIDE_Z


@wp.func
def is_ball(code: int) -> bool:
    """One of the three of a ball; it is number code - BALL_X of them."""
    return code >= BALL_X and code <= BALL_Z


@wp.func
def is_turn(code: int) -> bool:
    """A rotation that leaves M's origin where it is."""
    return code >= TURN_Z and code <= BALL_Z


@wp.func
def counts_turns(code: int) -> bool:
    """An angle of which whole turns are counted."""
    return code > SLIDE_Z and (code < BALL_X or code > BALL_Z)


@wp.func
def is_measured(code: int) -> bool:
    """A coordinate that is not among those of the state, but measured on a ball."""
    return is_ball(code) or code == TWIST or code == SWING


@wp.func
def turns_with_second(code: int) -> bool:
    """A freedom whose axis is fixed in M."""
    return code == TURN_X


@wp.func
def add_freedom_pose(code: int, value: f64, pitch: f64, p_FM: vec3, q_FM: quat):
    """Pose of M in F after one more freedom with one coordinate."""
    p = p_FM
    q = q_FM
    if code <= SLIDE_Z:
        p[code] = value
    else:
        half = HALF * value
        if code == TURN_X:
            q = q_FM * quat(wp.sin(half), ZERO, ZERO, wp.cos(half))
        else:
            q = quat(ZERO, ZERO, wp.sin(half), wp.cos(half))
            if code == SCREW:
                p[2] = pitch * value
    return p, q


@wp.func
def freedom_axes(code: int, pitch: f64, R_WF: mat33, q_FM: quat):
    """Angular and linear direction of a freedom in world axes, at M's origin."""
    turn = zero3()
    slide = zero3()
    if code <= SLIDE_Z:
        slide = column(R_WF, code)
    elif code == TURN_X:
        turn = R_WF * wp.quat_rotate(q_FM, axis_of(0))
    elif code >= BALL_X and code <= BALL_Z:
        turn = column(R_WF, code - BALL_X)
    else:
        turn = column(R_WF, 2)
        if code == SCREW:
            slide = pitch * turn
    return turn, slide


@wp.func
def rate_axes(code: int, q_WF: quat, q_WM: quat):
    """Wrench at M's origin whose power is the rate of a coordinate: turn and slide in world axes."""
    turn = zero3()
    slide = zero3()
    if code <= SLIDE_Z:
        slide = wp.quat_rotate(q_WF, axis_of(code))
    elif code == TURN_X:
        turn = wp.quat_rotate(q_WM, axis_of(0))
    elif code >= BALL_X and code <= BALL_Z:
        turn = wp.quat_rotate(q_WF, axis_of(code - BALL_X))
    else:
        z_F = wp.quat_rotate(q_WF, axis_of(2))
        if code == TWIST:
            # twist rate = w · (z_F + z_M) / (1 + z_F · z_M)
            z_M = wp.quat_rotate(q_WM, axis_of(2))
            turn = (z_F + z_M) / wp.max(ONE + wp.dot(z_F, z_M), f64(1e-9))
        elif code == SWING:
            turn = wp.normalize(wp.cross(z_F, wp.quat_rotate(q_WM, axis_of(2))))
        else:
            turn = z_F
    return turn, slide


@wp.func
def coordinate_of(code: int, p_FM: vec3, q_FM: quat) -> f64:
    """Coordinate of a freedom from M's pose in F; an angle within half a turn of zero."""
    if code <= SLIDE_Z:
        return p_FM[code]
    if code >= BALL_X and code <= BALL_Z:
        return rotation_vector(q_FM)[code - BALL_X]
    if code == SWING:
        z_M = wp.quat_rotate(q_FM, axis_of(2))
        return wp.atan2(wp.sqrt(z_M[0] * z_M[0] + z_M[1] * z_M[1]), z_M[2])
    if code == TURN_X:
        # R = Rz Rx: the second angle stands in the last row of R
        return wp.atan2(wp.quat_rotate(q_FM, axis_of(1))[2], wp.quat_rotate(q_FM, axis_of(2))[2])
    if code == TURN_Z and q_FM[2] * q_FM[2] + q_FM[3] * q_FM[3] < OVER:
        # and the first in its first column; the quaternion loses it where the second has turned M over
        x_M = wp.quat_rotate(q_FM, axis_of(0))
        return wp.atan2(x_M[1], x_M[0])
    return nearest_turn(TWO * wp.atan2(q_FM[2], q_FM[3]), ZERO)  # TURN_Z, SCREW, TWIST


@wp.func
def quaternion_rate(q: quat, w_F: vec3) -> quat:
    """q̇ of a ball that turns at w_F, in F's axes."""
    rate = quat(w_F[0], w_F[1], w_F[2], ZERO) * q
    return quat(HALF * rate[0], HALF * rate[1], HALF * rate[2], HALF * rate[3])


@wp.func
def retract_ball(q: quat, turn: vec3) -> quat:
    """q ⊕ turn: a ball turned on by a rotation vector in F's axes [rad]."""
    return normalize_rotation(exp_rotation(turn) * q)


# The same for loops of the host, where every call of a kernel's function takes 25 us.
code_coordinates = cache(coordinates_of)
code_slides = cache(is_slide)
code_counts_turns = cache(counts_turns)


@wp.kernel(enable_backward=False)
def coordinates_kernel(
    joint: wp.array(dtype=wp.int32),  # [freedom]
    code: wp.array(dtype=wp.int32),
    p_FM: wp.array2d(dtype=vec3),  # [joint, world]
    q_FM: wp.array2d(dtype=quat),
    # out
    values: wp.array2d(dtype=f64),  # [freedom, world]
):
    """Coordinates of freedoms from the poses of joints."""
    k, w = wp.tid()
    values[k, w] = coordinate_of(code[k], p_FM[joint[k], w], q_FM[joint[k], w])


@wp.kernel(enable_backward=False)
def pose_kernel(
    code: wp.array(dtype=wp.int32),  # [freedom]
    values: wp.array2d(dtype=f64),  # [coordinate, world]
    pitch: f64,
    # out
    p_FM: wp.array(dtype=vec3),  # [world]
    q_FM: wp.array(dtype=quat),
):
    """Pose of a joint from its coordinates."""
    w = wp.tid()
    p = zero3()
    q = quat(ZERO, ZERO, ZERO, ONE)
    c = int(0)
    for k in range(code.shape[0]):
        size = coordinates_of(code[k])
        if size == 1:
            p, q = add_freedom_pose(code[k], values[c, w], pitch, p, q)
        elif size == 4:
            q = normalize_rotation(quat(values[c, w], values[c + 1, w], values[c + 2, w], values[c + 3, w]))
        c += size
    p_FM[w] = p
    q_FM[w] = q


def measure_coordinates(freedoms: Sequence[tuple[int, int]], p_FM: np.ndarray, q_FM: np.ndarray) -> np.ndarray:
    """Coordinate of each freedom (joint, code) [freedom, world], from the joints' poses [joint, world, ...].

    Angles are within half a turn of zero; of a ball it is a component of its rotation vector.
    """
    joint, code = np.array(freedoms, np.int32).reshape(-1, 2).T
    values = np.zeros((len(freedoms), p_FM.shape[1]))
    if not freedoms:
        return values
    inputs = [_shared(joint, wp.int32), _shared(code, wp.int32), _shared(p_FM, vec3), _shared(q_FM, quat)]
    out = _shared(values, f64)
    launch(coordinates_kernel, values.shape, [*inputs, out], host_device())
    return out.numpy()


def pose_at(codes: Sequence[int], values: np.ndarray, pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """p_FM [world, 3] and q_FM [world, 4] of a joint with these freedoms at its coordinates [coordinate, world]."""
    worlds = values.shape[1]
    p_FM, q_FM = np.zeros((worlds, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (worlds, 1))
    if not len(codes):
        return p_FM, q_FM
    inputs = [_shared(np.array(codes, np.int32), wp.int32), _shared(values, f64), pitch]
    out = [_shared(p_FM, vec3), _shared(q_FM, quat)]
    launch(pose_kernel, worlds, [*inputs, *out], host_device())
    return out[0].numpy(), out[1].numpy()


def host_device() -> str:
    """Where the host calls kernels: the CPU, or, where Warp has no compiler for it, a GPU."""
    return "cpu" if wp.is_cpu_available() else "cuda:0"


def _shared(values: np.ndarray, dtype: type) -> wp.array:
    """An array of the host as kernels on the CPU see it; one that is contiguous is not copied."""
    where = host_device()
    return wp.array(np.ascontiguousarray(values), dtype=dtype, device=where, copy=where != "cpu")
