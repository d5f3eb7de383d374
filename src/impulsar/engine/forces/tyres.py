"""Tyres: springs towards the road, and forces of slip by deflections that are states of their own.

Towards each road that is reached, with δ how deep the rim's lowest point is below its plane,

    F_n = max(0, k δ + c δ̇)        along the plane's normal, through the rim's lowest point

The damper fades in over the first hundredth of the radius, lest a landing jumps. F_z is the sum over all roads, and one
contact point, normal and friction stand for them, weighted by F_n. There, with V the velocity of the contact as it
travels, V_s that of the wheel's point in it, and σ the relaxation lengths,

    u̇ = -V_sx - W u / σ_κ      κ = u / σ_κ          W = |V_x| + f b |V_s| / s₀
    v̇ =  V_sy - W v / σ_α      tan α = v / σ_α

(Pacejka 2012 ch. 7 and 8). At rest W = 0: the tyre is a spring K / σ, nothing drifts and nothing is divided by V. Below
`slow` f rises from 0 to 1: there deflections are damped, u + τ u̇ for u, and those beyond the slip s₀ at which all of
the contact slides (b from 0 at s₀ to 1 at 2 s₀) do not grow, so that a car that was braked to rest is not thrown back.
V_s is that of the point of the wheel in the contact: the effective rolling radius is the loaded one.

Books, of the slot: elastic energy k δ² / 2 at an instant; `work` is that of the carcass, -F · u̇, and of the aligning
moment; `loss` is the slip's W (F_x u / σ_κ - F_y v / σ_α) and what the damping at rest takes; `viscous` is the damper's
and rolling resistance. Together they are all that the wrench does, F · V_s = -F · u̇ - F W u / σ.
"""

import warp as wp

from ...author.parts import PARTS
from ..constrain.kinds import is_slot_of
from ..ledger import loss_entry, viscous_entry, work_entry
from ..spatial import HALF, INFINITY, ONE, PI, TWO, ZERO, angular, f64, linear, spatial, vec3, vec6, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.roads import Coefficient
from .roads import ground_below, wheel_upwards
from .tyre_law import LEAST_LOAD, Grip, Slip, fading, steady_forces, tyre_grip

TYRE = PARTS["tyre"].slot
STATES = 2  # of a tyre
SOFT_LANDING = wp.constant(wp.float64(0.01))  # of the radius: deflection at which the damper is all there
FORGETS = wp.constant(wp.float64(50.0))  # rate at which deflections vanish in the air [1/s]
CRAWL = wp.constant(wp.float64(0.1))  # speed by which rolling resistance changes its sign [m/s]


@wp.struct
class Touch:
    """A tyre at an instant."""

    wrench: vec6  # on the wheel, about its centre of mass
    point: vec3  # of the contact, world [m]
    normal: vec3
    ahead: vec3  # x of the contact
    force: vec3  # along x, y and the normal [N]
    moment: f64  # about the normal [N m]
    drag: f64  # rolling resistance about the axle [N m]
    along: f64  # κ and tan α of the deflections
    across: f64
    camber: f64  # [rad]
    deflection: f64  # deepest δ [m]
    elastic: f64  # [J]
    rate_along: f64  # u̇, v̇ [m/s]
    rate_across: f64
    work: f64  # powers of the books [W]
    loss: f64
    viscous: f64


@wp.struct
class Stand:
    """What all roads under a wheel come to."""

    wrench: vec6
    push: vec3  # sum of F_n n [N]
    at: vec3  # contact points from the wheel's middle, times F_n
    load: f64  # sum of F_n [N]
    friction: f64  # times F_n
    deepest: f64  # [m]
    elastic: f64  # [J]
    loss: f64  # of the dampers [W]


@wp.func
def road_friction(m: wp.ref[SystemArrays], road: int, w: int) -> f64:
    """Of a road's material, 1 where it has none."""
    i = m.road_material[road]
    if i < 0:
        return ONE
    return m.material_friction[i, w]


