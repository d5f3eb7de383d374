"""First torques of a trajectory: those of a smooth way from where a mechanism is to where it is wanted.

    y(φ₁) = goal                  the driven coordinates φ at the end: Gauss-Newton, loops closed at every φ
    φ(t) from φ₀, φ̇₀ to φ₁, φ̇₁    a polynomial of degree 5 that begins and ends without acceleration
    u(t)                          what the motors give for it by inverse dynamics, through loops (analysis.inverse)

It is near what is wanted wherever motors drive all freedoms, as they do in most mechanisms with loops. A search that
begins without torques has a mechanism that falls and whips through its dead points, where derivatives say little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..analysis.assembly import drive, settle
from ..analysis.bodies import DRIVES, Mechanism, copy_model
from ..analysis.inverse import Driven, inverse
from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.rotations import rotate
from ..engine.system.slots import CLOSURE, COUPLING, MOTOR_POSITION
from ..world.causes import AXES

ROUNDS = 20  # of Gauss-Newton
APART = 1e-4  # [rad, lengths] of differences
NEAR = 1e-6  # of the size [m], or 1 rad: where it is wanted
LONGEST = 0.3  # [rad, lengths] of a step
RANK = 1e-6  # of the largest singular value: a smaller one says nothing


def smooth_way(
    model: Model, joints: Sequence[str], rates: Sequence[float], goal: Mapping[str, float], times: np.ndarray
) -> tuple[list[Driven], np.ndarray] | None:
    """A smooth motion of driven joints to a goal, by path, and its torques [joint, time]; rates: of them at the start.

    None where motors drive too little for it, or the place that is wanted is not found on the way there.
    """
    wanted = {path: value for path, value in goal.items() if ".position" in path}
    try:
        first, last = _ends(model, joints, wanted)
        ends = [goal.get(f"{joint}.velocity", 0.0) for joint in joints]
        duration = float(times[-1] - times[0])
        motions = {
            joint: _smooth(first[k], rates[k], last[k], ends[k], duration, float(times[0]))
            for k, joint in enumerate(joints)
        }
        found = inverse(model, motions, times)
    except ModelError:  # also of joints that cannot follow: no guess is no error
        return None
    torques = [found["motor_torque"].sel(coordinate=joint).values for joint in joints]
    return list(motions.values()), np.array(torques, float)


def _smooth(q0: float, v0: float, q1: float, v1: float, T: float, start: float) -> Driven:
    """A motion from one place and speed to others."""
    far = q1 - q0
    c3, c4, c5 = 10 * far - (6 * v0 + 4 * v1) * T, -15 * far + (8 * v0 + 7 * v1) * T, 6 * far - 3 * (v0 + v1) * T
    way = np.polynomial.Polynomial([q0, v0 * T, 0.0, c3, c4, c5])
    rate, change = way.deriv(), way.deriv(2)

    def motion(t: float) -> tuple[float, float, float]:
        s = (t - start) / T
        return float(way(s)), float(rate(s)) / T, float(change(s)) / T**2

    return motion


def _ends(model: Model, joints: Sequence[str], wanted: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Driven coordinates where the model is, and where its positions are those wanted."""
    model = copy_model(model)
    for name in joints:
        joint = model.joints[name]
        group = next(iter(joint.features))
        joint.features[group] = replace(joint.features[group], motor=Motor(position=0.0))
    mechanism = Mechanism(model)
    settle(mechanism)
    rows = mechanism.pick(CLOSURE, COUPLING, *DRIVES)
    found = {mechanism.rows[i].part: i for i in mechanism.pick(MOTOR_POSITION)}
    driven = [found[name] for name in joints]
    steps = np.array([1.0 if mechanism.rows[i].angular else mechanism.length for i in driven])

    def at(phi: np.ndarray) -> np.ndarray:
        drive(mechanism, rows, dict(zip(driven, phi.tolist(), strict=True)))
        return np.array([_read(mechanism, path) for path in wanted]) - list(wanted.values())

    first = mechanism.balance().measured[driven]
    phi, off = first.copy(), at(first)
    for _ in range(ROUNDS):
        if np.abs(off).max(initial=0.0) < NEAR * min(mechanism.size, 1.0):
            return first, phi
        slopes = np.array([(at(phi + step) - off) / APART for step in APART * np.diag(steps)]).T
        change = -steps * (np.linalg.pinv(slopes, rcond=RANK) @ off)
        phi = phi + change * min(1.0, LONGEST / max(float(np.abs(change / steps).max()), 1e-300))
        off = at(phi)
    raise ModelError(f"trajectory: no position of {', '.join(joints)} was found at which the goal is met")


def _read(mechanism: Mechanism, path: str) -> float:
    """A position by its path, as of `world.outcomes`."""
    stem, _, last = path.rpartition(".")
    positions = mechanism.joint_positions()
    if last == "position":
        return positions[stem]
    name, axis = stem.rpartition(".")[0], AXES.index(last)
    probe = mechanism.model.probes.get(name)
    if probe is None:
        return float(mechanism.positions[mechanism.bodies.index(name), axis])
    if probe.body not in mechanism.bodies:
        return float(probe.p_BQ[axis])
    b = mechanism.bodies.index(probe.body)
    return float((mechanism.positions[b] + rotate(mechanism.orientations[b], probe.p_BQ))[axis])
