"""Mechanisms that are hard on a rank decision: loops that move although equations say they cannot, and loops
that pass through positions where equations become dependent.

Bennett 1903, Goldberg 1943, Bricard 1897 and Sarrus 1853 linkages are rings of hinges, given by Denavit and
Hartenberg's numbers: along hinge i the next link starts, its length a and twist α take the axis to hinge i + 1.

    T_i = Rot_z(θ_i) Trans_x(a_i) Rot_x(α_i)      T_1 T_2 ... T_n = 1

They are closed here by Newton in the angles; the dimensions are stated at each.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..author.errors import ModelError
from ..author.joints import CATALOGUE
from ..author.model import Model
from ..author.parts import Body, Motor
from ..author.rotations import frame_from_axes, multiply
from ..author.shapes import Box
from ..scenes import scene
from ..scenes.four_bar import build as build_four_bar
from ..scenes.slider_crank import build as build_slider_crank
from .oracle import Oracle

MASS_PER_LENGTH = 2.0  # [kg/m]
THICK, WIDE = 0.02, 0.03  # of a bar [m]


def transform(angle: float, length: float, twist: float) -> np.ndarray:
    """T of one hinge and the link after it, 4 × 4."""
    c, s, ct, st = math.cos(angle), math.sin(angle), math.cos(twist), math.sin(twist)
    return np.array(
        [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0.0, st, ct, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )


def closing_angles(links: Sequence[tuple[float, float]], guess: Sequence[float]) -> np.ndarray:
    """Angles near a guess that close a ring of (length, twist), the first one held."""
    angles = np.array(guess, float)
    size = sum(length for length, _ in links)

    def error(angles: np.ndarray) -> np.ndarray:
        T = np.eye(4)
        for angle, link in zip(angles, links, strict=True):
            T = T @ transform(angle, *link)
        return np.concatenate([T[:3, 3] / size, np.ravel(T[:3, :3] - np.eye(3))])

    for _ in range(50):
        off = error(angles)
        slope = np.array(
            [(error(angles + 1e-6 * unit) - error(angles - 1e-6 * unit)) / 2e-6 for unit in np.eye(len(angles))[1:]]
        ).T
        change = np.linalg.lstsq(slope, -off, rcond=1e-7)[0]
        angles[1:] += change
        if np.abs(change).max() < 1e-15:
            break
    if np.abs(error(angles)).max() > 1e-14:
        raise ModelError(f"ring of {len(links)} hinges: does not close near {list(guess)}")
    return angles


def bar(model: Model, name: str, a: np.ndarray, b: np.ndarray, side: np.ndarray) -> Body:
    """A bar of 2 × 3 cm from a to b, 2 kg/m, its x towards `side`: no two of its moments of inertia are equal."""
    length = float(np.linalg.norm(b - a))
    mass = MASS_PER_LENGTH * length
    shape = Box((WIDE, THICK, length))
    side = side - (b - a) * (side @ (b - a)) / length**2
    return model.body(
        name, mass=mass, position=(a + b) / 2.0, orientation=frame_from_axes(name, b - a, side), shape=shape
    )


def ring(name: str, points: Sequence[np.ndarray], axes: Sequence[np.ndarray], motor: Motor | None) -> Model:
    """Hinges 1 ... n at points along axes, a bar from each to the next; the last link is the ground.

    Hinge n joins the last bar to the ground and is the one where the loop is closed; the motor sits on hinge 1.
    """
    model = Model(name, gravity=(1.2, -0.7, -9.7))  # along no axis of any of them
    n, before = len(points), model.ground
    for k in range(n):
        after = model.ground
        if k < n - 1:
            after = bar(model, f"bar{k + 1}", points[k], points[k + 1], axes[k])
        model.joint(f"hinge{k + 1}", "revolute", before, after, at=points[k], axis=axes[k], motor=motor)
        before, motor = after, None
    model.dt, model.duration = 0.01, 5.0
    return model


def ring_of(
    name: str, links: Sequence[tuple[float, float]], guess: Sequence[float], motor: Motor | None = None
) -> Model:
    """A ring by its (length, twist), the last link the ground."""
    angles = closing_angles(links, guess)
    T = np.eye(4)
    points, axes = [], []
    for angle, link in zip(angles, links, strict=True):
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        T = T @ transform(angle, *link)
    return ring(name, points, axes, motor)


def bennett(motor: Motor | None = None) -> Model:
    """Bennett's linkage: sides 0.30 and 0.42426 m, twists 30° and 45°, a / sin α = b / sin β = 0.6 m."""
    a, b, alpha, beta = 0.3, 0.6 * math.sin(math.radians(45)), math.radians(30), math.radians(45)
    first = 1.0
    second = 2 * math.atan(math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2) / math.tan(first / 2))
    links = [(a, alpha), (b, beta), (a, alpha), (b, beta)]
    return ring_of("Bennett linkage", links, (first, second, -first, -second), motor)