@wp.func(inline=False)
def stand_on_roads(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, middle: vec3, axle: vec3, V: vec6, w: int
) -> Stand:
    """Springs and dampers of tyre k towards all roads; V: twist of the wheel's middle."""
    s = Stand()
    s.deepest = -INFINITY
    R = m.tyre_radius[k, w]
    for road in range(m.road_material.shape[0]):
        g = ground_below(m.roads, road, middle, R)
        if g.height >= R:
            continue
        up, steep = wheel_upwards(g.normal, axle)
        deep = R * steep - g.height
        s.deepest = wp.max(s.deepest, deep)
        if deep <= ZERO or steep == ZERO:
            continue
        rim = -R * up
        closing = -wp.dot(g.normal, linear(V) + wp.cross(angular(V), rim))
        soft = wp.min(deep / (SOFT_LANDING * R), ONE)
        damper = m.tyre_damping[k, w] * soft * soft * (f64(3.0) - TWO * soft)
        spring = m.tyre_stiffness[k, w] * deep
        push = wp.max(spring + damper * closing, ZERO)
        s.elastic += HALF * spring * deep
        s.loss += (push - spring) * closing
        force = push * g.normal
        at = rim + deep * g.normal
        s.wrench += spatial(wp.cross(at, force), force)
        s.push += force
        s.at += push * at
        s.load += push
        s.friction += push * road_friction(m, road, w)
    return s


@wp.func
def relaxation(m: wp.ref[SystemArrays], k: int, g: wp.ref[Grip], w: int):
    """Relaxation lengths of tyre k [m]: as given, or by its load."""
    along = m.tyre_relaxation_along[k, w]
    across = m.tyre_relaxation_across[k, w]
    if along == ZERO:
        along = g.length_along
    if across == ZERO:
        across = g.length_across
    return along, across


@wp.func(inline=False)
def slip_on_road(
    m: wp.ref[SystemArrays],
    k: int,
    u: f64,  # deflections [m]
    v: f64,
    s: wp.ref[Stand],
    axle: vec3,
    V: vec6,
    T: wp.ref[Touch],
    w: int,
):
    """Forces of slip of a tyre that stands on something, into T: in the contact and about the wheel's middle."""
    normal = wp.normalize(s.push)
    at = s.at / s.load
    ahead = wp.normalize(wp.cross(axle, normal))
    left = wp.cross(normal, ahead)
    turning = angular(V)
    spin = wp.dot(turning, axle)
    slide = linear(V) + wp.cross(turning, at)  # V_s
    V_sx = wp.dot(slide, ahead)
    V_sy = wp.dot(slide, left)
    V_x = wp.dot(slide - wp.cross(spin * axle, at), ahead)
    slip = Slip()
    slip.load = wp.length(s.push)
    slip.nominal = m.tyre_load[k, w]
    slip.radius = m.tyre_radius[k, w]
    slip.grip = m.tyre_grip[k, w] * s.friction / s.load
    slip.camber = wp.asin(wp.clamp(wp.dot(axle, normal), -ONE, ONE))
    slow = m.tyre_set[k, Coefficient.slow]
    slip.ahead = wp.sin(HALF * PI * wp.clamp(V_x / slow, -ONE, ONE))
    g = tyre_grip(m.tyre_set, k, slip)
    long, wide = relaxation(m, k, g, w)
    slip.along = u / long
    slip.across = v / wide
    T.along = slip.along
    T.across = slip.across
    # how fast deflections are left behind
    fade = fading(wp.abs(V_x), slow)
    over = wp.sqrt(slip.along * slip.along + slip.across * slip.across)
    run = wp.abs(V_x)
    if fade > ZERO and over > g.slid and g.slid > ZERO:
        b = wp.min(over / g.slid - ONE, ONE)
        run += fade * b * b * (f64(3.0) - TWO * b) * wp.sqrt(V_sx * V_sx + V_sy * V_sy) / g.slid
    T.rate_along = -V_sx - run * slip.along
    T.rate_across = V_sy - run * slip.across
    F = steady_forces(m.tyre_set, k, slip)
    damping = ZERO
    spring_x = F[0]
    spring_y = F[1]
    if fade > ZERO:
        settling = fade * m.tyre_set[k, Coefficient.settling]
        slip.along = slip.along - settling * V_sx / long
        slip.across = slip.across + settling * V_sy / wide
        F = steady_forces(m.tyre_set, k, slip)
        damping = (spring_x - F[0]) * V_sx + (spring_y - F[1]) * V_sy
    T.drag = -m.tyre_rolling[k, w] * slip.load * slip.radius * wp.tanh(spin * slip.radius / CRAWL)
    T.moment = F[2]
    T.force = vec3(F[0], F[1], slip.load)
    T.normal = normal
    T.ahead = ahead
    T.point = at
    T.camber = slip.camber
    push = F[0] * ahead + F[1] * left
    turn = T.moment * normal + T.drag * axle
    T.wrench += spatial(wp.cross(at, push) + turn, push)
    T.work = -spring_x * T.rate_along + spring_y * T.rate_across + T.moment * wp.dot(turning, normal)
    T.loss = run * (spring_x * T.along - spring_y * T.across) + damping
    T.viscous = T.viscous - T.drag * spin


