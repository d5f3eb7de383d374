"""`impulsar analyse`: tables, JSON alone on standard output, one line for a mistake."""

import json

import pytest

from impulsar.cli import main


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("mobility cross-lift", ["96", "63", "33", "Grübler's count -30", "joint 'rod2B': x, y, z, tilt x, tilt y"]),
        ("assemble four-bar", ["closed"]),
        ("statics cross-lift --set case=load --time 3", ["0.37774964", "stable", "baseA"]),
        ("modes cross-lift", ["170.6329", "0.04274", "plate"]),
        ("inverse peaucellier --duration 1 --every 0.5", ["crank", "0.786333", "largest"]),
    ],
)
def test_tables(arguments, says, capsys):
    assert main(["analyse", *arguments.split()]) == 0
    out = capsys.readouterr().out
    for words in says:
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "key", "value"),
    [
        ("mobility peaucellier --motors", "freedoms", 0),
        ("assemble four-bar", "closed", True),
        ("statics slider-crank", "stable", True),
        ("modes four-bar", "growth", [0.0]),
        ("inverse peaucellier --duration 1 --every 0.5", "time", [0.0, 0.5, 1.0]),
    ],
)
def test_json(arguments, key, value, capsys):
    assert main(["analyse", *arguments.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[key] == value


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("mobility cross-lfit", "did you mean 'cross-lift'?"),
        ("modes peaucellier", "has no freedom to vibrate in"),
        ("inverse four-bar", "no joint is driven"),
        ("statics four-bar --motors", "--motors: is for mobility"),
        ("mobility four-bar --every 1", "--every: is for inverse"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments, says, capsys):
    assert main(["analyse", *arguments.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert says in captured.err


def test_an_unknown_kind_is_status_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["analyse", "statistics", "four-bar"])
    assert ended.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
