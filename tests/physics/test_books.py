"""The energy books: every entry against a closed form, and the imbalance against the trajectory itself."""

import math
from itertools import pairwise

import numpy as np
import pytest

import impulsar as im
from impulsar.engine.methods import (
    METHODS,
    Baumgarte,
    Direct,
    GeneralizedAlpha,
    LinearImplicit,
    Method,
    Projected,
    Simgc,
    Simmc,
    Variational,
)
from impulsar.engine.system.slots import COMPLIANCE, FRICTION, HAND, MOTOR_TORQUE, SPRING
from impulsar.world.reports import Books

SOLVED = [
    Simgc(epsilon=1e-13, iterations=20_000),
    Simmc(epsilon=1e-13, iterations=20_000),
    Direct(rtol=1e-10, atol=1e-10, epsilon=1e-13, iterations=20_000),
    Variational(),
    Baumgarte(rtol=1e-10, atol=1e-10),
    LinearImplicit(),
    GeneralizedAlpha(substepping=False),
    Projected(rtol=1e-10, atol=1e-10),
]
EVERY = [pytest.param(method, id=method.name) for method in SOLVED]
LOOSE = [Simgc(epsilon=1e-9), Simmc(epsilon=1e-9), Direct(rtol=1e-3, atol=1e-3)]  # whose energy error is seen
CONTROLLED = 1e-7  # of an entry: what is left by a method that controls its error to 1e-10, over some hundred steps


def energy(world: im.World) -> float:
    """T + V from masses, poses and twists, without the engine's own measure."""
    total = 0.0
    for name, body in world.model.bodies.items():
        view = world.body(name)
        x, y, z, w = view.orientation
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        w_B = R.T @ view.angular_velocity
        total += 0.5 * body.mass * view.velocity @ view.velocity + 0.5 * w_B @ np.asarray(body.inertia) @ w_B
        total -= body.mass * np.asarray(world.model.gravity) @ view.position
    return float(total)


def test_every_method_is_tested():
    assert {method.name for method in SOLVED} == set(METHODS)


@pytest.mark.parametrize(
    "method", [Simgc(epsilon=1e-9), Simmc(epsilon=1e-9), Direct(rtol=1e-3, atol=1e-3)], ids=lambda method: method.name
)
@pytest.mark.parametrize("scene", ["ten-pendula", "four-bar", "slider-crank", "n-four-bar"])
def test_imbalance_is_the_energy_error_of_free_motion(scene, method):
    """Without friction, forces and hands nothing is booked: imbalance = (T + V)(t) - (T + V)(0), to rounding."""
    parameters = {"start": "30deg"} if scene == "ten-pendula" else {}
    model = im.scene(scene, **parameters)
    world = im.World(model, method, dt=0.002 if method.order == 1 else 0.02)
    start = energy(world)
    seen = 0.0
    for _ in range(20):
        world.step(round(0.02 / world.dt))
        books = world.energy()
        error = energy(world) - start
        assert books.imbalance == pytest.approx(error, abs=1e-13 * model.reference_energy)
        assert not any(books.work.values()) and not any(books.losses.values())
        seen = max(seen, abs(error))
    assert seen > 1e-11 * model.reference_energy  # there was an error to be shown


# entries ----------------------------------------------------------------------------------------------

MASS, SPEED, TIME = 2.0, 3.0, 0.4  # [kg], [m/s], [s]
C = 1.7  # damping [N s/m]


def slider(velocity: float = SPEED, **features) -> im.Model:
    """A mass on a slide along x, without gravity."""
    model = im.Model("slider", gravity=(0, 0, 0))
    body = model.body("mass", mass=MASS, inertia=(0.1, 0.1, 0.1), velocity=(velocity, 0, 0))
    model.joint("slide", "prismatic", model.ground, body, at=(0, 0, 0), axis=(1, 0, 0), **features)
    return model


