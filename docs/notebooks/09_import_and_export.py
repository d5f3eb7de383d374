# %% [markdown]
# # In and out: URDF, MJCF, C
#
# `im.load` reads URDF, SDF, MJCF, USD and scene files. Nothing is lost in silence: the report lists what was ignored or
# changed, with file and line, and `strict=True` refuses it.

# %%
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import impulsar as im

folder = Path(tempfile.mkdtemp())
(folder / "arm.urdf").write_text("""<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.2"/><mass value="1.0"/>
      <inertia ixx="0.014" iyy="0.014" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.2"/><geometry><box size="0.05 0.05 0.4"/></geometry></visual>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.15"/><mass value="0.5"/>
      <inertia ixx="0.004" iyy="0.004" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.15"/><geometry><cylinder radius="0.02" length="0.3"/></geometry></visual>
  </link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <dynamics damping="0.05" friction="0.02"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.4"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="5" velocity="3"/></joint>
</robot>""")
model = im.load(folder / "arm.urdf")
print(model.import_report.shown())
model

# %%
world = im.World(model)
world.reset(q=[1.2, 0.4])  # rad
result = world.run(3.0, every=0.02, progress=False)
result.impulsar.plot("joint_position", "energy")

# %% [markdown]
# The way back: MJCF, with a list of what that format has no words for.

# %%
from impulsar.io.export.mjcf import to_mjcf

text, report = to_mjcf(im.scene("peaucellier"), 0.002)
print(text[:600], "...")
print(report.shown())

# %% [markdown]
# For a controller board or another tool: the engine's own kernel, frozen with this world's arrays, as C, C++ or an FMU.
# The bits are the engine's, nothing is allocated.

# %%
made = folder / "made"
command = ["-m", "impulsar", "export", "four-bar", "--to", "c", "--dt", "0.001", "--out", str(made)]
subprocess.run([sys.executable, *command], check=True, capture_output=True)
for path in sorted(made.iterdir()):
    print(f"{path.name:22s}{path.stat().st_size:9d} bytes")
if shutil.which("gcc"):
    sources = ["four_bar_main.c", "four_bar.c", "four_bar_kernel.o", "-lm", "-o", "four_bar"]
    subprocess.run(["gcc", "-O2", "-ffp-contract=off", *sources], cwd=made, check=True)
    print(subprocess.run(["./four_bar", "0.5"], cwd=made, capture_output=True, text=True, check=True).stdout)
