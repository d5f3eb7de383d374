"""Couplings: q_b = ratio · q_a + offset, of a gear or a rack. J = J_b - ratio J_a, no bias or bound, the error removed.

A coupling has two wrench pairs, one for each side.
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
def ratio(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    return m.slot_b[r, w]


@wp.func
def offset(m: wp.ref[SystemArrays], r: int, w: int) -> f64:
    return m.slot_c[r, w]


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


@wp.func
def side_coordinate(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, side: int, w: int
) -> f64:
    c = x.row_part[r, w]
    return coordinate(m, s, x, m.coupled_joint[c, side], m.coupled_code[c, side], m.coupled_q[c, side], w)


@wp.func
def error(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    return side_coordinate(m, s, x, r, 1, w) - ratio(m, r, w) * side_coordinate(m, s, x, r, 0, w) - offset(m, r, w)


@wp.func
def side_acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, side: int, w: int) -> f64:
    c = x.row_part[r, w]
    j = m.coupled_joint[c, side]
    code = m.coupled_code[c, side]
    return joint_acceleration(m, x, j, code, freedom_pair(m, x, j, code, w), w)


@wp.func
def acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    return side_acceleration(m, x, r, 1, w) - ratio(m, r, w) * side_acceleration(m, x, r, 0, w)


@wp.func
def react(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, force: f64, w: int):
    c = x.row_part[r, w]
    for side in range(2):
        j = m.coupled_joint[c, side]
        size = force
        if side == 0:
            size = -force * ratio(m, r, w)
        transmit(m, x, j, freedom_pair(m, x, j, m.coupled_code[c, side], w), size, w)
