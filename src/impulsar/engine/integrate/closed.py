"""Contacts inside smooth sub-steps: their modes, forces of an instant, impacts, and where modes end.

    closed    gap = 0, force ≥ 0            sticks: no slip, force inside the static cone; a ball that rolls sticks
                                            slides: a force of µ times the normal one against the slip
    open      gap > 0, no force

At every stage forces are those of Coulomb's law on accelerations (solve/islands.py), with joint friction at rest,
closed limits and motors with a bound beside them: where a contact lets go, it is seen by its acceleration. Forces of
corners that hold each other up are not unique, but lie inside their cones; accelerations are.

A mode has ended where an open contact is reached, a closed one leaves, one that sticks begins to slip, or slip comes to
rest. That is located by halving the sub-step's dense output. There: impacts by impulses, with restitution; then new
modes by the same law on accelerations.
"""

import warp as wp

from ..constrain import contact, friction, kinds, limit, motor
from ..constrain.accelerations import body_acceleration, body_twist
from ..constrain.contact import OPEN, OPENS, SLIDES, SLIPS, STICKS
from ..constrain.features import find_features, has_rim, keep_spot
from ..constrain.frames import body_position, follow_loops
from ..constrain.rows import set_row
from ..coordinates.tree import accelerate, articulate, kinematics, row_velocity
from ..forces.total import total
from ..ledger import ledger_size, work_entry
from ..solve.direct import factor_bilateral
from ..solve.islands import ContactArrays, solve_islands
from ..solve.project import velocity_error
from ..spatial import HALF, INFINITY, ONE, ZERO, angular, f64, linear, spatial, vec3, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .contacts import SWEEPS, YIELD, activate, factor_held, forget_rows, surface_of
from .control import keep_derivatives, set_within
from .evaluate import choose_feedback, factor_equations, steer_motors
from .impulsive import KINK
from .pairs import STAGES
from .settle import open_row
from .substeps import may_jump

MOST_CONTACTS = 20
STRAIGHT = wp.constant(wp.float64(1e-9))  # of a slip: what is less aside is rounding
STILL = wp.constant(wp.float64(1e-9))  # slower than this is at rest [m/s, rad/s]
HELD = wp.constant(wp.float64(1e-7))  # the same for a contact that stuck: what impulses leave of its velocity [m/s]
TOUCH = wp.constant(wp.float64(1e-9))  # so near is closed [m, rad]
PASSED = wp.constant(wp.float64(1e-6))  # so deep is left to impulses [m, rad]
LEAVES = wp.constant(wp.float64(1e-7))  # acceleration of what should be at rest that is not rounding [m/s², rad/s²]
NOISE = wp.constant(wp.float64(1e-12))  # gap or slip below 0 that is rounding [m, m/s]
SAME = wp.constant(wp.float64(1e-7))  # gaps of one contact, as it is found and by its features [m]
ZENO = wp.constant(wp.float64(1e-4))  # bounces shorter than this are none [s]
UNSOLVED = wp.constant(wp.float64(1e-8))  # error of a solve, of the largest force, that is none
SHARP = wp.constant(wp.float64(1e-13))  # how exactly the end of a mode is located [s]
TRIES = 8  # changes of mode at one instant


@wp.func(inline=False)
def begin_contacts(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int) -> bool:
    """Features of the contacts that were detected; False where they are too many, too deep or not known.

    Friction against rolling and spinning is left to impulses.
    """
    if c.found.count[0, w] > MOST_CONTACTS:
        return False
    for i in range(c.found.count[0, w]):
        c.features.normal[i, w] = c.found.normal[i, w]
        if c.found.gap[i, w] < -PASSED or not find_features(c.shapes, c.found, c.features, i, w):
            return False
        # several points of a rim are found, of which the lowest stands for all
        c.spare[i, w] = int(0)
        keep_spot(x, c.features, i, c.shapes.body[c.found.first[i, w]], c.shapes.body[c.found.second[i, w]], w)
        if wp.abs(c.features.gap[i, w] - c.found.gap[i, w]) > SAME:
            if not has_rim(c.features, i, w):
                return False
            c.spare[i, w] = int(1)
            c.found.mode[i, w] = OPEN
        surface = surface_of(m, c, i, w)
        if surface.rolling > ZERO or surface.spinning > ZERO:
            return False
        c.found.anchor_first[i, w] = c.found.in_first[i, w]
        c.found.anchor_second[i, w] = c.found.in_second[i, w]
        n = c.features.normal[i, w]
        force = c.found.impulse[i, w]
        c.slip[i, w] = wp.normalize(wp.dot(force, n) * n - force)  # against friction
    return True


