"""Calls of the public functions with junk in the place of one or two arguments.

Whatever comes, a call gives a right result or raises an error that is meant: one of our own (`ModelError` and what
derives of it, `StepError`), or a plain `ValueError` or `TypeError` that our code raises in words. What an operation
on junk happens to raise inside NumPy, Warp or Python is a fault, and so is a call that takes long.
"""

import contextlib
import io as streams
import linecache
import math
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import impulsar
from impulsar import analysis, edits, io, render, results, scenes
from impulsar.author.errors import ModelError, StepError
from impulsar.author.model import Model
from impulsar.author.parts import Motor
from impulsar.author.profiles import Formula, Harmonic, Ramp, Smooth, Table
from impulsar.author.sensors import Encoder, Imu
from impulsar.author.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Plane, Sphere
from impulsar.engine.methods import Direct, Simgc, Simmc
from impulsar.history.history import History
from impulsar.validate.case import Case
from impulsar.world.world import World

LONGEST = 5.0  # that a call may take of the processor [s]
PATIENCE = 60.0  # after which one that does not come back is interrupted, others being at work on the machine [s]
OURS = str(Path(impulsar.__file__).parent)
I3 = (0.1, 0.1, 0.1)


class Text(str):
    """A text of another class."""


def junk() -> list[Any]:
    """What nobody means."""
    return [
        *(None, True, False, 0, -1, 3, 2**31, 2**63, -(10**25), 10**400, 10**5000, 0.0, -0.0, 2.5, 1e-320, 1e21, 1e308),
        *(math.nan, math.inf, -math.inf, 1j, Decimal("1.5"), Fraction(1, 3), Decimal("NaN")),
        *(np.float64("nan"), np.float32("inf"), np.int8(-3), np.uint64(2**63), np.bool_(True), np.str_("arm")),
        *("", " ", "arm", "hinge", "ground", "nobody", "arm.mass", "hinge.angle", ".", "..", "a.b.c", "x" * 5000),
        *(
            "\x1b[2J",
            "a\nb",
            "\x00",
            "\ud800",
            "nan",
            "1",
            "revolute",
            "direct",
            "cpu",
            "cuda:7",
            "__class__",
            Text("arm"),
        ),
        *(b"", b"arm", bytearray(b"arm"), (), [], {}, set(), frozenset({1}), {"a": 1}, {1: 2}, {"arm": {}}, {None: 1}),
        *((1.0,), (1.0, 2.0), (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0), (1, 2, 3, 4, 5), [[1, 2, 3]], [1, [2], 3]),
        *((math.nan, 0, 0), (0, math.inf, 0), (1e300, 0, 0), ("a", "b", "c"), (None, None, None), (1j, 0, 0)),
        *((True, False, True), (10**400, 0, 0), [[1, 2], [3]], {"x": 1.0, "y": 2.0}, [(0, 0, 0)] * 3),
        *(np.zeros(0), np.zeros(3), np.full(3, np.nan), np.eye(3), np.zeros((2, 2)), np.zeros((3, 1)), np.array(1.0)),
        *(np.array(["a", "b", "c"]), np.array([None, 1, 2]), np.zeros(3, complex), np.zeros((1, 3)), np.arange(3)),
        *(np.array([1, 2, 3], np.float32), np.array([[1e300, 0, 0]]), np.zeros((0, 3))),
        *(object(), object, int, len, print, lambda: 0, lambda t: 0.0, lambda t: (0.0, 0.0, 0.0), lambda t: None),
        *(
            range(3),
            iter([1, 2, 3]),
            (x for x in (1, 2, 3)),
            slice(3),
            NotImplemented,
            ...,
            Exception("x"),
            np,
            Path("."),
        ),
        *(Ramp(0.0, 1.0, 0.0, 1.0), Ramp(None, 1.0, 0.0, 1.0), Harmonic((1, 2, 3), 2.0), Table((0.0, 1.0), (0.0, 2.0))),
        *(Motor(torque=1.0), Motor(speed=(1.0, 0.0, 0.0)), Box((1, 1, 1)), Direct(), edits.Pause(), edits.Edit()),
        deep(40),
    ]


