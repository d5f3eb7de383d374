"""Which rows of the loops are redundant by construction: decided when a world is built or edited, by geometry.

The closures and couplings of a spanning tree are looked at in several poses that the mechanism can take, whatever the
coordinates of the world: their Jacobian over the motions of the tree, by the twists of all bodies, free of masses,
turns and shifts made comparable by the mechanism's size. Rows are taken strongest first (system/rank.py), those of
short loops before those of long ones, so that what a part of the mechanism can hold by itself it does. A pivot below
the tolerance asks for less than that of its neighbours, in rad or sizes: such a row is redundant. It may stay open by
that much, as a bearing does by its play, and it is no row.

    rank     the largest over the poses: at a singular position it is lower, and that is a matter of the instant
    basis    rows as many as the rank that are strong in all poses; the others are spare
    idle     rows that vanish in every pose, closed or not: out of the plane of a planar mechanism

Poses are found from a first one, closed on the rows taken so far, along what these leave free. A row not taken
that opens on the way is not implied by them: it is taken too, and the poses are looked for anew.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import warp as wp

from ...author.model import Model
from ..constrain import kinds
from ..constrain.frames import follow_loops
from ..constrain.topology import list_rows
from ..coordinates.inverse import joint_inertia
from ..coordinates.retract import move_coordinates
from ..coordinates.tree import kinematics
from ..launch import launch
from ..spatial import ONE, ZERO, f64
from ..state import State, StateArrays, WorkArrays, allocate_work
from ..system import System, SystemArrays
from ..system.rank import strongest, weak_below
from ..system.slots import CLOSURE, COUPLING, IDLE, Slot
from ..system.tree import JointKey, has_loop

REACHES = (0.15, -0.3, 0.45, -0.6, 0.8)  # how far poses are looked for, largest freedom [rad, sizes]
POSES = 1 + len(REACHES)
STRANGE = 3  # random poses, where loops are not closed
CLOSED = 1e-11  # [rad, sizes]
ROUNDS = 30  # of Newton's method that closes a pose
STRIDE = 0.3  # largest step of it
SHARE = 0.2  # of the square of an opening: error of the rows kept that it may mean
SAME = 1e-9  # singular value, of the largest, that is rounding
BY_JOINT = ("p_PF", "q_PF", "p_CM", "q_CM", "R_PF", "R_CM", "q_zero", "pitch", "length")


@wp.kernel(enable_backward=False)
def rows_kernel(m: SystemArrays, s: StateArrays, x: WorkArrays):
    """J and position errors of all closures, couplings and motors at the present coordinates."""
    w = wp.tid()
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    for r in range(x.row_count[0, w]):
        if kinds.is_equation(x, r, w) or kinds.is_drive(x, r, w):
            kinds.fill(m, s, x, r, ZERO, ONE, w)


@wp.kernel(enable_backward=False)
def move_kernel(m: SystemArrays, s: StateArrays, change: wp.array2d(dtype=f64)):
    """q ← q ⊕ change."""
    move_coordinates(m, s, change, wp.tid())


@wp.kernel(enable_backward=False)
def inertia_kernel(m: SystemArrays, x: WorkArrays, M: wp.array2d(dtype=f64)):
    """Joint-space inertia where `rows_kernel` has been."""
    joint_inertia(m, x, M, wp.tid())


@dataclass(frozen=True)
class Choice:
    """What was decided of one world, over the rows of `Loops`."""

    basis: list[int]
    idle: list[int]
    weak: float  # strength below which a singular position is near
    opening: float  # largest of a row that is left out, in the poses looked at [rad, sizes]


class Loops:
    """Closures and couplings over the freedoms of a spanning tree, in several poses at once."""

    def __init__(self, model: Model, device: str):
        self.system = System(model, POSES, device, "generalized", checked=True)
        self.state = State(self.system.counts, device)
        self.work = allocate_work(self.system.counts, device)
        bodies, dofs = self.system.counts.bodies, self.system.counts.dofs
        # so that the joint-space inertia is the metric of the bodies' twists, in rad and sizes
        self.system.replace_parameter("mass", np.full((bodies, 1), self.system.size**-2))
        self.system.replace_parameter("inertia", np.tile(np.eye(3), (bodies, 1, 1, 1)))
        self._inertia = wp.zeros((dofs * dofs, POSES), dtype=f64, device=device)
        self.rows = [r for r, slot in enumerate(self.system.slots) if slot.kind in (CLOSURE, COUPLING)]
        self.keys = [row_key(self.system.slots[r]) for r in self.rows]
        self._row = np.sqrt(self.system.arrays.slot_weight.numpy()[self.rows])
        self._couplings = np.array([self.system.slots[r].kind == COUPLING for r in self.rows], bool)
        self._offset = np.zeros((len(self.rows), 1))
        self._worth = np.array([float(self._loop(self.system.slots[r])) ** -2 for r in self.rows])

    def _loop(self, slot: Slot) -> int:
        """How many bodies the loop of a row goes through."""
        if slot.kind == COUPLING:
            return 1
        joint, parents = self.system.joints[slot.part], self.system.tree.parents
        ways = []
        for name in (joint.first, joint.second):
            body, way = self.system.body_index.get(name, -1), set()
            while body >= 0:
                way.add(body)
                body = parents[body]
            ways.append(way)
        return max(1, len(ways[0] ^ ways[1]))

    def start(self, q: np.ndarray) -> None:
        """Put all poses at coordinates q; couplings count from there."""
        self.state.write("q", np.repeat(q[:, None], POSES, axis=1))
        self._offset[:] = 0.0
        self._offset[self._couplings] = self.look(anew=True)[1][self._couplings, :1]

    def look(self, anew: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """J [pose, row, motion] and position errors [row, pose], in rad and sizes.

        Motions are those of the tree that are orthonormal by the twists of all bodies, where looked at `anew` last.
        """
        inputs = [self.system.arrays, self.state.arrays, self.work]
        launch(rows_kernel, POSES, inputs, self.system.device)
        J = self.system.dense_rows(self.work.J.numpy(), range(POSES))[:, self.rows]
        error = self._row[:, None] * self.work.row_error.numpy()[self.rows]
        if anew:
            dofs = self.system.counts.dofs
            inputs = [self.system.bare_arrays, self.work, self._inertia]
            launch(inertia_kernel, POSES, inputs, self.system.device)
            metric = self._inertia.numpy().T.reshape(POSES, dofs, dofs)
            self._motions = np.linalg.inv(np.linalg.cholesky(metric)).transpose(0, 2, 1)  # [pose, dof, motion]
        return self._row[:, None] * (J @ self._motions), error - self._offset

    def move(self, change: np.ndarray) -> None:
        """Move every pose by [pose, motion], in rad and sizes."""
        along = (self._motions @ change[:, :, None])[:, :, 0].T
        given = wp.array(along.copy(), dtype=f64, device=self.system.device)
        launch(move_kernel, POSES, [self.system.arrays, self.state.arrays, given], self.system.device)

    def close(self, kept: list[int]) -> np.ndarray:
        """Bring every pose onto the rows kept; returns whether each got there."""
        for _ in range(ROUNDS):
            J, error = self.look()
            off = np.abs(error[kept]).max(axis=0, initial=0.0)
            if (off <= CLOSED).all():
                break
            change = np.array([-_least(J[p, kept], error[kept, p]) for p in range(POSES)])
            largest = np.abs(change).max(axis=1, keepdims=True, initial=0.0)
            self.move(change * np.minimum(1.0, STRIDE / np.maximum(largest, STRIDE)))
        return off <= CLOSED

    def decide(self, q: np.ndarray, tolerance: float) -> Choice:
        """Rank and basis from coordinates q on."""
        random = np.random.default_rng(0)
        self.start(q)
        J, error = self.look()
        loose = 10.0 * float(np.abs(error).max(initial=0.0))  # joints that are open make rows seem independent
        kept = strongest(J[0], max(tolerance, loose), self._worth)
        self.close(kept)
        home = self.state.read("q").copy()
        while True:
            J, error = self.look(anew=True)
            free = _null(J[0, kept])
            if not free.shape[1]:
                poses = [0]
                break
            change = np.zeros((POSES, J.shape[2]))
            for p, reach in enumerate(REACHES, 1):
                direction = free @ random.normal(size=free.shape[1])
                change[p] = reach / np.abs(direction).max() * direction
            self.move(change)
            poses = np.flatnonzero(self.close(kept)).tolist() or [0]
            J, error = self.look(anew=True)
            more = self._missing(J, error, kept, poses, tolerance)
            if more is None:
                break
            kept.append(more)
            self.state.write("q", home)
            self.close(kept)
            home = self.state.read("q").copy()
        opening = float(np.abs(error[:, poses]).max(initial=0.0))
        basis = best_basis(J[poses], kept, tolerance, self._worth)
        weak = weak_below(self._usual(poses, basis))
        return Choice(basis, self._idle(J, random, tolerance), weak, opening)

    def _usual(self, poses: list[int], basis: list[int]) -> float:
        """Strength of the weakest of the rows that hold the mechanism, motors' too, as kernels judge it: the median."""
        spare = set(np.delete(self.rows, basis).tolist())
        held = [r for r in self.system.arrays.bilateral.numpy().tolist() if r not in spare]
        found = []
        for own in self.system.dense_rows(self.work.J.numpy(), poses)[:, held]:
            rows = self.system.scaled_rows(own, held)
            rows = rows[rows.any(axis=1)]  # a motor that is no row has none
            found.append((np.diag(np.linalg.qr(rows.T, mode="r")) ** 2).min(initial=1.0))
        return float(np.median(found))

    def _missing(
        self, J: np.ndarray, error: np.ndarray, kept: list[int], poses: list[int], tolerance: float
    ) -> int | None:
        """A row that those kept do not imply: it has opened, or the rank is higher elsewhere."""
        others = np.setdiff1d(np.arange(len(self.rows)), kept)
        if not len(others) or not poses:
            return None
        opened = np.abs(error[others][:, poses]).max(axis=1)
        if opened.max() > tolerance:
            return int(others[np.argmax(opened)])
        for p in poses:
            if len(strongest(J[p], tolerance, self._worth)) > len(kept):
                left = J[p, others] - (J[p, others] @ np.linalg.pinv(J[p, kept], rcond=SAME)) @ J[p, kept]
                return int(others[np.argmax(np.linalg.norm(left, axis=1))])
        return None

    def _idle(self, J: np.ndarray, random: np.random.Generator, tolerance: float) -> list[int]:
        """Closures that vanish in every pose, also where the loops are not closed."""
        size = np.linalg.norm(J, axis=2).max(axis=0)
        system = self.system
        q = random.normal(size=(system.counts.coordinates, POSES))
        slides = {c for (_, code), c in system.coordinate.items() if code <= 2 and c >= 0}
        q[sorted(slides)] *= system.size
        for joint, start in zip(system.tree.carriers, system.arrays.coordinate_start.numpy(), strict=False):
            if joint.kind.groups and joint.kind.groups[-1].is_ball:
                ball = start + len(joint.kind.freedoms) - 3
                q[ball : ball + 4] /= np.linalg.norm(q[ball : ball + 4], axis=0)
        self.state.write("q", q)
        size = np.maximum(size, np.linalg.norm(self.look(anew=True)[0][:STRANGE], axis=2).max(axis=0))
        return [i for i in np.flatnonzero(size <= tolerance).tolist() if not self._couplings[i]]


