"""The gate: one ASGI application around the whole server that every request and WebSocket must pass.

In this order: a Host that is ours (against DNS rebinding), an Origin that is ours (against other pages
in the same browser), the token (against other users and programs), then limits of rate and size. The
token of the opened URL begins a session, whose own secret becomes a cookie and can be ended by itself; in a
notebook's frame, where browsers keep cookies back, the studio's own session stays in the path.
"""

import asyncio
import hmac
import ipaddress
import json
import logging
import re
import secrets
import socket
import time as wall
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

log = logging.getLogger("impulsar.studio")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

METHODS = ("GET", "HEAD", "POST")
MOST_SESSIONS = 256  # the oldest goes
SESSION = "impulsar.session"  # key of a scope: the secret that it came with
LINES_PER_SECOND = 5.0  # of a log, in the long run
MOST_FIELDS = 8  # of the opened URL's query
DOORS = ("/", "/phone", "/large")  # pages that may be opened by a link with a token
AUTHORITY = re.compile(r"([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?")


@dataclass(frozen=True)
class Limits:
    """What a client may ask for."""

    clients: int = 32
    message: int = 256 * 2**10  # bytes of a WebSocket message
    messages_per_second: float = 240.0
    requests_per_second: float = 60.0  # of all clients together
    burst: float = 3.0  # seconds of either that may come at once
    scene_file: int = 16 * 2**20  # bytes
    mesh: int = 32 * 2**20
    body_seconds: float = 60.0  # in which a body must have come
    header_seconds: float = 10.0  # in which a request must have begun and its headers must have come
    connections: int = 512  # open at once, of all clients together
    downloads: int = 2  # results, pictures, series and analyses that are made at once
    waiting: int = 32  # more of them that wait their turn


