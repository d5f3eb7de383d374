"""World: a system, its state and a method. Step it, run it, take hold of it, read it."""

import math
import sys
import time as wall
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from . import edits, measure
from .edits.apply import Bench, HandsFull, LoadsFull
from .inputs import Value
from .least_norm import LeastNorm
from .measure import Readout
from .methods import METHODS
from .methods.launch import record_launch
from .methods.start import drop_idle_rows, project_start, refresh
from .model import Model, ModelError
from .reports import Books, StepReport
from .shapes import conjugate, vector
from .state import State, allocate_work
from .system import TOPOLOGY_OF_EDITS, System
from .system.channels import CALLABLE_STEPS
from .system.slots import CLOSURE, HAND, IDLE

DEFAULT_METHOD = "direct"
MOST_LOCKS = 1500  # beyond so many joint equations the solver's own reactions stand, taken as determinate


class Reaction(NamedTuple):
    """What a joint transmits to its second body, at the joint, world axes."""

    force: np.ndarray  # [N]
    torque: np.ndarray  # [N m]


@dataclass(frozen=True)
class Snapshot:
    """Everything that must be put back to go on as before."""

    state: np.ndarray
    parameters: dict[str, np.ndarray]
    topology: dict[str, np.ndarray]
    channels: list
    hands: list
    loads: list
    acceleration: np.ndarray
    dt: float
    clock: float
    steps: int
    script_position: int


