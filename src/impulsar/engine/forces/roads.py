"""Where a wheel touches a road: the nearest point of an obstacle to the wheel's middle, and the plane through it.

Obstacles are solid and stand on the ground: planes, spheres, capsules, boxes, cylinders, cones, meshes, height fields.
The plane through the nearest point, across the way to it, stands for the obstacle: exact where it is flat, and it turns
as the wheel rolls over an edge. Obstacles that touch a wheel together all push it. Of one mesh or height field the
nearest point alone counts, so that a wheel in a crease leaps from side to side; and of a wall beside the wheel, which
meets the plane of the wheel nowhere nearer than its radius, nothing is felt.
"""

import warp as wp

from ..collide.arrays import FIELD, MESH, PLANE, ShapeArrays
from ..collide.cores import Core
from ..collide.nearest import point_solid
from ..collide.terrain import field_facet, first_cell, mesh_facet
from ..spatial import INFINITY, ZERO, f64, rotation_matrix, vec3, zero3

NOWHERE = wp.constant(wp.float64(1e-9))  # [m] the way from the road to the middle is too short to have a direction


@wp.struct
class Ground:
    """A plane that stands for a road."""

    point: vec3  # of the road, from the wheel's middle [m]
    normal: vec3  # away from it
    height: f64  # of the wheel's middle above it [m]


@wp.func
def road_core(m: wp.ref[ShapeArrays], shape: int, origin: vec3) -> Core:
    """An obstacle, from an origin."""
    c = Core()
    c.kind = m.kind[shape]
    c.p = m.p_BS[shape] - origin
    c.R = rotation_matrix(m.q_BS[shape])
    c.size = m.size[shape]
    c.radius = m.radius[shape]
    c.start = m.start[shape]
    c.count = m.count[shape]
    c.part_start = m.part_start[shape]
    c.part_count = m.part_count[shape]
    return c


@wp.func(inline=False)
def on_triangle(a: vec3, b: vec3, c: vec3) -> vec3:
    """The point of a triangle that is nearest to the origin."""
    ab = b - a
    ac = c - a
    d1 = -wp.dot(ab, a)
    d2 = -wp.dot(ac, a)
    if d1 <= ZERO and d2 <= ZERO:
        return a
    d3 = -wp.dot(ab, b)
    d4 = -wp.dot(ac, b)
    if d3 >= ZERO and d4 <= d3:
        return b
    d5 = -wp.dot(ab, c)
    d6 = -wp.dot(ac, c)
    if d6 >= ZERO and d5 <= d6:
        return c
    vc = d1 * d4 - d3 * d2
    if vc <= ZERO and d1 >= ZERO and d3 <= ZERO:
        return a + ab * (d1 / (d1 - d3))
    vb = d5 * d2 - d1 * d6
    if vb <= ZERO and d2 >= ZERO and d6 <= ZERO:
        return a + ac * (d2 / (d2 - d6))
    va = d3 * d6 - d5 * d4
    if va <= ZERO and d4 - d3 >= ZERO and d5 - d6 >= ZERO:
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)))
    return a + ab * (vb / (va + vb + vc)) + ac * (vc / (va + vb + vc))


@wp.func(inline=False)
def nearest_of_terrain(m: wp.ref[ShapeArrays], T: wp.ref[Core], shape: int, reach: f64):
    """Nearest point of a mesh or height field to the origin within reach, its distance, and the face's normal there.

    The distance is INFINITY where there is none.
    """
    far = reach * reach
    found = zero3()
    face = zero3()
    hit = int(0)
    middle = wp.transpose(T.R) * (-T.p)  # the origin in the terrain's frame
    if T.kind == MESH:
        node = T.part_start
        while node < T.part_start + T.part_count:
            low = m.node_low[node]
            high = m.node_high[node]
            off = ZERO
            for k in range(3):
                d = wp.max(wp.max(low[k] - middle[k], middle[k] - high[k]), ZERO)
                off += d * d
            if off > far:
                node = m.node_next[node]
            else:
                first = m.node_triangle[node]
                for k in range(first, first + m.node_count[node]):
                    f = mesh_facet(m, T, k)
                    p = on_triangle(f.a, f.b, f.c)
                    if wp.length_sq(p) < far:
                        far = wp.length_sq(p)
                        found = p
                        face = wp.cross(f.b - f.a, f.c - f.a)
                        hit = 1
                node += 1
    else:
        nx = m.grid[2 * shape]
        ny = m.grid[2 * shape + 1]
        halves = int(2)  # a variable: the loop is not unrolled
        for i in range(first_cell(middle[0] - reach, T.size[0], nx), first_cell(middle[0] + reach, T.size[0], nx) + 1):
            for j in range(
                first_cell(middle[1] - reach, T.size[1], ny), first_cell(middle[1] + reach, T.size[1], ny) + 1
            ):
                for half in range(halves):
                    g = field_facet(m, T, nx, ny, i, j, half)
                    p = on_triangle(g.a, g.b, g.c)
                    if wp.length_sq(p) < far:
                        far = wp.length_sq(p)
                        found = p
                        face = wp.cross(g.b - g.a, g.c - g.a)
                        hit = 1
    if hit == 0:
        return found, INFINITY, face
    return found, wp.sqrt(far), wp.normalize(face)


@wp.func(inline=False)
def ground_below(m: wp.ref[ShapeArrays], shape: int, middle: vec3, reach: f64) -> Ground:
    """The plane that stands for an obstacle, as seen from a wheel's middle; its height is INFINITY out of reach."""
    g = Ground()
    g.height = INFINITY
    c = road_core(m, shape, middle)
    if c.kind == PLANE:
        g.normal = vec3(c.R[0, 2], c.R[1, 2], c.R[2, 2])
        g.height = -wp.dot(g.normal, c.p)
        g.point = -g.height * g.normal
        return g
    if c.kind == MESH or c.kind == FIELD:
        point, far, face = nearest_of_terrain(m, c, shape, reach)
        if far < INFINITY:
            g.point = point
            g.height = far
            g.normal = face
            if far > NOWHERE:
                g.normal = -point / far
                if wp.dot(g.normal, face) < ZERO:  # the middle is below it
                    g.normal = -g.normal
                    g.height = -far
        return g
    off, normal, surface = point_solid(c, zero3())
    g.height = off - c.radius
    g.normal = normal
    g.point = surface + c.radius * normal
    return g


@wp.func
def wheel_upwards(normal: vec3, axle: vec3):
    """The direction in the wheel's plane that leads most steeply off the road, and how steeply: 0 where none does."""
    up = normal - axle * wp.dot(normal, axle)
    steep = wp.length(up)
    if steep > f64(1e-6):
        return up / steep, steep
    return zero3(), ZERO
