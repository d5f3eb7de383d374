"""Joints of a stage of USD, with their limits and drives."""

import math
from typing import Any

import numpy as np

from ...author.errors import FileError
from ...author.imports import ImportReport
from ...author.joints import CATALOGUE
from ...author.parts import Motor
from ...author.rotations import rotation_matrix
from .build import Options, limits_of
from .draft import GROUND, Bond, Draft, Link, Pose, at, still, turn
from .usd_fit import ROT, TRANS, Fit, coordinates, fit, gap_of, turned

ROUNDING = 2e-6  # [m, rad] by which frames in single precision may miss each other, and of a pose's size
UP = {"X": turn(1, -math.pi / 2), "Y": turn(0, math.pi / 2), "Z": np.eye(3)}  # R of the stage's axes in ours
AXES = {"X": 0, "Y": 1, "Z": 2}


class Stage:
    """One parsed stage: its units, the places of its bodies, and what joins them."""

    def __init__(self, found: dict[str, Any], options: Options):
        self.f, self.options = found, options
        self.report = ImportReport(format="USD")
        self.metre, self.kilogram = float(found["metres"]), float(found["kilograms"])
        for what, value in (("metersPerUnit", self.metre), ("kilogramsPerUnit", self.kilogram)):
            if not (1e-9 <= value <= 1e9):
                raise FileError(f"{what} is {value:g}, expected one > 0; correct it")
        if found["up"] not in UP:
            raise FileError(f"upAxis is {found['up'][:20]!r}, expected X, Y or Z")
        self.up: np.ndarray = UP[found["up"]]
        self.draft = Draft(found["name"] or "usd")
        self.names = names_of([part["path"] for kind in ("bodies", "joints") for part in found[kind]])
        self.places: dict[str, Pose] = {"": still()}  # X_WL by path
        self.link_of: dict[str, str] = {"": GROUND}
        self.rows: dict[tuple[str, str], list[Bond]] = {}  # joints by MuJoCo, of the same bodies
        self.stretch: dict[str, np.ndarray] = {}  # by path: scale of a body, along its axes

    def _joint(self, joint: dict[str, Any]) -> None:
        path, line, name = joint["path"], joint["line"], self.names[joint["path"]]
        owner = f"prim '{path}'"
        if not joint["enabled"]:
            self.report.add("ignored", owner, "is not enabled", line)
            return
        for target, body in zip(joint["targets"], joint["bodies"], strict=True):
            if body and body not in self.link_of:
                raise FileError(f"{at(line)}{owner}: joins <{target}>, which is no rigid body; correct it")
        first, second = (self.link_of[body] for body in joint["bodies"])
        if first == second or not joint["valid"]:
            why = "joins no two bodies" if first == second else "is not valid"
            self.report.add("ignored", owner, f"{why}: it holds nothing", line)
            return
        for what, value in zip(("force", "torque"), joint["break"], strict=True):
            if value < 3e38:
                self.report.add("ignored", owner, f"breaks at a {what} of {value:g}; here it holds", line)
        frames = [self._frame(k, joint, owner) for k in range(2)]
        kind = joint["type"]
        if kind == "Distance":
            self._distance(joint, name, owner, first, second, frames)
            return
        limits = dict(joint.get("limits", {}))
        drives = joint.get("drives", {})
        if kind == "D6":
            free = {dof for dof in (*TRANS, *ROT) if not _locks(limits.get(dof))}
        elif kind == "Custom":
            raise FileError(f"{at(line)}{owner}: a joint of another program has no counterpart; take it away")
        else:
            axis = joint["axis"] or "X"
            dof = {"Revolute": f"rot{axis}", "Prismatic": f"trans{axis}"}.get(kind, "")
            free = {dof} if dof else set(ROT) if kind == "Spherical" else set()
            cone = limits.get("")
            limits = {dof: limits[""]} if dof and "" in limits else {}
            drives = {dof: drives[""]} if dof and "" in drives else {}
            if kind == "Spherical" and cone is not None:
                limits["cone"] = [*cone, axis]
        found = fit(free)
        if found is None:
            self._chain(joint, name, first, second, frames, sorted(free, key=(*TRANS, *ROT).index), limits, drives)
            return
        if found.type == "universal" and "rotX" not in free:
            told = "turns about y and z without twist: a universal joint, y first"
            self.report.add("changed", owner, told, line)
        if "cone" in limits:
            found = found._replace(z=AXES[limits["cone"][2]], x=(AXES[limits["cone"][2]] + 1) % 3)
        self._bond(joint, name, found, first, second, frames, limits, drives)
        if joint["mjc"] and found.type in ("revolute", "prismatic") and not joint["loop"]:
            self.rows.setdefault((first, second), []).append(self.draft.bonds[name])

    def _series(self) -> None:
        """Joints that MuJoCo writes between the same bodies act one after another, all at zero where these are."""
        for (first, second), row in self.rows.items():
            if len(row) < 2:
                continue
            here = first
            for k, bond in enumerate(row):
                there = second if bond is row[-1] else f"{second} carrier {k + 1}"
                if there != second:
                    self.draft.links[there] = Link(there, bond.line, called=bond.owner)
                if k:
                    bond.F = bond.M
                if any(abs(value) > 1e-5 for value in bond.q.values()):
                    told = "is one of several between the same bodies, and not at zero in the file; give pose="
                    raise FileError(f"{at(bond.line)}{bond.owner}: {told}")
                bond.first, bond.second, bond.q = here, there, dict.fromkeys(bond.q, 0.0)
                here = there
            told = f"{len(row)} joints between the same bodies, by MuJoCo: they act one after another"
            self.report.add("changed", row[0].owner, told, row[0].line)

    def _frame(self, k: int, joint: dict[str, Any], owner: str) -> Pose:
        """The frame of a joint on its first or second body; that of the ground is turned to ours."""
        p, q = joint["frames"][k]
        X = Pose(np.array(p, float) * self.metre, rotation(q, f"{at(joint['line'])}{owner}: localRot{k}"))
        if not np.isfinite(X.p).all():
            raise FileError(f"{at(joint['line'])}{owner}: localPos{k} is not finite; correct it")
        return X if joint["bodies"][k] else Pose(np.zeros(3), self.up) @ X

    def _bond(
        self, joint: dict[str, Any], name: str, found: Fit, first: str, second: str, frames: list[Pose],
        limits: dict[str, Any], drives: dict[str, Any],
    ) -> None:  # fmt: skip
        line, owner = joint["line"], f"prim '{joint['path']}'"
        R = Pose(np.zeros(3), turned(found))
        bond = Bond(name, line, found.type, first, second, frames[0] @ R, frames[1] @ R, called=owner)
        bond.loop = True if joint["loop"] else None
        several = len(CATALOGUE[found.type].groups) > 1
        dofs = {group: dof for dof, group in found.groups.items()}
        for group in CATALOGUE[found.type].groups:
            dof = dofs.get(group.name, "rot")
            bond.sources[group.name] = f"{name}.{dof}" if several else name
            bond.features[group.name] = self._features(dof, limits, drives, owner, line)
        self._meet(bond, joint)
        for dof, drive in drives.items():
            if dof in ROT and dof not in found.groups and found.type != "fixed":
                self.report.add("ignored", owner, f"drive {drive} of {dof} of a ball"[:200], line)
        self.draft.bonds[name] = bond

    def _meet(self, bond: Bond, joint: dict[str, Any]) -> None:
        """Coordinates as the file has the bodies; the second frame moves where rounding leaves it beside that."""
        ends = [self.places[body] for body in joint["bodies"]]
        X_FM = (ends[0] @ bond.F).inverse() @ ends[1] @ bond.M
        bond.q = coordinates(bond.type, X_FM)
        gap = gap_of(bond, X_FM)
        size = 1.0 + max(np.abs(X.p).max() for X in (*ends, bond.F, bond.M))
        if max(gap[0] / size, gap[1]) <= ROUNDING:
            bond.M = ends[1].inverse() @ ends[0] @ bond.F @ bond.displacement()
        else:
            told = (
                f"its frames are {gap[0]:.3g} m and {gap[1]:.3g} rad apart where the file has its bodies: put together"
            )
            self.report.add("changed", bond.owner, told, bond.line)

    def _features(self, dof: str, limits: dict[str, Any], drives: dict[str, Any], owner: str, line: int) -> dict:
        """Limits and motor of one free axis, or the cone of a ball."""
        found: dict[str, Any] = {}
        unit = math.pi / 180 if dof in ROT else self.metre
        if dof in limits:
            low, high = (bound * unit if abs(bound) < 1e30 else math.copysign(math.inf, bound) for bound in limits[dof])
            if math.isnan(low) or math.isnan(high) or low > high:
                raise FileError(
                    f"{at(line)}{owner}: limits are {low:g} to {high:g}, expected lower <= upper; swap them?"
                )
            if low == high:
                self.report.add("changed", owner, f"limits {low:g} to {high:g} leave no range: taken as none", line)
            elif abs(low) == math.inf == low or high == -math.inf:
                raise FileError(f"{at(line)}{owner}: limits are {low:g} to {high:g}; correct them")
            else:
                found["limits"] = limits_of(low, high)
        elif dof == "rot":
            found |= self._cone(limits, owner, line)
        if dof in drives:
            found["motor"] = self._motor(drives[dof], unit, dof in ROT, owner, line)
        return found

    def _cone(self, limits: dict[str, Any], owner: str, line: int) -> dict:
        """Of a ball: one angle all round is a swing here; two, or limits about axes, are listed."""
        told = [dof for dof in ROT if dof in limits and any(abs(bound) < 1e30 for bound in limits[dof])]
        if told:
            self.report.add("ignored", owner, f"limits of {', '.join(told)} of a ball; give swing and twist", line)
        one, two, _ = limits.get("cone", [-1.0, -1.0, ""])
        angles = [angle for angle in (one, two) if 0.0 <= angle < 1e30]
        if len(angles) == 2 and one == two and one > 0.0:
            return {"limits": {"swing": math.radians(one)}}
        if angles:
            self.report.add(
                "ignored", owner, f"a cone of {one:g} by {two:g} degrees; one angle all round is taken", line
            )
        return {}

    def _motor(self, drive: dict[str, Any], unit: float, turns: bool, owner: str, line: int) -> Motor | None:
        """force = stiffness (target - q) + damping (target rate - q̇), within a bound; both targets are one position."""
        if drive["acceleration"]:
            self.report.add("ignored", owner, "a drive by acceleration, of the inertia it happens to move", line)
            return None
        strength = self.kilogram * (self.metre**2 / unit if turns else 1.0)
        kp, kv = drive["stiffness"] * strength, drive["damping"] * strength
        most = drive["forceLimit"] * self.kilogram * self.metre ** (2 if turns else 1)
        if not (kp >= 0.0 and kv >= 0.0 and most >= 0.0 and kp + kv < math.inf):
            raise FileError(f"{at(line)}{owner}: a drive of stiffness {kp:g} and damping {kv:g}; expected both >= 0")
        most = most if most < 1e30 else math.inf
        position, rate = drive["targetPosition"] * unit, drive["targetVelocity"] * unit
        if not math.isfinite(position) or not math.isfinite(rate):
            raise FileError(f"{at(line)}{owner}: the target of its drive is not finite; correct it")
        if kp > 0.0:
            return Motor(position=position + kv / kp * rate, kp=kp, kv=kv, max_torque=most)
        if kv > 0.0:
            return Motor(speed=rate, kv=kv, max_torque=most)
        return Motor(torque=0.0, max_torque=most)

    def _chain(
        self, joint: dict[str, Any], name: str, first: str, second: str, frames: list[Pose], free: list[str],
        limits: dict[str, Any], drives: dict[str, Any],
    ) -> None:  # fmt: skip
        """Slides, then hinges, with links without mass between: no joint of the catalogue leaves so much free.

        The rotations turn one after another about x, y, z, as joints between them do.
        """
        line, owner = joint["line"], f"prim '{joint['path']}'"
        X = (self.places[joint["bodies"][0]] @ frames[0]).inverse() @ self.places[joint["bodies"][1]] @ frames[1]
        here, F = first, frames[0]
        for k, dof in enumerate(free):
            found = fit({dof})
            assert found is not None
            R = Pose(np.zeros(3), turned(found))
            last = k == len(free) - 1
            there = second if last else f"{name} carrier {k + 1}"
            if not last:
                self.draft.links[there] = Link(there, line, called=owner)
            part = f"{name}.{dof}"
            M = (frames[1] if last else still()) @ R
            bond = Bond(part, line, found.type, here, there, F @ R, M, called=owner)
            group = found.groups[dof]
            bond.sources, bond.features = {group: part}, {group: self._features(dof, limits, drives, owner, line)}
            bond.q = {group: float(X.p[TRANS.index(dof)]) if dof in TRANS else _turn_about(X.R, ROT.index(dof))}
            self.draft.bonds[part] = bond
            here, F = there, still()
        self.report.add("merged", owner, f"is {len(free)} joints: {', '.join(free)}", line)

    def _distance(
        self, joint: dict[str, Any], name: str, owner: str, first: str, second: str, frames: list[Pose]
    ) -> None:
        low, high = (bound * self.metre for bound in joint["limits"][""])
        ends, line = [self.places[body] for body in joint["bodies"]], joint["line"]
        apart = float(np.linalg.norm(ends[1].point(frames[1].p) - ends[0].point(frames[0].p)))
        if not all(joint["ends"]) or low != high or abs(apart - high) > ROUNDING * (1.0 + apart) or apart == 0.0:
            told = f"a distance from {low:g} to {high:g} m ({apart:g} m in the file): a length that stays is taken"
            self.report.add("ignored", owner, told, line)
            return
        bond = Bond(name, line, "distance", first, second, frames[0], frames[1], called=owner)
        bond.loop = True
        self.draft.bonds[name] = bond


