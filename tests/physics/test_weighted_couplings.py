"""Couplings of several joints: Σ weight · q = offset, as a differential or a tendon over joints has it."""

import json
import math
from typing import Any

import numpy as np
import pytest

import impulsar as im
from impulsar import analysis, edits
from impulsar.io import model_from_json, model_to_json
from impulsar.io.python import to_script
from impulsar.validate.variants import OPEN, every

WEIGHTS = {"pin 0": 0.5, "pin 1": -0.8, "pin 2": 1.5, "pin 3": -1.0}
OFFSET = 0.2
START = (0.5, -0.3, 0.4, 0.5 * 0.5 + 0.8 * 0.3 + 1.5 * 0.4 - OFFSET)  # of which the last follows


def bars(coupled: bool = True, speed: float = 0.0) -> im.Model:
    """Four bars of their own on parallel hinges on the ground: M is diagonal, each angle is its own coordinate."""
    model = im.Model("four bars", gravity=(0, 0, -9.81))
    frame = (-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # z to y
    for k, angle in enumerate(START):
        turn = (0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2))
        p = np.array([k, 0.0, 0.0]) + 0.5 * np.array([-math.sin(angle), 0.0, -math.cos(angle)])
        across = 0.1 + 0.02 * k
        model.body(f"bar {k}", mass=1.0 + k, inertia=(across, across, 0.01), position=p, orientation=turn)
        model.joint(f"pin {k}", "revolute", "ground", f"bar {k}",
                    frame_a=((k, 0, 0), frame), frame_b=((0, 0, 0.5), frame))  # fmt: skip
    if coupled:
        model.coupling("sum", WEIGHTS, offset=OFFSET)
    return model


def closed_form(q: np.ndarray) -> tuple[np.ndarray, float]:
    """Accelerations and multiplier of [M wᵀ; w 0] [a; -λ] = [f; 0], M_k = I + m/4, f_k = -m g sin q / 2."""
    mass = np.arange(4) + 1.0
    M = 0.1 + 0.02 * np.arange(4) + mass / 4
    f = -mass * 9.81 * np.sin(q) / 2
    w = np.array([-0.5, 0.8, -1.5, 1.0])  # solved for the last: λ acts on it
    lam = -(w @ (f / M)) / (w @ (w / M))
    return (f + w * lam) / M, lam


def positions(world: im.World) -> np.ndarray:
    return np.array([float(world.joint(f"pin {k}").position) for k in range(4)])


def miss(world: im.World) -> float:
    return float(np.dot(list(WEIGHTS.values()), positions(world)) - OFFSET)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_accelerations_and_force_are_those_of_the_kkt_matrix(coordinates: str) -> None:
    """q̈ of the first instant from q(h) = q̈ h²/2 + O(h⁴), and λ by name; in maximal the row touches four bodies."""
    world = im.World(bars(), coordinates=coordinates, dt=1e-4)
    q = positions(world)
    world.step()
    a, lam = closed_form(q)
    assert 2 * (positions(world) - q) / 1e-8 == pytest.approx(a, rel=1e-6)
    force = float(world.run(1e-4, every=1e-4, variables=["coupling_force"])["coupling_force"].sel(coupling="sum")[-1])
    assert force == pytest.approx(closed_form(positions(world))[1], rel=1e-4)
    assert force == pytest.approx(lam, rel=1e-3)


@pytest.mark.parametrize(("label", "method", "coordinates"), [*every()])
def test_the_sum_is_kept_and_does_no_work(label: str, method: Any, coordinates: str) -> None:
    """In motion Σ w q = offset, to what a method holds its rows by; those with error control keep T + V to 1e-5."""
    world = im.World(bars(), method=method, coordinates=coordinates, dt=0.002)
    start, worst = positions(world), 0.0
    for _ in range(30):
        world.step(5)
        worst = max(worst, abs(miss(world)))
    assert np.abs(positions(world) - start).max() > 0.3
    assert worst < (1e-9 if method.name not in OPEN else 1e-4), label
    assert "sum" not in world.energy().work
    if method.name in ("direct", "projected"):
        assert abs(float(world.energy().imbalance)) < 1e-5


