"""Warp, started quietly, and a word to the user where kernels must be compiled."""

import json
import os
import shutil
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import warp as wp
from warp._src import build, context

from ..author.checks import show
from ..author.errors import ModelError
from .shared import QUICK, SUFFIX, quick, shared

wp.config.log_level = wp.LOG_WARNING
wp.config.enable_backward = False
# Warp has functions of nine times this size inlined: the same bits and speed, but a fifth longer to compile.
wp.config.cpu_compiler_flags = (
    "-march=native -mllvm=-inline-threshold=1000 -mllvm=-inline-cold-callsite-threshold=300"
    " -mllvm=-slp-recursion-max-depth=4"
)
LEVEL = 2  # of optimisation, where nothing else is asked for: Warp's for the CPU
HEADERS = '#define WP_TILE_BLOCK_DIM 1\n#define WP_NO_CRT\n#include "builtin.h"\n'


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
    _load([shared(kernel) for kernel in kernels], device)


def load_quickly(kernels: Sequence[wp.Kernel]) -> None:
    """The same, for the CPU and without optimisation."""
    _tell(f"compiling the {_short_name(kernels[0])} kernel for cpu without optimisation; optimised it follows")
    _load([quick(kernel) for kernel in kernels], "cpu")


def is_compiled(kernel: wp.Kernel, device: str) -> bool:
    """Whether a kernel is in the cache."""
    return _folder(shared(kernel).module, device).exists()


def _load(twins: Sequence[wp.Kernel], device: str) -> None:
    for twin in twins:
        _mend(twin, device)
    if (os.cpu_count() or 1) < 2:
        return
    modules = list(dict.fromkeys(twin.module for twin in twins))
    missing = [module for module in modules if not _folder(module, device).exists()]
    if not missing:
        return
    with _headers_read_once(missing[0], device):
        wp.force_load(device, modules=[missing[0], *reversed(missing[1:])], block_dim=_block(device), max_workers=2)
    for module in missing:
        _note_sums(_folder(module, device))


@contextmanager
def _headers_read_once(module: wp.Module, device: str) -> Iterator[None]:
    """Have Warp's headers for the CPU read once, while Python writes the first text: a second for each of its threads.

    The options are those of a module to be compiled, since Warp knows what it has read of them by its options.
    """
    if not wp.get_device(device).is_cpu:
        yield
        return
    runtime, options = context.runtime, module.resolve_options(wp.config)
    with TemporaryDirectory(prefix="impulsar-") as folder:

        def read() -> None:
            source, target = (Path(folder) / f"headers.{end}" for end in ("cpp", "o"))
            source.write_text(HEADERS, encoding="utf-8")
            build.build_cpu(
                str(target),
                str(source),
                extra_flags=options["cpu_compiler_flags"],
                optimization_level=LEVEL if options["optimization_level"] is None else options["optimization_level"],
                use_precompiled_headers=True,
                pch_dir=folder,
                block_dim=1,
                enable_tiles_in_stack_memory=options["enable_tiles_in_stack_memory"],
            )

        reader = threading.Thread(target=read)
        reader.start()

        def folder_of_headers() -> str:
            reader.join()
            return folder

        runtime.get_clang_pch_dir = folder_of_headers
        try:
            yield
        finally:
            del runtime.get_clang_pch_dir
            reader.join()


def announce_compilation(kernel: wp.Kernel, device: str) -> None:
    """Say so if the kernel's module is not in the cache: compiling takes seconds."""
    _mend(shared(kernel), device)
    if not is_compiled(kernel, device):
        wait = "10 to 60 s" if wp.get_device(device).is_cpu else "1 to 4 minutes"
        _tell(f"compiling the {_short_name(kernel)} kernel for {device} ({wait}, once)")


# spoiled objects ------------------------------------------------------------------------------------------

SUMS = "impulsar.sums"  # in a module's folder of the cache: crcs of what was compiled, by the files' names
COMPILED = (".o", ".ptx", ".cubin", ".meta")
_mended: set[tuple[int, str]] = set()  # modules that were looked at, by device


def _mend(kernel: wp.Kernel, device: str) -> None:
    """Drop a kernel's module from Warp's cache if a file of it is not what was compiled, so that it is again.

    A spoiled object is refused at every start, or worse, runs. Where no crcs are kept yet it has to load.
    """
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
    return kernel.module.name.removesuffix(SUFFIX).removesuffix(QUICK).rpartition(".")[2]


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
