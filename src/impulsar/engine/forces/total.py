"""All forces of an instant, called by every method.

A force element is a file here and a line in `add_elements`. It takes (t, span, acts, book): adds its means over
t .. t + span to x.wrench where it acts, at the present poses and twists, and leaves its powers there in the books
(engine/ledger.py: of its slots, of loads or of fluids), which are summed up by integrate/books.py. Where a row asks
for it instead, J and softness are those of constrain/: springs, dampers and hands are forces of an instant, and rows
of an impulsive step.
"""

import warp as wp

from ..ledger import ledger_size
from ..spatial import ZERO, f64, vec6
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .compliance import add_compliance
from .contacts import add_contacts
from .fluid import add_fluids, turn_fluids
from .loads import add_loads, turn_loads
from .motor_torques import add_motor_torques
from .tyres import add_tyres, tyres_elastic


@wp.func
def add_elements(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    span: f64,
    acts: bool,
    book: int,
    w: int,
):
    """The list of force elements."""
    if m.load_body.shape[0] > 0:
        add_loads(m, x, t, span, acts, book, w)
    if m.fluid_channel.shape[0] > 0:
        add_fluids(m, x, t, span, acts, book, w)
    if m.tyre_set.shape[0] > 0:
        add_tyres(m, s, x, acts, book, w)


@wp.func
def elements_elastic(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> f64:
    """Energy that force elements hold, beside that of compliant rows [J]."""
    if m.tyre_set.shape[0] > 0:
        return tyres_elastic(m, s, x, w)
    return ZERO


@wp.func
def turn_elements(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """What they are at time t, and how it changes as bodies are displaced; see integrate/geometric.py."""
    turn_loads(m, x, t, w)
    if m.wet_start.shape[0] > 0:
        turn_fluids(m, x, t, w)


@wp.func
def clear_forces(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """Nothing acts on bodies and in joints."""
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = vec6()
    for k in range(x.tau.shape[0]):
        x.tau[k, w] = ZERO


@wp.func
def total(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, stage: int, w: int):
    """x.wrench and x.tau: all that acts at time t, and nothing that stood there before; powers go to a stage.

    Slots keep their forces as impulses over the nominal step.
    """
    book = stage * ledger_size(m.slot_kind.shape[0], m.load_body.shape[0], m.fluid_channel.shape[0])
    clear_forces(m, x, w)
    add_elements(m, s, x, t, ZERO, True, book, w)
    if m.contacts_act.shape[0] > 0:
        add_contacts(m, s, x, w)
    if m.live_slots[0] > 0:
        add_motor_torques(m, s, x, t, ZERO, m.nominal_h[0], book, w)
        add_compliance(m, s, x, t, book, w)


@wp.func
def total_over(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, span: f64, h: f64, w: int
):
    """The same of an impulsive step h: means over t .. t + span of all that is not a row of it.

    SIMGC and SIMMC take inputs at the start of a step, span 0. An impulsive sub-step of `direct` takes their means, so
    that a pulse shorter than it gives its whole impulse, whenever it comes.
    """
    clear_forces(m, x, w)
    add_elements(m, s, x, t, span, True, 0, w)
    if m.live_slots[0] > 0:
        add_motor_torques(m, s, x, t, span, h, 0, w)
