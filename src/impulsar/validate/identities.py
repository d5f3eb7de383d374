"""Identities of the dynamics that hold to rounding on any mechanism, measured on random trees.

Each tree has 20 bodies with full inertia tensors and branches. Its joints are dealt from a pack of
every type that a tree takes, in both directions (F on the parent and F on the child); six trees deal
each card five times. One more body is free, so that `spins_free` is in every tree. Derivatives are
taken by a seven-point stencil: at steps of 2e-3 its truncation, h⁶ f⁽⁷⁾ / 140, is 1e-12 where a chain
turns at ten times the rate of its joints, and its rounding 1e-13, so that 1e-10 is a bound on formulas
and not on differencing.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import warp as wp
from scipy.spatial.transform import Rotation

from ..author.errors import ModelError
from ..author.joints import BALL_X, BALL_Z, CATALOGUE, SCREW, SLIDE_X, SLIDE_Z, SWING, TURN_X, TURN_Z, TWIST, JointType
from ..author.model import Model
from ..author.parts import Joint, Motor
from ..engine.constrain import kinds
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.inverse import forward_dynamics, joint_forces, mass_matrix, move_bodies
from ..engine.coordinates.tree import articulate, kinematics, response
from ..engine.integrate.geometric import geometric_tangent
from ..engine.launch import launch
from ..engine.spatial import ONE, ZERO
from ..engine.state import State, StateArrays, WorkArrays, allocate_work
from ..engine.system import System, SystemArrays
from ..engine.system.slots import CLOSURE, COUPLING, HAND, LIMIT_HIGH, SPRING
from ..engine.system.tree import AnyJoint, key_of
from ..world.world import World
from .case import Case
from .poison import poison

TREES = 6
BODIES = 20
STATES = 8  # random states of each tree, as worlds

EPSILON = 2e-3
OFFSETS = EPSILON * np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / (60 * EPSILON)

Pose = tuple[np.ndarray, Rotation]


# random mechanisms --------------------------------------------------------------------------------


def random_tree(seed: int, loops: bool = False) -> Model:
    """A tree of BODIES bodies and a free one; with `loops`, a loop joint of every type and other rows."""
    rng = np.random.default_rng(seed)
    model = Model(f"random tree {seed}", gravity=rng.normal(size=3))
    pack = [(kind, forward) for kind in CATALOGUE.values() if kind.tree for forward in (True, False)]
    poses: dict[str, Pose] = {"ground": (np.zeros(3), Rotation.identity())}
    names = ["ground"]
    for k in range(BODIES):
        kind, forward = pack[(seed * BODIES + k) % len(pack)]
        parent = names[-1] if rng.random() < 0.5 else names[rng.integers(len(names))]
        pitch = rng.uniform(0.05, 0.2) if kind.name == "screw" else None
        joint = random_joint_pose(rng, kind, pitch)
        near, far = random_pose(rng), random_pose(rng)  # the joint's frames on the parent and on the child
        child = f"body {k}"
        across = joint if forward else inverse(joint)
        poses[child] = compose(compose(compose(poses[parent], near), across), inverse(far))
        add_random_body(rng, model, child, poses[child])
        ends = (parent, child, near, far) if forward else (child, parent, far, near)
        add_joint(model, f"joint {k}", kind, *ends, pitch, **features_of(kind) if loops else {})
        names.append(child)
    poses["loose"] = random_pose(rng)
    add_random_body(rng, model, "loose", poses["loose"])
    if loops:
        names.append("loose")
        add_loops(rng, model, poses, names)
    return model


def add_loops(rng: np.random.Generator, model: Model, poses: dict[str, Pose], names: list[str]) -> None:
    """A loop joint of every type at random coordinates, a spring, two couplings and one of four joints."""
    for kind in CATALOGUE.values():
        first, second = rng.choice(names, 2, replace=False)
        pitch = rng.uniform(0.05, 0.2) if kind.name == "screw" else None
        F = random_pose(rng)
        M = compose(inverse(poses[second]), compose(compose(poses[first], F), random_joint_pose(rng, kind, pitch)))
        if kind.name == "distance":
            at, at_b = compose(poses[first], F)[0], compose(poses[second], M)[0]
            model.joint("loop distance", "distance", first, second, at=at, at_b=at_b)
        else:
            add_joint(model, f"loop {kind.name}", kind, first, second, F, M, pitch, **features_of(kind), loop=True)
    model.spring("spring", names[3], names[-2], rng.normal(size=3), rng.normal(size=3), stiffness=10.0)
    model.load("push", names[-3], force=(1.0, 2.0, -1.0), torque=(0.5, 0.0, -0.3), at=poses[names[-3]][0] + 0.2)
    model.load("thrust", names[5], force=(0.0, 1.0, 2.0), torque=(0.1, 0.3, 0.0), frame="body")
    model.coupling("gear", "loop revolute", "loop screw", ratio=-2.0)
    model.coupling("rack", "loop cylindrical", "loop universal", 0.3, group_a="slide", group_b="second")
    weights = {"loop planar.x": 0.4, "loop pin-slot.slide": -1.5, "loop prismatic": 0.7, "loop cylindrical.angle": -1.0}
    model.coupling("differential", weights)


def add_random_body(rng: np.random.Generator, model: Model, name: str, pose: Pose) -> None:
    spread = rng.uniform(0.05, 0.3, 3) ** 2  # second moments: any give a possible inertia
    turn = Rotation.random(rng=rng).as_matrix()
    mass = rng.uniform(0.5, 2.0)
    inertia = mass * turn @ np.diag(spread.sum() - spread) @ turn.T
    model.body(name, mass, inertia, position=pose[0], orientation=pose[1].as_quat())


def add_joint(
    model: Model, name: str, kind: JointType, first: str, second: str, F: Pose, M: Pose, pitch: float | None, **more
) -> Joint:
    frames: dict[str, Any] = {"frame_a": (F[0], F[1].as_quat()), "frame_b": (M[0], M[1].as_quat())}
    return model.joint(name, kind.name, first, second, **frames, pitch=pitch, **more)


def features_of(kind: JointType) -> dict[str, Any]:
    """A row of every sort in every group of a type."""
    limits: dict[str, object] = {}
    motors = {}
    for group in kind.groups:
        limits[group.name] = {"swing": 1.0, "twist": (-1.0, 1.0)} if group.is_ball else (-1.0, 1.0)
        motors[group.name] = Motor(speed=(0.0, 0.0, 0.0) if group.is_ball else 0.0)
    return {"limits": limits, "motor": motors} if kind.groups else {}


def random_pose(rng: np.random.Generator) -> Pose:
    return rng.uniform(-0.3, 0.3, 3), Rotation.random(rng=rng)


def random_joint_pose(rng: np.random.Generator, kind: JointType, pitch: float | None) -> Pose:
    """X_FM of a type at random coordinates (author/joints.py)."""
    p, R = np.zeros(3), Rotation.identity()
    for code in kind.freedoms:
        value = rng.uniform(-1.0, 1.0)
        if code <= SLIDE_Z:
            p[code - SLIDE_X] = value
        elif code in (TURN_Z, SCREW):
            R = Rotation.from_rotvec([0, 0, value])
            p[2] += (pitch or 0.0) * value if code == SCREW else 0.0
        elif code == TURN_X:
            R = R * Rotation.from_rotvec([value, 0, 0])
        elif code == BALL_X:
            R = random_swing(rng) * Rotation.from_rotvec([0, 0, value])
    if kind.name == "distance":
        p, R = random_swing(rng).apply([0.0, 0.0, 1.0]), Rotation.random(rng=rng)
    return p, R


def random_swing(rng: np.random.Generator) -> Rotation:
    """A turn of the z axis, far from none and from half a turn, where its angle has no derivative."""
    towards, angle = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.7, 1.2)
    return Rotation.from_rotvec([angle * np.cos(towards), angle * np.sin(towards), 0.0])


def compose(a: Pose, b: Pose) -> Pose:
    return a[0] + a[1].apply(b[0]), a[1] * b[1]


def inverse(a: Pose) -> Pose:
    return -a[1].inv().apply(a[0]), a[1].inv()


# random states ------------------------------------------------------------------------------------


class Rig:
    """A random tree as arrays, with as many worlds as states are asked for."""

    def __init__(self, model: Model, worlds: int, device: str):
        self.system = System(model, worlds, device)
        self.state = State(self.system.counts, device)
        self.work = allocate_work(self.system.counts, device)
        poison(self.work, "wrench", "tau")  # applied forces, which stages are given
        self.parts = self.system, self.state, self.work

    def place(self, q: np.ndarray, v: np.ndarray) -> None:
        """Write coordinates and velocities [row, world] and move the bodies there."""
        self.state.write("q", q)
        self.state.write("v", v)
        move_bodies(*self.parts)


def rigs(worlds: int, device: str) -> Iterator[tuple[np.random.Generator, Rig]]:
    for seed in range(TREES):
        yield np.random.default_rng(1000 + seed), Rig(random_tree(seed), worlds, device)


def walk(system: System) -> Iterator[tuple[int, int, int]]:
    """Freedom code, coordinate and velocity row of every tree freedom; a ball once, at BALL_X."""
    for joint in system.tree.carriers:
        for code in joint.kind.freedoms:
            if not BALL_X < code <= BALL_Z:
                key = key_of(joint), code
                yield code, system.coordinate[key], system.dof[key]


def random_state(rng: np.random.Generator, system: System) -> tuple[np.ndarray, np.ndarray]:
    """q [coordinate, world], angles over a turn and more, and v [dof, world] of order 1."""
    n = system.counts
    q = rng.uniform(-4.0, 4.0, (n.coordinates, n.worlds))
    for code, c, _ in walk(system):
        if code <= SLIDE_Z:
            q[c] *= 0.1
        elif code == BALL_X:
            q[c : c + 4] = Rotation.random(n.worlds, rng=rng).as_quat().T
    return q, rng.normal(size=(n.dofs, n.worlds))


def moved(system: System, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q ⊕ step, both [row, world]: a ball turns about F's axes."""
    out = q.copy()
    for code, c, k in walk(system):
        if code == BALL_X:
            turned = Rotation.from_rotvec(step[k : k + 3].T) * Rotation.from_quat(q[c : c + 4].T)
            out[c : c + 4] = turned.as_quat().T
        else:
            out[c] += step[k]
    return out


