"""The joint matrix: every joint type, as tree joint and as loop joint, with every feature it takes.

One body hangs on ground by the joint, in both directions (F on ground, F on the body). As a loop joint
it is marked so: the body then has a free tree joint and the joint is rows alone. Each cell excites the
groups of the joint one by one, without gravity, where the motion has a closed form with the inertia

    I_eff    slide: m      turn: zᵀ I z + m |z × d|²      screw: the same + m pitch²

(d from the axis to the centre of mass; the axes of the others pass through it). Coulomb friction, motor
torque and limits act by constant forces, which every method integrates exactly in velocity; viscous
friction and springs err by the order of the method, which is their tolerance: none beyond ROUNDING under
error control. In the loop role the cell also runs a general motion (full inertia, gravity, every freedom
moving) in both roles: they may differ by no more than their errors, estimated by changing the step.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..author.errors import ModelError, StepError
from ..author.joints import BALL_X, BALL_Z, CATALOGUE, SCREW, SLIDE_X, SLIDE_Z, TURN_X, Group, JointType
from ..author.model import Model
from ..author.parts import Motor
from ..author.placing import NO_AXIS
from ..author.profiles import Harmonic
from ..engine.methods import (
    METHODS,
    Baumgarte,
    Direct,
    GeneralizedAlpha,
    LinearImplicit,
    Projected,
    Simgc,
    Simmc,
    Variational,
)
from ..world.world import World
from .case import Case

ROLES = ("tree", "loop")
DIRECTIONS = ("to", "from")  # ground first, body first

H = 1e-3  # step [s]
MASS = 2.0  # [kg]
CONTROLLED = Direct(rtol=1e-10, atol=1e-10, epsilon=1e-13)
TIGHT: dict[tuple[str, str], Any] = {  # method and coordinates; the solver's tolerance is in no figure
    ("simgc", "generalized"): Simgc(epsilon=1e-13, iterations=20_000),
    ("simmc", "maximal"): Simmc(epsilon=1e-13, iterations=20_000, split_impulses=True),
    ("direct", "generalized"): CONTROLLED,
    ("direct", "maximal"): CONTROLLED,
    **{
        (made.name, coordinates): made
        for made in (
            Variational(),
            Projected(integrator="pair", rtol=1e-10, atol=1e-10),
            Baumgarte(integrator="pair", rtol=1e-10, atol=1e-10),
            LinearImplicit(),
            GeneralizedAlpha(substepping=False),
        )
        for coordinates in ("generalized", "maximal")
    },
}
TREE = {name: name for name in METHODS} | {"simmc": "simgc"}  # whose tree joint a joint of rows must equal
ON_TARGET = 1e-6  # of a position motor of `direct` [m, rad]
ROUNDING = 1e-9  # of what a method integrates exactly [m, rad, m/s, rad/s]
PITCH = 0.1  # [m/rad]
OFFSET = np.array([0.2, -0.1, 0.15])  # d, in joint axes, where the motion stays simple with it [m]
OFFSET_TYPES = ("fixed", "revolute", "prismatic", "cylindrical", "screw")
GENERAL_WAY = (1 / 3, 2 / 3, 2 / 3)  # of a ball, in joint axes
FASTEST = 2.0  # rate that no check exceeds [m/s, rad/s]
Q_WF = Rotation.from_rotvec([0.4, -0.7, 0.5])  # the joint's frame in the world
ORIGIN = np.array([0.3, 0.1, -0.2])


class Mismatch(AssertionError):
    """A cell does not do what it should; says what was found and what was expected."""


def expect(what: str, found: ArrayLike, wanted: ArrayLike, tolerance: float) -> None:
    """Raise Mismatch where found is further from wanted than the tolerance."""
    error = float(np.max(np.abs(np.subtract(found, wanted))))
    if not error <= tolerance:
        raise Mismatch(
            f"{what}: {np.asarray(found)}, expected {np.asarray(wanted)} to {tolerance:.3g}, off {error:.3g}"
        )


@dataclass(frozen=True)
class Bench:
    """One body on ground by one joint; `group` is the one that moves, along `way` where it is a ball."""

    kind: JointType
    role: str
    direction: str
    group: Group
    device: str = "cpu"
    method: str = "simgc"
    coordinates: str = "generalized"
    way: tuple[float, ...] = GENERAL_WAY  # in joint axes

    @property
    def is_rows(self) -> bool:
        """Whether the joint is made of rows."""
        return self.role == "loop" or self.coordinates == "maximal"

    @property
    def of_order_1(self) -> bool:
        """Whether the error is that of a fixed step."""
        return TIGHT[self.method, self.coordinates].order == 1

    @property
    def has_bounds(self) -> bool:
        """Whether motors may be weak, and go gently to a target that jumps."""
        return self.method not in ("variational", "generalized_alpha")

    @property
    def late(self) -> int:
        """Steps until a velocity moves something: `linear_implicit` moves by the one before."""
        return int(self.method == "linear_implicit")

    @property
    def sign(self) -> float:
        """Of the body's motion per unit of coordinate."""
        return 1.0 if self.direction == "to" else -1.0

    @property
    def offset(self) -> np.ndarray:
        return OFFSET if self.kind.name in OFFSET_TYPES else np.zeros(3)

    @property
    def inertia(self) -> np.ndarray:
        """In joint axes; of a ball the same about every axis."""
        has_ball = any(group.is_ball for group in self.kind.groups)
        return np.diag((0.2, 0.2, 0.2) if has_ball else (0.2, 0.25, 0.3))

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Angular and linear velocity of the joint's point at unit rate, in joint axes."""
        code = self.group.freedoms[0]
        if code <= SLIDE_Z:
            return np.zeros(3), np.eye(3)[code - SLIDE_X]
        if BALL_X <= code <= BALL_Z:
            return np.array(self.way), np.zeros(3)
        turn = np.eye(3)[0 if code == TURN_X else 2]
        return turn, PITCH * turn if code == SCREW else np.zeros(3)

    @property
    def mass(self) -> float:
        """I_eff [kg, kg m²]."""
        turn, slide = self.axes()
        v = slide + np.cross(turn, self.offset)
        return float(MASS * v @ v + turn @ self.inertia @ turn)

    def vector(self, value: float) -> float | tuple[float, ...]:
        """A value of the group: of a ball, along the way."""
        return tuple(value * np.array(self.way)) if self.group.is_ball else value

    def world(self, rate: float = 0.0, force: float = 0.0, **features: object) -> World:
        """The body moving at `rate` of the group and loaded by the group's `force`."""
        turn, slide = (self.sign * Q_WF.apply(axis) for axis in self.axes())
        arm = Q_WF.apply(self.offset)
        model = Model(f"{self.kind.name} {self.role} {self.direction}", gravity=(0, 0, 0))
        model.body(
            "body",
            MASS,
            self.inertia,
            position=ORIGIN + arm,
            orientation=Q_WF.as_quat(),
            velocity=rate * (slide + np.cross(turn, arm)),
            angular_velocity=rate * turn,
        )
        given = {name: {self.group.name: value} for name, value in features.items()}
        add_joint(model, self.kind, self.direction, self.role, **given)
        if turn.any():  # of a screw the torque alone: with a force too it would be more
            model.load("load", "body", torque=tuple(force * turn))
        else:
            model.load("load", "body", force=tuple(force * slide))
        return make_world(model, self.method, self.coordinates, H, self.device)

    def rows(self, values: ArrayLike) -> np.ndarray:
        """Of the joint's values those of the group."""
        before = self.kind.groups[: self.kind.groups.index(self.group)]
        start = sum(len(group.freedoms) for group in before)
        return np.atleast_1d(values)[start : start + len(self.group.freedoms)]

    def slack(self, t: float) -> float:
        """What a turning loop joint may lose of its rate in t, none above FASTEST.

        A step moves the centre of mass along the tangent and the next one turns its velocity into the
        new tangent: of the share of I_eff that is m |z × d|² it keeps cos(w h), a loss of w² h t / 2.
        Sub-steps of higher order lose nothing.
        """
        turn, _ = self.axes()
        share = MASS * np.sum(np.cross(turn, self.offset) ** 2) / self.mass
        order = TIGHT[self.method, self.coordinates].order
        return self.by_order(FASTEST**3 * H * t / 2.0 * share, FASTEST) if self.is_rows and order <= 2 else 0.0

    def by_order(self, error: float, rate: float) -> float:
        """Of what a method of order 1 errs by where things go at a rate [1/s]; under error control it is rounding."""
        order = TIGHT[self.method, self.coordinates].order
        return error * (rate * H) ** (order - 1) if order <= 2 else ROUNDING

    def expect(self, what: str, world: World, q: float | None, u: float | None, tolerance: float) -> None:
        """Coordinate and rate of the group, along the way where it is a ball; the joint closed."""
        way = np.array(self.way) if self.group.is_ball else np.ones(1)
        label = f"{self.group.name} {self.direction} ground, {what}"
        joint = world.joint("joint")
        slack = self.slack(world.time)
        if q is not None:
            expect(f"{label}: position", self.rows(joint.position), q * way, tolerance + slack * world.time)
        if u is not None:
            expect(f"{label}: velocity", self.rows(joint.velocity), u * way, tolerance + slack)
        # one step along the tangent leaves the circle by (w h)² / 2 of its radius
        bow = (FASTEST * H) ** 2 / 2.0 * float(np.linalg.norm(self.offset)) if self.of_order_1 else 0.0
        expect(f"{label}: constraint error", world.constraint_error(), 0.0, ROUNDING + bow)


