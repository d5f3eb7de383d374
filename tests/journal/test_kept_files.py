"""Files of earlier programs, kept as they were written (tools/keep_files.py): they open, and end where they ended."""

import json
import lzma
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar.engine.machine import machine_key
from impulsar.history.history import History
from impulsar.history.journal import VERSION, Reader
from impulsar.history.replay import replay
from impulsar.io import model_to_json

KEPT = Path(__file__).parents[1] / "data" / "0.1.0"
JOURNALS = sorted(str(path.relative_to(KEPT))[: -len(".journal.xz")] for path in KEPT.glob("*/*.journal.xz"))
SCENES = sorted(str(path.relative_to(KEPT)) for path in KEPT.glob("*/*.json.xz") if "ends" not in path.name)
TODAY = "80ce5a3"  # whose physics is the present one
BITS, ELSEWHERE = 0.0, 1e-12  # on the machine that wrote them, and on others [m, m/s, rad/s]
ANEW = ("chain-direct", "chain-simgc", "five-link-direct", "peaucellier-direct")  # last bits recorded anew since: 4e-13
# Physics was corrected between the first journals and TODAY (motors keep to their bounds, soft rows are taken midway,
# sub-steps beside friction have order 2). A journal holds what was done, not what came of it: it replays to where the
# same session ends today. But for these:
TOLERANCE = 1e-6  # `direct` steps to 1e-7 of velocities of 1 m/s, 1 rad/s, by rows that it chose otherwise then
DRAGGED = ("five-link-direct", "four-bar-direct", "manipulator-direct", "peaucellier-direct", "four-bar-simmc")
# ... which drag a body to 1 mm from where the physics of then had brought it: another session today.


@cache
def kept(folder: str) -> dict:
    return json.loads(lzma.decompress((KEPT / folder / "ends.json.xz").read_bytes()))


def expected(name: str) -> float:
    """How near to the end of the same session today a journal should replay."""
    folder, _, session = name.partition("/")
    if folder != TODAY and session == "cross-lift-direct":
        return TOLERANCE
    return BITS if kept(TODAY)["machine"] == machine_key() and session not in ANEW else ELSEWHERE


def ends_elsewhere(name: str) -> bool:
    folder, _, session = name.partition("/")
    return folder != TODAY and session in DRAGGED


def unpacked(name: str, folder: Path) -> Path:
    path = folder / name.partition("/")[2].removesuffix(".xz")
    path.write_bytes(lzma.decompress((KEPT / f"{name.removesuffix('.xz')}.xz").read_bytes()))
    return path


def apart(name: str, world: im.World) -> float:
    """Largest difference of a position, orientation or velocity from where the session ends today.

    Of one that is another today there is none to compare: it has come to its end, and its joints hold.
    """
    folder, _, session = name.partition("/")
    then = kept(folder if ends_elsewhere(name) else TODAY)["ends"][session]
    assert world.time == pytest.approx(then["time"], abs=1e-9)
    assert set(world.model.bodies) == set(then["bodies"])
    if ends_elsewhere(name):
        assert world.constraint_error() < 1e-6
        return 0.0
    return max(
        float(np.abs(np.asarray(getattr(world.body(body), what)) - np.asarray(value)).max())
        for body, values in then["bodies"].items()
        for what, value in values.items()
    )


def test_everything_is_kept():
    """Three programs, every method in its coordinates, journals of versions 1 and 2, in few bytes."""
    assert {name.partition("/")[0] for name in JOURNALS} == {"4f6424f", "2bacd14", "80ce5a3"}
    assert len(JOURNALS) == 31 and len(SCENES) == 14
    assert sum(path.stat().st_size for path in KEPT.rglob("*.xz")) < 200_000


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_replays_to_where_its_session_ended(name, tmp_path):
    """To the bit where none were recorded anew; and so are the snapshots on the way, where no physics was corrected."""
    path = unpacked(f"{name}.journal", tmp_path)
    assert Reader(path).version == (1 if name.startswith("4f6424f") else 2) < VERSION
    found = replay(path, verify=True)
    assert apart(name, found.history.world) <= expected(name)
    if name.startswith(TODAY) and expected(name) == BITS:
        assert not found.wrong


@pytest.mark.parametrize("name", JOURNALS)
def test_a_session_goes_on_from_an_old_journal(name, tmp_path):
    """It is opened at its end, written anew in the present version, and goes on there with the same bits."""
    path = unpacked(f"{name}.journal", tmp_path)
    history = History.open(path)
    if name.startswith(TODAY):  # from an older one's last snapshot on, which is one of then
        assert apart(name, history.world) <= expected(name)
    assert Reader(path).version == VERSION
    history.step(5)
    end = history.world.hash()
    history.close()
    again = History.open(path)
    assert again.world.hash() == end
    again.close()
    if name.startswith(TODAY) and expected(name) == BITS:  # else its first steps have other bits than it had then
        found = replay(path, verify=True)
        assert not found.wrong and found.checks and found.history.world.hash() == end


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.filterwarnings("ignore:.*names are unique:UserWarning")
def test_a_scene_file_opens(name, tmp_path):
    """It has all parts that its program's scene had, and what is written of it is read again as it is."""
    path = unpacked(name, tmp_path)
    model = im.load_model(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    for parts in ("bodies", "joints", "springs", "loads", "probes", "couplings"):
        assert len(getattr(model, parts)) == len(data.get(parts, []))
    im.World(model)
    im.save_model(model, tmp_path / "again.json")
    assert model_to_json(im.load_model(tmp_path / "again.json")) == model_to_json(model)


def test_names_that_two_kinds_shared_are_told_apart(tmp_path):
    """The crank's joint was called as the body is; what refers to it follows."""
    path = unpacked("2bacd14/peaucellier.json.xz", tmp_path)
    with pytest.warns(UserWarning, match="joint 'crank' is called 'crank joint' from now on"):
        model = im.load_model(path)
    assert "crank" in model.bodies and "crank joint" in model.joints


def test_a_torn_old_journal_is_cut_and_stays_of_its_version(tmp_path):
    """`recover` writes nothing anew: what is before the damage is as it was."""
    from impulsar.history.replay import recover

    path = unpacked("2bacd14/batch.journal", tmp_path)
    raw = path.read_bytes()
    path.write_bytes(raw + b"torn")
    assert recover(path).bytes == 4
    assert path.read_bytes() == raw
    shutil.copy(path, tmp_path / "copy.journal")
    assert not replay(tmp_path / "copy.journal", verify=True).wrong
