"""Contacts in the methods of sequential impulses: rows among the others, pushed by their sweeps.

Coulomb's cone is met row by row, so what sticks creeps with the impulses that the last sweep leaves, and overlaps go by
split impulses or β like all position errors. `direct` solves them as a whole: see contacts.py.
"""

import warp as wp

from ..constrain import contact
from ..coordinates.tree import row_velocity
from ..solve.islands import ContactArrays
from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .contacts import activate, append_rows, collect_contacts, detect, forget_rows, keep_impulses

CLOSE = wp.constant(wp.float64(1e-9))  # a gap so small at the end of a step is struck [m]


@wp.func(inline=False)
def find_rows(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    slots: int,
    h: f64,
    w: int,
) -> int:
    """Rows of the contacts of a step h, whose slots are assembled, behind them; returns how many there are in all."""
    detect(m, x, c, h, w)
    for r in range(c.rebound.shape[0]):
        c.rebound[r, w] = ZERO
    append_rows(m, s, x, c, h, ONE, w)  # the warm start scales their impulses
    for r in range(m.slot_kind.shape[0], x.row_count[0, w]):
        if contact.is_normal(x, r, w):
            gap = c.found.gap[x.row_part[r, w], w]
            x.row_error[r, w] = wp.min(gap, ZERO)
            if c.rebound[r, w] > ZERO and gap + h * row_velocity(m, x, s.v, r, w) < CLOSE:
                x.row_bias[r, w] = -c.rebound[r, w]
    return activate(m, x, slots, w)


@wp.func(inline=False)
def end_rows(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    h: f64,
    is_last: bool,
    w: int,
):
    """After the sweeps: what contacts keep, and their reactions; their rows go."""
    keep_impulses(m, s, x, c, h, w)
    if is_last:
        collect_contacts(m, s, x, h, w)
    forget_rows(m, s, x, w)
