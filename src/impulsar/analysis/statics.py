"""Statics: where a mechanism rests under gravity, springs, loads and held motors.

Damped Newton on the balance of forces along the free directions Z of the rows:

    g = Zᵀ (f + Jᵀ λ)        K = -Zᵀ ∂(f + Jᵀ λ)/∂x Z        x ← close(x ⊕ Z d),   K d = g

K by central differences with λ held. Where K is not positive definite the absolute values of its
eigenvalues take their place: the step then goes with the force, downhill, and the equilibrium that is
found is a stable one unless the start is an unstable one already. A step is shortened while the force
along it turns back too far. Limits of joints that are reached hold; friction does not take part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..author.checks import number
from ..author.errors import ModelError
from ..author.model import Model
from ..engine.system.slots import CLOSURE, COUPLING, LIMIT_LOW, MOTOR_POSITION, MOTOR_SPEED
from ..world.views import Reaction
from ..world.world import World
from .assembly import close_held, drive, settle, towards
from .bodies import DRIVES, LIMITS, Balance, Mechanism
from .motion import Motion, solve_motion

ITERATIONS = 200
TURN, SHIFT = 0.4, 0.2  # largest step: of a rotation [rad], of a translation by the mechanism's size
PROBE = 1e-5  # displacement for differences, of the characteristic length
NEGLIGIBLE = 1e-12  # force that is rounding, of all forces
FLAT = 1e-10  # stiffness that is rounding, of the largest
SLOW = 1e-6  # stiffness below which a step is left to the clamp [1/s²]


class StaticsError(ModelError):
    """No equilibrium was found."""


@dataclass(frozen=True)
class Statics:
    """An equilibrium."""

    model: Model  # a copy at the poses found, at rest
    time: float  # of the loads and motors [s]
    position: dict[str, np.ndarray]  # of each body's centre of mass [m]
    orientation: dict[str, np.ndarray]  # xyzw
    joint_position: dict[str, float]  # by coordinate [m, rad]
    motor_torque: dict[str, float]  # by coordinate: what a held motor gives [N m, N]
    overloaded: dict[str, float]  # motors that would have to give more than their maximum, and that maximum
    at_limit: tuple[str, ...]  # coordinates that rest on a limit
    reaction: dict[str, Reaction]  # by joint, on the second body, at the joint, world axes
    determinate: dict[str, bool]  # by joint: whether the reaction is determined, or of least norm
    freedoms: int
    stable: bool  # no direction in which it would leave
    residual: float  # largest force out of balance on a body [N], torques by the characteristic length
    iterations: int

    def __str__(self) -> str:
        kind = "stable" if self.stable else "NOT STABLE"
        lines = [
            f"{self.model.name}: equilibrium at t = {self.time:g} s, {self.freedoms} freedoms, {kind}",
            f"  {self.iterations} iterations, largest force out of balance {self.residual:.2g} N",
            f"  {'body':<20} {'x [m]':>14} {'y [m]':>14} {'z [m]':>14}",
        ]
        lines += [f"  {name:<20} {p[0]:14.8f} {p[1]:14.8f} {p[2]:14.8f}" for name, p in self.position.items()]
        lines += [f"  {'joint':<20} {'force [N]':>14} {'torque [N m]':>14}  determinate"] if self.reaction else []
        for name, (force, torque) in self.reaction.items():
            sure = "yes" if self.determinate[name] else "no"
            lines.append(f"  {name:<20} {np.linalg.norm(force):14.6g} {np.linalg.norm(torque):14.6g}  {sure}")
        lines += [f"  motor  {name:<20} {value:14.6g} N m or N" for name, value in self.motor_torque.items()]
        lines += [f"  motor '{name}' can give no more than {most:g}" for name, most in self.overloaded.items()]
        lines += [f"  at limit: {', '.join(self.at_limit)}"] if self.at_limit else []
        return "\n".join(lines)

    def data(self) -> dict:
        """For JSON."""
        return {
            "model": self.model.name,
            "time": self.time,
            "freedoms": self.freedoms,
            "stable": self.stable,
            "residual": self.residual,
            "iterations": self.iterations,
            "position": {name: p.tolist() for name, p in self.position.items()},
            "orientation": {name: q.tolist() for name, q in self.orientation.items()},
            "joint_position": self.joint_position,
            "motor_torque": self.motor_torque,
            "overloaded": self.overloaded,
            "at_limit": list(self.at_limit),
            "reaction": {n: {"force": f.tolist(), "torque": t.tolist()} for n, (f, t) in self.reaction.items()},
            "determinate": self.determinate,
        }


@dataclass
class Equilibrium:
    """Where the search ended, for whoever goes on from there."""

    mechanism: Mechanism
    rows: list[int]  # those that hold: joints, couplings, motors, limits reached
    goals: dict[int, float]  # where motors and limits hold their coordinates
    balance: Balance
    motion: Motion
    stiffness: np.ndarray  # eigenvalues of K [1/s²]
    iterations: int


def statics(source: Model | World, time: float | None = None, device: str = "cpu") -> Statics:
    """The equilibrium that a model comes to from its authored pose, or a world from where it is now.

    `time` [s] is that of loads and motors, by default the world's or 0. A motor that holds a position is
    taken to where it is at that time, one that holds a speed stays where it is; hands hold still. Raises
    `StaticsError` where nothing holds the mechanism.
    """
    return _result(find_equilibrium(source, time, device))


def find_equilibrium(source: Model | World, time: float | None = None, device: str = "cpu") -> Equilibrium:
    """Search from the present pose."""
    mechanism = Mechanism(source, device)
    mechanism.time = mechanism.time if time is None else number("statics", "time", time)
    settle(mechanism)
    rows = mechanism.pick(CLOSURE, COUPLING, *DRIVES)
    balance = mechanism.balance()
    goals = {i: float(balance.measured[i]) for i in mechanism.pick(MOTOR_SPEED)}
    goals |= {i: float(balance.measured[i] - balance.error[i]) for i in mechanism.pick(MOTOR_POSITION)}
    drive(mechanism, rows, goals)
    iterations = 0
    for _ in range(2 * len(mechanism.pick(*LIMITS)) + 2):
        found = _search(mechanism, rows, goals, iterations)
        iterations = found.iterations
        if not _change_limits(mechanism, found, rows, goals):
            return found
        drive(mechanism, rows, goals)
    raise StaticsError(f"model '{mechanism.model.name}': no equilibrium found; which limits hold cannot be decided")


def _change_limits(mechanism: Mechanism, found: Equilibrium, rows: list[int], goals: dict[int, float]) -> bool:
    """Take in limits that are passed, let go those that would have to pull; True if any changed."""
    bounds = mechanism.system.parameter("slot_a")[:, 0]
    changed = False
    forces = dict(zip(rows, found.motion.lam, strict=True))
    for i in mechanism.pick(*LIMITS):
        row = mechanism.rows[i]
        inwards = 1.0 if row.kind == LIMIT_LOW else -1.0
        if i in goals:
            if inwards * forces[i] < 0:
                rows.remove(i)
                del goals[i]
                changed = True
        elif inwards * (found.balance.measured[i] - bounds[row.slot]) < -1e-9:
            rows.append(i)
            goals[i] = float(bounds[row.slot])
            changed = True
    return changed


def _search(mechanism: Mechanism, rows: Sequence[int], goals: dict[int, float], used: int) -> Equilibrium:
    """Newton with the rows given."""
    rows = list(rows)
    errors = towards(mechanism, goals, np.zeros(len(mechanism.rows)))
    scale = best = 0.0
    for count in range(used, used + ITERATIONS):
        balance = mechanism.balance()
        motion = solve_motion(mechanism, balance, rows)
        g = motion.Z.T @ balance.force
        size = float(np.linalg.norm(g))
        scale = max(scale, float(np.linalg.norm(np.linalg.solve(motion.L, balance.force))))
        K = reduced_stiffness(mechanism, motion)
        if size <= NEGLIGIBLE * scale:
            if size <= 1e-15 * scale or (best and size > 0.1 * best):
                return Equilibrium(mechanism, rows, goals, balance, motion, _eigenvalues(K), count)
            best = size
        d = _newton_step(K, g, scale)
        change = _clamp(mechanism, motion.Z @ d)
        if not np.any(change):
            return Equilibrium(mechanism, rows, goals, balance, motion, _eigenvalues(K), count)
        _walk(mechanism, rows, errors, balance, change)
    worst = _out_of_balance(mechanism, balance, motion)
    raise StaticsError(
        f"model '{mechanism.model.name}': no equilibrium found in {ITERATIONS} iterations; body "
        f"'{mechanism.bodies[int(np.argmax(worst))]}' is still pushed by {worst.max():.3g} N; does anything hold it?"
    )


def _walk(
    mechanism: Mechanism,
    rows: list[int],
    errors: Callable[[Balance], np.ndarray],
    balance: Balance,
    change: np.ndarray,
) -> None:
    """Take the step, or as much of it as closes and as the force does not turn back beyond half of what it was."""
    start = mechanism.snapshot()
    before = float(balance.force @ change)
    for _ in range(10):
        mechanism.move(change)
        open_by = close_held(mechanism, rows, 1e-12, errors)
        there = mechanism.balance()
        motion = solve_motion(mechanism, there, rows)
        turned = float((there.M @ motion.acceleration) @ change) < -0.5 * before
        if not turned and np.abs(open_by).max(initial=0.0) < 1e-9:
            return
        mechanism.restore(start)
        change, before = 0.5 * change, 0.5 * before


def _newton_step(K: np.ndarray, g: np.ndarray, scale: float) -> np.ndarray:
    """K d = g, with the absolute values of K's eigenvalues where it is not positive definite."""
    if not len(g):
        return g
    values, Q = np.linalg.eigh((K + K.T) / 2)
    flat = FLAT * np.abs(values).max()
    if values[0] > flat:
        return np.linalg.solve(K, g)
    along = Q.T @ g
    along[np.abs(along) < NEGLIGIBLE * scale] = 0.0
    return Q @ (along / np.maximum(np.abs(values), max(flat, SLOW)))


