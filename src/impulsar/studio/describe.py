"""What a client is told of a world: its parts and their parameters as a Scene, what acts now as a Live."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..author import parts as model_parts
from ..author.checks import is_number
from ..author.joints import CATALOGUE, Group
from ..author.materials import COMMON
from ..author.model import Model
from ..author.parts import Features as ModelFeatures
from ..author.parts import Joint as ModelJoint
from ..author.parts import Load, Motor
from ..author.placing import NO_AXIS, TWO_AXES
from ..author.profiles import Component, Formula, Harmonic, Passage, Scalar, Table
from ..author.rotations import rotation_matrix
from ..author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere
from ..author.shapes import Shape as ModelShape
from ..author.sizes import SIZES, size_of
from ..edits.hands import grip
from ..edits.parameters import GRAVITY, UNLIMITED, of_part
from ..engine.methods import METHODS
from ..engine.system import System
from ..engine.system.slots import MOTORS
from ..io.loaders import suffixes
from ..observe.quantities import KINDS as KINDS_OF_PARTS
from ..observe.quantities import QUANTITIES
from ..observe.readout import coordinate_name
from ..scenes import SCENES
from ..world.world import World
from . import messages as ms
from . import sensing
from .geometry import digest_of

THUMBNAILS = Path(__file__).parent / "thumbnails"  # strips of poses of scenes (tools/thumbnails.py)
MOST_HULLS = 1024  # kept, some 30 kB each
FEATURES = (  # that one number gives
    *("friction", "static_friction", "viscous", "stiffness", "damping", "rest", "armature"),
)
KINDS = {
    Box: "box",
    Sphere: "sphere",
    Cylinder: "cylinder",
    Capsule: "capsule",
    Cone: "cone",
    ConvexHull: "hull",
    Plane: "plane",
    Mesh: "mesh",
    HeightField: "height-field",
}


def scene(
    model: Model, generation: int, topology: int, size: float, gravity: ms.Parameter, parts: dict[str, Any]
) -> ms.Scene:
    """Everything there is to draw and to set."""
    return ms.Scene(
        generation=generation,
        topology=topology,
        name=model.name,
        gravity=gravity.value,
        size=size,
        reference_energy=None if model.reference_energy is None else float(model.reference_energy),
        ground=[shape(item) for item in model.ground.shapes],
        **parts,
        parameters=[gravity],
        variables=variables(model),
        expressions=dict(model.expressions),
        joint_kinds=[
            ms.JointKind(
                name=kind.name,
                groups=[group.name for group in kind.groups],
                axes=0 if kind.name in NO_AXIS else 2 if kind.name in TWO_AXES else 1,
            )
            for kind in CATALOGUE.values()
        ],
        methods=list(METHODS),
        quantities=quantities(),
        scenes=scene_entries(),
        materials=list(COMMON),
        suffixes=suffixes(),
    )


def quantities() -> list[ms.Quantity]:
    """What can be measured, as the page plots it."""
    found = []
    for q in QUANTITIES.values():
        title = q.title or q.name.rpartition(".")[2].replace("_", " ")
        parts = q.panes or {title: tuple(q.endings)}
        for name, components in parts.items():
            endings = [ending if q.panes is None else f"{q.tail}.{ending}" for ending in components]
            found.append(
                ms.Quantity(
                    of=q.kind, title=name, unit=q.unit, slide_unit=q.slide_unit or q.unit, endings=endings, doc=q.doc
                )
            )
    return found


def scene_entries() -> list[ms.SceneEntry]:
    """The scenes there are."""
    return [
        ms.SceneEntry(
            name=entry.name,
            description=entry.description,
            parameters=dict(entry.parameters),
            choices={name: list(texts) for name, texts in entry.choices.items()},
            invite=entry.invite,
            picture=(THUMBNAILS / f"{entry.name}.webp").is_file(),
        )
        for entry in SCENES.values()
    ]


def part(world: World, kind: str, name: str) -> Any:
    """A part as it is now."""
    return PARTS[kind](world, name)


def gravity(world: World) -> ms.Parameter:
    return _parameter("model", GRAVITY, world.system.model.gravity)


def variables(model: Model) -> list[ms.Variable]:
    """The parameters that expressions are of."""
    return [ms.Variable(**vars(own)) for own in model.parameters.values()]


def reach(shape: ModelShape) -> np.ndarray:
    """Half extents of a shape along its body's axes, roughly [m]."""
    if isinstance(shape, Box):
        half = np.asarray(shape.size) / 2
    elif isinstance(shape, ConvexHull | Mesh):
        half = np.abs(np.asarray(shape.points if isinstance(shape, ConvexHull) else shape.vertices)).max(axis=0)
    elif isinstance(shape, HeightField):
        half = np.array([*np.asarray(shape.size) / 2, np.abs(np.asarray(shape.heights)).max()])
    elif isinstance(shape, Cylinder | Capsule | Cone):
        half = np.array([shape.radius, shape.radius, shape.length / 2])
    elif isinstance(shape, Sphere):
        half = np.full(3, shape.radius)
    else:
        half = np.zeros(3)
    return np.abs(rotation_matrix(shape.orientation)) @ half