def deep(levels: int) -> list:
    """A list in a list in a list."""
    inner: list = []
    for _ in range(levels):
        inner = [inner]
    return inner


def arms() -> Model:
    """A mechanism with a part of every kind."""
    model = Model("arms")
    model.body("arm", mass=1.0, inertia=I3, position=(0.5, 0, 0), shape=Sphere(0.1))
    model.body("rod", mass=1.0, inertia=I3, position=(1.5, 0, 0))
    model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0), motor=Motor(torque=0.1))
    model.joint("elbow", "revolute", "arm", "rod", at=(1, 0, 0), axis=(0, 1, 0), stiffness=1.0, damping=0.1)
    model.spring("coil", "ground", "rod", (0, 0, 1), (2, 0, 0), stiffness=1.0)
    model.load("wind", "rod", force=(0, 0, 0.1))
    model.probe("tip", "rod", at=(2, 0, 0))
    model.material("felt", friction=0.4, static=0.6)
    model.material_pair("felt", "wood", friction=0.3)
    model.obstacle("floor", Box((9, 9, 1)), position=(0, 0, -5), material="felt")
    model.no_contact("rod", "floor")
    model.distance("reach", "ground", "rod", at_a=(0, 0, 0), at_b=(2, 0, 0))
    model.angle("bend", "arm", "rod", from_a=(0, 0, 0), to_a=(1, 0, 0), from_b=(1, 0, 0), to_b=(2, 0, 0))
    model.parameter("a", 0.5, minimum=0.1, maximum=2.0, unit="m")
    model.expression("coil.stiffness", "2*a")
    model.sensor("imu", Imu("arm"))
    model.dt, model.duration = 0.01, 0.1
    return model


@dataclass
class Bench:
    """What calls are made on: made anew now and then, and after each call that was accepted."""

    folder: Path
    model: Model = field(init=False)
    world: World = field(init=False)
    dataset: Any = field(init=False)

    def __post_init__(self) -> None:
        self.world = World(arms())
        self.world.grab("rod", name="held")
        self.dataset = self.world.run(0.05, progress=False)
        self.start = self.world.snapshot()
        results.save(self.dataset, self.folder / "good.nc")
        io.save_model(arms(), self.folder / "good.json")
        self.refresh()

    def refresh(self) -> None:
        """As new."""
        self.model = arms()
        self.world.restore(self.start)

    def hand(self) -> Any:
        from impulsar.world.views import Hand

        return Hand(self.world, "held")

    def history(self) -> History:
        self.world.restore(self.start)
        history = History(self.world)
        history.apply(edits.SetParameter("arm.mass", 2.0))
        history.step(2)
        history.undo()
        return history


Reach = Callable[[Bench], Callable[..., Any]]
Call = tuple[Reach, dict[str, Any]]


def always(function: Callable[..., Any]) -> Reach:
    """A function of the module."""
    return lambda bench: function


def of_model(name: str) -> Reach:
    """A method of the bench's model."""
    return lambda bench: getattr(bench.model, name)


def of_world(name: str) -> Reach:
    """A method of the bench's world."""
    return lambda bench: getattr(bench.world, name)


def applied(cls: type[edits.Edit]) -> Reach:
    """An edit, made and applied to the bench's world."""
    return lambda bench: lambda **given: bench.world.apply(cls(**given))


