"""`impulsar export`: a scene or a session in another form, as text."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from .author.errors import ModelError
from .author.model import Model
from .author.sensors import Gps

NEED_FILE = ("html",)
FOLDERS = ("c99",)  # what is several files


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


def write_folder(args: argparse.Namespace, model: Model) -> list[str]:
    """A program in C into the folder `--out`; lines that say what was written."""
    from .io.c99 import files, to_c99
    from .world.world import World

    world = World(model, method=args.method, dt=args.dt, substeps=1 if args.method == "direct" else None)
    duration = args.duration or model.duration or 10.0
    program = to_c99(world, max(1, round(duration / world.dt)), args.ways, Path(args.model).stem)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, text in files(program).items():
        (args.out / name).write_text(text, encoding="utf-8")
    found = program.followed
    covered = f"{found.steps} of {found.asked} steps: {found.ended}" if found.ended else f"all {found.steps} steps"
    return [
        f"wrote {', '.join(str(args.out / name) for name in files(program))}",
        f"a step is at most {program.most} operations; {len(found.ways)} ways through it cover {covered}",
    ]
