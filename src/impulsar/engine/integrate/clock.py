"""The clock of a step."""

import warp as wp

from ..constrain import hand
from ..spatial import f64
from ..state import StateArrays
from ..system import SystemArrays


@wp.func
def advance_clock(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], h: f64, w: int):
    """Hands and the clock arrive at the end of the step."""
    t = s.time[0, w] + h
    hand.arrive(m, s, t, w)
    s.time[0, w] = t
