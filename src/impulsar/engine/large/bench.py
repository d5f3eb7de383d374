"""A large world on a device: its arrays, and the stages of a step, each a launch over all parts.

A step of fixed size, first order:

    drift     poses by the twists, angular momentum kept
    kick      twists by gravity and what is applied
    settle    rows of all joints, A = J M⁻¹ Jᵀ factored; position errors removed from positions, A λ = -error, two or
              three times by one factor; A factored again, J v = 0: to rounding, since the factor is that of the pose

A step of the pair: seven evaluations, each A λ = -(J V̇ + J̇ V), Dormand and Prince 5(4), then both projections.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ..integrate.pairs import B_LOW, STAGES, A, B
from ..spatial import f64, mat33, quat, vec3, vec6
from ..state import WorkArrays
from ..system import SystemArrays
from . import motion, rows
from .arrays import LargeArrays
from .bulk import Bulk
from .factor import Factor
from .plan import MOST_NEIGHBOURS, make_plan, neighbours

SHARES = 1024  # threads that sum over all bodies


class LargeBench:
    """Arrays of a large world, and its stages."""

    def __init__(self, bulk: Bulk, device: str):
        bulk.check()
        self.bulk, self.device = bulk, device
        self.bodies, self.joints = bulk.bodies, bulk.joints
        self.locks = bulk.locks()
        self.rows = self.locks.shape[1]
        self._fill_system()
        self._fill_state()
        if self.joints:
            pairs = neighbours(bulk.first, bulk.second, self.bodies)
            plan = make_plan(self.joints, pairs)
            if len(plan.core):
                raise ModelError(
                    f"{bulk.name}: {len(plan.core)} of {self.joints} joints are in nets, where eliminating one joins"
                    f" more than {MOST_NEIGHBOURS} others; chains, trees and single loops are solved directly"
                )
            self.factor = Factor(plan, self.rows, device)
            self.b = self.factor.b
        self._record()

    # arrays ---------------------------------------------------------------------------------------

    def _whole(self, values: np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _of(self, values: np.ndarray, dtype: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(values, float), dtype=dtype, device=self.device)

    def _fill_system(self) -> None:
        bulk, m, a = self.bulk, SystemArrays(), LargeArrays()
        m.first, m.second = self._whole(bulk.first), self._whole(bulk.second)
        m.parent = m.first  # as long as there are joints: frames are placed from the poses
        for name, dtype in (("p_PF", vec3), ("q_PF", quat), ("p_CM", vec3), ("q_CM", quat), ("length", f64)):
            setattr(m, name, self._of(getattr(bulk, name)[:, None], dtype))
        m.gravity = self._of(np.array(bulk.gravity)[None, None], vec3)
        a.kind, a.joint_kind = self._whole(bulk.kind), self._whole(bulk.joint_kind)
        a.mass, a.inertia = self._of(bulk.mass, f64), self._of(bulk.inertia, mat33)
        a.inverse = self._of(np.linalg.inv(bulk.inertia), mat33)
        a.radius, a.friction = self._of(bulk.radius, f64), self._of(np.array([bulk.friction]), f64)
        a.plane_normal, a.plane_offset = self._of(bulk.planes[:, :3], vec3), self._of(bulk.planes[:, 3], f64)
        a.wrench = wp.zeros(self.bodies, vec6, device=self.device)
        a.lock = wp.array(self.locks, dtype=wp.int32, device=self.device)
        a.body_first, a.body_joint = (self._whole(one) for one in _at_bodies(bulk))
        for name in ("turn", "slide"):
            setattr(a, name, wp.zeros((self.rows, max(self.joints, 1)), vec3, device=self.device))
        a.point = wp.zeros(max(self.joints, 1), vec3, device=self.device)
        self.m, self.a = m, a

    def _fill_state(self) -> None:
        bulk, x = self.bulk, WorkArrays()
        x.p_WB, x.q_WB = self._of(bulk.position[:, None], vec3), self._of(bulk.orientation[:, None], quat)
        x.twist = self._of(bulk.twist[:, None], vec6)
        x.acceleration = wp.zeros((self.bodies, 1), vec6, device=self.device)
        self.x = x
        self.shift = x.acceleration  # what moves positions; accelerations are needed at other times
        self.h = wp.zeros(1, f64, device=self.device)
        self.sums = [wp.zeros(SHARES, f64, device=self.device) for _ in range(2)]

    # launches -------------------------------------------------------------------------------------

    def launcher(self, kernel: wp.Kernel, threads: int, inputs: Sequence[Any]) -> Callable[[], None]:
        """A recorded launch."""
        if not threads:
            return lambda: None
        return wp.launch(kernel, threads, inputs=list(inputs), device=self.device, record_cmd=True).launch

    def _record(self) -> None:
        m, x, a = self.m, self.x, self.a
        self.drift = self.launcher(motion.drift, self.bodies, [x, a, self.h])
        self.kick = self.launcher(motion.kick, self.bodies, [m, x, a, self.h])
        self.move = self.launcher(motion.move, self.bodies, [x, self.shift])
        self.free = self.launcher(motion.free_accelerations, self.bodies, [x, a])
        self._energies = self.launcher(motion.energies, SHARES, [m, x, a, *self.sums])
        if not self.joints:
            return
        made, all_ = rows.kernels(self.rows), [m, x, a]
        self.place_rows = self.launcher(made["place_rows"], self.joints, all_)
        self.measure_errors, self.measure_rates, self.measure_accelerations = (
            self.launcher(made[name], self.joints, [*all_, self.b])
            for name in ("measure_errors", "measure_rates", "measure_accelerations")
        )
        self._diagonal = self.launcher(made["fill_diagonal"], self.joints, [*all_, self.factor.diagonal])
        beside = [*all_, self.factor.owner, self.factor.other, self.factor.filled, self.factor.beside]
        self._beside = self.launcher(made["fill_beside"], self.factor.owner.size, beside)
        self.push = self.launcher(made["apply"], self.bodies, [*all_, self.b, x.twist])
        self.pull = self.launcher(made["apply"], self.bodies, [*all_, self.b, self.shift])
        self._stiffen = self.launcher(made["stiffen"], SHARES, [*all_, self.b, self.sums[0]])

    # stages ---------------------------------------------------------------------------------------

    def factor_rows(self) -> None:
        """Rows at the present poses, and the factor of A."""
        self.place_rows()
        self._diagonal()
        self._beside()
        self.factor.factor()

    def project_positions(self, rounds: int) -> None:
        """Remove position errors, so many times by the same factor."""
        self.shift.zero_()
        for _ in range(rounds):
            self.measure_errors()
            self.factor.solve()
            self.pull()
            self.move()

    def project_velocities(self) -> None:
        """Make J v zero by the factor of the present poses; what that takes is in b."""
        self.measure_rates()
        self.factor.solve()
        self.push()

    def settle(self, rounds: int) -> None:
        """Make positions and velocities what the joints allow."""
        self.factor_rows()
        self.project_positions(rounds)
        self.factor_rows()
        self.project_velocities()

    def evaluate(self) -> None:
        """Accelerations of the bodies at the present state, gravity taken off."""
        self.free()
        if self.joints:
            self.factor_rows()
            self.measure_accelerations()
            self.factor.solve()
            self.pull()

    def step(self, rounds: int) -> None:
        """A step of the size in h."""
        self.drift()
        self.kick()
        if self.joints:
            self.settle(rounds)

    def longest_step(self) -> float:
        """A first-order step that is longer grows without bound, by the impulses of the last one in b: 2 / ω [s]."""
        if not self.joints:
            return np.inf
        self._stiffen()
        square = float(self.sums[0].numpy().max()) / float(self.h.numpy()[0])
        return 2.0 / np.sqrt(square) if square > 0.0 else np.inf

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential [J]."""
        self._energies()
        kinetic, potential = (float(np.sum(one.numpy())) for one in self.sums)
        return kinetic, potential


