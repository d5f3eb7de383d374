"""Sub-steps inside a nominal step: their sizes by error control, the choice of the pair, impulses, projection.

Near a singular position stages are brought onto the joints before they are evaluated, and a sub-step whose stages come
too near is not made finer but chosen anew so that it passes the position between its stages (`aim`).
"""

import warp as wp

from ..constrain import kinds
from ..constrain.frames import follow_loops
from ..coordinates.tree import kinematics, row_velocity
from ..ledger import ledger_size
from ..options import Option
from ..solve.direct import dependent_below, factor_bilateral
from ..solve.project import project_velocities
from ..solve.saturate import ball_is_weak
from ..spatial import HALF, INFINITY, ONE, TWO, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import just_before, next_knot, snap_to_knot
from ..system.measured import FORCES, TORN, UNDERFLOW, WORK
from .books import keep_books
from .closing import FEEDBACK, OPEN, SMOOTH_ERROR, SNAP, close_joints, follow_jumps, may_jump
from .control import (
    Kept,
    keep_reach,
    next_size,
    return_to_start,
    reuse_last_stage,
    save_start,
    set_stage,
    step_error,
    work_error,
)
from .evaluate import choose_feedback, evaluate
from .events import locate
from .impulsive import TOUCH, impulsive_step, limits_passed, short_of_limits
from .inner import clear_inner_stages
from .modes import (
    MOST_EVENTS,
    close_locked,
    find_rest,
    follow_slip,
    has_modes,
    is_surface,
    let_go,
    most_tries,
    settle_modes,
    start_watch,
    watch,
)
from .pairs import C_AT, COUNT_AT, EXPLICIT, IMPLICIT, SOLVES, STAGES
from .rosenbrock import factor_soft, finish_stage, implicit_error, set_implicit_stage
from .stiff_joints import is_lost
from .surfaces import has_surfaces, is_rough

NEGLIGIBLE = wp.constant(wp.float64(0.3))  # a projection this small against atol leaves the derivatives valid
PER_SUB_STEP = wp.constant(wp.float64(7.0))  # evaluations, at most
SMOOTH, IMPULSIVE, MUST_BE_IMPULSIVE = 0, 1, 2  # Progress.mode
END = wp.constant(wp.float64(1e-9))  # of a nominal step: so little left is nothing
FAST = wp.constant(wp.float64(2.5))  # rate times sub-step beyond which stability may set it: the pair ends at 3.3
EVALUATIONS = wp.constant(wp.float64(6.0))  # of an explicit sub-step
PATIENCE = wp.constant(wp.float64(50.0))  # nominal steps before the pair that was more work is tried again
GUARD = wp.constant(wp.float64(1e6))  # evaluations in a nominal step beyond which it is given up
MOST_SWEEPS = wp.constant(wp.float64(5000.0))  # of an impulsive sub-step
MUCH_WORK = wp.constant(wp.float64(2500.0))  # evaluations
COARSEST = wp.constant(wp.float64(1e-2))  # tolerance beyond the limit of work
LEAST = wp.constant(wp.float64(1e-12))  # of a nominal step: a sub-step so small cannot be taken
SHORT = wp.constant(wp.float64(1e-4))  # of a nominal step: a sub-step so short is not made shorter for a motor's work
# of motors near a singular position: an error of one stage shows a hundredth of itself in the estimate
WORK_TOLERANCE = wp.constant(wp.float64(1e-10))
WORK_NOISE = wp.constant(wp.float64(1e-8))  # of the energy there is, at most, where rounding makes more of it
BOOKED = wp.constant(wp.float64(0.1))  # of rtol: error of motors' work in a sub-step, of the energy there is
CAUTION = wp.constant(wp.float64(20.0))  # times tighter: by a singular position or a rough surface estimates are low
MIDST = wp.constant(wp.float64(0.55))  # of a sub-step: there, between far stages, it passes a singular position
BETWEEN = wp.constant(wp.float64(0.15))  # of the way of such a sub-step no stage is nearer to the singular position
TINY = wp.constant(wp.float64(1e-300))
ROUNDING = wp.constant(wp.float64(1e-15))  # of positions [m, rad]
TINY_STEP = wp.constant(wp.float64(1e-11))  # of a nominal step: a change of mode so near is here
FELT = wp.constant(wp.float64(1e-3))  # error of a sub-step, of its tolerance, above which a surface in it bends forces
MARGIN = wp.constant(wp.float64(1e-3))  # of the way to such a surface, that a sub-step ends short of it
HOP = wp.constant(wp.float64(1e-9))  # of a nominal step: from so near it is passed
MOST_LANDINGS = 60  # at surfaces in a nominal step; the rest of it is left to error control
CROWDED = 5  # nominal steps that friction and limits are left to impulses where their changes crowd
JUMP = wp.constant(wp.float64(1e-9))  # velocity error at the start of a step that is an impulse [m/s, rad/s]


