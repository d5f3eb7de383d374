"""A world in a notebook: the studio's page below the cell.

With anywidget (the extra `notebook`) the page is a widget, and everything goes over the notebook's own line to its
kernel: no port is open, wherever the kernel is. Without it the page is a frame around a server of its own.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Union

from ..author.checks import flag, whole
from .folders import private_folder

if TYPE_CHECKING:
    from ..world.world import World
    from .server import Studio
    from .session import Session
    from .widget import WorldWidget

# Where notebooks are shown from; anything else is named by `origin`.
NOTEBOOKS = ("http://localhost:*", "http://127.0.0.1:*", "https://localhost:*", "vscode-webview:")


@dataclass
class Shown:
    """A world's server, and the folder of its journal."""

    studio: "Studio"
    folder: ExitStack


_shown: "dict[World, Shown]" = {}
_widgets: "dict[World, WorldWidget]" = {}


class View:
    """The page of a world, served by a port: a notebook asks it for HTML. `stop()` ends it."""

    def __init__(self, world: "World", width: str, height: int, compact: bool = False):
        self.world, self.width, self.height, self.compact = world, width, height, compact
        self.studio = _shown[world].studio

    @property
    def url(self) -> str:
        """The page, with the token in its path: frames get no cookies."""
        return f"{self.studio.origin}/t/{self.studio.token}/{'?compact' if self.compact else ''}"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.url}" width="{self.width}" height="{self.height}" style="border:0" '
            'allow="fullscreen" title="Impulsar studio"></iframe>'
        )

    def stop(self) -> None:
        """End the page; the world, as it is now, is the caller's again."""
        if shown := _shown.pop(self.world, None):
            shown.studio.stop()
            shown.folder.close()


def view(
    world: "World",
    width: str = "100%",
    height: int | None = None,
    origin: str | None = None,
    compact: bool = False,
    served: bool | None = None,
) -> Union[View, "WorldWidget"]:
    """Show a world below the cell. Until `stop()` the page's session steps it: do not step it yourself.

    compact: the picture, play and one plot only. height [pixels]: by default 640, of a compact one 420. served: by a
    port of its own, in a frame; by default only without anywidget, or with an origin: where the notebook is served
    from, if not from this machine ("https://hub.example.org").
    """
    flag("view", "compact", compact)
    served = None if served is None else flag("view", "served", served)
    height = (420 if compact else 640) if height is None else whole("view", "height", height, 100, 10_000)
    if world in _shown or (served if served is not None else origin is not None or find_spec("anywidget") is None):
        if world in _widgets:
            _widgets[world].stop()
        if world not in _shown:
            _shown[world] = _serve(world, origin)
        return View(world, width, height, compact)
    from .widget import WorldWidget

    if world not in _widgets:
        session, folder = begin(world)
        _widgets[world] = WorldWidget(session, folder, lambda: _widgets.pop(world, None))
    return _widgets[world].shaped(width, height, compact)


def begin(world: "World") -> "tuple[Session, ExitStack]":
    """A session around a world, and what to close after it."""
    from .command import begin_history
    from .session import Session

    folder = ExitStack()
    path = folder.enter_context(private_folder()) / "session.journal"
    method, coordinates, device = world.method, world.coordinates, world.device

    def make_world(model):
        return type(world)(model, method, coordinates, device=device)

    return Session(begin_history(world, path), make_world, lambda other: begin_history(other, path)), folder


def _serve(world: "World", origin: str | None) -> Shown:
    from .server import Place, Studio, ancestors

    frames = ancestors([*NOTEBOOKS, *([origin] if origin else [])])
    session, folder = begin(world)
    studio = Studio(session, Place(frame_ancestors=frames))
    studio.start()
    return Shown(studio, folder)