def along_freedoms(system: System, q: np.ndarray) -> np.ndarray:
    """q [coordinate] displaced along each velocity by each offset: worlds are [dof, offset]."""
    dofs = system.counts.dofs
    step = np.kron(np.eye(dofs), OFFSETS)
    return moved(system, np.repeat(q[:, None], step.shape[1], axis=1), step)


def differentiate(values: np.ndarray) -> np.ndarray:
    """Derivative of values [..., direction · offset] along every direction [..., direction]."""
    return values.reshape(*values.shape[:-1], -1, len(OFFSETS)) @ WEIGHTS


def differentiate_turn(R: np.ndarray, at: np.ndarray) -> np.ndarray:
    """w [3, direction] of matrices [direction · offset, 3, 3] about `at`: skew part of Ṙ Rᵀ."""
    W = differentiate(np.moveaxis(R @ at.T, 0, -1))
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def worst(error: np.ndarray, scale: np.ndarray) -> float:
    """Largest error of each world (last axis) relative to that world's largest value."""
    axes = tuple(range(error.ndim - 1))
    return float(np.max(np.abs(error).max(axes) / np.abs(scale).max(axes)))


# identities ---------------------------------------------------------------------------------------


def aba_inverts_rnea(device: str = "cpu") -> float:
    """ABA(RNEA(v̇)) = v̇ under gravity and random wrenches on all bodies."""
    figure = 0.0
    for rng, rig in rigs(STATES, device):
        n = rig.system.counts
        rig.place(*random_state(rng, rig.system))
        rig.work.wrench.assign(rng.normal(size=(n.bodies, n.worlds, 6)))
        qdd = rng.normal(size=(n.dofs, n.worlds))
        tau = joint_forces(*rig.parts, qdd)
        figure = max(figure, worst(forward_dynamics(*rig.parts, tau) - qdd, qdd))
    return figure


