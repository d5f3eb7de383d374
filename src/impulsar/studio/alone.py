"""Some bodies by themselves as another scene, which undo leaves again: their surroundings held, or as recorded."""

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ..analysis import Alone, alone
from ..author.errors import ModelError
from ..author.model import Model
from ..world.world import World
from . import messages as ms
from .exports import Ask, OneOfFew
from .recording import Sample, dataset
from .session import MOST_POINTS, Session
from .wire import read_request, to_text

TABLES = 4  # that stand for a joint or a body, at most


def routes(ask: Ask, one_of_few: OneOfFew, session: Session) -> list[BaseRoute]:
    """Where the page asks for it."""

    async def open_alone(request: Request) -> Response:
        body = await request.body()

        async def answer() -> Response:
            wanted = read_request(ms.AloneRequest, "alone", body)
            model, samples, make_world = await ask(
                lambda: (
                    shown(session.world, wanted.instead != "held"),
                    session.recording.copy(),
                    session.scratch_maker(),
                )
            )
            found = await run_in_threadpool(parts_alone, wanted, model, samples, make_world)
            world = await run_in_threadpool(session.make_world, found.model)
            world.paused = True
            await ask(lambda: session.opening.take(world, found.model.name))
            return Response(
                to_text(ms.Reply(id=0, ok=True, text=told(found, wanted.instead))), media_type="application/json"
            )

        return await one_of_few("alone", answer)

    return [Route("/api/alone", open_alone, methods=["POST"])]


def shown(world: World, moving: bool) -> Model:
    """The model as it is now, in motion or at rest, with the world's step."""
    model = world.shown_model(velocities=moving)
    model.dt = world.dt
    return model


def parts_alone(wanted: ms.AloneRequest, model: Model, samples: list[Sample], make_world: Callable[[], World]) -> Alone:
    """The model of the parts; what is recorded is read by a world that nobody else uses."""
    held = alone(model, wanted.bodies)
    if wanted.instead == "held":
        return held
    since = [sample for sample in samples if sample.base is samples[-1].base]  # nothing was changed on the way
    most = MOST_POINTS // (TABLES * max(1, len(held.cut)))
    if len(since) < 2:
        raise ModelError("alone: nothing is recorded since the last change; let time run, then take the parts")
    return alone(model, wanted.bodies, wanted.instead, dataset(since[-most:], make_world()))


def told(found: Alone, instead: str) -> str:
    """What was made of the boundary, in words."""
    cut = ", ".join(f"'{name}'" for name in found.cut) or "nothing"
    how = {
        "held": f"{cut} held where it is" if len(found.cut) < 2 else f"{cut} held where they are",
        "following": f"what is beyond {cut} moves as recorded, for {found.duration:.4g} s",
        "reactions": f"loads as recorded in the place of {cut}, for {found.duration:.4g} s",
    }[instead]
    left = f"; left out: {', '.join(found.notes)}" if found.notes else ""
    return f"'{found.model.name}': {how}{left}; undo brings the whole back"
