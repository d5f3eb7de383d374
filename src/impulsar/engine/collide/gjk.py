"""GJK: the point nearest to the origin of the difference of two cores (Gilbert 1988).

The difference holds a - b for all points of both; its nearest point v is what separates them, and the origin lies
inside where they overlap. A simplex of up to 4 of its points is kept in `difference` and `on_first`. It ends on three
tests: the duality gap v·v - v·s of the support point s, a support point that the simplex has, and |v| that does not
fall any more; then the simplex before is kept.
"""

import warp as wp

from ..spatial import INFINITY, ONE, ZERO, f64, vec3, zero3
from .arrays import CollideScratch, ShapeArrays
from .cores import Core, is_round, support

DUALITY = wp.constant(wp.float64(1e-12))  # of v·v
TOUCHING = wp.constant(wp.float64(4e-15))  # |v| of the farthest points' lengths below which cores touch
FLAT_TRIANGLE = wp.constant(wp.float64(1e-30))  # squared area of squared edges
FLAT_TETRAHEDRON = wp.constant(wp.float64(1e-14))  # volume of edges
NEAR = wp.constant(wp.float64(1e-3))  # |v| of the size below which a face's own normal is taken
STEPS = wp.constant(128)


@wp.func
def set_weights(x: wp.ref[CollideScratch], a: f64, b: f64, c: f64, d: f64, w: int):
    x.weight[0, w] = a
    x.weight[1, w] = b
    x.weight[2, w] = c
    x.weight[3, w] = d


@wp.func
def weigh(x: wp.ref[CollideScratch], i: int, a: f64, j: int, b: f64, k: int, c: f64, w: int):
    """Weights of a corner, an edge or a face; the others have none."""
    set_weights(x, ZERO, ZERO, ZERO, ZERO, w)
    x.weight[i, w] = a
    if b > ZERO:
        x.weight[j, w] = b
    if c > ZERO:
        x.weight[k, w] = c


@wp.func(inline=False)
def nearest_of_simplex(x: wp.ref[CollideScratch], first: int, n: int, w: int) -> vec3:
    """The point of a simplex nearest to the origin, over its corners, edges, faces and its inside; its weights.

    Only those are looked at whose last corner is `first` or a later one: n - 1 for what a new corner brings, 0 for all.
    """
    best = INFINITY
    v = zero3()
    for i in range(first, n):
        p = x.difference[i, w]
        if wp.dot(p, p) < best:
            best = wp.dot(p, p)
            v = p
            weigh(x, i, ONE, 0, ZERO, 0, ZERO, w)
        for j in range(i):
            e = x.difference[j, w] - p
            ee = wp.dot(e, e)
            if ee > ZERO:
                t = -wp.dot(p, e) / ee
                q = p + t * e
                if t > ZERO and t < ONE and wp.dot(q, q) < best:
                    best = wp.dot(q, q)
                    v = q
                    weigh(x, i, ONE - t, j, t, 0, ZERO, w)
            for k in range(j):
                f = x.difference[k, w] - p
                normal = wp.cross(e, f)
                nn = wp.dot(normal, normal)
                if nn > FLAT_TRIANGLE * ee * wp.dot(f, f):
                    q = normal * (wp.dot(p, normal) / nn)
                    s = -wp.dot(wp.cross(p, f), normal) / nn
                    u = -wp.dot(wp.cross(e, p), normal) / nn
                    if s >= ZERO and u >= ZERO and s + u <= ONE and wp.dot(q, q) < best:
                        best = wp.dot(q, q)
                        v = q
                        weigh(x, i, ONE - s - u, j, s, k, u, w)
    if n == 4:
        p = x.difference[0, w]
        e = x.difference[1, w] - p
        f = x.difference[2, w] - p
        g = x.difference[3, w] - p
        det = wp.dot(e, wp.cross(f, g))
        if wp.abs(det) > FLAT_TETRAHEDRON * wp.length(e) * wp.length(f) * wp.length(g):
            a = -wp.dot(p, wp.cross(f, g)) / det
            b = -wp.dot(e, wp.cross(p, g)) / det
            c = -wp.dot(e, wp.cross(f, p)) / det
            if a >= ZERO and b >= ZERO and c >= ZERO and a + b + c <= ONE:
                v = zero3()
                set_weights(x, ONE - a - b - c, a, b, c, w)
    return v


