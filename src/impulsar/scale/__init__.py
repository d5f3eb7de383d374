"""Many runs: sweeps over parameters, on any executor, kept in a store."""

from .executors import dask_executor, local_processes, mpi_executor
from .store import open_sweep
from .sweep import sweep

__all__ = ["dask_executor", "local_processes", "mpi_executor", "open_sweep", "sweep"]
