"""Compiled steps in a session: the switch is an edit, and whoever goes back or replays gets the same bits."""

import subprocess
import sys
import time

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import FileError
from impulsar.engine.compile.recipe import MOST_VARIANTS, Recipe, Sample
from impulsar.history.replay import replay
from impulsar.history.vetting import read_recipe
from impulsar.world.background import edit_of

FIXED = im.Direct(substeps=1)


def world_of(compile: str = "off") -> im.World:
    """A linkage whose step goes more than one way."""
    return im.World(im.scene("four-bar"), method=FIXED, dt=1e-3, compile=compile)


def compile_now(history: im.History) -> None:
    """The edit that a session makes when steps are compiled for where it is."""
    history.apply(edit_of([Sample.of(history.world.state.numpy(), 0)]))


def record(path) -> tuple[im.History, list[str]]:
    """A session with compiled steps, a parameter that ends them, more of them, and a change of topology; and hashes."""
    history = im.History(world_of(), path, hash_steps=10)
    hashes = []

    def go(steps: int) -> None:
        for _ in range(steps):
            history.step()
            hashes.append(history.world.hash())

    go(5)
    compile_now(history)
    go(25)
    history.apply(edits.ApplyLoad("push", list(history.world.model.bodies)[1], force=(0.0, 0.0, -0.1)))
    go(5)
    compile_now(history)
    go(10)
    history.apply(edits.SetParameter(f"{next(iter(history.world.model.bodies))}.mass", 0.11))
    go(5)
    compile_now(history)
    go(10)
    return history, hashes


def test_a_session_with_compiled_steps_goes_back_and_forth_to_the_bit(tmp_path) -> None:
    """Seek, undo, redo, fork, and go on with the file after a crash; steps are compiled in most of it."""
    history, hashes = record(tmp_path / "one.journal")
    compiled = history.world.compilation
    assert compiled is not None and compiled.variants == 1 and not compiled.refused
    for step in (60, 3, 31, 44, 7, 52, 29):
        history.seek(step * 1e-3)
        assert history.world.hash() == hashes[step - 1], step
    history.seek(0.033)
    history.step(27)
    assert history.world.hash() == hashes[-1]
    undone = history.undo()
    assert isinstance(undone, edits.SetParameter)  # what a person made
    assert history.world.hash() == hashes[44]
    history.redo()
    assert history.world.hash() == hashes[-1]
    fork = history.fork(tmp_path / "fork.journal")
    other = im.History.open(_copy(tmp_path / "one.journal"))  # as it is while the session still runs
    for one in (history, fork, other):
        one.step(20)
    assert history.world.hash() == fork.world.hash() == other.world.hash()
    assert history.world.compilation.variants == other.world.compilation.variants == 1
    for one in (history, fork, other):
        one.close()


def _copy(path):
    copied = path.with_name("copy.journal")
    copied.write_bytes(path.read_bytes())
    return copied


