# %% [markdown]
# # Contact
#
# A shape with a material touches; one without is a picture. A box slides up a slope and comes back, or stays where
# friction holds it: µ > tan α.

# %%
import math

import impulsar as im

slope = math.radians(20)


def sliding(friction: float) -> im.Model:
    model = im.Model(f"box on a slope, friction {friction:g}")
    model.material("felt", friction)
    turn = (0, -math.sin(slope / 2), 0, math.cos(slope / 2))  # x goes uphill
    along, up = (math.cos(slope), 0, math.sin(slope)), (-math.sin(slope), 0, math.cos(slope))
    model.body(
        "box", mass=1.0, shape=im.Box((0.2, 0.2, 0.1)), material="felt", orientation=turn,
        position=tuple(0.05 * u for u in up), velocity=tuple(2.0 * a for a in along),
    )  # fmt: skip
    model.obstacle("slope", im.Plane(), orientation=turn, material="felt")
    return model


worlds = {friction: im.World(sliding(friction), dt=0.005) for friction in (0.2, 0.5)}
results = {friction: world.run(1.2, every=0.01, progress=False) for friction, world in worlds.items()}
results[0.5].impulsar.plot("position", "energy")

# %% [markdown]
# Up the slope it decelerates by g (sin α + µ cos α) and gets v²/2a far.

# %%
for friction, result in results.items():
    way = result["position"].sel(body="box", axis="x") / math.cos(slope)
    way = way - way[0]
    exact = 2.0**2 / (2 * 9.81 * (math.sin(slope) + friction * math.cos(slope)))
    says = "stays there" if friction > math.tan(slope) else f"and is back at {float(way[-1]):+.3f} m"
    print(f"friction {friction}: highest at {float(way.max()):.4f} m (law {exact:.4f} m), {says}")

# %% [markdown]
# Impacts: Newton's cradle. One ball comes in, one goes out, through three that stand still.

# %%
cradle = im.World(im.scene("newtons-cradle"))
swing = cradle.run(1.5, every=0.01, progress=False)
swing.impulsar.animate(fps=15, size=(5.0, 3.5))
