"""The variational method: order of its compositions, energy without trend, momenta, reversal, rows, refusals."""

import math
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import impulsar as im
from impulsar.edits import ChangeJoint, EditError, SetMethod, SetParameter
from impulsar.edits.rebuild import momentum
from impulsar.validate.convergence import observed_order, pendulum

COORDINATES = ("generalized", "maximal")
VIBRATION = 170.6  # of cross-lift [rad/s]
TURN = 0.27747  # of `turning` [s]


def top() -> im.Model:
    """A body of three different moments, its principal axes askew in it, on a ball joint off its centre."""
    model = im.Model("top")
    inertia = ((0.02, 0.003, 0.001), (0.003, 0.025, 0.002), (0.001, 0.002, 0.015))
    body = model.body("top", mass=1.0, inertia=inertia, position=(0.1, 0.0, 0.2), angular_velocity=(1.0, 2.0, 15.0))
    model.joint("ball", "spherical", model.ground, body, at=(0, 0, 0))
    return model


def turning(rate: float = 20.0) -> im.Model:
    """The four-bar with its crank turning at a rate, from poses beside the first [rad/s]."""
    apart = 1e-4
    before, after = (im.scene("four-bar", angle_deg=60.0 + sign * apart) for sign in (-1, 1))
    model, time = im.scene("four-bar"), 2 * math.radians(apart) / rate
    for name, body in model.bodies.items():
        a, b = before.bodies[name], after.bodies[name]
        turn = Rotation.from_quat(b.orientation) * Rotation.from_quat(a.orientation).inv()
        body.velocity, body.angular_velocity = (b.position - a.position) / time, turn.as_rotvec() / time
    return model


