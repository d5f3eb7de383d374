"""Meshes and height fields: triangles near a convex shape, and their contacts without the edges inside a surface.

A triangle is met like any convex shape; t is its outward normal, u the direction from it to the shape. At an edge u
must lie between the normals of both its faces: with m and m' the directions in which this face and the next one end
there, u·m >= 0 and u·m' >= 0; at a corner u must lead away from all its edges. Else this is one inside a flat or hollow
surface, and u is t: then only what lies over the triangle itself touches it. A mesh is met from outside: triangles
whose plane has the shape's middle behind it are left out. A height field is solid below: what has sunk in meets the
triangle above its middle, and comes up again.

Contacts with (nearly) one normal are one manifold of at most four points.
"""

import warp as wp

from ..spatial import INFINITY, ONE, ZERO, column, f64, vec3, zero3
from .arrays import MESH, SPHERE, CollideScratch, ShapeArrays
from .clip import add_candidate, deepest, emit, gather, mark_four
from .cores import Core, core_of, support, triangle_core
from .pairs import Separation, separate

WITHIN = wp.constant(wp.float64(1e-6))  # of a triangle's weights: on an edge; and of cosines
FACING = wp.constant(wp.float64(1e-12))  # 1 - cosine: a normal is a face's own
ONE_PLANE = wp.constant(wp.float64(1e-6))  # 1 - cosine of normals that are one


@wp.struct
class Facet:
    """A triangle, anticlockwise from outside, and across each edge (from a, from b, from c) the far corner."""

    a: vec3
    b: vec3
    c: vec3
    across_ab: vec3
    across_bc: vec3
    across_ca: vec3
    ab: int  # whether there is one
    bc: int
    ca: int
    corner_a: int  # vertices of a mesh, or points of a grid
    corner_b: int
    corner_c: int
    nx: int  # the grid, 0: a mesh
    ny: int


@wp.struct
class Region:
    """Where a convex shape is, in a terrain's frame."""

    low: vec3
    high: vec3


@wp.func
def to_pair(T: wp.ref[Core], p: vec3) -> vec3:
    """A point of a terrain's frame from the pair's origin."""
    return T.p + T.R * p


@wp.func(inline=False)
def mesh_facet(m: wp.ref[ShapeArrays], T: wp.ref[Core], triangle: int) -> Facet:
    f = Facet()
    f.a = to_pair(T, m.vertices[m.triangle_corner[3 * triangle]])
    f.b = to_pair(T, m.vertices[m.triangle_corner[3 * triangle + 1]])
    f.c = to_pair(T, m.vertices[m.triangle_corner[3 * triangle + 2]])
    f.corner_a = m.triangle_corner[3 * triangle]
    f.corner_b = m.triangle_corner[3 * triangle + 1]
    f.corner_c = m.triangle_corner[3 * triangle + 2]
    i = m.triangle_opposite[3 * triangle]
    j = m.triangle_opposite[3 * triangle + 1]
    k = m.triangle_opposite[3 * triangle + 2]
    if i >= 0:
        f.ab = 1
        f.across_ab = to_pair(T, m.vertices[i])
    if j >= 0:
        f.bc = 1
        f.across_bc = to_pair(T, m.vertices[j])
    if k >= 0:
        f.ca = 1
        f.across_ca = to_pair(T, m.vertices[k])
    return f


@wp.func
def field_point(m: wp.ref[ShapeArrays], T: wp.ref[Core], nx: int, ny: int, i: int, j: int) -> vec3:
    """A point of the grid, from the pair's origin; the nearest where it lies outside of the grid."""
    k = wp.clamp(i, 0, nx - 1)
    l = wp.clamp(j, 0, ny - 1)
    x = T.size[0] * (f64(2 * k) / f64(nx - 1) - ONE)
    y = T.size[1] * (f64(2 * l) / f64(ny - 1) - ONE)
    return to_pair(T, vec3(x, y, m.heights[T.start + k * ny + l]))


@wp.func(inline=False)
def field_facet(m: wp.ref[ShapeArrays], T: wp.ref[Core], nx: int, ny: int, i: int, j: int, half: int) -> Facet:
    """A cell's lower right (0) or upper left (1) triangle; its diagonal runs from (i, j) to (i + 1, j + 1)."""
    f = Facet()
    f.a = field_point(m, T, nx, ny, i, j)
    far = field_point(m, T, nx, ny, i + 1, j + 1)
    right = field_point(m, T, nx, ny, i + 1, j)
    left = field_point(m, T, nx, ny, i, j + 1)
    f.nx = nx
    f.ny = ny
    f.corner_a = i * ny + j
    f.corner_b = f.corner_a + ny + 1
    f.corner_c = f.corner_a + 1
    if half == 0:
        f.corner_b = f.corner_a + ny
        f.corner_c = f.corner_b + 1
        f.b = right
        f.c = far
        f.across_ab = field_point(m, T, nx, ny, i, j - 1)
        f.across_bc = field_point(m, T, nx, ny, i + 2, j + 1)
        f.across_ca = left
        f.ab = wp.where(j > 0, 1, 0)
        f.bc = wp.where(i + 2 < nx, 1, 0)
        f.ca = 1
    else:
        f.b = far
        f.c = left
        f.across_ab = right
        f.across_bc = field_point(m, T, nx, ny, i + 1, j + 2)
        f.across_ca = field_point(m, T, nx, ny, i - 1, j)
        f.ab = 1
        f.bc = wp.where(j + 2 < ny, 1, 0)
        f.ca = wp.where(i > 0, 1, 0)
    return f


