"""Links that move as one, and joints that are one: what is rigid is lumped, weightless links between joints go.

Both are exact. A chain of joints with nothing but weightless links between them is a joint of the catalogue where its
axes fit one; its coordinates are those of the chain. Where they fit none, the links between stay bodies without mass.
"""

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np

from ...author.errors import FileError
from ...author.imports import ImportReport
from ...author.rotations import multiply, quaternion
from ...author.shapes import Shape
from ...author.visuals import Visual
from .draft import GROUND, Bond, Draft, Link, Pose, at, still

FITS = 1e-9  # [m, rad] by which axes may miss what they are to a joint of the catalogue


def moved_shape(shape: Shape, X: Pose) -> Shape:
    """A shape of one frame in another."""
    offset = X.point(np.asarray(shape.offset, float))
    q = multiply(quaternion(X.R), np.asarray(shape.orientation, float))
    return replace(shape, offset=tuple(offset.tolist()), orientation=tuple((q / np.linalg.norm(q)).tolist()))


def moved_visual(visual: Visual, X: Pose) -> Visual:
    """A visual of one frame in another."""
    return replace(visual, shape=moved_shape(visual.shape, X))


def about(inertia: np.ndarray, mass: float, d: np.ndarray) -> np.ndarray:
    """Inertia about a point at -d from the centre of mass [kg m²]."""
    return inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))


def add_link(into: Link, other: Link, X: Pose) -> None:
    """Lump a link into another, whose frame it is in by X."""
    if (other.visuals or into.visuals) and not (other.visuals and into.visuals):  # of one the shapes are seen
        for link in (into, other):
            link.visuals = link.visuals or [Visual(shape, link.colour) for shape in link.shapes]
    into.shapes += [moved_shape(shape, X) for shape in other.shapes]
    into.visuals += [moved_visual(visual, X) for visual in other.visuals]
    into.colour = into.colour or other.colour
    mass, p = into.mass + other.mass, X.point(other.p_LB)
    if other.is_weightless:
        return
    centre = (into.mass * into.p_LB + other.mass * p) / mass if mass > 0.0 else into.p_LB
    into.inertia = about(into.inertia, into.mass, into.p_LB - centre) + about(
        X.R @ other.inertia @ X.R.T, other.mass, p - centre
    )
    into.mass, into.p_LB = mass, centre


def merge_fixed(draft: Draft, report: ImportReport) -> None:
    """Lump links that fixed joints hold together; their origins stay as probes."""
    fixed = {name: bond for name, bond in draft.bonds.items() if bond.type == "fixed" and bond.loop is not True}
    near: dict[str, list[tuple[str, Pose, Bond]]] = {}
    for bond in fixed.values():
        X = bond.F @ bond.M.inverse()
        near.setdefault(bond.first, []).append((bond.second, X, bond))
        near.setdefault(bond.second, []).append((bond.first, X.inverse(), bond))
    held = {bond.second for bond in fixed.values()}
    order = [GROUND, *(name for name in draft.links if name not in held), *(n for n in draft.links if n in held)]
    places: dict[str, tuple[str, Pose]] = {}
    for head in order:
        if head in places or head not in near:
            continue
        places[head] = (head, still())
        waiting = deque([head])
        while waiting:
            here = waiting.popleft()
            for other, X, bond in near[here]:
                if other in places:
                    continue
                places[other] = (head, places[here][1] @ X)
                waiting.append(other)
                told = "the ground" if head == GROUND else f"link '{head}'"
                report.add("merged", f"link '{other}'", f"is one with {told} by {bond.owner}", bond.line)
    for name, (head, X) in places.items():
        if name == head:
            continue
        link = draft.links.pop(name)
        if head == GROUND:
            draft.ground_shapes += [moved_shape(shape, X) for shape in link.drawn]
        else:
            add_link(draft.links[head], link, X)
            draft.probes.append((name, head, X.p))
        draft.roots.pop(name, None)
    draft.bonds = {name: bond for name, bond in draft.bonds.items() if name not in fixed}
    draft.probes = [_moved_probe(places, probe) for probe in draft.probes]
    for bond in list(draft.bonds.values()):
        if bond.first in places:
            bond.first, X = places[bond.first]
            bond.F = X @ bond.F
        if bond.second in places:
            bond.second, X = places[bond.second]
            bond.M = X @ bond.M
        if bond.first == bond.second:
            del draft.bonds[bond.name]
            told = "joins links that fixed joints hold together already: it holds nothing"
            report.add("ignored", bond.owner, told, bond.line)


def _moved_probe(places: dict[str, tuple[str, Pose]], probe: tuple[str, str, np.ndarray]) -> Any:
    name, link, p = probe
    head, X = places.get(link, (link, still()))
    return name, head, X.point(p)


