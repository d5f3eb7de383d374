"""Couplings: q_b = ratio · q_a + offset + Σ weight · q_k, a gear or a rack; with further coordinates q_k a differential
or a tendon. J = J_b - ratio J_a - Σ weight J_k, no bias or bound, the error removed.

A coupling has a wrench pair for each of its coordinates: two sides, and its further terms from more_start on.
"""

import warp as wp

from ..spatial import ONE, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import COUPLING
from .accelerations import joint_acceleration
from .frames import coordinate, freedom_pair
from .rows import add_freedom, clear_row, set_equation
from .transmit import transmit


@wp.func
def is_coupling(kind: int) -> bool:
    return kind == COUPLING


@wp.func
def is_coupling_row(x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    return is_coupling(x.row_kind[r, w])


@wp.func
def ratio(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    return m.slot_b[r, w]


@wp.func
def offset(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    return m.slot_c[r, w]


@wp.func
def first_term(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> int:
    return m.more_start[x.row_part[r, w]]


@wp.func
def end_of_terms(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> int:
    return m.more_start[x.row_part[r, w] + 1]


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    jacobian(m, x, r, w)
    set_equation(x, r, error(m, s, x, r, w), w)
    return 1


@wp.func
def add_side(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, side: int, scale: f64, w: int):
    c = x.row_part[r, w]
    add_freedom(m, x, r, m.coupled_joint[c, side], m.coupled_code[c, side], m.coupled_dof[c, side], scale, w)


@wp.func
def jacobian(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int):
    clear_row(x, r, w)
    add_side(m, x, r, 1, ONE, w)
    add_side(m, x, r, 0, -ratio(m, r, w), w)
    for k in range(first_term(m, x, r, w), end_of_terms(m, x, r, w)):
        add_freedom(m, x, r, m.more_joint[k], m.more_code[k], m.more_dof[k], -m.more_weight[k, w], w)


@wp.func
def side_coordinate(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, side: int, w: int
) -> f64:
    c = x.row_part[r, w]
    return coordinate(m, s, x, m.coupled_joint[c, side], m.coupled_code[c, side], m.coupled_q[c, side], w)


@wp.func
def error(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    e = side_coordinate(m, s, x, r, 1, w) - ratio(m, r, w) * side_coordinate(m, s, x, r, 0, w) - offset(m, r, w)
    for k in range(first_term(m, x, r, w), end_of_terms(m, x, r, w)):
        e -= m.more_weight[k, w] * coordinate(m, s, x, m.more_joint[k], m.more_code[k], m.more_q[k], w)
    return e


@wp.func
def freedom_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, code: int, w: int) -> f64:
    return joint_acceleration(m, x, j, code, freedom_pair(m, x, j, code, w), w)


@wp.func
def acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    c = x.row_part[r, w]
    a = freedom_acceleration(m, x, m.coupled_joint[c, 1], m.coupled_code[c, 1], w)
    a -= ratio(m, r, w) * freedom_acceleration(m, x, m.coupled_joint[c, 0], m.coupled_code[c, 0], w)
    for k in range(first_term(m, x, r, w), end_of_terms(m, x, r, w)):
        a -= m.more_weight[k, w] * freedom_acceleration(m, x, m.more_joint[k], m.more_code[k], w)
    return a


@wp.func
def react(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, force: f64, w: int):
    c = x.row_part[r, w]
    for side in range(2):
        j = m.coupled_joint[c, side]
        size = force
        if side == 0:
            size = -force * ratio(m, r, w)
        transmit(m, x, j, freedom_pair(m, x, j, m.coupled_code[c, side], w), size, w)
    for k in range(first_term(m, x, r, w), end_of_terms(m, x, r, w)):
        j = m.more_joint[k]
        transmit(m, x, j, freedom_pair(m, x, j, m.more_code[k], w), -force * m.more_weight[k, w], w)
