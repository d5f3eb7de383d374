"""Worlds of shapes, one to a body, and their contacts."""

import numpy as np
import warp as wp

from impulsar.engine.collide.arrays import CollideScratch, ShapeArrays
from impulsar.engine.collide.detect import find_contacts, place_shapes
from impulsar.engine.collide.shapes import collide_scratch, shape_arrays


@wp.kernel(enable_backward=False)
def detect(
    m: ShapeArrays,
    x: CollideScratch,
    p: wp.array2d(dtype=wp.vec3d),
    q: wp.array2d(dtype=wp.quatd),
    margin: wp.float64,
):
    w = wp.tid()
    place_shapes(m, x, p, q, margin, w)
    find_contacts(m, x, margin, w)


class Scene:
    """Shapes on bodies (or on the ground, where the body is -1), in one world."""

    def __init__(
        self, shapes, bodies=None, excluded=(), pairs=2000, contacts=2000, margin=0.01, device="cpu", worlds=1
    ):
        self.bodies = list(range(len(shapes))) if bodies is None else bodies
        self.m = shape_arrays(list(zip(self.bodies, shapes, strict=True)), excluded, device)
        self.x = collide_scratch(self.m, worlds, pairs, contacts, device)
        self.margin, self.device, self.worlds = margin, device, worlds

    def find(self, p, q):
        """Contacts of bodies at p (n, 3), q (n, 4)."""
        places = np.repeat(np.asarray(p, float).reshape(-1, 1, 3), self.worlds, axis=1)
        turns = np.repeat(np.asarray(q, float).reshape(-1, 1, 4), self.worlds, axis=1)
        p = wp.array(places, dtype=wp.vec3d, device=self.device)
        q = wp.array(turns, dtype=wp.quatd, device=self.device)
        wp.launch(detect, self.worlds, inputs=[self.m, self.x, p, q, wp.float64(self.margin)], device=self.device)
        return self

    def __getattr__(self, name):
        """An array of the contacts."""
        array = getattr(self.x, name).numpy()[:, 0]
        return array[: self.x.count.numpy()[0, 0]]

    @property
    def pairs(self):
        n = self.x.pair_count.numpy()[0, 0]
        first, second = (getattr(self.x, name).numpy()[:n, 0].tolist() for name in ("pair_first", "pair_second"))
        return list(zip(first, second, strict=True))
