"""What acts in the freedoms of joints: limits, friction, motors, servos, springs; a row a freedom, in the direct solve.

All that acts along one freedom gives together an impulse p that falls with its rate u:

    p(u) = p₀ - S (u + b) + Σ clamp(p_c - (u - e) / R, lo, hi)

    friction    e = 0                          lo, hi = ∓ h bound        spring, damper   S = h (c + h k)
    motor       e what it should be            lo, hi = ∓ h max torque   servo            1 / R = h (kv + h kp), ∓ h max
    limits      e = ∓ gap / h, or what bounces 0, ∞;  -∞, 0              torque motor     p₀

What is rigid has R = 1e-11 of the row's own response, about the impulse p_c of the last step, so that nothing creeps
where nothing changes. Velocities are where a convex function is least (Moreau), half the kinetic energy of what
impulses change plus the integrals of -p(u). Newton's method finds it, with the line on which p(u) is at the present u
in the place of p, and exact steps along its directions, whose slope is a sum over freedoms alone,

    φ'(α) = Σ du (P + α dP - p(u + α du))      P the impulses that have been given

Where that takes too many, R begins wide and is made smaller about the impulses found so far.

A freedom on a line of slope 1/S is the row J v + S p = const; one whose p is at a bound gives it, and has no row.
Joints and freedoms are eliminated together, so friction in a chain of a thousand joints sticks in one solve, where
sweeps around the joints would creep.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ..constrain import compliant, friction, limit, motor, servo
from ..constrain.frames import Pair, measured_coordinate, pair_velocity
from ..constrain.rows import kind_of, own_coordinate, own_pair
from ..forces.loads import load_wrench
from ..forces.motor_torques import mean_torque
from ..freedoms import counts_turns
from ..spatial import ONE, ZERO, f64, nearest_turn
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import SPRING, Slot
from .arrays import LargeArrays, respond, whole, wrench_at

TERMS = 4  # motor, friction, two limits
ENDLESS = wp.constant(wp.float64(1e100))  # an impulse without bound
RIGID = wp.constant(wp.float64(1e-11))  # of the row's own response: R of what is rigid
FIRST_ROUNDS, ROUNDS = 5, 12  # of Newton's method: at once, and with each width
WIDTHS = (1e-2, 1e-4, 1e-6, 1e-8)  # R where lines are too many to be found at once, about the impulses found so far
HALVINGS = 40  # of the interval in which a direction's least is

table = wp.array2d(dtype=f64)


@wp.struct
class LawArrays:
    """Laws of freedoms, [freedom] unless said."""

    joint: whole
    slot: whole  # [freedom + 1] its first slot
    led: whole  # 1: it counts here; 0: in another part of the world, that has this joint as well
    terms: whole  # how many there are now
    at: table  # [term, freedom] e
    centre: table  # p_c
    width: table  # R
    high: table
    low: table
    is_rigid: wp.array2d(dtype=wp.int32)
    is_friction: wp.array2d(dtype=wp.int32)
    given: wp.array(dtype=f64)  # p₀ - S b
    slope: wp.array(dtype=f64)  # S
    response: wp.array(dtype=f64)  # the row's own
    piece: whole  # which of its lines a freedom is on, two bits a term
    stuck: whole  # 1: friction held at the end of the last step
    rate: wp.array(dtype=f64)  # u at the end of the last step
    impulse: wp.array(dtype=f64)  # P of this step so far
    last: wp.array(dtype=f64)  # P of the last step over its length
    start_rate: wp.array(dtype=f64)  # u and P at the start of a step of Newton's method, u at its end
    start_impulse: wp.array(dtype=f64)
    end_rate: wp.array(dtype=f64)


@wp.func
def slot_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int) -> Pair:
    """The pair along what a slot acts on."""
    if compliant.is_line(kind_of(m, r)):
        return compliant.pair(m, x, r, 0)
    return own_pair(m, x, r, 0)


@wp.func
def put_term(l: wp.ref[LawArrays], f: int, at: f64, width: f64, low: f64, high: f64, of_friction: int):
    """width 0: what is rigid."""
    k = l.terms[f]
    l.at[k, f] = at
    l.centre[k, f] = ZERO
    l.width[k, f] = width
    l.is_rigid[k, f] = 0
    if width == ZERO:
        l.is_rigid[k, f] = 1
        l.width[k, f] = RIGID * l.response[f]
    l.high[k, f] = high
    l.low[k, f] = low
    l.is_friction[k, f] = of_friction
    l.terms[f] = k + 1


@wp.func
def put_soft(l: wp.ref[LawArrays], f: int, slope: f64, bias: f64, most: f64):
    """p = -slope (u + bias) within ± most."""
    if most >= ENDLESS:
        l.slope[f] = l.slope[f] + slope
        l.given[f] = l.given[f] - slope * bias
    else:
        put_term(l, f, -bias, ONE / slope, -most, most, 0)


@wp.func
def put_limit(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], l: wp.ref[LawArrays], r: int, f: int, h: f64
):
    """Rate at which the limit is reached, or at which it sends back what came on faster."""
    away = limit.away(x, r, 0)
    far = limit.gap(m, s, x, r, 0)
    before = away * l.rate[f]
    least = -wp.max(far, ZERO) / h
    back = -limit.restitution(m, r, 0) * before
    if back > ZERO and far + h * before < limit.CONTACT_GAP:
        least = back
    if away > ZERO:
        put_term(l, f, least, ZERO, ZERO, ENDLESS, 0)
    else:
        put_term(l, f, -least, ZERO, -ENDLESS, ZERO, 0)


@wp.func
def add_slot(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    l: wp.ref[LawArrays],
    r: int,
    f: int,
    t: f64,
    h: f64,
):
    """What one slot adds to a freedom's law over t .. t + h."""
    kind = kind_of(m, r)
    if limit.is_limit(kind):
        put_limit(m, s, x, l, r, f, h)
    elif friction.is_friction(kind):
        most = h * friction.bound(m, r, 0)
        if l.stuck[f] != 0:
            most = h * friction.static_bound(m, r, 0)
        put_term(l, f, ZERO, ZERO, -most, most, 1)
    elif motor.is_drive(kind):
        speed = motor.target(m, r, t + h, 0)
        if motor.is_servo(x, r, 0):
            speed = (speed - own_coordinate(m, s, x, r, 0)) / h
        most = wp.min(h * wp.min(motor.max_torque(m, r, 0), ENDLESS), ENDLESS)
        put_term(l, f, speed, ZERO, -most, most, 0)
    elif motor.is_torque(kind):
        l.given[f] = l.given[f] + h * mean_torque(m, r, t, h, 0)
    elif servo.is_servo(kind):
        k = servo.proportional(m, r, 0)
        stiff = servo.derivative(m, r, 0) + h * k
        if stiff > ZERO:
            bias = k * servo.off_target(m, s, x, r, t, 0) / stiff - servo.mean_rate(m, r, t, h, 0)
            most = h * wp.min(motor.max_torque(m, r, 0), ENDLESS)
            if motor.max_torque(m, r, 0) >= ENDLESS:
                most = ENDLESS
            put_soft(l, f, h * stiff, bias, most)
    elif compliant.is_compliant(kind):
        k = compliant.stiffness(m, r, 0)
        stiff = compliant.damping(m, x, r, 0) + h * k
        if stiff > ZERO:
            put_soft(l, f, h * stiff, k * compliant.stretch(m, s, x, r, 0) / stiff, ENDLESS)


