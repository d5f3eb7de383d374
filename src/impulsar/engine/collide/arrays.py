"""What collision detection reads, and where it puts what it finds.

A shape is a core and a radius about it: a ball is a point, a capsule a segment, every other shape its own core with
radius 0. Poses, bounds and results of each world are [.., world].
"""

import warp as wp

from ..spatial import f64, mat33, quat, vec3

PLANE, SPHERE, CAPSULE, BOX, CYLINDER, CONE, HULL, MESH, FIELD, TRIANGLE = range(10)
"""Kinds of shapes. The last is a triangle of a mesh or a height field, never a shape of its own."""

EPA_POINTS = 256
EPA_FACES = 512
CANDIDATES = 256  # contacts of a shape and a terrain before they are thinned out
RING = 16  # corners of the polygon that stands for a circle
OUT = 32  # contacts of a pair at most: 4, and 4 for each of 8 planes of a terrain


@wp.struct
class ShapeArrays:
    """Shapes of a system, the same in all worlds, [shape] unless said."""

    kind: wp.array(dtype=wp.int32)
    body: wp.array(dtype=wp.int32)  # -1: the ground
    p_BS: wp.array(dtype=vec3)  # the shape's frame in its body [m]
    q_BS: wp.array(dtype=quat)
    size: wp.array(dtype=vec3)  # half edges; of what is round: radius, 0, half length; of a field half extents [m]
    radius: wp.array(dtype=f64)  # about the core [m]
    middle: wp.array(dtype=vec3)  # of the core's box in the shape's frame [m]
    half: wp.array(dtype=vec3)  # its half edges [m]
    reach: wp.array(dtype=f64)  # radius of a ball about that middle that holds the shape [m]
    start: wp.array(dtype=wp.int32)  # its first vertex, or height
    count: wp.array(dtype=wp.int32)  # how many
    part_start: wp.array(dtype=wp.int32)  # its first face (hull) or node (mesh)
    part_count: wp.array(dtype=wp.int32)
    grid: wp.array(dtype=wp.int32)  # [2 · shape + k] heights along x and y
    # hulls and meshes
    vertices: wp.array(dtype=vec3)  # [vertex] in the shape's frame [m]
    face_normal: wp.array(dtype=vec3)  # [face]
    face_start: wp.array(dtype=wp.int32)  # [face + 1] into face_corner
    face_corner: wp.array(dtype=wp.int32)  # vertices of faces, anticlockwise from outside
    fan_start: wp.array(dtype=wp.int32)  # [vertex + 1] into fan_face
    fan_face: wp.array(dtype=wp.int32)  # faces about a vertex of a hull, neighbours of a vertex of a mesh
    triangle_corner: wp.array(dtype=wp.int32)  # [3 · triangle + k] vertices
    triangle_opposite: wp.array(dtype=wp.int32)  # [3 · triangle + k] the far vertex across edge k, k + 1; -1: none
    node_low: wp.array(dtype=vec3)  # [node] boxes of a tree over triangles, in the order of a walk
    node_high: wp.array(dtype=vec3)
    node_next: wp.array(dtype=wp.int32)  # where the walk goes on when a box is missed
    node_triangle: wp.array(dtype=wp.int32)  # its first triangle
    node_count: wp.array(dtype=wp.int32)  # and how many; 0: nodes below it follow
    heights: wp.array(dtype=f64)  # of fields, x by x [m]
    # pairs
    excluded: wp.array(dtype=wp.int64)  # first · shapes + second, first < second, ascending
    sweep_axis: wp.array(dtype=wp.int32)  # [1]


