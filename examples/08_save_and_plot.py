"""Save a run as NetCDF, read it back, and draw it.

`world.run` returns an xarray.Dataset: every variable has named dimensions and a `units` attribute. The
file is plain NetCDF-4 and opens in any tool that reads it. Files go to the folder given on the command
line, else to a temporary one.
"""

import sys
import tempfile
from pathlib import Path

import impulsar as im
from impulsar import render, results

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

model = im.scene("peaucellier")
result = im.World(model).run(model.duration)  # the scene's own dt and duration
results.save(result, folder / "peaucellier.nc")
again = results.load(folder / "peaucellier.nc")

print(again["position"].sel(body="QB", axis="x").attrs)
print(f"{again.sizes['time']} samples, identical after reading: {again.identical(result)}")
off = abs(again["probe"].sel(name="path D", axis="x") - 0.2625).max()
print(f"the output point leaves its straight line by {float(off):.1e} m at most")

results.plot(again, folder / "peaucellier.png")  # energies, errors, coordinates
render.draw_motion(model, again, folder / "motion.png", stop=1.5)  # what a stroboscope would show
print("wrote", ", ".join(str(path) for path in sorted(folder.iterdir())))
