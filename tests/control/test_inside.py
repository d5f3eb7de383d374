"""Controllers that are Warp functions: called inside the launch, to the bits of one that the host calls."""

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar.history.history import History
from impulsar.history.replay import replay
from impulsar.world.control import ControlWarning

from .pendulum import READS, WRITES, K, leaning

f64 = wp.float64
numbers = wp.array(dtype=wp.float64)
GAINS = wp.constant(wp.types.matrix((2, 4), wp.float64)(*K.ravel()))


@wp.func
def lqr(time: f64, y: numbers, u: numbers):
    for i in range(2):
        total = f64(0.0)
        for k in range(4):
            total += GAINS[i, k] * y[k]
        u[i] = -total


@wp.func
def integrating(time: f64, y: numbers, u: numbers, z: numbers):
    z[0] = z[0] + y[0]
    u[0] = f64(-20.0) * y[0] - f64(2.0) * y[2] - f64(0.1) * z[0]
    u[1] = f64(-10.0) * y[1]


@wp.func
def push(time: f64, y: numbers, u: numbers):
    u[0] = wp.sin(f64(40.0) * time)


@wp.func
def fails_late(time: f64, y: numbers, u: numbers):
    u[0] = f64(1.0)
    if time > f64(0.035):
        u[0] = wp.log(f64(-1.0))


@wp.func
def fails_where_fast(time: f64, y: numbers, u: numbers, z: numbers):
    z[0] = z[0] + f64(1.0)
    u[0] = f64(1.0)
    if y[0] > f64(0.5):
        z[0] = f64(wp.inf)


@wp.func
def servo(time: f64, y: numbers, u: numbers):
    u[0] = f64(200.0) * (y[0] - y[1]) - f64(40.0) * y[2]


@wp.func
def echo(time: f64, y: numbers, u: numbers):
    for k in range(u.shape[0]):
        u[k] = y[k]


@wp.func
def late(time: f64, y: numbers, u: numbers, z: numbers):
    """LQR on what was read z.shape[0] / 4 calls ago; the state stands in a line that is moved on."""
    n = z.shape[0]
    for i in range(2):
        total = f64(0.0)
        for k in range(4):
            total += GAINS[i, k] * z[k]
        u[i] = -total
    for k in range(n - 4):
        z[k] = z[k + 4]
    for k in range(4):
        z[n - 4 + k] = y[k]


@wp.func
def of_single(time: wp.float32, y: numbers, u: numbers):
    u[0] = y[0]


def cart(dt: float = 0.01, worlds: int = 1, **options) -> im.World:
    """A body of 2 kg on a rail without gravity."""
    model = im.Model("cart", gravity=(0, 0, 0))
    model.body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("rail", "prismatic", "ground", "cart", at=(0, 0, 0), axis=(1, 0, 0), motor=im.Motor(torque=0.0))
    model.load("push", "cart")
    model.parameter("target", 0.0)
    return im.World(model, dt=dt, worlds=worlds, **options)


def on_the_host(world: im.World, monkeypatch) -> None:
    monkeypatch.setattr(world.runner, "_can_enter", lambda: False)


def angles(world: im.World) -> np.ndarray:
    return np.array([world.joint("q1").position, world.joint("q2").position])


# what it does ---------------------------------------------------------------------------------------


def test_lqr_inside_holds_the_pendulum():
    """From 10° both angles are below 1e-3 after 1.41 s and stay there for 60 s; one launch takes many steps."""
    world = leaning()
    world.attach("lqr", lqr, rate=1000.0, reads=READS, writes=WRITES)
    assert world.controllers["lqr"].inside
    world.step(1420)
    assert np.abs(angles(world)).max() < 1e-3
    acted = world.runner.beats.acted
    world.step(60_000)
    assert np.abs(angles(world)).max() < 1e-5
    assert world.controllers["lqr"].calls == 61_420
    assert world.runner.beats.acted - acted < 6_000  # launches


@pytest.mark.parametrize("steps, holds", [(19, True), (20, False)])
def test_delay_fails_where_theory_says(steps, holds):
    """The spectral radius passes 1 between 19 and 20 steps of delay, also where the delay is in the memory."""
    world = leaning()
    world.attach("lqr", late, rate=1000.0, reads=READS, writes=WRITES, memory=4 * steps)
    world.controllers["lqr"].program.z.assign(np.tile([*angles(world), 0.0, 0.0], steps)[None])
    world.step(4000)
    worst = 0.0
    for _ in range(200):
        world.step(10)
        worst = max(worst, np.abs(angles(world)).max())
    assert bool(worst < 1e-3) is holds