def wheel(**features) -> im.Model:
    """A wheel of inertia MASS on an axle along z, at rest."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    body = model.body("wheel", mass=1.0, inertia=(MASS, MASS, MASS))
    model.joint("axle", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), **features)
    return model


def dashpot() -> im.Model:
    """A mass that flies away from ground along a damper."""
    model = im.Model("dashpot", gravity=(0, 0, 0))
    body = model.body("mass", mass=MASS, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0), velocity=(SPEED, 0, 0))
    model.spring("dashpot", model.ground, body, (0, 0, 0), (1, 0, 0), stiffness=0.0, damping=C)
    return model


def pushed() -> im.Model:
    """A free mass under a force that grows: F = a t."""
    model = im.Model("pushed", gravity=(0, 0, 0))
    body = model.body("mass", mass=MASS, inertia=(0.1, 0.1, 0.1))
    model.load("push", body, force=(im.Ramp(0.0, 5.0, 0.0, 1.0), 0.0, 0.0))
    return model


DAMPED = 0.5 * MASS * SPEED**2 * (1 - math.exp(-2 * C * TIME / MASS))
A, RATE = 0.8, 5.0  # of driven motions [rad], [rad/s]
ENTRIES = {
    # v̇ = -c v / m: loss = m v₀² / 2 (1 - exp(-2 c t / m))
    "joint damper": (lambda: slider(damping=C), "losses", "slide damper", DAMPED),
    "viscous friction": (lambda: slider(viscous=C), "losses", "slide viscous", DAMPED),
    "spring damper": (dashpot, "losses", "dashpot damper", DAMPED),
    # v = v₀ - F t / m: loss = F (v₀ t - F t² / 2 m)
    "friction, sliding": (
        lambda: slider(friction=4.0),
        "losses",
        "slide friction",
        4.0 * (SPEED * TIME - 4.0 * TIME**2 / (2 * MASS)),
    ),
    "friction, to rest": (lambda: slider(friction=40.0), "losses", "slide friction", 0.5 * MASS * SPEED**2),
    # a bounce with restitution e leaves e² of the energy
    "limit": (
        lambda: slider(limits=(-9.0, 0.5), limit_restitution=0.5),
        "losses",
        "slide limit",
        0.5 * MASS * SPEED**2 * (1 - 0.5**2),
    ),
    # a driven wheel's motor gives it all it has: J ω² / 2
    "motor, speed": (
        lambda: wheel(motor=im.Motor(speed=im.Harmonic(A, RATE))),
        "work",
        "axle motor",
        0.5 * MASS * (A * math.sin(RATE * TIME)) ** 2,
    ),
    "motor, position": (
        lambda: wheel(motor=im.Motor(position=im.Harmonic(A, RATE))),
        "work",
        "axle motor",
        0.5 * MASS * (A * RATE * math.cos(RATE * TIME)) ** 2,
    ),
    # ω = τ t² / 2 J for a torque that grows as τ t
    "motor, torque": (
        lambda: wheel(motor=im.Motor(torque=im.Ramp(0.0, 6.0, 0.0, 1.0))),
        "work",
        "axle motor",
        0.5 * MASS * (6.0 * TIME**2 / (2 * MASS)) ** 2,
    ),
    "load": (pushed, "work", "push", 0.5 * MASS * (5.0 * TIME**2 / (2 * MASS)) ** 2),
}


def converges(errors: list[float], scale: float, method=SOLVED[0]) -> bool:
    """Exact to rounding or controlled, or of order 1 at least: halving the step leaves 0.55 of the error or less."""
    exact = 1e-11 if method.order == 1 else CONTROLLED
    return max(errors) < exact * scale or all(b <= 0.55 * a for a, b in pairwise(errors))


REFUSED = ("friction, sliding", "friction, to rest", "limit")  # by a method that has no law for it
PAIRS = [
    pytest.param(name, method, id=f"{name}-{method.name}")
    for name in ENTRIES
    for method in SOLVED
    if name not in REFUSED or type(method).refuse is Method.refuse
]


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_entry(name, method):
    """The entry tends to its closed form with order 1; so does the imbalance to zero."""
    build, side, entry, exact = ENTRIES[name]
    errors, imbalances = [], []
    for h in (4e-3, 2e-3, 1e-3, 5e-4):
        world = im.World(build(), method, dt=h)
        world.step(round(TIME / h))
        books = world.energy()
        errors.append(abs(getattr(books, side)[entry] - exact))
        imbalances.append(abs(books.imbalance))
    assert converges(errors, exact, method), errors
    assert converges(imbalances, exact, method), imbalances


STIFFNESS, PULL = 50.0, 1.5  # of a hand [N/m], its speed [m/s]


def towed(method, h: float) -> im.World:
    """A free mass that a hand tows from rest, its target at constant speed."""
    model = im.Model("towed", gravity=(0, 0, 0))
    model.body("mass", mass=MASS, inertia=(0.1, 0.1, 0.1))
    world = im.World(model, method, dt=h)
    world.grab("mass", at=(0, 0, 0), stiffness=STIFFNESS, damping=C, name="hand").move(
        im.Ramp(None, (PULL, 0.0, 0.0), 0.0, 1.0)
    )
    return world


def hand_entries() -> tuple[float, float]:
    """Work and damper loss of `towed`: y = x - u t obeys ÿ + c/m ẏ + k/m y = 0 from y = 0, ẏ = -u.

    The hand's force is m ẍ and its speed u, so its work is u m ẋ; the loss is ∫ c ẏ² dt.
    """
    from scipy.integrate import quad

    delta = C / (2 * MASS)
    omega = math.sqrt(STIFFNESS / MASS - delta**2)

    def rate(t: float) -> float:
        return -PULL * math.exp(-delta * t) * (math.cos(omega * t) - delta / omega * math.sin(omega * t))

    return PULL * MASS * (PULL + rate(TIME)), quad(lambda t: C * rate(t) ** 2, 0, TIME, epsabs=1e-13)[0]


@pytest.mark.parametrize("method", EVERY)
def test_hand(method):
    """Work and damper loss of a hand tend to their closed forms with order 1."""
    work, loss = hand_entries()
    errors: dict[str, list[float]] = {"work": [], "loss": [], "imbalance": []}
    for h in (4e-3, 2e-3, 1e-3, 5e-4):
        world = towed(method, h)
        world.step(round(TIME / h))
        books = world.energy()
        errors["work"].append(abs(books.work["hand"] - work))
        errors["loss"].append(abs(books.losses["hand damper"] - loss))
        errors["imbalance"].append(abs(books.imbalance))
    assert all(converges(found, work, method) for found in errors.values()), errors


def test_release_books_what_is_left_in_the_spring():
    world = towed(SOLVED[0], 1e-3)
    world.step(200)
    before = world.energy()
    assert before.elastic > 0.1
    world.apply(im.edits.Release("hand"))
    after = world.energy()
    assert after.elastic == 0.0
    assert after.imbalance == pytest.approx(before.imbalance, abs=1e-14)
    assert after.work["released hands"] == pytest.approx(before.work["hand"] - before.elastic, rel=1e-14)


# what the imbalance catches -----------------------------------------------------------------------------


def busy(h: float) -> im.World:
    """A double pendulum with every kind of entry at work."""
    model = im.Model("busy")
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    lower = model.body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    motor = im.Motor(torque=im.Harmonic(2.0, 3.0))
    model.joint("pivot", "revolute", model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), motor=motor, friction=0.5)
    compliance = {"damping": 0.5, "viscous": 0.5, "stiffness": 1.0}
    model.joint("hinge", "revolute", upper, lower, at=(1, 0, 0), axis=(0, 1, 0), **compliance)
    model.spring("strut", model.ground, upper, (0.5, 0, 1), (0.5, 0, 0), stiffness=20.0, damping=2.0)
    model.load("push", lower, force=(3.0, 0.0, 1.0))
    world = im.World(model, SOLVED[0], dt=h)
    world.grab("lower", at=(0.2, 0, 0), stiffness=30.0, damping=1.0, name="hand").move(
        im.Ramp(None, (1.0, 0.0, -1.0), 0.0, 0.5)
    )
    return world


BOOKED_IN = {  # where each entry is accumulated, by slots of which kind
    "pivot motor": ("work", MOTOR_TORQUE),
    "hand": ("work", HAND),
    "push": ("load_work", None),
    "pivot friction": ("work", FRICTION),
    "hinge damper": ("loss", COMPLIANCE),
    "hinge viscous": ("viscous_loss", COMPLIANCE),
    "strut damper": ("loss", SPRING),
    "hand damper": ("loss", HAND),
}
WORK = {"pivot motor", "hand", "push"}
BUSY = 0.5  # [s]
FINE, COARSE = 2.5e-4, 5e-4  # [s]


def limit(of_fine: float, of_coarse: float) -> float:
    """A figure of order 1 at h → 0."""
    return 2 * of_fine - of_coarse


def books_of(h: float) -> Books:
    world = busy(h)
    world.step(round(BUSY / h))
    return world.energy()


def test_busy_world_has_every_entry_and_balances():
    """At h → 0 the imbalance vanishes: within 5 % of the smallest entry, extrapolated from two steps."""
    fine, coarse = books_of(FINE), books_of(COARSE)
    assert set(fine.work) == WORK and set(fine.work) | set(fine.losses) == set(BOOKED_IN)
    smallest = min(abs(value) for value in (*fine.work.values(), *fine.losses.values()))
    assert abs(fine.imbalance) < 0.55 * abs(coarse.imbalance)
    assert abs(limit(fine.imbalance, coarse.imbalance)) < 0.05 * smallest


@pytest.mark.parametrize("entry", BOOKED_IN)
def test_an_entry_left_out_of_the_sum_shows(entry):
    """Without one force's entry the imbalance at h → 0 is that entry."""
    found = []
    for h in (FINE, COARSE):
        books = books_of(h)
        entries = books.work if entry in WORK else books.losses
        missing = entries.pop(entry) * (1 if entry in WORK else -1)
        found.append(books.imbalance)
    assert limit(*found) == pytest.approx(missing, rel=0.1)


