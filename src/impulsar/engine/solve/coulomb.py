"""Rows with bounds that depend on each other, solved as a whole: limits, friction, contacts by Coulomb's law.

With w = W p + b the velocities (or accelerations) of n rows by their impulses (or forces) p, W = J M⁻¹ Jᵀ with the
equations eliminated, every row, or group of rows bounded together, asks for

    low ≤ p ≤ high,  w = 0 inside of the bounds          one row: a limit has 0 and infinity
    |p| ≤ R,  w = 0 inside, else p = -R w / |w|           a group: R = high, or high · p_of, Coulomb's cone

Newton's method on p = proj(p - ρ w) (Alart and Curnier 1991): with y = p - ρ w each row is, for the new P,

    inside                      (W P + b) = 0
    at a bound                  P = bound, of which P_of is a part where it depends on it
    sliding, d = y / |y|        P - R d - κ (1 - d dᵀ) (P - ρ (W P + b)) = 0        κ = R / |y|

which has few factors where it is warm (newton_step.py). A little of the own response on the diagonal stands in for what
is redundant: of several solutions it finds the least, so that bodies which hold each other do not press against each
other for nothing; a last step towards the p so found leaves no error of it. Where much has changed sweeps by rows come
first: rigid bodies that hold each other may have several solutions, of which the one near the last is wanted. Newton's
method may go in circles. Then sweeps bring it near and it is tried again, and at last on softer problems whose rows
give way to what p differs from the last one's, ever less (proximal points); then by steps each of which gives way so.
Matrices are kept within an envelope: row k from `start` to k, its column likewise, so that rows of bodies far from each
other cost nothing.
"""

import warp as wp

from ..spatial import HALF, ONE, TWO, ZERO, f64
from .bounded import BOUND, INSIDE, SLIDES, Bounded, first_of, response
from .newton_step import solve_rows

NEAR = wp.constant(wp.float64(1e-7))  # error at which the least p has been found, but for what SOFT leaves
TINY = wp.constant(wp.float64(1e-300))
ENOUGH = wp.constant(wp.float64(1e-10))  # error, of the largest impulse there is or would be without the others
CHANGED = wp.constant(wp.float64(1e-3))  # error beyond which the last p is swept first
ASTRAY = wp.constant(wp.float64(0.1))  # of the largest impulse: p is not what the last one has become
ROUNDED = wp.constant(wp.float64(1e-14))  # what is less is rounding; a stack of n amplifies errors n² times
NOTHING = wp.constant(wp.float64(1e-14))  # response, of the largest: a row that nothing moves
NEWTON_STEPS = 15
WATCHDOG = 4  # steps without a new best
SWEEPS = 10  # before Newton's method, where much has changed or it has failed; then three times as many
ROUNDS = 4
SOFTEST = wp.constant(wp.float64(0.1))  # of a row's own response; a tenth of it in the next problem
SOFTER = 7  # problems
SOFT_NEAR = wp.constant(wp.float64(1e-6))  # of a row's own response; ten times as much in the next try
NEAR_TRIES = 3
NEAR_STEPS = 30
MOST_SWEEPS = 2000000  # entries of the matrix read in sweeps
MOST_WORK = 10000000  # multiplications of factors


@wp.func(inline=False)
def prepare(c: wp.ref[Bounded], w: int):
    """Reach and ρ of the rows: one for those bounded together, by the one that responds most."""
    n = c.count[0, w]
    largest = ZERO
    for k in range(n):
        c.reach[k, w] = k
        largest = wp.max(largest, response(c, k, k, w))
    for j in range(n):
        for k in range(c.start[j, w], j):
            c.reach[k, w] = j
    for k in range(n):
        size = c.group[k, w]
        if size > 0:
            most = ZERO
            for i in range(size):
                most = wp.max(most, response(c, k + i, k + i, w))
            for i in range(size):
                c.rho[k + i, w] = ZERO
                if response(c, k + i, k + i, w) > NOTHING * largest:
                    c.rho[k + i, w] = ONE / most


@wp.func(inline=False)
def velocities(c: wp.ref[Bounded], w: int):
    """w = W p + b, row by row of the lower half."""
    W = c.W  # local: the compiler keeps their addresses in registers
    p = c.p
    u = c.w
    n = c.count[0, w]
    for k in range(n):
        u[k, w] = c.b[k, w]
    for k in range(n):
        row = c.at[k, w]
        own = p[k, w]
        total = W[row + k, w] * own
        for j in range(c.start[k, w], k):
            entry = W[row + j, w]
            total += entry * p[j, w]
            u[j, w] = u[j, w] + entry * own
        u[k, w] = u[k, w] + total


@wp.func
def wished(c: wp.ref[Bounded], k: int, w: int) -> f64:
    """y = p - ρ w."""
    return c.p[k, w] - c.rho[k, w] * c.w[k, w]


@wp.func
def scale(c: wp.ref[Bounded], k: int, w: int) -> f64:
    """What the bounds of a row are multiples of."""
    of = c.of[k, w]
    if of < 0:
        return ONE
    return wp.max(wished(c, of, w), ZERO)


