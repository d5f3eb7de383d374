"""What touches what in a contact: a point, line, plane or circle of either body, and how that moves.

Inside a smooth sub-step contacts are not looked for again: each is the meeting of two features that are fixed in their
bodies, found when the sub-step begins, and moves with them.

    plane - point     n fixed in the plane's body          a corner, a ball's centre, an end or a line of a capsule
    plane - circle    its lowest point                     a rim: discs and cylinders that roll
    point - point     n along their line                   balls
    point - line      n from the foot of the point         a ball on an edge or beside a capsule
    line - line       n across both                        edges, capsules

With radii about points and lines. Of each: gap, normal n from the first body to the second, point c of contact, and
the rates of n and c, by which rows have exact accelerations.
"""

import warp as wp

from ..collide.arrays import BOX, CAPSULE, CONE, CYLINDER, HULL, PLANE, SPHERE, CollideScratch, ShapeArrays
from ..collide.matching import in_shape
from ..spatial import ONE, TWO, ZERO, angular, f64, linear, vec3, zero3
from ..state import WorkArrays
from .accelerations import body_twist
from .frames import body_position, body_rotation

NONE, POINT, LINE, FACE, CIRCLE = 0, 1, 2, 3, 4
ALONG = wp.constant(wp.float64(1e-9))  # of 1: directions that are the same, or across each other
NEAR = wp.constant(wp.float64(1e-12))  # lengths that are none [m]


@wp.struct
class Feature:
    """Of a shape, in its frame."""

    kind: wp.int32
    point: vec3
    axis: vec3
    round: f64  # radius about a point or line [m]
    ring: f64  # radius of a circle [m]


@wp.struct
class Features:
    """Of the contacts of a sub-step: [2 · contact + side, world] in the bodies' frames, and [contact, world]."""

    kind: wp.array2d(dtype=wp.int32)
    point: wp.array2d(dtype=vec3)
    axis: wp.array2d(dtype=vec3)
    round: wp.array2d(dtype=f64)
    ring: wp.array2d(dtype=f64)
    gap: wp.array2d(dtype=f64)  # at the present pose [m]
    normal: wp.array2d(dtype=vec3)
    place: wp.array2d(dtype=vec3)  # c [m]
    normal_rate: wp.array2d(dtype=vec3)  # [1/s]
    place_rate: wp.array2d(dtype=vec3)  # [m/s]


@wp.struct
class Moving:
    """A point and a direction of a body, and their rates."""

    p: vec3
    p_rate: vec3
    e: vec3
    e_rate: vec3


@wp.struct
class Spot:
    """Where a contact is, and how it moves."""

    gap: f64
    n: vec3
    c: vec3
    n_rate: vec3
    c_rate: vec3


@wp.func
def feature(kind: int, point: vec3, axis: vec3, round: f64, ring: f64) -> Feature:
    own = Feature()
    own.kind = kind
    own.point = point
    own.axis = axis
    own.round = round
    own.ring = ring
    return own


@wp.func
def box_feature(half: vec3, n: vec3) -> Feature:
    """Of a box that is touched from direction n: a face, an edge or a corner."""
    corner = zero3()
    across = int(-1)
    for k in range(3):
        if wp.abs(n[k]) > ONE - ALONG:
            face = zero3()
            face[k] = wp.sign(n[k])
            return feature(FACE, half[k] * face, face, ZERO, ZERO)
        if wp.abs(n[k]) < ALONG:
            across = k
        else:
            corner[k] = wp.sign(n[k]) * half[k]
    if across >= 0:
        edge = zero3()
        edge[across] = ONE
        return feature(LINE, corner, edge, ZERO, ZERO)
    return feature(POINT, corner, zero3(), ZERO, ZERO)


@wp.func
def hull_feature(m: wp.ref[ShapeArrays], shape: int, n: vec3) -> Feature:
    """Of a hull: a face; edges and corners are not told apart."""
    first = m.part_start[shape]
    for k in range(m.part_count[shape]):
        if wp.dot(m.face_normal[first + k], n) > ONE - ALONG:
            at = m.vertices[m.face_corner[m.face_start[first + k]]]
            return feature(FACE, at, m.face_normal[first + k], ZERO, ZERO)
    return feature(NONE, zero3(), zero3(), ZERO, ZERO)


