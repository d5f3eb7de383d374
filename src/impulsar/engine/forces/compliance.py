"""Springs, dampers and hands as forces at an instant, with the rates of their books; see constrain/compliant.py."""

import warp as wp

from ..constrain import kinds
from ..ledger import loss_entry, viscous_entry, work_entry
from ..spatial import f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays


@wp.func(inline=False)
def add_compliance(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, book: int, w: int):
    """Add springs, dampers and hands at time t, powers into the books; of other rows that may do work, 0."""
    slots = m.slot_kind.shape[0]
    for r in range(slots):
        if kinds.is_equation(x, r, w) or kinds.is_force(x, r, w) or kinds.is_element(x, r, w):
            continue
        force, power, loss, viscous = kinds.act(m, s, x, r, t, w)
        s.impulse[r, w] = force * m.nominal_h[0]
        x.k_book[work_entry(book, slots, r), w] = power
        x.k_book[loss_entry(book, slots, r), w] = loss
        x.k_book[viscous_entry(book, slots, r), w] = viscous
