"""Warp, started quietly, and a word to the user where kernels must be compiled."""

import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import warp as wp

from ..author.checks import show
from ..author.errors import ModelError
from .shared import SUFFIX, shared

wp.config.log_level = wp.LOG_WARNING
wp.config.enable_backward = False
# Warp has functions of nine times this size inlined: the same bits and speed, but a fifth longer to compile.
wp.config.cpu_compiler_flags = (
    "-march=native -mllvm=-inline-threshold=1000 -mllvm=-inline-cold-callsite-threshold=300"
    " -mllvm=-slp-recursion-max-depth=4"
)


@contextmanager
def _native_stderr_closed() -> Iterator[None]:
    """Keep what native code writes to standard error from the user."""
    try:
        kept = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    with open(os.devnull, "w") as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def start_warp() -> None:
    """Start Warp; a machine without a CUDA driver is no news."""
    with _native_stderr_closed():
        wp.init()


expected: list[wp.Kernel] = []  # what a process will need beside a world's own: compiled with them, not after them


def load_kernels(kernels: Sequence[wp.Kernel], device: str) -> None:
    """Load kernels that a world will need sooner or later, so that no edit has to wait for one.

    Those that are not in the cache are compiled side by side; with one processor each waits for its first use. The
    first is the method's, and the longest: those beside it come from the end, where they are short, so that Python,
    which writes the text of one at a time, is free for it.
    """
    for kernel in kernels:
        mend_cache(kernel, device)
    if (os.cpu_count() or 1) < 2:
        return
    modules = list(dict.fromkeys(shared(kernel).module for kernel in kernels))
    missing = [module for module in modules if not _folder(module, device).exists()]
    if missing:
        wp.force_load(device, modules=[missing[0], *reversed(missing[1:])], block_dim=_block(device), max_workers=2)
        for module in missing:
            _note_sums(_folder(module, device))


def announce_compilation(kernel: wp.Kernel, device: str) -> None:
    """Say so if the kernel's module is not in the cache: compiling takes seconds."""
    mend_cache(kernel, device)
    if not _folder(shared(kernel).module, device).exists():
        wait = "10 to 60 s" if wp.get_device(device).is_cpu else "1 to 4 minutes"
        _tell(f"compiling the {_short_name(kernel)} kernel for {device} ({wait}, once)")


# spoiled objects ------------------------------------------------------------------------------------------

SUMS = "impulsar.sums"  # in a module's folder of the cache: crcs of what was compiled, by the files' names
COMPILED = (".o", ".ptx", ".cubin", ".meta")
_mended: set[tuple[int, str]] = set()  # modules that were looked at, by device


def mend_cache(kernel: wp.Kernel, device: str) -> None:
    """Drop a kernel's module from Warp's cache if a file of it is not what was compiled, so that it is again.

    A spoiled object is refused at every start, or worse, runs. Where no crcs are kept yet it has to load.
    """
    kernel = shared(kernel)
    module = kernel.module
    if (id(module), device) in _mended:
        return
    _mended.add((id(module), device))
    folder = _folder(module, device)
    if not folder.exists():
        return
    kept, now = _read_sums(folder), _sums(folder)
    as_compiled = all(now.get(name) == crc for name, crc in kept.items())
    if as_compiled and (kept.keys() == now.keys() or _loads(kernel, device)):
        return
    _tell(f"the compiled {_short_name(kernel)} kernel in Warp's cache is spoiled; it is compiled again")
    module.unload()
    shutil.rmtree(folder)


def _loads(kernel: wp.Kernel, device: str) -> bool:
    """Whether a kernel that is in the cache can be launched; if so its crcs are kept."""
    try:
        with _native_stderr_closed():
            loaded = kernel.module.load(device, _block(device))
        if loaded is None or loaded.get_kernel_hooks(kernel).forward is None:
            return False
    except Exception:  # Warp raises that itself
        return False
    _note_sums(_folder(kernel.module, device))
    return True


def _sums(folder: Path) -> dict[str, int]:
    return {file.name: zlib.crc32(file.read_bytes()) for file in sorted(folder.iterdir()) if file.suffix in COMPILED}


def _read_sums(folder: Path) -> dict[str, int]:
    """The crcs that were kept; none where they cannot be read."""
    try:
        found = json.loads((folder / SUMS).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _note_sums(folder: Path) -> None:
    with suppress(OSError):  # a cache that only others may write to
        beside = folder / f"{SUMS}.{os.getpid()}.tmp"
        beside.write_text(json.dumps(_sums(folder)), encoding="utf-8")
        beside.replace(folder / SUMS)


def _folder(module: wp.Module, device: str) -> Path:
    return Path(wp.config.kernel_cache_dir) / module.get_module_identifier(_block(device))


def _block(device: str) -> int:
    return 1 if wp.get_device(device).is_cpu else 256


def _short_name(kernel: wp.Kernel) -> str:
    return kernel.module.name.removesuffix(SUFFIX).rpartition(".")[2]


def _tell(line: str) -> None:
    print(f"impulsar: {line}", file=sys.stderr, flush=True)


def check_device(device: object) -> str:
    """The name of a device that is here."""
    known = [str(one) for one in wp.get_devices()]
    name = "cuda:0" if isinstance(device, str) and device == "cuda" else device
    if not isinstance(name, str) or name not in known:
        raise ModelError(f"no device {show(device)} here; devices are: {', '.join(known)}")
    return name


start_warp()