@wp.func
def follow_contacts(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int):
    """Put all contacts where they are at the present pose."""
    for i in range(c.found.count[0, w]):
        first = c.shapes.body[c.found.first[i, w]]
        second = c.shapes.body[c.found.second[i, w]]
        keep_spot(x, c.features, i, first, second, w)


@wp.func
def relative_velocity(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], i: int, w: int) -> vec3:
    """Of the second body against the first at contact i [m/s]."""
    v = zero3()
    for k in range(2):
        shape = c.found.second[i, w]
        sign = ONE
        if k == 1:
            shape = c.found.first[i, w]
            sign = -ONE
        body = c.shapes.body[shape]
        V = body_twist(x, body, w)
        v += sign * (linear(V) + wp.cross(angular(V), c.features.place[i, w] - body_position(x, body, w)))
    return v


@wp.func
def slip_of(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], i: int, w: int) -> vec3:
    """The part of it across the normal."""
    v = relative_velocity(x, c, i, w)
    n = c.features.normal[i, w]
    return v - wp.dot(v, n) * n


@wp.func(inline=False)
def relative_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], i: int, w: int):
    """Acceleration of the second body against the first where contact i goes, at the bodies' present ones.

    Without what the rate of the normal adds; gravity is taken off both.
    """
    a = zero3()
    place = c.features.place[i, w]
    rate = c.features.place_rate[i, w]
    for k in range(2):
        shape = c.found.second[i, w]
        sign = ONE
        if k == 1:
            shape = c.found.first[i, w]
            sign = -ONE
        body = c.shapes.body[shape]
        V = body_twist(x, body, w)
        A = body_acceleration(m, x, body, w)
        arm = place - body_position(x, body, w)
        a += sign * (linear(A) + wp.cross(angular(A), arm) + wp.cross(angular(V), rate - linear(V)))
    return a


@wp.func
def turned(d: vec3, slip: vec3) -> vec3:
    """The direction of a slip, d before: one that goes aside by no more than rounding goes straight on.

    Friction turns a slow slip's direction at a rate of μ g / |slip|, so fast that explicit steps make rounding grow.
    """
    ahead = wp.dot(slip, d)
    if ahead > ZERO and wp.length(slip - ahead * d) <= STRAIGHT * ahead:
        return d
    return wp.normalize(slip)


@wp.func(inline=False)
def append_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], i: int, w: int
):
    """Rows of a closed contact on accelerations."""
    f = c.features
    first = c.shapes.body[c.found.first[i, w]]
    second = c.shapes.body[c.found.second[i, w]]
    n = f.normal[i, w]
    a = relative_acceleration(m, x, c, i, w)
    own = contact.along(first, second, f.place[i, w], n, zero3())
    r = contact.append_pair(m, x, contact.NORMAL, i, own, ONE / (m.size[0] * m.size[0]), w)
    turning = wp.dot(f.normal_rate[i, w], relative_velocity(x, c, i, w))
    set_row(x, r, wp.dot(n, a) + turning - row_velocity(m, x, x.qdd, r, w), ZERO, ZERO, INFINITY, ZERO, w)
    contact.answer(m, x, r, w)
    surface = surface_of(m, c, i, w)
    if c.found.mode[i, w] >= STICKS and surface.holding > ZERO:
        across = contact.append_across(m, s, x, r, False, surface.holding, zero3(), zero3(), w)
        for k in range(2):
            t = x.pair_slide[across + k - m.slot_kind.shape[0], w]
            x.row_bias[across + k, w] = wp.dot(t, a) - row_velocity(m, x, x.qdd, across + k, w)
    elif c.found.mode[i, w] == SLIDES and surface.friction > ZERO:
        d = c.slip[i, w]
        slip = slip_of(x, c, i, w)
        if wp.dot(slip, d) > HALF * wp.length(slip):
            d = turned(d, slip)
        across = contact.append_across(m, s, x, r, False, surface.friction, zero3(), zero3(), w)
        for k in range(2):
            t = x.pair_slide[across + k - m.slot_kind.shape[0], w]
            x.row_group[across + k, w] = int(1)
            x.row_low[across + k, w] = -surface.friction * wp.dot(d, t)
            x.row_high[across + k, w] = -surface.friction * wp.dot(d, t)


