"""Accelerations of all bodies of an imported model beside those of MuJoCo and Pinocchio, at random states.

Positions, velocities and accelerations are those of the centres of mass of our bodies, of links lumped or not, so that
nothing depends on what the engines call a coordinate. Coulomb friction and limits are off on both sides.
"""

from pathlib import Path
from typing import Any

import numpy as np

import impulsar as im


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


def against_mujoco(path: Path, seed: int, **options: Any) -> float:
    """Of an MJCF file without loops."""
    import mujoco

    m = mujoco.MjModel.from_xml_path(str(path))
    m.dof_frictionloss[:] = 0.0
    off = mujoco.mjtDisableBit
    m.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT)
    m.opt.density = m.opt.viscosity = 0.0
    rng = np.random.default_rng(seed)
    d = mujoco.MjData(m)
    d.qpos[:] = m.qpos0
    mujoco.mj_integratePos(m, d.qpos, 0.3 * rng.normal(size=m.nv), 1.0)
    d.qvel[:] = rng.normal(size=m.nv)
    if "key" in options:
        d.ctrl[:] = m.key(options["key"]).ctrl
    mujoco.mj_forward(m, d)
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
