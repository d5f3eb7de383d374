"""Tyres: published check values of their law, closed forms of the brush, rest, books, bits, and who refuses them."""

import math
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.engine.forces.tyre_law import steady

R, K, MASS, G, LOAD = 0.292, 80e3, 66.0, 9.81, 650.0


def car_tyre(**options) -> im.Model:
    """The tyre of the published set."""
    model = im.Model("tyre")
    model.body("wheel", mass=1.0, inertia=(1, 1, 1))
    model.tyre("t", "wheel", radius=0.313, **options)
    return model


def wheel(method: object = "direct", coordinates: str | None = None, worlds: int = 1, dt: float = 0.01, **own):
    """A wheel that stands on a plane by its tyre, rolling at `speed`."""
    speed, turns, high = own.pop("speed", 5.0), own.pop("turns", None), own.pop("high", 0.0)
    model = im.Model("wheel")
    model.obstacle("road", im.Plane(), material=own.pop("material", None))
    z = R - MASS * G / K
    model.body(
        "wheel",
        mass=MASS,
        inertia=(0.22, 0.36, 0.22),
        position=(0, 0, z + high),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / z if turns is None else turns, 0),
    )
    model.tyre("t", "wheel", radius=R, stiffness=K, damping=500.0, load=LOAD, **own)
    options = {} if coordinates is None else {"coordinates": coordinates}
    return im.World(model, method=method, dt=dt, worlds=worlds, **options)


@pytest.mark.parametrize(
    ("slip", "angle", "forces"),
    [
        (0.05, 0, (3467.65, 0, 0)),
        (0, 2, (0, -1557.39, 45.338)),
        (0, 4, (0, -2781.09, 63.683)),
        (-0.05, 4, (-2629.94, -2635.55, 34.846)),
        (-0.1, 4, (-3899.52, -2295.45, 7.262)),
        (0.1, 8, (2719.31, -3225.10, 3.200)),
    ],
)
def test_forces_of_the_published_set(slip, angle, forces):
    """Pacejka 2006 table A3.1 at 4 kN, shifts off, computed apart: to the digits printed."""
    found = steady(car_tyre(), "t", 4000.0, slip, math.tan(math.radians(angle)))[0]
    assert found[:2] == pytest.approx(forces[:2], abs=0.005)
    assert found[2] == pytest.approx(forces[2], abs=0.0005)


@pytest.mark.parametrize(
    ("load", "mu_x", "locked", "mu_y", "K_x", "K_y", "trail"),
    [
        (2000.0, 1.2285, 0.824, 1.0625, 38204, 26609, 0.0157),
        (4000.0, 1.2100, 0.798, 0.9900, 86040, 46009, 0.0313),
        (6000.0, 1.1915, 0.772, 0.9175, 145326, 56303, 0.0467),
    ],
)
def test_peaks_and_stiffness_by_load(load, mu_x, locked, mu_y, K_x, K_y, trail):
    """Peaks, locked wheel, slip stiffness and trail at three loads, to the digits printed."""
    model, slips = car_tyre(), np.linspace(0.0, 0.5, 20001)
    along, across = steady(model, "t", load, slips), steady(model, "t", load, 0.0, slips)
    assert along[:, 0].max() / load == pytest.approx(mu_x, abs=5e-5)
    assert -across[:, 1].min() / load == pytest.approx(mu_y, abs=5e-5)
    assert -steady(model, "t", load, -1.0)[0, 0] / load == pytest.approx(locked, abs=5e-4)
    assert (along[0, 3], -along[0, 4]) == pytest.approx((K_x, K_y), abs=0.5)
    small = steady(model, "t", load, 0.0, 1e-7)[0]
    assert -small[2] / small[1] == pytest.approx(trail, abs=5e-5)


