"""Kinematic dragging: what holds, what stays, where it stops, what the state is afterwards.

The long paths over four-bar, Peaucellier linkage, cross-lift and chain are cases of `impulsar validate drag-*`.
"""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.edits import DragTo, EditError
from impulsar.validate.drag_cases import PULLS

BOTH = ("generalized", "maximal")
LENGTH = 0.4
END = (0.0, 0.0, LENGTH / 2)


def arm(links: int = 1, **features) -> im.Model:
    """Links along x from the origin, hinged about z; features are those of every hinge."""
    model = im.Model("arm", gravity=(0.0, -9.81, 0.0))
    before = model.ground
    for k in range(links):
        body = model.body(
            f"link{k + 1}",
            mass=1.0,
            inertia=(0.02, 0.02, 0.001),
            position=((k + 0.5) * LENGTH, 0, 0),
            orientation=(0, math.sqrt(0.5), 0, math.sqrt(0.5)),  # its z along x
        )
        model.joint(f"hinge{k + 1}", "revolute", before, body, at=(k * LENGTH, 0, 0), axis=(0, 0, 1), **features)
        before = body
    return model


def polar(radius: float, angle: float) -> tuple[float, float, float]:
    return radius * math.cos(angle), radius * math.sin(angle), 0.0


@pytest.mark.parametrize("coordinates", BOTH)
def test_limit_stops_a_drag_and_lets_it_go_again(coordinates, device):
    """The tip stops at the limit however far the hand goes on, up to half a turn, and follows it back."""
    world = im.World(arm(limits=(-0.5, 1.0)), coordinates=coordinates, device=device)
    for angle in (0.3, 1.5, 2.5, 0.7, -0.2, -2.0, 0.1):
        world.drag("link1", polar(0.7, angle), END)
        assert world.joint("hinge1").position == pytest.approx(np.clip(angle, -0.5, 1.0), abs=1e-6)
        assert -0.5 - 1e-9 <= world.joint("hinge1").position <= 1.0 + 1e-9
    assert world.constraint_error() < 1e-9


@pytest.mark.parametrize("coordinates", BOTH)
def test_limit_of_one_joint_leaves_the_others_to_follow(coordinates):
    """Two links, the elbow bent by at most 0.5 rad: the nearest point of a target inside lies on a circle."""
    model = arm(2)
    model.joints.pop("hinge2")
    model.joint("hinge2", "revolute", "link1", "link2", at=(LENGTH, 0, 0), axis=(0, 0, 1), limits=(0.0, 0.5))
    world = im.World(model, coordinates=coordinates)
    nearest = 2 * LENGTH * math.cos(0.25)  # from the shoulder to the tip when the elbow is at its limit
    for radius, angle in ((0.5, 0.4), (0.2, 0.9), (0.3, -0.7), (0.1, -2.0)):
        world.drag("link2", polar(radius, angle), END)
        assert world.joint("hinge2").position == pytest.approx(0.5, abs=1e-9)
        left = np.linalg.norm(world.point("link2", END) - polar(radius, angle))
        assert left == pytest.approx(nearest - radius, abs=1e-9)
    world.drag("link2", polar(0.79, -1.0), END)  # in reach
    assert world.point("link2", END) == pytest.approx(np.array(polar(0.79, -1.0)), abs=1e-10)


@pytest.mark.parametrize("loop", ("O", "C"))
@pytest.mark.parametrize("coordinates", BOTH)
def test_limit_of_a_loop_joint_holds(loop, coordinates):
    """A four-bar whose rocker may turn by 0.1 rad from its start, whether its joint is in the tree or cut."""
    model = im.scene("four-bar")
    pivot = model.joints.pop("C")
    cut = model.joints.pop(loop) if loop != "C" else pivot
    options = {"axis": (0, 0, 1), "at": (0.25, 0, 0)}
    model.joint("C", "revolute", "ground", "rocker", limits=(-0.1, 0.1), loop=loop == "C", **options)
    if cut is not pivot:
        model.joint("O", "revolute", "ground", "crank", at=(0, 0, 0), axis=(0, 0, 1), loop=True)
    world = im.World(model, coordinates=coordinates)
    for angle in np.linspace(1.0, 7.0, 60):
        world.drag("crank", polar(0.15, angle), (0, 0, 0.05))
        assert abs(world.joint("C").position) < 0.1 + 1e-9
        assert world.constraint_error() < 1e-9