def make_world(model: Model, method: str, coordinates: str, h: float, device: str) -> World:
    """A world by a method whose own tolerance is in no figure."""
    return World(model, TIGHT[method, coordinates], coordinates, dt=h, device=device)


def add_joint(model: Model, kind: JointType, direction: str, role: str, **features: Any) -> None:
    """The joint between ground and the body at ORIGIN, its axes Q_WF; a distance to the centre of mass."""
    first, second = ends = ("ground", "body") if direction == "to" else ("body", "ground")
    place: dict[str, Any] = {"at": ORIGIN}
    if kind.name == "distance":
        at = {"ground": ORIGIN, "body": model.bodies["body"].position}
        place = {"at": at[ends[0]], "at_b": at[ends[1]]}
    elif kind.name not in NO_AXIS:
        place |= {"axis": Q_WF.apply([0, 0, 1]), "axis2": Q_WF.apply([1, 0, 0])}
    else:
        frames = {"ground": (ORIGIN, Q_WF), "body": body_frame(model)}
        place = {
            name: (frames[end][0], frames[end][1].as_quat())
            for name, end in zip(("frame_a", "frame_b"), ends, strict=True)
        }
    pitch = PITCH if kind.name == "screw" else None
    model.joint("joint", kind.name, first, second, **place, **features, pitch=pitch, loop=role == "loop" or None)


