"""Inverse dynamics of mechanisms with loops: what the motors must give for a prescribed motion.

At each time the joints are closed with the driven coordinates where the motion has them, then

    J v = rate        M a = f + Jᵀ λ,  J a = -drift

give velocities, accelerations and, as the λ of the driven rows, the torques of the motors; the λ of the
joints are the reactions. Where rows are redundant λ is of least norm over all of them.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.checks import is_number, number, show
from ..author.errors import ModelError
from ..author.joints import Group
from ..author.model import Model
from ..author.parts import Joint, Motor
from ..author.profiles import Formula, Profile
from ..engine.system.slots import CLOSURE, COUPLING, MOTOR_POSITION
from ..observe.readout import coordinate_name
from .assembly import AssemblyError, drive, settle
from .bodies import DRIVES, Balance, Mechanism, copy_model, refuse_tyres
from .motion import Motion, solve_motion

if TYPE_CHECKING:
    import xarray as xr

Driven = Callable[[float], tuple[float, float, float]]  # q, q̇, q̈ at a time
STILL = 1e-9  # force on a freedom that nothing drives, of all forces: it stays where it is


def inverse(
    model: Model,
    motions: Mapping[str, Any] | None = None,
    times: Iterable[float] = (0.0,),
    device: str = "cpu",
) -> "xr.Dataset":
    """Motor torques for a prescribed motion of the driven joints, at the times [s] given.

    motions: by joint (or joint.group where it has several), a number, a profile (Harmonic, Ramp, Smooth, Table)
    or a callable of time that returns (q, q̇, q̈) [m, rad and their derivatives]; default: the position
    motors of the model. Motors of other joints go on as the model has them.

    Returns a Dataset with `motor_torque` [N m, N], `joint_position`, `joint_velocity`,
    `joint_acceleration` (time, coordinate) of the driven coordinates, `determinate` (time, coordinate)
    False where redundant drives share the torque by least norm, `position`, `orientation`, `velocity`,
    `angular_velocity` (time, body, axis) and `reaction_force`, `reaction_torque` (time, joint, axis).
    """
    at = _times(times)
    if not isinstance(model, Model):
        raise ModelError(f"inverse: model is {show(model)}, expected a Model")
    if not isinstance(motions, Mapping | None):
        raise ModelError(f"inverse: motions is {show(motions)}, expected motions by the names of joints")
    refuse_tyres("inverse", model)
    model = copy_model(model)
    for body in model.bodies.values():  # the motion gives the velocities
        body.velocity, body.angular_velocity = np.zeros(3), np.zeros(3)
    given = _drive_model(model, motions)
    mechanism = Mechanism(model, device)
    settle(mechanism)
    driven = mechanism.pick(MOTOR_POSITION)
    if not driven:
        raise ModelError(f"model '{model.name}': no joint is driven; give motions={{joint: motion}}")
    run = _Run(mechanism, driven, given)
    samples = [run.sample(t) for t in at]
    return _dataset(run, at, samples)


def _times(times: Iterable[float]) -> np.ndarray:
    try:
        given = [times] if is_number(times) else list(times)
    except TypeError as error:
        raise ModelError(f"inverse: times is {show(times)}, expected finite times [s]") from error
    at = np.array([number("inverse", "a time", time, "finite times [s]") for time in given])
    if not len(at):
        raise ModelError(f"inverse: times is {show(times)}, expected finite times [s]")
    if (np.diff(at) < 0).any():
        raise ModelError("inverse: times fall; give them in rising order [s]")
    return at


def _drive_model(model: Model, motions: Mapping[str, Any] | None) -> dict[str, Driven]:
    """Put the motions into the joints as position motors; returns those given as callables."""
    groups = {
        coordinate_name(joint, group, group.freedoms[0]) if not group.is_ball else f"{joint.name}.{group.name}": (
            joint,
            group,
        )
        for joint in model.joints.values()
        for group in joint.kind.groups
    }
    given: dict[str, Driven] = {}
    for name, motion in (motions or {}).items():
        if name not in groups:
            known = ", ".join(groups) or "none"
            raise ModelError(f"inverse: no coordinate named {show(name)}; known are: {known}")
        joint, group = groups[name]
        if isinstance(motion, Formula):
            raise ModelError(f"inverse: '{name}' follows a formula, which has no rates; give t -> (q, q̇, q̈)")
        if callable(motion) and not isinstance(motion, Profile):
            given[name] = _checked(name, motion)
            motion = 0.0
        features = replace(joint.features[group.name], motor=Motor(position=motion))
        features.check(f"joint '{joint.name}' {group.name}", group)
        joint.features[group.name] = features
    for name, (joint, group) in groups.items():
        _check_motor(name, joint, group)
    return given


def _check_motor(name: str, joint: Joint, group: Group) -> None:
    """Refuse motors of the model from which a motion cannot be read."""
    motor = joint.features[group.name].motor
    if motor is None or motor.torque is not None or motor.is_servo:
        return
    if motor.speed is not None:
        raise ModelError(f"joint '{name}': its motor gives a speed, not a motion; give motions={{'{name}': ...}}")
    if isinstance(motor.position, Formula) or not (is_number(motor.position) or isinstance(motor.position, Profile)):
        raise ModelError(
            f"joint '{name}': its motor is a formula or a callable; give motions={{'{name}': t -> (q, q̇, q̈)}}"
        )


def _checked(name: str, motion: Callable[[float], Any]) -> Driven:
    def call(t: float) -> tuple[float, float, float]:
        value = motion(t)
        try:
            q, rate, change = (float(part) for part in value)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"inverse: motion of '{name}' gave {show(value)} at t = {t:g} s, expected (q, q̇, q̈)"
            ) from error
        if not all(map(math.isfinite, (q, rate, change))):
            raise ModelError(f"inverse: motion of '{name}' is not finite at t = {t:g} s: {show(value)}")
        return q, rate, change

    return call


class _Run:
    """Follows the motion from time to time, so that the mechanism stays on its branch."""

    def __init__(self, mechanism: Mechanism, driven: list[int], given: dict[str, Driven]):
        self.mechanism, self.driven = mechanism, driven
        self.rows = mechanism.pick(CLOSURE, COUPLING, *DRIVES)
        self.names = [mechanism.drive_name(mechanism.rows[i]) for i in driven]
        self.given = {i: given[name] for i, name in zip(driven, self.names, strict=True) if name in given}

    def _aimed(self, balance: Balance) -> Balance:
        """The balance with the targets of callables, whose motors stand still in the model, in place."""
        error, rate, change, drift = (a.copy() for a in (balance.error, balance.rate, balance.change, balance.drift))
        for i, motion in self.given.items():
            q, rate[i], change[i] = motion(self.mechanism.time)
            error[i] = balance.measured[i] - q
            drift[i] -= change[i]
        return replace(balance, error=error, rate=rate, change=change, drift=drift)

    def sample(self, t: float) -> dict[str, np.ndarray]:
        """Everything at one time."""
        mechanism = self.mechanism
        mechanism.time = float(t)
        aim = self._aimed(mechanism.balance())
        drive(mechanism, self.rows, {i: float(aim.measured[i] - aim.error[i]) for i in self.driven})
        aim = self._aimed(mechanism.balance())
        rate = aim.rate[self.rows]
        motion = solve_motion(mechanism, aim, self.rows)
        v = motion.velocity(rate)
        off = np.zeros(len(rate))
        off[motion.held] = (aim.J[self.rows] @ v - rate)[motion.held]
        self._check_velocity(off, rate)
        aim = self._aimed(mechanism.balance(v))
        motion = solve_motion(mechanism, aim, self.rows)
        self._check_driven(aim, motion)
        return self._read(aim, motion, v)

    def _check_velocity(self, off: np.ndarray, rate: np.ndarray) -> None:
        """Rows that contradict each other leave an error in the velocities."""
        mechanism, R = self.mechanism, self.mechanism.R[self.rows]
        worst = int(np.argmax(np.abs(R * off)))
        if abs(R[worst] * off[worst]) > 1e-8 * (mechanism.length + np.abs(R * rate).max()):
            raise AssemblyError(
                f"model '{mechanism.model.name}': at t = {mechanism.time:g} s the joints cannot move as they are "
                f"driven; {mechanism.rows[self.rows[worst]].name} is off by {abs(off[worst]):.3g} per second; "
                "check mobility(with_motors=True)"
            )

    def _check_driven(self, balance: Balance, motion: Motion) -> None:
        """A freedom that nothing drives may be there only if no force moves it."""
        mechanism, push = self.mechanism, motion.Z.T @ balance.force
        if np.linalg.norm(push) > STILL * np.linalg.norm(np.linalg.solve(motion.L, balance.force)):
            along = np.abs((motion.Z @ push) / mechanism.C).reshape(-1, 6).max(axis=1)
            names = [mechanism.bodies[i] for i in np.argsort(-along)[:3] if along[i] > 1e-3 * along.max()]
            raise ModelError(
                f"model '{mechanism.model.name}': {len(push)} freedoms are not driven, and forces move "
                f"{', '.join(repr(name) for name in names)} along them; give the motion of more joints"
            )

    def _read(self, aim: Balance, motion: Motion, v: np.ndarray) -> dict[str, np.ndarray]:
        mechanism, place = self.mechanism, [self.rows.index(i) for i in self.driven]
        reactions = mechanism.reactions(motion.rows, motion.lam, motion.acceleration)
        twist = v.reshape(-1, 2, 3)
        return {
            "motor_torque": motion.lam[place],
            "joint_position": (aim.measured - aim.error)[self.driven],
            "joint_velocity": aim.rate[self.driven],
            "joint_acceleration": aim.change[self.driven],
            "determinate": motion.determinate[place],
            "position": mechanism.positions,
            "orientation": mechanism.orientations,
            "velocity": twist[:, 0],
            "angular_velocity": twist[:, 1],
            "reaction_force": np.array([reaction.force for reaction in reactions.values()]),
            "reaction_torque": np.array([reaction.torque for reaction in reactions.values()]),
        }


def _dataset(run: _Run, at: np.ndarray, samples: list[dict[str, np.ndarray]]) -> "xr.Dataset":
    import xarray as xr

    mechanism = run.mechanism
    angular = [mechanism.rows[i].angular for i in run.driven]
    dimensions = dict.fromkeys(("position", "velocity", "angular_velocity"), ("body", "axis"))
    dimensions |= {"orientation": ("body", "quaternion")}
    dimensions |= dict.fromkeys(("reaction_force", "reaction_torque"), ("joint", "axis"))
    variables = {
        name: (("time", *dimensions.get(name, ("coordinate",))), np.array([sample[name] for sample in samples]), units)
        for name, units in _units(angular).items()
    }
    coordinates = {
        "time": ("time", at, {"units": "s"}),
        "coordinate": run.names,
        "body": list(mechanism.bodies),
        "joint": list(mechanism.model.joints),
        "axis": list("xyz"),
        "quaternion": list("xyzw"),
    }
    return xr.Dataset(variables, coordinates, {"model": mechanism.model.name})


def _units(angular: list[bool]) -> dict[str, dict[str, Any]]:
    """The variables with their units; of coordinates one each where they differ."""
    along = {
        "motor_torque": ("N m", "N"),
        "joint_position": ("rad", "m"),
        "joint_velocity": ("rad/s", "m/s"),
        "joint_acceleration": ("rad/s²", "m/s²"),
    }
    units: dict[str, Any] = {}
    for name, (turn, slide) in along.items():
        each = [turn if is_turn else slide for is_turn in angular]
        units[name] = each[0] if len(set(each)) == 1 else each
    units |= {"determinate": "1", "position": "m", "orientation": "1", "velocity": "m/s", "angular_velocity": "rad/s"}
    units |= {"reaction_force": "N", "reaction_torque": "N m"}
    return {name: {"units": unit} for name, unit in units.items()}


class Torques:
    """The torques of a Dataset of `inverse`, to be printed."""

    def __init__(self, dataset: "xr.Dataset"):
        self.dataset = dataset

    def __str__(self) -> str:
        names = [str(name) for name in self.dataset["coordinate"].values]
        at, torque = self.dataset["time"].values, self.dataset["motor_torque"].values
        width = max(14, *(len(name) + 2 for name in names))
        lines = [f"{self.dataset.attrs['model']}: motor torque [N m] or force [N]"]
        lines.append(f"  {'t [s]':>10}" + "".join(f"{name:>{width}}" for name in names))
        lines += [f"  {t:10.4f}" + "".join(f"{x:{width}.6g}" for x in row) for t, row in zip(at, torque, strict=True)]
        lines.append(f"  {'largest':>10}" + "".join(f"{x:{width}.6g}" for x in np.abs(torque).max(axis=0)))
        sure = np.all(self.dataset["determinate"].values, axis=0).tolist()
        vague = [name for name, known in zip(names, sure, strict=True) if not known]
        lines += [f"  shared by least norm: {', '.join(vague)}"] if vague else []
        return "\n".join(lines)

    def data(self) -> dict:
        """For JSON."""
        names = ("time", "joint_position", "joint_velocity", "joint_acceleration", "motor_torque", "determinate")
        listed = {name: self.dataset[name].values.tolist() for name in names}
        return {
            "model": self.dataset.attrs["model"],
            "coordinate": self.dataset["coordinate"].values.tolist(),
            **listed,
        }
