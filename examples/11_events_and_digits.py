"""Events, samples between steps, and how many digits of a run may be trusted.

A ball is dropped from 0.5 m onto a floor that gives back 0.8 of its speed. It strikes at √(2 · 0.5 / g) and is on top
0.8 of that later. Events find both to 1e-10 s whatever the nominal step, and the run ends at the top, with the world
exactly there. The certificate compares the run with others of it and says how many digits agree.
"""

import math

import impulsar as im

model = im.Model("ball")
model.material("steel", 0.0, restitution=0.8)
model.body("ball", 1.0, shape=im.Sphere(0.1, material="steel"), position=(0, 0, 0.6))
model.obstacle("floor", im.Plane(material="steel"))
world = im.World(model, dt=0.02, rtol=1e-12, atol=1e-12)
certificate = world.certify(0.5, ["position"])
result = world.run(
    1.0,
    at=[0.123, 0.2345, 0.5],  # samples, independent of dt
    events=[
        im.Event("strikes", "body.ball.velocity.z", direction=1),
        im.Event("top", lambda world: world.body("ball").velocity[2], direction=-1, terminal=True),
    ],
)

fall = math.sqrt(2 * 0.5 / 9.81)
for name, time, exact in zip(result["event_name"].values, result["event_time"].values, (fall, 1.8 * fall), strict=True):
    print(f"{name} at {time:.12f} s, off by {abs(time - exact):.0e} s")
print(f"ended by {result.attrs['ended_by_event']!r} at height {world.body('ball').position[2] - 0.1:.9f} m")
print(
    f"fallen after 0.123 s: {0.6 - float(result['position'][0, 0, 2]):.9f} m, by g t²/2 {0.5 * 9.81 * 0.123**2:.9f} m"
)
print(certificate)
