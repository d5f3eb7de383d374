"""Moving along displacements: q ← q ⊕ Δ."""

import warp as wp

from ...author.joints import BALL_X, SCREW
from ..spatial import exp_rotation, f64, normalize_rotation, quat, vec3
from ..state import StateArrays
from ..system import SystemArrays


@wp.func
def move_coordinates(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], change: wp.array2d(dtype=f64), w: int):
    """q ← q ⊕ change, given along the velocities."""
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            kind = m.dof_kind[k]
            if kind < BALL_X or kind == SCREW:
                s.q[c, w] = s.q[c, w] + change[k, w]
                c += 1
            elif kind == BALL_X:
                turn = vec3(change[k, w], change[k + 1, w], change[k + 2, w])
                q = quat(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w], s.q[c + 3, w])
                moved = normalize_rotation(exp_rotation(turn) * q)
                for j in range(4):
                    s.q[c + j, w] = moved[j]
                c += 4
