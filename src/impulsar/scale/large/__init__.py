"""One large world: up to millions of bodies, its joints solved directly, its contacts swept."""

from ...engine.large.bulk import Bulk
from .machines import conveyor, hopper
from .scenes import boxes, chain, net, settling, spheres, stack, tree
from .world import LargeReport, LargeWorld

__all__ = [
    "Bulk",
    "LargeReport",
    "LargeWorld",
    "boxes",
    "chain",
    "conveyor",
    "hopper",
    "net",
    "settling",
    "spheres",
    "stack",
    "tree",
]