class Bucket:
    """Tokens that refill with time; empty, nothing goes."""

    def __init__(self, rate: float, burst: float):
        self.rate, self.room = rate, rate * burst
        self._left, self._at = self.room, wall.monotonic()

    def take(self) -> bool:
        """Take one, if there is one."""
        now = wall.monotonic()
        self._left = min(self.room, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Seldom(logging.Filter):
    """Lets so many lines per second into a log, and says how many it left out."""

    def __init__(self, rate: float = LINES_PER_SECOND, burst: float = 20.0):
        super().__init__()
        self._bucket, self._left_out = Bucket(rate, burst), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line goes in."""
        if not self._bucket.take():
            self._left_out += 1
            return False
        if self._left_out:
            record.msg, record.args = f"{record.getMessage()} (and {self._left_out} lines left out before)", None
            self._left_out = 0
        return True


def new_token() -> str:
    """192 random bits."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Address:
    """Where the server is, and the names by which it may be called."""

    host: str
    port: int
    is_secure: bool = False
    names: frozenset[str] = field(default_factory=frozenset)  # further host names

    @property
    def scheme(self) -> str:
        return "https" if self.is_secure else "http"

    @property
    def shown_host(self) -> str:
        """A host that a browser can open."""
        host = socket.gethostname() if is_wildcard(self.host) else self.host
        return f"[{host}]" if ":" in host else host

    def is_ours(self, authority: str) -> bool:
        """Whether a Host header calls this server by one of its names and its port."""
        name, port = _split_authority(authority)
        if port != self.port and not (port is None and self.port == (443 if self.is_secure else 80)):
            return False
        if name in self.names or name == self.host.lower():
            return True
        if is_loopback(self.host):
            return is_loopback(name)
        return is_wildcard(self.host) and (_is_address(name) or is_loopback(name))  # rebinding needs a name

    def is_own_origin(self, origin: str, authority: str) -> bool:
        """Whether an Origin header is that of our page, as the browser calls it."""
        return origin.lower() == f"{self.scheme}://{authority.lower()}"


def _split_authority(authority: str) -> tuple[str, int | None]:
    """Name and port of a Host header; an empty name where it is not one."""
    found = AUTHORITY.fullmatch(authority.lower())
    if found is None:
        return "", None
    name, port = found.groups()
    return name.strip("[]"), None if port is None else int(port)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_wildcard(host: str) -> bool:
    """Whether a host stands for all addresses of the machine."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


class Refusal(Exception):
    """A request that does not pass."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status, self.text = status, text


class Gate:
    """Checks everything, then hands it to the application with safe headers on what comes back.

    `token` is the secret of the studio's own session; `link` begins others, by the opened URL.
    """

    def __init__(
        self,
        app: App,
        address: Address,
        token: str,
        limits: Limits,
        body_limits: dict[str, int],
        frame_ancestors: Iterable[str] = (),
        link: str | None = None,
        lends_camera: bool = False,  # the page may ask its browser for the camera
    ):
        self._camera = "(self)" if lends_camera else "()"
        self.app, self.address, self.limits, self.body_limits = app, address, limits, body_limits
        self._token, self._ancestors = token, tuple(frame_ancestors)
        self._link = link or new_token()
        self._launches: set[str] = set()  # tokens that begin one session each
        self._sessions = [token]  # secrets, the studio's own first
        self._requests = Bucket(limits.requests_per_second, limits.burst)
        self.cookie = f"impulsar_{address.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        try:
            headers = _headers(scope)
            self._check(scope, headers)
            if scope["type"] == "http" and (session := self._begin(scope)):
                self._check_rate()
                await self._welcome(session, scope["path"], headers, send)
                return
            scope = self._check_token(scope, headers)
            self._check_rate()  # after the token: who has none cannot use up the requests of who has
            if scope["type"] == "http":
                receive = await self._whole_body(scope, headers, receive)
        except Refusal as refusal:
            _log_refusal(scope, refusal)
            await self._refuse(scope, refusal, send)
            return
        await self.app(scope, receive, self._with_headers(scope, headers, send))

    def _check(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        """Host, Origin and method."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not self.address.is_ours(hosts[0]):
            raise Refusal(421, f"Host is {_show(hosts)}, which is not this studio; open the address that was printed")
        is_socket = scope["type"] == "websocket"
        changes = is_socket or scope["method"] not in ("GET", "HEAD")
        if origins and not (len(origins) == 1 and self.address.is_own_origin(origins[0], hosts[0])):
            raise Refusal(403, f"Origin is {_show(origins)}, not this studio's own page; open the studio itself")
        if changes and not origins:
            raise Refusal(403, "Origin is missing; only the studio's own page may do this")
        site, mode = (headers.get(f"sec-fetch-{what}", ["none"])[0] for what in ("site", "mode"))
        if site in ("cross-site", "same-site") and mode != "navigate":  # another port of this host is "same-site"
            raise Refusal(403, f"the request comes from another page ({site}); open the studio itself")
        if not is_socket and scope["method"] not in METHODS:
            raise Refusal(405, f"method is {_show(scope['method'])}, expected {', '.join(METHODS)}")

    def _check_rate(self) -> None:
        if not self._requests.take():
            raise Refusal(429, "too many requests; wait a second")

    def new_launch(self) -> str:
        """A token that may stand once in an opened URL."""
        token = new_token()
        self._launches.add(token)
        return token

    def end(self, session: str) -> bool:
        """End a session; False for the studio's own, which ends with it."""
        if session == self._token:
            return False
        self._sessions = [other for other in self._sessions if other != session]
        return True

    def _begin(self, scope: Scope) -> str | None:
        """The secret of the session that the opened URL begins, or goes on with; None without the right token."""
        if scope["path"] not in DOORS or scope["method"] != "GET":
            return None
        try:
            query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=MOST_FIELDS)
        except ValueError:
            raise Refusal(400, f"more than {MOST_FIELDS} fields in the query; open the link as printed") from None
        given = query.get("token", [""])[0]
        launch = _find(given, self._launches)
        if launch is None and not _equal(given, self._link):
            return _find(given, self._sessions)
        self._launches.discard(launch or "")
        session = new_token()
        self._sessions = [self._token, *self._sessions[1:][1 - MOST_SESSIONS :], session]
        return session

    def _check_token(self, scope: Scope, headers: dict[str, list[str]]) -> Scope:
        """The cookie, or the token in the path, which is taken out of it."""
        prefix, _, rest = scope["path"].removeprefix("/t/").partition("/")
        if self._ancestors and scope["path"].startswith("/t/") and _equal(prefix, self._token):
            path = f"/{rest}"
            return {**scope, "path": path, "raw_path": path.encode(), "root_path": "", SESSION: self._token}
        found = [_find(value, self._sessions) for value in _cookies(headers, self.cookie)[:MOST_FIELDS]]
        session = next((secret for secret in found if secret is not None), None)
        if session is None:
            raise Refusal(401, "the token is missing; open the whole link that `impulsar studio` printed")
        return {**scope, SESSION: session}

    async def _welcome(self, session: str, door: str, headers: dict[str, list[str]], send: Send) -> None:
        """Make the session's secret a cookie and show the address of a door without a token.

        A link on another site's page cannot be redirected: the browser would keep the strict cookie back.
        """
        secure = "; Secure" if self.address.is_secure else ""
        cookie = f"{self.cookie}={session}; Path=/; HttpOnly; SameSite=Strict{secure}"
        from_elsewhere = headers.get("sec-fetch-site", ["none"])[0] not in ("none", "same-origin")
        status, more, body = 303, [("location", door)], b""
        if from_elsewhere:
            status, more = 200, [("content-type", "text/html; charset=utf-8")]
            body = f'<!doctype html><meta http-equiv="refresh" content="0;url={door}"><title>Impulsar</title>'.encode()
        await _respond(send, status, [("set-cookie", cookie), *more, *self._safe_headers(headers)], body)

    async def _whole_body(self, scope: Scope, headers: dict[str, list[str]], receive: Receive) -> Receive:
        """The body, read here as long as it keeps to its limits of size and time; other paths take none."""
        most = self.body_limits.get(scope["path"], 0) if scope["method"] == "POST" else 0
        for encoding in headers.get("content-encoding", []):
            raise Refusal(415, f"content-encoding is {_show(encoding)}; send the file as it is")
        length = headers.get("content-length", ["0"])
        if len(length) != 1 or not (length[0].isascii() and length[0].isdigit() and len(length[0]) < 20):
            raise Refusal(400, f"content-length is {_show(length)}, expected a number")
        if int(length[0]) > most:
            raise Refusal(413, f"the file has {megabytes(int(length[0]))}, expected at most {megabytes(most)}")
        try:
            body = await asyncio.wait_for(_read(receive, most), self.limits.body_seconds)
        except TimeoutError:
            raise Refusal(408, f"the body did not come within {self.limits.body_seconds:g} s") from None
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Message:
            return next(parts, None) or await receive()

        return replay

    def _with_headers(self, scope: Scope, headers: dict[str, list[str]], send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = _raw(self._safe_headers(headers))
                names = {name for name, _ in ours}
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in names]
                message = {**message, "headers": [*kept, *ours]}
            await send(message)

        return sending

    def _safe_headers(self, headers: dict[str, list[str]]) -> list[tuple[str, str]]:
        """What keeps the page to itself: no inline script, no other site's files, no frame around it."""
        ancestors = " ".join(self._ancestors) or "'none'"
        socket_origin = (
            f"{'wss' if self.address.is_secure else 'ws'}://{headers['host'][0]}" if "host" in headers else ""
        )
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
            f"media-src 'self' blob:; connect-src 'self' {socket_origin}; worker-src 'self'; manifest-src 'self'; "
            f"base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
        )
        found = [
            ("content-security-policy", policy),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", f"camera={self._camera}, microphone=(), geolocation=()"),
            ("cache-control", "no-store"),
        ]
        return found if self._ancestors else [*found, ("x-frame-options", "DENY")]

    async def _refuse(self, scope: Scope, refusal: Refusal, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.text[:100]})
            return
        body = json.dumps({"type": "reply", "id": 0, "ok": False, "text": refusal.text}).encode()
        headers = [("content-type", "application/json"), ("connection", "close"), *self._safe_headers({})]
        await _respond(send, refusal.status, headers, body)


