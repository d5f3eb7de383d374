"""Random mechanisms in motion, and random edits of every kind that are feasible by construction."""

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from impulsar import edits
from impulsar.author.joints import CATALOGUE
from impulsar.author.model import Model
from impulsar.author.parts import Motor
from impulsar.author.placing import TWO_AXES
from impulsar.author.profiles import Formula, Harmonic, Ramp, Table
from impulsar.author.shapes import Box, Capsule, Plane, Sphere
from impulsar.edits.hands import turns
from impulsar.world.world import World

COORDINATES = ("generalized", "maximal")
DT = 0.004  # [s]
CLOSED = 1e-7  # constraint error after an edit and after the steps that follow it [m, rad]
BOOKS = 1e-10  # what an edit may put the books out by, of the energies in them
MOST_BODIES = 8
MOST_OBSTACLES = 4
SPARE_JOINTS = 2  # that close loops
PITCH = 0.05  # [m/rad]
Target = Any  # has apply(edit) and step(n): a World, or a History of one


# mechanisms ---------------------------------------------------------------------------------------


def mechanism(rng: np.random.Generator, touches: bool = False) -> Model:
    """A random mechanism in motion: some bodies, a joint of any type to each, here and there a loop; on request over
    a floor, of bodies that touch it and each other."""
    model = Model("random", gravity=tuple(rng.normal(size=3) * 5.0))
    if touches:
        model.material("stuff", friction=0.5, restitution=0.3)
        model.material("slick", friction=0.1)
        model.obstacle("floor", Plane(), position=(0.0, 0.0, -1.0), material="slick")
    count = int(rng.integers(2, 6))
    places = [np.zeros(3)]
    for k in range(count):
        places.append(places[int(rng.integers(0, len(places)))] + unit(rng) * 0.3)
        body_options = new_body(rng, places[-1])
        model.body(f"body {k}", **body_options, material="stuff" if touches else None)
    names = ["ground", *model.bodies]
    for k in range(count):
        first = names[int(rng.integers(0, k + 1))]
        options = new_joint(rng, model, first, names[k + 1])
        model.joint(f"joint {k}", **options)
    return model


