"""Accelerations at the instant, whatever the method: closed forms, and identities where there is none."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.rotations import rotate

G = 9.81
EXACT = 1e-12  # of the accelerations there are
WAYS = (("direct", "generalized"), ("direct", "maximal"), ("simgc", "generalized"), ("simmc", "maximal"))
ways = pytest.mark.parametrize(("method", "coordinates"), WAYS)


def accelerations(world: im.World) -> tuple[np.ndarray, np.ndarray]:
    """Angular and linear, of all bodies in the author's order [body, axis]; of one world."""
    found = world.runner.bench.instant.read()[0][:, 0]
    order = [world.system.body_index[name] for name in world.system.model.bodies]
    return found[order, :3].copy(), found[order, 3:].copy()


def resultant(world: im.World, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque on a body."""
    found = world.runner.bench.instant.read()[1][world.system.body_index[name], 0]
    return found[3:].copy(), found[:3].copy()


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = EXACT, misfit: float = 0.0) -> None:
    """Within the tolerance, of the values there are, and what a state that does not quite fit its joints may mean."""
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale + misfit)


def misfit(world: im.World, *pins: list[tuple[str, tuple]]) -> float:
    """What velocities that do not fit their joints leave open of an acceleration [rad/s²].

    Points of two bodies, or of one and the ground, that should move as one differ by ė, and lie e apart: the closed
    form takes another of the bodies' velocities than the equations do, and 2 u ė / l + u² e / l is between them, twice
    that with two links. `simmc` leaves ė of the order of its step, `direct` 1e-10.
    """
    rate = gap = speed = 0.0
    for ends in pins:
        places, rates = [np.zeros(3)] * (2 - len(ends)), [np.zeros(3)] * (2 - len(ends))
        for name, at in ends:
            body = world.body(name)
            arm = body.point(at) - body.position
            places.append(body.point(at))
            rates.append(body.velocity + np.cross(body.angular_velocity, arm))
            speed = max(speed, float(np.linalg.norm(body.angular_velocity)))
        gap = max(gap, float(np.linalg.norm(places[1] - places[0])))
        rate = max(rate, float(np.linalg.norm(rates[1] - rates[0])))
    return 4.0 * speed * (rate + speed * gap) / 0.1


# smooth ------------------------------------------------------------------------------------------------


@ways
def test_pendulum(method: str, coordinates: str) -> None:
    """a = l θ̈ n - l θ̇² e, with θ̈ = m g l cos θ / J from the level; by the state, not by the step that led to it."""
    model = im.Model("pendulum")
    rod = model.body("rod", 0.5, (2e-3, 1e-3, 2.2e-3), position=(0.1, 0, 0))
    model.joint("pin", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0))
    world = im.World(model, method=method, coordinates=coordinates, dt=0.01)
    for _ in range(8):
        world.step(7)
        body = world.body("rod")
        c, s = body.position[0] / 0.1, -body.position[2] / 0.1
        rate = 0.5 * G * 0.1 * c / (1e-3 + 0.5 * 0.1**2)
        u = body.angular_velocity[1]
        turn, shift = accelerations(world)
        slack = misfit(world, [("rod", (-0.1, 0, 0))])
        close(turn[0], np.array([0, rate, 0]), EXACT, slack)
        close(shift[0], 0.1 * rate * np.array([-s, 0, -c]) - 0.1 * u**2 * np.array([c, 0, -s]), EXACT, slack)


@ways
def test_driven_crank(method: str, coordinates: str) -> None:
    """A crank whose angle is A sin(ω t) has the acceleration of that, as soon as it is on its way."""
    model = im.Model("crank")
    rod = model.body("rod", 0.5, (2e-3, 1e-3, 2.2e-3), position=(0.1, 0, 0))
    drive = im.Motor(position=im.Harmonic(0.7, 5.0))
    model.joint("pin", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), motor=drive)
    world = im.World(model, method=method, coordinates=coordinates, dt=0.001)
    for _ in range(4):
        world.step(50)
        turn, _ = accelerations(world)
        close(
            turn[0], np.array([0, -0.7 * 25 * np.sin(5 * world.time), 0]), 1e-11, misfit(world, [("rod", (-0.1, 0, 0))])
        )


@ways
def test_speed_motor_on_a_ramp(method: str, coordinates: str) -> None:
    """u = r(t): the angular acceleration is the slope of the ramp; where the ramp ends it is nothing."""
    model = im.Model("crank")
    rod = model.body("rod", 0.5, (2e-3, 1e-3, 2.2e-3), position=(0.1, 0, 0))
    drive = im.Motor(speed=im.Ramp(0.0, 3.0, 0.0, 0.6))
    model.joint("pin", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), motor=drive)
    world = im.World(model, method=method, coordinates=coordinates, dt=0.01)
    world.step(20)
    close(accelerations(world)[0][0], np.array([0, 5.0, 0]), 1e-9)
    world.step(40)  # the kink is now: what comes counts
    close(accelerations(world)[0][0], np.zeros(3), 1e-9)


@ways
def test_spring_load_and_hand(method: str, coordinates: str) -> None:
    """m a = -k (x - x₀) - c v + load + hand, along a rail, and the force on the body is that."""
    model = im.Model("cart")
    cart = model.body("cart", 2.0, (1e-2, 1e-2, 1e-2), position=(0.3, 0, 0))
    model.joint("rail", "prismatic", model.ground, cart, at=(0, 0, 0), axis=(1, 0, 0))
    model.spring("s", model.ground, cart, at_a=(0, 0, 0), at_b=(0.3, 0, 0), stiffness=70, damping=3, free_length=0.25)
    model.load("push", cart, force=(4.0, 5.0, 6.0))
    world = im.World(model, method=method, coordinates=coordinates, dt=0.01)
    hand = world.grab("cart", stiffness=30.0, damping=2.0)
    hand.move((0.5, 0, 0))
    for _ in range(5):
        world.step(9)
        x, v = world.body("cart").position[0], world.body("cart").velocity[0]
        force = -70 * (x - 0.25) - 3 * v + 4.0 - 30 * (x - 0.5) - 2 * v
        close(accelerations(world)[1][0], np.array([force / 2.0, 0, 0]), 1e-9 if coordinates == "maximal" else EXACT)
        close(resultant(world, "cart")[0], np.array([force, 0, 0]), 1e-9 if coordinates == "maximal" else EXACT)


@ways
def test_an_edit_counts_at_once(method: str, coordinates: str) -> None:
    """A load that is put on between two steps is felt before the next."""
    model = im.Model("stone")
    model.body("stone", 2.0, (1.0, 1.0, 1.0))
    world = im.World(model, method=method, coordinates=coordinates)
    world.step(3)
    close(accelerations(world)[1][0], np.array([0, 0, -G]))
    world.apply(edits.ApplyLoad("push", "stone", force=(3.0, 0.0, 0.0), torque=(0.0, 2.0, 0.0)))
    turn, shift = accelerations(world)
    close(shift[0], np.array([1.5, 0, -G]))
    close(turn[0], np.array([0, 2.0, 0]))


@ways
def test_free_spin(method: str, coordinates: str) -> None:
    """Nothing turns a falling body: torque 0, force its weight, ω̇ = -I⁻¹ (ω × I ω) in body axes."""
    inertia = np.array([0.3, 0.5, 0.7])
    model = im.Model("stone")
    model.body("stone", 2.0, inertia, angular_velocity=(2.0, -1.0, 3.0))
    world = im.World(model, method=method, coordinates=coordinates, dt=0.01)
    for _ in range(5):
        world.step(10)
        q = world.body("stone").orientation
        omega = rotate(q * [-1, -1, -1, 1], world.body("stone").angular_velocity)
        turn, shift = accelerations(world)
        close(turn[0], rotate(q, -np.cross(omega, inertia * omega) / inertia))
        close(shift[0], np.array([0, 0, -G]))
        force, torque = resultant(world, "stone")
        close(force, np.array([0, 0, -2.0 * G]))
        close(torque, np.zeros(3))


def double_pendulum() -> im.Model:
    """Two rods of 0.2 m, hinged along y, stretched out level."""
    model = im.Model("double pendulum")
    before = model.ground
    for k in range(2):
        rod = model.body(f"link {k + 1}", 0.5, (1e-3, 2e-3, 2e-3), position=(0.1 + 0.2 * k, 0, 0))
        model.joint(f"hinge {k + 1}", "revolute", before, rod, at=(0.2 * k, 0, 0), axis=(0, 1, 0))
        before = rod
    return model


def double_pendulum_rates(a: float, b: float, u: float, v: float) -> np.ndarray:
    """Angular accelerations from the absolute angles a, b below the level and their rates: Lagrange's equations."""
    m, length, c, inertia = 0.5, 0.2, 0.1, 2e-3
    k = m * length * c
    M = np.array([[inertia + m * c**2 + m * length**2, k * np.cos(a - b)], [k * np.cos(a - b), inertia + m * c**2]])
    f = [
        -k * np.sin(a - b) * v**2 + m * G * (c + length) * np.cos(a),
        k * np.sin(a - b) * u**2 + m * G * c * np.cos(b),
    ]
    return np.linalg.solve(M, f)


@ways
def test_double_pendulum(method: str, coordinates: str) -> None:
    world = im.World(double_pendulum(), method=method, coordinates=coordinates, dt=0.005)
    for _ in range(6):
        world.step(20)
        bodies = [world.body(f"link {k}") for k in (1, 2)]
        angle = [2 * np.arctan2(body.orientation[1], body.orientation[3]) for body in bodies]
        rate = [body.angular_velocity[1] for body in bodies]
        slack = misfit(world, [("link 1", (-0.1, 0, 0))], [("link 1", (0.1, 0, 0)), ("link 2", (-0.1, 0, 0))])
        close(accelerations(world)[0][:, 1], double_pendulum_rates(*angle, *rate), EXACT, slack)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("scene", ["four-bar", "slider-crank", "peaucellier", "cross-lift", "manipulator"])
def test_loops_by_differences(scene: str, coordinates: str) -> None:
    """(V(t + h) - V(t - h)) / 2h → A as h²: at h/2 the difference is a quarter, in steps of rtol 1e-12."""
    off = []
    for h in (4e-4, 2e-4):
        world = im.World(im.scene(scene), coordinates=coordinates, dt=h, rtol=1e-12, atol=1e-12)
        twist = world.runner.work.twist
        world.step(round(0.05 / h) - 1)
        before = twist.numpy()[:, 0].copy()
        world.step()
        found = world.runner.bench.instant.read()[0][:, 0].copy()
        world.step()
        off.append(np.abs((twist.numpy()[:, 0] - before) / (2 * h) - found).max() / np.abs(found).max())
    assert off[1] < 0.26 * off[0] + 1e-8
    assert off[1] < 1e-3


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc"])
def test_batch(method: str, device: str) -> None:
    """Each world has its own mass, gravity and state, and the values of that world alone."""
    gravity = np.outer([1.0, 9.81, 20.0], (0.3, 0, -1.0))
    masses = np.array([0.3, 0.5, 2.0])
    batch = im.World(double_pendulum(), method=method, worlds=3, dt=0.005, device=device)
    batch.set("model.gravity", gravity)
    batch.set("link 2.mass", masses)
    batch.step(40)
    found = batch.runner.bench.instant.read()
    for w in range(3):
        alone = im.World(double_pendulum(), method=method, dt=0.005, device=device)
        alone.set("model.gravity", tuple(gravity[w]))
        alone.set("link 2.mass", float(masses[w]))
        alone.step(40)
        for both, own in zip(found, alone.runner.bench.instant.read(), strict=True):
            np.testing.assert_array_equal(both[:, w], own[:, 0])


# friction, limits, weak motors -----------------------------------------------------------------------------


def block(friction: float = 0.0, limits=None, motor=None) -> im.Model:
    """1 kg on a vertical rail."""
    model = im.Model("block")
    body = model.body("block", 1.0, (1e-3, 1e-3, 1e-3))
    model.joint("rail", "prismatic", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), friction=friction,
                limits=limits, motor=motor)  # fmt: skip
    return model


