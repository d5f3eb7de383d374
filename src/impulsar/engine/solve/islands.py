"""All rows with bounds of a step, solved as a whole, island by island, around the equations.

Trees that rows join, of any kind, are an island: what happens in one does not reach another. In each island the rows
that a direct solve does not take, contacts, friction, limits, weak motors and compliant ones, are one problem of
coulomb.py,

    W = J M⁻¹ Jᵀ - C A⁻¹ Cᵀ + softness         C responses of the equations, A their own, factored in solve/direct.py

whose matrix is kept within an envelope: a row responds to those on its own trees and on trees that equations join to
them. Impulses act on any vector of velocities, so that positions are projected by the same code. An island of more
than MOST_ROWS rows is left to sweeps.
"""

import warp as wp

from ..collide.arrays import CollideScratch, ShapeArrays
from ..constrain.features import Features
from ..coordinates.tree import apply_impulse, next_tree, row_response, row_velocity
from ..spatial import ONE, ZERO, f64, vec3
from ..state import WorkArrays
from ..system import SystemArrays
from .bounded import Bounded
from .coulomb import ROUNDED, solve_bounded
from .ldl import solve_envelope

MOST_ROWS = 300
BUCKLES = wp.constant(wp.float64(4.0))  # by which the unrest of a stack grows in a step that keeps its impulses
STILL_FITS = wp.constant(wp.float64(1e-12))  # error of the largest impulse at which the last ones are kept
SWEPT = wp.constant(wp.float64(1e-12))  # change in a sweep, of the largest impulse, that is none


@wp.struct
class ContactArrays:
    """What worlds with contact have besides: shapes, what was found, and room for the problem of an island."""

    shapes: ShapeArrays
    found: CollideScratch
    bounded: Bounded
    shape_material: wp.array(dtype=wp.int32)  # [shape]
    material_pair: wp.array(dtype=wp.int32)  # [material · materials + material] pair that they have, -1: none
    # islands
    island: wp.array2d(dtype=wp.int32)  # [tree] another tree of its island, the first: itself
    joined: wp.array2d(dtype=wp.int32)  # [tree] another tree that equations join to it, likewise
    first_row: wp.array2d(dtype=wp.int32)  # [tree] first row of the problem on it or trees joined to it
    begin: wp.array2d(dtype=wp.int32)  # [tree + 1] where the rows of its island begin in `member`
    member: wp.array2d(dtype=wp.int32)  # [row] rows by islands
    place: wp.array2d(dtype=wp.int32)  # [row] its place in the problem
    near: wp.array2d(dtype=wp.int32)  # [place] first tree of a row that touches two at most, else -2
    far: wp.array2d(dtype=wp.int32)  # [place] its second tree, -1: none
    couple: wp.array2d(dtype=f64)  # [place · bilaterals + bilateral] responses of the equations to it
    share: wp.array2d(dtype=f64)  # [place · bilaterals + bilateral] what the equations give for a unit of it
    column: wp.array2d(dtype=f64)  # [bilateral]
    rebound: wp.array2d(dtype=f64)  # [row] least velocity of a normal's row if it gets an impulse [m/s]
    # smooth sub-steps; see engine/integrate/closed.py
    features: Features
    slip: wp.array2d(dtype=vec3)  # [contact] which way it slides
    leaves: wp.array2d(dtype=wp.int32)  # [contact or slot] 1: its mode ends here
    spare: wp.array2d(dtype=wp.int32)  # [contact] 1: another one stands for it
    power: wp.array2d(dtype=f64)  # [stage] of contacts [W]


@wp.func
def root_of(of: wp.array2d(dtype=wp.int32), tree: int, w: int) -> int:
    """The tree that stands for all that belong together."""
    root = tree
    while of[root, w] != root:
        root = of[root, w]
    at = tree
    while of[at, w] != root:  # shorter for the next one
        onward = of[at, w]
        of[at, w] = root
        at = onward
    return root


@wp.func
def join(of: wp.array2d(dtype=wp.int32), a: int, b: int, w: int):
    """The lower of two roots stands for both."""
    first = root_of(of, a, w)
    second = root_of(of, b, w)
    if first < second:
        of[second, w] = first
    else:
        of[first, w] = second


