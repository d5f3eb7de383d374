"""Axes of files with few digits made exact: parallel, perpendicular, coincident where they nearly are.

At the start, one after another in the order of the file: an axis that is within `snap` [rad] of a direction already
taken (the world's axes first), or of an axis that was turned to one, is turned to it too, so that a row of parallel
axes each a little off the last is one direction; one nearly perpendicular to some that are taken is made so; then its
line, if it is within `snap` [m] of that of a parallel axis, becomes the same line. What a joint holds together is
closed by it. Every joint that was touched is in the report.
"""

import numpy as np

from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from .draft import Bond, Draft, Pose

EXACT = 1e-14  # [rad, m] that is rounding


def snap_axes(draft: Draft, places: dict[str, Pose], snap: float, report: ImportReport) -> None:
    """Make axes exact; links stay where they are, frames of joints move."""
    taken = [(axis, axis) for axis in np.eye(3)]
    lines: list[tuple[np.ndarray, np.ndarray]] = []
    for bond in draft.bonds.values():
        if not bond.sources and bond.loop is not True:
            continue
        X_WF, X_WM = places[bond.first] @ bond.F, places[bond.second] @ bond.M
        z, p = X_WF.R[:, 2], X_WF.p
        if CATALOGUE[bond.type].has_axis:
            z = _direction(z, taken, snap)
            p = _line(p, z, lines, snap)
        turned, shifted = _angle(X_WF.R[:, 2], z), float(np.linalg.norm(p - X_WF.p))
        R = _turned(X_WF.R, z)
        F = Pose(p, R)
        M = _closed(bond, F, X_WM, snap)
        opened = float(np.linalg.norm(M.p - X_WM.p))
        if turned > EXACT or shifted > EXACT or opened > EXACT:
            told = f"axis turned by {turned:.3g} rad, point moved by {max(shifted, opened):.3g} m"
            report.add("changed", bond.owner, f"snapped: {told}", bond.line)
            bond.F, bond.M = places[bond.first].inverse() @ F, places[bond.second].inverse() @ M


def _direction(z: np.ndarray, taken: list[tuple[np.ndarray, np.ndarray]], snap: float) -> np.ndarray:
    """The direction that an axis is taken along; `taken` has axes as they were and as they became."""
    known = _parallel(z, taken, snap)
    if known is not None:
        taken.append((z, known))
        return known.copy()
    raw = z
    across = [other for _, other in taken if abs(z @ other) <= snap]
    basis: list[np.ndarray] = []
    for other in across:
        rest = other - sum(((other @ own) * own for own in basis), np.zeros(3))
        if np.linalg.norm(rest) > 0.1 and len(basis) < 2:
            basis.append(rest / np.linalg.norm(rest))
    for own in basis:
        z = z - (z @ own) * own
    z = z / np.linalg.norm(z)
    known = _parallel(z, taken, snap)
    taken.append((raw, z if known is None else known))
    return z if known is None else known.copy()


def _parallel(z: np.ndarray, taken: list[tuple[np.ndarray, np.ndarray]], snap: float) -> np.ndarray | None:
    """The direction, or its opposite, of an axis that is nearly parallel to this one."""
    for way in (1.0, -1.0):
        for pair in taken:
            if min(_angle(z, way * other) for other in pair) <= snap:
                return way * pair[1]
    return None


def _line(p: np.ndarray, z: np.ndarray, lines: list[tuple[np.ndarray, np.ndarray]], snap: float) -> np.ndarray:
    """The point of an axis, on the line of a parallel one if that is near."""
    for point, way in lines:
        apart = p - point
        off = apart - (apart @ way) * way
        if np.abs(z @ way) == 1.0 or _angle(z, way) < EXACT or _angle(z, -way) < EXACT:
            if np.linalg.norm(off) <= snap:
                return p - off
    lines.append((p, z))
    return p


def _closed(bond: Bond, F: Pose, M: Pose, snap: float) -> Pose:
    """Frame M of a joint whose F is exact: where its coordinates put it, or of a loop joint, whose coordinates follow
    from the others, with its point and axis on those of F."""
    if bond.loop is not True:
        wanted = F @ bond.displacement()
        return wanted if np.linalg.norm(wanted.p - M.p) <= 2 * snap + EXACT else M
    z, R, p = F.R[:, 2], M.R, M.p
    if bond.type in ("revolute", "universal", "spherical", "fixed") and np.linalg.norm(M.p - F.p) <= 2 * snap:
        p = F.p
    if bond.type == "revolute" and _angle(M.R[:, 2], z) <= 2 * snap:
        R = _turned(M.R, z)
    return Pose(p, R)


def _turned(R: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A frame with its z turned to another by the shortest way."""
    x = R[:, 0] - (R[:, 0] @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
