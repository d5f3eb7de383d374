"""Which rows there are: kind, part, trees and group of each, in the work arrays.

A row is a slot, or one that came with this step. Slots are listed at the start of every launch, and not when an edit
changes them: nothing has to be kept in step with edits, and a launch lists what it needs in a few stores a slot. Where
no slot is live (a chain that no hand holds) none of them counts, and those that an earlier launch listed are left as
they are, if it was of the same system and hands have done nothing since. What comes and goes is appended behind them,
each with room in J and Y for the two largest trees, as many as the system has room for (System(extra_rows=)); what
finds none is counted in the report.
"""

import warp as wp

from ..spatial import f64
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.measured import ROWS_LEFT_OUT


@wp.func
def list_rows(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], w: int):
    """The rows of a launch are its slots."""
    slots = m.slot_kind.shape[0]
    x.rows_missing[0, w] = int(0)
    x.lock_count[0, w] = int(0)
    still = m.live_slots[0] == 0 and x.row_kind.shape[0] == slots
    if still and x.listed[0, w] == m.listing[0]:
        return
    x.listed[0, w] = int(0)
    x.row_count[0, w] = slots
    if still:
        x.listed[0, w] = m.listing[0]
        x.row_count[0, w] = int(0)
    x.row_start[slots, w] = m.slot_row[slots]
    for r in range(slots):
        x.row_kind[r, w] = m.slot_kind[r]
        x.row_part[r, w] = m.slot_part[r]
        x.row_group[r, w] = m.slot_group[r]
        x.row_bound_of[r, w] = int(-1)
        x.row_start[r, w] = m.slot_row[r]
        x.row_weight[r, w] = m.slot_weight[r]
        x.at_rest[r, w] = int(0)
        for n in range(4):
            x.row_trees[4 * r + n, w] = m.slot_trees[r, n]


@wp.func
def append_row(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    kind: int,
    part: int,
    first: int,
    second: int,
    weight: f64,
    w: int,
) -> int:
    """A row between two bodies (-1: ground) that is there until rows are listed again; -1 where there is no room.

    weight: of |J|², 1 / size² where the row is in metres.
    """
    slots = m.slot_kind.shape[0]
    room = x.row_kind.shape[0] - slots
    r = x.row_count[0, w]
    if r >= slots + room:
        x.rows_missing[0, w] = x.rows_missing[0, w] + 1
        x.report[ROWS_LEFT_OUT, w] = wp.max(x.report[ROWS_LEFT_OUT, w], f64(x.rows_missing[0, w]))
        return -1
    x.row_count[0, w] = r + 1
    x.row_kind[r, w] = kind
    x.row_part[r, w] = part
    x.row_group[r, w] = int(1)
    x.row_bound_of[r, w] = int(-1)
    x.row_weight[r, w] = weight
    x.row_start[r + 1, w] = x.row_start[r, w] + (x.J.shape[0] - m.slot_row[slots]) // room
    near = int(-1)
    far = int(-1)
    if first >= 0:
        near = m.tree_of[first]
    if second >= 0:
        far = m.tree_of[second]
    low = wp.min(near, far)
    high = wp.max(near, far)
    if low < 0 or low == high:  # one tree
        low = high
        high = int(-1)
    x.row_trees[4 * r, w] = low
    x.row_trees[4 * r + 1, w] = high
    x.row_trees[4 * r + 2, w] = int(-1)
    x.row_trees[4 * r + 3, w] = int(-1)
    return r


@wp.func
def bind_cone(x: wp.ref[WorkArrays], r: int, n: int, of: int, w: int):
    """Rows r .. r + n - 1 are bounded together, by their row_high times the impulse of row `of`; -1: by it alone."""
    for k in range(n):
        x.row_group[r + k, w] = int(0)
        x.row_bound_of[r + k, w] = of
    x.row_group[r, w] = n