def goldberg(motor: Motor | None = None) -> Model:
    """Goldberg's five-bar of two Bennett linkages that share a side, r = 0.6 m: twists 30°, 65°, 30°, 20°, 45°.

    Sides are r sin of the twists, but the second, where the two linkages are welded together, is the sum
    0.6 (sin 45° + sin 20°) m.
    """
    a, b, c = ((0.6 * math.sin(math.radians(deg)), math.radians(deg)) for deg in (30.0, 45.0, 20.0))
    welded = (b[0] + c[0], b[1] + c[1])
    return ring_of("Goldberg five-bar", [a, welded, a, c, b], (1.0, 2.9084, -2.4197, 2.1416, 2.6529), motor)


def bricard(motor: Motor | None = None) -> Model:
    """Bricard's line-symmetric linkage: sides 0.16, 0.32, 0.10 m with twists 95°, 145°, 125°, twice around."""
    half = [(0.16, math.radians(95.0)), (0.32, math.radians(145.0)), (0.10, math.radians(125.0))]
    return ring_of("Bricard linkage", half + half, (1.0, -2.0773, 1.4762) * 2, motor)


def sarrus(motor: Motor | None = None) -> Model:
    """Sarrus' linkage: a platform on two pairs of bars in planes at right angles goes straight up and down.

    Crank 0.10 and rod 0.25 m about y, the platform's hinge 0.02 m beside the crank's, so that the crank turns
    right round; two bars of 0.20 m about x.
    """
    crank = np.array([0.12, 0.0, 0.0])
    elbow = crank + 0.10 * np.array([math.sin(0.6), 0.0, math.cos(0.6)])
    height = elbow[2] + math.sqrt(0.25**2 - (elbow[0] - 0.10) ** 2)
    knee = np.array([0.0, 0.10 + math.sqrt(0.20**2 - (height / 2) ** 2), height / 2])
    points = [crank, elbow, np.array([0.10, 0.0, height]), np.array([0.0, 0.10, height]), knee]
    points.append(np.array([0.0, 0.10, 0.0]))
    axes = [np.array([0.0, 1.0, 0.0])] * 3 + [np.array([1.0, 0.0, 0.0])] * 3
    return ring("Sarrus linkage", points, axes, motor)


LINKAGES = {"bennett": bennett, "bricard": bricard, "sarrus": sarrus, "goldberg": goldberg}


def set_rate(model: Model, joint: str, rate: float) -> Model:
    """Give a mechanism of one freedom the velocities of a joint's rate [rad/s, m/s]."""
    oracle = Oracle(model)
    twist = rate * oracle.unit_twist(joint, oracle.start).reshape(-1, 2, 3)
    for name, (velocity, spin) in zip(oracle.names, twist, strict=True):
        model.bodies[name].velocity, model.bodies[name].angular_velocity = velocity, spin
    return model


def driven(name: str, rate: float) -> Model:
    """A linkage whose first hinge is turned at a rate [rad/s], in motion from the start."""
    return set_rate(LINKAGES[name](Motor(speed=rate)), "hinge1", rate)


