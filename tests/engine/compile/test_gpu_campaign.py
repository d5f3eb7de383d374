"""The campaign for a GPU, gone through on a CPU: all its code, with errors that count and speeds that do not."""

import json

import pytest

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
