"""Changed files of robots: bytes flipped, cut, doubled; words exchanged for those that hurt; elements moved about.

    python -m impulsar_verification.import_fuzz [--own 100000] [--apart 2000] [--seed 1] [FILE ...]

Those that others' readers read go to a process of their own each, forked with the limits of `imports.child`; FILE are
more originals than those of tests/data/imports, such as STEP. One of four is read as a file of a folder that has a mesh
and a file to include, with others beside the folder that it must not read: their time of access tells.
"""

import argparse
import contextlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from impulsar.author.errors import ModelError
from impulsar.io.imports import cad, child, mjcf, usd
from impulsar.io.imports.mjcf_scan import Scan
from impulsar.io.imports.scan import read_xml
from impulsar.io.loaders import load_model, read_model

WORDS = (
    "", "0", "-1", "1e308", "-1e-320", "nan", "inf", "-inf", "1e", "0x10", "1_0", "99999999999999999999", "0 0 0",
    "1 2", "a", "ground", "world", "__model__", "\u2028", "é" * 200, "../../../etc/passwd", "/etc/passwd",
    "package://", "$(arg a)", "true", "fixed", "floating", "planar", "ball", "universal", "screw", "gearbox",
    "revolute", "prismatic", "a.angle", "part.stl", "../secret.stl", "package://../secret.stl", "link.stl", "inner.xml",
    "link.xml", "link.usda", "../secret.obj",
    "inner.sdf", "model://link.sdf", "../secret.sdf", "a::b", "in::arm", "in::__model__", "::", "1.4",
    "../secret.xml", "file://../secret.stl", "inner.usda", "../secret.usda",
)  # fmt: skip
IN_FOLDER = 0.25  # part of all files
FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 1\nendloop\nendfacet\n"
FOUND = {  # by suffix, what is in the folder and beside it
    "obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    "stl": f"solid a\n{4 * FACET}endsolid a\n",
    "xml": '<mujocoinclude><option timestep="0.01"/></mujocoinclude>',
    "sdf": '<sdf version="1.9"><model name="in"><link name="arm"/></model></sdf>',
    "usda": '#usda 1.0\ndef Xform "more"\n{\n}\n',
}
WHOLE = {  # originals that name such files
    "whole.xml": b"""<mujoco>
<compiler meshdir="."/>
<include file="inner.xml"/>
<asset><mesh name="part" file="part.obj"/></asset>
<worldbody><body name="a"><joint type="hinge" axis="0 1 0"/><inertial pos="0 0 -0.1" mass="1" diaginertia="1 1 1"/>
<geom type="mesh" mesh="part"/></body></worldbody>
</mujoco>""",
    "whole.urdf": b"""<robot name="a"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><geometry><mesh filename="package://robot/part.stl" scale="1 1 1"/></geometry></visual>
<collision><geometry><mesh filename="part.stl"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>""",
    "whole.sdf": b"""<sdf version="1.11"><world name="w"><frame name="f"><pose>0 0 1 0 0 0</pose></frame>
<model name="a" placement_frame="g"><pose relative_to="f">1 0 0 0 0 0</pose><static>0</static>
<frame name="g" attached_to="b"><pose>0 0 1 0 0 0</pose></frame><link name="b"/>
<include><uri>model://inner.sdf</uri><name>in</name><pose relative_to="g">0 0 0 0 0 0</pose>
<placement_frame>arm</placement_frame></include>
<model name="c"><pose>0 1 0 0 0 0</pose><link name="d"><inertial auto="true"><density>9</density></inertial>
<collision name="e"><geometry><box><size>1 1 1</size></box></geometry></collision></link></model>
<joint name="j" type="revolute"><parent>g</parent><child>in::arm</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="k" type="prismatic"><parent>b</parent><child>c</child><axis><xyz expressed_in="c::d">0 1 0</xyz>
<mimic joint="j"><multiplier>2</multiplier><reference>1</reference></mimic></axis></joint>
</model><model name="s"><static>1</static><link name="l"/></model></world></sdf>""",
    "whole.usda": b"""#usda 1.0
(
    subLayers = [
        @inner.usda@
    ]
)
def Xform "more" (
    prepend references = @inner.usda@</more>
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
    float physics:mass = 1
}
""",
}
VALUE = re.compile(rb"""(=["'][^"']*["']|>[^<>\n]+<|= [^\n]+\n)""")
ELEMENT = re.compile(rb"<[a-z_0-9]+[^<>]*/>|<([a-z_0-9]+)[^<>]*>[^<>]*</\1>")


