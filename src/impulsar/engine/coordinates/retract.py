"""Moving along displacements: q ← q ⊕ Δ."""

import warp as wp

from ..freedoms import coordinates_of, retract_ball
from ..spatial import f64, quat, vec3
from ..state import StateArrays
from ..system import SystemArrays


@wp.func
def move_coordinates(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], change: wp.array2d(dtype=f64), w: int):
    """q ← q ⊕ change, given along the velocities."""
    for i in range(m.parent.shape[0]):
        c = m.coordinate_start[i]
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            size = coordinates_of(m.dof_kind[k])
            if size == 1:
                s.q[c, w] = s.q[c, w] + change[k, w]
            elif size == 4:
                turn = vec3(change[k, w], change[k + 1, w], change[k + 2, w])
                q = quat(s.q[c, w], s.q[c + 1, w], s.q[c + 2, w], s.q[c + 3, w])
                moved = retract_ball(q, turn)
                for j in range(4):
                    s.q[c + j, w] = moved[j]
            c += size
