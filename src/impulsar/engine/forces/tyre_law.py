"""Steady forces of a tyre by its slips: the Magic Formula, and the brush model.

ISO-W axes at the contact: x forward, y to the left, z along the road's normal.

    κ   longitudinal slip, (ω R - V_x) / |V_x|        F_x, F_y   forces on the wheel [N]
    a   tan α = V_y / |V_x|                           M_z        aligning moment [N m]
    γ   camber, > 0: the top leans to the right       df         (F_z - F_z0) / F_z0

Pacejka 2006 §4.3.2, eqs. 4.E1 to 4.E78, scaled to the nominal load F_z0 of the tyre and its radius R0; brush: ch. 3.
Beyond the range of the fit, loads of 2 F_z0 and cambers of 0.1 rad, coefficients and the lateral stiffness stay as
they are at its edge, and friction stays in proportion to the load: else that of a wheel that hits a curb would change
its sign. A trail fades out and changes its side as the wheel comes to rest and rolls back: `ahead` from -1 to 1.
"""

import numpy as np
import warp as wp

from ..spatial import HALF, ONE, PI, TWO, ZERO, f64, vec3
from ..system.roads import Coefficient, set_rows

FIT_LOAD = wp.constant(wp.float64(1.0))  # largest df
FIT_CAMBER = wp.constant(wp.float64(0.1))  # [rad]
LEAST_LOAD = wp.constant(wp.float64(1e-6))  # of the nominal one: below it there is none
LEAST_LENGTH = wp.constant(wp.float64(0.05))  # of the radius: no relaxation length is shorter
SLID = wp.constant(wp.float64(3.0))  # D / K: slip at which a brush slides, and about what a tyre's peak is at
STALLED = wp.constant(wp.float64(1e-3))  # least 1 + κ of a brush


@wp.struct
class Slip:
    """What a tyre's steady forces depend on."""

    load: f64  # F_z [N]
    nominal: f64  # F_z0 [N]
    radius: f64  # R0 [m]
    grip: f64  # times the friction
    along: f64  # κ
    across: f64  # tan α
    camber: f64  # γ [rad]
    ahead: f64  # 1: it rolls ahead, -1: back, in between at low speed


@wp.struct
class Grip:
    """What does not depend on slips: stiffnesses, relaxation lengths, and where it slides."""

    K_x: f64  # [N]
    K_y: f64  # < 0 [N]
    length_along: f64  # relaxation lengths [m]
    length_across: f64
    slid: f64  # slip at which all of the contact slides, about


@wp.func
def held(x: f64, most: f64) -> f64:
    return wp.clamp(x, -most, most)


@wp.func
def sine_law(x: f64, B: f64, C: f64, D: f64, E: f64) -> f64:
    """D sin[C atan(Bx - E (Bx - atan Bx))], E <= 1."""
    y = B * x
    return D * wp.sin(C * wp.atan(y - wp.min(E, ONE) * (y - wp.atan(y))))


@wp.func
def side_of(x: f64) -> f64:
    if x < ZERO:
        return -ONE
    return ONE


@wp.func
def lean(x: f64) -> f64:
    """cos atan x."""
    return ONE / wp.sqrt(ONE + x * x)


@wp.func
def slip_stiffness(p: wp.array2d(dtype=f64), k: int, slip: wp.ref[Slip]):
    """K_x and K_y of the Magic Formula [N]."""
    df = wp.min((slip.load - slip.nominal) / slip.nominal, FIT_LOAD)
    within = (df + ONE) * slip.nominal
    gamma = wp.abs(held(slip.camber, FIT_CAMBER))
    K_x = slip.load * (p[k, Coefficient.pKx1] + p[k, Coefficient.pKx2] * df) * wp.exp(p[k, Coefficient.pKx3] * df)
    soft = (p[k, Coefficient.pKy2] + p[k, Coefficient.pKy5] * gamma * gamma) * slip.nominal
    K_y = p[k, Coefficient.pKy1] * slip.nominal * wp.sin(p[k, Coefficient.pKy4] * wp.atan(within / soft))
    return K_x, K_y * (ONE - p[k, Coefficient.pKy3] * gamma)


