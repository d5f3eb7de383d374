"""Nearest points by closed forms: point and solid, segment and segment, parallel cylinders.

A point and a solid: the signed distance (< 0 inside), the outward normal and the nearest point of the surface, all
along the solid's axes. Where the nearest point is not unique (centres, axes, edges) the first by a fixed order is
taken, so that every pose has an answer.
"""

import warp as wp

from ..spatial import ONE, TWO, ZERO, f64, vec3, zero3
from .arrays import BOX, CONE, CYLINDER, ShapeArrays
from .cores import Core, local, perpendicular, sign_of

NOWHERE = wp.constant(wp.float64(1e-150))  # [m] shorter is no direction
NEARLY_PARALLEL = wp.constant(wp.float64(1e-6))  # squared sine of an angle
PARALLEL = wp.constant(wp.float64(1e-14))  # of the length: parallel lines are equally far all along


@wp.func
def away(from_: vec3, to: vec3, instead: vec3) -> vec3:
    """Unit vector between two points; `instead` where they are the same."""
    d = to - from_
    length = wp.length(d)
    if length > NOWHERE:
        return d / length
    return instead


@wp.func
def point_box(half: vec3, q: vec3):
    """Distance, normal and nearest point of a box."""
    inner = vec3(
        wp.clamp(q[0], -half[0], half[0]), wp.clamp(q[1], -half[1], half[1]), wp.clamp(q[2], -half[2], half[2])
    )
    d = q - inner
    far = wp.length(d)
    if far > ZERO:
        return far, d / far, inner
    k = int(0)
    if half[1] - wp.abs(q[1]) < half[k] - wp.abs(q[k]):
        k = 1
    if half[2] - wp.abs(q[2]) < half[k] - wp.abs(q[k]):
        k = 2
    side = sign_of(q[k])
    normal = zero3()
    normal[k] = side
    surface = q
    surface[k] = side * half[k]
    return wp.abs(q[k]) - half[k], normal, surface


@wp.func
def point_cylinder(r: f64, h: f64, q: vec3):
    """Distance, normal and nearest point of a cylinder of radius r and half length h."""
    rho = wp.sqrt(q[0] * q[0] + q[1] * q[1])
    e = vec3(ONE, ZERO, ZERO)
    if rho > NOWHERE:
        e = vec3(q[0] / rho, q[1] / rho, ZERO)
    side = sign_of(q[2])
    inner = wp.min(rho, r) * e + vec3(ZERO, ZERO, wp.clamp(q[2], -h, h))
    d = q - inner
    if rho <= r:
        d = vec3(ZERO, ZERO, d[2])  # q is over a cap, or inside
    far = wp.length(d)
    if far > ZERO:
        return far, d / far, inner
    if r - rho < h - wp.abs(q[2]):
        return rho - r, e, r * e + vec3(ZERO, ZERO, q[2])
    return wp.abs(q[2]) - h, vec3(ZERO, ZERO, side), vec3(q[0], q[1], side * h)


@wp.func
def point_cone(r: f64, h: f64, q: vec3):
    """Distance, normal and nearest point of a cone of base radius r at -h with its tip at +h.

    In the half plane (ρ, z) it is a triangle: t runs along the slant from the rim to the tip.
    """
    rho = wp.sqrt(q[0] * q[0] + q[1] * q[1])
    e = vec3(ONE, ZERO, ZERO)
    if rho > NOWHERE:
        e = vec3(q[0] / rho, q[1] / rho, ZERO)
    slant = wp.sqrt(r * r + f64(4.0) * h * h)
    side = (TWO * h * (rho - r) + r * (q[2] + h)) / slant  # beyond the slant
    base = -h - q[2]  # beyond the base
    if side <= ZERO and base <= ZERO:
        if side > base:
            normal = (e * TWO * h + vec3(ZERO, ZERO, r)) / slant
            return side, normal, q - side * normal
        return base, vec3(ZERO, ZERO, -ONE), vec3(q[0], q[1], -h)
    t = wp.clamp((-r * (rho - r) + TWO * h * (q[2] + h)) / (slant * slant), ZERO, ONE)
    on_slant = (ONE - t) * r * e + vec3(ZERO, ZERO, -h + t * TWO * h)
    on_base = wp.min(rho, r) * e + vec3(ZERO, ZERO, -h)
    if rho <= r:
        on_base = vec3(q[0], q[1], -h)
    nearest = on_slant
    if wp.length_sq(q - on_base) < wp.length_sq(q - on_slant):
        nearest = on_base
    normal = (e * TWO * h + vec3(ZERO, ZERO, r)) / slant
    if base > side:
        normal = vec3(ZERO, ZERO, -ONE)
    return wp.length(q - nearest), away(nearest, q, normal), nearest


