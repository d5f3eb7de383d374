"""`impulsar studio`: a scene on a page that the browser opens."""

import argparse
import contextlib
import html
import logging
import signal
import ssl
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..author.errors import ModelError
from ..author.model import Model
from .folders import private_folder, write_private

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from ..history.history import History
    from ..world.world import World
    from .large.session import LargeSession
    from .session import Session

SIGNALS = ("SIGTERM", "SIGHUP", "SIGQUIT")
KEPT = 5  # journals of scenes before
MANY = 20_000  # bodies that take a while to build
MODEL_STEP = 1e-3  # of a large world from a model that states none [s]
NOTHING: dict[str, Any] = {"scene": "empty", "set": [], "method": None, "device": None, "dt": None, "paused": True}
REMOTE = """\
impulsar: --allow-remote: everyone who can reach {host} port {port} and has the link can see and change this
          session, upload scenes to it and use this machine's time; give the link only to people you trust.
          What the session shows and takes is limited as SECURITY.md says; it is not meant for the open internet.
"""
NOT_SECRET = """\
impulsar: --no-tls: the link's token and all that is sent can be read and changed by anyone on the way.
"""


def add_arguments(
    parser: argparse.ArgumentParser, seconds: Callable[[str], float], factor: Callable[[str], float]
) -> None:
    """Options of the command."""
    parser.add_argument("scene", metavar="SCENE|FILE", nargs="?", help="default: choose in the page")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the scene")
    parser.add_argument("--method", metavar="M", help="name of a method")
    parser.add_argument("--coordinates", metavar="C", help="generalized or maximal")
    parser.add_argument("--device", metavar="D", help="cpu, cuda or cuda:0")
    parser.add_argument("--dt", metavar="H", type=seconds, help="step [s]; default: the scene's")
    parser.add_argument("--speed", metavar="X", type=factor, default=1.0, help="times real time; default 1")
    parser.add_argument(
        "--large", action="store_true", help="one large world: chain, spheres, ... of up to millions of bodies"
    )
    parser.add_argument("--paused", action="store_true", help="begin with time standing still")
    parser.add_argument("--journal", metavar="FILE", type=Path, help="keep a journal; go on with it if it is there")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve on; default: this machine only")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--allow-remote", action="store_true", help="needed for a --host that others can reach")
    parser.add_argument("--cert", metavar="FILE", type=Path, help="TLS certificate (PEM)")
    parser.add_argument("--key", metavar="FILE", type=Path, help="its private key (PEM)")
    parser.add_argument(
        "--tls", action="store_true", help="TLS by a self-made certificate; default with --allow-remote"
    )
    parser.add_argument("--no-tls", action="store_true", help="no TLS in spite of --allow-remote")
    parser.add_argument("--no-browser", action="store_true", help="only print the link")