def test_scaled_set_camber_shifts_and_grip():
    """Scaled to 650 N: K 13982, 7476 N, trail 0.0292, relaxation 0.540, 0.412 m; camber thrust; shifts pull; grip
    leaves the slip stiffness and scales what slides; beyond the fit forces keep their sign."""
    model = car_tyre()
    small = im.Model("small")
    small.body("wheel", mass=1.0, inertia=(1, 1, 1))
    small.tyre("t", "wheel", radius=R, load=LOAD)
    found = steady(small, "t", LOAD, 0.0, 1e-7)[0]
    assert found[3:5] == pytest.approx((13982, -7476), abs=0.6)
    assert found[5:7] == pytest.approx((0.540, 0.412), abs=5e-4)
    assert -found[2] / found[1] == pytest.approx(0.0292, abs=5e-5)
    assert steady(model, "t", 4000.0, camber=math.radians(4))[0, 1] == pytest.approx(-256.91, abs=0.005)
    assert steady(car_tyre(shifts=True), "t", 4000.0)[0, :3] == pytest.approx((-172, 42, -13.6), abs=0.5)
    slips = np.linspace(0.0, 0.5, 20001)
    peaks = [steady(model, "t", 4000.0, slips, grip=grip)[:, 0].max() for grip in (0.5, 1.0)]
    assert peaks[0] / peaks[1] == pytest.approx(0.5, rel=1e-6)
    slope = steady(model, "t", 4000.0, 1e-7, grip=0.5)[0, 0] / 1e-7
    assert slope == pytest.approx(86040, rel=1e-5)
    assert (steady(model, "t", np.array([1e4, 1e5]), 0.0, 3.0)[:, 1] < -0.5 * np.array([1e4, 1e5])).all()


def test_brush_has_its_closed_forms():
    """μF_z(1 - (1 - θs)³), θ = C / 3μF_z; slides at 1/θ; M_z peaks at θs = 1/4 with (27/256) μ F_z a; trail a/3."""
    a, mu, tread, load = 0.06, 0.8, 20.0, 500.0
    model = car_tyre(law="brush", coefficients={"friction": mu, "tread": tread, "half_length": a}, load=LOAD)
    C = tread * LOAD
    theta = C / (3 * mu * load)
    s = np.linspace(1e-6, 2 / theta, 400)
    pure = steady(model, "t", load, 0.0, s)
    left = np.maximum(1 - theta * s, 0.0)
    assert pure[:, 1] == pytest.approx(-mu * load * (1 - left**3), rel=1e-12)
    assert pure[:, 2] == pytest.approx(mu * load * a * left**3 * (1 - left), rel=1e-12, abs=1e-12)
    assert steady(model, "t", load, 0.0, 0.25 / theta)[0, 2] == pytest.approx(27 / 256 * mu * load * a, rel=1e-12)
    assert -pure[0, 2] / pure[0, 1] == pytest.approx(a / 3, rel=1e-4)
    slip, angle = -0.05, 0.03
    both = steady(model, "t", load, slip, angle)[0]
    x, y = slip / (1 + slip), angle / (1 + slip)
    size = mu * load * (1 - max(1 - theta * math.hypot(x, y), 0.0) ** 3)
    assert both[:2] == pytest.approx((size * x / math.hypot(x, y), -size * y / math.hypot(x, y)), rel=1e-12)


def pulled(law: str, force: float) -> im.World:
    """A wheel that cannot turn, on rails along x, pulled by a force."""
    model = im.Model("pulled")
    model.obstacle("road", im.Plane())
    z = R - LOAD / K
    model.body("wheel", mass=60.0, inertia=(1, 1, 1), position=(0, 0, z))
    model.joint("rail", "prismatic", model.ground, "wheel", at=(0, 0, z), axis=(1, 0, 0))
    model.tyre("t", "wheel", radius=R, stiffness=K, load=LOAD, law=law)
    model.load("pull", "wheel", force=(force, 0, 0))
    return im.World(model)


