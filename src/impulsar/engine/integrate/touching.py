"""Sub-steps of a world with contact: free ones as long as nothing can touch, else with contacts.

A nominal step goes on by smooth sub-steps while the time to the next touch allows it (conservative advancement). From
shortly before a touch on, sub-steps have contacts: of the method's impulse step, not longer than it takes what is fast
to reach another body, and as long as the nominal step where everything is at rest.
"""

import warp as wp

from ..constrain import kinds
from ..constrain.contact import SLIDES
from ..options import Option
from ..solve.islands import ContactArrays
from ..spatial import HALF, ONE, TWO, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import just_before, next_knot, snap_to_knot
from .books import keep_books
from .closed import (
    begin_contacts,
    evaluate_closed,
    let_go_closed,
    locate_end,
    note_ends,
    project_closed,
    settle_closed,
)
from .contacts import contact_step, detect, forget_rows, project_contacts, shape_speed, time_to_touch, touches
from .control import keep_reach, next_size, return_to_start, save_start, set_stage, set_within, step_error
from .impulsive import needs_impulses
from .modes import MOST_EVENTS
from .pairs import B_AT, C_AT, EXPLICIT, STAGES
from .substeps import (
    CROWDED,
    IMPULSIVE,
    MUST_BE_IMPULSIVE,
    SMOOTH,
    SNAP,
    TINY_STEP,
    Progress,
    by_modes,
    pass_by,
    refresh_geometry,
    take_smooth,
    wished_size,
)
from .substeps import LEAST as LEAST_STEP

SHORT = wp.constant(wp.float64(0.9))  # of the time to a touch bodies move freely
LEAST = wp.constant(wp.float64(0.05))  # of an impulse step: a free sub-step that is not worth while
MOST_EVALUATIONS = 2000  # of a nominal step, beyond which contacts are left to impulses
FEW = 8  # contacts whose modes are kept even if nothing moves
RESTS = wp.constant(wp.float64(1e-4))  # of a shape's size in a step: it is at rest


@wp.func
def is_calm(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], h: f64, w: int) -> bool:
    """Whether nothing moves, and no contact slides."""
    for i in range(c.found.count[0, w]):
        if c.found.mode[i, w] == SLIDES:
            return False
    for shape in range(c.shapes.kind.shape[0]):
        if h * shape_speed(x, c, shape, w) > RESTS * c.shapes.reach[shape]:
            return False
    return True


@wp.func(inline=False)
def free_span(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], size: f64, w: int) -> f64:
    """How long bodies move freely from here, at most `size` [s]; 0 where contacts act. Contacts have been found."""
    if c.found.pair_count[0, w] == 0:
        return size
    if touches(c, w):
        return ZERO
    free = SHORT * time_to_touch(m, x, c, size, False, w)
    if free < LEAST * m.options[Option.impulse_step]:
        return ZERO
    return wp.min(free, size)


@wp.func(inline=False)
def take_contact(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    start: Progress,
    is_last: bool,
    w: int,
) -> Progress:
    """One sub-step with contacts; contacts have been found for the rest of the nominal step."""
    p = start
    size = wp.min(m.options[Option.impulse_step], p.left)
    if m.options[Option.fixed] > ZERO:
        size = m.options[Option.fixed] * m.nominal_h[0]
    else:
        if c.found.count[0, w] > 0 and is_calm(x, c, p.left, w):
            size = p.left
        size = wp.min(size, next_knot(m, p.t, p.t + size, w) - p.t)
        least = LEAST * m.options[Option.impulse_step]
        size = wp.min(size, wp.max(time_to_touch(m, x, c, size, True, w), least))
    p = pass_by(m, x, p, size, w)
    c.bounded.factors[0, w] = int(0)
    contact_step(m, s, x, c, start.t, size, is_last and p.left == ZERO, w)
    p.evaluations += 1 + c.bounded.factors[0, w]
    p.mode = IMPULSIVE
    p.ready = int(0)
    return p


@wp.func
def keep_contact_work(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], c: wp.ref[ContactArrays], size: f64, w: int):
    """What contacts did over a smooth sub-step."""
    for j in range(STAGES):
        s.contact_work[0, w] = s.contact_work[0, w] + size * m.tableau[EXPLICIT + B_AT + j] * c.power[j, w]


@wp.func
def leave_closed(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, goes_back: bool, w: int
) -> Progress:
    """Leave the sub-step to impulses, from where it began."""
    p = start
    forget_rows(m, s, x, w)
    if goes_back:
        return_to_start(s, x, w)
    refresh_geometry(m, s, x, w)
    p.mode = MUST_BE_IMPULSIVE
    p.landing = ZERO
    p.ready = int(0)
    p.known = int(0)
    p.crowded = CROWDED
    return p