@wp.func(inline=False)
def tyre_grip(p: wp.array2d(dtype=f64), k: int, slip: wp.ref[Slip]) -> Grip:
    """Stiffnesses and lengths of tyre k under its load; p: SystemArrays.tyre_set."""
    g = Grip()
    df = wp.min((slip.load - slip.nominal) / slip.nominal, FIT_LOAD)
    if p[k, Coefficient.law] != ZERO:
        g.K_x = p[k, Coefficient.tread] * slip.nominal
        g.K_y = -g.K_x
        g.slid = SLID * p[k, Coefficient.friction] * slip.grip * slip.load / g.K_x
        g.length_along = p[k, Coefficient.half_length]
        g.length_across = p[k, Coefficient.half_length]
        return g
    K_x, K_y = slip_stiffness(p, k, slip)
    g.K_x = K_x
    g.K_y = K_y
    D = slip.load * slip.grip * (p[k, Coefficient.pDx1] + p[k, Coefficient.pDx2] * df)
    g.slid = SLID * D / g.K_x
    share = (df + ONE) * slip.radius
    lengthen = p[k, Coefficient.pTx1] + p[k, Coefficient.pTx2] * df
    g.length_along = share * lengthen * wp.exp(-p[k, Coefficient.pTx3] * df)
    g.length_across = p[k, Coefficient.pTy1] * slip.radius
    g.length_across *= wp.sin(TWO * wp.atan((df + ONE) / p[k, Coefficient.pTy2]))
    least = LEAST_LENGTH * slip.radius
    g.length_along = wp.max(g.length_along, least)
    g.length_across = wp.max(g.length_across, least)
    return g


@wp.func
def brush_forces(p: wp.array2d(dtype=f64), k: int, s: wp.ref[Slip]) -> vec3:
    """F_x, F_y and M_z of a brush under parabolic pressure: 1 - (1 - θ s)³ of the friction, θ = C / (3 μ F_z)."""
    slide = p[k, Coefficient.friction] * s.grip * s.load
    run = wp.max(ONE + s.along, STALLED)
    x = s.along / run
    y = s.across / run
    far = wp.sqrt(x * x + y * y)
    if far == ZERO or slide == ZERO:
        return vec3(ZERO, ZERO, ZERO)
    part = p[k, Coefficient.tread] * s.nominal / (SLID * slide) * far
    left = wp.max(ONE - part, ZERO)
    F = slide * (ONE - left * left * left)
    turn = slide * p[k, Coefficient.half_length] * left * left * left * (ONE - left)
    return vec3(F * x / far, -F * y / far, turn * y / far * s.ahead)


@wp.func
def pure_along(p: wp.array2d(dtype=f64), k: int, s: wp.ref[Slip], df: f64, K: f64) -> f64:
    """F_x0."""
    C = p[k, Coefficient.pCx1]
    D = s.load * s.grip * (p[k, Coefficient.pDx1] + p[k, Coefficient.pDx2] * df)
    x = s.along + p[k, Coefficient.pHx1] + p[k, Coefficient.pHx2] * df
    E = p[k, Coefficient.pEx1] + p[k, Coefficient.pEx2] * df + p[k, Coefficient.pEx3] * df * df
    E *= ONE - p[k, Coefficient.pEx4] * side_of(x)
    shift = s.load * (p[k, Coefficient.pVx1] + p[k, Coefficient.pVx2] * df)
    return sine_law(x, K / (C * D), C, D, E) + shift


@wp.struct
class Across:
    """The lateral force without longitudinal slip, and what the moment needs of it."""

    force: f64  # F_y0 [N]
    friction: f64  # D / F_z, with its sign
    shift: f64  # S_Hy + S_Vy / K_y


