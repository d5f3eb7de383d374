"""SDF 1.9: links where they are authored, and joints between any two of them: loops are joints like others."""

from math import isfinite, pi
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from ...author.couplings import Coupling
from ...author.model import Model
from ...author.parts import Body, Features, Joint, Probe
from ...author.rotations import conjugate, multiply, rotation_matrix
from ...author.shapes import Box, Capsule, Cylinder, Shape, Sphere
from .robots import (
    ExportReport,
    MeshFiles,
    colour_of,
    note_rest,
    numbers,
    refused,
    seen_and_touching,
    starts_off,
    text_of,
)
from .surface import COLOURS

TYPES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {  # SDF's name, and axis and group of each freedom
    "fixed": ("fixed", ()),
    "revolute": ("revolute", (("0 0 1", "angle"),)),
    "prismatic": ("prismatic", (("0 0 1", "slide"),)),
    "universal": ("universal", (("0 0 1", "first"), ("1 0 0", "second"))),
    "spherical": ("ball", ()),
    "screw": ("screw", (("0 0 1", "angle"),)),
}


def to_sdf(model: Model, files: dict[str, bytes] | None = None, folder: str = "meshes") -> tuple[str, ExportReport]:
    """The text of an SDF file and what of the model is not in it; meshes are put into `files`, by their
    paths beside it, in a folder."""
    report, meshes = ExportReport(format="SDF"), MeshFiles(files, folder)
    note_rest(model, report)
    root = Element("sdf", version="1.11" if model.couplings else "1.9")  # from there on it has <mimic>
    world = SubElement(root, "world", name="scene")  # "world" is a name that SDF keeps for itself
    SubElement(world, "gravity").text = numbers(model.gravity)
    holder = SubElement(world, "model", name=model.name)
    for name in model.springs:
        report.add("ignored", f"spring '{name}'", "has no counterpart")
    if model.ground.shapes or model.obstacles:
        report.add("ignored", "shapes of the ground", "are not written")
    for name in (model.name, *model.bodies, *model.joints):
        if name == "world" or (name.startswith("__") and name.endswith("__")):
            raise refused("SDF", f"'{name}'", "a part of this name, which it keeps for itself")
    for k, body in enumerate(model.bodies.values()):
        _link(holder, body, body.colour or COLOURS[k % len(COLOURS)], report, meshes)
    axes: dict[tuple[str, str], Element] = {}
    for joint in model.joints.values():
        if joint.type == "free":
            continue  # what SDF does not join is free
        if joint.type not in TYPES:
            raise refused("SDF", f"joint '{joint.name}'", f"a {joint.type} joint")
        axes |= _joint(holder, model, joint)
    for coupling in model.couplings.values():
        _mimic(model, coupling, axes)
    for probe in model.probes.values():
        _frame(holder, model, probe, report)
    _without_scopes(holder, report)
    return text_of(root), report


def _without_scopes(holder: Element, report: ExportReport) -> None:
    """Names have a point for "::", which in SDF stands between a model's name and those of its parts."""
    parts = [child for child in holder if "::" in child.get("name", "")]
    taken = {child.get("name") for child in holder if child not in parts}
    for child in parts:
        old = child.get("name", "")
        new = old.replace("::", ".")
        if new in taken:
            raise refused("SDF", f"'{old}'", f"names with '::', and '{new}' is taken")
        taken.add(new)
        report.add("renamed", f"{child.tag} '{old}'", f"is called '{new}' there")
    for element in holder.iter():
        for what in ("name", "attached_to", "joint"):
            if what in element.attrib:
                element.set(what, element.get(what, "").replace("::", "."))
        if element.tag in ("parent", "child"):
            element.text = (element.text or "").replace("::", ".")


def _mimic(model: Model, coupling: Coupling, axes: dict[tuple[str, str], Element]) -> None:
    """q_b = multiplier · (q_a - reference) + offset, on the axis of b."""
    leader, follower = (coupling.joint_a, coupling.group_a), (coupling.joint_b, coupling.group_b)
    owner = f"coupling '{coupling.name}'"
    if coupling.more or not axes.keys() >= {leader, follower}:
        raise refused("SDF", owner, "a coupling but of two axes of hinges, slides and universal joints")
    if any(starts_off(model, model.joints[name]) for name, _ in (leader, follower)):
        raise refused("SDF", owner, "couplings of joints that do not start at zero")
    if axes[follower].find("mimic") is not None:
        raise refused("SDF", owner, "a second leader of one axis")
    mimic = SubElement(axes[follower], "mimic", joint=leader[0], axis=axes[leader].tag)
    for tag, value in (("multiplier", coupling.ratio), ("offset", coupling.offset), ("reference", 0.0)):
        SubElement(mimic, tag).text = repr(float(value))


def _frame(holder: Element, model: Model, probe: Probe, report: ExportReport) -> None:
    """A probe is a frame of its link."""
    if probe.body not in model.bodies or probe.name in (*model.bodies, *model.joints):
        report.add("ignored", f"probe '{probe.name}'", "is on the ground, or has the name of a link or joint")
        return
    frame = SubElement(holder, "frame", name=probe.name, attached_to=probe.body)
    _pose(frame, *in_link(model.bodies[probe.body], probe.p_BQ, (0.0, 0.0, 0.0, 1.0)))