@wp.func
def ends_towards(a: vec3, b: vec3, inner: vec3) -> vec3:
    """The direction in which a face with the corner `inner` ends at its edge a, b."""
    e = wp.normalize(b - a)
    d = inner - a
    return -wp.normalize(d - e * wp.dot(d, e))


@wp.func
def edge_allows(a: vec3, b: vec3, inner: vec3, has_next: int, across: vec3, u: vec3) -> bool:
    """Whether a normal u at the edge a, b lies between those of its faces."""
    if wp.dot(ends_towards(a, b, inner), u) < -WITHIN:
        return False
    if has_next == 1 and wp.dot(ends_towards(a, b, across), u) < -WITHIN:
        return False
    return True


@wp.func
def weights_in(f: wp.ref[Facet], t: vec3, p: vec3) -> vec3:
    """Weights of the corners in a point's foot on the triangle's plane."""
    area = wp.dot(wp.cross(f.b - f.a, f.c - f.a), t)
    u = wp.dot(wp.cross(f.c - f.b, p - f.b), t) / area
    v = wp.dot(wp.cross(f.a - f.c, p - f.c), t) / area
    return vec3(u, v, ONE - u - v)


@wp.func
def leaves(v: vec3, neighbour: vec3, u: vec3) -> bool:
    d = neighbour - v
    return wp.dot(d, u) <= WITHIN * wp.length(d)


@wp.func(inline=False)
def corner_allows(m: wp.ref[ShapeArrays], T: wp.ref[Core], f: wp.ref[Facet], corner: int, v: vec3, u: vec3) -> bool:
    """Whether all edges about a corner leave a shape that is met there along u."""
    if f.nx == 0:
        for k in range(m.fan_start[corner], m.fan_start[corner + 1]):
            if not leaves(v, to_pair(T, m.vertices[m.fan_face[k]]), u):
                return False
        return True
    i = corner // f.ny
    j = corner % f.ny
    about = int(6)
    for k in range(about):  # (1, 0), (1, 1), (0, 1), and those opposite
        di = wp.where(k % 3 == 2, 0, 1)
        dj = wp.where(k % 3 == 0, 0, 1)
        if k >= 3:
            di = -di
            dj = -dj
        if i + di >= 0 and i + di < f.nx and j + dj >= 0 and j + dj < f.ny:
            if not leaves(v, field_point(m, T, f.nx, f.ny, i + di, j + dj), u):
                return False
    return True


@wp.func(inline=False)
def is_allowed(m: wp.ref[ShapeArrays], T: wp.ref[Core], f: wp.ref[Facet], t: vec3, p: vec3, u: vec3) -> bool:
    """Whether a shape may be met at p along u: at edges and corners that stand out, between their faces' normals."""
    if wp.dot(u, t) <= ZERO:
        return False
    weights = weights_in(f, t, p)
    a = weights[0] < WITHIN
    b = weights[1] < WITHIN
    c = weights[2] < WITHIN
    if b and c:
        return corner_allows(m, T, f, f.corner_a, f.a, u)
    if c and a:
        return corner_allows(m, T, f, f.corner_b, f.b, u)
    if a and b:
        return corner_allows(m, T, f, f.corner_c, f.c, u)
    if c:
        return edge_allows(f.a, f.b, f.c, f.ab, f.across_ab, u)
    if a:
        return edge_allows(f.b, f.c, f.a, f.bc, f.across_bc, u)
    if b:
        return edge_allows(f.c, f.a, f.b, f.ca, f.across_ca, u)
    return False


@wp.func
def is_below(f: wp.ref[Facet], terrain: wp.ref[Core], middle: vec3) -> bool:
    """Whether a triangle of a height field is the one below or above the middle of what has sunk in."""
    if f.nx == 0:
        return False
    foot = weights_in(f, column(terrain.R, 2), middle)
    return wp.min(foot[0], wp.min(foot[1], foot[2])) >= -WITHIN


