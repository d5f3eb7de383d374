"""Servos, motors that are a force kp (target - q) + kv (its rate - q̇), and gears."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import impulsar as im
from impulsar import analysis, edits
from impulsar_verification.import_oracles import against_mujoco

DATA = Path(__file__).parents[1] / "data" / "imports"
INERTIA, ROTOR, KP, KV, TARGET = 0.5, 0.2, 40.0, 3.0, 0.7


def wheel(motor: im.Motor, **options: object) -> im.Model:
    model = im.Model("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(0.4, INERTIA, 0.4))
    model.joint(
        "hub", "revolute", "ground", "wheel", at=(0, 0, 0), axis=(0, 1, 0), armature=ROTOR, motor=motor, **options
    )
    return model


def exact(t: float, most: float = np.inf, rate: float = 0.0) -> np.ndarray:
    """Of (I + a) q̈ = clip(kp (target - q) + kv (rate - q̇)), the target moving on at its rate."""

    def slope(t: float, y: np.ndarray) -> list[float]:
        asked = KP * (TARGET + rate * t - y[0]) + KV * (rate - y[1])
        return [y[1], float(np.clip(asked, -most, most)) / (INERTIA + ROTOR)]

    return solve_ivp(slope, (0.0, t), [0.0, 0.0], rtol=1e-12, atol=1e-13, max_step=1e-3).y[:, -1]


def servo(gear: float = 1.0, most: float = np.inf, rate: float = 0.0) -> im.Motor:
    """The same on the joint's side, whatever the gear."""
    start, end = TARGET * gear, (TARGET + 2.0 * rate) * gear
    target = im.Ramp(start, end, 0.0, 2.0) if rate else start
    return im.Motor(position=target, kp=KP / gear**2, kv=KV / gear**2, max_torque=most / abs(gear), gear=gear)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("gear", [1.0, -3.0])
@pytest.mark.parametrize(("most", "rate"), [(np.inf, 0.0), (5.0, 0.0), (np.inf, 0.8)])
def test_a_servo_is_its_law(coordinates: str, gear: float, most: float, rate: float) -> None:
    """The law's own solution within the tolerance, past its bound too; what it gives is booked as its work."""
    world = im.World(wheel(servo(gear, most, rate)), coordinates=coordinates, dt=0.01)
    world.run(0.5)
    found = world.joint("hub").position, world.joint("hub").velocity
    np.testing.assert_allclose(found, exact(0.5, most, rate), atol=2e-5 if np.isfinite(most) else 2e-8)
    energy = world.energy()
    assert energy.work["hub motor"] > 1e-3
    assert abs(energy.imbalance) < 1e-6
    asked = KP * (TARGET + rate * 0.5 - found[0]) + KV * (rate - found[1])
    assert world.joint("hub").motor_torque == pytest.approx(np.clip(asked, -most, most), abs=1e-3)


@pytest.mark.parametrize("method", ["simgc", "simmc", "projected", "linear_implicit", "generalized_alpha"])
@pytest.mark.parametrize("most", [np.inf, 5.0])
def test_methods_converge_to_it(method: str, most: float) -> None:
    """Halving h halves the error at least."""
    off = []
    for dt in (0.002, 0.001):
        world = im.World(wheel(servo(2.0, most)), method=method, dt=dt)
        world.run(0.5)
        off.append(abs(world.joint("hub").position - exact(0.5, most)[0]))
    assert off[1] < 0.6 * off[0] or off[1] < 1e-6
    assert off[1] < 3e-3


@pytest.mark.parametrize("method", ["direct", "simgc"])
def test_gains_of_any_size_are_stable(method: str) -> None:
    """kp that turns it 2 000 times in a step: it stands at its target, as a spring of that stiffness would."""
    world = im.World(wheel(im.Motor(position=TARGET, kp=1e8, kv=1e4)), method=method, dt=0.01)
    world.step(100)
    assert world.joint("hub").position == pytest.approx(TARGET, abs=1e-9)


