"""Where a mechanism starts: at the file's coordinates, or those asked for, within limits and as ties have it."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...author.checks import is_number, show
from ...author.errors import FileError
from ...author.imports import ImportReport
from ...author.names import closest
from ...author.rotations import rotation_matrix
from .draft import GROUND, Bond, Draft, Pose, still

BALL = ("rotation",)


def set_start(draft: Draft, report: ImportReport, pose: Mapping[str, Any] | None) -> None:
    """Give every bond its coordinates."""
    where = {source: (bond, group) for bond in draft.bonds.values() for group, source in bond.sources.items()}
    given = dict(pose or {})
    for name, value in given.items():
        if name not in where:
            raise FileError(f"pose: no joint named {show(name)}; {closest(name, where)}")
        bond = where[name][0]
        if bond.loop is True and all(_is_held(draft, end) for end in (bond.first, bond.second)):
            raise FileError(f"pose: joint '{name}' closes a loop, and is where the others put it; give theirs")
        _set(name, value, *where[name])
        _tell_outside(report, name, *where[name])
    rings = in_loops(draft)
    for name, (bond, group) in where.items():
        if name not in given and group not in BALL:
            _into_limits(report, bond, group, bond.name in rings)
    for _ in draft.ties:  # as many rounds as a chain of ties may be long
        is_still = True
        for tie in draft.ties:
            b, group_b = where[tie.b]
            value = tie.offset
            for joint, weight in tie.followed.items():
                if joint in where:  # else it follows a fixed joint
                    a, group_a = where[joint]
                    value += weight * a.q.get(group_a, 0.0)
            is_still &= b.q.get(group_b, 0.0) == value
            b.q[group_b] = value
        if is_still:
            return


def _is_held(draft: Draft, link: str) -> bool:
    """Whether something else than joints that close loops places a link."""
    if link == GROUND or link in draft.roots:
        return True
    return any(bond.loop is not True and link in (bond.first, bond.second) for bond in draft.bonds.values())


def _tell_outside(report: ImportReport, name: str, bond: Bond, group: str) -> None:
    """Note a pose outside of limits."""
    limits = bond.features.get(group, {}).get("limits")
    if limits is not None and not limits[0] <= bond.q[group] <= limits[1]:
        told = f"starts at {bond.q[group]:.9g}, as `pose` asks, outside of its limits {limits[0]:g} to {limits[1]:g}"
        report.add("changed", f"joint '{name}'", told, bond.line)


def _set(name: str, value: Any, bond: Bond, group: str) -> None:
    owner = f"pose: joint '{name}'"
    if bond.type == "free":
        numbers = _numbers(owner, value, 7, "7 numbers: position [m] and orientation xyzw")
        bond.q |= dict(zip("xyz", numbers[:3], strict=True)) | {"rotation": _matrix(owner, numbers[3:])}
    elif group in BALL:
        bond.q[group] = _matrix(owner, _numbers(owner, value, 4, "4 numbers: orientation xyzw"))
    else:
        if not is_number(value) or not np.isfinite(float(value)):
            raise FileError(f"{owner} is {show(value)}, expected a finite number [rad or m]")
        bond.q[group] = float(value)


def _numbers(owner: str, value: Any, count: int, expected: str) -> np.ndarray:
    try:
        found = np.array(value, float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise FileError(f"{owner} is {show(value)}, expected {expected}")
    return found


def _matrix(owner: str, q: np.ndarray) -> np.ndarray:
    norm = float(np.linalg.norm(q))
    if abs(norm - 1.0) > 1e-6:
        raise FileError(f"{owner}: its quaternion has norm {norm:.6g}, expected 1")
    return rotation_matrix(q / norm)


def in_loops(draft: Draft) -> set[str]:
    """Bonds that are in a loop: those whose loss leaves their links connected (Tarjan's bridges, without recursion)."""
    near: dict[str, list[tuple[str, str]]] = {}
    for bond in draft.bonds.values():
        near.setdefault(bond.first, []).append((bond.second, bond.name))
        near.setdefault(bond.second, []).append((bond.first, bond.name))
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    bridges = set()
    for root in near:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack = [(root, "", iter(near[root]))]
        while stack:
            here, came_by, rest = stack[-1]
            for other, name in rest:
                if name == came_by:
                    continue
                if other in order:
                    low[here] = min(low[here], order[other])
                else:
                    order[other] = low[other] = len(order)
                    stack.append((other, name, iter(near[other])))
                    break
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[here])
                    if low[here] > order[above]:
                        bridges.add(came_by)
    return set(draft.bonds) - bridges


def _into_limits(report: ImportReport, bond: Bond, group: str, in_loop: bool) -> None:
    limits = bond.features.get(group, {}).get("limits")
    if limits is None:
        return
    q = float(bond.q.get(group, 0.0))
    inside = min(max(q, limits[0]), limits[1])
    if inside != q and in_loop:
        del bond.features[group]["limits"]
        told = f"limits {limits[0]:.6g} to {limits[1]:.6g}: its loop is given at {q:.6g}, outside of them"
        report.add("ignored", f"joint '{bond.sources[group]}'", told, bond.line)
    elif inside != q:
        bond.q[group] = inside
        told = f"starts at {inside:.9g}, because {q:.9g} is outside of its limits"
        report.add("changed", f"joint '{bond.sources[group]}'", told, bond.line)


def place_links(draft: Draft) -> dict[str, Pose]:
    """X_WL of every link, along a tree of its bonds from the ground and the roots."""
    near: dict[str, list[tuple[Bond, bool]]] = {}
    for bond in sorted(draft.bonds.values(), key=lambda bond: bond.loop is True):
        near.setdefault(bond.first, []).append((bond, True))
        near.setdefault(bond.second, []).append((bond, False))
    places = {GROUND: still()}
    for head in (GROUND, *draft.roots, *draft.links):
        if head not in places:
            places[head] = draft.roots.get(head, still())
        waiting = deque([head])
        while waiting:
            here = waiting.popleft()
            for bond, is_first in near.get(here, ()):
                other = bond.second if is_first else bond.first
                if other in places or (bond.loop is True and not _is_lonely(near, other)):
                    continue
                X = bond.F @ bond.displacement() @ bond.M.inverse()
                places[other] = places[here] @ (X if is_first else X.inverse())
                waiting.append(other)
    return places


def _is_lonely(near: dict[str, list[tuple[Bond, bool]]], link: str) -> bool:
    """Whether nothing but loop joints holds a link."""
    return all(bond.loop is True for bond, _ in near[link])
