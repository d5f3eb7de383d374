"""What a bulk's joints have beside locks, as arrays of the host: freedoms that something acts in, springs, loads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...author.checks import show, whole
from ...author.errors import ModelError
from ...author.joints import CATALOGUE
from ...author.parts import Features
from ...author.profiles import Component, Formula
from ..system.slots import SPRING, Slot, SlotBuilder

if TYPE_CHECKING:
    from .bulk import Bulk

UNIT = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Line:
    """A spring between points of two bodies (-1: ground), in their frames [m]."""

    first: int
    second: int
    p_first: Sequence[float] | np.ndarray
    p_second: Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Push:
    """A load on a body: its point in the body [m], whether it turns with it, and its first of six channels."""

    body: int
    point: Sequence[float] | np.ndarray
    in_body: bool
    channel: int


def feature_slots(joint: Any, number: int, first_channel: int) -> tuple[list[Slot], list]:
    """Slots of the features of one joint (name, type, features by group), and what their channels follow."""
    builder = SlotBuilder({joint.name: number}, {}, {})
    builder.add_features(joint)
    for slot in builder.slots:
        if slot.channel >= 0:
            slot.channel += first_channel
    for group, features in joint.features.items():
        _check(joint.name, group, features, CATALOGUE[joint.type].group(group).is_ball)
    return builder.slots, builder.channels


def _check(name: object, group: str, features: Features, is_ball: bool) -> None:
    """Raise at what large worlds have not."""
    who = f"joint '{name}': {group}"
    if features.armature:
        raise ModelError(f"{who} has armature, which large worlds have not; remove it, or take im.World")
    if is_ball and features.friction:
        raise ModelError(f"{who} is a ball with friction, which large worlds have not; remove it, or take im.World")
    bounded = features.motor is not None and np.isfinite(features.motor.max_torque)
    if is_ball and bounded:
        raise ModelError(f"{who} is a ball whose motor has a max_torque, which large worlds have not; take im.World")


def check_channels(name: str, channels: Sequence) -> None:
    """Raise at inputs that only the host can follow."""
    if any(isinstance(item, Component | Formula) for item in channels):
        raise ModelError(
            f"{name}: an input is a callable; large worlds follow numbers, Ramp, Smooth, Harmonic and Table"
        )


def give(bulk: "Bulk", joints: Sequence[int] | np.ndarray, features: Features, group: str | None = None) -> None:
    """Features in the freedoms of joints of a bulk; group: of which, by name, where the type has several."""
    if not isinstance(features, Features):
        raise ModelError(f"{bulk.name}: give: {show(features)}, expected Features(...)")
    slots, channels = list(bulk.slots), list(bulk.channels)
    taken = {(slot.part, slot.code) for slot in slots if slot.kind != SPRING}
    for j in np.atleast_1d(np.asarray(joints)):
        j = whole(f"{bulk.name}: give", "a joint", j, 0, bulk.joints - 1)
        kind = CATALOGUE[bulk.types[bulk.joint_kind[j]]]
        names = [one.name for one in kind.groups]
        if not names:
            raise ModelError(f"{bulk.name}: give: joint {j} is {kind.name} and has no freedom in which something acts")
        if (group or names[0]) not in names:
            raise ModelError(
                f"{bulk.name}: give: a {kind.name} joint has no group {group!r}; it has: {', '.join(names)}"
            )
        own = group or names[0]
        features.check(f"joint {j} of {bulk.name}", kind.group(own))
        joint = SimpleNamespace(name=j, type=kind.name, features={own: features})
        new, more = feature_slots(joint, j, len(channels))
        if any((slot.part, slot.code) in taken for slot in new):
            raise ModelError(f"{bulk.name}: give: joint {j} has features of {own} already; give them at once")
        taken |= {(slot.part, slot.code) for slot in new}
        slots += new
        channels += more
    bulk.slots, bulk.channels = slots, channels


def with_springs(bulk: "Bulk") -> "Bulk":
    """Springs as joints without locks, behind the others: their rows are eliminated with those."""
    if not bulk.springs:
        return bulk
    n = len(bulk.springs)
    types = bulk.types if "free" in bulk.types else (*bulk.types, "free")

    def more(name: str, values: Any) -> np.ndarray:
        own = getattr(bulk, name)
        return np.concatenate([own, np.asarray(values, float).reshape(n, *own.shape[1:]).astype(own.dtype)])

    return replace(
        bulk,
        types=types,
        joint_kind=more("joint_kind", [types.index("free")] * n),
        first=more("first", [one.first for one in bulk.springs]),
        second=more("second", [one.second for one in bulk.springs]),
        p_PF=more("p_PF", [one.p_first for one in bulk.springs]),
        q_PF=more("q_PF", [UNIT] * n),
        p_CM=more("p_CM", [one.p_second for one in bulk.springs]),
        q_CM=more("q_CM", [UNIT] * n),
        length=more("length", [0.0] * n),
    )


def with_room(bulk: "Bulk") -> np.ndarray:
    """Lock codes [joint kind, row], -1: none, with rows for the freedoms in which something acts."""
    locks = bulk.locks()
    joints = bulk.joints - len(bulk.springs)
    acting = {(joints + slot.part, 0) if slot.kind == SPRING else (slot.part, slot.code) for slot in bulk.slots}
    freedoms = np.bincount([j for j, _ in acting], minlength=max(bulk.joints, 1))
    used = (locks >= 0).sum(1)
    need = int((used[bulk.joint_kind] + freedoms[: bulk.joints]).max(initial=1))
    return np.pad(locks, ((0, 0), (0, max(0, need - locks.shape[1]))), constant_values=-1)[:, : max(need, 1)]


def acting_in(whole: "Bulk", joints: np.ndarray, springs: Sequence[int], local: np.ndarray) -> dict[str, list]:
    """Slots, springs and loads of a part of a world that has these joints and springs, by their numbers, and of whose
    bodies `local` has the places, -1 for those of others."""
    place = {int(j): k for k, j in enumerate(joints)}
    spring_place = {int(k): at for at, k in enumerate(springs)}
    lines = [whole.springs[k] for k in springs]
    return {
        "slots": [
            replace(slot, part=places[slot.part])
            for slot in whole.slots
            if slot.part in (places := spring_place if slot.kind == SPRING else place)
        ],
        "springs": [replace(one, first=int(local[one.first]), second=int(local[one.second])) for one in lines],
        "loads": [replace(one, body=int(local[one.body])) for one in whole.loads if local[one.body] >= 0],
    }


def at_bodies(bulk: "Bulk") -> tuple[np.ndarray, np.ndarray]:
    """Joints at each body in order: where each body's begin, and the joints, ~joint where the body is its first."""
    joints = np.arange(bulk.joints)
    body = np.concatenate([bulk.first, bulk.second])
    code = np.concatenate([~joints, joints])
    kept = body >= 0
    body, code = body[kept], code[kept]
    order = np.lexsort((np.where(code < 0, ~code, code), body))
    return np.searchsorted(body[order], np.arange(bulk.bodies + 1)), code[order]
