"""Methods by which joints are held other than by direct's: feedback, projection, equations of index 2 and 3."""

import numpy as np
import pytest

import impulsar as im
from impulsar.engine.coordinates.inverse import joint_forces
from impulsar.engine.coordinates.retract import move_coordinates
from impulsar.engine.integrate.inertial_tangent import inertial_tangent
from impulsar.engine.state import State, StateArrays, allocate_work
from impulsar.engine.system import System, SystemArrays
from impulsar.validate.convergence import G, four_bars, pendulum, swing, torque_free_error
from impulsar.validate.identities import OFFSETS, WEIGHTS, random_tree
from impulsar.validate.poison import poison

wp = pytest.importorskip("warp")
BOTH = pytest.mark.parametrize("coordinates", ["generalized", "maximal"])


def crank(speed: float = 0.0) -> im.Model:
    return im.scene("slider-crank", speed=speed)


def drift(method, coordinates: str, h: float, duration: float, speed: float = 10.0) -> np.ndarray:
    """Constraint error of the driven slider-crank, at each tenth of a run [m]."""
    world = im.World(crank(speed), method, coordinates=coordinates, dt=h)
    found = []
    for _ in range(10):
        world.step(round(duration / h / 10))
        found.append(world.constraint_error())
    return np.array(found)


def orders(method, h: float, coordinates: str | None = None, duration: float = 0.4, levels: int = 3) -> np.ndarray:
    """Observed orders of a slider-crank's position that is released, h halved each time."""
    fine = im.World(crank(), rtol=1e-13, atol=1e-13, dt=0.01)
    fine.step(round(duration / 0.01))
    there = fine.body("slider").position
    off = []
    for k in range(levels):
        world = im.World(crank(), method, coordinates=coordinates, dt=h / 2**k)
        world.step(round(duration / h) * 2**k)
        off.append(np.linalg.norm(world.body("slider").position - there))
    return np.log2(np.array(off[:-1]) / off[1:])


@BOTH
def test_feedback_bounds_what_grows_without_it(coordinates):
    """Wang 2011 Fig. 1 over 20 s: without stabilisation joints open further and further."""
    without = drift(im.Baumgarte(alpha=0.0, beta=0.0), "maximal", 1e-3, 20.0)
    fed_back = drift(im.Baumgarte(), coordinates, 1e-3, 20.0)
    projected = drift(im.Projected(), coordinates, 1e-3, 20.0)
    assert without[-1] > 3 * without[4] > 0
    assert fed_back.max() < 1e-8
    assert fed_back[-1] < 2 * fed_back[:5].max()
    assert projected.max() < 1e-12


@pytest.mark.parametrize(("integrator", "order", "h"), [("rk4", 4, 0.004), ("heun", 2, 0.002), ("euler", 1, 0.00025)])
@pytest.mark.parametrize("method", [im.Projected, im.Baumgarte])
def test_formulas_have_their_order(method, integrator, order, h):
    made = method(integrator=integrator)
    assert made.order == order
    assert orders(made, h)[-1] == pytest.approx(order, abs=0.15)


def test_damped_feedback_has_its_own_pace():
    """A joint that starts open closes as Φ̈ + 2 α Φ̇ + β² Φ = 0 does: critically damped, (1 + β t) exp(-β t)."""
    world = im.World(crank(5.0), im.Baumgarte(alpha=20.0, beta=20.0), dt=1e-4)
    q = world.state.read("q").copy()
    q[2] += 1e-6  # the wrist: what it opens is the guide
    world.state.write("q", q)
    world.runner.refresh()
    start = world.constraint_error()
    for t in (0.05, 0.1, 0.2):
        world.step(round((t - world.time) / 1e-4))
        assert world.constraint_error() == pytest.approx(start * (1 + 20 * t) * np.exp(-20 * t), rel=0.01)


@BOTH
def test_velocities_of_linear_implicit_steps_fit_to_round_off(coordinates):
    world = im.World(crank(10.0), "linear_implicit", coordinates=coordinates, dt=1e-3)
    assert max(world.step(100).velocity_residual for _ in range(10)) < 1e-13


def test_linear_implicit_opens_with_h_and_corrected_with_its_fourth_power():
    sizes = np.array([0.004, 0.002, 0.001, 0.0005])
    for corrected, least, most in ((False, 0.85, 1.15), (True, 3.5, 4.5)):
        method = im.LinearImplicit(correct=corrected)
        worst = [drift(method, "generalized", h, 10.0).max() for h in sizes]
        slope = np.polyfit(np.log(sizes), np.log(worst), 1)[0]
        assert least < slope < most


