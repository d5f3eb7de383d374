"""Laws that scenes with contact show: stacks, arches and cradles, discs and tops, cams, ratchets, Geneva drives."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.author.rotations import rotation_matrix
from impulsar.scenes import cam, geneva, rolling_disc, tippe_top, walker

G = 9.81


def places(world: im.World) -> np.ndarray:
    return np.array([world.body(name).position for name in world.model.bodies])


def drifted(world: im.World, seconds: float) -> float:
    """The most that any body moves in so many seconds [m]."""
    before = places(world)
    world.step(round(seconds / world.dt))
    return float(np.abs(places(world) - before).max())


def supported(world: im.World, by: str) -> np.ndarray:
    """The force of an obstacle on what stands on it [N]."""
    return sum(
        (-c.force if c.second == by else c.force for c in world.contacts() if by in (c.first, c.second)), np.zeros(3)
    )


@pytest.mark.parametrize("parameters", [{}, {"ratio": 1000.0}, {"gap": 0.002, "offset": 0.002, "yaw": 0.01}], ids=str)
def test_a_stack_of_twenty_stands(parameters: dict):
    world = im.World(im.scene("stack", **parameters))
    world.step(100)
    assert drifted(world, 2.0) < 1e-8
    assert places(world)[:, 2] == pytest.approx(0.05 + 0.1 * np.arange(20), abs=1e-8)
    weight = G * sum(body.mass for body in world.model.bodies.values())
    assert supported(world, "floor") == pytest.approx([0, 0, weight], abs=1e-6 * weight)


def felled(height: float, dt: float) -> np.ndarray:
    """When each of fifteen dominoes has turned by 10°, over √(height / g)."""
    world = im.World(im.scene("dominoes", n=16, height=height), dt=dt)
    times = np.full(15, np.nan)
    while np.isnan(times).any() and world.time < 15 * math.sqrt(height / G):
        world.step()
        lean = np.array([world.body(f"domino{k + 1}").orientation[1] for k in range(15)])
        times[np.isnan(times) & (lean > math.sin(math.radians(5)))] = world.time
    return times / math.sqrt(height / G)


def test_dominoes_fall_in_a_wave_whose_speed_grows_with_the_root_of_their_height():
    """Froude's law: lengths times 4, times twice as long; and the wave soon runs steadily."""
    small, large = felled(0.048, 0.002), felled(0.192, 0.004)
    assert large == pytest.approx(small, rel=0.02)
    gaps = np.diff(small)
    assert gaps[-5:].max() < 1.1 * gaps[-5:].min()
    assert gaps[1] > 1.2 * gaps[-5:].mean()


@pytest.mark.parametrize("thickness", [0.2, 0.12])
def test_an_arch_stands_where_a_line_of_thrust_lies_within_it(thickness: float):
    world = im.World(im.scene("arch", thickness=thickness))
    assert drifted(world, 2.0) < 1e-6
    weight = G * sum(body.mass for body in world.model.bodies.values())
    assert supported(world, "floor") == pytest.approx([0, 0, weight], abs=1e-6 * weight)


def test_an_arch_falls_where_none_does():
    """Heyman 1969: at least 0.1075 of the radius."""
    world = im.World(im.scene("arch", thickness=0.09))
    assert drifted(world, 1.0) > 0.5


def test_balls_in_a_pit_do_not_sink_into_each_other():
    world = im.World(im.scene("ball-pit", n=50))
    deepest = 0.0
    for _ in range(40):
        world.step()
        deepest = max(deepest, *(-c.gap for c in world.contacts()), 0.0)
    assert len(world.contacts()) > 50
    assert deepest < 1e-3 * 0.03
    x, y, z = places(world).T
    assert max(abs(x).max(), abs(y).max()) < 0.18 and z.min() > 0.026


@pytest.mark.parametrize("gap", [1e-2, 1e-4])
def test_a_cradle_on_a_rail_passes_the_blow_on(gap: float):
    world = im.World(im.scene("newtons-cradle", kind="rail", gap=gap))
    world.step(20)
    speed = [world.body(f"ball{k + 1}").velocity[0] for k in range(5)]
    assert speed == pytest.approx([0, 0, 0, 0, 1], abs=1e-9)