@pytest.mark.parametrize("law", ["magic", "brush"])
def test_at_rest_a_tyre_is_a_spring(law):
    """Below its friction a pulled wheel that cannot turn moves by u with F(u / σ) = pull, and there it stays."""
    world = pulled(law, 150.0)
    world.step(1000)
    tyre, x = world.tyre("t"), float(world.body("wheel").position[0])
    sigma = steady(world.model, "t", LOAD)[0, 5]
    assert tyre.patch[0] == pytest.approx(-150.0, abs=1e-4)
    assert abs(tyre.slip + x / sigma) < 3 * tyre.slip**2  # on its way, of three deflections, it leaves behind κ of it
    assert steady(world.model, "t", LOAD, tyre.slip)[0, 0] == pytest.approx(-150.0, abs=1e-4)
    world.step(1000)
    assert abs(world.body("wheel").position[0] - x) < 1e-9


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("method", ["direct", im.Projected(integrator="rk4"), im.Baumgarte()])
def test_a_wheel_that_is_dropped_and_rolls_off(method, coordinates):
    """Spun up from rest by slip, bouncing: the road never pulls, and books close."""
    world = wheel(method, coordinates, dt=0.002, speed=5.0, turns=0.0, high=0.05, rolling=0.0)
    least = math.inf
    for _ in range(100):
        world.step(5)
        least = min(least, float(world.tyre("t").patch[2]))
    books = world.energy()
    turned = sum(map(abs, books.losses.values())) + 100.0
    assert least >= 0.0
    assert abs(books.imbalance) < 1e-4 * turned
    assert books.losses["t"] > 10.0 and books.losses["t damper"] > 1.0
    body = world.body("wheel")
    assert abs(world.tyre("t").slip) < 0.02
    assert body.velocity[0] == pytest.approx(body.angular_velocity[1] * body.position[2], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_impulsive_methods_are_of_first_order(method):
    """Half the step, half of what the books are out by, and of the error of the speed."""
    exact = wheel(dt=0.002, turns=0.0, high=0.05, rolling=0.0)
    exact.step(500)
    out, off = [], []
    for dt in (0.001, 0.0005):
        world = wheel(method, dt=dt, turns=0.0, high=0.05, rolling=0.0)
        world.step(round(1.0 / dt))
        out.append(world.energy().imbalance)
        off.append(world.body("wheel").velocity[0] - exact.body("wheel").velocity[0])
    assert out[0] / out[1] == pytest.approx(2, rel=0.1)
    assert off[0] / off[1] > 1.8


def test_friction_is_that_of_the_place():
    """A brush wheel that slides on ice, friction 0.03, is held back by that share of its own friction, 1."""
    world = wheel(speed=8.0, turns=0.0, law="brush", material="ice")
    assert world.model.find_material("x", "ice").friction == 0.03
    world.apply(edits.SetParameter("t.rolling", 0.0))
    world.step(2)
    assert math.hypot(*world.tyre("t").patch[:2]) == pytest.approx(0.03 * world.tyre("t").patch[2], rel=1e-6)
    world.set("t.grip", 10.0)
    world.step(2)
    assert math.hypot(*world.tyre("t").patch[:2]) == pytest.approx(0.3 * world.tyre("t").patch[2], rel=1e-6)


def roads() -> dict[str, im.Model]:
    """The same level road as a plane, a box, a height field and a mesh."""
    flat = im.HeightField(np.zeros((41, 41)), size=(8.0, 8.0))
    corners = [(-4, -4, 0), (4, -4, 0), (4, 4, 0), (-4, 4, 0)]
    mesh = im.Mesh(np.array(corners, float), np.array([(0, 1, 2), (0, 2, 3)]), open=True)
    shapes = {"plane": (im.Plane(), 0.0), "box": (im.Box((8, 8, 2)), -1.0), "field": (flat, 0.0), "mesh": (mesh, 0.0)}
    found = {}
    for name, (shape, z) in shapes.items():
        model = im.Model(name)
        model.obstacle("road", shape, position=(0, 0, z))
        model.body("wheel", mass=MASS, inertia=(0.22, 0.36, 0.22), position=(0, 0, R - 0.005), velocity=(3.0, 0.5, 0))
        model.tyre("t", "wheel", radius=R, stiffness=K, load=LOAD)
        found[name] = model
    return found


def test_roads_of_every_kind_are_one_road():
    """What is level is level: a wheel skids and rolls alike on a plane, a box, a height field and a mesh."""
    ends = {}
    for name, model in roads().items():
        world = im.World(model)
        world.step(50)
        ends[name] = np.concatenate([world.body("wheel").position, world.body("wheel").angular_velocity])
    for name, end in ends.items():
        assert end == pytest.approx(ends["plane"], abs=1e-8), name


def test_bits_of_batches_snapshots_and_journals(tmp_path: Path):
    """Deflections are of the state: a batch, a restored moment and a replay give the same bits."""
    one, many = wheel(turns=3.0), wheel(turns=3.0, worlds=3)
    one.step(20)
    many.step(20)
    assert np.array_equal(many.body("wheel").position[2], one.body("wheel").position)
    moment = one.snapshot()
    one.step(20)
    end = one.hash()
    one.restore(moment)
    one.step(20)
    assert one.hash() == end
    history = im.History(wheel(turns=3.0), tmp_path / "wheel.journal")
    history.step(20)
    history.apply(edits.SetParameter("t.grip", 0.5))
    history.step(20)
    kept = history.world.hash()
    history.close()
    again = im.History.open(tmp_path / "wheel.journal")
    assert again.world.hash() == kept
    again.close()


def test_edits_keep_deflections_and_files_keep_tyres(tmp_path: Path):
    """A body that is added leaves the tyre's state as it is; a file gives the same tyre."""
    world = wheel(turns=3.0)
    world.step(3)
    slip = world.tyre("t").slip
    assert abs(slip) > 1e-3
    world.add("body", "block", mass=1.0, inertia=(1, 1, 1), position=(5, 5, 5))
    assert world.tyre("t").slip == pytest.approx(slip, abs=1e-15)
    im.save_model(world.model, tmp_path / "wheel.json")
    kept, tyre = im.load_model(tmp_path / "wheel.json").tyres["t"], world.model.tyres["t"]
    assert (kept.radius, kept.law, kept.coefficients) == (tyre.radius, tyre.law, tyre.coefficients)
    assert np.array_equal(kept.p_BA, tyre.p_BA)
    written = im.to_python(world.model)
    assert "model.tyre(" in written
    again: dict = {"__name__": "again"}
    exec(written, again)
    assert again["model"].tyres["t"].p_BA == pytest.approx(tyre.p_BA, abs=1e-15)
    load = world.tyre("t").patch[2]
    gone = world.remove("tyre", "t")
    assert not world.model.tyres and world.body("wheel").acceleration[2] == pytest.approx(-G)
    world.apply(gone.inverse)
    assert world.tyre("t").patch[2] == pytest.approx(load, rel=1e-9)


@pytest.mark.parametrize("method", ["simgc", "simmc", "baumgarte", im.Direct(substeps=1)], ids=str)
def test_steps_too_long_for_a_tyre_are_divided(method):
    """At rest this tyre's damping has γ = 313 / s: 10 ms are beyond 4 = ω² h² + 2 γ h. What creeps gains no energy; a
    tyre made stiffer on the way has shorter steps still, one made softer again those of before."""
    world = wheel(method, speed=0.05, turns=0.0)
    begin = world.energy().kinetic
    parts = world.runner.substeps
    assert 0.01 / parts < 0.0057
    for _ in range(20):
        world.step(5)
        assert world.energy().kinetic <= begin
    world.set("t.stiffness", 1e4 * K)
    assert world.runner.substeps > 2 * parts
    world.set("t.stiffness", K)
    assert world.runner.substeps == parts


@pytest.mark.parametrize("method", ["simgc", "simmc"])
def test_a_rolling_tyre_is_stable_by_impulses(method):
    """Deflections and forces take turns: a wheel that spins faster than it rolls comes to roll as by `direct`."""
    ends = []
    for law in (method, "direct"):
        world = wheel(law, speed=5.0, turns=25.0)
        world.step(100)
        ends.append([world.body("wheel").velocity[0], world.body("wheel").angular_velocity[1] * (R - MASS * G / K)])
    assert ends[0] == pytest.approx(ends[1], abs=0.01)  # of order 1: h times what is exchanged


@pytest.mark.parametrize("method", ["generalized_alpha", "linear_implicit", "variational"])
def test_methods_without_a_law_refuse_by_name(method):
    with pytest.raises(im.ModelError, match=f"tyre 't'.*{method}"):
        wheel(method)


@pytest.mark.parametrize("what", ["statics", "modes"])
def test_analyses_that_do_not_know_deflections_refuse(what):
    with pytest.raises(im.ModelError, match=r"tyre 't'.*deflections"):
        getattr(im.analysis, what)(wheel().model)


def test_mistakes_are_named():
    model = car_tyre()
    with pytest.raises(im.ModelError, match="did you mean 'pKy1'"):
        model.tyre("u", "wheel", coefficients={"pKy11": 1.0})
    with pytest.raises(im.ModelError, match="law is 'linear'"):
        model.tyre("u", "wheel", law="linear")
    with pytest.raises(im.ModelError, match="axle is"):
        model.tyre("u", "wheel", axle=(0, 0, 0))
    with pytest.raises(im.ModelError, match="radius is -1"):
        model.tyre("u", "wheel", radius=-1.0)
    with pytest.raises(im.ModelError, match="does not move"):
        model.tyre("u", model.ground)
    model.obstacle("rock", im.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]))
    with pytest.raises(im.ModelError, match=r"rock.*Mesh"):
        im.World(model)
