"""Users' events: found where closed forms say, in order, none missed, and without a change to the run."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

import impulsar as im
from impulsar import results
from impulsar.validate.variants import variants

G = 9.81
SHARP = 1e-10  # [s]
TIGHT = {"rtol": 1e-12, "atol": 1e-12}
BOTH = ("generalized", "maximal")


def stone(**start) -> im.Model:
    model = im.Model("stone")
    model.body("stone", 2.0, (1.0, 1.0, 0.5), **start)
    return model


def pendulum() -> im.Model:
    """A rod of 1 m let go level: a quarter of its period is K(1/2) / ω, ω² = 3 g / 2."""
    model = im.Model("pendulum")
    model.body("rod", 1.0, (1 / 12, 1 / 12, 1e-3), position=(0.5, 0, 0))
    model.joint("pin", "revolute", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0))
    return model


QUARTER = float(ellipk(0.5)) / math.sqrt(1.5 * G)


def mass_on_spring(stiffness: float) -> im.Model:
    """1 kg on a spring [N/m] along its rail, let go 0.1 m from where it rests."""
    model = im.Model("spring", gravity=(0, 0, 0))
    model.body("mass", 1.0, (1.0, 1.0, 1.0))
    model.joint("rail", "prismatic", "ground", "mass", at=(0, 0, 0), axis=(1, 0, 0), stiffness=stiffness, rest=-0.1)
    return model


def ball(restitution: float) -> im.Model:
    model = im.Model("ball")
    model.material("steel", 0.0, restitution=restitution)
    model.body("ball", 1.0, shape=im.Sphere(0.1, material="steel"), position=(0, 0, 0.6))
    model.obstacle("floor", im.Plane(material="steel"))
    return model


def world_of(model: im.Model, method, coordinates: str) -> im.World:
    """A world; what a method has no law for is skipped."""
    try:
        return im.World(model, method, coordinates)
    except im.ModelError as error:
        if "has no law" not in str(error) and "has no contact" not in str(error):
            raise
        pytest.skip(str(error))


def height(body: str):
    return lambda world: world.body(body).position[2]


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("dt", [0.01, 0.37])
def test_a_pendulum_passes_by_its_quarter_periods(coordinates, dt) -> None:
    """It hangs at odd quarters of its period and turns at even ones, also where a nominal step has several of them."""
    world = im.World(pendulum(), coordinates=coordinates, dt=dt, **TIGHT)
    events = [im.Event("hangs", lambda w: w.body("rod").position[0]), im.Event("turns", "joint.pin.velocity")]
    found = world.run(3.7, events=events)
    quarters = np.arange(1, len(found["event"]) + 1)
    assert len(quarters) == int(3.7 / QUARTER)
    np.testing.assert_allclose(found["event_time"], QUARTER * quarters, rtol=0, atol=SHARP)
    assert found["event_name"].values.tolist() == [("turns", "hangs")[k % 2] for k in quarters]


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_stone_comes_down(coordinates) -> None:
    """z = 3 t - g t² / 2 rises and falls through 0.2 m at the roots of the parabola, and turns at 3 / g."""
    world = im.World(stone(velocity=(0, 0, 3.0)), coordinates=coordinates, **TIGHT)
    events = [
        im.Event("up", "body.stone.position.z", direction=1, level=0.2),
        im.Event("down", "body.stone.position.z", direction=-1, level=0.2),
        im.Event("top", "body.stone.velocity.z", direction=-1),
        im.Event("never", "body.stone.velocity.z", direction=1),
    ]
    found = world.run(1.0, events=events)
    root = math.sqrt(9.0 - 2.0 * G * 0.2)
    assert found["event_name"].values.tolist() == ["up", "top", "down"]
    np.testing.assert_allclose(found["event_time"], [(3 - root) / G, 3 / G, (3 + root) / G], rtol=0, atol=SHARP)
    np.testing.assert_allclose(found["event_position"][[0, 2], 0, 2], 0.2, rtol=0, atol=SHARP)


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_mass_swings_on_its_spring(coordinates) -> None:
    """x = 0.1 (cos(10 t) - 1): the spring is slack, and has half of the energy, where cosines say."""
    world = im.World(mass_on_spring(100.0), coordinates=coordinates, **TIGHT)
    events = [
        im.Event("slack", lambda w: w.joint("rail").position + 0.1),
        im.Event("half", lambda w: w.energy().elastic - w.energy().kinetic),
    ]
    found = world.run(2.0, events=events)
    for name, phase in (("slack", 0.5), ("half", 0.25)):
        times = found["event_time"].values[found["event_name"].values == name]
        step = 1.0 if name == "slack" else 0.5
        np.testing.assert_allclose(10 * times / math.pi, phase + step * np.arange(len(times)), rtol=0, atol=1e-9)
        assert len(times) == int((20 / math.pi - phase) / step) + 1


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_free_body_wobbles(coordinates) -> None:
    """Of a symmetric body the axis precesses at |L| / I: the spin's own component passes zero at its half turns."""
    spin = np.array([0.3, 0.0, 2.0])
    momentum = np.array([1.0, 1.0, 0.5]) * spin
    model = im.Model("top", gravity=(0, 0, 0))
    model.body("top", 1.0, (1.0, 1.0, 0.5), angular_velocity=spin)
    world = im.World(model, coordinates=coordinates, **TIGHT)
    found = world.run(6.0, events=[im.Event("turned", "body.top.angular_velocity.y")])
    # the angular velocity, L / I + a part along the axis, turns about L at |L| / I and starts in the plane y = 0
    period = math.pi / float(np.linalg.norm(momentum))
    np.testing.assert_allclose(found["event_time"], period * np.arange(1, len(found["event"]) + 1), rtol=0, atol=SHARP)
    assert len(found["event"]) == int(6.0 / period)


