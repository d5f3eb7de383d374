"""Many worlds in one launch: how much friction must a hinge have to hold a rod level?

64 copies of one model differ in one parameter. With `worlds=64` every array that is read has the world
as its first dimension, and `world.set` takes a value for each. The rod stays where the friction is at
least m g l / 2 and falls in the other worlds. `device="cuda"` runs the same on a GPU.
"""

import numpy as np

import impulsar as im

mass, length, worlds = 2.0, 1.0, 64

model = im.Model("rod")
across = mass * length**2 / 12
rod = model.body("rod", mass=mass, inertia=(1e-4, across, across), position=(length / 2, 0, 0))
model.joint("hinge", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), friction=1.0)

world = im.World(model, dt=0.001, worlds=worlds)
friction = np.linspace(0.0, 20.0, worlds)  # N m
world.set("hinge.friction", friction)
result = world.run(0.5, every=0.1)

turned = world.joint("hinge").position  # rad, one per world
holds = friction[turned == 0.0]
exact = mass * 9.81 * length / 2
print(f"result: {dict(result['joint_position'].sizes)}")
print(f"falls up to {friction[turned > 0].max():.3f} N m, holds from {holds.min():.3f} N m on")
print(f"m g l / 2 = {exact:.3f} N m")
