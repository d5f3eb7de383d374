"""Contact: rest, friction, impact, rolling, loops, and the bits, against closed forms."""

import subprocess
import sys

import numpy as np
import pytest

import impulsar as im
from impulsar.author.rotations import multiply

G = 9.81


def turned(axis, angle: float) -> np.ndarray:
    axis = np.array(axis, float)
    return np.array([*(axis / np.linalg.norm(axis) * np.sin(angle / 2)), np.cos(angle / 2)])


def floor(friction: float = 0.5, restitution: float = 0.0, angle: float = 0.0, **more) -> im.Model:
    """A plane of one material, turned about y."""
    model = im.Model("contact")
    model.material("stuff", friction=friction, restitution=restitution, **more)
    model.obstacle("floor", im.Plane(), material="stuff", orientation=turned((0, 1, 0), angle))
    return model


def box(model: im.Model, name: str, position, size: float = 0.2, mass: float = 1.0, **more) -> None:
    model.body(name, mass=mass, shape=im.Box((size, size, size), material="stuff"), position=position, **more)


def on_slope(part: float, modes: bool = True, yaw: float = 0.0) -> tuple[im.World, float]:
    """A box on a slope of a part of the friction angle's tangent, turned on it."""
    angle = np.arctan(0.5 * part)
    model = floor(0.5, angle=angle)
    up = np.array([np.sin(angle), 0, np.cos(angle)])
    box(model, "box", 0.1 * up, orientation=multiply(turned((0, 1, 0), angle), turned((0, 0, 1), yaw)))
    return im.World(model, im.Direct(modes=modes)), angle


def test_a_box_holds_on_a_slope_below_the_friction_angle():
    world, _ = on_slope(0.99)
    start = np.array(world.body("box").position)
    world.step(1000)
    assert np.linalg.norm(np.array(world.body("box").position) - start) < 1e-12


@pytest.mark.parametrize("yaw", [0.0, 0.3, 0.7])
def test_a_box_slides_down_a_slope_beyond_it(yaw: float):
    world, angle = on_slope(1.01, yaw=yaw)
    start = np.array(world.body("box").position)
    world.step(200)
    way = np.linalg.norm(np.array(world.body("box").position) - start)
    right = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * world.time**2
    assert way == pytest.approx(right, rel=1e-9)
    by_impulses, _ = on_slope(1.01, modes=False)
    by_impulses.step(200)
    way = np.linalg.norm(np.array(by_impulses.body("box").position) - start)
    assert way == pytest.approx(right, rel=2e-3)


def test_contact_forces_carry_the_weight():
    world, _ = on_slope(0.9)
    world.step(5)
    found = world.contacts()
    assert len(found) == 4
    assert {(one.first, one.second) for one in found} == {("box", "floor")}
    assert all(one.mode == "sticks" for one in found if np.linalg.norm(one.force) > 1e-9)
    assert np.allclose(sum(-one.force for one in found), (0, 0, G), atol=1e-9)
    assert np.abs([one.gap for one in found]).max() < 1e-9
    assert np.allclose(world.body("box").acceleration, 0.0, atol=1e-9)
    data = world.run(0.05, variables=["contact_force"], progress=False)
    assert np.allclose(data.contact_force.sel(body="box").values[-1], (0, 0, G), atol=1e-9)


@pytest.mark.parametrize("gap", [0.0, 0.002])
def test_a_stack_stands(gap: float):
    model, rng, z = floor(), np.random.default_rng(0), 0.05 + gap
    for k in range(5):
        off = rng.uniform(-0.002, 0.002, 2) if gap else (0, 0)
        box(model, f"b{k}", (*off, z), 0.1, orientation=turned((0, 0, 1), 0.01 * rng.uniform(-1, 1) * (gap > 0)))
        z += 0.1 + gap
    world = im.World(model)
    world.step(100)
    before = np.array([world.body(f"b{k}").position for k in range(5)])
    world.step(100)
    after = np.array([world.body(f"b{k}").position for k in range(5)])
    assert np.abs(after - before).max() < 1e-10
    assert np.abs(after[:, 2] - (0.05 + 0.1 * np.arange(5))).max() < 1e-8


def test_heavy_on_light_does_not_sink():
    model = floor()
    for k in range(5):
        box(model, f"b{k}", (0, 0, 0.05 + 0.1 * k), 0.1, mass=1000.0 if k == 4 else 1.0)
    world = im.World(model)
    world.step(200)
    assert [world.body(f"b{k}").position[2] for k in range(5)] == pytest.approx(0.05 + 0.1 * np.arange(5), abs=1e-9)


