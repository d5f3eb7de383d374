"""Live edits: random campaigns on mechanisms in motion, the joint-type change matrix, times, memory."""

import gc
import math
from itertools import product
from typing import Any

import numpy as np

from impulsar import edits
from impulsar.author.errors import StepError
from impulsar.author.joints import ALIGN_X, ALIGN_Y, CATALOGUE, CROSS, LENGTH, LOCK_RX, LOCK_RZ, LOCK_X, LOCK_Z, THREAD
from impulsar.author.model import Model
from impulsar.validate.case import Case
from impulsar.world.world import World

from .random_edits import COORDINATES, PITCH, Source, Tally, campaign, mechanism, moving_world, new_body, place_joint
from .wrong_edits import invalid_campaign

# the joint-type change matrix ---------------------------------------------------------------------

ROLES = ("tree", "loop")
LIMITS = {  # what a change may miss, each by its own bound
    "momentum": 1e-13,  # of linear and angular momentum, of the sum of their sizes
    "answer": 1e-13,  # and how far it may be from what the answer says
    "books": 1e-13,  # of the energies in the books
    "open": 1e-9,  # constraint error [m, rad]
    "moved": 1e-12,  # farthest that a body moves: the new joint is made where the bodies are [m]
    "jump": 1e-9,  # of velocities where freedoms are only added, of the largest speed
    "gained": 1e-13,  # kinetic energy, which an impulse between bodies cannot add, of itself
    "later": 1e-8,  # constraint error twenty steps on [m, rad]
}
_matrix: dict[tuple[str, str, str, str], tuple[float, str]] = {}


def locked(kind: str) -> np.ndarray:
    """Directions [turn, slide] that a type locks, along the axes of F at zero coordinates."""
    unit6 = np.eye(6)
    rows = []
    for code in CATALOGUE[kind].locks:
        if LOCK_X <= code <= LOCK_Z:
            rows.append(unit6[3 + code - LOCK_X])
        elif LOCK_RX <= code <= LOCK_RZ:
            rows.append(unit6[code - LOCK_RX])
        elif code in (ALIGN_X, ALIGN_Y):
            rows.append(unit6[code - ALIGN_X])
        elif code == CROSS:
            rows.append(unit6[1])
        elif code == THREAD:
            rows.append(unit6[5] - PITCH * unit6[2])
        elif code == LENGTH:
            rows.append(unit6[3])
    return np.array(rows).reshape(-1, 6)


def only_frees(old: str, new: str) -> bool:
    """Whether the new type allows all that the old one does; those whose axes turn are compared with free alone."""
    if new == "free" or CATALOGUE[old].locks == CATALOGUE[new].locks:
        return True
    if {old, new} & {"universal", "distance"}:
        return False
    both = np.vstack([locked(old), locked(new)])
    return np.linalg.matrix_rank(both, tol=1e-9) == np.linalg.matrix_rank(locked(old), tol=1e-9)


def change_world(kind: str, coordinates: str, role: str, seed: int) -> World:
    """Three bodies in free motion, two of them joined by the type in question."""
    rng = np.random.default_rng(seed)
    model = Model(f"{kind} {role}", gravity=(0.0, 0.0, 0.0))
    for name, place in (("a", (0.0, 0.0, 0.0)), ("b", (0.4, 0.1, 0.0)), ("c", (0.6, 0.5, 0.1))):
        options = new_body(rng, np.array(place))
        options |= {"velocity": tuple(2.0 * rng.normal(size=3)), "angular_velocity": tuple(4.0 * rng.normal(size=3))}
        model.body(name, **options)
    placed = place_joint(rng, kind, np.array([0.05, 0.0, 0.02]), np.array([0.35, 0.1, 0.0]))
    model.joint("joint", kind, "a", "b", **placed, loop=role == "loop" or None)
    model.joint("hinge", "revolute", "b", "c", at=(0.5, 0.3, 0.0), axis=(1, 0, 1))
    return moving_world(model, coordinates)


def momenta(world: World) -> np.ndarray:
    """Angular and linear momentum of every body about the origin [body, 6]."""
    work = world.runner.work
    V, p = work.twist.numpy()[:, 0], work.p_WB.numpy()[:, 0]
    linear = world.system.parameter("mass")[:, 0, None] * V[:, 3:]
    spin = np.einsum("bij,bj->bi", work.I_W.numpy()[:, 0], V[:, :3])
    return np.hstack([spin + np.cross(p, linear), linear])


