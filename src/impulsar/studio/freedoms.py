"""How a mechanism can move, in a line."""

from ..analysis.mobility import Mobility, mobility
from ..world.world import World

MOST_BODIES = 60  # whose freedoms are counted while others wait
ACROSS = ("z", "tilt x", "tilt y")  # rows of a hinge that act out of its plane
PLANAR = ("revolute", "pin-slot", "planar")


def mobility_of(world: World) -> str:
    """Freedoms, and what is held twice: "1 freedom; 3 redundant, out of plane"."""
    model = world.model
    if not model.bodies:
        return "nothing that moves"
    if len(model.bodies) > MOST_BODIES:
        return f"{len(model.bodies)} bodies: use `impulsar analyse mobility`"
    found = mobility(world)
    freedoms = f"{found.freedoms} freedom{'' if found.freedoms == 1 else 's'}"
    if not found.freedoms:
        freedoms += ", it cannot move"
    return f"{freedoms}; {_redundant(found, world)}" if found.redundant else freedoms


def _redundant(found: Mobility, world: World) -> str:
    joints = world.model.joints
    rows = found.redundant_rows
    flat = all(row.kind == "joint" and row.row in ACROSS and joints[row.part].type in PLANAR for row in rows)
    if flat:
        return f"{found.redundant} redundant, out of plane"
    parts = list(dict.fromkeys(f"{row.kind} '{row.part}'" for row in rows))
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return f"{found.redundant} redundant: {', '.join(parts[:3])}{more}"