def test_a_sphere_slips_and_then_rolls():
    model = floor(0.5)
    model.body("ball", mass=1.0, shape=im.Sphere(0.1, material="stuff"), position=(0, 0, 0.1), velocity=(2, 0, 0))
    world = im.World(model)
    world.step(100)
    assert world.body("ball").velocity[0] == pytest.approx(2 * 5 / 7, rel=1e-9)
    assert world.body("ball").angular_velocity[1] == pytest.approx(2 * 5 / 7 / 0.1, rel=1e-9)
    before = world.body("ball").position[0]
    world.step(100)
    assert world.body("ball").position[0] - before == pytest.approx(2 * 5 / 7, rel=1e-8)


def test_rolling_friction_brakes_a_ball():
    model = floor(0.5, rolling=0.002)
    start = 1.0
    model.body(
        "ball", mass=1.0, shape=im.Sphere(0.1, material="stuff"), position=(0, 0, 0.1), velocity=(start, 0, 0),
        angular_velocity=(0, start / 0.1, 0),
    )  # fmt: skip
    world = im.World(model)
    world.step(100)
    a = 0.002 * G / 0.1 / 1.4  # rolling arm · m g = (I / r + m r) a
    assert world.body("ball").velocity[0] == pytest.approx(start - a * world.time, rel=1e-3)


def test_spinning_friction_stops_a_top():
    model = floor(0.5, spinning=0.01)
    model.body(
        "ball", mass=1.0, shape=im.Sphere(0.1, material="stuff"), position=(0, 0, 0.1), angular_velocity=(0, 0, 5.0)
    )
    world = im.World(model)
    world.step(20)
    spin = 5.0 - 0.01 * G / (0.4 * 0.01) * world.time
    assert world.body("ball").angular_velocity[2] == pytest.approx(spin, rel=1e-6)


def test_a_bullet_touches_the_plate_where_it_should():
    for angle in (0.0, 0.7):
        model = im.Model("shot")
        model.gravity = (0, 0, 0)
        model.material("stuff", friction=0.2, restitution=0.0)
        way = np.array([np.sin(angle), 0, -np.cos(angle)])
        model.body("plate", mass=10.0, shape=im.Box((1, 1, 0.01), material="stuff"))
        model.body("ball", mass=0.01, shape=im.Sphere(0.005, material="stuff"), position=-3 * way, velocity=500 * way)
        world = im.World(model)
        world.step(2)
        ball, plate = world.body("ball"), world.body("plate")
        total = 0.01 * np.array(ball.velocity) + 10.0 * np.array(plate.velocity)
        assert np.allclose(total, 5.0 * way, atol=1e-12)
        assert abs(plate.velocity[2]) > 0.3


@pytest.mark.parametrize("angle", [0.0, 0.7, 1.4])
def test_an_oblique_bullet_touches_a_fixed_plate_at_its_place(angle: float):
    """It stays on the plate's face, and slides from where it touched at the speed that friction has left it."""
    model = im.Model("shot")
    model.gravity = (0, 0, 0)
    model.material("stuff", friction=0.2)
    model.obstacle("plate", im.Box((3, 1, 0.01)), material="stuff")
    way = np.array([np.sin(angle), 0, -np.cos(angle)])
    model.body("ball", mass=0.01, shape=im.Sphere(0.005, material="stuff"), position=-3 * way, velocity=500 * way)
    world = im.World(model)
    world.step()
    far = 3 - 0.01 / np.cos(angle)  # to the touch, which is at 0.01 above the plate's middle
    slides = 500 * np.sin(angle) - min(0.2 * 500 * np.cos(angle), 2 / 7 * 500 * np.sin(angle))
    x = (far - 3) * np.sin(angle) + slides * (world.time - far / 500)
    assert world.body("ball").position == pytest.approx([x, 0, 0.01], abs=1e-7)
    assert world.body("ball").velocity == pytest.approx([slides, 0, 0], abs=1e-9)


@pytest.mark.slow
def test_processes_have_the_same_bits():
    """Of a grip that closes, and of a stack that lands."""
    program = """
import impulsar as im
for name in ("grasp", "stack"):
    world = im.World(im.scene(name))
    world.step(130)
    print(world.hash())
"""
    own = []
    for name in ("grasp", "stack"):
        world = im.World(im.scene(name))
        world.step(130)
        own.append(str(world.hash()))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.split()[-2:] == own