def test_a_crank_is_driven() -> None:
    """A crank at 10 rad/s passes its angles at φ / 10, and the slider turns where the crank is in line with the rod."""
    model = im.Model("crank", gravity=(0, 0, 0))
    model.body("crank", 1.0, (0.1, 0.1, 0.1), position=(0.1, 0, 0))
    model.body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.4, 0, 0))
    model.body("slider", 1.0, (0.1, 0.1, 0.1), position=(0.6, 0, 0))
    model.joint("drive", "revolute", "ground", "crank", at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(speed=10.0))
    model.joint("elbow", "revolute", "crank", "rod", at=(0.2, 0, 0), axis=(0, 0, 1))
    model.joint("wrist", "revolute", "rod", "slider", at=(0.6, 0, 0), axis=(0, 0, 1))
    model.joint("rail", "prismatic", "ground", "slider", at=(0.6, 0, 0), axis=(1, 0, 0))
    for coordinates in BOTH:
        world = im.World(model, coordinates=coordinates, **TIGHT)
        level = im.Event("up", "joint.drive.position", level=0.5 * math.pi)
        found = world.run(1.0, events=[level, im.Event("turns", "joint.rail.velocity")])
        times = dict.fromkeys(found["event_name"].values.tolist())
        assert list(times) == ["up", "turns"] or list(times) == ["turns", "up"]
        up, turns = (found["event_time"].values[found["event_name"].values == name] for name in ("up", "turns"))
        np.testing.assert_allclose(up, [0.05 * math.pi], rtol=0, atol=SHARP)
        np.testing.assert_allclose(turns, 0.1 * math.pi * np.arange(1, 4), rtol=0, atol=SHARP)


@pytest.mark.parametrize("coordinates", BOTH)
def test_a_ball_bounces(coordinates) -> None:
    """It falls 0.5 m in √(2 · 0.5 / g), and with e = 0.8 rises and falls for so much of that: jumps, and a zero."""
    world = im.World(ball(0.8), coordinates=coordinates, **TIGHT)
    fall = math.sqrt(1.0 / G)
    events = [
        im.Event("strikes", "body.ball.velocity.z", direction=1),
        im.Event("top", "body.ball.velocity.z", direction=-1),
    ]
    found = world.run(0.9, events=events)
    assert found["event_name"].values.tolist() == ["strikes", "top", "strikes"]
    np.testing.assert_allclose(found["event_time"], [fall, 1.8 * fall, 2.6 * fall], rtol=0, atol=SHARP)


