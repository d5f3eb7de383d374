"""What a kinematic drag asks of a mechanism at rest: its rows, where its point is, what moves it there.

Rows are of two kinds. Those that hold (closures and couplings that are not redundant, motors of prescribed position
whose torque is not limited) are factored and judged as in a direct solve; P is the projection onto what they leave
free, in the norm of the masses. Those that are asked (the three axes of
the dragged point, then the joint limits) have their answers

    Y = P M⁻¹ Jᵀ       G = J Y

All velocities of the state are zero meanwhile.
"""

# mypy: disable-error-code="index,operator,union-attr"

import warp as wp

from ..engine.constrain import kinds, limit, motor
from ..engine.constrain.frames import follow_loops, point_of
from ..engine.constrain.rows import is_spare, own_coordinate, respond
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.inertia import twice_kinetic, twice_rotors
from ..engine.coordinates.retract import move_coordinates
from ..engine.coordinates.tree import accelerate, articulate, kinematics, next_tree, row_velocity
from ..engine.freedoms import coordinates_of
from ..engine.solve.direct import CHOOSE, STRONGER, apply_multipliers, choose_rows, factor_bilateral, solve_bilateral
from ..engine.spatial import (
    HALF,
    ONE,
    TWO,
    ZERO,
    angular,
    axis_of,
    carry_wrench,
    f64,
    linear,
    spatial,
    vec3,
    vec6,
)
from ..engine.state import StateArrays, WorkArrays
from ..engine.system import SystemArrays

AXES = wp.constant(3)  # rows of the dragged point, before those of the limits
ROUNDS = wp.constant(12)  # of Newton's iteration onto the rows that hold
CLOSED = wp.constant(wp.float64(1e-13))  # errors this small are rounding [m, rad]
NUDGE = wp.constant(wp.float64(1e-5))  # of differences: farthest turn [rad], or shift by the length

# Rows of DragArrays.out
ERROR = wp.constant(0)  # largest error of a row that holds [m, rad]
DEPENDENTS = wp.constant(1)  # rows that depend on others
FIRST_ERROR = wp.constant(2)  # the error before the last projection [m, rad]
CORRECTION = wp.constant(3)  # Δᵀ M Δ of the last projection [kg m²]
TURN = wp.constant(4)  # farthest that a displacement turns a body [rad]
SHIFT = wp.constant(5)  # and shifts its centre [m]
SIZE = wp.constant(6)  # its Δᵀ M Δ [kg m²]
MARGIN = wp.constant(7)  # strength of the weakest row that does not: 0 where branches cross
OPENING = wp.constant(8)  # largest error of a row that is redundant [rad, sizes]
OUT = 9


@wp.struct
class DragArrays:
    """A drag's own arrays, all [part, world]."""

    body: wp.array(dtype=wp.int32)  # [1]
    limits: wp.array(dtype=wp.int32)  # slots
    p_BQ: wp.array2d(dtype=vec3)  # [1] the dragged point in its body [m]
    target: wp.array2d(dtype=vec3)  # [1] where it is to go [m]
    length: wp.array2d(dtype=f64)  # [1] that makes shifts comparable to turns [m]
    p_WQ: wp.array2d(dtype=vec3)  # [1] where it is [m]
    gap: wp.array2d(dtype=f64)  # [limit] [m, rad]
    J: wp.array2d(dtype=f64)  # [asked row · dofs + dof]
    Y: wp.array2d(dtype=f64)  # likewise
    G: wp.array2d(dtype=f64)  # [asked row · asked rows + asked row]
    q: wp.array2d(dtype=f64)  # coordinates to move from
    loop_q: wp.array2d(dtype=f64)
    change: wp.array2d(dtype=f64)  # [dof] a displacement [m, rad]
    driven: wp.array2d(dtype=f64)  # [bilateral] coordinate at which a motor holds its joint [m, rad]
    force: wp.array2d(dtype=f64)  # [dof] a covector
    held: wp.array2d(dtype=f64)  # [bilateral] what the rows that hold add to a force
    lack: wp.array2d(
        dtype=f64
    )  # [bilateral] minus the errors of the rows that hold, where x.multiplier is solved [m, rad]
    lam: wp.array2d(dtype=f64)  # [bilateral] multipliers of rows that hold
    eta: wp.array2d(dtype=f64)  # [limit] multipliers of limits
    out: wp.array2d(dtype=f64)  # see above


@wp.func
def row_error(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    d: wp.ref[DragArrays],
    i: int,
    w: int,
) -> f64:
    """Position error of bilateral row i, if it holds [m, rad]."""
    r = m.bilateral[i]
    if motor.is_servo(x, r, w):
        return own_coordinate(m, s, x, r, w) - d.driven[i, w]
    return kinds.error(m, s, x, r, ZERO, w)


