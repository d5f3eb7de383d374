"""minibaja: a small off-road car (Wang 2011, Figs. 5 to 7), which gives no numbers; those here are ours.

Sizes of a Baja SAE car: mass with driver, axle loads, springs and motion ratios of published design sheets; hard
points, unsprung masses and tyre are choices that close and move. Origin on the road under the front axle, x forward,
y left, z up [m]. Double wishbones all round, each a loop: arms on hinges, ball joints outside, a tie rod from the rack
in front, a toe link behind. Coil springs on the lower arms. Tyres by the Magic Formula, scaled to 650 N.

The open differential is two couplings: the side gear turns as the left wheel does, the final drive turns on it as the
right wheel does, so that it turns by ω_L + ω_R = 2 ω_d against the chassis, and its torque T goes to both alike.
"""

import math
from collections.abc import Mapping

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Ramp, Smooth
from ..author.rotations import rotation_matrix
from ..author.shapes import Box, Cylinder, HeightField, Plane
from .parts import above, rod
from .suspension_corner import POINTS as FRONT
from .walker import bars

REAR = {
    "lower fore": (-1.600, 0.170, 0.300),
    "lower aft": (-1.850, 0.170, 0.300),
    "lower ball": (-1.778, 0.560, 0.205),
    "upper fore": (-1.620, 0.200, 0.430),
    "upper aft": (-1.830, 0.200, 0.430),
    "upper ball": (-1.778, 0.540, 0.365),
    "wheel": (-1.778, 0.635, 0.283),
    "rod inner": (-1.900, 0.176, 0.336),
    "rod outer": (-1.900, 0.550, 0.250),
    "spring low": (-1.778, 0.450, 0.232),
    "spring high": (-1.778, 0.280, 0.680),
}
AXLES: dict[str, Mapping[str, tuple[float, float, float]]] = {"f": FRONT, "r": REAR}
CORNERS = ("fl", "fr", "rl", "rr")
MASS, BEHIND, HEIGHT, WHEELBASE = 265.8, 0.8315, 0.635, 1.778  # of all; centre behind the front axle, its height
INERTIA = (55.0, 160.0, 175.0)  # of all about its centre [kg m²]
WHEEL, KNUCKLE, ARM, TIE, RACK, GEAR = 12.0, 3.0, 1.5, 0.5, 1.0, 0.5  # [kg]
STIFFNESS, DAMPING = {"f": 17500.0, "r": 21000.0}, {"f": 1380.0, "r": 1170.0}  # of the springs [N/m], [N s/m]
RADIUS, WIDTH, TYRE, TYRE_DAMPING, LOAD = 0.292, 0.2, 80e3, 500.0, 650.0  # 23x8-10 [m], [N/m], [N s/m], [N]
G = 9.81
DRIVES, ROADS = ("torque", "stimulus", "coast"), ("flat", "curb", "waves")
LONG, ACROSS = (1, 0, 0), (0, 1, 0)
FRAME = (  # boxes of the chassis as it is drawn: sizes and places [m]
    ((2.2, 0.30, 0.04), (-0.9, 0, 0.30)),
    ((0.42, 0.42, 0.16), (0, 0, 0.37)),
    ((0.5, 0.4, 0.16), (-1.75, 0, 0.37)),
    ((0.06, 0.62, 0.04), (0, 0, 0.65)),
    ((0.06, 0.6, 0.04), (-1.778, 0, 0.69)),
    ((0.45, 0.45, 0.45), (-0.95, 0, 0.55)),
    ((0.04, 0.04, 0.40), (0, 0, 0.48)),
    ((0.04, 0.04, 0.40), (-1.778, 0, 0.50)),
)


def build(
    speed: float = 5.0,
    drive: str = "torque",
    torque: float = 20.0,
    steer: float = 0.0,
    brake: float = 0.0,
    slope: float = 0.0,
    road: str = "flat",
    stiff: float = 1.0,
    rods: bool = False,
) -> Model:
    """A Mini Baja: double wishbones all round, steering, an open differential, on tyres.

    speed [m/s] at the start; drive: "torque" on the final drive [N m], on each rear wheel as much; "stimulus", the
    left front wheel is turned, in 2 s half as fast again as at the start; "coast". steer: the rack's shift [m], reached
    between 0.5 and 1 s. brake: torque of each wheel's brake [N m]; slope of the road [deg], up ahead; road: "flat",
    "curb", a step of 0.1 m 4 m ahead, "waves"; stiff: times the springs. rods: links as bodies, not lengths alone.
    """
    _check(drive, road, stiff, brake)
    model = Model("minibaja", gravity=(-G * math.sin(math.radians(slope)), 0.0, -G * math.cos(math.radians(slope))))
    _add_road(model, road)
    for corner in CORNERS:
        _add_bodies(model, corner, speed, rods)
    model.body("rack", mass=RACK, position=(-0.075, 0, 0.331), inertia=(0.02, 0.001, 0.02), velocity=(speed, 0, 0),
               shape=Box((0.03, 0.31, 0.03)))  # fmt: skip
    gears = ((0.0, 2.0 * speed / RADIUS), (0.1, speed / RADIUS))
    for name, (y, turns) in zip(("final drive", "side gear"), gears, strict=True):
        model.body(name, mass=GEAR, position=(-1.778, y, 0.35), inertia=(2e-3, 2e-3, 2e-3), velocity=(speed, 0, 0),
                   angular_velocity=(0, turns, 0), shape=Box((0.06, 0.04, 0.06)))  # fmt: skip
    _add_chassis(model, speed)
    for corner in CORNERS:
        _add_corner(model, corner, stiff, brake, rods)
    shift = Motor(position=Smooth(0.0, steer, 0.5, 1.0))
    model.joint("steering", "prismatic", "chassis", "rack", at=(-0.075, 0, 0.331), axis=ACROSS, motor=shift)
    _add_drive(model, drive, torque, speed)
    model.probe("driver", "chassis", at=(-BEHIND, 0, HEIGHT))
    model.dt, model.duration, model.reference_energy = 0.01, 10.0, MASS * G * 0.1
    return model


