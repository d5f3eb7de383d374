"""`make verify`: every case and every suite, hours if need be, resumable; writes docs/verification.json.

    python -m impulsar_verification.verify [--again] [NAME ...]

A case that was measured at the present commit is not measured again, unless --again is given.
"""

import json
import platform
import subprocess
import sys
from pathlib import Path

import warp as wp

from impulsar.bench import SUITES, run_suite
from impulsar.validate import cases, run_case

FILE = Path("docs/verification.json")


def commit() -> str:
    """The commit of the working tree, or "unknown" outside a repository."""
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main(arguments: list[str]) -> int:
    """Measure what is not measured yet, saving after each; exit status 1 if anything fell short."""
    names = [word for word in arguments if not word.startswith("--")]
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    results = kept if kept.get("commit") == commit() and "--again" not in arguments else {}
    results.setdefault("commit", commit())
    results["machine"] = {"python": platform.python_version(), "warp": wp.__version__, "system": platform.machine()}
    done = results.setdefault("cases", {})
    for name, case in cases().items():
        if name in done or (names and name not in names):
            continue
        print(f"{name}: {case.law}", flush=True)
        outcome = run_case(case)
        print(f"    {outcome.line}", flush=True)
        done[name] = outcome.data()
        _save(results)
    measured = results.setdefault("suites", {})
    for name in SUITES:
        if name in measured or (names and name not in names):
            continue
        print(f"bench {name}", flush=True)
        measured[name] = run_suite(name)
        _save(results)
    short = [name for name, data in done.items() if not data["holds"]]
    short += [f"bench {name}" for name, rows in measured.items() if not all(row.get("holds", True) for row in rows)]
    print(f"fell short: {', '.join(short) or 'none'}", file=sys.stderr)
    return 1 if short else 0


def _save(results: dict) -> None:
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
