"""Edits of hands that turn: room made for them, refusals, undo, journals, changes of what they hold."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.rotations import conjugate, multiply, quaternions, rotation_vectors
from impulsar.edits.hands import elastic_energy
from impulsar.engine.methods import METHODS
from impulsar.history.history import History
from impulsar.history.replay import replay
from impulsar.io.codec import edit_from_json, edit_to_json
from impulsar_verification.sessions import TIP, pendula

TURNING = edits.Grab("hand", "link3", TIP, 20.0, 0.1, angular_stiffness=0.05, angular_damping=1e-4)


def held(method="direct", **options) -> tuple[im.World, "im.world.views.Hand"]:
    world = im.World(pendula(), method, dt=0.002, **options)
    world.step(10)
    world.apply(TURNING)
    return world, im.world.views.Hand(world, "hand")


@pytest.mark.parametrize("method", METHODS)
def test_undo_and_redo_give_the_same_bits(method):
    world = im.World(pendula(), method, dt=0.002)
    history = History(world)
    before = []
    turn = edits.Move("hand", (0.1, 0.0, 0.1), (0.3, -0.5, 0.2))
    for edit in (TURNING, turn, edits.Move("hand", None, (0.1, 0.2, 0.3)), edits.Release("hand")):
        history.step(20)
        before.append(world.hash())
        history.apply(edit)
    history.step(100)
    left = [world.hash()]
    for expected in reversed(before):
        history.undo()
        assert world.hash() == expected
        left.append(world.hash())
    for expected in reversed(left[:-1]):
        history.redo()
        assert world.hash() == expected


@pytest.mark.parametrize("worlds", [1, 3])
def test_a_journal_replays_to_the_same_bits(tmp_path, worlds):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), dt=0.002, worlds=worlds), path, hash_steps=20)
    live.step(10)
    live.apply(TURNING)
    live.apply(edits.Move("hand", (0.1, 0.0, 0.1), im.Smooth(None, (0.0, 3.0, 1.0), 0.02, 0.1)))
    live.step(50)
    live.apply(edits.Grab("second", "link1", angular_stiffness=0.02))  # more room, and the first goes on
    live.apply(edits.Move("second", None, np.tile([0.0, 0.4, 0.0], (worlds, 1))))
    live.apply(edits.Move("hand", None, lambda t: (0.0, math.sin(t), 0.0)))
    live.step(50)
    end = live.world.hash()
    live.close()
    found = replay(path, verify=True)
    assert found.checks and not found.wrong
    assert found.history.world.hash() == end


def test_a_snapshot_goes_on_with_the_same_bits():
    """Also into a world whose hands have no room to turn any more, and back."""
    world, hand = held()
    hand.move((0.1, 0.0, 0.1), (0.5, 0.5, 0.5))
    world.step(20)
    kept = world.snapshot()
    world.step(20)
    end = world.hash()
    world.apply(edits.Reset())
    assert world.system.counts.turns == 0
    world.step(5)
    world.restore(kept)
    world.step(20)
    assert world.hash() == end


def test_worlds_without_one_have_no_room_for_it():
    """Slots, channels and state are those of before; a hand that only pulls brings none either."""
    world = im.World(pendula(), dt=0.002)
    world.grab("link3")
    assert world.system.counts.turns == 0
    assert not len(world.system.range("turn"))
    assert world.state.read("hand_turn").size == 0
    assert np.array_equal(world.hand_torques()["hand 1"], np.zeros(3))


def test_grabbing_changes_nothing_till_it_moves():
    """The hand begins with the body's orientation: at rest there is no torque, and no energy comes from it."""
    world, _ = held()
    assert elastic_energy(world.runner.bench, 0) < 1e-20
    orientation = world.body("link3").orientation
    target = quaternions(world.state.read("hand_turn")[:3, 0])
    assert np.linalg.norm(rotation_vectors(multiply(orientation, conjugate(target)))) < 1e-12


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (edits.Grab("h", "link1", angular_stiffness=-1.0), "angular_stiffness is -1.0, expected a number >= 0"),
        (edits.Grab("h", "link1", angular_damping=True), "angular_damping is True"),
        (edits.Grab("h", "link1", stiffness=0.0, damping=0.0), "both 0"),
        (edits.Move("hand", None), "no target and no turn; give one of them"),
        (edits.Move("hand", None, 1.0), "turn: value is 1.0, expected 3 numbers"),
        (edits.Move("hand", None, (0.0, 0.0, 0.0, 1.0)), "expected 3 numbers"),
        (edits.Move("hand", None, im.Ramp(None, 1.0, 0.0, 1.0)), r"Ramp has 1 component\(s\)"),
        (edits.Move("plain", None, (0.0, 0.0, 1.0)), "cannot turn what it holds; give angular_stiffness"),
    ],
)
def test_refusals_leave_the_world_as_it_was(edit, says):
    world, _ = held()
    world.grab("link1", name="plain")
    before = world.hash()
    with pytest.raises(edits.EditError, match=says):
        world.apply(edit)
    assert world.hash() == before


