"""Compiled text on the CPU, by the compiler that Warp carries; objects are kept beside Warp's own.

An object's name is made of the text, the compiler's version and the processor, and of its own checksum: one that was
spoiled on the disk is compiled again.
"""

import atexit
import errno
import hashlib
import itertools
import os
import shutil
import tempfile
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import warp as wp
from warp._src import build, context

from ..machine import machine_key
from .graph import Untraceable

FLAGS = "-march=native -w -fno-slp-vectorize"  # of straight lines it would make vectors: no faster, 2.5 times as long
LEVEL = 2  # of optimisation
FOLDER = "impulsar-compiled"  # in Warp's cache
KEPT = 512  # files of a kind in the folder

_lock = threading.Lock()
_count = itertools.count()


def compile_text(text: str, name: str, level: int = LEVEL) -> int:
    """The address of a function of a text, compiled or from the cache. Bits do not depend on the level."""
    with _lock:
        return _loaded(text, name, level)


@cache
def _loaded(text: str, name: str, level: int) -> int:
    def build_object(source: Path, target: Path) -> None:
        build.build_cpu(str(target), str(source), fuse_fp=False, extra_flags=FLAGS, optimization_level=level)

    path, key = keep(text, "\n".join((FLAGS, str(level), machine_key())), ("cpp", "o"), build_object)
    handle = f"impulsar_{key}_{next(_count)}".encode()
    llvm = context.runtime.llvm
    if llvm.wp_load_obj(str(path).encode(), handle, wp.config.legacy_cpu_linker) != 0:
        raise RuntimeError(f"the compiled step {path} cannot be loaded; delete it")
    return llvm.wp_lookup(handle, name.encode())


def keep(text: str, how: str, ends: tuple[str, str], build_file: Callable[[Path, Path], None]) -> tuple[Path, str]:
    """What a text is compiled to, from the folder or built now, and its key; how: all else that it depends on.

    ends: of the names of its source and of what is built.
    """
    key = hashlib.blake2b("\n".join((text, how)).encode(), digest_size=16).hexdigest()
    try:
        folder = Path(wp.config.kernel_cache_dir) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        return _kept(folder, key, ends[1]) or _compiled(folder, key, text, ends, build_file), key
    except OSError as error:  # it cannot be written, or is full
        try:
            return _compiled(_folder_of_process(), key, text, ends, build_file), key
        except OSError:
            raise Untraceable(f"what is compiled cannot be kept: {error}") from error


@cache
def _folder_of_process() -> Path:
    """Where nothing stays."""
    folder = Path(tempfile.mkdtemp(prefix="impulsar-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _kept(folder: Path, key: str, end: str) -> Path | None:
    """A file of this key that is as it was written."""
    for path in folder.glob(f"{key}-*.{end}"):
        with suppress(OSError):
            if path.stem.rpartition("-")[2] == _sum(path):
                return path
            path.unlink()
    return None


def _sum(path: Path) -> str:
    return f"{zlib.crc32(path.read_bytes()):08x}"


def _compiled(
    folder: Path, key: str, text: str, ends: tuple[str, str], build_file: Callable[[Path, Path], None]
) -> Path:
    source, beside = (folder / f"{key}.{os.getpid()}.{end}" for end in (ends[0], f"tmp.{ends[1]}"))
    try:
        source.write_text(text, encoding="utf-8")
        try:
            build_file(source, beside)
        except Exception as error:  # a compiler has no words for a disk that is full
            if shutil.disk_usage(folder).free < len(text):
                raise OSError(errno.ENOSPC, "No space left on device", str(folder)) from error
            raise
        path = folder / f"{key}-{_sum(beside)}.{ends[1]}"
        beside.replace(path)
    finally:
        for file in (source, beside):
            with suppress(OSError):
                file.unlink()
    _prune(folder, ends[1])
    return path


def _prune(folder: Path, end: str) -> None:
    """Leave the newest files only."""
    with suppress(OSError):
        for path in sorted(folder.glob(f"*.{end}"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
            path.unlink()
