"""The report: one page that needs nothing else, sentences of its own numbers, diagrams whose slopes are orders."""

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from impulsar import cli
from impulsar.author.errors import ModelError
from impulsar.bench import peers, planar
from impulsar.validate import report
from impulsar.validate.report import diagrams, projection
from impulsar.validate.report.page import listed
from impulsar.validate.report.work import (
    OURS,
    PROBLEMS,
    Curve,
    Ours,
    Point,
    cost_at,
    distance,
    hull,
    judgement,
    order_of,
    reference,
    work_order,
)

PENDULUM, FOUR_BAR = PROBLEMS[0], PROBLEMS[1]


class Page(HTMLParser):
    """Tags that close as they open, links, pictures and the text."""

    EMPTY = ("meta", "img", "!doctype")

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.pictures: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        self.links += [found[key] for key in ("href", "src", "action", "srcset") if key in found]
        self.ids += [found["id"]] if "id" in found else []
        self.pictures += [found["src"]] if tag == "img" else []
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict]:
    """A quick report of sections that take seconds, by the command."""
    folder = tmp_path_factory.mktemp("report")
    words = "validate lift-mobility power --quick --section laws --section drift --section projection --section mariti"
    assert cli.main([*words.split(), "--report", str(folder)]) == 0
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return (folder / "report.html").read_text(encoding="utf-8"), data


def test_the_page_is_whole_and_needs_nothing_else(written: tuple[str, dict]) -> None:
    """Tags close, contents lead to sections, every section has its figure, nothing is fetched."""
    text, data = written
    page = Page(text)
    assert page.open == []
    assert list(data["sections"]) == ["drift", "laws", "projection", "mariti"]
    for name, section in data["sections"].items():
        assert name in page.ids and f"#{name}" in page.links
        assert section["sentences"]
    assert len(page.pictures) == len(data["sections"])
    assert all(link.startswith(("#", "data:image/")) for link in page.links)
    assert not re.search(r"url\(|@import|<script|<link|<iframe", text)
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text


def test_the_page_says_what_made_it(written: tuple[str, dict]) -> None:
    """Versions, processor and command; no name of the machine."""
    import platform

    text, data = written
    about = data["about"]
    assert {"command", "impulsar", "python", "libraries", "peers", "processor", "settings"} <= set(about)
    assert about["command"].startswith("impulsar validate lift-mobility power --report DIR --quick --section ")
    if len(platform.node()) > 3:
        assert platform.node() not in text


def test_sentences_are_those_of_the_numbers(written: tuple[str, dict]) -> None:
    text, data = written
    words = " ".join(Page(text).words)
    for section in data["sections"].values():
        for sentence in section["sentences"]:
            assert sentence in words
    laws, drift = data["sections"]["laws"], data["sections"]["drift"]
    held = sum(case["holds"] for case in laws["data"])
    assert laws["sentences"][0].startswith(f"{held} of 2 laws hold.")
    for label, errors in drift["data"]["curves"].items():
        assert f"{max(errors):.2g} m ({label})" in drift["sentences"][0]
    runs = data["sections"]["mariti"]["data"]
    whole = [run for run in runs if not run["note"]]
    assert f"{len(runs) - len(whole)} of {len(runs)} runs come apart." in data["sections"]["mariti"]["sentences"][0]
    assert f"{min(run['norm'] for run in whole):.2g}" in data["sections"]["mariti"]["sentences"][0]


def test_drift_is_that_of_the_equation_of_index_1(written: tuple[str, dict]) -> None:
    """Φ̈ = an error of RK4 at every step: without stabilisation joints open as t²; feedback and projection hold them
    far below that (Wang 2011 fig. 1)."""
    drift = written[1]["sections"]["drift"]
    assert drift["missing"] == []
    worst = drift["data"]["worst"]
    errors = drift["data"]["curves"]["without stabilisation"]
    half = len(errors) // 2
    assert math.log2(errors[-1] / errors[half - 1]) == pytest.approx(2.0, abs=0.3)
    assert worst["baumgarte"] < min(1e-4, worst["without stabilisation"] / 10)
    assert worst["projected"] < 1e-12