def test_cone_of_a_ball_stops_a_drag():
    """A ball that may swing by 0.6 rad: the tip stops on the cone, on the hand's side."""
    model = im.Model("ball")
    model.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0, 0, LENGTH / 2))
    model.joint("ball", "spherical", "ground", "rod", at=(0, 0, 0), axis=(0, 0, 1), limits={"swing": 0.6})
    world = im.World(model)
    for turn in np.linspace(0.3, 9.0, 30):
        world.drag("rod", (math.cos(turn), math.sin(turn), 0.1), END)
        tip = world.point("rod", END)
        assert math.atan2(math.hypot(tip[0], tip[1]), tip[2]) == pytest.approx(0.6, abs=1e-8)
        assert math.atan2(tip[1], tip[0]) == pytest.approx(math.remainder(turn, 2 * math.pi), abs=1e-5)


@pytest.mark.parametrize("coordinates", BOTH)
def test_coupling_is_held(coordinates):
    """Two arms geared 1 : -2: dragging one turns the other."""
    model = im.Model("gears")
    for name, x in (("a", 0.0), ("b", 1.0)):
        model.body(name, mass=1.0, inertia=(0.02, 0.02, 0.02), position=(x + 0.2, 0, 0))
        model.joint(f"pin {name}", "revolute", "ground", name, at=(x, 0, 0), axis=(0, 0, 1))
    model.coupling("gear", "pin a", "pin b", ratio=-2.0)
    world = im.World(model, coordinates=coordinates)
    for angle in np.linspace(0.0, 4.0, 30):
        world.drag("a", polar(0.5, angle), (0.2, 0, 0))
        assert world.joint("pin b").position == pytest.approx(-2.0 * world.joint("pin a").position, abs=1e-9)
    assert world.joint("pin a").position == pytest.approx(4.0, abs=1e-6)


@pytest.mark.parametrize(
    ("motor", "holds"),
    (
        (im.Motor(position=im.Harmonic(0.5, 2.0)), True),
        (im.Motor(position=0.0, max_torque=1.0), False),
        (im.Motor(speed=1.0), False),
        (im.Motor(torque=1.0), False),
    ),
)
def test_only_a_motor_that_prescribes_a_position_holds_its_joint(motor, holds):
    """With time stopped a prescribed position stands still; one that may give way, or none, does not hold."""
    world = im.World(arm(motor=motor))
    world.step(3)
    before = world.joint("hinge1").position
    answer = world.drag("link1", polar(0.5, before + 0.4), END)
    assert world.joint("hinge1").position == pytest.approx(before + (0.0 if holds else 0.4), abs=1e-6)
    assert ("motors hold hinge1" in answer.text) == holds


def test_bodies_that_are_not_needed_stay():
    """Of two stages the one that carries the tip goes; a mechanism beside it keeps its bits."""
    model = im.Model("stages")
    model.body("low", mass=2.0, inertia=(1, 1, 1))
    model.body("high", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.1))
    model.body("apart", mass=1.0, inertia=(1, 1, 1), position=(3, 0, 0))
    model.joint("slide", "prismatic", "ground", "low", at=(0, 0, 0), axis=(1, 0, 0))
    model.joint("stage", "prismatic", "low", "high", at=(0, 0, 0.1), axis=(1, 0, 0))
    model.joint("apart pin", "revolute", "ground", "apart", at=(3, 1, 0), axis=(0, 0, 1))
    world = im.World(model)
    world.drag("high", (0.7, 0.0, 0.1))
    assert world.body("low").position == pytest.approx(np.zeros(3), abs=1e-12)
    assert world.body("high").position == pytest.approx(np.array([0.7, 0, 0.1]), abs=1e-12)
    assert (world.body("apart").position == (3, 0, 0)).all()


def test_least_motion_is_that_of_an_impulse():
    """A free rod pulled across by its end moves by d/4 in its middle, and turns by 3 d / 2 l: m l²/12 about it."""
    model = im.Model("rod")
    model.body("rod", mass=3.0, inertia=(3 * 0.16 / 12, 3 * 0.16 / 12, 0.01))
    world = im.World(model)
    d = 1e-6
    world.drag("rod", (d, 0.0, LENGTH / 2), END)
    assert world.body("rod").position[0] == pytest.approx(d / 4, rel=1e-4)
    assert world.point("rod", END)[0] == pytest.approx(d, abs=1e-11)


