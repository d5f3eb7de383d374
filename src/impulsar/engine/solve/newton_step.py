"""One step of Newton's method on a problem of bounded rows: the equations of coulomb.py's table, solved by factors.

Rows at a bound that is a number have their P: they drop out. The others keep their order, and with it an envelope.
Where none slides their matrix is W's and symmetric,

    g_kj = W_kj - Σ g_ki L_ji,   L_kj = g_kj / d_j,   d_k = g_kk                    L D Lᵀ, half the work of L U
"""

import warp as wp

from ..spatial import ONE, ZERO, f64
from .bounded import BOUND, INSIDE, Bounded, first_of, response

SOFT = wp.constant(wp.float64(1e-9))  # of a row's own response


@wp.func
def is_known(c: wp.ref[Bounded], k: int, w: int) -> bool:
    """Whether P of a row is a number: at a bound that does not depend on another's."""
    return c.kind[k, w] == BOUND and (c.of[k, w] < 0 or c.along[k, w] == ZERO)


@wp.func(inline=False)
def list_equations(c: wp.ref[Bounded], w: int) -> bool:
    """Rows whose P is not known and their envelope; of the others P and what it gives. True where all are symmetric."""
    n = c.count[0, w]
    symmetric = bool(True)
    count = int(0)
    for k in range(n):
        c.rest[k, w] = c.b[k, w]
    for k in range(n):
        c.equation[k, w] = count
        if is_known(c, k, w):
            P = c.along[k, w]
            c.next[k, w] = P
            if P != ZERO:
                for j in range(c.start[k, w], c.reach[k, w] + 1):
                    c.rest[j, w] = c.rest[j, w] + response(c, j, k, w) * P
        else:
            c.open_rows[count, w] = k
            count += 1
            symmetric = symmetric and c.kind[k, w] == INSIDE
    entries = int(0)
    work = int(0)
    for e in range(count):
        begin = wp.min(c.equation[c.start[c.open_rows[e, w], w], w], e)
        c.begin[e, w] = begin
        c.place[e, w] = entries - begin
        entries += e - begin + 1
        work += (e - begin) * (e - begin)
    if symmetric:
        work = work // 2
    c.equations[0, w] = count
    c.work[0, w] = c.work[0, w] - work
    return symmetric


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
def known_impulse(c: wp.ref[Bounded], k: int, w: int) -> f64:
    """P of a row where it is known, else 0."""
    if is_known(c, k, w):
        return c.next[k, w]
    return ZERO


@wp.func
def right_side(c: wp.ref[Bounded], k: int, toward: f64, w: int) -> f64:
    """Of the equation of row k."""
    kind = c.kind[k, w]
    if kind == INSIDE:
        return SOFT * response(c, k, k, w) * toward * c.p[k, w] - c.rest[k, w]
    of = c.of[k, w]
    if kind == BOUND:
        return c.along[k, w] * known_impulse(c, of, w)
    d = c.along[k, w]
    value = c.high[k, w] * d
    if of >= 0:
        value *= known_impulse(c, of, w)
    first = first_of(c, k, w)
    for i in range(c.group[first, w]):
        part = -d * c.along[first + i, w]
        if first + i == k:
            part += ONE
        value -= c.share[k, w] * part * c.rho[k, w] * c.rest[first + i, w]
    return value


@wp.func
def dot(a: wp.array2d(dtype=f64), b: wp.array2d(dtype=f64), in_a: int, in_b: int, begin: int, end: int, w: int) -> f64:
    """Of the entries begin to end; four sums that do not wait for each other."""
    s0 = ZERO
    s1 = ZERO
    s2 = ZERO
    s3 = ZERO
    i = begin
    while i + 3 < end:
        s0 += a[in_a + i, w] * b[in_b + i, w]
        s1 += a[in_a + i + 1, w] * b[in_b + i + 1, w]
        s2 += a[in_a + i + 2, w] * b[in_b + i + 2, w]
        s3 += a[in_a + i + 3, w] * b[in_b + i + 3, w]
        i += 4
    while i < end:
        s0 += a[in_a + i, w] * b[in_b + i, w]
        i += 1
    return (s0 + s1) + (s2 + s3)


@wp.func(inline=False)
def factor_symmetric(c: wp.ref[Bounded], toward: f64, w: int) -> bool:
    """L D Lᵀ of the equations, and L⁻¹ of their right side into c.next; False where a pivot is 0."""
    W = c.W  # local: the compiler keeps their addresses in registers
    lower = c.lower
    upper = c.upper
    rows = c.open_rows
    begins = c.begin
    places = c.place
    for e in range(c.equations[0, w]):
        k = rows[e, w]
        start = begins[e, w]
        own = places[e, w]
        from_W = c.at[k, w]
        pivot = W[from_W + k, w]
        pivot += SOFT * pivot
        value = right_side(c, k, toward, w)
        for j in range(start, e):
            first = wp.max(start, begins[j, w])
            entry = W[from_W + rows[j, w], w] - dot(upper, lower, own, places[j, w], first, j, w)
            upper[own + j, w] = entry
            part = entry / upper[places[j, w] + j, w]
            lower[own + j, w] = part
            pivot -= entry * part
            value -= part * c.next[rows[j, w], w]
        if pivot == ZERO:
            return False
        upper[own + e, w] = pivot
        c.next[k, w] = value
    return True


@wp.func(inline=False)
def factor_general(c: wp.ref[Bounded], toward: f64, w: int) -> bool:
    """L U of the equations, and L⁻¹ of their right side into c.next; False where a pivot is 0."""
    lower = c.lower
    upper = c.upper
    rows = c.open_rows
    begins = c.begin
    places = c.place
    for e in range(c.equations[0, w]):
        k = rows[e, w]
        start = begins[e, w]
        own = places[e, w]
        value = right_side(c, k, toward, w)
        for j in range(start, e):
            first = wp.max(start, begins[j, w])
            entry = coefficient(c, k, rows[j, w], w) - dot(lower, upper, own, places[j, w], first, j, w)
            part = entry / upper[places[j, w] + j, w]
            lower[own + j, w] = part
            value -= part * c.next[rows[j, w], w]
        for j in range(start, e + 1):
            first = wp.max(start, begins[j, w])
            upper[own + j, w] = coefficient(c, rows[j, w], k, w) - dot(lower, upper, places[j, w], own, first, j, w)
        if upper[own + e, w] == ZERO:
            return False
        c.next[k, w] = value
    return True


@wp.func(inline=False)
def solve_rows(c: wp.ref[Bounded], toward: f64, w: int) -> bool:
    """P of the equations as they are sorted, into c.next; False where they have none.

    toward: 0, the least P of those there are, or 1, that nearest to c.p.
    """
    c.factors[0, w] = c.factors[0, w] + 1
    symmetric = list_equations(c, w)
    if symmetric:
        if not factor_symmetric(c, toward, w):
            return False
    elif not factor_general(c, toward, w):
        return False
    rows = c.open_rows
    for back in range(c.equations[0, w]):
        e = c.equations[0, w] - 1 - back
        own = c.place[e, w]
        value = c.next[rows[e, w], w] / c.upper[own + e, w]
        c.next[rows[e, w], w] = value
        for j in range(c.begin[e, w], e):
            entry = c.upper[own + j, w]
            c.next[rows[j, w], w] = c.next[rows[j, w], w] - entry * value
    return True
