"""What one waits for before a mechanism moves: kernels from an empty and a full cache, in a script and in the studio;
compiled steps of 30 bodies."""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

FRAME = """
import impulsar as im, json, time
world = im.World(im.scene('ten-pendula', start='30deg'))
world.step()
print(json.dumps([world.constraint_error(), time.time() - BEGAN, time.process_time()]))
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
            error, spent, work = _in_process(FRAME, cache)
            rows.append(_row(f"first frame of ten-pendula, {what} cache", spent, error, bound, work))
        spent, error = _in_process(COMPILED, cache)
        rows.append(_row("steps of a chain of 30 compiled, nothing cached", spent, error, 3.0))
    with tempfile.TemporaryDirectory() as cache:
        for what, bound in (("empty", 10.0), ("full", 1.0)):
            spent, error, work = _studio(cache)
            page = f"first frame of ten-pendula on the studio's page, {what} cache"
            rows.append(_row(page, spent, error, bound, work))
            _in_process(f"import impulsar.studio.session\n{FRAME}", cache)  # optimised kernels, which end with a studio
    with tempfile.TemporaryDirectory() as cache:
        _in_process(FRAME.replace("'30deg')", "'30deg'), method='simgc'"), cache)  # kernels
        spent, late, error = _in_process(AUTO, cache)
        rows.append(_row("steps of a chain of 30 compiled beside it, nothing cached", spent, error, 3.0))
        rows.append(_row("the longest step meanwhile", late, error, 0.002))
    return rows


def _row(what: str, spent: float, error: float, bound: float, work: float = math.nan) -> dict:
    row = {"wait": what, "seconds": spent, "processor [s]": work, "bound": bound, "holds": spent <= bound}
    return row | {"error [m, rad]": error}


def _in_process(program: str, cache: str):
    """What a fresh process prints, with this cache of kernels and of Python's bytecode; it knows when it BEGAN."""
    command = [sys.executable, "-c", f"BEGAN = {time.time()!r}\n{program}"]
    told = subprocess.run(command, check=True, env=_environment(cache), capture_output=True, text=True).stdout
    return json.loads(told.strip().splitlines()[-1])


def _environment(cache: str) -> dict[str, str]:
    environment = os.environ | {"WARP_CACHE_PATH": cache, "PYTHONPYCACHEPREFIX": f"{cache}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _studio(cache: str) -> tuple[float, float, float]:
    """From the command to the first frame with a step in it on its page; error and processor time when it has ended.

    The processor time is that of all its processes.
    """
    from ..studio.client import StudioClient

    command = [sys.executable, "-m", "impulsar", "studio", "ten-pendula", "--set", "start=30deg", "--no-browser"]
    command += ["--journal", f"{cache}/{time.time_ns()}.journal"]
    before, began = os.times(), time.time()
    with subprocess.Popen(command, env=_environment(cache), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            link = next(line for line in process.stdout if line.startswith("Impulsar studio: "))
            with StudioClient(link.partition(": ")[2].strip()) as client:
                client.frame(lambda frame: frame.time > 0.0)
                spent = time.time() - began
                error = client.frame().books["constraint_error"]
        finally:
            process.terminate()
            process.wait(60.0)
    now = os.times()
    return spent, error, now.children_user + now.children_system - before.children_user - before.children_system
