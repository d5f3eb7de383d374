"""GPS: the constellation at its check points, the scatter that dilution predicts, streets, and no fix."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

import impulsar as im
from impulsar.observe.gps import NAMES, Receiver, constellation, geodetic, geographic, solve

S = im.sensors


def standing(obstacles=(), worlds: int = 1, at=(0.0, 0.0, 1.5), **options) -> im.World:
    """A receiver that stands, among boxes given by size and position."""
    model = im.Model("ground")
    model.body("car", mass=100.0, inertia=(10, 10, 10), position=at)
    model.joint("stands", "fixed", "ground", "car", at=at)
    for k, (size, position) in enumerate(obstacles):
        model.obstacle(f"house {k}", im.Box(size), position=position)
    model.sensor("gps", S.Gps("car", **options))
    return im.World(model, dt=1.0, worlds=worlds)


def receiver(world: im.World) -> Receiver:
    return world.runner.bench.sensors.devices["gps"]._receiver


def test_a_satellite_and_a_place():
    """A1 at the epoch as tabled; geographic coordinates come back to 1e-9 rad and m."""
    assert constellation(0.0)[0] == pytest.approx([-2511262.8, -15042441.8, -21744796.3], abs=0.05)
    assert np.linalg.norm(constellation(5000.0), axis=1) == pytest.approx(26559.7e3, rel=1e-12)
    given = math.radians(39.98), math.radians(116.34), 57.0
    place, axes = geodetic(*given)
    assert geographic(place) == pytest.approx(given, abs=1e-8)
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-14)


@pytest.mark.parametrize(
    "time, seen, gdop",
    [
        (0.0, "A2 B1 C2 C3 D3 F3 F4", 2.210),
        (3600.0, "A2 A4 B1 C2 C3 D3 F3 F4", 2.010),
        (7200.0, "A3 A4 B1 C2 C3 D2 F3 F4", 1.884),
    ],
)
def test_satellites_in_view_at_the_check_point(time, seen, gdop):
    """39.98 N, 116.34 E, h 0, mask 5°: as counted apart from this program; PDOP 1.940, HDOP 1.047, VDOP 1.633 at 0."""
    world = standing(time=time, at=(0, 0, 0), noise=0.0, slow=0.0, clock=False)
    _, direct, _, far = receiver(world).sight(0.0)
    assert " ".join(name for name, there in zip(NAMES, direct[0], strict=True) if there) == seen
    found = dict(zip(world.sensor("gps").channels, world.sensor("gps").value, strict=True))
    assert found["gdop"] == pytest.approx(gdop, abs=6e-4) and found["satellites"] == len(seen.split())
    if time == 0.0:
        assert [found[n] for n in ("pdop", "hdop", "vdop")] == pytest.approx([1.940, 1.047, 1.633], abs=6e-4)
        assert far[0][direct[0]].min() == pytest.approx(20526e3, abs=1e3)
        assert far[0][direct[0]].max() == pytest.approx(24533e3, abs=1e3)
    assert [found[f"position.{axis}"] for axis in "xyz"] == pytest.approx([0, 0, 0], abs=1e-6)


def test_scatter_is_what_dilution_predicts():
    """cov = σ² (GᵀG)⁻¹ for equal σ: horizontal and vertical mean squares within chi-square bounds at 1e-6."""
    worlds, sigma = 4000, 0.6
    world = standing(worlds=worlds, noise=sigma, slow=0.0, clock=False, multipath=0.0)
    value = world.sensor("gps").value
    off = value[:, :3] - (0, 0, 1.5)
    low, high = (chi2.ppf(p, worlds) / worlds for p in (5e-7, 1 - 5e-7))
    vertical = (off[:, 2] ** 2).mean() / (sigma * value[0, 8]) ** 2
    pos = (off**2).sum(axis=1).mean() / (sigma * value[0, 6]) ** 2
    assert low < vertical < high and low < pos < high
    assert np.abs(off.mean(axis=0)).max() < 4.892 * sigma * value[0, 6] / math.sqrt(worlds)


def test_clock_and_slow_errors():
    """The clock wanders and is solved for; slow errors have their σ and stay over minutes."""
    world = standing(worlds=500, noise=0.0, slow=3.0, multipath=0.0)
    memory = world.state.read("sensor")[1 + 9 : 1 + 9 + 26].copy()
    slow = memory[2:].ravel()
    low, high = (chi2.ppf(p, len(slow)) / len(slow) for p in (5e-7, 1 - 5e-7))
    assert low < (slow**2).mean() / 9.0 < high
    first = world.sensor("gps").value[:, :3]
    world.step(60)
    assert np.corrcoef(first.ravel(), world.sensor("gps").value[:, :3].ravel())[0, 1] > 0.95  # e^(-60/3600) = 0.983
    assert world.sensor("gps").value[:, 3].std() > 1.0


def street(height: float, half: float = 10.0) -> list:
    """Two rows of houses along x."""
    return [((400.0, 10.0, height), (0.0, side * (half + 5.0), height / 2)) for side in (1.0, -1.0)]


def test_a_street_hides_what_geometry_says():
    """Walls of height H at w: seen if tan El > (H - h) |sin(Az - street)| / w, for every satellite over a day."""
    height, half = 10.0, 10.0
    world = standing(street(height, half), multipath=0.0, rate=1e-3)
    one, count = receiver(world), 0
    for hour in range(24):
        t = 3600.0 * hour
        at, seen, _, _ = one.sight(t)
        e = at[0] - (0.0, 0.0, 1.5)
        e /= np.linalg.norm(e, axis=1, keepdims=True)
        flat = np.hypot(e[:, 0], e[:, 1])
        free = e[:, 2] / flat > (height - 1.5) * np.abs(e[:, 1] / flat) / half
        far = np.abs(half * e[:, 0] / np.maximum(np.abs(e[:, 1]), 1e-12)) > 195.0  # beyond the houses' ends
        up = e[:, 2] > math.sin(math.radians(5.0))
        assert np.array_equal(seen[0][~far], (free & up)[~far])
        count += int(seen[0].sum())
    assert 60 < count < 24 * 8


def test_error_grows_in_a_street_and_reflections_are_late():
    """With multipath the error in a street is larger than in the open; the excess path is 2 d cos El cos ΔAz."""
    free = standing(worlds=200, slow=0.0, clock=False)
    narrow = standing(street(8.0), worlds=200, slow=0.0, clock=False)
    errors = [np.linalg.norm(world.sensor("gps").value[:, :2], axis=1).mean() for world in (free, narrow)]
    assert errors[1] > 2.0 * errors[0]
    one = standing([((400.0, 10.0, 60.0), (0.0, 15.0, 30.0))], rate=1e-3)
    at, _, excess, _ = receiver(one).sight(0.0)
    e = at[0] - (0.0, 0.0, 1.5)
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    there = np.isfinite(excess[0])
    assert there.any()
    assert excess[0][there] == pytest.approx(2.0 * 10.0 * -e[there, 1], rel=1e-9)


def test_fewer_than_four_give_no_fix_and_it_is_said():
    houses = street(60.0, 4.0)
    world = standing(houses, multipath=0.0)
    view = world.sensor("gps")
    found = dict(zip(view.channels, view.value, strict=True))
    assert found["satellites"] < 4 and not view.valid
    assert math.isnan(found["position.x"]) and math.isnan(found["gdop"])
    assert solve(np.eye(3) * 2e7, np.ones(3) * 2e7, np.eye(3), np.zeros(3)) is None
    assert standing().sensor("gps").valid