@wp.func
def join_row(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], of: wp.array2d(dtype=wp.int32), r: int, w: int):
    first = x.row_trees[4 * r, w]
    n = int(0)
    other = first
    while other >= 0:
        n += 1
        other = next_tree(m, x, r, n, w)
        if other >= 0:
            join(of, first, other, w)


@wp.func(inline=False)
def list_islands(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], rows: int, w: int):
    """Islands of the active rows, and the rows of each that have bounds, in their order."""
    trees = m.tree_dof.shape[0] - 1
    for tree in range(trees):
        c.island[tree, w] = tree
        c.joined[tree, w] = tree
        c.begin[tree, w] = 0
    c.begin[trees, w] = 0
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            join_row(m, x, c.joined, r, w)
            join_row(m, x, c.island, r, w)
    for a in range(rows):
        join_row(m, x, c.island, x.active[a, w], w)
    for a in range(rows):
        r = x.active[a, w]
        if x.solved[r, w] == 0 and x.row_trees[4 * r, w] >= 0:
            tree = root_of(c.island, x.row_trees[4 * r, w], w)
            c.begin[tree + 1, w] = c.begin[tree + 1, w] + 1
    for tree in range(trees):
        c.begin[tree + 1, w] = c.begin[tree + 1, w] + c.begin[tree, w]
        c.first_row[tree, w] = c.begin[tree, w]  # for now, how far the island is filled
    for a in range(rows):
        r = x.active[a, w]
        if x.solved[r, w] == 0 and x.row_trees[4 * r, w] >= 0:
            tree = root_of(c.island, x.row_trees[4 * r, w], w)
            at = c.first_row[tree, w]
            c.member[at, w] = r
            c.first_row[tree, w] = at + 1


@wp.func(inline=False)
def lay_out(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], begin: int, n: int, w: int
) -> bool:
    """Envelope of the problem of n rows from `begin` on; False where there is no room for it."""
    p = c.bounded
    if n > p.b.shape[0]:
        return False
    for k in range(n):
        r = c.member[begin + k, w]
        c.place[r, w] = k
        c.near[k, w] = x.row_trees[4 * r, w]
        c.far[k, w] = x.row_trees[4 * r + 1, w]
        if x.row_trees[4 * r + 2, w] >= 0:
            c.near[k, w] = int(-2)
        i = int(0)
        tree = x.row_trees[4 * r, w]
        while tree >= 0:
            c.first_row[root_of(c.joined, tree, w), w] = -1
            i += 1
            tree = next_tree(m, x, r, i, w)
    entries = int(0)
    for k in range(n):
        r = c.member[begin + k, w]
        start = k
        i = int(0)
        tree = x.row_trees[4 * r, w]
        while tree >= 0:
            root = root_of(c.joined, tree, w)
            if c.first_row[root, w] < 0:
                c.first_row[root, w] = k
            start = wp.min(start, c.first_row[root, w])
            i += 1
            tree = next_tree(m, x, r, i, w)
        p.start[k, w] = start
        p.at[k, w] = entries - start
        entries += k - start + 1
    p.count[0, w] = n
    return entries <= p.W.shape[0]


@wp.func
def is_joined(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], k: int, w: int) -> bool:
    """Whether equations respond to the k-th row of the problem at all."""
    rows = m.bilateral.shape[0]
    for i in range(rows):
        if c.couple[k * rows + i, w] != ZERO:
            return True
    return False


@wp.func(inline=False)
def couple_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], begin: int, n: int, w: int):
    """Responses of the equations to the rows of the problem, and what they give for a unit of each."""
    rows = m.bilateral.shape[0]
    for k in range(n):
        r = c.member[begin + k, w]
        for i in range(rows):
            couple = ZERO
            if x.solved[m.bilateral[i], w] != 0:
                couple = row_response(m, x, m.bilateral[i], r, w)
            c.couple[k * rows + i, w] = couple
            c.column[i, w] = couple
        if is_joined(m, x, c, k, w):
            solve_envelope(x.factor, m.envelope_start, m.envelope_row, rows, c.column, w)
        for i in range(rows):
            c.share[k * rows + i, w] = c.column[i, w]