def body_frame(model: Model) -> tuple[np.ndarray, Rotation]:
    """The joint's frame on the body."""
    body = model.bodies["body"]
    return body.point(ORIGIN), Rotation.from_quat(body.orientation).inv() * Q_WF


# checks: one per feature, for one group in one direction ------------------------------------------


def check_limit(bench: Bench) -> None:
    """Free up to the limit, on it without passing, back from it by the restitution."""
    bound = 0.1
    if bench.group.is_ball and bench.way == GENERAL_WAY:
        check_limit(replace(bench, way=(0.0, 0.0, 1.0)))
        bench = replace(bench, way=(0.6, 0.8, 0.0))
    limits: object = (-bound, bound)
    if bench.group.is_ball:
        limits = {"twist": limits} if bench.way[2] else {"swing": bound}
    for rate in (FASTEST, -FASTEST):
        world = bench.world(rate, limits=limits)
        world.step(25)
        bench.expect("half way to the limit", world, rate * 25 * H, rate, ROUNDING)
        world.step(75)
        bench.expect("on the limit", world, np.sign(rate) * bound, 0.0, ROUNDING)
        world = bench.world(rate, limits=limits, limit_restitution=0.5)
        world.step(100)
        bench.expect("off the limit", world, None, -0.5 * rate, ROUNDING)
        # it turned back in the step that would have passed the limit, from less than a step before it
        back = np.sign(rate) * bound - 0.5 * rate * 50 * H
        bench.expect("off the limit", world, back, None, 2.0 * abs(rate) * H)


