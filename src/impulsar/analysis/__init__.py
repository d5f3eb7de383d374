"""Analysis: what a mechanism is before it moves, and what its motors must give.

assemble   close loops from a rough start
mobility   freedoms by rank, redundant equations by name
statics    equilibrium under gravity, springs and loads
modes      frequencies and shapes about an equilibrium
inverse    motor torques for a prescribed motion
"""

from .assembly import Assembly, AssemblyError, Move, assemble
from .inverse import inverse
from .mobility import Mobility, Redundant, mobility
from .modes import Modes, modes
from .statics import Statics, StaticsError, statics

__all__ = [
    "Assembly",
    "AssemblyError",
    "Mobility",
    "Modes",
    "Move",
    "Redundant",
    "Statics",
    "StaticsError",
    "assemble",
    "inverse",
    "mobility",
    "modes",
    "statics",
]
