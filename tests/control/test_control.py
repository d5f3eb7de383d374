"""Controllers in the loop: called at their own times, journalled by what they wrote, named when they fail."""

import time

import numpy as np
import pytest

import impulsar as im
from impulsar.history.history import History
from impulsar.history.replay import replay
from impulsar.world.control import ControlWarning

from .pendulum import READS, WRITES, K, leaning, lqr, pendulum


def angles(world: im.World) -> np.ndarray:
    return np.array([world.joint("q1").position, world.joint("q2").position])


def late(controller, steps: int):
    """A controller that gets what was read so many calls ago."""
    line: list[np.ndarray] = []

    def delayed(t, y):
        line.append(np.array(y))
        return controller(t, line[max(0, len(line) - 1 - steps)])

    return delayed


def cart(dt: float = 0.01, worlds: int = 1, **motor) -> im.World:
    """A body of 2 kg on a rail without gravity, driven by a motor or a load."""
    model = im.Model("cart", gravity=(0, 0, 0))
    model.body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint(
        "rail", "prismatic", "ground", "cart", at=(0, 0, 0), axis=(1, 0, 0), motor=im.Motor(**(motor or {"torque": 0}))
    )
    model.load("push", "cart")
    model.parameter("target", 0.0)
    return im.World(model, dt=dt, worlds=worlds)


# the pendulum ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.study)])  # inside a launch: test_inside.py
def test_lqr_brings_the_pendulum_upright_and_holds_it(seconds):
    """From 10° and 10° both angles are below 1e-3 after 1.41 s, with peaks of 4.85 and 2.87 N m; held for 60 s."""
    world = leaning()
    world.attach("lqr", lqr, rate=1000.0, reads=READS, writes=WRITES)
    settled, peak = None, np.zeros(2)
    for k in range(2000):
        world.step()
        peak = np.maximum(peak, np.abs(world.motor_torques()[:, 0]))
        if np.abs(angles(world)).max() >= 1e-3:
            settled = (k + 1) * 1e-3
    assert settled == pytest.approx(1.41, abs=0.01)  # to the digits of the figure
    assert peak == pytest.approx([4.85, 2.87], abs=0.01)
    worst = 0.0
    world.step(1000)
    for _ in range(seconds - 1):
        world.step(1000)
        worst = max(worst, np.abs(angles(world)).max())
    assert worst < 1e-5
    assert world.controllers["lqr"].calls == 2000 + 1000 * seconds and world.controllers["lqr"].faults == 0


@pytest.mark.parametrize("steps, holds", [(19, True), (20, False)])
def test_delay_fails_where_theory_says(steps, holds):
    """Sampled and held at 1 kHz the spectral radius passes 1 between 19 and 20 steps of delay: 0.99848 and 1.00041."""
    world = leaning()
    world.attach("lqr", late(lqr, steps), rate=1000.0, reads=READS, writes=WRITES)
    world.step(4000)
    worst = 0.0
    for _ in range(200):
        world.step(10)
        worst = max(worst, np.abs(angles(world)).max())
    assert bool(worst < 1e-3) is holds


@pytest.mark.parametrize(
    "rate, steps, holds", [(500.0, 9, True), (500.0, 10, False), (200.0, 3, True), (200.0, 4, False)]
)
def test_delay_at_other_rates(rate, steps, holds):
    """At 500 Hz it is unstable from 10 steps of delay, at 200 Hz from 4; dt is another than the period."""
    world = leaning(5.0, dt=4e-3)
    world.attach("lqr", late(lqr, steps), rate=rate, reads=READS, writes=WRITES)
    world.step(3000)
    worst = 0.0
    for _ in range(100):
        world.step()
        worst = max(worst, np.abs(angles(world)).max())
    assert bool(worst < 1e-3) is holds


