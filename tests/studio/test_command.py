"""`impulsar studio`: from the command line to a client, and back after a crash."""

import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from impulsar import edits
from impulsar.cli import main
from impulsar.studio.client import StudioClient


@contextmanager
def running(
    *arguments: str,
    prefix: Sequence[str] = (),
    env: dict[str, str] | None = None,
    browser: bool = False,
    log: Path | None = None,
) -> Iterator[tuple[subprocess.Popen, str, list[str]]]:
    """The command in a process of its own: it, its link, and what it said before."""
    command = [*prefix, sys.executable, "-m", "impulsar", "studio", *arguments, *([] if browser else ["--no-browser"])]
    with log.open("w") if log else nullcontext(subprocess.STDOUT) as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=env)
    said: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"(https?://\S+token=\S+)", line):
                yield process, found[1], said
                break
        else:
            pytest.fail("".join(said))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def test_it_serves_and_ends_at_ctrl_c() -> None:
    with running("ten-pendula", "--set", "start=30deg", "--method", "simgc", "--paused") as (process, url, _):
        with StudioClient(url) as client:
            assert client.frame().has("paused")
            assert client.newest["status"]["method"] == "simgc"
            assert client.newest["status"]["scene"] == "ten-pendula"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_a_journal_resumes_after_a_crash(tmp_path: Path) -> None:
    """kill -9, start again: the same world at the same time, with its history."""
    journal = tmp_path / "session.journal"
    with running("ten-pendula", "--journal", str(journal), "--paused") as (process, url, _):
        with StudioClient(url) as client:
            client.edit(edits.SetParameter("link3.mass", 0.4))
            client.edit(edits.Grab("pointer", "link10"))
            client.edit(edits.Move("pointer", (0.0, 0.1, -0.4)))
            client.control("step", 40)
            client.edit(edits.Release("pointer"))
            before = client.control("hash")
        os.kill(process.pid, signal.SIGKILL)
    with running("--journal", str(journal), "--paused") as (_, url, _), StudioClient(url) as client:
        after = client.control("hash")
        assert (after["text"], after["time"]) == (before["text"], before["time"])
        scene = client.wait("scene")
        assert scene["bodies"][2]["mass"] == 0.4
        assert client.newest["status"]["journal"] == str(journal)
        assert client.control("undo")["ok"]


def test_tls_by_a_self_made_certificate() -> None:
    with running("four-bar", "--tls") as (_, url, said):
        assert url.startswith("https://")
        assert any("SHA-256" in line for line in said)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with StudioClient(url, context=context) as client:
            assert client.frame().time >= 0.0
            assert client.request("GET", "/api/scenes").status == 200


def test_remote_says_what_it_means_and_is_encrypted() -> None:
    with running("four-bar", "--host", "0.0.0.0", "--allow-remote") as (_, url, said):
        text = "".join(said)
        assert url.startswith("https://")
        assert "everyone who can reach 0.0.0.0" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "start=30deg"], "--set start=30deg: of which scene?"),
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--host", "192.0.2.1"], "--allow-remote"),
        (["--cert", "a.pem"], "give both"),
        (["--cert", "a.pem", "--key", "b.pem"], "no such file"),
        (["--tls", "--no-tls"], "contradicts"),
        (["--port", "70000"], "0 to 65535"),
        (["four-baar"], "did you mean"),
        (["--speed", "-1"], "number > 0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture) -> None:
    try:
        status: object = main(["studio", *arguments])
    except SystemExit as stopped:
        status = stopped.code
    error = capsys.readouterr().err
    assert status == 2
    assert says in error
    assert len(error.strip().splitlines()) == 1
