"""One step of the generalized-α method on equations of index 3 (Chung and Hulbert 1993; Arnold and Brüls 2007).

    (1 - α_m) a₁ + α_m a₀ = (1 - α_f) v̇₁ + α_f v̇₀
    v₁ = v₀ + h ((1 - γ) a₀ + γ a₁)            q₁ = q₀ ⊕ (h v₀ + h² ((1/2 - β) a₀ + β a₁))
    M v̇₁ + c = f + Jᵀ λ       Φ(q₁, t₁) = 0       (a motor of given speed: its velocity)

for v̇₁ and λ, by Newton's method with displacements δ of q₁ as unknowns, for which δv = γ' δ and δv̇ = β' δ:

    [ T/β' - G/β' + Cᵀ (k + γ' c) C/β'   -Jᵀ ] [ δ     ]     [ -r/β' ]       γ' = γ / (β h)
    [ J                                   0  ] [ δλ/β' ]  =  [ -Φ    ]       β' = (1 - α_m) / ((1 - α_f) β h²)

T and G the inertial and geometric tangents (beside this file), C the compliant rows: the matrix is exact but for what a
ball's finite turn in a step does to its own parameters.

Steps of changing size. a₀ is v̇ at t₀ + (α_m - α_f) h, h of the step before: what is kept of it is (a₀ - v̇₀) / h, so
that it fits the next. With Φ(q) = 0 at both ends velocities are off along the rows' normals by

    h² (1/6 - (α_m - α_f)/2 - β) d³Φ/dt³

which steps of one size carry along. Where the size changes it is changed as h² is (`resize`); left as it is, the next
steps throw it off by forces of order h, and the energy goes up or down with every change.
"""

import warp as wp

from ..constrain import coupling, kinds, motor
from ..constrain.assemble import assemble_bilateral
from ..constrain.frames import follow_loops
from ..coordinates.inverse import inverse_dynamics
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import articulate, kinematics, next_tree, row_velocity
from ..forces.total import total
from ..ledger import DRAG, fluid_entry, ledger_size, load_entry, loss_entry, viscous_entry, work_entry
from ..solve.dense import solve_full
from ..solve.direct import apply_multipliers, factor_bilateral, solve_bilateral
from ..spatial import HALF, ONE, ZERO, cross_matrix, f64, spatial, turning_factor, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .geometric import geometric
from .inertial_tangent import inertial_change, true_accelerations

MOST_ROUNDS = 15
CLOSE = wp.constant(wp.float64(1e-9))  # last displacement of a Newton's method that has converged [rad, sizes]
CLOSEST = wp.constant(wp.float64(1e-13))  # in a sub-step, of which accelerations are to be as good
GROWN = wp.constant(wp.float64(1e3))  # a displacement so many times the first is on no way to a solution


@wp.struct
class Scheme:
    """Numbers of the method."""

    alpha_m: f64
    alpha_f: f64
    beta: f64
    gamma: f64


@wp.func
def scheme_of(radius: f64) -> Scheme:
    """Of a spectral radius at infinite frequency."""
    c = Scheme()
    c.alpha_m = (radius + radius - ONE) / (radius + ONE)
    c.alpha_f = radius / (radius + ONE)
    c.gamma = HALF + c.alpha_f - c.alpha_m
    c.beta = f64(0.25) * (c.gamma + HALF) * (c.gamma + HALF)
    return c


@wp.func
def end_of_step(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: Scheme,
    rate: int,  # where v̇₀ begins in s.method
    slope: int,  # and (a₀ - v̇₀) / h
    h: f64,
    w: int,
):
    """State at the end of the step from v̇₁ in x.lag_v; leaves a₁ in x.lag_q."""
    for k in range(s.q.shape[0]):
        s.q[k, w] = x.q_start[k, w]
    for k in range(s.v.shape[0]):
        a0 = s.method[rate + k, w] + h * s.method[slope + k, w]
        a1 = ((ONE - c.alpha_f) * x.lag_v[k, w] + c.alpha_f * s.method[rate + k, w] - c.alpha_m * a0) / (
            ONE - c.alpha_m
        )
        x.lag_q[k, w] = a1
        s.v[k, w] = x.v_start[k, w] + h * ((ONE - c.gamma) * a0 + c.gamma * a1)
        x.shift[k, w] = h * x.v_start[k, w] + h * h * ((HALF - c.beta) * a0 + c.beta * a1)
    move_coordinates(m, s, x.shift, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)


