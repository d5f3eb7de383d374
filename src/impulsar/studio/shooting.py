"""Frames of the recording for a video: what clients were shown while it was made, drawn anew at leisure.

A request is for a span of time. The answer is items one behind the other, each two uint32, kind and length, and so
many bytes: a Live as text (0) wherever hands, loads or motors are others than before, and frames (1) as those of the
WebSocket, a gap apart, from the last sample before the span to the first one after it.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..author.errors import ModelError
from ..observe.moment import Moment
from ..world.world import World
from . import describe
from .frames import VECTORS, tick
from .recording import Sample, visit
from .wire import to_text

MOST = 2_000  # frames of one answer
LIVE, FRAME = 0, 1
_HEAD = struct.Struct("<II")


@dataclass(frozen=True)
class Span:
    """What is asked for: times [s], the least time between frames, vectors besides what frames have of themselves."""

    since: float
    until: float
    gap: float
    vectors: tuple[str, ...]

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Span":
        """Of a request's query."""
        try:
            since, until, gap = (float(query[name]) for name in ("since", "until", "gap"))
        except (KeyError, ValueError) as error:
            raise ModelError("frames: since, until and gap are wanted, each a time [s]") from error
        vectors = tuple(name for name in query.get("vectors", "").split(",") if name)
        unknown = set(vectors) - set(VECTORS)
        if unknown:
            raise ModelError(f"frames: no vectors {', '.join(sorted(unknown))}; there are {', '.join(VECTORS)}")
        if not (since <= until and gap > 0.0 and until - since <= MOST * gap):
            raise ModelError(f"frames: {since:g} to {until:g} s, {gap:g} s apart, expected at most {MOST} of them")
        return cls(since, until, gap, vectors)


def chosen(samples: Sequence[Sample], span: Span) -> list[Sample]:
    """The samples of a span, no closer than its gap, with the one before it and the one after it."""
    times = [sample.clock for sample in samples]
    if not times or times[0] > span.since + 1e-9 or times[-1] < span.until - 1e-9:
        known = f"{times[0]:g} to {times[-1]:g} s is" if times else "nothing is"
        raise ModelError(f"frames: {span.since:g} to {span.until:g} s is asked for, {known} recorded; record anew")
    first = max((k for k, time in enumerate(times) if time <= span.since + 1e-9), default=0)
    last = next((k for k, time in enumerate(times) if time >= span.until - 1e-9), len(times) - 1)
    kept = [first]
    for k in range(first + 1, last):
        if times[k] - times[kept[-1]] >= (1 - 1e-6) * span.gap:
            kept.append(k)
    return [samples[k] for k in (*kept, *([last] if last > first else []))]


def items(samples: Sequence[Sample], scratch: World, generation: int, span: Span) -> Iterator[bytes]:
    """The answer, item by item; read from a world of the same model that nobody else uses."""
    motors, known, revision = describe.Motors(), None, 0
    for effort, sample in zip(visit(samples, scratch), samples, strict=True):
        live = describe.live(scratch, revision, motors, [])
        if known is None or live != known:
            revision += 1
            known = replace(live, revision=revision)
            yield _item(LIVE, to_text(known).encode())
        now: Moment = scratch.moment(effort.iterations)
        clock = (scratch.dt, 1.0, 1.0)
        shown = tick(now, sample.clock, generation, revision, sample.steps, 0, 0, 0.0, clock)
        yield _item(FRAME, shown.frame(0, 0, [], span.vectors))


def _item(kind: int, data: bytes) -> bytes:
    return _HEAD.pack(kind, len(data)) + data
