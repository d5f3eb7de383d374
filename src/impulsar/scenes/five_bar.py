"""five-bar: a parallel robot of two arms, with lengths as of a DexTAR; the motions are ours.

Two arms of a about A = (-d/2, 0) and B = (d/2, 0), at angles α and β from x, and two forearms of a that meet at the
tip T, on the far side of the elbows E and F:

    E = A + a (cos α, sin α),  F = B + a (cos β, sin β),  T = (E + F)/2 + √(a² - |F - E|²/4) n,  n ⟂ F - E

An arm is straight where |T - A| = 2 a; both freedoms are lost to the tip where |F - E| = 2 a.
"""

import math

import numpy as np

from ..author.model import Model
from ..author.parts import Motor
from ..author.profiles import Harmonic
from .parts import above, rod

ARM, APART, MASS = 0.09, 0.118, 0.05  # a, d [m], of a link [kg]
OUT = (0, 0, 1)


def build(swing: float = 0.35, omega: float = 2.0) -> Model:
    """Five-bar robot: two motors at the base draw with the tip where the forearms meet.

    The left arm swings by swing · sin(omega t) [rad], the right one by swing · sin(2 omega t).
    """
    above("five-bar", -1e-300, swing=swing)
    above("five-bar", omega=omega)
    model = Model("five-bar", gravity=(0.0, -9.81, 0.0))
    A, B = np.array([-APART / 2, 0.0, 0.0]), np.array([APART / 2, 0.0, 0.0])
    up = np.array([0.0, ARM, 0.0])
    T = np.append(tip(math.pi / 2, math.pi / 2), 0.0)
    for side, base, rate in (("left", A, omega), ("right", B, 2 * omega)):
        arm = rod(model, f"{side} arm", base, base + up, MASS, radius=0.006)
        forearm = rod(model, f"{side} forearm", base + up, T, MASS, radius=0.006)
        motor = Motor(position=Harmonic(swing, rate))
        model.joint(f"{side} motor", "revolute", model.ground, arm, at=base, axis=OUT, motor=motor)
        model.joint(f"{side} elbow", "revolute", arm, forearm, at=base + up, axis=OUT)
    model.joint("tip", "revolute", "left forearm", "right forearm", at=T, axis=OUT)
    model.probe("pen", "left forearm", at=T)
    model.dt, model.duration = 0.005, 2 * math.pi / omega
    # all links dropped by the height of the tip
    model.reference_energy = 4 * MASS * 9.81 * float(T[1])
    return model


def tip(left: float, right: float) -> np.ndarray:
    """Where the forearms meet with the arms at two angles [rad], in the plane [m]."""
    E, F = (
        np.array([x + ARM * math.cos(angle), ARM * math.sin(angle)])
        for x, angle in ((-APART / 2, left), (APART / 2, right))
    )
    d = F - E
    far = float(np.linalg.norm(d))
    return (E + F) / 2 + math.sqrt(ARM**2 - far**2 / 4) * np.array([-d[1], d[0]]) / far
