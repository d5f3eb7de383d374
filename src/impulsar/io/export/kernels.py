"""Kernels as C++ and as an object for a processor, by the compiler that Warp carries."""

import hashlib
import os
import re
import sys
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import warp as wp
from warp._src import build, context

from ...author.errors import ModelError
from ...engine.indices import rewrite
from ...engine.machine import machine_key
from ...engine.shared import SHARING

LEVELS = ("native", "x86-64-v2", "x86-64-v3", "x86-64-v4")
TAG = "0" * 16  # in the kernels' names, for what makes them a model's own
FOLDER = "impulsar-frozen"  # in Warp's cache
KEPT = 32  # objects there
OWN = re.compile(r"^CUDA_CALLABLE (?=.* add\(const |void adj_atomic_add\()", re.MULTILINE)
CALL = """extern "C" void {name}(void* bounds, void* arguments)
{{
    {name}_kernel_cpu_forward((wp::launch_bounds_t<1>*)bounds, (wp_args_{name}_kernel*)arguments);
}}
"""
STUBS = 'extern "C" __attribute__((weak)) int _wp_isfinite(double x) { return x - x == 0.0; }\n'  # of Warp's library


def symbol(number: int, tag: str = TAG) -> str:
    """What C calls a kernel, by its place."""
    return f"frozen_{tag}_{number}"


@lru_cache(maxsize=8)
def kernel_text(kernels: tuple[wp.Kernel, ...]) -> str:
    """Generated C++ of some kernels, one module; it includes Warp's headers."""
    module = context.Module("impulsar_frozen", None)
    module.options |= {"enable_backward": False, "strip_hash": True, "block_dim": 1}
    made = [
        wp.Kernel(one.func, key=f"{symbol(k)}_kernel", module=module, options=dict(one.options))
        for k, one in enumerate(kernels)
    ]
    for own, one in zip(made, kernels, strict=True):
        own.adj.tree = deepcopy(one.adj.tree)  # as it is launched: it may be other than it was written
        if SHARING in one.options:
            rewrite(one)  # its functions as well, which one from Warp's cache has not had written
    options = module.resolve_options(wp.config, block_dim=1) | {"output_arch": None}
    module.get_module_hash(1)
    text = module._run_codegen(options, True)[0]
    del made
    calls = [CALL.format(name=symbol(k)) for k in range(len(kernels))]
    return "".join([OWN.sub("static CUDA_CALLABLE ", text), *calls])


def compile_object(text: str, level: str) -> bytes:
    """An object of the text for a level of x86-64 processors, or for this machine's, or the one in the cache."""
    if level not in LEVELS:
        raise ModelError(f"export: --cpu is {level!r}, expected one of: {', '.join(LEVELS)}")
    target = "-march=native" if level == "native" else f"-target-cpu {level}"
    flags = (wp.config.cpu_compiler_flags or "-march=native").replace("-march=native", target)
    machine = machine_key() if level == "native" else wp.__version__
    key = hashlib.blake2b("\n".join((text, STUBS, flags, machine)).encode(), digest_size=16).hexdigest()
    folder = Path(wp.config.kernel_cache_dir) / FOLDER
    path = folder / f"{key}.o"
    if path.exists():
        return path.read_bytes()
    print(f"impulsar: compiling the kernels for {level} (10 to 60 s, once)", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    source, beside = (folder / f"{key}.{os.getpid()}.{end}" for end in ("cpp", "tmp"))
    source.write_text(text + STUBS, encoding="utf-8")
    try:
        build.build_cpu(str(beside), str(source), extra_flags=flags, block_dim=1)
        beside.replace(path)
    finally:
        for file in (source, beside):
            file.unlink(missing_ok=True)
    for old in sorted(folder.glob("*.o"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)
    return path.read_bytes()
