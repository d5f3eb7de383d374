"""Cases: what a worker does. A batch of cases is one World of as many worlds, stepped in one launch.

Cases whose models differ in numbers that arrays keep by world (world/stack.py) run side by side; a case that does not
fit into the batch, or a run that looks for events, has a World of its own. A case is the same to the bit whichever are
beside it. What goes wrong is a row with its error: a batch that breaks is halved until the case is alone.
"""

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ..analysis.assembly import assemble
from ..author.errors import ModelError
from ..author.model import Model
from ..author.variables import find_field, stale_paths, write_field
from ..world.options import method_of
from ..world.runner import play_of
from ..world.stack import Stack, check_open
from ..world.world import DEFAULT_METHOD, World
from .measures import CASE_BREAKS, Measures

SAMPLES = 500  # of a run, about, unless `every` says otherwise
LONGEST_ERROR = 500  # characters
GENERIC = {"compile": "off"}  # so that a case has the same bits in a batch of any size
OF_METHOD = ("rtol", "atol", "substeps", "redundancy")


@dataclass(frozen=True)
class Row:
    """What came of a case."""

    numbers: dict[str, float]
    error: str = ""


@dataclass(frozen=True)
class Plan:
    """All that a worker has to know, beside the values of its cases."""

    model: Model | Callable[..., Model]
    nominal: Model | None  # what batches are built like; None: every case has a World of its own
    names: tuple[str, ...]
    measures: Measures
    duration: float
    every: float | None
    options: dict[str, Any] = field(default_factory=dict)  # of World

    def case(self, values: Sequence[float]) -> Model:
        """The model of a case; its joints may be open."""
        return vary(self.model, dict(zip(self.names, map(float, values), strict=True)))

    @property
    def batches(self) -> bool:
        """Whether cases may run side by side."""
        return self.nominal is not None and not self.measures.events and "worlds" not in self.options


def vary(model: Model | Callable[..., Model], values: Mapping[str, float]) -> Model:
    """A model with other values of its parameters, and of what paths such as "crank.length" lead to."""
    if not isinstance(model, Model):
        new = model(**values)
        if not isinstance(new, Model):
            raise ModelError(f"sweep: the builder returned a {type(new).__name__}, expected a Model")
        return new
    own = {name: value for name, value in values.items() if name in model.parameters}
    new = model.with_parameters(**own) if own else model
    paths = [(find_field(new, path), value) for path, value in values.items() if path not in own]
    for target, value in sorted(paths, key=lambda item: item[0].rank):
        new = write_field(new, target, value)
    stale = stale_paths(new) if paths and new.expressions else []
    return new.without_expressions(stale) if stale else new


def closed(model: Model) -> Model:
    """A model whose joints meet, closed by `assemble` if they do not."""
    if not check_open(model):
        return model
    new = assemble(model).model
    return new.without_expressions(stale_paths(new))


def packed(plan: Plan) -> bytes:
    """A plan as bytes that workers can read, functions of scripts and notebooks among it where cloudpickle is there."""
    try:
        data = pickle.dumps(plan)
        if b"__main__" not in data:
            return data
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        refusal: Exception | None = error
    else:
        refusal = None
    try:
        import cloudpickle
    except ImportError:
        if refusal is None:
            return data
        told = "define measures and builders in a module, or install impulsar[dask], which can send any function"
        raise ModelError(f"sweep: cannot be sent to workers ({refusal}); {told}") from refusal
    return cloudpickle.dumps(plan)


@lru_cache(maxsize=2)
def _unpacked(data: bytes) -> Plan:
    return pickle.loads(data)


@lru_cache(maxsize=1)
def _one_thread() -> None:
    from ..engine.blas import take_one_thread
    from ..engine.threads import take_one

    take_one_thread()
    take_one()


def run_batch(data: bytes, values: np.ndarray) -> list[Row]:
    """What a worker is asked to do: rows of cases, given by their values [case, parameter]."""
    _one_thread()
    return run_cases(_unpacked(data), values)


def run_cases(plan: Plan, values: np.ndarray) -> list[Row]:
    """Rows of cases, by their values [case, parameter]."""
    rows: list[Row | None] = [None] * len(values)
    models: dict[int, Model] = {}
    for k, own in enumerate(values):
        try:
            models[k] = plan.case(own)
        except CASE_BREAKS as error:  # of a user's builder, whatever it is
            rows[k] = _failed(error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of starts that had to be fitted, once for every case
        if plan.batches and models:
            stack = _stack(plan, list(models.values()))
            numbers = list(models)
            together = [numbers[i] for i in stack.index]
            for k, row in zip(together, _side_by_side(plan, [models[k] for k in together], stack), strict=True):
                rows[k] = row
        for k, model in models.items():
            if rows[k] is None:
                rows[k] = _alone(plan, model)
    return [row for row in rows if row is not None]


def _stack(plan: Plan, models: list[Model]) -> Stack:
    assert plan.nominal is not None
    options = plan.options
    method = method_of(options.get("method", DEFAULT_METHOD), **{name: options.get(name) for name in OF_METHOD})
    coordinates = options.get("coordinates") or method.coordinates[0]
    return Stack(plan.nominal, models, coordinates, play_of(method), options.get("contacts"))


def _side_by_side(plan: Plan, models: list[Model], stack: Stack | None = None) -> list[Row]:
    """Rows of models that fit into one batch."""
    if not models:
        return []
    try:
        stack = _stack(plan, models) if stack is None else stack
        assert plan.nominal is not None
        return _measured(plan, World(plan.nominal, worlds=stack, **GENERIC | plan.options))
    except CASE_BREAKS as error:
        if len(models) == 1:
            return [_failed(error)]
        half = len(models) // 2
        return _side_by_side(plan, models[:half]) + _side_by_side(plan, models[half:])


def _alone(plan: Plan, model: Model) -> Row:
    """The row of a case in a World of its own; like the nominal model, if it may be, so that its bits are the same."""
    try:
        if plan.nominal is not None:
            stack = _stack(plan, [model])
            if len(stack):
                return _measured(plan, World(plan.nominal, worlds=stack, **GENERIC | plan.options))[0]
        return _measured(plan, World(closed(model), **plan.options))[0]
    except CASE_BREAKS as error:
        return _failed(error)


def _measured(plan: Plan, world: World) -> list[Row]:
    """Run a world and measure each of its worlds; raises what breaks it."""
    bench, measures = world.runner.bench, plan.measures
    every = plan.every or world.dt * max(1, round(plan.duration / world.dt) // SAMPLES)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = world.run(
            plan.duration,
            every,
            progress=False,
            variables=measures.variables(bench),
            events=list(measures.events) or None,
        )
    if "broken_at" in result.attrs:
        raise ModelError(str(told[-1].message).removesuffix("; kept what was computed before"))
    if "interrupted" in result.attrs:
        raise KeyboardInterrupt
    return [_row(plan, found) for found in measures.read(bench, result, world.worlds)]


def _row(plan: Plan, found: dict[str, float] | BaseException) -> Row:
    if isinstance(found, BaseException):
        return _failed(found)
    if taken := [name for name in found if name in plan.names]:
        return _failed(ModelError(f"measure gave '{taken[0]}', which is a parameter; name it otherwise"))
    return Row(found)


def _failed(error: BaseException) -> Row:
    """The row of a case that broke."""
    text = " ".join(str(error).split())
    told = text if isinstance(error, ModelError) and text else f"{type(error).__name__}: {text}"
    return Row({}, told[:LONGEST_ERROR])


__all__ = ["Plan", "Row", "closed", "packed", "run_batch", "run_cases", "vary"]
