"""What a user authors: bodies, joints, springs, loads, probes, couplings, materials, obstacles, one part at a time.

Points and axes in the calls of `Model` are world coordinates at the authored pose, or for a point
("arm", (0, 0, 0.1)), a body and a point of its frame; the parts store them in the frames of their bodies.
A body's frame B has its origin at the centre of mass; ground's frame is the world W. Symbols of a joint as in
`joints`: F on its first body P, M on its second C.
"""

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from impulsar.author.checks import Vector, flag, is_number, not_negative, number, show, vector, weight
from impulsar.author.checks import colour as colour_of
from impulsar.author.errors import ModelError
from impulsar.author.expressions import read_expression
from impulsar.author.joints import CATALOGUE
from impulsar.author.names import RESERVED, check_name, closest
from impulsar.author.parts import (
    PARTS,
    Angle,
    Body,
    Coupling,
    Distance,
    Joint,
    Load,
    Motor,
    Probe,
    Spring,
    Variable,
    joint_type_of,
)
from impulsar.author.profiles import Value
from impulsar.author.rotations import unit_quaternion
from impulsar.author.shapes import Shape, check_solids, inertia_tensor, shape_list, uniform_solid
from impulsar.author.surfaces import Material, MaterialPair, Obstacle

from .couplings import split_coordinate
from .fluids import Fluid, Fluids, check_fluid
from .groups import Groups, check_group
from .imports import Imported
from .keyframes import Keyframes
from .measures import Measures
from .places import Place, PointOfBody, Way, along, is_point_of_body, is_two_places
from .placing import Frame, checked_frame, closed_joint, frame_gap, make_features, place_frames
from .sensing import Mounted, Sensing
from .surfacing import Surfaces, check_movable, check_pair
from .tyres import Tyre, Tyres
from .variables import (
    check_expressions,
    check_word,
    find_field,
    has_value,
    known_names,
    takes_expressions,
    values_of,
    with_values,
    write_field,
)
from .visuals import Visual, visual_list

KINDS = {name: kind.plural for name, kind in PARTS.items()}  # of parts, and where a model keeps them
COORDINATES = {group.name for kind in CATALOGUE.values() for group in kind.groups}  # "joint.slide"
COORDINATE_NAMES = (*COORDINATES, "rotation.x", "rotation.y", "rotation.z")
GAP = 1e-6  # how far joint frames may miss each other along locked directions [m, rad]


