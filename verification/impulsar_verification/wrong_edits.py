"""Edits each of which is wrong in one place, to be refused in words with the world unchanged."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from impulsar import edits
from impulsar.author.parts import Motor
from impulsar.author.profiles import Harmonic, Ramp, Table
from impulsar.world.world import World

from .random_edits import COORDINATES, Target, mechanism, moving_world

NOT_NUMBERS: tuple[Any, ...] = (
    None,
    "heavy",
    "",
    [],
    {},
    (1.0, 2.0),
    object(),
    b"1",
    1j,
    math.nan,
    True,
    [1, [2]],
    {"a": 1},
)
NOT_FINITE: tuple[Any, ...] = (math.nan, math.inf, -math.inf, 1e308, -1e200, 10**400, np.float64("nan"))
NOT_VECTORS: tuple[Any, ...] = (
    *(None, "xyz", 1.0, (), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 2.0, "z"), (1.0, 2.0, None)),
    *((math.nan, 0.0, 0.0), (0.0, math.inf, 0.0), (1e300, 0.0, 0.0), {"x": 1.0}, [[1, 2, 3], [4]], object()),
    *(np.zeros((2, 2)), np.array(["a", "b", "c"]), (1j, 0, 0), ((1, 2, 3), 4, 5), (10**400, 0, 0)),
)
NOT_NAMES: tuple[Any, ...] = (
    None,
    "",
    "nobody",
    3,
    1.5,
    (),
    [],
    {},
    object(),
    b"body 0",
    "body",
    "ground ",
    math.nan,
    True,
)
NOT_BODIES: tuple[Any, ...] = tuple(name for name in NOT_NAMES if name is not True)


class Spoiler:
    """Edits each of which is wrong in one place."""

    def __init__(self, world: World, rng: np.random.Generator):
        self.world, self.rng = world, rng

    def one(self, values: tuple[Any, ...]) -> Any:
        return values[int(self.rng.integers(0, len(values)))]

    def draw(self) -> edits.Edit:
        """The next wrong edit."""
        return self.one(SPOILED)(self)

    @property
    def body(self) -> str:
        return self.one(tuple(self.world.model.bodies))

    @property
    def joint(self) -> str:
        return self.one(tuple(self.world.model.joints))

    def grab(self) -> edits.Edit:
        return self.one(
            (
                lambda: edits.Grab(self.one((None, 3, "", (), [], object())), self.body),
                lambda: edits.Grab("held", self.body),
                lambda: edits.Grab("h", self.one((*NOT_BODIES, "ground"))),
                lambda: edits.Grab("h", self.body, self.one(NOT_VECTORS)),
                lambda: edits.Grab("h", self.body, stiffness=self.one((*NOT_NUMBERS, *NOT_FINITE, -1.0))),
                lambda: edits.Grab("h", self.body, damping=self.one((*NOT_NUMBERS, *NOT_FINITE, -1.0))),
                lambda: edits.Grab("h", self.body, stiffness=0.0, damping=0.0),
                lambda: edits.Grab("h", self.body, angular_stiffness=self.one((*NOT_NUMBERS, *NOT_FINITE, -1.0))),
                lambda: edits.Grab("h", self.body, angular_damping=self.one((*NOT_NUMBERS, *NOT_FINITE, -1.0))),
            )
        )()

    def move(self) -> edits.Edit:
        wrong = (*NOT_VECTORS, Ramp(0.0, 1.0, 0.0, 1.0), Harmonic(1.0, 1.0), Table((0.0, 1.0), (1.0, 2.0)))
        if self.rng.random() < 0.3:
            return edits.Move(self.one(NOT_NAMES), (0.0, 0.0, 0.0))
        if self.rng.random() < 0.3:  # it does not turn
            return edits.Move("held", None, self.one((None, (0.0, 0.0, 1.0), *wrong)))
        return edits.Move("held", self.one(wrong))

    def release(self) -> edits.Edit:
        return edits.Release(self.one(NOT_NAMES))

    def load(self) -> edits.Edit:
        return self.one(
            (
                lambda: edits.ApplyLoad(self.one((None, 3, "", (), [])), self.body),
                lambda: edits.ApplyLoad("l", self.one((*NOT_BODIES, "ground"))),
                lambda: edits.ApplyLoad("l", self.body, force=self.one(NOT_VECTORS)),
                lambda: edits.ApplyLoad("l", self.body, torque=self.one(NOT_VECTORS)),
                lambda: edits.ApplyLoad("l", self.body, at=self.one(NOT_VECTORS)),
                lambda: edits.ApplyLoad("l", self.body, frame=self.one(("moon", None, 3, [], ""))),
                lambda: edits.RemoveLoad(self.one(NOT_NAMES)),
            )
        )()

    def parameter(self) -> edits.Edit:
        wrong = (*NOT_NUMBERS, *NOT_FINITE, -1.0, 0.0)
        joint = self.joint
        return self.one(
            (
                lambda: edits.SetParameter(f"{self.body}.mass", self.one(wrong)),
                lambda: edits.SetParameter(
                    f"{self.body}.inertia", self.one((*NOT_VECTORS, (1, 1, 3), (0, 0, 0), (-1, 1, 1)))
                ),
                lambda: edits.SetParameter("model.gravity", self.one(NOT_VECTORS)),
                lambda: edits.SetParameter(f"{joint}.friction", self.one((*NOT_FINITE, -1.0, "much", [1, 2, 3]))),
                lambda: edits.SetParameter(f"{joint}.colour", 1.0),
                lambda: edits.SetParameter(f"{self.body}.shape", self.one((1.0, "round", {}, object()))),
                lambda: edits.SetParameter(f"{self.body}.position", self.one(NOT_VECTORS)),
                lambda: edits.SetParameter(self.one((*NOT_NAMES, "nobody.mass", ".", "..", "body 0.", ".mass")), 1.0),
                lambda: edits.SetParameter(f"{joint}.axis", self.one((*NOT_VECTORS[1:], (0.0, 0.0, 0.0)))),
                lambda: edits.SetParameter(f"{joint}.type", self.one((None, "revolut", 3, [], {})) or "hinge"),
            )
        )()

    def step(self) -> edits.Edit:
        return edits.SetStep(self.one((*NOT_NUMBERS, *NOT_FINITE, 0.0, -1.0)))

    def motor(self) -> edits.Edit:
        return self.one(
            (
                lambda: edits.SetMotor(self.one(NOT_NAMES), Motor(speed=1.0)),
                lambda: edits.SetMotor(self.joint, self.one((1.0, "motor", {}, (), object())), "angle"),
                lambda: edits.SetMotor(self.joint, Motor(torque=1.0), self.one(("elbow", 3, (), [], {}))),
                lambda: edits.Drive(self.one(NOT_NAMES), 1.0),
                lambda: edits.Drive(self.joint, 1.0, self.one(("elbow", 3, (), [], {}))),
                lambda: edits.Drive(
                    "driven", self.one((*NOT_NUMBERS[:-3], *NOT_FINITE, Ramp((0, 0, 0), (1, 1, 1), 0, 1)))
                ),
            )
        )()

    def change(self) -> edits.Edit:
        joint = self.joint
        return self.one(
            (
                lambda: edits.ChangeJoint(self.one(NOT_NAMES), {"type": "revolute"}),
                lambda: edits.ChangeJoint(joint, {"type": self.one((None, "revolut", 3, [], {}, object()))}),
                lambda: edits.ChangeJoint(
                    joint, self.one(({}, None, 3, "type", [("type", "fixed")], {1: 2}, {"typ": "fixed"}))
                ),
                lambda: edits.ChangeJoint(joint, {"type": "fixed"}, self.one(("", "past", None, 3))),
                lambda: edits.ChangeJoint(joint, {"first": self.one(NOT_BODIES)}),
                lambda: edits.ChangeJoint(joint, {"first": self.world.model.joints[joint].second}),
                lambda: edits.ChangeJoint(joint, {"axis": self.one((*NOT_VECTORS[1:], (0.0, 0.0, 0.0)))}),
                lambda: edits.ChangeJoint(joint, {"at": self.one(NOT_VECTORS[1:])}),
                lambda: edits.ChangeJoint(
                    joint, {"type": "screw", "pitch": self.one((*NOT_NUMBERS, *NOT_FINITE, 0.0))}
                ),
                lambda: edits.ChangeJoint(
                    "driven", {"limits": self.one(((1, -1), (1,), "far", math.nan, (math.nan, 1), 3.0))}
                ),
                lambda: edits.ChangeJoint("driven", {"friction": self.one((*NOT_FINITE, -1.0, "much", (1, 2)))}),
                lambda: edits.ChangeJoint("driven", {"motor": self.one((1.0, "motor", (), object()))}),
                lambda: edits.ChangeJoint(
                    joint, {"frame_a": self.one((((0, 0, 0), (0, 0, 0, 2)), 3, "here")), "frame_b": None}
                ),
            )
        )()

    def add(self) -> edits.Edit:
        place = {"first": "ground", "second": self.body, "at": (0.0, 0.0, 0.0)}
        return self.one(
            (
                lambda: edits.Add(self.one((None, "", 3, (), [], {}, "bodies", "wheel", b"body")), "x", {}),
                lambda: edits.Add(
                    "body", self.one((None, "", 3, (), [], "ground", self.body)), {"mass": 1.0, "inertia": (1, 1, 1)}
                ),
                lambda: edits.Add(
                    "body", "x", {"mass": self.one((*NOT_NUMBERS, *NOT_FINITE, -1.0, 0.0)), "inertia": (1, 1, 1)}
                ),
                lambda: edits.Add("body", "x", {"mass": 1.0, "inertia": self.one((*NOT_VECTORS, (1, 1, 3)))}),
                lambda: edits.Add("body", "x", self.one(({}, None, 3, "mass", {"weight": 3}, {1: 2}))),
                lambda: edits.Add("joint", "x", {**place, "type": self.one((None, "hinge", 3, []))}),
                lambda: edits.Add(
                    "joint", "x", {**place, "type": "revolute", "axis": self.one((*NOT_VECTORS, (0.0, 0.0, 0.0)))}
                ),
                lambda: edits.Add(
                    "joint", "x", {**place, "type": "spherical", "second": self.one((*NOT_BODIES, "ground"))}
                ),
                lambda: edits.Add("joint", "x", {**place, "type": "fixed", "friction": 1.0}),
                lambda: edits.Add("joint", "x", {"type": "fixed"}),
                lambda: edits.Add("spring", "x", {**place, "stiffness": 1.0}),
                lambda: edits.Add("coupling", "x", {"joint_a": self.joint, "joint_b": self.one(NOT_NAMES)}),
                lambda: edits.Add("load", "x", {"body": self.one((*NOT_BODIES, "ground"))}),
                lambda: edits.Add("probe", "x", {"body": self.body, "at": self.one(NOT_VECTORS)}),
            )
        )()

    def remove(self) -> edits.Edit:
        if self.rng.random() < 0.3:
            return edits.Remove(self.one((None, "", 3, (), [], {}, "bodies", "wheel", b"body")), self.body)
        return edits.Remove(self.one(("body", "joint", "spring", "load", "probe", "coupling")), self.one(NOT_NAMES))

    def state(self) -> edits.Edit:
        return self.one(
            (
                lambda: edits.PutWorlds(self.one(((), 3, [7], [0.5], "all")), None),
                lambda: edits.PutWorlds(None, self.one(({"nobody": 1.0}, 3, "x", [[1.0]]))),
                lambda: edits.SetState(self.one(({}, None, 3, [], {"nobody": {}}, {self.body: 3}, {3: {}}))),
                lambda: edits.SetState({self.body: {"velocity": self.one(NOT_VECTORS)}}),
                lambda: edits.SetState({self.body: {"position": self.one(NOT_VECTORS)}}),
                lambda: edits.SetState(
                    {self.body: {"orientation": self.one((*NOT_VECTORS, (0, 0, 0, 0), (1, 1, 1, 1)))}}
                ),
                lambda: edits.SetState({self.body: {"spin": (0.0, 0.0, 0.0)}}),
            )
        )()

    def other(self) -> edits.Edit:
        return self.one(
            (
                lambda: edits.DragTo(self.one((*NOT_BODIES, "ground")), (0.0, 0.0, 0.0)),
                lambda: edits.DragTo(self.body, self.one(NOT_VECTORS)),
                lambda: edits.DragTo(self.body, (0.0, 0.0, 0.0), self.one(NOT_VECTORS)),
                lambda: edits.Pause(self.one((None, 3, "yes", [], math.nan))),
                lambda: edits.SetMethod(self.one((*NOT_NAMES, "simgcc"))),
                lambda: edits.SetMethod(
                    "direct", self.one(({"rtol": -1.0}, {"rtol": "a"}, {"speed": 3}, None, 3, {"substeps": 1.5}))
                ),
                lambda: edits.SetMethod("direct", {"atol": self.one((*NOT_NUMBERS, *NOT_FINITE, 0.0, -1.0))}),
            )
        )()


SPOILED = tuple(
    member for name, member in vars(Spoiler).items() if callable(member) and name not in ("__init__", "one", "draw")
)


def spoiled_world(rng: np.random.Generator, coordinates: str) -> World:
    """A mechanism in motion with a hand on it and a motor in it."""
    model = mechanism(rng)
    model.body("rotor", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(1.0, 0.0, 0.0))
    model.joint("driven", "revolute", "ground", "rotor", at=(1.0, 0.0, 0.0), axis=(0, 0, 1), motor=Motor(torque=0.1))
    world = moving_world(model, coordinates)
    world.grab("rotor", at=(0.1, 0.0, 0.0), name="held")
    world.step(3)
    return world


def invalid_campaign(count: int, seed: int = 0, wrap: Callable[[World], Target] = lambda world: world) -> list[str]:
    """Apply wrong edits; what was not refused as it should be, in words."""
    faults: list[str] = []
    for done in range(count):
        if done % 250 == 0:
            rng = np.random.default_rng([seed, done])
            world = spoiled_world(rng, COORDINATES[done // 250 % 2])
            target, spoiler, before = wrap(world), Spoiler(world, rng), world.hash()
        edit = spoiler.draw()
        try:
            target.apply(edit)
            faults.append(f"{edit}: accepted")
        except edits.EditError as error:
            if not str(error):
                faults.append(f"{edit}: refused without a word")
        except Exception as error:
            faults.append(f"{edit}: {type(error).__name__}: {error}")
        if world.hash() != before:
            faults.append(f"{edit}: changed the world")
            before = world.hash()
    return faults