@wp.func
def group_size(c: wp.ref[Bounded], first: int, w: int) -> f64:
    """|y| of the rows that begin at `first`."""
    square = ZERO
    for i in range(c.group[first, w]):
        y = wished(c, first + i, w)
        square += y * y
    return wp.sqrt(square)


@wp.func(inline=False)
def sort_rows(c: wp.ref[Bounded], w: int) -> f64:
    """Where each row is by the last p and w; returns how far p is from its projection, of the largest there is."""
    error = ZERO
    largest = TINY
    for k in range(c.count[0, w]):
        largest = wp.max(largest, wp.max(wp.abs(c.p[k, w]), c.rho[k, w] * wp.abs(c.b[k, w])))
        y = wished(c, k, w)
        goal = y
        c.kind[k, w] = INSIDE
        first = first_of(c, k, w)
        bound = c.high[k, w] * scale(c, k, w)
        if c.rho[k, w] == ZERO:
            goal = ZERO
            c.kind[k, w] = BOUND
            c.along[k, w] = ZERO
        elif c.group[first, w] == 1:
            least = c.low[k, w] * scale(c, k, w)
            if y < least or y > bound or c.low[k, w] == c.high[k, w]:
                c.kind[k, w] = BOUND
                c.along[k, w] = c.low[k, w]
                goal = least
                if y > bound:
                    c.along[k, w] = c.high[k, w]
                    goal = bound
        else:
            size = group_size(c, first, w)
            if bound <= ZERO:
                c.kind[k, w] = BOUND
                c.along[k, w] = ZERO
                goal = ZERO
            elif size > bound:
                c.kind[k, w] = SLIDES
                c.along[k, w] = y / size
                c.share[k, w] = bound / size
                goal = y * (bound / size)
        error = wp.max(error, wp.abs(c.p[k, w] - goal))
    return error / largest


@wp.func(inline=False)
def newton(c: wp.ref[Bounded], start: f64, swept: bool, w: int) -> f64:
    """Newton's method from c.p, whose error is `start`; leaves the best p that was found and returns its error.

    swept: p may be any of several that fit, of which the least is looked for.
    """
    n = c.count[0, w]
    least = start
    if swept:
        least = wp.max(start, TWO * NEAR)
    since = int(0)
    step = int(0)
    for k in range(n):
        c.best[k, w] = c.p[k, w]
    while step < NEWTON_STEPS and least > ROUNDED and since < WATCHDOG and c.work[0, w] > 0:
        toward = ZERO
        if least <= NEAR:
            toward = ONE
        if not solve_rows(c, toward, w):
            step = NEWTON_STEPS
        else:
            for k in range(n):
                c.p[k, w] = c.next[k, w]
            velocities(c, w)
            error = sort_rows(c, w)
            since += 1
            if least <= ENOUGH and error > HALF * least:  # as good as it gets
                since = int(WATCHDOG)
            if error < least:
                least = error
                if since < WATCHDOG:
                    since = int(0)
                for k in range(n):
                    c.best[k, w] = c.p[k, w]
        step += 1
    for k in range(n):
        c.p[k, w] = c.best[k, w]
    velocities(c, w)
    return wp.min(least, sort_rows(c, w))


@wp.func
def push(c: wp.ref[Bounded], k: int, change: f64, w: int):
    """p_k += change, and the velocities with it."""
    if change != ZERO:
        W = c.W  # local: the compiler keeps their addresses in registers
        u = c.w
        at = c.at[k, w]
        c.p[k, w] = c.p[k, w] + change
        for j in range(c.start[k, w], k + 1):
            u[j, w] = u[j, w] + W[at + j, w] * change
        for j in range(k + 1, c.reach[k, w] + 1):
            if c.start[j, w] <= k:
                u[j, w] = u[j, w] + W[c.at[j, w] + k, w] * change


@wp.func
def bound_scale(c: wp.ref[Bounded], k: int, w: int) -> f64:
    """What the bounds of a row are multiples of, by the last p."""
    of = c.of[k, w]
    if of < 0:
        return ONE
    return wp.max(c.p[of, w], ZERO)


@wp.func(inline=False)
def sweep_rows(c: wp.ref[Bounded], w: int):
    """Every row, or group, once into its bounds (Gauss-Seidel); groups all from the same velocity."""
    k = int(0)
    while k < c.count[0, w]:
        size = c.group[k, w]
        bound = c.high[k, w] * bound_scale(c, k, w)
        if size == 1:
            if c.rho[k, w] > ZERO:
                goal = wp.clamp(wished(c, k, w), c.low[k, w] * bound_scale(c, k, w), bound)
                push(c, k, goal - c.p[k, w], w)
        else:
            length = group_size(c, k, w)
            for i in range(size):
                c.next[k + i, w] = wished(c, k + i, w)
                if length > bound:
                    c.next[k + i, w] = c.next[k + i, w] * (bound / length)
            for i in range(size):
                if c.rho[k + i, w] > ZERO:
                    push(c, k + i, c.next[k + i, w] - c.p[k + i, w], w)
        k += size


