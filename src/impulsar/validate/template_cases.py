"""Templates: mechanisms of the catalogue against their closed forms, by every method that controls its error.

The closed forms are of positions, which joints and motors prescribe: methods that project miss them by rounding, not by
the order of their step. Forces are those at the end of a step of `direct`.
"""

import math
from collections.abc import Callable

import numpy as np

from ..author.model import Model
from ..author.profiles import Smooth
from ..author.rotations import rotation_matrix
from ..scenes import five_bar, gear_train, scissor, six_bar, stewart_platform, suspension_corner, walker
from ..scenes import jansen_leg as jansen
from ..world.world import World
from .case import Case
from .variants import EXACT, controlled

STATIONS = 6  # of a run


def _worst(model: Model, device: str, off: Callable[[World], float]) -> float:
    """The largest deviation at equal times of the scene's duration, the worst method [as `off` is]."""
    steps = round(model.duration / model.dt / STATIONS)  # type: ignore[operator]
    worst = 0.0
    for _, method, coordinates in controlled(**EXACT):
        world = World(model, method, coordinates, device=device)
        for _ in range(STATIONS):
            world.step(steps)
            worst = max(worst, off(world))
    return worst


def six_bar_ram(device: str) -> float:
    """The ram's place over the crank's angle, against the closed form of the slotted lever [m]."""
    model = six_bar.build()
    start = six_bar.ram(0.0)[0]

    def off(world: World) -> float:
        angle = world.joint("shaft").position
        return abs(start + world.joint("guide").position - six_bar.ram(angle)[0])

    return _worst(model, device, off)


def six_bar_return(device: str) -> float:
    """Forth takes twice the crank's turn of back, h = 2 r: how far the turning points are from it [rad].

    The ram turns back where the lever does, sin θ = -r / h, at 210° and 330° of the crank; its speed is zero there.
    """
    worst = 0.0
    for angle in (7 * math.pi / 6, 11 * math.pi / 6):
        model = six_bar.build(speed=1.0)
        world = World(model, dt=angle / 200, device=device)
        world.step(200)
        worst = max(worst, abs(world.joint("guide").velocity / six_bar.LEVER))
    return worst


def five_bar_tip(device: str) -> float:
    """The tip over the arms' angles, against the intersection of the forearms' circles [m]."""

    def off(world: World) -> float:
        left, right = (math.pi / 2 + world.joint(f"{side} motor").position for side in ("left", "right"))
        ahead = math.pi / 2 + 0.35 * math.sin(2.0 * world.time), math.pi / 2 + 0.35 * math.sin(4.0 * world.time)
        found = world.point("left forearm", (0, 0, five_bar.ARM / 2))[:2]
        asked = max(abs(left - ahead[0]), abs(right - ahead[1])) * five_bar.ARM
        return max(float(np.linalg.norm(found - five_bar.tip(left, right))), asked)

    return _worst(five_bar.build(), device, off)


def scissor_height(device: str) -> float:
    """The plate's height over the foot's place, z = n √(l² - x²) [m]."""

    def off(world: World) -> float:
        x = scissor.REACH + world.joint("screw").position
        return abs(world.body("plate").position[2] - 3 * math.sqrt(scissor.LENGTH**2 - x**2))

    return _worst(scissor.build(), device, off)


def scissor_force(device: str) -> float:
    """The screw's force at rest over g (n M + n² m) cot α, less 1, for one to four stages."""
    worst = 0.0
    for n in (1, 2, 3, 4):
        world = World(scissor.build(stages=n, stroke=0.0), device=device)
        world.step(5)
        exact = scissor.G * (n * scissor.PLATE + n**2 * scissor.LINK) / math.tan(scissor.START)
        worst = max(worst, abs(-world.joint("screw").motor_torque / exact - 1))
    return worst


def jansen_foot(device: str) -> float:
    """The foot's path over the crank's angle, against vector loops solved by Newton's method [m]."""
    loops = _Loops()

    def off(world: World) -> float:
        angle = world.joint("O crank").position
        found = world.model.probes["toe"]
        p = world.point("foot", found.p_BQ)
        return float(np.linalg.norm(p[[0, 2]] - walker.UNIT * loops.foot(angle)))

    return _worst(jansen.build(), device, off)