# sample times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.01, 0.001, 0.004, 0.025, 0.0037])
@pytest.mark.parametrize("rate", [100.0, 128.0, 333.0, 1000.0])
def test_called_at_its_sample_times_whatever_the_step(dt, rate):
    """Calls are at k / rate to what the clock's sum rounds by."""
    world, times = cart(dt), []
    world.attach("c", lambda t, y: times.append(t) or 0.0, rate=rate, writes=("rail.torque",))
    steps = round(0.2 / dt)
    world.step(steps)
    expected = np.arange(len(times)) / rate
    assert len(times) == int(np.ceil(steps * dt * rate - 1e-9))
    assert np.abs(np.array(times) - expected).max() < 1e-12
    assert world.time == pytest.approx(steps * dt, abs=1e-12)


def test_attached_later_it_begins_then():
    world, times = cart(), []
    world.step(3)
    world.attach("c", lambda t, y: times.append(t) or 0.0, rate=50.0, writes=("rail.torque",))
    world.step(5)
    assert times == pytest.approx([0.03, 0.05, 0.07])


def test_a_split_step_is_right():
    """Force f_k held over [k T, (k + 1) T]: v = Σ f_k T / m, x by the same sums, whatever dt."""
    rate, forces = 300.0, []

    def push(t, y):
        forces.append(np.sin(40.0 * t))
        return forces[-1]

    world = cart(dt=0.01)
    world.attach("c", push, rate=rate, writes=("rail.torque",))
    world.step(30)
    T, v, x = 1.0 / rate, 0.0, 0.0
    for force in forces:
        x += v * T + 0.5 * force / 2.0 * T**2
        v += force / 2.0 * T
    assert len(forces) == 90
    assert world.joint("rail").velocity == pytest.approx(v, rel=1e-12)
    assert world.joint("rail").position == pytest.approx(x, rel=1e-12)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-15)


def test_too_many_calls_in_a_step_are_refused():
    with pytest.raises(im.EditError, match=r"rate is 1000000 Hz, 1e\+04 calls in a step of dt = 0.01 s.*SetStep"):
        cart().attach("c", lambda t, y: 0.0, rate=1e6, writes=("rail.torque",))


def test_run_looks_inside_steps_that_are_not_split_only():
    world = cart(dt=0.01)
    world.attach("c", lambda t, y: 1.0, rate=100.0, writes=("rail.torque",))
    result = world.run(0.1, at=[0.015, 0.055], variables=["joint_velocity"], progress=False)
    assert result["joint_velocity"].values[:, 0] == pytest.approx([0.0075, 0.0275], rel=1e-12)
    world.attach("c", lambda t, y: 1.0, rate=300.0, writes=("rail.torque",))
    with pytest.raises(im.ModelError, match="a dt that divides their periods"):
        world.run(0.1, at=[0.15], progress=False)


# what is read and written ---------------------------------------------------------------------------


def test_supervisor_over_servo():
    """A 10 Hz supervisor sets the target of a 1 kHz servo; either is exchanged in motion."""
    world = cart(dt=1e-3)
    world.attach("servo", lambda t, y: 200.0 * (y[0] - y[1]) - 40.0 * y[2], rate=1000.0,
                 reads=("target.value", "rail.position", "rail.velocity"), writes=("rail.torque",))  # fmt: skip
    world.attach("supervisor", lambda t, y: 1.0 if t < 0.5 else 2.0, rate=10.0, writes=("target",))
    world.step(450)
    world.attach("supervisor", lambda t, y: 3.0, rate=10.0, writes=("target.value",))
    world.step(1500)
    assert world.joint("rail").position == pytest.approx(3.0, abs=2e-3)
    world.attach("servo", lambda t, y: -1.0, rate=500.0, writes=("rail.torque",))
    before = world.joint("rail").velocity
    world.step(100)
    assert world.joint("rail").velocity - before == pytest.approx(-0.05, rel=1e-9)
    assert world.controllers["supervisor"].faults == world.controllers["servo"].faults == 0