class Gear(Protocol):
    """What else works on a session and shows itself on its pages, such as cameras: ar/run.py."""

    @property
    def routes(self) -> Sequence["BaseRoute"]:
        """Served before the studio's own."""

    @property
    def lends_camera(self) -> bool:
        """Whether pages may use their browsers' cameras."""

    @property
    def doors(self) -> dict[str, str]:
        """What its own pages are for, and their paths (security.DOORS)."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """Give devices back."""


def serve(
    args: argparse.Namespace,
    make_model: Callable[[], Model],
    equip: "Callable[[Session], Gear] | None" = None,
    settings: dict[str, Any] | None = None,
) -> int:
    """Serve until Ctrl-C; what can be refused is refused before anything is built.

    settings: those of `args`, read; for a large world, which has no Model.
    """
    from .security import Seldom, is_loopback

    large = None
    if getattr(args, "large", False):
        large = partial(_large_session, _check_large(args, equip is not None), make_model, settings or {})
        args = argparse.Namespace(**vars(args) | NOTHING)  # the other pages begin with nothing
    if args.scene is None and args.set:
        raise ModelError(f"--set {args.set[0]}: of which scene? Name one before it")
    if not is_loopback(args.host) and not args.allow_remote:
        raise ModelError(f"--host {args.host}: others could reach it; add --allow-remote if that is meant")
    if (args.cert is None) != (args.key is None):
        raise ModelError("--cert and --key: one is given without the other; give both")
    if args.no_tls and (args.tls or args.cert):
        raise ModelError("--no-tls: contradicts --tls and --cert; remove one")
    if not 0 <= args.port <= 65535:
        raise ModelError(f"--port is {args.port}, expected 0 to 65535")
    for path in (args.cert, args.key):
        if path is not None and not path.is_file():
            raise ModelError(f"'{path}': no such file; give a PEM file")
    _check_pem(args.cert, args.key)
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(Seldom())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="impulsar: %(message)s")
    with _ended_by_signals() as ends, private_folder() as folder:
        return _serve(args, make_model, folder, ends, equip, large)


def _check_large(args: argparse.Namespace, is_equipped: bool) -> argparse.Namespace:
    """The same arguments; what is not for large worlds is refused before anything is built."""
    from ..engine.device import check_device
    from .large.catalogue import BEGINS

    if args.scene is None:
        raise ModelError(f"--large: which scene? One of {', '.join(BEGINS)}, or any other scene or file")
    for name in ("coordinates", "journal"):
        if getattr(args, name) is not None:
            raise ModelError(f"--{name}: not with --large; take it away")
    if is_equipped:
        raise ModelError("--large: not over a camera's picture; take `impulsar studio`")
    check_device(args.device or "cpu")
    return args


def _large_session(
    args: argparse.Namespace, make_model: Callable[[], Model], settings: dict[str, Any]
) -> "LargeSession":
    """A session of the large world that was asked for, built."""
    from ..engine.large.bulk import Bulk
    from .large.catalogue import Source, is_large_scene, source_of
    from .large.session import LargeSession

    chosen = {name: getattr(args, name) for name in ("method", "device") if getattr(args, name) is not None}
    session = LargeSession(args.dt, args.speed, args.paused, **chosen)
    if is_large_scene(args.scene):
        source = source_of(args.scene, settings, args.dt)
    else:
        model = make_model()
        source = Source(args.scene, settings, model, args.dt or model.dt or MODEL_STEP)
    if isinstance(source.what, Bulk) and source.what.bodies >= MANY:
        print(f"impulsar: building {source.what.name}", file=sys.stderr, flush=True)
    session.open(source)
    return session


def _check_pem(certificate: Path | None, key: Path | None) -> None:
    """Refuse what is no certificate and its key before anything is built on it."""
    if certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # SSLError is an OSError
        reason = getattr(error, "reason", None) or error
        told = f"--cert '{certificate}' and --key '{key}': not a certificate and its key in PEM without a password"
        raise ModelError(f"{told} ({reason}); check both") from error


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[list[Callable[[], None]]]:
    """Have what ends a process end this block instead, so that journals are closed and keys removed.

    Calls what is in the list if there is something, because a server must not be left in the middle of anything.
    """
    ends: list[Callable[[], None]] = []
    if threading.current_thread() is not threading.main_thread():
        yield ends
        return

    def end(number: int, frame: object) -> None:
        if not ends:
            raise SystemExit(128 + number)
        for function in ends:
            function()

    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) is not signal.SIG_IGN}  # as under nohup
    try:
        for number in before:
            signal.signal(number, end)
        yield ends
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _session(args: argparse.Namespace, make_model: Callable[[], Model], path: Path) -> "Session":
    """A session on the scene, or where a journal left it; `path` is the journal's."""
    from .. import edits
    from ..history.history import History
    from ..scenes import EMPTY
    from ..world.world import World
    from .autosave import find_left
    from .session import Session

    options = {key: getattr(args, key) for key in ("method", "coordinates", "device", "dt")}
    options = {key: value for key, value in options.items() if value is not None}
    is_old = args.journal is not None and path.exists() and path.stat().st_size > 0

    def make_world(model: Model) -> World:
        return World(model, compile="auto", **options)

    def make_history(world: World) -> History:
        return begin_history(world, path)

    history = History.open(path) if is_old else make_history(make_world(make_model()))
    if (args.paused or is_old) and not history.world.paused:  # a session that was cut short begins stopped
        history.apply(edits.Pause(True))
    scene = history.world.model.name if is_old else args.scene or EMPTY
    left = None if args.journal else find_left()
    if left is not None:
        print(f"impulsar: a session was left with work in it ({left}); the page offers it", file=sys.stderr)
    return Session(
        history,
        make_world,
        make_history,
        scene,
        args.speed,
        journal=args.journal,
        is_resumed=is_old,
        left=left,
        is_choosing=args.scene is None and not is_old,
    )


