"""Compiled steps are the kernel's: one by one, over many, in batches, after edits, and where guards break."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.engine.compile.recipe import DUE, NEVER, Recipe, Sample, next_due
from impulsar.engine.compile.step import sample_outputs, trace_step
from impulsar.engine.system.measured import (
    ENDED_BY_LIMIT,
    MODE_CHANGES,
    MOST_ITERATIONS,
    SUB_STEPS,
    TOTAL_ITERATIONS,
)

FIXED = im.Direct(substeps=1)
STEP, MANY = 1e-13, 1e-12  # of a step, and of 200: rounding of some thousand operations


def pair(name: str, method, dt: float, worlds: int = 1, **parameters):
    """A world by the kernel and one by compiled steps."""
    return [
        im.World(im.scene(name, **parameters), method=method, dt=dt, worlds=worlds, compile=compile)
        for compile in ("off", "now")
    ]


def apart(a: im.World, b: im.World) -> float:
    """Largest difference of two states, of their size."""
    one, other = a.runner.state.numpy(), b.runner.state.numpy()
    return float((np.abs(one - other) / np.maximum(1.0, np.abs(one))).max())


@pytest.mark.parametrize(
    "name, method, dt, parameters",
    [
        ("chain", "simgc", 1e-4, {"n": 10}),
        ("ten-pendula", "simgc", 1e-3, {"start": "30deg"}),
        ("five-link", "simgc", 1e-3, {}),
        ("four-bar", FIXED, 1e-3, {}),
        ("peaucellier", FIXED, 1e-3, {}),
        ("slider-crank", FIXED, 1e-3, {}),
        ("cross-lift", FIXED, 1e-3, {}),
    ],
)
def test_a_traced_step_is_that_of_the_kernel(name, method, dt, parameters) -> None:
    """All rows of the state, books among them; and rows that the trace does not have do not change."""
    world = im.World(im.scene(name, **parameters), method=method, dt=dt)
    world.step(20)
    runner = world.runner
    step = trace_step(runner.method, runner.system, runner.state, runner.work)
    before = runner.state.numpy()[:, 0].copy()
    expected = before.copy()
    for row, value in sample_outputs(step).items():
        expected[row] = value
    world.step()
    after = runner.state.numpy()[:, 0]
    assert np.abs(after - before)[runner.state.rows["q"]].max() > 1e-9  # it moves
    assert (np.abs(after - expected) <= STEP * np.maximum(1.0, np.abs(after))).all()


@pytest.mark.parametrize(
    "name, method, dt, parameters", [("chain", "simgc", 1e-4, {"n": 5}), ("four-bar", FIXED, 1e-3, {})]
)
def test_many_compiled_steps_end_where_the_kernels_do(name, method, dt, parameters) -> None:
    generic, compiled = pair(name, method, dt, **parameters)
    reports = generic.step(200), compiled.step(200)
    assert apart(generic, compiled) <= MANY
    rows = [TOTAL_ITERATIONS, MOST_ITERATIONS, SUB_STEPS, ENDED_BY_LIMIT, MODE_CHANGES]
    assert (reports[0].raw[rows] == reports[1].raw[rows]).all()
    told = compiled.compilation
    assert told.variants >= 1 and not told.refused and told.fallbacks < 100
    for name in generic.model.joints:
        forces = [world.joint(name).reaction.force for world in (generic, compiled)]
        assert forces[0] == pytest.approx(forces[1], rel=1e-9, abs=1e-9)


def test_bits_do_not_depend_on_launches() -> None:
    """step(n) is n steps, also over the steps at which variants are made and where guards break."""
    worlds = [im.World(im.scene("five-link"), method=FIXED, dt=1e-3, compile="now") for _ in range(2)]
    worlds[0].step(130)
    for n in (1, 2, 5, 1, 30, 91):
        worlds[1].step(n)
    assert worlds[0].compilation.fallbacks > 0
    assert (worlds[0].runner.state.numpy() == worlds[1].runner.state.numpy()).all()


def test_worlds_of_a_batch_have_their_own_states_and_masses() -> None:
    """13 worlds: eight and four in a register, and one alone."""
    generic, compiled = pair("chain", "simgc", 1e-4, worlds=13, n=3)
    rng = np.random.default_rng(2)
    masses, speeds = rng.uniform(0.5, 1.5, 13), rng.normal(size=(3, 13))
    body = next(iter(generic.model.bodies))
    for world in (generic, compiled):
        world.set(f"{body}.mass", masses * world.model.bodies[body].mass)
        world.runner.state.write("v", speeds)
        world.runner.refresh()
        world.step(100)
    assert np.ptp(generic.runner.state.read("q"), axis=1).min() > 1e-3
    assert apart(generic, compiled) <= MANY
    assert compiled.compilation.fallbacks == 0


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_bodies_alone_are_compiled(coordinates) -> None:
    """Of a body without a joint there is no articulated inertia to read; in maximal coordinates every body is such."""
    model = im.Model("thrown")
    for k in range(2):
        spin = (1.0, 5.0 - k, 0.1)
        model.body(f"body {k}", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(k, 0, 0), angular_velocity=spin)
    model.spring("between", "body 0", "body 1", at_a=(0.1, 0, 0), at_b=(0.9, 0, 0.1), stiffness=30.0, damping=0.2)
    generic, compiled = (im.World(model, dt=1e-3, coordinates=coordinates, compile=how) for how in ("off", "now"))
    for world in (generic, compiled):
        world.step(50)
    assert not compiled.compilation.refused and compiled.compilation.fallbacks <= 1
    assert apart(generic, compiled) <= MANY


@pytest.mark.parametrize("name, method", [("four-bar", "simgc"), ("four-bar", FIXED), ("peaucellier", "simgc")])
def test_rounds_are_no_ways_of_their_own(name, method) -> None:
    """Sweeps and projections take another number of rounds in many steps: one way does for all, the counts agree."""
    generic, compiled = pair(name, method, 1e-3)
    for world in (generic, compiled):
        world.step(2)  # a start at rest goes a way of its own
    started = compiled.compilation.fallbacks
    counts = []
    for _ in range(20):
        reports = [world.step(10).raw for world in (generic, compiled)]
        counts.append(reports[0][TOTAL_ITERATIONS, 0])
        assert reports[0][[TOTAL_ITERATIONS, MOST_ITERATIONS]] == pytest.approx(
            reports[1][[TOTAL_ITERATIONS, MOST_ITERATIONS]]
        )
    assert method is FIXED or np.ptp(counts) > 0
    assert started <= 1 and compiled.compilation.variants == 1
    assert compiled.compilation.fallbacks == started
    assert apart(generic, compiled) <= MANY


def test_worlds_of_a_register_leave_a_loop_by_themselves() -> None:
    """13 four-bars at places of their own, which need their own numbers of sweeps: as one by one."""
    generic, compiled = pair("four-bar", "simgc", 1e-3, worlds=13)
    single = im.World(im.scene("four-bar"), method="simgc", dt=1e-3)
    for k in range(13):
        single.step(20)
        for world in (generic, compiled):
            world.runner.state.numpy()[:, k] = single.runner.state.numpy()[:, 0]
    for world in (generic, compiled):
        world.runner.refresh()
    reports = [world.step(50).raw[TOTAL_ITERATIONS] for world in (generic, compiled)]
    assert np.ptp(reports[0]) > 0 and (reports[0] == reports[1]).all()
    assert apart(generic, compiled) <= MANY and compiled.compilation.fallbacks == 0


def test_an_edit_is_followed() -> None:
    """A mass is a constant of the graph, which is traced anew; the speed of a motor is an input, which is not."""
    generic, compiled = pair("chain", "simgc", 1e-4, n=3)
    body = list(generic.model.bodies)[1]
    for world in (generic, compiled):
        world.step(20)
        world.set(f"{body}.mass", 0.2)
        world.step(20)
    assert apart(generic, compiled) <= MANY


def test_a_world_goes_on_where_a_guard_breaks() -> None:
    """A hand takes hold of a chain: another way through the step, and back when it lets go."""
    generic, compiled = pair("chain", "simgc", 1e-4, n=3)
    last = list(generic.model.bodies)[-1]
    for world in (generic, compiled):
        world.step(10)
        hand = world.grab(last, at=(0, 0, 0), stiffness=10.0, damping=0.1)
        hand.move((0.1, 0.0, -0.1))
        world.step(10)
        hand.release()
        world.step(10)
    assert apart(generic, compiled) <= MANY


def swinging(bounce: float) -> im.Model:
    """A double pendulum whose hinges strike limits on both sides."""
    model = im.Model("limits")
    for k in range(2):
        model.body(f"arm{k}", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0.25 + 0.5 * k, 0.0, 0.0))
    settings = {"axis": (0, 1, 0), "limit_restitution": bounce}
    model.joint("root", "revolute", model.ground, "arm0", at=(0, 0, 0), limits=(-0.15, 0.3), **settings)
    model.joint("elbow", "revolute", "arm0", "arm1", at=(0.5, 0, 0), limits=(-0.4, 0.3), **settings)
    return model


@pytest.mark.parametrize("method", ["simgc", FIXED, pytest.param("direct", marks=pytest.mark.study)])
def test_limits_are_struck_as_by_the_kernel(method) -> None:
    """Both hinges, both limits: guards break there, and the motion is the same after it."""
    generic, compiled = (im.World(swinging(0.5), method=method, dt=1e-3, compile=how) for how in ("off", "now"))
    for world in (generic, compiled):
        world.runner.state.write("v", np.array([[-4.0], [6.0]]))
        world.runner.refresh()
    angles = []
    for _ in range(100):
        for world in (generic, compiled):
            world.step(4)
        angles.append([generic.joint(name).position for name in ("root", "elbow")])
    low, high = np.min(angles, axis=0), np.max(angles, axis=0)
    assert (high > 0.28).all() and low[0] < -0.14 and low[1] < -0.35
    assert 0 < compiled.compilation.fallbacks < 300 and not compiled.compilation.refused
    assert apart(generic, compiled) <= MANY


@pytest.mark.parametrize("method", ["simgc", FIXED])
def test_dead_centres_are_passed_as_by_the_kernel(method) -> None:
    """A slider-crank at 30 rad/s: crank and rod in line every 0.1 s."""
    generic, compiled = pair("slider-crank", method, 1e-3, speed=30.0)
    for world in (generic, compiled):
        world.step(200)
    assert apart(generic, compiled) <= MANY and not compiled.compilation.refused


def test_what_is_not_compiled_is_refused() -> None:
    with pytest.raises(ModelError, match="method simmc is not compiled; take simgc or direct"):
        im.World(im.scene("chain", n=2), method="simmc", compile="now")
    with pytest.raises(ModelError, match="compile is 'soon', expected one of: off, now, auto"):
        im.World(im.scene("chain", n=2), compile="soon")
    assert im.World(im.scene("chain", n=2)).compilation is None


def test_another_method_is_compiled_anew() -> None:
    """Its state has other rows; one that is not compiled says so, and the first is again what it was."""
    generic, compiled = pair("chain", "simgc", 1e-3, n=3)
    told = []
    for method in ("direct", "baumgarte", "simgc"):
        for world in (generic, compiled):
            world.step(5)
            world.apply(im.edits.SetMethod(method))
            world.step(5)
        told.append(compiled.compilation)
    assert [one.variants for one in told] == [1, 0, 1]
    assert "method baumgarte is not compiled" in told[1].refused and not told[0].refused + told[2].refused
    assert apart(generic, compiled) <= MANY


@pytest.mark.parametrize("how", ["now", "auto"])
def test_what_hinders_compiling_is_told(how) -> None:
    """Before a step as after one, and where a run has left its launches to be recorded anew."""
    model = im.scene("chain", n=2)
    model.load("push", next(iter(model.bodies)), force=lambda t: (0.0, 0.0, t))
    world = im.World(model, method="simgc", dt=1e-3, compile=how)
    assert "Python callables" in world.compilation.refused
    world.step(3)
    assert "Python callables" in world.compilation.refused
    world.set("push.force", (0.0, 0.0, 1.0))
    world.run(0.01, at=(0.0042, 0.0107), progress=False)
    assert world.compilation is not None and not world.compilation.refused


def test_variants_are_made_after_fixed_numbers_of_steps() -> None:
    assert [next_due(k) for k in (0, 3, 4, 40, 64, 1300)] == [4, 4, 8, 64, 128, 1344]
    assert list(DUE) == sorted(DUE)


def test_the_last_step_that_fell_back_is_learnt() -> None:
    """Of steps in which a mechanism goes over to another way the last; of worlds in the same step the first."""
    recipe = Recipe(learns=True)
    assert recipe.is_later(3, 1)
    recipe.broke = 3, Sample(1, b"")
    assert [recipe.is_later(at, world) for at, world in ((2, 0), (3, 2), (3, 0), (4, 5))] == [False, False, True, True]


def test_steps_that_cannot_be_followed_are_tried_less_and_less() -> None:
    """A refusal takes seconds: one more is found after 512 steps, then 4096, then never; a journal keeps the count."""
    recipe = Recipe(learns=True)
    recipe.advance(70)
    found = []
    for _ in range(3):
        recipe.refuse()
        found.append(recipe.due)
    assert found == [512, 4096, NEVER]
    assert Recipe.from_data(recipe.data()).due == recipe.copy().due == NEVER
    assert recipe.bits() != Recipe(learns=True, count=70).bits()
    recipe.clear()
    assert recipe.due == DUE[0]


def test_a_step_that_falls_back_is_the_kernels_to_the_bit() -> None:
    """Through a dead centre, where a rounding of the state grows to 1e-4 within 20 steps: only bits can be compared."""
    generic, compiled = (
        im.World(im.scene("peaucellier", motor=False), method=FIXED, dt=1e-3, compile=compile)
        for compile in ("off", "now")
    )
    generic.step(170)
    launch, state = compiled.runner.launch, compiled.runner.state
    state.numpy()[...] = generic.runner.state.numpy()
    launch.refresh()
    launch.build()
    last = launch._fresh()
    for _ in range(40):
        generic.step()
        launch._step_one(last, 0, 0, is_last=False)
        assert (state.numpy() == generic.runner.state.numpy()).all()


def test_bits_do_not_depend_on_threads(monkeypatch) -> None:
    """67 worlds in different states, in ranges of whole registers: a world reads what is its own."""
    monkeypatch.setattr("impulsar.engine.compile.launch.LEAST_WORK", 1)
    states = []
    for threads in (1, 2, 5):
        world = im.World(im.scene("four-bar"), method=FIXED, dt=1e-3, worlds=67, threads=threads)
        assert world.compile == "now"
        speeds = np.random.default_rng(5).normal(scale=0.01, size=67)
        world.state.write("v", world.state.read("v") + speeds * np.ones((world.state.read("v").shape[0], 1)))
        world.runner.refresh()
        for n in (1, 30, 25):
            report = world.step(n)
        assert world.runner.launch.threads == threads and world.compilation.fallbacks > 0
        states.append([world.state.numpy().copy(), report.raw])
    for other in states[1:]:
        assert all((one == two).all() for one, two in zip(states[0], other, strict=True))


def test_batches_are_compiled_by_default_where_they_can_be() -> None:
    """From 64 worlds on, and nothing is said where one cannot be, but by `compilation`."""
    few, many, other = (
        im.World(im.scene("chain", n=2), method=method, worlds=worlds)
        for method, worlds in (("simgc", 63), ("simgc", 64), ("simmc", 64))
    )
    assert [world.compile for world in (few, many, other)] == ["off", "now", "off"]
    assert few.compilation is None and not many.compilation.refused
    assert "simmc is not compiled" in other.compilation.refused
    other.step(2)
