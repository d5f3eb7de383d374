"""What one waits for before a mechanism moves: kernels from an empty and a full cache, compiled steps of 30 bodies."""

import json
import os
import subprocess
import sys
import tempfile
import time

FRAME = """
import impulsar as im, json, time
world = im.World(im.scene('ten-pendula', start='30deg'))
world.step()
print(json.dumps([world.constraint_error(), time.time() - BEGAN]))
"""
COMPILED = """
import impulsar as im, json, time
world, beside = (im.World(im.scene('chain', n=30), method='simgc', dt=1e-4, compile=how) for how in ('now', 'off'))
began = time.perf_counter()
world.step(3)
spent = time.perf_counter() - began
beside.step(3)
off = abs(world.runner.state.numpy() - beside.runner.state.numpy()).max()
print(json.dumps([spent, float(off)]))
"""
AUTO = """
import gc, impulsar as im, json, time
model = im.scene('chain', n=30)
world, beside = (im.World(model, method='simgc', dt=1e-4, compile=how) for how in ('auto', 'off'))
world.step()
gc.collect(), gc.disable()
began, ready, late = time.perf_counter(), 60.0, []
while ready == 60.0 and time.perf_counter() < began + 60.0 or len(late) < 500:
    now = time.perf_counter()
    world.step()
    late.append(time.perf_counter() - now)
    if ready == 60.0 and world.compilation.variants:
        ready = time.perf_counter() - began
    time.sleep(0.001)
beside.step(1 + len(late))
off = abs(world.runner.state.numpy() - beside.runner.state.numpy()).max()
print(json.dumps([ready, max(late), float(off)]))
"""


def run() -> list[dict]:
    """Every wait with its bound, and what came of it."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for what, bound in (("empty", 10.0), ("full", 1.0)):
            error, spent = _in_process(FRAME, cache)
            rows.append(_row(f"first frame of ten-pendula, {what} cache", spent, error, bound))
        spent, error = _in_process(COMPILED, cache)
        rows.append(_row("steps of a chain of 30 compiled, nothing cached", spent, error, 3.0))
    with tempfile.TemporaryDirectory() as cache:
        _in_process(FRAME.replace("'30deg')", "'30deg'), method='simgc'"), cache)  # kernels
        spent, late, error = _in_process(AUTO, cache)
        rows.append(_row("steps of a chain of 30 compiled beside it, nothing cached", spent, error, 3.0))
        rows.append(_row("the longest step meanwhile", late, error, 0.002))
    return rows


def _row(what: str, spent: float, error: float, bound: float) -> dict:
    return {"wait": what, "seconds": spent, "bound": bound, "holds": spent <= bound, "error [m, rad]": error}


def _in_process(program: str, cache: str):
    """What a fresh process prints, with this cache of kernels and of Python's bytecode; it knows when it BEGAN."""
    environment = os.environ | {"WARP_CACHE_PATH": cache, "PYTHONPYCACHEPREFIX": f"{cache}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", f"BEGAN = {time.time()!r}\n{program}"]
    told = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
    return json.loads(told.strip().splitlines()[-1])
