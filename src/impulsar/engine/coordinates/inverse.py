"""Inverse dynamics and the joint-space inertia of a spanning tree.

Recursive Newton-Euler (Featherstone 2008, table 5.1) and composite rigid bodies (table 6.2), with the
quantities of `tree`: world axes, about each centre of mass, accelerations as plain derivatives.

    RNEA   A_i = carry(A_p, r) + Σ S_k v̇_k + bias_i      F_i = I_i A_i + gyroscopic - applied + Σ carry(F_c)
           τ_k = S_k · F_i
    CRBA   Ic_i = I_i + Σ Xᵀ Ic_c X                       M_jk = S_j · carry(Ic_i S_k), j an ancestor's or own

Both are the true equations of motion M v̇ + c = τ + Jᵀ applied, for every body. A step of an impulsive
method leaves out the gyroscopic torque of a single free body (`spins_free`), because its drift keeps the
angular momentum instead; `forward_dynamics` here does not, so that it inverts `joint_forces`.
"""

import numpy as np
import warp as wp

from ..launch import launch
from ..spatial import ZERO, angular, carry_twist, carry_wrench, cross_matrix, f64, linear, spatial, vec6, zero3
from ..state import State, StateArrays, WorkArrays
from ..system import System, SystemArrays
from .inertia import inertial_wrench, spatial_inertia
from .tree import accelerate, articulate, kinematics


@wp.func
def inverse_dynamics(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    qdd: wp.array2d(dtype=f64),
    tau: wp.array2d(dtype=f64),
    base: vec6,
    w: int,
):
    """Joint forces tau that give the accelerations qdd, where the ground accelerates by `base`.

    Leaves the bodies' accelerations in x.acceleration and the wrenches that their joints carry in x.pA.
    """
    n = m.parent.shape[0]
    for i in range(n):
        parent = m.parent[i]
        A = carry_twist(base, x.r[i, w])
        if parent >= 0:
            A = carry_twist(x.acceleration[parent, w], x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            A += qdd[k, w] * x.S[k, w]
        A += x.bias[i, w]
        x.acceleration[i, w] = A
        x.pA[i, w] = inertial_wrench(m, x, i, A, w) - x.wrench[i, w]
    for back in range(n):
        i = n - 1 - back
        F = x.pA[i, w]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            tau[k, w] = wp.dot(x.S[k, w], F)
            if m.armature.shape[0] > 0:
                tau[k, w] = tau[k, w] + m.armature[k, w] * qdd[k, w]
        parent = m.parent[i]
        if parent >= 0:
            x.pA[parent, w] = x.pA[parent, w] + carry_wrench(F, x.r[i, w])


@wp.func
def joint_inertia(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], M: wp.array2d(dtype=f64), w: int):
    """M [dof · dofs + dof, world]; composite inertias pass through x.IA_ww, x.IA_wv, x.IA_vv."""
    n = m.parent.shape[0]
    dofs = x.S.shape[0]
    for e in range(dofs * dofs):
        M[e, w] = ZERO
    for i in range(n):
        own_ww, own_wv, own_vv = spatial_inertia(m, x, i, w)
        x.IA_ww[i, w] = own_ww
        x.IA_wv[i, w] = own_wv
        x.IA_vv[i, w] = own_vv
    for back in range(n):
        i = n - 1 - back
        ww = x.IA_ww[i, w]
        wv = x.IA_wv[i, w]
        vv = x.IA_vv[i, w]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            S_w = angular(x.S[k, w])
            S_v = linear(x.S[k, w])
            F = spatial(ww * S_w + wv * S_v, wp.transpose(wv) * S_w + vv * S_v)
            at = i
            last = k + 1  # of its own joint, each pair once
            while at >= 0:
                for j in range(m.dof_start[at], last):
                    entry = wp.dot(x.S[j, w], F)
                    M[j * dofs + k, w] = entry
                    M[k * dofs + j, w] = entry
                F = carry_wrench(F, x.r[at, w])
                at = m.parent[at]
                if at >= 0:
                    last = m.dof_start[at + 1]
            if m.armature.shape[0] > 0:
                M[k * dofs + k, w] = M[k * dofs + k, w] + m.armature[k, w]
        parent = m.parent[i]
        if parent >= 0:
            rx = cross_matrix(x.r[i, w])
            up_wv = wv + rx * vv
            x.IA_vv[parent, w] = x.IA_vv[parent, w] + vv
            x.IA_wv[parent, w] = x.IA_wv[parent, w] + up_wv
            x.IA_ww[parent, w] = x.IA_ww[parent, w] + ww - wv * rx + rx * wp.transpose(up_wv)