def check_coulomb(bench: Bench) -> None:
    """Holds below its bound; above it the surplus accelerates; alone it brakes to rest and holds."""
    bound, m = 1.5, bench.mass
    world = bench.world(force=0.99 * bound, friction=bound)
    world.step(100)
    bench.expect("below the bound", world, 0.0, 0.0, ROUNDING)
    world = bench.world(force=1.2 * bound, friction=bound)
    world.step(100)
    bench.expect("above the bound", world, None, 0.2 * bound / m * 100 * H, ROUNDING)
    rate = bound / m * 100 * H  # at rest after 100 steps
    world = bench.world(rate, friction=bound)
    world.step(50)
    bench.expect("braking", world, None, 0.5 * rate, ROUNDING)
    world.step(100)
    # the sum of the velocities at the ends of steps is short of the integral by half a step; midway it is exact
    steps = 99 if bench.of_order_1 else 100
    bench.expect("at rest", world, 0.5 * rate * steps * H, 0.0, ROUNDING)


def check_viscous(bench: Bench) -> None:
    """u = u₀ e^(-λt), λ = c / I_eff; implicit Euler errs by the fraction λ² h t / 2."""
    decay, rate, steps = 5.0, 0.8, 100
    world = bench.world(rate, viscous=decay * bench.mass)
    world.step(steps)
    t = steps * H
    u = rate * np.exp(-decay * t)
    bench.expect("decaying", world, None, u, bench.by_order(u * decay**2 * H * t / 2, decay))


def check_motor_speed(bench: Bench) -> None:
    """Has the speed after one step and keeps it under a load; a weak motor accelerates by its maximum."""
    speed = 0.7
    world = bench.world(force=-3.0, motor=Motor(speed=bench.vector(speed)))
    world.step(1 + bench.late)
    bench.expect("after a step", world, speed * H, speed, ROUNDING)
    world.step(99)
    bench.expect("loaded", world, speed * 100 * H, speed, ROUNDING)
    felt = bench.rows(world.joint("joint").motor_torque)
    # the motor makes up for what the joint loses
    expect("motor torque", felt, bench.vector(3.0), ROUNDING / H + bench.mass * bench.slack(1.0))
    if not bench.has_bounds:
        return
    weak = 0.5 * speed * bench.mass / (100 * H)  # at half the speed after 100 steps
    world = bench.world(motor=Motor(speed=bench.vector(speed), max_torque=weak))
    world.step(100)
    bench.expect("a weak motor", world, None, 0.5 * speed, ROUNDING)


def check_motor_position(bench: Bench) -> None:
    """Goes to the target, holds it under a load, and follows; a weak motor is held back.

    Methods of order 1 are there after a step. `direct` goes by q̈ = -2 α q̇ - α² (q - target), α = 0.4 / impulse_step,
    1 - q / target = (1 + α t) e^(-α t), and counts as there, at rest, within ON_TARGET and α ON_TARGET.
    `baumgarte` goes by its own α = β.
    """
    target = FASTEST * H
    world = bench.world(force=-3.0, motor=Motor(position=target))
    world.step(1 + bench.late)
    options = TIGHT[bench.method, bench.coordinates]
    rate = options.alpha if isinstance(options, Baumgarte) else 0.4 / CONTROLLED.impulse_step
    at_once = bench.of_order_1 or not bench.has_bounds
    left = [0.0 if at_once else (1.0 + rate * t) * np.exp(-rate * t) for t in (H, 100 * H)]
    bench.expect("after a step", world, (1.0 - left[0]) * target, None, ROUNDING)
    world.step(99)
    speed = 0.0 if at_once else rate**2 * 100 * H * np.exp(-rate * 100 * H) * target
    bench.expect("loaded", world, (1.0 - left[1]) * target, None, ROUNDING if at_once else ON_TARGET)
    bench.expect("loaded", world, None, speed, ROUNDING if at_once else rate * ON_TARGET)
    lag = bench.late * 0.02 * (10.0 * H) ** 2
    for path in (Harmonic(0.02, 10.0), lambda t: 0.02 * np.sin(10.0 * t)):
        world = bench.world(motor=Motor(position=path))
        world.step(100)
        bench.expect("following", world, 0.02 * np.sin(10.0 * 100 * H), None, ROUNDING + lag)
        if isinstance(options, Baumgarte):  # a callable is sampled, and its acceleration a is not seen: a / β² behind
            lag = 0.02 * 10.0**2 / options.beta**2
    if not bench.has_bounds:
        return
    weak = 2.0
    world = bench.world(motor=Motor(position=1.0, max_torque=weak))
    world.step(100)
    bench.expect("a weak motor", world, None, weak / bench.mass * 100 * H, ROUNDING)