def test_corrected_joints_are_as_open_after_long():
    early = drift(im.LinearImplicit(), "generalized", 0.002, 10.0).max()
    late = drift(im.LinearImplicit(), "generalized", 0.002, 100.0).max()
    assert late == pytest.approx(early, rel=0.1)


def test_linear_implicit_has_order_one():
    assert orders(im.LinearImplicit(), 0.0005)[-1] == pytest.approx(1, abs=0.15)


@BOTH
def test_generalized_alpha_has_order_two_and_closed_joints(coordinates):
    assert orders(im.GeneralizedAlpha(substepping=False), 0.005, coordinates)[-1] == pytest.approx(2, abs=0.15)
    assert drift(im.GeneralizedAlpha(), coordinates, 0.002, 1.0).max() < 1e-12


def test_a_stiff_suspension_is_for_methods_that_are_implicit_in_it():
    """A quarter-car with 10 kg unsprung, 1e6 N/m and 1e4 N s/m at h = 0.01."""
    model = im.scene("quarter-car", unsprung=10.0)
    fine = im.World(model, rtol=1e-9, atol=1e-9, dt=0.01)
    fine.step(100)
    there = fine.body("car").position[2]
    for method, off in ((im.Direct(), 1e-6), (im.LinearImplicit(), 5e-3), (im.GeneralizedAlpha(), 1e-3)):
        world = im.World(model, method, dt=0.01)
        world.step(100)
        assert abs(world.body("car").position[2] - there) < off
    with pytest.raises(im.StepError, match=r"finite|short enough"):
        im.World(model, im.Projected(integrator="rk4"), dt=0.01).step(100)
    cut = im.World(model, im.Direct(pair="explicit", iterations=14), dt=0.01)
    assert "iterations" in {trouble.cause for trouble in cut.step(100).trouble}


@pytest.mark.parametrize("coordinates", ["generalized", pytest.param("maximal", marks=pytest.mark.study)])
def test_generalized_alpha_completes_the_hand_by_sub_steps(coordinates):
    model = im.scene("ten-pendula", start="30deg", hand=True)
    world, worst = im.World(model, im.GeneralizedAlpha(radius=0.6), coordinates, dt=0.01), 0.0
    while world.time < 10.0 - 1e-9:
        world.step(10)
        worst = max(worst, abs(world.energy().imbalance) / model.reference_energy)
    assert worst < 0.05


def of_pattern(pattern: tuple[int, ...], n: int) -> tuple[float, float]:
    """Three links from the horizontal, 0.6 s in n steps of the pattern's sizes, maximal: tip off [m], books [J]."""
    model = im.scene("chain", n=3, start="horizontal")
    fine = im.World(model, rtol=1e-11, atol=1e-11, dt=0.01)
    fine.step(60)
    world = im.World(model, im.GeneralizedAlpha(radius=0.6, substepping=False), "maximal", dt=0.6 / n)
    mean, last = sum(pattern) / len(pattern), list(model.bodies)[-1]
    for k in range(n):
        world.system.arrays.nominal_h.fill_(0.6 / n * pattern[k % len(pattern)] / mean)
        world.step()
    off = np.linalg.norm(world.body(last).position - fine.body(last).position)
    return float(off), abs(world.energy().imbalance)


def test_generalized_alpha_keeps_its_order_over_steps_of_changing_size():
    """What velocities are off along the joints' normals goes by h²: carried over to another size, it is thrown off
    by forces that give the chain energy. Steps of 2/3 and 4/3 of a size err by more than those, not by tens of it."""
    even, even_energy = of_pattern((1,), 320)
    coarse, energy = of_pattern((1, 2), 320)
    fine, _ = of_pattern((1, 2), 640)
    assert coarse < 3 * even
    assert energy < 6 * even_energy
    assert np.log2(coarse / fine) > 1.85


