"""Armature: inertia that moves with the coordinate of a joint, energy a q̇² / 2."""

from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis, edits
from impulsar_verification.import_oracles import against_mujoco

DATA = Path(__file__).parents[1] / "data" / "imports"
G, LENGTH, MASS, INERTIA = 9.81, 0.4, 1.5, 0.02
ALONG = (0.0, 1.0, 0.0)


def pendulum(armature: float, speed: float = 0.0) -> im.Model:
    """Straight out along x, its coordinate positive downwards."""
    model = im.Model("pendulum")
    velocity = {"angular_velocity": (0, speed, 0), "velocity": (0, 0, -speed * LENGTH)}
    model.body("bob", mass=MASS, inertia=(INERTIA,) * 3, position=(LENGTH, 0, 0), **velocity)
    model.joint("hinge", "revolute", model.ground, "bob", at=(0, 0, 0), axis=ALONG, armature=armature)
    return model


def chain(armatures: tuple[float, ...], loop: bool = False) -> im.Model:
    """Three links in space; with `loop` the last is held to the ground by a ball on a rod."""
    model = im.Model("chain")
    spin = {"angular_velocity": (0.0, 1.0, 0.3)}
    model.body("a", mass=1.2, inertia=(0.02, 0.03, 0.015), position=(0.3, 0, 0), **spin)
    model.body("b", mass=0.7, inertia=(0.004, 0.006, 0.005), position=(0.7, 0.1, 0))
    model.body("c", mass=0.5, inertia=(0.004, 0.006, 0.005), position=(0.9, 0.1, 0.2))
    axes = (ALONG, (1, 0.3, 0.2), (0, 0.3, 1))
    ends = (("ground", "a"), ("b", "a"), ("b", "c"))  # the second one against the tree
    for k, (at, kind) in enumerate(
        (((0, 0, 0), "revolute"), ((0.6, 0, 0), "revolute"), ((0.8, 0.1, 0.1), "prismatic"))
    ):
        model.joint(f"j{k}", kind, *ends[k], at=at, axis=axes[k], armature=armatures[k])
    if loop:
        model.joint("rod", "distance", "ground", "c", at=(0.9, -0.4, 0.2), at_b=(0.9, 0.1, 0.2))
    return model


def coordinates(world: im.World) -> np.ndarray:
    return np.array([world.joint(name).position for name in ("j0", "j1", "j2")])


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_pendulum_with_a_rotor(coordinates: str) -> None:
    """(I + m l² + a) q̈ = m g l cos q, T = (I + m l² + a) q̇² / 2, and the bob feels -a q̈ about the axis."""
    armature = 0.7
    world = im.World(pendulum(armature, speed=1.3), coordinates=coordinates, dt=0.005)
    whole = INERTIA + MASS * LENGTH**2 + armature
    expected = MASS * G * LENGTH / whole
    assert world.body("bob").angular_acceleration[1] == pytest.approx(expected, rel=1e-12)
    assert world.energy().kinetic == pytest.approx(whole * 1.3**2 / 2, rel=1e-12)
    world.run(1.0)
    hinge, bob = world.joint("hinge"), world.body("bob")
    assert hinge.reaction.torque[1] == pytest.approx(-armature * bob.angular_acceleration[1], rel=1e-9)
    energy = whole * hinge.velocity**2 / 2 - MASS * G * LENGTH * np.sin(hinge.position)
    assert energy == pytest.approx(whole * 1.3**2 / 2, rel=1e-9)
    assert abs(world.energy().imbalance) < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_those_of_mujoco(seed: int) -> None:
    """M + diag(armature), on a free joint, a ball, a hinge and a slide: to rounding."""
    assert against_mujoco(DATA / "geared.xml", seed) < 1e-13


@pytest.mark.parametrize("armatures", [(0.3, 0.0, 0.0), (0.0, 0.05, 0.2), (0.3, 0.05, 0.2)])
@pytest.mark.parametrize("loop", [False, True])
def test_both_coordinates_agree(armatures: tuple[float, ...], loop: bool) -> None:
    """Joints with armature are of the tree in both, the others are rows in one: one trajectory within tolerances."""
    runs = []
    for kind in ("generalized", "maximal"):
        with pytest.warns(UserWarning, match="start velocities"):
            world = im.World(chain(armatures, loop), coordinates=kind, dt=0.002, rtol=1e-11, atol=1e-12)
        world.run(0.2)
        energy = world.energy()
        assert abs(energy.imbalance) < 1e-9 * (energy.kinetic + 1.0)
        runs.append(np.concatenate([coordinates(world), world.joint("j1").reaction.torque]))
    np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=2e-8)


