"""Coulomb friction and a stop: a block slides, hits the stop, comes back and stays.

The block (1 kg) starts at 1 m/s on a slide with friction 2 N; the stop at 0.1 m gives back half of the
speed. It arrives with v² = 1 - 2 · 2 · 0.1 = 0.6, leaves with v² = 0.15 and comes to rest 0.15 / 4 =
0.0375 m before the stop. The books split the 0.5 J into friction, 2 N · 0.1375 m, and stop, 0.225 J.
"""

import impulsar as im

model = im.Model("block")
block = model.body("block", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), velocity=(1, 0, 0), shape=im.Sphere(0.02))
model.joint(
    "slide", "prismatic", model.ground, block,
    at=(0, 0, 0), axis=(1, 0, 0), friction=2.0, limits=(-1.0, 0.1), limit_restitution=0.5,
)  # fmt: skip

world = im.World(model, dt=0.0005)
world.run(1.0)
rest = world.joint("slide")
print(f"at {rest.position:.5f} m (closed form 0.06250), speed {rest.velocity:g} m/s")

world.step(2000)
print(f"a second later at {rest.position:.5f} m, speed {rest.velocity:g} m/s")
books = world.energy()
for name, joules in books.losses.items():
    print(f"lost in {name}: {joules:.4f} J")
