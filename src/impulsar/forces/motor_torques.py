"""Motors with a given torque: forces in the joints, limited by the motor's maximum."""

import warp as wp

from ..constrain.rows import add_freedom, clear_row
from ..joints import BALL_X, BALL_Z
from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import channel
from ..system.slots import MOTOR_TORQUE


@wp.func
def motor_torque(m: wp.ref[SystemArrays], r: int, t: f64, w: int) -> f64:
    """Torque of a motor's slot at time t; the vector of a ball's three is bounded together."""
    torque = channel(m, m.slot_channel[r], t, w)
    bound = m.slot_a[r, w]
    code = m.slot_code[r]
    if code < BALL_X or code > BALL_Z:
        return wp.clamp(torque, -bound, bound)
    first = r - (code - BALL_X)
    square = ZERO
    for k in range(3):
        part = channel(m, m.slot_channel[first + k], t, w)
        square += part * part
    if square > bound * bound:
        torque = torque * (bound / wp.sqrt(square))
    return torque


@wp.func
def add_row(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, torque: f64, w: int):
    """tau += Jᵀ torque."""
    entry = m.slot_row[r]
    for n in range(4):
        tree = m.slot_trees[r, n]
        if tree >= 0:
            for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
                x.tau[k, w] = x.tau[k, w] + torque * x.J[entry, w]
                entry += 1


@wp.func
def apply_motor_torques(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int):
    """Sum the motors' torques into the joint forces; the slot keeps the impulse and its row J."""
    n = x.S.shape[0]
    cleared = int(0)
    for r in range(m.slot_kind.shape[0]):
        if m.slot_kind[r] == MOTOR_TORQUE:
            if cleared == 0:
                for k in range(n):
                    x.tau[k, w] = ZERO
                cleared = int(1)
            torque = motor_torque(m, r, t, w)
            clear_row(m, x, r, w)
            add_freedom(m, x, r, m.slot_part[r], m.slot_code[r], m.slot_dof[r], ONE, w)
            add_row(m, x, r, torque, w)
            s.impulse[r, w] = h * torque
