# %% [markdown]
# # A first pendulum
#
# Author a mechanism, run it, look at it, and compare it with the closed form. A uniform rod of length l hangs on a
# hinge and is let go 60° off the vertical. Its period is T = 4 K(sin² 30°) / ω with ω² = 3 g / 2 l.

# %%
import math

from scipy.special import ellipk

import impulsar as im

length, mass, angle = 1.0, 2.0, math.radians(60)

model = im.Model("pendulum")  # gravity is (0, 0, -9.81) m/s²
rod = model.body(
    "rod",
    mass=mass,
    inertia=(mass * length**2 / 12, mass * length**2 / 12, 1e-4),  # z along the rod [kg m²]
    position=(length / 2 * math.sin(angle), 0, -length / 2 * math.cos(angle)),
    orientation=(0, -math.sin(angle / 2), 0, math.cos(angle / 2)),  # xyzw
    shape=im.Capsule(0.02, length),
)
model.joint("hinge", "revolute", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0))
model.probe("tip", rod, at=(length * math.sin(angle), 0, -length * math.cos(angle)))
model

# %% [markdown]
# A `World` is a running model. `run` steps it and samples everything into an `xarray.Dataset`. Where the coordinate
# passes the vertical is an event, located to about 1e-13 s.

# %%
world = im.World(model, rtol=1e-10, atol=1e-10)
through = im.Event("vertical", "coordinate.hinge.position", direction=1, level=angle)
result = world.run(5.0, every=0.02, events=[through], progress=False)

times = result["event_time"].values
period = times[1] - times[0]
exact = 4 * ellipk(math.sin(angle / 2) ** 2) / math.sqrt(1.5 * 9.81 / length)
print(f"period {period:.9f} s, closed form {exact:.9f} s, off by {abs(period / exact - 1):.0e}")

# %% [markdown]
# A result shows itself. By default: energies, coordinates, reactions; what is rounding is told and not drawn.

# %%
result.impulsar.plot()

# %% [markdown]
# Single quantities go by name, as `result.impulsar.channels()` lists them.

# %%
result.impulsar.plot("probe", ["hinge.reaction.force.x", "hinge.reaction.force.z"])

# %% [markdown]
# And it moves: turn it, scrub it. The motion is in the page, so this plays in a saved notebook without a kernel. With a
# kernel, `world.view()` gives you the whole studio below the cell, to take hold of the rod while it swings.

# %%
result.impulsar.view(height=360)
