"""The page of a world as a widget (anywidget): below the cell, live over the notebook's own line, without a port."""

import base64
import json
import re
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from ..author.checks import whole
from ..author.errors import ModelError
from ..edits import Edit
from ..io import edit_to_json
from ..render import pose_now, pose_png
from .controls import MOST_STEPS
from .mailbox import Mailbox
from .player import PAGE, inside
from .publisher import Client
from .server import Desk
from .session import Session
from .tunnel import Tunnel
from .wire import read

if TYPE_CHECKING:
    from ..world.world import World

STILL = (800, 600)  # [pixels]
HEAD = re.compile(r'<link rel="stylesheet".*?>\s*<script type="module".*?</script>', re.DOTALL)


class WorldWidget(anywidget.AnyWidget):
    """A world below the cell, to take hold of. `stop()` ends it; a saved notebook keeps a picture.

    Until then its session steps the world in real time. What a cell does with it goes by `play`, `pause`, `step`,
    `edit` and `ask`, between two steps.
    """

    _esm = Path(__file__).with_name("widget.mjs")
    width = traitlets.Unicode("100%").tag(sync=True)
    height = traitlets.Int(640).tag(sync=True)
    still = traitlets.Unicode("").tag(sync=True)  # a picture in base64, where there is no kernel
    words = traitlets.Unicode("").tag(sync=True)
    stopped = traitlets.Bool(False).tag(sync=True)

    def __init__(self, session: Session, folder: ExitStack, at_end: Callable[[], Any]):
        super().__init__(words=f"'{session.world.model.name}' in the studio")
        self.compact = False
        self._session, self._folder, self._at_end = session, folder, at_end
        self._tunnel = Tunnel(Desk(session).app, self._put)
        self.on_msg(self._take)
        self.still = base64.b64encode(self._picture(session.world)).decode()
        session.start()

    def shaped(self, width: str, height: int, compact: bool) -> "WorldWidget":
        """This widget in another size, for those who look from now on."""
        self.width, self.height, self.compact = width, height, compact
        return self

    def play(self) -> None:
        """Let time run."""
        self._say(type="control", action="run")

    def pause(self) -> None:
        """Let time stand still."""
        self._say(type="control", action="pause")

    def step(self, count: int = 1) -> None:
        """Take single steps; time stands still then."""
        self._say(type="control", action="step", value=whole("view", "count", count, 1, MOST_STEPS))

    def edit(self, edit: Edit) -> None:
        """Apply an edit, as the page does: it can be undone there."""
        self._say(type="edit", edit=edit_to_json(edit))

    def ask(self, function: "Callable[[World], Any]") -> Any:
        """What a function reads from the world, between two steps."""
        self._check()
        return self._session.call(lambda: function(self._session.world)).result()

    def stop(self) -> None:
        """End the page, which becomes a picture; the world, as it is now, is the caller's again."""
        if self.stopped:
            return
        self.still = base64.b64encode(self.ask(self._picture)).decode()
        self.stopped = True
        self._tunnel.stop()
        self._session.stop()
        self._folder.close()
        self._at_end()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and for readers without one, as on GitHub, a picture."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["image/png"] = self.still
        return bundle

    @staticmethod
    def _picture(world: "World") -> bytes:
        return pose_png(world.model, pose_now(world), *STILL)

    def _check(self) -> None:
        if self.stopped:
            raise ModelError("view: has been stopped; the world is yours, or world.view() shows it again")

    def _say(self, **message: Any) -> None:
        """Have the session carry out a message, as a page would; what it refuses is raised."""
        self._check()
        heard = threading.Event()
        client = Client("a cell", Mailbox(heard.set))
        self._session.add(client)
        try:
            self._session.submit(client, read(json.dumps({"id": 1, **message})))
            while True:
                heard.wait()
                heard.clear()
                for item in client.mailbox.take():
                    reply = json.loads(item) if isinstance(item, str) else {}
                    if reply.get("type") == "reply":
                        if not reply["ok"]:
                            raise ModelError(reply["text"])
                        return
        finally:
            self._session.remove(client)

    # the line ---------------------------------------------------------------------------------------------

    def _take(self, widget: Any, head: Any, buffers: list[Any]) -> None:
        if not isinstance(head, dict) or self.stopped:
            return
        if head.get("kind") == "page":
            self._put({"to": head.get("from"), "kind": "page", "text": page(self.compact)}, None)
        else:
            self._tunnel.take(head, bytes(buffers[0]) if buffers else b"")

    def _put(self, head: dict[str, Any], data: bytes | None) -> None:
        if not self.stopped:
            self.send(head, None if data is None else [data])


def page(compact: bool = False) -> str:
    """The studio's page in one piece, as a frame of a notebook takes it."""
    parts = [PAGE / name for name in ("index.html", "widget.css", "widget.js")]
    if not all(part.is_file() for part in parts):
        raise ModelError("view: the page is not built; run `make page` in the repository, or install a wheel")
    text, css, script = (part.read_text(encoding="utf-8") for part in parts)
    whole = f'<style>{inside(css, "style")}</style>\n<script type="module">{inside(script, "script")}</script>'
    text, count = HEAD.subn(lambda _: whole, text)
    if count != 1:
        raise ModelError("view: the page's head is not as expected; run `make page` again")
    return text.replace("<body>", '<body class="compact">', 1) if compact else text
