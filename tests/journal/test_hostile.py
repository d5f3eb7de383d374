"""Journals from anyone, damaged ones, and two sessions that want the same file."""

import json
import os
import stat
import subprocess
import sys
import time
import warnings

import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.history.history import History
from impulsar.history.journal import BEGIN, Entry, Journal, Reader, records_behind
from impulsar.history.replay import Player, recover, replay
from impulsar.history.timeline import JournalWarning, Mark
from impulsar.io import FileError
from impulsar_verification import hostile_journals as hostile
from impulsar_verification.hostile_journals import (
    BY_HAND,
    damaged_journals,
    recorded,
    records_of,
    seal,
    sealed_journals,
)
from impulsar_verification.sessions import pendula, session


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """A journal of every session of the campaign."""
    return recorded(tmp_path_factory.mktemp("bases"))


@pytest.fixture
def journal(tmp_path):
    """A session's journal, and the hash at its end."""
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(), dt=0.002), path, hash_steps=50)
    session(live)
    end = live.world.hash()
    live.close()
    return path, end


# what a file says ---------------------------------------------------------------------------------------

SOME = [
    *("slot_trees begins with 8", "slot_trees of hands", "hand_body one too many", "load_body -1", "a million worlds"),
    *("a hash at step 10^12", "a hash at step 10^9", "a go to step 10^12", "an edit at step 10^12", "steps of 1e8 s"),
    *("a billion sub-steps", "a billion iterations", "100,000 hands", "channels of the 6th component"),
]


def test_some_hostile_journals_open_or_are_refused_by_name():
    """The few that there is time for here; all of them in `impulsar validate hostile-journals`."""
    assert hostile.CHANGED == 600 and len(BY_HAND) >= 46
    assert sealed_journals("cpu", changed=8, by_hand=SOME) == 0


def test_some_damaged_journals_are_kept_up_to_the_damage():
    """The few that there is time for here; all of them in `impulsar validate damaged-journals`."""
    assert (hostile.FLIPS, hostile.ZERO_TAILS) == (200, 50)
    assert damaged_journals("cpu", flips=12, tails=4) == 0


@pytest.mark.parametrize("name", [name for name in BY_HAND if "slot_trees" in name or "_body" in name])
def test_no_index_of_a_file_reaches_a_kernel_unchecked(name, bases):
    """What is not that of the system which the model gives is refused, in every snapshot, before it is used."""
    refused = 0
    for base in ("plain", "loop", "batch"):
        player = Player(Reader(bases[base]))
        for entry in player.entries:
            player.load(entry)
        before = records_of(bases[base])
        changed = list(before)
        BY_HAND[name](changed)
        for (data, arrays), record in zip(before, changed, strict=True):
            if data["record"] != "snapshot" or record == (data, arrays):
                continue
            place = [data[key] for key in ("step", "position", "lag")]
            good, bad = (Mark(*place, entry=Entry(0, *each)) for each in ((data, arrays), record))
            player.history._snapshot(good)
            with pytest.raises(FileError):
                player.history._snapshot(bad)
            refused += 1
    assert refused