@pytest.mark.parametrize("entry", BOOKED_IN)
def test_a_wrong_force_in_an_entry_shows(entry):
    """An entry integrated from 1.5 times its force is seen: the imbalance at h → 0 is half the entry."""
    found = []
    for h in (FINE, COARSE):
        world = busy(h)
        block, kind = BOOKED_IN[entry]
        rows = [r for r, slot in enumerate(world.system.slots) if slot.kind == kind] if kind is not None else [0]
        for _ in range(round(BUSY / h)):
            before = world.state.read(block).copy()
            world.step()
            after = world.state.read(block).copy()
            after[rows] += 0.5 * (after[rows] - before[rows])
            world.state.write(block, after)
        books = world.energy()
        found.append(books.imbalance)
        wrong = {**books.work, **books.losses}[entry] / 3
    assert limit(*found) == pytest.approx(-wrong if entry in WORK else wrong, rel=0.15)


def test_a_force_that_nobody_books_shows():
    """A torque slipped into the velocities of a wheel that turns: the imbalance is its work, τ θ."""
    errors, torque, speed = [], 5.0, 0.5
    for h in (2e-3, 1e-3, 5e-4):
        model = wheel()
        model.bodies["wheel"].angular_velocity = np.array([0.0, 0.0, speed])  # of rest it would be a runaway
        world = im.World(model, SOLVED[0], dt=h)
        for _ in range(round(TIME / h)):
            world.state.write("v", world.state.read("v") + h * torque / MASS)
            world.step()
        expected = torque * (speed * TIME + torque / MASS * TIME**2 / 2)
        errors.append(abs(world.energy().imbalance - expected))
    assert converges(errors, expected), errors
