"""The gate: every route without a token, from another page, by another name; what is too much or wrong."""

import http.client
import io
import json
import random
import socket
import struct
import zipfile

import pytest
from starlette.routing import Route, WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import impulsar as im
from impulsar.io.loaders import LOADERS, Loader
from impulsar.studio.client import StudioClient
from impulsar.studio.security import Address, Bucket, Limits
from impulsar.studio.server import NO_PAGE, PAGE, Place, Studio, ancestors

FIRST_TOLD = {"/ws": "scene", "/large-line": "large-status"}  # over each line


def ask(
    studio: Studio,
    method: str,
    path: str,
    body: bytes | None = None,
    token: str | None = "right",
    origin: str | None = "right",
    host: str | None = "right",
    **more: str,
) -> tuple[int, dict[str, str], bytes]:
    """A request with headers right, wrong or missing; status, headers and body of the answer."""
    ours = studio.origin.removeprefix("http://")
    headers = {"Host": ours if host == "right" else host or ""}
    if origin is not None:
        headers["Origin"] = studio.origin if origin == "right" else origin
    if token is not None:
        headers["Cookie"] = f"{studio.gate.cookie}={studio.token if token == 'right' else token}"
    connection = http.client.HTTPConnection(ours, timeout=20)
    connection.request(method, path, body, headers | more)
    answer = connection.getresponse()
    found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    connection.close()
    return found


def open_socket(
    studio: Studio, path: str, token: str | None = "right", origin: str | None = "right", host: str = "right"
):
    ours = studio.origin.removeprefix("http://")
    headers = {}
    if token is not None:
        headers["Cookie"] = f"{studio.gate.cookie}={studio.token if token == 'right' else token}"
    name = "127.0.0.1" if host == "right" else host
    sock = socket.create_connection((studio.address.host, studio.address.port))
    return connect(
        f"ws://{name}:{studio.address.port}{path}",
        sock=sock,
        origin=(f"http://{ours}" if origin == "right" else origin),  # type: ignore[arg-type]
        additional_headers=headers,
        compression=None,
        close_timeout=1,
    )


def every_route(studio: Studio) -> list[tuple[str, str]]:
    """Method and path of everything the application answers to, read from the application itself."""
    found = []
    for route in studio.app.routes:
        if isinstance(route, WebSocketRoute):
            found.append(("WEBSOCKET", route.path))
        else:
            assert isinstance(route, Route), f"{route}: a kind of route that this test does not try"
            found += [(method, route.path) for method in route.methods or ()]
    return found


WRONG = {
    "no token": {"token": None},
    "a wrong token": {"token": "x" * 32},
    "an empty token": {"token": ""},
    "a foreign origin": {"origin": "http://evil.example"},
    "a null origin": {"origin": "null"},
    "an origin on another port": {"origin": "http://127.0.0.1:1"},
    "our origin under TLS": {"origin": "https"},
    "a foreign host": {"host": "evil.example"},
    "a foreign host with our port": {"host": "port"},
    "our host with another port": {"host": "127.0.0.1:1"},
}


def spoiled(studio: Studio, wrong: dict[str, str | None]) -> dict[str, str | None]:
    """The wrong headers for this studio's port."""
    found = dict(wrong)
    if found.get("host") == "port":
        found["host"] = f"evil.example:{studio.address.port}"
    if found.get("origin") == "https":
        found["origin"] = studio.origin.replace("http", "https")
    return found


@pytest.mark.parametrize("what", WRONG)
def test_every_route_refuses(studio: Studio, what: str) -> None:
    wrong = spoiled(studio, WRONG[what])
    routes = every_route(studio)
    assert {path for _, path in routes} >= {
        "/",
        "/ws",
        "/api/scene-file",
        "/api/mesh",
        "/api/journal",
        "/api/results.nc",
    }
    for method, path in routes:
        if method == "WEBSOCKET":
            if "host" in wrong:
                assert raw_status(studio, path, str(wrong["host"])) == 403
                continue
            with pytest.raises(InvalidStatus) as caught, open_socket(studio, path, **wrong):
                pass
            assert caught.value.response.status_code == 403
        else:
            status, headers, _ = ask(studio, method, path, b"{}" if method == "POST" else None, **wrong)
            assert status in (401, 403, 421), (method, path, status)
            assert "set-cookie" not in headers


