"""Two shapes: how far apart, and where they touch.

`separate` finds gap, normal and nearest points of two convex shapes: closed forms where a ball or a plane takes part,
for two capsules and for cylinders with parallel axes, else GJK and, where cores overlap, EPA. `collide_convex` adds
the manifold. The first shape is the one of the lower kind; callers turn the answer round.
"""

import warp as wp

from ..spatial import INFINITY, ZERO, column, f64, vec3, zero3
from .arrays import BOX, CAPSULE, CONE, CYLINDER, HULL, PLANE, SPHERE, TRIANGLE, CollideScratch, ShapeArrays
from .clip import add_candidate, deepest, gather, reduce
from .cores import Core, facing_normal, feature, is_round, perpendicular, sign_of, support
from .epa import epa
from .gjk import gjk, point_of_first, simplex_normal
from .nearest import inside_hull, parallel_cylinders, point_solid, segment_segment
from .sat import crossing_edges, separating_axis

AXES_PARALLEL = wp.constant(wp.float64(1e-16))  # squared sine
MEET = wp.constant(wp.float64(1e-9))  # of the size: lines that all but meet
NO_LENGTH = wp.constant(wp.float64(1e-28))  # of the squared size
SAME_GAP = wp.constant(wp.float64(2e-12))  # of the size
UNSURE = wp.constant(wp.float64(2e-8))  # of the size: a depth that EPA has not found to its tolerance
LEAST_DEEPER = wp.constant(wp.float64(1e-10))  # of the size


@wp.struct
class Separation:
    """How two shapes lie to each other."""

    gap: f64  # < 0: they overlap [m]
    normal: vec3  # from the first to the second
    on_first: vec3  # nearest points, of overlapping shapes the deepest [m]
    on_second: vec3
    slack: f64  # the gap is certain to within that [m]
    steps: int  # of GJK and EPA


@wp.func
def is_revolved(kind: int) -> bool:
    return kind == CAPSULE or kind == CYLINDER or kind == CONE


@wp.func
def separation(gap: f64, normal: vec3, first: vec3, A: wp.ref[Core], B: wp.ref[Core], slack: f64, steps: int):
    """From the gap of the cores and the first core's point."""
    s = Separation()
    s.gap = gap - A.radius - B.radius
    s.normal = normal
    s.on_first = first + normal * A.radius
    s.on_second = first + normal * (gap - B.radius)
    s.slack = slack
    s.steps = steps
    return s


@wp.func
def overlap(m: wp.ref[ShapeArrays], A: wp.ref[Core], B: wp.ref[Core], n: vec3) -> f64:
    """How far B must move along n to leave A."""
    return wp.dot(support(m, A, n) - support(m, B, -n), n)


@wp.func(inline=False)
def sharpen(
    m: wp.ref[ShapeArrays],
    A: wp.ref[Core],
    B: wp.ref[Core],
    depth: f64,
    normal: vec3,
    first: vec3,
    worse: f64,
    axes: bool,
):
    """Overlap, normal and A's point along the direction in which round shapes really part, where one is known.

    About its least the overlap is flat: GJK and EPA know it to their tolerance and its direction to the root of that.
    Tried are the sides that face each other, the normals across both axes or an edge of a box and an axis, and with
    `axes` those of both, which are sides of shapes of which several are equally near. `worse` is the round-off by
    which one may be deeper.
    """
    least = depth + worse
    found = normal
    count = int(5)
    if axes:
        count = 17
    for k in range(count):
        n = normal
        if k == 0:
            n = facing_normal(m, A, normal)
        elif k == 1:
            n = -facing_normal(m, B, -normal)
        elif k < 5:
            n = wp.cross(column(A.R, k - 2), column(B.R, 2))
            if not (A.kind == BOX or (is_revolved(A.kind) and k == 4)) or not is_revolved(B.kind):
                continue
            if wp.length_sq(n) < AXES_PARALLEL:
                continue
            n = wp.normalize(n) * sign_of(wp.dot(n, normal))
        else:
            n = column(A.R, k % 3)
            if k >= 11:
                n = column(B.R, k % 3)
            if k % 2 == 0:
                n = -n
        far = overlap(m, A, B, n)
        if far < least:
            least = far
            found = n
    if wp.length_sq(found - normal) == ZERO:
        return depth, normal, first
    return least, found, first + found * wp.dot(support(m, A, found) - first, found)


