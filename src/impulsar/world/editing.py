"""Edits of a running world: arrays written, systems built anew and swapped, energy and momentum booked."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from .. import edits
from ..author.errors import ModelError
from ..author.model import Model
from ..edits.apply import HandsFull, LoadsFull, NoSlot
from ..edits.carry import Places, carry_parameters, slot_map
from ..edits.present import present_model
from ..edits.rebuild import Rebuilt, momentum, plan_of, rebuild
from ..edits.topology import Plan
from ..engine.methods import METHODS
from ..engine.system import System
from ..observe.bench import out
from . import snapshot
from .options import method_of, parts_of_step
from .runner import Runner


class Editor:
    """Carries out edits on a runner between two steps."""

    def __init__(self, runner: Runner):
        self._runner = runner
        self._model: tuple[int, Model] | None = None

    @property
    def model(self) -> Model:
        """The model as it is now, with what edits have set; never changed in place."""
        if self._model is None or self._model[0] != self._runner.edition:
            self._model = self._runner.edition, present_model(self._runner.system)
        return self._model[1]

    def apply(self, edit: Any) -> edits.Answer:
        """Carry out an edit; raises EditError and changes nothing if it cannot be."""
        if not isinstance(edit, edits.Edit):
            raise edits.EditError(f"{type(edit).__name__}: not an edit; see impulsar.edits")
        edits.check_values(edit)
        try:
            answer = self._carry_out(edit)
        except edits.EditError:
            raise
        except ModelError as error:
            raise edits.EditError(str(error)) from error
        self._runner.forget()
        return answer

    def _out(self, values: np.ndarray) -> Any:
        return out(values, self._runner.worlds)

    def _carry_out(self, edit: edits.Edit) -> edits.Answer:
        runner = self._runner
        match edit:
            case edits.SetStep():
                before = runner.dt
                runner.set_dt(edit.dt)
                return edits.Answer(f"step is {runner.dt:g} s", inverse=edits.SetStep(before))
            case edits.Pause():
                if not isinstance(edit.paused, bool):
                    raise edits.EditError(f"pause is {edit.paused!r}, expected True or False")
                runner.paused, before = edit.paused, runner.paused
                return edits.Answer("paused" if edit.paused else "running", inverse=edits.Pause(before))
            case edits.SetMethod():
                return self._set_method(edit)
            case edits.Reset():
                return self._reset()
            case edits.SetParameter():
                try:
                    return self._write(edit)
                except NoSlot as error:
                    return self._add_feature(edit, error)
            case edits.ChangeJoint() | edits.Add() | edits.Remove() | edits.SetMotor() | edits.SetState():
                return self._rebuild(plan_of(edit, runner.bench, self.model))
        return self._write(edit)

    def _add_feature(self, edit: edits.SetParameter, refusal: NoSlot) -> edits.Answer:
        """Set a parameter that no array holds yet; of one value per world, first the largest for all."""
        runner, values = self._runner, edit.value
        if not (isinstance(values, np.ndarray) and values.shape == (runner.worlds,) and runner.worlds > 1):
            return self._rebuild(plan_of(edit, runner.bench, self.model, refusal))
        before = snapshot.take(runner)
        largest = replace(edit, value=float(values[np.argmax(np.abs(values))]))
        answer = self._rebuild(plan_of(largest, runner.bench, self.model, refusal))
        try:
            written = self._write(edit)
        except edits.EditError:
            snapshot.put_back(runner, before)
            raise
        return replace(answer, text=written.text, energy=answer.energy + written.energy)

    def _write(self, edit: edits.Edit) -> edits.Answer:
        """An edit of arrays. What energy it puts in is booked to edits, but for a hand's own when it lets go."""
        runner = self._runner
        before = runner.work.energy.numpy().sum(axis=0)
        weighs = isinstance(edit, edits.DragTo) or (isinstance(edit, edits.SetParameter) and _weighs(edit.path))
        momentum_before = momentum(runner.bench) if weighs else None
        booked = runner.state.read("edits").copy()
        while True:
            try:
                answer = edits.apply(edit, runner.bench)
                break
            except HandsFull:
                self._grow(2 * runner.system.counts.hands, runner.system.counts.loads)
            except LoadsFull:
                self._grow(runner.system.counts.hands, max(4, 2 * runner.system.counts.loads))
        if answer.arrays_replaced:
            runner.record_later()
        runner.refresh()
        if isinstance(edit, edits.Release):
            return answer
        if momentum_before is not None:
            gained = momentum(runner.bench) - momentum_before
            answer = replace(answer, momentum=self._out(gained[:, 3:]), angular_momentum=self._out(gained[:, :3]))
        added = runner.work.energy.numpy().sum(axis=0) - before
        if added.any():
            runner.state.write("edits", booked + added)
            return replace(answer, energy=self._out(added))
        return answer

    def _build(self, plan: Plan, coordinates: str | None = None, **options: Any) -> Rebuilt:
        """Build a changed system on the side, with the state carried over."""
        runner = self._runner
        return rebuild(runner.bench, plan, self.model, coordinates or runner.coordinates, **options)

    def _grow(self, hands: int, loads: int) -> None:
        """Double the room for hands or loads and carry the state over."""
        self._swap(self._build(Plan(self.model, ""), hands=hands, loads=loads))

    def _rebuild(self, plan: Plan) -> edits.Answer:
        """Build a changed system on the side, carry the state over, and swap."""
        new = self._build(plan)
        self._swap(new)
        return new.answer(self._out)

    def _swap(self, new: Rebuilt) -> None:
        self._runner.take(new.bench)
        self._runner.write_options(self._runner.work_limit)
        self._runner.set_dt(self._runner.dt)

    def _set_method(self, edit: edits.SetMethod) -> edits.Answer:
        runner = self._runner
        options = {field.name: getattr(runner.method, field.name) for field in fields(runner.method)}
        inverse = edits.SetMethod(runner.method.name, options)
        edits.known("method", "method", edit.method, METHODS)
        method = method_of(edit.method, **edits.method_options(edit, METHODS))
        parts_of_step(runner.dt, method)  # refused while nothing is changed
        coordinates = runner.coordinates if runner.coordinates in method.coordinates else method.coordinates[0]
        text = f"method is {method.name}, in {coordinates} coordinates"
        answer = edits.Answer(text, inverse=inverse)
        new = None
        redundancy = getattr(method, "redundancy", runner.redundancy)
        if coordinates != runner.coordinates or redundancy != runner.redundancy:
            before, runner.system.redundancy = runner.system.redundancy, redundancy
            try:
                new = self._build(Plan(self.model, text, inverse), coordinates)
            finally:
                runner.system.redundancy = before
        runner.method, runner.work_limit = method, method.iterations
        if new is not None:
            self._swap(new)
            answer = new.answer(self._out)
        else:
            runner.equip()
            runner.write_options(runner.work_limit)
            runner.set_dt(runner.dt)
        runner.state.write("last_h", np.zeros((1, runner.worlds)))  # its impulses are another method's
        return answer

    def _reset(self) -> edits.Answer:
        """Start again. A model whose joints do not meet at the authored pose any more is assembled."""
        runner, model, before = self._runner, self.model, self._runner.bench
        energy_before, momentum_before = before.work.energy.numpy().sum(axis=0), momentum(before)
        try:
            model.check()
        except ModelError:
            places = Places(runner.worlds)
            for body in model.bodies.values():
                twist = np.concatenate([body.angular_velocity, body.velocity])
                places.put(body.name, body.position, body.orientation, twist)
            new = self._build(Plan(model, "", places=places), fresh=True)
            self._swap(new)
            runner.go_to_start()
            moved = new.moved
        else:
            old, moved = runner.system, 0.0
            system = System(model, runner.worlds, runner.device, runner.coordinates, checked=True)
            carry_parameters(old, system, slot_map(old, system), model)
            runner.start(system)
        gained = momentum(runner.bench) - momentum_before
        return edits.Answer(
            "back at the start",
            energy=self._out(runner.work.energy.numpy().sum(axis=0) - energy_before),
            momentum=self._out(gained[:, 3:]),
            angular_momentum=self._out(gained[:, :3]),
            moved=moved,
        )


def _weighs(path: object) -> bool:
    """Whether a parameter decides how much momentum a body has at its velocity."""
    return str(path).rpartition(".")[2] in ("mass", "inertia")
