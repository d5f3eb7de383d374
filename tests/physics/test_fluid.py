"""Fluids: closed forms of bodies that fall, float, swing and bob; books, momentum and bits with a fluid on.

Bounds of closed forms are those of the issue; `direct` at its default tolerance (rtol 1e-9) is far within them.
"""

import math

import numpy as np
import pytest
from scipy import integrate, special

import impulsar as im
from impulsar.author.errors import ModelError

G, RHO = 9.81, 1000.0


def fall(density=7850.0, radius=0.01, **fluid):
    model = im.Model("fall")
    model.body("ball", shape=im.Sphere(radius), density=density)
    model.fluid("water", surface=None, **fluid)
    return model


def till(world, t):
    while world.time < t - 1e-9:
        world.step()


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_ball_falls_with_quadratic_drag_and_added_mass(coordinates):
    """v = v_t tanh(t/τ), x = v_t τ ln cosh(t/τ), τ = (m + ρV/2) v_t / ((ρ_s - ρ) V g)."""
    R, rho_s, C = 0.01, 7850.0, 0.44
    V, A = 4 / 3 * math.pi * R**3, math.pi * R**2
    v_t = math.sqrt(2 * (rho_s - RHO) * V * G / (RHO * C * A))
    tau = (rho_s * V + RHO * V / 2) * v_t / ((rho_s - RHO) * V * G)
    assert (v_t, tau) == pytest.approx((2.0180774, 0.25076373), rel=1e-7)
    world = im.World(fall(drag=C, viscosity=0.0), coordinates=coordinates, dt=0.01)
    for t in (0.1, 1.0):
        till(world, t)
        ball = world.body("ball")
        assert -ball.velocity[2] == pytest.approx(v_t * math.tanh(t / tau), rel=1e-6)
        assert -ball.position[2] == pytest.approx(v_t * tau * math.log(math.cosh(t / tau)), rel=1e-6)
    assert abs(world.energy().imbalance) < 1e-9 * world.energy().kinetic


def test_a_ball_falls_with_linear_drag():
    """v = v_t (1 - e^{-t/τ}) with 6 π μ R v; in syrup."""
    R, rho_s, mu = 0.005, 2500.0, 20.0
    V, c = 4 / 3 * math.pi * R**3, 6 * math.pi * mu * R
    v_t, tau = (rho_s - RHO) * V * G / c, (rho_s * V + RHO * V / 2) / c
    world = im.World(fall(rho_s, R, drag=0.0, viscosity=mu), dt=1e-4)
    till(world, tau)
    v = v_t * (1 - math.exp(-world.time / tau))
    assert -world.body("ball").velocity[2] == pytest.approx(v, rel=1e-6)


def test_drag_of_a_ball_is_schiller_and_naumanns_till_newtons():
    """At the terminal speed the drag is the weight in the fluid: C_D of the speed is (24/Re)(1 + 0.15 Re^0.687)."""
    for R, mu, low, high in ((0.001, 0.1, 0.01, 10.0), (0.002, 0.01, 50.0, 900.0), (0.02, 1e-3, 2e3, 1e5)):
        world = im.World(fall(2000.0, R, viscosity=mu), dt=0.01)
        till(world, 3.0)
        v = -world.body("ball").velocity[2]
        Re = 2 * RHO * v * R / mu
        assert low < Re < high
        C = 8 / 3 * (2000.0 - RHO) * R * G / (RHO * v**2)
        assert pytest.approx(max(24 / Re * (1 + 0.15 * Re**0.687), 0.44), rel=1e-6) == C


def test_added_masses_are_lambs():
    """Of ellipsoids 2:1:1 and 3:2:1, m / ρV; of a sphere a half; the world says what a shape has."""
    from impulsar.engine.system.fluids import added_mass

    for semi, mass in (((2, 1, 1), (0.2100, 0.7042, 0.7042)), ((3, 2, 1), (0.18526, 0.36454, 1.36153))):
        V = 4 / 3 * math.pi * np.prod(semi)
        found, _ = added_mass(V, np.array(semi, float))
        assert found / V == pytest.approx(mass, abs=5e-5)
    V = 4 / 3 * math.pi * 2
    assert added_mass(V, np.array([2.0, 1.0, 1.0]))[1] / V == pytest.approx((0, 0.23942, 0.23942), abs=5e-6)
    world = im.World(fall(), dt=0.01)
    own = world.added_mass("ball")
    assert own == pytest.approx(np.diag([0, 0, 0, 1, 1, 1]) * RHO * 2 / 3 * math.pi * 0.01**3, abs=1e-18)


