"""Suites of `impulsar bench`: what depends on the machine's clock, and nothing of `impulsar validate` that does."""

import ast
import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
import impulsar.validate
from impulsar.author.errors import ModelError
from impulsar.bench import SUITES, cost, gradient, record, run_suite, run_suites, show_history, tables
from impulsar.bench.chain import compare
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


def test_a_speed_without_its_error_is_not_printed() -> None:
    """Every column that tells a speed goes, where no error beside it is a number; bounds and counts stay."""
    speeds = {"impulsar [us/step]": 1.0, "ratio": 0.5, "spread": "0.4 - 0.6", "world-steps/s": 1e6}
    fair = {"scene": "chain", **speeds, "gap [m]": 1e-12, "apart [m]": float("nan")}
    bare = {"scene": "chain", **speeds, "bound": 1.0, "apart [m]": float("nan")}
    assert tables.honest([fair, bare]) == [fair, bare | dict.fromkeys(speeds, tables.LEFT_OUT)]


def test_a_report_has_every_row_and_a_picture_of_ratios(tmp_path: Path) -> None:
    row = {"scene": "chain 10", "worlds": 1, "ratio": 0.5, "spread": "0.4 - 0.6", "gap [m]": 1e-12, "holds": True}
    rows = {"chain": [row, row | {"gap [m]": float("nan")}], "host": [{"wait": "import", "figure": 0.3}]}
    written = tables.write_report(rows, SUITES, tmp_path)
    assert [path.name for path in written] == ["benchmarks.md", "bench-chain.png"]
    assert all(path.stat().st_size > 0 for path in written)
    page = written[0].read_text(encoding="utf-8")
    assert (
        "| chain 10 | 1 | 0.5 | 0.4 - 0.6 | 1e-12 | yes |" in page and "| chain 10 | 1 | no error | no error |" in page
    )
    assert "(images/bench-chain.png)" in page and "| import | 0.3 |" in page


def test_a_gradient_is_measured_beside_differences() -> None:
    """Within 1e-9 of differences of order 4, by both modes; a case that is not timed has no ratio to hold."""
    row = gradient.errors(replace(gradient.CASES[0], timed=False))
    assert row["holds"] and 0.0 < row["error"] <= 1e-9 and row["reverse apart from forward"] <= 1e-12
    assert "ratio" not in row


def suite_of(monkeypatch: pytest.MonkeyPatch, *rows: object) -> None:
    """Have suite `chain` yield rows, and raise what is no row."""

    def run():
        for row in rows:
            if isinstance(row, dict):
                yield row
            else:
                raise row  # type: ignore[misc]

    monkeypatch.setattr("impulsar.bench.chain.run", run)


def row_of(ratio: float) -> dict:
    return {"links": 10, "ratio": ratio, "spread": f"{0.9 * ratio:.3g} - {1.1 * ratio:.3g}", "tips apart [m]": 1e-15}


def test_ctrl_c_ends_with_the_rows_that_are_there(monkeypatch, capsys, tmp_path) -> None:
    """They are printed and reported; a run that was stopped is not kept."""
    suite_of(monkeypatch, row_of(0.5), KeyboardInterrupt())
    assert run_suites(["chain", "host"], json=True, report=tmp_path, keep=tmp_path / "kept.jsonl") == 130
    told = capsys.readouterr()
    assert json.loads(told.out) == {"chain": [row_of(0.5)]}
    assert "programs wanted to run" in told.err and "stopped in suite 'chain' after 1 rows" in told.err
    assert (tmp_path / "benchmarks.md").exists() and not (tmp_path / "kept.jsonl").exists()


def test_figures_are_kept_by_commit(monkeypatch, capsys, tmp_path) -> None:
    """A line for each run; the history has ratios by commit, and a picture of them."""
    path = tmp_path / "kept.jsonl"
    for ratio in (0.5, 0.25):
        suite_of(monkeypatch, row_of(ratio), row_of(ratio) | {"links": 50, "tips apart [m]": float("nan")})
        assert run_suites(["chain"], keep=path) == 0
    runs = record.read(path)
    assert [run["commit"] for run in runs] == [record.commit()] * 2
    assert [ratio for _, ratio, _ in record.ratios(runs)["chain: links 10"]] == [0.5, 0.25]
    assert "chain: links 50" not in record.ratios(runs)  # which has no error
    capsys.readouterr()
    assert show_history(path) == 0
    assert "| chain: links 10 | " in (table := capsys.readouterr().out) and table.strip().endswith("| 0.5 |")
    assert path.with_suffix(".png").stat().st_size > 0


def test_a_file_that_is_no_history_is_refused(monkeypatch, tmp_path) -> None:
    path = tmp_path / "kept.jsonl"
    for text, told in (("", "has no run"), ('{"a": 1}\n', "line 1 is no run"), ("7\n", "line 1 is no run")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ModelError, match=told):
            show_history(path)
    suite_of(monkeypatch, row_of(0.5))
    with pytest.raises(ModelError, match="line 1 is no run"):
        run_suites(["chain"], keep=path)
    assert path.read_text(encoding="utf-8") == "7\n"  # nothing is written behind it


@pytest.mark.timed
def test_a_comparison_is_of_the_threads_own_time() -> None:
    """One that takes half as long as the other, whatever else the machine does."""
    work = np.arange(200_000.0)
    found = compare(lambda: work.sort(), lambda: (work.sort(), work.sort()), 1, 40)
    assert 0.3 < found.low <= found.figures["ratio"] <= found.high < 0.8


def test_a_chain_in_newton_goes_the_same_way_and_loops_are_refused() -> None:
    """20 steps of 1e-4 s in float32, from rest angles at 0.1 rad/s: coordinates of some 1e-3 rad, to a thousandth."""
    pytest.importorskip("newton")
    from impulsar.bench import peer_newton

    start = np.random.default_rng(1).normal(scale=0.1, size=(4, 3))
    world = im.World(im.scene("chain", n=4), method="simgc", dt=1e-4, worlds=3)
    world.state.write("v", start)
    world.runner.refresh()
    take, q = peer_newton.batch(world.model, 1e-4, start, 20)
    take()
    world.step(20)
    assert np.abs(world.state.read("q")).max() > 1e-4
    np.testing.assert_allclose(q(), world.state.read("q"), rtol=0.0, atol=1e-6)
    with pytest.raises(ModelError, match="loops, which Newton's"):
        peer_newton.batch(im.scene("four-bar"), 1e-3, np.zeros((1, 1)), 1)
