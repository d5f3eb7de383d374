"""A joint cut open and closed again.

A joint that is cut is a free one that closes no loop: it holds nothing, its coordinates are the gap between its two
sides, and `Joint.closed` keeps what it was. Frames F and M stay where they are on their bodies.
"""

import math
from dataclasses import replace

import numpy as np

from ..author.joints import CATALOGUE
from ..author.model import Model
from ..author.parts import Features, Joint
from ..author.placing import closed_joint, frame_gap
from ..observe.bench import Bench
from .carry import JointPlace, Places
from .data import Close, Cut
from .refusal import EditError, known
from .registry import Desk, Plan, carries_out
from .topology import drop_couplings, joint_features

ROUNDING = 1e-12  # of what a joint carries


@carries_out(Cut)
def cut_joint(edit: Cut, desk: Desk) -> Plan:
    """Open the mechanism at a joint; what the joint was is kept."""
    old = known("cut", "joint", edit.joint, desk.model.joints)
    owner = f"joint '{old.name}'"
    if old.closed is not None:
        raise EditError(f"{owner}: is cut already; close it first")
    if old.type == "free":
        raise EditError(f"{owner}: is free and holds nothing; there is nothing to cut")
    what = ("type", "loop", "pitch", "length")
    closed = {name: getattr(old, name) for name in what if getattr(old, name) is not None}
    plain = Joint(old.name, old.type, old.first, old.second, old.p_PF, old.q_PF, old.p_CM, old.q_CM)
    plain.features = {group.name: Features() for group in old.kind.groups}
    as_default = joint_features(plain)
    closed |= {name: value for name, value in joint_features(old).items() if value != as_default[name]}
    free = CATALOGUE["free"]
    features = {group.name: Features() for group in free.groups}
    joint = replace(old, type="free", loop=True, pitch=None, length=None, features=features, closed=closed)
    new, gone = _having(desk.model, joint)
    lost = f"; without coupling {', '.join(gone)}" if gone else ""
    text = f"{owner} is cut; {_carried(old, desk.bench)}{lost}"
    plan = Plan(new, text, None if gone else Close(old.name), joints={old.name: _as_they_are(joint, desk.bench)})
    plan.forgotten = {(old.name, code) for code in (*old.kind.freedoms, *free.freedoms)}
    return plan


@carries_out(Close)
def close_joint(edit: Close, desk: Desk) -> Plan:
    """Make a joint that was cut what it was; the bodies move to where it meets."""
    old = known("close", "joint", edit.joint, desk.model.joints)
    owner = f"joint '{old.name}'"
    if old.closed is None:
        raise EditError(f"{owner}: is not cut, so it cannot be closed")
    joint = closed_joint(old)
    far, turned = gap(joint, desk)
    new, gone = _having(desk.model, joint)
    text = f"{owner} is closed as {joint.type}; it was open by {far:.3g} m and {math.degrees(turned):.3g}°"
    plan = Plan(new, text, None if gone else Cut(old.name), joints={old.name: _as_they_are(joint, desk.bench)})
    plan.forgotten = {(old.name, code) for code in (*old.kind.freedoms, *joint.kind.freedoms)}
    return plan


def gap(joint: Joint, desk: Desk) -> tuple[float, float]:
    """How far a joint is open now along what it locks, in the first world [m, rad]."""
    places, bodies = Places.of(desk.bench), {"ground": desk.model.ground, **desk.model.bodies}
    P, C = (
        replace(bodies[name], position=places.p_WB[name][0], orientation=places.q_WB[name][0])
        for name in (joint.first, joint.second)
    )
    return frame_gap(joint, P, C)


def _having(model: Model, joint: Joint) -> tuple[Model, list[str]]:
    joint.check()
    new = model.having("joint", joint)
    return new, drop_couplings(new, joint)


def _as_they_are(joint: Joint, bench: Bench) -> JointPlace:
    """The frames that the joint has in every world."""
    j, n = bench.system.joint_index[joint.name], bench.system.counts.worlds
    frames = (bench.system.parameter(name)[j] for name in ("p_PF", "q_PF", "p_CM", "q_CM"))
    length = None if joint.length is None else np.full(n, joint.length)
    p_PF, q_PF, p_CM, q_CM = (np.broadcast_to(values, (n, values.shape[-1])).copy() for values in frames)
    return JointPlace(p_PF, q_PF, p_CM, q_CM, length)


def _carried(joint: Joint, bench: Bench) -> str:
    """What went through a joint, in the first world."""
    index = list(bench.system.model.joints).index(joint.name)
    wrench = bench.forces.reactions()[0][index][0]
    force, torque = (float(np.linalg.norm(part)) for part in (wrench[3:], wrench[:3]))
    noise = ROUNDING * (force + torque)
    return f"it carried {force if force > noise else 0:.4g} N and {torque if torque > noise else 0:.4g} N m"
