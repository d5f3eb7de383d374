"""Sensitivities are derivatives of the world's own trajectory: beside differences of order 4, and closed forms."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.world.linear import Linear
from impulsar.world.outcomes import find_outcomes
from impulsar.world.sensitivity import linearise

FIXED = im.Direct(substeps=1)
BOUND = 1e-9  # of a derivative: what differences of order 4 at 2e-3 of a value leave of it


def differences(f, value: float, part: float = 2e-3) -> np.ndarray:
    """f' by differences of order 4: h⁴ f⁗' / 30 off, and 1e-16 / h of rounding."""
    h = part * abs(value) if value else part
    return (8 * (f(value + h) - f(value - h)) - (f(value + 2 * h) - f(value - 2 * h))) / (12 * h)


def after(model, method, dt: float, steps: int, joint: str, set_up) -> np.ndarray:
    """Position and velocity of a joint after so many steps."""
    world = im.World(model, method=method, dt=dt)
    set_up(world)
    world.step(steps)
    return np.array([world.joint(joint).position, world.joint(joint).velocity], float)


def pendulum(length: float = 0.4, friction: float | None = None) -> im.Model:
    """A rod on a hinge, released from the horizontal; its length is a parameter of the model."""
    model = im.Model("pendulum")
    model.parameter("L", length, 0.1, 1.0, "m")
    arm = model.body("arm", shape=im.Capsule(0.01, "L"), density=2700.0, position=("L/2", 0, 0), orientation=TURNED)
    model.joint("hinge", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), friction=friction)
    model.probe("tip", arm, at=("L", 0, 0))
    return model


def round_pendulum() -> im.Model:
    """The same with another inertia, none of whose values is the largest that it may be."""
    model = pendulum()
    model.bodies["arm"].inertia = np.diag([4e-3, 5e-3, 3e-3])
    return model


TURNED = (0.0, math.sin(math.pi / 4), 0.0, math.cos(math.pi / 4))  # z along x
CASES = [
    (lambda: im.scene("chain", n=10), "simgc", 1e-3, 50, "hinge3", "link2.mass"),
    (lambda: im.scene("chain", n=3), "direct", 1e-3, 50, "hinge3", "link2.mass"),
    (lambda: im.scene("four-bar"), FIXED, 1e-3, 50, "O", "coupler.mass"),
    (lambda: round_pendulum(), FIXED, 0.01, 20, "hinge", "arm.inertia.yy"),
    (lambda: im.scene("four-bar"), "direct", 1e-3, 30, "O", "coupler.mass"),
    (lambda: im.scene("cross-lift"), FIXED, 1e-3, 20, "baseA", "springA.stiffness"),
    (lambda: im.scene("five-link"), "simgc", 1e-3, 100, "hinge3", "hinge2.friction"),
    (lambda: im.scene("five-link"), "direct", 1e-3, 30, "hinge3", "hinge1.friction"),
    (pendulum, "direct", 0.01, 30, "hinge", "model.gravity.z"),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("make, method, dt, steps, joint, path", CASES)
def test_it_is_the_derivative_of_the_worlds_trajectory(make, method, dt, steps, joint, path, mode) -> None:
    """Within 1e-9 of differences, and the trajectory is the world's to the bit, through loops and projection."""
    model = make()
    world = im.World(model, method=method, dt=dt)
    before = world.hash()
    of = (f"{joint}.position", f"{joint}.velocity")
    found = world.sensitivity(of=of, to=path, duration=steps * dt, mode=mode)
    assert world.hash() == before  # it stays as it is
    assert (found.values[0] == after(model, method, dt, steps, joint, lambda world: None)).all()
    stem, value = _value(world, path)

    def run(number: float) -> np.ndarray:
        return after(model, method, dt, steps, joint, lambda world: world.set(stem, value(number)))

    expected = differences(run, value())
    assert np.abs(expected).max() > 0
    assert found.derivatives[0, :, 0] == pytest.approx(expected, rel=BOUND, abs=BOUND * np.abs(expected).max())


