"""A relay: recorded launches one after the other, round after round, in one launch.

What happens between two steps, a controller's function among it, is small beside what Python takes to launch it. Here
compiled kernels are called by their addresses, with the arguments that were packed when they were recorded: what the
kernels do, and so the bits, are those of as many launches from Python. On a CUDA device the launches are queued one
after the other; the host waits for none of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp

from .launch import record_launch
from .spatial import ZERO, f64
from .system.measured import BROKEN

LAST, SUM, MOST, WHERE = 0, 1, 2, 3  # how a row of a report goes on over rounds; WHERE: with the one it belongs to


@wp.func_native(
    """
    typedef void (*Forward)(void *, void *);
    ((Forward)function)((void *)bounds, (void *)arguments);
    """
)
def call(function: wp.uint64, bounds: wp.uint64, arguments: wp.uint64):
    """Call a compiled kernel of the CPU."""
    ...


@wp.kernel(enable_backward=False)
def relay_kernel(
    calls: wp.array2d(dtype=wp.uint64),  # [launch, 3] addresses of function, bounds and arguments
    when: wp.array2d(dtype=wp.int32),  # [launch, 2] rounds that are over at its first call, and from one to the next
    rounds: wp.array(dtype=wp.int32),  # [1] how many are to be
    done: wp.array(dtype=wp.int32),  # [1] rounds that are over
    stop: wp.array(dtype=wp.int32),  # [1] 1: a step could not be taken
):
    """All launches of all rounds, up to one that breaks."""
    while done[0] < rounds[0] and stop[0] == 0:
        for i in range(calls.shape[0]):
            since = done[0] - when[i, 0]
            if since >= 0 and since % when[i, 1] == 0:
                call(calls[i, 0], calls[i, 1], calls[i, 2])


@wp.kernel(enable_backward=False)
def end_round_kernel(
    how: wp.array(dtype=wp.int32),  # [row] of a report
    where: wp.array(dtype=wp.int32),  # [row] the row that says where the largest is, -1: none does
    report: wp.array2d(dtype=f64),  # [row, world] of the round's step
    # out
    total: wp.array2d(dtype=f64),  # [row, world] of all rounds
    done: wp.array(dtype=wp.int32),
    stop: wp.array(dtype=wp.int32),
):
    """Take the report of a round into that of all."""
    w = wp.tid()
    first = done[0] == 0
    for k in range(report.shape[0]):
        new = report[k, w]
        if first or how[k] == LAST:
            total[k, w] = new
        elif how[k] == SUM:
            total[k, w] = total[k, w] + new
        elif how[k] == MOST and new > total[k, w]:
            total[k, w] = new
            if where[k] >= 0:
                total[where[k], w] = report[where[k], w]
    if report[BROKEN, w] != ZERO:
        stop[0] = 1


@wp.kernel(enable_backward=False)
def count_round_kernel(done: wp.array(dtype=wp.int32)):
    done[0] = done[0] + 1


class Relay:
    """Launches that are repeated in rounds; the last of each takes the step. after: launches behind a round's end.

    sums, most: rows of a report that add up, and of which the largest counts; where: rows that say where that is.
    """

    def __init__(
        self,
        launches: Sequence[Callable[[], None]],
        report: wp.array,
        done: wp.array,
        sums: Sequence[int],
        most: Sequence[int],
        where: dict[int, int],
        after: Sequence[Callable[[], None]] = (),
    ):
        device = str(report.device)
        how, places = np.full(report.shape[0], LAST, np.int32), np.full(report.shape[0], -1, np.int32)
        how[list(sums)], how[[*most, *where]], how[list(where.values())] = SUM, MOST, WHERE
        places[list(where)] = list(where.values())
        rows = [wp.array(values, dtype=wp.int32, device=device) for values in (how, places)]
        self.report, self.done = report, done
        self.total, self._stop = wp.zeros_like(report), wp.zeros(1, dtype=wp.int32, device=device)
        inputs = [*rows, report, self.total, done, self._stop]
        ends = record_launch(end_round_kernel, report.shape[1], inputs, device)
        counts = record_launch(count_round_kernel, 1, [done], device)
        self._launches: list[Any] = [*launches, ends, counts, *after]
        self._always = len(self._launches) - len(after)
        self._rounds = wp.zeros(1, dtype=wp.int32, device=device)
        self._when = wp.zeros((len(self._launches), 2), dtype=wp.int32, device=device)
        self._is_cpu = report.device.is_cpu
        if self._is_cpu:
            calls = np.array([launch.call for launch in self._launches], np.uint64)
            self._calls = wp.array(calls, dtype=wp.uint64, device=device)
            self._launch = record_launch(
                relay_kernel, 1, [self._calls, self._when, self._rounds, done, self._stop], device
            )

    def run(self, rounds: int, after: Sequence[tuple[int, int]] = ()) -> bool:
        """Take so many rounds, and leave the report of all of them in that of the step; False: one broke.

        after: of each launch that follows a step, rounds that are over at its first call, and from one to the next.
        """
        for array, value in ((self.done, 0), (self._stop, 0), (self._rounds, rounds)):
            array.fill_(value)
        when = [(0, 1)] * self._always + list(after)
        if not self._is_cpu:
            for number in range(rounds):
                for k, (launch, (first, every)) in enumerate(zip(self._launches, when, strict=True)):
                    since = number + (k >= self._always) - first
                    if since >= 0 and since % every == 0:
                        launch()
            wp.copy(self.report, self.total)
            return True
        np.copyto(self._when.numpy(), when)
        self._launch()
        np.copyto(self.report.numpy(), self.total.numpy())
        return not self._stop.numpy()[0]


def can_relay(launch: Any, device: str) -> bool:
    """Whether a recorded launch can be part of a relay."""
    return hasattr(launch, "call") or not wp.get_device(device).is_cpu
