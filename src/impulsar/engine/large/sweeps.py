"""Contacts of spheres with friction, swept colour by colour; after Wang 2011 §4.2 and Preclik and Rüde 2015.

    again      impulses of the last sub-step given again
    sweep      normal:  p ← max(p - m_n (u_n + gap / h), 0)      where apart, else without the gap: no energy enters
               slip:    s ← s - m_t u_t, shortened to μ p        u at the point of contact
    separate   half of what overlaps beyond the slop is taken off positions, by the inverse masses

Positions are moved apart as positions and never by velocities: a pile comes to rest.
"""

import warp as wp

from ..spatial import ONE, ZERO, angular, f64, linear, spatial, vec3
from ..state import WorkArrays
from .arrays import LargeArrays, sphere_give, whole
from .touch import ContactList, gap_between, gap_to_plane


@wp.func
def sphere_slip(a: wp.ref[LargeArrays], i: int) -> f64:
    """By which the surface of a sphere gives way along a tangent, a unit impulse: 1/m + r²/I."""
    k = a.kind[i]
    return sphere_give(a, i) + a.radius[k] * a.radius[k] * a.inverse[k][0, 0]


@wp.func
def strike(x: wp.ref[WorkArrays], a: wp.ref[LargeArrays], i: int, n: vec3, p: vec3):
    """An impulse on a sphere at its point towards n."""
    k = a.kind[i]
    V = x.twist[i, 0]
    w = angular(V) + a.inverse[k][0, 0] * a.radius[k] * wp.cross(n, p)
    x.twist[i, 0] = spatial(w, linear(V) + sphere_give(a, i) * p)


@wp.func
def between(x: wp.ref[WorkArrays], i: int, j: int) -> vec3:
    """From the first centre to the second; upwards where both are in one place."""
    n = wp.normalize(x.p_WB[j, 0] - x.p_WB[i, 0])
    if wp.length_sq(n) == ZERO:
        n = vec3(ZERO, ZERO, ONE)
    return n


@wp.kernel(enable_backward=False)
def sweep(x: WorkArrays, a: LargeArrays, c: ContactList, order: whole, begin: int, again: int, h: wp.array(dtype=f64)):
    """Contacts of one colour."""
    k = order[begin + wp.tid()]
    i = c.first[k]
    j = c.second[k]
    n = vec3()
    gap = ZERO
    u = vec3()
    give_n = sphere_give(a, i)
    give_t = sphere_slip(a, i)
    V = x.twist[i, 0]
    if j >= 0:
        n = between(x, i, j)
        gap = gap_between(x, a, i, j)
        give_n += sphere_give(a, j)
        give_t += sphere_slip(a, j)
        V_j = x.twist[j, 0]
        u = linear(V_j) - a.radius[a.kind[j]] * wp.cross(angular(V_j), n)
    else:
        n = -a.plane_normal[-1 - j]
        gap = gap_to_plane(x, a, i, -1 - j)
    u -= linear(V) + a.radius[a.kind[i]] * wp.cross(angular(V), n)
    held = c.slip[k] - wp.dot(c.slip[k], n) * n
    push = c.normal[k]
    drag = held
    if again == 0:
        rate = wp.dot(u, n)
        new = wp.max(push - (rate + wp.max(gap, ZERO) / h[0]) / give_n, ZERO)
        want = held - (u - rate * n) / give_t
        size = wp.length(want)
        if size > a.friction[0] * new:
            want = want * (a.friction[0] * new / size)
        c.normal[k] = new
        c.slip[k] = want
        push = new - push
        drag = want - held
    p = push * n + drag
    strike(x, a, i, n, -p)
    if j >= 0:
        strike(x, a, j, -n, p)


@wp.kernel(enable_backward=False)
def separate(x: WorkArrays, a: LargeArrays, c: ContactList, order: whole, begin: int, share: f64, slop: f64):
    """Contacts of one colour, positions alone."""
    k = order[begin + wp.tid()]
    i = c.first[k]
    j = c.second[k]
    if j >= 0:
        off = gap_between(x, a, i, j) + slop
        if off < ZERO:
            n = between(x, i, j)
            m_i = a.mass[a.kind[i]]
            m_j = a.mass[a.kind[j]]
            x.p_WB[i, 0] = x.p_WB[i, 0] + (share * off * m_j / (m_i + m_j)) * n
            x.p_WB[j, 0] = x.p_WB[j, 0] - (share * off * m_i / (m_i + m_j)) * n
    else:
        off = gap_to_plane(x, a, i, -1 - j) + slop
        if off < ZERO:
            x.p_WB[i, 0] = x.p_WB[i, 0] - (share * off) * a.plane_normal[-1 - j]


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