def _body(world: World, name: str) -> ms.Body:
    body = world.system.model.bodies[name]
    return ms.Body(
        name=name,
        mass=float(body.mass),
        shapes=[shape(item) for item in body.shapes],
        visuals=[replace(shape(item.shape), colour=item.colour) for item in body.visuals],
        link=[_list(body.p_BL), _list(body.q_BL)] if body.has_link else None,
        material=body.material,
        colour=body.colour,
        parameters=[*_parameters("body", body), *_sizes(body)],
    )


def _sizes(body: model_parts.Body) -> list[ms.Parameter]:
    """Sizes of a body of one shape, and the density that its mass follows."""
    names = SIZES.get(type(body.shapes[0]), ()) if len(body.shapes) == 1 else ()
    found = [
        ms.Parameter(name=name, value=np.asarray(size_of(body, name)).tolist(), unit="m", path=f"{body.name}.{name}")
        for name in names
    ]
    if body.density is not None:
        found.append(ms.Parameter(name="density", value=body.density, unit="kg/m³", path=f"{body.name}.density"))
    return found


def shape(item: ModelShape) -> ms.Shape:
    """A shape for drawing; a hull or mesh comes with its triangles."""
    points: list[list[float]] | None = None
    triangles: list[list[int]] | None = None
    if isinstance(item, ConvexHull):
        corners, faces = hull(np.asarray(item.points))
        points, triangles = corners.tolist(), faces.tolist()
    digest = digest_of(item) if isinstance(item, Mesh) else None
    if isinstance(item, Mesh):
        vertices = np.asarray(item.vertices)
        points = [vertices.min(axis=0).tolist(), vertices.max(axis=0).tolist()] if digest else vertices.tolist()
        triangles = None if digest else np.asarray(item.triangles).tolist()
    return ms.Shape(
        kind=KINDS[type(item)],  # type: ignore[arg-type]
        offset=_list(item.offset),
        orientation=_list(item.orientation),
        size=_list(item.size) if isinstance(item, Box | HeightField) else None,
        radius=getattr(item, "radius", None),
        length=getattr(item, "length", None),
        points=points,
        digest=digest,
        triangles=triangles,
        heights=np.asarray(item.heights).tolist() if isinstance(item, HeightField) else None,
        material=item.material,
    )


