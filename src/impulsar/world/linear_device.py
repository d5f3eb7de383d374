"""A trajectory of worlds on a GPU and its derivatives: what `linear` is on the CPU, by kernels (`round_trip`).

Its states are those of compiled steps, with products and sums fused, so that outcomes are the generic kernel's but for
rounding. Ways are found from the first world that none of those known can take on, and all is taken from the start
again. Refused are modes that change inside steps, and controllers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..author.errors import ModelError, StepError
from ..engine.compile.launch_cuda import FUSE, SampledState
from ..engine.compile.recipe import Sample
from ..engine.compile.reports import Tally
from ..engine.compile.round_trip import RoundTrip
from ..engine.compile.step import TracedStep, trace_step
from ..engine.system.channels import RAMP, TABLE
from .causes import PROBE, Cause
from .elements import by_causes, by_rows, elements_of, rows_that_count, starts_of, value_of
from .outcomes import Outcome, trace_outcomes

if TYPE_CHECKING:
    from .world import World

MOST_WAYS = 32  # in a kernel: compiling takes longer with each


class DeviceLinear:
    """Derivatives of outcomes along a trajectory with respect to causes.

    before: another one of the same world, outcomes and causes, whose kernels and arrays it takes over, so that it is of
    no use any more; only elements of the causes and the state may have changed since. fuse: products and sums.
    """

    changes: tuple = ()  # of modes: none is followed

    def __init__(
        self,
        world: "World",
        steps: int,
        samples: Sequence[int],
        outcomes: Sequence[Outcome],
        causes: Sequence[Cause],
        before: "DeviceLinear | None" = None,
        fuse: bool = FUSE,
    ):
        if world.runner.beats.controllers:
            raise ModelError("sensitivity: controllers are followed on the CPU only; build the world with device='cpu'")
        self.world, self.outcomes, self.causes = world, list(outcomes), list(causes)
        self.worlds = world.worlds
        self.elements, self.followed = elements_of(causes)
        part = world.runner.substeps
        self._own = world.state.array.shape[0]  # rows of the state
        self.ways: list[TracedStep] = [] if before is None else before.ways
        self._views: list[TracedStep] = [] if before is None else before._views
        self._probes: dict[tuple, wp.array] = {}
        places = [k * part for k in samples]
        given = world.device, self.worlds, self._own, len(outcomes), places, steps * part, fuse
        self.trip: RoundTrip = RoundTrip(*given) if before is None else before.trip
        world.runner.settle()
        wp.copy(self.trip.start, world.state.array, count=world.state.array.size)
        if before is None:
            first = self._first_world()
            self._add_way(0, 0, first)
            self._add_view(0, first)
            self.trip.know(self.ways, self._views)
        self._values = self._go()

    def value(self, name: tuple) -> np.ndarray:
        """Of an element [world]."""
        return value_of(self.world, name)

    def sampled(self) -> np.ndarray:
        """Outcomes [sample, outcome, world]."""
        return self._values

    def compile_adjoints(self, passes: int) -> None:
        """They are compiled with the first pull."""

    def pull(self, given: np.ndarray) -> np.ndarray:
        """Σ given ∂outcome/∂cause over samples and outcomes [cause, world]; given [sample, outcome, world]."""
        trip = self.trip
        if trip.places is None:
            seen = [(view.graph, list(view.outputs.values())) for view in self._views]
            self.rows = rows_that_count(self.world, self._own, self.ways, seen)
            trip.keep(self.ways, self._views, self.rows, self.elements)
            self._go()
        assert trip.places is not None
        values = np.array([self.value(name) for name in trip.places.parameters]).reshape(-1, self.worlds)
        adjoint, of_elements = trip.come_back(given, values)
        rows = trip.places.rows[: len(adjoint)]
        return by_causes(self.causes, starts_of(rows, self.causes), adjoint, trip.places, of_elements)

    def forward(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes [sample, outcome, world] and their derivatives [sample, outcome, cause, world]."""
        return self._values, by_rows(self.pull, self._values, len(self.causes))

    def forward_all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, and derivatives of the times of changes, of which there are none."""
        return *self.forward(), np.zeros((0, len(self.causes)))

    # ways -----------------------------------------------------------------------------------------

    def _first_world(self) -> np.ndarray:
        return self.world.state.numpy()[:, 0].copy()

    def _go(self) -> np.ndarray:
        """Outcomes at the samples, by ways that are known and those that are found on the way."""
        while True:
            self.trip.bind(self._address)
            found, stuck = self.trip.go()
            if stuck is None:
                if not np.isfinite(found).all():
                    raise StepError("sensitivity: an outcome is not finite; see world.step")
                return found
            step, world, rows = stuck
            if step < 0:
                self._add_view(world, rows)
            else:
                self._add_way(step, world, rows)
            self.trip.know(self.ways, self._views)

    def _state(self, world: int, rows: np.ndarray) -> Any:
        return SampledState(self.world.state, Sample(world, rows.tobytes()))

    def _add_way(self, step: int, world: int, rows: np.ndarray) -> None:
        """The way that a world's next step goes."""
        if len(self.ways) >= MOST_WAYS:
            raise ModelError(
                f"sensitivity: steps go more than {MOST_WAYS} ways, as many as are kept on {self.world.device}; "
                "build the world with device='cpu'"
            )
        runner = self.world.runner
        given = runner.method, runner.system, self._state(world, rows), runner.work, world, self.followed
        way = trace_step(*given, differentiated=True)
        time = rows[self.world.state.rows["time"].start]
        self._refuse_changes(way, float(time))
        self.ways = [*self.ways, way]

    def _refuse_changes(self, way: TracedStep, time: float) -> None:
        changes = way.changes
        if changes is None:
            return
        jumps = np.isin(self.world.system.arrays.channel_kind.numpy(), (RAMP, TABLE)).any()
        if changes.is_alone or changes.rows or changes.trouble or changes.strikes or (changes.settles and not jumps):
            raise StepError(
                f"sensitivity: in the step from {time:.6g} s on a friction or limit changes its mode, which is "
                "followed on the CPU only; build the world with device='cpu'"
            )

    def _add_view(self, world: int, rows: np.ndarray) -> None:
        """Outcomes as they follow from a world's state."""
        if len(self._views) >= MOST_WAYS:
            raise ModelError(f"sensitivity: outcomes follow from states in more than {MOST_WAYS} ways")
        seen = trace_outcomes(self.world, self.outcomes, world, self.followed, self._state(world, rows))
        outputs: dict[Any, int | float] = dict(zip(self.trip.of_outcomes, seen.roots, strict=True))
        self._views = [*self._views, TracedStep(seen.graph, outputs, Tally(), [])]

    def _address(self, name: tuple) -> tuple[int, int]:
        """Where an input's numbers begin, and how far it is from one world's to the next's."""
        if name[0] == PROBE:
            numbers = self.value(name)[:1]
            self._probes[name] = wp.array(numbers, dtype=wp.float64, device=self.world.device)
            return self._probes[name].ptr, 0
        _, array, part, component = name
        index = part if isinstance(part, tuple) else (part,)
        data = getattr(self.world.system.arrays, array)
        start = data.ptr + sum(k * stride for k, stride in zip(index, data.strides, strict=False)) + 8 * component
        return start, data.strides[len(index)] // 8 if data.ndim > len(index) else 0
