"""Who must not learn the token, who may not hold the studio up, and what is left when a process is ended."""

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time as wall
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

import impulsar as im
from impulsar import edits
from impulsar.cli import main
from impulsar.history.history import History
from impulsar.io import meshes
from impulsar.studio import command, folders, server
from impulsar.studio.client import StudioClient
from impulsar.studio.protocols import most_connections
from impulsar.studio.security import Limits, Seldom
from impulsar.studio.server import Studio

from .test_command import running
from .test_security import ask, open_socket


def cookie_of(studio: Studio, url: str) -> str:
    """The secret that opening a link gives."""
    status, headers, _ = ask(studio, "GET", url.removeprefix(studio.origin), token=None, origin=None)
    assert status == 303
    return headers["set-cookie"].partition(";")[0].partition("=")[2]


def token_in(url: str) -> str:
    return url.partition("token=")[2]


# the token --------------------------------------------------------------------------------------------------


def test_the_cookie_is_another_secret_than_the_links(make_studio) -> None:
    """The link's token opens nothing as a cookie, and every opening has a cookie of its own."""
    studio: Studio = make_studio()
    first, second = cookie_of(studio, studio.url), cookie_of(studio, studio.url)
    assert len({token_in(studio.url), studio.token, first, second}) == 4
    assert all(ask(studio, "GET", "/api/scenes", token=secret)[0] == 200 for secret in (first, second))
    assert ask(studio, "GET", "/api/scenes", token=token_in(studio.url))[0] == 401
    assert ask(studio, "GET", f"/t/{token_in(studio.url)}/api/scenes", token=None, origin=None)[0] == 401


def test_log_out_ends_one_session_and_its_sockets(make_studio) -> None:
    studio: Studio = make_studio()
    first, second = cookie_of(studio, studio.url), cookie_of(studio, studio.url)
    with open_socket(studio, "/ws", token=first) as mine, open_socket(studio, "/ws", token=second) as theirs:
        mine.recv(timeout=10)
        assert ask(studio, "POST", "/api/logout", token=first, origin=None)[0] == 403
        status, headers, _ = ask(studio, "POST", "/api/logout", token=first)
        assert status == 200
        assert "Max-Age=0" in headers["set-cookie"]
        with pytest.raises(ConnectionClosed) as caught:
            while True:
                mine.recv(timeout=10)
        assert caught.value.rcvd is not None and caught.value.rcvd.code == 1008
        theirs.recv(timeout=10)
    assert ask(studio, "GET", "/api/scenes", token=first)[0] == 401
    assert ask(studio, "GET", f"/?token={first}", token=None, origin=None)[0] == 401
    assert ask(studio, "GET", "/api/scenes", token=second)[0] == 200
    assert ask(studio, "POST", "/api/logout")[0] == 422  # the studio's own
    assert ask(studio, "GET", "/api/scenes")[0] == 200
    with StudioClient(studio.url) as client:  # the link still begins sessions
        assert client.control("hash")["ok"]


def test_sessions_are_so_many_and_the_oldest_goes(make_studio) -> None:
    studio: Studio = make_studio(limits=Limits(requests_per_second=1e6))
    first = cookie_of(studio, studio.url)
    for _ in range(256):
        last = cookie_of(studio, studio.url)
    assert ask(studio, "GET", "/api/scenes", token=first)[0] == 401
    assert ask(studio, "GET", "/api/scenes", token=last)[0] == 200
    assert ask(studio, "GET", "/api/scenes")[0] == 200


def test_a_launch_opens_once(make_studio) -> None:
    studio: Studio = make_studio()
    url = studio.launch_url()
    assert token_in(url) not in (studio.token, token_in(studio.url))
    secret = cookie_of(studio, url)
    assert ask(studio, "GET", "/api/scenes", token=secret)[0] == 200
    assert ask(studio, "GET", url.removeprefix(studio.origin), token=None, origin=None)[0] == 401
    assert ask(studio, "GET", "/api/scenes", token=token_in(url))[0] == 401


