"""A world frozen: the kernels of its step and readings, the memory they work on, and what its numbers are called.

Wang 2011 writes a model's code for other programs; here it is the engine's own kernel, with a world's arrays, so that
its bits are the engine's.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import warp as wp

from ...author.errors import ModelError
from ...author.parts import FINITE, NOT_NEGATIVE, PARTS, POSITIVE
from ...edits.parameters import Target, of_part
from ...engine.state import TILL_STIFFER
from ...engine.system import System
from ...engine.system.channels import CONSTANT
from ...engine.system.measured import BROKEN
from ...world.world import World
from ..c99 import NUMBERS, identifier, prefix
from .image import Image, take_image
from .kernels import kernel_text

ENERGIES = ("kinetic", "potential", "elastic", "work", "loss", "imbalance")
STEP, REFRESH, COORDINATES, BOOKS = range(4)  # the kernels
MOTOR, LOAD, CURRENT = "motor of joint ", "load ", "fluid "  # how owners of channels begin
TUNED = ("body", "spring", "joint")  # kinds of parts whose numbers can be set
RULES = {FINITE: "", NOT_NEGATIVE: ">= 0", POSITIVE: "> 0"}  # that C checks; numbers with others stay


@dataclass(frozen=True)
class Port:
    """A number of a frozen world."""

    name: str  # in C
    told: str  # what it is, in words
    unit: str
    words: tuple[int, ...]  # where it is in memory; set, all of them are
    start: float = 0.0
    holds: bool = False  # of inputs: it stays as it is set; else it is a number of a profile
    rule: str = ""  # of parameters: what it has to be


@dataclass(frozen=True)
class Frozen:
    """What C, C++ and an FMU are written of."""

    name: str
    title: str  # of the model
    method: str
    dt: float
    image: Image
    inputs: list[Port]
    parameters: list[Port]
    time: Port
    coordinates: list[Port]
    rates: list[Port]
    bodies: dict[str, tuple[str, list[Port]]]  # name in C: (the body's, position, orientation, velocity, turning)
    energies: list[Port]
    states: list[str]
    places: dict[str, int]  # words of what a step needs
    stale: list[tuple[int, int]]  # words that are 0 again when a parameter was set: (first, how many)
    substeps: int
    notes: list[str]

    @property
    def outputs(self) -> list[Port]:
        """All, in the order of the struct in C."""
        poses = [port for _, ports in self.bodies.values() for port in ports]
        return [self.time, *self.coordinates, *self.rates, *poses, *self.energies]

    @cached_property
    def kernel_text(self) -> str:
        """Generated C++ of the kernels."""
        return kernel_text(tuple(call.kernel for call in self.image.calls))

    @cached_property
    def tag(self) -> str:
        """What tells its kernels from another's in one program."""
        return hashlib.blake2b(
            b"".join([self.name.encode(), self.image.words.tobytes(), self.kernel_text.encode()]), digest_size=8
        ).hexdigest()


def freeze(world: World, name: str = "") -> Frozen:
    """A world as it is now; name: prefix of all names in C, by default made of the model's."""
    notes = _refuse(world)
    runner, system, state, work = world.runner, world.runner.system, world.runner.state, world.runner.work
    runner.refresh()
    readout = runner.readout
    freedoms, energies = readout.freedom_reading, readout.energy_reading
    image = take_image([runner.launch, runner.refresh, freedoms.recorded(), energies.recorded()], [state.array])
    first = image.place(state.array)
    taken: set[str] = {"time"}

    def port(told: str, unit: str, word: int) -> Port:
        return Port(identifier(told, taken), told, unit, (word,))

    time = Port("time", "time", "s", (first + state.rows["time"].start,))
    position, rate = (_first(image, array) for array in freedoms.out)
    units = readout.coordinate_units
    coordinates = [port(one, units[k], position + k) for k, one in enumerate(readout.coordinates)]
    rates = [port(f"{one} rate", f"{units[k]}/s", rate + k) for k, one in enumerate(readout.coordinates)]
    bodies = {}
    for body, i in system.body_index.items():
        inside: set[str] = set()
        bodies[identifier(f"body {body}", taken)] = (
            body,
            [
                Port(identifier(f"{what} {axis}", inside), f"{body} {what} {axis}", unit, (word + k,))
                for what, axes, unit, word in (
                    ("position", "xyz", "m", image.place(work.p_WB) + 3 * i),
                    ("orientation", "xyzw", "1", image.place(work.q_WB) + 4 * i),
                    ("velocity", "xyz", "m/s", image.place(work.twist) + 6 * i + 3),
                    ("angular velocity", "xyz", "rad/s", image.place(work.twist) + 6 * i),
                )
                for k, axis in enumerate(axes)
            ],
        )
    books = _first(image, energies.out[0])
    kinds = [port(f"{one} energy" if k < 3 else one, "J", books + k) for k, one in enumerate(ENERGIES)]
    arrays = system.arrays
    places = {
        "state": first,
        "broken": image.place(work.report) + BROKEN,
        "h": image.place(arrays.h),
        "nominal_h": image.place(arrays.nominal_h),
        "steps": image.place(arrays.steps),
        "edits": first + state.rows["edits"].start,
        "energy": image.place(work.energy),
    }
    inputs = list(_inputs(world, image))
    parameters = list(_parameters(world, image))
    return Frozen(
        prefix(name or world.model.name), world.model.name, runner.method.name, runner.dt, image, inputs,
        parameters, time, coordinates, rates, bodies, kinds, _state_names(world), places,
        _stale(world, first), runner.substeps, notes,
    )  # fmt: skip


