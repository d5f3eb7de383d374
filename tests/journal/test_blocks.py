"""Snapshots in a journal are kept by names: other programs, with more or in another order, read the same state."""

import copy

import numpy as np
import pytest

import impulsar as im
from impulsar.engine import state as state_module
from impulsar.engine.state import ALWAYS, OF_SYSTEM, TILL_STIFFER, Block, Layout, State
from impulsar.history.history import History
from impulsar.history.journal import Packer
from impulsar.history.kept import read_snapshot, write_snapshot
from impulsar.history.vetting import BY_SLOT, check_snapshot
from impulsar.io import FileError
from impulsar.io.kinds import REFUSED
from impulsar_verification.sessions import TIP, pendula

METHODS = (("simgc", "generalized"), ("simmc", "maximal"), ("direct", "generalized"), ("direct", "maximal"))


@pytest.fixture(params=METHODS, ids=" ".join)
def running(request):
    """A chain with springs, friction, a load and a hand, on its way, and what a journal keeps of it."""
    method, coordinates = request.param
    model = pendula()
    (features,) = model.joints["hinge2"].features.values()
    features.friction = 1e-4
    world = im.World(model, method, coordinates, dt=0.002)
    world.grab("link3", TIP, stiffness=20.0)
    world.apply(im.ApplyLoad("wind", "link1", force=(0.0, 0.0, 0.3)))
    world.step(30)
    packer = Packer(REFUSED)
    snapshot = world.snapshot()
    packer.models.append(snapshot.model)
    return world, read_snapshot(*write_snapshot(snapshot, packer), packer)


def select(kept, order: list[int]):
    """What a program would have kept whose slots are these, in this order."""
    other = copy.copy(kept)
    place = {r: k for k, r in enumerate(order)}
    other.slots = [kept.slots[r] for r in order]
    other.idle = tuple(place[r] for r in kept.idle)
    other.state = {
        name: block[order] if name in ("impulse", "work", "loss", "viscous_loss", "mode") else block
        for name, block in kept.state.items()
    }
    for arrays in ("parameters", "topology"):
        had = getattr(kept, arrays)
        setattr(other, arrays, {name: had[name][order] if name in BY_SLOT else had[name] for name in had})
    return other


def test_rows_are_found_by_part_kind_and_code(running):
    """In any order they come back as they were, and the world goes on with the same bits."""
    world, kept = running
    order = np.random.default_rng(0).permutation(len(kept.slots)).tolist()
    found = check_snapshot(world, select(kept, order))
    assert np.array_equal(found.state, world.state.numpy())
    world.step(20)
    end = world.hash()
    world.restore(found)
    world.step(20)
    assert world.hash() == end


def test_rows_of_a_kind_that_is_new_begin_with_nothing(running):
    """A program that made no rows of friction: they have no impulse and no books, and the model's own bound."""
    world, kept = running
    before = [r for r, key in enumerate(kept.slots) if key[1] != "friction"]
    new = [r for r, key in enumerate(kept.slots) if key[1] == "friction"]
    assert new
    found = check_snapshot(world, select(kept, before))
    rows = found.layout.rows
    for name in ("impulse", "work", "loss"):
        block, was = found.state[rows[name]], world.state.read(name)
        assert not block[new].any() and np.array_equal(block[before], was[before])
    assert found.parameters["slot_a"][new].ravel().tolist() == [1e-4]
    world.restore(found)
    world.step(20)


def test_a_block_that_is_new_is_zero(running, monkeypatch):
    """A program with one block more in the middle of the state reads all others."""
    world, kept = running
    more = (lambda n: [Block("wetness", 2 * n.bodies)], *state_module.CONTRIBUTORS)
    monkeypatch.setattr(state_module, "CONTRIBUTORS", more)
    later = im.World(pendula(), "simgc")
    found = check_snapshot(later, kept)
    later.restore(found)
    assert later.state.read("wetness").shape == (6, 1) and not later.state.read("wetness").any()
    for name in world.state.rows:
        assert np.array_equal(later.state.read(name), world.state.read(name))
    later.step(20)
    world.step(20)
    assert later.hash() == world.hash()  # what is zero does not count


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda kept: kept.state.update(wetness=np.zeros((1, 1))), "no block 'wetness' of the state"),
        (lambda kept: kept.state.pop("v"), "its state has no v"),
        (lambda kept: kept.methods.append("magic"), "methods that are installed here: " + ", ".join(im.METHODS)),
        (lambda kept: kept.methods.clear(), "among them"),
        (lambda kept: kept.slots[0].__setitem__(0, "stranger"), "no row .*stranger.* of its model"),
        (lambda kept: kept.slots.append(kept.slots[0]), "no row"),
        (lambda kept: kept.slots.pop(), "has not one row for each of its"),
    ],
)
def test_what_a_program_does_not_know_is_refused(running, change, told):
    world, kept = running
    kept = copy.deepcopy(kept)
    change(kept)
    with pytest.raises(FileError, match=told):
        check_snapshot(world, kept)


class Keeping:
    """A method's class, as far as the state asks it."""

    name = "keeping"

    @staticmethod
    def state_blocks(counts):
        return Block("a", 2), Block("b", counts.dofs, lasts=TILL_STIFFER), Block("c", 1, lasts=OF_SYSTEM)


class Other(Keeping):
    name = "other"


def test_methods_keep_blocks_of_their_own():
    """A method finds its blocks from `method_at` on; they stay while another is in use, and last as they say."""
    counts = im.World(pendula()).system.counts
    state = State(counts, "cpu", Keeping)
    assert state.arrays.method_at.numpy().tolist() == [0, 2, 2 + counts.dofs]
    state.arrays.method.fill_(3.0)
    assert all((state.read(f"keeping.{name}") == 3.0).all() for name in "abc")
    both = state.used_by(Other)
    assert both.layout == Layout(counts, [Keeping, Other]) and not both.arrays.method.numpy().any()
    assert both.hash() == state.hash()  # the blocks that came are zero
    both.arrays.method.fill_(5.0)
    back = both.used_by(Keeping)
    assert (back.arrays.method.numpy() == 3.0).all() and (back.read("other.a") == 5.0).all()
    back.forget(TILL_STIFFER)
    assert [bool(back.read(f"keeping.{name}").any()) for name in "abc"] == [True, False, True]
    new = back.anew(counts)
    new.take_over(back, ALWAYS)
    assert [bool(new.read(f"keeping.{name}").any()) for name in "abc"] == [True, False, False]


def test_going_back_over_a_change_of_method(tmp_path):
    """Undo of SetMethod brings the blocks of the method before back, and a journal has those of both."""
    world = im.World(pendula(), "simgc", dt=0.002)
    history = History(world, tmp_path / "session.journal", hash_steps=10)
    history.step(10)
    history.apply(im.edits.SetMethod("direct"))
    history.step(10)
    assert world.state.read("direct.next_h").all()
    history.apply(im.edits.SetMethod("simgc"))
    history.step(10)
    end = world.hash()
    history.undo()
    assert world.method.name == "direct" and world.state.read("direct.next_h").all()
    history.undo()
    assert list(world.state.layout.methods) == [type(world.method)]
    history.redo()
    history.redo()
    assert world.hash() == end
    history.close()