@wp.func(inline=False)
def take_closed(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    start: Progress,
    size: f64,
    w: int,
) -> Progress:
    """Try one smooth sub-step with contacts in their modes; see closed.py."""
    p = start
    if p.ready == 0:
        if not settle_closed(m, s, x, c, p.t, w):
            return leave_closed(m, s, x, p, False, w)
        p.evaluations += 1
    save_start(s, x, w)
    end = just_before(snap_to_knot(m, p.t + size, SNAP * m.nominal_h[0], w))
    ended = int(0)
    for stage in range(1, STAGES):
        set_stage(m, s, x, stage, size, w)
        at = p.t + m.tableau[EXPLICIT + C_AT + stage] * size
        if at >= p.t + size:
            at = end
        if not evaluate_closed(m, s, x, c, at, stage, w):
            return leave_closed(m, s, x, p, True, w)
        p.evaluations += 1
        if p.landing == ZERO and ended == 0:
            ended = note_ends(m, s, x, c, w)
    error = step_error(m, s, x, size, m.options[Option.rtol], m.options[Option.atol], w)
    if not wp.isfinite(error):
        return leave_closed(m, s, x, p, True, w)
    p.ready = int(1)
    p.known = int(1)
    if error > ONE or ended > 0:
        landing = ZERO
        if error <= ONE:
            landing = size * locate_end(m, s, x, c, p.t, size, w)
        if error > ONE or landing > ZERO:
            forget_rows(m, s, x, w)
            return_to_start(s, x, w)
            refresh_geometry(m, s, x, w)
            p.landing = landing
            if error > ONE:
                p.h = next_size(size, error, f64(5.0))
                if size < LEAST_STEP * m.nominal_h[0]:
                    return leave_closed(m, s, x, p, False, w)
            elif landing <= TINY_STEP * m.nominal_h[0]:
                p = end_mode(m, s, x, c, p, w)
            return p
        set_within(m, s, x, ONE, size, w)
    keep_books(m, s, x, EXPLICIT, size, w)
    keep_contact_work(m, s, c, size, w)
    keep_reach(m, s, w)
    forget_rows(m, s, x, w)
    refresh_geometry(m, s, x, w)
    if size >= HALF * p.h or error > HALF:
        p.h = next_size(size, error, f64(5.0))
    p = pass_by(m, x, p, size, w)
    if p.landing > ZERO:
        p = end_mode(m, s, x, c, p, w)
    for i in range(m.bilateral.shape[0]):
        x.solved[m.bilateral[i], w] = int(
            kinds.is_equation(x, m.bilateral[i], w) and m.basis[m.bilateral[i], w] != ZERO
        )
    project_contacts(m, s, x, c, p.t, p.left, w)
    project_closed(m, s, x, c, p.t, w)
    p.mode = SMOOTH
    p.ready = int(0)
    p.known = int(0)
    return p


@wp.func
def end_mode(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    start: Progress,
    w: int,
) -> Progress:
    """Modes end here; by impulses from here on if they end too often."""
    p = start
    let_go_closed(m, s, x, c, w)
    p.landing = ZERO
    p.ready = int(0)
    p.events += 1
    if p.events > MOST_EVENTS:
        p.crowded = CROWDED
    return p


@wp.func(inline=False)
def advance(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    start: Progress,
    is_last: bool,
    w: int,
) -> Progress:
    """One sub-step of a world with contact, whichever it has to be."""
    p = start
    if p.known == 0:
        detect(m, x, c, p.left, w)
    known = p.known
    p.known = int(0)
    if m.options[Option.fixed] > ZERO or p.stiff != 0 or p.mode == MUST_BE_IMPULSIVE:
        return take_contact(m, s, x, c, p, is_last, w)
    size = wished_size(m, p, w)
    if p.evaluations > MOST_EVALUATIONS and c.found.pair_count[0, w] > 0:
        p.crowded = CROWDED
    if c.found.pair_count[0, w] > 0 and m.options[Option.modes] != ZERO and p.crowded == 0 and p.pair == EXPLICIT:
        if not (c.found.count[0, w] > FEW and is_calm(x, c, p.left, w)):  # impulses are exact there, and cheap
            least = LEAST * m.options[Option.impulse_step]
            free = SHORT * time_to_touch(m, x, c, size, False, w)
            if (touches(c, w) or free < least) and (known != 0 or begin_contacts(m, x, c, w)):
                if p.landing == ZERO:
                    size = wp.min(size, wp.max(free, TWO * least))
                return take_closed(m, s, x, c, p, size, w)
    free = free_span(m, x, c, size, w)
    if free == ZERO or (not by_modes(m, x, p) and needs_impulses(m, s, x, p.t, free, w)):
        p.landing = ZERO
        return take_contact(m, s, x, c, p, is_last, w)
    return take_smooth(m, s, x, p, free, w)