def test_bodies_that_start_inside_each_other_come_apart_without_speed():
    model = floor()
    box(model, "low", (0, 0, 0.0), 0.1)
    box(model, "high", (0, 0, 0.1), 0.1)
    with pytest.warns(UserWarning, match="overlapped by"):
        world = im.World(model)
    world.step(20)
    assert world.body("low").position[2] == pytest.approx(0.05, abs=1e-9)
    assert world.body("high").position[2] == pytest.approx(0.15, abs=1e-9)
    assert np.abs(world.body("high").velocity).max() < 1e-9


def four_bar() -> im.Model:
    """A four-bar whose rocker rests on a block of ground: a loop and a contact at once."""
    model = im.Model("four-bar on a block")
    model.material("stuff", friction=0.3)
    model.obstacle("block", im.Box((0.2, 0.2, 0.2), material="stuff"), position=(1.0, 0.0, 0.05))
    ends = {
        "crank": ((0, 0, 0), (0, 0, 0.3)),
        "coupler": ((0, 0, 0.3), (1.0, 0, 0.5)),
        "rocker": ((1, 0, 0.5), (1, 0, 1)),
    }
    for name, (a, b) in ends.items():
        a, b = np.array(a, float), np.array(b, float)
        axis = (b - a) / np.linalg.norm(b - a)
        tilt = np.arctan2(axis[0], axis[2])
        model.body(
            name, mass=1.0, position=(a + b) / 2, orientation=turned((0, 1, 0), tilt),
            shape=im.Capsule(0.02, np.linalg.norm(b - a), material="stuff" if name == "coupler" else None),
        )  # fmt: skip
    for name, first, second, place in (
        ("A", "ground", "crank", (0, 0, 0)), ("B", "crank", "coupler", (0, 0, 0.3)),
        ("C", "coupler", "rocker", (1, 0, 0.5)), ("D", "ground", "rocker", (1, 0, 1.0)),
    ):  # fmt: skip
        model.joint(name, "revolute", first, second, at=place, axis=(0, 1, 0))
    return model


def test_a_loop_and_a_contact_hold_together():
    world = im.World(four_bar())
    world.step(300)
    assert np.max(world.constraint_error()) < 1e-9
    assert np.isfinite(world.energy().total)


def test_books_balance_with_contacts():
    world, _ = on_slope(1.2)
    world.step(100)
    books = world.energy()
    assert books.losses["contacts"] > 0.1
    assert abs(books.imbalance) < 0.01 * books.losses["contacts"]


def test_snapshots_and_batches_have_the_same_bits():
    model = floor(0.4, 0.3)
    for k in range(3):
        box(model, f"b{k}", (0.01 * k, 0, 0.06 + 0.12 * k), 0.1)
    world = im.World(model)
    world.step(20)
    kept = world.snapshot()
    world.step(30)
    once = world.hash()
    world.restore(kept)
    for _ in range(30):
        world.step()
    assert world.hash() == once
    batch = im.World(model, worlds=3)
    batch.step(50)
    for k in range(3):
        assert np.array_equal(np.array(batch.body(f"b{k}").position)[1], np.array(world.body(f"b{k}").position))


def test_too_many_contacts_are_told():
    model = floor()
    for k in range(3):
        box(model, f"b{k}", (0.3 * k, 0, 0.1))
    world = im.World(model, contacts=8)
    report = world.step()
    assert report.overflows == ("world 0 needs 12 contacts and has room for 8: World(contacts=16)",)
    assert "contacts=16" in str(report.trouble[0])
    with pytest.raises(im.StepError, match="contacts=16"):
        im.World(model, contacts=8, strict=True).step()


# at the order of the integrator ---------------------------------------------------------------------------


def ball_on(model: im.Model, position, **more) -> im.World:
    model.body("ball", mass=1.0, shape=im.Sphere(0.1, material="stuff"), position=position, **more)
    return im.World(model)


