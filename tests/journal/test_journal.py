"""The journal: what a file holds, what a torn one gives back, and what a damaged one says."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.edits import SetParameter, history, journal
from impulsar.edits.history import History
from impulsar.edits.journal import FIRST_LINE, FRAME, Journal, Reader, frame
from impulsar.edits.replay import replay
from impulsar.io import FileError
from impulsar.validate.journal_cases import KILLS, cut_at_every_byte, edits_replayed, kill_minus_nine
from impulsar.validate.sessions import endless, pendula, session


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


def test_older_versions_are_migrated(recorded, monkeypatch):
    """A journal of version 0, in which limits of work had another name."""
    path, end = recorded
    records = [(dict(entry.data), entry.arrays) for entry in Reader(path).entries]
    for data, _ in records:
        if data["record"] == "edit":
            data["work_limit"] = data.pop("limit")
    raw, crc = FIRST_LINE % 0, 0
    for data, arrays in records:
        raw += frame(data, arrays, crc)
        crc = FRAME.unpack_from(frame(data, arrays, crc))[1]
    path.write_bytes(raw)
    with pytest.raises(FileError, match="version 0"):
        replay(path)

    def from_0(data):
        return {"limit" if key == "work_limit" else key: value for key, value in data.items()}

    monkeypatch.setitem(journal.MIGRATIONS, 0, from_0)
    assert replay(path, verify=True).history.world.hash() == end


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
        Journal(path, records).close()
        with pytest.raises(FileError):
            replay(path)