def crba_is_rnea(device: str = "cpu") -> float:
    """M v̇ + RNEA(0) = RNEA(v̇), with M by composite bodies."""
    figure = 0.0
    for rng, rig in rigs(STATES, device):
        n = rig.system.counts
        rig.place(*random_state(rng, rig.system))
        qdd = rng.normal(size=(n.dofs, n.worlds))
        tau, bias = joint_forces(*rig.parts, qdd), joint_forces(*rig.parts, 0.0 * qdd)
        M = mass_matrix(*rig.parts)
        figure = max(figure, worst(np.einsum("wij,jw->iw", M, qdd) + bias - tau, tau))
    return figure


def power_of_wrenches(device: str = "cpu") -> float:
    """Σ wrench · twist = (Jᵀ wrench) · v, where Jᵀ wrench is what wrenches save in the joint forces."""
    figure = 0.0
    for rng, rig in rigs(STATES, device):
        n = rig.system.counts
        q, v = random_state(rng, rig.system)
        rig.place(q, v)
        still = np.zeros((n.dofs, n.worlds))
        wrench = rng.normal(size=(n.bodies, n.worlds, 6))
        alone = joint_forces(*rig.parts, still)
        rig.work.wrench.assign(wrench)
        saved = alone - joint_forces(*rig.parts, still)
        power = np.sum(wrench * rig.work.twist.numpy(), axis=2)
        figure = max(figure, worst((power.sum(axis=0) - np.sum(saved * v, axis=0))[None], power))
    return figure


