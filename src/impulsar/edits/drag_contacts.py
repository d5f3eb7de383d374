"""Contacts of a kinematic drag: gaps that may not become negative, and how far a step goes before a shape is passed.

A contact is a row that is asked, like a joint limit (drag_kernels.py): its gap and

    J = n · (velocity of the second body at the point - that of the first)

without friction. Its curvature is that of its features (engine/constrain/features.py), where they are known.

No step passes a shape. Of two convex shapes apart by a gap along n, let h be how far each reaches along a direction: a
step is taken if at its end they overlap by no more than a share of how thick they are along n, as it was or turned
with one of both. So the overlap that is left is taken off to the side they came from, however thin they are and however
long the step. Meshes and height fields have no such direction: there a step is no longer than the gap and that share.
"""

# mypy: disable-error-code="index,operator,union-attr"

import numpy as np
import warp as wp

from ..engine.collide.arrays import CONE, FIELD, HULL, MESH, PLANE, ShapeArrays
from ..engine.collide.broad import find_pairs, is_surface
from ..engine.collide.cores import core_of, support
from ..engine.collide.detect import find_contacts, pair_distance, place_shape, place_shapes
from ..engine.constrain.features import find_features, keep_spot
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.retract import move_coordinates
from ..engine.integrate.contacts import MARGIN, core_size, remember
from ..engine.launch import record_launch
from ..engine.methods.base import apart
from ..engine.solve.islands import ContactArrays
from ..engine.spatial import HALF, ONE, TWO, ZERO, f64, quat, rotation_vector, vec3, zero3
from ..engine.start.contacts import contact_arrays
from ..engine.state import State, StateArrays, WorkArrays
from ..engine.system import System, SystemArrays
from .drag_kernels import DragArrays, add_point_row, fill_rows, nudge, pose, turn_back

FIND, MARK, SWEEP, CURVE, KEEP, FOLLOW = range(6)  # what the kernel is asked
AROUND = wp.constant(wp.float64(0.2))  # of a shape's reach: contacts so near are looked for
THICK = wp.constant(wp.float64(0.25))  # of half the thickness of both: overlap with which a step may end
KNOWN = wp.constant(wp.float64(1e-6))  # gap below which a contact's features count [m]
SAME = wp.constant(wp.float64(1e-7))  # gaps of one contact, as it is found and by its features [m]


@wp.struct
class TouchArrays:
    """What a drag keeps of contacts, [.., world] unless said."""

    ask: wp.array(dtype=wp.int32)  # [1]
    inner: wp.array(dtype=f64)  # [shape] half its least thickness [m]
    p_from: wp.array2d(dtype=vec3)  # [body] pose that a step goes from
    q_from: wp.array2d(dtype=quat)
    J: wp.array2d(dtype=f64)  # [contact · dofs + dof]
    eta: wp.array2d(dtype=f64)  # [contact] multipliers
    known: wp.array2d(dtype=wp.int32)  # [contact] 1: its features are
    share: wp.array2d(dtype=f64)  # [1] of a step that passes no shape


@wp.func
def add_contact_row(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    c: wp.ref[ContactArrays],
    i: int,
    n: vec3,
    point: vec3,
    scale: f64,
    to: wp.array2d(dtype=f64),
    at: int,
    w: int,
):
    """scale · J of contact i, whose normal and point are given, added to a vector over the dofs."""
    first = c.shapes.body[c.found.first[i, w]]
    second = c.shapes.body[c.found.second[i, w]]
    if first >= 0:
        add_point_row(m, x, first, point, n, -scale, to, at, w)
    if second >= 0:
        add_point_row(m, x, second, point, n, scale, to, at, w)


@wp.func(inline=False)
def find(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: wp.ref[TouchArrays],
    c: wp.ref[ContactArrays],
    around: f64,
    w: int,
):
    """Contacts near the present pose, with their rows and features."""
    for shape in range(c.shapes.kind.shape[0]):
        c.found.travel[shape, w] = ZERO
        if c.shapes.body[shape] >= 0:
            c.found.travel[shape, w] = around * core_size(c, shape)
    place_shapes(c.shapes, c.found, x.p_WB, x.q_WB, MARGIN, w)
    find_contacts(c.shapes, c.found, MARGIN, w)
    dofs = s.v.shape[0]
    for i in range(c.found.count[0, w]):
        for k in range(dofs):
            t.J[i * dofs + k, w] = ZERO
        n = c.found.normal[i, w]
        add_contact_row(m, x, c, i, n, c.found.point[i, w], ONE, t.J, i * dofs, w)
        t.known[i, w] = int(0)
        if wp.abs(c.found.gap[i, w]) < KNOWN:
            c.features.normal[i, w] = n
            if find_features(c.shapes, c.found, c.features, i, w):
                keep_spot(x, c.features, i, c.shapes.body[c.found.first[i, w]], c.shapes.body[c.found.second[i, w]], w)
                if wp.abs(c.features.gap[i, w] - c.found.gap[i, w]) < SAME:
                    t.known[i, w] = int(1)


