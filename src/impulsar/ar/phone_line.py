"""The page of a phone that is a tracker, and its line; docs/ar.md.

    GET /phone               its page
    WebSocket /phone-line    pictures and buttons from it, Guide to it; studio/ar_messages.py

The studio's gate is before both: TLS, host, origin and token are those of its own page.
"""

import asyncio
import struct
from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..studio.ar_messages import PHONE_HEADER, PHONE_MAGIC, Guide
from ..studio.server import NO_PAGE, PAGE
from ..studio.wire import to_text
from .trackers.phone import Phone

LOOKS = 0.05  # between two looks whether there is something new to tell [s]
BUTTONS = 2  # that it has
_HEADER = struct.Struct("<" + "".join(code for _, code in PHONE_HEADER))
Held = Callable[[], tuple[str | None, str]]  # the body that the hand holds, and what is told of it


def guide(phone: Phone, held: Held, is_mine: bool) -> Guide:
    """How the phone is doing."""
    holds, told = held()
    width, height = phone.size
    status = phone.status
    state, why = (status.state, phone.why) if is_mine else ("waiting", "another phone is the tracker now")
    return Guide(
        width=width, height=height, pixel=phone.pixel, state=state, why=why, told=told, taken=phone.taken,
        holds=holds if is_mine else None,
    )  # fmt: skip


def routes(phone: Phone, held: Held) -> list[BaseRoute]:
    """For the studio's server."""
    return [Route("/phone", _page), WebSocketRoute("/phone-line", partial(_serve, phone=phone, held=held))]


async def _page(request: Request) -> Response:
    page = PAGE / "phone.html"
    return FileResponse(page, media_type="text/html") if page.is_file() else HTMLResponse(NO_PAGE, status_code=503)


async def _serve(websocket: WebSocket, phone: Phone, held: Held) -> None:
    await websocket.accept()
    jobs = [asyncio.create_task(job) for job in (_send(websocket, phone, held), _receive(websocket, phone))]
    try:
        await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
    finally:
        phone.leave(websocket)
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)


async def _send(websocket: WebSocket, phone: Phone, held: Held) -> None:
    before = ""
    while True:
        text = to_text(guide(phone, held, phone.join(websocket)))
        if text != before:
            await websocket.send_text(text)
            before = text
        await asyncio.sleep(LOOKS)


async def _receive(websocket: WebSocket, phone: Phone) -> None:
    while True:
        try:
            data = await websocket.receive_bytes()
        except (WebSocketDisconnect, KeyError):  # KeyError: a text, which nobody sends
            return
        if len(data) < _HEADER.size:
            return
        magic, number, buttons = _HEADER.unpack_from(data)
        if magic != PHONE_MAGIC:
            return
        down = tuple(bool(buttons >> k & 1) for k in range(BUTTONS))
        phone.offer(websocket, number, data[_HEADER.size :], down)
