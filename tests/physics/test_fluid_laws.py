"""Laws that hold with fluids and tyres on: the joint matrix, momentum, bits, contact beside a fluid."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impulsar as im
from impulsar.analysis import modes
from impulsar.author.joints import CATALOGUE
from impulsar.engine.methods import METHODS
from impulsar.validate.joint_matrix import OFFSET, ORIGIN, Q_WF, TREE, add_joint, motion

G, RHO = 9.81, 1000.0
RUNS = [(name, coordinates) for name in ("direct", "simgc", "simmc") for coordinates in METHODS[name].coordinates]


def hung(kind: str, role: str) -> im.Model:
    """A capsule on a joint of any type, across the surface of a pond."""
    model = im.Model("hung")
    place = ORIGIN + Q_WF.apply(OFFSET)
    turned = Rotation.from_rotvec([-0.3, 0.8, 0.2]).as_quat()
    model.body("body", shape=im.Capsule(0.1, 0.3), density=700.0, position=place, orientation=turned)
    add_joint(model, CATALOGUE[kind], "to", role)
    model.fluid("water", surface=float(place[2]) + 0.02, viscosity=0.5, current=(0.2, 0.1, 0.0))
    return model


def run(model: im.Model, method: str, coordinates: str, h: float) -> im.World:
    world = im.World(model, method=method, coordinates=coordinates, dt=h)
    world.step(round(0.08 / h))
    return world


@pytest.mark.parametrize(("method", "coordinates"), RUNS)
def test_joints_of_every_type_are_the_same_as_tree_and_as_rows_in_a_fluid(method, coordinates):
    """Added mass is one inertia in both: apart by no more than their errors, seen by halving the step."""
    for kind in CATALOGUE:
        ends, error = [], 0.0
        for role, by, c in (("tree", TREE[method], "generalized"), ("loop", method, coordinates)):
            coarse, fine = (motion(run(hung(kind, role), by, c, h)) for h in (0.004, 0.002))
            ends.append(fine)
            error += float(np.abs(coarse - fine).max())
        assert np.abs(ends[0] - ends[1]).max() <= 2 * error + 1e-6, kind  # of direct: ten times its tolerance


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_books_close_with_joints_of_every_type_in_a_fluid(coordinates):
    for kind in CATALOGUE:
        world = run(hung(kind, "tree"), "direct", coordinates, 0.01)
        energy = world.energy()
        turned = energy.kinetic + sum(map(abs, energy.work.values())) + sum(energy.losses.values())
        assert abs(energy.imbalance) <= 1e-6 * turned, kind


def pair(kind: str) -> im.Model:
    """Two balls on a joint of any type, in a fluid everywhere, neither weight nor drag."""
    model = im.Model("pair", gravity=(0, 0, 0))
    for k, name in enumerate(("one", "body")):
        model.body(
            name,
            shape=im.Sphere(0.1 + 0.05 * k),
            density=800.0,
            position=(0.3 * k, 0.1 * k, 0.2 * k),
            velocity=(0.5, 0.1 - k, 0.3 * k),
            angular_velocity=(0.4 * k, 1.0, -0.3),
        )
    place = {"at": (0.1, 0.05, 0.1)}
    if kind == "distance":
        place = {"at": model.bodies["one"].position, "at_b": model.bodies["body"].position}
    elif kind not in ("spherical", "fixed", "free"):
        place |= {"axis": (1, 2, 2), "axis2": (2, 1, -2)}
    model.joint("joint", kind, "one", "body", **place, pitch=0.1 if kind == "screw" else None)
    model.fluid("water", surface=None, drag=False)
    return model


def momentum(world: im.World) -> np.ndarray:
    """Of both balls and the fluid about them: angular about the origin, linear."""
    L, P = np.zeros(3), np.zeros(3)
    for name in ("one", "body"):
        body, part = world.body(name), world.model.bodies[name]
        R = Rotation.from_quat(body.orientation).as_matrix()
        p = (part.mass + world.added_mass(name)[5, 5]) * body.velocity
        P += p
        L += np.cross(body.position, p) + R @ np.diag(np.diag(part.inertia)) @ R.T @ body.angular_velocity
    return np.concatenate([L, P])


@pytest.mark.filterwarnings("ignore:model 'pair'. start velocities changed")
@pytest.mark.parametrize(("method", "coordinates"), [run for run in RUNS if run[0] != "simgc"])
def test_joints_give_no_momentum_to_bodies_with_added_mass(method, coordinates):
    """Kirchhoff's impulse of balls, (m + m_a) v, stays whatever joins them; `simgc` keeps it by its order only."""
    for kind in CATALOGUE:
        world = im.World(pair(kind), method=method, coordinates=coordinates, dt=0.002)
        start = momentum(world)
        world.step(50)
        off = np.abs(momentum(world) - start) / np.linalg.norm(start)
        assert off.max() < 1e-6, (kind, off)


