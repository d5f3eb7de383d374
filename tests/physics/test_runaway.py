"""Motions that run away are stopped and named; what is far, fast, crude or still is none of them."""

import numpy as np
import pytest

import impulsar as im
from impulsar.engine.system import measured
from impulsar.history.history import History
from impulsar.world.guard import KEEP, SENSELESS

MOST_BODIES = 8  # of scenes that every method runs


def ran_away(dt: float = 1e-12, steps: int = 20 * KEEP) -> tuple[im.World, im.StepError]:
    """Five links in motion by SIMMC whose step is made so short that what is left open becomes a speed."""
    world = im.World(im.scene("five-link"), method="simmc", dt=0.01)
    world.step(30)
    world.apply(im.edits.SetStep(dt))
    with pytest.raises(im.StepError) as caught:
        for _ in range(steps):
            world.step()
    return world, caught.value


@pytest.mark.parametrize("dt", [1e-12, 1e-10, 1e-6])
def test_a_runaway_is_stopped_and_named(dt):
    """It is over within some thousand steps, says what is senseless and what to do, and is back where books hold."""
    world, error = ran_away(dt)
    assert error.cause == "runaway"
    for words in ("five-link", "run away", "times all that the books account for", "take another dt", "body 'link"):
        assert words in str(error)
    assert world.paused
    assert world.runner.report[measured.UNBOOKED].max() < SENSELESS
    position = world.runner.work.p_WB.numpy()
    assert np.isfinite(position).all() and np.abs(position).max() < 2 * world.system.size
    if dt < 1e-9:  # it ran away in its first step, before which all was well
        world.apply(im.edits.SetStep(0.001))
        world.apply(im.edits.Pause(False))
        world.step(10)


def test_it_goes_back_no_farther_than_the_last_edit():
    """A history has that edit in it already, at its step."""
    world = im.World(im.scene("five-link"), method="simmc", dt=0.01)
    world.step(30)
    world.apply(im.edits.SetStep(1e-12))
    world.step(KEEP + 40)
    world.apply(im.edits.SetStep(2e-12))
    edited = world.runner.count
    with pytest.raises(im.StepError, match="run away"):
        for _ in range(20 * KEEP):
            world.step()
    assert world.runner.count == edited


def test_history_and_replay_agree_after_a_runaway():
    """Undo of the step that caused it leads to the state before, to the bit."""
    world = im.World(im.scene("five-link"), method="simmc", dt=0.01)
    history = History(world)
    history.step(30)
    before = world.hash()
    history.apply(im.edits.SetStep(1e-12))
    with pytest.raises(im.StepError, match="run away"):
        history.step(20 * KEEP)
    assert world.dt == 1e-12
    history.undo()
    assert world.dt == 0.01 and world.hash() == before


def test_a_joint_that_has_flown_apart_is_named():
    """A loop's joint that is open by a thousand sizes is told with how far, at the first step."""
    world = im.World(im.scene("four-bar"), method="simmc", dt=0.01)
    world.step(3)
    apart = world.state.read("q").copy()
    apart[0] += 1e3 * world.system.size  # of the crank's place
    world.state.write("q", apart)
    world.runner.refresh()
    with pytest.raises(im.StepError, match=r"joint '\w+' is open by .* m, .* times the mechanism") as caught:
        world.step()
    assert caught.value.cause == "runaway"


def _far() -> im.World:
    """Links in free fall for 20 s."""
    model = im.scene("chain", n=3)
    world = im.World(model, method="simmc", dt=0.01)
    world.apply(im.edits.Remove("joint", next(iter(model.joints))))
    return world


def _fast() -> im.World:
    """A top at 1e5 rad/s."""
    model = im.Model("top", gravity=(0, 0, 0))
    model.body("top", mass=1.0, inertia=(1e-3, 1e-3, 2e-3), angular_velocity=(1.0, 0.0, 1e5))
    return im.World(model, method="simmc", dt=1e-4)


def _still() -> im.World:
    """Nothing moves and nothing weighs anything: all the books have is rounding."""
    model = im.scene("ten-pendula")
    model.gravity = (0.0, 0.0, 0.0)
    return im.World(model, method="simmc", dt=1e-3)


@pytest.mark.parametrize("make", [_far, _fast, _still], ids=["far", "fast", "still"])
def test_what_is_no_runaway_goes_on(make):
    world = make()
    for _ in range(8):
        report = world.step(KEEP)
        assert report.raw[measured.UNBOOKED].max() <= 1e-3 * SENSELESS
    assert not world.paused


def test_a_correction_of_large_errors_is_let_pass():
    """Peaucellier at a step of 1e-12 s: 4e12 J for some steps, then what it was."""
    world = im.World(im.scene("peaucellier"), method="simmc", dt=0.01)
    world.step(30)
    before = world.energy().kinetic
    world.apply(im.edits.SetStep(1e-12))
    assert world.step().raw[measured.UNBOOKED].max() > SENSELESS
    world.step(4 * KEEP)
    assert world.energy().kinetic == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize("method", im.METHODS)
def test_no_scene_is_stopped(method):
    """Every small scene of the catalogue that a method takes, for 2 KEEP steps and more.

    But for tyres in first-order steps: there they are explicit, and at the scenes' steps `simmc` does run away.
    """
    taken = 0
    for name in im.SCENES:
        model = im.scene(name)
        if len(model.bodies) > MOST_BODIES or (model.tyres and im.METHODS[method].order == 1):
            continue
        try:
            world = im.World(im.scene(name), method=method)
        except im.ModelError:
            continue
        taken += 1
        cause = None
        for _ in range(6):
            try:
                report = world.step(100)
            except im.StepError as error:  # variational ends in the singular pose of n-four-bar
                cause = error.cause
                break
            assert report.raw[measured.UNBOOKED].max() <= 1e-3 * SENSELESS, name
        assert cause != "runaway", name
    assert taken >= 8
