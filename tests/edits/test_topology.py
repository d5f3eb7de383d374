"""Topological edits: what is carried over, what closing, cutting and changing joints costs, and what is refused."""

import numpy as np
import pytest
import warp as wp

import impulsar as im
from impulsar import edits
from impulsar.author.joints import CATALOGUE
from impulsar_verification import edit_cases, random_edits, wrong_edits

pytestmark = pytest.mark.filterwarnings("ignore:.*start velocities changed")
COORDINATES = ("generalized", "maximal")
TYPES = list(CATALOGUE)


def two_bodies(kind: str = "cylindrical", **options) -> im.Model:
    """Two bodies in free space, joined along x."""
    model = im.Model("pair", gravity=(0, 0, 0))
    model.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=options.pop("v_a", (0, 0, 0)))
    spin = options.pop("w_b", (0, 0, 0))
    model.body(
        "b", mass=3.0, inertia=(0.2, 0.2, 0.2), position=(0.5, 0, 0), velocity=options.pop("v_b", (0, 0, 0)),
        angular_velocity=spin,
    )  # fmt: skip
    model.joint("joint", kind, "a", "b", at=(0.25, 0, 0), axis=(1, 0, 0), **options)
    return model


def four_bar(coordinates: str) -> im.World:
    world = im.World(im.scene("four-bar"), coordinates=coordinates, dt=0.005)
    world.step(60)
    return world


def poses(world: im.World) -> np.ndarray:
    return np.array([np.concatenate([world.body(n).position, world.body(n).orientation]) for n in world.model.bodies])


def twists(world: im.World) -> np.ndarray:
    return np.array(
        [np.concatenate([world.body(n).angular_velocity, world.body(n).velocity]) for n in world.model.bodies]
    )


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_type_can_be_changed_to_any_other(coordinates):
    """Momentum, books and joints close, nothing jumps: each type to two others (all of them in `validate`)."""
    for k, old in enumerate(TYPES):
        for new in (TYPES[(k + 3) % len(TYPES)], TYPES[(k + 8) % len(TYPES)]):
            for what, value in edit_cases.change_cell(old, new, coordinates, "tree").items():
                assert value <= edit_cases.LIMITS[what], (old, new, what)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_authored_frames_move_bodies_by_their_masses(coordinates):
    """A slide s made a hinge at its authored place: the bodies meet at s m/(m + M) each, both at rest there."""
    world = im.World(two_bodies(v_b=(1.0, 0, 0)), coordinates=coordinates, dt=0.01)
    world.step(20)
    slide = float(world.joint("joint").position[0])
    assert slide > 0.1
    before = {name: world.body(name).position[0] for name in "ab"}
    answer = world.change("joint", type="revolute", frames="authored")
    assert world.body("a").position[0] - before["a"] == pytest.approx(slide * 3 / 4, abs=1e-9)
    assert world.body("b").position[0] - before["b"] == pytest.approx(-slide * 1 / 4, abs=1e-9)
    assert answer.moved == pytest.approx(slide * 3 / 4, abs=1e-9)
    assert world.constraint_error() < 1e-9


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_present_frames_move_nothing(coordinates):
    """The same at the present pose: no body moves, the slide's relative speed u goes, ½ μ u² with it."""
    world = im.World(two_bodies(v_b=(1.0, 0, 0)), coordinates=coordinates, dt=0.01)
    world.step(20)
    before, u = poses(world), float(world.joint("joint").velocity[0])
    answer = world.change("joint", type="revolute")
    assert np.abs(poses(world) - before).max() < 1e-12
    assert answer.energy == pytest.approx(-0.5 * 0.75 * u**2, rel=1e-9)
    assert np.abs(answer.momentum).max() < 1e-12
    assert world.energy().work["edits"] == pytest.approx(answer.energy, rel=1e-12)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_welding_is_a_plastic_impact(coordinates):
    """Bodies that fly towards each other and are welded go on with their common momentum."""
    model = im.Model("impact", gravity=(0, 0, 0))
    model.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(2.0, 0, 0))
    model.body("b", mass=3.0, inertia=(0.2, 0.2, 0.2), position=(0.5, 0, 0), velocity=(-1.0, 0, 0))
    world = im.World(model, coordinates=coordinates, dt=0.01)
    world.step(5)
    answer = world.add("joint", "weld", type="fixed", first="a", second="b", at=(0.2, 0, 0))
    assert answer.energy == pytest.approx(-0.5 * (1 * 3 / 4) * 3.0**2, rel=1e-12)
    for name in "ab":
        assert world.body(name).velocity == pytest.approx((-0.25, 0, 0), abs=1e-12)
    world.step(50)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-10)
    world.remove("joint", "weld")
    assert world.body("a").velocity == pytest.approx((-0.25, 0, 0), abs=1e-12)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_loop_is_cut_and_closed(coordinates):
    """Cut: no pose and no velocity changes. Closed again at once: neither. Any of its joints, tree or loop."""
    for joint in im.scene("four-bar").joints:
        world = four_bar(coordinates)
        before = poses(world), twists(world)
        removed = world.remove("joint", joint)
        assert np.abs(poses(world) - before[0]).max() < 1e-11
        assert np.abs(twists(world) - before[1]).max() < 1e-9
        world.apply(removed.inverse)
        assert np.abs(poses(world) - before[0]).max() < 1e-9
        assert np.abs(twists(world) - before[1]).max() < 1e-7  # the tolerance of the integration, of 20 rad/s
        world.step(100)
        assert world.constraint_error() < 1e-9
        assert abs(world.energy().imbalance) < 1e-6