@wp.func
def product(J: wp.array2d(dtype=f64), Y: wp.array2d(dtype=f64), at: int, other: int, size: int, w: int) -> f64:
    """Of entries of J and Y; two sums that do not wait for each other."""
    u = ZERO
    more = ZERO
    for i in range(size // 2):
        k = 2 * i
        u += J[at + k, w] * Y[other + k, w]
        more += J[at + k + 1, w] * Y[other + k + 1, w]
    if size % 2 == 1:
        u += J[at + size - 1, w] * Y[other + size - 1, w]
    return u + more


@wp.func(inline=False)
def fill_row(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], begin: int, k: int, start: int, w: int
):
    """Responses of the k-th row of the problem to those before it, from `start` on, and to itself.

    As `row_response` has them, but what is the same for all is read once.
    """
    J = x.J  # local: the compiler keeps their addresses in registers
    Y = x.Y
    W = c.bounded.W
    member = c.member
    nears = c.near
    fars = c.far
    begins = x.row_start
    to = c.bounded.at[k, w]
    r = member[begin + k, w]
    near = nears[k, w]
    far = fars[k, w]
    at = begins[r, w]
    size = int(0)
    size_far = int(0)
    if near >= 0:
        size = m.tree_dof[near + 1] - m.tree_dof[near]
    if far >= 0:
        size_far = m.tree_dof[far + 1] - m.tree_dof[far]
    for j in range(start, k + 1):
        other = member[begin + j, w]
        other_near = nears[j, w]
        u = ZERO
        if near < 0 or other_near < 0:
            u = row_response(m, x, r, other, w)
        else:
            other_far = fars[j, w]
            other_at = begins[other, w]
            if near == other_near:
                u = product(J, Y, at, other_at, size, w)
                if far >= 0 and far == other_far:
                    u += product(J, Y, at + size, other_at + size, size_far, w)
            elif near == other_far:
                u = product(J, Y, at, other_at + m.tree_dof[other_near + 1] - m.tree_dof[other_near], size, w)
            elif far >= 0:
                if far == other_near:
                    u = product(J, Y, at + size, other_at, size_far, w)
                elif far == other_far:
                    beyond = m.tree_dof[other_near + 1] - m.tree_dof[other_near]
                    u = product(J, Y, at + size, other_at + beyond, size_far, w)
        W[to + j, w] = u


@wp.func(inline=False)
def fill_problem(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    begin: int,
    n: int,
    w: int,
):
    """Matrix, right side, bounds and first guess of the rows from `begin` on, at velocities that fit the equations."""
    p = c.bounded
    rows = m.bilateral.shape[0]
    if rows > 0:
        couple_rows(m, x, c, begin, n, w)
    for k in range(n):
        r = c.member[begin + k, w]
        start = p.start[k, w]
        fill_row(m, x, c, begin, k, start, w)
        if rows > 0:
            for j in range(start, k + 1):
                value = p.W[p.at[k, w] + j, w]
                for i in range(rows):
                    value -= c.couple[k * rows + i, w] * c.share[j * rows + i, w]
                p.W[p.at[k, w] + j, w] = value
        own = p.at[k, w] + k
        p.W[own, w] = wp.max(p.W[own, w], ZERO) + x.row_softness[r, w]
        p.b[k, w] = row_velocity(m, x, v, r, w) + x.row_bias[r, w]
        p.low[k, w] = x.row_low[r, w]
        p.high[k, w] = x.row_high[r, w]
        p.group[k, w] = x.row_group[r, w]
        p.of[k, w] = int(-1)
        if x.row_bound_of[r, w] >= 0:
            p.of[k, w] = c.place[x.row_bound_of[r, w], w]
        p.p[k, w] = impulse[r, w]


@wp.func(inline=False)
def give_impulses(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    begin: int,
    n: int,
    w: int,
):
    """v ← v + M⁻¹ Jᵀ p of the rows of the problem, with what the equations give for it."""
    p = c.bounded
    rows = m.bilateral.shape[0]
    for k in range(n):
        r = c.member[begin + k, w]
        impulse[r, w] = p.p[k, w]
        if p.p[k, w] != ZERO:
            apply_impulse(m, x, v, r, p.p[k, w], w)
    for i in range(rows):
        given = ZERO
        for k in range(n):
            given -= c.share[k * rows + i, w] * p.p[k, w]
        if given != ZERO:
            r = m.bilateral[i]
            impulse[r, w] = impulse[r, w] + given
            apply_impulse(m, x, v, r, given, w)


