"""An independent mechanics for the cases: bodies as free, hinges and slides as equations between points and axes.

It shares no code with the engine but the model that both read. Poses are centres p and rotation matrices R, a
velocity is [v, w] of each body, world axes. The equations are products of R's columns and differences of points,
so their Jacobian J is a polynomial in p and R, and

    J̇ V = Im J(p + i h v, R + i h [w]× R) V / h            to rounding, whatever h

Accelerations come by the null space Z of J, which is geometry alone, masses play no part in the rank:

    a = a₀ + Z y,   J a₀ = -J̇ V,   Zᵀ M (a₀ + Z y) = Zᵀ f

A mechanism of one freedom is followed along its joint's angle φ: with V' = dX/dφ the twist for a unit rate,

    m(φ) = V'ᵀ M V',   U(φ) = -Σ mass g · p,   torque at rate ω and acceleration α = m α + m' ω²/2 + U'
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Joint
from ..author.rotations import rotation_matrix

RANK = 1e-9  # of the largest singular value: smaller is rounding, the poses are closed to 1e-13
TINY = 1e-30  # step of the complex derivative
CLOSED = 1e-13  # error at which a pose counts as closed [m, rad]


def cross_matrix(w: np.ndarray) -> np.ndarray:
    """[w]× with [w]× r = w × r."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b; NumPy's own is ten times slower on one pair."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return np.array((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0))


def rotation(turn: np.ndarray) -> np.ndarray:
    """The rotation by a rotation vector [rad]."""
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return np.eye(3)
    K = cross_matrix(turn / angle)
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)


@dataclass
class Pose:
    """Centres of mass [body, 3] [m] and rotation matrices [body, 3, 3]."""

    p: np.ndarray
    R: np.ndarray

    def moved(self, step: np.ndarray) -> "Pose":
        """Displaced by [translation, rotation vector] of each body."""
        step = step.reshape(-1, 2, 3)
        return Pose(self.p + step[:, 0], np.array([rotation(s[1]) @ R for s, R in zip(step, self.R, strict=True)]))


