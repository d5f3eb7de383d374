"""The guard of a running world: when its state is not finite or makes no sense, it goes back to the last good step.

The state is kept every KEEP steps and before the first step after an edit. Nothing is lost: from there the
world is stepped again, one step at a time, up to the one that breaks, because the same steps give the same
bits. Then it is paused. A motion on its way to infinity has broken as soon as its energy is beyond all that
there was.

A finite state makes no sense where a joint is open by many times the mechanism's size (engine/report.py), or
where the energy of motion is a million times all that the books account for. A correction of large errors may
be there for some steps, as where a very short one turns them into speeds; a motion that is still there after
KEEP steps more will not come back.
"""

from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..engine.coordinates.inertia import momenta
from ..engine.system import measured
from .reports import broken

if TYPE_CHECKING:
    from .runner import Runner

KEEP = 256  # steps between copies of the state
SENSELESS = 1e6  # times all energy that the books account for: more of it from nowhere makes no sense
BEYOND = 100.0  # times all energy at the moment kept: no motion comes there by itself within KEEP steps


class Guard:
    """Keeps the state of a world from time to time."""

    def __init__(self, runner: "Runner"):
        self._runner = runner
        self.at = 0  # step from which the state is to be kept again
        self._state: wp.array | None = None
        self._view: np.ndarray | None = None  # of it, on the CPU
        self._clock, self._count = 0.0, 0
        self._edition = -1  # of the parameters that the kept state is of
        self._astray: int | None = None  # step since which the books make no sense

    def keep(self) -> None:
        """Keep the state of this moment, unless it is broken already; raises if it has been senseless for long."""
        runner = self._runner
        report = runner.report
        if report[measured.BROKEN].any():
            if runner.device == "cpu" and runner.recipe is not None:  # what was compiled did not wait to know
                raw, body = report.copy(), self.go_back()
                world = int(np.argmax(raw[measured.BROKEN]))
                raise broken(runner.system, raw, world, runner.worlds, body, runner.time, runner.dt)
            return  # there a step does not wait to know
        self.at = runner.count + KEEP
        if report[measured.UNBOOKED].max() <= SENSELESS:
            self._astray = None
        elif self._astray is None or runner.count < self._astray:
            self._astray = runner.count
        elif runner.count >= self._astray + KEEP:
            self._stop(report.copy())
        if self._astray is not None and self._edition == runner.edition:
            return  # what was kept is better
        if self._state is None:
            self._state = wp.zeros_like(runner.state.array)
            self._view = self._state.numpy() if runner.device == "cpu" else None
        if self._view is not None:
            np.copyto(self._view, runner.state.numpy())  # Warp's own takes ten times as long
        else:
            wp.copy(self._state, runner.state.array)
        self._clock, self._count, self._edition = runner.clock, runner.count, runner.edition

    def _stop(self, raw: np.ndarray) -> None:
        """Go back and say by how much the books were out."""
        runner, world = self._runner, int(np.argmax(raw[measured.UNBOOKED]))
        raw[measured.BROKEN, world] = measured.RUNAWAY
        body = self.go_back(SENSELESS)
        raise broken(runner.system, raw, world, runner.worlds, body, runner.time, runner.dt)

    def go_back(self, most_unbooked: float = np.inf) -> str | None:
        """Bring the world to its last good step and pause it; returns the body that broke."""
        runner = self._runner
        if self._state is None:
            return None
        suspects = self._broken_bodies()
        last = runner.count
        self.put(self._state)
        runner.clock, runner.count = self._clock, self._count
        runner.set_steps(runner.substeps)
        most = BEYOND * self._energy_scale() or np.inf
        good = self._state
        while runner.count < last and not runner.beats:  # it was kept before the launch that broke
            good = wp.clone(runner.state.array)
            runner.clamps.before(runner)
            if runner.system.channels.callables:
                channels = runner.system.channels
                channels.sample_callables(runner.system.arrays, runner.time, runner.h, runner.substeps)
            runner.launch()
            kinetic, report = runner.work.energy.numpy()[measured.KINETIC], runner.work.report.numpy()
            if report[measured.BROKEN].any() or not (kinetic <= most).all():
                break
            if report[measured.UNBOOKED].max() > most_unbooked:
                break
            runner.clock += runner.dt
            runner.count += 1
            runner.clamps.after(runner)
        self.put(good)
        runner.paused = True
        self.at, self._astray = 0, None
        return self._suspect(suspects)

    def _energy_scale(self) -> float:
        """All energy that there is, and that of a fall by the mechanism's extent [J]."""
        runner = self._runner
        p, system = runner.work.p_WB.numpy(), runner.system
        extent = float(np.ptp(np.concatenate([p, np.zeros((1, *p.shape[1:]))]), axis=0).max())
        weight = system.parameter("mass").sum(axis=0).max() * np.abs(system.parameter("gravity")).max()
        return float(np.abs(runner.work.energy.numpy()).sum() + weight * extent)

    def put(self, state: wp.array) -> None:
        """Bring the world to a state; nothing that broke stays in what steps hand to each other."""
        runner = self._runner
        wp.copy(runner.state.array, state)
        runner.work.a_WB.zero_()
        runner.work.report.zero_()
        runner.refresh()

    def _broken_bodies(self) -> list[str]:
        work = self._runner.work
        finite = np.isfinite(work.twist.numpy()).all(axis=(1, 2)) & np.isfinite(work.p_WB.numpy()).all(axis=(1, 2))
        return [name for name, good in zip(self._runner.system.tree.bodies, finite, strict=True) if not good]

    def _suspect(self, broken: list[str]) -> str:
        """Of the bodies that broke the one that was fastest at the last good step."""
        runner = self._runner
        bodies = runner.system.tree.bodies
        twist, mass = runner.bench.read("twist"), runner.system.parameter("mass")
        energy = (momenta(mass, runner.bench.read("I_W"), twist) * twist).sum(axis=-1).max(axis=1)
        among = [i for i, name in enumerate(bodies) if name in broken] or list(range(len(bodies)))
        return bodies[max(among, key=lambda i: energy[i])]
