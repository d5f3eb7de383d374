"""Tables of the docs, written by the cases that measure them.

    python -m impulsar_verification.tables [NAME ...]      # all of them by default; minutes

A page keeps a table between `<!-- table: NAME -->` and `<!-- end -->`. Tests measure the quick ones anew and compare.
"""

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from impulsar.validate import cases, run_case, simmc_study, table1

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
DIRECT = [
    "drag-books",
    "drag-constraints",
    "tip-trajectory",
    "lift-heights",
    "lift-constraints",
    "lift-symmetry",
    "lift-vibration",
    "linkage-line",
    "peaucellier-inverse",
    "five-link-rest",
    "dead-centre",
    "mass-ratio",
    "door",
    "flat-parallelogram",
]
ORDERS = ["pendulum-order", "torque-free-order", "n-four-bar-order", "pair-order", "trajectory-order", "one-trajectory"]
REACTIONS = [
    "rod-reaction-order",
    "double-pendulum-reaction-order",
    "double-pendulum-release",
    "truss",
    "momentum-balance",
    "loop-tree-order",
    "reactions-controlled",
]


def sig(value: float) -> str:
    """Two digits; whole numbers as they are."""
    if value == 0 or (float(value).is_integer() and abs(value) < 1e4):
        return f"{value:.0f}"
    text = f"{value:.2g}"
    return f"{float(text):.0f}" if 100 <= abs(value) < 1e4 else re.sub(r"e([+-])0?", r"e\1", text).replace("e+", "e")


def markdown(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table as Markdown."""
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *rows]
    return (
        "\n".join(f"| {' | '.join(line)} |".replace("| --- ", "|---").replace("--- |", "---|") for line in lines) + "\n"
    )


def figures(names: list[str]) -> str:
    """Cases with their laws, figures and bounds."""
    rows = []
    for name in names:
        outcome = run_case(cases()[name])
        unit = "" if outcome.case.unit == "1" else f" {outcome.case.unit}"
        rows.append([f"`{name}`", outcome.case.law, f"{sig(outcome.figure)}{unit}", f"{sig(outcome.case.bound)}{unit}"])
    return markdown(["case", "law", "measured", "bound"], rows)


def cut() -> str:
    """SIMGC on peaucellier with fewer and fewer sweeps."""
    run_case(cases()["table1"])
    rows = [row for row in table1._rows if row["scene"] == "peaucellier" and row["warm start"] == "yes"]
    return markdown(
        ["limit of sweeps", "mean", "steps cut of 628", "constraint error", "off the line [m]"],
        [
            [str(row["limit"]), sig(row["iterations"]), str(row["steps cut"])]
            + ([row["note"], ""] if row["note"] else [sig(row["constraint error"]), sig(row["off the line [m]"])])
            for row in rows
        ],
    )


def sweeps() -> str:
    """Table 1 of Mikhaylyuk 2017: mean sweeps of a step; in brackets with split impulses."""
    run_case(cases()["table1-fewer"])
    found = {
        (row["scene"], row["method"], row["warm start"], row["positions"]): sig(row["iterations"])
        for row in table1._fewer
    }
    rows = []
    for name in table1.SCENES:
        cells = [name, str(table1.PAPER["simmc", name][0])]
        cells += [
            f"{found[name, 'simmc', warm, 'β']} ({found[name, 'simmc', warm, 'split']})" for warm in ("yes", "no")
        ]
        cells += [str(table1.PAPER["simgc", name][0])]
        cells += [found[name, "simgc", warm, "split"] for warm in ("yes", "no")]
        rows.append(cells)
    titles = ["", "paper SIMMC", "SIMMC, warm", "SIMMC, cold", "paper SIMGC", "SIMGC, warm", "SIMGC, cold"]
    return markdown(titles, rows)


def simmc() -> str:
    """SIMMC on the paper's two scenes: norm, median / peak, and energy, by iterations and with default options."""
    counts = (4, 5, 10, 50, 200)
    rows = []
    for setting in simmc_study.SETTINGS:
        runs = [simmc_study.run(setting, "warm, β = 0.2", n, "cpu") for n in counts]
        runs.append(simmc_study.run(setting, "warm, split", 200, "cpu"))
        runs.append(simmc_study.run(setting, simmc_study.DEFAULTS, 0, "cpu"))
        paper = sig(setting.typical) + (f" / {sig(setting.peak)}" if setting.peak else "")
        norms = [run.note.replace("comes apart", "apart") or f"{sig(run.typical)} / {sig(run.peak)}" for run in runs]
        rows.append([f"{setting.name}: norm", paper, *norms])
        rows.append(["energy [%]", sig(setting.variation), *("" if run.note else sig(run.percent) for run in runs)])
    titles = ["", "paper", *(f"{n} iterations" for n in counts), "200, split impulses", "default options"]
    return markdown(titles, rows)


TABLES: dict[str, Callable[[], str]] = {
    "cut": cut,
    "sweeps": sweeps,
    "simmc": simmc,
    "direct": lambda: figures(DIRECT),
    "orders": lambda: figures(ORDERS),
    "reactions": lambda: figures(REACTIONS),
}
QUICK = ("cut", "sweeps")


def kept() -> dict[str, str]:
    """The tables as they stand in the docs."""
    found: dict[str, str] = {}
    for page in sorted(DOCS.glob("*.md")):
        found |= {name: text for _, name, text, _ in MARKED.findall(page.read_text(encoding="utf-8"))}
    return found


def filled(page: str, name: str, text: str) -> str:
    """A page with another text in a table's place."""
    return MARKED.sub(lambda found: found[1] + text + found[4] if found[2] == name else found[0], page)


def main(names: list[str]) -> int:
    """Measure tables and write them into their pages."""
    wanted = names or list(TABLES)
    unknown = [name for name in wanted if name not in TABLES]
    if unknown:
        print(f"no table {unknown[0]!r}; tables are: {', '.join(TABLES)}", file=sys.stderr)
        return 2
    for name in wanted:
        text = TABLES[name]()
        for page in sorted(DOCS.glob("*.md")):
            old = page.read_text(encoding="utf-8")
            new = filled(old, name, text)
            if new != old:
                page.write_text(new, encoding="utf-8")
                print(f"{page.relative_to(ROOT)}: {name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