@wp.kernel(enable_backward=False)
def follow(m: SystemArrays, s: StateArrays, x: WorkArrays, l: LawArrays):
    """Coordinates of the freedoms at the present poses."""
    f = wp.tid()
    r = l.slot[f]
    if not compliant.is_line(kind_of(m, r)):
        value = measured_coordinate(m, x, l.joint[f], m.slot_code[r], 0)
        if counts_turns(m.slot_code[r]):
            value = nearest_turn(value, s.loop_q[f, 0])
        s.loop_q[f, 0] = value


@wp.func
def impulse_at(l: wp.ref[LawArrays], f: int, u: f64) -> f64:
    """p(u)."""
    p = l.given[f] - l.slope[f] * u
    for k in range(l.terms[f]):
        p += wp.clamp(l.centre[k, f] - (u - l.at[k, f]) / l.width[k, f], l.low[k, f], l.high[k, f])
    return p


@wp.func
def piece_at(l: wp.ref[LawArrays], f: int, u: f64) -> int:
    """Code of the line that a law is on at u."""
    code = int(0)
    for k in range(l.terms[f]):
        p = l.centre[k, f] - (u - l.at[k, f]) / l.width[k, f]
        if p >= l.high[k, f]:
            code += 1 << (2 * k)
        elif p <= l.low[k, f]:
            code += 2 << (2 * k)
    return code


