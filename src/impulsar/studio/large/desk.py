"""Routes of large worlds: the page, the catalogue, and the line over which frames go.

GET  /large         the page
GET  /api/large     the catalogue, and below it shades
POST /api/large     open a scene of it
WS   /large-line    see large_messages.py
"""

import asyncio
import contextlib
import logging
import time as wall
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ...author.errors import ModelError, StepError
from ..large_messages import FRAMES_PER_SECOND, IN_FLIGHT, LARGE_RECEIVED, LargeCatalogue, LargeRequest
from ..mailbox import Mailbox
from ..messages import Reply
from ..security import Bucket, Limits
from ..wire import WireError, read_any, read_request, to_text
from .catalogue import MOST_BODIES, check, entries
from .session import LONGEST_REFUSAL, Client, LargeSession
from .window import Still

log = logging.getLogger("impulsar.studio")

PAGE = Path(__file__).parents[1] / "page"
DOOR = "/large"
PATIENCE = 20.0  # a client that takes nothing for so long is closed [s]
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
        self._connected = 0
        self._sockets: set[WebSocket] = set()
        self._names = count(1)

    def routes(self) -> list[BaseRoute]:
        """What is served."""
        return [
            Route(DOOR, self._page),
            Route("/api/large", self._catalogue, methods=["GET"]),
            Route("/api/large", self._open, methods=["POST"]),
            Route("/api/large/shades", self._shades),
            WebSocketRoute("/large-line", self._line),
        ]

    @property
    def sockets(self) -> set[WebSocket]:
        """Those that are open."""
        return self._sockets

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

    async def _shades(self, request: Request) -> Response:
        stage = self.session.stage
        if stage is None or request.query_params.get("generation") != str(stage.generation):
            return _json(Reply(id=0, ok=False, text="shades: of another world; ask for those of the newest"), 422)
        return Response(stage.blocks.shades.tobytes(), media_type="application/octet-stream")

    # the line -------------------------------------------------------------------------------------

    async def _line(self, websocket: WebSocket) -> None:
        if self._connected >= self.limits.clients:
            log.warning("refused a client: %d are connected already", self._connected)
            await websocket.close(1013, "too many clients; close another page")
            return
        self._connected += 1
        try:
            await websocket.accept()
            self._sockets.add(websocket)
            await self._serve(websocket)
        finally:
            self._sockets.discard(websocket)
            self._connected -= 1

    async def _serve(self, websocket: WebSocket) -> None:
        loop, something = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to send to
                loop.call_soon_threadsafe(something.set)

        client = Client(f"client {next(self._names)}", Mailbox(wake))
        if not self.session.is_alive:
            self.session.start()
        self.session.add(client)
        jobs = [
            asyncio.create_task(job)
            for job in (self._send(websocket, client, something), self._receive(websocket, client, something))
        ]
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.session.remove(client)
            for job in jobs:
                job.cancel()
            for error in await asyncio.gather(*jobs, return_exceptions=True):
                if isinstance(error, Exception) and not isinstance(error, WebSocketDisconnect | asyncio.TimeoutError):
                    log.error("%s: %r", client.name, error)

    async def _send(self, websocket: WebSocket, client: Client, something: asyncio.Event) -> None:
        """Whatever waits; and frames of the newest picture, as fast as they are drawn but no faster than is stated."""
        due, pause = 0.0, 1.0 / FRAMES_PER_SECOND
        while True:
            left = None if self._next(client) is None else max(due - wall.monotonic(), 1e-3)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(something.wait(), left)
            something.clear()
            for item in await run_in_threadpool(client.mailbox.take):
                sending = websocket.send_text(item) if isinstance(item, str) else websocket.send_bytes(item)
                await asyncio.wait_for(sending, PATIENCE)
            if client.mailbox.is_overfull:
                await websocket.close(1008, "replies were not read")
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

    async def _receive(self, websocket: WebSocket, client: Client, something: asyncio.Event) -> None:
        bucket = Bucket(self.limits.messages_per_second, self.limits.burst)
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not bucket.take():
                log.warning("%s: more than %g messages per second; closed", client.name, bucket.rate)
                await websocket.close(1008, "too many messages per second")
                return
            try:
                if message.get("text") is None:
                    raise WireError("message: is binary, expected text")
                asked = _read(message["text"])
                if not self.session.submit(client, asked):
                    raise WireError("message: too many of yours are waiting; send slower", asked.id)
                something.set()
            except WireError as error:
                log.warning("%s: refused: %s", client.name, error)
                refusal = Reply(id=error.id, ok=False, text=str(error)[:LONGEST_REFUSAL])
                client.mailbox.put({}, [to_text(refusal)], None)


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
