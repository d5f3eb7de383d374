"""World: a running mechanism. Step it, run it, take hold of it, change it, read it."""

import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import edits
from ..author.checks import flag, show, whole
from ..author.errors import ModelError, StepError
from ..author.events import Event
from ..author.model import Model
from ..author.touching import touching_pairs
from ..engine.device import check_device
from ..engine.methods import METHODS
from ..engine.methods.base import refuse_compiling, touching_kernel
from ..engine.state import State
from ..engine.system import System
from ..engine.system.contacts import check_contacts
from ..engine.threads import MOST as MOST_THREADS
from ..observe.books import Books
from ..observe.contacts import Contact, Contacts
from ..observe.fluids import added_inertia
from ..observe.moment import Moment
from ..observe.reading import out
from ..observe.readout import Readout
from . import snapshot
from .budget import keep_budget
from .clamps import Clamps
from .compiled import compilation_of
from .control import Controller
from .digest import Digest
from .editing import Editor
from .kernels import load
from .options import method_of, script_of
from .reports import StepReport
from .runner import Runner, play_of
from .snapshot import Snapshot
from .stack import Stack, stack_of
from .views import BodyView, Hand, JointView, SensorView, Tip, TyreView

if TYPE_CHECKING:
    from ..engine.compile.launch import Compilation
    from .background import Background
    from .pace import Timing
    from .sensitivity import Sensitivity

DEFAULT_METHOD = "direct"
MOST_WORLDS = 10**6  # of a batch: a free body alone has then 1 GiB
COMPILE = ("off", "now", "auto")
MANY_WORLDS = 64  # of a batch: from here on it is compiled unless that is asked not to be


