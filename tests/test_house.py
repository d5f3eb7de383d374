"""The house: files and functions that can be read at once, kernels without hidden rounding, docs of what is there."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [*(ROOT / "src" / "impulsar").rglob("*.py"), *(ROOT / "verification").rglob("*.py")]
MOST_LINES, MOST_OF_FUNCTION = 700, 80
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
FOLDERS = (
    ROOT,
    ROOT / "src" / "impulsar",
    ROOT / "src" / "impulsar" / "engine",
    ROOT / "client" / "src",
    ROOT / "docs",
)


def test_files_and_functions_are_short() -> None:
    long = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > MOST_LINES:
            long.append(f"{path.relative_to(ROOT)}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - node.lineno + 1
                if lines > MOST_OF_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert long == []


def test_constants_of_kernels_are_written_out() -> None:
    """`wp.float64(2.0 / 3.0)` in a kernel is computed in float32; a literal is not."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_kernel = isinstance(node, ast.FunctionDef) and any(
                ast.unparse(item).startswith(("wp.func", "wp.kernel")) for item in node.decorator_list
            )
            found += [
                f"{path.relative_to(ROOT)}:{call.lineno}: {ast.unparse(call)}"
                for call in (ast.walk(node) if is_kernel else ())
                if isinstance(call, ast.Call)
                and ast.unparse(call.func) in ("f64", "wp.float64")
                and call.args
                and isinstance(call.args[0], ast.BinOp)
                and not any(isinstance(item, ast.Name) for item in ast.walk(call.args[0]))
            ]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_the_docs_name_exist(page: Path) -> None:
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|ts|md|json|toml))`", page.read_text(encoding="utf-8"))
    missing = [name for name in named if not any((folder / name).exists() for folder in FOLDERS)]
    assert missing == []


def test_the_picture_of_the_rooms_is_that_of_the_imports() -> None:
    """`python tools/rooms.py` draws it anew."""
    drawn = runpy.run_path(str(ROOT / "tools" / "rooms.py"))
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["draw"]()
