"""direct: all bilateral rows solved at once, sub-steps of order 5 chosen by error control.

    v̇ = M⁻¹ (f + Jᵀ λ)      J v̇ + J̇ v = target's acceleration      λ by LDLᵀ of J M⁻¹ Jᵀ

is integrated by Dormand-Prince 5(4) inside the nominal step, to rtol and atol; after each sub-step positions and
velocities are projected onto the constraints. Where a spring, damper or hand is so fast that stability, not error,
sets the sub-step, a linearly implicit pair of order 3 takes over while that is less work. Where friction or limits
act sub-steps are impulsive (see impulsive.py). Under a limit of work the rest of a nominal step is taken at a coarser
tolerance, by impulses only where stiffness is the cause, and the report says how coarse.

Rows that others imply by construction are left out (start/redundancy.py), and so are those that do at this instant, a
singular position (solve/direct.py). Near one, stages are brought onto the joints before they are evaluated, spare
rows take over from those that are weak there, and a sub-step whose stages come too near is not made finer but chosen
anew so that it passes the position between its stages (`aim`).
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from ...author.joints import BALL_X, BALL_Z
from ..constrain.accelerations import assemble_bilateral, row_target_rate
from ..constrain.frames import follow_loops
from ..constrain.reactions import instant_reactions
from ..constrain.rows import advance_clock
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import accelerate, apply_impulse, articulate, kinematics, row_response, row_velocity
from ..forces.compliance import apply_compliance
from ..forces.loads import add_loads
from ..integrate.books import measure_energy
from ..integrate.control import (
    keep_books,
    keep_derivatives,
    keep_reach,
    next_size,
    return_to_start,
    reuse_last_stage,
    save_start,
    set_stage,
    step_error,
    work_error,
)
from ..integrate.impulsive import (
    GENTLE,
    OFF_TARGET,
    TOUCH,
    impulsive_step,
    is_off_target,
    limits_passed,
    motor_miss,
    needs_impulses,
    short_of_limits,
)
from ..integrate.pairs import C_AT, EXPLICIT, IMPLICIT, SOLVES, STAGES, tableaux
from ..integrate.rosenbrock import factor_soft, finish_stage, implicit_error, set_implicit_stage
from ..report import check_finite, report_substeps, report_velocities, start_report
from ..solve.direct import (
    CHOOSE,
    STRONGER,
    WEAK,
    apply_multipliers,
    choose_rows,
    dependent_below,
    factor_bilateral,
    solve_bilateral,
)
from ..solve.project import PASSING, load_position_errors, project_velocities, remove_errors
from ..spatial import HALF, INFINITY, ONE, TWO, UNLIMITED, ZERO, f64, spatial, vec6, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import just_before, next_knot, snap_to_knot
from ..system.measured import BROKEN, FORCES, TORN, UNDERFLOW, WORK
from ..system.rank import PLAY
from ..system.slots import FRICTION, MOTOR_POSITION, MOTOR_SPEED

RTOL, ATOL, LIMIT, EPSILON, IMPULSE_STEP, FIXED, PAIR = 0, 1, 2, 3, 4, 5, 6  # places in SystemArrays.options
PAIRS = ("auto", "explicit", "implicit")
NEGLIGIBLE = wp.constant(wp.float64(0.3))  # a projection this small against atol leaves the derivatives valid
SMOOTH_ERROR = wp.constant(wp.float64(1e-13))  # error left after a smooth sub-step [m, rad and per second]
RETRY = wp.constant(wp.float64(1.2))  # growth of the wished sub-step while it is too small to be taken
PER_SUB_STEP = wp.constant(wp.float64(7.0))  # evaluations, at most
SMOOTH, IMPULSIVE, MUST_BE_IMPULSIVE = 0, 1, 2  # Progress.mode
END = wp.constant(wp.float64(1e-9))  # of a nominal step: so little left is nothing
SNAP = wp.constant(wp.float64(1e-9))  # of a nominal step: so near to a kink the clock is there
FAST = wp.constant(wp.float64(2.5))  # rate times sub-step beyond which stability may set it: the pair ends at 3.3
EVALUATIONS = wp.constant(wp.float64(6.0))  # of an explicit sub-step
PATIENCE = wp.constant(wp.float64(50.0))  # nominal steps before the pair that was more work is tried again
GUARD = wp.constant(wp.float64(1e6))  # evaluations in a nominal step beyond which it is given up
MOST_SWEEPS = wp.constant(wp.float64(5000.0))  # of an impulsive sub-step
MUCH_WORK = wp.constant(wp.float64(2500.0))  # evaluations
COARSEST = wp.constant(wp.float64(1e-2))  # tolerance beyond the limit of work
LEAST = wp.constant(wp.float64(1e-12))  # of a nominal step: a sub-step so small cannot be taken
WAS_TORN = wp.constant(wp.float64(1e-5))  # position error before a projection that no sub-step makes [m, rad]
OPEN = wp.constant(wp.float64(1e-9))  # position error that may be left by a projection [m, rad]
SHORT = wp.constant(wp.float64(1e-4))  # of a nominal step: a sub-step so short is not made shorter for a motor's work
# of motors near a singular position: an error of one stage shows a hundredth of itself in the estimate
WORK_TOLERANCE = wp.constant(wp.float64(1e-10))
WORK_NOISE = wp.constant(wp.float64(1e-8))  # of the energy there is, at most, where rounding makes more of it
BOOKED = wp.constant(wp.float64(0.1))  # of rtol: error of motors' work in a sub-step, of the energy there is
CAUTION = wp.constant(wp.float64(20.0))  # times tighter: near a singular position the estimate is too small
MIDST = wp.constant(
    wp.float64(0.55)
)  # of a sub-step, where stages are farthest apart: there it passes a singular position
BETWEEN = wp.constant(wp.float64(0.15))  # of the way of such a sub-step no stage is nearer to the singular position
CLOSE = wp.constant(wp.float64(1e-15))  # near a singular position a state so near to the joints is on them [m, rad]
TINY = wp.constant(wp.float64(1e-300))
ROUNDING = wp.constant(wp.float64(1e-15))  # of positions [m, rad]
BACK_AT_ONCE = wp.constant(wp.float64(20.0))  # rate of a speed motor's way back to its target, per impulse step
JUMP = wp.constant(wp.float64(1e-9))  # velocity error at the start of a step that is an impulse [m/s, rad/s]


@dataclass(frozen=True)
class Direct:
    """Options of the direct method."""

    rtol: float = 1e-7
    atol: float = 1e-7  # [rad, rad/s], and of the mechanism's size per second: slides
    iterations: int = 10**6  # evaluations in a nominal step: fewer, a limit of work; so many, an error
    substeps: int = 0  # so many impulsive sub-steps of equal size instead of error control
    epsilon: float = 1e-10  # largest impulse increment of an impulsive sub-step's last sweep [N s, N m s]
    impulse_step: float = 0.002  # largest impulsive sub-step [s]
    pair: str = "auto"  # of smooth sub-steps: "explicit", "implicit", or the one that is less work
    redundancy: float = PLAY  # how far rows that others imply may be open [rad, or lengths over the mechanism's size]
    max_step: float = 1e9  # sub-steps are chosen inside the nominal step [s]

    name = "direct"
    order = 5
    coordinates = ("generalized", "maximal")

    @property
    def kernel(self) -> wp.Kernel:
        return direct_kernel

    @property
    def tableau(self) -> np.ndarray:
        return tableaux()

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        for name in ("rtol", "atol"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"direct: {name} is {getattr(self, name)!r}, expected a number > 0")
        if not (isinstance(self.substeps, int) and self.substeps >= 0):
            raise ValueError(f"direct: substeps is {self.substeps!r}, expected an integer >= 0")
        if not 1e-12 <= self.redundancy < 0.1:
            raise ValueError(f"direct: redundancy is {self.redundancy!r}, expected rad or sizes from 1e-12 to 0.1")
        if not self.impulse_step > 0.0:
            raise ValueError(f"direct: impulse_step is {self.impulse_step!r}, expected a time > 0 [s]")
        if self.pair not in PAIRS:
            raise ValueError(f"direct: pair is {self.pair!r}, expected one of: {', '.join(PAIRS)}")
        if not (isinstance(self.iterations, int) and self.iterations >= STAGES):
            raise ValueError(f"direct: iterations is {self.iterations!r}, expected an integer >= {STAGES}")

    def pack(self) -> list[float]:
        """The options as the kernel reads them."""
        fixed = 1.0 / self.substeps if self.substeps else 0.0
        pair = PAIRS.index(self.pair)
        return [self.rtol, self.atol, self.iterations, self.epsilon, self.impulse_step, fixed, pair]


@wp.func
def evaluate(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, stage: int, w: int) -> f64:
    """Constrained accelerations, multipliers and powers of the present state at time t, into a stage.

    Returns the strength of the weakest row.
    """
    book = stage * (3 * m.slot_kind.shape[0] + m.load_body.shape[0])
    rounds = int(0)
    weakest = ONE
    while rounds < 4:
        kinematics(m, s, x, ZERO, w)
        follow_loops(m, s, x, w)
        for i in range(m.parent.shape[0]):
            x.wrench[i, w] = vec6()
        for k in range(s.v.shape[0]):
            x.tau[k, w] = ZERO
        add_loads(m, x, t, book + 3 * m.slot_kind.shape[0], w)
        if m.live_slots[0] > 0:
            apply_compliance(m, s, x, t, book, w)
        articulate(m, x, w)
        accelerate(m, x, spatial(zero3(), -m.gravity[0, w]), 1, w)
        rounds += 1
        if m.bilateral.shape[0] > 0:
            weakest = factor_equations(m, x, t, w)
            if weakest >= WEAK or stage == 0 or approach_joints(m, s, x, t, w) <= CLOSE:
                rounds = int(4)
        else:
            rounds = int(4)
    if m.bilateral.shape[0] > 0:
        for i in range(m.bilateral.shape[0]):
            x.multiplier[i, w] = ZERO
            if x.solved[m.bilateral[i], w] != 0:
                x.multiplier[i, w] = x.row_bias[m.bilateral[i], w]
        steer_motors(m, s, x, t, w)
        rounds = int(0)
        while rounds < 5:
            if rounds > 0:
                factor_bilateral(m, x, w)
            solve_bilateral(m, x, w)
            rounds += 1
            if saturate_motors(m, x, w) == 0:
                rounds = 5
        apply_multipliers(m, x, x.qdd, w)
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            if m.slot_kind[r] == FRICTION:
                continue
            lam = x.multiplier[i, w]
            if x.row_pseudo[r, w] != ZERO:
                lam = x.row_pseudo[r, w]
            s.impulse[r, w] = lam * m.nominal_h[0]
            x.k_book[book + r, w] = ZERO
            if m.slot_channel[r] >= 0:
                x.k_book[book + r, w] = lam * row_velocity(m, x, s.v, r, w)
    keep_derivatives(m, s, x, stage, w)
    return weakest


@wp.func(inline=False)
def factor_equations(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> f64:
    """Rows and factor of the accelerations' equations; returns the strength of the weakest row.

    Where those that hold the mechanism elsewhere are weak here, and spare ones would do better, these are chosen.
    """
    assemble_bilateral(m, x, t, 0, w)
    weakest = factor_bilateral(m, x, w)
    if weakest < CHOOSE and x.gram.shape[0] > 0:
        assemble_bilateral(m, x, t, 1, w)
        choose_rows(m, x, w)
        chosen = factor_bilateral(m, x, w)
        if chosen > STRONGER * weakest:
            return chosen
        assemble_bilateral(m, x, t, 0, w)
        factor_bilateral(m, x, w)
    return weakest


@wp.func
def approach_joints(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int) -> f64:
    """Bring the state of a stage onto the joints; returns how far it was off [m, rad and per second].

    A stage is off them by its truncation error. Near a singular position, at a distance s from it, the
    accelerations of such a state are off by that error over s: error control would follow a phantom.
    """
    off = load_position_errors(m, s, x, t, w)
    if off > CLOSE:
        solve_bilateral(m, x, w)
        for k in range(s.v.shape[0]):
            x.v_pseudo[k, w] = ZERO
        apply_multipliers(m, x, x.v_pseudo, w)
        move_coordinates(m, s, x.v_pseudo, w)
    return wp.max(off, project_velocities(m, s, x, t, PASSING, w))


@wp.func(inline=False)
def choose_feedback(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, anew: bool, w: int
) -> int:
    """How motors go back to their targets in a sub-step from time t; returns how many change their way.

    What the integration leaves is removed by an even push, chosen anew where stages are, that has nothing left
    after two nominal steps: feedback from the stages' own errors would cost the pair its order. A motor that is
    off its target, because it was too weak or the target jumped, goes back at a rate α: a speed as fast as can
    be, a position gently, lest it tear the mechanism away.
    """
    changed = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if m.slot_channel[r] >= 0:
            error, miss = motor_miss(m, s, x, r, t, w)
            rate = ZERO
            slack = OFF_TARGET * (ONE + wp.abs(row_target_rate(m, r, t, w)))
            if wp.abs(miss) > slack or is_off_target(m, s, x, r, t, w):
                rate = BACK_AT_ONCE / m.options[IMPULSE_STEP]
                if m.slot_kind[r] == MOTOR_POSITION:
                    rate = GENTLE / m.options[IMPULSE_STEP]
            if rate != x.feedback[r, w]:
                x.feedback[r, w] = rate
                x.push[r, w] = ZERO
                changed += 1
            if anew:
                span = wp.max(m.nominal_h[0], m.options[IMPULSE_STEP])
                x.push[r, w] = ZERO
                if rate == ZERO:
                    x.push[r, w] = -(error / span + f64(1.5) * miss) / span
    return changed


@wp.func
def steer_motors(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Motors go back to their targets by their own torque, which is booked and bounded like the rest of it.

    speed   u̇ = ṙ + push - α (u - r)        position   u̇ = r̈ + push - 2 α (u - ṙ) - α² (q - r)
    """
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if m.slot_channel[r] >= 0:
            rate = x.feedback[r, w]
            push = x.push[r, w]
            if rate > ZERO:
                error, miss = motor_miss(m, s, x, r, t, w)
                push -= rate * miss
                if m.slot_kind[r] == MOTOR_POSITION:
                    push -= rate * (miss + rate * error)
            x.multiplier[i, w] = x.multiplier[i, w] + push
            x.row_bias[r, w] = x.multiplier[i, w]


