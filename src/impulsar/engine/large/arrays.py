"""A large world's arrays. Bodies of one kind share mass and inertia, joints of one kind their locks.

Rows of joints and poses of bodies are read by the functions of small worlds, from the same structs: of `SystemArrays`
and `WorkArrays` only what those functions read is there, in one world.
"""

import warp as wp

from ..spatial import ONE, ZERO, angular, f64, linear, mat33, quat, spatial, vec3, vec6

whole = wp.array(dtype=wp.int32)
table = wp.array2d(dtype=f64)


@wp.struct
class LargeArrays:
    """What a large world has beside the arrays of a small one."""

    kind: whole  # [body]
    mass: wp.array(dtype=f64)  # [kind] [kg]
    inertia: wp.array(dtype=mat33)  # [kind] about the centre of mass, body axes [kg m²]
    inverse: wp.array(dtype=mat33)  # [kind] of the inertia
    radius: wp.array(dtype=f64)  # [kind] of spheres that touch, about the centre of mass; 0: nothing does [m]
    plane_normal: wp.array(dtype=vec3)  # [plane] of the side on which bodies are
    plane_offset: wp.array(dtype=f64)  # [plane] along the normal [m]
    friction: wp.array(dtype=f64)  # [1] Coulomb's coefficient
    wrench: wp.array(dtype=vec6)  # [body] applied, about the centre of mass, world axes [N m, N]
    pushed: wp.array(dtype=vec6)  # [body] the same by fluids, as `wet` has it; empty without them
    answer: wp.array2d(dtype=mat33)  # [ww, wv, vv; body] of (M + I_a)⁻¹, world axes; empty without added mass
    joint_kind: whole  # [joint]
    column: whole  # [joint] where the factor has it
    looped: whole  # [joint] 1: loops are about, so that other joints may imply its rows
    lock: wp.array2d(dtype=wp.int32)  # [joint kind, row] lock code, -1: none
    body_first: whole  # [body + 1] joints at each body, in order
    body_joint: whole  # [place] joint, ~joint where the body is its first
    turn: wp.array2d(dtype=vec3)  # [row, joint] wrench pair of a row, at `point`
    slide: wp.array2d(dtype=vec3)
    point: wp.array(dtype=vec3)  # [joint]
    # rows of freedoms, after those of locks; see laws.py
    freedom: wp.array2d(dtype=wp.int32)  # [row, joint] which one, -1: none; [0, 0] where nothing acts in any
    on: whole  # [freedom] 1: is a row now
    softness: wp.array(dtype=f64)  # J v + asked + softness p = 0
    asked: wp.array(dtype=f64)
    given: wp.array(dtype=f64)  # impulse of one that is no row [N s, N m s]
    off: wp.array(dtype=f64)  # position error to be removed [m, rad]


@wp.func
def turned(q: quat, a: mat33, v: vec3) -> vec3:
    """R a Rᵀ v."""
    return wp.quat_rotate(q, a * wp.quat_rotate_inv(q, v))


@wp.func
def wrench_at(turn: vec3, slide: vec3, arm: vec3) -> vec6:
    """A row's wrench about a centre of mass that is `arm` before the row's point."""
    return spatial(turn + wp.cross(arm, slide), slide)


@wp.func
def respond(a: wp.ref[LargeArrays], q: quat, body: int, f: vec6) -> vec6:
    """Change of a body's twist by an impulse: M⁻¹ f, added mass in M."""
    if a.answer.shape[0] > 0:
        torque = angular(f)
        force = linear(f)
        wv = a.answer[1, body]
        turn = a.answer[0, body] * torque + wv * force
        return spatial(turn, wp.transpose(wv) * torque + a.answer[2, body] * force)
    return respond_dry(a, q, body, f)


@wp.func
def respond_dry(a: wp.ref[LargeArrays], q: quat, body: int, f: vec6) -> vec6:
    """The same without added mass, and without a branch."""
    k = a.kind[body]
    return spatial(turned(q, a.inverse[k], angular(f)), (ONE / a.mass[k]) * linear(f))


@wp.func
def applied(a: wp.ref[LargeArrays], body: int) -> vec6:
    """Wrench on a body, gravity aside."""
    f = a.wrench[body]
    if a.pushed.shape[0] > 0:
        f += a.pushed[body]
    return f


@wp.func
def freedom_of(a: wp.ref[LargeArrays], j: int, r: int) -> int:
    """Which freedom a row is of, -1: none."""
    if a.freedom.shape[0] > 0:
        return a.freedom[r, j]
    return -1


@wp.func
def no_twist() -> vec6:
    return vec6(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
