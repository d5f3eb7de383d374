"""Keep scene files and journals as the program writes them today, for tests that later ones can read them.

    git worktree add /tmp/then COMMIT && PYTHONPATH=/tmp/then/src python tools/keep_files.py FOLDER COMMIT [SESSION ...]

Each session is a journal and the state at its end: for every body position, orientation, velocity and angular
velocity, in `ends.json` with version, commit and machine. Beside them are scene files of their models. All are packed
by xz. The script runs on any version from 0.1.0 on.
"""

import json
import lzma
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import impulsar as im
from impulsar.edits import (
    Add,
    ApplyLoad,
    ChangeJoint,
    DragTo,
    Drive,
    Grab,
    Move,
    Pause,
    Release,
    Remove,
    RemoveLoad,
    Reset,
    SetMethod,
    SetMotor,
    SetParameter,
    SetStep,
)

try:
    from impulsar.engine.machine import machine_key
    from impulsar.history import history as module
except ImportError:  # as it was before there were rooms
    from impulsar.machine import machine_key

    from impulsar.edits import history as module

TIP = (0.0, 0.0, 0.025)
ALONG_X = (0.0, 0.5**0.5, 0.0, 0.5**0.5)  # takes z, a link's long axis, to x
SNAPSHOT_EVENTS = 6  # edits between snapshots, so that short sessions have several
VALUES = ("position", "orientation", "velocity", "angular_velocity")


def pendula(links: int = 3) -> im.Model:
    """Links on hinges, released lying, with friction, a limit and a spring."""
    model = im.Model("pendula")
    before = model.ground
    for k in range(1, links + 1):
        centre, at = (0.05 * k - 0.025, 0.0, 0.0), (0.05 * (k - 1), 0.0, 0.0)
        body = model.body(f"link{k}", 0.1, (21e-6, 21e-6, 5e-6), centre, ALONG_X)
        model.joint(f"hinge{k}", "revolute", before, body, at=at, axis=(0, 1, 0), viscous=1e-4)
        before = body
    model.spring("spring", model.ground, before, at_a=(0.1, 0, 0.1), at_b=(0.05 * links, 0, 0), stiffness=5.0)
    model.probe("tip", before, at=(0.05 * links, 0, 0))
    model.dt = 0.002
    return model


def pulled(history: im.History) -> None:
    """Every kind of edit of a chain, an undo, a redo, a revert, a seek and a pause."""
    script = (
        Grab("hand", "link3", TIP, stiffness=20.0),
        Move("hand", im.Ramp(None, (0.1, 0.05, 0.1), 0.0, 0.3)),
        SetParameter("link2.mass", 0.15),
        ChangeJoint("hinge2", {"type": "spherical", "viscous": 1e-4}),
        Release("hand"),
        SetStep(0.0016),
        ApplyLoad("wind", "link1", force=im.Harmonic((0.2, 0.1, 0.0), 7.0)),
        Remove("spring", "spring"),
        Grab("left", "link1", stiffness=10.0),
        Grab("right", "link3", TIP, stiffness=5.0),
        RemoveLoad("wind"),
        Add("spring", "other", {"first": "ground", "second": "link3", "at_a": (0, 0, 0.2), "at_b": TIP, **SOFT}),
        Add("body", "bob", {"mass": 0.05, "inertia": (1e-5, 1e-5, 1e-5), "position": (0.1, 0.05, 0.1)}),
        SetMotor("hinge1", im.Motor(speed=1.0, max_torque=0.02)),
        Drive("hinge1", -2.0),
    )
    for k, edit in enumerate(script):
        history.step(9 + 12 * (k % 3))
        history.apply(edit)
    history.step(20)
    history.undo()
    history.redo()
    history.step(5)
    history.revert()
    history.apply(Pause(True))
    history.apply(Pause(False))
    history.step(15)
    history.undo()
    history.step(10)


SOFT = {"stiffness": 2.0, "damping": 0.05, "free_length": 0.05}


def switched(history: im.History) -> None:
    """From method to method, with a hand and a limit of work."""
    history.step(30)
    history.apply(Grab("hand", "link2", stiffness=20.0))
    for method in ("simgc", "simmc", "direct"):
        history.step(10)
        history.apply(SetMethod(method))
        history.step(10)
        history.apply(Move("hand", (0.08, 0.02, 0.03)))
    history.apply(SetMethod("direct", {"rtol": 1e-9, "atol": 1e-9}))
    history.step(10)
    history.limit_work(40)
    history.step(10)
    history.limit_work(400)
    history.apply(Reset())
    history.step(20)


def batch(history: im.History) -> None:
    """Worlds with their own parameters."""
    history.step(10)
    history.apply(SetParameter("link2.mass", np.array([0.1, 0.2])))
    history.apply(ChangeJoint("hinge2", {"type": "spherical", "viscous": 1e-4}))
    history.step(20)
    history.apply(ApplyLoad("wind", "link1", force=(0.0, 0.1, 0.2)))
    history.step(20)