def world_of(model: im.Model, *options, **more) -> im.World:
    """A world whose authored velocities may be changed a little to fit the joints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return im.World(model, *options, **more)


def trajectory(world: im.World, steps: int) -> np.ndarray:
    """Positions and velocities of all bodies at five times."""
    found = []
    for _ in range(5):
        world.step(steps // 5)
        views = [world.body(name) for name in world.model.bodies]
        found.append([(view.position, 0.1 * view.velocity) for view in views])
    return np.array(found)


# order ------------------------------------------------------------------------------------------------

ROUGH = {2: (200, 400, 800), 4: (80, 160, 320), 6: (80, 120, 160)}  # steps in which errors are above rounding
MOTIONS = {  # model, time [s], and steps of the composition of order 8
    "pendulum": (pendulum, 2.0, (25, 30, 40)),
    "four-bar": (lambda: im.scene("four-bar"), 0.5, (80, 100, 120)),
    "slider-crank": (lambda: im.scene("slider-crank"), 0.5, (50, 60, 80)),
    "top": (top, 0.5, (20, 25, 30)),
}


@pytest.mark.parametrize("motion", MOTIONS)
def test_order_of_every_composition(motion):
    """Errors go by h^p, p the order of the composition, within 0.15.

    They are against `direct` at a tolerance of 1e-14: by 1e-13 it is off by a 20th of the least of them.
    """
    make, time, finest = MOTIONS[motion]
    exact = trajectory(world_of(make(), im.Direct(rtol=1e-14, atol=1e-14), dt=time / 50), 50)
    for order, counts in {**ROUGH, 8: finest}.items():
        method = im.Variational(composition=order, max_step=1.0)
        errors = [np.abs(trajectory(world_of(make(), method, dt=time / n), n) - exact).max() for n in counts]
        found = observed_order(errors, tuple(time / n for n in counts))
        assert found == pytest.approx(order, abs=0.15), (order, errors)


def test_order_with_dampers_and_a_given_motion():
    """A step that takes dampers at both its ends is its own adjoint: compositions of it keep their order."""

    def damped() -> im.Model:
        model = im.Model("damped")
        arm = model.body("arm", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(0.3, 0, 0))
        tip = model.body("tip", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0.6, 0, 0))
        drive = im.Motor(position=im.Harmonic(0.5, 3.0))
        model.joint("drive", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), motor=drive)
        hinge = {"stiffness": 3.0, "damping": 0.05, "viscous": 0.02}
        model.joint("hinge", "revolute", arm, tip, at=(0.5, 0, 0), axis=(0, 1, 0), **hinge)
        model.spring("line", model.ground, tip, (0, 0, 1), (0.6, 0, 0), 20.0, 0.4)
        model.load("push", tip, force=(0, 0, im.Harmonic(1.0, 5.0)))
        return model

    exact = trajectory(im.World(damped(), im.Direct(rtol=1e-12, atol=1e-12), dt=0.01), 100)
    for order, counts in {2: (200, 400, 800), 4: (50, 100, 200), 6: (40, 60, 80)}.items():
        method, errors, books = im.Variational(composition=order, max_step=1.0), [], []
        for n in counts:
            world = im.World(damped(), method, dt=1.0 / n)
            errors.append(np.abs(trajectory(world, n) - exact).max())
            books.append(abs(world.energy().imbalance))
        steps = tuple(1.0 / n for n in counts)
        assert observed_order(errors, steps) == pytest.approx(order, abs=0.15), (order, errors)
        assert observed_order(books, steps) >= order - 0.15, (order, books)


# long runs --------------------------------------------------------------------------------------------


def drift(world: im.World, scale: float, steps: int, samples: int) -> tuple[float, float, float]:
    """Largest error of the energy, what a line through it rises by over the run, and the scatter about that line."""
    found = np.zeros(samples)
    for k in range(samples):
        world.step(steps // samples)
        found[k] = world.energy().imbalance / scale
    line = np.polyfit(np.linspace(0.0, 1.0, samples), found, 1)
    return np.abs(found).max(), abs(line[0]), float(np.std(found - np.polyval(line, np.linspace(0.0, 1.0, samples))))


def check_turning(turns: float, samples: int) -> None:
    """The energy of a four-bar that turns under its weight is off by less than 1e-6 of its motion, without trend."""
    world = world_of(turning(), "variational", dt=0.005)
    worst, rise, scatter = drift(world, world.energy().kinetic, round(turns * TURN / world.dt), samples)
    assert world.joint("O").position / (2 * math.pi) == pytest.approx(turns, rel=0.02)
    assert worst < 1e-6 and rise < scatter
    assert world.constraint_error() < 1e-13


def check_vibration(periods: float, samples: int) -> None:
    """The same of the undamped vibration of cross-lift, of the energy that is in it."""
    model = im.scene("cross-lift", damping=0.0)
    world = im.World(model, "variational", dt=0.005)
    steps = round(periods * 2 * math.pi / VIBRATION / world.dt)
    worst, rise, scatter = drift(world, model.reference_energy, steps, samples)
    assert worst < 1e-6 and rise < scatter
    assert world.constraint_error() < 1e-13


@pytest.mark.slow
def test_four_bar_turns_1000_times_without_drift():
    check_turning(1e3, 500)


@pytest.mark.slow
def test_cross_lift_vibrates_1000_periods_without_drift():
    check_vibration(1e3, 500)


@pytest.mark.study
def test_four_bar_turns_100000_times_without_drift():
    """About 18 minutes on one core: 5.5 million steps of 17 stages."""
    check_turning(1e5, 2000)


@pytest.mark.study
def test_cross_lift_vibrates_100000_periods_without_drift():
    """About 9 minutes on one core: 0.74 million steps of 17 stages."""
    check_vibration(1e5, 2000)


def test_energy_does_not_drift():
    """Over 60 turns of the four-bar the largest error of the second half is that of the first, to a tenth."""
    world = world_of(turning(), "variational", dt=0.005)
    scale, halves = world.energy().kinetic, []
    for _ in range(2):
        errors = []
        for _ in range(1665):
            world.step()
            errors.append(abs(world.energy().imbalance) / scale)
        halves.append(max(errors))
    assert halves[0] < 1e-6 and halves[1] == pytest.approx(halves[0], rel=0.1)


# what it keeps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_momenta_of_a_free_chain(coordinates):
    """Nothing acts from outside: linear and angular momentum stay, to rounding, at any step."""
    model = im.Model("chain", gravity=(0, 0, 0))
    links = [
        model.body(
            f"link {k}",
            mass=1.0 + 0.3 * k,
            inertia=(0.01, 0.02, 0.025),
            position=(0.2 * k, 0, 0),
            velocity=(0, 0.3 * k, 0.1),
            angular_velocity=(1.0 - k, 2.0, 0.5 * k),
        )
        for k in range(4)
    ]
    types = ("spherical", "universal", "revolute")
    for k, kind in enumerate(types):
        axes = {} if kind == "spherical" else {"axis": (0, 0, 1)}
        axes |= {"axis2": (0, 1, 0)} if kind == "universal" else {}
        model.joint(f"joint {k}", kind, links[k], links[k + 1], at=(0.2 * k + 0.1, 0, 0), **axes)
    model.spring("band", links[0], links[3], (0, 0.05, 0), (0.6, 0.05, 0), 50.0, 0.0)
    world = world_of(model, im.Variational(composition=2), coordinates, dt=0.005)
    start, energy = momentum(world.runner.bench), world.energy()
    for _ in range(20):
        world.step(50)
        assert np.abs(momentum(world.runner.bench) - start).max() < 1e-12 * max(1.0, np.abs(start).max())
    assert abs(world.energy().imbalance) < 1e-2 * energy.kinetic
    assert world.energy().elastic > 1e-4 * energy.kinetic  # the links did not move as one


@pytest.mark.parametrize("composition", [2, 8])
@pytest.mark.parametrize("scene", ["four-bar", "peaucellier"])
def test_turned_round_it_comes_back(scene, composition):
    """The step is its own adjoint: after velocities are turned round it retraces its way, to rounding."""
    model = im.scene(scene, **({"motor": False} if scene == "peaucellier" else {}))
    world = im.World(model, im.Variational(composition=composition), dt=0.002)
    start = world.state.read("q").copy()
    world.step(90)  # peaucellier folds flat at 0.2 s
    there = np.abs(world.state.read("q") - start).max()
    world.state.write("v", -world.state.read("v"))
    world.step(90)
    assert there > 0.1
    assert np.abs(world.state.read("q") - start).max() < 1e-10
    assert np.abs(world.state.read("v")).max() < 1e-9


@pytest.mark.parametrize("scene", ["four-bar", "slider-crank", "peaucellier", "cross-lift", "ten-pendula"])
def test_rows_hold_to_rounding(scene):
    """Loops, redundant ones among them, stay closed to rounding; so do velocities."""
    options = {"cross-lift": {"damping": 0.0}, "ten-pendula": {"start": "30deg"}}
    world = im.World(im.scene(scene, **options.get(scene, {})), "variational", dt=0.002)
    for _ in range(10):
        report = world.step(20)
        assert world.constraint_error() < 1e-13
        assert report.position_residual < 1e-14 and report.velocity_residual < 1e-12
        assert not report.trouble


@pytest.mark.parametrize("make", [lambda: im.scene("four-bar"), lambda: im.scene("cross-lift", damping=0.0), top])
def test_coordinates_do_not_matter(make):
    """The step is that of the bodies: trees and free bodies give the same, to rounding."""
    found = [trajectory(world_of(make(), im.Variational(composition=4), c, dt=0.002), 20) for c in COORDINATES]
    assert np.abs(found[0] - found[1]).max() < 1e-12


def test_a_step_at_a_time_is_the_same():
    """step(n) is n times step to the bit, whole turns of a wheel among it."""

    def wheel() -> im.Model:
        model = im.Model("wheel", gravity=(0, -9.81, 0))
        body = model.body("wheel", mass=1.0, inertia=(0.01, 0.01, 0.02), position=(0.1, 0, 0), velocity=(0, 6.0, 0))
        body.angular_velocity = np.array([0.0, 0.0, 60.0])
        model.joint("axle", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
        return model

    worlds = [world_of(wheel(), "variational", dt=0.004) for _ in range(2)]
    worlds[0].step(300)
    for _ in range(300):
        worlds[1].step()
    assert worlds[0].joint("axle").position > 20 * math.pi
    assert worlds[0].hash() == worlds[1].hash()


def test_whole_turns_are_counted_and_cost_no_digits():
    """10⁵ turns on, a pendulum moves as it does at the start: its angle has lost none of its digits."""
    ends = []
    for turns in (0, 100_000):
        world = im.World(pendulum(), "variational", dt=0.01)
        world.state.write("q", world.state.read("q") + 2 * math.pi * turns)
        world.step(200)
        ends.append((world.body("rod").position, world.joint("hinge").position - 2 * math.pi * turns))
    assert ends[1][1] == pytest.approx(ends[0][1], abs=1e-9)
    assert np.abs(ends[1][0] - ends[0][0]).max() < 1e-9  # what 2 π · 10⁵ itself is rounded to
    world.step(1)


def test_motors_are_met_and_their_work_is_booked():
    """A given position and a given speed are met to rounding; the books balance to the order of the method."""
    for drive, target in (
        (im.Motor(position=im.Harmonic(1.1, 3.0)), lambda t: 1.1 * math.sin(3.0 * t)),
        (im.Motor(speed=im.Harmonic(1.1, 3.0)), lambda t: 1.1 / 3.0 * (1.0 - math.cos(3.0 * t))),
    ):
        model = im.scene("four-bar")
        world = im.World(model, "variational", dt=0.005)
        world.change("O", motor=drive)
        start = world.joint("O").position
        for _ in range(10):
            world.step(20)
            assert world.joint("O").position - start == pytest.approx(target(world.time), abs=1e-12)
        books = world.energy()
        assert abs(books.imbalance) < 1e-8 * model.reference_energy
        assert abs(sum(books.work.values())) > 1e-3 * model.reference_energy


# what it cannot do ------------------------------------------------------------------------------------


def hinged(**features) -> im.Model:
    model = im.Model("hinged")
    body = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), **features)
    return model


REFUSED = {
    "dry friction": {"friction": 0.1},
    "limits": {"limits": (-1.0, 1.0)},
    "bounded": {"motor": im.Motor(speed=1.0, max_torque=2.0)},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_acts_by_jumps_is_refused(what):
    """When a world is made, when the method is chosen, and when an edit would bring it; nothing is changed then."""
    with pytest.raises(im.ModelError, match=rf"joint 'hinge': .*{what}.*direct"):
        im.World(hinged(**REFUSED[what]), "variational")
    other = im.World(hinged(**REFUSED[what]))
    with pytest.raises(EditError, match=what):
        other.apply(SetMethod("variational"))
    assert other.method.name == "direct"
    world = im.World(hinged(), "variational", dt=0.01)
    world.step(10)
    before = world.hash()
    with pytest.raises(EditError, match=what):
        world.apply(ChangeJoint("hinge", REFUSED[what]))
    assert world.hash() == before
    world.step(10)


def test_a_bound_set_on_a_motor_is_refused():
    """A parameter that is written in place, too."""
    world = im.World(hinged(motor=im.Motor(speed=1.0)), "variational", dt=0.01)
    world.step(10)
    before = world.hash()
    with pytest.raises(EditError, match="bounded, by max_torque 3"):
        world.apply(SetParameter("hinge.max_torque", 3.0))
    assert world.hash() == before
    world.step(10)
    world.apply(SetParameter("arm.mass", 2.0))
    assert world.model.bodies["arm"].mass == 2.0


def test_contact_and_drives_of_balls_are_refused():
    model = im.Model("ball")
    body = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.joint("ball", "spherical", model.ground, body, at=(0, 0, 0), motor=im.Motor(speed=(1.0, 0.0, 0.0)))
    with pytest.raises(im.ModelError, match="on a ball"):
        im.World(model, "variational")
    with pytest.raises(im.ModelError, match="contact"):
        im.World(im.scene("stack"), "variational")


def test_a_step_without_solution_is_an_error():
    """A step of many turns has no end that Newton's method finds: a named error, the last state kept."""
    world = world_of(turning(200.0), im.Variational(max_step=1.0), dt=0.2)
    with pytest.raises(im.StepError, match="Newton's method") as caught:
        world.step(5)
    assert caught.value.cause == "unsolved"
    assert np.isfinite(world.body("crank").position).all() and world.constraint_error() < 1e-12


def test_wrong_options_are_refused():
    for options in ({"composition": 3}, {"iterations": 1}, {"max_step": 0.0}):
        with pytest.raises((ValueError, im.ModelError), match="variational"):
            im.World(hinged(), im.Variational(**options))


def test_a_budget_is_told():
    """A limit of work leaves joints open by what the report says, and no more than that."""
    world = im.World(im.scene("four-bar"), im.Variational(iterations=34), dt=0.01)
    report = world.step(20)
    assert report.ended_by == "iterations"
    assert 0.0 < report.coarsest < 1e-2
    assert world.constraint_error() < 0.05