def raw_status(studio: Studio, path: str, host: str) -> int:
    """Status of a WebSocket handshake with a Host of our choice."""
    with socket.create_connection((studio.address.host, studio.address.port), timeout=10) as found:
        found.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {studio.origin}\r\nCookie: {studio.gate.cookie}="
            f"{studio.token}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        return int(found.recv(64).split()[1])


def test_every_route_opens_to_the_right_one(studio: Studio) -> None:
    """So that the test above refuses for the right reason."""
    for method, path in every_route(studio):
        if method == "WEBSOCKET":
            with open_socket(studio, path) as ws:
                assert json.loads(ws.recv(timeout=10))["type"] == FIRST_TOLD[path]
        else:
            status, headers, _ = ask(studio, method, path, b"{}" if method == "POST" else None)
            assert status in (200, 422) or (status == 503 and not PAGE.is_dir()), (method, path, status)
            assert headers["x-content-type-options"] == "nosniff"


def test_posts_and_sockets_need_an_origin(studio: Studio) -> None:
    for method, path in every_route(studio):
        if method == "POST":
            assert ask(studio, method, path, b"{}", origin=None)[0] == 403
        elif method == "WEBSOCKET":
            with pytest.raises(InvalidStatus), open_socket(studio, path, origin=None):
                pass


def test_two_hosts_or_two_origins_are_refused(studio: Studio) -> None:
    ours = studio.origin.removeprefix("http://")
    for lines in (
        f"Host: {ours}\r\nHost: evil\r\n",
        f"Host: {ours}\r\nOrigin: {studio.origin}\r\nOrigin: http://evil\r\n",
    ):
        with socket.create_connection((studio.address.host, studio.address.port), timeout=10) as found:
            cookie = f"{studio.gate.cookie}={studio.token}"
            found.sendall(f"GET / HTTP/1.1\r\n{lines}Cookie: {cookie}\r\nConnection: close\r\n\r\n".encode())
            assert int(found.recv(64).split()[1]) in (400, 403, 421)


