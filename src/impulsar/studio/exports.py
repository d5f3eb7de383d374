"""What a session is written as besides scene, journal and results, and pictures of the scenes to choose from."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from ..author.errors import ModelError
from ..history.script import history_to_python
from ..io.python import to_script
from ..world.world import World
from .describe import THUMBNAILS
from .player import player_html
from .recording import Sample, dataset
from .session import Session

PICTURES = 60.0  # a second
Ask = Callable[[Callable[[], Any]], Awaitable[Any]]  # what a function finds in the session's thread
OneOfFew = Callable[[str, Callable[[], Any]], Awaitable[Response]]


def routes(ask: Ask, one_of_few: OneOfFew, session: Session) -> list[BaseRoute]:
    """Where the page gets them from."""

    async def model(request: Request) -> Response:
        async def answer() -> Response:
            found = await ask(lambda: session.world.model.copy(parts=True))
            return _file(await run_in_threadpool(to_script, found), "text/x-python", "model.py")

        return await one_of_few("model as Python", answer)

    async def with_edits(request: Request) -> Response:
        async def answer() -> Response:
            return _file(await ask(lambda: history_to_python(session.history)), "text/x-python", "session.py")

        return await one_of_few("session as Python", answer)

    async def motion(request: Request) -> Response:
        async def answer() -> Response:
            samples, make_world = await ask(lambda: (session.recording.copy(), session.scratch_maker()))
            if len(samples) < 2:
                raise ModelError("motion: nothing is recorded yet; let time run")
            page = await run_in_threadpool(_played, samples, make_world)
            return _file(page, "text/html", "motion.html")

        return await one_of_few("motion", answer)

    return [
        Route("/api/model.py", model),
        Route("/api/session.py", with_edits),
        Route("/api/motion.html", motion),
        *(Route(f"/api/scenes/{path.name}", _picture(path)) for path in sorted(THUMBNAILS.glob("*.webp"))),
    ]


def _picture(path: Path) -> Callable[[Request], Awaitable[Response]]:
    """A strip of poses of a scene (tools/thumbnails.py)."""

    async def answer(request: Request) -> Response:
        return FileResponse(path, media_type="image/webp", headers={"cache-control": "private, max-age=3600"})

    return answer


def _played(samples: list[Sample], make_world: Callable[[], World]) -> str:
    """With as many poses as are shown in a second."""
    world = make_world()
    every = max(1, round(1 / (PICTURES * world.dt)))
    return player_html(world, dataset([*samples[:-1:every], samples[-1]], world))


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)
