"""Points of bodies whose paths a client draws: anywhere in a body's frame, on its surface or not."""

from collections.abc import Sequence

import numpy as np

from ..author.rotations import rotate_all
from ..observe.bench import Bench

GROUND = "ground"


class Points:
    """Bodies and points in their frames [m]."""

    def __init__(self, named: Sequence[tuple[str, Sequence[float]]] = ()):
        self.named = list(named)
        self._at = np.array([at for _, at in self.named], float).reshape(-1, 3)
        self._rows = np.empty(0, int)
        self._fixed = self._gone = np.empty(0, bool)

    def find(self, bench: Bench) -> None:
        """Look the bodies up in a system."""
        rows = [bench.system.body_index.get(body, -1) for body, _ in self.named]
        self._rows = np.array(rows, int)
        self._fixed = np.array([body == GROUND for body, _ in self.named], bool)
        self._gone = (self._rows < 0) & ~self._fixed

    def places(self, bench: Bench) -> np.ndarray:
        """Where they are now, x, y and z one behind the other [m]; NaN of those whose body is gone."""
        if not self.named:
            return self._at.ravel()
        found = bench.read("p_WB")[self._rows, 0] + rotate_all(bench.read("q_WB")[self._rows, 0], self._at)
        found[self._fixed] = self._at[self._fixed]
        found[self._gone] = np.nan
        return found.ravel()
