"""compile="auto": the kernel runs while steps are compiled beside it, and the switch to them is an edit.

When that edit comes depends on the wall clock; what it does does not, since it has the samples of the ways with it. So
a journal replays to the bit, and so does a session that goes back: nothing is compiled but by an edit.
"""

import sys
import threading
import time as wall
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import warp as wp

from ..edits.data import Compile
from ..engine.compile.calls import run_of, shares
from ..engine.compile.recipe import MOST_REFUSALS, MOST_VARIANTS, UNASKED, Sample
from ..engine.compile.ways import constants_of, is_kept, keep, key_of
from ..engine.methods.base import can_compile
from .workshop import Answer, Order, workshop

if TYPE_CHECKING:
    from .world import World

CALM = 0.2  # wall time without an edit before something is compiled [s]
AHEAD = 2  # steps after an edit before a state is taken for a sample
LOOK = 512  # steps between looks at how many fell back
MOST_FALLBACKS = 0.5  # of these: beyond it the kernel alone is faster
FIRST_BREAKS = 4  # fallbacks after which one more way is compiled; four times as many for the next
SHORT_TURN = 5e-4  # for which a thread may keep the interpreter while another waits [s]


@dataclass
class Job:
    """Something that is being compiled."""

    samples: tuple[Sample, ...]
    keys: list[bytes]  # of the ways, as this process knows them
    constants: bytes
    answer: Answer | None = None


class Background:
    """Looks when there is something to compile for a world, and has the edit ready that switches to it."""

    def __init__(self, world: "World"):
        self._world = world
        self.refused = ""  # why nothing is compiled for the mechanism as it is
        self._job: Job | None = None
        self._edition = -1
        self._constants = b""
        self._changed, self._from = 0.0, 0  # when and at which step something was edited
        self._known: dict[bytes, tuple[Sample, ...]] = {}  # samples by constants
        self._given_up: dict[bytes, str] = {}  # why, by constants
        self._breaks, self._looked, self._fallbacks = FIRST_BREAKS, 0, 0
        self._refusals = 0  # ways, beside the first, that were not compiled for the mechanism as it is
        if world.device == "cpu":
            workshop()  # which takes a second to begin

    def due(self) -> Compile | None:
        """The edit that is to be made before the next step, if there is one."""
        runner = self._world.runner
        if runner.edition != self._edition:
            self._look_again()
            return None
        if self._job is not None:
            return self._ready(self._job) if self._job.answer is not None else None
        launch = runner.launch
        if runner.recipe is not None and runner.recipe.samples:
            return self._watch(getattr(launch, "fallbacks", 0))
        if self.refused or runner.count < self._from + AHEAD or wall.monotonic() < self._changed + CALM:
            return None
        if runner.system.channels.callables or runner.beats or not can_compile(runner.method, runner.system):
            return None
        if runner.device != "cpu":  # the workshop compiles for the CPU
            return None
        samples = self._known.get(self._constants) or (Sample.of(runner.state.numpy(), 0),)
        return self._order(samples)

    def give_up(self, why: str) -> None:
        """Compile nothing for the mechanism as it is."""
        self.refused = self._given_up[self._constants] = why

    def _look_again(self) -> None:
        """Something was edited."""
        runner = self._world.runner
        self._edition, constants = runner.edition, constants_of(runner.system)
        if constants == self._constants:
            return
        self._constants, self._changed, self._from = constants, wall.monotonic(), runner.count
        self.refused = self._given_up.get(constants, "")
        self._breaks, self._refusals = FIRST_BREAKS, 0

    def _order(self, samples: Sequence[Sample]) -> Compile | None:
        """Have samples compiled; the edit at once, where they are."""
        runner, world = self._world.runner, self._world
        given = (runner.method, runner.system, runner.state)
        keys = [key_of(*given, samples[: k + 1], self._constants) for k in range(len(samples))]
        job = self._job = Job(tuple(samples), keys, self._constants)
        if all(map(is_kept, keys)):
            job.answer = Answer([], "", self._constants)
            return self._ready(job)
        asked, folder = runner.system.asked, str(wp.config.kernel_cache_dir)
        order = Order(world.snapshot(), world.worlds, asked, job.samples, folder, UNASKED)
        rows = runner.state.numpy().shape[0]
        threading.Thread(target=_carry_out, args=(job, order, rows), daemon=True, name="impulsar compile").start()
        return None

    def _ready(self, job: Job) -> Compile | None:
        """The edit for what was compiled, if it is still of use."""
        self._job = None
        answer = job.answer
        assert answer is not None
        if job.constants != self._constants:
            return None
        if answer.refused and len(job.samples) > 1:  # those that there are stay
            self._refusals += 1
            return None
        if answer.refused or answer.constants != job.constants:
            self.give_up(answer.refused or "another process did not find the same arrays")
            return None
        self._known[job.constants] = job.samples
        return edit_of(job.samples)

    def _watch(self, fallbacks: int) -> Compile | None:
        """Take up ways that steps fall back from; leave it where most of them do."""
        runner = self._world.runner
        recipe = runner.recipe
        assert recipe is not None
        if runner.beats:  # whom the kernel calls from inside a launch
            return Compile()
        if runner.count >= self._looked + LOOK or runner.count < self._looked:
            share = (fallbacks - self._fallbacks) / max(1, (runner.count - self._looked) * runner.worlds)
            is_first = runner.count < self._looked or not self._looked
            self._looked, self._fallbacks = runner.count, fallbacks
            if share > MOST_FALLBACKS and not is_first and not self._may_order:
                self.give_up("steps go another way nearly each time; the kernel is faster")
                return Compile()
        if recipe.broke is None or fallbacks < self._breaks or not self._may_order:
            return None
        self._breaks = 4 * fallbacks
        sample, recipe.broke = recipe.broke[1], None
        return self._order((*recipe.samples, sample))

    @property
    def _may_order(self) -> bool:
        """Whether one more way may be compiled: each that is refused took seconds."""
        recipe = self._world.runner.recipe
        assert recipe is not None
        return len(recipe.samples) < MOST_VARIANTS and self._refusals < MOST_REFUSALS


def edit_of(samples: Sequence[Sample]) -> Compile:
    """Samples as an edit."""
    return Compile(tuple(tuple(one.numbers.tolist()) for one in samples), tuple(one.world for one in samples))


def _carry_out(job: Job, order: Order, rows: int) -> None:
    """Wait for the other process, and load what it has compiled."""
    turn = sys.getswitchinterval()
    answer = workshop().ask(order)
    sys.setswitchinterval(min(turn, SHORT_TURN))
    try:
        if not answer.refused:
            places: dict[tuple, int] = {}
            for key, way in zip(job.keys, answer.ways, strict=True):
                for name in way.parameters:
                    places.setdefault(name, len(places))
                for width, _, _ in shares(order.worlds):
                    way.function(width)
                keep(key, way)
            for width, _, _ in shares(order.worlds):
                run_of(rows, len(places), width)
    finally:
        sys.setswitchinterval(turn)
    job.answer = answer