def _check(drive: str, road: str, stiff: float, brake: float) -> None:
    for what, value, known in (("drive", drive, DRIVES), ("road", road, ROADS)):
        if value not in known:
            raise ModelError(f"scene 'minibaja': {what} is {value!r}, expected one of: {', '.join(known)}")
    above("minibaja", stiff=stiff)
    above("minibaja", -1e-300, brake=brake)


def point(corner: str, name: str) -> np.ndarray:
    """A hard point of a corner, right ones mirrored [m]."""
    x, y, z = AXLES[corner[0]][name]
    return np.array([x, y if corner[1] == "l" else -y, z])


def wheel_load(corner: str) -> float:
    """Load of a wheel at rest on a level road [N]."""
    share = (WHEELBASE - BEHIND) / WHEELBASE if corner[0] == "f" else BEHIND / WHEELBASE
    return MASS * G * share / 2


def _add_road(model: Model, road: str) -> None:
    """A plane, and a curb on it, or waves instead."""
    if road == "waves":
        x = np.linspace(-10.0, 110.0, 601)
        heights = np.where(x > 3.0, 0.03 * (np.cos(2 * math.pi * (x - 3.0) / 1.5) - 1.0), 0.0)
        model.obstacle("road", HeightField(np.repeat(heights[:, None], 2, axis=1), size=(120.0, 20.0)), (50.0, 0, 0))
        return
    model.obstacle("road", Plane())
    if road == "curb":
        model.obstacle("curb", Box((40.0, 20.0, 0.1)), position=(24.0, 0, 0.05))


def _add_bodies(model: Model, corner: str, speed: float, rods: bool) -> None:
    """Arms, knuckle, wheel, and the link of a corner if it is a body."""
    at = {name: point(corner, name) for name in AXLES[corner[0]]}
    made = []
    for arm in ("lower", "upper"):
        fore, aft, ball = (at[f"{arm} {end}"] for end in ("fore", "aft", "ball"))
        made.append(bars(model, f"{arm} arm {corner}", [(fore, ball), (aft, ball), (fore, aft)], mass=ARM))
    middle = (at["lower ball"] + at["upper ball"]) / 2
    made.append(bars(model, f"knuckle {corner}", [(at["lower ball"], at["upper ball"]),
                     (at["lower ball"], at["rod outer"]), (middle, at["wheel"])], mass=KNUCKLE))  # fmt: skip
    if rods:
        made.append(rod(model, f"link {corner}", at["rod inner"], at["rod outer"], TIE, radius=0.008))
    tilt = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # the cylinder's z to -y
    rim = Cylinder(0.5 * RADIUS, 1.02 * WIDTH)
    made.append(model.body(f"wheel {corner}", mass=WHEEL, inertia=(0.22, 0.22, 0.36), position=at["wheel"],
                           orientation=tilt, angular_velocity=(0, speed / RADIUS, 0),
                           shape=[Cylinder(RADIUS, WIDTH), rim]))  # fmt: skip
    for body in made:
        body.velocity = np.array([speed, 0.0, 0.0])


def _add_chassis(model: Model, speed: float) -> None:
    """What is left of the whole car's mass, centre and inertia."""
    whole = np.array([-BEHIND, 0.0, HEIGHT])
    others = list(model.bodies.values())
    mass = MASS - sum(body.mass for body in others)
    centre = (MASS * whole - sum(body.mass * body.position for body in others)) / mass
    inertia = np.diag(INERTIA)
    for body in others:
        turned = rotation_matrix(body.orientation)
        inertia = inertia - _about(turned @ body.inertia @ turned.T, body.mass, body.position - whole)
    inertia = inertia - _about(np.zeros((3, 3)), mass, centre - whole)
    shape = [Box(size, offset=np.array(at) - centre) for size, at in FRAME]
    model.body("chassis", mass=mass, inertia=(inertia + inertia.T) / 2, position=centre, velocity=(speed, 0, 0),
               shape=shape)  # fmt: skip


