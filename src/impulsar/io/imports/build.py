"""A Model of a draft: rigid groups lumped, a base, a start, exact axes where they are asked for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.model import Model
from ...author.rotations import quaternion
from ...engine.system.tree import span
from .draft import GROUND, Bond, Draft, Link, Pose, at, still
from .inertias import check_inertias
from .merging import about, join_chains, merge_fixed, moved_shape, moved_visual
from .snap import snap_axes
from .start import place_links, set_start

MOST_LINKS = 5_000
BASES, FIXED = ("fixed", "floating"), ("merge", "keep")
NOTHING = 1e-14  # [kg, kg m²] below which a joint moves nothing


@dataclass(frozen=True)
class Options:
    """How a file is read: keywords of `load`."""

    snap: float | None = None  # [rad, m] within which axes are made parallel, perpendicular or coincident
    base: str | None = None  # "fixed" or "floating"; None: as the format has it
    fixed: str = "merge"  # or "keep": fixed joints stay joints
    mend: bool = False  # take the mean of principal inertias that are of no body
    pose: Mapping[str, Any] | None = None  # where joints start, by the file's names [rad, m]
    key: str | int | None = None  # key frame of MJCF that it starts at
    meshes: bool = True  # read meshes that can be read, as hulls to be drawn
    assets: str | None = None  # folder that meshes and included files are under; None: the file's

    def __post_init__(self) -> None:
        for name, known in (("base", (None, *BASES)), ("fixed", FIXED)):
            if getattr(self, name) not in known:
                told = ", ".join(repr(value) for value in known)
                raise FileError(f"{name} is {getattr(self, name)!r:.60}, expected one of {told}")
        if self.snap is not None:
            is_number = isinstance(self.snap, int | float) and not isinstance(self.snap, bool)
            if not (is_number and 0.0 < self.snap <= 0.01):
                raise FileError(f"snap is {self.snap!r:.60}, expected a number > 0 and at most 0.01 [rad, m]")
        for name in ("mend", "meshes"):
            if not isinstance(getattr(self, name), bool):
                raise FileError(f"{name} is {getattr(self, name)!r:.60}, expected True or False")
        if self.pose is not None and not isinstance(self.pose, Mapping):
            raise FileError(f"pose is {self.pose!r:.60}, expected values by the names of joints")
        if self.assets is not None and not isinstance(self.assets, str):
            raise FileError(f"assets is {self.assets!r:.60}, expected the name of a folder")


def finish(draft: Draft, report: ImportReport, options: Options, base: str) -> Model:
    """The model of a draft; `base` is what the format has where the options say nothing."""
    if len(draft.links) > MOST_LINKS:
        raise FileError(f"has {len(draft.links)} links, more than {MOST_LINKS}; divide it")
    set_start(draft, report, options.pose)
    _set_base(draft, options.base, base, report)
    _hold_ties(draft, report)
    if options.fixed == "merge":
        merge_fixed(draft, report)
    join_chains(draft, report)
    points = check_inertias(draft, report, options.mend)
    places = place_links(draft)
    if options.snap is not None:
        snap_axes(draft, places, options.snap, report)
    _check_moving(draft, places, points)
    model = _write(draft, places, report)
    if any(body.is_carrier for body in model.bodies.values()):
        try:
            span(model)
        except ModelError as error:
            raise FileError(str(error)) from error
    return model


def _set_base(draft: Draft, asked: str | None, usual: str, report: ImportReport) -> None:
    """Hold links that hang on nothing, or let them float by a joint of their own."""
    hung = {bond.second for bond in draft.bonds.values() if bond.loop is not True}
    hung |= {bond.second for bond in draft.bonds.values() if bond.first == GROUND}
    held = _joined(draft, {GROUND})
    for name in [name for name in draft.links if name not in hung]:
        if name in held:
            continue
        X = draft.roots.get(name, still())
        line = draft.links[name].line
        bond_name = _unused(draft, f"{name} base")
        base = asked or usual
        held |= _joined(draft, {name})
        if asked is None and base == "floating" and draft.links[name].mass == 0.0:
            base = "fixed"
            report.add("changed", f"link '{name}'", "weighs nothing and hangs on nothing: held", line)
        if base == "fixed":
            draft.bonds[bond_name] = Bond(bond_name, line, "fixed", GROUND, name, X, still(), role="base")
        else:
            q = {**dict(zip("xyz", X.p.tolist(), strict=True)), "rotation": X.R}
            groups = {group.name: bond_name for group in CATALOGUE["free"].groups}
            draft.bonds[bond_name] = Bond(bond_name, line, "free", GROUND, name, still(), still(), {}, groups, q,
                                          role="base")  # fmt: skip


def _joined(draft: Draft, ends: set[str]) -> set[str]:
    """Links that bonds lead to from some, these among them."""
    near: dict[str, list[str]] = {}
    for bond in draft.bonds.values():
        near.setdefault(bond.first, []).append(bond.second)
        near.setdefault(bond.second, []).append(bond.first)
    found, waiting = set(ends), list(ends)
    while waiting:
        others = set(near.get(waiting.pop(), ())) - found
        found |= others
        waiting += others
    return found


def _unused(draft: Draft, name: str) -> str:
    while name in draft.bonds or name in draft.links:
        name += "'"
    return name


def _hold_ties(draft: Draft, report: ImportReport) -> None:
    """A joint that follows one that does not move is fixed where that has it."""
    for tie in list(draft.ties):
        if not any(weight and draft.bond_of(joint) for joint, weight in tie.followed.items()):
            bond, _ = draft.bond_of(tie.b) or (None, "")
            draft.ties.remove(tie)
            if bond is not None:
                bond.F = bond.F @ bond.displacement()
                bond.type, bond.features, bond.sources, bond.q = "fixed", {}, {}, {}
                report.add("changed", bond.owner, f"follows '{tie.a}', which does not move it: now fixed", tie.line)


def _check_moving(draft: Draft, places: dict[str, Pose], points: set[str]) -> None:
    """Refuse a joint that moves nothing with inertia along it; points have none of their own."""
    behind: dict[str, list[Bond]] = {}
    for bond in draft.bonds.values():
        if bond.loop is not True:
            behind.setdefault(bond.first, []).append(bond)
    for bond in draft.bonds.values():
        if bond.loop is True or not bond.sources or len(behind.get(bond.second, ())) > 0:
            continue
        link = draft.links[bond.second]
        if link.name not in points:
            continue
        X_WF = places[bond.first] @ bond.F
        arm = places[link.name].point(link.p_LB) - X_WF.p
        inertia = about(np.zeros((3, 3)), link.mass, arm)
        z = X_WF.R[:, 2]
        if "angle" in bond.sources and z @ inertia @ z < NOTHING:
            raise FileError(
                f"{at(bond.line)}{bond.owner}: turns link '{link.name}', which has no inertia about its axis; give "
                "the link an inertia, or make the joint fixed"
            )


def _write(draft: Draft, places: dict[str, Pose], report: ImportReport) -> Model:
    model = Model(draft.name, gravity=draft.gravity)
    model.import_report = report
    names: dict[str, str] = {GROUND: "ground"}
    model.ground.shapes = list(draft.ground_shapes)
    for link in draft.links.values():
        names[link.name] = _call(model, "body", link.name, report, link.line)
        _at(link.line, lambda link=link: _body(model, names[link.name], link, places[link.name]))
    joints: dict[str, str] = {}
    for bond in draft.bonds.values():
        joints[bond.name] = _call(model, "joint", bond.name, report, bond.line)
        _at(bond.line, lambda bond=bond: _joint(model, joints[bond.name], bond, draft, names))
        for group, source in bond.sources.items():
            report.coordinates[source] = (joints[bond.name], group)
    for tie in draft.ties:
        if not report.coordinates.keys() >= {tie.b, *tie.followed}:
            report.add("ignored", f"coupling '{tie.name}'", "one of its joints holds nothing", tie.line)
            continue
        (a, group_a), (b, group_b) = report.coordinates[tie.a], report.coordinates[tie.b]
        name = _call(model, "coupling", tie.name, report, tie.line)
        more = {".".join(report.coordinates[joint]): weight for joint, weight in tie.more.items()}
        _at(tie.line, lambda n=name, a=a, b=b, x=group_a, y=group_b, t=tie, m=more: model.coupling(
            n, a, b, ratio=t.ratio, group_a=x, group_b=y, offset=t.offset, more=m))  # fmt: skip
    for name, on, p_LQ in draft.probes:
        if on in draft.links:
            line = draft.links[on].line
            probe = _call(model, "probe", name, report, line)
            p_WQ = places[on].point(p_LQ)
            _at(line, lambda n=probe, b=names[on], p=p_WQ: model.probe(n, b, at=p))
    for key in draft.keys:
        name = _call(model, "keyframe", key.name, report, key.line)
        given = [_named(model, report, values) for values in (key.positions, key.velocities)]
        _at(key.line, lambda n=name, g=given: model.keyframe(n, *g))
    return model


def _named(model: Model, report: ImportReport, values: Mapping[str, Any]) -> dict[str, float]:
    """Values of the file's joints by coordinate of the model; of joints that are none here, they are left out."""
    found: dict[str, float] = {}
    for source, value in values.items():
        if source not in report.coordinates:
            continue
        joint, group = report.coordinates[source]
        groups = model.joints[joint].kind.groups
        stem = joint if len(groups) == 1 else f"{joint}.{group}"
        if not isinstance(value, list):
            found[stem] = value
            continue
        if len(value) == 6:
            found |= {f"{joint}.{axis}": number for axis, number in zip("xyz", value[:3], strict=True)}
            stem = f"{joint}.rotation"
        found |= {f"{stem}.{axis}": number for axis, number in zip("xyz", value[-3:], strict=True)}
    return found


