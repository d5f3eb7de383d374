"""One large world beside the engine of small ones, and by laws of its own."""

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError, StepError
from impulsar.engine.large.cudss import find_cudss
from impulsar.engine.large.factor import Factor
from impulsar.engine.large.net import Net
from impulsar.engine.large.plan import looped, make_plan, neighbours
from impulsar.scale.large import Bulk, Features, LargeWorld, Line, chain, net, tree


def positions(model: im.Model, world: im.World) -> np.ndarray:
    return np.array([world.body(name).position for name in model.bodies])


def mixed() -> im.Model:
    """A tree of five bodies whose joints are of several types, one of which closes a loop."""
    model = im.Model("mixed")
    types = [("hinge", "revolute"), ("ball", "spherical"), ("shafts", "universal"), ("rail", "prismatic")]
    before, at = model.ground, np.zeros(3)
    for k, (name, kind) in enumerate(types):
        more = {} if kind == "spherical" else {"axis": (1.0, 0.2 * k, 0.0)}
        if kind == "universal":
            more["axis2"] = (-0.4, 1.0, 0.0)
        body = model.body(f"b{k}", mass=1.0 + k, inertia=(0.02, 0.03, 0.04), position=at + np.array([0.1, 0.05, -0.1]))
        model.joint(name, kind, before, body, at=at, **more)
        before, at = body, at + np.array([0.2, 0.1, -0.2])
    model.joint("rod", "distance", model.ground, before, at=(1.0, 0.0, 0.0), at_b=at)
    return model


@pytest.mark.parametrize("build", [lambda: im.scene("chain", n=10), mixed, lambda: im.scene("four-bar")])
def test_pair_agrees_with_direct(build):
    """Both are of order 5 with error control: apart by their tolerances."""
    model = build()
    small = im.World(model, dt=1e-3, rtol=1e-10, atol=1e-10)
    small.step(100)
    large = LargeWorld(model, dt=1e-3, method="pair", rtol=1e-10, atol=1e-10)
    report = large.step(100)
    assert np.abs(large.positions - positions(model, small)).max() < 1e-8
    assert report.position_error < 1e-12
    assert report.velocity_error < 1e-12