class _Loops:
    """Jansen's leg as three vector loops in complex numbers; unknown are the angles of eight of its sides.

    With a side's end at length · e^{iθ}: crank + j = P + b,  crank + k = P + c,  P + d + f = P + c + g; the triangles
    add the angle between b and d, and between g and i, by the law of cosines.
    """

    lengths = (walker.J, walker.B, walker.K, walker.C, walker.F, walker.GG)

    def __init__(self) -> None:
        w = walker
        self.bd = _angle(w.B, w.D, w.E)  # at P, from b to d
        self.gi = _angle(w.GG, w.I, w.H)  # at Y, from g to i
        points = w.plan(0.0)
        sides = (("Z", "X"), ("P", "X"), ("Z", "Y"), ("P", "Y"), ("W", "V"), ("Y", "V"))
        self.angles = np.array([np.angle(complex(*(points[b] - points[a]))) for a, b in sides])
        self.crank = 0.0

    def foot(self, crank: float) -> np.ndarray:
        """At an angle of the crank, reached in small turns from the last one, in units of the plan."""
        turns = np.linspace(self.crank, crank, 2 + int(abs(crank - self.crank) / 0.05))[1:]
        for turn in turns:
            for _ in range(20):
                off, slope = self._close(turn)
                change = np.linalg.solve(slope, -off)
                self.angles = self.angles + change
                if np.abs(change).max() < 1e-14:
                    break
        self.crank = crank
        w, (_, _, _, c, _, g) = walker, self.angles
        F = complex(-w.A, -w.L) + w.C * np.exp(1j * c) + w.I * np.exp(1j * (g + self.gi))
        return np.array([F.real, F.imag])

    def _close(self, crank: float) -> tuple[np.ndarray, np.ndarray]:
        """What the three loops are open by, and how that changes with the angles."""
        w, (j, b, k, c, f, g) = walker, self.lengths
        e = np.exp(1j * self.angles)
        Z, P, d = w.M * np.exp(1j * crank), complex(-w.A, -w.L), w.D * e[1] * np.exp(1j * self.bd)
        off = (Z + j * e[0] - P - b * e[1], Z + k * e[2] - P - c * e[3], d + f * e[4] - c * e[3] - g * e[5])
        slope = np.zeros((3, 6), complex)
        slope[0, [0, 1]] = 1j * j * e[0], -1j * b * e[1]
        slope[1, [2, 3]] = 1j * k * e[2], -1j * c * e[3]
        slope[2, [1, 3, 4, 5]] = 1j * d, -1j * c * e[3], 1j * f * e[4], -1j * g * e[5]
        real = np.array([part for z in off for part in (z.real, z.imag)])
        return real, np.vstack([row for z in slope for row in (z.real, z.imag)])


def _angle(a: float, b: float, across: float) -> float:
    """Between two sides of a triangle, by the law of cosines."""
    return math.acos((a * a + b * b - across * across) / (2 * a * b))


def gear_speeds(device: str) -> float:
    """Angles of the shafts and way of the rack over the motor's, by the numbers of teeth, less 1."""
    model = gear_train.build(z1=17, z2=43, z3=19, z4=31)
    first, second = 17 / 43, 19 / 31
    exact = {"lay": -first, "output": first * second, "slide": gear_train.PITCH * first * second}

    def off(world: World) -> float:
        turned = world.joint("input").position
        return max(abs(world.joint(name).position / turned / ratio - 1) for name, ratio in exact.items())

    return _worst(model, device, off)


def gear_torque(device: str) -> float:
    """The motor's torque while it speeds up and after, over that of inertias reduced to its shaft and the weight."""
    model = gear_train.build()
    first, second, r = 18 / 36, 15 / 45, gear_train.PITCH
    bodies = model.bodies
    I1, I23, I45 = (bodies[f"{name} shaft"].inertia[2, 2] for name in ("input", "lay", "output"))
    i = 1 / (first * second)
    reduced = I1 + I23 * first**2 + (I45 + gear_train.WEIGHT * r**2) / i**2
    hold = gear_train.WEIGHT * gear_train.G * r / i
    speed_up = Smooth(0.0, 12.0, 0.0, gear_train.START)
    worst = 0.0
    for coordinates in ("generalized", "maximal"):
        world = World(model, coordinates=coordinates, device=device)
        for _ in range(12):
            world.step(20)
            exact = reduced * float(speed_up.rate(world.time)) + hold
            worst = max(worst, abs(world.joint("input").motor_torque / exact - 1))
    return worst


def stewart_legs(device: str) -> float:
    """Lengths of the legs from the plate's pose, against those that the motors ask for [m]: the worst motion."""
    feet, heads = stewart_platform.feet(), stewart_platform.heads()
    start = np.linalg.norm(heads + np.array([0.0, 0.0, stewart_platform.HEIGHT]) - feet, axis=1)

    def off(world: World) -> float:
        plate = world.body("plate")
        lengths = np.linalg.norm(plate.position + heads @ rotation_matrix(plate.orientation).T - feet, axis=1)
        motors = [world.model.joints[f"leg{k + 1}"].features["slide"].motor for k in range(6)]
        asked = [motor.position(world.time) for motor in motors]  # type: ignore[union-attr,operator,misc]
        return float(np.abs(lengths - start - asked).max())

    return max(_worst(stewart_platform.build(motion), device, off) for motion in stewart_platform.MOTIONS)


