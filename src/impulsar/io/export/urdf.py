"""URDF: links and joints of one freedom; loops as <loop_joint>, couplings as <mimic>."""

from xml.etree.ElementTree import Element, SubElement

import numpy as np

from ...author.model import Model
from ...author.parts import Joint
from ...author.rotations import rotation_matrix
from ...author.shapes import Box, Capsule, Cylinder, Shape, Sphere
from .robots import (
    BALL,
    FREE,
    HINGE,
    SLIDE,
    ExportReport,
    Limb,
    MeshFiles,
    Skeleton,
    Step,
    colour_of,
    numbers,
    refused,
    rpy_of,
    seen_and_touching,
    skeleton,
    text_of,
)
from .surface import COLOURS

WORLD = "world"
LOOPS = ("revolute", "prismatic", "fixed", "spherical")  # types that have one axis or none
LARGE = 1e9  # bound of a drive that has none: readers want one
NO_BOUND = 1e16  # bound of a slide that has none, likewise


def to_urdf(model: Model, files: dict[str, bytes] | None = None, folder: str = "meshes") -> tuple[str, ExportReport]:
    """The text of a URDF file and what of the model is not in it; meshes are put into `files`, by their
    paths beside it, in a folder."""
    bones, meshes = skeleton(model, "URDF"), MeshFiles(files, folder)
    root = Element("robot", name=model.name)
    names = {WORLD, *model.bodies}
    if len(names) == len(model.bodies):
        raise refused("URDF", "body 'world'", "a body of this name: it is the ground's")
    SubElement(root, "link", name=WORLD)
    if np.abs(np.asarray(model.gravity) - (0.0, 0.0, -9.81)).max() > 1e-12:
        bones.report.add("ignored", "gravity", f"{numbers(model.gravity)} is for the reader to set")
    for spring in model.springs:
        bones.report.add("ignored", f"spring '{spring}'", "has no counterpart")
    if model.ground.shapes or model.obstacles:
        bones.report.add("ignored", "shapes of the ground", "are not written")
    for k, limb in enumerate(bones.limbs.values()):
        _link(root, bones, limb, model.bodies[limb.body].colour or COLOURS[k % len(COLOURS)], meshes)
    for joint in bones.loops:
        _loop(root, bones, joint)
    return text_of(root), bones.report


def _link(root: Element, bones: Skeleton, limb: Limb, usual: str, meshes: MeshFiles) -> None:
    body = bones.model.bodies[limb.body]
    for name in limb.inner:
        SubElement(root, "link", name=name)
    link = SubElement(root, "link", name=limb.body)
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "origin", xyz=numbers(-limb.p_BL), rpy="0 0 0")
    SubElement(inertial, "mass", value=repr(float(body.mass)))
    inertia = {f"i{'xyz'[i]}{'xyz'[j]}": repr(float(body.inertia[i, j])) for i in range(3) for j in range(i, 3)}
    SubElement(inertial, "inertia", inertia)
    seen, solid = seen_and_touching(body, usual)
    for whole, colour, name in seen:
        for shape in _pieces(whole):
            visual = _form(link, "visual", bones, limb, shape, meshes, name if body.visuals else "")
            if visual is not None:
                SubElement(SubElement(visual, "material", name=colour), "color", rgba=colour_of(colour))
    for whole, _ in solid:
        for shape in _pieces(whole):
            _form(link, "collision", bones, limb, shape, meshes)
    parent = WORLD if limb.parent == "ground" else limb.parent
    links = [parent, *limb.inner, limb.body]
    for k, step in enumerate(limb.steps or (None,)):
        X = (limb.p_PL, limb.R_PL) if k == 0 else (np.zeros(3), np.eye(3))
        _joint(root, bones, limb, step, links[k : k + 2], *X)


def _joint(
    root: Element, bones: Skeleton, limb: Limb, step: Step | None, ends: list[str], p: np.ndarray, R: np.ndarray
) -> None:
    kind = (
        "fixed"
        if step is None
        else {HINGE: "continuous", SLIDE: "prismatic", BALL: "spherical", FREE: "floating"}[step.kind]
    )
    joint = SubElement(root, "joint", name=limb.joint if step is None else step.name, type=kind)
    SubElement(joint, "parent", link=ends[0])
    SubElement(joint, "child", link=ends[1])
    SubElement(joint, "origin", xyz=numbers(p), rpy=numbers(rpy_of(R)))
    if step is None or step.kind == FREE:
        return
    if step.kind == BALL:
        bones.report.add("changed", f"joint '{step.name}'", "is of type 'spherical', which not all readers know")
    else:
        SubElement(joint, "axis", xyz=numbers(step.axis))
    features = step.features
    if step.kind == SLIDE or (features.limits is not None and step.kind == HINGE):
        joint.set("type", "revolute" if step.kind == HINGE else kind)
        limits = np.clip(features.limits or (-np.inf, np.inf), -NO_BOUND, NO_BOUND).tolist()
        most = LARGE if features.motor is None else min(features.motor.max_torque, LARGE)
        bounds = dict(zip(("lower", "upper"), map(repr, limits), strict=True))
        SubElement(joint, "limit", bounds | {"effort": repr(most), "velocity": repr(LARGE)})
    viscous = features.viscous + features.damping
    if viscous or features.friction:
        SubElement(joint, "dynamics", damping=repr(float(viscous)), friction=repr(float(features.friction)))
    if features.stiffness:
        bones.report.add("ignored", f"joint '{step.name}'", f"its spring of {features.stiffness:g}")
    _mimic(joint, bones, limb, step)


