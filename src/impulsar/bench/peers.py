"""Peers of the work-precision diagrams, where they are installed: Exudyn, MuJoCo, Pinocchio with SciPy."""

from importlib import import_module, metadata

from ..author.errors import ModelError
from ..validate.report.work import Contender, Problem

PEERS = {  # module here, what is imported, its distribution
    "Exudyn": ("peer_exudyn", "exudyn", "exudyn"),
    "MuJoCo": ("peer_planar_mujoco", "mujoco", "mujoco"),
    "Pinocchio": ("peer_pinocchio", "pinocchio", "pin"),
}


def versions() -> dict[str, str]:
    """Peers that are installed, with their versions."""
    found = {}
    for name, (_, module, distribution) in PEERS.items():
        try:
            import_module(module)
            found[name] = metadata.version(distribution)
        except (ImportError, metadata.PackageNotFoundError):
            continue
    return found


def contenders(problem: Problem) -> list[Contender]:
    """Of all peers that are installed and take the problem."""
    found: list[Contender] = []
    for name in versions():
        try:
            found += import_module(f".{PEERS[name][0]}", __package__).contenders(problem)
        except ModelError:  # not a mechanism in a plane
            continue
    return found
