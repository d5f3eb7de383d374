"""Scenes that come and go: another one is opened beside the session, and the one before is kept for undo."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import edits
from ..author.errors import ModelError
from ..author.model import Model
from ..history.history import History
from ..history.journal import Journal
from ..history.replay import take_over
from ..io import model_to_json
from ..scenes import scene as built_in
from ..world.world import World
from . import messages as ms
from .ahead import look_ahead
from .asked import MOST_PARTS, Asked, Later, check_size, parts_of
from .autosave import Left
from .gestures import Gestures
from .publisher import Client
from .recording import Recording
from .watching import Watching

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("impulsar.studio")

FEW_PARTS = 100  # of a scene that is built at once; larger ones are built in a thread of their own
KEPT = 3  # scenes that undo can bring back


@dataclass
class Open:
    """A scene with all that belongs to it."""

    scene: str
    history: History
    recording: Recording
    gestures: Gestures
    off: dict[tuple, dict[str, Any]]  # loads and motors that are switched off
    saved: Model  # as it was when it was opened or last saved
    watching: Watching = field(default_factory=Watching)

    @property
    def is_changed(self) -> bool:
        """Whether the model is another than that."""
        return self.history.world.model is not self.saved


class Opening:
    """Opens scenes for a session, in its thread, and goes back to those before."""

    def __init__(self, session: "Session", left: Left | None = None, is_choosing: bool = False):
        self._session, self.left, self.choosing = session, left, is_choosing
        self._building: object = None  # the scene that was asked for last
        self.past: list[Open] = []
        self.future: list[Open] = []
        self.saved: Model = session.world.model
        self.count = 0  # of scenes that came, these and others

    @property
    def is_changed(self) -> bool:
        """Whether the model is another than was opened or last saved."""
        return self._session.world.model is not self.saved

    @property
    def has_work(self) -> bool:
        """Whether something was made that is in no file."""
        return self.is_changed or any(each.is_changed for each in self.past)

    def file(self, is_start: bool) -> dict[str, Any]:
        """The model for a file: with its bodies as they are shown, or as they started."""
        world = self._session.world
        data = model_to_json(world.model if is_start else world.shown_model())
        self.saved = world.model
        return data

    def recover(self) -> str:
        """Go on with the session that was left."""
        if self.left is None:
            raise ModelError("recover: no session was left with work in it")
        history = History.open(self.left.path)
        told, self.left = str(self.left), None
        self._session._end_steps("another scene came")
        self.adopt(history, history.world.model.name)
        return f"the session that was left: {told}"

    def discard(self) -> str:
        """Forget the session that was left."""
        if self.left is not None:
            self.left.path.unlink(missing_ok=True)
        self.left = None
        return "the session that was left is gone"

    def ask(self, message: ms.Control, client: Client) -> str:
        """A client asks for a built-in scene."""
        if message.name is None:
            raise ModelError("scene: name is missing; give one of /api/scenes")
        for key, value in (message.parameters or {}).items():
            if isinstance(value, int) and value > MOST_PARTS:
                raise ModelError(f"scene '{message.name}': {key} is {value}, expected at most {MOST_PARTS}")
        try:
            model = built_in(message.name, **(message.parameters or {}))
        except (TypeError, ValueError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"scene '{message.name}': {error}") from error
        check_size(model)
        self._building = building = object()
        if parts_of(model) <= FEW_PARTS:
            self.take(self._session._make_world(model), message.name, client)
            return f"scene '{message.name}'"

        def build() -> None:
            try:
                world: World | Exception = self._session._make_world(model)
            except Exception as error:  # told to who asked for it
                world = error
            self._session.call(lambda: self._built(Asked(client, message), building, world))

        threading.Thread(target=build, name="impulsar scene", daemon=True).start()
        raise Later

    def _built(self, one: Asked, building: object, world: World | Exception) -> None:
        """A scene that a client asked for is there, or cannot be."""
        assert isinstance(one.message, ms.Control) and one.message.name is not None
        name, text, session = one.message.name, "", self._session
        try:
            if self._building is not building:
                raise ModelError(f"scene '{name}': another one was asked for meanwhile")
            if isinstance(world, Exception):
                raise world
            self.take(world, name, one.client)
        except ModelError as error:
            text = str(error)
        except Exception as error:  # a fault of ours: it ends neither the session nor in silence
            log.exception("%s: scene '%s' failed", one.client.name, name)
            text = f"the studio failed: {type(error).__name__}: {error}; see its log"
        done = ms.Reply(id=0, ok=True, text=f"scene '{name}'")
        session._reply(one, session._refuse(one, text) if text else done)

    def take(self, world: World, name: str, asked_by: Client | None = None) -> None:
        """Go on with another world, stopped where time stands still; who asked for it need not be told."""
        session = self._session
        session._end_steps("another scene came")
        before = self._present()
        world.paused = world.paused or session.world.paused
        history = self._begin(lambda: session._make_history(world))
        self.past = [*self.past, before][-KEPT:]
        self.future.clear()
        self._go_on(Open(name, history, Recording(world), Gestures(), {}, world.model))
        look_ahead(world.model, session._make_world, session.call, session._publisher)
        session._publisher.tell("info", f"the scene is now '{name}'; undo brings '{before.scene}' back", but=asked_by)

    def adopt(self, history: History, name: str) -> None:
        """Go on with a history that has a journal already, such as one that was left by a session before."""
        before = self._present()
        before.history.close()
        self.past, self.future = [*self.past, before][-KEPT:], []
        if not history.world.paused:
            history.apply(edits.Pause(True))
        self._go_on(Open(name, history, Recording(history.world), Gestures(), {}, Model("not saved")))

    def back(self) -> str:
        """To the scene before, as it was left."""
        here = self._present()
        there = self.past[-1]
        self._return_to(there)
        self.past.pop()
        self.future.append(here)
        return f"scene '{there.scene}' again, instead of '{here.scene}'"

    def forth(self) -> str:
        """To the scene that `back` left."""
        here = self._present()
        there = self.future[-1]
        self._return_to(there)
        self.future.pop()
        self.past.append(here)
        return f"scene '{there.scene}' again"

    def note_edit(self) -> None:
        """An edit was made: what `back` left is no longer ahead."""
        self.future.clear()
        self.choosing = False

    def _present(self) -> Open:
        session, publisher = self._session, self._session._publisher
        return Open(
            publisher.scene, session.history, session.recording, session.gestures, dict(publisher.off), self.saved,
            session.watching,
        )  # fmt: skip

    def _return_to(self, there: Open) -> None:
        """Go on with a scene that was left, in a journal of its own; time stands still in it."""
        self._session._end_steps("another scene came")

        def begin() -> History:
            take_over(there.history, self._session._make_history(there.history.world))
            return there.history

        self._begin(begin)
        self._go_on(there)
        if not self._session.world.paused:
            self._session.history.apply(edits.Pause(True))

    def _go_on(self, there: Open) -> None:
        session = self._session
        session.history, session.recording, session.gestures = there.history, there.recording, there.gestures
        session.world.between, session._undone_to = session._hear, (-1, -1)
        session.watching = there.watching
        session.watching.is_told = False
        session._publisher.scene, session._publisher.off = there.scene, there.off
        self.saved = there.saved
        self.count += 1
        self.choosing = False
        for client in session._clients:
            client.hands.clear()
        session._travelled()

    def _begin(self, make: Callable[[], History]) -> History:
        """A history around another world, in the place of the one that ends; that goes on if it cannot be."""
        history = self._session.history
        journal = history.journal
        history.close()
        try:
            return make()
        except Exception as error:
            if journal is not None:
                history.journal = Journal(journal.path)
            cause = error if isinstance(error, OSError) else error.__cause__
            if isinstance(cause, OSError):
                why = f"scene: its journal cannot be begun ({cause.strerror or cause})"
                raise ModelError(f"{why}; make room or choose another place; the scene before goes on") from error
            raise
