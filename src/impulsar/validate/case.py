"""What a case of `impulsar validate` is: a law, a figure that measures how far it is missed, a bound."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """A named check; it holds where the figure is at most the bound."""

    name: str
    law: str  # one line, as it is printed
    bound: float
    unit: str  # of figure and bound; "1" where it is a ratio
    measure: Callable[[str], float]  # device -> figure
    slow: bool = False  # takes more than about ten seconds
    show: Callable[[], None] | None = None  # prints the table behind the last figure
    draw: Callable[[Path], Path] | None = None  # writes a picture into a folder


@dataclass(frozen=True)
class Outcome:
    """A case as it was measured."""

    case: Case
    figure: float
    holds: bool
    seconds: float
    artefact: Path | None = None

    @property
    def line(self) -> str:
        """Figure beside bound."""
        verdict = "holds" if self.holds else "FALLS SHORT"
        unit = "" if self.case.unit == "1" else f" {self.case.unit}"
        return f"{self.figure:.3g}{unit} (bound {self.case.bound:g}{unit}): {verdict}, {self.seconds:.1f} s"

    def data(self) -> dict:
        """For JSON."""
        return {
            "name": self.case.name,
            "law": self.case.law,
            "figure": self.figure,
            "bound": self.case.bound,
            "unit": self.case.unit,
            "holds": self.holds,
            "seconds": round(self.seconds, 3),
            "artefact": str(self.artefact) if self.artefact else None,
        }


def print_table(rows: list[dict]) -> None:
    """Rows as aligned columns; what only some have is empty in the others."""
    titles = list(dict.fromkeys(title for row in rows for title in row))
    cells = [[_text(row.get(title, "")) for title in titles] for row in rows]
    widths = [max(len(title), *(len(row[k]) for row in cells)) for k, title in enumerate(titles)]
    for line in (titles, *cells):
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
