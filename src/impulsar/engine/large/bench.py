"""A large world on a device: its arrays, and the stages of a step, each a launch over all parts.

A step of fixed size, second order:

    kick      half of all forces: gravity, what is applied, and of the joints A λ = -(J V̇ + J̇ V), by the last factor
    drift     poses by the twists, angular momentum kept
    settle    rows of all joints, A = J M⁻¹ Jᵀ factored; position errors removed from positions, A λ = -error, two or
              three times by one factor; half a kick without joints; A factored again, J v = 0: to rounding, since the
              factor is that of the pose, and the other half of the joints' forces

With contact, fluids, loads or something that acts in joints it is of first order: drift, the whole kick, settle.

A step of the pair: seven evaluations, each A λ = -(J V̇ + J̇ V), Dormand and Prince 5(4), then both projections.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp

from ..integrate.pairs import B_LOW, STAGES, A, B
from ..launch import Launches
from ..spatial import f64, mat33, quat, vec3, vec6
from ..state import WorkArrays
from ..system import SystemArrays
from ..system.channels import Channels
from . import motion, rows
from .arrays import LargeArrays
from .bulk import Bulk
from .extras import at_bodies, check_channels, with_room, with_springs
from .factor import Factor
from .laws import LawArrays, Laws, add_up, kick_loads
from .net import Net, find_largest
from .plan import looped, make_plan, neighbours
from .wet import Wetting

ENDS = ("first", "second")
SHARES = 1024  # threads that sum over all bodies; of a GPU 32 times as many


class Graphed:
    """Launches on a GPU: the first time as they are, so that kernels are loaded; then recorded as a graph."""

    def __init__(self, launches: Launches, seen: bool = False):
        """seen: kernels are loaded already."""
        self.launches, self.seen, self.graph = launches, seen, None

    def __call__(self, call: Callable[[], None]) -> None:
        if not self.seen:
            self.seen = True
            call()
            return
        self.launches.follow()
        if self.graph is None:
            with wp.ScopedCapture(device=self.launches.device) as capture:
                call()
            self.graph = capture.graph
        wp.capture_launch(self.graph)


class LargeBench:
    """Arrays of a large world, and its stages."""

    def __init__(
        self,
        bulk: Bulk,
        device: str,
        kept: np.ndarray | None = None,
        own: int | None = None,
        whole: Bulk | None = None,
    ):
        """kept: joints that are not eliminated here; who solves for them, and for nets beside them, is set as
        `factor.core`.

        own: so many bodies count in sums; those behind them are copies of bodies elsewhere. whole: the mechanism that
        this is a part of, whose rows and stages it has, whatever of them is here.
        """
        if own is None:  # else whoever divides the world has checked it; a part may have no bodies
            bulk.check()
        bulk = self.bulk = with_springs(bulk)
        whole = bulk if whole is None else with_springs(whole)
        self.acting = bool(whole.slots)
        self.device, self.bodies, self.joints = device, bulk.bodies, bulk.joints
        self.launches = Launches(device)
        self.own = bulk.bodies if own is None else own
        self.locks = with_room(whole)
        self.rows = self.locks.shape[1]
        self._fill_system()
        self.a.looped = self._whole(looped(bulk.first, bulk.second, self.bodies, kept))
        self._fill_state()
        self._fill_inputs()
        self.jointed = self.joints > 0 or kept is not None
        self.wet = Wetting(self) if bulk.immersed else None
        if self.jointed:
            pairs = neighbours(bulk.first, bulk.second, self.bodies)
            plan = make_plan(self.joints, pairs, kept)
            self._use(Factor(plan, self.rows, device))
            if len(plan.core) and (kept is None or not len(kept)):
                self.factor.core = Net(self.factor, bulk.name)
        self.total = wp.zeros_like(self.b) if self.joints and (self.acting or bulk.touches) else None
        self.laws: Laws | None = None
        self.smooth = self.jointed and not (self.acting or whole.loads or self.wet)  # steps of second order
        self.placed = False  # rows and factor are of the present poses
        self._recorded: dict[object, Graphed] = {}
        self._record()
        if self.acting:
            self.laws = Laws(self, bulk.slots)
            self._record()

    # arrays ---------------------------------------------------------------------------------------

    def _whole(self, values: np.ndarray | Sequence[int]) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _of(self, values: np.ndarray, dtype: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(values, float), dtype=dtype, device=self.device)

    def _fill_system(self) -> None:
        bulk, m, a = self.bulk, SystemArrays(), LargeArrays()
        m.first, m.second = self._whole(bulk.first), self._whole(bulk.second)
        m.parent = m.first  # as long as there are joints: frames are placed from the poses
        for name, dtype in (("p_PF", vec3), ("q_PF", quat), ("p_CM", vec3), ("q_CM", quat), ("length", f64)):
            setattr(m, name, self._of(getattr(bulk, name)[:, None], dtype))
        m.gravity = self._of(np.array(bulk.gravity)[None, None], vec3)
        a.kind, a.joint_kind = self._whole(bulk.kind), self._whole(bulk.joint_kind)
        a.mass, a.inertia = self._of(bulk.mass, f64), self._of(bulk.inertia, mat33)
        a.inverse = self._of(np.linalg.inv(bulk.inertia), mat33)
        a.radius, a.friction = self._of(bulk.radius, f64), self._of(np.array([bulk.friction]), f64)
        a.plane_normal, a.plane_offset = self._of(bulk.planes[:, :3], vec3), self._of(bulk.planes[:, 3], f64)
        a.wrench = wp.zeros(self.bodies, vec6, device=self.device)
        a.lock = wp.array(self.locks, dtype=wp.int32, device=self.device)
        a.body_first, a.body_joint = (self._whole(one) for one in at_bodies(bulk))
        for name in ("turn", "slide"):
            setattr(a, name, wp.zeros((self.rows, max(self.joints, 1)), vec3, device=self.device))
        a.point = wp.zeros(max(self.joints, 1), vec3, device=self.device)
        self.m, self.a = m, a

    def _fill_state(self) -> None:
        bulk, x = self.bulk, WorkArrays()
        x.p_WB, x.q_WB = self._of(bulk.position[:, None], vec3), self._of(bulk.orientation[:, None], quat)
        x.twist = self._of(bulk.twist[:, None], vec6)
        x.acceleration = wp.zeros((self.bodies, 1), vec6, device=self.device)
        self.x, self.own_x = x, WorkArrays()
        for name in ("p_WB", "q_WB", "twist"):
            every = getattr(x, name)
            setattr(self.own_x, name, every[: self.own] if self.own else wp.zeros((0, 1), every.dtype))
        self.shift = x.acceleration  # what moves positions; accelerations are needed at other times
        self.h = wp.zeros(1, f64, device=self.device)
        self.time, self.size = 0.0, 0.0
        self.clock = wp.zeros(1, f64, device=self.device)  # time of the present poses [s]
        self.shares = SHARES if wp.get_device(self.device).is_cpu else 32 * SHARES
        self.sums = [wp.zeros(self.shares, f64, device=self.device) for _ in range(2)]

    def _fill_inputs(self) -> None:
        """Channels of motors and loads, springs, loads in the order of their bodies."""
        bulk, m = self.bulk, SystemArrays()
        for name in SystemArrays.vars:  # type: ignore[attr-defined]
            setattr(m, name, getattr(self.m, name))
        self.inputs = m  # the same bodies and joints; fluids have channels of their own
        check_channels(bulk.name, bulk.channels)
        Channels(bulk.channels, 1, self.device, lambda c: f"input {c} of {bulk.name}").write(m)
        m.spring_first, m.spring_second = (self._whole([getattr(one, end) for one in bulk.springs]) for end in ENDS)
        for end in ENDS:
            places = np.array([getattr(one, f"p_{end}") for one in bulk.springs], float).reshape(-1, 1, 3)
            setattr(m, f"spring_p_{end}", self._of(places, vec3))
        loads = sorted(bulk.loads, key=lambda load: load.body)
        m.load_body, m.load_channel = (
            self._whole([getattr(one, name) for one in loads]) for name in ("body", "channel")
        )
        m.load_in_body = self._whole([one.in_body for one in loads])
        m.load_point = self._of(np.array([one.point for one in loads], float).reshape(-1, 1, 3), vec3)
        begin = [k for k, one in enumerate(loads) if k == 0 or one.body != loads[k - 1].body]
        self._loads, self._load_begin = len(begin), self._whole([*begin, len(loads)])

    def answering(self) -> LargeArrays:
        """Arrays in which all bodies of a joint answer to impulses."""
        return self.a

    # launches -------------------------------------------------------------------------------------

    def launcher(self, kernel: wp.Kernel, threads: int, inputs: Sequence[Any]) -> Callable[[], None]:
        """A recorded launch."""
        if not threads:
            return lambda: None
        return self.launches.record(kernel, threads, inputs)

    def _use(self, factor: Factor) -> None:
        """Have this factor solve for the joints."""
        self.factor, self.a.column, self.b = factor, factor.column, factor.b

    def _sort(self) -> rows.Sort:
        """What the kernels of rows are made for."""
        kinds = {tuple(int(code) for code in self.locks[k]) for k in np.unique(self.bulk.joint_kind)}
        return rows.Sort(
            self.rows, kinds.pop() if len(kinds) == 1 else None, self.acting, bool(self.wet and self.wet.adds)
        )

    def _record(self) -> None:
        m, x, a = self.m, self.x, self.a
        self.drift = self.launcher(motion.drift, self.bodies, [x, a, self.h])
        self._kick = self.launcher(motion.kick, self.bodies, [m, x, a, self.h])
        self._kick_half = self.launcher(motion.kick_half, self.bodies, [m, x, a, self.h])
        self.move = self.launcher(motion.move, self.bodies, [x, self.shift])
        self._free = self.launcher(motion.free_accelerations, self.bodies, [x, a])
        self._kick_loads = self.launcher(
            kick_loads, self._loads, [self.inputs, x, a, self._load_begin, self.clock, self.h]
        )
        self._energies = self.launcher(motion.energies, self.shares, [m, self.own_x, a, *self.sums])
        if not self.jointed:
            return
        made, all_ = rows.kernels(self._sort()), [self.inputs, x, a]
        l = self.laws.arrays if self.laws else LawArrays()
        self.place_rows = self.launcher(made["place_rows"], self.joints, [*all_, l])
        self.measure_rates = self.launcher(made["measure_rates"], self.joints, [*all_, l, self.b])
        self.measure_errors, self.measure_accelerations = (
            self.launcher(made[name], self.joints, [*all_, self.b])
            for name in ("measure_errors", "measure_accelerations")
        )
        filled = [*all_, self.factor.diagonal, self.factor.scale]
        self._diagonal = self.launcher(made["fill_diagonal"], self.joints, filled)
        met = rows.meetings(self.factor.plan, self.bulk.first, self.bulk.second).astype(np.int32)
        self._met = wp.array(met, dtype=wp.int32, device=self.device)
        self._beside = self.launcher(made["fill_beside"], met.shape[1], [*all_, self._met, self.factor.beside])
        self.push = self.launcher(made["apply"], self.bodies, [*all_, self.b, x.twist])
        self._largest = self.launcher(find_largest, self.shares, [self.b.flatten(), self.sums[0]])
        self._halve = self.launcher(motion.halve, self.b.size, [self.b.flatten(), self.h])
        self.pull = self.launcher(made["apply"], self.bodies, [*all_, self.b, self.shift])
        given = self.b if self.total is None else self.total
        self._stiffen = self.launcher(made["stiffen"], self.shares, [*all_, given, self.sums[0]])
        if self.total is not None:
            self._note = self.launcher(add_up, self.b.size, [self.b.flatten(), self.total.flatten()])

    # stages ---------------------------------------------------------------------------------------

    def kick(self) -> None:
        """Twists by gravity and what is applied, fluids at the time of `at`."""
        if self.wet:
            self.wet.immerse()
            self.wet.push()
            self.wet.keep_books()
        self._kick()

    def at(self, time: float) -> None:
        """What depends on time is that of a time [s] from here on."""
        if self.wet:
            self.wet.time.fill_(time)

    def factor_rows(self) -> None:
        """Rows at the present poses, and the factor of A."""
        self.place_rows()
        self.refactor()

    def refactor(self) -> None:
        """The factor of A by the rows as they are placed."""
        self._diagonal()
        self._beside()
        self.factor.factor()

    def note(self) -> None:
        """Add what is in b to the impulses of the sub-step, where more than one solve makes them."""
        if self.total is not None:
            self._note()

    def project_positions(self, rounds: int) -> None:
        """Remove position errors, so many times by the same factor."""
        self.shift.zero_()
        for _ in range(rounds):
            self.measure_errors()
            self.factor.solve()
            self.pull()
            self.move()

    def prepare_velocities(self) -> None:
        """Rows of velocities at the present poses, and their factor; impulses begin at none."""
        if self.total is not None:
            self.total.zero_()
        if self.laws:
            self.laws.follow()
            self.laws.begin()
        self.factor_rows()

    def project_velocities(self) -> None:
        """Make J v what it should be by the factor of the present poses; what that takes is in b."""
        if self.laws:
            self.laws.solve()
            return
        self.measure_rates()
        self.factor.solve()
        self.push()
        self.note()

    def settle(self, rounds: int, kick: Callable[[], None] = lambda: None) -> None:
        """Make positions and velocities what the joints allow; kick: between both."""
        if self.laws:
            self.laws.follow()
            self.laws.hold()
        self.factor_rows()
        self.project_positions(rounds)
        kick()
        self.prepare_velocities()
        self.project_velocities()
        self.end_velocities()

    def end_velocities(self) -> None:
        """Velocities are what they will be in the next drift."""
        if self.laws:
            self.laws.end()

    def correct_positions(self) -> None:
        """Remove position errors once, by the factor of the velocities; passed limits have one of their own."""
        if self.laws:
            self.laws.follow()
            self.laws.hold()
            self.factor_rows()
        self.project_positions(1)

    def evaluate(self) -> None:
        """Accelerations of the bodies at the present state, gravity taken off."""
        self.as_graph("evaluate", self._evaluate)

    def _evaluate(self) -> None:
        if self.wet:
            self.wet.immerse()
            self.wet.push_now()
        self._free()
        if self.jointed:
            self.factor_rows()
            self.measure_accelerations()
            self.factor.solve()
            self.pull()

    def step(self, rounds: int) -> None:
        """A step of the size in h."""
        if self.smooth:
            if not self.placed:
                self.factor_rows()
            self.as_graph(("step", rounds), lambda: self._step_smooth(rounds))
            self.pass_time()
        else:
            self.drift()
            self.pass_time()
            self.push_bodies()
            if self.jointed:
                self.settle(rounds)
        self.placed = self.smooth

    def _step_smooth(self, rounds: int) -> None:
        self.half_kick()
        self.drift()
        self.settle(rounds, self._kick_half)

    def as_graph(self, key: object, call: Callable[[], None]) -> None:
        """Launches of which none is decided on the host; on a GPU one graph, from the second time on."""
        if not self.takes_graphs:
            call()
            return
        self._recorded.setdefault(key, Graphed(self.launches))(call)

    @property
    def takes_graphs(self) -> bool:
        """Whether stages are launches alone, of which none is decided on the host, nor by the time; and on a GPU."""
        decided = self.laws or self._loads or (self.jointed and self.factor.core)
        return not decided and wp.get_device(self.device).is_cuda

    def half_kick(self) -> None:
        """Half a step of all forces, those of the joints with what turning bodies need of them."""
        self._free()
        self.measure_accelerations()
        self.factor.solve()
        self._halve()
        self.push()
        self._kick_half()

    def pass_time(self) -> None:
        """The clock goes on by h."""
        self.set_clock(self.time + self.size)

    def set_clock(self, time: float) -> None:
        """The time of the present poses [s]."""
        self.time = time
        if self.laws or self._loads:
            self.clock.fill_(time)

    def set_step(self, size: float) -> None:
        """The size of the next sub-steps [s]."""
        self.size = size
        self.h.fill_(size)

    def close(self, rounds: int) -> None:
        """Make the first positions what the joints allow; of a part of a world that has none, nothing."""
        if not self.jointed:
            return
        if self.laws:
            self.laws.hold()
        self.factor_rows()
        self.project_positions(rounds)

    def start(self, rounds: int) -> None:
        """Make the first positions and velocities what the joints allow; nothing acts in freedoms yet."""
        if not self.jointed:
            return
        self.close(rounds)
        if self.laws:
            self.laws.let_go()
        self.factor_rows()
        self.measure_rates()
        self.factor.solve()
        self.push()
        if self.laws:
            self.laws.begin_rates()

    def push_bodies(self) -> None:
        """Gravity, what is applied, and loads over the next h."""
        self.kick()
        if self._loads:
            self._kick_loads()

    def summed(self, value: float) -> float:
        """Over all who share in the joints; here one."""
        return value

    def longest_step(self) -> float:
        """A first-order step that is longer grows without bound, by the impulses of the last one in b: 2 / ω [s]."""
        if not self.jointed:
            return np.inf
        self._stiffen()
        square = float(self.sums[0].numpy().max()) / float(self.h.numpy()[0])
        if self.smooth and self.total is None:
            square *= 2.0  # the other half of the joints' impulses came first
        return 2.0 / np.sqrt(square) if square > 0.0 else np.inf

    def largest_row(self) -> float:
        """The largest size in b; no number where one of them is none."""
        self._largest()
        return float(self.sums[0].numpy().max())

    @property
    def residual(self) -> float:
        """What the last solve of a net left of its right-hand side, by size; 0 without nets."""
        core = self.factor.core if self.jointed else None
        return core.residual if core else 0.0

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential [J]."""
        self._energies()
        if self.wet and self.wet.adds:
            self.wet.immerse()
            self.wet.add_energies()
        kinetic, potential = (float(np.sum(one.numpy())) for one in self.sums)
        return kinetic, potential