def test_whole_turns_are_counted():
    """Three turns of the hand are three turns of the joint."""
    world = im.World(arm())
    for angle in np.linspace(0.0, 6 * math.pi, 40):
        world.drag("link1", polar(0.3, angle), END)
    assert world.joint("hinge1").position == pytest.approx(6 * math.pi, abs=1e-6)


@pytest.mark.parametrize("links", (1, 3))
def test_farthest_point_is_left(links):
    """A straight arm whose tip is exactly opposite to the target comes round; so does a folding one."""
    world = im.World(arm(links))
    target = (-0.3, 0.0, 0.0)
    world.drag(f"link{links}", target, END)
    left = np.linalg.norm(world.point(f"link{links}", END) - target)
    assert left == pytest.approx(LENGTH - 0.3 if links == 1 else 0.0, abs=1e-9)


@pytest.mark.parametrize("coordinates", BOTH)
def test_velocities_are_kept_along_the_bodies_axes(coordinates):
    """A turning crank turns as fast after a drag by a right angle; its centre goes the new way round."""
    world = im.World(arm(), coordinates=coordinates)
    world.apply(im.edits.SetState({"link1": {"velocity": (0, 0.6, 0), "angular_velocity": (0, 0, 3.0)}}))
    world.drag("link1", (0.0, LENGTH, 0.0), END)
    assert world.joint("hinge1").velocity == pytest.approx(3.0, abs=1e-9)
    assert world.body("link1").velocity == pytest.approx(np.array([-0.6, 0, 0]), abs=1e-9)


@pytest.mark.parametrize("method", im.METHODS)
@pytest.mark.parametrize("scene", ("four-bar", "cross-lift", "ten-pendula"))
def test_a_dragged_world_goes_on_and_its_books_close(scene, method):
    """What a drag puts in is booked to edits, and steps after it are as good as before it."""
    body, at, by = {
        "four-bar": ("coupler", (0, 0, 0), (0.03, 0.02, 0)),
        "cross-lift": ("plate", (0, 0, 0), (0, 0, 0.01)),
        "ten-pendula": ("link10", (0, 0, -0.025), (0.05, 0.1, 0.1)),
    }[scene]
    world = im.World(im.scene(scene), method=method, dt=0.001)
    world.step(20)
    before = world.energy()
    answer = world.drag(body, world.point(body, at) + by, at)
    after = world.energy()
    assert answer.energy == pytest.approx(after.total - before.total, abs=1e-12)
    assert after.work["edits"] == answer.energy != 0.0
    assert after.imbalance == pytest.approx(before.imbalance, abs=1e-12)
    assert world.constraint_error() < 1e-9
    for _ in range(5):
        world.step(20)
        assert world.constraint_error() < (1e-9 if method == "direct" else 1e-4)
    if method == "direct":  # the others lose energy by their order
        scale = world.model.reference_energy + abs(answer.energy)
        assert abs(world.energy().imbalance) < 1e-6 * scale


@pytest.mark.parametrize(
    "edit",
    (
        DragTo("ground", (0, 0, 0)),
        DragTo("lnk1", (0, 0, 0)),
        DragTo("link1", (math.nan, 0, 0)),
        DragTo("link1", (1, 0)),
        DragTo("link1", "there"),
        DragTo("link1", (0, 0, 0), (math.inf, 0, 0)),
    ),
)
def test_a_wrong_drag_is_refused(edit):
    world = im.World(arm())
    before = world.hash()
    with pytest.raises(EditError):
        world.apply(edit)
    assert world.hash() == before


def test_a_batch_is_refused():
    world = im.World(arm(), worlds=3)
    with pytest.raises(EditError, match="3 copies"):
        world.drag("link1", (0, 0, 0))


@pytest.mark.parametrize("pull", PULLS, ids=lambda pull: pull.name)
def test_same_hand_same_bits(pull):
    """Two worlds dragged alike have the same bits, also where one of them is new on the way."""
    first, second = (im.World(pull.model()) for _ in range(2))
    way = pull.path()[::3]
    for target in way[:10]:
        first.drag(pull.body, target, pull.at)
    second.restore(first.snapshot())
    third = im.World(pull.model())
    third.restore(first.snapshot())
    for target in way[10:]:
        for world in (first, second, third):
            world.drag(pull.body, target, pull.at)
    assert first.hash() == second.hash() == third.hash()