@pytest.mark.parametrize(("method", "coordinates"), [v[1:] for v in variants()], ids=[v[0] for v in variants()])
@pytest.mark.parametrize(
    ("name", "options"), [("ten-pendula", {}), ("newtons-cradle", {}), ("five-link", {"friction": 0.02})]
)
def test_watching_changes_no_bit(method, coordinates, name, options) -> None:
    """A run with events has the bits of one without, in every method, with contact or friction or loops."""
    plain, watched = (world_of(im.scene(name, **options), method, coordinates) for _ in range(2))
    body = next(iter(plain.model.bodies))
    expected = plain.run(0.3)
    found = watched.run(0.3, events=[im.Event("turns", f"body.{body}.velocity.x"), im.Event("rises", height(body))])
    assert plain.hash() == watched.hash()
    for variable in expected.data_vars:
        np.testing.assert_array_equal(found[variable], expected[variable], variable)


def test_what_lasts_longer_than_a_sub_step_is_not_missed() -> None:
    """In a nominal step of 0.3 s, sub-steps of a stiff spring are short: every beat of it is seen, up and down."""
    world = im.World(mass_on_spring(1e4), im.Direct(pair="explicit"), dt=0.3)  # ω = 100 rad/s
    found = world.run(0.9, events=[im.Event("passes", "joint.rail.position", level=-0.1)])
    assert len(found["event"]) == int(0.9 * 100 / math.pi + 0.5)
    np.testing.assert_allclose(np.diff(found["event_time"]), math.pi / 100, rtol=1e-4)


def test_events_at_once_come_in_the_order_given() -> None:
    """Events that cannot be told apart have one time and the order of the list, whatever their functions."""

    def level(w):
        return w.body("stone").position[2] + 1.0

    for names in ("abc", "cab"):
        functions = {"a": level, "b": lambda w: -3 * level(w), "c": lambda w: math.atan(1e3 * level(w))}
        found = im.World(stone()).run(1.0, events=[im.Event(name, functions[name]) for name in names])
        assert "".join(found["event_name"].values) == names
        assert len(set(found["event_time"].values.tolist())) == 1


def test_a_reading_of_zero_counts_once() -> None:
    """A function that is zero at a step, or begins at zero, is there once, or not at all."""
    world = im.World(stone())
    counter = im.Event("fifth", lambda w: 0.0 if abs(w.time - 0.05) < 1e-9 else w.time - 0.05)
    found = world.run(0.1, events=[counter, im.Event("start", lambda w: w.time)])
    assert found["event_name"].values.tolist() == ["fifth"]
    assert float(found["event_time"][0]) == pytest.approx(0.05, abs=2e-9)


@pytest.mark.parametrize("method", ["direct", "simgc", "simmc"])
def test_a_terminal_event_ends_the_run_there(method) -> None:
    """The world is at the event, its clock too; a run that goes on does not find it again, and scripts keep time."""
    model = pendulum()
    model.at(0.7, im.ApplyLoad("push", "rod", force=(0.0, 1.0, 0.0)))
    world = im.World(model, method)
    hangs = im.Event("hangs", lambda w: w.body("rod").position[0], terminal=True)
    first = world.run(3.0, events=[hangs, im.Event("other", lambda w: w.time - 1.0)])
    assert first.attrs["ended_by_event"] == "hangs"
    assert first["event_name"].values.tolist() == ["hangs"]
    assert world.time == float(first["event_time"][0]) == float(first["time"][-1])
    assert abs(world.body("rod").position[0]) < 1e-9
    np.testing.assert_array_equal(first["event_position"][0], first["position"][-1])
    np.testing.assert_array_equal(world.body("rod").position, first["position"][-1, 0])
    assert world.runner.clock == pytest.approx(world.time, abs=1e-12)
    began = world.time
    second = world.run(3.0, events=[hangs])
    assert world.time - began > 1.5 * QUARTER and second.attrs["ended_by_event"] == "hangs"
    assert float(second["time"][1]) - began == pytest.approx(world.dt)
    assert "push" in world.system.load_names


