"""Kinematics of a linkage as a function of the model's parameters, for many designs or positions at a time.

    C(q, e(p)) = 0      q: coordinates of the tree but the driven one, φ; e: elements of arrays that parameters p change
    y = Y(q, e)         dq/dp = -C_q⁺ C_e e',      dq/dφ = -C_q⁺ C_φ

C are the locks of the joints that close loops and Y outcomes as of `World.sensitivity`: the engine's own functions,
traced once. Lanes are positions of one design, or designs at one position; Newton's iteration takes them together.
Where a linkage cannot be assembled it ends where its joints come nearest (Gauss-Newton); C tells how much they miss.
e' is by differences of order 4 of models that are built.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..engine.compile.graph import refer
from ..engine.compile.step import PARAMETER, STATE, stage
from ..engine.compile.tracing import naming, traced
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.locks import closure_angle, lock
from ..engine.coordinates.tree import kinematics
from ..engine.system import System
from ..world.causes import GEOMETRY, PROBE, freedom_of
from ..world.outcomes import Outcome, find_outcomes
from ..world.world import World
from .program import Program

ROUNDS = 30  # of Newton's iteration
CLOSED = 1e-11  # of the size: joints meet
LONGEST = 0.3  # [rad, lengths] of a Newton step
STEADY = 0.05  # [rad, lengths] off what was foreseen: what is ahead is foreseen again
STEP = 1e-3  # between values at which models are built, of the value or the size
SAME = 1e-13  # of numbers that are linear in the parameters: rounding
RANK = 1e-9  # of the largest singular value: a smaller one says nothing


@dataclass
class Positions:
    """A linkage at positions, or designs at one [lane]."""

    q: np.ndarray  # coordinates of the tree [coordinate, lane]
    values: np.ndarray  # outcomes [of, lane]
    gap: np.ndarray  # by how much joints miss, over the size [lane]
    by_parameters: np.ndarray  # ∂outcome/∂parameter [of, parameter, lane]
    by_drive: np.ndarray  # ∂outcome/∂φ [of, lane]
    misses: np.ndarray  # errors of the locks [lock, lane]
    misses_by: np.ndarray  # ∂error/∂parameter [lock, parameter, lane]

    @property
    def closed(self) -> np.ndarray:
        """Whether it is assembled [lane]."""
        return self.gap <= 1e3 * CLOSED


class Slopes:
    """Numbers that follow parameters, and their derivatives, by differences of order 4.

    Many are linear in the parameters, as are the points of pivots: where numbers are what earlier derivatives say they
    are, to rounding, these are taken again.
    """

    def __init__(self, read: Callable[[np.ndarray], np.ndarray], steps: Callable[[np.ndarray], np.ndarray]):
        self._read, self._steps = read, steps
        self._kept: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def at(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers [number], and their derivatives [number, parameter]."""
        here = self._read(values)
        if self._kept is not None:
            before, numbers, slopes = self._kept
            off = np.abs(numbers + slopes @ (values - before) - here)
            moved = float(np.abs(values - before).max(initial=0.0))
            if moved == 0.0 or (off <= SAME * np.maximum(np.abs(here), moved)).all():
                return here, slopes
        slopes = np.zeros((len(here), len(values)))
        for k, step in enumerate(self._steps(values)):
            one = step * np.eye(len(values))[k]
            for times, weight in ((1, 8.0), (2, -1.0)):
                slopes[:, k] += weight * (self._read(values + times * one) - self._read(values - times * one))
            slopes[:, k] /= 12.0 * step
        self._kept = values.copy(), here, slopes
        return here, slopes


