"""Compiled text: the graph's own values, in every world of a register, and worlds stopped where guards break."""

import ctypes
import math

import numpy as np
import pytest

from impulsar.engine.compile import backend
from impulsar.engine.compile.backend import compile_text
from impulsar.engine.compile.calls import Call, address, run_of
from impulsar.engine.compile.emit_c import WIDTHS, WILD, emit
from impulsar.engine.compile.graph import Graph, Untraceable, apply
from impulsar.engine.compile.reports import Tally
from impulsar.engine.compile.sines import arctangent
from impulsar.engine.compile.step import STATE, TracedStep


def run(graph: Graph, outputs: dict, state: np.ndarray, steps: int, width: int) -> np.ndarray:
    """Steps that each world has taken; the state is left where it came to."""
    worlds = state.shape[1]
    step = TracedStep(graph, outputs, Tally(), [])
    table = np.array([compile_text(emit(step, width, {}), "step")], np.uint64)
    done, used = np.zeros(worlds, np.int64), np.zeros((4, worlds), np.int64)
    call = Call(state=address(state), step=address(table), variants=1, worlds=worlds, end=worlds, steps=steps, fresh=1)
    call.done, call.used = address(done), address(used)
    short = run_of(len(state), 0, width)(ctypes.addressof(call)) % WILD
    assert short == (done < steps).sum() and (used[3] == done).all()
    return done


@pytest.mark.parametrize("width", WIDTHS)
def test_every_operation_is_that_of_the_graph(width) -> None:
    """Sums, products, roots to the bit; what the C library has, as it has it; sines as `sines` has them."""
    graph = Graph()
    a, b = graph.input((STATE, 0), 0.3), graph.input((STATE, 1), 0.7)
    made = [a + b, a - b, a * b, a / b, -a, *(apply(op, a) for op in ("sqrt", "abs", "tan", "exp", "floor", "round"))]
    made += [apply(op, a, b) for op in ("max", "min", "atan2", "pow")]
    made += [apply(op, a) for op in ("log", "tanh", "atan", "asin", "acos", "sin", "cos")]
    state = np.zeros((len(made) + 2, 8))
    state[:2] = np.random.default_rng(3).uniform(0.01, 0.99, size=(2, 8))
    given = state[:2].copy()
    run(graph, {k + 2: one.at for k, one in enumerate(made)}, state, 1, width)
    for world in range(8):
        expected = graph.evaluate({(STATE, 0): given[0, world], (STATE, 1): given[1, world]}, [one.at for one in made])
        assert state[2:, world].tolist() == expected


def test_sines_are_right_to_the_last_bit_for_all_angles() -> None:
    """To 2^-52 of themselves, and the same bits whatever the width; beyond 1e6 rad by the C library."""
    graph = Graph()
    a = graph.input((STATE, 0), 0.3)
    outputs = {1: apply("sin", a).at, 2: apply("cos", a).at}
    rng = np.random.default_rng(5)
    angles = np.concatenate(
        [
            rng.uniform(-9, 9, 4000),
            rng.uniform(-1e6, 1e6, 4000),
            np.arange(-64, 64) * math.pi / 4,
            [0.0, 1e-300, 1e7, -3e15],
            rng.normal(size=4) * 1e-9,
        ]
    )
    found = []
    for width in WIDTHS:
        state = np.zeros((3, len(angles)))
        state[0] = angles
        run(graph, outputs, state, 1, width)
        found.append(state)
    assert all((one == found[0]).all() for one in found)
    assert np.abs(found[0][1] - np.sin(angles)).max() <= 2**-52 and np.abs(found[0][2] - np.cos(angles)).max() <= 2**-52
    small = np.abs(np.sin(angles)) > 0.0
    assert np.abs(found[0][1][small] / np.sin(angles)[small] - 1.0).max() <= 2**-51


