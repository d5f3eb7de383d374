"""The journal: what a file holds, what a torn one gives back, and what a damaged one says."""

import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.edits import DragTo, SetParameter
from impulsar.history import history, journal
from impulsar.history.callables import Recorder
from impulsar.history.history import History
from impulsar.history.journal import FIRST_LINE, FRAME, Arrays, Journal, Packer, Reader, frame
from impulsar.history.replay import replay
from impulsar.history.timeline import JournalWarning
from impulsar.io import FileError
from impulsar.io.codec import model_from_json, model_to_json
from impulsar_verification.journal_cases import KILLS, cut_at_every_byte, edits_replayed, kill_minus_nine
from impulsar_verification.sessions import endless, pendula, session


@pytest.fixture
def recorded(tmp_path):
    """A session's journal, its records by kind, and the hash at its end."""
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), dt=0.002), path, hash_steps=50)
    session(live)
    end = live.world.hash()
    live.close()
    return path, end


def test_some_sessions_killed_at_random_moments():
    """The few that there is time for here; all of them in `impulsar validate kill-9`."""
    assert KILLS == 200
    assert kill_minus_nine("cpu", kills=4) == 0


def test_a_write_cut_at_some_bytes_of_the_last_record():
    """Every seventh byte; every one in `impulsar validate cut-journal`."""
    assert cut_at_every_byte("cpu", stride=7) == 0


def test_random_edits_replay_from_their_journal():
    assert edits_replayed("cpu", count=60) == 0


def test_replay_in_another_process_gives_the_same_hash(recorded):
    path, end = recorded
    command = [sys.executable, "-m", "impulsar", "replay", str(path), "--verify"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert end in done.stdout
    assert "0 different" in done.stdout


def test_verify_tells_other_bits(recorded, capsys):
    """One bit of the first mass in the first snapshot: every hash after it is another."""
    path, _ = recorded
    entries = Reader(path).entries
    changed = []
    for entry in entries:
        data = entry.data
        if entry.kind == "edit" and data["edit"]["edit"] == "SetParameter":
            data = data | {"edit": data["edit"] | {"value": np.nextafter(0.15, 1.0)}}
        changed.append((data, entry.arrays))
    path.unlink()
    Journal(path, changed).close()
    assert main(["replay", str(path), "--verify"]) == 1
    assert "other bits first at the hash at step" in capsys.readouterr().err
    assert main(["replay", str(path)]) == 0


def test_a_reopened_session_goes_on_as_if_it_had_not_ended(tmp_path):
    """Ended and opened again at two places, against the same session in one go; undo works over the seam."""
    whole = History(im.World(pendula(), dt=0.002))
    path = tmp_path / "parts.journal"
    part = History(im.World(pendula(), dt=0.002), path)
    script = [edit for edit, _ in zip(endless(), range(12), strict=False)]
    for k, (steps, edit) in enumerate(script):
        for each in (whole, part):
            each.step(steps)
            each.apply(edit)
        if k in (3, 8):
            part.close()
            part = History.open(path)
            assert part.world.hash() == whole.world.hash()
    for _ in range(10):
        assert part.undo() == whole.undo()
        assert part.world.hash() == whole.world.hash()
    part.close()


def test_an_undone_edit_stays_undone_after_a_crash(tmp_path):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula()), path)
    live.step(10)
    live.apply(SetParameter("link1.mass", 0.2))
    live.step(10)
    live.undo()
    here = live.world.hash()
    os.close(live.journal._file)  # as a kill does
    again = History.open(path)
    assert again.world.hash() == here
    again.close()


