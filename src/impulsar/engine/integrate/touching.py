"""Sub-steps of a world with contact: free ones as long as nothing can touch, else with contacts.

A nominal step goes on by smooth sub-steps while the time to the next touch allows it (conservative advancement). From
shortly before a touch on, sub-steps have contacts: of the method's impulse step, not longer than it takes what is fast
to reach another body, and as long as the nominal step where everything is at rest.
"""

import warp as wp

from ..constrain.contact import SLIDES
from ..options import Option
from ..solve.islands import ContactArrays
from ..spatial import ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import next_knot
from .contacts import contact_step, detect, shape_speed, time_to_touch, touches
from .impulsive import needs_impulses
from .substeps import IMPULSIVE, MUST_BE_IMPULSIVE, Progress, by_modes, pass_by, take_smooth, wished_size

SHORT = wp.constant(wp.float64(0.9))  # of the time to a touch bodies move freely
LEAST = wp.constant(wp.float64(0.05))  # of an impulse step: a free sub-step that is not worth while
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
    p = pass_by(m, p, size, w)
    c.bounded.factors[0, w] = int(0)
    contact_step(m, s, x, c, start.t, size, is_last and p.left == ZERO, w)
    p.evaluations += 1 + c.bounded.factors[0, w]
    p.mode = IMPULSIVE
    p.ready = int(0)
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
    detect(m, x, c, p.left, w)
    if m.options[Option.fixed] > ZERO or p.stiff != 0 or p.mode == MUST_BE_IMPULSIVE:
        return take_contact(m, s, x, c, p, is_last, w)
    size = wished_size(m, p, w)
    free = free_span(m, x, c, size, w)
    if free == ZERO or (not by_modes(m, x, p) and needs_impulses(m, s, x, p.t, free, w)):
        p.landing = ZERO
        return take_contact(m, s, x, c, p, is_last, w)
    return take_smooth(m, s, x, p, free, w)
