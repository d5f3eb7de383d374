"""Many runs: sweeps over parameters, on any executor, kept in a store. Imported when first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .driver import sweep
    from .executors import dask_executor, local_processes, mpi_executor
    from .store import open_sweep

_LATER = {
    "dask_executor": ".executors",
    "local_processes": ".executors",
    "mpi_executor": ".executors",
    "open_sweep": ".store",
    "sweep": ".driver",
}

__all__ = ["dask_executor", "local_processes", "mpi_executor", "open_sweep", "sweep"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_LATER[name], __name__), name)
    return value
