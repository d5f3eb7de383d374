"""The text of CUDA kernels: on the CPU the bits of the CPU's own text, and taken by NVRTC for a GPU.

No GPU is needed: the kernels themselves run here one thread after the other, and NVRTC compiles without a driver.
"""

import numpy as np
import pytest
from warp._src import context

from impulsar.engine.compile.adjoint import Adjoint, Places
from impulsar.engine.compile.emit_c import parameters_of
from impulsar.engine.compile.emit_cuda import FEW, back_text, is_plain, rows_of, run_text
from impulsar.engine.compile.graph import Graph, apply
from impulsar.engine.compile.nvrtc import HostKernel, compiled, threads_of
from impulsar.engine.compile.reports import Tally
from impulsar.engine.compile.reverse import CompiledAdjoint
from impulsar.engine.compile.step import PARAMETER, STATE, TracedStep

from .stepping import SCENES, around, by_variants, take, traced_step

HOPPER = 90
with_nvrtc = pytest.mark.skipif(not context.runtime.nvrtc_supported_archs, reason="this Warp carries no NVRTC")


def address(array: np.ndarray | None) -> int:
    return 0 if array is None else array.ctypes.data


class Run:
    """A kernel `run` on the CPU, and the arrays that it is given."""

    def __init__(self, variants, states, parameters=None, given=None, taped=()):
        self.kernel = HostKernel(run_text(variants, parameters or {}, taped), "run", level=0)
        self.worlds = states.shape[1]
        self.state, self.before = states.copy(), np.full_like(states, np.nan)
        self.done, self.used = np.zeros(self.worlds, np.int32), np.zeros((3 + len(variants), self.worlds), np.int32)
        self.missing = np.zeros(1, np.int32)
        self.given = np.zeros((1, self.worlds)) if given is None else np.ascontiguousarray(given)
        self.starts = np.array([row.ctypes.data for row in self.given], np.uint64)
        self.pitches = np.ones(len(self.given), np.int64)

    def go(self, to: int, before=False, tape=None, which=None, fresh=0) -> None:
        arrays = self.state, self.starts, self.pitches, self.done, self.used, self.missing
        kept = self.before if before else None
        self.kernel.launch(self.worlds, *map(address, (*arrays, kept, tape, which)), self.worlds, to, fresh)


@pytest.mark.parametrize(
    "name, method, dt, parameters, loops",
    [*((*one, False) for one in SCENES), *((*SCENES[k], True) for k in (2, 4))],
)
def test_a_kernel_takes_the_steps_of_the_cpus_text(name, method, dt, parameters, loops) -> None:
    """To the bit over 200 steps, as many before a guard breaks, in worlds of different states; and NVRTC takes it."""
    step, start = traced_step(name, method, dt, parameters, loops)
    assert bool(step.graph.loops) == loops
    states = around(start, 5, 1e-5)
    given = {one: k for k, one in enumerate(parameters_of(step))}
    values = np.array([[step.graph.values[step.graph.inputs[one]]] * 5 for one in given] or np.zeros((1, 5)))
    expected, done = take(step, states, 200, 1, 0, given, values)
    run = Run([step], states, given, values)
    run.go(200)
    counted = np.zeros_like(done) if is_plain(step) else done  # all worlds take all plain steps
    assert (run.state == expected).all() and (run.done == counted).all() and done.max() > 0
    assert (run.used[3] == counted).all() and run.missing[0] == (done < 200).sum()
    assert (run.used[0] > 0).any() == (run.used[2] > 0).any() == loops
    if context.runtime.nvrtc_supported_archs:
        code = compiled(run_text([step], given), HOPPER).read_bytes()
        assert code.startswith(b"\x7fELF") and b".text.run" in code


def climbing(up: float) -> TracedStep:
    """x ← x + up p, while x < 10 or not, as it comes out for up > 0 or not: two ways of one step."""
    graph = Graph()
    x = graph.input((STATE, 0), 0.0 if up > 0.0 else 20.0)
    p = graph.input((PARAMETER, "mass", 0, 0), 1.0)
    assert (x < 10.0) == (up > 0.0) and x < 100.0
    return TracedStep(graph, {0: (x + up * p).at, 2: apply("sin", x).at}, Tally(), [])


def test_a_world_goes_by_the_variant_that_holds_and_stops_where_none_does() -> None:
    """Up by its own p below 10, down by 9 p from there, none from 100 on; the state before the last step is kept."""
    variants, names = [climbing(1.0), climbing(-9.0)], {(PARAMETER, "mass", 0, 0): 0}
    states = np.zeros((3, 7))
    states[0] = [0.0, 4.5, 9.0, 30.0, 99.0, 100.0, np.nan]
    states[1] = 5.0  # nobody's
    given = np.array([[1.0, 0.5, 2.0, 1.0, 1.0, 1.0, 1.0]])
    expected, done, used = by_variants(variants, states, 12, names, given)
    run = Run(variants, states, names, given)
    run.go(12, before=True)
    assert np.array_equal(run.state, expected, equal_nan=True)
    assert run.done.tolist() == done.tolist() == [12, 12, 12, 12, 12, 0, 0] and (run.used[3:] == used).all()
    assert used[0].any() and used[1].any() and run.missing[0] == 2
    held, changed = rows_of(variants)
    assert held == changed == [0, 2]
    earlier, _, _ = by_variants(variants, states, 11, names, given)
    assert (run.before[0, :5] == earlier[0, :5]).all() and np.isnan(run.before[1]).all()


