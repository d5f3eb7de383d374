"""Compiled steps with contact are the kernel's: in flight, at rest, sliding, rolling, and at impacts."""

import numpy as np
import pytest

import impulsar as im

from .test_steps import MANY, apart


def floor(friction: float, restitution: float = 0.0, angle: float = 0.0) -> im.Model:
    """A plane of one material, turned about y."""
    model = im.Model("floor")
    model.material("stuff", friction=friction, restitution=restitution)
    turn = (0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2))
    model.obstacle("floor", im.Plane(), material="stuff", orientation=turn)
    return model


def ball_bouncing() -> im.Model:
    """From 4 cm, with a spin and half of its speed kept: four impacts in 0.2 s."""
    model = floor(0.3, restitution=0.5)
    shape = im.Sphere(0.05, material="stuff")
    model.body("ball", mass=1.0, shape=shape, position=(0, 0, 0.06), velocity=(0.5, 0, 0), angular_velocity=(0, 9, 2))
    return model


def block_on_slope(part: float) -> im.Model:
    """On a slope of a part of the friction angle's tangent."""
    angle = np.arctan(0.5 * part)
    model = floor(0.5, angle=angle)
    turn = (0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2))
    at = 0.1 * np.array([np.sin(angle), 0, np.cos(angle)])
    model.body("block", mass=1.0, shape=im.Box((0.2, 0.2, 0.2), material="stuff"), position=at, orientation=turn)
    return model


def box_pushed() -> im.Model:
    """Pushed at its side above what friction holds: it slides, and turns about z."""
    model = floor(0.4)
    model.body("box", mass=1.0, shape=im.Box((0.2, 0.2, 0.1), material="stuff"), position=(0, 0, 0.05))
    model.load("push", "box", force=(6.0, 0.0, 0.0), at=(0.0, 0.03, 0.0))
    return model


CASES = {
    "ball bouncing": ball_bouncing,
    "block sliding": lambda: block_on_slope(1.5),
    "block held": lambda: block_on_slope(0.5),
    "box pushed": box_pushed,
    "disc rolling": lambda: im.scene("rolling-disc"),
    "top turning over": lambda: im.scene("tippe-top"),
    "cradle": lambda: im.scene("newtons-cradle"),
}


QUICK = ("ball bouncing", "block held")  # with direct, whose steps with contact are long


@pytest.mark.parametrize(
    "name, method",
    [(name, "simgc") for name in CASES]
    + [pytest.param(name, "direct", marks=() if name in QUICK else pytest.mark.study) for name in CASES],
)
def test_steps_with_contact_end_where_the_kernels_do(name, method) -> None:
    """All rows of the state over 200 steps, those of contacts among them; and not by falling back alone."""
    worlds = [im.World(CASES[name](), method=method, dt=1e-3, compile=compile) for compile in ("off", "now")]
    start = worlds[0].runner.state.numpy().copy()
    for world in worlds:
        world.step(200)
    told = worlds[1].compilation
    assert np.abs(worlds[0].runner.state.numpy() - start).max() > 0.01
    assert apart(*worlds) <= MANY
    assert told.variants >= 1 and not told.refused and told.fallbacks < 198


def test_a_contact_that_stays_takes_no_steps_of_the_kernel() -> None:
    """A disc that rolls: one contact all the time, one way from the second step on."""
    world = im.World(im.scene("rolling-disc"), method="simgc", dt=1e-3, compile="now")
    world.step(2)  # its start goes a way of its own
    before = world.compilation.fallbacks
    world.step(498)
    assert world.compilation.variants == 1 and world.compilation.fallbacks == before <= 1


def test_worlds_of_a_batch_touch_by_themselves() -> None:
    """Nine balls from heights of their own: some fly while others touch."""
    worlds = [im.World(ball_bouncing(), method="simgc", dt=1e-3, worlds=9, compile=how) for how in ("off", "now")]
    for world in worlds:
        q = world.runner.state.read("q")
        q[2] = np.linspace(0.05, 0.08, 9)
        world.runner.state.write("q", q)
        world.runner.refresh()
        world.step(100)
    assert apart(*worlds) <= MANY
    assert 0 < worlds[1].compilation.fallbacks < 800
    contacts = worlds[0].runner.state.read("contact")[0]
    assert 0 < contacts.sum() < 9


def test_derivatives_do_not_take_contacts() -> None:
    world = im.World(ball_bouncing(), method="simgc", dt=1e-3)
    with pytest.raises(im.ModelError, match="derivatives through contacts are not taken"):
        world.sensitivity(of=["ball.x"], to=["ball.mass"], duration=0.01)
