"""Parts of what tree.py does at once: poses alone, and velocities by impulses in a geometry that is kept."""

import warp as wp

from ..spatial import (
    ONE,
    ZERO,
    carry_twist,
    carry_wrench,
    f64,
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
from .inertia import free_answer
from .tree import joint_pose, place_child


@wp.func(inline=False)
def place_bodies(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Poses of all bodies from q, and nothing else: the rest stays that of another pose."""
    p_B = zero3()
    R_B = mat33()
    q_B = quat(ZERO, ZERO, ZERO, ONE)
    for i in range(m.parent.shape[0]):
        parent = m.parent[i]
        if m.spins_free[i] != 0:
            c = m.coordinate_start[i]
            p_B = vec3(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w])
            q_B = quat(s.q[c + 3, w], s.q[c + 4, w], s.q[c + 5, w], s.q[c + 6, w]) * m.q_zero[i, w]
        else:
            if parent < 0:
                p_B = zero3()
                q_B = quat(ZERO, ZERO, ZERO, ONE)
                R_B = mat33(ONE, ZERO, ZERO, ZERO, ONE, ZERO, ZERO, ZERO, ONE)
            elif parent != i - 1:
                p_B = x.p_WB[parent, w]
                q_B = x.q_WB[parent, w]
                R_B = rotation_matrix(q_B)
            p_FM, q_FM = joint_pose(m, s, i, w)
            _p_M, p_B, q_B, R_B, _R_WF = place_child(m, i, p_B, q_B, R_B, p_FM, q_FM, w)
        x.p_WB[i, w] = p_B
        x.q_WB[i, w] = q_B


@wp.func(inline=False)
def answer(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], out: wp.array2d(dtype=f64), by_joints: bool, w: int):
    """out = M⁻¹ (wrenches x.pull on the bodies, and x.tau in the joints), of bodies at rest, when articulated."""
    n = m.parent.shape[0]
    for i in range(n):
        x.pA[i, w] = -x.pull[i, w]
    for back in range(n):
        i = n - 1 - back
        if m.spins_free[i] != 0:
            continue
        p = x.pA[i, w]
        for behind in range(m.dof_start[i + 1] - m.dof_start[i]):
            k = m.dof_start[i + 1] - 1 - behind
            u = -wp.dot(x.S[k, w], p)
            if by_joints:
                u += x.tau[k, w]
            x.u[k, w] = u
            p += (u * x.D_inv[k, w]) * x.U[k, w]
        parent = m.parent[i]
        if parent >= 0:
            x.pA[parent, w] = x.pA[parent, w] + carry_wrench(p, x.r[i, w])
    for i in range(n):
        first = m.dof_start[i]
        if m.spins_free[i] != 0:
            f = x.pull[i, w]
            if by_joints:
                force = vec3(x.tau[first, w], x.tau[first + 1, w], x.tau[first + 2, w])
                f += spatial(vec3(x.tau[first + 3, w], x.tau[first + 4, w], x.tau[first + 5, w]), force)
            A = free_answer(m, x, i, f, w)
            for k in range(3):
                out[first + k, w] = A[3 + k]
                out[first + 3 + k, w] = A[k]
            continue
        parent = m.parent[i]
        V = vec6()
        if parent >= 0:
            V = carry_twist(x.change[parent, w], x.r[i, w])
        for k in range(first, m.dof_start[i + 1]):
            change = x.D_inv[k, w] * (x.u[k, w] - wp.dot(x.U[k, w], V))
            V += change * x.S[k, w]
            out[k, w] = change
        x.change[i, w] = V


@wp.func
def twists_of(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), V: wp.array2d(dtype=vec6), w: int
):
    """Twists V of all bodies at joint velocities v, in the present geometry."""
    for i in range(m.parent.shape[0]):
        parent = m.parent[i]
        twist = vec6()
        if parent >= 0:
            twist = carry_twist(V[parent, w], x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            twist += v[k, w] * x.S[k, w]
        V[i, w] = twist
