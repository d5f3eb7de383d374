"""Write the table of docs/quantities.md from that of quantities; a test holds the two together.

python tools/quantities.py
"""

from pathlib import Path

from impulsar.observe.quantities import KINDS, QUANTITIES, Quantity

PAGE = Path(__file__).resolve().parents[1] / "docs" / "quantities.md"
HEAD = "| quantity | unit | what it is | variable | signals |\n|---|---|---|---|---|\n"


def written() -> str:
    """The page, with the table as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    after = rest[rest.index("\n\n") + 1 :]
    return before + HEAD + "".join(map(line, QUANTITIES.values())) + after


def line(q: Quantity) -> str:
    """A line of the table."""
    unit = f"{q.unit}, {q.slide_unit} of a slide" if q.slide_unit else q.unit
    variable = f"`{q.in_results}` ({', '.join(('time', *q.dimensions))})" if q.in_results else ""
    if q.usual:
        variable = f"**{variable}**"
    stem = f"{q.kind}.NAME." if q.kind else ""
    first, *rest = [f"{stem}{ending}" for ending in q.endings]
    signals = ", ".join(f"`{name}`" for name in (first, *[ending.rpartition(".")[2] for ending in rest]))
    passing = ", while it is there" if KINDS[q.kind].comes_and_goes else ""
    return f"| `{q.name}` | {unit} | {q.doc}{passing} | {variable} | {signals} |\n"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
