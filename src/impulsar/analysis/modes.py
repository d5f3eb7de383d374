"""Modes: small vibrations about an equilibrium.

With Z the free directions of the rows (Zᵀ M Z = 1) and y the displacement along them,

    ÿ = Zᵀ M a(y, ẏ) = -K y - C ẏ        K φ = ω² φ

where a are the accelerations on the constraint manifold: the bodies are displaced by Z y, the loops
closed again, and the forces taken there. Derivatives by central differences of fourth order, along the
modes that the stiffness at held row forces gives, so that each keeps digits of its own.
"""

from dataclasses import dataclass

import numpy as np

from ..author.checks import show
from ..author.errors import ModelError
from ..author.model import Model
from ..world.world import World
from .assembly import close_held, towards
from .bodies import Mechanism
from .motion import solve_motion
from .statics import Equilibrium, find_equilibrium, reduced_stiffness

MOST_POSES = 200
STEP = 1e-4  # displacement for differences, of the characteristic length: 1e-10 of truncation in ten pendula
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
ROUNDING = 20 * np.finfo(float).eps  # of a difference of forces, of the forces
FARTHEST_TURN, FARTHEST_SHIFT = 0.5, 0.15  # of a body in `swing`: [rad], of the mechanism's size
CLOSED = 1e-8  # error of the joints in a pose of `swing`, of the mechanism's size
SYMMETRIC = 1e-6  # K less symmetric than this has forces that are not conservative


@dataclass(frozen=True)
class Modes:
    """Vibrations in the order of their frequencies."""

    model: Model  # a copy at the equilibrium
    bodies: tuple[str, ...]
    frequency: np.ndarray  # [mode] undamped [rad/s]; 0 where nothing restores
    growth: np.ndarray  # [mode] of an unstable direction [1/s], else 0
    damping_ratio: np.ndarray  # [mode] φᵀ C φ / 2 ω: exact where the damping does not couple modes
    shape: np.ndarray  # [mode, body, 6] displacement and rotation, world axes, unit modal mass
    poles: np.ndarray  # [2 mode] eigenvalues of the damped motion [1/s]
    swing: np.ndarray  # [mode, pose, body, 7] from one end over the equilibrium to the other, where asked for

    @property
    def stable(self) -> bool:
        """No direction grows."""
        return not self.growth.any()

    def __str__(self) -> str:
        lines = [
            f"{self.model.name}: {len(self.frequency)} modes",
            "   mode   rad/s          Hz             damping ratio",
        ]
        for k, (omega, zeta) in enumerate(zip(self.frequency, self.damping_ratio, strict=True)):
            grows = f"  GROWS by {self.growth[k]:.6g} 1/s" if self.growth[k] else ""
            lines.append(
                f"  {k + 1:4d}   {omega:<12.7g}   {omega / 2 / np.pi:<12.7g}   {zeta:<10.4g} {self.where(k)}{grows}"
            )
        return "\n".join(lines)

    def where(self, k: int) -> str:
        """The bodies that move most in a mode."""
        size = np.linalg.norm(self.shape[k, :, :3], axis=1)
        if not size.max() > 1e-9 * np.abs(self.shape[k]).max():
            size = np.linalg.norm(self.shape[k, :, 3:], axis=1)
        order = np.argsort(-size, kind="stable")[:3]
        return ", ".join(self.bodies[i] for i in order if size[i] > 0.1 * size.max())

    def data(self) -> dict:
        """For JSON."""
        return {
            "model": self.model.name,
            "frequency": self.frequency.tolist(),
            "growth": self.growth.tolist(),
            "damping_ratio": self.damping_ratio.tolist(),
            "poles": [[float(p.real), float(p.imag)] for p in self.poles],
            "bodies": list(self.bodies),
            "shape": self.shape.tolist(),
        }


