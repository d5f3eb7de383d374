"""Generalized coordinates: a spanning tree by the articulated-body method.

Equations (Featherstone 2008, table 7.1; Mikhaylyuk 2017 fig. 1-3), with all quantities in world axes
about each body's centre of mass, and accelerations as plain time derivatives of [w, v]. Body i with
parent p, r = p_i - p_p, freedoms S_k:

    twist          V_i = carry(V_p, r) + Σ S_k v_k
    acceleration   A_i = carry(A_p, r) + Σ S_k v̇_k + bias_i
    wrench         F_i = I_i A_i + gyroscopic - applied           (inertia.py)
    articulated    F_i = IA_i A_i + pA_i

Freedoms of a joint are eliminated one by one (a rank-1 update each), from the last to the first, which
is the LDLᵀ factorisation of the joint's own block: joints of 0 to 6 freedoms need no cases.

    U = IA S      D = S · U + armature      u = τ - S · pA      IA ← IA - U Uᵀ / D      pA ← pA + U u / D

Bias of a joint: frame F sits on the first body, M on the second. Where the tree runs from the first to
the second body F's carrier is the parent, else the child, and relative motion changes its sign. With d
from M's origin o to the centre of mass, e the carrier's angular velocity and (w', v') the twist of the
child relative to the parent, taken at o:

    bias_w = w_p × w' + ẇ'_F         (ẇ'_F: axes that turn within F, universal joint only)
    bias_v = w_p × (w_p × (o - p_p)) + 2 e × v' + bias_w × d + w × (w × d)
"""

import warp as wp

from ..freedoms import add_freedom_pose, coordinates_of, freedom_axes, retract_ball, turns_with_second
from ..spatial import (
    HALF,
    ONE,
    ZERO,
    angular,
    axis_of,
    carry_twist,
    carry_wrench,
    cross_matrix,
    f64,
    linear,
    mat33,
    quat,
    rotation_matrix,
    spatial,
    vec3,
    vec6,
    zero3,
)
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.arrays import ADD, FOLLOW, HELD, KEEP, STORE
from .inertia import free_answer, gyroscopic, invert_free, own_inertia, spatial_inertia, turn_inertia

STEADY = wp.constant(wp.float64(1e-15))  # change of an angular momentum within a step that is rounding
CONVERGED = wp.constant(wp.float64(1e-12))
FAST = wp.constant(wp.float64(0.25))  # turn in a step beyond which it is no longer resolved [rad]


@wp.func
def joint_pose(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], i: int, w: int):
    """Pose of frame M in frame F from the coordinates of joint i."""
    p = zero3()
    q = quat(ZERO, ZERO, ZERO, ONE)
    c = m.coordinate_start[i]
    for k in range(m.dof_start[i], m.dof_start[i + 1]):
        size = coordinates_of(m.dof_kind[k])
        if size == 1:
            p, q = add_freedom_pose(m.dof_kind[k], s.q[c, w], m.pitch[i, w], p, q)
        elif size == 4:
            q = quat(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w], s.q[c + 3, w])
        c += size
    return p, q


@wp.func
def free_kinematics(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], i: int, per_h: f64, w: int):
    """The same for a single free body: its coordinates are its pose, its velocities its twist."""
    c = m.coordinate_start[i]
    k = m.dof_start[i]
    p_B = vec3(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w])
    q_B = quat(s.q[c + 3, w], s.q[c + 4, w], s.q[c + 5, w], s.q[c + 6, w]) * m.q_zero[i, w]
    v_B = vec3(s.v[k, w], s.v[k + 1, w], s.v[k + 2, w])
    w_B = vec3(s.v[k + 3, w], s.v[k + 4, w], s.v[k + 5, w])
    if per_h != ZERO:
        x.a_WB[i, w] = per_h * (v_B - linear(x.twist[i, w]))
    x.p_WB[i, w] = p_B
    x.q_WB[i, w] = q_B
    x.twist[i, w] = spatial(w_B, v_B)
    x.r[i, w] = p_B
    x.bias[i, w] = vec6()
    turn_inertia(m, x, i, rotation_matrix(q_B), w)
    for axis in range(3):
        x.S[k + axis, w] = spatial(zero3(), axis_of(axis))
        x.S[k + 3 + axis, w] = spatial(axis_of(axis), zero3())