def test_an_orientation_is_a_quaternion_a_vector_or_a_profile():
    """All of them say the same; a quaternion that is none is refused."""
    vector = (0.2, -0.4, 0.3)
    ends = []
    for orientation in (vector, list(vector), quaternions(np.array(vector)), -quaternions(np.array(vector))):
        world, hand = held()
        hand.move(orientation=orientation)
        world.step(20)
        ends.append(world.body("link3").orientation)
    assert np.abs(np.diff(ends, axis=0)).max() < 1e-12
    with pytest.raises(im.ModelError, match="orientation has norm 2"):
        hand.move(orientation=(0, 0, 0, 2.0))


def test_moving_alone_leaves_the_turn_and_the_other_way():
    world, hand = held()
    hand.move((0.1, 0.0, 0.1), (0.1, 0.2, 0.3))
    world.step()
    hand.move((0.2, 0.0, 0.1))
    world.step()
    assert world.state.read("hand_turn")[:3, 0] == pytest.approx([0.1, 0.2, 0.3], abs=0)
    hand.move(orientation=(0.0, 0.0, 0.3))
    world.step()
    assert world.state.read("hand_target")[:3, 0] == pytest.approx([0.2, 0.0, 0.1], abs=0)


def test_inverses():
    """Undo by edits: Release gives the Grab back whole, Move where the hand was."""
    _, hand = held()
    answer = hand.move((0.1, 0.0, 0.1), (0.1, 0.2, 0.3))
    assert isinstance(answer.inverse, edits.Move) and answer.inverse.turn is not None
    assert hand.release().inverse == edits.Grab("hand", "link3", TIP, 20.0, 0.1, 0.05, 1e-4)


@pytest.mark.parametrize("edit", [edits.ChangeJoint("hinge2", {"type": "fixed"}), edits.SetMethod("simmc")])
def test_a_changed_mechanism_stays_in_the_hand(edit):
    """Its turn, spring and books are carried over."""
    world, hand = held()
    hand.move(orientation=im.Smooth(None, (0.0, 1.0, 0.5), world.time, world.time + 0.2))
    world.step(20)
    before, books = world.state.read("hand_turn").copy(), world.energy()
    world.apply(edit)
    assert np.array_equal(world.state.read("hand_turn"), before)
    assert world.energy().work["hand"] == pytest.approx(books.work["hand"], rel=1e-12)
    world.step(20)
    assert np.linalg.norm(hand.torque) > 0