def plain_calls() -> dict[str, Call]:
    """Functions that need nothing else."""
    plain: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "Model": (Model, {"name": "m", "gravity": (0, 0, -9.81)}),
        "Motor": (Motor, {"torque": 1.0, "max_torque": 2.0}),
        "Ramp": (Ramp, {"start": 0.0, "end": 1.0, "t0": 0.0, "t1": 1.0}),
        "Smooth": (Smooth, {"start": 0.0, "end": 1.0, "t0": 0.0, "t1": 1.0}),
        "Harmonic": (Harmonic, {"amplitude": 1.0, "omega": 2.0, "phase": 0.0, "mean": 0.0}),
        "Formula": (Formula, {"text": "2*sin(3*t)"}),
        "Table": (Table, {"times": (0.0, 1.0), "values": (0.0, 2.0)}),
        "Box": (Box, {"size": (1, 1, 1), "offset": (0, 0, 0), "orientation": (0, 0, 0, 1), "material": "steel"}),
        "Sphere": (Sphere, {"radius": 1.0}),
        "Cylinder": (Cylinder, {"radius": 1.0, "length": 1.0}),
        "Capsule": (Capsule, {"radius": 1.0, "length": 1.0}),
        "Cone": (Cone, {"radius": 1.0, "length": 1.0}),
        "Plane": (Plane, {"offset": (0, 0, 1)}),
        "Mesh": (Mesh, {"vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0)], "triangles": [(0, 1, 2)], "open": True}),
        "HeightField": (HeightField, {"heights": [(0, 0), (0, 1)], "size": (1, 1)}),
        "ConvexHull": (ConvexHull, {"points": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]}),
        "scene": (scenes.scene, {"name": "chain", "n": 3}),
        "edit_from_json": (io.edit_from_json, {"data": {"edit": "Pause", "paused": True}}),
        "edit_to_json": (io.edit_to_json, {"edit": edits.Pause()}),
        "model_from_json": (io.model_from_json, {"data": io.model_to_json(arms())}),
        "analysis.inverse": (
            analysis.inverse,
            {"model": arms(), "motions": {"hinge": Harmonic(0.1, 1.0)}, "times": (0.0, 0.1)},
        ),
    }
    return {name: (always(function), given) for name, (function, given) in plain.items()}


def model_calls() -> dict[str, Call]:
    """Methods of a model."""
    P = {"at": (1, 0, 0), "axis": (0, 1, 0)}
    on_model: dict[str, dict[str, Any]] = {
        "body": {"name": "b", "mass": 1.0, "inertia": I3, "position": (0, 0, 1), "orientation": (0, 0, 0, 1)}
        | {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0), "shape": Box((1, 1, 1)), "material": "steel"},
        "joint": {"name": "j", "type": "revolute", "first": "arm", "second": "rod", **P, "limits": (-1, 1)}
        | dict.fromkeys(("limit_restitution", "friction", "viscous", "stiffness", "damping", "rest"), 0.1)
        | {"motor": Motor(torque=1.0), "loop": None, "contact": True, "closed": None},
        "coupling": {"name": "c", "joint_a": "hinge", "joint_b": "elbow", "ratio": 2.0, "group_a": "angle"}
        | {"belt": 0.1},
        "spring": {"name": "s", "first": "arm", "second": "rod", "at_a": (0, 0, 0), "at_b": (2, 0, 0)}
        | {"stiffness": 1.0, "damping": 0.1, "free_length": 1.0},
        "load": {
            "name": "l",
            "body": "arm",
            "force": (0, 0, 1),
            "torque": (0, 0, 0),
            "at": (1, 0, 0),
            "frame": "world",
        },
        "probe": {"name": "p", "body": "arm", "at": (1, 0, 0)},
        "material": {"name": "m", "friction": 0.5, "static": 0.6, "restitution": 0.1, "rolling": 0.0, "spinning": 0.0},
        "material_pair": {"a": "steel", "b": "felt", "friction": 0.5, "static": 0.6, "name": "m"}
        | {"restitution": 0.1, "rolling": 0.0, "spinning": 0.0},
        "obstacle": {"name": "o", "shape": Box((1, 1, 1)), "position": (0, 0, -3), "orientation": (0, 0, 0, 1)}
        | {"material": "steel"},
        "no_contact": {"a": "arm", "b": "floor", "name": "n"},
        "group": {"name": "g", "parts": ("arm", "hinge")},
        "fluid": {"name": "f", "density": 1000.0, "viscosity": 1e-3, "surface": 0.0, "current": (0, 0, 0), "drag": 0.5}
        | {"added_mass": True, "bodies": None, "without": (), "wave_amplitude": 0.1, "wave_number": 1.0}
        | {"wave_direction": 0.0, "wave_phase": 0.0, "depth": 3.0, "wave_period": None},
        "sensor": {"name": "s", "sensor": Encoder("hinge")},
        "distance": {"name": "d", "first": "arm", "second": "ground", "at_a": (0, 0, 0), "at_b": (2, 0, 0)},
        "angle": {"name": "w", "first": "arm", "second": "rod", "from_a": (0, 0, 0), "to_a": (1, 0, 0)}
        | {"from_b": (0, 0, 0), "to_b": (2, 0, 0)},
        "parameter": {"name": "b", "value": "2*a", "minimum": 0.0, "maximum": 9.0, "unit": "m"},
        "expression": {"path": "arm.mass", "text": "3*a"},
        "with_parameters": {"a": 1.0},
        "at": {"time": 1.0, "edit": edits.Pause()},
        "copy": {"parts": True},
        "check": {"meeting": True},
    }
    return {f"model.{name}": (of_model(name), given) for name, given in on_model.items()}


