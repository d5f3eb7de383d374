"""A trajectory of a world and its derivatives: states, the ways that steps take from them, Jacobians and adjoints.

    x_{k+1} = F(x_k, p)      y = G(x_k, p) at samples      p: elements of arrays that causes change, x_0: the start

    forward    T_{k+1} = ∂F/∂x T_k + ∂F/∂p,      dy = ∂G/∂x T + ∂G/∂p
    reverse    λ_k = ∂F/∂xᵀ λ_{k+1} (+ ∂G/∂xᵀ ȳ at samples),      ḡ += ∂F/∂pᵀ λ

Times at which modes change inside steps are outcomes of the state before the step: T = τ(x_k, p).

The states are those of the world's own kernel, taken one by one. A step is traced at one of them; at all others where
the same guards hold it is the same way, and where none does one more is traced. Sizes of sub-steps are held, but for
those that end where a mode changes (engine/compile/jumps.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.errors import ModelError, StepError
from ..engine.compile.adjoint import Adjoint, Places
from ..engine.compile.graph import Graph, Guard, refer
from ..engine.compile.reverse import CompiledAdjoint
from ..engine.compile.step import PARAMETER, STATE, TracedStep, trace_step
from ..engine.compile.tangent import holding, jacobians
from ..engine.system import measured
from ..engine.system.channels import RAMP, TABLE
from .causes import PROBE, Cause
from .elements import by_causes, elements_of, rows_that_count, starts_of, value_of
from .outcomes import Outcome, Traced, trace_outcomes
from .steering import GAIN, VARIABLE, Steering

if TYPE_CHECKING:
    from .world import World

CHUNK = 2**22  # numbers of Jacobians that are kept at a time
PER_OPERATION = 2e-4  # seconds that compiling takes, about,
PER_NUMBER = 5e-9  # and a number of a pass over a graph by arrays
SAME = 1e-6  # of a coordinate or velocity: by so much a traced step may differ from the kernel's
OF_STEPS = (PARAMETER, VARIABLE, GAIN)  # kinds of inputs of steps, besides the state
MOST_WAYS = 200  # that are kept for another trajectory
LARGEST = 60_000  # operations beyond which compiling takes minutes


class Way:
    """A step as it goes from some of the states."""

    def __init__(self, step: TracedStep, due: tuple[int, ...] = (), gone: float = 0.0):
        self.step, self.due = step, due  # controllers that act before it
        self.gone = gone  # how often, of late
        self.adjoint: Adjoint | None = None

    @property
    def guards(self) -> list[Guard] | None:
        """Under which it is the way from another state; None: it is of one state alone."""
        alone = self.step.changes is not None and self.step.changes.is_alone
        return None if alone else self.step.guards


@dataclass
class Change:
    """A change of mode inside a step."""

    step: int
    world: int
    row: int  # of the system's slots
    time: float  # [s]
    slopes: np.ndarray  # of the time, by rows that count before the step, and causes


class Trajectory:
    """States of a world over a duration, by its own kernel; the world is left as it was."""

    def __init__(self, world: "World", steps: int):
        if world.device != "cpu":
            raise ModelError(f"trajectories of a world on {world.device} are not optimised; build it with device='cpu'")
        runner = self.runner = world.runner
        self.world, self.steps = world, steps * runner.substeps  # launches of one sub-step of h
        self.per_step, self.worlds = runner.substeps, runner.worlds
        self.steering = Steering(world) if runner.beats.controllers else None
        self.own = runner.state.numpy().shape[0]  # rows of the state; behind them those of controllers
        rows = self.steering.end if self.steering is not None else self.own
        self.states = np.empty((self.steps + 1, rows, self.worlds))
        moment, counts = world.snapshot(), self.steering and self.steering.counts()
        try:
            self._record()
        finally:
            world.restore(moment)
            if self.steering is not None:
                self.steering.count(counts)
        self.runner = world.runner

    def _record(self) -> None:
        runner = self.runner
        runner.set_steps(1)
        self._keep(0)
        for k in range(self.steps):
            if self.steering is not None:
                self.steering.act() if k % self.per_step == 0 else self.steering.pass_by()
            runner.launch()
            if runner.report[measured.BROKEN].any():
                raise StepError(f"sensitivity: step {k // self.per_step + 1} could not be taken; see world.step")
            self._keep(k + 1)
        runner.set_steps(runner.substeps)

    def _keep(self, k: int) -> None:
        self.states[k, : self.own] = self.runner.state.numpy()
        if self.steering is not None:
            self.states[k, self.own :] = self.steering.rows()

    def due(self, step: int) -> tuple[int, ...]:
        """Controllers that act before a step."""
        return self.steering.due[step] if self.steering is not None else ()

    def before(self, step: int, world: int) -> Any:
        """What comes before a step while it is traced; None: nothing does."""
        steering = self.steering
        return steering and partial(steering.trace, steering.due[step], self.states[step, :, world])


class Linear:
    """Derivatives of outcomes along a trajectory with respect to causes.

    before: another one of the same world, outcomes and causes, whose ways are known; only elements of the causes and
    the state may have changed since.
    """

    rows: list[int]  # of the state, that count
    ways: list[Way]
    views: list[Traced]
    places: Places
    adjoints: CompiledAdjoint | None = None
    _passes = 0  # for which they were chosen

    def __init__(
        self,
        world: "World",
        steps: int,
        samples: Sequence[int],
        outcomes: Sequence[Outcome],
        causes: Sequence[Cause],
        before: "Linear | None" = None,
    ):
        self.world, self.outcomes, self.causes = world, list(outcomes), list(causes)
        self.path = Trajectory(world, steps)
        self.worlds = self.path.worlds
        self.samples = [k * self.path.per_step for k in samples]  # in sub-steps
        self.elements, self.followed = elements_of(causes)
        self._state = world.state.numpy()  # a view
        self._kept: tuple[int, dict[int, list[tuple[int, np.ndarray]]]] = (-1, {})
        self._sort_steps(before)
        self._sort_samples(before)
        same = before is not None and self._goes_as(before)
        self.rows = before.rows if before is not None and same else self._choose_rows()
        self.start = starts_of(self.rows, causes)
        if before is not None and before.rows == self.rows:
            for way, known in zip(self.ways, before.common_ways, strict=False):
                way.adjoint = known.adjoint
            if same and before._passes:
                self.places, self.adjoints, self._passes = before.places, before.adjoints, before._passes

    def _goes_as(self, before: "Linear") -> bool:
        """Whether no way and no view is new since, and none of those was of one state alone."""
        ways = len(self.ways) == len(before.ways) == len(before.common_ways)
        return ways and len(self.views) == len(before.views)

    # ways -----------------------------------------------------------------------------------------

    def _sort_steps(self, before: "Linear | None") -> None:
        """Trace steps until each of them goes one of the ways that are known."""
        states = self.path.states[:-1]
        runner = self.world.runner

        def trace(step: int, world: int) -> Way:
            before = self.path.before(step, world)
            arrays = runner.system, runner.state, runner.work
            found = trace_step(runner.method, *arrays, world, self.followed, differentiated=True, prepare=before)
            self._check(found, step, world)
            return Way(found, self.path.due(step))

        known = [] if before is None else [Way(way.step, way.due, way.gone) for way in before.common_ways]
        due = [self.path.due(k) for k in range(len(states))]

        def same(way: Way, lanes: np.ndarray) -> np.ndarray:
            acting = np.array([due[k] == way.due for k in lanes[:, 0]], bool)
            return self._held(way.step.graph, way.guards, states, lanes) & acting

        self.ways, self.which = self._sorted(states, trace, same, known, [way.gone for way in known])
        for k, way in enumerate(self.ways):
            way.gone = 0.5 * way.gone + int((self.which == k).sum())
            self._refuse_starts(way, np.argwhere(self.which == k)[:, 0])

    def _refuse_starts(self, way: Way, steps: np.ndarray) -> None:
        """Refuse modes that change at the very start of steps, unless these begin or inputs may jump there."""
        changes = way.step.changes
        if changes is None or not len(steps) or not (changes.strikes or changes.settles):
            return
        kinds = self.world.system.arrays.channel_kind.numpy()
        told = changes.strikes or not (way.due or np.isin(kinds, (RAMP, TABLE)).any())
        late = steps if changes.strikes else steps[steps > 0]
        if told and len(late):
            time = self.path.states[late[0], self.world.state.rows["time"].start, 0]
            raise StepError(
                f"sensitivity: at {time:.6g} s a friction or limit changes its mode at the very start of a step, where "
                "derivatives are of one side; take another dt or start"
            )

    @cached_property
    def common_ways(self) -> list[Way]:
        """Those that other states may go as well; of very many those that most do."""
        kept = [k for k, way in enumerate(self.ways) if way.guards is not None]
        most = set(sorted(kept, key=lambda k: -self.ways[k].gone)[:MOST_WAYS])
        return [self.ways[k] for k in kept if k in most]

    def _check(self, found: TracedStep, step: int, world: int) -> None:
        """Refuse a step that has no derivative, or that was not followed as the kernel takes it."""
        time = self.world.time  # of the state that is in place while it is traced
        if found.changes is not None and found.changes.trouble:
            raise StepError(
                f"sensitivity: in the step from {time:.6g} s on {found.changes.trouble}, where derivatives are of one "
                "side; end before it, or take another dt or start"
            )
        after = self.path.states[step + 1, :, world]
        for block in ("q", "v"):
            for row in range(*self.world.state.rows[block].indices(len(after))):
                value = found.graph.value(found.outputs.get(row, after[row]))
                if abs(value - after[row]) > SAME * max(1.0, abs(after[row])):
                    raise StepError(
                        f"sensitivity: the step from {time:.6g} s on goes another way by a rounding error; start a "
                        "little earlier or later"
                    )

    def _sort_samples(self, before: "Linear | None") -> None:
        states = self.path.states[self.samples]

        def trace(step: int, world: int) -> Traced:
            return trace_outcomes(self.world, self.outcomes, world, self.followed)

        known = [] if before is None else before.views

        def same(view: Traced, lanes: np.ndarray) -> np.ndarray:
            return self._held(view.graph, view.guards, states, lanes)

        self.views, self.seen = self._sorted(states, trace, same, known)

    def _sorted(
        self, states: np.ndarray, trace: Any, same: Any, known: list[Any], gone: Sequence[float] = ()
    ) -> tuple[list[Any], np.ndarray]:
        """Ways, those that are known first, and which of them it is at each state [step, world].

        same: of a way and states (step, world) [lane], at which of them it is the way. gone: how often each known one
        was; they are tried in that order.
        """
        which = np.full((len(states), self.worlds), -1)
        ways = list(known)
        for k in sorted(range(len(ways)), key=lambda k: -gone[k]) if gone else range(len(ways)):
            left = np.argwhere(which < 0)
            if not len(left):
                break
            these = left[same(ways[k], left)]
            which[these[:, 0], these[:, 1]] = k
        kept = self._state.copy()
        try:
            while (which < 0).any():
                left = np.argwhere(which < 0)
                step, world = (int(k) for k in left[0])
                self._state[...] = states[step, : self.path.own]
                way = trace(step, world)
                which[step, world] = len(ways)
                if len(left) > 1:
                    these = left[1:][same(way, left[1:])]
                    which[these[:, 0], these[:, 1]] = len(ways)
                ways.append(way)
        finally:
            self._state[...] = kept
        return ways, which

    def _held(self, graph: Graph, guards: list[Guard] | None, states: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        if guards is None:
            return np.zeros(len(lanes), bool)
        if not guards:
            return np.ones(len(lanes), bool)
        return holding(graph, guards, self._given(graph, states, lanes), len(lanes))

    def _given(self, graph: Graph, states: np.ndarray, lanes: np.ndarray) -> dict[Any, Any]:
        """Values of a graph's inputs at states (step, world) [lane]."""
        found: dict[Any, Any] = {}
        for name in graph.inputs:
            if name[0] == STATE:
                found[name] = states[lanes[:, 0], name[1], lanes[:, 1]]
            else:
                found[name] = self.value(name)[lanes[:, 1]]
        return found

    def value(self, name: tuple) -> np.ndarray:
        """Of an element [world]."""
        return value_of(self.world, name)

    # rows that count ------------------------------------------------------------------------------

    def _choose_rows(self) -> list[int]:
        """Rows that outcomes and times of changes depend on, over any number of steps; sizes to come are held."""
        views = [(view.graph, view.roots) for view in self.views]
        return rows_that_count(self.world, self.path.states.shape[1], [way.step for way in self.ways], views)

    def _seeds(self) -> dict[Any, dict[int, float]]:
        """Directions: rows that count, then causes."""
        seeds: dict[Any, dict[int, float]] = {(STATE, row): {k: 1.0} for k, row in enumerate(self.rows)}
        for j, cause in enumerate(self.causes):
            for name, slope in cause.elements.items():
                seeds.setdefault(name, {})[len(self.rows) + j] = slope
        return seeds

    # forward --------------------------------------------------------------------------------------

    def views_at(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes [sample, outcome, world], and their derivatives [sample, outcome, row and cause, world]."""
        states, n = self.path.states[self.samples], len(self.rows) + len(self.causes)
        values = np.zeros((len(states), len(self.outcomes), self.worlds))
        slopes = np.zeros((len(states), len(self.outcomes), n, self.worlds))
        for k, view in enumerate(self.views):
            lanes = np.argwhere(self.seen == k)
            given = self._given(view.graph, states, lanes)
            found, moved = jacobians(view.graph, view.roots, given, self._seeds(), len(lanes))
            values[lanes[:, 0], :, lanes[:, 1]] = found.T
            slopes[lanes[:, 0], :, : moved.shape[1], lanes[:, 1]] = moved.transpose(2, 0, 1)
        return values, slopes

    def sampled(self) -> np.ndarray:
        """Outcomes [sample, outcome, world]."""
        return self.views_at()[0]

    def step_jacobians(self, lanes: np.ndarray) -> np.ndarray:
        """∂(rows after)/∂(rows before, causes) of steps (step, world) [lane, row, row and cause]."""
        n = len(self.rows)
        out = np.zeros((len(lanes), n, n + len(self.causes)))
        mine = self.which[lanes[:, 0], lanes[:, 1]]
        for k in np.unique(mine):
            step, those = self.ways[k].step, np.flatnonzero(mine == k)
            written = [i for i, row in enumerate(self.rows) if row in step.outputs]
            roots = [step.outputs[self.rows[i]] for i in written]
            given = self._given(step.graph, self.path.states, lanes[those])
            _, moved = jacobians(step.graph, roots, given, self._seeds(), len(those))
            block = np.zeros((len(those), n, n + len(self.causes)))
            block[:, range(n), range(n)] = 1.0
            block[:, written] = 0.0
            block[:, written, : moved.shape[1]] = moved.transpose(2, 0, 1)
            out[those] = block
        return out

    @cached_property
    def changes(self) -> list[Change]:
        """Of modes, along the trajectory."""
        found = []
        for k, way in enumerate(self.ways):
            changes = way.step.changes
            if changes is None or not changes.rows:
                continue
            for step, world in np.argwhere(self.which == k).tolist():
                roots, lane = [refer(time) for time in changes.times], np.array([(step, world)])
                given = self._given(way.step.graph, self.path.states, lane)
                times, slopes = jacobians(way.step.graph, roots, given, self._seeds(), 1)
                for row, time, slope in zip(changes.rows, times[:, 0], slopes[..., 0], strict=True):
                    whole = np.zeros(len(self.rows) + len(self.causes))
                    whole[: len(slope)] = slope
                    found.append(Change(step, world, row, float(time), whole))
        return sorted(found, key=lambda change: (change.world, change.time))

    def forward(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes [sample, outcome, world] and their derivatives [sample, outcome, cause, world]."""
        values, out, _ = self.forward_all()
        return values, out

    def forward_all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, and derivatives of the times of changes [change, cause]."""
        n, steps = len(self.rows), self.path.steps
        values, slopes = self.views_at()
        out = np.zeros((*values.shape[:2], len(self.causes), self.worlds))
        of_times = np.zeros((len(self.changes), len(self.causes)))
        T = np.repeat(self.start[None], self.worlds, axis=0)  # [world, row, cause]
        chunk = max(1, CHUNK // max(n * (n + len(self.causes)) * self.worlds, 1))
        at = {k: [i for i, sample in enumerate(self.samples) if sample == k] for k in set(self.samples)}
        for first in range(0, steps + 1, chunk):
            end = min(first + chunk, steps)
            lanes = np.array([(k, w) for k in range(first, end) for w in range(self.worlds)]).reshape(-1, 2)
            A = self.step_jacobians(lanes).reshape(end - first, self.worlds, n, -1)
            for k in range(first, min(first + chunk, steps + 1)):
                for i in at.get(k, ()):
                    G = slopes[i].transpose(2, 0, 1)  # [world, outcome, row and cause]
                    out[i] = (G[:, :, :n] @ T + G[:, :, n:]).transpose(1, 2, 0)
                for i, change in enumerate(self.changes):
                    if change.step == k:
                        of_times[i] = change.slopes[:n] @ T[change.world] + change.slopes[n:]
                if k < end:
                    T = A[k - first, :, :, :n] @ T + A[k - first, :, :, n:]
        return values, out, of_times

    # reverse --------------------------------------------------------------------------------------

    def compile_adjoints(self, passes: int) -> None:
        """Compile the adjoints of ways that are gone so often that it is less than so many passes over arrays."""
        if passes < 2 * self._passes:
            return
        self._passes = passes
        parameters = self._parameters
        n = len(self.rows) + len(self.causes)
        chosen: dict[int, Adjoint] = {}
        for k, way in enumerate(self.ways):
            operations = way.step.operations
            by_arrays = PER_NUMBER * operations * (1 + n) * int((self.which == k).sum())
            if 3 * operations <= LARGEST and by_arrays > 3 * operations * PER_OPERATION / max(passes, 1):
                way.adjoint = way.adjoint or Adjoint(way.step, self.rows, parameters)
            if way.adjoint is not None:
                chosen[k] = way.adjoint
        if self.adjoints is not None and list(chosen) == self.adjoints.order:
            return
        read = sorted({row for adjoint in chosen.values() for row in adjoint.read})
        needed = {name for adjoint in chosen.values() for name in adjoint.inputs if name[0] in OF_STEPS}
        self.places = Places(read, sorted(needed | set(parameters), key=str), self.rows)
        self.adjoints = CompiledAdjoint(chosen, self.places, self.worlds) if chosen else None

    def compile_adjoint(self, way: int) -> CompiledAdjoint:
        """The adjoint of one way alone."""
        adjoint = Adjoint(self.ways[way].step, self.rows, self._parameters)
        needed = {name for name in adjoint.inputs if name[0] in OF_STEPS}
        places = Places(sorted(adjoint.read), sorted(needed | set(self._parameters), key=str), self.rows)
        return CompiledAdjoint({way: adjoint}, places, self.worlds)

    @property
    def _parameters(self) -> list[tuple]:
        """Elements that steps may read."""
        return [name for name in self.elements if name[0] != PROBE]

    def other_jacobians(self, step: int, which: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """World and Jacobian of steps that are not compiled (which < 0), made for many steps at a time."""
        n = len(self.rows)
        chunk = max(1, CHUNK // max(n * (n + len(self.causes)) * self.worlds, 1))
        number = step // chunk
        if self._kept[0] != number:
            lanes = np.argwhere(which[number * chunk : (number + 1) * chunk] < 0)
            lanes[:, 0] += number * chunk
            found: dict[int, list[tuple[int, np.ndarray]]] = {}
            for (k, w), A in zip(lanes.tolist(), self.step_jacobians(lanes), strict=True):
                found.setdefault(k, []).append((w, A))
            self._kept = number, found
        return self._kept[1].get(step, [])

    def pull(self, given: np.ndarray, views: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
        """Σ given ∂outcome/∂cause over samples and outcomes [cause, world]; given [sample, outcome, world]."""
        _, slopes = views or self.views_at()
        self.compile_adjoints(1)
        n = len(self.rows)
        run = _Backwards(self)
        at = self.path.steps
        for i in sorted(range(len(self.samples)), key=lambda i: -self.samples[i]):
            run.back(self.samples[i], at)
            at = self.samples[i]
            G = slopes[i] * given[i][:, None]  # [outcome, row and cause, world]
            run.adjoint += G[:, :n].sum(axis=0)
            run.gradient += G[:, n:].sum(axis=0)
        run.back(0, at)
        return run.finish()

    def pull_time(self, change: Change) -> np.ndarray:
        """Derivatives of the time of a change by causes."""
        self.compile_adjoints(1)
        n, run = len(self.rows), _Backwards(self)
        run.adjoint[:, change.world], run.gradient[:, change.world] = change.slopes[:n], change.slopes[n:]
        run.back(0, change.step)
        return run.finish()[:, change.world]


class _Backwards:
    """The adjoint of a trajectory on its way back: λ [row, world], gradients by causes and by elements."""

    def __init__(self, linear: Linear):
        self.linear, worlds = linear, linear.worlds
        self.adjoint = np.zeros((len(linear.rows), worlds))
        self.gradient = np.zeros((len(linear.causes), worlds))
        places = linear.places
        self.of_elements = np.zeros((len(places.parameters), worlds))
        self.values = np.array([linear.value(name) for name in places.parameters]).reshape(-1, worlds)
        compiled = list(linear.adjoints.order) if linear.adjoints is not None else []
        number = np.full(len(linear.ways), -1)
        number[compiled] = range(len(compiled))
        self.which = number[linear.which]  # of the compiled ones, -1: none
        self.all_compiled = (self.which >= 0).all(axis=1)

    def back(self, first: int, end: int) -> None:
        """Over the steps from first to end, the last one first."""
        k = end
        while k > first:
            start = k - 1
            if self.all_compiled[start]:
                while start > first and self.all_compiled[start - 1]:
                    start -= 1
            self._by_code(start, k)
            if not self.all_compiled[start]:
                self._by_arrays(start)
            k = start

    def _by_code(self, first: int, end: int) -> None:
        linear = self.linear
        which = self.which[first:end]
        if linear.adjoints is None or (which < 0).all():
            return
        states = linear.path.states[first:end][:, linear.places.read]
        self.adjoint, self.of_elements = linear.adjoints.run(states, which, self.values, self.adjoint, self.of_elements)

    def _by_arrays(self, step: int) -> None:
        """Worlds whose step was not compiled."""
        n = len(self.linear.rows)
        for w, A in self.linear.other_jacobians(step, self.which):
            self.gradient[:, w] += A[:, n:].T @ self.adjoint[:, w]
            self.adjoint[:, w] = A[:, :n].T @ self.adjoint[:, w]

    def finish(self) -> np.ndarray:
        """Gradients by causes [cause, world], at the start of the trajectory."""
        linear = self.linear
        return self.gradient + by_causes(linear.causes, linear.start, self.adjoint, linear.places, self.of_elements)
