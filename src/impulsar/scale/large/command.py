"""`impulsar run SCENE --large`: one large world, and what large worlds are run from by name."""

import argparse
import json
import sys
import time as wall
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import ModelError
from ...author.files import write_file
from ...author.model import Model
from ...author.names import closest
from ...engine.large.bulk import Bulk
from . import machines
from . import scenes as made
from .world import LargeReport, LargeWorld

GOOD = 0
TOUCHING, FREE = 1.0 / 240.0, 1e-3  # steps where neither the scene nor the call says [s]
TELLS = 10  # lines of progress
NOT_FOR_LARGE = ("coordinates", "every", "plot", "checkpoint", "checkpoint_every")


def scenes() -> dict[str, Callable[..., Bulk]]:
    """Scenes of large worlds by name."""
    return {
        name: one
        for room in (made, machines)
        for name, one in vars(room).items()
        if callable(one) and name[0].islower() and one.__module__ == room.__name__
    }


def bulk_by_name(name: str, settings: dict[str, Any]) -> Bulk:
    """A large scene with its parameters."""
    made = scenes()[name]
    known = list(signature(made).parameters)
    for key in settings:
        if key not in known:
            raise ModelError(f"large scene '{name}': no parameter {key!r}; it has: {', '.join(known)}")
    try:
        return made(**settings)
    except TypeError as error:
        raise ModelError(f"large scene '{name}': {error}") from error


def default_step(bulk: Bulk) -> float:
    """The step of a scene that states none [s]."""
    return TOUCHING if bulk.touches else FREE


def what_of(
    args: argparse.Namespace, scene: Callable[[dict[str, Any]], Model], settings: dict[str, Any]
) -> tuple[Bulk | Model, float, float]:
    """What is run, its step and its duration [s]."""
    if args.scene in scenes():
        bulk = bulk_by_name(args.scene, settings)
        if not args.duration:
            raise ModelError(f"scene '{args.scene}': states no duration; give --duration")
        return bulk, args.dt or default_step(bulk), args.duration
    try:
        model = scene(settings)
    except ModelError as error:
        if Path(args.scene).suffix or "scene" not in str(error):
            raise
        raise ModelError(f"{error}; of large worlds: {closest(args.scene, list(scenes()))}") from error
    duration = args.duration or model.duration
    if duration is None:
        raise ModelError(f"scene '{args.scene}': states no duration; give --duration")
    return model, args.dt or model.dt or FREE, duration


def run(args: argparse.Namespace, scene: Callable[[dict[str, Any]], Model], settings: dict[str, Any]) -> int:
    """Run one, and print its report."""
    for name in NOT_FOR_LARGE:
        if getattr(args, name) is not None:
            raise ModelError(f"--{name.replace('_', '-')}: not with --large; take it away")
    if args.out and args.out.suffix.lower() != ".nc":
        raise ModelError(f"--out '{args.out}': the last state is NetCDF; name it '{args.out.with_suffix('.nc')}'")
    what, dt, duration = what_of(args, scene, settings)
    chosen = {name: getattr(args, name) for name in ("method", "device") if getattr(args, name)}
    began, processor = wall.perf_counter(), wall.process_time()
    world = LargeWorld(what, dt, **chosen)
    built, steps = wall.process_time() - processor, max(1, round(duration / dt))
    stride = max(1, steps // TELLS)
    print(f"impulsar: {world.bench.bulk.name}: {world.bodies} bodies, {world.joints} joints", file=sys.stderr)
    while world.count < steps:
        report = world.step(min(stride, steps - world.count))
        told = f"{world.time:.6g} of {steps * dt:.6g} s, {gap_of(world, report)}"
        print(f"impulsar: {told}", file=sys.stderr, flush=True)
    seconds, processor = wall.perf_counter() - began, wall.process_time() - processor
    if args.out:
        state = {name: getattr(world, name) for name in ("positions", "orientations", "velocities")}
        write_state(args.out, world, state)
    summary = {
        "model": world.bench.bulk.name, "bodies": world.bodies, "joints": world.joints, "dt": dt, "steps": steps,
        "simulated": world.time, "seconds": seconds, "processor_seconds": processor, "building_seconds": built,
        "bytes_per_body": world.bytes_per_body(), "energy": world.energy(), "momentum": world.momentum().tolist(),
        "contacts": report.contacts, "overlap": report.overlap,
        "position_error": report.position_error, "velocity_error": report.velocity_error,
    }  # fmt: skip
    print(json.dumps(summary) if args.json else shown(summary, gap_of(world, report)))
    return GOOD


def shown(s: dict[str, Any], gap: str) -> str:
    """What a person wants to know of a run."""
    lines = [
        f"{s['model']}: {s['simulated']:g} s in {s['steps']} steps, dt = {s['dt']:g} s",
        f"{s['seconds']:.3g} s of wall time, {s['processor_seconds']:.3g} s of processor time, "
        f"{s['building_seconds']:.3g} s of it before the first step",
        f"  bodies {s['bodies']}, joints {s['joints']}, {s['bytes_per_body']:.0f} B a body",
        *(f"  {name} {value:.9g} J" for name, value in s["energy"].items()),
        f"  momentum {', '.join(f'{value:.6g}' for value in s['momentum'])} kg m/s",
        f"  {gap}",
    ]
    return "\n".join(lines)


def gap_of(world: Any, report: LargeReport) -> str:
    """How well joints and contacts hold."""
    joints = f"gap {report.position_error:.1e} m, J v {report.velocity_error:.1e} m/s"
    touching = f"{report.contacts} contacts, overlap {report.overlap:.2e} m"
    found = [text for text, is_there in ((joints, world.joints), (touching, world.contacts)) if is_there]
    return ", ".join(found) or "no joints, no contacts"


def write_state(path: Path, world: Any, state: dict[str, np.ndarray], **attributes: Any) -> None:
    """The last state of all bodies as NetCDF."""
    import xarray as xr

    from ...results import netcdf

    axes = {"positions": ("xyz", "m"), "orientations": ("xyzw", "1"), "velocities": ("twist", "rad/s, m/s")}
    data = {name: (("body", axes[name][0]), values, {"units": axes[name][1]}) for name, values in state.items()}
    bulk = world.bulk if hasattr(world, "bulk") else world.bench.bulk
    dataset = xr.Dataset(data, attrs={"model": bulk.name, "time": world.time, **attributes})
    write_file(path, netcdf(dataset))
