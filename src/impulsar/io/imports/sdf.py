"""SDF 1.3 to 1.12: one model of links and joints, loops among them, all poses given.

Poses of links are in the model's frame unless `relative_to` (or `frame`) names another; that of a joint is in its
child's. All joints are at zero where the file has the links, so that a loop closes by construction. An axis is along
the joint's frame, before 1.5 or with `use_parent_model_frame` along the model's, or along what `expressed_in` names.
"""

import math
import re
from pathlib import Path

import numpy as np

from ...author.errors import ModelError
from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.model import Model
from ...author.rotations import rotation_matrix
from ...author.shapes import Shape
from ...author.visuals import Visual
from .build import Options, finish, limits_of
from .draft import GROUND, Bond, Draft, Link, Pose, Tie, along, rpy, still
from .drawing import NO_SHAPE, NO_SIZE, SIZED, Meshes, hex_colour, placed, primitive, short_name, touching
from .elements import Unread, below, name_of
from .scan import Element, child_number, numbers

TYPES = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed", "ball": "spherical",
    "universal": "universal", "screw": "screw",
}  # fmt: skip
OF_MODEL = ("link", "joint", "frame", "pose", "static", "self_collide", "enable_wind", "allow_auto_disable")
OF_LINK = ("pose", "inertial", "visual", "collision", "self_collide", "kinematic", "must_be_base_link", "gravity")
OF_JOINT = ("pose", "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "gearbox_ratio",
            "gearbox_reference_body")  # fmt: skip


def read_sdf(root: Element, folder: Path | None, options: Options) -> Model:
    """The model of an <sdf>."""
    return Reader(root, folder, options).model()


