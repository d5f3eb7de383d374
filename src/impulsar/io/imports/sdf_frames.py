"""Models within models of an SDF, files that it includes, and where links, joints and frames are.

A scope is what stands before the names in a model: "" in the file's world or root, "arm::" in its model "arm",
"arm::hand::" in that one's. Poses are in the frame of the model that has them, so that digits of a file stay:

    X_MF = X_MR · pose, R what the pose is relative to; X_AF = X_AB · X_BF of a frame F in the model B within A
    X_AB = X_AR · pose · X_BP⁻¹ where B is placed by its frame P
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...author.errors import FileError
from ...author.imports import ImportReport
from ...author.rotations import rotation_matrix
from .draft import GROUND, Pose, rpy, still
from .scan import LARGEST_XML, Element, inside, is_file, numbers, read_xml

MOST_NESTED = 50
MOST_FILES = 200  # that are included, all together
MOST_BYTES = 64 * 2**20  # of them
OVERRIDES = ("pose", "static")  # of an <include>, before those of the model


def pose_of(pose: Element | None, owner: str) -> Pose:
    """X of a <pose>."""
    text = "" if pose is None else pose.text.strip()
    if pose is None:
        return still()
    if pose.get("rotation_format") == "quat_xyzw":
        values = numbers(pose, owner, "pose", text or "0 0 0 0 0 0 1", 7)
        norm = float(np.linalg.norm(values[3:]))
        if abs(norm - 1.0) > 1e-3:
            raise pose.wrong(f"{owner}: its quaternion has norm {norm:.6g}, expected 1")
        return Pose(values[:3], rotation_matrix(values[3:] / norm))
    values = numbers(pose, owner, "pose", text or "0 0 0 0 0 0", 6)
    if (np.abs(values[3:]) > 1e6).any():
        raise pose.wrong(f"{owner}: pose is {text[:60]!r}, with angles beyond any [rad]")
    angles = np.radians(values[3:]) if pose.get("degrees") in ("true", "1") else values[3:]
    return Pose(values[:3], rpy(angles))


@dataclass
class Place:
    """A frame in a scope: its element, and what its pose is relative to where that does not say."""

    element: Element
    scope: str
    base: str = ""

    @property
    def owner(self) -> str:
        return f"{self.element.tag} '{self.element.get('name').strip()}'"


class Frames:
    """All frames of a file, by scope and name."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self.joints: dict[str, Place] = {}  # which a link or frame of their name has no part in
        self._known: dict[tuple[str, str], Pose] = {}

    def get(self, scope: str, name: str) -> Place | None:
        """What has a name in a scope itself."""
        found = self.places.get(scope + name) or self.joints.get(scope + name)
        return found if found is not None and found.scope == scope else None

    def local(self, scope: str, name: str, place: Place, depth: int = 0) -> Pose:
        """X_MF of a frame that `place` names, in the model of the scope."""
        if name in ("", "__model__"):
            return still()
        if (scope, name) in self._known:
            return self._known[scope, name]
        found = self.get(scope, name)
        if found is None:
            outer, inner = self._parted(scope, name)
            if not inner:
                told = f"its pose is relative to {name[:60]!r}, which there is not; correct it"
                raise place.element.wrong(f"{place.owner}: {told}")
            return self.local(scope, outer, place, depth) @ self.local(f"{scope}{outer}::", inner, place, depth)
        if depth > MOST_NESTED:
            told = "its pose is relative to itself through others; break the ring"
            raise found.element.wrong(f"{found.owner}: {told}")
        self._known[scope, name] = self._posed(found, scope + name, depth)
        return self._known[scope, name]

    def _posed(self, place: Place, full: str, depth: int) -> Pose:
        element = place.element
        pose, base = element.find("pose"), place.base
        if pose is not None:
            base = (pose.get("relative_to") or pose.get("frame") or base).strip()
        X = pose_of(pose, place.owner)
        if base not in ("", "__model__", "world"):
            X = self.local(place.scope, base, place, depth + 1) @ X
        by = element.get("placement_frame").strip() if element.tag == "model" else ""
        return X @ self.local(f"{full}::", by, place, depth + 1).inverse() if by else X

    def joint(self, full: str) -> Pose:
        """X_MJ of a joint's frame, in the model that has it."""
        place = self.joints[full]
        return self._posed(place, full, 0)

    def _parted(self, scope: str, name: str) -> tuple[str, str]:
        """The model in a scope that a name begins with, and the rest of it."""
        outer, _, inner = name.partition("::")
        held = self.get(scope, outer)
        return (outer, inner) if held is not None and held.element.tag == "model" else (name, "")

    def of_model(self, scope: str) -> Pose:
        """X_WM of the model of a scope."""
        X, above = still(), ""
        for name in scope.split("::")[:-1]:
            Y = self.local(above, name, self.places[above + name])
            X, above = X @ Y if above else Y, f"{above}{name}::"
        return X

    def link(self, scope: str, name: str, depth: int = 0) -> str | None:
        """The link that a link, joint, frame or model of a name is on, with its scope; None where there is none."""
        place = self.get(scope, name)
        if depth > MOST_NESTED:
            return None
        if name == "world" and place is None:
            return GROUND
        if place is None:
            outer, inner = self._parted(scope, name)
            return self.link(f"{scope}{outer}::", inner, depth + 1) if inner else None
        element = place.element
        if element.tag == "link":
            return scope + name
        if element.tag == "joint":
            return self.link(scope, place.base, depth + 1)
        on = element.get("attached_to").strip() if element.tag == "frame" else ""
        if on not in ("", "__model__"):
            return self.link(scope, on, depth + 1)
        return self._main(f"{scope}{name}::" if element.tag == "model" else scope, depth)

    def _main(self, scope: str, depth: int) -> str | None:
        """The link that the frame of a scope's model is on: the world's is on the ground."""
        held = self.places.get(scope[:-2])
        if held is None:
            return GROUND
        named = held.element.get("canonical_link").strip()
        if named:
            return self.link(scope, named, depth + 1)
        for tag in ("link", "model"):
            for name, place in self.places.items():
                if place.scope == scope and place.element.tag == tag:
                    return self.link(scope, name[len(scope) :], depth + 1)
        return None


