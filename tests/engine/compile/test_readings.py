"""What is read of a compiled step is made when somebody asks for it, and nobody reads what is behind the state."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.system.measured import BROKEN, RUNAWAY
from impulsar.observe.quantities import QUANTITIES
from impulsar.validate.poison import poison

FIXED = im.Direct(substeps=1)


def world_of(worlds: int = 1) -> im.World:
    """A linkage with a hand, a probe and a load."""
    model = im.scene("four-bar")
    coupler, rocker = list(model.bodies)[1:3]
    model.probe("tip", coupler, at=model.bodies[coupler].position)
    model.load("push", rocker, force=(0.0, 0.0, -0.1))
    world = im.World(model, method=FIXED, dt=1e-3, worlds=worlds, compile="now")
    world.grab(coupler, stiffness=20.0, damping=0.1)
    for _ in range(5):
        world.step()
    return world


def numbers(found: object) -> object:
    """Something that was read, so that it can be compared to the bit."""
    if isinstance(found, dict):
        return {str(key): numbers(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [numbers(one) for one in found]
    if isinstance(found, np.ndarray | float | int | bool):
        return np.asarray(found).tobytes()
    if hasattr(found, "__dict__") and vars(found) and not callable(found):
        return numbers({k: v for k, v in vars(found).items() if not k.startswith("_")})
    return repr(found)


READERS = {
    "energy": lambda world: world.energy(),
    "openings": lambda world: world.openings(),
    "constraint error": lambda world: world.constraint_error(),
    "motor torques": lambda world: world.motor_torques(),
    "reactions": lambda world: world.reactions(),
    "hand forces": lambda world: world.hand_forces(),
    "hand torques": lambda world: world.hand_torques(),
    "contacts": lambda world: world.contacts(),
    "bodies": lambda world: [
        [getattr(world.body(name), what) for what in ("position", "orientation", "velocity", "acceleration")]
        for name in world.model.bodies
    ],
    "joints": lambda world: [
        [world.joint(name).position, world.joint(name).velocity, world.joint(name).reaction]
        for name in world.model.joints
    ],
    "point": lambda world: world.point(next(iter(world.model.bodies))),
    "snapshot": lambda world: [world.snapshot().acceleration, world.snapshot().reaction],
    "hash": lambda world: world.hash(),
    "model": lambda world: [body.position for body in world.shown_model().bodies.values()],
    "result": lambda world: [one.values for one in world.run(0.002, progress=False).data_vars.values()],
    "edit": lambda world: world.apply(edits.SetParameter("push.force", (0.0, 0.0, -0.2))).energy,
    "rebuild": lambda world: world.add("body", "more", mass=0.1, inertia=(1e-3,) * 3, position=(0, 0, 1)).energy,
    "certificate": lambda world: world.certify(0.002).digits,
    "report": lambda world: world.runner.report.copy(),
    "next step": lambda world: world.step().raw,
    "guard": lambda world: [world.runner.guard.go_back(), world.runner.work.energy.numpy().copy()],
}


def test_no_reader_sees_what_is_behind_the_state() -> None:
    """Work arrays are poisoned after a compiled launch: what is read then is what is read of one that was settled."""
    quantities = {name: lambda world, q=quantity: q.read(world.moment()) for name, quantity in QUANTITIES.items()}
    worlds = [world_of(), world_of()]
    for name, reader in (*quantities.items(), *READERS.items()):
        found = []
        for poisoned, world in enumerate(worlds):
            world.step()
            assert world.runner._owed.settle is not None, name
            if poisoned:
                poison(world.runner.bench.arrays)
            else:
                world.runner.settle()
            found.append(numbers(reader(world)))
        assert found[0] == found[1], name


@pytest.mark.parametrize("worlds", [1, 9])
def test_reports_are_the_same_whenever_they_are_read(worlds) -> None:
    """At once, after the world has gone on, after an edit, or all of them at the end; and reading changes no bit."""
    first, later = world_of(worlds), world_of(worlds)
    at_once, kept = [], []
    for k in range(12):
        for world in (first, later):
            if k == 8:
                world.set("push.force", (0.0, 0.0, -0.3))
        at_once.append(first.step(1 + k % 3).raw.copy())
        kept.append(later.step(1 + k % 3))
    for k in (5, 11, 0, *range(12)):
        assert kept[k].raw.tobytes() == at_once[k].tobytes(), k
    assert (first.state.numpy() == later.state.numpy()).all()
    assert numbers(first.energy()) == numbers(later.energy())
    assert numbers(first.reactions()) == numbers(later.reactions())


def test_motors_tell_the_torque_of_the_instant() -> None:
    """What brings a motor back to its target is in a step's stages, and neither in the kernel's reading nor here."""
    model = im.Model("followed")
    model.body("arm", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0.3, 0, 0))
    motor = im.Motor(position=im.Harmonic(0.1, 20.0))
    model.joint("pin", "revolute", model.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0), motor=motor)
    generic, compiled = (im.World(model, dt=0.03, compile=how) for how in ("off", "now"))
    for _ in range(20):
        for world in (generic, compiled):
            world.step()
        told = [world.joint("pin").motor_torque for world in (generic, compiled)]
        assert told[1] == pytest.approx(told[0], rel=1e-12)
    assert compiled.compilation.fallbacks < 10 and not compiled.compilation.refused


def test_a_broken_state_is_known_at_once() -> None:
    """A coordinate that is no number breaks the step that makes it, as it does with the kernel alone."""
    world = world_of()
    world.state.write("v", np.full_like(world.state.read("v"), 1e200))
    world.runner.refresh()
    with pytest.raises(im.StepError):
        world.step()
    assert world.paused


def test_a_world_that_flew_apart_is_found_when_it_is_kept() -> None:
    """What only a reading tells is told where the guard reads: the world is at its last good step, and paused."""
    world = world_of()
    world.step()
    world.runner.settle()
    world.runner.work.report.numpy()[BROKEN] = RUNAWAY  # as if a joint were open by a hundred sizes
    world.runner.guard.at = world.runner.count
    with pytest.raises(im.StepError, match="run away"):
        world.step()
    assert world.paused and np.isfinite(world.state.numpy()).all()
