"""MJCF, compiled by MuJoCo in a process of its own: defaults, units, inertias of geoms and anchors are resolved there.

Joints of a body act one after another, the first nearest to the parent; each is at qpos0 where the body is as written:

    X_PB(q) = X_PB · T₁(q₁ - q₁⁰) · T₂(q₂ - q₂⁰) · ...
"""

import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.model import Model
from ...author.parts import Motor
from ...author.rotations import rotation_matrix
from ...author.shapes import ConvexHull, Plane, Shape
from . import mjcf_child
from .build import Options, finish
from .draft import GROUND, Bond, Draft, Link, Pose, Tie, along, still, turn
from .drawing import few_corners, hex_colour, placed, primitive
from .mjcf_scan import Scan
from .scan import Element

MISSING = "needs MuJoCo to read MJCF; install it by `pip install impulsar[mjcf]`"
WAIT = 180  # [s] of wall time
LARGEST_ANSWER = 512 * 2**20  # bytes of JSON


def read_mjcf(root: Element, folder: Path | None, options: Options, data: bytes, name: str) -> Model:
    """The model of a <mujoco>."""
    allowed = None if folder is None else Path(options.assets) if options.assets else folder
    Scan(root, folder, allowed)
    path = "-" if folder is None or not name else str((folder / name).resolve())
    return Reader(compile_apart(path, data), options).model()


def compile_apart(path: str, data: bytes) -> dict[str, Any]:
    """What MuJoCo makes of a file, in a process with limits; raises FileError."""
    command = [sys.executable, "-P", str(Path(mjcf_child.__file__)), path]
    with tempfile.TemporaryDirectory() as empty:  # MuJoCo writes a log where it is
        try:
            done = subprocess.run(command, input=data, capture_output=True, timeout=WAIT, cwd=empty, check=False)
        except subprocess.TimeoutExpired as error:
            raise FileError(f"takes MuJoCo more than {WAIT} s to compile; make it smaller") from error
    if len(done.stdout) > LARGEST_ANSWER:
        raise FileError("is too large when it is compiled; make it smaller")
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        told = f"more than {mjcf_child.MOST_SECONDS} s of time or {mjcf_child.MOST_MEMORY // 2**20} MiB, or it crashed"
        raise FileError(f"could not be compiled by MuJoCo: it took {told} (status {done.returncode})") from error
    if "missing" in found:
        raise FileError(MISSING)
    if "refusal" in found:
        line = re.search(r"\bline (\d+)", found["refusal"])
        place = f"line {line[1]}: " if line else ""
        raise FileError(f"{place}MuJoCo refuses it: {found['refusal'].removeprefix('Error: ')}")
    return found


def turned(wxyz: list[float]) -> np.ndarray:
    """R of MuJoCo's quaternion, wxyz."""
    w, x, y, z = wxyz
    q = np.array([x, y, z, w])
    return rotation_matrix(q / np.linalg.norm(q))


