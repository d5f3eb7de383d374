"""`impulsar export`: a scene, a session or a run in another form: the door to `io/export` and its neighbours."""

import argparse
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .author.errors import ModelError
from .author.model import Model
from .author.sensors import Gps

if TYPE_CHECKING:
    import xarray as xr

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

    world = _world(args, model)
    duration = args.duration or model.duration or 10.0
    every = world.dt * max(1, round(1 / RATE / world.dt))
    return player_html(world, world.run(duration, every))


def _track(args: argparse.Namespace, model: Model) -> str:
    """The fixes of the model's first GPS receiver in a run, beside the truth."""
    from . import tracks

    name = next((name for name, part in model.sensors.items() if isinstance(part.sensor, Gps)), None)
    if name is None:
        raise ModelError(f"export: '{args.model}' has no GPS receiver, so that it has no track; add im.sensors.Gps")
    world = _world(args, model)
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
        *program.notes,
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


def _fmu(args: argparse.Namespace, model: Model) -> list[str]:
    """The engine's own kernel as an FMU."""
    from .io.export.fmu import to_fmu

    frozen = _frozen(args, model)
    return [
        *_save(args.out, to_fmu(frozen, args.fmi, args.cpu, args.duration or model.duration or 10.0)),
        *frozen.notes,
    ]


def _run(args: argparse.Namespace, model: Model) -> "tuple[World, xr.Dataset]":
    """A world and a run of it, at most RATE samples a second."""
    from .studio.player import RATE

    world = _world(args, model)
    every = world.dt * max(1, round(1 / RATE / world.dt))
    return world, world.run(args.duration or model.duration or 10.0, every)


def _turning(dataset: "xr.Dataset") -> list[str]:
    """A line where bodies turn too far between samples for others to tell which way."""
    from .io.export.surface import FARTHEST, largest_turn

    turn = largest_turn(dataset["orientation"].values)
    return [f"bodies turn by up to {turn:.2g} rad between samples: what plays them may go the other way"] * (
        turn > FARTHEST
    )


def _glb(args: argparse.Namespace, model: Model) -> list[str]:
    """A run as a binary glTF."""
    from .io.export.gltf import to_glb

    world, dataset = _run(args, model)
    return [*_save(args.out, to_glb(world.model, dataset)), *_turning(dataset)]


def _usd(args: argparse.Namespace, model: Model) -> list[str]:
    """The model and a run of it as a USD stage."""
    from .io.export.usd import to_usd

    _load("pxr", "USD needs usd-core", "usd")
    world, dataset = _run(args, model)
    report = to_usd(world.model, dataset, args.out, args.strict)
    return [f"wrote {args.out}", str(report)]


def _rrd(args: argparse.Namespace, model: Model) -> list[str]:
    """A run as a recording of Rerun."""
    from .io.export.logs import to_rrd

    _load("rerun", "Rerun's logs need rerun-sdk", "rerun")
    world, dataset = _run(args, model)
    to_rrd(world.model, dataset, args.out)
    return [f"wrote {args.out}"]


def _mcap(args: argparse.Namespace, model: Model) -> list[str]:
    """A run as MCAP."""
    from .io.export.logs import to_mcap

    _load("mcap", "MCAP needs mcap", "mcap")
    world, dataset = _run(args, model)
    return _save(args.out, to_mcap(world.model, dataset))


def _load(package: str, needs: str, extra: str) -> None:
    """Refuse a format whose package is not there, before anything is computed for it."""
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise ModelError(f"export: {needs}; install it by `pip install impulsar[{extra}]`") from error


def _robot(args: argparse.Namespace, model: Model) -> list[str]:
    """The model in a robot's format, meshes in a folder beside it; lines on what is not in it."""
    files: dict[str, bytes] = {}
    folder = f"{args.out.stem}_meshes"
    if args.to == "mjcf":
        from .io.export.mjcf import to_mjcf

        text, report = to_mjcf(model, args.dt or model.dt or 0.001)
    elif args.to == "urdf":
        from .io.export.urdf import to_urdf

        text, report = to_urdf(model, files, folder)
    else:
        from .io.export.sdf import to_sdf

        text, report = to_sdf(model, files, folder)
    report.judge(args.strict)
    beside = _put(args.out.parent, files) if files else []
    return [*_save(args.out, text.encode()), *beside, str(report)]


def _save(path: Path, data: bytes) -> list[str]:
    """Write a file; the line that says so."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise ModelError(f"export: cannot write '{path}': {error.strerror}; choose another place") from error
    return [f"wrote {path}"]


def _put(folder: Path, files: dict[str, bytes]) -> list[str]:
    """Write files into a folder; the line that says so."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
    except OSError as error:
        raise ModelError(f"export: cannot write '{folder}': {error.strerror}; choose another place") from error
    return [f"wrote {', '.join(str(folder / name) for name in files)}"]


# what is several files, into the folder --out; and what is one, into the file; each gives the lines that are told
Writer = Callable[[argparse.Namespace, Model], list[str]]
FOLDERS: dict[str, Writer] = {"c99": _c99, "c": _c, "cpp": _cpp}
FILES: dict[str, Writer] = {
    "fmu": _fmu,
    "glb": _glb,
    "urdf": _robot,
    "sdf": _robot,
    "mjcf": _robot,
    "usd": _usd,
    "rrd": _rrd,
    "mcap": _mcap,
}


def write(args: argparse.Namespace, model: Model) -> list[str]:
    """Write what `--to` asks for; lines that say what was written, and what was left out."""
    return (FOLDERS | FILES)[args.to](args, model)