def join_chains(draft: Draft, report: ImportReport) -> None:
    """Make one joint of those that only weightless links are between."""
    ends: dict[str, list[Bond]] = {}
    for bond in draft.bonds.values():
        ends.setdefault(bond.first, []).append(bond)
        ends.setdefault(bond.second, []).append(bond)
    carriers = [name for name, link in draft.links.items() if link.is_weightless]
    for name in carriers:
        link = draft.links.get(name)
        if link is None:
            continue
        chain = _chain_through(draft, ends, name)
        joint = fit(chain)
        if joint is None:
            continue  # it stays, as a body without mass
        if joint.name in draft.bonds:
            raise FileError(f"{at(link.line)}{link.owner}: joints around it would be called '{joint.name}', which "
                            "is taken; rename that")  # fmt: skip
        between = [bond.second for bond in chain[:-1]]
        parts = ", ".join(f"{source} is its {group}" for group, source in joint.sources.items())
        for bond in chain:
            del draft.bonds[bond.name]
            ends[bond.first].remove(bond)
            ends[bond.second].remove(bond)
        for other in between:
            if draft.links[other].drawn:
                report.add("ignored", f"link '{other}'", "shapes of a link without weight", draft.links[other].line)
            del draft.links[other]
        draft.bonds[joint.name] = joint
        ends[joint.first].append(joint)
        ends[joint.second].append(joint)
        report.add("merged", joint.owner, f"is one {joint.type} joint: {parts}", joint.line)


def _chain_through(draft: Draft, ends: dict[str, list[Bond]], name: str) -> list[Bond]:
    """Bonds from one link with mass to the next through a weightless one, in their order; none where it branches."""

    def bonds_at(link: str, incoming: bool) -> list[Bond]:
        those = [bond for bond in ends.get(link, []) if (bond.second == link) == incoming]
        if not those:
            where = "hangs on nothing" if incoming else "has 0 joints behind it"
            told = f"weighs nothing and {where}, so that what it does is not determined"
            cure = "give it mass and inertia, or make its joint fixed"
            raise FileError(f"{at(draft.links[link].line)}{draft.links[link].owner}: {told}; {cure}")
        return those

    chain = [bonds_at(name, True), bonds_at(name, False)]
    while len(chain) < 7 and (first := chain[0][0].first) in draft.links and draft.links[first].is_weightless:
        chain.insert(0, bonds_at(first, True))
    while len(chain) < 7 and draft.links[last := chain[-1][0].second].is_weightless:
        chain.append(bonds_at(last, False))
    single = all(len(those) == 1 and not those[0].loop for those in chain)
    return [those[0] for those in chain] if single else []


def fit(chain: list[Bond]) -> Bond | None:
    """The joint of the catalogue that a chain of hinges and slides is, or None."""
    kinds, frames = [], []
    X = still()
    if not chain:
        return None
    for bond in chain:
        if bond.type not in ("revolute", "prismatic"):
            return None
        kinds.append("turn" if bond.type == "revolute" else "slide")
        X = X @ bond.F
        frames.append(X)
        X = X @ bond.M.inverse()
    axes, points = [frame.R[:, 2] for frame in frames], [frame.p for frame in frames]
    found = _type_of(kinds, axes, points)
    if found is None:
        return None
    type, z, x, at, groups = found
    F = Pose(at, np.column_stack([x, np.cross(z, x), z]))
    features, sources, q = {}, {}, {}
    for bond, group in zip(chain, groups, strict=True):
        own = next(iter(bond.sources))
        features[group] = bond.features.get(own, {})
        sources[group], q[group] = bond.sources[own], bond.q.get(own, 0.0)
    return Bond(
        "+".join(bond.name for bond in chain), chain[0].line, type, chain[0].first, chain[-1].second,
        F, X.inverse() @ F, features, sources, q,
    )  # fmt: skip


def _type_of(kinds: list[str], axes: list[np.ndarray], points: list[np.ndarray]) -> Any:
    """Type, z, x, origin and the group of each of a chain."""

    def across(a: np.ndarray, b: np.ndarray) -> bool:
        return abs(a @ b) < FITS

    def perpendicular(z: np.ndarray) -> np.ndarray:
        x = np.eye(3)[np.argmin(np.abs(z))]
        x = x - (x @ z) * z
        return x / np.linalg.norm(x)

    if kinds == ["turn", "turn"] and across(*axes):
        (a, b), apart = axes, points[1] - points[0]
        if abs(apart @ np.cross(a, b)) < FITS:  # the axes meet
            return "universal", a, b, points[0] + (apart @ a) * a, ("first", "second")
    if sorted(kinds) == ["slide", "turn"] and np.linalg.norm(axes[0] - axes[1]) < FITS:
        at = points[kinds.index("turn")]
        return "cylindrical", axes[0], perpendicular(axes[0]), at, ["angle" if k == "turn" else "slide" for k in kinds]
    if kinds == ["slide", "turn"] and across(*axes):
        return "pin-slot", axes[1], axes[0], points[1], ("slide", "angle")
    if kinds == ["slide", "slide", "turn"] and all(across(axes[i], axes[j]) for i, j in ((0, 1), (1, 2), (0, 2))):
        a, b, z = axes
        is_right = np.cross(z, a) @ b > 0
        return "planar", z, a if is_right else b, points[2], (("x", "y") if is_right else ("y", "x")) + ("angle",)
    return None
