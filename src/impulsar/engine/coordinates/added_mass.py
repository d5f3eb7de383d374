"""Fluid that is accelerated with a body: its added inertia, and how that changes as the body comes out of the fluid.

A piece has a diagonal Â of its own, ρ times Lamb's masses and inertias (system/fluids.py), about the centre of its
volume and along its axes, scaled by the share σ of it that is below the surface at rest: I_a = Σ σ Â. Waves do not
change it: inertia is a function of the pose alone. With the slope g of the share, σ̇ = g · V, Lagrange's equations of
the kinetic energy V · I_a V / 2 have, besides what a rigid body's have (inertia.py),

    σ̇ Â V - (V · Â V) g / 2        of which the power is V · σ̇ Â V / 2: energy stays

In a heave z that is m_a'(z) ż² / 2; von Kármán's d(m_a ż)/dt would lose as much to a jet.
"""

import warp as wp

from ..spatial import (
    HALF,
    ONE,
    ZERO,
    angular,
    cross_matrix,
    f64,
    linear,
    mat33,
    rotation_matrix,
    spatial,
    vec3,
    vec6,
    zero3,
)
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.fluids import BALL, CAPSULE, TUBE, Wet, WetInt
from .immersion import Part, below_ball, below_capsule, below_solid, below_tube

EVERYWHERE = wp.constant(wp.float64(1e299))  # a surface above it is none


@wp.func
def up_of(m: wp.ref[SystemArrays], w: int) -> vec3:
    """Against gravity; z where there is none."""
    g = m.gravity[0, w]
    size = wp.length(g)
    if size > ZERO:
        return -g / size
    return vec3(ZERO, ZERO, ONE)


@wp.func
def three(m: wp.ref[SystemArrays], piece: int, at: int) -> vec3:
    return vec3(m.wet[piece, at], m.wet[piece, at + 1], m.wet[piece, at + 2])


@wp.func
def piece_axes(m: wp.ref[SystemArrays], piece: int, R_WB: mat33) -> mat33:
    """Of a piece in the world."""
    R_BP = mat33(
        m.wet[piece, Wet.turn],
        m.wet[piece, Wet.turn + 1],
        m.wet[piece, Wet.turn + 2],
        m.wet[piece, Wet.turn + 3],
        m.wet[piece, Wet.turn + 4],
        m.wet[piece, Wet.turn + 5],
        m.wet[piece, Wet.turn + 6],
        m.wet[piece, Wet.turn + 7],
        m.wet[piece, Wet.turn + 8],
    )
    return R_WB * R_BP


@wp.func(inline=False)
def immersed(m: wp.ref[SystemArrays], piece: int, R_WB: mat33, n: vec3, d: f64) -> Part:
    """Of a piece what is below a plane d above its body's centre of mass along n; about that, world axes."""
    c = R_WB * three(m, piece, Wet.offset)
    R = piece_axes(m, piece, R_WB)
    n_P = wp.transpose(R) * n
    d_P = d - wp.dot(n, c)
    reach = m.wet[piece, Wet.reach]
    part = Part()
    part.moment = zero3()
    part.cut = zero3()
    if d_P >= reach:
        part.volume = m.wet[piece, Wet.volume]
    elif d_P > -reach:
        kind = m.wet_int[piece, WetInt.kind]
        if kind == BALL:
            part = below_ball(m.wet[piece, Wet.radius], n_P, d_P)
        elif kind == TUBE:
            part = below_tube(m.wet[piece, Wet.radius], m.wet[piece, Wet.half], n_P, d_P)
        elif kind == CAPSULE:
            part = below_capsule(m.wet[piece, Wet.radius], m.wet[piece, Wet.half], n_P, d_P)
        else:
            part = below_solid(m.wet_corner, m.wet_int[piece, WetInt.first], m.wet_int[piece, WetInt.last], n_P, d_P)
    part.moment = R * part.moment + part.volume * c
    part.cut = R * part.cut + part.area * c
    return part


@wp.func(inline=False)
def immerse(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, R_WB: mat33, w: int):
    """What of body i is below the surface at rest, and its added inertia."""
    up = up_of(m, w)
    ww = mat33()
    wv = mat33()
    vv = mat33()
    for piece in range(m.wet_start[i], m.wet_start[i + 1]):
        f = m.wet_int[piece, WetInt.fluid]
        d = m.fluid_surface[f, w]
        if d < EVERYWHERE:
            d -= wp.dot(up, x.p_WB[i, w])
        part = immersed(m, piece, R_WB, up, d)
        x.wet_volume[piece, w] = part.volume
        x.wet_moment[piece, w] = part.moment
        x.wet_slope[piece, w] = -spatial(wp.cross(part.cut, up), part.area * up)
        share = m.wet[piece, Wet.whole] * m.fluid_density[f, w] * part.volume / m.wet[piece, Wet.volume]
        R = piece_axes(m, piece, R_WB)
        c = cross_matrix(R_WB * three(m, piece, Wet.offset))
        own = share * (R * wp.diag(three(m, piece, Wet.mass)) * wp.transpose(R))
        vv += own
        wv += c * own
        ww += share * (R * wp.diag(three(m, piece, Wet.spin)) * wp.transpose(R)) - c * own * c
    x.A_ww[i, w] = ww
    x.A_wv[i, w] = wv
    x.A_vv[i, w] = vv


@wp.func
def added_momentum(x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> vec6:
    """I_a V."""
    turn = angular(V)
    shift = linear(V)
    wv = x.A_wv[i, w]
    return spatial(x.A_ww[i, w] * turn + wv * shift, wp.transpose(wv) * turn + x.A_vv[i, w] * shift)


@wp.func
def slope_products(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> vec6:
    """Σ σ̇ Â V - (V · Â V) g / 2 of the pieces of body i that the surface cuts."""
    out = vec6()
    R_WB = rotation_matrix(x.q_WB[i, w])
    for piece in range(m.wet_start[i], m.wet_start[i + 1]):
        slope = x.wet_slope[piece, w]
        if m.wet[piece, Wet.whole] == ZERO or wp.dot(slope, slope) == ZERO:
            continue
        R = piece_axes(m, piece, R_WB)
        c = R_WB * three(m, piece, Wet.offset)
        turn = wp.transpose(R) * angular(V)
        shift = wp.transpose(R) * (linear(V) + wp.cross(angular(V), c))
        P = R * wp.cw_mul(three(m, piece, Wet.mass), shift)
        L = R * wp.cw_mul(three(m, piece, Wet.spin), turn) + wp.cross(c, P)
        scale = m.fluid_density[m.wet_int[piece, WetInt.fluid], w] / m.wet[piece, Wet.volume]
        own = scale * spatial(L, P)
        out += wp.dot(slope, V) * own - HALF * wp.dot(V, own) * slope
    return out


@wp.func(inline=False)
def added_products(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> vec6:
    """What the momentum of the fluid about body i asks for by a twist V alone."""
    own = added_momentum(x, i, V, w)
    turn = angular(V)
    shift = linear(V)
    L = angular(own)
    P = linear(own)
    gyroscopic = spatial(wp.cross(turn, L) + wp.cross(shift, P), wp.cross(turn, P))
    turned = added_momentum(x, i, spatial(zero3(), wp.cross(turn, shift)), w)
    return gyroscopic - turned + slope_products(m, x, i, V, w)
