"""Contacts of spheres with friction, swept colour by colour; after Wang 2011 §4.2 and Preclik and Rüde 2015.

    line up    contacts copied in the order in which they are swept, a step's impulses back into their list after it
    again      impulses of the last sub-step given again; n and gap for its sweeps
    sweep      normal:  p ← max(p - m_n (u_n + gap / h), 0)      where apart, else without the gap: no energy enters
               slip:    s ← s - m_t u_t, shortened to μ p        u at the point of contact
    separate   half of what overlaps beyond the slop is taken off positions, by the inverse masses

Positions are moved apart as positions and never by velocities: a pile comes to rest.
"""

import warp as wp

from ..spatial import ONE, ZERO, angular, f64, linear, spatial, vec3, vec6
from ..state import WorkArrays
from .arrays import LargeArrays, whole
from .touch import ContactList, Queue, gap_between, gap_to_plane, places

f64s = wp.array(dtype=f64)


@wp.struct
class BallKind:
    """Spheres of one kind as contacts see them."""

    radius: f64  # [m]
    give: f64  # 1/m, without added mass [1/kg]
    turn: f64  # r/I
    roll: f64  # r²/I: with `give` by which the surface gives way along a tangent


@wp.struct
class Line:
    """Contacts of spheres as they are swept."""

    first: whole  # [place in the queue]
    second: whole
    kinds: wp.array(dtype=wp.vec2i)  # of both
    n: places  # from the first to the second, in the present sub-step
    closing: f64s  # speed at which the gap closes within it; 0 where there is none [m/s]
    normal: f64s  # impulses [N s]
    slip: places
    ball: wp.array(dtype=BallKind)  # [kind]


@wp.kernel(enable_backward=False)
def fill_kinds(a: LargeArrays, s: Line):
    k = wp.tid()
    r = a.radius[k]
    b = BallKind()
    b.radius = r
    b.give = ONE / a.mass[k]
    b.turn = a.inverse[k][0, 0] * r
    b.roll = r * r * a.inverse[k][0, 0]
    s.ball[k] = b


@wp.kernel(enable_backward=False)
def line_up(a: LargeArrays, c: ContactList, q: Queue, s: Line):
    at = wp.tid()
    k = q.contact[at]
    i = c.first[k]
    j = c.second[k]
    s.first[at] = i
    s.second[at] = j
    s.kinds[at] = wp.vec2i(a.kind[i], a.kind[wp.max(j, 0)])
    s.normal[at] = c.normal[k]
    s.slip[at] = c.slip[k]


@wp.kernel(enable_backward=False)
def put_back(q: Queue, s: Line, c: ContactList):
    at = wp.tid()
    k = q.contact[at]
    c.normal[k] = s.normal[at]
    c.slip[k] = s.slip[at]


@wp.func_native(
    """
#if defined(__CUDA_ARCH__)
    const double2* from = reinterpret_cast<const double2*>(wp::address(twist, body, 0));
    wp::vec_t<6, double> V;
    for (int k = 0; k < 3; ++k) {
        const double2 part = from[k];
        V[2 * k] = part.x;
        V[2 * k + 1] = part.y;
    }
    return V;
#else
    return *wp::address(twist, body, 0);
#endif
"""
)
def load_twist(twist: wp.array2d(dtype=vec6), body: int) -> vec6:
    """A twist, on a GPU 16 bytes at a time: bodies of a colour are far apart, each access a sector of its own."""
    ...


@wp.func_native(
    """
#if defined(__CUDA_ARCH__)
    double2* to = reinterpret_cast<double2*>(wp::address(twist, body, 0));
    for (int k = 0; k < 3; ++k)
        to[k] = make_double2(V[2 * k], V[2 * k + 1]);
#else
    *wp::address(twist, body, 0) = V;
#endif
"""
)
def store_twist(twist: wp.array2d(dtype=vec6), body: int, V: vec6):
    """Likewise."""
    ...


@wp.func
def give_of(a: wp.ref[LargeArrays], body: int, b: BallKind) -> f64:
    """1/m, whose added mass is the same in all directions [1/kg]."""
    if a.answer.shape[0] > 0:
        return a.answer[2, body][0, 0]
    return b.give


@wp.func
def struck(V: vec6, give: f64, b: BallKind, n: vec3, p: vec3) -> vec6:
    """A twist after an impulse on a sphere at its point towards n."""
    return spatial(angular(V) + b.turn * wp.cross(n, p), linear(V) + give * p)


