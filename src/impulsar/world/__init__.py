"""A running world: the runner, its front, guards, snapshots and reports."""

from .world import World

__all__ = ["World"]
