"""Launches as a GPU has them, on the CPU: the kernel's text one thread after the other, all else as it is there."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.compile import launch_cuda
from impulsar.engine.compile.recipe import Recipe
from impulsar.engine.system.measured import (
    ENDED_BY_LIMIT,
    MODE_CHANGES,
    MOST_ITERATIONS,
    SUB_STEPS,
    TOTAL_ITERATIONS,
    together,
)

from .stepping import FIXED

COUNTS = [TOTAL_ITERATIONS, MOST_ITERATIONS, SUB_STEPS, ENDED_BY_LIMIT, MODE_CHANGES]


def as_on_a_gpu(*given, **options) -> im.World:
    """A world whose launches are those of a GPU."""
    world = im.World(*given, **options)
    runner = world.runner
    runner._compiled = runner._compiled_for_device
    runner.compile_by(Recipe(learns=True))
    assert isinstance(runner.launch, launch_cuda.DeviceLaunch)
    return world


def both(name: str, method, dt: float, worlds: int, seed: int = 2, spread: float = 0.3, **parameters):
    """A world by the CPU's launches and one by those of a GPU, with speeds of their own."""
    made = [
        make(im.scene(name, **parameters), method=method, dt=dt, worlds=worlds)
        for make in (lambda *a, **k: im.World(*a, compile="now", **k), as_on_a_gpu)
    ]
    for world in made:
        v = world.runner.state.read("v")
        push = np.random.default_rng(seed).normal(size=v.shape) * spread
        world.runner.state.write("v", v + push)
        world.runner.refresh()
    return made


@pytest.mark.parametrize(
    "name, method, dt, worlds, parameters",
    [
        ("chain", "simgc", 1e-4, 7, {"n": 5}),
        ("four-bar", FIXED, 1e-3, 5, {}),
        ("peaucellier", FIXED, 1e-3, 3, {"motor": False}),
        ("chain", "direct", 1e-3, 3, {"n": 3}),
    ],
)
def test_launches_are_those_of_the_cpu(name, method, dt, worlds, parameters) -> None:
    """To the bit: states, variants, steps that fell back, reports and readings, over launches of several lengths."""
    cpu, gpu = both(name, method, dt, worlds, spread=0.0 if name != "chain" else 0.3, **parameters)
    for steps in (1, 5, 30, 1, 40):
        reports = [world.step(steps) for world in (cpu, gpu)]
        assert (cpu.runner.state.numpy() == gpu.runner.state.numpy()).all()
        assert (reports[0].raw == reports[1].raw).all()
    assert cpu.compilation == gpu.compilation and gpu.compilation.variants and not gpu.compilation.refused
    assert (gpu.compilation.fallbacks > 0) == (name != "chain" or method == "direct")
    for joint in cpu.model.joints:
        forces = [world.joint(joint).reaction.force for world in (cpu, gpu)]
        assert np.array_equal(*forces)
    assert (cpu.runner.state.numpy() == gpu.runner.state.numpy()).all()  # reading changes nothing
    assert np.array_equal(cpu.step(3).raw, gpu.step(3).raw)


@pytest.mark.parametrize("longer", [1, launch_cuda.MOST_AGAIN])
def test_plain_steps_are_taken_again_for_a_reading(longer: int, monkeypatch) -> None:
    """One launch a step keeps few states, and readings are those of the last step; whoever writes to the state, or has
    read from it, is heeded."""
    cpu, gpu = both("chain", "simgc", 1e-4, 3, n=4)
    kept, keeps = [], gpu.runner.launch._keeps
    monkeypatch.setattr(gpu.runner.launch, "_keeps", lambda steps: kept.append(keeps(steps)) or kept[-1])
    reaction = lambda world: world.joint("hinge1").reaction.force  # noqa: E731
    for world in (cpu, gpu):
        world.runner.launch()  # the start's reading is owed no more
    for rounds in (10, 75):
        for world in (cpu, gpu):
            world.runner.set_steps(1)
            for k in range(rounds):
                world.runner.launch()
                if k == 4:
                    world.runner.state.write("v", 1.5 * world.runner.state.read("v"))
            world.runner.set_steps(longer)
            world.runner.launch()
        assert (cpu.runner.state.numpy() == gpu.runner.state.numpy()).all()
        assert np.array_equal(reaction(cpu), reaction(gpu))
        assert np.array_equal(cpu.energy().kinetic, gpu.energy().kinetic)
        assert np.array_equal(cpu.runner.report, gpu.runner.report)
        assert (cpu.runner.state.numpy() == gpu.runner.state.numpy()).all()
    assert 4 <= sum(kept) <= 9 and len(kept) == 88


