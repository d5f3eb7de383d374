"""Arrays of worlds with contact, from a system's model, on the host."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import warp as wp

from ...author.materials import pair_of
from ...author.rotations import multiply, rotate
from ...author.shapes import Shape
from ...author.surfaces import Obstacle
from ...author.touching import Touching, owners, touching_pairs, touching_shapes
from ..collide.arrays import PLANE
from ..collide.shapes import collide_scratch, shape_arrays
from ..constrain.features import Features
from ..ledger import STAGES
from ..solve.bounded import Bounded
from ..solve.islands import MOST_ROWS, ContactArrays
from ..system import System

PAIRS_EACH, SPARE = 16, 64  # pairs of shapes that may be near at a time


def placed(system: System, touching: Touching) -> tuple[int, Shape]:
    """A shape with its body, -1 for ground, in whose frame it is."""
    if touching.owner in system.body_index:
        return system.body_index[touching.owner], touching.shape
    owner, shape = owners(system.model)[touching.owner], touching.shape
    if not isinstance(owner, Obstacle):  # ground
        return -1, shape
    offset = owner.position + rotate(owner.orientation, np.asarray(shape.offset))
    return -1, replace(shape, offset=offset, orientation=multiply(owner.orientation, np.asarray(shape.orientation)))


def contact_arrays(system: System) -> "ContactArrays | None":
    """Shapes, room for contacts and for the problems of islands; None where nothing can touch."""
    if not system.counts.contacts:
        return None
    counts, device, model = system.counts, system.device, system.model
    shapes = touching_shapes(model)
    may = {(pair[0].owner, pair[1].owner) for pair in touching_pairs(model)}
    excluded = [
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(shapes), 2)
        if (a.owner, b.owner) not in may and (b.owner, a.owner) not in may
    ]
    pairs = len(shapes) * (len(shapes) - 1) // 2 - len(excluded)
    c = ContactArrays()
    c.shapes = shape_arrays([placed(system, one) for one in shapes], excluded, device)
    c.shapes.sweep_axis = wp.array([widest_axis(system, c)], dtype=wp.int32, device=device)
    c.found = collide_scratch(
        c.shapes, counts.worlds, min(pairs, PAIRS_EACH * len(shapes) + SPARE), counts.contacts, device
    )
    c.bounded = room_for_problem(min(MOST_ROWS, counts.rows), counts.worlds, device)
    index = system.material_index
    c.shape_material = wp.array([index[one.material] for one in shapes], dtype=wp.int32, device=device)
    c.material_pair = wp.array(pair_table(system), dtype=wp.int32, device=device)
    trees, rows = len(system.arrays.tree_dof) - 1, counts.rows
    sizes = {
        **dict.fromkeys(("island", "joined", "first_row"), trees),
        **dict.fromkeys(("member", "place", "rebound"), rows),
        **dict.fromkeys(("near", "far"), min(MOST_ROWS, rows)),
        **dict.fromkeys(("couple", "share"), min(MOST_ROWS, rows) * counts.bilaterals),
        "begin": trees + 1,
        "column": counts.bilaterals,
    }
    sizes |= {
        "slip": counts.contacts,
        "spare": counts.contacts,
        "leaves": counts.contacts + counts.slots,
        "power": STAGES + 1,
    }
    c.features = Features()
    for name, kind in Features.vars.items():  # type: ignore[attr-defined]
        many = 2 if name in ("kind", "point", "axis", "round", "ring") else 1
        array = wp.zeros((many * counts.contacts, counts.worlds), dtype=kind.type.dtype, device=device)
        setattr(c.features, name, array)
    for name, size in sizes.items():
        dtype = ContactArrays.vars[name].type.dtype  # type: ignore[attr-defined]
        setattr(c, name, wp.zeros((size, counts.worlds), dtype=dtype, device=device))
    return c


def room_for_problem(rows: int, worlds: int, device: str) -> Bounded:
    """Arrays of a problem of up to so many rows."""
    problem = Bounded()
    entries = rows * (rows + 1) // 2
    sizes = {
        **dict.fromkeys(("count", "factors", "work", "equations"), 1),
        **dict.fromkeys(("W", "lower", "upper"), entries),
    }
    for name, kind in Bounded.vars.items():  # type: ignore[attr-defined]
        array = wp.zeros((sizes.get(name, rows), worlds), dtype=kind.type.dtype, device=device)
        setattr(problem, name, array)
    return problem


def pair_table(system: System) -> np.ndarray:
    """Of each two materials the number of their pair, -1: none."""
    names, table = list(system.material_index), []
    order = {name: k for k, name in enumerate(system.model.material_pairs)}
    for a in names:
        for b in names:
            pair: Any = pair_of(system.model, a, b)
            table.append(-1 if pair is None else order[pair.name])
    return np.array(table, np.int32)


def widest_axis(system: System, c: ContactArrays) -> int:
    """Along which the shapes are spread most at the authored pose, planes aside."""
    bodies, kinds = c.shapes.body.numpy(), c.shapes.kind.numpy()
    names = list(system.body_index)
    own = c.shapes.p_BS.numpy()
    places = [
        own[k] + (system.model.bodies[names[body]].position if body >= 0 else 0.0)
        for k, body in enumerate(bodies)
        if kinds[k] != PLANE
    ]
    return int(np.ptp(np.array(places), axis=0).argmax()) if places else 0
