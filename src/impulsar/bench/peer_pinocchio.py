"""Pinocchio on planar mechanisms: joint coordinates of a tree, loops as point constraints by constraintDynamics with
the proximal solver, integrated by SciPy's DOP853. Trees go by aba."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..validate.report.work import Problem
from .planar import GROUND, project

TOLERANCES = tuple(10.0**-k for k in range(3, 14))


@dataclass(frozen=True)
class Pinocchio:
    """Pinocchio with DOP853."""

    variant: str = "DOP853"

    name = "Pinocchio + SciPy"
    settings = (
        "joint coordinates of a tree, aba; loops by constraintDynamics (CONTACT_3D, proximal solver, μ = 1e-10, 1e-14, "
        "at most 10 iterations, no Baumgarte feedback); solve_ivp with DOP853, rtol = atol varied, from Python"
    )

    def knobs(self, problem: Problem) -> Sequence[float]:
        return TOLERANCES

    def label(self, knob: float) -> str:
        return f"rtol {knob:.0e}"

    def prepare(self, problem: Problem, knob: float) -> "Passage":
        return Passage(problem, knob)


def contenders(problem: Problem) -> list[Pinocchio]:
    """One."""
    return [Pinocchio()]


class Passage:
    """A model of Pinocchio's; every freedom is a joint of one coordinate."""

    def __init__(self, problem: Problem, tolerance: float):
        import pinocchio as pin

        self.pin, self.problem, self.tolerance = pin, problem, tolerance
        self.plane = project(problem.build())
        self.model = pin.Model()
        self.model.gravity.linear = np.array([*self.plane.gravity, 0.0])
        self.joint: dict[int, int] = {GROUND: 0}  # that carries a body
        self.offset: dict[int, np.ndarray] = {GROUND: np.zeros(2)}  # the start's place of its joint's origin
        order, loops = self.plane.tree()
        for body, joint, forward in order:
            self._add(body, joint, forward)
        self.data = self.model.createData()
        self.tau = np.zeros(self.model.nv)
        self.constraints = pin.StdVec_RigidConstraintModel()
        for joint in loops:
            first, second = (
                (self.joint[b], pin.SE3(np.eye(3), np.array([*(joint.at - self.offset[b]), 0.0])))
                for b in (joint.first, joint.second)
            )
            self.constraints.append(
                pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *first, *second, pin.LOCAL)
            )
        self.states = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.states.append(constraint.createData())
        self.proximal = pin.ProximalSettings(1e-14, 1e-10, 10)
        if loops:
            pin.initConstraintDynamics(self.model, self.data, self.constraints, self.states)
        self.slope = self._slope_of_loops if loops else self._slope_of_tree

    def _add(self, body: int, joint: Any, forward: bool) -> None:
        pin, plane = self.pin, self.plane
        parent = joint.first if forward else joint.second
        at, origin = self.joint[parent], self.offset[parent]
        codes = {"hinge": ["turn"], "slide": ["slide"], "slot": ["slide", "turn"] if forward else ["turn", "slide"]}
        for k, code in enumerate(codes[joint.kind]):
            place = np.array([*(joint.at - origin), 0.0]) if k == 0 else np.zeros(3)
            if code == "turn":
                kind = pin.JointModelRZ()
            else:
                kind = pin.JointModelPrismaticUnaligned(np.array([*joint.axis, 0.0]))
            at = self.model.addJoint(at, kind, pin.SE3(np.eye(3), place), f"{body} {k}")
        lever = pin.SE3(np.eye(3), np.array([*(plane.centre[body] - joint.at), 0.0]))
        inertia = pin.Inertia(plane.mass[body], np.zeros(3), plane.inertia[body] * np.eye(3))
        self.model.appendBodyToJoint(at, inertia, lever)
        self.joint[body], self.offset[body] = at, joint.at

    def _pull(self, q: np.ndarray, v: np.ndarray) -> Any:
        """Forces of the springs on the joints, or none."""
        pin = self.pin
        felt = pin.StdVec_Force()
        felt.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        pin.forwardKinematics(self.model, self.data, q, v)
        for spring in self.plane.springs:
            ends, speeds, arms = [], [], []
            for body, at in zip((spring.first, spring.second), spring.ends, strict=True):
                arm = np.array([*(at - self.offset[body]), 0.0])
                X, twist = self.data.oMi[self.joint[body]], self.data.v[self.joint[body]]
                ends.append(X.act(arm))
                speeds.append(X.rotation @ (twist.linear + np.cross(twist.angular, arm)))
                arms.append(arm)
            line = ends[1] - ends[0]
            length = float(np.linalg.norm(line))
            line /= length
            pull = spring.stiffness * (length - spring.free_length) + spring.damping * line @ (speeds[1] - speeds[0])
            for body, arm, force in zip((spring.first, spring.second), arms, (pull * line, -pull * line), strict=True):
                joint = self.joint[body]
                local = self.data.oMi[joint].rotation.T @ force
                felt[joint] = felt[joint] + pin.Force(local, np.cross(arm, local))
        return felt

    def _slope_of_tree(self, t: float, y: np.ndarray) -> np.ndarray:
        n = self.model.nq
        q, v = y[:n], y[n:]
        if self.plane.springs:
            return np.concatenate([v, self.pin.aba(self.model, self.data, q, v, self.tau, self._pull(q, v))])
        return np.concatenate([v, self.pin.aba(self.model, self.data, q, v, self.tau)])

    def _slope_of_loops(self, t: float, y: np.ndarray) -> np.ndarray:
        n = self.model.nq
        q, v, tau = y[:n], y[n:], self.tau
        if self.plane.springs:
            tau = self._spring_torques(q, v)
        a = self.pin.constraintDynamics(self.model, self.data, q, v, tau, self.constraints, self.states, self.proximal)
        return np.concatenate([v, a])

    def _spring_torques(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Jᵀ f of the springs' forces."""
        felt = self._pull(q, v)
        tau = np.zeros(self.model.nv)
        self.pin.computeJointJacobians(self.model, self.data, q)
        for body in {b for s in self.plane.springs for b in (s.first, s.second)} - {GROUND}:
            J = self.pin.getJointJacobian(self.model, self.data, self.joint[body], self.pin.LOCAL)
            tau += J.T @ felt[self.joint[body]].vector
        return tau

    def _solve(self, times: np.ndarray | None) -> Any:
        from scipy.integrate import solve_ivp

        start = np.zeros(2 * self.model.nq)
        found = solve_ivp(
            self.slope, (0.0, self.problem.duration), start, "DOP853", times, rtol=max(self.tolerance, 3e-14),
            atol=self.tolerance,
        )  # fmt: skip
        if not found.success:
            raise RuntimeError(f"DOP853: {found.message}")
        return found

    def positions(self) -> np.ndarray:
        found, plane = [], self.plane
        for y in self._solve(self.problem.times).y.T:
            self.pin.forwardKinematics(self.model, self.data, y[: self.model.nq])
            found.append(
                [
                    self.data.oMi[self.joint[b]].act(np.array([*(plane.centre[b] - self.offset[b]), 0.0]))[:2]
                    for b in range(len(plane.mass))
                ]
            )
        return plane.lift(np.array(found))

    def spend(self) -> float:
        begin = time.process_time()
        self._solve(None)
        return time.process_time() - begin
