"""The inertial part of the tangent: how what it takes to move bodies changes with their motion.

With T(q, v, v̇) = M v̇ + c, the joint forces of inverse dynamics without loads and weights (coordinates/inverse.py),
along a displacement δ with which velocities change by g_v δ and accelerations by g_a δ,

    out = d/dε T(q ⊕ ε δ, v + ε g_v δ, v̇ + ε g_a δ)

by one pass out and one in over the changes (a bar) of everything that inverse dynamics computes, [φ, ρ] the
displacement of a body:

    S̄ = [turn̄, slidē + turn̄ × d + turn × d̄]       V̄ = carry(V̄_p, r) + [0, w_p × r̄] + Σ (S̄ v + S g_v δ)
    Ā = carry(Ā_p, r) + [0, α_p × r̄] + Σ (S̄ v̇ + S g_a δ) + the change of the bias (coordinates/tree.py)
    n̄ = φ × (I α) - I (φ × α) + I ᾱ + w̄ × I w + w × (φ × (I w) - I (φ × w) + I w̄)          f̄ = m ā
    out_k = S̄_k · F + S_k · F̄

Exact, like geometric.py beside it, which has the forces' own part, but for added mass: products of velocities and the
slope of its immersion are left out of it, to which Newton's method is blind and not its solution.
"""

import numpy as np
import warp as wp

from ..constrain.frames import point_of
from ..constrain.turning import point_rate, twist_of
from ..coordinates.added_mass import added_momentum
from ..coordinates.inertia import body_mass, inertial_wrench
from ..coordinates.tree import kinematics
from ..freedoms import turns_with_second
from ..launch import launch
from ..spatial import ONE, ZERO, angular, carry_twist, carry_wrench, f64, linear, spatial, vec3, vec6, zero3
from ..state import State, StateArrays, WorkArrays
from ..system import System, SystemArrays
from .geometric import displace


@wp.struct
class Change:
    """Of what a joint adds to its body's motion."""

    V: vec6
    A: vec6


@wp.func
def freedom_change(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, k: int, d: vec3, d_bar: vec3, w: int
) -> vec6:
    """S̄ of a freedom of body i's joint."""
    if m.spins_free[i] != 0:
        return vec6()
    S = x.S[k, w]
    turn = angular(S)
    slide = linear(S) - wp.cross(turn, d)
    of_F = angular(twist_of(x.moved, m.first[i], w))
    turn_bar = wp.cross(of_F, turn)
    if turns_with_second(m.dof_kind[k]):
        turn_bar = wp.cross(angular(twist_of(x.moved, m.second[i], w)), turn)
    return spatial(turn_bar, wp.cross(of_F, slide) + wp.cross(turn_bar, d) + wp.cross(turn, d_bar))