@wp.func(inline=False)
def touch_road(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], k: int, w: int) -> Touch:
    """What tyre k does at the present poses, twists and deflections."""
    T = Touch()
    body = m.tyre_wheel[k]
    q_WB = x.q_WB[body, w]
    arm = wp.quat_rotate(q_WB, m.tyre_middle[k, w])
    middle = x.p_WB[body, w] + arm
    axle = wp.normalize(wp.quat_rotate(q_WB, m.tyre_axle_end[k, w] - m.tyre_middle[k, w]))
    twist = x.twist[body, w]
    V = spatial(angular(twist), linear(twist) + wp.cross(angular(twist), arm))
    u = s.inner[STATES * k, w]
    v = s.inner[STATES * k + 1, w]
    ground = stand_on_roads(m, x, k, middle, axle, V, w)
    T.wrench = ground.wrench
    T.elastic = ground.elastic
    T.viscous = ground.loss
    T.deflection = ground.deepest
    if ground.load > LEAST_LOAD * m.tyre_load[k, w]:
        slip_on_road(m, k, u, v, ground, axle, V, T, w)
    else:
        T.point = zero3()
        T.rate_along = -FORGETS * u
        T.rate_across = -FORGETS * v
    T.point = T.point + middle
    force = linear(T.wrench)
    T.wrench = spatial(angular(T.wrench) + wp.cross(arm, force), force)
    return T


@wp.func(inline=False)
def add_tyres(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], acts: bool, book: int, w: int):
    """All tyres: on the wheels, if they are to act; their powers into the books, and x.inner_rate."""
    slots = m.slot_kind.shape[0]
    for r in range(slots):
        if is_slot_of(m, r, TYRE):
            k = m.slot_part[r]
            T = touch_road(m, s, x, k, w)
            if acts:
                x.wrench[m.tyre_wheel[k], w] = x.wrench[m.tyre_wheel[k], w] + T.wrench
            x.inner_rate[STATES * k, w] = T.rate_along
            x.inner_rate[STATES * k + 1, w] = T.rate_across
            x.k_book[work_entry(book, slots, r), w] = T.work
            x.k_book[loss_entry(book, slots, r), w] = T.loss
            x.k_book[viscous_entry(book, slots, r), w] = T.viscous


@wp.func(inline=False)
def tyres_elastic(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> f64:
    """Energy of the springs towards the road [J]."""
    energy = ZERO
    for k in range(m.tyre_set.shape[0]):
        T = touch_road(m, s, x, k, w)
        energy += T.elastic
    return energy
