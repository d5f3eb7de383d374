"""Boxes against boxes by separating axes (Gottschalk 1996): three normals of either and nine cross products of edges.

Along an axis the gap is the distance of the middles less the reaches of both. The largest gap over the axes is that
along which they part most easily; it is the depth where all gaps are negative. A box's own axis wins a tie.
"""

import warp as wp

from ..spatial import ZERO, axis_of, column, f64, vec3, zero3
from .cores import Core, sign_of
from .nearest import segment_segment

TIE = wp.constant(wp.float64(1e-10))  # of the size
SAME = wp.constant(wp.float64(1e-16))  # squared sine below which two edges span no axis


@wp.func
def gap_along(A: wp.ref[Core], B: wp.ref[Core], axis: vec3) -> f64:
    u = wp.transpose(A.R) * axis
    v = wp.transpose(B.R) * axis
    reach = A.size[0] * wp.abs(u[0]) + A.size[1] * wp.abs(u[1]) + A.size[2] * wp.abs(u[2])
    reach += B.size[0] * wp.abs(v[0]) + B.size[1] * wp.abs(v[1]) + B.size[2] * wp.abs(v[2])
    return wp.abs(wp.dot(B.p - A.p, axis)) - reach


@wp.func(inline=False)
def separating_axis(A: wp.ref[Core], B: wp.ref[Core], size: f64, enough: f64):
    """Gap, normal from A to B, and which axis: 0-5 faces, 6-14 edges; -1 as soon as a gap is `enough`."""
    best = f64(-1e300)
    normal = zero3()
    which = int(0)
    axes = int(15)  # a variable: the loop is not unrolled
    for k in range(axes):
        axis = zero3()
        if k < 3:
            axis = column(A.R, k)
        elif k < 6:
            axis = column(B.R, k - 3)
        else:
            axis = wp.cross(column(A.R, (k - 6) // 3), column(B.R, (k - 6) % 3))
            length = wp.length_sq(axis)
            if length < SAME:
                continue
            axis = axis / wp.sqrt(length)
        gap = gap_along(A, B, axis)
        if gap >= enough:
            return gap, axis, -1
        if gap > best + TIE * size or k == 0:
            best = gap
            normal = axis * sign_of(wp.dot(B.p - A.p, axis))
            which = k
    return best, normal, which


@wp.func
def edge_middle(c: wp.ref[Core], d: vec3, k: int) -> vec3:
    """Middle of the edge along axis k that lies farthest in direction d."""
    u = wp.transpose(c.R) * d
    p = vec3(c.size[0] * sign_of(u[0]), c.size[1] * sign_of(u[1]), c.size[2] * sign_of(u[2]))
    p[k] = ZERO
    return c.p + c.R * p


@wp.func
def crossing_edges(A: wp.ref[Core], B: wp.ref[Core], normal: vec3, which: int):
    """Nearest points of the edges of an axis 6-14."""
    i = (which - 6) // 3
    j = (which - 6) % 3
    p, q = segment_segment(
        edge_middle(A, normal, i),
        A.R * (axis_of(i) * A.size[i]),
        edge_middle(B, -normal, j),
        B.R * (axis_of(j) * B.size[j]),
    )
    return p, q
