"""Files that are models, by their suffix: `.json` here, others by entry points of the group `impulsar.loaders`.

    [project.entry-points."impulsar.loaders"]
    csv = "playground.chains:read"

The name is the suffix; what it leads to is a function of a file's bytes and the folder it is in (None for an upload),
by which other files that it names are found, and gives the Model. Or it is a Loader, which says more: one that takes
options is a function of bytes, folder, the file's name and these.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..author.checks import file_path, show
from ..author.errors import FileError, ModelError
from ..author.model import Model
from ..plugins import Registry
from .codec import model_from_json
from .imports import CAD_OPTIONS, OPTIONS
from .scene_files import LARGEST_FILE, parse, read_bounded

LARGEST_STAGE = 64 * 2**20  # bytes of a file of USD or STEP


@dataclass(frozen=True)
class Loader:
    """How files of a suffix are read."""

    suffix: str  # with its dot, in small letters
    read: Callable[..., Model]
    largest: int = LARGEST_FILE  # bytes
    takes: tuple[str, ...] = ()  # names of options, which `read` is called with behind `name`


def _read_scene(data: bytes, folder: Path | None) -> Model:
    return model_from_json(parse(data))


def check_loader(name: str, thing: Any) -> Loader:
    """A loader of an entry point; raises TypeError."""
    loader = thing if isinstance(thing, Loader) else Loader(f".{name}", thing)
    if not callable(loader.read):
        raise TypeError(f"is {thing!r:.80}, expected a Loader, or a function of bytes and a folder")
    if loader.suffix != f".{name}" or name != name.lower() or "." in name:
        raise TypeError(f"is for {loader.suffix!r}, expected '.{name}', in small letters and with one dot")
    return loader


def _read_xml(data: bytes, folder: Path | None, name: str = "", **options: Any) -> Model:
    from .imports.read import read_robot

    return read_robot(data, folder, name, options)


def _read_stage(data: bytes, folder: Path | None, name: str = "", **options: Any) -> Model:
    from .imports.read import options_of
    from .imports.usd import read_usd

    return read_usd(data, folder, name, options_of(folder, options))


def _read_step(data: bytes, folder: Path | None, name: str = "", **options: Any) -> Model:
    from .imports.cad import read_cad

    return read_cad(data, folder, name, options)


OWN = {
    "json": Loader(".json", _read_scene),
    **{name: Loader(f".{name}", _read_xml, takes=OPTIONS) for name in ("urdf", "sdf", "xml", "mjcf")},
    **{name: Loader(f".{name}", _read_stage, LARGEST_STAGE, OPTIONS) for name in ("usd", "usda", "usdc", "usdz")},
    **{name: Loader(f".{name}", _read_step, LARGEST_STAGE, CAD_OPTIONS) for name in ("step", "stp")},
}
LOADERS: Registry[Loader] = Registry("impulsar.loaders", OWN, check_loader)


def suffixes() -> list[str]:
    """Of files that can be read: [".json", ...]."""
    return [loader.suffix for loader in LOADERS.values()]


def loader_of(name: str) -> Loader:
    """The loader of a file's name; one without a suffix is a scene file."""
    suffix = Path(name).suffix.lower() or ".json"
    if suffix[1:] not in LOADERS:
        raise FileError(f"there is no loader for {show(suffix)}; known are: {', '.join(suffixes())}")
    return LOADERS[suffix[1:]]


def load_model(path: str | Path, **options: Any) -> Model:
    """The model of a file as it stands, read by the loader of its suffix; raises FileError.

    Options are those of the loader (`impulsar.load` has them). Loops of a robot's file may be open: `impulsar.load`
    closes them.
    """
    path = file_path("scene file", path)
    try:
        loader = loader_of(path.name)
        return _read(loader, read_bounded(path, loader.largest), path.parent, path.name, options)
    except FileError as error:
        raise FileError(f"'{path!s:.200}': {error}") from error


def read_model(name: str, data: bytes) -> Model:
    """The model of an uploaded file, of which there is nothing but its name and bytes; raises FileError."""
    loader = loader_of(name)
    if len(data) > loader.largest:
        raise FileError(f"{show(name)} has more than {loader.largest} bytes, too many for {loader.suffix}")
    return _read(loader, data, None, name, {})


def _read(loader: Loader, data: bytes, folder: Path | None, name: str, options: dict[str, Any]) -> Model:
    """What a loader makes of a file, if that is a model; a stranger's may raise anything."""
    for option in options:
        if option not in loader.takes:
            known = f"its options are: {', '.join(loader.takes)}" if loader.takes else "it has no options"
            raise FileError(f"no option {show(option)} for {loader.suffix}; {known}")
    try:
        model = loader.read(data, folder, name=name, **options) if loader.takes else loader.read(data, folder)
        if not isinstance(model, Model):
            raise FileError(f"its loader gave {show(model)}, expected a Model")
        if loader.read is not _read_scene:  # which has checked it
            model.check(meeting=False)
        return model
    except FileError:
        raise
    except ModelError as error:
        raise FileError(str(error)) from error
    except (ValueError, LookupError, TypeError, ArithmeticError, OSError) as error:
        raise FileError(f"cannot be read as {loader.suffix}: {type(error).__name__}: {error}") from error
