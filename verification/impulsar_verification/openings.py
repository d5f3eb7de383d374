"""Opening journals from anyone, each in a process of its own that may crash, hang or run out of memory.

    python -m impulsar_verification.openings

reads the names of journals, one per line, and answers each with a line of JSON: how it ended. The process
loads what opening needs once, and forks for every journal.
"""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

LIMIT = 5  # processor time [s]
PATIENCE = 60.0  # wall time after which one that does nothing is ended, others being at work on the machine [s]
MOST_MEMORY = 2**30  # that opening may take [bytes]
OPENED, REFUSED, RAW, CRASHED, HUNG, GREEDY = "opened", "refused", "raw exception", "signal", "hang", "memory"
BAD = (RAW, CRASHED, HUNG, GREEDY)


@dataclass(frozen=True)
class Opening:
    """How an opening ended."""

    outcome: str
    seconds: float
    text: str  # of the error, if there was one


def carry_out(path: str) -> None:
    """As `impulsar replay --verify` does."""
    from impulsar.history.replay import replay

    replay(path, verify=True)


def go_on(path: str, recover: bool = False) -> None:
    """As the studio does: open it, look around, step, undo, close."""
    from impulsar.author.errors import ModelError, StepError
    from impulsar.history.history import History

    history = History.open(path, recover=recover)
    first, _ = history.span
    for act in (
        lambda: history.step(3),
        lambda: history.seek(first),
        lambda: history.step(2),
        history.undo,
        history.redo,
        history.revert,
        lambda: history.world.model,
        lambda: history.world.energy(),
    ):
        try:
            act()
        except (ModelError, StepError):  # a world that opens may still break when it is stepped
            continue
    history.close()


def mend(path: str) -> None:
    """As `impulsar replay --recover` and then the studio do."""
    go_on(path, recover=True)


WAYS: dict[str, Callable[[str], None]] = {"replay": carry_out, "open": go_on, "recover": mend}


def attempt(act: Callable[[], None]) -> Opening:
    """Carry out something in a child, which is ended after LIMIT of work or PATIENCE."""
    reading, writing = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _end_by(act, writing)
    os.close(writing)
    ended, status, usage = os.wait4(child, os.WNOHANG)
    while not ended and time.monotonic() - began < PATIENCE:
        time.sleep(0.002)
        ended, status, usage = os.wait4(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
    seconds = usage.ru_utime + usage.ru_stime
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    if not ended or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return Opening(HUNG, seconds, text)
    if os.WIFSIGNALED(status):
        return Opening(CRASHED, seconds, signal.Signals(os.WTERMSIG(status)).name)
    outcome = {0: OPENED, 1: REFUSED}.get(os.WEXITSTATUS(status), RAW)
    if usage.ru_maxrss * 1024 > _memory + MOST_MEMORY:
        outcome = GREEDY
    return Opening(outcome, seconds, text)


_memory = 0  # of this process before it forks [bytes]


def _end_by(act: Callable[[], None], pipe: int) -> None:
    """In the child: 0 opened, 1 refused by a named error, 2 anything else."""
    import resource  # not on Windows

    from impulsar.author.errors import FileError

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))
    status, text = 0, ""
    try:
        act()
    except FileError as error:
        status, text = 1, str(error)
    except BaseException:
        status, text = 2, traceback.format_exc()[-3000:]
    os.write(pipe, text.encode(errors="replace")[:4000])
    os._exit(status)


def serve() -> None:
    """Answer names of journals until there are no more."""
    import resource
    import warnings

    from impulsar.engine.methods import METHODS
    from impulsar.world.world import World

    from .sessions import pendula

    global _memory
    warnings.simplefilter("ignore")
    for method in METHODS:
        World(pendula(), method).step(2)
    _memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print("ready", flush=True)
    for line in sys.stdin:
        way, path = json.loads(line)
        found = attempt(lambda way=way, path=path: WAYS[way](path))  # type: ignore[misc]
        print(json.dumps(vars(found)), flush=True)


class Opener:
    """The process that forks, asked from here."""

    def __init__(self, process: Any):
        self._process = process

    def ask(self, way: str, path: Path) -> Opening:
        """How opening a journal in one of the WAYS ends."""
        self._process.stdin.write(json.dumps([way, str(path)]) + "\n")
        self._process.stdin.flush()
        return Opening(**json.loads(self._process.stdout.readline()))


@contextmanager
def opener() -> Iterator[Opener]:
    """A process that opens journals."""
    command = [sys.executable, "-m", "impulsar_verification.openings"]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        while process.stdout.readline() not in ("ready\n", ""):  # compiling is told before
            pass
        yield Opener(process)
        process.stdin.close()


if __name__ == "__main__":
    serve()