def test_chain_moves_alike_in_both_coordinates():
    """Least motion in the norm of the masses does not depend on the coordinates; second order in the steps does."""
    worlds = [im.World(im.scene("ten-pendula", start="30deg"), coordinates=c) for c in BOTH]
    tip = (0, 0, -0.025)
    start = worlds[0].point("link10", tip)
    for part in np.linspace(0.0, 1.0, 50):
        for world in worlds:
            world.drag("link10", start + part * np.array([0.1, 0.0, 0.1]), tip)
    for name in worlds[0].model.bodies:
        a, b = (world.body(name).position for world in worlds)
        assert np.linalg.norm(a - b) < 1e-3  # of a way of 0.14 m


def random_mechanism(seed: int) -> im.Model:
    """Bodies on random joints, some with limits, some loops closed by random joints."""
    random = np.random.default_rng(seed)
    model = im.Model(f"random {seed}")
    names = []
    for k in range(random.integers(2, 8)):
        name = f"body{k}"
        q = random.normal(size=4)
        size = random.uniform(0.5, 1.5, 3)
        inertia = np.array([size[1] + size[2], size[0] + size[2], size[0] + size[1]]) * 0.01
        model.body(
            name,
            mass=random.uniform(0.5, 2),
            inertia=inertia,
            position=random.normal(size=3),
            orientation=q / np.linalg.norm(q),
        )
        carrier = random.choice(["ground", *names]) if names else "ground"
        add_joint(model, random, f"joint{k}", carrier, name)
        names.append(name)
    for k in range(random.integers(0, 3)):
        first, second = random.choice(["ground", *names], 2, replace=False)
        if second == "ground":
            first, second = second, first
        add_joint(
            model, random, f"loop{k}", first, second, ("spherical", "distance", "point-on-plane", "point-on-line")
        )
    return model


def add_joint(model: im.Model, random, name: str, first: str, second: str, types=None) -> None:
    kind = random.choice(types or ["revolute", "prismatic", "universal", "spherical", "cylindrical", "planar", "screw"])
    at = model.bodies[second].position + random.normal(scale=0.5, size=3)
    options = {"at": at}
    if kind == "distance":
        options = {"at": at, "at_b": at + random.normal(size=3)}
    elif kind != "spherical":
        axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
        options |= {"axis": axes[0]}
        if kind == "universal":
            options |= {"axis2": axes[1]}
        if kind == "screw":
            options |= {"pitch": 0.05}
        if kind in ("revolute", "prismatic") and random.random() < 0.5:
            options |= {"limits": (-random.uniform(0.1, 1.0), random.uniform(0.1, 1.0))}
    model.joint(name, kind, first, second, **options)


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("seed", range(25))
def test_random_mechanisms(seed, coordinates):
    """Joints stay closed and limits kept; the point never gets farther from a target; at the end it is at rest,
    and pulling at any other point does not bring it nearer."""
    world = im.World(random_mechanism(seed), coordinates=coordinates)
    random = np.random.default_rng(1000 + seed)
    body = list(world.model.bodies)[-1]
    at = tuple(random.normal(scale=0.5, size=3))
    for _ in range(12):
        target = world.point(body, at) + random.normal(scale=1.0, size=3)
        before = np.linalg.norm(world.point(body, at) - target)
        world.drag(body, target, at)
        left = np.linalg.norm(world.point(body, at) - target)
        assert left <= before
        assert world.constraint_error() < 1e-9
        check_limits(world)
        state = world.hash()
        world.drag(body, target, at)
        assert world.hash() == state
    snapshot = world.snapshot()
    for name in world.model.bodies:
        point = random.normal(scale=0.3, size=3)
        world.drag(name, world.point(name, point) + random.normal(scale=1e-3, size=3), point)
        assert np.linalg.norm(world.point(body, at) - target) > left - 1e-7
        world.restore(snapshot)


def check_limits(world: im.World) -> None:
    for joint in world.model.joints.values():
        for features in joint.features.values():
            if features.limits is not None:
                low, high = features.limits
                assert low - 1e-9 <= world.joint(joint.name).position <= high + 1e-9
