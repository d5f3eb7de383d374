"""How a fluid moves: its current, the same everywhere, and linear waves (Airy; Newman 1977 §6.2).

With z up from the surface at rest, x along the direction in which they run, θ = k x - ω t + phase and depth d,

    η = A cos θ      ω² = g k tanh k d
    u = A ω (C cos θ, S sin θ)      ∂u/∂t = A ω² (C sin θ, -S cos θ)      C, S = cosh, sinh k(z' + d) / sinh k d

where z' = (z - η) d / (d + η) is z stretched (Wheeler 1970), so that nothing grows above z = 0. The surface near a
body is the plane that touches it above the body: waves are taken to be longer than bodies. In linear theory the
acceleration of the fluid is ∂u/∂t, and waves are not carried along by the current.
"""

import warp as wp

from ..coordinates.added_mass import up_of
from ..spatial import ONE, TWO, ZERO, axis_of, f64, vec3, zero3
from ..system import SystemArrays
from ..system.channels import channel_mean, channel_rate


@wp.struct
class Flow:
    """Velocity [m/s] and acceleration [m/s²] of a fluid."""

    u: vec3
    a: vec3


@wp.struct
class Surface:
    """The plane n · x = height that a surface is near a point [m]."""

    n: vec3
    height: f64


@wp.func
def ahead_of(m: wp.ref[SystemArrays], f: int, up: vec3, w: int) -> vec3:
    """Direction in which the waves run: turned from x, or where that is up from y."""
    e = axis_of(0)
    if wp.abs(up[0]) > f64(0.9):
        e = axis_of(1)
    e = wp.normalize(e - wp.dot(e, up) * up)
    angle = m.fluid_wave_direction[f, w]
    return wp.cos(angle) * e + wp.sin(angle) * wp.cross(up, e)


@wp.func
def omega_of(m: wp.ref[SystemArrays], f: int, w: int) -> f64:
    """[rad/s]"""
    k = m.fluid_wave_number[f, w]
    return wp.sqrt(wp.length(m.gravity[0, w]) * k * wp.tanh(k * m.fluid_depth[f, w]))


@wp.func(inline=False)
def surface_near(m: wp.ref[SystemArrays], f: int, p: vec3, t: f64, w: int) -> Surface:
    """The surface at time t above a point."""
    up = up_of(m, w)
    ahead = ahead_of(m, f, up, w)
    k = m.fluid_wave_number[f, w]
    A = m.fluid_wave_amplitude[f, w]
    theta = k * wp.dot(ahead, p) - omega_of(m, f, w) * t + m.fluid_wave_phase[f, w]
    out = Surface()
    out.n = wp.normalize(up + (k * A * wp.sin(theta)) * ahead)
    at = p + (m.fluid_surface[f, w] + A * wp.cos(theta) - wp.dot(up, p)) * up
    out.height = wp.dot(out.n, at)
    return out


@wp.func
def has_waves(m: wp.ref[SystemArrays], f: int, w: int) -> bool:
    return m.fluid_wave_amplitude[f, w] > ZERO


@wp.func
def current_at(m: wp.ref[SystemArrays], f: int, t: f64, span: f64, w: int) -> Flow:
    """Means over t .. t + span."""
    out = Flow()
    out.u = zero3()
    out.a = zero3()
    c = m.fluid_channel[f]
    count = int(3)  # no constant: a loop of constants is unrolled
    for axis in range(count):
        out.u[axis] = channel_mean(m, c + axis, t, span, w)
        out.a[axis] = channel_rate(m, c + axis, t, w)
    return out


@wp.func(inline=False)
def flow_at(m: wp.ref[SystemArrays], f: int, p: vec3, t: f64, span: f64, w: int) -> Flow:
    """Current and waves at a point, over t .. t + span."""
    out = current_at(m, f, t, span, w)
    A = m.fluid_wave_amplitude[f, w]
    if A == ZERO:
        return out
    up = up_of(m, w)
    ahead = ahead_of(m, f, up, w)
    k = m.fluid_wave_number[f, w]
    omega = omega_of(m, f, w)
    d = m.fluid_depth[f, w]
    theta = k * wp.dot(ahead, p) - omega * (t + span / TWO) + m.fluid_wave_phase[f, w]
    eta = A * wp.cos(theta)
    z = wp.dot(up, p) - m.fluid_surface[f, w] - eta
    decay = ZERO
    floor = ZERO
    if k * d < f64(300.0):
        z = z * d / (d + eta)
        decay = wp.exp(-TWO * k * (z + d))
        floor = wp.exp(-TWO * k * d)
    size = A * omega * wp.exp(k * wp.min(z, ZERO)) / (ONE - floor)
    C = size * (ONE + decay)
    S = size * (ONE - decay)
    out.u = out.u + C * wp.cos(theta) * ahead + S * wp.sin(theta) * up
    out.a = out.a + omega * (C * wp.sin(theta) * ahead - S * wp.cos(theta) * up)
    return out