@wp.func(inline=False)
def meet_facet(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    terrain: wp.ref[Core],
    middle: vec3,
    f: wp.ref[Facet],
    margin: f64,
    size: f64,
    have: int,
    w: int,
) -> int:
    """Candidates of a convex shape on a triangle, behind `have` others; their number."""
    t = wp.normalize(wp.cross(f.b - f.a, f.c - f.a))
    behind = wp.dot(middle - f.a, t) < ZERO
    lowest = support(m, A, -t)
    height = wp.dot(lowest - f.a, t) - A.radius
    if height >= margin or (behind and not is_below(f, terrain, middle)):
        return have
    T = triangle_core(f.a, f.b, f.c)
    normal = -t
    count = have
    if not behind:
        s = separate(m, x, A, T, size, w)
        if s.gap >= margin:
            return have
        if wp.dot(s.normal, normal) < ONE - FACING and is_allowed(m, terrain, f, t, s.on_second, -s.normal):
            normal = s.normal
            if A.kind != SPHERE:
                count, _side = gather(m, x, A, T, normal, margin, size, have, w)
            if s.gap < deepest(x, have, count, w):
                count = add_candidate(x, count, s.on_second, normal, s.gap, 1, size, w)
            return count
    if A.kind != SPHERE:
        count, _side = gather(m, x, A, T, normal, margin, size, have, w)
    foot = weights_in(f, t, lowest)
    if wp.min(foot[0], wp.min(foot[1], foot[2])) >= -WITHIN and height < deepest(x, have, count, w):
        count = add_candidate(x, count, lowest - t * (height + A.radius), normal, height, 1, size, w)
    return count


@wp.func(inline=False)
def thin_out(x: wp.ref[CollideScratch], count: int, size: f64, w: int) -> int:
    """Leave of the candidates at most four of each plane, the deepest plane's first; their number."""
    for i in range(count):
        x.candidate_group[i, w] = -1
    group = int(0)
    left = count
    while left > 0:
        lead = int(-1)
        for i in range(count):
            if x.candidate_group[i, w] == -1:
                if lead < 0 or x.candidate_gap[i, w] < x.candidate_gap[wp.max(lead, 0), w]:
                    lead = i
        normal = x.candidate_normal[lead, w]
        for i in range(count):
            if x.candidate_group[i, w] == -1 and wp.dot(x.candidate_normal[i, w], normal) > ONE - ONE_PLANE:
                x.candidate_group[i, w] = group
                x.candidate_normal[i, w] = normal
                left -= 1
        mark_four(x, count, group, normal, size, w)
        group += 1
    kept = int(0)
    for i in range(count):
        if x.candidate_group[i, w] >= 0:
            x.candidate[kept, w] = x.candidate[i, w]
            x.candidate_normal[kept, w] = x.candidate_normal[i, w]
            x.candidate_gap[kept, w] = x.candidate_gap[i, w]
            x.candidate_side[kept, w] = x.candidate_side[i, w]
            kept += 1
    return kept


@wp.func
def region_of(m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], a: int, b: int, margin: f64, w: int) -> Region:
    """Bounds of shape a in the frame of the terrain b."""
    R_TA = wp.transpose(x.R_WS[b, w]) * x.R_WS[a, w]
    middle = wp.transpose(x.R_WS[b, w]) * (x.p_WS[a, w] - x.p_WS[b, w]) + R_TA * m.middle[a]
    half = m.half[a]
    reach = zero3()
    for k in range(3):
        reach[k] = wp.abs(R_TA[k, 0]) * half[0] + wp.abs(R_TA[k, 1]) * half[1] + wp.abs(R_TA[k, 2]) * half[2]
        reach[k] = reach[k] + m.radius[a] + margin
    r = Region()
    r.low = middle - reach
    r.high = middle + reach
    return r


@wp.func
def is_apart(low: vec3, high: vec3, r: wp.ref[Region]) -> bool:
    for k in range(3):
        if low[k] > r.high[k] or high[k] < r.low[k]:
            return True
    return False


@wp.func
def first_cell(low: f64, half: f64, n: int) -> int:
    """Cell of a grid of n points over ± half that holds a coordinate; the outermost one where none does."""
    return wp.clamp(int(wp.floor((low + half) / (half + half) * f64(n - 1))), 0, n - 2)


@wp.func(inline=False)
def add_facet(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    terrain: wp.ref[Core],
    middle: vec3,
    f: wp.ref[Facet],
    margin: f64,
    size: f64,
    have: int,
    w: int,
) -> int:
    """The same, and room made for the next one."""
    count = meet_facet(m, x, A, terrain, middle, f, margin, size, have, w)
    if 2 * count > x.candidate.shape[0]:
        count = thin_out(x, count, size, w)
    return count