def world_calls() -> dict[str, Call]:
    """Methods of a world, and edits applied to one."""
    on_world: dict[str, dict[str, Any]] = {
        "step": {"n": 2},
        "run": {"duration": 0.02, "every": 0.01, "progress": False},
        "apply": {"edit": edits.Pause()},
        "set": {"path": "arm.mass", "values": 2.0},
        "grab": {"body": "arm", "at": (0, 0, 0), "stiffness": 10.0, "damping": 1.0, "name": "mine"},
        "drag": {"body": "rod", "target": (1, 0, -1), "at": (0, 0, 0)},
        "change": {"joint": "elbow", "frames": "present", "friction": 0.1},
        "add": {"kind": "probe", "name": "p", "body": "arm", "at": (0, 0, 0)},
        "remove": {"kind": "probe", "name": "tip"},
        "restore": {"moment": None},
        "body": {"name": "arm"},
        "joint": {"name": "hinge"},
        "sensor": {"name": "imu"},
        "point": {"body": "arm", "at": (0, 0, 0)},
        "snapshot_png": {"width": 64, "height": 48},
        "snapshot": {},
        "hash": {},
        "energy": {},
        "reactions": {},
    }
    found = {f"world.{name}": (of_world(name), given) for name, given in on_world.items()}
    for cls in edits.Edit.__subclasses__():
        found[f"edits.{cls.__name__}"] = applied(cls), GOOD_EDITS[cls.__name__]
    return found


def running_calls() -> dict[str, Call]:
    """Worlds and methods made, and what is held of a world."""
    options = {"rtol": 1e-7, "atol": 1e-7, "substeps": None, "strict": False, "max_speed": 5.0, "max_hand_force": 5.0}
    return {
        "World": (
            lambda bench: lambda **given: World(**{"model": bench.model} | given),
            {"method": "direct", "coordinates": "generalized", "dt": 0.01, "worlds": 1, "device": "cpu"} | options,
        ),
        "Direct": (
            lambda bench: lambda **given: World(bench.model, Direct(**given)),
            {"rtol": 1e-7, "atol": 1e-7, "iterations": 500, "substeps": 0, "epsilon": 1e-10, "impulse_step": 0.002}
            | {"pair": "auto"},
        ),
        "Simgc": (
            lambda bench: lambda **given: World(bench.model, Simgc(**given)),
            {"epsilon": 1e-6, "iterations": 100, "warm_start": True, "split_impulses": True, "max_step": 0.01},
        ),
        "Simmc": (
            lambda bench: lambda **given: World(bench.model, Simmc(**given)),
            {"epsilon": 1e-6, "iterations": 100, "beta": 0.2, "warm_start": True, "max_step": 0.01},
        ),
        "hand.move": (lambda bench: bench.hand().move, {"target": (1, 0, 0)}),
        "hand.release": (lambda bench: bench.hand().release, {}),
        "hand.force": (lambda bench: lambda: bench.hand().force, {}),
        "body.point": (lambda bench: bench.world.body("arm").point, {"at": (0, 0, 0)}),
        "joint.reaction_in": (lambda bench: bench.world.joint("hinge").reaction_in, {"frame": "joint"}),
    }


