"""Accelerations of all bodies of an imported model beside those of MuJoCo, Pinocchio and a dense solution,
at random states.

Positions, velocities and accelerations are those of the centres of mass of our bodies, of links lumped or not, so that
nothing depends on what the engines call a coordinate. Coulomb friction and limits are off on both sides.
"""

from pathlib import Path
from typing import Any

import numpy as np

import impulsar as im
from impulsar.author.joints import (
    ALIGN,
    ALIGN_X,
    ALL_SLIDES,
    ALL_TURNS,
    CROSS,
    LENGTH,
    LOCK_RX,
    LOCK_X,
)
from impulsar.author.rotations import multiply, quaternions, rotation_matrix
from impulsar.engine.system.tree import span


def worst_acceleration(model: im.Model, v: dict[str, Any], a: dict[str, Any]) -> float:
    """Largest difference of an acceleration or angular acceleration, over the largest of all."""
    for name, (linear, angular) in v.items():
        model.bodies[name].velocity, model.bodies[name].angular_velocity = linear, angular
    for joint in model.joints.values():
        for features in joint.features.values():
            features.friction, features.limits = 0.0, None
    world = im.World(model, dt=1e-3)
    off, size = 0.0, 0.0
    for name, (linear, angular) in a.items():
        body = world.body(name)
        np.testing.assert_allclose(body.velocity, v[name][0], rtol=0, atol=1e-8 * (1 + np.abs(v[name][0]).max()))
        off = max(off, np.abs(body.acceleration - linear).max(), np.abs(body.angular_acceleration - angular).max())
        size = max(size, np.abs(linear).max(), np.abs(angular).max())
    return off / size


def held_acceleration(m: Any, d: Any, row: np.ndarray) -> np.ndarray:
    """q̈ where an equation row · q = rest of joints of one freedom holds rigidly: the KKT system on MuJoCo's M."""
    import mujoco

    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    force = d.qfrc_passive - d.qfrc_bias
    A = np.block([[M, row[:, None]], [row[None], np.zeros((1, 1))]])
    return np.linalg.solve(A, [*force, 0.0])[: m.nv]


def against_mujoco(
    path: Path, seed: int, tied: dict[str, float] | None = None, rest: float = 0.0, **options: Any
) -> float:
    """Of an MJCF file without loops; `tied`: its one equality, Σ weight · q = rest by joint, held rigidly."""
    import mujoco

    m = mujoco.MjModel.from_xml_path(str(path))
    m.dof_frictionloss[:] = 0.0
    off = mujoco.mjtDisableBit
    m.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | (off.mjDSBL_EQUALITY if tied else 0))
    m.tendon_stiffness[:] = 0.0
    m.opt.density = m.opt.viscosity = 0.0
    rng = np.random.default_rng(seed)
    d = mujoco.MjData(m)
    d.qpos[:] = m.qpos0
    mujoco.mj_integratePos(m, d.qpos, 0.3 * rng.normal(size=m.nv), 1.0)
    d.qvel[:] = rng.normal(size=m.nv)
    if "key" in options:
        d.ctrl[:] = m.key(options["key"]).ctrl
    row = np.zeros(m.nv)
    for name, weight in (tied or {}).items():
        joint = m.joint(name)
        row[joint.dofadr[0]] = weight
        last, at = joint.dofadr[0], joint.qposadr[0]
    if tied:
        q = {name: d.qpos[m.joint(name).qposadr[0]] for name in tied}
        d.qpos[at] += (rest - sum(weight * q[name] for name, weight in tied.items())) / row[last]
        d.qvel[last] -= row @ d.qvel / row[last]
    mujoco.mj_forward(m, d)
    if tied:
        d.qacc[:] = held_acceleration(m, d, row)
    pose = {}
    for j in range(m.njnt):
        q, kind = d.qpos[m.jnt_qposadr[j] :].tolist(), m.jnt_type[j]
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, j) or f"joint {j}"
        pose[name] = [*q[:3], *q[4:7], q[3]] if kind == 0 else [*q[1:4], q[0]] if kind == 1 else q[0]
    model = im.load(path, pose=pose, meshes=False, **options)
    v, a = {}, {}
    for name, body in model.bodies.items():
        if body.is_carrier:
            continue
        i = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name)
        i = i if i >= 0 else int(name.split()[1])
        J, W, Jd, Wd = (np.zeros((3, m.nv)) for _ in range(4))
        mujoco.mj_jac(m, d, J, W, body.position, i)
        mujoco.mj_jacDot(m, d, Jd, Wd, body.position, i)
        v[name] = (J @ d.qvel, W @ d.qvel)
        a[name] = (J @ d.qacc + Jd @ d.qvel, W @ d.qacc + Wd @ d.qvel)
    return worst_acceleration(model, v, a)


