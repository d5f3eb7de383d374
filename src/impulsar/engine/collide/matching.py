"""Contacts told from those of the call before: what a contact has gathered is carried over to the nearest in its pair.

A contact is known by its point in either shape's frame: it is the same where one of both has moved by less than 5 % of
the size. Features may only be a hint, as boxes that lie flush change corners for clipped edges.
"""

import warp as wp

from ..spatial import f64, vec3
from .arrays import CollideScratch, ShapeArrays

NEAREST = wp.constant(wp.float64(0.05))  # of the pair's size


@wp.func
def in_shape(x: wp.ref[CollideScratch], shape: int, p: vec3, w: int) -> vec3:
    return wp.transpose(x.R_WS[shape, w]) * (p - x.p_WS[shape, w])


@wp.func(inline=False)
def keep_contacts(x: wp.ref[CollideScratch], w: int):
    """Make the present contacts those of the call before."""
    count = x.count[0, w]
    for i in range(count):
        x.old_first[i, w] = x.first[i, w]
        x.old_second[i, w] = x.second[i, w]
        x.old_in_first[i, w] = x.in_first[i, w]
        x.old_in_second[i, w] = x.in_second[i, w]
        x.old_impulse[i, w] = x.impulse[i, w]
        x.old_mode[i, w] = x.mode[i, w]
        x.old_anchor_first[i, w] = x.anchor_first[i, w]
        x.old_anchor_second[i, w] = x.anchor_second[i, w]
        x.old_used[i, w] = 0
    x.old_count[0, w] = count
    x.count[0, w] = 0


@wp.func
def is_before(x: wp.ref[CollideScratch], old: int, a: int, b: int, w: int) -> bool:
    """Whether the pair of a contact of the call before comes before (a, b)."""
    if old >= x.old_first.shape[0]:  # both sides of an `and` are evaluated
        return False
    return x.old_first[old, w] < a or (x.old_first[old, w] == a and x.old_second[old, w] < b)


@wp.func(inline=False)
def match_contacts(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], w: int):
    """Carry impulses, modes and anchors over from the contacts before; what is new has none, and was -1."""
    start = int(0)
    olds = x.old_count[0, w]
    for i in range(x.count[0, w]):
        a = x.first[i, w]
        b = x.second[i, w]
        x.impulse[i, w] = vec3(f64(0.0), f64(0.0), f64(0.0))
        x.mode[i, w] = 0
        x.anchor_first[i, w] = x.in_first[i, w]
        x.anchor_second[i, w] = x.in_second[i, w]
        x.was[i, w] = -1
        while start < olds and is_before(x, start, a, b, w):
            start += 1
        least = NEAREST * wp.min(m.reach[a], m.reach[b])
        best = int(-1)
        for j in range(start, olds):
            if x.old_first[j, w] != a or x.old_second[j, w] != b:
                break
            far = wp.min(
                wp.length(x.old_in_first[j, w] - x.in_first[i, w]), wp.length(x.old_in_second[j, w] - x.in_second[i, w])
            )
            if x.old_used[j, w] == 0 and far < least:
                least = far
                best = j
        if best >= 0:
            x.old_used[best, w] = 1
            x.impulse[i, w] = x.old_impulse[best, w]
            x.mode[i, w] = x.old_mode[best, w]
            x.anchor_first[i, w] = x.old_anchor_first[best, w]
            x.anchor_second[i, w] = x.old_anchor_second[best, w]
            x.was[i, w] = best