@wp.func
def is_ball_motor(m: wp.ref[SystemArrays], r: int) -> bool:
    return m.slot_kind[r] == MOTOR_SPEED and m.slot_code[r] >= BALL_X and m.slot_code[r] <= BALL_Z


@wp.func
def torque_wanted(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int) -> f64:
    """Size of the torque that the motor of bilateral row i would need: of a ball, of the vector of its three."""
    r = m.bilateral[i]
    if not is_ball_motor(m, r):
        return wp.abs(x.multiplier[i, w])
    first = i - (m.slot_code[r] - BALL_X)
    square = ZERO
    for k in range(3):
        square += x.multiplier[first + k, w] * x.multiplier[first + k, w]
    return wp.sqrt(square)


@wp.func
def saturate_motors(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> int:
    """Motors that would need more than they have get what they have, as a force; returns how many.

    x.row_bias keeps the right-hand sides, x.row_pseudo the torque of a saturated motor.
    """
    count = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if m.slot_channel[r] >= 0 and x.solved[r, w] != 0:
            most = m.slot_a[r, w]
            wanted = torque_wanted(m, x, i, w)
            if wanted > most:
                x.row_pseudo[r, w] = x.multiplier[i, w] * (most / wanted)
                x.solved[r, w] = int(0)
                apply_impulse(m, x, x.qdd, r, x.row_pseudo[r, w], w)
                count += 1
    if count > 0:
        for i in range(m.bilateral.shape[0]):
            r = m.bilateral[i]
            b = x.row_bias[r, w]
            for j in range(m.bilateral.shape[0]):
                motor = m.bilateral[j]
                if x.row_pseudo[motor, w] != ZERO:
                    b -= row_response(m, x, r, motor, w) * x.row_pseudo[motor, w]
            x.multiplier[i, w] = b
            if x.solved[r, w] == 0:
                x.multiplier[i, w] = ZERO
    return count


@wp.func
def ball_is_weak(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int) -> bool:
    """Whether a ball's motor needs more than it has: which way it then turns is for impulses to say."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if is_ball_motor(m, r) and x.row_pseudo[r, w] != ZERO:
            return True
    return False


@wp.func
def may_jump(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> bool:
    """Whether a solved row may be met by an impulse: an equation, or a motor without bound that is where it should."""
    if m.slot_channel[r] < 0:
        return True
    return m.slot_a[r, w] >= UNLIMITED and not is_off_target(m, s, x, r, t, w)


@wp.func(inline=False)
def start_with_impulse(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, weakest: f64, w: int
) -> int:
    """Bring velocities onto the rows, motors to a target whose velocity jumped; returns 1 if they changed."""
    worst = ZERO
    left_out = int(0)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if x.solved[r, w] != 0:
            if may_jump(m, s, x, r, t, w):
                worst = wp.max(worst, wp.abs(row_velocity(m, x, s.v, r, w) - row_target_rate(m, r, t, w)))
            else:
                left_out += 1
    if worst <= JUMP:
        if worst > SMOOTH_ERROR or weakest < WEAK:
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


@wp.func
def begin(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], w: int) -> Progress:
    """The start of a nominal step."""
    p = Progress()
    p.t = snap_to_knot(m, s.time[0, w], SNAP * m.nominal_h[0], w)
    p.left = m.nominal_h[0]
    p.h = wp.abs(s.next_h[0, w])
    if p.h == ZERO:
        p.h = f64(0.1) * p.left
        p.fresh = int(1)
    p.mode = SMOOTH
    p.pair = EXPLICIT
    choice = int(m.options[PAIR])
    if m.solvable.shape[0] > m.bilateral.shape[0] and (choice == 2 or (choice == 0 and s.pair[0, w] > ZERO)):
        p.pair = IMPLICIT
    if s.next_h[0, w] < ZERO and m.options[LIMIT] * p.h < PER_SUB_STEP * p.left:
        p.stiff = int(1)
    return p


@wp.func
def wished_size(m: wp.ref[SystemArrays], p: Progress, w: int) -> f64:
    """Size of a smooth sub-step: what error control wishes, but not beyond a kink of the inputs or the end."""
    size = wp.min(p.h, p.left)
    end = p.t + p.left
    knot = next_knot(m, p.t, end, w)
    if knot < end - SNAP * m.nominal_h[0]:
        size = wp.min(size, knot - p.t)
    if size < p.left and size > HALF * p.left:
        size = HALF * p.left  # two even steps, not a long one and a sliver
    return size


@wp.func
def pass_by(m: wp.ref[SystemArrays], start: Progress, size: f64, w: int) -> Progress:
    """The clock after a sub-step."""
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
    p.sub_steps += 1
    return p


@wp.func(inline=False)
def take_impulsive(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, is_last: bool, w: int
) -> Progress:
    """One impulsive sub-step: of fixed size, or of at most the method's impulse step."""
    p = start
    beat = m.options[IMPULSE_STEP]
    size = wp.min(beat, p.left)
    if m.options[FIXED] > ZERO:
        beat = m.options[FIXED] * m.nominal_h[0]
        size = beat
    else:
        size = wp.min(size, next_knot(m, p.t, p.t + size, w) - p.t)
        size = short_of_limits(m, s, x, size, TOUCH * beat, w)
        if p.stiff != 0:
            p.cut = int(1)
            p.coarse = INFINITY
    ends = p.left - size < END * m.nominal_h[0]
    limit = int(wp.min(m.options[LIMIT], MOST_SWEEPS))
    midway = m.options[FIXED] == ZERO
    p.evaluations += impulsive_step(m, s, x, p.t, size, beat, m.options[EPSILON], limit, midway, is_last and ends, w)
    p.mode = IMPULSIVE
    p.ready = int(0)
    return pass_by(m, p, size, w)


@wp.func
def close_joints(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, weakest: f64, w: int):
    """After a smooth sub-step: project. Returns how far the state was off, and what of that is left [m, rad]."""
    off = ZERO
    left = ZERO
    if m.bilateral.shape[0] > 0:
        enough = SMOOTH_ERROR
        if weakest < WEAK:
            enough = CLOSE
        off, left = remove_errors(m, s, x, t, enough, w)
        if off > WAS_TORN:  # joints that were open before take several sub-steps to close, and are reported
            left = ZERO
        end = just_before(snap_to_knot(m, t, SNAP * m.nominal_h[0], w))
        if left <= OPEN:
            off = wp.max(off, project_velocities(m, s, x, end, 0, w))
    return off, left


@wp.func
def keep_step(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], start: Progress, size: f64, off: f64, w: int
) -> Progress:
    """After an accepted smooth sub-step: its books, its clock, and its last stage as the first of the next."""
    keep_books(m, s, x, start.pair, size, w)
    keep_reach(m, s, w)
    s.last_h[0, w] = ZERO  # forces of an instant are no warm start
    p = pass_by(m, start, size, w)
    p.mode = SMOOTH
    p.ready = int(0)
    p.aimed = int(0)
    if off <= NEGLIGIBLE * m.options[ATOL] and p.kink == 0:
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
def much_work(m: wp.ref[SystemArrays]) -> f64:
    """Evaluations in a nominal step that are a reason to try the implicit pair."""
    return wp.min(MUCH_WORK, HALF * m.options[LIMIT])


