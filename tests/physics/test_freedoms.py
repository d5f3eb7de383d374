"""Freedoms of joints: the maps between coordinates and poses, as the host calls them."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.joints import CATALOGUE, SCREW, TURN_X, TURN_Z
from impulsar.author.rotations import multiply, rotation_matrix
from impulsar.engine.freedoms import coordinates_of, is_ball, measure_coordinates, pose_at

EPS = np.finfo(float).eps
WORLDS = 20


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_pose_has_the_coordinates_that_made_it(name):
    """Angles within half a turn, slides, and of a ball the rotation vector; each a few roundings off."""
    codes = CATALOGUE[name].freedoms
    rng = np.random.default_rng(3)
    values, expected = [], []
    for code in codes:
        if coordinates_of(code) == 4:
            turn = rng.normal(size=(3, WORLDS))
            angle = np.linalg.norm(turn, axis=0)
            turn *= np.minimum(1.0, 3.0 / angle)
            angle = np.linalg.norm(turn, axis=0)
            values += [*(turn * np.sin(angle / 2) / angle), np.cos(angle / 2)]
            expected += list(turn)
        elif not is_ball(code):
            values.append(rng.uniform(-3.0, 3.0, WORLDS))
            expected.append(values[-1])
    p_FM, q_FM = pose_at(codes, np.array(values).reshape(-1, WORLDS), 0.3)
    assert np.linalg.norm(q_FM, axis=1) == pytest.approx(1.0, abs=4 * EPS)
    if SCREW in codes:
        assert p_FM[:, 2] == pytest.approx(0.3 * values[0])
    found = measure_coordinates([(0, code) for code in codes], p_FM[None], q_FM[None])
    assert found == pytest.approx(np.array(expected).reshape(-1, WORLDS), abs=40 * EPS)


@pytest.mark.parametrize("second", [0.5, np.pi, -3.0])
def test_a_universal_joint_may_turn_by_half_a_turn(second):
    """R = Rz(a) Rx(b) has the angle a at any b; half the quaternion's last two components vanish at b = π."""
    p_FM, q_FM = pose_at((TURN_Z, TURN_X), np.array([[0.7], [second]]), 0.0)
    found = measure_coordinates([(0, TURN_Z), (0, TURN_X)], p_FM[None], q_FM[None])[:, 0]
    assert found[0] == pytest.approx(0.7, abs=8 * EPS)
    assert np.cos(found[1] - second) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["five-link", "slider-crank", "manipulator"])
def test_the_kernels_place_bodies_where_they_were_authored(name):
    """Start coordinates come from the host's call, poses from the kernels' own: both ways of one map."""
    model = im.scene(name)
    world = im.World(model)
    for body in model.bodies.values():
        view = world.body(body.name)
        assert view.position == pytest.approx(body.position, abs=1e-14)
        back = multiply(view.orientation * [-1, -1, -1, 1], body.orientation)
        assert rotation_matrix(back) == pytest.approx(np.eye(3), abs=1e-14)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("place", ["origin", "second", "elsewhere"])
@pytest.mark.parametrize("type", sorted(CATALOGUE))
def test_bodies_begin_where_they_were_put(type, place, coordinates):
    """Wherever a joint lies, at the origin or in a centre of mass, as at first: poses are those of the model."""
    at = {"origin": (0, 0, 0), "second": (0.5, -0.2, 0.4), "elsewhere": (0.1, 0.7, -0.3)}
    poses = {"first": ((0.3, 0.1, 0.2), (0, 0, 0, 1)), "second": ((0.5, -0.2, 0.4), (0.5, 0.5, 0.5, 0.5))}
    model = im.Model("two")
    for name, (position, orientation) in poses.items():
        model.body(name, mass=1.0, inertia=(0.01, 0.02, 0.015), position=position, orientation=orientation)
    has_axis = {"axis": (0, 0, 1)} if CATALOGUE[type].has_axis else {}
    ends = {"at": at[place]} | ({"at_b": (0.2, 0.3, 0.6)} if type == "distance" else {})
    more = {"screw": {"pitch": 0.1}, "universal": {"axis2": (1, 0, 0)}, "pin-slot": {"axis2": (1, 0, 0)}}.get(type, {})
    model.joint("root", type, model.ground, "first", **ends, **has_axis, **more)
    model.joint("next", type, "first", "second", **ends, **has_axis, **more)
    world = im.World(model, coordinates=coordinates)
    for name, (position, orientation) in poses.items():
        np.testing.assert_allclose(world.body(name).position, position, atol=1e-15)
        np.testing.assert_allclose(world.body(name).orientation, orientation, atol=1e-15)
