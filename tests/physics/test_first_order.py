"""Laws that the first-order methods keep at any step: momentum, energy, spin, a hand's jump."""

import math

import numpy as np
import pytest

from impulsar import Model, Simgc, Simmc, World, scene
from impulsar.engine.system import measured as measure

METHODS = {"simgc": Simgc, "simmc": Simmc}
quiet = pytest.mark.filterwarnings("ignore:.*start velocities changed")


def momenta(world: World) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linear momentum, angular momentum about the centre of mass, and the centre of mass of everything."""
    bodies = [world.body(name) for name in world.model.bodies]
    mass = np.array([world.model.bodies[name].mass for name in world.model.bodies])
    p, v = (np.array([getattr(body, what) for body in bodies]) for what in ("position", "velocity"))
    centre = mass @ p / mass.sum()
    L = (mass[:, None] * np.cross(p - centre, v)).sum(axis=0)
    for name, body in zip(world.model.bodies, bodies, strict=True):
        I_W = world.runner.work.I_W.numpy()[world.system.body_index[name], 0]
        L = L + I_W @ body.angular_velocity
    return mass @ v, L, centre


def free_body(spin) -> Model:
    model = Model("free body", gravity=(0, 0, 0))
    model.body("body", mass=2.0, inertia=(3.0, 2.0, 1.2), velocity=(1, 2, 3), angular_velocity=spin)
    return model


def top(spin: float, tilt: float = 0.5) -> Model:
    """A heavy top on a ball joint that spins about its own axis."""
    model = Model("top")
    R = np.array([[math.cos(tilt), 0, math.sin(tilt)], [0, 1, 0], [-math.sin(tilt), 0, math.cos(tilt)]])
    inertia = R @ np.diag([0.002, 0.002, 0.004]) @ R.T
    model.body("top", mass=1.0, inertia=inertia, position=0.1 * R[:, 2], angular_velocity=spin * R[:, 2])
    model.joint("pivot", "spherical", model.ground, "top", at=(0, 0, 0))
    return model


def gimbal(spin: float) -> Model:
    """A wheel off centre in two rings: three hinges across each other."""
    model = Model("gimbal")
    model.body("outer", mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    model.body("inner", mass=0.2, inertia=(6e-4, 6e-4, 6e-4))
    wheel = (0.3, 0.2, spin)
    model.body("wheel", mass=1.0, inertia=(0.002, 0.002, 0.004), position=(0, 0, 0.05), angular_velocity=wheel)
    model.joint("o", "revolute", model.ground, "outer", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("i", "revolute", "outer", "inner", at=(0, 0, 0), axis=(1, 0, 0))
    model.joint("w", "revolute", "inner", "wheel", at=(0, 0, 0.05), axis=(0, 0, 1))
    return model


def arm(spin: float) -> Model:
    """A wheel at the end of an arm on a universal joint."""
    model = Model("arm")
    model.body("arm", mass=0.5, inertia=(0.002, 0.002, 0.001), position=(0.1, 0, 0), angular_velocity=(0, 0, 1))
    wheel = (spin, 0, 1)
    model.body("wheel", mass=1.0, inertia=(0.004, 0.002, 0.002), position=(0.25, 0, 0), angular_velocity=wheel)
    model.joint("a", "universal", model.ground, "arm", at=(0, 0, 0), axis=(0, 0, 1), axis2=(0, 1, 0))
    model.joint("s", "revolute", "arm", "wheel", at=(0.2, 0, 0), axis=(1, 0, 0))
    return model


def chain(kind: str, n: int = 5, ground: bool = False, gravity: float = 0.0, seed: int = 0) -> Model:
    """Bodies in a row that tumble, on hinges across at random or on balls."""
    random = np.random.default_rng(seed)
    model = Model("chain", gravity=(0, 0, -gravity))
    for k in range(n):
        motion = {"velocity": random.normal(size=3), "angular_velocity": 3 * random.normal(size=3)}
        model.body(f"b{k}", mass=1 + 0.3 * k, inertia=(0.01, 0.012, 0.004), position=(0.3 * k, 0, 0), **motion)
    for k in range(0 if ground else 1, n):
        first = f"b{k - 1}" if k else model.ground
        axis = {"axis": random.normal(size=3)} if kind == "revolute" else {}
        model.joint(f"j{k}", kind, first, f"b{k}", at=(0.3 * k - 0.15, 0, 0), **axis)
    return model


@pytest.mark.parametrize("spin", [(0.02, 2.0, 0.01), (1.0, -2.0, 1.5), (30.0, 1e4, 30.0), (1e4, 300.0, 200.0)])
@pytest.mark.parametrize("method", METHODS)
def test_a_free_body_keeps_momentum_and_energy(method, spin, device):
    """Both are invariants of the implicit midpoint rule at any h ω; rounding adds 1e-15 of a step at most."""
    world = World(free_body(spin), method=method, dt=0.01, device=device)
    P, L, _ = momenta(world)
    start = world.energy().kinetic
    for _ in range(10):
        world.step(10_000)  # 1000 s in all
        P_now, L_now, _ = momenta(world)
        assert np.linalg.norm(L_now - L) < 1e-15 * 1e5 * np.linalg.norm(L)
        assert np.linalg.norm(P_now - P) < 1e-12 * np.linalg.norm(P)
        assert abs(world.energy().kinetic / start - 1) < 1e-14 * 1e5


@quiet
@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("spin", [150.0, 1e3, 1e4])
@pytest.mark.parametrize("build", [top, gimbal, arm])
@pytest.mark.parametrize("method", METHODS)
def test_a_fast_spin_gains_no_energy(method, build, spin, h, device):
    """Inertia does no work: what a step adds is the error of the weights' work, of order h m g l ω_precession."""
    world = World(build(spin), method=method, dt=h, device=device)
    start = world.energy().kinetic
    for _ in range(20):
        world.step(round(0.1 / h))
        assert world.energy().imbalance < 1e-3 * start


