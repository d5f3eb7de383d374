"""Fitting a system's coordinates and velocities to given poses and twists of its bodies, by one kernel.

Positions: the coordinates nearest to the given poses in the norm of the masses that satisfy the closures and
couplings, by Gauss-Newton steps; with d the displacements from the present to the given poses and e the errors

    Δ = M⁻¹ Jbᵀ I d + M⁻¹ Jᵀ λ       J Δ = -e                 q ← q ⊕ Δ

Velocities: what the impulses of the joints leave of the given momenta, with a round of refinement

    Δ = M⁻¹ Jbᵀ I (V - V(v)) + M⁻¹ Jᵀ λ       J (v + Δ) = 0       v ← v + Δ

Both are the same solve, so there is one copy of it here. Motors, friction and limits take no part.
"""

# mypy: disable-error-code="index,operator,union-attr"

import numpy as np
import warp as wp

from ..engine.constrain import kinds
from ..engine.constrain.assemble import assemble_bilateral
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.inertia import momentum
from ..engine.coordinates.retract import move_coordinates
from ..engine.coordinates.tree import accelerate, articulate, kinematics, row_velocity
from ..engine.device import announce_compilation
from ..engine.freedoms import is_slide
from ..engine.launch import launch
from ..engine.solve.direct import apply_multipliers, factor_bilateral, solve_bilateral
from ..engine.spatial import ONE, ZERO, f64, quat, rotation_vector, spatial, vec3, vec6
from ..engine.state import State, StateArrays, WorkArrays
from ..engine.system import System, SystemArrays

ROUNDS = 100  # Gauss-Newton steps at most,
FITTING = 85  # of which the first so many fit the poses
FITTED = wp.constant(wp.float64(1e-11))  # a step this small ends the fit of positions [m, rad]
TURN = wp.constant(wp.float64(0.5))  # largest step of an angle [rad]
ERROR, STEPS = 0, 1  # rows of the outcome


@wp.func
def load_momenta(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    p_WB: wp.array2d(dtype=vec3),
    q_WB: wp.array2d(dtype=quat),
    twist: wp.array2d(dtype=vec6),
    moving: int,
    closing: bool,
    w: int,
):
    """Inertia times what is missing to the given poses, or twists, into x.wrench; nothing moves besides.

    closing: the poses given are let go, so that the joints close.
    """
    for i in range(m.parent.shape[0]):
        missing = spatial(
            rotation_vector(q_WB[i, w] * wp.quat_inverse(x.q_WB[i, w])),
            p_WB[i, w] - x.p_WB[i, w],
        )
        if moving != 0:
            missing = twist[i, w] - x.twist[i, w]
        elif closing:
            missing = vec6()
        x.wrench[i, w] = momentum(m, x, i, missing, w)
        x.twist[i, w] = vec6()
        x.bias[i, w] = vec6()
    for k in range(x.tau.shape[0]):
        x.tau[k, w] = ZERO


@wp.func
def load_errors(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, moving: int, w: int
) -> f64:
    """What the closures and couplings lack after the step x.qdd into x.multiplier; returns the worst error now."""
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.multiplier[i, w] = ZERO
        if not kinds.is_equation(x, r, w):
            x.solved[r, w] = int(0)
        if x.solved[r, w] != 0:
            error = ZERO
            if moving != 0:
                error = row_velocity(m, x, s.v, r, w)
            else:
                error = kinds.error(m, s, x, r, t, w)
            worst = wp.max(worst, wp.abs(error))
            x.multiplier[i, w] = -error - row_velocity(m, x, x.qdd, r, w)
    return worst


@wp.func
def largest_step(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], angles_only: bool, w: int) -> f64:
    size = ZERO
    for k in range(x.qdd.shape[0]):
        if not is_slide(m.dof_kind[k]) or not angles_only:
            size = wp.max(size, wp.abs(x.qdd[k, w]))
    return size


@wp.kernel(enable_backward=False)
def fit_kernel(
    # model
    m: SystemArrays,
    p_WB: wp.array2d(dtype=vec3),  # [body, world] where the bodies should be
    q_WB: wp.array2d(dtype=quat),
    twist: wp.array2d(dtype=vec6),  # and how they should move
    enough: wp.array(dtype=f64),  # [1] position error that may stay [m, rad]
    # state in and out
    s: StateArrays,
    x: WorkArrays,
    # out
    outcome: wp.array2d(dtype=f64),  # [ERROR or STEPS, world]
):
    """Fit q, then v."""
    w = wp.tid()
    list_rows(m, x, w)
    t = s.time[0, w]
    moving = int(0)
    rounds = int(0)
    worst = ZERO
    for k in range(s.v.shape[0]):
        s.v[k, w] = ZERO
    while rounds < ROUNDS + 2:
        kinematics(m, s, x, ZERO, w)
        follow_loops(m, s, x, w)
        load_momenta(m, x, p_WB, q_WB, twist, moving, rounds >= FITTING, w)
        articulate(m, x, w)
        accelerate(m, x, vec6(), 0, w)
        if m.bilateral.shape[0] > 0:
            assemble_bilateral(m, x, t, 0, w)
            error = load_errors(m, s, x, t, moving, w)
            if moving == 0:
                worst = error
            factor_bilateral(m, x, w)
            solve_bilateral(m, x, w)
            apply_multipliers(m, x, x.qdd, w)
        rounds += 1
        if moving != 0:
            for k in range(s.v.shape[0]):
                s.v[k, w] = s.v[k, w] + x.qdd[k, w]
        elif (worst <= enough[0] and largest_step(m, x, False, w) <= wp.max(FITTED, enough[0])) or rounds >= ROUNDS:
            outcome[STEPS, w] = f64(rounds)
            moving = int(1)
            rounds = ROUNDS  # two more: velocities, and their refinement
        else:
            clamp = ONE / wp.max(ONE, largest_step(m, x, True, w) / TURN)
            for k in range(x.qdd.shape[0]):
                x.qdd[k, w] = clamp * x.qdd[k, w]
            move_coordinates(m, s, x.qdd, w)
    outcome[ERROR, w] = worst
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = vec6()


def fit(
    system: System,
    state: State,
    work: WorkArrays,
    poses: tuple[np.ndarray, np.ndarray, np.ndarray],
    enough: float,
) -> np.ndarray:
    """Fit the state, which holds a first guess, to positions, orientations and twists [body, world, ...].

    Errors of at most `enough` may stay. Returns the worst error of a closure or coupling left in each world.
    """
    device, worlds = system.device, system.counts.worlds
    given = [
        wp.array(np.ascontiguousarray(values), dtype=dtype, device=device)
        for values, dtype in zip(poses, (vec3, quat, vec6), strict=True)
    ]
    outcome = wp.zeros((2, worlds), dtype=f64, device=device)
    limit = wp.array([enough], dtype=f64, device=device)
    inputs = [system.bare_arrays, *given, limit, state.arrays, work, outcome]
    announce_compilation(fit_kernel, device)
    launch(fit_kernel, worlds, inputs, device)
    return outcome.numpy()[ERROR]
