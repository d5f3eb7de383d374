"""The switch to compiled steps is not felt, and comes soon."""

import gc
import time

import pytest

import impulsar as im


@pytest.mark.timed
def test_a_model_of_30_bodies_is_compiled_beside_its_steps() -> None:
    """Within 3 s of building it; no step, nor the switch, takes 2 ms longer than one should: of four tries the best,
    since others' programs delay steps as well."""
    im.World(im.scene("four-bar"), method="simgc", compile="off")  # its kernels are compiled before any mechanism
    tries = []
    while len(tries) < 4 and not (tries and tries[-1][0] <= 3.0 and tries[-1][1] <= 2e-3):
        tries.append(switched())
    assert any(ready <= 3.0 and longest <= 2e-3 for ready, longest in tries), tries


def switched() -> tuple[float, float]:
    """How long a new mechanism takes to be compiled beside its steps, and its longest step [s]."""
    model = im.scene("chain", n=30)
    model.bodies["link1"].mass *= 1.0 + 1e-6 * (time.time() % 1000.0)  # nothing of it is in a cache
    world = im.World(model, method="simgc", dt=1e-4, compile="auto")
    gc.collect()
    gc.disable()
    try:
        began, longest = time.perf_counter(), 0.0
        while not world.compilation.variants and time.perf_counter() < began + 20.0:
            now = time.perf_counter()
            world.step()
            longest = max(longest, time.perf_counter() - now)
            time.sleep(0.001)
        ready = time.perf_counter() - began
    finally:
        gc.enable()
    assert world.compilation.variants, world.compilation.refused
    return ready, longest
