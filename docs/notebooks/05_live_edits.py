# %% [markdown]
# # Change it while it runs, undo, replay
#
# Every change is an edit between two steps: a joint becomes another kind, parts come and go, numbers change. Poses and
# velocities stay, and the answer says what energy the new constraints took.

# %%
import tempfile
from pathlib import Path

import impulsar as im

world = im.World(im.scene("ten-pendula", start="horizontal"), dt=0.01)
world.step(40)
for changes in ({"type": "spherical"}, {"type": "fixed"}, {"type": "revolute", "axis": (1, 0, 0)}):
    answer = world.change("hinge5", **changes)
    print(f"t = {world.time:.2f} s: {answer.text}; {answer.energy:+.2e} J")
    world.step(20)
world

# %% [markdown]
# A `History` keeps steps and edits in an append-only journal. Undo goes back to the bits before, redo to those after,
# and the file replays to the same bits on another day.

# %%
folder = Path(tempfile.mkdtemp())
history = im.History(im.World(im.scene("four-bar"), dt=0.01), folder / "session.journal")
world = history.world
history.step(50)
before = world.hash()
history.apply(im.SetParameter("crank.mass", 1.0))
history.step(50)
after = world.hash()
print(f"t = {world.time:.2f} s with a crank of 1 kg: {world.joint('O').position:.6f} rad")

history.undo()
print(f"undone: t = {world.time:.2f} s, the same bits: {world.hash() == before}")
history.redo()
print(f"redone: t = {world.time:.2f} s, the same bits: {world.hash() == after}")
history.seek(0.25)
print(f"at t = {world.time:.2f} s it was {world.joint('O').position:.6f} rad")
history.close()

# %%
again = im.History.open(folder / "session.journal")
print(f"read back: t = {again.world.time:.2f} s, {again.world.joint('O').position:.6f} rad")
again.close()

# %% [markdown]
# A hand pulls at a body through a spring, as the mouse does in the studio. Its work is an entry of the books.

# %%
world = im.World(im.scene("ten-pendula"), dt=0.005)
hand = world.grab("link10", stiffness=50.0)
hand.move((0.25, 0.0, -0.35))
result = world.run(1.5, every=0.02, progress=False)
hand.release()
result.impulsar.plot("energy", "hand_force")