def test_whole_turns_and_coordinates_are_kept():
    """An angle of several turns stays what it is; a new freedom begins at zero."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 20.0))
    model.joint("axle", "revolute", "ground", "wheel", at=(0, 0, 0), axis=(0, 0, 1), limits=(-100.0, 100.0))
    for coordinates in COORDINATES:
        world = im.World(model, coordinates=coordinates, dt=0.01)
        world.step(100)
        angle = world.joint("axle").position
        assert angle == pytest.approx(20.0, abs=1e-6)
        world.change("axle", type="cylindrical")
        assert world.joint("axle").position == pytest.approx((0.0, angle), abs=1e-9)
        assert world.joint("axle").velocity == pytest.approx((0.0, 20.0), abs=1e-9)
        world.change("axle", type="screw", pitch=0.1)
        assert world.joint("axle").position == pytest.approx(angle, abs=1e-9)
        world.change("axle", type="revolute")
        world.step(10)
        assert world.model.joints["axle"].features["angle"].limits == (-100.0, 100.0)
        assert world.joint("axle").position > angle


def test_what_is_lost_with_a_freedom_is_told():
    model = two_bodies("revolute", friction=0.1, limits=(-1, 1))
    world = im.World(model, dt=0.01)
    answer = world.change("joint", type="spherical")
    assert "without limits of angle, friction of angle" in answer.text
    assert "removed parts" not in world.energy().losses


def test_books_of_removed_parts_stay():
    """Loss in a friction that is removed, work of a motor that is detached and of a load that is removed."""
    model = two_bodies("revolute", w_b=(5.0, 0, 0), friction=0.02, motor=im.Motor(torque=0.05))
    model.load("push", "a", force=(0.0, 1.0, 0.0))
    world = im.World(model, dt=0.005)
    world.step(40)
    before = world.energy()
    assert min(before.losses["joint friction"], before.work["joint motor"], before.work["push"]) > 1e-4
    world.apply(edits.SetMotor("joint", None))
    world.change("joint", friction=0.0)
    world.remove("load", "push")
    after = world.energy()
    assert after.work["removed parts"] == pytest.approx(before.work["joint motor"] + before.work["push"], rel=1e-12)
    assert after.losses["removed parts"] == pytest.approx(before.losses["joint friction"], rel=1e-12)
    assert after.imbalance == pytest.approx(before.imbalance, abs=1e-13)


def test_energy_put_in_by_parameters_is_booked():
    """Mass, gravity and stiffness change the energy by what is booked to edits."""
    world = im.World(im.scene("cross-lift"), dt=0.001)
    world.step(50)
    body, spring = next(iter(world.model.bodies)), next(iter(world.model.springs))
    for path, value in ((f"{body}.mass", 3.0), ("model.gravity", (0, 0, -3.0)), (f"{spring}.stiffness", 50e3)):
        before = world.energy()
        answer = world.apply(edits.SetParameter(path, value))
        after = world.energy()
        assert answer.energy == pytest.approx(after.total - before.total, rel=1e-9, abs=1e-15)
        assert answer.energy != 0.0
        assert after.imbalance == pytest.approx(before.imbalance, abs=1e-12)


def test_a_body_with_all_that_holds_on_to_it_is_removed():
    model = im.scene("ten-pendula", start="30deg")
    world = im.World(model, dt=0.005)
    hand = world.grab("link10", at=(0, 0, -0.025))
    hand.move((0.1, 0.2, -0.3))
    world.step(20)
    before = world.energy()
    answer = world.remove("body", "link10")
    assert "hand 'hand 1'" in answer.text
    assert "joint 'hinge10'" in answer.text
    assert world.hand_forces() == {}
    assert world.energy().imbalance == pytest.approx(before.imbalance, abs=1e-12)
    world.step(20)


def test_an_unrelated_edit_leaves_every_bit():
    """A probe, a load, a spring of no stiffness: the motion goes on bit for bit."""
    for coordinates in COORDINATES:
        world, other = four_bar(coordinates), four_bar(coordinates)
        body = next(iter(world.model.bodies))
        world.add("probe", "tip", body=body, at=(0, 0, 0))
        world.add("load", "none", body=body)
        world.apply(edits.SetParameter(f"{body}.shape", im.Sphere(0.1)))
        world.step(20)
        other.step(20)
        assert np.array_equal(poses(world), poses(other))
        assert np.array_equal(twists(world), twists(other))


def test_the_authors_model_is_not_touched():
    """Neither by edits of the world nor does what its author does to it reach the world."""
    model = im.scene("four-bar")
    joints, masses = dict(model.joints), {name: body.mass for name, body in model.bodies.items()}
    world = im.World(model, dt=0.005)
    before = world.snapshot()
    authored = before.model
    kinds = {name: joint.type for name, joint in authored.joints.items()}
    name = next(iter(model.joints))
    world.change(name, type="spherical")
    world.set(f"{next(iter(model.bodies))}.mass", 7.0)
    assert model.joints == joints
    assert {name: body.mass for name, body in model.bodies.items()} == masses
    assert {name: joint.type for name, joint in before.model.joints.items()} == kinds
    assert world.model.bodies[next(iter(model.bodies))].mass == 7.0
    model.bodies.clear()
    world.change(name, type="revolute")


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_snapshots_reach_over_edits(coordinates):
    """Back over any edits, in both directions, with the bits of before."""
    world = four_bar(coordinates)
    hand = world.grab(next(iter(world.model.bodies)))
    hand.move((0.1, 0.1, 0.1))
    world.step(5)
    moments, hashes = [], []
    names = list(world.model.joints)
    for edit in (
        edits.ChangeJoint(names[0], {"type": "spherical"}),
        edits.Remove("joint", names[-1]),
        edits.Grab("second", next(iter(world.model.bodies)), (0.01, 0, 0)),
        edits.SetParameter(f"{names[1]}.friction", 0.1),
        edits.SetMethod("direct", {"rtol": 1e-5}),
        edits.SetStep(0.003),
        edits.Pause(True),
    ):
        moments.append(world.snapshot())
        world.step(7)
        hashes.append(world.hash())
        world.apply(edit)
    for k in (0, 6, 2, 4, 1, 5, 3):
        world.restore(moments[k])
        world.step(7)
        assert world.hash() == hashes[k]


def test_the_hash_covers_what_decides_the_future():
    world = im.World(im.scene("four-bar"), dt=0.005)
    seen = {world.hash()}
    body, joint = next(iter(world.model.bodies)), next(iter(world.model.joints))
    for edit in (
        edits.SetParameter(f"{body}.mass", 2.0),
        edits.SetStep(0.004),
        edits.ApplyLoad("push", body, (1.0, 0, 0)),
        edits.ApplyLoad("push", body, (2.0, 0, 0)),
        edits.SetMethod("direct", {"atol": 1e-6}),
        edits.SetMotor(joint, im.Motor(torque=1.0)),
        edits.Drive(joint, 2.0),
        edits.Grab("hand", body),
        edits.Move("hand", (1.0, 0, 0)),
        edits.ChangeJoint(joint, {"friction": 0.1}),
    ):
        world.apply(edit)
        seen.add(world.hash())
    assert len(seen) == 11


@pytest.mark.parametrize("profile", [im.Table, im.Ramp, im.Harmonic])
def test_the_hash_covers_what_loads_follow(profile):
    """Two worlds alike but for one number of a profile."""
    numbers = {im.Table: ((0.0, 1.0), (0.0, 1.0)), im.Ramp: (0.0, 1.0, 0.0, 1.0), im.Harmonic: (1.0, 2.0)}[profile]
    changed = {im.Table: ((0.0, 1.0), (0.0, 2.0)), im.Ramp: (0.0, 1.0, 0.0, 2.0), im.Harmonic: (1.0, 3.0)}[profile]
    hashes = set()
    for given in (numbers, changed, numbers):
        model = im.scene("four-bar")
        model.load("push", next(iter(model.bodies)), force=(profile(*given), 0.0, 0.0))
        hashes.add(im.World(model).hash())
    assert len(hashes) == 2


@pytest.mark.parametrize("method", im.METHODS)
def test_a_snapshot_has_the_reactions_of_its_moment(method):
    world = im.World(im.scene("four-bar"), method)
    world.step(3)
    moment = world.snapshot()
    then = world.reactions()[0].copy()
    world.step(50)
    assert not np.array_equal(world.reactions()[0], then)
    world.restore(moment)
    assert np.array_equal(world.reactions()[0], then)


def test_the_inverse_of_a_first_bound_on_a_motor_takes_it_away():
    model = im.scene("peaucellier")
    world = im.World(model)
    answer = world.apply(edits.SetParameter("crank.max_torque", 5.0))
    assert answer.inverse == edits.SetParameter("crank.max_torque", np.inf)
    before = im.World(model).system.parameter("slot_a")
    world.apply(answer.inverse)
    assert np.array_equal(world.system.parameter("slot_a"), before)


def test_another_method_does_not_take_over_impulses():
    """Over a change of coordinates too: those of the one would be a wrong start and wrong readings of the other."""
    world = im.World(im.scene("four-bar"), method="simmc")
    world.step(3)
    assert world.state.read("last_h").all()
    world.apply(edits.SetMethod("simgc"))
    assert world.coordinates == "generalized"
    assert not world.state.read("last_h").any()


def test_edits_compile_nothing(monkeypatch):
    """Every kind of edit on a running world: Warp builds no module."""
    world = im.World(im.scene("ten-pendula", start="30deg"), dt=0.005)
    world.step(3)
    built = []

    def refuse(module, *_, **__):
        built.append(module.name)
        raise AssertionError(f"compiles {module.name}")

    monkeypatch.setattr(wp._src.context.Module, "_compile", refuse)
    source = random_edits.Source(world, np.random.default_rng(0))
    for kind in random_edits.KINDS:
        for edit in (getattr(source, kind.replace(" ", "_"))() for _ in range(2)):
            if edit is not None and kind != "drag":
                world.apply(edit)
                world.step()
    world.add("joint", "loop", type="spherical", first="ground", second="link10", at=world.point("link10"))
    world.step()
    assert built == []


def test_inverses_undo():
    """Each edit that has an inverse, and its inverse: the model is as before, and where nothing moves the state."""
    world = im.World(im.scene("ten-pendula", start="30deg"), dt=0.005)
    world.step(40)
    body, joint = "link3", "hinge4"
    world.apply(edits.SetMotor("hinge7", im.Motor(torque=0.01)))
    place = world.point(body)
    for edit in (
        edits.SetParameter(f"{body}.mass", 0.2),
        edits.SetParameter("model.gravity", (0, 0, 0)),
        edits.ChangeJoint(joint, {"type": "fixed"}),
        edits.ChangeJoint(joint, {"friction": 0.1, "limits": (-1, 1)}),
        edits.SetMotor(joint, im.Motor(speed=0.1)),
        edits.Drive("hinge7", 0.02),
        edits.Add("spring", "s", {"first": body, "second": "ground", "at_a": place, "at_b": (1, 0, 0), "stiffness": 1}),
        edits.Remove("joint", joint),
        edits.Remove("probe", "tip"),
        edits.SetStep(0.001),
        edits.SetMethod("direct", {"rtol": 1e-4}),
        edits.Pause(True),
    ):
        model, method, dt, before = world.model, world.method, world.dt, poses(world)
        inverse = world.apply(edit).inverse
        assert inverse is not None, edit
        world.apply(inverse)
        assert (world.method, world.dt, world.paused) == (method, dt, False)
        assert np.abs(poses(world) - before).max() < 1e-9
        now = world.model
        assert list(now.probes) == list(model.probes)
        assert now.bodies[body].mass == model.bodies[body].mass
        for name, part in model.joints.items():
            assert now.joints[name].type == part.type
            assert edits.topology.joint_features(now.joints[name]).keys() == edits.topology.joint_features(part).keys()
        assert now.joints[joint].features["angle"] is not None
        assert now.joints[joint].features["angle"].friction == model.joints[joint].features["angle"].friction


def test_reset_is_a_new_world():
    """Bit for bit, with what was set; after a joint was changed in motion the mechanism is assembled."""
    model = im.scene("four-bar")
    world = im.World(model, dt=0.005)
    body, joint = next(iter(model.bodies)), list(model.joints)[1]
    world.set(f"{body}.mass", 0.7)
    world.grab(body)
    world.step(50)
    world.apply(edits.Reset())
    fresh = im.World(model, dt=0.005)
    fresh.set(f"{body}.mass", 0.7)
    world.step(20)
    fresh.step(20)
    assert np.array_equal(poses(world), poses(fresh))
    assert world.time == fresh.time
    world.change(joint, type="spherical")
    world.step(20)
    world.apply(edits.Reset())
    assert world.time == 0.0
    assert world.constraint_error() < 1e-6
    assert abs(world.energy().imbalance) < 1e-12


def test_a_paused_world_does_not_step():
    world = im.World(two_bodies(), dt=0.01)
    assert world.paused is False
    world.apply(edits.Pause())
    before = world.hash()
    for n in (1, 5):
        with pytest.raises(im.EditError, match=r"paused; go on by world.apply\(im.edits.Pause\(False\)\)"):
            world.step(n)
    assert world.hash() == before
    world.apply(edits.Pause(False))
    world.step()


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_every_world_of_a_batch_is_edited_where_it_is(coordinates):
    """A joint made at the present pose of each world, and each world as if it were alone."""
    masses = np.array([0.05, 0.1, 0.4])
    batch = im.World(im.scene("four-bar"), coordinates=coordinates, dt=0.005, worlds=3)
    body, names = next(iter(batch.model.bodies)), list(batch.model.joints)
    batch.set(f"{body}.mass", masses)
    changes = (
        edits.ChangeJoint(names[0], {"type": "cylindrical"}),
        edits.ChangeJoint(names[1], {"type": "universal"}),
        edits.Remove("joint", names[-1]),
        edits.SetParameter(f"{names[0]}.angle.friction", 0.01),
    )
    singles = [im.World(im.scene("four-bar"), coordinates=coordinates, dt=0.005) for _ in masses]
    for world, mass in zip(singles, masses, strict=True):
        world.set(f"{body}.mass", float(mass))
    for edit in changes:
        for world in (batch, *singles):
            world.step(20)
            answer = world.apply(edit)
        assert np.shape(answer.momentum) == (3,)
    assert np.abs(batch.energy().imbalance).max() < 1e-6
    for world in (batch, *singles):
        world.step(5)
    together = np.array([batch.body(name).position for name in batch.model.bodies]).swapaxes(0, 1)
    assert not np.allclose(together[0], together[1])
    for k, world in enumerate(singles):
        assert poses(world)[:, :3] == pytest.approx(together[k], abs=1e-7)


def test_a_feature_is_added_with_a_value_for_each_world():
    """Friction that the joint was built without brakes each wheel by its own bound: w = w0 - M t / I."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 2.0))
    model.joint("axle", "revolute", "ground", "wheel", at=(0, 0, 0), axis=(0, 0, 1))
    world = im.World(model, dt=0.01, worlds=3)
    before = world.hash()
    with pytest.raises(im.EditError, match="expected >= 0"):
        world.set("axle.friction", np.array([0.5, -0.1, 0.0]))
    assert world.hash() == before
    world.set("axle.friction", np.array([0.0, 0.5, 1.0]))
    world.step(100)
    assert world.joint("axle").velocity == pytest.approx((2.0, 1.5, 1.0), abs=1e-9)