@wp.func
def first_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], pair: int, size: f64, w: int) -> int:
    """The pair to begin with: implicit if explicit sub-steps as long as stability allows are too much work.

    It would find out by itself, but leave the fast springs vibrating.
    """
    if m.options[PAIR] == ZERO and m.solvable.shape[0] > m.bilateral.shape[0]:
        rate = factor_soft(m, x, size, w)
        if EVALUATIONS * rate * m.nominal_h[0] > FAST * much_work(m):
            return IMPLICIT
    return pair


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
    stage = int(0)
    jumped = int(0)
    end = just_before(snap_to_knot(m, p.t + size, SNAP * m.nominal_h[0], w))  # what jumps there is of the next
    while stage < stages_of(p):
        if stage == 1:
            save_start(s, x, w)
        if stage > 0:
            if p.pair == IMPLICIT:
                set_implicit_stage(m, s, x, stage, size, w)
            else:
                set_stage(m, s, x, stage, size, w)
        at = p.t + m.tableau[p.pair + C_AT + stage] * size
        if (stage > 0 or p.left <= ZERO) and at >= p.t + size:
            at = end
        if stage == 0 and choose_feedback(m, s, x, at, p.ready == 0, w) > 0:
            p.ready = int(0)
        if stage > 0 or p.ready == 0:
            if p.left <= ZERO:  # what a motor gives without setting itself right
                for r in range(x.push.shape[0]):
                    x.push[r, w] = ZERO
            weakest = evaluate(m, s, x, at, stage, w)
            p.weakest = wp.min(p.weakest, weakest)
            p.last = weakest
            if stage == 0:
                p.first = weakest
            elif stage == 1:
                p.second = weakest
            elif stage == 2:
                p.third = weakest
            if p.left <= ZERO:
                return p
            p.evaluations += 1
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
        if p.fresh != 0:
            p.fresh = int(0)
            p.pair = first_pair(m, x, p.pair, size, w)
        if p.pair == IMPLICIT and stage < SOLVES:
            p.rate = wp.max(p.rate, finish_stage(m, s, x, stage, size, w))
        stage += 1
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
    work_tolerance = BOOKED * m.options[RTOL]
    if p.pair == IMPLICIT:
        error = implicit_error(m, s, x, size, m.options[RTOL], m.options[ATOL], w)
        order = f64(3.0)
    else:
        error = step_error(m, s, x, size, m.options[RTOL], m.options[ATOL], w)
    if p.weakest < WEAK:
        of_speed, of_work = noise(m, s, p, size, w)
        error *= CAUTION / (ONE + of_speed / m.options[ATOL])
        work_tolerance = WORK_TOLERANCE + of_work
    if p.pair == EXPLICIT and m.bilateral.shape[0] > 0 and size > SHORT * m.nominal_h[0]:
        error = wp.max(error, work_error(m, s, x, size, work_tolerance, w))
    allowed = ONE
    if p.coarse > ZERO:
        allowed = COARSEST / m.options[RTOL]
    passed = limits_passed(m, s, x, w)
    opened = bool(False)
    if error <= allowed and not passed:
        off, left = close_joints(m, s, x, p.t + size, p.weakest, w)
        opened = not (left <= OPEN)
        if not opened:
            if p.coarse > ZERO:
                p.coarse = wp.max(p.coarse, error)
            if size >= HALF * p.h or error > HALF * allowed:
                p.h = next_size(size, error / allowed, order)
            return keep_step(m, s, x, p, size, off, w)
    return_to_start(s, x, w)
    refresh_geometry(m, s, x, w)
    if opened:
        p.h = HALF * size
    elif passed:
        p.mode = MUST_BE_IMPULSIVE
    elif wp.isfinite(error):
        p.h = next_size(size, error / allowed, order)
        if p.weakest < WEAK and p.pair == EXPLICIT and p.aimed == 0:
            p = aim(m, p, size)
    else:
        p.h = f64(0.1) * size
    if size < LEAST * m.nominal_h[0]:
        p.broken = UNDERFLOW
        if opened:
            p.broken = TORN
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
    if f64(p.evaluations) < m.options[LIMIT] or p.stiff != 0:
        return p
    p.cut = int(1)
    if m.options[LIMIT] >= GUARD:
        p.broken = WORK
    elif p.coarse == ZERO:
        p.coarse = ONE
        if m.solvable.shape[0] > m.bilateral.shape[0]:
            if factor_soft(m, x, p.h, w) * p.h > HALF * FAST:
                p.stiff = int(1)
    elif f64(p.evaluations) >= TWO * m.options[LIMIT]:
        p.stiff = int(1)
    return p


