"""`Coupled`: a world whose bodies move in a field, and push it.

A nominal step h of the world, velocities V and poses of its start:

    points     u at the bodies from the field; drag by the law of their shapes against u; -h times it goes to the field
    resolved   the field goes on by h, bodies in it; what it does to them, as a mean
    bodies     the world takes its step with these forces, which are the same all through it

Resolved bodies get what the field does to them an eighth in a step: at once, sound between a body and the fluid about
it would grow, as the body moves only after the fluid has felt it. A body follows in 8 steps, and what is under way is
in `pending`.

So what bodies get the field loses, to rounding: Σ (M + I_a) V and the field's momentum change together by weight,
buoyancy, contacts with what is fixed, and what sides of the field take. Buoyancy, and of points the added mass, are
the fluid's of the model (docs/fluid.md).

At a point the field has the velocity that the body's own force makes there, which the drag law does not mean: it is
taken off where the field can tell it, `own_velocity(at, force, slip)`.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import warp as wp

from ...author.errors import ModelError, StepError
from ...author.fluids import Fluid, has_volume
from ...author.model import Model
from ...author.names import check_name
from ...engine.coordinates.added_mass import immerse, piece_axes
from ...engine.flow.solids import Shaped, shaped
from ...engine.flow.solver import Lattice
from ...engine.forces.fluid import drag_on
from ...engine.large.wet import fill_fluids, spread
from ...engine.spatial import ZERO, angular, f64, linear, mat33, quat, rotation_matrix, spatial, vec3, vec6
from ...engine.state import WorkArrays
from ...engine.system import SystemArrays
from ...engine.system.fluids import Wet, pieces_of
from ...world import World
from ..large import LargeWorld

HANDED = 0.125  # of what resolved bodies are to get, in a step


@runtime_checkable
class Field(Protocol):
    """A fluid that moves by itself. Arrays are of the host, float64, SI units."""

    density: float  # [kg/m³]
    viscosity: float  # [Pa s]

    def velocity(self, at: np.ndarray) -> np.ndarray:
        """At points [n, 3] [m]: [n, 3] [m/s]."""
        ...

    def push(self, at: np.ndarray, impulses: np.ndarray) -> None:
        """Momentum [n, 3] [kg m/s] given at points [n, 3] [m], in the course of the next `advance`."""
        ...

    def advance(self, h: float) -> None:
        """Go on by a time [s]."""
        ...


@wp.kernel(enable_backward=False)
def drag_bodies(m: SystemArrays, x: WorkArrays, u: wp.array(dtype=vec3), out: wp.array(dtype=vec6)):
    """Drag on each body in a fluid that moves by u about it: torque about its centre of mass, force."""
    body = wp.tid()
    R_WB = rotation_matrix(x.q_WB[body, 0])
    immerse(m, x, body, R_WB, 0)
    V = x.twist[body, 0]
    total = vec6()
    for piece in range(m.wet_start[body], m.wet_start[body + 1]):
        volume = x.wet_volume[piece, 0]
        if volume > ZERO:
            c = x.wet_moment[piece, 0] / volume
            v = linear(V) + wp.cross(angular(V), c) - u[body]
            R = piece_axes(m, piece, R_WB)
            drag = (volume / m.wet[piece, Wet.volume]) * drag_on(m, piece, R, v, angular(V), 0)
            total += spatial(angular(drag) + wp.cross(c, linear(drag)), linear(drag))
    out[body] = total


class Coupled:
    """A World or LargeWorld in a field that takes the place of one of its model's fluids.

    fluid: its name in the model, with drag=False, since the field has it; resolved: all bodies in it, none (points, by
    their drag law), or the names of those; of what a lattice resolves the fluid has added_mass=False.
    """

    def __init__(self, world: World | LargeWorld, fluid: str, field: Field, resolved: bool | Sequence[str] = False):
        self.world, self.field, self.h = world, field, world.dt
        large = isinstance(world, LargeWorld)
        if not large and world.worlds > 1:  # type: ignore[union-attr]
            raise ModelError("Coupled: a batch has no field; take a World of one world, or a LargeWorld")
        found = world.bench.bulk.immersed if isinstance(world, LargeWorld) else world.model
        if found is None or fluid not in found.fluids:
            raise ModelError(f"Coupled: the world has no fluid {fluid!r}; add it by model.fluid or bulk.fluid")
        self.model: Model = found
        self.fluid = _checked(self.model.fluids[fluid], field)
        self.kind = world.bench.bulk.kind if isinstance(world, LargeWorld) else np.arange(len(self.model.bodies))
        names = [name for name, body in self.model.bodies.items() if self.fluid.holds(body)]
        chosen = names if resolved is True else [] if resolved is False else list(resolved)
        for name in chosen:
            if name not in names:
                raise ModelError(f"Coupled: body {name!r} is to be resolved, but fluid '{fluid}' does not hold it")
        self._start()
        self._make_points([name for name in names if name not in chosen])
        self._make_solids(chosen)
        self._prepare(names)

    # arrays ---------------------------------------------------------------------------------------

    def _start(self) -> None:
        n, world = len(self.kind), self.world
        self.device = world.device
        if isinstance(world, LargeWorld):
            self.poses = world.bench.x.p_WB, world.bench.x.q_WB, world.bench.x.twist
        else:
            self.poses = tuple(wp.zeros((n, 1), kind, device=self.device) for kind in (vec3, quat, vec6))
        self.force = np.zeros((n, 6))  # on each body in the last step [N m, N]
        self.pending = np.zeros((n, 6))  # what resolved bodies are still to get [N m s, N s]

    def _read(self) -> None:
        """The poses of a small world."""
        if isinstance(self.world, LargeWorld):
            return
        views = [self.world.body(name) for name in self.model.bodies]
        values = (
            [view.position for view in views],
            [view.orientation for view in views],
            [[*view.angular_velocity, *view.velocity] for view in views],
        )
        for array, rows in zip(self.poses, values, strict=True):
            array.assign(np.asarray(rows, float)[:, None])

    def _make_points(self, names: list[str]) -> None:
        """What drag of points is read from: a system of this fluid alone, with the field's numbers."""
        alone = self.model.copy()
        own = Fluid(
            **{
                **vars(self.fluid),
                "density": self.field.density,
                "viscosity": self.field.viscosity,
                "drag": None,
                "added_mass": False,
                "bodies": tuple(names),
                "without": (),
            }
        )
        alone.fluids = {self.fluid.name: own}
        pieces = pieces_of(alone, list(alone.bodies))
        start, ints, numbers = spread(pieces, self.kind)
        m, x, device, n = SystemArrays(), WorkArrays(), self.device, len(self.kind)
        fill_fluids(alone, m, device)
        m.gravity = wp.array(np.array(self.model.gravity, float)[None, None], dtype=vec3, device=device)
        m.wet_start = wp.array(start.astype(np.int32), dtype=wp.int32, device=device)
        m.wet_int = wp.array(ints.reshape(-1, 5), dtype=wp.int32, device=device)
        m.wet = wp.array(numbers, dtype=f64, device=device)
        m.wet_corner = wp.array(pieces.corners, dtype=vec3, device=device)
        for name, kind in (("wet_volume", f64), ("wet_moment", vec3), ("wet_slope", vec6)):
            setattr(x, name, wp.zeros((len(ints), 1), kind, device=device))
        for name in ("A_ww", "A_wv", "A_vv"):
            setattr(x, name, wp.zeros((n, 1), mat33, device=device))
        x.p_WB, x.q_WB, x.twist = self.poses
        self.m, self.x = m, x
        self.points = np.flatnonzero(np.diff(start) > 0)
        self._u, self._drag = wp.zeros(n, vec3, device=device), wp.zeros(n, vec6, device=device)

    def _make_solids(self, names: list[str]) -> None:
        self.solids: list[Shaped] = []
        if not names:
            return
        if not isinstance(self.field, Lattice):
            raise ModelError(f"Coupled: a {type(self.field).__name__} resolves no bodies; a Lattice does")
        if self.fluid.added_mass:
            raise ModelError(f"fluid '{self.fluid.name}': resolved bodies have the lattice's added mass; give False")
        if np.isfinite(self.fluid.surface):
            raise ModelError(f"fluid '{self.fluid.name}': a lattice has no free surface; give surface=None")
        place = {name: k for k, name in enumerate(self.model.bodies)}
        own = {
            place[name]: [shaped(f"body '{name}'", one) for one in self.model.bodies[name].shapes if has_volume(one)]
            for name in names
        }
        body = [i for i, k in enumerate(self.kind) for _ in own.get(int(k), ())]
        self.solids = [one for k in self.kind for one in own.get(int(k), ())]
        self._owner = np.array(body)
        self.field.immerse(self.solids, body)

    def _prepare(self, names: list[str]) -> None:
        """Loads of a small world, by which the field's forces come in."""
        self._loads: dict[str, int] = {}
        if isinstance(self.world, LargeWorld):
            return
        for k, name in enumerate(self.model.bodies):
            if name in names:
                load = check_name("load", f"{self.fluid.name}_on_{name}")
                self.world.add("load", load, body=name)
                self._loads[load] = k

    # steps ----------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Any:
        """Take n nominal steps of the world; the report of the last."""
        report: Any = None
        for _ in range(n):
            self._read()
            self.force = self._push_points() + self._go_on()
            self._apply()
            report = self.world.step()
        return report

    def _push_points(self) -> np.ndarray:
        """Drag on points, and what the field gets of it."""
        out = np.zeros((len(self.kind), 6))
        if not len(self.points):
            return out
        at = self.poses[0].numpy()[self.points, 0]
        u = np.zeros((len(self.kind), 3))
        u[self.points] = self.field.velocity(at)
        if hasattr(self.field, "own_velocity"):
            slip = self.poses[2].numpy()[self.points, 0, 3:] - u[self.points]
            u[self.points] -= self.field.own_velocity(at, -self.force[self.points, 3:], slip)
        self._u.assign(u)
        wp.launch(drag_bodies, len(u), inputs=[self.m, self.x, self._u, self._drag], device=self.device)
        out[self.points] = self._drag.numpy()[self.points]
        self._check_step(out, u)
        self.field.push(at, -self.h * out[self.points, 3:])
        return out

    def _check_step(self, wrench: np.ndarray, u: np.ndarray) -> None:
        """Drag is explicit: it must not take more than the velocity that it acts against."""
        slip = np.linalg.norm(self.poses[2].numpy()[:, 0, 3:] - u, axis=1)
        mass = np.array([body.mass for body in self.model.bodies.values()])[self.kind]
        taken = self.h * np.linalg.norm(wrench[:, 3:], axis=1)
        if (taken > mass * slip).any():
            k = int(np.argmax(taken / np.maximum(mass * slip, 1e-300)))
            told = f"Coupled: drag would turn the slip of body {k} round in a step of {self.h:g} s"
            raise StepError(f"{told}; take dt below {self.h * mass[k] * slip[k] / taken[k]:.3g} s")

    def _go_on(self) -> np.ndarray:
        """The field goes on; what it does to resolved bodies."""
        out = np.zeros((len(self.kind), 6))
        if self.solids:
            self.field.place(*self.poses)  # type: ignore[attr-defined]
        self.field.advance(self.h)
        if self.solids:
            np.add.at(self.pending, self._owner, self.h * self.field.wrenches())  # type: ignore[attr-defined]
            out = HANDED * self.pending / self.h
            self.pending = self.pending - self.h * out
        return out

    def _apply(self) -> None:
        if isinstance(self.world, LargeWorld):
            self.world.bench.a.wrench.assign(self.force)
            return
        for load, k in self._loads.items():
            self.world.set(f"{load}.force", tuple(self.force[k, 3:]))
            self.world.set(f"{load}.torque", tuple(self.force[k, :3]))


def _checked(fluid: Fluid, field: Field) -> Fluid:
    """A fluid of a model that a field takes the place of."""
    if not isinstance(field, Field):
        raise ModelError(
            f"Coupled: a {type(field).__name__} is no field: it has no density, viscosity, velocity(at),"
            " push(at, impulses) and advance(h)"
        )
    owner = f"fluid '{fluid.name}'"
    if fluid.drag != 0.0 or fluid.viscosity != 0.0:
        raise ModelError(f"{owner}: has drag, which the field has too; give drag=False")
    if abs(fluid.density - field.density) > 1e-9 * field.density:
        raise ModelError(f"{owner}: density is {fluid.density:g} kg/m³, that of the field {field.density:g}")
    return fluid
