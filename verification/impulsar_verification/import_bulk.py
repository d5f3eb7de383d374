"""Robots' files of other packages, all that are under a folder: how many load, how many are refused by which reason.

    python -m impulsar_verification.import_bulk FOLDER [--json FILE]

FOLDER holds unpacked wheels, one in each folder (`pip download --no-deps NAME; unzip`). Everything but a ModelError is
a fault of ours, and ends with status 1.
"""

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from impulsar.author.errors import ModelError
from impulsar.io.loaders import load_model

XML = (".urdf", ".sdf", ".xml", ".mjcf")
USD = (".usd", ".usda", ".usdc", ".usdz")
SUFFIXES = XML + USD
REASONS = (  # what a message holds, and what the table calls it
    ("breaks? the triangle|not all positive", "inertia of no body"),
    ("weighs nothing between|nothing that weighs is between", "joints that together are none of the catalogue"),
    ("weighs", "moving link without mass"),
    ("no inertia about its axis", "joint that turns a point"),
    ("mimic", "mimic of a joint that is not there"),
    ("MuJoCo refuses it: .*(opening|open file|not found|resource|no decoder)", "file of an asset is missing"),
    ("MuJoCo refuses it", "refused by MuJoCo's compiler"),
    ("its root is", "not a whole model"),
    ("has no rigid body", "no rigid body"),
    ("usd-core refuses it: line", "broken USD"),
    ("loops do not close", "loops that do not close"),
    ("not under the folder|includes .* which there is not", "asset outside of its folder"),
    ("xacro", "xacro not expanded"),
    ("column", "broken XML"),
    ("expected . numbers|expected a number", "numbers that are none"),
    ("model .* a second one of this name", "two models of one name"),
    ("swap them", "limits the wrong way round"),
    ("has no <link>|has no <model>|has no root", "no links, or no root"),
)


def reason_of(text: str) -> str:
    """What a refusal is about."""
    return next((name for pattern, name in REASONS if re.search(pattern, text)), "other")


def look(path: Path) -> dict[str, Any]:
    """What became of one file."""
    began = time.perf_counter()
    found: dict[str, Any] = {"file": str(path)}
    try:
        model = load_model(path, meshes=False)
        assert model.import_report is not None
        found |= {"state": "loads", "bodies": len(model.bodies), "joints": len(model.joints)}
        found |= {"losses": len(model.import_report.losses)}
    except ModelError as error:
        state = "fault" if "cannot be read as" in str(error) else "refused"
        found |= {"state": state, "reason": reason_of(str(error)), "text": str(error).split("': ", 1)[-1][:300]}
    except Exception as error:
        found |= {"state": "fault", "text": f"{type(error).__name__}: {error}"[:300]}
    return found | {"seconds": time.perf_counter() - began}


def files_under(folder: Path) -> list[Path]:
    """Files of robots: those of another kind of XML are left out by their root."""
    found = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES and path.is_file()]
    roots = re.compile(rb"<(robot|sdf|mujoco|mujocoinclude)[\s>]")
    found = [path for path in found if "random_urdfs" not in path.parts]
    return [path for path in found if path.suffix.lower() in USD or roots.search(path.read_bytes())]


def kind_of(entry: dict[str, Any]) -> str:
    """The column of a file."""
    suffix = Path(entry["file"]).suffix.lower()
    return "USD" if suffix in USD else suffix


def table(found: list[dict[str, Any]]) -> str:
    """As Markdown: by suffix how many load, and why others do not."""
    kinds = sorted({kind_of(entry) for entry in found})
    lines = [f"| | {' | '.join(kinds)} |", "|---|" + "---|" * len(kinds)]
    rows = Counter((entry.get("reason", entry["state"]), kind_of(entry)) for entry in found)
    names = Counter(entry.get("reason", entry["state"]) for entry in found)
    total = Counter(kind_of(entry) for entry in found)
    lines.append(f"| files | {' | '.join(str(total[kind]) for kind in kinds)} |")
    for name, _ in sorted(names.items(), key=lambda item: (item[0] != "loads", -item[1])):
        lines.append(f"| {name} | {' | '.join(str(rows[name, kind]) for kind in kinds)} |")
    return "\n".join(lines)


def main() -> int:
    """Look at all files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [look(path) for path in files_under(args.folder)]
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
    print(table(found))
    faults = [entry for entry in found if entry["state"] == "fault"]
    for entry in faults:
        print(f"FAULT {entry['file']}: {entry['text']}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
