"""Pairs of shapes, many at once: each world has one pair."""

import numpy as np
import warp as wp

from impulsar.engine.collide.arrays import CollideScratch, ShapeArrays
from impulsar.engine.collide.detect import collide_pair, pair_distance, place_shape
from impulsar.engine.collide.shapes import collide_scratch, shape_arrays


@wp.kernel(enable_backward=False)
def query(
    m: ShapeArrays,
    x: CollideScratch,
    first: wp.array(dtype=wp.int32),
    second: wp.array(dtype=wp.int32),
    p: wp.array2d(dtype=wp.vec3d),
    q: wp.array2d(dtype=wp.quatd),
    margin: wp.float64,
    with_distance: int,
    with_contacts: int,
    # out
    gap: wp.array(dtype=wp.float64),
    vectors: wp.array2d(dtype=wp.vec3d),
    slack: wp.array(dtype=wp.float64),
    count: wp.array(dtype=wp.int32),
    point: wp.array2d(dtype=wp.vec3d),
    normal: wp.array2d(dtype=wp.vec3d),
    gaps: wp.array2d(dtype=wp.float64),
    side: wp.array2d(dtype=wp.int32),
):
    w = wp.tid()
    for i in range(first.shape[0]):
        a = first[i]
        b = second[i]
        place_shape(m, x, a, p[i, 0], q[i, 0], margin, w)
        place_shape(m, x, b, p[i, 1], q[i, 1], margin, w)
        if with_distance == 1:
            s = pair_distance(m, x, a, b, w)
            gap[i] = s.gap
            vectors[i, 0] = s.normal
            vectors[i, 1] = s.on_first
            vectors[i, 2] = s.on_second
            slack[i] = s.slack
        if with_contacts == 1:
            n = collide_pair(m, x, a, b, margin, w)
            count[i] = n
            for k in range(n):
                point[i, k] = x.out_point[k, w]
                normal[i, k] = x.out_normal[k, w]
                gaps[i, k] = x.out_gap[k, w]
                side[i, k] = x.out_side[k, w]


class Pairs:
    """Answers of the pair functions for shapes a and b in poses p (n, 2, 3), q (n, 2, 4)."""

    def __init__(self, firsts, seconds, p, q, margin=0.01, distance=True, contacts=True, device="cpu"):
        n = len(firsts)
        m = shape_arrays([(k, s) for k, s in enumerate([*firsts, *seconds])], device=device)
        x = collide_scratch(m, 1, 1, 1, device)
        self.inputs = [
            m,
            x,
            wp.array(np.arange(n), dtype=wp.int32, device=device),
            wp.array(np.arange(n) + n, dtype=wp.int32, device=device),
            wp.array(np.ascontiguousarray(p, float).reshape(n, 2, 3), dtype=wp.vec3d, device=device),
            wp.array(np.ascontiguousarray(q, float).reshape(n, 2, 4), dtype=wp.quatd, device=device),
            wp.float64(margin),
            int(distance),
            int(contacts),
        ]
        self.outputs = [
            wp.full(n, np.nan, dtype=wp.float64, device=device),
            wp.full((n, 3), wp.vec3d(np.nan), dtype=wp.vec3d, device=device),
            wp.full(n, np.nan, dtype=wp.float64, device=device),
            wp.full(n, -1, dtype=wp.int32, device=device),
            wp.full((n, 32), wp.vec3d(np.nan), dtype=wp.vec3d, device=device),
            wp.full((n, 32), wp.vec3d(np.nan), dtype=wp.vec3d, device=device),
            wp.full((n, 32), np.nan, dtype=wp.float64, device=device),
            wp.full((n, 32), -1, dtype=wp.int32, device=device),
        ]
        self.device = device
        self.run()

    def run(self):
        wp.launch(query, 1, inputs=self.inputs, outputs=self.outputs, device=self.device)
        found = [array.numpy() for array in self.outputs]
        self.gap, vectors, self.slack, self.count, self.point, self.normals, self.gaps, self.side = found
        self.normal, self.on_first, self.on_second = vectors[:, 0], vectors[:, 1], vectors[:, 2]
