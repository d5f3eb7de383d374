"""Files and journals: what a killed, cut or junk-fed session leaves is read back, or refused by name."""

import itertools
import os
import select
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from impulsar.edits import SetParameter
from impulsar.history.history import History
from impulsar.history.journal import Reader
from impulsar.history.replay import replay
from impulsar.io import load_model, save_model
from impulsar.scenes import SCENES, scene
from impulsar.validate.case import Case
from impulsar.world.world import World

from . import fuzz
from .edit_cases import campaign
from .sessions import READY, endless, pendula, session

KILLS = 200
FUZZ_CASES = 100_000
_killed: list[tuple[int, int]] = []  # edits acknowledged before the kill, edits read back


def kill_once(path: Path, delay: float, after_start: bool) -> int:
    """Kill a real session by SIGKILL some time after it could start, or after its first edit; edits it printed."""
    command = [sys.executable, "-m", "impulsar_verification.sessions", str(path)]
    errors = path.with_suffix(".errors")
    with errors.open("wb") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process:
        assert process.stdout is not None
        output = process.stdout.fileno()
        told = b""
        wanted = f"{READY}\n1\n" if after_start else f"{READY}\n"
        while not told.startswith(wanted.encode()):
            more = os.read(output, 1 << 16)
            if not more:
                raise RuntimeError(f"the session to be killed ended by itself: {errors.read_text()[-2000:]}")
            told += more
        end = time.monotonic() + delay
        while (left := end - time.monotonic()) > 0:
            if select.select([output], [], [], left)[0]:
                told += os.read(output, 1 << 16)
        process.kill()
        while more := os.read(output, 1 << 16):
            told += more
    whole = told.decode().rpartition("\n")[0].split()
    return int(whole[-1]) if len(whole) > 1 else 0


class Truth:
    """The endless session as it goes when nobody kills it."""

    def __init__(self) -> None:
        self.history = History(World(pendula(), dt=0.002))
        self._script = endless()

    def hash_at(self, step: int, position: int) -> str:
        """The state's hash at a place."""
        history = self.history
        while history._end < position or history._last < step:
            steps, edit = next(self._script)
            history._go(history._last, history._end)
            history.step(steps)
            history.apply(edit)
        history._go(step, position)
        return history.world.hash()


def check_killed(path: Path, acknowledged: int, truth: Truth) -> bool:
    """Whether a killed session's file has every edit that was acknowledged, gives its bits, and can go on."""
    if not path.exists():
        return acknowledged == 0
    found = replay(path, verify=True)
    place = found.history.count, found.history.position
    _killed.append((acknowledged, place[1]))
    good = not found.wrong and place[1] >= acknowledged and found.history.world.hash() == truth.hash_at(*place)
    again = History.open(path)
    good &= again.world.hash() == truth.hash_at(*place)
    again.apply(SetParameter("link1.mass", 0.2))
    again.close()
    return good and not replay(path, verify=True).wrong and Reader(path).torn == 0


def kill_minus_nine(device: str, kills: int = KILLS) -> float:
    """Sessions killed at random moments whose journals did not replay to the last complete edit."""
    _killed.clear()
    rng = np.random.default_rng(0)
    truth = Truth()
    moments = [(float(rng.exponential(0.6)), bool(rng.random() < 0.9)) for _ in range(kills)]
    moments = [(delay if started else delay / 10, started) for delay, started in moments]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        paths = [Path(folder) / f"{k}.journal" for k in range(kills)]
        printed = pool.map(kill_once, paths, *zip(*moments, strict=True))
        return float(sum(not check_killed(path, n, truth) for path, n in zip(paths, printed, strict=True)))


def show_killed() -> None:
    """Print how far the killed sessions had come."""
    if _killed:
        edits = [found for _, found in _killed]
        print(f"    {len(_killed)} journals of {min(edits)} to {max(edits)} edits read back")
        print(f"    {sum(a < b for a, b in _killed)} times one edit more than was acknowledged")


