"""The studio's server: page, WebSocket and downloads around one session.

Routes know nothing of tokens, hosts and origins: the Gate around all of them does. Handlers run in the
server's event loop and ask the session's thread for what they need between two of its steps.
"""

import asyncio
import contextlib
import json
import logging
import mimetypes
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from .. import edits, results
from ..author.checks import vector
from ..author.errors import ModelError, StepError
from ..io.meshes import read_mesh
from ..io.scene_files import pretty
from ..loading import load_upload
from ..render import pose_now, pose_png
from ..world.signals import signal
from ..world.world import World
from . import alone, analyses, curves, exports, geometry
from . import messages as ms
from .describe import scene_entries
from .large.desk import DOOR as LARGE
from .large.desk import LargeDesk
from .large.session import LargeSession
from .lines import Lines
from .points import Points
from .protocols import http_protocol, websocket_protocol
from .publisher import Client
from .recording import Sample, dataset, series
from .security import SESSION, Address, Gate, Limits, is_loopback, is_wildcard, new_token
from .session import Session
from .shooting import Span, chosen, items
from .wire import LONGEST_REFUSAL, read, read_series, to_text

log = logging.getLogger("impulsar.studio")

PAGE = Path(__file__).parent / "page"
SEND_BUFFER = 128 * 2**10  # bytes the system may hold for a client: what is in it is old by the time it is read
ACCEPTED_AT_ONCE = 32  # connections, before any of them is looked at: fewer than there are spare descriptors
SMALL_MESH = 64 * 2**10  # bytes that are read in a thread: within these nothing takes long
MESH_SECONDS = 60.0  # wall time for a larger one [s]
PATIENCE = 20.0  # wall time for which a download waits its turn: pages ask for several at once [s]
NO_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Impulsar studio</title>
<h1>The page has not been built</h1><p>The session runs, but this installation has no page. In a checkout,
run <code>make page</code>, then reload.</p></html>"""


@dataclass(frozen=True)
class Place:
    """Where to serve: host and port (0: any free one), TLS files, who may show the page in a frame, and whether it may
    use its browser's camera."""

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None
    frame_ancestors: tuple[str, ...] = ()
    lends_camera: bool = False