def test_one_session_at_a_time(tmp_path):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula()), path)
    with pytest.raises(FileError, match="another session"):
        History.open(path)
    live.close()
    History.open(path).close()


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    """Neither that of a session that has ended, nor that of one that runs; an empty file may be."""
    path = tmp_path / "session.journal"
    path.touch()
    live = History(im.World(pendula()), path)
    with pytest.raises(FileError, match="another session"):
        History(im.World(pendula()), path)
    live.step(10)
    live.close()
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"History\.open"):
        History(im.World(pendula()), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("make", [History.open, lambda path: History(im.World(pendula()), path)])
def test_a_wrong_name_is_told_as_it_was_given(tmp_path, make):
    path = tmp_path / "nowhere" / "session.journal"
    with pytest.raises(FileError, match=re.escape(f"'{path}': cannot be opened: No such file")):
        make(path)


@pytest.mark.parametrize("fails", ["append", "replace"])
def test_a_full_disk_ends_the_journal_and_not_the_session(tmp_path, monkeypatch, fails):
    """Half of a record is written, or none of a new file: told once, and the file is whole up to there."""
    path = tmp_path / "session.journal"
    live = History(im.World(pendula()), path, hash_steps=10)
    live.step(10)
    there = live.world.hash()
    write = os.write

    def full(file, data):
        write(file, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    def full_too(file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        if fails == "append":
            disk.setattr(os, "write", full)
        else:
            live.largest = 0
            disk.setattr(os, "fsync", full_too)
        with pytest.warns(JournalWarning, match="session.journal.*No space left"):
            live.apply(SetParameter("link1.mass", 0.2))
    assert live.journal is None and isinstance(live.lost, OSError)
    assert live.position == 1
    live.step(20)
    live.close()
    again = History.open(path)
    if fails == "append":
        assert again.world.hash() == there
    assert again.undoable == (None if fails == "append" else SetParameter("link1.mass", 0.2))
    again.close()
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_cut_off_is_kept_beside(recorded):
    """A damaged length in the middle reaches beyond the end, as a torn record does."""
    path, _ = recorded
    raw = path.read_bytes()
    at = Reader(path).entries[-5].offset
    path.write_bytes(raw[:at] + b"\xff\xff\xff\xff" + raw[at + 4 :])
    History.open(path).close()
    assert path.with_name("session.journal.torn").read_bytes() == b"\xff\xff\xff\xff" + raw[at + 4 :]
    assert path.read_bytes()[:at] == raw[:at]


def test_sessions_of_any_size_are_read_back(tmp_path):
    """More parts and values than a scene file may have, more numbers than a batch of 131,072 chains."""
    path = tmp_path / "large.journal"
    model = model_to_json(pendula())
    grain = {"mass": 1.0, "inertia": np.eye(3).tolist()}
    model["bodies"] += [grain | {"name": f"grain{k}"} for k in range(10_000)]
    Journal(path, [({"record": "header"}, b""), ({"record": "model", "model": model}, b"")]).close()
    assert len(model_from_json(Reader(path).entries[1].data["model"], most=math.inf).bodies) == 10_003
    packer, raw = Packer(Recorder().callables), []
    state = np.zeros((80, 131_072), bool)
    data = packer.pack(state, raw)
    assert packer.unpack(data, Arrays(b"".join(raw))).shape == state.shape
    edit = {"array": np.zeros((150_000, 3)).tolist()}
    journal._payload(frame({"record": "edit", "edit": edit}, b"", 0)[FRAME.size :], "edit")


def test_what_could_not_be_read_back_is_refused_before_it_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr("impulsar.history.callables.MOST", 2)
    live = History(im.World(pendula()), tmp_path / "session.journal")
    live.apply(im.Grab("hand", "link3"))
    for _ in range(2):
        live.apply(im.Move("hand", lambda t: (0.1, 0.0, 0.0)))
    here = live.world.hash()
    with pytest.raises(im.EditError, match="give a profile"):
        live.apply(im.Move("hand", lambda t: (0.1, 0.0, 0.0)))
    cloud = np.random.default_rng(0).normal(size=(10_001, 3))
    with pytest.raises(im.EditError, match="at most 10000"):
        live.apply(SetParameter("link1.shape", im.ConvexHull(cloud)))
    assert live.world.hash() == here
    live.close()
    History.open(tmp_path / "session.journal").close()


def test_the_file_is_bounded_with_time_stopped(tmp_path, monkeypatch):
    """Edits alone are many enough for a snapshot, and for a new file."""
    monkeypatch.setattr(history, "SNAPSHOT_EVENTS", 20)
    path = tmp_path / "session.journal"
    live = History(im.World(pendula()), path, largest=30_000)
    for k in range(300):
        live.apply(SetParameter("link1.mass", 0.1 + 0.001 * k))
    assert live._first > 0
    assert path.stat().st_size < 45_000
    here = live.world.hash()
    live.close()
    assert replay(path, verify=True).history.world.hash() == here


def test_a_resumed_session_with_a_clamped_hand_verifies(tmp_path):
    """A clamp lets targets slip in the arrays that steps read: what decides the future is what they slip from."""
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), max_hand_force=0.5), path, hash_steps=20)
    live.apply(im.Grab("hand", "link3"))
    live.apply(im.Move("hand", (1.0, 1.0, 1.0)))
    for _ in range(2):
        assert live.step(30).clamped
        live.close()
        live = History.open(path)
    live.close()
    found = replay(path, verify=True)
    assert found.checks >= 3 and not found.wrong


