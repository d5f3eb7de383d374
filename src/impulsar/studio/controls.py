"""What clients control: each function carries out the control of its name and returns what it did."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import edits
from ..author.errors import ModelError
from ..io import edit_to_json
from . import messages as ms
from .asked import switched, vectors_of, whole_of
from .clock import SPEEDS
from .freedoms import mobility_of
from .publisher import Client

if TYPE_CHECKING:
    from .session import Session

MOST_STEPS = 10_000  # of one `step`
MOST_OFF = 100  # loads and motors that are kept switched off


def pause(session: "Session", message: ms.Control, client: Client) -> str:
    if not session.world.paused:
        session.history.apply(edits.Pause(True))
    return "time stands still"


def run(session: "Session", message: ms.Control, client: Client) -> str:
    if session.world.paused:
        session.history.apply(edits.Pause(False))
        session._restart_clock()
    return "time runs"


def step(session: "Session", message: ms.Control, client: Client) -> str:
    return session.take_single_steps(whole_of("step", message.value, 1, MOST_STEPS), message, client)


def speed(session: "Session", message: ms.Control, client: Client) -> str:
    low, high = SPEEDS
    if message.value is None or not low <= message.value <= high:
        raise ModelError(f"speed is {message.value}, expected a number from {low:g} to {high:g}")
    session.clock.speed = float(message.value)
    session._restart_clock()
    return f"{session.clock.speed:g} times real time"


def steps_per_frame(session: "Session", message: ms.Control, client: Client) -> str:
    session.clock.steps_per_frame = whole_of("steps_per_frame", message.value, 4, 1000)
    return f"{session.clock.steps_per_frame} steps per frame"


def seek(session: "Session", message: ms.Control, client: Client) -> str:
    if message.value is None:
        raise ModelError("seek: value is missing; give a time [s]")
    session.history.seek(float(message.value))
    session._travelled()
    return f"at t = {session.world.time:.6g} s"


def undo(session: "Session", message: ms.Control, client: Client) -> str:
    """Back to before the last gesture."""
    history = session.history
    if history.undoable is None and session.opening.past:
        return session.opening.back()
    edit = history.undo(session.gestures.start(history.position))
    session._undone_to = (history.count, history.position)
    session._travelled()
    return f"before {type(edit).__name__}, at t = {session.world.time:.6g} s"


def redo(session: "Session", message: ms.Control, client: Client) -> str:
    """To where undo was called; a parameter, but no pull of a hand, is set again if time has gone on since."""
    history = session.history
    if history.redoable is None and session.opening.future:
        return session.opening.forth()
    if history.redoable is not None and not session._can_redo:
        raise edits.EditError("redo: time has gone on since the pull was undone; pull again")
    edit = history.redo()
    session._undone_to = (history.count, history.position)
    session._travelled()
    return f"{type(edit).__name__} again, at t = {session.world.time:.6g} s"


def revert(session: "Session", message: ms.Control, client: Client) -> str:
    answer = session.history.revert()
    session._describe()
    return answer.text


def reset(session: "Session", message: ms.Control, client: Client) -> str:
    session.history.apply(edits.Reset())
    session._travelled()
    return "at the start"


def scene(session: "Session", message: ms.Control, client: Client) -> str:
    return session.opening.ask(message, client)


def recover(session: "Session", message: ms.Control, client: Client) -> str:
    return session.opening.recover()


def discard(session: "Session", message: ms.Control, client: Client) -> str:
    return session.opening.discard()


def watch(session: "Session", message: ms.Control, client: Client) -> str:
    session.watching.add(session.world, message.name, message.parameters or {})
    return f"event '{message.name}' is watched"


def unwatch(session: "Session", message: ms.Control, client: Client) -> str:
    session.watching.remove(session.world, message.name)
    return f"event '{message.name}' is watched no longer"


def record(session: "Session", message: ms.Control, client: Client) -> str:
    session.recording.clear()
    session.watching.forget()
    return f"the results begin at t = {session.world.time:.6g} s"


def keep(session: "Session", message: ms.Control, client: Client) -> str:
    off, (what, edit) = session._publisher.off, switched("keep", message)
    if what not in off and len(off) >= MOST_OFF:
        raise ModelError(f"keep: {MOST_OFF} loads and motors are switched off; remove some")
    if what not in off:
        session._check_tables(edit)
    off[what] = edit_to_json(edit)
    session._describe()
    return f"{' '.join(map(str, what))} is kept"


def forget(session: "Session", message: ms.Control, client: Client) -> str:
    what, _ = switched("forget", message)
    session._publisher.off.pop(what, None)
    session._describe()
    return f"{' '.join(map(str, what))} is forgotten"


def mobility(session: "Session", message: ms.Control, client: Client) -> str:
    return mobility_of(session.world)


def vectors(session: "Session", message: ms.Control, client: Client) -> str:
    client.vectors = vectors_of(message)
    return f"vectors: {', '.join(client.vectors) or 'none'}"


def hash(session: "Session", message: ms.Control, client: Client) -> str:
    return session.world.hash()


CONTROLS: dict[str, Callable[["Session", ms.Control, Client], str]] = {
    control.__name__: control
    for control in (
        pause,
        run,
        step,
        speed,
        steps_per_frame,
        seek,
        undo,
        redo,
        revert,
        reset,
        scene,
        recover,
        discard,
        watch,
        unwatch,
        record,
        keep,
        forget,
        mobility,
        vectors,
        hash,
    )
}
