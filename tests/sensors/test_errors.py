"""Errors of sensors have the statistics that are stated, and follow from seed, name, world and sample alone.

Bounds at a false alarm of 1e-6 (FACTS: chi-square): s²/σ² in [0.97828, 1.02203] and |mean|/σ < 4.892/√n at n = 1e5,
20 equally likely bins χ²(19) < 63.68.
"""

import math

import numpy as np
import pytest
from scipy.stats import norm

import impulsar as im
from impulsar.history.history import History
from impulsar.history.replay import replay

WORLDS, STEPS = 1000, 100
N = WORLDS * STEPS
S = im.sensors


def spinner(worlds: int = 1, speed: float = 0.0, dt: float = 0.01, **sensors) -> im.World:
    """A body on a hinge that turns at a constant speed [rad/s]."""
    model = im.Model("spinner", gravity=(0, 0, 0))
    model.body("disc", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("pin", "revolute", "ground", "disc", at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(speed=speed))
    for name, sensor in sensors.items():
        model.sensor(name, sensor)
    return im.World(model, dt=dt, worlds=worlds)


def samples(world: im.World, name: str, steps: int = STEPS, channel: int = 0) -> np.ndarray:
    """One channel of a sensor after each of some steps [step, world]."""
    found = []
    for _ in range(steps):
        world.step()
        found.append(np.atleast_2d(world.sensor(name).value)[:, channel].copy())
    return np.array(found)


def check_white(x: np.ndarray, sigma: float) -> None:
    x = x.ravel() / sigma
    assert len(x) == N
    assert abs(x.mean()) < 4.892 / math.sqrt(N)
    assert 0.97828 < x.var() < 1.02203
    counts = np.bincount((norm.cdf(x) * 20).astype(int).clip(0, 19), minlength=20)
    assert ((counts - N / 20) ** 2 / (N / 20)).sum() < 63.68


def test_white_noise():
    """σ² = noise² + density² rate, normal, of no memory and without anything in common between worlds and channels."""
    world = spinner(WORLDS, e=S.Encoder("pin", tachometer=True, noise=0.03, density=0.004, rate=100.0, seed=5))
    both = np.array([(world.step(), world.sensor("e").value.T.copy())[1] for _ in range(STEPS)])
    x, y = both[:, 0], both[:, 1]
    check_white(x, 0.05)
    check_white(y, 0.05)
    for a, b in ((x[1:], x[:-1]), (x[:, 1:], x[:, :-1]), (x, y)):
        assert abs((a * b).mean()) / 0.05**2 < 4.892 / math.sqrt(a.size)


def test_bias_and_its_walk():
    """Increments of the bias are normal with variance walk² Δt."""
    world = spinner(WORLDS, e=S.Encoder("pin", bias=0.5, walk=0.2, rate=100.0))
    x = np.concatenate([np.atleast_2d(world.sensor("e").value[:, 0]), samples(world, "e")])
    check_white(np.diff(x, axis=0), 0.2 * math.sqrt(0.01))
    assert abs(x[0].mean() - 0.5) < 4.892 * 0.02 / math.sqrt(WORLDS)


def test_dropout_is_a_chance():
    """A lost sample leaves the one before; so many are lost as chance says, within 4.892 σ of the binomial."""
    world = spinner(WORLDS, speed=1.0, e=S.Encoder("pin", dropout=0.3, rate=100.0))
    lost = 0
    for _ in range(STEPS):
        world.step()
        lost += int((world.sensor("e").time < world.time - 1e-6).sum())
    assert abs(lost - 0.3 * N) < 4.892 * math.sqrt(0.21 * N)


@pytest.mark.parametrize("latency", [0.0, 0.03, 0.035, 0.1])
def test_latency_is_exact(latency):
    """What is read at t was sampled at the last sample time up to t - latency."""
    world = spinner(speed=1.0, e=S.Encoder("pin", latency=latency, rate=100.0))
    late = math.ceil(latency * 100 - 1e-9)
    x = np.concatenate([[np.nan] if late else [0.0], samples(world, "e", 40)[:, 0]])
    assert np.isnan(x[:late]).all()
    assert x[late:] == pytest.approx(np.arange(41 - late) * 0.01, abs=1e-12)
    assert world.sensor("e").time == pytest.approx(world.time - late * 0.01, abs=1e-12)


def test_latency_by_correlation():
    """The cross-correlation of white input and late output has its maximum at the delay."""
    a, b = (S.Encoder("pin", walk=1.0, rate=100.0, latency=latency, seed=3) for latency in (0.0, 0.17))
    x, y = (np.diff(samples(spinner(e=e), "e", 600)[:, 0]) for e in (a, b))
    x, y = x[100:], y[100:]
    score = [np.dot(x[: len(x) - k], y[k:]) for k in range(60)]
    assert int(np.argmax(score)) == 17


def test_counts():
    """A count of Δ has the variance Δ²/12 where motion spans many. At constant speed v = (n + f) Δ / T a difference
    over T is n or n + 1 counts, of variance f (1 - f) Δ²/T², in the mean over f the Δ²/(6 T²) of the books."""
    counts, speed = 4096, 0.7123
    world = spinner(speed=speed, e=S.Encoder("pin", counts=counts, rate=100.0))
    world.step()
    found = np.array([(world.step(), world.sensor("e").value)[1] for _ in range(4000)])
    delta = 2 * math.pi / counts
    off = found[:, 0] - speed * 0.01 * np.arange(2, 4002)
    assert off.var() == pytest.approx(delta**2 / 12, rel=0.05)  # equally spread, not by chance
    assert np.abs(found[:, 0] / delta - np.round(found[:, 0] / delta)).max() < 1e-9
    f = speed * 0.01 / delta % 1.0
    assert (found[:, 1] - speed).var() == pytest.approx(f * (1 - f) * delta**2 * 100.0**2, rel=0.01)
    assert found[:, 1].mean() == pytest.approx(speed, rel=1e-3)


def test_limit_and_errors_by_group():
    world = spinner(speed=2.0, i=S.Imu("disc", (0.5, 0, 0), limit=(1.0, 1.5), bias=(0.25, 0.0)))
    world.step()
    assert world.sensor("i").value == pytest.approx([-1.0, 0.25, 0.25, 0.0, 0.0, 1.5], abs=1e-12)


def test_same_seed_same_bits():
    noisy = dict(noise=0.1, walk=0.1, dropout=0.1)
    one, two, other = (spinner(3, e=S.Encoder("pin", seed=seed, **noisy)) for seed in (1, 1, 2))
    a, b, c = (samples(world, "e", 30) for world in (one, two, other))
    assert np.array_equal(a, b) and not (a == c).any()
    assert not (a[:, 0] == a[:, 1]).any()
    assert one.hash() == two.hash() != other.hash()


def test_snapshots_and_replay_are_exact(tmp_path):
    noisy = dict(noise=0.1, walk=0.1, dropout=0.1, latency=0.021, rate=300.0)
    world = spinner(2, speed=1.0, e=S.Encoder("pin", **noisy))
    world.step(7)
    moment = world.snapshot()
    expected = samples(world, "e", 20)
    world.restore(moment)
    assert np.array_equal(samples(world, "e", 20), expected)
    history = History(spinner(speed=1.0, e=S.Encoder("pin", **noisy)), tmp_path / "a.journal", hash_steps=10)
    history.step(40)
    history.apply(im.edits.SetParameter("e.noise", 0.2))
    history.step(40)
    end = history.world.hash()
    history.seek(0.2)
    history.step(60)
    assert history.world.hash() == end
    history.close()
    found = replay(tmp_path / "a.journal", verify=True)
    assert not found.wrong and found.checks >= 8


def test_looking_inside_steps_changes_no_sample():
    a, b = (spinner(speed=1.0, e=S.Encoder("pin", noise=0.1, rate=100.0)) for _ in range(2))
    a.run(0.5, at=[0.013, 0.222, 0.5], progress=False)
    b.run(0.5, progress=False, events=[im.Event("turn", lambda w: w.joint("pin").position - 0.3)])
    c = spinner(speed=1.0, e=S.Encoder("pin", noise=0.1, rate=100.0))
    c.step(50)
    assert a.hash() == b.hash() == c.hash()


@pytest.mark.parametrize("dt", [0.01, 0.004, 0.03])
def test_sampled_at_its_times_whatever_the_step(dt):
    world = spinner(speed=1.0, dt=dt, e=S.Encoder("pin", rate=70.0))
    for _ in range(20):
        world.step()
        k = math.floor(world.time * 70.0 + 1e-9)
        assert world.sensor("e").time == pytest.approx(k / 70.0, abs=1e-12)
        assert world.sensor("e").value[0] == pytest.approx(k / 70.0, abs=1e-12)


@pytest.mark.parametrize(
    "sensor, told",
    [
        (S.Encoder("pim"), "no joint named 'pim'.*'pin'"),
        (S.Imu("disk"), "no body named 'disk'.*'disc'"),
        (S.Encoder("pin", rate=0.0), "rate is 0"),
        (S.Encoder("pin", noise=(1.0, 2.0, 3.0)), "noise is .*expected 1 or 2 numbers"),
        (S.Encoder("pin", noise=-1.0), "noise is -1, expected numbers >= 0"),
        (S.Encoder("pin", dropout=2.0), "dropout is 2, expected a chance from 0 to 1"),
        (S.Encoder("pin", latency=1e6), "latency is 1000000 s.*lower the rate"),
        (S.Lidar("disc", azimuths=()), "has 0 channels"),
        (S.Gps("disc", latitude=100.0), "latitude is 100"),
        (3.0, "sensor is 3"),
    ],
)
def test_refusals_name_what_is_wrong(sensor, told):
    model = spinner().model.copy()
    with pytest.raises(im.ModelError, match=f"sensor 's': {told}"):
        model.sensor("s", sensor)