@wp.struct
class CollideScratch:
    """Poses, order, contacts and scratch of collision detection, [.., world]."""

    # of shapes
    p_WS: wp.array2d(dtype=vec3)
    R_WS: wp.array2d(dtype=mat33)
    low: wp.array2d(dtype=vec3)  # bounds, half a margin beyond the shape [m]
    high: wp.array2d(dtype=vec3)
    beyond: wp.array2d(dtype=f64)  # [1] half the margin [m]
    travel: wp.array2d(dtype=f64)  # how far beyond that contacts of a shape are looked for [m]
    order: wp.array2d(dtype=wp.int32)  # shapes by their lower bounds along the sweep's axis; kept between calls
    sorted_low: wp.array2d(dtype=vec3)  # the bounds in that order
    sorted_high: wp.array2d(dtype=vec3)
    # pairs that may touch: as swept, how many each shape is the first of, and ascending
    swept_first: wp.array2d(dtype=wp.int32)
    swept_second: wp.array2d(dtype=wp.int32)
    pairs_of: wp.array2d(dtype=wp.int32)  # [shape + 1]
    pair_first: wp.array2d(dtype=wp.int32)
    pair_second: wp.array2d(dtype=wp.int32)
    pair_count: wp.array2d(dtype=wp.int32)  # [1]
    pairs_missed: wp.array2d(dtype=wp.int32)  # [1] that found no room
    # contacts, by pair and feature
    first: wp.array2d(dtype=wp.int32)  # shape
    second: wp.array2d(dtype=wp.int32)
    feature: wp.array2d(dtype=wp.int32)  # number within the pair
    point: wp.array2d(dtype=vec3)  # in the plane that all of a manifold share [m]
    side: wp.array2d(dtype=wp.int32)  # whose surface that is: 0 the first shape's, 1 the second's
    normal: wp.array2d(dtype=vec3)  # from the first to the second
    gap: wp.array2d(dtype=f64)  # < 0: they overlap [m]
    in_first: wp.array2d(dtype=vec3)  # the point in both shapes' frames [m]
    in_second: wp.array2d(dtype=vec3)
    was: wp.array2d(dtype=wp.int32)  # its number in the call before, -1: new
    impulse: wp.array2d(dtype=vec3)  # carried over from then, on the second [N s]
    mode: wp.array2d(dtype=wp.int32)  # likewise
    anchor_first: wp.array2d(dtype=vec3)  # likewise: points in both shapes' frames that touched at the step's start [m]
    anchor_second: wp.array2d(dtype=vec3)
    count: wp.array2d(dtype=wp.int32)  # [1]
    missed: wp.array2d(dtype=wp.int32)  # [1] contacts that found no room
    # those of the call before, with their points in both bodies
    old_first: wp.array2d(dtype=wp.int32)
    old_second: wp.array2d(dtype=wp.int32)
    old_in_first: wp.array2d(dtype=vec3)
    old_in_second: wp.array2d(dtype=vec3)
    old_impulse: wp.array2d(dtype=vec3)
    old_mode: wp.array2d(dtype=wp.int32)
    old_anchor_first: wp.array2d(dtype=vec3)
    old_anchor_second: wp.array2d(dtype=vec3)
    old_used: wp.array2d(dtype=wp.int32)
    old_count: wp.array2d(dtype=wp.int32)  # [1]
    # of one pair
    out_point: wp.array2d(dtype=vec3)  # [OUT]
    out_normal: wp.array2d(dtype=vec3)
    out_gap: wp.array2d(dtype=f64)
    out_side: wp.array2d(dtype=wp.int32)
    polygon: wp.array2d(dtype=vec3)  # three polygons, one after another
    candidate: wp.array2d(dtype=vec3)
    candidate_normal: wp.array2d(dtype=vec3)
    candidate_gap: wp.array2d(dtype=f64)
    candidate_side: wp.array2d(dtype=wp.int32)
    candidate_group: wp.array2d(dtype=wp.int32)
    difference: wp.array2d(dtype=vec3)  # [EPA_POINTS] points of the first shape less points of the second
    on_first: wp.array2d(dtype=vec3)  # and those of the first
    weight: wp.array2d(dtype=f64)  # [4] of a simplex's corners in its nearest point
    epa_corner: wp.array2d(dtype=wp.int32)  # [3 · face + k]
    epa_normal: wp.array2d(dtype=vec3)  # [face]
    epa_distance: wp.array2d(dtype=f64)
    epa_seen: wp.array2d(dtype=wp.int32)  # 1: goes
    epa_edge: wp.array2d(dtype=wp.int32)  # [2 · edge + k] rim of what was cut off
