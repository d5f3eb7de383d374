"""Reactions of redundant mechanisms: of all that hold it together, the least, over all joint rows at body level.

Redundant constraints leave the multipliers λ of Jᵀ λ = f open by the null space of Jᵀ; a solver's choice
depends on its coordinates and on the order of its rows. Here J has a row for every lock of every joint,
tree joints included, over the twists of the bodies, and λ is the solution of least norm, torques divided
by a characteristic length. So the choice is the same in both coordinates and keeps a mechanism's symmetry.
How many rows say something new is known from when the world was built; at a singular position they are fewer.

A reaction R of a joint is split, about M's origin, into what its locks and what its freedoms transmit: the
wrench pairs of locks and freedoms together span all wrenches. Only the locks' part is open.
"""

from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..author.joints import LOCK_X
from ..author.rotations import cross
from ..engine.constrain.frames import freedom_pair
from ..engine.constrain.locks import lock
from ..engine.spatial import ZERO, vec3
from ..engine.state import WorkArrays
from ..engine.system import SystemArrays
from ..engine.system.rank import NEAR, dependencies, independent
from ..engine.system.slots import CLOSURE
from ..engine.system.tree import span

if TYPE_CHECKING:
    from ..engine.system import System

WIDEST = 1e-3  # pivot that counts as zero at most, however far the joints are open


@wp.kernel(enable_backward=False)
def pairs_kernel(
    # model
    m: SystemArrays,
    joint: wp.array(dtype=wp.int32),  # every lock and freedom of every authored joint
    code: wp.array(dtype=wp.int32),
    # state in
    x: WorkArrays,
    # out
    turn: wp.array2d(dtype=vec3),
    slide: wp.array2d(dtype=vec3),
    point: wp.array2d(dtype=vec3),
):
    """Wrench pairs of locks and freedoms in world axes."""
    w = wp.tid()
    for k in range(joint.shape[0]):
        pair, _ = lock(m, x, joint[k], code[k], ZERO, w)
        if code[k] < LOCK_X:
            pair = freedom_pair(m, x, joint[k], code[k], w)
        turn[k, w] = pair.turn
        slide[k, w] = pair.slide
        point[k, w] = pair.point