class Desk:
    """A session behind its routes, `app`, wherever they are asked from; `more` come before its own."""

    def __init__(self, session: Session, limits: Limits | None = None, more: Sequence[BaseRoute] = ()):
        self.session, self.limits = session, limits or Limits()
        self.lines = Lines(session, self.limits, Client, read)
        self.app = Starlette(routes=[*more, *self._routes()])
        self._few = asyncio.Semaphore(self.limits.downloads)
        self._waiting = 0  # requests for what only few are made of at once
        self._scratch: World | None = None  # by which recordings are read
        self._reading = threading.Lock()  # whoever has the scratch

    # routes -----------------------------------------------------------------------------------------------

    def _routes(self) -> list[BaseRoute]:
        found: list[BaseRoute] = [
            WebSocketRoute("/ws", self.lines.serve),
            Route("/api/scenes", self._scenes),
            Route("/api/scene-file", self._scene_file, methods=["POST"]),
            Route("/api/mesh", self._mesh, methods=["POST"]),
            Route("/api/journal", self._journal),
            Route("/api/results.nc", self._results),
            Route("/api/series", self._series, methods=["POST"]),
            Route("/api/frames", self._frames),
            Route("/api/frame.png", self._picture),
            Route("/api/scene.json", self._model),
            Route("/api/ar", _no_eyes),
            *geometry.routes(),
            *exports.routes(self._ask, self._one_of_few, self.session),
            *alone.routes(self._ask, self._one_of_few, self.session),
            *analyses.routes(self._ask, self._one_of_few, self.session),
            *curves.routes(self._ask, self._one_of_few, self.session),
            Route("/", self._page),
        ]
        files = sorted(path for path in PAGE.glob("*") if path.is_file()) if PAGE.is_dir() else []
        return [*found, *(Route(f"/{path.name}", _file(path)) for path in files if path.suffix != ".sha256")]

    async def _page(self, request: Request) -> Response:
        index = PAGE / "index.html"
        if not index.is_file():
            return HTMLResponse(NO_PAGE, status_code=503)
        return FileResponse(index, media_type="text/html")

    async def _scenes(self, request: Request) -> Response:
        return _json(scene_entries())

    async def _scene_file(self, request: Request) -> Response:
        name, body = request.query_params.get("name", "scene.json"), await request.body()

        async def answer() -> Response:
            model = await run_in_threadpool(load_upload, name, body)
            world = await run_in_threadpool(self.session.make_world, model)
            await self._ask(lambda: self.session.opening.take(world, model.name))
            report = model.import_report
            told = f"scene '{model.name}'" if report is None else report.shown()
            return _json(ms.Reply(id=0, ok=True, text=told))

        return await _refusing(answer)

    async def _mesh(self, request: Request) -> Response:
        name, body = request.query_params.get("name", ""), await request.body()

        async def answer() -> Response:
            if len(body) <= SMALL_MESH:
                found: dict[str, Any] = (await run_in_threadpool(read_mesh, name, body)).data()
            else:
                found = await read_beside(name, body, request)
            points = [vector("mesh", "point", point, "m").tolist() for point in found["points"]]
            text = f"{found['triangles']} triangles, a hull of {len(points)} corners"
            shape = {"shape": "convex-hull", "points": points}
            solid = None if found["solid"] is None else ms.MeshSolid(**found["solid"])
            size, triangles = found["size"], found["triangles"]
            return _json(ms.MeshReply(ok=True, text=text, shape=shape, triangles=triangles, size=size, solid=solid))

        return await self._one_of_few("mesh", answer)

    async def _journal(self, request: Request) -> Response:
        async def answer() -> Response:
            data = await self._ask(lambda: self.session.journal_bytes())
            return _download(data, "application/octet-stream", "session.journal")

        return await _refusing(answer)

    async def _results(self, request: Request) -> Response:
        session = self.session

        async def answer() -> Response:
            samples, events, make_world = await self._ask(
                lambda: (session.recording.copy(), session.watching.samples(), session.scratch_maker())
            )
            if not samples:
                raise ModelError("results: nothing is recorded yet; let time run")

            def make() -> bytes:
                with self._scratch_of(make_world) as scratch:
                    return _netcdf(dataset(samples, scratch, events))

            data = await run_in_threadpool(make)
            return _download(data, "application/x-netcdf", "results.nc")

        return await self._one_of_few("results", answer)

    async def _series(self, request: Request) -> Response:
        session, body = self.session, await request.body()

        async def answer() -> Response:
            wanted = read_series(body)

            def ask() -> tuple[list[Sample], Callable[[], World]]:
                for name in wanted.signals if wanted.strict else ():  # refused here, before a world is built for it
                    signal(session.world, name)
                return session.recording.copy(), session.scratch_maker()

            samples, make_world = await self._ask(ask)
            samples = [sample for sample in samples if sample.clock >= wanted.since]
            points = Points([(point.body, point.at) for point in wanted.points])

            def make() -> bytes:
                with self._scratch_of(make_world) as scratch:
                    return series(samples, scratch, wanted.signals, points).astype("<f8").tobytes()

            data = await run_in_threadpool(make) if samples else b""
            return Response(data, media_type="application/octet-stream")

        return await self._one_of_few("series", answer)

    async def _frames(self, request: Request) -> Response:
        session = self.session

        async def answer() -> Response:
            span = Span.read(request.query_params)
            samples, make_world, generation = await self._ask(
                lambda: (session.recording.copy(), session.scratch_maker(), session.generation)
            )

            def make() -> bytes:
                with self._scratch_of(make_world) as scratch:
                    return b"".join(items(chosen(samples, span), scratch, generation, span))

            return Response(await run_in_threadpool(make), media_type="application/octet-stream")

        return await self._one_of_few("frames", answer)

    @contextlib.contextmanager
    def _scratch_of(self, make_world: Callable[[], World]) -> Iterator[World]:
        """A world to read recordings by, for one reader at a time; whatever it was, restoring makes it what is read."""
        with self._reading:
            if self._scratch is None:
                self._scratch = make_world()
            yield self._scratch

    async def _picture(self, request: Request) -> Response:
        async def answer() -> Response:
            model, pose = await self._ask(lambda: (self.session.world.model, pose_now(self.session.world)))
            data = await run_in_threadpool(pose_png, model, pose)
            return Response(data, media_type="image/png")

        return await self._one_of_few("picture", answer)

    async def _one_of_few(self, what: str, answer: Callable[[], Any]) -> Response:
        """An answer that takes time and memory to make: few are made at once, some wait; what fails says so."""
        if self._waiting >= self.limits.waiting:
            return _busy(f"{what}: {self._waiting} downloads wait already; ask again when some are done")
        self._waiting += 1
        try:
            async with asyncio.timeout(PATIENCE):
                await self._few.acquire()
        except TimeoutError:
            return _busy(f"{what}: other downloads took longer than {PATIENCE:g} s; ask again when they are done")
        finally:
            self._waiting -= 1
        try:
            return await _refusing(answer)
        except Exception as error:  # of libraries, the disk or a name they cannot take: told, not a bare 500
            log.exception("%s could not be made", what)
            reason = f"{type(error).__name__}: {error}"[:LONGEST_REFUSAL]
            return _json(ms.Reply(id=0, ok=False, text=f"{what}: could not be made ({reason}); see the log"), 500)
        finally:
            self._few.release()

    async def _model(self, request: Request) -> Response:
        async def answer() -> Response:
            is_start = request.query_params.get("pose", "shown") == "start"
            data = await self._ask(lambda: self.session.opening.file(is_start))
            return _download(f"{pretty(data)}\n".encode(), "application/json", "scene.json")

        return await _refusing(answer)

    async def _ask(self, function: Callable[[], Any]) -> Any:
        """What a function finds in the session's thread."""
        return await asyncio.wrap_future(self.session.call(function))