@wp.func(inline=False)
def solve_equations_for(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    w: int,
):
    """Impulses of the equations that are solved, J v + bias = 0, added to v and `impulse`."""
    rows = m.bilateral.shape[0]
    for i in range(rows):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if x.solved[r, w] != 0:
            x.multiplier[i, w] = -(row_velocity(m, x, v, r, w) + x.row_bias[r, w])
    solve_envelope(x.factor, m.envelope_start, m.envelope_row, rows, x.multiplier, w)
    for i in range(rows):
        given = x.multiplier[i, w]
        if given != ZERO:
            r = m.bilateral[i]
            impulse[r, w] = impulse[r, w] + given
            apply_impulse(m, x, v, r, given, w)


@wp.func
def velocity_of(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], v: wp.array2d(dtype=f64), r: int, w: int) -> f64:
    """J v of a row, as `row_velocity` has it, in less time where it touches two trees at most."""
    if x.row_trees[4 * r + 2, w] >= 0:
        return row_velocity(m, x, v, r, w)
    near = x.row_trees[4 * r, w]
    far = x.row_trees[4 * r + 1, w]
    at = x.row_start[r, w]
    start = m.tree_dof[near]
    size = m.tree_dof[near + 1] - start
    u = product(x.J, v, at, start, size, w)
    if far >= 0:
        start = m.tree_dof[far]
        u += product(x.J, v, at + size, start, m.tree_dof[far + 1] - start, w)
    return u


@wp.func
def limit_of(x: wp.ref[WorkArrays], impulse: wp.array2d(dtype=f64), r: int, bound: f64, w: int) -> f64:
    """A bound of a row's impulse, which may be a multiple of another's."""
    of = x.row_bound_of[r, w]
    if of < 0:
        return bound
    return bound * wp.max(impulse[of, w], ZERO)


@wp.func(inline=False)
def wish_group(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    r: int,
    w: int,
) -> bool:
    """What a row, or rows that are bounded together, should give by their velocities, within their bounds; into
    x.row_late. False where nothing moves them."""
    n = x.row_group[r, w]
    if n == 1:
        mass = x.row_mass[r, w]
        p = impulse[r, w]
        goal = p - (velocity_of(m, x, v, r, w) + x.row_bias[r, w] + x.row_softness[r, w] * p) * mass
        low = limit_of(x, impulse, r, x.row_low[r, w], w)
        x.row_late[r, w] = wp.clamp(goal, low, limit_of(x, impulse, r, x.row_high[r, w], w))
        return mass > ZERO
    response = ZERO
    for k in range(n):
        if x.row_mass[r + k, w] > ZERO:
            response += ONE / x.row_mass[r + k, w]
    if response == ZERO:
        return False
    mass = ONE / response
    square = ZERO
    for k in range(n):
        p = impulse[r + k, w]
        goal = p - (velocity_of(m, x, v, r + k, w) + x.row_bias[r + k, w] + x.row_softness[r + k, w] * p) * mass
        x.row_late[r + k, w] = goal
        square += goal * goal
    bound = limit_of(x, impulse, r, x.row_high[r, w], w)
    if square > bound * bound:
        scale = bound / wp.sqrt(square)
        for k in range(n):
            x.row_late[r + k, w] = scale * x.row_late[r + k, w]
    return True


@wp.func(inline=False)
def still_fits(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    begin: int,
    n: int,
    w: int,
) -> bool:
    """Whether the impulses that rows begin with are right as they are: then v has them, else it stays as it was.

    Most of what rests needs no more than this. An error beyond rounding has to be that of the velocities before, and
    not of impulses that stopped such velocities: those would go to and fro for ever.
    """
    largest = ZERO
    for k in range(n):
        r = c.member[begin + k, w]
        largest = wp.max(largest, wp.abs(impulse[r, w]))
        if c.rebound[r, w] > ZERO:
            return False
    if largest == ZERO:
        return False
    give(m, x, c, v, impulse, begin, n, ONE, w)
    error = ZERO
    k = int(0)
    while k < n and error <= STILL_FITS * largest:
        r = c.member[begin + k, w]
        if wish_group(m, x, v, impulse, r, w):
            for i in range(x.row_group[r, w]):
                error = wp.max(error, wp.abs(x.row_late[r + i, w] - impulse[r + i, w]))
        k += x.row_group[r, w]
    if error <= ROUNDED * largest or (
        error <= STILL_FITS * largest and error <= BUCKLES * unrest(m, x, c, begin, n, w)
    ):
        return True
    give(m, x, c, v, impulse, begin, n, -ONE, w)
    return False