def test_no_token_is_on_the_browsers_command_line(tmp_path: Path) -> None:
    """What a browser is started with, as any user can read it, is the name of a file that only this one can open."""
    told, fake = tmp_path / "arguments", tmp_path / "browser"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{told}.new"\nmv "{told}.new" "{told}"\n')
    fake.chmod(0o755)
    environment = {**os.environ, "BROWSER": f"{fake} %s", "TMPDIR": str(tmp_path)}
    with running("four-bar", browser=True, env=environment) as (process, url, _):
        end = wall.monotonic() + 20
        while not told.exists() and wall.monotonic() < end:
            wall.sleep(0.05)
        arguments = told.read_text()
        assert "token=" not in arguments and token_in(url) not in arguments
        page = Path(arguments.strip().removeprefix("file://"))
        assert page.stat().st_mode & 0o777 == 0o600
        assert page.parent.stat().st_mode & 0o777 == 0o700
        found = re.search(r'content="0;url=(http[^"]+)"', page.read_text())
        assert found and token_in(found[1]) != token_in(url)
        with StudioClient(found[1]) as client:
            assert client.control("hash")["ok"]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert not page.parent.exists()


# who has no token -------------------------------------------------------------------------------------------


def test_who_has_no_token_cannot_use_up_the_requests_of_who_has(make_studio) -> None:
    studio = make_studio(limits=Limits(requests_per_second=5.0, burst=2.0))
    assert {ask(studio, "GET", "/api/scenes", token="x" * 32)[0] for _ in range(60)} == {401}
    assert {ask(studio, "GET", "/?token=wrong", token=None, origin=None)[0] for _ in range(20)} == {401}
    assert ask(studio, "GET", "/api/scenes")[0] == 200


def raw(studio: Studio, text: str) -> socket.socket:
    found = socket.create_connection((studio.address.host, studio.address.port), timeout=10)
    found.sendall(text.encode())
    return found


def test_half_sent_requests_time_out(make_studio) -> None:
    """Nothing at all, half a header, half a second request, half a body."""
    studio: Studio = make_studio(limits=Limits(header_seconds=0.5, body_seconds=0.5))
    ours = f"Host: {studio.origin.removeprefix('http://')}\r\nCookie: {studio.gate.cookie}={studio.token}\r\n"
    for text in ("", "GET / HTTP/1.1\r\nHos"):
        with raw(studio, text) as found:
            assert found.recv(10) == b""
    with raw(studio, f"GET /api/scenes HTTP/1.1\r\n{ours}\r\nGET /api/sce") as found:
        data = b""
        while part := found.recv(65536):
            data += part
        assert data.startswith(b"HTTP/1.1 200")
        assert data.count(b"HTTP/1.1") == 1
    head = f"POST /api/mesh?name=a.stl HTTP/1.1\r\n{ours}Origin: {studio.origin}\r\nContent-Length: 100\r\n\r\nabc"
    with raw(studio, head) as found:
        assert found.recv(12) == b"HTTP/1.1 408"
    with StudioClient(studio.url) as client:  # which sends nothing for longer
        client.drain(1.5)
        assert client.control("hash")["ok"]


def test_connections_that_wait_do_not_keep_others_out(make_studio) -> None:
    studio: Studio = make_studio(limits=Limits(connections=10, header_seconds=60.0))
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(StudioClient(studio.url))
        held = [stack.enter_context(raw(studio, "GET / HTTP/1.1\r\nHos")) for _ in range(40)]
        for _ in range(3):
            assert ask(studio, "GET", "/api/scenes")[0] == 200
        assert client.control("hash")["ok"]
        with contextlib.suppress(ConnectionResetError):  # reset, or ended: whether its bytes had been read decides
            assert held[0].recv(10) == b""  # the one that waited longest


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of descriptors")
def test_few_descriptors_end_neither_requests_nor_fill_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    limited = ["bash", "-c", 'ulimit -n 128; exec "$@"', "-"]
    with running("four-bar", prefix=limited, log=log) as (_, url, _), contextlib.ExitStack() as stack:
        host, port = re.findall(r"//(.+):(\d+)/", url)[0]
        client = stack.enter_context(StudioClient(url))
        for _ in range(200):
            held = stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
            held.sendall(b"GET / HTTP/1.1\r\nHos")
        client.drain(2.0)
        assert client.request("GET", "/api/scenes").status == 200
        assert client.control("hash")["ok"]
        assert log.stat().st_size < 20_000
    assert most_connections(Limits()) <= Limits().connections