@pytest.mark.parametrize("build", [top, gimbal, arm])
@pytest.mark.parametrize("method", METHODS)
@quiet
def test_a_fast_spin_converges_with_order_one(method, build, device):
    """Largest error of the last body's place in 0.2 s at 150 rad/s, beside `direct`: in proportion to h, or better."""
    last = list(build(150.0).bodies)[-1]

    def path(**options) -> np.ndarray:
        world = World(build(150.0), device=device, **options)
        places = []
        for _ in range(20):
            world.step(round(0.01 / world.dt))
            places.append(world.body(last).position)
        return np.array(places)

    exact = path(dt=0.01, rtol=1e-10, atol=1e-10)
    options = METHODS[method](epsilon=1e-13)  # what the sweeps leave does not shrink with h
    errors = [np.abs(path(method=options, dt=h) - exact).max() for h in (2e-4, 1e-4, 5e-5)]
    assert np.polyfit(np.log([4, 2, 1]), np.log(errors), 1)[0] > 0.8


@quiet
@pytest.mark.parametrize("bodies", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_a_spherical_pendulum_runs_on(method, bodies, device):
    """1000 s at h = 0.01 s: finite, and never with more energy than order 1 allows, h ω of what there is."""
    world = World(chain("spherical", bodies, ground=True, gravity=9.81), method=method, dt=0.01, device=device)
    there = world.energy().kinetic + 9.81 * sum(body.mass * 0.3 * bodies for body in world.model.bodies.values())
    for _ in range(100):
        world.step(1000)
        assert world.energy().imbalance < 0.1 * there


@quiet
@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("kind", ["revolute", "spherical"])
@pytest.mark.parametrize("method", METHODS)
def test_a_free_chain_keeps_momentum(method, kind, h, device):
    """No outer force: P, L about the centre of mass to rounding, and the centre goes straight; energy does not grow."""
    world = World(chain(kind, seed=3), method=method, dt=h, device=device)
    P, L, centre = momenta(world)
    mass = sum(body.mass for body in world.model.bodies.values())
    start = world.energy().kinetic
    world.step(round(5 / h))
    P_now, L_now, centre_now = momenta(world)
    assert np.linalg.norm(P_now - P) < 1e-12 * np.linalg.norm(P)
    assert np.linalg.norm(L_now - L) < 1e-11 * np.linalg.norm(L)
    assert np.linalg.norm(centre_now - centre - P / mass * 5) < 1e-11
    assert world.energy().kinetic < start * (1 + 1e-9)


def jumped(name: str, method: str, h: float, jump, device: str):
    """Imbalance of the books, largest and last, over 1 s after a hand at the tip jumps; and its energy [J]."""
    world = World(scene(name, start="hanging"), method=method, dt=h, device=device)
    tip = world.model.probes["tip"]
    hand = world.grab(tip.body, tip.p_BQ, stiffness=1000.0, damping=1.0)
    world.step(2)
    hand.move(tuple(world.point(tip.body, tip.p_BQ) + jump))
    worst = -math.inf
    for _ in range(round(1 / h)):
        world.step()
        worst = max(worst, world.energy().imbalance)
    return worst, world.energy().imbalance, 0.5 * 1000.0 * np.dot(jump, jump)


@pytest.mark.parametrize("h", [0.01, 0.005, 0.002, 0.001])
@pytest.mark.parametrize("jump", [0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize(
    "name, method, direction",
    [
        ("ten-pendula", "simgc", (0, 1, 0)),
        ("ten-pendula", "simgc", (0.6, 0, 0.8)),
        ("chain", "simgc", (0, 1, 0)),
        ("ten-pendula", "simmc", (0, 1, 0)),
        ("ten-pendula", "simmc", (0.6, 0, 0.8)),
    ],
)
def test_a_hand_may_jump(name, method, direction, jump, h, device):
    """Books never show more than the hand put in, but for the step of the jump itself, where its work is the force
    at the end of the step times the way: off by at most k d² / 2, less by h where the tip moves little in h."""
    worst, last, put_in = jumped(name, method, h, jump * np.array(direction), device)
    assert worst < 0.5 * put_in
    assert last < 0.05 * put_in


def test_a_hand_pulls_on_what_it_cannot_move(device):
    """Straight up on a hanging chain: no joint gives way, yet the hand holds k d, and its work is in the books."""
    world = World(scene("ten-pendula", start="hanging"), method="simgc", dt=0.001, device=device)
    tip = world.model.probes["tip"]
    hand = world.grab(tip.body, tip.p_BQ, stiffness=1000.0, damping=0.0)
    world.step()
    weight = world.joint("pivot").reaction
    hand.move(tuple(world.point(tip.body, tip.p_BQ) - np.array([0, 0, 0.01])))
    world.step()
    assert hand.force == pytest.approx([0, 0, -10.0], abs=1e-9)
    world.step()
    assert world.joint("pivot").reaction[0][2] - weight[0][2] == pytest.approx(10.0, abs=1e-6)


@pytest.mark.parametrize("name", ["ten-pendula", "chain"])
def test_a_chain_may_fall_from_level(name, device):
    """Links whip round by radians in a step: energy stays within what there was, m g times the chain's length."""
    world = World(scene(name, start="horizontal"), method="simgc", dt=0.005, device=device)
    for _ in range(100):
        world.step(20)
        assert world.energy().imbalance < 0.1 * world.model.reference_energy


def lopsided(ratio: float) -> Model:
    """Four links that hang level on ball joints, the last heavier by a ratio."""
    model = Model("lopsided")
    for k in range(4):
        mass = ratio if k == 3 else 1.0
        model.body(f"b{k}", mass=mass, inertia=(0.02 * mass,) * 3, position=(0.25 + 0.5 * k, 0, 0))
        model.joint(f"j{k}", "spherical", f"b{k - 1}" if k else model.ground, f"b{k}", at=(0.5 * k, 0, 0))
    return model


def test_joints_that_open_are_in_the_report(device):
    """Too few sweeps for a mass ratio of 1e6: the residual is the worst lock of the pose before the step, by name."""
    world = World(lopsided(1e6), method=Simmc(iterations=20), dt=0.01, device=device)
    for _ in range(30):
        world.step(3)
        errors = np.abs(world.readout.lock_errors()[:, 0])
        report = world.step()
        assert report.ended_by == "iterations"
        assert report.position_residual == pytest.approx(errors.max(), rel=1e-12)
        assert report.worst_joint == world.readout.lock_names[int(errors.argmax())]
    assert report.position_residual > 0.1  # it has come apart, and says so


def test_a_residual_that_is_no_number_is_infinite(device):
    """Of a broken state nothing compares as worse; the report must not call it 0."""
    world = World(lopsided(1.0), method="simmc", dt=0.01, device=device)
    world.step()
    q = world.state.read("q").copy()
    q[0] = np.nan
    world.state.write("q", q)
    world.runner.refresh()
    world.runner.launch()
    assert world.runner.work.report.numpy()[measure.POSITION_RESIDUAL, 0] == math.inf
