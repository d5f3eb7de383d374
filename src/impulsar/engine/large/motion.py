"""How the bodies of a large world move, a thread a body.

drift     p ← p + h v,  q ← exp(h w) q,  w ← I(q)⁻¹ I(q₋) w₋     what is not pushed keeps its angular momentum
kick      V ← V + h M⁻¹ f         with added mass w × I w is in f, and drift leaves w
free      V̇ without the joints: [I⁻¹ (τ - w × I w), f / m], gravity taken off
stages    p₀ + h Σ a v_k,  exp(h Σ a θ̇_k) q₀,  V₀ + h Σ a V̇_k    θ̇ = w - θ × w / 2 + κ θ × (θ × w)
"""

import warp as wp

from ..spatial import (
    HALF,
    ZERO,
    angular,
    exp_rotation,
    f64,
    linear,
    normalize_rotation,
    quat,
    spatial,
    turning_factor,
    vec3,
    vec6,
)
from ..state import WorkArrays
from ..system import SystemArrays
from .arrays import LargeArrays, applied, respond, turned

twists = wp.array2d(dtype=vec6)


@wp.func
def gyroscopic(a: wp.ref[LargeArrays], q: quat, body: int, w: vec3) -> vec6:
    """w × I w of the body itself; that of its added mass is among the forces."""
    return spatial(wp.cross(w, turned(q, a.inertia[a.kind[body]], w)), vec3())


@wp.kernel(enable_backward=False)
def drift(x: WorkArrays, a: LargeArrays, h: wp.array(dtype=f64)):
    body = wp.tid()
    k = a.kind[body]
    V = x.twist[body, 0]
    q = x.q_WB[body, 0]
    momentum = turned(q, a.inertia[k], angular(V))
    q = normalize_rotation(exp_rotation(h[0] * angular(V)) * q)
    x.q_WB[body, 0] = q
    x.p_WB[body, 0] = x.p_WB[body, 0] + h[0] * linear(V)
    if a.answer.shape[0] == 0:
        x.twist[body, 0] = spatial(turned(q, a.inverse[k], momentum), linear(V))


@wp.func
def kick_body(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], body: int, h: f64):
    V = x.twist[body, 0]
    q = x.q_WB[body, 0]
    f = applied(a, body)
    if a.answer.shape[0] > 0:
        f -= gyroscopic(a, q, body, angular(V))
    A = respond(a, q, body, f)
    x.twist[body, 0] = V + h * spatial(angular(A), m.gravity[0, 0] + linear(A))


@wp.kernel(enable_backward=False)
def kick(m: SystemArrays, x: WorkArrays, a: LargeArrays, h: wp.array(dtype=f64)):
    kick_body(m, x, a, wp.tid(), h[0])


@wp.kernel(enable_backward=False)
def kick_half(m: SystemArrays, x: WorkArrays, a: LargeArrays, h: wp.array(dtype=f64)):
    kick_body(m, x, a, wp.tid(), HALF * h[0])


@wp.kernel(enable_backward=False)
def halve(b: wp.array(dtype=f64), h: wp.array(dtype=f64)):
    """Forces as impulses of half a step."""
    k = wp.tid()
    b[k] = HALF * h[0] * b[k]


@wp.kernel(enable_backward=False)
def free_accelerations(x: WorkArrays, a: LargeArrays):
    body = wp.tid()
    q = x.q_WB[body, 0]
    f = applied(a, body) - gyroscopic(a, q, body, angular(x.twist[body, 0]))
    x.acceleration[body, 0] = respond(a, q, body, f)


@wp.kernel(enable_backward=False)
def move(x: WorkArrays, shift: twists):
    """Poses moved by small displacements, which are then zero."""
    body = wp.tid()
    d = shift[body, 0]
    x.q_WB[body, 0] = normalize_rotation(exp_rotation(angular(d)) * x.q_WB[body, 0])
    x.p_WB[body, 0] = x.p_WB[body, 0] + linear(d)
    shift[body, 0] = vec6()


