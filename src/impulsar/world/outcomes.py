"""What of a trajectory is differentiated: coordinates and rates of joints, places and velocities of bodies and probes.

    "hinge.position"   "hinge.velocity"                     of a joint's freedom [rad, m; per second]
    "arm.position.x"   "arm.velocity.y"   "arm.angular_velocity.z"    of a body's centre of mass [m, m/s, rad/s]
    "tip.position.x"                                        of a probe [m]

Without the axis all three. They are functions of the engine, traced from the state as steps are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..author.checks import show
from ..author.errors import ModelError
from ..author.names import closest
from ..engine.compile.graph import Graph, Guard, refer
from ..engine.compile.step import Followed, stage
from ..engine.compile.symbols import vector
from ..engine.compile.tracing import naming, traced
from ..engine.constrain.frames import coordinate, follow_loops, freedom_pair, pair_velocity, point_of
from ..engine.coordinates.tree import kinematics
from .causes import AXES, PROBE, freedom_of

if TYPE_CHECKING:
    from .world import World

OF_BODY = {"position": 0, "velocity": 3, "angular_velocity": 0}
Reader = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True)
class Outcome:
    """A number that follows from a state."""

    path: str
    read: Reader  # from system, state, work and world while tracing


@dataclass
class Traced:
    """Outcomes as a graph, at the state of a world."""

    graph: Graph
    roots: "list[int | float]"
    guards: list[Guard]


def find_outcomes(world: "World", paths: object) -> list[Outcome]:
    """What paths lead to."""
    given = (paths,) if isinstance(paths, str) else paths
    if not isinstance(given, Sequence) or not given or not all(isinstance(path, str) for path in given):
        raise ModelError(f"sensitivity: of is {show(paths)}, expected texts such as 'hinge.position'")
    return [outcome for path in given for outcome in _find(world, path)]


def _find(world: "World", path: str) -> list[Outcome]:
    stem, _, what = path.rpartition(".")
    if what in ("position", "velocity") and stem in world.readout.coordinates:
        return [Outcome(path, of_joint(world, stem, what))]
    chosen: tuple[str, ...] = AXES
    if what in AXES:
        chosen, (stem, _, what) = (what,), stem.rpartition(".")
    model = world.model
    if stem in world.system.body_index and what in OF_BODY:
        return [Outcome(f"{stem}.{what}.{axis}", _of_body(world, stem, what, AXES.index(axis))) for axis in chosen]
    if stem in model.probes and what == "position":
        return [Outcome(f"{stem}.{what}.{axis}", _of_probe(world, stem, AXES.index(axis))) for axis in chosen]
    known = [f"{name}.position" for name in (*world.readout.coordinates, *world.system.body_index, *model.probes)]
    raise ModelError(
        f"sensitivity: of has '{path}', expected 'joint.position', 'joint.velocity', 'body.position.x' or "
        f"'probe.position.x'; {closest(path, known)}"
    )


def of_joint(world: "World", name: str, what: str) -> Reader:
    system = world.system
    key = freedom_of(world, name)
    j, code, where, dof = system.joint_index[key[0]], key[1], system.coordinate[key], system.dof.get(key, -1)

    def position(m: Any, s: Any, x: Any, w: Any) -> Any:
        return traced(coordinate)(m, s, x, j, code, where, w)

    def velocity(m: Any, s: Any, x: Any, w: Any) -> Any:
        if dof >= 0:
            return s.v[dof, w]
        return traced(pair_velocity)(x, traced(freedom_pair)(m, x, j, code, w), w)

    return position if what == "position" else velocity


def _of_body(world: "World", name: str, what: str, axis: int) -> Reader:
    body = world.system.body_index[name]

    def read(m: Any, s: Any, x: Any, w: Any) -> Any:
        if what == "position":
            return x.p_WB[body, w].c[axis]
        return x.twist[body, w].c[OF_BODY[what] + axis]

    return read


def _of_probe(world: "World", name: str, axis: int) -> Reader:
    probe = world.model.probes[name]
    body = world.system.body_index.get(probe.body, -1)

    def read(m: Any, s: Any, x: Any, w: Any) -> Any:
        graph = m._graph
        p_BQ = vector(3)(*[graph.input((PROBE, name, k), float(value)) for k, value in enumerate(probe.p_BQ)])
        return traced(point_of)(x, body, p_BQ, w).c[axis]

    return read


def trace_outcomes(
    world: "World", outcomes: Sequence[Outcome], at: int, followed: Followed, state: Any = None
) -> Traced:
    """Outcomes at the present state of one of its worlds, or at another state."""
    runner = world.runner
    tables, m, s, x, w = stage(runner.system, state or runner.state, runner.work, at, followed)
    vars(m)["_graph"] = tables.graph
    with naming():
        traced(kinematics)(m, s, x, 0.0, w)
        traced(follow_loops)(m, s, x, w)
        roots = [refer(outcome.read(m, s, x, w)) for outcome in outcomes]
    return Traced(tables.graph, roots, tables.graph.guards)