def test_a_ball_bounces_when_it_should():
    """Twenty bounces of restitution 0.8, then rest."""
    world = ball_on(floor(0.0, 0.8), (0, 0, 1.1))
    fall = np.sqrt(2 / G)
    times, v = [fall], G * fall
    for _ in range(80):
        v *= 0.8
        times.append(times[-1] + 2 * v / G)
    worst = 0.0
    while world.time < times[20]:
        world.step()
        k = int(np.searchsorted(times, world.time))
        t = world.time - (times[k - 1] if k else 0.0)
        right = 1.1 - G * t**2 / 2 if k == 0 else 0.1 + G * fall * 0.8**k * t - G * t**2 / 2
        worst = max(worst, abs(world.body("ball").position[2] - right))
    assert worst < 1e-9
    world.step(200)
    assert world.body("ball").position[2] == pytest.approx(0.1, abs=1e-9)
    assert abs(world.body("ball").velocity[2]) < 1e-9


def test_slip_turns_into_rolling():
    world = ball_on(floor(0.5), (0, 0, 0.1), velocity=(2, 0, 0))
    changes = sum(world.step().mode_changes for _ in range(200))
    t = 2 * 2 / (7 * 0.5 * G)
    right = 2 * t - 0.5 * 0.5 * G * t**2 + 2 * 5 / 7 * (world.time - t)
    assert world.body("ball").position[0] == pytest.approx(right, abs=1e-9)
    assert changes == 1
    assert abs(world.energy().imbalance) < 1e-9


def test_a_block_slides_up_stops_and_holds():
    angle, start = 0.3, 1.5
    model = floor(0.5, angle=angle)
    up, out = np.array([-np.cos(angle), 0, np.sin(angle)]), np.array([np.sin(angle), 0, np.cos(angle)])
    box(model, "box", 0.1 * out, orientation=turned((0, 1, 0), angle), velocity=start * up)
    world = im.World(model)
    world.step(100)
    right = start**2 / 2 / (G * (np.sin(angle) + 0.5 * np.cos(angle)))
    assert (np.array(world.body("box").position) - 0.1 * out) @ up == pytest.approx(right, abs=1e-9)
    assert np.abs(world.body("box").velocity).max() < 1e-12


def test_a_box_falls_over_its_edge():
    from scipy.integrate import solve_ivp

    reach, lean = 0.2 / np.sqrt(2), 0.02
    model = floor(1.5)
    start = np.pi / 2 + lean
    box(
        model,
        "box",
        (reach * np.cos(start), 0, reach * np.sin(start)),
        orientation=turned((0, 1, 0), -np.pi / 4 - lean),
    )
    world = im.World(model)
    inertia = 0.2**2 / 6 + reach**2
    sure = solve_ivp(
        lambda t, y: [y[1], -G * reach * np.cos(y[0]) / inertia], (0, 0.45), [start, 0], rtol=1e-12, atol=1e-13
    ).y[0, -1]
    world.step(45)
    p = world.body("box").position
    assert np.arctan2(p[2], p[0]) == pytest.approx(sure, abs=1e-6)
    assert [one.mode for one in world.contacts()] == ["sticks", "sticks"]


def test_a_cradle_hands_its_impulse_on():
    model = im.Model("cradle")
    model.material("stuff", friction=0.0, restitution=1.0)
    for k in range(5):
        place = (k * (0.1 + 1e-4), 0, 0)
        model.body(
            f"b{k}", mass=1.0, shape=im.Sphere(0.05, material="stuff"), position=place, velocity=(float(k == 0), 0, 0)
        )
        model.joint(f"j{k}", "prismatic", "ground", f"b{k}", at=place, axis=(1, 0, 0))
    world = im.World(model)
    world.step(20)
    assert [world.body(f"b{k}").velocity[0] for k in range(5)] == pytest.approx([0, 0, 0, 0, 1], abs=1e-9)


def test_a_disc_rolls_straight():
    model = floor(0.8)
    model.body(
        "disc", mass=1.0, shape=im.Cylinder(0.2, 0.02, material="stuff"), position=(0, 0, 0.2),
        orientation=turned((1, 0, 0), np.pi / 2), velocity=(1, 0, 0), angular_velocity=(0, 5, 0),
    )  # fmt: skip
    world = im.World(model)
    world.step(100)
    assert np.allclose(world.body("disc").position, (1, 0, 0.2), atol=1e-9)


def test_nothing_sticks_to_a_smooth_wall():
    """A box at rest, pressed against a wall without friction, falls as if the wall were not there: z = -g t² / 2."""
    model = im.Model("smooth")
    model.material("ice", friction=0.0, restitution=0.0)
    model.obstacle("wall", im.Box((0.1, 4, 4), material="ice"), position=(0.25, 0, 0))
    model.body("box", shape=im.Box((0.4, 0.4, 0.2), material="ice"), density=500.0)
    model.load("push", "box", force=(50.0, 0, 0))
    world = im.World(model, dt=0.01)
    world.step(50)
    assert world.body("box").position == pytest.approx([0, 0, -9.81 * 0.5**2 / 2], abs=1e-9)
    assert world.body("box").velocity[2] == pytest.approx(-9.81 * 0.5, rel=1e-9)
    assert abs(world.energy().imbalance) < 1e-9 * 16 * 9.81


