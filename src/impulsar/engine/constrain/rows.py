"""Assembly: which slots are rows in this step, and what each asks for.

A row asks for   J v + bias + softness · impulse = 0   with low ≤ impulse ≤ high, and, if it has a
position error, that pseudo-velocities remove it:   J v' + error / h = 0.

    closure      bias 0                                    unbounded, error removed
    limit        bias gap / h, or -e u where it bounces    impulse ≥ 0, overshoot removed
    friction     bias 0                                    |impulse| ≤ h · bound
    motor        bias -speed, or -(target - q) / h         |impulse| ≤ h · max torque
    compliant    softness 1 / (h (c + h k)), bias k d / (c + h k)      spring, damper, hand
    coupling     J = J_b - ratio J_a                       unbounded, error removed

The compliant row is Mariti 2012 eq. 10 with the spring's force taken at the end of the step:
impulse = -h k (d + h u) - h c u, so that it is stable at any stiffness.
"""

import warp as wp

from ...author.joints import BALL_X, BALL_Z
from ..coordinates.tree import project_wrench, response, row_base, row_response, row_square, row_velocity
from ..spatial import INFINITY, ONE, TWO, ZERO, axis_of, f64, spatial, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import CONSTANT, channel
from ..system.slots import (
    CLOSURE,
    COMPLIANCE,
    COUPLING,
    FRICTION,
    HAND,
    IDLE,
    LIMIT_HIGH,
    MOTOR_POSITION,
    MOTOR_SPEED,
    MOTOR_TORQUE,
    SPRING,
)
from .frames import Pair, coordinate, freedom_pair, point_of
from .locks import closure_angle, lock

DEGENERATE = wp.constant(wp.float64(1e-20))  # |J|² of a row that moves nothing but by rounding [rad, sizes]
CONTACT_GAP = wp.constant(wp.float64(1e-9))  # a limit so near is reached [m, rad]


@wp.func
def clear_row(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int):
    for entry in range(m.slot_row[r], m.slot_row[r + 1]):
        x.J[entry, w] = ZERO


@wp.func
def is_spare(m: wp.ref[SystemArrays], r: int, w: int) -> bool:
    """Whether a row is redundant by construction: others imply it."""
    return m.basis[r, w] == ZERO


@wp.func
def set_row(x: wp.ref[WorkArrays], r: int, bias: f64, softness: f64, low: f64, high: f64, error: f64, w: int):
    x.row_bias[r, w] = bias
    x.row_softness[r, w] = softness
    x.row_low[r, w] = low
    x.row_high[r, w] = high
    x.row_error[r, w] = error


@wp.func
def add_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, pair: Pair, scale: f64, w: int):
    """Add scale · pair to row r."""
    if pair.second >= 0:
        arm = pair.point - x.p_WB[pair.second, w]
        f = spatial(pair.turn + wp.cross(arm, pair.slide), pair.slide)
        project_wrench(m, x, r, pair.second, scale * f, w)
    if pair.first >= 0:
        arm = pair.point - x.p_WB[pair.first, w]
        f = spatial(pair.turn + wp.cross(arm, pair.slide), pair.slide)
        project_wrench(m, x, r, pair.first, -scale * f, w)


@wp.func
def add_freedom(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, j: int, code: int, dof: int, scale: f64, w: int
):
    """Add scale · rate of a freedom to row r: of a tree joint directly, else by its wrench pair."""
    if dof >= 0:
        entry = row_base(m, r, m.tree_of[wp.max(m.first[j], m.second[j])]) + dof
        x.J[entry, w] = x.J[entry, w] + scale
    else:
        add_pair(m, x, r, freedom_pair(m, x, j, code, w), scale, w)


@wp.func
def add_coupled(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, c: int, side: int, scale: f64, w: int):
    add_freedom(m, x, r, m.coupled_joint[c, side], m.coupled_code[c, side], m.coupled_dof[c, side], scale, w)


@wp.func
def coupled_coordinate(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], c: int, side: int, w: int
) -> f64:
    return coordinate(m, s, x, m.coupled_joint[c, side], m.coupled_code[c, side], m.coupled_q[c, side], w)


@wp.func
def spring_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, w: int):
    """Pair along a spring, pulling its ends apart, and its length [m]."""
    a = point_of(x, m.spring_first[k], m.spring_p_first[k, w], w)
    b = point_of(x, m.spring_second[k], m.spring_p_second[k, w], w)
    far = wp.length(b - a)
    pair = Pair()
    pair.first = m.spring_first[k]
    pair.second = m.spring_second[k]
    pair.point = b
    pair.turn = zero3()
    pair.slide = (b - a) / wp.max(far, f64(1e-12))
    return pair, far