@pytest.mark.parametrize("opcode", [0x89, 0x8A, 0x00])
def test_frames_that_are_no_messages_are_counted_too(make_studio, opcode: int) -> None:
    """Pings, pongs and empty fragments: who floods is closed, the others go on."""
    studio = make_studio(limits=Limits(messages_per_second=20.0, burst=2.0))
    with StudioClient(studio.url) as other, open_socket(studio, "/ws") as ws:
        ws.recv(timeout=10)
        frames = bytes([opcode, 0x80, 0, 0, 0, 0]) * 2000
        begin = bytes([0x01, 0x80, 0, 0, 0, 0]) if opcode == 0 else b""  # a message of text that goes on
        with contextlib.suppress(OSError):  # closed meanwhile
            ws.socket.sendall(begin + frames)
        with pytest.raises(ConnectionClosed):
            end = wall.monotonic() + 10
            while wall.monotonic() < end:
                ws.recv(timeout=10)
        assert other.control("hash")["ok"]


def test_a_log_takes_so_many_lines() -> None:
    filter_ = Seldom(rate=1e-9, burst=5e9)
    record = logging.LogRecord("a", logging.WARNING, "", 0, "line %d", (1,), None)
    assert sum(filter_.filter(record) for _ in range(1000)) == 5
    filter_._bucket._left = 1.0
    assert filter_.filter(record)
    assert record.getMessage() == "line 1 (and 995 lines left out before)"


# messages ---------------------------------------------------------------------------------------------------


@pytest.mark.timed
def test_refusals_are_short_and_soon_whatever_the_names(make_studio) -> None:
    studio = make_studio("chain", n=2)
    with StudioClient(studio.url, timeout=60.0) as client:
        client.control("pause")
        for k in range(20):
            options = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0], "position": [float(k), 0.0, 0.0]}
            name = f"{k}" + "abcdefghij" * 20_000
            edit = {"edit": "Add", "kind": "body", "name": name, "options": options}
            client.reply(client.send(type="edit", edit=edit))
        for edit in (
            {"edit": "Grab", "hand": "h", "body": "abcdefghik" * 20_000},
            {"edit": "SetParameter", "path": "abcdefghik" * 20_000 + ".mass", "value": 1.0},
            {"edit": "Add", "kind": "spring", "name": "s", "options": {"first": "x" * 200_000, "second": "ground"}},
            {"edit": "x" * 200_000},
        ):
            began = wall.monotonic()
            reply = client.reply(client.send(type="edit", edit=edit))
            assert not reply["ok"]
            assert len(reply["text"]) <= 2_000
            assert wall.monotonic() - began < 2.0


def test_tables_of_loads_are_so_long_in_all(make_studio) -> None:
    """What all clients are told at every change stays below a megabyte or so."""
    studio = make_studio(limits=Limits(message=2**20))
    table = {"profile": "table", "times": [0.001 * k for k in range(3000)], "values": [[0.1, 0.2, 0.3]] * 3000}
    load = {"edit": "ApplyLoad", "body": "link3", "force": table}
    with StudioClient(studio.url, timeout=60.0) as client:
        client.control("pause")
        replies = [client.reply(client.send(type="edit", edit=load | {"name": f"a{k}"})) for k in range(2)]
        replies += [client.control("keep", parameters=load | {"name": f"b{k}"}) for k in range(2)]
        assert [reply["ok"] for reply in replies] == [True, True, False, False]
        assert "expected 20000 in all" in replies[-1]["text"]
        live = client.wait("live", lambda live: len(live["loads"]) == 2)
        assert len(json.dumps(live)) < 2**20