class Pair:
    """Dormand and Prince 5(4) over the evaluations of a bench."""

    def __init__(self, bench: LargeBench, rtol: float, atol: float, length: float):
        self.bench = bench
        n, device, x = bench.bodies, bench.device, bench.x
        self.rate, self.change = (wp.zeros((STAGES, n), vec6, device=device) for _ in range(2))
        self.start = (
            wp.zeros(n, vec3, device=device),
            wp.zeros(n, quat, device=device),
            wp.zeros(n, vec6, device=device),
        )
        self.turn = wp.zeros((n, 1), vec3, device=device)
        self.worst = wp.zeros(bench.shares, f64, device=device)
        self.tolerance = wp.array([rtol, atol, length], dtype=f64, device=device)
        weights = [[float(value) for value in (*row, *[0] * (STAGES - len(row)))] for row in (*A, B)]
        self._weights = [wp.array(row, dtype=f64, device=device) for row in weights]
        self._nodes = [sum(row) for row in weights]
        error = [float(b - low) for b, low in zip(B, B_LOW, strict=True)]
        given = [x, *self.start, self.rate, self.change]
        self._go = [
            bench.launcher(motion.go_to_stage, n, [*given, self._weights[k], bench.h, min(k, STAGES), self.turn])
            for k in range(STAGES)
        ]
        kept = [bench.m, x, self.turn, self.rate, self.change]
        self._keep = [bench.launcher(motion.keep_rate, n, [*kept, k]) for k in range(STAGES)]
        self._error = wp.array(error, dtype=f64, device=device)
        own = self.start[2][: bench.own]
        estimate = [own, self.rate, self.change, self._error, bench.h, self.tolerance, self.worst]
        self._estimate = bench.launcher(motion.estimate_error, bench.shares, estimate)

    def attempt(self, time: float, size: float) -> float:
        """A step of the size in h from the state at a time [s]; its error over the tolerance."""
        x = self.bench.x
        for kept, now in zip(self.start, (x.p_WB, x.q_WB, x.twist), strict=True):
            wp.copy(kept, now.flatten())
        self.turn.zero_()
        for k in range(STAGES):
            if k:
                self._go[k]()
            self.bench.at(time + self._nodes[k] * size)
            self.bench.evaluate()
            self._keep[k]()
        self._estimate()
        return float(self.worst.numpy().max())

    def go_back(self) -> None:
        """To the state before the attempt."""
        x = self.bench.x
        for kept, now in zip(self.start, (x.p_WB, x.q_WB, x.twist), strict=True):
            wp.copy(now.flatten(), kept)
