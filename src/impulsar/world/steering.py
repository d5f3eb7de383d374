"""Controllers that are Warp functions as part of a traced trajectory.

    u, z ← C(t, y(x, p), z, p)  when it is due        x ← F(x, u, p)

What controllers have written (u, the channels of motors and loads) and what they keep (z) are more rows behind those
of the state: held from step to step, and new where a controller is due, which is at the beginning of a step. The
function is the user's own, traced as the engine's are. Its gains are parameters of the model that it reads
("kp.value"), or constants of the module that it stands in, by name.
"""

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.errors import ModelError, StepError
from ..engine.compile.graph import refer
from ..engine.compile.step import STATE
from ..engine.compile.tracing import traced, translated
from ..engine.constrain.frames import follow_loops
from ..engine.coordinates.tree import kinematics
from .inside import NUMBER, PLACE, POSITION, RATE, SENSED, TURN, TWIST, function_of
from .ports import ChannelOutput

if TYPE_CHECKING:
    from .control import Controller
    from .world import World

VARIABLE, GAIN = "variable", "gain"  # inputs (VARIABLE, parameter of the model) and (GAIN, controller, constant)


def refuse_controllers(world: "World") -> None:
    """Refuse controllers and sensors that no traced step can have."""
    runner = world.runner
    if runner.system.model.sensors:
        raise ModelError("sensitivity: sensors are no part of a traced step; take it of a model without them")
    for one in runner.beats.controllers.values():
        owner = f"sensitivity: controller '{one.name}'"
        if not one.edit_is_warp:
            raise ModelError(f"{owner} is a Python callable, which cannot be traced; write it as a Warp function")
        if not one.prepare(runner) or not one.inside:
            raise ModelError(f"{owner} reads or writes what only the host has; see control.md, 'Where it is called'")
    if runner.beats.controllers and runner.beats.splits:
        raise ModelError(
            f"sensitivity: controllers act between steps of dt = {world.dt:g} s; take a dt that divides their periods"
        )


def gains_of(one: "Controller") -> dict[str, float]:
    """Constants of the module that a controller's function reads."""
    made = translated(function_of(one.edit.controller).func)
    found = {name: made.__globals__.get(name) for name in made.__code__.co_names}
    return {name: value for name, value in found.items() if isinstance(value, float)}


@dataclass(frozen=True)
class Place:
    """Rows of one controller behind those of the state."""

    name: str
    channels: tuple[int, ...]
    outputs: int  # its first row
    memory: int  # its first row
    kept: int  # how many numbers it keeps


class Steering:
    """The controllers of a world, in the order in which they act."""

    def __init__(self, world: "World"):
        self.world, at = world, world.state.numpy().shape[0]
        self.places: list[Place] = []
        for one in world.runner.beats.controllers.values():
            _, outs = one.ports(world.runner)
            channels = tuple(row for out in outs if isinstance(out, ChannelOutput) for row in out.rows)
            self.places.append(Place(one.name, channels, at, at + len(channels), one.edit.memory))
            at += len(channels) + one.edit.memory
        self.end = at
        self.due: list[tuple[int, ...]] = []  # controllers that act before each step

    def _controller(self, place: Place) -> "Controller":
        return self.world.runner.beats.controllers[place.name]

    def rows(self) -> np.ndarray:
        """What controllers have written and kept, now [row, world]."""
        worlds = self.world.worlds
        data = self.world.system.arrays.channel_a.numpy()
        found = [np.zeros((0, worlds))]
        for place in self.places:
            found.append(np.broadcast_to(data[list(place.channels)], (len(place.channels), worlds)))
            program = self._controller(place).program
            if place.kept and program is not None:
                found.append(program.z.numpy().T)
        return np.concatenate(found)

    def act(self) -> None:
        """Let those act that are due now, as the world does."""
        beats, t = self.world.runner.beats, self.world.runner.time
        ones = [self._controller(place) for place in self.places]
        self.due.append(tuple(k for k, one in enumerate(ones) if beats.is_due(one, t)))
        if not self.due[-1]:
            return
        beats.inside = None
        before = sum(one.faults for one in ones)
        beats.depart()
        if sum(one.faults for one in ones) > before:
            told = next(iter(beats.faults.values()))
            raise StepError(f"sensitivity: {told}")

    def pass_by(self) -> None:
        """One more sub-step, between which nothing is due."""
        self.due.append(())

    def trace(self, due: tuple[int, ...], sample: np.ndarray, graph: Any, m: Any, s: Any, x: Any, w: Any) -> dict:
        """Put what is written in place of the channels; what is new, by row. sample: of the rows of all [row]."""
        held = {row: graph.input((STATE, row), sample[row]) for row in range(self.places[0].outputs, self.end)}
        if due:
            traced(kinematics)(m, s, x, 0.0, w)
            traced(follow_loops)(m, s, x, w)
        new: dict[int, Any] = {}
        for k, place in enumerate(self.places):
            own = range(place.outputs, place.memory)
            written = [held[row] for row in own]
            if k in due:
                kept = [held[place.memory + i] for i in range(place.kept)]
                self._call(place, written, kept, graph, m, s, x, w)
                new |= dict(zip(range(place.outputs, place.memory + place.kept), written + kept, strict=True))
            for channel, value in zip(place.channels, written, strict=True):
                m.channel_a.data[(channel,)] = value
        return {row: refer(value) for row, value in new.items()}

    def _call(self, place: Place, u: list, z: list, graph: Any, m: Any, s: Any, x: Any, w: Any) -> None:
        one = self._controller(place)
        made = translated(function_of(one.edit.controller).func)
        gains = {name: graph.input((GAIN, one.name, name), value) for name, value in gains_of(one).items()}
        function = FunctionType(made.__code__, {**made.__globals__, **gains})
        y = [self._read(what, row, part, graph, m, s, x, w) for what, row, part in one.gathers or ()]
        function(s.time[0, w], y, u, *([z] if place.kept else []))

    def _read(self, what: int, row: int, part: int, graph: Any, m: Any, s: Any, x: Any, w: Any) -> Any:
        """One input, as `gather_kernel` has it."""
        from .outcomes import of_joint

        if what in (POSITION, RATE):
            name = self.world.readout.coordinates[row]
            return of_joint(self.world, name, "position" if what == POSITION else "velocity")(m, s, x, w)
        if what == NUMBER:
            name, parameter = list(self.world.model.parameters.items())[row]
            return graph.input((VARIABLE, name), float(parameter.value))
        assert what != SENSED
        return {PLACE: x.p_WB, TURN: x.q_WB, TWIST: x.twist}[what][row, w].c[part]
