"""Contact by impulses: rest, friction, impact, loops, and the bits, against closed forms."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.shapes import Plane

G = 9.81


def turned(axis, angle: float) -> tuple:
    axis = np.array(axis, float)
    return (*(axis / np.linalg.norm(axis) * np.sin(angle / 2)), np.cos(angle / 2))


def floor(friction: float = 0.5, restitution: float = 0.0, angle: float = 0.0, **more) -> im.Model:
    """A plane of one material, turned about y."""
    model = im.Model("contact")
    model.material("stuff", friction=friction, restitution=restitution, **more)
    model.obstacle("floor", Plane(), material="stuff", orientation=turned((0, 1, 0), angle))
    return model


def box(model: im.Model, name: str, position, size: float = 0.2, mass: float = 1.0, **more) -> None:
    model.body(name, mass=mass, shape=im.Box((size, size, size), material="stuff"), position=position, **more)


def on_slope(part: float) -> tuple[im.World, float]:
    """A box on a slope of a part of the friction angle's tangent."""
    angle = np.arctan(0.5 * part)
    model = floor(0.5, angle=angle)
    up = np.array([np.sin(angle), 0, np.cos(angle)])
    box(model, "box", 0.1 * up, orientation=turned((0, 1, 0), angle))
    return im.World(model), angle


def test_a_box_holds_on_a_slope_below_the_friction_angle():
    world, _ = on_slope(0.99)
    start = np.array(world.body("box").position)
    world.step(1000)
    assert np.linalg.norm(np.array(world.body("box").position) - start) < 1e-12


def test_a_box_slides_down_a_slope_beyond_it():
    world, angle = on_slope(1.01)
    start = np.array(world.body("box").position)
    world.step(200)
    way = np.linalg.norm(np.array(world.body("box").position) - start)
    right = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * world.time**2
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


def test_bodies_that_start_inside_each_other_come_apart_without_speed():
    model = floor()
    box(model, "low", (0, 0, 0.0), 0.1)
    box(model, "high", (0, 0, 0.1), 0.1)
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
