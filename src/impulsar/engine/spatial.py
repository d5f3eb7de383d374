"""Rotations, shifts of twists and wrenches, and inertias, as Warp functions in float64.

All spatial vectors are in world axes and angular first: a twist is [w, v], a wrench is
[torque, force], both about the same point, which for a body is its centre of mass. Moving the point
by r = p_child - p_parent changes

    a twist    v_child = v_parent + w × r
    a wrench   torque_parent = torque_child + r × force

Quaternions are unit, xyzw; q_WB takes components in B to components in W.
"""

import warp as wp

from . import device  # noqa: F401  Warp is started before its first use

f64 = wp.float64
vec3 = wp.vec3d
vec6 = wp.spatial_vectord
mat33 = wp.mat33d
quat = wp.quatd

ZERO = wp.constant(wp.float64(0.0))
HALF = wp.constant(wp.float64(0.5))
ONE = wp.constant(wp.float64(1.0))
TWO = wp.constant(wp.float64(2.0))
PI = wp.constant(wp.float64(3.141592653589793))
TWO_PI = wp.constant(wp.float64(6.283185307179586))
SMALL_ANGLE = wp.constant(wp.float64(1e-8))
INFINITY = wp.constant(wp.float64(1e300))  # stands for no bound
UNLIMITED = wp.constant(wp.float64(1e290))  # a bound above it is none, a step's share of INFINITY included


@wp.func
def matters(part: f64) -> bool:
    """Whether a number adds anything: 0 does not. Derivatives go on through it there, too (compile/jumps.py)."""
    return part != ZERO


@wp.func
def zero3() -> vec3:
    return vec3(ZERO, ZERO, ZERO)


@wp.func
def axis_of(k: int) -> vec3:
    """Unit vector along axis k (0, 1, 2)."""
    if k == 0:
        return vec3(ONE, ZERO, ZERO)
    if k == 1:
        return vec3(ZERO, ONE, ZERO)
    return vec3(ZERO, ZERO, ONE)


@wp.func
def spatial(top: vec3, bottom: vec3) -> vec6:
    return vec6(top[0], top[1], top[2], bottom[0], bottom[1], bottom[2])


@wp.func
def angular(x: vec6) -> vec3:
    return vec3(x[0], x[1], x[2])


@wp.func
def linear(x: vec6) -> vec3:
    return vec3(x[3], x[4], x[5])


@wp.func
def carry_twist(x: vec6, r: vec3) -> vec6:
    """Twist (or acceleration) of a parent's point, felt at the point r further on."""
    w = angular(x)
    return spatial(w, linear(x) + wp.cross(w, r))


@wp.func
def carry_wrench(x: vec6, r: vec3) -> vec6:
    """Wrench about a child's point, about the parent's point, r before it."""
    f = linear(x)
    return spatial(angular(x) + wp.cross(r, f), f)


@wp.func
def cross_matrix(r: vec3) -> mat33:
    """[r] with [r] a = r × a."""
    return mat33(ZERO, -r[2], r[1], r[2], ZERO, -r[0], -r[1], r[0], ZERO)


@wp.func
def rotation_matrix(q: quat) -> mat33:
    """Matrix of a unit quaternion."""
    x = q[0]
    y = q[1]
    z = q[2]
    s = q[3]
    x2 = x + x
    y2 = y + y
    z2 = z + z
    xx = x * x2
    yy = y * y2
    zz = z * z2
    xy = x * y2
    xz = x * z2
    yz = y * z2
    sx = s * x2
    sy = s * y2
    sz = s * z2
    return mat33(ONE - yy - zz, xy - sz, xz + sy, xy + sz, ONE - xx - zz, yz - sx, xz - sy, yz + sx, ONE - xx - yy)


@wp.func
def column(m: mat33, k: int) -> vec3:
    return vec3(m[0, k], m[1, k], m[2, k])


@wp.func
def rotate_inertia(R: mat33, inertia: mat33) -> mat33:
    """R I Rᵀ, kept exactly symmetric."""
    T = R * inertia
    a = T[0, 0] * R[0, 0] + T[0, 1] * R[0, 1] + T[0, 2] * R[0, 2]
    b = T[0, 0] * R[1, 0] + T[0, 1] * R[1, 1] + T[0, 2] * R[1, 2]
    c = T[0, 0] * R[2, 0] + T[0, 1] * R[2, 1] + T[0, 2] * R[2, 2]
    d = T[1, 0] * R[1, 0] + T[1, 1] * R[1, 1] + T[1, 2] * R[1, 2]
    e = T[1, 0] * R[2, 0] + T[1, 1] * R[2, 1] + T[1, 2] * R[2, 2]
    f = T[2, 0] * R[2, 0] + T[2, 1] * R[2, 1] + T[2, 2] * R[2, 2]
    return mat33(a, b, c, b, d, e, c, e, f)


@wp.func
def exp_rotation(v: vec3) -> quat:
    """Quaternion of the rotation vector v [rad]."""
    half = HALF * wp.length(v)
    # sin(half) / (2 half), by its series where the quotient loses digits
    k = HALF - half * half / f64(12.0)
    if half > SMALL_ANGLE:
        k = HALF * wp.sin(half) / half
    return quat(k * v[0], k * v[1], k * v[2], wp.cos(half))


@wp.func
def rotation_vector(q: quat) -> vec3:
    """Rotation vector of a unit quaternion, of length at most π [rad]."""
    sign = ONE
    if q[3] < ZERO:
        sign = -ONE
    v = vec3(sign * q[0], sign * q[1], sign * q[2])
    s = wp.length(v)
    k = TWO
    if s > SMALL_ANGLE:
        k = TWO * wp.atan2(s, sign * q[3]) / s
    return v * k


@wp.func
def turning_factor(square: f64) -> f64:
    """κ = (1 - φ/2 cot φ/2) / φ², of an angle's square: log (exp [δ] exp [φ]) = φ + δ - φ × δ / 2 + κ φ × (φ × δ)."""
    if square < f64(0.01):
        more = ONE / f64(30240.0) + square / f64(1209600.0)
        return ONE / f64(12.0) + square * (ONE / f64(720.0) + square * more)
    half = HALF * wp.sqrt(square)
    return (ONE - half * wp.cos(half) / wp.sin(half)) / square


@wp.func(inline=False)
def spin_of(v: vec3, rate: vec3) -> vec3:
    """Angular velocity of exp [v], where the rotation vector v changes at a rate [rad/s]."""
    square = wp.dot(v, v)
    angle = wp.sqrt(square)
    a = HALF - square / f64(24.0) * (ONE - square / f64(30.0) * (ONE - square / f64(56.0)))
    b = ONE / f64(6.0) - square / f64(120.0) * (ONE - square / f64(42.0) * (ONE - square / f64(72.0)))
    if square > f64(0.01):
        a = (ONE - wp.cos(angle)) / square
        b = (angle - wp.sin(angle)) / (square * angle)
    side = wp.cross(v, rate)
    return rate + a * side + b * wp.cross(v, side)


@wp.func
def normalize_rotation(q: quat) -> quat:
    """Unit quaternion nearest to q."""
    return q * (ONE / wp.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]))


@wp.func
def nearest_turn(angle: f64, reference: f64) -> f64:
    """The angle shifted by whole turns to within half a turn of the reference [rad]."""
    return angle - TWO_PI * wp.round((angle - reference) / TWO_PI)
