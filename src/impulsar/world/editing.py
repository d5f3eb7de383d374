"""Edits of a running world: arrays written, systems built anew and swapped, energy and momentum booked."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from .. import edits
from ..author.checks import show, whole
from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import PARTS
from ..author.renaming import names_in, renamed
from ..edits.carry import Places, carry_parameters, slot_map
from ..edits.drawing import parts_of_drawing, parts_of_plate
from ..edits.expressions import released
from ..edits.inputs import claim
from ..edits.rebuild import Rebuilt, momentum, rebuild, refuse_stacked
from ..engine.methods import METHODS, Method
from ..engine.methods.base import refuse_compiling
from ..engine.system import System
from ..observe.bench import Bench
from ..observe.reading import out
from . import snapshot
from .options import method_of, parts_of_step
from .runner import Runner

ALONE = (
    edits.Several,
    edits.Pause,
    edits.Compile,
    edits.Grab,
    edits.Push,
    edits.Grip,
    edits.Move,
    edits.Release,
)  # hands belong to who holds them, compiled steps to the mechanism as it is


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

    def apply(self, edit: Any, weighs: bool = True) -> edits.Answer:
        """Carry out an edit; raises EditError and changes nothing if it cannot be.

        weighs: what it does to energy and momentum is told and booked. That brings all worlds to the host; who puts
        them elsewhere next does without.
        """
        entry = edits.REGISTRY.get(type(edit))
        if entry is None:
            raise edits.EditError(f"{type(edit).__name__}: not an edit; see impulsar.edits")
        edits.check_values(edit)
        before = self.model
        try:
            answer = self._carry_out(edit, entry, weighs)
        except edits.EditError:
            raise
        except ModelError as error:
            raise edits.EditError(str(error)) from error
        if self.model is not before and self.model.expressions:
            self.runner.system.model, answer = released(self.model, answer)
        self.runner.forget()
        return answer

    def _carry_out(self, edit: edits.Edit, entry: edits.Entry, weighs: bool) -> edits.Answer:
        runner = self.runner
        if weighs:
            energy, booked = runner.bench.read("energy").sum(axis=0), runner.state.read("edits").copy()
        before = momentum(runner.bench) if weighs and entry.moves(edit) else None
        good = snapshot.take(runner) if "parts" in entry.tells and self._may_refuse() else None
        result = entry.handler(edit, self)
        while isinstance(result, edits.More):
            self._make_room(result)
            result = entry.handler(edit, self)
        if isinstance(result, edits.Plan):
            return self._rebuild(result)
        if good is not None:
            self._check_written(good)
        if result.arrays_replaced:
            runner.record_later()
        if isinstance(edit, edits.SetParameter) and _is_of_tyres(edit.path, self.model):
            runner.set_dt(runner.dt)  # they may be stiffer now
        if not (entry.writes and weighs):
            return result
        runner.refresh()
        if not entry.books:
            return result
        if before is not None:
            gained = momentum(runner.bench) - before
            result = replace(result, momentum=self._out(gained[:, 3:]), angular_momentum=self._out(gained[:, :3]))
        added = runner.bench.read("energy").sum(axis=0) - energy
        if added.any():
            runner.state.write("edits", booked + added)
            return replace(result, energy=self._out(added))
        return result

    def _may_refuse(self) -> bool:
        """Whether the method has something that it cannot do."""
        return type(self.runner.method).refuse is not Method.refuse

    def _check_written(self, good: snapshot.Snapshot) -> None:
        """Go back where the method cannot do what an edit has written."""
        try:
            self.runner.method.refuse(self.runner.system)
        except ModelError:
            snapshot.put_back(self.runner, good)
            raise

    def _out(self, values: np.ndarray) -> Any:
        return out(values, self.runner.worlds)

    def build(self, plan: edits.Plan, coordinates: str | None = None, **options: Any) -> Rebuilt:
        """Build a changed system on the side, with the state carried over."""
        return rebuild(self.runner.bench, plan, coordinates or self.runner.coordinates, **options)

    def swap(self, new: Rebuilt) -> edits.Answer:
        """Go on with a system that was built on the side."""
        self.runner.method.refuse(new.bench.system)
        self.runner.take(new.bench)
        self.runner.write_options(self.runner.work_limit)
        self.runner.set_dt(self.runner.dt)
        return new.answer(self._out)

    def recoordinate(self, coordinates: str) -> edits.Answer:
        """Go on in other coordinates."""
        answer = self.swap(self.build(edits.Plan(self.model, f"in {coordinates} coordinates"), coordinates))
        self.runner.forget()
        return answer

    def _make_room(self, more: edits.More) -> None:
        """Double the room for hands or loads, or make some for hands that turn, and carry the state over."""
        n = self.runner.system.counts
        hands = 2 * n.hands if more.hands else n.hands
        loads = max(4, 2 * n.loads) if more.loads else n.loads
        self.swap(self.build(edits.Plan(self.model, ""), hands=hands, loads=loads, turning=more.turning))

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
        return self.runner.bench.read("energy").sum(axis=0), momentum(self.runner.bench)


def _is_of_tyres(path: str, model: Model) -> bool:
    """Whether a parameter is one of a tyre or of its wheel."""
    name = path.rpartition(".")[0]
    return any(name in (tyre.name, tyre.wheel) for tyre in model.tyres.values())


# edits of the run itself --------------------------------------------------------------------------


@edits.carries_out(edits.SetStep, tells="parts", writes=False)
def set_step(edit: edits.SetStep, desk: Editor) -> edits.Answer:
    """Change the nominal step."""
    before = desk.runner.dt
    desk.runner.set_dt(edit.dt)
    return edits.Answer(f"step is {desk.runner.dt:g} s", inverse=edits.SetStep(before))


def _numbers(given: object) -> np.ndarray | None:
    """An array of float64, if that is what was given."""
    try:
        return np.array(given, float)
    except (TypeError, ValueError):
        return None


@edits.carries_out(edits.Compile, tells="", writes=False)
def compile_steps(edit: edits.Compile, desk: Editor) -> edits.Answer:
    """Trace the ways of the states, compile them, and take steps by them."""
    from ..engine.compile.recipe import MOST_VARIANTS, Recipe, Sample

    runner, before = desk.runner, desk.runner.recipe
    for what in ("states", "worlds"):
        if not isinstance(getattr(edit, what), tuple | list):
            raise edits.EditError(f"compile: {what} are {show(getattr(edit, what))}, expected a tuple")
    if not edit.states:
        runner.compile_by(None)
        return edits.Answer("steps are the kernel's")
    refuse_compiling(runner.method, runner.system)
    rows, most = runner.state.numpy().shape[0], runner.worlds - 1
    if len(edit.states) > MOST_VARIANTS or len(edit.worlds) != len(edit.states):
        told = f"expected at most {MOST_VARIANTS}, each with its world"
        raise edits.EditError(f"compile: {len(edit.states)} states and {len(edit.worlds)} worlds, {told}")
    samples = []
    for state, world in zip(edit.states, edit.worlds, strict=True):
        numbers = _numbers(state)
        if numbers is None or numbers.shape != (rows,) or not np.isfinite(numbers).all():
            raise edits.EditError(f"compile: a state is {show(state)[:80]}, expected {rows} finite numbers")
        samples.append(Sample(whole("compile", "world", world, 0, most), numbers.tobytes()))
    runner.compile_by(Recipe(False, samples))
    refused = getattr(runner.launch, "refused", "")
    if refused:
        runner.compile_by(before)
        raise edits.EditError(f"compile: {refused}")
    return edits.Answer(f"steps are compiled, {len(samples)} ways through them")


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
    parts_of_step(runner.dt, method, runner.system)  # refused while nothing is changed
    method.refuse(runner.system)
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
        runner.settle()
        if runner.recipe is not None:
            runner.recipe.clear()  # its ways are another method's
        runner.equip()
        runner.write_options(runner.work_limit)
        runner.set_dt(runner.dt)
    runner.state.write("last_h", np.zeros((1, runner.worlds)))  # its impulses are another method's
    return answer


@edits.carries_out(edits.Reset, writes=False)
def reset(edit: edits.Reset, desk: Editor) -> edits.Answer:
    """Start again. A model whose joints do not meet at the authored pose any more is assembled."""
    runner, model, before = desk.runner, desk.model, desk.weigh()
    refuse_stacked(runner.system)
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


@edits.carries_out(edits.Several, writes=False)
def several(edit: edits.Several, desk: Editor) -> edits.Answer:
    """Carry out edits one after the other; where one is refused, go back to before the first."""
    if not isinstance(edit.edits, tuple | list) or not edit.edits:
        raise edits.EditError(f"several: edits are {show(edit.edits)}, expected a list of edits")
    for one in edit.edits:
        if not isinstance(one, edits.Edit) or isinstance(one, ALONE):
            raise edits.EditError(f"several: {type(one).__name__} cannot be one of them; give it by itself")
    before, start = snapshot.take(desk.runner), desk.weigh()
    answers: list[edits.Answer] = []
    try:
        answers += [desk.apply(one) for one in edit.edits]
    except edits.EditError:
        snapshot.put_back(desk.runner, before)
        raise
    inverses = [answer.inverse for answer in reversed(answers)]
    found = [one for inverse in inverses for one in (inverse.edits if type(inverse) is edits.Several else (inverse,))]
    return replace(
        desk.weighed("; ".join(answer.text for answer in answers), start, max(answer.moved for answer in answers)),
        arrays_replaced=any(answer.arrays_replaced for answer in answers),
        inverse=edits.Several(tuple(found)) if None not in found else None,  # type: ignore[arg-type]
        overlaps=tuple(overlap for answer in answers for overlap in answer.overlaps),
        pushed=sum(answer.pushed for answer in answers),
    )


@edits.carries_out(edits.Draw, writes=False)
def draw(edit: edits.Draw, desk: Editor) -> edits.Answer:
    """Add the links and pins that a drawing comes to."""
    answer = several(parts_of_drawing(edit, desk), desk)
    return replace(answer, text=f"{', '.join(map(repr, edit.links))} drawn")


@edits.carries_out(edits.Plate, writes=False)
def plate(edit: edits.Plate, desk: Editor) -> edits.Answer:
    """Add a plate with its pins."""
    return replace(several(parts_of_plate(edit, desk), desk), text=f"plate '{edit.name}' drawn")


@edits.carries_out(edits.Rename, writes=False)
def rename(edit: edits.Rename, desk: Editor) -> edits.Answer:
    """Build the system under the new name, and go on from the same arrays."""
    runner, model = desk.runner, desk.model
    kind = model.kind_of(edit.name)
    if kind is None or kind in ("material", "material_pair"):
        known = [
            part for name in PARTS if not name.startswith("material") for part in getattr(model, PARTS[name].plural)
        ]
        edits.known("rename", "part", edit.name, dict.fromkeys(known))
    claim(runner.system, str(kind), edit.to)
    if any(edit.name in names_in(other) for _, other in model.script):
        raise edits.EditError(f"{kind} '{edit.name}': the model's script names it; it cannot be renamed")
    now = snapshot.take(runner)
    loads = [edit.to if name == edit.name else name for name in now.loads]
    built, present = (renamed(own, edit.name, edit.to) for own in (now.model, model))
    snapshot.put_back(runner, replace(now, model=built, present=present, loads=loads))
    return edits.Answer(f"{kind} '{edit.name}' is called '{edit.to}'", True, inverse=edits.Rename(edit.to, edit.name))