@wp.func
def pure_across(p: wp.array2d(dtype=f64), k: int, s: wp.ref[Slip], df: f64, gamma: f64, K: f64) -> Across:
    """F_y0 and its shifts."""
    found = Across()
    C = p[k, Coefficient.pCy1]
    found.friction = s.grip * (p[k, Coefficient.pDy1] + p[k, Coefficient.pDy2] * df)
    found.friction *= ONE - p[k, Coefficient.pDy3] * gamma * gamma
    D = s.load * found.friction
    leaning = s.load * (p[k, Coefficient.pVy3] + p[k, Coefficient.pVy4] * df) * gamma
    raised = s.load * (p[k, Coefficient.pVy1] + p[k, Coefficient.pVy2] * df) + leaning
    thrust = s.load * (p[k, Coefficient.pKy6] + p[k, Coefficient.pKy7] * df) * gamma
    across = p[k, Coefficient.pHy1] + p[k, Coefficient.pHy2] * df + (thrust - leaning) / K
    y = s.across + across
    E = p[k, Coefficient.pEy1] + p[k, Coefficient.pEy2] * df
    E *= ONE - (p[k, Coefficient.pEy3] + p[k, Coefficient.pEy4] * gamma) * side_of(y)
    found.force = sine_law(y, K / (C * D), C, D, E) + raised
    found.shift = across + raised / K
    return found


@wp.func
def trail_of(p: wp.array2d(dtype=f64), k: int, s: wp.ref[Slip], df: f64, gamma: f64, stiff: f64) -> f64:
    """Pneumatic trail [m]; stiff: K_x / K_y."""
    a = s.across + p[k, Coefficient.qHz1] + p[k, Coefficient.qHz2] * df
    a += (p[k, Coefficient.qHz3] + p[k, Coefficient.qHz4] * df) * gamma
    a = side_of(a) * wp.sqrt(a * a + stiff * stiff * s.along * s.along)
    B = p[k, Coefficient.qBz1] + p[k, Coefficient.qBz2] * df + p[k, Coefficient.qBz3] * df * df
    B *= ONE + p[k, Coefficient.qBz5] * wp.abs(gamma)
    C = p[k, Coefficient.qCz1]
    D = (df + ONE) * s.radius * (p[k, Coefficient.qDz1] + p[k, Coefficient.qDz2] * df)
    D *= ONE + p[k, Coefficient.qDz3] * wp.abs(gamma) + p[k, Coefficient.qDz4] * gamma * gamma
    E = p[k, Coefficient.qEz1] + p[k, Coefficient.qEz2] * df + p[k, Coefficient.qEz3] * df * df
    E *= ONE + (p[k, Coefficient.qEz4] + p[k, Coefficient.qEz5] * gamma) * TWO / PI * wp.atan(B * C * a)
    y = B * a
    return D * wp.cos(C * wp.atan(y - wp.min(E, ONE) * (y - wp.atan(y)))) * lean(s.across)


@wp.func
def residual_moment(
    p: wp.array2d(dtype=f64), k: int, s: wp.ref[Slip], df: f64, gamma: f64, stiff: f64, shift: f64
) -> f64:
    """M_r [N m]."""
    a = s.across + shift
    a = side_of(a) * wp.sqrt(a * a + stiff * stiff * s.along * s.along)
    leaning = (p[k, Coefficient.qDz8] + p[k, Coefficient.qDz9] * df) * gamma
    D = s.load * s.radius * s.grip * (p[k, Coefficient.qDz6] + p[k, Coefficient.qDz7] * df + leaning)
    return D * lean(s.across) * lean(p[k, Coefficient.qBz9] * a)


