"""A problem of rows with bounds that depend on each other; see coulomb.py for its law."""

import warp as wp

from ..spatial import ZERO, f64

INSIDE, BOUND, SLIDES = 0, 1, 2  # where a row is within its bounds


@wp.struct
class Bounded:
    """A problem of up to so many rows, and the scratch of its solution, all [row, world] unless said."""

    count: wp.array2d(dtype=wp.int32)  # [1] rows
    start: wp.array2d(dtype=wp.int32)  # first row that responds to it
    at: wp.array2d(dtype=wp.int32)  # where entry 0 of its row would be: (k, j) is at at[k] + j
    reach: wp.array2d(dtype=wp.int32)  # last row that responds to it; found here
    W: wp.array2d(dtype=f64)  # [entry] lower half
    b: wp.array2d(dtype=f64)
    group: wp.array2d(dtype=wp.int32)  # of rows bounded together: how many at the first, 0 at the others; 1 alone
    of: wp.array2d(dtype=wp.int32)  # row whose p the bounds are multiples of, -1: none
    low: wp.array2d(dtype=f64)
    high: wp.array2d(dtype=f64)
    p: wp.array2d(dtype=f64)  # in: to begin with; out
    factors: wp.array2d(dtype=wp.int32)  # [1] how many were made, added up
    # scratch
    w: wp.array2d(dtype=f64)
    rho: wp.array2d(dtype=f64)
    best: wp.array2d(dtype=f64)
    next: wp.array2d(dtype=f64)
    kind: wp.array2d(dtype=wp.int32)
    share: wp.array2d(dtype=f64)  # κ of a row that slides
    along: wp.array2d(dtype=f64)  # d of it; the bound of one that is there
    own: wp.array2d(dtype=f64)  # W_kk, and b, of the problem while a softer one is solved in its place
    given: wp.array2d(dtype=f64)  # besides, the p that Newton's method began with
    work: wp.array2d(dtype=wp.int32)  # [1] multiplications of factors that there is time for
    # the equations of a step: rows whose P is not known yet
    equations: wp.array2d(dtype=wp.int32)  # [1] how many
    open_rows: wp.array2d(dtype=wp.int32)  # [equation] its row
    equation: wp.array2d(dtype=wp.int32)  # [row] its equation, or the next one where it has none
    begin: wp.array2d(dtype=wp.int32)  # [equation] first one that it is in an envelope with
    place: wp.array2d(dtype=wp.int32)  # [equation] where entry 0 of it would be
    rest: wp.array2d(dtype=f64)  # [row] w by the rows whose P is known
    lower: wp.array2d(dtype=f64)  # [entry] L, 1 on its diagonal
    upper: wp.array2d(dtype=f64)  # [entry] U by columns; L D by rows where the equations are symmetric


@wp.func
def response(c: wp.ref[Bounded], k: int, j: int, w: int) -> f64:
    """W between two rows."""
    row = wp.max(k, j)
    column = wp.min(k, j)
    if column < c.start[row, w]:
        return ZERO
    return c.W[c.at[row, w] + column, w]


@wp.func
def first_of(c: wp.ref[Bounded], k: int, w: int) -> int:
    """First of the rows that k is bounded together with."""
    first = k
    while c.group[first, w] == 0:
        first -= 1
    return first
