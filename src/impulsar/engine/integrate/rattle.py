"""RATTLE: a symmetric, symplectic step of a mechanism (Andersen 1983; Leimkuhler 1994), in any coordinates.

    kick        Tᵀ π = M v_n + h/2 f(q_n, v_n) + Jᵀ μ              T, M, J at q_n
    flight      π = momenta that take the bodies from q_n to q_{n+1} in h,   Φ(q_{n+1}) = due at t_{n+1}
    kick        M v_{n+1} = Tᵀ π + h/2 f(q_{n+1}, v_{n+1}) + Jᵀ ν    T, M, J at q_{n+1}
                J v_{n+1} = rates due at t_{n+1}

q    coordinates of the trees           v    their velocities [m/s, rad/s]
T    twists of the bodies by v          π    momenta of the bodies [N m s, N s], in space the same over a flight
Φ    what rows hold                     μ, ν impulses of the rows [N s, N m s]
h    step, which may be negative        f    forces of an instant, without velocity products

μ and q_{n+1} are found together, then ν. It is the variational integrator of the discrete action in which every body
goes from pose to pose straight on and at an even spin in its own axes (Leyendecker 2008; of the
turning Bobenko 1999): with R_{n+1} = R_n exp [φ] and the inertia I in body axes

    P = m (p_{n+1} - p_n) / h        L = R_n (1 + [φ]/2 + k [φ]²) I φ / h        k = (1 - φ/2 cot φ/2) / φ²

where joints of the trees are parametrized and not rows: Tᵀ takes their reactions out. In maximal coordinates every body
is a tree and T is 1. The step is the same in both but for rounding.

Newton's method has the matrix of q_n, M and J M⁻¹ Jᵀ, and begins with what the last step had: μ / (h/2) is the force of
the rows at t_n + h/3 and ν / (h/2) that at t_{n+1} - h/3, to second order, so both lie on a line with the next. Errors
are removed down to rounding. Momenta from differences of poses are rounded to 1e-16 / h; along T, where that would
add up, they are replaced by those of the velocities.

Forces that depend on velocities are taken before the flight at its start and after it at its end, where v_{n+1} is
found by repetition: so the step stays its own adjoint, and compositions of it keep their order (methods/variational).
Powers are booked by the trapezoidal rule, impulses of motors by p (u₋ + u₊) / 2, both symmetric too.
"""

import warp as wp

from ..constrain import kinds
from ..constrain.frames import follow_loops
from ..constrain.rows import is_spare, respond
from ..coordinates.answers import answer, place_bodies, twists_of
from ..coordinates.inertia import body_mass, momentum, own_inertia, weight
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import articulate, kinematics, row_velocity
from ..forces.total import total
from ..ledger import STAGES
from ..solve.direct import apply_multipliers, factor_bilateral, solve_bilateral
from ..spatial import HALF, ONE, PI, TWO, ZERO, f64, rotation_vector, spatial, turning_factor
from ..state import OF_SYSTEM, Block, Counts, StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.measured import POSITION_RESIDUAL, POSITION_SLOT

ENOUGH = wp.constant(wp.float64(4e-16))  # change of an iteration that is left out [rad, sizes]
ROUNDING = wp.constant(wp.float64(1e-12))  # and that may be rounding, if it does not get smaller
STILL = wp.constant(wp.float64(1e-15))  # change of velocities, of the largest, that is rounding
JUMP = wp.constant(wp.float64(1e-8))  # of velocities, beyond what steps leave [m/s, rad/s; of 1 and the rate]
REPEATS = wp.constant(40)  # of a kick by forces that depend on velocities
LEARNT = wp.constant(STAGES)  # steps that are kept of an iteration
MU, NU, BEND, SIZE = 0, 1, 2, 3  # blocks of the state
RATTLE_BLOCKS = 4


def kept(counts: Counts) -> tuple[Block, ...]:
    """Between steps: forces of the rows by the last two impulses [N, N m], by how much the chord of the last flight
    was off its first velocities, over the step [m/s², rad/s²], and that step [s]."""
    return (
        Block("before", counts.slots, "slot", OF_SYSTEM),
        Block("after", counts.slots, "slot", OF_SYSTEM),
        Block("bend", counts.dofs, lasts=OF_SYSTEM),
        Block("size", 1, lasts=OF_SYSTEM),
    )


