"""Kernels that share structures: what is launched computes what is written, and no thread has a copy of descriptors."""

import ctypes
import re

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar.engine.launch import launch, one_world, record_launch
from impulsar.engine.shared import FIRST, shared, structures_of
from impulsar.engine.spatial import f64


@wp.struct
class Inside:
    """A structure in another."""

    factor: wp.array(dtype=f64)


@wp.struct
class Given:
    """What the kernels here are given."""

    value: wp.array2d(dtype=f64)  # [row, world]
    other: wp.array2d(dtype=f64)
    more: wp.array2d(dtype=f64)
    inside: Inside


@wp.func(inline=False)
def scale(g: wp.ref[Given], rows: int, w: int) -> f64:
    total = f64(0.0)
    for k in range(rows):
        g.other[k, w] = g.inside.factor[0] * g.value[k, w]
        total += g.other[k, w]
    return total


@wp.func(inline=False)
def wander(g: wp.ref[Given], start: int, ends: int, w: int) -> f64:
    """Loops that are left, passed over, empty, in each other, and whose end changes while they run."""
    total = f64(0.0)
    end = int(ends)
    values = g.value
    for k in range(start, end):
        end = int(0)
        if k == 1:
            continue
        for j in range(k):
            if j > 2:
                break
            total += f64(10.0) * values[j, w]
        for _ in range(2):
            total += g.value[k, w]
        before = k - 1
        if before >= 0 and g.value[before, w] > f64(0.9):  # the first is asked for, and what is read is not
            total += f64(1000.0)
    return total


@wp.kernel(enable_backward=False)
def wandering_kernel(g: Given, sums: wp.array(dtype=f64)):
    w = wp.tid()
    sums[w] = wander(g, 0, g.value.shape[0], w) + wander(g, 4, 2, w)


@wp.kernel(enable_backward=False)
def scaled_kernel(g: Given, sums: wp.array(dtype=f64)):
    w = wp.tid()
    sums[w] = scale(g, g.value.shape[0], w)


@wp.kernel(enable_backward=False)
def each_kernel(g: Given, out: wp.array2d(dtype=f64)):
    k, w = wp.tid()
    out[k, w] = g.inside.factor[0] * g.value[k, w]


@wp.kernel(enable_backward=False)
def own_kernel(g: Given, inside: Inside, other: wp.array(dtype=f64), sums: wp.array(dtype=f64)):
    """It has another factor and other values, and the caller's structure stays."""
    w = wp.tid()
    g.inside.factor = other
    g.value = g.more
    sums[w] = scale(g, g.value.shape[0], w) + inside.factor[0]


@wp.kernel(enable_backward=False)
def plain_kernel(out: wp.array(dtype=f64)):
    out[wp.tid()] = f64(1.0)


ROWS, WORLDS = 3, 5


@pytest.fixture
def given() -> Given:
    made = Given()
    values = np.random.default_rng(1).normal(size=(ROWS, WORLDS))
    made.value = wp.array(values, dtype=f64, device="cpu")
    made.other, made.more = (wp.zeros((ROWS, WORLDS), dtype=f64, device="cpu") for _ in range(2))
    made.inside.factor = wp.array([1.7], dtype=f64, device="cpu")
    return made


def zeros(*shape: int) -> wp.array:
    return wp.zeros(shape, dtype=f64, device="cpu")


def test_same_bits_as_by_value(given):
    """The twin writes what the kernel writes that Warp hands the structure over to by value."""
    by_value, by_twin = zeros(WORLDS), zeros(WORLDS)
    wp.launch(scaled_kernel, WORLDS, inputs=[given, by_value], device="cpu")
    before = given.other.numpy().copy()
    given.other.zero_()
    launch(scaled_kernel, WORLDS, [given, by_twin], "cpu")
    assert np.array_equal(by_value.numpy(), by_twin.numpy()) and by_value.numpy().all()
    assert np.array_equal(before, given.other.numpy())


def test_threads_of_two_numbers(given):
    """A kernel over rows and worlds takes its structure as an array too, and begins at the first of all."""
    out = zeros(ROWS, WORLDS)
    record_launch(each_kernel, (ROWS, WORLDS), [given, out], "cpu")()
    assert np.array_equal(out.numpy(), 1.7 * given.value.numpy())
    assert FIRST not in shared(each_kernel).adj.arg_types and FIRST in shared(scaled_kernel).adj.arg_types


def test_kernels_without_structures():
    """Such a kernel of the same module is launched from the same twin module; one whose module has none is itself."""
    from impulsar.engine.freedoms import pose_kernel

    out = zeros(4)
    launch(plain_kernel, 4, [out], "cpu")
    assert out.numpy().tolist() == [1.0] * 4
    assert shared(plain_kernel).module is shared(scaled_kernel).module is not plain_kernel.module
    assert shared(pose_kernel) is pose_kernel and not structures_of(pose_kernel)


