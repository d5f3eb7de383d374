"""Environments beside single ones, by Gymnasium's own checks, and by what a task is worth."""

import numpy as np
import pytest

gym = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import impulsar.envs as envs  # noqa: E402
from impulsar.author.errors import ModelError  # noqa: E402

QUICK = ["FiveBarReach", "LiftHold"]
ALL = [*QUICK, pytest.param("Walk", marks=pytest.mark.study)]


class Short(envs.FiveBarReach):
    """Episodes of seven steps."""

    length = 7


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_finds_nothing_wrong(name):
    check_env(gym.make(f"impulsar/{name}-v0").unwrapped, skip_render_check=True)


def is_same(one, two) -> bool:
    """Observations, rewards and ends to the bit."""
    return all(np.array_equal(a, b) for a, b in zip(one[:4], two[:4], strict=True))


@pytest.mark.parametrize("name", ALL)
def test_a_batch_is_single_environments(name):
    """World k of a batch with seed s is the single environment with seed s + k, to the bit, over ends of episodes."""
    task = envs.TASKS[name]
    many = gym.make_vec(f"impulsar/{name}-v0", num_envs=3, vectorization_mode="vector_entry_point")
    single = SyncVectorEnv([lambda: envs.MechanismEnv(task()) for _ in range(3)])
    assert np.array_equal(many.reset(seed=5)[0], single.reset(seed=5)[0])
    random = np.random.default_rng(0)
    for _ in range(40):
        action = random.uniform(-1.0, 1.0, many.action_space.shape)
        assert is_same(many.step(action), single.step(action))


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_autoreset(mode):
    """Episodes that are over begin anew as Gymnasium's own vector of single environments has them, `final_obs` too."""
    many = envs.MechanismVectorEnv(Short(), 3, mode)
    single = SyncVectorEnv([lambda: envs.MechanismEnv(Short()) for _ in range(3)], autoreset_mode=mode)
    many.reset(seed=1)
    single.reset(seed=1)
    ended = 0
    for k in range(20):
        action = np.full((3, 2), np.sin(k))
        one, two = many.step(action), single.step(action)
        assert is_same(one, two)
        if one[3].any():
            ended += 1
            if mode is AutoresetMode.SAME_STEP:
                assert np.array_equal(one[4]["final_obs"], np.stack(two[4]["final_obs"]))
                assert np.array_equal(one[4]["_final_obs"], two[4]["_final_obs"])
    assert ended == 2


def test_reset_of_some():
    """With autoreset off a mask begins anew, and the others go on as if nothing had been."""
    many, other = (envs.MechanismVectorEnv(Short(), 3, AutoresetMode.DISABLED) for _ in range(2))
    for one in (many, other):
        one.reset(seed=3)
        one.step(np.zeros((3, 2)))
    seen, _ = many.reset(options={"reset_mask": np.array([False, True, False])})
    after, expected = many.step(np.ones((3, 2)))[0], other.step(np.ones((3, 2)))[0]
    assert not np.array_equal(seen[1], expected[1])
    assert np.array_equal(after[[0, 2]], expected[[0, 2]])


def test_feedback_is_worth_more_than_nothing():
    """A spring and a damper at the motors bring the tip nearer to the goal than hanging arms do."""
    many = envs.MechanismVectorEnv(envs.FiveBarReach(), 4)
    worth = []
    for gain in (0.0, 3.0):
        seen, _ = many.reset(seed=0)
        total = np.zeros(4)
        for _ in range(60):
            seen, reward, *_ = many.step(-gain * (seen[:, :2] + 0.2 * seen[:, 2:4]))
            total += reward
        worth.append(total.sum())
    assert worth[1] > worth[0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda many: many.step(np.zeros((2, 2))), "shape"),
        (lambda many: many.step(np.full((3, 2), np.nan)), "finite"),
        (lambda many: many.reset(options={"reset_mask": [1, 0, 0]}), "reset_mask"),
        (lambda many: many.reset(seed=[1, 2]), "seeds"),
        (lambda many: envs.MechanismVectorEnv(Short(), 0), "num_envs"),
    ],
)
def test_refusals(wrong, words):
    with pytest.raises(ModelError, match=words):
        wrong(envs.MechanismVectorEnv(Short(), 3))