def _clamp(mechanism: Mechanism, change: np.ndarray) -> np.ndarray:
    by_body = np.linalg.norm(change.reshape(-1, 2, 3), axis=2).max(axis=0, initial=0.0)
    return change / max(1.0, by_body[0] / (SHIFT * mechanism.size), by_body[1] / TURN)


def reduced_stiffness(mechanism: Mechanism, motion: Motion) -> np.ndarray:
    """K [freedom, freedom] at the present pose, the forces of the rows held [1/s²]."""
    Z, here = motion.Z, mechanism.snapshot()
    K = np.zeros((Z.shape[1], Z.shape[1]))
    for k in range(Z.shape[1]):
        step = PROBE * mechanism.length / float(np.abs(Z[:, k] / mechanism.C).max())
        sides = []
        for sign in (1.0, -1.0):
            mechanism.move(sign * step * Z[:, k])
            balance = mechanism.balance()
            sides.append(Z.T @ (balance.force + balance.J[motion.rows].T @ motion.lam))
            mechanism.restore(here)
        K[:, k] = -(sides[0] - sides[1]) / (2 * step)
    mechanism.balance()
    return K


def _eigenvalues(K: np.ndarray) -> np.ndarray:
    return np.linalg.eigvals(K).real if len(K) else np.zeros(0)