def _value(world, path: str):
    """The path that is set, and its value as a function of the number that is differentiated by."""
    if path == "model.gravity.z":
        return "model.gravity", lambda z=-9.81: np.array([0.0, 0.0, z]) if z != -9.81 else -9.81
    if path.endswith(".inertia.yy"):
        body = world.model.bodies[path.split(".")[0]]

        def inertia(value=None):
            new = body.inertia.copy()
            if value is None:
                return float(new[1, 1])
            new[1, 1] = value
            return new

        return path.removesuffix(".yy"), inertia
    part, what = path.rsplit(".", 1)
    owner = world.model.part(part)
    now = owner.features["angle"].friction if what == "friction" else getattr(owner, what)
    return path, lambda number=None: now if number is None else number


def test_a_length_changes_masses_places_and_the_start() -> None:
    """The tip of a rod is at (L cos θ, -L sin θ), and θ is another one for another length."""
    model = pendulum()
    world = im.World(model, method=im.Direct(rtol=1e-11, atol=1e-11), dt=0.01)
    of = ("hinge.position", "hinge.velocity", "tip.position")
    found = world.sensitivity(of=of, to="L", duration=0.3, mode="forward")
    angle, _, x, _, z = found.values[0]
    L = 0.4
    assert (x, z) == pytest.approx((L * math.cos(angle), -L * math.sin(angle)), rel=1e-12)
    turn = found["hinge.position", "L"]
    assert found["tip.position.x", "L"] == pytest.approx(math.cos(angle) - L * math.sin(angle) * turn, rel=1e-12)
    assert found["tip.position.z", "L"] == pytest.approx(-math.sin(angle) - L * math.cos(angle) * turn, rel=1e-12)

    def run(length: float) -> float:
        return after(pendulum(length), world.method, 0.01, 30, "hinge", lambda world: None)[0]

    assert turn == pytest.approx(differences(run, 0.4), rel=BOUND)


def test_a_length_in_a_loop_moves_the_start_and_all_joints() -> None:
    """A four-bar whose crank is a parameter: bodies and joints follow by expressions."""
    model = im.Model("four-bar", gravity=(0, -9.81, 0))
    model.parameter("a", 0.1)
    crank = model.body("crank", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=(0, "a/2", 0))
    coupler = model.body("coupler", mass=0.3, inertia=(1e-3, 1e-3, 2e-3), position=(0.125, "(a+0.2)/2", 0))
    rocker = model.body("rocker", mass=0.2, inertia=(1e-3, 1e-3, 1e-3), position=(0.3, 0.1, 0))
    for name, first, second, at in (
        ("O", model.ground, crank, (0, "0*a", 0)),
        ("A", crank, coupler, (0, "a", 0)),
        ("B", coupler, rocker, (0.25, "0.2 + 0*a", 0)),
        ("C", model.ground, rocker, (0.35, 0, 0)),
    ):
        model.joint(name, "revolute", first, second, at=at, axis=(0, 0, 1))
    world = im.World(model, method=FIXED, dt=1e-3)

    def run(a: float) -> np.ndarray:
        return after(model.with_parameters(a=a), FIXED, 1e-3, 80, "C", lambda world: None)

    for mode in ("forward", "reverse"):
        found = world.sensitivity(of=("C.position", "C.velocity"), to="a", duration=0.08, mode=mode)
        assert found.derivatives[0, :, 0] == pytest.approx(differences(run, 0.1), rel=BOUND)
    world.step()
    with pytest.raises(ModelError, match="the world has left it"):
        world.sensitivity(of="C.position", to="a", duration=0.08)


def test_the_start_and_a_motor() -> None:
    """x = x₀ + v₀ t + a t²/2 of a slide that a motor pushes: derivatives 1, t, t²/2m."""
    model = im.Model("slide", gravity=(0, 0, 0))
    block = model.body("block", mass=2.0, inertia=(1, 1, 1))
    motor = im.Motor(torque=im.Harmonic(1.0, 3.0))
    model.joint("slide", "prismatic", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0), motor=motor)
    world = im.World(model, dt=0.01)
    to = ("slide.position", "slide.velocity", "slide.motor")
    found = world.sensitivity(of=("slide.position", "slide.velocity"), to=to, duration=0.5)
    assert found.derivatives[0] == pytest.approx(np.array([[1, 0.5, 0.125 / 2], [0, 1, 0.25]]), rel=1e-12, abs=1e-12)