@ways
@pytest.mark.parametrize(("friction", "expected"), [(4.0, 4.0 - G), (12.0, 0.0)])
def test_friction_from_rest(method: str, coordinates: str, friction: float, expected: float) -> None:
    """Weaker than the weight it slides from the first instant, held back by its bound; stronger, it stays."""
    world = im.World(block(friction), method=method, coordinates=coordinates)
    close(accelerations(world)[1][0], np.array([0, 0, expected]))
    world.step(10)
    close(accelerations(world)[1][0], np.array([0, 0, expected]))


@ways
def test_friction_turns_with_the_velocity(method: str, coordinates: str) -> None:
    """Thrown up, weight and friction act together."""
    model = block(4.0)
    model.bodies["block"].velocity[:] = (0, 0, 1.0)
    world = im.World(model, method=method, coordinates=coordinates, dt=0.001)
    world.step(10)
    close(accelerations(world)[1][0], np.array([0, 0, -G - 4.0]))


@ways
def test_limit_holds_and_lets_go(method: str, coordinates: str) -> None:
    """On its stop the block does not accelerate; pulled upwards by more than its weight it does."""
    world = im.World(block(limits=(-0.01, 1.0)), method=method, coordinates=coordinates, dt=0.01)
    world.step(50)
    close(accelerations(world)[1][0], np.zeros(3), 1e-9)
    world.apply(edits.ApplyLoad("pull", "block", force=(0.0, 0.0, 3.0)))
    close(accelerations(world)[1][0], np.zeros(3), 1e-9)
    world.apply(edits.ApplyLoad("lift", "block", force=(0.0, 0.0, 10.0)))
    close(accelerations(world)[1][0], np.array([0, 0, 13.0 - G]), 1e-9)


