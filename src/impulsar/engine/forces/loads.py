"""Loads: a force at a point of a body and a torque, constant or following input channels."""

import warp as wp

from ..ledger import load_entry
from ..spatial import ZERO, angular, f64, linear, spatial, vec3, vec6, zero3
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


@wp.func
def load_rate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, wrench: vec6, w_B: vec3, w: int) -> vec6:
    """How the wrench of a load changes where its body turns at w_B."""
    force = linear(wrench)
    if m.load_in_body[k] != 0:
        return spatial(wp.cross(w_B, angular(wrench)), wp.cross(w_B, force))
    arm = wp.quat_rotate(x.q_WB[m.load_body[k], w], m.load_point[k, w])
    return spatial(wp.cross(wp.cross(w_B, arm), force), zero3())


@wp.func
def turn_loads(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """The loads at time t into x.pull, and how they change with the displacement in x.moved into x.pull_rate."""
    for k in range(m.load_body.shape[0]):
        body = m.load_body[k]
        if body >= 0:
            f = load_wrench(m, x, k, t, ZERO, w)
            x.pull[body, w] = x.pull[body, w] + f
            change = load_rate(m, x, k, f, angular(x.moved[body, w]), w)
            x.pull_rate[body, w] = x.pull_rate[body, w] + change