def file_calls() -> dict[str, Call]:
    """Histories, files, results and analyses."""
    return {
        "History": (lambda bench: lambda **given: History(**{"world": bench.world} | given), {"journal": None}),
        "history.apply": (lambda bench: bench.history().apply, {"edit": edits.Pause()}),
        "history.step": (lambda bench: bench.history().step, {"n": 2}),
        "history.undo": (lambda bench: bench.history().undo, {"to": 0}),
        "history.seek": (lambda bench: bench.history().seek, {"time": 0.01}),
        "history.limit_work": (lambda bench: bench.history().limit_work, {"limit": 100}),
        "History.open": (lambda bench: History.open, {"path": "nowhere.journal"}),
        "model_to_json": (lambda bench: io.model_to_json, {"model": arms()}),
        "save_model": (
            lambda bench: lambda **given: io.save_model(**{"path": bench.folder / "m.json"} | given),
            {"model": arms()},
        ),
        "save_model path": (lambda bench: lambda path: io.save_model(bench.model, path), {"path": "m.json"}),
        "load_model": (lambda bench: io.load_model, {"path": "good.json"}),
        "results.save": (
            lambda bench: lambda **given: results.save(**{"dataset": bench.dataset} | given),
            {"path": "out.nc"},
        ),
        "results.save dataset": (
            lambda bench: lambda dataset: results.save(dataset, bench.folder / "out.nc"),
            {"dataset": None},
        ),
        "results.load": (lambda bench: results.load, {"path": "good.nc"}),
        "results.plot": (
            lambda bench: lambda **given: results.plot(**{"dataset": bench.dataset} | given),
            {"path": "out.png", "title": "t"},
        ),
        "render.draw_motion": (
            lambda bench: (
                lambda **given: render.draw_motion(**{"model": bench.model, "dataset": bench.dataset} | given)
            ),
            {"path": "out.png", "poses": 3, "start": 0.0, "stop": 0.02, "title": "t"},
        ),
        "analysis.mobility": (
            lambda bench: lambda **given: analysis.mobility(**{"source": bench.model} | given),
            {"with_motors": False, "device": "cpu"},
        ),
        "analysis.mobility source": (lambda bench: analysis.mobility, {"source": None}),
        "analysis.assemble": (
            lambda bench: lambda **given: analysis.assemble(**{"model": bench.model} | given),
            {"tolerance": 1e-10, "strict": True, "device": "cpu"},
        ),
        "analysis.statics": (
            lambda bench: lambda **given: analysis.statics(**{"source": bench.model} | given),
            {"time": 0.0, "device": "cpu"},
        ),
        "analysis.clearance": (
            lambda bench: lambda **given: analysis.clearance(**{"source": bench.model} | given),
            {"duration": 0.1, "every": 0.1, "model": None, "pairs": [("arm", "floor")], "tolerance": 0.0, "world": 0},
        ),
        "analysis.clearance source": (lambda bench: analysis.clearance, {"source": None}),
        "analysis.reachable": (
            lambda bench: lambda **given: analysis.reachable(**{"source": bench.model} | given),
            {"point": "arm", "at": (0, 0, 0), "ranges": {"hinge": (0, 1)}, "samples": 4, "how": "grid", "seed": 0}
            | {"interference": [("arm", "floor")]},
        ),
        "analysis.modes": (
            lambda bench: lambda **given: analysis.modes(**{"source": bench.model} | given),
            {"time": 0.0, "device": "cpu", "poses": 2},
        ),
        "analysis.turn": (
            lambda bench: lambda **given: analysis.turn(**{"model": bench.model} | given),
            {"coordinate": "hinge", "samples": 4, "device": "cpu"},
        ),
        "analysis.turn model": (lambda bench: analysis.turn, {"model": None}),
    }


def calls() -> dict[str, Call]:
    """The public functions by name: how to reach each, and arguments that are right."""
    return plain_calls() | model_calls() | world_calls() | running_calls() | file_calls()