def _out_of_balance(mechanism: Mechanism, balance: Balance, motion: Motion) -> np.ndarray:
    """Force left on each body, torques by the characteristic length [N]."""
    left = mechanism.C * (balance.force + balance.J[motion.rows].T @ motion.lam)
    return np.abs(left.reshape(-1, 6)).max(axis=1)


def _result(found: Equilibrium) -> Statics:
    mechanism, motion = found.mechanism, found.motion
    balance = mechanism.balance()
    model = mechanism.posed_model()
    for body in model.bodies.values():
        body.velocity, body.angular_velocity = np.zeros(3), np.zeros(3)
    sure = dict(zip(motion.rows, motion.determinate, strict=True))
    torques, overloaded = _motors(mechanism, motion)
    largest = np.abs(found.stiffness).max(initial=0.0)
    return Statics(
        model=model,
        time=mechanism.time,
        position=dict(zip(mechanism.bodies, mechanism.positions, strict=True)),
        orientation=dict(zip(mechanism.bodies, mechanism.orientations, strict=True)),
        joint_position=mechanism.joint_positions(),
        motor_torque=torques,
        overloaded=overloaded,
        at_limit=tuple(mechanism.rows[i].part for i in found.goals if mechanism.rows[i].kind in LIMITS),
        reaction=mechanism.reactions(motion.rows, motion.lam),
        determinate={
            name: all(known for i, known in sure.items() if mechanism.rows[i].part == name) for name in model.joints
        },
        freedoms=motion.Z.shape[1],
        stable=bool((found.stiffness > -1e-6 * largest).all()),
        residual=float(_out_of_balance(mechanism, balance, motion).max()),
        iterations=found.iterations,
    )


def _motors(mechanism: Mechanism, motion: Motion) -> tuple[dict[str, float], dict[str, float]]:
    """Torques of the motors that hold, and the maxima of those that cannot."""
    torques, overloaded = {}, {}
    most = mechanism.system.parameter("slot_a")[:, 0]
    for i, value in zip(motion.rows, motion.lam, strict=True):
        row = mechanism.rows[i]
        if row.kind in DRIVES:
            name = mechanism.drive_name(row)
            torques[name] = float(value)
            if abs(value) > most[row.slot]:
                overloaded[name] = float(most[row.slot])
    return torques, overloaded
