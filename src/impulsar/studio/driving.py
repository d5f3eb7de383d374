"""What motors must give for the motion that was recorded, or for one at given speeds: inverse dynamics for the page."""

from collections.abc import Callable

import numpy as np

from ..analysis.inverse import inverse
from ..author.checks import number
from ..author.errors import ModelError
from ..observe.readout import coordinate_name
from ..world.world import World
from . import analysis_messages as ms
from .points import Points
from .recording import Sample, series

MOST_SAMPLES = 1_000  # of the recording, the newest, by which a motion is read
MOST_TIMES = 200  # at which torques are found
LONGEST = 1e4  # of a motion by speed [s]
Motion = Callable[[float], tuple[float, float, float]]


def torques(wanted: ms.AnalysisRequest, world: World, samples: list[Sample]) -> ms.AnalysisReply:
    """Torques and forces over time, their peaks and means."""
    motions = wanted.motions or dict.fromkeys(_driven(world))
    if not motions:
        free = ", ".join(_coordinates(world)) or "none"
        raise ModelError(f"inverse: no joint has a motor of speed or position; say which are driven, of: {free}")
    recorded = [name for name, speed in motions.items() if speed is None]
    given: dict[str, Motion] = {
        name: _even(number("inverse", f"speed of '{name}'", speed))
        for name, speed in motions.items()
        if speed is not None
    }
    if recorded:
        at, read = _recorded(world, samples, recorded)
        given |= read
        times = at[:: -(-len(at) // MOST_TIMES)]
    else:
        duration = number("inverse", "duration", wanted.duration)
        if not 0.0 < duration <= LONGEST:
            raise ModelError(f"inverse: duration is {duration:g} s, expected more than 0 and at most {LONGEST:g}")
        times = np.linspace(0.0, duration, MOST_TIMES)
    found = inverse(world.model, {name: given[name] for name in motions}, times)
    units = found["motor_torque"].attrs["units"]
    names = [str(name) for name in found["coordinate"].values]
    curves = [
        ms.Curve(label=name, unit=units if isinstance(units, str) else units[k], values=values.tolist())
        for k, (name, values) in enumerate(zip(names, found["motor_torque"].values.T, strict=True))
    ]
    rows = [
        ms.AnalysisRow(
            cells=[f"{curve.label} [{curve.unit}]", max(curve.values), min(curve.values), _rms(curve.values)]
        )
        for curve in curves
    ]
    table = ms.AnalysisTable(title="Motors", head=["of", "largest", "least", "rms"], rows=rows)
    return ms.AnalysisReply(
        ok=True, text=_told(world, times, bool(recorded)), tables=[table], times=times.tolist(), curves=curves
    )


def _told(world: World, times: np.ndarray, is_recorded: bool) -> str:
    whence = "the recorded motion" if is_recorded else "the motion at these speeds"
    text = f"What motors must give for {whence}, t = {times[0]:.4g} to {times[-1]:.4g} s."
    beside = world.system.counts.loads > len(world.model.loads)
    return f"{text} Loads that were put on while it ran are left out." if beside else text


def _coordinates(world: World) -> list[str]:
    return [
        coordinate_name(joint, group, group.freedoms[0])
        for joint in world.model.joints.values()
        for group in joint.kind.groups
        if not group.is_ball
    ]


def _driven(world: World) -> list[str]:
    """Coordinates whose motors hold a speed or a position."""
    return [
        coordinate_name(joint, group, group.freedoms[0])
        for joint in world.model.joints.values()
        for group in joint.kind.groups
        if not group.is_ball
        and (motor := joint.features[group.name].motor) is not None
        and not (motor.torque is not None or motor.is_servo)
    ]


def _even(speed: float) -> Motion:
    return lambda t: (speed * t, speed, 0.0)


def _recorded(world: World, samples: list[Sample], names: list[str]) -> tuple[np.ndarray, dict[str, Motion]]:
    """Times of the recording and the motions through it; accelerations are slopes of the velocities."""
    from scipy.interpolate import CubicSpline

    newest = samples[-MOST_SAMPLES:]
    if len(newest) < 4:
        raise ModelError("inverse: nothing is recorded yet; let time run, or give a speed")
    signals = [f"coordinate.{name}.{what}" for name in names for what in ("position", "velocity")]
    data = series(newest, world, signals, Points([]))
    at, keep = np.unique(data[:, 0], return_index=True)
    data = data[keep]
    if len(at) < 4 or not np.isfinite(data).all():
        raise ModelError("inverse: the recording does not have these coordinates all through; record anew")
    motions: dict[str, Motion] = {}
    for k, name in enumerate(names):
        place, rate = CubicSpline(at, data[:, 1 + 2 * k]), CubicSpline(at, data[:, 2 + 2 * k])
        motions[name] = _along(place, rate)
    return at, motions


def _along(place: Callable, rate: Callable) -> Motion:
    return lambda t: (float(place(t)), float(rate(t)), float(rate(t, 1)))


def _rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
