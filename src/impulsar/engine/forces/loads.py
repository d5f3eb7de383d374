"""Loads: a force at a point of a body and a torque, constant or following input channels."""

import warp as wp

from ..ledger import load_entry
from ..spatial import ZERO, f64, spatial, vec6, zero3
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.channels import channel_mean


@wp.func
def load_wrench(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, t: f64, span: f64, w: int) -> vec6:
    """Mean wrench of a load over t .. t + span about its body's centre of mass, world axes."""
    c = m.load_channel[k]
    force = zero3()
    torque = zero3()
    for axis in range(3):
        force[axis] = channel_mean(m, c + axis, t, span, w)
        torque[axis] = channel_mean(m, c + 3 + axis, t, span, w)
    q_WB = x.q_WB[m.load_body[k], w]
    if m.load_in_body[k] != 0:
        force = wp.quat_rotate(q_WB, force)
        torque = wp.quat_rotate(q_WB, torque)
    return spatial(torque + wp.cross(wp.quat_rotate(q_WB, m.load_point[k, w]), force), force)


@wp.func(inline=False)
def add_loads(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, span: f64, acts: bool, book: int, w: int):
    """The loads' means over t .. t + span: on the bodies, if they are to act, and their powers into the books."""
    slots = m.slot_kind.shape[0]
    for k in range(m.load_body.shape[0]):
        body = m.load_body[k]
        entry = load_entry(book, slots, k)
        x.k_book[entry, w] = ZERO
        if body >= 0:
            f = load_wrench(m, x, k, t, span, w)
            if acts:
                x.wrench[body, w] = x.wrench[body, w] + f
            x.k_book[entry, w] = wp.dot(f, x.twist[body, w])
