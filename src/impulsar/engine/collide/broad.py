"""Pairs of shapes that may touch: bounds sorted along one axis and swept.

The order is kept between calls, so that insertion has little to move; ties go by the shapes' numbers. Pairs come out
ascending. A plane's bounds are endless, so that it meets all others, and those beyond it are left out by their bounds.
"""

import warp as wp

from ..spatial import ZERO, column, vec3
from .arrays import FIELD, MESH, PLANE, CollideScratch, ShapeArrays


@wp.func
def is_surface(kind: int) -> bool:
    return kind == PLANE or kind == MESH or kind == FIELD


@wp.func(inline=False)
def is_excluded(m: wp.ref[ShapeArrays], a: int, b: int) -> bool:
    """Whether the pair a < b is among those left out, by halving their sorted list."""
    code = wp.int64(a) * wp.int64(m.kind.shape[0]) + wp.int64(b)
    low = int(0)
    high = m.excluded.shape[0]
    while low < high:
        middle = (low + high) // 2
        if m.excluded[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < m.excluded.shape[0]:
        return m.excluded[low] == code
    return False


@wp.func
def is_beyond(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], plane: int, shape: int, w: int) -> bool:
    """Whether a shape's bounds lie wholly above a plane, by the margin that they have."""
    n = column(x.R_WS[plane, w], 2)
    low = x.low[shape, w]
    high = x.high[shape, w]
    nearest = ZERO
    for k in range(3):
        far = low[k] - x.p_WS[plane, w][k]
        if n[k] < ZERO:
            far = high[k] - x.p_WS[plane, w][k]
        nearest += n[k] * far
    return nearest > x.beyond[0, w] + x.travel[plane, w]


@wp.func
def bounds_meet(low: vec3, high: vec3, other_low: vec3, other_high: vec3) -> bool:
    for k in range(3):
        if low[k] > other_high[k] or other_low[k] > high[k]:
            return False
    return True


@wp.func(inline=False)
def may_touch(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], a: int, b: int, w: int) -> bool:
    """Of shapes a < b whose bounds meet."""
    if m.body[a] == m.body[b] or (is_surface(m.kind[a]) and is_surface(m.kind[b])):
        return False
    if m.kind[a] == PLANE and is_beyond(m, x, a, b, w):
        return False
    if m.kind[b] == PLANE and is_beyond(m, x, b, a, w):
        return False
    return not is_excluded(m, a, b)


@wp.func(inline=False)
def sort_shapes(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], w: int):
    """By lower bounds along the sweep's axis, by insertion into the order of the call before."""
    axis = m.sweep_axis[0]
    for i in range(1, m.kind.shape[0]):
        shape = x.order[i, w]
        low = x.low[shape, w][axis]
        j = i - 1
        while j >= 0:
            other = x.order[j, w]
            far = x.low[other, w][axis]
            if far < low or (far == low and other < shape):
                break
            x.order[j + 1, w] = other
            j -= 1
        x.order[j + 1, w] = shape
    for i in range(m.kind.shape[0]):  # side by side, so that the sweep reads one after another
        x.sorted_low[i, w] = x.low[x.order[i, w], w]
        x.sorted_high[i, w] = x.high[x.order[i, w], w]


@wp.func
def note_pair(x: wp.ref[CollideScratch], count: int, a: int, b: int, w: int) -> int:
    if count >= x.swept_first.shape[0]:
        x.pairs_missed[0, w] = x.pairs_missed[0, w] + 1
        return count
    x.swept_first[count, w] = a
    x.swept_second[count, w] = b
    x.pairs_of[a + 1, w] = x.pairs_of[a + 1, w] + 1
    return count + 1


@wp.func(inline=False)
def order_pairs(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], count: int, w: int):
    """Swept pairs ascending: counted by their first shape, and inserted among those by their second."""
    shapes = m.kind.shape[0]
    for i in range(shapes):
        x.pairs_of[i + 1, w] = x.pairs_of[i + 1, w] + x.pairs_of[i, w]
    for i in range(count):
        x.pair_second[i, w] = -1
    for i in range(count):
        a = x.swept_first[i, w]
        b = x.swept_second[i, w]
        first = x.pairs_of[a, w]
        j = first
        while x.pair_second[j, w] >= 0:
            j += 1
        while j > first and x.pair_second[wp.max(j - 1, 0), w] > b:
            x.pair_second[j, w] = x.pair_second[j - 1, w]
            j -= 1
        x.pair_second[j, w] = b
    for a in range(shapes):
        for i in range(x.pairs_of[a, w], x.pairs_of[a + 1, w]):
            x.pair_first[i, w] = a


@wp.func(inline=False)
def find_pairs(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], w: int):
    """Pairs whose bounds meet, ascending, into `pair_*`; those that find no room are counted in `pairs_missed`."""
    shapes = m.kind.shape[0]
    axis = m.sweep_axis[0]
    sort_shapes(m, x, w)
    for i in range(shapes + 1):
        x.pairs_of[i, w] = 0
    x.pairs_missed[0, w] = 0
    count = int(0)
    for i in range(shapes):
        low = x.sorted_low[i, w]
        high = x.sorted_high[i, w]
        for j in range(i + 1, shapes):
            start = x.sorted_low[j, w]
            if start[axis] > high[axis]:
                break
            if bounds_meet(low, high, start, x.sorted_high[j, w]):
                a = wp.min(x.order[i, w], x.order[j, w])
                b = wp.max(x.order[i, w], x.order[j, w])
                if may_touch(m, x, a, b, w):
                    count = note_pair(x, count, a, b, w)
    order_pairs(m, x, count, w)
    x.pair_count[0, w] = count