@wp.func
def is_at_rest(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot is joint friction that sticks, or a closed limit."""
    if kinds.can_stick(x, r, w):
        return friction.bound(m, r, w) > ZERO and not friction.slides(s, x, friction.first_of(x, r, w), w)
    return kinds.is_limit(x, r, w) and s.mode[r, w] != ZERO


@wp.func(inline=False)
def open_instant(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], t: f64, w: int
) -> int:
    """All rows of the instant at the accelerations without them; returns how many."""
    weak = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = x.rhs[i, w]
        if x.solved[r, w] != 0 and motor.is_motor(x, r, w) and motor.is_bounded(m, r, w):
            weak += 1
    steer_motors(m, s, x, t, w)
    count = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            set_row(x, r, -x.rhs[i, w] - row_velocity(m, x, x.qdd, r, w), ZERO, -INFINITY, INFINITY, ZERO, w)
            if motor.is_motor(x, r, w) and motor.is_bounded(m, r, w):
                most = motor.max_torque(m, r, w)
                x.row_low[r, w] = -most
                x.row_high[r, w] = most
                x.solved[r, w] = int(0)
                x.active[count, w] = r
                count += 1
    if weak > 0:
        factor_bilateral(m, x, w)
    for r in range(m.slot_kind.shape[0]):
        if is_at_rest(m, s, x, r, w):
            open_row(m, x, r, w)
            x.solved[r, w] = int(0)
            x.row_softness[r, w] = ZERO
            if kinds.can_stick(x, r, w):
                x.row_low[r, w] = -friction.static_bound(m, r, w)
                x.row_high[r, w] = friction.static_bound(m, r, w)
            x.active[count, w] = r
            count += 1
    for i in range(c.found.count[0, w]):
        if c.found.mode[i, w] > OPEN and contact.has_room(m, x, w):
            append_closed(m, s, x, c, i, w)
    return activate(m, x, count, w)


@wp.func(inline=False)
def evaluate_closed(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    t: f64,
    stage: int,
    w: int,
) -> bool:
    """Accelerations, forces and powers of the present state at time t with contacts in their modes, into a stage.

    Rows stay until forget_rows, forces are in x.row_pseudo. False where it could not be solved.
    """
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    follow_contacts(x, c, w)
    total(m, s, x, t, stage, w)
    articulate(m, x, w)
    accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
    if m.bilateral.shape[0] > 0:
        if factor_equations(m, x, t, w) < m.weak[0, w]:
            return False
    forget_rows(m, s, x, w)
    rows = open_instant(m, s, x, c, t, w)
    for r in range(x.row_count[0, w]):
        c.rebound[r, w] = ZERO
        x.row_pseudo[r, w] = ZERO
    for a in range(rows):
        x.row_pseudo[x.active[a, w], w] = warm_force(m, s, x, c, x.active[a, w], w)
    error = solve_islands(m, x, c, x.qdd, x.row_pseudo, rows, SWEEPS, w)
    keep_forces(m, s, x, c, stage, w)
    keep_derivatives(m, s, x, stage, w)
    return error <= UNSOLVED


@wp.func
def warm_force(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], r: int, w: int
) -> f64:
    """What a row gave in the last evaluation, or the last step [N, N m]."""
    scale = ONE / m.nominal_h[0]
    if s.last_h[0, w] > ZERO:
        scale = ONE / s.last_h[0, w]
    if r < m.slot_kind.shape[0]:
        return scale * s.impulse[r, w]
    return scale * wp.dot(c.found.impulse[x.row_part[r, w], w], x.pair_slide[r - m.slot_kind.shape[0], w])


@wp.func(inline=False)
def keep_forces(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], stage: int, w: int
):
    """Forces of the rows as impulses over the nominal step, and the powers of motors and contacts."""
    slots = m.slot_kind.shape[0]
    book = stage * ledger_size(slots, m.load_body.shape[0], m.fluid_channel.shape[0])
    s.last_h[0, w] = ZERO
    for r in range(slots):
        if is_at_rest(m, s, x, r, w):
            s.impulse[r, w] = x.row_pseudo[r, w] * m.nominal_h[0]
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if not kinds.can_stick(x, r, w):
            s.impulse[r, w] = x.row_pseudo[r, w] * m.nominal_h[0]
            if motor.is_motor(x, r, w):
                x.k_book[work_entry(book, slots, r), w] = x.row_pseudo[r, w] * row_velocity(m, x, s.v, r, w)
    for i in range(c.found.count[0, w]):
        c.found.impulse[i, w] = zero3()
    power = ZERO
    for r in range(slots, x.row_count[0, w]):
        i = x.row_part[r, w]
        force = x.row_pseudo[r, w]
        c.found.impulse[i, w] = c.found.impulse[i, w] + force * m.nominal_h[0] * x.pair_slide[r - slots, w]
        power += force * row_velocity(m, x, s.v, r, w)
    c.power[stage, w] = power


# modes


@wp.func
def row_leaves(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Acceleration of a row after a solve [m/s², rad/s²]."""
    return row_velocity(m, x, x.qdd, r, w) + x.row_bias[r, w]


@wp.func
def across_of(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], normal: int, w: int) -> vec3:
    """Acceleration of a contact across its normal, by the two rows that follow [m/s²]."""
    slots = m.slot_kind.shape[0]
    a = zero3()
    for k in range(1, 3):
        a += row_leaves(m, x, normal + k, w) * x.pair_slide[normal + k - slots, w]
    return a