@wp.func
def inside_hull(m: wp.ref[ShapeArrays], c: wp.ref[Core], q: vec3):
    """The face that a point is least inside of: its distance (> 0: the point is outside) and normal."""
    u = local(c, q - c.p)
    most = f64(-1e300)
    normal = zero3()
    for face in range(c.part_start, c.part_start + c.part_count):
        n = m.face_normal[face]
        far = wp.dot(n, u - m.vertices[m.face_corner[m.face_start[face]]])
        if far > most:
            most = far
            normal = n
    return most, c.R * normal


@wp.func
def point_solid(c: wp.ref[Core], q: vec3):
    """Distance, normal and nearest point of a capsule's segment, a box, a cylinder or a cone, along world axes."""
    u = local(c, q - c.p)
    far = ZERO
    normal = zero3()
    surface = zero3()
    if c.kind == BOX:
        far, normal, surface = point_box(c.size, u)
    elif c.kind == CYLINDER:
        far, normal, surface = point_cylinder(c.size[0], c.size[2], u)
    elif c.kind == CONE:
        far, normal, surface = point_cone(c.size[0], c.size[2], u)
    else:  # a segment, or a point where the half length is 0
        surface = vec3(ZERO, ZERO, wp.clamp(u[2], -c.size[2], c.size[2]))
        far = wp.length(u - surface)
        normal = away(surface, u, vec3(ONE, ZERO, ZERO))
    return far, c.R * normal, c.p + c.R * surface


@wp.func
def on_segment(p: vec3, d: vec3, q: vec3) -> vec3:
    """The point of the segment p ± d that is nearest to q."""
    a = wp.dot(d, d)
    if a == ZERO:
        return p
    return p + d * wp.clamp(wp.dot(q - p, d) / a, -ONE, ONE)


@wp.func(inline=False)
def segment_segment(p: vec3, d: vec3, q: vec3, e: vec3):
    """Nearest points of the segments p ± d and q ± e; of parallel ones in the middle of where they overlap."""
    a = wp.dot(d, d)
    b = wp.dot(d, e)
    c = wp.dot(e, e)
    f = wp.dot(d, p - q)
    g = wp.dot(e, p - q)
    det = a * c - b * b
    if det > NEARLY_PARALLEL * a * c:
        s = wp.clamp((b * g - c * f) / det, -ONE, ONE)
        on_second = on_segment(q, e, p + s * d)
        return on_segment(p, d, on_second), on_second
    # nearly parallel: the middle of what they have in common, or an end where that is nearer
    s = ZERO
    if a > ZERO:
        half = wp.abs(b) / a
        low = wp.max(-f / a - half, -ONE)
        high = wp.min(-f / a + half, ONE)
        s = wp.clamp((low + high) / TWO, -ONE, ONE)
    first = p + s * d
    second = on_segment(q, e, first)
    if a == ZERO or c == ZERO:
        second = on_segment(q, e, p)
        first = on_segment(p, d, second)
    least = wp.length(second - first) - PARALLEL * wp.sqrt(a + c)
    ends = int(5)
    for k in range(ends):
        on_first = p + d
        if k == 1:
            on_first = p - d
        elif k == 4 and det > ZERO:  # where they cross
            on_first = p + d * wp.clamp((b * g - c * f) / det, -ONE, ONE)
        on_second = on_segment(q, e, on_first)
        if k == 2 or k == 3:
            on_second = q + e
            if k == 3:
                on_second = q - e
            on_first = on_segment(p, d, on_second)
        if wp.length(on_second - on_first) < least:
            least = wp.length(on_second - on_first)
            first = on_first
            second = on_second
    return first, second


@wp.func
def parallel_cylinders(A: wp.ref[Core], B: wp.ref[Core], axis: vec3):
    """Gap, normal and point of A for cylinders with parallel axes: the difference of both is a cylinder.

    Seen from A's middle it has radius rA + rB and half length hA + hB about B's middle.
    """
    r = A.size[0] + B.size[0]
    h = A.size[2] + B.size[2]
    d = B.p - A.p
    z = wp.dot(d, axis)
    across = d - z * axis
    rho = wp.length(across)
    e = perpendicular(axis)
    if rho > f64(1e-14) * r:
        e = across / rho
    side = sign_of(z)
    out_r = rho - r
    out_z = wp.abs(z) - h
    # middle of the common part along the axis, and the point of A nearest to B across it
    low = wp.max(-A.size[2], z - B.size[2])
    high = wp.min(A.size[2], z + B.size[2])
    along = wp.clamp((low + high) / TWO, -A.size[2], A.size[2])
    if out_r > ZERO and out_z > ZERO:
        gap = wp.sqrt(out_r * out_r + out_z * out_z)
        return gap, (out_r * e + out_z * side * axis) / gap, A.p + A.size[0] * e + side * A.size[2] * axis
    if out_r > out_z:
        return out_r, e, A.p + A.size[0] * e + along * axis
    near = wp.max(rho - B.size[0], -A.size[0])
    far = wp.min(A.size[0], rho + B.size[0])
    return out_z, side * axis, A.p + (near + far) / TWO * e + side * A.size[2] * axis