def _locks(limit: list[float] | None) -> bool:
    """Whether an axis does not move: its lower limit is above the upper, or both are 0."""
    return limit is not None and (limit[0] > limit[1] or limit[0] == limit[1] == 0.0)


def _turn_about(R: np.ndarray, k: int) -> float:
    i, j = (k + 1) % 3, (k + 2) % 3
    return math.atan2(R[j, i], R[i, i])


def rotation(wxyz: list[float], owner: str) -> np.ndarray:
    """R of a quaternion wxyz of single precision."""
    w, x, y, z = wxyz
    q = np.array([x, y, z, w], float)
    norm = float(np.linalg.norm(q))
    if not abs(norm - 1.0) < 1e-3:
        raise FileError(f"{owner} is a quaternion of norm {norm:.6g}, expected 1")
    return rotation_matrix(q / norm)


def names_of(paths: list[str]) -> dict[str, str]:
    """Short names of prims: the last of the path, and as many before it as tell them apart."""
    found: dict[str, str] = {}
    left, count = list(paths), 1
    while left:
        tails = [" ".join(path.strip("/").split("/")[-count:]) for path in left]
        taken = set(found.values())
        unique = [tails.count(tail) == 1 and tail not in taken for tail in tails]
        whole = [path.count("/") <= count for path in left]
        found |= {path: tail for path, tail, good, all in zip(left, tails, unique, whole, strict=True) if good or all}
        left = [path for path in left if path not in found]
        count += 1
    return found
