"""The doors of a world: how many steps at once, one thread at a time, no copies."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.methods import METHODS

PAIRS = [(name, kind) for name, method in METHODS.items() for kind in method.coordinates]
NO_COUNTS = [True, False, 0, -1, 2.5, 1.0, "3", None, np.nan, np.inf, 2**31, 2**32 + 5, 10**400, np.float64(2), [1], 1j]


def short(value):
    return repr(value)[:12]


def pendulum() -> im.Model:
    model = im.Model("pendulum")
    model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.joint("pivot", "revolute", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("n", NO_COUNTS, ids=short)
def test_what_is_no_number_of_steps(n, method, coordinates):
    """Refused by name, with nothing simulated: not one step for True, not five for 2^32 + 5."""
    world = im.World(pendulum(), method, coordinates)
    before = world.hash()
    with pytest.raises(im.ModelError, match=r"step: n is .*, expected an integer from 1 to 2147483647"):
        world.step(n)
    assert (world.time, world.hash()) == (0.0, before)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("kind", (int, np.int8, np.uint8, np.int64))
def test_integers_of_any_kind(kind, method, coordinates):
    """n steps take n dt, whatever the integer is made of."""
    world = im.World(pendulum(), method, coordinates, dt=0.01)
    report = world.step(kind(7))
    assert world.time == pytest.approx(0.07, abs=1e-15)
    assert report.steps == 7 * world.runner.substeps


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_slices_are_one_call(method, coordinates, monkeypatch):
    """Steps in several launches have the bits, the time and the report's sums of steps in one."""
    one, many = (im.World(pendulum(), method, coordinates, dt=0.01) for _ in range(2))
    whole = one.step(100)
    monkeypatch.setattr("impulsar.world.runner.LARGEST_SLICE", 7)
    many.runner.slice = 7
    parts = many.step(100)
    assert many.hash() == one.hash()
    assert (parts.steps, parts.iterations, parts.substeps) == (whole.steps, whole.iterations, whole.substeps)


def test_more_substeps_than_an_int32_are_counted_in_slices():
    """2^31 - 1 steps of 10^4 sub-steps are asked for in slices; the second never comes."""
    world = im.World(pendulum(), im.METHODS["simgc"](max_step=1e-6), dt=0.01)
    asked = []

    def launch():
        asked.append(int(world.system.arrays.steps.numpy()[0]))
        raise KeyboardInterrupt

    world.runner.launch = launch
    with pytest.raises(KeyboardInterrupt):
        world.step(2**31 - 1)
    assert len(asked) == 1 and 1 <= asked[0] <= 10**4


@pytest.mark.parametrize("dt", (0.0, -1.0, np.nan, np.inf, 1e-16, 1e9, True, "1", None, 10**400, 1j), ids=short)
def test_what_is_no_step(dt):
    """Refused by the constructor and by the edit, by name; None is the model's own."""
    world = im.World(pendulum())
    with pytest.raises(im.ModelError, match="dt is"):
        world.apply(edits.SetStep(dt))
    if dt is not None:
        with pytest.raises(im.ModelError, match="dt is"):
            im.World(pendulum(), dt=dt)


@pytest.mark.parametrize("method", ("simgc", "simmc"))
def test_a_step_of_too_many_parts_is_refused(method):
    """A step of more than 10^4 of the method's own would not answer for minutes."""
    with pytest.raises(im.ModelError, match="sub-steps, expected at most 10000"):
        im.World(pendulum(), method, dt=1e8)


@pytest.mark.parametrize("method", ("simgc", "simmc"))
def test_a_method_whose_step_is_too_short_is_refused(method):
    """Before anything is changed."""
    world = im.World(pendulum(), dt=900.0)
    before = world.hash()
    with pytest.raises(im.EditError, match="sub-steps, expected at most 10000"):
        world.apply(edits.SetMethod(method))
    assert world.hash() == before
    assert world.method.name == "direct"


@pytest.mark.parametrize(
    ("duration", "every"),
    [(d, None) for d in (0.0, -1.0, np.nan, np.inf, True, "1", None, 1e300, 10**400, 1j, 1e19)]
    + [(1.0, e) for e in (0.0, -1.0, np.nan, np.inf, True, "1", 10**400, 0.015, 1e300)],
    ids=short,
)
def test_what_is_no_time_of_a_run(duration, every):
    """Refused by name before anything is allocated or simulated."""
    world = im.World(pendulum(), dt=0.01)
    with pytest.raises(im.ModelError, match=r"run: (duration|every) is"):
        world.run(duration, every=every)
    assert world.time == 0.0


@pytest.mark.parametrize("time", (-1.0, np.nan, np.inf, True, "1", None, 10**400, 1e21), ids=short)
def test_what_is_no_time_of_a_script(time):
    with pytest.raises(im.ModelError, match="time of a script's edit is"):
        pendulum().at(time, edits.Pause())


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("second", ("step", "apply", "restore"))
def test_one_thread_at_a_time(second, method, coordinates):
    """While one thread is inside a step, another is refused by name, and the first one's bits are as alone."""
    inside, go_on = threading.Event(), threading.Event()

    def slow(t):
        inside.set()
        go_on.wait(10)
        return 0.1

    def build(torque):
        model = pendulum()
        model.joints["pivot"].features["angle"].motor = im.Motor(torque=torque)
        return im.World(model, method, coordinates)

    alone, world = build(lambda t: 0.1), build(slow)
    alone.step(3)
    moment = world.snapshot()
    worker = threading.Thread(target=world.step, args=(3,))
    worker.start()
    assert inside.wait(10)
    calls = {
        "step": lambda: world.step(),
        "apply": lambda: world.apply(edits.SetStep(0.5)),
        "restore": lambda: world.restore(moment),
    }
    with pytest.raises((im.StepError, im.EditError), match=f"{second} while the world is at work.*another thread"):
        calls[second]()
    go_on.set()
    worker.join(10)
    assert np.array_equal(world.state.numpy(), alone.state.numpy())
    world.step()  # the door is open again


def test_many_threads_hammer_one_world():
    """Whatever is refused, what is left is a run of the steps that were taken."""
    world, alone = im.World(pendulum(), dt=0.01), im.World(pendulum(), dt=0.01)
    taken, refused = [], []

    def work():
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                world.step(20)
                taken.append(20)
            except im.StepError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    alone.step(sum(taken))
    assert world.hash() == alone.hash()
    assert all("another thread" in text for text in refused)


def test_a_callable_that_steps_its_own_world_is_refused():
    """By name, and the world goes on without it."""
    model = pendulum()
    world = None
    model.load("wind", "bob", force=lambda t: world.step() and (0, 0, 0))
    world = im.World(model)
    with pytest.raises(im.StepError, match="load 'wind' force: its callable raised StepError"):
        world.step()
    world.apply(edits.RemoveLoad("wind"))
    world.step()


@pytest.mark.parametrize("way", (copy.copy, copy.deepcopy, pickle.dumps))
def test_a_world_is_not_copied(way):
    """A TypeError that says what to keep instead; and that can be kept."""
    world = im.World(pendulum(), dt=0.01)
    world.step(10)
    with pytest.raises(TypeError, match=r"a World cannot be copied or pickled; keep world\.model"):
        way(world)
    model, moment = pickle.loads(pickle.dumps((world.model, world.snapshot())))
    other = im.World(model, dt=0.01)
    other.restore(moment)
    world.step(50)
    other.step(50)
    assert other.hash() == world.hash()
