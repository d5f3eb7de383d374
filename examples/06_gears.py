"""Gears: a coupling keeps one joint coordinate in proportion to another.

Two wheels mesh from outside, so that they turn in opposite senses: output = -1/3 · input. A motor of
torque τ on the input shaft feels its own inertia and that of the output reduced by the ratio squared,

    α = τ / (I_in + I_out / 9)

With a slide on one side the same call is a rack and pinion; the ratio is then in m/rad or rad/m.
"""

import impulsar as im

torque, inertia_in, inertia_out, ratio = 0.3, 2e-3, 18e-3, -1 / 3  # N m, kg m²

model = im.Model("gears")
small = model.body("small", mass=1.0, inertia=(2e-3, 2e-3, inertia_in), position=(0, 0, 0))
large = model.body("large", mass=3.0, inertia=(9e-3, 9e-3, inertia_out), position=(0.2, 0, 0))
motor = im.Motor(torque=torque)
model.joint("input", "revolute", model.ground, small, at=(0, 0, 0), axis=(0, 0, 1), motor=motor)
model.joint("output", "revolute", model.ground, large, at=(0.2, 0, 0), axis=(0, 0, 1))
model.coupling("mesh", "input", "output", ratio=ratio)

world = im.World(model, dt=0.001)
world.step(1000)
driver, driven = world.joint("input"), world.joint("output")
exact = torque / (inertia_in + ratio**2 * inertia_out) * world.time
print(f"input {driver.velocity:.6f} rad/s, closed form {exact:.6f} rad/s")
print(f"output / input: speeds {driven.velocity / driver.velocity:.6f}, angles {driven.position / driver.position:.6f}")
print(f"work of the motor {world.energy().work['input motor']:.4f} J, kinetic {world.energy().kinetic:.4f} J")
