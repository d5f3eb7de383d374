"""Contacts of a mechanism at rest: what touches, and the forces by which bodies hold each other up.

With Z the directions that the joints leave free (Zᵀ M Z = 1), g = Zᵀ f the forces along them and A = Jc Z the rows of
the contacts, it rests if some p in Coulomb's cones, with static friction, has

    g + Aᵀ p = 0

The least p comes from the solver of steps (engine/solve/coulomb.py). Where that finds a motion, which with much
friction may exist beside a rest, the least |g + Aᵀ p| over the cones decides (Lawson and Hanson 1974): cones are
polygons there, whose corners are made denser about those in use until they are as good as round.
"""

# mypy: disable-error-code="index,operator,union-attr"

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import warp as wp

from ..author.touching import touching_shapes
from ..edits.drag_contacts import Touch, touch_of
from ..edits.drag_kernels import DragArrays
from ..engine.constrain.contact import DEAD, NORMAL, SLIP, SPIN, STICKS, append_contact
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.tree import articulate, kinematics
from ..engine.integrate.contacts import surface_of
from ..engine.launch import launch, record_launch
from ..engine.methods.base import apart
from ..engine.solve.coulomb import Bounded, solve_bounded
from ..engine.solve.islands import ContactArrays
from ..engine.spatial import ONE, ZERO, f64
from ..engine.start.contacts import room_for_problem
from ..engine.state import StateArrays, WorkArrays
from ..engine.system import SystemArrays
from ..observe.contacts import Contact
from .bodies import Mechanism

CLOSED = float(DEAD)  # so near is touching [m]
BALANCED = 1e-9  # force that is left, of all forces
NO_END = 1e300  # a bound that is none
CORNERS = 16  # of a cone's polygon to begin with
ROUNDS = 12  # of making it denser
PUSHES = 12  # rounds of taking overlaps away


def rest_rows(m: SystemArrays, s: StateArrays, x: WorkArrays, c: ContactArrays):
    """Rows of all contacts found that are closed, as if they stuck, over a step of 1 s: impulses are forces."""
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    articulate(m, x, w)
    for i in range(c.found.count[0, w]):
        if c.found.gap[i, w] <= DEAD:
            c.found.mode[i, w] = STICKS
            surface = surface_of(m, c, i, w)
            append_contact(m, s, x, c.shapes, c.found, i, surface, ONE, ZERO, w)


def solve_rows(p: Bounded, error: wp.array(dtype=f64)):
    """One problem of rows with bounds."""
    w = wp.tid()
    error[w] = solve_bounded(p, w)


@dataclass(frozen=True)
class StaticContact(Contact):
    """A contact of a mechanism at rest."""

    friction: float  # static friction that there is
    used: float  # that this force uses: its part across the normal over that along it
    determinate: bool  # whether the force is unique, or one of those inside the cones


@dataclass
class Cones:
    """Rows of the closed contacts: each normal's, followed by those that it bounds."""

    J: np.ndarray  # [row, dof]
    contact: np.ndarray  # [row] number among those found
    kind: np.ndarray  # [row] NORMAL, SLIP, SPIN or ROLL
    axis: np.ndarray  # [row, 3] force on the second body for a unit of the row; 0 of a torque
    high: np.ndarray  # [row] bound, of the normal's force where the row has one
    of: np.ndarray  # [row] that normal's row, -1: none
    group: np.ndarray  # [row] of rows bounded together: how many at the first, 0 at the others

    def __len__(self) -> int:
        return len(self.contact)