def test_removing_the_body_books_the_hand():
    """As if it had let go: what its springs hold is taken off its work, and nothing is missing."""
    world, hand = held(method=im.Direct(rtol=1e-10, atol=1e-10))
    hand.move((0.1, 0.0, 0.1), (0.0, 1.0, 0.5))
    world.step(20)
    books, left = world.energy(), float(elastic_energy(world.runner.bench, 0)[0])
    assert left > 1e-3
    world.apply(edits.Remove("body", "link3"))
    after = world.energy()
    assert after.work["released hands"] == pytest.approx(books.work["hand"] - left, rel=1e-12)
    assert abs(after.imbalance - books.imbalance) < 1e-12


def test_results_have_the_torque():
    model = pendula()
    model.at(0.01, TURNING)
    model.at(0.01, edits.Move("hand", None, (0.0, 0.5, 0.0)))
    result = im.World(model, dt=0.002).run(0.05)
    torque = result["hand_torque"].sel(hand="hand")
    assert torque.attrs["units"] == "N m"
    assert bool(torque[-1].notnull().all()) and bool(torque[0].isnull().all())
    assert float(np.abs(torque[-1]).max()) > 1e-3


def test_files_hold_them():
    for edit in (TURNING, edits.Move("hand", None, im.Harmonic((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2.0))):
        assert edit_from_json(edit_to_json(edit)) == edit
    old = {"edit": "Grab", "hand": "h", "body": "b"}
    assert edit_from_json(old) == edits.Grab("h", "b")


def test_another_grip_while_it_holds():
    """A hand that only pulled begins to turn: no jump of its force, no torque yet; what the springs then hold more or
    less is booked to edits, and undone it is as before."""
    world = im.World(pendula(), im.Direct(rtol=1e-10, atol=1e-10), dt=0.002)
    hand = world.grab("link3", TIP, 20.0, 0.1, name="hand")
    hand.move((0.1, 0.0, 0.1))
    world.step(20)
    target, energy = world.state.read("hand_target").copy(), world.energy()
    answer = hand.grip(angular_stiffness=0.05, angular_damping=1e-4)
    assert answer.inverse == edits.Grip("hand", 20.0, 0.1, 0.0, 0.0)
    assert np.array_equal(world.state.read("hand_target"), target)
    assert world.energy().total == pytest.approx(energy.total, rel=1e-12)
    hand.move(orientation=(0.0, 0.5, 0.0))
    world.step(20)
    assert np.linalg.norm(hand.torque) > 1e-3
    before, left = world.energy(), elastic_energy(world.runner.bench, 0)
    hand.grip(stiffness=40.0, angular_stiffness=0.1)
    after = world.energy()
    assert elastic_energy(world.runner.bench, 0) == pytest.approx(2 * left, rel=1e-12)
    assert after.work["edits"] == pytest.approx(float(left[0]), rel=1e-9)
    assert after.imbalance == pytest.approx(before.imbalance, abs=1e-13)
    for wrong, says in ((edits.Grip("hand", damping=-1.0), "damping is -1.0"), (edits.Grip("none"), "no hand named")):
        with pytest.raises(edits.EditError, match=says):
            world.apply(wrong)
    with pytest.raises(edits.EditError, match="both 0"):
        hand.grip(0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_inside_a_step_the_hand_is_on_its_way(method):
    """Where a step is read as a curve the orientation goes evenly, the short way: half-way along the numbers of 3.1 and
    -3.1 rad would be half a turn off."""
    model = im.Model("alone")
    model.gravity = np.zeros(3)
    model.body("body", mass=1.0, inertia=(1e3, 1e3, 1e3), orientation=(0, 0, math.sin(1.55), math.cos(1.55)))
    model.at(0.0, edits.Grab("hand", "body", angular_stiffness=1.0))
    model.at(0.01, edits.Move("hand", None, (0.0, 0.0, -3.1)))
    result = im.World(model, method, dt=0.01).run(0.02, at=[0.01, 0.0125, 0.015, 0.0175, 0.02])
    way = 2 * (math.pi - 3.1)
    expected = [0.5 * (share * way) ** 2 for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert result["energy"].sel(kind="elastic").values == pytest.approx(expected, rel=1e-4, abs=1e-12)
