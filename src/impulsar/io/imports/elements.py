"""What readers of XML share: names that are taken once, elements that nobody reads, colours."""

from ...author.imports import ImportReport
from ...author.names import LONGEST_NAME
from .scan import Element


class Unread:
    """Elements that are not read, told once for each tag with the first line and how many there are."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int, str]] = {}

    def add(self, element: Element, why: str = "is not read") -> None:
        line, count, told = self._found.get(element.tag, (element.line, 0, why))
        self._found[element.tag] = (line, count + 1, told)

    def check(self, parent: Element, known: tuple[str, ...]) -> None:
        """Count children whose tags are not known."""
        for child in parent.children:
            if child.tag not in known:
                self.add(child)

    def tell(self, report: ImportReport) -> None:
        """Write what was found into a report."""
        for tag, (line, count, told) in self._found.items():
            times = f" ({count} times)" if count > 1 else ""
            report.add("ignored", f"<{tag[:60]}>", f"{told}{times}", line)


def below(root: Element, tag: str) -> list[Element]:
    """All elements of a tag, however deep."""
    found, waiting = [], [root]
    while waiting:
        element = waiting.pop()
        waiting += element.children
        found += element.all(tag)
    return found


def name_of(element: Element, kind: str, taken: dict) -> str:
    """The name of a link or joint, which no other has."""
    name = element.get("name").strip()
    if not name:
        raise element.wrong(f"<{element.tag}> has no name; give it one")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise element.wrong(f"{kind} {name[:40]!r}: its name is long or cannot be printed; give it another")
    if name in taken:
        raise element.wrong(f"{kind} '{name}': a second one of this name; rename it")
    return name
