"""Shapes that overlap before a step: how deep, and bodies moved apart by the least motion, joints closed, no speed.

The projection is that of steps (integrate/contacts.py), repeated till nothing overlaps or it does not help any more.
"""

import warp as wp

from ..constrain import kinds
from ..constrain.frames import follow_loops
from ..constrain.topology import list_rows
from ..coordinates.tree import kinematics
from ..integrate.contacts import LEFT_ERROR, detect, project_contacts
from ..solve.islands import ContactArrays
from ..spatial import ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays

LOOK, PUSH = 0, 1  # what is asked
CALLS = 200  # of the projection, of four rounds each
STUCK = 5  # calls without a gain, after which the rest is left
GAIN = wp.constant(wp.float64(0.999))


@wp.func
def deepest(c: wp.ref[ContactArrays], w: int) -> f64:
    """Overlap of the contacts found [m]."""
    deep = ZERO
    for i in range(c.found.count[0, w]):
        deep = wp.max(deep, -c.found.gap[i, w])
    return deep


def settle_overlaps(m: SystemArrays, s: StateArrays, x: WorkArrays, c: ContactArrays, ask: wp.array(dtype=wp.int32)):
    """Find contacts, and with PUSH take overlaps away; leaves the contacts of the pose, without impulses."""
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.solved[r, w] = int(kinds.is_equation(x, r, w) and m.basis[r, w] != ZERO)
    c.found.count[0, w] = int(0)
    detect(m, x, c, ZERO, w)
    calls = int(0)
    idle = int(0)
    least = deepest(c, w)
    while ask[0] == PUSH and least > LEFT_ERROR and calls < CALLS and idle < STUCK:
        project_contacts(m, s, x, c, s.time[0, w], ZERO, w)
        deep = deepest(c, w)
        idle += 1
        if deep < GAIN * least:
            least = deep
            idle = int(0)
        calls += 1
