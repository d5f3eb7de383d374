"""Undo, seek and replay: what happened to a world, on a timeline and in a journal."""

from .history import History

__all__ = ["History"]
