"""Tips: spheres that push what they meet, with their work in the books, and never stick."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.history import History
from impulsar.io.codec import edit_from_json, edit_to_json

WITH_CONTACT = [
    ("direct", "generalized", 1e-7),
    ("direct", "maximal", 1e-7),
    ("simgc", "generalized", 1e-12),
    ("simmc", "maximal", 1e-4),  # its joints are held by impulses, which do work
]
M, SPEED, RADIUS = 0.5, 0.1, 0.01


def slider(wall: bool = False, stiffness: float = 0.0) -> im.Model:
    """A block of 0.1 m that slides along x without friction, its face at x = 0.15 m."""
    model = im.Model("slider")
    model.material("rough", friction=0.8, restitution=0.5)
    block = model.body("block", mass=M, shape=im.Box(size=(0.1, 0.1, 0.1)), position=(0.2, 0, 0), material="rough")
    model.joint("rail", "prismatic", model.ground, block, at=(0.2, 0, 0), axis=(1, 0, 0), stiffness=stiffness)
    if wall:
        model.obstacle("wall", im.Box(size=(0.02, 0.2, 0.2)), position=(0.4, 0, 0), material="rough")
    return model


def work_of(world: im.World, name: str) -> float:
    return next(value for what, value in world.energy().work.items() if name in what)


@pytest.mark.parametrize(("method", "coordinates", "share"), WITH_CONTACT)
def test_pushing_gives_the_block_its_momentum_and_books_what_it_did(
    method: str, coordinates: str, share: float
) -> None:
    """Against a spring k the block is pushed by x at a low speed v: F = k x, and the tip's work is k x²/2 with what
    impacts took, M v² for each of two at most; a method of first order has the force of a step's end: k x v h / 2
    more. The books say that to their own error."""
    k, x = 200.0, 0.06
    world = im.World(slider(stiffness=k), method=method, coordinates=coordinates, dt=0.01)
    tip = world.push((0.13, 0.01, 0.02), RADIUS, name="finger")
    tip.move(im.Ramp(None, (0.14 + x, 0.01, 0.02), 0.0, (0.01 + x) / SPEED))
    world.step(round((0.01 + x) / SPEED / 0.01))
    world.step(300)  # at rest: what swung against the tip is taken by impacts
    assert world.joint("rail").position == pytest.approx(x, abs=1e-6)
    assert tip.force == pytest.approx((k * x, 0, 0), abs=1e-3 * k * x)
    books = world.energy()
    done = work_of(world, "finger")
    late = 0.0 if method == "direct" else k * x * SPEED * world.dt  # of the spring's work, by the other end of a step
    assert 0.5 * k * x**2 <= done <= 0.5 * k * x**2 + 0.5 * late + 2 * M * SPEED**2
    assert abs(books.imbalance) < share * done + late


@pytest.mark.parametrize(("method", "coordinates", "share"), WITH_CONTACT)
def test_it_never_sticks(method: str, coordinates: str, share: float) -> None:
    """The block's surface is rough, the tip's is not: along a face there is no force, and drawn back it holds nothing,
    so the block goes on by Newton's first law."""
    world = im.World(slider(), method=method, coordinates=coordinates, dt=0.01)
    tip = world.push((0.139, 0.01, 0.02), RADIUS, name="finger")
    tip.move(im.Ramp(None, (0.16, 0.03, 0.02), 0.0, 0.1))  # aslant
    world.step(10)
    contacts = [contact for contact in world.contacts() if "finger" in (contact.first, contact.second)]
    assert all(np.abs(contact.force[1:]).max() <= 1e-9 * np.abs(contact.force).max() for contact in contacts)
    tip.move(im.Ramp(None, (0.05, 0.03, 0.02), 0.1, 0.2))
    world.step(2)
    left = world.body("block").velocity[0]
    assert left > 0.5 * SPEED
    world.step(50)
    assert world.body("block").velocity[0] == pytest.approx(left, rel=1e-9)


@pytest.mark.parametrize(("method", "coordinates", "share"), WITH_CONTACT)
def test_what_is_jammed_is_pressed_with_its_force_and_no_more(method: str, coordinates: str, share: float) -> None:
    """Between tip and wall: the block stands where the wall has it, the wall carries the tip's force."""
    force = 20.0
    world = im.World(slider(wall=True), method=method, coordinates=coordinates, dt=0.01)
    tip = world.push((0.13, 0.0, 0.0), RADIUS, force, name="finger")
    tip.move(im.Ramp(None, (0.5, 0.0, 0.0), 0.0, 1.0))
    world.step(200)
    assert world.body("block").position[0] == pytest.approx(0.34, abs=1e-6)
    assert tip.position[0] == pytest.approx(0.28, abs=1e-6)
    assert tip.force == pytest.approx((force, 0, 0), abs=1e-3 * force)
    assert abs(world.energy().imbalance) < 1e-6