@wp.func(inline=False)
def find_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int
):
    """Modes that the present state decides; those at rest stick till forces say otherwise. Returns who is struck."""
    struck = int(0)
    contacts = c.slip.shape[0]
    for i in range(c.found.count[0, w]):
        if c.spare[i, w] != 0:
            continue
        u = wp.dot(relative_velocity(x, c, i, w), c.features.normal[i, w])
        still = STILL
        if c.found.mode[i, w] == STICKS:
            still = HELD
        if c.features.gap[i, w] > TOUCH or u > still or (c.found.mode[i, w] == OPENS and u >= -STILL):
            c.found.mode[i, w] = OPEN
        elif u < -STILL:
            struck += 1
        else:
            slip = slip_of(x, c, i, w)
            if surface_of(m, c, i, w).holding <= ZERO:  # nothing would hold what sticks: it slides, whichever way
                c.found.mode[i, w] = SLIDES
                c.slip[i, w] = zero3()
            elif wp.length(slip) > still:
                d = wp.normalize(slip)
                if c.found.mode[i, w] == SLIDES:
                    d = turned(c.slip[i, w], slip)
                c.found.mode[i, w] = SLIDES
                c.slip[i, w] = d
            elif c.found.mode[i, w] != SLIPS:
                c.found.mode[i, w] = STICKS
    for r in range(m.slot_kind.shape[0]):
        if kinds.is_limit(x, r, w):
            u = limit.speed(m, x, r, w)
            if limit.gap(m, s, x, r, w) > TOUCH or u > STILL:
                s.mode[r, w] = ZERO
            elif u < -STILL:
                struck += 1
            elif c.leaves[contacts + r, w] == 0:
                s.mode[r, w] = ONE
        elif kinds.can_stick(x, r, w) and x.row_group[r, w] > 0 and friction.bound(m, r, w) > ZERO:
            speed = friction.speed(m, x, r, w)
            for k in range(x.row_group[r, w]):
                if speed > STILL:
                    s.mode[r + k, w] = friction.slip(m, x, r + k, w) / speed
                elif c.leaves[contacts + r, w] == 0:
                    s.mode[r + k, w] = ZERO
    return struck


