# %% [markdown]
# # Many worlds at once
#
# With `worlds=64` one launch steps 64 copies, each with its own state and numbers. How much friction must a hinge have
# to hold a rod level? At least m g l / 2.

# %%
import numpy as np

import impulsar as im

mass, length, worlds = 2.0, 1.0, 64
model = im.Model("rod")
across = mass * length**2 / 12
rod = model.body("rod", mass=mass, inertia=(1e-4, across, across), position=(length / 2, 0, 0))
model.joint("hinge", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), friction=1.0)

world = im.World(model, dt=0.001, worlds=worlds, compile="off")
friction = np.linspace(0.0, 20.0, worlds)  # N m
world.set("hinge.friction", friction)
result = world.run(0.5, every=0.05, progress=False)
turned = world.joint("hinge").position  # rad, one for each world
print(f"falls up to {friction[turned > 0].max():.3f} N m, holds from {friction[turned == 0].min():.3f} N m on")
print(f"m g l / 2 = {mass * 9.81 * length / 2:.3f} N m")
print(dict(result["joint_position"].sizes))

# %% [markdown]
# A sweep runs mechanisms that differ, here in their lengths, in batches or on all cores or a cluster, and measures
# them. The swing of a rocker has a closed form: crank and coupler are in line at its ends.

# %%
four_bar = im.scene("four-bar")
for name, part, value in (("a", "crank", 0.1), ("b", "coupler", 0.25), ("c", "rocker", 0.2)):
    four_bar.parameter(name, value, unit="m")
    four_bar.expression(f"{part}.length", name)
four_bar.joints["O"].features["angle"].motor = im.Motor(speed=2 * np.pi)

lengths = {"a": (0.08, 0.1), "b": (0.24, 0.26), "c": (0.19, 0.21)}
measure = {"low": "min joint.C.position", "high": "max joint.C.position"}
found = im.sweep(four_bar, lengths, measure, design="sobol", samples=16, duration=1.0, dt=0.01, workers=0)

a, b, c, g = found["a"], found["b"], found["c"], 0.25
near, far = (np.arccos((c**2 + g**2 - (b + sign * a) ** 2) / (2 * c * g)) for sign in (-1, 1))
swing = found["high"] - found["low"]
print(f"{found.sizes['case']} four-bars swing by {np.degrees(swing.min()):.2f}° to {np.degrees(swing.max()):.2f}°")
print(f"from the closed form at most {np.degrees(abs(swing - (far - near)).max()):.3f}° off")

# %%
found["swing"] = swing
found.to_dataframe()[["a", "b", "c", "swing"]].round(4).head(8)
