"""Points at which shapes touch, with friction and impact, swept colour by colour; a thread a pair.

    K          response of a pair at a point: Σ 1/m - [r] I⁻¹ [r]
    again      impulses of the last sub-step given again
    sweep      normal:  p ← max(p - (u_n + gap / h) / n·K n, 0)       where apart, else without the gap
               slip:    s ← s - u_t / k, shortened to μ p             k the larger of K's two values across n
    back       and once more, in the reverse order
    bounce     after the sub-steps: u_n ≥ -e u_n of the step's start, where that was an impact
    separate   what overlaps beyond the slop is taken off poses, a share at a time, by K

With impulses given again, changes d of them follow d'' = 2 G d' - G d, G what one turn of sweeps leaves of an error.
There and back G has values from 0 to 1, and d falls by their roots; of one way they are complex, and stacks would rock
themselves over.

A point acts on both bodies in one place, that on the face that the pair's points share: no momentum is made. Normals
turn with the bodies whose faces they are of, points stay where they are in theirs.
"""

import warp as wp

from ..spatial import (
    HALF,
    ONE,
    ZERO,
    angular,
    exp_rotation,
    f64,
    linear,
    mat33,
    normalize_rotation,
    quat,
    rotation_matrix,
    spatial,
    vec3,
)
from ..state import WorkArrays
from .arrays import LargeArrays
from .solids import Points, SolidArrays
from .touch import ContactList, Queue


@wp.struct
class Moved:
    """A body as contacts see it; the ground neither moves nor gives way."""

    p: vec3
    q: quat
    v: vec3
    w: vec3
    slide: mat33  # M⁻¹ in world axes: 1/m, I⁻¹, and what added mass couples
    turn: mat33
    across: mat33


@wp.struct
class Spot:
    """A point of contact now."""

    n: vec3
    gap: f64
    first: vec3  # from the bodies' centres of mass
    second: vec3


@wp.func
def moved(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], body: int) -> Moved:
    b = Moved()
    b.q = quat(ZERO, ZERO, ZERO, ONE)
    if body >= 0:
        k = a.kind[body]
        R = rotation_matrix(x.q_WB[body, 0])
        b.p = x.p_WB[body, 0]
        b.q = x.q_WB[body, 0]
        b.v = linear(x.twist[body, 0])
        b.w = angular(x.twist[body, 0])
        if a.answer.shape[0] > 0:
            b.turn = a.answer[0, body]
            b.across = a.answer[1, body]
            b.slide = a.answer[2, body]
        else:
            b.slide = wp.identity(3, f64) / a.mass[k]
            b.turn = R * a.inverse[k] * wp.transpose(R)
    return b


@wp.func
def spot_of(p: wp.ref[Points], k: int, a: Moved, b: Moved) -> Spot:
    s = Spot()
    first = wp.quat_rotate(a.q, p.on_first[k])
    second = wp.quat_rotate(b.q, p.on_second[k])
    d = b.p - a.p
    apart = d + second - first
    s.first = first
    s.second = first - d
    s.n = wp.quat_rotate(a.q, p.normal[k])
    if p.side[k] == 1:
        s.n = wp.quat_rotate(b.q, p.normal[k])
        s.first = d + second
        s.second = second
    s.gap = wp.dot(apart, s.n)
    return s


@wp.func
def gives(b: Moved, arm: vec3, e: vec3) -> vec3:
    """What a unit impulse along e at the arm does there."""
    torque = wp.cross(arm, e)
    return b.slide * e + wp.transpose(b.across) * torque + wp.cross(b.turn * torque + b.across * e, arm)


@wp.func
def gives_along(a: Moved, b: Moved, s: Spot) -> f64:
    return wp.dot(s.n, gives(a, s.first, s.n) + gives(b, s.second, s.n))


@wp.func
def gives_across(a: Moved, b: Moved, s: Spot) -> f64:
    """The larger of both values of K across the normal."""
    e = vec3(ONE, ZERO, ZERO)
    if wp.abs(s.n[0]) > wp.abs(s.n[1]):
        e = vec3(ZERO, ONE, ZERO)
    e = wp.normalize(e - wp.dot(e, s.n) * s.n)
    f = wp.cross(s.n, e)
    K_e = gives(a, s.first, e) + gives(b, s.second, e)
    K_f = gives(a, s.first, f) + gives(b, s.second, f)
    ee = wp.dot(e, K_e)
    ff = wp.dot(f, K_f)
    ef = wp.dot(e, K_f)
    return HALF * (ee + ff) + wp.sqrt(HALF * (ee - ff) * HALF * (ee - ff) + ef * ef)


@wp.func
def relative(a: Moved, b: Moved, s: Spot) -> vec3:
    """Velocity of the second body against the first at a spot."""
    return b.v + wp.cross(b.w, s.second) - a.v - wp.cross(a.w, s.first)


@wp.func
def struck(b: Moved, arm: vec3, p: vec3) -> Moved:
    out = b
    torque = wp.cross(arm, p)
    out.v = b.v + b.slide * p + wp.transpose(b.across) * torque
    out.w = b.w + b.turn * torque + b.across * p
    return out


@wp.func
def keep_twist(x: wp.ref[WorkArrays], body: int, b: Moved):
    if body >= 0:
        x.twist[body, 0] = spatial(b.w, b.v)


@wp.func
def shortened(want: vec3, push: f64, friction: f64, holding: f64) -> vec3:
    """A slip's impulse within Coulomb's bound: it holds up to the larger coefficient, and slides with the other."""
    size = wp.length(want)
    if size <= holding * push:
        return want
    return want * (friction * push / size)


