"""Motors: never more than their torque, every work booked, at kinks and jumps, in vectors, in loops.

A motor of speed or position gives at most `max_torque`, also over any step: ∫ |τ| dt <= max_torque Δt. With a trace
of friction `direct` takes impulsive sub-steps, without it smooth ones: the laws are the same.
"""

import math
from itertools import pairwise, product

import numpy as np
import pytest

import impulsar as im
from impulsar import edits

WAYS = [("simgc", "generalized"), ("simmc", "maximal"), ("direct", "generalized"), ("direct", "maximal")]
EVERY = [pytest.param(*way, id=f"{way[0]} {way[1]}") for way in WAYS]
DIRECT = [pytest.param(*way, id=way[1]) for way in WAYS[2:]]
G = 9.81
TRACE = [0.0, 1e-12]  # friction [N]
ROUNDING = 1 + 1e-9


def slider(motor: im.Motor, friction: float = 0.0, gravity: float = 0.0) -> im.Model:
    """1 kg on a motor's slide along z."""
    model = im.Model("slider", gravity=(0, 0, -gravity))
    body = model.body("mass", mass=1, inertia=(0.01,) * 3)
    model.joint("slide", "prismatic", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), motor=motor, friction=friction)
    return model


def four_bar(motor: im.Motor, where: str, friction: float = 0.0) -> im.Model:
    """A four-bar of rods of 1 kg/m that has no dead centre near where it stands."""
    model = im.Model("four-bar")
    places = [np.array(p) for p in ((0, 0, 0.0), (0.3, 0, 0.5), (1.3, 0, 0.9), (1.2, 0, 0.0))]
    rods = []
    for k, (p, q) in enumerate(pairwise(places)):
        far = float(np.linalg.norm(q - p))
        along = (q - p) / far
        inertia = far**3 / 12 * (np.eye(3) - np.outer(along, along)) + 1e-3 * np.outer(along, along)
        rods.append(model.body(f"rod {k}", mass=far, inertia=inertia, position=(p + q) / 2))
    pairs = [(model.ground, rods[0]), (rods[0], rods[1]), (rods[1], rods[2]), (model.ground, rods[2])]
    for name, pair, at in zip(("crank", "elbow", "knee", "rocker"), pairs, places, strict=True):
        features = {"motor": motor} if name == where else {"friction": friction} if name == "knee" else {}
        model.joint(name, "revolute", *pair, at=at, axis=(0, 1, 0), **features)
    return model


JUMPS = {
    "kink": {"position": im.Ramp(0.0, 1.0, 0.1, 0.3)},
    "kinks off the steps": {"position": im.Table((0.0, 0.1037, 0.2011, 0.25), (0.0, 0.0, 0.5, 0.1))},
    "jump of position": {"position": im.Table((0.1, 0.1), (0.0, 1.0))},
    "jump of speed": {"speed": im.Table((0.1037, 0.1037), (0.0, 5.0))},
    "jumps of speed": {"speed": im.Table((0.1, 0.1, 0.15, 0.1513), (0.0, 2.0, -1.0, 3.0))},
    "smooth, off the steps": {"position": im.Smooth(0.0, 0.4, 0.1037, 0.3)},
    "smooth speed": {"speed": im.Smooth(1.0, -1.0, 0.1, 0.2013)},
    "swing": {"position": im.Harmonic(0.3, 9.0)},
    "callable": {"position": lambda t: 0.2 * math.sin(20 * t) ** 2},
}


# bounds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", TRACE)
@pytest.mark.parametrize("bound", [1.0, 20.0])
@pytest.mark.parametrize("target", JUMPS)
@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_a_motor_never_gives_more_than_it_has(method, coordinates, target, bound, friction):
    """|τ| <= max_torque in every value read, and |Δ(m v)| <= max_torque Δt where nothing else acts; books close."""
    world = im.World(slider(im.Motor(max_torque=bound, **JUMPS[target]), friction), method, coordinates, dt=0.01)
    before = world.joint("slide").velocity
    for _ in range(50):
        world.step()
        velocity = world.joint("slide").velocity
        assert abs(world.joint("slide").motor_torque) <= bound * ROUNDING
        assert abs(velocity - before) <= bound * 0.01 * ROUNDING
        before = velocity
        books = world.energy()
        assert books.imbalance == pytest.approx(0.0, abs=1e-5)
        assert books.work["slide motor"] == pytest.approx(books.kinetic, abs=1e-5)


