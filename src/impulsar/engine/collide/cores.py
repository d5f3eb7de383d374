"""Cores: their farthest points, and the flat or straight features with which they lie on others.

A core's farthest point in direction d is its support point. Its feature is the face, line or point through that
point that faces d best: a polygon of 3 or more corners, a segment or a point; a circle is a polygon of RING corners,
one of them in the direction in which d leans.
"""

import warp as wp

from ..spatial import ONE, TWO_PI, ZERO, axis_of, f64, mat33, vec3, zero3
from .arrays import BOX, CAPSULE, CONE, CYLINDER, HULL, RING, SPHERE, TRIANGLE, CollideScratch, ShapeArrays

LEANING = wp.constant(wp.float64(1e-8))  # [rad] below it a cap lies flat, and its polygon stays with the body
RINGS = wp.constant(wp.float64(RING))


@wp.struct
class Core:
    """A convex shape in some place; positions are from the pair's own origin, along world axes [m]."""

    kind: int
    p: vec3
    R: mat33
    size: vec3
    radius: f64
    start: int
    count: int
    part_start: int
    part_count: int
    a: vec3  # corners of a triangle
    b: vec3
    c: vec3


@wp.func
def core_of(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], shape: int, origin: vec3, w: int) -> Core:
    """A shape of a world."""
    c = Core()
    c.kind = m.kind[shape]
    c.p = x.p_WS[shape, w] - origin
    c.R = x.R_WS[shape, w]
    c.size = m.size[shape]
    c.radius = m.radius[shape]
    c.start = m.start[shape]
    c.count = m.count[shape]
    c.part_start = m.part_start[shape]
    c.part_count = m.part_count[shape]
    return c


@wp.func
def triangle_core(a: vec3, b: vec3, c: vec3) -> Core:
    core = Core()
    core.kind = TRIANGLE
    core.a = a
    core.b = b
    core.c = c
    return core


@wp.func
def is_round(kind: int) -> bool:
    return kind == CYLINDER or kind == CONE


@wp.func
def sign_of(x: f64) -> f64:
    """1 or -1, never 0."""
    if x < ZERO:
        return -ONE
    return ONE


@wp.func
def largest_of(u: vec3) -> int:
    """Axis along which u is longest."""
    k = int(0)
    if wp.abs(u[1]) > wp.abs(u[k]):
        k = 1
    if wp.abs(u[2]) > wp.abs(u[k]):
        k = 2
    return k


@wp.func
def perpendicular(n: vec3) -> vec3:
    """A unit vector across the unit vector n."""
    e = vec3(ONE, ZERO, ZERO)
    if wp.abs(n[0]) > f64(0.6):
        e = vec3(ZERO, ONE, ZERO)
    return wp.normalize(wp.cross(n, e))


@wp.func
def local(c: wp.ref[Core], d: vec3) -> vec3:
    """A direction in the core's own axes."""
    return wp.transpose(c.R) * d


@wp.func(inline=False)
def hull_vertex(m: wp.ref[ShapeArrays], start: int, count: int, d: vec3) -> int:
    """The vertex of a hull farthest in direction d of its own axes; of equals the first."""
    best = start
    most = wp.dot(m.vertices[start], d)
    for i in range(start + 1, start + count):
        far = wp.dot(m.vertices[i], d)
        if far > most:
            most = far
            best = i
    return best


@wp.func(inline=False)
def support(m: wp.ref[ShapeArrays], c: wp.ref[Core], d: vec3) -> vec3:
    """The core's farthest point in direction d [m]."""
    if c.kind == SPHERE:
        return c.p
    if c.kind == TRIANGLE:
        best = c.a
        if wp.dot(c.b - best, d) > ZERO:
            best = c.b
        if wp.dot(c.c - best, d) > ZERO:
            best = c.c
        return best
    u = local(c, d)
    s = c.size
    p = vec3(ZERO, ZERO, s[2] * sign_of(u[2]))
    if c.kind == BOX:
        p = vec3(s[0] * sign_of(u[0]), s[1] * sign_of(u[1]), p[2])
    elif c.kind == HULL:
        p = m.vertices[hull_vertex(m, c.start, c.count, u)]
    elif c.kind != CAPSULE:  # a cylinder or a cone
        across = wp.sqrt(u[0] * u[0] + u[1] * u[1])
        if c.kind == CONE:
            p = vec3(ZERO, ZERO, -s[2])
            if ZERO - s[2] * u[2] + s[0] * across <= s[2] * u[2]:
                p = vec3(ZERO, ZERO, s[2])
                across = ZERO
        if across > ZERO:
            p += vec3(s[0] * u[0] / across, s[0] * u[1] / across, ZERO)
    return c.p + c.R * p


@wp.func(inline=False)
def facing_normal(m: wp.ref[ShapeArrays], c: wp.ref[Core], d: vec3) -> vec3:
    """Normal of the face, cap or side of a core that faces d best; d itself where there is none."""
    u = local(c, d)
    n = u
    if c.kind == BOX:
        k = largest_of(u)
        n = axis_of(k) * sign_of(u[k])
    elif c.kind == HULL:
        n = m.face_normal[facing_face(m, c, u)]
    elif c.kind == CYLINDER or c.kind == CONE:
        across = wp.sqrt(u[0] * u[0] + u[1] * u[1])
        cap_normal = vec3(ZERO, ZERO, sign_of(u[2]))
        side = vec3(u[0], u[1], ZERO)
        if c.kind == CONE:
            cap_normal = vec3(ZERO, ZERO, -ONE)
            side = side * (c.size[2] + c.size[2]) + vec3(ZERO, ZERO, across * c.size[0])
        if across > ZERO:
            side = wp.normalize(side)
        n = cap_normal
        if wp.dot(side, u) > wp.dot(cap_normal, u):
            n = side
    return c.R * n


