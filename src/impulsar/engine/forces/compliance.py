"""Springs, dampers and hands as forces at an instant, with the rates of their books; see constrain/compliant.py."""

import warp as wp

from ..constrain import kinds
from ..constrain.rows import add_force, own_jacobian
from ..coordinates.tree import row_velocity
from ..spatial import ONE, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .motor_torques import motor_torque


@wp.func(inline=False)
def apply_compliance(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, book: int, w: int):
    """Add springs, dampers, hands and motor torques at time t; their powers go to x.k_book[book ..]."""
    slots = m.slot_kind.shape[0]
    for r in range(slots):
        force, power, loss, viscous = kinds.act(m, s, x, r, t, w)
        if kinds.is_force(x, r, w):
            own_jacobian(m, x, r, ONE, w)
            force = motor_torque(m, r, t, w)
            power = force * row_velocity(m, x, s.v, r, w)
            add_force(m, x, r, force, w)
        s.impulse[r, w] = force * m.nominal_h[0]
        x.k_book[book + r, w] = power
        x.k_book[book + slots + r, w] = loss
        x.k_book[book + 2 * slots + r, w] = viscous
