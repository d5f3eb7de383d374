"""Fluids of a large world, a thread a body: what they do to it, by the functions of small worlds.

    immerse     what of each body is below the surface at rest, I_a, and (M + I_a)⁻¹ for all that pushes the body
    push        buoyancy, drag and what a moving fluid does, less I_a's products by the twist and its weight
    books       work of buoyancy and of what moves in a fluid, loss in drag: powers of each body times the step

A body has its own pieces (engine/system/fluids.py), those of its kind; the powers of each are kept apart, so that no
two threads write to one place. Drag is explicit: quadratic drag F grows in steps longer than m u / F.
"""

from typing import Any

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.model import Model
from ...author.profiles import Component, Formula, scalar_profiles
from ..coordinates.added_mass import added_momentum, added_products, immerse, piece_axes
from ..coordinates.inertia import added_weight
from ..forces.fluid import add_piece, drag_on, moving_inertia
from ..forces.waves import flow_at
from ..ledger import fluid_entry
from ..spatial import HALF, ZERO, angular, f64, linear, mat33, rotation_matrix, spatial, vec3, vec6
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.build import System
from ..system.fluids import Pieces, Wet, WetInt, pieces_of
from .arrays import LargeArrays, respond

FIELDS = ("fluid_", "channel_", "table_")  # arrays of a system that fluids read
SMALL = wp.constant(wp.float64(1e-9))  # speed at which drag is read where a body moves with the fluid [m/s, rad/s]


@wp.kernel(enable_backward=False)
def immerse_bodies(m: SystemArrays, x: WorkArrays, a: LargeArrays):
    body = wp.tid()
    R_WB = rotation_matrix(x.q_WB[body, 0])
    immerse(m, x, body, R_WB, 0)
    if a.answer.shape[0] == 0:
        return
    k = a.kind[body]
    I_inv = wp.inverse(R_WB * a.inertia[k] * wp.transpose(R_WB) + x.A_ww[body, 0])
    across = I_inv * x.A_wv[body, 0]
    vv = wp.inverse(a.mass[k] * wp.identity(3, f64) + x.A_vv[body, 0] - wp.transpose(x.A_wv[body, 0]) * across)
    wv = -(across * vv)
    a.answer[0, body] = I_inv - wv * wp.transpose(across)
    a.answer[1, body] = wv
    a.answer[2, body] = vv


@wp.kernel(enable_backward=False)
def push_bodies(m: SystemArrays, x: WorkArrays, a: LargeArrays, time: wp.array(dtype=f64), span: wp.array(dtype=f64)):
    """Means over time .. time + span."""
    body = wp.tid()
    entries = 3 * m.fluid_channel.shape[0]
    book = entries * body
    for k in range(entries):
        x.k_book[fluid_entry(book, m.slot_kind.shape[0], m.load_body.shape[0], k), 0] = ZERO
    R_WB = rotation_matrix(x.q_WB[body, 0])
    f = moving_inertia(m, x, body, time[0], span[0], book, 0)
    for piece in range(m.wet_start[body], m.wet_start[body + 1]):
        f += add_piece(m, x, piece, body, R_WB, time[0], span[0], book, 0)
    if a.answer.shape[0] > 0:
        f -= added_weight(m, x, body, 0) + added_products(m, x, body, x.twist[body, 0], 0)
    a.pushed[body] = f


@wp.kernel(enable_backward=False)
def keep_books(x: WorkArrays, h: wp.array(dtype=f64), work: wp.array(dtype=f64)):
    k = wp.tid()
    work[k] = work[k] + h[0] * x.k_book[k, 0]


@wp.kernel(enable_backward=False)
def fastest_drag(m: SystemArrays, x: WorkArrays, a: LargeArrays, time: wp.array(dtype=f64), rates: wp.array(dtype=f64)):
    """The largest rate at which drag takes a body's velocity, of the bodies share, share + shares, ... [1/s]."""
    share = wp.tid()
    found = ZERO
    body = share
    while body < x.p_WB.shape[0]:
        R_WB = rotation_matrix(x.q_WB[body, 0])
        V = x.twist[body, 0]
        for piece in range(m.wet_start[body], m.wet_start[body + 1]):
            volume = x.wet_volume[piece, 0]
            if volume > ZERO:
                c = x.wet_moment[piece, 0] / volume
                flow = flow_at(m, m.wet_int[piece, WetInt.fluid], x.p_WB[body, 0] + c, time[0], ZERO, 0)
                v = linear(V) + wp.cross(angular(V), c) - flow.u
                v += vec3(SMALL, ZERO, ZERO)
                spin = angular(V) + vec3(SMALL, ZERO, ZERO)
                drag = volume / m.wet[piece, Wet.volume] * drag_on(m, piece, piece_axes(m, piece, R_WB), v, spin, 0)
                force = linear(drag)
                slowed = respond(a, x.q_WB[body, 0], body, spatial(wp.cross(c, force), force))
                turned = respond(a, x.q_WB[body, 0], body, spatial(angular(drag), vec3()))
                point = linear(slowed) + wp.cross(angular(slowed), c)
                found = wp.max(found, wp.length(point) / wp.length(v))
                found = wp.max(found, wp.length(angular(turned)) / wp.length(spin))
        body += rates.shape[0]
    rates[share] = found


