"""Pictures of cameras, by rays on the device: a thread for each pixel and world makes its ray, finds what it strikes
and writes depth and colour.

A ray through the middle of a pixel is d = (1, -u, -v) along the camera's axes, x ahead, y left and z up, with u and v
from the middle to the right and down, in units of its distance from the eye. Depth is along x. A surface of colour c
and normal n is seen as c (AMBIENT + (1 - AMBIENT) max(0, n·l)), lit from above at l; behind everything is the sky.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..author.sensors import Camera
from ..engine.spatial import ONE, ZERO, f64, quat, vec3
from .rays import FAR_, Shapes, strike
from .reading import Reading

if TYPE_CHECKING:
    from .bench import Bench

HUES = ("#4878a8", "#d88c3a", "#5a9e6f", "#b8584f", "#8a72b0", "#8c6d5a", "#c77fae", "#7f9a3c")  # of bodies without one
STONE = "#b9b4a8"  # of what stands on the ground or is of it
SKY = wp.constant(wp.float64(float(0xAECBE8)))
AMBIENT = wp.constant(wp.float64(0.35))
LIGHT = wp.constant(vec3(*(np.array([0.3, 0.45, 1.0]) / np.linalg.norm([0.3, 0.45, 1.0]))))
FULL = wp.constant(wp.float64(256.0))


@wp.kernel(enable_backward=False)
def picture_kernel(
    # model
    g: Shapes,
    own: wp.int32,  # body that carries the camera, which is not seen
    colour: wp.array(dtype=vec3),  # [shape] red, green, blue, 0 to 255
    width: wp.int32,
    height: wp.int32,
    half: f64,  # of the picture's width at a distance of 1
    # state
    p: wp.array(dtype=vec3),  # [world] of the eye
    q: wp.array(dtype=quat),
    # out
    out: wp.array2d(dtype=f64),  # [depth of all pixels, then colour of all, world] [m], 65536 r + 256 g + b
):
    """Depth and colour of each pixel, row by row from the top."""
    i, w = wp.tid()
    u = (f64(2 * (i % width) + 1 - width)) * half / f64(width)
    v = (f64(2 * (i // width) + 1 - height)) * half / f64(width)
    far = wp.sqrt(ONE + u * u + v * v)
    h = strike(g, own, p[w], wp.quat_rotate(q[w], vec3(ONE, -u, -v)) / far, w)
    pixels = width * height
    out[i, w] = h.s
    out[pixels + i, w] = SKY
    if h.s < FAR_:
        out[i, w] = h.s / far
        light = AMBIENT + (ONE - AMBIENT) * wp.max(ZERO, wp.dot(h.n, LIGHT))
        c = light * colour[h.shape]
        out[pixels + i, w] = (wp.floor(c[0]) * FULL + wp.floor(c[1])) * FULL + wp.floor(c[2])


def picture_reading(bench: "Bench", sensor: Camera, eye: Sequence[wp.array], value: wp.array) -> Reading:
    """What a camera sees from places and orientations [world]: depths and colours [channel, world]."""
    colour = wp.array(colours(bench), dtype=vec3, device=value.device)
    given: list[Any] = [bench.rays.shapes_there, bench.system.body_index.get(sensor.body, -1), colour]
    given += [sensor.width, sensor.height, f64(sensor.half_width), *eye]
    return Reading(picture_kernel, (sensor.pixels, value.shape[1]), given, [value])


def colours(bench: "Bench") -> np.ndarray:
    """Red, green and blue of each shape [shape, 3]."""
    bodies = list(bench.system.model.bodies.values())
    by_row = {bench.system.body_index[b.name]: b.colour or HUES[k % len(HUES)] for k, b in enumerate(bodies)}
    texts = [by_row.get(int(owner), STONE) for owner in bench.rays.owners]
    return np.array([[int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in texts], float).reshape(-1, 3)
