"""Journals from anyone: changed and sealed again with right crcs, flipped bit by bit, ended by zeros.

Each is opened in a process of its own (`openings`). Sealed ones are opened or refused by a named error,
without a signal, another exception, 5 s or a gibibyte. Of damaged ones the part before the damage is kept
on request, and all of the rest is put aside.
"""

import copy
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from impulsar.author.profiles import Ramp
from impulsar.edits import ApplyLoad, ChangeJoint, Grab, Move, SetParameter
from impulsar.history import history as module
from impulsar.history.history import History
from impulsar.history.journal import FIRST_LINE, FRAME, VERSION, Reader, Record, frame
from impulsar.scenes import scene
from impulsar.validate.case import Case
from impulsar.world.world import World

from .openings import BAD, OPENED, Opener, Opening, opener
from .sessions import TIP, pendula, session

CHANGED = 600
FLIPS = 200
ZERO_TAILS = 50
_told: list[str] = []  # table of the last campaign

Records = list[Record]


# sessions to be changed -------------------------------------------------------------------------------


def plain_session(path: Path) -> None:
    """Edits of many kinds on a chain."""
    history = History(World(pendula(), dt=0.002), path, hash_steps=50)
    session(history)
    history.undo()
    history.step(10)
    history.close()


def loop_session(path: Path) -> None:
    """Loops with idle rows, a hand on a ramp, a load, and a seek back."""
    history = History(World(scene("cross-lift")), path, hash_steps=10)
    body = next(iter(history.world.model.bodies))
    history.apply(Grab("hand", body, stiffness=50.0))
    history.apply(Move("hand", Ramp(None, (0.1, 0.0, 0.2), 0.0, 1.0)))
    history.step(25)
    history.apply(ApplyLoad("wind", body, force=(0.0, 0.0, 0.1)))
    history.step(25)
    history.seek(0.2)
    history.apply(SetParameter(f"{body}.mass", 1.5))
    history.step(10)
    history.close()


def callable_session(path: Path) -> None:
    """A callable, whose values are records, and a script."""
    model = pendula()
    model.load("push", "link3", force=lambda t: (0.1 * math.sin(5 * t), 0.0, 0.05))
    model.at(0.05, Grab("scripted", "link1", TIP, stiffness=5.0))
    history = History(World(model), path, hash_steps=10)
    history.step(20)
    history.apply(SetParameter("link2.mass", 0.12))
    history.step(20)
    history.close()


def batch_session(path: Path) -> None:
    """Three worlds by another method."""
    history = History(World(pendula(), "simmc", dt=0.002, worlds=3), path, hash_steps=10)
    history.step(10)
    history.apply(SetParameter("link2.mass", np.array([0.1, 0.2, 0.3])))
    history.apply(ChangeJoint("hinge2", {"type": "spherical"}))
    history.step(20)
    history.limit_work(50)
    history.step(10)
    history.close()


SESSIONS = {"plain": plain_session, "loop": loop_session, "callable": callable_session, "batch": batch_session}


def recorded(folder: Path) -> dict[str, Path]:
    """A journal of every session, with more than one snapshot in it."""
    before = module.SNAPSHOT_EVENTS
    module.SNAPSHOT_EVENTS = 3
    try:
        for name, make in SESSIONS.items():
            make(folder / f"{name}.base")
    finally:
        module.SNAPSHOT_EVENTS = before
    return {name: folder / f"{name}.base" for name in SESSIONS}


def records_of(path: Path) -> Records:
    """The records of a journal, to be changed."""
    return [(entry.data, entry.arrays) for entry in Reader(path).entries]


def seal(records: Records) -> bytes:
    """A journal of these records, with right crcs."""
    parts, crc = [FIRST_LINE % VERSION], 0
    for data, arrays in records:
        parts.append(frame(data, arrays, crc))
        crc = FRAME.unpack_from(parts[-1])[1]
    return b"".join(parts)


# changes by hand --------------------------------------------------------------------------------------


def _of_kind(records: Records, kind: str) -> list[int]:
    return [k for k, (data, _) in enumerate(records) if data["record"] == kind]


