"""What of the page needs no browser: client/test, run by node."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_units_of_the_page() -> None:
    """Reading and showing numbers, expressions, fields while they are typed in, frames, patches, glyphs."""
    done = subprocess.run(
        [sys.executable, "hatch_build.py", "--test"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    passed = re.search(r"pass (\d+)\n", done.stdout)
    assert passed, done.stdout
    files = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "client" / "test").glob("*.test.ts"))
    assert int(passed[1]) == len(re.findall(r"^test\(", files, re.MULTILINE)) > 0


def test_the_lock_file_names_no_host() -> None:
    """Packages are known by version and digest; whence they come is the reader's setting (client/.npmrc)."""
    lock = (ROOT / "client" / "package-lock.json").read_text(encoding="utf-8")
    assert re.findall(r"\w+://\S+", lock) == []
