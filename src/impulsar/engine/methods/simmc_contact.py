"""SIMMC in worlds with contact: rows of contacts swept with the others."""

import warp as wp

from ..constrain.assemble import assemble, feed_back_errors
from ..constrain.frames import follow_loops
from ..constrain.reactions import collect_reactions, finish_reactions, start_reactions
from ..constrain.topology import list_rows
from ..coordinates.tree import drift, kick, kinematics
from ..forces.total import total_over
from ..integrate.books import book_forces, book_rows, measure_energy
from ..integrate.clock import advance_clock
from ..integrate.contacts import recall, remember
from ..integrate.swept import end_rows, find_rows
from ..options import Option
from ..report import check_state, report_step, start_report
from ..solve.blocks import factor_blocks
from ..solve.cones import share_cone_mass
from ..solve.islands import ContactArrays
from ..solve.sticking import stick
from ..solve.sweep import start_pseudo, sweep, warm_start
from ..spatial import ONE, ZERO
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays


@wp.func
def touching_step(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    is_last: bool,
    w: int,
):
    """One step of one world with contact."""
    h = m.h[0]
    t = s.time[0, w]
    limit = int(m.options[Option.limit])
    book_forces(m, s, x, t, ZERO, h, w)
    total_over(m, s, x, t, ZERO, h, w)
    if is_last:
        start_reactions(m, x, h, w)
    kick(m, s, x, h, w)  # eq. 14, 15
    start_pseudo(x, w)
    slots = assemble(m, s, x, t, h, w)
    rows = find_rows(m, s, x, c, slots, h, w)
    feed_back_errors(x, rows, h, m.options[Option.beta], w)  # eq. 27
    factor_blocks(m, x, w)
    share_cone_mass(x, rows, w)
    warm_start(m, s, x, rows, h, m.options[Option.warm_start], w)
    iterations = sweep(m, s, x, rows, h, m.options[Option.epsilon], limit, int(m.options[Option.split_impulses]), 1, w)
    if int(m.options[Option.stick]) != 0:
        stick(m, s, x, slots, w)
    report_step(m, x, s, rows, iterations, limit, w)
    end_rows(m, s, x, c, h, is_last, w)
    book_rows(m, s, x, slots, t, h, w)
    if is_last:
        collect_reactions(m, s, x, slots, h, w)  # eq. 24-26
    drift(m, s, x, h, w)  # eq. 16
    kinematics(m, s, x, ONE / h, w)
    follow_loops(m, s, x, w)
    if is_last:
        finish_reactions(m, x, h, w)
    book_forces(m, s, x, t, ZERO, h, w)
    advance_clock(m, s, h, w)


def take_touching_steps(m: SystemArrays, s: StateArrays, x: WorkArrays, c: ContactArrays):
    """The same of worlds with contact."""
    w = wp.tid()
    start_report(x, w)
    list_rows(m, x, w)
    recall(s, c, w)
    for k in range(m.steps[0]):
        touching_step(m, s, x, c, k == m.steps[0] - 1, w)
    remember(s, c, w)
    measure_energy(m, s, x, w)
    check_state(m, x, w)
