"""Motors in joints: driven, attached, replaced and taken out while the mechanism runs."""

from typing import Any

import numpy as np

from ..author.checks import show
from ..author.parts import Joint, changed
from ..engine.start.locked import refuse_if_locked
from ..engine.system.slots import MOTORS
from .data import Drive, SetMotor
from .inputs import joined, profiles_of
from .refusal import EditError, known
from .registry import Answer, Desk, Plan, carries_out


@carries_out(Drive, subject=lambda edit: (edit.joint, edit.group))
def drive(edit: Drive, desk: Desk) -> Answer:
    """Give a motor a new value."""
    system = desk.bench.system
    joint = known("drive", "joint", edit.joint, system.model.joints)
    owner = f"joint '{joint.name}'"
    group = joint.kind.group(motor_group(owner, joint, edit.group))
    rows = [r for r in system.slots_of.get(joint.name, []) if system.slots[r].kind in MOTORS]
    rows = [r for r in rows if system.slots[r].code in group.freedoms]
    if not rows:
        raise EditError(f"{owner} {group.name}: has no motor to drive; attach one by SetMotor")
    worlds = system.counts.worlds
    items: list[Any]
    if isinstance(edit.value, np.ndarray) and edit.value.shape == (worlds,) and len(rows) == 1 and worlds > 1:
        if not np.isfinite(edit.value).all():
            raise EditError(f"{owner}: value is {show(edit.value)}, expected finite numbers")
        items = [edit.value.astype(float)]
    else:
        items = profiles_of(owner, "value", edit.value, len(rows))
    for r, item in zip(rows, items, strict=True) if system.locked_motors else ():
        refuse_if_locked(system, desk.bench.state, r, item, EditError)
    channels = [system.slots[r].channel for r in rows]
    before = [system.channels.items[c] for c in channels]
    value = before[0] if len(rows) == 1 else tuple(before)
    replaced = system.channels.put(system.arrays, channels, items)
    system.model = system.model.having("joint", changed(joint, "drive", joined(items), (group.name,)))
    return Answer(f"{owner} is driven", replaced, inverse=Drive(edit.joint, value, edit.group))


@carries_out(SetMotor)
def set_motor(edit: SetMotor, desk: Desk) -> Plan:
    """Attach, replace or detach a motor."""
    old = known("edit of a joint", "joint", edit.joint, desk.model.joints)
    owner = f"joint '{old.name}'"
    group = motor_group(owner, old, edit.group)
    joint = changed(old, "motor", edit.motor, (group,))
    joint.check()
    done = "lost its motor" if edit.motor is None else "has a motor"
    inverse = SetMotor(old.name, old.features[group].motor, edit.group)
    return Plan(desk.model.having("joint", joint), f"{owner} {done}", inverse)


def motor_group(owner: str, joint: Joint, group: object) -> str:
    """The group that a motor drives, the joint's only one by default."""
    names = [entry.name for entry in joint.kind.groups]
    if not names:
        raise EditError(f"{owner}: a {joint.type} joint has nothing to drive; give another joint")
    if group is None and len(names) == 1:
        return names[0]
    if not isinstance(group, str) or group not in names:
        raise EditError(f"{owner}: group is {show(group)}, expected one of: {', '.join(names)}")
    return group
