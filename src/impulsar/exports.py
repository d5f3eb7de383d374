"""`impulsar export`: a scene, a session or a run in another form: the door to `io/export` and its neighbours."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .author.errors import ModelError
from .author.model import Model
from .author.sensors import Gps

if TYPE_CHECKING:
    from .io.export.frozen import Frozen
    from .world.world import World

NEED_FILE = ("html",)


def text_of(args: argparse.Namespace, scene: Callable[[], Model]) -> str:
    """What is asked for by `--to`."""
    if args.to == "html":
        return _played(args, scene())
    return _track(args, scene()) if args.to in ("geojson", "kml") else _program(args, scene)


def _program(args: argparse.Namespace, scene: Callable[[], Model]) -> str:
    """Python that gives the same bits."""
    from .history.script import to_python

    if Path(args.model).suffix != ".journal":
        return to_python(scene())
    from .history.replay import replay as carry_out

    return to_python(carry_out(Path(args.model)).history)


def _played(args: argparse.Namespace, model: Model) -> str:
    """A run as a page."""
    from .studio.player import RATE, player_html
    from .world.world import World

    world = World(model)
    duration = args.duration or model.duration or 10.0
    every = world.dt * max(1, round(1 / RATE / world.dt))
    return player_html(world, world.run(duration, every))


def _track(args: argparse.Namespace, model: Model) -> str:
    """The fixes of the model's first GPS receiver in a run, beside the truth."""
    from . import tracks
    from .world.world import World

    name = next((name for name, part in model.sensors.items() if isinstance(part.sensor, Gps)), None)
    if name is None:
        raise ModelError(f"export: '{args.model}' has no GPS receiver, so that it has no track; add im.sensors.Gps")
    world = World(model)
    duration = args.duration or model.duration or 10.0
    found = tracks.track(world.run(duration), model, name)
    return json.dumps(tracks.geojson(found), indent=1) + "\n" if args.to == "geojson" else tracks.kml(found)


def _world(args: argparse.Namespace, model: Model, **options: Any) -> "World":
    """The world of an export, with its step and method."""
    from .world.world import World

    return World(model, method=args.method, dt=args.dt, **options)


def _c99(args: argparse.Namespace, model: Model) -> list[str]:
    """A program in C99 along the ways of a run."""
    from .io.c99 import files, to_c99

    world = _world(args, model, substeps=1 if args.method == "direct" else None)
    duration = args.duration or model.duration or 10.0
    program = to_c99(world, max(1, round(duration / world.dt)), args.ways, Path(args.model).stem)
    found = program.followed
    covered = f"{found.steps} of {found.asked} steps: {found.ended}" if found.ended else f"all {found.steps} steps"
    return [
        *_put(args.out, {name: text.encode() for name, text in files(program).items()}),
        f"a step is at most {program.most} operations; {len(found.ways)} ways through it cover {covered}",
    ]


def _frozen(args: argparse.Namespace, model: Model) -> "Frozen":
    from .io.export.frozen import freeze

    return freeze(_world(args, model, compile="off"), Path(args.model).stem)


def _c(args: argparse.Namespace, model: Model) -> list[str]:
    """The engine's own kernel as an object, with a header and glue in C."""
    from .io.export.c import object_files

    frozen = _frozen(args, model)
    return [*_put(args.out, object_files(frozen, args.cpu)), *frozen.notes]


def _cpp(args: argparse.Namespace, model: Model) -> list[str]:
    """The engine's own kernel as one source of C++."""
    from .io.export.c import portable_files

    frozen = _frozen(args, model)
    return [*_put(args.out, portable_files(frozen)), *frozen.notes]


def _put(folder: Path, files: dict[str, bytes]) -> list[str]:
    """Write files into a folder; the line that says so."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise ModelError(f"export: cannot write '{folder}': {error.strerror}; choose another place") from error
    return [f"wrote {', '.join(str(folder / name) for name in files)}"]


# what is several files, into the folder --out; and what is one, into the file; each gives the lines that are told
FOLDERS: dict[str, Callable[[argparse.Namespace, Model], list[str]]] = {"c99": _c99, "c": _c, "cpp": _cpp}
FILES: dict[str, Callable[[argparse.Namespace, Model], list[str]]] = {}


def write(args: argparse.Namespace, model: Model) -> list[str]:
    """Write what `--to` asks for; lines that say what was written, and what was left out."""
    return (FOLDERS | FILES)[args.to](args, model)