def _put(node: Any, path: str, value: Any) -> None:
    *way, last = path.split("/")
    for key in way:
        node = node[int(key) if isinstance(node, list) else key]
    node[int(last) if isinstance(node, list) else last] = value


def put(kind: str, path: str, value: Any, which: int = 0) -> Callable[[Records], None]:
    """Put a value into the JSON of a record of a kind."""

    def change(records: Records) -> None:
        k = _of_kind(records, kind)[which]
        data = copy.deepcopy(records[k][0])
        _put(data, path, value)
        records[k] = data, records[k][1]

    return change


def in_snapshots(path: str, value: Any) -> Callable[[Records], None]:
    """Put a value into every snapshot."""

    def change(records: Records) -> None:
        for which in range(len(_of_kind(records, "snapshot"))):
            put("snapshot", f"snapshot/{path}", value, which)(records)

    return change


def _raw_arrays(node: Any, place: str = "") -> Iterator[tuple[str, dict]]:
    """The arrays of a snapshot by the names that lead to them, in the order of their bytes."""
    if isinstance(node, dict) and "dtype" in node:
        yield place, node
    elif isinstance(node, dict | list):
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _raw_arrays(item, f"{place}/{key}")


def numbers(name: str, spoil: Callable[[np.ndarray], None], kind: str | None = None) -> Callable[[Records], None]:
    """Change an array of every snapshot in place, or all of the state, or call its bytes another kind."""

    def change(records: Records) -> None:
        for k in _of_kind(records, "snapshot"):
            data, raw = copy.deepcopy(records[k][0]), bytearray(records[k][1])
            at = 0
            for place, entry in _raw_arrays(data["snapshot"]):
                size = np.dtype(entry["dtype"]).itemsize * math.prod(entry["shape"])
                if name in place.split("/"):
                    spoil(np.frombuffer(raw, entry["dtype"], math.prod(entry["shape"]), at).reshape(entry["shape"]))
                    entry["dtype"] = kind or entry["dtype"]
                at += size
            records[k] = data, bytes(raw)

    return change


def fill(value: float, at: Any = ...) -> Callable[[np.ndarray], None]:
    """Write a value into an array, or into a part of it."""

    def spoil(array: np.ndarray) -> None:
        if array.size:
            array[at] = value

    return spoil


def add(data: dict[str, Any], at: int | None = None) -> Callable[[Records], None]:
    """Put a record at the end, or elsewhere."""

    def change(records: Records) -> None:
        records.insert(len(records) if at is None else at, (data, b""))

    return change


def drop(kind: str) -> Callable[[Records], None]:
    """Leave out the records of a kind."""

    def change(records: Records) -> None:
        records[:] = [record for record in records if record[0]["record"] != kind]

    return change