class Reader:
    """One file on its way."""

    def __init__(self, root: Element, folder: Path | None, options: Options):
        self.root, self.options = root, options
        self.report = ImportReport(format="SDF")
        self.unread = Unread()
        self.collisions: list[int] = []
        found = re.fullmatch(r"(\d{1,3})\.(\d{1,3})", root.get("version").strip())
        if found is None:
            raise root.wrong(f"version of <sdf> is {root.get('version')[:20]!r}, expected one such as '1.6'")
        self.version = (int(found[1]), int(found[2]))
        world = root.find("world")
        holder = root if world is None else world
        models = holder.all("model")
        if len(models) != 1:
            told = "none; give one" if not models else f"{len(models)}; divide the file"
            raise holder.wrong(f"<{holder.tag}> has {told}: one <model> is read")
        self.element = models[0]
        self.meshes = Meshes(folder, self.report, options.meshes, self.element)
        self.meshes.fetch([uri.text.strip() for mesh in below(root, "mesh") for uri in mesh.all("uri")])
        self.draft = Draft(name_of(self.element, "model", {})[:100])
        if world is not None:
            self._world(world)
        self.poses: dict[str, tuple[Element, Element | None, str]] = {}  # by frame: element, pose, default frame
        self.known: dict[str, Pose] = {"__model__": still(), "": still()}
        self.gears: list[tuple[Element, str]] = []

    def _world(self, world: Element) -> None:
        self.unread.check(world, ("model", "gravity"))
        gravity = world.find("gravity")
        if gravity is not None and gravity.text.strip():
            self.draft.gravity = numbers(gravity, "world", "gravity", gravity.text, 3)

    def model(self) -> Model:
        element, draft = self.element, self.draft
        self.unread.check(self.root, ("model", "world"))
        self.unread.check(element, OF_MODEL)
        for child in element.all("link"):
            name = name_of(child, "link", self.poses)
            self.poses[name] = (child, child.find("pose"), "")
            draft.links[name] = Link(name, child.line)
        if not draft.links:
            raise element.wrong(f"model '{draft.name}': has no <link>; give it one")
        for child in element.all("frame"):
            name = name_of(child, "frame", self.poses)
            self.poses[name] = (child, child.find("pose"), child.get("attached_to"))
        joints: dict[str, Element] = {}
        for child in element.all("joint"):
            name = name_of(child, "joint", joints)
            joints[name] = child
            if name not in self.poses:
                self.poses[name] = (child, child.find("pose"), self._end(child, "child", f"joint '{name}'"))
        for name in draft.links:
            self._link(draft.links[name])
        for name, child in joints.items():
            self._joint(name, child)
        self._gearboxes()
        if self.collisions:
            told = f"{touching(len(self.collisions))}: give bodies a material for contact"
            self.report.add("ignored", "<collision>", told, self.collisions[0])
        self.unread.tell(self.report)
        pose = element.find("pose")
        X = still() if pose is None else self._pose(pose, f"model '{draft.name}'")
        draft.roots = {name: X @ self._place(name, 0) for name in draft.links}
        for bond in draft.bonds.values():
            if bond.first == GROUND:
                bond.F = X @ bond.F
        static = element.find("static")
        is_static = static is not None and static.text.strip() in ("1", "true")
        return finish(draft, self.report, self.options, "fixed" if is_static else "floating")

    # frames ----------------------------------------------------------------------------------------

    def _place(self, name: str, depth: int) -> Pose:
        """X_ML of a link, joint or frame in the model's frame."""
        if name not in self.known:
            element, pose, default = self.poses[name]
            owner = f"{element.tag} '{name}'"
            if depth > 50:
                raise element.wrong(f"{owner}: its pose is relative to itself through others; break the ring")
            base = default
            if pose is not None:
                base = (pose.get("relative_to") or pose.get("frame") or default).strip()
            if base == "world":
                base = ""
            if base and base not in self.poses and base not in self.known:
                raise element.wrong(f"{owner}: its pose is relative to {base[:60]!r}, which there is not; correct it")
            X = still() if pose is None else self._pose(pose, owner)
            self.known[name] = self._place(base, depth + 1) @ X if base else X
        return self.known[name]

    def _pose(self, pose: Element, owner: str) -> Pose:
        text = pose.text.strip() or "0 0 0 0 0 0"
        if pose.get("rotation_format") == "quat_xyzw":
            values = numbers(pose, owner, "pose", text, 7)
            norm = float(np.linalg.norm(values[3:]))
            if abs(norm - 1.0) > 1e-3:
                raise pose.wrong(f"{owner}: its quaternion has norm {norm:.6g}, expected 1")
            return Pose(values[:3], rotation_matrix(values[3:] / norm))
        values = numbers(pose, owner, "pose", text, 6)
        if (np.abs(values[3:]) > 1e6).any():
            raise pose.wrong(f"{owner}: pose is {text[:60]!r}, with angles beyond any [rad]")
        angles = np.radians(values[3:]) if pose.get("degrees") in ("true", "1") else values[3:]
        return Pose(values[:3], rpy(angles))

    # links -----------------------------------------------------------------------------------------

    def _link(self, link: Link) -> None:
        element, owner = self.poses[link.name][0], f"link '{link.name}'"
        self._place(link.name, 0)
        self.unread.check(element, OF_LINK)
        gravity = element.find("gravity")
        if gravity is not None and gravity.text.strip() in ("0", "false"):
            self.report.add("ignored", owner, "is without gravity; here gravity acts on all", gravity.line)
        inertial = element.find("inertial")
        if inertial is None and link.name == "world" and not self._is_child("world"):
            X = self._place("world", 0)  # it has the name of what the format calls so from 1.7 on
            self.draft.bonds["\0world"] = Bond(
                "\0world", element.line, "fixed", GROUND, "world", X, still(), called="its name"
            )
            self.report.add("changed", owner, "has no <inertial> and the world's name: held", element.line)
        elif inertial is None:
            link.mass, link.inertia = 1.0, np.eye(3)  # the format's own defaults
            self.report.add("approximated", owner, "has no <inertial>: 1 kg and 1 kg m², as SDF has it", element.line)
        else:
            self._inertial(inertial, link, owner)
        visuals, collisions = element.all("visual"), element.all("collision")
        self.collisions += [child.line for child in collisions]
        link.shapes = [shape for child in collisions if (shape := self._shape(child, owner)) is not None]
        for child in visuals:
            diffuse, colour = (child.find("material") or child).find("diffuse"), None
            if diffuse is not None and len(diffuse.text.split()) in (3, 4):
                text = diffuse.text
                colour = hex_colour(numbers(diffuse, owner, "diffuse", text, len(text.split())))
            link.colour = link.colour or colour
            shape = self._shape(child, owner)
            if shape is not None:
                link.visuals.append(Visual(shape, colour, short_name(child.get("name", ""))))

    def _is_child(self, name: str) -> bool:
        """Whether a link hangs on a joint."""
        ends = [child.find("child") for child in self.element.all("joint")]
        return any(end is not None and end.text.strip() == name for end in ends)

    def _inertial(self, element: Element, link: Link, owner: str) -> None:
        pose = element.find("pose")
        X = still() if pose is None else self._pose(pose, owner)
        link.mass = child_number(element, owner, "mass", 1.0)
        if not 0.0 <= link.mass < math.inf:
            raise element.wrong(f"{owner}: mass is {link.mass:g} kg, expected one >= 0")
        inertia = element.find("inertia")
        xx, yy, zz = (child_number(inertia, owner, what, 1.0) for what in ("ixx", "iyy", "izz"))
        xy, xz, yz = (child_number(inertia, owner, what, 0.0) for what in ("ixy", "ixz", "iyz"))
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not np.isfinite(tensor).all():
            raise element.wrong(f"{owner}: its inertia is not finite; correct it")
        link.p_LB, link.inertia = X.p, X.R @ tensor @ X.R.T

    def _shape(self, element: Element, owner: str) -> Shape | None:
        geometry = element.find("geometry")
        form = geometry.children[0] if geometry is not None and geometry.children else None
        if form is None:
            self.report.add("ignored", owner, f"<{element.tag}> without geometry", element.line)
            return None
        pose = element.find("pose")
        X = still() if pose is None else self._pose(pose, owner)
        if form.tag == "mesh":
            uri, scale = form.find("uri"), form.find("scale")
            factor = np.ones(3) if scale is None else numbers(scale, owner, "scale", scale.text, 3)
            read = self.meshes.picture if element.tag == "visual" else self.meshes.hull
            found = read("" if uri is None else uri.text.strip(), factor, owner, form.line)
            return None if found is None else placed(found, X)
        if form.tag in SIZED:
            size = form.find("size")
            if form.tag == "box":
                sizes = [] if size is None else numbers(size, owner, "size", size.text, 3).tolist()
            else:
                names = ("radius",) if form.tag == "sphere" else ("radius", "length")
                sizes = [child_number(form, owner, name, 0.0) for name in names]
            shape = primitive(form.tag, sizes)
            if shape is not None:
                return placed(shape, X)
        self.report.add("ignored", owner, f"<{form.tag[:40]}> {NO_SIZE if form.tag in SIZED else NO_SHAPE}", form.line)
        return None

    # joints ----------------------------------------------------------------------------------------

    def _end(self, element: Element, tag: str, owner: str) -> str:
        end = element.find(tag)
        name = "" if end is None else (end.text.strip() or end.get("link").strip())
        if name not in self.draft.links and not (tag == "parent" and name == "world"):
            if name in self.poses:
                raise element.wrong(f"{owner}: its {tag} is the frame '{name}', which is not read; name its link")
            raise element.wrong(f"{owner}: its {tag} is {name[:60]!r}, but there is no link of that name; correct it")
        return name if name in self.draft.links else GROUND

    def _joint(self, name: str, element: Element) -> None:
        owner = f"joint '{name}'"
        kind = element.get("type").strip()
        self.unread.check(element, OF_JOINT)
        parent, child = self._end(element, "parent", owner), self._end(element, "child", owner)
        if parent == child:
            raise element.wrong(f"{owner}: joins link '{child}' to itself; give two links")
        if kind == "gearbox":
            self.gears.append((element, owner))
            return
        if kind not in TYPES:
            raise element.wrong(f"{owner}: type is {kind[:40]!r}, expected one of {', '.join(TYPES)}, gearbox")
        type = TYPES[kind]
        X_MJ = self._joint_frame(name, element, child)
        R = np.eye(3)
        axes = [self._axis(element, tag, X_MJ, owner) for tag in ("axis", "axis2")]
        if CATALOGUE[type].has_axis:
            z = axes[0]
            R = along(z)
            if type == "universal":
                if abs(z @ axes[1]) > 1e-6:
                    raise element.wrong(f"{owner}: its axes are not perpendicular, as a universal joint's are")
                x = axes[1] - (axes[1] @ z) * z
                x /= np.linalg.norm(x)
                R = np.column_stack([x, np.cross(z, x), z])
        X = Pose(X_MJ.p, R)
        F = X if parent == GROUND else self.known[parent].inverse() @ X
        bond = Bond(name, element.line, type, parent, child, F, self.known[child].inverse() @ X)
        bond.sources = {group.name: name for group in CATALOGUE[type].groups}
        if type == "universal":
            bond.sources = {"first": name, "second": f"{name}.axis2"}
        if type == "screw":
            pitch = child_number(element, owner, "screw_thread_pitch", math.nan)  # m per turn, from 1.10 on
            old = child_number(element, owner, "thread_pitch", math.nan)  # turns per m with the other sign
            bond.pitch = pitch / (2 * math.pi) if not math.isnan(pitch) else -1.0 / old if old else math.nan
            if not math.isfinite(bond.pitch):
                raise element.wrong(f"{owner}: a screw without thread pitch; give <screw_thread_pitch>")
        for k, group in enumerate(bond.sources):
            bond.features[group] = self._features(element.find(("axis", "axis2")[k]), owner, group)
        self.draft.bonds[name] = bond

    def _joint_frame(self, name: str, element: Element, child: str) -> Pose:
        """X_MJ, in the child's frame unless it says otherwise; a link of the same name has no part in it."""
        if self.poses[name][0] is element:
            return self._place(name, 0)
        pose = element.find("pose")
        return self.known[child] @ (still() if pose is None else self._pose(pose, f"joint '{name}'"))

    def _axis(self, element: Element, tag: str, X_MJ: Pose, owner: str) -> np.ndarray:
        """A unit axis in the model's frame."""
        axis = element.find(tag)
        xyz = None if axis is None else axis.find("xyz")
        z = np.array([0.0, 0.0, 1.0])
        R = X_MJ.R
        if axis is not None and xyz is not None:
            z = numbers(xyz, owner, tag, xyz.text, 3)
            norm = float(np.linalg.norm(z))
            if norm < 1e-12:
                raise xyz.wrong(f"{owner}: its axis is zero; give a direction")
            z = z / norm
            uses = axis.find("use_parent_model_frame")
            frame = xyz.get("expressed_in").strip()
            if frame in ("__model__", "world"):
                R = np.eye(3)
            elif frame:
                if frame not in self.poses:
                    raise xyz.wrong(f"{owner}: axis expressed in {frame[:60]!r}, which there is not; correct it")
                R = self._place(frame, 0).R
            elif (uses is not None and uses.text.strip() in ("1", "true")) or self.version < (1, 5):
                R = np.eye(3)
        return R @ z

    def _features(self, axis: Element | None, owner: str, group: str) -> dict:
        found: dict = {}
        if axis is None:
            return found
        limit, dynamics = axis.find("limit"), axis.find("dynamics")
        lower = child_number(limit, owner, "lower", -math.inf)
        upper = child_number(limit, owner, "upper", math.inf)
        if lower > upper or lower == math.inf or upper == -math.inf:
            raise axis.wrong(f"{owner}: limits are {lower:g} to {upper:g}, expected lower <= upper; swap them?")
        if lower == upper:
            self.report.add("changed", owner, f"limits {lower:g} to {upper:g} leave no range: taken as none", axis.line)
        elif group != "rotation":
            found["limits"] = limits_of(lower, upper)
        for what in ("effort", "velocity"):
            bound = child_number(limit, owner, what, math.inf)
            if math.isfinite(bound) and bound >= 0.0:
                self.report.add("ignored", owner, f"{what} {bound:g} bounds a drive, and the file has none", axis.line)
        values = {
            what: child_number(dynamics, owner, name, 0.0)
            for what, name in (("viscous", "damping"), ("friction", "friction"), ("stiffness", "spring_stiffness"))
        }
        for what, value in values.items():
            if not 0.0 <= value < math.inf:
                raise axis.wrong(f"{owner}: {what} is {value:g}, expected one >= 0")
        found |= {what: value or None for what, value in values.items()}
        if values["stiffness"]:
            found["rest"] = child_number(dynamics, owner, "spring_reference", 0.0) or None
        return found

    def _gearboxes(self) -> None:
        """A gearbox keeps angle of the parent = -ratio · angle of the child, both against a reference body."""
        for element, owner in self.gears:
            ratio = child_number(element, owner, "gearbox_ratio", 1.0)
            reference = element.find("gearbox_reference_body")
            base = "" if reference is None else reference.text.strip()
            ends = [self._hinge_to(base, self._end(element, tag, owner)) for tag in ("parent", "child")]
            if None in ends or not math.isfinite(ratio) or ratio == 0.0:
                raise ModelError(
                    f"line {element.line}: {owner}: couples no two hinges on its reference body '{base[:60]}'; give "
                    "joints from that body to both, or take it away"
                )
            a, b = ends
            name = owner.split("'")[1]
            self.draft.ties.append(Tie(name, element.line, str(b), str(a), -ratio, 0.0))

    def _hinge_to(self, base: str, link: str) -> str | None:
        ends = {base, link}
        bonds = self.draft.bonds.values()
        return next((b.name for b in bonds if {b.first, b.second} == ends and b.type == "revolute"), None)
