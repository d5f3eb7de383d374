"""projected: equations of index 1, and coordinates projected onto the joints after every step (Wang 2011 eq. 1-5).

    v̇ = M⁻¹ (f + Jᵀ λ)      J v̇ + J̇ v = target's acceleration          by a formula, with or without error control
    q ← nearest q with Φ(q) = 0,   v ← nearest v with J v = target     in the norm of the error control's weights

The projection is sequential: linearised and repeated by one factor of J E Jᵀ, positions first, then velocities
(integrate/closing.py). `direct` differs in the norm, which there is that of the mass matrix, and in its size control.
Over the integrators of SciPy (host.py) it is one world on the CPU without dry friction, limits and contact.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ...author.errors import ModelError
from ..state import State, WorkArrays
from ..system import System
from .explicit import Explicit
from .refusals import refuse_inner_states, refuse_jumps, refuse_weak_motors

OF_SCIPY = {"DOP853": 8, "RK45": 5, "Radau": 5, "BDF": 5}  # by their highest order


@dataclass(frozen=True)
class Projected(Explicit):
    """Options of coordinate projection."""

    name = "projected"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.integrator in OF_SCIPY:
            object.__setattr__(self, "order", OF_SCIPY[self.integrator])

    @classmethod
    def integrators(cls) -> tuple[str, ...]:
        """What it runs over."""
        return (*super().integrators(), *OF_SCIPY)

    def refuse(self, system: System) -> None:
        """Raise ModelError at what SciPy's integrators cannot do."""
        if self.integrator not in OF_SCIPY:
            return
        refuse_inner_states(self, system)
        refuse_jumps(self, system)
        refuse_weak_motors(self, system)
        if system.counts.worlds > 1 or system.device != "cpu":
            raise ModelError(f"method projected: {self.integrator} takes one world on the CPU; take pair or rk4")

    def host_launch(self, system: System, state: State, work: WorkArrays) -> Callable[[], None] | None:
        """What takes the steps instead of the kernel, if something does."""
        if self.integrator not in OF_SCIPY:
            return None
        from .host import host_launch  # none of it is loaded where it is not used

        return host_launch(self.integrator, self.rtol, self.atol, system, state, work)

    def options(self, limit: int) -> dict[str, float]:
        """What the kernel reads."""
        return super().options(limit) | {"closing": 2.0}