def best_basis(J: np.ndarray, kept: list[int], tolerance: float, worth: np.ndarray) -> list[int]:
    """Of the strongest rows of each pose those that are strongest where they are weakest."""
    orders = [order for own in J if len(order := strongest(own, tolerance, worth)) == len(kept)]

    def weakest(rows: Iterable[int]) -> float:
        sizes = [np.linalg.svd(own[list(rows)], compute_uv=False)[-1] for own in J]
        return float(np.sort(sizes)[len(sizes) // 3])  # some pose may be near a singular one

    candidates: list[list[int]] = [kept, *orders]
    return sorted(max(candidates, key=weakest)) if kept else []


def _null(J: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span what the rows leave free."""
    if not len(J):
        return np.eye(J.shape[1])
    _, sigma, Vt = np.linalg.svd(J)
    return Vt[int((sigma > SAME * sigma[0]).sum()) :].T


def _least(J: np.ndarray, error: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(J, error, rcond=SAME)[0]


def row_key(slot: Slot) -> tuple:
    """Part and lock of a row, the same in both coordinates."""
    return slot.name, COUPLING if slot.kind == COUPLING else CLOSURE, slot.code


def choose_rows(system: System, tolerance: float, start: Callable[[System, int], np.ndarray] | None = None) -> None:
    """Decide which rows of a system hold it, and write that into it.

    start gives the coordinates of a spanning tree in a world; by default those of the authored pose. Worlds whose
    joints are placed alike are decided once. A row leaves the system where it is idle in every world.
    """
    system.redundancy = tolerance
    if not (has_loop(system.model) or system.model.couplings):
        return
    loops = Loops(system.model, system.device)
    if not loops.rows:
        return
    placed = {name: system.parameter(name) for name in BY_JOINT if name in system.parameters}
    differ = max(values.shape[1] for values in placed.values())
    choices = []
    for w in range(differ):
        if differ > 1:
            _place(loops.system, placed, system.joint_index, w)
        q = start(loops.system, w) if start else loops.system.start_coordinates()
        choices.append(loops.decide(q, tolerance))
    slot_of = {row_key(slot): r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, COUPLING, IDLE)}
    rows = np.array([slot_of[key] for key in loops.keys])
    basis = np.ones((len(system.slots), differ))
    for w, choice in enumerate(choices):
        basis[np.delete(rows, choice.basis), w] = 0.0
    if system.coordinates == "generalized":
        idle = set.intersection(*[set(choice.idle) for choice in choices])
        system.drop_rows([int(rows[i]) for i in sorted(idle)])
    held = [r for r, slot in enumerate(system.slots) if slot.kind in (CLOSURE, COUPLING)]
    slack = SHARE * np.array([choice.opening for choice in choices]) ** 2  # tilts shift the rows kept by their square
    system.spare_rows(basis, basis[held].sum(axis=0), slack)
    if system.coordinates == "generalized":  # rows of free bodies are their joints', and strong
        system.replace_parameter("weak", np.array([[choice.weak for choice in choices]]))


def spare_rows(model: Model, tolerance: float, device: str) -> set[tuple]:
    """Keys of the rows that are redundant in a model at its authored pose."""
    if not (has_loop(model) or model.couplings):
        return set()
    loops = Loops(model, device)
    if not loops.rows:
        return set()
    basis = set(loops.decide(loops.system.start_coordinates(), tolerance).basis)
    return {key for i, key in enumerate(loops.keys) if i not in basis}


def _place(system: System, placed: dict[str, np.ndarray], there: Mapping[JointKey, int], w: int) -> None:
    """Give a tree the joint frames of one world of another system."""
    pairs = [(i, there[key]) for key, i in system.joint_index.items() if key in there]
    for name, values in placed.items():
        if name == "q_zero":
            continue
        data = system.parameter(name)[:, :1]
        for i, other in pairs:
            data[i, 0] = values[other, min(w, values.shape[1] - 1)]
        system.replace_parameter(name, data)
    q_PF, q_CM = system.parameter("q_PF"), system.parameter("q_CM")
    system.replace_parameter("q_zero", system.zero_orientations(q_PF, q_CM))
