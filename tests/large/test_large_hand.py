"""A hand on one body of a large world."""

import numpy as np
import pytest

from impulsar.author.errors import ModelError
from impulsar.scale.large import Bulk, LargeWorld, chain, spheres

MASS, INERTIA = 0.2, np.diag([2e-4, 3e-4, 4e-4])


def free_body(**more) -> Bulk:
    return Bulk(
        np.zeros((1, 3)),
        np.array([[0.0, 0.0, 0.0, 1.0]]),
        np.zeros(1, np.int64),
        np.array([MASS]),
        INERTIA[None],
        **more,
    )


@pytest.mark.parametrize("method", ["fixed", "pair"])
def test_a_body_hangs_from_the_hand(method):
    """At rest k (target - p) = m g; the point that is held lies above the centre of mass, so that nothing turns."""
    world = LargeWorld(free_body(), dt=1e-3, method=method)
    world.pull(0, (0.0, 0.0, 0.3), (0.0, 0.0, 0.02))
    stiffness = world.hand.arrays.spring.numpy()[0]
    world.step(500)
    assert world.hand.force == pytest.approx([0.0, 0.0, MASS * 9.81], abs=1e-9)
    assert world.positions[0] == pytest.approx([0.0, 0.0, 0.28 - MASS * 9.81 / stiffness], abs=1e-9)
    assert world.velocities[0] == pytest.approx(np.zeros(6), abs=1e-9)
    world.let_go()
    assert not world.hand.force.any()
    before = world.velocities[0, 3:]
    world.step(10)
    assert world.velocities[0, 3:] == pytest.approx(before - [0, 0, 9.81 * 0.01], abs=1e-12)


def test_the_hand_is_in_the_books():
    """Energy is what the hand has given; what is left over falls with the step, its force being held over each."""

    def left_over(dt: float) -> tuple[float, float]:
        world = LargeWorld(chain(6), dt=dt)
        start = sum(world.energy().values())
        world.pull(5, world.positions[5] + [0.03, 0.02, 0.0])
        world.hand.arrays.spring.assign(np.array([30.0, 0.5, 100.0]))
        world.step(round(0.1 / dt))
        energy = world.energy()
        assert energy["hand"] > 1e-3
        return energy["kinetic"] + energy["potential"] - energy["hand"] - start, energy["hand"]

    errors = [abs(left_over(dt)[0]) for dt in (2e-4, 1e-4, 5e-5)]
    assert errors[1] < 0.65 * errors[0] and errors[2] < 0.65 * errors[1]


def test_a_strong_pull_stays_within_its_bound():
    """However far the target, 200 weights and no more; joints hold meanwhile."""
    world = LargeWorld(chain(50), dt=1e-3)
    world.pull(49, (100.0, 0.0, 0.0))
    for _ in range(20):
        report = world.step()
        assert np.linalg.norm(world.hand.force) <= 200.0 * 9.81 * 0.1 * (1.0 + 1e-12)
    assert report.position_error < 1e-10


def test_a_ball_is_lifted_out_of_others():
    world = LargeWorld(spheres(30), dt=1 / 240)
    top = int(np.argmax(world.positions[:, 2]))
    world.pull(top, world.positions[top] + [0.0, 0.0, 0.2])
    world.step(120)
    assert world.positions[top, 2] > 0.15 and np.delete(world.positions, top, 0)[:, 2].max() < 0.12


def test_snapshots_let_go_and_keep_the_books():
    world = LargeWorld(chain(5), dt=1e-3)
    kept = world.snapshot()
    world.pull(4, (0.1, 0.1, 0.0))
    world.step(20)
    assert world.energy()["hand"] != 0.0
    world.restore(kept)
    assert world.energy()["hand"] == 0.0 and world.hand.body == -1
    world.step(20)
    alone = LargeWorld(chain(5), dt=1e-3)
    alone.step(20)
    assert world.positions.tobytes() == alone.positions.tobytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [((7, (0, 0, 0)), "body is 7"), ((0, (0, 0)), "target is"), ((0, (0, 0, float("nan"))), "target is")],
)
def test_wrong_pulls_are_refused(arguments, told):
    with pytest.raises(ModelError, match=told):
        LargeWorld(chain(5), dt=1e-3).pull(*arguments)
