"""An impulsive sub-step with contacts: detection, one solve of all rows, positions projected.

    v ← v + h M⁻¹ f                                        forces and rows of the start
    p of all rows together, by Newton's method (solve/islands.py)
        normal   gap + h u ≥ 0, p ≥ 0;  where it was struck, once more with u ≥ -e u₋
        slip     Coulomb's cone, with the static coefficient where it stuck before
    q ← q ⊕ h v, then brought back: joints closed, no overlap, closed contacts at gap 0, and what stuck stays where it
    was on both bodies, unless it rolls

Anchors, the points that touched at the start, are taken anew in every step: they need no memory, and corners of one
face agree. A contact that moved along both bodies is left out: its point goes off on a cycloid.

Bodies that do not touch move freely as long as none can be reached (`time_to_touch`, conservative advancement): the
distance of two over how fast they can come nearer, which no shape passes.
"""

import warp as wp

from ..collide.detect import find_contacts, pair_distance, place_shapes
from ..constrain import contact, motor
from ..constrain.assemble import assemble, assemble_bilateral
from ..constrain.contact import DEAD, OPEN, SLIDES, STICKS, Surface, surface_between
from ..constrain.frames import follow_loops
from ..constrain.transmit import take_off
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import articulate, drift, kick, kinematics, row_velocity
from ..forces.total import total_over
from ..solve.direct import factor_bilateral
from ..solve.islands import ContactArrays, solve_islands
from ..solve.project import load_position_errors, report_worst
from ..solve.sweep import start_pseudo
from ..spatial import HALF, INFINITY, ONE, TWO, ZERO, angular, f64, linear, vec3
from ..state import CONTACT_NUMBERS, Contact, StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.measured import CONTACT_RESIDUAL, CONTACTS, CONTACTS_LEFT_OUT, OVERLAP
from .books import book_forces, book_rows
from .impulsive import collect_forces, finish_books, mark_solved, start_books

MARGIN = wp.constant(wp.float64(1e-6))  # beyond what shapes can travel, contacts are looked for [m]
LEFT_ERROR = wp.constant(wp.float64(1e-10))  # position error left [m, rad]
SWEEPS = 30  # of islands that are too large to be solved as a whole
ROUNDS = 4  # of a projection
SHIFT_SWEEPS = 10  # in each of them
CAP = wp.constant(wp.float64(0.02))  # of a correction in one round [m]
ROLLS = wp.constant(wp.float64(1e-3))  # of a pair's size: a contact that moves by more along a body is not anchored
YIELD = wp.constant(wp.float64(1e-7))  # softness of positions, of a row's own response, where rows contradict
STILL = wp.constant(wp.float64(1e-9))  # slower than this is no slip [m/s]


# what is kept between launches


@wp.func
def triple(s: wp.ref[StateArrays], at: int, w: int) -> vec3:
    return vec3(s.contact[at, w], s.contact[at + 1, w], s.contact[at + 2, w])


@wp.func
def put_triple(s: wp.ref[StateArrays], at: int, value: vec3, w: int):
    for k in range(3):
        s.contact[at + k, w] = value[k]


@wp.func(inline=False)
def recall(s: wp.ref[StateArrays], c: wp.ref[ContactArrays], w: int):
    """Contacts of the last step, from the state: as much of them as the next one is matched by."""
    f = c.found
    n = int(s.contact[0, w])
    f.count[0, w] = n
    for i in range(n):
        at = 1 + CONTACT_NUMBERS * i
        f.first[i, w] = int(s.contact[at + Contact.first, w])
        f.second[i, w] = int(s.contact[at + Contact.second, w])
        f.mode[i, w] = int(s.contact[at + Contact.mode, w])
        f.in_first[i, w] = triple(s, at + Contact.in_first, w)
        f.in_second[i, w] = triple(s, at + Contact.in_second, w)
        f.impulse[i, w] = triple(s, at + Contact.impulse, w)


@wp.func(inline=False)
def remember(s: wp.ref[StateArrays], c: wp.ref[ContactArrays], w: int):
    """And into it; what is not used is zero, so that equal states have equal bits."""
    f = c.found
    n = f.count[0, w]
    before = int(s.contact[0, w])
    s.contact[0, w] = f64(n)
    for i in range(n):
        at = 1 + CONTACT_NUMBERS * i
        s.contact[at + Contact.first, w] = f64(f.first[i, w])
        s.contact[at + Contact.second, w] = f64(f.second[i, w])
        s.contact[at + Contact.mode, w] = f64(f.mode[i, w])
        s.contact[at + Contact.gap, w] = f.gap[i, w]
        put_triple(s, at + Contact.in_first, f.in_first[i, w], w)
        put_triple(s, at + Contact.in_second, f.in_second[i, w], w)
        put_triple(s, at + Contact.impulse, f.impulse[i, w], w)
        put_triple(s, at + Contact.point, f.point[i, w], w)
        put_triple(s, at + Contact.normal, f.normal[i, w], w)
        s.contact[at + Contact.on_first, w] = f64(c.shapes.body[f.first[i, w]])
        s.contact[at + Contact.on_second, w] = f64(c.shapes.body[f.second[i, w]])
    for at in range(1 + CONTACT_NUMBERS * n, 1 + CONTACT_NUMBERS * before):
        s.contact[at, w] = ZERO


