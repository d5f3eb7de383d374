"""Changed files of robots: bytes flipped, cut, doubled; words exchanged for those that hurt; elements moved about."""

import random
import re
from pathlib import Path

from impulsar.author.errors import ModelError
from impulsar.io.imports.mjcf_scan import Scan
from impulsar.io.imports.scan import read_xml
from impulsar.io.loaders import read_model

WORDS = (
    "", "0", "-1", "1e308", "-1e-320", "nan", "inf", "-inf", "1e", "0x10", "1_0", "99999999999999999999", "0 0 0",
    "1 2", "a", "ground", "world", "__model__", "\u2028", "é" * 200, "../../../etc/passwd", "/etc/passwd",
    "package://", "$(arg a)", "true", "fixed", "floating", "planar", "ball", "universal", "screw", "gearbox",
    "revolute", "prismatic", "a.angle",
)  # fmt: skip
VALUE = re.compile(rb"""(=["'][^"']*["']|>[^<>\n]+<)""")
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


def feed(files: list[Path], count: int, seed: int = 0) -> tuple[dict[str, int], list[str]]:
    """So many changed files through the own readers and scans: how many of each end, and what broke."""
    rng = random.Random(seed)
    found, broken = {"loads": 0, "refused": 0}, []
    originals = [(path.name, path.read_bytes()) for path in files]
    for k in range(count):
        name, data = originals[k % len(originals)]
        data = changed(data, rng)
        try:
            if name.endswith(".xml"):
                Scan(read_xml(data), None, None)
            elif re.search(rb"<mujoco[\s>]", data) is None:
                read_model(name, data)
            found["loads"] += 1
        except ModelError as error:
            found["refused"] += 1
            if "cannot be read as" in str(error):  # what a reader did not foresee
                broken.append(f"{name}, {k}: {error}")
        except Exception as error:
            broken.append(f"{name}, {k}: {type(error).__name__}: {error}")
    return found, broken
