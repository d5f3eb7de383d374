"""Many mechanisms in one launch: how far does a rocker swing, for 64 four-bars of other lengths?

The crank of each turns once by its motor. `im.sweep` samples the lengths by a Sobol sequence, builds the four-bars as
worlds of one batch, closes their loops and runs them side by side. At the ends of the swing crank and coupler are in
line, so that cos ψ = (c² + g² - (b ± a)²) / 2 c g. Rows go into a store as they come: run it again, and it is there at
once. Leave out `workers=0` and the batches run on all cores, or give any executor: docs/cluster.md.
"""

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

import impulsar as im

model = im.scene("four-bar")
for name, part, length in (("a", "crank", 0.1), ("b", "coupler", 0.25), ("c", "rocker", 0.2)):
    model.parameter(name, length, unit="m")
    model.expression(f"{part}.length", name)
model.joints["O"].features["angle"].motor = im.Motor(speed=2 * math.pi)

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    lengths = {"a": (0.08, 0.1), "b": (0.24, 0.26), "c": (0.19, 0.21)}
    measure = {"low": "min joint.C.position", "high": "max joint.C.position"}
    options = {"design": "sobol", "samples": 64, "duration": 1.0, "dt": 0.005, "workers": 0}
    found = im.sweep(model, lengths, measure, store=folder / "swing.zarr", **options)

    a, b, c, g = found["a"], found["b"], found["c"], 0.25
    near, far = (np.arccos((c**2 + g**2 - (b + sign * a) ** 2) / (2 * c * g)) for sign in (-1, 1))
    swing = found["high"] - found["low"]
    print(f"{found.sizes['case']} four-bars, {int((found['error'] != '').sum())} broke")
    print(f"rockers swing by {np.degrees(swing.min()):.3f}° to {np.degrees(swing.max()):.3f}°")
    print(f"from the closed form at most {np.degrees(abs(swing - (far - near)).max()):.4f}° off")