def test_samples_and_worlds_of_a_batch() -> None:
    """Each world has its own mass and way; compiled adjoints, eight in a register, are the transposed Jacobians."""
    worlds, steps = 9, 40
    masses = np.linspace(0.05, 0.4, worlds)
    world = im.World(im.scene("four-bar"), method=FIXED, dt=1e-3, worlds=worlds)
    world.set("coupler.mass", masses)
    to = ("coupler.mass", "rocker.mass")
    found = world.sensitivity(of="O.position", to=to, duration=0.04, every=0.01, mode="forward")
    assert found.derivatives.shape == (5, 1, 2, worlds) and (found.derivatives[0] == 0).all()
    one = im.World(im.scene("four-bar"), method=FIXED, dt=1e-3)
    one.set("coupler.mass", masses[4])
    alone = one.sensitivity(of="O.position", to=to, duration=0.04, every=0.01, mode="forward")
    assert found.derivatives[..., 4] == pytest.approx(alone.derivatives, rel=1e-12, abs=1e-15)

    linear, samples = linearise(world, "O.position", to, 0.04, 0.01)
    assert samples == [0, 10, 20, 30, 40] and steps == linear.path.steps
    linear.compile_adjoints(10**9)
    assert len(linear.adjoints.order) == len(linear.ways)
    given = np.random.default_rng(1).normal(size=(5, 1, worlds))
    pulled = linear.pull(given)
    expected = np.einsum("sow,socw->cw", given, found.derivatives)
    assert pulled == pytest.approx(expected, rel=1e-11, abs=1e-15)


def test_what_is_no_smooth_function_is_refused() -> None:
    world = im.World(im.scene("five-link"), dt=0.01)
    with pytest.raises(ModelError, match=r"of has 'hinge3.angle'.*known are: hinge1.position"):
        world.sensitivity(of="hinge3.angle", to="link2.mass", duration=0.01)
    with pytest.raises(ModelError, match=r"'link2\.maas' is no number that a step reads"):
        world.sensitivity(of="hinge3.position", to="link2.maas", duration=0.01)
    for wrong in (5, None, ()):
        with pytest.raises(ModelError, match=r"sensitivity: to is .*expected texts"):
            world.sensitivity(of="hinge3.position", to=wrong, duration=0.01)
    with pytest.raises(KeyError, match="expected one of `of` and one of `to`"):
        world.sensitivity(of="hinge3.position", to="link2.mass", duration=0.01)["hinge3.position"]
    with pytest.raises(ModelError, match="has components xx"):
        world.sensitivity(of="hinge3.position", to="link2.inertia", duration=0.01)
    loops = im.World(im.scene("four-bar"), dt=0.001)
    with pytest.raises(ModelError, match="one coordinate of the start is not free"):
        loops.sensitivity(of="O.position", to="O.velocity", duration=0.01)
    with pytest.raises(ModelError, match="method simmc is not compiled"):
        im.World(im.scene("five-link"), method="simmc").sensitivity(of="hinge3.position", to="link2.mass", duration=0.1)


def test_rows_that_do_not_count_are_left_out() -> None:
    """Books and clocks are rows of the state that no coordinate depends on."""
    world = im.World(im.scene("four-bar"), method=FIXED, dt=1e-3)
    linear = Linear(world, 5, [5], find_outcomes(world, "O.position"), [])
    named = {block for block, rows in world.state.rows.items() if set(range(*rows.indices(10**6))) & set(linear.rows)}
    assert {"q", "v"} <= named and not named & {"work", "loss", "time", "start_energy"}


def test_contacts_are_refused_by_name() -> None:
    """Also before anything touches: nothing says that it will not."""
    model = im.Model("ball", gravity=(0, 0, -9.81))
    model.material("rubber", friction=0.4, restitution=0.5)
    model.body("ball", 1.0, shape=im.Sphere(0.1), position=(0, 0, 1.0), material="rubber")
    model.obstacle("floor", im.Plane(), material="rubber")
    with pytest.raises(ModelError, match="sensitivity: derivatives through contacts are not taken"):
        im.World(model, dt=0.01).sensitivity("ball.position.z", "model.gravity.z", 0.1)