@wp.func(inline=False)
def change_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int
) -> int:
    """After an evaluation at rest: what leaves opens, what slips slides; returns how many have changed."""
    changed = int(0)
    slots = m.slot_kind.shape[0]
    for r in range(slots, x.row_count[0, w]):
        if contact.is_normal(x, r, w):
            i = x.row_part[r, w]
            if row_leaves(m, x, r, w) > LEAVES:
                c.found.mode[i, w] = OPEN
                changed += 1
            elif c.found.mode[i, w] >= STICKS:
                surface = surface_of(m, c, i, w)
                if surface.holding > ZERO:
                    a = across_of(m, x, r, w)
                    if c.found.mode[i, w] == SLIPS or wp.length(a) > LEAVES:
                        c.found.mode[i, w] = SLIDES
                        force = x.row_pseudo[r + 1, w] * x.pair_slide[r + 1 - slots, w]
                        force += x.row_pseudo[r + 2, w] * x.pair_slide[r + 2 - slots, w]
                        c.slip[i, w] = -wp.normalize(force)
                        changed += 1
    for r in range(slots):
        if is_at_rest(m, s, x, r, w):
            if kinds.is_limit(x, r, w):
                if row_leaves(m, x, r, w) > LEAVES:
                    s.mode[r, w] = ZERO
                    changed += 1
            elif x.row_group[r, w] > 0:
                square = ZERO
                for k in range(x.row_group[r, w]):
                    away = row_leaves(m, x, r + k, w)
                    square += away * away
                if square > LEAVES * LEAVES:
                    for k in range(x.row_group[r, w]):
                        s.mode[r + k, w] = row_leaves(m, x, r + k, w) / wp.sqrt(square)
                    changed += 1
    return changed


@wp.func(inline=False)
def note_ends(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int
) -> int:
    """Whose modes have ended, after an evaluation, into c.leaves; returns how many."""
    ended = int(0)
    slots = m.slot_kind.shape[0]
    contacts = c.slip.shape[0]
    for i in range(c.found.count[0, w]):
        c.leaves[i, w] = OPEN
        if c.spare[i, w] != 0:
            continue
        if c.found.mode[i, w] == OPEN:
            u = wp.dot(relative_velocity(x, c, i, w), c.features.normal[i, w])
            c.leaves[i, w] = int(c.features.gap[i, w] < -NOISE and u < ZERO)  # one that parts is not reached
        elif c.found.mode[i, w] == SLIDES:
            c.leaves[i, w] = int(wp.dot(slip_of(x, c, i, w), c.slip[i, w]) < -NOISE)
    for r in range(slots, x.row_count[0, w]):
        if contact.is_normal(x, r, w):
            i = x.row_part[r, w]
            if row_leaves(m, x, r, w) > LEAVES:
                c.leaves[i, w] = OPENS
            elif c.found.mode[i, w] == STICKS:
                surface = surface_of(m, c, i, w)
                if surface.holding > ZERO:
                    if wp.length(across_of(m, x, r, w)) > LEAVES:
                        c.leaves[i, w] = SLIPS
    for i in range(c.found.count[0, w]):
        ended += int(c.leaves[i, w] != 0)
    for r in range(slots):
        gone = int(0)
        if kinds.is_limit(x, r, w):
            if s.mode[r, w] == ZERO:
                gone = int(limit.gap(m, s, x, r, w) < -NOISE)
            else:
                gone = int(row_leaves(m, x, r, w) > LEAVES)
        elif kinds.can_stick(x, r, w) and x.row_group[r, w] > 0 and friction.bound(m, r, w) > ZERO:
            if friction.slides(s, x, r, w):
                gone = int(friction.advance(m, s, x, r, w) < -NOISE)
            else:
                for k in range(x.row_group[r, w]):
                    if wp.abs(row_leaves(m, x, r + k, w)) > LEAVES:
                        gone = int(1)
        c.leaves[contacts + r, w] = gone
        ended += gone
    return ended


@wp.func(inline=False)
def locate_end(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    t: f64,
    size: f64,
    w: int,
) -> f64:
    """The part of a sub-step, all of whose stages there are, after which a first mode has just ended; 0: none."""
    set_within(m, s, x, ONE, size, w)
    evaluate_closed(m, s, x, c, t + size, STAGES, w)
    if note_ends(m, s, x, c, w) == 0:
        return ZERO
    near = ZERO
    far = ONE
    while (far - near) * size > SHARP and far - near > f64(1e-15):
        part = HALF * (near + far)
        set_within(m, s, x, part, size, w)
        evaluate_closed(m, s, x, c, t + part * size, STAGES, w)
        if note_ends(m, s, x, c, w) > 0:
            far = part
        else:
            near = part
    set_within(m, s, x, far, size, w)
    evaluate_closed(m, s, x, c, t + far * size, STAGES, w)
    note_ends(m, s, x, c, w)
    return far