@ways
def test_weak_motor(method: str, coordinates: str) -> None:
    """A motor that cannot lift the block gives all that it has."""
    world = im.World(block(motor=im.Motor(speed=1.0, max_torque=6.0)), method=method, coordinates=coordinates)
    world.step(10)
    close(accelerations(world)[1][0], np.array([0, 0, 6.0 - G]))


@pytest.mark.parametrize("hinge", ["O", "A", "B", "C"])
@ways
def test_friction_in_a_loop(method: str, coordinates: str, hinge: str) -> None:
    """Σ (F · v + T · ω) = power of the weights - friction |u|: what changes the momenta has the power of what acts."""
    model = im.scene("four-bar")
    model.joints[hinge].features["angle"].friction = 0.02
    for body in model.bodies.values():  # made to fit the joints
        body.angular_velocity[:] = (0, 0, 60.0)
    with pytest.warns(UserWarning, match="changed to fit"):
        world = im.World(model, method=method, coordinates=coordinates, dt=0.001)
    power = weight = 0.0
    for body in model.bodies.values():
        force, torque = resultant(world, body.name)
        view = world.body(body.name)
        power += force @ view.velocity + torque @ view.angular_velocity
        weight += body.mass * model.gravity @ view.velocity
    rate = float(world.joint(hinge).velocity)
    assert abs(rate) > 0.1
    assert power == pytest.approx(weight - 0.02 * abs(rate), rel=1e-11)


