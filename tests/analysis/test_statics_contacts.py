"""Equilibria of bodies that hold each other up by contacts, against closed forms and against the running world."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import StaticsError, modes, statics
from impulsar.scenes.parts import rod

G = 9.81


def box_on_plane(tilt: float = 0.0, friction: float = 0.3, height: float = 0.05) -> im.Model:
    """A box of 2 kg, 0.2 by 0.2 by 0.1 m, on a plane that gravity is tilted to."""
    model = im.Model("slope", gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    model.material("stuff", friction=friction)
    model.body("box", mass=2.0, shape=im.Box((0.2, 0.2, 0.1)), position=(0, 0, height), material="stuff")
    model.obstacle("floor", im.Plane(), material="stuff")
    return model


@pytest.mark.parametrize("search", (True, False))
def test_a_box_lies_on_a_floor(search):
    """N = m g, shared by four corners as it happens: the sum is unique, its parts are not."""
    found = statics(box_on_plane(), search=search)
    assert found.contact_force["box", "floor"] == pytest.approx([0, 0, -2 * G], abs=1e-9)
    assert found.contact_determinate["box", "floor"] and not any(one.determinate for one in found.contacts)
    assert len(found.contacts) == 4 and all(one.force[2] < 0.0 for one in found.contacts)
    moment = sum(np.cross(one.point, one.force) for one in found.contacts)
    assert moment == pytest.approx(np.zeros(3), abs=1e-9)
    assert found.friction_needed == 0.0 and found.residual < 1e-9
    assert found.position["box"] == pytest.approx([0, 0, 0.05], abs=1e-12)


@pytest.mark.parametrize("share", (0.5, 0.99))
def test_a_slope_needs_its_tangent(share):
    """Rests below the friction angle; tan α / µ is the share of friction that it needs."""
    tilt = math.atan(share * 0.3)
    found = statics(box_on_plane(tilt), search=False)
    force = -2 * G * np.array([-math.sin(tilt), 0, math.cos(tilt)])
    assert found.contact_force["box", "floor"] == pytest.approx(force, abs=1e-8)
    assert found.friction_needed == pytest.approx(share, abs=1e-6)
    assert found.contacts[0].friction == pytest.approx(0.3)


def test_a_slope_that_is_too_steep_is_told():
    """Above it nothing balances m g sin α - µ m g cos α, and the error has the pair and what friction would do."""
    tilt = math.atan(1.2 * 0.3)
    left = 2 * G * (math.sin(tilt) - 0.3 * math.cos(tilt))
    with pytest.raises(StaticsError, match=r"cannot rest.*'box' and 'floor' touch: 1\.2 times the friction") as error:
        statics(box_on_plane(tilt), search=False)
    told = float(str(error.value).split("pushed by ")[1].split(" N")[0])
    assert told == pytest.approx(left, rel=0.005)  # as it is printed


@pytest.mark.parametrize(("share", "rests"), ((0.95, True), (1.05, False)))
def test_rolling_friction_holds_a_ball(share, rests):
    """Up to tan α = rolling / r; without it a ball is held by no friction."""
    tilt = math.atan(share * 0.1)
    model = im.Model("ball", gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    model.material("stuff", friction=0.8, rolling=0.01)
    model.body("ball", mass=2.0, shape=im.Sphere(0.1), position=(0, 0, 0.1), material="stuff")
    model.obstacle("floor", im.Plane(), material="stuff")
    if rests:
        found = statics(model, search=False)
        assert found.contact_force["ball", "floor"] == pytest.approx(2 * np.array(model.gravity), abs=1e-8)
    else:
        with pytest.raises(StaticsError, match="no friction would hold it"):
            statics(model, search=False)


def ladder(angle: float, floor: float, wall: float) -> im.Model:
    """A capsule of 1 kg, 2 m between the centres of its ends, against a wall at x = 0."""
    model = im.Model("ladder")
    for name in ("wood", "stone", "glass"):
        model.material(name, friction=1.0)
    model.material_pair("wood", "stone", friction=floor)
    model.material_pair("wood", "glass", friction=wall)
    length, radius = 2.0, 0.02
    foot = np.array([radius + length * math.cos(angle), 0.0, radius])
    top = np.array([radius, 0.0, radius + length * math.sin(angle)])
    rod(model, "ladder", foot, top, 1.0, radius=radius)
    model.bodies["ladder"].material = "wood"
    model.obstacle("floor", im.Plane(), material="stone")
    model.obstacle("wall", im.Box((0.2, 4, 6)), position=(-0.1, 0, 3), material="glass")
    return model


@pytest.mark.parametrize("angle", (0.9, 1.1, 1.3))
def test_a_ladder_on_a_smooth_wall(angle):
    """N = m g; F (l sin α + r) = m g l cos α / 2, which floor and wall both give."""
    found = statics(ladder(angle, 0.8, 0.0), search=False)
    push = G * math.cos(angle) / (2.0 * math.sin(angle) + 0.02)
    assert found.contact_force["ladder", "floor"] == pytest.approx([push, 0, -G], abs=1e-8)
    assert found.contact_force["ladder", "wall"] == pytest.approx([-push, 0, 0], abs=1e-8)
    assert all(found.contact_determinate.values())
    by = {one.second: one for one in found.contacts}
    assert by["floor"].used == pytest.approx(push / G, abs=1e-8) and by["floor"].friction == 0.8
    assert found.friction_needed == pytest.approx(push / G / 0.8, abs=1e-6)


def test_a_ladder_that_slips():
    with pytest.raises(StaticsError, match=r"'ladder' and 'wall'.* times the friction would hold it") as error:
        statics(ladder(0.9, 0.2, 0.0), search=False)
    need = math.cos(0.9) / (2.0 * math.sin(0.9) + 0.02) / 0.2
    assert float(str(error.value).split("touch: ")[1].split(" times")[0]) == pytest.approx(need, rel=1e-3)


def test_a_ladder_on_a_rough_wall_is_not_determinate():
    """Wall and floor share; some forces inside the cones are told, their sum is the weight."""
    found = statics(ladder(1.1, 0.8, 0.5), search=False)
    assert not any(found.contact_determinate.values())
    assert sum(found.contact_force.values()) == pytest.approx([0, 0, -G], abs=1e-8)
    for one in found.contacts:
        assert one.used <= one.friction + 1e-9
    smooth = statics(ladder(1.1, 0.8, 0.0), search=False)
    assert found.friction_needed < smooth.friction_needed


def test_a_box_tumbles_to_rest():
    """From half a metre up and turned, it comes to lie on a face; there it stays in a running world."""
    model = box_on_plane(height=0.5)
    model.bodies["box"].orientation = np.array([0.1, 0.2, 0.05, math.sqrt(1 - 0.0525)])
    found = statics(model)
    assert found.position["box"][2] == pytest.approx(0.05, abs=1e-9)
    assert found.stable and found.contact_force["box", "floor"] == pytest.approx([0, 0, -2 * G], abs=1e-8)
    world = im.World(found.model)
    world.step(50)
    assert world.body("box").position == pytest.approx(found.position["box"], abs=1e-9)


@pytest.mark.parametrize(
    "shape",
    (
        im.Cylinder(radius=0.06, length=0.1),
        im.Cone(radius=0.06, length=0.12),
        im.Capsule(radius=0.02, length=0.2),
        im.ConvexHull(np.random.default_rng(3).normal(size=(12, 3)) * 0.05),
    ),
    ids=lambda shape: type(shape).__name__,
)
def test_bodies_of_all_kinds_come_to_rest(shape):
    """However they are turned; a running world begun there does not move."""
    random = np.random.default_rng(5)
    for _ in range(4):
        q = random.normal(size=4)
        model = im.Model("falls")
        model.body("body", density=1000.0, shape=shape, position=(0, 0, 0.5), orientation=q / np.linalg.norm(q))
        model.bodies["body"].material = "steel"
        model.obstacle("floor", im.Plane(), material="steel")
        found = statics(model)
        assert found.stable
        assert found.contact_force["body", "floor"] == pytest.approx([0, 0, -model.bodies["body"].mass * G], rel=1e-8)
        world = im.World(found.model)
        world.step(10)
        assert world.body("body").position == pytest.approx(found.position["body"], abs=1e-8)


def test_an_edge_is_no_stable_rest():
    """A plate on its edge: it balances there, and would fall."""
    model = box_on_plane()
    model.bodies["box"].orientation = np.array([0, math.sqrt(0.5), 0, math.sqrt(0.5)])  # standing on 0.1 by 0.2
    model.bodies["box"].position = np.array([0, 0, 0.1])
    assert statics(model).stable
    corner = math.hypot(0.1, 0.05)
    tilt = math.atan2(0.1, 0.05)  # its diagonal upright
    model.bodies["box"].orientation = np.array([0, math.sin(tilt / 2), 0, math.cos(tilt / 2)])
    model.bodies["box"].position = np.array([0, 0, corner])
    found = statics(model, search=False)
    assert not found.stable
    assert found.contact_force["box", "floor"] == pytest.approx([0, 0, -2 * G], abs=1e-8)


@pytest.mark.parametrize("stiffness", (10.0, 100.0))
def test_a_ball_on_a_spring_comes_down_to_a_floor_or_not(stiffness):
    """Soft: at z = r, N = m g - k (1 - r - l0). Stiff: it hangs above, and nothing touches."""
    model = im.Model("hung")
    model.body("ball", mass=1.0, shape=im.Sphere(0.1), position=(0.05, 0, 0.7), material="steel")
    model.obstacle("floor", im.Plane(), material="steel")
    model.spring(
        "cord", "ball", model.ground, at_a=(0.05, 0, 0.7), at_b=(0, 0, 1), stiffness=stiffness, free_length=0.5
    )
    model.material("ice", friction=0.0)
    model.obstacles["floor"].material = "ice"
    found = statics(model)
    if stiffness == 10.0:
        assert found.position["ball"] == pytest.approx([0, 0, 0.1], abs=1e-8)
        assert found.contact_force["ball", "floor"] == pytest.approx([0, 0, -(G - 10 * 0.4)], abs=1e-7)
    else:
        assert found.position["ball"] == pytest.approx([0, 0, 0.5 - G / 100], abs=1e-9)
        assert not found.contacts
    assert found.stable


def test_a_double_pendulum_on_a_smooth_floor():
    """The upper link hangs, the lower lies with its end on the floor, which carries half of its weight."""
    model = im.Model("resting")
    model.material("ice", friction=0.0)
    height, length, radius = 0.3, 0.25, 0.01
    elbow = np.array([length * math.sin(0.8), 0.0, height - length * math.cos(0.8)])
    tip = elbow + length * np.array([math.cos(0.1), 0.0, math.sin(0.1)])
    upper = rod(model, "upper", (0, 0, height), elbow, 1.0, radius=radius)
    lower = rod(model, "lower", elbow, tip, 2.0, radius=radius)
    for link in (upper, lower):
        link.material = "ice"
    model.joint("shoulder", "revolute", model.ground, upper, at=(0, 0, height), axis=(0, 1, 0))
    model.joint("elbow", "revolute", upper, lower, at=elbow, axis=(0, 1, 0))
    model.obstacle("floor", im.Plane(), material="ice")
    found = statics(model)
    assert found.contact_force["lower", "floor"] == pytest.approx([0, 0, -G], abs=1e-7)
    assert found.position["upper"] == pytest.approx([0, 0, height - length / 2], abs=1e-7)
    low = (height - length + radius) / 2
    assert found.position["lower"][2] == pytest.approx(low, abs=1e-8)
    assert found.reaction["shoulder"].force == pytest.approx([0, 0, 2 * G], abs=1e-6)


@pytest.mark.parametrize("friction", (0.0, 0.4))
def test_a_four_bar_leans_on_a_stop(friction):
    """It comes down on a ball; the loop is closed, and a running world begun there stays, with the same force."""
    model = im.scene("four-bar")
    model.material("stuff", friction=friction)
    for body in model.bodies.values():
        body.material = "stuff"
    model.obstacle("stop", im.Sphere(0.03), position=(0.06, 0.03, 0.0), material="stuff")
    found = statics(model)
    assert found.contacts and found.residual < 1e-8
    world = im.World(found.model)
    start = {name: body.position for name, body in ((n, world.body(n)) for n in world.model.bodies)}
    world.step(20)
    for name, position in start.items():
        assert world.body(name).position == pytest.approx(position, abs=1e-9)
    told = sum(one.force @ one.normal for one in found.contacts)
    if not friction:
        assert sum(one.force @ one.normal for one in world.contacts()) == pytest.approx(told, rel=1e-6)


def test_a_stack_carries_what_is_above():
    found = statics(im.scene("stack", n=6), search=False)
    weights = [body.mass * G for body in found.model.bodies.values()]
    sums = sorted(abs(force[2]) for force in found.contact_force.values())
    assert sums == pytest.approx(np.cumsum(weights[::-1]), rel=1e-7)
    assert all(found.contact_determinate.values())


def test_a_plate_is_not_fallen_through():
    """A ball of 5 mm two metres above a plate of 1 mm lands on it."""
    model = im.Model("plate")
    model.body("ball", mass=1.0, inertia=(1e-5, 1e-5, 1e-5), shape=im.Sphere(0.005), position=(0.01, 0, 2.0))
    model.bodies["ball"].material = "steel"
    model.obstacle("plate", im.Box((0.4, 0.4, 0.001)), material="steel")
    found = statics(model)
    assert found.position["ball"] == pytest.approx([0.01, 0, 0.0055], abs=1e-9)
    assert found.contact_force["ball", "plate"] == pytest.approx([0, 0, -G], abs=1e-8)


def test_nothing_stops_a_ball_on_ice():
    model = im.Model("ice", gravity=(2.0, 0, -9.0))
    model.material("ice", friction=0.0)
    model.body("ball", mass=1.0, shape=im.Sphere(0.1), position=(0, 0, 0.3), material="ice")
    model.obstacle("floor", im.Plane(), material="ice")
    with pytest.raises(StaticsError, match="body 'ball' is pushed by 2 N that nothing balances; 'ball' and 'floor'"):
        statics(model)


def test_a_pose_with_an_overlap_is_refused_and_one_that_is_searched_pushed_out():
    model = box_on_plane(height=0.045)
    with pytest.raises(StaticsError, match=r"'box' and 'floor' overlap by 0\.005 m"):
        statics(model, search=False)
    assert statics(model).position["box"][2] == pytest.approx(0.05, abs=1e-9)


def test_a_pose_in_the_air_is_refused():
    with pytest.raises(StaticsError, match=r"pushed by 19\.6 N that nothing balances; nothing touches"):
        statics(box_on_plane(height=0.2), search=False)


def test_a_pose_held_by_joints_alone():
    """search=False of a mechanism without contacts: hanging it rests, turned it does not."""
    model = im.Model("bar")
    link = rod(model, "rod", (0, 0, 0), (0, 0, -1), 2.0)
    model.joint("hinge", "revolute", model.ground, link, at=(0, 0, 0), axis=(0, -1, 0))
    assert statics(model, search=False).reaction["hinge"].force == pytest.approx([0, 0, 2 * G], abs=1e-10)
    tilted = im.Model("bar")
    link = rod(tilted, "rod", (0, 0, 0), (1, 0, 0), 2.0)
    tilted.joint("hinge", "revolute", tilted.ground, link, at=(0, 0, 0), axis=(0, -1, 0))
    with pytest.raises(StaticsError, match="cannot rest: body 'rod'"):
        statics(tilted, search=False)


def test_a_world_is_taken_as_it_is_and_not_touched():
    """A block dropped in a running world, and its friction set there."""
    world = im.World(box_on_plane(0.1, height=0.06))
    world.step(100)
    world.set("stuff.friction", 0.2)
    before = world.hash()
    found = statics(world, search=False)
    assert found.friction_needed == pytest.approx(math.tan(0.1) / 0.2, abs=1e-6)
    assert world.hash() == before


def test_modes_about_contacts_are_refused():
    with pytest.raises(im.ModelError, match="'box' and 'floor' touch"):
        modes(box_on_plane())