def edit_record(edit: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A record of an edit at the start."""
    return {"record": "edit", "step": 0, "limit": 50, "clock": 0.0, "dt": 0.002, "edit": edit} | fields


def then_hash(change: Callable[[Records], None], step: int) -> Callable[[Records], None]:
    """A change, and then a hash so many steps after the start."""

    def both(records: Records) -> None:
        del records[_of_kind(records, "snapshot")[0] + 1 :]
        change(records)
        records.append(({"record": "hash", "step": step, "position": 1, "hash": "x"}, b""))

    return both


def at(kind: str, step: int, position: int = 0) -> dict[str, Any]:
    """A record at a place."""
    return {"record": kind, "step": step, "position": position}


NULLS: list[None] = [None] * 100_000
WORLD = "world/method/options"
BY_HAND: dict[str, Callable[[Records], None]] = {
    # the header
    "a million worlds": put("header", "world/worlds", 10**6),
    "2^62 worlds": put("header", "world/worlds", 2**62),
    "no worlds": put("header", "world/worlds", 0),
    "True worlds": put("header", "world/worlds", True),
    "half a world": put("header", "world/worlds", 0.5),
    "a device that is not here": put("header", "world/device", "cuda:99"),
    "a list of devices": put("header", "world/device", ["cpu"]),
    "strict as an array": put("header", "world/strict", {"array": [[1.0, 2.0]]}),
    "coordinates as a number": put("header", "world/coordinates", 5),
    "dt as a text": put("header", "world/dt", "soon"),
    "a negative clamp": put("header", "world/max_speed", -1.0),
    "an unknown option": put("header", "world/budget", 1.0),
    "an unknown method": put("header", "world/method/method", "magic"),
    "a method without end": put("header", f"{WORLD}/iterations", 10**9),
    "iterations as a text": put("header", f"{WORLD}/iterations", "many"),
    "an option as an array": put("header", f"{WORLD}/epsilon", {"array": [[1.0, 2.0]]}),
    "no world in the header": put("header", "world", None),
    "no header": drop("header"),
    "two headers": add({"record": "header"}, at=1),
    # models
    "a model without bodies": put("model", "model/bodies", []),
    "no model": drop("model"),
    "a model of another number": put("model", "number", 7, which=-1),
    "a model that is a list": put("model", "model", [1, 2]),
    "a model whose joint holds a stranger": put("model", "model/joints/0/first", "stranger"),
    "a name with an escape sequence": put("model", "model/bodies/0/name", "\x1b]52;c;x\x07"),
    "a mass of zero in the model": put("model", "model/bodies/0/mass", 0.0),
    # index arrays
    "slot_trees begins with 8": numbers("slot_trees", fill(8, (0, 0))),
    "slot_trees of 6": numbers("slot_trees", fill(6)),
    "slot_trees of -5": numbers("slot_trees", fill(-5)),
    "slot_trees of 2^31 - 1": numbers("slot_trees", fill(2**31 - 1)),
    "slot_trees of hands": numbers("slot_trees", fill(7, (slice(-3, None), 0))),
    "slot_trees of hands, second": numbers("slot_trees", fill(0, (slice(-3, None), 1))),
    "slot_trees of zeros": numbers("slot_trees", fill(0)),
    "hand_body one too many": numbers("hand_body", fill(7)),
    "hand_body of a thousand": numbers("hand_body", fill(1000)),
    "hand_body -1": numbers("hand_body", fill(-1)),
    "hand_body far below": numbers("hand_body", fill(-(2**31))),
    "hand_body of nobody": numbers("hand_body", fill(-2)),
    "load_body one too many": numbers("load_body", fill(7)),
    "load_body -1": numbers("load_body", fill(-1)),
    "load_in_body of 7": numbers("load_in_body", fill(7)),
    "hand_body as float": put("snapshot", "snapshot/topology/dict/hand_body/dtype", "<f8"),
    "no slot_trees": put("snapshot", "snapshot/topology/dict/slot_trees", None),
    "slot_trees as a text": put("snapshot", "snapshot/topology/dict/slot_trees", "all"),
    # other arrays
    "a state of NaN": numbers("state", fill(math.nan)),
    "a state of infinity": numbers("state", fill(math.inf, 0)),
    "a state of 1e308": numbers("state", fill(1e308)),
    "a state of zeros": numbers("state", fill(0.0)),
    "a state of tiny numbers": numbers("state", fill(5e-324)),
    "a state of integers": numbers("state", fill(0.0), "<i8"),
    "masses of zero": numbers("mass", fill(0.0)),
    "negative masses": numbers("mass", fill(-1.0)),
    "masses of 1e-308": numbers("mass", fill(1e-308)),
    "masses of NaN": numbers("mass", fill(math.nan)),
    "inertias of zero": numbers("inertia", fill(0.0)),
    "gravity of 1e308": numbers("gravity", fill(1e308)),
    "frames of zero": numbers("q_PF", fill(0.0)),
    "parameters of integers": numbers("mass", fill(1.0), "<i8"),
    "a parameter that is not there": put("snapshot", "snapshot/parameters/dict/magic", 1.0),
    "a parameter that is a text": put("snapshot", "snapshot/parameters/dict/mass", "heavy"),
    "slot_a of infinity": numbers("slot_a", fill(math.inf)),
    "slot_b of -1e300": numbers("slot_b", fill(-1e300)),
    "reactions of NaN": numbers("reaction", fill(math.nan)),
    "an acceleration that is a list": put("snapshot", "snapshot/acceleration", [1.0]),
    "a block of no dimension": put("snapshot", "snapshot/state/dict/q/shape", []),
    "a block of eight dimensions": put("snapshot", "snapshot/state/dict/v/shape", [2**31] * 8),
    "a block that is not there": put("snapshot", "snapshot/state/dict/magic", 1.0),
    "a block that is a text": put("snapshot", "snapshot/state/dict/work", "hard"),
    "no coordinates": put("snapshot", "snapshot/state/dict/q", None),
    "one array for all blocks": put("snapshot", "snapshot/state", {"dtype": "<f8", "shape": [7, 1]}),
    "slots of a stranger": in_snapshots("slots/0/0", "stranger"),
    "slots of an unknown kind": in_snapshots("slots/0/1", "magic"),
    "slots that are all alike": lambda records: in_snapshots("slots", [["hand 0", "hand", 0]] * 50)(records),
    "slots of numbers": in_snapshots("slots", [1, 2, 3]),
    "no slots": in_snapshots("slots", []),
    "slots as a text": in_snapshots("slots", "all"),
    "a hundred thousand slots": in_snapshots("slots", NULLS),
    "blocks of an unknown method": in_snapshots("methods", ["magic"]),
    "blocks of no method": in_snapshots("methods", []),
    "methods as a number": in_snapshots("methods", 3),
    # the rest of a snapshot
    "idle slots beyond": in_snapshots("idle", {"tuple": [10**6]}),
    "idle slots below": in_snapshots("idle", {"tuple": [-1]}),
    "idle hands": in_snapshots("idle", {"tuple": list(range(200))}),
    "idle as a text": in_snapshots("idle", {"tuple": ["x"]}),
    "100,000 hands": in_snapshots("hands", NULLS),
    "100,000 loads": in_snapshots("loads", NULLS),
    "no hands": in_snapshots("hands", []),
    "hands of numbers": in_snapshots("hands", [1, 2]),
    "hands of one name": in_snapshots("hands", ["a", "a"]),
    "channels of texts": in_snapshots("channels/0", "x"),
    "channels of three components": in_snapshots(
        "channels/0", {"profile": "ramp", "start": [0, 0, 0], "end": [1, 1, 1], "t0": 0, "t1": 1}
    ),
    "channels of ramps without start": in_snapshots("channels/0", {"profile": "ramp", "end": 1, "t0": 0, "t1": 1}),
    "channels of the 6th component": in_snapshots("channels/0", {"component": {"number": 0}, "index": 5}),
    "channels of component -9": in_snapshots("channels/0", {"component": {"number": 0}, "index": -9}),
    "channels of callable 9999": in_snapshots("channels/0", {"component": {"number": 9999}, "index": 0}),
    "channels of models": in_snapshots("channels/0", {"model": 0}),
    "coordinates of another kind": in_snapshots("coordinates", "polar"),
    "a limit of work of 0": in_snapshots("work_limit", 0),
    "a limit of work of 2^62": in_snapshots("work_limit", 2**62),
    "a negative number of steps": in_snapshots("steps", -1),
    "steps that do not add up": in_snapshots("steps", 10**6),
    "a lag of 10^15": put("snapshot", "lag", 10**15),
    "a script beyond its end": in_snapshots("script_position", 10**6),
    "a script before its start": in_snapshots("script_position", -3),
    "an infinite clock": in_snapshots("clock", "inf"),
    "a clock of 1e300": in_snapshots("clock", 1e300),
    "a step of 0": in_snapshots("dt", 0.0),
    "a step of 1e8 s": in_snapshots("dt", 1e8),
    "a step of 1e-300 s": in_snapshots("dt", 1e-300),
    "a step of infinity": in_snapshots("dt", "inf"),
    "another model": in_snapshots("model", {"model": 99}),
    "a method of another kind": in_snapshots("method", "direct"),
    "a snapshot that is nothing": put("snapshot", "snapshot", None),
    "a snapshot before the start": put("snapshot", "step", -5),
    "snapshots at a negative position": put("snapshot", "position", -1),
    # places
    "a hash at step 10^12": add(at("hash", 10**12)),
    "a hash at step 10^9": add(at("hash", 10**9)),
    "a hash at step 10^6": add(at("hash", 10**6)),
    "a go to step 10^12": add(at("go", 10**12)),
    "a go to step 2^70": add(at("go", 2**70)),
    "a go to position 10^9": add(at("go", 0, 10**9)),
    "a go before the start": add(at("go", -1)),
    "a cut at a text": add({"record": "cut", "step": "x", "position": 0}),
    "a hash at nothing": add({"record": "hash"}),
    "an unknown record": add({"record": "magic", "step": 0}),
    "a record named by a sequence": add({"record": "\x1b[2J", "step": 0}),
    "1,000 moves along it": lambda records: records.extend((at("go", 0 if k % 2 else 50), b"") for k in range(1000)),
    # edits
    "an edit at step 10^12": add(edit_record({"edit": "SetStep", "dt": 0.001}, step=10**12)),
    "an edit of nothing": add(edit_record({})),
    "an edit with a limit of 0": add(edit_record({"edit": "SetStep", "dt": 0.001}, limit=0)),
    "an edit with an infinite clock": add(edit_record({"edit": "SetStep", "dt": 0.001}, clock="inf")),
    "an edit with a step of 0": add(edit_record({"edit": "SetStep", "dt": 0.001}, dt=0.0)),
    "an edit that reverts a list": add(edit_record({"edit": "SetStep", "dt": 0.001}, reverts=[1])),
    "an edit whose inverse is junk": add(edit_record({"edit": "SetStep", "dt": 0.001}, inverse=[1])),
    "steps of 1e8 s": then_hash(add(edit_record({"edit": "SetStep", "dt": 1e8})), 100),
    "a billion sub-steps": then_hash(
        add(edit_record({"edit": "SetMethod", "method": "direct", "options": {"substeps": 10**9}})), 100
    ),
    "a billion iterations": then_hash(
        add(edit_record({"edit": "SetMethod", "method": "simgc", "options": {"iterations": 10**9, "epsilon": 0.0}})),
        100,
    ),
    "sub-steps of 1e-300 s": then_hash(
        add(edit_record({"edit": "SetMethod", "method": "simgc", "options": {"max_step": 1e-300}})), 100
    ),
    "a limit of 2^62": add({"record": "limit", "step": 0, "limit": 2**62}),
    "a limit of 0": add({"record": "limit", "step": 0, "limit": 0}),
    # samples and pauses
    "samples of nobody": add({"record": "samples", "step": 0, "number": 10**9, "samples": []}),
    "samples without values": add({"record": "samples", "step": 0, "number": 0, "samples": [[0.0, []]]}),
    "samples of texts": add({"record": "samples", "step": 0, "number": 0, "samples": [[0.0, "abc"]]}),
    "samples of one value": add({"record": "samples", "step": 30, "number": 0, "samples": [[0.15, [1.0]]]}),
    "a pause of 3": add({"record": "pause", "paused": 3}),
}


# changes at random ------------------------------------------------------------------------------------

JUNK: tuple[Any, ...] = (
    *(-1, 0, 1, 2, 7, 8, 63, 10**6, 10**9, 10**12, 2**31 - 1, 2**31, 2**63, -(2**63), 2**64),
    *(0.5, -0.0, 1e-308, 1e308, -1e308, 1e8, "inf", "-inf", "", "x", "\x00", "\x1b[2J", True, False, None),
    *([], {}, [0] * 3, [[]], {"array": [[1.0]]}, {"model": 1}, {"tuple": []}, {"dict": {}}, {"dtype": "<i4"}),
)
INDICES = (-3, -2, -1, 0, 1, 2, 6, 7, 8, 100, 2**16, 2**31 - 1, -(2**31))


def _change_json(rng: np.random.Generator, data: Any) -> Any:
    """A copy with one value, somewhere, replaced, scaled, dropped or doubled."""
    data = copy.deepcopy(data)
    node: Any = None
    key: Any = None
    inside = data
    while isinstance(inside, dict | list) and inside and (node is None or rng.random() < 0.85):
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        node, key = inside, keys[int(rng.integers(len(keys)))]
        inside = node[key]
    if node is None:
        return data
    way = rng.random()
    if way < 0.15:
        del node[key]
    elif way < 0.25 and isinstance(node, list):
        node += [copy.deepcopy(inside)] * int(rng.integers(1, 50))
    elif way < 0.5 and isinstance(inside, int | float):
        node[key] = type(inside)(inside * rng.choice([-1, 2, 10, 1000])) + 1
    else:
        node[key] = copy.deepcopy(JUNK[int(rng.integers(len(JUNK)))])
    return data


def _change_bytes(rng: np.random.Generator, raw: bytes) -> bytes:
    """Raw arrays with some numbers replaced, or cut, or longer."""
    changed = bytearray(raw)
    if rng.random() < 0.1 or len(raw) < 16:
        return bytes(changed[: int(rng.integers(len(raw) + 1))] + bytes(int(rng.integers(64))))
    for _ in range(int(rng.integers(1, 20))):
        if rng.random() < 0.6:
            k = 4 * int(rng.integers(len(raw) // 4))
            changed[k : k + 4] = np.int32(rng.choice(INDICES)).tobytes()
        else:
            k = 8 * int(rng.integers(len(raw) // 8))
            changed[k : k + 8] = np.float64(rng.choice([np.nan, np.inf, 0.0, 1e300, -1e-300, 5e-324])).tobytes()
    return bytes(changed)


def change_at_random(rng: np.random.Generator, records: Records) -> None:
    """One to three changes."""
    for _ in range(int(rng.integers(1, 4))):
        k = int(rng.integers(len(records)))
        if rng.random() < 0.4:  # most of what leads a kernel is there
            k = int(rng.choice(_of_kind(records, "snapshot") or [k]))
        data, arrays = records[k]
        way = rng.random()
        if way < 0.08 and len(records) > 2:
            del records[k]
        elif way < 0.14:
            records.insert(int(rng.integers(len(records))), (data, arrays))
        elif way < 0.45 and arrays:
            records[k] = data, _change_bytes(rng, arrays)
        else:
            changed = _change_json(rng, data)
            records[k] = changed | {"record": changed.get("record", "")}, arrays


# campaigns --------------------------------------------------------------------------------------------


def _tally(name: str, found: Counter, slowest: float) -> None:
    parts = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
    _told.append(f"{name}: {parts}; slowest {slowest:.1f} s")


def _open_all(process: Opener, name: str, made: Iterator[tuple[str, bytes]], folder: Path) -> int:
    """Open journals as `replay` and as the studio do; how many ended badly."""
    found: dict[str, Counter] = {way: Counter() for way in ("replay", "open")}
    slowest, bad = 0.0, 0
    for k, (what, raw) in enumerate(made):
        path = folder / f"{k}.journal"
        path.write_bytes(raw)
        for way in ("replay", "open"):
            ended = process.ask(way, path)
            found[way][ended.outcome] += 1
            slowest = max(slowest, ended.seconds)
            if ended.outcome in BAD:
                bad += 1
                _told.append(f"  {what}, {way}: {ended.outcome} after {ended.seconds:.1f} s: {ended.text[-1500:]}")
        path.unlink()
    for way, counts in found.items():
        _tally(f"{name}, {way}", counts, slowest)
    return bad


def _by_hand(bases: dict[str, Path]) -> Iterator[tuple[str, bytes]]:
    for name, change in BY_HAND.items():
        for base, path in bases.items():
            records = records_of(path)
            try:
                change(records)
            except (KeyError, IndexError):  # this session has nothing of the kind
                continue
            yield f"{name} ({base})", seal(records)


def _at_random(bases: dict[str, Path], count: int) -> Iterator[tuple[str, bytes]]:
    names = list(bases)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        base = names[seed % len(names)]
        records = records_of(bases[base])
        change_at_random(rng, records)
        yield f"seed {seed} ({base})", seal(records)


def sealed_journals(device: str, changed: int = CHANGED, by_hand: list[str] | None = None) -> float:
    """Changed journals, sealed again, that end in a signal, an exception without a name, 5 s or a gibibyte."""
    _told.clear()
    with tempfile.TemporaryDirectory() as name, opener() as process:
        folder = Path(name)
        bases = recorded(folder)
        bad = _open_all(process, "as they were", ((base, path.read_bytes()) for base, path in bases.items()), folder)
        made = _by_hand(bases)
        if by_hand is not None:
            made = ((what, raw) for what, raw in made if what.rpartition(" (")[0] in by_hand)
        bad += _open_all(process, "by hand", made, folder)
        bad += _open_all(process, "at random", _at_random(bases, changed), folder)
        return float(bad)


def _kept(path: Path, raw: bytes, whole: int, ended: Opening) -> bool:
    """Whether a damaged journal was opened up to its damage and the rest put aside; or is as it was, refused."""
    aside = path.with_name(f"{path.name}.torn")
    if ended.outcome != OPENED:
        return ended.outcome not in BAD and path.read_bytes() == raw and not aside.exists()
    return path.read_bytes()[:whole] == raw[:whole] and aside.read_bytes() == raw[whole:]


def damaged_journals(device: str, flips: int = FLIPS, tails: int = ZERO_TAILS) -> float:
    """Journals with a flipped bit, or zeros from somewhere on, of which not all before that is kept on request."""
    _told.clear()
    rng = np.random.default_rng(0)
    found: dict[str, Counter] = {"flips": Counter(), "zero tails": Counter()}
    lost, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as name, opener() as process:
        folder = Path(name)
        path = folder / "session.journal"
        base = recorded(folder)["plain"]
        raw = base.read_bytes()
        entries = Reader(base).entries
        first = entries[[entry.kind for entry in entries].index("snapshot") + 1].offset
        offsets = [*(entry.offset for entry in entries), len(raw)]
        for k in range(flips + tails):
            spoiled = bytearray(raw)
            what = "flips" if k < flips else "zero tails"
            place = int(rng.integers(len(raw))) if k < flips else int(rng.integers(first, len(raw)))
            if k < flips:
                spoiled[place] ^= 1 << int(rng.integers(8))
            else:
                spoiled[place:] = bytes(max(len(raw) - place, int(rng.integers(1, 8192))))
            if bytes(spoiled[: len(raw)]) == raw:
                place = len(raw)  # zeros behind all of it
            path.write_bytes(spoiled)
            ended = process.ask("recover", path)
            found[what][ended.outcome] += 1
            slowest = max(slowest, ended.seconds)
            whole = max((offset for offset in offsets if offset <= place), default=0)
            is_kept = _kept(path, bytes(spoiled), whole, ended) and (ended.outcome == OPENED) == (place >= first)
            if not is_kept:
                lost += 1
                _told.append(f"  {what} at byte {place} of {len(raw)}: {ended.outcome}: {ended.text[-500:]}")
            for file in (path, *folder.glob("*.torn*")):
                file.unlink()
    for what, counts in found.items():
        _tally(what, counts, slowest)
    return float(lost)


def show() -> None:
    """Print how the openings ended."""
    for line in _told:
        print(f"    {line}")


CASES = [
    Case(
        "hostile-journals",
        f"{CHANGED} changed and {len(BY_HAND)} hand-made journals with right crcs open or are refused by name",
        0.0,
        "openings",
        sealed_journals,
        slow=True,
        show=show,
    ),
    Case(
        "damaged-journals",
        f"of {FLIPS} journals with a flipped bit and {ZERO_TAILS} that end in zeros all before that is kept",
        0.0,
        "journals",
        damaged_journals,
        slow=True,
        show=show,
    ),
]