@wp.func(inline=False)
def start_with_impulse(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, weakest: f64, w: int
) -> int:
    """Bring velocities onto the rows, motors to a target whose velocity jumped; returns 1 if they changed."""
    if m.options[Option.closing] == FEEDBACK:
        return follow_jumps(m, s, x, t, w)
    worst = ZERO
    left_out = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            if may_jump(m, s, x, r, t, w):
                worst = wp.max(worst, wp.abs(row_velocity(m, x, s.v, r, w) - kinds.target_rate(m, x, r, t, w)))
            else:
                left_out += 1
    if worst <= JUMP:
        if worst > SMOOTH_ERROR or weakest < m.weak[0, w]:
            project_velocities(m, s, x, t, 0, w)
        return 0
    if left_out > 0:
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            if x.solved[r, w] != 0 and not may_jump(m, s, x, r, t, w):
                x.solved[r, w] = int(0)
        factor_bilateral(m, x, w)
    project_velocities(m, s, x, t, 1, w)
    return 1


@wp.func
def refresh_geometry(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int):
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)


@wp.struct
class Progress:
    """Where a nominal step stands."""

    t: f64  # [s]
    left: f64  # of the nominal step [s]
    h: f64  # sub-step that error control wishes [s]
    evaluations: wp.int32
    sub_steps: wp.int32
    ready: wp.int32  # 1: stage 0 holds the derivatives of the present state
    mode: wp.int32  # of the last sub-step, or what the next one has to be
    pair: wp.int32  # of smooth sub-steps: EXPLICIT or IMPLICIT
    rate: f64  # fastest rate of the compliant rows, if the implicit pair was used [1/s]
    stiff: wp.int32  # 1: too stiff for the work allowed; compliant rows of impulsive sub-steps are stable
    fresh: wp.int32  # 1: nothing is known yet of how large sub-steps may be
    cut: wp.int32  # 1: the limit of work ended error control
    coarse: f64  # worst error of a sub-step beyond the limit of work, of its tolerance
    weakest: f64  # strength of the weakest row in the stages of the sub-step
    first: f64  # the same in the stage at its start,
    second: f64  # and in the two
    third: f64  # that follow,
    last: f64  # and in the last
    pace: f64  # rate of the distance from a singular position, the root of that strength
    aimed: wp.int32  # 1: the sub-step was chosen to pass a singular position between its stages
    broken: wp.int32  # why the step cannot be taken; see measure
    kink: wp.int32  # 1: an input bends or jumps at t
    crossed: f64  # part of the sub-step at which a stage saw a change of mode, 0: none
    landing: f64  # size of a sub-step that ends at one, 0: none does [s]
    events: wp.int32  # changes of mode in the nominal step
    surfaces: wp.int32  # and sub-steps that end at a surface, or short of it: see surfaces.py
    crowded: wp.int32  # nominal steps that friction and limits are left to impulses
    known: wp.int32  # 1: the contacts of this pose have been found


@wp.func
def by_modes(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], p: Progress) -> bool:
    """Whether friction and limits have modes now: not where they are left to impulses, nor with the implicit pair."""
    return has_modes(m, x) and p.crowded == 0 and p.pair == EXPLICIT


@wp.func
def watches(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], p: Progress) -> bool:
    """Whether a sub-step is to end where a mode changes or a surface is passed."""
    return by_modes(m, x, p) or (has_surfaces(m) and p.surfaces < MOST_LANDINGS and p.pair == EXPLICIT)