@wp.func
def place_child(m: wp.ref[SystemArrays], i: int, p_P: vec3, q_P: quat, R_P: mat33, p_FM: vec3, q_FM: quat, w: int):
    """M's origin, pose of body i with its rotation matrix, and axes of F, from its parent's pose and the joint's."""
    R_WF = mat33()
    p_M = vec3()
    p_B = vec3()
    q_B = q_P
    R_B = R_P
    turned = vec3(q_FM[0], q_FM[1], q_FM[2])
    if m.second[i] == i:
        R_WF = R_P * m.R_PF[i, w]
        p_M = p_P + R_P * m.p_PF[i, w] + R_WF * p_FM
        turned = m.R_PF[i, w] * turned
        q_B = q_P * quat(turned[0], turned[1], turned[2], q_FM[3]) * m.q_zero[i, w]
        R_B = rotation_matrix(q_B)
        p_B = p_M - R_B * m.p_CM[i, w]
    else:
        p_M = p_P + R_P * m.p_CM[i, w]
        turned = m.R_CM[i, w] * turned
        q_B = q_P * quat(-turned[0], -turned[1], -turned[2], q_FM[3]) * m.q_zero[i, w]
        R_B = rotation_matrix(q_B)
        R_WF = R_B * m.R_PF[i, w]
        p_B = p_M - R_WF * p_FM - R_B * m.p_PF[i, w]
    return p_M, p_B, q_B, R_B, R_WF


@wp.func(inline=False)
def kinematics(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], per_h: f64, w: int):
    """Poses, twists, world inertias, freedoms and bias accelerations of all bodies from q and v.

    per_h = 1/h after a step gives the mean acceleration over it; 0 where there was none.
    """
    p_B = zero3()
    R_B = mat33()
    q_B = quat(ZERO, ZERO, ZERO, ONE)
    V_B = vec6()
    for i in range(m.parent.shape[0]):
        if m.spins_free[i] != 0:
            free_kinematics(m, s, x, i, per_h, w)
            continue
        parent = m.parent[i]
        if parent < 0:
            p_B = zero3()
            q_B = quat(ZERO, ZERO, ZERO, ONE)
            R_B = mat33(ONE, ZERO, ZERO, ZERO, ONE, ZERO, ZERO, ZERO, ONE)
            V_B = vec6()
        elif parent != i - 1:
            p_B = x.p_WB[parent, w]
            q_B = x.q_WB[parent, w]
            R_B = rotation_matrix(q_B)
            V_B = x.twist[parent, w]
        p_P = p_B
        w_P = angular(V_B)

        p_FM, q_FM = joint_pose(m, s, i, w)
        forward = m.second[i] == i
        p_M, p_B, q_B, R_B, R_WF = place_child(m, i, p_P, q_B, R_B, p_FM, q_FM, w)

        # relative motion at M's origin, and what the freedoms do to the centre of mass
        sign = ONE
        if not forward:
            sign = -ONE
        d = p_B - p_M
        turn_rate = zero3()
        slide_rate = zero3()
        turn_change = zero3()
        pitch = m.pitch[i, w]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            kind = m.dof_kind[k]
            turn, slide = freedom_axes(kind, pitch, R_WF, q_FM)
            turn = sign * turn
            slide = sign * slide
            v_k = s.v[k, w]
            if turns_with_second(kind):  # its axis turns with the freedoms before it
                turn_change = v_k * sign * wp.cross(turn_rate, turn)
            turn_rate += v_k * turn
            slide_rate += v_k * slide
            x.S[k, w] = spatial(turn, slide + wp.cross(turn, d))

        r = p_B - p_P
        w_B = w_P + turn_rate
        v_B = linear(V_B) + wp.cross(w_P, r) + slide_rate + wp.cross(turn_rate, d)
        carrier = w_P
        if not forward:
            carrier = w_B
        bias_w = wp.cross(w_P, turn_rate) + turn_change
        bias_v = (
            wp.cross(w_P, wp.cross(w_P, p_M - p_P))
            + wp.cross(carrier + carrier, slide_rate)
            + wp.cross(bias_w, d)
            + wp.cross(w_B, wp.cross(w_B, d))
        )
        V_B = spatial(w_B, v_B)
        if per_h != ZERO:
            x.a_WB[i, w] = per_h * (v_B - linear(x.twist[i, w]))
        x.p_WB[i, w] = p_B
        x.q_WB[i, w] = q_B
        x.twist[i, w] = V_B
        x.r[i, w] = r
        x.bias[i, w] = spatial(bias_w, bias_v)
        turn_inertia(m, x, i, R_B, w)


