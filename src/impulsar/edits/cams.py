"""A cam and its follower from what was typed: bodies, joints, contact.

The follower's frame has y along its guide and z along the plane's normal n = u × v, about which the cam turns.
"""

import math

import numpy as np

from ..author.cams import FOLLOWERS, Lift, outline
from ..author.checks import is_number, not_negative, number, positive, show
from ..author.materials import COMMON
from ..author.model import Model
from ..author.parts import Motor
from ..author.rotations import frame_from_axes
from ..author.shapes import Box, Capsule, ConvexHull, Cylinder, Shape, compose
from .carry import Places
from .data import Cam, Remove, Several
from .drawing import Plane
from .inputs import claim
from .polygons import area_of, centroid_of
from .refusal import EditError
from .registry import Desk, Plan, carries_out

CORNERS = 360  # of an outline: a side is ρ (2π/360)²/8 = 4e-5 ρ from the curve
WIDEST = math.radians(150)  # of a convex piece, seen from the shaft
TURN = np.linspace(0.0, 2 * math.pi, 721)
FRICTION = 0.1  # of a material that the cam brings


@carries_out(Cam)
def add_cam(edit: Cam, desk: Desk) -> Plan:
    """Add a cam and its follower, all at once: a body that touches and is not held yet would be pushed off."""
    owner = f"cam '{edit.name}'"
    claim(desk.bench.system, "body", edit.name)
    lift, roller = _checked(owner, edit)
    ring = outline(owner, lift, edit.base, roller, CORNERS)
    plane = Plane(owner, edit.origin, edit.u, edit.v)
    shaft = plane.up(np.asarray(edit.at, float))
    way = math.cos(edit.angle) * plane.u + math.sin(edit.angle) * plane.v
    new = desk.model.copy()
    if edit.material not in COMMON and edit.material not in new.materials:
        new.material(edit.material, friction=FRICTION)
    middle = centroid_of(ring)
    new.body(
        edit.name,
        shape=[_prism(piece - middle, edit.thickness) for piece in pieces(ring)],
        density=edit.density,
        position=shaft + middle[0] * way + middle[1] * np.cross(plane.n, way),
        orientation=frame_from_axes(owner, plane.n, way),
        material=edit.material,
    )
    motor = Motor(speed=edit.speed) if edit.speed else None
    new.joint(f"shaft of {edit.name}", "revolute", "ground", edit.name, at=shaft, axis=plane.n, motor=motor)
    far = edit.base + (roller or 0.0)
    _add_follower(new, edit, lift, roller, shaft + far * way, way, plane.n)
    places, made = Places.of(desk.bench), [name for name in new.bodies if name not in desk.model.bodies]
    for name in made:
        places.put(name, new.bodies[name].position, new.bodies[name].orientation, np.zeros(6))
    steepest = max(abs(lift.slope(a)) / (far + lift.value(a)) for a in TURN)
    told = (
        "its follower is flat" if roller is None else f"pressure angle up to {math.degrees(math.atan(steepest)):.3g}°"
    )
    back = Several(tuple(Remove("body", name) for name in made))
    return Plan(new, f"cam '{edit.name}' made; {told}", back, places=places)


def _checked(owner: str, edit: Cam) -> tuple[Lift, float | None]:
    """The lift, and the radius of the roller if there is one."""
    for what in ("base", "thickness", "density"):
        positive(owner, what, getattr(edit, what), "SI")
    if edit.follower not in FOLLOWERS:
        raise EditError(f"{owner}: follower is {show(edit.follower)}, expected one of: {', '.join(FOLLOWERS)}")
    if not isinstance(edit.at, tuple | list) or len(edit.at) != 2 or not all(map(is_number, edit.at)):
        raise EditError(f"{owner}: at is {show(edit.at)}, expected a point of the plane, two numbers [m]")
    for what in ("angle", "speed"):
        number(owner, what, getattr(edit, what))
    not_negative(owner, "stiffness", edit.stiffness, "N/m")
    lift = Lift(edit.lift, edit.rise, edit.dwell, edit.fall, edit.law)
    lift.check(owner)
    return lift, positive(owner, "roller", edit.roller, "m") if edit.follower == "roller" else None


def _add_follower(
    model: Model,
    edit: Cam,
    lift: Lift,
    roller: float | None,
    at: np.ndarray,  # of the flat face, or of the roller's centre, in the world [m]
    way: np.ndarray,
    n: np.ndarray,
) -> None:
    """A stem in its guide, with a plate or a roller at its end."""
    name, r, long = f"follower of {edit.name}", 0.12 * edit.base, 1.2 * (edit.base + edit.lift)
    upright = (-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # z along y
    shapes: list[Shape]
    if roller is None:
        half = 1.15 * max(abs(lift.slope(a)) for a in TURN) + 0.2 * edit.base
        plate = Box((2 * half, r, edit.thickness), offset=(0, r / 2, 0), material=edit.material)
        shapes = [plate, Capsule(r, long, offset=(0, r + long / 2, 0), orientation=upright)]
    else:
        shapes = [Capsule(0.5 * min(r, roller), long, offset=(0, long / 2, 0), orientation=upright)]
    x, y, z = np.subtract(shapes[0].offset, compose(shapes)[2][0].offset)
    across = np.cross(way, n)
    turn = frame_from_axes(name, n, across)
    model.body(name, shape=shapes, density=edit.density, position=at + x * across + y * way + z * n, orientation=turn)
    rest = -edit.lift if edit.stiffness else 0.0
    model.joint(
        f"guide of {edit.name}", "prismatic", "ground", name, at=at, axis=way, stiffness=edit.stiffness, rest=rest
    )
    if roller is not None:
        wheel, disc = f"roller of {edit.name}", Cylinder(roller, edit.thickness)
        model.body(wheel, shape=disc, density=edit.density, position=at, orientation=turn, material=edit.material)
        model.joint(f"pin of {wheel}", "revolute", name, wheel, at=at, axis=n)


def pieces(ring: np.ndarray) -> list[np.ndarray]:
    """Convex polygons that fill an outline, anticlockwise about the origin: itself, or sectors from there, each as far
    as the outline is convex."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    hollow = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] < -1e-12 * area_of(ring) / len(ring)
    if not hollow.any():
        return [ring]
    start, n = int(np.argmax(hollow)), len(ring)
    found, run = [], [ring[start]]
    for k in range(1, n + 1):
        corner = ring[(start + k) % n]
        run.append(corner)
        a, b = run[0], corner
        angle = math.atan2(a[0] * b[1] - a[1] * b[0], a @ b) % (2 * math.pi)
        if hollow[(start + k) % n] or angle > WIDEST or k == n:
            found.append(np.array([np.zeros(2), *run]))
            run = [corner]
    return found


def _prism(corners: np.ndarray, thick: float) -> ConvexHull:
    return ConvexHull(np.array([(*corner, z) for corner in corners for z in (-thick / 2, thick / 2)]))