@wp.kernel(enable_backward=False)
def measure_before(x: WorkArrays, a: LargeArrays, c: ContactList, p: Points):
    """Speeds along the normals as the step begins."""
    pair = wp.tid()
    A = moved(x, a, c.first[pair])
    B = moved(x, a, c.second[pair])
    for k in range(p.begin[pair], p.begin[pair + 1]):
        s = spot_of(p, k, A, B)
        p.before[k] = wp.dot(s.n, relative(A, B, s))


@wp.kernel(enable_backward=False)
def give_again(x: WorkArrays, a: LargeArrays, c: ContactList, p: Points, q: Queue, colour: int, threads: int):
    """Impulses of the last sub-step, of the pairs of one colour."""
    at = q.begin[colour] + wp.tid()
    while at < q.end[colour]:
        pair = q.contact[at]
        A = moved(x, a, c.first[pair])
        B = moved(x, a, c.second[pair])
        for k in range(p.begin[pair], p.begin[pair + 1]):
            s = spot_of(p, k, A, B)
            held = p.slip[k] - wp.dot(p.slip[k], s.n) * s.n
            p.slip[k] = held
            A = struck(A, s.first, -(p.push[k] * s.n + held))
            B = struck(B, s.second, p.push[k] * s.n + held)
        keep_twist(x, c.first[pair], A)
        keep_twist(x, c.second[pair], B)
        at += threads


@wp.kernel(enable_backward=False)
def sweep_points(
    x: WorkArrays,
    a: LargeArrays,
    solid: SolidArrays,
    c: ContactList,
    p: Points,
    q: Queue,
    colour: int,
    threads: int,
    h: wp.array(dtype=f64),
    slow: f64,  # an impact slower than this does not bounce; < 0: none does yet [m/s]
    back: int,  # 1: the last point first, and its slip before its normal
):
    """Pairs of one colour."""
    at = q.begin[colour] + wp.tid()
    while at < q.end[colour]:
        pair = q.contact[at]
        A = moved(x, a, c.first[pair])
        B = moved(x, a, c.second[pair])
        for k0 in range(p.begin[pair], p.begin[pair + 1]):
            k = k0
            if back != 0:
                k = p.begin[pair] + p.begin[pair + 1] - 1 - k0
            s = spot_of(p, k, A, B)
            one = solid.material[p.shapes[k][0]]
            two = solid.material[p.shapes[k][1]]
            asked = wp.max(s.gap, ZERO) / h[0]
            if slow >= ZERO and p.push[k] > ZERO and -p.before[k] > slow:
                asked = solid.restitution[one, two] * p.before[k]
            for half in range(2):
                u = relative(A, B, s)
                rate = wp.dot(u, s.n)
                change = vec3()
                if half == back:
                    push = wp.max(p.push[k] - (rate + asked) / gives_along(A, B, s), ZERO)
                    change = (push - p.push[k]) * s.n
                    p.push[k] = push
                else:
                    held = p.slip[k] - wp.dot(p.slip[k], s.n) * s.n
                    want = held - (u - rate * s.n) / gives_across(A, B, s)
                    want = shortened(want, p.push[k], solid.friction[one, two], solid.holding[one, two])
                    change = want - held
                    p.slip[k] = want
                A = struck(A, s.first, -change)
                B = struck(B, s.second, change)
        keep_twist(x, c.first[pair], A)
        keep_twist(x, c.second[pair], B)
        at += threads


@wp.func
def shifted(b: Moved, arm: vec3, p: vec3) -> Moved:
    out = b
    torque = wp.cross(arm, p)
    out.p = b.p + b.slide * p + wp.transpose(b.across) * torque
    out.q = normalize_rotation(exp_rotation(b.turn * torque + b.across * p) * b.q)
    return out


@wp.func
def keep_pose(x: wp.ref[WorkArrays], body: int, b: Moved):
    if body >= 0:
        x.p_WB[body, 0] = b.p
        x.q_WB[body, 0] = b.q


@wp.kernel(enable_backward=False)
def separate_points(
    x: WorkArrays,
    a: LargeArrays,
    c: ContactList,
    p: Points,
    q: Queue,
    colour: int,
    threads: int,
    share: f64,
    slop: f64,
):
    """Pairs of one colour, poses alone."""
    at = q.begin[colour] + wp.tid()
    while at < q.end[colour]:
        pair = q.contact[at]
        A = moved(x, a, c.first[pair])
        B = moved(x, a, c.second[pair])
        for k in range(p.begin[pair], p.begin[pair + 1]):
            s = spot_of(p, k, A, B)
            if s.gap + slop < ZERO:
                push = -share * (s.gap + slop) / gives_along(A, B, s)
                A = shifted(A, s.first, -push * s.n)
                B = shifted(B, s.second, push * s.n)
        keep_pose(x, c.first[pair], A)
        keep_pose(x, c.second[pair], B)
        at += threads


@wp.kernel(enable_backward=False)
def deepest_point(x: WorkArrays, a: LargeArrays, c: ContactList, p: Points, pairs: int, worst: wp.array(dtype=f64)):
    """The largest overlap of the pairs share, share + shares, ... [m]."""
    share = wp.tid()
    found = ZERO
    pair = share
    while pair < pairs:
        A = moved(x, a, c.first[pair])
        B = moved(x, a, c.second[pair])
        for k in range(p.begin[pair], p.begin[pair + 1]):
            s = spot_of(p, k, A, B)
            found = wp.max(found, -s.gap)
        pair += worst.shape[0]
    worst[share] = found