def hull(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a convex hull and its triangles, anticlockwise seen from outside; of each shape found once."""
    points = np.ascontiguousarray(points, float)
    return _hull(points.tobytes())


@lru_cache(maxsize=MOST_HULLS)
def _hull(corners: bytes) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import ConvexHull as Hull

    points = np.frombuffer(corners).reshape(-1, 3)
    found = Hull(points)
    faces = found.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("fi,fi->f", np.cross(b - a, c - a), found.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return points[found.vertices], np.searchsorted(found.vertices, faces, sorter=np.argsort(found.vertices))


def _joint(world: World, name: str) -> ms.Joint:
    joint = world.system.model.joints[name]
    return ms.Joint(
        name=joint.name,
        joint_type=joint.type,
        first=joint.first,
        second=joint.second,
        p_PF=_list(joint.p_PF),
        q_PF=_list(joint.q_PF),
        p_CM=_list(joint.p_CM),
        q_CM=_list(joint.q_CM),
        length=joint.length,
        pitch=joint.pitch,
        groups=[_group(world, joint, group) for group in joint.kind.groups],
        loop=bool(joint.loop),
        closed=None if joint.closed is None else str(joint.closed["type"]),
    )


def _group(world: World, joint: ModelJoint, group: Group) -> ms.Group:
    return ms.Group(
        name=group.name,
        kind="ball" if group.is_ball else "slide" if group.is_slide else "angle",
        unit=group.unit,
        force_unit=group.force_unit,
        coordinates=[coordinate_name(joint, group, code) for code in group.freedoms],
        features=_features(world, joint, group, joint.features[group.name]),
    )


def _features(world: World, joint: ModelJoint, group: Group, features: ModelFeatures) -> list[ms.Parameter]:
    """Features by the keywords of `Model.joint`; ChangeJoint sets any of them."""
    limits: Any = None if features.limits is None else _list(features.limits)
    if group.is_ball and (features.limits is not None or features.swing is not None):
        limits = {"swing": features.swing, "twist": limits}
    found = [
        ms.Parameter(name="limits", value=limits, unit=group.unit, set_by="ChangeJoint"),
        ms.Parameter(name="limit_restitution", value=features.restitution, unit="1", set_by="ChangeJoint"),
    ]
    there = of_part(world.system, joint.name) if len(joint.kind.groups) == 1 else {}
    for name in FEATURES:
        parameter = model_parts.PARTS["joint"].parameter(name)
        assert parameter is not None
        told = _parameter(joint.name, parameter, getattr(features, name), group)
        found.append(told if name in there else replace(told, path=None, set_by="ChangeJoint"))
    return found


def _spring(world: World, name: str) -> ms.Spring:
    spring = world.system.model.springs[name]
    return ms.Spring(
        name=name,
        first=spring.first,
        second=spring.second,
        at_first=_list(spring.p_PQ),
        at_second=_list(spring.p_CQ),
        parameters=_parameters("spring", spring),
    )


def _coupling(world: World, name: str) -> ms.Coupling:
    coupling = world.system.model.couplings[name]
    ends = []
    for joint_name, group_name, _ in coupling.ends:
        joint = world.system.model.joints[joint_name]
        group = joint.kind.group(group_name)
        ends.append(coordinate_name(joint, group, group.freedoms[0]))
    known = _parameters("coupling", coupling)
    for name, (path, weight) in zip(ends[2:], coupling.more.items(), strict=True):
        known.append(ms.Parameter(name=name, value=weight, unit="1", path=f"{coupling.name}.{path}"))
    return ms.Coupling(
        name=name,
        joint_a=coupling.joint_a,
        joint_b=coupling.joint_b,
        ratio=float(coupling.ratio),
        belt=coupling.belt,
        coordinate_a=ends[0],
        coordinate_b=ends[1],
        more=ends[2:],
        parameters=known,
    )


def _probe(world: World, name: str) -> ms.Probe:
    probe = world.system.model.probes[name]
    return ms.Probe(name=name, body=probe.body, at=_list(probe.p_BQ))


def _obstacle(world: World, name: str) -> ms.Obstacle:
    item = world.system.model.obstacles[name]
    return ms.Obstacle(
        name=name,
        position=_list(item.position),
        orientation=_list(item.orientation),
        shape=shape(item.shape),
        material=item.material,
    )


def _element(world: World, name: str) -> ms.Element:
    """A part as the table of part kinds has it."""
    model = world.system.model
    kind, item = str(model.kind_of(name)), model.part(name)
    if kind == "sensor":
        return sensing.element(world, name)
    entry = model_parts.PARTS[kind]
    return ms.Element(
        name=name,
        kind=kind,
        refers={field: name for field in entry.refers if (name := getattr(item, field)) is not None},
        parts=list(getattr(item, entry.lists)) if entry.lists else [],
        points=[ms.Point(body=getattr(item, at.body), at=_list(getattr(item, at.field))) for at in entry.points],
        parameters=_parameters(kind, item),
    )


PARTS = {
    "bodies": _body,
    "joints": _joint,
    "springs": _spring,
    "probes": _probe,
    "couplings": _coupling,
    "obstacles": _obstacle,
    "elements": _element,
}
OTHERS = [entry.plural for entry in model_parts.PARTS.values() if entry.drawn and entry.plural not in PARTS]


def listed(model: Model, kind: str) -> dict[str, Any]:
    """The parts of a model that a Scene lists under a kind, by name."""
    if kind != "elements":
        return getattr(model, kind)
    return {name: part for where in OTHERS for name, part in getattr(model, where).items()}


def _parameters(kind: str, item: Any) -> list[ms.Parameter]:
    """What can be set of a part, by the table of part kinds."""
    table = model_parts.PARTS[kind].parameters
    return [_parameter(item.name, parameter, _shown(getattr(item, parameter.name), parameter)) for parameter in table]


def _shown(value: Any, parameter: model_parts.Parameter) -> Any:
    """A value as fields show it: of an input that is no constant, nothing."""
    if parameter.inputs is None:
        return value
    size = parameter.inputs[1] - parameter.inputs[0]
    items = value if isinstance(value, tuple | list | np.ndarray) and len(value) == size else (None,)
    return list(items) if all(is_number(item) for item in items) else None


def _parameter(owner: str, parameter: model_parts.Parameter, value: Any, group: Group | None = None) -> ms.Parameter:
    """A parameter with its value now, in a batch of the first world."""
    units = {} if group is None else group.units
    return ms.Parameter(
        name=parameter.name,
        value=None if value is None else float(value) if np.ndim(value) == 0 else np.asarray(value).tolist(),
        unit=parameter.unit.format(**units),
        path=f"{owner}.{parameter.name}",
        optional=parameter.optional,
    )


# what acts now --------------------------------------------------------------------------------------------


def live(world: World, revision: int, motors: "Motors", off: list[dict[str, Any]]) -> ms.Live:
    """Hands, loads and motors."""
    return ms.Live(revision=revision, hands=_hands(world), loads=_loads(world), motors=motors.of(world), off=off)


def _hands(world: World) -> list[ms.Hand]:
    system = world.system
    if not any(system.hand_names):
        return []
    names = _body_names(world)
    bodies = system.arrays.hand_body.numpy()
    points = system.parameter("hand_point")
    found = []
    for k, name in enumerate(system.hand_names):
        if name:
            own = grip(system, k)
            found.append(
                ms.Hand(
                    name=name,
                    body=names[int(bodies[k])],
                    at=_list(points[k, 0]),
                    stiffness=own.stiffness,
                    damping=own.damping,
                    angular_stiffness=own.angular_stiffness,
                    angular_damping=own.angular_damping,
                )
            )
    return found


def _loads(world: World) -> list[ms.Load]:
    system, rows = world.system, KINDS_OF_PARTS["load"].rows(world.runner.bench)
    if not rows:
        return []
    names = _body_names(world)
    bodies, turned = system.arrays.load_body.numpy(), system.arrays.load_in_body.numpy()
    first, points = system.arrays.load_channel.numpy(), system.parameter("load_point")
    return [
        ms.Load(
            name=name,
            body=names[int(bodies[i])],
            at=_list(points[i, 0]),
            frame="body" if turned[i] else "world",
            force=_values(system.channels.items[first[i] : first[i] + 3]),
            torque=_values(system.channels.items[first[i] + 3 : first[i] + 6]),
        )
        for name, i in rows.items()
    ]


class Motors:
    """The motors of a system: each is described again only when what it follows or its bound is another."""

    def __init__(self) -> None:
        self._system: System | None = None
        self._entries: list[tuple[ModelJoint, Group, list[int]]] = []  # with the slots of each
        self._known: list[tuple[list[Any], float, ms.Motor] | None] = []

    def of(self, world: World) -> list[ms.Motor]:
        """All of them now."""
        if world.system is not self._system:
            self._find(world.system)
        items, bounds = world.system.channels.items, world.system.parameter("slot_a")[:, 0].tolist()
        found = []
        for k, (joint, group, rows) in enumerate(self._entries):
            now, bound = [items[world.system.slots[r].channel] for r in rows], bounds[rows[0]]
            known = self._known[k]
            if known is None or known[1] != bound or any(a is not b for a, b in zip(known[0], now, strict=True)):
                known = self._known[k] = now, bound, _motor(joint, group, now, bound)
            found.append(known[2])
        return found

    def _find(self, system: System) -> None:
        self._system, self._entries = system, []
        for joint in system.model.joints.values():
            for group in joint.kind.groups:
                if joint.features[group.name].motor is not None:
                    own = [r for r in system.slots_of[joint.name] if system.slots[r].kind in MOTORS]
                    self._entries.append((joint, group, [r for r in own if system.slots[r].code in group.freedoms]))
        self._known = [None] * len(self._entries)


def _motor(joint: ModelJoint, group: Group, items: list[Any], bound: float) -> ms.Motor:
    motor = joint.features[group.name].motor
    assert motor is not None
    given = {"speed": motor.speed, "position": motor.position, "torque": motor.torque}
    quantity = next(name for name, value in given.items() if value is not None)
    unit = {"speed": f"{group.unit}/s", "position": group.unit, "torque": group.force_unit}[quantity]
    return ms.Motor(
        joint=joint.name,
        group=group.name,
        quantity=quantity,  # type: ignore[arg-type]
        value=_values(items) if group.is_ball else _value(items[0]),
        unit=unit,
        max_torque=bound if bound < UNLIMITED else None,
        kp=motor.kp,
        kv=motor.kv,
        gear=motor.gear,
    )


def _values(items: list[Scalar]) -> Any:
    return [_value(item) for item in items]


def _value(item: Any) -> Any:
    """A number, a profile as in scene files, or None for a callable."""
    if isinstance(item, Passage):
        kind = type(item).__name__.lower()
        return {"profile": kind, "start": item.start, "end": item.end, "t0": item.t0, "t1": item.t1}
    if isinstance(item, Harmonic):
        return {
            "profile": "harmonic",
            "mean": item.mean,
            "amplitude": item.amplitude,
            "omega": item.omega,
            "phase": item.phase,
        }
    if isinstance(item, Table):
        return {"profile": "table", "times": list(item.times), "values": list(item.values)}
    if isinstance(item, Formula):
        return {"profile": "formula", "text": item.text}
    if isinstance(item, Component):
        return None
    return float(np.ravel(item)[0])


def points_in(value: Any) -> int:
    """Points of the tables in an edit, as an object or as JSON."""
    if isinstance(value, Table):
        return np.size(value.values)
    if isinstance(value, dict) and value.get("profile") == "table":
        return np.size(value.get("values", ()))
    if isinstance(value, dict):
        return sum(map(points_in, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(points_in, value))
    return sum(points_in(part) for part in vars(value).values()) if isinstance(value, Motor | Load) else 0


def _body_names(world: World) -> dict[int, str]:
    return {index: name for name, index in world.system.body_index.items()}


def _list(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(values)]
