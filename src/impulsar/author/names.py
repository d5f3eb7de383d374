"""Names of parts: which can be, which are taken by something else, and which may have been meant."""

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from .checks import show
from .errors import ModelError

LONGEST_NAME = 128  # characters; with a signal's suffix it still fits a message of the studio
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # control characters, half pairs, separators of lines and paragraphs
MOST_NAMES, MOST_LISTED = 1_000, 20  # that are looked through for one that may be meant, and that are told
RESERVED = {  # names that stand for something else
    "ground": "the world",
    **dict.fromkeys(("edits", "clamps", "released hands", "removed parts"), "an entry of the energy books"),
}


def check_name(kind: str, name: object) -> str:
    """The name of a part, hand or model, if it can be printed, written to a file and looked up again."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{kind} {show(name)}: name is {show(name)}, expected a string that is not empty")
    if len(name) > LONGEST_NAME:
        start = f"{kind} {name[:20]!r}...: name has {len(name)} characters"
        raise ModelError(f"{start}, expected at most {LONGEST_NAME}; shorten it")
    wrong = [] if name.isprintable() else [x for x in name if unicodedata.category(x) in UNPRINTABLE]
    if wrong:
        raise ModelError(f"{kind} {name!r}: name holds {wrong[0]!r}, which cannot be printed; leave it out")
    return name


def closest(name: object, known: Iterable) -> str:
    """A hint at the name that may be meant; bounded in time and length, whatever names there are."""
    names = [str(other) for other in islice(known, MOST_NAMES + 1)]
    return guess(name, names).strip() or f"known are: {listed(names)}"


def guess(name: object, known: Iterable[str]) -> str:
    """The name that may be meant, as a question and a blank; empty where none is near."""
    name = name if isinstance(name, str) else show(name)
    names = [other for other in islice(known, MOST_NAMES + 1) if len(other) <= 100]
    close = get_close_matches(name[:100], names, n=1)
    return f"did you mean '{close[0]}'? " if close else ""


def listed(names: Iterable[str]) -> str:
    found = [name[:60] for name in islice(names, MOST_LISTED + 1)]
    return ", ".join(found[:MOST_LISTED] + ["..."] * (len(found) > MOST_LISTED)) or "none"