def test_another_process_replays_it_to_the_bit(tmp_path) -> None:
    path = tmp_path / "one.journal"
    record(path)[0].close()
    found = replay(path, verify=True)
    assert found.checks >= 6 and not found.wrong
    done = subprocess.run(
        [sys.executable, "-m", "impulsar", "replay", str(path), "--verify"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_steps_that_learn_their_ways_repeat_to_the_bit(tmp_path) -> None:
    """compile="now" finds ways as it goes, by the number of steps: a snapshot has all that decides."""
    world = im.World(im.scene("gear-train"), dt=1e-3, compile="now")  # some of whose steps go another way
    history = im.History(world, tmp_path / "one.journal", hash_steps=10)
    hashes = []
    for _ in range(60):
        history.step()
        hashes.append(world.hash())
    assert world.compilation.variants > 1 and world.compilation.fallbacks > 0
    for step in (20, 59, 3, 40):
        history.seek(step * 1e-3)
        assert world.hash() == hashes[step - 1]
    moment = world.snapshot()
    history.close()
    world.step(30)
    expected = world.hash()
    world.restore(moment)
    for _ in range(30):
        world.step()
    assert world.hash() == expected
    assert not replay(tmp_path / "one.journal", verify=True).wrong


def test_a_batch_that_is_compiled_by_default_repeats_to_the_bit(tmp_path) -> None:
    """The journal has what was left to the kernel because nobody asked, too."""
    path = tmp_path / "one.journal"
    world = im.World(im.scene("chain", n=2), method="simgc", dt=1e-3, worlds=64)
    history = im.History(world, path, hash_steps=10)
    largest = world.runner.recipe.largest
    history.step(30)
    assert world.compilation.variants
    history.close()
    found = replay(path, verify=True)
    assert found.checks >= 3 and not found.wrong
    again = found.history.world
    assert (again.compile, again.runner.recipe.largest, again.compilation.variants) == ("now", largest, 1)


def test_a_change_of_the_mechanism_ends_compiled_steps() -> None:
    """At the edit, whatever was looked at in between, and not for good: the next edit of that kind begins anew."""
    history = im.History(world_of())
    world = history.world
    history.step(5)
    compile_now(history)
    history.step(5)
    assert world.compilation.variants == 1
    body = next(iter(world.model.bodies))
    mass = world.model.bodies[body].mass
    history.apply(edits.SetParameter(f"{body}.mass", 2 * mass))
    history.apply(edits.SetParameter(f"{body}.mass", mass))  # back, but it was another one
    assert world.runner.recipe is None or not world.runner.recipe.samples
    compile_now(history)
    history.apply(edits.Add("body", "more", {"mass": 0.1, "inertia": (1e-3,) * 3, "position": (0, 0, 1)}))
    assert world.runner.recipe is None or not world.runner.recipe.samples
    history.step(5)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"worlds": [1]}, "numbers from 0 to 0"),
        ({"worlds": [0, 0]}, "one for each of its worlds"),
        ({"states": np.full((1, 4), np.nan)}, "finite rows"),
        ({"states": [[0.0] * 4]}, "a ndarray"),
        ({"count": -1}, "a count >= 0"),
        ({"learns": 1}, "a bool"),
        ({"more": 1}, "an object with"),
    ],
)
def test_ways_of_a_file_are_looked_through(changed, told) -> None:
    """Nothing is traced from what a file claims to be a state."""
    good = Recipe(True, [Sample(0, np.zeros(4).tobytes())]).data()
    assert read_recipe(good, 4, 1) is not None
    assert read_recipe(good, 5, 1) is None  # of another version
    older = {name: value for name, value in good.items() if name != "refusals"}
    assert read_recipe(older, 4, 1).refusals == 0
    with pytest.raises(FileError, match=told):
        read_recipe(good | changed, 4, 1)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (edits.Compile(((1.0, 2.0),), (0,)), "finite numbers"),
        (edits.Compile(((1.0,),), ()), "each with its world"),
        (edits.Compile(((1.0,),) * 99, (0,) * 99), f"at most {MOST_VARIANTS}"),
    ],
)
def test_states_that_are_none_are_refused(edit, told) -> None:
    world = world_of()
    before = world.hash()
    with pytest.raises(im.EditError, match=told):
        world.apply(edit)
    assert world.hash() == before


def test_a_session_compiles_beside_itself(tmp_path) -> None:
    """compile="auto": the kernel's bits until the edit, which comes by itself; the file replays to the bit."""
    path = tmp_path / "one.journal"
    generic = world_of()
    history = im.History(world_of("auto"), path, hash_steps=50)
    until = time.monotonic() + 60.0
    while not history.world.compilation.variants and time.monotonic() < until:
        history.step()
        if not history.world.compilation.variants:
            generic.step()
        time.sleep(0.002)
    assert history.world.compilation.variants, history.world.compilation.refused
    assert any(isinstance(event.edit, edits.Compile) for event in history._events)
    assert history.undoable is None
    assert np.abs(generic.state.read("q") - history.world.state.read("q")).max() < 0.1
    history.step(100)
    history.close()
    found = replay(path, verify=True)
    assert found.checks > 0 and not found.wrong
    assert found.history.world.compilation.variants >= 1
