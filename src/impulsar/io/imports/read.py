"""A file of another program, by its root element whatever its suffix: <robot>, <sdf>, <mujoco>."""

from pathlib import Path
from typing import Any

from ...author.errors import FileError
from ...author.model import Model
from .build import Options
from .scan import read_xml


def options_of(folder: Path | None, options: dict[str, Any]) -> Options:
    """Options as they were given, checked; raises FileError."""
    given = Options(**options)
    if folder is not None and given.assets is not None and not Path(given.assets).is_dir():
        raise FileError(f"assets is {given.assets[:120]!r}, expected a folder")
    return given


def refuse_key(given: Options) -> None:
    """See that no key frame is asked for."""
    if given.key is not None:
        raise FileError(f"key is {given.key!r:.60}, but such a file has no key frames, as MJCF has; leave it out")


def read_robot(data: bytes, folder: Path | None, name: str, options: dict[str, Any]) -> Model:
    """The model of a file's bytes; `folder` is None for an upload. Raises FileError."""
    given = options_of(folder, options)
    root = read_xml(data)
    if root.tag != "mujoco":
        refuse_key(given)
    folder_of_assets = Path(given.assets) if folder is not None and given.assets is not None else folder
    if root.tag == "robot":
        from .urdf import read_urdf

        model = read_urdf(root, folder_of_assets, given)
    elif root.tag == "sdf":
        from .sdf import read_sdf

        model = read_sdf(root, folder_of_assets, given)
    elif root.tag == "mujoco":
        from .mjcf import read_mjcf

        model = read_mjcf(root, folder, given, data, name)
    else:
        known = "<robot> (URDF), <sdf> or <mujoco> (MJCF)"
        raise FileError(f"line {root.line}: its root is <{root.tag[:40]}>, expected {known}")
    assert model.import_report is not None
    model.import_report.file = name
    return model
