"""Pages of docs/ whose Python runs as it stands there, block after block, as who copies it would run it."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    "analysis",
    "compile",
    "control",
    "dragging",
    "envs",
    "extending",
    "files",
    "fluid",
    "gradients",
    "import",
    "one-session",
    "scale",
    "sensors",
    "vehicle",
]
LONG = pytest.param("optimise", marks=pytest.mark.study)


@pytest.mark.parametrize("page", [*PAGES, LONG])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_a_page_shows_can_be_done(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # files that pages read
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
