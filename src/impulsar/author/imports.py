"""What became of a file of another program when it was read: every item that was not taken as it stands."""

from collections.abc import Iterator
from dataclasses import dataclass, field

LOSSES = ("ignored", "changed", "approximated")  # kinds of notes that `strict` refuses
EXACT = ("merged", "renamed", "converted")  # kinds of notes of what is the same mechanics in other words
MOST_SHOWN = 20  # losses that an error or a reply of the studio shows


@dataclass(frozen=True)
class Note:
    """One item of a file that is not in the model as it stands there."""

    kind: str  # of LOSSES or EXACT
    part: str  # "joint 'elbow'", or the element
    text: str  # what was done with it
    line: int = 0  # of its file, from 1; 0 where there is none
    file: str = ""  # one that was included; "": the file itself

    def __str__(self) -> str:
        place = f"{self.file or 'line'}{':' if self.file else ' '}{self.line}: " if self.line else ""
        return f"{place}{self.kind}: {self.part}: {self.text}"


@dataclass
class ImportReport:
    """The notes of one file, and by which coordinates of the model it goes on.

    `coordinates` leads from the file's joints to (joint, group) of the model: their coordinate is the file's q.
    """

    file: str = ""
    format: str = ""
    notes: list[Note] = field(default_factory=list)
    coordinates: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, kind: str, part: str, text: str, line: int = 0, file: str = "") -> None:
        self.notes.append(Note(kind, part, text, line, file))

    @property
    def losses(self) -> list[Note]:
        """What is ignored, changed or approximated: what `strict` refuses."""
        return [note for note in self.notes if note.kind in LOSSES]

    def counts(self) -> dict[str, int]:
        """How many notes there are of each kind that has any."""
        found = {kind: sum(note.kind == kind for note in self.notes) for kind in (*LOSSES, *EXACT)}
        return {kind: count for kind, count in found.items() if count}

    def summary(self) -> str:
        """One line: how many items are not taken as they stand."""
        told = ", ".join(f"{count} {kind}" for kind, count in self.counts().items() if kind in LOSSES)
        return f"{self.file or 'file'} ({self.format}): {told or 'taken whole'}"

    def shown(self) -> str:
        """The summary and the first losses, one a line."""
        lines = [str(note) for note in self.losses[:MOST_SHOWN]]
        rest = len(self.losses) - len(lines)
        return "\n".join([self.summary(), *lines, *([f"... and {rest} more"] if rest else [])])

    def __iter__(self) -> Iterator[Note]:
        return iter(self.notes)

    def __len__(self) -> int:
        return len(self.notes)

    def __str__(self) -> str:
        return "\n".join([self.summary(), *map(str, self.notes)])


class Imported:
    """A model that may come from a file of another program: `import_report` says what was lost, None where none was
    read."""

    import_report: ImportReport | None = None