@wp.func(inline=False)
def joint_motion_change(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    i: int,
    along: wp.array2d(dtype=f64),
    g_v: f64,
    g_a: f64,
    rate: wp.array2d(dtype=f64),
    w: int,
) -> Change:
    """What the joint of body i adds to V̄ and Ā, its bias included; x.change holds V̄ of its parent."""
    out = Change()
    parent = m.parent[i]
    w_p = angular(twist_of(x.twist, parent, w))
    w_p_bar = angular(twist_of(x.change, parent, w))
    p_M = point_of(x, m.second[i], m.p_CM[i, w], w)
    d = x.p_WB[i, w] - p_M
    d_bar = linear(x.moved[i, w]) - point_rate(x, x.moved, m.second[i], p_M, w)
    sign = ONE
    if m.second[i] != i:
        sign = -ONE
    turning = zero3()
    turning_bar = zero3()
    sliding = zero3()
    sliding_bar = zero3()
    twisting = zero3()  # of axes that turn with the freedoms before them
    twisting_bar = zero3()
    for k in range(m.dof_start[i], m.dof_start[i + 1]):
        S = x.S[k, w]
        S_bar = freedom_change(m, x, i, k, d, d_bar, w)
        v = s.v[k, w]
        v_bar = g_v * along[k, w]
        out.V = out.V + v * S_bar + v_bar * S
        out.A = out.A + rate[k, w] * S_bar + g_a * along[k, w] * S
        if m.spins_free[i] != 0:
            continue
        turn = angular(S)
        turn_bar = angular(S_bar)
        if turns_with_second(m.dof_kind[k]):
            twisting = v * sign * wp.cross(turning, turn)
            twisting_bar = sign * (
                v_bar * wp.cross(turning, turn) + v * (wp.cross(turning_bar, turn) + wp.cross(turning, turn_bar))
            )
        turning += v * turn
        turning_bar += v_bar * turn + v * turn_bar
        slide = linear(S) - wp.cross(turn, d)
        sliding += v * slide
        sliding_bar += v_bar * slide + v * (linear(S_bar) - wp.cross(turn_bar, d) - wp.cross(turn, d_bar))
    if m.spins_free[i] != 0:
        return out
    w_B = w_p + turning
    w_B_bar = w_p_bar + turning_bar
    carrier = w_p
    carrier_bar = w_p_bar
    if m.second[i] != i:
        carrier = w_B
        carrier_bar = w_B_bar
    arm = x.r[i, w] - d
    arm_bar = linear(x.moved[i, w]) - linear(twist_of(x.moved, parent, w)) - d_bar
    bias_w = wp.cross(w_p, turning) + twisting
    bias_w_bar = wp.cross(w_p_bar, turning) + wp.cross(w_p, turning_bar) + twisting_bar
    bias_v_bar = (
        wp.cross(w_p_bar, wp.cross(w_p, arm))
        + wp.cross(w_p, wp.cross(w_p_bar, arm) + wp.cross(w_p, arm_bar))
        + wp.cross(carrier_bar + carrier_bar, sliding)
        + wp.cross(carrier + carrier, sliding_bar)
        + wp.cross(bias_w_bar, d)
        + wp.cross(bias_w, d_bar)
        + wp.cross(w_B_bar, wp.cross(w_B, d))
        + wp.cross(w_B, wp.cross(w_B_bar, d) + wp.cross(w_B, d_bar))
    )
    out.A = out.A + spatial(bias_w_bar, bias_v_bar)
    return out


@wp.func
def wrench_change(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V_bar: vec6, A_bar: vec6, w: int) -> vec6:
    """F̄ of body i alone."""
    inertia = x.I_W[i, w]
    phi = angular(x.moved[i, w])
    spin = angular(x.twist[i, w])
    alpha = angular(x.acceleration[i, w])
    spin_bar = angular(V_bar)
    turned = wp.cross(phi, inertia * spin) - inertia * wp.cross(phi, spin) + inertia * spin_bar
    torque = (
        wp.cross(phi, inertia * alpha)
        - inertia * wp.cross(phi, alpha)
        + inertia * angular(A_bar)
        + wp.cross(spin_bar, inertia * spin)
        + wp.cross(spin, turned)
    )
    out = spatial(torque, body_mass(m, i, w) * linear(A_bar))
    if m.wet_start.shape[0] > 0:
        out += added_change(x, i, phi, A_bar, w)
    return out


@wp.func
def added_change(x: wp.ref[WorkArrays], i: int, phi: vec3, A_bar: vec6, w: int) -> vec6:
    """Of what it takes to accelerate the fluid about body i, its immersion and products of velocities held."""
    A = x.acceleration[i, w]
    own = added_momentum(x, i, A, w)
    turned = spatial(wp.cross(phi, angular(A)), wp.cross(phi, linear(A)))
    change = spatial(wp.cross(phi, angular(own)), wp.cross(phi, linear(own))) - added_momentum(x, i, turned, w)
    return change + added_momentum(x, i, A_bar, w)


