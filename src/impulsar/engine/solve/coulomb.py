"""Rows with bounds that depend on each other, solved as a whole: limits, friction, contacts by Coulomb's law.

With w = W p + b the velocities (or accelerations) of n rows by their impulses (or forces) p, W = J M⁻¹ Jᵀ with the
equations eliminated, every row, or group of rows bounded together, asks for

    low ≤ p ≤ high,  w = 0 inside of the bounds          one row: a limit has 0 and infinity
    |p| ≤ R,  w = 0 inside, else p = -R w / |w|           a group: R = high, or high · p_of, Coulomb's cone

Newton's method on p = proj(p - ρ w) (Alart and Curnier 1991): with y = p - ρ w each row is, for the new P,

    inside                      (W P + b) = 0
    at a bound                  P = bound, of which P_of is a part where it depends on it
    sliding, d = y / |y|        P - R d - κ (1 - d dᵀ) (P - ρ (W P + b)) = 0        κ = R / |y|

which has few factors where it is warm. A little of the own response on the diagonal stands in for what is redundant: of
several solutions it finds the least, so that bodies which hold each other do not press against each other for nothing;
a last step towards the p so found leaves no error of it. It may go in circles: then sweeps by rows bring it near, and
it is tried again. Matrices are kept within an envelope: row k from `start` to k, its column likewise, so that rows of
bodies far from each other cost nothing.
"""

import warp as wp

from ..spatial import HALF, ONE, ZERO, f64

SOFT = wp.constant(wp.float64(1e-9))  # of a row's own response
NEAR = wp.constant(wp.float64(1e-7))  # error at which the least p has been found, but for what SOFT leaves
TINY = wp.constant(wp.float64(1e-300))
ENOUGH = wp.constant(wp.float64(1e-10))  # error, of the largest impulse there is or would be without the others
ROUNDED = wp.constant(wp.float64(1e-14))  # what is less is rounding; a stack of n amplifies errors n² times
NOTHING = wp.constant(wp.float64(1e-14))  # response, of the largest: a row that nothing moves
NEWTON_STEPS = 15
WATCHDOG = 4  # steps without a new best
SWEEPS = 10  # before Newton's method is tried again; then three times as many, within MOST_WORK
ROUNDS = 6
MOST_WORK = 2000000  # entries of the matrix read in sweeps
INSIDE, BOUND, SLIDES = 0, 1, 2


@wp.struct
class Bounded:
    """A problem of up to so many rows, and the scratch of its solution, all [row, world] unless said."""

    count: wp.array2d(dtype=wp.int32)  # [1] rows
    start: wp.array2d(dtype=wp.int32)  # first row that responds to it
    at: wp.array2d(dtype=wp.int32)  # where entry 0 of its row would be: (k, j) is at at[k] + j
    reach: wp.array2d(dtype=wp.int32)  # last row that responds to it; found here
    W: wp.array2d(dtype=f64)  # [entry] lower half
    b: wp.array2d(dtype=f64)
    group: wp.array2d(dtype=wp.int32)  # of rows bounded together: how many at the first, 0 at the others; 1 alone
    of: wp.array2d(dtype=wp.int32)  # row whose p the bounds are multiples of, -1: none
    low: wp.array2d(dtype=f64)
    high: wp.array2d(dtype=f64)
    p: wp.array2d(dtype=f64)  # in: to begin with; out
    factors: wp.array2d(dtype=wp.int32)  # [1] how many were made, added up
    # scratch
    w: wp.array2d(dtype=f64)
    rho: wp.array2d(dtype=f64)
    best: wp.array2d(dtype=f64)
    next: wp.array2d(dtype=f64)
    kind: wp.array2d(dtype=wp.int32)
    share: wp.array2d(dtype=f64)  # κ of a row that slides
    along: wp.array2d(dtype=f64)  # d of it; the bound of one that is there
    lower: wp.array2d(dtype=f64)  # [entry] L, 1 on its diagonal
    upper: wp.array2d(dtype=f64)  # [entry] U by columns


@wp.func
def response(c: wp.ref[Bounded], k: int, j: int, w: int) -> f64:
    """W between two rows."""
    row = wp.max(k, j)
    column = wp.min(k, j)
    if column < c.start[row, w]:
        return ZERO
    return c.W[c.at[row, w] + column, w]


@wp.func
def first_of(c: wp.ref[Bounded], k: int, w: int) -> int:
    """First of the rows that k is bounded together with."""
    first = k
    while c.group[first, w] == 0:
        first -= 1
    return first


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


@wp.func
def coefficient(c: wp.ref[Bounded], k: int, j: int, w: int) -> f64:
    """Of P_j in the equation of row k."""
    own = ZERO
    if k == j:
        own = ONE
    kind = c.kind[k, w]
    if kind == INSIDE:
        value = response(c, k, j, w)
        return value + SOFT * own * value
    of = c.of[k, w]
    if kind == BOUND:
        if of >= 0 and j == of:
            return own - c.along[k, w]
        return own
    d = c.along[k, w]
    value = own
    if of >= 0 and j == of:
        value -= c.high[k, w] * d
    first = first_of(c, k, w)
    for i in range(c.group[first, w]):
        part = -d * c.along[first + i, w]
        if first + i == k:
            part += ONE
        moved = -c.rho[k, w] * response(c, first + i, j, w)
        if first + i == j:
            moved += ONE
        value -= c.share[k, w] * part * moved
    return value


