"""A system's numbers on the host alone: what a model gives the arrays, without any on a device.

A batch of models that differ needs the columns of a thousand systems and launches one. Warp takes most of the time that
a System takes to build; this takes a fifth of it. Coordinates at the start are found for the whole batch at once.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from .build import System


class PlainSystem(System):
    """A System of one world whose arrays are NumPy's; without channels, control and roads."""

    def _blank(self) -> Any:
        return SimpleNamespace()

    def _array(self, data: np.ndarray, dtype: type, shape: tuple[int, ...]) -> Any:
        return data

    def _set_base(self, name: str, base: Any) -> None:
        self._bases[name] = base

    def _absent(self, dtype: type, **values: object) -> None:
        pass

    def _write_control(self) -> None:
        pass

    def _write_tyres(self) -> None:
        pass

    def start_coordinates(self) -> np.ndarray:
        """None: they are not found here."""
        return np.zeros(self._coordinates)

    def parameter(self, name: str) -> np.ndarray:
        """Values of a parameter array [part, 1, ...]."""
        return self._bases[name]

    @property
    def topology_arrays(self) -> dict[str, np.ndarray]:
        """Arrays that worlds share, by name."""
        return vars(self.arrays)
