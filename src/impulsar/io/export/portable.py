"""Generated C++ and the part of Warp's headers that it needs, as one text that includes nothing."""

import re
from pathlib import Path

import warp as wp

# parts of Warp that no kernel of ours calls; the kernels' entry points name a tile's storage
LEFT_OUT = (
    *("mesh.h", "bvh.h", "svd.h", "hashgrid.h", "volume.h", "texture.h"),
    *("noise.h", "rand.h", "fabric.h", "cuda_crt.h", "intersect.h", "deterministic.h"),
    *("tile.h", "tile_matmul.h", "tile_solve.h", "tile_cholesky.h"),
    *("tile_reduce.h", "tile_scan.h", "tile_radix_sort.h"),
)
CALLABLE = "#define CUDA_CALLABLE\n"  # before functions of the headers
INLINED = """#ifdef __GNUC__
#define CUDA_CALLABLE __attribute__((always_inline))
#else
#define CUDA_CALLABLE
#endif
"""  # g++ leaves many of them calls otherwise: twice the time
CHECKS = "#ifndef NDEBUG\n#define NDEBUG\n#endif\n"  # Warp's own compiler leaves its headers' assertions out too
HALVES = "#elif defined(__clang__)"  # half precision by a type of Clang's that few processors have
STORAGE = "namespace wp { struct tile_shared_storage_t {}; }\n"
OWN_CRT = "#define WP_NO_CRT"  # by which Warp's compiler has no need of a C library's headers
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*$', re.MULTILINE)
NOTICE = """// The text between here and the line "generated kernels" is from NVIDIA Warp {version} (https://github.com/NVIDIA/warp),
// Copyright (c) 2022-2026 NVIDIA CORPORATION & AFFILIATES, licensed under the Apache License, Version 2.0
// (https://www.apache.org/licenses/LICENSE-2.0), put together and shortened by Impulsar.
"""


def portable_text(kernels: str) -> str:
    """The text of kernels with the headers that it includes in their places."""
    folder = Path(wp.__file__).parent / "native"
    head, rest = _split(kernels)
    done: set[str] = set()
    headers = _inlined(head.replace(OWN_CRT, ""), folder, done)
    headers = headers.replace(CALLABLE, INLINED, 1).replace(HALVES, "#elif 0")
    again = f"#undef CUDA_CALLABLE\n{CALLABLE}{STORAGE}"
    return f"{NOTICE.format(version=wp.__version__)}{CHECKS}{headers}\n// generated kernels\n{again}{rest}"


def _split(text: str) -> tuple[str, str]:
    last = max(found.end() for found in INCLUDE.finditer(text))
    return text[:last], text[last:]


def _inlined(text: str, folder: Path, done: set[str]) -> str:
    def put(found: re.Match) -> str:
        name = found[1]
        if name in done or name in LEFT_OUT:
            return ""
        done.add(name)
        return _inlined((folder / name).read_text(encoding="utf-8"), folder, done)

    return INCLUDE.sub(put, text).replace("#pragma once", "")
