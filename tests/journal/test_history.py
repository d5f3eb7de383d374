"""History: undo, redo, seek, revert and fork give the bits that were there."""

import itertools
import math
import threading

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.edits import Add, ChangeJoint, DragTo, EditError, HeldError, Pause, Reset, SetMethod, SetParameter
from impulsar.engine.system import measured as measure
from impulsar.history import history as module
from impulsar.history import timeline
from impulsar.history.history import History
from impulsar_verification.sessions import TIP, pendula, session


@pytest.mark.parametrize("method", im.METHODS)
def test_undo_and_redo_give_the_same_bits(method):
    """Each undo is the state before its edit, each redo the state that the undo left."""
    world = im.World(pendula(), method, dt=0.002)
    history = History(world)
    before = []
    weld = ChangeJoint("hinge2", {"type": "fixed"})
    for edit in (im.Grab("hand", "link3", TIP, stiffness=20.0), im.Move("hand", (0.1, 0.0, 0.1)), weld):
        history.step(33)
        before.append(world.hash())
        history.apply(edit)
    history.step(250)
    left = [world.hash()]
    for expected in reversed(before):
        history.undo()
        assert world.hash() == expected
        left.append(world.hash())
    with pytest.raises(EditError, match="nothing to undo"):
        history.undo()
    for expected in reversed(left[:-1]):
        history.redo()
        assert world.hash() == expected
    assert history.redoable is None


def test_a_session_undone_goes_another_way_and_redo_makes_the_edit_now():
    world = im.World(pendula())
    history = History(world)
    history.step(10)
    start = world.hash()
    history.apply(SetParameter("link3.mass", 0.3))
    history.step(10)
    history.undo()
    assert world.hash() == start
    history.step(5)
    plain = im.World(pendula())
    plain.step(15)
    assert world.hash() == plain.hash()
    assert history.redo() == SetParameter("link3.mass", 0.3)
    plain.apply(SetParameter("link3.mass", 0.3))
    assert world.hash() == plain.hash()


def test_seek_finds_every_moment_forward_and_back():
    """Also over a change of the step and of a joint's type."""
    world = im.World(pendula())
    history = History(world)
    seen = session(history)
    rng = np.random.default_rng(0)
    for k in rng.permutation(2 * len(seen)) // 2:
        clock, expected = seen[k]
        history.seek(clock)
        assert world.hash() == expected
        assert world.runner.clock == pytest.approx(clock, abs=1e-9)


def test_after_seek_steps_follow_the_recording_to_its_end_and_beyond():
    world = im.World(pendula())
    history = History(world)
    seen = session(history)
    total = history.count
    history.seek(0.0)
    assert history.is_replaying
    history.step(7)
    history.step(total - 7)
    assert world.hash() == seen[-1][1]
    assert not history.is_replaying
    history.step(3)
    assert history.count == total + 3


def test_an_edit_after_seek_cuts_the_recording():
    world = im.World(pendula())
    history = History(world)
    session(history)
    history.seek(0.3)
    edit = SetParameter("link1.mass", 0.2)
    history.apply(edit)
    assert not history.is_replaying
    assert history.undoable == edit
    assert history.span[1] == pytest.approx(0.3)
    with pytest.raises(EditError, match=r"from 0 to 0\.3"):
        history.seek(0.5)


def test_revert_applies_the_inverses_now():
    """Two parameters set and reverted: the model is the one before, time has gone on."""
    world = im.World(pendula())
    history = History(world)
    before = world.system.parameter("mass")
    history.apply(SetParameter("link1.mass", 0.2))
    history.step(5)
    history.apply(SetParameter("link2.mass", 0.3))
    history.step(5)
    history.revert()
    history.step(5)
    history.revert()
    assert np.array_equal(world.system.parameter("mass"), before)
    assert history.count == 15
    with pytest.raises(EditError, match="nothing to revert"):
        history.revert()


def test_a_fork_goes_on_by_itself(tmp_path):
    world = im.World(pendula())
    history = History(world)
    session(history)
    fork = history.fork(tmp_path / "fork.journal")
    assert fork.world.hash() == world.hash()
    here = world.hash()
    fork.apply(SetParameter("link1.mass", 0.2))
    fork.step(20)
    assert world.hash() == here
    history.apply(SetParameter("link1.mass", 0.2))
    history.step(20)
    assert fork.world.hash() == world.hash()
    fork.close()