@wp.func
def between_lines(d: vec3, e: vec3, apart: vec3, size: f64):
    """Gap and normal of two segments along d and e whose nearest points are apart; all but touching they part across
    both, as what is apart has no digits then."""
    far = wp.length(apart)
    if far > MEET * size:
        return far, apart / far
    normal = wp.cross(d, e)
    if wp.length_sq(normal) > AXES_PARALLEL * wp.length_sq(d) * wp.length_sq(e):
        normal = wp.normalize(normal)
    else:
        d = wp.normalize(d)
        normal = apart - d * wp.dot(apart, d)
        if wp.length_sq(normal) <= NO_LENGTH * size * size:
            normal = perpendicular(d)
        normal = wp.normalize(normal)
    gap = wp.dot(apart, normal)
    return wp.abs(gap), normal * sign_of(gap)


@wp.func(inline=False)
def coaxial(m: wp.ref[ShapeArrays], A: wp.ref[Core], B: wp.ref[Core]):
    """Overlap, normal and A's point of solids of revolution with parallel axes; the overlap is < 0 where they part.

    Their difference is one, too, and its profile a polygon: the normals of its sides are those of both profiles, in
    the plane of both axes.
    """
    axis = column(A.R, 2)
    d = B.p - A.p
    d = d - axis * wp.dot(d, axis)
    e = perpendicular(axis)
    if wp.length(d) > f64(1e-14) * (A.size[0] + A.size[2]):
        e = wp.normalize(d)
    least = INFINITY
    normal = e
    sides = int(5)
    for k in range(sides):
        n = e
        if k == 1:
            n = axis
        elif k == 2:
            n = -axis
        elif k == 3:
            if A.kind != CONE:
                continue
            n = wp.normalize(e * (A.size[2] + A.size[2]) + axis * A.size[0])
        elif k == 4:
            if B.kind != CONE:
                continue
            n = wp.normalize(e * (B.size[2] + B.size[2]) - column(B.R, 2) * B.size[0])
        far = overlap(m, A, B, n)
        if far < least:
            least = far
            normal = n
    a = support(m, A, normal)
    return least, normal, a


@wp.func
def between_cores(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], size: f64, w: int
) -> Separation:
    """GJK, and EPA where the cores overlap."""
    v, n, slack, steps = gjk(m, x, A, B, A.p - B.p, w)
    depth = ZERO
    normal = zero3()
    first = zero3()
    if wp.dot(v, v) > ZERO:
        first = point_of_first(x, n, w)
        away, far = simplex_normal(x, A, B, v, n, size, w)
        depth = -far
        normal = -away
    else:
        depth, normal, first, slack, more = epa(m, x, A, B, n, size, w)
        steps += more
    if is_round(A.kind) or is_round(B.kind):
        deep, out, p = sharpen(m, A, B, depth, normal, first, SAME_GAP * (size + wp.abs(depth)), slack > UNSURE * size)
        slack = wp.max(slack - wp.max(depth - deep, ZERO), ZERO)
        depth = deep
        normal = out
        first = p
    return separation(-depth, normal, first, A, B, slack, steps)


