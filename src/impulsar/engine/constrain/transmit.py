"""Which way a row's force goes: through the joint that it acts in, or from body to body."""

import warp as wp

from ..spatial import f64, spatial, vec6
from ..state import WorkArrays
from ..system import SystemArrays
from .frames import Pair


@wp.func
def about(x: wp.ref[WorkArrays], pair: Pair, body: int, size: f64, w: int) -> vec6:
    """size · pair as a wrench about a body's centre of mass."""
    arm = pair.point - x.p_WB[body, w]
    return spatial(size * (pair.turn + wp.cross(arm, pair.slide)), size * pair.slide)


@wp.func
def take_off(x: wp.ref[WorkArrays], pair: Pair, size: f64, w: int):
    """Subtract a pair's wrenches from what the bodies' tree joints must transmit."""
    if pair.second >= 0:
        x.transmitted[pair.second, w] = x.transmitted[pair.second, w] - about(x, pair, pair.second, size, w)
    if pair.first >= 0:
        x.transmitted[pair.first, w] = x.transmitted[pair.first, w] + about(x, pair, pair.first, size, w)


@wp.func
def transmit(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, pair: Pair, size: f64, w: int):
    """A row of joint j: its force goes through j, and if that closes a loop not through the tree joints."""
    if j >= m.parent.shape[0]:
        x.reaction[j, w] = x.reaction[j, w] + spatial(size * pair.turn, size * pair.slide)
        take_off(x, pair, size, w)
    else:  # a tree joint's own rows are among what it transmits
        x.own_torque[j, w] = x.own_torque[j, w] + size * pair.turn
