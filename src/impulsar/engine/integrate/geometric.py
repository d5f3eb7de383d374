"""The geometric part of the tangent: what turning bodies does to forces that are there.

Along a displacement δ of the coordinates, row forces λ, loads in their own frames and weights held,

    G δ = d/dε [ Jᵀ λ + Σ (∂V/∂v)ᵀ applied ] (q ⊕ ε δ)

is what `tangent.py` leaves out of ∂f/∂q δ: a string under tension T is stiff across by T / L, whatever its springs.
With V_i the displacement of body i by δ, F_i what acts on all that its joint carries, about its centre of mass, and a
dot for the change along δ, freedom k of its joint feels S_k · F_i, so that

    (G δ)_k = Ṡ_k · F_i + S_k · Ḟ_i
    F_p += carry(F_i, r)           Ḟ_p += carry(Ḟ_i, r) + [ṙ × f_i, 0]        r = p_i - p_p,   ṙ = v_i - v_p
    S = [turn, slide + turn × d]   Ṡ = [turṅ, slidė + turṅ × d + turn × ḋ]    d from M's origin to p_i

Axes turn with the carrier of F, or of M, and the pairs of the rows say themselves how they do (constrain/turning.py):
all of it is closed, one pass out and one in, and exact where differences of the rows would lose half of the digits and
displace the state meanwhile. A row along a freedom of the tree alone has a constant J and adds nothing. Contacts are
not among the rows: how their normals turn and where they touch next is a matter of both surfaces' curvatures. G is
not symmetric where velocities are not rates of coordinates (balls), or where a load turns with its body.
"""

import numpy as np
import warp as wp

from ..constrain import coupling, kinds
from ..constrain.frames import Pair, follow_loops, freedom_pair, point_of
from ..constrain.topology import list_rows
from ..constrain.transmit import about
from ..constrain.turning import joint_pair_rate, point_rate, twist_of
from ..coordinates.inertia import weight
from ..coordinates.tree import kinematics
from ..forces.total import turn_elements
from ..freedoms import turns_with_second
from ..launch import launch
from ..spatial import ONE, ZERO, angular, carry_twist, carry_wrench, f64, linear, spatial, vec6, zero3
from ..state import State, StateArrays, WorkArrays
from ..system import System, SystemArrays


@wp.func
def displace(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], along: wp.array2d(dtype=f64), w: int):
    """x.moved: displacements of the bodies; x.pull: their weights, which do not turn."""
    for i in range(m.parent.shape[0]):
        V = carry_twist(twist_of(x.moved, m.parent[i], w), x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            V += along[k, w] * x.S[k, w]
        x.moved[i, w] = V
        x.pull[i, w] = weight(m, i, w)
        x.pull_rate[i, w] = vec6()


@wp.func
def pull_on(x: wp.ref[WorkArrays], body: int, pair: Pair, rate: Pair, size: f64, w: int):
    """Add size · pair to what acts on a body, and how it changes."""
    arm = pair.point - x.p_WB[body, w]
    arm_rate = rate.point - linear(x.moved[body, w])
    turn_rate = rate.turn + wp.cross(arm_rate, pair.slide) + wp.cross(arm, rate.slide)
    x.pull[body, w] = x.pull[body, w] + about(x, pair, body, size, w)
    x.pull_rate[body, w] = x.pull_rate[body, w] + size * spatial(turn_rate, rate.slide)


@wp.func
def pull_pair(x: wp.ref[WorkArrays], pair: Pair, rate: Pair, size: f64, w: int):
    if pair.second >= 0:
        pull_on(x, pair.second, pair, rate, size, w)
    if pair.first >= 0:
        pull_on(x, pair.first, pair, rate, -size, w)


@wp.func
def pull_freedom(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, size: f64, w: int):
    pair = freedom_pair(m, x, j, code, w)
    pull_pair(x, pair, joint_pair_rate(m, x, j, code, pair, x.moved, w), size, w)


@wp.func
def pull_coupling(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, size: f64, w: int):
    """The pairs of a coupling, as far as they are not along freedoms of the tree."""
    c = x.row_part[r, w]
    for side in range(2):
        if m.coupled_dof[c, side] < 0:
            j = m.coupled_joint[c, side]
            code = m.coupled_code[c, side]
            share = size
            if side == 0:
                share = -size * coupling.ratio(m, r, w)
            pull_freedom(m, x, j, code, share, w)
    for k in range(coupling.first_term(m, x, r, w), coupling.end_of_terms(m, x, r, w)):
        if m.more_dof[k] < 0:
            pull_freedom(m, x, m.more_joint[k], m.more_code[k], -size * m.more_weight[k, w], w)


@wp.func
def pull_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], force: wp.array2d(dtype=f64), per: f64, w: int):
    """What the slots' rows do to the bodies."""
    for r in range(wp.min(x.row_count[0, w], m.slot_kind.shape[0])):
        size = per * force[r, w]
        if size == ZERO or m.slot_dof[r] >= 0 or kinds.is_element(x, r, w) or kinds.is_unused(m, x, r, w):
            continue
        if coupling.is_coupling(kinds.kind_of(x, r, w)):
            pull_coupling(m, x, r, size, w)
        else:
            pair = kinds.pair(m, x, r, w)
            pull_pair(x, pair, kinds.pair_rate(m, x, r, pair, x.moved, w), size, w)


