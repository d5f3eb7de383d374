"""The energy books of a step: energies of the state, work and loss of every row.

Mariti 2012 eq. 28: every entry is integrated from its own force and velocity. An impulse p of
a row whose velocity goes from u₋ to u₊ does the work p (u₋ + u₊) / 2, exactly, in the geometry of the
step. A hand works by its force times its own velocity; what its damper and spring take is booked from
their own laws. The imbalance

    kinetic + potential + elastic - start - work + losses

is the error of the integration: nothing is computed as the remainder of the rest.
"""

import warp as wp

from ..constrain import kinds
from ..coordinates.inertia import body_mass, twice_kinetic
from ..forces.total import add_elements
from ..ledger import ledger_size, load_entry, loss_entry, viscous_entry, work_entry
from ..spatial import HALF, ZERO, angular, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.measured import ELASTIC, FASTEST, IMBALANCE, KINETIC, POTENTIAL
from .pairs import B_AT, IMPLICIT, SOLVES, STAGES


@wp.func(inline=False)
def measure_energy(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Kinetic, potential (zero at the origin) and elastic energy [J]."""
    kinetic = ZERO
    potential = ZERO
    fastest = ZERO
    whole = ZERO
    g = m.gravity[0, w]
    for i in range(m.parent.shape[0]):
        V = x.twist[i, w]
        mass = body_mass(m, i, w)
        omega = angular(V)
        whole += mass
        fastest = wp.max(fastest, wp.dot(omega, omega))
        kinetic += HALF * twice_kinetic(m, x, i, V, w)
        potential -= mass * wp.dot(g, x.p_WB[i, w])
    elastic = ZERO
    for r in range(x.row_count[0, w]):
        elastic += kinds.elastic_energy(m, s, x, r, w)
    x.energy[KINETIC, w] = kinetic
    x.energy[POTENTIAL, w] = potential
    x.energy[ELASTIC, w] = elastic
    x.report[FASTEST, w] = wp.sqrt(fastest)
    fall = whole * wp.length(g) * m.size[0]
    x.report[IMBALANCE, w] = relative_imbalance(m, s, kinetic, potential, elastic, fall, w)


@wp.func
def relative_imbalance(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    kinetic: f64,
    potential: f64,
    elastic: f64,
    fall: f64,
    w: int,
) -> f64:
    """What the books are out by, of all that was turned over and of a fall by the mechanism's size."""
    out = kinetic + potential + elastic - s.start_energy[0, w] - s.edits[0, w] + s.clamped[0, w]
    out += s.past_hands[1, w] + s.past_parts[1, w] - s.past_hands[0, w] - s.past_parts[0, w]
    turned = kinetic + elastic + wp.abs(s.edits[0, w]) + wp.abs(s.past_hands[0, w]) + wp.abs(s.past_parts[0, w])
    for r in range(m.slot_kind.shape[0]):
        lost = s.loss[r, w] + s.viscous_loss[r, w]
        out += lost - s.work[r, w]
        turned += wp.abs(lost) + wp.abs(s.work[r, w])
    for k in range(m.load_body.shape[0]):
        out -= s.load_work[k, w]
        turned += wp.abs(s.load_work[k, w])
    out -= s.contact_work[0, w]
    turned += fall + wp.abs(s.contact_work[0, w])
    if wp.abs(out) <= f64(1e-12) * (wp.abs(potential) + wp.abs(s.start_energy[0, w])) + turned * f64(1e-15):
        return ZERO
    return out / (turned + wp.abs(out))


@wp.func(inline=False)
def book_rows(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, t: f64, h: f64, w: int
):
    """Book the rows of a step h from time t."""
    for a in range(rows):
        kinds.book(m, s, x, x.active[a, w], t, h, w)
    for r in range(x.row_count[0, w]):
        if kinds.is_force(x, r, w):
            kinds.book(m, s, x, r, t, h, w)


@wp.func
def book_forces(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, span: f64, h: f64, w: int
):
    """Half of an impulsive step's work of the force elements at the present twists: before and after the motion."""
    slots = m.slot_kind.shape[0]
    add_elements(m, x, t, span, False, 0, w)
    for k in range(m.load_body.shape[0]):
        s.load_work[k, w] = s.load_work[k, w] + HALF * h * x.k_book[load_entry(0, slots, k), w]
    for r in range(x.row_count[0, w]):
        if kinds.is_element(x, r, w):
            s.work[r, w] = s.work[r, w] + HALF * h * x.k_book[work_entry(0, slots, r), w]
            s.loss[r, w] = s.loss[r, w] + HALF * h * x.k_book[loss_entry(0, slots, r), w]


@wp.func
def integral(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], pair: int, h: f64, size: int, entry: int, w: int) -> f64:
    """What one entry of the stages' powers comes to over a sub-step h [J]."""
    stages = STAGES
    if pair == IMPLICIT:
        stages = SOLVES
    gain = ZERO
    for j in range(stages):
        gain += m.tableau[pair + B_AT + j] * x.k_book[j * size + entry, w]
    return gain * h


@wp.func(inline=False)
def keep_books(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], pair: int, h: f64, w: int):
    """Integrate the powers of the stages into the books of the state."""
    slots = m.slot_kind.shape[0]
    loads = m.load_body.shape[0]
    size = ledger_size(slots, loads)
    if m.live_slots[0] > 0:  # else nothing was evaluated but loads
        for r in range(slots):
            if kinds.is_equation(x, r, w):  # does no work
                continue
            s.work[r, w] = s.work[r, w] + integral(m, x, pair, h, size, work_entry(0, slots, r), w)
            s.loss[r, w] = s.loss[r, w] + integral(m, x, pair, h, size, loss_entry(0, slots, r), w)
            s.viscous_loss[r, w] = s.viscous_loss[r, w] + integral(m, x, pair, h, size, viscous_entry(0, slots, r), w)
    for k in range(loads):
        s.load_work[k, w] = s.load_work[k, w] + integral(m, x, pair, h, size, load_entry(0, slots, k), w)
