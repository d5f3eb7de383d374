"""The page on editing: its snippets run, in order, as they stand there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "editing.md"


@pytest.mark.filterwarnings("ignore:.*start velocities changed")
def test_snippets_run():
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(snippets) >= 3
    names: dict = {}
    for snippet in snippets:
        exec(snippet, names)