def test_a_body_turns_in_a_fluid_by_kirchhoffs_equations():
    """M_A in body axes without forces: energy, momentum and the Munk moment, as an independent integration has them."""
    model = im.Model("torpedo", gravity=(0, 0, 0))
    body = model.body(
        "hull",
        shape=im.Capsule(0.1, 0.6),
        density=RHO,
        velocity=(1.0, 0.3, 0.2),
        angular_velocity=(0.2, 0.5, -0.3),
        orientation=(0.5, 0.5, -0.5, 0.5),
    )
    model.fluid("water", surface=None, drag=False)
    world = im.World(model, dt=0.01)
    A = world.added_mass("hull")
    M = A + np.diag([*np.diag(body.inertia), *[body.mass] * 3])
    R0 = rotation(np.array(body.orientation))
    nu = np.concatenate([R0.T @ body.angular_velocity, R0.T @ body.velocity])

    def rate(t, y):
        p = M @ y
        return np.linalg.solve(
            M, -np.concatenate([np.cross(y[:3], p[:3]) + np.cross(y[3:], p[3:]), np.cross(y[:3], p[3:])])
        )

    exact = integrate.solve_ivp(rate, (0, 2), nu, rtol=1e-12, atol=1e-12).y[:, -1]
    till(world, 2.0)
    hull = world.body("hull")
    R = rotation(hull.orientation)
    assert np.concatenate([R.T @ hull.angular_velocity, R.T @ hull.velocity]) == pytest.approx(exact, abs=1e-8)
    assert abs(world.energy().imbalance) < 1e-9 * world.energy().kinetic
    now, then = M @ exact, M @ nu
    assert R @ now[3:] == pytest.approx(R0 @ then[3:], rel=1e-7)  # the impulse stays


def rotation(q):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q).as_matrix()


