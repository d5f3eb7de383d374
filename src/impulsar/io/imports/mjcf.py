"""MJCF, compiled by MuJoCo in a process of its own: defaults, units, inertias of geoms and anchors are resolved there.

Joints of a body act one after another, the first nearest to the parent; each is at qpos0 where the body is as written:

    X_PB(q) = X_PB · T₁(q₁ - q₁⁰) · T₂(q₂ - q₂⁰) · ...
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.model import Model
from ...author.parts import Motor
from ...author.rotations import quaternion, rotation_matrix, rotation_vectors
from ...author.shapes import ConvexHull, Plane, Shape
from ...author.visuals import Visual
from .apart import read_apart
from .build import Options, finish
from .draft import GROUND, Bond, Draft, Key, Link, Pose, Tie, along, still, turn
from .drawing import few_corners, hex_colour, picture_of, placed, primitive, short_name, triangles_each
from .elements import below
from .mjcf_scan import Scan
from .scan import Element

MISSING = "needs MuJoCo to read MJCF; install it by `pip install impulsar[mjcf]`"
SOFT = {"limit", "frictionloss", "equality"}  # what MuJoCo calls constraints, besides contact
UNREAD = {  # elements that hold something and become nothing
    **dict.fromkeys(("pair", "exclude"), "says which geoms touch; give the model materials, and `no_contact`"),
    **dict.fromkeys(("light", "texture", "skin"), "is not drawn"),
    **dict.fromkeys(("numeric", "text", "tuple", "plugin"), "is not read"),
}
NO_COLOUR = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's own, of a geom that has none


def read_mjcf(root: Element, folder: Path | None, options: Options, data: bytes, name: str) -> Model:
    """The model of a <mujoco>."""
    allowed = None if folder is None else Path(options.assets) if options.assets else folder
    scan = Scan(root, folder, allowed)
    path = "-" if folder is None or not name else str((folder / name).resolve())
    return Reader(compile_apart(path, data), options, scan.roots).model()


def compile_apart(path: str, data: bytes) -> dict[str, Any]:
    """What MuJoCo makes of a file, in a process with limits; raises FileError."""
    found = read_apart("mjcf", "MuJoCo", path, data, MISSING)
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

    def __init__(self, found: dict[str, Any], options: Options, roots: list[tuple[str, Element]]):
        self.f, self.options, self.roots = found, options, roots
        self.off = set(found["off"]) | (SOFT if "constraint" in found["off"] else set())
        self.report = ImportReport(format="MJCF")
        self.draft = Draft((found["name"] or "mujoco").strip()[:100] or "mujoco")
        self.draft.gravity = np.zeros(3) if "gravity" in self.off else np.array(found["gravity"])
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
        for k, name in enumerate(names):
            self.draft.keys.append(Key(name or f"key {k}", self.line("key", k), *self._key(k)))
        if key is None:
            return self.f["qpos0"]
        k = names.index(key) if key in names else key if isinstance(key, int) and not isinstance(key, bool) else -1
        if not 0 <= k < len(names):
            known = ", ".join(repr(name or number) for number, name in enumerate(names)) or "none"
            raise FileError(f"key is {key!r:.60}, expected one of: {known}")
        self.controls = self.f["key_ctrl"][k]
        if any(self.f["key_qvel"][k]):
            told = f"its velocities: the model starts at rest; `world.go_to('{self.draft.keys[k].name}')` has them"
            self.report.add("ignored", f"key '{self.draft.keys[k].name}'", told, self.line("key", k))
        return self.f["key_qpos"][k]

    def _key(self, k: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Coordinates and velocities of a key frame by joint of the file; orientations xyzw, rates along F."""
        f, q, v = self.f, self.f["key_qpos"][k], self.f["key_qvel"][k]
        positions: dict[str, Any] = {}
        velocities: dict[str, Any] = {}
        for j, name in enumerate(self.joints):
            at, dof = f["jnt_qposadr"][j], f["jnt_dofadr"][j]
            kind = f["joints"][str(f["jnt_type"][j])]
            if kind in ("mjJNT_FREE", "mjJNT_BALL"):
                skip = 3 if kind == "mjJNT_FREE" else 0
                R = turned(q[at + skip : at + skip + 4])
                positions[name] = [*q[at : at + skip], *rotation_vectors(quaternion(R)).tolist()]
                velocities[name] = [*v[dof : dof + skip], *(R @ v[dof + skip : dof + skip + 3]).tolist()]
            else:
                positions[name], velocities[name] = q[at], v[dof]
        return positions, velocities

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
            "viscous": None if "damper" in self.off else f["dof_damping"][dof] or None,
            "friction": None if "frictionloss" in self.off else f["dof_frictionloss"][dof] or None,
            "armature": f["dof_armature"][dof] or None,
        }
        if kind in ("revolute", "prismatic"):
            low, high = f["jnt_range"][j]
            is_limited = f["jnt_limited"][j] and "limit" not in self.off
            if is_limited and low < high:
                found["limits"] = (low, high)
            elif is_limited:
                told = f"limits {low:g} to {high:g} leave no range: taken as none"
                self.report.add("changed", f"joint '{self.joints[j]}'", told, self.line("joint", j))
            found["rest"] = (f["qpos_spring"][at] or None) if f["jnt_stiffness"][j] else None
        if kind != "free" and "spring" not in self.off:
            found["stiffness"] = f["jnt_stiffness"][j] or None
        return found

    def _note_joint(self, j: int, dof: int, kind: str, name: str, line: int) -> None:
        f, owner = self.f, f"joint '{name}'"
        if kind == "spherical" and f["jnt_limited"][j]:
            self.report.add(
                "ignored", owner, "a limit of the whole angle of a ball; give limits of swing and twist", line
            )
        if np.any(f.get("jnt_springyield", {}) and f["jnt_springyield"][j]):
            self.report.add("ignored", owner, "its spring yields there, and does not here", line)
        if kind == "free" and f["jnt_stiffness"][j] and "spring" not in self.off:
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
        if "equality" in self.off:
            self.report.add("converted", owner, "holds nothing: equalities are off", line)
        elif not f["eq_active0"][k]:
            self.report.add("ignored", owner, "is not active at the start", line)
        elif kind in ("connect", "weld"):
            self._close(k, kind, name, line)
            self.report.add("changed", owner, "holds rigidly here, softly there (solref, solimp)", line)
        elif kind == "joint":
            self._couple(k, name, owner, line)
        elif kind == "tendon":
            self._couple_tendons(k, name, owner, line)
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
            F, M = Pose(data[3:6], turned(data[6:10].tolist())), Pose(data[0:3], np.eye(3))  # M: its anchor
        b = max(b, 0)
        turns = kind == "connect" or data[10] == 0.0  # a weld without torques
        type = "spherical" if turns else "fixed"
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

    def _over(self, tendon: int) -> dict[int, float] | None:
        """Coefficients of a fixed tendon by joint: L = Σ coefficient · q; None of a spatial one."""
        f = self.f
        found: dict[int, float] = {}
        for k in range(f["tendon_adr"][tendon], f["tendon_adr"][tendon] + f["tendon_num"][tendon]):
            if f["wrap_type"][k] != f["wraps_joint"]:
                return None
            joint = f["wrap_objid"][k]
            found[joint] = found.get(joint, 0.0) + f["wrap_prm"][k]
        return found

    def _couple_tendons(self, k: int, name: str, owner: str, line: int) -> None:
        """L₁ - L₁⁰ = c₀ + c₁ (L₂ - L₂⁰) of fixed tendons, solved for its last joint."""
        f, data = self.f, self.f["eq_data"][k]
        ends = [self._over(t) if t >= 0 else {} for t in (f["eq_obj1id"][k], f["eq_obj2id"][k])]
        if None in ends:
            self.report.add("ignored", owner, "equality of a tendon along points has no counterpart", line)
            return
        if any(data[2:5]):
            self.report.add("ignored", owner, f"couples by the polynomial {data[:5]}; a line is taken", line)
            return
        weights: dict[int, float] = {}
        for end, scale in zip(ends, (1.0, -data[1]), strict=True):
            for joint, weight in (end or {}).items():
                weights[joint] = weights.get(joint, 0.0) + scale * weight
        weights = {joint: weight for joint, weight in weights.items() if weight}
        if len(weights) < 2:
            self.report.add("ignored", owner, "holds one joint where it is, or none: make that fixed", line)
            return
        rest = data[0] + sum(weight * f["qpos0"][f["jnt_qposadr"][joint]] for joint, weight in weights.items())
        (first, weight), *others, (last, size) = weights.items()
        more = {self.joints[joint]: -other / size for joint, other in others}
        tie = Tie(name, line, self.joints[first], self.joints[last], -weight / size, rest / size, more)
        self.draft.ties.append(tie)
        self.report.add("changed", owner, "holds rigidly here, softly there (solref, solimp)", line)

    # what drives, and what is drawn ----------------------------------------------------------------

    def _actuator(self, k: int) -> None:
        """Motors and servos of a joint become motors at the file's control signals; others are listed."""
        f, line = self.f, self.line("actuator", k)
        name = f["names"]["actuator"][k] or f"actuator {k}"
        owner = f"actuator '{name}'"
        joint = f["actuator_trnid"][k][0]
        bond = self.bonds.get(joint) if f["actuator_trntype"][k] in f["of_joints"] else None
        self._behind_gear(k, bond, owner, line)
        if "actuation" in self.off or f["actuator_group"][k] in f["groups_off"]:
            self.report.add("converted", owner, "does nothing: actuators are off, or those of its group", line)
            return
        law = self._law(k)
        group = next(iter(bond.sources)) if bond is not None and len(bond.sources) == 1 else "rotation"
        if bond is None or group == "rotation" or law is None or bond.features[group].get("motor") is not None:
            told = f"{self._why_not(k, bond, law)}; drive it by a controller, or by loads"
            self.report.add("ignored", owner, told, line)
            return
        what, gains, gain = law
        gear, signal = f["actuator_gear"][k][0], self.controls[k] if self.controls else 0.0
        most = math.inf
        if f["actuator_ctrllimited"][k]:
            low, high = f["actuator_ctrlrange"][k]
            signal = signal if "clampctrl" in self.off else min(max(signal, low), high)
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

    def _behind_gear(self, k: int, bond: Bond | None, owner: str, line: int) -> None:
        """Armature and damping of an actuator, which the joint feels by the square of the gear; its delay is told."""
        f, gear = self.f, self.f["actuator_gear"][k][0]
        for what, feature in (("armature", "armature"), ("damping", "viscous")):
            value = f.get(f"actuator_{what}", {}) and f[f"actuator_{what}"][k]
            if not value or (what == "damping" and "damper" in self.off):
                continue
            if bond is None or bond.type not in ("revolute", "prismatic"):
                self.report.add("ignored", owner, f"{what} {value:g} of what drives no hinge or slide", line)
                continue
            own = bond.features[next(iter(bond.sources))]
            own[feature] = (own[feature] or 0.0) + gear**2 * value
        if np.any(f.get("actuator_dampingpoly", {}) and f["actuator_dampingpoly"][k]):
            self.report.add("ignored", owner, "damping beyond the linear term", line)
        if f.get("actuator_delay", {}) and f["actuator_delay"][k]:
            self.report.add("ignored", owner, f"delay {f['actuator_delay'][k]:g} s; a controller can have it", line)

    def _why_not(self, k: int, bond: Bond | None, law: Any) -> str:
        """Why an actuator is no motor here."""
        f = self.f
        if bond is None:
            kind = f["transmissions"].get(str(f["actuator_trntype"][k]), "")
            on = {"jointinparent": "ball or free joint", "slidercrank": "slider-crank"}.get(kind, kind) or "thing"
            return f"drives a {on}, no hinge or slide"
        if f["actuator_dyntype"][k]:
            return f"has a state of its own ({f['dynamics'].get(str(f['actuator_dyntype'][k]), 'activation')})"
        return "its force is no motor's or servo's" if law is None else "is a second one, or on a ball"

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
            return "position", {"kp": gain, "kv": -b2 + 0.0}, gain
        if b0 == 0.0 and b1 == 0.0 and b2 == -gain and gain > 0.0:
            return "speed", {"kv": gain}, gain
        return None

    def _shapes(self) -> None:
        """Geoms that touch are shapes, those that MuJoCo shows (groups 0 to 2, not clear) visuals."""
        f = self.f
        touching = [k for k in range(len(f["geom_bodyid"])) if f["geom_contype"][k] or f["geom_conaffinity"][k]]
        if touching:
            self.report.add("ignored", "<geom>", f"{len(touching)} that touch: give bodies a material for contact")
        geoms: dict[int, list[int]] = {}
        for k, body in enumerate(f["geom_bodyid"]):
            geoms.setdefault(body, []).append(k)
        for body, own in geoms.items():
            solid = [k for k in own if k in touching]
            seen = [k for k in own if f["geom_group"][k] < 3 and self._rgba(k)[3] > 0.0]
            colours = [hex_colour(self._rgba(k)) for k in seen]
            if body == 0:
                self.draft.ground_shapes += [shape for k in seen or solid if (shape := self._shape(k)) is not None]
                continue
            link = self.draft.links[self.bodies[body]]
            link.colour = colours[0] if colours else None
            link.shapes = [shape for k in solid if (shape := self._shape(k)) is not None]
            if solid and seen == solid and len(set(colours)) == 1 and not any(self._is_mesh(k) for k in seen):
                continue  # what touches is what is seen
            for k, colour in zip(seen, colours, strict=True):
                shape = self._shape(k, is_picture=True)
                if shape is not None:
                    link.visuals.append(Visual(shape, colour, short_name(f["names"]["geom"][k])))

    def _rgba(self, k: int) -> np.ndarray:
        """Colour of a geom: its own, or its material's where it has none."""
        f, own = self.f, np.array(self.f["geom_rgba"][k])
        material = f["geom_matid"][k]
        return np.array(f["mat_rgba"][material]) if material >= 0 and np.allclose(own, NO_COLOUR) else own

    def _is_mesh(self, k: int) -> bool:
        return self.f["geoms"].get(str(self.f["geom_type"][k]), "") == "mjGEOM_MESH"

    def _shape(self, k: int, is_picture: bool = False) -> Shape | None:
        """A geom's shape in its body's frame; of a mesh the hull, or the picture; None and a note where it has none."""
        shape, f = self._form(k, is_picture), self.f
        if shape is None:
            return None
        return placed(shape, Pose(np.array(f["geom_pos"][k]), turned(f["geom_quat"][k])))

    def _form(self, k: int, is_picture: bool) -> Shape | None:
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
                most = triangles_each(sum(map(self._is_mesh, range(len(f["geom_type"])))))
                picture = f["pictures"].get(str(f["geom_dataid"][k])) if is_picture else None
                if picture is not None:
                    shape, told = picture_of(np.array(picture[0]), np.array(picture[1]), most)
                else:
                    shape = ConvexHull(few_corners(np.array(f["meshes"][f["geom_dataid"][k]])))
                    told = "is taken as its hull"
                if told:
                    self.report.add("approximated", owner, f"its mesh {told}", self.line("geom", k))
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
        self._tell_tendons()
        for kind in ("sensor", "camera", "flex"):
            count = len(f["names"][kind])
            if count:
                self.report.add("ignored", f"<{kind}>", f"{count} of them", self.line(kind, 0))
        self._tell_flags()
        for tag, told in UNREAD.items():
            lines = [element.line for name, root in self.roots if not name for element in below(root, tag)]
            count = sum(len(below(root, tag)) for _, root in self.roots)
            if count:
                times = f" ({count} times)" if count > 1 else ""
                self.report.add("ignored", f"<{tag}>", f"{told}{times}", min(lines, default=0))
        if any(f["fluid"]):
            told = f"density, viscosity and wind {f['fluid']}: give the model a fluid"
            self.report.add("ignored", "<option>", told)

    def _tell_tendons(self) -> None:
        """What tendons do beside what equalities hold."""
        f = self.f
        for k, name in enumerate(f["names"]["tendon"]):
            told = "a tendon along points has no counterpart"
            if self._over(k) is not None:
                acts = [
                    what
                    for what, value in (
                        ("limits", f["tendon_limited"][k]),
                        *((own, f[f"tendon_{own}"][k]) for own in ("stiffness", "damping", "frictionloss")),
                        ("armature", f.get("tendon_armature", {}) and f["tendon_armature"][k]),
                    )
                    if np.any(value)
                ]
                told = f"a tendon over joints acts by equalities alone; without its {', '.join(acts)}" if acts else ""
            if told:
                self.report.add("ignored", f"tendon '{name or k}'", told, self.line("tendon", k))

    def _tell_flags(self) -> None:
        """What is off that the file has."""
        f = self.f
        used = {
            "limit": any(f["jnt_limited"]), "frictionloss": any(f["dof_frictionloss"]), "damper": any(f["dof_damping"]),
            "spring": any(f["jnt_stiffness"]), "gravity": any(f["gravity"]),
        }  # fmt: skip
        for what in sorted(self.off & {name for name, is_used in used.items() if is_used}):
            self.report.add("converted", "<flag>", f"{what} is off: the model has none")
