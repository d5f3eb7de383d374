"""What every method needs before its first step: poses from coordinates, consistent velocities."""

import numpy as np
import warp as wp

from ..constrain import kinds
from ..constrain.frames import follow_loops
from ..constrain.topology import list_rows
from ..coordinates.inertia import momentum
from ..coordinates.tree import accelerate, articulate, kinematics, response
from ..integrate.books import measure_energy
from ..launch import launch
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
    launch(refresh_kernel, system.counts.worlds, [system.arrays, state.arrays, work], system.device)


def project_start(system: System, state: State, work: WorkArrays, twists: np.ndarray | None = None) -> dict[str, float]:
    """Authored velocities → velocities that fit the joints, with the least kinetic energy of change.

    twists: authored ones where worlds have their own [body, world, 6]; by default those of the model in all.
    Returns the bodies whose velocity changed and by how much, in the first world [m/s].
    """
    bodies = [system.model.bodies[name] for name in system.tree.bodies]
    worlds = system.counts.worlds
    by_world = twists is not None
    if twists is None:
        own = np.array([np.concatenate([body.angular_velocity, body.velocity]) for body in bodies]).reshape(-1, 6)
        twists = np.repeat(own[:, None], worlds, axis=1)
    if not twists.any():
        return {}
    inputs = [system.bare_arrays, state.arrays, work]
    work.wrench.assign(twists)
    launch(start_kernel, worlds, inputs, system.device)
    work.wrench.zero_()
    v = state.read("v").copy()
    holds = system.parameter("basis").max(axis=1)  # rows that others imply but for their play say nothing here
    rows = [r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, COUPLING) and holds[r]]
    looked = range(worlds) if by_world else [0]
    if rows:
        J, Y = (system.dense_rows(entries.numpy(), looked)[:, rows] for entries in (work.J, work.Y))
        for w in looked:
            kept, _ = independent(system.scaled_rows(J[w], rows))
            v[:, w] -= Y[w, kept].T @ np.linalg.solve(J[w, kept] @ Y[w, kept].T, J[w, kept] @ v[:, w])
    state.write("v", v if by_world else np.repeat(v[:, :1], worlds, axis=1))
    refresh(system, state, work)
    twist = work.twist.numpy()[:, 0]
    change = {body.name: float(np.linalg.norm((twist - twists[:, 0])[i, 3:])) for i, body in enumerate(bodies)}
    scale = float(np.linalg.norm(twists[:, 0, 3:], axis=1).max()) + 1e-12
    told = (name for name, size in change.items() if size > 1e-9 * scale)
    return {name: change[name] for name in told if not system.model.bodies[name].is_carrier}  # which have no momenta