@wp.func
def powers(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Of motors that are rows, into the first stage; J of the rows is filled."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if kinds.is_drive(x, r, w):
            book = work_entry(0, m.slot_kind.shape[0], r)
            x.k_book[book, w] = x.multiplier[i, w] * row_velocity(m, x, s.v, r, w)


@wp.func
def keep_powers(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """What the first stage has is that of the start now."""
    n = ledger_size(m.slot_kind.shape[0], m.load_body.shape[0], m.fluid_channel.shape[0])
    for k in range(n):
        x.k_book[n + k, w] = x.k_book[k, w]


@wp.func
def given(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int) -> f64:
    """What the powers at both ends of a step h come to, losses taken off [J]."""
    slots = m.slot_kind.shape[0]
    power = ZERO
    for j in range(2):
        book = j * ledger_size(slots, m.load_body.shape[0], m.fluid_channel.shape[0])
        for r in range(slots):
            if m.live_slots[0] > 0 and not kinds.is_equation(x, r, w):
                power += x.k_book[work_entry(book, slots, r), w] - x.k_book[loss_entry(book, slots, r), w]
                power -= x.k_book[viscous_entry(book, slots, r), w]
        for k in range(m.load_body.shape[0]):
            power += x.k_book[load_entry(book, slots, k), w]
        for k in range(3 * m.fluid_channel.shape[0]):
            own = x.k_book[fluid_entry(book, slots, m.load_body.shape[0], k), w]
            if k % 3 == DRAG:
                own = -own
            power += own
    return HALF * h * power


@wp.func(inline=False)
def resize(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, ratio: f64, w: int):
    """Before a step `ratio` times as long as the last one: J v off as such steps leave it. Geometry is current."""
    rows = m.bilateral.shape[0]
    articulate(m, x, w)
    assemble_bilateral(m, x, t, 0, w)
    factor_bilateral(m, x, w)
    for i in range(rows):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            off = row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, t, w)
            x.multiplier[i, w] = (ratio * ratio - ONE) * off
            x.rhs[i, w] = x.multiplier[i, w]
    solve_bilateral(m, x, w)
    for i in range(rows):
        r = m.bilateral[i]
        if kinds.is_drive(x, r, w):
            mean = row_velocity(m, x, s.v, r, w) + HALF * x.rhs[i, w]
            s.work[r, w] = s.work[r, w] + x.multiplier[i, w] * mean
    apply_multipliers(m, x, s.v, w)
    kinematics(m, s, x, ZERO, w)


@wp.func
def fill_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """J of the rows that are solved."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            if coupling.is_coupling(kinds.kind_of(x, r, w)):
                coupling.jacobian(m, x, r, w)
            else:
                kinds.jacobian(m, x, r, w)


@wp.func
def row_miss(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, g_v: f64, w: int
) -> f64:
    """What a row is off at the end of the step, as a displacement [m, rad]."""
    if kinds.is_drive(x, r, w) and not motor.is_servo(x, r, w):
        return (row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, t, w)) / g_v
    return kinds.error(m, s, x, r, t, w)


@wp.func(inline=False)
def residual(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, g_v: f64, g_a: f64, w: int
) -> f64:
    """Right side of Newton's method at the present end of the step; returns what the worst row is off [m, rad]."""
    n = s.v.shape[0]
    rows = m.bilateral.shape[0]
    total(m, s, x, t, 0, w)
    for i in range(rows):
        s.impulse[m.bilateral[i], w] = x.multiplier[i, w] * m.nominal_h[0]
    fill_rows(m, x, w)
    inverse_dynamics(m, x, x.lag_v, x.u, spatial(zero3(), -m.gravity[0, w]), w)
    for k in range(n):
        x.newton_step[k, w] = (x.tau[k, w] - x.u[k, w]) / g_a
    worst = ZERO
    for i in range(rows):
        r = m.bilateral[i]
        x.newton_step[n + i, w] = ZERO
        if x.solved[r, w] == 0:
            continue
        force = x.multiplier[i, w]
        entry = x.row_start[r, w]
        part = int(0)
        tree = x.row_trees[4 * r, w]
        while tree >= 0:
            for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
                x.newton_step[k, w] = x.newton_step[k, w] + x.J[entry, w] * force / g_a
                entry += 1
            part += 1
            tree = next_tree(m, x, r, part, w)
        off = row_miss(m, s, x, r, t, g_v, w)
        x.newton_step[n + i, w] = -off
        worst = wp.max(worst, wp.abs(off))
    return worst


@wp.func(inline=False)
def add_row(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, at: int, unknowns: int, w: int):
    """J of a row into the matrix, and -Jᵀ."""
    entry = x.row_start[r, w]
    part = int(0)
    tree = x.row_trees[4 * r, w]
    while tree >= 0:
        for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
            x.newton[at * unknowns + k, w] = x.J[entry, w]
            x.newton[k * unknowns + at, w] = -x.J[entry, w]
            entry += 1
        part += 1
        tree = next_tree(m, x, r, part, w)


@wp.func(inline=False)
def add_square(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, size: f64, unknowns: int, w: int):
    """size · Jᵀ J of a compliant row into the matrix; J as one vector passes through x.v_old."""
    n = x.S.shape[0]
    for k in range(n):
        x.v_old[k, w] = ZERO
    entry = x.row_start[r, w]
    part = int(0)
    tree = x.row_trees[4 * r, w]
    while tree >= 0:
        for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
            x.v_old[k, w] = x.J[entry, w]
            entry += 1
        part += 1
        tree = next_tree(m, x, r, part, w)
    for i in range(n):
        if x.v_old[i, w] != ZERO:
            for j in range(n):
                x.newton[i * unknowns + j, w] = x.newton[i * unknowns + j, w] + size * x.v_old[i, w] * x.v_old[j, w]


@wp.func(inline=False)
def add_turning(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, size: f64, unknowns: int, w: int):
    """size · Jᵀ (D - 1) J of the three rows by which a hand turns, from r on: see constrain/hand_turn.py."""
    off = x.hand_off[x.row_part[r, w], w]
    C = cross_matrix(off)
    D = -HALF * C + turning_factor(wp.dot(off, off)) * (C * C)
    tree = x.row_trees[4 * r, w]
    start = m.tree_dof[tree]
    for i in range(3):
        for j in range(3):
            for k in range(start, m.tree_dof[tree + 1]):
                left = size * D[i, j] * x.J[x.row_start[r + i, w] + k - start, w]
                for n in range(start, m.tree_dof[tree + 1]):
                    right = x.J[x.row_start[r + j, w] + n - start, w]
                    x.newton[k * unknowns + n, w] = x.newton[k * unknowns + n, w] + left * right


@wp.func(inline=False)
def fill_matrix(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, g_v: f64, g_a: f64, w: int
):
    """The matrix at the present end of the step."""
    n = s.v.shape[0]
    rows = m.bilateral.shape[0]
    unknowns = n + rows
    for e in range(unknowns * unknowns):
        x.newton[e, w] = ZERO
    true_accelerations(m, x, x.lag_v, w)
    for k in range(n):
        x.v_pseudo[k, w] = ZERO
    for k in range(n):
        x.v_pseudo[k, w] = ONE
        geometric(m, x, s.impulse, ONE / m.nominal_h[0], t, x.v_pseudo, x.v_old, w)
        for i in range(n):
            x.newton[i * unknowns + k, w] = -x.v_old[i, w] / g_a
        inertial_change(m, s, x, x.lag_v, x.v_pseudo, g_v, g_a, x.v_old, w)
        for i in range(n):
            x.newton[i * unknowns + k, w] = x.newton[i * unknowns + k, w] + x.v_old[i, w] / g_a
        x.v_pseudo[k, w] = ZERO
    for i in range(rows, m.solvable.shape[0]):
        r = m.solvable[i]
        stiff = kinds.stiffness(m, x, r, w) + g_v * kinds.damping(m, x, r, w)
        if stiff > ZERO and not kinds.is_unused(m, x, r, w):
            kinds.jacobian(m, x, r, w)
            add_square(m, x, r, stiff / g_a, unknowns, w)
    if m.turn_channel.shape[0] > 0:
        for i in range(rows, m.solvable.shape[0]):
            r = m.solvable[i]
            if kinds.turns_hand(m, x, r, w):
                add_turning(m, x, r, kinds.stiffness(m, x, r, w) / g_a, unknowns, w)
    for i in range(rows):
        if x.solved[m.bilateral[i], w] != 0:
            add_row(m, x, m.bilateral[i], n + i, unknowns, w)
        else:
            x.newton[(n + i) * unknowns + n + i, w] = ONE


@wp.func(inline=False)
def newton_rounds(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: Scheme,
    rate: int,
    slope: int,
    t: f64,  # at the end of the step
    h: f64,
    w: int,
) -> int:
    """v̇₁ and λ of a step, from guesses in x.lag_v and x.multiplier; returns rounds, minus them where there is none."""
    n = s.v.shape[0]
    rows = m.bilateral.shape[0]
    g_v = c.gamma / (c.beta * h)
    g_a = (ONE - c.alpha_m) / ((ONE - c.alpha_f) * c.beta * h * h)
    rounds = int(0)
    first = ZERO
    part = h / m.nominal_h[0]
    close = wp.max(CLOSE * part * part, CLOSEST)
    while rounds < MOST_ROUNDS:
        end_of_step(m, s, x, c, rate, slope, h, w)
        residual(m, s, x, t, g_v, g_a, w)
        fill_matrix(m, s, x, t, g_v, g_a, w)
        rounds += 1
        if not solve_full(x.newton, x.newton_step, n + rows, w):
            return -rounds
        size = ZERO
        for k in range(n):
            step = x.newton_step[k, w]
            x.lag_v[k, w] = x.lag_v[k, w] + g_a * step
            size = wp.max(size, step * step / m.dof_weight[k])
        for i in range(rows):
            x.multiplier[i, w] = x.multiplier[i, w] + g_a * x.newton_step[n + i, w]
        size = wp.sqrt(size)
        if rounds == 1:
            first = size
        if size <= close:
            end_of_step(m, s, x, c, rate, slope, h, w)
            return rounds
        if not wp.isfinite(size) or size > GROWN * (first + close):
            return -rounds
    return -rounds
