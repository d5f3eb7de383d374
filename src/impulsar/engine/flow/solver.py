"""`Lattice`: a box of fluid solved by lattice-Boltzmann steps, whole or in sub-domains of planes over ranks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from ...author.checks import whole
from ...author.errors import ModelError, StepError
from ..spatial import f64, vec3, vec6
from . import lattice, points, solids
from .arrays import FLUID, KINDS, PERIODIC, WAYS, LatticeArrays, SolidArrays, directions

SIDES = ("-x", "+x", "-y", "+y", "-z", "+z")
# velocity by a steady force on one cell, of F / (μ cell), there and at cells beside it, [along, across, across]: read
# off a lattice of 32³, and again by tests/flow/test_coupled.py
OWN = np.array([[[0.13088, 0.03851], [0.03851, 0.03066]], [[0.06541, 0.04581], [0.04581, 0.02813]]])
FASTEST = 0.3  # cells a step: beyond it errors of compressibility are large, and soon it breaks


class Lattice:
    """A box of cells [m] from a corner, filled with a fluid of density [kg/m³] and viscosity [Pa s], in float64.

    sides: "periodic", "wall" or "open" for x, y and z; slip: velocities of walls by side, {"+z": (1, 0, 0)} [m/s];
    force: on all of it [N/m³]; dt: of a step [s]; ranks: who shares the box (`Ranks` of scale.flow), None: nobody.
    """

    def __init__(
        self,
        cells: Sequence[int],
        cell: float,
        dt: float,
        density: float = 1000.0,
        viscosity: float = 1e-3,
        corner: Sequence[float] = (0.0, 0.0, 0.0),
        sides: Sequence[str] = ("periodic", "periodic", "periodic"),
        slip: Mapping[str, Sequence[float]] | None = None,
        force: Sequence[float] = (0.0, 0.0, 0.0),
        ranks: Any = None,
        device: str = "cpu",
    ):
        self.cells = tuple(whole("Lattice", "cells", n, 1, 10**6) for n in cells)
        named = {"cell": cell, "dt": dt, "density": density, "viscosity": viscosity}
        for name, value in named.items():
            if not (isinstance(value, int | float) and math.isfinite(value) and value > 0.0):
                raise ModelError(f"Lattice: {name} is {value!r}, expected a number > 0")
        if len(self.cells) != 3 or len(sides) != 3 or any(side not in KINDS for side in sides):
            raise ModelError(f"Lattice: cells and sides are {cells!r} and {sides!r}, expected three, of {[*KINDS]}")
        self.cell, self.dt, self.density, self.viscosity = map(float, (cell, dt, density, viscosity))
        self.corner, self.sides = np.array(corner, float), tuple(sides)
        self.device, self.ranks, self.time = device, ranks, 0.0
        self.pace = self.dt / self.cell  # cells a step, of 1 m/s
        self.impulse = self.density * self.cell**4 / self.dt  # momentum of one cell at one cell a step [kg m/s]
        slow = 3.0 * self.viscosity / self.density * self.dt / self.cell**2
        if slow < 1e-4:
            told = f"Lattice: viscosity is {slow / 3:.2g} cells² a step, too little to hold (least 3.3e-5)"
            raise ModelError(f"{told}; take a longer dt or finer cells")
        rank, size = (ranks.rank, ranks.size) if ranks else (0, 1)
        if size > self.cells[0]:
            raise ModelError(f"Lattice: {self.cells[0]} planes cannot be divided among {size} ranks")
        ends = [self.cells[0] * k // size for k in range(size + 1)]
        self.first, self.planes = ends[rank], ends[rank + 1] - ends[rank]
        self._fill(slow, slip or {}, force)

    def _fill(self, slow: float, slip: Mapping[str, Sequence[float]], force: Sequence[float]) -> None:
        L, device = LatticeArrays(), self.device
        e, w = directions()
        L.size, L.first, L.planes = wp.vec3i(*self.cells), self.first, self.planes
        L.side = wp.array(np.repeat([KINDS[side] for side in self.sides], 2), dtype=wp.int32, device=device)
        for name in slip:
            if name not in SIDES or self.sides[SIDES.index(name) // 2] != "wall":
                raise ModelError(f"Lattice: slip at {name!r}, which is no wall; sides are {', '.join(SIDES)}")
        walls = np.array([slip.get(name, (0.0, 0.0, 0.0)) for name in SIDES], float)
        L.slip = wp.array(self.pace * walls, dtype=vec3, device=device)
        L.way, L.weight = wp.array(e, dtype=wp.vec3i, device=device), wp.array(w, dtype=f64, device=device)
        L.even, L.odd = 1.0 / (slow + 0.5), 1.0 / (lattice.MAGIC / slow + 0.5)
        L.drive = wp.zeros(1, vec3, device=device)
        self.count = (self.planes + 2) * self.cells[1] * self.cells[2]
        L.u = wp.zeros(self.count, vec3, device=device)
        L.push, L.solid = wp.zeros(0, vec3, device=device), wp.zeros(0, wp.int32, device=device)
        self.L, self.S = L, SolidArrays()
        self.g, self._next = (wp.zeros((WAYS, self.count), f64, device=device) for _ in range(2))
        self._entered = False  # solids have been in the cells
        self.shapes: list[Any] = []
        self.drive(force)

    def _launch(self, kernel: wp.Kernel, threads: Any, *inputs: object) -> None:
        if np.prod(threads):
            wp.launch(kernel, threads, inputs=list(inputs), device=self.device)

    # the fluid ------------------------------------------------------------------------------------

    def drive(self, force: Sequence[float]) -> None:
        """Push all of the fluid by a force [N/m³], bodies by their volumes as well."""
        self.force = np.array(force, float)
        self.L.drive.assign((np.array(force, float) * self.dt**2 / (self.density * self.cell))[None])

    def set(self, velocity: np.ndarray, pressure: np.ndarray | float = 0.0) -> None:
        """Start from velocities [x, y, z, 3] [m/s] and pressures [x, y, z] [Pa] of all cells."""
        own = slice(self.first, self.first + self.planes)
        u, rho = np.zeros((self.planes + 2, *self.cells[1:], 3)), np.zeros((self.planes + 2, *self.cells[1:]))
        u[1:-1] = self.pace * np.broadcast_to(velocity, (*self.cells, 3))[own]
        square = (self.cell / self.dt) ** 2
        rho[1:-1] = 3.0 * np.broadcast_to(pressure, self.cells)[own] / (self.density * square)
        self.L.u.assign(u.reshape(-1, 3))
        density = wp.array(rho.ravel(), dtype=f64, device=self.device)
        self._launch(lattice.rest, self.count, self.L, self.g, density)
        self.exchange()

    def advance(self, h: float) -> None:
        """Go on by a time [s], in whole steps."""
        steps = round(h / self.dt)
        if steps < 1 or abs(steps * self.dt - h) > 1e-9 * h:
            raise ModelError(f"Lattice: {h!r} s is no whole number of its steps of {self.dt!r} s")
        if len(self.shapes):
            self._cover()
        if self.L.push.shape[0] > 0:
            self._scale_push(1.0 / steps)
        for k in range(steps):
            if len(self.shapes):
                self._collect(k == 0 and self._entered, 1.0 / steps)
            self._launch(lattice.step_cells, (self.planes, *self.cells[1:]), self.L, self.S, self.g, self._next)
            self.g, self._next = self._next, self.g
            self.exchange()
        self._entered = bool(self.shapes)
        self.time += h
        if self.L.push.shape[0] > 0:
            self.L.push.zero_()
        self._check()

    def _scale_push(self, share: float) -> None:
        self._launch(lattice.scale, self.count, self.L, share)

    def _check(self) -> None:
        fastest = float(np.abs(self.L.u.numpy()).max())
        fastest = self.ranks.largest(fastest) if self.ranks else fastest
        if not fastest < FASTEST:
            raise StepError(
                f"Lattice: at {self.time:.6g} s the fluid moves by {fastest:.3g} cells a step, more than {FASTEST};"
                f" take a shorter dt than {self.dt:g} s, and more viscosity or finer cells if it does not stay below"
            )

    def exchange(self) -> None:
        """Copies of planes beside the own ones: those of neighbouring ranks, or the own ones at the other end."""
        around = KINDS[self.sides[0]] == PERIODIC
        if self.ranks and self.ranks.size > 1:
            self.ranks.swap_planes(self, around)
        elif around:
            for source, target in ((self.planes, 0), (1, self.planes + 1)):
                self._launch(lattice.copy_plane, self.cells[1:], self.L, self.g, source, target)

    def velocities(self) -> np.ndarray:
        """[x, y, z, 3] of the planes here [m/s]."""
        return self.L.u.numpy().reshape(self.planes + 2, *self.cells[1:], 3)[1:-1] / self.pace

    def pressures(self) -> np.ndarray:
        """[x, y, z] of the planes here, above that at the start [Pa]."""
        rho = self.g.numpy().sum(0).reshape(self.planes + 2, *self.cells[1:])[1:-1]
        return rho / 3.0 * self.density * (self.cell / self.dt) ** 2

    def momentum(self) -> np.ndarray:
        """Of the fluid [kg m/s]."""
        sums = wp.zeros(self.planes, vec3, device=self.device)
        self._launch(lattice.add_planes, self.planes, self.L, self.g, sums)
        found = sums.numpy()
        found = self.ranks.planes_of_all(found) if self.ranks else found
        return self.impulse * found.sum(0)

    # points ---------------------------------------------------------------------------------------

    def _places(self, at: np.ndarray) -> wp.array:
        """Points in cells from the corner, taken back into the box where it repeats itself."""
        p = (np.asarray(at, float).reshape(-1, 3) - self.corner) / self.cell
        for axis, side in enumerate(self.sides):
            n = self.cells[axis]
            if side == "periodic":
                p[:, axis] -= n * np.floor(p[:, axis] / n)
            elif len(p) and not (p[:, axis].min() >= 0.0 and p[:, axis].max() <= n):
                k = int(np.argmax((p[:, axis] < 0.0) | (p[:, axis] > n)))
                where = self.corner + self.cell * p[k]
                raise StepError(f"Lattice: point {k} at {where} m is outside the box in {'xyz'[axis]}")
        return wp.array(p, dtype=vec3, device=self.device)

    def velocity(self, at: np.ndarray) -> np.ndarray:
        """At points [n, 3] [m]: [n, 3] [m/s]."""
        places = self._places(at)
        u = wp.zeros(len(places), vec3, device=self.device)
        self._launch(points.sample, len(places), self.L, places, 1.0 / self.pace, u)
        return self.ranks.total(u.numpy()) if self.ranks else u.numpy()

    def own_velocity(self, at: np.ndarray, force: np.ndarray, slip: np.ndarray) -> np.ndarray:
        """What of `velocity` at points [n, 3] [m] a steady force [n, 3] [N] that each gives there makes [n, 3] [m/s],
        which goes through the fluid by `slip` [n, 3] [m/s]."""
        places = self._places(at).numpy() - 0.5
        share = places - np.floor(places)
        apart = 2.0 * share * (1.0 - share)  # how often two of a point's cells are apart along an axis
        weight = np.stack([1.0 - apart, apart], 1)  # [point, apart, axis]
        out = np.zeros((len(places), 3))
        for axis in range(3):
            along, second, third = axis, (axis + 1) % 3, (axis + 2) % 3
            for (i, j, k), value in np.ndenumerate(OWN):
                out[:, axis] += weight[:, i, along] * weight[:, j, second] * weight[:, k, third] * value
        speed = np.linalg.norm(slip, axis=1) * self.cell * self.density / self.viscosity
        return out * force * points.left_behind(speed)[:, None] / (self.viscosity * self.cell)

    def push(self, at: np.ndarray, impulses: np.ndarray) -> None:
        """Give momentum [n, 3] [kg m/s] at points [n, 3] [m] to the fluid, in the course of the next `advance`."""
        places, n, device = self._places(at), len(at), self.device
        given = wp.array(np.asarray(impulses, float).reshape(-1, 3), dtype=vec3, device=device)
        if self.L.push.shape[0] == 0:
            self.L.push = wp.zeros(self.count, vec3, device=device)
            rows = int(np.prod([one + 1 for one in self.cells]))
            self._begin, self._end = (wp.zeros(rows, wp.int32, device=device) for _ in range(2))
        cell, point = (wp.zeros(2 * n, wp.int32, device=device) for _ in range(2))
        self._launch(points.number, n, self.L, places, cell, point)
        wp.utils.radix_sort_pairs(cell, point, n)
        self._begin.zero_()
        self._end.zero_()
        self._launch(points.find_cells, n, cell, n, self._begin, self._end)
        threads = (self.planes, *self.cells[1:])
        told = (places, given, point, self._begin, self._end)
        self._launch(points.spread, threads, self.L, *told, 1.0 / self.impulse)

    # solids ---------------------------------------------------------------------------------------

    def immerse(self, shapes: Sequence[Any], body: Sequence[int]) -> None:
        """Resolve shapes (`solids.Shaped`), each of a body by its place among the world's."""
        made, n, device = self.S, len(shapes), self.device
        self.shapes = list(shapes)
        reach = max((one.reach for one in shapes), default=0.0)
        self.wide = math.ceil(2.0 * (reach / self.cell + 2.0)) + 1
        for axis, side in enumerate(self.sides):
            if n and side == "periodic" and self.wide > self.cells[axis]:
                told = f"Lattice: a body reaches {reach:g} m, too far for {self.cells[axis]} cells along {'xyz'[axis]}"
                raise ModelError(f"{told}, which repeat themselves")
        made.kind = wp.array([one.kind for one in shapes], dtype=wp.int32, device=device)
        for name, kind in (("size", vec3), ("offset", vec3), ("turn", wp.quatd), ("reach", f64)):
            values = np.array([getattr(one, name) for one in shapes], float)
            setattr(made, name, wp.array(values, dtype=kind, device=device))
        made.body = wp.array(np.asarray(body, np.int32), dtype=wp.int32, device=device)
        made.p_WB, made.twist = wp.zeros(n, vec3, device=device), wp.zeros(n, vec6, device=device)
        made.q_WB = wp.zeros(n, wp.quatd, device=device)
        made.corner, made.cell, made.pace = wp.vec3d(*self.corner), self.cell, self.pace
        self.L.solid, self._old = (wp.full(self.count, FLUID, wp.int32, device=device) for _ in range(2))
        self._entered = False
        self._parts = wp.zeros((n, self.wide), vec6, device=device)
        self._wrench = wp.zeros(n, vec6, device=device)

    def place(self, p: wp.array, q: wp.array, V: wp.array) -> None:
        """Poses and twists of all bodies [body, 1] [m, rad/s, m/s]."""
        self._launch(solids.take_poses, len(self.shapes), self.S, p, q, V)
        self._wrench.zero_()

    def _cover(self) -> None:
        wp.copy(self._old, self.L.solid)
        self.L.solid.fill_(FLUID)
        self._launch(solids.cover, (len(self.shapes), self.wide), self.L, self.S, self.wide)

    def _collect(self, moved: bool, share: float) -> None:
        told = (self.L, self.S, self.g, self._old, int(moved), self.wide, self._parts)
        self._launch(solids.collect, (len(self.shapes), self.wide), *told)
        if self.ranks:
            self._parts.assign(self.ranks.total(self._parts.numpy()))
        force = self.density * self.cell**4 / self.dt**2
        self._launch(solids.add_collected, len(self.shapes), self._parts, force * share, self._wrench)

    def wrenches(self) -> np.ndarray:
        """Mean over the last `advance` of what the fluid did to each shape [n, 6], about the centre of mass of its
        body, world axes [N m, N]."""
        out = self._wrench.numpy().copy()
        for k, one in enumerate(self.shapes if self.force.any() else ()):
            arm = np.asarray(wp.quat_rotate(wp.quatd(*self.S.q_WB.numpy()[k]), wp.vec3d(*one.offset)))
            out[k] += np.concatenate([np.cross(arm, one.volume * self.force), one.volume * self.force])
        return out