@ways
def test_sticking_friction_and_a_stop_in_a_loop(method: str, coordinates: str) -> None:
    """A four-bar held by friction in one hinge, or by a stop against which its weight leans, does not move."""
    for feature, value in (("friction", 5.0), ("limits", (0.0, 1.0))):
        model = im.scene("four-bar")
        setattr(model.joints["O"].features["angle"], feature, value)
        world = im.World(model, method=method, coordinates=coordinates)
        turn, shift = accelerations(world)
        moved = np.abs(shift).max()
        if feature == "limits" and moved > 1.0:  # the weight leans the other way: so does the stop
            model.joints["O"].features["angle"].limits = (-1.0, 0.0)
            world = im.World(model, method=method, coordinates=coordinates)
            turn, shift = accelerations(world)
        close(turn, np.zeros((3, 3)), 1e-9)
        close(shift, np.zeros((3, 3)), 1e-9)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_friction_of_a_ball(coordinates: str) -> None:
    """It opposes slip by its bound, and holds, all three axes together, what is weaker."""
    inertia = np.array([0.02, 0.03, 0.05])
    model = im.Model("ball")
    body = model.body("rotor", 1.0, inertia, angular_velocity=(1.0, 2.0, -2.0))
    model.joint("ball", "spherical", model.ground, body, at=(0, 0, 0), friction=0.6)
    world = im.World(model, coordinates=coordinates)
    omega = np.array([1.0, 2.0, -2.0])
    close(resultant(world, "rotor")[1], -0.6 * omega / 3.0)
    model.bodies["rotor"].angular_velocity[:] = 0.0
    for torque, slides in (((0.3, 0.3, 0.4), False), ((0.8, -0.6, 0.9), True)):
        world = im.World(model, coordinates=coordinates)
        world.apply(edits.ApplyLoad("twist", "rotor", torque=torque))
        turn, total = accelerations(world)[0][0], resultant(world, "rotor")[1]
        if slides:  # friction is against the acceleration, and of the size of its bound
            close(total - np.array(torque), -0.6 * turn / np.linalg.norm(turn), 1e-9)
        else:
            close(turn, np.zeros(3))


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_a_cone_holds_a_ball_that_runs_round_it(coordinates: str) -> None:
    """A bob that runs along the rim of its cone stays on it: θ̈ = 0, so z̈ = l θ̇² cos θ, and a · p = -v²."""
    model = im.Model("cone")
    body = model.body("bob", 0.5, (1e-4, 1e-4, 1e-4), position=(0, 0, -0.2), velocity=(2.4, 1.0, 0),
                      angular_velocity=(1.0 / 0.2, -2.4 / 0.2, 0))  # fmt: skip
    model.joint("ball", "spherical", model.ground, body, at=(0, 0, 0), axis=(0, 0, -1), limits={"swing": 0.6})
    model.load("lift", body, force=(0, 0, 0.5 * 9.81 + 3.0))  # out of the middle
    world = im.World(model, coordinates=coordinates, dt=1e-3)
    world.step(60)  # it has come to the rim
    world.apply(edits.ApplyLoad("along", "bob", force=(0.0, -4.0, 0.0)))
    for _ in range(10):
        world.step(10)
        p, v, a = world.body("bob").position, world.body("bob").velocity, accelerations(world)[1][0]
        theta = np.arccos(-p[2] / 0.2)
        rate = v[2] / (0.2 * np.sin(theta))
        assert theta > 0.6 - 1e-9
        assert np.hypot(*v[:2]) > 0.05  # it does run
        slack = misfit(world, [("bob", (0, 0, 0.2))])
        close(np.array([a[2], a @ p]), np.array([0.2 * np.cos(theta) * rate**2, -v @ v]), EXACT, slack)
        assert slack < 1e-2