@wp.func(inline=False)
def approach(c: wp.ref[Bounded], w: int) -> f64:
    """Newton's method on ever less soft problems about the last p; leaves the last one's p and returns its error."""
    n = c.count[0, w]
    for k in range(n):
        c.own[k, w] = response(c, k, k, w)
        c.given[k, w] = c.b[k, w]
    soft = f64(SOFTEST)
    for _ in range(SOFTER):
        for k in range(n):
            yields = soft * c.own[k, w]
            c.W[c.at[k, w] + k, w] = c.own[k, w] + yields
            c.b[k, w] = c.given[k, w] - yields * c.p[k, w]
        velocities(c, w)
        newton(c, sort_rows(c, w), False, w)
        soft *= f64(0.1)
    for k in range(n):
        c.W[c.at[k, w] + k, w] = c.own[k, w]
        c.b[k, w] = c.given[k, w]
    velocities(c, w)
    return sort_rows(c, w)


@wp.func(inline=False)
def went_astray(c: wp.ref[Bounded], w: int) -> bool:
    """Whether Newton's method has found another p than the last one has become: then that is taken back."""
    largest = ZERO
    moved = ZERO
    for k in range(c.count[0, w]):
        largest = wp.max(largest, wp.abs(c.given[k, w]))
        moved = wp.max(moved, wp.abs(c.p[k, w] - c.given[k, w]))
    if moved <= ASTRAY * largest:
        return False
    for k in range(c.count[0, w]):
        c.p[k, w] = c.given[k, w]
    velocities(c, w)
    return True


@wp.func(inline=False)
def draw_near(c: wp.ref[Bounded], soft: f64, start: f64, w: int) -> f64:
    """Steps of Newton's method that each give way to what p differs from the last one's; leaves the best p.

    Where hardly any set of rows has its least p within the bounds, as with finger tips all about a stone, these stay
    with a p that the sweeps found.
    """
    n = c.count[0, w]
    least = start
    for k in range(n):
        c.own[k, w] = response(c, k, k, w)
        c.given[k, w] = c.b[k, w]
        c.best[k, w] = c.p[k, w]
    step = int(0)
    while step < NEAR_STEPS and least > ENOUGH and c.work[0, w] > 0:
        for k in range(n):  # w is the same of this p
            yields = soft * c.own[k, w]
            c.W[c.at[k, w] + k, w] = c.own[k, w] + yields
            c.b[k, w] = c.given[k, w] - yields * c.p[k, w]
        step += 1
        if not solve_rows(c, ONE, w):
            step = int(NEAR_STEPS)
        else:
            for k in range(n):
                c.p[k, w] = c.next[k, w]
        for k in range(n):
            c.W[c.at[k, w] + k, w] = c.own[k, w]
            c.b[k, w] = c.given[k, w]
        velocities(c, w)
        error = sort_rows(c, w)
        if error < least:
            least = error
            for k in range(n):
                c.best[k, w] = c.p[k, w]
    for k in range(n):
        c.p[k, w] = c.best[k, w]
    velocities(c, w)
    return sort_rows(c, w)


@wp.func(inline=False)
def solve_bounded(c: wp.ref[Bounded], w: int) -> f64:
    """p of all rows, from c.p to begin with; returns the error that is left, of the largest impulse there is."""
    prepare(c, w)
    for k in range(c.count[0, w]):
        if c.rho[k, w] == ZERO:
            c.p[k, w] = ZERO
    velocities(c, w)
    error = sort_rows(c, w)
    if error <= ROUNDED:
        return error
    c.work[0, w] = MOST_WORK
    last = wp.max(c.count[0, w] - 1, 0)
    time = MOST_SWEEPS // (2 * (c.at[last, w] + last + 1))  # for sweeps
    sweeps = int(SWEEPS)
    rounds = int(0)
    while rounds < ROUNDS:
        swept = error > CHANGED or rounds > 0
        if swept:
            for _ in range(wp.min(sweeps, time)):
                sweep_rows(c, w)
            time -= sweeps
            sweeps *= 3
            velocities(c, w)
            error = sort_rows(c, w)
        else:
            for k in range(c.count[0, w]):
                c.given[k, w] = c.p[k, w]
        error = newton(c, error, swept, w)
        if swept and error > ROUNDED and error <= NEAR:
            error = newton(c, error, False, w)
        rounds += 1
        if error <= ENOUGH or time <= 0:
            rounds = int(ROUNDS)
        if not swept and went_astray(c, w):
            error = TWO * CHANGED
            rounds = int(0)
    if error > ENOUGH:
        error = newton(c, approach(c, w), False, w)
    soft = f64(SOFT_NEAR)
    for _ in range(NEAR_TRIES):
        if error > ENOUGH:
            error = newton(c, draw_near(c, soft, error, w), False, w)
            soft *= f64(10.0)
    return error
