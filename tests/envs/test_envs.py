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
    check_env(gym.make(f"impulsar/{name}-v0").unwrapped)


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
    many = envs.MechanismVectorEnv(Short(), 3, mode.name.lower())
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


def test_reset_forgets_that_episodes_were_over():
    """A reset by hand at the end of episodes is the beginning: the step that follows is a step, not a reset."""
    many, single = envs.MechanismVectorEnv(Short(), 2), SyncVectorEnv([lambda: envs.MechanismEnv(Short())] * 2)
    for one in (many, single):
        one.reset(seed=1)
        for _ in range(Short.length):
            over = one.step(np.zeros((2, 2)))[3]
        assert over.all()
        one.reset(seed=2)
    assert is_same(many.step(np.ones((2, 2))), single.step(np.ones((2, 2))))


def test_a_specification_is_data():
    """It survives JSON, gives the same environment, and says how long an episode is."""
    one = gym.make("impulsar/FiveBarReach-v0", method="direct")
    spec = gym.envs.registration.EnvSpec.from_json(one.spec.to_json())
    assert spec.max_episode_steps == envs.FiveBarReach.length
    assert np.array_equal(gym.make(spec).reset(seed=4)[0], one.reset(seed=4)[0])
    assert gym.make_vec("impulsar/FiveBarReach-v0", num_envs=2, max_episode_steps=3).length == 3


def test_environments_that_share_a_task_know_nothing_of_each_other():
    """A load that came in one did not come in the other."""
    task = envs.LiftHold()
    pair, alone = [envs.MechanismEnv(task) for _ in range(2)], envs.MechanismEnv(envs.LiftHold())
    for one in (*pair, alone):
        one.reset(seed=3)
    for _ in range(90):
        found = [one.step(np.zeros(2))[0] for one in (*pair, alone)]
        assert np.array_equal(found[0], found[2]) and np.array_equal(found[1], found[2])
    assert abs(found[2][0]) > 1.0  # [cm] the load is there


def test_pictures():
    """One of each world, which moves with it; where nobody asked there is none."""
    many = gym.make_vec("impulsar/FiveBarReach-v0", num_envs=2, render_mode="rgb_array")
    many.reset(seed=0)
    first = many.render()
    assert [picture.shape for picture in first] == [(480, 640, 3)] * 2 and not np.array_equal(*first)
    many.step(np.ones((2, 2)))
    assert not np.array_equal(many.render()[0], first[0])
    assert envs.MechanismEnv("FiveBarReach").render() is None


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


def changed(**what) -> envs.Task:
    """A task that says something else."""
    return type("Changed", (Short,), what)()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda many: many.step(np.zeros((2, 2))), "shape"),
        (lambda many: many.step(np.full((3, 2), np.nan)), "finite"),
        (lambda many: many.reset(options={"reset_mask": [1, 0, 0]}), "reset_mask"),
        (lambda many: many.step([["a", 0]] * 3), "expected numbers"),
        (lambda many: many.reset(seed=[1, 2]), "seeds"),
        (lambda many: many.reset(seed=-1), "seed is -1"),
        (lambda many: many.reset(seed=1.5), "seed is 1.5"),
        (lambda many: many.reset(seed=[1, None, "a"]), "seed is 'a'"),
        (lambda many: envs.MechanismVectorEnv(Short(), 0), "num_envs"),
        (lambda many: envs.MechanismVectorEnv(Short(), 1, "sometimes"), "next_step, same_step, disabled"),
        (lambda many: envs.MechanismVectorEnv(Short(), 1, render_mode="human"), "rgb_array"),
        (lambda many: envs.MechanismVectorEnv(Short, 1), "expected a Task"),
        (lambda many: envs.MechanismVectorEnv("FiveBarReech", 1), "did you mean 'FiveBarReach'"),
        (lambda many: envs.MechanismVectorEnv(changed(most=(1.0,)), 1), "2 numbers, one for each drive"),
        (lambda many: envs.MechanismVectorEnv(changed(observations=9), 2).reset(), r"observe gave shape \(2, 10\)"),
    ],
)
def test_refusals(wrong, words):
    with pytest.raises(ModelError, match=words):
        wrong(envs.MechanismVectorEnv(Short(), 3))