def parallelogram(bars: int) -> im.Model:
    """A plate on parallel bars, hinged at both ends: 10 rows a bar, of which all but one bar's are implied."""
    model = im.Model("parallelogram")
    top = model.body("top", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5 * bars - 0.5, 0, 1), velocity=(0.4, 0, 0))
    for k in range(bars):
        bar = model.body(f"b{k}", mass=0.3, inertia=(0.03, 0.03, 0.001), position=(k, 0, 0.5), velocity=(0.2, 0, 0))
        bar.angular_velocity = np.array([0.0, 0.4, 0.0])
        model.joint(f"low {k}", "revolute", model.ground, bar, at=(k, 0, 0), axis=(0, 1, 0))
        model.joint(f"high {k}", "revolute", bar, top, at=(k, 0, 1), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize("method", ["fixed", "pair"])
def test_rows_that_loops_imply_get_no_multiplier(method):
    """Redundant rows of loops: gaps and J v are rounding, and energy stays, to the order of the step (h² of it)."""
    world = LargeWorld(parallelogram(6), dt=1e-3, method=method)
    before = sum(world.energy().values())
    report = world.step(700)
    assert report.position_error < 1e-12
    assert report.velocity_error < 1e-11
    assert report.parts < 900
    assert sum(world.energy().values()) == pytest.approx(before, rel=1e-4)


def test_where_loops_are():
    """A tree has none; a ring, two joints of one pair and a second hold on the ground close one, for all about it."""
    first, second = np.array([-1, 0, 1, -1, 4, 5, -1]), np.array([0, 1, 2, 3, 5, 6, 6])
    assert not looped(first, second, 7).any()
    more = [(2, 0), (1, 0), (-1, 2)]
    for a, b in more:
        found = looped(np.append(first, a), np.append(second, b), 7)
        assert found.tolist() == [True, True, True, False, False, False, False, True]
    assert looped(first, second, 7, kept=np.array([4])).tolist() == [k == 4 for k in range(7)]


def test_long_beam_is_no_loop():
    """Out of its plane a chain of 10,000 hinges is a beam, whose last pivot is 1e-13 of its row: J v stays rounding."""
    bulk = chain(10_000, planar=True, bend=1e-3)
    bulk.twist[:, 3:] = 0.01 * np.random.default_rng(0).normal(size=(10_000, 3))
    report = LargeWorld(bulk, dt=1e-5).step(3)
    assert report.velocity_error < 1e-12


def test_fixed_steps_are_of_second_order():
    """The difference to the small world is quartered with the step halved."""
    model = im.scene("chain", n=10)
    small = im.World(model, dt=1e-3, rtol=1e-10, atol=1e-10)
    small.step(100)
    found = []
    for h in (1e-3, 5e-4, 2.5e-4):
        large = LargeWorld(model, dt=h)
        large.step(round(0.1 / h))
        found.append(np.abs(large.positions - positions(model, small)).max())
    assert np.log2(found[0] / found[1]) == pytest.approx(2.0, abs=0.05)
    assert np.log2(found[1] / found[2]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("scene", [chain, tree])
def test_joints_hold_to_rounding(scene):
    """At 0.2 ms two rounds leave rounding: gaps of 1e-12 m and J v of 1e-13 m/s (issue's bounds)."""
    world = LargeWorld(scene(300), dt=2e-4, rounds=2)
    report = world.step(100)
    assert report.position_error < 1e-12
    assert report.velocity_error < 1e-13
    assert report.parts == 100


def test_energy_is_kept_by_the_pair():
    """Nothing but gravity does work: kinetic plus potential stay, to the tolerance."""
    world = LargeWorld(tree(63), dt=1e-3, method="pair", rtol=1e-9, atol=1e-9)
    before = sum(world.energy().values())
    world.step(100)
    assert world.energy()["kinetic"] > 0.01
    assert sum(world.energy().values()) == pytest.approx(before, abs=1e-8)


def test_free_chain_keeps_its_momentum():
    """Joints push both bodies alike: Σ m v stays, but for gravity's Σ m g t."""
    bulk = chain(200)
    for name in ("first", "second", "p_PF", "q_PF", "p_CM", "q_CM"):  # off the ground; the second joint is there twice
        getattr(bulk, name)[0] = getattr(bulk, name)[1]
    bulk.twist[:, 3:] = np.random.default_rng(0).normal(size=(200, 3))
    world = LargeWorld(bulk, dt=1e-4)
    before = world.momentum()
    world.step(20)
    expected = before + np.array([0.0, 0.0, -9.81]) * 0.1 * 200 * 20e-4
    assert np.abs(world.momentum() - expected).max() < 1e-13 * 0.1 * 200


def hanging(n: int, seed: int = 0) -> Bulk:
    """A straight chain under its own weight, disturbed by a millionth."""
    bulk = chain(n, bend=0.0, planar=True)
    bulk.twist[:, 0] = 1e-6 * np.random.default_rng(seed).normal(size=n)
    return bulk


@pytest.mark.parametrize(("share", "grows"), [(0.95, False), (1.05, True)])
def test_longest_step(share, grows):
    """A straight chain under tension T turns its links back by ω² = T l / I: steps beyond 2 / ω grow, others do not.

    Of links that swing against each other centres of mass stay, so that I is that of a link about its own.
    """
    n = 100
    tension = (n - 0.5) * 0.1 * 9.81  # at the middle of the first link
    longest = 2.0 * np.sqrt(21e-6 / (tension * 0.05))
    world = LargeWorld(hanging(n), dt=share * longest)
    bench = world.bench
    bench.h.fill_(world.dt)
    for _ in range(150):
        bench.step(3)
    kinetic = bench.energy()[0]
    assert (not kinetic < 1e-9) == grows
    if not grows:
        assert bench.longest_step() == pytest.approx(longest, rel=0.02)


def test_steps_are_divided_where_joints_pull_hard():
    """The same chain at four times its longest step stays at rest, in several parts, and the report says so."""
    n = 100
    longest = 2.0 * np.sqrt(21e-6 / ((n - 0.5) * 0.1 * 9.81 * 0.05))
    world = LargeWorld(hanging(n), dt=4.0 * longest)
    report = world.step(20)
    assert report.parts >= 80
    assert world.energy()["kinetic"] < 1e-9


def test_same_bits():
    """Two runs, and one that goes on from a snapshot, have the same bits."""
    one, two = (LargeWorld(tree(60), dt=1e-3) for _ in range(2))
    one.step(30)
    two.step(10)
    kept = two.snapshot()
    two.step(20)
    again = two.positions
    two.restore(kept)
    two.step(20)
    assert np.array_equal(one.positions, again)
    assert np.array_equal(two.positions, again)


def test_broken_motion_is_told_and_taken_back():
    world = LargeWorld(chain(20), dt=1e-3)
    world.bench.x.twist.fill_(1e200)
    with pytest.raises(StepError, match="dt"):
        world.step()
    assert world.count == 0


def test_joints_are_closed_at_the_start_or_told():
    """Newton's method closes frames that are 10 mm off on links of 50 mm; an end held beyond their reach is told."""
    shifted = chain(3)
    shifted.p_PF[1] += 0.01 / np.sqrt(3.0)
    assert LargeWorld(shifted).errors()[0] < 1e-12
    short = chain(3)
    short.join("spherical", 2, -1, short.position[2])
    short.q_CM[3], short.p_CM[3] = [0, 0, 0, 1], [5.0, 0.0, 0.0]
    with pytest.raises(ModelError, match="apart at the start"):
        LargeWorld(short)


def test_memory_of_a_chain():
    """At most 1.5 kB a body."""
    assert LargeWorld(chain(5000)).bytes_per_body() < 1500


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: im.scene("ten-pendula"), None),
        (lambda: im.scene("gear-train"), "couplings"),
        (lambda: "chain", "Bulk"),
        (lambda: chain(0), "integer"),
        (lambda: tree(5, children=9), "children"),
    ],
)
def test_refusals(make, words):
    """What would be dropped is refused by name."""
    if words is None:
        assert LargeWorld(make()).bodies == 10
        return
    with pytest.raises(ModelError, match=words):
        LargeWorld(make())


