"""What every row is made of: its Jacobian, the equation it asks for, its response.

A row asks for   J v + bias + softness · impulse = 0   with low ≤ impulse ≤ high, and, if it has a
position error, that pseudo-velocities remove it:   J v' + error / h = 0.

A file beside this one has what one kind of row means: which of a slot's letters is which of its parameters, its
Jacobian, and what it asks for. kinds.py is the only one that knows them all.
"""

import warp as wp

from ..coordinates.tree import next_tree, project_wrench, response, row_base, row_response, row_square, row_velocity
from ..spatial import HALF, INFINITY, ONE, ZERO, f64, spatial
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .frames import Pair, body_position, coordinate, freedom_pair

DEGENERATE = wp.constant(wp.float64(1e-20))  # |J|² of a row that moves nothing but by rounding [rad, sizes]


@wp.func
def clear_row(x: wp.ref[WorkArrays], r: int, w: int):
    for entry in range(x.row_start[r, w], x.row_start[r + 1, w]):
        x.J[entry, w] = ZERO


@wp.func
def kind_of(m: wp.ref[SystemArrays], r: int) -> int:
    """Kind of a slot, for those who ask the files of the kinds what it is."""
    return m.slot_kind[r]


@wp.func
def is_spare(m: wp.ref[SystemArrays], r: int, w: int) -> bool:
    """Whether a slot is redundant by construction: others imply it."""
    return m.basis[r, w] == ZERO


@wp.func
def set_row(x: wp.ref[WorkArrays], r: int, bias: f64, softness: f64, low: f64, high: f64, error: f64, w: int):
    x.row_bias[r, w] = bias
    x.row_softness[r, w] = softness
    x.row_low[r, w] = low
    x.row_high[r, w] = high
    x.row_error[r, w] = error


@wp.func
def set_equation(x: wp.ref[WorkArrays], r: int, error: f64, w: int):
    """A row that holds without bound and whose error is removed."""
    set_row(x, r, ZERO, ZERO, -INFINITY, INFINITY, error, w)


@wp.func
def set_bounded(x: wp.ref[WorkArrays], r: int, bias: f64, bound: f64, w: int):
    """A rigid row with a bound on its impulse either way."""
    set_row(x, r, bias, ZERO, -bound, bound, ZERO, w)


@wp.func(inline=False)
def add_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, pair: Pair, scale: f64, w: int):
    """Add scale · pair to row r."""
    if pair.second >= 0:
        arm = pair.point - x.p_WB[pair.second, w]
        f = spatial(pair.turn + wp.cross(arm, pair.slide), pair.slide)
        project_wrench(m, x, r, pair.second, scale * f, w)
    if pair.first >= 0:
        arm = pair.point - x.p_WB[pair.first, w]
        f = spatial(pair.turn + wp.cross(arm, pair.slide), pair.slide)
        project_wrench(m, x, r, pair.first, -scale * f, w)


@wp.func
def add_freedom(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, j: int, code: int, dof: int, scale: f64, w: int
):
    """Add scale · rate of a freedom to row r: of a tree joint directly, else by its wrench pair."""
    if dof >= 0:
        entry = row_base(m, x, r, m.tree_of[wp.max(m.first[j], m.second[j])], w) + dof
        x.J[entry, w] = x.J[entry, w] + scale
    else:
        add_pair(m, x, r, freedom_pair(m, x, j, code, w), scale, w)


@wp.func
def add_force(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, force: f64, w: int):
    """tau += Jᵀ force."""
    entry = x.row_start[r, w]
    n = int(0)
    tree = x.row_trees[4 * r, w]
    while tree >= 0:
        for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
            x.tau[k, w] = x.tau[k, w] + force * x.J[entry, w]
            entry += 1
        n += 1
        tree = next_tree(m, x, r, n, w)


@wp.func
def push_pair(x: wp.ref[WorkArrays], pair: Pair, force: f64, w: int):
    """Add force · pair to the wrenches of its bodies."""
    if pair.second >= 0:
        arm = pair.point - body_position(x, pair.second, w)
        f = spatial(force * (pair.turn + wp.cross(arm, pair.slide)), force * pair.slide)
        x.wrench[pair.second, w] = x.wrench[pair.second, w] + f
    if pair.first >= 0:
        arm = pair.point - body_position(x, pair.first, w)
        f = spatial(force * (pair.turn + wp.cross(arm, pair.slide)), force * pair.slide)
        x.wrench[pair.first, w] = x.wrench[pair.first, w] - f


# rows along one freedom of a joint: limits, friction, motors, joint springs


@wp.func
def own_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    """The pair along the freedom that a row acts on."""
    return freedom_pair(m, x, x.row_part[r, w], m.slot_code[r], w)


@wp.func
def own_jacobian(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, scale: f64, w: int):
    """J = scale · rate of the freedom that a row acts on."""
    clear_row(x, r, w)
    add_freedom(m, x, r, x.row_part[r, w], m.slot_code[r], m.slot_dof[r], scale, w)


@wp.func
def pair_jacobian(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, pair: Pair, w: int):
    """J of a row that acts by a pair; where it is along a freedom of a tree joint, of that alone."""
    if m.slot_dof[r] >= 0:
        own_jacobian(m, x, r, ONE, w)
    else:
        clear_row(x, r, w)
        add_pair(m, x, r, pair, ONE, w)


@wp.func
def own_coordinate(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Coordinate of the freedom that a row acts on [m, rad]."""
    return coordinate(m, s, x, x.row_part[r, w], m.slot_code[r], m.slot_q[r], w)


@wp.func
def book_impulse(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """The work p (u₋ + u₊) / 2 of a row's impulse, before positions move."""
    mean = HALF * (row_velocity(m, x, s.v, r, w) + row_velocity(m, x, x.v_old, r, w))
    s.work[r, w] = s.work[r, w] + s.impulse[r, w] * mean


@wp.func
def respond(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, softness: f64, w: int) -> bool:
    """Response and effective mass of a row; False and mass 0 where nothing that the joints allow moves it."""
    size = row_square(m, x, r, w)
    x.row_size[r, w] = size
    x.row_mass[r, w] = ZERO
    if size <= DEGENERATE:
        if softness == ZERO:
            return False
        for entry in range(x.row_start[r, w], x.row_start[r + 1, w]):  # a spring pulls on what it cannot move, too
            x.Y[entry, w] = ZERO
        x.row_mass[r, w] = ONE / softness
        return True
    response(m, x, r, w)
    own = row_response(m, x, r, r, w)
    if own <= ZERO:
        return False
    x.row_mass[r, w] = ONE / (own + softness)
    return True