def test_worlds_that_fall_back_do_so_by_themselves() -> None:
    """Two of five hinges are driven into their limits: only these take generic steps, with masses of their own."""
    model = im.Model("pendulum")
    arm = model.body("arm", mass=0.1, inertia=(2e-5, 2e-5, 1e-6), position=(0, 0, -0.1))
    model.joint("pivot", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), limits=(-0.3, 0.3))
    speeds, masses = np.array([[0.1, 9.0, -0.2, -9.0, 0.0]]), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    made = [im.World(model, method=FIXED, dt=1e-3, worlds=5), as_on_a_gpu(model, method=FIXED, dt=1e-3, worlds=5)]
    for world in made:
        world.set("arm.mass", masses)
        world.runner.state.write("v", speeds)
        world.runner.refresh()
    for steps in (20, 1, 60):
        reports = [world.step(steps) for world in made]
    generic, gpu = (world.runner.state.numpy() for world in made)
    assert np.abs(generic - gpu).max() <= 1e-12 * max(1.0, np.abs(generic).max())
    told = made[1].compilation
    assert 2 <= told.fallbacks < 200 and told.variants >= 2
    assert (reports[0].raw[COUNTS] == reports[1].raw[COUNTS]).all()
    assert np.ptp(generic[made[0].runner.state.rows["q"]]) > 0.3


def test_a_step_of_some_worlds_is_that_of_all() -> None:
    """Gathered, stepped and put back: the kernel's own bits; reports of several steps as `together` has them."""
    generic, gpu = (
        make(im.scene("peaucellier", motor=False), method=FIXED, dt=1e-3, worlds=6) for make in (im.World, as_on_a_gpu)
    )
    masses = np.linspace(0.9, 1.1, 6) * generic.model.bodies[next(iter(generic.model.bodies))].mass
    for world in (generic, gpu):
        world.set(f"{next(iter(generic.model.bodies))}.mass", masses)
    start = generic.runner.state.numpy().copy()
    raws = [generic.step().raw.copy() for _ in range(3)]
    gpu.runner._record()  # masses of their own are new arrays
    stuck = launch_cuda.Stuck(gpu.runner.method, gpu.runner.system, gpu.runner.state, gpu.runner.bench.arrays)
    done = gpu.runner.launch._done
    done.assign(np.array([9, 0, 0, 9, 9, 0], np.int32))
    before, by_kernel = gpu.runner.launch._before, gpu.runner.launch._by_kernel
    for k in range(3):
        stuck.list(done, 9)
        assert stuck.last(done, 3) == (k, 1)
        stuck.step(3, done, 2, before, by_kernel)
    those, others = [1, 2, 5], [0, 3, 4]
    assert done.numpy().tolist() == [9, 3, 3, 9, 9, 3] and by_kernel.numpy().tolist() == [0, 1, 1, 0, 0, 1]
    state = gpu.runner.state.numpy()
    assert (state[:, those] == generic.runner.state.numpy()[:, those]).all()
    assert (state[:, others] == start[:, others]).all()
    assert (stuck.fell.numpy()[:, those] == together(raws)[:, those]).all()


def test_an_edit_is_followed() -> None:
    """A mass is a constant of the graph, which is traced anew; a hand is an input that breaks guards."""
    cpu, gpu = both("chain", "simgc", 1e-4, 2, n=3)
    body = list(cpu.model.bodies)[1]
    for world in (cpu, gpu):
        world.step(12)
        world.set(f"{body}.mass", 0.2)
        world.step(12)
        hand = world.grab(body, at=(0, 0, 0), stiffness=10.0, damping=0.1)
        hand.move((0.1, 0.0, -0.1))
        world.step(12)
        world.apply(edits.SetStep(dt=2e-4))
        world.step(12)
        hand.release()
        world.step(12)
    assert (cpu.runner.state.numpy() == gpu.runner.state.numpy()).all()
    assert np.array_equal(cpu.energy().potential, gpu.energy().potential)
