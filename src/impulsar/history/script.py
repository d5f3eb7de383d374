"""A model, a world or a session as a Python program that gives the same bits."""

from dataclasses import fields
from typing import Any

from ..author.errors import ModelError
from ..author.model import Model
from ..edits import data as edits
from ..io.python import imports, literal, model_to_python, to_script
from ..version import __version__
from ..world.world import World
from .history import History
from .timeline import Limit

# arguments of World that a session can begin with, and what they are by default
DEFAULTS: dict[str, Any] = {"worlds": 1, "max_speed": None, "max_hand_force": None, "strict": False}


def to_python(thing: Model | World | History) -> str:
    """A program that builds a model as it is now and runs it; of a History, one that builds the model it began with and
    takes its steps and edits up to the present, so that the world's hash is that of the session's."""
    if isinstance(thing, History):
        return history_to_python(thing)
    if isinstance(thing, World):
        thing = thing.model
    if not isinstance(thing, Model):
        raise ModelError(f"to_python: got {thing!r:.100}, expected a Model, a World or a History")
    return to_script(thing)


def history_to_python(history: History) -> str:
    """Model, world, steps and edits of a session, from its start to where it is."""
    marks = sorted((*history._marks, *history._written), key=lambda mark: (mark.step, mark.position))
    start = marks[0] if marks else None
    snapshot = None if start is None else history._snapshot(start)
    if start is None or snapshot is None or start.along or history._first or snapshot.steps:
        raise ModelError(
            "to_python: the session's start is no longer kept; write its model instead, history.world.model"
        )
    body = [model_to_python(snapshot.present or snapshot.model), "", _world(history.world, snapshot)]
    count = 0
    for event in history._events[: history.position]:
        if event.step > count:
            body.append(f"world.step({event.step - count})")
            count = event.step
        if isinstance(event.edit, Limit):
            body.append(f"world.runner.work_limit = {event.limit}")
        elif not isinstance(event.edit, edits.Pause):  # it changes no state
            body.append(f"world.apply({literal(event.edit)})")
    if history.count > count:
        body.append(f"world.step({history.count - count})")
    text = "\n".join(body)
    title = history.world.model.name.replace("\\", "\\\\").replace('"', "'")
    return (
        f'"""A session with {title}, written by impulsar {__version__}.\n\n'
        f"On the machine where it was made, it ends with the state whose hash is {history.world.hash()}.\n"
        f'"""\n\n{imports(text)}\n{text}\n'
        'print(f"t = {world.time:g} s, hash {world.hash()}")\nprint(world.energy())\n'
    )


def _world(world: World, snapshot: Any) -> str:
    """The call that makes the world of a session, as it began."""
    method = snapshot.method
    own = {entry.name: getattr(method, entry.name) for entry in fields(method) if entry.init}
    usual = type(method)()
    options = ", ".join(f"{name}={literal(value)}" for name, value in own.items() if value != getattr(usual, name))
    of_clamps = {name: getattr(world.clamps, name, None) for name in ("max_speed", "max_hand_force")}
    rest = {"coordinates": snapshot.coordinates, "dt": snapshot.dt, "worlds": world.worlds, **of_clamps}
    given = ", ".join(f"{key}={literal(value)}" for key, value in rest.items() if value != DEFAULTS.get(key, "said"))
    return f"world = im.World(model, method=im.methods.{type(method).__name__}({options}), {given})"