GOOD_EDITS: dict[str, dict[str, Any]] = {
    "Attach": {"name": "servo", "controller": lambda t, y: 0.0, "rate": 100.0, "reads": ("hinge.position", "imu")}
    | {"writes": ("hinge.torque",), "hold": "zero", "budget": 1.0},
    "Detach": {"name": "servo"},
    "Compile": {"states": (), "worlds": ()},
    "Grab": {
        **{"hand": "h", "body": "arm", "at": (0, 0, 0), "stiffness": 10.0, "damping": 1.0},
        **{"angular_stiffness": 1.0, "angular_damping": 0.1},
    },
    "Push": {"hand": "p", "at": (0, 0, 9), "radius": 0.01, "force": 5.0, "mass": 0.1},
    "Move": {"hand": "held", "target": (1, 0, 0)},
    "Grip": {"hand": "held", "stiffness": 20.0, "damping": 1.0, "angular_stiffness": 1.0, "angular_damping": 0.1},
    "Release": {"hand": "held"},
    "ApplyLoad": {
        "name": "l",
        "body": "arm",
        "force": (0, 0, 1),
        "torque": (0, 0, 0),
        "at": (0, 0, 0),
        "frame": "body",
    },
    "RemoveLoad": {"name": "wind"},
    "Several": {"edits": (edits.SetParameter("arm.mass", 2.0), edits.Remove("probe", "tip"))},
    "Rename": {"name": "arm", "to": "lever"},
    "Plate": {
        "name": "plate",
        "ends": (edits.End(body="arm", point=(0, 0, 0)), edits.End(at=(3.0, 1.0)), edits.End(at=(2.0, 3.0))),
        "origin": (0, 0, 0),
        "u": (1, 0, 0),
        "v": (0, 0, 1),
        "thickness": 0.01,
        "density": 100.0,
    },
    "Mirror": {"bodies": ("arm", "rod"), "normal": (1, 0, 0), "point": ("arm", (0, 0, 0)), "along": (0, 3, 0)},
    "Shift": {"bodies": ("arm",), "shift": (0, 0, 0), "angle": 0.0, "axis": (0, 0, 1), "centre": (0, 0, 0)},
    "Cam": {
        "name": "cam",
        "at": (0.5, 2.0),
        "base": 0.03,
        "lift": 0.01,
        "rise": 2.0,
        "dwell": 1.0,
        "fall": 2.0,
        "law": "harmonic",
        "follower": "roller",
        "roller": 0.01,
        "angle": 1.5,
        "speed": 1.0,
        "stiffness": 100.0,
        "origin": (0, 0, 0),
        "u": (1, 0, 0),
        "v": (0, 0, 1),
        "thickness": 0.01,
        "density": 1000.0,
        "material": "oiled",
    },
    "Copy": {
        "bodies": ("arm", "rod"),
        "shift": (1, 0, 0),
        "angle": 0.1,
        "axis": (0, 0, 1),
        "centre": (0, 0, 0),
        "count": 2,
    },
    "Draw": {
        "links": ("a", "b"),
        "ends": (edits.End(body="arm", point=(0, 0, 0)), edits.End(length=0.2, angle=1.0), edits.End(at=(2.0, 1.0))),
        "origin": (0, 0, 0),
        "u": (1, 0, 0),
        "v": (0, 0, 1),
        "radius": 0.01,
        "density": 100.0,
    },
    "SetParameter": {"path": "arm.mass", "value": 2.0},
    "SetParameters": {"values": {"L": 0.5}, "expressions": {}, "at_start": True},
    "Bind": {"path": "arm.mass", "expression": "3*a"},
    "SetStep": {"dt": 0.01},
    "Drive": {"joint": "hinge", "value": 0.1, "group": "angle"},
    "SetMaterial": {"part": "arm", "material": "felt", "shape": None},
    "SetMotor": {"joint": "hinge", "motor": Motor(torque=0.2), "group": "angle"},
    "ChangeJoint": {"joint": "elbow", "changes": {"type": "spherical"}, "frames": "present"},
    "Cut": {"joint": "elbow"},
    "Close": {"joint": "elbow"},
    "Add": {"kind": "probe", "name": "p", "options": {"body": "arm", "at": (0, 0, 0)}},
    "Remove": {"kind": "probe", "name": "tip"},
    "SetState": {"bodies": {"arm": {"velocity": (0, 0, 0)}}},
    "PutWorlds": {"worlds": (0,), "q": {"hinge": 0.1}, "v": {"hinge": 0.1}},
    "GoTo": {"keyframe": "home", "worlds": (0,)},
    "SetStart": {"velocities": True},
    "DragTo": {"body": "rod", "target": (1, 0, -1), "at": (0, 0, 0)},
    "Reset": {},
    "Pause": {"paused": True},
    "SetMethod": {"method": "simgc", "options": {"iterations": 100}},
}