def test_reset_is_an_edit_like_others():
    world = im.World(pendula())
    history = History(world)
    start = world.hash()
    history.step(30)
    moved = world.hash()
    history.apply(Reset())
    assert world.hash() == start
    history.step(10)
    history.undo()
    assert world.hash() == moved
    history.redo()
    assert world.runner.clock == pytest.approx(0.05)


def test_a_pause_is_not_on_the_timeline():
    world = im.World(pendula())
    history = History(world)
    history.step(5)
    history.apply(SetParameter("link1.mass", 0.2))
    history.step(5)
    history.apply(Pause())
    with pytest.raises(EditError, match="paused"):
        history.step()
    assert history.undo() == SetParameter("link1.mass", 0.2)
    assert world.paused
    history.redo()
    assert world.paused and history.count == 10
    history.apply(Pause(False))
    history.step()


def test_a_refused_edit_leaves_history_and_world_alone():
    world = im.World(pendula())
    history = History(world)
    history.apply(SetParameter("link1.mass", 0.2))
    history.step(5)
    history.seek(0.0)
    history.step(2)
    here, replaying = world.hash(), history.is_replaying
    with pytest.raises(EditError):
        history.apply(SetParameter("link1.mass", -1.0))
    assert (world.hash(), history.is_replaying, history.position) == (here, replaying, 1)


UNSTABLE = im.Simmc(iterations=3, beta=1.0)  # too few sweeps for all of the error: a load breaks it


def test_a_world_that_breaks_stays_at_its_last_good_step_and_history_goes_on():
    model = pendula()
    world = im.World(model, UNSTABLE, dt=0.01)
    history = History(world)
    history.step(20)
    history.apply(im.ApplyLoad("blast", "link3", force=im.Ramp((0, 0, 0), (1e20, 0, 0), 0.3, 0.4)))
    with pytest.raises(im.StepError):
        history.step(1000)
    assert world.paused and np.isfinite(world.state.numpy()).all()
    here = world.hash()
    history.undo()
    history.redo()
    assert world.hash() == here
    history.undo()
    history.apply(Pause(False))
    history.step(100)


def test_a_break_that_is_told_late_leaves_history_where_the_world_is(monkeypatch):
    """As on a GPU, where a step does not wait to know."""
    world = im.World(pendula(), UNSTABLE, dt=0.01)
    history = History(world)
    history.step(20)
    history.apply(im.ApplyLoad("blast", "link3", force=im.Ramp((0, 0, 0), (1e20, 0, 0), 0.3, 0.4)))

    def late(n=1):
        with monkeypatch.context() as unchecked:
            unchecked.setattr(world.runner, "check", lambda *_: None)
            return world.runner.step(n)

    monkeypatch.setattr(world, "step", late)
    with pytest.raises(im.StepError):
        history.step(1000)
    assert history.count == history._last == world.runner.count
    assert not world.runner.work.report.numpy()[measure.BROKEN].any()
    here = world.hash()
    history.undo()
    history.redo()
    assert world.hash() == here


def test_seek_over_a_change_of_method_and_of_the_model():
    """`direct` reads a table of its pair, which the arrays of a system built for another method do not have."""
    world = im.World(pendula(), "simgc")
    history = History(world)
    history.step(150)
    history.apply(SetMethod("direct"))
    history.step(250)
    expected, clock = world.hash(), world.runner.clock
    history.step(50)
    history.apply(Add("body", "extra", {"mass": 1.0, "inertia": (1, 1, 1)}))
    history.step(10)
    history.seek(0.5)
    history.seek(clock)
    assert len(world.system.arrays.tableau) == len(world.method.tableau)
    assert world.hash() == expected


