"""Write the table of parameters into docs/editing.md, from the table of part kinds.

python tools/parameters.py
"""

from pathlib import Path

from impulsar.author.joints import ANGLE, SLIDE
from impulsar.author.parts import PARTS
from impulsar.edits.parameters import GRAVITY

PAGE = Path(__file__).resolve().parents[1] / "docs" / "editing.md"
START, END = "<!-- parameters -->\n", "<!-- end of parameters -->\n"


def table() -> str:
    """The parameters of all kinds of parts, as Markdown."""
    lines = ["| part | parameter | unit | value |", "|---|---|---|---|"]
    lines.append(f"| model | `gravity` | {GRAVITY.unit} | {GRAVITY.rule.expected} (3 of them) |")
    for kind, entry in PARTS.items():
        for parameter in entry.parameters:
            slide, angle = (parameter.unit.format(**group.units) for group in (SLIDE, ANGLE))
            unit = slide if slide == angle else f"{slide}, {angle}"
            value = parameter.rule.expected + (" or inf" if parameter.rule.may_be_infinite else "")
            value += f", at least `{parameter.at_least}`" if parameter.at_least else ""
            value += ", or None: not given" if parameter.optional else ""
            if parameter.inputs is not None:
                value = "3 numbers, a profile or a callable of time"
            elif parameter.name == "inertia":
                value = "three principal values or a 3x3 tensor, as in `Model.body`"
            lines.append(f"| {kind} | `{parameter.name}` | {unit} | {value} |")
    return "\n".join(lines) + "\n"


def written(text: str) -> str:
    """A page with the table in its place."""
    before, rest = text.split(START)
    return before + START + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