@wp.func(inline=False)
def stand(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Geometry, rows with their responses, and their factor, at the present coordinates."""
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    articulate(m, x, w)
    if m.bilateral.shape[0] == 0:
        return
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.solved[r, w] = int(0)
        if not (kinds.can_stick(x, r, w) or is_spare(m, r, w)):
            kinds.fill(m, s, x, r, t, ONE, w)
            if respond(m, x, r, ZERO, w):
                x.solved[r, w] = int(1)
    factor_bilateral(m, x, w)


@wp.func(inline=False)
def feel(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Forces of the present state at time t: x.qdd without rows and velocity products, powers into the books."""
    total(m, s, x, t, 0, w)
    for i in range(m.parent.shape[0]):
        x.pull[i, w] = x.wrench[i, w] + weight(m, i, w)
    answer(m, x, x.qdd, True, w)


@wp.func
def has_felt_forces(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether forces, or the powers that are booked of them, depend on velocities."""
    felt = bool(False)
    for k in range(m.load_body.shape[0]):
        if m.load_body[k] >= 0:
            felt = True
    for r in range(x.row_count[0, w]):
        if kinds.is_felt(m, x, r, w):
            felt = True
    return felt


@wp.func(inline=False)
def find_momenta(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """π: momenta that take every body from x.p_from, x.q_from to where it is in h, into x.pull."""
    for i in range(m.parent.shape[0]):
        P = body_mass(m, i, w) * (x.p_WB[i, w] - x.p_from[i, w]) / h
        q = x.q_from[i, w]
        turn = rotation_vector(wp.quat_inverse(q) * x.q_WB[i, w])
        own = own_inertia(m, i, w) * turn
        side = wp.cross(turn, own)
        L = own + HALF * side + turning_factor(wp.dot(turn, turn)) * wp.cross(turn, side)
        x.pull[i, w] = spatial(wp.quat_rotate(q, L) / h, P)


@wp.func
def largest_coordinate(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int) -> f64:
    """In half turns and sizes, at least 1: by which rounding goes."""
    largest = ONE
    for c in range(s.q.shape[0]):
        size = wp.abs(s.q[c, w])
        if m.coordinate_slides[c] != 0:
            largest = wp.max(largest, size / m.size[0])
        else:
            largest = wp.max(largest, size / PI)
    return largest


@wp.func
def guess(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """Impulses of the rows to begin with, into x.rhs and s.v; and the chord, as a velocity, into x.v_pseudo."""
    last = s.method[s.method_at[SIZE], w]
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        impulse = ZERO
        if x.solved[r, w] != 0 and last != ZERO:
            before = s.method[s.method_at[MU] + r, w]
            after = s.method[s.method_at[NU] + r, w]
            impulse = HALF * h * (after + (after - before) * (ONE + h / last))
        x.multiplier[i, w] = impulse
        x.rhs[i, w] = impulse
    apply_multipliers(m, x, s.v, w)
    for k in range(s.v.shape[0]):
        x.v_pseudo[k, w] = s.v[k, w] + h * s.method[s.method_at[BEND] + k, w]


@wp.func(inline=False)
def look(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int) -> f64:
    """Fly along the chord; the change of it that is due into x.shift, of impulses into x.multiplier.

    x.lag_v is by how much the momenta miss the velocities s.v. Returns the largest change over h [rad, sizes].
    """
    for c in range(s.q.shape[0]):
        s.q[c, w] = x.q_start[c, w]
    for k in range(s.v.shape[0]):
        x.shift[k, w] = h * x.v_pseudo[k, w]
    move_coordinates(m, s, x.shift, w)
    place_bodies(m, s, x, w)
    follow_loops(m, s, x, w)
    find_momenta(m, x, h, w)
    answer(m, x, x.lag_v, False, w)
    for k in range(s.v.shape[0]):
        x.lag_v[k, w] = s.v[k, w] - x.lag_v[k, w]
        x.shift[k, w] = x.lag_v[k, w]
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            off = kinds.place(m, s, x, r, w) - x.stretch_due[r, w]
            x.multiplier[i, w] = -off / h - row_velocity(m, x, x.lag_v, r, w)
            if not wp.abs(off) <= worst:
                worst = wp.abs(off)
                x.report[POSITION_SLOT, w] = f64(r)
    x.report[POSITION_RESIDUAL, w] = worst
    solve_bilateral(m, x, w)
    apply_multipliers(m, x, x.shift, w)
    change = ZERO
    for k in range(s.v.shape[0]):
        size = wp.abs(h * x.shift[k, w]) / wp.sqrt(m.dof_weight[k])
        if not size <= change:
            change = size
    return change


@wp.func
def along(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], j: int, w: int) -> f64:
    """What part of step j the change in x.shift is."""
    dofs = s.v.shape[0]
    product = ZERO
    square = ZERO
    for k in range(dofs):
        past = x.k_v[j * dofs + k, w] / m.dof_weight[k]
        product += past * x.shift[k, w]
        square += past * x.k_v[j * dofs + k, w]
    return product / square


@wp.func(inline=False)
def learn(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rounds: int, w: int):
    """Make the change that is due one by what earlier ones have shown of the matrix (Broyden), and keep it.

    With the steps s_0 .. s_n, and z the change by the matrix of the start, (Kelley 1995, §7.3)

        z ← z + (s_j · z) / |s_j|² s_{j+1},  j = 0 .. n-1        s_{n+1} = z / (1 - (s_n · z) / |s_n|²)
    """
    dofs = s.v.shape[0]
    n = m.bilateral.shape[0]
    for j in range(wp.min(rounds, LEARNT)):
        part = along(m, s, x, j, w)
        scale = part
        if j == wp.min(rounds, LEARNT) - 1:  # the last: all of z is stretched
            scale = ZERO
            if part < HALF:
                stretch = ONE / (ONE - part)
                for k in range(dofs):
                    x.shift[k, w] = stretch * x.shift[k, w]
                for i in range(n):
                    x.multiplier[i, w] = stretch * x.multiplier[i, w]
        else:
            for k in range(dofs):
                x.shift[k, w] = x.shift[k, w] + scale * x.k_v[(j + 1) * dofs + k, w]
            for i in range(n):
                x.multiplier[i, w] = x.multiplier[i, w] + scale * x.k_book[(j + 1) * n + i, w]
    if rounds < LEARNT:
        for k in range(dofs):
            x.k_v[rounds * dofs + k, w] = x.shift[k, w]
        for i in range(n):
            x.k_book[rounds * n + i, w] = x.multiplier[i, w]


@wp.func
def book_drives(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Work of the motors' impulses in x.rhs, by which velocities went from x.v_old to s.v."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0 and kinds.is_drive(x, r, w):
            mean = HALF * (row_velocity(m, x, s.v, r, w) + row_velocity(m, x, x.v_old, r, w))
            s.work[r, w] = s.work[r, w] + x.rhs[i, w] * mean


@wp.func
def keep_impulses(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], block: int, h: f64, w: int):
    """The impulses x.rhs, as forces, for the next guess."""
    for i in range(m.bilateral.shape[0]):
        s.method[s.method_at[block] + m.bilateral[i], w] = TWO / h * x.rhs[i, w]


@wp.func
def load_rates(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> f64:
    """What velocities lack of the rates due at time t, into x.multiplier; returns the largest, of 1 and the rate."""
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            rate = kinds.target_rate(m, x, r, t, w)
            x.multiplier[i, w] = rate - row_velocity(m, x, s.v, r, w)
            worst = wp.max(worst, wp.abs(x.multiplier[i, w]) / (ONE + wp.abs(rate)))
    return worst


@wp.func(inline=False)
def follow_jumps(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Where velocities miss the rates due at time t, since a target jumped or an edit set them: an impulse."""
    if load_rates(m, s, x, t, w) <= JUMP:
        return
    for k in range(s.v.shape[0]):
        x.v_old[k, w] = s.v[k, w]
    solve_bilateral(m, x, w)
    apply_multipliers(m, x, s.v, w)
    for i in range(m.bilateral.shape[0]):
        x.rhs[i, w] = x.multiplier[i, w]
    book_drives(m, s, x, w)
    twists_of(m, x, s.v, x.twist, w)


@wp.func(inline=False)
def leave(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, limit: int, w: int):
    """The first kick and the flight: coordinates at t + h, where the rows hold, and the momenta π in x.kept.

    Returns iterations, at most `limit`, and the change that the next would make [rad, sizes; of the largest].
    """
    n = m.bilateral.shape[0]
    scale = largest_coordinate(m, s, w)
    for i in range(n):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            x.stretch_due[r, w] = kinds.due(m, s, x, r, t, h, w)
    for i in range(m.parent.shape[0]):
        x.p_from[i, w] = x.p_WB[i, w]
        x.q_from[i, w] = x.q_WB[i, w]
    for c in range(s.q.shape[0]):
        x.q_start[c, w] = s.q[c, w]
    for k in range(s.v.shape[0]):
        x.v_old[k, w] = s.v[k, w]
        s.v[k, w] = s.v[k, w] + HALF * h * x.qdd[k, w]
    guess(m, s, x, h, w)
    change = look(m, s, x, h, w)
    rounds = int(0)
    going = change > ENOUGH * scale and limit > 0
    while going:
        learn(m, s, x, rounds, w)
        for i in range(n):
            x.rhs[i, w] = x.rhs[i, w] + x.multiplier[i, w]
        apply_multipliers(m, x, s.v, w)
        for k in range(s.v.shape[0]):
            x.v_pseudo[k, w] = x.v_pseudo[k, w] + x.shift[k, w]
        before = change
        change = look(m, s, x, h, w)
        rounds += 1
        rounded = change <= ROUNDING * scale and change > HALF * before
        going = change > ENOUGH * scale and not rounded and rounds < limit and wp.isfinite(change)
    book_drives(m, s, x, w)
    keep_impulses(m, s, x, MU, h, w)
    for k in range(s.v.shape[0]):
        s.method[s.method_at[BEND] + k, w] = (x.v_pseudo[k, w] - s.v[k, w]) / h
    twists_of(m, x, x.lag_v, x.change, w)
    for i in range(m.parent.shape[0]):
        x.kept[i, w] = x.pull[i, w] + momentum(m, x, i, x.change[i, w], w)
    return rounds, change / scale


@wp.func(inline=False)
def arrive(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, felt: bool, w: int
) -> bool:
    """The second kick, where a flight for h ended at time t; False where forces find no end to it."""
    n = m.bilateral.shape[0]
    stand(m, s, x, t, w)
    for i in range(m.parent.shape[0]):
        x.pull[i, w] = x.kept[i, w]
    answer(m, x, x.v_old, False, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = x.v_old[k, w]
    if felt:
        twists_of(m, x, s.v, x.twist, w)
    rounds = int(0)
    before = ZERO
    settled = bool(False)
    while not settled and rounds < REPEATS:
        feel(m, s, x, t, w)
        for k in range(s.v.shape[0]):
            x.v_start[k, w] = s.v[k, w]
            s.v[k, w] = x.v_old[k, w] + HALF * h * x.qdd[k, w]
        load_rates(m, s, x, t, w)
        solve_bilateral(m, x, w)
        apply_multipliers(m, x, s.v, w)
        rounds += 1
        settled = not felt
        if felt:
            twists_of(m, x, s.v, x.twist, w)
            change = ZERO
            largest = ZERO
            for k in range(s.v.shape[0]):
                change = wp.max(change, wp.abs(s.v[k, w] - x.v_start[k, w]))
                largest = wp.max(largest, wp.abs(s.v[k, w]))
            rounded = change <= JUMP and change > HALF * before and rounds > 1  # near rest, where forces cancel
            settled = change <= STILL * largest or rounded
            before = change
    for i in range(n):
        x.rhs[i, w] = x.multiplier[i, w]
    book_drives(m, s, x, w)
    keep_impulses(m, s, x, NU, h, w)
    s.method[s.method_at[SIZE], w] = h
    return settled