@pytest.mark.parametrize("options", [{}, {"coordinates": "maximal"}, {"method": "simgc"}])
@pytest.mark.parametrize("rate", [1000.0, 250.0])
def test_the_same_bits_as_called_by_the_host(monkeypatch, options, rate):
    found = []
    for host in (False, True):
        world = leaning(2.0, **options)
        if host:
            on_the_host(world, monkeypatch)
        world.attach("c", integrating, rate=rate, reads=READS, writes=WRITES, memory=1)
        reports = world.step(301), world.step(99)
        found.append((world.hash(), world.controllers["c"].memory.tobytes(), world.controllers["c"].calls))
        found[-1] += tuple(report.raw.tobytes() for report in reports)
    assert found[0] == found[1]


@pytest.mark.parametrize("rate", [100.0, 300.0, 25.0])
def test_force_held_between_calls(rate):
    """Force f_k held over [k T, (k + 1) T]: v = Σ f_k T / m, x by the same sums, also where steps are split."""
    world = cart()
    world.attach("c", push, rate=rate, writes=("rail.torque",))
    world.step(24)
    T, v, x, left = 1.0 / rate, 0.0, 0.0, 0.24
    for k in range(round(0.24 * rate)):
        force, span = np.sin(40.0 * k * T), min(T, left)
        x += v * span + 0.5 * force / 2.0 * span**2
        v += force / 2.0 * span
        left -= span
    assert world.joint("rail").velocity == pytest.approx(v, rel=1e-12)
    assert world.joint("rail").position == pytest.approx(x, rel=1e-12)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-15)


def test_supervisor_of_python_over_a_servo_inside():
    """A 10 Hz supervisor sets the target of a 1 kHz servo inside the launch; either is exchanged in motion."""
    world, times = cart(dt=1e-3), []
    reads = ("target.value", "rail.position", "rail.velocity")
    world.attach("servo", servo, rate=1000.0, reads=reads, writes=("rail.torque",))
    world.attach("supervisor", lambda t, y: times.append(t) or 1.0, rate=10.0, writes=("target",))
    world.step(450)
    assert times == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4], abs=1e-12)
    world.attach("supervisor", lambda t, y: 3.0, rate=10.0, writes=("target.value",))
    world.step(1500)
    assert world.joint("rail").position == pytest.approx(3.0, abs=2e-3)
    world.attach("servo", lambda t, y: -1.0, rate=500.0, writes=("rail.torque",))
    before = world.joint("rail").velocity
    world.step(100)
    assert world.joint("rail").velocity - before == pytest.approx(-0.05, rel=1e-9)


def test_two_rates_inside_and_what_they_read():
    """Vectors and parameters come as they do on the host."""
    world, seen = cart(dt=1e-3), []
    world.set("target", 3.0)
    world.attach("a", echo, rate=500.0, reads=("target.value", "cart.velocity"), writes=("push.force",))
    world.attach("b", push, rate=200.0, writes=("rail.torque",))
    world.step(50)
    both = world.controllers
    assert (both["a"].calls, both["b"].calls) == (25, 10) and both["a"].inside and both["b"].inside
    world.attach("a", lambda t, y: seen.append(y) or y[:3], rate=500.0, reads=("target.value", "cart.velocity"),
                 writes=("push.force",))  # fmt: skip
    world.step(1)
    assert seen[0] == pytest.approx([3.0, *world.body("cart").velocity], abs=1e-2) and seen[0][0] == 3.0


def test_what_is_of_the_host_is_called_there():
    world = cart()
    world.attach("c", echo, rate=100.0, reads=("energy.total",), writes=("rail.torque",))
    world.step(3)
    assert not world.controllers["c"].inside and world.controllers["c"].calls == 3


def test_a_batch_has_worlds_of_its_own():
    """Each world reads its own velocity and pushes by it: v grows by 1 + dt / 2 a step."""
    world = cart(worlds=3)
    world.attach("c", lambda t, y: np.array([[1.0], [2.0], [3.0]]), rate=100.0, writes=("rail.torque",))
    world.step(10)
    world.attach("c", echo, rate=100.0, reads=("rail.velocity",), writes=("rail.torque",))
    world.step(7)
    assert world.controllers["c"].inside
    assert world.joint("rail").velocity == pytest.approx(np.array([0.05, 0.10, 0.15]) * 1.005**7, rel=1e-12)


