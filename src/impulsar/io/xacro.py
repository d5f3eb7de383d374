"""xacro, expanded for the command line alone: it reads any file and environment variable, and takes any time.

No loader has its suffix, so that nothing that is uploaded or opened by the page gets here.
"""

from pathlib import Path
from typing import Any

from ..author.checks import file_path
from ..author.errors import FileError

MISSING = "needs xacrodoc to be expanded; install it by `pip install impulsar[xacro]`"


def is_xacro(name: str) -> bool:
    """Whether a file is xacro by its suffix."""
    return Path(name).suffix.lower() == ".xacro"


def expand(path: str | Path, arguments: dict[str, Any]) -> tuple[bytes, Path]:
    """The URDF of a file with its arguments set, and its folder; raises FileError."""
    file = file_path("xacro file", path)
    if not file.is_file():
        raise FileError(f"'{file!s:.200}': there is no such file")
    try:
        from xacrodoc import XacroDoc
    except ImportError as error:
        raise FileError(f"'{file!s:.200}': {MISSING}") from error
    try:
        given = {name: _text(value) for name, value in arguments.items()}
        return XacroDoc.from_file(str(file), subargs=given).to_urdf_string().encode(), file.parent
    except Exception as error:  # xacro evaluates Python, which raises anything
        told = " ".join(str(error).split())
        raise FileError(f"'{file!s:.200}': xacro cannot expand it: {type(error).__name__}: {told:.300}") from error


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
