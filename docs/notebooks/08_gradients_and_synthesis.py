# %% [markdown]
# # Gradients, and linkages for curves
#
# `world.sensitivity` differentiates a run by parameters, motors and the start: exact derivatives of the numerical
# trajectory, here beside a difference of two runs.

# %%
import matplotlib.pyplot as plt
import numpy as np

import impulsar as im
from impulsar.optimise import Linkage, fit_curve

world = im.World(im.scene("four-bar"), method=im.Direct(substeps=1), dt=1e-3)
slope = world.sensitivity(of=("O.position",), to=("coupler.mass",), duration=0.1)["O.position", "coupler.mass"]


def turned(mass: float) -> float:
    world = im.World(im.scene("four-bar"), method=im.Direct(substeps=1), dt=1e-3)
    world.set("coupler.mass", mass)
    world.step(100)
    return world.joint("O").position


mass = im.scene("four-bar").bodies["coupler"].mass
print(f"{slope:.9f} rad/kg, by differences {(turned(mass + 1e-4) - turned(mass - 1e-4)) / 2e-4:.9f} rad/kg")

# %% [markdown]
# With derivatives dimensions can be found. A four-bar whose pivots are parameters:

# %%
POINTS = {"O": (0, 0), "A": (0.05, 0.0866), "B": (0.28, 0.2), "C": (0.25, 0), "P": (0.2, 0.25)}  # [m]


def four_bar(off: float) -> im.Model:
    model = im.Model("four-bar", gravity=(0, -9.81, 0))
    for k, (name, point) in enumerate(POINTS.items()):
        for axis, value in zip("xy", point, strict=True):
            model.parameter(name + axis, value + off * (-1) ** k * (name != "O"))
    crank, coupler, rocker = (model.body(name, 1.0, inertia=(1e-2,) * 3) for name in ("crank", "coupler", "rocker"))
    pairs = {"O": (model.ground, crank), "A": (crank, coupler), "B": (coupler, rocker), "C": (model.ground, rocker)}
    for name, (first, second) in pairs.items():
        model.joint(name, "revolute", first, second, at=(f"{name}x", f"{name}y", 0), axis=(0, 0, 1))
    model.probe("pen", coupler, at=("Px", "Py", 0))
    return model


# %% [markdown]
# The target is the curve of another four-bar, so nothing of it need be missed. At the start its pivots are off by 2 cm.

# %%
angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
outcomes = ("pen.position.x", "pen.position.y")
targets = Linkage(four_bar(0.0), "O", outcomes).outcomes(angles)
start = Linkage(four_bar(0.02), "O", outcomes).outcomes(angles)
fit = fit_curve(four_bar(0.02), "pen", targets, "O", at=angles, grashof=("O", "A", "B", "C"))
print(f"the curve is missed by {fit.before / fit.size:.1%} of its size before, by {fit.error / fit.size:.0e} after")

# %%
found = Linkage(fit.model, "O", outcomes).outcomes(angles)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
for points, look, name in ((targets, "o", "wanted"), (start, "--", "before"), (found, "-", "found")):
    ring = np.vstack([points, points[:1]])
    ax.plot(*ring.T[:2], look, label=name, markersize=4)
ax.set_aspect("equal")
ax.set(xlabel="x [m]", ylabel="y [m]")
ax.legend()
plt.show()
