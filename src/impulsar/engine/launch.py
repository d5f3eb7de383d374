"""Launches of kernels: once, or recorded, with the arguments packed once, to be called again and again.

What is launched for a kernel is its twin that shares structures: see shared.py. Arrays that are replaced in a structure
are followed.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import warp as wp

from . import stand_ins
from .device import announce_compilation
from .shared import FIRST, Descriptor, is_structure, shared
from .threads import ranges, run_in_threads


def launch(kernel: wp.Kernel, worlds: int | Sequence[int], inputs: Sequence[object], device: Any) -> None:
    """Launch a kernel once."""
    twin, given, _ = _prepared(kernel, inputs, str(device))
    wp.launch(twin, worlds, inputs=given, device=device)


class Launches:
    """Launches on one device that have structures in common: each is described there once, and followed."""

    def __init__(self, device: str):
        self.device = device
        self._descriptors: dict[int, Descriptor] = {}  # by the structure, which they keep
        self._is_cpu = wp.get_device(device).is_cpu

    def launch(self, kernel: wp.Kernel, threads: int, inputs: Sequence[object]) -> None:
        """Launch a kernel once."""
        twin, given, descriptors = self._prepared(kernel, inputs)
        for descriptor in descriptors:
            descriptor.follow()
        wp.launch(twin, threads, inputs=given, device=self.device)

    def record(self, kernel: wp.Kernel, threads: int, inputs: Sequence[object]) -> Callable[[], None]:
        """A function that launches the kernel on these arguments; record again when one of them is another."""
        twin, given, descriptors = self._prepared(kernel, inputs)
        return (
            _recorded(twin, given, threads, inputs)
            if self._is_cpu
            else _following(twin, given, descriptors, threads, inputs, self.device)
        )

    def follow(self) -> None:
        """Take over what has changed in structures, so that launches copy none: before they are recorded as a graph,
        and before a graph is launched."""
        for descriptor in self._descriptors.values():
            descriptor.follow()

    def _prepared(self, kernel: wp.Kernel, inputs: Sequence[object]) -> tuple:
        return _prepared(kernel, inputs, self.device, self._describe)

    def _describe(self, given: object) -> Descriptor:
        if id(given) not in self._descriptors:
            self._descriptors[id(given)] = Descriptor(given, self.device)
        return self._descriptors[id(given)]


def record_launch(
    kernel: wp.Kernel, worlds: int | Sequence[int], inputs: Sequence[object], device: str, threads: int = 1
) -> Callable[[], None]:
    """A function that launches the kernel on these arguments; record again when one of them is another.

    threads: of the CPU, among which the worlds are shared out.
    """
    if not stand_ins.stands_in_for(kernel, device):
        announce_compilation(kernel, device)
    twin, given, descriptors = _prepared(kernel, inputs, device)
    if not wp.get_device(device).is_cpu:
        return _following(twin, given, descriptors, worlds, inputs, device)
    whole = _recorded(twin, given, worlds, inputs)
    if threads == 1 or not isinstance(worlds, int) or FIRST not in twin.adj.arg_types:
        return whole
    parts = [_recorded(twin, [*given[:-1], _number(first)], n, inputs) for first, n in ranges(worlds, threads)]

    def launch_in_threads() -> None:
        run_in_threads(parts, threads)

    if hasattr(whole, "call"):
        launch_in_threads.call = whole.call  # type: ignore[attr-defined]
    launch_in_threads.keep = whole  # type: ignore[attr-defined]
    return launch_in_threads


def one_world(kernel: wp.Kernel, inputs: Sequence[object]) -> Callable[[int], None]:
    """A function that launches the kernel for one of many worlds, on the CPU; record again as above."""
    twin, given, _ = _prepared(kernel, inputs, "cpu")
    given[-1] = _number(0)
    first, launch_it = given[-1].numpy(), _recorded(twin, given, 1, inputs)

    def launch_one(world: int) -> None:
        first[0] = world
        launch_it()

    return launch_one


def _following(
    twin: wp.Kernel,
    given: Sequence[object],
    descriptors: Sequence[Descriptor],
    worlds: int | Sequence[int],
    inputs: Sequence[object],
    device: str,
) -> Callable[[], None]:
    """A recorded launch on a GPU, before which structures are followed."""
    command = wp.launch(twin, worlds, inputs=list(given), device=device, record_cmd=True)

    def launch_there() -> None:
        for descriptor in descriptors:
            descriptor.follow()
        command.launch()

    launch_there.keep = inputs, given  # type: ignore[attr-defined]  # the arrays stay alive
    return launch_there


def _recorded(twin: wp.Kernel, given: Sequence[object], worlds: int | Sequence[int], inputs: Sequence[object]) -> Any:
    """A recorded launch on the CPU, with the addresses of function, bounds and arguments as its `call`.

    Warp's own packs its arguments into one structure at every call, 1.7 us for ours. The structure stays the same, so
    it is built once here and given to the compiled function.
    """
    command = wp.launch(twin, worlds, inputs=list(given), device="cpu", record_cmd=True)
    bounds, *values = command.params
    fields = [(argument.label, type(value)) for argument, value in zip(twin.adj.args, values, strict=True)]
    packed = type("Arguments", (ctypes.Structure,), {"_fields_": fields})(*values)
    forward, references = command.hooks.forward, (ctypes.byref(bounds), ctypes.byref(packed))
    addresses = ctypes.addressof(bounds), ctypes.addressof(packed)
    if (one := stand_ins.find(twin)) is not None:
        return Following(one, references, addresses, (command, inputs, given, packed))

    def launch_here() -> None:
        forward(*references)

    launch_here.keep = command, inputs, given, packed  # type: ignore[attr-defined]  # module and arrays stay alive
    function = ctypes.cast(forward, ctypes.c_void_p).value
    launch_here.call = function, *addresses  # type: ignore[attr-defined]
    return launch_here


class Following:
    """A recorded launch of a kernel that another stands in for: from one launch to the next it is the kernel itself."""

    def __init__(self, one: stand_ins.StandIn, references: tuple, addresses: tuple[int, int], keep: tuple):
        self._one, self._references, self._addresses, self.keep = one, references, addresses, keep

    def __call__(self) -> None:
        self._one.forward(*self._references)

    @property
    def call(self) -> tuple[int, int, int]:
        """As any other has it, once it is the kernel itself: who notes it would call what stands in for good."""
        if self._one.stands_in:
            raise AttributeError("call")
        return ctypes.cast(self._one.forward, ctypes.c_void_p).value or 0, *self._addresses


def _prepared(
    kernel: wp.Kernel, inputs: Sequence[object], device: str, describe: Callable[[object], Descriptor] | None = None
) -> tuple:
    """What is launched for a kernel, its arguments, and those of them that are to follow."""
    twin = stand_ins.stands_in_for(kernel, device) or shared(kernel)
    descriptors: list[Descriptor] = []
    given = []
    for argument, value in zip(kernel.adj.args, inputs, strict=True):
        if twin is not kernel and is_structure(argument.type):
            descriptors.append(describe(value) if describe else Descriptor(value, device))
            value = descriptors[-1].array
        given.append(value)
    if FIRST in twin.adj.arg_types:
        given.append(_zero(device))
    return twin, given, descriptors


def _number(value: int) -> wp.array:
    return wp.full(1, value, dtype=wp.int32, device="cpu")


@cache
def _zero(device: str) -> wp.array:
    """The first of all worlds; never written to."""
    return wp.zeros(1, dtype=wp.int32, device=device)
