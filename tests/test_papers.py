"""docs/papers.md: every number that the papers print has a row, and what the rows name exists."""

import re
from pathlib import Path

import pytest

from impulsar.bench import suite_names
from impulsar.scenes import SCENES
from impulsar.validate import case_names

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
FOLDERS = (ROOT, ROOT / "src" / "impulsar", ROOT / "client" / "src")
STATES = ("here", "in part", "not yet", "left out")
PRINTED = {  # equations, figures and tables of each paper
    "Mariti 2012": (28, 8, 2),
    "Mikhaylyuk 2017": (9, 7, 1),
    "Wang 2011": (9, 10, 0),
}
ROWS = {
    paper: [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0].splitlines()
        if line.startswith("|") and not line.startswith(("| what", "|---"))
    ]
    for paper in PRINTED
}
ALL = [row for rows in ROWS.values() for row in rows]


def numbers(what: str, word: str) -> set[int]:
    """Numbers after "eq.", "fig." or "table" at the head of a row: one, several, or from - to."""
    found = re.match(rf"{word}\.? ((?:\d+(?:-\d+)?(?:, )?)+)", what)
    spans = [part.split("-") for part in found[1].strip(", ").split(", ")] if found else []
    return {number for span in spans for number in range(int(span[0]), int(span[-1]) + 1)}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_number_of_the_papers_has_a_row(paper: str) -> None:
    for word, last in zip(("eq", "fig", "table"), PRINTED[paper], strict=True):
        found = set().union(*(numbers(what, word) for what, _, _ in ROWS[paper]))
        assert found == set(range(1, last + 1)), word


def test_rows_have_a_state_and_a_place() -> None:
    wrong = [row for row in ALL if len(row) != 3 or not row[2].startswith(STATES)]
    assert wrong == []
    nowhere = [row for row in ALL if row[2].startswith(("here", "in part")) and "`" not in row[1]]
    assert nowhere == []


def test_files_exist() -> None:
    named = [name for _, where, _ in ALL for name in re.findall(r"`([\w./-]+\.(?:py|ts|md))`", where)]
    assert len(named) > 50
    assert [name for name in named if not any((folder / name).is_file() for folder in FOLDERS)] == []


def test_commands_exist() -> None:
    known = {"validate": case_names(), "bench": suite_names(), "studio": list(SCENES), "run": list(SCENES)}
    known |= {"ar": ["demo", "run", "print-marker", "calibrate-camera", "calibrate-tracker"]}
    named = [words.split() for words in re.findall(r"`impulsar ([^`]+)`", PAGE.split("\n## ", 1)[1])]
    assert len(named) > 40
    assert [(verb, name) for verb, *names in named for name in names if name not in known[verb]] == []


def test_scenes_exist_where_the_page_says_so() -> None:
    """And those that are not yet here, are not: their rows are to be written anew with them."""
    scenes = set(SCENES)
    here = {name for _, where, _ in ALL for name in re.findall(r"scene `([\w-]+)`", where)}
    missing = {name for _, _, state in ALL for name in re.findall(r"scene `([\w-]+)`", state)}
    assert here <= scenes
    assert here
    assert not missing & scenes