@wp.func(inline=False)
def inertial_change(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    rate: wp.array2d(dtype=f64),  # [dof] v̇, whose bodies' accelerations are in x.acceleration, gravity not taken off
    along: wp.array2d(dtype=f64),  # [dof] δ, whose bodies' displacements are in x.moved
    g_v: f64,
    g_a: f64,
    # out
    out: wp.array2d(dtype=f64),  # [dof]
    w: int,
):
    """The change of inverse dynamics along δ; x.change, x.twist_pseudo, x.pull and x.pull_rate are used on the way."""
    n = m.parent.shape[0]
    for i in range(n):
        parent = m.parent[i]
        r = x.r[i, w]
        r_bar = linear(x.moved[i, w]) - linear(twist_of(x.moved, parent, w))
        V_bar = carry_twist(twist_of(x.change, parent, w), r)
        A_bar = carry_twist(twist_of(x.twist_pseudo, parent, w), r)
        V_bar += spatial(zero3(), wp.cross(angular(twist_of(x.twist, parent, w)), r_bar))
        A_bar += spatial(zero3(), wp.cross(angular(twist_of(x.acceleration, parent, w)), r_bar))
        more = joint_motion_change(m, s, x, i, along, g_v, g_a, rate, w)
        x.change[i, w] = V_bar + more.V
        x.twist_pseudo[i, w] = A_bar + more.A
        x.pull[i, w] = inertial_wrench(m, x, i, x.acceleration[i, w], w)
        x.pull_rate[i, w] = wrench_change(m, x, i, V_bar + more.V, A_bar + more.A, w)
    for back in range(n):
        i = n - 1 - back
        F = x.pull[i, w]
        F_bar = x.pull_rate[i, w]
        p_M = point_of(x, m.second[i], m.p_CM[i, w], w)
        d = x.p_WB[i, w] - p_M
        d_bar = linear(x.moved[i, w]) - point_rate(x, x.moved, m.second[i], p_M, w)
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            S_bar = freedom_change(m, x, i, k, d, d_bar, w)
            out[k, w] = wp.dot(S_bar, F) + wp.dot(x.S[k, w], F_bar)
            if m.armature.shape[0] > 0:
                out[k, w] = out[k, w] + g_a * m.armature[k, w] * along[k, w]
        parent = m.parent[i]
        if parent >= 0:
            r = x.r[i, w]
            r_bar = linear(x.moved[i, w]) - linear(x.moved[parent, w])
            turned = spatial(wp.cross(r_bar, linear(F)), zero3())
            x.pull_rate[parent, w] = x.pull_rate[parent, w] + carry_wrench(F_bar, r) + turned
            x.pull[parent, w] = x.pull[parent, w] + carry_wrench(F, r)


@wp.func
def true_accelerations(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rate: wp.array2d(dtype=f64), w: int):
    """x.acceleration of the bodies where the joints accelerate by `rate`, gravity not taken off."""
    for i in range(m.parent.shape[0]):
        A = carry_twist(twist_of(x.acceleration, m.parent[i], w), x.r[i, w]) + x.bias[i, w]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            A += rate[k, w] * x.S[k, w]
        x.acceleration[i, w] = A


@wp.kernel(enable_backward=False)
def inertial_tangent_kernel(
    # model
    m: SystemArrays,
    # state in
    s: StateArrays,
    x: WorkArrays,
    rate: wp.array2d(dtype=f64),  # [dof, world]
    g_v: f64,
    g_a: f64,
    # scratch
    along: wp.array2d(dtype=f64),  # [dof, world]
    change: wp.array2d(dtype=f64),  # [dof, world]
    # out
    T: wp.array2d(dtype=f64),  # [dof · dofs + dof, world]
):
    """The tangent by its columns."""
    w = wp.tid()
    dofs = along.shape[0]
    kinematics(m, s, x, ZERO, w)
    true_accelerations(m, x, rate, w)
    for k in range(dofs):
        along[k, w] = ZERO
    for k in range(dofs):
        along[k, w] = ONE
        displace(m, x, along, w)
        inertial_change(m, s, x, rate, along, g_v, g_a, change, w)
        along[k, w] = ZERO
        for j in range(dofs):
            T[j * dofs + k, w] = change[j, w]


def inertial_tangent(
    system: System, state: State, work: WorkArrays, rate: np.ndarray, g_v: float, g_a: float
) -> np.ndarray:
    """The tangent of every world [world, dof, dof] at the state's coordinates and velocities, accelerated by `rate`."""
    n, worlds = system.counts.dofs, system.counts.worlds
    given = wp.array(np.asarray(rate, float), dtype=f64, device=system.device)
    along, change, T = (wp.zeros((size, worlds), dtype=f64, device=system.device) for size in (n, n, n * n))
    inputs = [system.arrays, state.arrays, work, given, f64(g_v), f64(g_a), along, change, T]
    launch(inertial_tangent_kernel, worlds, inputs, system.device)
    return T.numpy().T.reshape(-1, n, n)