@wp.func
def pose(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Bodies and joint frames at the present coordinates."""
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)


@wp.func
def add_point_row(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    body: int,
    point: vec3,
    n: vec3,
    scale: f64,
    to: wp.array2d(dtype=f64),
    at: int,
    w: int,
):
    """scale · J of a body's point along n, added to a vector over the dofs that begins at `at`."""
    f = spatial(wp.cross(point - x.p_WB[body, w], n), n)
    i = body
    while i >= 0:
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            to[at + k, w] = to[at + k, w] + scale * wp.dot(f, x.S[k, w])
        f = carry_wrench(f, x.r[i, w])
        i = m.parent[i]


@wp.func
def fill_rows(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], d: wp.ref[DragArrays], w: int):
    """J of all rows at the present pose, of those that are asked as dense vectors."""
    for i in range(m.bilateral.shape[0]):
        if kinds.holds(m, x, m.bilateral[i], w):
            kinds.fill(m, s, x, m.bilateral[i], ZERO, ONE, w)
    dofs = s.v.shape[0]
    for e in range(d.J.shape[0]):
        d.J[e, w] = ZERO
    body = d.body[0]
    point = point_of(x, body, d.p_BQ[0, w], w)
    for axis in range(AXES):
        add_point_row(m, x, body, point, axis_of(axis), ONE, d.J, axis * dofs, w)
    for l in range(d.limits.shape[0]):
        r = d.limits[l]
        limit.jacobian(m, x, r, w)
        entry = x.row_start[r, w]
        n = int(0)
        tree = x.row_trees[4 * r, w]
        while tree >= 0:
            for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
                d.J[(AXES + l) * dofs + k, w] = x.J[entry, w]
                entry += 1
            n += 1
            tree = next_tree(m, x, r, n, w)