def test_launches_go_on_where_the_last_ended() -> None:
    """One launch of 12 steps is 5 and 7; a world that is done, or was ended, is left alone."""
    variants, names = [climbing(1.0)], {(PARAMETER, "mass", 0, 0): 0}
    states = np.zeros((3, 3))
    states[0] = [0.0, 5.0, -3.0]
    runs = [Run(variants, states, names, np.ones((1, 3))) for _ in range(2)]
    runs[0].go(12)
    runs[1].go(5)
    assert runs[1].done.tolist() == [5, 5, 5] and not runs[1].missing[0]
    runs[1].go(12)
    assert (runs[0].state == runs[1].state).all() and runs[1].done.tolist() == [10, 5, 12]
    assert runs[1].missing[0] == 2


def test_what_has_no_register_is_put_aside() -> None:
    """A chain of 50, of whose values most are: the same bits, by blocks of fewer threads, and NVRTC takes it."""
    step, start = traced_step("chain", "simgc", 1e-4, {"n": 50})
    text = run_text([step], {})
    assert "far[100]" in text and threads_of(text) == FEW
    states = around(start, 3, 1e-3)
    run = Run([step], states)
    run.go(20)
    assert (run.state == take(step, states, 20)[0]).all()
    if context.runtime.nvrtc_supported_archs:
        assert b".text.run" in compiled(text, HOPPER).read_bytes()


def test_an_adjoint_kernel_goes_back_as_the_cpus_does() -> None:
    """To the bit, over steps that a forward kernel took and kept, of two adjoints of which a step takes one."""
    step, start = traced_step("four-bar", SCENES[3][1], 1e-3, {})
    rows = sorted(step.outputs)
    adjoint = Adjoint(step, rows, [])
    places = Places(sorted(adjoint.read), [], rows)
    states, worlds, steps = around(start, 5, 1e-6), 5, 9
    run = Run([step], states, taped=places.read)
    tape, which = np.zeros((steps, len(places.read), worlds)), np.full((steps, worlds), -1, np.int32)
    run.go(steps, tape=tape, which=which)
    assert (which == 0).all() and (tape[0] == states[places.read]).all() and (run.done == steps).all()
    which[3, 2] = -1  # left out
    seeds = np.random.default_rng(1).normal(size=(len(rows), worlds))
    expected, _ = CompiledAdjoint({0: adjoint}, places, worlds).run(
        tape, which, np.zeros((0, worlds)), seeds, np.zeros((0, worlds))
    )
    numbers = np.zeros((places.size, worlds))
    numbers[places.adjoint : places.gradient] = seeds
    text = back_text([adjoint.placed(places)], places)
    HostKernel(text, "back", level=0).launch(worlds, *map(address, (tape, which, numbers)), worlds, steps)
    assert (numbers[places.adjoint : places.gradient] == expected).all() and np.abs(expected).max() > 0.0
    if context.runtime.nvrtc_supported_archs:
        assert b".text.back" in compiled(text, HOPPER).read_bytes()


@with_nvrtc
def test_products_and_sums_are_fused_only_where_asked() -> None:
    """By the PTX: none of the step's own is an fma, so that bits are those of the CPU."""
    graph = Graph()
    x = graph.input((STATE, 0), 0.5)
    text = run_text([TracedStep(graph, {0: (x * x + 0.25).at}, Tally(), [])], {})
    plain, fused = (
        compiled(text, HOPPER, fuse, ptx=True).read_text().partition(".entry run")[2] for fuse in (False, True)
    )
    assert "fma.rn.f64" not in plain and "mul.rn.f64" in plain and "fma.rn.f64" in fused


@with_nvrtc
def test_compiled_code_is_kept_by_its_text_and_generation() -> None:
    graph = Graph()
    x = graph.input((STATE, 0), 0.5)
    text = run_text([TracedStep(graph, {0: (x + 0.25).at}, Tally(), [])], {})
    path = compiled(text, HOPPER)
    age = path.stat().st_mtime_ns
    assert compiled(text, HOPPER) == path and path.stat().st_mtime_ns == age
    assert compiled(text, 80) != path
    path.write_bytes(b"spoiled")
    assert compiled(text, HOPPER).read_bytes().startswith(b"\x7fELF")


@with_nvrtc
def test_what_nvrtc_does_not_take_is_told(capfd) -> None:
    with pytest.raises(RuntimeError, match="refused by NVRTC"):
        compiled("no text of a kernel", HOPPER)
    assert "error" in capfd.readouterr().err
