"""The command `impulsar`.

Exit status: 0 success, 1 a check fell short, 2 bad input with one line on standard error, 130 Ctrl-C.
With --json, standard output is one JSON object and nothing else.
"""

import argparse
import ast
import inspect
import json
import math
import os
import platform
import sys
import time as wall
import warnings
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import arguments
from .ar import command as ar_command
from .author.errors import ModelError, plain
from .author.model import Model
from .scale import command as sweep_command
from .studio import command as studio_command
from .version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import warp as wp
    import xarray as xr

    from .world.world import World

GOOD, FELL_SHORT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
SAMPLES = 500  # of a run, about, unless --every says otherwise
NETCDF = (".nc", ".nc4", ".netcdf", ".h5")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    args = build_parser().parse_args(argv)
    if args.command is None:
        build_parser().print_help()
        return GOOD
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *rest: _tell(f"warning: {message}")
            return args.command(args)
    except (ModelError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return GOOD
        _tell(" ".join(str(error).split()))
        return BAD_INPUT
    except KeyboardInterrupt:
        _tell("interrupted")
        return INTERRUPTED


def _tell(line: str) -> None:
    """One line for the person, away from the data."""
    print(f"impulsar: {plain(line)}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        _tell(f"{message}; see {self.prog} --help")
        sys.exit(BAD_INPUT)


def build_parser() -> Parser:
    """Commands and their options."""
    parser = Parser(prog="impulsar", description="Interactive multibody dynamics.")
    parser.set_defaults(command=None)
    parser.add_argument("--version", action="version", version=f"impulsar {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        added.set_defaults(command=function)
        return added

    scenes_ = command("scenes", scenes, "list the scenes, tell of one, or save it as a file")
    scenes_.add_argument("scene", metavar="SCENE|FILE", nargs="?", help="which one; all of them if left out")
    scenes_.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the scene")
    scenes_.add_argument("--save", metavar="FILE.json", type=Path, help="write the scene here")
    scenes_.add_argument("--schema", action="store_true", help="print the JSON schema of scene files")
    run_ = command("run", run, "simulate a scene and print its energy books")
    arguments.of_run(run_)
    analyse_ = command(
        "analyse", analyse, "analyse a scene: mobility, assembly, statics, modes, inverse dynamics, clearance"
    )
    arguments.of_analyse(analyse_)
    sweep_command.add_arguments(command("sweep", sweep, "run a model for many values of its parameters"))
    export_ = command("export", export, "write a scene, or a session from its journal, in another form")
    arguments.of_export(export_)
    compare_ = command("compare", compare, "compare a result with measured data, channel by channel")
    arguments.of_compare(compare_)
    replay_ = command("replay", replay, "carry out a session again from its journal, bit for bit")
    replay_.add_argument("journal", metavar="FILE", type=Path, help="the journal")
    replay_.add_argument("--verify", action="store_true", help="compare the state's bits with those of the session")
    replay_.add_argument(
        "--recover", action="store_true", help="cut a damaged journal before the damage first; the rest is put aside"
    )
    replay_.add_argument("--json", action="store_true", help="print the figures as JSON")
    validate_ = command("validate", validate, "compare results with closed forms, papers and other engines")
    validate_.add_argument("cases", metavar="CASE", nargs="*", help="names of cases; default: all")
    validate_.add_argument("--list", action="store_true", help="list the cases")
    validate_.add_argument("--json", action="store_true", help="print the figures as JSON")
    validate_.add_argument("--report", metavar="DIR", type=Path, help="write a page with a figure per case here")
    validate_.add_argument("--quick", action="store_true", help="report: short runs, a minute or two")
    validate_.add_argument(
        "--section", metavar="NAME", action="append", help="report: only this section; default: all, or laws if named"
    )
    bench_ = command("bench", bench, "measure the cost of steps")
    bench_.add_argument(
        "suites", metavar="SUITE", nargs="*", help="names of suites; default: all; a wrong one lists them"
    )
    bench_.add_argument("--json", action="store_true", help="print the figures as JSON")
    bench_.add_argument("--report", metavar="DIR", type=Path, help="write benchmarks.md with tables and pictures here")
    bench_.add_argument("--keep", metavar="FILE", type=Path, help="put the figures, by commit, behind those in a file")
    bench_.add_argument("--history", metavar="FILE", type=Path, help="measure nothing: ratios over the commits in it")
    studio_ = command("studio", studio, "take hold of a scene in the browser")
    studio_command.add_arguments(studio_, arguments.seconds, arguments.factor)
    ar_command.add_arguments(
        command("ar", ar, "over a camera's picture: demo, run, print, calibrate"), arguments.seconds, arguments.factor
    )
    command("warmup", warmup, "compile the kernels now, so that the first run need not")
    demo_ = command("demo", demo, "pull ten pendula by a hand and draw what happens")
    demo_.add_argument("--out", metavar="DIR", type=Path, default=Path("out"), help="folder of the picture")
    command("doctor", doctor, "check the installation")
    return parser


# scenes and runs --------------------------------------------------------------------------------------


def scenes(args: argparse.Namespace) -> int:
    """Print a table of the scenes, or the schema of files; or save a scene."""
    from .scale.large.command import scenes as large_scenes
    from .scenes import SCENES

    if args.schema:
        if args.scene or args.save or args.set:
            raise ModelError("scenes: --schema is of all scene files; take the rest away, and send it into a file by >")
        from .io import schema

        print(json.dumps(schema(), indent=1, ensure_ascii=False))
        return GOOD
    if args.scene is None and (args.save is not None or args.set):
        raise ModelError("scenes: say which one, as in `impulsar scenes four-bar --save four-bar.json`")
    if args.save is not None:
        from .io import save_model

        model = _scene(args.scene, _settings(args.set))
        _check_target(args.save)
        save_model(model, args.save)
        print(f"wrote {args.save}")
        return GOOD
    if args.scene is not None:
        _tell_of(args.scene, _settings(args.set))
        return GOOD
    width = max(map(len, SCENES)) + 2
    for scene in SCENES.values():
        print(f"{scene.name:<{width}}{scene.description}")
        for name, default in scene.parameters.items():
            print(f"{'':<{width}}  --set {name}={default}")
    print("\nLarge worlds, by `run SCENE --large` and `studio SCENE --large`:")
    for name, build in large_scenes().items():
        print(f"{name:<{width}}{(build.__doc__ or '').strip().splitlines()[0]}")
        for key, each in inspect.signature(build).parameters.items():
            print(f"{'':<{width}}  --set {key}={each.default}")
    return GOOD


def _tell_of(name: str, settings: dict[str, Any]) -> None:
    """One scene or file: what it is, what to try, its parameters and parts."""
    from .scenes import SCENES

    model = _scene(name, settings)
    counts = ((len(model.bodies), "bodies"), (len(model.joints), "joints"), (len(model.springs), "springs"))
    parts = ", ".join(f"{count} {what}" for count, what in counts if count)
    print(f"{model.name}: {parts}")
    scene = SCENES.get(name)
    if scene is None:
        return
    print(inspect.cleandoc(scene.build.__doc__ or ""))
    if scene.invite:
        print(f"Try: {scene.invite}")
    for key, default in scene.parameters.items():
        choices = f"  of {', '.join(scene.choices[key])}" if key in scene.choices else ""
        print(f"  --set {key}={default}{choices}")


def run(args: argparse.Namespace) -> int:
    """Simulate a scene, print a summary, write what was asked for.

    What can be refused is refused before the world is built, which may have to compile.
    """
    if args.domains is not None:
        from .scale.domains import command

        return command.run(args, partial(_scene, args.scene), _settings(args.set))
    if args.large:
        from .scale.large import command as large

        return large.run(args, partial(_scene, args.scene), _settings(args.set))
    if args.checkpoint or args.checkpoint_every or args.resume:
        raise ModelError("--checkpoint, --checkpoint-every and --resume are for --domains")
    from . import results
    from .render import draw_run
    from .world.world import World

    model = _scene(args.scene, _settings(args.set))
    duration = args.duration or model.duration
    if duration is None:
        raise ModelError(f"scene '{args.scene}': states no duration; give --duration")
    if dt := args.dt or model.dt:
        results.steps_and_stride(duration, args.every, dt)
    if args.out and args.out.suffix.lower() not in NETCDF:
        raise ModelError(f"--out '{args.out}': results are NetCDF; name it '{args.out.with_suffix('.nc')}'")
    if args.plot:
        results.check_picture(args.plot)
    for path in (args.out, args.plot):
        _check_target(path)
    chosen = {key: getattr(args, key) for key in ("method", "coordinates", "device", "dt")}
    world = World(model, **{key: value for key, value in chosen.items() if value is not None})
    every = args.every or world.dt * max(1, round(duration / world.dt) // SAMPLES)
    dataset, summary = _timed_run(world, duration, every, progress=False if args.json else None)
    written, failed = [], []
    for write, path in ((results.save, args.out), (partial(draw_run, world.model), args.plot)):
        try:
            if path:
                write(dataset, path)
                written.append(str(path))
        except ModelError as error:  # what was computed is still worth its summary
            failed.append(str(error))
    if args.json:
        print(json.dumps(summary | {"written": written}))
    else:
        _print_summary(world, summary)
        for path in written:
            print(f"wrote {path}")
    if failed:
        _tell("; ".join(failed))
        return BAD_INPUT
    if "interrupted" in dataset.attrs:
        _tell(f"interrupted at t = {world.time:g} s; what was computed before is kept")
        return INTERRUPTED
    return FELL_SHORT if "broken_at" in dataset.attrs else GOOD


def _settings(pairs: list[str]) -> dict[str, Any]:
    """Parameters from KEY=VALUE, a value being a Python literal, true, false or else text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (equals and key.isidentifier()):
            raise ModelError(f"--set {pair!r}: expected KEY=VALUE, such as --set start=hanging")
        if text.lower() in ("true", "false"):
            settings[key] = text.lower() == "true"
            continue
        try:
            settings[key] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            settings[key] = text
    return settings


def _scene(name: str, settings: dict[str, Any]) -> Model:
    from .scenes import SCENES, scene

    if Path(name).suffix:
        from .io.xacro import is_xacro
        from .loading import load, load_xacro

        model = (load_xacro if is_xacro(name) else load)(name, **settings)
        if model.import_report is not None:
            _tell(model.import_report.shown())
        return model
    try:
        return scene(name, **settings)
    except ModelError as error:
        from .scale.large.command import scenes as large_scenes

        if name in SCENES or name not in large_scenes():
            raise
        raise ModelError(f"{error}; '{name}' is a large one: run or studio {name} --large") from error
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        raise ModelError(f"scene '{name}' with {given}: {error}") from error


def _check_target(path: Path | None) -> None:
    """Refuse a file that could not be written before anything is computed for it."""
    if path is None:
        return
    if path.is_dir():
        raise ModelError(f"'{path}': is a folder; give the name of a file")
    if not path.parent.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _tell(f"made the folder '{path.parent}'")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ModelError(f"'{path}': cannot be written here; choose another place")


def _timed_run(
    world: "World", duration: float, every: float | None, progress: bool | None = None
) -> tuple["xr.Dataset", dict[str, Any]]:
    """The result of a run and its figures."""
    import xarray  # noqa: F401  loaded before the clock starts

    began = wall.perf_counter()
    dataset = world.run(duration, every, progress)
    return dataset, _summary(world, dataset, wall.perf_counter() - began, every)


def _summary(world: "World", dataset: "xr.Dataset", seconds: float, every: float | None) -> dict[str, Any]:
    """Figures of a run by name."""
    simulated = float(dataset["time"][-1] - dataset["time"][0])
    imbalance = dataset["energy"].sel(kind="imbalance")
    worst = float(abs(imbalance).max())
    reference = world.model.reference_energy
    endings = {key: float(dataset.attrs[key]) for key in ("broken_at", "interrupted") if key in dataset.attrs}
    return {
        "model": world.model.name,
        "method": world.method.name,
        "coordinates": world.coordinates,
        "device": world.device,
        "dt": world.dt,
        "samples": dataset.sizes["time"],
        "every": every,
        "simulated": simulated,
        "seconds": seconds,
        "times_real_time": simulated / seconds,
        "energy": {str(kind): float(dataset["energy"].sel(kind=kind)[-1]) for kind in dataset["kind"].values},
        "worst_imbalance": worst,
        "worst_imbalance_percent": 100 * worst / reference if reference else None,
        "worst_constraint_error": float(dataset["constraint_error"].max()),
        **endings,
    }


def _print_summary(world: "World", summary: dict[str, Any]) -> None:
    """What a person wants to know of a run."""
    s = summary
    print(f"{s['model']}: {s['simulated']:g} s by {s['method']} on {s['device']}, dt = {s['dt']:g} s")
    print(f"{s['seconds']:.3g} s of wall time, {s['times_real_time']:.3g} times real time")
    print("\n".join(f"  {line}" for line in str(world.energy()).splitlines()))
    if s["every"] and s["every"] > 1.5 * s["dt"]:
        print(f"{s['samples']} samples, one each {s['every']:g} s; --every {s['dt']:g} measures each step")
    percent = s["worst_imbalance_percent"]
    share = "" if percent is None else f", {percent:.3g} % of the reference energy {world.model.reference_energy:g} J"
    print(f"worst imbalance {s['worst_imbalance']:.3g} J{share}")
    print(f"worst constraint error {s['worst_constraint_error']:.3g} m and rad")


def demo(args: argparse.Namespace) -> int:
    """Ten pendula with the hand: books on the screen, motion and energies in a picture."""
    from .render import draw_demo
    from .world.world import World

    path = args.out / "demo.png"
    _check_target(path)
    model = _scene("ten-pendula", {"start": "hanging", "hand": True})
    world = World(model, dt=0.001)
    dataset, summary = _timed_run(world, 10.0, every=0.01)
    _print_summary(world, summary)
    draw_demo(model, dataset, path)
    print(f"the motion and the energies are in {path}")
    return INTERRUPTED if "interrupted" in dataset.attrs else GOOD


def studio(args: argparse.Namespace) -> int:
    """Serve the studio until Ctrl-C."""
    settings = _settings(args.set)
    return studio_command.serve(args, lambda: _scene(args.scene or "empty", settings), settings=settings)


def ar(args: argparse.Namespace) -> int:
    """Augmented reality: the demo, scenes over a camera's picture, sheets, calibration."""
    return ar_command.command(args, lambda: _scene(args.scene or "empty", _settings(args.set)))


def replay(args: argparse.Namespace) -> int:
    """Carry out a journal and print what was found; with --verify other bits are a failure."""
    from .engine.machine import machine_key
    from .history.replay import recover
    from .history.replay import replay as carry_out

    aside = recover(args.journal) if args.recover else None
    if aside is not None:
        _tell(f"'{args.journal}': {aside}")
    began = wall.perf_counter()
    with _records_bar(args.json) as progress:
        found = carry_out(args.journal, args.verify, progress)
    history, world = found.history, found.history.world
    first, last = history.span
    figures = {
        "journal": str(args.journal),
        "model": world.model.name,
        "machine": found.machine,
        "steps": found.steps,
        "edits": found.edits,
        "first_time": first,
        "last_time": last,
        "time": world.time,
        "hash": world.hash(),
        "dropped_bytes": found.torn if aside is None else aside.bytes,
        "dropped_records": found.behind if aside is None else aside.records,
        "seconds": round(wall.perf_counter() - began, 3),
    }
    if args.verify:
        figures |= {"checks": found.checks, "different": len(found.wrong), "verified": not found.wrong}
    if args.json:
        print(json.dumps(figures))
    else:
        print(f"{world.model.name}: {found.steps} steps and {found.edits} edits in {figures['seconds']:.3g} s")
        print(
            f"recorded from t = {first:g} s to {last:g} s; at t = {world.time:.9g} s the state's hash is {world.hash()}"
        )
        if found.torn:
            whole = f", with {found.behind} whole records in them," if found.behind else ""
            print(f"{found.torn} bytes at the end could not be read{whole} and were left out")
        if args.verify:
            print(f"{found.checks} checks of the state's bits, {len(found.wrong)} different")
    if found.wrong:
        made_on = plain(found.machine)
        other = "" if found.machine == machine_key() else f"; it was made on {made_on}, this is {machine_key()}"
        _tell(f"'{args.journal}': other bits first at the {found.wrong[0]}{other}")
        return FELL_SHORT
    return GOOD


@contextmanager
def _records_bar(is_quiet: bool) -> "Iterator[Callable[[int, int], None] | None]":
    """A progress bar in a terminal."""
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("replay", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def analyse(args: argparse.Namespace) -> int:
    """Print what an analysis found."""
    from .analysis.command import command

    return command(args, lambda: _scene(args.scene, _settings(args.set)))


def sweep(args: argparse.Namespace) -> int:
    """Run a sweep of a file."""
    return sweep_command.command(args, _scene)


def export(args: argparse.Namespace) -> int:
    """Write a model, or a session, as a program; or a run as a page that plays it, or as a track on the Earth."""
    from .exports import FILES, FOLDERS, NEED_FILE, text_of, write

    if args.to in (*NEED_FILE, *FOLDERS, *FILES) and args.out is None:
        raise ModelError(f"export: say where to, as in --out {'folder' if args.to in FOLDERS else f'motion.{args.to}'}")
    if args.to not in FOLDERS:
        _check_target(args.out)
    if args.to in (*FOLDERS, *FILES):
        print("\n".join(write(args, _scene(args.model, _settings(args.set)))))
        return GOOD
    text = text_of(args, lambda: _scene(args.model, _settings(args.set)))
    if args.out is None:
        print(text, end="")
    else:
        args.out.write_text(text, encoding="utf-8")
        print(f"wrote {args.out}")
    return GOOD


def compare(args: argparse.Namespace) -> int:
    """Put a result beside a log."""
    from .measured import command

    return command(args)


# checks and measurements ------------------------------------------------------------------------------


def validate(args: argparse.Namespace) -> int:
    """Run the validation cases, or list them."""
    from . import validate as cases

    known = list(cases.case_names())
    if args.list:
        print(json.dumps({"cases": [{"name": name} for name in known]}) if args.json else "\n".join(known))
        return GOOD
    _check_names("validate", "case", args.cases, known)
    if args.report is None:
        if args.quick or args.section:
            raise ModelError("--quick and --section: are of a report; give --report DIR too")
        return cases.run_cases(args.cases or None, args.json)
    from .bench import peers
    from .validate.report import command

    return command(args, peers.contenders, peers.versions())


def bench(args: argparse.Namespace) -> int:
    """Run the benchmark suites."""
    from . import bench as suites

    _check_names("bench", "suite", args.suites, list(suites.suite_names()))
    if args.history is not None:
        if args.suites or args.json or args.report or args.keep:
            raise ModelError("bench: --history measures nothing; give it alone")
        return suites.show_history(args.history)
    return suites.run_suites(args.suites or None, args.json, args.report, args.keep)


def _check_names(command: str, kind: str, names: list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            listed = f"known are: {', '.join(known)}" if len(known) < 20 else f"`impulsar {command} --list` names them"
            hint = f"did you mean '{close[0]}'?" if close else listed
            raise ModelError(f"no {kind} named '{name}'; {hint}")


# kernels ----------------------------------------------------------------------------------------------


def is_compiled(kernel: "wp.Kernel", device: str) -> bool:
    """Whether Warp's cache holds a kernel's module for a device."""
    import warp as wp

    from .engine.shared import shared

    is_cpu = wp.get_device(device).is_cpu
    identifier = shared(kernel).module.get_module_identifier(block_dim=1 if is_cpu else None)
    endings = (".o",) if is_cpu else (".ptx", ".cubin")
    folder = Path(wp.config.kernel_cache_dir) / identifier
    return folder.is_dir() and any(entry.suffix in endings for entry in folder.iterdir())


def warmup(args: argparse.Namespace) -> int:
    """Compile every method's kernels for every device, into Warp's cache."""
    import warp as wp

    from .engine.methods import METHODS
    from .world.world import World

    print("compiling the kernels of all methods into Warp's cache, so that the first run need not")
    for device in map(str, wp.get_devices()):
        for name in METHODS:
            began = wall.perf_counter()
            World(_pendulum(), method=name, device=device).run(0.1)
            print(f"{name} for {device}: ready after {wall.perf_counter() - began:.1f} s", flush=True)
            if hasattr(METHODS[name], "touching_kernel"):
                began = wall.perf_counter()
                World(_resting(), method=name, device=device).step()
                print(f"{name} with contact for {device}: ready after {wall.perf_counter() - began:.1f} s", flush=True)
        for model, what in ((_pendulum(), "edits"), (_resting(), "edits with contact")):
            began = wall.perf_counter()
            world = World(model, device=device)
            world.step()
            world.drag(next(iter(world.model.bodies)), (0.1, 0.2, 0.3))
            print(f"{what} for {device}: ready after {wall.perf_counter() - began:.1f} s", flush=True)
    return GOOD


def doctor(args: argparse.Namespace) -> int:
    """Print versions and devices, and check a pendulum's period on every device."""
    import numpy as np
    import warp as wp

    from .engine.machine import cpu_name
    from .engine.methods import METHODS
    from .world.world import DEFAULT_METHOD

    cache = wp.config.kernel_cache_dir
    kernel = METHODS[DEFAULT_METHOD]().kernel
    print(f"impulsar  {__version__}")
    print(f"python    {platform.python_version()} on {platform.platform()}")
    print(f"numpy     {np.__version__}")
    print(f"warp      {wp.__version__}")
    print(f"cpu       {cpu_name()}, {os.cpu_count()} cores")
    print(f"cache     {cache}", *ar_command.doctor_lines(), sep="\n")
    trouble = []
    for device in wp.get_devices():
        state = "compiled" if is_compiled(kernel, str(device)) else "not compiled yet: about 15 s now"
        print(f"device    {device} ({device.name}), step kernel of {DEFAULT_METHOD} {state}", flush=True)
        try:
            measured, exact, bound = _period(str(device))
        except Exception as error:  # whatever a broken installation may raise
            trouble.append(f"{device} cannot step: {type(error).__name__}: {' '.join(str(error).split())}")
            continue
        off = abs(measured / exact - 1)
        print(f"pendulum  period {measured:.7f} s, closed form {exact:.7f} s, off by {off:.1e} of {bound:.1e} allowed")
        if not off <= bound:
            trouble.append(f"{device} gives a wrong period")
    if trouble:
        print(f"NOT OK: {'; '.join(trouble)}")
        print(f"delete {cache}, install impulsar anew and run `impulsar doctor` again; then report what it printed")
        return FELL_SHORT
    print("OK")
    return GOOD


AMPLITUDE, ROD = math.radians(60.0), 1.0  # of doctor's pendulum [rad, m]


def _pendulum() -> Model:
    """A thin rod hung at its end, drawn aside to be let go."""
    from .author.shapes import Capsule

    model = Model("pendulum")
    side, down = math.sin(AMPLITUDE), -math.cos(AMPLITUDE)
    across = ROD**2 / 12
    rod = model.body(
        "rod",
        mass=1.0,
        inertia=(across, across, 1e-4),
        position=(side * ROD / 2, 0.0, down * ROD / 2),
        orientation=(0.0, math.sin(-AMPLITUDE / 2), 0.0, math.cos(AMPLITUDE / 2)),
        shape=Capsule(radius=0.01, length=ROD),
    )
    model.joint("pivot", "revolute", model.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    return model


def _resting() -> Model:
    """A ball on a floor."""
    from .author.shapes import Plane, Sphere

    model = Model("resting")
    model.obstacle("floor", Plane(), material="steel")
    model.body("ball", mass=1.0, shape=Sphere(0.1, material="steel"), position=(0, 0, 0.1))
    return model


def _period(device: str) -> tuple[float, float, float]:
    """Period of the pendulum as stepped, in closed form, and the relative difference that is allowed.

    ω² = 3g/2l; T = 2π/ω / agm(1, cos(amplitude/2)). `direct` keeps its tolerance of 1e-7; the zeros are read off
    by a line between samples, where the curve is straight: (ωh)³, and less.
    """
    import numpy as np

    from .world.world import World

    omega, dt = math.sqrt(1.5 * 9.81 / ROD), 0.001
    a, b = 1.0, math.cos(AMPLITUDE / 2)
    while a - b > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    exact = 2 * math.pi / omega / a
    result = World(_pendulum(), dt=dt, device=device).run(1.3 * exact, progress=False)
    x, t = result["position"].sel(body="rod", axis="x").values, result["time"].values
    k = np.flatnonzero(x[:-1] * x[1:] < 0)
    zeros = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    return float(zeros[2] - zeros[0]), exact, 1e-7 + (omega * dt) ** 3