@pytest.mark.parametrize("friction", TRACE)
@pytest.mark.parametrize("target", ["jump of position", "jump of speed"])
@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_weak_motor_accelerates_by_its_bound(method, coordinates, target, friction):
    """From the jump on z = (F / m - g) t² / 2, whatever was asked."""
    force = 20.0
    model = slider(im.Motor(max_torque=force, **JUMPS[target]), friction, gravity=G)
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(30)
    t = world.time - JUMPS[target]["speed" if "speed" in target else "position"].times[0]
    assert world.joint("slide").velocity == pytest.approx((force - G) * t, abs=1e-6)
    assert world.joint("slide").position == pytest.approx((force - G) * t * t / 2, abs=1e-6)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("friction", TRACE)
@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_weak_motor_stays_at_its_bound_until_it_has_its_speed(method, coordinates, friction):
    """Under a load that falls from 80 N to 0 in 1 s a motor of 50 N slips and comes back: at its bound all the while.

    v = ∫ (50 - 80 (1 - t)) dt = -30 t + 40 t² from the start until it is 0 again, at t = 0.75 s, well after the
    load has fallen below 50 N, at 0.375 s. Position there: -15 t² + 40/3 t³.
    """
    model = slider(im.Motor(speed=0.0, max_torque=50.0), friction)
    model.load("load", model.bodies["mass"], force=im.Ramp((0, 0, -80.0), (0, 0, 0.0), 0.0, 1.0))
    world = im.World(model, method, coordinates, dt=0.01)
    for k in range(100):
        world.step()
        t = min(0.01 * (k + 1), 0.75)
        assert abs(world.joint("slide").motor_torque) <= 50 * ROUNDING
        assert world.joint("slide").velocity == pytest.approx(-30 * t + 40 * t * t, abs=2e-3)
        assert world.joint("slide").position == pytest.approx(-15 * t * t + 40 / 3 * t**3, abs=1e-4)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("friction", TRACE)
@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_a_ball_is_bounded_as_a_vector(method, coordinates, friction):
    """|τ| <= bound for the vector: a load beyond it slips along itself by (load - bound) t / I."""
    load, bound, inertia = np.array((0.9, 0.6, -0.7)), 1.0, 0.8
    model = im.Model("ball", gravity=(0, 0, 0))
    body = model.body("globe", mass=1, inertia=(inertia,) * 3)
    motor = im.Motor(speed=(0.0, 0.0, 0.0), max_torque=bound)
    model.joint("ball", "spherical", model.ground, body, at=(0, 0, 0), motor=motor, friction=friction)
    model.load("load", body, torque=tuple(load))
    world = im.World(model, method, coordinates, dt=0.01)
    size = float(np.linalg.norm(load))
    for _ in range(20):
        world.step()
        assert np.linalg.norm(world.joint("ball").motor_torque) <= bound * ROUNDING
    slip = load / size * (size - bound) * world.time / inertia
    assert np.allclose(world.body("globe").angular_velocity, slip, atol=1e-4)
    world.apply(im.RemoveLoad("load"))  # it comes back along itself too, and holds
    world.step(math.ceil((size - bound) * 0.2 / bound / 0.01) + 2)
    assert np.allclose(world.body("globe").angular_velocity, 0.0, atol=1e-5)  # SIMGC and SIMMC: their epsilon


# without bounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", TRACE)
@pytest.mark.parametrize("target", JUMPS)
@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_work_of_a_strong_motor_is_booked(method, coordinates, target, friction):
    """Without bound a motor follows kinks at once and jumps within 0.1 s; its work is all the energy there is."""
    model = slider(im.Motor(**JUMPS[target]), friction, gravity=G)
    world = im.World(model, method, coordinates, dt=0.01)
    peak = 0.0
    for _ in range(50):
        world.step()
        books = world.energy()
        peak = max(peak, books.kinetic)
        assert books.imbalance == pytest.approx(0.0, abs=1e-5 * (1 + peak))
    (profile,) = JUMPS[target].values()
    value = world.joint("slide").velocity if "speed" in JUMPS[target] else world.joint("slide").position
    assert value == pytest.approx(profile(world.time), abs=1e-6)


