"""`impulsar ar calibrate-tracker --self`: the arm's own parameters, from touches in which the stylus is swivelled.

At each corner of the cube, put to several places in the arm's reach, the tip stays while the stylus is tilted to all
sides with the button down. Of the samples those are kept whose joints differ most. `--check` swivels at one point: with
a table that still holds, the tip stays where it is.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..author.errors import ModelError
from .calibration import cube_corners
from .command import PATIENCE, Clock
from .self_calibration import Touches, self_calibrate
from .trackers import Tip, Tracker, open_tracker
from .trackers.kinematics import EXAMPLE, ArmTable, stylus, tips

ATTITUDES = 12  # that are kept of a swivel
TILTED = np.radians(20.0)  # by which the stylus has to be tilted in it, at least
LOOSE = 5e-3  # by which the tip may seem to move in it, beyond which it slipped off [m]
DRIFTED = 0.5e-3  # rms of the tip in a swivel, beyond which a table no longer holds [m]


def swivel(tracker: Tracker, table: ArmTable, where: str, tell: Callable[[str], None]) -> np.ndarray:
    """Joint angles [n, 5] while the button was down and the stylus was tilted about its tip; asks until they do."""
    tell(f"touch {where}, hold the button, and tilt the stylus to all sides")
    clock = Clock(PATIENCE)
    held: list[np.ndarray] = []
    was_up = False
    while True:
        found = tracker.poll()
        if not found:
            if tracker.status.state in ("lost", "ended"):
                held, was_up = [], False
            if tracker.status.state == "ended":
                raise ModelError(f"calibration: the tracker ended: {tracker.status.why}")
            clock.wait(tracker.status.why)
        for tip in found:
            if any(tip.buttons):
                held += [_angles(tip)] if was_up else []
                continue
            was_up = True
            if held:
                if not (why := _wrong(table, np.array(held))):
                    return spread(np.array(held), ATTITUDES)
                tell(f"{why}; again")
                held, clock = [], Clock(PATIENCE)


def _angles(tip: Tip) -> np.ndarray:
    if tip.angles is None:
        raise ModelError("calibration: this tracker has no joints to calibrate; --self is for arms")
    return tip.angles


def _wrong(table: ArmTable, angles: np.ndarray) -> str:
    """Why a swivel says too little."""
    X = stylus(table.array, angles)
    tilts = np.arccos(np.clip(X[:, :3, 2] @ X[0, :3, 2], -1, 1))
    if tilts.max() < TILTED:
        return f"the stylus was tilted by {np.degrees(tilts.max()):.0f}° only, expected {np.degrees(TILTED):.0f}°"
    if (moved := np.linalg.norm(X[:, :3, 3] - X[0, :3, 3], axis=1).max()) > LOOSE:
        return f"the tip moved by {1e3 * moved:.0f} mm, so it slipped off"
    return ""


def spread(angles: np.ndarray, count: int) -> np.ndarray:
    """Those of many attitudes that are farthest from each other."""
    chosen = [0]
    far = np.linalg.norm(angles - angles[0], axis=1)
    while len(chosen) < min(count, len(angles)):
        chosen.append(int(np.argmax(far)))
        far = np.minimum(far, np.linalg.norm(angles - angles[chosen[-1]], axis=1))
    return angles[sorted(chosen)]


def calibrate(args: argparse.Namespace) -> int:
    """Swivel at all corners in all places, and write the arm's table; or check one."""
    from .trackers.kinematics import load_table

    tracker = open_tracker(args.tracker)
    start: ArmTable = getattr(tracker, "table", EXAMPLE)
    try:
        if args.check:
            return _check(args, tracker, load_table(args.out))
        objects = [_cube(tracker, start, place, args) for place in range(1, args.places + 1)]
        start = replace(getattr(tracker, "table", start), serial=getattr(tracker, "serial", ""))
    finally:
        tracker.close()
    found = self_calibrate(start, objects)
    if found.after >= found.before:
        raise ModelError(
            f"calibration: touches are {1e3 * found.after:.2f} mm rms off as before; is the cube's size right?"
        )
    found.table.save(args.out)
    count = sum(len(each.angles) for each in objects)
    print(
        f"wrote {args.out}: {count} touches are {1e3 * found.after:.2f} mm rms off, {1e3 * found.before:.2f} before",
        end="; ",
    )
    print(f"{found.rank} of {found.parameters} parameters were determined")
    print(f"use it by --tracker {args.tracker.partition(',')[0]},{args.out}")
    return 0


def _cube(tracker: Tracker, table: ArmTable, place: int, args: argparse.Namespace) -> Touches:
    corners, angles, points = cube_corners(args.cube * 1e-3), [], []
    names = ("left, front", "right, front", "right, back", "left, back")
    print(f"place {place} of {args.places}: put the cube elsewhere in the arm's reach, and leave it there", flush=True)
    for k, corner in enumerate(corners):
        where = f"corner {k + 1} of 8: {'top' if k >= 4 else 'bottom'}, {names[k % 4]}"
        held = swivel(tracker, table, where, lambda line: print(line, flush=True))
        angles.append(held)
        points.append(np.tile(corner, (len(held), 1)))
    return Touches(np.concatenate(angles), np.concatenate(points))


def _check(args: argparse.Namespace, tracker: Tracker, table: ArmTable) -> int:
    """One point, swivelled: does the tip stay?"""
    at = tips(table.array, swivel(tracker, table, "a point that stands still", lambda line: print(line, flush=True)))
    off = float(np.sqrt(np.mean(np.sum((at - at.mean(axis=0)) ** 2, axis=1))))
    if off > DRIFTED:
        raise ModelError(
            f"{args.out}: the tip wanders by {1e3 * off:.2f} mm rms about a point, more than {1e3 * DRIFTED:g} mm; the "
            "arm was bent or homed otherwise: run `impulsar ar calibrate-tracker --self` again"
        )
    print(f"{args.out} holds: the tip wanders by {1e3 * off:.2f} mm rms")
    return 0
