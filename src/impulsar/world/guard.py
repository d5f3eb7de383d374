"""The guard of a running world: when its state stops being finite, it goes back to the last good step.

The state is kept every KEEP steps and before the first step after an edit. Nothing is lost: from there the
world is stepped again, one step at a time, up to the one that breaks, because the same steps give the same
bits. Then it is paused. A motion on its way to infinity has broken as soon as its energy is beyond all that
there was.
"""

from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..engine.system import measured as measure

if TYPE_CHECKING:
    from .world import World

KEEP = 256  # steps between copies of the state
BEYOND = 100.0  # times all energy at the moment kept: no motion comes there by itself within KEEP steps


class Guard:
    """Keeps the state of a world from time to time."""

    def __init__(self, world: "World"):
        self._world = world
        self.at = 0  # step from which the state is to be kept again
        self._state: wp.array | None = None
        self._clock, self._count = 0.0, 0

    def keep(self) -> None:
        """Keep the state of this moment, unless it is broken already."""
        world = self._world
        if world.device != "cpu" and world._work.report.numpy()[measure.BROKEN].any():
            return  # there a step does not wait to know
        if self._state is None:
            self._state = wp.zeros_like(world.state.array)
        wp.copy(self._state, world.state.array)
        self._clock, self._count = world._clock, world._count
        self.at = world._count + KEEP

    def go_back(self) -> str | None:
        """Bring the world to its last good step and pause it; returns the body that broke."""
        world = self._world
        if self._state is None:
            return None
        suspects = self._broken_bodies()
        last = world._count
        self.put(self._state)
        world._clock, world._count = self._clock, self._count
        world._set_steps(world._substeps)
        most = BEYOND * self._energy_scale() or np.inf
        good = self._state
        while world._count < last:
            good = wp.clone(world.state.array)
            world.clamps.before(world)
            if world.system.channels.callables:
                channels = world.system.channels
                channels.sample_callables(world.system.arrays, world.time, world._h, world._substeps)
            world._launch()
            kinetic = world._work.energy.numpy()[measure.KINETIC]
            if world._work.report.numpy()[measure.BROKEN].any() or not (kinetic <= most).all():
                break
            world._clock += world.dt
            world._count += 1
            world.clamps.after(world)
        self.put(good)
        world.paused = True
        self.at = 0
        return self._suspect(suspects)

    def _energy_scale(self) -> float:
        """All energy that there is, and that of a fall by the mechanism's extent [J]."""
        world = self._world
        p, system = world._work.p_WB.numpy(), world.system
        extent = float(np.ptp(np.concatenate([p, np.zeros((1, *p.shape[1:]))]), axis=0).max())
        weight = system.parameter("mass").sum(axis=0).max() * np.abs(system.parameter("gravity")).max()
        return float(np.abs(world._work.energy.numpy()).sum() + weight * extent)

    def put(self, state: wp.array) -> None:
        """Bring the world to a state; nothing that broke stays in what steps hand to each other."""
        world = self._world
        wp.copy(world.state.array, state)
        world._work.v_pseudo.zero_()
        world._work.a_WB.zero_()
        world._work.report.zero_()
        world._refresh()

    def _broken_bodies(self) -> list[str]:
        work = self._world._work
        finite = np.isfinite(work.twist.numpy()).all(axis=(1, 2)) & np.isfinite(work.p_WB.numpy()).all(axis=(1, 2))
        return [name for name, good in zip(self._world.system.tree.bodies, finite, strict=True) if not good]

    def _suspect(self, broken: list[str]) -> str:
        """Of the bodies that broke the one that was fastest at the last good step."""
        world = self._world
        bodies = world.system.tree.bodies
        V = world._work.twist.numpy()
        inertia, mass = world._work.I_W.numpy(), world.system.parameter("mass")
        spin = np.einsum("bwi,bwij,bwj->bw", V[..., :3], inertia, V[..., :3])
        energy = (mass * (V[..., 3:] ** 2).sum(axis=-1) + spin).max(axis=1)
        among = [i for i, name in enumerate(bodies) if name in broken] or list(range(len(bodies)))
        return bodies[max(among, key=lambda i: energy[i])]