@wp.func(inline=False)
def steady_forces(p: wp.array2d(dtype=f64), k: int, s: wp.ref[Slip]) -> vec3:
    """F_x, F_y [N] and M_z [N m] of tyre k; p: SystemArrays.tyre_set."""
    if s.load < LEAST_LOAD * s.nominal or s.grip == ZERO:
        return vec3(ZERO, ZERO, ZERO)
    if p[k, Coefficient.law] != ZERO:
        return brush_forces(p, k, s)
    df = wp.min((s.load - s.nominal) / s.nominal, FIT_LOAD)
    gamma = held(s.camber, FIT_CAMBER)
    K_x, K_y = slip_stiffness(p, k, s)
    a = s.across
    # combined slip
    shift_x = p[k, Coefficient.rHx1]
    B_x = p[k, Coefficient.rBx1] * lean(p[k, Coefficient.rBx2] * s.along)
    C_x = p[k, Coefficient.rCx1]
    F_x = pure_along(p, k, s, df, K_x) * wp.cos(C_x * wp.atan(B_x * (a + shift_x)))
    F_x /= wp.cos(C_x * wp.atan(B_x * shift_x))
    shift_y = p[k, Coefficient.rHy1]
    B_y = p[k, Coefficient.rBy1] * lean(p[k, Coefficient.rBy2] * (a - p[k, Coefficient.rBy3]))
    C_y = p[k, Coefficient.rCy1]
    alone = pure_across(p, k, s, df, gamma, K_y)
    F_y = alone.force * wp.cos(C_y * wp.atan(B_y * (s.along + shift_y))) / wp.cos(C_y * wp.atan(B_y * shift_y))
    steer = p[k, Coefficient.rVy1] + p[k, Coefficient.rVy2] * df + p[k, Coefficient.rVy3] * gamma
    steer *= alone.friction * s.load * lean(p[k, Coefficient.rVy4] * a)
    steer *= wp.sin(p[k, Coefficient.rVy5] * wp.atan(p[k, Coefficient.rVy6] * s.along))
    # the moment
    stiff = K_x / K_y
    arm = p[k, Coefficient.sz1] + p[k, Coefficient.sz2] * (F_y + steer) / s.nominal
    arm += (p[k, Coefficient.sz3] + p[k, Coefficient.sz4] * df) * gamma
    M_z = -trail_of(p, k, s, df, gamma, stiff) * F_y + residual_moment(p, k, s, df, gamma, stiff, alone.shift)
    return vec3(F_x, F_y + steer, M_z * s.ahead + s.radius * arm * F_x)


@wp.func
def fading(speed: f64, slow: f64) -> f64:
    """1 at rest, 0 from `slow` on, smooth in between."""
    if speed >= slow:
        return ZERO
    return HALF * (ONE + wp.cos(PI * speed / slow))


@wp.kernel(enable_backward=False)
def steady_kernel(
    # model
    p: wp.array2d(dtype=f64),
    nominal: f64,
    radius: f64,
    # in [case]: load, κ, tan α, γ, grip
    cases: wp.array2d(dtype=f64),
    # out [case]: F_x, F_y, M_z, K_x, K_y, relaxation lengths
    out: wp.array2d(dtype=f64),
):
    """Steady forces of the first tyre."""
    i = wp.tid()
    s = Slip()
    s.load = cases[i, 0]
    s.nominal = nominal
    s.radius = radius
    s.along = cases[i, 1]
    s.across = cases[i, 2]
    s.camber = cases[i, 3]
    s.grip = cases[i, 4]
    s.ahead = ONE
    F = steady_forces(p, 0, s)
    g = tyre_grip(p, 0, s)
    for k in range(3):
        out[i, k] = F[k]
    out[i, 3] = g.K_x
    out[i, 4] = g.K_y
    out[i, 5] = g.length_along
    out[i, 6] = g.length_across


def steady(model, tyre: str, load, along=0.0, across=0.0, camber=0.0, grip=1.0) -> np.ndarray:
    """F_x, F_y [N], M_z [N m], K_x, K_y [N] and relaxation lengths along and across [m] of a model's tyre that rolls
    ahead under loads [N] at slips κ and tan α and cambers [rad]: [case, 7]."""
    part = model.tyres[tyre]
    row = list(model.tyres).index(tyre)
    cases = np.stack(np.broadcast_arrays(*(np.atleast_1d(v) for v in (load, along, across, camber, grip))), axis=-1)
    given = [wp.array(np.asarray(a, float), dtype=f64) for a in (set_rows(model)[row : row + 1], cases)]
    out = wp.zeros((len(cases), 7), dtype=f64)
    wp.launch(steady_kernel, len(cases), inputs=[given[0], part.load, part.radius, given[1], out], device="cpu")
    return out.numpy()
