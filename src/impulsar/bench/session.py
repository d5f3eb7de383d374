"""session: what a person feels of the studio on loopback: from the pointer to the frame that shows it."""

import time as wall
from typing import Any

import numpy as np

from ..edits import Grab, Move, Release
from ..history.history import History
from ..scenes import scene
from ..world.world import World

WANTED = 0.035  # median [s]
POINTER = 1 / 60  # between pointer events [s]
EVENTS = 240


def run() -> list[dict[str, Any]]:
    """Latency of pointer events sent at 60 Hz, and of the first frame of a new client, per scene."""
    from ..studio.client import StudioClient
    from ..studio.server import Studio
    from ..studio.session import Session
    from ..studio.tidying import Tidying

    found = []
    for name, body in (("ten-pendula", "link10"), ("cross-lift", "plate")):
        model = scene(name)
        session = Session(History(World(model)), scene=name)
        session.tidying = Tidying()  # as in the studio's own process
        studio = Studio(session)
        studio.start()
        try:
            began = wall.perf_counter()
            with StudioClient(studio.url) as client:
                start = client.frame()
                first = wall.perf_counter() - began
                client.edit(Grab("pointer", body))
                place = start.poses[list(model.bodies).index(body), :3].astype(float)
                latencies = [late for _, late in drag(client, place, EVENTS)]
                client.edit(Release("pointer"))
                factor = client.frame().books["real_time_factor"]
        finally:
            studio.stop()
        found.append(
            {
                "scene": name,
                "events": len(latencies),
                "median [ms]": 1e3 * float(np.median(latencies)),
                "95 % [ms]": 1e3 * float(np.quantile(latencies, 0.95)),
                "worst [ms]": 1e3 * float(np.max(latencies)),
                "wanted [ms]": 1e3 * WANTED,
                "first frame [ms]": 1e3 * first,
                "times real time": factor,
            }
        )
    return found


def drag(client: Any, start: np.ndarray, events: int) -> list[tuple[float, float]]:
    """Move the hand in a small circle: when each Move was sent, and how long till a frame with it was read [s].

    Times are of the monotonic clock.
    """
    sent: dict[int, float] = {}
    latencies: list[tuple[float, float]] = []
    due = wall.monotonic()
    for k in range(events):
        due += POINTER
        angle = 2 * np.pi * k / 60
        target = start + 0.005 * np.array([0.0, np.sin(angle), 1 - np.cos(angle)])
        sent[client.send_edit(Move("pointer", tuple(target.tolist())))] = wall.monotonic()
        while wall.monotonic() < due or (k == events - 1 and sent):
            client.drain(min(0.002, max(due - wall.monotonic(), 0.001)))
            latencies += _arrived(client, sent)
    return latencies


def _arrived(client: Any, sent: dict[int, float]) -> list[tuple[float, float]]:
    """Times and latencies of the events that the newest frame contains, which are taken off the list."""
    frame = client.newest_frame
    if frame is None:
        return []
    seen = [id for id in sent if id <= frame.header["applied"]]
    return [(at, frame.arrived - at) for at in map(sent.pop, seen)]
