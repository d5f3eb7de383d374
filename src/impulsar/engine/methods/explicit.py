"""What methods over explicit formulas share: the sub-steps of `direct`, of which they change how joints are closed.

Rows, forces, modes of friction and limits, books and reports are those of `direct`, and so is the kernel.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from ..integrate.control import KEPT
from ..integrate.pairs import STAGES, STEADY, tableaux
from ..start.tyre_steps import longest_tyre_step
from ..state import Block, Counts
from ..system import System
from ..system.rank import PLAY
from .base import STEP, Method
from .direct import PAIRS, direct_kernel

PAIR = "pair"  # the embedded pair of `direct`, with error control
ORDERS = {"rk4": 4, "heun": 2, "euler": 1, PAIR: 5}


@dataclass(frozen=True)
class Explicit(Method):
    """Options of a method over an explicit formula."""

    integrator: str = "rk4"  # a step as long as the nominal one: "rk4", "heun", "euler"; or by error control: "pair"
    rtol: float = 1e-7  # of error control, and of the weights of a projection
    atol: float = 1e-7  # [rad, rad/s], and of the mechanism's size per second: slides
    iterations: int = 10**6  # evaluations in a nominal step: so many, an error
    impulse_step: float = 0.002  # largest impulsive sub-step, where changes of friction and limits crowd [s]
    redundancy: float = PLAY  # how far rows that others imply may be open [rad, or lengths over the mechanism's size]

    order = 4
    coordinates = ("generalized", "maximal")
    least_work = STAGES
    dense = STEP
    skips_spares = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", ORDERS.get(self.integrator, type(self).order))

    @property
    def kernel(self) -> wp.Kernel:
        return direct_kernel

    @property
    def tableau(self) -> np.ndarray:
        return tableaux(self.integrator if self.integrator in STEADY else "")

    @property
    def most_work(self) -> int:
        return self.iterations

    def longest_step_of(self, system: System) -> float:
        return longest_tyre_step(system) if self.integrator in STEADY else self.longest_step

    @property
    def play(self) -> float:
        return self.redundancy

    @staticmethod
    def state_blocks(counts: Counts) -> Sequence[Block]:
        return KEPT

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        if self.integrator not in self.integrators():
            known = ", ".join(self.integrators())
            raise ValueError(f"{self.name}: integrator is {self.integrator!r}, expected one of: {known}")
        for name in ("rtol", "atol", "impulse_step"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{self.name}: {name} is {getattr(self, name)!r}, expected a number > 0")
        if not 1e-12 <= self.redundancy < 0.1:
            raise ValueError(f"{self.name}: redundancy is {self.redundancy!r}, expected rad or sizes from 1e-12 to 0.1")
        if not (isinstance(self.iterations, int) and self.iterations >= STAGES):
            raise ValueError(f"{self.name}: iterations is {self.iterations!r}, expected an integer >= {STAGES}")

    @classmethod
    def integrators(cls) -> tuple[str, ...]:
        """What it runs over."""
        return (*STEADY, PAIR)

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return {
            "limit": limit,
            "rtol": self.rtol,
            "atol": self.atol,
            "epsilon": 1e-10,
            "impulse_step": self.impulse_step,
            "modes": 1.0,
            "pair": PAIRS.index("explicit"),
            "steady": float(self.integrator in STEADY),
        }