@wp.func
def begin(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int) -> Progress:
    """The start of a nominal step."""
    p = Progress()
    p.t = snap_to_knot(m, s.time[0, w], SNAP * m.nominal_h[0], w)
    p.left = m.nominal_h[0]
    p.h = wp.abs(s.method[Kept.next_h, w])
    if p.h == ZERO:
        p.h = f64(0.1) * p.left
        p.fresh = int(1)
    if m.options[Option.steady] != ZERO:
        p.h = p.left
    p.mode = SMOOTH
    p.crowded = int(s.method[Kept.crowded, w])
    p.pair = EXPLICIT
    choice = int(m.options[Option.pair])
    if m.solvable.shape[0] > m.bilateral.shape[0] and (choice == 2 or (choice == 0 and s.method[Kept.pair, w] > ZERO)):
        p.pair = IMPLICIT
    if s.method[Kept.next_h, w] < ZERO and m.options[Option.limit] * p.h < PER_SUB_STEP * p.left:
        p.stiff = int(1)
    return p


@wp.func
def wished_size(m: wp.ref[SystemArrays], p: Progress, w: int) -> f64:
    """Size of a smooth sub-step: what error control wishes, but not beyond a kink of the inputs or the end."""
    if p.landing > ZERO:
        return p.landing
    size = wp.min(p.h, p.left)
    end = p.t + p.left
    knot = next_knot(m, p.t, end, w)
    if knot < end - SNAP * m.nominal_h[0]:
        size = wp.min(size, knot - p.t)
    if size < p.left and size > HALF * p.left:
        size = HALF * p.left  # two even steps, not a long one and a sliver
    return size


@wp.func
def pass_by(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], start: Progress, size: f64, w: int) -> Progress:
    """The clock after a sub-step; its time is noted where somebody asked for it."""
    p = start
    p.t += size
    reach = SNAP * m.nominal_h[0]
    knot = next_knot(m, p.t - reach, p.t + reach, w)
    p.kink = int(knot < p.t + reach)
    if p.kink != 0:
        p.t = knot
    p.left -= size
    if p.left < END * m.nominal_h[0]:
        p.left = ZERO
    if p.sub_steps < x.trace.shape[0]:
        x.trace[p.sub_steps, w] = p.t
    p.sub_steps += 1
    return p


@wp.func(inline=False)
def take_impulsive(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, is_last: bool, w: int
) -> Progress:
    """One impulsive sub-step: of fixed size, or of at most the method's impulse step."""
    p = start
    beat = m.options[Option.impulse_step]
    size = wp.min(beat, p.left)
    if m.options[Option.fixed] > ZERO:
        beat = m.options[Option.fixed] * m.nominal_h[0]
        size = beat
    else:
        size = wp.min(size, next_knot(m, p.t, p.t + size, w) - p.t)
        size = short_of_limits(m, s, x, size, TOUCH * beat, w)
        if p.stiff != 0:
            p.cut = int(1)
            p.coarse = INFINITY
    ends = p.left - size < END * m.nominal_h[0]
    limit = int(wp.min(m.options[Option.limit], MOST_SWEEPS))
    midway = m.options[Option.fixed] == ZERO
    p.evaluations += impulsive_step(
        m, s, x, p.t, size, beat, m.options[Option.epsilon], limit, midway, is_last and ends, w
    )
    p.mode = IMPULSIVE
    p.ready = int(0)
    return pass_by(m, x, p, size, w)


@wp.func
def keep_step(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, size: f64, off: f64, w: int
) -> Progress:
    """After an accepted smooth sub-step: its books, its clock, and its last stage as the first of the next."""
    keep_books(m, s, x, start.pair, size, w)
    keep_reach(m, s, w)
    s.last_h[0, w] = ZERO  # forces of an instant are no warm start
    p = pass_by(m, x, start, size, w)
    p.mode = SMOOTH
    p.ready = int(0)
    p.aimed = int(0)
    if off <= NEGLIGIBLE * m.options[Option.atol] and p.kink == 0:
        reuse_last_stage(m, s, x, stages_of(p) - 1, w)
        p.first = p.last
        p.ready = int(1)
    return p


@wp.func
def stages_of(p: Progress) -> int:
    """Evaluations of a smooth sub-step, the one at its end included."""
    if p.pair == IMPLICIT:
        return SOLVES + 1
    return STAGES


