"""A hand on one body of a large world: a spring to a place, no stronger than it may be.

Its force is read at the start of a nominal step and acts for all of it, F = k (target - p) - c v at the point that is
held; the work F · Δp is exact for such a force. k and c are small enough for that: ω h = 1/4 of the body by itself.
"""

import numpy as np
import warp as wp

from ..spatial import ZERO, f64, quat, spatial, vec3, vec6

SLOW = 0.25  # ω of the body in the hand, by the nominal step
DAMPING = 0.7  # of the critical one
STRONGEST = 200.0  # weights of the body
WEIGHT = 9.81  # [m/s²] where nothing else pulls


@wp.struct
class HandArrays:
    """All of one hand."""

    body: wp.array(dtype=wp.int32)  # [1] -1: holds nothing
    arm: wp.array(dtype=vec3)  # [1] of the point that is held, in the body's frame [m]
    target: wp.array(dtype=vec3)  # [1] [m]
    spring: wp.array(dtype=f64)  # [stiffness [N/m], damping [N s/m], largest force [N]]
    force: wp.array(dtype=vec3)  # [1] that acts [N]
    before: wp.array(dtype=vec3)  # [1] where the point was when the force was read [m]
    work: wp.array(dtype=f64)  # [1] up to then [J]


@wp.kernel(enable_backward=False)
def pull(
    p_WB: wp.array2d(dtype=vec3), q_WB: wp.array2d(dtype=quat), twist: wp.array2d(dtype=vec6), hand: HandArrays,
    wrench: wp.array(dtype=vec6),
):  # fmt: skip
    """Book what the force has done, and read it anew."""
    body = hand.body[0]
    if body < 0:
        return
    r = wp.quat_rotate(q_WB[body, 0], hand.arm[0])
    point = p_WB[body, 0] + r
    hand.work[0] = hand.work[0] + wp.dot(hand.force[0], point - hand.before[0])
    v = twist[body, 0]
    rate = vec3(v[3], v[4], v[5]) + wp.cross(vec3(v[0], v[1], v[2]), r)
    f = hand.spring[0] * (hand.target[0] - point) - hand.spring[1] * rate
    size = wp.length(f)
    if size > hand.spring[2] and size > ZERO:
        f = f * (hand.spring[2] / size)
    hand.force[0] = f
    hand.before[0] = point
    wrench[body] = spatial(wp.cross(r, f), f)


class Hand:
    """The hand of a world; it is made when something is held for the first time."""

    def __init__(self, p_WB: wp.array, q_WB: wp.array, twist: wp.array, wrench: wp.array, device: str):
        self._poses, self._wrench = (p_WB, q_WB), wrench
        self.arrays = a = HandArrays()
        a.body = wp.full(1, -1, dtype=wp.int32, device=device)
        for name in ("arm", "target", "force", "before"):
            setattr(a, name, wp.zeros(1, vec3, device=device))
        a.spring, a.work = wp.zeros(3, f64, device=device), wp.zeros(1, f64, device=device)
        self.body = -1
        inputs = [p_WB, q_WB, twist, a, wrench]
        self.pull = wp.launch(pull, 1, inputs=inputs, device=device, record_cmd=True).launch

    def take(self, body: int, at: np.ndarray, target: np.ndarray, spring: np.ndarray) -> None:
        """Hold a body at a point of its frame, or move what is held."""
        a = self.arrays
        if body != self.body or not np.array_equal(a.arm.numpy()[0], at):
            self.let_go()
            p, q = (one[body : body + 1].numpy()[0, 0] for one in self._poses)
            turned = at + 2.0 * np.cross(q[:3], np.cross(q[:3], at) + q[3] * at)
            for array, value in ((a.arm, at), (a.before, p + turned), (a.force, np.zeros(3))):
                array.assign(value[None])
            a.body.assign(np.array([body], np.int32))
            self.body = body
        a.target.assign(target[None])
        a.spring.assign(spring)

    def let_go(self) -> None:
        """Hold nothing; what the last force has done is booked."""
        if self.body < 0:
            return
        self.pull()
        self._wrench[self.body : self.body + 1].zero_()
        self.arrays.body.fill_(-1)
        self.body = -1

    @property
    def force(self) -> np.ndarray:
        """That acts [3] [N]."""
        return self.arrays.force.numpy()[0] if self.body >= 0 else np.zeros(3)

    @property
    def work(self) -> float:
        """Done so far [J]."""
        if self.body >= 0:
            self.pull()
        return float(self.arrays.work.numpy()[0])


def spring_of(mass: float, inertia: np.ndarray, at: np.ndarray, step: float) -> np.ndarray:
    """Stiffness, damping and largest force for a body that is held at a point of its frame."""
    x, y, z = at
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    give = np.eye(3) / mass - cross @ np.linalg.inv(inertia) @ cross
    felt = 1.0 / float(np.linalg.eigvalsh(give).max())
    rate = SLOW / step
    return np.array([felt * rate**2, 2.0 * DAMPING * felt * rate, STRONGEST * WEIGHT * mass])
