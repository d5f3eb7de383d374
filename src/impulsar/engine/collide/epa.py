"""EPA: how deep two cores overlap (van den Bergen 2001): a polytope inside their difference grows towards the origin's
nearest face.

Every face's distance d is a lower bound of the depth once it is the least, and the support in any direction an upper
one: the depth found is certified by their difference, which is returned. Points lie in `difference`, faces are triples
of them with outward normals.
"""

import warp as wp

from ..spatial import INFINITY, ONE, ZERO, axis_of, f64, vec3, zero3
from .arrays import EPA_FACES, EPA_POINTS, CollideScratch, ShapeArrays
from .cores import Core, is_round, perpendicular, support

SHARP = wp.constant(wp.float64(1e-14))  # of the size: least progress between polytopes
SMOOTH = wp.constant(wp.float64(1e-8))  # and with round shapes
VISIBLE = wp.constant(wp.float64(1e-12))  # of the size: a point is beyond a face
FLAT = wp.constant(wp.float64(1e-10))  # of the size: a direction in which a difference has no extent
FLAT_FACE = wp.constant(wp.float64(1e-30))
ASTRAY = wp.constant(wp.float64(1e-6))  # of the size: nearest points that are not where the depth says


@wp.func
def add_support(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], d: vec3, at: int, w: int
) -> vec3:
    a = support(m, A, d)
    s = a - support(m, B, -d)
    x.difference[at, w] = s
    x.on_first[at, w] = a
    return s


@wp.func(inline=False)
def complete(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], n: int, size: f64, w: int
):
    """Corners of a tetrahedron about the origin from a simplex that touches it; fewer where the difference is flat.

    Returns their number, and the normal of what is flat.
    """
    flat = FLAT * size
    count = n
    sides = int(2)  # a variable: loops are not unrolled
    if count == 1:
        for k in range(3 * sides):
            if count == 1:
                d = axis_of(k % 3)
                if k >= 3:
                    d = -d
                s = add_support(m, x, A, B, d, 1, w)
                if wp.length(s - x.difference[0, w]) > flat:
                    count = 2
    normal = vec3(ZERO, ZERO, ONE)
    if count == 2:
        e = wp.normalize(x.difference[1, w] - x.difference[0, w])
        f = perpendicular(e)
        g = wp.cross(e, f)
        normal = f
        for k in range(2 * sides):
            if count == 2:
                d = f
                if k % 2 == 1:
                    d = g
                if k >= 2:
                    d = -d
                s = add_support(m, x, A, B, d, 2, w) - x.difference[0, w]
                if wp.length(s - wp.dot(s, e) * e) > flat:
                    count = 3
                else:
                    normal = d
    if count == 3:
        p = x.difference[0, w]
        normal = wp.normalize(wp.cross(x.difference[1, w] - p, x.difference[2, w] - p))
        for k in range(sides):
            if count == 3:
                d = normal
                if k == 1:
                    d = -normal
                s = add_support(m, x, A, B, d, 3, w)
                if wp.abs(wp.dot(s - p, normal)) > flat:
                    count = 4
    return count, normal


@wp.func
def add_face(x: wp.ref[CollideScratch], at: int, i: int, j: int, k: int, w: int):
    """Face i, j, k, anticlockwise seen from outside; one without area is never the nearest."""
    p = x.difference[i, w]
    e = x.difference[j, w] - p
    f = x.difference[k, w] - p
    normal = wp.cross(e, f)
    nn = wp.dot(normal, normal)
    x.epa_corner[3 * at, w] = i
    x.epa_corner[3 * at + 1, w] = j
    x.epa_corner[3 * at + 2, w] = k
    x.epa_distance[at, w] = INFINITY
    x.epa_normal[at, w] = zero3()
    if nn > FLAT_FACE * wp.dot(e, e) * wp.dot(f, f):
        normal = normal / wp.sqrt(nn)
        x.epa_normal[at, w] = normal
        x.epa_distance[at, w] = wp.dot(normal, p)


