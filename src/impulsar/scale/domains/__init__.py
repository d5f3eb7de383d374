"""One large world over the ranks of an MPI job: a domain each, joints across borders solved directly."""

from .world import DomainWorld

__all__ = ["DomainWorld"]