def check_motor_torque(bench: Bench) -> None:
    """u = τ t / I_eff, and no more than by its maximum."""
    torque, steps = 1.3, 100
    for limit in (np.inf, 0.4):
        world = bench.world(motor=Motor(torque=bench.vector(torque), max_torque=limit))
        world.step(steps)
        felt = min(torque, limit)
        bench.expect("driven", world, None, felt * steps * H / bench.mass, ROUNDING)


def check_spring(bench: Bench) -> None:
    """q = r (1 - cos ωt) about its rest, ω² = k / I_eff; and q = r + f / k at rest under a load.

    Implicit Euler turns e^(iωt) into e^(iωt - ω²ht/2): an error of ω² h t / 2 of the amplitude.
    """
    omega, steps = 12.0, 100
    k, t, m = omega**2 * bench.mass, steps * H, bench.mass
    rest = 0.0 if bench.group.is_ball else 0.1
    rate = 0.0 if rest else 0.1 * omega
    world = bench.world(rate, stiffness=k, rest=rest)
    world.step(steps)
    q = rest * (1.0 - np.cos(omega * t)) + rate / omega * np.sin(omega * t)
    bench.expect("swinging", world, q, None, bench.by_order(0.1 * omega**2 * H * t / 2, omega))
    world = bench.world(force=0.05 * k, stiffness=k, damping=2.0 * omega * m, rest=rest)
    world.step(3000)  # critically damped: e^-36 of it is left
    bench.expect("under a load", world, rest + 0.05, 0.0, ROUNDING)


def check_servo(bench: Bench) -> None:
    """As a spring about its target: q = x (1 - cos ωt), ω² = kp / I_eff, and with kv at rest at x + f / kp."""
    omega, steps, target = 12.0, 100, 0.1
    kp, t = omega**2 * bench.mass, steps * H
    world = bench.world(motor=Motor(position=target, kp=kp, kv=0.0))
    world.step(steps)
    q = target * (1.0 - np.cos(omega * t))
    bench.expect("swinging", world, q, None, bench.by_order(target * omega**2 * H * t / 2, omega))
    world = bench.world(force=0.05 * kp, motor=Motor(position=target, kp=kp, kv=2.0 * omega * bench.mass))
    world.step(3000)
    bench.expect("under a load", world, target + 0.05, 0.0, ROUNDING)


def check_armature(bench: Bench) -> None:
    """u = f t / (I_eff + a)."""
    armature, force, steps = 0.7, 1.3, 100
    world = bench.world(force=force, armature=armature)
    world.step(steps)
    bench.expect("driven", world, None, force * steps * H / (bench.mass + armature), ROUNDING)


def check_joint(bench: Bench) -> None:
    """The joint alone: every freedom is free, q = u t."""
    rate = 0.5
    world = bench.world(rate)
    world.step(100)
    bench.expect("free", world, rate * 100 * H, rate, ROUNDING)


