"""A world in a notebook: the studio's page in a frame below the cell."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .folders import private_folder

if TYPE_CHECKING:
    from ..world.world import World
    from .server import Studio

# Where notebooks are shown from; anything else is named by `origin`.
NOTEBOOKS = ("http://localhost:*", "http://127.0.0.1:*", "https://localhost:*", "vscode-webview:")


@dataclass
class Shown:
    """A world's server, and the folder of its journal."""

    studio: "Studio"
    folder: ExitStack


_shown: "dict[World, Shown]" = {}


class View:
    """The page of a world: a notebook asks it for HTML. `stop()` ends it."""

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
) -> View:
    """Show a world below the cell. Until `stop()` the page's session steps it: do not step it yourself.

    origin: where the notebook is served from, if not from this machine ("https://hub.example.org"). compact: the
    picture, play and one plot only. height [pixels]: by default 640, of a compact one 420.
    """
    if world not in _shown:
        _shown[world] = _serve(world, origin)
    return View(world, width, height or (420 if compact else 640), compact)


def _serve(world: "World", origin: str | None) -> Shown:
    from .command import begin_history
    from .server import Place, Studio, ancestors
    from .session import Session

    frames = ancestors([*NOTEBOOKS, *([origin] if origin else [])])
    folder = ExitStack()
    path = folder.enter_context(private_folder()) / "session.journal"
    method, coordinates, device = world.method, world.coordinates, world.device

    def make_world(model):
        return type(world)(model, method, coordinates, device=device)

    session = Session(begin_history(world, path), make_world, lambda other: begin_history(other, path))
    studio = Studio(session, Place(frame_ancestors=frames))
    studio.start()
    return Shown(studio, folder)
