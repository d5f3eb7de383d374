"""Statics: where a mechanism rests under gravity, springs, loads and held motors.

Damped Newton on the balance of forces along the free directions Z of the rows:

    g = Zᵀ (f + Jᵀ λ)        K = -Zᵀ ∂(f + Jᵀ λ)/∂x Z        x ← close(x ⊕ Z d),   K d = g

K by central differences with λ held. Where K is not positive definite the absolute values of its
eigenvalues take their place: the step then goes with the force, downhill, and the equilibrium that is
found is a stable one unless the start is an unstable one already. A step is shortened while the force
along it turns back too far. Limits of joints that are reached hold; friction of joints does not take part.

Shapes that touch hold, too, by contacts without friction on the way, gaps ≥ 0, found anew at every pose:

    min ½ dᵀ K d - gᵀ d,   gap + Jc Z d ≥ 0

and it comes to rest where static friction holds it (resting.py): at the start, if it does so there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..author.checks import flag, number
from ..author.errors import ModelError
from ..author.model import Model
from ..engine.constrain.contact import SLIP
from ..engine.system.slots import CLOSURE, COUPLING, LIMIT_LOW, MOTOR_POSITION, MOTOR_SPEED
from ..world.views import Reaction
from ..world.world import World
from .assembly import close_held, drive, settle, towards
from .bodies import DRIVES, LIMITS, Balance, Mechanism, refuse_tyres
from .motion import Motion, solve_motion
from .resting import BALANCED, CLOSED, NO_END, Pressing, Resting, StaticContact, resting_of

ITERATIONS = 200
TURN, SHIFT = 0.4, 0.2  # largest step: of a rotation [rad], of a translation by the mechanism's size
PROBE = 1e-5  # displacement for differences, of the characteristic length
NEGLIGIBLE = 1e-12  # force that is rounding, of all forces
FLAT = 1e-10  # stiffness that is rounding, of the largest
SLOW = 1e-6  # stiffness below which a step is left to the clamp [1/s²]
OVERLAP = 1e-6  # of shapes in a pose that is said to be at rest [m]
FEW = 16  # contacts for which it is told what friction is needed without being asked
FAR = 1e9  # of its stride: what has fallen so far falls on
MOST_FRICTION = 100.0  # times what there is: what more would be needed is not told


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
    contacts: tuple[StaticContact, ...] = ()  # that carry something, or touch
    contact_force: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)  # by pair, on the second: sums [N]
    contact_determinate: dict[tuple[str, str], bool] = field(default_factory=dict)  # whether that sum is unique
    pressing: Pressing | None = field(default=None, repr=False)

    @cached_property
    def friction_needed(self) -> float:
        """The least share of all static friction of contacts with which it would still rest here; 0: none."""
        return 0.0 if self.pressing is None else self.pressing.least_share()

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
        if self.contact_force:
            lines.append(f"  {'contact':<30} {'force on the second [N]':>36}  sum determinate")
        for (first, second), force in self.contact_force.items():
            sure = "yes" if self.contact_determinate[first, second] else "no"
            lines.append(f"  {first + ' - ' + second:<30} " + " ".join(f"{part:11.6g}" for part in force) + f"  {sure}")
        if 0 < len(self.contacts) <= FEW:
            lines.append(f"  friction needed: {self.friction_needed:.6g} of what there is")
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
            "contacts": [
                {
                    "first": one.first,
                    "second": one.second,
                    "point": one.point.tolist(),
                    "normal": one.normal.tolist(),
                    "force": one.force.tolist(),
                    "friction": one.friction,
                    "used": one.used,
                    "determinate": one.determinate,
                }
                for one in self.contacts
            ],
            "friction_needed": self.friction_needed if len(self.contacts) <= FEW else None,
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
    resting: Resting | None = None  # where shapes may touch
    pressing: Pressing | None = None  # where they do


def statics(source: Model | World, time: float | None = None, device: str = "cpu", *, search: bool = True) -> Statics:
    """The equilibrium that a model comes to from its authored pose, or a world from where it is now.

    `time` [s] is that of loads and motors, by default the world's or 0. A motor that holds a position is
    taken to where it is at that time, one that holds a speed stays where it is; hands hold still. Shapes that touch
    hold each other up, with static friction. search=False: the forces in the pose as it is. Raises `StaticsError`
    where nothing holds the mechanism, or not in this pose.
    """
    return _result(find_equilibrium(source, time, device, flag("statics", "search", search)))


def find_equilibrium(
    source: Model | World, time: float | None = None, device: str = "cpu", search: bool = True
) -> Equilibrium:
    """Search from the present pose, or take it as it is."""
    mechanism = Mechanism(source, device)
    refuse_tyres("statics", mechanism.model)
    mechanism.time = mechanism.time if time is None else number("statics", "time", time)
    settle(mechanism)
    rows = mechanism.pick(CLOSURE, COUPLING, *DRIVES)
    balance = mechanism.balance()
    goals = {i: float(balance.measured[i]) for i in mechanism.pick(MOTOR_SPEED)}
    goals |= {i: float(balance.measured[i] - balance.error[i]) for i in mechanism.pick(MOTOR_POSITION)}
    drive(mechanism, rows, goals)
    resting = resting_of(mechanism)
    if not search:
        return _as_it_is(mechanism, rows, goals, resting)
    iterations = 0
    for _ in range(2 * len(mechanism.pick(*LIMITS)) + 2):
        if resting is None:
            found = _search(mechanism, rows, goals, iterations)
        else:
            found = _search_touching(mechanism, rows, goals, resting, iterations)
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


def _as_it_is(mechanism: Mechanism, rows: list[int], goals: dict[int, float], resting: Resting | None) -> Equilibrium:
    """The present pose, if it can rest; limits that are reached hold if they have to push."""
    bounds = mechanism.system.parameter("slot_a")[:, 0]
    balance = mechanism.balance()
    for i in mechanism.pick(*LIMITS):
        row = mechanism.rows[i]
        inwards = 1.0 if row.kind == LIMIT_LOW else -1.0
        if inwards * (balance.measured[i] - bounds[row.slot]) < 1e-9:
            rows.append(i)
            goals[i] = float(balance.measured[i])
    while True:
        motion = solve_motion(mechanism, balance, rows)
        found = _rest_here(mechanism, rows, goals, resting, balance, motion)
        forces = dict(zip(rows, found.motion.lam, strict=True))
        pulls = [i for i in goals if mechanism.rows[i].kind in LIMITS and _pulls(mechanism, i, forces[i])]
        if not pulls:
            break
        rows.remove(pulls[0])
        del goals[pulls[0]]
    if resting is not None and (resting.gap < -OVERLAP).any():
        worst = int(np.argmin(resting.gap))
        raise StaticsError(
            f"model '{mechanism.model.name}': {resting.names(worst)} overlap by {-resting.gap[worst]:.3g} m; "
            "move them apart, or let it be searched"
        )
    scale = _scale(mechanism, balance, motion)
    left = motion.Z.T @ balance.force if found.pressing is None else found.pressing.left
    if float(np.linalg.norm(left)) > max(BALANCED, NEGLIGIBLE) * scale:
        raise StaticsError(_cannot_rest(mechanism, found, left))
    return found


def _scale(mechanism: Mechanism, balance: Balance, motion: Motion) -> float:
    """Of all forces, weights by themselves too, where they are balanced [N/√kg]."""
    weight = np.linalg.norm(mechanism.system.parameter("gravity")[0, 0]) * np.sqrt(np.diag(balance.M)[::6].sum())
    return max(float(np.linalg.norm(np.linalg.solve(motion.L, balance.force))), float(weight))


def _pulls(mechanism: Mechanism, row: int, force: float) -> bool:
    return (force if mechanism.rows[row].kind == LIMIT_LOW else -force) < 0.0


def _cannot_rest(mechanism: Mechanism, found: Equilibrium, left: np.ndarray) -> str:
    """Which body is pushed by how much, and whether more friction would do."""
    worst = _by_body(mechanism, found.balance.M @ found.motion.Z @ left)
    told = (
        f"model '{mechanism.model.name}': the pose cannot rest: body '{mechanism.bodies[int(np.argmax(worst))]}' is "
        f"pushed by {worst.max():.3g} N that nothing balances"
    )
    if found.pressing is None or found.resting is None or not len(found.pressing.cones):
        return f"{told}; nothing touches"
    pairs = dict.fromkeys(found.resting.names(k) for k in found.pressing.cones.contact.tolist())
    share = found.pressing.least_share(MOST_FRICTION)
    more = "no friction would hold it" if share > MOST_FRICTION else f"{share:.4g} times the friction would hold it"
    return f"{told}; {', '.join(pairs)} touch: {more}"


def _rest_here(
    mechanism: Mechanism,
    rows: list[int],
    goals: dict[int, float],
    resting: Resting | None,
    balance: Balance,
    motion: Motion,
    count: int = 0,
) -> Equilibrium:
    """The present pose with what contacts carry there, whether that is enough or not."""
    if resting is None:
        K = reduced_stiffness(mechanism, motion)
        return Equilibrium(mechanism, list(rows), goals, balance, motion, _eigenvalues(K), count)
    resting.find()
    pressing = resting.press(motion.Z, balance.force, _scale(mechanism, balance, motion))
    held = replace(balance, force=balance.force + pressing.cones.J.T @ pressing.p)
    motion = solve_motion(mechanism, held, rows)
    K = reduced_stiffness(mechanism, motion, _followed(resting, pressing))
    carrying = np.abs(pressing.p) > 0.0
    free = _null_space(pressing.A[carrying])  # where sticking contacts leave it free
    return Equilibrium(
        mechanism, list(rows), goals, held, motion, _eigenvalues(free.T @ K @ free), count, resting, pressing
    )


def _followed(resting: Resting, pressing: Pressing) -> Callable[[], np.ndarray]:
    """The normal forces of contacts at other poses [dof]."""
    eta = np.zeros(len(resting.gap))
    tops = pressing.cones.of < 0
    eta[pressing.cones.contact[tops]] = pressing.p[tops]
    return lambda: resting.touch.follow().T @ eta


def _null_space(A: np.ndarray) -> np.ndarray:
    if not A.size:
        return np.eye(A.shape[1])
    _, sigma, Vt = np.linalg.svd(A)
    return Vt[int((sigma > 1e-9 * sigma.max(initial=0.0)).sum()) :].T


def _search_touching(
    mechanism: Mechanism, rows: Sequence[int], goals: dict[int, float], resting: Resting, used: int
) -> Equilibrium:
    """Newton with the rows given and contacts, to the first pose that rests with friction."""
    rows = list(rows)
    errors = towards(mechanism, goals, np.zeros(len(mechanism.rows)))

    def close() -> bool:
        return float(np.abs(close_held(mechanism, rows, 1e-12, errors)).max(initial=0.0)) < 1e-9

    def free() -> np.ndarray:
        return _motion(mechanism, rows).Z

    mechanism.balance()
    if not resting.push_out(free, close):
        worst = int(np.argmin(resting.gap))
        raise StaticsError(
            f"model '{mechanism.model.name}': {resting.names(worst)} overlap by {-resting.gap[worst]:.3g} m and "
            "cannot be taken apart; move them"
        )
    scale, strides = 0.0, 1.0
    for count in range(used, used + ITERATIONS):
        balance = mechanism.balance()
        motion = solve_motion(mechanism, balance, rows)
        resting.find()
        scale = max(scale, _scale(mechanism, balance, motion))
        if resting.press(motion.Z, balance.force, scale).rests:
            return _rest_here(mechanism, rows, goals, resting, balance, motion, count)
        smooth = resting.press(motion.Z, balance.force, scale, friction=False)
        held = replace(balance, force=balance.force + smooth.cones.J.T @ smooth.p)
        K = reduced_stiffness(mechanism, solve_motion(mechanism, held, rows), _followed(resting, smooth))
        d = _pressed_step(resting, K, motion, balance, scale)
        change = _clamp(mechanism, motion.Z @ d, strides)
        taken = _walk_touching(mechanism, rows, resting, close, free, balance, change) if np.any(change) else 0.0
        if not taken or strides > FAR:
            break
        strides = 2 * strides if taken == 1.0 and not (resting.gap <= CLOSED).any() else 1.0  # what falls, falls far
    found = _rest_here(mechanism, rows, goals, resting, mechanism.balance(), _motion(mechanism, rows))
    assert found.pressing is not None
    raise StaticsError(f"{_cannot_rest(mechanism, found, found.pressing.left)}; no equilibrium was found from there")


def _motion(mechanism: Mechanism, rows: list[int]) -> Motion:
    """Of the present pose."""
    return solve_motion(mechanism, mechanism.balance(), rows)


def _pressed_step(resting: Resting, K: np.ndarray, motion: Motion, balance: Balance, scale: float) -> np.ndarray:
    """The step of least ½ dᵀ K d - gᵀ d, K by the absolute values of its eigenvalues, that contacts allow."""
    g = motion.Z.T @ balance.force
    if not len(g):
        return g
    values, Q = np.linalg.eigh((K + K.T) / 2)
    size = np.maximum(np.abs(values), max(FLAT * np.abs(values).max(), SLOW))
    along = Q.T @ g
    along[np.abs(along) < NEGLIGIBLE * scale] = 0.0
    A = resting.N @ motion.Z @ Q
    gap = np.where(np.abs(resting.gap) <= CLOSED / 2, 0.0, resting.gap)
    eta = resting.bounded((A / size) @ A.T, gap + (A / size) @ along, np.zeros(len(gap)), np.full(len(gap), NO_END))
    holds = eta > 0.0
    if not holds.any():
        return Q @ (along / size)
    # which contacts hold is known from that; the step itself, along what they leave free, to rounding
    closing = np.linalg.lstsq(A[holds], -gap[holds], rcond=1e-9)[0]
    free = _null_space(A[holds])
    bends, turn = np.linalg.eigh(free.T @ (size[:, None] * free))
    rest = turn.T @ free.T @ (along - size * closing)
    rest[np.abs(rest) < 10 * NEGLIGIBLE * scale] = 0.0
    return Q @ (closing + free @ turn @ (rest / np.maximum(bends, SLOW)))


def _walk_touching(
    mechanism: Mechanism,
    rows: list[int],
    resting: Resting,
    close: Callable[[], bool],
    free: Callable[[], np.ndarray],
    balance: Balance,
    change: np.ndarray,
) -> float:
    """Take the step, or as much of it as closes, passes no shape, and as the force does not turn back too far.

    Returns how much of it was taken.
    """
    taken, start = 1.0, mechanism.snapshot()
    resting.touch.mark()
    before = float(balance.force @ change)
    for _ in range(15):
        share = 0.5
        mechanism.move(change)
        if close():
            mechanism.balance()
            share = resting.touch.share()
            if share == 1.0 and resting.push_out(free, close):
                there = mechanism.balance()
                share = resting.touch.share()
                motion = solve_motion(mechanism, there, rows)
                resting.find()
                smooth = resting.press(motion.Z, there.force, 1.0, friction=False)
                turned = float((there.M @ motion.Z @ smooth.left) @ change) < -0.5 * abs(before)
                if share == 1.0 and not turned:
                    return taken
            share = 0.5 if share == 1.0 else share
        mechanism.restore(start)
        mechanism.balance()
        change, before, taken = share * change, share * before, share * taken
    return 0.0


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


def _clamp(mechanism: Mechanism, change: np.ndarray, strides: float = 1.0) -> np.ndarray:
    by_body = np.linalg.norm(change.reshape(-1, 2, 3), axis=2).max(axis=0, initial=0.0)
    return change / max(1.0, by_body[0] / (strides * SHIFT * mechanism.size), by_body[1] / TURN)


def reduced_stiffness(
    mechanism: Mechanism, motion: Motion, more: Callable[[], np.ndarray] = lambda: np.zeros(1)
) -> np.ndarray:
    """K [freedom, freedom] at the present pose, the forces of the rows held [1/s²]; more: other forces there [dof]."""
    Z, here = motion.Z, mechanism.snapshot()
    K = np.zeros((Z.shape[1], Z.shape[1]))
    for k in range(Z.shape[1]):
        step = PROBE * mechanism.length / float(np.abs(Z[:, k] / mechanism.C).max())
        sides = []
        for sign in (1.0, -1.0):
            mechanism.move(sign * step * Z[:, k])
            balance = mechanism.balance()
            sides.append(Z.T @ (balance.force + balance.J[motion.rows].T @ motion.lam + more()))
            mechanism.restore(here)
        K[:, k] = -(sides[0] - sides[1]) / (2 * step)
    mechanism.balance()
    return K


def _eigenvalues(K: np.ndarray) -> np.ndarray:
    return np.linalg.eigvals(K).real if len(K) else np.zeros(0)


def _out_of_balance(mechanism: Mechanism, balance: Balance, motion: Motion) -> np.ndarray:
    """Force left on each body, torques by the characteristic length [N]."""
    return _by_body(mechanism, balance.force + balance.J[motion.rows].T @ motion.lam)


def _by_body(mechanism: Mechanism, force: np.ndarray) -> np.ndarray:
    """The largest of a force [dof] on each body, torques by the characteristic length [N]."""
    return np.abs((mechanism.C * force).reshape(-1, 6)).max(axis=1)


def _result(found: Equilibrium) -> Statics:
    mechanism, motion = found.mechanism, found.motion
    balance = mechanism.balance() if found.pressing is None else found.balance
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
        stable=bool((found.stiffness > -1e-6 * max(largest, _least_stiffness(found))).all()),
        residual=float(_out_of_balance(mechanism, balance, motion).max()),
        iterations=found.iterations,
        **_contacts(found),
    )


def _least_stiffness(found: Equilibrium) -> float:
    """Where contacts leave only what nothing restores, a ball on a floor: that of a pendulum of its size [1/s²]."""
    if found.pressing is None:
        return 0.0
    return float(np.linalg.norm(found.mechanism.system.parameter("gravity")[0, 0])) / found.mechanism.length


def _contacts(found: Equilibrium) -> dict[str, Any]:
    """What contacts carry, and which of it is unique."""
    resting, pressing, motion = found.resting, found.pressing, found.motion
    if resting is None or pressing is None or not len(pressing.cones):
        return {}
    cones, p = pressing.cones, pressing.p
    rows = np.vstack([found.balance.J[motion.rows] * found.mechanism.R[motion.rows][:, None], cones.J])
    U, sigma, _ = np.linalg.svd(rows * found.mechanism.C)
    null = U[len(motion.rows) :, int((sigma > 1e-9 * sigma.max()).sum()) :]  # forces that hold each other
    numbers = resting.touch.contacts.found
    point, normal = numbers.point.numpy()[:, 0], numbers.normal.numpy()[:, 0]
    contacts: list[StaticContact] = []
    sums: dict[tuple[str, str], Any] = {}
    loose: dict[tuple[str, str], Any] = {}
    for k in np.unique(cones.contact):
        own = cones.contact == k
        force, free = p[own] @ cones.axis[own], cones.axis[own].T @ null[own]
        first, second = (resting.shapes[shape] for shape in resting.touch.pairs[k])
        along = float(force @ normal[k])
        across = float(np.linalg.norm(force - along * normal[k]))
        slip = own & (cones.kind == SLIP)
        one = StaticContact(
            *(first.owner, second.owner, (first.index, second.index), point[k].copy(), normal[k].copy()),
            *(float(resting.gap[k]), force, "sticks" if along > 0.0 else "open"),
            friction=float(cones.high[slip].max(initial=0.0)),
            used=across / along if along > 0.0 else 0.0,
            determinate=bool(np.abs(null[own]).max(initial=0.0) < 1e-7),
        )
        contacts.append(one)
        pair = one.first, one.second
        sums[pair] = sums.get(pair, 0.0) + force
        loose[pair] = loose.get(pair, 0.0) + free
    sure = {pair: bool(np.abs(free).max(initial=0.0) < 1e-7) for pair, free in loose.items()}
    return {
        "contacts": tuple(contacts),
        "contact_force": sums,
        "contact_determinate": sure,
        "pressing": pressing,
    }


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