@wp.func
def articulate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Inward pass: articulated inertias and bias wrenches; leaves U, 1/D and u of every freedom."""
    articulate_with(m, x, 0, w)


@wp.func(inline=False)
def articulate_with(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], softened: int, w: int):
    """The same, with x.lag_v on the diagonal where softened: see integrate/stiff_joints.py.

    A single free body needs its inverse inertia only.
    """
    n = m.parent.shape[0]
    # what the body just done hands to the one before it
    up_ww = mat33()
    up_wv = mat33()
    up_vv = mat33()
    up_p = vec6()
    followed = bool(False)
    for back in range(n):
        i = n - 1 - back
        if m.spins_free[i] != 0:
            invert_free(x, i, w)
            followed = False
            continue
        ww, wv, vv = spatial_inertia(m, x, i, w)
        p = gyroscopic(m, x, i, w) - x.wrench[i, w]
        if followed:
            ww += up_ww
            wv += up_wv
            vv += up_vv
            p += up_p
        if m.gathers[i] != 0:
            ww += x.IA_ww[i, w]
            wv += x.IA_wv[i, w]
            vv += x.IA_vv[i, w]
            p += x.pA[i, w]

        bias = x.bias[i, w]
        p += spatial(ww * angular(bias) + wv * linear(bias), wp.transpose(wv) * angular(bias) + vv * linear(bias))
        start = m.dof_start[i]
        for behind in range(m.dof_start[i + 1] - start):
            k = m.dof_start[i + 1] - 1 - behind
            S = x.S[k, w]
            S_w = angular(S)
            S_v = linear(S)
            U_w = ww * S_w + wv * S_v
            U_v = wp.transpose(wv) * S_w + vv * S_v
            D = wp.dot(S_w, U_w) + wp.dot(S_v, U_v)
            if m.armature.shape[0] > 0:
                D += m.armature[k, w]
            if softened != 0:
                D += x.lag_v[k, w]
            D_inv = ONE / D
            u = x.tau[k, w] - wp.dot(S, p)
            x.U[k, w] = spatial(U_w, U_v)
            x.D_inv[k, w] = D_inv
            x.u[k, w] = u
            G_w = D_inv * U_w
            G_v = D_inv * U_v
            ww -= wp.outer(G_w, U_w)
            wv -= wp.outer(G_w, U_v)
            vv -= wp.outer(G_v, U_v)
            p += spatial(u * G_w, u * G_v)

        over = m.hand_over[i]
        followed = over == FOLLOW
        if over != KEEP:
            # about the parent's centre of mass: X^T IA X with X = [[1, 0], [-[r], 1]]
            r = x.r[i, w]
            rx = cross_matrix(r)
            up_vv = vv
            up_wv = wv + rx * vv
            up_ww = ww - wv * rx + rx * wp.transpose(up_wv)
            up_p = carry_wrench(p, r)
            parent = m.parent[i]
            if over == STORE:
                x.IA_ww[parent, w] = up_ww
                x.IA_wv[parent, w] = up_wv
                x.IA_vv[parent, w] = up_vv
                x.pA[parent, w] = up_p
            elif over == ADD:
                x.IA_ww[parent, w] = x.IA_ww[parent, w] + up_ww
                x.IA_wv[parent, w] = x.IA_wv[parent, w] + up_wv
                x.IA_vv[parent, w] = x.IA_vv[parent, w] + up_vv
                x.pA[parent, w] = x.pA[parent, w] + up_p


@wp.func
def accelerate_free(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, base: vec6, gyrate: int, w: int):
    """Acceleration of a single free body: I⁻¹ (applied - gyroscopic)."""
    first = m.dof_start[i]
    force = vec3(x.tau[first, w], x.tau[first + 1, w], x.tau[first + 2, w])
    torque = vec3(x.tau[first + 3, w], x.tau[first + 4, w], x.tau[first + 5, w])
    f = x.wrench[i, w] + spatial(torque, force)
    if gyrate != 0:
        f -= gyroscopic(m, x, i, w)
    A = free_answer(m, x, i, f, w)
    for k in range(3):
        x.qdd[first + k, w] = A[3 + k] - base[3 + k]
        x.qdd[first + 3 + k, w] = A[k] - base[k]
    x.acceleration[i, w] = A


@wp.func(inline=False)
def accelerate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], base: vec6, gyrate: int, w: int):
    """Outward pass: joint accelerations, where the ground accelerates by `base`.

    gyrate = 0 leaves out the gyroscopic torque of single free bodies, for methods whose drift keeps their
    angular momentum instead.
    """
    A = base
    for i in range(m.parent.shape[0]):
        if m.spins_free[i] != 0:
            accelerate_free(m, x, i, base, gyrate, w)
            continue
        parent = m.parent[i]
        if parent < 0:
            A = carry_twist(base, x.r[i, w])
        elif parent == i - 1:
            A = carry_twist(A, x.r[i, w])
        else:
            A = carry_twist(x.acceleration[parent, w], x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            qdd = x.D_inv[k, w] * (x.u[k, w] - wp.dot(x.U[k, w], A))
            A += qdd * x.S[k, w]
            x.qdd[k, w] = qdd
        A += x.bias[i, w]
        x.acceleration[i, w] = A


@wp.func
def kick(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """v ← v + h M⁻¹ f   (Mikhaylyuk 2017 eq. 7)."""
    articulate(m, x, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 0, w)
    for k in range(s.v.shape[0]):
        v = s.v[k, w]
        x.v_old[k, w] = v
        s.v[k, w] = v + h * x.qdd[k, w]


@wp.func
def next_tree(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, n: int, w: int) -> int:
    """The n-th tree that a row touches, -1 if there are no more."""
    if n < 3:
        return x.row_trees[4 * row + n, w]
    last = x.row_trees[4 * row + 3, w]
    if last < -1:  # more than four, those from the fourth on in a list
        return m.more_trees[n - 5 - last]
    if n > 3:
        return -1
    return last


@wp.func
def row_base(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, tree: int, w: int) -> int:
    """Where a row keeps the freedoms of a tree: entry of freedom k is J[base + k]."""
    base = x.row_start[row, w]
    n = int(0)
    touched = x.row_trees[4 * row, w]
    while touched != tree:
        base += m.tree_dof[touched + 1] - m.tree_dof[touched]
        n += 1
        touched = next_tree(m, x, row, n, w)
    return base - m.tree_dof[tree]


@wp.func
def project_wrench(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, body: int, wrench: vec6, w: int):
    """Add to row J what a wrench about a body's centre of mass does in the joints: J += wrenchᵀ ∂V/∂v."""
    i = body
    f = wrench
    base = row_base(m, x, row, m.tree_of[body], w)
    if m.spins_free[body] != 0:  # its velocities are v, w of the centre of mass in world axes
        first = base + m.dof_start[body]
        for k in range(3):
            x.J[first + k, w] = x.J[first + k, w] + f[3 + k]
            x.J[first + 3 + k, w] = x.J[first + 3 + k, w] + f[k]
        return
    while i >= 0:
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            x.J[base + k, w] = x.J[base + k, w] + wp.dot(f, x.S[k, w])
        f = carry_wrench(f, x.r[i, w])
        i = m.parent[i]


