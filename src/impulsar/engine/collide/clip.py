"""Manifolds: two features clipped against each other, in one plane, reduced to four points.

Everything is measured along the contact's normal n, which separates the shapes best. The reference is the face that n
leaves most squarely; the other feature is cut off (Sutherland 1974) at the walls that rise along n from the
reference's edges, and each corner left has the gap to the reference's plane along n. All points of a manifold lie in
that plane. The four kept are the deepest, the one farthest from it, and the largest areas on either side.
"""

import warp as wp

from ..spatial import INFINITY, ONE, ZERO, f64, vec3
from .arrays import CollideScratch, ShapeArrays
from .cores import Core, feature

SQUARE = wp.constant(wp.float64(0.1))  # cosine to the normal below which a face is no reference
FIRST = wp.constant(wp.float64(1e-3))  # by how much the second shape's face must be squarer to be the reference
ON_WALL = wp.constant(wp.float64(1e-9))  # of the size: so far beyond a wall a corner stays
DEEPER = wp.constant(wp.float64(1e-10))  # of the size
SAME_PLACE = wp.constant(wp.float64(1e-3))  # of the size: two points are one
CLEARLY = wp.constant(wp.float64(1.000001))  # times as far or as large: more than round-off
ALONG = wp.constant(wp.float64(1e-8))  # squared sine of the angle of two lines that touch all along


@wp.func
def third(x: wp.ref[CollideScratch]) -> int:
    """Room of each of the three polygons."""
    return x.polygon.shape[0] // 3


@wp.func(inline=False)
def clip(x: wp.ref[CollideScratch], ref: int, corners: int, inc: int, count: int, n: vec3, size: f64, w: int):
    """Cut the polygon at `inc` by the walls along n of the polygon at `ref`; where it is now, and its corners."""
    room = third(x)
    here = inc
    there = 2 * room
    left = count
    for k in range(corners):
        p = x.polygon[ref + k, w]
        inward = wp.cross(n, x.polygon[ref + (k + 1) % corners, w] - p)
        length = wp.length(inward)
        if length == ZERO or left == 0:
            continue
        inward = inward / length
        found = int(0)
        a = x.polygon[here + left - 1, w]
        da = wp.dot(inward, a - p)
        for i in range(left):
            b = x.polygon[here + i, w]
            db = wp.dot(inward, b - p)
            a_in = da >= -ON_WALL * size
            b_in = db >= -ON_WALL * size
            if a_in != b_in and found < room:
                # both may be beyond the wall, one by less than counts
                x.polygon[there + found, w] = a + (b - a) * wp.clamp(da / (da - db), ZERO, ONE)
                found += 1
            if b_in and found < room:
                x.polygon[there + found, w] = b
                found += 1
            a = b
            da = db
        left = found
        swap = here
        here = there
        there = swap
    return here, left


@wp.func
def add_candidate(
    x: wp.ref[CollideScratch], count: int, p: vec3, normal: vec3, gap: f64, side: int, size: f64, w: int
) -> int:
    """Add a point; of two in one place with one normal the deeper stays."""
    for i in range(count):
        if wp.length(x.candidate[i, w] - p) < SAME_PLACE * size and wp.dot(x.candidate_normal[i, w], normal) > f64(
            0.999
        ):
            if gap < x.candidate_gap[i, w] - DEEPER * size:
                x.candidate[i, w] = p
                x.candidate_normal[i, w] = normal
                x.candidate_gap[i, w] = gap
                x.candidate_side[i, w] = side
            return count
    if count >= x.candidate.shape[0]:
        x.missed[0, w] = x.missed[0, w] + 1
        return count
    x.candidate[count, w] = p
    x.candidate_normal[count, w] = normal
    x.candidate_gap[count, w] = gap
    x.candidate_side[count, w] = side
    return count + 1


@wp.func
def face_points(
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    B: wp.ref[Core],
    counts: wp.vec2i,
    face: vec3,
    side: int,
    normal: vec3,
    margin: f64,
    size: f64,
    have: int,
    w: int,
) -> int:
    """Candidates of a reference face of A (side 0) or B (side 1) against the other's feature."""
    room = third(x)
    ref = side * room
    up = normal
    if side == 1:
        up = -normal
    origin = x.polygon[ref, w]
    here, left = clip(x, ref, counts[side], (1 - side) * room, counts[1 - side], up, size, w)
    own = A.radius
    if side == 1:
        own = B.radius
    count = have
    for k in range(left):
        p = x.polygon[here + k, w]
        t = wp.dot(p - origin, face) / wp.dot(up, face)
        gap = t - A.radius - B.radius
        if gap < margin:
            count = add_candidate(x, count, p - up * (t - own), normal, gap, side, size, w)
    return count


