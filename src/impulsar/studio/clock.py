"""Wall time into whole steps, honestly.

A running clock owes floor(speed · (now - origin) / dt) steps since its origin. They are all taken, in
order, none skipped. What a solver that is too slow leaves owing for longer than PATIENCE is forgiven:
the origin moves on, simulated time falls behind the wall, and `slow` and `factor` say so.
"""

import math
from collections import deque

FASTEST_FRAMES = 60.0  # [1/s]
SLOWEST_FRAMES = 25.0
PATIENCE = 0.2  # wall time that may be owed [s]
TURN = 0.04  # wall time that the steps of one turn should take at most [s]
WINDOW = 1.0  # wall time over which the factor is measured [s]
SOLVER = 0.7  # of its wall time that a step takes: above, it is the solver that is slow
SPEEDS = (0.001, 100.0)


class Clock:
    """Times are wall times [s] of one monotonic clock, always given by the caller."""

    def __init__(self, dt: float, now: float, speed: float = 1.0, steps_per_frame: int = 4):
        self.dt, self.speed, self.steps_per_frame = dt, speed, steps_per_frame
        self.step_time = 0.0  # wall time of a step, smoothed [s]
        self.forgiven = 0  # steps that were owed and never taken
        self.slow = False
        self.restart(now)

    def restart(self, now: float) -> None:
        """Owe nothing: after a pause, a seek, or a change of dt or speed."""
        self._origin, self._taken = now, 0
        self._measured: deque[tuple[float, float]] = deque([(now, 0.0)])
        self._simulated = 0.0
        self.slow = False

    @property
    def frame_interval(self) -> float:
        """Wall time between frames [s]."""
        return min(max(self.steps_per_frame * self.dt / self.speed, 1 / FASTEST_FRAMES), 1 / SLOWEST_FRAMES)

    def owed(self, now: float) -> int:
        """Steps due by now."""
        due = math.floor((now - self._origin) * self.speed / self.dt + 1e-9) - self._taken
        most = max(1, math.ceil(PATIENCE * self.speed / self.dt))
        if due > most:
            excess = due - most
            self._origin += excess * self.dt / self.speed
            self.forgiven += excess
            due = most
        return due

    def turn(self, now: float) -> int:
        """Steps to take in this turn: those owed, as far as they fit into a turn's wall time."""
        fit = max(1, int(TURN / self.step_time)) if self.step_time > 0 else self.steps_per_frame
        return min(self.owed(now), fit)

    def due_at(self, steps: int) -> float:
        """Wall time at which so many steps are owed [s]."""
        return self._origin + (self._taken + steps) * self.dt / self.speed

    def took(self, steps: int, began: float, ended: float) -> None:
        """Book steps that were taken between two wall times."""
        self._taken += steps
        self._simulated += steps * self.dt
        self.learn((ended - began) / steps)
        self._measured.append((ended, self._simulated))
        while len(self._measured) > 2 and self._measured[1][0] <= ended - WINDOW:
            self._measured.popleft()
        if ended - self._measured[0][0] >= WINDOW / 2:
            self.slow = self.factor < 0.95 * self.speed

    def learn(self, each: float) -> None:
        """Take note of the wall time of a step [s]."""
        self.step_time = each if self.step_time == 0.0 else 0.8 * self.step_time + 0.2 * each

    def slowness(self) -> str:
        """By how much time is behind, and whether it is the steps or what else this machine does."""
        budget = self.dt / self.speed
        text = f"this machine reaches {self.factor:.2g} times real time of the {self.speed:.2g} asked for"
        if self.step_time < SOLVER * budget:
            share = f"a step takes {1e3 * self.step_time:.2g} of the {1e3 * budget:.2g} ms that it may"
            return f"{text}; {share}, so other programs take its cores; time runs slower"
        return f"{text}: its steps take too long; time runs slower"

    @property
    def factor(self) -> float:
        """Simulated time over wall time, over the last second or so."""
        (first, before), (last, after) = self._measured[0], self._measured[-1]
        return (after - before) / (last - first) if last > first else 0.0