@wp.func
def tree_response(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], base: int, start: int, end: int, w: int):
    """Velocity changes of the bodies start..end of one tree by impulses J[base + k] in their joints."""
    for i in range(start, end):
        x.pA[i, w] = vec6()
    for back in range(end - start):
        i = end - 1 - back
        p = x.pA[i, w]
        for behind in range(m.dof_start[i + 1] - m.dof_start[i]):
            k = m.dof_start[i + 1] - 1 - behind
            u = x.J[base + k, w] - wp.dot(x.S[k, w], p)
            x.Y[base + k, w] = u
            p += (u * x.D_inv[k, w]) * x.U[k, w]
        parent = m.parent[i]
        if parent >= 0:
            x.pA[parent, w] = x.pA[parent, w] + carry_wrench(p, x.r[i, w])
    for i in range(start, end):
        parent = m.parent[i]
        V = vec6()
        if parent >= 0:
            V = carry_twist(x.change[parent, w], x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            change = x.D_inv[k, w] * (x.Y[base + k, w] - wp.dot(x.U[k, w], V))
            V += change * x.S[k, w]
            x.Y[base + k, w] = change
        x.change[i, w] = V


@wp.func
def free_response(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], at: int, body: int, w: int):
    """Velocity change of a single free body by the impulses J[at ..]."""
    force = vec3(x.J[at, w], x.J[at + 1, w], x.J[at + 2, w])
    torque = vec3(x.J[at + 3, w], x.J[at + 4, w], x.J[at + 5, w])
    change = free_answer(m, x, body, spatial(torque, force), w)
    for k in range(3):
        x.Y[at + k, w] = change[3 + k]
        x.Y[at + 3 + k, w] = change[k]