@wp.func
def line_points(
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    B: wp.ref[Core],
    normal: vec3,
    margin: f64,
    size: f64,
    have: int,
    w: int,
) -> int:
    """Candidates of two lines that touch all along: the ends of what they have in common."""
    room = third(x)
    a = x.polygon[0, w]
    d = x.polygon[1, w] - a
    b = x.polygon[room, w]
    e = x.polygon[room + 1, w] - b
    dd = wp.dot(d, d)
    ee = wp.dot(e, e)
    count = have
    if dd == ZERO or ee == ZERO or wp.length_sq(wp.cross(d, e)) > ALONG * dd * ee:
        return count
    s = wp.dot(b - a, d) / dd
    t = wp.dot(b + e - a, d) / dd
    low = wp.max(wp.min(s, t), ZERO)
    high = wp.min(wp.max(s, t), f64(1.0))
    if low > high:
        return count
    for k in range(2):
        along = low
        if k == 1:
            along = high
        p = a + along * d
        q = b + e * ((along - s) / (t - s))
        gap = wp.dot(q - p, normal) - A.radius - B.radius
        if gap < margin:
            count = add_candidate(x, count, p + normal * A.radius, normal, gap, 0, size, w)
    return count


@wp.func(inline=False)
def gather(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    B: wp.ref[Core],
    normal: vec3,
    margin: f64,
    size: f64,
    have: int,
    w: int,
):
    """Candidates of two cores with this normal, behind `have` others: their number, and the reference's side."""
    nA, fA = feature(m, x, A, normal, 0, w)
    nB, fB = feature(m, x, B, -normal, third(x), w)
    squareA = ZERO
    squareB = ZERO
    if nA > 2:
        squareA = wp.dot(fA, normal)
    if nB > 2:
        squareB = -wp.dot(fB, normal)
    count = have
    if nA == 2 and nB == 2:
        count = line_points(x, A, B, normal, margin, size, have, w)
        return count, 0
    if wp.max(squareA, squareB) < SQUARE or nA == 1 or nB == 1:
        return count, 0
    side = int(0)
    face = fA
    if squareB > squareA + FIRST:
        side = 1
        face = fB
    count = face_points(x, A, B, wp.vec2i(nA, nB), face, side, normal, margin, size, have, w)
    return count, side


@wp.func
def emit(x: wp.ref[CollideScratch], found: int, candidate: int, normal: vec3, w: int) -> int:
    if found < x.out_gap.shape[0]:
        x.out_point[found, w] = x.candidate[candidate, w]
        x.out_normal[found, w] = normal
        x.out_gap[found, w] = x.candidate_gap[candidate, w]
        x.out_side[found, w] = x.candidate_side[candidate, w]
        return found + 1
    return found


@wp.func(inline=False)
def mark_four(x: wp.ref[CollideScratch], count: int, group: int, normal: vec3, size: f64, w: int):
    """Leave at most four candidates in a group: the others' group is -2."""
    one = int(-1)
    members = int(0)
    for i in range(count):
        if x.candidate_group[i, w] == group:
            members += 1
            if one < 0 or x.candidate_gap[i, w] < x.candidate_gap[wp.max(one, 0), w] - DEEPER * size:
                one = i
    if members <= 4:
        return
    p = x.candidate[one, w]
    two = one
    most = ZERO
    for i in range(count):
        far = wp.length_sq(x.candidate[i, w] - p)
        if x.candidate_group[i, w] == group and far > most * CLEARLY:
            most = far
            two = i
    along = x.candidate[two, w] - p
    three = int(-1)
    four = int(-1)
    high = SAME_PLACE * size * wp.length(along)
    low = -high
    for i in range(count):
        if x.candidate_group[i, w] == group:
            area = wp.dot(wp.cross(along, x.candidate[i, w] - p), normal)
            if area > high * CLEARLY:
                high = area
                three = i
            if area < low * CLEARLY:
                low = area
                four = i
    for i in range(count):
        if x.candidate_group[i, w] == group and i != one and i != two and i != three and i != four:
            x.candidate_group[i, w] = -2


@wp.func
def reduce(x: wp.ref[CollideScratch], count: int, normal: vec3, size: f64, w: int) -> int:
    """Write at most four of the candidates as contacts, in the order in which they were found; their number."""
    for i in range(count):
        x.candidate_group[i, w] = 0
    mark_four(x, count, 0, normal, size, w)
    found = int(0)
    for i in range(count):
        if x.candidate_group[i, w] == 0:
            found = emit(x, found, i, normal, w)
    return found


@wp.func
def deepest(x: wp.ref[CollideScratch], start: int, end: int, w: int) -> f64:
    """The least gap of the candidates from start to end [m]."""
    least = INFINITY
    for i in range(start, end):
        least = wp.min(least, x.candidate_gap[i, w])
    return least