@wp.func
def joint_change(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, out: wp.array2d(dtype=f64), w: int):
    """(G δ)_k of the freedoms of body i's joint, with all that it carries in x.pull and x.pull_rate."""
    V = x.moved[i, w]
    p_M = point_of(x, m.second[i], m.p_CM[i, w], w)
    d = x.p_WB[i, w] - p_M
    d_rate = linear(V) - point_rate(x, x.moved, m.second[i], p_M, w)
    of_F = angular(twist_of(x.moved, m.first[i], w))
    of_M = angular(twist_of(x.moved, m.second[i], w))
    for k in range(m.dof_start[i], m.dof_start[i + 1]):
        S = x.S[k, w]
        turn = angular(S)
        slide = linear(S) - wp.cross(turn, d)
        turn_rate = wp.cross(of_F, turn)
        if turns_with_second(m.dof_kind[k]):
            turn_rate = wp.cross(of_M, turn)
        slide_rate = wp.cross(of_F, slide) + wp.cross(turn_rate, d) + wp.cross(turn, d_rate)
        out[k, w] = wp.dot(spatial(turn_rate, slide_rate), x.pull[i, w]) + wp.dot(S, x.pull_rate[i, w])


@wp.func(inline=False)
def geometric(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    force: wp.array2d(dtype=f64),  # [row] times `per` [N, N m]; s.impulse of an instant, by 1 / nominal step
    per: f64,
    t: f64,
    along: wp.array2d(dtype=f64),  # [dof] δ [m, rad]
    # out
    out: wp.array2d(dtype=f64),  # [dof] G δ [N, N m]
    w: int,
):
    """out = G δ at the poses in x, where kinematics and follow_loops have left them; nothing else is moved."""
    displace(m, x, along, w)
    turn_elements(m, x, t, w)
    pull_rows(m, x, force, per, w)
    n = m.parent.shape[0]
    for back in range(n):
        i = n - 1 - back
        joint_change(m, x, i, out, w)
        parent = m.parent[i]
        if parent >= 0:
            r = x.r[i, w]
            r_rate = linear(x.moved[i, w]) - linear(x.moved[parent, w])
            F = x.pull[i, w]
            turned = spatial(wp.cross(r_rate, linear(F)), zero3())
            x.pull_rate[parent, w] = x.pull_rate[parent, w] + carry_wrench(x.pull_rate[i, w], r) + turned
            x.pull[parent, w] = x.pull[parent, w] + carry_wrench(F, r)


@wp.kernel(enable_backward=False)
def geometric_kernel(
    # model
    m: SystemArrays,
    # state in
    s: StateArrays,
    x: WorkArrays,
    force: wp.array2d(dtype=f64),  # [row, world]
    # scratch
    along: wp.array2d(dtype=f64),  # [dof, world]
    change: wp.array2d(dtype=f64),  # [dof, world]
    # out
    G: wp.array2d(dtype=f64),  # [dof · dofs + dof, world]
):
    """G by its columns."""
    w = wp.tid()
    dofs = along.shape[0]
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    for k in range(dofs):
        along[k, w] = ZERO
    for k in range(dofs):
        along[k, w] = ONE
        geometric(m, x, force, ONE, s.time[0, w], along, change, w)
        along[k, w] = ZERO
        for j in range(dofs):
            G[j * dofs + k, w] = change[j, w]


def geometric_tangent(system: System, state: State, work: WorkArrays, force: np.ndarray) -> np.ndarray:
    """G of every world [world, dof, dof] at the state's coordinates and time, the rows' forces [row, world] held."""
    n, worlds = system.counts.dofs, system.counts.worlds
    given = wp.array(np.asarray(force, float), dtype=f64, device=system.device)
    along, change, G = (wp.zeros((size, worlds), dtype=f64, device=system.device) for size in (n, n, n * n))
    inputs = [system.arrays, state.arrays, work, given, along, change, G]
    launch(geometric_kernel, worlds, inputs, system.device)
    return G.numpy().T.reshape(-1, n, n)
