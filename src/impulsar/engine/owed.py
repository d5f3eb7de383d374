"""Work arrays that are behind their state, and who brings them up to it.

A compiled step writes the state alone: what else is read of a step (reactions, accelerations, energies, the report) is
owed until somebody asks. Whoever hands out work arrays, or launches a kernel that reads them, settles that first.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


class Owed:
    """What brings work arrays up to their state; None: they are.

    impulses: of rows [row, world], as compiled steps left them in the state and as the kernel has them of the instant
    where they end, without what brings motors back to their targets; None: they are the state's.
    """

    __slots__ = ("impulses", "settle")

    def __init__(self) -> None:
        self.settle: Callable[[], None] | None = None
        self.impulses: tuple[np.ndarray, np.ndarray] | None = None


def keep_owed(work: Any) -> None:
    """Let a structure of work arrays have what is owed of it."""
    work.__dict__["owed"] = Owed()  # Warp refuses attributes that are no fields


def owed(work: Any) -> Owed:
    """What is owed of a structure of work arrays."""
    return work.__dict__["owed"]


def settled(work: Any) -> Any:
    """The structure, up to its state."""
    if (settle := owed(work).settle) is not None:
        settle()
    return work


def impulses(state: Any, work: Any) -> np.ndarray:
    """Impulses of all rows over the last step, as they are told [row, world]; what was edited since is the state's."""
    settled(work)
    rows, known = state.read("impulse"), owed(work).impulses
    if known is None or known[0].shape != rows.shape:
        return rows
    return np.where(rows == known[0], known[1], rows)


def settling(launch: Callable[[], None], inputs: Any) -> Callable[[], None]:
    """A launch that reads the work arrays among its arguments: they are brought up first."""
    due = next((given.__dict__["owed"] for given in inputs if "owed" in getattr(given, "__dict__", ())), None)
    if due is None:
        return launch

    def settle_and_launch() -> None:
        if due.settle is not None:
            due.settle()
        launch()

    vars(settle_and_launch).update(vars(launch))  # what was recorded: who freezes a launch looks there
    return settle_and_launch
