"""Methods: how a step is made. One file each; the difference of two files is the difference of two methods.

`base.py` has the contract. Other packages add methods by entry points of the group `impulsar.methods`.
"""

from ...plugins import Registry
from ..options import own_options
from ..state import Block
from .base import Method, check_method
from .baumgarte import Baumgarte
from .direct import Direct
from .generalized_alpha import GeneralizedAlpha
from .linear_implicit import LinearImplicit
from .projected import Projected
from .simgc import Simgc
from .simmc import Simmc
from .variational import Variational

METHODS: Registry[type[Method]] = Registry(
    "impulsar.methods",
    {
        "direct": Direct,
        "projected": Projected,
        "baumgarte": Baumgarte,
        "linear_implicit": LinearImplicit,
        "generalized_alpha": GeneralizedAlpha,
        "simgc": Simgc,
        "simmc": Simmc,
        "variational": Variational,
    },
    check_method,
)

__all__ = [
    "METHODS",
    "Baumgarte",
    "Block",
    "Direct",
    "GeneralizedAlpha",
    "LinearImplicit",
    "Method",
    "Projected",
    "Simgc",
    "Simmc",
    "Variational",
    "own_options",
]