def test_a_cradle_on_strings_passes_the_blow_on():
    """A ball is struck where the gaps before it have let the one before swing up: g gap / speed off, four times."""
    gap = 1e-4
    world = im.World(im.scene("newtons-cradle", gap=gap))
    world.step(30)
    speed = np.array([np.linalg.norm(world.body(f"ball{k + 1}").velocity) for k in range(5)])
    energy = 0.5 * speed[4] ** 2 + G * (world.body("ball5").position[2] + 0.3)
    assert energy == pytest.approx(0.5, abs=4 * G * gap)
    assert speed[:4].max() < 4 * G * gap


def test_a_thin_disc_rolls_as_the_closed_form_says():
    """a 0.05 m, 70°, 4 rad/s: ω3 = -11.673813 rad/s, circle 0.145923 m; Euler's disc at 20°: 47.902 rad/s."""
    tilt = math.radians(70)
    axis = np.array([0, -math.sin(tilt), math.cos(tilt)])
    turn, spin = rolling_disc.steady("rolling", tilt, 4.0, 1e-9)
    assert spin @ axis == pytest.approx(-11.673813, rel=1e-7)
    speed = np.linalg.norm(np.cross(spin, rolling_disc.contact(tilt, 1e-9)))
    assert speed / turn == pytest.approx(0.145923, rel=1e-5)
    assert rolling_disc.steady("euler", math.radians(20), 0.0, 1e-9)[0] == pytest.approx(47.902, rel=1e-5)


def test_a_disc_rolls_round_its_circle():
    model = im.scene("rolling-disc")
    world = im.World(model)
    start = world.body("disc").position
    world.step(round(model.duration / world.dt))
    tilt = math.acos(rotation_matrix(world.body("disc").orientation)[2, 2])
    assert tilt == pytest.approx(math.radians(70), abs=1e-9)
    radius = np.linalg.norm(model.bodies["disc"].velocity) / 4.0
    off = 4.0 * world.time - 2 * math.pi  # the round is not a whole number of steps
    assert world.body("disc").position - start == pytest.approx(
        (radius * math.sin(off), radius * (1 - math.cos(off)), 0), abs=1e-9
    )


def test_a_tippe_top_turns_over_and_keeps_jelletts_number():
    world = im.World(im.scene("tippe-top"))
    inertia = np.diag((tippe_top.RATIO, tippe_top.RATIO, 1.0)) * tippe_top.ALONG

    def read() -> tuple[float, float]:
        R = rotation_matrix(world.body("top").orientation)
        L = R @ inertia @ R.T @ world.body("top").angular_velocity
        return 0.02 * (L[2] - 0.3 * L @ R[:, 2]), R[2, 2]

    start, up = read()
    assert up > 0.98
    world.step(750)
    end, up = read()
    assert up < -0.9
    assert end == pytest.approx(start, rel=1e-6)
    assert world.body("top").position[2] == pytest.approx(0.02 - 0.006 * up, abs=1e-9)


def test_a_slow_tippe_top_does_not():
    world = im.World(im.scene("tippe-top", spin=60.0))
    world.step(750)
    assert rotation_matrix(world.body("top").orientation)[2, 2] > 0.95


def eccentric_lift(follower: str, angle: float) -> float:
    """Of the eccentric cam, e = 6 mm, R = 36 mm, roller 10 mm [m]."""
    if follower == "flat":
        return 0.006 * (1 - math.cos(angle))
    return -0.006 * math.cos(angle) + math.sqrt(0.046**2 - (0.006 * math.sin(angle)) ** 2) - 0.04


@pytest.mark.parametrize("follower", cam.FOLLOWERS)
def test_a_follower_goes_as_its_cam_says(follower: str):
    world = im.World(im.scene("cam", follower=follower))
    for _ in range(60):
        world.step(10)
        lift = eccentric_lift(follower, world.joint("shaft").position)
        assert world.joint("guide").position == pytest.approx(lift, abs=1e-9)