class TooLong(Exception):
    """A call did not come back."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, where the system has a timer and what runs is Python."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def is_meant(error: BaseException) -> bool:
    """Whether an error was raised by a `raise` of ours, with words."""
    if isinstance(error, StepError | ModelError):
        return bool(str(error))
    if not isinstance(error, ValueError | TypeError) or not str(error):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    return last.filename.startswith(OURS) and linecache.getline(last.filename, last.lineno or 0).strip().startswith(
        "raise"
    )


@dataclass
class Tally:
    """What came of the calls."""

    counts: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def note(self, what: str, told: str, seconds: float) -> None:
        """Count an outcome."""
        self.counts[what] += 1
        self.slowest = max(self.slowest, (seconds, told))
        if seconds > LONGEST:
            what = f"hang ({seconds:.1f} s)"
        if what not in ("named", "plain", "accepted"):
            self.faults.append(f"{told}: {what}")


def junk_campaign(count: int, seed: int = 0, only: str | None = None) -> Tally:
    """So many calls, spread over all functions; a fault is told with the call."""
    rng = np.random.default_rng(seed)
    values, tally = junk(), Tally()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bench, known = Bench(Path(folder)), calls()
        names = [name for name in known if only is None or name.startswith(only)]
        for k in range(count):
            name = names[k % len(names)]
            reach, good = known[name]
            some = int(rng.integers(1, 3))
            chosen = rng.choice(list(good), size=min(len(good), some), replace=False).tolist() if good else []
            changed = {key: values[int(rng.integers(0, len(values)))] for key in chosen}
            given = good | changed
            words = [f"{key}={type(value).__name__} {_short(value)}" for key, value in changed.items()]
            told = f"{name}({', '.join(words)})"
            _one(tally, told, bench, reach, given)
    return tally


def _one(tally: Tally, told: str, bench: Bench, reach: Reach, given: dict) -> None:
    """One call, and the bench made as new after it where it was accepted."""
    quiet = streams.StringIO()
    began = time.process_time()
    what = "accepted"
    try:
        with limited(PATIENCE), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            reach(bench)(**given)
    except TooLong:
        what = "hang"
    except Exception as error:
        named = isinstance(error, StepError | ModelError)
        what = "named" if named else "plain" if is_meant(error) else f"{type(error).__name__}: {str(error)[:150]!r}"
    seconds = time.process_time() - began
    tally.note(what, told, seconds)
    bench.refresh()
    if what == "accepted" and not np.isfinite(bench.world.state.numpy()).all():
        tally.faults.append(f"{told}: the state is not finite")


def _short(value: object) -> str:
    try:
        return repr(value)[:60]
    except ValueError:
        return "huge"


LAST = Tally()


def faults(count: int) -> float:
    """How many of so many calls ended otherwise than they should."""
    global LAST
    LAST = junk_campaign(count)
    return float(len(LAST.faults))


def show_last() -> None:
    """The outcomes of the last campaign."""
    print(f"    {len(calls())} functions: {dict(LAST.counts)}; slowest {LAST.slowest[0]:.2f} s, {LAST.slowest[1]}")
    for fault in LAST.faults[:20]:
        print(f"    {fault}")


CASES = (
    Case(
        "junk-calls",
        "10,000 calls of all public functions with junk: a named error or a right result, none beyond 5 s",
        0.0,
        "calls",
        lambda device: faults(10_000),
        slow=True,
        show=show_last,
    ),
)
