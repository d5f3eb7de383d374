"""What a camera or tracker says of itself: ok, waiting, lost or ended, and why."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..author.errors import ModelError

State = Literal["waiting", "ok", "lost", "ended"]


@dataclass(frozen=True)
class Status:
    """A state since a time [s, host's clock], and why in words for the person."""

    state: State
    why: str = ""
    since: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Whether what is read now may be used."""
        return self.state == "ok"


class Told:
    """Keeps a status and tells of changes: `watch` is called with each new one."""

    def __init__(self, why: str = "nothing has come yet") -> None:
        self.status = Status("waiting", why)
        self.watch: Callable[[Status], None] | None = None

    def set_status(self, state: State, why: str = "", time: float = 0.0) -> None:
        """Change the status; another reason for the same state is no change."""
        if state == self.status.state:
            return
        self.status = Status(state, why, time)
        if self.watch is not None:
            self.watch(self.status)


def need(module: str, package: str, what: str, extra: str = "ar") -> Any:
    """A module of an extra, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        cure = f"pip install 'impulsar[{extra}]'"
        raise ModelError(f"{what}: needs {package}, which is not installed; run: {cure}") from error


def opencv(what: str) -> Any:
    """OpenCV, when it is needed."""
    return need("cv2", "opencv-contrib-python-headless", what)