def test_readings_of_the_last_step_survive_an_edit():
    """Reactions, accelerations and the report of what stays are still to be read."""
    world = four_bar("generalized")
    name = next(iter(world.model.joints))
    before = world.joint(name).reaction.force.copy(), world.body(next(iter(world.model.bodies))).acceleration.copy()
    world.add("body", "stone", mass=1.0, inertia=(1, 1, 1))
    assert world.joint(name).reaction.force == pytest.approx(before[0], rel=1e-9)
    after = world.body(next(iter(four_bar("generalized").model.bodies))).acceleration
    assert after == pytest.approx(before[1], rel=1e-9)  # velocities, left to 1e-10, are brought onto the joints


def test_a_method_of_other_coordinates_takes_over():
    """From generalized to maximal coordinates and back in motion: no body notices."""
    world = four_bar("generalized")
    before = poses(world), twists(world)
    assert "maximal" in world.apply(edits.SetMethod("simmc")).text
    assert world.coordinates == "maximal"
    assert np.abs(poses(world) - before[0]).max() < 1e-9
    assert np.abs(twists(world) - before[1]).max() < 1e-8
    world.step(5)
    error = world.constraint_error()  # of SIMMC, which leaves some
    world.apply(edits.SetMethod("simgc"))
    assert world.coordinates == "generalized"
    world.step(5)
    assert world.constraint_error() < 2 * error


