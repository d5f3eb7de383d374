"""Adjoints compiled: over the steps of a trajectory from the last to the first, many worlds, by C (`adjoint`)."""

import ctypes
from collections.abc import Mapping

import numpy as np

from .adjoint import Adjoint, Places, adjoint_text, driver
from .backend import compile_text
from .emit_c import WIDTHS

_pointer, _whole = ctypes.c_void_p, ctypes.c_longlong
Back = ctypes.CFUNCTYPE(None, *[_pointer] * 4, *[_whole] * 4)


class CompiledAdjoint:
    """Adjoints of several ways through a step, by numbers of a caller; `order` has these as `run` counts them."""

    def __init__(self, adjoints: Mapping[int, Adjoint], places: Places, worlds: int):
        self.order, self.places, self.worlds = list(adjoints), places, worlds
        steps = [adjoints[k].placed(places) for k in self.order]
        self.operations = max(adjoint.operations for adjoint in adjoints.values())
        self._calls, at = [], 0
        for width in reversed(WIDTHS):
            end = at + (worlds - at) // width * width
            if end > at:
                code = np.array([compile_text(adjoint_text(step, width), "step") for step in steps], np.uint64)
                self._calls.append((Back(compile_text(driver(places, width), "back")), code, at, end))
            at = end

    def run(
        self, states: np.ndarray, which: np.ndarray, values: np.ndarray, adjoint: np.ndarray, gradient: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Adjoint [row, world] and gradient [parameter, world] before steps, from those after them.

        states [step, row that is read, world]; which [step, world]: the way of each, -1: none, it is left out;
        values: of the parameters [parameter, world].
        """
        states = np.ascontiguousarray(states)
        which = np.ascontiguousarray(which, np.int64)
        numbers = np.zeros((self.places.size, self.worlds))
        numbers[len(self.places.read) : self.places.adjoint] = values
        numbers[self.places.adjoint : self.places.gradient] = adjoint
        numbers[self.places.gradient :] = gradient
        given = states.ctypes.data, which.ctypes.data, numbers.ctypes.data, self.worlds
        for back, code, first, end in self._calls:
            back(code.ctypes.data, *given, first, end, len(states))
        return numbers[self.places.adjoint : self.places.gradient].copy(), numbers[self.places.gradient :].copy()