@wp.func
def next_stage(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], pair: int, stage: int, w: int
) -> int:
    """The stage after one: a formula of fewer has none between them and the last, and 0 in their places."""
    if pair == EXPLICIT and stage + 1 == int(m.tableau[COUNT_AT]) and stage + 1 < STAGES - 1:
        n_book = ledger_size(m.slot_kind.shape[0], m.load_body.shape[0], m.fluid_channel.shape[0])
        for k in range((stage + 1) * s.q.shape[0], (STAGES - 1) * s.q.shape[0]):
            x.k_q[k, w] = ZERO
        for k in range((stage + 1) * s.v.shape[0], (STAGES - 1) * s.v.shape[0]):
            x.k_v[k, w] = ZERO
        for k in range((stage + 1) * n_book, (STAGES - 1) * n_book):
            x.k_book[k, w] = ZERO
        clear_inner_stages(s, x, stage + 1, STAGES - 1, w)
        return STAGES - 1
    return stage + 1


@wp.func
def much_work(m: wp.ref[SystemArrays]) -> f64:
    """Evaluations in a nominal step that are a reason to try the implicit pair."""
    return wp.min(MUCH_WORK, HALF * m.options[Option.limit])


@wp.func
def first_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], pair: int, size: f64, w: int) -> int:
    """The pair to begin with: implicit if explicit sub-steps as long as stability allows are too much work.

    It would find out by itself, but leave the fast springs vibrating.
    """
    if m.options[Option.pair] == ZERO and m.solvable.shape[0] > m.bilateral.shape[0]:
        rate = factor_soft(m, x, size, w)
        if EVALUATIONS * rate * m.nominal_h[0] > FAST * much_work(m):
            return IMPLICIT
    return pair


@wp.func
def note_strength(start: Progress, stage: int, weakest: f64) -> Progress:
    """Of the weakest row in a stage."""
    p = start
    p.weakest = wp.min(p.weakest, weakest)
    p.last = weakest
    if stage == 0:
        p.first = weakest
    elif stage == 1:
        p.second = weakest
    elif stage == 2:
        p.third = weakest
    return p


@wp.func
def see_change(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], p: Progress, stage: int, t: f64, w: int
) -> f64:
    """Part of the sub-step at which a stage saw a change first, 0: none has yet, or it ends at one."""
    if p.crossed > ZERO or p.landing > ZERO or not watches(m, x, p):
        return p.crossed
    if stage == 0:
        start_watch(m, x, t, w)
    elif watch(m, s, x, x.watch_end, t, by_modes(m, x, p), w):
        return m.tableau[p.pair + C_AT + stage]
    return ZERO


