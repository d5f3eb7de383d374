"""Suites of `impulsar bench`: what depends on the machine's clock, and nothing of `impulsar validate` that does."""

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

import impulsar.validate
from impulsar.bench import SUITES, cost, run_suite
from impulsar.engine.methods import METHODS
from impulsar.validate import table1

CLOCKS = {"perf_counter", "monotonic", "time_ns", "process_time", "perf_counter_ns", "monotonic_ns"}


def test_laws_read_no_clock() -> None:
    """But for the seconds that `run_case` tells: a law holds on a busy machine too."""
    folder = Path(impulsar.validate.__file__).parent
    readers = [
        f"{path.name}: {node.attr}"
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS
    ]
    assert readers == ["__init__.py: perf_counter"] * 2


def test_a_budget_is_no_law() -> None:
    """A budget is a clock's: `budget=` in a case would make its figure one of the machine."""
    folder = Path(impulsar.validate.__file__).parent
    calls = [
        path.name
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword) and node.arg == "budget"
    ]
    assert calls == []


@pytest.mark.timed
def test_cost_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slope of log time over log length is 1 in every method without a full matrix, up to 1,000 links."""
    monkeypatch.setattr(cost, "SIZES", {"generalized": (10, 100, 1000), "maximal": (10, 100, 1000)})
    rows = run_suite("cost")
    linear = [name for name in METHODS if name != "generalized_alpha"]  # which has a full matrix
    assert [row["method"] for row in rows] == [f"{name}, {c}" for name in linear for c in METHODS[name].coordinates]
    assert [row for row in rows if not row["holds"]] == []


def test_table1_has_the_papers_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both methods, warm and cold, on its scenes, beside the paper's times; and both cut at 5 ms."""
    monkeypatch.setattr("impulsar.bench.table1.DURATION", dict.fromkeys(table1.DURATION, 0.03))
    rows = run_suite("table1")
    scenes = len(table1.SCENES)
    assert len(rows) == scenes * 2 * 2 + scenes * 2
    assert all(
        row["ms/step"] > 0.0 and row["paper [ms]"] == table1.PAPER[row["method"], row["scene"]][1] for row in rows
    )
    assert [row["limit"].startswith("5 ms = ") for row in rows] == [False] * 4 * scenes + [True] * 2 * scenes


def test_every_suite_is_a_module() -> None:
    assert [name for name in SUITES if find_spec(f"impulsar.bench.{name}") is None] == []