def test_revert_takes_a_whole_drag_back():
    """Of drags of one point with no time between only the first has poses to go back to."""
    world = im.World(pendula())
    history = History(world)
    start = world.body("link3").position.copy()
    for k in range(4):
        history.apply(DragTo("link3", (0.1, 0.0, -0.01 * k)))
    assert [event.inverse is not None for event in history._events] == [True, False, False, False]
    history.step()
    there = world.body("link3").position.copy()
    history.apply(DragTo("link3", (0.1, 0.0, 0.02)))
    history.revert()
    assert world.body("link3").position == pytest.approx(there, abs=1e-9)
    history.revert()
    assert world.body("link3").position == pytest.approx(start, abs=1e-9)
    with pytest.raises(EditError, match="nothing to revert"):
        history.revert()


def test_samples_of_callables_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_SAMPLED", 60)
    monkeypatch.setattr(module, "MARK_STEPS", 20)
    model = pendula()
    model.load("controller", "link3", force=lambda t: (0.0, 0.0, 0.1 * math.sin(3 * t)))
    world = im.World(model)
    history = History(world)
    seen = {}
    for _ in range(50):
        history.step(10)
        seen[world.runner.clock] = world.hash()
    (recorded,) = history._recorder.items
    assert len(recorded.values) <= 2 * 60 + 1
    first, _ = history.span
    for clock in [clock for clock in seen if clock >= first]:
        history.seek(clock)
        assert world.hash() == seen[clock]


def test_callables_are_asked_once():
    """A controller with a memory of its own: replaying gives the bits of the first time without asking it."""
    asked = []

    def force(t):
        asked.append(t)
        return (0.01 * len(asked), 0.0, 0.1 * math.sin(3 * t))

    model = pendula()
    model.load("controller", "link3", force=force)
    world = im.World(model)
    history = History(world)
    history.step(30)
    middle, clock = world.hash(), world.runner.clock
    history.step(30)
    end, count = world.hash(), len(asked)
    history.seek(clock)
    assert world.hash() == middle
    history.step(30)
    assert world.hash() == end
    assert len(asked) == count


def test_memory_is_bounded():
    """Marks and events do not grow without end, and the first edit can be gone back to while it is kept."""
    world = im.World(pendula(1), "simgc", dt=0.001)
    history = History(world)
    first = world.hash()
    history.apply(SetParameter("link1.mass", 0.11))
    history.step(60 * module.MARK_STEPS)
    history.step(60 * module.MARK_STEPS)
    assert len(history._marks) <= timeline.MOST_MARKS
    history.undo()
    assert world.hash() == first


def gaps(history):
    """Steps and edits that a seek may have to carry out again, from any of the marks."""
    places = sorted({mark.along for mark in (*history._marks, *history._written)})
    return [after - before for before, after in itertools.pairwise([*places, history._last + history._end])]


def test_marks_are_spread_evenly_and_the_last_closely(monkeypatch):
    """However long a recording is, no more than a 20th of it is carried out again, and near its end no more
    than two marks' distance: 40 times as many steps as there is room for marks at their closest."""
    monkeypatch.setattr(module, "MARK_STEPS", 10)
    history = History(im.World(pendula(1), "simgc", dt=0.001))
    for steps in (3_000, 7_000, 15_600):
        history.step(steps)
        assert len(history._marks) <= timeline.MOST_MARKS
        assert max(gaps(history)) <= history._last / 20
        assert max(gaps(history)[-10:]) <= 2 * module.MARK_STEPS
    end, clock = history.world.hash(), history.world.runner.clock
    history.seek(0.4 * clock)
    history.seek(clock)
    assert history.world.hash() == end


def test_a_seek_begins_from_a_snapshot_in_the_journal(tmp_path, monkeypatch):
    """Those that are written stay within reach when memory has no room for them: here and after reopening."""
    monkeypatch.setattr(module, "MARK_STEPS", 10)
    monkeypatch.setattr(module, "SNAPSHOT_STEPS", 100)
    monkeypatch.setattr(timeline, "MOST_MARKS", 20)
    path = tmp_path / "session.journal"
    history = History(im.World(pendula(1), "simgc", dt=0.001), path)
    seen = {}
    for _ in range(40):
        history.step(100)
        seen[history.world.runner.clock] = history.world.hash()
    for again in (history, None):
        if again is None:
            history.close()
            again = History.open(path)
        assert max(gaps(again)) <= 120
        assert sum(mark.snapshot is not None for mark in (*again._marks, *again._written)) <= 2 * timeline.MOST_MARKS
        for clock in list(seen)[::7]:
            again.seek(clock + 0.03)
            again.seek(clock)
            assert again.world.hash() == seen[clock]
    again.close()
    again.seek(1.0)  # without its journal, by what is in memory


