"""Lock step with another process: a controller whose answers come over a socket, one message each way per call.

    world.attach("servo", im.lockstep.External("127.0.0.1:5555"), rate=1000.0, reads=..., writes=...)

The world connects; the process listens, on a port of this machine or a Unix socket ("unix:/tmp/servo"). Messages are
JSON, one on a line. First the world says {"lockstep": 1}, the version. Then for each call it sends

    {"time": 0.001, "inputs": [0.1, 0.2]}        in a batch: a list of numbers for each world

and waits for

    {"outputs": [1.5]}                           or {"error": "what is wrong"}

before it goes on. A number is written with as many digits as bring back the same bits, so control in another process
gives the bits of control in this one. No answer in time, a wrong one or a lost connection is a fault of the controller;
the next call connects anew. `serve` is the other side in Python.
"""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..author.checks import is_number, show
from ..author.errors import ModelError

VERSION = 1
LONGEST = 16 * 2**20  # bytes of a message
NEAR = ("127.0.0.1", "localhost", "::1")  # other machines would need a lock on the door


def address_of(address: object) -> tuple[int, Any]:
    """Family and address of a socket: "127.0.0.1:5555" or "unix:/path"."""
    if isinstance(address, str) and address.startswith("unix:") and len(address) > 5:
        return socket.AF_UNIX, str(Path(address[5:]))
    host, _, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
    host = host.strip("[]")
    if host not in NEAR or not port.isdigit() or not 0 < int(port) < 65536:
        expected = f"a port of this machine, such as '{NEAR[0]}:5555', or 'unix:/path'"
        raise ModelError(f"lock step: address is {show(address)}, expected {expected}")
    return (socket.AF_INET6 if ":" in host else socket.AF_INET), (host, int(port))


class LockstepError(Exception):
    """The other side did not answer as it should."""


class External:
    """A controller in another process; `timeout` [s] is how long an answer may take."""

    def __init__(self, address: str, timeout: float = 5.0):
        self.family, self.address = address_of(address)
        if not is_number(timeout) or not 0 < timeout < 1e6:
            raise ModelError(f"lock step: timeout is {show(timeout)}, expected a time > 0 [s]")
        self.timeout = float(timeout)
        self._line: _Line | None = None

    def __call__(self, time: float, inputs: np.ndarray) -> Any:
        """Send what was read, and wait for what to write."""
        try:
            if self._line is None:
                self._line = _Line(_connected(self.family, self.address, self.timeout))
                self._line.send({"lockstep": VERSION})
            self._line.send({"time": time, "inputs": inputs.tolist()})
            answer = self._line.receive()
        except (OSError, LockstepError, ValueError) as error:
            self.close()
            raise LockstepError(f"{self.address}: {error or type(error).__name__}") from error
        if answer is None:
            self.close()
            raise LockstepError(f"{self.address}: the other side has hung up")
        if not isinstance(answer, dict) or "outputs" not in answer:
            told = answer.get("error") if isinstance(answer, dict) else answer
            raise LockstepError(f"{self.address}: answered {show(told)}")
        return answer["outputs"]

    def close(self) -> None:
        """Hang up; the next call connects anew."""
        if self._line is not None:
            self._line.close()
            self._line = None


def serve(controller: Callable[[float, np.ndarray], Any], address: str, sessions: int | None = 1) -> None:
    """Answer for a controller until the world hangs up, so many times; None: for ever."""
    family, where = address_of(address)
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(1)
        while sessions is None or sessions > 0:
            _answer(controller, _Line(listener.accept()[0]))
            sessions = None if sessions is None else sessions - 1


def _answer(controller: Callable[[float, np.ndarray], Any], line: "_Line") -> None:
    """Answer one world until it hangs up."""
    try:
        while (asked := line.receive()) is not None:
            if "inputs" not in asked:
                if asked.get("lockstep") != VERSION:
                    line.send({"error": f"this side knows version {VERSION}"})
                continue
            try:
                given = controller(asked["time"], np.array(asked["inputs"], float))
                line.send({"outputs": np.asarray(given, float).tolist()})
            except Exception as error:  # whatever a user's controller does
                line.send({"error": f"{type(error).__name__}: {error}"})
    except OSError:
        return  # it is gone
    finally:
        line.close()


def _connected(family: int, address: Any, timeout: float) -> socket.socket:
    line = socket.socket(family, socket.SOCK_STREAM)
    line.settimeout(timeout)
    try:
        line.connect(address)
    except BaseException:
        line.close()
        raise
    return line


class _Line:
    """A socket on which a message is a line of JSON."""

    def __init__(self, line: socket.socket):
        self._line, self._rest = line, b""
        if line.family != socket.AF_UNIX:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a step waits for each message

    def send(self, message: dict[str, Any]) -> None:
        self._line.sendall(json.dumps(message, allow_nan=False).encode() + b"\n")

    def receive(self) -> Any:
        """The next message; None: the other side has hung up."""
        while b"\n" not in self._rest:
            more = self._line.recv(65536)
            if not more:
                return None
            self._rest += more
            if len(self._rest) > LONGEST:
                raise LockstepError(f"a message has more than {LONGEST} bytes")
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        self._line.close()