class Pair:
    """Dormand and Prince 5(4) over the evaluations of a bench."""

    def __init__(self, bench: LargeBench, rtol: float, atol: float, length: float):
        self.bench = bench
        n, device, x = bench.bodies, bench.device, bench.x
        self.rate, self.change = (wp.zeros((STAGES, n), vec6, device=device) for _ in range(2))
        self.start = (
            wp.zeros(n, vec3, device=device),
            wp.zeros(n, quat, device=device),
            wp.zeros(n, vec6, device=device),
        )
        self.turn = wp.zeros((n, 1), vec3, device=device)
        self.worst = wp.zeros(SHARES, f64, device=device)
        self.tolerance = wp.array([rtol, atol, length], dtype=f64, device=device)
        weights = [[float(value) for value in (*row, *[0] * (STAGES - len(row)))] for row in (*A, B)]
        self._weights = [wp.array(row, dtype=f64, device=device) for row in weights]
        error = [float(b - low) for b, low in zip(B, B_LOW, strict=True)]
        given = [x, *self.start, self.rate, self.change]
        self._go = [
            bench.launcher(motion.go_to_stage, n, [*given, self._weights[k], bench.h, min(k, STAGES), self.turn])
            for k in range(STAGES)
        ]
        kept = [bench.m, x, self.turn, self.rate, self.change]
        self._keep = [bench.launcher(motion.keep_rate, n, [*kept, k]) for k in range(STAGES)]
        self._error = wp.array(error, dtype=f64, device=device)
        estimate = [self.start[2], self.rate, self.change, self._error, bench.h, self.tolerance, self.worst]
        self._estimate = bench.launcher(motion.estimate_error, SHARES, estimate)

    def attempt(self) -> float:
        """A step of the size in h from the present state; its error over the tolerance."""
        x = self.bench.x
        for kept, now in zip(self.start, (x.p_WB, x.q_WB, x.twist), strict=True):
            wp.copy(kept, now.flatten())
        self.turn.zero_()
        for k in range(STAGES):
            if k:
                self._go[k]()
            self.bench.evaluate()
            self._keep[k]()
        self._estimate()
        return float(self.worst.numpy().max())

    def go_back(self) -> None:
        """To the state before the attempt."""
        x = self.bench.x
        for kept, now in zip(self.start, (x.p_WB, x.q_WB, x.twist), strict=True):
            wp.copy(now.flatten(), kept)


def _at_bodies(bulk: Bulk) -> tuple[np.ndarray, np.ndarray]:
    """Joints at each body in order: where each body's begin, and the joints, ~joint where the body is its first."""
    joints = np.arange(bulk.joints)
    body = np.concatenate([bulk.first, bulk.second])
    code = np.concatenate([~joints, joints])
    kept = body >= 0
    body, code = body[kept], code[kept]
    order = np.lexsort((np.where(code < 0, ~code, code), body))
    return np.searchsorted(body[order], np.arange(bulk.bodies + 1)), code[order]