def _at(line: int, make: Any) -> None:
    """Carry out, an error having its line."""
    try:
        make()
    except ModelError as error:
        raise FileError(f"{at(line)}{error}") from error


def _call(model: Model, kind: str, name: str, report: ImportReport, line: int) -> str:
    """The name of a part: the file's, unless another part has it."""
    new, count = name, 1
    while model.holder(new, kind == "joint") is not None:
        count += 1
        new = f"{name} {kind}" if count == 2 else f"{name} {kind} {count - 1}"
    if new != name:
        report.add("renamed", f"{kind} '{name}'", f"is called '{new}': names of parts are unique here", line)
    return new


def _body(model: Model, name: str, link: Link, X: Pose) -> None:
    to_centre = Pose(-link.p_LB, np.eye(3))
    model.body(
        name,
        mass=link.mass,
        inertia=link.inertia,
        position=X.point(link.p_LB),
        orientation=quaternion(X.R),
        velocity=np.zeros(3) if link.velocity is None else link.velocity,
        angular_velocity=np.zeros(3) if link.spin is None else link.spin,
        shape=[moved_shape(shape, to_centre) for shape in link.shapes] or None,
        colour=link.colour,
        visual=[moved_visual(visual, to_centre) for visual in link.visuals],
        link=(-link.p_LB, (0.0, 0.0, 0.0, 1.0)),
    )


def _joint(model: Model, name: str, bond: Bond, draft: Draft, names: dict[str, str]) -> None:
    frames = []
    for link_name, X in ((bond.first, bond.F), (bond.second, bond.M)):
        p = X.p if link_name == GROUND else X.p - draft.links[link_name].p_LB
        frames.append((p, quaternion(X.R)))
    keywords: dict[str, Any] = {}
    for group, features in bond.features.items():
        for what, value in features.items():
            if value is not None:
                keywords.setdefault(what, {})[group] = value
    model.joint(
        name, bond.type, names[bond.first], names[bond.second], frame_a=frames[0], frame_b=frames[1],
        loop=bond.loop, pitch=bond.pitch, **keywords,
    )  # fmt: skip


def limits_of(lower: float, upper: float) -> tuple[float, float] | None:
    """Limits, None where there are none."""
    return None if math.isinf(lower) and math.isinf(upper) else (lower, upper)