class World:
    """A running mechanism, or `worlds` copies of it with their own states and parameters.

    method: a name of METHODS or an options object such as Simgc(epsilon=1e-6); coordinates: "generalized"
    or "maximal", by default the method's own; dt: nominal step [s]; rtol, atol, substeps: of `direct`;
    budget: wall time a step may take [s], turned into a limit of iterations by measuring their cost;
    strict: raise when a step was ended by its limit instead of its tolerance.
    """

    def __init__(
        self,
        model: Model,
        method: object = DEFAULT_METHOD,
        coordinates: str | None = None,
        dt: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        substeps: int | None = None,
        budget: float | None = None,
        worlds: int = 1,
        device: str = "cpu",
        strict: bool = False,
    ):
        self.model = model
        self.method = _method(method, rtol=rtol, atol=atol, substeps=substeps)
        coordinates = coordinates or self.method.coordinates[0]
        if coordinates not in self.method.coordinates:
            known = ", ".join(self.method.coordinates)
            others = [name for name, other in METHODS.items() if coordinates in other.coordinates]
            hint = f"; for {coordinates} take method {' or '.join(others)}" if others else ""
            raise ModelError(f"method '{self.method.name}': no coordinates {coordinates!r}; it works in: {known}{hint}")
        if not (isinstance(worlds, int) and worlds >= 1):
            raise ModelError(f"worlds is {worlds!r}, expected an integer >= 1")
        self.coordinates = coordinates
        self.device = _device(device)
        self.strict = strict
        self.worlds = worlds
        self._script = sorted(model.script, key=lambda entry: entry[0])
        self._script_position = 0
        self._clock = 0.0
        self._count = 0
        self._install(System(model, worlds, self.device, coordinates))
        self.state.write("q", np.repeat(self.system.start_coordinates()[:, None], worlds, axis=1))
        self._write_options(self.method.iterations)
        self._set_dt(dt if dt is not None else model.dt or 0.01)
        self.start_change = project_start(self.system, self.state, self._work)
        if self.start_change:
            told = ", ".join(f"{body} by {change:.3g}" for body, change in self.start_change.items())
            warnings.warn(f"model '{model.name}': start velocities changed to fit the joints: {told} m/s", stacklevel=2)
        self._refresh()
        self.state.write("start_energy", self._work.energy.numpy().sum(axis=0, keepdims=True))
        self.work_limit = self.method.iterations
        self._set_budget(budget)

    # arrays and launches --------------------------------------------------------------------------

    def _install(self, system: System) -> None:
        """Take a system into use, with fresh state and work arrays."""
        self.system = system
        tableau = getattr(self.method, "tableau", None)
        if tableau is not None:
            system.arrays.tableau = wp.array(tableau, dtype=wp.float64, device=self.device)
        self.state = State(system.counts, self.device)
        self._work = allocate_work(system.counts, self.device)
        drop_idle_rows(system, self.state, self._work)
        self.readout = Readout(system, self.state, self._work)
        self._bench = Bench(system, self.state, self._work)
        self._loops = any(slot.kind in (CLOSURE, IDLE) for slot in system.slots)
        self._reactions_at = -1
        self._record()

    def _record(self) -> None:
        inputs = [self.system.arrays, self.state.arrays, self._work]
        self._launch = record_launch(self.method.kernel, self.worlds, inputs, self.device)
        self._report = self._work.report.numpy()  # on the CPU a view
        self._simple = self.device == "cpu" and self.worlds == 1

    def _record_and_launch(self) -> None:
        self._record()
        self._launch()

    def _refresh(self) -> None:
        """Bring poses, twists and energies up to the state."""
        refresh(self.system, self.state, self._work)

    def _write_options(self, limit: int) -> None:
        self.work_limit = limit
        options = replace(self.method, iterations=limit).pack()
        data = np.zeros(self.system.arrays.options.shape[0])
        data[: len(options)] = options
        self.system.arrays.options.assign(data)

    def _set_dt(self, dt: float) -> None:
        edits.apply(edits.SetStep(dt), self._bench)
        self.dt = float(dt)
        self._substeps = max(1, math.ceil(dt / self.method.max_step * (1.0 - 1e-12)))
        self._h = self.dt / self._substeps
        self.system.arrays.h.fill_(self._h)
        self.system.arrays.nominal_h.fill_(self._h)
        self._set_steps(self._substeps)

    def _set_steps(self, steps: int) -> None:
        self._steps = steps
        self.system.arrays.steps.fill_(steps)

    def _set_budget(self, budget: float | None) -> None:
        """Turn wall time into a limit of iterations, from what they cost here [s]."""
        self.budget = budget
        if budget is None:
            return
        if not (isinstance(budget, int | float) and budget > 0):
            raise ModelError(f"budget is {budget!r}, expected a time > 0 [s]")
        before = self.snapshot()
        cost = {}
        epsilon = self.method
        for sweeps in (1, 33):
            self.method = replace(epsilon, epsilon=0.0, iterations=sweeps)
            self._write_options(sweeps)
            times = []
            for _ in range(7):
                self.restore(before)
                start = wall.perf_counter()
                self._launch()
                wp.synchronize_device(self.device)
                times.append(wall.perf_counter() - start)
            cost[sweeps] = float(np.median(times))
        self.method = epsilon
        self.restore(before)
        per_sweep = max((cost[33] - cost[1]) / 32, 1e-9)
        self._write_options(max(1, min(self.method.iterations, 1 + int((budget - cost[1]) / per_sweep))))

    # stepping -------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> StepReport:
        """Take n nominal steps in as few launches as the script and callables allow."""
        if n == 1 and self._simple and not self._script and not self.system.channels.callables:
            if self._steps != self._substeps:
                self._set_steps(self._substeps)
            self._launch()
            self._clock += self.dt
            self._count += 1
            report = StepReport(self, self._count, self._substeps, self._report.copy())
            if report.raw[measure.BROKEN, 0]:
                report.check(self.strict)
            elif self.strict:
                report.check(True)
            return report
        return self._many_steps(n)

    def _many_steps(self, n: int) -> StepReport:
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise ModelError(f"step: n is {n!r}, expected an integer >= 1")
        raw = None
        left = int(n)
        while left > 0:
            self._run_script()
            part = min(left, self._steps_to_script())
            callables = self.system.channels.callables
            if callables:
                part = min(part, max(1, CALLABLE_STEPS // self._substeps))
                steps = part * self._substeps
                self.system.channels.sample_callables(self.system.arrays, self.time, self._h, steps)
            if self._steps != part * self._substeps:
                self._set_steps(part * self._substeps)
            self._launch()
            self._clock += part * self.dt
            self._count += part
            left -= part
            raw = self._merge(raw) if left or raw is not None else raw
        report = StepReport(self, self._count, int(n) * self._substeps, raw)
        if self.device == "cpu":
            report.check(self.strict)
        return report

    def _merge(self, raw: np.ndarray | None) -> np.ndarray:
        """The report of several launches as that of one."""
        new = self._work.report.numpy().copy()
        if raw is not None:
            for row in (measure.TOTAL_ITERATIONS, measure.SUB_STEPS, measure.ENDED_BY_LIMIT):
                new[row] += raw[row]
            for row in (measure.MOST_ITERATIONS, measure.BROKEN):
                new[row] = np.maximum(new[row], raw[row])
        return new

    def _steps_to_script(self) -> int:
        if self._script_position >= len(self._script):
            return sys.maxsize
        due = self._script[self._script_position][0]
        return max(1, math.ceil((due - self._clock) / self.dt - 1e-6))

    def _run_script(self) -> None:
        while self._script_position < len(self._script):
            due, edit = self._script[self._script_position]
            if due > self._clock + 1e-6 * self.dt:
                return
            self._script_position += 1
            self.apply(edit)

    def run(self, duration: float, every: float | None = None, progress: bool | None = None):
        """Step for a duration [s], sampling `every` [s] (default: each step); an xarray.Dataset.

        Shows a progress bar in a terminal. Ctrl-C keeps what was computed.
        """
        from .results import record

        return record(self, duration, every, progress)

    # changing -------------------------------------------------------------------------------------

    def apply(self, edit: Any) -> edits.Answer:
        """Carry out an edit between two steps; raises EditError and changes nothing if it cannot be."""
        if isinstance(edit, edits.SetStep):
            answer = edits.apply(edit, self._bench)
            self._set_dt(edit.dt)
            return answer
        while True:
            try:
                answer = edits.apply(edit, self._bench)
                break
            except HandsFull:
                self._grow(2 * self.system.counts.hands, self.system.counts.loads)
            except LoadsFull:
                self._grow(self.system.counts.hands, max(4, 2 * self.system.counts.loads))
            except edits.EditError:
                raise
            except ModelError as error:
                raise edits.EditError(str(error)) from error
        if answer.arrays_replaced:
            self._launch = self._record_and_launch  # once, however many edits there are before the next step
        self._refresh()
        return answer

    def _grow(self, hands: int, loads: int) -> None:
        """Double the room for hands or loads and carry the state over."""
        old = self.state
        acceleration = self._work.a_WB
        self._install(self.system.grown(hands, loads))
        for name, size in old.blocks.items():
            block = np.zeros((self.state.blocks[name], self.worlds))
            block[:size] = old.read(name)
            self.state.write(name, block)
        self._refresh()
        wp.copy(self._work.a_WB, acceleration)

    def set(self, path: str, values: object) -> None:
        """Set "part.parameter" to a value, or one per world: world.set("arm.mass", masses)."""
        self.apply(edits.SetParameter(path, values))

    def grab(self, body: str, at=(0.0, 0.0, 0.0), stiffness: float = 1000.0, damping: float = 1.0, name=None) -> "Hand":
        """Take hold of a point of a body (its own frame, from its centre of mass [m]) by a spring-damper."""
        taken = self.system.hand_names
        name = name or next(f"hand {k}" for k in range(1, len(taken) + 2) if f"hand {k}" not in taken)
        self.apply(edits.Grab(name, body, tuple(at), stiffness, damping))
        return Hand(self, name)

    def snapshot(self) -> Snapshot:
        """Everything needed to go on from here, as data."""
        system = self.system
        return Snapshot(
            self.state.numpy().copy(),
            {name: system.parameter(name) for name in system.parameters},
            {name: getattr(system.arrays, name).numpy().copy() for name in TOPOLOGY_OF_EDITS},
            list(system.channels.items),
            list(system.hand_names),
            list(system.load_names),
            self._work.a_WB.numpy().copy(),
            self.dt,
            self._clock,
            self._count,
            self._script_position,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: stepping on gives the same bits as it did then."""
        hands, loads = len(snapshot.hands), len(snapshot.loads)
        if (hands, loads) != (self.system.counts.hands, self.system.counts.loads):
            self._install(
                System(self.model, self.worlds, self.device, self.coordinates, hands, loads - len(self.model.loads))
            )
            self._write_options(self.work_limit)
        system = self.system
        for name, values in snapshot.parameters.items():
            system.replace_parameter(name, values)
        for name, values in snapshot.topology.items():
            getattr(system.arrays, name).assign(values)
        system.channels.items = list(snapshot.channels)
        system.channels.write(system.arrays)
        system.hand_names, system.load_names = list(snapshot.hands), list(snapshot.loads)
        system.count_live_slots()
        self.state.array.assign(snapshot.state)
        self._work.v_pseudo.zero_()
        self._set_dt(snapshot.dt)
        self._clock, self._count = snapshot.clock, snapshot.steps
        self._reactions_at = -1
        self._script_position = snapshot.script_position
        self._record()
        self._refresh()
        self._work.a_WB.assign(snapshot.acceleration)

    def hash(self) -> str:
        """Digest of the state's bits."""
        return self.state.hash()

    # reading --------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.state.read("time")[0, 0])

    def body(self, name: str) -> "BodyView":
        """A body to read from."""
        return BodyView(self, edits.known("world", "body", name, self.system.body_index))

    def joint(self, name: str) -> "JointView":
        """A joint to read from."""
        edits.known("world", "joint", name, self.readout.rows)
        return JointView(self, name)

    def point(self, body: str, at=(0.0, 0.0, 0.0)) -> np.ndarray:
        """World place of a point of a body, given in its own frame [m]."""
        return self.body(body).point(at)

    def energy(self) -> Books:
        """The energy books [J]."""
        return Books.read(self.system, self.state, self._work)

    def constraint_error(self) -> float | np.ndarray:
        """2-norm over all joints of their position-level equations, from body poses [m and rad]."""
        return self._out(np.linalg.norm(self.readout.lock_errors(), axis=0))

    def _impulse_span(self) -> np.ndarray:
        """The time over which each world's impulses acted [s]."""
        last = self.state.read("last_h")[0]
        return np.where(last > 0.0, last, self._h)

    def motor_torques(self) -> np.ndarray:
        """Torque of each coordinate's motor, mean over the last step [coordinate, world] [N m, N]."""
        impulse = self.state.read("impulse")
        slots = self.readout.motor_slots
        span = self._impulse_span()
        return np.array([impulse[r] / span if r >= 0 else np.zeros(self.worlds) for r in slots])

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Reactions of all joints in the author's order [joint, world, torque and force], and whether determinate."""
        if self._reactions_at != self._count:
            order = [self.system.joint_index[name] for name in self.model.joints]
            raw = self._work.reaction.numpy()[order]
            self._reactions = raw.copy(), np.ones(raw.shape[:2], bool)
            if self._loops and raw.any() and len(self.readout.lock_names) <= MOST_LOCKS:
                self._reactions = LeastNorm(self.system, self.state, self._work).reactions(raw)
            self._reactions_at = self._count
        return self._reactions

    def hand_forces(self) -> dict[str, np.ndarray]:
        """Force of each hand on its body over the last step [N]."""
        impulse = self.state.read("impulse")
        forces = {}
        for r, slot in enumerate(self.system.slots):
            name = self.system.hand_names[slot.part] if slot.kind == HAND and slot.code == 0 else None
            if name:
                forces[name] = self._out((impulse[r : r + 3] / self._impulse_span()).T)
        return forces

    def _out(self, values: np.ndarray):
        """Values [world, ...]: of one world alone, or of all with the world first."""
        values = np.array(values)
        if self.worlds > 1:
            return values
        return float(values[0]) if values.ndim == 1 else values[0]


class Hand:
    """A hold on a body."""

    def __init__(self, world: World, name: str):
        self.world, self.name = world, name

    def move(self, target: Value) -> None:
        """Go to a world point [m], or along a profile."""
        self.world.apply(edits.Move(self.name, tuple(target) if isinstance(target, list) else target))

    def release(self) -> None:
        """Let go."""
        self.world.apply(edits.Release(self.name))

    @property
    def force(self) -> np.ndarray:
        """Force on the body over the last step [N]."""
        return self.world.hand_forces()[self.name]


class BodyView:
    """What a body does now; arrays get a leading world dimension in a batch."""

    def __init__(self, world: World, index: int):
        self._world, self._index = world, index

    def _read(self, name: str, columns: slice = slice(None)) -> np.ndarray:
        return self._world._out(getattr(self._world._work, name).numpy()[self._index][:, columns])

    @property
    def position(self) -> np.ndarray:
        """Of the centre of mass [m]."""
        return self._read("p_WB")

    @property
    def orientation(self) -> np.ndarray:
        """Quaternion xyzw, body to world."""
        return self._read("q_WB")

    @property
    def velocity(self) -> np.ndarray:
        """Of the centre of mass [m/s]."""
        return self._read("twist", slice(3, 6))

    @property
    def angular_velocity(self) -> np.ndarray:
        """In world axes [rad/s]."""
        return self._read("twist", slice(0, 3))

    @property
    def acceleration(self) -> np.ndarray:
        """Of the centre of mass, mean over the last step [m/s²]."""
        return self._read("a_WB")

    def point(self, at=(0.0, 0.0, 0.0)) -> np.ndarray:
        """World place of a point given in the body's frame [m]."""
        at = vector("point", "at", at, "m")
        return self.position + edits.rotate(self.orientation, at)


class JointView:
    """What a joint does now: a number for a joint with one freedom, an array for more."""

    def __init__(self, world: World, name: str):
        self._world, self._name = world, name
        self._rows = world.readout.rows[name]
        self._index = list(world.model.joints).index(name)

    @property
    def reaction(self) -> Reaction:
        """All that the joint transmits to its second body, at the joint, world axes.

        At an instant for `direct`, the mean over the last step for impulsive methods. Where redundant
        constraints leave a choice it is that of least norm.
        """
        wrench = self._world._out(self._world.reactions()[0][self._index])
        return Reaction(force=wrench[..., 3:], torque=wrench[..., :3])

    @property
    def reaction_determinate(self) -> bool | np.ndarray:
        """False where redundant constraints make the reaction a choice."""
        determinate = self._world.reactions()[1][self._index]
        return bool(determinate[0]) if self._world.worlds == 1 else determinate.copy()

    def reaction_in(self, frame: str) -> Reaction:
        """The reaction along "world" axes or the axes of the "joint" (frame F on the first body)."""
        if frame not in ("world", "joint"):
            raise ModelError(f"joint '{self._name}': frame is {frame!r}, expected 'world' or 'joint'")
        force, torque = self.reaction
        if frame == "world":
            return self.reaction
        joint = self._world.model.joints[self._name]
        for q in (*([] if joint.first == "ground" else [self._world.body(joint.first).orientation]), joint.q_PF):
            force, torque = edits.rotate(conjugate(q), force), edits.rotate(conjugate(q), torque)
        return Reaction(force, torque)

    def _values(self, values: np.ndarray):
        chosen = values[self._rows]  # [freedom, world]
        return self._world._out(chosen[0] if len(self._rows) == 1 else chosen.T)

    @property
    def position(self):
        """Coordinates [m, rad]; of a ball its rotation vector."""
        return self._values(self._world.readout.freedoms()[0])

    @property
    def velocity(self):
        """Rates [m/s, rad/s]; of a ball its angular velocity along the axes of F."""
        return self._values(self._world.readout.freedoms()[1])

    @property
    def motor_torque(self):
        """Mean over the last step [N m, N]; 0 without a motor."""
        return self._values(self._world.motor_torques())


def _method(method: Any, **options: float | None) -> Any:
    """The options object of a method, with the options given beside it."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ModelError(f"no method {method!r}; methods are: {', '.join(METHODS)}")
        method = METHODS[method]()
    if type(method) not in METHODS.values():
        raise ModelError(f"method is {method!r}, expected one of {', '.join(METHODS)} or an options object")
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if not hasattr(method, name):
            raise ModelError(f"method '{method.name}': has no {name} (given as {value!r}); leave it out")
    method = replace(method, **given)
    try:
        method.check()
    except ValueError as error:
        raise ModelError(str(error)) from error
    return method


def _device(device: str) -> str:
    known = [str(d) for d in wp.get_devices()]
    name = "cuda:0" if device == "cuda" else device
    if name not in known:
        raise ModelError(f"no device {device!r} here; devices are: {', '.join(known)}")
    return name
