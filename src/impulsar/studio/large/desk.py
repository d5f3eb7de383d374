"""Routes of large worlds: the page, the catalogue, and the line over which frames go.

GET  /large         the page
GET  /api/large     the catalogue, and below it shades
POST /api/large     open a scene of it
WS   /large-line    see large_messages.py
"""

import asyncio
import contextlib
import time as wall
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from ...author.errors import ModelError, StepError
from ..large_messages import FRAMES_PER_SECOND, IN_FLIGHT, LARGE_RECEIVED, LargeCatalogue, LargeRequest
from ..lines import PATIENCE, Lines
from ..messages import Reply
from ..security import Limits
from ..wire import LONGEST_REFUSAL, WireError, read_any, read_request, to_text
from .catalogue import MOST_BODIES, check, entries
from .session import Client, LargeSession
from .window import Still

PAGE = Path(__file__).parents[1] / "page"
DOOR = "/large"
LONG_PLANES = 6  # of what an eye sees, at most


class LargeDesk:
    """A session of large worlds behind its routes; it begins when the first scene is asked for.

    before_opening: what makes room, such as stopping the time of the studio's other world.
    """

    def __init__(
        self,
        limits: Limits,
        session: LargeSession | None = None,
        before_opening: Callable[[], Awaitable[None]] | None = None,
    ):
        self.limits, self.session = limits, session or LargeSession()
        self._before = before_opening
        self.lines = FrameLines(self.session, limits, Client, _read)

    def routes(self) -> list[BaseRoute]:
        """What is served."""
        return [
            Route(DOOR, self._page),
            Route("/api/large", self._catalogue, methods=["GET"]),
            Route("/api/large", self._open, methods=["POST"]),
            Route("/api/large/shades", self._shades),
            WebSocketRoute("/large-line", self._line),
        ]

    def start(self) -> None:
        """Let a world's time run that is there already."""
        if self.session.stage is not None and not self.session.is_alive:
            self.session.start()

    def stop(self) -> None:
        """End the session."""
        self.session.stop()

    async def _page(self, request: Request) -> Response:
        page = PAGE / "large.html"
        if not page.is_file():
            return Response("The page has not been built; in a checkout, run `make page`.", 503)
        return FileResponse(page, media_type="text/html")

    async def _catalogue(self, request: Request) -> Response:
        stage = self.session.stage
        running = None if stage is None else stage.source.scene
        return _json(LargeCatalogue(scenes=entries(), running=running, most_bodies=MOST_BODIES))

    async def _open(self, request: Request) -> Response:
        body = await request.body()
        try:
            wanted = read_request(LargeRequest, "large", body)
            settings = check(wanted.name, wanted.parameters)
        except (ModelError, StepError) as error:
            return _json(Reply(id=0, ok=False, text=str(error)[:LONGEST_REFUSAL]), 422)
        if self._before is not None:
            await self._before()
        if not self.session.is_alive:
            self.session.start()
        self.session.build(wanted.name, settings)
        return _json(Reply(id=0, ok=True, text=f"large scene '{wanted.name}' is being built"))

    async def _line(self, websocket: WebSocket) -> None:
        if not self.session.is_alive:
            self.session.start()
        await self.lines.serve(websocket)

    async def _shades(self, request: Request) -> Response:
        stage = self.session.stage
        if stage is None or request.query_params.get("generation") != str(stage.generation):
            return _json(Reply(id=0, ok=False, text="shades: of another world; ask for those of the newest"), 422)
        return Response(stage.blocks.shades.tobytes(), media_type="application/octet-stream")


class FrameLines(Lines):
    """Lines over which frames of a large world go as well."""

    session: LargeSession

    async def send(self, websocket: WebSocket, client: Client, something: asyncio.Event) -> None:
        """Whatever waits; and frames of the newest picture, as fast as they are drawn but no faster than is stated."""
        due, pause = 0.0, 1.0 / FRAMES_PER_SECOND
        while True:
            left = None if self._next(client) is None else max(due - wall.monotonic(), 1e-3)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(something.wait(), left)
            something.clear()
            if not await self.deliver(websocket, client):
                return
            now, still = wall.monotonic(), self._next(client)
            if still is None or now < due:
                continue
            if not client.mailbox.is_empty:  # perhaps the scene that the picture is of
                something.set()
                continue
            due = max(now, due + pause)
            frame = await run_in_threadpool(self._frame, client, still)
            await asyncio.wait_for(websocket.send_bytes(frame), PATIENCE)

    def heard(self, something: asyncio.Event) -> None:
        """A client that has drawn a frame may have the next."""
        something.set()

    def _next(self, client: Client) -> Still | None:
        """A picture of which a client has not seen all, if it has drawn what it was sent."""
        still, window = self.session.still, client.window
        if still is None or client.is_new or window.in_flight >= IN_FLIGHT or window.has_all(still):
            return None
        return still

    def _frame(self, client: Client, still: Still) -> bytes:
        stage = self.session.stage
        if stage is None or still.generation != stage.generation:  # another world came just now
            return client.window.nothing(still)
        return client.window.frame(still, stage.spheres, stage.starts, stage.sizes)


def _read(text: str) -> Any:
    """A message of a large world's client, its lists of the lengths that they should have."""
    asked = read_any(text, LARGE_RECEIVED)
    if asked.type == "large-look":
        if len(asked.eye) not in (0, 3) or len(asked.planes) > LONG_PLANES or any(len(p) != 4 for p in asked.planes):
            raise WireError("look: expected 3 numbers of an eye and up to 6 planes of 4 numbers", asked.id)
    if asked.type == "large-pull" and asked.body >= 0 and (len(asked.at) != 3 or len(asked.target) != 3):
        raise WireError("pull: expected 3 numbers of a point and of a place [m]", asked.id)
    return asked


def _json(message: Any, status: int = 200) -> Response:
    return Response(to_text(message), status, media_type="application/json")