def _about(inertia: np.ndarray, mass: float, off: np.ndarray) -> np.ndarray:
    """An inertia about a point so far from the centre of mass."""
    return inertia + mass * (float(off @ off) * np.eye(3) - np.outer(off, off))


def _add_corner(model: Model, corner: str, stiff: float, brake: float, rods: bool) -> None:
    """Joints, spring and tyre of a corner."""
    at = {name: point(corner, name) for name in AXLES[corner[0]]}
    knuckle, wheel, lower = f"knuckle {corner}", f"wheel {corner}", f"lower arm {corner}"
    for arm in ("lower", "upper"):
        inner = (at[f"{arm} fore"] + at[f"{arm} aft"]) / 2
        model.joint(f"{arm} hinge {corner}", "revolute", "chassis", f"{arm} arm {corner}", at=inner, axis=LONG)
        model.joint(f"{arm} ball {corner}", "spherical", f"{arm} arm {corner}", knuckle, at=at[f"{arm} ball"])
    carrier = "rack" if corner[0] == "f" else "chassis"
    if rods:  # a universal joint keeps the link from spinning about itself
        link = f"link {corner}"
        model.joint(f"{link} inner", "universal", carrier, link, at=at["rod inner"], axis=(0, 0, 1), axis2=LONG)
        model.joint(f"{link} outer", "spherical", link, knuckle, at=at["rod outer"])
    else:
        model.joint(f"link {corner}", "distance", carrier, knuckle, at=at["rod inner"], at_b=at["rod outer"])
    model.joint(f"bearing {corner}", "revolute", knuckle, wheel, at=at["wheel"], axis=ACROSS, friction=brake)
    low, high = at["spring low"], at["spring high"]
    k, c = stiff * STIFFNESS[corner[0]], math.sqrt(stiff) * DAMPING[corner[0]]
    free = float(np.linalg.norm(high - low)) + spring_force(corner) / k
    model.spring(f"coil {corner}", lower, "chassis", low, high, k, c, free)
    model.tyre(f"tyre {corner}", wheel, axle=ACROSS, radius=RADIUS, width=WIDTH, stiffness=TYRE, damping=TYRE_DAMPING,
               load=LOAD)  # fmt: skip


def spring_force(corner: str) -> float:
    """Force of a corner's spring at the authored pose under the wheel's load, by virtual work [N].

    Unknown are the knuckle's twist and the turns of both arms; it stays on both balls, and its link keeps its length,
    as the wheel rises at 1 m/s.
    """
    at = {name: point(corner, name) for name in AXLES[corner[0]]}
    hub, axis = at["wheel"], np.array(LONG, float)

    def rate(p: np.ndarray) -> np.ndarray:
        """Rows of a knuckle point's velocity in its twist about the hub."""
        r = p - hub
        turn = np.array([[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]])
        return np.hstack([turn, np.eye(3)])

    rows = np.zeros((8, 8))
    for k, arm in enumerate(("lower", "upper")):
        ball, inner = at[f"{arm} ball"], (at[f"{arm} fore"] + at[f"{arm} aft"]) / 2
        rows[3 * k : 3 * k + 3, :6] = rate(ball)
        rows[3 * k : 3 * k + 3, 6 + k] = -np.cross(axis, ball - inner)
    along = at["rod outer"] - at["rod inner"]
    rows[6, :6] = along @ rate(at["rod outer"])
    rows[7, 5] = 1.0
    found = np.linalg.solve(rows, np.eye(8)[7])
    contact = hub - (0, 0, RADIUS - wheel_load(corner) / TYRE)
    low, high = at["spring low"], at["spring high"]
    inner = (at["lower fore"] + at["lower aft"]) / 2
    shorter = -np.cross(found[6] * axis, low - inner) @ (low - high) / np.linalg.norm(low - high)
    lifted = (WHEEL + KNUCKLE) * found[5]
    for k, arm in enumerate(("lower", "upper")):  # of an arm, about half of its ball's rise
        lifted += ARM * np.cross(found[6 + k] * axis, at[f"{arm} ball"] - at[f"{arm} fore"])[2] / 2
    return float((wheel_load(corner) * (rate(contact) @ found[:6])[2] - G * lifted) / shorter)


def _add_drive(model: Model, drive: str, torque: float, speed: float) -> None:
    """Differential, and what drives the car."""
    model.joint("sun", "revolute", "chassis", "side gear", at=(-1.778, 0.1, 0.35), axis=ACROSS)
    model.joint("pinion", "revolute", "side gear", "final drive", at=(-1.778, 0.0, 0.35), axis=ACROSS)
    model.coupling("left shaft", "bearing rl", "sun")
    model.coupling("right shaft", "bearing rr", "pinion")
    motor = Motor(torque=torque) if drive == "torque" else None
    model.joint("differential", "revolute", "chassis", "final drive", at=(-1.778, 0.0, 0.35), axis=ACROSS, loop=True,
                motor=motor)  # fmt: skip
    if drive == "stimulus":
        turns = speed / RADIUS
        model.joints["bearing fl"].features["angle"].motor = Motor(speed=Ramp(turns, 1.5 * turns, 0.0, 2.0))
