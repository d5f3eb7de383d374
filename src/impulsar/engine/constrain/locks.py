"""Locks: what a joint that closes a loop forbids, row by row.

LOCK     e · p_FM                    e an axis of F           slide e
LOCK_R   rotation vector of M in F   e an axis of F           turn e
ALIGN    e · (z_F × z_M)             e = x_F, y_F             turn e
CROSS    z_F · x_M                                            turn x_M × z_F
THREAD   slide - pitch · angle                                slide z_F, turn -pitch z_F
LENGTH   |p_FM| - length             n = p_FM / |p_FM|        slide n
"""

import warp as wp

from ...author.joints import ALIGN_X, CROSS, LENGTH, LOCK_RX, LOCK_RZ, LOCK_X, LOCK_Z, THREAD
from ..spatial import ZERO, axis_of, f64, rotation_vector, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .frames import Frames, Pair, joint_frames


@wp.func(inline=False)
def lock(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, angle: f64, w: int):
    """Wrench pair and position error [m, rad] of one lock; `angle` is a screw's, whole turns counted."""
    pair, error = lock_between(m, joint_frames(m, x, j, w), j, code, angle, w)
    return pair, error


@wp.func(inline=True)
def lock_between(m: wp.ref[SystemArrays], f: Frames, j: int, code: int, angle: f64, w: int):
    """The same between frames that are known, for all locks of a joint."""
    d = f.p_WM - f.p_WF
    pair = Pair()
    pair.first = m.first[j]
    pair.second = m.second[j]
    pair.point = f.p_WM
    pair.turn = zero3()
    pair.slide = zero3()
    error = ZERO
    if code >= LOCK_X and code <= LOCK_Z:
        pair.slide = wp.quat_rotate(f.q_WF, axis_of(code - LOCK_X))
        error = wp.dot(pair.slide, d)
    elif code >= LOCK_RX and code <= LOCK_RZ:
        pair.turn = wp.quat_rotate(f.q_WF, axis_of(code - LOCK_RX))
        error = rotation_vector(wp.quat_inverse(f.q_WF) * f.q_WM)[code - LOCK_RX]
    elif code == LENGTH:
        far = wp.length(d)
        pair.slide = d / wp.max(far, f64(1e-12))
        error = far - m.length[j, w]
    else:
        z_F = wp.quat_rotate(f.q_WF, axis_of(2))
        if code == CROSS:
            x_M = wp.quat_rotate(f.q_WM, axis_of(0))
            pair.turn = wp.cross(x_M, z_F)
            error = wp.dot(z_F, x_M)
        elif code == THREAD:
            pair.slide = z_F
            pair.turn = -m.pitch[j, w] * z_F
            error = wp.dot(z_F, d) - m.pitch[j, w] * angle
        else:
            pair.turn = wp.quat_rotate(f.q_WF, axis_of(code - ALIGN_X))
            error = wp.dot(pair.turn, wp.cross(z_F, wp.quat_rotate(f.q_WM, axis_of(2))))
    return pair, error


@wp.func
def reads_turns(m: wp.ref[SystemArrays]) -> bool:
    """Whether the error of a bilateral row may be by the coordinate of a loop joint: couplings and threads."""
    if m.coupled_q.shape[0] > 0:
        return True
    for i in range(m.bilateral.shape[0]):
        if m.slot_code[m.bilateral[i]] == THREAD:
            return True
    return False


@wp.func
def closure_angle(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], j: int, code: int, where: int, w: int
) -> f64:
    """The angle a THREAD needs: of the loop joint itself, or measured where it is a tree joint."""
    if code != THREAD:
        return ZERO
    if where >= 0:
        return s.q[where, w]
    return s.loop_q[-1 - where, w]