def modes(source: Model | World, time: float | None = None, device: str = "cpu", *, poses: int = 0) -> Modes:
    """Vibrations about the equilibrium that `statics` finds from the pose of a model or world.

    poses: how many to show each mode by on either side of the equilibrium, exaggerated, with the joints closed.
    """
    if not isinstance(poses, int) or isinstance(poses, bool) or not 0 <= poses <= MOST_POSES:
        raise ModelError(f"modes: poses is {show(poses)}, expected a whole number from 0 to {MOST_POSES}")
    found = find_equilibrium(source, time, device)
    if found.resting is not None and found.pressing is not None and len(found.pressing.cones):
        pair = found.resting.names(int(found.pressing.cones.contact[0]))
        raise ModelError(
            f"model '{found.mechanism.model.name}': {pair} touch where it rests; vibrations about contacts are not "
            "found, as they may open and slip; join them, or take their materials away"
        )
    if not found.motion.Z.shape[1]:
        raise ModelError(f"model '{found.mechanism.model.name}': has no freedom to vibrate in; see mobility")
    K_held = reduced_stiffness(found.mechanism, found.motion)
    Z = found.motion.Z @ np.linalg.eigh((K_held + K_held.T) / 2)[1]
    K, C = _linearise(found, Z)
    values, vectors = _eigen(K)
    order = np.argsort(values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    values[np.abs(values) < _rounding(found, Z @ vectors)] = 0.0
    frequency = np.sqrt(np.maximum(values, 0.0))
    modal = np.einsum("ik,ij,jk->k", vectors, C, vectors)
    n = len(values)
    poles = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]]))
    shape = (Z @ vectors).T.reshape(n, -1, 6)
    return Modes(
        model=found.mechanism.posed_model(),
        bodies=tuple(found.mechanism.bodies),
        frequency=frequency,
        growth=np.sqrt(np.maximum(-values, 0.0)),
        damping_ratio=np.divide(modal, 2 * frequency, out=np.zeros(n), where=frequency > 0),
        shape=shape,
        poles=poles[np.lexsort((poles.imag, np.abs(poles)))],
        swing=np.array([_swing(found, one.ravel(), poses) for one in shape]),
    )


def _swing(found: Equilibrium, shape: np.ndarray, poses: int) -> np.ndarray:
    """Poses [2 poses + 1, body, 7] along a mode, as far as the joints let it go."""
    mechanism = found.mechanism
    errors = towards(mechanism, found.goals, np.zeros(len(mechanism.rows)))
    here = mechanism.snapshot()
    parts = np.abs(shape.reshape(-1, 6))
    reach = max(parts[:, :3].max() / (FARTHEST_SHIFT * mechanism.size), parts[:, 3:].max() / FARTHEST_TURN)
    sides = []
    for side in (-1.0, 1.0):
        mechanism.restore(here)
        passed = [_pose(mechanism)]
        for _ in range(poses):
            mechanism.move(side / (poses * reach) * shape)
            left = close_held(mechanism, found.rows, CLOSED * mechanism.size, errors)
            if np.abs(left).max(initial=0.0) > CLOSED * mechanism.size:
                break
            passed.append(_pose(mechanism))
        sides.append(passed + (poses + 1 - len(passed)) * passed[-1:])
    mechanism.restore(here)
    return np.array([*sides[0][:0:-1], *sides[1]])


def _pose(mechanism: Mechanism) -> np.ndarray:
    return np.hstack([mechanism.positions, mechanism.orientations])


def _eigen(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ω² and shapes; complex pairs of a circulatory system are no vibrations and are refused."""
    uneven = np.abs(K - K.T).max()
    if uneven <= SYMMETRIC * np.abs(K).max():
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        return values, vectors
    values, vectors = np.linalg.eig(K)
    if np.abs(values.imag).max() > SYMMETRIC * np.abs(values).max():
        raise ModelError("modes: loads that follow their bodies make it flutter; there are no undamped modes")
    return values.real, vectors.real / np.linalg.norm(vectors.real, axis=0)


def _rounding(found: Equilibrium, Z: np.ndarray) -> np.ndarray:
    """ω² [1/s²] that the rounding of the forces can pretend, by mode."""
    size = float(np.linalg.norm(np.linalg.solve(found.motion.L, found.balance.force)))
    return ROUNDING * size / _steps(found, Z)


def _steps(found: Equilibrium, Z: np.ndarray) -> np.ndarray:
    """How far to go along each direction for a displacement of STEP characteristic lengths."""
    return STEP * found.mechanism.length / np.abs(Z / found.mechanism.C[:, None]).max(axis=0)


def _linearise(found: Equilibrium, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """K and C [freedom, freedom] by differences of the constrained accelerations."""
    mechanism, M = found.mechanism, found.balance.M
    here = mechanism.snapshot()
    errors = towards(mechanism, found.goals, np.zeros(len(mechanism.rows)))

    def acceleration(v: np.ndarray | None = None) -> np.ndarray:
        motion = solve_motion(mechanism, mechanism.balance(v), found.rows)
        return Z.T @ (M @ motion.acceleration)

    n = Z.shape[1]
    K, C = np.zeros((n, n)), np.zeros((n, n))
    for k, step in enumerate(_steps(found, Z)):
        for times, weight in STENCIL:
            mechanism.move(times * step * Z[:, k])
            close_held(mechanism, found.rows, 1e-12, errors)
            K[:, k] -= weight / step * acceleration()
            mechanism.restore(here)
            C[:, k] -= weight / step * acceleration(times * step * Z[:, k])
    mechanism.restore(here)
    mechanism.balance()
    return K, C