def test_the_file_is_bounded_and_still_replays(tmp_path, monkeypatch):
    """A limit of 60 kB: never more than a snapshot above it, and the last edits can still be undone."""
    monkeypatch.setattr(history, "SNAPSHOT_EVENTS", 20)
    monkeypatch.setattr(history, "MARK_EVENTS", 10)
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), dt=0.002), path, hash_steps=20, largest=60_000)
    largest = 0
    before = []
    for (steps, edit), _ in zip(endless(), range(300), strict=False):
        live.step(steps)
        before.append(live.world.hash())
        live.apply(edit)
        largest = max(largest, path.stat().st_size)
    assert live._first > 0  # it was written anew
    assert largest < 90_000
    for expected in reversed(before[-5:]):
        live.undo()
        assert live.world.hash() == expected
    live.close()
    assert not replay(path, verify=True).wrong


def test_callables_are_replayed_from_what_they_returned(tmp_path):
    path = tmp_path / "session.journal"
    model = pendula()
    model.load("push", "link3", force=lambda t: (0.1 * math.sin(5 * t), 0.0, 0.05))
    model.at(0.05, im.Grab("scripted", "link1", stiffness=5.0))
    live = History(im.World(model), path)
    live.step(20)
    live.apply(im.Grab("hand", "link2", stiffness=20.0))
    rng = np.random.default_rng(1)
    live.apply(im.Move("hand", lambda t: rng.uniform(-0.05, 0.05, 3)))
    live.step(40)
    end = live.world.hash()
    live.close()
    found = replay(path, verify=True)
    assert found.checks and not found.wrong
    assert found.history.world.hash() == end


def test_limits_of_work_are_journalled(tmp_path):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), "simgc", dt=0.002), path)
    live.step(20)
    live.limit_work(2)
    live.step(20)
    live.limit_work(500)
    live.step(20)
    end = live.world.hash()
    live.close()
    assert '"limit":2' in path.read_bytes().decode(errors="replace")
    found = replay(path, verify=True)
    assert not found.wrong and found.history.world.hash() == end


def test_a_journal_of_a_batch(tmp_path):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), dt=0.002, worlds=3), path)
    live.step(10)
    live.apply(SetParameter("link2.mass", np.array([0.1, 0.2, 0.3])))
    live.apply(im.Grab("hand", "link3", stiffness=20.0))
    live.apply(im.Move("hand", np.array([[0.1, 0, 0], [0.1, 0.05, 0], [0.1, 0, 0.05]])))
    live.step(50)
    end = live.world.hash()
    live.close()
    found = replay(path, verify=True)
    assert not found.wrong and found.history.world.hash() == end


def write_version(version, path, records):
    raw, crc = FIRST_LINE % version, 0
    for data, arrays in records:
        raw += frame(data, arrays, crc)
        crc = FRAME.unpack_from(frame(data, arrays, crc))[1]
    path.write_bytes(raw)


def test_older_versions_are_migrated(recorded, monkeypatch):
    """A journal of version 0, in which limits of work had another name."""
    path, end = recorded
    records = [(dict(entry.data), entry.arrays) for entry in Reader(path).entries]
    for data, _ in records:
        if data["record"] == "edit":
            data["work_limit"] = data.pop("limit")
    write_version(0, path, records)
    with pytest.raises(FileError, match="version 0"):
        replay(path)

    def from_0(data):
        return {"limit" if key == "work_limit" else key: value for key, value in data.items()}

    monkeypatch.setitem(journal.MIGRATIONS, 0, from_0)
    assert replay(path, verify=True).history.world.hash() == end


