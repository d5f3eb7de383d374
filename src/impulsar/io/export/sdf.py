"""SDF 1.9: links where they are authored, and joints between any two of them: loops are joints like others."""

from math import isfinite, pi
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from ...author.model import Model
from ...author.parts import Body, Features, Joint
from ...author.shapes import Box, Capsule, Cylinder, Shape, Sphere
from .robots import ExportReport, colour_of, note_rest, numbers, refused, starts_off, text_of
from .surface import COLOURS

TYPES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {  # SDF's name, and axis and group of each freedom
    "fixed": ("fixed", ()),
    "revolute": ("revolute", (("0 0 1", "angle"),)),
    "prismatic": ("prismatic", (("0 0 1", "slide"),)),
    "universal": ("universal", (("0 0 1", "first"), ("1 0 0", "second"))),
    "spherical": ("ball", ()),
    "screw": ("screw", (("0 0 1", "angle"),)),
}


def to_sdf(model: Model) -> tuple[str, ExportReport]:
    """The text of an SDF file and what of the model is not in it."""
    report = ExportReport(format="SDF")
    note_rest(model, report)
    root = Element("sdf", version="1.9")
    world = SubElement(root, "world", name="world")
    SubElement(world, "gravity").text = numbers(model.gravity)
    holder = SubElement(world, "model", name=model.name)
    for name in model.couplings:
        raise refused("SDF", f"coupling '{name}'", "couplings of any joints")
    for name in model.springs:
        report.add("ignored", f"spring '{name}'", "has no counterpart")
    if model.ground.shapes or model.obstacles:
        report.add("ignored", "shapes of the ground", "are not written")
    for k, body in enumerate(model.bodies.values()):
        _link(holder, body, body.colour or COLOURS[k % len(COLOURS)], report)
    for joint in model.joints.values():
        if joint.type == "free":
            continue  # what SDF does not join is free
        if joint.type not in TYPES:
            raise refused("SDF", f"joint '{joint.name}'", f"a {joint.type} joint")
        _joint(holder, model, joint)
    return text_of(root), report


def _link(holder: Element, body: Body, colour: str, report: ExportReport) -> None:
    link = SubElement(holder, "link", name=body.name)
    _pose(link, body.position, body.orientation)
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "mass").text = repr(float(body.mass))
    inertia = SubElement(inertial, "inertia")
    for i in range(3):
        for j in range(i, 3):
            SubElement(inertia, f"i{'xyz'[i]}{'xyz'[j]}").text = repr(float(body.inertia[i, j]))
    for k, shape in enumerate(body.shapes):
        form = _form(shape)
        if form is None:
            told = f"a {type(shape).__name__}: it would be a file of its own"
            report.add("ignored", f"body '{body.name}'", told)
            continue
        for tag in ("visual", "collision") if shape.material or body.material else ("visual",):
            seen = SubElement(link, tag, name=f"{tag} {k}")
            _pose(seen, shape.offset, shape.orientation)
            SubElement(seen, "geometry").append(form)
            if tag == "visual":
                SubElement(SubElement(seen, "material"), "diffuse").text = colour_of(colour)


def _joint(holder: Element, model: Model, joint: Joint) -> None:
    kind, axes = TYPES[joint.type]
    element = SubElement(holder, "joint", name=joint.name, type=kind)
    is_turned = joint.second == "ground"  # a child is a link: the same joint seen from the other side
    parent, child = (joint.second, joint.first) if is_turned else (joint.first, joint.second)
    SubElement(element, "parent").text = "world" if parent == "ground" else parent
    SubElement(element, "child").text = child
    _pose(element, *((joint.p_PF, joint.q_PF) if is_turned else (joint.p_CM, joint.q_CM)))
    for k, (xyz, group) in enumerate(axes[::-1] if is_turned else axes):
        features = joint.features[group]
        if (features.limits is not None or features.stiffness) and starts_off(model, joint):
            raise refused("SDF", f"joint '{joint.name}'", "limits or springs of a joint that does not start at zero")
        axis = SubElement(element, "axis" if k == 0 else "axis2")
        SubElement(axis, "xyz").text = " ".join(f"-{c}" if c != "0" else c for c in xyz.split()) if is_turned else xyz
        _features(axis, features)
    if joint.pitch is not None:
        SubElement(element, "screw_thread_pitch").text = repr(2 * pi * joint.pitch)


def _features(axis: Element, features: Features) -> None:
    limit = SubElement(axis, "limit")
    for name, value in zip(("lower", "upper"), features.limits or (-np.inf, np.inf), strict=True):
        SubElement(limit, name).text = repr(float(value)) if isfinite(value) else ("-inf" if value < 0 else "inf")
    viscous = float(features.viscous + features.damping)
    found = {"damping": viscous, "friction": features.friction, "spring_stiffness": features.stiffness}
    dynamics = SubElement(axis, "dynamics")
    for name, value in (found | {"spring_reference": features.rest}).items():
        SubElement(dynamics, name).text = repr(float(value))


def _form(shape: Shape) -> Element | None:
    """The element of a shape; None of one that SDF keeps in a file of its own."""
    if isinstance(shape, Box):
        sizes = {"size": numbers(shape.size)}
    elif isinstance(shape, Sphere):
        sizes = {"radius": repr(float(shape.radius))}
    elif isinstance(shape, Cylinder | Capsule):
        sizes = {"radius": repr(float(shape.radius)), "length": repr(float(shape.length))}
    else:
        return None
    form = Element(type(shape).__name__.lower())
    for name, text in sizes.items():
        SubElement(form, name).text = text
    return form


def _pose(element: Element, p: np.ndarray, q: np.ndarray) -> None:
    SubElement(element, "pose", rotation_format="quat_xyzw").text = numbers(p, q)
