"""The part of a solid below a plane: volume, its first moment, and where the plane cuts it.

In the solid's own frame, with the plane n · x = d and the part n · x ≤ d,

    volume   V = ∫ dV        moment   ∫ x dV        area   A = ∫ dA of the cut        its moment   ∫ x dA

all about the frame's origin. Where the solid moves by δ + φ × x its immersed volume changes by

    dV = -n · ∫ (δ + φ × x) dA = -(A n · δ + (∫ x dA × n) · φ)

Closed solids of triangles: each triangle is clipped, and with the apex o = d n on the plane the cut itself spans no
tetrahedron: V = Σ (p - o)·(q - o)×(r - o) / 6, ∫ x dV = Σ V (o + p + q + r) / 4. Since ∮ n dS = 0 and ∮ x n·dS = 0
across n, the cut is what the clipped triangles leave open.

Half a ball, a · x ≥ 0 (a capsule's end): the divergence theorem over the sphere and the two faces, A1 in the plane of
a and A2 in the cut, circular segments both. On the sphere the part is bounded by arcs of a great and of a small
circle, meeting at an angle β, so that by Gauss and Bonnet it is R² S large:

    S = (d/R) ψ + 2 β      cos β = (a·n) R / √(R² - d²)      ψ: how much of the small circle is in it
    V = (R³ S + d A2) / 3      ∫ x dV = [a (R² A1 - ∫|x|² dA1) + n (∫|x|² dA2 - R² A2)] / 2

A cylinder is made of slices across its axis, circular segments x ≤ X(z) = (d - z n_z) / n_x = R cos φ. In φ all
integrands are polynomials of φ, sin φ and cos φ: Gauss' rule of 16 nodes is exact to rounding. Where X hardly changes
along the cylinder, nodes are in z. Where it stands upright the plane cuts all slices at one height.
"""

import numpy as np
import warp as wp

from ..spatial import HALF, ONE, PI, TWO, ZERO, f64, vec3, zero3

BALL, TUBE, CAPSULE, SOLID = 0, 1, 2, 3  # sphere, cylinder, capsule, triangles
NODES = 16
nodes = wp.types.vector(length=NODES, dtype=wp.float64)
_x, _w = np.polynomial.legendre.leggauss(NODES)
GAUSS = wp.constant(nodes(*_x.tolist()))
WEIGHT = wp.constant(nodes(*_w.tolist()))
LEVEL = wp.constant(wp.float64(1e-10))  # of its radius: a chord that moves by less along a cylinder is parallel to it
NEAR = wp.constant(wp.float64(0.1))  # chords nearer to each other are told apart by what is between them
FLAT = wp.constant(wp.float64(1e-9))  # slope of a cylinder that stands upright: its square is nothing
NO_SLOPE = wp.constant(wp.float64(1e-300))


@wp.struct
class Part:
    """Of a solid below a plane, about the origin of its frame."""

    volume: f64  # [m³]
    moment: vec3  # ∫ x dV [m⁴]
    area: f64  # of the cut [m²]
    cut: vec3  # ∫ x dA over it [m³]


@wp.func
def acos_of(x: f64) -> f64:
    return wp.acos(wp.clamp(x, -ONE, ONE))


@wp.func
def below_ball(R: f64, n: vec3, d: f64) -> Part:
    """Of a ball: -R < d < R."""
    out = Part()
    h = R + d
    out.volume = PI * h * h * (TWO * R - d) / f64(3.0)
    out.area = PI * (R - d) * h
    out.moment = (-out.area * out.area / (f64(4.0) * PI)) * n
    out.cut = (d * out.area) * n
    return out