def test_loads_vectors_and_parameters():
    """a = F / m with a mass that a controller sets; vectors are read as three numbers."""
    world, seen = cart(), []
    reads = ("body.cart.position", "cart.velocity.x", "energy.total")

    def act(t, y):
        seen.append(y)
        return 3.0, 0.0, 0.0, 4.0

    world.attach("c", act, rate=100.0, reads=reads, writes=("push.force", "cart.mass"))
    world.step(10)
    assert [len(y) for y in seen] == [5] * 10
    assert world.body("cart").velocity[0] == pytest.approx(3.0 / 4.0 * 0.1, rel=1e-12)
    world.attach("d", lambda t, y: -3.0, rate=100.0, writes=("push.torque.y",))
    assert seen[3][3] == pytest.approx(3.0 / 4.0 * 0.03, rel=1e-12)


def test_position_and_speed_motors():
    """A motor of speed has its target at once; one of position, whose target jumped, has come to it after a while."""
    world = cart(speed=0.0)
    world.attach("c", lambda t, y: 2.0 * t, rate=100.0, writes=("rail.speed",))
    world.step(50)
    assert world.joint("rail").velocity == pytest.approx(2.0 * 0.49, rel=1e-9)
    world = cart(position=0.0)
    world.attach("c", lambda t, y: 0.5, rate=100.0, writes=("rail.position",))
    world.step(100)
    assert world.joint("rail").position == pytest.approx(0.5, rel=1e-9)


def test_a_batch_reads_and_writes_rows():
    world = cart(worlds=3)
    world.attach("c", lambda t, y: np.array([[1.0], [2.0], [3.0]]), rate=100.0, reads=("rail.position",),
                 writes=("rail.torque",))  # fmt: skip
    world.step(10)
    assert world.joint("rail").velocity == pytest.approx([0.05, 0.10, 0.15], rel=1e-12)
    world.attach("c", lambda t, y: 2.0 * y[:, 0], rate=100.0, reads=("rail.velocity",), writes=("rail.torque",))
    world.step()
    assert world.joint("rail").velocity == pytest.approx(np.array([0.05, 0.10, 0.15]) * 1.01, rel=1e-12)


@pytest.mark.parametrize(
    "options, told",
    [
        ({"reads": ("rail.positon",)}, "reads 'rail.positon'.*position"),
        ({"reads": ("nothing.x",)}, "reads 'nothing.x'"),
        ({"writes": ("rail.speed",)}, "motor of joint 'rail'.*torque"),
        ({"writes": ("cart.position",)}, "no motor, load or number"),
        ({"writes": ("rail.torque", "rail.torque")}, "twice"),
        ({"rate": 0.0}, "rate is 0, expected a number > 0"),
        ({"rate": float("inf")}, "rate is inf"),
        ({"hold": "first"}, "hold is 'first'"),
        ({"budget": -1.0}, "budget is -1, expected a time > 0"),
        ({"controller": 3.0}, "controller is 3, expected a callable"),
        ({"controller": im.Ramp(0, 1, 0, 1)}, "expected a callable"),
    ],
)
def test_refusals_name_what_is_wrong(options, told):
    world = cart()
    given = {"controller": lambda t, y: 0.0, "rate": 100.0, "writes": ("rail.torque",)} | options
    with pytest.raises(im.EditError, match=told):
        world.attach("c", **given)
    assert not world.controllers


def test_two_do_not_write_the_same():
    world = cart()
    world.attach("a", lambda t, y: 0.0, rate=100.0, writes=("rail.torque",))
    with pytest.raises(im.EditError, match=r"'rail\.torque', which controller 'a' writes"):
        world.attach("b", lambda t, y: 0.0, rate=10.0, writes=("rail.torque",))


# faults ---------------------------------------------------------------------------------------------


def slow(t, y):
    time.sleep(0.01)
    return 5.0


def breaks(t, y):
    raise KeyError("lost")