def test_state_is_set_as_far_as_joints_allow():
    """A pendulum's bob thrown along the rod does not move; across it goes as thrown."""
    model = im.Model("pendulum", gravity=(0, 0, 0))
    model.body("bob", mass=1.0, inertia=(1e-9, 1e-9, 1e-9), position=(0, 0, -1.0))
    model.joint("pivot", "spherical", "ground", "bob", at=(0, 0, 0))
    for coordinates in COORDINATES:
        world = im.World(model, coordinates=coordinates, dt=0.01)
        world.apply(edits.SetState({"bob": {"velocity": (0.5, 0, 1.0), "angular_velocity": (0, -0.5, 0)}}))
        assert world.body("bob").velocity == pytest.approx((0.5, 0, 0), abs=1e-7)
        assert world.energy().imbalance == pytest.approx(0.0, abs=1e-12)
        world.apply(edits.SetState({"bob": {"position": (1.0, 0, -1.0)}}))
        assert np.linalg.norm(world.body("bob").position) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (edits.ChangeJoint("joint", {"type": "revolut"}), "did you mean 'revolute'"),
        (edits.ChangeJoint("jiont", {"type": "revolute"}), "did you mean 'joint'"),
        (edits.ChangeJoint("joint", {}), "no changes given"),
        (edits.ChangeJoint("joint", {"kind": "revolute"}), "has no option 'kind'"),
        (edits.ChangeJoint("joint", {"type": "screw"}), "pitch is None"),
        (edits.ChangeJoint("joint", {"first": "b"}), "to itself"),
        (edits.ChangeJoint("joint", {"axis": (0, 0, 0)}), "other than zero"),
        (edits.ChangeJoint("joint", {"friction": 1.0}), "several groups: slide, angle"),
        (edits.Add("body", "a", {"mass": 1, "inertia": (1, 1, 1)}), "the name is taken"),
        (edits.Add("body", "c", {"mass": -1, "inertia": (1, 1, 1)}), "mass is -1"),
        (edits.Add("joint", "k", {"type": "fixed"}), "lacks first, second"),
        (edits.Remove("body", "c"), "no body named 'c'"),
        (edits.SetMotor("joint", im.Motor(speed=1.0)), "expected one of: slide, angle"),
        (edits.SetState({"a": {"velocity": (1, 2)}}), "expected 3 numbers"),
        (edits.SetParameter("joint.angle.friction", -1.0), "friction is -1"),
        (edits.SetMethod("magic"), "no method named 'magic'"),
        (edits.SetMethod("direct", {"rtol": "small"}), "expected a finite value of kind float"),
    ],
)
def test_refusals_name_part_value_and_cure(edit, words):
    """And leave the world bit-identical, now and in the steps that follow."""
    world, other = (im.World(two_bodies(v_b=(1.0, 0.5, 0)), dt=0.01) for _ in range(2))
    before = world.hash()
    with pytest.raises(im.EditError, match=words):
        world.apply(edit)
    assert world.hash() == before
    world.step(3)
    other.step(3)
    assert world.hash() == other.hash()


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_what_cannot_be_assembled_is_refused(coordinates):
    """A rod too short to reach: the joints that stay open are named, nothing changes."""
    model = im.Model("reach", gravity=(0, 0, 0))
    model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.joint("pivot", "spherical", "ground", "rod", at=(0, 0, 0))
    world = im.World(model, coordinates=coordinates, dt=0.01)
    before = world.hash()
    far = {"frame_a": ((3.0, 0, 0), (0, 0, 0, 1)), "frame_b": ((0.5, 0, 0), (0, 0, 0, 1))}
    with pytest.raises(im.EditError, match="cannot be assembled like this; these joints stay open: 'pin'"):
        world.add("joint", "pin", type="spherical", first="ground", second="rod", **far)
    assert world.hash() == before
    world.step()