def changed(data: bytes, rng: random.Random) -> bytes:
    """A file with one to six changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        kind = rng.random()
        if kind < 0.5 and (values := list(VALUE.finditer(data))):
            value = rng.choice(values)
            text = value.group()
            word = rng.choice(WORDS).encode()
            if rng.random() < 0.3:
                word = rng.choice(values).group()[1:-1].strip(b"\"'")
            new = text[:2] + word + text[-1:] if text.startswith(b"=") else b">" + word + b"<"
            data = data[: value.start()] + new + data[value.end() :]
        elif kind < 0.8 and (elements := list(ELEMENT.finditer(data))):
            one, other = rng.choice(elements), rng.choice(elements)
            new = b"" if rng.random() < 0.4 else other.group()
            data = data[: one.start()] + new + data[one.end() :]
        elif data:
            at = rng.randrange(len(data))
            count = rng.choice((1, 1, 2, 20, 200))
            new = rng.choice((b"", bytes(rng.randrange(256) for _ in range(count)), data[at : at + count] * 2))
            data = data[:at] + new + data[at + count :]
    return data


class Folder:
    """A folder with files that a model may name, and others beside it that it may not."""

    def __init__(self, around: str):
        self.here = Path(around) / "here"
        self.here.mkdir()
        for suffix, text in FOUND.items():
            for name in ("part", "inner"):
                (self.here / f"{name}.{suffix}").write_text(text)
            (self.here.parent / f"secret.{suffix}").write_text(text)
            (self.here / f"link.{suffix}").symlink_to(f"../secret.{suffix}")
        self.secrets = [self.here.parent / f"secret.{suffix}" for suffix in FOUND]
        control = self.here / "part.stl"
        for path in (*self.secrets, control):
            os.utime(path, (0, 1))
        control.read_bytes()
        if control.stat().st_atime == 0:
            raise SystemExit(f"{around} keeps no times of access: set TMPDIR to a folder that does")

    def load(self, name: str, data: bytes) -> None:
        path = self.here / f"model{Path(name).suffix}"
        path.write_bytes(data)
        load_model(path)

    def read_beside(self) -> list[str]:
        """What of the files beside the folder was read since."""
        read = [path for path in self.secrets if path.stat().st_atime != 0]
        for path in read:
            os.utime(path, (0, 1))
        return [f"read {path.name}, which is beside its folder" for path in read]


@contextlib.contextmanager
def folder() -> Iterator[Folder]:
    with tempfile.TemporaryDirectory() as around:
        yield Folder(around)


def originals_of(files: list[Path], suffixes: tuple[str, ...]) -> list[tuple[str, bytes]]:
    """Names and bytes of what is changed."""
    whole = [(name, data) for name, data in WHOLE.items() if name.endswith(suffixes)]
    return [(path.name, path.read_bytes()) for path in files] + whole


def feed(files: list[Path], count: int, seed: int = 0) -> tuple[dict[str, int], list[str]]:
    """So many changed files through the own readers and scans: how many of each end, and what broke."""
    with folder() as place:
        return _feed(files, count, seed, place)


def _feed(files: list[Path], count: int, seed: int, place: Folder) -> tuple[dict[str, int], list[str]]:
    rng = random.Random(seed)
    found, broken = {"loads": 0, "refused": 0}, []
    originals = originals_of(files, (".xml", ".urdf", ".sdf"))
    for k in range(count):
        name, data = originals[k % len(originals)]
        data = changed(data, rng)
        try:
            is_there = rng.random() < IN_FOLDER
            if name.endswith(".xml"):
                Scan(read_xml(data), *((place.here, place.here) if is_there else (None, None)))
            elif re.search(rb"<mujoco[\s>]", data) is None:
                (place.load if is_there else read_model)(name, data)
            found["loads"] += 1
        except ModelError as error:
            found["refused"] += 1
            if "cannot be read as" in str(error):  # what a reader did not foresee
                broken.append(f"{name}, {k}: {error}")
        except Exception as error:
            broken.append(f"{name}, {k}: {type(error).__name__}: {error}")
        broken += [f"{name}, {k}: {told}" for told in place.read_beside()]
    return found, broken


def read_forked(kind: str, program: str, path: str, data: bytes, missing: str) -> dict[str, Any]:
    """As `apart.read_apart`, by a fork: what takes a second there takes a few ms."""
    reader = _module(kind)
    out, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        child.limit()
        signal.alarm(100)
        with os.fdopen(end, "w") as file:
            json.dump(child.answer(reader, path, data), file)
        os._exit(0)
    os.close(end)
    with os.fdopen(out) as file:
        text = file.read()
    os.waitpid(pid, 0)
    if not text:
        raise ModelError(f"could not be read by {program}: it crashed or ran out of its limits")
    answer: dict[str, Any] = json.loads(text)
    if "missing" in answer:
        raise SystemExit(f"{program} is not here: {missing}")
    if "fault" in answer:
        raise ModelError(f"cannot be read as {kind}: {answer['fault']}")
    return answer


_MODULES: dict[str, Any] = {}


def _module(kind: str) -> Any:
    """A child's module, with what it imports loaded once."""
    if kind not in _MODULES:
        module = _MODULES[kind] = child.module_of(kind)
        with_data = b"/" if kind == "usd" else b""
        with contextlib.suppress(ValueError, RuntimeError, OSError, ImportError):
            module.read("/nothing at all", with_data)
    return _MODULES[kind]


