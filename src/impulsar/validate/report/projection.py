"""What projection costs, and what it does to the steps that error control accepts.

On an independent mechanics of free bodies (validate/oracle.py), DOP853 with a projection after every accepted step.
Sequential (Wang 2011 eq. 2-5) is first the positions, then the velocities, each the least change in the masses' norm:

    J M⁻¹ Jᵀ λ = Φ,  δq = -M⁻¹ Jᵀ λ          J M⁻¹ Jᵀ μ = J v,  δv = -M⁻¹ Jᵀ μ

The full KKT system finds all of it at once, with J(q) and what J v changes by as q does, D = ∂(J v)/∂q:

    [M 0 Jᵀ Dᵀ; 0 M 0 Jᵀ; J 0 0 0; D J 0 0] (δq, δv, λ, μ) = -(0, 0, Φ, J v)

Both are solved with the rows that say something new, by NumPy; Newton goes on until Φ and J v are below 1e-12.
"""

import time
from typing import Any

import numpy as np

from ...results import COLOURS, legend, new_figure, style
from ...scenes import scene
from ..oracle import TINY, Oracle, Pose, cross_matrix
from .page import Found, Say, listed, number, picture

CLOSED = 1e-12
WAYS = ("none", "sequential", "full KKT")
RANK = 1e-9
DURATION = {"slider-crank": 0.4, "four-bar": 0.4, "peaucellier": 0.15}  # before a dead centre [s]


def measure(quick: bool, say: Say) -> Found:
    """Costs of the projections, and steps accepted and rejected with each, over tolerances."""
    names = ("slider-crank",) if quick else ("slider-crank", "four-bar", "peaucellier")
    tolerances = (1e-5,) if quick else (1e-4, 1e-6, 1e-8)
    data: list[dict[str, Any]] = []
    for name in names:
        oracle = Oracle(scene(name, motor=False) if name == "peaucellier" else scene(name))
        rows = independent(oracle)
        for tolerance in tolerances:
            data += [
                {"scene": name, "rtol": tolerance, "way": way} | run(oracle, rows, tolerance, way, DURATION[name])
                for way in WAYS
            ]
        say(f"    {name}")
    said = []
    for name in names:
        mine = [row for row in data if row["scene"] == name]
        cost = {way: np.median([row["microseconds"] for row in mine if row["way"] == way]) for way in WAYS[1:]}
        steps = {way: sum(row["accepted"] for row in mine if row["way"] == way) for way in WAYS}
        drift = {way: max(row["drift"] for row in mine if row["way"] == way) for way in WAYS}
        said.append(
            f"{name}: the full system takes {number(cost['full KKT'] / cost['sequential'])} times as long as a "
            f"sequential projection ({number(1e-3 * cost['sequential'])} ms, by NumPy); accepted steps "
            + listed([f"{steps[way]} ({way})" for way in WAYS])
            + "; joints open by "
            + listed([f"{number(drift[way])} ({way})" for way in WAYS])
            + "."
        )
    figure = new_figure(9.0, 3.6)
    left, right = figure.subplots(1, 2)
    labels = [f"{row['scene']}, {row['rtol']:.0e}" for row in data if row["way"] == WAYS[0]]
    places = np.arange(len(labels))
    for k, way in enumerate(WAYS):
        mine = [row for row in data if row["way"] == way]
        right.bar(places + 0.27 * (k - 1), [row["accepted"] for row in mine], 0.25, color=COLOURS[k], label=way)
        if k:
            left.bar(places + 0.3 * (k - 1.5), [row["microseconds"] for row in mine], 0.28, color=COLOURS[k], label=way)
    for ax, label in ((left, "a projection, by NumPy [µs]"), (right, "accepted steps")):
        ax.set_xticks(places, labels, fontsize=7, rotation=40, ha="right", rotation_mode="anchor")
        style(ax, label)
        legend(ax, 3)
    left.set_yscale("log")
    return Found(
        said,
        data,
        [("Cost of a projection and steps that DOP853 accepts, over scenes and tolerances.", picture(figure))],
    )