def test_a_broken_state_goes_back_to_the_last_good_step():
    """One sweep a step with all of the error fed back is unstable: what was computed before stays, bit for bit."""
    method = im.Simmc(iterations=1, beta=1.0)
    world, other = (im.World(im.scene("chain", n=10, start="horizontal"), method, dt=0.01) for _ in range(2))
    with pytest.raises(im.StepError, match=r"body 'link\d+' broke; gone back to t = .* and paused") as caught:
        world.step(2000)
    assert caught.value.body in world.model.bodies
    assert world.paused
    steps = round(world.time / 0.01)
    assert caught.value.time == pytest.approx(world.time + 0.01)
    assert 0 < steps < 2000
    assert np.isfinite(world.state.numpy()).all()
    for _ in range(steps):
        other.step()
    assert other.hash() == world.hash()
    with pytest.raises(im.EditError, match="paused"):
        world.step()
    world.apply(edits.SetMethod("direct"))
    world.apply(edits.Pause(False))
    world.step(3)


def test_random_edits_of_worlds_with_contact():
    tally = random_edits.campaign(200, seed=5, per_mechanism=50, touches=True)
    assert not tally.faults
    assert sum(tally.accepted.values()) > 190


def test_random_edits_and_invalid_ones():
    """A short campaign of both kinds; the long ones are `impulsar validate edit-campaign edit-refusals`."""
    tally = random_edits.campaign(300, seed=11, per_mechanism=60)
    assert tally.faults == []
    assert sum(tally.accepted.values()) >= 0.95 * 300
    assert wrong_edits.invalid_campaign(600, seed=12) == []


def test_memory_does_not_grow():
    """Two minutes of motion with an edit every second; the hour is `impulsar validate edit-memory`."""
    assert edit_cases.long_run(90, warm=45) < 10.0


def test_a_body_keeps_its_mass_in_every_world_where_its_shape_is_set():
    """Masses that differ from world to world stay, although the edit builds anew."""
    world = im.World(im.scene("four-bar"), dt=0.005, worlds=2)
    world.set("crank.mass", np.array([1.0, 2.0]))
    world.set("crank.shape", im.Sphere(0.01))
    assert world.system.parameter("mass")[world.system.body_index["crank"]].tolist() == [1.0, 2.0]