@wp.func
def first_faces(x: wp.ref[CollideScratch], w: int):
    """The four faces of the tetrahedron."""
    p = x.difference[0, w]
    det = wp.dot(x.difference[3, w] - p, wp.cross(x.difference[1, w] - p, x.difference[2, w] - p))
    i = int(1)
    j = int(2)
    if det > ZERO:  # 0, 1, 2 seen from 3 turn anticlockwise: from outside they must not
        i = 2
        j = 1
    add_face(x, 0, 0, i, j, w)
    add_face(x, 1, 0, j, 3, w)
    add_face(x, 2, j, i, 3, w)
    add_face(x, 3, i, 0, 3, w)


@wp.func
def note_edge(x: wp.ref[CollideScratch], edges: int, i: int, j: int, w: int) -> int:
    """Note an edge of a face that goes; where its other face went, too, it is no rim."""
    for k in range(edges):
        if x.epa_edge[2 * k, w] == j and x.epa_edge[2 * k + 1, w] == i:
            last = edges - 1
            x.epa_edge[2 * k, w] = x.epa_edge[2 * last, w]
            x.epa_edge[2 * k + 1, w] = x.epa_edge[2 * last + 1, w]
            return last
    x.epa_edge[2 * edges, w] = i
    x.epa_edge[2 * edges + 1, w] = j
    return edges + 1


@wp.func
def rim(x: wp.ref[CollideScratch], faces: int, w: int) -> int:
    """Edges between the faces that were marked and the others; their number, or -1 where there is no room."""
    edges = int(0)
    for k in range(faces):
        if x.epa_seen[k, w] == 1:
            if edges + 3 > EPA_FACES:
                return -1
            i = x.epa_corner[3 * k, w]
            j = x.epa_corner[3 * k + 1, w]
            l = x.epa_corner[3 * k + 2, w]
            edges = note_edge(x, edges, i, j, w)
            edges = note_edge(x, edges, j, l, w)
            edges = note_edge(x, edges, l, i, w)
    return edges


@wp.func
def is_loop(x: wp.ref[CollideScratch], edges: int, w: int) -> bool:
    """Whether the rim is one closed line, put into the order of its edges."""
    if edges < 3:
        return False
    for k in range(edges - 1):
        end = x.epa_edge[2 * k + 1, w]
        next_ = int(-1)
        for l in range(k + 1, edges):
            if x.epa_edge[2 * l, w] == end:
                next_ = l
                break
        if next_ < 0 or end == x.epa_edge[0, w]:
            return False
        i = x.epa_edge[2 * next_, w]
        j = x.epa_edge[2 * next_ + 1, w]
        x.epa_edge[2 * next_, w] = x.epa_edge[2 * k + 2, w]
        x.epa_edge[2 * next_ + 1, w] = x.epa_edge[2 * k + 3, w]
        x.epa_edge[2 * k + 2, w] = i
        x.epa_edge[2 * k + 3, w] = j
    return x.epa_edge[2 * edges - 1, w] == x.epa_edge[0, w]


@wp.func
def share_edge(x: wp.ref[CollideScratch], a: int, b: int, w: int) -> bool:
    """Whether two faces have an edge in common: two corners."""
    common = int(0)
    for i in range(3):
        for j in range(3):
            if x.epa_corner[3 * a + i, w] == x.epa_corner[3 * b + j, w]:
                common += 1
    return common >= 2


@wp.func(inline=False)
def mark_connected(x: wp.ref[CollideScratch], faces: int, near: int, w: int):
    """Of the faces marked 1 or 2 keep those that hang together with the nearest; 2 are those without area."""
    for k in range(faces):
        if x.epa_seen[k, w] == 1:
            x.epa_seen[k, w] = 2
    x.epa_seen[near, w] = 1
    grown = int(1)
    while grown == 1:
        grown = int(0)
        for k in range(faces):
            if x.epa_seen[k, w] == 2:
                for l in range(faces):
                    if x.epa_seen[l, w] == 1 and share_edge(x, k, l, w):
                        x.epa_seen[k, w] = 1
                        grown = 1
                        break