class Model(Measures, Groups, Keyframes, Surfaces, Fluids, Tyres, Sensing, Imported):
    """A mechanism as authored. `gravity` [m/s²] in world axes.

    `horizon` [s] until when solutions of different methods can be compared, `reference_energy` [J],
    `duration` [s] and `dt` [s] are a scene's own figures, None where it states none. `scene` is the catalogue's scene
    that it began as: what that is about is told of it as long as it is true.
    """

    def __init__(self, name: str = "model", gravity: Vector = (0.0, 0.0, -9.81)) -> None:
        self.name = check_name("model", name)
        self.gravity = vector(f"model '{name}'", "gravity", gravity, "m/s²")
        self.ground = Body("ground", 0.0, np.zeros((3, 3)))
        self.bodies: dict[str, Body] = {}  # without ground
        self.joints: dict[str, Joint] = {}
        self.springs: dict[str, Spring] = {}
        self.loads: dict[str, Load] = {}
        self.probes: dict[str, Probe] = {}
        self.couplings: dict[str, Coupling] = {}
        self.distances: dict[str, Distance] = {}
        self.angles: dict[str, Angle] = {}
        self.parameters: dict[str, Variable] = {}
        self.tyres: dict[str, Tyre] = {}
        self.materials = {}
        self.material_pairs = {}
        self.obstacles = {}
        self.no_contacts = {}
        self.fluids: dict[str, Fluid] = {}
        self.sensors: dict[str, Mounted] = {}
        for where in KINDS.values():
            vars(self).setdefault(where, {})
        self.expressions: dict[str, str] = {}  # "arm.mass": "2*a", what follows parameters (`variables`)
        self.script: list[tuple[float, object]] = []
        self.horizon: float | None = None
        self.reference_energy: float | None = None
        self.duration: float | None = None
        self.dt: float | None = None
        self.scene: str | None = None

    def copy(self, parts: bool = False) -> "Model":
        """A model that can be changed by itself: of the same parts, or with parts=True of copies of them."""
        parts = flag("model", "parts", parts)
        clone = copy.copy(self)
        clone.script, clone.expressions = list(self.script), dict(self.expressions)
        for kind in KINDS.values():
            own = getattr(self, kind)
            setattr(clone, kind, {name: copy.copy(part) for name, part in own.items()} if parts else dict(own))
        if parts:
            clone.ground = copy.copy(self.ground)
            for joint in clone.joints.values():
                joint.features = {name: copy.copy(features) for name, features in joint.features.items()}
        return clone

    def at(self, time: float, edit: object) -> None:
        """Have `edit` applied at `time` [s] of a run."""
        self.script.append((not_negative(f"model '{self.name}'", "time of a script's edit", time, "s"), edit))

    def parameter(
        self,
        name: str,
        value: float | str,
        minimum: float | None = None,
        maximum: float | None = None,
        unit: str = "",
    ) -> Variable:
        """Declare a parameter: a number within a range, or a text, an expression of other parameters.

        Numbers in the other calls may then be expressions: `mass="2*a"`, `at=("a", 0, 0)`, `Capsule(0.01, "a")`. The
        model keeps them, and `with_parameters` or a live edit gives other values. An expression has + - * / ^ and
        parentheses; pi, deg; sin, cos, tan, asin, acos, atan, atan2, hypot, sqrt, exp, log, abs, min, max.
        """
        owner = self.claim("parameter", name)
        check_word(name)
        text = value if isinstance(value, str) else None
        if text is not None:
            known_names(self, owner, text)
        new = Variable(name, 0.0 if text is not None else value, minimum, maximum, unit, text)  # type: ignore[arg-type]
        if text is not None:
            new.value = values_of(self.having("parameter", new))[name]
        new.check()
        self.parameters[name] = new
        return new

    def expression(self, path: str, text: str) -> float:
        """Have what a path leads to ("arm.length", "arm.position.x") follow an expression; returns its value."""
        field = find_field(self, path)
        owner = f"expression of '{path}'"
        known_names(self, owner, text)
        value = read_expression(owner, text).value(owner, values_of(self))
        if not has_value(self, field, value):
            vars(self).update(vars(write_field(self, field, value)))
        self.expressions[path] = text
        return value

    def with_parameters(self, **values: float | str) -> "Model":
        """A copy in which parameters have other values, and so has all that follows them.

        Where only sizes follow, joints may be open in it: `analysis.with_parameters` closes them.
        """
        return with_values(self, values).model

    def without_expressions(self, paths: Iterable[str]) -> "Model":
        """A copy in which what these paths lead to keeps its value and follows nothing."""
        new = self.copy()
        for path in paths:
            del new.expressions[path]
        return new

    @takes_expressions
    def body(
        self,
        name: str,
        mass: float | None = None,
        inertia: Vector | Sequence[Vector] | None = None,
        position: Place = (0.0, 0.0, 0.0),
        orientation: Vector = (0.0, 0.0, 0.0, 1.0),
        velocity: Vector = (0.0, 0.0, 0.0),
        angular_velocity: Vector = (0.0, 0.0, 0.0),
        shape: Shape | Sequence[Shape] | None = None,
        density: float | None = None,
        material: Material | str | None = None,
        colour: str | None = None,
        visual: Visual | Shape | Sequence[Visual | Shape] | None = None,
        link: Frame | None = None,
    ) -> Body:
        """Add a rigid body: mass [kg] and inertia [kg m²], or shape and density [kg/m³], or shape and mass.

        With mass 0 and no inertia it only carries others, between joints of a tree. `inertia` is three principal
        values or a 3x3 tensor about the centre of mass, body axes.
        `position` [m] is that of the centre of mass: where the shapes give the inertia, their offsets
        are taken anew from their centroid. Velocities [m/s, rad/s] are in world axes. Shapes touch that
        have a material, their own or this `material`. `colour` is "#rrggbb". What is drawn is `visual`, shapes or
        `Visual(shape, colour)`, else the shapes. `link`: the author's frame L, (position, orientation xyzw) in the
        body's, from which points may be told: ("arm", (0, 0, 0.1), "link").
        """
        owner = self.claim("body", name)
        shapes = given = shape_list(owner, shape)
        p_BL, q_BL = (np.zeros(3), np.array([0.0, 0, 0, 1])) if link is None else checked_frame(owner, "link", link)
        visuals = visual_list(owner, visual)
        self.check_materials(owner, shapes)
        carries = density is None and is_number(mass) and mass == 0 and (inertia is None or not np.any(inertia))  # type: ignore[arg-type]
        if carries:
            tensor = inertia_tensor(owner, np.zeros(3) if inertia is None else inertia, True)
        elif inertia is None:
            mass, tensor, shapes = uniform_solid(owner, mass, shapes, density)
            shift = np.subtract(shapes[0].offset, given[0].offset)  # all was told from where the shapes were
            visuals, p_BL = [one.shifted(shift) for one in visuals], p_BL + shift
        elif density is not None:
            raise ModelError(f"{owner}: density is {show(density)}, but inertia is given too; give one of them")
        else:
            tensor = inertia_tensor(owner, inertia)
        body = Body(
            name,
            weight(owner, mass, carries),
            tensor,
            self.point(owner, "position", position),
            unit_quaternion(owner, "orientation", orientation),
            vector(owner, "velocity", velocity, "m/s"),
            vector(owner, "angular_velocity", angular_velocity, "rad/s"),
            shapes,
            None if material is None else self.find_material(owner, material).name,
            None if density is None else float(density),
            colour_of(owner, colour),
            visuals,
            p_BL,
            q_BL,
        )
        check_solids(owner, shapes, body.material)
        self.bodies[name] = body
        return body

    @takes_expressions
    def joint(
        self,
        name: str,
        type: str,
        first: Body | str,
        second: Body | str,
        at: Place | None = None,
        axis: Way | None = None,
        axis2: Vector | None = None,
        at_b: Place | None = None,
        frame_a: Frame | None = None,
        frame_b: Frame | None = None,
        limits: object = None,
        limit_restitution: float | dict[str, float] = 0.0,
        friction: float | dict[str, float] = 0.0,
        static_friction: float | dict[str, float] = 0.0,
        viscous: float | dict[str, float] = 0.0,
        motor: Motor | dict[str, Motor] | None = None,
        stiffness: float | dict[str, float] = 0.0,
        damping: float | dict[str, float] = 0.0,
        rest: float | dict[str, float] = 0.0,
        armature: float | dict[str, float] = 0.0,
        pitch: float | None = None,
        loop: bool | None = None,
        contact: bool = False,
        closed: dict[str, Any] | None = None,
    ) -> Joint:
        """Join `second` to `first` by a type of the catalogue.

        Placed by the world point `at` [m], `axis` (z of the joint's frame) and `axis2` (its x: the slot
        of a pin-slot, the second shaft of a universal joint); `axis` may be two places, from one to the
        other. A distance joint is placed by `at` on the first
        and `at_b` on the second body; or by `frame_a` and `frame_b`, each (position, orientation
        xyzw) in the body's own frame. `pitch` [m/rad] of a screw.

        A feature is a plain value where the type has one group, else a dict by group name:
        `friction={"slide": 1.0, "angle": 0.01}`. Limits are (lower, upper) [m, rad], of a ball
        {"swing": half angle, "twist": (lower, upper)}. Units of the others: see `Features`.
        The two bodies do not touch unless `contact` is True. `closed`: of a free joint that is one cut open, the
        keywords by which it is closed again: type, loop, pitch, length and features.
        """
        owner = self.claim("joint", name)
        kind = joint_type_of(owner, type)
        P, C = self.pair(owner, first, second)
        at = None if at is None else self.point(owner, "at", at)
        at_b = None if at_b is None else self.point(owner, "at_b", at_b)
        z = along(owner, "axis", *(self.point(owner, "axis", end) for end in axis)) if is_two_places(axis) else axis
        if frame_a is not None or frame_b is not None:
            if not all(value is None for value in (at, axis, axis2, at_b)):
                raise ModelError(f"{owner}: has both points and frames; give at and axis, or the frames")
            F, M = (checked_frame(owner, w, f) for w, f in (("frame_a", frame_a), ("frame_b", frame_b)))
        else:
            F, M = place_frames(owner, type, P, C, at, z, axis2, at_b)  # type: ignore[arg-type]
        length = None
        if type == "distance":
            apart = C.world_point(M[0]) - P.world_point(F[0]) if at is None else np.subtract(at_b, at)  # type: ignore[arg-type]
            length = float(np.linalg.norm(apart))
        given = {
            "limits": limits,
            "restitution": limit_restitution,
            "friction": friction,
            "static_friction": static_friction,
            "viscous": viscous,
            "motor": motor,
            "stiffness": stiffness,
            "damping": damping,
            "rest": rest,
            "armature": armature,
        }
        features = make_features(owner, kind, given)
        joint = Joint(name, type, P.name, C.name, *F, *M, length, pitch, loop, features, contact, closed)
        joint.check()
        self.joints[name] = joint
        return joint

    @takes_expressions
    def coupling(
        self,
        name: str,
        joint_a: Joint | str | Mapping[str, float],
        joint_b: Joint | str | None = None,
        ratio: float = 1.0,
        group_a: str | None = None,
        group_b: str | None = None,
        belt: float | None = None,
        offset: float = 0.0,
        more: Mapping[str, float] | None = None,
    ) -> Coupling:
        """Keep coordinate_b = ratio · coordinate_a + offset [rad, m]; with one slide, `ratio` is in m/rad or rad/m.
        With a `belt`, the radius of a's wheel [m], that of b's is belt / |ratio|, and the belt over both is drawn.

        Of several joints, weights by coordinate ("joint", or "joint.group" where it has several) keep
        Σ weight · coordinate = offset: `coupling("differential", {"left": 0.5, "right": 0.5, "case": -1.0})`. It is
        kept solved for the last of them, b = ratio · a + offset + Σ weight · coordinate over `more`.
        """
        owner = self.claim("coupling", name)
        if isinstance(joint_a, Mapping):
            if (joint_b, ratio, group_a, group_b, belt, more) != (None, 1.0, None, None, None, None):
                raise ModelError(f"{owner}: has weights by coordinate and more; give offset alone beside them")
            joint_a, group_a, joint_b, group_b, ratio, offset, more = self._solved(owner, joint_a, offset)
        if joint_b is None:
            raise ModelError(f"{owner}: joint_b is missing; give it, or weights by coordinate")
        a, b = self.find_joint(owner, joint_a), self.find_joint(owner, joint_b)  # type: ignore[arg-type]
        group_a, group_b = _single(owner, a, group_a), _single(owner, b, group_b)
        others = {self.find_coordinate(owner, key): value for key, value in ({} if more is None else more).items()}
        if len(others) < len(more or ()):
            raise ModelError(f"{owner}: more is {show(more)}, which names a coordinate twice; add its weights up")
        coupling = Coupling(name, a.name, group_a, b.name, group_b, ratio, belt, offset, others)
        coupling.check()
        _check_belt(coupling, a, b)
        self.couplings[name] = coupling
        return coupling

    def _solved(self, owner: str, weights: Mapping[str, float], offset: float) -> tuple:
        """Arguments of `coupling` that say Σ weight · coordinate = offset, solved for the last coordinate."""
        named: dict[str, float] = {}
        expected = "a finite number other than 0; leave out what has no weight"
        for key, value in weights.items():
            coordinate = self.find_coordinate(owner, key)
            if coordinate in named:
                raise ModelError(f"{owner}: weights name '{coordinate}' twice; add them up")
            test: Callable[[float], bool] = lambda x: x != 0 and math.isfinite(x)  # noqa: E731
            named[coordinate] = number(owner, f"weight of '{key}'", value, expected, test)
        if len(named) < 2:
            raise ModelError(f"{owner}: weights are {show(dict(weights))}, expected those of two coordinates or more")
        (first, weight_a), *others, (last, weight_b) = named.items()
        offset = number(owner, "offset", offset, "a finite number [rad or m]")
        solved = {key: -value / weight_b for key, value in others}
        a, b = split_coordinate(first), split_coordinate(last)
        return *a, *b, -weight_a / weight_b, offset / weight_b + 0.0, solved

    def find_coordinate(self, owner: str, name: object) -> str:
        """ "joint.group" of a coordinate of one freedom; of a joint that has one group its name is enough."""
        joint, group = (name, None) if not isinstance(name, str) or name in self.joints else split_coordinate(name)
        found = self.find_joint(owner, joint if joint else name)  # type: ignore[arg-type]
        return f"{found.name}.{_single(owner, found, group)}"

    @takes_expressions
    def spring(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        at_a: Place,
        at_b: Place,
        stiffness: float,
        damping: float = 0.0,
        free_length: float | None = None,
    ) -> Spring:
        """Add a spring [N/m] and damper [N s/m] between the world points `at_a` on the first body and
        `at_b` on the second; `free_length` [m] is their authored distance if not given."""
        owner = self.claim("spring", name)
        P, C = self.pair(owner, first, second)
        p_WA, p_WB = self.point(owner, "at_a", at_a), self.point(owner, "at_b", at_b)
        free = float(np.linalg.norm(p_WB - p_WA)) if free_length is None else free_length
        spring = Spring(name, P.name, C.name, P.point(p_WA), C.point(p_WB), stiffness, damping, free)
        spring.check()
        self._check_ends(spring)
        self.springs[name] = spring
        return spring

    @takes_expressions
    def load(
        self,
        name: str,
        body: Body | str,
        force: Value = (0.0, 0.0, 0.0),
        torque: Value = (0.0, 0.0, 0.0),
        at: Place | None = None,
        frame: str = "world",
    ) -> Load:
        """Load a body by force [N] at the world point `at` (default: the centre of mass) and torque
        [N m]; numbers, profiles or callables of time, along the axes of `frame`, "world" or "body"."""
        owner = self.claim("load", name)
        target = self.moving(owner, body)
        p_BQ = np.zeros(3) if at is None else target.point(self.point(owner, "at", at))
        load = Load(name, target.name, force, torque, p_BQ, frame)
        load.check()
        self.loads[name] = load
        return load

    @takes_expressions
    def probe(self, name: str, body: Body | str, at: Place) -> Probe:
        """Trace the point of a body that is at the world point `at` [m] in the authored pose."""
        owner = self.claim("probe", name)
        target = self.find_body(owner, body)
        probe = Probe(name, target.name, target.point(self.point(owner, "at", at)))
        self.probes[name] = probe
        return probe

    def check(self, meeting: bool = True) -> None:
        """Raise `ModelError` at the first mistake of the whole model; the builder calls it.

        meeting=False lets joints be open at the authored pose, for `analysis.assemble` to close.
        """
        owner = f"model '{self.name}'"
        meeting = flag(owner, "meeting", meeting)
        self.gravity = vector(owner, "gravity", self.gravity, "m/s²")
        if np.any(self.ground.position) or abs(self.ground.orientation[3]) != 1:
            raise ModelError("body 'ground': was moved; its frame is the world, fix a body to it instead")
        check_name("model", self.name)
        seen: dict[str, str] = {}
        for kind, where in KINDS.items():
            for name, part in getattr(self, where).items():
                if part.name != name:
                    raise ModelError(f"{kind} '{name}': is renamed {part.name!r}; add a new {kind} instead")
                part.check()
                taken = self._special(name) or (f"taken by a {seen[name]}" if name in seen else None)
                if taken:
                    raise ModelError(f"{kind} '{name}': the name is {taken}; choose another")
                seen[name] = kind
        find: dict[str, Callable] = {"body": self.find_body, "joint": self.find_joint}
        find |= {"material": self.find_material, "body or obstacle": self.find_solid}
        for kind, entry in PARTS.items():
            for part in getattr(self, entry.plural).values():
                for reference, target, name in entry.named(part):
                    if name is not None or reference != "material":  # without a material it is a picture
                        find[target](f"{kind} '{part.name}'", name)
                self.check_materials(f"{kind} '{part.name}'", getattr(part, "shapes", ()))
        self.check_materials("body 'ground'", shape_list("body 'ground'", self.ground.shapes))
        for joint in self.joints.values():
            self.pair(f"joint '{joint.name}'", joint.first, joint.second)
            if joint.closed is not None:
                closed_joint(joint)
            if meeting:
                self.check_meeting(joint)
        for spring in self.springs.values():
            self._check_ends(spring)
        for load in self.loads.values():
            self.moving(f"load '{load.name}'", load.body)
        for tyre in self.tyres.values():
            self.moving(f"tyre '{tyre.name}'", tyre.wheel)
        for coupling in self.couplings.values():
            owner = f"coupling '{coupling.name}'"
            for end, freedom, _ in coupling.ends:
                _single(owner, self.joints[end], freedom)
            _check_belt(coupling, self.joints[coupling.joint_a], self.joints[coupling.joint_b])
        pairs: dict[frozenset[str], MaterialPair] = {}
        for pair in self.material_pairs.values():
            check_pair(pair, pairs.setdefault(frozenset((pair.a, pair.b)), pair))
        for part in self.no_contacts.values():
            check_movable(self, part)
        for group in self.groups.values():
            check_group(self, group)
        for fluid in self.fluids.values():
            check_fluid(self, fluid)
        for mounted in self.sensors.values():
            self.check_mounted(mounted)
        check_expressions(self)

    def kind_of(self, name: str) -> str | None:
        """The kind of the part of a name; names are unique over all kinds."""
        return next((kind for kind, where in KINDS.items() if name in getattr(self, where)), None)

    def part(self, name: str) -> Any:
        """The part of a name, or None."""
        kind = self.kind_of(name)
        return None if kind is None else getattr(self, KINDS[kind])[name]

    def having(self, kind: str, part: Any) -> "Model":
        """A model that has one part more, or one in the place of another; this one stays as it is."""
        new = self.copy()
        getattr(new, KINDS[kind])[part.name] = part
        return new

    def claim(self, kind: str, name: object) -> str:
        """How errors call a new part or hand, if its name is free: names are unique over all kinds.

        A path such as "arm.stiffness" or an entry of the books has one meaning only.
        """
        name = check_name(kind, name)
        holder = self.holder(name, kind == "joint")
        if holder is not None:
            raise ModelError(f"{kind} '{name}': the name is {holder}; choose another")
        return f"{kind} '{name}'"

    def holder(self, name: str, of_joint: bool = False) -> str | None:
        """What a name is already, in words; of_joint: it is to be that of a joint, which names its coordinates."""
        if kind := self.kind_of(name):
            return f"taken by a {kind}"
        if special := self._special(name):
            return special
        for suffix in COORDINATE_NAMES if of_joint else ():
            for kind, where in KINDS.items():
                if f"{name}.{suffix}" in getattr(self, where):
                    return f"the start of {kind} '{name}.{suffix}', which would be a coordinate of it"
        return None

    def _special(self, name: str) -> str | None:
        """What a name stands for that is no part, in words: something reserved, or a joint's coordinate."""
        if name in RESERVED:
            return f"reserved for {RESERVED[name]}"
        stem, _, last = name.rpartition(".")
        while last in COORDINATES:
            if stem in self.joints:
                return f"that of a coordinate of joint '{stem}'"
            stem, _, last = stem.rpartition(".")
        return None

    def point(self, owner: str, what: str, place: Place) -> np.ndarray:
        """The world point of a place at the authored pose [m]."""
        if is_point_of_body(place):
            return self.find_body(owner, place[0]).world_point(self.point_of(owner, what, place))
        return vector(owner, what, place, "m")

    def point_of(self, owner: str, what: str, place: PointOfBody) -> np.ndarray:
        """p_BQ [m] of a place that is a body and a point of its frame, or of its "link"."""
        p = vector(owner, what, place[1], "m")
        frame = place[2] if len(place) == 3 else "body"
        if not isinstance(frame, str) or frame not in ("body", "link"):
            raise ModelError(f"{owner}: {what} is in frame {show(frame)}, expected 'body' or 'link'")
        return p if frame == "body" else self.find_body(owner, place[0]).link_point(p)

    def find_body(self, owner: str, body: Body | str) -> Body:
        """A body by name, ground too; `owner` is who asks, for the error."""
        known = {"ground": self.ground, **self.bodies}
        if isinstance(body, Body):
            if known.get(body.name) is not body:
                raise ModelError(f"{owner}: body '{body.name}' is not of this model; add it by model.body")
            return body
        if not isinstance(body, str) or body not in known:
            raise ModelError(f"{owner}: no body named {show(body)}; {closest(body, known)}")
        return known[body]

    def find_solid(self, owner: str, part: Body | Obstacle | str) -> Body | Obstacle:
        """A body or obstacle by name, ground too."""
        name = part.name if isinstance(part, Obstacle) else part
        if isinstance(name, str) and name in self.obstacles:
            return self.obstacles[name]
        if isinstance(name, Body) or (isinstance(name, str) and (name == "ground" or name in self.bodies)):
            return self.find_body(owner, name)
        known = ["ground", *self.bodies, *self.obstacles]
        raise ModelError(f"{owner}: no body or obstacle named {show(name)}; {closest(name, known)}")

    def moving(self, owner: str, body: Body | str) -> Body:
        target = self.find_body(owner, body)
        if target is self.ground:
            raise ModelError(f"{owner}: acts on 'ground', which does not move; give another body")
        return target

    def pair(self, owner: str, first: Body | str, second: Body | str) -> tuple[Body, Body]:
        """Two different bodies by name."""
        P, C = self.find_body(owner, first), self.find_body(owner, second)
        if P is C:
            raise ModelError(f"{owner}: goes from body '{P.name}' to itself; give two bodies")
        return P, C

    def find_joint(self, owner: str, joint: Joint | str) -> Joint:
        name = joint.name if isinstance(joint, Joint) else joint
        if not isinstance(name, str) or name not in self.joints:
            raise ModelError(f"{owner}: no joint named {show(name)}; {closest(name, self.joints)}")
        return self.joints[name]

    def _check_ends(self, spring: Spring) -> None:
        owner = f"spring '{spring.name}'"
        P, C = self.pair(owner, spring.first, spring.second)
        apart = np.linalg.norm(C.world_point(spring.p_CQ) - P.world_point(spring.p_PQ))
        if spring.free_length > 0 and apart < 1e-9 * spring.free_length:
            raise ModelError(
                f"{owner}: its ends coincide, so that free_length {show(spring.free_length)} m has no "
                "direction; move at_b or give free_length=0"
            )

    def check_meeting(self, joint: Joint) -> None:
        owner = f"joint '{joint.name}'"
        P, C = self.pair(owner, joint.first, joint.second)
        far, turned = frame_gap(joint, P, C)
        if far > GAP or turned > GAP:
            raise ModelError(
                f"{owner}: frames do not meet at the authored pose: {far:.3g} m and {turned:.3g} rad apart "
                f"where a {joint.type} joint is locked; move body '{C.name}' or correct the frames"
            )


def _single(owner: str, joint: Joint, group: str | None) -> str:
    """The group of one freedom that a coupling takes, the joint's only one by default."""
    names = [entry.name for entry in joint.kind.groups if not entry.is_ball]
    if group is None and len(names) == 1 and len(joint.kind.groups) == 1:
        return names[0]
    if not isinstance(group, str) or group not in names:
        raise ModelError(
            f"{owner}: group is {show(group)}, but joint '{joint.name}' ({joint.type}) can be coupled by: "
            f"{', '.join(names) or 'nothing; use a joint with a slide or an angle'}"
        )
    return group


def _check_belt(coupling: Coupling, a: Joint, b: Joint) -> None:
    """Refuse a belt over something that does not turn."""
    for joint, group in ((a, coupling.group_a), (b, coupling.group_b)):
        if coupling.belt is not None and joint.kind.group(group).is_slide:
            raise ModelError(
                f"coupling '{coupling.name}': belt is {show(coupling.belt)}, but {group} of '{joint.name}' slides; "
                "a belt goes over two wheels: leave it out"
            )
