"""Arguments of the commands that have many; none of what they do is imported to parse them."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

EXPORTS = (
    *("python", "html", "geojson", "kml", "c99", "c", "cpp", "fmu"),
    *("glb", "usd", "urdf", "sdf", "mjcf", "rrd", "mcap"),
)
CPUS = ("native", "x86-64-v2", "x86-64-v3", "x86-64-v4")
ANALYSES = ("mobility", "assemble", "statics", "modes", "inverse", "clearance")


def seconds(text: str) -> float:
    """A time > 0."""
    return _number(text, "a time > 0 [s]", lambda value: 0 < value < math.inf)


def time_or_zero(text: str) -> float:
    """A time >= 0."""
    return _number(text, "a time >= 0 [s]", lambda value: 0 <= value < math.inf)


def factor(text: str) -> float:
    """A number > 0."""
    return _number(text, "a number > 0", lambda value: 0 < value < math.inf)


def _number(text: str, expected: str, valid: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not valid(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return value


def of_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scene", metavar="SCENE|FILE", help="name of a scene, see `impulsar scenes`, or a scene file")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the scene")
    parser.add_argument("--method", metavar="M", help="name of a method")
    parser.add_argument("--coordinates", metavar="C", help="generalized or maximal")
    parser.add_argument("--device", metavar="D", help="cpu, cuda or cuda:0")
    parser.add_argument("--dt", metavar="H", type=seconds, help="step [s]; default: the scene's")
    parser.add_argument("--duration", metavar="T", type=seconds, help="simulated time [s]; default: the scene's")
    parser.add_argument("--every", metavar="E", type=seconds, help="time between samples [s]; default: 500 samples")
    parser.add_argument("--out", metavar="FILE.nc", type=Path, help="write the result as NetCDF")
    parser.add_argument(
        "--plot", metavar="FILE.png", type=Path, help="draw the motion, energies, coordinates and forces"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument(
        "--domains", metavar="N", nargs="?", type=int, const=False,
        help="as one large world over the ranks of `mpiexec -n 4 impulsar run ... --domains`; N: start so many here",
    )  # fmt: skip
    parser.add_argument(
        "--large", action="store_true", help="as one large world: chain, tree, spheres, boxes, settling ... or a scene"
    )
    parser.add_argument("--checkpoint", metavar="DIR", type=Path, help="domains: write checkpoints there")
    parser.add_argument(
        "--checkpoint-every",
        metavar="T",
        type=seconds,
        help="domains: time between them [s]; default: a tenth",
    )
    parser.add_argument("--resume", action="store_true", help="domains: go on from the last full checkpoint")


def of_analyse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", choices=ANALYSES, help=", ".join(ANALYSES))
    parser.add_argument("scene", metavar="SCENE|FILE", help="name of a scene, or a scene file")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the scene")
    parser.add_argument("--motors", action="store_true", help="mobility: count motors as equations too")
    parser.add_argument(
        "--time", metavar="T", type=time_or_zero, help="statics, modes: of loads and motors [s]; default 0"
    )
    parser.add_argument("--duration", metavar="T", type=seconds, help="inverse, clearance [s]; default: the scene's")
    parser.add_argument(
        "--every", metavar="E", type=seconds, help="inverse, clearance: between samples [s]; default: a 20th, a step"
    )
    parser.add_argument(
        "--motion", metavar="JOINT=MOTION", action="append", default=[],
        help="inverse: a speed [rad/s, m/s] such as 'crank=2', or a profile, 'crank=Harmonic(0.3, 2)'; "
             "default: the scene's own position motors",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def of_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="SCENE|FILE|JOURNAL", help="name of a scene, a scene file, or a journal")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the scene")
    parser.add_argument("--to", metavar="FORMAT", choices=EXPORTS, required=True, help=", ".join(EXPORTS))
    parser.add_argument(
        "--duration", metavar="T", type=seconds, help="of the run, if there is one [s]; default: the scene's"
    )
    parser.add_argument(
        "--method", metavar="M", default="direct", help="of the steps; c99: simgc, or direct at one fixed sub-step"
    )
    parser.add_argument("--dt", metavar="H", type=seconds, help="the step [s]; default: the scene's")
    parser.add_argument(
        "--cpu", metavar="LEVEL", choices=CPUS, default="x86-64-v3", help=f"c, fmu: of {', '.join(CPUS)}; default -v3"
    )
    parser.add_argument(
        "--strict", action="store_true", help="urdf, sdf, mjcf, usd: refuse what cannot be written whole"
    )
    parser.add_argument(
        "--fmi", metavar="V", choices=("2.0", "3.0"), default="3.0", help="fmu: 2.0 or 3.0, the default"
    )
    parser.add_argument(
        "--ways", metavar="N", type=int, default=256, help="c99: through the step, at most; default 256"
    )
    parser.add_argument("--out", metavar="FILE|DIR", type=Path, help="where to; default: standard output")


def of_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT.nc", type=Path, help="what `impulsar run --out` wrote")
    parser.add_argument("log", metavar="LOG.csv", type=Path, help="measured data: a column of times and others")
    parser.add_argument(
        "--map", metavar="COLUMN=CHANNEL", action="append", default=[],
        help="a column and the channel beside it, such as 'x=slider.x' or 'T=time'; default: columns named so",
    )  # fmt: skip
    parser.add_argument("--offset", metavar="auto|S", default="0", help="added to the log's times [s]; default 0")
    parser.add_argument("--bound", metavar="R", help="status 1 where a channel's rms is beyond R of its range")
    parser.add_argument("--plot", metavar="FILE.png", type=Path, help="draw both curves and their difference")
    parser.add_argument("--out", metavar="DIR", type=Path, help="write compare.png and compare.json here")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