def against_pinocchio(path: Path, seed: int, **options: Any) -> float:
    """Of a URDF without loops; mimic joints by q̇ = S ẏ: Sᵀ M S ÿ = Sᵀ (τ - h)."""
    import pinocchio as pin

    m = pin.buildModelFromUrdf(str(path))
    d = m.createData()
    rng = np.random.default_rng(seed)
    q, v = pin.integrate(m, pin.neutral(m), 0.3 * rng.normal(size=m.nv)), rng.normal(size=m.nv)
    plain = im.load(path, meshes=False, **options)
    assert plain.import_report is not None
    sources = {end: name for name, end in plain.import_report.coordinates.items()}
    S, free = np.eye(m.nv), list(range(m.nv))
    for tie in plain.couplings.values():
        ends = (tie.joint_a, tie.group_a), (tie.joint_b, tie.group_b)
        i, k = (m.getJointId(sources[end]) for end in ends)
        q[m.idx_qs[k]] = tie.ratio * q[m.idx_qs[i]] + tie.offset
        v[m.idx_vs[k]], S[m.idx_vs[k]] = tie.ratio * v[m.idx_vs[i]], tie.ratio * S[m.idx_vs[i]]
        free.remove(m.idx_vs[k])
    S = S[:, free]
    pose, tau = {}, np.zeros(m.nv)
    for name in m.names[1:]:
        j = m.getJointId(name)
        at = q[m.idx_qs[j] :]
        pose[name] = float(at[0]) if m.nqs[j] == 1 else float(np.arctan2(at[1], at[0]))
        joint, group = plain.import_report.coordinates[name]
        tau[m.idx_vs[j]] = -plain.joints[joint].features[group].viscous * v[m.idx_vs[j]]
    model = im.load(path, pose=pose, meshes=False, **options)
    M = np.triu(pin.crba(m, d, q))
    M += np.triu(M, 1).T
    h = pin.rnea(m, d, q, v, np.zeros(m.nv))
    pin.forwardKinematics(m, d, q, v, S @ np.linalg.solve(S.T @ M @ S, S.T @ (tau - h)))
    pin.updateFramePlacements(m, d)
    velocities, accelerations = {}, {}
    for name, body in model.bodies.items():
        frame = m.getFrameId(name)
        r = body.position - d.oMf[frame].translation
        way = pin.LOCAL_WORLD_ALIGNED
        twist, rate = pin.getFrameVelocity(m, d, frame, way), pin.getFrameClassicalAcceleration(m, d, frame, way)
        w, alpha = twist.angular, rate.angular
        velocities[name] = (twist.linear + np.cross(w, r), w)
        accelerations[name] = (rate.linear + np.cross(alpha, r) + np.cross(w, np.cross(w, r)), alpha)
    return worst_acceleration(model, velocities, accelerations)


def against_kkt(path: Path, seed: int, spread: float = 0.3, **options: Any) -> float:
    """Of any file: a dense solution on the rows of the model's joints, body by body.

        [M  Jᵀ] [a]   [f]            f: gravity, gyroscopic torque; a by least squares where rows are redundant
        [J  0 ] [λ] = [-J̇ v]

    At random coordinates and velocities that the joints leave; motors, springs and dampers are off on both sides.
    """
    rng = np.random.default_rng(seed)
    plain = im.load(path, meshes=False, **options)
    assert plain.import_report is not None
    loops = {joint.name for joint in span(plain).loops}
    pose = dict(options.pop("pose", {}))
    for source, (name, group) in plain.import_report.coordinates.items():
        joint = plain.joints[name]
        if name in loops or joint.kind.group(group).is_ball or joint.type == "free":
            continue
        pose[source] = pose.get(source, 0.0) + float(spread * rng.normal())
    model = im.load(path, pose=pose, meshes=False, **options)
    for joint in model.joints.values():
        joint.features = {name: type(own)() for name, own in joint.features.items()}
    names = list(model.bodies)
    J = _rows(model, names, {name: (body.position, body.orientation) for name, body in model.bodies.items()})
    u, s, vt = np.linalg.svd(J, full_matrices=True)
    rank = int((s > 1e-7 * max(1.0, s.max(initial=0.0))).sum())
    v = vt[rank:].T @ rng.normal(size=vt.shape[0] - rank)
    M, f = np.zeros((6 * len(names), 6 * len(names))), np.zeros(6 * len(names))
    for k, name in enumerate(names):
        body = model.bodies[name]
        R = rotation_matrix(body.orientation)
        inertia, w = R @ body.inertia @ R.T, v[6 * k : 6 * k + 3]
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = inertia
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = body.mass * np.eye(3)
        f[6 * k : 6 * k + 3] = -np.cross(w, inertia @ w)
        f[6 * k + 3 : 6 * k + 6] = body.mass * np.asarray(model.gravity)
    # a = a0 + N y: a0 from J a0 = -J̇ v, and Nᵀ M N y = Nᵀ (f - M a0), N being what the rows leave free
    N = vt[rank:].T
    a0 = vt[:rank].T @ ((u[:, :rank].T @ -_rate(model, names, v)) / s[:rank])
    a = a0 + N @ np.linalg.solve(N.T @ M @ N, N.T @ (f - M @ a0))
    parts = {name: slice(6 * k, 6 * k + 6) for k, name in enumerate(names)}
    kept = {name: part for name, part in parts.items() if not model.bodies[name].is_carrier}
    return worst_acceleration(
        model, {n: (v[p][3:], v[p][:3]) for n, p in kept.items()}, {n: (a[p][3:], a[p][:3]) for n, p in kept.items()}
    )