def altered(**fields) -> Bulk:
    """A chain of three, some of its arrays replaced."""
    bulk = chain(3)
    for name, value in fields.items():
        setattr(bulk, name, value)
    return bulk


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": np.array([0, 1, 0])}, "kind of body 1 is 1, expected 0 to 0"),
        ({"kind": np.zeros(2, int)}, r"kind has the shape \(2,\), expected \(3,\)"),
        ({"kind": [0, 0.5, 0]}, "expected an array of integers"),
        ({"joint_kind": np.array([0, 5, 0])}, "joint_kind of joint 1 is 5"),
        ({"second": np.array([0, 1, 9])}, "second of joint 2 is 9, expected -1 to 2"),
        ({"types": ("hinge",)}, "'hinge'"),
        ({"orientation": np.zeros((3, 4))}, "orientation 0 is a quaternion of length 0"),
        ({"p_PF": np.full((3, 3), np.nan)}, "p_PF of joint 0"),
        ({"inertia": np.eye(3)}, "inertia has the shape"),
        ({"inertia": np.eye(3)[None] + np.eye(3, k=1)[None]}, "not symmetric"),
        ({"gravity": (0, 0, np.nan)}, "gravity"),
        ({"springs": [Line(0, 7, (0, 0, 0), (0, 0, 0))]}, "spring 0 joins"),
        ({"shapes": ((im.Box((1, 1, 1), material="tin"),),)}, "material 'tin'"),
        ({"shapes": ((im.Box((1, 1, 1)),),), "no_contact": np.array([[0, 8]])}, "no_contact"),
    ],
)
def test_wrong_arrays_are_told(fields, words):
    """A kernel reads no array past its end."""
    with pytest.raises(ModelError, match=words):
        LargeWorld(altered(**fields))