def test_a_page_on_another_port_of_this_host_is_refused(studio: Studio) -> None:
    """Cookies know no ports, and a plain GET brings no Origin; browsers say where it comes from all the same."""
    for site in ("same-site", "cross-site"):
        marked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
        assert ask(studio, "GET", "/api/journal", origin=None, **marked)[0] == 403
    assert (
        ask(studio, "GET", "/", origin=None, **{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"})[0] != 403
    )


def test_the_link_becomes_a_strict_cookie_and_a_clean_address(studio: Studio) -> None:
    status, headers, _ = ask(studio, "GET", f"/?token={studio.token}", token=None, origin=None)
    assert status == 303
    assert headers["location"] == "/"
    cookie = headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert studio.token in cookie
    # a link on another site's page: its redirect would arrive without the strict cookie
    status, headers, body = ask(
        studio,
        "GET",
        f"/?token={studio.token}",
        token=None,
        origin=None,
        **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    )
    assert status == 200
    assert b'http-equiv="refresh"' in body
    assert ask(studio, "GET", "/?token=wrong", token=None, origin=None)[0] == 401
    assert ask(studio, "GET", f"/api/scenes?token={studio.token}", token=None, origin=None)[0] == 401
    assert ask(studio, "POST", f"/?token={studio.token}", token=None)[0] == 401


def test_a_link_leads_to_another_page_of_the_studio_and_to_nothing_else(make_studio) -> None:
    """By the same token; what has no right door begins no session."""
    studio = make_studio(start="30deg")
    door = studio.link_to("/phone").removeprefix(studio.origin)
    status, headers, _ = ask(studio, "GET", door, token=None, origin=None)
    assert (status, headers["location"]) == (303, "/phone")
    assert "HttpOnly" in headers["set-cookie"]
    assert ask(studio, "GET", "/phone?token=wrong", token=None, origin=None)[0] == 401
    for other in ("/phone/", "/ar", "/phone-line", "//phone"):
        status, headers, _ = ask(studio, "GET", door.replace("/phone", other), token=None, origin=None)
        assert status == 401
        assert "set-cookie" not in headers


def test_a_query_of_many_fields_is_refused(studio: Studio) -> None:
    for query in ("&".join("abcdefghi"), "&".join(["a=1"] * 9)):
        assert ask(studio, "GET", f"/?{query}", token=None, origin=None)[0] == 400
    assert ask(studio, "GET", "/?a&b", token=None, origin=None)[0] == 401


@pytest.mark.parametrize(
    "cookie",
    ['x={"a":1}; OURS', "a b=c; OURS", "OURS;other=[1, 2]", "=;;OURS;", "é=ü; OURS", "NAME=x; OURS", "OURS; NAME="],
)
def test_cookies_of_other_servers_of_this_host_do_no_harm(studio: Studio, cookie: str) -> None:
    """Browsers send those of every port along, whatever is in them."""
    name = studio.gate.cookie
    for token, status in ((studio.token, 200), ("x" * 32, 401)):
        line = cookie.replace("OURS", f"{name}={token}").replace("NAME", name)
        assert ask(studio, "GET", "/api/scenes", token=None, Cookie=line)[0] == status


def test_the_page_may_run_no_inline_script_and_stand_in_no_frame(studio: Studio) -> None:
    policy = ask(studio, "GET", "/")[1]["content-security-policy"]
    directives = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert "unsafe" not in policy
    assert directives["frame-ancestors"] == "'none'"
    if (PAGE / "index.html").is_file():
        assert b"<script>" not in (PAGE / "index.html").read_bytes()
    assert "<script" not in NO_PAGE


def test_only_the_methods_of_the_routes_are_taken(studio: Studio) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert ask(studio, method, "/api/scenes")[0] == 405
    assert ask(studio, "POST", "/api/scenes", b"")[0] == 405


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/..%2f..%2fetc/passwd", "/page/../../__init__.py", "/%2e%2e/server.py", "//etc/passwd",
     "/server.py", "/inputs.sha256", "/t/x/", "/app.js/..", "/app.js%00.css"],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(studio: Studio, path: str) -> None:
    assert ask(studio, "GET", path)[0] in (400, 401, 404)


# too large, too much, wrong -------------------------------------------------------------------------------


def test_bodies_have_limits(make_studio) -> None:
    studio = make_studio(limits=Limits(scene_file=10_000, mesh=10_000))
    for path in ("/api/scene-file", "/api/mesh?name=a.stl"):
        assert ask(studio, "POST", path, b"x" * 10_001)[0] == 413
        assert ask(studio, "POST", path, b"x" * 10_000)[0] == 422
        chunks = iter([b"x" * 6000, b"x" * 6000])  # without a content-length
        assert ask(studio, "POST", path, chunks)[0] == 413  # type: ignore[arg-type]
    assert ask(studio, "GET", "/api/scenes", b"x")[0] == 413
    assert ask(studio, "POST", "/api/mesh?name=a.stl", b"x", **{"Content-Encoding": "gzip"})[0] == 415


def test_rates_have_limits(make_studio) -> None:
    studio = make_studio(limits=Limits(requests_per_second=0.05, burst=200.0))  # ten, and one in 20 s
    statuses = [ask(studio, "GET", "/api/scenes")[0] for _ in range(15)]
    assert statuses[:9] == [200] * 9
    assert statuses[-1] == 429
    bucket = Bucket(rate=1e-9, burst=3e9)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_a_client_that_floods_is_closed(make_studio) -> None:
    studio = make_studio(limits=Limits(messages_per_second=10.0, burst=2.0))
    with open_socket(studio, "/ws") as ws, pytest.raises(ConnectionClosed) as caught:
        for k in range(1, 200):
            ws.send(json.dumps({"type": "control", "id": k, "action": "hash"}))
        while True:
            ws.recv(timeout=10)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1008
    with StudioClient(studio.url) as client:
        assert client.control("hash")["ok"]


def test_a_message_that_is_too_large_ends_its_connection_only(make_studio) -> None:
    studio = make_studio(limits=Limits(message=10_000))
    with open_socket(studio, "/ws") as ws, pytest.raises(ConnectionClosed) as caught:
        ws.send(json.dumps({"type": "edit", "id": 1, "edit": {"edit": "x" * 20_000}}))
        while True:
            ws.recv(timeout=10)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009
    with StudioClient(studio.url) as client:
        assert client.control("hash")["ok"]


def test_1000_fuzzed_messages_leave_the_session_unharmed(make_studio, caplog: pytest.LogCaptureFixture) -> None:
    """Noise, broken JSON, wrong fields, wrong edits: each refused with a Reply and logged; the state's bits stay."""
    studio = make_studio(limits=Limits(messages_per_second=1e6))
    rng = random.Random(1)
    with StudioClient(studio.url, timeout=60.0) as watcher:
        watcher.control("pause")
        before = watcher.control("hash")["text"]
        with open_socket(studio, "/ws") as ws:
            for _ in range(10):
                for _ in range(100):
                    ws.send(fuzz(rng))
                read_refusals(ws, 100)
        assert watcher.control("hash")["text"] == before
        assert watcher.control("run")["ok"]
        time = watcher.frame().time
        watcher.frame(lambda frame: frame.time > time)
    assert sum("refused" in record.message for record in caplog.records) >= 300


def read_refusals(ws: ClientConnection, count: int) -> None:
    """Read so many replies, which must all be refusals by intent."""
    while count > 0:
        message = ws.recv(timeout=30)
        if isinstance(message, str) and (reply := json.loads(message))["type"] == "reply":
            assert not reply["ok"], reply
            assert reply["text"]
            assert "the studio failed" not in reply["text"], reply
            count -= 1


def fuzz(rng: random.Random) -> str | bytes:
    """A message that no client should send."""
    junk = [None, True, -1, 2**70, 1e308, "", "ground", "\x00", "é" * 50, [], {}, [[1]], {"a": {"b": []}}, "link1"]
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randbytes(rng.randint(0, 300))
    if kind == 1:
        return "".join(
            chr(rng.choice([rng.randint(1, 127), rng.randint(160, 0xD7FF)])) for _ in range(rng.randint(0, 200))
        )
    if kind == 2:
        return json.dumps(
            {"type": rng.choice(["edit", "control", "subscribe", "scene", 3]), "id": rng.choice([0, -1, "1"])}
        )
    if kind == 3:
        return json.dumps(
            {"type": "control", "id": 1, "action": rng.choice(["seek", "speed", "fly", "scene"]), "name": "x"}
        )
    names = [
        "Grab",
        "Move",
        "Release",
        "ApplyLoad",
        "SetParameter",
        "SetStep",
        "ChangeJoint",
        "Add",
        "Remove",
        "Nothing",
    ]
    fields = [
        "hand",
        "body",
        "at",
        "target",
        "path",
        "value",
        "dt",
        "name",
        "kind",
        "options",
        "changes",
        "force",
        "__class__",
    ]
    edit = {field: rng.choice(junk) for field in rng.sample(fields, rng.randint(0, 5))} | {"edit": rng.choice(names)}
    return json.dumps({"type": "edit", "id": rng.randint(1, 1000), "edit": edit})


# uploads --------------------------------------------------------------------------------------------------


def reply_of(answer: tuple[int, dict[str, str], bytes]) -> dict:
    return json.loads(answer[2])


def test_a_scene_file_becomes_the_world(studio: Studio) -> None:
    body = ask(studio, "GET", "/api/scene.json")[2]
    data = json.loads(body)
    data["name"] = "brought along"
    answer = ask(studio, "POST", "/api/scene-file", json.dumps(data).encode())
    assert answer[0] == 200, answer[2]
    with StudioClient(studio.url) as client:
        client.frame()
        assert client.newest["scene"]["name"] == "brought along"


def test_an_upload_is_read_by_the_loader_of_its_suffix(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page asks for files of these suffixes; others are refused with those that are known."""
    model = im.scene("four-bar")
    model.name = "of another package"
    monkeypatch.setitem(LOADERS, "four", Loader(".four", lambda data, folder: model if folder is None else None))
    assert ask(studio, "POST", "/api/scene-file?name=any.FOUR", b"four")[0] == 200
    with StudioClient(studio.url) as client:
        client.frame()
        assert client.newest["scene"]["name"] == "of another package"
        assert {".json", ".four"} <= set(client.newest["scene"]["suffixes"])
    answer = ask(studio, "POST", "/api/scene-file?name=any.xyz", b"{}")
    assert answer[0] == 422 and "no loader for '.xyz'; known are: .json" in reply_of(answer)["text"]


def zip_bomb() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("scene.json", b"0" * 50_000_000)
    return data.getvalue()


NO_SCENES = {
    "nothing": b"",
    "an empty object": b"{}",
    "a list": b"[]",
    "null": b"null",
    "no text": b"\xff\xfe",
    "a zip bomb": zip_bomb(),
    "a gzip": b"\x1f\x8b" + b"\0" * 100,
    "too deep": b"[" * 100_000,
    "infinity": b'{"name": 1e999}',
    "of the future": b'{"format": "impulsar scene", "version": 999}',
}


@pytest.mark.parametrize("body", NO_SCENES.values(), ids=NO_SCENES.keys())
def test_scene_files_that_are_none_are_refused(studio: Studio, body: bytes) -> None:
    with StudioClient(studio.url) as client:
        client.frame()
        generation = client.newest["scene"]["generation"]
        answer = ask(studio, "POST", "/api/scene-file", body)
        assert answer[0] == 422
        assert not reply_of(answer)["ok"]
        assert len(reply_of(answer)["text"]) < 500
        assert client.frame().header["generation"] == generation


CUBE = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def stl(triangles: int = 12) -> bytes:
    rng = random.Random(3)
    corners = [[rng.choice(CUBE) for _ in range(3)] for _ in range(triangles - 8)]
    corners += [[corner, CUBE[0], CUBE[-1]] for corner in CUBE]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for c in t for x in c), 0) for t in corners)
    return b"\0" * 80 + struct.pack("<I", len(corners)) + body


OBJ = "\n".join([*(f"v {x} {y} {z}" for x, y, z in CUBE), "f 1 2 3", "f 1/1 2/2 3/3 4/4"]).encode()
TEXT_STL = b"solid a\n" + b"\n".join(b"vertex %d %d %d" % corner for corner in [*CUBE, CUBE[0]]) + b"\nendsolid"


@pytest.mark.parametrize(("name", "body"), [("a.stl", stl()), ("A.STL", stl()), ("a.obj", OBJ), ("b.stl", TEXT_STL)])
def test_a_mesh_becomes_a_hull(studio: Studio, name: str, body: bytes) -> None:
    answer = ask(studio, "POST", f"/api/mesh?name={name}", body)
    assert answer[0] == 200, answer[2]
    points = reply_of(answer)["shape"]["points"]
    assert sorted(map(tuple, points)) == sorted(tuple(map(float, corner)) for corner in CUBE)


def test_a_mesh_can_be_added_as_a_body(studio: Studio) -> None:
    shape = reply_of(ask(studio, "POST", "/api/mesh?name=a.stl", stl()))["shape"]
    with StudioClient(studio.url) as client:
        options = {"mass": 0.1, "position": [1.0, 0.0, 0.0], "shape": shape}
        reply = client.reply(
            client.send(type="edit", edit={"edit": "Add", "kind": "body", "name": "cube", "options": options})
        )
        assert reply["ok"], reply["text"]
        scene = client.wait("scene", lambda scene: scene["bodies"][-1]["name"] == "cube")
        hull = scene["bodies"][-1]["shapes"][0]
        assert hull["kind"] == "hull"
        assert len(hull["points"]) == 8
        assert len(hull["triangles"]) == 12


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("../a.stl", stl()), ("..%5Ca.stl", stl()), ("%2Fetc%2Fpasswd", stl()), ("a", stl()), ("", stl()),
        ("a.py", stl()), ("a.zip", zip_bomb()), ("a.stl", zip_bomb()), ("a.stl", b""), ("a.stl", b"solid nothing"),
        ("a.stl", b"\0" * 80 + struct.pack("<I", 2**31) + b"\0" * 50), ("a.stl", b"solid\nvertex a b c"),
        ("a.obj", b"v 1 2\nf 1 1 1"), ("a.obj", b"v nan 0 0\n" * 3 + b"f 1 2 3"),
        ("a.obj", b"v 1e300 0 0\nv 0 0 0\nv 0 1 0"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3"), ("a%00.stl", stl()),
    ],
)  # fmt: skip
def test_meshes_that_are_none_are_refused(studio: Studio, name: str, body: bytes) -> None:
    answer = ask(studio, "POST", f"/api/mesh?name={name}", body)
    assert answer[0] == 422, answer
    assert not reply_of(answer)["ok"]


# addresses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "authority", "ours"),
    [
        ("127.0.0.1", "127.0.0.1:80", True), ("127.0.0.1", "localhost:80", True), ("127.0.0.1", "LOCALHOST:80", True),
        ("127.0.0.1", "localhost", True), ("127.0.0.1", "localhost:81", False),
        ("127.0.0.1", "localhost.evil:80", False),
        ("127.0.0.1", "evil:80", False), ("127.0.0.1", "", False), ("127.0.0.1", "127.0.0.1:80:80", False),
        ("127.0.0.1", "127.0.0.1:0x50", False), ("127.0.0.1", "[::1]:80", True), ("127.0.0.1", "192.168.0.1:80", False),
        ("0.0.0.0", "192.168.0.1:80", True), ("0.0.0.0", "evil.example:80", False), ("0.0.0.0", "bench:80", True),
        ("192.168.0.1", "192.168.0.1:80", True), ("192.168.0.1", "127.0.0.1:80", False), ("::1", "[::1]:80", True),
    ],
)  # fmt: skip
def test_whose_host_it_is(host: str, authority: str, ours: bool) -> None:
    assert (
        Address(host, 80, names=frozenset({"bench"}) if host == "0.0.0.0" else frozenset()).is_ours(authority) is ours
    )


def test_a_notebook_frames_the_page_with_the_token_in_its_path(make_studio) -> None:
    studio = make_studio(place=Place(frame_ancestors=ancestors(["http://localhost:*"])))
    status, headers, _ = ask(studio, "GET", f"/t/{studio.token}/api/scenes", token=None, origin=None)
    assert status == 200
    assert "frame-ancestors http://localhost:*" in headers["content-security-policy"]
    assert "x-frame-options" not in headers
    assert ask(studio, "GET", "/t/wrong/api/scenes", token=None, origin=None)[0] == 401
    with open_socket(studio, f"/t/{studio.token}/ws", token=None) as ws:
        assert json.loads(ws.recv(timeout=10))["type"] == "scene"


def test_the_token_in_the_path_opens_nothing_outside_a_notebook(studio: Studio) -> None:
    assert ask(studio, "GET", f"/t/{studio.token}/api/scenes", token=None, origin=None)[0] == 401
