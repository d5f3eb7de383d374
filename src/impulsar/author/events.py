"""Events of a user: a function of a world whose zeros a run is to find."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .checks import flag, number, show
from .errors import ModelError


@dataclass(frozen=True)
class Event:
    """Where a number read of a running world passes a level.

    function: takes the world and gives a number, or the name of a signal: "joint.crank.position",
    "body.arm.velocity.x" (docs/quantities.md). direction: 1 where it rises through the level, -1 where it falls, 0
    both. terminal: a run ends there, with the world at the event. level: in the unit of what is read.
    """

    name: str
    function: Callable[[Any], float] | str
    direction: int = 0
    terminal: bool = False
    level: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"event: name is {show(self.name)}, expected a text")
        owner = f"event '{self.name}'"
        if not callable(self.function) and not (isinstance(self.function, str) and self.function):
            expected = "a function of the world, or the name of a signal such as 'joint.crank.position'"
            raise ModelError(f"{owner}: function is {show(self.function)}, expected {expected}")
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise ModelError(f"{owner}: direction is {show(self.direction)}, expected 1 (rising), -1 (falling) or 0")
        flag(owner, "terminal", self.terminal)
        number(owner, "level", self.level)