@wp.func
def hand_target(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], hand: int, axis: int, t: f64, w: int) -> f64:
    """Where one axis of a hand's target is at time t: a hand sent to a point gets there evenly over the step."""
    c = m.hand_channel[hand] + axis
    if m.channel_kind[c] != CONSTANT:
        return channel(m, c, t, w)
    start = s.hand_target[3 * hand + axis, w]
    return start + (m.channel_a[c, w] - start) * ((t - s.time[0, w]) / m.nominal_h[0])


@wp.func
def hand_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, axis: int, w: int) -> Pair:
    """Pair of one component of a hand on its body."""
    pair = Pair()
    pair.first = -1
    pair.second = m.hand_body[k]
    pair.point = point_of(x, pair.second, m.hand_point[k, w], w)
    pair.turn = zero3()
    pair.slide = axis_of(axis)
    return pair


@wp.func(inline=False)
def slot_pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    """The wrench pair by which a slot's positive impulse acts, but for couplings, which have two."""
    kind = m.slot_kind[r]
    part = m.slot_part[r]
    if kind == CLOSURE:
        pair, _ = lock(m, x, part, m.slot_code[r], ZERO, w)
        return pair
    if kind == SPRING:
        spring, _ = spring_pair(m, x, part, w)
        return spring
    if kind == HAND:
        return hand_pair(m, x, part, m.slot_code[r], w)
    freedom = freedom_pair(m, x, part, m.slot_code[r], w)
    if kind == LIMIT_HIGH:
        freedom.turn = -freedom.turn
        freedom.slide = -freedom.slide
    return freedom


@wp.func
def soften(x: wp.ref[WorkArrays], r: int, stretch: f64, speed: f64, k: f64, c: f64, h: f64, w: int) -> int:
    """Compliant row: spring k, damper c, stretched now by `stretch`; its other end moves at `speed`."""
    stiff = c + h * k
    if stiff <= ZERO:
        return 0
    set_row(x, r, k * stretch / stiff - speed, ONE / (h * stiff), -INFINITY, INFINITY, ZERO, w)
    x.row_late[r, w] = ONE
    return 1


@wp.func
def limit_row(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, gap: f64, h: f64, w: int
) -> int:
    """A limit, J pointing away from it; not a row while it is far."""
    u = row_velocity(m, x, s.v, r, w)
    u_old = row_velocity(m, x, x.v_old, r, w)
    near = TWO * h * (wp.abs(u) + wp.abs(u_old)) + CONTACT_GAP
    if gap > near and s.impulse[r, w] == ZERO:
        return 0
    bias = wp.max(gap, ZERO) / h
    bounce = -m.slot_b[r, w] * u_old
    if bounce > ZERO and gap + h * u < CONTACT_GAP:
        bias = -bounce
    set_row(x, r, bias, ZERO, ZERO, INFINITY, wp.min(gap, ZERO), w)
    return 1


