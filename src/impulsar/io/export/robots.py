"""What the writers of robots' formats have in common: links on a tree of elementary joints, and what is left.

A link's frame L has the axes of its body and its origin at the joint that carries it; in MJCF, and where it is free,
the origin that its author gave it. Where a joint's coordinates are
zero its two frames coincide; a joint of several freedoms is elementary ones one after the other:

    X_PL(q) = X_PL · T₁(q₁) · T₂(q₂) · ...      each about or along an axis of L
"""

from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...author.errors import ModelError
from ...author.imports import ImportReport
from ...author.model import Model
from ...author.parts import Body, Features, Joint
from ...author.rotations import multiply, rotation_matrix
from ...author.shapes import Shape
from ...engine.system.tree import FreeJoint, span
from .surface import shape_surface

X, Y, Z = np.eye(3)
HINGE, SLIDE, BALL, FREE = "hinge", "slide", "ball", "free"
STEPS: dict[str, tuple[tuple[str, np.ndarray, str], ...]] = {  # kind, axis of the joint's frame, group
    "fixed": (),
    "revolute": ((HINGE, Z, "angle"),),
    "prismatic": ((SLIDE, Z, "slide"),),
    "cylindrical": ((SLIDE, Z, "slide"), (HINGE, Z, "angle")),
    "universal": ((HINGE, Z, "first"), (HINGE, X, "second")),
    "spherical": ((BALL, Z, "rotation"),),
    "planar": ((SLIDE, X, "x"), (SLIDE, Y, "y"), (HINGE, Z, "angle")),
    "pin-slot": ((SLIDE, X, "slide"), (HINGE, Z, "angle")),
    "point-on-line": ((SLIDE, Z, "slide"), (BALL, Z, "rotation")),
    "point-on-plane": ((SLIDE, X, "x"), (SLIDE, Y, "y"), (BALL, Z, "rotation")),
    "free": ((FREE, Z, "rotation"),),
}
NOT_WRITTEN = ("loads", "fluids", "tyres", "sensors", "probes")  # kinds of parts that no such format has
MOVES = 1e-9  # [m/s, rad/s] above which a body starts in motion
OFF = 1e-9  # [m, rad] above which a coordinate is not zero where it starts


class ExportReport(ImportReport):
    """What of a model is not in the file that was written, or not as it stands."""

    def summary(self) -> str:
        """One line: how many items are not as they stand."""
        told = ", ".join(f"{count} {kind}" for kind, count in self.counts().items())
        return f"{self.format}: {told or 'written whole'}"

    def judge(self, strict: bool) -> None:
        """Refuse any loss where strict."""
        if strict and self.losses:
            raise ModelError(f"export: strict: {self.summary()}; the first: {self.losses[0]}")


@dataclass
class Step:
    """An elementary joint."""

    kind: str
    name: str
    axis: np.ndarray  # of L
    group: str
    features: Features


@dataclass
class Limb:
    """A body as a link, and how it hangs on another."""

    body: str
    parent: str  # or "ground"
    joint: str  # "" of a body that hangs on nothing
    steps: list[Step]
    p_BL: np.ndarray  # [m]
    p_PL: np.ndarray  # in the frame L of the parent, where all coordinates are zero [m]
    R_PL: np.ndarray
    inner: list[str] = field(default_factory=list)  # names for links between the steps
    anchor: np.ndarray = field(default_factory=lambda: np.zeros(3))  # of its joints in L [m]


@dataclass
class Skeleton:
    """A model as such formats have it."""

    model: Model
    limbs: dict[str, Limb]  # a parent before its children
    loops: list[Joint]
    report: ExportReport

    def offset(self, body: str) -> np.ndarray:
        """p_BL of a link; the ground's is zero."""
        return self.limbs[body].p_BL if body in self.limbs else np.zeros(3)

    def step_of(self, joint: str, group: str) -> Step | None:
        """The elementary joint of a group."""
        return next(
            (s for limb in self.limbs.values() if limb.joint == joint for s in limb.steps if s.group == group), None
        )


def skeleton(model: Model, format: str) -> Skeleton:
    """A model's tree and loops; notes what has no counterpart, refuses what would be another mechanism."""
    report, tree = ExportReport(format=format), span(model)
    limbs: dict[str, Limb] = {}
    for body, at, joint in zip(tree.bodies, tree.parents, tree.carriers, strict=True):
        parent = tree.bodies[at] if at >= 0 else "ground"
        offset = limbs[parent].p_BL if parent in limbs else np.zeros(3)
        limbs[body] = _limb(model, body, parent, joint, offset, format)
    note_rest(model, report)
    for limb in limbs.values():
        own = model.bodies[limb.body]
        if own.has_link and (abs(own.q_BL[3]) != 1.0 or np.abs(own.p_BL - limb.p_BL).max() > OFF):
            told = "its link's frame has the body's axes, and its origin at its joint"
            report.add("changed", f"body '{limb.body}'", told)
    return Skeleton(model, limbs, tree.loops, report)