def test_angles_are_right_to_the_last_bits_all_around() -> None:
    """atan2 within 2^-51 of itself, the same bits whatever the width; and as `sines` has it."""
    graph = Graph()
    y, x = graph.input((STATE, 0), 0.3), graph.input((STATE, 1), 0.2)
    outputs = {2: apply("atan2", y, x).at}
    rng = np.random.default_rng(7)
    turns = np.concatenate([rng.uniform(-math.pi, math.pi, 3998), np.arange(-8, 9) * math.pi / 8, [1e-9]])
    size = 10.0 ** rng.uniform(-200, 200, len(turns))
    given = np.array([np.sin(turns) * size, np.cos(turns) * size])
    given = np.concatenate(
        [given, [[0.0, 0.0, 1e305, -2.0, 3e-320, math.inf, 5.0, 5.0], [0.0, -1.0, 2e305, 0.0, 4e-320, 1.0, 5.0, -5.0]]],
        1,
    )
    found = []
    for width in WIDTHS:
        state = np.zeros((3, given.shape[1]))
        state[:2] = given
        run(graph, outputs, state, 1, width)
        found.append(state[2])
    expected = np.arctan2(*given)
    assert all((one == found[0]).all() for one in found)
    assert found[0].tolist() == [arctangent(*pair) for pair in given.T.tolist()]
    assert (np.abs(found[0] - expected) <= 2**-51 * np.abs(expected)).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_world_stops_before_the_step_in_which_a_guard_breaks(width) -> None:
    """x ← x + 1 while x < 10, of worlds that begin at 0, 1, ..."""
    graph = Graph()
    x = graph.input((STATE, 0), 0.0)
    assert x < 10.0
    state = np.arange(16.0)[None].copy()
    done = run(graph, {0: (x + 1.0).at}, state, 6, width)
    start = np.arange(16)
    assert done.tolist() == np.clip(10 - start, 0, 6).tolist()
    assert state[0].tolist() == (start + done).tolist()


def test_what_is_no_number_breaks_a_guard_that_held() -> None:
    graph = Graph()
    x = graph.input((STATE, 0), 0.0)
    assert x <= 1.0 and not x > 2.0
    state = np.array([[0.5, math.nan, 0.25, math.inf]])
    assert run(graph, {0: (x * 0.5).at}, state, 1, 4).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_number_beyond_the_series_leaves_those_beside_it_their_bits(width) -> None:
    """Angles beyond 1e6 rad, sides beyond 1e300 and what is none are the C library's; their neighbours' are ours."""
    graph = Graph()
    a, y, x = (graph.input((STATE, k), 0.3) for k in range(3))
    made = [apply("sin", a), apply("cos", a), apply("atan2", y, x)]
    rng = np.random.default_rng(11)
    state = np.zeros((6, 64))
    state[:3] = rng.uniform(-9.0, 9.0, (3, 64))
    state[0, ::5], state[1, 1::7], state[2, ::9] = 3e7, 2e301, math.nan
    given = state[:3].copy()
    run(graph, {k + 3: one.at for k, one in enumerate(made)}, state, 1, width)
    for k in range(64):
        expected = graph.evaluate({(STATE, row): given[row, k] for row in range(3)}, [one.at for one in made])
        np.testing.assert_array_equal(state[3:, k], expected)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch) -> None:
    """Code then goes to a folder of the process; where there is none either, that is told as what is not compiled."""
    (tmp_path / backend.FOLDER).write_text("no folder")
    monkeypatch.setattr(backend.wp.config, "kernel_cache_dir", str(tmp_path))
    text = 'extern "C" double twice(double a) { return 2 * a; }'
    monkeypatch.setattr(backend, "_folder_of_process", lambda: tmp_path)
    twice = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(backend.compile_text(text, "twice", 0))
    assert twice(1.5) == 3.0 and list(tmp_path.glob("*.o"))
    monkeypatch.setattr(backend, "_folder_of_process", lambda: tmp_path / backend.FOLDER)
    with pytest.raises(Untraceable, match="what is compiled cannot be kept: "):
        backend.compile_text(text + " ", "twice", 0)
