"""Loads that are put on bodies, changed and taken away while the mechanism runs.

A load of the model is changed there too; one that an edit brought is not a part of the model, as a hand is not.
"""

import numpy as np

from ..author.checks import vector
from ..author.parts import Load
from ..engine.system import EMPTY, System
from ..observe.bench import Bench
from .data import ApplyLoad, RemoveLoad
from .inputs import claim, joined, profiles_of, write_ints
from .refusal import EditError, known
from .registry import Answer, Desk, More, carries_out


@carries_out(ApplyLoad, subject=lambda edit: (edit.name,))
def apply_load(edit: ApplyLoad, desk: Desk) -> Answer | More:
    """Put a load on a body, or change the one of that name."""
    system = desk.bench.system
    owner = f"load {edit.name!r}"
    if not (isinstance(edit.name, str) and edit.name in system.load_names):
        claim(system, "load", edit.name)
    if edit.body == "ground":
        raise EditError(f"{owner}: acts on 'ground', which does not move; give another body")
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    if edit.frame not in ("world", "body"):
        raise EditError(f"{owner}: frame is {edit.frame!r}, expected 'world' or 'body'")
    items = [*profiles_of(owner, "force", edit.force, 3), *profiles_of(owner, "torque", edit.torque, 3)]
    load = _place(desk.bench, edit.name)
    if load is None:
        return More(loads=True)
    before = as_edit(system, load) if edit.name == system.load_names[load] else None
    system.load_names[load] = edit.name
    replaced = system.channels.put(system.arrays, inputs(system, load), items)
    write_ints(system.arrays.load_body, load, body)
    write_ints(system.arrays.load_in_body, load, int(edit.frame == "body"))
    replaced |= system.set_parameter("load_point", load, at)
    note(system, load)
    return Answer(f"{owner} acts on body '{edit.body}'", replaced, inverse=before or RemoveLoad(edit.name))


@carries_out(RemoveLoad)
def remove_load(edit: RemoveLoad, desk: Desk) -> Answer:
    """Take a load away."""
    system = desk.bench.system
    load = known("edit", "load", edit.name, acting(system))
    inverse = as_edit(system, load)
    write_ints(system.arrays.load_body, load, EMPTY)
    silenced = system.channels.silence(inputs(system, load).start, 6)
    if silenced:
        system.channels.write(system.arrays)
    return Answer(f"load '{edit.name}' is off", silenced, inverse=inverse)


def acting(system: System) -> dict[str, int]:
    """Loads that are on, by name."""
    bodies = system.arrays.load_body.numpy()
    return {name: k for k, name in enumerate(system.load_names) if name and bodies[k] != EMPTY}


def inputs(system: System, load: int) -> range:
    """The six channels of a load: force, torque."""
    first = int(system.arrays.load_channel.numpy()[load])
    return range(first, first + 6)


def _place(bench: Bench, name: str) -> int | None:
    """The place of a load: its own, a free one, or that of a load which is off, whose work is booked first."""
    system = bench.system
    for wanted in (name, None):
        if wanted in system.load_names:
            return system.load_names.index(wanted)
    off = np.flatnonzero(system.arrays.load_body.numpy() == EMPTY)
    own = [k for k in off if system.load_names[k] not in system.model.loads]
    if not own:
        return None
    state = bench.state
    past, work = state.read("past_parts").copy(), state.read("load_work").copy()
    past[0] += work[own[0]]
    work[own[0]] = 0.0
    state.write("past_parts", past)
    state.write("load_work", work)
    system.load_names[own[0]] = None
    return int(own[0])


def as_edit(system: System, load: int) -> ApplyLoad | None:
    """A load that acts, as the edit that would put it there."""
    body = int(system.arrays.load_body.numpy()[load])
    if body < 0:
        return None
    items = [system.channels.items[c] for c in inputs(system, load)]
    at = tuple(map(float, system.parameter("load_point")[load, 0]))
    frame = "body" if system.arrays.load_in_body.numpy()[load] else "world"
    name = str(system.load_names[load])
    return ApplyLoad(name, system.tree.bodies[body], tuple(items[:3]), tuple(items[3:]), at, frame)  # type: ignore[arg-type]


def note(system: System, load: int) -> None:
    """Have the model say of one of its loads what acts."""
    name = system.load_names[load]
    now = as_edit(system, load) if name in system.model.loads else None
    if now is not None:
        items = [system.channels.items[c] for c in inputs(system, load)]
        at, force, torque = np.array(now.at, float), joined(items[:3]), joined(items[3:])
        system.model = system.model.having("load", Load(now.name, now.body, force, torque, at, now.frame))