@wp.func(inline=False)
def response(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, w: int):
    """Y = M⁻¹ Jᵀ of one row by a test impulse in the joints (Mikhaylyuk 2017 fig. 2, 3).

    x.pA and x.change carry articulated impulses and velocity changes here.
    """
    base = x.row_start[row, w]
    n = int(0)
    tree = x.row_trees[4 * row, w]
    while tree >= 0:
        start = m.tree_body[tree]
        if m.spins_free[start] != 0:
            free_response(m, x, base, start, w)
        else:
            tree_response(m, x, base - m.tree_dof[tree], start, m.tree_body[tree + 1], w)
        base += m.tree_dof[tree + 1] - m.tree_dof[tree]
        n += 1
        tree = next_tree(m, x, row, n, w)


@wp.func
def row_velocity(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), row: int, w: int) -> f64:
    """J v of one row."""
    J = x.J  # local: the compiler keeps addresses in registers
    starts = m.tree_dof
    u = ZERO
    entry = x.row_start[row, w]
    n = int(0)
    tree = x.row_trees[4 * row, w]
    while tree >= 0:
        for k in range(starts[tree], starts[tree + 1]):
            u += J[entry, w] * v[k, w]
            entry += 1
        n += 1
        tree = next_tree(m, x, row, n, w)
    return u


@wp.func
def apply_impulse(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), row: int, impulse: f64, w: int
):
    """v ← v + M⁻¹ Jᵀ impulse."""
    Y = x.Y
    starts = m.tree_dof
    entry = x.row_start[row, w]
    n = int(0)
    tree = x.row_trees[4 * row, w]
    while tree >= 0:
        for k in range(starts[tree], starts[tree + 1]):
            v[k, w] = v[k, w] + impulse * Y[entry, w]
            entry += 1
        n += 1
        tree = next_tree(m, x, row, n, w)


@wp.func
def row_response(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, other: int, w: int) -> f64:
    """J M⁻¹ Jᵀ between two rows: velocity of one by a unit impulse of the other."""
    J = x.J
    Y = x.Y
    u = ZERO
    entry = x.row_start[row, w]
    base = x.row_start[other, w]
    n = int(0)
    o = int(0)
    tree = x.row_trees[4 * row, w]
    another = x.row_trees[4 * other, w]
    while tree >= 0 and another >= 0:  # both in ascending order
        if tree == another:
            size = m.tree_dof[tree + 1] - m.tree_dof[tree]
            for k in range(size):
                u += J[entry + k, w] * Y[base + k, w]
        ahead = tree <= another
        follows = another <= tree
        if ahead:
            entry += m.tree_dof[tree + 1] - m.tree_dof[tree]
            n += 1
            tree = next_tree(m, x, row, n, w)
        if follows:
            base += m.tree_dof[another + 1] - m.tree_dof[another]
            o += 1
            another = next_tree(m, x, other, o, w)
    return u


@wp.func
def row_product(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, other: int, w: int) -> f64:
    """J Jᵀ between two rows, mass-free, turns and shifts made comparable by the mechanism's length."""
    J = x.J
    weights = m.dof_weight
    u = ZERO
    entry = x.row_start[row, w]
    base = x.row_start[other, w]
    n = int(0)
    o = int(0)
    tree = x.row_trees[4 * row, w]
    another = x.row_trees[4 * other, w]
    while tree >= 0 and another >= 0:  # both in ascending order
        if tree == another:
            first = m.tree_dof[tree]
            for k in range(m.tree_dof[tree + 1] - first):
                u += J[entry + k, w] * J[base + k, w] * weights[first + k]
        ahead = tree <= another
        follows = another <= tree
        if ahead:
            entry += m.tree_dof[tree + 1] - m.tree_dof[tree]
            n += 1
            tree = next_tree(m, x, row, n, w)
        if follows:
            base += m.tree_dof[another + 1] - m.tree_dof[another]
            o += 1
            another = next_tree(m, x, other, o, w)
    return u * wp.sqrt(x.row_weight[row, w] * x.row_weight[other, w])


