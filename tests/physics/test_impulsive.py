"""Where motion is not smooth: forces of springs and inputs, drift, impacts. Closed forms, every method.

`direct` without modes takes impulsive sub-steps of h = 2 ms there; a friction of 1e-12 N makes all of them impulsive.
"""

import math

import pytest

import impulsar as im

IMPULSIVE = im.Direct(modes=False)
BOTH = [(IMPULSIVE, "generalized"), (IMPULSIVE, "maximal")]
WAYS = [("simgc", "generalized"), ("simmc", "maximal"), *BOTH]
NAMES = ["simgc", "simmc", "direct", "direct"]
EVERY = [pytest.param(*way, id=f"{name} {way[1]}") for name, way in zip(NAMES, WAYS, strict=True)]
DIRECT = [pytest.param(*way, id=way[1]) for way in BOTH]
G = 9.81
H = 0.002  # impulsive sub-step of `direct` [s]
TRACE = 1e-12  # friction that is felt by nothing but the choice of sub-steps [N]


def slider(speed: float = 0.0, at: float = 0.0, gravity: float = 0.0, **features) -> im.Model:
    """1 kg on a slide along z."""
    model = im.Model("slider", gravity=(0, 0, -gravity))
    body = model.body("mass", mass=1, inertia=(0.01,) * 3, position=(0, 0, at), velocity=(0, 0, speed))
    model.joint("slide", "prismatic", model.ground, body, at=(0, 0, at), axis=(0, 0, 1), **features)
    return model


def pulled(model: im.Model, stiffness: float, stretch: float, **options) -> im.Model:
    """The slider under a spring from above, stretched by so much where it stands."""
    z = model.bodies["mass"].position[2]
    free = 1.0
    model.spring(
        "spring",
        model.ground,
        model.bodies["mass"],
        at_a=(0, 0, z + free + stretch),
        at_b=(0, 0, z),
        stiffness=stiffness,
        free_length=free,
        **options,
    )
    return model


# forces of springs and hands ---------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_a_stop_carries_the_force_of_the_spring(method, coordinates):
    """At rest on a stop under a spring: reaction = k d, and nothing else, however it came there."""
    model = pulled(slider(limits=(-1, 0)), stiffness=100, stretch=0.1)
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(100)
    assert world.joint("slide").reaction.force[2] == pytest.approx(-10.0, abs=1e-6)
    model = pulled(slider(limits=(-1, 0.05)), stiffness=100, stretch=0.1)  # it gets there in motion
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(200)
    assert world.joint("slide").position == pytest.approx(0.05, abs=1e-6)
    assert world.joint("slide").reaction.force[2] == pytest.approx(-5.0, abs=1e-4)


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_a_stop_carries_the_force_of_the_hand(method, coordinates):
    """Pulled against its stop by a hand: reaction = the hand's force."""
    world = im.World(slider(limits=(-1, 0)), method, coordinates, dt=0.01)
    hand = world.grab("mass", stiffness=50, damping=5)
    hand.move((0, 0, 0.2))
    world.step(100)
    assert world.joint("slide").reaction.force[2] == pytest.approx(-10.0, abs=1e-6)


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_friction_switched_on_in_motion_holds_the_spring(method, coordinates):
    """Rest under friction and spring: what friction gives is what the spring pulls, |friction| <= its bound."""
    model = pulled(slider(speed=-1.0, friction=1e-9), stiffness=20, stretch=0.0)
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(5)
    world.set("slide.friction", 40.0)
    world.step(100)
    assert abs(world.joint("slide").velocity) < 1e-9
    pull = -20 * world.joint("slide").position
    assert world.joint("slide").reaction.force[2] == pytest.approx(-pull, abs=1e-6 * 40)


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
@pytest.mark.parametrize("stiffness", [1e8, 1e10, 1e12])
def test_a_stiff_spring_relaxes(method, coordinates, stiffness):
    """1 kg released 1 mm from the rest of a stiff, damped spring: no force is left after 0.5 s."""
    damping = 0.2 * math.sqrt(stiffness)  # ratio 0.1
    model = pulled(slider(), stiffness=stiffness, stretch=1e-3, damping=damping)
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(50)
    assert world.joint("slide").position == pytest.approx(1e-3, abs=1e-6)
    assert abs(world.joint("slide").velocity) < 1e-3


