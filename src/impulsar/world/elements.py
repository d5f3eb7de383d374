"""Elements of arrays that causes change, their values, and which rows of the state count for outcomes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.compile.adjoint import Places
from ..engine.compile.graph import Graph, Scalar
from ..engine.compile.step import PARAMETER, STATE, TracedStep
from ..engine.compile.tangent import reached
from .causes import PROBE, Cause
from .steering import GAIN, VARIABLE, gains_of

if TYPE_CHECKING:
    from .world import World


def value_of(world: "World", name: tuple) -> np.ndarray:
    """Of an element of a world [world]."""
    worlds = world.worlds
    if name[0] == VARIABLE:
        return np.full(worlds, float(world.model.parameters[name[1]].value))
    if name[0] == GAIN:
        return np.full(worlds, gains_of(world.runner.beats.controllers[name[1]])[name[2]])
    if name[0] == PROBE:
        return np.full(worlds, world.model.probes[name[1]].p_BQ[name[2]])
    _, array, part, component = name
    index = part if isinstance(part, tuple) else (part,)
    data = getattr(world.system.arrays, array)
    values = data.numpy()[index]
    if data.ndim > len(index):  # [world, ...]
        return np.reshape(values, (values.shape[0], -1))[:, component]
    return np.full(worlds, np.ravel(values)[component])


def elements_of(causes: Sequence[Cause]) -> tuple[list[tuple], dict[str, set[tuple[int, ...]]]]:
    """Elements that causes change, and of arrays of the system those that are inputs of steps."""
    elements = sorted({name for cause in causes for name in cause.elements}, key=str)
    followed: dict[str, set[tuple[int, ...]]] = {}
    for name in elements:
        if name[0] == PARAMETER:
            followed.setdefault(name[1], set()).add(name[2] if isinstance(name[2], tuple) else (name[2],))
    return elements, followed


def starts_of(rows: Sequence[int], causes: Sequence[Cause]) -> np.ndarray:
    """Derivatives of rows of the start by causes [row, cause]."""
    return np.array([cause.start.get(row, 0.0) for row in rows for cause in causes]).reshape(len(rows), len(causes))


def by_causes(
    causes: Sequence[Cause], start: np.ndarray, adjoint: np.ndarray, places: Places, of_elements: np.ndarray
) -> np.ndarray:
    """Gradients by causes [cause, world], from λ of the start [row, world] and those of elements [element, world]."""
    total = np.einsum("rc,rw->cw", start, adjoint)
    for j, cause in enumerate(causes):
        for name, slope in cause.elements.items():
            if name in places.of_parameter:
                total[j] += slope * of_elements[places.parameters.index(name)]
    return total


def rows_that_count(
    world: "World", count: int, steps: Sequence[TracedStep], views: "Sequence[tuple[Graph, list[int | float]]]"
) -> list[int]:
    """Rows of a state on which outcomes, and times of changes, depend over any number of steps; sizes are held."""
    rows = range(count)
    names: dict[Any, int] = {(STATE, row): row for row in rows}
    state = world.state
    for block in state.layout.of(type(world.method)) if world.method.name == "direct" else ():
        for row in rows[state.rows[block]]:
            del names[STATE, row]
    needs: dict[int, int] = dict.fromkeys(rows, 0)
    wanted = 0
    for step in steps:
        bits = reached(step.graph, names)
        for time in step.changes.times if step.changes is not None else ():
            wanted |= bits[time.at] if isinstance(time, Scalar) else 0
        for row, value in step.outputs.items():
            needs[row] |= bits[value] if isinstance(value, int) else 0
    for graph, roots in views:
        bits = reached(graph, names)
        for root in roots:
            wanted |= bits[root] if isinstance(root, int) else 0
    while True:
        more = wanted
        for row in rows:
            if wanted >> row & 1:
                more |= needs[row]
        if more == wanted:
            return [row for row in rows if wanted >> row & 1]
        wanted = more


def by_rows(pull: Callable[[np.ndarray], np.ndarray], values: np.ndarray, causes: int) -> np.ndarray:
    """Derivatives [sample, outcome, cause, world] of values, by a pull for each outcome of each sample."""
    out = np.zeros((*values.shape[:2], causes, values.shape[2]))
    for i, j in np.ndindex(values.shape[:2]):
        given = np.zeros_like(values)
        given[i, j] = 1.0
        out[i, j] = pull(given)
    return out