# what it leaves alone ------------------------------------------------------------------------------------


@ways
def test_reading_leaves_the_run_as_it_was(method: str, coordinates: str) -> None:
    """A world that was asked at every step goes on with the same bits."""
    asked, alone = (im.World(im.scene("five-link"), method=method, coordinates=coordinates) for _ in range(2))
    for _ in range(20):
        asked.step()
        asked.runner.bench.instant.read()
        alone.step()
    assert asked.hash() == alone.hash()
    np.testing.assert_array_equal(asked.runner.work.reaction.numpy(), alone.runner.work.reaction.numpy())


def test_callables_are_asked_for_the_start_and_followed() -> None:
    """A force t ↦ 3 t on 1 kg: a = 3 t from the first instant; a callable is not called for readings in between."""
    calls = []

    def push(t: float) -> tuple[float, float, float]:
        calls.append(t)
        return (3.0 * t + 1.0, 0.0, 0.0)

    model = im.Model("stone")
    body = model.body("stone", 1.0, (1.0, 1.0, 1.0))
    model.load("push", body, force=push)
    world = im.World(model, dt=0.01)
    close(accelerations(world)[1][0], np.array([1.0, 0, -G]))
    world.step(10)
    before = len(calls)
    close(accelerations(world)[1][0], np.array([1.3, 0, -G]))
    assert len(calls) == before
