"""Compiled steps of some worlds without the launches around them: the function `step` itself, again and again."""

import ctypes
from collections.abc import Sequence

import numpy as np

import impulsar as im
from impulsar.engine.compile.backend import compile_text
from impulsar.engine.compile.emit_c import END, START, emit
from impulsar.engine.compile.step import TracedStep, trace_step

FIXED = im.Direct(substeps=1)
SCENES = [  # that are traced without loops being kept
    ("chain", "simgc", 1e-4, {"n": 10}),
    ("ten-pendula", "simgc", 1e-3, {"start": "30deg"}),
    ("five-link", "simgc", 1e-3, {}),
    ("four-bar", FIXED, 1e-3, {}),
    ("peaucellier", FIXED, 1e-3, {}),
    ("slider-crank", FIXED, 1e-3, {}),
    ("cross-lift", FIXED, 1e-3, {}),
    ("chain", "direct", 1e-3, {"n": 3}),
]


def traced_step(name: str, method, dt: float, parameters: dict, loops: bool = False) -> tuple[TracedStep, np.ndarray]:
    """A step of a scene, with loops kept or not, and the state that it was traced at [row, 1]."""
    world = im.World(im.scene(name, **parameters), method=method, dt=dt)
    world.step(20)
    runner = world.runner
    bench = runner.system, runner.state, runner.work
    return trace_step(runner.method, *bench, keep_loops=loops), runner.state.numpy().copy()


def around(start: np.ndarray, worlds: int, size: float) -> np.ndarray:
    """States of so many worlds, each a little off."""
    off = np.random.default_rng(4).normal(size=worlds)
    off[0] = 0.0
    return np.repeat(start, worlds, axis=1) * (1.0 + size * off)


def many(width: int, rows: int) -> str:
    """C: steps of the worlds of a register as long as guards hold, rows [row, world of the register]."""
    return f"""{START}
void many(double *rows, const double *given, long long *done, long long steps, long long parameters) {{
  real all[{rows} + 2], *const s = all + 2, p[64];
  mask going;
  for (int i = 0; i < {width}; ++i) LANE(going, i) = -1;
  for (int k = 0; k < {rows}; ++k) for (int i = 0; i < {width}; ++i) LANE(s[k], i) = rows[k * {width} + i];
  for (int k = 0; k < parameters; ++k) for (int i = 0; i < {width}; ++i) LANE(p[k], i) = given[k * {width} + i];
  for (int n = 0; n < steps && ANY(going); ++n) {{
    going = step(s, p, going);
    for (int i = 0; i < {width}; ++i) done[i] -= LANE(going, i);
  }}
  for (int k = 0; k < {rows}; ++k) for (int i = 0; i < {width}; ++i) rows[k * {width} + i] = LANE(s[k], i);
}}
{END}
"""


Many = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_longlong] * 2)


def take(
    step: TracedStep,
    states: np.ndarray,
    steps: int,
    width: int = 1,
    most: int = 0,
    parameters: dict[tuple, int] | None = None,
    given: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """States [row, world] after so many steps, as far as guards hold, and how many each world took."""
    parameters = parameters or {}
    rows, worlds = states.shape
    call = Many(compile_text(emit(step, width, parameters, most) + many(width, rows), "many", level=0))
    after, done = states.copy(), np.zeros(worlds, np.int64)
    for first in range(0, worlds, width):
        mine = slice(first, first + width)
        part, count = np.ascontiguousarray(states[:, mine]), np.zeros(width, np.int64)
        values = np.ascontiguousarray(np.zeros((1, width)) if given is None else given[:, mine])
        call(part.ctypes.data, values.ctypes.data, count.ctypes.data, steps, len(parameters))
        after[:, mine], done[mine] = part, count
    return after, done


def by_variants(
    variants: Sequence[TracedStep], states: np.ndarray, steps: int, parameters: dict[tuple, int], given: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by several variants, each step by one that holds; and how often each did, [variant, world]."""
    states, worlds = states.copy(), states.shape[1]
    used = np.zeros((len(variants), worlds), np.int64)
    for w in range(worlds):
        mine, n = slice(w, w + 1), 0
        while n < steps:
            for k, step in enumerate(variants):
                after, done = take(step, states[:, mine], steps - n, 1, 0, parameters, given[:, mine])
                if done[0]:
                    states[:, mine], used[k, w], n = after, used[k, w] + done[0], n + int(done[0])
                    break
            else:
                break
    return states, used.sum(axis=0), used
