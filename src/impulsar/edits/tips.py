"""Tips that push: a sphere that a user drives through the world, and whose contact has no friction.

A tip is a body of the model, of the hand's name, on a free joint from the ground. Motors of position hold its x, y and
z where the user sends it, each with no more than the tip's force: what is jammed between it and a wall is pressed by
that force and no more. Its surface has no friction and no rebound, so that it pushes along normals and never sticks.
The motors' work is in the books, ∫ F · v of the tip, under "NAME drive".
"""

import numpy as np

from ..author.checks import positive, vector
from ..author.joints import SLIDE_X, SLIDE_Z
from ..author.materials import material_of
from ..author.model import Model
from ..author.parts import Joint, Motor, changed
from ..author.profiles import Ramp
from ..author.shapes import Sphere
from ..engine.system import System
from ..engine.system.slots import MOTOR_POSITION
from .carry import STILL, Places
from .data import Move, Push, Release, Remove
from .inputs import claim, joined
from .parts import remove_part
from .refusal import EditError
from .registry import Answer, Desk, Plan, carries_out
from .targets import target_items

AXES = ("x", "y", "z")
SHARE = 0.1  # of the lightest body that it can push: a tip's mass, which sweeps of impulses get on with


def drive_of(model: Model, name: object) -> Joint | None:
    """The joint that drives a tip, None where there is no tip of that name."""
    joint = model.joints.get(f"{name} drive") if isinstance(name, str) else None
    if joint is None or joint.type != "free" or joint.second != name or f"{name} skin" not in model.materials:
        return None
    return joint


def tips(model: Model) -> list[str]:
    """Names of the tips of a model."""
    return [joint.second for joint in model.joints.values() if drive_of(model, joint.second) is joint]


@carries_out(Push)
def push(edit: Push, desk: Desk) -> Plan:
    """Put a tip into the world."""
    model, owner = desk.model, f"hand {edit.hand!r}"
    claim(desk.bench.system, "hand", edit.hand)
    at = vector(owner, "at", edit.at, "m")
    radius, force = positive(owner, "radius", edit.radius, "m"), positive(owner, "force", edit.force, "N")
    touched = [
        body
        for body in model.bodies.values()
        if drive_of(model, body.name) is None and any(material_of(shape, body) is not None for shape in body.shapes)
    ]
    if not touched:
        raise EditError(f"{owner}: nothing here has a shape with a material, so a tip touches nothing; SetMaterial")
    usual = SHARE * min((body.mass for body in touched if body.mass), default=1.0)
    mass = usual if edit.mass is None else positive(owner, "mass", edit.mass, "kg")
    new = model.copy()
    new.material(f"{edit.hand} skin", friction=0.0)
    new.body(
        edit.hand,
        mass=mass,
        inertia=(0.4 * mass * radius**2,) * 3,
        position=at,
        shape=Sphere(radius=radius),
        material=f"{edit.hand} skin",
    )
    motors = {axis: Motor(position=float(value), max_torque=force) for axis, value in zip(AXES, at, strict=True)}
    origin = (np.zeros(3), STILL)  # coordinates are those of the world
    new.joint(f"{edit.hand} drive", "free", "ground", edit.hand, frame_a=origin, frame_b=origin, motor=motors)
    places = Places.of(desk.bench)
    places.put(edit.hand, at, STILL, np.zeros(6))
    names = ", ".join(f"'{body.name}'" for body in touched[:6]) + (", ..." if len(touched) > 6 else "")
    return Plan(new, f"{owner} pushes what it meets of {names}", Release(edit.hand), places=places)


def move_tip(edit: Move, desk: Desk, joint: Joint) -> Answer:
    """Send a tip somewhere: to a point within the next step."""
    bench, system = desk.bench, desk.bench.system
    owner = f"hand '{edit.hand}'"
    if edit.target is None or edit.turn is not None:
        raise EditError(f"{owner}: pushes, and has nothing to turn; give a target alone")
    now = bench.work.p_WB.numpy()[system.body_index[joint.second]].T
    target = edit.target
    if isinstance(target, tuple | list):
        time = float(bench.state.read("time")[0, 0])
        dt = float(system.arrays.nominal_h.numpy()[0])
        target = Ramp(None, tuple(vector(owner, "target", target, "m").tolist()), time, time + dt)
    items = target_items(owner, "hand_target", target, now)
    replaced = system.channels.put(system.arrays, _channels(system, joint), items)
    driven = joint
    for axis, item in zip(AXES, items, strict=True):
        driven = changed(driven, "drive", joined([item]), (axis,))
    system.model = system.model.having("joint", driven)
    return Answer(f"{owner} moves", replaced, inverse=Move(edit.hand, tuple(map(float, now[:, 0]))))


def _channels(system: System, joint: Joint) -> list[int]:
    """Of the motors along x, y and z."""
    rows = [r for r in system.slots_of[joint.name] if system.slots[r].kind == MOTOR_POSITION]
    rows.sort(key=lambda r: system.slots[r].code)
    assert [system.slots[r].code for r in rows] == list(range(SLIDE_X, SLIDE_Z + 1))
    return [system.slots[r].channel for r in rows]


def take_away(edit: Release, desk: Desk, joint: Joint) -> Plan:
    """Take a tip out of the world; what its motors did stays in the books."""
    body = desk.model.bodies[joint.second]
    shape, motor = body.shapes[0], joint.features["x"].motor
    assert isinstance(shape, Sphere) and motor is not None
    plan = remove_part(Remove("body", body.name), desk)  # and all that refers to it
    del plan.model.materials[f"{body.name} skin"]
    at = tuple(map(float, Places.of(desk.bench).p_WB[body.name][0]))
    back = Push(edit.hand, at, shape.radius, motor.max_torque, body.mass)  # type: ignore[arg-type]
    plan.text, plan.inverse = f"hand '{edit.hand}' pushes no more", back
    return plan
