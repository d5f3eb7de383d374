"""Motors with a given torque: forces in the joints, limited by the motor's maximum."""

import warp as wp

from ...author.joints import BALL_X
from ..constrain import kinds, motor
from ..constrain.rows import add_force, own_jacobian
from ..coordinates.tree import row_velocity
from ..freedoms import is_ball
from ..ledger import loss_entry, viscous_entry, work_entry
from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import channel_mean


@wp.func
def mean_torque(m: wp.ref[SystemArrays], r: int, t: f64, span: f64, w: int) -> f64:
    """Torque of a motor's slot over t .. t + span, the mean bounded; the vector of a ball's three together."""
    torque = motor.geared(m, r, channel_mean(m, m.slot_channel[r], t, span, w), w)
    bound = motor.max_torque(m, r, w)
    code = m.slot_code[r]
    if not is_ball(code):
        return wp.clamp(torque, -bound, bound)
    first = r - (code - BALL_X)
    square = ZERO
    for k in range(3):
        part = channel_mean(m, m.slot_channel[first + k], t, span, w)
        square += part * part
    if square > bound * bound:
        torque = torque * (bound / wp.sqrt(square))
    return torque


@wp.func
def add_motor_torques(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    span: f64,
    h: f64,
    book: int,
    w: int,
):
    """Add the motors' torques over t .. t + span to the joint forces; a slot keeps the impulse over h and its row J."""
    for r in range(x.row_count[0, w]):
        if kinds.is_force(x, r, w):
            add_motor_torque(m, s, x, r, t, span, h, book, w)


@wp.func(inline=False)
def add_motor_torque(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    r: int,
    t: f64,
    span: f64,
    h: f64,
    book: int,
    w: int,
):
    """Add the torque of one motor to the joint forces; its power goes to the books."""
    slots = m.slot_kind.shape[0]
    torque = mean_torque(m, r, t, span, w)
    own_jacobian(m, x, r, ONE, w)
    add_force(m, x, r, torque, w)
    s.impulse[r, w] = h * torque
    x.k_book[work_entry(book, slots, r), w] = torque * row_velocity(m, x, s.v, r, w)
    x.k_book[loss_entry(book, slots, r), w] = ZERO
    x.k_book[viscous_entry(book, slots, r), w] = ZERO
