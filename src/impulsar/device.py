"""Warp, started quietly, and a word to the user where kernels must be compiled."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import warp as wp

from .shapes import ModelError, show

wp.config.log_level = wp.LOG_WARNING
wp.config.enable_backward = False


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


def load_kernels(kernels: Sequence[wp.Kernel], device: str) -> None:
    """Load kernels that a world will need sooner or later, so that no edit has to wait for one.

    Those that are not in the cache are compiled side by side; with one processor each waits for its first use.
    """
    if (os.cpu_count() or 1) < 2:
        return
    modules = list(dict.fromkeys(kernel.module for kernel in kernels))
    block = 1 if wp.get_device(device).is_cpu else 256
    cache = Path(wp.config.kernel_cache_dir)
    missing = [module for module in modules if not (cache / module.get_module_identifier(block)).exists()]
    if missing:
        wp.force_load(device, modules=missing, block_dim=block, max_workers=2)


def announce_compilation(kernel: wp.Kernel, device: str) -> None:
    """Say so if the kernel's module is not in the cache: compiling takes seconds."""
    block = 1 if wp.get_device(device).is_cpu else 256
    folder = Path(wp.config.kernel_cache_dir) / kernel.module.get_module_identifier(block)
    if not folder.exists():
        name = kernel.module.name.rpartition(".")[2]
        wait = "10 to 20 s" if block == 1 else "about a minute"
        print(f"impulsar: compiling the {name} kernel for {device} ({wait}, once)", file=sys.stderr, flush=True)


def check_device(device: object) -> str:
    """The name of a device that is here."""
    known = [str(one) for one in wp.get_devices()]
    name = "cuda:0" if isinstance(device, str) and device == "cuda" else device
    if not isinstance(name, str) or name not in known:
        raise ModelError(f"no device {show(device)} here; devices are: {', '.join(known)}")
    return name


start_warp()
