"""WebSockets of a session's clients: what waits in a mailbox goes out, what comes in is read and handed to the session.

One class for both kinds of sessions; that of large worlds sends frames besides (`large/desk.py`).
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from .mailbox import Mailbox
from .messages import Reply
from .security import Bucket, Limits
from .wire import LONGEST_REFUSAL, WireError, to_text

log = logging.getLogger("impulsar.studio")

PATIENCE = 20.0  # a client that takes nothing for so long is closed [s]
SMALL = 4096  # letters of a message that is read at once, and not in a thread of its own


class Listener(Protocol):
    """What a session does with its clients."""

    def add(self, client: Any) -> None:
        """Begin to fill its mailbox."""

    def remove(self, client: Any) -> None:
        """Let go of what it holds."""

    def submit(self, client: Any, message: Any) -> bool:
        """Have a message carried out; False if too many of the client's wait."""


class Lines:
    """The sockets that are open. make: a client by its name and mailbox; read: a message of its text."""

    def __init__(
        self,
        session: Listener,
        limits: Limits,
        make: Callable[[str, Mailbox], Any],
        read: Callable[[str], Any],
    ):
        self.session, self.limits = session, limits
        self.sockets: set[WebSocket] = set()
        self._make, self._read = make, read
        self._connected = 0
        self._names = count(1)

    async def serve(self, websocket: WebSocket) -> None:
        """Serve one until either end closes it."""
        if self._connected >= self.limits.clients:
            log.warning("refused a client: %d are connected already", self._connected)
            await websocket.close(1013, "too many clients; close another page")
            return
        self._connected += 1
        try:
            await websocket.accept()
            self.sockets.add(websocket)
            await self._exchange(websocket)
        finally:
            self.sockets.discard(websocket)
            self._connected -= 1

    async def _exchange(self, websocket: WebSocket) -> None:
        loop, something = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to send to
                loop.call_soon_threadsafe(something.set)

        client = self._make(f"client {next(self._names)}", Mailbox(wake))
        self.session.add(client)
        jobs = [
            asyncio.create_task(job)
            for job in (self.send(websocket, client, something), self._receive(websocket, client, something))
        ]
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.session.remove(client)
            for job in jobs:
                job.cancel()
            for error in await asyncio.gather(*jobs, return_exceptions=True):
                if isinstance(error, TimeoutError):
                    log.warning("%s: takes nothing; closed", client.name)
                elif isinstance(error, Exception) and not isinstance(error, WebSocketDisconnect):
                    log.error("%s: %r", client.name, error)

    async def send(self, websocket: WebSocket, client: Any, something: asyncio.Event) -> None:
        """All that comes into the mailbox, until the client is closed."""
        while True:
            await something.wait()
            something.clear()
            if not await self.deliver(websocket, client):
                return

    async def deliver(self, websocket: WebSocket, client: Any) -> bool:
        """What waits in the mailbox; False where the client is closed, since it sends without reading."""
        mailbox = client.mailbox
        for item in await run_in_threadpool(mailbox.take) if mailbox.is_large else mailbox.take():
            sending = websocket.send_text(item) if isinstance(item, str) else websocket.send_bytes(item)
            await asyncio.wait_for(sending, PATIENCE)
        if mailbox.is_overfull:
            log.warning("%s: sends without reading; closed", client.name)
            await websocket.close(1008, "replies were not read")
            return False
        return True

    async def _receive(self, websocket: WebSocket, client: Any, something: asyncio.Event) -> None:
        bucket = Bucket(self.limits.messages_per_second, self.limits.burst)
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not bucket.take():
                log.warning("%s: more than %g messages per second; closed", client.name, bucket.rate)
                await websocket.close(1008, "too many messages per second")
                return
            text = message.get("text")
            try:
                if text is None:
                    raise WireError("message: is binary, expected text")
                if len(text) > SMALL:
                    await run_in_threadpool(self._submit, client, text)
                else:
                    self._submit(client, text)
                self.heard(something)
            except WireError as error:
                log.warning("%s: refused: %s", client.name, error)
                refusal = Reply(id=error.id, ok=False, text=str(error)[:LONGEST_REFUSAL])
                client.mailbox.put({}, [to_text(refusal)], None)

    def heard(self, something: asyncio.Event) -> None:
        """A client's message was taken."""

    def _submit(self, client: Any, text: str) -> None:
        """Read a message and hand it to the session."""
        asked = self._read(text)
        if not self.session.submit(client, asked):
            raise WireError("message: too many of yours are waiting; send slower", asked.id)
