"""The table of quantities: what an entry promises, and that it is all that a new one takes."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.author.rotations import rotate
from impulsar.observe.quantities import COMPONENTS, KINDS, QUANTITIES, Quantity
from impulsar.studio import describe
from impulsar.world.signals import signal


def everything() -> im.Model:
    """A model with a part of every kind, one of them with dots in its name, bodies not in the tree's order."""
    model = im.Model("everything")
    low = model.body("low.x", 0.2, (2e-5, 3e-5, 1e-5), position=(0, 0, -0.15), angular_velocity=(0, 3.0, 0))
    top = model.body("top", 0.1, (2e-5, 2e-5, 1e-6), position=(0, 0, -0.05))
    model.joint("ball", "spherical", model.ground, top, at=(0, 0, 0))
    model.joint("elbow", "revolute", top, low, at=(0, 0, -0.1), axis=(0, 1, 0))
    cart = model.body("cart", 1.0, (1e-3, 1e-3, 1e-3), position=(0, 0.2, 0), velocity=(0.4, 0, 0))
    model.joint("rail", "prismatic", model.ground, cart, at=(0, 0.2, 0), axis=(1, 0, 0))
    model.spring("band", cart, low, at_a=(0.01, 0.2, 0), at_b=(0, 0.01, -0.2), stiffness=50, damping=2, free_length=0.1)
    model.load("wind", low, force=(0.1, 0.2, 0.3), torque=(0, 0, 0.01), frame="body")
    model.probe("tip", low, at=(0, 0.02, -0.2))
    model.probe("mark", model.ground, at=(1, 2, 3))
    model.distance("gap", cart, low, at_a=(0, 0.2, 0), at_b=(0, 0, -0.2))
    model.tyre("tread", cart, radius=0.05, stiffness=1e3, load=1.0)  # in the air
    model.angle("lean", model.ground, top, from_a=(0, 0, 0), to_a=(0, 0, -1), from_b=(0, 0, 0), to_b=(0.02, 0, -0.1))
    for name, y in (("sun", 0.4), ("planet", 0.5)):
        wheel = model.body(name, 0.1, (1e-4, 1e-4, 1e-4), position=(0, y, 0))
        model.joint(f"{name} pin", "revolute", model.ground, wheel, at=(0, y, 0), axis=(1, 0, 0))
    model.coupling("gear", "sun pin", "planet pin", ratio=-2.0)
    model.parameter("wish", 0.5)
    model.sensor("imu", im.sensors.Imu("top", rate=200.0))
    return model


@pytest.fixture(params=[1, 3])
def world(request: pytest.FixtureRequest, device: str) -> im.World:
    with pytest.warns(UserWarning, match="changed to fit"):
        world = im.World(everything(), dt=0.005, worlds=request.param, device=device)
    world.grab("cart", name="left")
    world.step(10)
    return world


def test_each_is_read_of_all_parts_and_worlds(world: im.World) -> None:
    """[row, world] and components, finite, with a unit, a sentence and rows for every part."""
    now = world.moment()
    for quantity in QUANTITIES.values():
        values = quantity.read(now)
        assert values.shape[1:] == (world.worlds, *([len(quantity.components)] if quantity.components else [])), (
            quantity
        )
        rows = KINDS[quantity.kind].rows(world.runner.bench)
        assert len(rows) and max(rows.values()) < len(values)
        assert np.isfinite(values[list(rows.values())]).all()
        assert quantity.unit and quantity.doc and quantity.dimension in (*COMPONENTS, "")
        assert quantity.sure is None or quantity.sure(now).shape == values.shape


def test_the_docs_have_the_table() -> None:
    """`python tools/quantities.py` writes it anew."""
    root = Path(__file__).resolve().parents[2]
    tool = runpy.run_path(str(root / "tools" / "quantities.py"))
    assert (root / "docs" / "quantities.md").read_text(encoding="utf-8") == tool["written"]()


def test_names_are_of_one_quantity_only() -> None:
    """No two have one variable, and no two endings of a kind are the same."""
    variables = [quantity.in_results for quantity in QUANTITIES.values() if quantity.in_results]
    assert len(set(variables)) == len(variables)
    for kind in KINDS:
        endings = [ending for q in QUANTITIES.values() if q.kind == kind for ending in q.endings]
        assert len(set(endings)) == len(endings)


