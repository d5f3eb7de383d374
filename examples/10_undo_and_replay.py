"""Undo, redo and seek in a session, kept in a journal that replays to the bit.

A `History` takes edits and steps for a world and writes them, with snapshots and hashes, to one append-only
file, which outlives a crash. `impulsar replay FILE --verify` carries it out again and compares the bits.
"""

import tempfile
from pathlib import Path

import impulsar as im

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "session.journal"
    history = im.History(im.World(im.scene("four-bar"), dt=0.01), path)
    world = history.world
    history.step(50)
    before = world.hash()
    history.apply(im.SetParameter("crank.mass", 1.0))
    history.step(50)
    print(f"t = {world.time:.2f} s with a crank of 1 kg: {world.joint('O').position:.4f} rad")

    history.undo()
    print(f"undone: t = {world.time:.2f} s, the same bits as before: {world.hash() == before}")
    history.redo()
    print(f"and again: t = {world.time:.2f} s, {world.joint('O').position:.4f} rad")
    history.seek(0.25)
    print(f"at t = {world.time:.2f} s it was {world.joint('O').position:.4f} rad")
    end = history.fork(Path(folder) / "other.journal")
    history.close()

    again = im.History.open(path)
    print(f"read back from {path.name}: t = {again.world.time:.2f} s")
    again.close()
    end.close()
