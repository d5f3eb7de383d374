"""baumgarte: accelerations that bring joints back to where they hold (Baumgarte 1972; Wang 2011 eq. 7).

    v̇ = M⁻¹ (f + Jᵀ λ)      J v̇ + J̇ v = target's acceleration - 2 α (J v - target's velocity) - β² Φ

is the equation Φ̈ + 2 α Φ̇ + β² Φ = 0 for what a row is open by, integrated by an explicit formula and left to itself: no
projection, so that joints are open by about the error that the formula makes in a second over β². With α = β that is
critically damped. No rule says how large they should be: too small and joints drift, too large (about 2.8 / h with the
formula of Runge and Kutta) and the feedback itself is unstable. α = β = 0 is the equation of index 1 as it stands,
whose joints drift apart with the square of time.
"""

import math
from dataclasses import dataclass

from .explicit import Explicit


@dataclass(frozen=True)
class Baumgarte(Explicit):
    """Options of Baumgarte's stabilisation."""

    alpha: float = 50.0  # of the velocities' errors [1/s]
    beta: float = 50.0  # of the positions' errors [1/s]

    name = "baumgarte"

    def check(self) -> None:
        """Raise ValueError at a wrong option."""
        super().check()
        for name in ("alpha", "beta"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"baumgarte: {name} is {getattr(self, name)!r}, expected a rate >= 0 [1/s]")

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return super().options(limit) | {"closing": 1.0, "alpha": self.alpha, "square": self.beta**2}
