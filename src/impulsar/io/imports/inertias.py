"""Masses and inertias of real files: what is nearly right is mended and listed, the rest refused with its cure."""

import numpy as np

from ...author.errors import FileError
from ...author.imports import ImportReport
from .draft import Draft, Link, at

NEARLY = 0.01  # by which the largest principal value may be above the sum of the others
GYRATION = 1e-9  # [m] of what the file has as a point: of a link of 0.1 m it changes 1e-16
ROUNDING = 1e-6  # [m] radius of gyration below which an inertia is what rounding leaves of none
CURE = "correct it, or give mend=True to take the mean of its principal values"


def check_inertias(draft: Draft, report: ImportReport, mend: bool) -> set[str]:
    """See that every link has the inertia of a body; returns those that are points."""
    points = set()
    for link in draft.links.values():
        if link.is_weightless:  # it is between joints
            continue
        if not link.mass > 0.0:
            raise FileError(
                f"{at(link.line)}{link.owner}: moves, but weighs {link.mass:g} kg; give it mass and inertia, "
                "or make its joint fixed"
            )
        link.inertia = (link.inertia + link.inertia.T) / 2
        if np.abs(link.inertia).max() < link.mass * ROUNDING**2:
            points.add(link.name)
            link.inertia = link.mass * GYRATION**2 * np.eye(3)
            told = f"has mass and no inertia: a point; taken with a radius of gyration of {GYRATION:g} m"
            report.add("approximated", link.owner, told, link.line)
            continue
        _check(link, report, mend)
    return points


def _check(link: Link, report: ImportReport, mend: bool) -> None:
    owner = link.owner
    values, axes = np.linalg.eigh(link.inertia)
    low, middle, high = values.tolist()
    told = f"principal inertias ({low:.6g}, {middle:.6g}, {high:.6g}) kg m²"
    if high > 0.0 and low > -1e-12 * high and high <= (low + middle) * (1.0 + 1e-6):
        if low > 1e-9 * high:
            return
        values = np.maximum(values, 1e-9 * high)  # a rod without thickness
        report.add("approximated", owner, f"{told}: the least raised to {values[0]:.3g}", link.line)
    elif low > 0.0 and high <= (low + middle) * (1.0 + NEARLY):
        values[2] = low + middle
        share = 100.0 * (1.0 - values[2] / high)
        report.add(
            "approximated",
            owner,
            f"{told} break the triangle inequality: the largest lowered by {share:.2g} %",
            link.line,
        )
    elif mend and np.abs(values).sum() > 0.0:
        mean = float(np.abs(values).mean())
        values = np.full(3, mean)
        report.add("changed", owner, f"{told} are of no body: all three are now their mean, {mean:.6g}", link.line)
    else:
        why = "are not all positive" if low <= 0.0 else "break the triangle inequality"
        raise FileError(f"{at(link.line)}{owner}: {told} {why}; {CURE}")
    link.inertia = (axes * values) @ axes.T
    link.inertia = (link.inertia + link.inertia.T) / 2
