"""The campaign for a GPU, gone through on a CPU: all its code, with errors that count and speeds that do not."""

import json

import pytest

from impulsar.engine import freedoms
from impulsar_verification import gpu


def test_it_goes_through_a_linkage_with_its_errors(capsys) -> None:
    """Compiled, there and back; exit status 1, since no CPU has the speeds that are wanted."""
    asked = ["--device", "cpu", "--worlds", "5", "--rounds", "1", "--only", "four-bar", "--json"]
    assert gpu.main(asked) == 1
    rows = {(row["case"], row.get("fused")): row for row in json.loads(capsys.readouterr().out)}
    for fuse in (True, False):
        steps, back = rows["four-bar", fuse], rows["four-bar there and back", fuse]
        assert steps[gpu.SPEED] > 0.0 and steps[gpu.EACH] > 0.0 and not steps["holds"]
        assert steps["apart"] <= gpu.NEAR and steps["gap [m, rad]"] <= 1e-9 and steps["variants"] >= 1
        assert back[gpu.SPEED] > 0.0 and back["error"] <= gpu.SLOPE


def test_a_machine_without_a_compiler_for_the_cpu_is_given_references(tmp_path, capsys, monkeypatch) -> None:
    """They are those that it would have made; without them it says so."""
    name, asked = str(tmp_path / "references"), ["--device", "cpu", "--worlds", "3", "--rounds", "1", "--json"]
    only = ["--only", "chain(10) generic"]
    monkeypatch.setattr(gpu, "KNOWN", {})
    assert gpu.main([*asked, *only, "--write-references", name]) == 0
    made, states = gpu.KNOWN.popitem()
    assert states.shape[1] == gpu.STATES + gpu.APART and made == gpu.GENERIC[0].key and not capsys.readouterr().out
    monkeypatch.setattr(gpu.wp, "is_cpu_available", lambda: False)
    monkeypatch.setattr(freedoms, "host_device", lambda: "cpu")
    monkeypatch.setattr(gpu, "along", None)
    assert gpu.main([*asked, *only]) == 2
    told = capsys.readouterr().err
    assert "no references of chain(10) generic: write them" in told and told.count("\n") == 1
    assert gpu.main([*asked, *only, "--references", name]) == 1
    (row,) = (row for row in json.loads(capsys.readouterr().out) if "apart" in row)
    assert row["apart"] == 0.0 and (gpu.KNOWN[made] == states).all()


def test_a_speed_does_not_stand_without_its_error() -> None:
    case = gpu.Case("", "", {}, {}, 1e9, near=1e-12)
    assert gpu.judged({gpu.SPEED: 2e9, "apart": 1e-13}, case)["holds"]
    assert not gpu.judged({gpu.SPEED: 2e9, "apart": 1e-11}, case)["holds"]
    assert not gpu.judged({gpu.SPEED: 9e8, "apart": 1e-13}, case)["holds"]


@pytest.mark.parametrize(
    "asked, told", [(["--device", "cuda:9"], "no device cuda:9"), (["--device", "cpu", "--worlds", "0"], "at least 1")]
)
def test_what_cannot_be_measured_is_refused(asked, told, capsys) -> None:
    assert gpu.main(asked) == 2
    assert told in capsys.readouterr().err
