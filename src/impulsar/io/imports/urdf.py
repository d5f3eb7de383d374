"""URDF: a tree of links and joints, mimic joints, and loops in three dialects.

    X_PL of a child link = origin · rotation about (or translation along) axis by q

Loops: a <joint> whose child has a parent already; <loop_joint> with <link1>, <link2> (Drake, Isaac) or parent and child
origins; <constraint> with parent and child origins and axes (urdfdom's proposal). None of them is of the tree.
"""

from pathlib import Path

import numpy as np

from ...author.errors import ModelError
from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.model import Model
from ...author.shapes import Shape
from ...author.visuals import Visual
from .build import Options, finish, limits_of
from .draft import GROUND, Bond, Draft, Link, Pose, Tie, along, rpy, still
from .drawing import NO_SHAPE, NO_SIZE, SIZED, Meshes, hex_colour, placed, primitive, short_name, touching
from .elements import below, name_of, tell_unread
from .scan import Element, number, numbers
from .start import place_links

TYPES = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed", "floating": "free",
    "planar": "planar", "spherical": "spherical", "ball": "spherical", "universal": "universal",
    "cylindrical": "cylindrical",
}  # fmt: skip


def read_urdf(root: Element, folder: Path | None, options: Options) -> Model:
    """The model of a <robot>."""
    return Reader(root, folder, options).model()


