"""Armature at body level: a rotor of inertia a that goes with the rate J v of a freedom.

energy a (J v)² / 2      M ← M + a Jᵀ J      force ← force - a (J̇ v) Jᵀ      in the joint -a (J v̇ + J̇ v)
"""

# mypy: disable-error-code="index,operator"

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..engine.constrain.accelerations import joint_acceleration
from ..engine.constrain.frames import freedom_pair
from ..engine.spatial import f64, spatial, vec6
from ..engine.state import WorkArrays
from ..engine.system import System, SystemArrays
from ..engine.system.tree import armature_of

if TYPE_CHECKING:
    from .bodies import Balance


@wp.kernel(enable_backward=False)
def rotors_kernel(
    # model
    m: SystemArrays,
    joint: wp.array(dtype=wp.int32),
    code: wp.array(dtype=wp.int32),
    # state in
    x: WorkArrays,
    # out
    along: wp.array2d(dtype=vec6),  # [rotor, 1] turn and slide of its freedom
    point: wp.array2d(dtype=wp.vec3d),  # [rotor, 1] at which [m]
    drift: wp.array2d(dtype=f64),  # [rotor, 1] J̇ v, where bodies do not accelerate [m/s², rad/s²]
):
    w = wp.tid()
    for k in range(joint.shape[0]):
        pair = freedom_pair(m, x, joint[k], code[k], w)
        along[k, w] = spatial(pair.turn, pair.slide)
        point[k, w] = pair.point
        drift[k, w] = joint_acceleration(m, x, joint[k], code[k], pair, w)


class Rotors:
    """The armatures of a system of free bodies."""

    def __init__(self, system: System):
        self._system = system
        self._of = [(j, code) for j, joint in enumerate(system.joints) for code in joint.kind.freedoms]
        self._of = [(j, code) for j, code in self._of if armature_of(system.joints[j], code)]
        self.armature = np.array([armature_of(system.joints[j], code) for j, code in self._of])
        n, device = len(self._of), system.device
        self._ints = [wp.array([own[end] for own in self._of], dtype=wp.int32, device=device) for end in (0, 1)]
        self._out = [wp.zeros((n, 1), dtype=dtype, device=device) for dtype in (vec6, wp.vec3d, f64)]
        self._J, self._drift = np.zeros((n, system.counts.dofs)), np.zeros(n)

    def take_over(self, world: System) -> None:
        """The armatures that a running system of the same model has."""
        if len(self._of):
            values = world.parameter("armature")[:, 0]
            keys = [(self._system.joints[j].name, code) for j, code in self._of]  # type: ignore[union-attr]
            self.armature = np.array([values[world.dof[key]] for key in keys])

    def added(self, balance: "Balance", work: WorkArrays) -> "Balance":
        """A balance with their inertia, after its kernel."""
        if not len(self._of):
            return balance
        inputs = [self._system.arrays, *self._ints, work, *self._out]
        wp.launch(rotors_kernel, 1, inputs=inputs, device=self._system.device)
        along, point, drift = (array.numpy()[:, 0] for array in self._out)
        places = work.p_WB.numpy()[:, 0]
        self._drift, self._J = drift.copy(), np.zeros_like(self._J)
        for k, (j, _) in enumerate(self._of):
            turn, slide = along[k, :3], along[k, 3:]
            for sign, name in ((-1.0, self._system.joints[j].first), (1.0, self._system.joints[j].second)):
                body = self._system.body_index.get(name, -1)
                if body >= 0:
                    arm = np.cross(point[k] - places[body], slide)
                    self._J[k, 6 * body : 6 * body + 6] += sign * np.concatenate([slide, turn + arm])
        weighted = self.armature[:, None] * self._J
        return replace(balance, M=balance.M + self._J.T @ weighted, force=balance.force - drift @ weighted)

    def add_reactions(self, wrench: np.ndarray, acceleration: np.ndarray) -> None:
        """Add what they take to what joints transmit [joint, 6], at accelerations of the bodies [dof]."""
        along = self._out[0].numpy()[:, 0]
        taken = self.armature * (self._J @ acceleration + self._drift)
        for k, (j, _) in enumerate(self._of):
            wrench[j] -= taken[k] * along[k]
