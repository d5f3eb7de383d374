"""Steps of worlds with contact, from their state alone; loaded where something touches only.

Which contacts there are, and in what modes, is a way through the step: guards on pairs, features and modes. Rounds of
the solves are loops.
"""

from collections.abc import Callable
from typing import Any

from ..collide.broad import bounds_meet, find_pairs, is_excluded, is_surface, may_touch
from ..collide.cores import sign_of
from ..constrain.contact import append_contact
from ..constrain.frames import follow_loops
from ..coordinates.tree import kinematics
from ..integrate.clock import advance_clock
from ..integrate.contacts import append_rows, keep_impulses, recall, remember
from ..integrate.swept import find_rows
from ..methods import direct_contact, simgc_contact
from .graph import Untraceable
from .tracing import keep_loops_of, stand_in, traced

keep_loops_of(sign_of, recall, append_contact, append_rows, find_rows, keep_impulses)
keep_loops_of(direct_contact.touching_step, after_first=True)


def take_simgc(m: Any, s: Any, x: Any, c: Any, w: int) -> None:
    """A step of `simgc`."""
    begin(m, s, x, c, w)
    traced(simgc_contact.touching_step)(m, s, x, c, False, w)
    traced(remember)(s, c, w)


def take_direct(m: Any, s: Any, x: Any, c: Any, w: int) -> None:
    """A nominal step of `direct`."""
    begin(m, s, x, c, w)
    traced(direct_contact.touching_step)(m, s, x, c, False, w)
    traced(advance_clock)(m, s, m.nominal_h[0], w)
    traced(remember)(s, c, w)


def begin(m: Any, s: Any, x: Any, c: Any, w: int) -> None:
    """What a step finds: poses, and the contacts of the last one."""
    traced(kinematics)(m, s, x, 0.0, w)
    traced(follow_loops)(m, s, x, w)
    traced(recall)(s, c, w)


RECIPES: dict[str, Callable] = {"simgc": take_simgc, "direct": take_direct}


@stand_in(find_pairs)
def _pairs(m: Any, x: Any, w: int) -> None:
    """Pairs whose bounds meet, ascending: each by itself, since an order of all would be a way of its own."""
    count, shapes = 0, m.kind.shape[0]
    for a in range(shapes):
        for b in range(a + 1, shapes):
            apart = m.body[a] == m.body[b] or traced(is_excluded)(m, a, b)
            if apart or (traced(is_surface)(m.kind[a]) and traced(is_surface)(m.kind[b])):
                continue
            meet = traced(bounds_meet)(x.low[a, w], x.high[a, w], x.low[b, w], x.high[b, w])
            if meet and traced(may_touch)(m, x, a, b, w):
                if count >= x.pair_first.shape[0]:
                    raise Untraceable("more pairs of shapes may touch than there is room for")
                x.pair_first[count, w], x.pair_second[count, w] = a, b
                count += 1
    x.pairs_missed[0, w], x.pair_count[0, w] = 0, count
