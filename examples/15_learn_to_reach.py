"""Learn to reach with a parallel arm, on the processor, in a minute.

64 worlds are one batch. Each tries a policy of its own, torques that are linear in what is seen; the ten best of them
say where the next 64 are looked for (cross-entropy method). Needs `pip install 'impulsar[envs]'`.
"""

import numpy as np

from impulsar.envs import FiveBarReach, MechanismVectorEnv

envs = MechanismVectorEnv(FiveBarReach(), num_envs=64)
random = np.random.default_rng(0)


def worth(policies: np.ndarray, seed: int) -> np.ndarray:
    """Sum of the rewards over 100 steps of 20 ms, for a policy [action, seen and 1] in each world."""
    seen, _ = envs.reset(seed=seed)
    total = np.zeros(len(policies))
    for _ in range(100):
        actions = np.einsum("eij,ej->ei", policies[:, :, :-1], seen) + policies[:, :, -1]
        seen, reward, *_ = envs.step(actions)
        total += reward
    return total


mean, spread = np.zeros((2, 11)), np.full((2, 11), 0.5)
before = worth(np.tile(mean, (64, 1, 1)), seed=1).mean()
for k in range(60):
    tried = mean + spread * random.normal(size=(64, 2, 11))
    best = tried[np.argsort(worth(tried, seed=1000 + 64 * k))[-10:]]
    mean, spread = 0.3 * mean + 0.7 * best.mean(0), 0.3 * spread + 0.7 * best.std(0) + 0.02
after = worth(np.tile(mean, (64, 1, 1)), seed=1).mean()
print(f"worth of an episode: {before:.0f} with slack motors, {after:.0f} with what was learned")