class Reader:
    """One file on its way."""

    def __init__(self, root: Element, folder: Path | None, options: Options):
        self.root, self.options = root, options
        self.report = ImportReport(format="URDF")
        self.draft = Draft(root.get("name").strip()[:100] or "robot")
        self.meshes = Meshes(folder, self.report, options.meshes, root)
        self.meshes.fetch([mesh.get("filename") for mesh in below(root, "mesh")])
        self.colours: dict[str, str] = {}
        self.collisions: list[int] = []

    def model(self) -> Model:
        root, draft = self.root, self.draft
        for child in root.children:
            if child.tag.startswith("xacro:"):
                cure = "expand it by `xacro FILE > robot.urdf`, or run it as FILE.xacro on the command line"
                raise child.wrong(f"<{child.tag}> is xacro; {cure}")
        for material in root.all("material"):
            self._colour(material)
        for element in root.all("link"):
            self._link(element)
        if not draft.links:
            raise root.wrong("<robot> has no <link>; give it one")
        held: set[str] = set()
        for element in root.all("joint"):
            self._joint(element, held)
        self._roots(held)
        self._ties()
        loops = [element for tag in ("loop_joint", "constraint") for element in root.all(tag)]
        places = place_links(draft) if loops else {}
        for element in loops:
            self._loop(element, places)
        if self.collisions:
            told = f"{touching(len(self.collisions))}: give bodies a material for contact"
            self.report.add("ignored", "<collision>", told, self.collisions[0])
        tell_unread(root, self.report)
        moving = any(bond.type != "fixed" for bond in draft.bonds.values())
        weighs = any(link.mass > 0.0 for link in draft.links.values())
        grounded = any(bond.first == GROUND for bond in draft.bonds.values())
        return finish(draft, self.report, self.options, "fixed" if moving or grounded or not weighs else "floating")

    # links -----------------------------------------------------------------------------------------

    def _link(self, element: Element) -> None:
        name = name_of(element, "link", self.draft.links)
        owner = f"link '{name}'"
        link = self.draft.links[name] = Link(name, element.line)
        inertial = element.find("inertial")
        if inertial is not None:
            self._inertial(inertial, link, owner)
        visuals, collisions = element.all("visual"), element.all("collision")
        self.collisions += [child.line for child in collisions]
        link.shapes = [shape for child in collisions if (shape := self._shape(child, owner)) is not None]
        for child in visuals:
            material = child.find("material")
            colour = None if material is None else self._colour(material)
            link.colour = link.colour or colour
            shape = self._shape(child, owner)
            if shape is not None:
                link.visuals.append(Visual(shape, colour, short_name(child.get("name", ""))))

    def _inertial(self, element: Element, link: Link, owner: str) -> None:
        X = origin(element.find("origin"), owner)
        mass, inertia = element.find("mass"), element.find("inertia")
        link.mass = 0.0 if mass is None else number(mass, owner, "mass" if "mass" in mass.attributes else "value", 0.0)
        if link.mass < 0.0:
            raise element.wrong(f"{owner}: mass is {link.mass:g} kg, expected one >= 0")
        link.p_LB = X.p
        if inertia is not None:
            xx, xy, xz, yy, yz, zz = (
                number(inertia, owner, what, 0.0) for what in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            link.inertia = X.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ X.R.T

    def _shape(self, element: Element, owner: str) -> Shape | None:
        geometry = element.find("geometry")
        form = None if geometry is None else geometry.first()
        if form is None:
            self.report.add("ignored", owner, f"<{element.tag}> without geometry", element.line)
            return None
        X = origin(element.find("origin"), owner)
        if form.tag == "mesh":
            scale = numbers(form, owner, "scale", form.get("scale", "1 1 1"), 3)
            read = self.meshes.picture if element.tag == "visual" else self.meshes.hull
            found = read(form.get("filename"), scale, owner, form.line)
            return None if found is None else placed(found, X)
        if form.tag in SIZED:
            if form.tag == "box":
                sizes = numbers(form, owner, "size", form.get("size"), 3).tolist()
            else:
                names = ("radius",) if form.tag == "sphere" else ("radius", "length")
                sizes = [number(form, owner, name, 0.0) for name in names]
            shape = primitive(form.tag, sizes)
            if shape is not None:
                return placed(shape, X)
        self.report.add("ignored", owner, f"<{form.tag[:40]}> {NO_SIZE if form.tag in SIZED else NO_SHAPE}", form.line)
        return None

    def _colour(self, material: Element) -> str | None:
        colour = material.find("color")
        name = material.get("name")
        if colour is not None:
            try:
                found = hex_colour(numbers(colour, "material", "rgba", colour.get("rgba"), 4))
            except ModelError:
                self.report.add("ignored", f"material '{name[:40]}'", "its colour is not 4 numbers", colour.line)
                return None
            if name:
                self.colours.setdefault(name, found)
            return found
        return self.colours.get(name)

    # joints ----------------------------------------------------------------------------------------

    def _joint(self, element: Element, held: set[str]) -> None:
        name = name_of(element, "joint", self.draft.bonds)
        owner = f"joint '{name}'"
        kind = self._type(element, owner)
        parent, child = self._ends(element, owner)
        F = origin(element.find("origin"), owner)
        if not CATALOGUE[kind].has_axis:
            element.pass_over("axis")
        if kind == "fixed":
            element.pass_over("limit", "dynamics")
        R = np.eye(3) if not CATALOGUE[kind].has_axis else along(self._axis(element, owner))
        bond = Bond(name, element.line, kind, parent, child, Pose(F.p, F.R @ R), Pose(np.zeros(3), R))
        bond.sources = {group.name: name for group in CATALOGUE[kind].groups}
        if child in held:
            bond.loop = True
        held.add(child)
        for group in bond.sources:
            bond.features[group] = self._features(element, owner, kind, group)
        if kind != "fixed":
            self._tell_bounds(element, owner)
        self.draft.bonds[name] = bond

    def _type(self, element: Element, owner: str) -> str:
        kind = element.get("type").strip()
        if kind not in TYPES:
            known = ", ".join(TYPES)
            raise element.wrong(f"{owner}: type is {kind[:40]!r}, expected one of {known}")
        return TYPES[kind]

    def _ends(self, element: Element, owner: str, tags: tuple[str, str] = ("parent", "child")) -> list[str]:
        ends = []
        for tag in tags:
            end = element.find(tag)
            name = "" if end is None else end.get("link").strip()
            if name == "world" and tag == "parent" and name not in self.draft.links:
                name = GROUND  # as Drake has it
            elif name not in self.draft.links:
                raise element.wrong(
                    f"{owner}: its {tag} is {name[:60]!r}, but there is no link of that name; correct it"
                )
            ends.append(name)
        if ends[0] == ends[1]:
            raise element.wrong(f"{owner}: joins link '{ends[0]}' to itself; give two links")
        return ends

    def _axis(self, element: Element, owner: str, tag: str = "axis") -> np.ndarray:
        axis = element.find(tag)
        if axis is None or "xyz" not in axis.attributes:
            return np.array([1.0, 0.0, 0.0])
        z = numbers(axis, owner, tag, axis.get("xyz"), 3)
        norm = float(np.linalg.norm(z))
        if norm < 1e-12:
            raise axis.wrong(f"{owner}: its axis is zero; give a direction")
        if abs(norm - 1.0) > 1e-3:
            self.report.add("changed", owner, f"its axis has length {norm:.6g}, taken as a direction", axis.line)
        return z / norm

    def _features(self, element: Element, owner: str, kind: str, group: str) -> dict:
        found: dict = {}
        limit, dynamics = element.find("limit"), element.find("dynamics")
        if limit is not None and kind in ("revolute", "prismatic") and element.get("type").strip() != "continuous":
            lower = number(limit, owner, "lower", 0.0, infinite=True)
            upper = number(limit, owner, "upper", 0.0, infinite=True)
            if lower > upper:
                raise limit.wrong(f"{owner}: limits are {lower:g} to {upper:g}, expected lower <= upper; swap them?")
            if lower == upper:
                self.report.add(
                    "changed", owner, f"limits {lower:g} to {upper:g} leave no range: taken as none", limit.line
                )
            else:
                found["limits"] = limits_of(lower, upper)
        if dynamics is not None:
            damping, friction = (number(dynamics, owner, what, 0.0) for what in ("damping", "friction"))
            for what, value in (("damping", damping), ("friction", friction)):
                if value < 0.0:
                    raise dynamics.wrong(f"{owner}: {what} is {value:g}, expected one >= 0")
            found |= {"viscous": damping or None, "friction": friction or None}
        return found

    def _tell_bounds(self, element: Element, owner: str) -> None:
        """Bounds of what would drive a joint."""
        limit = element.find("limit")
        told = [] if limit is None else [f"{what} {limit.get(what)}" for what in ("effort", "velocity")]
        told = [text for text in told if not text.endswith(" ")]
        if limit is not None and told:
            text = f"{' and '.join(told)} bound a drive, and the file has none: give the joint a motor"
            self.report.add("ignored", owner, text, limit.line)

    def _roots(self, held: set[str]) -> None:
        """See that there is a root; one called "world" is the ground."""
        draft = self.draft
        roots = [name for name in draft.links if name not in held]
        if not roots and not any(bond.first == GROUND for bond in draft.bonds.values()):
            raise self.root.wrong("<robot> has no root: every link is the child of a joint; take one joint away")
        if len(roots) > 1:
            told = ", ".join(f"'{name}'" for name in roots[:8])
            self.report.add(
                "changed", "<robot>", f"has {len(roots)} roots, each held by itself: {told}", self.root.line
            )
        if "world" in roots and draft.links["world"].is_weightless:
            line = draft.links["world"].line
            draft.bonds["\0world"] = Bond(
                "\0world", line, "fixed", GROUND, "world", still(), still(), called="its name"
            )

    def _ties(self) -> None:
        draft = self.draft
        for element in self.root.all("joint"):
            mimic = element.find("mimic")
            if mimic is None:
                continue
            name, leader = element.get("name").strip(), mimic.get("joint").strip()
            owner = f"joint '{name}'"
            bond = draft.bonds[name]
            if leader not in draft.bonds or leader == name:
                raise mimic.wrong(f"{owner}: mimics {leader[:60]!r}, but there is no such joint; correct it")
            if bond.type == "fixed":
                self.report.add("ignored", owner, "is fixed and mimics nothing", mimic.line)
                continue
            for which, other in ((name, bond), (leader, draft.bonds[leader])):
                if other.type not in ("revolute", "prismatic", "fixed"):
                    raise mimic.wrong(f"{owner}: mimic of '{which}', which is {other.type}; only hinges and slides can")
            ratio, offset = number(mimic, owner, "multiplier", 1.0), number(mimic, owner, "offset", 0.0)
            draft.ties.append(Tie(f"{name} mimic", mimic.line, leader, name, ratio, offset))
        self.draft.refuse_rings()

    # loops -----------------------------------------------------------------------------------------

    def _loop(self, element: Element, places: dict[str, Pose]) -> None:
        name = name_of(element, element.tag, self.draft.bonds)
        owner = f"{element.tag} '{name}'"
        kind = self._type(element, owner)
        if kind == "free":
            raise element.wrong(f"{owner}: is floating, which closes nothing; take it away")
        links = element.all("link1") + element.all("link2")
        if links:
            if len(links) != 2:
                raise element.wrong(f"{owner}: has {len(links)} links, expected <link1> and <link2>")
            ends = [link.get("link").strip() for link in links]
            for end in ends:
                if end not in self.draft.links:
                    raise element.wrong(f"{owner}: names link {end[:60]!r}, but there is none; correct it")
            R = along(self._axis(element, owner)) if CATALOGUE[kind].has_axis else np.eye(3)
            F, M = (Pose(X.p, X.R @ R) for X in (origin(link, owner) for link in links))
            if ends[0] == ends[1]:
                raise element.wrong(f"{owner}: joins link '{ends[0]}' to itself; give two links")
        else:
            ends = self._ends(element, owner)
            F, M = self._loop_frames(element, owner, kind, places, ends)
        bond = Bond(name, element.line, kind, ends[0], ends[1], F, M, loop=True, role=element.tag)
        bond.sources = {group.name: name for group in CATALOGUE[kind].groups}
        bond.features = {group: self._features(element, owner, kind, group) for group in bond.sources}
        self._tell_bounds(element, owner)
        self.draft.bonds[name] = bond

    def _loop_frames(
        self, element: Element, owner: str, kind: str, places: dict[str, Pose], ends: list[str]
    ) -> tuple[Pose, Pose]:
        """F and M by origins and axes on both links; without an axis on the child its direction is the parent's."""
        X, Y = (origin(element.find(tag), owner) for tag in ("parent_origin", "child_origin"))
        if not CATALOGUE[kind].has_axis:
            return X, Y
        tag = "parent_axis" if element.find("parent_axis") is not None else "axis"
        F = Pose(X.p, X.R @ along(self._axis(element, owner, tag)))
        if element.find("child_axis") is None:
            return F, Pose(Y.p, places[ends[1]].R.T @ places[ends[0]].R @ F.R)
        axis = Y.R @ self._axis(element, owner, "child_axis")
        if kind == "universal":  # x of M is the second shaft
            R = along(axis)
            return F, Pose(Y.p, R[:, [2, 0, 1]])
        return F, Pose(Y.p, along(axis))


def origin(element: Element | None, owner: str) -> Pose:
    """X of an <origin>, or of an element with xyz and rpy of its own."""
    if element is None:
        return still()
    p = numbers(element, owner, "xyz", element.get("xyz", "0 0 0"), 3)
    angles = numbers(element, owner, "rpy", element.get("rpy", "0 0 0"), 3)
    if (np.abs(angles) > 1e6).any():
        raise element.wrong(f"{owner}: rpy is {element.get('rpy')[:60]!r}, beyond any angle [rad]")
    return Pose(p, rpy(angles))