def freedoms_move_bodies(device: str = "cpu") -> float:
    """Twists of all bodies at unit joint velocities = differences of their poses."""
    figure = 0.0
    for seed in range(TREES):
        rng = np.random.default_rng(2000 + seed)
        model = random_tree(seed)
        dofs = System(model).counts.dofs
        rig = Rig(model, dofs * len(OFFSETS), device)
        q = random_state(rng, rig.system)[0][:, :1]
        rig.place(np.repeat(q, dofs * len(OFFSETS), axis=1), np.kron(np.eye(dofs), np.ones(len(OFFSETS))))
        twist = rig.work.twist.numpy()[:, :: len(OFFSETS)].transpose(2, 0, 1).copy()  # [6, body, dof]
        R_WB = [Rotation.from_quat(turn).as_matrix() for turn in rig.work.q_WB.numpy()[:, 0]]
        rig.place(along_freedoms(rig.system, q[:, 0]), np.zeros((dofs, dofs * len(OFFSETS))))
        speed = differentiate(rig.work.p_WB.numpy().transpose(2, 0, 1))
        turning = [Rotation.from_quat(turn).as_matrix() for turn in rig.work.q_WB.numpy()]
        spin = np.stack([differentiate_turn(R, at) for R, at in zip(turning, R_WB, strict=True)], axis=1)
        figure = max(figure, worst(np.concatenate([spin, speed]) - twist, twist))
    return figure


def accelerations_are_rates(device: str = "cpu") -> float:
    """Accelerations of all bodies, with their bias = differences of their twists along the motion."""
    figure = 0.0
    for rng, rig in rigs(len(OFFSETS), device):
        q, v = (part[:, :1] for part in random_state(rng, rig.system))
        qdd = rng.normal(size=v.shape)
        rig.place(np.repeat(q, len(OFFSETS), axis=1), np.repeat(v, len(OFFSETS), axis=1))
        joint_forces(*rig.parts, np.repeat(qdd, len(OFFSETS), axis=1))
        A = rig.work.acceleration.numpy()[:, 0].copy()
        A[:, 3:] += rig.system.model.gravity
        rig.place(moved(rig.system, np.repeat(q, len(OFFSETS), axis=1), v * OFFSETS), v + qdd * OFFSETS)
        rate = differentiate(rig.work.twist.numpy().transpose(2, 0, 1))[..., 0]
        figure = max(figure, worst(rate.T[..., None] - A[..., None], A[..., None]))
    return figure


# rows ---------------------------------------------------------------------------------------------


@wp.kernel(enable_backward=False)
def rows_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """J and Y of every slot, whether it is a row now or not."""
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    articulate(m, x, w)
    for r in range(x.row_count[0, w]):
        if not kinds.is_unused(m, x, r, w):
            kinds.fill(m, s, x, r, ZERO, ONE, w)
            response(m, x, r, w)