def _first(image: Image, array: wp.array) -> int:
    """Where an array begins; 0 of one that has no elements."""
    return image.place(array) if array.size else 0


def _refuse(world: World) -> list[str]:
    """Raise ModelError at what a step alone does not have; lines on what is left out."""
    runner = world.runner
    if runner.worlds != 1 or runner.device != "cpu":
        raise ModelError(f"export: a frozen step is of one world on the CPU, not of {runner.worlds} on {runner.device}")
    for what, found in (
        ("a script of edits", runner.script),
        ("inputs that are Python callables or formulas", runner.system.channels.callables),
        ("controllers", runner.beats.controllers),
        ("clamps", runner.clamps),
        ("sensors that divide its steps", runner.beats and runner.beats.splits),
    ):
        if found:
            raise ModelError(f"export: model '{world.model.name}' has {what}, which C has not; leave them out")
    if not hasattr(runner.launch, "keep"):
        raise ModelError(f"export: steps of method {runner.method.name} are not taken by one kernel; take direct")
    sensors = list(world.model.sensors)
    return [f"left out: sensors {', '.join(sensors)}"] if sensors else []


def _inputs(world: World, image: Image) -> Iterator[Port]:
    """Numbers of the channels of motors, loads and currents; a table has none."""
    system, taken = world.runner.system, set[str]()
    kinds = system.arrays.channel_kind.numpy()
    owners = [system.channel_owner(c) for c in range(len(kinds))]
    for c, owner in enumerate(owners):
        if not owner.startswith((MOTOR, LOAD, CURRENT)) or int(kinds[c]) not in NUMBERS:
            continue
        several = [k for k, other in enumerate(owners) if other == owner]
        told = owner.replace(MOTOR, "motor ") + (f" {'xyz'[several.index(c)]}" if len(several) > 1 else "")
        unit = "N m" if "torque" in owner else "N" if owner.startswith(LOAD) else ""
        for array, number in zip("abcd", NUMBERS[int(kinds[c])], strict=False):
            values = getattr(system.arrays, f"channel_{array}")
            full = f"{told} {number}".strip()
            holds = int(kinds[c]) == CONSTANT
            start = float(values.numpy()[c, 0])
            yield Port(identifier(full, taken), full, unit, (image.place(values) + c,), start, holds)


def _parameters(world: World, image: Image) -> Iterator[Port]:
    """Scalars of parts that one array holds, of all that `World.set` takes."""
    system, model, taken = world.runner.system, world.model, set[str]()
    gravity = image.place(system.arrays.gravity)
    for k, axis in enumerate("xyz"):
        start = float(system.arrays.gravity.numpy()[0, 0][k])
        yield Port(identifier(f"gravity {axis}", taken), f"gravity {axis}", "m/s²", (gravity + k,), start)
    for kind in TUNED:
        for name in getattr(model, PARTS[kind].plural):
            for what, target in of_part(system, name).items():
                if target.kind != kind:  # of a model with a part of its own name
                    continue
                path = f"{name}.{what}"
                if (found := _parameter(system, image, path, target)) is not None:
                    yield replace(found, name=identifier(path, taken))


def _parameter(system: System, image: Image, path: str, target: Target) -> Port | None:
    """A scalar that stands for itself: no other limits it, and nothing follows from it but steps."""
    own = target.parameter
    bounded = own.at_least or any(own.name == other.at_least for other in PARTS[target.kind].parameters)
    if own.inputs is not None or own.optional or own.rule not in RULES or own.name in ("lower", "upper") or bounded:
        return None
    if system.width(own.array):
        return None
    unit = own.unit
    if target.groups:
        group = system.model.joints[target.name].kind.group(target.groups[0])
        unit = unit.format(**group.units)
    values = getattr(system.arrays, own.array)
    words = tuple(image.place(values) + row for row in target.rows)
    return Port("", path, unit, words, float(values.numpy()[target.rows[0], 0]), rule=RULES[own.rule])


def _state_names(world: World) -> list[str]:
    return [
        f"{name}[{k}]" for name, rows in world.runner.state.rows.items() for k in range(rows.stop - rows.start)
    ]  # fmt: skip


def _stale(world: World, first: int) -> list[tuple[int, int]]:
    state = world.runner.state
    return [
        (first + state.rows[name].start, block.rows)
        for name, block in state.layout.blocks.items()
        if "." in name and block.lasts == TILL_STIFFER
    ]