def test_worlds_are_refused_before_memory_is_taken_for_them(bases, tmp_path):
    """As many as the file claims would be 5 GiB; it has numbers for one."""
    records = records_of(bases["plain"])
    BY_HAND["a million worlds"](records)
    path = tmp_path / "many.journal"
    path.write_bytes(seal(records))
    program = (
        "import resource, sys\n"
        "from impulsar.history.replay import replay\n"
        "from impulsar.io import FileError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    replay(sys.argv[1])\nexcept FileError as error:\n    print(error, file=sys.stderr)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert "worlds is 1000000" in done.stderr
    assert int(done.stdout) < 100_000  # kB


@pytest.mark.parametrize("step", [10**12, 10**9, 10**6, 10**5])
@pytest.mark.parametrize("way", [replay, History.open])
def test_a_place_far_from_a_snapshot_is_refused_at_once(way, step, bases, tmp_path):
    """A session leaves one every 10,000 steps: whatever comes, no more than twice that is stepped to open it."""
    records = records_of(bases["plain"])
    records.append(({"record": "hash", "step": step, "position": 0, "hash": "x"}, b""))
    path = tmp_path / "far.journal"
    path.write_bytes(seal(records))
    began = time.process_time()
    with pytest.raises(FileError, match="farther from a snapshot"):
        way(path)
    assert time.process_time() - began < 5.0


def test_a_session_that_went_back_leaves_no_place_far_from_a_snapshot(tmp_path, monkeypatch):
    """After a cut the next snapshot is due from the last one that is left, not from one that was cut off."""
    from impulsar.history import history as module

    monkeypatch.setattr(module, "SNAPSHOT_STEPS", 100)
    path = tmp_path / "session.journal"
    live = History(im.World(pendula(1), "simgc", dt=0.001), path)
    for _ in range(3):
        live.step(350)
        live.seek(0.01)
        live.apply(im.SetParameter("link1.mass", 0.11))
    live.step(350)
    live.close()
    snapshots, farthest = [], 0
    for entry in Reader(path).entries:
        place = entry.data.get("step", 0)
        if entry.kind == "cut":
            snapshots = [step for step in snapshots if step <= place]
        elif entry.kind == "snapshot":
            snapshots.append(place)
        if snapshots:
            farthest = max(farthest, place - snapshots[-1])
    assert farthest <= 100 + module.MARK_STEPS
    assert not replay(path, verify=True).wrong


# damage -------------------------------------------------------------------------------------------------


def damage(path, entry, by=lambda raw, at: raw[at : at + 20] + bytes([raw[at + 20] ^ 1]) + raw[at + 21 :]):
    """Spoil a record; where it begins."""
    at = Reader(path).entries[entry].offset
    raw = path.read_bytes()
    path.write_bytes(raw[:at] + by(raw, at))
    return at, path.read_bytes()


def test_a_damaged_journal_opens_up_to_the_damage_on_request(journal):
    path, _ = journal
    before = len(Reader(path).entries)
    at, raw = damage(path, -6)
    with pytest.raises(FileError, match=r"damaged, and 5 whole records follow.*replay FILE --recover"):
        History.open(path)
    assert path.read_bytes() == raw and list(path.parent.iterdir()) == [path]
    with pytest.warns(JournalWarning, match=f"{len(raw) - at} bytes.*5 whole records.*session.journal.torn"):
        live = History.open(path, recover=True)
    assert live.journal.aside.records == 5
    live.step(5)
    live.close()
    assert path.read_bytes()[:at] == raw[:at]
    assert path.with_name("session.journal.torn").read_bytes() == raw[at:]
    assert len(Reader(path).entries) == before - 6 + 1  # and the hash at the new end
    assert not replay(path, verify=True).wrong


def test_the_command_recovers_and_says_how_much(journal, capsys):
    path, _ = journal
    at, raw = damage(path, -6)
    assert main(["replay", str(path)]) == 2
    assert "--recover" in capsys.readouterr().err
    assert main(["replay", str(path), "--recover", "--verify", "--json"]) == 0
    told = capsys.readouterr()
    figures = json.loads(told.out)
    assert (figures["dropped_bytes"], figures["dropped_records"]) == (len(raw) - at, 5)
    assert f"{len(raw) - at} bytes" in told.err and "session.journal.torn" in told.err
    assert main(["replay", str(path), "--recover"]) == 0  # nothing is left to do
    assert len(list(path.parent.iterdir())) == 2


@pytest.mark.parametrize("length", [b"\xff\xff\xff\x7f", b"\x00\x00\x01\x00"])
def test_a_flipped_length_is_not_taken_for_a_torn_end_in_silence(journal, length):
    """It reaches beyond the file as a torn record does, but whole records are behind it: that is said."""
    path, _ = journal
    at, raw = damage(path, -5, lambda raw, at: length + raw[at + 4 :])
    assert len(raw) - at < 2**16  # so that both reach beyond
    with pytest.warns(JournalWarning, match=f"{len(raw) - at} bytes.*with 4 whole records"):
        History.open(path).close()
    assert path.with_name("session.journal.torn").read_bytes() == raw[at:]


def test_a_torn_end_is_told_without_records(journal):
    path, _ = journal
    at = Reader(path).entries[-1].offset
    path.write_bytes(path.read_bytes()[: at + 30])
    with pytest.warns(JournalWarning, match=r"session.journal': 30 bytes at the end could not be read; they"):
        History.open(path).close()


def test_a_zero_tail_is_cut_on_request(journal):
    """One shape that a file may have after a loss of power."""
    path, end = journal
    raw = path.read_bytes()
    path.write_bytes(raw + bytes(4096))
    with pytest.raises(FileError, match="0 whole records follow"):
        History.open(path)
    assert recover(path).bytes == 4096
    assert path.read_bytes() == raw
    live = History.open(path)
    assert live.world.hash() == end
    live.close()


def test_where_nothing_can_be_kept_nothing_is_cut(journal):
    """A damaged first snapshot: refused by name, and the file is as it was."""
    path, _ = journal
    first = [entry.kind for entry in Reader(path).entries].index("snapshot")
    _, raw = damage(path, first)
    for act in (recover, lambda path: History.open(path, recover=True)):
        with pytest.raises(FileError, match="no model and snapshot"):
            act(path)
    assert path.read_bytes() == raw and list(path.parent.iterdir()) == [path]


def test_looking_for_records_behind_a_damage_takes_linear_time():
    """A file of nothing but what records begin with."""
    spent = []
    for n in (20_000, 320_000):
        raw = b"\x40\x00\x00\x00abcd\x10\x00\x00\x00" + BEGIN * n
        began = time.process_time()
        records_behind(raw, 0)
        spent.append(time.process_time() - began)
    assert spent[1] < max(64 * spent[0], 0.5)


# files --------------------------------------------------------------------------------------------------


def test_what_is_cut_off_never_goes_through_a_link_nor_into_an_old_file(journal):
    path, _ = journal
    whole = path.read_bytes()
    target = path.with_name("target")
    target.write_bytes(b"mine")
    os.symlink(target, path.with_name("session.journal.torn"))
    for n in (1, 2):
        path.write_bytes(whole + b"torn%d" % n)
        assert recover(path).path.name == f"session.journal.torn.{n}"
    assert target.read_bytes() == b"mine"
    assert [path.with_name(f"session.journal.torn.{n}").read_bytes() for n in (1, 2)] == [b"torn1", b"torn2"]


def test_journals_are_their_owner_s_to_read(journal, tmp_path):
    path, _ = journal
    path.write_bytes(path.read_bytes() + b"torn")
    other = tmp_path / "other.journal"
    before = os.umask(0)
    try:
        History(im.World(pendula()), other).close()
        recover(path)
    finally:
        os.umask(before)
    for file in (other, path.with_name("session.journal.torn")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_pipe_or_a_folder_is_no_journal(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        for way in (replay, History.open):
            with pytest.raises(FileError, match=r"is no file|Is a directory|is a folder"):
                way(tmp_path / name)


RACER = """
import sys, time
from pathlib import Path
from impulsar.history.journal import Journal
from impulsar.io import FileError
records = [({"record": "header", "by": sys.argv[1]}, b"")]
print("ready", flush=True)
for line in sys.stdin:
    try:
        journal = Journal(line.strip(), records)
        journal.append({"record": "hash", "by": sys.argv[1]})
        print("owns", flush=True)
    except FileError as error:
        print(error, flush=True)
"""


def test_two_starts_never_own_one_journal(tmp_path):
    """25 races for a new file, and 5 for an empty one: one wins, the other is refused, the file is the winner's."""
    racers = [
        subprocess.Popen([sys.executable, "-c", RACER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("first", "second")
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for k in range(30):
        path = tmp_path / f"{k}.journal"
        if k >= 25:
            path.touch()
        for racer in racers:
            racer.stdin.write(f"{path}\n")
        for racer in racers:
            racer.stdin.flush()
        told = [racer.stdout.readline() for racer in racers]
        assert sorted(line == "owns\n" for line in told) == [False, True], told
        winner = ("first", "second")[told.index("owns\n")]
        assert [entry.data["by"] for entry in Reader(path).entries] == [winner] * 2
        assert [entry.kind for entry in Reader(path).entries] == ["header", "hash"]
    for racer in racers:
        racer.stdin.close()
        racer.wait()
        racer.stdout.close()


def test_a_journal_that_is_put_in_place_is_locked_already(tmp_path):
    """A name is taken when its file is seen: no moment is left for a second session, also where it is written anew."""
    path = tmp_path / "session.journal"
    journal = Journal(path, [({"record": "header"}, b"")])
    for _ in range(3):
        journal.replace([({"record": "header"}, b"")])
        with pytest.raises(FileError, match="another session"):
            Journal(path)
    journal.close()
    assert [file.name for file in tmp_path.iterdir()] == ["session.journal"]


@pytest.mark.parametrize("gone", [os.unlink, lambda path: os.rename(path, path.with_name("moved"))])
def test_a_journal_that_is_deleted_is_missed(tmp_path, gone):
    path = tmp_path / "session.journal"
    live = History(im.World(pendula()), path, hash_steps=10)
    live.step(10)
    gone(path)
    with pytest.warns(JournalWarning, match="deleted or renamed"):
        live.step(10)
    assert live.journal is None and live.lost is not None
    live.step(10)
    live.close()
    assert not path.exists()


def test_a_new_journal_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        History(im.World(pendula()), tmp_path / "session.journal")
    assert not list(tmp_path.iterdir())


def test_a_session_reopens_quietly(journal):
    """Nothing was cut off: nothing is said."""
    path, end = journal
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        live = History.open(path, recover=True)
    assert live.world.hash() == end and live.journal.aside is None
    live.close()
