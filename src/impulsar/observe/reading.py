"""A kernel that measures: its launch, recorded when it is first asked for, and what it wrote."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from ..engine.launch import record_launch
from ..engine.owed import settling


class Reading:
    """Reads what a kernel writes to its last arguments."""

    def __init__(
        self, kernel: wp.Kernel, worlds: int | Sequence[int], inputs: Sequence[object], out: Sequence[wp.array]
    ):
        self._kernel, self._worlds, self._inputs, self.out = kernel, worlds, inputs, out
        self._device = out[0].device

    @cached_property
    def _launch(self) -> Callable[[], None]:
        return settling(self.recorded(), self._inputs)

    @cached_property
    def _views(self) -> list[np.ndarray] | None:
        return [array.numpy() for array in self.out] if self._device.is_cpu else None

    def launch(self) -> None:
        """Launch it for who goes on with it on the device."""
        self._launch()

    def recorded(self) -> Callable[[], None]:
        """Its launch for a relay."""
        return record_launch(self._kernel, self._worlds, [*self._inputs, *self.out], str(self._device))

    def read(self) -> list[np.ndarray]:
        """Launch; on the CPU views, which the next reading overwrites, elsewhere copies."""
        self._launch()
        return self._views or [array.numpy() for array in self.out]


def out(values: np.ndarray, worlds: int) -> Any:
    """Values [world, ...]: of one world alone, or of all with the world first."""
    values = np.array(values)
    if worlds > 1:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]