def moving_world(model: Model, coordinates: str, dt: float = DT, device: str = "cpu") -> World:
    """A world of bodies whose random velocities are made to fit their joints, without a word."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*start velocities changed")
        return World(model, coordinates=coordinates, dt=dt, device=device)


def unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def new_body(rng: np.random.Generator, place: np.ndarray) -> dict[str, Any]:
    """Options of a random body."""
    mass = float(rng.uniform(0.2, 2.0))
    inertia = mass * 0.01 * (1.0 + 0.3 * rng.uniform(-1, 1, size=3))
    return {
        "mass": mass,
        "inertia": tuple(inertia),
        "position": tuple(place),
        "velocity": tuple(rng.normal(size=3)),
        "angular_velocity": tuple(3.0 * rng.normal(size=3)),
        "shape": (Sphere(0.05), Box((0.1, 0.1, 0.1)), Capsule(0.03, 0.1))[int(rng.integers(0, 3))],
    }


def place_joint(rng: np.random.Generator, kind: str, at: np.ndarray, at_b: np.ndarray) -> dict[str, Any]:
    """Where a random joint of a type is."""
    if kind == "distance":
        return {"at": tuple(at), "at_b": tuple(at_b)}
    axis = unit(rng)
    placed: dict[str, Any] = {"at": tuple(0.5 * (at + at_b))}
    if kind not in ("fixed", "spherical", "free"):
        placed["axis"] = tuple(axis)
        if kind in TWO_AXES:
            placed["axis2"] = tuple(np.cross(axis, unit(rng)))
    if kind == "screw":
        placed["pitch"] = PITCH
    return placed


def new_joint(rng: np.random.Generator, model: Model, first: str, second: str) -> dict[str, Any]:
    """Options of a random joint between two bodies at the poses of the model."""
    kind = str(rng.choice(list(CATALOGUE)))
    bodies = {"ground": model.ground, **model.bodies}
    options = place_joint(rng, kind, bodies[first].position, bodies[second].position + 0.01)
    return {"type": kind, "first": first, "second": second, **options, **new_features(rng, kind)}


def new_features(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    """Random features for some groups of a joint."""
    given: dict[str, Any] = {}
    groups = CATALOGUE[kind].groups
    if not groups:
        return given
    group = groups[int(rng.integers(0, len(groups)))]
    choice = int(rng.integers(0, 8))
    if choice == 0:
        given["friction"] = {group.name: float(rng.uniform(0.01, 0.2))}
    elif choice == 1:
        given["viscous"] = {group.name: float(rng.uniform(0.01, 0.1))}
    elif choice == 2:
        given["stiffness"], given["damping"] = {group.name: float(rng.uniform(1, 20))}, {group.name: 0.05}
    elif choice == 3:
        given["limits"] = {group.name: {"swing": 1.5, "twist": (-1, 1)} if group.is_ball else (-1.0, 1.0)}
    elif choice == 4:
        given["motor"] = {group.name: new_motor(rng, group.is_ball)}
    elif choice == 5:
        given["armature"] = {group.name: float(rng.uniform(0.01, 0.2))}
    return given


def new_motor(rng: np.random.Generator, ball: bool) -> Motor:
    if ball:
        return Motor(torque=tuple(rng.normal(size=3) * 0.1))
    choice = int(rng.integers(0, 4))
    if choice == 0:
        return Motor(speed=float(rng.normal()), max_torque=2.0)
    if choice == 1:
        return Motor(torque=Harmonic(float(rng.uniform(0.1, 0.5)), 5.0))
    if choice == 2:
        return Motor(
            position=float(0.2 * rng.normal()), kp=float(rng.uniform(0.5, 5)), kv=0.05, max_torque=2.0, gear=2.0
        )
    return Motor(torque=float(0.2 * rng.normal()))


# valid edits --------------------------------------------------------------------------------------


class Source:
    """Random edits of every kind that are feasible by construction for the world as it is."""

    kinds: tuple[str, ...]

    def __init__(self, world: World, rng: np.random.Generator):
        self.world, self.rng, self.count = world, rng, 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"new {stem} {self.count}"

    def pick(self, names: Any) -> str | None:
        names = list(names)
        return str(names[int(self.rng.integers(0, len(names)))]) if names else None

    def draw(self) -> tuple[str, edits.Edit]:
        """The next edit and its kind; a kind that nothing can be done for now is passed over."""
        while True:
            kind = self.kinds[int(self.rng.integers(0, len(self.kinds)))]
            edit = getattr(self, kind.replace(" ", "_"))()
            if edit is not None:
                return kind, edit

    # hands and loads

    @property
    def hands(self) -> list[str]:
        return [name for name in self.world.system.hand_names if name]

    def grab(self) -> edits.Edit | None:
        if len(self.hands) >= 3:
            return None
        at = tuple(0.05 * self.rng.normal(size=3))
        body, angular = self.pick(self.world.model.bodies), (0.5, 0.01) if self.rng.random() < 0.3 else ()
        return edits.Grab(self.fresh("hand"), body, at, 200.0, 1.0, *angular)  # type: ignore[arg-type]

    def move(self) -> edits.Edit | None:
        hand = self.pick(self.hands)
        if hand is None:
            return None
        target = self.rng.normal(size=3) * 0.5
        t = self.world.time
        ramp = Ramp(None, tuple(target), t, t + 0.1)
        turn = None
        if turns(self.world.system, self.world.system.hand_names.index(hand)):
            turn = tuple(self.rng.normal(size=3))
        return edits.Move(hand, ramp if self.rng.random() < 0.3 else tuple(target), turn)

    def release(self) -> edits.Edit | None:
        hand = self.pick(self.hands)
        return None if hand is None else edits.Release(hand)

    @property
    def loads(self) -> list[str]:
        system = self.world.system
        bodies = system.arrays.load_body.numpy()
        return [name for k, name in enumerate(system.load_names) if name and bodies[k] >= 0]

    def apply_load(self) -> edits.Edit:
        known = self.pick(self.loads) if self.rng.random() < 0.3 else None
        force = tuple(self.rng.normal(size=3) * 3.0)
        given = (force, Harmonic(force, 4.0), Table((0.0, 1.0), (force, (0.0, 0.0, 0.0))))
        value = given[int(self.rng.integers(0, 3))]
        frame = "body" if self.rng.random() < 0.5 else "world"
        return edits.ApplyLoad(known or self.fresh("load"), self.pick(self.world.model.bodies), value, frame=frame)  # type: ignore[arg-type]

    def remove_load(self) -> edits.Edit | None:
        load = self.pick(self.loads)
        return None if load is None else edits.RemoveLoad(load)

    # parameters

    def body_parameter(self) -> edits.Edit:
        body, rng = self.pick(self.world.model.bodies), self.rng
        mass = float(rng.uniform(0.2, 2.0))
        inertia = tuple(0.01 * mass * (1.0 + 0.3 * rng.uniform(-1, 1, size=3)))
        what, value = ("mass", mass) if rng.random() < 0.5 else ("inertia", inertia)
        return edits.SetParameter(f"{body}.{what}", value)

    def gravity(self) -> edits.Edit:
        return edits.SetParameter("model.gravity", tuple(5.0 * self.rng.normal(size=3)))

    def shape(self) -> edits.Edit:
        return edits.SetParameter(f"{self.pick(self.world.model.bodies)}.shape", Box((0.1, 0.2, 0.1)))

    def joint_parameter(self) -> edits.Edit | None:
        """Of a feature that the joint may or may not have yet."""
        found = [(joint, group) for joint in self.world.model.joints.values() for group in joint.kind.groups]
        if not found:
            return None
        joint, group = found[int(self.rng.integers(0, len(found)))]
        choices = {"friction": 0.1, "viscous": 0.05, "stiffness": 10.0, "damping": 0.05, "armature": 0.05}
        if not group.is_ball:
            choices |= {"lower": -1.5, "upper": 1.5, "rest": 0.1}
            if joint.features[group.name].motor is not None:
                choices["max_torque"] = 1.0
        what = self.pick(choices)
        value = choices[str(what)] * float(self.rng.uniform(0.5, 1.5))
        return edits.SetParameter(f"{joint.name}.{group.name}.{what}", value)

    def spring_parameter(self) -> edits.Edit | None:
        spring = self.pick(self.world.model.springs)
        return None if spring is None else edits.SetParameter(f"{spring}.stiffness", float(self.rng.uniform(1, 50)))

    def set_step(self) -> edits.Edit:
        return edits.SetStep(float(self.rng.uniform(0.5, 1.5)) * DT)

    # motors

    @property
    def motors(self) -> list[tuple[str, str]]:
        return [
            (joint.name, name)
            for joint in self.world.model.joints.values()
            for name, own in joint.features.items()
            if own.motor is not None
        ]

    def drive(self) -> edits.Edit | None:
        if not self.motors:
            return None
        joint, group = self.motors[int(self.rng.integers(0, len(self.motors)))]
        ball = self.world.model.joints[joint].kind.group(group).is_ball
        value: Any = tuple(self.rng.normal(size=3) * 0.1) if ball else float(self.rng.normal() * 0.3)
        if not ball and self.rng.random() < 0.3:
            value = (Harmonic(0.3, 4.0), Formula("0.3*sin(4*t)"))[self.world.runner.count % 2]
        return edits.Drive(joint, value, group)

    def set_motor(self) -> edits.Edit | None:
        found = [(joint, group) for joint in self.world.model.joints.values() for group in joint.kind.groups]
        if not found:
            return None
        joint, group = found[int(self.rng.integers(0, len(found)))]
        has = joint.features[group.name].motor is not None
        motor = None if has and self.rng.random() < 0.6 else new_motor(self.rng, group.is_ball)
        return edits.SetMotor(joint.name, motor, group.name)

    # joints

    def change_type(self) -> edits.Edit | None:
        joint = self.pick(self.world.model.joints)
        if joint is None:
            return None
        part = self.world.model.joints[joint]
        kind = str(self.rng.choice(list(CATALOGUE)))
        changes: dict[str, Any] = {"type": kind}
        if kind == "screw" and part.type != "screw":
            changes["pitch"] = PITCH
        if kind == "distance" and part.type != "distance":
            changes |= self._ends(part.first, part.second)
        return edits.ChangeJoint(joint, changes)

    def _ends(self, first: str, second: str) -> dict[str, Any]:
        at, at_b = (self._place(name) for name in (first, second))
        return {"at": tuple(at), "at_b": tuple(at_b + 0.02)}

    def _place(self, body: str) -> np.ndarray:
        return np.zeros(3) if body == "ground" else self.world.body(body).position

    def change_axis(self) -> edits.Edit | None:
        joint = self.pick(
            name
            for name, part in self.world.model.joints.items()
            if part.type in ("revolute", "cylindrical", "prismatic")
        )
        return None if joint is None else edits.ChangeJoint(joint, {"axis": tuple(unit(self.rng))})

    def change_feature(self) -> edits.Edit | None:
        joint = self.pick(name for name, part in self.world.model.joints.items() if part.kind.groups)
        if joint is None:
            return None
        features = new_features(self.rng, self.world.model.joints[joint].type)
        return edits.ChangeJoint(joint, features or {"friction": 0.0})

    def change_bodies(self) -> edits.Edit | None:
        """Re-parent: the second body of a joint hangs on another first one."""
        joint = self.pick(name for name, part in self.world.model.joints.items() if part.type != "distance")
        if joint is None:
            return None
        part = self.world.model.joints[joint]
        first = self.pick(name for name in ("ground", *self.world.model.bodies) if name != part.second)
        return edits.ChangeJoint(joint, {"first": first})

    # parts

    def add_body(self) -> edits.Edit | None:
        if len(self.world.model.bodies) >= MOST_BODIES:
            return None
        near = self._place(str(self.pick(self.world.model.bodies)))
        return edits.Add("body", self.fresh("body"), new_body(self.rng, near + 0.3 * unit(self.rng)))

    def add_joint(self) -> edits.Edit | None:
        model = self.world.model
        if len(model.joints) >= len(model.bodies) + SPARE_JOINTS or len(model.bodies) < 2:
            return None
        first, second = self.rng.choice(["ground", *model.bodies], size=2, replace=False)
        kind = str(self.rng.choice(list(CATALOGUE)))
        placed = place_joint(self.rng, kind, self._place(str(first)), self._place(str(second)) + 0.02)
        return edits.Add(
            "joint", self.fresh("joint"), {"type": kind, "first": str(first), "second": str(second), **placed}
        )

    def add_spring(self) -> edits.Edit | None:
        model = self.world.model
        if len(model.springs) >= 3 or len(model.bodies) < 2:
            return None
        first, second = (str(name) for name in self.rng.choice(["ground", *model.bodies], size=2, replace=False))
        ends = {"at_a": tuple(self._place(first)), "at_b": tuple(self._place(second) + 0.03)}
        options = {
            "first": first,
            "second": second,
            **ends,
            "stiffness": float(self.rng.uniform(1, 30)),
            "damping": 0.1,
        }
        return edits.Add("spring", self.fresh("spring"), options)

    def add_load(self) -> edits.Edit | None:
        if len(self.world.model.loads) >= 3:
            return None
        options = {"body": self.pick(self.world.model.bodies), "force": tuple(self.rng.normal(size=3))}
        return edits.Add("load", self.fresh("load"), options)

    def add_probe(self) -> edits.Edit | None:
        if len(self.world.model.probes) >= 3:
            return None
        body = self.pick(self.world.model.bodies)
        return edits.Add("probe", self.fresh("probe"), {"body": body, "at": tuple(self._place(str(body)))})

    def add_coupling(self) -> edits.Edit | None:
        """Between two freedoms, with the ratio that their coordinates have now."""
        model, world = self.world.model, self.world
        taken = {name for own in model.couplings.values() for name in (own.joint_a, own.joint_b)}
        free = [
            (name, group.name, k)
            for name, part in model.joints.items()
            if name not in taken
            for k, group in enumerate(part.kind.groups)
            if not group.is_ball and part.features[group.name].motor is None
        ]
        if len(free) < 2 or len(model.couplings) >= 2:
            return None
        (a, group_a, i), (b, group_b, j) = (free[int(k)] for k in self.rng.choice(len(free), size=2, replace=False))
        q_a, q_b = (float(np.atleast_1d(world.joint(name).position)[k]) for name, k in ((a, i), (b, j)))
        if a == b or min(abs(q_a), abs(q_b)) < 0.02:
            return None
        options = {"joint_a": a, "joint_b": b, "group_a": group_a, "group_b": group_b, "ratio": q_b / q_a}
        return edits.Add("coupling", self.fresh("coupling"), options)

    def remove_body(self) -> edits.Edit | None:
        model = self.world.model
        return edits.Remove("body", str(self.pick(model.bodies))) if len(model.bodies) > 3 else None

    def _remove(self, kind: str, names: Any) -> edits.Edit | None:
        name = self.pick(names)
        return None if name is None else edits.Remove(kind, name)

    def remove_joint(self) -> edits.Edit | None:
        return self._remove("joint", self.world.model.joints)

    def remove_spring(self) -> edits.Edit | None:
        return self._remove("spring", self.world.model.springs)

    def remove_model_load(self) -> edits.Edit | None:
        return self._remove("load", self.world.model.loads)

    def remove_probe(self) -> edits.Edit | None:
        return self._remove("probe", self.world.model.probes)

    def remove_coupling(self) -> edits.Edit | None:
        return self._remove("coupling", self.world.model.couplings)

    # the whole

    def set_state(self) -> edits.Edit:
        """A jolt: other velocities for one body, which its joints take as they can."""
        body = str(self.pick(self.world.model.bodies))
        return edits.SetState({body: {"velocity": tuple(self.rng.normal(size=3))}})

    def put_worlds(self) -> edits.Edit:
        """Where it is, with other velocities of the joints, which loops take as they can."""
        world = self.world
        q = dict(zip(world.coordinate_names, np.atleast_2d(world.joint_positions())[0].tolist(), strict=True))
        return edits.PutWorlds(None, q, {name: float(self.rng.normal()) for name in q})

    def drag(self) -> edits.Edit:
        body = str(self.pick(self.world.model.bodies))
        return edits.DragTo(body, tuple(self._place(body) + 0.02 * self.rng.normal(size=3)))

    def reset(self) -> edits.Edit | None:
        """Of a mechanism whose joints were changed in motion the start pose may not exist any more."""
        try:
            self.world.model.check()
        except ValueError:
            return None
        return edits.Reset() if self.rng.random() < 0.3 else None

    def pause(self) -> edits.Edit:
        return edits.Pause(False)

    def set_method(self) -> edits.Edit:
        return edits.SetMethod("direct", {"rtol": float(10.0 ** self.rng.uniform(-8, -5))})


def kinds_of(source: type) -> tuple[str, ...]:
    """The kinds of edits that a source has of its own."""
    return tuple(
        name.replace("_", " ")
        for name, member in vars(source).items()
        if callable(member) and not name.startswith("_") and name not in ("fresh", "pick", "draw")
    )


class Touching(Source):
    """The same for a world with contact, and edits of what touches."""

    def set_material(self) -> edits.Edit:
        body = str(self.pick(self.world.model.bodies))
        return edits.SetMaterial(body, (None, "stuff", "slick", "rubber")[int(self.rng.integers(0, 4))])

    def material_parameter(self) -> edits.Edit:
        what = str(self.pick(("friction", "restitution", "rolling", "spinning")))
        most = 0.002 if what in ("rolling", "spinning") else 0.9
        return edits.SetParameter(f"stuff.{what}", float(self.rng.uniform(0, most)))

    def move_obstacle(self) -> edits.Edit | None:
        name = self.pick(self.world.model.obstacles)
        return None if name is None else edits.SetParameter(f"{name}.position", tuple(self._away()))

    def add_obstacle(self) -> edits.Edit | None:
        if len(self.world.model.obstacles) > MOST_OBSTACLES:
            return None
        shape = (Sphere(0.1), Box((0.2, 0.3, 0.1)), Plane())[int(self.rng.integers(0, 3))]
        options = {"shape": shape, "position": tuple(self._away()), "material": "slick"}
        return edits.Add("obstacle", self.fresh("obstacle"), options)

    def remove_obstacle(self) -> edits.Edit | None:
        return self._remove("obstacle", self.world.model.obstacles)

    def add_no_contact(self) -> edits.Edit | None:
        a, b = (str(self.pick(self.world.model.bodies)) for _ in range(2))
        name = self.fresh("exclusion")
        return None if a == b else edits.Add("no_contact", name, {"a": a, "b": b})

    def remove_no_contact(self) -> edits.Edit | None:
        return self._remove("no_contact", self.world.model.no_contacts)

    def _away(self) -> np.ndarray:
        """A place below most of what there is."""
        return np.array([*self.rng.normal(size=2), -1.5 - self.rng.random()])


Source.kinds = KINDS = kinds_of(Source)
Touching.kinds = (*KINDS, *kinds_of(Touching))


@dataclass
class Tally:
    """What a campaign found."""

    asked: Counter = field(default_factory=Counter)
    accepted: Counter = field(default_factory=Counter)
    refusals: list[str] = field(default_factory=list)
    worst_error: float = 0.0  # constraint error after an edit, and after the steps behind it [m, rad]
    faults: list[str] = field(default_factory=list)  # anything that must not happen

    @property
    def least_share(self) -> float:
        """Smallest share of a kind that was accepted."""
        return min((self.accepted[kind] / n for kind, n in self.asked.items()), default=1.0)

    def show(self) -> None:
        """Print the counts."""
        for kind in Touching.kinds:
            if self.asked[kind]:
                share = 100.0 * self.accepted[kind] / self.asked[kind]
                print(f"    {kind:<18} {self.accepted[kind]:>6} of {self.asked[kind]:>6} accepted, {share:.1f} %")
        print(f"    worst constraint error {self.worst_error:.2g}; faults: {len(self.faults)}")
        for line in (*self.faults[:5], *self.refusals[:5]):
            print(f"    {line}")


def campaign(
    count: int,
    seed: int = 0,
    wrap: Callable[[World], Target] = lambda world: world,
    per_mechanism: int = 100,
    finish: Callable[[Target], None] = lambda target: None,
    device: str = "cpu",
    touches: bool = False,
) -> Tally:
    """Apply random feasible edits to random mechanisms in motion, a step or more between any two.

    `wrap` makes of each world what edits and steps are given to, a History, say; `finish` is called with it
    when its share of edits has been done.
    """
    tally = Tally()
    done = 0
    while done < count:
        rng = np.random.default_rng([seed, done])
        world = moving_world(mechanism(rng, touches), COORDINATES[done // per_mechanism % 2], device=device)
        target = wrap(world)
        source = (Touching if touches else Source)(world, rng)
        for _ in range(min(per_mechanism, count - done)):
            done += 1
            if not one_edit(world, target, source, tally):
                break
        finish(target)
    return tally


def one_edit(world: World, target: Target, source: Source, tally: Tally) -> bool:
    """One edit and the steps behind it; False where the mechanism has to be given up."""
    kind, edit = source.draw()
    tally.asked[kind] += 1
    books = world.energy()
    try:
        target.apply(edit)
        tally.accepted[kind] += 1
    except edits.EditError as error:
        tally.refusals.append(f"{kind}: {error}")
    except Exception as error:
        tally.faults.append(f"{edit}: {type(error).__name__}: {error}")
        return False
    after_edit = float(world.constraint_error())
    now = world.energy()
    scale = sum(
        abs(value) for each in (books, now) for value in (each.kinetic, each.potential, each.elastic, each.start)
    )
    if kind != "reset" and not abs(now.imbalance - books.imbalance) <= BOOKS * (1.0 + scale):
        tally.faults.append(f"{kind}: {edit}: books out by {now.imbalance - books.imbalance:.3g} J")
    try:
        target.step(int(source.rng.integers(1, 4)))
    except Exception as error:
        tally.faults.append(f"step after {edit}: {type(error).__name__}: {error}")
        return False
    gap = max(after_edit, float(world.constraint_error()))
    tally.worst_error = max(tally.worst_error, gap)
    if not gap <= CLOSED:
        tally.faults.append(f"{kind}: {edit}: constraint error {gap:.3g} ({after_edit:.3g} before the step)")
    if not np.isfinite(world.state.numpy()).all():
        tally.faults.append(f"{kind}: {edit}: not finite")
        return False
    return True
