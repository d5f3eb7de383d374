"""Rows: what a client asked for, read after every step, so that no extreme falls between two frames.

Reading may take a share of the wall time that a step has. Where it would take more, as the reactions of a large
closed mechanism do, only every `stride`-th step is read; the recording has all of them.
"""

import math
import struct
import time as wall
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..world.reports import StepReport
from ..world.world import World
from .messages import ROWS_HEADER, ROWS_MAGIC

if TYPE_CHECKING:
    from .publisher import Client

SHARE = 0.25  # of a step's wall time that reading may take
QUICKLY, SLOWLY = 0.5, 0.05  # by which the cost follows one that is less, or more
_HEADER = struct.Struct("<" + "".join(code for _, code in ROWS_HEADER))


class Reader:
    """Reads rows for all clients, and finds how often it can."""

    def __init__(self) -> None:
        self.stride, self._is_first = 1, True
        self._cost = 0.0  # processor time of a reading, smoothed [s]

    def forget(self) -> None:
        """What a reading costs may be another from now on."""
        self.stride, self._cost, self._is_first = 1, 0.0, True

    def step(self, world: World, report: StepReport, times: tuple[float, float], clients: Iterable["Client"]) -> None:
        """Read a step that was taken; `times` are the wall time it took and the one it may take [s]."""
        asking = [client for client in clients if client.rows.is_asked]
        if not asking or world.runner.count % self.stride:
            return
        began = wall.thread_time()  # what others take of the processor is not its cost
        self.read(world, asking, report.iterations, times[0])
        cost = wall.thread_time() - began
        if self._is_first:  # launches are recorded and kernels loaded by it
            self._is_first = False
            return
        self._cost += (QUICKLY if cost < self._cost else SLOWLY) * (cost - self._cost)  # one that is dear is no news
        self.stride = max(1, math.ceil(self._cost / (SHARE * times[1])))

    def read(self, world: World, clients: Iterable["Client"], iterations: float = 0.0, step_time: float = 0.0) -> None:
        """Read a row of the world as it is now."""
        now, time = world.moment(iterations, step_time), world.time
        for client in clients:
            if client.rows.is_asked:
                values = [signal.read(now)[0] for signal in client.signals]
                client.rows.add(time, [*values, *client.points.places(now.bench)])


class Rows:
    """Those of one client that wait for the end of the turn."""

    def __init__(self) -> None:
        self.is_asked = False  # whether it has signals or points at all
        self.leapt = True  # since the last row the world came to where it is by other than steps
        self._times: list[float] = []
        self._values: list[list[float]] = []

    def add(self, time: float, values: list[float]) -> None:
        """A row, at a time [s]."""
        self._times.append(time)
        self._values.append(values)

    def clear(self) -> None:
        """Forget what waits: it is of other signals."""
        self._times, self._values = [], []
        self.leapt = True

    def pack(self, subscription: int, stride: int, follows: bool) -> bytes | None:
        """What waits, as a binary message; None where nothing does. `follows`: the steps are those of the recording."""
        if not self._times:
            return None
        how = int(self.leapt) + 2 * int(follows)
        header = _HEADER.pack(ROWS_MAGIC, subscription, len(self._times), len(self._values[0]), stride, how)
        data = header + np.array(self._times, "<f8").tobytes() + np.array(self._values, "<f8").tobytes()
        self._times, self._values = [], []
        self.leapt = False
        return data