@wp.func(inline=False)
def shape_feature(m: wp.ref[ShapeArrays], shape: int, n: vec3, p: vec3, on_face: bool) -> Feature:
    """Of a shape that is touched at p from direction n, in its frame; on a face of the other, or not."""
    kind = m.kind[shape]
    half = m.size[shape]
    z = vec3(ZERO, ZERO, ONE)
    if kind == PLANE:
        return feature(FACE, zero3(), z, ZERO, ZERO)
    if kind == SPHERE:
        return feature(POINT, zero3(), zero3(), m.radius[shape], ZERO)
    if kind == CAPSULE:
        far = wp.clamp(p[2], -half[2], half[2])
        if on_face or wp.abs(far) >= half[2] * (ONE - ALONG):
            return feature(POINT, far * z, zero3(), m.radius[shape], ZERO)
        return feature(LINE, zero3(), z, m.radius[shape], ZERO)
    round = kind == CYLINDER or kind == CONE
    if round:
        end = wp.sign(p[2]) * half[2]
        if wp.abs(n[2]) > ONE - ALONG:
            if on_face:
                return feature(POINT, p, zero3(), ZERO, ZERO)
            return feature(FACE, wp.sign(n[2]) * half[2] * z, wp.sign(n[2]) * z, ZERO, ZERO)
        if kind == CONE and end > ZERO:
            if on_face:
                return feature(POINT, half[2] * z, zero3(), ZERO, ZERO)
            return feature(NONE, zero3(), zero3(), ZERO, ZERO)
        if on_face:
            return feature(CIRCLE, end * z, z, ZERO, half[0])
        if kind == CYLINDER and wp.abs(n[2]) < ALONG:
            return feature(LINE, zero3(), z, half[0], ZERO)
        return feature(NONE, zero3(), zero3(), ZERO, ZERO)
    if kind == BOX or kind == HULL:
        if on_face:
            return feature(POINT, p, zero3(), ZERO, ZERO)
        if kind == BOX:
            return box_feature(half, n)
        return hull_feature(m, shape, n)
    return feature(NONE, zero3(), zero3(), ZERO, ZERO)


@wp.func
def is_face(m: wp.ref[ShapeArrays], shape: int, n: vec3, p: vec3) -> bool:
    """Whether a shape is touched on a face."""
    own = shape_feature(m, shape, n, p, False)
    return own.kind == FACE


@wp.func
def keep_feature(m: wp.ref[ShapeArrays], f: wp.ref[Features], at: int, shape: int, own: Feature, w: int):
    """A shape's feature in the frame of its body."""
    q = m.q_BS[shape]
    f.kind[at, w] = own.kind
    f.point[at, w] = m.p_BS[shape] + wp.quat_rotate(q, own.point)
    f.axis[at, w] = wp.quat_rotate(q, own.axis)
    f.round[at, w] = own.round
    f.ring[at, w] = own.ring


@wp.func(inline=False)
def find_features(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], f: wp.ref[Features], i: int, w: int) -> bool:
    """Features of contact i from what was detected; False where they are of a kind whose motion is not known."""
    a = x.first[i, w]
    b = x.second[i, w]
    n = x.normal[i, w]
    gap = x.gap[i, w]
    on_a = x.point[i, w]
    on_b = x.point[i, w]
    if x.side[i, w] == 0:
        on_b = on_a + gap * n
    else:
        on_a = on_b - gap * n
    n_a = wp.transpose(x.R_WS[a, w]) * n
    n_b = -(wp.transpose(x.R_WS[b, w]) * n)
    p_a = in_shape(x, a, on_a, w)
    p_b = in_shape(x, b, on_b, w)
    face_a = is_face(m, a, n_a, p_a)
    face_b = is_face(m, b, n_b, p_b)
    if face_a and face_b:  # flush: the plane is that in which the points lie
        face_a = x.side[i, w] == 0
        face_b = not face_a
    first = shape_feature(m, a, n_a, p_a, face_b)
    second = shape_feature(m, b, n_b, p_b, face_a)
    keep_feature(m, f, 2 * i, a, first, w)
    keep_feature(m, f, 2 * i + 1, b, second, w)
    if first.kind == NONE or second.kind == NONE:
        return False
    if first.kind == FACE or second.kind == FACE:
        return first.kind != second.kind
    if first.kind == LINE and second.kind == LINE:
        return True
    return first.kind != CIRCLE and second.kind != CIRCLE and first.round + second.round > ZERO


@wp.func
def has_rim(f: wp.ref[Features], i: int, w: int) -> bool:
    return f.kind[2 * i, w] == CIRCLE or f.kind[2 * i + 1, w] == CIRCLE


@wp.func
def moving(x: wp.ref[WorkArrays], f: wp.ref[Features], at: int, body: int, w: int) -> Moving:
    """Point and axis of a feature in the world, and their rates."""
    V = body_twist(x, body, w)
    q = body_rotation(x, body, w)
    arm = wp.quat_rotate(q, f.point[at, w])
    own = Moving()
    own.p = body_position(x, body, w) + arm
    own.p_rate = linear(V) + wp.cross(angular(V), arm)
    own.e = wp.quat_rotate(q, f.axis[at, w])
    own.e_rate = wp.cross(angular(V), own.e)
    return own


@wp.func
def lowest(rim: Moving, ring: f64, n: vec3, n_rate: vec3) -> Moving:
    """The point of a circle that is farthest against n."""
    out = rim
    q = n - wp.dot(n, rim.e) * rim.e
    size = wp.max(wp.length(q), NEAR)
    down = -q / size
    q_rate = n_rate - (wp.dot(n_rate, rim.e) + wp.dot(n, rim.e_rate)) * rim.e - wp.dot(n, rim.e) * rim.e_rate
    rate = -(q_rate - wp.dot(down, q_rate) * down) / size
    out.p = rim.p + ring * down
    out.p_rate = rim.p_rate + ring * rate
    return out