@wp.func
def put_on_piece(a: wp.ref[LargeArrays], l: wp.ref[LawArrays], f: int, code: int):
    """Make a freedom's row that of one line of its law, p = const - slope u."""
    slope = l.slope[f]
    const = l.given[f]
    for k in range(l.terms[f]):
        part = (code >> (2 * k)) & 3
        if part == 1:
            const += l.high[k, f]
        elif part == 2:
            const += l.low[k, f]
        else:
            slope += ONE / l.width[k, f]
            const += l.centre[k, f] + l.at[k, f] / l.width[k, f]
    l.piece[f] = code
    a.on[f] = 0
    a.softness[f] = ZERO
    a.asked[f] = ZERO
    a.given[f] = const
    if slope > ZERO:
        a.on[f] = 1
        if l.led[f] != 0:
            a.softness[f] = ONE / slope
        a.asked[f] = -const / slope


@wp.kernel(enable_backward=False)
def set_laws(
    m: SystemArrays,
    s: StateArrays,
    x: WorkArrays,
    a: LargeArrays,
    l: LawArrays,
    clock: wp.array(dtype=f64),
    h: wp.array(dtype=f64),
):
    """Laws over the time from clock to clock + h, at the present poses."""
    f = wp.tid()
    pair = slot_pair(m, x, l.slot[f])
    own = ZERO
    if pair.first >= 0:
        g = wrench_at(pair.turn, pair.slide, pair.point - x.p_WB[pair.first, 0])
        own += wp.dot(g, respond(a, x.q_WB[pair.first, 0], pair.first, g))
    if pair.second >= 0:
        g = wrench_at(pair.turn, pair.slide, pair.point - x.p_WB[pair.second, 0])
        own += wp.dot(g, respond(a, x.q_WB[pair.second, 0], pair.second, g))
    l.response[f] = own
    l.terms[f] = 0
    l.given[f] = ZERO
    l.slope[f] = ZERO
    l.impulse[f] = ZERO
    for r in range(l.slot[f], l.slot[f + 1]):
        add_slot(m, s, x, l, r, f, clock[0], h[0])
    left = h[0] * l.last[f] - l.given[f] + l.slope[f] * l.rate[f]
    for k in range(l.terms[f]):  # what the others do not give, to each in turn
        if l.is_rigid[k, f] != 0:
            l.centre[k, f] = wp.clamp(left, l.low[k, f], l.high[k, f])
            left -= l.centre[k, f]
    put_on_piece(a, l, f, piece_at(l, f, l.rate[f]))


@wp.kernel(enable_backward=False)
def choose_pieces(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays, changes: whole):
    """Lines at the present rates; counts those that change."""
    f = wp.tid()
    code = piece_at(l, f, pair_velocity(x, slot_pair(m, x, l.slot[f]), 0))
    if code != l.piece[f] and l.led[f] != 0:
        wp.atomic_add(changes, 0, 1)
    put_on_piece(a, l, f, code)


@wp.kernel(enable_backward=False)
def widen(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays, share: f64, centred: int):
    """R of what is rigid, 0: as it is; centred: about the impulses at the present rates."""
    f = wp.tid()
    u = pair_velocity(x, slot_pair(m, x, l.slot[f]), 0)
    for k in range(l.terms[f]):
        if l.is_rigid[k, f] != 0:
            if centred != 0:
                p = l.centre[k, f] - (u - l.at[k, f]) / l.width[k, f]
                l.centre[k, f] = wp.clamp(p, l.low[k, f], l.high[k, f])
            if share > ZERO:
                l.width[k, f] = share * l.response[f]
    code = l.piece[f]
    if share > ZERO:
        code = piece_at(l, f, u)
    put_on_piece(a, l, f, code)


@wp.kernel(enable_backward=False)
def keep_start(m: SystemArrays, x: WorkArrays, l: LawArrays):
    f = wp.tid()
    l.start_rate[f] = pair_velocity(x, slot_pair(m, x, l.slot[f]), 0)
    l.start_impulse[f] = l.impulse[f]


@wp.kernel(enable_backward=False)
def keep_end(m: SystemArrays, x: WorkArrays, l: LawArrays):
    f = wp.tid()
    l.end_rate[f] = pair_velocity(x, slot_pair(m, x, l.slot[f]), 0)