# detection


@wp.func
def core_size(c: wp.ref[ContactArrays], shape: int) -> f64:
    """How far a shape reaches that its turning moves: without the radius about its core [m]."""
    return c.shapes.reach[shape] - c.shapes.radius[shape]


@wp.func
def shape_speed(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], shape: int, w: int) -> f64:
    """The most that a shape's surface moves, as a place and not as a material [m/s]."""
    body = c.shapes.body[shape]
    if body < 0:
        return ZERO
    V = x.twist[body, w]
    arm = wp.length(c.shapes.p_BS[shape]) + wp.length(c.shapes.middle[shape]) + core_size(c, shape)
    return wp.length(linear(V)) + wp.length(angular(V)) * arm


@wp.func(inline=False)
def detect(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], span: f64, w: int):
    """Contacts of the present pose that there are or may be within a span of time [s]."""
    fall = TWO * span * wp.length(m.gravity[0, w])
    for shape in range(c.shapes.kind.shape[0]):
        c.found.travel[shape, w] = ZERO
        if c.shapes.body[shape] >= 0:
            c.found.travel[shape, w] = span * (TWO * shape_speed(x, c, shape, w) + fall)
    place_shapes(c.shapes, c.found, x.p_WB, x.q_WB, MARGIN, w)
    find_contacts(c.shapes, c.found, MARGIN, w)
    x.report[CONTACTS, w] = f64(c.found.count[0, w])
    missed = f64(c.found.missed[0, w] + c.found.pairs_missed[0, w])
    x.report[CONTACTS_LEFT_OUT, w] = wp.max(x.report[CONTACTS_LEFT_OUT, w], missed)


@wp.func(inline=False)
def closing_speed(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], a: int, b: int, n: vec3, w: int) -> f64:
    """The most that two shapes can come nearer along the normal between them [m/s]."""
    u = ZERO
    for k in range(2):
        shape = a
        sign = ONE
        if k == 1:
            shape = b
            sign = -ONE
        body = c.shapes.body[shape]
        if body >= 0:
            V = x.twist[body, w]
            middle = c.found.p_WS[shape, w] + c.found.R_WS[shape, w] * c.shapes.middle[shape]
            at = linear(V) + wp.cross(angular(V), middle - x.p_WB[body, w])
            u += sign * wp.dot(n, at) + wp.length(angular(V)) * core_size(c, shape)
    return u


@wp.func(inline=False)
def time_to_touch(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], span: f64, fast: bool, w: int
) -> f64:
    """The time before which no two shapes touch that do not now [s]; of all, or of those that pass each other in a
    span only."""
    soonest = INFINITY
    g = wp.length(m.gravity[0, w])
    for i in range(c.found.pair_count[0, w]):
        a = c.found.pair_first[i, w]
        b = c.found.pair_second[i, w]
        size = HALF * wp.min(c.shapes.reach[a], c.shapes.reach[b])
        if fast and span * (shape_speed(x, c, a, w) + shape_speed(x, c, b, w)) < size:
            continue
        apart = pair_distance(c.shapes, c.found, a, b, w)
        if apart.gap > DEAD:
            u = closing_speed(x, c, a, b, apart.normal, w)
            if fast and wp.abs(u) * span < size:
                continue
            # gap = u t + g t² at the latest
            u = wp.max(u, ZERO)
            soonest = wp.min(soonest, TWO * apart.gap / (u + wp.sqrt(u * u + f64(4.0) * g * apart.gap) + f64(1e-300)))
    return soonest


@wp.func
def touches(c: wp.ref[ContactArrays], w: int) -> bool:
    """Whether any contact is closed."""
    for i in range(c.found.count[0, w]):
        if c.found.gap[i, w] <= DEAD:
            return True
    return False


# rows


@wp.func
def surface_of(m: wp.ref[SystemArrays], c: wp.ref[ContactArrays], i: int, w: int) -> Surface:
    """What the two shapes of contact i are like against each other."""
    a = c.shape_material[c.found.first[i, w]]
    b = c.shape_material[c.found.second[i, w]]
    return surface_between(m, a, b, c.material_pair[a * m.material_friction.shape[0] + b], w)