@wp.func
def foot(line: Moving, p: vec3, p_rate: vec3) -> Moving:
    """The point of a line that is nearest to p."""
    out = line
    d = p - line.p
    along = wp.dot(d, line.e)
    rate = wp.dot(p_rate - line.p_rate, line.e) + wp.dot(d, line.e_rate)
    out.p = line.p + along * line.e
    out.p_rate = line.p_rate + rate * line.e + along * line.e_rate
    return out


@wp.func
def between(a: Moving, b: Moving, round_a: f64, round_b: f64) -> Spot:
    """Of two points with radii, from the first to the second."""
    d = b.p - a.p
    far = wp.max(wp.length(d), NEAR)
    s = Spot()
    s.gap = far - round_a - round_b
    s.n = d / far
    d_rate = b.p_rate - a.p_rate
    s.n_rate = (d_rate - wp.dot(s.n, d_rate) * s.n) / far
    s.c = a.p + round_a * s.n
    s.c_rate = a.p_rate + round_a * s.n_rate
    return s


@wp.func
def crossing(a: Moving, b: Moving, round_a: f64, round_b: f64, before: vec3) -> Spot:
    """Of two lines with radii; the normal is on the side on which it was before."""
    d = b.p - a.p
    d_rate = b.p_rate - a.p_rate
    c = wp.cross(a.e, b.e)
    c_rate = wp.cross(a.e_rate, b.e) + wp.cross(a.e, b.e_rate)
    square = wp.max(wp.dot(c, c), NEAR)
    along = wp.dot(wp.cross(d, b.e), c) / square
    rate = wp.dot(wp.cross(d_rate, b.e) + wp.cross(d, b.e_rate), c) + wp.dot(wp.cross(d, b.e), c_rate)
    rate = (rate - TWO * along * wp.dot(c, c_rate)) / square
    size = wp.sqrt(square)
    sign = ONE
    if wp.dot(c, before) < ZERO:
        sign = -ONE
    s = Spot()
    s.n = sign * c / size
    s.n_rate = sign * (c_rate - wp.dot(s.n, c_rate) * s.n) / size
    s.gap = wp.dot(s.n, d) - round_a - round_b
    s.c = a.p + along * a.e + round_a * s.n
    s.c_rate = a.p_rate + rate * a.e + along * a.e_rate + round_a * s.n_rate
    return s


@wp.func
def on_face(face: Moving, other: Moving, round: f64) -> Spot:
    """Of a point with a radius on a plane, whose normal is n here."""
    s = Spot()
    s.n = face.e
    s.n_rate = face.e_rate
    s.gap = wp.dot(face.e, other.p - face.p) - round
    s.c = other.p - round * face.e
    s.c_rate = other.p_rate - round * face.e_rate
    return s


@wp.func
def turned_round(spot: Spot) -> Spot:
    s = spot
    s.n = -spot.n
    s.n_rate = -spot.n_rate
    return s


@wp.func(inline=False)
def place_spot(x: wp.ref[WorkArrays], f: wp.ref[Features], i: int, first: int, second: int, w: int) -> Spot:
    """Contact i of two bodies at their present poses and twists."""
    a = moving(x, f, 2 * i, first, w)
    b = moving(x, f, 2 * i + 1, second, w)
    kind_a = f.kind[2 * i, w]
    kind_b = f.kind[2 * i + 1, w]
    round_a = f.round[2 * i, w]
    round_b = f.round[2 * i + 1, w]
    if kind_a == FACE:
        if kind_b == CIRCLE:
            b = lowest(b, f.ring[2 * i + 1, w], a.e, a.e_rate)
        return on_face(a, b, round_b)
    if kind_b == FACE:
        if kind_a == CIRCLE:
            a = lowest(a, f.ring[2 * i, w], b.e, b.e_rate)
        return turned_round(on_face(b, a, round_a))
    if kind_a == LINE and kind_b == LINE:
        return crossing(a, b, round_a, round_b, f.normal[i, w])
    if kind_a == LINE:
        a = foot(a, b.p, b.p_rate)
    elif kind_b == LINE:
        b = foot(b, a.p, a.p_rate)
    return between(a, b, round_a, round_b)


@wp.func
def keep_spot(x: wp.ref[WorkArrays], f: wp.ref[Features], i: int, first: int, second: int, w: int):
    """Put contact i where it is now."""
    s = place_spot(x, f, i, first, second, w)
    f.gap[i, w] = s.gap
    f.normal[i, w] = s.n
    f.place[i, w] = s.c
    f.normal_rate[i, w] = s.n_rate
    f.place_rate[i, w] = s.c_rate