@wp.func(inline=False)
def collide_terrain(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], a: int, b: int, origin: vec3, margin: f64, w: int
) -> int:
    """Contacts of the convex shape a and the mesh or height field b into `out_*`; their number."""
    A = core_of(m, x, a, origin, w)
    T = core_of(m, x, b, origin, w)
    r = region_of(m, x, a, b, margin, w)
    middle = A.p + A.R * m.middle[a]
    size = m.reach[a]
    count = int(0)
    if T.kind == MESH:
        node = T.part_start
        while node < T.part_start + T.part_count:
            if is_apart(m.node_low[node], m.node_high[node], r):
                node = m.node_next[node]
            else:
                first = m.node_triangle[node]
                for k in range(first, first + m.node_count[node]):
                    f = mesh_facet(m, T, k)
                    count = add_facet(m, x, A, T, middle, f, margin, size, count, w)
                node += 1
    else:
        nx = m.grid[2 * b]
        ny = m.grid[2 * b + 1]
        if is_apart(m.middle[b] - m.half[b], m.middle[b] + m.half[b], r):
            return 0
        halves = int(2)  # a variable: the loop is not unrolled
        for i in range(first_cell(r.low[0], T.size[0], nx), first_cell(r.high[0], T.size[0], nx) + 1):
            for j in range(first_cell(r.low[1], T.size[1], ny), first_cell(r.high[1], T.size[1], ny) + 1):
                for half in range(halves):
                    g = field_facet(m, T, nx, ny, i, j, half)
                    count = add_facet(m, x, A, T, middle, g, margin, size, count, w)
    count = thin_out(x, count, size, w)
    found = int(0)
    for i in range(count):
        found = emit(x, found, i, x.candidate_normal[i, w], w)
    if count > found:
        x.missed[0, w] = x.missed[0, w] + count - found
    return found


@wp.func
def nearer(
    m: wp.ref[ShapeArrays],
    x: wp.ref[CollideScratch],
    A: wp.ref[Core],
    f: wp.ref[Facet],
    best: wp.ref[Separation],
    size: f64,
    w: int,
):
    """The nearer one of what was found before and a triangle."""
    T = triangle_core(f.a, f.b, f.c)
    s = separate(m, x, A, T, size, w)
    if s.gap < best.gap:
        best.gap = s.gap
        best.normal = s.normal
        best.on_first = s.on_first
        best.on_second = s.on_second
        best.slack = s.slack
        best.steps = s.steps


@wp.func
def is_farther(low: vec3, high: vec3, r: wp.ref[Region], gap: f64) -> bool:
    """Whether a box is farther than that from a region."""
    for k in range(3):
        if low[k] - r.high[k] > gap or r.low[k] - high[k] > gap:
            return True
    return False


@wp.func(inline=False)
def terrain_distance(
    m: wp.ref[ShapeArrays], x: wp.ref[CollideScratch], a: int, b: int, origin: vec3, w: int
) -> Separation:
    """Gap, normal and nearest points of a convex shape a and a terrain b; where they overlap the deepest contact."""
    A = core_of(m, x, a, origin, w)
    T = core_of(m, x, b, origin, w)
    r = region_of(m, x, a, b, ZERO, w)
    size = m.reach[a]
    best = Separation()
    best.gap = INFINITY
    if T.kind == MESH:
        node = T.part_start
        while node < T.part_start + T.part_count:
            if is_farther(m.node_low[node], m.node_high[node], r, best.gap):
                node = m.node_next[node]
            else:
                first = m.node_triangle[node]
                for k in range(first, first + m.node_count[node]):
                    f = mesh_facet(m, T, k)
                    nearer(m, x, A, f, best, size, w)
                node += 1
    else:
        nx = m.grid[2 * b]
        ny = m.grid[2 * b + 1]
        middle = (r.low + r.high) / f64(2.0)
        i = first_cell(middle[0], T.size[0], nx)
        j = first_cell(middle[1], T.size[1], ny)
        f = field_facet(m, T, nx, ny, i, j, 0)
        nearer(m, x, A, f, best, size, w)
        beyond = wp.max(best.gap, ZERO)  # nothing farther away is nearer than the cell below
        ends = wp.vec2i(first_cell(r.high[0] + beyond, T.size[0], nx), first_cell(r.high[1] + beyond, T.size[1], ny))
        for k in range(first_cell(r.low[0] - beyond, T.size[0], nx), ends[0] + 1):
            for l in range(2 * first_cell(r.low[1] - beyond, T.size[1], ny), 2 * ends[1] + 2):
                g = field_facet(m, T, nx, ny, k, l // 2, l % 2)
                nearer(m, x, A, g, best, size, w)
    found = collide_terrain(m, x, a, b, origin, ZERO, w)
    for k in range(found):
        if k == 0 or x.out_gap[k, w] < best.gap:
            best.gap = x.out_gap[k, w]
            best.normal = x.out_normal[k, w]
            best.on_second = x.out_point[k, w]
            best.on_first = best.on_second - best.normal * best.gap
    return best