def change_cell(old: str, new: str, coordinates: str, role: str) -> dict[str, float]:
    """What a change from one type to another misses, by the names of LIMITS."""
    world = change_world(old, coordinates, role, seed=list(CATALOGUE).index(old))
    world.step(25)
    bodies = list(world.model.bodies)
    before, books = momenta(world), world.energy()
    places = np.array([world.body(name).position for name in bodies])
    speeds = np.array([np.concatenate([world.body(n).velocity, world.body(n).angular_velocity]) for n in bodies])
    changes: dict[str, Any] = {"type": new}
    if new == "screw" and old != "screw":
        changes["pitch"] = PITCH
    if new == "distance" and old != "distance":
        changes |= {"at": tuple(places[0]), "at_b": tuple(places[1])}
    answer = world.change("joint", **changes)
    after, now = momenta(world), world.energy()
    size = np.abs(before).sum()
    told = np.concatenate([answer.angular_momentum, answer.momentum])
    found = {
        "momentum": float(np.abs(after.sum(axis=0) - before.sum(axis=0)).max() / size),
        "answer": float(np.abs(after.sum(axis=0) - before.sum(axis=0) - told).max() / size),
        "books": abs(now.imbalance - books.imbalance) / (abs(books.start) + books.kinetic),
        "open": float(world.constraint_error()),
        "moved": max(np.abs(np.array([world.body(n).position for n in bodies]) - places).max(), answer.moved),
        "gained": max(0.0, (now.kinetic - books.kinetic) / books.kinetic),
    }
    if only_frees(old, new):
        speed = np.array([np.concatenate([world.body(n).velocity, world.body(n).angular_velocity]) for n in bodies])
        found["jump"] = float(np.abs(speed - speeds).max() / np.abs(speeds).max())
    world.step(20)
    found["later"] = float(world.constraint_error())
    return found


def change_matrix(device: str) -> float:
    """Worst figure of all cells in units of its bound."""
    _matrix.clear()
    for coordinates, role, old, new in product(COORDINATES, ROLES, CATALOGUE, CATALOGUE):
        if coordinates == "maximal" and role == "loop":
            continue  # there every joint is rows
        found = change_cell(old, new, coordinates, role)
        ratio, name = max((value / LIMITS[what], what) for what, value in found.items())
        _matrix[coordinates, role, old, new] = ratio, name
    return max(ratio for ratio, _ in _matrix.values())


def show_matrix() -> None:
    """Print, for each pair of types, the digits to spare of the figure that is nearest to its bound."""
    for coordinates, role in (("generalized", "tree"), ("generalized", "loop"), ("maximal", "tree")):
        print(f"    {coordinates} coordinates, as {role} joint: from (down) to (across), digits to spare")
        print(" " * 19 + "".join(f"{name[:9]:>10}" for name in CATALOGUE))
        for old in CATALOGUE:
            cells = [_matrix[coordinates, role, old, new] for new in CATALOGUE]
            print(f"    {old:<15}" + "".join(f"{-math.log10(max(r, 1e-99)):>10.1f}" for r, _ in cells))


# memory -------------------------------------------------------------------------------------------


def resident() -> float:
    """Memory of this process [MiB]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def long_run(seconds: int, seed: int = 0, warm: int = 60) -> float:
    """Growth of memory over a run of violent motion with an edit every second of it, after `warm` of them [MiB].

    Every ten seconds the mechanism goes back to where it began, so that its bodies do not fall for ever, and
    so it does where its state broke.
    """
    rng = np.random.default_rng(seed)
    world = moving_world(mechanism(rng), "generalized", dt=0.01)
    start = world.snapshot()
    source, first = Source(world, rng), 0.0
    for second in range(seconds):
        if second % 10 == 0 or world.paused:
            world.restore(start)
        if second == warm:
            gc.collect()
            first = resident()
        try:
            world.apply(source.draw()[1])
        except edits.EditError:
            continue
        world.apply(edits.SetStep(0.01))
        try:
            world.step(100)
        except StepError:
            continue
    gc.collect()
    return resident() - first


# cases --------------------------------------------------------------------------------------------

_tally = Tally()


def run_campaign(device: str, count: int = 10_000) -> float:
    """Faults and, beyond 5 %, refusals of the worst kind."""
    global _tally
    _tally = campaign(count, device=device)
    return len(_tally.faults) + max(0.0, 0.95 - _tally.least_share)


_faults: list[str] = []


def run_invalid(device: str, count: int = 10_000) -> float:
    """Wrong edits that were not refused as they should be."""
    _faults[:] = invalid_campaign(count)
    return float(len(_faults))


def show_faults() -> None:
    """Print what went wrong in the last run."""
    for line in _faults[:10]:
        print(f"    {line}")


CASES = [
    Case(
        "edit-campaign",
        "10,000 random edits of every kind on mechanisms in motion: faults, and share of refusals above 5 %",
        0.0,
        "1",
        run_campaign,
        slow=True,
        show=lambda: _tally.show(),
    ),
    Case(
        "edit-refusals",
        "10,000 invalid edits: those not refused in words with the world unchanged",
        0.0,
        "1",
        run_invalid,
        slow=True,
        show=show_faults,
    ),
    Case(
        "joint-change-matrix",
        "every joint type to every other in motion: worst of momentum, books, gap and jump by its bound",
        1.0,
        "1",
        change_matrix,
        slow=True,
        show=show_matrix,
    ),
    Case(
        "edit-memory",
        "an hour of violent motion with an edit every second: growth of memory",
        10.0,
        "MiB",
        lambda device: long_run(3600),
        slow=True,
    ),
]