class Linkage:
    """A model whose pivots, points and sizes follow parameters, driven at one joint of its tree.

    drive: the joint; of: outcomes, as of `World.sensitivity`; to: parameters of the model, by default all that are
    numbers.
    """

    def __init__(self, model: Model, drive: str, of: str | Sequence[str], to: Sequence[str] | None = None):
        self.model, self.world = model, World(model)
        self._free = model.copy()  # differences go beyond the ends of ranges
        for name, own in model.parameters.items():
            self._free.parameters[name] = replace(own, minimum=None, maximum=None)
        known = [name for name, variable in model.parameters.items() if variable.expression is None]
        self.names = known if to is None else list(to)
        if not known:
            raise ModelError(
                "linkage: the model has no parameters, such as model.parameter('Ax', 0.1); see also `pivots`"
            )
        if not self.names or set(self.names) - set(known):
            raise ModelError(f"linkage: to is {self.names}, expected parameters that are numbers: {', '.join(known)}")
        if drive not in self.world.readout.coordinates:
            raise ModelError(f"linkage: drive is '{drive}', expected one of: {self.world.readout.coordinates}")
        owner, code = freedom_of(self.world, drive)
        self.driven = self.world.system.coordinate[owner, code]
        system = self.world.system
        if self.driven < 0:
            raise ModelError(f"linkage: '{drive}' closes a loop; drive a joint to the ground")
        if system.counts.coordinates != system.counts.dofs:
            raise ModelError("linkage: a ball is no single coordinate; take hinges and slides")
        self.size = system.size
        self.free = [k for k in range(system.counts.coordinates) if k != self.driven]
        self.start = system.start_coordinates()
        self.values = np.array([model.parameters[name].value for name in self.names])
        self.elements = self._followed()
        self.slopes = Slopes(self.elements_at, self.steps)
        self._trace(find_outcomes(self.world, of))
        self._refuse_freedoms()

    def _refuse_freedoms(self) -> None:
        """Refuse what does not follow its drive."""
        _, slopes = self._evaluate(self.start[:, None], self.elements_at(self.values)[:, None], False)
        rank = int(np.linalg.matrix_rank(slopes[: self.locks, self.free, 0], rtol=RANK)) if self.locks else 0
        if (more := len(self.free) - rank) > 0:
            raise ModelError(
                f"linkage: '{self.model.name}' has {more} freedom{'s' if more > 1 else ''} besides its drive; it must "
                "have none, or start elsewhere than stretched out"
            )

    # elements that parameters change --------------------------------------------------------------

    def with_values(self, values: "Sequence[float] | np.ndarray") -> Model:
        """The model with other values of its parameters."""
        return self.model.with_parameters(**dict(zip(self.names, map(float, values), strict=True)))

    def without_ranges(self, values: np.ndarray) -> Model:
        """The same, also beyond the ranges of parameters."""
        return self._free.with_parameters(**dict(zip(self.names, map(float, values), strict=True)))

    def _numbers(self, values: np.ndarray) -> dict[tuple, float]:
        """Elements of the geometry at values of the parameters."""
        model = self.without_ranges(values)
        system = System(model, 1, "cpu", self.world.coordinates, check_meeting=False)
        found: dict[tuple, float] = {}
        for name in GEOMETRY:
            data = getattr(system.arrays, name).numpy()[:, 0]
            for part, item in enumerate(data):
                found |= {(PARAMETER, name, part, k): float(value) for k, value in enumerate(np.ravel(item))}
        for name, probe in model.probes.items():
            found |= {(PROBE, name, k): float(value) for k, value in enumerate(probe.p_BQ)}
        return found

    def steps(self, values: np.ndarray) -> np.ndarray:
        """Between values at which models are built."""
        return STEP * np.maximum(np.abs(values), 0.1 * self.size)

    def _followed(self) -> list[tuple]:
        here = self._numbers(self.values)
        changed: set[tuple] = set()
        for k, step in enumerate(self.steps(self.values)):
            there = self._numbers(self.values + step * np.eye(len(self.names))[k])
            changed |= {name for name, value in there.items() if abs(value - here[name]) > 1e-13}
        return sorted(changed, key=str)

    def elements_at(self, values: np.ndarray) -> np.ndarray:
        """Elements that follow [element]."""
        found = self._numbers(values)
        return np.array([found[name] for name in self.elements])

    # the graph ------------------------------------------------------------------------------------

    def _trace(self, outcomes: Sequence[Outcome]) -> None:
        runner, system = self.world.runner, self.world.system
        followed: dict[str, set[tuple[int, ...]]] = {}
        for name in self.elements:
            if name[0] == PARAMETER:
                followed.setdefault(name[1], set()).add((name[2],))
        tables, m, s, x, w = stage(system, runner.state, runner.work, 0, followed)
        vars(m)["_graph"] = tables.graph
        locks = []
        with naming():
            traced(kinematics)(m, s, x, 0.0, w)
            traced(follow_loops)(m, s, x, w)
            for joint in system.tree.loops:
                j = system.joint_index[joint.name]
                where = system.coordinate[joint.name, joint.kind.freedoms[0]] if joint.pitch else 0
                for code in joint.kind.locks:
                    angle = traced(closure_angle)(m, s, x, j, code, where, w)
                    locks.append(refer(traced(lock)(m, x, j, code, angle, w)[1]))
            self.roots = [*locks, *(refer(outcome.read(m, s, x, w)) for outcome in outcomes)]
        self.graph, self.locks = tables.graph, len(locks)
        self.labels = tuple(outcome.path for outcome in outcomes)
        state = self.world.state
        self._q = state.rows["q"].start
        by_q = [(STATE, self._q + k) for k in range(len(self.start))]
        self._programs = [Program(self.graph, self.roots, by) for by in (by_q, [*by_q, *self.elements])]
        self._constant = {name: self._number(name, state.numpy()[:, 0]) for name in self.graph.inputs}

    def _number(self, name: tuple, state: np.ndarray) -> float:
        """An input of the graph as the model has it."""
        if name[0] == STATE:
            return float(state[name[1]])
        if name[0] == PROBE:
            return float(self.model.probes[name[1]].p_BQ[name[2]])
        _, array, part, k = name
        return float(np.ravel(getattr(self.world.system.arrays, array).numpy()[part, 0])[k])

    def _evaluate(self, q: np.ndarray, e: np.ndarray, along_elements: bool) -> tuple[np.ndarray, np.ndarray]:
        """Locks and outcomes [root, lane], and derivatives by coordinates and, if asked, elements."""
        program = self._programs[along_elements]
        given = dict(self._constant)
        given |= {(STATE, self._q + k): row for k, row in enumerate(q)}
        given |= dict(zip(self.elements, e, strict=True))
        return program.run(given, q.shape[1])

    # positions ------------------------------------------------------------------------------------

    def close(self, q: np.ndarray, drive: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates [coordinate, lane] at driven ones [lane], from a guess; and by how much joints miss [lane].

        e: elements, [element] or [element, lane].
        """
        q = np.array(q, float)
        q[self.driven] = drive
        e = np.broadcast_to(e if e.ndim == 2 else e[:, None], (len(self.elements), q.shape[1]))
        gap = np.zeros(q.shape[1])
        going = np.arange(q.shape[1])
        for _ in range(ROUNDS if self.locks else 0):
            values, slopes = self._evaluate(q[:, going], e[:, going], False)
            C, J = values[: self.locks].T, slopes[: self.locks, self.free].transpose(2, 0, 1)
            gap[going] = np.abs(C).max(axis=1) / self.size
            change = -np.einsum("wij,wj->wi", np.linalg.pinv(J, rcond=RANK), C)
            far = np.abs(change).max(axis=1, initial=0.0)
            change *= np.minimum(1.0, LONGEST / np.maximum(far, 1e-300))[:, None]
            q[np.ix_(np.array(self.free), going)] += change.T
            going = going[(gap[going] > CLOSED) & (far > 1e-13)]
            if not len(going):
                break
        return q, gap

    def follow(self, drive: np.ndarray, e: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Coordinates [coordinate, position, design] as the drive goes from one position to the next.

        From the model's own pose, or from another; e: elements [element, design].
        """
        designs = e.shape[1]
        q = np.repeat((self.start if start is None else start)[:, None], designs, axis=1)
        out = np.zeros((len(q), len(drive), designs))
        at, before, slope = q[self.driven, 0], q, np.zeros_like(q)
        for k, goal in enumerate(drive):
            for part in np.linspace(at, goal, 2 + int(abs(goal - at) / LONGEST))[1:]:
                way = part - at
                q, _ = self.close(before + way * slope, np.full(designs, part), e)
                if way != 0.0:
                    steady = np.abs(q - before - way * slope).max(axis=0) < STEADY
                    slope, at = np.where(steady, (q - before) / way, 0.0), part
                before = q
            out[:, k] = q
        return out

    def outcomes(self, drive: np.ndarray) -> np.ndarray:
        """Outcomes [position, of] of the model as it is, as the drive goes from one position to the next."""
        e = self.elements_at(self.values)
        q = self.follow(np.asarray(drive, float), e[:, None])[:, :, 0]
        lanes = np.broadcast_to(e[:, None], (len(e), q.shape[1]))
        return self._evaluate(q, lanes, False)[0][self.locks :].T

    def positions(
        self,
        values: np.ndarray,
        q: np.ndarray,
        drive: np.ndarray,
        followed: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> Positions:
        """A design at positions, with derivatives; q: a guess [coordinate, position]; followed: `slopes.at` there."""
        e, slope = followed or self.slopes.at(values)
        q, gap = self.close(q, drive, e)
        lanes = np.broadcast_to(e[:, None], (len(e), q.shape[1]))
        found, by = self._evaluate(q, lanes, True)
        n, m = len(q), self.locks
        by_p = np.einsum("rel,ep->rpl", by[:, n:], slope)
        J = by[:m, self.free].transpose(2, 0, 1)
        inverse = np.linalg.pinv(J, rcond=RANK) if m else np.zeros((q.shape[1], len(self.free), 0))
        dq_p = -np.einsum("lfm,mpl->fpl", inverse, by_p[:m])
        dq_d = -np.einsum("lfm,ml->fl", inverse, by[:m, self.driven])
        to_free = by[:, self.free]
        total = by_p + np.einsum("rfl,fpl->rpl", to_free, dq_p)
        drives = by[:, self.driven] + np.einsum("rfl,fl->rl", to_free, dq_d)
        return Positions(q, found[m:], gap, total[m:], drives[m:], found[:m], total[:m])