def test_a_cycloidal_cam_lifts_as_designed():
    """Its outline is a polygon of 360 corners: a side is ρ (2π/360)²/8 from the curve, at most 2.5e-6 m."""
    world = im.World(im.scene("cam", profile="cycloidal"))
    for _ in range(60):
        world.step(10)
        assert world.joint("guide").position == pytest.approx(cam.lift(world.joint("shaft").position), abs=2.5e-6)


def test_a_cam_throws_its_follower_off_beyond_the_speed_that_gravity_allows():
    """e ω² = g at 40.4 rad/s."""
    off = {}
    for speed in (38.0, 43.0):
        world = im.World(im.scene("cam", speed=speed))
        off[speed] = 0.0
        for _ in range(300):
            world.step()
            lift = eccentric_lift("flat", world.joint("shaft").position)
            off[speed] = max(off[speed], world.joint("guide").position - lift)
    assert off[38.0] < 1e-9
    assert off[43.0] > 1e-4


@pytest.mark.parametrize("teeth", [12, 16])
def test_a_ratchet_goes_back_by_less_than_a_tooth(teeth: int):
    world = im.World(im.scene("ratchet", teeth=teeth))
    world.step(1000)
    reached = world.joint("axle").position
    assert reached > 2 * math.pi
    world.step(500)
    held = world.joint("axle").position
    assert reached - 2 * math.pi / teeth < held < reached
    world.step(500)
    assert world.joint("axle").position == pytest.approx(held, abs=1e-9)
    # about the axle, what the pawl gives balances the load
    turn = sum(np.cross(c.point, -c.force if c.second == "pawl" else c.force)[2] for c in world.contacts())
    assert turn == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("slots", [4, 6])
def test_a_geneva_drive_turns_its_wheel_as_the_closed_form_says(slots: int):
    """tan φ = λ sin α / (1 - λ cos α), to the clearance over the radius at which the pin is nearest to the axle."""
    half = math.pi / slots
    lam = math.sin(half)
    world = im.World(im.scene("geneva", slots=slots))
    allowed = 1e-4 / (0.1 * (1 - lam)) + 1e-6
    for _ in range(200):
        world.step(10)
        turns, angle = divmod(world.joint("shaft").position + geneva.START + math.pi, 2 * math.pi)
        alpha = angle - math.pi
        phi = math.atan2(lam * math.sin(alpha), 1 - lam * math.cos(alpha))
        if abs(alpha) > math.pi / 2 - half:
            phi = math.copysign(half, alpha)
        assert world.joint("axle").position == pytest.approx(-(phi + half) - turns * 2 * half, abs=allowed)


def test_a_leg_of_the_walker_is_jansens():
    """Points at crank angle 0; the foot's way over a turn."""
    points = walker.plan(0.0)
    for key, place in {
        "X": (-24.0135, 31.2721),
        "W": (-74.7944, 8.1432),
        "V": (-59.2315, -28.0529),
        "F": (-43.1601, -91.7569),
    }.items():
        assert points[key] == pytest.approx(place, abs=1e-4)
    feet = np.array([walker.plan(angle)["F"] for angle in np.linspace(0, 2 * math.pi, 721)])
    assert feet[:, 0].min() == pytest.approx(-71.52, abs=0.01) and feet[:, 0].max() == pytest.approx(-3.61, abs=0.01)
    assert np.ptp(feet[:, 1]) == pytest.approx(22.46, abs=0.01)


def test_the_walker_walks_and_its_loops_stay_closed():
    """A foot on the ground goes back 57.4 units in 43 % of a turn: the walker forward by about 133 of 2 mm in one."""
    ways = []
    for dt in (0.01, 0.005):
        world = im.World(im.scene("walker"), dt=dt)
        worst = 0.0
        for _ in range(30):
            world.step(round(0.1 / dt))
            worst = max(worst, world.constraint_error())
        assert worst < 1e-9
        body = world.body("chassis")
        assert abs(body.position[1]) < 0.05 * body.position[0]
        assert body.position[2] == pytest.approx(world.model.bodies["chassis"].position[2], abs=0.005)
        ways.append(body.position[0])
    turns = world.joint("shaft").position / (2 * math.pi)
    assert ways[0] == pytest.approx(ways[1], rel=0.01)
    assert ways[1] / turns == pytest.approx(133 * 0.002, rel=0.1)
