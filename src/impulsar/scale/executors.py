"""Executors: who runs the batches of a sweep. Any of `concurrent.futures`; these are made with careful defaults."""

import ipaddress
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ..author.errors import ModelError

RETRIES = 2  # of a task whose worker died, by Dask


def local_processes(workers: int | None = None) -> ProcessPoolExecutor:
    """Processes on this machine, started afresh (spawn), one for each core unless told; they end with their client."""
    count = workers or os.cpu_count() or 1
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_end_with_client)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C until they say so themselves."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_client() -> None:
    """Leave when the client is gone: one that was killed cannot tell its workers. Ctrl-C in a terminal goes to all; the
    client says what is to be said."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    client = multiprocessing.parent_process()
    if client is None:
        return

    def watch() -> None:
        client.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="client watch").start()


@contextmanager
def dask_executor(scheduler: str | None = None, workers: int | None = None) -> Iterator[Executor]:
    """Dask's workers: those of a scheduler ("tls://host:8786"), or a cluster of processes on this machine.

    A cluster made here listens on 127.0.0.1 only, with certificates made for it and no dashboard: who can reach a
    scheduler can run any code. For the same reason a scheduler elsewhere has to be reached by tls://, with the
    certificates that Dask's configuration names.
    """
    try:
        from distributed import Client, LocalCluster
        from distributed.security import Security
    except ImportError as error:
        raise ModelError("sweep: Dask is not installed; pip install 'impulsar[dask]'") from error
    if scheduler is not None:
        _check_scheduler(scheduler)
        with Client(scheduler) as client:
            yield client.get_executor(retries=RETRIES)
        return
    cluster = LocalCluster(
        n_workers=workers or os.cpu_count() or 1,
        threads_per_worker=1,
        processes=True,
        host="tls://127.0.0.1",
        dashboard_address=None,
        security=Security.temporary(),
    )
    with cluster, Client(cluster) as client:
        yield client.get_executor(retries=RETRIES)


def _check_scheduler(address: str) -> None:
    """Refuse an address beyond this machine that anybody could listen to or speak from."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    host = parts.hostname or ""
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if parts.scheme not in ("tls", "wss") and not is_here:
        raise ModelError(
            f"scheduler '{address}': is not encrypted, and whoever reaches it can run code on its workers; start it "
            "with --tls-ca-file, --tls-cert and --tls-key and give tls://, see docs/cluster.md"
        )


@contextmanager
def mpi_executor() -> Iterator[Executor]:
    """The other ranks of `mpiexec -n N python -m mpi4py.futures -m impulsar sweep ...`."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError) as error:
        raise ModelError(f"sweep: MPI is not there ({error}); pip install 'impulsar[mpi]'") from error
    if MPI.COMM_WORLD.Get_size() < 2:
        told = "mpiexec -n 3 python -m mpi4py.futures -m impulsar sweep FILE.toml --executor mpi"
        raise ModelError(f"sweep: there is one rank of MPI, and a sweep needs a client and workers; start it by {told}")
    with MPIPoolExecutor() as executor:
        yield executor


def workers_of(executor: Any) -> int:
    """How many tasks an executor works at, as far as it tells."""
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    client = getattr(executor, "_client", None)
    threads = sum(client.nthreads().values()) if client is not None else 0
    return threads or 8
