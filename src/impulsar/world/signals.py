"""Signals: any quantity of a world by name, as a number per frame. How names are made is in `observe.quantities`."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..author.errors import ModelError
from ..edits import known
from ..observe.bench import Bench
from ..observe.moment import Moment
from ..observe.quantities import KINDS, QUANTITIES, Quantity
from ..observe.running import Running


@dataclass(frozen=True)
class Signal:
    """A name, its unit and how to read it: value in the first world, and whether it is determinate."""

    name: str
    unit: str
    read: Callable[[Moment], tuple[float, bool]]


@dataclass(frozen=True)
class Place:
    """What a name leads to: a quantity, a part that has it, and a component; None: its norm, or the number."""

    quantity: Quantity
    part: str
    component: int | None


def signal(world: Running, name: str) -> Signal:
    """The signal of a name, or an EditError that says what there is."""
    bench = world.runner.bench
    place = find(bench, name)
    return _signal(bench, name, place.quantity, place.part, place.component)


def find(bench: Bench, name: str) -> Place:
    """What the name of a signal leads to, or an EditError that says what there is."""
    whole = {ending: q for q in QUANTITIES.values() if not q.kind for ending in q.endings}
    if name in whole:
        return Place(whole[name], "", whole[name].endings[name])
    kind, _, rest = name.partition(".")
    if not rest or kind not in KINDS:
        is_whole = any(ending.startswith(f"{kind}.") for ending in whole)
        known(f"signal '{name}'", "kind", name if is_whole else kind, dict.fromkeys([*filter(None, KINDS), *whole]))
        raise ModelError(f"signal '{name}': is not complete; such as body.arm.velocity.x or joint.hinge.position")
    for quantity in (q for q in QUANTITIES.values() if q.kind == kind):
        rows = KINDS[kind].rows(bench)
        for ending, component in quantity.endings.items():
            part = rest.removesuffix(f".{ending}")
            if part != rest and (part in rows or kind == "hand"):  # a hand may be asked for before it takes hold
                return Place(quantity, part, component)
    if kind == "joint":
        found = _of_its_coordinate(bench, name, rest)
        if found is not None:
            return found
    raise _refusal(bench, name, kind, rest)


def signal_or_nothing(world: Running, name: str) -> Signal:
    """The signal of a name; NaN where its part has gone."""
    try:
        return signal(world, name)
    except ModelError:
        return Signal(name, "", lambda now: (float("nan"), True))


def _signal(bench: Bench, name: str, quantity: Quantity, part: str, component: int | None) -> Signal:
    kind = KINDS[quantity.kind]
    place = None if kind.comes_and_goes else kind.rows(bench)[part]
    is_norm = component is None and bool(quantity.components)

    def read(now: Moment) -> tuple[float, bool]:
        row = kind.rows(now.bench).get(part) if place is None else place
        if row is None:  # nothing acts
            return 0.0, True
        found = quantity.read(now)[row, 0]
        value = np.sqrt(found @ found) if is_norm else found if component is None else found[component]
        if quantity.sure is None:
            return float(value), True
        sure = quantity.sure(now)[row, 0]
        return float(value), bool(sure.all() if component is None else sure[component])

    return Signal(name, quantity.unit_of(bench, place or 0), read)


def _of_its_coordinate(bench: Bench, name: str, rest: str) -> Place | None:
    """Of a joint with one freedom the quantities of its coordinate."""
    for quantity in (q for q in QUANTITIES.values() if q.kind == "coordinate"):
        part = rest.removesuffix(f".{quantity.tail}")
        if part != rest and part in bench.readout.rows:
            rows = bench.readout.rows[part]
            if len(rows) != 1:
                names = ", ".join(bench.readout.coordinates[row] for row in rows) or "none"
                raise ModelError(f"signal '{name}': joint '{part}' has {len(rows)} coordinates; name one of: {names}")
            return Place(quantity, bench.readout.coordinates[rows[0]], None)
    return None


def _refusal(bench: Bench, name: str, kind: str, rest: str) -> ModelError:
    """What is wrong with the name of a signal of a part."""
    rows, endings = (
        KINDS[kind].rows(bench),
        [ending for q in QUANTITIES.values() if q.kind == kind for ending in q.endings],
    )
    if kind == "joint":
        endings += [q.tail for q in QUANTITIES.values() if q.kind == "coordinate"]
    part = max((part for part in rows if rest.startswith(f"{part}.")), key=len, default=None)
    try:
        if part is None:
            ending = next((ending for ending in endings if rest.endswith(f".{ending}")), None)
            known(f"signal '{name}'", kind, rest.removesuffix(f".{ending}") if ending else rest, rows)
        else:
            known(f"signal '{name}'", "quantity", rest[len(part) + 1 :], dict.fromkeys(endings))
    except ModelError as error:
        return error
    return ModelError(f"signal '{name}': is not complete; such as body.arm.velocity.x or joint.hinge.position")
