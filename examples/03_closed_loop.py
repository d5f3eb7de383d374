"""A four-bar driven by a motor: a closed loop, its constraint error, and the path of a point.

The scene is a plain model: four hinges O, A, B, C around a ring of three bars and ground. The builder
finds that one of them closes a loop and keeps it by rows. Here the hinge at O gets a motor that drives
the crank at a turn per second. The pin B must be where the circles of coupler (about A) and rocker (about C)
meet, whatever the dynamics do: that is the closed form. Complex numbers are points of the x-y plane.
"""

import cmath
import math
import sys
import tempfile
from pathlib import Path

import impulsar as im
from impulsar import results

CRANK, COUPLER, ROCKER, GROUND = 0.1, 0.25, 0.2, 0.25  # m


def pin(angle: float) -> complex:
    """Where B is at an angle of the crank [rad]."""
    a = cmath.rect(CRANK, angle)
    far = abs(GROUND - a)
    along = (COUPLER**2 - ROCKER**2 + far**2) / (2 * far)
    return a + (along + 1j * math.sqrt(COUPLER**2 - along**2)) * (GROUND - a) / far


model = im.scene("four-bar", angle_deg=60)
model.joints["O"].features["angle"].motor = im.Motor(speed=2 * math.pi)  # rad/s
result = im.World(model, dt=0.001).run(1.0, every=0.01)

crank = math.pi / 3 + result["joint_position"].sel(coordinate="O").values
path = result["probe"].sel(name="path B").values
off = max(abs(complex(x, y) - pin(angle)) for angle, (x, y, _) in zip(crank, path, strict=True))
worst = float(result["constraint_error"].max())
print(f"B is within {off:.1e} m of where the circles meet; worst constraint error {worst:.1e} m and rad")
results.plot(result, picture := Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "four-bar.png")
print("energies, coordinates and reactions are in", picture)
