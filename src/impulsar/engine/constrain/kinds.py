"""What kinds of rows there are: the only place where one is told from another.

A kind is a file with these verbs, as far as it has something to say to them:

    fill           a row of an impulsive step: J, bias, softness, bounds, error; 0 where it is none now
    midway         its bias where the geometry is that of the middle of a sub-step
    pair           the wrench pair by which a positive impulse acts
    pair_rate      how it changes as bodies move, where they are not a joint's axes (turning.py)
    error          position error of a row that holds
    acceleration   of a row that holds, less what it should be
    book           its work and losses over an impulsive step
    act            its force of an instant, with the powers of its books
    react          which way its force goes

and with names for its parameters, a, b, c and d of its slots. What follows tells a row's kind by its slot.
"""

import warp as wp

from ..coordinates.tree import row_velocity
from ..spatial import HALF, ONE, ZERO, f64, vec6
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import ELEMENT, HAS_ELEMENTS, TURNS
from . import closure, compliant, coupling, friction, hand, hand_turn, limit, motor, servo
from .accelerations import joint_acceleration
from .frames import Pair
from .rows import book_impulse, own_coordinate, own_jacobian, own_pair, pair_jacobian
from .transmit import take_off, transmit
from .turning import carried_pair, joint_pair_rate


@wp.func
def kind_of(x: wp.ref[WorkArrays], r: int, w: int) -> int:
    return x.row_kind[r, w]


# what a row is