FAULTS = {
    "raises": (breaks, "raised KeyError: 'lost'"),
    "nan": (lambda t, y: float("nan"), "expected finite numbers"),
    "shape": (lambda t, y: [1.0, 2.0], "of shape \\(2,\\), expected 1 numbers"),
    "none": (lambda t, y: None, "expected 1 numbers"),
    "text": (lambda t, y: "fast", "expected 1 numbers"),
    "slow": (slow, "more than its budget of 0.005 s"),
}


@pytest.mark.parametrize("hold, speed", [("last", 0.05), ("zero", 0.02)])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_the_world_goes_on(fault, hold, speed):
    """1 N for 4 samples, then faults for 6: v = F t / m with the force held, or zero."""
    function, told = FAULTS[fault]
    world = cart()
    world.attach("c", lambda t, y: 1.0 if t < 0.035 else function(t, y), rate=100.0, writes=("rail.torque",),
                 hold=hold, budget=0.005 if fault == "slow" else None)  # fmt: skip
    assert not world.step(4).faults
    with pytest.warns(ControlWarning, match=f"controller 'c' at t = 0.04 s: .*{told}"):
        report = world.step(6)
    assert world.joint("rail").velocity == pytest.approx(speed, rel=1e-12)
    trouble = [one for one in report.trouble if one.cause == "controller"]
    assert [one.part for one in trouble] == ["c"] and world.controllers["c"].faults == 6
    assert world.step().faults


def test_strict_raises():
    world = cart()
    world.strict = True
    world.attach("c", breaks, rate=100.0, writes=("rail.torque",))
    with pytest.warns(ControlWarning), pytest.raises(im.StepError, match="controller 'c'"):
        world.step()


def test_a_part_that_goes_is_a_fault():
    world = cart()
    world.attach("c", lambda t, y: (1.0, 0.0, 0.0), rate=100.0, writes=("push.force",))
    world.step(2)
    world.apply(im.edits.RemoveLoad("push"))
    with pytest.warns(ControlWarning, match="controller 'c'"):
        world.step(2)
    world.detach("c")
    assert not world.step().faults


# edits, journals ------------------------------------------------------------------------------------


def test_detach_holds_or_zeroes():
    for hold, force in (("last", 1.0), ("zero", 0.0)):
        world = cart()
        world.attach("c", lambda t, y: 1.0, rate=100.0, writes=("rail.torque",), hold=hold)
        world.step(5)
        world.detach("c")
        world.step(5)
        assert world.joint("rail").velocity == pytest.approx((0.05 + 0.05 * force) / 2, rel=1e-12)


def test_snapshots_have_controllers():
    world = leaning()
    world.attach("lqr", lqr, rate=500.0, reads=READS, writes=WRITES)
    world.step(101)
    moment = world.snapshot()
    world.step(77)
    expected = world.hash()
    world.detach("lqr")
    world.step(5)
    world.restore(moment)
    world.step(77)
    assert world.hash() == expected


class Integrating:
    """A controller with a state of its own: asked again it would answer otherwise."""

    def __init__(self):
        self.sum, self.calls = 0.0, 0

    def __call__(self, t, y):
        self.sum += y[0]
        self.calls += 1
        if self.calls % 13 == 0:
            raise RuntimeError("now and then")
        return [-20.0 * y[0] - 2.0 * y[2] - 0.1 * self.sum, -10.0 * y[1]]