class Includes:
    """Models of other files, from under a folder only; their lines are those of the <include>."""

    def __init__(self, folder: Path | None, report: ImportReport):
        self.folder, self.report = folder, report
        self.files, self.bytes = 0, 0

    def read(self, include: Element) -> tuple[Element, str] | None:
        """The <model> that an <include> is, and the version of its file; None and a note where it cannot be had."""
        uri = include.find("uri")
        name = "" if uri is None else uri.text.strip()
        path = self._find(name)
        if isinstance(path, str):
            self.report.add("ignored", f"include {name[:120]!r}", path, include.line)
            return None
        self.files += 1
        self.bytes += path.stat().st_size
        if self.files > MOST_FILES or self.bytes > MOST_BYTES:
            told = f"more than {MOST_FILES} files or {MOST_BYTES} bytes are included; one may include itself"
            raise include.wrong(f"{told}; divide it")
        try:
            root = read_xml(path.read_bytes())
            models = root.all("model") if root.tag == "sdf" else []
            if len(models) != 1:
                raise root.wrong(f"<{root.tag[:40]}> has {len(models)} models; an <include> is of an <sdf> with one")
        except FileError as error:
            raise include.wrong(f"included {name[:80]!r}: {error}") from error
        return self._placed(include, models[0]), root.get("version").strip()

    def _placed(self, include: Element, model: Element) -> Element:
        """A model as its <include> has it."""
        attributes, children = dict(model.attributes), list(model.children)
        for tag in OVERRIDES:
            own = include.find(tag)
            if own is not None:
                children = [own, *(child for child in children if child.tag != tag)]
        for tag in ("name", "placement_frame"):
            own = include.find(tag)
            if own is not None:
                attributes[tag] = own.text.strip()
        placed = Element("model", attributes, include.line, children, is_asked=True)
        include.children.append(placed)  # so that what is not read of it is told
        waiting = [placed]
        while waiting:
            element = waiting.pop()
            element.line = include.line
            waiting += element.children
        return placed

    def _find(self, uri: str) -> Path | str:
        """Where the file is, or why it is not to be had."""
        if self.folder is None:
            return "an upload is one file; open it from its folder"
        name = uri.removeprefix("file://").removeprefix("model://").removeprefix("package://")
        try:
            path = inside(self.folder, name)
            if path.is_dir():
                path = inside(self.folder, f"{name}/{_named_by(path)}")
        except (FileError, OSError, ValueError):
            path = None
        if path is not None and is_file(path):
            return path
        return f"is not under '{self.folder.name or '.'}'; give assets= the folder that has it"


def _named_by(folder: Path) -> str:
    """The file that a model's folder says is the model."""
    config = folder / "model.config"
    if is_file(config) and config.stat().st_size <= LARGEST_XML:
        named = read_xml(config.read_bytes()).all("sdf")
        if named:
            return named[-1].text.strip()
    return "model.sdf"