# inputs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("start", [0.1, 0.1003, 0.101, 0.1017, 0.1099, 0.11037])
@pytest.mark.parametrize("by", ["load", "motor"])
def test_a_short_pulse_gives_its_impulse(method, coordinates, start, by):
    """100 N for 1 ms is 0.1 N s, whenever it comes: v = 0.1 m/s."""
    pulse = im.Table((start, start, start + 1e-3, start + 1e-3), (0.0, 100.0, 100.0, 0.0))
    if by == "motor":
        model = slider(friction=TRACE, motor=im.Motor(torque=pulse))
    else:
        model = slider(friction=TRACE)
        model.load("load", model.bodies["mass"], force=im.Table(pulse.times, [(0, 0, f) for f in pulse.values]))
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(20)
    assert world.joint("slide").velocity == pytest.approx(0.1, abs=1e-9)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("frequency", [50.0, 500.0, 1234.5])
def test_a_fast_force_gives_its_mean(method, coordinates, frequency):
    """100 cos(ω t): v = 100 / ω sin(ω t), which is next to nothing, and nothing after whole periods."""
    omega = 2 * math.pi * frequency
    model = slider(friction=TRACE)
    model.load("load", model.bodies["mass"], force=im.Harmonic((0, 0, 100.0), omega, phase=math.pi / 2))
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(100)
    assert world.joint("slide").velocity == pytest.approx(100 / omega * math.sin(omega), abs=1e-8)


# drift -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_constant_force_is_exact(method, coordinates):
    """z = v₀ t - (g + f / m) t² / 2 under sliding friction f, to rounding."""
    world = im.World(slider(speed=8.0, gravity=G, friction=0.5), method, coordinates, dt=0.01)
    world.step(50)
    t = 0.5
    assert world.joint("slide").position == pytest.approx(8.0 * t - (G + 0.5) * t * t / 2, abs=1e-11)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("speed", [0.5, 1.0, 1.2345])
def test_friction_stops_where_it_should(method, coordinates, speed):
    """Stop distance v² / (2 f / m), within what one sub-step of the stop itself can hide: a h² / 2."""
    friction = 2.0
    world = im.World(slider(speed=speed, friction=friction), method, coordinates, dt=0.01)
    world.step(80)
    assert abs(world.joint("slide").velocity) < 1e-12
    assert world.joint("slide").position == pytest.approx(speed**2 / 2 / friction, abs=friction * H * H / 2)


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_pendulum_with_a_trace_of_friction_keeps_its_energy(method, coordinates):
    """A swing without losses keeps its energy to (ω h)², whatever chose the sub-steps; so do loops."""
    model = im.Model("pendulum")
    rod = model.body("rod", mass=1, inertia=(1 / 12, 1e-3, 1 / 12), position=(0.5, 0, 0))
    model.joint("pin", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), friction=TRACE)
    world = im.World(model, method, coordinates, dt=0.01)
    for _ in range(30):
        world.step(10)
        assert abs(world.energy().imbalance) < 2e-4 * G


# springs beside friction -------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("frequency", [1.0, 5.0, 10.0, 25.0, 50.0])
@pytest.mark.parametrize("where", ["points", "joint"])
def test_an_oscillator_keeps_its_amplitude(method, coordinates, frequency, where):
    """Spring and mass with a trace of friction, ω h < 1: amplitude kept to 1 % over 1 s."""
    k = (2 * math.pi * frequency) ** 2
    if where == "points":
        model = pulled(slider(friction=TRACE), stiffness=k, stretch=0.01)
    else:
        model = slider(friction=TRACE, stiffness=k, rest=0.01)
    world = im.World(model, method, coordinates, dt=0.01)
    start = world.energy().total
    world.step(100)
    amplitude = math.sqrt(world.energy().total / start)
    assert amplitude == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e5, 2.5e5, 1e6, 4e6, 1e8, 1e11])