@pytest.mark.parametrize("friction", TRACE)
@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_drive_edit_is_booked(method, coordinates, friction):
    """A position driven elsewhere while the world runs: work of the motor = m g Δz once it is there."""
    world = im.World(slider(im.Motor(position=0.0), friction, gravity=G), method, coordinates, dt=0.01)
    world.step(5)
    world.apply(edits.Drive("slide", 1.0))
    world.step(40)
    assert world.joint("slide").position == pytest.approx(1.0, abs=1e-6)
    assert world.energy().work["slide motor"] == pytest.approx(G, abs=0.01)
    assert world.energy().imbalance == pytest.approx(0.0, abs=0.01)  # 1e-6 of the kinetic energy on the way


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_kink_is_met_at_its_instant(method, coordinates):
    """Between the kinks of a table the motor is on its lines, also right after a kink inside a step."""
    times, values = (0.0, 0.1037, 0.2011, 0.25), (0.0, 0.0, 0.5, 0.1)
    table = im.Table(times, values)
    world = im.World(slider(im.Motor(position=table)), method, coordinates, dt=0.01)
    for _ in range(30):
        world.step()
        assert world.joint("slide").position == pytest.approx(table(world.time), abs=1e-9)


# loops -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["crank", "elbow", "rocker"])
@pytest.mark.parametrize("bound", [math.inf, 40.0])
@pytest.mark.parametrize(
    "target",
    [
        {"position": im.Table((0.1, 0.1), (0.0, -0.2))},
        {"position": im.Ramp(0.0, -0.2, 0.1, 0.2)},
        {"speed": im.Table((0.1, 0.1), (0.0, -0.5))},
    ],
    ids=["jump", "kink", "speed"],
)
@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_motor_in_a_loop_books_its_work(method, coordinates, target, bound, where):
    """Joints stay closed, the bound is kept, and the books close to the integration's error."""
    world = im.World(four_bar(im.Motor(max_torque=bound, **target), where), method, coordinates, dt=0.01)
    peak = 1.0
    for _ in range(40):
        world.step()
        books = world.energy()
        peak = max(peak, books.kinetic)
        assert abs(world.joint(where).motor_torque) <= bound * ROUNDING
        assert books.imbalance == pytest.approx(0.0, abs=1e-4 * peak)
        assert world.constraint_error() < 1e-9


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_motor_in_a_loop_with_friction(method, coordinates):
    """The same with friction in the loop, at order 2: half the sub-step leaves a quarter of the imbalance."""
    errors = []
    for step in (0.002, 0.001):
        motor = im.Motor(position=im.Harmonic(0.3, 7.0))
        world = im.World(
            four_bar(motor, "crank", 1e-12), im.Direct(impulse_step=step, modes=False), coordinates, dt=0.01
        )
        worst = 0.0
        for _ in range(60):
            world.step()
            worst = max(worst, abs(world.energy().imbalance))
        errors.append(worst)
    assert errors[0] < 1e-3
    assert errors[1] < 0.35 * errors[0]


# locked joints -----------------------------------------------------------------------------------------


def polygon(places: list[tuple[float, float]], where: str | None = None, motor: im.Motor | None = None) -> im.Model:
    """Rods pinned to each other from the ground to the ground, in the plane x, z."""
    model = im.Model("polygon")
    points = [np.array((x, 0.0, z)) for x, z in places]
    rods = []
    for k, (p, q) in enumerate(pairwise(points)):
        rods.append(model.body(f"rod {k}", mass=1, shape=im.Capsule(0.02, 0.3), position=(p + q) / 2))
    ends = [model.ground, *rods, model.ground]
    for k, at in enumerate(points):
        features = {"motor": motor} if where == f"pin {k}" else {}
        model.joint(f"pin {k}", "revolute", ends[k], ends[k + 1], at=at, axis=(0, 1, 0), **features)
    return model


def arm(motors: list[im.Motor]) -> im.Model:
    """Rods of 0.3 m and 1 kg that hang on each other, at angles of their own, with a motor in each hinge."""
    model = im.Model("arm", gravity=(0, 0, 0))
    below, at = model.ground, np.zeros(3)
    for k, motor in enumerate(motors):
        end = at + 0.3 * np.array([math.cos(0.4 * k), 0, math.sin(0.4 * k)])
        rod = model.body(f"rod {k}", mass=1, inertia=(0.01,) * 3, position=(at + end) / 2)
        model.joint(f"hinge {k}", "revolute", below, rod, at=at, axis=(0, 1, 0), motor=motor)
        below, at = rod, end
    return model