def chain(n: int) -> im.Model:
    """A chain of bodies, more than a row has places for: the sum of its angles is held, so the last bar keeps level."""
    model = im.Model("chain")
    for k in range(n):
        model.body(f"bar {k}", mass=1.0, inertia=(0.01, 0.02, 0.02), position=(k + 0.5, 0, 0))
        model.joint(f"pin {k}", "revolute", f"bar {k - 1}" if k else "ground", f"bar {k}", at=(k, 0, 0), axis=(0, 1, 0))
    model.coupling("level", {f"pin {k}": 1.0 for k in range(n)})
    return model


@pytest.mark.parametrize("n", [5, 8])
def test_many_joints(n: int) -> None:
    """Both coordinates agree, the sum of angles is the last bar's tilt, 0; in maximal the row touches n bodies."""
    ends = []
    for coordinates in ("generalized", "maximal"):
        world = im.World(chain(n), coordinates=coordinates, dt=0.005)
        world.run(0.5)
        assert abs(float(world.body(f"bar {n - 1}").orientation[1])) < 1e-9
        assert abs(float(world.energy().imbalance)) < 1e-6
        ends.append(world.body(f"bar {n - 1}").position)
    assert np.abs(ends[0] - ends[1]).max() < 1e-6
    found = analysis.mobility(im.World(chain(n)))
    assert (found.freedoms, found.coupling_equations) == (n - 1, 1)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_loop_joints_are_coupled(coordinates: str) -> None:
    """A rotor follows the crank and the hinge that closes a four-bar: the sum holds, T + V is kept, one freedom."""
    model = im.scenes.SCENES["four-bar"].build()
    closing = next(name for name in model.joints if im.World(model).system.tree.loops[0].name == name)
    crank = next(name for name, joint in model.joints.items() if joint.first == "ground" and name != closing)
    model.body("rotor", mass=0.5, inertia=(0.02, 0.02, 0.02), position=(0, 0, 1))
    model.joint("axle", "revolute", "ground", "rotor", at=(0, 0, 1), axis=(0, 0, 1))
    model.coupling("sum", {crank: 0.7, closing: -1.2, "axle": 1.0})
    world = im.World(model, coordinates=coordinates, dt=0.002)
    assert analysis.mobility(world).freedoms == 1
    ways = [crank, closing, "axle"]
    start = np.array([float(world.joint(name).position) for name in ways])
    offset = np.dot([0.7, -1.2, 1.0], start)
    world.set("sum.offset", offset)
    for _ in range(20):
        world.step(10)
        q = np.array([float(world.joint(name).position) for name in ways])
        assert abs(np.dot([0.7, -1.2, 1.0], q) - offset) < 1e-9
    assert np.abs(q - start).max() > 0.1
    books = world.energy()
    assert abs(float(books.imbalance)) < 1e-6 * max(1.0, abs(float(books.kinetic)))


def test_weights_and_offset_are_live_parameters_with_undo() -> None:
    """A weight set by its path moves what follows, in the model too, and the answer's inverse sets it back."""
    world = im.World(bars(), dt=0.01)
    for path in ("sum.pin 1", "sum.pin 1.angle"):
        answer = world.set(path, 0.9)
        assert world.model.couplings["sum"].more["pin 1.angle"] == 0.9
        world.step()
        q = positions(world)
        assert abs(q[3] - 0.5 * q[0] - 0.9 * q[1] - 1.5 * q[2] + 0.2) < 1e-9
        world.apply(answer.inverse)
        assert world.model.couplings["sum"].more["pin 1.angle"] == -0.8
    world.set("sum.offset", 0.1)
    world.step()
    q = positions(world)
    assert abs(q[3] - 0.5 * q[0] + 0.8 * q[1] - 1.5 * q[2] - 0.1) < 1e-9
    with pytest.raises(im.EditError, match="value is nan, expected a number"):
        world.set("sum.pin 1", math.nan)