def _rate(model: im.Model, names: list[str], v: np.ndarray) -> np.ndarray:
    """J̇ v by central differences along the motion, extrapolated: fourth order, h⁴ of a unit of time."""

    def change(h: float) -> np.ndarray:
        sides = []
        for t in (h, -h):
            moved = {}
            for k, name in enumerate(names):
                body, w = model.bodies[name], v[6 * k : 6 * k + 3]
                moved[name] = (body.position + t * v[6 * k + 3 : 6 * k + 6],
                               multiply(quaternions((t * w)[None])[0], body.orientation))  # fmt: skip
            sides.append(_rows(model, names, moved) @ v)
        return (sides[0] - sides[1]) / (2 * h)

    h = 2e-3 / (1.0 + float(np.abs(v).max()))
    one, two, four = change(h), change(h / 2), change(h / 4)
    fine, coarse = (4 * four - two) / 3, (4 * two - one) / 3
    return (16 * fine - coarse) / 15


def _rows(model: im.Model, names: list[str], at: dict[str, Any]) -> np.ndarray:
    """J of what the joints lock: rows of [w, v] of all bodies, the world's axes."""
    rows: list[np.ndarray] = []
    index = {name: 6 * k for k, name in enumerate(names)}
    for joint in model.joints.values():
        ends = []
        for body, p, q in ((joint.first, joint.p_PF, joint.q_PF), (joint.second, joint.p_CM, joint.q_CM)):
            centre, turned = at.get(body, (np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])))
            R = rotation_matrix(turned)
            ends.append((body, centre, centre + R @ p, R @ rotation_matrix(q)))
        (_, c_P, p_F, F), (_, c_C, p_M, M) = ends

        def row(turn: np.ndarray, way: np.ndarray, arms: Any, joint: Any = joint) -> None:
            found = np.zeros(6 * len(names))
            for body, sign, arm in ((joint.first, -1.0, arms[0]), (joint.second, 1.0, arms[1])):
                if body in index:
                    k = index[body]
                    found[k : k + 3] += sign * (turn + np.cross(arm, way))
                    found[k + 3 : k + 6] += sign * way
            rows.append(found)

        still = np.zeros(3)
        for lock in joint.kind.locks:
            if lock in ALL_SLIDES:  # z · (p_M - p_F), z turning with the first body
                row(still, F[:, lock - LOCK_X], (p_M - c_P, p_M - c_C))
            elif lock == LENGTH:
                way = (p_M - p_F) / np.linalg.norm(p_M - p_F)
                row(still, way, (p_F - c_P, p_M - c_C))
            elif lock in ALL_TURNS:
                row(F[:, lock - LOCK_RX], still, (still, still))
            elif lock in ALIGN:  # x_F · z_M and y_F · z_M stay 0
                row(np.cross(F[:, lock - ALIGN_X], M[:, 2]), still, (still, still))
            elif lock == CROSS:  # z_F · x_M stays 0
                row(np.cross(F[:, 2], M[:, 0]), still, (still, still))
            else:
                raise NotImplementedError(f"rows of {joint.type}")
    for tie in model.couplings.values():
        found = np.zeros(6 * len(names))
        for name, group, weight in ((tie.joint_a, tie.group_a, tie.ratio), (tie.joint_b, tie.group_b, -1.0)):
            joint = model.joints[name]
            R = rotation_matrix(at.get(joint.first, (0, np.array([0.0, 0.0, 0.0, 1.0])))[1])
            z = R @ rotation_matrix(joint.q_PF)[:, 2]
            assert group == "angle" and not tie.more, "couplings of two hinges alone"
            for body, sign in ((joint.first, -1.0), (joint.second, 1.0)):
                if body in index:
                    found[index[body] : index[body] + 3] += weight * sign * z
        rows.append(found)
    return np.array(rows).reshape(-1, 6 * len(names))
