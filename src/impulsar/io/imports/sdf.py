"""SDF 1.3 to 1.12: models of links and joints, models within them and what they include, all poses given.

Poses of links are in the model's frame unless `relative_to` (or `frame`) names another; that of a joint is in its
child's. All joints are at zero where the file has the links, so that a loop closes by construction. An axis is along
the joint's frame, before 1.5 or with `use_parent_model_frame` along the model's, or along what `expressed_in` names.
Parts of a model within another, and of those of a world with several, are called as the format has it: "arm::hand".
"""

import math
import re
from pathlib import Path

import numpy as np

from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.model import Model
from ...author.rotations import rotation_matrix
from ...author.shapes import Shape
from ...author.visuals import Visual
from .build import Options, finish, limits_of
from .draft import GROUND, Bond, Draft, Link, Pose, Tie, along, still
from .drawing import NO_SHAPE, NO_SIZE, SIZED, Meshes, hex_colour, placed, primitive, short_name, touching
from .elements import below, name_of, tell_unread
from .merging import add_link
from .scan import Element, child_number, numbers
from .sdf_frames import MOST_NESTED, Frames, Includes, Place, pose_of

TYPES = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed", "ball": "spherical",
    "universal": "universal", "revolute2": "universal", "screw": "screw",
}  # fmt: skip
WATER = 1000.0  # [kg/m³] the format's own density
TRUE, FALSE = ("1", "true"), ("0", "false")
IDLE = ("self_collide", "enable_wind", "allow_auto_disable", "must_be_base_link", "kinematic")  # unless they are true


def read_sdf(root: Element, folder: Path | None, options: Options) -> Model:
    """The model of an <sdf>."""
    return Reader(root, folder, options).model()


def _is(element: Element, tag: str, words: tuple[str, ...]) -> bool:
    """Whether a child element is there and says one of some words."""
    child = element.find(tag)
    return child is not None and child.text.strip() in words


def _version(root: Element) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})\.(\d{1,3})", root.get("version").strip())
    if found is None:
        raise root.wrong(f"version of <sdf> is {root.get('version')[:20]!r}, expected one such as '1.6'")
    return int(found[1]), int(found[2])


