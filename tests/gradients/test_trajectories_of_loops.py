"""Trajectories of mechanisms with loops: a world of its own, run with the torques that were found, ends at the goal,
within the limits of torque and speed, with its loops closed."""

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis.bodies import Mechanism
from impulsar.engine.system.slots import CLOSURE
from impulsar.optimise import trajectory
from impulsar.optimise.guess import smooth_way

STEP = im.Direct(substeps=1)
CLOSED = 1e-9  # [m, rad] of a projection at every step
MET = 1e-4  # of the scale of what is wanted


def gap(world: im.World) -> float:
    """By how much the joints are open [m, rad]."""
    mechanism = Mechanism(world)
    return float(np.abs(mechanism.balance().error[mechanism.pick(CLOSURE)]).max())


def rerun(model: im.Model, found, dt: float) -> tuple[im.World, dict[str, np.ndarray]]:
    """A world of its own with motors that were found, and speeds of the driven joints at its steps."""
    for name in found.torques:
        group = next(iter(model.joints[name].features))
        model.joints[name].features[group].motor = found.motor(name)
    world = im.World(model, method=STEP, dt=dt)
    speeds: dict[str, list[float]] = {name: [] for name in found.torques}
    steps = round(found.duration / dt)
    for k in range(steps):
        world.step()
        for name, values in speeds.items():
            values.append(float(world.joint(name).velocity))
        if k in (steps // 3, steps // 2, steps - 1):
            assert gap(world) < CLOSED
    return world, {name: np.array(values) for name, values in speeds.items()}


def check_torques(found, most: dict[str, float]) -> None:
    for name, limit in most.items():
        assert np.abs(found.torques[name].values).max() <= limit


def test_a_smooth_way_of_a_lift_is_one_of_inverse_dynamics() -> None:
    """A scissor of one stage, arms of L: from height h at rest the screw holds F = W h' with the plate's weight and
    half of the arms' as W and h' = dh/dx = x / h; at the end of the way it holds again."""
    model = im.scene("scissor", stages=1)
    found = smooth_way(
        model, ["screw"], [0.0], {"plate.position.z": 0.28, "plate.velocity.z": 0.0}, np.linspace(0, 0.5, 6)
    )
    assert found is not None
    (motion,), torques = found
    plate, nut = model.bodies["plate"].position, model.bodies["nut"].position
    weight = 9.81 * (model.bodies["plate"].mass + model.bodies["link1a"].mass)
    for t, torque, x, h in (
        (0.0, torques[0, 0], nut[0], plate[2]),
        (0.5, torques[0, -1], nut[0] + motion(0.5)[0], 0.28),
    ):
        assert motion(t)[1:] == pytest.approx((0.0, 0.0), abs=1e-12)
        assert torque == pytest.approx(-weight * x / h, rel=3e-6)  # the end is found within 1e-6
    assert (
        smooth_way(model, ["screw"], [0.0], {"plate.position.z": 2.0}, np.linspace(0, 0.5, 6)) is None
    )  # out of reach


def test_a_lift_is_raised_by_a_force_that_does_not_hold_it() -> None:
    """The force that holds a scissor lift falls with its height: a little too much and it runs away, the more the
    longer. Ends at rest where it is wanted."""
    most, dt = {"screw": 120.0}, 0.02
    goal, limits = {"plate.position.z": 0.28, "plate.velocity.z": 0.0}, {"plate.velocity.z": (-1.0, 1.0)}
    model = im.scene("scissor", stages=1)
    found = trajectory(model, most, goal, 0.4, limits, dt=dt, knots=6, method=STEP, rounds=6)
    assert found.met, found.why
    check_torques(found, most)
    world, _ = rerun(im.scene("scissor", stages=1), found, dt)
    assert world.body("plate").position[2] == pytest.approx(0.28, abs=2 * MET)
    assert world.body("plate").velocity[2] == pytest.approx(0.0, abs=2 * MET)


@pytest.mark.study
def test_a_five_bar_goes_from_one_pose_to_another_within_torques_and_speeds(tmp_path) -> None:
    """Two motors, two loops' worth of freedoms: the pen is where it is wanted and stands, each motor below its most."""
    most, dt = {"left motor": 0.25, "right motor": 0.25}, 0.01
    goal = {"pen.position.x": 0.03, "pen.position.y": 0.10, "left motor.velocity": 0.0, "right motor.velocity": 0.0}
    limits = {"left motor.velocity": (-8.0, 8.0), "right motor.velocity": (-8.0, 8.0)}
    found = trajectory(im.scene("five-bar"), most, goal, 0.4, limits, dt=dt, knots=11, method=STEP)
    assert found.met, found.why
    check_torques(found, most)
    world, speeds = rerun(im.scene("five-bar"), found, dt)
    assert world.readout.points()[0, 0, :2] == pytest.approx((0.03, 0.10), abs=2e-5)
    for name, values in speeds.items():
        assert np.abs(values).max() <= 8.0 * (1 + MET) and values[-1] == pytest.approx(0.0, abs=8.0 * 2 * MET), name
    found.picture(str(tmp_path / "five-bar.png"))
    assert (tmp_path / "five-bar.png").stat().st_size > 10_000


@pytest.mark.study
@pytest.mark.parametrize(
    "scene, drive, most, goal, limits, duration, dt",
    [
        ("four-bar", "O", 1.0, {"O.position": 1.5, "O.velocity": 0.0}, {"O.velocity": (-4.0, 4.0)}, 0.6, 0.02),
        (
            "slider-crank",
            "bearing",
            1.0,
            {"guide.position": -0.12, "guide.velocity": 0.0},
            {"bearing.velocity": (-6.0, 6.0)},
            0.5,
            0.01,
        ),
    ],
)
def test_a_loop_is_driven_to_a_pose(scene, drive, most, goal, limits, duration, dt) -> None:
    found = trajectory(im.scene(scene), {drive: most}, goal, duration, limits, dt=dt, knots=11, method=STEP)
    assert found.met, found.why
    check_torques(found, {drive: most})
    world, speeds = rerun(im.scene(scene), found, dt)
    for path, value in goal.items():
        joint, what = path.split(".")
        assert getattr(world.joint(joint), what) == pytest.approx(value, abs=4 * MET), path
    fastest = next(iter(limits.values()))[1]
    assert np.abs(speeds[drive]).max() <= fastest * 1.01  # limits are kept at samples


def test_a_place_out_of_reach_says_what_is_missed() -> None:
    goal = {"guide.position": 3.0}
    found = trajectory(im.scene("slider-crank"), {"bearing": 1.0}, goal, 0.1, dt=0.02, knots=3, rounds=3, method=STEP)
    assert not found.met and "guide.position is off by" in found.why
