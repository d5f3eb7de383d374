"""A hinged mechanism in Newton, where it is installed: many worlds in one launch, float32, Featherstone's solver."""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Joint
from ..engine.system.tree import GROUND, span


def batch(model: Model, dt: float, velocities: np.ndarray, steps: int) -> tuple[Callable[[], None], Callable[[], Any]]:
    """A call that takes so many steps of worlds from these velocities [freedom, world], and one that reads q."""
    import newton

    worlds = newton.ModelBuilder(gravity=tuple(map(float, model.gravity)))
    worlds.replicate(_builder(model), velocities.shape[1])
    with wp.ScopedDevice("cpu"):
        peer = worlds.finalize()
        solver = newton.solvers.SolverFeatherstone(peer, angular_damping=0.0)
        states, control = [peer.state(), peer.state()], peer.control()
    start = velocities.T.astype(np.float32).ravel()

    def take() -> None:
        states[0].joint_q.zero_()
        states[0].joint_qd.assign(start)
        with wp.ScopedDevice("cpu"):
            newton.eval_fk(peer, states[0].joint_q, states[0].joint_qd, states[0])
            for _ in range(steps):
                states[0].clear_forces()
                solver.step(states[0], states[1], control, None, dt)
                states.reverse()

    return take, lambda: states[0].joint_q.numpy().reshape(velocities.T.shape).T


def _builder(model: Model) -> Any:
    """One world: bodies by their centres of mass, hinges from the inner body to the outer one."""
    import newton

    tree, builder = span(model), newton.ModelBuilder()
    if tree.loops:
        raise ModelError(
            f"'{model.name}' has loops, which Newton's Featherstone solver does not close; a tree is needed"
        )
    links: list[int] = []
    joints: list[int] = []
    for name, joint, parent in zip(tree.bodies, tree.carriers, tree.parents, strict=True):
        body = model.bodies[name]
        inner = GROUND if parent < 0 else tree.bodies[parent]
        if not isinstance(joint, Joint) or (joint.type, joint.first, joint.second) != ("revolute", inner, name):
            told = "Newton is given trees of hinges here, each from the inner body to the outer one"
            raise ModelError(f"body '{name}' of '{model.name}' hangs on another joint: {told}")
        inertia = wp.mat33(*np.asarray(body.inertia, float).ravel().tolist())
        links.append(builder.add_link(mass=body.mass, inertia=inertia, label=name))
        # q_PF turns F's z, the hinge's axis, into the inner body; q_CM into the outer one
        places = [_transform(joint.p_PF, joint.q_PF), _transform(joint.p_CM, joint.q_CM)]
        joints.append(
            builder.add_joint_revolute(
                -1 if parent < 0 else links[parent],
                links[-1],
                parent_xform=places[0],
                child_xform=places[1],
                axis=(0.0, 0.0, 1.0),
                armature=0.0,
            )
        )
    builder.add_articulation(joints)
    return builder


def _transform(p: Any, q: Any) -> wp.transform:
    return wp.transform(tuple(map(float, p)), tuple(map(float, q)))
