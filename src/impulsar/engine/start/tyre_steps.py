"""How long the steps of a method may be that takes the forces of tyres as they are at a step's start.

Towards the road a tyre is a spring k and a damper c; in the road, at rest, it is a spring K / σ, and a damper τ K / σ
by which deflections settle (forces/tyres.py). Its contact point answers a force by what the mechanism at the authored
pose, joints closed, lets it: a = W F with W = J M⁻¹ Jᵀ. With ω² and γ, stiffness and damping times W, what moves first
and is pushed then is stable for

    ω² h² + 2 γ h < 4

and steps are so short that it is 2 at most: at every speed, for the damper fades out as the wheel rolls. A wheel that
hangs lower or is turned answers a little more.
"""

import math

import numpy as np

from ..coordinates.inverse import mass_matrix
from ..forces.tyre_law import steady
from ..launch import launch
from ..state import State, allocate_work
from ..system import System
from ..system.rank import null_space
from ..system.roads import Coefficient, set_rows
from ..system.slots import CLOSURE, COUPLING
from .redundancy import rows_kernel

ROOM = 2.0  # of 4
LOADS = (0.5, 1.0, 2.0)  # times the nominal one: beyond 2 coefficients stay as they are


def longest_tyre_step(system: System) -> float:
    """Longest stable step of a system's tyres [s]; infinite where it has none."""
    model = system.model
    if not model.tyres:
        return math.inf
    longest = math.inf
    for k, (tyre, (steep, flat)) in enumerate(zip(model.tyres.values(), contact_answers(system), strict=True)):
        law = steady(model, tyre.name, np.array(LOADS) * tyre.load)
        contact = 0.0
        for i, way in enumerate(("along", "across")):
            given = system.parameter(f"tyre_relaxation_{way}")[k]  # 0: by the load
            length = np.where(given[:, None] > 0.0, given[:, None], law[:, 5 + i])
            contact = max(contact, flat * float((np.abs(law[:, 3 + i]) / length).max()))
        settling = float(set_rows(model)[k, Coefficient.settling])
        k_up, c_up = (steep * float(system.parameter(f"tyre_{name}")[k].max()) for name in ("stiffness", "damping"))
        longest = min(longest, _stable(k_up, c_up), _stable(contact, settling * contact))
    return longest


def contact_answers(system: System) -> list[tuple[float, float]]:
    """Of every tyre the largest answer of its lowest point upwards, and of that in the road [m/s² per N]."""
    model = system.model
    tree = System(model, 1, system.device, "generalized", checked=True)
    state, work = State(tree.counts, system.device), allocate_work(tree.counts, system.device)
    state.write("q", tree.start_coordinates()[:, None])
    launch(rows_kernel, 1, [tree.arrays, state.arrays, work], system.device)
    M = mass_matrix(tree, state, work)[0]
    held = [r for r, slot in enumerate(tree.slots) if slot.kind in (CLOSURE, COUPLING)]
    scale = np.sqrt(tree.arrays.dof_weight.numpy())
    free = scale[:, None] * null_space(tree.scaled_rows(tree.dense_rows(work.J.numpy())[held], held))
    W = free @ np.linalg.solve(free.T @ M @ free, free.T)  # what joints leave of M⁻¹
    S, place = work.S.numpy()[:, 0], work.p_WB.numpy()[:, 0]
    found = []
    for tyre in model.tyres.values():
        body = tree.body_index[tyre.wheel]
        foot = model.bodies[tyre.wheel].position - (0.0, 0.0, tyre.radius)
        J = np.zeros((3, len(M)))
        i = body
        while i >= 0:
            for dof in range(*tree.arrays.dof_start.numpy()[[i, i + 1]]):
                J[:, dof] = S[dof, 3:] + np.cross(S[dof, :3], foot - place[i])
            i = tree.tree.parents[i]
        answer = J @ W @ J.T
        found.append((float(answer[2, 2]), float(np.linalg.eigvalsh(answer[:2, :2]).max())))
    return found


def _stable(square: float, rate: float) -> float:
    """Largest h with square h² + 2 rate h <= ROOM [s]."""
    if square + rate <= 0.0:
        return math.inf
    return ROOM / (rate + math.sqrt(rate * rate + ROOM * square))