@pytest.mark.parametrize("loop", [False, True])
def test_inverse_dynamics_at_body_level_is_undone_by_forward_dynamics(loop: bool) -> None:
    """M + Σ a Jᵀ J over free bodies gives the torques of a motion; a tree with M + diag(a) moves so by them."""
    driven = ("j0", "j1") if loop else ("j0", "j1", "j2")
    model = chain((0.3, 0.05, 0.2), loop)
    for body in model.bodies.values():
        body.angular_velocity = np.zeros(3)
    motions = {name: im.Harmonic(0.1, 2.0 + k, phase=-np.pi / 2, mean=0.1) for k, name in enumerate(driven)}
    found = analysis.inverse(model, motions)
    torque = dict(zip(driven, found["motor_torque"].values[0], strict=True))
    worlds = []
    for motors in (
        {name: im.Motor(position=motion) for name, motion in motions.items()},
        {name: im.Motor(torque=float(value)) for name, value in torque.items()},
    ):
        own = model.copy(parts=True)
        for name, motor in motors.items():
            next(iter(own.joints[name].features.values())).motor = motor
        worlds.append(im.World(own))
    for name in model.bodies:
        by_motion, by_torque = (world.body(name).acceleration for world in worlds)
        np.testing.assert_allclose(by_motion, by_torque, atol=1e-10)
    report = worlds[0].step()
    assert report is not None
    for name in model.joints:
        for what, of in (("force", 0), ("torque", 1)):
            there = found[f"reaction_{what}"].sel(joint=name).values[0]
            np.testing.assert_allclose(there, worlds[0].joint(name).reaction[of], atol=5e-2 * (1 + np.abs(there).max()))


def test_modes_have_the_rotor() -> None:
    """ω² = m g l / (I + m l² + a)."""
    model = pendulum(0.7)
    omega = np.sqrt(MASS * G * LENGTH / (INERTIA + MASS * LENGTH**2 + 0.7))
    assert analysis.modes(model).frequency[0] == pytest.approx(omega, rel=1e-8)


@pytest.mark.parametrize("method", ["simgc", "projected", "baumgarte", "linear_implicit", "generalized_alpha", "simmc"])
def test_methods_converge_to_one_trajectory(method: str) -> None:
    """Halving h halves the error of a method of first order, and more of others."""

    def final(name: str, dt: float) -> np.ndarray:
        with pytest.warns(UserWarning, match="start velocities"):
            world = im.World(chain((0.3, 0.05, 0.2)), method=name, dt=dt)
        world.run(0.2)
        return coordinates(world)

    exact = final("direct", 0.002)
    coarse, fine = (np.abs(final(method, dt) - exact).max() for dt in (0.002, 0.001))
    assert fine < 0.6 * coarse or fine < 1e-9
    assert fine < 2e-3


def test_what_cannot_have_it_is_refused() -> None:
    model = chain((0.3, 0.05, 0.2))
    with pytest.raises(im.ModelError, match="joint 'j0': has armature, for which variational has no law"):
        im.World(model, method="variational")
    model.joint("back", "revolute", "ground", "c", at=(0.9, 0.1, 0.2), axis=ALONG, armature=0.1)
    with pytest.raises(im.ModelError, match="joint 'back': has armature, but closes a loop"):
        im.World(model)
    with pytest.raises(im.ModelError, match="armature is -1"):
        pendulum(-1.0)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_it_is_a_parameter_and_an_edit(coordinates: str) -> None:
    """Set, given to a joint that had none, taken back: the same as a model with it; books hold."""
    world = im.World(pendulum(0.2, speed=1.0), coordinates=coordinates, dt=0.005)
    world.run(0.1)
    before = world.snapshot()
    world.set("hinge.armature", 0.5)
    assert world.model.joints["hinge"].features["angle"].armature == 0.5
    whole = INERTIA + MASS * LENGTH**2 + 0.5
    assert world.energy().kinetic == pytest.approx(whole * world.joint("hinge").velocity ** 2 / 2, rel=1e-12)
    world.run(0.1)
    assert abs(world.energy().imbalance) < 1e-9
    world.restore(before)
    world.change("hinge", armature=0.0)
    world.set("hinge.armature", 0.3)  # built anew
    world.run(0.1)
    assert abs(world.energy().imbalance) < 1e-9
    expected = MASS * G * LENGTH * np.cos(world.joint("hinge").position) / (whole - 0.2)
    assert world.body("bob").angular_acceleration[1] == pytest.approx(expected, rel=1e-9)


def test_worlds_of_a_batch_have_their_own() -> None:
    """q̈ of each by its own a; an edit that builds the batch anew keeps them."""
    world = im.World(pendulum(0.2), worlds=3)
    values = np.array([0.0, 0.4, 1.0])
    world.set("hinge.armature", values)
    expected = MASS * G * LENGTH / (INERTIA + MASS * LENGTH**2 + values)
    np.testing.assert_allclose(world.body("bob").angular_acceleration[:, 1], expected, rtol=1e-12)
    world.apply(edits.Add("body", "other", {"mass": 1.0, "inertia": (1, 1, 1), "position": (5, 0, 0)}))
    np.testing.assert_allclose(world.body("bob").angular_acceleration[:, 1], expected, rtol=1e-12)


def test_files_and_scripts_keep_it(tmp_path: Path) -> None:
    """JSON and Python text give the model back."""
    model = chain((0.3, 0.05, 0.2))
    im.save_model(model, tmp_path / "chain.json")
    assert im.load(tmp_path / "chain.json").joints["j1"].features["angle"].armature == 0.05
    scope: dict = {}
    exec(im.to_python(model), scope)
    made = next(value for value in scope.values() if isinstance(value, im.Model))
    assert made.joints["j2"].features["slide"].armature == 0.2