def test_generalized_alpha_begins_anew_where_an_input_bends_at_the_end_of_a_step():
    """A force that jumps from 0 to F at t = 0.5, in whole steps: x = F t² / 2 m from there."""
    model = im.Model("pushed", gravity=(0, 0, 0))
    body = model.body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.load("push", body, force=(im.Table([0.0, 0.5, 0.5, 2.0], [0.0, 0.0, 6.0, 6.0]), 0.0, 0.0))
    for divided in (False, True):
        world = im.World(model, im.GeneralizedAlpha(substepping=divided), dt=0.1)
        world.step(10)
        assert world.body("mass").position[0] == pytest.approx(0.5 * 3.0 * 0.25, rel=1e-9)
        assert world.energy().work["push"] == pytest.approx(0.5 * 2.0 * 1.5**2, rel=1e-9)


def test_generalized_alpha_at_a_fixed_step_says_where_it_failed():
    model = im.scene("ten-pendula", start="30deg", hand=True)
    fixed = im.World(model, im.GeneralizedAlpha(radius=0.6, substepping=False), dt=0.01)
    with pytest.raises(im.StepError, match="Newton's method") as told:
        while fixed.time < 10.0:
            fixed.step()
    assert told.value.cause == "unsolved"
    assert 5.0 < fixed.time < 10.0  # the last good step is kept
    assert np.isfinite(fixed.body("link10").position).all()


@wp.kernel(enable_backward=False)
def displace_kernel(m: SystemArrays, s: StateArrays, change: wp.array2d(dtype=wp.float64)):
    move_coordinates(m, s, change, wp.tid())


@pytest.mark.parametrize("seed", [0, 1])
def test_inertial_tangent_is_the_derivative_of_inverse_dynamics(seed):
    """Along every freedom of random trees of every joint, velocities and accelerations changing with it."""
    model = random_tree(seed)
    n, each = System(model).counts.dofs, len(OFFSETS)
    system = System(model, worlds=n * each)
    state, work = State(system.counts, "cpu"), allocate_work(system.counts, "cpu")
    rng = np.random.default_rng(seed)
    v, rate, g_v, g_a = rng.normal(size=(n, 1)), 3 * rng.normal(size=(n, 1)), 1.7, 5.0
    change = np.kron(np.eye(n), OFFSETS)
    state.write("q", np.repeat(system.start_coordinates()[:, None], n * each, axis=1))
    given = wp.array(change, dtype=wp.float64, device="cpu")
    wp.launch(displace_kernel, n * each, inputs=[system.arrays, state.arrays, given], device="cpu")
    state.write("v", v + g_v * change)
    system.arrays.gravity.zero_()
    torques = joint_forces(system, state, work, rate + g_a * change)
    differences = torques.reshape(n, n, each) @ WEIGHTS
    state.write("q", np.repeat(system.start_coordinates()[:, None], n * each, axis=1))
    state.write("v", np.repeat(v, n * each, axis=1))
    poison(work)
    found = inertial_tangent(system, state, work, np.repeat(rate, n * each, axis=1), g_v, g_a)[0]
    assert np.abs(found - differences).max() < 1e-10 * np.abs(differences).max()


@pytest.mark.parametrize(
    ("integrator", "rtol", "off"), [("DOP853", 1e-10, 1e-9), ("Radau", 1e-8, 1e-8), ("BDF", 1e-8, 1e-5)]
)
def test_scipy_steps_projected(integrator, rtol, off):
    """A slider-crank and a four-bar against direct; joints at round-off, books too."""
    for scene in ("slider-crank", "four-bar"):
        model = im.scene(scene)
        last = list(model.bodies)[-1]
        fine = im.World(model, rtol=1e-13, atol=1e-13, dt=0.01)
        fine.step(50)
        world = im.World(model, im.Projected(integrator=integrator, rtol=rtol, atol=rtol), dt=0.1)
        world.step(5)
        assert np.abs(world.body(last).position - fine.body(last).position).max() < off
        assert world.constraint_error() < 1e-12
        assert abs(world.energy().imbalance) < 10 * off
        again = im.World(model, im.Projected(integrator=integrator, rtol=rtol, atol=rtol), dt=0.1)
        for _ in range(5):
            again.step()
        assert again.hash() == world.hash()


DOP853 = im.Projected(integrator="DOP853", rtol=1e-10, atol=1e-10)


def test_dop853_follows_closed_forms():
    """At rtol 1e-10: a pendulum over 10 s, n-four-bar to 0.9 s, within 1e-9."""
    world = im.World(pendulum(), DOP853, dt=0.5)
    for _ in range(20):
        world.step()
        assert abs(world.joint("hinge").position + 1.0 - swing(world.time, 1.0, np.sqrt(1.5 * G))) < 1e-9
    four = im.World(im.scene("n-four-bar", n=1), DOP853, dt=0.1)
    for angle, _ in four_bars(1, 0.1 * np.arange(1, 10)):
        four.step()
        assert abs(-four.joint("base0").position - angle) < 1e-9