@wp.kernel(enable_backward=False)
def slope_along(l: LawArrays, share: f64, sums: wp.array(dtype=f64)):
    """φ' at a share of a step, and the size of its terms: of the freedoms tid, tid + shares, ..."""
    at = wp.tid()
    shares = sums.shape[0]
    found = ZERO
    f = at
    while f < l.joint.shape[0]:
        if l.led[f] != 0:
            du = l.end_rate[f] - l.start_rate[f]
            P = l.start_impulse[f] + share * (l.impulse[f] - l.start_impulse[f])
            found += du * (P - impulse_at(l, f, l.start_rate[f] + share * du))
        f += shares
    sums[at] = found


@wp.kernel(enable_backward=False)
def go_back(l: LawArrays, share: f64):
    """Impulses at a share of a step."""
    f = wp.tid()
    l.impulse[f] = l.start_impulse[f] + share * (l.impulse[f] - l.start_impulse[f])


@wp.kernel(enable_backward=False)
def add_up(change: wp.array(dtype=f64), total: wp.array(dtype=f64)):
    k = wp.tid()
    total[k] = total[k] + change[k]


@wp.kernel(enable_backward=False)
def scale(b: wp.array(dtype=f64), factor: f64):
    k = wp.tid()
    b[k] = factor * b[k]


@wp.kernel(enable_backward=False)
def give_constants(a: LargeArrays, l: LawArrays, row: whole, b: table):
    """Into b what freedoms whose impulse is given have not had of it yet."""
    f = wp.tid()
    change = ZERO
    if a.on[f] == 0:
        change = a.given[f] - l.impulse[f]
    b[row[f], a.column[l.joint[f]]] = change
    l.impulse[f] = l.impulse[f] + change


@wp.kernel(enable_backward=False)
def take_impulses(a: LargeArrays, l: LawArrays, row: whole, b: table):
    f = wp.tid()
    l.impulse[f] = l.impulse[f] + b[row[f], a.column[l.joint[f]]]


@wp.kernel(enable_backward=False)
def end_laws(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays, h: wp.array(dtype=f64)):
    """What the next step goes on from."""
    f = wp.tid()
    l.rate[f] = pair_velocity(x, slot_pair(m, x, l.slot[f]), 0)
    l.last[f] = l.impulse[f] / h[0]
    l.stuck[f] = 0
    for k in range(l.terms[f]):
        if l.is_friction[k, f] != 0 and ((l.piece[f] >> (2 * k)) & 3) == 0:
            l.stuck[f] = 1


@wp.kernel(enable_backward=False)
def measure_law_rates(m: SystemArrays, x: WorkArrays, l: LawArrays):
    f = wp.tid()
    l.rate[f] = pair_velocity(x, slot_pair(m, x, l.slot[f]), 0)


@wp.kernel(enable_backward=False)
def hold_limits(m: SystemArrays, s: StateArrays, x: WorkArrays, a: LargeArrays, l: LawArrays):
    """Rows of the freedoms while positions are projected: limits that were passed, by how far."""
    f = wp.tid()
    a.on[f] = 0
    a.softness[f] = ZERO
    a.off[f] = ZERO
    for r in range(l.slot[f], l.slot[f + 1]):
        if limit.is_limit(kind_of(m, r)):
            far = limit.gap(m, s, x, r, 0)
            if far < ZERO:
                a.on[f] = 1
                a.off[f] = limit.away(x, r, 0) * far


@wp.kernel(enable_backward=False)
def kick_loads(
    m: SystemArrays, x: WorkArrays, a: LargeArrays, begin: whole, clock: wp.array(dtype=f64), h: wp.array(dtype=f64)
):
    """Loads over clock .. clock + h, sorted by bodies: a thread a body that has some."""
    at = wp.tid()
    body = m.load_body[begin[at]]
    f = load_wrench(m, x, begin[at], clock[0], h[0], 0)
    for k in range(begin[at] + 1, begin[at + 1]):
        f += load_wrench(m, x, k, clock[0], h[0], 0)
    x.twist[body, 0] = x.twist[body, 0] + h[0] * respond(a, x.q_WB[body, 0], body, f)