@wp.func(inline=False)
def separate(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], size: f64, w: int
) -> Separation:
    """Gap, normal and nearest points of two convex shapes, A's kind not above B's."""
    if A.kind == PLANE:
        n = column(A.R, 2)
        q = support(m, B, -n)
        gap = wp.dot(q - A.p, n)
        return separation(gap, n, q - gap * n, A, B, ZERO, 0)
    if A.kind == SPHERE and B.kind != HULL and B.kind != TRIANGLE:
        far, normal, _surface = point_solid(B, A.p)
        return separation(far, -normal, A.p, A, B, ZERO, 0)
    if A.kind == SPHERE and B.kind == HULL:
        inside, normal = inside_hull(m, B, A.p)
        if inside <= ZERO:
            return separation(inside, -normal, A.p, A, B, ZERO, 0)
    if A.kind == CAPSULE and B.kind == CAPSULE:
        d = column(A.R, 2) * A.size[2]
        e = column(B.R, 2) * B.size[2]
        p, q = segment_segment(A.p, d, B.p, e)
        gap, normal = between_lines(d, e, q - p, size)
        return separation(gap, normal, p, A, B, ZERO, 0)
    if A.kind == CYLINDER and B.kind == CYLINDER:
        axis = column(A.R, 2)
        if wp.length_sq(wp.cross(axis, column(B.R, 2))) < AXES_PARALLEL:
            gap, normal, first = parallel_cylinders(A, B, axis)
            return separation(gap, normal, first, A, B, ZERO, 0)
    if is_revolved(A.kind) and is_revolved(B.kind):
        if wp.length_sq(wp.cross(column(A.R, 2), column(B.R, 2))) < AXES_PARALLEL:
            depth, normal, first = coaxial(m, A, B)
            if depth >= ZERO:
                return separation(-depth, normal, first, A, B, ZERO, 0)
    return between_cores(m, x, A, B, size, w)


@wp.func
def on_plane(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    B: wp.ref[Core],
    margin: f64,
    size: f64,
    w: int,
) -> int:
    """Contacts of a plane and what lies on it: the corners of the feature that faces it."""
    n = column(A.R, 2)
    corners, _normal = feature(m, x, B, -n, 0, w)
    count = int(0)
    for k in range(corners):
        p = x.polygon[k, w]
        far = wp.dot(p - A.p, n)
        if far - B.radius < margin:
            count = add_candidate(x, count, p - far * n, n, far - B.radius, 0, size, w)
    return reduce(x, count, n, size, w)


@wp.func
def add_nearest(x: wp.ref[CollideScratch], count: int, s: wp.ref[Separation], side: int, size: f64, w: int) -> int:
    """The nearest points as a candidate, where it is deeper than all others."""
    if s.gap < deepest(x, 0, count, w) - LEAST_DEEPER * size:
        p = s.on_first
        if side == 1:
            p = s.on_second
        return add_candidate(x, count, p, s.normal, s.gap, side, size, w)
    return count


@wp.func
def box_box(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    B: wp.ref[Core],
    margin: f64,
    size: f64,
    w: int,
) -> int:
    """Contacts by separating axes; -1: what is nearest does not lie along the best axis."""
    gap, normal, which = separating_axis(A, B, size, margin)
    if which < 0:
        return 0
    if which >= 6 and gap > ZERO:  # the edges may pass each other
        return -1
    count, side = gather(m, x, A, B, normal, margin, size, 0, w)
    if which >= 6:
        p, q = crossing_edges(A, B, normal, which)
        if side == 1:
            p = q
        if gap < deepest(x, 0, count, w) - LEAST_DEEPER * size:
            count = add_candidate(x, count, p, normal, gap, side, size, w)
    elif deepest(x, 0, count, w) > gap + LEAST_DEEPER * size:
        return -1
    return reduce(x, count, normal, size, w)


@wp.func(inline=False)
def collide_convex(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    B: wp.ref[Core],
    margin: f64,
    size: f64,
    w: int,
) -> int:
    """Contacts of two convex shapes into `out_*`, A's kind not above B's; their number."""
    if A.kind == PLANE:
        return on_plane(m, x, A, B, margin, size, w)
    if A.kind == BOX and B.kind == BOX:
        found = box_box(m, x, A, B, margin, size, w)
        if found >= 0:
            return found
    s = separate(m, x, A, B, size, w)
    if s.gap >= margin:
        return 0
    count = int(0)
    side = int(0)
    if A.kind != SPHERE:
        count, side = gather(m, x, A, B, s.normal, margin, size, 0, w)
    count = add_nearest(x, count, s, side, size, w)
    return reduce(x, count, s.normal, size, w)