class Reader:
    """One file on its way."""

    def __init__(self, root: Element, folder: Path | None, options: Options):
        self.root, self.options = root, options
        self.report = ImportReport(format="SDF")
        self.collisions: list[int] = []
        self.versions = {"": _version(root)}  # by scope
        self.includes = Includes(folder, self.report)
        self.frames = Frames()
        self.held: dict[str, bool] = {}  # by scope: whether its model is static
        self.gears: list[Place] = []
        self.mimics: list[tuple[Element, Place, str]] = []  # whose, and of which coordinate
        world = root.find("world")
        self.holder = root if world is None else world
        models = self._models(self.holder, "")
        if not models:
            raise self.holder.wrong(f"<{self.holder.tag}> has no <model> that can be read{self._why_not()}")
        names = [self._take(model, "") for model in models]
        self.only = f"{names[0]}::" if len(names) == 1 else ""  # that names here are without
        self.draft = Draft(names[0][:100] if self.only else self.holder.get("name").strip()[:100] or "world")
        self.meshes = Meshes(folder, self.report, options.meshes, self.holder)
        self.meshes.fetch([uri.text.strip() for mesh in below(root, "mesh") for uri in mesh.all("uri")])
        if world is not None:
            gravity = world.find("gravity")
            if gravity is not None and gravity.text.strip():
                self.draft.gravity = numbers(gravity, "world", "gravity", gravity.text, 3)
            for child in world.all("frame"):
                self._add(child, "", child.get("attached_to").strip())

    def _models(self, element: Element, scope: str) -> list[Element]:
        """Models of a world or model, those that it includes among them."""
        found = element.all("model")
        for include in element.all("include"):
            read = self.includes.read(include)
            if read is not None:
                model, version = read
                self.versions[f"{scope}{model.get('name').strip()}::"] = _version(Element("sdf", {"version": version},
                                                                                         include.line))  # fmt: skip
                found.append(model)
        return found

    def _why_not(self) -> str:
        """What was not included, or that there is nothing."""
        return "".join(f": {note.part} {note.text}" for note in self.report.notes[:1]) or "; give it one"

    def _add(self, element: Element, scope: str, base: str = "") -> str:
        """Take a link, frame or model of a scope; returns its name."""
        name = name_of(element, element.tag, {})
        if scope + name in self.frames.places:
            raise element.wrong(f"{element.tag} '{scope}{name}': a second one of this name; rename it")
        self.frames.places[scope + name] = Place(element, scope, base)
        return name

    def _take(self, element: Element, above: str) -> str:
        """All frames of a model, and of those within it."""
        name = self._add(element, above)
        scope = f"{above}{name}::"
        element.asked.add("canonical_link")  # it names no more than what a frame without a link is on
        if scope.count("::") > MOST_NESTED:
            raise element.wrong(f"model '{name}': nested more than {MOST_NESTED} deep; no model is")
        self.versions.setdefault(scope, self.versions[above])
        self.held[scope] = _is(element, "static", TRUE) or self.held.get(above, False)
        self._tell_idle(element, f"model '{name}'")
        for child in element.all("link"):
            self._add(child, scope)
        for child in element.all("frame"):
            self._add(child, scope, child.get("attached_to").strip())
        for child in element.all("joint"):
            own = name_of(child, "joint", {})
            if scope + own in self.frames.joints:
                raise child.wrong(f"joint '{own}': a second one of this name; rename it")
            end = child.find("child")
            ends = "" if end is None else (end.text.strip() or end.get("link").strip())
            self.frames.joints[scope + own] = Place(child, scope, ends)
        for child in self._models(element, scope):
            self._take(child, scope)
        return name

    def model(self) -> Model:
        draft, frames = self.draft, self.frames
        for full, place in frames.places.items():
            if place.element.tag == "link":
                name = full.removeprefix(self.only)
                draft.links[name] = Link(name, place.element.line)
        if not draft.links:
            raise self.holder.wrong(f"model '{draft.name}': has no <link>{self._why_not()}")
        for full, place in list(frames.places.items()):
            if place.element.tag == "link":
                self._link(draft.links[full.removeprefix(self.only)], place)
        for full in frames.joints:
            self._joint(full)
        self._gearboxes()
        self._mimics()
        if self.collisions:
            told = f"{touching(len(self.collisions))}: give bodies a material for contact"
            self.report.add("ignored", "<collision>", told, self.collisions[0])
        self._roots()
        tell_unread(self.root, self.report)
        return finish(draft, self.report, self.options, "floating")

    def _called(self, full: str) -> str:
        """What a part is called here."""
        return full.removeprefix(self.only)

    def _is_static(self, scope: str) -> bool:
        return self.held[scope] and self.options.base is None

    def _roots(self) -> None:
        """Where links are that hang on nothing; those of static models are held, frames are probes."""
        draft, frames = self.draft, self.frames
        for scope, is_static in self.held.items():
            if is_static and self.options.base is not None:
                element = frames.places[scope[:-2]].element
                told = f"is static; base='{self.options.base}' lets it move"
                self.report.add("changed", f"model '{element.get('name').strip()}'", told, element.line)
        for full, place in frames.places.items():
            kind, name = place.element.tag, self._called(full)
            X_ML = frames.local(place.scope, full[len(place.scope) :], place)
            if kind == "link":
                X = draft.roots[name] = frames.of_model(place.scope) @ X_ML if place.scope else X_ML
                if self._is_static(place.scope):
                    held = f"\0{name} static"
                    draft.bonds[held] = Bond(held, place.element.line, "fixed", GROUND, name, X, still(),
                                             called="its static model")  # fmt: skip
            elif kind == "frame" and place.scope:
                link = frames.link(place.scope, full[len(place.scope) :])
                if link is not None and link.startswith(place.scope):
                    X = frames.local(place.scope, link[len(place.scope) :], place).inverse() @ X_ML
                    draft.probes.append((name, self._called(link), X.p))

    # links -----------------------------------------------------------------------------------------

    def _link(self, link: Link, place: Place) -> None:
        element, owner = place.element, f"link '{link.name}'"
        if _is(element, "gravity", FALSE):
            self.report.add("ignored", owner, "is without gravity; here gravity acts on all", element.line)
        self._tell_idle(element, owner)
        visuals, collisions = element.all("visual"), element.all("collision")
        self.collisions += [child.line for child in collisions]
        solids = [self._shape(child, owner, place) for child in collisions]
        link.shapes = [shape for shape in solids if shape is not None]
        inertial = element.find("inertial")
        if inertial is None and link.name == "world" and not self._is_child(place.scope, "world"):
            X = self.frames.local(place.scope, "world", place)  # the name of what the format calls so from 1.7 on
            self.draft.bonds["\0world"] = Bond(
                "\0world", element.line, "fixed", GROUND, "world", X, still(), called="its name"
            )
            self.report.add("changed", owner, "has no <inertial> and the world's name: held", element.line)
        elif inertial is None:
            link.mass, link.inertia = 1.0, np.eye(3)  # the format's own defaults
            if not self._is_static(place.scope):
                told = "has no <inertial>: 1 kg and 1 kg m², as SDF has it"
                self.report.add("approximated", owner, told, element.line)
        elif inertial.get("auto") in TRUE:
            self._auto(inertial, link, list(zip(collisions, solids, strict=True)))
        else:
            self._inertial(inertial, link, owner, place)
        for child in visuals:
            diffuse, colour = (child.find("material") or child).find("diffuse"), None
            if diffuse is not None and len(diffuse.text.split()) in (3, 4):
                text = diffuse.text
                colour = hex_colour(numbers(diffuse, owner, "diffuse", text, len(text.split())))
            link.colour = link.colour or colour
            shape = self._shape(child, owner, place)
            if shape is not None:
                link.visuals.append(Visual(shape, colour, short_name(child.get("name", ""))))

    def _is_child(self, scope: str, name: str) -> bool:
        """Whether a link hangs on a joint."""
        return any(place.scope == scope and place.base == name for place in self.frames.joints.values())

    def _tell_idle(self, element: Element, owner: str) -> None:
        for tag in IDLE:
            if _is(element, tag, TRUE):
                self.report.add("ignored", owner, f"<{tag}> has no counterpart", element.line)

    def _auto(self, element: Element, link: Link, solids: list[tuple[Element, Shape | None]]) -> None:
        """Mass and inertia of the collision shapes, by their densities."""
        usual = child_number(element, link.owner, "density", WATER)
        if not solids:
            raise element.wrong(f"{link.owner}: its mass is that of its <collision>, and it has none; give it one")
        for child, shape in solids:
            density = child_number(child, link.owner, "density", usual)
            if shape is None or not 0.0 < density < math.inf:
                raise child.wrong(
                    f"{link.owner}: its mass is to come from a <collision> that has no shape that can be read, or no "
                    "density > 0; give the link its mass and inertia"
                )
            R = rotation_matrix(np.asarray(shape.orientation))
            mass, p = density * shape.volume, np.asarray(shape.offset) + R @ shape.center
            part = Link("", child.line, mass, p, mass * R @ shape.unit_inertia() @ R.T)
            add_link(link, part, still())

    def _inertial(self, element: Element, link: Link, owner: str, place: Place) -> None:
        X = self._inner(element, owner, place)
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

    def _inner(self, element: Element, owner: str, place: Place) -> Pose:
        """X of what a link has, in the link's frame; its pose may be relative to another."""
        pose = element.find("pose")
        name = "" if pose is None else (pose.get("relative_to") or pose.get("frame")).strip()
        X, own = pose_of(pose, owner), place.element.get("name").strip()
        if name in ("", own):
            return X
        X_ML, X_MR = (self.frames.local(place.scope, other, place) for other in (own, name))
        return X_ML.inverse() @ X_MR @ X

    def _shape(self, element: Element, owner: str, place: Place) -> Shape | None:
        geometry = element.find("geometry")
        form = None if geometry is None else geometry.first()
        if form is None:
            self.report.add("ignored", owner, f"<{element.tag}> without geometry", element.line)
            return None
        X = self._inner(element, owner, place)
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

    def _end(self, place: Place, tag: str, owner: str) -> str:
        """The link at an end of a joint, with its scope; an end may be a frame or a joint on it."""
        element = place.element
        end = element.find(tag)
        name = "" if end is None else (end.text.strip() or end.get("link").strip())
        found = self.frames.link(place.scope, name) if name else None
        if found is None or (found == GROUND and tag == "child"):
            raise element.wrong(f"{owner}: its {tag} is {name[:60]!r}, but there is no link of that name; correct it")
        return found

    def _joint(self, full: str) -> None:
        place = self.frames.joints[full]
        element, scope, name = place.element, place.scope, self._called(full)
        owner = f"joint '{name}'"
        kind = element.get("type").strip()
        parent, child = self._end(place, "parent", owner), self._end(place, "child", owner)
        if parent == child:
            raise element.wrong(f"{owner}: joins link '{self._called(child)}' to itself; give two links")
        if kind not in (*TYPES, "gearbox"):
            raise element.wrong(f"{owner}: type is {kind[:40]!r}, expected one of {', '.join(TYPES)}, gearbox")
        if self._is_static(scope):
            self.report.add("ignored", owner, "its model is static: nothing of it moves", element.line)
            element.pass_over(*(below.tag for below in element.children))
            return
        if kind == "gearbox":
            self.gears.append(place)
            return
        type = TYPES[kind]
        X_MJ = self.frames.joint(full)
        X = Pose(X_MJ.p, self._axes(place, type, X_MJ, owner))
        F = self.frames.of_model(scope) @ X if parent == GROUND else self._local(place, parent).inverse() @ X
        M = self._local(place, child).inverse() @ X
        bond = Bond(name, element.line, type, self._called(parent), self._called(child), F, M)
        bond.sources = {group.name: name for group in CATALOGUE[type].groups}
        if type == "universal":
            bond.sources = {"first": name, "second": f"{name}.axis2"}
        if type == "screw":
            bond.pitch = self._pitch(element, owner)
        for tag, group in zip(("axis", "axis2"), bond.sources, strict=False):
            axis = element.find(tag)
            bond.features[group] = self._features(axis, owner, group)
            mimic = None if axis is None else axis.find("mimic")
            if mimic is not None:
                self.mimics.append((mimic, place, bond.sources[group]))
        self.draft.bonds[name] = bond

    def _local(self, place: Place, link: str) -> Pose:
        """X_ML of a link in the model that a joint is of."""
        return self.frames.local(place.scope, link[len(place.scope) :], place)

    def _axes(self, place: Place, type: str, X_MJ: Pose, owner: str) -> np.ndarray:
        """R_MJ with z along the axis, of a universal joint x along the second one."""
        if not CATALOGUE[type].has_axis:
            if type == "fixed":
                place.element.pass_over("axis")
            for axis in place.element.all("axis"):  # of a ball
                axis.pass_over("xyz")
            return np.eye(3)
        z = self._axis(place, "axis", X_MJ, owner)
        if type != "universal":
            return along(z)
        other = self._axis(place, "axis2", X_MJ, owner)
        if abs(z @ other) > 1e-6:
            raise place.element.wrong(f"{owner}: its axes are not perpendicular, as a universal joint's are")
        x = other - (other @ z) * z
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z])

    def _pitch(self, element: Element, owner: str) -> float:
        pitch = child_number(element, owner, "screw_thread_pitch", math.nan)  # m per turn, from 1.10 on
        old = child_number(element, owner, "thread_pitch", math.nan)  # turns per m with the other sign
        found = pitch / (2 * math.pi) if not math.isnan(pitch) else -1.0 / old if old else math.nan
        if not math.isfinite(found):
            raise element.wrong(f"{owner}: a screw without thread pitch; give <screw_thread_pitch>")
        return found

    def _axis(self, place: Place, tag: str, X_MJ: Pose, owner: str) -> np.ndarray:
        """A unit axis in the model's frame."""
        axis = place.element.find(tag)
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
                if self.frames.link(place.scope, frame) is None:
                    raise xyz.wrong(f"{owner}: axis expressed in {frame[:60]!r}, which there is not; correct it")
                R = self.frames.local(place.scope, frame, place).R
            elif (uses is not None and uses.text.strip() in TRUE) or self.versions[place.scope] < (1, 5):
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
        rest = child_number(dynamics, owner, "spring_reference", 0.0)
        if values["stiffness"]:
            found["rest"] = rest or None
        return found

    def _gearboxes(self) -> None:
        """A gearbox keeps angle of the parent = -ratio · angle of the child, both against a reference body."""
        for place in self.gears:
            element = place.element
            name = self._called(place.scope + element.get("name").strip())
            owner = f"joint '{name}'"
            ratio = child_number(element, owner, "gearbox_ratio", 1.0)
            reference = element.find("gearbox_reference_body")
            base = "" if reference is None else reference.text.strip()
            ends = [self._hinge_to(place, base, self._end(place, tag, owner)) for tag in ("parent", "child")]
            if None in ends or not math.isfinite(ratio) or ratio == 0.0:
                raise element.wrong(
                    f"{owner}: couples no two hinges on its reference body '{base[:60]}'; give joints from that body "
                    "to both, or take it away"
                )
            a, b = ends
            self.draft.ties.append(Tie(name, element.line, str(b), str(a), -ratio, 0.0))

    def _hinge_to(self, place: Place, base: str, link: str) -> str | None:
        ends = {self._called(self.frames.link(place.scope, base) or ""), self._called(link)}
        bonds = self.draft.bonds.values()
        return next((b.name for b in bonds if {b.first, b.second} == ends and b.type == "revolute"), None)

    def _mimics(self) -> None:
        """q = multiplier · (q of the leader - reference) + offset."""
        for mimic, place, name in self.mimics:
            owner = f"joint '{name}'"
            leader = self._called(place.scope + mimic.get("joint").strip())
            leader += ".axis2" if mimic.get("axis").strip() == "axis2" else ""
            found = self.draft.bond_of(leader)
            if found is None or leader == name:
                raise mimic.wrong(f"{owner}: mimics {leader[:60]!r}, but there is no such joint that moves; correct it")
            for which in (name, leader):
                bond, _ = self.draft.bond_of(which) or found
                if bond.type not in ("revolute", "prismatic", "universal"):
                    raise mimic.wrong(f"{owner}: mimic of '{which}', which is {bond.type}; only hinges and slides can")
            ratio, offset, reference = (
                child_number(mimic, owner, tag, usual)
                for tag, usual in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
            )
            if not np.isfinite([ratio, offset, reference]).all():
                raise mimic.wrong(f"{owner}: its <mimic> is not of finite numbers; correct it")
            tie = Tie(f"{name} mimic", mimic.line, leader, name, ratio, offset - ratio * reference)
            self.draft.ties.append(tie)
        self.draft.refuse_rings()