def amphibian() -> im.Model:
    """A wheel on its tyre in shallow water, with a float on a hinge behind it."""
    model = im.Model("amphibian")
    model.obstacle("bed", im.Plane())
    model.body("wheel", mass=40.0, inertia=(0.4, 0.7, 0.4), position=(0, 0, 0.29), velocity=(2, 0, 0))
    model.body("float", shape=im.Cylinder(0.15, 0.3), density=300.0, position=(-0.8, 0, 0.4), velocity=(2, 0, 0))
    model.joint("hitch", "revolute", "wheel", "float", at=(-0.4, 0, 0.3), axis=(0, 1, 0))
    model.tyre("t", "wheel", radius=0.3, stiffness=60e3, damping=400.0, load=400.0)
    model.fluid("water", surface=0.35)
    return model


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc"])
def test_bits_with_a_fluid_and_a_tyre(method):
    """n steps at once are n steps; a snapshot goes on alike; a world of a batch is that world alone."""
    one, many = (im.World(amphibian(), method=method, dt=0.002) for _ in range(2))
    batch = im.World(amphibian(), method=method, dt=0.002, worlds=2)
    many.step(30)
    batch.step(30)
    for _ in range(30):
        one.step()
    assert one.hash() == many.hash()
    assert (batch.body("float").position == one.body("float").position).all()
    kept = one.snapshot()
    one.step(10)
    first = one.hash()
    one.restore(kept)
    one.step(10)
    assert one.hash() == first


def test_a_ball_sinks_on_to_a_floor_and_its_books_close():
    """In water it lands at its terminal speed and lies there with its weight less the water's on the floor."""
    R, rho_s = 0.05, 2500.0
    model = im.Model("sink")
    model.material("stuff", friction=0.3, restitution=0.2)
    model.obstacle("floor", im.Plane(), material="stuff")
    ball = model.body("ball", shape=im.Sphere(R, material="stuff"), density=rho_s, position=(0, 0, 0.6))
    model.fluid("water", surface=0.5)
    world = im.World(model, dt=0.01)
    world.step(300)
    assert world.body("ball").position[2] == pytest.approx(R, abs=1e-6)
    assert np.abs(world.body("ball").velocity).max() < 1e-6
    energy = world.energy()
    assert energy.losses["water drag"] > 0
    assert abs(energy.imbalance) < 1e-6 * ball.mass * G * 0.6


def test_a_floating_box_is_pushed_against_a_wall_and_stays():
    """A current holds it there: it heaves to its draft, its face on the smooth wall, and its books close."""
    model = im.Model("quay")
    model.material("stuff", friction=0.0, restitution=0.0)
    model.obstacle("wall", im.Box((0.1, 2, 2), material="stuff"), position=(0.6, 0, 0))
    model.body("raft", shape=im.Box((0.4, 0.4, 0.2), material="stuff"), density=500.0, position=(0.2, 0, 0))
    model.fluid("water", current=(0.5, 0, 0))
    world = im.World(model, dt=0.01)
    world.step(400)
    raft = world.body("raft")
    assert raft.position[0] == pytest.approx(0.35, abs=1e-4)
    assert raft.position[2] == pytest.approx(0.0, abs=2e-2)  # the current presses beside its centre of mass
    assert np.abs(raft.velocity).max() < 2e-3  # a smooth wall does not hold it: it still heaves
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-8 * energy.losses["water drag"]


def test_modes_have_buoyancy_and_slow_drag_in_them():
    """Half sunk: ω² = ρgπR² / (m + m_a), 2ζω = 6πμR/2 / (m + m_a); Re^0.687 of a small step is not quite nothing."""
    R, mu = 0.1, 50.0
    model = im.Model("buoy")
    model.body("ball", shape=im.Sphere(R), density=500.0)
    model.joint("guide", "prismatic", "ground", "ball", at=(0, 0, 0), axis=(0, 0, 1))
    model.fluid("water", viscosity=mu)
    found = modes(model)
    V = 4 / 3 * math.pi * R**3
    k, m, c = RHO * G * math.pi * R**2, 500.0 * V + 0.25 * RHO * V, 3 * math.pi * mu * R
    assert found.frequency[0] == pytest.approx(math.sqrt(k / m), rel=1e-7)
    assert found.damping_ratio[0] == pytest.approx(c / (2 * math.sqrt(k * m)), rel=2e-4)


def test_a_box_rolls_about_its_metacentre():
    """ω² = ρ g V GM / (I + I_a) with GM = B²/12d - (H - d)/2, on a hinge through its centre of mass."""
    B, length, H = 0.5, 0.8, 0.2
    model = im.Model("pontoon")
    model.body("box", shape=im.Box((length, B, H)), density=500.0)
    model.joint("pin", "revolute", "ground", "box", at=(0, 0, 0), axis=(1, 0, 0))
    model.fluid("water", drag=False)
    d = H / 2
    world = im.World(model, dt=0.01)
    whole = model.bodies["box"].inertia[0][0] + world.added_mass("box")[0, 0]
    stiff = RHO * G * B * length * d * (B**2 / (12 * d) - (H - d) / 2)
    assert modes(model).frequency[0] == pytest.approx(math.sqrt(stiff / whole), rel=1e-6)