def test_downloads_that_fail_say_why_and_few_are_made_at_once(make_studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are made, two wait for them, and what comes after that is refused at once."""
    studio = make_studio(limits=Limits(downloads=2, waiting=2))
    with StudioClient(studio.url) as client:
        client.frame(lambda frame: frame.time > 0.1)
    go_on = threading.Event()

    def fail(*arguments: object) -> bytes:
        go_on.wait(20)
        raise ValueError("a name with a NUL")

    monkeypatch.setattr(server, "_netcdf", fail)
    found: list[tuple[int, str]] = []

    def fetch() -> None:
        status, _, body = ask(studio, "GET", "/api/results.nc")
        found.append((status, json.loads(body)["text"]))

    threads = [threading.Thread(target=fetch) for _ in range(7)]
    for thread in threads:
        thread.start()
    end = wall.monotonic() + 20
    while len(found) < 3 and wall.monotonic() < end:
        wall.sleep(0.01)
    go_on.set()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in found) == [429, 429, 429, 500, 500, 500, 500]
    assert all("a name with a NUL" in text for status, text in found if status == 500)


# meshes -----------------------------------------------------------------------------------------------------


def stl(corners: np.ndarray) -> bytes:
    triangles = np.zeros(len(corners) // 3, meshes.STL_TRIANGLE)
    triangles["corners"] = corners.reshape(-1, 3, 3)
    return b"\0" * 80 + len(triangles).to_bytes(4, "little") + triangles.tobytes()


@pytest.mark.parametrize("seed", range(6))
def test_a_hull_of_few_corners_has_them_all(seed: int) -> None:
    """Of a polytope given by many points on its faces."""
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(8, 400), 3)) * rng.uniform(0.05, 1.0, 3)
    whole = ConvexHull(points)
    weights = rng.dirichlet([1, 1, 1], size=30_000)
    on_faces = np.einsum("nk,nki->ni", weights, points[whole.simplices[rng.integers(0, len(whole.simplices), 30_000)]])
    found = meshes._corners("mesh", rng.permutation(np.vstack([on_faces, points[whole.vertices]])))
    middle = (points[whole.vertices].min(axis=0) + points[whole.vertices].max(axis=0)) / 2
    expected = points[whole.vertices] - middle
    assert sorted(map(tuple, found.round(9))) == sorted(map(tuple, expected.round(9)))


def round_points(rng: np.random.Generator, n: int) -> np.ndarray:
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def rims(rng: np.random.Generator, n: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle), np.where(np.arange(n) % 2, 1.0, -1.0)])


@pytest.mark.parametrize("shape", [round_points, rims])
def test_qhull_gets_few_points_whatever_the_mesh(shape, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time grows with the square of points on rims; the hull reaches as far as the mesh, within what 256 corners
    can show: 1 - cos of half their distance."""
    import scipy.spatial

    sizes: list[int] = []
    real = scipy.spatial.ConvexHull

    def counted(points: np.ndarray) -> object:
        sizes.append(len(points))
        return real(points)

    monkeypatch.setattr(scipy.spatial, "ConvexHull", counted)
    rng = np.random.default_rng(0)
    points = shape(rng, 300_000)
    found = meshes.read_mesh("a.stl", stl(points))
    hull, triangles = found.hull, found.triangles
    assert triangles == 100_000
    assert max(sizes) < 10 * meshes.MOST_CORNERS
    assert len(hull.points) <= meshes.MOST_CORNERS
    directions = round_points(rng, 200)
    reach = (points @ directions.T).max(axis=0), (np.asarray(hull.points) @ directions.T).max(axis=0)
    assert (reach[1] > 0.97 * reach[0]).all()


@pytest.mark.timed
def test_blank_lines_are_refused_soon() -> None:
    for data in (b"\n" * 2**25, b"\r\n" * 2**24, b" \n" * 2**24, b"x\n" * 2**24):
        began = wall.thread_time()
        with pytest.raises(im.ModelError, match="has 0 triangles"):
            meshes.read_mesh("a.obj", data)
        assert wall.thread_time() - began < 5.0


class Leaving:
    """A request whose client leaves after a while."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    async def receive(self) -> dict:
        await asyncio.sleep(self.seconds)
        return {"type": "http.disconnect"}


def run_apart(coroutine: Coroutine[None, None, dict]) -> dict:
    """Runs a coroutine in a thread of its own: a browser's tests may have left a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def test_a_mesh_is_read_in_a_process_that_ends_with_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    real = asyncio.create_subprocess_exec

    async def noted(*arguments: str, **options: object) -> asyncio.subprocess.Process:
        started.append(await real(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    data = stl(round_points(np.random.default_rng(0), 30_000))
    found = run_apart(server.read_beside("a.stl", data, Leaving(60.0)))  # type: ignore[arg-type]
    assert found["triangles"] == 10_000
    assert 200 < len(found["points"]) <= 256
    with pytest.raises(im.ModelError, match="nobody waits for it"):
        run_apart(server.read_beside("a.stl", data, Leaving(0.05)))  # type: ignore[arg-type]
    monkeypatch.setattr(server, "MESH_SECONDS", 0.05)
    with pytest.raises(im.ModelError, match="took more than"):
        run_apart(server.read_beside("a.stl", data, Leaving(60.0)))  # type: ignore[arg-type]
    assert [process.returncode for process in started] == [0, -signal.SIGKILL, -signal.SIGKILL]
    monkeypatch.setattr(server, "MESH_SECONDS", 60.0)
    with pytest.raises(im.ModelError, match="no volume"):
        run_apart(server.read_beside("a.stl", stl(np.zeros((30_000, 3))), Leaving(60.0)))  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_process_that_reads_a_mesh_has_limits() -> None:
    code = "from impulsar.io import meshes\nmeshes.MOST_MEMORY = 2**20\nmeshes.main()"
    done = subprocess.run([sys.executable, "-c", code, "a.stl"], input=stl(np.ones((300_000, 3))), capture_output=True)
    assert done.returncode != 0 or "refusal" in json.loads(done.stdout)
    code = "from impulsar.io import meshes\nmeshes.MOST_SECONDS = 1\nmeshes._stl = lambda *a: any(iter(bool, 1))\n"
    code += "meshes.main()"
    done = subprocess.run([sys.executable, "-c", code, "a.stl"], input=b"", capture_output=True, timeout=60)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


# ends -------------------------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder for temporary ones, and the environment that says so."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder, {**os.environ, "TMPDIR": str(folder)}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT"])
def test_signals_close_the_journal_and_remove_keys(tmp_path: Path, elsewhere, name: str) -> None:
    folder, environment = elsewhere
    journal = tmp_path / "journal"
    with running("four-bar", "--tls", "--paused", "--journal", str(journal), env=environment) as (process, url, _):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with StudioClient(url, context=context) as client:
            client.control("step", 7)
            last = client.control("hash")
        assert [path.name for path in folder.glob("*/key.pem")] == ["key.pem"]
        process.send_signal(getattr(signal, name))
        process.wait(20)
    assert list(folder.iterdir()) == []
    history = History.open(journal)
    assert (history.world.hash(), history.count) == (last["text"], 7)
    history.close()
    assert b'"record":"hash","step":7' in journal.read_bytes().replace(b" ", b"")


def test_folders_of_killed_runs_go_at_the_next_start(elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, environment = elsewhere
    with running("four-bar", env=environment) as (living, url, _):
        with running("four-bar", env=environment) as (process, _, _):
            os.kill(process.pid, signal.SIGKILL)
            process.wait(20)
        assert len(list(folder.iterdir())) == 2
        (folder / "impulsar-studio-mine").mkdir()  # has no lock: not ours to judge
        monkeypatch.setattr(folders.tempfile, "tempdir", str(folder))
        with folders.private_folder() as own:
            assert own.stat().st_mode & 0o777 == 0o700
            assert len(list(folder.iterdir())) == 3  # the living one's, somebody's, and this
        with StudioClient(url) as client:
            assert client.request("GET", "/api/journal").status == 200
        living.send_signal(signal.SIGINT)
        living.wait(20)
    assert [path.name for path in folder.iterdir()] == ["impulsar-studio-mine"]


def test_a_wrong_certificate_is_told_before_anything_else(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for name, text in (
        ("empty.pem", ""),
        ("wrong.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
    ):
        (tmp_path / name).write_text(text)
        path = str(tmp_path / name)
        assert main(["studio", "four-bar", "--no-browser", "--cert", path, "--key", path]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "not a certificate and its key in PEM" in said.err
        assert len(said.err.strip().splitlines()) == 1


def test_a_full_disk_at_a_scene_change_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from impulsar.author.errors import FileError
    from impulsar.studio.session import Session

    session = Session(History(im.World(im.scene("four-bar")), tmp_path / "journal"))

    def full(world: im.World) -> History:
        raise FileError("'journal': cannot be opened: ...; check the name") from OSError(28, "No space left on device")

    monkeypatch.setattr(session, "_make_history", full)
    with pytest.raises(im.ModelError, match="No space left on device") as caught:
        session.replace_world(im.scene("chain", n=2), "chain")
    assert "check the name" not in str(caught.value)
    assert session.history.apply(edits.SetStep(0.02)).text == "step is 0.02 s"
    session.stop()


def test_ignored_signals_stay_ignored() -> None:
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with command._ended_by_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            with pytest.raises(SystemExit):
                signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is not None
    finally:
        signal.signal(signal.SIGHUP, before)
