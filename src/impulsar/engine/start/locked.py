"""Motors that cannot move their joints: found when a world is built or edited, by rank of the rows.

A motor of speed or position whose row J_m lies in the span of the rows of joints and couplings is held by them,
whatever torque it gives: an equation too many, at odds with the others unless it asks the joint to stay where it is.
At a dead centre that is so for an instant only, so a second pose nearby has to say the same.
"""

import numpy as np
import warp as wp

from ...author.checks import is_number
from ...author.errors import ModelError
from ...author.profiles import Scalar
from ..launch import launch
from ..spatial import f64
from ..state import State, WorkArrays
from ..system import System
from ..system.rank import NEAR, independent, null_space
from ..system.slots import CLOSURE, COUPLING, MOTOR_POSITION, MOTOR_SPEED
from ..system.tree import has_loop
from .consistent import refresh
from .redundancy import move_kernel, rows_kernel

TAKES_PART = 1e-6  # coefficient of a row in a motor's
STEP = 0.05  # to the next pose [rad, sizes]
AT_ODDS = 1e-7  # of a target and where a locked joint is [m, rad and per second], as in analysis
CLOSED = 1e-10  # error of the joints there [rad, sizes]
POSES, ROUNDS = 3, 10


def refuse_locked_motors(system: System, state: State, work: WorkArrays, error: type[ModelError]) -> None:
    """Raise where a motor asks a joint to move that joints and couplings hold; the state stays as it is.

    What is held and asked to stay is kept in `system.locked_motors`, slot by slot, with what holds it.
    """
    system.locked_motors = {}
    drives = [r for r, slot in enumerate(system.slots) if slot.kind in (MOTOR_SPEED, MOTOR_POSITION)]
    if not drives or not (system.model.couplings or has_loop(system.model)):
        return
    before = state.array.numpy().copy()
    rows = Rows(system, state, work)
    for pose in range(POSES):
        drives, free = rows.held(drives)
        if not drives or not free.shape[1] or not rows.go_on(free, pose):
            break
    holders = {r: rows.holders(r) for r in drives}
    state.array.assign(before)
    refresh(system, state, work)
    for r, names in holders.items():
        told = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        system.locked_motors[r] = told or "nothing: it moves nothing"
        refuse_if_locked(system, state, r, system.channels.items[system.slots[r].channel], error)
    if not system.locked_motors:
        refuse_motors_at_odds(rows, error)


def refuse_motors_at_odds(rows: "Rows", error: type[ModelError]) -> None:
    """Raise where motors of given speeds ask for motions that the joints do not allow together."""
    system = rows.system
    target = {
        r: float(value)
        for r, slot in enumerate(system.slots)
        if slot.kind == MOTOR_SPEED and is_number(value := system.channels.items[slot.channel])
    }
    if len(target) < 2:
        return
    J = rows.read()
    refresh(system, rows.state, rows.work)
    before = list(rows.rigid)
    for r, rate in target.items():
        parts, is_held = rows.made_of(J, r, before)
        implied = sum(part * target.get(k, 0.0) for k, part in parts.items())
        if is_held and abs(rate - implied) > AT_ODDS * max(1.0, abs(rate)):
            others = [system.slots[k].name for k, part in parts.items() if k in target and abs(part) > TAKES_PART]
            raise error(
                f"motor of joint '{system.slots[r].name}': asks for {rate:g}, and those of {', '.join(others)} for "
                f"{implied:.3g} there; remove one, or give it a torque"
            )
        before.append(r)


def refuse_if_locked(
    system: System, state: State, r: int, target: Scalar | np.ndarray, error: type[ModelError]
) -> None:
    """Raise where the motor of slot r is held and `target` asks for anything but to stay."""
    if r not in system.locked_motors:
        return
    slot = system.slots[r]
    at = state.read("q")[slot.q, 0] if slot.q >= 0 else state.read("loop_q")[-1 - slot.q, 0]
    stays = 0.0 if slot.kind == MOTOR_SPEED else at * (slot.d or 1.0)  # on the motor's side of its gear
    if (is_number(target) or isinstance(target, np.ndarray)) and np.all(np.abs(target - stays) <= AT_ODDS):
        return
    raise error(
        f"motor of joint '{slot.name}': already held by {system.locked_motors[r]}; "
        "remove the motor, give it a torque instead of a speed or position, or free the joint"
    )


class Rows:
    """Rows of joints, couplings and motors at the poses of the first world, in rad and sizes."""

    def __init__(self, system: System, state: State, work: WorkArrays):
        self.system, self.state, self.work = system, state, work
        holds = system.parameter("basis")[:, 0]  # what is redundant but for play holds nothing
        self.rigid = [r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, COUPLING) and holds[r]]

    def read(self) -> np.ndarray:
        """J of every slot at the present pose [slot, freedom]."""
        inputs = [self.system.arrays, self.state.arrays, self.work]
        launch(rows_kernel, 1, inputs, self.system.device)
        return self.system.scaled_rows(self.system.dense_rows(self.work.J.numpy()), range(len(self.system.slots)))

    def made_of(self, J: np.ndarray, r: int, rows: list[int]) -> tuple[dict[int, float], bool]:
        """What of each of some rows a motor's is made of, and whether that is all of it."""
        kept = [rows[i] for i in independent(J[rows])[0]]
        parts = np.linalg.lstsq(J[kept].T, J[r], rcond=None)[0]
        left = np.linalg.norm(J[r] - J[kept].T @ parts)
        scale = np.sqrt(self.system.arrays.slot_weight.numpy())
        return dict(zip(kept, parts * scale[kept] / scale[r], strict=True)), bool(left <= NEAR * np.linalg.norm(J[r]))

    def held(self, drives: list[int]) -> tuple[list[int], np.ndarray]:
        """Those of the motors that the joints hold here, and the directions that these leave free."""
        J = self.read()
        free = null_space(J[self.rigid])
        held = [r for r in drives if np.linalg.norm(J[r] @ free) <= NEAR * np.linalg.norm(J[r])]
        return held, free

    def go_on(self, free: np.ndarray, seed: int) -> bool:
        """Go a little along what is free and close the joints again; False where they do not close."""
        along = free @ np.random.default_rng(seed).normal(size=free.shape[1])
        self._move(STEP * along / np.abs(along).max())
        for _ in range(ROUNDS):
            J = self.read()[self.rigid]
            weight = np.sqrt(self.system.arrays.slot_weight.numpy()[self.rigid])
            error = weight * self.work.row_error.numpy()[self.rigid, 0]
            if np.abs(error).max(initial=0.0) < CLOSED:
                return True
            kept, _ = independent(J)
            self._move(-np.linalg.lstsq(J[kept], error[kept], rcond=None)[0])
        return False

    def holders(self, r: int) -> list[str]:
        """Joints and couplings whose rows make up a motor's."""
        parts, _ = self.made_of(self.read(), r, self.rigid)
        slots = [self.system.slots[k] for k, part in sorted(parts.items()) if abs(part) > TAKES_PART]
        return list(dict.fromkeys(f"{'coupling' if s.kind == COUPLING else 'joint'} '{s.name}'" for s in slots))

    def _move(self, change: np.ndarray) -> None:
        """Move by so many rad and sizes."""
        change = np.sqrt(self.system.arrays.dof_weight.numpy()) * change
        worlds = self.system.counts.worlds
        given = wp.array(np.repeat(change[:, None], worlds, axis=1), dtype=f64, device=self.system.device)
        inputs = [self.system.arrays, self.state.arrays, given]
        launch(move_kernel, worlds, inputs, self.system.device)
