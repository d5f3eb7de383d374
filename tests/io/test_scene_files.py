"""Scene files: readable, exact, bounded in time and memory; the commands that take them."""

import json
import os
import subprocess
import sys
import time

import pytest

import impulsar as im
from impulsar.cli import main
from impulsar.io import FileError, load_model, model_to_json, save_model
from impulsar.io.scene_files import LARGEST_FILE, parse
from impulsar_verification import fuzz
from impulsar_verification.fuzz import everything


def test_a_saved_scene_runs_to_the_same_bits(tmp_path):
    path = tmp_path / "scene.json"
    model = everything()
    save_model(model, path)
    worlds = [im.World(each, dt=0.001) for each in (model, load_model(path))]
    for world in worlds:
        world.step(100)
    assert worlds[0].hash() == worlds[1].hash()
    assert os.listdir(tmp_path) == ["scene.json"]
    assert max(map(len, path.read_text().splitlines())) <= 120


NEAR = LARGEST_FILE - 1000


def with_mass(text: str) -> bytes:
    """A scene whose first mass is written otherwise."""
    return json.dumps(model_to_json(everything())).replace('"mass": 0.1', text, 1).encode()


def many_bodies() -> bytes:
    """As many as a file may have, the last one wrong."""
    body = {"mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    bodies = [{"name": f"b{k}"} | body for k in range(9_000)] + [{"name": "last"} | body | {"mass": -1}]
    return json.dumps({"format": "impulsar scene", "version": 1, "bodies": bodies}).encode()


JUNK = {
    "a hundred megabytes": lambda: b"{}" * 50 * 2**20,
    "brackets": lambda: b"[" * NEAR,
    "brackets in a text": lambda: b'{"a": "' + b"[" * NEAR + b'"}',
    "deep": lambda: b"[" * 10_000 + b"]" * 10_000,
    "deep objects": lambda: b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "numbers": lambda: b"[" + b"1," * 390_000 + b"1]",
    "objects": lambda: b"[" + b"{}," * 190_000 + b"{}]",
    "a long text": lambda: b'{"version": 1, "format": "' + b"x" * NEAR + b'"}',
    "a long number": lambda: b'{"version": ' + b"9" * NEAR + b"}",
    "ten thousand digits": lambda: b'{"version": ' + b"9" * 10_000 + b"}",
    "escapes": lambda: b'{"' + b"\\u0041" * (NEAR // 6) + b'": 1}',
    "quotes": lambda: b'"' * NEAR,
    "backslashes": lambda: b'{"a": "' + b"\\" * NEAR,
    "1e999": lambda: with_mass('"mass": 1e999'),
    "NaN": lambda: with_mass('"mass": NaN'),
    "Infinity": lambda: with_mass('"mass": -Infinity'),
    "a key twice": lambda: with_mass('"mass": 0.1, "mass": 0.2'),
    "no UTF-8": lambda: with_mass('"mass": 0.1') + b"\xff",
    "cut": lambda: with_mass('"mass": 0.1')[:-10],
    "empty": lambda: b"",
    "null": lambda: b"null",
    "many bodies": many_bodies,
    "zeros": lambda: bytes(NEAR),
    "an open text of quotes": lambda: b"[" * 65 + b'"' + b'\\"' * (NEAR // 2),
    "an open text that ends in a backslash": lambda: b"[" * 65 + b'"' + b'\\"' * (NEAR // 2) + b"\\",
    "open texts": lambda: b"[" * 65 + b'"\\' * (NEAR // 2),
    "the last of many keys twice": lambda: b"{" + b"".join(b'"%d":0,' % k for k in range(390_000)) + b'"389999":0}',
    "parts by long names": lambda: b'{"version": 0, "bodies": {"' + b"x" * NEAR + b'": 1}}',
    "an escape sequence": lambda: with_mass('"mass": 0.1').replace(b'"link2"', b'"link\\u001b]0;2\\u0007"'),
    "a NUL": lambda: with_mass('"mass": 0.1').replace(b'"link2"', b'"link\\u0000"'),
    "a line": lambda: with_mass('"mass": 0.1').replace(b'"link2"', b'"link\\u2028"'),
}


@pytest.mark.timed
@pytest.mark.parametrize("name", JUNK)
def test_junk_is_refused_by_name_inside_a_second(name, tmp_path):
    """Of the process's own time: others may be at work on the machine."""
    path = tmp_path / "junk.json"
    path.write_bytes(JUNK[name]())
    began = time.process_time()
    with pytest.raises(FileError, match=r"junk\.json") as caught:
        load_model(path)
    assert time.process_time() - began < 1.0
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


@pytest.mark.timed
def test_json_is_read_in_linear_time():
    """Of sixteen times as much text, far less than the 256 times of a square."""
    forms = {
        "an open text": lambda n: b"[" * 65 + b'"' + b'\\"' * n,
        "a key twice": lambda n: b"{" + b"".join(b'"%d":0,' % k for k in range(n // 10)) + b'"%d":0}' % (n // 10 - 1),
        "texts": lambda n: b"[" * 65 + b'"\\"",' * (n // 5),
    }
    for name, make in forms.items():
        spent = []
        for n in (250_000, 4_000_000):
            data = make(n)
            began = time.process_time()
            with pytest.raises(FileError):
                parse(data, most=float("inf"))
            spent.append(time.process_time() - began)
        assert spent[1] < max(64 * spent[0], 0.5), name


def test_a_message_is_short_and_obeys_nobody():
    """Names of any length, and sequences that a terminal would carry out, are shown and not sent."""
    error = FileError("\x1b]52;c;x\x07 and \x9b2J and \u2028" + "x" * 10**6)
    assert len(str(error)) < 5000
    assert "\\x1b]52" in str(error) and str(error).isprintable()


LOAD_ALL = """
import resource, sys
from impulsar.io import FileError, load_model
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    try:
        load_model(path)
    except FileError:
        continue
    sys.exit(path)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_junk_takes_little_memory(tmp_path):
    """All of it, in a process of its own: at most 16 times the largest file that is read, 256 MiB."""
    paths = []
    for k, make in enumerate(JUNK.values()):
        paths.append(tmp_path / f"{k}.json")
        paths[-1].write_bytes(make())
    command = [sys.executable, "-c", LOAD_ALL, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 16 * LARGEST_FILE


def test_the_commands_take_files(tmp_path, capsys):
    path = str(tmp_path / "lift.json")
    assert main(["scenes", "cross-lift", "--set", "case=load", "--save", path]) == 0
    assert main(["run", path, "--duration", "0.02", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["model"] == im.scene("cross-lift", case="load").name
    assert main(["analyse", "mobility", path]) == 0
    assert "63" in capsys.readouterr().out


def test_the_commands_refuse_bad_files_in_one_line(tmp_path, capsys):
    path = tmp_path / "bad.json"
    path.write_text('{"format": "impulsar scene", "version": 1, "bodies": [{"name": "a"}]}')
    for arguments in (["run", str(path)], ["analyse", "mobility", str(path)], ["run", str(tmp_path / "none.json")]):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert error.startswith("impulsar: '") and error.count("\n") == 1
    assert main(["run", str(path), "--set", "start=hanging"]) == 2
    assert main(["scenes", "nosuch"]) == 2


def test_the_schema_is_printed(capsys):
    assert main(["scenes", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Impulsar scene"


def test_fuzzed_scene_files_end_in_typed_errors_only():
    """1,000 cases; 100,000 of files and edits together in `impulsar validate fuzz`."""
    assert fuzz.fuzz_scenes(1_000) > 20


def test_fuzzed_edits_end_in_typed_errors_only():
    assert fuzz.fuzz_edits(1_000) > 20