@wp.func
def is_equation(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row is one of the mechanism's own: it holds without bound and does no work."""
    kind = kind_of(x, r, w)
    return closure.is_closure(kind) or coupling.is_coupling(kind)


@wp.func
def is_drive(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row is of a motor with a speed or position."""
    return motor.is_drive(kind_of(x, r, w))


@wp.func
def is_limit(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row pushes one way only."""
    return limit.is_limit(kind_of(x, r, w))


@wp.func
def can_stick(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row is of friction: it holds while its impulse is inside its bound."""
    return friction.is_friction(kind_of(x, r, w))


@wp.func
def is_force(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot acts as a force and is never a row."""
    return motor.is_torque(kind_of(x, r, w))


@wp.func
def is_element(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot keeps the books of a force element (forces/total.py)."""
    if HAS_ELEMENTS == 0:  # known when it is compiled
        return False
    return kind_of(x, r, w) >= ELEMENT


@wp.func
def is_slot_of(m: wp.ref[SystemArrays], r: int, kind: int) -> bool:
    """Whether a slot is that of an element of a kind."""
    return m.slot_kind[r] == kind


@wp.func
def is_loss(m: wp.ref[SystemArrays], r: int) -> bool:
    """Whether what a slot's impulse takes is a loss: friction and limits. Also where no rows are listed."""
    return friction.is_friction(m.slot_kind[r]) or limit.is_limit(m.slot_kind[r])


@wp.func
def is_line(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot is a spring or a hand in use: its length changes other than by h u where its ends turn."""
    kind = kind_of(x, r, w)
    if hand.is_hand(kind):
        return not hand.is_empty(m, x, r, w)
    return compliant.is_line(kind)


@wp.func
def is_in_joint(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row acts in a joint, and not between points."""
    kind = kind_of(x, r, w)
    return not (compliant.is_line(kind) or hand.is_hand(kind) or kind >= ELEMENT)


@wp.func
def is_unused(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot is of a hand that holds nothing."""
    return hand.is_hand(kind_of(x, r, w)) and hand.is_empty(m, x, r, w)


@wp.func
def has_coordinate(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row acts along a freedom."""
    return not is_equation(x, r, w) and is_in_joint(x, r, w)


@wp.func
def holds(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row holds a position whatever it takes: an equation, or a servo without bound."""
    return is_equation(x, r, w) or (motor.is_servo(x, r, w) and not motor.is_bounded(m, r, w))


@wp.func
def is_felt(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot's force, or the power that is booked of it, depends on velocities."""
    kind = kind_of(x, r, w)
    if compliant.is_compliant(kind):
        return compliant.damping(m, x, r, w) > ZERO
    if hand.is_hand(kind):
        return not hand.is_empty(m, x, r, w)
    return is_force(x, r, w) or is_element(x, r, w) or servo.is_servo(kind)


@wp.func
def needs_impulses(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, h: f64, w: int
) -> bool:
    """Whether a row may act within h that accelerations alone cannot hold: friction, or a limit that is near."""
    if can_stick(x, r, w):
        return friction.bound(m, r, w) > ZERO
    return is_limit(x, r, w) and limit.is_near(m, s, x, r, h, w)


# what it asks for


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    """Fill one row for a step h from time t; returns 1 if it is a row in this step."""
    kind = kind_of(x, r, w)
    if closure.is_closure(kind):
        return closure.fill(m, s, x, r, t, h, w)
    if coupling.is_coupling(kind):
        return coupling.fill(m, s, x, r, t, h, w)
    if limit.is_limit(kind):
        return limit.fill(m, s, x, r, t, h, w)
    if friction.is_friction(kind):
        return friction.fill(m, s, x, r, t, h, w)
    if motor.is_drive(kind):
        return motor.fill(m, s, x, r, t, h, w)
    if compliant.is_compliant(kind):
        return compliant.fill(m, s, x, r, t, h, w)
    if hand.is_hand(kind):
        return hand.fill(m, s, x, r, t, h, w)
    if servo.is_servo(kind):
        return servo.fill(m, s, x, r, t, h, w)
    return 0


@wp.func
def midway(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, beat: f64, w: int
):
    """Make a row that of a sub-step h from time t, of at most a beat, whose middle the geometry is."""
    kind = kind_of(x, r, w)
    if compliant.is_compliant(kind):
        compliant.midway(m, s, x, r, h, w)
    elif hand.is_hand(kind):
        hand.midway(m, s, x, r, t, h, w)
    elif motor.is_drive(kind):
        motor.midway(m, s, x, r, t, h, beat, w)
    elif servo.is_servo(kind):
        servo.midway(m, s, x, r, t, h, w)
    elif limit.is_limit(kind):
        limit.midway(m, s, x, r, h, w)
    elif is_equation(x, r, w):
        turn = acceleration(m, x, r, t, w)
        old = row_velocity(m, x, x.v_old, r, w)
        turned = HALF * (h * turn - row_velocity(m, x, s.v, r, w) + old)  # h/2 J̇ v, where old is about as much
        x.row_bias[r, w] = wp.clamp(turned, wp.min(old, ZERO), wp.max(old, ZERO))


@wp.func(inline=False)
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    """The wrench pair by which a slot's positive impulse acts, but for couplings, which have several."""
    kind = kind_of(x, r, w)
    if closure.is_closure(kind):
        return closure.pair(m, x, r, w)
    if compliant.is_compliant(kind):
        return compliant.pair(m, x, r, w)
    if hand.is_hand(kind):
        return hand.pair(m, x, r, w)
    if limit.is_limit(kind):
        return limit.pair(m, x, r, w)
    return own_pair(m, x, r, w)


@wp.func
def pair_rate(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, along: Pair, twist: wp.array2d(dtype=vec6), w: int
) -> Pair:
    """How the pair of a slot other than a coupling changes where the bodies move at the given twists."""
    kind = kind_of(x, r, w)
    if compliant.is_line(kind):
        return compliant.spring_rate(m, x, x.row_part[r, w], along, twist, w)
    if hand.is_hand(kind):
        return carried_pair(x, along, twist, w)
    return joint_pair_rate(m, x, x.row_part[r, w], m.slot_code[r], along, twist, w)


@wp.func(inline=False)
def error(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """Position error of a bilateral row [m, rad]; a speed motor has none."""
    kind = kind_of(x, r, w)
    if closure.is_closure(kind):
        return closure.error(m, s, x, r, w)
    if coupling.is_coupling(kind):
        return coupling.error(m, s, x, r, w)
    if motor.is_drive(kind):
        return motor.error(m, s, x, r, t, w)
    return ZERO


@wp.func
def target_rate(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """What a bilateral row's velocity should be at time t."""
    if is_drive(x, r, w):
        return motor.target_rate(m, x, r, t, w)
    return ZERO


@wp.func
def acceleration_along(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, along: Pair, t: f64, w: int) -> f64:
    """`acceleration` of a row other than a coupling, whose pair is known."""
    if is_drive(x, r, w):
        return motor.acceleration(m, x, r, along, t, w)
    return joint_acceleration(m, x, x.row_part[r, w], m.slot_code[r], along, w)


@wp.func
def acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """Acceleration of a row in a joint at the bodies' present ones, less what it should be at time t."""
    if coupling.is_coupling(kind_of(x, r, w)):
        return coupling.acceleration(m, x, r, w)
    return acceleration_along(m, x, r, pair(m, x, r, w), t, w)


@wp.func
def fill_instant(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int) -> f64:
    """J of a bilateral row; returns its acceleration."""
    if coupling.is_coupling(kind_of(x, r, w)):
        coupling.jacobian(m, x, r, w)
        return coupling.acceleration(m, x, r, w)
    along = pair(m, x, r, w)
    pair_jacobian(m, x, r, along, w)
    return acceleration_along(m, x, r, along, t, w)


@wp.func
def jacobian(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int):
    """J of a row other than a coupling or a limit."""
    if m.slot_dof[r] >= 0:
        own_jacobian(m, x, r, ONE, w)
    else:
        pair_jacobian(m, x, r, pair(m, x, r, w), w)


@wp.func
def place(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """What a bilateral row holds: an equation its error, a motor its coordinate [m, rad]."""
    kind = kind_of(x, r, w)
    if closure.is_closure(kind):
        return closure.error(m, s, x, r, w)
    if coupling.is_coupling(kind):
        return coupling.error(m, s, x, r, w)
    return own_coordinate(m, s, x, r, w)


@wp.func
def due(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> f64:
    """What `place` of a bilateral row, which is at its place of time t now, should be at t + h."""
    if is_drive(x, r, w):
        return motor.due(m, s, x, r, t, h, w)
    return ZERO


# compliant rows


@wp.func
def stiffness(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Of a compliant row, a hand or a servo [N/m, N m/rad]."""
    if hand.is_hand(kind_of(x, r, w)):
        return hand.stiffness(m, r, w)
    if servo.is_servo(kind_of(x, r, w)):
        return servo.stiffness(m, x, r, w)
    return compliant.stiffness(m, r, w)


@wp.func
def damping(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Of a compliant row, a hand or a servo, viscous friction included [N s/m, N m s/rad]."""
    if hand.is_hand(kind_of(x, r, w)):
        return hand.damping(m, r, w)
    if servo.is_servo(kind_of(x, r, w)):
        return servo.damping(m, x, r, w)
    return compliant.damping(m, x, r, w)


@wp.func
def stretch(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """Of a slot's spring [m, rad]; 0 where the slot has none."""
    kind = kind_of(x, r, w)
    if compliant.is_compliant(kind):
        return compliant.stretch(m, s, x, r, w)
    if hand.is_hand(kind) and not hand.is_empty(m, x, r, w):
        return hand.stretch(m, s, x, r, w)
    return ZERO


@wp.func
def elastic_energy(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    """[J]"""
    d = stretch(m, s, x, r, w)
    if d == ZERO:
        return ZERO
    return HALF * stiffness(m, x, r, w) * d * d


@wp.func
def target_step(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int
) -> f64:
    """How far the other end of a slot's spring is moved in the step by a hand [m, rad]."""
    if hand.is_hand(kind_of(x, r, w)):
        return hand.target_step(m, s, x, r, t, h, w)
    return ZERO


@wp.func
def stretch_after(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int
) -> f64:
    """Of a slot's spring with its bodies where they are, and its other end where a hand has it at t + h [m, rad]."""
    if hand.is_hand(kind_of(x, r, w)) and hand_turn.is_turn(m, r):
        return hand_turn.component(m, r, hand_turn.off_at(m, s, x, x.row_part[r, w], t + h, w))
    return stretch(m, s, x, r, w) - target_step(m, s, x, r, t, h, w)


@wp.func
def turns_hand(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a slot is the first of the three by which a hand that is in use turns."""
    return hand.is_hand(kind_of(x, r, w)) and m.slot_code[r] == TURNS and not hand.is_empty(m, x, r, w)


# what it did


@wp.func
def act(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int):
    """Add the force of a compliant row, or of friction that slides, at time t.

    Returns it, its power, and what dampers and viscous friction take.
    """
    kind = kind_of(x, r, w)
    force = ZERO
    power = ZERO
    loss = ZERO
    viscous = ZERO
    if compliant.is_compliant(kind):
        force, loss, viscous = compliant.act(m, s, x, r, w)
    elif hand.is_hand(kind):
        force, power, loss = hand.act(m, s, x, r, t, w)
    elif friction.is_friction(kind):
        force, power = friction.act(m, s, x, r, w)
    elif servo.is_servo(kind):
        force, power = servo.act(m, s, x, r, t, w)
    return force, power, loss, viscous


@wp.func
def book(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int):
    """Work and losses of one row over a step h from time t, before positions move."""
    kind = kind_of(x, r, w)
    if is_equation(x, r, w):
        return
    if hand.is_hand(kind):
        hand.book(m, s, x, r, t, h, w)
    elif compliant.is_compliant(kind):
        compliant.book(m, s, x, r, h, w)
    else:
        book_impulse(m, s, x, r, w)


@wp.func
def react(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, force: f64, w: int):
    """Send one row's force to the joint that it acts in, or to the bodies between which it acts."""
    if coupling.is_coupling(kind_of(x, r, w)):
        coupling.react(m, x, r, force, w)
    elif is_in_joint(x, r, w):
        transmit(m, x, x.row_part[r, w], pair(m, x, r, w), force, w)
    else:
        take_off(x, pair(m, x, r, w), force, w)
