"""Poses of a mechanism by batch: one world to a sample, driven to coordinates of its own with its loops closed.

From the start pose the driven coordinates go straight to their goals by steps small enough to stay on the branch;
after each the rows that hold, closures, couplings and drives, are closed by Newton's iteration in the norm of the
masses,

    A λ = -error        q ← q ⊕ M⁻¹ Jᵀ λ,   A = J M⁻¹ Jᵀ

Joints that are in no loop and no coupling, and those of other drives, are held where they are; what else is not driven
follows, in the norm of the masses.
"""

# mypy: disable-error-code="index,operator,union-attr"

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import warp as wp

from ..author.model import Model
from ..author.parts import Motor
from ..engine.constrain import kinds, limit, motor
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.rows import is_spare, own_coordinate, respond
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.retract import move_coordinates
from ..engine.coordinates.tree import articulate, kinematics
from ..engine.freedoms import is_slide
from ..engine.launch import launch
from ..engine.solve.direct import apply_multipliers, factor_bilateral, solve_bilateral
from ..engine.spatial import INFINITY, ONE, ZERO, f64, vec6
from ..engine.state import StateArrays, WorkArrays
from ..engine.system import SystemArrays
from ..engine.system.slots import LIMIT_HIGH, LIMIT_LOW, MOTOR_POSITION
from ..observe.readout import coordinate_name
from ..world.world import World
from .bodies import copy_model

AT_ONCE = {True: 128, False: 4096}  # worlds, on the CPU and elsewhere
ROUNDS = wp.constant(20)  # of Newton's iteration after each step
CLOSED = wp.constant(wp.float64(1e-12))  # errors this small are rounding [m, rad]
STRIDE = wp.constant(wp.float64(0.2))  # of a driven coordinate between two closings [rad, lengths]
TURN = wp.constant(wp.float64(0.5))  # largest step of an angle [rad]
ENOUGH = wp.constant(wp.float64(1e-9))  # a pose is reached where errors are below [m, rad]


@wp.func
def row_error(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    start: wp.array2d(dtype=f64),
    share: f64,
    i: int,
    w: int,
) -> f64:
    """Position error of bilateral row i, where drives are a share of the way from their start to their goal."""
    r = m.bilateral[i]
    if kinds.is_drive(x, r, w):
        goal = start[i, w]
        if motor.is_servo(x, r, w):
            goal += share * (motor.target(m, r, ZERO, w) - goal)
        return own_coordinate(m, s, x, r, w) - goal
    return kinds.error(m, s, x, r, ZERO, w)


@wp.func(inline=False)
def close_rows(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    start: wp.array2d(dtype=f64),
    share: f64,
    farthest: f64,
    w: int,
) -> f64:
    """One Newton step onto the rows that hold; of `farthest` [rad] at most; returns their largest error before it."""
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    articulate(m, x, w)
    worst = ZERO
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        x.solved[r, w] = int(0)
        x.multiplier[i, w] = ZERO
        if kinds.is_drive(x, r, w) or (kinds.is_equation(x, r, w) and not is_spare(m, r, w)):
            kinds.fill(m, s, x, r, ZERO, ONE, w)
            if respond(m, x, r, ZERO, w):
                x.solved[r, w] = int(1)
            error = row_error(m, s, x, start, share, i, w)
            x.multiplier[i, w] = -error
            worst = wp.max(worst, wp.abs(error))
    if worst > CLOSED:
        factor_bilateral(m, x, w)
        solve_bilateral(m, x, w)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = ZERO
        apply_multipliers(m, x, x.shift, w)
        turn = ZERO
        for k in range(s.v.shape[0]):
            if not is_slide(m.dof_kind[k]):
                turn = wp.max(turn, wp.abs(x.shift[k, w]))
        clamp = ONE / wp.max(ONE, turn / farthest)
        for k in range(s.v.shape[0]):
            x.shift[k, w] = clamp * x.shift[k, w]
        move_coordinates(m, s, x.shift, w)
    return worst


@wp.kernel(enable_backward=False)
def drive_kernel(
    # model
    m: SystemArrays,
    length: f64,
    limits: wp.array(dtype=wp.int32),  # slots
    # state in and out
    s: StateArrays,
    x: WorkArrays,
    start: wp.array2d(dtype=f64),  # [bilateral, world] coordinates of drives before [m, rad]
    # out
    error: wp.array(dtype=f64),  # [world] largest error left [m, rad]
    beyond: wp.array(dtype=f64),  # [world] farthest beyond a limit [m, rad]
):
    """Bring the drives to their goals."""
    w = wp.tid()
    list_rows(m, x, w)
    for k in range(s.v.shape[0]):
        s.v[k, w] = ZERO
        x.tau[k, w] = ZERO
    for i in range(m.parent.shape[0]):
        x.wrench[i, w] = vec6()
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    parts = ONE
    farthest = INFINITY  # without loops all goals are reached at once
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        start[i, w] = ZERO
        if kinds.is_equation(x, r, w):
            farthest = TURN
        if kinds.is_drive(x, r, w):
            start[i, w] = own_coordinate(m, s, x, r, w)
            if motor.is_servo(x, r, w):
                stride = STRIDE
                if is_slide(m.slot_code[r]):
                    stride = STRIDE * length
                way = wp.abs(motor.target(m, r, ZERO, w) - start[i, w])
                parts = wp.max(parts, wp.ceil(way / stride))
    if farthest == INFINITY:
        parts = ONE
    worst = ZERO
    part = int(0)
    while f64(part) < parts:
        part += 1
        share = f64(part) / parts
        rounds = int(0)
        worst = close_rows(m, s, x, start, share, farthest, w)
        while worst > CLOSED and rounds < ROUNDS:
            worst = close_rows(m, s, x, start, share, farthest, w)
            rounds += 1
        if not worst < ENOUGH:
            parts = ZERO  # it does not get there
    error[w] = worst
    far = ZERO
    for l in range(limits.shape[0]):
        far = wp.max(far, -limit.gap(m, s, x, limits[l], w))
    beyond[w] = far


