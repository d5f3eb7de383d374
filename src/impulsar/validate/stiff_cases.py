"""Stiff springs under `direct`: the linearly implicit pair keeps its order, its accuracy and little work."""

import math

import numpy as np

from ..author.model import Model
from ..engine.methods import Direct
from ..world.world import World
from .case import Case

SPRINGS = ((1e6, 1e3), (1e8, 1e5), (1e10, 1e6), (1e12, 0.0))  # stiffness [N/m], damping [N s/m]
_notes: list[str] = []


def show() -> None:
    """Print what the last run measured beside its figure."""
    for note in _notes:
        print(f"    {note}")


def sprung_pendulum(stiffness: float, damping: float, loop: bool = False) -> Model:
    """A mass of 1 kg on a vertical rail and spring, with a pendulum released horizontal on it.

    loop: two parallel rods carry a bar instead of the pendulum, so that the spring works beside a closed loop.
    """
    model = Model("sprung pendulum")
    mass = model.body("mass", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1.0))
    model.joint("rail", "prismatic", model.ground, mass, at=(0, 0, 1), axis=(0, 0, 1))
    model.spring("strut", model.ground, mass, (0, 0, 0), (0, 0, 1.0), stiffness, damping, free_length=1.0)
    arm = model.body("arm", mass=0.1, inertia=(1e-3, 1e-3, 1e-4), position=(0.25, 0, 1.0))
    model.joint("hinge", "revolute", mass, arm, at=(0, 0, 1.0), axis=(0, 1, 0))
    if loop:
        other = model.body("other", mass=0.1, inertia=(1e-3, 1e-3, 1e-4), position=(0.25, 0, 1.2))
        bar = model.body("bar", mass=0.1, inertia=(1e-3, 1e-3, 1e-4), position=(0.5, 0, 1.1))
        model.joint("hinge 2", "revolute", mass, other, at=(0, 0, 1.2), axis=(0, 1, 0))
        model.joint("hinge 3", "revolute", arm, bar, at=(0.5, 0, 1.0), axis=(0, 1, 0))
        model.joint("hinge 4", "revolute", other, bar, at=(0.5, 0, 1.2), axis=(0, 1, 0))
    return model


def implicit_order(device: str) -> float:
    """How much the order of the implicit pair misses 3, without and with a loop, in both coordinates."""
    _notes.clear()
    worst = 0.0
    for loop, coordinates in ((False, "generalized"), (True, "generalized"), (True, "maximal")):
        model = sprung_pendulum(2e3, 20.0, loop)
        exact = World(model, Direct(rtol=1e-12, atol=1e-12, pair="explicit"), coordinates, dt=0.02, device=device)
        exact.step(20)
        errors = []
        for dt in (0.002, 0.001):
            loose = Direct(rtol=1e9, atol=1e9, pair="implicit")  # no error control: the step is dt
            world = World(model, loose, coordinates, dt=dt, device=device)
            world.step(round(0.4 / dt))
            errors.append(np.linalg.norm(world.body("arm").position - exact.body("arm").position))
        order = math.log2(errors[0] / errors[1])
        worst = max(worst, 3.0 - order)
        _notes.append(f"loop {loop}, {coordinates}: error {errors[1]:.1e} m at 1 ms, order {order:.3f}")
    return worst


def stiff_work(device: str) -> float:
    """Most evaluations per nominal step of 10 ms over springs from 1e6 to 1e12 N/m, after the first step."""
    _notes.clear()
    worst = 0.0
    for stiffness, damping in SPRINGS:
        world = World(sprung_pendulum(stiffness, damping), dt=0.01, device=device)
        world.step()
        report = world.step(200)
        evaluations = report.iterations / 200
        worst = max(worst, evaluations if report.ended_by == "tolerance" else math.inf)
        _notes.append(f"{stiffness:g} N/m, {damping:g} N s/m: {evaluations:.1f} evaluations a step")
    return worst


def stiff_limit(device: str) -> float:
    """How far the pendulum on the stiffest springs is from one on a rail that is held fast, after 1 s [rad]."""
    model = sprung_pendulum(0.0, 1.0)
    model.joints["rail"].features["slide"].limits = None
    model.joint("hold", "fixed", model.ground, "mass", at=(0, 0, 1.0))
    held = World(model, Direct(rtol=1e-12, atol=1e-12), dt=0.01, device=device)
    held.step(100)
    worst = 0.0
    for stiffness, damping in SPRINGS[2:]:
        world = World(sprung_pendulum(stiffness, damping), dt=0.01, device=device)
        world.step(100)
        worst = max(worst, abs(float(world.joint("hinge").position) - float(held.joint("hinge").position)))
    return worst


CASES = (
    Case("stiff-order", "the implicit pair has order 3 with and without loops", 0.1, "1", implicit_order, show=show),
    Case("stiff-work", "a spring of any stiffness costs a few evaluations a step", 20.0, "1", stiff_work, show=show),
    # the local error of 1e-7 of some 300 sub-steps adds up to 3e-5
    Case("stiff-limit", "a spring of 1e10 N/m and more acts as a rigid joint", 3e-5, "rad", stiff_limit),
)