CHECKS: dict[str, Callable[[Bench], None]] = {
    "joint": check_joint,
    "limit": check_limit,
    "coulomb": check_coulomb,
    "viscous": check_viscous,
    "motor speed": check_motor_speed,
    "motor position": check_motor_position,
    "motor torque": check_motor_torque,
    "spring": check_spring,
    "servo": check_servo,
    "armature": check_armature,
}
FEATURES = (*CHECKS, "reaction")
LAWLESS = {  # what has no law
    "variational": ("limit", "coulomb", "armature"),
    "linear_implicit": ("limit", "coulomb"),
    "generalized_alpha": ("limit", "coulomb"),
}


# both roles ---------------------------------------------------------------------------------------


def sample(feature: str, group: Group | None) -> dict[str, Any]:
    """The feature with some value, for the joint of a group, or for one without groups."""
    ball = group is not None and group.is_ball
    vector = (0.2, -0.3, 0.1) if ball else 0.3
    features: dict[str, dict[str, Any]] = {
        "joint": {},
        "limit": {"limits": {"swing": 0.02, "twist": (-0.02, 0.02)} if ball else (-0.02, 0.02)},
        "coulomb": {"friction": 0.5},
        "viscous": {"viscous": 0.5},
        "motor speed": {"motor": Motor(speed=vector)},
        "motor position": {"motor": Motor(position=Harmonic(0.05, 8.0))},
        "motor torque": {"motor": Motor(torque=vector)},
        "spring": {"stiffness": 20.0, "damping": 0.2},
        "servo": {"motor": Motor(position=0.05, kp=20.0, kv=0.2)},
        "armature": {"armature": 0.3},
    }
    given = features[feature]
    return given if group is None else {what: {group.name: value} for what, value in given.items()}


def general_world(cell: "Cell", direction: str, device: str, h: float, **features: Any) -> World:
    """After 0.1 s of a general motion: full inertia, gravity, every freedom moving."""
    kind, arm = CATALOGUE[cell.type], Q_WF.apply(OFFSET)
    v, w = np.zeros(3), np.zeros(3)
    for k, group in enumerate(kind.groups):
        bench = Bench(kind, cell.role, direction, group)
        turn, slide = (bench.sign * (0.5 - 0.2 * k) * Q_WF.apply(axis) for axis in bench.axes())
        w += turn
        v += slide + np.cross(turn, arm)
    model = Model(cell.name)
    inertia = ((0.20, 0.02, -0.03), (0.02, 0.25, 0.04), (-0.03, 0.04, 0.30))
    orientation = Rotation.from_rotvec([-0.3, 0.8, 0.2]).as_quat()
    model.body("body", MASS, inertia, ORIGIN + arm, orientation, velocity=v, angular_velocity=w)
    add_joint(model, kind, direction, cell.role, **features)
    world = make_world(model, cell.method, cell.coordinates, h, device)
    world.step(round(0.1 / h))
    return world


def motion(world: World) -> np.ndarray:
    """Pose and twist of the body."""
    body = world.body("body")
    turned = Rotation.from_quat(body.orientation).as_matrix()
    return np.concatenate([body.position, turned.ravel(), body.velocity, body.angular_velocity])


def transmitted(world: World) -> np.ndarray:
    """Reaction force and torque of the joint."""
    return np.concatenate(world.joint("joint").reaction)


def expect_same(
    cell: "Cell", direction: str, device: str, what: Callable[[World], np.ndarray], name: str, **features: Any
) -> None:
    """The cell's role and coordinates differ from a tree joint's by no more than their errors.

    Of order 1, the error e at h = H / 4 follows from the change from 2 H: e(2H) - e(H/4) = 7 e(H/4).
    It is allowed twice, because limits and sticking happen at whole steps.
    """
    fine, error = [], 0.0
    tree = replace(cell, role="tree", method=TREE[cell.method], coordinates="generalized")
    for this in (tree, cell):
        coarse = what(general_world(this, direction, device, 2.0 * H, **features))
        fine.append(what(general_world(this, direction, device, 0.25 * H, **features)))
        error += float(np.linalg.norm(coarse - fine[-1])) / 7.0
    apart = float(np.linalg.norm(fine[0] - fine[1]))
    if not apart <= 2.0 * error + ROUNDING:
        raise Mismatch(f"{name} {direction} ground: {apart:.3g} from the tree joint's, their errors {error:.3g}")


