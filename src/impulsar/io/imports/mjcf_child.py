"""Compile MJCF by MuJoCo, in a process of its own with limits of memory and time.

    python -m impulsar.io.imports.mjcf_child FILE|- < bytes

MuJoCo's parser and compiler are C++: they can take any time and memory, and crash. What a file became is written to
standard output as JSON; the parent process has scanned the file and all that it includes before.
"""

import json
import sys
from typing import Any

MOST_MEMORY = 4 * 2**30  # bytes of address space
MOST_SECONDS = 60  # of the processor's time
MOST_POINTS = 4_000  # of a mesh that are handed on; others are thinned
ARRAYS = (
    "body_parentid", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "body_mocapid",
    "body_gravcomp", "body_jntadr", "body_jntnum",
    "jnt_type", "jnt_bodyid", "jnt_qposadr", "jnt_dofadr", "jnt_pos", "jnt_axis", "jnt_stiffness", "jnt_stiffnesspoly",
    "jnt_limited", "jnt_range", "jnt_actfrclimited", "jnt_actfrcrange", "jnt_springyield",
    "qpos0", "qpos_spring", "dof_armature", "dof_damping", "dof_dampingpoly", "dof_frictionloss",
    "eq_type", "eq_obj1id", "eq_obj2id", "eq_objtype", "eq_active0", "eq_data",
    "actuator_trntype", "actuator_trnid", "actuator_gear", "actuator_dyntype", "actuator_gaintype", "actuator_biastype",
    "actuator_gainprm", "actuator_biasprm", "actuator_ctrllimited", "actuator_ctrlrange", "actuator_forcelimited",
    "actuator_forcerange",
    "site_bodyid", "site_pos", "site_quat",
    "geom_type", "geom_bodyid", "geom_pos", "geom_quat", "geom_size", "geom_rgba", "geom_dataid", "geom_contype",
    "geom_conaffinity", "key_qpos", "key_qvel", "key_ctrl",
)  # fmt: skip
KINDS = ("body", "joint", "geom", "site", "equality", "actuator", "tendon", "sensor", "key", "mesh", "camera", "flex")


def compiled(path: str, data: bytes) -> dict[str, Any]:
    """What MuJoCo makes of a file: its arrays, names and lines by kind, and its options."""
    import mujoco

    spec = mujoco.MjSpec.from_string(data.decode("utf-8")) if path == "-" else mujoco.MjSpec.from_file(path)
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
    found["gravity_off"] = bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    found["joints"] = {
        str(int(value)): name for name, value in vars(mujoco.mjtJoint).items() if name.startswith("mjJNT")
    }
    found["geoms"] = {
        str(int(value)): name for name, value in vars(mujoco.mjtGeom).items() if name.startswith("mjGEOM")
    }
    found["equalities"] = {
        str(int(value)): name for name, value in vars(mujoco.mjtEq).items() if name.startswith("mjEQ")
    }
    found["is_site"] = int(mujoco.mjtObj.mjOBJ_SITE)
    found["is_joint"] = int(mujoco.mjtTrn.mjTRN_JOINT)
    found["meshes"] = _meshes(model)
    return found


def _meshes(model: Any) -> list[list[list[float]]]:
    """Points of each mesh, thinned."""
    found = []
    for k in range(model.nmesh):
        start, count = int(model.mesh_vertadr[k]), int(model.mesh_vertnum[k])
        step = max(1, count // MOST_POINTS)
        found.append(model.mesh_vert[start : start + count : step].astype(float).tolist())
    return found


def main() -> None:
    """Read a file within limits and write what it is, or the refusal."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # MuJoCo would write a log
    except ImportError:  # Windows: the time is limited by who waits
        pass
    try:
        found = compiled(sys.argv[1], sys.stdin.buffer.read())
    except ImportError:
        found = {"missing": "mujoco"}
    except MemoryError:
        found = {"refusal": f"takes more than {MOST_MEMORY // 2**20} MiB to compile"}
    except (ValueError, RuntimeError, UnicodeDecodeError, TypeError, AttributeError) as error:
        found = {"refusal": " ".join(str(error).split())[:1000]}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