@wp.func
def put(x: wp.ref[CollideScratch], c: wp.ref[Core], at: int, p: vec3, w: int):
    x.polygon[at, w] = c.p + c.R * p


@wp.func
def box_face(x: wp.ref[CollideScratch], c: wp.ref[Core], u: vec3, at: int, w: int):
    """The face of a box that faces u best."""
    k = largest_of(u)
    side = sign_of(u[k])
    i = (k + 1) % 3
    j = (k + 2) % 3
    for place in range(at, at + 4):
        n = place - at
        # anticlockwise about +k; a face on the other side is passed the other way round
        a = ONE
        if n == 1 or n == 2:
            a = -ONE
        b = ONE
        if n >= 2:
            b = -ONE
        p = zero3()
        p[k] = side * c.size[k]
        p[i] = a * c.size[i] * side
        p[j] = b * c.size[j]
        put(x, c, place, p, w)
    normal = zero3()
    normal[k] = side
    return 4, c.R * normal


@wp.func(inline=False)
def facing_face(m: wp.ref[ShapeArrays], c: wp.ref[Core], u: vec3) -> int:
    """Of a hull's faces about the farthest vertex that which faces u best."""
    vertex = hull_vertex(m, c.start, c.count, u)
    best = m.fan_face[m.fan_start[vertex]]
    most = f64(-2.0)
    for k in range(m.fan_start[vertex], m.fan_start[vertex + 1]):
        face = m.fan_face[k]
        far = wp.dot(m.face_normal[face], u)
        if far > most:
            most = far
            best = face
    return best


@wp.func
def hull_face(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], c: wp.ref[Core], u: vec3, at: int, w: int):
    """The face of a hull that faces u best."""
    best = facing_face(m, c, u)
    first = m.face_start[best]
    n = m.face_start[best + 1] - first
    for k in range(n):
        put(x, c, at + k, m.vertices[m.face_corner[first + k]], w)
    return n, c.R * m.face_normal[best]


@wp.func
def cap(x: wp.ref[CollideScratch], c: wp.ref[Core], lean: vec3, side: f64, at: int, w: int):
    """A circle of a cylinder or a cone at one end, as a polygon with a corner in the direction of `lean`."""
    e = vec3(ONE, ZERO, ZERO)
    across = wp.sqrt(lean[0] * lean[0] + lean[1] * lean[1])
    if across > LEANING:
        e = vec3(lean[0] / across, lean[1] / across, ZERO)
    f = vec3(-e[1], e[0], ZERO)
    for k in range(at, at + RING):
        angle = side * TWO_PI * f64(k - at) / RINGS
        p = c.size[0] * (wp.cos(angle) * e + wp.sin(angle) * f)
        put(x, c, k, vec3(p[0], p[1], side * c.size[2]), w)
    return RING, c.R * vec3(ZERO, ZERO, side)


@wp.func
def line_of(x: wp.ref[CollideScratch], c: wp.ref[Core], a: vec3, b: vec3, normal: vec3, at: int, w: int):
    put(x, c, at, a, w)
    put(x, c, at + 1, b, w)
    return 2, c.R * normal


@wp.func(inline=False)
def feature(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], c: wp.ref[Core], d: vec3, at: int, w: int):
    """Write what faces the unit vector d best into the polygons from `at` on; its corners' number and its normal."""
    if c.kind == SPHERE:
        x.polygon[at, w] = c.p
        return 1, d
    if c.kind == TRIANGLE:
        x.polygon[at, w] = c.a
        normal = wp.normalize(wp.cross(c.b - c.a, c.c - c.a))
        side = sign_of(wp.dot(normal, d))
        x.polygon[at + 1, w] = c.b
        x.polygon[at + 2, w] = c.c
        if side < ZERO:
            x.polygon[at + 1, w] = c.c
            x.polygon[at + 2, w] = c.b
        return 3, normal * side
    u = local(c, d)
    if c.kind == BOX:
        n, normal = box_face(x, c, u, at, w)
        return n, normal
    if c.kind == HULL:
        n, normal = hull_face(m, x, c, u, at, w)
        return n, normal
    r = c.size[0]
    h = c.size[2]
    across = wp.sqrt(u[0] * u[0] + u[1] * u[1])
    e = vec3(ONE, ZERO, ZERO)
    if across > ZERO:
        e = vec3(u[0] / across, u[1] / across, ZERO)
    end = vec3(ZERO, ZERO, h)
    if c.kind == CAPSULE:
        n, normal = line_of(x, c, -end, end, e, at, w)
        return n, normal
    if c.kind == CYLINDER:
        if wp.abs(u[2]) > across:
            n, normal = cap(x, c, u, sign_of(u[2]), at, w)
            return n, normal
        n, normal = line_of(x, c, r * e - end, r * e + end, e, at, w)
        return n, normal
    slant = wp.sqrt(r * r + f64(4.0) * h * h)  # of a cone
    normal = (e * (h + h) + vec3(ZERO, ZERO, r)) / slant
    if -u[2] > wp.dot(normal, u):
        n, normal = cap(x, c, u, -ONE, at, w)
        return n, normal
    n, normal = line_of(x, c, r * e - end, end, normal, at, w)
    return n, normal
