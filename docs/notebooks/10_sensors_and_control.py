# %% [markdown]
# # Sensors, a controller, an environment
#
# A pendulum stands on its head while a controller at 200 Hz reads a noisy encoder and pushes its cart.

# %%
import numpy as np
from scipy.linalg import solve_continuous_are

import impulsar as im

M, m, l, g = 1.0, 0.2, 0.5, 9.81  # cart, rod [kg], half of its length [m]

model = im.Model("cart and rod")
cart = model.body("cart", mass=M, inertia=(1e-2,) * 3, shape=im.Box((0.2, 0.1, 0.08)))
rod = model.body(
    "rod", mass=m, inertia=(m * l**2 / 3, m * l**2 / 3, 1e-4), position=(0, 0, l), shape=im.Capsule(0.015, 2 * l)
)
model.joint("rail", "prismatic", model.ground, cart, at=(0, 0, 0), axis=(1, 0, 0), motor=im.Motor(torque=0.0))
model.joint("pivot", "revolute", cart, rod, at=(0, 0, 0), axis=(0, 1, 0))
model.sensor("encoder", im.sensors.Encoder("pivot", rate=200.0, noise=1e-3, tachometer=True, seed=3))
model

# %% [markdown]
# The gains are those of the linear quadratic regulator about upright; accelerations follow from the
# mass matrix of a cart with a uniform rod.

# %%
mass_matrix = np.array([[M + m, m * l], [m * l, 4 / 3 * m * l**2]])
accelerations = np.linalg.solve(mass_matrix, [[0, 0], [0, m * g * l]])
A = np.block([[np.zeros((2, 2)), np.eye(2)], [accelerations, np.zeros((2, 2))]])
B = np.concatenate([[0, 0], np.linalg.solve(mass_matrix, [1, 0])])[:, None]
Q, R = np.diag([10.0, 100.0, 1.0, 1.0]), np.array([[0.1]])
K = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))


def regulate(time: float, y: np.ndarray) -> list[float]:
    angle, rate, x, speed = y
    return [0.0] if np.isnan(angle) else list(-K @ [x, angle, speed, rate])


world = im.World(model, dt=0.005)
reads = ("encoder", "rail.position", "rail.velocity")
world.attach("balance", regulate, rate=200.0, reads=reads, writes=("rail.torque",))
world.apply(im.ApplyLoad("gust", "rod", force=(0.4, 0, 0)))
world.step(40)
world.apply(im.RemoveLoad("gust"))
result = world.run(3.0, every=0.01, progress=False)
print(f"tilt at the end {np.degrees(float(result['joint_position'].sel(coordinate='pivot')[-1])):.3f}°")
result.impulsar.plot("joint_position", "sensor", "motor_torque")

# %% [markdown]
# The same engine as Gymnasium environments, which importing `impulsar.envs` registers: a vector of 32 is one batch,
# stepped in one launch.

# %%
import gymnasium

import impulsar.envs  # noqa: F401

envs = gymnasium.make_vec("impulsar/FiveBarReach-v0", num_envs=32, vectorization_mode="vector_entry_point")
seen, _ = envs.reset(seed=0)
total = np.zeros(32)
for _ in range(50):
    seen, reward, *_ = envs.step(envs.action_space.sample() * 0.2)
    total += reward
print(f"seen {seen.shape}; 50 random steps are worth {total.mean():.1f} on the average")
envs.close()
