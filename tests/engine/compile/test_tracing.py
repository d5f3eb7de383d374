"""The engine's functions as Python: copies, division and errors as Warp has them."""

import numpy as np
import pytest
import warp as wp

from impulsar.engine.compile.graph import Graph, Untraceable
from impulsar.engine.compile.tracing import naming, quotient, remainder, traced
from impulsar.engine.spatial import f64, vec3


@wp.func
def writes_into_a_copy(v: vec3, k: int):
    after = v
    after[0] = f64(9.0)
    v[1] = f64(k / 2)
    return after, v


@wp.kernel
def writes_kernel(v: wp.array(dtype=vec3), out: wp.array2d(dtype=vec3)):
    a, b = writes_into_a_copy(v[0], 7)
    out[0, 0] = a
    out[1, 0] = b
    out[2, 0] = v[0]


def test_assignments_and_parameters_are_copies_as_in_warp() -> None:
    given = wp.array(np.array([[1.0, 2.0, 3.0]]), dtype=vec3, device="cpu")
    out = wp.zeros((3, 1), dtype=vec3, device="cpu")
    wp.launch(writes_kernel, 1, inputs=[given], outputs=[out], device="cpu")
    from impulsar.engine.compile.symbols import vector

    v = vector(3)(1.0, 2.0, 3.0)
    a, b = traced(writes_into_a_copy)(v, 7)
    assert [a.c, b.c, v.c] == out.numpy()[:, 0].tolist()


@pytest.mark.parametrize("a, b", [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3)])
def test_whole_numbers_divide_towards_zero(a, b) -> None:
    assert quotient(a, b) == int(a / b)
    assert a == b * quotient(a, b) + remainder(a, b)


@wp.func
def counts_by_the_state(n: f64) -> int:
    total = int(0)
    for _ in range(int(n)):
        total += 1
    return total


def test_an_error_names_the_function() -> None:
    with pytest.raises(Untraceable, match=r"counts_by_the_state, line \d+: .*an integer"), naming():
        traced(counts_by_the_state)(Graph().input("n", 2.5))
