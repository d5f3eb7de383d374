"""Gains of controllers, numbers of profiles and hands: beside differences, and refusals by name."""

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.world.rollout import Rollout

numbers = wp.array(dtype=wp.float64)
KP, KD, KI = wp.constant(wp.float64(20.0)), wp.constant(wp.float64(3.0)), wp.constant(wp.float64(15.0))


@wp.func
def by_constants(time: wp.float64, y: numbers, u: numbers, z: numbers):
    """PID about 0.3 rad, bounded."""
    error = wp.float64(0.3) - y[0]
    z[0] = z[0] + wp.float64(0.01) * error
    u[0] = wp.clamp(KP * error - KD * y[1] + KI * z[0], wp.float64(-8.0), wp.float64(8.0))


@wp.func
def by_parameters(time: wp.float64, y: numbers, u: numbers):
    u[0] = y[2] * (wp.float64(0.3) - y[0]) - y[3] * y[1]


def arm() -> im.Model:
    model = im.Model("arm")
    model.parameter("kp", 20.0)
    model.parameter("kd", 3.0)
    body = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0, 0))
    model.joint("hinge", "revolute", model.ground, body, axis=(0, 1, 0), at=(0, 0, 0), motor=im.Motor(torque=0.0))
    return model


def differences(f, value: float, part: float = 2e-3) -> np.ndarray:
    """f' by differences of order 4."""
    h = part * abs(value)
    return (8 * (f(value + h) - f(value - h)) - (f(value + 2 * h) - f(value - 2 * h))) / (12 * h)


def steered(method="simgc", gain: str | None = None, value: float = 0.0, worlds: int = 1) -> im.World:
    world = im.World(arm(), method=method, dt=0.002, worlds=worlds)
    reads = ("hinge.position", "hinge.velocity", "kp.value", "kd.value")
    if gain is not None:
        world.set(gain, value)
    world.attach("servo", by_parameters, 100.0, reads, ("hinge.torque",))
    return world


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("method", ["simgc", im.Direct(rtol=1e-10, atol=1e-10)])
def test_gains_that_are_parameters(method, mode) -> None:
    """A PD controller at every fifth step; the trajectory is the world's own, and it stays as it is."""
    world = steered(method)
    before = world.hash()
    of = ("hinge.position", "hinge.velocity")
    found = world.sensitivity(of=of, to=("kp", "kd", "arm.mass"), duration=0.2, mode=mode)
    assert world.hash() == before

    def run(gain: str):
        def at(value: float) -> np.ndarray:
            other = steered(method, gain, value)
            other.step(100)
            return np.array([other.joint("hinge").position, other.joint("hinge").velocity])

        return at

    assert (found.values[0] == run("kp")(20.0)).all()
    for k, (gain, value) in enumerate((("kp", 20.0), ("kd", 3.0), ("arm.mass", 1.0))):
        expected = differences(run(gain), value)
        assert found.derivatives[0, :, k] == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


def test_gains_that_are_constants_and_what_it_keeps() -> None:
    """A PID controller with memory and a bound: J of a discrete loop, u = KP e - KD v + KI z, beside its own sum."""
    world = im.World(arm(), method="simgc", dt=0.002, worlds=2)
    world.set("arm.mass", np.array([1.0, 1.3]))
    world.attach("pid", by_constants, 100.0, ("hinge.position", "hinge.velocity"), ("hinge.torque",), memory=1)
    to = ("pid.KP", "pid.KD", "pid.KI")
    forward = world.sensitivity(of="hinge.position", to=to, duration=0.3, every=0.1, mode="forward")
    reverse = world.sensitivity(of="hinge.position", to=to, duration=0.3, every=0.1, mode="reverse")
    assert reverse.derivatives == pytest.approx(forward.derivatives, rel=1e-10, abs=1e-13)

    def alone(kp: float, ki: float) -> np.ndarray:
        """The same loop by a Python callable."""
        other, kept = im.World(arm(), method="simgc", dt=0.002), [0.0]
        other.set("arm.mass", 1.3)

        def act(time, y):
            error = 0.3 - y[0]
            kept[0] += 0.01 * error
            return [float(np.clip(kp * error - 3.0 * y[1] + ki * kept[0], -8.0, 8.0))]

        other.attach("pid", act, 100.0, ("hinge.position", "hinge.velocity"), ("hinge.torque",))
        other.step(150)
        return np.array(other.joint("hinge").position)

    assert forward.values[-1, 0, 1] == pytest.approx(alone(20.0, 15.0), rel=1e-13)
    assert forward.derivatives[-1, 0, 0, 1] == pytest.approx(differences(lambda kp: alone(kp, 15.0), 20.0), rel=1e-9)
    assert forward.derivatives[-1, 0, 2, 1] == pytest.approx(differences(lambda ki: alone(20.0, ki), 15.0), rel=1e-9)
    with pytest.raises(ModelError, match=r"controller 'pid' reads no such constant; .*KD"):
        world.sensitivity(of="hinge.position", to="pid.KX", duration=0.1)


