"""Where a hand is sent, as what its three channels follow."""

import numpy as np

from ..author.checks import show
from ..author.profiles import Passage
from .inputs import profiles_of
from .refusal import EditError


def target_items(owner: str, name: str, value: object, now: np.ndarray) -> list:
    """What the three channels of a target are to follow; `now` is where it is [3, world]."""
    what = {"hand_target": "target", "hand_turn": "turn"}[name]
    if isinstance(value, Passage):
        if value.size != 3:
            raise EditError(f"{owner}: {what}: {type(value).__name__} has {value.size} component(s), expected 3")
        value = value.with_start((float(now[0, 0]), float(now[1, 0]), float(now[2, 0])))
    if isinstance(value, np.ndarray) and value.shape == (now.shape[1], 3):
        if not np.isfinite(value).all():
            raise EditError(f"{owner}: {what} is {show(value)}, expected finite numbers")
        return [column.copy() for column in value.astype(float).T]
    return profiles_of(owner, what, value, 3)
