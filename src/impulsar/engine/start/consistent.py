"""What every method needs before its first step: poses from coordinates, consistent velocities."""

import numpy as np
import warp as wp

from ..constrain import kinds
from ..constrain.frames import follow_loops
from ..constrain.topology import list_rows
from ..coordinates.inertia import momentum
from ..coordinates.tree import accelerate, articulate, kinematics, response
from ..integrate.books import measure_energy
from ..spatial import ONE, ZERO, vec6
from ..state import State, StateArrays, WorkArrays
from ..system import System, SystemArrays
from ..system.rank import independent
from ..system.slots import CLOSURE, COUPLING


@wp.kernel(enable_backward=False)
def refresh_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Everything that follows from the state."""
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    measure_energy(m, s, x, w)


@wp.kernel(enable_backward=False, module="unique")  # compiled only where it is needed
def start_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """Velocities after the bodies, moving with the twists in x.wrench, are joined: v = M⁻¹ Jᵀ momenta.

    Also the rows of closures and couplings with their responses, for the caller to satisfy.
    """
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = momentum(m, x, i, x.wrench[i, w], w)
    articulate(m, x, w)
    accelerate(m, x, vec6(), 0, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = x.qdd[k, w]
    for r in range(x.row_count[0, w]):
        if kinds.is_equation(x, r, w):
            kinds.fill(m, s, x, r, ZERO, ONE, w)
            response(m, x, r, w)


def refresh(system: System, state: State, work: WorkArrays) -> None:
    """Bring poses, twists and energies up to the state."""
    wp.launch(refresh_kernel, system.counts.worlds, inputs=[system.arrays, state.arrays, work], device=system.device)


def project_start(system: System, state: State, work: WorkArrays) -> dict[str, float]:
    """Authored velocities → velocities that fit the joints, with the least kinetic energy of change.

    Returns the bodies whose velocity changed and by how much [m/s].
    """
    bodies = [system.model.bodies[name] for name in system.tree.bodies]
    worlds = system.counts.worlds
    if not any(body.velocity.any() or body.angular_velocity.any() for body in bodies):
        return {}
    inputs = [system.arrays, state.arrays, work]
    twists = np.array([np.concatenate([body.angular_velocity, body.velocity]) for body in bodies])
    work.wrench.assign(np.repeat(twists[:, None], worlds, axis=1))
    wp.launch(start_kernel, worlds, inputs=inputs, device=system.device)
    work.wrench.zero_()
    v = state.read("v")[:, 0].copy()
    holds = system.parameter("basis").max(axis=1)  # rows that others imply but for their play say nothing here
    rows = [r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, COUPLING) and holds[r]]
    if rows:
        J, Y = system.dense_rows(work.J.numpy())[rows], system.dense_rows(work.Y.numpy())[rows]
        kept, _ = independent(system.scaled_rows(J, rows))
        v -= Y[kept].T @ np.linalg.solve(J[kept] @ Y[kept].T, J[kept] @ v)
    state.write("v", np.repeat(v[:, None], worlds, axis=1))
    refresh(system, state, work)
    twist = work.twist.numpy()[:, 0]
    change = {body.name: float(np.linalg.norm(twist[i, 3:] - body.velocity)) for i, body in enumerate(bodies)}
    scale = max(float(np.linalg.norm(body.velocity)) for body in bodies) + 1e-12
    return {name: size for name, size in change.items() if size > 1e-9 * scale}
