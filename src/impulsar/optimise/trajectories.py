"""Trajectories: torques over time that bring a mechanism from where it is to where it is wanted, within limits.

    min over u   Σ_j ∫ (u_j / U_j)² dt / T      x(T) as wanted,   low <= y(t_k) <= high,   |u_j| <= U_j

u are motors' torques or forces, linear between knots evenly apart; x(t) is what the world does with them: its own
steps, through loops, springs and friction, from its start. Derivatives of all outcomes by all knots are those of the
traced steps (`world.linear`). Motors are as few as they are: a pendulum whose torque does not hold it up swings.
Least time is the shortest duration for which that can be done, by halving.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..analysis.inverse import Driven
from ..author.checks import number, show
from ..author.errors import ModelError, StepError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Table
from ..edits import Drive, SetMotor
from ..engine.compile.graph import Untraceable
from ..engine.compile.step import PARAMETER
from ..engine.system.slots import MOTORS
from ..world.causes import Cause
from ..world.linear import Linear
from ..world.outcomes import find_outcomes
from ..world.sensitivity import samples_of
from ..world.world import World
from .guess import smooth_way

KNOTS = 21
SAMPLES = 40  # at which limits are looked at
ROUNDS = 30  # of each of both searches
MET = 1e-4  # of the scale of what is wanted: it is met
SPREAD = 0.3  # of the most torque: first guesses
CALM = 1e-2  # weight of changes of torques while the goal is looked for
LONGEST = 0.3  # of the most torque: a step of that search
SHORTEST = 1e-4  # the same: shorter ones are not tried
SHARES = (0.25, 0.5, 0.75, 1.0)  # of the time, for which a smooth way is followed
ALONG = 0.05  # of its size: it is
STILL = 1e-6  # [rad, m, and per second] of a way: less is none, but what a search for its end has left
WORTH = 1e-3  # of the effort: less is not gone after
KEPT = 4  # evaluations
MENDS = 4  # steps back to the goal after one to less effort
PATIENCE = 4  # of its steps in a row that are not better than the best
GAIN = 0.99  # of what is missed: this much is better
FAR = 1e3  # room where there is no limit, over the scale
NEAR = 0.02  # of a duration: least time is as near


@dataclass(frozen=True)
class Trajectory:
    """Torques over time, and what a mechanism does with them."""

    torques: dict[str, Table]  # by joint [N m, N], for `Motor(torque=...)`
    duration: float  # [s]
    times: np.ndarray = field(repr=False)  # of the samples [s]
    outcomes: dict[str, np.ndarray] = field(repr=False)  # of what was wanted or limited, by path [sample]
    limits: dict[str, tuple[float, float]] = field(repr=False)
    effort: float  # mean square of torques over the most of each
    met: bool  # whether it ends as wanted, within all limits
    missed: float  # by how much it does not, of the scale of each
    why: str  # where it does not: what is missed most; else ""
    evaluations: int

    def motor(self, joint: str) -> Motor:
        """The motor that does it."""
        return Motor(torque=self.torques[joint])

    def profile(self, path: str) -> Table:
        """An outcome over time, such as 'hinge.position' for a motor that is driven by position."""
        return Table(tuple(self.times.tolist()), tuple(self.outcomes[path].tolist()))

    def picture(self, path: str) -> None:
        """Torques and outcomes over time with their limits, as a picture."""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        kinds = {  # one panel for each, since they differ in unit and size
            "joints [rad, m]": lambda name: name.endswith(".position"),
            "places [m]": lambda name: ".position." in name,
            "velocities [rad/s, m/s]": lambda name: "velocity" in name,
        }
        shown = {label: [name for name in self.outcomes if fits(name)] for label, fits in kinds.items()}
        shown = {label: names for label, names in shown.items() if names}
        figure, panels = plt.subplots(len(shown) + 1, 1, figsize=(7, 2.2 * (len(shown) + 1)), sharex=True)
        for axes, (label, names) in zip(panels, shown.items(), strict=False):
            for k, name in enumerate(names):
                axes.plot(self.times, self.outcomes[name], color=f"C{k}", label=name)
                for end in self.limits.get(name, ()):
                    if np.isfinite(end):
                        axes.axhline(end, color=f"C{k}", linestyle=":", linewidth=1)
            axes.set_ylabel(label)
        for k, (name, table) in enumerate(self.torques.items()):
            panels[-1].plot(table.times, table.values, color=f"C{k}", marker=".", label=f"torque of {name}")
            for end in self.limits.get(f"{name}.motor", ()):
                panels[-1].axhline(end, color=f"C{k}", linestyle=":", linewidth=1)
        panels[0].set_title(f"{self.duration:.4g} s, effort {self.effort:.3g}" + ("" if self.met else f": {self.why}"))
        panels[-1].set_xlabel("t [s]")
        panels[-1].set_ylabel("motors [N m, N]")
        for axes in panels:
            axes.legend(fontsize=8)
            axes.grid(alpha=0.3)
        figure.savefig(path, dpi=120, bbox_inches="tight")
        plt.close(figure)


def trajectory(
    model: Model,
    torques: Mapping[str, float],
    goal: Mapping[str, float],
    duration: "float | tuple[float, float]",
    limits: Mapping[str, tuple[float, float]] | None = None,
    *,
    dt: float | None = None,
    method: Any = None,
    knots: int = KNOTS,
    starts: int = 1,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> Trajectory:
    """Torques that bring a model from its start to a goal: outcomes by path ('hinge.position', 'pen.velocity.x').

    torques: the most of each joint that is driven [N m, N]; its motor is replaced. duration [s]: given, or the ends
    between which the least is looked for. limits: of outcomes on the way, by path. knots: of each torque. starts: first
    guesses, none and random ones of a seed, of which the best result is kept. Where none meets the goal the one that
    comes nearest is returned, with `met` false and `why`.
    """
    _check(model, torques, goal, duration, limits or {})
    if isinstance(duration, tuple):
        return _least(
            model,
            torques,
            goal,
            duration,
            limits,
            dt=dt,
            method=method,
            knots=knots,
            starts=starts,
            seed=seed,
            rounds=rounds,
        )
    task = _Task(model, dict(torques), dict(goal), dict(limits or {}), float(duration), dt, method, knots)
    rng, best = np.random.default_rng(seed), None
    for k in range(max(1, starts)):
        first = task.guess() if k == 0 else SPREAD * rng.uniform(-1.0, 1.0, task.shape)
        found = task.solve(first, rounds)
        if best is None or (not found.met, found.effort if found.met else found.missed) < (
            not best.met,
            best.effort if best.met else best.missed,
        ):
            best = found
    assert best is not None
    return best


def _check(
    model: Model, torques: Mapping[str, float], goal: Mapping[str, float], duration: Any, limits: Mapping[str, Any]
) -> None:
    for name, most in torques.items():
        if name not in model.joints:
            raise ModelError(f"trajectory: no joint '{name}'; there are: {', '.join(model.joints)}")
        if not (isinstance(most, int | float) and 0.0 < most < np.inf):
            raise ModelError(f"trajectory: the most torque of '{name}' is {show(most)}, expected a number > 0 [N m, N]")
    for path, value in goal.items():
        number("trajectory", f"the goal of '{path}'", value)
    if not torques or not goal:
        raise ModelError("trajectory: nothing is driven or wanted; give torques={joint: most} and goal={path: value}")
    ends = duration if isinstance(duration, tuple) else (duration, duration)
    if (
        len(ends) != 2
        or not all(isinstance(end, int | float) and 0.0 < end < np.inf for end in ends)
        or ends[1] < ends[0]
    ):
        raise ModelError(f"trajectory: duration is {show(duration)}, expected seconds > 0, or a shortest and a longest")
    for path, both in limits.items():
        if not (isinstance(both, tuple | list) and len(both) == 2 and both[0] < both[1]):
            raise ModelError(f"trajectory: limits of '{path}' are {show(both)}, expected (low, high)")


def _least(model: Model, torques: Any, goal: Any, ends: tuple[float, float], limits: Any, **options: Any) -> Trajectory:
    """The shortest duration between two for which the goal is met."""
    low, high = ends
    best = trajectory(model, torques, goal, high, limits, **options)
    if not best.met:
        return best
    shorter = trajectory(model, torques, goal, low, limits, **options)
    if shorter.met:
        return shorter
    while high - low > NEAR * high:
        middle = 0.5 * (low + high)
        found = trajectory(model, torques, goal, middle, limits, **options)
        low, high = (low, middle) if found.met else (middle, high)
        best = found if found.met else best
    return best


class _Task:
    """Outcomes of a world as functions of the knots of its torques, over the most of each."""

    def __init__(
        self,
        model: Model,
        torques: dict[str, float],
        goal: dict[str, float],
        limits: dict[str, tuple[float, float]],
        duration: float,
        dt: float | None,
        method: Any,
        knots: int,
    ):
        self.goal, self.limits, self.duration, self.most = goal, limits, duration, torques
        steps = max(knots, round(duration / (dt or model.dt or 0.01)))
        options = {} if method is None else {"method": method}
        self.world = World(model, dt=duration / steps, **options)
        for name in torques:
            self.world.apply(SetMotor(name, Motor(torque=0.0)))
        self.joints, self.shape = list(torques), (len(torques), knots)
        self.times = np.linspace(0.0, duration, knots) + self.world.time
        self.start = self.world.state.numpy().copy()
        self._set(np.zeros(self.shape))
        driven = [f"{name}.{what}" for name in torques for what in ("position", "velocity")]
        self.paths = list(dict.fromkeys([*goal, *limits, *driven]))
        self._outcomes = find_outcomes(self.world, self.paths)
        if len(self._outcomes) != len(self.paths):
            raise ModelError(f"trajectory: of {self.paths} some have several components; say which: '.x', '.y', '.z'")
        every = max(1, steps // SAMPLES) * self.world.dt
        self._steps, self._samples = samples_of(self.world, duration, every)
        if self._samples[-1] != self._steps:
            self._samples = [*self._samples, self._steps]
        self._causes = [
            Cause(f"{name} {k}", {self._element(name, k): 1.0}) for name in self.joints for k in range(knots)
        ]
        self._linear: Linear | None = None
        self._kept: OrderedDict[bytes, tuple[np.ndarray, np.ndarray]] = OrderedDict()  # the last few
        self.evaluations, self.breaks, self.trouble = 0, 0, ""
        self._best: tuple[tuple[bool, float], np.ndarray] | None = None
        self.scale = np.array([self._scale(path) for path in self.paths])

    def _scale(self, path: str) -> float:
        ends = [abs(end) for end in self.limits.get(path, ()) if np.isfinite(end)]
        return max([abs(self.goal.get(path, 0.0)), *ends]) or 1.0

    def _element(self, joint: str, knot: int) -> tuple:
        system = self.world.system
        channel = next(system.slots[r].channel for r in system.slots_of[joint] if system.slots[r].kind in MOTORS)
        return (PARAMETER, "table_value", int(system.arrays.table_start.numpy()[channel]) + knot, 0)

    def guess(self) -> np.ndarray:
        """First torques: those that follow a smooth way where there is one, else none."""
        rates = [float(self.world.joint(name).velocity) for name in self.joints]
        found = smooth_way(self.world.model, self.joints, rates, self.goal, self.times)
        if found is None:
            return np.zeros(self.shape)
        motions, torques = found
        most = np.array([[self.most[name]] for name in self.joints])
        return self._follow(np.clip(torques / most, -1.0, 1.0).ravel(), motions)

    def _follow(self, u: np.ndarray, motions: Sequence[Driven]) -> np.ndarray:
        """Knots with which the world follows motions of the driven joints.

        Many mechanisms run away from a torque that is a little off, the more the longer it lasts, as does a lift that
        takes less force the higher it is. So that is mended for a part of the time first, then for more of it.
        """
        times = self.world.time + self.world.dt * np.array(self._samples, float)
        plan = np.array([[value for motion in motions for value in motion(t)[:2]] for t in times])
        size = np.where(np.ptp(plan, axis=0) > STILL, np.ptp(plan, axis=0), 1.0)
        own = [self.paths.index(f"{name}.{what}") for name in self.joints for what in ("position", "velocity")]
        scale = self.scale[own] / size
        for share in SHARES:
            count = max(2, round(share * len(times)))
            for _ in range(MENDS):
                try:
                    y, by = self._run(u, count)
                except (StepError, Untraceable):
                    return np.zeros(self.shape)
                off = y[:, own] * scale - plan[:count] / size
                if np.abs(off).max() < ALONG:
                    break
                slopes = (by[:, own] * scale[:, None]).reshape(-1, len(u))
                u = np.clip(u + _least_change(u, off.ravel(), slopes, CALM), -1.0, 1.0)
        return u

    def tables(self, u: np.ndarray) -> dict[str, Table]:
        """Torques for knots over the most of each."""
        times = tuple(self.times.tolist())
        return {
            name: Table(times, tuple((self.most[name] * row).tolist()))
            for name, row in zip(self.joints, u.reshape(self.shape), strict=True)
        }

    def _set(self, u: np.ndarray) -> None:
        for name, table in self.tables(u).items():
            self.world.apply(Drive(name, table))
        self.world.state.put(self.start)
        self.world.runner.refresh()

    def both(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes [sample, of] over their scales, and derivatives by knots [sample, of, knot].

        Of torques with which the world breaks: those before, with what it says noted.
        """
        key = u.tobytes()
        if key in self._kept:
            return self._kept[key]
        try:
            found = self._run(u, len(self._samples))
        except (StepError, Untraceable) as error:
            self.trouble, self.breaks = str(error), self.breaks + 1
            if not self._kept:
                raise ModelError(f"trajectory: the model does not run: {error}; take a smaller dt") from error
            before, slopes = next(reversed(self._kept.values()))
            return np.full_like(before, FAR), slopes
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        self._note(u, found[0])
        return found

    def _run(self, u: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The same up to some of the samples."""
        self.evaluations += 1
        self._set(u)
        samples = self._samples[:count]
        linear = Linear(self.world, samples[-1], samples, self._outcomes, self._causes, self._linear)
        y, slopes = linear.forward()
        self._linear = linear
        per_knot = np.repeat([self.most[name] for name in self.joints], self.shape[1])
        return y[:, :, 0] / self.scale, slopes[..., 0] * per_knot / self.scale[:, None]

    # the problem ----------------------------------------------------------------------------------

    def solve(self, first: np.ndarray, rounds: int) -> Trajectory:
        """From a first guess: to the goal by Gauss-Newton, then to the least effort; the best on the way is kept."""
        self._best = None
        close = self._toward(first.ravel(), rounds)
        if self._is_met(close):
            self._calm(close, rounds // 2)
        assert self._best is not None
        return self._result(self._best[1])

    def _is_met(self, u: np.ndarray) -> bool:
        return max(self._misses(self.both(u)[0]).values()) <= MET

    def _calm(self, u: np.ndarray, rounds: int) -> None:
        """Less effort, from torques that meet the goal to others that do.

        What the least change would be were outcomes linear in the knots; what the goal is missed by then, since they
        are not, is taken off as in `_toward`. Where that fails changes are made smaller.
        """
        weights, radius = _weights(self.shape), LONGEST * float(np.abs(u).max())
        end = self.evaluations + rounds
        while self.evaluations < end and radius > SHORTEST:
            change = self._calmer(u, weights, radius)
            less, effort = u + change, float(u @ weights @ u)
            if effort - float(less @ weights @ less) < WORTH * effort:
                return
            v = self._mended(less)
            if v is not None and float(v @ weights @ v) < effort:
                u, radius = v, min(LONGEST, 1.5 * radius)
            else:
                radius = min(radius, float(np.abs(change).max())) / 4.0

    def _mended(self, u: np.ndarray) -> np.ndarray | None:
        """Torques near some with which the goal is met; None where that does not come nearer fast."""
        before = np.inf
        for _ in range(MENDS):
            off, slopes, broke = self._missed_by(u)
            miss = float(np.linalg.norm(off))
            if broke or miss > 0.5 * before:
                break
            if np.abs(off).max(initial=0.0) < 0.5 * MET:
                return u if self._is_met(u) else None
            u, before = np.clip(u + _least_change(u, off, slopes, 0.0), -1.0, 1.0), miss
        return None

    def _calmer(self, u: np.ndarray, weights: np.ndarray, radius: float) -> np.ndarray:
        """The change of knots for the least effort were outcomes linear: a quadratic program."""
        off, by, room, room_by = self._off(u), self._off_by(u), self._room(u), self._room_by(u)
        near = room < np.abs(room_by) @ np.full(len(u), radius)
        rules: list[dict[str, Any]] = [{"type": "eq", "fun": lambda d: off + by @ d, "jac": lambda d: by}]
        if near.any():
            left, slopes = np.maximum(room[near], 0.0), room_by[near]
            rules.append({"type": "ineq", "fun": lambda d: left + slopes @ d, "jac": lambda d: slopes})
        found = minimize(
            lambda d: (float((u + d) @ weights @ (u + d)), 2.0 * weights @ (u + d)),
            np.zeros(len(u)),
            jac=True,
            method="SLSQP",
            bounds=[(max(-radius, -1.0 - each), min(radius, 1.0 - each)) for each in u],
            constraints=rules,
            options={"maxiter": 100, "ftol": 1e-9 * float(u @ weights @ u)},
        )
        return np.asarray(found.x, float)

    def _toward(self, u: np.ndarray, rounds: int) -> np.ndarray:
        """The goal, and the limits that are broken, by the least change of torques, none of them beyond its most.

        From a smooth way steps are as long as its torques are, and a few in a row only may come out worse than the best
        before: then the search goes back there with shorter ones. From nothing it leaps, since a swing that is built up
        comes out worse on the way. From where the world breaks it goes back at once.
        """
        size = float(np.abs(u).max())
        radius, patience = (min(LONGEST, max(size, SHORTEST)), PATIENCE) if size else (LONGEST, rounds)
        best, worse = (np.inf, u, np.zeros(0), np.zeros((0, len(u)))), 0
        for _ in range(rounds):
            off, slopes, broke = self._missed_by(u)
            miss = float(np.linalg.norm(off))
            if np.abs(off).max(initial=0.0) < 0.1 * MET:
                return u
            worse = 0 if miss < GAIN * best[0] else worse + 1
            if miss < best[0] and not broke:
                best, radius = (miss, u, off, slopes), min(LONGEST, 2.0 * radius)
            if broke or worse > patience:
                if radius < SHORTEST:
                    break
                _, u, off, slopes = best
                worse, radius = 0, radius / 8.0
            step = _least_change(u, off, slopes, CALM)
            u = np.clip(u + step * min(1.0, radius / max(float(np.abs(step).max()), 1e-300)), -1.0, 1.0)
        return best[1]

    def _missed_by(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """What is missed of the goal and broken of limits, its derivatives by knots; and whether the world broke."""
        count = self.breaks
        room = self._room(u)
        broken = room < 0.0
        off = np.concatenate([self._off(u), room[broken]])
        slopes = np.vstack([self._off_by(u), self._room_by(u)[broken]])
        return off, slopes, self.breaks > count

    @property
    def _held(self) -> list[tuple[int, float, float]]:
        """Outcomes with limits, over their scales."""
        return [
            (k, float(self.limits[path][0] / self.scale[k]), float(self.limits[path][1] / self.scale[k]))
            for k, path in enumerate(self.paths)
            if path in self.limits
        ]

    def _off(self, u: np.ndarray) -> np.ndarray:
        """What the goal is missed by."""
        wanted = np.array(list(self.goal.values())) / self.scale[: len(self.goal)]
        return self.both(u)[0][-1, : len(wanted)] - wanted

    def _off_by(self, u: np.ndarray) -> np.ndarray:
        return self.both(u)[1][-1, : len(self.goal)]

    def _room(self, u: np.ndarray) -> np.ndarray:
        """How far from limits, at all samples."""
        y = self.both(u)[0]
        sides = [side for k, low, high in self._held for side in ((y[:, k] - low), (high - y[:, k]))]
        room = np.concatenate(sides) if sides else np.zeros(0)
        return np.minimum(room, FAR)

    def _room_by(self, u: np.ndarray) -> np.ndarray:
        slopes = self.both(u)[1]
        sides = [side for k, _, _ in self._held for side in (slopes[:, k], -slopes[:, k])]
        return np.concatenate(sides) if sides else np.zeros((0, len(u)))

    def _note(self, u: np.ndarray, y: np.ndarray) -> None:
        """Keep what meets the goal with the least effort, or comes nearest to it."""
        missed = max(self._misses(y).values())
        met = missed <= MET and np.abs(u).max() <= 1.0
        rank = (not met, float(u @ _weights(self.shape) @ u) if met else missed)
        if self._best is None or rank < self._best[0]:
            self._best = rank, np.clip(u, -1.0, 1.0)

    def _misses(self, y: np.ndarray) -> dict[str, float]:
        """By how much, over their scales, goals and limits are missed."""
        found = {path: abs(float(y[-1, k] - self.goal[path] / self.scale[k])) for k, path in enumerate(self.goal)}
        for k, low, high in self._held:
            over = max(float((low - y[:, k]).max()), float((y[:, k] - high).max()), 0.0)
            found[f"{self.paths[k]} on the way"] = over
        return found

    def _result(self, u: np.ndarray) -> Trajectory:
        y = self.both(u)[0]
        misses = self._misses(y)
        worst = max(misses, key=lambda path: misses[path])
        met = misses[worst] <= MET
        off = misses[worst] * self.scale[self.paths.index(worst.removesuffix(" on the way"))]
        rows = zip(self.joints, u.reshape(self.shape), strict=True)
        full = ", ".join(name for name, row in rows if np.abs(row).max() > 0.999)
        why = "" if met else f"{worst} is off by {off:.3g}"
        all_out = "give all they can" if ", " in full else "gives all it can"
        why += f"; {full} {all_out}" if full and not met else ""
        why += f"; the world broke on the way: {self.trouble}" if self.trouble and not met else ""
        return Trajectory(
            self.tables(u),
            self.duration,
            self.world.dt * np.array(self._samples, float),
            {path: y[:, k] * self.scale[k] for k, path in enumerate(self.paths)},
            {**self.limits, **{f"{name}.motor": (-most, most) for name, most in self.most.items()}},
            float(u @ _weights(self.shape) @ u),
            met,
            misses[worst],
            why,
            self.evaluations,
        )


def _least_change(u: np.ndarray, off: np.ndarray, slopes: np.ndarray, calm: float) -> np.ndarray:
    """The least change of knots by which what is off would not be; those at their most that would go on stay.

    calm: how much a change weighs beside what is left off.
    """
    free, step = np.ones(len(u), bool), np.zeros(len(u))
    for _ in range(3):
        rows = np.vstack([slopes[:, free], calm * np.eye(int(free.sum()))])
        step[:] = 0.0
        step[free] = -np.linalg.lstsq(rows, np.append(off, np.zeros(int(free.sum()))), rcond=None)[0]
        stuck = free & (np.abs(u) >= 1.0) & (u * step > 0.0)
        if not stuck.any():
            break
        free &= ~stuck
    return step


def _weights(shape: tuple[int, int]) -> np.ndarray:
    """W of uᵀ W u, the mean of u² over time where u is linear between knots."""
    joints, knots = shape
    each = 1.0 / (knots - 1)
    one = np.zeros((knots, knots))
    for k in range(knots - 1):
        one[k : k + 2, k : k + 2] += each / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
    return np.kron(np.eye(joints), one)