def independent(oracle: Oracle) -> np.ndarray:
    """Rows of the start that say something new, strongest first."""
    from scipy.linalg import qr

    _, J = oracle.rows(oracle.start)
    _, R, order = qr(J.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(order[: int((size > RANK * size[0]).sum())])


def run(oracle: Oracle, rows: np.ndarray, tolerance: float, way: str, duration: float) -> dict[str, Any]:
    """One run by DOP853, projected after every accepted step."""
    from scipy.integrate import DOP853

    n = len(oracle.names)

    def split(y: np.ndarray) -> tuple[Pose, np.ndarray]:
        return Pose(y[: 3 * n].reshape(n, 3), y[3 * n : 12 * n].reshape(n, 3, 3)), y[12 * n :]

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        pose, V = split(y)
        w = V.reshape(-1, 2, 3)[:, 1]
        turning = [cross_matrix(s) @ R for s, R in zip(w, pose.R, strict=True)]
        return np.concatenate([V.reshape(-1, 2, 3)[:, 0].ravel(), np.ravel(turning), oracle.acceleration(pose, V)])

    start = oracle.close(oracle.start)
    y = np.concatenate([start.p.ravel(), start.R.ravel(), np.zeros(6 * n)])
    solver = DOP853(slope, 0.0, y, duration, rtol=tolerance, atol=tolerance)
    accepted, spent, drift = 0, [], 0.0
    while solver.status == "running":
        solver.step()
        accepted += 1
        pose, V = split(solver.y)
        if way != "none":
            begin = time.perf_counter()
            pose, V = (sequential if way == "sequential" else full)(oracle, rows, pose, V)
            spent.append(time.perf_counter() - begin)
            solver.y = np.concatenate([pose.p.ravel(), pose.R.ravel(), V])
            solver.f = slope(solver.t, solver.y)  # what the next step begins with
        drift = max(drift, float(np.abs(oracle.rows(pose)[0]).max()))
    return {
        "accepted": accepted,
        "evaluations": solver.nfev,
        "microseconds": 1e6 * float(np.median(spent)) if spent else 0.0,
        "drift": drift,
    }


def sequential(oracle: Oracle, rows: np.ndarray, pose: Pose, V: np.ndarray) -> tuple[Pose, np.ndarray]:
    """Positions, then velocities."""
    for _ in range(8):
        error, J = oracle.rows(pose)
        if np.abs(error[rows]).max() < CLOSED:
            break
        pose = pose.moved(-_least(oracle, pose, J[rows], error[rows]))
    _, J = oracle.rows(pose)
    return pose, V - _least(oracle, pose, J[rows], J[rows] @ V)


def _least(oracle: Oracle, pose: Pose, J: np.ndarray, error: np.ndarray) -> np.ndarray:
    """M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ error."""
    W = np.linalg.solve(oracle.mass_matrix(pose), J.T)
    return W @ np.linalg.solve(J @ W, error)


def full(oracle: Oracle, rows: np.ndarray, pose: Pose, V: np.ndarray) -> tuple[Pose, np.ndarray]:
    """Both at once."""
    size = 6 * len(oracle.names)
    m = len(rows)
    for _ in range(8):
        error, J = oracle.rows(pose)
        error, J = error[rows], J[rows]
        if max(np.abs(error).max(), np.abs(J @ V).max()) < CLOSED:
            break
        M, D = oracle.mass_matrix(pose), _turning(oracle, rows, pose, V)
        K = np.zeros((2 * size + 2 * m, 2 * size + 2 * m))
        K[:size, :size] = K[size : 2 * size, size : 2 * size] = M
        K[2 * size : 2 * size + m, :size] = K[2 * size + m :, size : 2 * size] = J
        K[2 * size + m :, :size] = D
        K[: 2 * size, 2 * size :] = K[2 * size :, : 2 * size].T
        change = np.linalg.solve(K, -np.concatenate([np.zeros(2 * size), error, J @ V]))
        pose, V = pose.moved(change[:size]), V + change[size : 2 * size]
    return pose, V


def _turning(oracle: Oracle, rows: np.ndarray, pose: Pose, V: np.ndarray) -> np.ndarray:
    """∂(J v)/∂q, a column for each freedom, by a complex step."""
    size = 6 * len(oracle.names)
    found = np.empty((len(rows), size))
    for k, unit in enumerate(np.eye(size)):
        v, w = unit.reshape(-1, 2, 3)[:, 0], unit.reshape(-1, 2, 3)[:, 1]
        R = np.array([R + 1j * TINY * cross_matrix(s) @ R for s, R in zip(w, pose.R, strict=True)])
        found[:, k] = (oracle.rows(Pose(pose.p + 1j * TINY * v, R))[1][rows].imag @ V) / TINY
    return found