class World:
    """A running mechanism, or `worlds` copies of it with their own states and parameters.

    method: a name of METHODS or an options object such as Simgc(epsilon=1e-6); coordinates: "generalized"
    or "maximal", by default the method's own; dt: nominal step [s]; rtol, atol, substeps: of `direct`;
    budget: wall time a step may take [s], turned into a limit of iterations by measuring their cost;
    strict: raise when a step is not right to its tolerance (`StepReport.trouble`); redundancy: how far apart rows
    that others imply may be [rad, or lengths over the mechanism's size], the play of its bearings; max_speed [m/s]
    of bodies and max_hand_force [N] of hands: clamps, off by default, told in `StepReport.clamped`; contacts: how many
    to have room for at a time, by default as many as there may well be; compile: "now" has the steps of `simgc` and
    `direct` compiled for this mechanism, "auto" beside the running world, by default "now" for batches of 64 worlds
    and more and "off" for others (docs/compile.md); worlds: how many, or a list of models, one for each world, that
    have the parts of `model` with other numbers, such as lengths (docs/cluster.md); threads: of the CPU, among which
    the worlds are shared out, to the same bits; by default all cores, as far as they have 32 worlds each.
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
        worlds: int | Sequence[Model] | Stack = 1,
        device: str = "cpu",
        strict: bool = False,
        redundancy: float | None = None,
        max_speed: float | None = None,
        max_hand_force: float | None = None,
        contacts: int | None = None,
        compile: str | None = None,
        threads: int | None = None,
    ):
        if not isinstance(model, Model):
            raise ModelError(f"world: model is {show(model)}, expected a Model")
        model = model.copy(parts=True)  # what its author does to it later does not reach a running world
        options = method_of(method, rtol=rtol, atol=atol, substeps=substeps, redundancy=redundancy)
        coordinates = _coordinates_of(options, coordinates)
        room = check_contacts(contacts)
        stack = None
        if isinstance(worlds, list | tuple | Stack):
            stack = stack_of(model, worlds, coordinates, play_of(options), room)
            worlds = len(stack)
        if not isinstance(worlds, int) or isinstance(worlds, bool) or not 1 <= worlds <= MOST_WORLDS:
            told = f"expected an integer >= 1, at most {MOST_WORLDS}, or a list of models"
            raise ModelError(f"worlds is {show(worlds)}, {told}")
        device, strict, script = check_device(device), flag("world", "strict", strict), script_of(model)
        clamps = Clamps(max_speed, max_hand_force)
        threads = _check_threads(threads, device)
        self._door = threading.Lock()  # who steps or edits holds it
        self._holder: weakref.ref | None = None  # the history that is the only door to it
        self._through = 0  # thread in which that history is at work
        kernel = touching_kernel(options) if touching_pairs(model) else options.kernel
        load(kernel, model, device, may_stand_in=compile == "auto" and budget is None)
        dt = dt if dt is not None else model.dt or 0.01
        door = self._carry_out
        what = (model, options, coordinates, dt, worlds, device)
        self.runner = Runner(*what, clamps, script, door, room, stack, threads)
        self.runner.strict = strict
        self._editor, self._digest = Editor(self.runner), Digest(self.runner)
        if self.start_change:
            told = ", ".join(f"{body} by {change:.3g}" for body, change in self.start_change.items())
            warnings.warn(f"model '{model.name}': start velocities changed to fit the joints: {told} m/s", stacklevel=2)
        if self.runner.start_push:
            warnings.warn(f"model '{model.name}': {self.runner.start_push}", stacklevel=2)
        self._refused = ""  # why a batch is not compiled
        self.compile = self._start_compiling(compile)
        self._background = self._in_background() if self.compile == "auto" else None
        self.budget = budget
        if budget is not None:
            keep_budget(self.runner, budget)

    def _start_compiling(self, compile: object) -> str:
        """How steps are compiled: as asked, by default those of batches where they can be."""
        if compile is not None and compile not in COMPILE:
            raise ModelError(f"world: compile is {show(compile)}, expected one of: {', '.join(COMPILE)}")
        asked = compile is not None
        if not asked:
            compile = "now" if self.worlds >= MANY_WORLDS else "off"
            try:
                refuse_compiling(self.method, self.system)
            except ModelError as error:
                self._refused = str(error) if compile == "now" else ""
                compile = "off"
        if compile == "now":
            from ..engine.compile.recipe import LARGEST, UNASKED, Recipe

            refuse_compiling(self.method, self.system)
            self.runner.learns = Recipe(learns=True, largest=LARGEST if asked else UNASKED)
            self.runner.compile_by(None)
        return str(compile)

    def _in_background(self) -> "Background":
        from .background import Background

        return Background(self)

    # what it runs ---------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model as it is now, with what edits have set; never changed in place."""
        return self._editor.model

    @property
    def method(self) -> Any:
        """The options of its method."""
        return self.runner.method

    @property
    def coordinates(self) -> str:
        """ "generalized" or "maximal"."""
        return self.runner.coordinates

    @property
    def worlds(self) -> int:
        """How many copies run."""
        return self.runner.worlds

    @property
    def device(self) -> str:
        """Where."""
        return self.runner.device

    @property
    def dt(self) -> float:
        """Nominal step [s]."""
        return self.runner.dt

    @property
    def redundancy(self) -> float:
        """How far rows that others imply may be open [rad, or lengths over the mechanism's size]."""
        return self.runner.redundancy

    @property
    def clamps(self) -> Clamps:
        """What it may not exceed."""
        return self.runner.clamps

    @property
    def work_limit(self) -> int:
        """Iterations or evaluations that a nominal step may take."""
        return self.runner.work_limit

    @property
    def start_overlaps(self) -> tuple[edits.Overlap, ...]:
        """Bodies that began inside each other and were pushed apart; what that took is booked to edits."""
        return self.runner.start_push.overlaps if self.runner.start_push else ()

    @property
    def start_change(self) -> dict[str, float]:
        """Bodies whose authored velocity was changed to fit the joints, and by how much [m/s]."""
        return self.runner.start_change

    @property
    def system(self) -> System:
        """The arrays that the model became."""
        return self.runner.system

    @property
    def state(self) -> State:
        """The state, by named blocks."""
        return self.runner.state

    @property
    def readout(self) -> Readout:
        """Joint coordinates and lock errors."""
        return self.runner.readout

    @property
    def compilation(self) -> "Compilation | None":
        """How the steps were compiled for this mechanism; None where they are not to be."""
        return compilation_of(self.runner, self._background, self._refused)

    def make_ready(self, apply: "Callable[[edits.Edit], object]") -> None:
        """Make the edit that switches to what was compiled meanwhile, where it is ready; by the door that is given."""
        if self._background is None or (edit := self._background.due()) is None:
            return
        try:
            apply(edit)
        except edits.EditError as error:
            self._background.give_up(str(error))

    @property
    def strict(self) -> bool:
        """Whether trouble raises."""
        return self.runner.strict

    @strict.setter
    def strict(self, strict: bool) -> None:
        self.runner.strict = strict

    @property
    def paused(self) -> bool:
        """Whether steps are refused."""
        return self.runner.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self.runner.paused = paused

    @property
    def between(self) -> Callable[[], None] | None:
        """Called between launches; what it raises ends the steps."""
        return self.runner.between

    @between.setter
    def between(self, between: Callable[[], None] | None) -> None:
        self.runner.between = between

    # stepping -------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> StepReport:
        """Take n nominal steps in as few launches as the script and callables allow."""
        if self._holder is not None:
            self._check_free("step")
        elif self._background is not None:
            self.make_ready(self.apply)
        if not self._door.acquire(False):  # as `_enter` does, 0.1 us sooner
            raise StepError(self._busy("step"))
        try:
            runner = self.runner
            if runner.paused:
                raise edits.EditError("the world is paused; go on by world.apply(im.edits.Pause(False))")
            return runner.step(n)
        finally:
            self._door.release()

    def check(self, report: StepReport) -> None:
        """Raise if a step of a report could not be taken; on a CUDA device `step` does not wait to know."""
        self.runner.check(report)

    def run(
        self,
        duration: float,
        every: float | None = None,
        progress: bool | None = None,
        variables: Sequence[str] | None = None,
        at: Sequence[float] | None = None,
        events: Sequence[Event] | None = None,
    ):
        """Step for a duration [s], to the nearest step, sampling the start and `every` [s]; an xarray.Dataset.

        every: a whole multiple of dt, by default each step; the end is sampled in any case. at: times [s] at which to
        sample instead, any from now to the end; asking for more of them changes no value. events: what to find on the
        way, see `Event`. variables: names of results or quantities, "position", "spring.force"; by default the usual
        ones. Shows a progress bar in a terminal. Ctrl-C keeps what was computed.
        """
        from .run import run

        return run(self, duration, every, progress, variables, at, events)

    def pace(self, duration: float, speed: float = 1.0) -> "Timing":
        """Step for a duration [s] by the clock on the wall, `speed` times as fast; says how many steps were late.

        A late step is not left out: those after it are taken at once, until the clock is caught up with.
        """
        from .pace import pace

        return pace(self, duration, speed)

    def certify(self, duration: float, variables: Sequence[str] | None = None, every: float | None = None):
        """How many digits of a run of a duration [s] from here may be trusted, up to which time; a `Certificate`.

        The run is taken on copies, also at a tenth of the tolerance, by another method and in the other coordinates;
        the world stays as it is. variables: as of `run`; every: between the times at which runs are compared [s].
        """
        from .certify import certify

        return certify(self, duration, variables, every)

    def sensitivity(
        self,
        of: str | Sequence[str],
        to: str | Sequence[str],
        duration: float,
        every: float | None = None,
        mode: str = "auto",
    ) -> "Sensitivity":
        """How outcomes of the trajectory from here change with parameters, motors and the start; it stays as it is.

        of: "hinge.position", "hinge.velocity", "arm.position.x", "tip.position" (a probe), ... [SI units]; to:
        "arm.mass", "spring.stiffness", "arm.inertia.zz", "model.gravity.z", a parameter of the model by its name,
        "shaft.motor", "shaft.motor.omega", "hand.stiffness", a controller's "servo.KP", "hinge.position" and
        "hinge.velocity" of the start; duration [s]; every: between samples [s], by default only the end; mode:
        "forward", "reverse" or "auto", which is less work. See docs/gradients.md.
        """
        from .sensitivity import sensitivity

        return sensitivity(self, of, to, duration, every, mode)

    def view(self, width: str = "100%", height: int | None = None, **options: Any):
        """Show this world in a notebook, to take hold of; until its `stop()`, the page's session steps it.

        height [pixels]: 640, compact 420; options: compact, served, origin (docs/studio.md).
        """
        from ..studio.notebook import view

        return view(self, width, height, **options)

    def shown_model(self, velocities: bool = True) -> Model:
        """The model with its bodies where they are now, moving as they do or at rest."""
        return edits.as_shown(self._editor, flag("shown_model", "velocities", velocities))

    def snapshot_png(self, width: int = 960, height: int = 720) -> bytes:
        """A picture of this moment as PNG, made without a browser [pixels]."""
        from ..render import pose_now, pose_png

        return pose_png(self.model, pose_now(self), width, height)

    def _repr_png_(self) -> bytes | None:
        """This moment as a picture, for notebooks; None without a body, or while another thread steps it."""
        if not self.model.bodies or not self._door.acquire(blocking=False):
            return None
        try:
            return self.snapshot_png(640, 480)
        finally:
            self._door.release()

    # its door -------------------------------------------------------------------------------------

    @contextmanager
    def at_work(self, what: str) -> Iterator[None]:
        """Hold the world's door, so that nothing steps or edits it meanwhile."""
        self._enter(what)
        try:
            yield
        finally:
            self._door.release()

    def _enter(self, what: str) -> None:
        """Take the world's door, or refuse: two threads would write over each other's state."""
        if not self._door.acquire(blocking=False):
            raise edits.EditError(self._busy(what))

    def _busy(self, what: str) -> str:
        return (
            f"model '{self.system.model.name}': {what} while the world is at work, in another thread or in a "
            "callable of its own; let one thread step and edit it, or give each thread a World of its own"
        )

    def _check_free(self, what: str) -> None:
        """Refuse what would go past the history that holds this world, and spoil what it replays."""
        if self._holder is None or self._holder() is None or self._through == get_ident():
            return
        there = f"{what} it there, as history.{what}(...)"
        raise edits.HeldError(
            f"world: a History holds it, or a view shows it; {there}, or end that by history.close() or view.stop()"
        )

    def __reduce__(self) -> Any:
        """Refuse to be copied or pickled: arrays on a device and recorded launches are not data."""
        raise TypeError(
            f"model '{self.system.model.name}': a World cannot be copied or pickled; keep world.model and "
            "world.snapshot(), which can, then make World(model) and restore(snapshot) there"
        )

    # changing -------------------------------------------------------------------------------------

    def apply(self, edit: Any) -> edits.Answer:
        """Carry out an edit between two steps; raises EditError and changes nothing if it cannot be."""
        return self._apply(edit)

    def _apply(self, edit: Any, weighs: bool = True) -> edits.Answer:
        self._check_free("apply")
        self._enter("apply")
        try:
            return self._carry_out(edit, weighs)
        finally:
            self._door.release()

    def _carry_out(self, edit: Any, weighs: bool = True) -> edits.Answer:
        return self._editor.apply(edit, weighs)

    def set(self, path: str, values: object) -> edits.Answer:
        """Set "part.parameter" to a value, or one per world: world.set("arm.mass", masses)."""
        return self.apply(edits.SetParameter(path, values))

    def reset(self, mask: Any = None, q: Any = None, v: Any = None) -> edits.Answer:
        """Put some worlds of a batch, or all, at joint coordinates q [m, rad] and velocities v [m/s, rad/s].

        mask: True for each world that is put; None: all. q, v: arrays [coordinate] or [world put, coordinate] in the
        order of `coordinate_names`, or numbers by name. Without q the start, with its velocities; with q and without v
        at rest. Loops are closed from there: the answer tells what that changed. Time and inputs go on.
        """
        return self.apply(edits.PutWorlds(self._masked(mask), q, v))

    def _masked(self, mask: Any) -> np.ndarray | None:
        """Numbers of the worlds of a mask."""
        if mask is None:
            return None
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != (self.worlds,) or not given.any():
            told = f"expected True or False for each of {self.worlds} worlds, and True for one at least"
            raise edits.EditError(f"reset: mask is {show(mask)}, {told}")
        return np.flatnonzero(given)

    def go_to(self, keyframe: str, mask: Any = None) -> edits.Answer:
        """Put all worlds, or those of a mask as in `reset`, at a key frame of the model."""
        return self.apply(edits.GoTo(keyframe, self._masked(mask)))

    def grab(
        self,
        body: str,
        at=(0.0, 0.0, 0.0),
        stiffness: float = 1000.0,
        damping: float = 1.0,
        name=None,
        *,
        angular_stiffness: float = 0.0,
        angular_damping: float = 0.0,
    ) -> "Hand":
        """Take hold of a point of a body (its own frame, from its centre of mass [m]) by a spring-damper.

        With angular stiffness [N m/rad] or damping [N m s/rad] the hand also holds its orientation, and can turn it.
        """
        name = self._free_name() if name is None else name
        self.apply(edits.Grab(name, body, _point(at), stiffness, damping, angular_stiffness, angular_damping))
        return Hand(self, name)

    def push(self, at, radius: float = 0.01, force: float = 50.0, name=None, *, mass: float | None = None) -> "Tip":
        """Put a sphere at a world point [m] that pushes what it meets, by at most a force along each axis [N]."""
        name = self._free_name() if name is None else name
        self.apply(edits.Push(name, _point(at), radius, force, mass))
        return Tip(self, name)

    def _free_name(self) -> str:
        """For a hand."""
        model, live = self.system.model, (*self.system.hand_names, *self.system.load_names)
        return next(n for k in count(1) if (n := f"hand {k}") not in live and model.holder(n) is None)

    def drag(self, body: str, target, at=(0.0, 0.0, 0.0)) -> edits.Answer:
        """With time stopped, bring a point of a body (its own frame [m]) as near to a world point as it goes."""
        return self.apply(edits.DragTo(body, _point(target), _point(at)))

    def change(self, joint: str, frames: str = "present", **changes: object) -> edits.Answer:
        """Change a joint while it moves: world.change("hinge", type="spherical"); see `edits.ChangeJoint`."""
        return self.apply(edits.ChangeJoint(joint, changes, frames))

    def add(self, kind: str, name: str, **options: object) -> edits.Answer:
        """Add a part at the present pose: world.add("joint", "weld", type="fixed", first="a", second="b", at=p)."""
        return self.apply(edits.Add(kind, name, options))

    def remove(self, kind: str, name: str) -> edits.Answer:
        """Remove a part, and with a body everything that holds on to it."""
        return self.apply(edits.Remove(kind, name))

    def attach(
        self,
        name: str,
        controller: Callable[..., Any],
        rate: float,
        reads: Sequence[str] = (),
        writes: Sequence[str] = (),
        hold: str = "last",
        budget: float | None = None,
        memory: int = 0,
    ) -> Controller:
        """Let a controller act at a rate [Hz] from now on, or exchange the one of that name.

        controller(time, inputs) gets what it reads as one array, in a batch one row for each world, and returns what
        it writes: numbers, or rows of them. reads: signals, vectors and sensors; writes: motors, loads, parameters;
        see docs/control.md. hold: what stays of a call that fails, "last" or "zero"; budget: wall time of a call [s].
        A Warp function of (time, y, u) is called inside the launch; with memory it has that many numbers as a fourth.
        """
        self.apply(edits.Attach(name, controller, rate, tuple(reads), tuple(writes), hold, budget, memory))
        return self.runner.beats.controllers[name]

    def detach(self, name: str) -> edits.Answer:
        """Let a controller act no more."""
        return self.apply(edits.Detach(name))

    @property
    def controllers(self) -> dict[str, Controller]:
        """Those that are attached, by name, with their calls and faults."""
        return dict(self.runner.beats.controllers)

    def snapshot(self) -> Snapshot:
        """Everything needed to go on from here, as data."""
        return snapshot.take(self.runner)

    def restore(self, moment: Snapshot) -> None:
        """Go back to a snapshot, over any edits since: stepping on gives the same bits as it did then."""
        self._check_free("seek")
        self._enter("restore")
        try:
            if not isinstance(moment, Snapshot) or moment.state.shape[1:] != (self.worlds,):
                told = show(moment) if not isinstance(moment, Snapshot) else f"of {moment.state.shape[1]} worlds"
                raise edits.EditError(f"restore: snapshot is {told}, expected one of a world of {self.worlds}")
            snapshot.put_back(self.runner, moment)
        finally:
            self._door.release()

    def hash(self) -> str:
        """Digest of the bits of everything that decides the future: state, parameters, inputs and method."""
        return self._digest.read()

    # reading --------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.runner.time

    def body(self, name: str) -> "BodyView":
        """A body to read from."""
        return BodyView(self, edits.known("world", "body", name, self.system.body_index))

    def joint(self, name: str) -> "JointView":
        """A joint to read from."""
        edits.known("world", "joint", name, self.readout.rows)
        return JointView(self, name)

    def tyre(self, name: str) -> "TyreView":
        """A tyre to read from."""
        return TyreView(self, edits.known("world", "tyre", name, self.system.index_of("tyre")))

    def sensor(self, name: str) -> "SensorView":
        """A sensor to read from."""
        edits.known("world", "sensor", name, self.system.model.sensors)
        return SensorView(self, name)

    def point(self, body: str, at=(0.0, 0.0, 0.0)) -> np.ndarray:
        """World place of a point of a body, given in its own frame [m]."""
        return self.body(body).point(at)

    def moment(self, iterations: Any = 0.0, step_time: Any = 0.0) -> Moment:
        """What the table of quantities is read at: the world as it is now, until it is stepped or edited."""
        return Moment(self.runner.bench, iterations, step_time)

    def energy(self) -> Books:
        """The energy books [J]."""
        return self.moment().books

    def openings(self) -> dict[str, Any]:
        """How far the rows that are redundant by construction are open, by name [rad, or lengths over the size].

        They are no rows, because others imply them to within `redundancy`; "joint 'hinge' tilt x": 1.2e-6.
        """
        return self.runner.bench.openings.read()

    def constraint_error(self) -> float | np.ndarray:
        """2-norm over all joints of their position-level equations, from body poses [m and rad]."""
        return out(self.readout.constraint_errors()[0], self.worlds)

    @property
    def coordinate_names(self) -> list[str]:
        """Of all freedoms of the joints, in the author's order: "hinge", "rail.slide", "ball.rotation.x"."""
        return list(self.readout.coordinates)

    def joint_positions(self, copy: bool = True) -> Any:
        """Coordinates of all joints [world, coordinate], of one world [coordinate] [m, rad]; a ball's are a rotation
        vector. copy=False: a Warp array on the device, which the next reading overwrites, for DLPack."""
        return self._freedoms(0, copy)

    def joint_velocities(self, copy: bool = True) -> Any:
        """Their rates [m/s, rad/s], likewise."""
        return self._freedoms(1, copy)

    def _freedoms(self, which: int, copy: bool) -> Any:
        if copy:
            return out(self.readout.freedoms()[which].T, self.worlds)
        self.readout.freedom_reading.launch()
        return self.readout.freedom_reading.out[which].transpose()

    def motor_torques(self) -> np.ndarray:
        """Torque of each coordinate's motor, mean over the last step [coordinate, world] [N m, N]."""
        return self.runner.bench.forces.motors()

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Reactions of all joints in the author's order [joint, world, torque and force], and whether determinate."""
        wrenches, determinate = self.moment().reactions
        return wrenches.copy(), np.all(determinate, axis=-1)

    def contacts(self, world: int = 0) -> list[Contact]:
        """Where shapes touch at the end of the last step, of one world of a batch."""
        return Contacts(self.runner.bench).read(whole("contacts", "world", world, 0, self.worlds - 1))

    def added_mass(self, body: str) -> np.ndarray:
        """Added inertia of a body in a fluid as it is immersed now, about its centre of mass and along its axes:
        6 x 6, turns first, so that it gives the momenta [N m s, N s] of a twist [rad/s, m/s]; zero out of fluids."""
        index = edits.known("added_mass", "body", body, self.system.body_index)
        return out(added_inertia(self.runner.bench, index), self.worlds)

    def hand_forces(self) -> dict[str, np.ndarray]:
        """Force of each hand on its body over the last step [N]."""
        return self._by_hand(self.runner.bench.forces.hands())

    def hand_torques(self) -> dict[str, np.ndarray]:
        """Torque of each hand on its body, beside that of its force, over the last step [N m]."""
        return self._by_hand(self.runner.bench.forces.hand_torques())

    def _by_hand(self, values: np.ndarray) -> dict[str, np.ndarray]:
        return {name: out(values[k], self.worlds) for k, name in enumerate(self.system.hand_names) if name}


def _coordinates_of(method: Any, coordinates: object) -> str:
    """The coordinates asked for, by default the method's own."""
    if coordinates is None:
        return method.coordinates[0]
    if isinstance(coordinates, str) and coordinates in method.coordinates:
        return coordinates
    known = ", ".join(method.coordinates)
    others = [n for n, other in METHODS.items() if isinstance(coordinates, str) and coordinates in other.coordinates]
    hint = f"; for {coordinates} take method {' or '.join(others)}" if others else ""
    raise ModelError(f"method '{method.name}': no coordinates {show(coordinates)}; it works in: {known}{hint}")


def _check_threads(threads: object, device: str) -> int | None:
    """How many are asked for; None: as many as pay."""
    if threads is None:
        return None
    if device != "cpu":
        raise ModelError(f"world: threads is {show(threads)}, but they are of the CPU; leave it out on {device}")
    return whole("world", "threads", threads, 1, MOST_THREADS)


def _point(value: Any) -> Any:
    """A list or array as a tuple; what else it is the edit will refuse."""
    is_list = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return tuple(value) if is_list else value