def test_power_of_the_tip_is_its_force_times_its_velocity() -> None:
    """Pushing against a spring: what is booked is ∫ F · v of the contact, and what the tip itself gained, m v²/2."""
    k = 200.0
    world = im.World(slider(stiffness=k), dt=0.01)
    tip = world.push((0.14, 0.0, 0.0), RADIUS, name="finger")
    tip.move(im.Smooth(None, (0.20, 0.0, 0.0), 0.0, 4.0))
    world.step(100)
    powers, moved, work = [], world.body("finger").velocity, work_of(world, "finger")
    for _ in range(100):
        powers.append(tip.force @ world.body("finger").velocity)
        world.step()
    powers.append(tip.force @ world.body("finger").velocity)
    gained = 0.5 * 0.1 * M * (world.body("finger").velocity @ world.body("finger").velocity - moved @ moved)
    # trapezoidal rule over 1 s: h²/12 |P''|, P = k x x' with x = 0.06 s(t / 4), |(s s')''| < 40
    bound = world.dt**2 / 12 * k * 0.06**2 / 4**3 * 40
    assert abs(work_of(world, "finger") - work - gained - np.trapezoid(powers, dx=world.dt)) < bound


def test_undo_takes_it_away_and_replay_has_the_same_bits() -> None:
    """Push, move and release are edits: undo comes back to the bit, redo too."""
    history = History(im.World(slider(), dt=0.01))
    world = history.world
    before = world.hash()
    history.apply(edits.Push("finger", (0.13, 0.0, 0.0), RADIUS))
    history.apply(edits.Move("finger", (0.145, 0.0, 0.0)))
    history.step(20)
    pushed = world.hash()
    assert world.body("block").velocity[0] > 0.0
    while history.undoable is not None:
        history.undo()
    assert world.hash() == before and "finger" not in world.model.bodies
    while history.redoable is not None:
        history.redo()  # to where undo was called, by taking the steps again
    assert world.hash() == pushed
    push = edits.Push("finger", (0.13, 0.0, 0.0), RADIUS, 20.0, 0.01)
    assert edit_from_json(edit_to_json(push)) == push


def test_released_it_is_gone_and_the_books_hold() -> None:
    """All that it brought leaves the model; its work and what its own motion was worth stay booked."""
    world = im.World(slider(stiffness=50.0), dt=0.01)
    tip = world.push((0.13, 0.0, 0.0), RADIUS, name="finger")
    tip.move(im.Ramp(None, (0.16, 0.0, 0.1), 0.0, 0.2))
    world.step(10)
    answer = tip.release()
    assert isinstance(answer.inverse, edits.Push) and answer.inverse.radius == RADIUS
    assert set(world.model.bodies) == {"block"} and "finger skin" not in world.model.materials
    world.step(50)
    assert abs(world.energy().imbalance) < 1e-6
    with pytest.raises(im.EditError, match="finger"):
        tip.move((0, 0, 0))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (edits.Push("f", (0, 0), 0.01), "3 numbers"),
        (edits.Push("f", radius=0.0), "radius is 0"),
        (edits.Push("f", force=-1.0), "force is -1"),
        (edits.Push("f", mass=0.0), "mass is 0"),
        (edits.Push("block"), "taken by a body"),
        (edits.Push(""), "name"),
    ],
)
def test_wrong_tips_are_refused(edit: edits.Edit, told: str) -> None:
    world = im.World(slider(), dt=0.01)
    with pytest.raises(im.EditError, match=told):
        world.apply(edit)
    assert set(world.model.bodies) == {"block"}


def test_nothing_to_touch_and_methods_without_contact_refuse_by_name() -> None:
    bare = im.Model("bare")
    bare.body("arm", mass=1.0, shape=im.Sphere(radius=0.1))
    with pytest.raises(im.EditError, match="material"):
        im.World(bare).push((0, 0, 1))
    smooth = im.World(slider(), method="variational", dt=0.001)
    with pytest.raises(im.EditError, match="variational"):
        smooth.push((0, 0, 1))