async def _read(receive: Receive, most: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "the body was not sent to its end")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise Refusal(413, f"the file has more than {megabytes(most)}, which is the most that is taken")
        if not message.get("more_body", False):
            return b"".join(parts)


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _cookies(headers: dict[str, list[str]], name: str) -> list[str]:
    """Values of a cookie, whatever stands beside it: other servers of this host may have set any text."""
    pairs = [part.partition("=") for line in headers.get("cookie", []) for part in line.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def _equal(given: str, secret: str) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), secret.encode())


def _find(given: str, secrets: Iterable[str]) -> str | None:
    """The secret that was given, compared with all of them."""
    found = [secret for secret in secrets if _equal(given, secret)]
    return found[0] if found else None


def _raw(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def _respond(send: Send, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    headers = [*headers, ("content-length", str(len(body)))]
    await send({"type": "http.response.start", "status": status, "headers": _raw(headers)})
    await send({"type": "http.response.body", "body": body})


def _log_refusal(scope: Scope, refusal: Refusal) -> None:
    client = (scope.get("client") or ("?", 0))[0]
    what = f"{scope.get('method', 'WebSocket')} {_show(scope['path'])}"
    log.warning("refused %s from %s: %s", what, client, refusal.text)


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def megabytes(size: int) -> str:
    """A size for people to read."""
    return f"{size / 1e6:.3g} MB" if size >= 1e5 else f"{size} bytes"