@wp.func(inline=False)
def let_go_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], w: int
):
    """At the end of a sub-step: modes that end there, as c.leaves has it, do not hold any longer."""
    contacts = c.slip.shape[0]
    for i in range(c.found.count[0, w]):
        if c.leaves[i, w] == OPENS or c.leaves[i, w] == SLIPS:
            c.found.mode[i, w] = c.leaves[i, w]
    for r in range(m.slot_kind.shape[0]):
        if c.leaves[contacts + r, w] != 0:
            if kinds.is_limit(x, r, w):
                if s.mode[r, w] == ZERO:
                    c.leaves[contacts + r, w] = int(0)  # it is met
                s.mode[r, w] = ZERO
            elif friction.slides(s, x, r, w):
                c.leaves[contacts + r, w] = int(0)  # it comes to rest
            else:
                size = ZERO
                for k in range(x.row_group[r, w]):
                    size += s.impulse[r + k, w] * s.impulse[r + k, w]
                for k in range(x.row_group[r, w]):
                    s.mode[r + k, w] = -s.impulse[r + k, w] / wp.sqrt(wp.max(size, f64(1e-300)))


# impacts


@wp.func
def jumps(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> bool:
    """Whether a motor without bound is met by an impulse: its target's velocity has jumped."""
    if not kinds.is_drive(x, r, w) or not may_jump(m, s, x, r, t, w):
        return False
    return wp.abs(motor.jump(m, s, x, r, t, w)) > KINK * (ONE + wp.abs(motor.target_rate(m, x, r, t, w)))


@wp.func(inline=False)
def strike_contacts(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], t: f64, w: int
) -> bool:
    """Impulses of all that touches, with the equations holding; motors with a bound give none."""
    slots = m.slot_kind.shape[0]
    forget_rows(m, s, x, w)
    articulate(m, x, w)
    if m.bilateral.shape[0] > 0:
        factor_equations(m, x, t, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        set_row(x, r, -row_velocity(m, x, s.v, r, w), ZERO, -INFINITY, INFINITY, ZERO, w)
        if jumps(m, s, x, r, t, w):
            x.row_bias[r, w] = -kinds.target_rate(m, x, r, t, w)
        elif kinds.is_drive(x, r, w) and not kinds.holds(m, x, r, w):
            x.solved[r, w] = int(0)
    if m.bilateral.shape[0] > 0:
        factor_bilateral(m, x, w)
    slow = HALF * ZENO * wp.length(m.gravity[0, w])
    count = int(0)
    for r in range(slots):
        x.row_pseudo[r, w] = ZERO
        c.rebound[r, w] = ZERO
        if kinds.is_limit(x, r, w):
            if limit.gap(m, s, x, r, w) <= TOUCH:
                open_row(m, x, r, w)
                x.solved[r, w] = int(0)
                x.row_softness[r, w] = ZERO
                x.row_bias[r, w] = ZERO
                back = -limit.restitution(m, r, w) * row_velocity(m, x, s.v, r, w)
                if back > slow:
                    c.rebound[r, w] = back
                x.active[count, w] = r
                count += 1
    for i in range(c.found.count[0, w]):
        if c.spare[i, w] == 0 and c.features.gap[i, w] <= TOUCH and contact.has_room(m, x, w):
            strike_one(m, s, x, c, i, slow, w)
    rows = activate(m, x, count, w)
    for k in range(s.v.shape[0]):
        x.v_old[k, w] = s.v[k, w]
    error = solve_islands(m, x, c, s.v, x.row_pseudo, rows, SWEEPS, w)
    for r in range(x.row_count[0, w]):
        if r >= slots or kinds.is_limit(x, r, w) or kinds.is_drive(x, r, w):
            p = x.row_pseudo[r, w]
            if p != ZERO:
                work = p * HALF * (row_velocity(m, x, s.v, r, w) + row_velocity(m, x, x.v_old, r, w))
                if r >= slots:
                    s.contact_work[0, w] = s.contact_work[0, w] + work
                else:
                    s.work[r, w] = s.work[r, w] + work
    forget_rows(m, s, x, w)
    kinematics(m, s, x, ZERO, w)
    return error <= UNSOLVED


@wp.func(inline=False)
def strike_one(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    i: int,
    slow: f64,
    w: int,
):
    """Rows of contact i in an impact."""
    first = c.shapes.body[c.found.first[i, w]]
    second = c.shapes.body[c.found.second[i, w]]
    own = contact.along(first, second, c.features.place[i, w], c.features.normal[i, w], zero3())
    r = contact.append_pair(m, x, contact.NORMAL, i, own, ONE / (m.size[0] * m.size[0]), w)
    set_row(x, r, ZERO, ZERO, ZERO, INFINITY, ZERO, w)
    contact.answer(m, x, r, w)
    x.row_pseudo[r, w] = ZERO
    surface = surface_of(m, c, i, w)
    back = -surface.restitution * row_velocity(m, x, s.v, r, w)
    c.rebound[r, w] = ZERO
    if back > slow and back > STILL:
        c.rebound[r, w] = back
    if surface.friction > ZERO:
        bound = surface.friction
        if c.found.mode[i, w] == STICKS:
            bound = surface.holding
        across = contact.append_across(m, s, x, r, False, bound, zero3(), zero3(), w)
        for k in range(2):
            x.row_pseudo[across + k, w] = ZERO
            c.rebound[across + k, w] = ZERO


@wp.func(inline=False)
def settle_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], t: f64, w: int
) -> bool:
    """Impacts and new modes of the present state, whose accelerations are left in stage 0; False: left to impulses."""
    tries = int(0)
    struck = int(0)
    while tries < TRIES:
        kinematics(m, s, x, ZERO, w)
        follow_contacts(x, c, w)
        struck = find_closed(m, s, x, c, w)
        for i in range(m.bilateral.shape[0]):
            struck += int(jumps(m, s, x, m.bilateral[i], t, w))
        if struck > 0:
            if not strike_contacts(m, s, x, c, t, w):
                return False
            tries += 1
        else:
            tries = int(TRIES)
    if struck > 0:
        return False
    for r in range(m.slot_kind.shape[0]):
        c.leaves[c.slip.shape[0] + r, w] = int(0)
    choose_feedback(m, s, x, t, True, w)
    tries = int(0)
    while tries < TRIES:
        if not evaluate_closed(m, s, x, c, t, 0, w):
            return False
        if change_closed(m, s, x, c, w) == 0:
            return True
        tries += 1
    return False