def test_both_projections_find_a_closed_place_and_the_sequential_is_cheaper(written: tuple[str, dict]) -> None:
    rows = {row["way"]: row for row in written[1]["sections"]["projection"]["data"]}
    assert rows["none"]["drift"] > 100 * max(rows["sequential"]["drift"], rows["full KKT"]["drift"])
    assert rows["sequential"]["microseconds"] < rows["full KKT"]["microseconds"]


def test_projections_are_least_changes() -> None:
    """Both close positions and velocities, to the rounding of J M⁻¹ Jᵀ; the sequential change is orthogonal, by the
    masses, to what joints allow."""
    from impulsar.scenes import scene
    from impulsar.validate.oracle import Oracle

    oracle = Oracle(scene("four-bar"))
    rows = projection.independent(oracle)
    assert len(rows) == 6 * len(oracle.names) - oracle.freedoms(oracle.start)
    rng = np.random.default_rng(3)
    size = 6 * len(oracle.names)
    pose, V = oracle.start.moved(1e-5 * rng.normal(size=size)), rng.normal(size=size)
    for project in (projection.sequential, projection.full):
        place, velocity = project(oracle, rows, pose, V)
        error, J = oracle.rows(place)
        A = J[rows] @ np.linalg.solve(oracle.mass_matrix(place), J[rows].T)
        assert np.abs(error[rows]).max() < 1e-12
        assert np.abs(J[rows] @ velocity).max() < 10 * np.finfo(float).eps * np.linalg.cond(A)
    _, J = oracle.rows(pose)
    shift = projection._least(oracle, pose, J[rows], J[rows] @ V)
    free = np.linalg.svd(J[rows])[2][len(rows) :].T
    assert np.abs(free.T @ oracle.mass_matrix(pose) @ shift).max() < 1e-10


def test_a_method_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from impulsar.validate.report import stabilisation

    monkeypatch.setattr(stabilisation, "made", lambda name, options: None)
    data = report.write(tmp_path, quick=True, names=["stabilisation"])
    assert data["sections"]["stabilisation"]["missing"] == ["method baumgarte"]
    assert "not available: method baumgarte" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_wrong_section_and_options_without_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, says in (
        (["validate", "--report", str(tmp_path), "--section", "drfit"], "did you mean 'drift'?"),
        (["validate", "--quick"], "give --report DIR too"),
    ):
        assert cli.main(words) == 2
        told = capsys.readouterr().err
        assert says in told and len(told.splitlines()) == 1


# work and precision -----------------------------------------------------------------------------------


def test_slopes_of_a_diagram_are_the_orders() -> None:
    """simgc errs as h. Sub-steps of `direct` are as long as rtol^(1/5), so that its error goes as the inverse fifth
    power of their number; both without a clock."""
    truth = reference(FOUR_BAR)
    part = FOUR_BAR.duration / FOUR_BAR.samples
    simgc = Curve("four-bar", OURS, "simgc", "")
    contender = Ours("simgc", "generalized", (("epsilon", 1e-11),), False)
    for n in (1024, 2048, 4096):
        places = contender.prepare(FOUR_BAR, part / n).positions()
        simgc.points.append(Point(contender.label(part / n), distance(places, truth.positions), 1.0))
    assert order_of(simgc, 3 * truth.doubt) == pytest.approx(1.0, abs=0.05)
    errors, work = [], []
    for tolerance in (1e-7, 1e-8, 1e-9, 1e-10):
        passage = Ours("direct", "generalized").prepare(FOUR_BAR, tolerance)
        errors.append(distance(passage.positions(), truth.positions))
        passage.world.restore(passage.start)
        work.append(passage.world.step(passage.stride * FOUR_BAR.samples).substeps)
    assert np.polyfit(np.log(work), np.log(errors), 1)[0] == pytest.approx(-5.0, abs=0.8)


def test_reference_is_the_closed_form_of_the_pendulum() -> None:
    """Elliptic functions, within three times what is said to be its doubt and rounding."""
    from impulsar.validate.convergence import G, swing

    truth = reference(PENDULUM)
    exact = []
    for t in PENDULUM.times:
        angle = swing(t, 1.0, math.sqrt(1.5 * G))
        exact.append([[-0.5 * math.sin(angle), 0.0, -0.5 * math.cos(angle)]])
    assert np.abs(truth.positions - exact).max() < 3 * truth.doubt + 1e-13
    assert truth.doubt < 1e-10


