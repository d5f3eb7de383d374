"""The page: sections with a figure each, in one file that needs no network and reads on a phone."""

import base64
import html
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Say = Callable[[str], None]  # progress, a line for the person


@dataclass
class Found:
    """What a section measured: sentences made of its numbers, figures, a table, and the numbers."""

    sentences: list[str]
    data: Any
    figures: list[tuple[str, str]] = field(default_factory=list)  # caption, data URI
    rows: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # what is not available here
    notes: list[str] = field(default_factory=list)  # settings, one each


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    name: str
    title: str
    measure: Callable[[bool, Say], Found]  # quick, progress


def picture(figure: "Figure") -> str:
    """A figure as a data URI."""
    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(data.getvalue()).decode()


def number(value: float, digits: int = 2) -> str:
    """A number as sentences have it."""
    if not math.isfinite(value):
        return "∞"
    return f"{value:.{digits}g}"


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else "none"


STYLE = """
:root { color-scheme: light dark; --ink: #22303c; --soft: #5c6b77; --line: #dde3e8; --page: #fff; --card: #f5f7f9;
  --good: #1d7a34; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebef; --soft: #a3b0ba; --line: #37424b; --page: #14191d;
  --card: #1d2429; --good: #6fcf87; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; color: var(--ink); background: var(--page);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid var(--line);
  padding-top: 1rem; }
nav { background: var(--card); border-radius: 8px; padding: .5rem 1rem; } nav ol { margin: .3rem 0; }
a { color: inherit; } figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: .9rem; }
img { display: block; width: 100%; height: auto; background: #fff; border-radius: 8px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; width: 100%;
  overflow-wrap: normal; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; white-space: nowrap; } .bad { color: var(--bad); } .good { color: var(--good); }
.missing { border-left: 4px solid var(--bad); background: var(--card); padding: .4rem .8rem; margin: .5rem 0; }
code { background: var(--card); padding: .1rem .3rem; border-radius: 4px; }
details { color: var(--soft); font-size: .9rem; }
"""


def render(about: dict[str, str], found: list[tuple[Section, Found]]) -> str:
    """The whole page."""
    links = "".join(f'<li><a href="#{s.name}">{_text(s.title)}</a></li>' for s, _ in found)
    facts = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in about.items())
    parts = "".join(_section(section, what) for section, what in found)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Impulsar: validation report</title><style>{STYLE}</style></head><body>"
        "<h1>Impulsar: validation report</h1>"
        f'<nav aria-label="Contents"><ol>{links}</ol></nav>'
        f'<h2 id="about">What made it</h2><div class="scroll"><table>{facts}</table></div>{parts}</body></html>\n'
    )


def _section(section: Section, found: Found) -> str:
    said = "".join(f"<p>{_text(sentence)}</p>" for sentence in found.sentences)
    missing = "".join(f'<p class="missing">not available: {_text(what)}</p>' for what in found.missing)
    figures = "".join(
        f'<figure><img alt="{_text(caption)}" src="{uri}">'
        f"{'' if caption in found.sentences else f'<figcaption>{_text(caption)}</figcaption>'}</figure>"
        for caption, uri in found.figures
    )
    notes = "".join(f"<li>{_text(note)}</li>" for note in found.notes)
    notes = f"<details><summary>Settings</summary><ul>{notes}</ul></details>" if notes else ""
    body = f"{said}{missing}{figures}{_table(found.rows)}{notes}"
    return f'<section id="{section.name}"><h2>{_text(section.title)}</h2>{body}</section>'


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    titles = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f"<th>{_text(title)}</th>" for title in titles)
    body = "".join("<tr>" + "".join(_cell(row.get(title, "")) for title in titles) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f'<td class="{"good" if value else "bad"}">{"holds" if value else "FALLS SHORT"}</td>'
    if isinstance(value, int | float):
        return f'<td class="number">{number(value, 3)}</td>'
    return f"<td>{_text(value)}</td>"


def _text(value: Any) -> str:
    return html.escape(str(value))