@wp.func
def run_stages(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, size: f64, w: int
) -> Progress:
    """Evaluate the stages of a smooth sub-step that are not ready; leaves the state at its end.

    At the end of the nominal step, with nothing left, only the first stage, for reports. Stops after the
    first where a motor is too weak. One call of `evaluate`, because every call is a copy of it.
    """
    p = start
    p.weakest = ONE
    p.crossed = ZERO
    stage = int(0)
    jumped = int(0)
    tries = int(0)
    modal = by_modes(m, x, p) and p.left > ZERO
    if p.pair == IMPLICIT:
        x.lock_count[0, w] = int(0)
    end = just_before(snap_to_knot(m, p.t + size, SNAP * m.nominal_h[0], w))  # what jumps there is of the next
    while stage < stages_of(p):
        if stage > 0:
            if p.pair == IMPLICIT:
                set_implicit_stage(m, s, x, stage, size, w)
            else:
                set_stage(m, s, x, stage, size, w)
        at = p.t + m.tableau[p.pair + C_AT + stage] * size
        if (stage > 0 or p.left <= ZERO) and at >= p.t + size:
            at = end
        if stage == 0 and m.options[Option.closing] != FEEDBACK and choose_feedback(m, s, x, at, p.ready == 0, w) > 0:
            p.ready = int(0)
        if stage == 0 and modal:
            if p.ready == 0 and not find_rest(m, s, x, w):
                p.mode = MUST_BE_IMPULSIVE
                return p
            follow_slip(m, s, x, w)
        if stage > 0 or p.ready == 0:
            if p.left <= ZERO:  # what a motor gives without setting itself right
                for r in range(x.push.shape[0]):
                    x.push[r, w] = ZERO
            p = note_strength(p, stage, evaluate(m, s, x, at, stage, w))
            if p.left <= ZERO:
                return p
            p.evaluations += 1
            if stage == 0 and m.solvable.shape[0] > m.bilateral.shape[0] and is_lost(m, x, w):
                p.mode = MUST_BE_IMPULSIVE
                return p
            if stage == 0 and not finite_stage(s, x, w):
                p.broken = FORCES
                return p
        if ball_is_weak(m, x, w):
            if stage > 0:
                return_to_start(s, x, w)
                refresh_geometry(m, s, x, w)
            p.mode = MUST_BE_IMPULSIVE
            return p
        if stage == 0 and p.ready == 0 and m.bilateral.shape[0] > 0 and jumped == 0:
            jumped = int(1)
            if start_with_impulse(m, s, x, p.t, p.first, w) != 0:
                continue
        if modal and stage == 0 and p.ready == 0 and not settle_modes(m, s, x, w):
            tries += 1
            if tries <= most_tries(x):
                continue
            p.mode = MUST_BE_IMPULSIVE
            return p
        p.crossed = see_change(m, s, x, p, stage, at, w)
        if p.fresh != 0:
            p.fresh = int(0)
            p.pair = first_pair(m, x, p.pair, size, w)
            if modal and p.pair == IMPLICIT:
                p.mode = MUST_BE_IMPULSIVE
                return p
        if p.pair == IMPLICIT and stage < SOLVES:
            p.rate = wp.max(p.rate, finish_stage(m, s, x, stage, size, w))
        if stage == 0:
            save_start(s, x, w)
        stage = next_stage(m, s, x, p.pair, stage, w)
    p.ready = int(p.pair == EXPLICIT)  # the implicit pair overwrites its first stage
    return p


@wp.func(inline=False)
def take_smooth(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, size: f64, w: int
) -> Progress:
    """Try one smooth sub-step; where a limit or a weak motor is in the way the next one is impulsive."""
    p = run_stages(m, s, x, start, size, w)
    if p.mode == MUST_BE_IMPULSIVE or p.left <= ZERO or p.broken != 0:
        return p
    error = ZERO
    order = f64(5.0)  # of its error estimate in the size
    work_tolerance = BOOKED * m.options[Option.rtol]
    if p.pair == IMPLICIT:
        error = implicit_error(m, s, x, size, m.options[Option.rtol], m.options[Option.atol], w)
        order = f64(3.0)
    else:
        error = step_error(m, s, x, size, m.options[Option.rtol], m.options[Option.atol], w)
    if p.weakest < m.weak[0, w]:
        of_speed, of_work = noise(m, s, p, size, w)
        error *= CAUTION / (ONE + of_speed / m.options[Option.atol])
        work_tolerance = WORK_TOLERANCE + of_work
    if is_rough(m, x, w):
        error *= CAUTION
    if p.pair == EXPLICIT and m.bilateral.shape[0] > 0 and size > SHORT * m.nominal_h[0]:
        error = wp.max(error, work_error(m, s, x, size, work_tolerance, w))
    allowed = ONE
    if p.coarse > ZERO:
        allowed = COARSEST / m.options[Option.rtol]
    modal = by_modes(m, x, p)
    passed = not modal and limits_passed(m, s, x, w)
    opened = bool(False)
    if p.crossed > ZERO and p.pair == EXPLICIT:
        p = find_landing(m, s, x, p, size, error / allowed, w)
        if p.crossed > ZERO:
            return p
    if error <= allowed and not passed:
        off, left = close_joints(m, s, x, p.t + size, p.weakest, w)
        opened = not (left <= OPEN)
        if not opened:
            if modal:
                close_locked(m, s, x, w)
            if p.coarse > ZERO:
                p.coarse = wp.max(p.coarse, error)
            if size >= HALF * p.h or error > HALF * allowed:
                p.h = next_size(size, error / allowed, order)
            p = keep_step(m, s, x, p, size, off, w)
            if p.landing > ZERO:
                p = change_modes(m, s, x, p, w)
            return p
    p.landing = ZERO
    return_to_start(s, x, w)
    refresh_geometry(m, s, x, w)
    if opened:
        p.h = HALF * size
    elif passed:
        p.mode = MUST_BE_IMPULSIVE
    elif wp.isfinite(error):
        p.h = next_size(size, error / allowed, order)
        if p.weakest < m.weak[0, w] and p.pair == EXPLICIT and p.aimed == 0:
            p = aim(m, p, size)
    else:
        p.h = f64(0.1) * size
    if size < LEAST * m.nominal_h[0]:
        p.broken = UNDERFLOW
        if opened:
            p.broken = TORN
    return p