@wp.func(inline=False)
def below_half_ball(R: f64, a: vec3, n: vec3, d: f64) -> Part:
    """Of the half a · x ≥ 0 of a ball about the origin."""
    out = Part()
    if d <= -R:
        out.moment = zero3()
        out.cut = zero3()
        return out
    if d >= R:
        out.volume = TWO * PI * R * R * R / f64(3.0)
        out.moment = (PI * R * R * R * R / f64(4.0)) * a
        out.cut = zero3()
        return out
    c = wp.dot(a, n)
    across = a - c * n
    s = wp.max(wp.length(across), NO_SLOPE)
    r = wp.sqrt((R - d) * (R + d))
    # the face of the half: x ≤ d / s along n's part in it
    phi = acos_of(d / (s * R))
    t = R * wp.cos(phi)
    y = R * wp.sin(phi)
    A1 = R * R * (PI - phi) + t * y
    J1 = HALF * R * R * R * R * (PI - phi) + t * y * y * y / f64(6.0) + HALF * t * t * t * y
    # the cut: u ≥ -c d / s along a's part in it
    phi = acos_of(c * d / (s * r))
    t = r * wp.cos(phi)
    y = r * wp.sin(phi)
    A2 = r * r * (PI - phi) + t * y
    J2 = HALF * r * r * r * r * (PI - phi) + t * y * y * y / f64(6.0) + HALF * t * t * t * y
    S = TWO * (d / R) * (PI - phi) + TWO * acos_of(c * R / r)
    out.volume = (R * R * R * S + d * A2) / f64(3.0)
    out.moment = HALF * ((R * R * A1 - J1) * a + (J2 - r * r * A2) * n)
    out.area = A2
    out.cut = (d * A2) * n + (TWO * y * y * y / (f64(3.0) * s)) * across
    return out


@wp.func
def turn_between(R: f64, x1: f64, x2: f64, between: f64) -> f64:
    """acos(x2 / R) - acos(x1 / R), where x1 - x2 = between, to rounding of itself."""
    if between > NEAR * R:
        return acos_of(x2 / R) - acos_of(x1 / R)
    y1 = wp.sqrt((R - x1) * (R + x1))
    y2 = wp.sqrt((R - x2) * (R + x2))
    if y1 + y2 <= ZERO:
        return ZERO
    return wp.asin(between * (y2 + x2 * (x1 + x2) / (y1 + y2)) / (R * R))


@wp.func
def below_upright(R: f64, H: f64, slope: f64, z: f64, ex: vec3, ez: vec3) -> Part:
    """Of a cylinder whose axis is square to the plane but for a slope so small that its square is nothing."""
    out = Part()
    whole = PI * R * R
    top = wp.clamp(z, -H, H)
    out.volume = whole * (top + H)
    out.moment = (HALF * whole * (top - H) * (top + H)) * ez
    out.cut = zero3()
    if top == z:
        out.moment -= (f64(0.25) * whole * R * R * slope) * ex
        out.area = whole
        out.cut = (z * whole) * ez
    return out


@wp.func(inline=False)
def below_tube(R: f64, H: f64, n: vec3, d: f64) -> Part:
    """Of a cylinder along z from -H to H."""
    out = Part()
    s = wp.sqrt(n[0] * n[0] + n[1] * n[1])
    ex = vec3(ONE, ZERO, ZERO)
    if s > ZERO:
        ex = vec3(n[0] / s, n[1] / s, ZERO)
    ez = vec3(ZERO, ZERO, ONE)
    if n[2] < ZERO:
        ez = vec3(ZERO, ZERO, -ONE)
    c = wp.max(wp.abs(n[2]), NO_SLOPE)
    if s < FLAT:
        return below_upright(R, H, s / c, d / c, ex, ez)
    z1 = wp.clamp((d - R * s) / c, -H, H)  # slices before it are whole
    z2 = wp.clamp((d + R * s) / c, -H, H)  # and beyond it not there
    whole = PI * R * R
    volume = whole * (z1 + H)
    along = HALF * whole * (z1 - H) * (z1 + H)
    across = ZERO
    area = ZERO
    cut_x = ZERO
    cut_z = ZERO
    if z2 > z1:
        x1 = R
        x2 = -R
        if z1 == -H:
            x1 = wp.clamp((d + c * H) / s, -R, R)
        if z2 == H:
            x2 = wp.clamp((d - c * H) / s, -R, R)
        between = c * (z2 - z1) / s  # x1 - x2
        phi1 = acos_of(x1 / R)
        turned = turn_between(R, x1, x2, between)
        level = between < LEVEL * R
        count = int(NODES)  # no constant: a loop of constants is unrolled
        for k in range(count):
            share = HALF * (ONE + GAUSS[k])
            phi = phi1 + share * turned
            if level:
                phi = acos_of((x1 - share * between) / R)
            x = R * wp.cos(phi)
            y = R * wp.sin(phi)
            z = z1 + share * (z2 - z1)
            dz = HALF * WEIGHT[k] * (z2 - z1)
            dA = TWO * y * dz / s
            if not level:
                on = HALF * share * turned
                z = z1 + (s / c) * TWO * R * wp.sin(phi - on) * wp.sin(on)
                dphi = HALF * WEIGHT[k] * turned
                dz = y * dphi * s / c
                dA = TWO * y * y * dphi / c
            slice = R * R * (PI - phi) + x * y
            volume += slice * dz
            along += z * slice * dz
            across -= TWO * y * y * y * dz / f64(3.0)
            area += dA
            cut_x += x * dA
            cut_z += z * dA
    out.volume = volume
    out.moment = across * ex + along * ez
    out.area = area
    out.cut = cut_x * ex + cut_z * ez
    return out


