"""How the bodies of a large world look: kinds of them that share shapes, and blocks of each that lie together."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...author.model import Model
from ...author.shapes import Box, Capsule, Shape, Sphere
from ...engine.large.bulk import Bulk
from .. import describe
from ..large_messages import BLOCK, FRAME_BYTES, FRAMES_PER_SECOND, LargeKind, LargeScene
from ..wire import to_text
from .window import most_bodies

CELLS = 512.0  # across the world, by which neighbours are told
ROUND = 1.15  # edges of a cross-section that differ by less are a round one's
THIN = 0.03  # of its longest edge: what a plate without thickness is drawn as
SLIM = 3.0  # times as long as thick: a rod


@dataclass(frozen=True)
class Blocks:
    """Bodies in the order in which pages have them."""

    order: np.ndarray  # [body] its number in the world
    kinds: np.ndarray  # [block]
    sizes: np.ndarray  # [block] bodies
    shades: np.ndarray  # [body] 0 to 255, by where they began

    @property
    def starts(self) -> np.ndarray:
        """[block] place of the first body of each."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])


def looks_of(bulk: Bulk, model: Model | None) -> tuple[list[LargeKind], np.ndarray]:
    """Kinds that look different, and which of them each body is of."""
    shapes = [_shapes_of(bulk, model, k) for k in range(len(bulk.mass))]
    colours = [None] * len(shapes) if model is None else [body.colour for body in model.bodies.values()]
    known: dict[str, int] = {}
    look = np.array([known.setdefault(_key(*one), len(known)) for one in zip(shapes, colours, strict=True)])
    of_body = look[bulk.kind]
    counts = np.bincount(of_body, minlength=len(known))
    kinds = []
    for k in range(len(known)):
        first = int(np.flatnonzero(look == k)[0])
        own = shapes[first]
        name = f"kind {k}" if model is None else list(model.bodies)[first]
        kinds.append(
            LargeKind(
                name=name,
                shapes=[describe.shape(one) for one in own],
                colour=colours[first],
                size=min(_thickness(one) for one in own),
                count=int(counts[k]),
            )
        )
    return kinds, of_body


def _key(shapes: list[Shape], colour: str | None) -> str:
    return json.dumps([to_text(describe.shape(one)) for one in shapes] + [colour])


def _shapes_of(bulk: Bulk, model: Model | None, kind: int) -> list[Shape]:
    """What a kind is drawn as: its shapes, its radius, or else a solid that has its inertia."""
    if model is not None:
        own = list(model.bodies.values())[kind].shapes
        return list(own) or [solid_of(float(bulk.mass[kind]), bulk.inertia[kind])]
    if bulk.radius[kind] > 0.0:
        return [Sphere(float(bulk.radius[kind]))]
    if bulk.shapes and bulk.shapes[kind]:
        return list(bulk.shapes[kind])
    return [solid_of(float(bulk.mass[kind]), bulk.inertia[kind])]


def solid_of(mass: float, inertia: np.ndarray) -> Shape:
    """The box of even density with a mass and inertia; a rod where it is long and of a round cross-section."""
    values, axes = np.linalg.eigh(inertia)
    edges = np.sqrt(
        np.maximum(6.0 * (values.sum() - 2.0 * values) / mass, 1e-12)
    )  # falling: the least value is longest
    edges = np.maximum(edges, THIN * edges[0])
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    if edges[0] > SLIM * edges[1] and edges[1] < ROUND * edges[2]:
        axes = axes[:, [1, 2, 0]]  # a capsule is along z
        radius = 0.25 * float(edges[1] + edges[2])
        return Capsule(radius, float(edges[0]) - 2.0 * radius, orientation=tuple(quaternion(axes)))
    return Box(tuple(edges.tolist()), orientation=tuple(quaternion(axes)))


def quaternion(axes: np.ndarray) -> np.ndarray:
    """Unit quaternion xyzw of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(axes).as_quat()


def _thickness(shape: Shape) -> float:
    return 2.0 * float(np.min(describe.reach(shape)))


def blocks_of(bulk: Bulk, of_body: np.ndarray, seed: int = 0) -> Blocks:
    """Bodies of one kind that are near each other, BLOCK at most; in random order in each."""
    position = bulk.position
    low, high = position.min(0), position.max(0)
    span = max(float((high - low).max()), 1e-9)
    from ...scale.domains.partition import morton

    keys = morton(np.floor(CELLS * (position - low) / span).astype(np.int64))
    order = np.lexsort((np.arange(len(keys)), keys, of_body))
    shade = shades_of(bulk, low, high)
    random = np.random.default_rng(seed)
    pieces, kinds, sizes = [], [], []
    for kind in range(int(of_body.max()) + 1):
        own = order[np.searchsorted(of_body[order], kind) : np.searchsorted(of_body[order], kind, "right")]
        for start in range(0, len(own), BLOCK):
            piece = own[start : start + BLOCK]
            pieces.append(random.permutation(piece))
            kinds.append(kind)
            sizes.append(len(piece))
    placed = np.concatenate(pieces)
    return Blocks(placed, np.array(kinds), np.array(sizes), np.rint(255.0 * shade[placed]).astype(np.uint8))


def shades_of(bulk: Bulk, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A number of each body from 0 to 1: along a mechanism by its order, else by height, or along what is flat."""
    if bulk.joints and not bulk.touches:
        return np.arange(bulk.bodies) / max(1, bulk.bodies - 1)
    span = high - low
    axis = 2 if span[2] > 0.2 * span.max() else int(np.argmax(span))
    return (bulk.position[:, axis] - low[axis]) / max(float(span[axis]), 1e-9)


def scene_of(
    world: Any, source: Any, kinds: list[LargeKind], blocks: Blocks, generation: int, still: np.ndarray
) -> LargeScene:
    """What a page is told of a world."""
    bulk = world.bench.bulk
    return LargeScene(
        generation=generation,
        name=bulk.name,
        scene=source.scene,
        parameters=source.parameters,
        bodies=world.bodies,
        joints=bulk.joints - len(bulk.springs),
        kinds=kinds,
        block_kinds=blocks.kinds.tolist(),
        block_sizes=blocks.sizes.tolist(),
        low=still[:, :3].min(0).tolist(),
        high=still[:, :3].max(0).tolist(),
        gravity=[float(value) for value in bulk.gravity],
        planes=[[float(value) for value in plane] for plane in bulk.planes],
        obstacles=[describe.shape(one) for one in bulk.obstacles],
        fluid=bulk.immersed is not None,
        method=world.method,
        device=str(world.device),
        substeps=world.substeps,
        touches=bulk.touches,
        frame_bytes=FRAME_BYTES,
        frame_bodies=most_bodies(),
        frames_per_second=FRAMES_PER_SECOND,
    )
