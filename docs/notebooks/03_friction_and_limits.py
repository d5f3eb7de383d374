# %% [markdown]
# # Friction and stops
#
# A block of 1 kg slides at 1 m/s against dry friction of 2 N into a stop that gives back half of the speed. It arrives
# with v² = 1 - 2 · 2 · 0.1 = 0.6, leaves with v² = 0.15 and comes to rest 0.0375 m before the stop.

# %%
import impulsar as im

model = im.Model("block")
block = model.body("block", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), velocity=(1, 0, 0), shape=im.Box((0.04, 0.04, 0.04)))
model.joint(
    "slide", "prismatic", model.ground, block,
    at=(0, 0, 0), axis=(1, 0, 0), friction=2.0, limits=(-1.0, 0.1), limit_restitution=0.5,
)  # fmt: skip
world = im.World(model, dt=0.005)
result = world.run(0.5, every=0.005, progress=False)
result.impulsar.plot("joint_position", "joint_velocity")

# %% [markdown]
# The stop is met inside a step and located there, so the nominal step of 5 ms does not matter. At rest it stays at
# rest: friction holds, with no creep.

# %%
rest = world.joint("slide")
print(f"at {rest.position:.7f} m (closed form 0.0625), speed {rest.velocity:g} m/s")
world.step(200)
print(f"a second later at {rest.position:.7f} m")

# %% [markdown]
# The books say where the half joule went: 2 N along 0.1375 m into friction, the rest into the stop.

# %%
books = world.energy()
for name, joules in books.losses.items():
    print(f"{name}: {joules:.6f} J")
print(f"books out by {books.imbalance:.1e} J")
print(f"by the closed form: friction {2 * 0.1375:.6f} J, stop {0.5 * (0.6 - 0.15):.6f} J")