def slots_by_freedom(slots: Sequence[Slot], joints: int) -> tuple[list[Slot], np.ndarray, np.ndarray]:
    """Slots sorted by what they act on, where each freedom's begin, and its joint; springs come after the joints."""

    def key(slot: Slot) -> tuple[int, int]:
        return (joints + slot.part, 0) if slot.kind == SPRING else (slot.part, slot.code)

    order = sorted(slots, key=key)
    begins = [k for k, slot in enumerate(order) if k == 0 or key(slot) != key(order[k - 1])]
    return order, np.array([*begins, len(order)], np.int64), np.array([key(order[k])[0] for k in begins], np.int64)


def law_arrays(begin: np.ndarray, joint: np.ndarray, device: str) -> LawArrays:
    """Arrays of so many freedoms."""
    l, n = LawArrays(), len(joint)
    for name, kind in LawArrays.vars.items():  # type: ignore[attr-defined]
        shape: Any = (TERMS, n) if kind.type.ndim == 2 else n
        setattr(l, name, wp.zeros(shape, dtype=kind.type.dtype, device=device))
    l.joint = wp.array(joint.astype(np.int32), dtype=wp.int32, device=device)
    l.led = wp.ones(n, dtype=wp.int32, device=device)
    l.slot = wp.array(begin.astype(np.int32), dtype=wp.int32, device=device)
    return l


