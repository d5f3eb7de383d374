"""Mobility: how many freedoms a mechanism has at its present pose, and which equations are too many.

Rank of the rows J [row, 6 per body], turns compared with shifts by the mechanism's size, strongest rows first, by
the same rule and tolerance as in a world (engine/system/rank.py). Small errors of the joints are taken off first, so
that what should vanish does.

    freedoms = 6 bodies - rank            redundant = equations - rank
    Grübler  = 6 bodies - equations       which takes every equation for independent

Named as redundant are the rows that depend on rows before them: joints in the author's order, then
couplings, then motors. A reaction is determinate where no dependency among the rows touches its joint.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..author.checks import flag
from ..author.model import Model
from ..engine.system.slots import CLOSURE, COUPLING
from ..world.world import World
from .assembly import settle
from .bodies import DRIVES, Balance, Mechanism
from .ranks import Decomposition, dependent_rows, geometric_rank, supports

TOUCHED = 1e-7  # of a dependency: a smaller part is rounding
AT_ODDS = 1e-7  # mismatch of targets [m, rad and their rates]


@dataclass(frozen=True)
class Redundant:
    """A row that other rows already imply."""

    kind: str  # joint, coupling or motor
    part: str  # joint or coupling
    row: str  # which lock: x, y, z; turn x ...; tilt x, tilt y; cross; thread; length; of a motor its group
    depends_on: tuple[str, ...]  # joints, couplings and motors whose rows imply it
    at_odds: float = 0.0  # how far its target is from what they imply [m, rad or per second]

    @property
    def name(self) -> str:
        """The part and which of its rows."""
        if self.kind == "motor":
            return f"motor of joint '{self.part}'" + (f" ({self.row})" if self.row else "")
        return f"{self.kind} '{self.part}'" + (f" {self.row}" if self.row else "")

    def __str__(self) -> str:
        told = f"{self.name}: already held by {', '.join(self.depends_on) or 'nothing: it moves nothing'}"
        return told + (f"; at odds with it by {self.at_odds:.3g}" if self.at_odds else "")


@dataclass(frozen=True)
class Mobility:
    """Freedoms and redundancy at one pose."""

    model: str
    bodies: int
    joint_equations: int
    coupling_equations: int
    motor_equations: int
    rank: int
    redundant_rows: tuple[Redundant, ...]
    determinate: dict[str, bool]  # by joint: whether its reaction is determined
    length: float  # by which turns are compared with shifts [m]
    gap: float  # between the singular values on either side of the rank
    moving: tuple[str, ...] = ()  # bodies that some freedom moves

    @property
    def equations(self) -> int:
        """Of joints, couplings and, if they were asked for, motors."""
        return self.joint_equations + self.coupling_equations + self.motor_equations

    @property
    def redundant(self) -> int:
        """Equations that say nothing new."""
        return self.equations - self.rank

    @property
    def freedoms(self) -> int:
        """Independent ways to move at this pose."""
        return 6 * self.bodies - self.rank

    @property
    def gruebler(self) -> int:
        """Grübler's count: what the freedoms would be were all equations independent."""
        return 6 * self.bodies - self.equations

    @property
    def conflicts(self) -> tuple[Redundant, ...]:
        """Motors and couplings that others already hold, and that ask for something else."""
        return tuple(row for row in self.redundant_rows if row.at_odds)

    def __str__(self) -> str:
        parts = [f"{self.joint_equations} of joints"]
        parts += [f"{self.coupling_equations} of couplings"] if self.coupling_equations else []
        parts += [f"{self.motor_equations} of motors"] if self.motor_equations else []
        lines = [
            f"{self.model}: {self.bodies} bodies",
            f"  equations  {self.equations:6d}   {', '.join(parts)}",
            f"  rank       {self.rank:6d}   gap {self.gap:.1e}, lengths by {self.length:.3g} m",
            f"  redundant  {self.redundant:6d}",
            f"  freedoms   {self.freedoms:6d}   Grübler's count {self.gruebler}",
        ]
        lines += self._redundant_lines()
        vague = [name for name, known in self.determinate.items() if not known]
        lines += [f"  reaction not determinate: {', '.join(vague)}"] if vague else []
        if self.freedoms and len(self.moving) < self.bodies:
            lines.append(f"  free to move: {', '.join(self.moving)}")
        return "\n".join(lines)

    def _redundant_lines(self) -> list[str]:
        """One line per part, its rows and what holds it."""
        by_part: dict[tuple[str, str], list[Redundant]] = {}
        for row in self.redundant_rows:
            by_part.setdefault((row.kind, row.part), []).append(row)
        lines = []
        for (kind, part), rows in by_part.items():
            labels = ", ".join(row.row for row in rows if row.row)
            holders = list(dict.fromkeys(name for row in rows for name in row.depends_on))
            more = f" and {len(holders) - 4} more" if len(holders) > 4 else ""
            title = f"motor of joint '{part}'" if kind == "motor" else f"{kind} '{part}'"
            odds = max(row.at_odds for row in rows)
            fights = f"; AT ODDS with it by {odds:.3g}" if odds else ""
            held = ", ".join(holders[:4]) or "nothing: it moves nothing"
            lines.append(f"    {title}: {labels + ' ' if labels else ''}held by {held}{more}{fights}")
        return lines

    def data(self) -> dict:
        """For JSON."""
        return {
            "model": self.model,
            "bodies": self.bodies,
            "equations": self.equations,
            "joint_equations": self.joint_equations,
            "coupling_equations": self.coupling_equations,
            "motor_equations": self.motor_equations,
            "rank": self.rank,
            "redundant": self.redundant,
            "freedoms": self.freedoms,
            "gruebler": self.gruebler,
            "redundant_rows": [vars(row) for row in self.redundant_rows],
            "determinate": self.determinate,
            "length": self.length,
            "moving": list(self.moving),
        }