def in_link(body: Body, p: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """Of a frame in the body's the place and orientation in its author's."""
    R_LB, q_LB = rotation_matrix(body.q_BL).T, conjugate(body.q_BL)
    return R_LB @ (np.asarray(p, float) - body.p_BL), multiply(q_LB, np.asarray(q, float))


def _link(holder: Element, body: Body, usual: str, report: ExportReport, meshes: MeshFiles) -> None:
    """The link's frame is the author's; all else is told from there."""
    link = SubElement(holder, "link", name=body.name)
    _pose(link, body.world_point(body.p_BL), multiply(body.orientation, body.q_BL))
    inertial = SubElement(link, "inertial")
    if body.has_link:
        _pose(inertial, *in_link(body, np.zeros(3), (0.0, 0.0, 0.0, 1.0)))
    SubElement(inertial, "mass").text = repr(float(body.mass))
    inertia = SubElement(inertial, "inertia")
    for i in range(3):
        for j in range(i, 3):
            SubElement(inertia, f"i{'xyz'[i]}{'xyz'[j]}").text = repr(float(body.inertia[i, j]))
    seen, solid = seen_and_touching(body, usual)
    taken: set[str] = set()  # names of what a link has are all different
    for tag, items in (("visual", seen), ("collision", [(shape, "", name) for shape, name in solid])):
        for shape, colour, name in items:
            form = _form(shape, body, report, meshes)
            if form is None:
                continue
            own = next(one for k in range(len(taken) + 1) if (one := f"{name} {k}" if k else name) not in taken)
            taken.add(own)
            found = SubElement(link, tag, name=own)
            _pose(found, *in_link(body, shape.offset, shape.orientation))
            SubElement(found, "geometry").append(form)
            if colour:
                SubElement(SubElement(found, "material"), "diffuse").text = colour_of(colour)


def _joint(holder: Element, model: Model, joint: Joint) -> dict[tuple[str, str], Element]:
    """Writes a joint; returns its axes by joint and group."""
    kind, axes = TYPES[joint.type]
    element = SubElement(holder, "joint", name=joint.name, type=kind)
    is_turned = joint.second == "ground"  # a child is a link: the same joint seen from the other side
    parent, child = (joint.second, joint.first) if is_turned else (joint.first, joint.second)
    SubElement(element, "parent").text = "world" if parent == "ground" else parent
    SubElement(element, "child").text = child
    _pose(
        element, *in_link(model.bodies[child], *((joint.p_PF, joint.q_PF) if is_turned else (joint.p_CM, joint.q_CM)))
    )
    found = {}
    for k, (xyz, group) in enumerate(axes[::-1] if is_turned else axes):
        features = joint.features[group]
        if (features.limits is not None or features.stiffness) and starts_off(model, joint):
            raise refused("SDF", f"joint '{joint.name}'", "limits or springs of a joint that does not start at zero")
        axis = SubElement(element, "axis" if k == 0 else "axis2")
        SubElement(axis, "xyz").text = " ".join(f"-{c}" if c != "0" else c for c in xyz.split()) if is_turned else xyz
        _features(axis, features)
        found[joint.name, group] = axis
    if joint.pitch is not None:
        SubElement(element, "screw_thread_pitch").text = repr(2 * pi * joint.pitch)
    return {} if joint.type == "screw" else found


def _features(axis: Element, features: Features) -> None:
    limit = SubElement(axis, "limit")
    for name, value in zip(("lower", "upper"), features.limits or (-np.inf, np.inf), strict=True):
        SubElement(limit, name).text = repr(float(value)) if isfinite(value) else ("-inf" if value < 0 else "inf")
    viscous = float(features.viscous + features.damping)
    found = {"damping": viscous, "friction": features.friction, "spring_stiffness": features.stiffness}
    dynamics = SubElement(axis, "dynamics")
    for name, value in (found | {"spring_reference": features.rest}).items():
        SubElement(dynamics, name).text = repr(float(value))


def _form(shape: Shape, body: Body, report: ExportReport, meshes: MeshFiles) -> Element | None:
    """The element of a shape; None of a mesh that is not written."""
    if isinstance(shape, Box):
        sizes = {"size": numbers(shape.size)}
    elif isinstance(shape, Sphere):
        sizes = {"radius": repr(float(shape.radius))}
    elif isinstance(shape, Cylinder | Capsule):
        sizes = {"radius": repr(float(shape.radius)), "length": repr(float(shape.length))}
    else:
        path = meshes.put(shape, f"body '{body.name}'", report)
        form = Element("mesh")
        SubElement(form, "uri").text = path
        return form if path is not None else None
    form = Element(type(shape).__name__.lower())
    for name, text in sizes.items():
        SubElement(form, name).text = text
    return form


def _pose(element: Element, p: np.ndarray, q: np.ndarray) -> None:
    SubElement(element, "pose", rotation_format="quat_xyzw").text = numbers(p, q)
