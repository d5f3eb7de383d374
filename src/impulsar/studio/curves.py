"""Curves that are drawn in the page: a process beside the studio fits the linkage, and its designs go to the page."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from ..author.errors import ModelError
from ..io import model_to_json
from . import analysis_messages as ms
from .exports import Ask, OneOfFew
from .session import Session
from .wire import read_request, to_text

MOST_FITS = 2  # at once
MOST_POINTS = 200
MOST_BODIES = 60
LONGEST_LINE = 2**20  # bytes
WORKER = "impulsar.studio.curve_worker"


def routes(ask: Ask, one_of_few: OneOfFew, session: Session) -> list[BaseRoute]:
    """Where the page asks for them."""
    running: set[object] = set()

    def copied() -> dict[str, Any]:
        if len(session.world.model.bodies) > MOST_BODIES:
            raise ModelError(f"curve: the model has more than {MOST_BODIES} bodies; use `impulsar.optimise.fit_curve`")
        return model_to_json(session.world.model)

    async def fitted(request: Request) -> Response:
        body = await request.body()

        async def answer() -> Response:
            wanted = read_request(ms.CurveRequest, "curve", body)
            check(wanted)
            model = await ask(copied)
            if len(running) >= MOST_FITS:
                raise ModelError(f"curve: {MOST_FITS} are being fitted; stop one of them")
            return StreamingResponse(lines(wanted, model, running), media_type="application/x-ndjson")

        return await one_of_few("curve", answer)

    return [Route("/api/curve", fitted, methods=["POST"])]


def check(wanted: ms.CurveRequest) -> None:
    """Refuse what is no curve."""
    if not 3 <= len(wanted.points) <= MOST_POINTS or any(len(point) != 3 for point in wanted.points):
        raise ModelError(f"curve: {len(wanted.points)} points, expected 3 to {MOST_POINTS}, each of 3 numbers [m]")
    if len(wanted.at) != 3 or not np.isfinite([*wanted.at, *(x for point in wanted.points for x in point)]).all():
        raise ModelError("curve: expected finite numbers, 3 of each point [m]")
    if not np.ptp(np.array(wanted.points), axis=0).max() > 0.0:
        raise ModelError("curve: all points are at one place")


async def lines(wanted: ms.CurveRequest, model: dict[str, Any], running: set[object]) -> AsyncIterator[str]:
    """A line for every better design; the process that finds them ends with who reads them."""
    mark = object()
    running.add(mark)
    process = None
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", WORKER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            limit=LONGEST_LINE,
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"model": model, "wanted": vars(wanted)}).encode())
        process.stdin.close()
        line = b""
        async for line in process.stdout:
            yield line.decode()
        if await process.wait() != 0 or not line:
            told = "the fit ended before its time; the studio's log says why"
            yield f"{to_text(ms.CurveDesign(error=None, evaluations=0, done=True, text=told))}\n"
    finally:
        running.discard(mark)
        if process is not None and process.returncode is None:
            process.kill()
