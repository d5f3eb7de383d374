"""Sensors that a launch samples between its steps: the bits of those that the host samples, in few launches."""

import math

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar.observe.noise import Noise
from impulsar.observe.samples import normal, uniform

from ..control.pendulum import WRITES, K, leaning

S = im.sensors
f64 = wp.float64
numbers = wp.array(dtype=wp.float64)
GAINS = wp.constant(wp.types.matrix((2, 4), wp.float64)(*K[:, [0, 2, 1, 3]].ravel()))


@wp.func
def lqr(time: f64, y: numbers, u: numbers):
    for i in range(2):
        total = f64(0.0)
        for k in range(4):
            total += GAINS[i, k] * y[k]
        u[i] = -total


def crank(**options) -> im.World:
    """A four-bar with a ball that rolls on a floor beside it, and a sensor of every kind that the device measures."""
    model = im.scene("four-bar")
    model.material("rubber", friction=0.5)
    model.obstacle("floor", im.Plane(), position=(0, 0, -1.0), material="rubber")
    ball = im.Sphere(0.1)
    model.body("ball", mass=1.0, inertia=(0.004,) * 3, position=(0.3, 2, -0.88), shape=ball, material="rubber")
    body, joint = next(iter(model.bodies)), next(iter(model.joints))
    rough = {"bias": 0.01, "walk": 0.02, "quantum": 1e-3}
    model.sensor("imu", S.Imu(body, (0.1, 0, 0), rate=500.0, noise=(0.1, 0.01), walk=0.01, limit=15.0))
    model.sensor("encoder", S.Encoder(joint, counts=4096, latency=0.004, rate=250.0, dropout=0.2))
    model.sensor("tacho", S.Encoder(joint, tachometer=True, rate=1000.0, density=0.01, **rough))
    model.sensor("cell", S.ForceTorque(list(model.joints)[-1], at=(0.1, 0, 0), rate=100.0, noise=0.3))
    model.sensor("touch", S.Touch("ball", rate=200.0, threshold=1.0))
    model.sensor("near", S.Proximity("ball", orientation=(0, math.sqrt(0.5), 0, math.sqrt(0.5)), distance=0.11))
    model.sensor("scan", S.Lidar("ball", azimuths=(0.0, 1.0, 2.0, 4.0), reach=4.0, rate=50.0, noise=0.01))
    model.sensor("eye", S.Camera(body, width=6, height=4, rate=50.0, noise=0.01))
    return im.World(model, dt=1e-3, **options)


def on_the_host(world: im.World, monkeypatch) -> im.World:
    monkeypatch.setattr(world.runner, "_can_enter", lambda: False)
    return world


def count_launches(world: im.World, monkeypatch) -> list[int]:
    """Steps of each launch from now on."""
    found: list[int] = []
    timed = world.runner._timed
    monkeypatch.setattr(world.runner, "_timed", lambda steps, launch: (found.append(steps), timed(steps, launch)))
    return found


def test_noise_of_kernels_is_that_of_numpy():
    """Uniform numbers to the bit, normal ones to rounding of log and cos."""
    noise = Noise(3, "one", 2)

    @wp.kernel(enable_backward=False)
    def draw(key: wp.array(dtype=wp.uint64), k: wp.uint64, u: wp.array2d(dtype=f64), n: wp.array2d(dtype=f64)):
        i, w = wp.tid()
        u[i, w] = uniform(key[w], k, 4, i)
        n[i, w] = normal(key[w], k, 0, i)

    out = [wp.zeros((500, 2), dtype=f64) for _ in range(2)]
    for sample in (0, 7, 10**9):
        wp.launch(draw, (500, 2), inputs=[wp.array(noise.keys, dtype=wp.uint64), wp.uint64(sample), *out])
        assert np.array_equal(out[0].numpy(), noise.uniform(sample, 4, 500))
        assert np.abs(out[1].numpy() - noise.normal(sample, 0, 500)).max() < 1e-14


@pytest.mark.parametrize("options", [{}, {"worlds": 2, "method": "simgc"}, {"coordinates": "generalized"}])
def test_the_same_bits_as_sampled_by_the_host(options, monkeypatch):
    """Every kind with every error, at rates of 50 to 1000 Hz over 300 steps: one state, and values that were read."""
    inside, outside = crank(**options), on_the_host(crank(**options), monkeypatch)
    for steps in (7, 193, 100):
        inside.step(steps)
        outside.step(steps)
        assert inside.hash() == outside.hash()
    for name in inside.model.sensors:
        assert np.array_equal(inside.sensor(name).value, outside.sensor(name).value)
        assert inside.sensor(name).valid is not False


def test_a_launch_does_not_end_at_a_sample(monkeypatch):
    """2000 steps at 1 kHz with a sensor sampled in each: some 20 launches, where the host takes 2000."""
    for host, most in ((False, 60), (True, 2000)):
        world = leaning()
        world.add("sensor", "imu", sensor=S.Imu("rod 2", rate=1000.0))
        if host:
            on_the_host(world, monkeypatch)
        launches = count_launches(world, monkeypatch)
        world.step(2000)
        assert sum(launches) == 2000 and len(launches) <= most
        assert len(launches) == 2000 or not host


def test_a_launch_ends_where_the_host_reads_a_sensor(monkeypatch):
    """GPS at 10 Hz: launches of 100 steps at most, the IMU beside it inside, all to the bits of the host."""
    worlds = []
    for host in (False, True):
        world = leaning()
        world.add("sensor", "imu", sensor=S.Imu("rod 2", rate=1000.0, noise=0.1))
        world.add("sensor", "gps", sensor=S.Gps("rod 1", rate=10.0))
        worlds.append(on_the_host(world, monkeypatch) if host else world)
    launches = count_launches(worlds[0], monkeypatch)
    for world in worlds:
        world.step(500)
    assert worlds[0].hash() == worlds[1].hash()
    assert max(launches) == 100


@pytest.mark.filterwarnings("ignore::impulsar.world.control.ControlWarning")
@pytest.mark.parametrize("steps, holds", [(19, True), (20, False)])
def test_a_function_inside_reads_sensors_that_are_late(steps, holds, monkeypatch):
    """LQR by encoders of 1 kHz, both inside: holds at 19 ms of latency, not at 20; the host's bits."""
    worlds = []
    for host in (False, True):
        world = leaning()
        for name in ("q1", "q2"):
            world.add("sensor", f"e {name}", sensor=S.Encoder(name, tachometer=True, rate=1000.0, latency=steps * 1e-3))
        world.attach("lqr", lqr, rate=1000.0, reads=("e q1", "e q2"), writes=WRITES)
        assert world.controllers["lqr"].inside
        worlds.append(on_the_host(world, monkeypatch) if host else world)
    for world in worlds:
        world.step(300)
    assert worlds[0].hash() == worlds[1].hash()
    assert (
        worlds[0].controllers["lqr"].faults == worlds[1].controllers["lqr"].faults == steps + 1
    )  # till the first has come
    worst, world = 0.0, worlds[0]
    world.step(3700)
    for _ in range(200):
        world.step(10)
        worst = max(worst, *(abs(world.joint(name).position) for name in ("q1", "q2")))
    assert bool(worst < 1e-3) is holds


def test_snapshots_and_histories_have_samples_inside():
    """A snapshot in the middle, put back, goes on to the same bits."""
    world = crank()
    world.step(120)
    kept = world.snapshot()
    world.step(130)
    end = world.hash()
    world.restore(kept)
    world.step(30)
    world.step(100)
    assert world.hash() == end
