"""Compiled text on a GPU: by the NVRTC that Warp carries, which needs no driver; launched by Warp's own entry points.

    compiled     text to code for a generation of GPUs (cubin), or to PTX where this NVRTC does not know it; on disk
    CudaKernel   such code on a device of Warp's, and its launches on the device's stream
    HostKernel   the same text on the CPU, one thread after the other: the same arguments, the same bits
    Bound        launches of one of them, its arguments packed once

By `fuse` products and sums are fused, which saves a third of the instructions of a step that is limited by arithmetic.
Without it bits are those of the CPU's compiled text.
"""

import ctypes
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import warp as wp
from warp._src import build, context

from ...author.errors import ModelError
from .backend import LEVEL, compile_text, keep
from .emit_cuda import BACK, RUN, on_host

KINDS = {"run": RUN, "back": BACK}
C_TYPES = {"long long": ctypes.c_longlong, "int": ctypes.c_int}  # all else is an address
PROPERTIES = ("registers", "local bytes")
BOUNDS = re.compile(r"__launch_bounds__\((\d+),")


class Kernel:
    """A kernel that is launched with one thread a world."""

    name: str

    def start(self, worlds: int, places: Any) -> None:
        """Launch it; places: the addresses of its arguments."""
        raise NotImplementedError

    def launch(self, worlds: int, *given: Any) -> None:
        """given: addresses and numbers, as the text has them."""
        self.bind(worlds, *given)()

    def bind(self, worlds: int, *given: Any) -> "Bound":
        """Its launches on arguments that are packed once."""
        return Bound(self, worlds, given)


class Bound:
    """Launches of a kernel; `set` changes one of its arguments."""

    def __init__(self, kernel: Kernel, worlds: int, given: Sequence[Any]):
        self.kernel, self._worlds = kernel, worlds
        kinds = KINDS[kernel.name]
        self._values = [C_TYPES.get(kind, ctypes.c_void_p)(value) for kind, value in zip(kinds, given, strict=True)]
        self._places = (ctypes.c_void_p * len(kinds))(*map(ctypes.addressof, self._values))

    def set(self, place: int, value: int) -> None:
        self._values[place].value = value

    def __call__(self) -> None:
        self.kernel.start(self._worlds, self._places)


def compiled(text: str, arch: int, fuse: bool = False, ptx: bool = False) -> Path:
    """The file that a text is compiled to, for a generation of GPUs: 90 is Hopper."""
    known = context.runtime.nvrtc_supported_archs
    if not known:
        raise ModelError("compile: this Warp carries no NVRTC; take compile='off'")
    ptx = ptx or arch not in known
    target = min(arch, max(known)) if ptx else arch
    how = f"nvrtc {context.runtime.get_nvrtc_version()} sm_{target} fuse {fuse} warp {wp.__version__}"

    def build_file(source: Path, beside: Path) -> None:
        try:
            build.build_cuda(
                str(source), target, str(beside), pch_dir=None, fuse_fp=fuse, use_precompiled_headers=False
            )
        except Exception as error:  # Warp raises it bare
            raise RuntimeError(f"the compiled step {source.name} is refused by NVRTC: {error}") from error

    return keep(text, how, ("cu", "ptx" if ptx else "cubin"), build_file)[0]


def threads_of(text: str) -> int:
    """Threads of a block, as a text's kernel has them."""
    found = BOUNDS.search(text)
    assert found is not None
    return int(found[1])


class CudaKernel(Kernel):
    """A kernel of a text on a CUDA device of Warp's."""

    def __init__(self, text: str, name: str, device: str, fuse: bool = False):
        self.name, self.device = name, wp.get_device(device)
        self._path, self.threads = str(compiled(text, self.device.arch, fuse)), threads_of(text)
        core = context.runtime.core
        self._module = core.wp_cuda_load_module(self.device.context, self._path.encode())
        self._kernel = (
            core.wp_cuda_get_kernel(self.device.context, self._module, name.encode()) if self._module else None
        )
        if not self._kernel:
            raise RuntimeError(f"the compiled step {self._path} cannot be loaded; delete it")

    def __del__(self) -> None:
        runtime = getattr(context, "runtime", None)  # none is left where Python ends
        if getattr(self, "_module", None) and runtime is not None:
            runtime.core.wp_cuda_unload_module(self.device.context, self._module)

    def start(self, worlds: int, places: Any) -> None:
        """On the device's stream; it is not waited for."""
        failed = context.runtime.core.wp_cuda_launch_kernel(
            self.device.context,
            self._kernel,
            worlds,
            0,
            self.threads,
            1,
            1,
            0,
            places,
            self.device.stream.cuda_stream,
            None,
        )
        if failed:
            raise RuntimeError(f"the compiled step was not launched: {context.runtime.get_error_string()}")

    def properties(self) -> dict[str, int]:
        """Registers of a thread, and bytes that it has beside them."""
        found = (ctypes.c_int * len(PROPERTIES))()
        core = context.runtime.core
        if not core.wp_cuda_get_kernel_properties(self.device.context, self._kernel, found, len(PROPERTIES)):
            raise RuntimeError(f"the compiled step cannot be asked: {context.runtime.get_error_string()}")
        return dict(zip(PROPERTIES, found, strict=True))


_Launch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)


class HostKernel(Kernel):
    """The same text on the CPU."""

    def __init__(self, text: str, name: str, level: int = LEVEL):
        self.name, self.threads = name, threads_of(text)
        self._call = _Launch(compile_text(on_host(text, name, KINDS[name]), "launch", level))

    def start(self, worlds: int, places: Any) -> None:
        self._call(ctypes.addressof(places), -(-worlds // self.threads), self.threads)


@cache
def kernel_on(device: str, text: str, name: str, fuse: bool = False) -> Kernel:
    """The kernel of a text on a device of Warp's; on the CPU it runs one thread after the other."""
    return HostKernel(text, name) if wp.get_device(device).is_cpu else CudaKernel(text, name, device, fuse)
