"""Loads: a force at a point of a body and a torque, constant or following input channels.

SIMGC and SIMMC take the channels at the start of a step. An impulsive sub-step of `direct` takes their means
over its length, so that a pulse shorter than it gives its whole impulse, whenever it comes.
"""

import warp as wp

from ..ledger import load_entry
from ..spatial import HALF, ZERO, angular, f64, linear, spatial, vec6, zero3
from ..state import StateArrays, WorkArrays
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


@wp.func
def apply_loads(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """The bodies' wrenches: the loads at the start of the step."""
    apply_mean_loads(m, x, t, ZERO, w)


@wp.func
def apply_mean_loads(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, span: f64, w: int):
    """The bodies' wrenches: the loads' means over t .. t + span, and nothing that stood there before."""
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = vec6()
    if m.load_body.shape[0] > 0:
        add_mean_loads(m, x, t, span, w)


@wp.func(inline=False)
def add_mean_loads(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, span: f64, w: int):
    """Add the loads' means over t .. t + span to the bodies' wrenches."""
    for k in range(m.load_body.shape[0]):
        body = m.load_body[k]
        if body >= 0:
            x.wrench[body, w] = x.wrench[body, w] + load_wrench(m, x, k, t, span, w)


@wp.func
def add_loads(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, book: int, w: int):
    """Add the loads at time t to the bodies' wrenches; their powers go to the stage of the books at `book`."""
    slots = m.slot_kind.shape[0]
    for k in range(m.load_body.shape[0]):
        body = m.load_body[k]
        x.k_book[load_entry(book, slots, k), w] = ZERO
        if body >= 0:
            f = load_wrench(m, x, k, t, ZERO, w)
            x.wrench[body, w] = x.wrench[body, w] + f
            x.k_book[load_entry(book, slots, k), w] = wp.dot(f, x.twist[body, w])


@wp.func
def book_loads(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int):
    """Half a step's work of each load at the present twists: called before and after the motion."""
    if m.load_body.shape[0] > 0:
        book_mean_loads(m, s, x, t, h, ZERO, w)


@wp.func(inline=False)
def book_mean_loads(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, span: f64, w: int
):
    """The same of the loads' means over t .. t + span."""
    for k in range(m.load_body.shape[0]):
        body = m.load_body[k]
        if body >= 0:
            f = load_wrench(m, x, k, t, span, w)
            V = x.twist[body, w]
            power = wp.dot(angular(f), angular(V)) + wp.dot(linear(f), linear(V))
            s.load_work[k, w] = s.load_work[k, w] + HALF * h * power
