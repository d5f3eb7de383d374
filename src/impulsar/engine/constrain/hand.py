"""Hands: a point of a body pulled to a target by a spring and damper, one row for each axis of the world.

What they do by the rows that turn (codes from TURNS on) is in hand_turn.py.

    force of an instant   f = -k (tip - target) - c (u - target's velocity)     per axis (Mariti 2012 eq. 10)

A hand whose target was set to a point moves there evenly over the nominal step.
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import HALF, ONE, ZERO, axis_of, f64, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import CONSTANT, channel, channel_rate
from ..system.slots import HAND
from . import hand_turn
from .compliant import damped_speed, soften, soften_midway
from .frames import Pair, pair_velocity, point_of
from .rows import add_pair, clear_row, push_pair


@wp.func
def is_hand(kind: int) -> bool:
    return kind == HAND


@wp.func
def is_empty(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot has nothing to act on, or to act by."""
    return m.hand_body[x.row_part[r, w]] < 0 or hand_turn.is_idle(m, r, w)


@wp.func
def stiffness(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """[N/m, N m/rad]"""
    return m.slot_a[r, w]


@wp.func
def damping(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    """[N s/m, N m s/rad]"""
    return m.slot_b[r, w]


@wp.func
def target(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """Where one axis of a hand's target is at time t: a hand sent to a point gets there evenly over the step."""
    k = x.row_part[r, w]
    axis = m.slot_code[r]
    c = m.hand_channel[k] + axis
    if m.channel_kind[c] != CONSTANT:
        return channel(m, c, t, w)
    start = s.hand_target[3 * k + axis, w]
    return start + (m.channel_a[c, w] - start) * ((t - s.time[0, w]) / m.nominal_h[0])


@wp.func
def target_rate(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """How fast it moves at time t of the nominal step."""
    k = x.row_part[r, w]
    axis = m.slot_code[r]
    c = m.hand_channel[k] + axis
    if m.channel_kind[c] == CONSTANT:
        return (m.channel_a[c, w] - s.hand_target[3 * k + axis, w]) / m.nominal_h[0]
    return channel_rate(m, c, t, w)


@wp.func
def target_step(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int
) -> f64:
    """How far it moves in a step h from time t [m, rad]."""
    if hand_turn.is_turn(m, r):
        return hand_turn.component(m, r, hand_turn.target_step(m, s, x.row_part[r, w], t, h, w))
    return target(m, s, x, r, t + h, w) - target(m, s, x, r, t, w)


@wp.func
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    """Pair of one component of a hand on its body."""
    if hand_turn.is_turn(m, r):
        return hand_turn.pair(m, x, r, w)
    k = x.row_part[r, w]
    hold = Pair()
    hold.first = -1
    hold.second = m.hand_body[k]
    hold.point = point_of(x, hold.second, m.hand_point[k, w], w)
    hold.turn = zero3()
    hold.slide = axis_of(m.slot_code[r])
    return hold


@wp.func
def stretch(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Along or about its axis, where the hand is now [m, rad]."""
    k = x.row_part[r, w]
    if hand_turn.is_turn(m, r):
        return hand_turn.component(m, r, hand_turn.off_now(m, s, x, k, w))
    axis = m.slot_code[r]
    tip = point_of(x, m.hand_body[k], m.hand_point[k, w], w)
    return tip[axis] - s.hand_target[3 * k + axis, w]


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    """Not a row while the hand is empty."""
    if is_empty(m, x, r, w):
        return 0
    clear_row(x, r, w)
    hold = pair(m, x, r, w)
    add_pair(m, x, r, hold, ONE, w)
    if hand_turn.is_turn(m, r):
        off = hand_turn.component(m, r, hand_turn.off_at(m, s, x, x.row_part[r, w], t, w))
        return soften(x, r, off, target_step(m, s, x, r, t, h, w) / h, stiffness(m, r, w), damping(m, r, w), h, w)
    start = target(m, s, x, r, t, w)
    speed = (target(m, s, x, r, t + h, w) - start) / h
    d = hold.point[m.slot_code[r]] - start
    return soften(x, r, d, speed, stiffness(m, r, w), damping(m, r, w), h, w)


@wp.func
def midway(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int):
    if x.row_mass[r, w] == ZERO:
        return
    if hand_turn.is_turn(m, r):
        off = hand_turn.component(m, r, hand_turn.off_midway(m, s, x, x.row_part[r, w], t, h, w))
        moved = target_step(m, s, x, r, t, h, w)
        soften_midway(m, x, r, off, moved / h, stiffness(m, r, w), damping(m, r, w), h, w)
        return
    start = target(m, s, x, r, t, w)
    end = target(m, s, x, r, t + h, w)
    hold = pair(m, x, r, w)
    d = hold.point[m.slot_code[r]] - HALF * (start + end)
    soften_midway(m, x, r, d, (end - start) / h, stiffness(m, r, w), damping(m, r, w), h, w)


@wp.func
def book(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int):
    """Work by its force times its own velocity, and what its damper takes, over a step h from time t."""
    u = row_velocity(m, x, s.v, r, w)
    u_old = row_velocity(m, x, x.v_old, r, w)
    mean = HALF * (u + u_old)
    damped = damped_speed(x, r, u, u_old, w)
    moved = target_step(m, s, x, r, t, h, w)
    s.work[r, w] = s.work[r, w] + s.impulse[r, w] / h * moved
    s.loss[r, w] = s.loss[r, w] + damping(m, r, w) * (h * damped - moved) * (mean - moved / h)


@wp.func
def act(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int):
    """Add the force of an instant to its body's wrench; returns it, its power and what its damper takes [W]."""
    if is_empty(m, x, r, w):
        return ZERO, ZERO, ZERO
    if hand_turn.is_turn(m, r):
        torque, power, loss = hand_turn.act(m, s, x, r, t, w)
        return torque, power, loss
    hold = pair(m, x, r, w)
    speed = target_rate(m, s, x, r, t, w)
    u = pair_velocity(x, hold, w) - speed
    d = hold.point[m.slot_code[r]] - target(m, s, x, r, t, w)
    force = -stiffness(m, r, w) * d - damping(m, r, w) * u
    push_pair(x, hold, force, w)
    return force, force * speed, damping(m, r, w) * u * u


@wp.func
def arrive(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], t: f64, w: int):
    """Hands arrive where their channels are at time t."""
    for k in range(m.hand_body.shape[0]):
        if m.hand_body[k] >= 0:
            for axis in range(3):
                s.hand_target[3 * k + axis, w] = channel(m, m.hand_channel[k] + axis, t, w)
            if m.turn_channel.shape[0] > 0:
                hand_turn.arrive(m, s, k, t, w)