@wp.func
def mark_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], spare_too: int, w: int):
    """Mark the rows that hold as solved, with their responses; those that are redundant only if asked for."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.solved[r, w] = int(0)
        if kinds.holds(m, x, r, w) and (spare_too != 0 or not is_spare(m, r, w)):
            if respond(m, x, r, ZERO, w):
                x.solved[r, w] = int(1)


@wp.func(inline=False)
def factor_rows(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], d: wp.ref[DragArrays], w: int):
    """Factor the rows that hold, whose J is filled; count the dependent ones and find the weakest of the others."""
    for k in range(s.v.shape[0]):
        x.tau[k, w] = ZERO
    articulate(m, x, w)
    mark_rows(m, x, 0, w)
    weakest = factor_bilateral(m, x, w)
    if weakest < CHOOSE and x.gram.shape[0] > 0:
        mark_rows(m, x, 1, w)
        choose_rows(m, x, w)
        if factor_bilateral(m, x, w) < STRONGER * weakest:
            mark_rows(m, x, 0, w)
            factor_bilateral(m, x, w)
    d.out[DEPENDENTS, w] = ZERO
    d.out[MARGIN, w] = ONE
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            if x.factor[m.envelope_row[i + 1] - 1, w] == ZERO:
                d.out[DEPENDENTS, w] = d.out[DEPENDENTS, w] + ONE
            else:
                d.out[MARGIN, w] = wp.min(d.out[MARGIN, w], x.row_strength[r, w])


@wp.func
def load_errors(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], d: wp.ref[DragArrays], w: int
) -> f64:
    """Minus the errors of the rows that hold, as marked last, into x.multiplier; returns the largest."""
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        x.multiplier[i, w] = ZERO
        if x.solved[m.bilateral[i], w] != 0:
            error = row_error(m, s, x, d, i, w)
            x.multiplier[i, w] = -error
            worst = wp.max(worst, wp.abs(error))
    return worst


@wp.func
def find_opening(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> f64:
    """Largest error of the closures and couplings that are not solved [rad, sizes]."""
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if kinds.is_equation(x, r, w) and x.solved[r, w] == 0:
            error = wp.sqrt(x.row_weight[r, w]) * wp.abs(kinds.error(m, s, x, r, ZERO, w))
            worst = wp.max(worst, error)
    return worst


@wp.func
def project(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], d: wp.ref[DragArrays], v: wp.array2d(dtype=f64), w: int):
    """v ← P v, refined once: near a crossing of branches rounding grows. d.held sums the multipliers."""
    for i in range(m.bilateral.shape[0]):
        d.held[i, w] = ZERO
    for _ in range(2):
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            x.multiplier[i, w] = ZERO
            if x.solved[r, w] != 0:
                x.multiplier[i, w] = -row_velocity(m, x, v, r, w)
        solve_bilateral(m, x, w)
        apply_multipliers(m, x, v, w)
        for i in range(m.bilateral.shape[0]):
            d.held[i, w] = d.held[i, w] + x.multiplier[i, w]


@wp.func
def answer(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], d: wp.ref[DragArrays], w: int):
    """x.qdd = P M⁻¹ τ of the joint forces in x.tau; d.held is what the rows that hold add to them."""
    articulate(m, x, w)
    accelerate(m, x, vec6(), 0, w)
    project(m, x, d, x.qdd, w)


@wp.kernel(enable_backward=False)
def start_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """Come to rest and let the motors hold their joints where they are."""
    w = wp.tid()
    list_rows(m, x, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = ZERO
        x.tau[k, w] = ZERO
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = vec6()
    pose(m, s, x, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_servo(x, r, w):
            d.driven[i, w] = own_coordinate(m, s, x, r, w)


@wp.kernel(enable_backward=False)
def look_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """Everything about the present pose: where the point is, gaps of limits, J, Y and G of the rows asked."""
    w = wp.tid()
    list_rows(m, x, w)
    dofs = s.v.shape[0]
    asked = AXES + d.limits.shape[0]
    pose(m, s, x, w)
    fill_rows(m, s, x, d, w)
    factor_rows(m, s, x, d, w)
    d.out[ERROR, w] = load_errors(m, s, x, d, w)
    d.out[OPENING, w] = find_opening(m, s, x, w)
    d.p_WQ[0, w] = point_of(x, d.body[0], d.p_BQ[0, w], w)
    for l in range(d.limits.shape[0]):
        r = d.limits[l]
        d.gap[l, w] = limit.gap(m, s, x, r, w)
    for a in range(asked):
        for k in range(dofs):
            x.tau[k, w] = d.J[a * dofs + k, w]
        answer(m, x, d, w)
        for k in range(dofs):
            d.Y[a * dofs + k, w] = x.qdd[k, w]
    for a in range(asked):
        for b in range(asked):
            entry = ZERO
            for k in range(dofs):
                entry += d.J[a * dofs + k, w] * d.Y[b * dofs + k, w]
            d.G[a * asked + b, w] = entry
    for k in range(dofs):
        x.tau[k, w] = ZERO


@wp.kernel(enable_backward=False)
def move_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """Go by d.change from the coordinates in d.q, then onto the rows that hold, by Newton's iteration."""
    w = wp.tid()
    list_rows(m, x, w)
    for k in range(s.q.shape[0]):
        s.q[k, w] = d.q[k, w]
    for k in range(s.loop_q.shape[0]):
        s.loop_q[k, w] = d.loop_q[k, w]
    move_coordinates(m, s, d.change, w)
    pose(m, s, x, w)
    worst = load_errors(m, s, x, d, w)
    d.out[FIRST_ERROR, w] = worst
    d.out[CORRECTION, w] = ZERO
    rounds = int(0)
    while worst > CLOSED and rounds < ROUNDS:
        fill_rows(m, s, x, d, w)
        factor_rows(m, s, x, d, w)
        load_errors(m, s, x, d, w)
        for i in range(m.bilateral.shape[0]):
            d.lack[i, w] = x.multiplier[i, w]
        solve_bilateral(m, x, w)
        size = ZERO  # λᵀ A λ
        for i in range(m.bilateral.shape[0]):
            size += d.lack[i, w] * x.multiplier[i, w]
        d.out[CORRECTION, w] = d.out[CORRECTION, w] + size
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        apply_multipliers(m, x, x.shift, w)
        move_coordinates(m, s, x.shift, w)
        pose(m, s, x, w)
        before = worst
        worst = load_errors(m, s, x, d, w)
        rounds += 1
        if worst > HALF * before and before < f64(1e-11):
            rounds = ROUNDS  # as near as rounding lets it
    d.out[ERROR, w] = worst
    d.out[OPENING, w] = find_opening(m, s, x, w)


