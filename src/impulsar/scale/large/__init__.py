"""One large world: up to millions of bodies, its joints solved directly."""

from ...engine.large.bulk import Bulk
from .scenes import chain, tree
from .world import LargeReport, LargeWorld

__all__ = ["Bulk", "LargeReport", "LargeWorld", "chain", "tree"]