@wp.func
def change_pair(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], start: Progress, w: int) -> Progress:
    """Inside a nominal step: leave the implicit pair where it is more work, try it before the work runs out."""
    p = start
    if m.options[PAIR] != ZERO or m.solvable.shape[0] == m.bilateral.shape[0]:
        return p
    spent = f64(p.evaluations)
    if p.pair == IMPLICIT:
        if s.pair[1, w] > ZERO and spent > TWO * s.pair[1, w]:
            p.pair = EXPLICIT
            p.h = wp.min(p.h, FAST / p.rate)
            p.ready = int(0)
            s.pair[0, w] = ZERO
            s.pair[2, w] = PATIENCE
    elif spent > much_work(m) and s.pair[2, w] == ZERO:
        p.pair = IMPLICIT
        p.ready = int(0)
        s.pair[1, w] = f64(4.0) * much_work(m)
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
        slow = end.rate * m.nominal_h[0] < FAST
        s.pair[0, w] = ONE
        if slow or (s.pair[1, w] > ZERO and spent > s.pair[1, w]):
            s.pair[0, w] = ZERO
            h = wp.min(h, FAST / wp.max(end.rate, ONE))
            if not slow:
                s.pair[2, w] = PATIENCE
    elif s.pair[2, w] > ZERO:
        s.pair[2, w] = s.pair[2, w] - ONE
    elif end.mode == SMOOTH and m.solvable.shape[0] > m.bilateral.shape[0] and spent > TWO * EVALUATIONS:
        if factor_soft(m, x, h, w) * h > HALF * FAST:
            s.pair[0, w] = ONE
            s.pair[1, w] = spent
    return h


