"""Kinematic dragging with time stopped: a point goes where the hand is, all bodies follow the joints (Wang 2011 §5.1).

Minimise ½ |p(q) - target|² over the poses that the joints, couplings, limits and contacts allow and that can be reached
from the present one without leaving them. With r = p - target, J its rows and the norm of the masses:

    while the target is in reach     Δ = Y c,  (G + μ) c = -r                    damped least squares
    at the edge of what is in reach  H Δ = -Jᵀ r, by conjugate gradients in the free directions: Newton's step
                                     with the curvature of the joints, which converges to the nearest point
    at a point farthest away         along a direction of negative curvature, if any

The first is the least motion that brings the point nearer, so that bodies not needed stay. Every step is
clamped, is followed by a projection onto the joints that must be small beside it, and must bring the point
nearer. A step that goes past the nearest point on its way is shortened: so a linkage at a dead centre stays on
the side it came from. A step that ends where branches cross (rows become dependent) is shortened too. So
neither a toggle point nor a far target makes a mechanism jump to another branch. Contacts are unilateral like limits,
without friction, and found anew at every pose; a step that would pass a shape is shortened (drag_contacts.py).
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import warp as wp

from ..author.checks import vector
from ..author.rotations import conjugate, rotate
from ..author.touching import touching_shapes
from ..engine.launch import record_launch
from ..engine.spatial import UNLIMITED, f64, vec3
from ..engine.start.consistent import refresh
from ..engine.state import TILL_STIFFER
from ..engine.system import System, SystemArrays
from ..engine.system.slots import LIMIT_HIGH, LIMIT_LOW, MOTOR_POSITION
from ..observe.bench import Bench
from . import drag_kernels as kernels
from .data import DragTo, SetState
from .drag_kernels import AXES, DragArrays
from .fit import fit
from .refusal import EditError, known
from .registry import Answer, Desk, carries_out

STEPS = 150  # of one drag at most; the next one goes on
CLAMP = 0.2  # farthest turn of a body in one step [rad]
SHARE = 0.25  # of a step that the projection after it may have
FARTHEST = 4.0  # turn beyond which a least-squares step is no guide [rad]
SHORT = 0.9  # of Newton's step: a dead centre is approached from one side and not reached
TRIES = 12  # of a step that is refused and shortened
REACHED = 1e-11  # so near is there, by the characteristic length
GAIN = 2e-12  # a step that would bring the point nearer by less is not worth it, by the characteristic length
ROUNDING = 1e-15  # of a distance
CLOSED = 1e-11  # error of joints and couplings after a step [m, rad]
SAFE = 1e-8  # strength of the weakest row with which a step may end: the distance from a crossing squared
ELSEWHERE = 10.0  # opening of rows that are redundant, in plays: where they open farther is another branch
TOUCH = 1e-10  # a limit so near is reached, and may be overrun by so much [m, rad]
CLEAR = 5e-10  # likewise a contact [m]
BRIEF, BESIDE = 0.3, 8  # of Newton's step: one that a contact ends so soon is tried along it, so many contacts at most
MOST_WORK = 3000  # looks about, each by how many contacts there are, after which a drag is left to the next
EACH = 25  # contacts that cost as much as the rest of a look
ROUNDS = 4, 12  # of bringing limits right after a step, and where contacts are among them
DAMPING = 1e-7  # of least squares, of the trace of G
FLAT = 1e-9  # curvature that counts as none, of the trace of G


class Drag:
    """A system at rest whose point is dragged: the kernels' arrays and launches, and the search."""

    def __init__(self, bench: Bench):
        system, device = bench.system, bench.system.device
        self.state, self.work = bench.state, bench.work
        slots = [r for r, slot in enumerate(system.slots) if slot.kind in (LIMIT_LOW, LIMIT_HIGH)]
        n, asked, dofs = system.counts, AXES + len(slots), system.counts.dofs
        arrays = DragArrays()
        arrays.body = wp.zeros(1, dtype=wp.int32, device=device)
        arrays.limits = wp.array(np.array(slots, np.int32), dtype=wp.int32, device=device, shape=(len(slots),))
        for name in ("p_BQ", "target", "p_WQ"):
            setattr(arrays, name, wp.zeros((1, 1), dtype=vec3, device=device))
        sizes = {
            **{"length": 1, "gap": len(slots), "eta": len(slots), "J": asked * dofs, "Y": asked * dofs},
            **{"G": asked**2, "q": n.coordinates, "loop_q": n.loop_freedoms, "change": dofs, "force": dofs},
            **{
                "lam": n.bilaterals,
                "held": n.bilaterals,
                "lack": n.bilaterals,
                "driven": n.bilaterals,
                "out": kernels.OUT,
            },
        }
        for name, size in sizes.items():
            setattr(arrays, name, wp.zeros((size, 1), dtype=f64, device=device))
        self.arrays, self.asked, self.limits, self.dofs = arrays, asked, len(slots), dofs
        self.touch = None
        if system.counts.contacts:
            from .drag_contacts import touch_of  # none of it is loaded where nothing touches

            self.touch = touch_of(system)
        names = ("body", "p_BQ", "target", "p_WQ", *sizes)
        self.views = {name: getattr(arrays, name).numpy() for name in names} if device == "cpu" else {}
        self.pointers: list[int] = []
        self.length = system.length
        self.redundancy = system.redundancy
        arrays.length.fill_(self.length)

    def start(self, system: System, body: int, at: np.ndarray, target: np.ndarray) -> None:
        """Take hold of a point of the system at rest."""
        arrays = [getattr(system.arrays, name) for name in SystemArrays.vars]  # type: ignore[attr-defined]
        pointers = [array.ptr for array in arrays if isinstance(array, wp.array)]  # roads stay with their system
        if pointers != self.pointers:
            self.pointers = pointers
            inputs = [system.arrays, self.state.arrays, self.work, self.arrays]
            self.launch = {name: record_launch(kernel, 1, inputs, system.device) for name, kernel in KERNELS.items()}
            if self.touch:
                self.touch.record(system, self.state, self.work, self.arrays)
        self._write("body", [body])
        self._write("p_BQ", at[None, None])
        self._write("target", target[None, None])
        self.target = target
        self.launch["start"]()

    def _write(self, name: str, values) -> None:
        if self.views:
            self.views[name][:] = values
        else:
            getattr(self.arrays, name).assign(np.asarray(values, np.int32 if name == "body" else float))

    def _read(self, name: str) -> np.ndarray:
        return self.views[name] if self.views else getattr(self.arrays, name).numpy()

    def out(self, row: int) -> float:
        """One number of the last launch."""
        return float(self._read("out")[row, 0])

    # the present pose ---------------------------------------------------------------------------------

    def look(self) -> None:
        """Read everything about the present pose, which steps then go from."""
        self._write("q", self.state.read("q"))
        self._write("loop_q", self.state.read("loop_q"))
        self.launch["look"]()
        self.miss = self._read("p_WQ")[0, 0] - self.target
        self.distance = float(np.linalg.norm(self.miss))
        self.gap = self._read("gap")[:, 0].copy()
        self.J = self._read("J").reshape(self.asked, self.dofs).copy()
        self.Y = self._read("Y").reshape(self.asked, self.dofs).copy()
        G = self._read("G").reshape(self.asked, self.asked)
        self.G = 0.5 * (G + G.T)
        self.scale = max(float(np.trace(self.G[:AXES, :AXES])), 0.0)
        self.near = np.full(self.limits, TOUCH)
        if self.touch:
            self._look_around()
        self.dependents, self.margin = self.out(kernels.DEPENDENTS), self.out(kernels.MARGIN)

    def _look_around(self) -> None:
        """Contacts follow the limits among what is asked; their answers are found when they are needed."""
        assert self.touch is not None
        self.touch.find()
        n, more = self.asked, len(self.touch.gap)
        self.effort += 1 + more / EACH
        self.gap = np.concatenate([self.gap, self.touch.gap])
        self.near = np.concatenate([self.near, np.full(more, CLEAR)])
        self.J = np.vstack([self.J, self.touch.J])
        self.Y = np.vstack([self.Y, np.full((more, self.dofs), np.nan)])
        G = np.full((n + more, n + more), np.nan)
        G[:n, :n], G[n:, :n] = self.G, self.touch.J @ self.Y[:n].T
        G[:n, n:] = G[n:, :n].T
        self.G = G

    def _answers(self, rows: Sequence[int]) -> None:
        """Y and G of rows that are asked."""
        for row in rows:
            if np.isnan(self.Y[row, 0]):
                self._write("force", self.J[row][:, None])
                self.launch["answer"]()
                self.Y[row] = self._read("change")[:, 0]
                self.G[:, row] = self.J @ self.Y[row]
                self.G[row] = self.G[:, row]

    def keep(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates to come back to."""
        return self.state.read("q").copy(), self.state.read("loop_q").copy()

    def back(self, kept: tuple[np.ndarray, np.ndarray]) -> None:
        """Go back to kept coordinates."""
        self.state.write("q", kept[0])
        self.state.write("loop_q", kept[1])

    def go(self, change: np.ndarray) -> bool:
        """Displace from the pose last looked at and project; False where the joints do not close."""
        self._write("change", change[:, None])
        self.launch["move"]()
        return self.out(kernels.ERROR) <= CLOSED and self.out(kernels.OPENING) <= self.farthest

    @property
    def worth(self) -> float:
        """What ½ |r|² must fall by for a step to be worth it [m²]."""
        return self.distance * (GAIN * self.length + ROUNDING * self.distance)

    def room(self) -> np.ndarray:
        """Gaps of limits and contacts; what was overrun before the drag may stay as it is."""
        if self.touch is None:
            return self.gap - self.floor
        floor = [self.overlaps.get(pair, 0.0) for pair in self.touch.pairs]
        return self.gap - np.concatenate([self.floor, floor])

    # the search ---------------------------------------------------------------------------------------

    def run(self) -> None:
        """Bring the point as near to the target as it goes."""
        self.floor = np.zeros(self.limits)
        self.overlaps: dict[tuple[int, int], float] = {}
        self.effort = 0.0
        self.pressing: set[tuple[int, int]] = set()  # shapes that keep it from the target
        self.look()
        self.farthest = max(ELSEWHERE * self.redundancy, self.out(kernels.OPENING))
        if self.out(kernels.ERROR) > CLOSED:
            if not self.go(np.zeros(self.dofs)):
                raise EditError("the joints are open and do not close from here; assemble the mechanism first")
            self.look()
        self.floor = np.minimum(self.gap[: self.limits], 0.0)
        if self.touch:
            for pair, gap in zip(self.touch.pairs, self.touch.gap.tolist(), strict=True):
                if gap < -2 * CLEAR:
                    self.overlaps[pair] = min(gap, self.overlaps.get(pair, 0.0))
        self.arrived = True
        self.guided = True  # the last least-squares step did what it promised
        for _ in range(STEPS):
            if self.distance <= REACHED * self.length:
                return
            if self.effort > MOST_WORK:
                break
            trusted, self.guided = self.guided, True
            if not ((trusted and self._least_squares()) or self._newton() or not trusted):
                return
        self.arrived = False

    def _least_squares(self) -> bool:
        """A damped least-squares step, where it comes at least half the way."""
        damping = DAMPING * self.scale
        if self.scale == 0.0:
            return False
        room = self.room()
        active: list[int] = []
        for _ in range(2 * len(room) + 1):
            n = AXES + len(active)
            rows = [0, 1, 2, *(AXES + l for l in active)]
            self._answers(rows)
            A = self.G[np.ix_(rows, rows)].copy()
            A[range(AXES), range(AXES)] += damping
            b = np.concatenate([-self.miss, -room[active]])
            c = np.linalg.solve(A, b) if n == AXES else np.linalg.lstsq(A, b, rcond=1e-12)[0]
            after = room + self.G[AXES:, rows] @ c
            pulling = [l for l, eta in zip(active, c[AXES:], strict=True) if eta < 0.0]
            crossed = [int(l) for l in np.flatnonzero(after < -self.near) if l not in active]
            if crossed:
                active.append(min(crossed, key=lambda l: after[l]))
            elif pulling:
                active.remove(pulling[0])
            else:
                break
        left = self.miss + self.G[:AXES, rows] @ c
        if float(np.linalg.norm(left)) > 0.5 * self.distance:
            return False
        return self._step(c @ self.Y[rows], active, FARTHEST)

    def _newton(self) -> bool:
        """A step of Newton's method to the nearest point, or away from the farthest, where one is worth it."""
        force, active = self._balance()
        room = self.room()
        best, step, stops, whole, beside = 0.0, np.zeros(self.dofs), list(active), 0.0, 0
        for _ in range(len(room) + 1):
            free, size = self._free(force, stops)
            whole = max(whole, size)
            if best and size <= 1e-12 * whole:
                break  # contacts leave nothing free
            way, gain = self._conjugate_gradients(force, free, size, stops)
            rate = self._rates(way)
            ahead = [int(l) for l in np.flatnonzero(rate < 0.0) if l not in stops]
            touching = [l for l in ahead if room[l] <= self.near[l]]
            if touching:
                stops.append(touching[0])
                continue
            part = min([SHORT, *(room[l] / -rate[l] for l in ahead)])  # as far as the first limit on the way
            worth = part * (2.0 - part) * gain
            if worth > best or not best:
                best, step, active = worth, part * way, list(stops)
            first = min(ahead, key=lambda l: room[l] / -rate[l], default=-1)
            beside += 1
            if gain <= self.worth or part > BRIEF or first < self.limits or beside > BESIDE:
                break
            stops.append(first)  # beside a contact that is near, not up to it
        if best <= SHORT * (2.0 - SHORT) * self.worth and gain <= self.worth:
            return self._leave_saddle(force, active)
        return self._step(step, active)

    def _rates(self, change: np.ndarray) -> np.ndarray:
        """Of the gaps along a displacement; what is rounding beside its terms is none."""
        rate = self.J[AXES:] @ change
        if self.touch:
            rate[np.abs(rate) <= 1e-12 * (np.abs(self.J[AXES:]) @ np.abs(change))] = 0.0
            rate[np.abs(rate) <= 1e-12 * np.abs(rate).max(initial=0.0)] = 0.0
        return rate

    def _balance(self) -> tuple[np.ndarray, list[int]]:
        """Slope of ½ |r|² with what the limits that it presses on carry, which are returned; sets λ and η."""
        active, eta = self._pressed()
        force = self.miss @ self.J[:AXES] + eta @ self.J[AXES:]
        self._free(force, active)
        self._write("lam", self._read("held"))
        self._write("eta", eta[: self.limits, None])
        if self.touch:
            self.touch.press(eta[self.limits :])
            self.pressing = {self.touch.pairs[l - self.limits] for l in active if l >= self.limits}
        return force, active

    def _pressed(self) -> tuple[list[int], np.ndarray]:
        """Limits that the descent presses on, and the multiplier of every limit in the slope."""
        touching = [int(l) for l in np.flatnonzero(self.room() <= self.near)]
        active: list[int] = []
        eta = np.zeros(len(self.gap))
        rate = self.G[AXES:, :AXES] @ -self.miss  # of the gaps along the descent
        least = float(np.abs(rate).max(initial=0.0)) if self.touch else 0.0  # contacts far away have none but rounding
        for _ in range(2 * len(touching) + 1):
            rows = [AXES + l for l in active]
            self._answers(rows)
            push = np.linalg.lstsq(self.G[np.ix_(rows, rows)], -rate[active], rcond=1e-12)[0] if active else eta[:0]
            along = rate + self.G[AXES:, rows] @ push
            eta[:] = 0.0
            eta[active] = -push
            pulling = [l for l in active if eta[l] > 0.0]
            crossed = [l for l in touching if along[l] < -1e-12 * max(abs(rate[l]), least) and l not in active]
            if pulling:
                active.remove(pulling[0])
            elif crossed:
                active.append(min(crossed, key=lambda l: along[l]))
            else:
                break
        return active, eta

    def _free(self, force: np.ndarray, active: list[int]) -> tuple[np.ndarray, float]:
        """P M⁻¹ force with the active limits held, and its squared size in the norm of the masses."""
        rows = [AXES + l for l in active]
        self._answers(rows)
        self._write("force", force[:, None])
        self.launch["answer"]()
        free = self._read("change")[:, 0].copy()
        if active:
            held = np.linalg.lstsq(self.G[np.ix_(rows, rows)], self.J[rows] @ free, rcond=1e-12)[0]
            free = free - held @ self.Y[rows]
        return free, float(force @ free)

    def _curvature(self, change: np.ndarray) -> np.ndarray:
        """H change."""
        self._write("change", change[:, None])
        self.launch["curve"]()
        if self.touch:
            self.touch.bend()
        return self._read("force")[:, 0].copy()

    def _conjugate_gradients(
        self, force: np.ndarray, free: np.ndarray, size: float, active: list[int]
    ) -> tuple[np.ndarray, float]:
        """The Newton step and how much it would lessen ½ |r|²; along negative curvature as far as the clamp."""
        step, gain, direction, rest, first = np.zeros(self.dofs), 0.0, -free, force, size
        if size <= 0.0:
            return step, gain
        for _ in range(2 * self.dofs + 2):
            curved = self._curvature(direction)
            bend = float(direction @ curved)
            norm = self.out(kernels.SIZE)
            if bend <= FLAT * self.scale * norm:
                reach = self._reach()
                return step + reach * direction, gain + reach * size - 0.5 * reach**2 * bend
            alpha = size / bend
            step, gain = step + alpha * direction, gain + 0.5 * alpha * size
            rest = rest + alpha * curved
            free, after = self._free(rest, active)
            if after <= 1e-4 * first or alpha * after <= 1e-3 * self.worth:
                break
            direction, size = -free + after / size * direction, after
        return step, gain

    def _reach(self) -> float:
        """How far a step along the direction last curved may go."""
        turn = max(self.out(kernels.TURN), self.out(kernels.SHIFT) / self.length)
        return CLAMP / turn if turn > 0.0 else 0.0

    def _leave_saddle(self, force: np.ndarray, active: list[int]) -> bool:
        """Where no slope is left but the point can still be brought nearer: a step along negative curvature."""
        some, _ = self._free(np.cos(np.arange(1.0, self.dofs + 1.0) ** 2), active)
        rest = self._curvature(some)
        free, size = self._free(rest, active)
        direction, first = -free, size
        for _ in range(2 * self.dofs + 2):
            if size <= max(1e-12 * first, 0.0):
                break
            curved = self._curvature(direction)
            bend, norm, reach = float(direction @ curved), self.out(kernels.SIZE), self._reach()
            if bend <= FLAT * self.scale * norm:
                if -0.5 * reach**2 * bend <= self.worth:
                    break
                return self._step((-reach if float(force @ direction) > 0.0 else reach) * direction, active)
            rest = rest + size / bend * curved
            free, after = self._free(rest, active)
            direction, size = -free + after / size * direction, after
        return False

    def _step(self, step: np.ndarray, active: list[int], farthest: float = np.inf) -> bool:
        """Take a step as far as it is clamped, stays on the joints and active limits, and comes nearer.

        False where it does not, or would turn a body farther than `farthest` [rad].
        """
        self._write("change", step[:, None])
        self.launch["size"]()
        turn, size = self.out(kernels.TURN), self.out(kernels.SIZE)
        if size == 0.0 or turn > farthest:
            return False
        share = min(1.0, CLAMP / turn) if turn > 0.0 else 1.0
        kept, start, margin, dependents = self.keep(), self.distance, self.margin, self.dependents
        room = self.room()
        touching = [l for l in active if room[l] <= self.near[l]]
        self.holding = touching  # at the pose looked at
        slope = self._slope(step)
        if self.touch:
            self.touch.mark()
        tries = 0
        while tries < TRIES:
            tries, factor = tries + 1, 0.5
            if self._arrive(share * step, share**2 * size, touching, size) and self.distance < start:
                past = self._slope(step)  # where it ends
                if self._crossing(margin, dependents):
                    tries += 3  # there is little to gain
                elif slope < 0.0 < past and self.distance > 0.1 * start:
                    factor = 0.9 * slope / (slope - past)
                else:
                    self.guided = start - self.distance > 0.1 * share * start
                    return True
            elif self.passing < 1.0:
                factor = self.passing
            self.back(kept)
            self.look()
            share *= factor
        return False

    def _slope(self, change: np.ndarray) -> float:
        """Of ½ |r|² along a displacement, as far as joints and contacts allow it here."""
        self._write("change", change[:, None])
        self.launch["project"]()
        along = self._read("change")[:, 0].copy()
        if self.touch:
            rows = [AXES + l for l in self.holding if l >= self.limits]
            if rows:
                self._answers(rows)
                held = np.linalg.lstsq(self.G[np.ix_(rows, rows)], self.J[rows] @ along, rcond=1e-12)[0]
                along = along - held @ self.Y[rows]
        return float(self.miss @ self.J[:AXES] @ along)

    def _crossing(self, margin: float, dependents: float) -> bool:
        """Whether branches cross here, unless they did at the pose before, given by its margin and rank."""
        if self.margin < SAFE:
            return self.margin < margin
        return margin >= SAFE and self.dependents > dependents

    def _arrive(self, change: np.ndarray, size: float, touching: list[int], most: float) -> bool:
        """Displace, project and look; False where the projection is large beside the step, a limit or contact is
        overrun, or a shape passed. Contacts are brought right by displacements of at most so much, squared."""
        self.passing = 1.0  # what is left of the step where it would pass a shape
        if not self.go(change):
            return False
        if self.out(kernels.CORRECTION) > SHARE**2 * size and self.out(kernels.FIRST_ERROR) > 1e-9:
            return False
        if self._passes():
            return False
        self.look()
        before = np.inf
        for count in range(ROUNDS[self.touch is not None]):
            self.holding = touching = self._followed(touching) if self.touch else touching
            room = self.room()
            deep = float(-room.min(initial=0.0))
            if count > 3 and deep > max(0.7 * before, CLEAR):
                return False  # it does not help
            before = deep if deep > CLEAR else np.inf
            off = [l for l, gap in enumerate(room) if gap < -self.near[l] or (l in touching and gap > self.near[l])]
            if not off:
                break
            rows = [AXES + l for l in off]
            self._answers(rows)
            eta = np.linalg.lstsq(self.G[np.ix_(rows, rows)], -room[off], rcond=1e-12)[0]
            if self.touch and float(eta @ -room[off]) > most:
                return False
            if not self.go(eta @ self.Y[rows]):
                return False
            self.look()
        return not (self.room() < -self.near).any() and not self._passes()

    def _passes(self) -> bool:
        """Whether the way to the present pose passes a shape."""
        if self.touch:
            self.passing = self.touch.share()
        return self.passing < 1.0

    def _followed(self, some: list[int]) -> list[int]:
        """Limits and contacts of the pose looked at before, as they are numbered now."""
        assert self.touch is not None
        were = {l - self.limits for l in some}
        now = [self.limits + i for i, k in enumerate(self.touch.was.tolist()) if k in were]
        return [l for l in some if l < self.limits] + now


KERNELS = {
    "start": kernels.start_kernel,
    "look": kernels.look_kernel,
    "move": kernels.move_kernel,
    "size": kernels.size_kernel,
    "answer": kernels.answer_kernel,
    "curve": kernels.curve_kernel,
    "project": kernels.project_kernel,
}
DRAGS: WeakKeyDictionary[System, Drag] = WeakKeyDictionary()  # a hand that drags sends many edits


@carries_out(DragTo, tells="", subject=lambda edit: (edit.body, tuple(edit.at)), moves=lambda edit: True)
def drag_to(edit: DragTo, desk: Desk) -> Answer:
    """Bring a point of a body as near to a world point as the joints allow."""
    bench = desk.bench
    system, state, work = bench.system, bench.state, bench.work
    owner = f"drag of body {edit.body!r}"
    if system.counts.worlds > 1:
        raise EditError(f"{owner}: the world has {system.counts.worlds} copies; drag in a world of one")
    if edit.body == "ground":
        raise EditError(f"{owner}: 'ground' does not move; give a body")
    body = known(owner, "body", edit.body, system.body_index)
    at = vector(owner, "at", edit.at, "m")
    target = vector(owner, "target", edit.target, "m")
    before = state.numpy().copy()
    p, q, V = (getattr(work, name).numpy()[:, 0].copy() for name in ("p_WB", "q_WB", "twist"))
    drag = DRAGS.get(system)
    if drag is None or drag.state is not state or drag.work is not work:
        drag = DRAGS[system] = Drag(bench)
    drag.start(system, body, at, target)
    try:
        drag.run()
    except EditError as error:
        state.array.assign(before)
        refresh(system, state, work)
        raise EditError(f"{owner}: {error}") from error
    if np.array_equal(state.read("q"), before[state.rows["q"]]):
        state.array.assign(before)
    else:
        _settle(bench, q, V)
    refresh(system, state, work)
    moved = float(np.linalg.norm(work.p_WB.numpy()[:, 0] - p, axis=1).max())
    places = {
        name: {
            "position": tuple(map(float, p[i])),
            "orientation": tuple(map(float, q[i] / np.linalg.norm(q[i]))),
            "velocity": tuple(map(float, V[i, 3:])),
            "angular_velocity": tuple(map(float, V[i, :3])),
        }
        for i, name in enumerate(system.tree.bodies)
    }
    return Answer(_told(edit, system, drag), moved=moved, inverse=SetState(places))


def _told(edit: DragTo, system: System, drag: Drag) -> str:
    """What became of it."""
    if drag.distance <= REACHED * drag.length:
        return f"body '{edit.body}': the dragged point is at the target"
    where = "as near as it goes" if drag.arrived else "still on its way"
    told = f"body '{edit.body}': the dragged point is {where}, {drag.distance:.3g} m from the target"
    strong = system.parameter("slot_a")[:, 0] >= float(UNLIMITED)
    holding = [slot.name for r, slot in enumerate(system.slots) if slot.kind == MOTOR_POSITION and strong[r]]
    told = f"{told}; motors hold {', '.join(holding)}" if holding else told
    owners = [shape.owner for shape in touching_shapes(system.model)] if drag.pressing else []
    stops = dict.fromkeys(f"'{owners[a]}' and '{owners[b]}' touch" for a, b in sorted(drag.pressing))
    return "; ".join([told, *stops])


def _settle(bench: Bench, turns: np.ndarray, twists: np.ndarray) -> None:
    """Bodies keep the velocities they had, along their own axes, as far as the joints allow."""
    system, state, work = bench.system, bench.state, bench.work
    state.write("impulse", np.zeros_like(state.read("impulse")))  # of another pose
    state.forget(TILL_STIFFER)
    refresh(system, state, work)
    drag = DRAGS[system]
    if drag.touch:
        drag.touch.keep()
    if twists.any():
        p, q = work.p_WB.numpy().copy(), work.q_WB.numpy().copy()
        carried = [rotate(q[:, 0], rotate(conjugate(turns), part)) for part in (twists[:, :3], twists[:, 3:])]
        fit(system, state, work, (p, q, np.hstack(carried)[:, None]), CLOSED)