def _mimic(element: Element, bones: Skeleton, limb: Limb, step: Step) -> None:
    for coupling in bones.model.couplings.values():
        if coupling.more:
            raise refused("URDF", f"coupling '{coupling.name}'", "a coupling of more than two joints")
        if (coupling.joint_b, coupling.group_b) != (limb.joint, step.group):
            continue
        leader = bones.step_of(coupling.joint_a, coupling.group_a)
        if leader is None or element.find("mimic") is not None:
            raise refused("URDF", f"coupling '{coupling.name}'", "a second coupling of a joint, or one of a loop's")
        SubElement(
            element, "mimic", joint=leader.name, multiplier=repr(float(coupling.ratio)),
            offset=repr(float(coupling.offset)),
        )  # fmt: skip


def _loop(root: Element, bones: Skeleton, joint: Joint) -> None:
    if joint.type not in LOOPS:
        raise refused("URDF", f"joint '{joint.name}'", f"a {joint.type} joint that closes a loop")
    coupled = [c.name for c in bones.model.couplings.values() if joint.name in c.joints]
    if coupled:
        raise refused("URDF", f"coupling '{coupled[0]}'", "a coupling of a joint that closes a loop")
    if any(vars(features) != vars(type(features)()) for features in joint.features.values()):
        bones.report.add("ignored", f"joint '{joint.name}'", "what acts in a joint that closes a loop")
    kind = "continuous" if joint.type == "revolute" else joint.type
    element = SubElement(root, "loop_joint", name=joint.name, type=kind)
    for k, (body, p, q) in enumerate(
        ((joint.first, joint.p_PF, joint.q_PF), (joint.second, joint.p_CM, joint.q_CM)), 1
    ):
        link = WORLD if body == "ground" else body
        R = rotation_matrix(q)
        SubElement(
            element, f"link{k}", link=link, xyz=numbers(p - bones.offset(body)), rpy=numbers(rpy_of(R))
        )  # fmt: skip
    if joint.kind.has_axis:
        SubElement(element, "axis", xyz="0 0 1")
    bones.report.add("changed", f"joint '{joint.name}'", "closes a loop by <loop_joint>, which not all readers know")


def _pieces(shape: Shape) -> list[Shape]:
    """A capsule as a cylinder and two spheres, which is the same: few readers of URDF have capsules."""
    if not isinstance(shape, Capsule):
        return [shape]
    along = rotation_matrix(shape.orientation)[:, 2] * shape.length / 2
    ends = [Sphere(shape.radius, offset=shape.offset + sign * along, material=shape.material) for sign in (1, -1)]
    tube = Cylinder(
        shape.radius, shape.length, offset=shape.offset, orientation=shape.orientation, material=shape.material
    )
    return [tube, *ends]


def _form(
    link: Element, tag: str, bones: Skeleton, limb: Limb, shape: Shape, meshes: MeshFiles, name: str = ""
) -> Element | None:
    """A <visual> or <collision>; None of a mesh that is not written."""
    form: Element
    if isinstance(shape, Box):
        form = Element("box", size=numbers(shape.size))
    elif isinstance(shape, Sphere):
        form = Element("sphere", radius=repr(float(shape.radius)))
    elif isinstance(shape, Cylinder):
        form = Element("cylinder", radius=repr(float(shape.radius)), length=repr(float(shape.length)))
    else:
        path = meshes.put(shape, f"body '{limb.body}'", bones.report)
        if path is None:
            return None
        form = Element("mesh", filename=path)
    found = SubElement(link, tag, {"name": name} if name else {})
    place = numbers(rpy_of(rotation_matrix(shape.orientation)))
    SubElement(found, "origin", xyz=numbers(shape.offset - limb.p_BL), rpy=place)
    SubElement(found, "geometry").append(form)
    return found
