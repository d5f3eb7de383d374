"""Derivatives as a GPU takes them, on the CPU: the same kernels, one thread after the other, beside `linear`."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import StepError
from impulsar.engine.compile import round_trip
from impulsar.world import rollout as rollouts
from impulsar.world.linear import Linear
from impulsar.world.linear_device import DeviceLinear
from impulsar.world.rollout import Rollout

FIXED = im.Direct(substeps=1)


def along(kind, monkeypatch: pytest.MonkeyPatch, make, of, to, duration: float, every: float | None = None) -> dict:
    """Outcomes, a pull, another pull elsewhere, and Jacobians, of the same numbers each time."""
    monkeypatch.setattr(rollouts, "linear_of", kind)
    rollout, rng = Rollout(make(), of, to, duration, every), np.random.default_rng(4)
    values = rollout.values()
    values = values + 0.03 * rng.normal(size=values.shape) * np.where(values == 0.0, 1.0, values)
    y = rollout(values)
    given = rng.normal(size=y.shape)
    found = {"y": y, "pull": rollout.pull(values, given), "again": rollout.pull(1.01 * values, given)}
    return {**found, "slopes": rollout.jacobian(values)[1], "ways": len(rollout._linear.ways)}


def compare(monkeypatch: pytest.MonkeyPatch, *given) -> int:
    """Both ways; how many ways steps went on the device."""
    cpu, gpu = (along(kind, monkeypatch, *given) for kind in (Linear, DeviceLinear))
    for name in ("y", "pull", "again", "slopes"):
        scale = np.abs(cpu[name]).max()
        assert scale > 0 and np.abs(cpu[name] - gpu[name]).max() <= 1e-12 * scale, name
    return gpu["ways"]


def chain() -> im.World:
    world = im.World(im.scene("chain", n=3), method="simgc", dt=1e-3, worlds=3)
    world.set("link3.mass", np.array([0.1, 0.2, 0.3]))
    return world


@pytest.mark.parametrize("legs", [False, True])
def test_there_and_back(legs: bool, monkeypatch) -> None:
    """Samples, the start, elements, a probe, parameters of worlds; in one go, or in legs of a few steps."""
    if legs:
        monkeypatch.setattr(round_trip, "MOST_TAPE", 8 * 10 * 3 * 4)
    of, to = ("hinge1.position", "link3.velocity", "tip.position.z"), ("link1.mass", "link2.inertia.xx")
    compare(monkeypatch, chain, of, (*to, "hinge1.velocity"), 0.03, 0.01)


def test_ways_are_found_on_the_way(monkeypatch) -> None:
    """A loop whose projection takes other rounds from other states; a limit that some of the worlds meet."""
    make = lambda: im.World(im.scene("four-bar"), method=FIXED, dt=1e-3, worlds=3)  # noqa: E731
    assert compare(monkeypatch, make, "O.position", "coupler.mass", 0.03) > 1
    model = im.Model("arm")
    arm = model.body("arm", mass=0.1, inertia=(2e-5, 2e-5, 1e-6), position=(0, 0, -0.1))
    model.joint("pivot", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), limits=(-0.3, 0.3))

    def swinging() -> im.World:
        world = im.World(model, method=FIXED, dt=1e-3, worlds=3)
        world.state.write("v", np.array([[0.5, 9.0, -12.0]]))
        world.runner.refresh()
        return world

    assert compare(monkeypatch, swinging, ("pivot.position", "pivot.velocity"), "arm.mass", 0.05) > 2


def test_what_is_not_followed_is_refused(monkeypatch) -> None:
    model = im.Model("arm")
    start = {"position": (0, 0, -0.1), "velocity": (-0.9, 0, 0), "angular_velocity": (0, 9, 0)}
    arm = model.body("arm", mass=0.1, inertia=(2e-5, 2e-5, 1e-6), **start)
    model.joint("pivot", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), limits=(-0.3, 0.3))
    monkeypatch.setattr(rollouts, "linear_of", DeviceLinear)
    with pytest.raises(StepError, match="a friction or limit changes its mode, which is followed on the CPU only"):
        Rollout(im.World(model, dt=1e-3), "pivot.position", "arm.mass", 0.1).values()
