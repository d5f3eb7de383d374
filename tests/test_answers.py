"""What an edit says that it added to energy and momenta, against closed forms, in every method and coordinates."""

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.rotations import rotate
from impulsar.engine.methods import METHODS

SMOOTH = ("variational", "linear_implicit", "generalized_alpha")  # have no law of dry friction
PAIRS = [(name, kind) for name, method in METHODS.items() for kind in method.coordinates]
SPIN, SPEED, PLACE = np.array([0.5, -2.0, 1.0]), np.array([0.4, 1.2, -0.3]), np.array([0.2, -0.1, 0.7])
INERTIA = np.diag([0.02, 0.03, 0.04])


def tumbling() -> im.Model:
    """A free body that flies and tumbles, beside a double pendulum in motion."""
    model = im.Model("tumbling")
    model.body("stone", mass=2.0, inertia=INERTIA, position=PLACE, velocity=SPEED, angular_velocity=SPIN)
    model.body("arm", mass=1.0, inertia=(0.02, 0.02, 0.02), position=(3.5, 0, 0))
    model.body("rod", mass=0.5, inertia=(0.02, 0.02, 0.02), position=(4.5, 0, 0))
    model.joint("hinge", "revolute", "ground", "arm", at=(3, 0, 0), axis=(0, 1, 0))
    model.joint("elbow", "revolute", "arm", "rod", at=(4, 0, 0), axis=(0, 1, 0))
    return model


def moving(method: str, coordinates: str, worlds: int = 1) -> im.World:
    world = im.World(tumbling(), method, coordinates, dt=0.005, worlds=worlds)
    world.step(40)
    return world


