"""`impulsar sweep FILE.toml`: model, parameters, design, measures and run of a sweep, read from a file."""

import argparse
import json
import sys
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..author.checks import file_path, show, whole
from ..author.errors import FileError, ModelError
from ..author.events import Event
from ..author.model import Model
from ..author.names import closest

if TYPE_CHECKING:
    import xarray as xr

EXECUTORS = ("processes", "dask", "mpi")
TABLES = ("model", "parameters", "design", "measures", "run")
DESIGN = ("kind", "samples", "seed")
OF_SWEEP = ("duration", "every", "batch", "workers", "store")
OF_WORLD = (
    *("method", "coordinates", "dt", "rtol", "atol", "substeps", "device", "strict", "redundancy"),
    *("max_speed", "max_hand_force", "contacts", "compile"),
)
OF_EVENT = ("event", "direction", "level", "terminal")
GOOD, FELL_SHORT, INTERRUPTED = 0, 1, 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `impulsar sweep`."""
    parser.add_argument("file", metavar="FILE.toml", type=Path, help="what to run: see docs/cluster.md")
    parser.add_argument(
        "--store", metavar="DIR", type=Path, help="folder of the results; default: the file's, or FILE.zarr"
    )
    parser.add_argument("--executor", metavar="E", choices=EXECUTORS, default="processes", help=", ".join(EXECUTORS))
    parser.add_argument(
        "--workers", metavar="N", type=int, help="processes, also of Dask; 0: none; default: one a core"
    )
    parser.add_argument("--scheduler", metavar="URL", help="dask: of a running cluster, such as tls://host:8786")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def command(args: argparse.Namespace, scene: Callable[[str, dict[str, Any]], Model]) -> int:
    """Run a sweep of a file and say what came of it; status 1 where cases broke."""
    from .driver import sweep
    from .executors import dask_executor, mpi_executor

    asked = read_file(args.file, scene)
    store = args.store or asked.pop("store", None) or args.file.with_suffix(".zarr")
    asked.pop("store", None)
    if args.scheduler is not None and args.executor != "dask":
        raise ModelError("--scheduler: is for --executor dask")
    workers = args.workers if args.workers is not None else asked.pop("workers", None)
    asked.pop("workers", None)
    workers = workers if workers is None else whole("--workers", "workers", workers, 0, 10**6)
    made: Any = nullcontext(None)
    if args.executor == "dask":
        made = dask_executor(args.scheduler, workers)
    elif args.executor == "mpi":
        made = mpi_executor()
    try:
        with made as executor:
            shown = False if args.json else None
            result = sweep(**asked, executor=executor, store=store, workers=workers, progress=shown)
    except KeyboardInterrupt:
        told = f"impulsar: interrupted; what was computed is in '{store}', and the same command goes on from there"
        print(told, file=sys.stderr)
        return INTERRUPTED
    _tell(result, store, args.json)
    return FELL_SHORT if (result["error"] != "").any() else GOOD


def _tell(result: "xr.Dataset", store: Path, as_json: bool) -> None:
    broke = result["error"].values != ""
    figures = {
        str(name): {"least": float(values.min()), "mean": float(values.mean()), "largest": float(values.max())}
        for name, values in result.data_vars.items()
        if name not in ("error", "done") and values.notnull().any()
    }
    summary = {
        "store": str(store),
        "key": result.attrs["key"],
        "cases": result.sizes["case"],
        "broke": int(broke.sum()),
        "measures": figures,
    }
    if as_json:
        print(json.dumps(summary))
        return
    print(f"{summary['cases']} cases, {summary['broke']} broke; in {store}, sweep {summary['key']}")
    for name, own in figures.items():
        print(f"  {name:<20} from {own['least']:.6g} to {own['largest']:.6g}, mean {own['mean']:.6g}")
    for case in broke.nonzero()[0][:5]:
        print(f"  case {case}: {result['error'].values[case]}")


# the file -----------------------------------------------------------------------------------------


def read_file(path: Path, scene: Callable[[str, dict[str, Any]], Model]) -> dict[str, Any]:
    """A sweep's file as arguments of `sweep`; scene gives the model of a name or file and settings."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"'{path}': is no TOML file: {error}") from error
    except OSError as error:
        raise FileError(f"'{path}': cannot be read: {error.strerror}; check the name") from error
    for name in data:
        if name not in TABLES:
            raise ModelError(f"'{path}': no table [{name}]; {closest(name, TABLES)}")
    for name in ("model", "parameters", "measures"):
        if not isinstance(data.get(name), dict) or not data[name]:
            raise ModelError(f"'{path}': the table [{name}] is missing or empty")
    design, run = _table(path, data, "design", DESIGN), _table(path, data, "run", (*OF_SWEEP, *OF_WORLD))
    return {
        "model": _model(path, data["model"], scene),
        "parameters": _flat(data["parameters"]),
        "measure": {name: _measure(path, name, one) for name, one in data["measures"].items()},
        "design": design.get("kind", "grid"),
        **{name: design[name] for name in ("samples", "seed") if name in design},
        **{name: value for name, value in run.items() if name != "store"},
        **({"store": path.parent / file_path("[run] store", run["store"])} if "store" in run else {}),
    }


def _table(path: Path, data: dict[str, Any], name: str, known: tuple[str, ...]) -> dict[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise ModelError(f"'{path}': {name} is {show(table)}, expected a table")
    for key in table:
        if key not in known:
            raise ModelError(f"'{path}': [{name}] has no {key}; {closest(key, known)}")
    return table


def _flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Paths with a dot are keys, in quotes or not: crank.length is a table in a table to TOML."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, dict) and value else {before + key: value}
    return found


def _model(path: Path, table: dict[str, Any], scene: Callable[[str, dict[str, Any]], Model]) -> Model:
    """A scene by name with its settings, or a file beside this one; and expressions that follow its parameters."""
    for key in table:
        if key not in ("scene", "file", "set", "parameters", "expressions"):
            told = closest(key, ("scene", "file", "set", "parameters", "expressions"))
            raise ModelError(f"'{path}': [model] has no {key}; {told}")
    if ("scene" in table) == ("file" in table):
        raise ModelError(f"'{path}': [model] wants one of scene = 'four-bar' and file = 'mine.json'")
    for key in ("scene", "file"):
        if key in table and not isinstance(table[key], str):
            raise ModelError(f"'{path}': [model] {key} is {show(table[key])}, expected a text")
    for key in ("set", "parameters", "expressions"):
        if not isinstance(table.get(key, {}), dict):
            raise ModelError(f"'{path}': [model] {key} is {show(table[key])}, expected a table")
    name = table["scene"] if "scene" in table else str(path.parent / table["file"])
    model = scene(name, dict(table.get("set", {})))
    for parameter, value in table.get("parameters", {}).items():
        model.parameter(parameter, value)
    for target, text in _flat(table.get("expressions", {})).items():
        model.expression(target, text)
    return model


def _measure(path: Path, name: str, given: Any) -> str | Event:
    if isinstance(given, str):
        return given
    if not isinstance(given, dict) or not isinstance(given.get("event"), str):
        expected = "a text such as 'max body.arm.position.x', or {event = 'joint.crank.velocity', direction = -1}"
        raise ModelError(f"'{path}': measure '{name}' is {show(given)}, expected {expected}")
    for key in given:
        if key not in OF_EVENT:
            raise ModelError(f"'{path}': measure '{name}' has no {key}; {closest(key, OF_EVENT)}")
    return Event(name, given["event"], given.get("direction", 0), given.get("terminal", False), given.get("level", 0.0))