def test_costs_lie_on_the_lower_hull() -> None:
    """Between settings linear in the logarithms; as the coarsest beyond it; none beyond the finest."""
    points = [Point("a", 1e-2, 1.0), Point("b", 1e-3, 5.0), Point("c", 1e-4, 4.0), Point("d", 1e-6, 400.0)]
    assert [point.setting for point in hull(points)] == ["a", "c", "d"]
    assert cost_at(points, 1e-1) == 1.0
    assert cost_at(points, 1e-3) == pytest.approx(2.0)
    assert cost_at(points, 1e-5) == pytest.approx(40.0)
    assert cost_at(points, 1e-7) is None


def curves() -> list[Curve]:
    """Two programs of which the peer is ahead above 1e-4 m."""
    ours = Curve("four-bar", OURS, "direct", "", [Point("", 1e-3, 2.0), Point("", 1e-9, 4.0)])
    peer = Curve("four-bar", "Exudyn", "RK", "", [Point("", 1e-3, 1.0), Point("", 1e-5, 100.0)])
    return [ours, peer]


def test_judgement_names_the_fastest_and_says_where_a_peer_is_ahead() -> None:
    verdict = judgement(curves())
    assert [row["fastest"] for row in verdict] == ["Exudyn", OURS, OURS, OURS]
    assert verdict[0]["ratio"]["Exudyn"] == pytest.approx(2.0)
    assert verdict[1]["ratio"]["Exudyn"] == pytest.approx(2.0 ** (4 / 3) / 100)
    assert "Exudyn" not in verdict[2]["costs"]
    data = {"four-bar": {"judgement": verdict, "aim": diagrams.aim(curves())}}
    assert data["four-bar"]["aim"]["fastest"] is True
    said = diagrams.overall(data)
    assert said[0].startswith("Impulsar needs the least time at every error from 1e-05 to 1e-09 m on 1 of 1")
    assert "at most a third of Exudyn's time on 1 of 1" in said[1]
    assert said[2] == "Ahead of Impulsar: Exudyn at 1e-03 m on four-bar."
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_work_order_is_a_slope() -> None:
    points = [Point("", 10.0**-k, 10.0 ** (k / 5)) for k in range(8)]
    assert work_order(Curve("", "", "", "", points), 1e-12) == pytest.approx(-5.0)


@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(own, id=own.name, marks=[pytest.mark.study] if own.name == "cross-lift" else [])  # 12 s each
        for own in PROBLEMS
    ],
)
@pytest.mark.parametrize("peer", peers.PEERS)
def test_peers_have_the_same_motion(peer: str, problem) -> None:
    """Every peer's best integrator comes as near to the reference as its order says at two settings: within 1e-4 m,
    and nearer by a factor of 2 at least where the setting is finer."""
    pytest.importorskip(peers.PEERS[peer][1])
    import importlib

    module = importlib.import_module(f"impulsar.bench.{peers.PEERS[peer][0]}")
    known = {one.variant: one for one in module.contenders(problem)}
    name = next(v for v in ("RK67", "RK4", "DOP853", "trapezoidal, index 2") if v in known)
    truth = reference(problem)
    part = problem.duration / problem.samples
    knobs = {"DOP853": (1e-4, 1e-7)}.get(name, (part / 64, part / 256))
    if problem.name == "cross-lift" and name == "DOP853":
        knobs = (1e-3, 1e-4)  # springs from Python
    errors = []
    for knob in knobs:
        found = known[name].prepare(problem, knob).positions()
        errors.append(np.linalg.norm(found - truth.positions, axis=-1).max())
    assert errors[1] < 1e-4
    assert errors[1] < errors[0] / 2 or errors[1] < 10 * truth.doubt + 1e-12


def test_planar_mechanisms_are_the_smallest() -> None:
    """The lift in its plane: 7 bodies, 18 equations, 3 freedoms; no equation twice."""
    lift = planar.project(PROBLEMS[4].build())
    assert len(lift.mass) == 7 and sum(lift.mass) == pytest.approx(1.1)
    assert sum({"hinge": 2, "slot": 1, "slide": 2}[joint.kind] for joint in lift.joints) == 18
    order, loops = lift.tree()
    assert len(order) == 7 and len(loops) == 3 and {joint.kind for joint in loops} == {"hinge"}
    with pytest.raises(ModelError, match="do not turn in one plane"):
        planar.project(__import__("impulsar").scene("manipulator"))
