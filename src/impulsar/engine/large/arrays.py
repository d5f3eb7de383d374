"""A large world's arrays. Bodies of one kind share mass and inertia, joints of one kind their locks.

Rows of joints and poses of bodies are read by the functions of small worlds, from the same structs: of `SystemArrays`
and `WorkArrays` only what those functions read is there, in one world.
"""

import warp as wp

from ..spatial import ZERO, f64, mat33, quat, spatial, vec3, vec6

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
    joint_kind: whole  # [joint]
    lock: wp.array2d(dtype=wp.int32)  # [joint kind, row] lock code, -1: none
    body_first: whole  # [body + 1] joints at each body, in order
    body_joint: whole  # [place] joint, ~joint where the body is its first
    turn: wp.array2d(dtype=vec3)  # [row, joint] wrench pair of a row, at `point`
    slide: wp.array2d(dtype=vec3)
    point: wp.array(dtype=vec3)  # [joint]


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
    """Change of a body's twist by an impulse: M⁻¹ f."""
    k = a.kind[body]
    turn = turned(q, a.inverse[k], vec3(f[0], f[1], f[2]))
    slide = vec3(f[3], f[4], f[5]) / a.mass[k]
    return spatial(turn, slide)


@wp.func
def no_twist() -> vec6:
    return vec6(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
