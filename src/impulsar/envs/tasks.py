"""The tasks that are registered, by name."""

from .five_bar import FiveBarReach
from .lift import LiftHold
from .task import Task
from .walk import Walk

TASKS: dict[str, type[Task]] = {"FiveBarReach": FiveBarReach, "LiftHold": LiftHold, "Walk": Walk}
