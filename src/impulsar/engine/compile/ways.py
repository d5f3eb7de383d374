"""Ways through a step as text, ready to be compiled: what is left of a traced step, which is data, too.

Those that were made are kept, by what they were made of: the arrays of the system, the samples. Whoever goes back to a
moment, or has had them made by another process (`background`), finds them again.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import warp as wp

from ..state import State, WorkArrays
from ..system import System
from .backend import compile_text
from .calls import shares
from .emit_c import emit, parameters_of
from .graph import Untraceable
from .recipe import LARGEST, Sample
from .reports import Tally
from .step import FOLLOWED, trace_step

MOST_KEPT = 32
COUNTERS = ("steps", "listing")  # of which no step depends


@dataclass(frozen=True)
class Way:
    """A way through the step."""

    texts: dict[int, str]  # by the number of worlds in a register
    parameters: list[tuple]  # that are inputs
    constants: list[str]  # arrays of the system of which something is in it
    tally: Tally
    operations: int
    guards: int

    def function(self, width: int) -> int:
        """Where its code is, compiled if need be."""
        return compile_text(self.texts[width], "step")


_kept: OrderedDict[bytes, Way | str] = OrderedDict()  # or why there is none


def constants_of(system: System) -> bytes:
    """A digest of all that a step may hold as constants."""
    digest = hashlib.blake2b(digest_size=16)
    _update(digest, system.arrays)
    return digest.digest()


def _update(digest: Any, arrays: Any) -> None:
    """Take the arrays of a structure into a digest, and of those in it."""
    for name in arrays._cls.vars:
        one = getattr(arrays, name)
        if isinstance(one, wp.array) and name not in FOLLOWED and name not in COUNTERS:
            digest.update(f"{name} {one.shape}".encode() + (one.numpy().tobytes() if one.size else b""))
        elif hasattr(one, "_cls"):
            _update(digest, one)


def key_of(
    method: Any, system: System, state: State, samples: Sequence[Sample], constants: bytes | None = None
) -> bytes:
    """What the way of the last of these samples is known by."""
    digest = hashlib.blake2b(constants or constants_of(system), digest_size=16)
    digest.update(repr((method.name, system.coordinates, system.counts, list(state.layout.rows.items()))).encode())
    for sample in samples:
        digest.update(b"%d:" % sample.world + sample.rows)
    return digest.digest()


def is_kept(key: bytes) -> bool:
    """Whether a way is known by a key."""
    return isinstance(_kept.get(key), Way)


def keep(key: bytes, way: "Way | str") -> None:
    """Have a way found by its key."""
    _kept[key] = way
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)


def way_of(
    method: Any,
    system: System,
    state: State,
    work: WorkArrays,
    samples: Sequence[Sample],
    places: dict[tuple, int],
    contacts: Any = None,
) -> Way:
    """The way of the last of these samples; places: of parameters of those before, to which its own are added."""
    key = key_of(method, system, state, samples)
    found = _kept.get(key)
    if found is None:
        try:
            found = _traced(method, system, state, work, samples[-1], dict(places), contacts)
        except Untraceable as error:
            found = str(error)
        keep(key, found)
    if isinstance(found, str):
        raise Untraceable(found)
    for name in found.parameters:
        places.setdefault(name, len(places))
    return found


def _traced(
    method: Any,
    system: System,
    state: State,
    work: WorkArrays,
    sample: Sample,
    places: dict[tuple, int],
    contacts: Any,
) -> Way:
    rows = state.numpy()
    now = rows[:, sample.world].copy()
    rows[:, sample.world] = sample.numbers
    try:
        step = trace_step(method, system, state, work, sample.world, keep_loops=True, contacts=contacts)
    finally:
        rows[:, sample.world] = now
    operations = step.operations
    if operations > LARGEST:
        raise Untraceable(f"a step of {operations} operations is too long to be compiled in one piece")
    parameters = parameters_of(step)
    for name in parameters:
        places.setdefault(name, len(places))
    texts = {width: emit(step, width, places) for width, _, _ in shares(system.counts.worlds)}
    constants = [name for name in step.constants if name not in COUNTERS]
    return Way(texts, parameters, constants, step.tally, operations, len(step.guards))
