"""A process beside this one that traces and compiles steps, so that the one that steps does not wait.

Tracing is Python and would hold this process's interpreter for a second. The other process is given a snapshot, finds
the same arrays by it, and leaves compiled code in the cache that both use; what comes back is text (`Way`). It is begun
once and waits for more; where its input ends it ends.
"""

import atexit
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import warp as wp

from ..author.model import Model
from ..engine.compile.calls import run_of, shares
from ..engine.compile.graph import Untraceable
from ..engine.compile.recipe import Sample
from ..engine.compile.ways import Way, constants_of, way_of
from ..engine.device import load_kernels
from ..engine.methods.base import apart
from .snapshot import Snapshot

SIZE = struct.Struct("<Q")


@dataclass(frozen=True)
class Order:
    """What is to be compiled: a moment of a world of so many, and samples of its ways."""

    snapshot: Snapshot
    worlds: int
    contacts: int | None  # that there is to be room for, where that was asked for
    samples: tuple[Sample, ...]
    cache: str  # folder of compiled code
    largest: int  # operations of a step


@dataclass(frozen=True)
class Kernels:
    """Kernels of the CPU that are to be in the cache, by module and name."""

    names: tuple[tuple[str, str], ...]
    cache: str


@dataclass(frozen=True)
class Answer:
    """The ways of all samples, or why there are none; and of which arrays they are."""

    ways: list[Way]
    refused: str
    constants: bytes


class Workshop:
    """The process, as this one sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        folder = str(Path(__file__).parents[2])
        paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        atexit.register(self._end)

    def _end(self) -> None:
        """Leave what is not compiled yet."""
        self._process.kill()
        self._process.wait()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, order: Order | Kernels) -> Answer:
        """Have an order carried out; waits for it."""
        with self._lock:
            try:
                _put(self._process.stdin, order)  # type: ignore[arg-type]
                return _get(self._process.stdout)  # type: ignore[arg-type]
            except (OSError, EOFError) as error:
                return Answer([], f"the process that compiles has ended: {error}", b"")
            except (pickle.PicklingError, TypeError, AttributeError) as error:
                return Answer([], f"the model cannot be handed to another process: {error}", b"")


_shops: list[Workshop] = []


def workshop() -> Workshop:
    """The one of this process, begun if it is not there."""
    if not _shops or not _shops[0].is_alive:
        _shops[:] = [Workshop()]
    return _shops[0]


def have_compiled(kernels: Sequence[wp.Kernel]) -> None:
    """Have kernels compiled by the workshop, as far as it can find them by their names."""
    names = tuple((kernel.func.__module__, kernel.func.__qualname__) for kernel in kernels)
    workshop().ask(Kernels(names, str(wp.config.kernel_cache_dir)))


def _put(stream: BinaryIO, item: Any) -> None:
    data = pickle.dumps(item)
    stream.write(SIZE.pack(len(data)) + data)
    stream.flush()


def _get(stream: BinaryIO) -> Any:
    head = stream.read(SIZE.size)
    if len(head) < SIZE.size:
        raise EOFError("no more orders")
    return pickle.loads(stream.read(SIZE.unpack(head)[0]))


# in the other process -----------------------------------------------------------------------------


@cache
def _spare_world(method: Any, worlds: int, contacts: int | None = None) -> Any:
    """A world of nothing much, to be brought to snapshots; of the order's method, whose kernel is there already."""
    from .world import World

    model = Model("empty")
    model.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return World(model, method=method, worlds=worlds, contacts=contacts, compile="off")


def carry_out(order: Order) -> Answer:
    """Trace and compile."""
    wp.config.kernel_cache_dir = order.cache
    world = _spare_world(order.snapshot.method, order.worlds, order.contacts)
    world.restore(order.snapshot)
    runner = world.runner
    made: list[Way] = []
    places: dict[tuple, int] = {}
    try:
        for k in range(len(order.samples)):
            given = (runner.method, runner.system, runner.state, runner.work)
            made.append(way_of(*given, order.samples[: k + 1], places, runner.contacts))
            if made[-1].operations > order.largest:
                raise Untraceable(f"a step of {made[-1].operations} operations would take long to compile")
        for width, _, _ in shares(order.worlds):
            run_of(runner.state.numpy().shape[0], len(places), width)
            for way in made:
                way.function(width)
    except Untraceable as error:
        return Answer([], str(error), b"")
    return Answer(made, "", constants_of(runner.system))


def compile_kernels(order: Kernels) -> Answer:
    """Have kernels in the cache, the first of them first."""
    wp.config.kernel_cache_dir = order.cache
    found = [getattr(import_module(module), name) for module, name in order.names]
    load_kernels([one if isinstance(one, wp.Kernel) else apart(one) for one in found], "cpu")
    return Answer([], "", b"")


def main() -> None:
    """Carry out orders from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Warp prints is no answer
    from . import world  # noqa: F401  # a second, while the first order is made

    while True:
        try:
            order = _get(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = compile_kernels(order) if isinstance(order, Kernels) else carry_out(order)
        except Exception as error:  # told there, and the next order may be one that can be carried out
            answer = Answer([], f"{type(error).__name__}: {error}", b"")
        _put(answers, answer)
