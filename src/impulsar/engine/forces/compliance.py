"""Springs, dampers and hands as forces at an instant, with the rates of their books.

    spring between points   f = -k (|d| - free) - c u     along the line
    joint                   f = -k (q - rest) - (c + viscous) u
    hand                    f = -k (tip - target) - c (u - target's velocity)     per axis (Mariti 2012 eq. 10)

A hand whose target was set to a point moves there evenly over the nominal step.
"""

import warp as wp

from ..constrain.frames import Pair, body_position, coordinate, pair_velocity
from ..constrain.rows import add_freedom, clear_row, hand_pair, hand_target, spring_pair
from ..coordinates.tree import row_velocity
from ..ledger import loss_entry, viscous_entry, work_entry
from ..spatial import ONE, ZERO, f64, spatial
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import CONSTANT, channel_rate
from ..system.slots import COMPLIANCE, HAND, MOTOR_TORQUE, SPRING
from .motor_torques import add_row


@wp.func
def hand_motion(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], hand: int, axis: int, t: f64, w: int):
    """Where one axis of a hand's target is at time t of the nominal step, and how fast it moves."""
    c = m.hand_channel[hand] + axis
    speed = channel_rate(m, c, t, w)
    if m.channel_kind[c] == CONSTANT:
        speed = (m.channel_a[c, w] - s.hand_target[3 * hand + axis, w]) / m.nominal_h[0]
    return hand_target(m, s, hand, axis, t, w), speed


@wp.func
def push_pair(x: wp.ref[WorkArrays], pair: Pair, force: f64, w: int):
    """Add force · pair to the wrenches of its bodies."""
    if pair.second >= 0:
        arm = pair.point - body_position(x, pair.second, w)
        f = spatial(force * (pair.turn + wp.cross(arm, pair.slide)), force * pair.slide)
        x.wrench[pair.second, w] = x.wrench[pair.second, w] + f
    if pair.first >= 0:
        arm = pair.point - body_position(x, pair.first, w)
        f = spatial(force * (pair.turn + wp.cross(arm, pair.slide)), force * pair.slide)
        x.wrench[pair.first, w] = x.wrench[pair.first, w] - f


@wp.func(inline=False)
def add_compliance(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, book: int, w: int):
    """Add springs, dampers and hands at time t, powers into the books; other slots but motors get no force, no power."""
    slots = m.slot_kind.shape[0]
    for r in range(slots):
        kind = m.slot_kind[r]
        part = m.slot_part[r]
        if kind == MOTOR_TORQUE:
            continue
        work = ZERO
        loss = ZERO
        viscous = ZERO
        force = ZERO
        if kind == SPRING:
            pair, far = spring_pair(m, x, part, w)
            u = pair_velocity(x, pair, w)
            force = -m.slot_a[r, w] * (far - m.slot_c[r, w]) - m.slot_b[r, w] * u
            loss = m.slot_b[r, w] * u * u
            push_pair(x, pair, force, w)
        elif kind == HAND:
            if m.hand_body[part] >= 0:
                axis = m.slot_code[r]
                hold = hand_pair(m, x, part, axis, w)
                target, speed = hand_motion(m, s, part, axis, t, w)
                u = pair_velocity(x, hold, w) - speed
                force = -m.slot_a[r, w] * (hold.point[axis] - target) - m.slot_b[r, w] * u
                work = force * speed
                loss = m.slot_b[r, w] * u * u
                push_pair(x, hold, force, w)
        elif kind == COMPLIANCE:
            code = m.slot_code[r]
            clear_row(m, x, r, w)
            add_freedom(m, x, r, part, code, m.slot_dof[r], ONE, w)
            u = row_velocity(m, x, s.v, r, w)
            q = coordinate(m, s, x, part, code, m.slot_q[r], w)
            force = -m.slot_a[r, w] * (q - m.slot_c[r, w]) - (m.slot_b[r, w] + m.slot_d[r, w]) * u
            loss = m.slot_b[r, w] * u * u
            viscous = m.slot_d[r, w] * u * u
            add_row(m, x, r, force, w)
        s.impulse[r, w] = force * m.nominal_h[0]
        x.k_book[work_entry(book, slots, r), w] = work
        x.k_book[loss_entry(book, slots, r), w] = loss
        x.k_book[viscous_entry(book, slots, r), w] = viscous
