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
from ..coordinates.inertia import body_mass, twice_kinetic, twice_rotors
from ..forces.total import add_elements, elements_elastic
from ..ledger import DRAG, fluid_entry, ledger_size, load_entry, loss_entry, viscous_entry, work_entry
from ..spatial import HALF, ZERO, angular, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.measured import ELASTIC, FASTEST, IMBALANCE, KINETIC, POTENTIAL, UNBOOKED
from .pairs import B_AT, IMPLICIT, SOLVES, STAGES

ROUNDING = wp.constant(wp.float64(1e-12))  # of the mechanism's size, generously


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
        kinetic += HALF * (twice_kinetic(m, x, i, V, w) + twice_rotors(m, s.v, i, w))
        potential -= mass * wp.dot(g, x.p_WB[i, w])
    elastic = elements_elastic(m, s, x, w)
    for r in range(x.row_count[0, w]):
        elastic += kinds.elastic_energy(m, s, x, r, w)
    x.energy[KINETIC, w] = kinetic
    x.energy[POTENTIAL, w] = potential
    x.energy[ELASTIC, w] = elastic
    x.report[FASTEST, w] = wp.sqrt(fastest)
    fall = whole * wp.length(g) * m.size[0]
    slip = ROUNDING * m.size[0] / m.h[0]  # [m/s]: what rounding of places comes to over a step
    report_imbalance(m, s, x, fall, whole * slip * slip, w)


@wp.func
def report_imbalance(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], fall: f64, noise: f64, w: int
):
    """What the books are out by, of all that was turned over and of a fall by the mechanism's size; and how much of
    what moves they do not account for."""
    energy = x.energy[KINETIC, w] + x.energy[ELASTIC, w]
    potential = x.energy[POTENTIAL, w]
    start = s.start_energy[0, w]
    out = energy + potential - start - s.edits[0, w] + s.clamped[0, w]
    out += s.past_hands[1, w] + s.past_parts[1, w] - s.past_hands[0, w] - s.past_parts[0, w]
    booked = fall + wp.abs(s.edits[0, w]) + wp.abs(s.past_hands[0, w]) + wp.abs(s.past_parts[0, w])
    for r in range(m.slot_kind.shape[0]):
        lost = s.loss[r, w] + s.viscous_loss[r, w]
        out += lost - s.work[r, w]
        booked += wp.abs(lost) + wp.abs(s.work[r, w])
    for k in range(m.load_body.shape[0]):
        out -= s.load_work[k, w]
        booked += wp.abs(s.load_work[k, w])
    for k in range(s.fluid_work.shape[0]):
        if k % 3 == DRAG:
            out += s.fluid_work[k, w]
        else:
            out -= s.fluid_work[k, w]
        booked += wp.abs(s.fluid_work[k, w])
    out -= s.contact_work[0, w]
    booked += wp.abs(s.contact_work[0, w])
    x.report[IMBALANCE, w] = ZERO
    x.report[UNBOOKED, w] = ZERO
    turned = energy + booked
    apart = wp.abs(potential) + wp.abs(start)
    if wp.abs(out) > f64(1e-12) * apart + turned * f64(1e-15):
        x.report[IMBALANCE, w] = out / (turned + wp.abs(out))
        x.report[UNBOOKED, w] = wp.min(wp.abs(out), energy) / (booked + apart + noise)


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
    """Half of an impulsive step's work of the force elements at the present twists: before and after the motion.

    Their own states go on by as much.
    """
    slots = m.slot_kind.shape[0]
    add_elements(m, s, x, t, span, False, 0, w)
    for k in range(s.inner.shape[0]):
        s.inner[k, w] = s.inner[k, w] + HALF * h * x.inner_rate[k, w]
    for k in range(m.load_body.shape[0]):
        s.load_work[k, w] = s.load_work[k, w] + HALF * h * x.k_book[load_entry(0, slots, k), w]
    for k in range(s.fluid_work.shape[0]):
        s.fluid_work[k, w] = s.fluid_work[k, w] + HALF * h * x.k_book[fluid_entry(0, slots, m.load_body.shape[0], k), w]
    for r in range(x.row_count[0, w]):
        if kinds.is_element(x, r, w):
            s.work[r, w] = s.work[r, w] + HALF * h * x.k_book[work_entry(0, slots, r), w]
            s.loss[r, w] = s.loss[r, w] + HALF * h * x.k_book[loss_entry(0, slots, r), w]
            s.viscous_loss[r, w] = s.viscous_loss[r, w] + HALF * h * x.k_book[viscous_entry(0, slots, r), w]