# how far a step may go


@wp.func
def place_from(t: wp.ref[TouchArrays], c: wp.ref[ContactArrays], shape: int, w: int):
    """A shape where the step begins."""
    body = c.shapes.body[shape]
    if body >= 0:
        place_shape(c.shapes, c.found, shape, t.p_from[body, w], t.q_from[body, w], ZERO, w)


@wp.func
def place_now(x: wp.ref[WorkArrays], c: wp.ref[ContactArrays], shape: int, w: int):
    """And where it ends."""
    body = c.shapes.body[shape]
    if body >= 0:
        place_shape(c.shapes, c.found, shape, x.p_WB[body, w], x.q_WB[body, w], ZERO, w)


@wp.func(inline=False)
def way_of(x: wp.ref[WorkArrays], t: wp.ref[TouchArrays], c: wp.ref[ContactArrays], shape: int, w: int) -> f64:
    """The most that a shape's surface has moved, as a place [m]."""
    body = c.shapes.body[shape]
    if body < 0:
        return ZERO
    own = c.shapes.p_BS[shape] + wp.quat_rotate(c.shapes.q_BS[shape], c.shapes.middle[shape])
    before = t.p_from[body, w] + wp.quat_rotate(t.q_from[body, w], own)
    now = x.p_WB[body, w] + wp.quat_rotate(x.q_WB[body, w], own)
    turn = wp.length(rotation_vector(x.q_WB[body, w] * wp.quat_inverse(t.q_from[body, w])))
    return wp.length(now - before) + turn * core_size(c, shape)


@wp.func
def overlap_along(c: wp.ref[ContactArrays], a: int, b: int, n: vec3, w: int) -> f64:
    """How far the second of two convex shapes has to move along n to leave the first [m]."""
    origin = c.found.p_WS[b, w]
    A = core_of(c.shapes, c.found, a, origin, w)
    B = core_of(c.shapes, c.found, b, origin, w)
    return wp.dot(support(c.shapes, A, n) - support(c.shapes, B, -n), n) + A.radius + B.radius


@wp.func(inline=False)
def share_of_pair(
    x: wp.ref[WorkArrays], t: wp.ref[TouchArrays], c: wp.ref[ContactArrays], a: int, b: int, w: int
) -> f64:
    """Of a step that does not take two shapes past each other: 1, or less."""
    place_from(t, c, a, w)
    place_from(t, c, b, w)
    apart = pair_distance(c.shapes, c.found, a, b, w)
    gap = apart.gap
    n = apart.normal
    in_a = wp.transpose(c.found.R_WS[a, w]) * n
    in_b = wp.transpose(c.found.R_WS[b, w]) * n
    place_now(x, c, a, w)
    place_now(x, c, b, w)
    kind_a = c.shapes.kind[a]
    kind_b = c.shapes.kind[b]
    deep = ZERO
    if is_surface(kind_a) or is_surface(kind_b):
        if kind_a == PLANE or kind_b == PLANE:
            after = pair_distance(c.shapes, c.found, a, b, w)
            deep = -after.gap
        else:
            deep = way_of(x, t, c, a, w) + way_of(x, t, c, b, w) - gap
    else:
        deep = wp.min(
            overlap_along(c, a, b, n, w),
            wp.min(
                overlap_along(c, a, b, c.found.R_WS[a, w] * in_a, w),
                overlap_along(c, a, b, c.found.R_WS[b, w] * in_b, w),
            ),
        )
    most = THICK * (t.inner[a] + t.inner[b])
    if deep <= most + wp.max(-gap, ZERO):
        return ONE
    goal = HALF * most + wp.max(-gap, ZERO)
    if gap > most:
        goal = ZERO
    return wp.clamp((gap + goal) / (gap + deep), f64(0.02), f64(0.98))