# faults ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("hold, speed", [("last", 0.05), ("zero", 0.02)])
def test_nan_is_named_and_the_world_goes_on(monkeypatch, inside, hold, speed):
    """1 N for 4 samples, then NaN for 6: v = F t / m with the force held, or zero."""
    world = cart()
    if not inside:
        on_the_host(world, monkeypatch)
    world.attach("c", fails_late, rate=100.0, writes=("rail.torque",), hold=hold)
    with pytest.warns(ControlWarning, match="controller 'c' at t = 0.04 s: gave no finite number for 'rail.torque'"):
        report = world.step(10)
    assert world.joint("rail").velocity == pytest.approx(speed, rel=1e-12)
    assert [one.part for one in report.trouble if one.cause == "controller"] == ["c"]
    assert world.controllers["c"].faults == 6 and "t = 0.09 s" in world.controllers["c"].fault
    assert world.step().faults


@pytest.mark.parametrize("inside", [True, False])
def test_a_world_that_fails_leaves_the_others_alone(monkeypatch, inside):
    """The memory of a call that failed is that of before it; other worlds go on."""
    world = cart(worlds=2)
    if not inside:
        on_the_host(world, monkeypatch)
    world.attach("c", lambda t, y: [[0.0], [200.0]], rate=100.0, writes=("rail.torque",))
    world.step(1)
    world.attach("c", fails_where_fast, rate=100.0, reads=("rail.velocity",), writes=("rail.torque",), memory=1,
                 hold="zero")  # fmt: skip
    with pytest.warns(ControlWarning, match="number 0 of its memory in world 1; what it writes is zero"):
        world.step(4)
    assert world.controllers["c"].memory[:, 0].tolist() == [4.0, 0.0]
    assert world.joint("rail").velocity == pytest.approx([0.02, 1.0], rel=1e-12)


def test_a_step_that_breaks_goes_back():
    world = cart()
    world.attach("c", explodes, rate=100.0, writes=("rail.torque",), memory=1)
    with pytest.raises(im.StepError, match="gone back to"):
        world.step(100)
    assert world.paused and np.isfinite(world.joint("rail").velocity) and world.time <= 0.06


@wp.func
def explodes(time: f64, y: numbers, u: numbers, z: numbers):
    u[0] = f64(1.0)
    if time > f64(0.05):
        u[0] = f64(1e300)


@pytest.mark.parametrize(
    "options, told",
    [
        ({"controller": of_single}, "takes .*float32.*expected .*time: wp.float64"),
        ({"controller": integrating}, "takes .*z: .*expected"),
        ({"budget": 0.1}, "budget is 0.1 s, but a Warp function is called inside"),
        ({"memory": -1}, "memory is -1, expected an integer"),
        ({"controller": lambda t, y: 0.0, "memory": 2}, "memory is 2, but only Warp functions"),
    ],
)
def test_refusals_name_what_is_wrong(options, told):
    world = cart()
    given = {"controller": push, "rate": 100.0, "writes": ("rail.torque",)} | options
    with pytest.raises(im.EditError, match=told):
        world.attach("c", **given)
    assert not world.controllers


# edits, journals ------------------------------------------------------------------------------------


def test_snapshots_have_its_memory():
    world = leaning(2.0)
    world.attach("c", integrating, rate=500.0, reads=READS, writes=WRITES, memory=1)
    world.step(101)
    moment = world.snapshot()
    world.step(77)
    expected = world.hash(), world.controllers["c"].memory
    world.detach("c")
    world.step(5)
    world.restore(moment)
    world.step(77)
    assert (world.hash(), world.controllers["c"].memory) == expected
    world.apply(im.edits.Reset())
    assert world.controllers["c"].memory == 0.0


@pytest.mark.parametrize("rate", [1000.0, 1536.0])
def test_replay_is_exact_without_the_function(tmp_path, rate):
    """Undo, seek and replay give the same bits; behind a seek its memory is that of then."""
    path, world = tmp_path / "a.journal", leaning(2.0)
    history = History(world, path, hash_steps=20)
    history.step(30)
    history.apply(im.edits.Attach("c", integrating, rate, READS, WRITES, memory=1))
    history.step(200)
    end, memory = world.hash(), world.controllers["c"].memory
    history.seek(0.1)
    history.step(130)
    assert world.hash() == end and world.controllers["c"].memory == memory
    history.apply(im.edits.Detach("c"))
    history.step(20)
    history.undo()
    assert world.hash() == end and world.controllers["c"].memory == memory
    history.step(20)
    end = world.hash()
    history.close()
    plain = leaning(2.0)
    plain.step(30)
    plain.attach("c", integrating, rate, READS, WRITES, memory=1)
    plain.step(220)
    assert plain.hash() == end
    found = replay(path, verify=True)
    assert not found.wrong and found.checks > 5
    assert found.history.world.hash() == end
