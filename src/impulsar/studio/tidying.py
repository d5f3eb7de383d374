"""Garbage is looked for between turns, where nobody waits, and never in one.

Python looks for cycles whenever enough objects have come, and through all of them now and then: with a full recording
(200,000 samples of ten pendula) that takes 20 ms of a turn, without what was there at the start 50 ms more. Here what
is young is looked through when a turn has time left, and what has survived is set aside (`gc.freeze`, which takes no
time): it goes when nothing refers to it, as most does. Only cycles that became old stay, until time stands still and
nobody has asked for anything for a while; then all is looked through.
"""

import gc

YOUNG_EVERY = 0.5  # wall time between looks at what is young [s]
YOUNG_TAKES = 0.002  # wall time that must be left for one [s]
ALL_AFTER = 10.0  # wall time without a word before all is looked through [s]
ALL_EVERY = 300.0  # wall time between such looks [s]


class Tidying:
    """Of a process that is the studio's own; times are wall times of one monotonic clock [s]."""

    def __init__(self) -> None:
        self._young = self._all = 0.0
        self.looks = [0, 0]  # at what is young, at all

    def begin(self, now: float) -> None:
        """Set aside what is there, and look for nothing unasked."""
        gc.collect()
        gc.freeze()
        gc.disable()
        self._young = self._all = now

    def end(self) -> None:
        """Leave it to Python again."""
        gc.unfreeze()
        gc.enable()

    def between(self, now: float, left: float, since: float) -> None:
        """Before the session waits for `left`; `since`: when a frame was last made, because of a step or a wish."""
        if left > ALL_AFTER and now - since > ALL_AFTER and now - self._all > ALL_EVERY:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._young = self._all = now
            self.looks[1] += 1
        elif left > YOUNG_TAKES and now - self._young > YOUNG_EVERY:
            gc.collect(1)
            gc.freeze()
            self._young = now
            self.looks[0] += 1
