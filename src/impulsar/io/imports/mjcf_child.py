"""Compile MJCF by MuJoCo; `child` runs it. The parent process has scanned the file and all that it includes before."""

import os
from typing import Any

PACKAGE = "mujoco"
MOST_POINTS = 4_000  # of a mesh that are handed on; others are thinned
MOST_FACES = 100_000  # of a mesh that is drawn by its triangles
ARRAYS = (
    "body_parentid", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "body_mocapid",
    "body_gravcomp", "body_jntadr", "body_jntnum",
    "jnt_type", "jnt_bodyid", "jnt_qposadr", "jnt_dofadr", "jnt_pos", "jnt_axis", "jnt_stiffness", "jnt_stiffnesspoly",
    "jnt_limited", "jnt_range", "jnt_actfrclimited", "jnt_actfrcrange", "jnt_springyield",
    "qpos0", "qpos_spring", "dof_armature", "dof_damping", "dof_dampingpoly", "dof_frictionloss",
    "eq_type", "eq_obj1id", "eq_obj2id", "eq_objtype", "eq_active0", "eq_data",
    "actuator_trntype", "actuator_trnid", "actuator_gear", "actuator_dyntype", "actuator_gaintype", "actuator_biastype",
    "actuator_gainprm", "actuator_biasprm", "actuator_ctrllimited", "actuator_ctrlrange", "actuator_forcelimited",
    "actuator_forcerange", "actuator_group", "actuator_armature", "actuator_damping", "actuator_dampingpoly",
    "actuator_delay",
    "tendon_adr", "tendon_num", "tendon_limited", "tendon_range", "tendon_stiffness", "tendon_damping",
    "tendon_frictionloss", "tendon_armature", "wrap_type", "wrap_objid", "wrap_prm",
    "site_bodyid", "site_pos", "site_quat",
    "geom_type", "geom_bodyid", "geom_pos", "geom_quat", "geom_size", "geom_rgba", "geom_dataid", "geom_contype",
    "geom_conaffinity", "geom_group", "geom_matid", "mat_rgba", "key_qpos", "key_qvel", "key_ctrl",
)  # fmt: skip
KINDS = ("body", "joint", "geom", "site", "equality", "actuator", "tendon", "sensor", "key", "mesh", "camera", "flex")


def read(path: str, data: bytes) -> dict[str, Any]:
    """What MuJoCo makes of a file: its arrays, names and lines by kind, and its options."""
    import mujoco

    if path.endswith(".xml"):
        spec = mujoco.MjSpec.from_file(path)
    else:  # of another suffix it knows no decoder
        if path != "-":
            os.chdir(os.path.dirname(path))
        spec = mujoco.MjSpec.from_string(data.decode("utf-8"))
    model = spec.compile()
    found: dict[str, Any] = {name: getattr(model, name).tolist() for name in ARRAYS if hasattr(model, name)}
    found["names"], found["lines"] = {}, {}
    for kind in KINDS:
        counter = {"joint": "njnt", "equality": "neq", "actuator": "nu", "camera": "ncam"}.get(kind, f"n{kind}")
        count = int(getattr(model, counter, 0))
        objtype = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        found["names"][kind] = [mujoco.mj_id2name(model, objtype, k) or "" for k in range(count)]
        elements = getattr(spec, {"body": "bodies", "equality": "equalities"}.get(kind, f"{kind}s"), [])
        found["lines"][kind] = {element.id: element.info for element in elements if getattr(element, "id", -1) >= 0}
    found["name"] = spec.modelname
    found["gravity"] = model.opt.gravity.tolist()
    found["fluid"] = [model.opt.density, model.opt.viscosity, *model.opt.wind.tolist()]
    found["timestep"] = model.opt.timestep
    flags = {name.removeprefix("mjDSBL_").lower(): bit for name, bit in vars(mujoco.mjtDisableBit).items()
             if name.startswith("mjDSBL_")}  # fmt: skip
    found["off"] = sorted(name for name, bit in flags.items() if model.opt.disableflags & int(bit))
    found["groups_off"] = [group for group in range(31) if model.opt.disableactuator >> group & 1]
    found["joints"] = {
        str(int(value)): name for name, value in vars(mujoco.mjtJoint).items() if name.startswith("mjJNT")
    }
    found["geoms"] = {
        str(int(value)): name for name, value in vars(mujoco.mjtGeom).items() if name.startswith("mjGEOM")
    }
    found["equalities"] = {
        str(int(value)): name for name, value in vars(mujoco.mjtEq).items() if name.startswith("mjEQ")
    }
    found["transmissions"] = _words(mujoco.mjtTrn, "mjTRN_")
    found["dynamics"] = _words(mujoco.mjtDyn, "mjDYN_")
    found["is_site"] = int(mujoco.mjtObj.mjOBJ_SITE)
    found["of_joints"] = [int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)]
    found["wraps_joint"] = int(mujoco.mjtWrap.mjWRAP_JOINT)
    found["meshes"] = _meshes(model)
    found["pictures"] = _pictures(model)
    return found


def _words(kinds: Any, prefix: str) -> dict[str, str]:
    """What MuJoCo calls the members of an enumeration, by number."""
    members = {name: value for name, value in vars(kinds).items() if name.startswith(prefix)}
    return {str(int(value)): name.removeprefix(prefix).lower() for name, value in members.items()}


def _meshes(model: Any) -> list[list[list[float]]]:
    """Points of each mesh, thinned."""
    found = []
    for k in range(model.nmesh):
        start, count = int(model.mesh_vertadr[k]), int(model.mesh_vertnum[k])
        step = max(1, count // MOST_POINTS)
        found.append(model.mesh_vert[start : start + count : step].astype(float).tolist())
    return found


def _pictures(model: Any) -> dict[str, list]:
    """Points and triangles of meshes that geoms are drawn of, by number; without those of very many."""
    drawn = sorted({int(k) for k in model.geom_dataid if 0 <= k < model.nmesh})
    found = {}
    for k in drawn:
        first, count = int(model.mesh_vertadr[k]), int(model.mesh_vertnum[k])
        start, faces = int(model.mesh_faceadr[k]), int(model.mesh_facenum[k])
        if 0 < faces <= MOST_FACES:
            points = model.mesh_vert[first : first + count].astype(float).tolist()
            found[str(k)] = [points, model.mesh_face[start : start + faces].tolist()]
    return found
