"""The direct method in worlds with contact: sub-steps of three sorts, see integrate/touching.py."""

import warp as wp

from ..constrain.topology import list_rows
from ..integrate.books import measure_energy
from ..integrate.clock import advance_clock
from ..integrate.contacts import recall, remember
from ..integrate.substeps import begin, change_pair, refresh_geometry, spend
from ..integrate.touching import advance
from ..options import Option
from ..report import check_state, start_report
from ..solve.islands import ContactArrays
from ..spatial import ZERO
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.measured import BROKEN
from .direct import end_step


@wp.func
def touching_step(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    is_last: bool,
    w: int,
):
    """One nominal step of one world with contact."""
    p = begin(m, s, w)
    refresh_geometry(m, s, x, w)
    while p.left > ZERO and p.broken == 0:
        if m.options[Option.fixed] == ZERO:
            p = change_pair(m, s, spend(m, x, p, w), w)
        p = advance(m, s, x, c, p, is_last, w)
    end_step(m, s, x, p, is_last, w)


def take_touching_steps(m: SystemArrays, s: StateArrays, x: WorkArrays, c: ContactArrays):
    """The same of worlds with contact."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    recall(s, c, w)
    for k in range(m.steps[0]):
        if x.report[BROKEN, w] == ZERO:
            touching_step(m, s, x, c, k == m.steps[0] - 1, w)
            advance_clock(m, s, m.nominal_h[0], w)
    remember(s, c, w)
    refresh_geometry(m, s, x, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