@wp.func(inline=False)
def sweep(x: wp.ref[WorkArrays], t: wp.ref[TouchArrays], c: wp.ref[ContactArrays], w: int):
    """The share of the step to the present pose that passes no shape."""
    share = ONE
    for shape in range(c.shapes.kind.shape[0]):
        c.found.travel[shape, w] = way_of(x, t, c, shape, w)
    place_shapes(c.shapes, c.found, x.p_WB, x.q_WB, MARGIN, w)
    find_pairs(c.shapes, c.found, w)
    if c.found.pairs_missed[0, w] > 0:
        share = HALF
    for i in range(c.found.pair_count[0, w]):
        share = wp.min(share, share_of_pair(x, t, c, c.found.pair_first[i, w], c.found.pair_second[i, w], w))
    t.share[0, w] = share


@wp.func(inline=False)
def add_followed_row(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    t: wp.ref[TouchArrays],
    c: wp.ref[ContactArrays],
    i: int,
    scale: f64,
    to: wp.array2d(dtype=f64),
    at: int,
    w: int,
):
    """The same of contact i as it has followed the bodies since it was found, where its features are known."""
    n = c.found.normal[i, w]
    point = c.found.point[i, w]
    if t.known[i, w] != 0:
        keep_spot(x, c.features, i, c.shapes.body[c.found.first[i, w]], c.shapes.body[c.found.second[i, w]], w)
        n = c.features.normal[i, w]
        point = c.features.place[i, w]
    add_contact_row(m, x, c, i, n, point, scale, to, at, w)


@wp.func(inline=False)
def follow(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    t: wp.ref[TouchArrays],
    c: wp.ref[ContactArrays],
    w: int,
):
    """Rows of the contacts found last, at the present pose."""
    dofs = s.v.shape[0]
    for i in range(c.found.count[0, w]):
        for k in range(dofs):
            t.J[i * dofs + k, w] = ZERO
        add_followed_row(m, x, t, c, i, ONE, t.J, i * dofs, w)


@wp.func(inline=False)
def add_bends(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    d: wp.ref[DragArrays],
    t: wp.ref[TouchArrays],
    c: wp.ref[ContactArrays],
    step: f64,
    scale: f64,
    w: int,
):
    """d.force += scale · slope of η · gaps at d.q ⊕ step · d.change; see add_slope in drag_kernels.py."""
    dofs = s.v.shape[0]
    for k in range(s.q.shape[0]):
        s.q[k, w] = d.q[k, w]
    for k in range(dofs):
        x.shift[k, w] = step * d.change[k, w]
        x.qdd[k, w] = ZERO
    move_coordinates(m, s, x.shift, w)
    pose(m, s, x, w)
    for i in range(c.found.count[0, w]):
        if t.eta[i, w] != ZERO:
            add_followed_row(m, x, t, c, i, t.eta[i, w], x.qdd, 0, w)
    turn_back(m, x, w)
    for k in range(dofs):
        d.force[k, w] = d.force[k, w] + scale * x.qdd[k, w]


@wp.func(inline=False)
def curve(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    d: wp.ref[DragArrays],
    t: wp.ref[TouchArrays],
    c: wp.ref[ContactArrays],
    w: int,
):
    """What contacts add to d.force = H d.change; after curve_kernel."""
    list_rows(m, x, w)
    step = nudge(d, w)
    add_bends(m, s, x, d, t, c, step, ONE / (TWO * step), w)
    add_bends(m, s, x, d, t, c, -step, -ONE / (TWO * step), w)
    for k in range(s.q.shape[0]):
        s.q[k, w] = d.q[k, w]
    for k in range(s.loop_q.shape[0]):
        s.loop_q[k, w] = d.loop_q[k, w]
    pose(m, s, x, w)
    fill_rows(m, s, x, d, w)


def answer_contacts(m: SystemArrays, s: StateArrays, x: WorkArrays, d: DragArrays, t: TouchArrays, c: ContactArrays):
    """What t.ask says of the contacts of a drag."""
    w = wp.tid()
    if t.ask[0] == FIND:
        find(m, s, x, t, c, AROUND, w)
    elif t.ask[0] == MARK:
        for i in range(m.parent.shape[0]):
            t.p_from[i, w] = x.p_WB[i, w]
            t.q_from[i, w] = x.q_WB[i, w]
    elif t.ask[0] == SWEEP:
        sweep(x, t, c, w)
    elif t.ask[0] == CURVE:
        curve(m, s, x, d, t, c, w)
    elif t.ask[0] == FOLLOW:
        follow(m, s, x, t, c, w)
    else:  # KEEP: those that touch here are the world's, without forces
        find(m, s, x, t, c, ZERO, w)
        for i in range(c.found.count[0, w]):
            c.found.impulse[i, w] = zero3()
            c.found.mode[i, w] = int(0)
        remember(s, c, w)