def test_wrong_calls_are_told():
    bulk = chain(3)
    bulk.join("spherical", -1, 2, bulk.position[2].tolist())  # one joint, as numbers
    bulk.give(0, Features(friction=1.0))
    assert LargeWorld(bulk).step().position_error < 1e-12
    with pytest.raises(ModelError, match="has features of angle already"):
        bulk.give([0], Features(motor=im.Motor(speed=1.0)))
    with pytest.raises(ModelError, match="bodies are"):
        bulk.join("fixed", [0], [3], np.zeros((1, 3)))
    with pytest.raises(ModelError, match="rows as joints"):
        bulk.join("fixed", [0, 1], [1, 2], np.zeros((3, 3)))
    with pytest.raises(ModelError, match="snapshot"):
        LargeWorld(bulk).restore(LargeWorld(chain(5)).snapshot())
    with pytest.raises(ModelError, match="dt is True"):
        LargeWorld(bulk, dt=True)


def test_net_holds_to_rounding():
    """A net is solved as one sparse matrix beyond the levels: gaps and J v are rounding, and the residual is told."""
    world = LargeWorld(net(16), dt=1e-3)
    assert isinstance(world.bench.factor.core, Net)
    report = world.step(40)
    assert report.position_error < 1e-12
    assert report.velocity_error < 1e-13
    assert 0.0 < report.residual < 1e-12
    assert world.positions[:, 2].min() < -0.005


def test_core_agrees_with_levels():
    """4 x 4 plates of a net, with the core forced on it, beside the same by levels alone."""
    levels, sparse = LargeWorld(net(4), dt=1e-3), LargeWorld(net(4), dt=1e-3)
    plan = make_plan(sparse.joints, neighbours(*ends(sparse)), np.arange(10, 28))
    factor = Factor(plan, sparse.bench.rows, "cpu")
    factor.core = Net(factor, "net")
    sparse.bench._use(factor)
    sparse.bench._record()
    for world in (levels, sparse):
        world.step(30)
    assert np.abs(levels.positions - sparse.positions).max() < 1e-12


def ends(world: LargeWorld) -> tuple:
    return world.bench.bulk.first, world.bench.bulk.second, world.bodies


def test_plates_that_share_edges_are_told():
    """Rows that contradict each other once the net bends: an error by name, and the world as it was."""
    model = im.Model("net")
    bodies = {(i, k): model.body(f"b{i}.{k}", 1.0, (1e-3,) * 3, (i, k, 0)) for i in range(16) for k in range(16)}
    for (i, k), body in bodies.items():
        for other in ((i + 1, k), (i, k + 1)):
            if other in bodies:
                at = ((i + other[0]) / 2, (k + other[1]) / 2, 0)
                model.joint(f"j{i}.{k}.{other[0]}", "spherical", body, bodies[other], at=at)
        if k == 0:
            model.joint(f"h{i}", "spherical", model.ground, body, at=(i, -0.5, 0))
    world = LargeWorld(model, dt=5e-3)
    with pytest.raises(StepError):
        for _ in range(20):
            world.step(10)
    assert np.isfinite(world.positions).all()


def test_cudss_is_found_or_left_out():
    """Where it is installed it loads and has the version that its numbers are of; else nothing is said."""
    library = find_cudss()
    if library is None:
        pytest.skip("cuDSS is not installed")
    assert library.cudssGetProperty is not None
