"""Mobility by rank: mechanisms whose freedoms are known, and motors that fight."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impulsar as im
from impulsar.analysis import inverse, mobility
from impulsar.scenes.parts import rod


def sarrus(angle: float = 0.9) -> im.Model:
    """Two pairs of links on parallel hinges, at right angles to each other: the plate goes straight up."""
    model = im.Model("Sarrus linkage")
    length = 0.2
    out_by, rise = length * math.cos(angle), length * math.sin(angle)
    plate = model.body("plate", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 2 * rise))
    for side, out, axis in (("A", (1, 0, 0), (0, 1, 0)), ("B", (0, 1, 0), (1, 0, 0))):
        foot = 0.1 * np.array(out)
        up = np.array((0.0, 0.0, rise))
        knee, head = foot + out_by * np.array(out) + up, foot + 2 * up
        low, high = rod(model, f"low{side}", foot, knee, 0.3), rod(model, f"high{side}", knee, head, 0.3)
        model.joint(f"foot{side}", "revolute", model.ground, low, at=foot, axis=axis)
        model.joint(f"knee{side}", "revolute", low, high, at=knee, axis=axis)
        model.joint(f"head{side}", "revolute", high, plate, at=head, axis=axis)
    return model


def bricard(angle: float = 1.4) -> im.Model:
    """Six equal links, each hinge at right angles to the next, turning left and right in turn.

    It closes where cos a + cos b + cos a cos b = 0, a and b the angles of odd and even hinges.
    """
    model = im.Model("Bricard linkage")
    angles = (angle, math.acos(-math.cos(angle) / (1 + math.cos(angle))))
    p, turn = np.zeros(3), Rotation.identity()
    places = [(p, turn.as_matrix()[:, 2])]
    for k in range(6):
        turn = turn * Rotation.from_euler("z", angles[k % 2])
        p = p + turn.apply((0.1, 0, 0))
        turn = turn * Rotation.from_euler("x", math.pi / 2 * (-1) ** k)
        places.append((p, turn.as_matrix()[:, 2]))
    before = model.ground
    for k in range(5):
        middle = (places[k][0] + places[k + 1][0]) / 2
        link = model.body(f"link{k + 1}", mass=0.1, inertia=(1e-4,) * 3, position=middle)
        model.joint(f"hinge{k + 1}", "revolute", before, link, at=places[k][0], axis=places[k][1])
        before = link
    model.joint("hinge6", "revolute", before, model.ground, at=places[5][0], axis=places[5][1])
    return model


def door() -> im.Model:
    """A leaf on two hinges with one axis."""
    model = im.Model("door")
    leaf = model.body("leaf", mass=10.0, inertia=(1.0, 1.0, 0.5), position=(0.4, 0, 1))
    for k, height in enumerate((0.3, 1.7), start=1):
        model.joint(f"hinge{k}", "revolute", model.ground, leaf, at=(0, 0, height), axis=(0, 0, 1))
    return model


def gears(first: float, second: float) -> im.Model:
    """Two wheels geared by -2, each with a motor."""
    model = im.Model("gears")
    for k, speed in enumerate((first, second)):
        wheel = model.body(f"wheel{k}", mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0))
        motor = im.Motor(speed=speed)
        model.joint(f"axle{k}", "revolute", model.ground, wheel, at=(k, 0, 0), axis=(0, 0, 1), motor=motor)
    model.coupling("gear", "axle0", "axle1", ratio=-2.0)
    return model


@pytest.mark.parametrize(
    ("model", "equations", "redundant", "freedoms", "gruebler"),
    [
        (sarrus(), 30, 1, 1, 0),
        (bricard(), 30, 1, 1, 0),
        (door(), 10, 5, 1, -4),
        (im.scene("four-bar"), 20, 3, 1, -2),
        (im.scene("peaucellier"), 50, 9, 1, -8),
        (im.scene("ten-pendula"), 48, 0, 12, 12),
        (im.scene("manipulator"), 41, 0, 7, 7),
    ],
    ids=lambda value: value.name if isinstance(value, im.Model) else None,
)
def test_freedoms_by_rank(model, equations, redundant, freedoms, gruebler):
    """A planar loop repeats 3 equations of the space; the two six-bars move though Grübler says 0."""
    found = mobility(model)
    assert (found.equations, found.redundant, found.freedoms, found.gruebler) == (
        equations,
        redundant,
        freedoms,
        gruebler,
    )
    assert len(found.redundant_rows) == redundant
    assert found.determinate == dict.fromkeys(model.joints, redundant == 0)


@pytest.mark.parametrize("metres", [1e-3, 1.0, 1e3])
def test_the_count_does_not_depend_on_the_size(metres):
    """The characteristic length scales with the mechanism, so the rank is the same."""
    model = im.scene("four-bar")
    for body in model.bodies.values():
        body.position = metres * body.position
        body.inertia = metres**2 * body.inertia
    for joint in model.joints.values():
        joint.p_PF, joint.p_CM = metres * joint.p_PF, metres * joint.p_CM
    found = mobility(model)
    assert (found.rank, found.freedoms) == (17, 1)
    assert found.length == pytest.approx(metres * mobility(im.scene("four-bar")).length)


def test_sarrus_plate_goes_straight_up():
    """z = 2 l sin(angle), driven by one foot through angles where it would lock if it were rigid."""
    found = inverse(sarrus(0.9), {"footA": im.Harmonic(0.5, 1.0)}, np.linspace(0.0, 6.0, 13))
    turned = found["joint_position"].values[:, 0]
    p = found["position"].sel(body="plate").values
    assert np.abs(p[:, :2]).max() < 1e-12
    assert np.abs(p[:, 2] - 0.4 * np.sin(0.9 - turned)).max() < 1e-12  # the hinge's axis turns it down


def test_a_door_names_the_second_hinge():
    found = mobility(door())
    assert {row.part for row in found.redundant_rows} == {"hinge2"}
    assert [row.row for row in found.redundant_rows] == ["x", "y", "z", "tilt x", "tilt y"]
    assert {name for row in found.redundant_rows for name in row.depends_on} == {"joint 'hinge1'"}


def test_a_motor_on_a_locked_joint_is_named():
    model = im.Model("welded")
    wheel = model.body("wheel", mass=1.0, inertia=(1, 1, 1))
    model.joint("weld", "fixed", model.ground, wheel, at=(0, 0, 0))
    model.joint("axle", "revolute", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(speed=2.0))
    found = mobility(model, with_motors=True)
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.part, conflict.depends_on) == ("motor", "axle", ("joint 'weld'",))
    assert conflict.at_odds == pytest.approx(2.0)
    assert "motor of joint 'axle': held by joint 'weld'" in str(found)
    assert not mobility(model).conflicts


@pytest.mark.parametrize(("second", "odds"), [(1.0, 3.0), (-2.0, 0.0)])
def test_an_over_driven_coupling_is_named(second, odds):
    """The gear wants -2 times the first speed: another is at odds with it, that one only redundant."""
    found = mobility(gears(1.0, second), with_motors=True)
    (row,) = found.redundant_rows
    assert (row.kind, row.part) == ("motor", "axle1")
    assert set(row.depends_on) == {"coupling 'gear'", "motor of joint 'axle0'"}
    assert row.at_odds == pytest.approx(odds, abs=1e-12)
    assert len(found.conflicts) == (odds > 0)
    assert (found.coupling_equations, found.motor_equations) == (1, 2)


def test_two_couplings_too_many():
    """Three wheels in a ring of gears whose ratios do not multiply to one cannot turn: rank, not conflict."""
    model = im.Model("ring")
    for k in range(3):
        wheel = model.body(f"wheel{k}", mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0))
        model.joint(f"axle{k}", "revolute", model.ground, wheel, at=(k, 0, 0), axis=(0, 0, 1))
    for k in range(3):
        model.coupling(f"gear{k}", f"axle{k}", f"axle{(k + 1) % 3}", ratio=-1.0)
    assert mobility(model).freedoms == 0
    model.couplings["gear2"].ratio = 1.0
    found = mobility(model)
    assert found.freedoms == 1
    assert [row.part for row in found.redundant_rows] == ["gear2"]


def test_an_open_joint_is_refused():
    model = door()
    model.joints["hinge2"].p_CM = model.joints["hinge2"].p_CM + np.array((0.01, 0, 0))
    with pytest.raises(im.ModelError, match="hinge2"):
        mobility(model)


def test_a_batch_is_refused():
    with pytest.raises(im.ModelError, match="2 copies"):
        mobility(im.World(im.scene("four-bar"), worlds=2))
    with pytest.raises(im.ModelError, match="expected a Model or a World"):
        mobility("four-bar")


def test_bodies_that_can_move_are_named() -> None:
    """Of a crank with a motor and a pendulum beside it, the pendulum is left; without counting the motor, both."""
    model = im.Model("two")
    for name, x in (("crank", 0.0), ("pendulum", 1.0)):
        body = model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, -0.1))
        motor = im.Motor(speed=1.0) if name == "crank" else None
        model.joint(f"{name} pin", "revolute", model.ground, body, at=(x, 0, 0), axis=(0, 1, 0), motor=motor)
    assert mobility(model).moving == ("crank", "pendulum")
    assert mobility(model, with_motors=True).moving == ("pendulum",)
