"""Bodies put into each other by an author or an edit: pushed apart without speed, at a cost that is told and booked."""

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis, edits

BOTH = ("generalized", "maximal")
G = 9.81


def floor_model() -> im.Model:
    model = im.Model("floor")
    model.obstacle("floor", im.Plane(), material="steel")
    model.body("first", mass=3.0, shape=im.Box((0.4, 0.4, 0.4)), position=(1, 0, 0.2), material="steel")
    return model


def half_in(size: float = 0.2) -> dict:
    return {"mass": 2.0, "shape": im.Box((size, size, size)), "position": (0, 0, 0), "material": "steel"}


def speed(world: im.World) -> float:
    bodies = [world.body(name) for name in world.model.bodies]
    return max(np.abs([body.velocity, body.angular_velocity]).max() for body in bodies)


def least_gap(world: im.World) -> float:
    return min(pair.gap for pair in analysis.clearance(world).pairs)


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("method", [name for name, own in im.METHODS.items() if hasattr(own, "touching_kernel")])
def test_half_in_the_floor_at_the_start(method, coordinates):
    """Up by half its size: m g s / 2, in the books under edits, which close; it lies there, at rest."""
    if coordinates not in im.METHODS[method].coordinates:
        pytest.skip(f"{method} has other coordinates")
    model = floor_model()
    model.body("box", **half_in())
    with pytest.warns(UserWarning, match=r"'box' and 'floor' overlapped by 0\.1 m: pushed apart .* took 1\.962 J"):
        world = im.World(model, method=method, coordinates=coordinates)
    assert world.body("box").position == pytest.approx((0, 0, 0.1), abs=1e-9) and speed(world) == 0.0
    (overlap,) = world.start_overlaps
    assert (overlap.first, overlap.second) == ("box", "floor")
    assert overlap.depth == pytest.approx(0.1, abs=1e-12) and overlap.left < 1e-9
    books = world.energy()
    assert books.work["edits"] == pytest.approx(2 * G * 0.1, abs=1e-8)
    assert abs(books.imbalance) < 1e-12
    report = world.step(20)
    assert speed(world) < (1e-12 if method == "direct" else 1e-3)
    assert not [one for one in report.trouble if one.cause in ("overlap", "energy")]
    assert world.body("box").position[2] == pytest.approx(0.1, abs=1e-9 if method == "direct" else 1e-5)


@pytest.mark.parametrize("coordinates", BOTH)
def test_added_half_in_the_floor(coordinates):
    world = im.World(floor_model(), coordinates=coordinates)
    world.step(3)
    before = world.energy()
    answer = world.add("body", "box", **half_in())
    assert "'box' and 'floor' overlapped by 0.1 m: pushed apart without speed, which took 1.962 J" in answer.text
    assert [(one.first, one.second) for one in answer.overlaps] == [("box", "floor")]
    assert answer.pushed == pytest.approx(2 * G * 0.1, abs=1e-8) and answer.moved == pytest.approx(0.1, abs=1e-9)
    assert answer.energy == pytest.approx(answer.pushed, abs=1e-12)  # it was at z = 0, where it has no other
    assert speed(world) < 1e-12 and least_gap(world) > -1e-9
    after = world.energy()
    assert after.work["edits"] == pytest.approx(answer.energy, abs=1e-12)
    assert after.imbalance == pytest.approx(before.imbalance, abs=1e-12)
    world.step(50)
    assert world.body("box").position == pytest.approx((0, 0, 0.1), abs=1e-8)


