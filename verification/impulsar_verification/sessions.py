"""Sessions to be journalled, undone, killed and replayed.

    python -m impulsar_verification.sessions FILE

runs one without end, journalled in FILE, and prints the number of edits after each: to be killed.
"""

import math
import os
import sys
from collections.abc import Iterator

import numpy as np

from impulsar.author.model import Model
from impulsar.author.profiles import Harmonic
from impulsar.author.shapes import Capsule
from impulsar.edits import (
    Add,
    ApplyLoad,
    ChangeJoint,
    Edit,
    Grab,
    Move,
    Release,
    Remove,
    RemoveLoad,
    SetParameter,
    SetStep,
)
from impulsar.history import history as module
from impulsar.history.history import History
from impulsar.world.world import World

TIP = (0.0, 0.0, 0.025)
ALONG_X = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))  # takes z, a link's long axis, to x
READY = "ready"


def pendula(links: int = 3) -> Model:
    """Links on hinges, released lying, and a spring."""
    model = Model("pendula")
    before = model.ground
    shape = Capsule(radius=0.004, length=0.05)
    for k in range(1, links + 1):
        centre = (0.05 * k - 0.025, 0.0, 0.0)
        body = model.body(f"link{k}", 0.1, (21e-6, 21e-6, 5e-6), centre, ALONG_X, shape=shape)
        at = (0.05 * (k - 1), 0.0, 0.0)
        model.joint(f"hinge{k}", "revolute", before, body, at=at, axis=(0, 1, 0), viscous=1e-4)
        before = body
    model.spring("spring", model.ground, before, at_a=(0.1, 0, 0.1), at_b=(0.05 * links, 0, 0), stiffness=5.0)
    model.dt = 0.005
    return model


def session(history: History) -> list[tuple[float, str]]:
    """Some edits among steps; clock [s] and hash after each."""
    seen = []
    script = [
        Grab("hand", "link3", TIP, stiffness=20.0),
        Move("hand", (0.1, 0.05, 0.1)),
        SetParameter("link2.mass", 0.15),
        ChangeJoint("hinge2", {"type": "spherical"}),
        Release("hand"),
        SetStep(0.8 * history.world.dt),
        ApplyLoad("wind", "link1", force=Harmonic((0.2, 0.1, 0.0), 7.0)),
        Remove("spring", "spring"),
        RemoveLoad("wind"),
    ]
    for k, edit in enumerate(script):
        history.step(17 + 60 * (k % 3))
        history.apply(edit)
        seen.append((history.world.runner.clock, history.world.hash()))
    history.step(40)
    seen.append((history.world.runner.clock, history.world.hash()))
    return seen


def endless() -> Iterator[tuple[int, Edit]]:
    """Steps to take and the edit to make then, on and on, the same in every process."""
    rng = np.random.default_rng(0)
    while True:
        x, y, z = (float(value) for value in rng.uniform(-0.1, 0.1, 3))
        for edit in (
            Grab("hand", "link3", TIP, stiffness=20.0),
            Move("hand", (x, y, z)),
            SetParameter("link2.mass", 0.1 + x * x),
            ChangeJoint("hinge2", {"type": "spherical"}),
            ApplyLoad("wind", "link1", force=Harmonic((x, y, z), 7.0)),
            Move("hand", (z, x, y)),
            RemoveLoad("wind"),
            Release("hand"),
            Remove("spring", "spring"),
            ChangeJoint("hinge2", {"type": "revolute", "axis": (0.0, 1.0, 0.0)}),
            Add("spring", "spring", {"first": "ground", "second": "link3", "at_a": (x, y, 0.2), "at_b": TIP, **SOFT}),
        ):
            yield int(rng.integers(1, 12)), edit


SOFT = {"stiffness": 2.0, "damping": 0.05, "free_length": 0.05}


def run_until_killed(path: str) -> None:
    """The endless session, with snapshots and new files so often that they too are cut short."""
    module.SNAPSHOT_EVENTS = 40
    world = World(pendula(), dt=0.002)
    os.write(1, f"{READY}\n".encode())
    history = History(world, path, hash_steps=20, largest=150_000)
    for steps, edit in endless():
        history.step(steps)
        history.apply(edit)
        os.write(1, f"{history.position}\n".encode())


if __name__ == "__main__":
    run_until_killed(sys.argv[1])
