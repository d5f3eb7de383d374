"""Where a joint's frames are, what its coordinates are, and the wrench pair of a freedom.

Every row acts by a wrench pair: turn [torque] and slide [force] at one point, on the second body, and
the opposite on the first, at the same point. Action equals reaction, so rows add no momentum. The
row's velocity is the power of that pair per unit of impulse:

    J v = turn · (w_second - w_first) + slide · (v_second - v_first)   at the point
"""

import warp as wp

from ...author.joints import BALL_X, BALL_Z, SLIDE_Z, SWING, TURN_X, TWIST
from ..spatial import ONE, TWO, ZERO, angular, axis_of, f64, linear, nearest_turn, quat, rotation_vector, vec3, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays


@wp.struct
class Frames:
    """Joint frames F and M in the world."""

    p_WF: vec3
    q_WF: quat
    p_WM: vec3
    q_WM: quat


@wp.struct
class Pair:
    """A wrench pair between two bodies (-1: ground) at a point of the world."""

    first: wp.int32
    second: wp.int32
    turn: vec3
    slide: vec3
    point: vec3


@wp.func
def body_position(x: wp.ref[WorkArrays], body: int, w: int) -> vec3:
    if body < 0:
        return zero3()
    return x.p_WB[body, w]


@wp.func
def body_rotation(x: wp.ref[WorkArrays], body: int, w: int) -> quat:
    if body < 0:
        return quat(ZERO, ZERO, ZERO, ONE)
    return x.q_WB[body, w]


@wp.func
def point_of(x: wp.ref[WorkArrays], body: int, p_BQ: vec3, w: int) -> vec3:
    """World place of a point of a body."""
    return body_position(x, body, w) + wp.quat_rotate(body_rotation(x, body, w), p_BQ)


@wp.func
def joint_frames(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, w: int) -> Frames:
    """Frames of a joint; of one that closes a loop as follow_loops left them."""
    loop = j - m.parent.shape[0]
    if loop < 0:
        return place_frames(m, x, j, w)
    f = Frames()
    f.p_WF = x.p_WF[loop, w]
    f.q_WF = x.q_WF[loop, w]
    f.p_WM = x.p_WM[loop, w]
    f.q_WM = x.q_WM[loop, w]
    return f


@wp.func
def place_frames(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, w: int) -> Frames:
    """Frames of a joint from the poses of its bodies."""
    first = m.first[j]
    second = m.second[j]
    f = Frames()
    f.q_WF = body_rotation(x, first, w) * m.q_PF[j, w]
    f.p_WF = point_of(x, first, m.p_PF[j, w], w)
    f.q_WM = body_rotation(x, second, w) * m.q_CM[j, w]
    f.p_WM = point_of(x, second, m.p_CM[j, w], w)
    return f


@wp.func(inline=False)
def freedom_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, w: int) -> Pair:
    """The pair whose power is the rate of one freedom of joint j."""
    f = joint_frames(m, x, j, w)
    pair = Pair()
    pair.first = m.first[j]
    pair.second = m.second[j]
    pair.point = f.p_WM
    pair.turn = zero3()
    pair.slide = zero3()
    if code <= SLIDE_Z:
        pair.slide = wp.quat_rotate(f.q_WF, axis_of(code))
    elif code == TURN_X:
        pair.turn = wp.quat_rotate(f.q_WM, axis_of(0))
    elif code >= BALL_X and code <= BALL_Z:
        pair.turn = wp.quat_rotate(f.q_WF, axis_of(code - BALL_X))
    else:
        z_F = wp.quat_rotate(f.q_WF, axis_of(2))
        if code == TWIST:
            # twist rate = w · (z_F + z_M) / (1 + z_F · z_M)
            z_M = wp.quat_rotate(f.q_WM, axis_of(2))
            pair.turn = (z_F + z_M) / wp.max(ONE + wp.dot(z_F, z_M), f64(1e-9))
        elif code == SWING:
            pair.turn = wp.normalize(wp.cross(z_F, wp.quat_rotate(f.q_WM, axis_of(2))))
        else:
            pair.turn = z_F
    return pair


@wp.func
def pair_velocity(x: wp.ref[WorkArrays], pair: Pair, w: int) -> f64:
    """Velocity of a wrench pair at the bodies' present twists."""
    u = ZERO
    if pair.second >= 0:
        V = x.twist[pair.second, w]
        arm = pair.point - x.p_WB[pair.second, w]
        u += wp.dot(pair.turn, angular(V)) + wp.dot(pair.slide, linear(V) + wp.cross(angular(V), arm))
    if pair.first >= 0:
        V = x.twist[pair.first, w]
        arm = pair.point - x.p_WB[pair.first, w]
        u -= wp.dot(pair.turn, angular(V)) + wp.dot(pair.slide, linear(V) + wp.cross(angular(V), arm))
    return u


@wp.func
def measured_coordinate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, w: int) -> f64:
    """Coordinate of a freedom from the bodies' poses; an angle within half a turn of zero."""
    f = joint_frames(m, x, j, w)
    q_FM = wp.quat_inverse(f.q_WF) * f.q_WM
    if code <= SLIDE_Z:
        return wp.quat_rotate_inv(f.q_WF, f.p_WM - f.p_WF)[code]
    if code >= BALL_X and code <= BALL_Z:
        return rotation_vector(q_FM)[code - BALL_X]
    if code == SWING:
        z_M = wp.quat_rotate(q_FM, axis_of(2))
        return wp.atan2(wp.sqrt(z_M[0] * z_M[0] + z_M[1] * z_M[1]), z_M[2])
    if code == TURN_X:
        # R = Rz Rx: the second angle stands in the last row of R
        return wp.atan2(wp.quat_rotate(q_FM, axis_of(1))[2], wp.quat_rotate(q_FM, axis_of(2))[2])
    return nearest_turn(TWO * wp.atan2(q_FM[2], q_FM[3]), ZERO)  # TURN_Z, SCREW, TWIST


@wp.func(inline=False)
def coordinate(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], j: int, code: int, where: int, w: int
) -> f64:
    """Coordinate of a freedom, whole turns counted; of a ball, its rotation vector, twist or swing."""
    if (code >= BALL_X and code <= BALL_Z) or code == TWIST or code == SWING:
        return measured_coordinate(m, x, j, code, w)
    if where >= 0:
        return s.q[where, w]
    return s.loop_q[-1 - where, w]


@wp.func(inline=False)
def follow_loops(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Update frames and coordinates of the joints that close loops from the bodies' poses."""
    bodies = m.parent.shape[0]
    for j in range(bodies, m.first.shape[0]):
        f = place_frames(m, x, j, w)
        x.p_WF[j - bodies, w] = f.p_WF
        x.q_WF[j - bodies, w] = f.q_WF
        x.p_WM[j - bodies, w] = f.p_WM
        x.q_WM[j - bodies, w] = f.q_WM
    for k in range(m.loop_joint.shape[0]):
        code = m.loop_code[k]
        value = measured_coordinate(m, x, m.loop_joint[k], code, w)
        if code > SLIDE_Z and (code < BALL_X or code > BALL_Z):
            value = nearest_turn(value, s.loop_q[k, w])
        s.loop_q[k, w] = value