@wp.func(inline=False)
def project_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], t: f64, w: int
):
    """After a smooth sub-step, whose contacts have been found: no velocity in what is closed, sticks or holds."""
    articulate(m, x, w)
    if m.bilateral.shape[0] > 0:
        factor_held(m, x, t, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.row_pseudo[r, w] = ZERO
        x.row_bias[r, w] = velocity_error(m, s, x, r, t, 0, w) - row_velocity(m, x, s.v, r, w)
    for i in range(c.found.count[0, w]):
        if c.found.mode[i, w] > OPEN and contact.has_room(m, x, w):
            r = contact.append_normal(m, s, x, c.shapes, c.found, i, ZERO, -INFINITY, w)
            x.row_softness[r, w] = YIELD / wp.max(x.row_mass[r, w], f64(1e-300))
            x.row_pseudo[r, w] = ZERO
            if c.found.mode[i, w] == STICKS:
                across = contact.append_across(m, s, x, r, False, INFINITY, zero3(), zero3(), w)
                for k in range(2):
                    x.row_group[across + k, w] = int(1)
                    x.row_bound_of[across + k, w] = int(-1)
                    x.row_softness[across + k, w] = YIELD / wp.max(x.row_mass[across + k, w], f64(1e-300))
                    x.row_pseudo[across + k, w] = ZERO
    for r in range(x.row_count[0, w]):
        c.rebound[r, w] = ZERO
    rows = activate(m, x, 0, w)
    solve_islands(m, x, c, s.v, x.row_pseudo, rows, SWEEPS, w)
    forget_rows(m, s, x, w)
    kinematics(m, s, x, ZERO, w)
