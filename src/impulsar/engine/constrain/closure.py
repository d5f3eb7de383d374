"""Closures: the locks of a joint that closes a loop (locks.py). No bias, no bound, the error removed."""

import warp as wp

from ...author.joints import LENGTH, LOCK_X, LOCK_Z
from ..spatial import ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.slots import CLOSURE
from .accelerations import joint_acceleration
from .frames import Pair
from .locks import closure_angle, lock
from .rows import add_pair, clear_row, set_equation


@wp.func
def is_closure(kind: int) -> bool:
    return kind == CLOSURE


@wp.func
def is_length(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> bool:
    """Whether a row holds two points of a joint together, so that its error is a length."""
    code = m.slot_code[r]
    return is_closure(x.row_kind[r, w]) and ((code >= LOCK_X and code <= LOCK_Z) or code == LENGTH)


@wp.func
def fill(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int) -> int:
    part = x.row_part[r, w]
    code = m.slot_code[r]
    clear_row(x, r, w)
    pair, error = lock(m, x, part, code, closure_angle(m, s, x, part, code, m.slot_q[r], w), w)
    add_pair(m, x, r, pair, ONE, w)
    set_equation(x, r, error, w)
    return 1


@wp.func
def pair(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> Pair:
    found, _ = lock(m, x, x.row_part[r, w], m.slot_code[r], ZERO, w)
    return found


@wp.func
def error(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, w: int) -> f64:
    part = x.row_part[r, w]
    code = m.slot_code[r]
    _, off = lock(m, x, part, code, closure_angle(m, s, x, part, code, m.slot_q[r], w), w)
    return off


@wp.func
def acceleration(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, along: Pair, w: int) -> f64:
    return joint_acceleration(m, x, x.row_part[r, w], m.slot_code[r], along, w)
