"""Draw the rooms of the house and which knows which, from the imports: docs/images/rooms.svg.

    python tools/rooms.py

Rooms stand on the layers of pyproject.toml, so the picture is that of what `lint-imports` holds.
"""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "impulsar"
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
WIDTH, ROW, BOX, HEIGHT = 760, 64, 116, 34
LAZY = {("world", "studio"), ("results", "accessor")}  # World.view, when it is called; what results are opened by


def layers() -> list[list[str]]:
    """The rooms of each layer, from the top down."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    rows = contracts[0]["layers"]
    return [[name.strip().removeprefix("impulsar.") for name in row.replace(":", "|").split("|")] for row in rows]


def known_by(path: Path) -> set[str]:
    """The rooms that a file imports from."""
    here, found = ["impulsar", *path.relative_to(SOURCES).with_suffix("").parts], set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            for alias in node.names:
                parts = ".".join([*base, *([node.module] if node.module else []), alias.name]).split(".")
                if parts[0] == "impulsar" and len(parts) > 1:
                    found.add(parts[1])
    return found


def doors(rooms: set[str]) -> set[tuple[str, str]]:
    """Pairs of rooms of which the first knows the second."""
    found = set()
    for path in sorted(SOURCES.rglob("*.py")):
        room = path.relative_to(SOURCES).parts[0].removesuffix(".py")
        found |= {(room, other) for other in known_by(path) if room in rooms and other in rooms and other != room}
    return found


def shortest(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those that do not follow from others: a room that knows one which knows a third may know that, too."""
    below: dict[str, set[str]] = {}
    for first, second in pairs - LAZY:
        below.setdefault(first, set()).add(second)

    def reach(room: str) -> set[str]:
        return set().union(*({other, *reach(other)} for other in below.get(room, ())))

    return {
        (first, second)
        for first, second in pairs
        if (first, second) in LAZY or not any(second in reach(other) for other in below[first] - {second})
    }


def draw() -> str:
    """The picture as SVG."""
    rows = layers()
    place = {
        room: (WIDTH * (k + 0.5) / len(row), 30 + ROW * level)
        for level, row in enumerate(rows)
        for k, room in enumerate(row)
    }
    parts = []
    for first, second in sorted(shortest(doors(set(place)))):
        (x1, y1), (x2, y2) = place[first], place[second]
        if (first, second) in LAZY:
            way, style = f"M{x1 + BOX / 2:.0f} {y1:.0f} C{x1 + 120:.0f} {y1:.0f} {x2 + 120:.0f} {y2:.0f}", "5 4"
            way += f" {x2 + BOX / 2:.0f} {y2:.0f}"
        else:
            way, style = f"M{x1:.0f} {y1 + HEIGHT / 2:.0f} L{x2:.0f} {y2 - HEIGHT / 2 - 6:.0f}", "none"
        parts.append(
            f'<path d="{way}" fill="none" stroke="#627d98" stroke-dasharray="{style}" marker-end="url(#tip)"/>'
        )
    for room, (x, y) in place.items():
        parts.append(
            f'<rect x="{x - BOX / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{BOX}" height="{HEIGHT}" rx="6" '
            f'fill="#f3f7fb" stroke="#334e68"/><text x="{x:.0f}" y="{y + 5:.0f}" font-size="14" text-anchor="middle" '
            f'font-family="sans-serif" fill="#102a43">{room}</text>'
        )
    size = f'width="{WIDTH}" height="{ROW * len(rows)}" viewBox="0 0 {WIDTH} {ROW * len(rows)}"'
    tip = '<path d="M0 0 L8 4 L0 8 z" fill="#627d98"/>'
    head = (
        f'<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">{tip}</marker></defs>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{head}\n' + "\n".join(parts) + "\n</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
