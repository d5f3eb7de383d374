"""How many contacts a model may have at a time, and which of its shapes touch."""

from ...author.errors import ModelError
from ...author.model import Model
from ...author.shapes import HeightField, Mesh
from ...author.touching import Touching, touching_pairs, touching_shapes

EACH, ON_TERRAIN = 4, 16  # contacts of a pair to have room for
MOST_ROWS = 6  # of a contact
SPARE = 32
MOST = 2**16


def contact_room(model: Model, asked: int | None) -> int:
    """Contacts that there is room for: as asked, or four of each pair that may touch, but not of all at once."""
    pairs = touching_pairs(model)
    if not pairs:
        return 0
    if asked is not None:
        return asked
    each = [ON_TERRAIN if any(is_terrain(one) for one in pair) else EACH for pair in pairs]
    return min(sum(each), EACH * len(touching_shapes(model)) + SPARE + ON_TERRAIN * (max(each) > EACH))


def is_terrain(touching: Touching) -> bool:
    return isinstance(touching.shape, Mesh | HeightField)


def check_contacts(asked: object) -> int | None:
    """World(contacts=): None, or a whole number of them."""
    if asked is None:
        return None
    if type(asked) is not int or not 1 <= asked <= MOST:
        raise ModelError(f"world: contacts is {asked!r}, expected an integer from 1 to {MOST}, or None")
    return asked