@wp.kernel(enable_backward=False)
def kinematics_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    kinematics(m, s, x, ZERO, wp.tid())


@wp.kernel(enable_backward=False)
def joint_inertia_kernel(m: SystemArrays, x: WorkArrays, M: wp.array2d(dtype=f64)):
    joint_inertia(m, x, M, wp.tid())


@wp.kernel(enable_backward=False)
def inverse_dynamics_kernel(m: SystemArrays, x: WorkArrays, qdd: wp.array2d(dtype=f64), tau: wp.array2d(dtype=f64)):
    w = wp.tid()
    inverse_dynamics(m, x, qdd, tau, spatial(zero3(), -m.gravity[0, w]), w)


@wp.kernel(enable_backward=False)
def forward_dynamics_kernel(m: SystemArrays, x: WorkArrays, tau: wp.array2d(dtype=f64)):
    """x.qdd of the joint forces tau, which are lent to x.tau: it must be as found when a step begins."""
    w = wp.tid()
    for k in range(x.tau.shape[0]):
        found = x.tau[k, w]
        x.tau[k, w] = tau[k, w]
        tau[k, w] = found
    articulate(m, x, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
    for k in range(x.tau.shape[0]):
        x.tau[k, w] = tau[k, w]


def mass_matrix(system: System, state: State, work: WorkArrays) -> np.ndarray:
    """M of every world [world, dof, dof] at the state's coordinates."""
    n = system.counts.dofs
    M = wp.zeros((n * n, system.counts.worlds), dtype=f64, device=system.device)
    move_bodies(system, state, work)
    _launch(system, joint_inertia_kernel, system.arrays, work, M)
    return M.numpy().T.reshape(-1, n, n)


def joint_forces(system: System, state: State, work: WorkArrays, qdd: np.ndarray) -> np.ndarray:
    """Joint forces [dof, world] [N m, N] under which the state accelerates by qdd [dof, world].

    Gravity and the wrenches in `work` act; work.acceleration is left less gravity.
    """
    given = wp.array(np.asarray(qdd, float), dtype=f64, device=system.device)
    tau = wp.zeros_like(given)
    move_bodies(system, state, work)
    _launch(system, inverse_dynamics_kernel, system.arrays, work, given, tau)
    return tau.numpy()


def forward_dynamics(system: System, state: State, work: WorkArrays, tau: np.ndarray) -> np.ndarray:
    """Joint accelerations [dof, world] under the joint forces tau [dof, world] [N m, N].

    Gravity and the wrenches in `work` act. No constraint rows: the tree alone.
    """
    given = wp.array(np.array(tau, float), dtype=f64, device=system.device)
    move_bodies(system, state, work)
    _launch(system, forward_dynamics_kernel, system.arrays, work, given)
    return work.qdd.numpy().copy()


def move_bodies(system: System, state: State, work: WorkArrays) -> None:
    """Poses, twists and freedoms from the state; the last step's mean accelerations are kept."""
    kept = wp.clone(work.a_WB)
    _launch(system, kinematics_kernel, system.arrays, state.arrays, work)
    wp.copy(work.a_WB, kept)


def _launch(system: System, kernel: wp.Kernel, *inputs: object) -> None:
    launch(kernel, system.counts.worlds, inputs, system.device)