@wp.func(inline=False)
def book_powers(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], span: f64, w: int):
    """The powers of the first stage over a span [s] into the books of the state."""
    slots = m.slot_kind.shape[0]
    if m.live_slots[0] > 0:  # else nothing was evaluated but loads
        for r in range(slots):
            if not kinds.is_equation(x, r, w):
                s.work[r, w] = s.work[r, w] + span * x.k_book[work_entry(0, slots, r), w]
                s.loss[r, w] = s.loss[r, w] + span * x.k_book[loss_entry(0, slots, r), w]
                s.viscous_loss[r, w] = s.viscous_loss[r, w] + span * x.k_book[viscous_entry(0, slots, r), w]
    for k in range(m.load_body.shape[0]):
        s.load_work[k, w] = s.load_work[k, w] + span * x.k_book[load_entry(0, slots, k), w]
    for k in range(s.fluid_work.shape[0]):
        s.fluid_work[k, w] = s.fluid_work[k, w] + span * x.k_book[fluid_entry(0, slots, m.load_body.shape[0], k), w]


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
    size = ledger_size(slots, loads, m.fluid_channel.shape[0])
    if m.live_slots[0] > 0:  # else nothing was evaluated but loads
        for r in range(slots):
            if kinds.is_equation(x, r, w):  # does no work
                continue
            s.work[r, w] = s.work[r, w] + integral(m, x, pair, h, size, work_entry(0, slots, r), w)
            s.loss[r, w] = s.loss[r, w] + integral(m, x, pair, h, size, loss_entry(0, slots, r), w)
            s.viscous_loss[r, w] = s.viscous_loss[r, w] + integral(m, x, pair, h, size, viscous_entry(0, slots, r), w)
    for k in range(loads):
        s.load_work[k, w] = s.load_work[k, w] + integral(m, x, pair, h, size, load_entry(0, slots, k), w)
    for k in range(s.fluid_work.shape[0]):
        s.fluid_work[k, w] = s.fluid_work[k, w] + integral(m, x, pair, h, size, fluid_entry(0, slots, loads, k), w)


@wp.func(inline=False)
def book_ends(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """Powers of two stages, those at the end and those at the start of a step h, by the trapezoidal rule."""
    slots = m.slot_kind.shape[0]
    loads = m.load_body.shape[0]
    for j in range(2):
        book = j * ledger_size(slots, loads, m.fluid_channel.shape[0])
        for r in range(slots):
            if m.live_slots[0] > 0 and not kinds.is_equation(x, r, w):
                s.work[r, w] = s.work[r, w] + HALF * h * x.k_book[work_entry(book, slots, r), w]
                s.loss[r, w] = s.loss[r, w] + HALF * h * x.k_book[loss_entry(book, slots, r), w]
                s.viscous_loss[r, w] = s.viscous_loss[r, w] + HALF * h * x.k_book[viscous_entry(book, slots, r), w]
        for k in range(loads):
            s.load_work[k, w] = s.load_work[k, w] + HALF * h * x.k_book[load_entry(book, slots, k), w]
        for k in range(s.fluid_work.shape[0]):
            s.fluid_work[k, w] = s.fluid_work[k, w] + HALF * h * x.k_book[fluid_entry(book, slots, loads, k), w]