def test_dop853_follows_a_steady_top():
    """On a ball joint, tilted by θ, spinning at ω₃: it goes round at Ω with A Ω² cos θ - C ω₃ Ω + m g l = 0, 10 s.

    At 30 rad/s within 1e-9; errors grow with the turns made, at 60 rad/s to 2.7e-9.
    """
    mass, arm, tilt, spin, across, along = 1.0, 0.3, 0.5, 30.0, 0.03, 0.05
    about = across + mass * arm**2
    rate = np.roots([about * np.cos(tilt), -along * spin, mass * G * arm]).min()
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    turn = (spin - rate * np.cos(tilt)) * axis + np.array([0.0, 0.0, rate])
    model = im.Model("top")
    model.body(
        "top",
        mass,
        (across, across, along),
        arm * axis,
        (0.0, np.sin(tilt / 2), 0.0, np.cos(tilt / 2)),
        velocity=np.cross(turn, arm * axis),
        angular_velocity=turn,
    )
    model.joint("tip", "spherical", "ground", "top", at=(0, 0, 0))
    world = im.World(model, DOP853, dt=0.5)
    for _ in range(20):
        world.step()
        angle = rate * world.time
        there = arm * np.array([np.sin(tilt) * np.cos(angle), np.sin(tilt) * np.sin(angle), np.cos(tilt)])
        assert np.abs(world.body("top").position - there).max() < 1e-9


@pytest.mark.parametrize("integrator", ["rk4", "heun", "pair"])
@pytest.mark.parametrize("h", [0.002, 0.008, 0.04])
def test_projected_drives_at_the_speed_it_is_told(integrator, h):
    """To rounding, at any step: what a formula leaves is projected, once."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(2.0, 2.0, 2.0))
    speed = im.Harmonic(0.8, 5.0)
    model.joint("axle", "revolute", "ground", "wheel", at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(speed=speed))
    world = im.World(model, im.Projected(integrator=integrator), dt=h)
    for _ in range(round(0.8 / h)):
        world.step()
        assert abs(world.joint("axle").velocity - 0.8 * np.sin(5.0 * world.time)) < 1e-12


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_dop853_turns_a_torque_free_body_by_elliptic_functions(coordinates):
    """Over 10 s."""
    assert torque_free_error(DOP853, coordinates, 0.1, "cpu", 10.0, im.World.step) < 1e-9


@pytest.mark.parametrize(
    ("scene", "given", "duration"),
    [("slider-crank", {}, 1.0), ("four-bar", {}, 1.0), ("peaucellier", {"motor": False}, 0.2), ("cross-lift", {}, 0.3)],
)
def test_dop853_agrees_with_itself_at_a_finer_tolerance(scene, given, duration):
    """rtol 1e-10 and 1e-12, within 1e-9 m."""
    model, found = im.scene(scene, **given), []
    for rtol in (1e-10, 1e-12):
        world = im.World(model, im.Projected(integrator="DOP853", rtol=rtol, atol=rtol), dt=0.1)
        world.step(round(duration / 0.1))
        found.append(np.array([world.body(name).position for name in model.bodies]))
    assert np.abs(found[0] - found[1]).max() < 1e-9


@pytest.mark.parametrize("method", ["linear_implicit", "generalized_alpha", im.Projected(integrator="DOP853")])
def test_what_acts_by_jumps_is_refused_in_words(method):
    model = im.Model("rubbed")
    model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5))
    model.joint("pin", "revolute", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0), friction=0.1)
    with pytest.raises(im.ModelError, match=r"'pin': has dry friction.*take method direct"):
        im.World(model, method)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: im.Baumgarte(alpha=-1.0), "alpha"),
        (lambda: im.Baumgarte(integrator="rk5"), "integrator is 'rk5'"),
        (lambda: im.Projected(rtol=0.0), "rtol"),
        (lambda: im.GeneralizedAlpha(radius=1.5), "radius"),
    ],
)
def test_wrong_options_are_named(made, told):
    with pytest.raises(im.ModelError, match=told):
        im.World(crank(), made())