@wp.kernel(enable_backward=False)
def added_energies(x: WorkArrays, kinetic: wp.array(dtype=f64)):
    """Added to the kinetic energies of the bodies share, share + shares, ... [J]."""
    share = wp.tid()
    found = ZERO
    body = share
    while body < x.p_WB.shape[0]:
        V = x.twist[body, 0]
        found += HALF * wp.dot(V, added_momentum(x, body, V, 0))
        body += kinetic.shape[0]
    kinetic[share] = kinetic[share] + found


class Wetting:
    """The fluids of a bench: arrays that they need in its structs, and their launches."""

    def __init__(self, bench: Any):
        bulk, m, x, a, device, n = bench.bulk, bench.m, bench.x, bench.a, bench.device, bench.bodies
        model: Model = bulk.immersed
        self.names = list(model.fluids)
        pieces = pieces_of(model, list(model.bodies))
        start, ints, numbers = spread(pieces, bulk.kind)
        fill_fluids(model, m, device)
        m.wet_start, m.wet_int = bench._whole(start), bench._whole(ints)
        m.wet, m.wet_corner = bench._of(numbers, f64), bench._of(pieces.corners, vec3)
        for name, kind in (("wet_volume", f64), ("wet_moment", vec3), ("wet_slope", vec6)):
            setattr(x, name, wp.zeros((len(ints), 1), kind, device=device))
        for name in ("A_ww", "A_wv", "A_vv"):
            setattr(x, name, wp.zeros((n, 1), mat33, device=device))
            setattr(bench.own_x, name, getattr(x, name))
        entries = 3 * len(self.names) * n
        x.k_book = wp.zeros((entries, 1), f64, device=device)
        a.pushed = wp.zeros(n, vec6, device=device)
        self.adds = bool(pieces.moved)
        if self.adds and any(bulk.shapes):
            told = f"{bulk.name}: shapes that touch have no added mass in large worlds, balls by radius have"
            raise ModelError(f"{told}; give the fluid added_mass=False")
        if self.adds:
            a.answer = wp.zeros((3, n), mat33, device=device)
        self.time, self.none = wp.zeros(1, f64, device=device), wp.zeros(1, f64, device=device)
        self.work = wp.zeros(entries, f64, device=device)
        self.immerse = bench.launcher(immerse_bodies, n, [m, x, a])
        self.push = bench.launcher(push_bodies, n, [m, x, a, self.time, bench.h])
        self.push_now = bench.launcher(push_bodies, n, [m, x, a, self.time, self.none])
        self.keep_books = bench.launcher(keep_books, entries, [x, bench.h, self.work])
        self._rates = bench.launcher(fastest_drag, len(bench.sums[0]), [m, x, a, self.time, bench.sums[0]])
        self.add_energies = bench.launcher(added_energies, len(bench.sums[0]), [bench.own_x, bench.sums[0]])
        self._sums, self._own = bench.sums[0], bench.own

    def longest_step(self) -> float:
        """A step of explicit drag that is longer may grow [s]."""
        self.immerse()
        self._rates()
        rate = float(self._sums.numpy().max())
        return 1.0 / rate if rate > 0.0 else np.inf

    def books(self) -> dict[str, float]:
        """Work of buoyancy and current, loss in drag of each fluid [J]."""
        sums = self.work.numpy().reshape(-1, len(self.names), 3)[: self._own].sum(0)
        return {
            f"{name} {what}": float(value)
            for name, row in zip(self.names, sums, strict=True)
            for what, value in zip(("buoyancy", "current", "drag"), row, strict=True)
        }


def spread(pieces: Pieces, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces of kinds as pieces of bodies: where each body's begin, whole numbers, numbers."""
    first = pieces.start if len(pieces.start) else np.zeros(int(kind.max()) + 2, int)
    many = np.diff(first)[kind]
    start = np.concatenate([[0], np.cumsum(many)])
    place = np.arange(start[-1]) + np.repeat(first[kind] - start[:-1], many)
    ints = pieces.ints[place].astype(np.int32)
    ints[:, WetInt.body] = np.repeat(np.arange(len(kind)), many)
    return start, ints, pieces.numbers[place]


def fill_fluids(model: Model, m: SystemArrays, device: str) -> None:
    """Numbers and currents of the fluids, as a system of nothing else has them."""
    alone = Model(model.name)
    alone.gravity = model.gravity
    for name, fluid in model.fluids.items():
        if any(isinstance(one, Component | Formula) for one in scalar_profiles(fluid.current, 3)):
            raise ModelError(f"fluid '{name}': its current is a callable, which large worlds do not take; give a Table")
        alone.fluids[name] = fluid
    made = System(alone, device=device, checked=True).arrays
    for name in made._cls.vars:
        if name.startswith(FIELDS):
            setattr(m, name, getattr(made, name))