@wp.func
def compact(x: wp.ref[CollideScratch], n: int, w: int) -> int:
    """Leave out corners without weight."""
    kept = int(0)
    for i in range(n):
        weight = x.weight[i, w]
        if weight > ZERO:
            x.difference[kept, w] = x.difference[i, w]
            x.on_first[kept, w] = x.on_first[i, w]
            x.weight[kept, w] = weight
            kept += 1
    return kept


@wp.func(inline=False)
def gjk(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], guess: vec3, w: int):
    """v, corners of its simplex, duality gap as a length, steps. Where |v| is 0 the cores overlap or touch.

    `guess` is a direction from B to A, such as the last one found.
    """
    v = guess
    if wp.dot(v, v) == ZERO:
        v = vec3(ONE, ZERO, ZERO)
    a = support(m, A, -v)
    b = support(m, B, v)
    farthest = wp.dot(a, a) + wp.dot(b, b)  # what round-off is of
    v = a - b
    x.difference[0, w] = v
    x.on_first[0, w] = a
    set_weights(x, ONE, ZERO, ZERO, ZERO, w)
    n = int(1)
    slack = ZERO
    steps = int(0)
    for _ in range(STEPS):
        vv = wp.dot(v, v)
        if vv <= TOUCHING * TOUCHING * farthest:
            v = zero3()
            slack = ZERO
            break
        steps += 1
        a = support(m, A, -v)
        b = support(m, B, v)
        s = a - b
        farthest = wp.max(farthest, wp.dot(a, a) + wp.dot(b, b))
        slack = (vv - wp.dot(v, s)) / wp.sqrt(vv)
        known = int(0)
        for i in range(n):
            if wp.length_sq(x.difference[i, w] - s) == ZERO:
                known = 1
        if known == 1 or vv - wp.dot(v, s) <= DUALITY * vv:
            break
        x.difference[n, w] = s
        x.on_first[n, w] = a
        for i in range(4):
            x.weight[4 + i, w] = x.weight[i, w]
        q = nearest_of_simplex(x, n, n + 1, w)
        if wp.dot(q, q) >= vv:
            q = nearest_of_simplex(x, 0, n + 1, w)
        if wp.dot(q, q) >= vv:
            for i in range(4):
                x.weight[i, w] = x.weight[4 + i, w]
            break
        n = compact(x, n + 1, w)
        v = q
        if n == 4:
            v = zero3()
            slack = ZERO
            break
    return v, n, slack, steps


@wp.func
def simplex_normal(x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], v: vec3, n: int, size: f64, w: int):
    """Unit vector and length of v; of flat shapes that all but touch by the face it lies on, which keeps its digits."""
    across = v
    if n == 2:  # v lies across its edge; rounded it is off along it
        e = x.difference[1, w] - x.difference[0, w]
        across = v - e * (wp.dot(v, e) / wp.dot(e, e))
        if wp.dot(across, across) == ZERO:
            across = v
    far = wp.length(across)
    direction = across / far
    if n == 3 and far < NEAR * size and not is_round(A.kind) and not is_round(B.kind):
        p = x.difference[0, w]
        normal = wp.cross(x.difference[1, w] - p, x.difference[2, w] - p)
        length = wp.length(normal)
        if length > ZERO:
            normal = normal / length
            along = wp.dot(normal, p)
            if along < ZERO:
                normal = -normal
                along = -along
            if along > ZERO and wp.dot(normal, direction) > f64(0.9):
                return normal, along
    return direction, far


@wp.func
def point_of_first(x: wp.ref[CollideScratch], n: int, w: int) -> vec3:
    """The point of the first core that the simplex's weights stand for."""
    p = zero3()
    for i in range(n):
        p += x.weight[i, w] * x.on_first[i, w]
    return p
