"""Analysis: what a mechanism is before it moves, and what its motors must give.

assemble   close loops from a rough start
mobility   freedoms by rank, redundant equations by name
statics    equilibrium under gravity, springs and loads
modes      frequencies and shapes about an equilibrium
inverse    motor torques for a prescribed motion
clearance  least gaps and overlaps of shapes over a run
reachable  where a point can be brought
sweep      what is measured over the values of a parameter
alone      some bodies by themselves, what stands for the rest held, driven or replaced by its recorded reactions
turn       poses of a mechanism of one freedom as a crank goes once round
"""

from .alone import Alone, alone
from .assembly import Assembly, AssemblyError, Move, assemble
from .clearance import Clearance, Overlap, PairClearance, clearance
from .inverse import inverse
from .mobility import Mobility, Redundant, mobility
from .modes import Modes, modes
from .reachable import Reachable, reachable
from .statics import Statics, StaticsError, statics
from .sweep import sweep_parameter, with_parameters
from .turning import Turn, turn

__all__ = [
    "Alone",
    "Assembly",
    "AssemblyError",
    "Clearance",
    "Mobility",
    "Modes",
    "Move",
    "Overlap",
    "PairClearance",
    "Reachable",
    "Redundant",
    "Statics",
    "StaticsError",
    "Turn",
    "alone",
    "assemble",
    "clearance",
    "inverse",
    "mobility",
    "modes",
    "reachable",
    "statics",
    "sweep_parameter",
    "turn",
    "with_parameters",
]