@wp.func
def find_landing(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    start: Progress,
    size: f64,
    error: f64,
    w: int,
) -> Progress:
    """After a sub-step in which a mode changed or a surface was passed: back to its start, and how far to go then.

    p.crossed is 0 where there is nothing to land at, or the sub-step is too coarse to tell. Forces jump where a flat
    face goes in: a sub-step that feels it ends short of there, nearer and nearer, and at last hops over it.
    """
    p = start
    modal = by_modes(m, x, p)
    if not (error <= ONE or (wp.isfinite(error) and is_surface(x, w))):
        p.crossed = ZERO
        return p
    part = locate(m, s, x, p.t, size, p.crossed, modal, w)
    if part == ZERO or (error > ONE and not is_surface(x, w)):
        p.crossed = ZERO
        return p
    return_to_start(s, x, w)
    refresh_geometry(m, s, x, w)
    p.landing = size * part
    if not is_surface(x, w):
        if p.landing <= TINY_STEP * m.nominal_h[0]:
            p = change_modes(m, s, x, p, w)
    elif error <= FELT:
        p.landing = wp.max(p.landing, TINY_STEP * m.nominal_h[0])
    elif p.landing <= HOP * m.nominal_h[0]:
        p.landing = TWO * p.landing
    else:
        p.landing = (ONE - MARGIN) * p.landing
    return p


@wp.func
def change_modes(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, w: int
) -> Progress:
    """At the end of a sub-step that ends at a change: the next begins anew, by impulses if changes of mode crowd."""
    p = start
    if let_go(m, s, x, w) > 0:
        p.events += 1
    else:
        p.surfaces += 1
    p.landing = ZERO
    p.ready = int(0)
    if p.events > MOST_EVENTS:
        p.crowded = CROWDED
    return p


@wp.func
def aim(m: wp.ref[SystemArrays], start: Progress, size: f64) -> Progress:
    """After a sub-step whose stages came too near to a singular position: one that passes it between its stages.

    Finer sub-steps would come nearer still, with more noise. The distance from it is the root of the strength, and
    linear in time with the sign that fits the first three stages best. Where the sub-step would be longer than what
    is left of the nominal step, one that leaves the right rest comes before.
    """
    p = start
    a = wp.sqrt(p.first)
    b = wp.sqrt(p.second)
    c = wp.sqrt(p.third)
    span = m.tableau[C_AT + 2] * size
    middle = m.tableau[C_AT + 1] / m.tableau[C_AT + 2]
    best = INFINITY
    ahead = ZERO
    for k in range(3):  # it comes after these stages, if at all; between the last two; between the first two
        if k == 1:
            c = -c
        elif k == 2:
            b = -b
        off = wp.abs(a + (c - a) * middle - b)
        if off < best:
            best = off
            ahead = ZERO
            if a > c:
                ahead = span * a / (a - c)
                p.pace = (a - c) / span
    if ahead == ZERO:
        return p
    p.h = ahead / MIDST
    if p.h > p.left:
        p.h = (ahead - MIDST * p.left) / (ONE - MIDST)
    p.aimed = int(1)
    return p