def test_added_wholly_inside_another():
    """Two boxes, one in the other, part by the least way, 0.24 m: by their masses, so that their middle stays."""
    world = im.World(floor_model())
    world.step(3)
    inner = {"mass": 1.0, "shape": im.Box((0.1, 0.1, 0.1)), "position": (1.01, 0, 0.2), "material": "steel"}
    answer = world.add("body", "inner", **inner)
    assert [(one.first, one.second) for one in answer.overlaps] == [("first", "inner")]
    assert answer.overlaps[0].depth == pytest.approx(0.24, abs=1e-9)
    assert world.body("first").position == pytest.approx((1 - 0.06, 0, 0.2), abs=1e-8)
    assert world.body("inner").position == pytest.approx((1.01 + 0.18, 0, 0.2), abs=1e-8)
    assert answer.pushed == pytest.approx(0.0, abs=1e-8) and answer.moved == pytest.approx(0.18, abs=1e-8)
    assert answer.energy == pytest.approx(G * 0.2, abs=1e-8)  # of the body that came
    assert speed(world) < 1e-12 and least_gap(world) > -1e-9
    world.step(1)
    assert speed(world) == pytest.approx(G * world.dt, rel=1e-6)  # it begins to fall, and nothing else


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_shape_of_a_linkage_grows_into_a_stop(coordinates):
    """A four-bar in motion whose rocker is made thick: it gives way along its one freedom, its loop stays closed."""
    model = im.scene("four-bar")
    model.obstacle("stop", im.Sphere(0.03), position=(0.31, 0.15, 0.0), material="steel")
    for body in model.bodies.values():
        body.material = "steel"
    world = im.World(model, coordinates=coordinates, dt=0.002)
    world.step(10)
    gap, before = least_gap(world), world.energy()
    assert gap > 0.005
    rocker = world.model.bodies["rocker"].shapes[0]
    thick = im.Capsule(radius=rocker.radius + gap + 0.004, length=rocker.length, material="steel")
    crank = world.joint("O").velocity
    answer = world.set("rocker.shape", thick)
    assert [{one.first, one.second} for one in answer.overlaps] == [{"rocker", "stop"}]
    assert answer.overlaps[0].depth == pytest.approx(0.004, abs=1e-9)
    assert -1e-9 < least_gap(world) < 0.1 * 0.004  # the least way but for its second order
    assert world.constraint_error() < 1e-9
    assert world.joint("O").velocity == pytest.approx(crank, rel=0.2)  # no speed but its own, at another pose
    after = world.energy()
    assert after.total - before.total == pytest.approx(answer.energy, abs=1e-12)
    assert after.imbalance == pytest.approx(before.imbalance, abs=1e-10)
    world.step(20)
    assert world.constraint_error() < 1e-9 and least_gap(world) > -1e-9


def test_a_floor_that_is_raised():
    """An obstacle set into what lies on it lifts it: m g d of each."""
    world = im.World(floor_model())
    world.step(5)
    answer = world.set("floor.position", (0, 0, 0.05))
    assert answer.pushed == pytest.approx(3 * G * 0.05, abs=1e-7)
    assert world.body("first").position[2] == pytest.approx(0.25, abs=1e-9)
    assert speed(world) < 1e-12


def test_every_world_has_its_own_cost():
    world = im.World(floor_model(), worlds=3)
    depths = np.array([0.0, 0.02, 0.1])
    places = np.column_stack([np.ones(3), np.zeros(3), 0.2 - depths])
    answer = world.apply(edits.SetState({"first": {"position": places}}))
    assert answer.pushed == pytest.approx(3 * G * depths, abs=1e-7)
    assert answer.energy == pytest.approx(np.zeros(3), abs=1e-7)  # down by the edit, and up again
    assert answer.overlaps[0].depth == pytest.approx(0.1, abs=1e-9)
    assert world.body("first").position[:, 2] == pytest.approx(np.full(3, 0.2), abs=1e-9)


def test_what_cannot_get_out_is_told():
    """A ball between plates that are nearer than its size: pushed into the middle, and what is left is told."""
    model = im.Model("press")
    model.obstacle("low", im.Plane(), material="steel")
    model.obstacle("high", im.Plane(), position=(0, 0, 0.18), orientation=(1, 0, 0, 0), material="steel")
    model.body("ball", mass=1.0, shape=im.Sphere(0.1), position=(0, 0, 0.085), material="steel")
    with pytest.warns(UserWarning, match=r"0\.0\d+ m are left, which joints or others in the way"):
        world = im.World(model)
    assert world.body("ball").position[2] == pytest.approx(0.09, abs=1e-3)
    assert speed(world) == 0.0


def test_beside_each_other_nothing_is_pushed():
    world = im.World(floor_model())
    world.step(2)
    answer = world.add("body", "box", **(half_in() | {"position": (0, 0, 0.1)}))
    assert answer.overlaps == () and answer.pushed == 0.0 and answer.text == "body 'box' is added"
    assert world.start_overlaps == ()


def test_a_reset_pushes_again_and_a_snapshot_goes_back():
    model = floor_model()
    model.body("box", **half_in())
    with pytest.warns(UserWarning, match="overlapped"):
        world = im.World(model)
    start = world.hash()
    world.step(5)
    answer = world.apply(edits.Reset())
    assert "overlapped by 0.1 m" in answer.text and world.hash() == start
    before = world.snapshot()
    world.add("body", "third", **(half_in() | {"position": (0, 0, 0.05)}))
    added = world.hash()
    world.restore(before)
    assert world.hash() == start
    world.add("body", "third", **(half_in() | {"position": (0, 0, 0.05)}))
    assert world.hash() == added