class LeastNorm:
    """Chooses the reactions of a system with loops."""

    def __init__(self, system: "System", work: WorkArrays):
        self._system, self._work = system, work
        self.joints = list(system.model.joints.values())
        rows = [(j, code) for j, joint in enumerate(self.joints) for code in (*joint.kind.locks, *joint.kind.freedoms)]
        self._is_lock = np.array([code >= LOCK_X for _, code in rows], bool)
        self._owner = np.array([j for j, _ in rows], int)
        index = [system.joint_index[self.joints[j].name] for j, _ in rows]
        device, worlds = system.device, system.counts.worlds
        self._codes = [
            wp.array(np.array(values, np.int32), dtype=wp.int32, device=device, shape=(len(rows),))
            for values in (index, [code for _, code in rows])
        ]
        self._out = [wp.zeros((len(rows), worlds), dtype=vec3, device=device) for _ in range(3)]
        self._bodies = [
            [system.body_index.get(name, -1) for name in (joint.first, joint.second)] for joint in self.joints
        ]
        self._ends = np.array(self._bodies, int).reshape(-1, 2)[self._owner]
        self._rows_of = [np.flatnonzero(self._owner == j) for j in range(len(self.joints))]
        tree = span(system.model)
        number = {joint.name: j for j, joint in enumerate(self.joints)}
        self._inward = [
            (number[joint.name], system.body_index[body], system.body_index[tree.bodies[parent]] if parent >= 0 else -1)
            for body, parent, joint in zip(tree.bodies, tree.parents, tree.carriers, strict=True)
            if joint.name in number
        ][::-1]
        self.length = system.length
        closures = [r for r, slot in enumerate(system.slots) if slot.kind == CLOSURE]
        by_tree = sum(len(self.joints[j].kind.locks) for j, _, _ in self._inward)
        held = by_tree if system.coordinates == "generalized" else 0  # there no slots stand for the tree's joints
        self._ranks = [held + int(rank) for rank in system.parameter("basis")[closures].sum(axis=0)]

    def reactions(self, raw: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reactions [joint, world, 6] and whether determinate [joint, world], from a solver's own [joint, world, 6].

        Joints that are open by ε, from the errors of all locks [lock, world], turn each row by as much. Singular
        values change by no more than the norm of that, √rows · ε for each end of a row: dependent rows have pivots
        of that size.
        """
        inputs = [self._system.arrays, *self._codes, self._work, *self._out]
        wp.launch(pairs_kernel, self._system.counts.worlds, inputs=inputs, device=self._system.device)
        turn, slide, point = (array.numpy() for array in self._out)
        p_WB = self._work.p_WB.numpy()
        chosen, determinate = raw.copy(), np.ones(raw.shape[:2], bool)
        for w in range(raw.shape[1]):
            pairs = np.hstack([turn[:, w], slide[:, w]])
            is_torque = ~pairs[self._is_lock, 3:].any(axis=1)
            opening = np.abs(errors[:, w]) / np.where(is_torque, 1.0, self.length)
            near = np.clip(2.0 * np.sqrt(len(opening)) * opening.max(initial=0.0), NEAR, WIDEST)
            rank = self._ranks[min(w, len(self._ranks) - 1)]
            chosen[:, w], determinate[:, w] = self._choose(raw[:, w], pairs, point[:, w], p_WB[:, w], near, rank)
        return chosen, determinate

    def _choose(self, raw, pairs, point, p_WB, near: float, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """One world: raw [joint, 6], pairs [row, 6] about M's origins."""
        rows = np.flatnonzero(self._is_lock)
        multipliers = np.zeros(len(pairs))
        for j, own in enumerate(self._rows_of):
            multipliers[own] = np.linalg.lstsq(pairs[own].T, raw[j], rcond=None)[0]
        J = np.zeros((len(rows), p_WB.shape[0], 6))
        for sign, bodies in zip((-1.0, 1.0), self._ends[rows].T, strict=True):
            own = np.flatnonzero(bodies >= 0)
            body, pair = bodies[own], pairs[rows[own]]
            J[own, body, :3] = sign * (pair[:, :3] + cross(point[rows[own]] - p_WB[body], pair[:, 3:]))
            J[own, body, 3:] = sign * pair[:, 3:]
        # torques over the length: rows without a force part count in N m
        is_torque = ~pairs[rows, 3:].any(axis=1)
        scale = np.where(is_torque, self.length, 1.0)
        J = scale[:, None] * J.reshape(len(rows), -1)
        # body equations in like units, so that the rank does not depend on the choice of metre
        J[:, np.tile([True] * 3 + [False] * 3, p_WB.shape[0])] /= self.length
        if self._system.model.couplings:  # which may hold what closures hold, too
            rank = max(rank, len(independent(J, self._system.redundancy)[0]))
        null = dependencies(J, near, rank)
        change = np.zeros(len(pairs))
        change[rows] = -scale * (null @ (null.T @ (multipliers[rows] / scale)))
        free = np.abs(null).max(axis=1, initial=0.0) > 1e-6
        chosen = raw + [change[own] @ pairs[own] for own in self._rows_of]
        origin = np.array([point[own[0]] if len(own) else np.zeros(3) for own in self._rows_of])
        self._balance(chosen, raw, origin, p_WB)
        determinate = np.ones(len(self.joints), bool)
        determinate[self._owner[rows[free]]] = False
        return chosen, determinate

    def _balance(self, chosen: np.ndarray, raw: np.ndarray, origin: np.ndarray, p_WB: np.ndarray) -> None:
        """Let the tree joints take what the change of choice leaves unbalanced at a pose with gaps, in place."""
        left = np.zeros((p_WB.shape[0], 6))
        for j, change in enumerate(chosen - raw):
            for sign, body in zip((-1.0, 1.0), self._bodies[j], strict=True):
                if body >= 0:
                    left[body] += sign * _about(change, origin[j], p_WB[body])
        for j, body, parent in self._inward:
            sign = 1.0 if self._bodies[j][1] == body else -1.0
            chosen[j] -= sign * _about(left[body], p_WB[body], origin[j])
            if parent >= 0:
                left[parent] += _about(left[body], p_WB[body], p_WB[parent])


def _about(wrench: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """A wrench [torque, force] about another point."""
    return np.concatenate([wrench[:3] + cross(old - new, wrench[3:]), wrench[3:]])