def test_controllers_that_cannot_be_traced_are_refused_by_name() -> None:
    world = im.World(arm(), dt=0.002)
    world.attach("servo", lambda t, y: [0.0], 100.0, ("hinge.position",), ("hinge.torque",))
    with pytest.raises(ModelError, match="controller 'servo' is a Python callable"):
        world.sensitivity(of="hinge.position", to="arm.mass", duration=0.1)
    split = im.World(arm(), dt=0.002)
    split.attach(
        "fast", by_parameters, 800.0, ("hinge.position", "hinge.velocity", "kp.value", "kd.value"), ("hinge.torque",)
    )
    with pytest.raises(ModelError, match="a dt that divides their periods"):
        split.sensitivity(of="hinge.position", to="arm.mass", duration=0.1)


def driven(**numbers: float) -> im.World:
    """A block on a rail between a harmonic motor force, a ramped load and a hand."""
    given = {"amplitude": 3.0, "omega": 7.0, "phase": 0.2, "t1": 0.123, "stiffness": 40.0, "target": 0.5} | numbers
    model = im.Model("block", gravity=(0, 0, 0))
    block = model.body("block", mass=2.0, inertia=(1, 1, 1))
    motor = im.Motor(torque=im.Harmonic(given["amplitude"], given["omega"], given["phase"]))
    model.joint("rail", "prismatic", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0), motor=motor)
    model.load("push", block, force=(im.Ramp(0.0, 4.0, 0.05, given["t1"]), 0, 0))
    world = im.World(model, method=im.Direct(rtol=1e-11, atol=1e-11), dt=0.01)
    hand = world.grab("block", stiffness=given["stiffness"], damping=0.5, name="hand")
    hand.move((given["target"], 0, 0))
    return world


NUMBERS = {
    "rail.motor.amplitude": ("amplitude", 3.0),
    "rail.motor.omega": ("omega", 7.0),
    "rail.motor.phase": ("phase", 0.2),
    "push.force.x.t1": ("t1", 0.123),
    "hand.stiffness": ("stiffness", 40.0),
    "hand.target.x": ("target", 0.5),
}


def test_numbers_of_profiles_and_hands() -> None:
    """Beside differences; a ramp's end is a kink, where a sub-step ends and moves with it."""
    found = driven().sensitivity(of=("rail.position", "rail.velocity"), to=tuple(NUMBERS), duration=0.2)
    for k, (number, value) in enumerate(NUMBERS.values()):

        def run(other: float, number=number) -> np.ndarray:
            world = driven(**{number: other})
            world.step(20)
            return np.array([world.joint("rail").position, world.joint("rail").velocity])

        assert found.derivatives[0, :, k] == pytest.approx(differences(run, value), rel=1e-8), number


def test_what_profiles_and_hands_do_not_have() -> None:
    world = driven()
    for path, told in (
        ("rail.motor.end", "has the numbers mean, amplitude, omega, phase"),
        ("push.force.y.end", "has none that has a name; take 'push.force.y'"),
        ("hand.mass", "expected 'hand.stiffness'"),
    ):
        with pytest.raises(ModelError, match=told):
            world.sensitivity(of="rail.position", to=path, duration=0.1)
    with pytest.raises(ModelError, match=r"'rail\.motor\.omega' cannot be set in each world"):
        Rollout(world, "rail.position", "rail.motor.omega", 0.1)