# the corner -------------------------------------------------------------------------------------------


def corner(travel: float) -> tuple[np.ndarray, np.ndarray]:
    """Wheel centre [m] and wheel axis of the corner whose wheel has risen by so much, by lengths alone.

    Six equations for the knuckle's pose: its ball joints keep their distances from the two inner points of their arms,
    the tie rod its length, and the wheel centre is at its height.
    """
    at = {name: np.array(point) for name, point in suspension_corner.POINTS.items()}
    hub = at["wheel"]
    held = [(f"{arm} ball", f"{arm} {end}") for arm in ("lower", "upper") for end in ("fore", "aft")]
    held.append(("rod outer", "rod inner"))

    def place(x: np.ndarray, point: np.ndarray) -> np.ndarray:
        return hub + x[:3] + _turned(x[3:], point - hub)

    def off(x: np.ndarray) -> np.ndarray:
        gaps = [
            np.linalg.norm(place(x, at[a]) - at[b]) - np.linalg.norm(at[a] - at[b]) for a, b in held
        ]  # fmt: skip
        return np.array([*gaps, x[2] - travel])

    x = np.array([0.0, 0.0, travel, 0.0, 0.0, 0.0])
    for _ in range(30):
        slope = np.array([(off(x + 1e-6 * unit) - off(x - 1e-6 * unit)) / 2e-6 for unit in np.eye(6)]).T
        change = np.linalg.solve(slope, -off(x))
        x = x + change
        if np.abs(change).max() < 1e-15:
            break
    return hub + x[:3], _turned(x[3:], np.array([0.0, 1.0, 0.0]))


def _turned(r: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A vector turned by a rotation vector (Rodrigues)."""
    angle = float(np.linalg.norm(r))
    if angle == 0.0:
        return v
    k = r / angle
    return v * math.cos(angle) + np.cross(k, v) * math.sin(angle) + k * (k @ v) * (1 - math.cos(angle))


def camber(axis: np.ndarray) -> float:
    """Of a left wheel by its axis to the left [rad]: negative where its top leans inwards."""
    return math.asin(-axis[2])


def corner_wheel(device: str) -> float:
    """Half-track, camber and toe over the wheel's travel of ± 0.1 m, against lengths alone [m and rad]."""

    def off(world: World) -> float:
        wheel, knuckle = world.body("wheel"), world.body("knuckle")
        start = rotation_matrix(world.model.bodies["knuckle"].orientation)
        turned = rotation_matrix(knuckle.orientation) @ start.T @ (0.0, 1.0, 0.0)
        hub, axis = corner(float(wheel.position[2]) - suspension_corner.POINTS["wheel"][2])
        return float(max(np.abs(wheel.position - hub).max(), np.abs(turned - axis).max()))

    return _worst(suspension_corner.build("travel", bump=0.1), device, off)


CLOSED = 1e-9  # what methods leave open of loops at tolerances of 1e-10, times a mechanism's ratios
CASES = [
    Case("six-bar-ram", "six-bar: the ram's place is the closed form's", CLOSED, "m", six_bar_ram),
    Case(
        "six-bar-return", "six-bar: forth takes 240° of the crank, back 120°", 1e-6, "rad/s", six_bar_return
    ),
    Case("five-bar-tip", "five-bar: the tip is where the forearms' circles meet", CLOSED, "m", five_bar_tip),
    Case("scissor-height", "scissor: z = n √(l² - x²)", CLOSED, "m", scissor_height),
    Case("scissor-force", "scissor: the screw carries g (n M + n² m) cot α at rest", 1e-9, "1", scissor_force),
    Case("jansen-foot", "jansen-leg: the foot is where the vector loops have it", CLOSED, "m", jansen_foot),
    Case("gear-ratio", "gear-train: angles are as the numbers of teeth", CLOSED, "1", gear_speeds),
    Case("gear-torque", "gear-train: τ = I ω̇ + m g ρ / i, reduced to the motor", 1e-6, "1", gear_torque),
    Case("stewart-legs", "stewart-platform: |p + R b - a| is what each motor asks for", CLOSED, "m", stewart_legs),
    Case("corner-wheel", "suspension-corner: track, camber and toe by lengths alone", CLOSED, "m, rad", corner_wheel),
]  # fmt: skip
