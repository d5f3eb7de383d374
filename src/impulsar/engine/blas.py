"""One thread for the libraries of linear algebra, while the studio runs, and in the workers of a sweep.

Matrices of mechanisms are small. On cores that the session and a browser share, the threads of OpenBLAS wait for each
other most of the time: the modes of ten pendula take 12 to 27 s instead of 1.5 beside a running session on two cores.
"""

import ctypes
from pathlib import Path

SETTERS = ("openblas_set_num_threads", "scipy_openblas_set_num_threads", "scipy_openblas_set_num_threads64_")


def take_one_thread() -> list[str]:
    """Have every OpenBLAS that is loaded work in the thread that calls it; returns which. Others are left alone."""
    found = []
    for path in _loaded():
        library = ctypes.CDLL(path)
        for name in SETTERS:
            if hasattr(library, name):
                getattr(library, name)(1)
                found.append(path)
                break
    return found


def _loaded() -> list[str]:
    """Files of OpenBLAS in this process; none where the system does not tell."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return []
    files = {line.split(maxsplit=5)[-1] for line in maps.read_text().splitlines() if "openblas" in line}
    return sorted(path for path in files if Path(path).is_file())