def test_static_friction_holds_more_than_sliding_friction():
    """A block on a belt, held by a spring: it sticks till static friction lets go."""
    model = im.Model("belt")
    model.material("stuff", friction=0.4, static=0.5)
    model.body("belt", mass=10.0, shape=im.Box((20, 1, 0.1), material="stuff"), position=(0, 0, -0.05))
    model.joint("drive", "prismatic", "ground", "belt", at=(0, 0, 0), axis=(1, 0, 0), motor=im.Motor(speed=0.1))
    box(model, "box", (0, 0, 0.1), velocity=(0.1, 0, 0))
    model.spring("spring", "ground", "box", (-1, 0, 0.0), (0, 0, 0.0), stiffness=20.0)
    world = im.World(model)
    goes = 0.5 * G / 20.0 / 0.1  # the time at which the spring pulls with the static bound
    world.step(int(goes / 0.01))
    stuck = world.body("box").position[0]
    assert stuck == pytest.approx(0.1 * world.time, abs=1e-8)
    world.step(20)
    assert world.body("box").position[0] < 0.1 * world.time - 1e-3


def test_a_rod_that_would_jam_is_left_to_impulses():
    """Painlevé's rod: at this angle and friction accelerations have no solution."""
    angle, length = np.deg2rad(63), 1.0
    model = floor(1.5)
    model.body(
        "rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-4), shape=im.Box((0.01, 0.01, length), material="stuff"),
        position=(0.3, 0, 0.5 * np.sin(angle) + 0.00227), orientation=turned((0, 1, 0), np.pi / 2 - angle),
        velocity=(-2.0, 0, 0),
    )  # fmt: skip
    world = im.World(model)
    for _ in range(20):
        world.step()
    assert np.isfinite(world.energy().total)
    assert world.energy().total <= world.energy().start + 1e-6


def test_a_coin_wobbles_at_its_tilt():
    """Several points of its rim are near the floor; one stands for all."""
    world = im.World(im.scene("rolling-disc", motion="euler", tilt_deg=20.0), dt=0.002)
    world.step(20)
    q = world.body("disc").orientation
    assert np.degrees(np.arccos(1 - 2 * (q[0] ** 2 + q[1] ** 2))) == pytest.approx(20.0, abs=1e-6)


def test_what_a_motor_presses_into_the_floor_is_told():
    model = floor()
    box(model, "box", (0, 0, 0.3))
    model.joint("press", "prismatic", "ground", "box", at=(0, 0, 0.3), axis=(0, 0, -1), motor=im.Motor(speed=0.5))
    world = im.World(model)
    report = world.step(60)
    assert report.overlap > 1e-3
    assert "overlap" in [one.cause for one in report.trouble]


# methods of sequential impulses ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_sweeps_hold_and_slide_to_their_order(method: str):
    """What sticks creeps by what the sweeps leave; what slides is of order 1."""
    for part in (0.9, 1.1):
        angle = np.arctan(0.5 * part)
        model = floor(0.5, angle=angle)
        out, down = np.array([np.sin(angle), 0, np.cos(angle)]), np.array([np.cos(angle), 0, -np.sin(angle)])
        box(model, "box", 0.1 * out, orientation=turned((0, 1, 0), angle))
        world = im.World(model, method)
        world.step(100)
        moved = np.array(world.body("box").position) - 0.1 * out
        right = max(0.0, 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)))
        assert moved @ down == pytest.approx(right, rel=0.02, abs=1e-5)
        assert abs(moved @ out) < 1e-6


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_sweeps_carry_a_stack(method: str):
    model = floor(0.5, 0.5)
    for k in range(3):
        box(model, f"b{k}", (0, 0, 0.06 + 0.12 * k), 0.1)
    world = im.World(model, method)
    world.step(200)
    assert [world.body(f"b{k}").position[2] for k in range(3)] == pytest.approx([0.05, 0.15, 0.25], abs=1e-5)
    assert {(one.first, one.second) for one in world.contacts()} == {("b0", "b1"), ("b1", "b2"), ("b0", "floor")}
