"""The tangent: how the forces of springs, dampers and hands answer to displacements and velocities.

With C the compliant rows, k and c their stiffnesses and dampings, along displacements δ and velocities u

    ∂f/∂q δ + ∂f/∂v u = -Cᵀ (k C δ + c C u)

A method that is implicit in them solves for velocity changes Δ that also displace by `reach` Δ, and counts the change
of the forces over `share`: M Δ + share Cᵀ (reach k + c) C Δ = ... That is one more row of the direct solve for each,

    C Δ + σ μ = b        σ = 1 / (share (reach k + c))

beside the joints' own: reach = share = γ h of a Rosenbrock method, h of the linearly implicit Euler method,
β h / γ and γ h (over 1 - α_f) of the generalized-α method. What the rows' turning does to forces that are there, the
geometric part, has a file of its own, geometric.py, for methods that want the whole of ∂f/∂q: ROS34PW2 keeps its order
without it, and takes it with its accelerations.
"""

import warp as wp

from ..constrain import kinds
from ..constrain.rows import respond
from ..coordinates.tree import row_velocity
from ..solve.direct import factor_rows, fill_products
from ..spatial import ONE, ZERO, f64
from ..state import WorkArrays
from ..system import SystemArrays


@wp.func
def row_answer(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    r: int,
    moved: wp.array2d(dtype=f64),
    faster: wp.array2d(dtype=f64),
    w: int,
) -> f64:
    """k C δ + c C u of a compliant row: by how much less it pushes."""
    push = kinds.stiffness(m, x, r, w) * row_velocity(m, x, moved, r, w)
    push += kinds.damping(m, x, r, w) * row_velocity(m, x, faster, r, w)
    return push


@wp.func
def assemble_tangent(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], reach: f64, share: f64, w: int):
    """Rows, responses and softnesses of the compliant slots."""
    for i in range(m.bilateral.shape[0], m.solvable.shape[0]):
        r = m.solvable[i]
        x.solved[r, w] = int(0)
        k = kinds.stiffness(m, x, r, w)
        c = kinds.damping(m, x, r, w)
        stiff = reach * k + c
        if stiff <= ZERO or kinds.is_unused(m, x, r, w):
            continue
        kinds.jacobian(m, x, r, w)
        if respond(m, x, r, ZERO, w):
            x.solved[r, w] = int(1)
            x.row_softness[r, w] = ONE / (share * stiff)


@wp.func(inline=False)
def factor_tangent(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], reach: f64, share: f64, w: int) -> f64:
    """The factor of bilateral and compliant rows; returns the fastest rate of these [1/s].

    It is sqrt(k / mass) or c / mass, where 1 / mass is what the rows before leave of a row's response.
    """
    assemble_tangent(m, x, reach, share, w)
    fill_products(m, x, m.solvable.shape[0], w)
    factor_rows(m, x, m.solvable.shape[0], False, w)  # by the strengths of the accelerations' own solve
    fastest = ZERO
    for i in range(m.bilateral.shape[0], m.solvable.shape[0]):
        r = m.solvable[i]
        inverse = x.factor[m.envelope_row[i + 1] - 1, w]
        if x.solved[r, w] != 0 and inverse > ZERO:
            response = wp.max(ONE / inverse - x.row_softness[r, w], ZERO)
            fastest = wp.max(fastest, wp.sqrt(kinds.stiffness(m, x, r, w) * response))
            fastest = wp.max(fastest, kinds.damping(m, x, r, w) * response)
    return fastest
