"""Kernels without optimisation, which stand in while others are compiled: same bits, and they make way."""

import threading

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar.engine import stand_ins
from impulsar.engine.launch import record_launch
from impulsar.engine.relay import can_relay
from impulsar.engine.shared import quick, shared
from impulsar.world import workshop


@wp.struct
class Numbers:
    x: wp.array(dtype=wp.float64)


@wp.kernel(enable_backward=False)
def grow_kernel(m: Numbers):
    i = wp.tid()
    m.x[i] = m.x[i] * m.x[i] + m.x[i]


@pytest.fixture
def gate(monkeypatch):
    """Nothing is compiled beside before it is set; and nothing is in the cache."""
    gate = threading.Event()
    monkeypatch.setattr(stand_ins, "is_compiled", lambda kernel, device: False)
    monkeypatch.setattr(workshop, "have_compiled", lambda kernels: gate.wait(600.0))
    yield gate
    gate.set()
    stand_ins.wait()


def test_recorded_launches_change_over(gate):
    """The launch is the same; nobody notes the address of what stands in."""
    m = Numbers()
    m.x = wp.array([0.1, 0.7], dtype=wp.float64, device="cpu")
    stand_ins.begin([grow_kernel], [], workshop.have_compiled)
    assert stand_ins.stands_in_for(grow_kernel, "cpu") is quick(grow_kernel) is not shared(grow_kernel)
    assert stand_ins.stands_in_for(grow_kernel, "cuda:0") is None
    launch = record_launch(grow_kernel, 2, [m], "cpu")
    launch()
    assert not can_relay(launch, "cpu")
    gate.set()
    stand_ins.wait()
    assert stand_ins.stands_in_for(grow_kernel, "cpu") is None
    launch()
    assert can_relay(launch, "cpu")
    x = np.array([0.1, 0.7])
    for _ in range(2):
        x = x * x + x
    assert np.array_equal(m.x.numpy(), x)


@pytest.mark.parametrize("scene", ["peaucellier", "five-link"])
def test_bits_are_those_of_the_kernel(gate, scene):
    """Before, across and after the change, through loops, friction and impulses; a replay by another world agrees."""
    world = im.World(im.scene(scene), compile="auto")
    assert stand_ins.stands_in_for(world.method.kernel, "cpu") is not None
    world.step(10)
    world.grab(list(world.model.bodies)[-1], stiffness=50.0).move((0.02, 0.0, 0.03))
    world.step(10)
    gate.set()
    stand_ins.wait()
    assert not world.compilation.variants
    world.runner.step(10)
    beside = im.World(im.scene(scene), compile="off")
    beside.step(10)
    beside.grab(list(beside.model.bodies)[-1], stiffness=50.0).move((0.02, 0.0, 0.03))
    beside.step(20)
    assert np.array_equal(world.state.numpy(), beside.state.numpy())
    assert str(world.energy()) == str(beside.energy())


def test_who_measures_waits_for_the_kernel(gate):
    """A world that is not to be compiled beside runs by the optimised kernel from its first step on."""
    stand_ins.begin([grow_kernel], [], workshop.have_compiled)
    threading.Timer(0.2, gate.set).start()
    im.World(im.scene("four-bar"), compile="off")
    assert gate.is_set() and stand_ins.stands_in_for(grow_kernel, "cpu") is None


def test_the_workshop_finds_kernels_by_name():
    """Those of a module and those made when they are asked for; what it cannot find is refused, not a crash."""
    from impulsar.engine.methods import Direct

    for kernel in (Direct().kernel, Direct().touching_kernel):
        assert kernel.func.__qualname__ in vars(__import__(kernel.func.__module__, fromlist=["x"]))
    names = (("impulsar.engine.methods.direct", "no_kernel"),)
    answer = workshop.workshop().ask(workshop.Kernels(names, wp.config.kernel_cache_dir))
    assert "no_kernel" in answer.refused
