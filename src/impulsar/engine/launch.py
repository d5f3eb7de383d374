"""Recorded launches: a kernel with its arguments packed once, to be called again and again."""

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import warp as wp

from .device import announce_compilation


def record_launch(
    kernel: wp.Kernel, worlds: int | Sequence[int], inputs: Sequence[object], device: str
) -> Callable[[], None]:
    """A function that launches the kernel on these arguments; record again when an array is replaced.

    On the CPU, Warp's recorded launch packs its arguments into one structure at every call, 1.7 us for
    ours. The structure stays the same, so it is built once here and given to the compiled function.
    """
    announce_compilation(kernel, device)
    command = wp.launch(kernel, worlds, inputs=list(inputs), device=device, record_cmd=True)
    if not wp.get_device(device).is_cpu:
        return command.launch
    packed, forward, references = _packed(kernel, command)

    def launch() -> None:
        forward(*references)

    launch.keep = command, inputs, packed  # type: ignore[attr-defined]  # the module and the arrays stay alive
    function = ctypes.cast(forward, ctypes.c_void_p).value
    launch.call = function, ctypes.addressof(command.params[0]), ctypes.addressof(packed)  # type: ignore[attr-defined]
    return launch


def record_reading(
    kernel: wp.Kernel, worlds: int | Sequence[int], inputs: Sequence[object], device: str
) -> Callable[[], None]:
    """The same for readings: it follows arrays that are replaced in the structures among the arguments.

    On the CPU these are copied anew at every call, 0.2 us each; elsewhere the kernel is launched in the plain way.
    """
    announce_compilation(kernel, device)
    if not wp.get_device(device).is_cpu:
        return lambda: wp.launch(kernel, worlds, inputs=list(inputs), device=device)
    command = wp.launch(kernel, worlds, inputs=list(inputs), device=device, record_cmd=True)
    packed, forward, references = _packed(kernel, command)
    start, layout = ctypes.addressof(packed), type(packed)
    copies = [
        (start + getattr(layout, name).offset, ctypes.addressof(given.__ctype__()), ctypes.sizeof(kind))
        for (name, kind), given in zip(layout._fields_, inputs, strict=True)
        if hasattr(given, "__ctype__") and not isinstance(given, wp.array)
    ]

    def launch() -> None:
        for place, given, size in copies:
            ctypes.memmove(place, given, size)
        forward(*references)

    launch.keep = command, inputs, packed  # type: ignore[attr-defined]
    return launch


def one_world(kernel: wp.Kernel, inputs: Sequence[object], shared: set[str]) -> Callable[[int], None]:
    """A function that launches the kernel for one of many worlds, on the CPU; record again as above.

    The kernel takes it for the first: arrays of two dimensions begin there, but those that are `shared`, by name.
    """
    command = wp.launch(kernel, 1, inputs=list(inputs), device="cpu", record_cmd=True)
    packed, forward, references = _packed(kernel, command)
    places, pitches = [], []

    def note(kind: type, given: object, start: int) -> None:
        for field, inner in kind._fields_:  # type: ignore[attr-defined]
            value, at = getattr(given, field), start + getattr(kind, field).offset
            if not isinstance(value, wp.array):
                note(inner, value, at)
            elif value.ndim == 2 and field not in shared:
                places.append(at // 8)  # its pointer comes first
                pitches.append(value.strides[1])

    for (name, kind), given in zip(type(packed)._fields_, inputs, strict=True):
        note(kind, given, getattr(type(packed), name).offset)
    words = np.frombuffer(packed, np.uint64, ctypes.sizeof(packed) // 8)
    first, pitch = words[places].copy(), np.array(pitches, np.uint64)

    def launch(world: int) -> None:
        words[places] = first + np.uint64(world) * pitch
        forward(*references)

    launch.keep = command, inputs, packed  # type: ignore[attr-defined]
    return launch


def _packed(kernel: wp.Kernel, command: wp.Launch) -> tuple:
    """Arguments of a recorded launch in one structure, the compiled function, and what it is called with."""
    bounds, *values = command.params
    fields = [(argument.label, type(value)) for argument, value in zip(kernel.adj.args, values, strict=True)]
    packed = type("Arguments", (ctypes.Structure,), {"_fields_": fields})(*values)
    return packed, command.hooks.forward, (ctypes.byref(bounds), ctypes.byref(packed))