@wp.func
def carried_on(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], h: f64, w: int) -> f64:
    """By what impulses are multiplied to begin a step h with; forces of an instant are kept, too."""
    if s.last_h[0, w] > ZERO:
        return h / s.last_h[0, w]
    return h / m.nominal_h[0]


@wp.func(inline=False)
def append_rows(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    h: f64,
    scale: f64,
    w: int,
):
    """Rows of all contacts for a step h; scale: of their last impulses, to begin with."""
    slow = TWO * h * wp.length(m.gravity[0, w])
    for i in range(c.found.count[0, w]):
        if contact.has_room(m, x, w):
            own = surface_of(m, c, i, w)
            r = x.row_count[0, w]
            contact.append_contact(m, s, x, c.shapes, c.found, i, own, h, scale, w)
            before = row_velocity(m, x, x.v_old, r, w)
            if -before > slow and own.restitution > ZERO:
                c.rebound[r, w] = -own.restitution * before


@wp.func
def forget_rows(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    """Rows of contacts go."""
    slots = m.slot_kind.shape[0]
    for r in range(slots, x.row_count[0, w]):
        s.impulse[r, w] = ZERO
    x.row_count[0, w] = slots


@wp.func
def activate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: int, w: int) -> int:
    """All rows beyond the slots are active; returns how many there are in all."""
    count = rows
    for r in range(m.slot_kind.shape[0], x.row_count[0, w]):
        x.active[count, w] = r
        count += 1
    return count


@wp.func(inline=False)
def keep_impulses(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], h: f64, w: int
):
    """Impulses, modes and anchors of the contacts from their rows of a step h; books their work."""
    f = c.found
    for i in range(f.count[0, w]):
        f.impulse[i, w] = vec3()
        f.anchor_first[i, w] = f.in_first[i, w]
        f.anchor_second[i, w] = f.in_second[i, w]
    slots = m.slot_kind.shape[0]
    for r in range(slots, x.row_count[0, w]):
        i = x.row_part[r, w]
        p = s.impulse[r, w]
        f.impulse[i, w] = f.impulse[i, w] + p * x.pair_slide[r - slots, w]
        if p != ZERO:
            mean = HALF * (row_velocity(m, x, s.v, r, w) + row_velocity(m, x, x.v_old, r, w))
            s.contact_work[0, w] = s.contact_work[0, w] + p * mean
    for r in range(slots, x.row_count[0, w]):
        if contact.is_normal(x, r, w):
            i = x.row_part[r, w]
            mode = int(OPEN)
            if s.impulse[r, w] > ZERO and f.gap[i, w] + h * row_velocity(m, x, s.v, r, w) <= TWO * DEAD:
                mode = int(STICKS)
                if contact.slip_speed(m, s, x, r, w) > STILL:
                    mode = int(SLIDES)
            f.mode[i, w] = mode


@wp.func(inline=False)
def collect_contacts(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], h: f64, w: int):
    """What contacts give goes into the reactions of the joints."""
    for r in range(m.slot_kind.shape[0], x.row_count[0, w]):
        if s.impulse[r, w] != ZERO:
            take_off(x, contact.pair(m, x, r, w), s.impulse[r, w] / h, w)


# positions


@wp.func
def place_in_world(c: wp.ref[ContactArrays], shape: int, p: vec3, w: int) -> vec3:
    return c.found.p_WS[shape, w] + c.found.R_WS[shape, w] * p


@wp.func(inline=False)
def slipped(c: wp.ref[ContactArrays], i: int, w: int) -> vec3:
    """How far the anchors of contact i are from each other across its normal; 0 where it slides or rolls [m]."""
    f = c.found
    a = f.first[i, w]
    b = f.second[i, w]
    far = wp.max(
        wp.length(f.in_first[i, w] - f.anchor_first[i, w]), wp.length(f.in_second[i, w] - f.anchor_second[i, w])
    )
    if f.mode[i, w] != STICKS or far > ROLLS * wp.min(c.shapes.reach[a], c.shapes.reach[b]):
        return vec3()
    n = f.normal[i, w]
    d = place_in_world(c, b, f.anchor_second[i, w], w) - place_in_world(c, a, f.anchor_first[i, w], w)
    return d - wp.dot(d, n) * n


@wp.func
def is_held(c: wp.ref[ContactArrays], i: int, w: int) -> bool:
    """Whether the gap of a contact has to be 0, and not only ≥ 0."""
    return c.found.mode[i, w] > OPEN


@wp.func
def worst_contact(c: wp.ref[ContactArrays], w: int) -> f64:
    """Largest position error of the contacts [m]."""
    worst = ZERO
    for i in range(c.found.count[0, w]):
        gap = c.found.gap[i, w]
        worst = wp.max(worst, -gap)
        if is_held(c, i, w):
            worst = wp.max(worst, wp.max(gap, wp.length(slipped(c, i, w))))
    return worst