def loaded(history: im.History) -> None:
    """A load on the plate, a hand, another spring."""
    history.step(6)
    history.apply(ApplyLoad("weight", "plate", force=(0.0, 0.0, -50.0)))
    history.step(6)
    history.apply(Grab("hand", "plate", stiffness=200.0, damping=1.0))
    history.apply(Move("hand", (0.1, 0.17, 0.37)))
    history.step(6)
    history.apply(SetParameter("plate.mass", 0.2))
    history.apply(Release("hand"))
    history.step(6)


def driven(history: im.History) -> None:
    """A motor driven otherwise, a body made heavier, a hinge with friction, a drag."""
    bodies, joints = list(history.world.model.bodies), list(history.world.model.joints)
    history.step(10)
    history.apply(SetParameter(f"{bodies[0]}.mass", 0.3))
    history.apply(ChangeJoint(joints[1], {"friction": 0.002}))
    history.step(10)
    history.apply(Grab("hand", bodies[1], stiffness=5.0))
    history.step(10)
    history.apply(Release("hand"))
    point = history.world.body(bodies[1]).position
    history.apply(DragTo(bodies[1], tuple(float(x) for x in point + 1e-3)))
    history.step(10)


def watched(history: im.History) -> None:
    """Only steps and a parameter: a callable or a script does the rest."""
    history.step(20)
    history.apply(SetParameter("link2.mass", 0.12))
    history.step(20)


def with_a_script() -> im.Model:
    """The chain, pushed by a callable, whose values a journal keeps, and taken by its script."""
    model = pendula()
    model.load("push", "link3", force=lambda t: (0.1 * np.sin(5 * t), 0.0, 0.05))
    model.at(0.02, Grab("scripted", "link1", TIP, stiffness=5.0))
    return model


SCENES: dict[str, Callable[[], im.Model]] = {
    "chain": pendula,
    "pushed-chain": with_a_script,
    **{name: partial(im.scene, name) for name in ("cross-lift", "four-bar", "peaucellier", "manipulator", "five-link")},
}
SESSIONS: dict[str, tuple[str, dict, Callable[[im.History], None]]] = {
    "chain-direct": ("chain", {"method": "direct"}, pulled),
    "chain-direct-maximal": ("chain", {"method": "direct", "coordinates": "maximal"}, pulled),
    "chain-simgc": ("chain", {"method": "simgc"}, pulled),
    "chain-simmc": ("chain", {"method": "simmc"}, pulled),
    "switched": ("chain", {}, switched),
    "batch": ("chain", {"worlds": 2}, batch),
    "callable": ("pushed-chain", {}, watched),
    "cross-lift-direct": ("cross-lift", {"dt": 0.005}, loaded),
    "cross-lift-simgc": ("cross-lift", {"method": "simgc", "dt": 0.001}, loaded),
    "four-bar-direct": ("four-bar", {"coordinates": "maximal"}, driven),
    "four-bar-simmc": ("four-bar", {"method": "simmc"}, driven),
    "peaucellier-direct": ("peaucellier", {"dt": 0.005}, driven),
    "manipulator-direct": ("manipulator", {"dt": 0.005}, driven),
    "five-link-direct": ("five-link", {"dt": 0.005}, driven),
}


def end_of(world: im.World) -> dict[str, dict[str, list]]:
    """Where the bodies are, and how they move."""
    bodies = {name: world.body(name) for name in world.model.bodies}
    return {name: {what: np.asarray(getattr(body, what)).tolist() for what in VALUES} for name, body in bodies.items()}


def main(folder: Path, commit: str, names: list[str]) -> None:
    """Write all sessions, or those named."""
    folder.mkdir(parents=True, exist_ok=True)
    module.SNAPSHOT_EVENTS = SNAPSHOT_EVENTS
    kept = {"program": im.__version__, "commit": commit, "machine": machine_key(), "ends": {}}
    with tempfile.TemporaryDirectory() as beside:
        for name, (scene, options, session) in SESSIONS.items():
            if names and name not in names:
                continue
            model = SCENES[scene]()
            if scene != "pushed-chain":  # whose callable no file holds
                im.save_model(model, Path(beside) / f"{scene}.json")
            history = im.History(im.World(model, **options), Path(beside) / f"{name}.journal", hash_steps=25)
            session(history)
            kept["ends"][name] = {"time": float(np.ravel(history.world.time)[0]), "bodies": end_of(history.world)}
            history.close()
        (Path(beside) / "ends.json").write_text(json.dumps(kept), encoding="utf-8")
        for file in sorted(Path(beside).iterdir()):
            (folder / f"{file.name}.xz").write_bytes(lzma.compress(file.read_bytes()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
