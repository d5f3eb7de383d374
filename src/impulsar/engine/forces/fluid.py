"""What fluids do to the bodies in them: buoyancy, drag, and inertia of a fluid that moves.

Of a piece with the immersed volume v about the centre c, the fluid there moving by u and accelerated by a, V_r the
twist of the body relative to it:

    buoyancy        -ρ v g                     at c
    drag            -(v / v₀) D(V_r)           at c, by each axis of the piece, and of its turning
    the fluid's     ρ v a at c,  Â σ [0, a],  and what V_r in the place of V changes of the products of inertia

The rest of the added mass is inertia (coordinates/added_mass.py): -Â V̇ and its products by V are no forces here, and
their energy is kinetic. So each entry of the books has its own power: buoyancy f · V; drag its loss -f · V_r, never
negative, and the remaining f · u with all that a moving fluid does. Gravity acts as an acceleration of the ground, and
the weight of the added mass is taken off: it does no work.

A ball's drag is Schiller and Naumann's, 6 π μ R (1 + 0.15 Re^0.687) u, till C = 0.44 is more; other shapes add viscous
and quadratic drag. A coefficient that is given takes the place of both quadratic laws.
"""

import warp as wp

from ..coordinates.added_mass import added_momentum, added_products, immersed, piece_axes, three, up_of
from ..coordinates.immersion import Part
from ..coordinates.inertia import added_weight
from ..ledger import BUOYANCY, CURRENT, DRAG, fluid_entry
from ..spatial import (
    HALF,
    ONE,
    TWO,
    ZERO,
    angular,
    f64,
    linear,
    mat33,
    matters,
    rotation_matrix,
    spatial,
    vec3,
    vec6,
    zero3,
)
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.fluids import BALL, Wet, WetInt
from .waves import flow_at, has_waves, surface_near

BALL_DRAG = wp.constant(wp.float64(0.44))
NUDGE = wp.constant(wp.float64(1e-5))  # of a piece's reach: displacement by which buoyancy is differentiated


@wp.func(inline=False)
def drag_on(m: wp.ref[SystemArrays], piece: int, R_WP: mat33, v: vec3, spin: vec3, w: int) -> vec6:
    """Torque and force on a whole piece whose centre moves by v against the fluid, world axes."""
    f = m.wet_int[piece, WetInt.fluid]
    rho = m.fluid_density[f, w]
    mu = m.fluid_viscosity[f, w]
    given = m.fluid_drag[f, w]
    speed = wp.length(v)
    rate = wp.length(spin)
    own = wp.transpose(R_WP) * v
    turn = wp.transpose(R_WP) * spin
    area = three(m, piece, Wet.drag)
    strips = three(m, piece, Wet.turning_drag)
    if given >= ZERO:
        area = given * three(m, piece, Wet.area)
        strips = given * three(m, piece, Wet.turning)
    stokes = mu * three(m, piece, Wet.stokes)
    force = wp.cw_mul(stokes + (HALF * rho * speed) * area, own)
    if given < ZERO and m.wet_int[piece, WetInt.kind] == BALL:
        R = m.wet[piece, Wet.radius]
        slow = ZERO
        if mu > ZERO:
            slow = stokes[0] * (ONE + f64(0.15) * wp.pow(TWO * rho * speed * R / mu, f64(0.687)))
        force = wp.max(slow, HALF * rho * speed * area[0]) * own
    torque = wp.cw_mul(mu * three(m, piece, Wet.stokes_turning) + (HALF * rho * rate) * strips, turn)
    return spatial(-(R_WP * torque), -(R_WP * force))


@wp.func
def present_part(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], piece: int, i: int, R_WB: mat33, t: f64, w: int
) -> Part:
    """What of a piece is in its fluid now."""
    f = m.wet_int[piece, WetInt.fluid]
    part = Part()
    part.volume = x.wet_volume[piece, w]
    part.moment = x.wet_moment[piece, w]
    if has_waves(m, f, w):
        p = x.p_WB[i, w]
        surface = surface_near(m, f, p + R_WB * three(m, piece, Wet.offset), t, w)
        part = immersed(m, piece, R_WB, surface.n, surface.height - wp.dot(surface.n, p))
    return part