def test_snapshots_in_the_journal_outlive_a_new_file(tmp_path, monkeypatch):
    """Written anew from its last half on, it has them still, and they give the same bits."""
    monkeypatch.setattr(module, "MARK_STEPS", 10)
    monkeypatch.setattr(module, "SNAPSHOT_STEPS", 100)
    path = tmp_path / "session.journal"
    history = History(im.World(pendula(1), "simgc", dt=0.001), path, largest=100_000)
    seen = {}
    for k in range(120):
        history.step(50)
        history.apply(SetParameter("link1.mass", 0.1 + 0.0001 * k))
        seen[history.world.runner.clock] = history.world.hash()
    first, _ = history.span
    assert first > 0  # it was written anew
    assert max(gaps(history)) <= 130
    for clock in [clock for clock in seen if clock > first][::9]:
        history.seek(clock)
        assert history.world.hash() == seen[clock]
    history.close()


PAST_THE_HISTORY = {
    "step": lambda world: world.step(),
    "many steps": lambda world: world.step(3),
    "run": lambda world: world.run(0.05, progress=False),
    "apply": lambda world: world.apply(SetParameter("link1.mass", 0.2)),
    "pause": lambda world: world.apply(Pause(True)),
    "set": lambda world: world.set("link1.mass", 0.2),
    "change": lambda world: world.change("hinge2", type="spherical"),
    "add": lambda world: world.add("probe", "tip", body="link3", at=(0, 0, 0)),
    "remove": lambda world: world.remove("spring", "spring"),
    "grab": lambda world: world.grab("link3"),
    "drag": lambda world: world.drag("link3", (0.1, 0, 0)),
    "restore": lambda world: world.restore(world.snapshot()),
    "another history": History,
}


@pytest.mark.parametrize("way", PAST_THE_HISTORY)
def test_a_history_is_the_only_door_to_its_world(way):
    """What goes past it would spoil what it replays: refused by name, and the world is as it was; after close not."""
    world = im.World(pendula())
    history = History(world)
    history.step(10)
    before = world.hash()
    with pytest.raises(HeldError, match=r"history"):
        PAST_THE_HISTORY[way](world)
    assert world.hash() == before
    history.close()
    PAST_THE_HISTORY[way](world)


def test_a_hand_of_before_is_held_too():
    world = im.World(pendula())
    hand = world.grab("link3", stiffness=20.0)
    history = History(world)
    with pytest.raises(HeldError):
        hand.move((0.1, 0.0, 0.0))
    with pytest.raises(HeldError):
        hand.release()
    history.apply(im.Move(hand.name, (0.1, 0.0, 0.0)))


def test_a_closed_history_goes_on_with_a_world_that_nobody_changed():
    world = im.World(pendula())
    history = History(world)
    history.step(10)
    history.close()
    history.step(10)
    with pytest.raises(HeldError):
        world.step()
    history.close()
    world.step()
    with pytest.raises(HeldError, match="changed after close"):
        history.step()


def test_a_history_that_is_gone_or_was_never_begun_holds_nothing(tmp_path):
    world = im.World(pendula())
    History(world)
    world.step()
    with pytest.raises(ModelError) as kept:
        History(world, tmp_path / "nowhere" / "session.journal")
    assert kept.traceback
    world.step()


def test_no_other_thread_gets_past_while_the_history_is_at_work():
    """A callable is asked in the middle of a step: another thread that steps the world then is refused."""
    world = im.World(pendula())
    refused = []

    def step_it():
        try:
            world.step()
        except HeldError as error:
            refused.append(error)

    def force(t):
        other = threading.Thread(target=step_it)
        other.start()
        other.join()
        return (0.0, 0.0, 0.0)

    history = History(world)
    history.apply(im.ApplyLoad("busy", "link3", force=force))
    history.step(3)
    assert len(refused) >= 3
