"""Assembly: close the loops of a mechanism from a rough start.

Damped Gauss-Newton in the norm of the masses, with R the scale of the rows and M = L Lᵀ:

    minimise |R (J Δ + error)|² + μ² Δᵀ M Δ          Δ = -L⁻ᵀ V diag(σ / (σ² + μ²)) Uᵀ R error
    R J L⁻ᵀ = U diag(σ) Vᵀ

so that light bodies move rather than heavy ones, and no body more than the loops ask for. μ falls to zero
as the loops close, which they then do quadratically, redundant rows or not. Steps are clamped. Where the
masses differ by orders of magnitude light bodies would rather turn far than heavy ones move a little, and
the linear model does not reach that far: then, and wherever it does not matter which bodies move, L⁻ᵀ is
the scale C of lengths.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..author.checks import flag, positive
from ..author.errors import ModelError
from ..author.joints import ALIGN_X, ALIGN_Y
from ..author.model import Model
from ..author.rotations import conjugate, multiply, rotation_matrix
from ..engine.system.slots import CLOSURE, COUPLING
from .bodies import Balance, Mechanism
from .ranks import geometric_rank

ITERATIONS = 200  # of one attempt
ATTEMPTS = 5  # in the mass norm, in lengths, from nudged starts; then a mechanism counts as one that cannot close
TURN, SHIFT = 0.5, 0.3  # largest step: of a rotation [rad], of a translation by the mechanism's size
ROUNDING = 1e-14  # an error this small cannot be lessened [m, rad]


class AssemblyError(ModelError):
    """Loops that cannot be closed."""


@dataclass(frozen=True)
class Move:
    """How far assembly moved a body."""

    distance: float  # of the centre of mass [m]
    angle: float  # [rad]


@dataclass(frozen=True)
class Assembly:
    """A mechanism with its loops closed, as far as they can be."""

    model: Model  # a copy at the corrected poses
    closed: bool
    moved: dict[str, Move]  # by body, those that moved by more than the tolerance
    open: dict[str, tuple[float, float]]  # by joint or coupling that stays open [m, rad]
    residual: float  # largest error left [m, rad]
    iterations: int
    tolerance: float

    def __str__(self) -> str:
        state = "closed" if self.closed else "CANNOT CLOSE"
        lines = [f"{self.model.name}: {state}, largest error {self.residual:.3g} after {self.iterations} iterations"]
        lines += [f"  open   {name:<20} {far:10.3g} m {turn:10.3g} rad" for name, (far, turn) in self.open.items()]
        lines += [f"  moved  {name:<20} {m.distance:10.3g} m {m.angle:10.3g} rad" for name, m in self.moved.items()]
        return "\n".join(lines)

    def data(self) -> dict:
        """For JSON."""
        return {
            "model": self.model.name,
            "closed": self.closed,
            "residual": self.residual,
            "iterations": self.iterations,
            "tolerance": self.tolerance,
            "moved": {name: vars(move) for name, move in self.moved.items()},
            "open": {name: {"m": far, "rad": turn} for name, (far, turn) in self.open.items()},
        }


def assemble(model: Model, tolerance: float = 1e-10, strict: bool = True, device: str = "cpu") -> Assembly:
    """Close the joints and couplings of a model whose bodies are only roughly in place.

    Returns a copy of the model at poses that fit to `tolerance` [m, rad] and what was moved. Where it
    cannot be closed, raises `AssemblyError` with the joints that stay open, or with strict=False returns
    the best poses found. Motors do not take part.
    """
    tolerance, strict = positive("assemble", "tolerance", tolerance, "m, rad"), flag("assemble", "strict", strict)
    mechanism = Mechanism(model, device, check_meeting=False)
    rows = mechanism.pick(CLOSURE, COUPLING)
    start = mechanism.snapshot()
    q_start, p_start = mechanism.orientations, mechanism.positions
    best, best_error, iterations = start, np.inf, 0
    rng = np.random.default_rng(0)
    for attempt in range(ATTEMPTS):
        mechanism.restore(start)
        if attempt > 1:
            mechanism.move(_nudge(mechanism, rng))
        error, count = close(mechanism, rows, tolerance, by_mass=attempt == 0)
        iterations += count
        worst = float(np.abs(error).max(initial=0.0))
        if worst < best_error:
            best, best_error = mechanism.snapshot(), worst
        if worst <= tolerance:
            break
    mechanism.restore(best)
    closed = best_error <= tolerance
    if not closed and _is_open_by(mechanism, rows, mechanism.play):  # as those stay that are redundant but for play
        _, count = close(mechanism, mechanism.holding(rows), tolerance)
        closed = _is_closed(mechanism, rows, tolerance)
        iterations += count
        best_error = float(np.abs(full_errors(mechanism, mechanism.balance())[rows]).max())
    moved = _moves(mechanism, p_start, q_start, tolerance)
    gaps = _gaps(mechanism, rows, tolerance)
    result = Assembly(mechanism.posed_model(), closed, moved, gaps, best_error, iterations, tolerance)
    if strict and not closed:
        raise AssemblyError(_cannot_close(result))
    return result


def _is_closed(mechanism: Mechanism, rows: Sequence[int], tolerance: float) -> bool:
    """Whether all rows are closed, those that are spare within their play."""
    most = np.where([i in mechanism.spare for i in range(len(mechanism.rows))], mechanism.play, tolerance)
    return _is_open_by(mechanism, rows, np.maximum(most, tolerance))


def _is_open_by(mechanism: Mechanism, rows: Sequence[int], most: np.ndarray) -> bool:
    """Whether some rows are open by no more than this, given for all [m, rad]."""
    error = np.abs(full_errors(mechanism, mechanism.balance()))
    return bool((error <= most)[rows].all())


def _cannot_close(result: Assembly) -> str:
    worst = sorted(result.open.items(), key=lambda item: -max(item[1]))
    told = ", ".join(f"'{name}' by {far:.3g} m and {turn:.3g} rad" for name, (far, turn) in worst[:8])
    more = f" and {len(worst) - 8} more" if len(worst) > 8 else ""
    return (
        f"model '{result.model.name}': cannot be assembled; at the best poses found these joints stay open: "
        f"{told}{more}; check lengths and axes, or start nearer"
    )


def _nudge(mechanism: Mechanism, rng: np.random.Generator) -> np.ndarray:
    """A small displacement of every body, to leave a stationary point that is no solution."""
    change = rng.normal(size=(len(mechanism.bodies), 6))
    change[:, :3] *= 0.03 * mechanism.size
    change[:, 3:] *= 0.2
    return change.ravel()


def _moves(mechanism: Mechanism, p: np.ndarray, q: np.ndarray, tolerance: float) -> dict[str, Move]:
    distance = np.linalg.norm(mechanism.positions - p, axis=1)
    turned = [multiply(now, conjugate(before)) for now, before in zip(mechanism.orientations, q, strict=True)]
    angle = [2 * math.atan2(float(np.linalg.norm(turn[:3])), abs(turn[3])) for turn in turned]
    return {
        name: Move(float(far), float(turn))
        for name, far, turn in zip(mechanism.bodies, distance, angle, strict=True)
        if max(far, turn) > tolerance
    }


def _gaps(mechanism: Mechanism, rows: Sequence[int], tolerance: float) -> dict[str, tuple[float, float]]:
    """Joints and couplings with an error above the tolerance [m, rad]."""
    error = full_errors(mechanism, mechanism.balance())
    gaps: dict[str, np.ndarray] = {}
    for i in rows:
        row = mechanism.rows[i]
        gaps.setdefault(row.part, np.zeros(2))[int(row.angular)] += error[i] ** 2
    sizes = {name: np.sqrt(gap) for name, gap in gaps.items()}
    return {name: (float(gap[0]), float(gap[1])) for name, gap in sizes.items() if gap.max() > tolerance}


def full_errors(mechanism: Mechanism, balance: Balance) -> np.ndarray:
    """Position errors in which a tilt counts by its angle: its sine falls again beyond a right angle."""
    error = balance.error.copy()
    q_WF, q_WM = mechanism.work.q_WF.numpy()[:, 0], mechanism.work.q_WM.numpy()[:, 0]
    bodies = len(mechanism.bodies)
    first = 0
    for i, row in enumerate(mechanism.rows):
        slot = mechanism.system.slots[row.slot]
        if row.kind != CLOSURE or slot.code not in (ALIGN_X, ALIGN_Y):
            continue
        if slot.code == ALIGN_X:
            first = i
            continue
        j = slot.part - bodies
        cosine = float(rotation_matrix(q_WF[j])[:, 2] @ rotation_matrix(q_WM[j])[:, 2])
        sine = float(np.hypot(error[first], error[i]))
        angle = float(np.arctan2(sine, cosine))
        if sine > 1e-3:
            error[[first, i]] *= angle / sine
        elif cosine < 0:  # upside down: any direction will do
            error[first], error[i] = angle, 0.0
    return error


def close(
    mechanism: Mechanism,
    rows: Sequence[int],
    tolerance: float,
    errors: Callable[[Balance], np.ndarray] | None = None,
    by_mass: bool = False,
) -> tuple[np.ndarray, int]:
    """Move the bodies until the errors of some rows vanish, to rounding if they can.

    `errors` gives the errors of all rows if they are not those of `full_errors`; by_mass: in the mass norm
    instead of lengths. Returns the errors left in those rows and the iterations used.
    """

    def measure() -> tuple[Balance, np.ndarray]:
        balance = mechanism.balance()
        return balance, (full_errors(mechanism, balance) if errors is None else errors(balance))[rows]

    R, size = mechanism.R[rows], mechanism.size
    balance, error = measure()
    merit = float(np.linalg.norm(R * error))
    mu = min(1e-3, merit / size)  # falls with the error
    count = stalled = 0
    while count < ITERATIONS and stalled < 5 and np.abs(error).max(initial=0.0) > ROUNDING:
        count += 1
        before = mechanism.snapshot()
        back = (
            np.linalg.inv(np.linalg.cholesky(balance.M)).T
            if by_mass and not mechanism.has_carriers
            else np.diag(mechanism.C)
        )
        after = merit
        A = R[:, None] * balance.J[rows]
        rank = geometric_rank(A * mechanism.C, mechanism.redundancy)
        U, sigma, Vt = np.linalg.svd(A @ back, full_matrices=False)
        along = U[:, :rank].T @ (R * error)
        if np.linalg.norm(along) <= ROUNDING * size:
            break  # what is left is between rows that are redundant but for their play
        for damping, change in _steps(along, sigma[:rank], back @ Vt[:rank].T, mu, size):
            mechanism.move(change)
            balance, tried = measure()
            after = float(np.linalg.norm(R * tried))
            if after < merit:
                mu = 0.1 * damping if damping > 1e-12 else 0.0
                break
            mechanism.restore(before)
            if np.abs(error).max() <= tolerance:
                break  # as near as rounding lets it
        if not after < merit:
            break
        stalled = stalled + 1 if after > (1.0 - 1e-5) * merit else 0
        error, merit = tried, after
    mechanism.balance()
    return error, count


def _steps(
    along: np.ndarray, sigma: np.ndarray, V: np.ndarray, mu: float, size: float
) -> Iterator[tuple[float, np.ndarray]]:
    """Clamped steps of damped Gauss-Newton to be tried in turn, and the damping of each.

    First shorter and shorter steps, then more damping; mu is in units of the largest singular value. `along` are the
    errors by singular value, the columns of V the displacements [m, rad].
    """
    while mu < 1e3 and len(sigma):
        change = -V @ (sigma / (sigma**2 + (mu * sigma[0]) ** 2) * along)
        by_body = np.linalg.norm(change.reshape(-1, 2, 3), axis=2).max(axis=0, initial=0.0)
        change /= max(1.0, by_body[0] / (SHIFT * size), by_body[1] / TURN)
        for halvings in range(4):
            yield mu, 0.5**halvings * change
        mu = max(10 * mu, 1e-8)


def close_held(
    mechanism: Mechanism,
    rows: Sequence[int],
    tolerance: float,
    errors: Callable[[Balance], np.ndarray] | None = None,
) -> np.ndarray:
    """Close those of some rows that are not spare; returns the errors left in them.

    Without the spare ones they may lead to another branch. These then open, and all rows are closed first.
    """
    held, start = mechanism.holding(rows), mechanism.snapshot()
    error, _ = close(mechanism, held, tolerance, errors)
    if not _is_open_by(mechanism, sorted(mechanism.spare), np.maximum(mechanism.play, tolerance)):
        mechanism.restore(start)
        close(mechanism, rows, tolerance, errors)
        error, _ = close(mechanism, held, tolerance, errors)
    return error


def drive(mechanism: Mechanism, rows: Sequence[int], goals: dict[int, float], tolerance: float = 1e-9) -> None:
    """Bring driven coordinates to their goals [m, rad] by steps small enough to stay on the branch."""
    start = mechanism.balance().measured
    stride = {i: 0.2 if mechanism.rows[i].angular else 0.2 * mechanism.length for i in goals}
    parts = max([1, *(math.ceil(abs(goal - start[i]) / stride[i]) for i, goal in goals.items())])
    for part in range(1, parts + 1):
        share = part / parts
        error = close_held(mechanism, rows, tolerance, towards(mechanism, goals, start, share))
        if np.abs(error).max(initial=0.0) > tolerance:
            raise AssemblyError(_cannot_follow(mechanism, mechanism.holding(rows), error, tolerance))


def towards(
    mechanism: Mechanism, goals: dict[int, float], start: np.ndarray, share: float = 1.0
) -> Callable[[Balance], np.ndarray]:
    """Errors of all rows where some coordinates are asked to go a share of the way to their goals."""

    def errors(balance: Balance) -> np.ndarray:
        error = full_errors(mechanism, balance)
        for i, goal in goals.items():
            error[i] = balance.measured[i] - (start[i] + share * (goal - start[i]))
        return error

    return errors


def _cannot_follow(mechanism: Mechanism, rows: Sequence[int], error: np.ndarray, tolerance: float) -> str:
    off = sorted(zip(np.abs(error), rows, strict=True), reverse=True)
    told = [f"{mechanism.rows[i].name} by {e:.3g} {mechanism.rows[i].unit}" for e, i in off[:6] if e > tolerance]
    return (
        f"model '{mechanism.model.name}': at t = {mechanism.time:g} s the joints cannot follow what drives them: "
        f"{', '.join(told)}; check the motion asked for, and mobility(with_motors=True)"
    )


def settle(mechanism: Mechanism, tolerance: float = 1e-9) -> None:
    """Take off what small errors the joints have; `AssemblyError` where they are open by more than their play."""
    rows = mechanism.pick(CLOSURE, COUPLING)
    close_held(mechanism, rows, tolerance)
    if not _is_closed(mechanism, rows, tolerance):
        gaps = _gaps(mechanism, rows, tolerance)
        told = ", ".join(f"'{name}' by {far:.3g} m and {turn:.3g} rad" for name, (far, turn) in gaps.items())
        raise AssemblyError(f"model '{mechanism.model.name}': joints are open: {told}; assemble it first")