def momenta(world: im.World, mass: dict[str, float], inertia: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the origin, from poses and velocities."""
    linear, angular = np.zeros(3), np.zeros(3)
    for name in mass:
        body = world.body(name)
        R = np.stack([rotate(body.orientation, axis) for axis in np.eye(3)], axis=1)
        p = mass[name] * body.velocity
        linear += p
        angular += np.cross(body.position, p) + R @ inertia[name] @ R.T @ body.angular_velocity
    return linear, angular


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize("body", ("stone", "rod"))
def test_a_mass_that_grows_in_flight(body, method, coordinates):
    """Δp = Δm v, ΔL = p × Δm v, ΔE = Δm (v²/2 + g z): velocities stay. To rounding of the momenta, of order 1."""
    world = moving(method, coordinates)
    grown = 0.6
    r, v = world.body(body).position, world.body(body).velocity
    answer = world.set(f"{body}.mass", world.model.bodies[body].mass + grown)
    assert answer.momentum == pytest.approx(grown * v, abs=1e-14)
    assert np.linalg.norm(answer.momentum) > 0.1
    assert answer.angular_momentum == pytest.approx(np.cross(r, grown * v), abs=1e-13)
    assert answer.energy == pytest.approx(grown * (v @ v / 2 + 9.81 * r[2]), abs=1e-12)
    assert world.body(body).velocity == pytest.approx(v, abs=1e-14)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_an_inertia_that_changes_in_flight(method, coordinates):
    """ΔL = R ΔI Rᵀ ω, Δp = 0, ΔE = ω · ΔL / 2."""
    world = moving(method, coordinates)
    body = world.body("stone")
    R = np.stack([rotate(body.orientation, axis) for axis in np.eye(3)], axis=1)
    w = body.angular_velocity
    change = np.diag([0.05, 0.01, 0.02]) + 0.003
    answer = world.set("stone.inertia", INERTIA + change)
    gained = R @ change @ R.T @ w
    assert answer.angular_momentum == pytest.approx(gained, abs=1e-14)
    assert np.linalg.norm(gained) > 0.01
    assert np.all(answer.momentum == 0.0)
    assert answer.energy == pytest.approx(w @ gained / 2, abs=1e-13)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_every_world_has_its_own(method, coordinates):
    """The same with a value per world: a row of the answer for each, 0 where nothing changed."""
    world = moving(method, coordinates, worlds=3)
    masses, v, r = np.array([2.0, 2.5, 7.0]), world.body("stone").velocity, world.body("stone").position
    grown = (masses - 2.0)[:, None]
    answer = world.set("stone.mass", masses)
    assert answer.momentum.shape == answer.angular_momentum.shape == (3, 3)
    assert answer.momentum == pytest.approx(grown * v, abs=1e-14)
    assert answer.angular_momentum == pytest.approx(np.cross(r, grown * v), abs=1e-13)
    assert np.all(answer.momentum[0] == 0.0)
    inertias = np.stack([INERTIA, 2 * INERTIA, 3 * INERTIA])
    w = world.body("stone").angular_velocity
    answer = world.set("stone.inertia", inertias)
    q = world.body("stone").orientation
    for k in range(3):
        R = np.stack([rotate(q[k], axis) for axis in np.eye(3)], axis=1)
        assert answer.angular_momentum[k] == pytest.approx(R @ (k * INERTIA) @ R.T @ w[k], abs=1e-14)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
def test_a_spring_that_comes_to_a_joint_in_every_world(method, coordinates):
    """ΔE = k q²/2 of each world, beside what closing the joints takes, which is the same in all: the row is built
    with the largest stiffness, then each world gets its own."""
    world = moving(method, coordinates, worlds=3)
    stiffness = np.array([0.0, 5.0, 20.0])
    before = world.energy().total
    answer = world.set("hinge.stiffness", stiffness)
    q = world.joint("hinge").position
    assert answer.energy - answer.energy[0] == pytest.approx(stiffness * q**2 / 2, abs=1e-10)
    assert world.energy().total - before == pytest.approx(answer.energy, abs=1e-10)


@pytest.mark.parametrize(("method", "coordinates"), PAIRS)
@pytest.mark.parametrize(
    "edit",
    (
        edits.SetParameter("rod.mass", 3.0),
        edits.SetParameter("arm.inertia", (0.5, 0.6, 0.7)),
        edits.SetParameter("stone.velocity", (1.0, 0.0, 0.0)),
        edits.SetParameter("hinge.friction", 0.1),
        edits.SetState({"rod": {"angular_velocity": (0.0, 3.0, 0.0)}}),
        edits.ChangeJoint("elbow", {"type": "fixed"}),
        edits.Remove("body", "stone"),
        edits.DragTo("rod", (4.0, 0.0, -1.0)),
        edits.Reset(),
        edits.SetMethod("direct"),
        edits.Pause(),
    ),
    ids=lambda edit: f"{type(edit).__name__} {getattr(edit, 'path', '')}",
)
def test_answers_add_up(edit, method, coordinates):
    """Of whatever edit: the sums over bodies after it are those before it and what it says that it added."""
    world = moving(method, coordinates)

    def sums():
        bodies = world.model.bodies
        linear, angular = momenta(
            world, {n: b.mass for n, b in bodies.items()}, {n: b.inertia for n, b in bodies.items()}
        )
        return linear, angular, world.energy().total

    before = sums()
    if getattr(edit, "path", "") == "hinge.friction" and method in SMOOTH:
        with pytest.raises(edits.EditError, match="friction"):
            world.apply(edit)
        return
    answer = world.apply(edit)
    after = sums()
    assert after[0] - before[0] == pytest.approx(np.array(answer.momentum), abs=1e-12)
    assert after[1] - before[1] == pytest.approx(np.array(answer.angular_momentum), abs=1e-11)
    assert after[2] - before[2] == pytest.approx(answer.energy, abs=1e-11)


def test_who_changes_a_world_gets_the_answer():
    """Every shorthand hands it on."""
    world = moving("direct", "generalized")
    hand = world.grab("rod", name="mine")
    answers = [
        world.set("rod.mass", 2.0),
        world.change("elbow", friction=0.1),
        world.add("probe", "tip", body="rod", at=(5, 0, 0)),
        world.remove("probe", "tip"),
        world.drag("rod", (4, 0, -1)),
        hand.move((4, 0, 0)),
        hand.release(),
    ]
    assert all(isinstance(answer, edits.Answer) and answer.text for answer in answers)