def test_replaced_arrays_are_followed(given):
    """A recorded launch reads the array that a structure has now, at any depth."""
    sums = zeros(WORLDS)
    recorded = record_launch(scaled_kernel, WORLDS, [given, sums], "cpu")
    recorded()
    first = sums.numpy().copy()
    given.value = wp.array(2.0 * given.value.numpy(), dtype=f64, device="cpu")
    given.inside.factor = wp.array([0.5 * 1.7], dtype=f64, device="cpu")
    recorded()
    assert np.allclose(sums.numpy(), first, rtol=1e-15) and first.any()
    given.inside.factor = wp.array([0.0], dtype=f64, device="cpu")
    recorded()
    assert not sums.numpy().any()


def test_fields_that_a_kernel_sets_are_its_own(given):
    """What a kernel puts into a structure holds for its threads, as by value; the next launch finds what was there."""
    sums, other, inside = zeros(WORLDS), wp.array([3.0], dtype=f64, device="cpu"), Inside()
    inside.factor = wp.array([0.25], dtype=f64, device="cpu")
    given.more = wp.array(2.0 * given.value.numpy(), dtype=f64, device="cpu")
    before, value, factor = bytes(given.__ctype__()), given.value.numpy().copy(), given.inside.factor
    record_launch(own_kernel, WORLDS, [given, inside, other, sums], "cpu")()
    assert np.allclose(sums.numpy(), 6.0 * value.sum(axis=0) + 0.25, rtol=1e-14)
    assert bytes(given.__ctype__()) == before and given.inside.factor is factor
    launch(scaled_kernel, WORLDS, [given, sums], "cpu")
    assert np.allclose(sums.numpy(), 1.7 * value.sum(axis=0), rtol=1e-14)


def test_loops_and_indices_do_what_is_written(given, tmp_path):
    """What is compiled has plain loops; it goes as Python does, where they end early, late or not at all."""
    sums, value = zeros(WORLDS), given.value.numpy()
    launch(wandering_kernel, WORLDS, [given, sums], "cpu")
    for w in range(WORLDS):
        total = 0.0
        for k in range(len(value)):
            if k != 1:
                total += 10.0 * sum(value[: min(k, 3), w]) + 2.0 * value[k, w]
                total += 1000.0 * (k > 0 and value[k - 1, w] > 0.9)
        assert np.isclose(sums.numpy()[w], total, rtol=1e-14)
    (path,) = wp.compile_aot_module(shared(wandering_kernel).module, device="cpu", module_dir=tmp_path)[:1]
    text = next(path.parent.glob("*.cpp")).read_text()
    assert "wander_0(" in text and "wp::range(" not in text


def test_readings_leave_a_world_alone():
    """A run, which reads all there is after every step, ends with the bits of as many steps."""
    ran, stepped = (im.World(im.scene("four-bar"), dt=1e-3) for _ in range(2))
    ran.run(0.01, every=0.001, progress=False)
    stepped.step(10)
    assert ran.runner.state.hash() == stepped.runner.state.hash()


def test_one_world(given):
    """One of many worlds: the others are left as they are."""
    sums, all_sums = zeros(WORLDS), zeros(WORLDS)
    launch(scaled_kernel, WORLDS, [given, all_sums], "cpu")
    one = one_world(scaled_kernel, [given, sums])
    for world in (3, 1):
        one(world)
    expected = np.where(np.isin(np.arange(WORLDS), (1, 3)), all_sums.numpy(), 0.0)
    assert np.array_equal(sums.numpy(), expected)


def test_no_private_descriptors_on_a_gpu(tmp_path):
    """In PTX for a GPU the kernel that is written has the structure in its local memory, the one launched has none.

    A descriptor of an array has 56 bytes; that PTX is made needs no GPU.
    """

    def largest(kernel: wp.Kernel) -> int:
        try:
            (path,) = wp.compile_aot_module(
                kernel.module, arch=90, module_dir=tmp_path / kernel.module.name, use_ptx=True
            )
        except (RuntimeError, AttributeError) as error:
            pytest.skip(f"Warp compiles nothing for CUDA here: {error}")
        entry = path.read_text(errors="replace").partition(".entry scaled_kernel")[2].partition("\n}")[0]
        assert "ret;" in entry
        return max(map(int, re.findall(r"__local_depot\d+\[(\d+)\]", entry)), default=0)

    assert largest(scaled_kernel) >= ctypes.sizeof(Given.ctype) >= 4 * 40
    assert largest(shared(scaled_kernel)) == 0
