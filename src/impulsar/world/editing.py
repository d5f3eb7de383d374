"""Edits of a running world: arrays written, systems built anew and swapped, energy and momentum booked."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from .. import edits
from ..author.errors import ModelError
from ..author.model import Model
from ..edits.carry import Places, carry_parameters, slot_map
from ..edits.rebuild import Rebuilt, momentum, rebuild
from ..engine.methods import METHODS
from ..engine.system import System
from ..observe.bench import Bench
from ..observe.reading import out
from . import snapshot
from .options import method_of, parts_of_step
from .runner import Runner


class Editor:
    """Carries out edits on a runner between two steps: the desk of all handlers."""

    def __init__(self, runner: Runner):
        self.runner = runner

    @property
    def bench(self) -> Bench:
        """System, state and work arrays."""
        return self.runner.bench

    @property
    def model(self) -> Model:
        """The model as it is now, with what edits have set; never changed in place."""
        return self.runner.system.model

    def apply(self, edit: Any) -> edits.Answer:
        """Carry out an edit; raises EditError and changes nothing if it cannot be."""
        entry = edits.REGISTRY.get(type(edit))
        if entry is None:
            raise edits.EditError(f"{type(edit).__name__}: not an edit; see impulsar.edits")
        edits.check_values(edit)
        try:
            answer = self._carry_out(edit, entry)
        except edits.EditError:
            raise
        except ModelError as error:
            raise edits.EditError(str(error)) from error
        self.runner.forget()
        return answer

    def _carry_out(self, edit: edits.Edit, entry: edits.Entry) -> edits.Answer:
        runner = self.runner
        energy, booked = runner.work.energy.numpy().sum(axis=0), runner.state.read("edits").copy()
        before = momentum(runner.bench) if entry.moves(edit) else None
        result = entry.handler(edit, self)
        while isinstance(result, edits.More):
            self._make_room(result)
            result = entry.handler(edit, self)
        if isinstance(result, edits.Plan):
            return self._rebuild(result)
        if result.arrays_replaced:
            runner.record_later()
        if not entry.writes:
            return result
        runner.refresh()
        if not entry.books:
            return result
        if before is not None:
            gained = momentum(runner.bench) - before
            result = replace(result, momentum=self._out(gained[:, 3:]), angular_momentum=self._out(gained[:, :3]))
        added = runner.work.energy.numpy().sum(axis=0) - energy
        if added.any():
            runner.state.write("edits", booked + added)
            return replace(result, energy=self._out(added))
        return result

    def _out(self, values: np.ndarray) -> Any:
        return out(values, self.runner.worlds)

    def build(self, plan: edits.Plan, coordinates: str | None = None, **options: Any) -> Rebuilt:
        """Build a changed system on the side, with the state carried over."""
        return rebuild(self.runner.bench, plan, coordinates or self.runner.coordinates, **options)

    def swap(self, new: Rebuilt) -> edits.Answer:
        """Go on with a system that was built on the side."""
        self.runner.take(new.bench)
        self.runner.write_options(self.runner.work_limit)
        self.runner.set_dt(self.runner.dt)
        return new.answer(self._out)

    def _make_room(self, more: edits.More) -> None:
        """Double the room for hands or loads and carry the state over."""
        n = self.runner.system.counts
        hands = 2 * n.hands if more.hands else n.hands
        loads = max(4, 2 * n.loads) if more.loads else n.loads
        self.swap(self.build(edits.Plan(self.model, ""), hands=hands, loads=loads))

    def _rebuild(self, plan: edits.Plan) -> edits.Answer:
        """Build a changed system on the side, carry the state over, and swap."""
        if plan.then is None:
            return self.swap(self.build(plan))
        before = snapshot.take(self.runner)
        answer = self.swap(self.build(plan))
        try:
            written = self.apply(plan.then)
        except edits.EditError:
            snapshot.put_back(self.runner, before)
            raise
        return replace(answer, text=written.text, energy=answer.energy + written.energy)

    def weighed(self, text: str, before: tuple[np.ndarray, np.ndarray], moved: float) -> edits.Answer:
        """An answer with what energy and momentum have become more by since `weigh`."""
        energy, gained = (now - was for now, was in zip(self.weigh(), before, strict=True))
        return edits.Answer(
            text,
            energy=self._out(energy),
            momentum=self._out(gained[:, 3:]),
            angular_momentum=self._out(gained[:, :3]),
            moved=moved,
        )

    def weigh(self) -> tuple[np.ndarray, np.ndarray]:
        """Energy [world] and momentum [world, 6]."""
        return self.runner.work.energy.numpy().sum(axis=0), momentum(self.runner.bench)


# edits of the run itself --------------------------------------------------------------------------


@edits.carries_out(edits.SetStep, tells="parts", writes=False)
def set_step(edit: edits.SetStep, desk: Editor) -> edits.Answer:
    """Change the nominal step."""
    before = desk.runner.dt
    desk.runner.set_dt(edit.dt)
    return edits.Answer(f"step is {desk.runner.dt:g} s", inverse=edits.SetStep(before))


@edits.carries_out(edits.Pause, tells="", writes=False)
def pause(edit: edits.Pause, desk: Editor) -> edits.Answer:
    """Stop time, or let it run again."""
    if not isinstance(edit.paused, bool):
        raise edits.EditError(f"pause is {edit.paused!r}, expected True or False")
    desk.runner.paused, before = edit.paused, desk.runner.paused
    return edits.Answer("paused" if edit.paused else "running", inverse=edits.Pause(before))


@edits.carries_out(edits.SetMethod, writes=False)
def set_method(edit: edits.SetMethod, desk: Editor) -> edits.Answer:
    """Go on with another method."""
    runner = desk.runner
    options = {field.name: getattr(runner.method, field.name) for field in fields(runner.method)}
    inverse = edits.SetMethod(runner.method.name, options)
    edits.known("method", "method", edit.method, METHODS)
    method = method_of(edit.method, **edits.method_options(edit, METHODS))
    parts_of_step(runner.dt, method)  # refused while nothing is changed
    coordinates = runner.coordinates if runner.coordinates in method.coordinates else method.coordinates[0]
    text = f"method is {method.name}, in {coordinates} coordinates"
    answer = edits.Answer(text, inverse=inverse)
    new = None
    redundancy = runner.redundancy if method.play is None else method.play
    if coordinates != runner.coordinates or redundancy != runner.redundancy:
        before, runner.system.redundancy = runner.system.redundancy, redundancy
        try:
            new = desk.build(edits.Plan(desk.model, text, inverse), coordinates)
        finally:
            runner.system.redundancy = before
    runner.method, runner.work_limit = method, method.most_work
    if new is not None:
        answer = desk.swap(new)
    else:
        runner.equip()
        runner.write_options(runner.work_limit)
        runner.set_dt(runner.dt)
    runner.state.write("last_h", np.zeros((1, runner.worlds)))  # its impulses are another method's
    return answer


@edits.carries_out(edits.Reset, writes=False)
def reset(edit: edits.Reset, desk: Editor) -> edits.Answer:
    """Start again. A model whose joints do not meet at the authored pose any more is assembled."""
    runner, model, before = desk.runner, desk.model, desk.weigh()
    try:
        model.check()
    except ModelError:
        places = Places(runner.worlds)
        for body in model.bodies.values():
            twist = np.concatenate([body.angular_velocity, body.velocity])
            places.put(body.name, body.position, body.orientation, twist)
        new = desk.build(edits.Plan(model, "", places=places), fresh=True)
        desk.swap(new)
        runner.go_to_start()
        return desk.weighed("back at the start", before, new.moved)
    old = runner.system
    system = System(model, runner.worlds, runner.device, runner.coordinates, checked=True, contacts=runner.system.asked)
    carry_parameters(old, system, slot_map(old, system))
    runner.start(system)
    push = runner.start_push
    answer = desk.weighed("back at the start" + (f"; {push}" if push else ""), before, push.moved if push else 0.0)
    return replace(answer, overlaps=push.overlaps, pushed=desk._out(push.energy)) if push else answer
