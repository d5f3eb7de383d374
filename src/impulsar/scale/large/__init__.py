"""One large world: up to millions of bodies, its joints solved directly, its contacts swept."""

from ...engine.large.bulk import Bulk
from .scenes import chain, spheres, tree
from .world import LargeReport, LargeWorld

__all__ = ["Bulk", "LargeReport", "LargeWorld", "chain", "spheres", "tree"]