def test_compliance_never_gains_energy(method, coordinates, stiffness):
    """Whatever ω h: from the energy at the start nothing is gained, and stiff vibration dies."""
    model = pulled(slider(friction=TRACE), stiffness=stiffness, stretch=0.01)
    world = im.World(model, method, coordinates, dt=0.01)
    start = world.energy().total
    for _ in range(30):
        world.step()
        assert world.energy().total < start * (1 + 1e-9)
    if math.sqrt(stiffness) * H > 3:
        assert world.energy().total < 1e-3 * start


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("damping", [0.5, 20.0, 600.0, 1e5])
def test_a_damper_beside_friction_takes_what_it_should(method, coordinates, damping):
    """v = v₀ exp(-c t / m); where c h / m > 1 it is at rest after the sub-step. Books close where it is resolved."""
    model = slider(speed=1.0, friction=TRACE, damping=damping)
    world = im.World(model, method, coordinates, dt=0.01)
    world.step(5)
    assert world.joint("slide").velocity == pytest.approx(math.exp(-0.05 * damping), abs=1e-3)
    if damping * H < 1:
        books = world.energy()
        assert books.losses["slide damper"] == pytest.approx(0.5 - books.kinetic, abs=1e-9)


# impacts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
@pytest.mark.parametrize("dt", [0.01, 0.001])
@pytest.mark.parametrize("height", [1.0, 0.37])
def test_an_elastic_limit_gains_no_energy(method, coordinates, dt, height):
    """A fall on an elastic stop: total energy kept, never above the start, lost by order h at most."""
    model = slider(at=height, gravity=G, limits=(-height, 10), limit_restitution=1.0)
    world = im.World(model, method, coordinates, dt=dt)
    start = world.energy().total
    for _ in range(round(10 / dt / 20)):
        world.step(20)
        now = world.energy().total
        assert now < start * (1 + 1e-6)
        assert now > start * 0.99
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_bounces_follow_their_restitution_and_end(method, coordinates):
    """Apices fall by e²; after t₀ (1 + e) / (1 - e), t₀ = sqrt(2 H / g), it is at rest on the stop."""
    e, height = 0.8, 1.0
    model = slider(at=height, gravity=G, limits=(-height, 10), limit_restitution=e)
    world = im.World(model, method, coordinates, dt=0.01)
    fall = math.sqrt(2 * height / G)
    apex = fall * (1 + 2 * sum(e**k for k in range(1, 5)) + e**5)
    world.step(round(apex / 0.01))
    late = world.time - apex
    assert world.joint("slide").position + height == pytest.approx(height * e**10 - G * late**2 / 2, rel=0.02)
    world.step(math.ceil((fall * (1 + e) / (1 - e) - world.time) / 0.01) + 2)
    assert abs(world.joint("slide").velocity) < 1e-9
    assert world.joint("slide").position == pytest.approx(-height, abs=1e-6)


@pytest.mark.parametrize(("method", "coordinates"), DIRECT)
def test_a_cone_gains_no_energy(method, coordinates):
    """A spherical pendulum in an elastic cone, no gravity: kinetic energy is kept to order h."""
    model = im.Model("cone", gravity=(0, 0, 0))
    rod = model.body(
        "rod", mass=1, inertia=(0.1, 0.1, 0.02), position=(0, 0, 0.5), velocity=(1, 0, 0), angular_velocity=(0, 2, 1)
    )
    model.joint(
        "ball",
        "spherical",
        model.ground,
        rod,
        at=(0, 0, 0),
        axis=(0, 0, 1),
        limits={"swing": 0.5},
        limit_restitution=1.0,
    )
    world = im.World(model, method, coordinates, dt=0.01)
    start = world.energy().kinetic
    for _ in range(50):
        world.step(10)
        assert 0.98 * start < world.energy().kinetic < start * (1 + 1e-3)


@pytest.mark.parametrize(("method", "coordinates"), EVERY)
def test_a_soft_stop_takes_it_all(method, coordinates):
    """e = 0: the mass stays on the stop it falls on, exactly there, and the loss is what it had."""
    model = slider(at=1.0, gravity=G, limits=(-1.0, 10))
    world = im.World(model, method, coordinates, dt=0.005)
    world.step(200)
    assert world.joint("slide").position == pytest.approx(-1.0, abs=1e-6)
    assert abs(world.joint("slide").velocity) < 1e-9
    assert world.joint("slide").reaction.force[2] == pytest.approx(G, abs=1e-5)
    assert world.energy().losses["slide limit"] == pytest.approx(G, rel=0.02)