def feed_apart(files: list[Path], count: int, seed: int = 0) -> tuple[dict[str, int], list[str]]:
    """So many changed files through readers in a process of their own."""
    with folder() as place:
        return _feed_apart(files, count, seed, place)


def _feed_apart(files: list[Path], count: int, seed: int, place: Folder) -> tuple[dict[str, int], list[str]]:
    rng = random.Random(seed)
    found, broken = {"loads": 0, "refused": 0, "crashed": 0}, []
    for module in (mjcf, usd, cad):
        module.read_apart = read_forked  # type: ignore[attr-defined]
    originals = originals_of(files, (".xml", ".usda"))
    for k in range(count):
        name, data = originals[k % len(originals)]
        data = changed(data, rng)
        try:
            (place.load if rng.random() < IN_FOLDER else read_model)(name, data)
            found["loads"] += 1
        except ModelError as error:
            found["crashed" if "it crashed" in str(error) else "refused"] += 1
            if "cannot be read as" in str(error):
                broken.append(f"{name}, {k}: {error}")
        except Exception as error:
            broken.append(f"{name}, {k}: {type(error).__name__}: {error}")
        broken += [f"{name}, {k}: {told}" for told in place.read_beside()]
    return found, broken


def main() -> int:
    """Feed both kinds of readers and print how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--own", type=int, default=100_000)
    parser.add_argument("--apart", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    data = Path(__file__).parents[2] / "tests" / "data" / "imports"
    plain = sorted(path for path in data.iterdir() if path.is_file())
    others = [path for path in plain if path.suffix == ".xml"] + sorted((data / "usd").iterdir()) + args.files
    faults: list[str] = []
    for what, ways in (("own readers", feed(plain, args.own, args.seed)),
                       ("readers apart", feed_apart(others, args.apart, args.seed))):  # fmt: skip
        print(f"{what}: {ways[0]}, {len(ways[1])} faults", flush=True)
        faults += ways[1]
    for fault in faults:
        print(f"FAULT {fault[:400]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