@wp.func(inline=False)
def unrest(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], begin: int, n: int, w: int) -> f64:
    """The largest impulse that would stop a row of those from `begin` on, as it moved before."""
    most = ZERO
    for k in range(n):
        r = c.member[begin + k, w]
        most = wp.max(most, wp.abs(row_velocity(m, x, x.v_old, r, w)) * x.row_mass[r, w])
    return most


@wp.func(inline=False)
def give(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    begin: int,
    n: int,
    times: f64,
    w: int,
):
    """v ← v + M⁻¹ Jᵀ p of rows, so many times, around the equations."""
    for k in range(n):
        r = c.member[begin + k, w]
        if impulse[r, w] != ZERO:
            apply_impulse(m, x, v, r, times * impulse[r, w], w)
    if m.bilateral.shape[0] > 0:
        solve_equations_for(m, x, v, impulse, w)


@wp.func(inline=False)
def sweep_island(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    begin: int,
    n: int,
    sweeps: int,
    w: int,
):
    """The same by sweeps, from the impulses there are, around the equations."""
    give(m, x, c, v, impulse, begin, n, ONE, w)
    left = int(sweeps)
    while left > 0:
        left -= 1
        largest = ZERO
        change = ZERO
        k = int(0)
        while k < n:
            r = c.member[begin + k, w]
            size = x.row_group[r, w]
            if wish_group(m, x, v, impulse, r, w):
                for i in range(size):
                    goal = x.row_late[r + i, w]
                    more = goal - impulse[r + i, w]
                    largest = wp.max(largest, wp.abs(goal))
                    change = wp.max(change, wp.abs(more))
                    impulse[r + i, w] = goal
                    if more != ZERO:
                        apply_impulse(m, x, v, r + i, more, w)
            k += size
        if m.bilateral.shape[0] > 0:
            solve_equations_for(m, x, v, impulse, w)
        if change <= SWEPT * largest:
            left = int(0)


@wp.func(inline=False)
def solve_problem(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], begin: int, n: int, w: int) -> f64:
    """The problem as it is filled, and once more with those that bounce; returns the error that is left."""
    p = c.bounded
    error = ZERO
    bounces = int(1)
    for _ in range(2):
        if bounces > 0:
            error = solve_bounded(c.bounded, w)
            bounces = int(0)
            for k in range(n):
                r = c.member[begin + k, w]
                if c.rebound[r, w] > ZERO and p.p[k, w] > ZERO:
                    p.b[k, w] = p.b[k, w] - x.row_bias[r, w] - c.rebound[r, w]
                    x.row_bias[r, w] = -c.rebound[r, w]
                    c.rebound[r, w] = ZERO
                    bounces += 1
    return error


@wp.func(inline=False)
def solve_islands(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    v: wp.array2d(dtype=f64),
    impulse: wp.array2d(dtype=f64),
    rows: int,
    sweeps: int,
    w: int,
) -> f64:
    """Impulses of all active rows, by which v changes; returns the largest error left where they were not swept.

    `impulse` is what they begin with; that of the equations counts as given already. sweeps: of an island that is
    too large to be solved as a whole.
    """
    list_islands(m, x, c, rows, w)
    if m.bilateral.shape[0] > 0:
        solve_equations_for(m, x, v, impulse, w)
    worst = ZERO
    for tree in range(m.tree_dof.shape[0] - 1):
        begin = c.begin[tree, w]
        n = c.begin[tree + 1, w] - begin
        if n > 0:
            if still_fits(m, x, c, v, impulse, begin, n, w):
                continue
            if lay_out(m, x, c, begin, n, w):
                fill_problem(m, x, c, v, impulse, begin, n, w)
                worst = wp.max(worst, solve_problem(x, c, begin, n, w))
                give_impulses(m, x, c, v, impulse, begin, n, w)
            else:
                sweep_island(m, x, c, v, impulse, begin, n, sweeps, w)
    return worst