def floating(shape, area, draft, height):
    """A wall-sided body of a draft, 1 mm above its balance."""
    model = im.Model("float")
    body = model.body("float", mass=RHO * area * draft, shape=shape, position=(0, 0, height / 2 - draft + 1e-3))
    model.joint("guide", "prismatic", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    model.fluid("water", drag=False)
    return model


FLOATS = {
    "cylinder 0.2": (im.Cylinder(0.1, 0.6), math.pi * 0.01, 0.2, 0.6),
    "cylinder 0.4": (im.Cylinder(0.1, 0.6), math.pi * 0.01, 0.4, 0.6),
    "box 0.1": (im.Box((0.4, 0.4, 0.3)), 0.16, 0.1, 0.3),
    "box 0.2": (im.Box((0.4, 0.4, 0.3)), 0.16, 0.2, 0.3),
}


@pytest.mark.parametrize("name", FLOATS)
def test_heave_period_of_a_float(name):
    """T = 2π √((ρSd + m_a) / ρgS), m_a of its ellipsoid by the share d/H; and by the energy integral, with m_a(z)."""
    shape, S, d, H = FLOATS[name]
    world = im.World(floating(shape, S, d, H), dt=0.002)
    depth = lambda: H / 2 - world.body("float").position[2]  # noqa: E731
    m_a = world.added_mass("float")[5, 5] * d / depth()
    m, k, a = RHO * S * d, RHO * G * S, 1e-3
    linear = 2 * math.pi * math.sqrt((m + m_a) / k)
    # z below balance: (m + m_a (1 + z/d)) ż²/2 + k z²/2 = k a²/2; from -a to a', with z = a sin s
    exact = (
        2 * integrate.quad(lambda s: math.sqrt((m + m_a * (1 + a * math.sin(s) / d)) / k), -math.pi / 2, math.pi / 2)[0]
    )
    rising = im.Event("top", lambda w: w.joint("guide").velocity, direction=-1)
    found = world.run(2.2 * linear, events=[rising])["event_time"].values.ravel()
    period = float(found[np.isfinite(found)][-1])
    assert period == pytest.approx(linear, rel=1e-4) or period == pytest.approx(2 * linear, rel=1e-4)
    times = round(period / linear)
    assert period / times == pytest.approx(exact, rel=1e-7)
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * abs(energy.work["water buoyancy"])


def test_period_of_a_submerged_pendulum():
    """ω² = (ρ_s - ρ) V g l / (m (l² + 2/5 R²) + ρ V l²/2); a finite swing takes (2/π) K(sin² θ/2) as long."""
    R, rho_s, length, start = 0.05, 7850.0, 1.0, 0.1
    model = im.Model("pendulum")
    V = 4 / 3 * math.pi * R**3
    x, z = length * math.sin(start), -length * math.cos(start)
    ball = model.body("ball", shape=im.Sphere(R), density=rho_s, position=(x, 0, z))
    model.joint("pin", "revolute", model.ground, ball, at=(0, 0, 0), axis=(0, -1, 0))
    model.fluid("water", surface=None, drag=False)
    m = rho_s * V
    omega = math.sqrt((rho_s - RHO) * V * G * length / (m * (length**2 + 0.4 * R**2) + RHO * V * length**2 / 2))
    assert 2 * math.pi / omega == pytest.approx(2.2158858, rel=1e-7)
    period = 4 / omega * special.ellipk(math.sin(start / 2) ** 2)
    world = im.World(model, dt=0.01)
    top = im.Event("top", lambda w: w.joint("pin").velocity, direction=-1)
    found = world.run(1.2 * period, events=[top])["event_time"].values.ravel()
    assert float(found[np.isfinite(found)][-1]) == pytest.approx(period, rel=1e-6)


def gem(seed=3):
    """A closed mesh of a few faces."""
    from impulsar.engine.system.fluids import hull_triangles

    corners = np.random.default_rng(seed).normal(size=(12, 3))
    faces = hull_triangles(0.1 * corners / np.linalg.norm(corners, axis=1)[:, None])
    vertices, index = np.unique(faces.reshape(-1, 3), axis=0, return_inverse=True)
    return im.Mesh(vertices, index.reshape(-1, 3))


BOBBING = {
    "sphere": lambda: im.Sphere(0.1),
    "capsule": lambda: im.Capsule(0.06, 0.2),
    "cylinder": lambda: im.Cylinder(0.1, 0.2),
    "box": lambda: im.Box((0.2, 0.25, 0.15)),
    "mesh": gem,
}


@pytest.mark.parametrize("tilt", [(0.0, 0.0, 0.0, 1.0), (0.18257419, 0.36514837, 0.54772256, 0.73029674)])
@pytest.mark.parametrize("shape", BOBBING)
def test_what_bobs_through_the_surface_closes_its_books_at_default_options(shape, tilt):
    """Sub-steps end where a surface bends forces: no error but that of smooth ones, ten times the tolerance of 1e-7.

    Upright faces go in flat, and forces jump; drag would hide what is lost, so there is none.
    """
    model = im.Model("bob")
    solid = {"mass": 0.6, "inertia": (0.003, 0.003, 0.003)} if shape == "mesh" else {"density": 400.0}
    model.body("it", shape=BOBBING[shape](), position=(0, 0, 0.5), orientation=tilt, **solid)
    model.fluid("water", drag=False)
    world = im.World(model, dt=0.01)
    heights, work = [], 0
    while world.time < 2.0:
        work += world.step().iterations
        heights.append(world.body("it").position[2])
        assert abs(world.energy().imbalance) < 1e-6 * model.bodies["it"].mass * G * 0.5
    assert min(heights) < -0.15 and max(heights[len(heights) // 2 :]) > 0.15  # all under, and out again
    assert work < 200 * 30  # evaluations: passing a surface is no search without end


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_ball_bobs_through_the_surface_with_closed_books(coordinates):
    """Released from the air it dives under and comes out again; energy goes to drag and nowhere else."""
    model = im.Model("bob")
    model.body("ball", shape=im.Sphere(0.1), density=400.0, position=(0, 0, 0.5))
    model.fluid("water", drag=False)
    world = im.World(model, coordinates=coordinates, dt=0.005)
    heights = []
    while world.time < 3.0:
        world.step()
        heights.append(world.body("ball").position[2])
    assert min(heights) < -0.1  # all under
    assert max(heights[len(heights) // 2 :]) == pytest.approx(0.5, abs=1e-4)  # and back where it was
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * energy.start
    assert "water buoyancy" in energy.work
    world.set("water.drag", None)
    world.set("water.viscosity", 1e-3)
    till(world, 20.0)
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * energy.losses["water drag"]
    assert energy.kinetic < 1e-3 * energy.losses["water drag"]


def test_a_ball_in_waves_passes_both_surfaces_with_closed_books():
    """Buoyancy bends at the waves, added mass at the surface at rest."""
    model = im.Model("surf")
    ball = model.body("ball", shape=im.Sphere(0.1), density=400.0, position=(0, 0, 0.5))
    model.fluid("water", drag=False, wave_amplitude=0.1, wave_period=1.5, depth=5.0)
    world = im.World(model, dt=0.01)
    till(world, 1.5)
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * ball.mass * G * 0.5


def test_added_mass_of_boxes_is_dnvs():
    """DNV-RP-C205 D-2: prisms and plates; D-1: long ones of a square section, C_A π a²/4 per length."""
    from impulsar.engine.system.fluids import box_added_mass

    assert box_added_mass(np.ones(3)) == pytest.approx(0.68)
    for long, C in ((2.0, 0.36), (5.0, 0.15), (10.0, 0.08)):
        assert box_added_mass(np.array([1.0, 1.0, long]))[2] == pytest.approx(C * long)
    for long, C in ((1.0, 0.579), (2.0, 0.757), (10.0, 0.947)):
        assert box_added_mass(np.array([1e-9, 1.0, long]))[0] == pytest.approx(C * math.pi / 4 * long, rel=1e-6)
    assert box_added_mass(np.array([1.0, 1.0, 1e9]))[:2] / 1e9 == pytest.approx(1.51 * math.pi / 4, rel=1e-6)
    model = im.Model("cube")
    model.body("cube", shape=im.Box((0.2, 0.2, 0.2)), density=600.0)
    model.fluid("water", surface=None)
    assert np.diag(im.World(model, dt=0.01).added_mass("cube"))[3:] == pytest.approx(0.68 * RHO * 0.2**3)


def tilted(**fluid):
    """Shapes of all kinds at odd poses, half in the water, one on a hinge."""
    rng = np.random.default_rng(7)
    corners = rng.normal(size=(12, 3)) * 0.1
    hull = im.ConvexHull(corners)
    from impulsar.engine.system.fluids import hull_triangles

    faces = hull_triangles(np.asarray(corners))
    vertices, index = np.unique(faces.reshape(-1, 3), axis=0, return_inverse=True)
    mesh = im.Mesh(vertices, index.reshape(-1, 3))
    model = im.Model("tilted")
    shapes = {
        "box": im.Box((0.3, 0.2, 0.15)),
        "tube": im.Cylinder(0.08, 0.4),
        "pill": im.Capsule(0.07, 0.3),
        "ball": im.Sphere(0.12),
        "cone": im.Cone(0.1, 0.3),
        "hull": hull,
    }
    for k, (name, shape) in enumerate(shapes.items()):
        q = rng.normal(size=4)
        model.body(
            name,
            shape=shape,
            density=500.0,
            position=(k, 0, 0.03),
            orientation=q / np.linalg.norm(q),
            velocity=rng.normal(size=3) * 0.3,
            angular_velocity=rng.normal(size=3),
        )
    model.body("mesh", mass=2.0, inertia=(0.01, 0.01, 0.01), shape=mesh, position=(6, 0, 0), angular_velocity=(1, 2, 3))
    model.joint("pin", "revolute", model.ground, "box", at=(0.1, 0.1, 0.1), axis=(1, 2, 3))
    model.fluid("water", **fluid)
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_energy_of_all_shapes_at_the_surface_is_kept(coordinates):
    """Buoyancy, added mass that depends on the pose and its slopes: books close by the tolerance."""
    world = im.World(tilted(drag=False), coordinates=coordinates, dt=0.005, rtol=1e-9, atol=1e-9)
    start = world.energy()
    till(world, 1.0)
    energy = world.energy()
    turned = start.kinetic + abs(energy.work["water buoyancy"])
    assert abs(energy.imbalance) < 1e-6 * turned
    assert energy.losses["water drag"] == 0.0


def test_slope_terms_are_needed():
    """Without them the books of a ball that bobs would be out by the work of half its added mass."""
    model = im.Model("bob")
    model.body("ball", shape=im.Sphere(0.1), density=400.0, position=(0, 0, 0.05), velocity=(0, 0, -2.0))
    model.fluid("water", drag=False)
    world = im.World(model, dt=0.002, rtol=1e-10, atol=1e-10)
    m_a = world.added_mass("ball")[5, 5]
    till(world, 0.1)
    gained = world.added_mass("ball")[5, 5] - m_a
    assert gained > 0.2 * 0.5 * RHO * 4 / 3 * math.pi * 0.1**3
    assert abs(world.energy().imbalance) < 1e-7 * world.energy().start  # 1e3 times the tolerance


def test_drag_never_gives_energy_in_still_water():
    """Its loss grows from step to step, whatever turns and tumbles."""
    world = im.World(tilted(), dt=0.005)
    before = 0.0
    for _ in range(100):
        world.step(2)
        lost = world.energy().losses["water drag"]
        assert lost > before
        before = lost
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * (lost + abs(energy.work["water buoyancy"]))


def test_a_body_in_a_current_drifts_as_the_same_in_still_water():
    """Galileo: with a steady current everywhere, motion is that of still water seen from a moving frame."""
    u = np.array([0.7, -0.4, 0.2])
    worlds = []
    for flow in (np.zeros(3), u):
        model = im.Model("hull")
        model.body(
            "hull",
            shape=im.Capsule(0.1, 0.6),
            density=1100.0,
            velocity=np.array([1.0, 0.3, 0.2]) + flow,
            angular_velocity=(0.2, 0.5, -0.3),
        )
        model.fluid("water", surface=None, current=tuple(flow))
        worlds.append(im.World(model, dt=0.01))
    for world in worlds:
        till(world, 1.0)
    still, moving = (world.body("hull") for world in worlds)
    assert moving.position == pytest.approx(still.position + u, abs=1e-7)
    assert moving.orientation == pytest.approx(still.orientation, abs=1e-7)
    energy = worlds[1].energy()
    assert abs(energy.imbalance) < 1e-7 * (energy.losses["water drag"] + abs(energy.work["water current"]))


def test_a_fluid_that_is_accelerated_takes_a_body_along():
    """F = ρV a_f + m_a (a_f - a_b): a ball in water without drag is accelerated by 3ρ / (2ρ_s + ρ) of the water's."""
    model = im.Model("shaken", gravity=(0, 0, 0))
    rho_s = 2500.0
    model.body("ball", shape=im.Sphere(0.02), density=rho_s)
    model.fluid("water", surface=None, drag=False, current=(im.Harmonic(amplitude=0.5, omega=3.0), 0.0, 0.0))
    world = im.World(model, dt=0.01)
    till(world, 1.3)
    share = 1.5 * RHO / (rho_s + 0.5 * RHO)
    assert world.body("ball").velocity[0] == pytest.approx(share * 0.5 * math.sin(3.0 * world.time), rel=1e-7)
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-8 * energy.kinetic


def test_a_small_float_rides_on_long_waves():
    """It goes up and down with the surface: η = A cos(k x - ω t), ω² = g k tanh k d, once drag has calmed it."""
    A, T, d = 0.05, 4.0, 2.0
    model = im.Model("buoy")
    buoy = model.body("buoy", shape=im.Cylinder(0.1, 0.1), density=500.0, position=(0, 0, A))
    model.joint("guide", "prismatic", model.ground, buoy, at=(0, 0, 0), axis=(0, 0, 1))
    model.fluid("water", wave_amplitude=A, wave_period=T, depth=d)
    k, omega = model.fluids["water"].wave_number, 2 * math.pi / T
    assert G * k * math.tanh(k * d) == pytest.approx(omega**2, rel=1e-12)
    world = im.World(model, dt=0.01)
    till(world, 20.0)
    worst = 0.0
    while world.time < 24.0:
        world.step()
        worst = max(worst, abs(world.body("buoy").position[2] - A * math.cos(omega * world.time)))
    # heave of its own is √(g/d) = 14 rad/s: it is off by (ω / 14)² of A, and by drag behind it
    assert worst < 0.05 * A
    energy = world.energy()
    assert abs(energy.imbalance) < 1e-6 * model.bodies["buoy"].mass * G * A  # what a wave lifts it by


def test_momentum_is_what_the_fluid_gives():
    """Balanced: a free body's rate of change of momentum, added mass in it, is weight, buoyancy and drag."""
    world = im.World(fall(1500.0, 0.05), dt=0.01)
    ball = world.body("ball")
    for _ in range(20):
        world.step()
    V, m = 4 / 3 * math.pi * 0.05**3, 1500.0 * 4 / 3 * math.pi * 0.05**3
    v = -ball.velocity[2]
    drag = 0.22 * RHO * math.pi * 0.05**2 * v**2
    assert -ball.acceleration[2] * (m + RHO * V / 2) == pytest.approx((m - RHO * V) * G - drag, rel=1e-6)


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc", "projected", "generalized_alpha", "linear_implicit"])
def test_methods_converge_to_one_motion(method):
    """A hinged box and a ball at the surface: each method nears `direct` by its order as steps are halved."""
    from impulsar.engine.methods import METHODS

    def end(method, dt, coordinates=None):
        model = im.Model("two")
        box = model.body("box", shape=im.Box((0.4, 0.2, 0.1)), density=500.0, position=(0.2, 0, 0.05))
        model.joint("pin", "revolute", model.ground, box, at=(0, 0, 0.05), axis=(0, 1, 0))
        model.body("ball", shape=im.Sphere(0.1), density=600.0, position=(1, 0, 0.08), velocity=(0.5, 0, 0))
        model.fluid("water")
        options = {} if coordinates is None else {"coordinates": coordinates}
        world = im.World(model, method=method, dt=dt, **options)
        till(world, 0.4)
        return np.concatenate([world.body("box").position, world.body("ball").position, world.body("ball").velocity])

    exact = end("direct", 0.001, "generalized")
    if method == "direct":
        assert end(method, 0.001, "maximal") == pytest.approx(exact, abs=1e-7)
        return
    errors = [np.abs(end(method, dt) - exact).max() for dt in (0.004, 0.002)]
    order = METHODS[method].order
    assert errors[1] < 1e-2 * 0.4
    assert errors[1] < errors[0] / 2 ** (min(order, 2) - 0.3) or errors[1] < 1e-7


def test_variational_refuses_a_fluid_by_name():
    with pytest.raises(ModelError, match=r"fluid 'water'.*variational"):
        im.World(fall(), method="variational", dt=0.01)


def test_bits_of_a_batch_a_snapshot_and_an_edit():
    """A world of a batch moves as it does alone; a snapshot goes on alike."""
    alone = im.World(tilted(), dt=0.01)
    batch = im.World(tilted(), dt=0.01, worlds=3)
    alone.step(20)
    batch.step(20)
    assert (batch.body("tube").position[1] == alone.body("tube").position).all()
    alone.set("water.density", 1000.0)  # as below
    kept = alone.snapshot()
    alone.step(10)
    first = alone.hash()
    alone.restore(kept)
    alone.step(10)
    assert alone.hash() == first
    batch.set("water.density", [1000.0, 900.0, 1000.0])
    batch.step(10)
    tube = batch.body("tube").position
    assert (tube[0] == tube[2]).all() and (tube[0] == alone.body("tube").position).all()
    assert not (tube[0] == tube[1]).all()