class Reader:
    """One compiled file on its way."""

    def __init__(self, found: dict[str, Any], options: Options):
        self.f, self.options = found, options
        self.report = ImportReport(format="MJCF")
        self.draft = Draft((found["name"] or "mujoco").strip()[:100] or "mujoco")
        self.draft.gravity = np.zeros(3) if found["gravity_off"] else np.array(found["gravity"])
        self.bodies = self._names("body")
        self.bodies[0] = GROUND
        self.joints = self._names("joint")
        self.bonds: dict[int, Bond] = {}  # by number of joint
        self.controls: list[float] = []  # of a key frame, by actuator

    def _names(self, kind: str) -> list[str]:
        """Names, made up where there are none."""
        given = self.f["names"][kind]
        taken = set(given)
        found = []
        for k, name in enumerate(given):
            new = name or f"{kind} {k}"
            while not name and new in taken:
                new += "'"
            taken.add(new)
            found.append(new)
        return found

    def line(self, kind: str, k: int) -> int:
        found = re.search(r"\d+", self.f["lines"][kind].get(str(k), ""))
        return int(found[0]) if found else 0

    def model(self) -> Model:
        q = self._start()
        for k in range(1, len(self.bodies)):
            self._body(k, q)
        self._shapes()
        for k in range(len(self.f["eq_type"])):
            self._equality(k)
        for k in range(len(self.f["actuator_trntype"])):
            self._actuator(k)
        self._sites()
        self._rest()
        return finish(self.draft, self.report, self.options, "floating")

    def _start(self) -> list[float]:
        """qpos at the start: the file's own, or a key frame's."""
        names, key = self.f["names"]["key"], self.options.key
        if key is None:
            for k, name in enumerate(names):
                told = f"give key={name or k!r} to start there" if name else f"give key={k} to start there"
                self.report.add("ignored", f"key '{name or k}'", told, self.line("key", k))
            return self.f["qpos0"]
        k = names.index(key) if key in names else key if isinstance(key, int) and not isinstance(key, bool) else -1
        if not 0 <= k < len(names):
            known = ", ".join(repr(name or number) for number, name in enumerate(names)) or "none"
            raise FileError(f"key is {key!r:.60}, expected one of: {known}")
        self.controls = self.f["key_ctrl"][k]
        return self.f["key_qpos"][k]

    def _body(self, k: int, q: list[float]) -> None:
        f, name, line = self.f, self.bodies[k], self.line("body", k)
        R = turned(f["body_iquat"][k])
        inertia = (R * np.array(f["body_inertia"][k])) @ R.T
        self.draft.links[name] = Link(name, line, f["body_mass"][k], np.array(f["body_ipos"][k]), inertia)
        parent = self.bodies[f["body_parentid"][k]]
        X = Pose(np.array(f["body_pos"][k]), turned(f["body_quat"][k]))
        if f["body_gravcomp"][k]:
            told = f"gravcomp {f['body_gravcomp'][k]:g}: no force holds it against gravity here"
            self.report.add("ignored", f"body '{name}'", told, line)
        if f["body_mocapid"][k] >= 0:
            self.report.add("changed", f"body '{name}'", "is moved from outside (mocap): held here", line)
        first, count = f["body_jntadr"][k], f["body_jntnum"][k]
        if not count:
            weld = f"{name} weld"
            self.draft.bonds[weld] = Bond(weld, line, "fixed", parent, name, X, still(), role="body")
        for i, j in enumerate(range(first, first + count)):
            second = name
            if i < count - 1:
                second = f"{name} carrier {i + 1}"
                self.draft.links[second] = Link(second, line, called=f"body '{name}'")
            self._joint(j, parent, second, X, q)
            parent, X = second, still()

    def _joint(self, j: int, first: str, second: str, X: Pose, q: list[float]) -> None:
        f, name, line = self.f, self.joints[j], self.line("joint", j)
        kind = {"mjJNT_FREE": "free", "mjJNT_BALL": "spherical", "mjJNT_SLIDE": "prismatic", "mjJNT_HINGE": "revolute"}[
            f["joints"][str(f["jnt_type"][j])]
        ]
        at, dof, anchor = f["jnt_qposadr"][j], f["jnt_dofadr"][j], np.array(f["jnt_pos"][j])
        if kind == "free":
            F = M = still()
            start: dict[str, Any] = dict(zip("xyz", q[at : at + 3], strict=True)) | {
                "rotation": turned(q[at + 3 : at + 7])
            }
        elif kind == "spherical":
            F, M = X @ Pose(anchor, np.eye(3)), Pose(anchor, np.eye(3))
            start = {"rotation": turned(q[at : at + 4])}
        else:
            axis, zero = np.array(f["jnt_axis"][j]), f["qpos0"][at]
            J = Pose(anchor, along(axis / np.linalg.norm(axis)))
            shift = Pose(np.zeros(3), turn(2, zero)) if kind == "revolute" else Pose(np.array([0, 0, zero]), np.eye(3))
            F, M = X @ J, J @ shift
            start = {"angle" if kind == "revolute" else "slide": q[at]}
        bond = Bond(name, line, kind, first, second, F, M, q=start)
        bond.sources = {group.name: name for group in CATALOGUE[kind].groups}
        for group in bond.sources:
            bond.features[group] = self._features(j, dof, at, kind)
        self._note_joint(j, dof, kind, name, line)
        self.draft.bonds[name] = self.bonds[j] = bond

    def _features(self, j: int, dof: int, at: int, kind: str) -> dict[str, Any]:
        f = self.f
        found: dict[str, Any] = {
            "viscous": f["dof_damping"][dof] or None,
            "friction": f["dof_frictionloss"][dof] or None,
            "armature": f["dof_armature"][dof] or None,
        }
        if kind in ("revolute", "prismatic"):
            low, high = f["jnt_range"][j]
            if f["jnt_limited"][j] and low < high:
                found["limits"] = (low, high)
            elif f["jnt_limited"][j]:
                told = f"limits {low:g} to {high:g} leave no range: taken as none"
                self.report.add("changed", f"joint '{self.joints[j]}'", told, self.line("joint", j))
            found["rest"] = (f["qpos_spring"][at] or None) if f["jnt_stiffness"][j] else None
        if kind != "free":
            found["stiffness"] = f["jnt_stiffness"][j] or None
        return found

    def _note_joint(self, j: int, dof: int, kind: str, name: str, line: int) -> None:
        f, owner = self.f, f"joint '{name}'"
        if kind == "spherical" and f["jnt_limited"][j]:
            self.report.add(
                "ignored", owner, "a limit of the whole angle of a ball; give limits of swing and twist", line
            )
        if kind == "free" and f["jnt_stiffness"][j]:
            self.report.add("ignored", owner, f"stiffness {f['jnt_stiffness'][j]:g} of a free joint", line)
        for what, array, k in (("stiffness", "jnt_stiffnesspoly", j), ("damping", "dof_dampingpoly", dof)):
            if any(f.get(array, [[0.0]] * (k + 1))[k]):
                self.report.add("ignored", owner, f"{what} beyond the linear term", line)

    # what closes loops -----------------------------------------------------------------------------

    def _equality(self, k: int) -> None:
        f, line = self.f, self.line("equality", k)
        kind = f["equalities"][str(f["eq_type"][k])].removeprefix("mjEQ_").lower()
        name = f["names"]["equality"][k] or f"{kind} {k}"
        owner = f"equality '{name}'"
        if not f["eq_active0"][k]:
            self.report.add("ignored", owner, "is not active at the start", line)
        elif kind in ("connect", "weld"):
            self._close(k, kind, name, line)
            self.report.add("changed", owner, "holds rigidly here, softly there (solref, solimp)", line)
        elif kind == "joint":
            self._couple(k, name, owner, line)
        else:
            self.report.add("ignored", owner, f"equality of a {kind} has no counterpart", line)

    def _close(self, k: int, kind: str, name: str, line: int) -> None:
        f = self.f
        a, b, data = f["eq_obj1id"][k], f["eq_obj2id"][k], np.array(f["eq_data"][k])
        if f["eq_objtype"][k] == f["is_site"]:
            sites = [Pose(np.array(f["site_pos"][s]), turned(f["site_quat"][s])) for s in (a, b)]
            F, M = sites
            a, b = f["site_bodyid"][a], f["site_bodyid"][b]
        elif kind == "connect":
            F, M = Pose(data[0:3], np.eye(3)), Pose(data[3:6], np.eye(3))
        else:
            F, M = Pose(data[3:6], turned(data[6:10].tolist())), still()
        b = max(b, 0)
        type = "spherical" if kind == "connect" else "fixed"
        while name in self.draft.bonds:
            name += "'"
        bond = Bond(name, line, type, self.bodies[a], self.bodies[b], F, M, loop=True, role="equality")
        if bond.second == GROUND:
            bond.first, bond.second, bond.F, bond.M = GROUND, bond.first, M, F
        bond.sources = {group.name: name for group in CATALOGUE[type].groups}
        self.draft.bonds[name] = bond

    def _couple(self, k: int, name: str, owner: str, line: int) -> None:
        """q₁ - q₁⁰ = c₀ + c₁ (q₂ - q₂⁰)."""
        f = self.f
        one, two, data = f["eq_obj1id"][k], f["eq_obj2id"][k], f["eq_data"][k]
        if two < 0:
            self.report.add("ignored", owner, "holds one joint where it is: make that fixed", line)
            return
        if any(data[2:5]) or not data[1]:
            self.report.add(
                "ignored", owner, f"couples by the polynomial {data[:5]}; a line with a slope is taken", line
            )
            return
        zero_one, zero_two = (f["qpos0"][f["jnt_qposadr"][j]] for j in (one, two))
        offset = data[0] + zero_one - data[1] * zero_two
        self.draft.ties.append(Tie(name, line, self.joints[two], self.joints[one], data[1], offset))
        self.report.add("changed", owner, "holds rigidly here, softly there (solref, solimp)", line)

    # what drives, and what is drawn ----------------------------------------------------------------

    def _actuator(self, k: int) -> None:
        """Motors and servos of a joint become motors at the file's control signals; others are listed."""
        f, line = self.f, self.line("actuator", k)
        name = f["names"]["actuator"][k] or f"actuator {k}"
        owner = f"actuator '{name}'"
        joint = f["actuator_trnid"][k][0]
        bond = self.bonds.get(joint) if f["actuator_trntype"][k] == f["is_joint"] else None
        law = self._law(k)
        group = next(iter(bond.sources)) if bond is not None and len(bond.sources) == 1 else "rotation"
        if bond is None or group == "rotation" or law is None or bond.features[group].get("motor") is not None:
            why = "is no motor or servo of a joint" if law is None or bond is None else "is a second one, or on a ball"
            self.report.add("ignored", owner, f"{why}; drive the joint by a controller", line)
            return
        what, gains, gain = law
        gear, signal = f["actuator_gear"][k][0], self.controls[k] if self.controls else 0.0
        most = math.inf
        if f["actuator_ctrllimited"][k]:
            low, high = f["actuator_ctrlrange"][k]
            signal = min(max(signal, low), high)
            if what == "torque":
                most = abs(gain) * max(abs(low), abs(high))
            else:
                self.report.add("ignored", owner, f"ctrlrange {low:g} to {high:g} of its {what}", line)
        bounds = [f["actuator_forcerange"][k]] if f["actuator_forcelimited"][k] else []
        if f["jnt_actfrclimited"][joint]:
            bounds.append([bound / abs(gear) for bound in f["jnt_actfrcrange"][joint]])
        for low, high in bounds:
            most = min(most, max(abs(low), abs(high)))
            if low != -high:
                told = f"forces from {low:g} to {high:g} of the motor: here as much to both sides"
                self.report.add("changed", owner, told, line)
        bond.features[group]["motor"] = Motor(**{what: gain * signal if what == "torque" else signal}, **gains,
                                              max_torque=most, gear=gear)  # fmt: skip
        if what == "torque" and gain != 1.0:
            told = f"its torque is {gain:g} times the control signal; here a motor takes the torque itself"
            self.report.add("changed", owner, told, line)

    def _law(self, k: int) -> tuple[str, dict[str, float], float] | None:
        """What an actuator without states drives, its gains, and the gain of its signal; None of another law.

        force = gain · signal + b₀ + b₁ · gear · q + b₂ · gear · q̇
        """
        f = self.f
        if f["actuator_dyntype"][k] or f["actuator_gaintype"][k] or f["actuator_biastype"][k] not in (0, 1):
            return None
        gain = f["actuator_gainprm"][k][0]
        b0, b1, b2 = f["actuator_biasprm"][k][:3] if f["actuator_biastype"][k] else (0.0, 0.0, 0.0)
        if not f["actuator_gear"][k][0]:
            return None
        if not (b0 or b1 or b2):
            return "torque", {}, gain
        if b0 == 0.0 and b1 == -gain and gain > 0.0 and b2 <= 0.0:
            return "position", {"kp": gain, "kv": -b2}, gain
        if b0 == 0.0 and b1 == 0.0 and b2 == -gain and gain > 0.0:
            return "speed", {"kv": gain}, gain
        return None

    def _shapes(self) -> None:
        f = self.f
        bare: dict[int, bool] = {}
        touching = 0
        for k, body in enumerate(f["geom_bodyid"]):
            is_picture = not (f["geom_contype"][k] or f["geom_conaffinity"][k])
            bare[body] = bare.get(body, False) or is_picture
            touching += not is_picture
        if touching:
            self.report.add("ignored", "<geom>", f"{touching} that touch: give bodies a material for contact")
        for k, body in enumerate(f["geom_bodyid"]):
            if bare[body] and (f["geom_contype"][k] or f["geom_conaffinity"][k]):
                continue
            shape = self._shape(k)
            if shape is None:
                continue
            X = Pose(np.array(f["geom_pos"][k]), turned(f["geom_quat"][k]))
            if body == 0:
                self.draft.ground_shapes.append(placed(shape, X))
                continue
            link = self.draft.links[self.bodies[body]]
            link.colour = link.colour or hex_colour(np.array(f["geom_rgba"][k]))
            link.shapes.append(placed(shape, X))

    def _shape(self, k: int) -> Shape | None:
        f = self.f
        kind = f["geoms"].get(str(f["geom_type"][k]), "").removeprefix("mjGEOM_").lower()
        size, body = f["geom_size"][k], f["geom_bodyid"][k]
        owner = f"geom '{f['names']['geom'][k] or k}'"
        shape: Shape | None = None
        if kind == "plane" and body == 0:
            return Plane()
        if kind == "mesh":
            if not self.options.meshes:
                return None
            try:
                shape = ConvexHull(few_corners(np.array(f["meshes"][f["geom_dataid"][k]])))
                self.report.add("approximated", owner, "its mesh is drawn as its hull", self.line("geom", k))
                return shape
            except (ModelError, IndexError):
                shape = None
        elif kind in ("box", "sphere"):
            shape = primitive(kind, [2 * s for s in size] if kind == "box" else [size[0]])
        elif kind in ("cylinder", "capsule"):
            shape = primitive(kind, [size[0], 2 * size[1]])
        if shape is None:
            self.report.add(
                "ignored", owner, f"{kind or 'its form'} is no shape that can be drawn", self.line("geom", k)
            )
        return shape

    def _sites(self) -> None:
        for k, name in enumerate(self.f["names"]["site"]):
            body = self.f["site_bodyid"][k]
            if name and body:
                self.draft.probes.append((name, self.bodies[body], np.array(self.f["site_pos"][k])))

    def _rest(self) -> None:
        """What else the file has."""
        f = self.f
        for k, name in enumerate(f["names"]["tendon"]):
            self.report.add("ignored", f"tendon '{name or k}'", "tendons have no counterpart", self.line("tendon", k))
        for kind in ("sensor", "camera", "flex"):
            count = len(f["names"][kind])
            if count:
                self.report.add("ignored", f"<{kind}>", f"{count} of them", self.line(kind, 0))
        if any(f["fluid"]):
            told = f"density, viscosity and wind {f['fluid']}: give the model a fluid"
            self.report.add("ignored", "<option>", told)
