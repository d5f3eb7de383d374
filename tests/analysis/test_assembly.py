"""Assembly from rough starts, and mechanisms that cannot be assembled."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impulsar as im
from impulsar.analysis import AssemblyError, assemble

HERE = (0.0, 0.0, 0.0, 1.0)


def bars(ground: float, rough: float = 0.0, seed: int = 0) -> im.Model:
    """Three bars of 0.2 m between pivots that are `ground` apart, laid out with errors of `rough` [m]."""
    rng = np.random.default_rng(seed)
    model = im.Model("bars", gravity=(0.0, -9.81, 0.0))
    links = [
        model.body(
            f"bar{k}", mass=0.2, inertia=(1e-3,) * 3, position=(0.1 + 0.2 * k, 0.05, 0) + rough * rng.normal(size=3)
        )
        for k in range(3)
    ]
    ends = ((0.1, 0, 0), HERE), ((-0.1, 0, 0), HERE)
    model.joint("O", "revolute", model.ground, links[0], frame_a=((0, 0, 0), HERE), frame_b=ends[1])
    for k in (1, 2):
        model.joint(f"J{k}", "revolute", links[k - 1], links[k], frame_a=ends[0], frame_b=ends[1])
    model.joint("C", "revolute", model.ground, links[2], frame_a=((ground, 0, 0), HERE), frame_b=ends[0])
    return model


@pytest.mark.parametrize("seed", range(5))
def test_a_rough_four_bar_closes(seed):
    """The copy fits to the tolerance and makes a world; the original is as it was."""
    model = bars(0.35, 0.1, seed)
    before = {name: body.position.copy() for name, body in model.bodies.items()}
    found = assemble(model)
    assert found.closed and not found.open
    assert found.residual <= 1e-10
    world = im.World(found.model)
    assert world.constraint_error() < 1e-10
    assert all((model.bodies[name].position == p).all() for name, p in before.items())
    for name, move in found.moved.items():
        assert move.distance == pytest.approx(np.linalg.norm(found.model.bodies[name].position - before[name]))
    with pytest.raises(im.ModelError, match="do not meet"):
        im.World(model)


@pytest.mark.parametrize("scene", ["cross-lift", "peaucellier", "slider-crank", "manipulator"])
def test_a_shaken_scene_closes_again(scene):
    """Bodies turned by about 0.1 rad and shifted by a centimetre, redundant loops and couplings included."""
    model = im.scene(scene)
    rng = np.random.default_rng(1)
    for body in model.bodies.values():
        body.position = body.position + 0.01 * rng.normal(size=3)
        turn = Rotation.from_rotvec(0.1 * rng.normal(size=3)) * Rotation.from_quat(body.orientation)
        body.orientation = turn.as_quat()
    found = assemble(model)
    assert found.residual <= 1e-10
    assert im.World(found.model).constraint_error() < 1e-9


def test_light_bodies_move_rather_than_heavy_ones():
    """In the mass norm two bodies meet where their centre of mass was."""
    model = im.Model("pair")
    heavy = model.body("heavy", mass=9.0, inertia=(1, 1, 1), position=(0, 0, 0))
    light = model.body("light", mass=1.0, inertia=(1, 1, 1), position=(0.1, 0, 0))
    model.joint("ball", "spherical", heavy, light, frame_a=((0, 0, 0), HERE), frame_b=((0, 0, 0), HERE))
    found = assemble(model).model.bodies
    assert found["heavy"].position == pytest.approx([0.01, 0, 0], abs=1e-12)
    assert found["light"].position == pytest.approx([0.01, 0, 0], abs=1e-12)


def test_a_hinge_upside_down_is_turned_over():
    """A tilt counts by its angle: the sine alone is zero there."""
    model = im.Model("flap")
    flap = model.body("flap", mass=1.0, inertia=(1, 1, 1), orientation=(1.0, 0.0, 0.0, 0.0))
    model.joint("hinge", "revolute", model.ground, flap, frame_a=((0, 0, 0), HERE), frame_b=((0, 0, 0), HERE))
    found = assemble(model)
    z = Rotation.from_quat(found.model.bodies["flap"].orientation).apply((0, 0, 1))
    assert z == pytest.approx([0, 0, 1], abs=1e-10)
    assert found.moved["flap"].angle == pytest.approx(np.pi)


def test_bars_too_short_name_the_joints_and_the_gap():
    """0.6 m of bars between pivots 1 m apart: the least squares of four gaps that sum to 0.4 m are 0.1 m each."""
    with pytest.raises(AssemblyError) as caught:
        assemble(bars(1.0))
    for name in ("'O'", "'J1'", "'J2'", "'C'"):
        assert name in str(caught.value)
    found = assemble(bars(1.0), strict=False)
    assert not found.closed
    assert set(found.open) == {"O", "J1", "J2", "C"}
    gaps = [far for far, _ in found.open.values()]
    assert sum(gaps) == pytest.approx(0.4, rel=0.02)
    assert gaps == pytest.approx([0.1] * 4, rel=0.05)
    assert "CANNOT CLOSE" in str(found)


def test_bad_tolerance():
    with pytest.raises(im.ModelError, match="tolerance"):
        assemble(bars(0.35), tolerance=0.0)
