"""The studio's routes without a port: requests and sockets of a page come as messages, over a notebook's own line.

A message is a head, in words, and bytes (client/src/kernel.ts):

| from the page | | to the page | |
|---|---|---|---|
| ask: id, method, path, type; body | a request | answer: id, status, type; body | |
| open: id, path | a socket | opened: id | |
| text: id, text | | text: id, text; or bytes: id; data | |
| got: id, count | so many have come | close: id, text | why |

Each page has a name, `from` and `to`; `gone` ends what it has open. Nothing tells a kernel how far its messages have
come, so a page says so, and no more than WINDOW are on their way. While a cell runs its word does not come; then, and
only then, a frame goes every PATIENCE seconds. A page that says nothing for SILENCE is gone.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp, Message

log = logging.getLogger("impulsar.studio")

WINDOW = 12  # messages of a socket on their way
PATIENCE = 0.25  # wall time for which a full window is waited for [s]
INTERVAL = 1 / 40  # between frames [s]; the page draws cubics between them
SILENCE = 60.0  # wall time after which a page that acknowledges nothing is given up; if it lives it opens another [s]
MOST_BODY = 64 * 2**20  # bytes of a request

Send = Callable[[dict[str, Any], bytes | None], None]
Key = tuple[str, int]  # page, and number of its request or socket


class Tunnel:
    """Runs an ASGI application in a thread of its own for what `take` is given; answers go to `send`."""

    def __init__(self, app: ASGIApp, send: Send):
        self._app, self._put = app, send
        self._loop = asyncio.new_event_loop()
        self._sockets: dict[Key, Line] = {}
        self._tasks: set[asyncio.Task] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="impulsar tunnel", daemon=True)
        self._thread.start()

    def take(self, head: dict[str, Any], data: bytes = b"") -> None:
        """What a page has sent; from any thread."""
        self._loop.call_soon_threadsafe(self._take, head, data)

    def stop(self) -> None:
        """End all sockets and the thread."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5.0)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take(self, head: dict[str, Any], data: bytes) -> None:
        kind, page, id = head.get("kind"), head.get("from"), head.get("id")
        if kind == "gone":
            for line in [line for key, line in self._sockets.items() if key[0] == page]:
                line.take({"kind": "close"})
        if not isinstance(page, str) or not isinstance(id, int):
            return
        key = (page, id)
        if kind == "ask":
            self._begin(self._answer(key, head, data))
        elif kind == "open" and key not in self._sockets:
            self._sockets[key] = line = Line(self._to(key))
            self._begin(self._serve(key, line, str(head.get("path", ""))))
        elif (found := self._sockets.get(key)) is not None:
            found.take(head)

    def _to(self, key: Key) -> Send:
        """Sends for one request or socket of a page."""
        page, id = key
        return lambda head, data: self._put({"to": page, "id": id, **head}, data)

    def _begin(self, job: Any) -> None:
        task = self._loop.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, key: Key, head: dict[str, Any], data: bytes) -> None:
        put = self._to(key)
        scope = _scope("http", str(head.get("path", "")), str(head.get("type", "")))
        scope["method"] = str(head.get("method", "GET")).upper()
        if len(data) > MOST_BODY:
            text = b'{"type": "reply", "id": 0, "ok": false, "text": "the file is too large; make it smaller"}'
            put({"kind": "answer", "status": 413, "type": "application/json"}, text)
            return
        found: dict[str, Any] = {"status": 500, "type": "text/plain"}
        body: list[bytes] = []
        asked = iter([{"type": "http.request", "body": data, "more_body": False}])

        async def receive() -> Message:
            if (message := next(asked, None)) is not None:
                return message
            await asyncio.Event().wait()  # whoever asked waits for the answer
            raise AssertionError

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = {name.lower(): value for name, value in message["headers"]}
                found.update(status=message["status"], type=headers.get(b"content-type", b"").decode("latin-1"))
            elif message["type"] == "http.response.body":
                body.append(bytes(message.get("body", b"")))

        try:
            await self._app(scope, receive, send)
        except Exception:
            log.exception("a notebook's request failed")
        put({"kind": "answer", **found}, b"".join(body))

    async def _serve(self, key: Key, line: "Line", path: str) -> None:
        try:
            await self._app(_scope("websocket", path, ""), line.receive, line.send)
        except Exception:
            log.exception("a notebook's line failed")
        finally:
            self._sockets.pop(key, None)
            line.end()


class Line:
    """One socket of a page, as ASGI has it."""

    def __init__(self, put: Send):
        self._put = put
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._inbox.put_nowait({"type": "websocket.connect"})
        self._sent = self._got = 0
        self._silent_since = 0.0  # wall time [s]; 0: it is not
        self._room = asyncio.Event()
        self._why = ""

    def take(self, head: dict[str, Any]) -> None:
        kind, text, count = head.get("kind"), head.get("text"), head.get("count")
        if kind == "text" and isinstance(text, str):
            self._inbox.put_nowait({"type": "websocket.receive", "text": text})
        elif kind == "got" and isinstance(count, int):
            self._got = max(self._got, min(count, self._sent))
            self._silent_since = 0.0
            self._room.set()
        elif kind == "close":
            self._inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async def receive(self) -> Message:
        return await self._inbox.get()

    async def send(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._put({"kind": "opened"}, None)
        elif message["type"] == "websocket.close":
            self._why = message.get("reason") or ""
        elif message.get("text") is not None:
            self._put({"kind": "text", "text": message["text"]}, None)
            self._sent += 1
        elif message.get("bytes") is not None:
            await self._wait_for_room()
            self._put({"kind": "bytes"}, message["bytes"])
            self._sent += 1
            await asyncio.sleep(INTERVAL)

    async def _wait_for_room(self) -> None:
        if self._sent - self._got < WINDOW:
            return
        self._room.clear()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._room.wait()
        except TimeoutError:
            now = asyncio.get_running_loop().time()
            self._silent_since = self._silent_since or now
            if now - self._silent_since > SILENCE:
                self.take({"kind": "close"})

    def end(self) -> None:
        self._put({"kind": "close", "text": self._why}, None)


def _scope(kind: str, path: str, content: str) -> dict[str, Any]:
    """A request's or socket's scope, as a server would make it."""
    asked = urlsplit(path)
    headers = [(b"host", b"notebook")]
    if content:
        headers.append((b"content-type", content.encode("latin-1", "replace")))
    where = "/" + unquote(asked.path).lstrip("/")
    return {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "http" if kind == "http" else "ws",
        "path": where,
        "raw_path": where.encode(),
        "query_string": asked.query.encode(),
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
        "subprotocols": [],
        "state": {},
    }