@wp.func
def step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], is_last: bool, w: int):
    """One nominal step of one world."""
    p = begin(m, s, w)
    if m.live_slots[0] > 0 and m.options[FIXED] == ZERO:
        refresh_geometry(m, s, x, w)  # as after a launch, so that step(n) is n times step to the bit
    while p.left > ZERO and p.broken == 0:
        size = ZERO
        impulsive = m.options[FIXED] > ZERO
        if not impulsive:
            p = change_pair(m, s, spend(m, x, p, w), w)
            size = wished_size(m, p, w)
            impulsive = p.stiff != 0 or p.mode == MUST_BE_IMPULSIVE or needs_impulses(m, s, x, p.t, size, w)
        if impulsive:
            p = take_impulsive(m, s, x, p, is_last, w)
        else:
            p = take_smooth(m, s, x, p, size, w)
    if p.broken != 0:
        x.report[BROKEN, w] = f64(p.broken)
        return
    s.next_h[0, w] = p.h
    if p.stiff != 0:
        s.next_h[0, w] = -RETRY * p.h
    elif m.options[PAIR] == ZERO:
        s.next_h[0, w] = choose_pair(m, s, x, p, w)
    report_substeps(x, p.sub_steps, p.evaluations, p.cut, p.coarse * m.options[RTOL], w)
    if is_last and p.mode == SMOOTH:  # accelerations and forces of the instant where the step ends
        p.ready = int(0)
        take_smooth(m, s, x, p, ZERO, w)
        report_velocities(m, s, x, p.t, w)
        instant_reactions(m, s, x, w)


@wp.kernel(enable_backward=False)
def direct_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Many nominal steps of many worlds: a thread runs a world."""
    w = wp.tid()
    start_report(x, w)
    for k in range(m.steps[0]):
        if x.report[BROKEN, w] == ZERO:
            step(m, s, x, k == m.steps[0] - 1, w)
            advance_clock(m, s, m.nominal_h[0], w)
    refresh_geometry(m, s, x, w)
    measure_energy(m, s, x, w)
    check_finite(x, w)
