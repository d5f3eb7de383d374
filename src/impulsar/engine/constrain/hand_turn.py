"""Hands that turn what they hold: a spring and damper from the body's orientation to that of the hand, about the axes
of the world, one row for each.

    φ = log (R_B R_Tᵀ)                          rotation vector from the target T to the body B, the short way [rad]
    energy        V = k |φ|² / 2
    torque        τ = -k φ - c (ω - Ω)          on the body; ω its angular velocity, Ω the target's
    power         τ · Ω                         done by the hand;   c |ω - Ω|²  is lost in its damper
    stiffness     -∂τ/∂δ = k D,   D = 1 - [φ]/2 + κ [φ]²,   κ = (1 - |φ|/2 cot |φ|/2) / |φ|²

δ is a small turn of the body in world axes. φ̇ = D (ω - R Ω) with R = R_B R_Tᵀ, and Dᵀ φ = Rᵀ φ = φ, so that
V̇ = k φ · (ω - Ω): what spring, damper and hand do adds up, and rows along the axes of the world give the torque
exactly, each by its own φ_i, though their velocities are not the rates of φ_i. The logarithm is taken and not, say,
the quaternion's vector part, whose torque k sin |φ| grows weak where one turns far: the torque of this one is k times
the angle, up to half a turn.

At half a turn both ways are as short. V is continuous there, and τ changes its side: a body left behind by more than
that comes round the other way. Exactly there the way is that of the quaternion as it stands, the same in every run.

A row of an impulsive step has the spring's torque at its end as -k (φ + h (ω - Ω)). Rotations have no negative
curvature, so that |log (exp a exp b)| ≤ |a + b|: a body that turns evenly holds no more energy than it was solved for,
and the step is stable at any stiffness. One that tumbles far in a step may hold more, for that step; the books say so.

The target goes to a rotation vector θ, R_T = exp [θ], that was set evenly over the nominal step, the short way and
about one axis; along a profile θ(t), also over many turns, with

    Ω = (1 + (1 - cos |θ|) / |θ|² [θ] + (|θ| - sin |θ|) / |θ|³ [θ]²) θ̇
"""

import warp as wp

from ..spatial import HALF, ZERO, axis_of, exp_rotation, f64, quat, rotation_vector, spin_of, vec3, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.channels import CONSTANT, channel, channel_rate
from ..system.slots import TURNS
from .frames import Pair, pair_velocity
from .rows import push_pair


@wp.func
def is_turn(m: wp.ref[SystemArrays], r: int) -> bool:
    """Whether a slot of a hand turns."""
    return m.slot_code[r] >= TURNS


@wp.func
def is_idle(m: wp.ref[SystemArrays], r: int, w: int) -> bool:
    """Whether it is one that has nothing to turn with."""
    return is_turn(m, r) and m.slot_a[r, w] == ZERO and m.slot_b[r, w] == ZERO


@wp.func
def component(m: wp.ref[SystemArrays], r: int, v: vec3) -> f64:
    """Of a vector, along the axis of a slot."""
    return wp.dot(v, axis_of(m.slot_code[r] - TURNS))


@wp.func
def follows(m: wp.ref[SystemArrays], k: int) -> bool:
    """Whether a hand turns along a profile."""
    c = m.turn_channel[k]
    for axis in range(3):
        if m.channel_kind[c + axis] != CONSTANT:
            return True
    return False


@wp.func
def setpoint(m: wp.ref[SystemArrays], k: int, t: f64, w: int) -> vec3:
    """θ that the channels of a hand give at time t."""
    c = m.turn_channel[k]
    return vec3(channel(m, c, t, w), channel(m, c + 1, t, w), channel(m, c + 2, t, w))


@wp.func
def held_at(s: wp.ref[StateArrays], k: int, w: int) -> quat:
    """R_T where the state has it."""
    return exp_rotation(vec3(s.hand_turn[3 * k, w], s.hand_turn[3 * k + 1, w], s.hand_turn[3 * k + 2, w]))


@wp.func
def way(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], k: int, w: int) -> vec3:
    """By which a hand that was set to an orientation turns in the nominal step."""
    return rotation_vector(exp_rotation(setpoint(m, k, s.time[0, w], w)) * wp.quat_inverse(held_at(s, k, w)))


@wp.func(inline=False)
def target(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], k: int, t: f64, w: int) -> quat:
    """R_T at time t."""
    if follows(m, k):
        return exp_rotation(setpoint(m, k, t, w))
    share = (t - s.time[0, w]) / m.nominal_h[0]
    return exp_rotation(share * way(m, s, k, w)) * held_at(s, k, w)


@wp.func(inline=False)
def target_spin(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], k: int, t: f64, w: int) -> vec3:
    """Ω at time t."""
    if follows(m, k):
        c = m.turn_channel[k]
        rate = vec3(channel_rate(m, c, t, w), channel_rate(m, c + 1, t, w), channel_rate(m, c + 2, t, w))
        return spin_of(setpoint(m, k, t, w), rate)
    return way(m, s, k, w) / m.nominal_h[0]


@wp.func(inline=False)
def target_step(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], k: int, t: f64, h: f64, w: int) -> vec3:
    """How far the target turns in a step h from time t, the short way [rad]."""
    return rotation_vector(target(m, s, k, t + h, w) * wp.quat_inverse(target(m, s, k, t, w)))


@wp.func
def off(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], k: int, from_: quat, w: int) -> vec3:
    """φ from an orientation to that of the body."""
    return rotation_vector(x.q_WB[m.hand_body[k], w] * wp.quat_inverse(from_))


@wp.func(inline=False)
def off_at(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], k: int, t: f64, w: int) -> vec3:
    """φ with the target where it is at time t."""
    return off(m, x, k, target(m, s, k, t, w), w)


@wp.func(inline=False)
def off_now(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], k: int, w: int) -> vec3:
    """φ with the target where the state has it."""
    return off(m, x, k, held_at(s, k, w), w)


@wp.func(inline=False)
def off_midway(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], k: int, t: f64, h: f64, w: int
) -> vec3:
    """φ with the target in the middle of its way in a step h from time t."""
    moved = target_step(m, s, k, t, h, w)
    return off(m, x, k, exp_rotation(HALF * moved) * target(m, s, k, t, w), w)


@wp.func
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    """Pair about one axis of the world, on the body."""
    hold = Pair()
    hold.first = -1
    hold.second = m.hand_body[x.row_part[r, w]]
    hold.point = x.p_WB[hold.second, w]
    hold.turn = axis_of(m.slot_code[r] - TURNS)
    hold.slide = zero3()
    return hold


@wp.func(inline=False)
def act(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, w: int):
    """Add the torque of an instant to its body's wrench; returns it, its power and what its damper takes [W].

    The first of a hand's three rows looks where the body is, for all of them.
    """
    k = x.row_part[r, w]
    if m.slot_code[r] == TURNS:
        x.hand_off[k, w] = off_at(m, s, x, k, t, w)
        x.hand_spin[k, w] = target_spin(m, s, k, t, w)
    hold = pair(m, x, r, w)
    spin = component(m, r, x.hand_spin[k, w])
    u = pair_velocity(x, hold, w) - spin
    torque = -m.slot_a[r, w] * component(m, r, x.hand_off[k, w]) - m.slot_b[r, w] * u
    push_pair(x, hold, torque, w)
    return torque, torque * spin, m.slot_b[r, w] * u * u


@wp.func
def arrive(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], k: int, t: f64, w: int):
    """The target arrives where its channels are at time t."""
    for axis in range(3):
        s.hand_turn[3 * k + axis, w] = channel(m, m.turn_channel[k] + axis, t, w)
