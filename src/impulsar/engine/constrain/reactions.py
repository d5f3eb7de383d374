"""Reactions: all that each joint transmits to its second body over the step (Mariti 2012 eq. 24-26).

A joint made of rows transmits their accumulated impulses over h. A tree joint transmits what the bodies
beyond it need for the change of their momenta P over the step:

    F_i = (P_i - P_i,old) / h - gravity - loads - rows of other joints, springs and hands
    R_i = F_i + Σ R_child                       about the centre of mass, children carried inward

so motor, friction, limit and spring torques in the joint are part of its reaction, and all reactions,
loads and weights together are the rate of change of momentum. About an axis that the joint leaves free
the torque is known: that of the joint's own rows, and it takes the place of the sum, which has an error
of order h there. Wrenches are given about M's origin, in world axes.
"""

import warp as wp

from ..coordinates.inertia import added_weight, inertial_wrench, momentum, weight
from ..freedoms import is_turn
from ..spatial import ONE, angular, carry_twist, carry_wrench, f64, linear, spatial, vec3, vec6, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from . import kinds
from .frames import point_of


@wp.func
def start_reactions(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """Before the step: minus the momenta, weights and loads."""
    for i in range(m.parent.shape[0]):
        x.own_torque[i, w] = zero3()
        x.transmitted[i, w] = -(momentum(m, x, i, x.twist[i, w], w) / h) - weight(m, i, w) - x.wrench[i, w]
        if m.wet_start.shape[0] > 0:  # it was taken off the wrench
            x.transmitted[i, w] = x.transmitted[i, w] - added_weight(m, x, i, w)


@wp.func(inline=False)
def collect_reactions(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, w: int
):
    """When velocities are solved: what goes through rows."""
    for j in range(m.parent.shape[0], m.first.shape[0]):
        x.reaction[j, w] = vec6()
    for a in range(rows):
        r = x.active[a, w]
        kinds.react(m, x, r, s.impulse[r, w] / h, w)
    for r in range(x.row_count[0, w]):
        if kinds.is_force(x, r, w):
            kinds.react(m, x, r, s.impulse[r, w] / h, w)
    if m.armature.shape[0] > 0:
        for k in range(s.v.shape[0]):
            x.qdd[k, w] = (s.v[k, w] - x.v_old[k, w]) / h
        take_off_rotors(m, x, w)


@wp.func
def take_off_rotors(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """What armature takes of the torques about its axes, at joint accelerations x.qdd."""
    for i in range(m.parent.shape[0]):
        sign = ONE
        if m.second[i] != i:
            sign = -ONE
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            torque = -sign * m.armature[k, w] * x.qdd[k, w]
            x.own_torque[i, w] = x.own_torque[i, w] + torque * angular(x.S[k, w])


@wp.func(inline=False)
def instant_reactions(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Reactions at an instant from the accelerations x.qdd and the row forces impulse / h of a direct solve.

    F_i = I_i A_i + gyroscopic - applied - rows of other joints. Springs, hands and loads are in x.wrench.
    """
    n = m.parent.shape[0]
    h = m.nominal_h[0]
    for i in range(n):
        parent = m.parent[i]
        A = spatial(zero3(), -m.gravity[0, w])
        if parent >= 0:
            A = x.acceleration[parent, w]
        A = carry_twist(A, x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            A += x.qdd[k, w] * x.S[k, w]
        A += x.bias[i, w]
        x.acceleration[i, w] = A
        x.a_WB[i, w] = linear(A) + m.gravity[0, w]
        x.transmitted[i, w] = inertial_wrench(m, x, i, A, w) - x.wrench[i, w]
        x.own_torque[i, w] = zero3()
    for j in range(n, m.first.shape[0]):
        x.reaction[j, w] = vec6()
    for r in range(x.row_count[0, w]):
        if kinds.is_in_joint(x, r, w):
            kinds.react(m, x, r, s.impulse[r, w] / h, w)
    if m.armature.shape[0] > 0:
        take_off_rotors(m, x, w)
    carry_inward(m, x, w)


@wp.func
def with_own_torque(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, torque: vec3, w: int) -> vec3:
    """The torque of tree joint i, about its free axes that of its own rows."""
    fixed = torque
    for k in range(m.dof_start[i], m.dof_start[i + 1]):
        if is_turn(m.dof_kind[k]):
            e = angular(x.S[k, w])
            fixed += (wp.dot(e, x.own_torque[i, w]) - wp.dot(e, torque)) * e
    return fixed


@wp.func(inline=False)
def finish_reactions(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """After the step: plus the momenta, then inward through the trees."""
    for i in range(m.parent.shape[0]):
        x.transmitted[i, w] = x.transmitted[i, w] + momentum(m, x, i, x.twist[i, w], w) / h
    carry_inward(m, x, w)


@wp.func
def carry_inward(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """What each tree joint transmits, from the tips to the roots, on its second body about M's origin."""
    n = m.parent.shape[0]
    for back in range(n):
        i = n - 1 - back
        R = x.transmitted[i, w]
        parent = m.parent[i]
        if parent >= 0:
            x.transmitted[parent, w] = x.transmitted[parent, w] + carry_wrench(R, x.r[i, w])
        # about M's origin, which is on the second body
        arm = x.p_WB[i, w]
        if m.second[i] == i:
            arm = -wp.quat_rotate(x.q_WB[i, w], m.p_CM[i, w])
        elif parent >= 0:
            arm -= point_of(x, parent, m.p_CM[i, w], w)
        else:
            arm -= m.p_CM[i, w]
        R = carry_wrench(R, arm)
        if m.second[i] != i:
            R = -R
        x.reaction[i, w] = spatial(with_own_torque(m, x, i, angular(R), w), linear(R))