@wp.func
def measure_change(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], d: wp.ref[DragArrays], w: int
):
    """Farthest turn and shift of a body by d.change, and its size in the norm of the masses."""
    for k in range(s.v.shape[0]):
        s.v[k, w] = d.change[k, w]
    kinematics(m, s, x, ZERO, w)
    turn = ZERO
    shift = ZERO
    size = ZERO
    for i in range(m.parent.shape[0]):
        V = x.twist[i, w]
        turn = wp.max(turn, wp.length(angular(V)))
        shift = wp.max(shift, wp.length(linear(V)))
        size += twice_kinetic(m, x, i, V, w) + twice_rotors(m, d.change, i, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = ZERO
    kinematics(m, s, x, ZERO, w)
    d.out[TURN, w] = turn
    d.out[SHIFT, w] = shift
    d.out[SIZE, w] = size


@wp.kernel(enable_backward=False)
def size_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """How large d.change is."""
    measure_change(m, s, x, d, wp.tid())


@wp.kernel(enable_backward=False)
def answer_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """d.change = P M⁻¹ d.force, and into d.held what the rows that hold add; after look_kernel."""
    w = wp.tid()
    for k in range(s.v.shape[0]):
        x.tau[k, w] = d.force[k, w]
    answer(m, x, d, w)
    for k in range(s.v.shape[0]):
        d.change[k, w] = x.qdd[k, w]
        x.tau[k, w] = ZERO


@wp.kernel(enable_backward=False)
def project_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """d.change ← P d.change; after look_kernel."""
    project(m, x, d, d.change, wp.tid())


@wp.func
def turn_back(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """A slope in x.qdd at the end of the displacement x.shift → that along it: of balls, turned by half of it."""
    for k in range(x.qdd.shape[0]):
        if coordinates_of(m.dof_kind[k]) == 4:
            turn = vec3(x.shift[k, w], x.shift[k + 1, w], x.shift[k + 2, w])
            slope = vec3(x.qdd[k, w], x.qdd[k + 1, w], x.qdd[k + 2, w])
            slope -= HALF * wp.cross(turn, slope)
            for j in range(AXES):
                x.qdd[k + j, w] = slope[j]


@wp.func
def nudge(d: wp.ref[DragArrays], w: int) -> f64:
    """Share of a displacement that differences are taken over, by its size as measured last."""
    return NUDGE / wp.max(wp.max(d.out[TURN, w], d.out[SHIFT, w] / d.length[0, w]), f64(1e-300))


@wp.func
def add_slope(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    d: wp.ref[DragArrays],
    step: f64,
    scale: f64,
    w: int,
):
    """d.force += scale · slope of ½ |p - target|² + λ · errors + η · gaps at d.q ⊕ step · d.change.

    The slope is along the displacement from d.q, so that the second differences are symmetric: a ball's
    angular velocity is that of the displacement's rate, turned by half the displacement.
    """
    dofs = s.v.shape[0]
    for k in range(s.q.shape[0]):
        s.q[k, w] = d.q[k, w]
    for k in range(dofs):
        x.shift[k, w] = step * d.change[k, w]
    move_coordinates(m, s, x.shift, w)
    pose(m, s, x, w)
    fill_rows(m, s, x, d, w)
    miss = point_of(x, d.body[0], d.p_BQ[0, w], w) - d.target[0, w]
    for k in range(dofs):
        x.qdd[k, w] = ZERO
        for axis in range(AXES):
            x.qdd[k, w] = x.qdd[k, w] + miss[axis] * d.J[axis * dofs + k, w]
        for l in range(d.limits.shape[0]):
            x.qdd[k, w] = x.qdd[k, w] + d.eta[l, w] * d.J[(AXES + l) * dofs + k, w]
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if d.lam[i, w] != ZERO:
            entry = x.row_start[r, w]
            n = int(0)
            tree = x.row_trees[4 * r, w]
            while tree >= 0:
                for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
                    x.qdd[k, w] = x.qdd[k, w] + d.lam[i, w] * x.J[entry, w]
                    entry += 1
                n += 1
                tree = next_tree(m, x, r, n, w)
    turn_back(m, x, w)
    for k in range(dofs):
        d.force[k, w] = d.force[k, w] + scale * x.qdd[k, w]


@wp.kernel(enable_backward=False)
def curve_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays):
    """d.force = H d.change with H the second derivatives of ½ |p - target|² + λ · errors + η · gaps."""
    w = wp.tid()
    list_rows(m, x, w)
    measure_change(m, s, x, d, w)
    step = nudge(d, w)
    for k in range(s.v.shape[0]):
        d.force[k, w] = ZERO
    scale = ONE / (TWO * step)
    add_slope(m, s, x, d, step, scale, w)
    add_slope(m, s, x, d, -step, -scale, w)
    for k in range(s.q.shape[0]):
        s.q[k, w] = d.q[k, w]
    for k in range(s.loop_q.shape[0]):
        s.loop_q[k, w] = d.loop_q[k, w]
    pose(m, s, x, w)
    fill_rows(m, s, x, d, w)