class Parallelogram:
    """A random parallelogram in the plane x, y and its closed form: the coupler only shifts, so that

    I φ̈ = torque - K cos(φ + ψ),    φ of the cranks from x;    flat where φ is the angle of the ground's line
    """

    def __init__(self, seed: int, is_driven: bool):
        rng = np.random.default_rng(seed)
        self.crank, self.base = rng.uniform(0.2, 1.0, 2)  # lengths [m]
        self.line = float(rng.uniform(-math.pi, math.pi))  # of the ground's pivots [rad]
        self.angle = self.line + float(rng.uniform(0.4, 2.7)) * rng.choice((-1.0, 1.0))  # of the cranks [rad]
        self.rate = float(rng.uniform(3.0, 8.0)) * rng.choice((-1.0, 1.0))  # [rad/s]
        self.model = model = Model(f"parallelogram {seed}", gravity=(0.0, -9.81, 0.0))
        along, reach = self.base * _direction(self.line), self.crank * _direction(self.angle)
        spin = np.array([0.0, 0.0, self.rate])
        self.inertia, moment = 0.0, np.zeros(2)  # [kg m²]; Σ mass · centre, in axes of the crank [kg m]
        bodies = []
        for name, foot in (("left", np.zeros(3)), ("right", along)):
            mass, share, side = rng.uniform(0.2, 3.0), rng.uniform(0.2, 0.8), rng.uniform(-0.1, 0.1)
            about = mass * self.crank**2 * rng.uniform(0.05, 0.2)
            arm = self.crank * (share * _direction(self.angle) + side * _direction(self.angle + math.pi / 2))
            bodies.append(self._body(name, mass, about, foot + arm, np.cross(spin, arm), spin))
            self.inertia += about + mass * arm @ arm
            moment += mass * self.crank * np.array([share, side])
        mass = rng.uniform(0.2, 3.0)
        place = reach + rng.uniform(0.2, 0.8) * along + rng.uniform(-0.1, 0.1) * np.array([-along[1], along[0], 0.0])
        coupler = self._body("coupler", mass, mass * self.base**2 / 12, place, np.cross(spin, reach), np.zeros(3))
        self.inertia += mass * self.crank**2
        moment += mass * self.crank * np.array([1.0, 0.0])
        self.torque_scale = 9.81 * float(np.hypot(*moment))  # K [N m]
        self.phase = math.atan2(moment[1], moment[0])  # ψ [rad]
        motor = Motor(speed=self.rate) if is_driven else None
        for name, first, second, at in (
            ("A", model.ground, bodies[0], np.zeros(3)),
            ("B", bodies[0], coupler, reach),
            ("C", coupler, bodies[1], along + reach),
            ("D", model.ground, bodies[1], along),
        ):
            model.joint(name, "revolute", first, second, at=at, axis=(0, 0, 1), motor=motor if name == "A" else None)

    def _body(self, name: str, mass: float, about: float, at: np.ndarray, velocity: np.ndarray, spin: np.ndarray):
        inertia = (about / 2, about / 2, about)
        return self.model.body(name, mass=mass, inertia=inertia, position=at, velocity=velocity, angular_velocity=spin)

    @property
    def energy_scale(self) -> float:
        """Kinetic at the start and potential from bottom to top [J]."""
        return 0.5 * self.inertia * self.rate**2 + 2.0 * self.torque_scale

    def motor_torque(self, turned: float) -> float:
        """That holds the rate when the cranks have turned by so much [N m]."""
        return self.torque_scale * math.cos(self.angle + turned + self.phase)

    def flatness(self, turned: float) -> float:
        """|sin| of the angle between cranks and ground: 0 where it is flat."""
        return abs(math.sin(self.angle + turned - self.line))


def _direction(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle), 0.0])


def tilt(model: Model, epsilon: float, seed: int = 0) -> Model:
    """A copy whose joints' frames are turned at random by ε [rad] across their axes, both frames of a joint alike.

    So the joints still meet at the authored pose, each loop is off by about ε once it moves. The first of the
    frames' z is the axis of a hinge or slide; at ε = 0 the copy is the model to the bit.
    """
    rng = np.random.default_rng(seed)
    tilted = model.copy(parts=True)
    for joint in tilted.joints.values():
        heading = rng.uniform(-math.pi, math.pi)
        if epsilon and CATALOGUE[joint.type].groups:
            turn = np.append(math.sin(epsilon / 2) * np.array([math.cos(heading), math.sin(heading), 0.0]), 1.0)
            turn[3] = math.cos(epsilon / 2)
            joint.q_PF, joint.q_CM = multiply(joint.q_PF, turn), multiply(joint.q_CM, turn)
    return tilted


def gripper_on_rails() -> Model:
    """The manipulator's gripper whose fingers run on two rails each, 3 cm apart: five equations too many a finger."""
    model = scene("manipulator")
    for side, sign in (("left", 1.0), ("right", -1.0)):
        at = (0.54, 0.05 * sign, 0.63)
        model.joint(f"{side} rail", "prismatic", "palm", f"{side} finger", at=at, axis=(0, -sign, 0))
    return model


TILTED = {
    "four-bar": lambda: scene("four-bar"),
    "peaucellier": lambda: scene("peaucellier", motor=False),
    "n-four-bar": lambda: scene("n-four-bar"),
    "cross-lift": lambda: scene("cross-lift"),
    "manipulator": lambda: scene("manipulator"),
    "gripper on rails": gripper_on_rails,
}


def size_of(model: Model) -> float:
    """Extent of a mechanism: the diagonal of the box around its joints [m]."""
    bodies = {"ground": model.ground, **model.bodies}
    points = np.array([bodies[joint.first].world_point(joint.p_PF) for joint in model.joints.values()])
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def scaled(build: str, scale: float) -> Model:
    """The four-bar or slider-crank, `scale` times as long, wide and thick, gravity too: the same angles in time."""
    model = build_four_bar() if build == "four-bar" else build_slider_crank()
    model.gravity = scale * model.gravity
    for body in model.bodies.values():
        body.position, body.velocity = scale * body.position, scale * body.velocity
        body.mass, body.inertia, body.shapes = scale**3 * body.mass, scale**5 * body.inertia, []
    for joint in model.joints.values():
        joint.p_PF, joint.p_CM = scale * joint.p_PF, scale * joint.p_CM
    for probe in model.probes.values():
        probe.p_BQ = scale * probe.p_BQ
    return model
