"""`LargeWorld`: one world of up to millions of bodies, on the CPU or a GPU.

    fixed   steps of second order, of first where there is contact, a fluid, a load or something that acts in joints
    pair    Dormand and Prince 5(4), sub-steps by error control, both projections after each

A step of first order grows without bound where it is longer than 2 / ω, ω² the largest by which the forces of joints
turn a body back: of a straight chain under a tension T, of links with the length l and the inertia I across, T l / I.
So a nominal step is divided where the forces of the last one ask for it, and the report says into how many parts.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from ...author.checks import positive, vector, whole
from ...author.errors import ModelError, StepError
from ...author.model import Model
from ...engine.device import check_device
from ...engine.large.bench import LargeBench, Pair
from ...engine.large.bulk import Bulk
from ...engine.large.contacts import Contacts, Touching
from ...engine.large.hand import Hand, spring_of
from ...engine.large.pile import Pile
from .models import bulk_of

METHODS = ("fixed", "pair")
SAFE = 0.8  # of the longest step that does not grow
LOOKS = 8  # steps between two looks at the longest step
MOST_PARTS = 10_000
LOOK_TWICE = 100  # parts beyond which joints are looked at before they are taken
TORN = 0.01  # of a length of the parts: joints that are so far apart do not hold
FIRST_ROUNDS = 6  # of removing position errors at the start
CLOSINGS, CLOSED = 20, 1e-9  # before them where joints are farther apart than such a part of that length
KEPT = 10  # parts of a snapshot
GROWTH, SHRINK, MARGIN = 5.0, 0.2, 0.9  # of sub-steps under error control


@dataclass(frozen=True)
class LargeReport:
    """How the last steps went."""

    time: float  # simulated [s]
    steps: int  # nominal ones
    parts: int  # sub-steps, of all of them
    evaluations: int  # factors of A
    rejected: int  # sub-steps taken again, shorter
    contacts: int  # of the last step, those that are only near among them
    overlap: float  # largest [m]
    position_error: float  # largest of a joint's row [m, rad]
    velocity_error: float  # largest |J v| [m/s, rad/s]
    unsettled: int = 0  # freedoms of the last step in which what acts is not met to rounding
    residual: float = 0.0  # of a net's last solve, by the size of its right-hand side


class LargeWorld:
    """A running large world. `positions`, `orientations` and `velocities` are arrays of all bodies.

    dt: nominal step [s]; rounds: of removing position errors after a step, 2 do for small ones; substeps: of a step
    of a world in which something touches.
    """

    def __init__(
        self,
        what: Bulk | Model,
        dt: float = 1e-3,
        method: str = "fixed",
        rtol: float = 1e-6,
        atol: float = 1e-6,
        rounds: int = 3,
        substeps: int = 8,
        device: str = "cpu",
    ):
        if method not in METHODS:
            raise ModelError(f"LargeWorld: method is {method!r}, expected one of: {', '.join(METHODS)}")
        for name, value in (("dt", dt), ("rtol", rtol), ("atol", atol)):
            positive("LargeWorld", name, value, "s" if name == "dt" else "1")
        self.method, self.dt, self.device = method, float(dt), check_device(device)
        self.rounds = whole("LargeWorld", "rounds", rounds, 1, 100)
        bulk = bulk_of(what) if isinstance(what, Model) else what
        if not isinstance(bulk, Bulk):
            raise ModelError(f"LargeWorld takes a Model or a Bulk, not {type(what).__name__}")
        if bulk.touches and method == "pair":
            raise ModelError(f"{bulk.name}: method 'pair' has no contact; take method='fixed', or radii of 0")
        self.substeps = whole("LargeWorld", "substeps", substeps, 1, 1000) if bulk.touches else 1
        self.bodies, self.joints, self._length = bulk.bodies, bulk.joints, _length(bulk)
        self.bench, self.contacts = self._build(bulk)
        self.time, self.count = 0.0, 0
        self._longest, self._drag, self._since = math.inf, math.inf, LOOKS - 1
        self._next = self.dt
        self.hand: Hand | None = None
        if method == "pair":
            self._pair = Pair(self.bench, float(rtol), float(atol), self._length)
        if self.bench.laws and method == "pair":
            raise ModelError(f"{bulk.name}: method 'pair' has no features of joints nor springs; take method='fixed'")
        if bulk.loads and method == "pair":
            raise ModelError(f"{bulk.name}: method 'pair' has no loads; take method='fixed'")
        if self.joints:
            self._start()

    def _build(self, bulk: Bulk) -> tuple[LargeBench, Touching | None]:
        bench = LargeBench(bulk, self.device)
        if not bulk.touches:
            return bench, None
        return bench, Pile(bench) if any(bulk.shapes) else Contacts(bench)

    def _start(self) -> None:
        """Make the first state what the joints allow."""
        for _ in range(CLOSINGS):
            if self.errors()[0] <= CLOSED * self._length:
                break
            self.bench.close(1)
        self.bench.start(FIRST_ROUNDS)
        apart = self.errors()[0]
        if not apart <= TORN * self._length:
            raise ModelError(
                f"{self.bench.bulk.name}: joints stay {apart:.3g} m or rad apart at the start: no poses near those"
                " given close them all; correct the places of their frames"
            )

    # stepping -------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> LargeReport:
        """Take n nominal steps."""
        n = whole("step", "n", n, 1, 10**9)
        parts = evaluations = rejected = 0
        with self._kept():
            for _ in range(n):
                if self.hand:
                    self.hand.pull()
                if self.method == "fixed":
                    taken = self._step_fixed()
                    parts, evaluations = parts + taken, evaluations + 2 * taken
                else:
                    taken, refused = self._step_pair()
                    parts, rejected = parts + taken, rejected + refused
                    evaluations += 9 * taken + 7 * refused
                self.count += 1
                self.time += self.dt
            residual, position, velocity = self._checked()
        count, overlap = self._touching()
        unsettled = self._unsettled()
        return LargeReport(
            self.time, n, parts, evaluations, rejected, count, overlap, position, velocity, unsettled, residual
        )

    def _checked(self) -> tuple[float, float, float]:
        """Residual of nets, position and velocity error; raises where joints do not hold."""
        residual = self._largest(self.bench.residual)
        position, velocity = self.errors()
        if not math.isfinite(position + velocity):
            raise self._broken()
        if position > TORN * self._length and (residual or not self.contacts):
            raise StepError(
                f"at {self.time:.6g} s joints are {position:.3g} apart: their rows contradict each other, as those"
                " of plates that share edges do, and want more freedom (distance joints), or a motor without bound"
                " drives a joint past its limit; or dt has to be shorter, or a beam of stiff joints is longer than"
                " numbers reach"
            )
        return residual, position, velocity

    def _unsettled(self) -> int:
        """Freedoms in which what acts is not met to rounding."""
        return self.bench.laws.unsettled if self.bench.laws else 0

    def _touching(self) -> tuple[int, float]:
        """How many contacts there are, and the largest overlap [m]."""
        return (self.contacts.count, self.contacts.overlap()) if self.contacts else (0, 0.0)

    def _step_fixed(self) -> int:
        """One nominal step; returns into how many parts it was divided."""
        bench = self.bench
        if bench.wet and self.count % LOOKS == 0:
            bench.at(self.time)
            self._drag = -self._largest(-bench.wet.longest_step())
        longest = min(self._longest, self._drag)
        parts = max(self.substeps, math.ceil(self.dt / (SAFE * longest)))
        if parts > MOST_PARTS:
            what = "drag pulls" if longest == self._drag else "the joints pull"
            raise StepError(
                f"at {self.time:.6g} s {what} so hard that steps have to be shorter than {longest:.3g} s,"
                f" {parts} parts of dt = {self.dt:g} s; take a shorter dt, or method='pair'"
            )
        if parts > LOOK_TWICE * self.substeps:  # what tears pulls hard as well, and is not worth the work
            self._checked()
        bench.set_step(self.dt / parts)
        bench.set_clock(self.time)
        if self.contacts:
            self.contacts.find(self.dt)
        for part in range(parts):
            bench.at(self.time + part * (self.dt / parts))
            if self.contacts:
                self.contacts.sub_step()
            else:
                bench.step(self.rounds)
        if self.contacts:
            self.contacts.finish()
        self._since += 1
        if self._since >= LOOKS and self.joints:  # b has the impulses of the last part
            self._longest, self._since = -self._largest(-bench.longest_step()), 0
        return parts

    def _step_pair(self) -> tuple[int, int]:
        """One nominal step; returns how many sub-steps were taken, and how many refused."""
        left, taken, refused = self.dt, 0, 0
        while left > 1e-12 * self.dt:
            size = min(self._next, left)
            self.bench.h.fill_(size)
            error = self._largest(self._pair.attempt(self.time + self.dt - left, size))
            factor = GROWTH if error == 0.0 else min(GROWTH, max(SHRINK, MARGIN * error**-0.2))
            if error > 1.0:
                self._pair.go_back()
                self._next = size * factor
                refused += 1
                if self._next < 1e-9 * self.dt:
                    raise self._broken()
                continue
            if self.joints:
                self.bench.settle(self.rounds)
            left -= size
            taken += 1
            if size == self._next or factor < 1.0:
                self._next = size * factor
        return taken, refused

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Go back to where the steps began if they cannot be taken."""
        before = self.snapshot()
        try:
            yield
        except BaseException:  # Ctrl-C among them
            self.restore(before)
            raise

    def _broken(self) -> StepError:
        return StepError(
            f"after {self.time:.6g} s the motion is no longer finite, or no sub-step is short enough; the world"
            f" is as it was before the call; take a shorter dt than {self.dt:g} s, or method='pair'"
        )

    # a hand ---------------------------------------------------------------------------------------

    def pull(
        self, body: int, target: Sequence[float] | np.ndarray, at: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)
    ) -> None:
        """Pull a body, by its number, to a place of the world [m] by a spring at a point of its frame; no stronger than
        200 times its weight. Again with the same point: move the place."""
        body = whole("pull", "body", body, 0, self.bodies - 1)
        place, point = vector("pull", "target", target, "m"), vector("pull", "at", at, "m")
        bench = self.bench
        if self.hand is None:
            x = bench.x
            self.hand = Hand(x.p_WB, x.q_WB, x.twist, bench.a.wrench, bench.device)
        kind = bench.bulk.kind[body]
        spring = spring_of(float(bench.bulk.mass[kind]), bench.bulk.inertia[kind], point, self.dt)
        self.hand.take(body, point, place, spring)

    def let_go(self) -> None:
        """End what `pull` began."""
        if self.hand is not None:
            self.hand.let_go()

    # readings -------------------------------------------------------------------------------------

    def errors(self) -> tuple[float, float]:
        """Largest position error of a joint's row [m, rad], and largest |J v| [m/s, rad/s]."""
        if not self.joints:
            return self._largest(0.0 * self.bench.energy()[0]), 0.0  # no number where the motion is none
        if not self.bench.jointed:  # in this part of a world
            return self._largest(0.0), self._largest(0.0)
        found = []
        for what in ("errors", "rates"):
            self._measure(what)
            found.append(self._largest(self.bench.largest_row()))
        return found[0], found[1]

    def _measure(self, what: str) -> None:
        """Leave `errors` or `rates` of all rows of joints in b."""
        if self.bench.laws:
            self.bench.laws.forget_limits()
        getattr(self.bench, f"measure_{what}")()

    def _measured(self, what: str) -> np.ndarray:
        """`errors` or `rates` of all rows of joints."""
        if not self.bench.jointed:  # in this part of a world
            return np.zeros(0)
        self._measure(what)
        return self.bench.b.numpy()

    def _largest(self, value: float) -> float:
        """Of all who share in the world; here of one."""
        return value

    def constraint_error(self) -> float:
        """2-norm of all position errors [m and rad]."""
        return float(np.linalg.norm(self._measured("errors"))) if self.joints else 0.0

    @property
    def positions(self) -> np.ndarray:
        """Centres of mass [body, 3] [m]."""
        return self.bench.x.p_WB.numpy()[:, 0].copy()

    @property
    def orientations(self) -> np.ndarray:
        """Unit quaternions xyzw [body, 4]."""
        return self.bench.x.q_WB.numpy()[:, 0].copy()

    @property
    def velocities(self) -> np.ndarray:
        """Twists [body, 6], angular first, world axes [rad/s, m/s]."""
        return self.bench.x.twist.numpy()[:, 0].copy()

    def energy(self) -> dict[str, float]:
        """Kinetic and potential energy [J]; the work of a hand, if there was one; of fluids the work of buoyancy and
        current and the loss in drag, which method 'pair' does not keep."""
        kinetic, potential = self.bench.energy()
        books = self.bench.wet.books() if self.bench.wet and self.method == "fixed" else {}
        if self.hand is not None:
            books = {"hand": self.hand.work, **books}
        return {"kinetic": kinetic, "potential": potential, **books}

    def momentum(self) -> np.ndarray:
        """Linear momentum of the bodies [3] [kg m/s]; without that of fluid about them."""
        bulk = self.bench.bulk
        return (bulk.mass[bulk.kind][:, None] * self.velocities[:, 3:]).sum(0)

    def snapshot(self) -> tuple:
        """All that is needed to go on from here."""
        x = self.bench.x
        kept = tuple(wp.clone(one) for one in (x.p_WB, x.q_WB, x.twist))
        touching = self.contacts.snapshot() if self.contacts else ()
        acting = self.bench.laws.snapshot() if self.bench.laws else ()
        work = wp.clone(self.bench.wet.work) if self.bench.wet else None
        own = (touching, acting, work, self.hand.work if self.hand else 0.0)
        return (*kept, own, self.time, self.count, self._longest, self._drag, self._since, self._next)

    def restore(self, kept: tuple) -> None:
        """Go back to a snapshot; a hand lets go."""
        x = self.bench.x
        own = isinstance(kept, tuple) and len(kept) == KEPT and isinstance(kept[0], wp.array)
        if not own or kept[0].shape != x.p_WB.shape or bool(kept[3][0]) != bool(self.contacts):
            raise ModelError("restore: expected what `snapshot` of this world has returned")
        self.let_go()
        for now, before in zip((x.p_WB, x.q_WB, x.twist), kept[:3], strict=True):
            wp.copy(now, before)
        self.bench.placed = False
        if self.contacts:
            self.contacts.restore(kept[3][0])
        if self.bench.laws:
            self.bench.laws.restore(kept[3][1])
        if self.bench.wet:
            wp.copy(self.bench.wet.work, kept[3][2])
        if self.hand:
            self.hand.arrays.work.fill_(kept[3][3])
        self.time, self.count, self._longest, self._drag, self._since, self._next = kept[4:]

    def bytes_per_body(self) -> float:
        """Device memory of all arrays, over the number of bodies [B]; of contacts as much as they have now."""
        found: dict[int, int] = {}
        bench = self.bench
        parts: list[Any] = [
            bench.m,
            bench.x,
            bench.a,
            bench,
            *([bench.wet] if bench.wet else []),
            *([bench.factor] if self.joints else []),
        ]
        parts += [self._pair] if self.method == "pair" else []
        parts += [self.contacts] if self.contacts else []
        for part in parts:
            for one in _arrays(part):
                found[one.ptr or 0] = one.capacity
        return sum(found.values()) / self.bodies


def _arrays(thing: object) -> list[wp.array]:
    """Arrays of a part: its own, and those of structs and lists that it has."""
    found = []
    for value in _values(thing):
        if isinstance(value, wp.array):
            found.append(value)
        elif isinstance(value, list | tuple) or hasattr(value, "_cls"):
            found += _arrays(value)
    return found


def _values(thing: object) -> list:
    if isinstance(thing, list | tuple):
        return list(thing)
    names = thing._cls.vars if hasattr(thing, "_cls") else vars(thing)
    return [getattr(thing, name, None) for name in names]


def _length(bulk: Bulk) -> float:
    """A length of the parts, by which errors of slides are held against those of turns [m]."""
    arms = np.concatenate([bulk.p_PF, bulk.p_CM]) if bulk.joints else np.zeros((0, 3))
    sizes = np.linalg.norm(arms, axis=1)
    return float(np.median(sizes[sizes > 0.0])) if (sizes > 0.0).any() else 1.0
