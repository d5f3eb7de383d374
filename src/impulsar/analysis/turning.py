"""A whole turn of a mechanism of one freedom: its poses as a crank goes round, without forces or time."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..author.checks import show
from ..author.errors import ModelError
from ..author.joints import Group
from ..author.model import Model
from ..author.parts import Joint, Motor
from ..author.rotations import rotate_all
from ..engine.system.slots import CLOSURE, COUPLING, MOTOR_POSITION
from ..observe.readout import coordinate_name
from .assembly import AssemblyError, drive, settle
from .bodies import Mechanism, copy_model
from .motion import solve_motion

CANDIDATES = 4  # joints that are tried
SAMPLES, MOST_SAMPLES = 90, 100_000


@dataclass(frozen=True)
class Turn:
    """Poses, one behind the other."""

    coordinate: str  # what was turned
    is_whole: bool  # all the way round; else as far as the joints let it go, from one end to the other
    bodies: tuple[str, ...]
    position: np.ndarray  # [pose, body, 3]
    orientation: np.ndarray  # [pose, body, 4] xyzw

    def path(self, body: str, at: np.ndarray) -> np.ndarray:
        """Where a point goes, in the frame of a body or of the ground [pose, 3]."""
        if body not in self.bodies:
            return np.tile(np.asarray(at, float), (len(self.position), 1))
        k = self.bodies.index(body)
        q = self.orientation[:, k]
        return self.position[:, k] + rotate_all(q, np.tile(np.asarray(at, float), (len(q), 1)))


def turn(model: Model, coordinate: str | None = None, samples: int = SAMPLES, device: str = "cpu") -> Turn:
    """Turn a hinge once round from the authored pose, on its branch.

    By default the hinge of a motor, else one to the ground: the first that goes all the way, or else the first.
    Raises `ModelError` where that does not decide how everything moves.
    """
    if not isinstance(model, Model):
        raise ModelError(f"turn: model is {show(model)}, expected a Model")
    if not isinstance(samples, int) or isinstance(samples, bool) or not 1 <= samples <= MOST_SAMPLES:
        raise ModelError(f"turn: samples is {show(samples)}, expected a whole number from 1 to {MOST_SAMPLES}")
    names = _hinges(model) if coordinate is None else [coordinate]
    if not names:
        raise ModelError(f"model '{model.name}': has no hinge that can be turned")
    found: Turn | None = None
    for name in names[:CANDIDATES]:
        turned = _turned(model, name, samples, device)
        if turned.is_whole:
            return turned
        found = found or turned
    assert found is not None
    return found


def _hinges(model: Model) -> list[str]:
    """Names of angles to try: those with motors, or else of joints to the ground, or else all."""
    angles = _angles(model)
    driven = [name for name, (joint, group) in angles.items() if joint.features[group.name].motor is not None]
    grounded = [name for name, (joint, _) in angles.items() if "ground" in (joint.first, joint.second)]
    return driven or grounded or list(angles)


def _angles(model: Model) -> dict[str, tuple[Joint, Group]]:
    return {
        coordinate_name(joint, group, group.freedoms[0]): (joint, group)
        for joint in model.joints.values()
        for group in joint.kind.groups
        if not group.is_ball and not group.is_slide
    }


def _turned(model: Model, name: str, samples: int, device: str) -> Turn:
    angles = _angles(model)
    if not isinstance(name, str) or name not in angles:
        raise ModelError(f"model '{model.name}': no hinge {show(name)}; there are: {', '.join(angles) or 'none'}")
    model = copy_model(model)
    for joint in model.joints.values():
        for group in joint.kind.groups:
            joint.features[group.name] = replace(joint.features[group.name], motor=None)
    chosen, group = _angles(model)[name]
    chosen.features[group.name] = replace(chosen.features[group.name], motor=Motor(position=0.0))
    mechanism = Mechanism(model, device)
    settle(mechanism)
    rows = mechanism.pick(CLOSURE, COUPLING, MOTOR_POSITION)
    (row,) = mechanism.pick(MOTOR_POSITION)
    balance = mechanism.balance()
    if solve_motion(mechanism, balance, rows).Z.shape[1]:
        raise ModelError(f"model '{model.name}': '{name}' does not decide how everything moves; see mobility")
    start, here = float(balance.measured[row]), mechanism.snapshot()

    def go(way: float) -> list[np.ndarray]:
        mechanism.restore(here)
        return _walk(mechanism, lambda k: drive(mechanism, rows, {row: start + way * 2 * np.pi * k / samples}), samples)

    poses = go(1.0)
    is_whole = len(poses) == samples + 1
    if not is_whole:
        poses = [*go(-1.0)[:0:-1], *poses]
    all_poses = np.array(poses)
    return Turn(name, is_whole, tuple(mechanism.bodies), all_poses[..., :3], all_poses[..., 3:])


def _walk(mechanism: Mechanism, step: Callable[[int], None], samples: int) -> list[np.ndarray]:
    """Poses up to where the joints cannot follow."""
    poses = [np.hstack([mechanism.positions, mechanism.orientations])]
    for k in range(1, samples + 1):
        try:
            step(k)
        except AssemblyError:
            break
        poses.append(np.hstack([mechanism.positions, mechanism.orientations]))
    return poses
