"""Where a joint's frames are, what its coordinates are, and the wrench pair of a freedom.

Every row acts by a wrench pair: turn [torque] and slide [force] at one point, on the second body, and
the opposite on the first, at the same point. Action equals reaction, so rows add no momentum. The
row's velocity is the power of that pair per unit of impulse:

    J v = turn · (w_second - w_first) + slide · (v_second - v_first)   at the point
"""

import warp as wp

from ..freedoms import coordinate_of, counts_turns, is_measured, rate_axes
from ..spatial import ONE, ZERO, angular, f64, linear, nearest_turn, quat, vec3, zero3
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
    turn, slide = rate_axes(code, f.q_WF, f.q_WM)
    pair.turn = turn
    pair.slide = slide
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
    p_FM = wp.quat_rotate_inv(f.q_WF, f.p_WM - f.p_WF)
    return coordinate_of(code, p_FM, wp.quat_inverse(f.q_WF) * f.q_WM)


@wp.func(inline=False)
def coordinate(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], j: int, code: int, where: int, w: int
) -> f64:
    """Coordinate of a freedom, whole turns counted; of a ball, its rotation vector, twist or swing."""
    if is_measured(code):
        return measured_coordinate(m, x, j, code, w)
    if where >= 0:
        return s.q[where, w]
    return s.loop_q[-1 - where, w]


@wp.func
def follow_loops(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Update frames and coordinates of the joints that close loops from the bodies' poses."""
    place_loops(m, x, w)
    measure_loops(m, s, x, w)


@wp.func(inline=False)
def place_loops(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Their frames alone, which is all that most rows ask for."""
    bodies = m.parent.shape[0]
    for j in range(bodies, m.first.shape[0]):
        f = place_frames(m, x, j, w)
        x.p_WF[j - bodies, w] = f.p_WF
        x.q_WF[j - bodies, w] = f.q_WF
        x.p_WM[j - bodies, w] = f.p_WM
        x.q_WM[j - bodies, w] = f.q_WM


@wp.func(inline=False)
def measure_loops(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Their coordinates, turns counted, when their frames are known."""
    for k in range(m.loop_joint.shape[0]):
        code = m.loop_code[k]
        value = measured_coordinate(m, x, m.loop_joint[k], code, w)
        if counts_turns(code):
            value = nearest_turn(value, s.loop_q[k, w])
        s.loop_q[k, w] = value