def test_forces_are_right_where_a_run_ended() -> None:
    """At the lowest point the pin carries (1 + 3/2 · 1) m g: also as read after a terminal event, inside a step."""
    world = im.World(pendulum(), **TIGHT)
    world.run(3.0, events=[im.Event("hangs", lambda w: w.body("rod").position[0], terminal=True)])
    np.testing.assert_allclose(world.joint("pin").reaction.force, (0, 0, 2.5 * G), rtol=0, atol=1e-8)


def test_a_terminal_event_ends_samples_between_steps() -> None:
    """Of times asked for those after the event are left out."""
    fall = math.sqrt(2.0 / G)
    times = np.linspace(0.0, 1.0, 60)
    event = im.Event("down", height("stone"), level=-1.0, terminal=True)
    found = im.World(stone()).run(1.0, at=times, events=[event])
    np.testing.assert_array_equal(found["time"], times[times <= fall])
    np.testing.assert_allclose(found["position"][:, 0, 2], -0.5 * G * found["time"] ** 2, rtol=0, atol=1e-9)


def test_events_are_saved_loaded_and_drawn(tmp_path) -> None:
    """What a file gives back is what was found, also if that is nothing; a picture shows them."""
    for level in (-1.0, 1.0):
        found = im.World(stone()).run(0.6, events=[im.Event("down", height("stone"), level=level)])
        assert found.sizes["event"] == (level < 0)
        results.save(found, tmp_path / "run.nc")
        loaded = results.load(tmp_path / "run.nc")
        assert loaded.identical(found)
        results.plot(loaded, tmp_path / f"run{level}.png")
    assert "event" not in im.World(stone()).run(0.1).dims


def edits_it(world) -> float:
    world.apply(im.ApplyLoad("push", "stone", force=(1.0, 0.0, 0.0)))
    return 1.0


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda w: math.nan, "event 'e': its function gave nan at t = 0 s, expected a finite number"),
        (lambda w: "1", "gave '1' at t = 0 s"),
        (lambda w: True, "gave True"),
        (lambda w: w.body("stone").position, "expected a finite number"),
        (lambda w: w.body("rock"), "raised EditError: world: no body named 'rock'"),
        (edits_it, "raised EditError: .*apply while the world is at work"),
        (lambda w: w.step() and 1.0, "raised StepError: .*step while the world is at work"),
        (lambda w: 1.0 if w.time < 0.045 else math.inf, "gave inf at t = 0.05 s"),
        ("body.stone.speed", "event 'e': signal 'body.stone.speed': no quantity"),
        ("stone", "event 'e': signal 'stone'"),
    ],
)
def test_functions_that_make_no_sense_are_refused(function, told) -> None:
    """In words that name the event, with the world left at its last step."""
    world, other = im.World(stone()), im.World(stone())
    with pytest.raises(im.ModelError, match=told):
        world.run(0.1, events=[im.Event("e", function)])
    if world.time:
        other.step(round(world.time / world.dt))
    assert world.hash() == other.hash()
    world.step()


def test_events_that_make_no_sense_are_refused() -> None:
    for arguments, told in (
        (("", height("a")), "event: name is ''"),
        (("e", 3.0), "event 'e': function is 3, expected a function of the world, or the name of a signal"),
        (("e", height("a"), 2), "direction is 2, expected 1"),
        (("e", height("a"), True), "direction is True"),
        (("e", height("a"), 0, 1), "terminal is 1, expected True or False"),
        (("e", height("a"), 0, False, math.nan), "level is nan"),
    ):
        with pytest.raises(im.ModelError, match=told):
            im.Event(*arguments)
    event = im.Event("e", height("stone"))
    for events, worlds, told in (
        ([event, event], 1, "two events are called 'e'"),
        ([event], 2, "events in a batch of 2 worlds"),
        (event, 1, "expected a list of im.Event"),
        ([height("stone")], 1, "expected a list of im.Event"),
    ):
        with pytest.raises(im.ModelError, match=told):
            im.World(stone(), worlds=worlds).run(0.1, events=events)
