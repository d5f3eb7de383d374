"""Choose a motor and a gear for a motion, and a counterweight that takes torque off it.

Of a table the smallest motor is chosen that is not too warm, too weak or too slow, with the ratio at which it is used
least.
"""

import math

import impulsar as im
from impulsar.optimise import MotorType, balance, choose_motor, load_of

OMEGA = 3.0  # [rad/s]
PERIOD = 2.0 * math.pi / OMEGA
model = im.Model("arm", gravity=(0, 0, -9.81))
arm = model.body("arm", 2.0, inertia=(0.01, 0.01, 0.001), position=(0, 0, -0.5))
counter = model.body("counter", 0.1, inertia=(1e-4, 1e-4, 1e-4), position=(0, 0, 0.2))
model.joint("hinge", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 1, 0))
model.joint("weld", "fixed", arm, counter, at=(0, 0, 0.2))


def swing(t: float) -> tuple[float, float, float]:
    """Position, speed and acceleration at a time."""
    s, c = math.sin(OMEGA * t), math.cos(OMEGA * t)
    return 0.8 * s, 0.8 * OMEGA * c, -0.8 * OMEGA**2 * s


load = load_of(model, "hinge", swing, PERIOD, samples=20)
print(f"at the joint: peak {load.peak:.2f} N m, rms {load.rms:.2f} N m, power up to {load.power.max():.1f} W")
motors = [MotorType("S", 0.008, 0.03, 500.0, 3e-6), MotorType("M", 0.16, 0.5, 450.0, 1.5e-5)]
choices = choose_motor(load, motors, efficiency=0.9)
for choice in choices:
    print(f"{choice.motor.name}: ratio {choice.ratio:.0f}, {choice.use:.0%} used {choice.why}")
found = balance(model, "hinge", swing, PERIOD, {"counter.mass": (0.01, 10.0)}, samples=12)
told = f"rms {found.before.rms:.2f} -> {found.load.rms:.2f} N m"
print(f"a counterweight of {found.values['counter.mass']:.2f} kg: {told}")