def cut_at_every_byte(device: str, stride: int = 1) -> float:
    """Lengths that a write of the last record may be cut at, for which the session before it is not read back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.journal"
        history = History(World(pendula(), device=device), path)
        for steps, edit in itertools.islice(endless(), 2):
            history.step(steps)
            history.apply(edit)
        expected, count = history.world.hash(), len(Reader(path).entries)
        history.apply(SetParameter("link1.mass", 0.2))
        history.close = lambda: None  # type: ignore[method-assign]  # the file ends with this edit
        raw = path.read_bytes()
        last = Reader(path).entries[-1].offset
        failures = 0
        for length in range(last, len(raw), stride):
            path.write_bytes(raw[:length])
            found = replay(path, verify=True)
            whole = len(Reader(path).entries) == count and found.torn == length - last
            failures += not (whole and found.history.world.hash() == expected)
        return float(failures)


def scene_files_exact(device: str) -> float:
    """Built-in scenes that do not come back from a file with the same bits, as a model and after 50 steps."""
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in SCENES:
            first, second = Path(folder) / "first.json", Path(folder) / "second.json"
            model = scene(name)
            save_model(model, first)
            again = load_model(first)
            save_model(again, second)
            worlds = [World(each, device=device) for each in (model, again)]
            for world in worlds:
                world.step(50)
            differ += first.read_bytes() != second.read_bytes() or worlds[0].hash() != worlds[1].hash()
    return float(differ)


def journal_bits(device: str) -> float:
    """Methods and coordinates in which a session with undo and seek does not replay, reopen and go on bit for bit."""
    differ = 0
    for method, coordinates in (("direct", "generalized"), ("direct", "maximal"), ("simgc", None), ("simmc", None)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "session.journal"
            history = History(World(pendula(), method, coordinates, dt=0.001, device=device), path, hash_steps=10)
            session(history)
            history.undo()
            history.undo()
            history.step(30)
            history.seek(0.1)
            history.apply(SetParameter("link1.mass", 0.2))
            history.step(100)
            here = history.world.hash()
            history.close()
            found = replay(path, verify=True)
            reopened = History.open(path)
            differ += bool(found.wrong) or found.history.world.hash() != here or reopened.world.hash() != here
            reopened.close()
    return float(differ)


def edits_replayed(device: str, count: int = 10_000) -> float:
    """Sessions of random edits of every kind, on random mechanisms, whose journals give other bits."""
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.journal"

        def finish(history: History) -> None:
            nonlocal differ
            here = history.world.hash()
            history.close()
            found = replay(path, verify=True)
            differ += bool(found.wrong) or found.history.world.hash() != here
            path.unlink()

        campaign(count, wrap=lambda world: History(world, path, hash_steps=20), finish=finish, device=device)
    return float(differ)


def fuzz_files(device: str, runs: int = FUZZ_CASES) -> float:
    """Cases of Hypothesis, and of atheris where it is, that end in something else than a typed error."""
    try:
        fuzz.fuzz_scenes(runs // 2)
        fuzz.fuzz_edits(runs // 2)
        fuzz.fuzz_by_atheris(runs // 5)
    except Exception as error:  # what is looked for
        print(f"    {type(error).__name__}: {error}")
        return 1.0
    return 0.0


CASES = [
    Case("file-bits", "a scene saved and loaded is the same scene, bit for bit", 0.0, "scenes", scene_files_exact),
    Case("journal-bits", "a journal replays its session, bit for bit", 0.0, "methods", journal_bits),
    Case(
        "cut-journal",
        "a journal cut at any byte of its last record replays all before it",
        0.0,
        "bytes",
        cut_at_every_byte,
        slow=True,
    ),
    Case(
        "kill-9",
        f"a session killed at {KILLS} random moments replays to its last complete edit",
        0.0,
        "sessions",
        kill_minus_nine,
        slow=True,
        show=show_killed,
    ),
    Case(
        "edits-replayed",
        "10,000 random edits of every kind replay from their journals, bit for bit",
        0.0,
        "sessions",
        edits_replayed,
        slow=True,
    ),
    Case(
        "fuzz",
        f"{FUZZ_CASES} junk files and edits are taken or refused by a typed error",
        0.0,
        "cases",
        fuzz_files,
        slow=True,
    ),
]
