"""Methods: how a step is made. One file each; the difference of two files is the difference of two methods.

`base.py` has the contract. Other packages add methods by entry points of the group `impulsar.methods`.
"""

from ...plugins import Registry
from ..options import own_options
from ..state import Block
from .base import Method, check_method
from .direct import Direct
from .simgc import Simgc
from .simmc import Simmc

METHODS: Registry[type[Method]] = Registry(
    "impulsar.methods", {"direct": Direct, "simgc": Simgc, "simmc": Simmc}, check_method
)

__all__ = ["METHODS", "Block", "Direct", "Method", "Simgc", "Simmc", "own_options"]