@dataclass
class Oracle:
    """A model of hinges (revolute) and slides (prismatic), no springs, dampers or friction."""

    model: Model
    torque: Callable[[Pose, np.ndarray], np.ndarray] | None = None  # applied [force, torque] of each body
    names: list[str] = field(init=False)
    start: Pose = field(init=False)
    mass: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        bodies = self.model.bodies
        for joint in self.model.joints.values():
            if joint.type not in ("revolute", "prismatic"):
                raise ModelError(f"oracle: joint '{joint.name}' is {joint.type}; it knows hinges and slides")
        self.names = list(bodies)
        self.mass = np.array([body.mass for body in bodies.values()])
        self.inertia = np.array([body.inertia for body in bodies.values()])
        p = np.array([body.position for body in bodies.values()])
        self.start = Pose(p, np.array([rotation_matrix(body.orientation) for body in bodies.values()]))
        self._frames = {
            joint.name: (rotation_matrix(joint.q_PF), rotation_matrix(joint.q_CM))
            for joint in self.model.joints.values()
        }

    # geometry -------------------------------------------------------------------------------------

    def frames(self, joint: Joint, pose: Pose) -> tuple[np.ndarray, ...]:
        """Points and axes (columns) of F and M in the world."""
        out = []
        for body, p_BQ, axes in zip(
            (joint.first, joint.second), (joint.p_PF, joint.p_CM), self._frames[joint.name], strict=True
        ):
            if body == "ground":
                out += [p_BQ.astype(pose.p.dtype), axes.astype(pose.p.dtype)]
            else:
                i = self.names.index(body)
                out += [pose.p[i] + pose.R[i] @ p_BQ, pose.R[i] @ axes]
        return tuple(out)

    def rows(self, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Errors of all joints' equations [m, 1], and J [row, 6 per body]."""
        errors: list = []
        rows: list = []
        for joint in self.model.joints.values():
            p_F, F, p_M, M = self.frames(joint, pose)
            across = np.eye(3) if joint.type == "revolute" else F.T[:2]
            for n in across:
                errors.append(n @ (p_M - p_F))
                # n turns with F: d/dt n·(p_M - p_F) = n·(v_M - v_F) + w_F·(n × (p_M - p_F))
                turns = np.zeros(3) if joint.type == "revolute" else cross(n, p_M - p_F)
                rows.append(self._row(joint, pose, n, p_F, p_M, turns))
            pairs = ((0, 2), (1, 2)) if joint.type == "revolute" else ((0, 2), (1, 2), (0, 1))
            for a, b in pairs:
                errors.append(F[:, a] @ M[:, b])
                rows.append(self._turn_row(joint, pose, cross(F[:, a], M[:, b])))
        return np.array(errors), np.array(rows)

    def _row(
        self, joint: Joint, pose: Pose, n: np.ndarray, p_F: np.ndarray, p_M: np.ndarray, turns: np.ndarray
    ) -> np.ndarray:
        row = np.zeros(6 * len(self.names), pose.p.dtype)
        for body, point, sign in ((joint.first, p_F, -1.0), (joint.second, p_M, 1.0)):
            if body != "ground":
                i = self.names.index(body)
                row[6 * i : 6 * i + 3] += sign * n
                row[6 * i + 3 : 6 * i + 6] += sign * cross(point - pose.p[i], n)
        if joint.first != "ground":
            i = self.names.index(joint.first)
            row[6 * i + 3 : 6 * i + 6] += turns
        return row

    def _turn_row(self, joint: Joint, pose: Pose, normal: np.ndarray) -> np.ndarray:
        """d/dt a·b = (w_F - w_M)·(a × b) for a fixed in F, b in M."""
        row = np.zeros(6 * len(self.names), pose.p.dtype)
        for body, sign in ((joint.first, 1.0), (joint.second, -1.0)):
            if body != "ground":
                i = self.names.index(body)
                row[6 * i + 3 : 6 * i + 6] += sign * normal
        return row

    def drive_row(self, name: str, pose: Pose) -> np.ndarray:
        """The rate of a joint's own coordinate: of M against F about or along z of F."""
        joint = self.model.joints[name]
        p_F, F, p_M, _ = self.frames(joint, pose)
        if joint.type == "revolute":
            return -self._turn_row(joint, pose, F[:, 2])
        return self._row(joint, pose, F[:, 2], p_F, p_M, cross(F[:, 2], p_M - p_F))

    def drift(self, pose: Pose, V: np.ndarray) -> np.ndarray:
        """J̇ V at a pose and velocity."""
        v, w = V.reshape(-1, 2, 3)[:, 0], V.reshape(-1, 2, 3)[:, 1]
        R = np.array([R + 1j * TINY * cross_matrix(s) @ R for s, R in zip(w, pose.R, strict=True)])
        return self.rows(Pose(pose.p + 1j * TINY * v, R))[1].imag @ V / TINY

    def close(self, pose: Pose, drive: str | None = None, step: float = 0.0) -> Pose:
        """Newton onto the joints, with a joint's coordinate held; raises where they cannot be closed."""
        for _ in range(30):
            error, J = self.rows(pose)
            if np.abs(error).max() < CLOSED and step == 0.0:
                return pose
            if drive is not None:
                J, error = np.vstack([J, self.drive_row(drive, pose)]), np.append(error, -step)
            change = np.linalg.lstsq(J, -error, rcond=RANK)[0]
            pose, step = pose.moved(change), 0.0
            if np.abs(change).max() < 1e-15:
                break
        error, _ = self.rows(pose)
        if np.abs(error).max() > 10 * CLOSED:
            raise ModelError(f"model '{self.model.name}': cannot be closed here, off by {np.abs(error).max():.1e}")
        return pose

    def freedoms(self, pose: Pose) -> int:
        """By the rank of J."""
        sigma = np.linalg.svd(self.rows(pose)[1], compute_uv=False)
        return 6 * len(self.names) - int((sigma > RANK * sigma[0]).sum())

    def trace(self, drive: str, angles: Sequence[float] | np.ndarray, stride: float = 0.05) -> list[Pose]:
        """Poses with a joint turned from its authored place to angles in order, on one branch.

        The joint's angle is an integral of its rate: each stride is corrected by Newton in all but that.
        """
        pose, at, found = self.close(self.start), 0.0, []
        for angle in angles:
            while at != angle:
                step = min(max(angle - at, -stride), stride)
                pose = self._turn(drive, pose, step)
                at = angle if abs(angle - at) <= stride else at + step
            found.append(pose)
        return found

    def _turn(self, drive: str, pose: Pose, step: float) -> Pose:
        """A pose with the joint's coordinate further by a step, exactly."""
        before = self.coordinate(drive, pose)
        new = self.close(pose.moved(step * self.unit_twist(drive, pose)))
        for _ in range(8):
            off = self.coordinate(drive, new) - before - step
            if self.model.joints[drive].type == "revolute":
                off = math.remainder(off, 2 * math.pi)
            if abs(off) < 1e-14:
                break
            new = self.close(new, drive, -off)
        return new

    def coordinate(self, name: str, pose: Pose) -> float:
        """A joint's coordinate now; of a hinge within ±π [rad, m]."""
        joint = self.model.joints[name]
        p_F, F, p_M, M = self.frames(joint, pose)
        if joint.type == "prismatic":
            return float(F[:, 2] @ (p_M - p_F))
        return math.atan2(float(F[:, 1] @ M[:, 0]), float(F[:, 0] @ M[:, 0]))

    # dynamics -------------------------------------------------------------------------------------

    def mass_matrix(self, pose: Pose) -> np.ndarray:
        """M [6 per body, 6 per body]."""
        n = len(self.names)
        M = np.zeros((6 * n, 6 * n))
        for i in range(n):
            M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self.mass[i] * np.eye(3)
            M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = pose.R[i] @ self.inertia[i] @ pose.R[i].T
        return M

    def acceleration(self, pose: Pose, V: np.ndarray) -> np.ndarray:
        """Of all bodies under gravity, gyroscopic torques and what is applied."""
        _, J = self.rows(pose)
        U, sigma, Vt = np.linalg.svd(J)
        rank = int((sigma > RANK * sigma[0]).sum())
        drift = self.drift(pose, V)
        base = -Vt[:rank].T @ ((U[:, :rank].T @ drift) / sigma[:rank])
        Z, M = Vt[rank:].T, self.mass_matrix(pose)
        f = np.tile([*self.model.gravity, 0.0, 0.0, 0.0], len(self.names)) * np.repeat(self.mass, 6)
        for i in range(len(self.names)):
            w, turn = V[6 * i + 3 : 6 * i + 6], slice(6 * i + 3, 6 * i + 6)
            f[turn] -= cross(w, M[turn, turn] @ w)
        if self.torque is not None:
            f += self.torque(pose, V)
        return base + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (f - M @ base))

    def run(
        self, times: Sequence[float] | np.ndarray, V: np.ndarray, tolerance: float = 1e-12
    ) -> list[tuple[Pose, np.ndarray]]:
        """Poses and velocities at times [s], from the authored pose at velocity V, by DOP853."""
        from scipy.integrate import solve_ivp

        n = len(self.names)

        def split(y: np.ndarray) -> tuple[Pose, np.ndarray]:
            return Pose(y[: 3 * n].reshape(n, 3), y[3 * n : 12 * n].reshape(n, 3, 3)), y[12 * n :]

        def slope(t: float, y: np.ndarray) -> np.ndarray:
            pose, twist = split(y)
            spins = twist.reshape(-1, 2, 3)
            turning = [cross_matrix(w) @ R for w, R in zip(spins[:, 1], pose.R, strict=True)]
            return np.concatenate([spins[:, 0].ravel(), np.ravel(turning), self.acceleration(pose, twist)])

        y = np.concatenate([self.start.p.ravel(), self.start.R.ravel(), V])
        found = solve_ivp(slope, (0.0, times[-1]), y, "DOP853", times, rtol=tolerance, atol=tolerance)
        return [split(row) for row in found.y.T]

    def unit_twist(self, drive: str, pose: Pose) -> np.ndarray:
        """The twist of a mechanism of one freedom for a unit rate of a joint [6 per body]."""
        _, J = self.rows(pose)
        A = np.vstack([J, self.drive_row(drive, pose)])
        rate = np.zeros(len(A))
        rate[-1] = 1.0
        twist, *_ = np.linalg.lstsq(A, rate, rcond=RANK)
        if np.abs(A @ twist - rate).max() > 1e-9:
            raise ModelError(f"model '{self.model.name}': joint '{drive}' cannot turn here; it is no crank")
        return twist

    def reduced(self, drive: str, pose: Pose) -> tuple[float, float]:
        """m(φ) [kg m²] and U(φ) [J] at a pose."""
        twist = self.unit_twist(drive, pose)
        return float(twist @ self.mass_matrix(pose) @ twist), -float(self.mass @ (pose.p @ self.model.gravity))

    def drive_torque(self, drive: str, pose: Pose, rate: float, change: float = 0.0) -> float:
        """What a motor at the joint must give for a rate and its change; by sixth-order differences [N m, N]."""
        step, weights = 0.01, (0.75, -0.15, 1.0 / 60.0)
        slope = np.zeros(2)
        for side in (1.0, -1.0):
            at = pose
            for weight in weights:
                at = self._turn(drive, at, side * step)
                slope += side * weight * np.array(self.reduced(drive, at)) / step
        inertia, _ = self.reduced(drive, pose)
        return inertia * change + 0.5 * slope[0] * rate**2 + slope[1]