@wp.func(inline=False)
def add_piece(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    piece: int,
    i: int,
    R_WB: mat33,
    t: f64,
    span: f64,
    book: int,
    w: int,
) -> vec6:
    """Wrench on body i from one of its pieces, powers into the books; without the fluid's own inertia."""
    f = m.wet_int[piece, WetInt.fluid]
    at = fluid_entry(book, m.slot_kind.shape[0], m.load_body.shape[0], 3 * f)
    part = present_part(m, x, piece, i, R_WB, t + HALF * span, w)
    if part.volume <= ZERO:
        return vec6()
    V = x.twist[i, w]
    c = part.moment / part.volume
    v = linear(V) + wp.cross(angular(V), c)
    flow = flow_at(m, f, x.p_WB[i, w] + c, t, span, w)
    mass = m.fluid_density[f, w] * part.volume
    lift = -mass * m.gravity[0, w]
    push = mass * flow.a
    share = part.volume / m.wet[piece, Wet.volume]
    against = share * drag_on(m, piece, piece_axes(m, piece, R_WB), v - flow.u, angular(V), w)
    drag = linear(against)
    x.k_book[at + BUOYANCY, w] = x.k_book[at + BUOYANCY, w] + wp.dot(lift, v)
    x.k_book[at + CURRENT, w] = x.k_book[at + CURRENT, w] + wp.dot(push, v) + wp.dot(drag, flow.u)
    lost = wp.dot(drag, v - flow.u) + wp.dot(angular(against), angular(V))
    x.k_book[at + DRAG, w] = x.k_book[at + DRAG, w] - lost
    force = lift + push + drag
    return spatial(angular(against) + wp.cross(c, force), force)


@wp.func(inline=False)
def moving_inertia(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, t: f64, span: f64, book: int, w: int
) -> vec6:
    """What it changes of the inertia of the fluid about body i that the fluid moves, power into the books.

    A body is in one fluid with added mass at most.
    """
    piece = m.wet_start[i]
    while piece < m.wet_start[i + 1] and m.wet[piece, Wet.whole] == ZERO:
        piece += 1
    if piece == m.wet_start[i + 1]:
        return vec6()
    f = m.wet_int[piece, WetInt.fluid]
    R_WB = rotation_matrix(x.q_WB[i, w])
    flow = flow_at(m, f, x.p_WB[i, w] + R_WB * three(m, piece, Wet.offset), t, span, w)
    if not matters(wp.dot(flow.u, flow.u) + wp.dot(flow.a, flow.a)):
        return vec6()
    V = x.twist[i, w]
    out = added_momentum(x, i, spatial(zero3(), flow.a), w)
    out += added_products(m, x, i, V, w) - added_products(m, x, i, V - spatial(zero3(), flow.u), w)
    at = fluid_entry(book, m.slot_kind.shape[0], m.load_body.shape[0], 3 * f)
    x.k_book[at + CURRENT, w] = x.k_book[at + CURRENT, w] + wp.dot(out, V)
    return out


@wp.func(inline=False)
def add_fluids(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, span: f64, acts: bool, book: int, w: int):
    """What fluids do over t .. t + span: on the bodies, if they are to act, and the powers into the books."""
    for k in range(3 * m.fluid_channel.shape[0]):
        x.k_book[fluid_entry(book, m.slot_kind.shape[0], m.load_body.shape[0], k), w] = ZERO
    if m.wet_start.shape[0] == 0:
        return
    for i in range(m.parent.shape[0]):
        if m.wet_start[i + 1] == m.wet_start[i]:
            continue
        R_WB = rotation_matrix(x.q_WB[i, w])
        f = moving_inertia(m, x, i, t, span, book, w)
        for piece in range(m.wet_start[i], m.wet_start[i + 1]):
            f += add_piece(m, x, piece, i, R_WB, t, span, book, w)
        if acts:
            x.wrench[i, w] = x.wrench[i, w] + f - added_weight(m, x, i, w)


@wp.func
def lift_at(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], piece: int, i: int, moved: vec6, far: f64, w: int) -> vec6:
    """Buoyancy of a piece where body i is displaced by far · moved, from the surface at rest."""
    f = m.wet_int[piece, WetInt.fluid]
    R = rotation_matrix(x.q_WB[i, w])
    turn = far * angular(moved)
    angle = wp.length(turn)
    if angle > ZERO:
        R = rotation_matrix(wp.quat_from_axis_angle(turn / angle, angle)) * R
    up = up_of(m, w)
    part = immersed(m, piece, R, up, m.fluid_surface[f, w] - wp.dot(up, x.p_WB[i, w] + far * linear(moved)))
    lift = -m.fluid_density[f, w] * m.gravity[0, w]
    return spatial(wp.cross(part.moment, lift), part.volume * lift)


@wp.func(inline=False)
def turn_fluids(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Buoyancy into x.pull, and how it changes with the displacement in x.moved into x.pull_rate, by differences."""
    for i in range(m.parent.shape[0]):
        moved = x.moved[i, w]
        for piece in range(m.wet_start[i], m.wet_start[i + 1]):
            reach = m.wet[piece, Wet.reach]
            x.pull[i, w] = x.pull[i, w] + lift_at(m, x, piece, i, moved, ZERO, w)
            size = reach * wp.length(angular(moved)) + wp.length(linear(moved))
            if size > ZERO:
                far = NUDGE * reach / size
                change = lift_at(m, x, piece, i, moved, far, w) - lift_at(m, x, piece, i, moved, -far, w)
                x.pull_rate[i, w] = x.pull_rate[i, w] + change / (TWO * far)