@wp.func
def row_square(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], row: int, w: int) -> f64:
    """`row_product` of a row with itself."""
    u = ZERO
    entry = x.row_start[row, w]
    n = int(0)
    tree = x.row_trees[4 * row, w]
    while tree >= 0:
        for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
            u += x.J[entry, w] * x.J[entry, w] * m.dof_weight[k]
            entry += 1
        n += 1
        tree = next_tree(m, x, row, n, w)
    return u * x.row_weight[row, w]


@wp.func
def coast(inertia: mat33, L: vec3, spin: vec3, h: f64):
    """Mean spin and mean angular momentum of a rigid body that turns freely for h, in its axes at the start.

    Implicit midpoint: with M = (L + L')/2 in body axes, L' - L = h M × I⁻¹ M. That keeps |L| and the energy
    L · I⁻¹ L exactly, whatever h, and L' is L turned by the Cayley rotation of -h I⁻¹ M: a body that turns by it
    keeps its angular momentum in space. Where Newton's method does not get there (many radians in h), the body
    turns about L, which keeps both too.
    """
    if h * wp.length(wp.cross(L, spin)) <= STEADY * wp.length(L):
        return spin, L
    inverse = wp.inverse(inertia)
    half = HALF * h
    M = L
    off = half * wp.cross(L, spin)
    left = wp.length(off)
    rounds = int(0)
    while left > STEADY * wp.length(L) and rounds < 30:
        slope = mat33(ONE, ZERO, ZERO, ZERO, ONE, ZERO, ZERO, ZERO, ONE)
        slope -= half * (cross_matrix(M) * inverse - cross_matrix(inverse * M))
        change = wp.inverse(slope) * off
        share = ONE
        before = left
        M += change
        off = L + half * wp.cross(M, inverse * M) - M
        left = wp.length(off)
        while left >= before and share > f64(0.01):
            share *= HALF
            M -= share * change
            off = L + half * wp.cross(M, inverse * M) - M
            left = wp.length(off)
        rounds += 1
        if left >= before:
            rounds = 30
    if not left <= CONVERGED * wp.length(L):
        return (wp.dot(spin, L) / wp.dot(L, L)) * L, L
    mean = inverse * M
    angle = half * wp.length(mean)  # tan of half the angle of the Cayley rotation
    return (wp.atan(angle) / angle) * mean, M


@wp.func
def drift(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """q ← q ⊕ h (v + v')   (Mikhaylyuk 2017 eq. 9); a single free body keeps its angular momentum and energy.

    One that joints hold and that turns fast has to go with them instead of by its mean spin; it gains no energy.
    """
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            size = coordinates_of(m.dof_kind[k])
            if size == 1:
                s.q[c, w] = s.q[c, w] + h * (s.v[k, w] + x.v_pseudo[k, w])
            elif size == 4:
                spin = vec3(s.v[k, w], s.v[k + 1, w], s.v[k + 2, w])
                push = vec3(x.v_pseudo[k, w], x.v_pseudo[k + 1, w], x.v_pseudo[k + 2, w])
                q = quat(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w], s.q[c + 3, w])
                turn = spin
                L = zero3()
                energy = ZERO  # twice the kinetic energy that a body held by joints must not exceed
                if m.spins_free[i] != 0:
                    q_FB = q * wp.quat_inverse(m.q_CM[i, w])
                    w_B = wp.quat_rotate_inv(q_FB, spin)
                    L_B = own_inertia(m, i, w) * w_B
                    L = wp.quat_rotate(q_FB, L_B)
                    if m.tree_motion[m.tree_of[i]] == HELD and h * wp.length(spin) > FAST:
                        energy = wp.dot(L_B, w_B)
                    else:
                        mean, _ = coast(own_inertia(m, i, w), L_B, w_B, h)
                        turn = spin + wp.quat_rotate(q_FB, mean - w_B)
                moved = retract_ball(q, h * (turn + push))
                for j in range(4):
                    s.q[c + j, w] = moved[j]
                if m.spins_free[i] != 0:
                    # w ← I⁻¹(new) I(old) w, in F's axes
                    q_FB = moved * wp.quat_inverse(m.q_CM[i, w])
                    kept = wp.quat_rotate(q_FB, wp.inverse(own_inertia(m, i, w)) * wp.quat_rotate_inv(q_FB, L))
                    if energy > ZERO and wp.dot(L, kept) > energy:
                        kept = wp.sqrt(energy / wp.dot(L, kept)) * kept
                    for j in range(3):
                        s.v[k + j, w] = kept[j]
            c += size
