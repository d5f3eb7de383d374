"""Where points go in a whole turn: by kinematics where one hinge decides everything, else by running ahead."""

import time as wall
from collections.abc import Callable

import numpy as np

from ..analysis.turning import turn
from ..author.errors import ModelError, StepError
from ..world.snapshot import Snapshot
from ..world.world import World
from .ahead import HORIZON, MOST_WALL
from .analysis_messages import TurnReply, TurnRequest
from .points import Points

MOST_POINTS = 32
SAMPLE = 0.01  # simulated time between points [s]


def paths(wanted: TurnRequest, make_world: Callable[[], World], moment: Snapshot) -> TurnReply:
    """Paths of points from where the mechanism is now."""
    if not 0 < len(wanted.points) <= MOST_POINTS or any(len(point.at) != 3 for point in wanted.points):
        raise ModelError(
            f"turn: points are {len(wanted.points)}, expected 1 to {MOST_POINTS}, each at three numbers [m]"
        )
    world = make_world()
    world.restore(moment)
    for point in wanted.points:
        if point.body not in (*world.model.bodies, "ground"):
            raise ModelError(f"turn: no body '{point.body}'")
    try:
        found = turn(world.shown_model(velocities=False))
    except ModelError as error:
        return _ahead(wanted, world, str(error))
    places = [found.path(point.body, np.array(point.at)).ravel().tolist() for point in wanted.points]
    name = found.coordinate
    text = f"a whole turn of '{name}'" if found.is_whole else f"'{name}' from end to end; it cannot turn right round"
    return TurnReply(ok=True, text=text, closed=found.is_whole, paths=places)


def _ahead(wanted: TurnRequest, world: World, why: str) -> TurnReply:
    """The next seconds, as far as they are known within a wall time."""
    points = Points([(point.body, point.at) for point in wanted.points])
    points.find(world.runner.bench)
    steps, until, start = max(1, round(SAMPLE / world.dt)), wall.monotonic() + MOST_WALL, world.time
    horizon = min(HORIZON, world.model.duration or HORIZON)
    world.paused = False
    places = [points.places(world.runner.bench)]
    while world.time < start + horizon and wall.monotonic() < until:
        try:
            world.step(steps)
        except StepError:  # what was seen until then is good
            break
        places.append(points.places(world.runner.bench))
    told = f"the next {world.time - start:.3g} s, because {why}"
    by_point = np.array(places).reshape(len(places), -1, 3)
    listed = [by_point[:, k].ravel().tolist() for k in range(len(wanted.points))]
    return TurnReply(ok=True, text=told, closed=False, paths=listed)