class RowRig:
    """A random tree with loops and a hand, displaced from its authored pose along every freedom."""

    def __init__(self, seed: int, device: str):
        model = random_tree(seed, loops=True)
        dofs = System(model).counts.dofs
        self.world = World(model, worlds=1 + dofs * len(OFFSETS), device=device)  # world 0: the pose itself
        self.world.grab("body 7", at=(0.1, -0.2, 0.3), name="hand")
        self.system, self.state, self.work = self.world.system, self.world.state, self.world.runner.work
        self.slots = self.system.slots
        self.system.arrays.spares.fill_(0)  # every row is looked at, also those that others imply
        q = self.system.start_coordinates()
        self.state.write("q", np.column_stack([q, along_freedoms(self.system, q)]))
        poison(self.work)
        inputs = [self.system.arrays, self.state.arrays, self.work]
        launch(rows_kernel, self.system.counts.worlds, inputs, device)
        self.J = self.system.dense_rows(self.work.J.numpy())
        self.Y = self.system.dense_rows(self.work.Y.numpy())

    def frames(self, joint: int) -> tuple[np.ndarray, Rotation]:
        """p_FM [world, 3] and R_FM of a joint in all worlds, from the bodies' poses."""
        entry = self.system.joints[joint]
        F = compose(self._pose(entry.first), (entry.p_PF, Rotation.from_quat(entry.q_PF)))
        M = compose(self._pose(entry.second), (entry.p_CM, Rotation.from_quat(entry.q_CM)))
        return F[1].inv().apply(M[0] - F[0]), F[1].inv() * M[1]

    def _pose(self, body: str) -> Pose:
        if body == "ground":
            worlds = self.system.counts.worlds
            return np.zeros((worlds, 3)), Rotation.from_quat(np.tile([0.0, 0.0, 0.0, 1.0], (worlds, 1)))
        i = self.system.body_index[body]
        return self.work.p_WB.numpy()[i], Rotation.from_quat(self.work.q_WB.numpy()[i])

    def load_wrenches(self) -> np.ndarray:
        """What the loads do to every body, about its centre of mass, world axes [body, world, 6]."""
        wrench = np.zeros((*self.work.wrench.shape, 6))
        for load in self.system.model.loads.values():
            turn = self._pose(load.body)[1]
            axes = turn if load.frame == "body" else Rotation.from_quat(np.tile([0.0, 0.0, 0.0, 1.0], (len(turn), 1)))
            force = axes.apply(load.force)
            torque = axes.apply(load.torque) + np.cross(turn.apply(load.p_BQ), force)
            wrench[self.system.body_index[load.body]] += np.hstack([torque, force])
        return wrench

    def rate(self, r: int) -> np.ndarray:
        """What row r of J should be [dof]: the derivative of its error or coordinate."""
        slot = self.slots[r]
        if slot.kind in (CLOSURE, COUPLING):
            return differentiate(self.work.row_error.numpy()[r, 1:])
        if slot.kind == HAND:
            tip = compose(self._pose("body 7"), (np.array([0.1, -0.2, 0.3]), Rotation.identity()))[0]
            return differentiate(tip[1:, slot.code])
        if slot.kind == SPRING:
            spring = self.system.model.springs[slot.name]
            ends = [
                compose(self._pose(body), (at, Rotation.identity()))[0]
                for body, at in ((spring.first, spring.p_PQ), (spring.second, spring.p_CQ))
            ]
            return differentiate(np.linalg.norm(ends[1] - ends[0], axis=1)[1:])
        rate = self._freedom_rate(*self.frames(slot.part), slot.code)
        return -rate if slot.kind == LIMIT_HIGH else rate

    @staticmethod
    def _freedom_rate(p: np.ndarray, turn: Rotation, code: int) -> np.ndarray:
        R = turn.as_matrix()
        if code <= SLIDE_Z:
            return differentiate(p[1:, code - SLIDE_X])
        if BALL_X <= code <= BALL_Z:
            return differentiate_turn(R[1:], R[0])[code - BALL_X]
        if code == SWING:
            angle = np.arccos(R[:, 2, 2])
        elif code == TWIST:
            quat = turn.as_quat()
            angle = 2.0 * np.arctan(quat[:, 2] / quat[:, 3])
        elif code == TURN_X:
            angle = np.arctan2(R[:, 2, 1], R[:, 2, 2])
        else:
            angle = np.arctan2(R[:, 1, 0], R[:, 0, 0])
        return differentiate(np.unwrap(angle)[1:])


