"""Connections that cost what they should: requests that come in time, frames of a WebSocket that are counted."""

import asyncio
import os
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from .security import Bucket, Limits

SPARE_FILES = 64  # descriptors that are not for connections: journals, pipes, and those that are just accepted


def most_connections(limits: Limits) -> int:
    """As many as the system lets us have open, so that accepting one never fails: that is logged without end."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits.connections
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return limits.connections
    return max(8, min(limits.connections, soft - len(os.listdir("/dev/fd")) - SPARE_FILES))


def http_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """HTTP whose headers must have come within a time; where there are many, the one that waits longest goes."""
    most = most_connections(limits)

    class Timed(H11Protocol):
        waits_since: float | None = None  # for a whole request [s]
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()
            if len(self.connections) > most:
                waiting = [one for one in self.connections if isinstance(one, Timed) and one.waits_since is not None]
                longest = min(waiting, key=lambda one: one.waits_since or 0.0)
                longest._cease()  # it is no longer one to choose, though it goes only after this turn of the loop
                longest.transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            is_answering = self.cycle is not None and not self.cycle.response_complete
            if is_answering or self.transport.get_protocol() is not self:  # it became a WebSocket
                self._cease()
            elif self.waits_since is None:
                self._wait()

        def connection_lost(self, error: Exception | None) -> None:
            self._cease()
            super().connection_lost(error)

        def _wait(self) -> None:
            self.waits_since = self.loop.time()
            self._deadline = self.loop.call_later(limits.header_seconds, self.transport.abort)

        def _cease(self) -> None:
            self.waits_since = None
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Timed


def websocket_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """A WebSocket that is closed when frames come that no client of ours sends: pings, pongs, fragments without end."""

    class Counted(WebSocketsSansIOProtocol):
        def __init__(self, *arguments: Any, **options: Any):
            super().__init__(*arguments, **options)
            self._frames = Bucket(limits.messages_per_second, limits.burst)

        def handle_ping(self) -> None:
            if self._count():
                super().handle_ping()

        def handle_pong(self, event: Frame) -> None:
            if self._count():
                super().handle_pong(event)

        def handle_text(self, event: Frame) -> None:
            if event.fin or self._count():
                super().handle_text(event)

        def handle_bytes(self, event: Frame) -> None:
            if event.fin or self._count():
                super().handle_bytes(event)

        def handle_cont(self, event: Frame) -> None:
            if self._count():
                super().handle_cont(event)

        def _count(self) -> bool:
            """Whether one more may come; whole messages are counted where they are read."""
            if self.transport.is_closing():
                return False
            if self._frames.take():
                return True
            self.conn.send_close(1008, "too many frames per second")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
            return False

    return Counted