@wp.func
def noise(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], p: Progress, size: f64, w: int):
    """What rounding, or slack, does to velocities near a singular position in a sub-step [rad/s, lengths/s].

    There a constraint is like x y = 0 on its branch y = 0, x = s: with an error e of it the equation
    2 ẋ ẏ + x ÿ = 0 gives ÿ = 2 ẋ² e / s³. A sub-step that is long against s / ẋ need not come so near: it is not
    allowed as much, unless it passes the position between its stages. Then motors are allowed it, too: the second
    value, of the energy there is.
    """
    square = ZERO
    for k in range(s.v.shape[0]):
        square = wp.max(square, s.v[k, w] * s.v[k, w] / m.dof_weight[k])
    near = wp.sqrt(wp.max(p.weakest, dependent_below(m, w)))
    speed = wp.sqrt(wp.max(square, TINY))
    rate = TWO * square * wp.max(ROUNDING, m.slack[0, w]) / (near * near * near)
    if p.aimed != 0 and near > BETWEEN * p.pace * size:
        return rate * size, wp.min(rate * size / speed, WORK_NOISE)
    return rate * wp.min(size, f64(0.1) * near / speed), ZERO


@wp.func
def finite_stage(s: wp.ref[StateArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether the accelerations of the first stage are numbers."""
    total = ZERO
    for k in range(s.v.shape[0]):
        total += wp.abs(x.k_v[k, w])
    return wp.isfinite(total)


@wp.func
def spend(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], start: Progress, w: int) -> Progress:
    """When the limit of work has come: the rest of the step at a coarser tolerance, by impulses if that is of no use.

    Without a budget the limit is there to end what would not end by itself.
    """
    p = start
    if f64(p.evaluations) < m.options[Option.limit] or p.stiff != 0:
        return p
    p.cut = int(1)
    if m.options[Option.limit] >= GUARD:
        p.broken = WORK
    elif p.coarse == ZERO:
        p.coarse = ONE
        if m.solvable.shape[0] > m.bilateral.shape[0]:
            if factor_soft(m, x, p.h, w) * p.h > HALF * FAST:
                p.stiff = int(1)
    elif f64(p.evaluations) >= TWO * m.options[Option.limit]:
        p.stiff = int(1)
    return p


@wp.func
def change_pair(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], start: Progress, w: int) -> Progress:
    """Inside a nominal step: leave the implicit pair where it is more work, try it before the work runs out."""
    p = start
    if m.options[Option.pair] != ZERO or m.solvable.shape[0] == m.bilateral.shape[0]:
        return p
    spent = f64(p.evaluations)
    if p.pair == IMPLICIT:
        if s.method[Kept.pair + 1, w] > ZERO and spent > TWO * s.method[Kept.pair + 1, w]:
            p.pair = EXPLICIT
            p.h = wp.min(p.h, FAST / p.rate)
            p.ready = int(0)
            s.method[Kept.pair, w] = ZERO
            s.method[Kept.pair + 2, w] = PATIENCE
    elif spent > much_work(m) and s.method[Kept.pair + 2, w] == ZERO:
        p.pair = IMPLICIT
        p.ready = int(0)
        s.method[Kept.pair + 1, w] = f64(4.0) * much_work(m)
    return p


@wp.func
def choose_pair(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], end: Progress, w: int) -> f64:
    """After a nominal step: the pair of the next, and the sub-step it begins with.

    Explicit sub-steps as long as stability allows are a reason to try the implicit pair; it stays as long
    as it needs fewer evaluations than the explicit one did, and something is fast.
    """
    h = end.h
    spent = f64(end.evaluations)
    if end.pair == IMPLICIT:
        slow = end.rate > ZERO and end.rate * m.nominal_h[0] < FAST  # 0: no smooth sub-step has measured it
        s.method[Kept.pair, w] = ONE
        if slow or (s.method[Kept.pair + 1, w] > ZERO and spent > s.method[Kept.pair + 1, w]):
            s.method[Kept.pair, w] = ZERO
            h = wp.min(h, FAST / wp.max(end.rate, ONE))
            if not slow:
                s.method[Kept.pair + 2, w] = PATIENCE
    elif s.method[Kept.pair + 2, w] > ZERO:
        s.method[Kept.pair + 2, w] = s.method[Kept.pair + 2, w] - ONE
    elif end.mode == SMOOTH and m.solvable.shape[0] > m.bilateral.shape[0] and spent > TWO * EVALUATIONS:
        if factor_soft(m, x, h, w) * h > HALF * FAST:
            s.method[Kept.pair, w] = ONE
            s.method[Kept.pair + 1, w] = spent
    return h
