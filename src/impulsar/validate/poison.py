"""Poison for work arrays: what a stage reads without having been given it shows."""

import numpy as np

from ..engine.state import WorkArrays

FLAG = 1  # of integers: a mark that is set, and a number that every list of rows has


def poison(work: WorkArrays, *inputs: str) -> None:
    """Fill every work array but the inputs with NaN, those of integers with a wrong number within their bounds."""
    for name in set(WorkArrays.vars) - set(inputs):  # type: ignore[attr-defined]
        array = getattr(work, name)
        data = array.numpy()
        data[...] = np.nan if data.dtype.kind == "f" else FLAG
        if not array.device.is_cpu:
            array.assign(data)