def check_reaction(cell: "Cell", direction: str, device: str) -> None:
    """The joint alone carries the body, force = m (a - g) of the step; its torque is the same in both roles."""
    kind = CATALOGUE[cell.type]
    world = general_world(cell, direction, device, H)
    force = world.joint("joint").reaction.force
    mean = world.runner.work.a_WB.numpy()[world.system.body_index["body"], 0]  # over the last step, as the reaction is
    needed = MASS * (mean - world.model.gravity)
    expect("reaction force", force if direction == "to" else -force, needed, ROUNDING / H)
    if cell.is_rows and kind.tree:
        expect_same(cell, direction, device, transmitted, "reaction")


def check_fixed(cell: "Cell", direction: str, device: str) -> None:
    """Does not move under any load."""
    model = Model("fixed")
    model.body("body", MASS, (0.2, 0.25, 0.3), position=ORIGIN + OFFSET)
    add_joint(model, CATALOGUE["fixed"], direction, cell.role)
    model.load("load", "body", force=(3.0, -4.0, 5.0), torque=(1.0, 2.0, -3.0))
    world = make_world(model, cell.method, cell.coordinates, H, device)
    world.step(100)
    expect("fixed: position", world.body("body").position, ORIGIN + OFFSET, ROUNDING)
    expect("fixed: velocity", world.body("body").velocity, 0.0, ROUNDING)
    expect("fixed: orientation", abs(world.body("body").orientation), (0, 0, 0, 1), ROUNDING)


def check_distance(cell: "Cell", direction: str, device: str) -> None:
    """The centre of mass goes round a circle at constant speed; a step of order 1 bows out by (w h)² / 2 and loses
    as much of the speed, w² h t / 2 in all."""
    rate, steps, radius = FASTEST, 100, 0.4
    arm = np.array([0.0, 0.0, radius])
    model = Model("distance", gravity=(0, 0, 0))
    model.body("body", MASS, (0.2, 0.25, 0.3), position=ORIGIN + arm, velocity=(radius * rate, 0, 0))
    add_joint(model, CATALOGUE["distance"], direction, cell.role)
    world = make_world(model, cell.method, cell.coordinates, H, device)
    world.step(steps)
    t, step = steps * H, H if TIGHT[cell.method, cell.coordinates].order == 1 else 0.0
    angle, lost = rate * t, rate**2 * step * t / 2
    where = ORIGIN + radius * np.array([np.sin(angle), 0.0, np.cos(angle)])
    speed = np.linalg.norm(world.body("body").velocity)
    off = radius * (angle * lost + (rate * step) ** 2) + ROUNDING
    expect("distance: place", world.body("body").position, where, off)
    expect("distance: speed", speed, radius * rate, radius * rate * lost + ROUNDING)
    expect("distance: constraint error", world.constraint_error(), 0.0, radius * (rate * step) ** 2 / 2 + ROUNDING)


# the matrix ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A joint type in a role with a feature, by a method in its coordinates."""

    type: str
    role: str
    method: str
    coordinates: str
    feature: str

    @property
    def name(self) -> str:
        return f"{self.type} {self.role} {self.method} {self.coordinates} {self.feature}"

    @property
    def is_rows(self) -> bool:
        """Whether the joint is made of rows: it closes a loop, or coordinates are maximal."""
        return self.role == "loop" or self.coordinates == "maximal"


def cells() -> list[Cell]:
    """Every cell of the matrix; in maximal coordinates every joint is rows, and a loop joint no cell of its own."""
    return [
        Cell(type, role, method, coordinates, feature)
        for type, role, (method, coordinates), feature in product(CATALOGUE, ROLES, TIGHT, FEATURES)
        if coordinates == "generalized" or role == "tree"
    ]


def is_refused(group: Group, feature: str, method: str, role: str) -> bool:
    """Whether the catalogue has no such feature, a ball cannot be told one angle, or the method no law for it."""
    if feature == "armature" and role == "loop":  # the tree's freedoms have it
        return True
    if feature in LAWLESS.get(method, ()) or (method == "variational" and group.is_ball and feature == "motor speed"):
        return True
    return group.is_ball and feature in ("motor position", "servo")