def _nothing() -> Model:
    from ..scenes import EMPTY, scene

    return scene(EMPTY)


def begin_history(world: "World", path: Path) -> "History":
    """A history of another scene in a journal of its own; the one before is put aside, or left if this cannot be."""
    from ..history.history import History

    before = _put_aside(path)
    try:
        return History(world, path)
    except Exception:
        if before is not None and not path.exists():  # else another session has taken the name
            before.replace(path)
        raise


def _put_aside(path: Path) -> Path | None:
    """Rename the journal of the scene before to FILE.1, that to FILE.2 and so on; the last of KEPT goes."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    names = [path, *(path.with_name(f"{path.name}.{n}") for n in range(1, KEPT + 1))]
    free = next((n for n, name in enumerate(names) if not name.exists()), KEPT)
    for n in range(free, 0, -1):
        names[n - 1].replace(names[n])
    return names[1]


def _serve(
    args: argparse.Namespace,
    make_model: Callable[[], Model],
    folder: Path,
    ends: list[Callable[[], None]],
    equip: "Callable[[Session], Gear] | None",
    make_large: "Callable[[], LargeSession] | None" = None,
) -> int:
    from ..engine.blas import take_one_thread
    from .autosave import new_journal, tidy
    from .security import is_loopback
    from .server import Place, Studio
    from .tidying import Tidying
    from .tls import machine_names, make_certificate

    certificate, key = args.cert, args.key
    if certificate is None and (args.tls or (args.allow_remote and not args.no_tls)):
        certificate, key, fingerprint = make_certificate(folder, sorted({args.host, *machine_names()}))
        print(f"impulsar: self-made certificate, SHA-256 {fingerprint}", file=sys.stderr)
    large = None if make_large is None else make_large()
    path = args.journal or new_journal()
    session = _session(args, make_model if large is None else _nothing, path)
    gear = None if equip is None else equip(session)
    place = Place(args.host, args.port, certificate, key, lends_camera=gear is not None and gear.lends_camera)
    studio = Studio(session, place, more=() if gear is None else gear.routes, large=large)
    take_one_thread()
    if not is_loopback(args.host):
        print(REMOTE.format(host=args.host, port=studio.address.port), file=sys.stderr, end="")
        if certificate is None:
            print(NOT_SECRET, file=sys.stderr, end="")
    print(f"Impulsar studio: {studio.url}", flush=True)
    for what, door in (gear.doors if gear is not None else {}).items():
        print(f"{what}: {studio.link_to(door)}", flush=True)
    print("Ctrl-C ends it.", flush=True)
    if not args.no_browser:
        threading.Thread(target=_open_browser, args=(studio.launch_url(), folder), daemon=True).start()
    session.tidying = Tidying()
    ends.append(studio.end)
    if gear is not None:
        gear.start()
    try:
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            studio.run()
    finally:
        if gear is not None:
            gear.stop()
    if args.journal is None:
        tidy(path, session.opening.has_work)
        if session.opening.has_work:
            print(f"impulsar: there are changes in no file; go on by: impulsar studio --journal '{path}'")
    return 0


def _open_browser(url: str, folder: Path) -> None:
    """Open a link without a word of it on a command line, which every user of this machine can read."""
    page = folder / "open.html"
    refresh = f'<meta http-equiv="refresh" content="0;url={html.escape(url)}">'
    write_private(page, f'<!doctype html><meta charset="utf-8">{refresh}<title>Impulsar studio</title>\n')
    webbrowser.open(page.as_uri())
