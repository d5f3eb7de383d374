"""Fluids of large worlds: drag laws, added mass, and the same motion as in a World of the same model."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.author.shapes import Box, Cylinder, Sphere
from impulsar.scale.large import Bulk, LargeWorld, settling

RHO, MU, G = 1000.0, 1e-3, 9.81


def ball(radius, density, **fluid) -> Bulk:
    mass = density * 4.0 / 3.0 * math.pi * radius**3
    inertia = 0.4 * mass * radius**2 * np.eye(3)[None]
    bulk = Bulk(np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros(1, int), np.array([mass]), inertia)
    bulk.radius = np.array([radius])
    bulk.fluid("water", **{"density": RHO, "viscosity": MU, "surface": None, **fluid})
    return bulk


@pytest.mark.parametrize(
    ("radius", "density", "Re"), [(3e-5, 2500.0, 0.17), (5e-4, 2500.0, 160.0), (1e-2, 7850.0, 4e4)]
)
def test_terminal_speed(radius, density, Re):
    """Weight less buoyancy is the drag of Schiller and Naumann, or of C = 0.44 where that is more."""

    def left(v):
        slow = 6.0 * math.pi * MU * radius * v * (1.0 + 0.15 * (2.0 * RHO * v * radius / MU) ** 0.687)
        fast = 0.5 * RHO * 0.44 * math.pi * radius**2 * v * v
        return max(slow, fast) - (density - RHO) * 4.0 / 3.0 * math.pi * radius**3 * G

    law = brentq(left, 1e-9, 100.0)
    assert 2.0 * RHO * law * radius / MU == pytest.approx(Re, rel=0.2)
    own = (density + RHO / 2.0) * 4.0 / 3.0 * math.pi * radius**3
    relax = own * law / ((density - RHO) * 4.0 / 3.0 * math.pi * radius**3 * G)
    world = LargeWorld(ball(radius, density), dt=relax)
    report = world.step(30)
    assert -world.velocities[0, 5] == pytest.approx(law, rel=1e-9)
    assert report.parts >= 30 * 8


def test_books_of_a_sinking_ball():
    """Kinetic (added mass in it), potential, work and loss add up, by the first order of the step."""
    off = []
    for parts in (1, 2):
        world = LargeWorld(ball(1e-2, 7850.0), dt=1e-3 / parts)
        start = world.energy()["potential"]
        world.step(200 * parts)
        e = world.energy()
        total = e["kinetic"] + e["potential"] - e["water buoyancy"] - e["water current"] + e["water drag"]
        off.append(abs(total - start) / e["kinetic"])
    assert off[0] < 1e-3 / 0.2  # a step of the time it took
    assert off[1] == pytest.approx(off[0] / 2.0, rel=0.05)


def swimmers() -> im.Model:
    """Solids that sink, float and turn, one on a hinge, in water that flows."""
    model = im.Model("swimmers")
    model.body("box", shape=Box((0.1, 0.2, 0.05)), density=600.0, position=(0, 0, -0.01), angular_velocity=(1, 2, 0.5))
    model.body("rod", shape=Cylinder(0.02, 0.2), density=2000.0, position=(0.5, 0, -0.5), angular_velocity=(3, 0, 1))
    model.body("ball", shape=Sphere(0.03), density=300.0, position=(1, 0, -0.2), velocity=(0.3, 0, 0))
    model.body(
        "bob", shape=Box((0.05, 0.05, 0.2)), density=2700.0, position=(2, 0, -0.5), orientation=(0, 0.28, 0, 0.96)
    )
    model.joint("pin", "revolute", "ground", "bob", at=(2, 0, -0.4), axis=(0, 1, 0))
    model.fluid("sea", surface=0.0, current=(im.Harmonic(0.2, 0.1, 5.0), 0.1, 0.0), viscosity=0.1)
    return model


def test_same_motion_as_a_world():
    """By the pair within its tolerance, by fixed steps at first order: the functions are those of small worlds."""
    small = im.World(swimmers(), dt=0.01, rtol=1e-10, atol=1e-10)
    small.step(20)
    names = list(small.model.bodies)
    truth = np.array([small.body(name).position for name in names])
    spin = np.array([small.body(name).angular_velocity for name in names])
    pair = LargeWorld(swimmers(), dt=0.01, method="pair", rtol=1e-9, atol=1e-9)
    pair.step(20)
    assert np.abs(pair.positions - truth).max() < 1e-7
    assert np.abs(pair.velocities[:, :3] - spin).max() < 1e-5
    off = []
    for dt in (2e-4, 1e-4):
        fixed = LargeWorld(swimmers(), dt=dt)
        fixed.step(round(0.2 / dt))
        off.append(np.abs(fixed.positions - truth).max())
    assert off[0] < 5e-4
    assert off[1] == pytest.approx(off[0] / 2.0, rel=0.1)


def test_immersed_balls_meet():
    """What hits carries its added mass along: of unequal density, (m + m_a) v is kept in all."""
    radius, volume = 0.01, 4.0 / 3.0 * math.pi * 1e-6
    mass = np.array([2500.0, 8000.0]) * volume
    bulk = Bulk(
        np.array([[0.0, 0, 0], [0.021, 0, 0]]),
        np.tile([0.0, 0, 0, 1.0], (2, 1)),
        np.arange(2),
        mass,
        0.4 * mass[:, None, None] * radius**2 * np.eye(3),
        twist=np.array([[0.0, 0, 0, 1.0, 0, 0], np.zeros(6)]),
        radius=np.full(2, radius),
        gravity=(0.0, 0.0, 0.0),
    )
    bulk.fluid("water", surface=None, drag=False)
    world = LargeWorld(bulk, dt=1e-3)
    world.step(5)
    heavy = mass + 0.5 * RHO * volume
    assert world.velocities[:, 3] == pytest.approx(heavy[0] / heavy.sum(), rel=1e-12)


def test_settling_is_the_same_every_run():
    """Same bits in two runs and after a restore."""
    runs = []
    for _ in range(2):
        world = LargeWorld(settling(200), dt=1.0 / 240.0)
        world.step(3)
        kept = world.snapshot()
        world.step(10)
        once = world.positions, world.energy()
        world.restore(kept)
        world.step(10)
        assert np.array_equal(once[0], world.positions)
        assert once[1] == world.energy()
        runs.append(once)
    assert np.array_equal(runs[0][0], runs[1][0])
    assert world.velocities[:, 5].min() < -0.1


def test_what_fluids_are_refused():
    bulk = ball(0.01, 2500.0, current=lambda t: (t, 0.0, 0.0))
    with pytest.raises(ModelError, match="fluid 'water': its current is a callable"):
        LargeWorld(bulk)
    with pytest.raises(ModelError, match="fluid 'water': viscosity"):
        ball(0.01, 2500.0, viscosity=-1.0)


def test_run_by_name(capsys, tmp_path):
    """`impulsar run settling --large` prints bodies, books of the fluid and how deep contacts are."""
    from impulsar.cli import main

    out = tmp_path / "last.nc"
    given = ["--set", "n=50", "--set", "radius=0.004", "--duration", "0.02", "--large"]
    assert main(["run", "settling", *given, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "50 spheres settling" in told
    assert "water drag" in told
    assert "overlap" in told
    assert out.exists()
    assert main(["run", "tree", "--set", "m=3", "--duration", "1", "--large"]) == 2
    assert "large scene 'tree'" in capsys.readouterr().err