@wp.func(inline=False)
def append_positions(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int
):
    """Rows that bring positions of contacts right: their biases are errors, their velocities displacements."""
    for i in range(c.found.count[0, w]):
        if contact.has_room(m, x, w):
            gap = wp.max(c.found.gap[i, w], -CAP)
            low = ZERO
            if is_held(c, i, w):
                low = -INFINITY
            r = contact.append_normal(m, s, x, c.shapes, c.found, i, gap, low, w)
            off = slipped(c, i, w)
            if c.found.mode[i, w] == STICKS and wp.length(off) > ZERO:
                first = contact.append_across(m, s, x, r, False, INFINITY, off, vec3(), w)
                for k in range(2):
                    x.row_group[first + k, w] = int(1)
                    x.row_bound_of[first + k, w] = int(-1)
    for r in range(m.slot_kind.shape[0], x.row_count[0, w]):
        c.rebound[r, w] = ZERO
        if x.row_mass[r, w] > ZERO:
            x.row_softness[r, w] = YIELD / x.row_mass[r, w]


@wp.func
def factor_held(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Factor what holds while contacts are projected: equations and drives, but no motor that may yield to them."""
    assemble_bilateral(m, x, t, 0, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if motor.is_motor(x, r, w) and motor.is_bounded(m, r, w):
            x.solved[r, w] = int(0)
    factor_bilateral(m, x, w)


@wp.func(inline=False)
def project_contacts(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    t: f64,
    span: f64,
    w: int,
):
    """Close the joints, take overlaps away, and bring what stuck back; contacts are those of the new pose then."""
    detect(m, x, c, span, w)
    rounds = int(0)
    while rounds < ROUNDS:
        worst = load_position_errors(m, s, x, t, w)
        if rounds == 0:
            report_worst(m, x, w)
        worst = wp.max(worst, worst_contact(c, w))
        if worst <= LEFT_ERROR:
            rounds = int(ROUNDS)
            continue
        articulate(m, x, w)
        factor_held(m, x, t, w)
        load_position_errors(m, s, x, t, w)
        for i in range(m.bilateral.shape[0]):
            x.row_bias[m.bilateral[i], w] = -x.multiplier[i, w]
            x.row_pseudo[m.bilateral[i], w] = ZERO
        append_positions(m, s, x, c, w)
        rows = activate(m, x, 0, w)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        solve_islands(m, x, c, x.shift, x.row_pseudo, rows, SHIFT_SWEEPS, w)
        forget_rows(m, s, x, w)
        move_coordinates(m, s, x.shift, w)
        kinematics(m, s, x, ZERO, w)
        follow_loops(m, s, x, w)
        detect(m, x, c, span, w)
        rounds += 1
    for i in range(c.found.count[0, w]):
        x.report[OVERLAP, w] = wp.max(x.report[OVERLAP, w], -c.found.gap[i, w])


@wp.func(inline=False)
def contact_step(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    t: f64,
    h: f64,
    is_last: bool,
    w: int,
):
    """One sub-step of size h from time t, whose contacts are found; leaves those of its end."""
    start_pseudo(x, w)
    if is_last:
        start_books(m, x, h, w)
    book_forces(m, s, x, t, h, h, w)
    total_over(m, s, x, t, h, h, w)
    kick(m, s, x, h, w)
    scale = carried_on(m, s, h, w)
    slots = assemble(m, s, x, t, h, w)
    mark_solved(m, x, slots, w)
    factor_bilateral(m, x, w)
    for r in range(m.slot_kind.shape[0]):
        x.strike[r, w] = ZERO
        c.rebound[r, w] = ZERO
    for a in range(slots):
        r = x.active[a, w]
        s.impulse[r, w] = scale * s.impulse[r, w]
        if x.solved[r, w] != 0:
            s.impulse[r, w] = ZERO
    for r in range(m.slot_kind.shape[0], c.rebound.shape[0]):
        c.rebound[r, w] = ZERO
    append_rows(m, s, x, c, h, scale, w)
    rows = activate(m, x, slots, w)
    error = solve_islands(m, x, c, s.v, s.impulse, rows, SWEEPS, w)
    x.report[CONTACT_RESIDUAL, w] = wp.max(x.report[CONTACT_RESIDUAL, w], error)
    s.last_h[0, w] = h
    book_rows(m, s, x, slots, t, h, w)
    keep_impulses(m, s, x, c, h, w)
    if is_last:
        collect_contacts(m, s, x, h, w)
    forget_rows(m, s, x, w)
    if is_last:
        collect_forces(m, s, x, slots, h, w)
    drift(m, s, x, h, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    project_contacts(m, s, x, c, t + h, h, w)
    if is_last:
        finish_books(m, x, h, w)
    book_forces(m, s, x, t, h, h, w)
