# %% [markdown]
# # Closed loops and reactions
#
# A four-bar whose crank is driven at a turn a second. Four hinges, three bars: one hinge closes the loop, which the
# builder finds by itself. The pin B has to be where two circles meet, whatever the dynamics do.

# %%
import cmath
import math

import impulsar as im

model = im.scene("four-bar", angle_deg=60)
model.joints["O"].features["angle"].motor = im.Motor(speed=2 * math.pi)  # rad/s
world = im.World(model, dt=0.002)
result = world.run(2.0, every=0.01, progress=False)
world

# %% [markdown]
# Complex numbers are points of the plane: B is on a circle about A (coupler, 0.25 m) and on one about C (rocker,
# 0.2 m).

# %%
crank, coupler, rocker, ground = 0.1, 0.25, 0.2, 0.25


def pin(angle: float) -> complex:
    a = cmath.rect(crank, angle)
    far = abs(ground - a)
    along = (coupler**2 - rocker**2 + far**2) / (2 * far)
    return a + (along + 1j * math.sqrt(coupler**2 - along**2)) * (ground - a) / far


angles = math.pi / 3 + result["joint_position"].sel(coordinate="O").values
path = result["probe"].sel(name="path B").values
off = max(abs(complex(x, y) - pin(angle)) for angle, (x, y, _) in zip(angles, path, strict=True))
print(f"B is within {off:.0e} m of where the circles meet")
print(f"constraint error at most {float(result['constraint_error'].max()):.0e} m and rad")

# %% [markdown]
# Reactions are what each joint transmits, and the motor's torque what it takes to keep the speed. Both come from the
# same solve as the motion.

# %%
result.impulsar.plot("reaction_force", "motor_torque", "probe")

# %% [markdown]
# Over a whole turn a motor at constant speed does no net work on a mechanism without losses: it only lends energy.

# %%
turns = result["motor_torque"].sel(coordinate="O") * 2 * math.pi
work = float(turns.isel(time=slice(100, 201)).integrate("time"))
peak = float(abs(turns).max())
print(f"work over the second turn {work:.1e} J, while the power peaks at {peak:.2f} W")
mobility = im.analysis.mobility(im.scene("four-bar"))
print(mobility)