@wp.func
def apart(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], s: wp.ref[Line], i: int, j: int, kinds: wp.vec2i):
    """Normal and gap of a contact; upwards where both centres are in one place."""
    p = x.p_WB[i, 0]
    r = s.ball[kinds[0]].radius
    n = vec3()
    gap = ZERO
    if j >= 0:
        d = x.p_WB[j, 0] - p
        n = wp.normalize(d)
        if wp.length_sq(n) == ZERO:
            n = vec3(ZERO, ZERO, ONE)
        gap = wp.length(d) - r - s.ball[kinds[1]].radius
    else:
        n = -a.plane_normal[-1 - j]
        gap = -wp.dot(n, p) - a.plane_offset[-1 - j] - r
    return n, gap


@wp.func
def held_across(slip: vec3, n: vec3) -> vec3:
    return slip - wp.dot(slip, n) * n


@wp.kernel(enable_backward=False)
def give_again(x: WorkArrays, a: LargeArrays, q: Queue, s: Line, colour: int, h: f64s):
    """Contacts of one colour."""
    at = q.begin[colour] + wp.tid()
    if at >= q.end[colour]:
        return
    i = s.first[at]
    j = s.second[at]
    kinds = s.kinds[at]
    push = s.normal[at]
    slip = s.slip[at]
    V_i = load_twist(x.twist, i)
    V_j = load_twist(x.twist, wp.max(j, 0))
    n, gap = apart(x, a, s, i, j, kinds)
    s.n[at] = n
    s.closing[at] = wp.max(gap, ZERO) / h[0]
    p = push * n + held_across(slip, n)
    b = s.ball[kinds[0]]
    store_twist(x.twist, i, struck(V_i, give_of(a, i, b), b, n, -p))
    if j >= 0:
        b = s.ball[kinds[1]]
        store_twist(x.twist, j, struck(V_j, give_of(a, j, b), b, -n, p))


@wp.kernel(enable_backward=False)
def sweep(x: WorkArrays, a: LargeArrays, q: Queue, s: Line, colour: int):
    """Contacts of one colour."""
    at = q.begin[colour] + wp.tid()
    if at >= q.end[colour]:
        return
    i = s.first[at]
    j = s.second[at]
    kinds = s.kinds[at]
    n = s.n[at]
    closing = s.closing[at]
    push = s.normal[at]
    slip = s.slip[at]
    V_i = load_twist(x.twist, i)
    V_j = load_twist(x.twist, wp.max(j, 0))
    A = s.ball[kinds[0]]
    give_i = give_of(a, i, A)
    B = BallKind()
    give_j = ZERO
    u = vec3()
    if j >= 0:
        B = s.ball[kinds[1]]
        give_j = give_of(a, j, B)
        u = linear(V_j) - B.radius * wp.cross(angular(V_j), n)
    u -= linear(V_i) + A.radius * wp.cross(angular(V_i), n)
    rate = wp.dot(u, n)
    new = wp.max(push - (rate + closing) / (give_i + give_j), ZERO)
    held = held_across(slip, n)
    want = held - (u - rate * n) / (give_i + A.roll + (give_j + B.roll))
    size = wp.length(want)
    if size > a.friction[0] * new:
        want = want * (a.friction[0] * new / size)
    s.normal[at] = new
    s.slip[at] = want
    p = (new - push) * n + (want - held)
    store_twist(x.twist, i, struck(V_i, give_i, A, n, -p))
    if j >= 0:
        store_twist(x.twist, j, struck(V_j, give_j, B, -n, p))


@wp.kernel(enable_backward=False)
def separate(x: WorkArrays, a: LargeArrays, q: Queue, s: Line, colour: int, share: f64, slop: f64):
    """Contacts of one colour, positions alone."""
    at = q.begin[colour] + wp.tid()
    if at >= q.end[colour]:
        return
    i = s.first[at]
    j = s.second[at]
    kinds = s.kinds[at]
    n, gap = apart(x, a, s, i, j, kinds)
    off = gap + slop
    if off < ZERO:
        if j >= 0:
            m_i = a.mass[kinds[0]]
            m_j = a.mass[kinds[1]]
            x.p_WB[i, 0] = x.p_WB[i, 0] + (share * off * m_j / (m_i + m_j)) * n
            x.p_WB[j, 0] = x.p_WB[j, 0] - (share * off * m_i / (m_i + m_j)) * n
        else:
            x.p_WB[i, 0] = x.p_WB[i, 0] + (share * off) * n


@wp.kernel(enable_backward=False)
def deepest(x: WorkArrays, a: LargeArrays, c: ContactList, contacts: int, worst: wp.array(dtype=f64)):
    """The largest overlap of the contacts share, share + shares, ... [m]."""
    share = wp.tid()
    found = ZERO
    k = share
    while k < contacts:
        gap = ZERO
        if c.second[k] >= 0:
            gap = gap_between(x, a, c.first[k], c.second[k])
        else:
            gap = gap_to_plane(x, a, c.first[k], -1 - c.second[k])
        found = wp.max(found, -gap)
        k += worst.shape[0]
    worst[share] = found