@dataclass(frozen=True)
class Poses:
    """Where the bodies are at each sample, and whether it could get there."""

    position: np.ndarray  # [sample, body, 3] [m]
    orientation: np.ndarray  # [sample, body, 4] xyzw
    closed: np.ndarray  # [sample] whether loops and drives close
    beyond: np.ndarray  # [sample] farthest beyond a joint's limit [m, rad]


def coordinates_of_joints(model: Model) -> dict[str, tuple[str, str]]:
    """Joint and group of every coordinate that can be driven to a position, by name."""
    return {
        coordinate_name(joint, group, group.freedoms[0]): (joint.name, group.name)
        for joint in model.joints.values()
        for group in joint.kind.groups
        if not group.is_ball
    }


def _outside_loops(model: Model) -> set[tuple[str, str]]:
    """Joints and groups that are in no loop and in no coupling."""
    coupled = {(joint, group) for coupling in model.couplings.values() for joint, group, _ in coupling.ends}
    found = set()
    for joint in model.joints.values():
        others = [(each.first, each.second) for each in model.joints.values() if each is not joint]
        if not _is_joined(joint.first, joint.second, others):
            found |= {(joint.name, group.name) for group in joint.kind.groups}
    return found - coupled


def _is_joined(a: str, b: str, links: list[tuple[str, str]]) -> bool:
    """Whether there is a way from a to b."""
    seen, front = {a}, [a]
    while front:
        here = front.pop()
        for p, q in links:
            for near, far in ((p, q), (q, p)):
                if near == here and far not in seen:
                    seen.add(far)
                    front.append(far)
    return b in seen


def drive_all(model: Model, goals: Mapping[str, np.ndarray], device: str = "cpu") -> Poses:
    """Poses with coordinates at their goals [sample] each, by name; the model is left as it was."""
    names = coordinates_of_joints(model)
    driven = copy_model(model)
    driven.obstacles, driven.no_contacts = {}, {}
    for body in driven.bodies.values():  # at rest, and touching nothing on its way
        body.velocity, body.angular_velocity = np.zeros(3), np.zeros(3)
        body.shapes, body.material = [], None
    held = _outside_loops(model)
    for name, (joint, group) in names.items():
        features = driven.joints[joint].features
        own = features[group].motor
        if name in goals:
            own = Motor(position=0.0)
        elif (joint, group) in held and (own is None or own.torque is not None or own.is_servo):
            own = Motor(speed=0.0)
        features[group] = replace(features[group], motor=own, friction=0.0, static_friction=0.0)
    count = len(next(iter(goals.values())))
    worlds = min(count, AT_ONCE[wp.get_device(device).is_cpu])
    world = World(driven, worlds=worlds, device=device, compile="off")
    system, state, work = world.system, world.runner.bench.state, world.runner.bench.work
    slots = {
        name: next(
            r
            for r in system.slots_of[names[name][0]]
            if system.slots[r].kind == MOTOR_POSITION
            and system.slots[r].code in driven.joints[names[name][0]].kind.group(names[name][1]).freedoms
        )
        for name in goals
    }
    limits = np.array([r for r, slot in enumerate(system.slots) if slot.kind in (LIMIT_LOW, LIMIT_HIGH)], np.int32)
    before = state.numpy().copy()
    rows = max(len(system.arrays.bilateral), 1)
    start = wp.zeros((rows, worlds), dtype=f64, device=device)
    error, beyond = (wp.zeros(worlds, dtype=f64, device=device) for _ in range(2))
    given = wp.array(limits, dtype=wp.int32, device=device, shape=limits.shape)
    order = [system.tree.bodies.index(name) for name in model.bodies]
    found: list[list[np.ndarray]] = [[], [], [], []]
    for first in range(0, count, worlds):
        here = np.minimum(np.arange(first, first + worlds), count - 1)
        targets: list[Any] = [values[here] for values in goals.values()]  # a channel takes one number per world
        system.channels.put(system.arrays, [system.slots[slots[name]].channel for name in goals], targets)
        state.array.assign(before)
        inputs = [system.arrays, f64(system.length), given, state.arrays, work, start, error, beyond]
        launch(drive_kernel, worlds, inputs, device)
        kept = min(worlds, count - first)
        p, q = (array.numpy()[order][:, :kept].swapaxes(0, 1) for array in (work.p_WB, work.q_WB))
        for list_, value in zip(found, (p, q, error.numpy()[:kept], beyond.numpy()[:kept]), strict=True):
            list_.append(value.copy())
    p, q, errors, far = (np.concatenate(each) for each in found)
    return Poses(p, q, errors < float(ENOUGH), far)