class Laws:
    """What acts in the freedoms of a bench's joints."""

    def __init__(self, bench: Any, slots: Sequence[Slot]):
        self.bench, device = bench, bench.device
        joints = bench.joints - len(bench.bulk.springs)
        order, begin, joint = slots_by_freedom(slots, joints)
        self.arrays = law_arrays(begin, joint, device)
        self.count, self.unsettled = len(joint), 0
        self.s = StateArrays()
        freedom = np.repeat(np.arange(self.count), np.diff(begin))
        self._fill_slots(order, freedom)
        self.s.loop_q = wp.zeros((self.count, 1), f64, device=device)
        self._rows(joint)
        self._changes = wp.zeros(1, wp.int32, device=device)
        m, x, a, l = bench.inputs, bench.x, bench.a, self.arrays
        launch = bench.launcher
        self.follow = launch(follow, self.count, [m, self.s, x, l])
        self._set = launch(set_laws, self.count, [m, self.s, x, bench.answering(), l, bench.clock, bench.h])
        self._choose = launch(choose_pieces, self.count, [m, x, a, l, self._changes])
        self._give = launch(give_constants, self.count, [a, l, self.row, bench.b])
        self._take = launch(take_impulses, self.count, [a, l, self.row, bench.b])
        self._given = wp.zeros_like(bench.b)  # impulses of a step of Newton's method
        self._note = launch(add_up, bench.b.size, [bench.b.flatten(), self._given.flatten()])
        self._keep_start = launch(keep_start, self.count, [m, x, l])
        self._keep_end = launch(keep_end, self.count, [m, x, l])
        self.end = launch(end_laws, self.count, [m, x, a, l, bench.h])
        self.hold = launch(hold_limits, self.count, [m, self.s, x, a, l])
        self._measure = launch(measure_law_rates, self.count, [m, x, l])
        self.follow()

    def _fill_slots(self, order: Sequence[Slot], freedom: np.ndarray) -> None:
        m, x, device = self.bench.inputs, self.bench.x, self.bench.device
        whole_ = {"dtype": wp.int32, "device": device}
        m.slot_kind = wp.array([slot.kind for slot in order], **whole_)
        m.slot_code = wp.array([slot.code for slot in order], **whole_)
        m.slot_channel = wp.array([slot.channel for slot in order], **whole_)
        m.slot_q = wp.array((-1 - freedom).astype(np.int32), **whole_)
        for name in "abcd":
            values = np.array([min(getattr(slot, name), 1e300) for slot in order], float).reshape(-1, 1)
            setattr(m, f"slot_{name}", wp.array(values, dtype=f64, device=device))
        x.row_kind = wp.array(np.array([slot.kind for slot in order], np.int32).reshape(-1, 1), **whole_)
        x.row_part = wp.array(np.array([slot.part for slot in order], np.int32).reshape(-1, 1), **whole_)

    def _rows(self, joint: np.ndarray) -> None:
        """Which row of its joint each freedom has."""
        bench, device = self.bench, self.bench.device
        locks = (bench.locks >= 0).sum(1)[bench.bulk.joint_kind]
        begins = np.searchsorted(joint, joint)
        row = locks[joint] + np.arange(self.count) - begins
        table_ = np.full((bench.rows, bench.joints), -1, np.int32)
        table_[row, joint] = np.arange(self.count)
        self.row = wp.array(row.astype(np.int32), dtype=wp.int32, device=device)
        a = bench.a
        a.freedom = wp.array(table_, dtype=wp.int32, device=device)
        a.on = wp.zeros(self.count, wp.int32, device=device)
        for name in ("softness", "asked", "given", "off"):
            setattr(a, name, wp.zeros(self.count, f64, device=device))

    def begin_rates(self) -> None:
        """Rates to begin with; friction holds where nothing moves."""
        self._measure()
        rates = self.arrays.rate.numpy()
        wp.copy(self.arrays.stuck, wp.array((rates == 0.0).astype(np.int32), dtype=wp.int32, device=self.bench.device))

    def let_go(self) -> None:
        """No freedom has a row."""
        self.bench.a.on.zero_()
        self.bench.a.off.zero_()

    def forget_limits(self) -> None:
        """By how much limits were passed is no opening of a joint."""
        self.bench.a.off.zero_()

    def begin(self) -> None:
        """Laws of the next step, at the present poses; rows of the pieces that its last rates and impulses are on."""
        self.bench.a.off.zero_()
        self._set()

    def solve(self) -> None:
        """Impulses of joints and freedoms together, from the factor of the present lines."""
        self._given.zero_()
        if not self._newton(FIRST_ROUNDS, fresh=True):
            for k, width in enumerate(WIDTHS):
                self._widen(width, centred=k > 0)
                self._newton(ROUNDS)
        if not self.unsettled:  # once more about these impulses, by the same factor: what R lets creep goes
            self._widen(0.0, centred=True)
            self._step()
            self._pass_on()

    def _widen(self, width: float, centred: bool) -> None:
        inputs = [self.bench.inputs, self.bench.x, self.bench.a, self.arrays, width, int(centred)]
        self.bench.launches.launch(widen, self.count, inputs)

    def _pass_on(self) -> None:
        """What a step of Newton's method gave, to whoever counts impulses."""
        wp.copy(self.bench.b, self._given)
        self.bench.note()
        self._given.zero_()

    def _newton(self, rounds: int, fresh: bool = False) -> bool:
        """Steps of Newton's method until no line changes; fresh: the factor is that of the lines. Whether it ended."""
        bench = self.bench
        for turn in range(rounds):
            searches = turn > 0 or not fresh
            if searches:
                bench.refactor()
                self._keep_start()
            self._step()
            if searches:
                self._search()
            self._pass_on()
            self._changes.zero_()
            self._choose()
            self.unsettled = int(bench.summed(float(self._changes.numpy()[0])))
            if not self.unsettled:
                return True
        return False

    def _step(self) -> None:
        """One of Newton's method; what it gives is in `_given`."""
        bench = self.bench
        bench.b.zero_()
        self._give()
        bench.push()
        self._note()
        bench.measure_rates()
        bench.factor.solve()
        bench.push()
        self._note()
        self._take()

    def _search(self) -> None:
        """Go back to where φ is least on the way of the last step."""
        self._keep_end()
        if self._slope(1.0) <= 0.0:
            return
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._slope(middle) > 0.0 else (middle, high)
        bench = self.bench
        wp.copy(bench.b, self._given)
        flat = bench.b.flatten(), self._given.flatten()
        bench.launches.launch(scale, bench.b.size, [flat[0], high - 1.0])
        bench.push()
        bench.launches.launch(scale, bench.b.size, [flat[1], high])
        bench.launches.launch(go_back, self.count, [self.arrays, high])

    def _slope(self, share: float) -> float:
        sums = self.bench.sums[0]
        self.bench.launches.launch(slope_along, sums.size, [self.arrays, share, sums])
        return self.bench.summed(float(sums.numpy().sum()))

    def snapshot(self) -> tuple:
        """What laws leave for the next step."""
        l = self.arrays
        return tuple(wp.clone(one) for one in (l.rate, l.last, l.stuck, self.s.loop_q))

    def restore(self, kept: tuple) -> None:
        """Go back to a snapshot."""
        l = self.arrays
        for now, before in zip((l.rate, l.last, l.stuck, self.s.loop_q), kept, strict=True):
            wp.copy(now, before)
