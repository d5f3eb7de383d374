"""Every scene without contact, compiled: a step to 1e-13, 200 steps to 1e-12 or as far as the scene can be foretold."""

import re

import numpy as np
import pytest

import impulsar as im
from impulsar.engine.compile.step import sample_outputs, trace_step
from impulsar.scenes import SCENES

from .test_steps import MANY, STEP

METHODS = {"simgc": "simgc", "fixed": im.Direct(substeps=1), "direct": "direct"}
PARAMETERS = {"ten-pendula": {"start": "30deg"}}
TOUCHING = (  # tests/engine/compile/test_touching.py has contacts
    *("grasp", "stone", "stack", "dominoes", "arch", "ball-pit", "newtons-cradle", "rolling-disc", "tippe-top", "cam"),
    *("ratchet", "geneva", "walker"),
)
FREE = sorted(set(SCENES) - set(TOUCHING))
TOO_LONG = {("minibaja", "simgc"), ("minibaja", "direct"), ("stewart-platform", "direct"), ("manipulator", "direct")}
QUICK = {
    *(("gear-train", "direct"), ("quarter-car", "direct"), ("bicycle-model", "simgc"), ("gps-drive", "fixed")),
    *(("buoy", "simgc"), ("fluid-drop", "fixed"), ("fluid-drop", "direct"), ("slider-crank", "simgc")),
    ("five-bar", "fixed"),
}
ROUGH = {("ten-pendula", "simgc"): 1.5e-13}  # a step there: eleven bodies on one ball; as much with no loop kept
ROUNDED = 2.0**-52  # of a state: what compiled steps may be off from the first step on


def build(name: str, method: str, compile: str = "off") -> im.World:
    return im.World(im.scene(name, **PARAMETERS.get(name, {})), method=METHODS[method], dt=1e-3, compile=compile)


def apart(a: im.World, b: im.World) -> float:
    """Largest difference of two states, of their size.

    But for the sub-step that error control wishes: the error is a small difference of sums, and its rounding is large.
    What it does to the motion is in the other rows.
    """
    one, other = (world.runner.state.numpy().copy() for world in (a, b))
    wished = a.runner.state.rows.get("direct.next_h")
    if wished is not None:
        one[wished] = other[wished] = 0.0
    return float((np.abs(one - other) / np.maximum(1.0, np.abs(one))).max())


def own_departure(name: str, method: str, generic: im.World) -> float:
    """How far the kernel comes to be from itself, from a state that was rounded otherwise after the first steps."""
    other = build(name, method)
    other.step(2)
    v = other.runner.state.read("v")
    signs = np.random.default_rng(1).choice((-1.0, 1.0), size=len(v))[:, None]
    other.runner.state.write("v", v * (1.0 + ROUNDED * signs) + 1e-17 * signs)
    other.runner.refresh()
    other.step(198)
    return apart(generic, other)


@pytest.mark.parametrize(
    "name, method",
    [
        pytest.param(name, method, marks=() if (name, method) in QUICK else pytest.mark.study)
        for name in FREE
        for method in METHODS
    ],
)
def test_a_scene_compiled_is_that_of_the_kernel(name, method) -> None:
    """Where 200 steps differ by more, the kernel differs as much from itself after one rounding: a scene's horizon."""
    generic, compiled = build(name, method), build(name, method, "now")
    for world in (generic, compiled):
        world.step(200)
    told = compiled.compilation
    if (name, method) in TOO_LONG:
        assert re.search(r"step of \d+ operations is too long|step has more than \d+ operations", told.refused)
        return
    assert not told.refused and told.variants >= 1
    far = apart(generic, compiled)
    assert far <= MANY or far <= 10.0 * own_departure(name, method, generic)

    runner = generic.runner
    step = trace_step(runner.method, runner.system, runner.state, runner.work, keep_loops=True)
    expected = runner.state.numpy()[:, 0].copy()
    for row, value in sample_outputs(step).items():
        expected[row] = value
    wished = list(range(len(expected)))[runner.state.rows.get("direct.next_h", slice(0, 0))]
    generic.step()
    after = runner.state.numpy()[:, 0]
    off = np.abs(after - expected) / np.maximum(1.0, np.abs(after))
    assert np.delete(off, wished).max() <= ROUGH.get((name, method), STEP)