def check_cell(cell: Cell, device: str = "cpu") -> str:
    """ "works", or how it is refused; raises Mismatch where it neither works nor is refused by name."""
    kind = CATALOGUE[cell.type]
    if cell.feature == "reaction":
        for direction in DIRECTIONS:
            check_reaction(cell, direction, device)
        return "works"
    if not kind.groups and cell.feature == "joint":
        for direction in DIRECTIONS:
            {"fixed": check_fixed, "distance": check_distance}[cell.type](cell, direction, device)
        return "works"
    refusals = {}
    for group in kind.groups or (None,):
        if group is None or is_refused(group, cell.feature, cell.method, cell.role):
            refusals[group.name if group else "all"] = refusal(kind, cell, sample(cell.feature, group))
            continue
        for direction in DIRECTIONS:
            CHECKS[cell.feature](Bench(kind, cell.role, direction, group, device, cell.method, cell.coordinates))
            if cell.is_rows:
                features = sample(cell.feature, group)
                expect_same(cell, direction, device, motion, f"motion of {group.name}", **features)
    if not refusals:
        return "works"
    if len(refusals) == max(1, len(kind.groups)):
        return f"refused: {next(iter(refusals.values()))}"
    return f"works, {', '.join(refusals)} refused"


def refusal(kind: JointType, cell: Cell, features: dict[str, Any]) -> str:
    """The error of a model, or of its world, whose joint is given what it cannot have."""
    model = Model("refused")
    model.body("body", MASS, (0.2, 0.25, 0.3), position=ORIGIN + OFFSET)
    try:
        add_joint(model, kind, "to", cell.role, **features)
        make_world(model, cell.method, cell.coordinates, H, "cpu")
    except ModelError as error:
        if not str(error).startswith("joint 'joint'"):
            raise Mismatch(f"the refusal does not name the joint: {error}") from error
        return str(error).removeprefix("joint 'joint'").lstrip(": ")
    raise Mismatch(f"{kind.name} takes {features} and does nothing with it")


def matrix(device: str = "cpu") -> dict[Cell, str]:
    """What every cell does: "works", "refused: ..." or "FAILS: ..."."""
    found = {}
    for cell in cells():
        try:
            found[cell] = check_cell(cell, device)
        except (Mismatch, ModelError, StepError) as error:
            found[cell] = f"FAILS: {error}"
    return found


_last: dict[Cell, str] = {}


def count_failures(device: str = "cpu") -> float:
    """Cells that neither work nor are refused by name."""
    _last.clear()
    _last.update(matrix(device))
    return float(sum(text.startswith("FAILS") for text in _last.values()))


def print_matrix() -> None:
    """The last matrix measured as a table, with the reasons of refusals and failures below it."""
    found = _last or matrix()
    widths = [max(len(name), 10) for name in FEATURES]

    def line(type: str, role: str, method: str, coordinates: str, words: Iterable[str]) -> str:
        return f"{type:<16}{role:<6}{method:<8}{coordinates:<13}" + "  ".join(
            f"{w:<{n}}" for w, n in zip(words, widths, strict=True)
        )

    print(line("type", "role", "method", "coordinates", FEATURES))
    notes: dict[str, int] = {}
    for head in dict.fromkeys((cell.type, cell.role, cell.method, cell.coordinates) for cell in found):
        words = []
        for feature in FEATURES:
            text = found[Cell(*head, feature)]
            word = text.split(":")[0].split(",")[0]
            words.append(word if text == "works" else f"{word} {notes.setdefault(text, len(notes) + 1)}")
        print(line(*head, words))
    for text, note in notes.items():
        print(f"{note:>3}  {text}")


CASES: list[Case] = [
    Case(
        "joint-matrix",
        "every joint type in every role, by every method, works with every feature or refuses it by name",
        0.0,
        "cells that fail",
        count_failures,
        slow=True,
        show=print_matrix,
    )
]