def speeds(motors: list[im.Motor], method: str, coordinates: str, dt: float) -> np.ndarray:
    """Rates of the hinges after one step from rest [rad/s]."""
    world = im.World(arm(motors), method, coordinates, dt=dt)
    world.step(1)
    return np.array([float(world.joint(f"hinge {k}").velocity) for k in range(len(motors))])


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_which_motors_are_too_weak_beside_others(method, coordinates):
    """One hinge is to start at once, the others are to stay. Each motor holds with a torque inside its bound, or gives
    its bound and accelerates less than it should: of the 3⁴ ways that one is taken where all of them do.

    Beside a motor that were strong enough to start at once all others are too weak; beside the one there is they are
    not. Accelerations are B τ, with B found from single torques.
    """
    dt, count = 1e-6, 4
    unit = np.eye(count)
    B = np.array([speeds([im.Motor(torque=t) for t in row], method, coordinates, dt) / dt for row in unit]).T
    random = np.random.default_rng(5)
    kinds = set()
    for _ in range(12):
        starts = int(random.integers(count))
        bounds = 10.0 ** random.uniform(-1, 1.5, count)
        wanted = np.where(np.arange(count) == starts, 3000.0, 0.0)  # 0.3 rad/s off, at a rate of 10⁴/s [rad/s²]
        ways = []
        for signs in product((-1, 0, 1), repeat=count):
            weak = np.array(signs) != 0
            torque = np.array(signs) * bounds
            torque[~weak] = np.linalg.solve(B[np.ix_(~weak, ~weak)], (wanted - B @ torque)[~weak])
            lack = wanted - B @ torque
            if (abs(torque[~weak]) <= bounds[~weak]).all() and (lack * signs >= 0)[weak].all():
                ways.append((signs, B @ torque))
        ((signs, expected),) = ways
        kinds.add(tuple(abs(np.array(signs))))
        motors = [im.Motor(speed=0.3 * (k == starts), max_torque=bound) for k, bound in enumerate(bounds)]
        got = speeds(motors, method, coordinates, dt) / dt
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3 * abs(expected).max())
    assert len(kinds) > 3


def test_a_jump_of_one_motor_does_not_send_others_off():
    """The shoulder of the manipulator is to turn at once, and back: the other servos stay near their targets."""
    world = im.World(im.scene("manipulator"))
    world.step(300)
    others = [name for name, joint in world.model.joints.items() if joint.type == "revolute" and name != "shoulder"]
    before = {name: float(np.ravel(world.joint(name).velocity)[0]) for name in others}
    world.apply(edits.SetMotor("shoulder", im.Motor(speed=0.3, max_torque=200)))
    world.step(20)
    world.apply(edits.Drive("shoulder", -0.6))
    world.step(20)
    for name, speed in before.items():
        assert abs(float(np.ravel(world.joint(name).velocity)[0]) - speed) < 2.0, name


TRIANGLE = [(0.0, 0.0), (0.4, 0.7), (1.0, 0.0)]
MOTORS = [im.Motor(speed=1.0), im.Motor(position=0.3), im.Motor(position=im.Harmonic(0.1, 1.0), max_torque=5.0)]


@pytest.mark.parametrize("motor", MOTORS, ids=["speed", "position", "bounded"])
@pytest.mark.parametrize("where", ["pin 0", "pin 1", "pin 2"])
@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_a_motor_on_a_locked_joint_is_refused(method, coordinates, where, motor):
    """Three pins of a triangle cannot turn: no world is made, and the error says what holds the joint."""
    im.World(polygon(TRIANGLE), method, coordinates)
    with pytest.raises(im.ModelError, match=rf"motor of joint '{where}': already held by .*joint 'pin"):
        im.World(polygon(TRIANGLE, where, motor), method, coordinates)


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_an_edit_that_locks_a_motor_is_refused(method, coordinates):
    """A motor set on a locked joint, and a rod that would lock a driven one: refused, the world as it was."""
    world = im.World(polygon(TRIANGLE), method, coordinates, dt=0.01)
    before = world.state.hash()
    with pytest.raises(im.EditError, match="motor of joint 'pin 1': already held by"):
        world.apply(edits.SetMotor("pin 1", im.Motor(speed=1.0)))
    assert world.state.hash() == before
    world.apply(edits.SetMotor("pin 1", im.Motor(speed=0.0)))  # it asks for nothing
    world.step(5)
    before = world.state.hash()
    with pytest.raises(im.EditError, match="motor of joint 'pin 1': already held by"):
        world.apply(edits.Drive("pin 1", 1.0))
    assert world.state.hash() == before
    world = im.World(polygon([*TRIANGLE[:2], (1.1, 0.8), (1.2, 0)], "pin 0", im.Motor(speed=0.5)), method, coordinates)
    world.step(5)
    before = world.state.hash()
    with pytest.raises(im.EditError, match="motor of joint 'pin 0': already held by"):
        world.change("pin 1", type="fixed")
    assert world.state.hash() == before
    world.step(5)


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_couplings_lock_a_motor_too(method, coordinates):
    """Two gears of different ratio between two shafts stop both."""
    model = im.Model("gears")
    for name in ("a", "b"):
        shaft = model.body(name, mass=1, inertia=(0.1,) * 3, position=(float(name == "b"), 0, 0))
        motor = {"motor": im.Motor(speed=1.0)} if name == "a" else {}
        at = shaft.position
        model.joint(f"shaft {name}", "revolute", model.ground, shaft, at=at, axis=(0, 0, 1), **motor)
    model.coupling("gear", "shaft a", "shaft b", ratio=2.0)
    im.World(model, method, coordinates).step(5)
    model.coupling("second gear", "shaft a", "shaft b", ratio=-1.0)
    with pytest.raises(im.ModelError, match=r"motor of joint 'shaft a': already held by .*coupling 'gear'"):
        im.World(model, method, coordinates)