def test_closed_forms_of_the_dependent_ones(world: im.World) -> None:
    """Spring, kinetic energy, probes and loads from poses, twists and parameters."""
    now = world.moment()
    read = {name: quantity.read(now) for name, quantity in QUANTITIES.items()}
    rows = {name: world.system.body_index[name] for name in world.model.bodies}
    p, q = read["body.position"], read["body.orientation"]
    v, omega = read["body.velocity"], read["body.angular_velocity"]
    spring = world.model.springs["band"]
    ends, rates = [], []
    for body, point in ((spring.first, spring.p_PQ), (spring.second, spring.p_CQ)):
        arm = rotate(q[rows[body]], point)
        ends.append(p[rows[body]] + arm)
        rates.append(v[rows[body]] + np.cross(omega[rows[body]], arm))
    d, rate = ends[1] - ends[0], rates[1] - rates[0]
    length = np.linalg.norm(d, axis=-1)
    np.testing.assert_allclose(read["spring.length"][0], length, rtol=1e-14)
    pull = 50 * (length - 0.1) + 2 * (rate * d).sum(axis=-1) / length
    np.testing.assert_allclose(read["spring.force"][0], pull, rtol=1e-12)
    inertia = world.model.bodies["low.x"].inertia
    R = np.array([rotate(q[rows["low.x"]], axis) for axis in np.eye(3)])  # [axis, world, component]
    spin = np.einsum("awc,wc->aw", R, omega[rows["low.x"]])  # body axes
    energy = 0.1 * (v[rows["low.x"]] ** 2).sum(axis=-1) + 0.5 * np.einsum("aw,ab,bw->w", spin, inertia, spin)
    np.testing.assert_allclose(read["body.kinetic_energy"][rows["low.x"]], energy, rtol=1e-12)
    np.testing.assert_allclose(read["body.kinetic_energy"].sum(axis=0), read["energy"][0, :, 0], rtol=1e-12)
    books = world.energy()
    sums = [books.kinetic, books.potential, books.elastic, sum(books.work.values()), sum(books.losses.values())]
    expected = np.array([np.broadcast_to(value, world.worlds) for value in (*sums, books.imbalance)])
    np.testing.assert_allclose(read["energy"][0].T, expected, rtol=0, atol=1e-15 * np.abs(expected).sum())
    assert expected[3:5].all()  # a load works, a damper loses
    np.testing.assert_allclose(read["energy.total"][0], read["energy"][0, :, :3].sum(axis=-1), rtol=1e-14)
    tip = p[rows["low.x"]] + rotate(q[rows["low.x"]], world.model.probes["tip"].p_BQ)
    np.testing.assert_allclose(read["probe.position"][0], tip, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(read["probe.position"][1], np.broadcast_to((1, 2, 3), (world.worlds, 3)))
    np.testing.assert_allclose(read["load.force"][0], rotate(q[rows["low.x"]], np.array([0.1, 0.2, 0.3])), atol=1e-15)
    np.testing.assert_allclose(read["load.torque"][0], rotate(q[rows["low.x"]], np.array([0, 0, 0.01])), atol=1e-15)
    np.testing.assert_allclose(read["body.force"], read["body.acceleration"] * masses(world), rtol=1e-14)


def masses(world: im.World) -> np.ndarray:
    return world.system.parameter("mass")[:, :1, None]


def test_results_have_what_is_asked_for(world: im.World) -> None:
    """By the table's names or the variables', in the author's order, equal to what the world reads at the end."""
    names = ("spring.force", "velocity", "body.kinetic_energy", "load.force", "energy.total", "joint_position")
    result = world.run(0.02, variables=names)
    assert set(result.data_vars) == {
        "spring_force", "velocity", "body_kinetic_energy", "load_force", "energy_total", "joint_position",
    }  # fmt: skip
    assert list(result["body"].values) == ["low.x", "top", "cart", "sun", "planet"]
    assert set(result.dims) == {"time", "spring", "body", "axis", "load", "coordinate"} | (
        {"world"} if world.worlds > 1 else set()
    )
    now, end = world.moment(), result.isel(time=-1)
    assert result["spring_force"].attrs["units"] == "N"
    assert result["joint_position"].attrs["units"] == "rad, m"
    np.testing.assert_array_equal(np.squeeze(end["spring_force"]), np.squeeze(QUANTITIES["spring.force"].read(now)))
    for name in world.model.bodies:
        energy = QUANTITIES["body.kinetic_energy"].read(now)[world.system.body_index[name]]
        np.testing.assert_array_equal(np.ravel(end["body_kinetic_energy"].sel(body=name)), energy)
        np.testing.assert_array_equal(end["velocity"].sel(body=name), world.body(name).velocity)
    with pytest.raises(ModelError, match=r"no variable 'spring\.forc'; did you mean 'spring\.force'"):
        world.run(0.01, variables=["spring.forc"])
    with pytest.raises(ModelError, match="no variable 'step_time'"):  # it is of a session
        world.run(0.01, variables=["step_time"])
    with pytest.raises(ModelError, match="expected a list of names"):
        world.run(0.01, variables="velocity")


def test_a_new_one_takes_one_entry(world: im.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The momentum of a body, entered in the table, is in results, signals and the page, by name and unit."""
    momentum = Quantity(
        "body.momentum", "kg m/s", "momentum in world axes",
        lambda now: now.bench.read("twist")[..., 3:] * masses(world), "axis", usual=False,
    )  # fmt: skip
    monkeypatch.setitem(QUANTITIES, momentum.name, momentum)
    found = signal(world, "body.low.x.momentum.y")
    value, is_sure = found.read(world.moment())
    assert (found.unit, is_sure) == ("kg m/s", True)
    assert value == 0.2 * np.reshape(world.body("low.x").velocity, (-1, 3))[0, 1]
    told = next(entry for entry in describe.quantities() if entry.title == "momentum")
    assert (told.of, told.unit, told.endings) == ("body", "kg m/s", [f"momentum.{c}" for c in ("x", "y", "z", "norm")])
    result = world.run(0.01, variables=["body.momentum", "velocity"])
    ratio = result["body_momentum"].sel(body="low.x") / result["velocity"].sel(body="low.x")
    np.testing.assert_allclose(ratio.where(ratio.notnull(), 0.2), 0.2, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bdy.top.velocity.x", "no kind named 'bdy'; did you mean 'body'"),
        ("body.tob.velocity.x", "no body named 'tob'; did you mean 'top'"),
        ("body.top.velocty.x", "no quantity named 'velocty.x'; did you mean 'velocity.x'"),
        ("body.top.velocity", "no quantity named 'velocity'; did you mean"),
        ("body.low.x", "is not complete"),
        ("energy.kinetik", "no kind named 'energy.kinetik'; did you mean 'energy.kinetic'"),
        ("constraint_errors", "did you mean 'constraint_error'"),
        ("joint.ball.position", "has 3 coordinates; name one of: ball.x, ball.y, ball.z"),
        ("joint.ball.reaction.force.w", "no quantity named 'reaction.force.w'"),
        ("coordinate.ball.velocity", "no coordinate named 'ball'; did you mean 'ball."),
        ("probe.tip", "is not complete"),
        ("", "no kind named ''"),
    ],
)
def test_a_wrong_signal_is_refused_with_the_nearest(name: str, told: str) -> None:
    with pytest.warns(UserWarning, match="changed to fit"):
        world = im.World(everything())
    with pytest.raises(ModelError) as error:
        signal(world, name)
    assert told in str(error.value)


def test_parts_that_come_and_go() -> None:
    """A hand may be asked for before it takes hold: it gives nothing until then; a load that acts gives its force."""
    with pytest.warns(UserWarning, match="changed to fit"):
        world = im.World(everything(), dt=0.005)
    hand, load = signal(world, "hand.left.force.norm"), signal(world, "load.wind.force.norm")
    assert hand.read(world.moment()) == (0.0, True)
    assert load.read(world.moment())[0] == pytest.approx(np.linalg.norm((0.1, 0.2, 0.3)), rel=1e-14)
    world.grab("cart", name="left").move((0.1, 0.2, 0.0))
    world.step(5)
    assert hand.read(world.moment())[0] == pytest.approx(np.linalg.norm(world.hand_forces()["left"]), rel=1e-14)
    world.apply(edits.RemoveLoad("wind"))
    assert load.read(world.moment())[0] == 0.0


def test_results_follow_a_system_that_is_built_anew() -> None:
    """A joint changed on the way, which orders the bodies anew: each keeps its own series; what is gone is NaN."""
    model = everything()
    model.at(0.02, edits.Remove("body", "cart"))
    model.at(0.03, edits.ChangeJoint("elbow", {"type": "spherical"}))
    with pytest.warns(UserWarning, match="changed to fit"):
        world = im.World(model, dt=0.005)
    result = world.run(0.05)
    for name in ("top", "low.x"):
        np.testing.assert_array_equal(result["position"].sel(body=name)[-1], world.body(name).position)
    gone = result["position"].sel(body="cart").isnull().all("axis").values
    np.testing.assert_array_equal(gone, result["time"].values > 0.0201)
    assert result["joint_position"].sel(coordinate="elbow").isnull().values[-1]
