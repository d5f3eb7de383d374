"""Whole turns beside angles: what turns for days keeps the digits of its pose.

The coordinate of a hinge counts whole turns, and after 10⁵ of them its last digit is 1e-10 rad. While steps are taken
such an angle is kept within half a turn, its turns beside it, and the two are added up where a launch ends. Angles that
a row or a spring reads stay as they are.
"""

import warp as wp

from ..freedoms import coordinates_of, is_ball, is_turn
from ..spatial import PI, TWO_PI, ZERO
from ..state import OF_SYSTEM, Block, Counts, StateArrays
from ..system import SystemArrays


def turning_blocks(counts: Counts) -> tuple[Block, ...]:
    """Angles of the last step within half a turn [rad], and whole turns beyond them."""
    return Block("angle", counts.coordinates, lasts=OF_SYSTEM), Block("turns", counts.coordinates, lasts=OF_SYSTEM)


@wp.func
def is_read(m: wp.ref[SystemArrays], c: int) -> bool:
    """Whether a row or a spring acts by coordinate c."""
    found = bool(False)
    for r in range(m.slot_dof.shape[0]):
        if m.slot_dof[r] >= 0 and m.slot_q[r] == c:
            found = True
    for k in range(m.coupled_q.shape[0]):
        if m.coupled_q[k, 0] == c or m.coupled_q[k, 1] == c:
            found = True
    for k in range(m.more_q.shape[0]):
        if m.more_q[k] == c:
            found = True
    return found


@wp.func(inline=False)
def take_off_turns(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], turns: int, w: int):
    """Bring angles back to within half a turn; `turns` is where their turns are in s.method."""
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            code = m.dof_kind[k]
            if is_turn(code) and not is_ball(code) and wp.abs(s.q[c, w]) > PI:
                if not is_read(m, c):
                    n = wp.round(s.q[c, w] / TWO_PI)
                    s.q[c, w] = s.q[c, w] - n * TWO_PI
                    s.method[turns + c, w] = s.method[turns + c, w] + n
            c += coordinates_of(code)


@wp.func
def begin_turns(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], angle: int, turns: int, w: int):
    """At the start of a launch: angles as the last one left them, but for those that were set since."""
    for c in range(s.q.shape[0]):
        n = s.method[turns + c, w]
        if n != ZERO:
            if s.q[c, w] == s.method[angle + c, w] + n * TWO_PI:
                s.q[c, w] = s.method[angle + c, w]
            else:
                s.method[turns + c, w] = ZERO


@wp.func
def end_turns(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], angle: int, turns: int, w: int):
    """At its end: coordinates that count whole turns."""
    for c in range(s.q.shape[0]):
        n = s.method[turns + c, w]
        if n != ZERO:
            s.method[angle + c, w] = s.q[c, w]
            s.q[c, w] = s.q[c, w] + n * TWO_PI
