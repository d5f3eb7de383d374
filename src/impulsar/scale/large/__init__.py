"""One large world: up to millions of bodies, its joints solved directly, its contacts swept."""

from ...author.parts import Features
from ...engine.large.bulk import Bulk
from ...engine.large.extras import Line
from .machines import conveyor, hopper
from .scenes import boxes, chain, net, settling, spheres, stack, tree
from .world import LargeReport, LargeWorld

__all__ = [
    "Bulk",
    "Features",
    "LargeReport",
    "LargeWorld",
    "Line",
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
