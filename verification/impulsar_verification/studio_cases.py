"""The studio over a working day: eight hours of session time at high speed, clients coming and going."""

import contextlib
import random
import tempfile
import time as wall
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from impulsar.author.model import Model
from impulsar.edits import Grab, Move, Release, SetParameter
from impulsar.history.history import LARGEST_JOURNAL, History
from impulsar.scenes import scene
from impulsar.validate.case import Case
from impulsar.world.world import World

HOURS = 8.0
MEGABYTE = 2**20
SPEED = 100.0


@dataclass(frozen=True)
class Day:
    """What a session came to."""

    hours: float  # of session time
    clients: int
    edits: int
    growth: float  # of the process's memory after the first eighth [bytes]
    journal: int  # largest size of the file [bytes]
    seconds: float  # of wall time


def four_bar() -> Model:
    """A four-bar whose hinges lose energy, as real ones do: without, a day's pulls spin it ever faster."""
    model = scene("four-bar")
    for joint in model.joints.values():
        joint.features["angle"].viscous = 1e-3
    return model


def day(hours: float, device: str = "cpu", seed: int = 6) -> Day:
    """Run a session for so many hours of its own time, with one client after the other."""
    from impulsar.studio.client import StudioClient
    from impulsar.studio.server import Studio
    from impulsar.studio.session import Session

    rng = random.Random(seed)
    clients = edits = largest = 0
    early, began = 0, wall.monotonic()
    with tempfile.TemporaryDirectory(prefix="impulsar-") as folder:
        path = Path(folder) / "session.journal"
        world = World(four_bar(), device=device)
        studio = Studio(Session(History(world, path), speed=SPEED))
        studio.start()
        try:
            simulated = 0.0
            while simulated < 3600 * hours:
                with StudioClient(studio.url, timeout=60.0) as client:
                    clients += 1
                    edits += visit(client, rng)
                    simulated = client.frame().time
                largest = max(largest, path.stat().st_size)
                if early == 0 and simulated > 3600 * hours / 8:
                    early = memory()
            late = memory()
        finally:
            studio.stop()
    return Day(simulated / 3600, clients, edits, late - early, largest, wall.monotonic() - began)


def visit(client, rng: random.Random) -> int:
    """What one client does; how many edits it makes. Some leave without letting go."""
    body = rng.choice([body["name"] for body in client.wait("scene")["bodies"]])
    client.subscribe("energy.total", f"body.{body}.velocity.norm")
    hand = f"hand of {rng.randrange(1000)}"
    client.edit(Grab(hand, body, stiffness=50.0, damping=5.0))
    frame = client.frame(lambda frame: len(frame.hands) > 0)
    count = 2
    for _ in range(rng.randrange(30)):
        point = frame.hands[0, :3] + [rng.uniform(-0.02, 0.02), rng.uniform(-0.02, 0.02), 0.0]
        client.send_edit(Move(hand, tuple(float(x) for x in point)))
        client.drain(0.01)
        count += 1
    if rng.random() < 0.3:
        client.edit(SetParameter(f"{body}.mass", rng.uniform(0.05, 0.3)))
        count += 1
    if rng.random() < 0.2:
        client.control("undo")
    if rng.random() < 0.7:
        with contextlib.suppress(OSError):
            client.edit(Release(hand))
    return count


def memory() -> int:
    """Memory of this process [bytes]: what it has now where the system tells, else the most it had."""
    import resource  # not on Windows

    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@cache
def full_day(device: str) -> Day:
    return day(HOURS, device)


def show() -> None:
    """The day in figures."""
    found = full_day("cpu")
    print(
        f"    {found.hours:.2f} h of session time in {found.seconds:.0f} s, {found.clients} clients, "
        f"{found.edits} edits; memory grew by {found.growth / MEGABYTE:.1f} MB, "
        f"journal at most {found.journal / MEGABYTE:.1f} MB"
    )


CASES = [
    Case(
        "session-memory",
        "eight hours of session time, clients coming and going: memory grows by no more after the first hour than",
        64.0,
        "MB",
        lambda device: full_day(device).growth / MEGABYTE,
        slow=True,
        show=show,
    ),
    Case(
        "session-journal",
        "the same eight hours: the journal is never larger than its bound",
        1.25 * LARGEST_JOURNAL / MEGABYTE,
        "MB",
        lambda device: full_day(device).journal / MEGABYTE,
        slow=True,
    ),
]