@dataclass
class Pressing:
    """Forces of contacts along the free directions: some with which it rests, else those with which it would begin to
    move."""

    g: np.ndarray  # [freedom]
    A: np.ndarray  # [row, freedom]
    cones: Cones
    solve: Callable[..., np.ndarray] = field(repr=False)
    scale: float  # of all forces

    @cached_property
    def p(self) -> np.ndarray:
        """[row] [N, N m]"""
        if not len(self.cones):
            return np.zeros(0)
        p = self.solve(self.A @ self.A.T, self.A @ self.g, self.cones)
        if self._left(p) > BALANCED * self.scale:
            other = self.by_edges(1.0)
            p = other if self._left(other) <= BALANCED * self.scale else p
        return p

    def _left(self, p: np.ndarray) -> float:
        return float(np.linalg.norm(self.g + self.A.T @ p))

    @property
    def left(self) -> np.ndarray:
        """What is out of balance [freedom]."""
        return self.g + self.A.T @ self.p

    @property
    def rests(self) -> bool:
        return float(np.linalg.norm(self.left)) <= BALANCED * self.scale

    def by_edges(self, share: float) -> np.ndarray:
        """p by least squares over the edges of the cones, with a share of all friction."""
        from scipy.optimize import nnls

        tops = np.flatnonzero(self.cones.kind == NORMAL).tolist()
        angles = [np.arange(CORNERS) * 2 * np.pi / CORNERS for _ in tops]
        spacing, best, least = 2 * np.pi / CORNERS, np.zeros(len(self.cones)), np.inf
        for _ in range(ROUNDS):
            edges = [self._edges(top, turns, share) for top, turns in zip(tops, angles, strict=True)]
            E = np.vstack(edges)
            found, _rest = nnls((E @ self.A).T, -self.g, maxiter=50 * E.shape[0])
            p = E.T @ found
            gain, before = self._left(p) < 0.999 * least, least
            if self._left(p) < least:
                best, least = p, self._left(p)
            if least <= 0.1 * BALANCED * self.scale or (not gain and before < np.inf and spacing < 1e-6):
                break
            spacing /= 4
            for k, top in enumerate(tops):
                across = self._across(top)
                if len(across):
                    turn = np.arctan2(p[across[1]], p[across[0]]) if len(across) == 2 else 0.0
                    angles[k] = np.concatenate([angles[k], turn + spacing * np.arange(-3, 4)])
        return best

    def _across(self, top: int) -> np.ndarray:
        return np.flatnonzero((self.cones.of == top) & (self.cones.kind == SLIP))

    def _edges(self, top: int, angles: np.ndarray, share: float) -> np.ndarray:
        """Forces along the edges of one contact's cone, for a unit along the normal [edge, row]."""
        cones, across = self.cones, self._across(top)
        edge = np.zeros((1, len(cones)))
        edge[0, top] = 1.0
        if len(across):
            edge = np.repeat(edge, len(angles), axis=0)
            edge[:, across[0]] = share * cones.high[across[0]] * np.cos(angles)
            edge[:, across[1]] = share * cones.high[across[0]] * np.sin(angles)
        turns = np.flatnonzero((cones.of == top) & (cones.kind != SLIP))
        spin, roll = (turns[(cones.kind[turns] == SPIN) == is_spin] for is_spin in (True, False))
        for row in spin:
            edge = np.repeat(edge, 2, axis=0)
            edge[::2, row], edge[1::2, row] = cones.high[row], -cones.high[row]
        if len(roll):
            edge = np.repeat(edge, CORNERS, axis=0)
            turn = np.tile(np.arange(CORNERS) * 2 * np.pi / CORNERS, len(edge) // CORNERS)
            edge[:, roll[0]], edge[:, roll[1]] = cones.high[roll[0]] * np.cos(turn), cones.high[roll[0]] * np.sin(turn)
        return edge

    def least_share(self, most: float = 1.0) -> float:
        """The least share of all static friction with which it rests; infinity where `most` is not enough."""
        tolerance = 10 * BALANCED * self.scale
        if self._left(self.by_edges(0.0)) <= tolerance:
            return 0.0
        if self._left(self.by_edges(most)) > tolerance:
            return np.inf
        low, high = 0.0, most
        while high - low > 1e-7 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self._left(self.by_edges(middle)) <= tolerance else (middle, high)
        return high


class Resting:
    """Contacts of a mechanism that is moved about at rest."""

    def __init__(self, mechanism: Mechanism, touch: Touch):
        self.mechanism, self.touch = mechanism, touch
        system, state, work = mechanism.system, mechanism.state, mechanism.work
        touch.record(system, state, work, DragArrays())
        inputs = [system.arrays, state.arrays, work, touch.contacts]
        self._rows = record_launch(apart(rest_rows), 1, inputs, system.device)
        self.shapes = touching_shapes(mechanism.model)

    def find(self) -> None:
        """Contacts near the present pose, of which poses are known (`Mechanism.balance`)."""
        self.touch.find()
        self.gap, self.N = self.touch.gap, self.touch.J

    def names(self, contact: int) -> str:
        a, b = self.touch.pairs[contact]
        return f"'{self.shapes[a].owner}' and '{self.shapes[b].owner}'"

    def cones(self) -> Cones:
        """Rows of the contacts found that are closed."""
        self._rows()
        work, slots = self.mechanism.work, len(self.mechanism.system.slots)
        count = int(work.row_count.numpy()[0, 0]) if (self.gap <= CLOSED).any() else slots
        rows = np.arange(slots, count)
        names = ("kind", "part", "high", "bound_of", "group")
        kind, part, high, of, group = (getattr(work, f"row_{name}").numpy()[rows, 0] for name in names)
        first, second, slide, turn, point = (
            getattr(work, f"pair_{name}").numpy()[rows - slots, 0]
            for name in ("first", "second", "slide", "turn", "point")
        )
        J, p_WB = np.zeros((len(rows), self.mechanism.dofs)), work.p_WB.numpy()[:, 0]
        for k in range(len(rows)):
            for body, sign in ((first[k], -1.0), (second[k], 1.0)):
                if body >= 0:
                    J[k, 6 * body : 6 * body + 3] = sign * slide[k]
                    J[k, 6 * body + 3 : 6 * body + 6] = sign * (turn[k] + np.cross(point[k] - p_WB[body], slide[k]))
        bound = np.where(of >= 0, of - slots, -1)
        return Cones(J, part, kind, slide, np.where(kind == NORMAL, NO_END, high), bound, group)

    def press(self, Z: np.ndarray, force: np.ndarray, scale: float, friction: bool = True) -> Pressing:
        """What the closed contacts do about a force [dof]."""
        cones = self.cones()
        if not friction:
            top = cones.kind == NORMAL
            n = int(top.sum())
            cones = Cones(
                cones.J[top], cones.contact[top], cones.kind[top], cones.axis[top], cones.high[top],
                np.full(n, -1), np.ones(n, np.int32),
            )  # fmt: skip
        return Pressing(Z.T @ force, cones.J @ Z, cones, self.solve, scale)

    def solve(self, W: np.ndarray, b: np.ndarray, cones: Cones) -> np.ndarray:
        """p of a problem by the solver of steps."""
        of, low = cones.of, np.where(cones.kind == NORMAL, 0.0, -cones.high)
        return self.bounded(W, b, low, cones.high, cones.group, of)

    def bounded(self, W, b, low, high, group=None, of=None) -> np.ndarray:
        """p with w = W p + b and bounds; by default every row has its own."""
        n = len(b)
        if n == 0:
            return np.zeros(0)
        device = self.mechanism.system.device
        problem = room_for_problem(n, 1, device)
        at = np.arange(n) * (np.arange(n) + 1) // 2
        given = {
            "count": [n],
            "start": np.zeros(n),
            "at": at,
            "W": W[np.tril_indices(n)],
            "b": b,
            "group": np.ones(n) if group is None else group,
            "of": np.full(n, -1) if of is None else of,
            "low": low,
            "high": high,
        }
        for name, values in given.items():
            array = getattr(problem, name)
            array.assign(np.asarray(values, np.int32 if array.dtype is wp.int32 else float)[:, None])
        error = wp.zeros(1, dtype=f64, device=device)
        launch(apart(solve_rows), 1, [problem, error], device)
        return problem.p.numpy()[:, 0].copy()

    def push_out(self, Z_of: Callable[[], np.ndarray], close: Callable[[], bool]) -> bool:
        """Take overlaps away by the least motion, joints closed again after each round; False where some stay."""
        for _ in range(PUSHES):
            self.find()
            if not (self.gap < -CLOSED / 2).any():
                return True
            near = self.gap < 1e-3 * self.mechanism.size
            A = self.N[near] @ (Z := Z_of())
            b = np.where(np.abs(self.gap[near]) <= CLOSED / 2, 0.0, self.gap[near])
            eta = self.bounded(A @ A.T, b, np.zeros(len(b)), np.full(len(b), NO_END))
            self.mechanism.move(Z @ (A.T @ eta))
            if not close():
                return False
        self.find()
        return not (self.gap < -CLOSED).any()


def resting_of(mechanism: Mechanism) -> Resting | None:
    """None where nothing can touch."""
    touch = touch_of(mechanism.system)
    return None if touch is None else Resting(mechanism, touch)