@wp.func
def assemble_slot(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, start: f64, h: f64, w: int
) -> int:
    """Fill one row for a step h from time `start`.

    Returns 1 if it is a row in this step.
    """
    kind = m.slot_kind[r]
    part = m.slot_part[r]
    code = m.slot_code[r]
    t = start + h
    is_row = int(1)
    if kind == IDLE or kind == MOTOR_TORQUE or (kind == HAND and m.hand_body[part] < 0):
        return 0
    clear_row(m, x, r, w)
    if kind == CLOSURE:
        pair, error = lock(m, x, part, code, closure_angle(m, s, x, part, code, m.slot_q[r], w), w)
        add_pair(m, x, r, pair, ONE, w)
        set_row(x, r, ZERO, ZERO, -INFINITY, INFINITY, error, w)
    elif kind == COUPLING:
        ratio = m.slot_b[r, w]
        add_coupled(m, x, r, part, 1, ONE, w)
        add_coupled(m, x, r, part, 0, -ratio, w)
        error = coupled_coordinate(m, s, x, part, 1, w) - ratio * coupled_coordinate(m, s, x, part, 0, w)
        set_row(x, r, ZERO, ZERO, -INFINITY, INFINITY, error, w)
    elif kind == SPRING:
        pair, far = spring_pair(m, x, part, w)
        add_pair(m, x, r, pair, ONE, w)
        is_row = soften(x, r, far - m.slot_c[r, w], ZERO, m.slot_a[r, w], m.slot_b[r, w], h, w)
        if far < f64(1e-12):
            is_row = int(0)
    elif kind == HAND:
        pair = hand_pair(m, x, part, code, w)
        add_pair(m, x, r, pair, ONE, w)
        target = hand_target(m, s, part, code, start, w)
        speed = (hand_target(m, s, part, code, t, w) - target) / h
        is_row = soften(x, r, pair.point[code] - target, speed, m.slot_a[r, w], m.slot_b[r, w], h, w)
    else:
        away = ONE
        if kind == LIMIT_HIGH:
            away = -ONE
        add_freedom(m, x, r, part, code, m.slot_dof[r], away, w)
        if kind == FRICTION:
            bound = h * m.slot_a[r, w]
            set_row(x, r, ZERO, ZERO, -bound, bound, ZERO, w)
        elif kind == MOTOR_SPEED:
            bound = h * m.slot_a[r, w]
            set_row(x, r, -channel(m, m.slot_channel[r], t, w), ZERO, -bound, bound, ZERO, w)
        else:
            q = coordinate(m, s, x, part, code, m.slot_q[r], w)
            if kind == MOTOR_POSITION:
                bound = h * m.slot_a[r, w]
                speed = (channel(m, m.slot_channel[r], t, w) - q) / h
                set_row(x, r, -speed, ZERO, -bound, bound, ZERO, w)
            elif kind == COMPLIANCE:
                c = m.slot_b[r, w] + m.slot_d[r, w]
                is_row = soften(x, r, q - m.slot_c[r, w], ZERO, m.slot_a[r, w], c, h, w)
            else:
                is_row = limit_row(m, s, x, r, away * (q - m.slot_a[r, w]), h, w)
    return is_row


@wp.func
def respond(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, softness: f64, w: int) -> bool:
    """Response and effective mass of a row; False and mass 0 where nothing that the joints allow moves it."""
    size = row_square(m, x, r, w)
    x.row_size[r, w] = size
    x.row_mass[r, w] = ZERO
    if size <= DEGENERATE:
        if softness == ZERO:
            return False
        for entry in range(m.slot_row[r], m.slot_row[r + 1]):  # a spring pulls on what it cannot move, too
            x.Y[entry, w] = ZERO
        x.row_mass[r, w] = ONE / softness
        return True
    response(m, x, r, w)
    own = row_response(m, x, r, r, w)
    if own <= ZERO:
        return False
    x.row_mass[r, w] = ONE / (own + softness)
    return True


@wp.func(inline=False)
def assemble(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, h: f64, w: int) -> int:
    """Fill all rows with their responses and effective masses (Mikhaylyuk 2017 eq. 3-6); returns how many."""
    count = int(0)
    for r in range(m.slot_kind.shape[0]):
        x.solved[r, w] = int(0)
        if (m.spares[0] != 0 and is_spare(m, r, w)) or assemble_slot(m, s, x, r, t, h, w) == 0:
            if m.slot_kind[r] != MOTOR_TORQUE:  # it keeps the impulse of its torque
                s.impulse[r, w] = ZERO
            continue
        if not respond(m, x, r, x.row_softness[r, w], w):
            s.impulse[r, w] = ZERO
            ball = m.slot_code[r] >= BALL_X and m.slot_code[r] <= BALL_Z
            if m.slot_kind[r] != FRICTION and not (m.slot_kind[r] == MOTOR_SPEED and ball):
                continue  # the three rows of a ball stay together
        x.row_pseudo[r, w] = ZERO
        x.active[count, w] = r
        count += 1
    return count


@wp.func
def feed_back_errors(x: wp.ref[WorkArrays], rows: int, h: f64, beta: f64, w: int):
    """Ask the velocities to remove a part of the position errors: bias += β / h · error."""
    for a in range(rows):
        r = x.active[a, w]
        x.row_bias[r, w] = x.row_bias[r, w] + beta / h * x.row_error[r, w]


@wp.func
def advance_clock(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], h: f64, w: int):
    """Hands and the clock arrive at the end of the step."""
    t = s.time[0, w] + h
    for k in range(m.hand_body.shape[0]):
        if m.hand_body[k] >= 0:
            for axis in range(3):
                s.hand_target[3 * k + axis, w] = channel(m, m.hand_channel[k] + axis, t, w)
    s.time[0, w] = t
