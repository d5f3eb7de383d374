"""Analyses for the page: of copies of the session's world, in threads beside it, as texts, tables and curves."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from .. import edits
from ..analysis import Modes, Statics, mobility, modes, statics
from ..analysis.mobility import Mobility
from ..author.errors import ModelError, StepError
from ..io import edit_to_json
from ..world.snapshot import Snapshot
from ..world.world import World
from . import analysis_messages as ms
from .driving import torques
from .exports import Ask, OneOfFew
from .freedoms import mobility_of
from .recording import Sample
from .session import Session
from .sweeping import check, sweep
from .turns import paths
from .wire import LONGEST_REFUSAL, read_request, to_text

MOST_BODIES = 200  # of an analysis: its matrices are dense
POSES = 6  # of a mode, on either side
MOST_SWEEPS = 2  # at once
Copy = tuple[Callable[[], World], Snapshot, list[Sample]]


def routes(ask: Ask, one_of_few: OneOfFew, session: Session) -> list[BaseRoute]:
    """Where the page asks for them."""
    running = threading.BoundedSemaphore(MOST_SWEEPS)

    def copied() -> Copy:
        if len(session.world.model.bodies) > MOST_BODIES:
            raise ModelError(f"analysis: the model has more than {MOST_BODIES} bodies; use `impulsar analyse`")
        return session.scratch_maker(), session.world.snapshot(), session.recording.copy()

    async def analyse(request: Request) -> Response:
        body = await request.body()

        async def answer() -> Response:
            wanted = read_request(ms.AnalysisRequest, "analysis", body)
            copy = await ask(copied)
            return _json(await run_in_threadpool(_analyse, wanted, copy))

        return await one_of_few("analysis", answer)

    async def swept(request: Request) -> Response:
        body = await request.body()

        async def answer() -> Response:
            wanted = read_request(ms.SweepRequest, "sweep", body)
            check(wanted)
            make_world = await ask(session.scratch_maker)
            if not running.acquire(blocking=False):
                raise ModelError(f"sweep: {MOST_SWEEPS} are under way; wait for one, or cancel it")
            return StreamingResponse(_lines(wanted, make_world, running), media_type="application/x-ndjson")

        return await one_of_few("sweep", answer)

    async def turned(request: Request) -> Response:
        body = await request.body()

        async def answer() -> Response:
            wanted = read_request(ms.TurnRequest, "turn", body)
            make_world, moment, _ = await ask(copied)
            return _json(await run_in_threadpool(paths, wanted, make_world, moment))

        return await one_of_few("turn", answer)

    return [
        Route("/api/turn", turned, methods=["POST"]),
        Route("/api/analyse", analyse, methods=["POST"]),
        Route("/api/sweep", swept, methods=["POST"]),
    ]


async def _lines(
    wanted: ms.SweepRequest, make_world: Callable[[], World], running: threading.BoundedSemaphore
) -> AsyncIterator[str]:
    """A line for every run, as it ends; the thread that makes them ends with who reads them."""
    loop, points = asyncio.get_running_loop(), asyncio.Queue[ms.SweepPoint | None]()
    left = threading.Event()

    def put(point: ms.SweepPoint | None) -> None:
        if not left.is_set():
            loop.call_soon_threadsafe(points.put_nowait, point)

    def run() -> None:
        try:
            for point in sweep(wanted, make_world, left.is_set):
                put(point)
        except (ModelError, StepError) as error:  # of the first run: the others would end so too
            put(ms.SweepPoint(value=wanted.values[0], result=None, unit="", text=str(error)[:LONGEST_REFUSAL]))
        finally:
            running.release()
            put(None)

    threading.Thread(target=run, name="impulsar sweep", daemon=True).start()
    try:
        while (point := await points.get()) is not None:
            yield f"{to_text(point)}\n"
    finally:
        left.set()


def _analyse(wanted: ms.AnalysisRequest, copy: Copy) -> ms.AnalysisReply:
    make_world, moment, samples = copy
    world = make_world()
    if not world.model.bodies:
        raise ModelError("analysis: there is nothing that moves; add a body first")
    world.restore(moment)
    if wanted.kind == "inverse":
        return torques(wanted, world, samples)
    if wanted.kind == "mobility":
        return _mobility(world)
    if wanted.kind == "statics":
        return _statics(statics(world))
    return _modes(modes(world, poses=POSES))


def _mobility(world: World) -> ms.AnalysisReply:
    found, held = mobility(world), mobility(world, with_motors=True)
    sentences = [f"{mobility_of(world)}."]
    if held.motor_equations:
        driven = found.freedoms - held.freedoms
        sentences.append(f"Motors hold {driven} of them, {held.freedoms} {'is' if held.freedoms == 1 else 'are'} left.")
    tables = [_counts(found)]
    if found.redundant_rows:
        rows = [_held(row.kind, row.part, row.row, row.depends_on) for row in held.redundant_rows]
        tables.append(ms.AnalysisTable(title="Held more than once", head=["part", "row", "held by"], rows=rows))
    if held.moving:
        rows = [ms.AnalysisRow(cells=[name], kind="body", part=name) for name in held.moving]
        tables.append(ms.AnalysisTable(title="Free to move, motors held", head=["body"], rows=rows))
    still = [name for name in world.model.bodies if name not in held.moving]
    if still:
        rows = [ms.AnalysisRow(cells=[name], kind="body", part=name) for name in still]
        tables.append(ms.AnalysisTable(title="Held fast", head=["body"], rows=rows))
    return ms.AnalysisReply(ok=True, text=" ".join(sentences), tables=tables)


def _counts(found: Mobility) -> ms.AnalysisTable:
    counts = {
        "bodies": found.bodies,
        "equations of joints": found.joint_equations,
        "equations of couplings": found.coupling_equations,
        "rank": found.rank,
        "redundant": found.redundant,
        "freedoms": found.freedoms,
        "Grübler's count": found.gruebler,
    }
    rows = [ms.AnalysisRow(cells=[name, count]) for name, count in counts.items()]
    return ms.AnalysisTable(title="Count", head=["", ""], rows=rows)


def _held(kind: str, part: str, row: str, by: tuple[str, ...]) -> ms.AnalysisRow:
    title = f"motor of {part}" if kind == "motor" else part
    holders = ", ".join(by[:4]) + (f" and {len(by) - 4} more" if len(by) > 4 else "")
    return ms.AnalysisRow(cells=[title, row, holders], kind="joint" if kind == "motor" else kind, part=part)


def _statics(found: Statics) -> ms.AnalysisReply:
    kind = "stable" if found.stable else "not stable: the least push and it leaves"
    text = f"Rest was found, {kind}; what is out of balance is {found.residual:.1g} N."
    if found.overloaded:
        text += f" Motors that would have to give more than they can: {', '.join(found.overloaded)}."
    if found.at_limit:
        text += f" At a limit: {', '.join(found.at_limit)}."
    reactions = [
        ms.AnalysisRow(
            cells=[name, _size(force), _size(torque), "yes" if found.determinate[name] else "≈ a choice"],
            kind="joint",
            part=name,
        )
        for name, (force, torque) in found.reaction.items()
    ]
    head = ["joint", "force [N]", "torque [N m]", "determinate"]
    tables = [ms.AnalysisTable(title="Reactions at rest", head=head, rows=reactions)] if reactions else []
    if found.motor_torque:
        rows = [ms.AnalysisRow(cells=[name, value]) for name, value in found.motor_torque.items()]
        tables.append(ms.AnalysisTable(title="Motors", head=["coordinate", "torque [N m] or force [N]"], rows=rows))
    if found.contact_force:
        rows = [ms.AnalysisRow(cells=[f"{a} - {b}", _size(force)]) for (a, b), force in found.contact_force.items()]
        tables.append(ms.AnalysisTable(title="Contacts", head=["between", "force [N]"], rows=rows))
    still = {"velocity": [0.0, 0.0, 0.0], "angular_velocity": [0.0, 0.0, 0.0]}
    places: dict[str, Any] = {
        name: {"position": p.tolist(), "orientation": found.orientation[name].tolist(), **still}
        for name, p in found.position.items()
    }
    return ms.AnalysisReply(ok=True, text=text, tables=tables, edit=edit_to_json(edits.SetState(places)))


def _size(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))


def _modes(found: Modes) -> ms.AnalysisReply:
    count = len(found.frequency)
    text = f"{count} mode{'' if count == 1 else 's'} about where it rests."
    if not found.stable:
        text += f" It is not stable: {int((found.growth > 0).sum())} of them grow."
    listed = [
        ms.Mode(
            frequency=float(found.frequency[k]),
            growth=float(found.growth[k]),
            damping_ratio=float(found.damping_ratio[k]),
            where=found.where(k),
            poses=found.swing[k].reshape(len(found.swing[k]), -1).tolist(),
        )
        for k in range(count)
    ]
    return ms.AnalysisReply(ok=True, text=text, bodies=list(found.bodies), modes=listed)


def _json(message: Any) -> Response:
    return Response(to_text(message), media_type="application/json")