def mobility(source: Model | World, with_motors: bool = False, device: str = "cpu") -> Mobility:
    """Count the freedoms of a model at its authored pose, or of a world as it is now.

    with_motors: motors that hold a position or a speed count as equations too, the joint's limit of torque
    aside; those that fight what is already held are in `conflicts`, by their targets at the present time.
    """
    with_motors = flag("mobility", "with_motors", with_motors)
    mechanism = Mechanism(source, device)
    settle(mechanism)
    kinds = (CLOSURE, COUPLING, *DRIVES) if with_motors else (CLOSURE, COUPLING)
    chosen = [i for kind in ((CLOSURE,), (COUPLING,), DRIVES) for i in mechanism.pick(*kind)]
    chosen = [i for i in chosen if mechanism.rows[i].kind in kinds]
    balance = mechanism.balance()
    size = mechanism.system.size
    turns = np.array([mechanism.rows[i].angular for i in chosen], bool)
    columns = np.tile([1.0] * 3 + [1.0 / size] * 3, len(mechanism.bodies))
    A = np.where(turns, size, 1.0)[:, None] * balance.J[chosen] * columns
    A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    parts = Decomposition.of(A, geometric_rank(A, mechanism.redundancy))
    dependent = dependent_rows(A, parts.rank)
    held_by = supports(A, dependent)
    redundant = [_redundant(mechanism, balance, chosen, i, held_by[i]) for i in dependent]
    touched = np.abs(parts.left_null).max(axis=1, initial=0.0) > TOUCHED
    vague = {mechanism.rows[i].part for i, hit in zip(chosen, touched, strict=True) if hit}
    counts = [sum(mechanism.rows[i].kind in kind for i in chosen) for kind in ((CLOSURE,), (COUPLING,), DRIVES)]
    return Mobility(
        model=mechanism.model.name,
        bodies=len(mechanism.bodies),
        joint_equations=counts[0],
        coupling_equations=counts[1],
        motor_equations=counts[2],
        rank=parts.rank,
        redundant_rows=tuple(redundant),
        determinate={name: name not in vague for name in mechanism.model.joints},
        length=size,
        gap=parts.gap,
        moving=_moving(mechanism.bodies, parts.null),
    )


def _moving(bodies: Sequence[str], null: np.ndarray) -> tuple[str, ...]:
    """Bodies that the free directions [dof, freedom] move."""
    most = np.abs(null).max(axis=1, initial=0.0).reshape(-1, 6).max(axis=1, initial=0.0)
    return tuple(name for name, far in zip(bodies, most, strict=True) if far > TOUCHED)


def _redundant(mechanism: Mechanism, balance: Balance, chosen: list[int], i: int, held_by: list[int]) -> Redundant:
    row = mechanism.rows[chosen[i]]
    kind = {CLOSURE: "joint", COUPLING: "coupling"}.get(row.kind, "motor")
    others = [mechanism.rows[chosen[k]] for k in held_by]
    names = dict.fromkeys(other.name if other.kind != CLOSURE else f"joint '{other.part}'" for other in others)
    return Redundant(kind, row.part, row.label, tuple(names), _at_odds(balance, chosen, i, held_by))


def _at_odds(balance: Balance, chosen: list[int], i: int, held_by: list[int]) -> float:
    """How far a dependent row's target rate and error are from what the rows that hold it imply."""
    rows = [chosen[k] for k in held_by]
    parts = np.linalg.lstsq(balance.J[rows].T, balance.J[chosen[i]], rcond=None)[0] if rows else np.zeros(0)
    rate = balance.rate[chosen[i]] - parts @ balance.rate[rows]
    gap = balance.error[chosen[i]] - parts @ balance.error[rows]
    worst = float(max(abs(rate), abs(gap)))
    return worst if worst > AT_ODDS else 0.0