class Studio(Desk):
    """A session on the web. `run` serves until interrupted, `start` in a thread until `stop`."""

    def __init__(
        self,
        session: Session,
        place: Place | None = None,
        limits: Limits | None = None,
        more: Sequence[BaseRoute] = (),  # before the studio's own
        large: LargeSession | None = None,  # of a large world that is there from the start
    ):
        self.large = LargeDesk(limits or Limits(), large, self._make_room)
        own = [Route("/api/logout", self._log_out, methods=["POST"]), *self.large.routes()]
        super().__init__(session, limits, [*more, *own])
        self._first = "/" if large is None else LARGE
        place = place or Place()
        self.token, self._link = new_token(), new_token()  # of the studio's own session, and of the link
        self._socket = _bind(place.host, place.port)
        port = self._socket.getsockname()[1]
        self.address = Address(place.host, port, place.certificate is not None, _own_names(place.host))
        body_limits = {"/api/scene-file": self.limits.scene_file, "/api/mesh": self.limits.mesh, "/api/logout": 16}
        asked = ("series", "alone", "analyse", "sweep", "turn", "curve", "large")
        body_limits |= {f"/api/{name}": self.limits.message for name in asked}
        asks = place.frame_ancestors, self._link, place.lends_camera
        self.gate = Gate(self.app, self.address, self.token, self.limits, body_limits, *asks)
        self._thread: threading.Thread | None = None
        self._server = uvicorn.Server(
            uvicorn.Config(
                self.gate,
                ws=websocket_protocol(self.limits),
                ws_max_size=self.limits.message,
                ws_per_message_deflate=False,  # no message that unpacks to more than it is
                http=http_protocol(self.limits),
                backlog=ACCEPTED_AT_ONCE,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=1,
                ssl_certfile=place.certificate,
                ssl_keyfile=place.key,
            )
        )

    @property
    def origin(self) -> str:
        """Scheme, host and port as a browser opens them."""
        return f"{self.address.scheme}://{self.address.shown_host}:{self.address.port}"

    @property
    def url(self) -> str:
        """What to open, token and all."""
        return self.link_to(self._first)

    def link_to(self, door: str) -> str:
        """The same for another page of `security.DOORS`."""
        return f"{self.origin}{door}?token={self._link}"

    def launch_url(self) -> str:
        """The same for one opening only: the token in it is void afterwards."""
        return f"{self.origin}{self._first}?token={self.gate.new_launch()}"

    async def _make_room(self) -> None:
        """Stop the time of the mechanism: a large world wants all cores."""
        history = self.session.history
        await self._ask(lambda: None if history.world.paused else history.apply(edits.Pause(True)))

    def run(self) -> None:
        """Serve in this thread until Ctrl-C."""
        self.session.start()
        self.large.start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.large.stop()
            self.session.stop()
            self._socket.close()

    def start(self) -> None:
        """Serve in a thread."""
        self._thread = threading.Thread(target=self.run, name="impulsar studio", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Have serving end soon; from a signal's handler."""
        self._server.should_exit = True

    def stop(self) -> None:
        """Stop serving and end the session."""
        self.end()
        if self._thread is not None:
            self._thread.join()

    async def _log_out(self, request: Request) -> Response:
        session = request.scope[SESSION]
        if not self.gate.end(session):
            text = "log-out: this session is the studio's own and ends with it; stop the studio"
            return _json(ms.Reply(id=0, ok=False, text=text), 422)
        sockets = *self.lines.sockets, *self.large.lines.sockets
        for websocket in [one for one in sockets if one.scope[SESSION] == session]:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it is closing already
                await websocket.close(1008, "logged out; open the studio's link again")
        response = _json(ms.Reply(id=0, ok=True, text="logged out; the studio's link begins another session"))
        response.headers["set-cookie"] = f"{self.gate.cookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
        return response


async def read_beside(name: str, data: bytes, request: Request) -> dict[str, Any]:
    """What a process of its own reads from a mesh; it is ended when it takes long or nobody waits for it any more."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        read_mesh.__module__,
        name,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"},
    )
    reading, leaving = asyncio.create_task(process.communicate(data)), asyncio.create_task(_leaving(request))
    try:
        await asyncio.wait((reading, leaving), timeout=MESH_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            why = "nobody waits for it" if leaving.done() else f"it took more than {MESH_SECONDS:g} s"
            raise ModelError(f"mesh: was not read to its end, because {why}; simplify it")
        if process.returncode != 0:
            raise ModelError("mesh: takes too much time or memory to read; simplify it")
        found = json.loads(reading.result()[0])
    finally:
        leaving.cancel()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                process.kill()
        await asyncio.gather(reading, leaving, return_exceptions=True)
    if "refusal" in found:
        raise ModelError(found["refusal"])
    return found


async def _leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _bind(host: str, port: int) -> socket.socket:
    """A listening socket, so that the port is known and taken before anything starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle on
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        found.bind((host, port))
        found.listen(128)  # who comes before the server runs waits
    except OSError as error:
        found.close()
        other = "--host" if isinstance(error, socket.gaierror) else "--port"
        raise ModelError(f"studio: {host} port {port}: {error.strerror or error}; choose another {other}") from error
    return found


def _own_names(host: str) -> frozenset[str]:
    """Names of this machine, where it is to be reached from others."""
    if is_loopback(host):
        return frozenset()
    name = socket.gethostname().lower()
    return frozenset({name, f"{name}.local", socket.getfqdn().lower()} if is_wildcard(host) else {host.lower()})


def _file(path: Path) -> Callable[[Request], Any]:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"

    async def send(request: Request) -> Response:
        return FileResponse(path, media_type=kind)

    return send


async def _refusing(answer: Callable[[], Any]) -> Response:
    """An answer, or what is wrong in the engine's words."""
    try:
        return await answer()
    except (ModelError, StepError) as error:
        log.warning("refused an upload or download: %.300s", error)
        return _json(ms.Reply(id=0, ok=False, text=str(error)[:LONGEST_REFUSAL]), 422)


def _json(message: Any, status: int = 200) -> Response:
    return Response(to_text(message), status, media_type="application/json")


async def _no_eyes(request: Request) -> Response:
    """The studio sees nothing, unless one is put before this that does: ar/show.py."""
    return _json({"eyes": False})


def _busy(text: str) -> Response:
    return _json(ms.Reply(id=0, ok=False, text=text), 429)


def _download(data: bytes, kind: str, name: str) -> Response:
    return Response(data, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def _netcdf(found: Any) -> bytes:
    with tempfile.TemporaryDirectory(prefix="impulsar-") as folder:
        path = Path(folder) / "results.nc"
        results.save(found, path)
        return path.read_bytes()


def ancestors(origins: Iterable[str]) -> tuple[str, ...]:
    """Origins that may frame the page, checked to be origins and nothing else."""
    found = tuple(origins)
    for origin in found:
        if any(c in origin for c in " ;,'\"\n\r") or not origin:
            raise ModelError(f"view: origin is {origin!r}, expected such as 'https://hub.example.org'")
    return found
