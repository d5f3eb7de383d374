"""Trajectories of many worlds there and back on a GPU: steps with what adjoints read on a tape, then their adjoints.

    there   each step by the first way whose guards hold; outcomes, behind the state's rows, by views: ways of their own
    tape    before each step, and before each view: rows that adjoints read, and the way that was gone
    back    λ of the rows that count and gradients, of views and steps, the last one first

A way is a traced step without loops, of the rows that are followed. What is too long for one tape is taken in legs,
each once more on the way back, from the state at its beginning. On the CPU the same texts run one thread after the
other.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import warp as wp

from .adjoint import ADJOINT, GRADIENT, Adjoint, Places
from .emit_cuda import back_text, run_text
from .graph import Graph
from .launch_cuda import FUSE
from .nvrtc import Kernel, kernel_on
from .step import STATE, TracedStep

MOST_TAPE = 2**33  # bytes
Address = Callable[[tuple], tuple[int, int]]  # of an input: where the numbers of the worlds begin, and their pitch


def read_by(graph: Graph, roots: "Sequence[int | float]") -> set[tuple]:
    """Names of the inputs that nodes follow from."""
    live = set(graph.live(roots))
    return {name for name, at in graph.inputs.items() if at in live}


def pruned(ways: Sequence[TracedStep], views: Sequence[TracedStep]) -> list[TracedStep]:
    """Ways of no more rows than outcomes and guards follow from, over any number of steps."""
    wanted = {name[1] for view in views for name in read_by(view.graph, view.roots) if name[0] == STATE}
    while True:
        kept = [replace(way, outputs={row: way.outputs[row] for row in way.outputs if row in wanted}) for way in ways]
        more = {name[1] for way in kept for name in read_by(way.graph, way.roots) if name[0] == STATE}
        if more <= wanted:
            return kept
        wanted |= more


class There:
    """A kernel that takes steps of worlds by the first of several ways whose guards hold."""

    def __init__(self, ways: Sequence[TracedStep], taped: Sequence[int], device: str, fuse: bool):
        read = {name for way in ways for name in read_by(way.graph, way.roots) if name[0] != STATE}
        self._inputs = sorted(read, key=str)
        text = run_text(ways, {name: k for k, name in enumerate(self._inputs)}, taped)
        self._kernel: Kernel = kernel_on(device, text, "run", fuse)
        self._device, self._ways = device, len(ways)

    def bind(self, address: Address, worlds: int) -> None:
        """Find the inputs where they are now."""
        found = [address(name) for name in self._inputs] or [(0, 0)]
        self._starts = wp.array(np.array([at for at, _ in found], np.uint64), dtype=wp.uint64, device=self._device)
        self._pitches = wp.array(np.array([n for _, n in found], np.int64), dtype=wp.int64, device=self._device)
        counts: list[Any] = [worlds, (3 + self._ways, worlds), 1]
        self._counts = [wp.zeros(shape, dtype=wp.int32, device=self._device) for shape in counts]

    def take(self, state: wp.array, steps: int, tape: int = 0, which: int = 0) -> np.ndarray | None:
        """So many steps of all worlds; tape, which: addresses. Steps of each world, where some could not be taken."""
        done, used, missing = self._counts
        missing.zero_()
        given = [one.ptr for one in (state, self._starts, self._pitches, done, used, missing)]
        worlds = state.shape[1]
        self._kernel.launch(worlds, *given, 0, tape, which, worlds, steps, 1)
        return done.numpy() if missing.numpy()[0] else None


class RoundTrip:
    """Trajectories of a batch from one state, sampled after some of their steps.

    rows: of the state, behind which outcomes have theirs.
    """

    def __init__(
        self, device: str, worlds: int, rows: int, outcomes: int, samples: Sequence[int], steps: int, fuse: bool = FUSE
    ):
        self.device, self.worlds, self.rows, self.outcomes = device, worlds, rows, outcomes
        self.samples, self.steps, self.fuse = list(samples), steps, fuse
        self.state = wp.zeros((rows + outcomes, worlds), dtype=wp.float64, device=device)
        self.start = wp.zeros_like(self.state)
        self.places: Places | None = None
        self._divide(0)

    @property
    def of_outcomes(self) -> list[int]:
        """Their rows, behind those of the state."""
        return list(range(self.rows, self.rows + self.outcomes))

    def _divide(self, read: int) -> None:
        """Into legs: these end at samples, and where a tape of so many rows is full."""
        room = MOST_TAPE // max(8 * read * self.worlds, 1)
        self.on_one_tape = self.steps <= room
        longest = self.steps if self.on_one_tape else max(1, room)
        ends = sorted({*self.samples, self.steps, *range(0, self.steps, longest)} - {0})
        self.legs = list(zip([0, *ends[:-1]], ends, strict=True))
        self._length = self.steps if self.on_one_tape else max(end - first for first, end in self.legs)

    def know(self, ways: Sequence[TracedStep], views: Sequence[TracedStep]) -> None:
        """Take these ways from now on; nothing is on a tape."""
        self.places = None
        self._write(ways, views)
        self._divide(0)

    def _write(self, ways: Sequence[TracedStep], views: Sequence[TracedStep]) -> None:
        taped = self.places.read if self.places else ()
        self._step = There(pruned(ways, views), taped, self.device, self.fuse)
        self._view = There(views, taped, self.device, self.fuse)

    def keep(
        self, ways: Sequence[TracedStep], views: Sequence[TracedStep], rows: Sequence[int], parameters: Sequence[tuple]
    ) -> None:
        """Have a tape, and adjoints: of the rows of the state that count, and of parameters."""
        of_steps = [Adjoint(way, rows, parameters) for way in ways]
        of_views = [Adjoint(view, [*rows, *self.of_outcomes], parameters) for view in views]
        inputs = {name for one in (*of_steps, *of_views) for name in one.inputs}
        read = sorted({name[1] for name in inputs if name[0] == STATE}) or [0]
        numbers = {name for name in inputs if name[0] not in (STATE, ADJOINT, GRADIENT)}
        places = self.places = Places(read, sorted({*numbers, *parameters}, key=str), [*rows, *self.of_outcomes])
        self._write(ways, views)
        self._back, self._of_view = (
            kernel_on(self.device, back_text([one.placed(places) for one in made], places), "back", self.fuse)
            for made in (of_steps, of_views)
        )
        self._divide(len(read))
        shape = len(read), self.worlds
        self._tape, self._views = (
            wp.empty((n, *shape), dtype=wp.float64, device=self.device) for n in (self._length, len(self.samples))
        )
        self._which, self._seen = (
            wp.empty((n, self.worlds), dtype=wp.int32, device=self.device) for n in (self._length, len(self.samples))
        )
        self._numbers = wp.zeros((places.size, self.worlds), dtype=wp.float64, device=self.device)
        more = 0 if self.on_one_tape else len(self.legs)
        self._marks = [wp.empty_like(self.state) for _ in range(more)]

    def bind(self, address: Address) -> None:
        """Find inputs where they are now."""
        for there in (self._step, self._view):
            there.bind(address, self.worlds)

    # there ----------------------------------------------------------------------------------------

    def go(self) -> "tuple[np.ndarray, tuple[int, int, np.ndarray] | None]":
        """From the start to the end: outcomes [sample, outcome, world].

        Where a world could go no further: the step, -1 for a view, the world, and its state there; what is behind that
        is not taken.
        """
        found = np.zeros((len(self.samples), self.outcomes, self.worlds))
        wp.copy(self.state, self.start)
        for number, (first, end) in enumerate([(0, 0), *self.legs]):
            if first < end:
                if self.places is not None and not self.on_one_tape:
                    wp.copy(self._marks[number - 1], self.state)
                if (done := self._advance(first, end)) is not None:
                    world = int(np.argmin(done))
                    return found, (first + int(done[world]), world, self._of_world(world))
            for k in (k for k, sample in enumerate(self.samples) if sample == end):
                if (done := self._look(k)) is not None:
                    world = int(np.argmin(done))
                    return found, (-1, world, self._of_world(world))
                found[k] = self.state[self.rows :].numpy()
        return found, None

    def _of_world(self, world: int) -> np.ndarray:
        return self.state.numpy()[: self.rows, world].copy()

    def _advance(self, first: int, end: int) -> np.ndarray | None:
        at = first if self.on_one_tape else 0
        where = [] if self.places is None else [_from(self._tape, at), _from(self._which, at)]
        return self._step.take(self.state, end - first, *where)

    def _look(self, sample: int) -> np.ndarray | None:
        where = [] if self.places is None else [_from(self._views, sample), _from(self._seen, sample)]
        return self._view.take(self.state, 1, *where)

    # back -----------------------------------------------------------------------------------------

    def come_back(self, given: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """λ at the start [row that counts, world], gradients [parameter, world], of what is on the tape.

        given: λ of outcomes [sample, outcome, world]; values: of the parameters [parameter, world].
        """
        places = self.places
        assert places is not None
        self._numbers.zero_()
        self._put(values, len(places.read))
        for number in range(len(self.legs) - 1, -1, -1):
            first, end = self.legs[number]
            self._look_back(end, given)
            if not self.on_one_tape:
                wp.copy(self.state, self._marks[number])
                self._advance(first, end)
            at = first if self.on_one_tape else 0
            where = [_from(self._tape, at), _from(self._which, at), self._numbers.ptr]
            self._back.launch(self.worlds, *where, self.worlds, end - first)
        self._look_back(0, given)
        numbers = self._numbers[places.adjoint :].numpy()
        rows = len(places.rows) - self.outcomes
        return numbers[:rows], numbers[places.gradient - places.adjoint :]

    def _look_back(self, step: int, given: np.ndarray) -> None:
        assert self.places is not None
        for k in (k for k, sample in enumerate(self.samples) if sample == step):
            self._put(given[k], self.places.gradient - self.outcomes)
            where = [_from(self._views, k), _from(self._seen, k), self._numbers.ptr]
            self._of_view.launch(self.worlds, *where, self.worlds, 1)

    def _put(self, values: np.ndarray, place: int) -> None:
        """Numbers [place, world] from a place on."""
        if len(values):
            mine = wp.array(np.ascontiguousarray(values), dtype=wp.float64, device=self.device)
            wp.copy(self._numbers, mine, dest_offset=place * self.worlds, count=mine.size)


def _from(array: wp.array, first: int) -> int:
    return int(array.ptr + first * array.strides[0])