def test_a_servo_of_speed() -> None:
    """(I + a) q̈ = kv (speed - q̇): q̇ = speed (1 - exp(-kv t / (I + a)))."""
    world = im.World(wheel(im.Motor(speed=4.0, kv=KV / 4, gear=2.0)), dt=0.01)
    world.run(0.3)
    expected = 2.0 * (1.0 - np.exp(-KV * 0.3 / (INERTIA + ROTOR)))
    assert world.joint("hub").velocity == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("what", ["speed", "position", "torque"])
def test_gears_of_rigid_motors(what: str) -> None:
    """The joint moves by 1/gear of what the motor does, and has gear times its torque."""
    profile = {"speed": 6.0, "position": im.Harmonic(0.6, 3.0), "torque": 0.5}[what]
    own = {"speed": -2.0, "position": im.Harmonic(-0.2, 3.0), "torque": -1.5}[what]
    ends = []
    for motor in (im.Motor(**{what: profile}, gear=-3.0), im.Motor(**{what: own})):
        world = im.World(wheel(motor), dt=0.01)
        world.run(0.2)
        ends.append((world.joint("hub").position, world.joint("hub").velocity, world.joint("hub").motor_torque))
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_mjcf_servos_are_those_of_mujoco(seed: int) -> None:
    """Motor, position and velocity actuators behind gears, at the signals of a key frame: to rounding."""
    assert against_mujoco(DATA / "servos.xml", seed, key="driven") < 1e-13


def test_statics_and_modes_have_servos() -> None:
    """A servo holds as a spring does: ω² = kp / (I + a), ζ = kv / 2 √(kp (I + a))."""
    found = analysis.modes(wheel(servo()))
    assert found.frequency[0] == pytest.approx(np.sqrt(KP / (INERTIA + ROTOR)), rel=1e-8)
    assert found.damping_ratio[0] == pytest.approx(KV / 2 / np.sqrt(KP * (INERTIA + ROTOR)), rel=1e-6)


def test_gains_are_parameters_and_motors_edits() -> None:
    """Set, driven, undone by what answers say, by worlds of their own, written and read back."""
    world = im.World(wheel(servo()), worlds=2)
    gains = np.array([10.0, 20.0])
    world.set("hub.kp", gains)
    world.set("hub.kv", 0.0)
    world.apply(edits.Drive("hub", 0.5))
    acceleration = world.body("wheel").angular_acceleration[:, 1]
    np.testing.assert_allclose(acceleration, gains * 0.5 / (INERTIA + ROTOR), rtol=1e-12)
    assert world.model.joints["hub"].features["angle"].motor.kv == 0.0
    answer = world.apply(edits.SetMotor("hub", None))
    world.apply(answer.inverse)
    assert world.model.joints["hub"].features["angle"].motor.kp == 10.0


def test_files_and_scripts_keep_servos(tmp_path: Path) -> None:
    motor = im.Motor(position=0.3, kp=12.0, kv=0.5, max_torque=2.0, gear=30.0)
    im.save_model(wheel(motor), tmp_path / "wheel.json")
    scope: dict = {}
    exec(im.to_python(wheel(motor)), scope)
    made = next(value for value in scope.values() if isinstance(value, im.Model))
    for model in (im.load(tmp_path / "wheel.json"), made):
        assert vars(model.joints["hub"].features["angle"].motor) == vars(motor)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"torque": 1.0, "kp": 1.0}, "kp is 1"),
        ({"speed": 1.0, "kp": 1.0}, "kp is of a position"),
        ({"position": 1.0, "kp": -1.0}, "kp is -1"),
        ({"position": 1.0, "gear": 0.0}, "gear is 0"),
    ],
)
def test_motors_that_there_are_not_are_refused(options: dict, told: str) -> None:
    with pytest.raises(im.ModelError, match=told):
        im.Motor(**options)
