"""What a start loads."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import impulsar as im
from impulsar.engine.collector import uncollected

PROBE = """
import gc, json, sys
import impulsar as im
world = im.World(im.scene("ten-pendula"))
world.step()
touching = ("integrate.contacts", "integrate.touching", "solve.islands", "solve.coulomb", "start.overlaps")
loaded = [name for name in sys.modules if name.endswith((*touching, "edits.drag_contacts"))]
print(json.dumps([loaded, gc.isenabled()]))
"""


def test_a_world_without_contact_loads_none_of_it(tmp_path):
    """Where nothing touches no code of contacts is loaded; the collector, which imports pause, is on again."""
    environment = os.environ | {"PYTHONPATH": str(Path(im.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", PROBE], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], True]


def test_the_collector_is_left_as_it_was():
    """On again after what raises, too; off where it was off."""
    with pytest.raises(ValueError, match="inside"), uncollected():
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_studio_loads_no_large_worlds():
    """Nor SciPy, which they need: a quarter of a second of its start."""
    probe = "import sys, impulsar.studio.session, impulsar.studio.server; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    assert "impulsar.studio.large.desk" in loaded
    assert not {"scipy", "impulsar.engine.large.plan", "impulsar.scale.large.world"} & set(loaded)