def off_derivatives(rig: RowRig) -> float:
    """J of every sort of row = differences of its error or coordinate, where the joints are closed."""
    # a row has unit directions: one that the tree cannot move has J = 0, and 1 is its scale
    scale = np.abs(rig.J).max(axis=1).clip(min=1.0)
    return max(float(np.abs(rig.rate(r) - rig.J[r]).max() / scale[r]) for r in range(len(rig.slots)))


def off_columns(rig: RowRig) -> float:
    """Y of every sort of row = M⁻¹ Jᵀ with M by composite bodies."""
    M = mass_matrix(rig.system, rig.state, rig.work)[0]
    Y = np.linalg.solve(M, rig.J.T)
    moving = np.abs(rig.J).max(axis=1) > 1e-9  # others the tree holds altogether
    return worst((rig.Y.T - Y)[:, moving], Y[:, moving])


def off_turning(rig: RowRig, force: np.ndarray) -> float:
    """G = differences of Jᵀ λ, of the weights and of two loads, one of which turns with its body, every sort of row."""
    worlds = rig.system.counts.worlds
    J = rig.system.dense_rows(rig.work.J.numpy(), range(worlds))
    rig.work.wrench.assign(rig.load_wrenches())
    felt = np.einsum("wrd,r->dw", J, force)
    felt -= joint_forces(rig.system, rig.state, rig.work, np.zeros_like(felt))
    poison(rig.work)
    G = geometric_tangent(rig.system, rig.state, rig.work, np.repeat(force[:, None], worlds, axis=1))[0]
    return float(np.abs(differentiate(felt[:, 1:]) - G).max() / np.abs(G).max())


@cache
def row_figures(device: str) -> tuple[float, float, float]:
    """The worst of all trees: J, Y, G."""
    found = []
    for seed in range(TREES):
        rig = RowRig(seed, device)
        force = np.random.default_rng(3000 + seed).normal(size=len(rig.slots))
        found.append((off_derivatives(rig), off_columns(rig), off_turning(rig, force)))
    J, Y, G = np.max(found, axis=0)
    return float(J), float(Y), float(G)


# Pinocchio ----------------------------------------------------------------------------------------


class Twin:
    """The same tree in Pinocchio: each joint a chain of its one-freedom joints and balls.

    Pinocchio gives a ball's velocity along the child's axes, Impulsar along F's: v_pin = T v with T
    the identity elsewhere. T is constant along the motion up to terms that vanish (Ṙᵀ w = 0).
    """

    def __init__(self, pin, system: System):
        self.pin, self.system = pin, system
        self.model = pin.Model()
        self.model.gravity.linear = system.model.gravity
        self.places: list[tuple[int, Pose]] = []  # each body's Pinocchio joint, and X_JB
        self.chain: list[tuple[int, int, int, int, bool]] = []  # code, q and v row; pin joint; forward
        for i, joint in enumerate(system.tree.carriers):
            self._add(i, joint)
        self.data = self.model.createData()

    def _se3(self, pose: Pose):
        return self.pin.SE3(pose[1].as_matrix(), pose[0])

    def _add(self, i: int, joint: AnyJoint) -> None:
        pin, system = self.pin, self.system
        body = system.tree.bodies[i]
        forward = joint.second == body
        F = joint.p_PF, Rotation.from_quat(joint.q_PF)
        M = joint.p_CM, Rotation.from_quat(joint.q_CM)
        near, far = (F, M) if forward else (M, F)
        parent = system.tree.parents[i]
        at, place = self.places[parent] if parent >= 0 else (0, (np.zeros(3), Rotation.identity()))
        place = compose(place, near)
        codes = [code for code in joint.kind.freedoms if not BALL_X < code <= BALL_Z]
        for code in codes if forward else codes[::-1]:
            at = self.model.addJoint(at, self._joint(code, joint.pitch, forward), self._se3(place), f"{body} {code}")
            place = np.zeros(3), Rotation.identity()
            key = key_of(joint), code
            self.chain.append((code, system.coordinate[key], system.dof[key], at, forward))
        place = compose(place, inverse(far))
        self.places.append((at, place))
        part = system.model.bodies[body]
        self.model.appendBodyToJoint(at, pin.Inertia(part.mass, np.zeros(3), part.inertia), self._se3(place))

    def _joint(self, code: int, pitch: float | None, forward: bool):
        pin = self.pin
        if code == BALL_X:
            return pin.JointModelSpherical()
        axis = np.eye(3)[code - SLIDE_X if code <= SLIDE_Z else 0 if code == TURN_X else 2]
        axis = axis if forward else -axis
        if code <= SLIDE_Z:
            return pin.JointModelPrismaticUnaligned(axis)
        if code == SCREW:
            return pin.JointModelHelicalUnaligned(axis, pitch)
        return pin.JointModelRevoluteUnaligned(axis)

    def convert(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pinocchio's coordinates, and T [pin velocity, dof]."""
        pin_q = np.zeros(self.model.nq)
        T = np.zeros((self.model.nv, self.system.counts.dofs))
        for code, c, k, at, forward in self.chain:
            to_q, to_v = self.model.joints[at].idx_q, self.model.joints[at].idx_v
            if code == BALL_X:
                turn = Rotation.from_quat(q[c : c + 4])
                pin_q[to_q : to_q + 4] = (turn if forward else turn.inv()).as_quat()
                T[to_v : to_v + 3, k : k + 3] = turn.inv().as_matrix() if forward else -np.eye(3)
            else:
                pin_q[to_q] = q[c]
                T[to_v, k] = 1.0
        return pin_q, T

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, wrench: np.ndarray) -> np.ndarray:
        """v̇ [dof] by Pinocchio under joint forces and wrenches [body, 6] about the centres of mass, world axes."""
        pin = self.pin
        pin_q, T = self.convert(q)
        pin.forwardKinematics(self.model, self.data, pin_q)
        felt = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for (at, place), f in zip(self.places, wrench, strict=True):
            X_WJ = self.data.oMi[at]
            about = pin.SE3(np.eye(3), (X_WJ * self._se3(place)).translation)
            felt[at] = felt[at] + X_WJ.actInv(about.act(pin.Force(f[3:], f[:3])))
        stack = pin.StdVec_Force()
        stack.extend(felt)
        rate = pin.aba(self.model, self.data, pin_q, T @ v, np.linalg.solve(T.T, tau), stack)
        return np.linalg.solve(T, rate)