@wp.kernel(enable_backward=False)
def keep_rate(m: SystemArrays, x: WorkArrays, turn: wp.array2d(dtype=vec3), rate: twists, change: twists, stage: int):
    """Rates of a stage: of the coordinates that count from the start of the step, and of the twist."""
    body = wp.tid()
    V = x.twist[body, 0]
    theta = turn[body, 0]
    w = angular(V)
    side = wp.cross(theta, w)
    theta_rate = w - HALF * side + turning_factor(wp.dot(theta, theta)) * wp.cross(theta, side)
    rate[stage, body] = spatial(theta_rate, linear(V))
    A = x.acceleration[body, 0]
    change[stage, body] = spatial(angular(A), linear(A) + m.gravity[0, 0])


@wp.kernel(enable_backward=False)
def go_to_stage(
    x: WorkArrays,
    p: wp.array(dtype=vec3),
    q: wp.array(dtype=quat),
    V: wp.array(dtype=vec6),
    rate: twists,
    change: twists,
    weight: wp.array(dtype=f64),  # [stage] of the stages before it
    h: wp.array(dtype=f64),
    stages: int,
    turn: wp.array2d(dtype=vec3),
):
    """The state of a stage from that at the start of the step."""
    body = wp.tid()
    moved = vec6()
    changed = vec6()
    for k in range(stages):
        moved += weight[k] * rate[k, body]
        changed += weight[k] * change[k, body]
    moved = h[0] * moved
    turn[body, 0] = angular(moved)
    x.q_WB[body, 0] = normalize_rotation(exp_rotation(angular(moved)) * q[body])
    x.p_WB[body, 0] = p[body] + linear(moved)
    x.twist[body, 0] = V[body] + h[0] * changed


@wp.func
def largest_part(error: vec6, value: vec6, rtol: f64, atol: f64, length: f64) -> f64:
    """Error over tolerance, of turns in rad and of slides over a length."""
    worst = ZERO
    for k in range(6):
        size = atol
        if k >= 3:
            size = atol * length
        worst = wp.max(worst, wp.abs(error[k]) / (size + rtol * wp.abs(value[k])))
    return worst


@wp.kernel(enable_backward=False)
def estimate_error(
    V: wp.array(dtype=vec6),
    rate: twists,
    change: twists,
    weight: wp.array(dtype=f64),
    h: wp.array(dtype=f64),
    tolerance: wp.array(dtype=f64),  # rtol, atol, length [m]
    worst: wp.array(dtype=f64),  # [share]
):
    """The largest error over its tolerance, of the bodies share, share + shares, ..."""
    share = wp.tid()
    found = ZERO
    body = share
    while body < V.shape[0]:
        moved = vec6()
        changed = vec6()
        for k in range(weight.shape[0]):
            moved += weight[k] * rate[k, body]
            changed += weight[k] * change[k, body]
        off = largest_part(h[0] * moved, vec6(), tolerance[0], tolerance[1], tolerance[2])
        found = wp.max(found, off)
        off = largest_part(h[0] * changed, V[body], tolerance[0], tolerance[1], tolerance[2])
        found = wp.max(found, off)
        if not (moved[0] * ZERO == ZERO and changed[3] * ZERO == ZERO):
            found = f64(1e300)
        body += worst.shape[0]
    worst[share] = found


@wp.kernel(enable_backward=False)
def energies(
    m: SystemArrays, x: WorkArrays, a: LargeArrays, kinetic: wp.array(dtype=f64), potential: wp.array(dtype=f64)
):
    """Of the bodies share, share + shares, ...: sums in a fixed order [J]."""
    share = wp.tid()
    motion = ZERO
    height = ZERO
    body = share
    while body < x.p_WB.shape[0]:
        k = a.kind[body]
        V = x.twist[body, 0]
        w = angular(V)
        motion += HALF * (
            a.mass[k] * wp.dot(linear(V), linear(V)) + wp.dot(w, turned(x.q_WB[body, 0], a.inertia[k], w))
        )
        height -= a.mass[k] * wp.dot(m.gravity[0, 0], x.p_WB[body, 0])
        body += kinetic.shape[0]
    kinetic[share] = motion
    potential[share] = height


@wp.kernel(enable_backward=False)
def fastest(x: WorkArrays, speeds: wp.array(dtype=f64)):
    """The largest speed of the bodies share, share + shares, ... [m/s]."""
    share = wp.tid()
    found = ZERO
    body = share
    while body < x.p_WB.shape[0]:
        found = wp.max(found, wp.length(linear(x.twist[body, 0])))
        body += speeds.shape[0]
    speeds[share] = found
