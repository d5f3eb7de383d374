"""MJCF: bodies in a tree with elementary joints, loops by equalities between sites, springs as tendons."""

import math
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from ...author.couplings import Coupling
from ...author.model import Model
from ...author.parts import Body, Joint, Motor
from ...author.rotations import quaternion, rotation_matrix
from ...author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Shape, Sphere
from ...author.surfaces import Obstacle
from .robots import (
    BALL,
    FREE,
    HINGE,
    ExportReport,
    Limb,
    Skeleton,
    Step,
    colour_of,
    numbers,
    refused,
    skeleton,
    text_of,
)
from .surface import COLOURS, STILL, shape_surface

ARM = 0.1  # [m] along a hinge that closes a loop, between the two points that hold it
KINDS = {HINGE: "hinge", "slide": "slide", BALL: "ball"}


def to_mjcf(model: Model, dt: float) -> tuple[str, ExportReport]:
    """The text of an MJCF file and what of the model is not in it."""
    return _Writer(skeleton(model, "MJCF"), dt).written()


class _Writer:
    """One file on its way."""

    def __init__(self, bones: Skeleton, dt: float):
        self.bones, self.model, self.report = bones, bones.model, bones.report
        self.root = Element("mujoco", model=self.model.name)
        SubElement(self.root, "compiler", angle="radian", autolimits="true")
        SubElement(self.root, "option", gravity=numbers(self.model.gravity), timestep=repr(dt), integrator="RK4")
        self.asset, self.world = SubElement(self.root, "asset"), SubElement(self.root, "worldbody")
        self.ends = {name: SubElement(self.root, name) for name in ("tendon", "equality", "actuator")}
        self.elements: dict[str, Element] = {"ground": self.world}
        self.names: set[str] = set()  # of geoms

    def written(self) -> tuple[str, ExportReport]:
        model = self.model
        self._ground()
        for k, limb in enumerate(self.bones.limbs.values()):
            self._body(limb, model.bodies[limb.body].colour or COLOURS[k % len(COLOURS)])
        for joint in self.bones.loops:
            self._loop(joint)
        for probe in model.probes.values():
            self._site(probe.body, probe.name, probe.p_BQ)
        for coupling in model.couplings.values():
            self._coupling(coupling)
        for spring in model.springs.values():
            tendon = SubElement(
                self.ends["tendon"], "spatial", name=spring.name, stiffness=repr(float(spring.stiffness)),
                damping=repr(float(spring.damping)), springlength=numbers(spring.free_length),
            )  # fmt: skip
            for end, p in ((spring.first, spring.p_PQ), (spring.second, spring.p_CQ)):
                SubElement(tendon, "site", site=self._site(end, f"{spring.name} at {end}", p))
        for part in [
            part for part in self.root if not len(part) and part.tag not in ("compiler", "option", "worldbody")
        ]:
            self.root.remove(part)
        return text_of(self.root), self.report

    def _coupling(self, coupling: Coupling) -> None:
        """An equality of two joints, or of several by a tendon over them."""
        ends = [(self.bones.step_of(joint, group), weight) for joint, group, weight in coupling.ends]
        named = [(step.name, weight) for step, weight in ends if step is not None]
        if len(named) < len(ends):
            raise refused("MJCF", f"coupling '{coupling.name}'", "a coupling of a joint that closes a loop")
        if not coupling.more:
            SubElement(
                self.ends["equality"], "joint", name=coupling.name, joint1=named[1][0], joint2=named[0][0],
                polycoef=numbers(coupling.offset, coupling.ratio, 0, 0, 0),
            )  # fmt: skip
            return
        tendon = SubElement(self.ends["tendon"], "fixed", name=coupling.name)
        for name, weight in [named[0], *named[2:], named[1]]:  # the reader solves it for the last
            SubElement(tendon, "joint", joint=name, coef=numbers(weight))
        polynomial = numbers(coupling.offset, 0, 0, 0, 0)
        SubElement(self.ends["equality"], "tendon", name=coupling.name, tendon1=coupling.name, polycoef=polynomial)

    def _ground(self) -> None:
        owners: list[Body | Obstacle] = [self.model.ground, *self.model.obstacles.values()]
        for owner in owners:
            for shape in owner.shapes:
                X = np.asarray(owner.position), rotation_matrix(owner.orientation)
                self._geom(self.world, shape, STILL, shape.material or getattr(owner, "material", None), *X)

    def _body(self, limb: Limb, colour: str) -> None:
        body: Body = self.model.bodies[limb.body]
        element = SubElement(
            self.elements[limb.parent], "body", name=limb.body, pos=numbers(limb.p_PL), quat=_wxyz(limb.R_PL)
        )
        self.elements[limb.body] = element
        for step in limb.steps:
            self._joint(element, step, limb.anchor)
        inertia = body.inertia
        SubElement(
            element, "inertial", pos=numbers(-limb.p_BL), mass=repr(float(body.mass)),
            fullinertia=numbers(np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]),
        )  # fmt: skip
        for visual in body.visuals:
            geom = self._geom(element, visual.shape, visual.colour or colour, None, -limb.p_BL, np.eye(3))
            if geom is not None and visual.name:
                geom.set("name", self._free(visual.name))
        for shape in body.shapes:
            geom = self._geom(element, shape, colour, shape.material or body.material, -limb.p_BL, np.eye(3))
            if geom is not None and body.visuals:  # there to touch, in a group that viewers hide
                geom.attrib |= {"group": "3", "contype": "1", "conaffinity": "1"}

    def _free(self, name: str) -> str:
        """A name of a geom that no other has."""
        new, k = name, 2
        while new in self.names:
            new, k = f"{name} {k}", k + 1
        self.names.add(new)
        return new

    def _joint(self, element: Element, step: Step, anchor: np.ndarray) -> None:
        if step.kind == FREE:
            SubElement(element, "freejoint", name=step.name)
            return
        own = SubElement(element, "joint", name=step.name, type=KINDS[step.kind])
        if anchor.any():
            own.set("pos", numbers(anchor))
        features = step.features
        if step.kind != BALL:
            own.set("axis", numbers(step.axis))
            if features.limits is not None:
                own.set("range", numbers(np.clip(features.limits, -1e10, 1e10)))
        elif features.limits is not None:
            self.report.add("ignored", f"joint '{step.name}'", "limits of its twist")
        if features.viscous + features.damping:
            own.set("damping", repr(features.viscous + features.damping))
        if features.friction:
            own.set("frictionloss", repr(float(features.friction)))
        if features.armature:
            own.set("armature", repr(float(features.armature)))
        if features.stiffness:
            own.set("stiffness", repr(float(features.stiffness)))
            if step.kind != BALL:
                own.set("springref", repr(float(features.rest)))
        if features.motor is not None and step.kind != BALL:
            self._motor(step.name, features.motor)

    def _motor(self, joint: str, motor: Motor) -> None:
        """An actuator with the gains of a servo, or of a torque, at no signal; a rigid drive has no counterpart."""
        if motor.what != "torque" and not motor.is_servo:
            return
        tag = "motor" if motor.what == "torque" else "position" if motor.kp else "velocity"
        own = SubElement(self.ends["actuator"], tag, name=f"{joint} motor", joint=joint, gear=repr(float(motor.gear)))
        if motor.kp:
            own.set("kp", repr(float(motor.kp)))
        if motor.is_servo:
            own.set("kv", repr(float(motor.kv or 0.0)))
        if math.isfinite(motor.max_torque):
            own.set("forcerange", numbers([-motor.max_torque, motor.max_torque]))

    def _site(self, body: str, name: str, p: np.ndarray, R: np.ndarray | None = None) -> str:
        """A point or frame of a body; its name."""
        site = SubElement(self.elements[body], "site", name=name, pos=numbers(p - self.bones.offset(body)))
        if R is not None:
            site.set("quat", _wxyz(R))
        return name

    def _loop(self, joint: Joint) -> None:
        """A ball or a weld is one equality, a hinge two points of its axis."""
        if joint.type not in ("spherical", "fixed", "revolute"):
            raise refused("MJCF", f"joint '{joint.name}'", f"a {joint.type} joint that closes a loop")
        if any(vars(features) != vars(type(features)()) for features in joint.features.values()):
            self.report.add("ignored", f"joint '{joint.name}'", "what acts in a joint that closes a loop")
        frames = [(joint.first, joint.p_PF, joint.q_PF), (joint.second, joint.p_CM, joint.q_CM)]
        kind = "weld" if joint.type == "fixed" else "connect"
        for k in range(2 if joint.type == "revolute" else 1):
            name = joint.name if k == 0 else f"{joint.name} axis"
            sites = []
            for which, (body, p, q) in enumerate(frames):
                R = rotation_matrix(q)
                sites.append(self._site(body, f"{name} {'FM'[which]}", p + k * ARM * R[:, 2], R))
            SubElement(self.ends["equality"], kind, name=name, site1=sites[0], site2=sites[1])

    def _geom(
        self, element: Element, shape: Shape, colour: str, material: str | None, p: np.ndarray, R: np.ndarray
    ) -> Element | None:
        """A shape that touches if it has a material."""
        if isinstance(shape, HeightField):
            self.report.add("ignored", "a height field", "is not written")
            return None
        geom = SubElement(element, "geom", rgba=colour_of(colour), pos=numbers(p + R @ shape.offset))
        geom.set("quat", _wxyz(R @ rotation_matrix(shape.orientation)))
        touches = "1" if material else "0"
        geom.set("contype", touches)
        geom.set("conaffinity", touches)
        if material and material in self.model.materials:
            geom.set("friction", numbers(self.model.materials[material].friction, 0.0, 0.0))
        if isinstance(shape, Box):
            geom.attrib |= {"type": "box", "size": numbers(np.asarray(shape.size) / 2)}
        elif isinstance(shape, Sphere):
            geom.attrib |= {"type": "sphere", "size": numbers(shape.radius)}
        elif isinstance(shape, Capsule | Cylinder):
            kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
            geom.attrib |= {"type": kind, "size": numbers(shape.radius, shape.length / 2)}
        elif isinstance(shape, Plane):
            geom.attrib |= {"type": "plane", "size": "0 0 1"}
        else:
            assert isinstance(shape, Cone | ConvexHull | Mesh)
            self._mesh(geom, shape, p, R)
        return geom

    def _mesh(self, geom: Element, shape: Shape, p: np.ndarray, R: np.ndarray) -> None:
        vertices, triangles = shape_surface(shape)
        name = f"mesh {len(self.asset)}"
        SubElement(self.asset, "mesh", name=name, vertex=numbers(vertices), face=" ".join(map(str, triangles.ravel())))
        geom.attrib |= {"type": "mesh", "mesh": name, "pos": numbers(p), "quat": _wxyz(R)}


def _wxyz(R: np.ndarray) -> str:
    x, y, z, w = quaternion(R)
    return numbers([w, x, y, z])
