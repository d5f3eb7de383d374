"""Where inside a sub-step the first mode changes, or a surface is passed, on its dense output.

modes.py and surfaces.py have what is looked at.
"""

import warp as wp

from ..ledger import STAGES
from ..spatial import HALF, ONE, ZERO, f64
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from .control import set_within
from .evaluate import evaluate
from .modes import first_crossing, watch, watched

SHARP = wp.constant(wp.float64(1e-13))  # how exactly a change of mode is located [s]
FINEST = wp.constant(wp.float64(1e-15))  # and at best, of a sub-step
TRIES = 60
INSIDE = wp.constant(wp.float64(0.02))  # of what is left of the search, the least that a try leaves on either side


@wp.func(inline=False)
def locate(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: f64,
    size: f64,
    seen: f64,
    modal: bool,
    w: int,
) -> f64:
    """The part of the sub-step after which the first mode has just changed; 0 where none does after all.

    seen: part at which a stage has seen it. By the rule of false position, the end that stays weighed less and less
    (Illinois); x.watch_end is left with what has changed there.
    """
    near = ZERO
    far = seen
    step = int(0)
    stays = int(0)
    while step < TRIES:
        part = far  # first the far end, then the near one
        if step == 1:
            part = near
        elif step > 1:
            part = first_crossing(x, near, far, w)
            room = INSIDE * (far - near)
            if step % 4 == 3:
                part = HALF * (near + far)
            part = wp.clamp(part, near + room, far - room)
        set_within(m, s, x, part, size, w)
        evaluate(m, s, x, t + part * size, STAGES, w)
        changed = bool(watch(m, s, x, x.watch_try, t + part * size, modal, w))
        if step == 0 and not changed:
            if far == ONE:
                return ZERO
            far = ONE
            continue
        if step == 1:
            changed = bool(False)
        if changed:
            far = part
        else:
            near = part
        for r in range(watched(x, w)):
            if changed:
                x.watch_end[r, w] = x.watch_try[r, w]
                if stays > 0 and step > 1:
                    x.watch_start[r, w] = HALF * x.watch_start[r, w]
            else:
                x.watch_start[r, w] = x.watch_try[r, w]
                if stays < 0:
                    x.watch_end[r, w] = HALF * x.watch_end[r, w]
        if step > 1:
            stays = wp.where(changed, int(1), int(-1))
        step += 1
        if far - near <= wp.max(SHARP / size, FINEST):
            step = TRIES
    return far