def _limb(model: Model, body: str, parent: str, joint: Joint | FreeJoint, offset: np.ndarray, format: str) -> Limb:
    if isinstance(joint, FreeJoint) or joint.type == "free":
        if parent != "ground":
            raise refused(format, f"joint '{joint.name}'", "a free joint between two bodies")  # type: ignore[union-attr]
        own = model.bodies[body]
        name = "" if isinstance(joint, FreeJoint) else joint.name
        step = Step(FREE, name or f"{body} free", Z, "rotation", Features())
        p_WL = own.world_point(own.p_BL)
        return Limb(body, parent, name, [step], own.p_BL, p_WL, rotation_matrix(own.orientation))
    if joint.type not in STEPS:
        raise refused(format, f"joint '{joint.name}'", f"a {joint.type} joint")
    here, there = (joint.p_PF, rotation_matrix(joint.q_PF)), (joint.p_CM, rotation_matrix(joint.q_CM))
    sign = 1.0 if joint.second == body else -1.0
    (p_parent, R_parent), (p_child, R_child) = (here, there) if sign > 0 else (there, here)
    steps = [
        Step(kind, joint.name, sign * (R_child @ axis), group, joint.features[group])
        for kind, axis, group in STEPS[joint.type]
    ][:: int(sign)]
    if len(steps) > 1:
        for step in steps:
            step.name = f"{joint.name}.{step.group}"
    own, R_PL = model.bodies[body], R_parent @ R_child.T
    p_BL = own.p_BL if format == "MJCF" and own.has_link else p_child
    p_PL = p_parent - offset + R_PL @ (p_BL - p_child)
    limb = Limb(body, parent, joint.name, steps, p_BL, p_PL, R_PL, anchor=p_child - p_BL)
    limb.inner = [f"{body}.{k + 1}" for k in range(len(steps) - 1)]
    return limb


def note_rest(model: Model, report: ExportReport) -> None:
    """What the mechanics loses in any of the formats."""
    for plural in (one for one in NOT_WRITTEN if one != "probes" or report.format in ("URDF", "USD")):
        for name in getattr(model, plural, ()):
            report.add("ignored", f"{plural.rstrip('s')} '{name}'", "has no counterpart")
    for body in model.bodies.values():
        if np.linalg.norm([*body.velocity, *body.angular_velocity]) > MOVES:
            report.add("ignored", f"body '{body.name}'", "starts in motion, which the file does not say")
    for joint in model.joints.values():
        if joint.type != "free" and starts_off(model, joint):
            told = "its coordinates are not zero where the model starts; the file has it at zero"
            report.add("changed", f"joint '{joint.name}'", told)
        for group, features in joint.features.items():
            owner = f"joint '{joint.name}' {group}"
            if features.motor is not None:
                told = f"its motor ({features.motor.what}) is not written with its value"
                report.add("ignored", owner, told)
            if features.static_friction > features.friction:
                report.add("ignored", owner, "static friction beyond the sliding one")
            if features.armature and report.format != "MJCF":
                report.add("ignored", owner, f"armature of {features.armature:g}")
            if features.restitution:
                report.add("ignored", owner, "restitution of its limits")
            if features.swing is not None:
                report.add("ignored", owner, "limit of its swing")


def starts_off(model: Model, joint: Joint) -> bool:
    """Whether a joint's frames do not coincide where the model starts: its coordinates are not zero there."""
    P, C = (model.ground if end == "ground" else model.bodies[end] for end in (joint.first, joint.second))
    apart = np.abs(P.world_point(joint.p_PF) - C.world_point(joint.p_CM)).max()
    turned = multiply(P.orientation, joint.q_PF) @ multiply(C.orientation, joint.q_CM)
    return bool(apart > OFF or 1.0 - abs(turned) > OFF**2 + 1e-15)


class MeshFiles:
    """Meshes beside a file: OBJ, in a folder of their own; None: they are not wanted."""

    def __init__(self, files: dict[str, bytes] | None, folder: str = "meshes"):
        self.files, self.folder = files, folder

    def put(self, shape: Shape, owner: str, report: ExportReport) -> str | None:
        """The path of a shape's surface in its own frame; None and a note where it is not written."""
        if self.files is None:
            report.add("ignored", owner, f"a {type(shape).__name__}: it would be a file of its own")
            return None
        bare = replace(shape, offset=(0.0, 0.0, 0.0), orientation=(0.0, 0.0, 0.0, 1.0))
        vertices, triangles = shape_surface(bare)
        lines = [f"v {numbers(point)}" for point in vertices]
        lines += [f"f {' '.join(str(corner + 1) for corner in corners)}" for corners in triangles.tolist()]
        text = "\n".join([*lines, ""]).encode()
        path = next((path for path, known in self.files.items() if known == text), None)
        if path is None:
            path = f"{self.folder}/mesh_{len(self.files)}.obj"
            self.files[path] = text
        return path


def seen_and_touching(body: Body, usual: str) -> tuple[list[tuple[Shape, str, str]], list[tuple[Shape, str]]]:
    """What a link is seen by, with colour and name, and what it touches by, with a name.

    With visuals the shapes are there to touch, whatever their material; without, they are seen, and touch by one.
    """
    if body.visuals:
        seen = [(one.shape, one.colour or usual, one.name or f"visual {k}") for k, one in enumerate(body.visuals)]
        return seen, [(shape, f"collision {k}") for k, shape in enumerate(body.shapes)]
    seen = [(shape, usual, f"visual {k}") for k, shape in enumerate(body.shapes)]
    solid = [(shape, f"collision {k}") for k, shape in enumerate(body.shapes) if shape.material or body.material]
    return seen, solid


def refused(format: str, owner: str, what: str) -> ModelError:
    return ModelError(f"export: {owner}: {format} has no counterpart of {what}; take another format, or change it")


def numbers(*values: Any) -> str:
    """Numbers that read back to the same bits."""
    return " ".join(repr(float(value) + 0.0) for value in np.concatenate([np.ravel(value) for value in values]))


def text_of(root: ElementTree.Element) -> str:
    """A document."""
    ElementTree.indent(root)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def colour_of(colour: str) -> str:
    """Red, green, blue and opacity, 0 to 1, of "#rrggbb"."""
    return numbers([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)], 1.0)


def rpy_of(R: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw about fixed axes of a rotation [rad]."""
    across = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], across)
    if across > 1e-9:
        return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])
    return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])  # of a quarter turn: roll alone