@wp.func
def moved(part: Part, c: vec3) -> Part:
    """The same of a solid that is c further on."""
    part.moment = part.moment + part.volume * c
    part.cut = part.cut + part.area * c
    return part


@wp.func
def joined(a: Part, b: Part) -> Part:
    a.volume = a.volume + b.volume
    a.moment = a.moment + b.moment
    a.area = a.area + b.area
    a.cut = a.cut + b.cut
    return a


@wp.func(inline=False)
def below_capsule(R: f64, H: f64, n: vec3, d: f64) -> Part:
    """Of a capsule along z, its half balls about -H and H."""
    top = vec3(ZERO, ZERO, ONE)
    c = H * top
    ends = joined(
        moved(below_half_ball(R, top, n, d - wp.dot(n, c)), c),
        moved(below_half_ball(R, -top, n, d + wp.dot(n, c)), -c),
    )
    return joined(below_tube(R, H, n, d), ends)


@wp.func(inline=False)
def with_face(part: Part, p: vec3, q: vec3, r: vec3, n: vec3, d: f64, sign: f64) -> Part:
    """With a triangle of its surface: below the plane (sign 1), or one to be taken off (-1)."""
    o = d * n
    volume = sign * wp.dot(p - o, wp.cross(q - o, r - o)) / f64(6.0)
    open = -HALF * sign * wp.dot(n, wp.cross(q - p, r - p))
    centre = (p + q + r) / f64(3.0)
    part.volume = part.volume + volume
    part.moment = part.moment + (volume / f64(4.0)) * (o + p + q + r)
    part.area = part.area + open
    part.cut = part.cut + open * (centre + (d - wp.dot(n, centre)) * n)
    return part


@wp.func(inline=False)
def below_solid(corners: wp.array(dtype=vec3), first: int, last: int, n: vec3, d: f64) -> Part:
    """Of a closed solid whose triangles are first .. last - 1, three corners each."""
    out = Part()
    out.moment = zero3()
    out.cut = zero3()
    for face in range(first, last):
        p = corners[3 * face]
        q = corners[3 * face + 1]
        r = corners[3 * face + 2]
        in_p = wp.dot(n, p) <= d
        in_q = wp.dot(n, q) <= d
        in_r = wp.dot(n, r) <= d
        under = int(in_p) + int(in_q) + int(in_r)
        if in_p == in_r and in_p != in_q:  # the one that is alone on its side comes first
            kept = p
            p = q
            q = r
            r = kept
        elif in_p == in_q and in_p != in_r:
            kept = p
            p = r
            r = q
            q = kept
        if under >= 2:
            out = with_face(out, p, q, r, n, d, ONE)
        if under == 1 or under == 2:
            above = wp.dot(n, p) - d  # of the one that is alone
            q_cut = p + (above / (above - (wp.dot(n, q) - d))) * (q - p)
            r_cut = p + (above / (above - (wp.dot(n, r) - d))) * (r - p)
            sign = ONE
            if under == 2:
                sign = -ONE
            out = with_face(out, p, q_cut, r_cut, n, d, sign)
    return out