@pytest.mark.filterwarnings("ignore::impulsar.world.control.ControlWarning")
@pytest.mark.parametrize("hold", ["last", "zero"])
@pytest.mark.parametrize("rate", [1000.0, 250.0, 1536.0])
def test_replay_is_exact_without_the_callable(tmp_path, rate, hold):
    """Undo, seek and replay give the same bits, and call nothing again."""
    path, world = tmp_path / "a.journal", leaning(2.0)
    controller = Integrating()
    history = History(world, path, hash_steps=20)
    history.step(30)
    history.apply(im.edits.Attach("c", controller, rate, READS, WRITES, hold))
    history.step(400)
    calls, end = controller.calls, world.hash()
    history.seek(0.1)
    history.step(330)
    assert world.hash() == end and controller.calls == calls
    history.apply(im.edits.Detach("c"))
    history.step(20)
    history.undo()
    assert world.hash() == end
    history.redo()
    end = world.hash()
    history.close()
    found = replay(path, verify=True)
    assert not found.wrong and found.checks > 10
    assert found.history.world.hash() == end
    opened = History.open(path)
    assert opened.world.hash() == end
    opened.close()


def test_a_history_takes_over_what_was_attached(tmp_path):
    path, world = tmp_path / "a.journal", leaning(2.0)
    world.attach("c", Integrating(), 100.0, READS, WRITES)
    world.step(5)
    history = History(world, path, hash_steps=10)
    with pytest.warns(ControlWarning):
        history.step(200)
    history.close()
    assert not replay(path, verify=True).wrong


def test_undo_of_attach_takes_it_away():
    history = History(leaning(2.0))
    history.apply(im.edits.Attach("c", lqr, 1000.0, READS, WRITES))
    history.step(10)
    history.undo()
    assert not history.world.controllers
    history.redo()
    assert list(history.world.controllers) == ["c"]
    history.close()


def test_reset_begins_anew():
    world, times = cart(), []
    world.step(7)
    world.attach("c", lambda t, y: times.append(t) or 0.0, rate=50.0, writes=("rail.torque",))
    world.apply(im.edits.Reset())
    world.step(4)
    assert times == pytest.approx([0.0, 0.02])


def test_a_step_that_breaks_goes_back_to_before_it():
    world = cart()
    world.attach("c", lambda t, y: 1.0 if t < 0.05 else 1e300, rate=300.0, writes=("rail.torque",))
    with pytest.raises(im.StepError, match="gone back to"):
        world.step(100)
    assert world.paused and np.isfinite(world.joint("rail").velocity) and world.time <= 0.06


def test_certify_refuses():
    world = cart()
    world.attach("c", lambda t, y: 1.0, rate=100.0, writes=("rail.torque",))
    with pytest.raises(im.ModelError, match="controllers are attached: 'c'"):
        world.certify(0.1)


def test_pace_reports_misses():
    world = cart()
    timing = world.pace(0.2)
    assert timing.steps == 20 and timing.misses <= 5
    world.attach("c", slow, rate=100.0, writes=("rail.torque",))
    timing = world.pace(0.05, speed=4.0)
    assert timing.misses == 5 and timing.worst > 0.02 and timing.busy > 0.9
    assert "5 of 5 steps missed their time" in str(timing)


def test_maximal_coordinates_and_another_method():
    for options in ({"coordinates": "maximal"}, {"method": "simgc"}):
        world = leaning(1.0, **options)
        world.attach("lqr", lqr, rate=1000.0, reads=READS, writes=WRITES)
        world.step(1500)
        assert np.abs(angles(world)).max() < 1e-3


def test_gains_are_those_of_the_linear_model():
    """K solves the Riccati equation of the upright, M q̈ = τ + G q, so that the case is the one theory speaks of."""
    from scipy.linalg import solve_continuous_are

    M = np.array([[2 / 3, 0.625 / 3], [0.625 / 3, 1 / 12]])
    G = 9.81 * np.array([[1.0, 0.25], [0.25, 0.25]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.linalg.solve(M, G), np.zeros((2, 2))]])
    B = np.vstack([np.zeros((2, 2)), np.linalg.inv(M)])
    P = solve_continuous_are(A, B, np.diag([100.0, 100.0, 1.0, 1.0]), np.eye(2))
    assert pytest.approx(B.T @ P, abs=1e-6) == K
    assert list(pendulum().joints) == ["q1", "q2"]