@wp.func(inline=False)
def cut_off(x: wp.ref[CollideScratch], faces: int, point: int, near: int, beyond: f64, w: int) -> int:
    """Replace the faces that a new point sees by those to it; their number, or -1 where that cannot be done.

    Round-off may leave patches that it sees apart from each other, and faces without area: where the rim is not one
    closed line, only what hangs together with the nearest face goes.
    """
    s = x.difference[point, w]
    for k in range(faces):
        x.epa_seen[k, w] = 0
        if k == near or wp.dot(x.epa_normal[k, w], s) - x.epa_distance[k, w] > beyond:
            x.epa_seen[k, w] = 1
        elif x.epa_distance[k, w] >= INFINITY:
            x.epa_seen[k, w] = 2
    edges = rim(x, faces, w)
    if not is_loop(x, edges, w):
        mark_connected(x, faces, near, w)
        edges = rim(x, faces, w)
        if not is_loop(x, edges, w):
            return -1
    left = int(0)
    for k in range(faces):
        if x.epa_seen[k, w] != 1:
            x.epa_corner[3 * left, w] = x.epa_corner[3 * k, w]
            x.epa_corner[3 * left + 1, w] = x.epa_corner[3 * k + 1, w]
            x.epa_corner[3 * left + 2, w] = x.epa_corner[3 * k + 2, w]
            x.epa_normal[left, w] = x.epa_normal[k, w]
            x.epa_distance[left, w] = x.epa_distance[k, w]
            left += 1
    if left + edges > EPA_FACES:
        return -1
    for k in range(edges):
        add_face(x, left + k, x.epa_edge[2 * k, w], x.epa_edge[2 * k + 1, w], point, w)
    return left + edges


@wp.func
def face_point(x: wp.ref[CollideScratch], face: int, w: int):
    """Where a face is nearest to the origin: the first core's point, and the difference."""
    i = x.epa_corner[3 * face, w]
    j = x.epa_corner[3 * face + 1, w]
    k = x.epa_corner[3 * face + 2, w]
    p = x.difference[i, w]
    e = x.difference[j, w] - p
    f = x.difference[k, w] - p
    normal = wp.cross(e, f)
    nn = wp.dot(normal, normal)
    s = wp.clamp(-wp.dot(wp.cross(p, f), normal) / nn, ZERO, ONE)
    t = wp.clamp(-wp.dot(wp.cross(e, p), normal) / nn, ZERO, ONE - s)
    a = x.on_first[i, w]
    return a + s * (x.on_first[j, w] - a) + t * (x.on_first[k, w] - a), p + s * e + t * f


@wp.func(inline=False)
def epa(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], A: wp.ref[Core], B: wp.ref[Core], n: int, size: f64, w: int):
    """Depth, direction in which to move B out of A, A's point, what depth and lower bound differ by, steps.

    The simplex of n corners is that of `gjk`, which found the origin in it.
    """
    count, normal = complete(m, x, A, B, n, size, w)
    if count < 4:  # flat: they touch, and part along the normal
        return ZERO, normal, x.on_first[0, w], ZERO, 0
    enough = SHARP * size
    if is_round(A.kind) or is_round(B.kind):
        enough = SMOOTH * size
    first_faces(x, w)
    faces = int(4)
    upper = INFINITY
    lower = ZERO
    point = zero3()
    steps = int(0)
    for at in range(4, EPA_POINTS):
        near = int(0)
        for k in range(1, faces):
            if x.epa_distance[k, w] < x.epa_distance[near, w]:
                near = k
        if not x.epa_distance[near, w] < INFINITY:
            break
        d = x.epa_normal[near, w]
        lower = x.epa_distance[near, w]
        steps += 1
        s = add_support(m, x, A, B, d, at, w)
        far = wp.dot(s, d)
        if far < upper:
            upper = far
            normal = d
            q, difference = face_point(x, near, w)
            point = q
            if wp.length(difference - lower * d) > ASTRAY * size:  # a sliver's weights are not to be trusted
                point = x.on_first[at, w]
        known = int(0)
        for k in range(at):
            if wp.length_sq(x.difference[k, w] - s) == ZERO:
                known = 1
        if far - lower <= enough:
            break
        more = int(-1)
        if known == 0:
            more = cut_off(x, faces, at, near, VISIBLE * size, w)
        if more < 0:  # a sliver, whose normal means nothing
            x.epa_distance[near, w] = INFINITY
        else:
            faces = more
    return upper, normal, point, wp.max(upper - lower, ZERO), steps