def test_a_session_of_version_1_replays_and_goes_on(recorded):
    """Without reactions, which come last of the arrays' bytes but the steps, and with hashes of another kind."""
    path, end = recorded
    records = []
    for entry in Reader(path).entries:
        data, arrays = entry.data, entry.arrays
        if entry.kind == "hash":
            data = data | {"hash": "of another kind"}
        elif entry.kind == "snapshot":
            old = dict(data["snapshot"])
            bytes_ = 8 * math.prod(old.pop("reaction")["shape"])
            data, arrays = data | {"snapshot": old}, arrays[: len(arrays) - bytes_]
        records.append((data, arrays))
    write_version(1, path, records)
    found = replay(path, verify=True)
    assert not found.wrong and found.history.world.hash() == end
    live = History.open(path)
    assert Reader(path).version == journal.VERSION
    live.step(10)
    live.close()
    found = replay(path, verify=True)
    assert found.checks == 2 and not found.wrong  # the snapshot where it was opened, the hash at the new end


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda raw: b"", "is no journal"),
        (lambda raw: b"PK\x03\x04" + raw, "is no journal"),
        (lambda raw: FIRST_LINE % 99 + raw, "version 99"),
        (lambda raw: raw[:40], "no header"),
        (lambda raw: raw[:200] + bytes([raw[200] ^ 1]) + raw[201:], "damaged"),
        (lambda raw: raw[: len(raw) // 2] + bytes(64) + raw[len(raw) // 2 + 64 :], "damaged"),
    ],
)
def test_damage_is_told(recorded, spoil, says, capsys):
    path, _ = recorded
    path.write_bytes(spoil(path.read_bytes()))
    assert main(["replay", str(path)]) == 2
    error = capsys.readouterr().err
    assert says in error and "session.journal" in error and error.count("\n") == 1


def test_flipped_bytes_never_crash(recorded):
    """A crc sees every flipped bit: the file is refused, or was flipped in its last record, which is dropped."""
    path, _ = recorded
    raw = path.read_bytes()
    last = Reader(path).entries[-1].offset
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(raw), 300):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ (1 << rng.integers(8))]) + raw[at + 1 :])
        try:
            found = Reader(path)
        except FileError:
            continue
        assert found.torn and (at >= last or found.end <= at)


def test_forged_snapshots_are_refused(recorded):
    """Arrays that do not fit the model would be read beyond their end: a right crc is no passport."""
    path, _ = recorded
    entries = Reader(path).entries
    for field, value in (
        ("state", {"dtype": "<f8", "shape": [3, 1]}),
        ("hands", []),
        ("reaction", {"dtype": "<f8", "shape": [3, 1]}),
        ("reaction", {"dtype": "<f8", "shape": [0, 2**31, 2**31, 2**31]}),
        ("idle", {"tuple": [10**6]}),
        ("coordinates", "polar"),
        ("steps", "many"),
        ("channels", []),
        ("model", {"model": 7}),
        ("parameters", {"dict": {"mass": {"dtype": "<f8", "shape": [1, 1]}}}),
        ("topology", {"dict": {"hand_body": {"dtype": "<i4", "shape": [1]}}}),
    ):
        records = [(entry.data, entry.arrays) for entry in entries]
        first = next(k for k, entry in enumerate(entries) if entry.kind == "snapshot")
        data = records[first][0]
        forged = data | {"snapshot": data["snapshot"] | {field: value}}
        records[first] = forged, np.full(10_000, 2**30, "<i4").tobytes() + records[first][1]
        path.unlink()
        Journal(path, records).close()
        with pytest.raises(FileError):
            replay(path)


def test_a_drag_writes_no_poses_but_the_first(tmp_path):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula()), path)
    for k in range(5):
        live.apply(DragTo("link3", (0.1, 0.0, -0.01 * k)))
    live.close()
    again = History.open(path)
    assert ["inverse" in entry.data for entry in Reader(path).entries if entry.kind == "edit"] == [True] + [False] * 4
    again.revert()
    assert again.world.body("link3").position == pytest.approx((0.125, 0.0, 0.0), abs=1e-9)
    again.close()


def test_a_session_killed_as_it_begins_leaves_no_empty_file(tmp_path, monkeypatch):
    """Whatever it was doing: the name goes to a complete file."""
    path = tmp_path / "session.journal"
    seen = []

    def watched(name):
        real = getattr(os, name)

        def call(*given, **options):
            seen.append((name, path.stat().st_size if path.exists() else None))
            return real(*given, **options)

        return call

    for name in ("open", "write", "fsync", "link", "replace", "unlink"):
        monkeypatch.setattr(os, name, watched(name))
    History(im.World(im.scene("chain", n=2)), path).close()
    assert {name for name, _ in seen} >= {"open", "write", "fsync", "link"}
    assert [size for _, size in seen if size == 0] == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["session.journal"]