def half_thickness(shapes: ShapeArrays) -> np.ndarray:
    """Of each shape [m]; 0 of planes and meshes, two cells of height fields."""
    kinds, starts, counts = (getattr(shapes, name).numpy() for name in ("kind", "start", "count"))
    first, faces = shapes.part_start.numpy(), shapes.part_count.numpy()
    thick = shapes.half.numpy().min(axis=1) + shapes.radius.numpy()
    for k, kind in enumerate(kinds):
        if kind in (PLANE, MESH):
            thick[k] = 0.0
        elif kind == FIELD:  # solid below: what sinks in comes up again, but a hill may be passed
            cells = shapes.grid.numpy()[2 * k : 2 * k + 2] - 1
            thick[k] = 4 * (shapes.half.numpy()[k, :2] / cells).min()
        elif kind == CONE:
            thick[k] /= 2
        elif kind == HULL:
            corners = shapes.vertices.numpy()[starts[k] : starts[k] + counts[k]]
            normals = shapes.face_normal.numpy()[first[k] : first[k] + faces[k]]
            thick[k] = np.ptp(corners @ normals.T, axis=0).min() / 2
    return thick


class Touch:
    """Contacts of a drag: arrays, launches, and what was found last."""

    def __init__(self, system: System, contacts: ContactArrays):
        n, device = system.counts, system.device
        self.contacts, self.device = contacts, device
        arrays = TouchArrays()
        arrays.ask = wp.zeros(1, dtype=wp.int32, device=device)
        arrays.inner = wp.array(half_thickness(contacts.shapes), dtype=f64, device=device)
        for name, size in (("p_from", n.bodies), ("q_from", n.bodies), ("known", n.contacts), ("eta", n.contacts)):
            dtype = TouchArrays.vars[name].type.dtype  # type: ignore[attr-defined]
            setattr(arrays, name, wp.zeros((size, 1), dtype=dtype, device=device))
        arrays.J = wp.zeros((n.contacts * n.dofs, 1), dtype=f64, device=device)
        arrays.share = wp.zeros((1, 1), dtype=f64, device=device)
        self.arrays, self.dofs = arrays, n.dofs

    def record(self, system: System, state: State, work: WorkArrays, drag: DragArrays) -> None:
        """Make the launch for the arrays as they are now."""
        inputs = [system.arrays, state.arrays, work, drag, self.arrays, self.contacts]
        self.launch = record_launch(apart(answer_contacts), 1, inputs, system.device)

    def _ask(self, what: int) -> None:
        self.arrays.ask.fill_(what)
        self.launch()

    def find(self) -> None:
        """Look for contacts at the present pose."""
        self._ask(FIND)
        found = self.contacts.found
        count = int(found.count.numpy()[0, 0])
        self.gap = found.gap.numpy()[:count, 0].copy()
        self.J = self.arrays.J.numpy()[: count * self.dofs].reshape(count, self.dofs).copy()
        self.was = found.was.numpy()[:count, 0].copy()
        first, second = found.first.numpy()[:count, 0], found.second.numpy()[:count, 0]
        self.pairs = list(zip(first.tolist(), second.tolist(), strict=True))

    def follow(self) -> np.ndarray:
        """Rows at the present pose of the contacts found last [contact, dof]."""
        self._ask(FOLLOW)
        return self.arrays.J.numpy()[: len(self.gap) * self.dofs].reshape(len(self.gap), self.dofs).copy()

    def mark(self) -> None:
        """Steps go from the present pose."""
        self._ask(MARK)

    def share(self) -> float:
        """How much of the step to the present pose passes no shape."""
        self._ask(SWEEP)
        return float(self.arrays.share.numpy()[0, 0])

    def press(self, eta: np.ndarray) -> None:
        """Set the multipliers of the contacts found last."""
        padded = np.zeros((self.arrays.eta.shape[0], 1))
        padded[: len(eta), 0] = eta
        self.arrays.eta.assign(padded)

    def bend(self) -> None:
        """Add the contacts' part to a product with the curvature."""
        self._ask(CURVE)

    def keep(self) -> None:
        """Make the contacts of the present pose those of the state."""
        self._ask(KEEP)


def touch_of(system: System) -> Touch | None:
    """None where nothing can touch."""
    contacts = contact_arrays(system)
    return None if contacts is None else Touch(system, contacts)