@wp.func
def right_side(c: wp.ref[Bounded], k: int, toward: f64, w: int) -> f64:
    """Of the equation of row k."""
    kind = c.kind[k, w]
    if kind == INSIDE:
        return SOFT * response(c, k, k, w) * toward * c.p[k, w] - c.b[k, w]
    if kind == BOUND:
        if c.of[k, w] >= 0:
            return ZERO
        return c.along[k, w]
    d = c.along[k, w]
    value = ZERO
    if c.of[k, w] < 0:
        value = c.high[k, w] * d
    first = first_of(c, k, w)
    for i in range(c.group[first, w]):
        part = -d * c.along[first + i, w]
        if first + i == k:
            part += ONE
        value -= c.share[k, w] * part * c.rho[k, w] * c.b[first + i, w]
    return value


@wp.func(inline=False)
def solve_rows(c: wp.ref[Bounded], toward: f64, w: int) -> bool:
    """P of the equations as they are sorted, by LU within the envelope, into c.next; False where they have none.

    toward: 0, the least P of those there are, or 1, that nearest to c.p.
    """
    n = c.count[0, w]
    W = c.W  # local: the compiler keeps their addresses in registers
    kinds = c.kind
    lower = c.lower
    upper = c.upper
    starts = c.start
    places = c.at
    c.factors[0, w] = c.factors[0, w] + 1
    for k in range(n):
        start = starts[k, w]
        row = places[k, w]
        inside = kinds[k, w] == INSIDE
        for j in range(start, k):
            value = W[row + j, w]
            if not inside:
                value = coefficient(c, k, j, w)
            column = places[j, w]
            for i in range(wp.max(start, starts[j, w]), j):
                value -= lower[row + i, w] * upper[column + i, w]
            lower[row + j, w] = value / upper[column + j, w]
        for j in range(start, k + 1):
            value = W[row + j, w]
            if kinds[j, w] != INSIDE:
                value = coefficient(c, j, k, w)
            elif j == k:
                value += SOFT * value
            left = places[j, w]
            for i in range(wp.max(start, starts[j, w]), j):
                value -= lower[left + i, w] * upper[row + i, w]
            upper[row + j, w] = value
        if upper[row + k, w] == ZERO:
            return False
        value = right_side(c, k, toward, w)
        for j in range(start, k):
            value -= lower[row + j, w] * c.next[j, w]
        c.next[k, w] = value
    for back in range(n):
        k = n - 1 - back
        row = places[k, w]
        value = c.next[k, w] / upper[row + k, w]
        c.next[k, w] = value
        for j in range(starts[k, w], k):
            c.next[j, w] = c.next[j, w] - upper[row + j, w] * value
    return True


@wp.func(inline=False)
def newton(c: wp.ref[Bounded], start: f64, w: int) -> f64:
    """Newton's method from c.p, whose error is `start`; leaves the best p that was found and returns its error."""
    n = c.count[0, w]
    least = start
    since = int(0)
    step = int(0)
    for k in range(n):
        c.best[k, w] = c.p[k, w]
    while step < NEWTON_STEPS and least > ROUNDED and since < WATCHDOG:
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
    return least


@wp.func
def push(c: wp.ref[Bounded], k: int, change: f64, w: int):
    """p_k += change, and the velocities with it."""
    if change != ZERO:
        c.p[k, w] = c.p[k, w] + change
        for j in range(c.start[k, w], c.reach[k, w] + 1):
            c.w[j, w] = c.w[j, w] + response(c, j, k, w) * change


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
def solve_bounded(c: wp.ref[Bounded], w: int) -> f64:
    """p of all rows, from c.p to begin with; returns the error that is left, of the largest impulse there is."""
    prepare(c, w)
    for k in range(c.count[0, w]):
        if c.rho[k, w] == ZERO:
            c.p[k, w] = ZERO
    velocities(c, w)
    error = sort_rows(c, w)
    sweeps = int(SWEEPS)
    rounds = int(0)
    last = wp.max(c.count[0, w] - 1, 0)
    work = MOST_WORK // (2 * (c.at[last, w] + last + 1))  # sweeps that there is time for
    while rounds < ROUNDS and error > ENOUGH:
        if rounds > 0:
            for _ in range(sweeps):
                sweep_rows(c, w)
            work -= sweeps
            sweeps = wp.min(3 * sweeps, work)
            if sweeps <= 0:
                rounds = int(ROUNDS)
            velocities(c, w)
            error = sort_rows(c, w)
        error = newton(c, error, w)
        if error > ENOUGH:
            error = sort_rows(c, w)
        rounds += 1
    return error