def test_one_weight_for_each_world() -> None:
    """A batch takes weights world by world, each as a world of its own has it."""
    batch = im.World(bars(), worlds=2, dt=0.01)
    batch.set("sum.pin 2", np.array([1.5, 1.2]))
    alone = im.World(bars(), dt=0.01)
    alone.set("sum.pin 2", 1.2)
    for world in (batch, alone):
        world.step(20)
    assert batch.joint("pin 3").position[1] == float(alone.joint("pin 3").position)
    assert batch.joint("pin 3").position[0] != batch.joint("pin 3").position[1]


def test_compiled_steps_have_the_weights() -> None:
    """Steps traced and compiled go as the kernel's, before and after a weight is set."""
    plain, compiled = (im.World(bars(), method=im.Direct(substeps=1), dt=1e-3, compile=how) for how in ("off", "now"))
    for world in (plain, compiled):
        world.step(50)
        world.set("sum.pin 2", 1.4)
        world.step(50)
    assert compiled.compilation is not None
    assert np.abs(positions(plain) - positions(compiled)).max() < 1e-12


def test_added_and_removed_while_it_runs() -> None:
    """Added at a pose that does not meet it, the bars move there; removed, it is put back by the inverse."""
    world = im.World(bars(coupled=False), dt=0.01)
    world.step(5)
    world.apply(edits.Add("coupling", "sum", {"joint_a": WEIGHTS, "offset": OFFSET}))
    assert abs(miss(world)) < 1e-9
    world.step(10)
    answer = world.remove("coupling", "sum")
    world.step(20)
    assert abs(miss(world)) > 1e-3
    world.apply(answer.inverse)
    world.step(5)
    assert abs(miss(world)) < 1e-9
    gone = world.remove("body", "bar 1")
    assert "sum" not in world.model.couplings and "coupling 'sum'" in gone.text


def test_files_copies_and_names() -> None:
    """A scene file and a script give the same part; a joint's new name is in it, a copy has the copies' joints."""
    model = bars()
    text = model_to_json(model)
    again = model_from_json(text)
    assert json.dumps(model_to_json(again)) == json.dumps(text)
    space: dict = {"__name__": "script"}
    exec(to_script(model), space)
    assert model_to_json(space["model"]) == text
    world = im.World(again, dt=0.01)
    world.apply(edits.Rename("pin 2", "hinge"))
    assert world.model.couplings["sum"].joints == ["pin 0", "pin 3", "pin 1", "hinge"]
    world.apply(edits.Copy(("bar 0", "bar 1", "bar 2", "bar 3"), shift=(0, 1, 0)))
    assert [*world.model.couplings["sum 2"].more] == ["pin 4.angle", "hinge 2.angle"]
    world.step(10)
    assert abs(float(world.joint("pin 5").position - world.joint("pin 3").position)) < 1e-9


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"joint_a": {"pin 0": 1.0}}, "two coordinates or more"),
        ({"joint_a": {"pin 0": 1.0, "pin 1": 0.0}}, "weight of 'pin 1' is 0, expected .* other than 0"),
        ({"joint_a": {"pin 0": 1.0, "pin 0.angle": 1.0, "pin 1": 2.0}}, "name 'pin 0.angle' twice"),
        ({"joint_a": {"pin 0": 1.0, "pin 9": 1.0}}, "no joint named 'pin 9'"),
        ({"joint_a": {"pin 0": 1.0, "pin 1.slide": 1.0}}, "group is 'slide', but joint 'pin 1'"),
        ({"joint_a": {"pin 0": 1.0, "pin 1": math.inf}}, "weight of 'pin 1' is inf"),
        ({"joint_a": {"pin 0": 1.0, "pin 1": 2.0}, "ratio": 2.0}, "give offset alone"),
        ({"joint_a": "pin 0"}, "joint_b is missing"),
        ({"joint_a": "pin 0", "joint_b": "pin 1", "more": {"pin 1": 2.0}}, "couples angle of 'pin 1' to itself"),
        ({"joint_a": "pin 0", "joint_b": "pin 1", "more": {"pin 2": 2.0}, "belt": 0.1}, "belt is 0.1, but"),
    ],
)
def test_nonsense_is_refused_by_name(given: dict, told: str) -> None:
    with pytest.raises(im.ModelError, match=told):
        bars(coupled=False).coupling("sum", **given)