@pytest.mark.parametrize("where", ["pin 0", "pin 1", "pin 2", "pin 3"])
@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_motor_at_a_dead_centre_is_taken(method, coordinates, where):
    """Crank and coupler in line: the rocker has no velocity there, but it is not locked."""
    along = np.array((0.8, 0.6))
    places = [(0.0, 0.0), tuple(0.3 * along), tuple(1.3 * along), (1.2, 0.0)]
    im.World(polygon(places, where, im.Motor(torque=0.0)), method, coordinates).step()
    im.World(polygon(places, where, im.Motor(speed=0.0)), method, coordinates)
    flat = [(0.0, 0.0), (0.5, 0.0), (1.5, 0.0), (1.0, 0.0)]  # a parallelogram laid flat
    im.World(polygon(flat, where, im.Motor(speed=0.0)), method, coordinates)


# smooth profiles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_smooth_motion_is_followed_with_its_own_force(method, coordinates):
    """Position, speed and force m q̈ of the quintic at every sample, at rest beyond its ends."""
    way = im.Smooth(0.0, 0.3, 0.1037, 0.4211)
    world = im.World(slider(im.Motor(position=way)), method=method, coordinates=coordinates, dt=0.01)
    result = world.run(0.5, every=0.01)
    t = result["time"].values
    q, v, force = (result[name].values[:, 0] for name in ("joint_position", "joint_velocity", "motor_torque"))
    np.testing.assert_allclose(q, [way(s) for s in t], atol=1e-9)
    np.testing.assert_allclose(v, [way.rate(s) for s in t], atol=1e-8)
    np.testing.assert_allclose(force[1:], [way.acceleration(s) for s in t[1:]], atol=1e-7)
    assert np.abs(force).max() > 0.9 * 10 / math.sqrt(3) * 0.3 / 0.3174**2


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize(("modes", "friction", "off"), [(True, 0.0, 1e-9), (False, 1e-13, 1e-12)])
def test_a_smooth_force_gives_its_impulse(modes, friction, off, coordinates):
    """Up and down again: ∫ F dt = F times the time between the middles; exact in impulses, which take a load's mean."""
    model = slider(im.Motor(torque=0.0), friction)
    model.load("push", "mass", force=im.Smooth((0, 0, 0.0), (0, 0, 7.0), 0.1037, 0.3211))
    model.load("stop", "mass", force=im.Smooth((0, 0, 0.0), (0, 0, -7.0), 0.2003, 0.4481))
    world = im.World(model, method=im.Direct(modes=modes), coordinates=coordinates, dt=0.01)
    world.run(0.5)
    expected = 7.0 * ((0.2003 + 0.4481) / 2 - (0.1037 + 0.3211) / 2)
    assert float(world.joint("slide").velocity) == pytest.approx(expected, abs=off)


def test_a_hand_goes_smoothly_from_where_it_is():
    """Smooth(None, ...) begins at the hand's target, and a file holds it."""
    world = im.World(slider(im.Motor(torque=0.0)), dt=0.01)
    hand = world.grab("mass", stiffness=1000.0, damping=60.0)
    hand.move(im.Smooth(None, (0.0, 0.0, 0.2), 0.1, 0.6))
    world.run(2.0)
    assert float(world.joint("slide").position) == pytest.approx(0.2, abs=1e-6)
    with pytest.raises(im.EditError, match=r"target: Smooth has 1 component\(s\), expected 3"):
        hand.move(im.Smooth(None, 0.2, 0.1, 0.6))
