"""Tables of text: a line of names, then rows, with commas, semicolons or tabs between cells."""

import csv
from collections.abc import Iterator
from pathlib import Path

from ..author.errors import ModelError


def rows_of(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty and no comments (#), with the numbers of their lines.

    The mark between cells is the one that the first row has most of; behind semicolons and tabs a comma is that of
    a number.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        told = error.strerror if isinstance(error, OSError) else f"no text in UTF-8, {error.reason}"
        raise ModelError(f"{path}: cannot be read: {told}") from error
    kept = [(k, line) for k, line in enumerate(lines, 1) if line.strip(" ,;\t") and not line.lstrip().startswith("#")]
    mark = max(",;\t", key=kept[0][1].count) if kept else ","
    for k, line in kept:
        (cells,) = csv.reader([line], delimiter=mark)
        yield k, [cell.strip() if mark == "," else cell.strip().replace(",", ".") for cell in cells]