def same_as_pinocchio(device: str = "cpu") -> float:
    """Forward dynamics of random trees under gravity, joint forces and wrenches, as by Pinocchio."""
    try:
        import pinocchio as pin
    except ImportError as error:
        raise ModelError("case 'pinocchio': Pinocchio is not installed here; get it by pip install pin") from error
    figure = 0.0
    for rng, rig in rigs(STATES, device):
        n = rig.system.counts
        q, v = random_state(rng, rig.system)
        rig.place(q, v)
        wrench = rng.normal(size=(n.bodies, n.worlds, 6))
        tau = rng.normal(size=(n.dofs, n.worlds))
        rig.work.wrench.assign(wrench)
        qdd = forward_dynamics(*rig.parts, tau)
        twin = Twin(pin, rig.system)
        same = [twin.accelerations(q[:, w], v[:, w], tau[:, w], wrench[:, w]) for w in range(n.worlds)]
        figure = max(figure, worst(qdd - np.transpose(same), qdd))
    return figure


CASES: list[Case] = [
    Case("aba-inverts-rnea", "ABA(RNEA(v̇)) = v̇ on random trees", 1e-10, "1", aba_inverts_rnea),
    Case("crba-is-rnea", "M v̇ + bias = RNEA(v̇) on random trees", 1e-10, "1", crba_is_rnea),
    Case("power", "wrench · twist = (Jᵀ wrench) · v, every joint type", 1e-10, "1", power_of_wrenches),
    Case("freedoms", "twists = rates of poses, every joint type", 1e-10, "1", freedoms_move_bodies),
    Case("accelerations", "accelerations = rates of twists, every joint type", 1e-10, "1", accelerations_are_rates),
    Case("row-jacobian", "J of every row = rate of its error or coordinate", 1e-10, "1", lambda on: row_figures(on)[0]),
    Case("impulse-response", "response of every row = M⁻¹ Jᵀ", 1e-10, "1", lambda on: row_figures(on)[1]),
    Case(
        "geometric-tangent",
        "rates of all forces where bodies turn = differences",
        1e-10,
        "1",
        lambda on: row_figures(on)[2],
    ),
    Case("pinocchio", "forward dynamics of random trees as by Pinocchio", 1e-9, "1", same_as_pinocchio),
]
