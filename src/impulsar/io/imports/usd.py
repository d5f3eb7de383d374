"""USD by UsdPhysics, parsed by usd-core in a process of its own (`usd_child`).

Bodies are where the file has them, in double precision; frames of joints are in single, so that the second frame of a
joint is put where the first one and the coordinates have it as far as rounding goes. Lengths and masses come in the
stage's units and become m and kg; y or x up is turned to z up, about one axis.

A body has the mass it is given, else what its colliders have: their own mass, or density times volume, the density
being the collider's own, its material's, its body's, or 1000 kg/m³. An inertia that is not given is that of the
colliders, in proportion to the mass.
"""

import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.model import Model
from ...author.rotations import rotation_matrix
from ...author.shapes import Cone, ConvexHull, Plane, Shape
from ..solids import solid_of
from .apart import read_apart
from .build import Options, finish
from .draft import GROUND, Bond, Link, Pose, at, still, turn
from .drawing import few_corners, hex_colour, placed, primitive
from .merging import about
from .read import refuse_key
from .usd_joints import AXES, Stage, rotation

MISSING = "needs usd-core to read USD; install it by `pip install impulsar[usd]`"
DENSITY = 1000.0  # [kg/m³] of what has none, as the schema says


def read_usd(data: bytes, folder: Path | None, name: str, options: Options) -> Model:
    """The model of a stage."""
    refuse_key(options)
    if folder is not None:
        allowed = Path(options.assets) if options.assets else folder
        found = _parse(str((folder / name).resolve()), allowed)
    else:
        with tempfile.TemporaryDirectory() as made:
            path = Path(made) / f"stage{Path(name).suffix.lower()}"
            path.write_bytes(data)
            found = _parse(str(path), Path(made))
            shutil.rmtree(made, ignore_errors=True)
    model = Reader(found, options).model()
    assert model.import_report is not None
    model.import_report.file = name
    return model


def _parse(path: str, folder: Path) -> dict[str, Any]:
    found = read_apart("usd", "usd-core", path, str(folder.resolve()).encode(), MISSING)
    if "refusal" in found:
        raise FileError(f"usd-core refuses it: {told_of(found['refusal'], path)}")
    return found


def told_of(text: str, path: str) -> str:
    """A refusal without the names of this machine: of an error of Tf what is quoted, with its line."""
    if "Error in '" in text and " : '" in text:
        text = text.split(" : '", 1)[1].split("' Error in", 1)[0].strip(" '")
    return text.replace(f"{path}:", "line ").replace(path, "the file")[:300]


class Reader(Stage):
    """A parsed stage on its way to a model."""

    def model(self) -> Model:
        for kind, path, text, line in self.f["notes"]:
            self.report.add(kind, f"prim '{path}'" if path.startswith("/") else path or "file", text, line)
        self._gravity()
        if not self.f["bodies"]:
            raise FileError("has no rigid body (PhysicsRigidBodyAPI); give it one")
        for body in self.f["bodies"]:
            self._body(body)
        for shape in self.f["shapes"]:
            self._shape(shape)
        self._colliders()
        for body in self.f["bodies"]:
            self._mass(body)
        for joint in self.f["joints"]:
            self._joint(joint)
        self._series()
        if (self.metre, self.kilogram, self.f["up"]) != (1.0, 1.0, "Z"):
            told = f"{self.f['up']} up, {self.metre:g} m and {self.kilogram:g} kg a unit: here z is up, in m and kg"
            self.report.add("converted", "stage", told)
        return finish(self.draft, self.report, self.options, "floating")

    # the stage -------------------------------------------------------------------------------------

    def _gravity(self) -> None:
        scenes = self.f["scenes"]
        down = self.up @ -np.eye(3)[AXES[self.f["up"]]]
        if not scenes:
            self.draft.gravity = 9.81 * down
            self.report.add("changed", "stage", "has no PhysicsScene: gravity is 9.81 m/s² down")
            return
        for other in scenes[1:]:
            self.report.add("ignored", f"prim '{other['path']}'", "is a second PhysicsScene", other["line"])
        size, *way = scenes[0]["gravity"]
        norm = float(np.linalg.norm(way))
        if not math.isfinite(size * norm):
            raise FileError(f"prim '{scenes[0]['path']}': gravity is not finite; correct it")
        along = self.up @ np.array(way) / norm if norm > 0.0 else down
        self.draft.gravity = along * size * self.metre

    def _pose(self, numbers: list[float], owner: str) -> tuple[Pose, np.ndarray]:
        """Where a prim is, in m with z up, and its scale along its own axes."""
        A = np.array(numbers, float).reshape(4, 4)
        scale = np.linalg.norm(A[:3, :3], axis=0)
        if not np.isfinite(A).all() or not scale.all() or np.abs(A).max() > 1e9:
            raise FileError(f"{owner}: its transform is singular or not finite; correct it")
        R = A[:3, :3] / scale
        if np.linalg.det(R) < 0.0:  # mirrored: one axis is the other way round
            R[:, 0], scale[0] = -R[:, 0], -scale[0]
        U, _, V = np.linalg.svd(R)
        near = U @ V
        if np.abs(near - R).max() > 1e-5:
            self.report.add("approximated", owner, "is sheared: taken without")
        return Pose(self.up @ A[:3, 3] * self.metre, self.up @ near), scale

    # bodies ----------------------------------------------------------------------------------------

    def _body(self, body: dict[str, Any]) -> None:
        path, line, name = body["path"], body["line"], self.names[body["path"]]
        owner = f"prim '{path}'"
        X, scale = self._pose(body["matrix"], owner)
        if scale[0] < 0.0:
            raise FileError(f"{at(line)}{owner}: is mirrored by its scale, as no rigid body is; mirror its shapes")
        link = Link(name, line, called=owner)
        self.draft.links[name] = link
        self.places[path], self.link_of[path], self.stretch[path] = X, name, scale
        self.draft.roots[name] = X
        v, w = (self.up @ np.array(value, float) for value in body["velocity"])
        if v.any() or w.any():
            link.velocity, link.spin = v * self.metre, np.radians(w)
        why = "is kinematic, moved from outside" if body["kinematic"] else ""
        if not body["enabled"]:
            why = "is not enabled as a rigid body"
        if why:
            hold = f"{name} held"
            self.draft.bonds[hold] = Bond(hold, line, "fixed", GROUND, name, X, still(), role="body")
            link.velocity = link.spin = None
            self.report.add("changed", owner, f"{why}: held here", line)

    def _mass(self, body: dict[str, Any]) -> None:
        """Mass, centre and inertia: as given, what is not from the colliders."""
        given, path = body["mass"], body["path"]
        link, owner = self.draft.links[self.names[path]], f"prim '{path}'"
        unit = self.kilogram * self.metre**2
        parts = [self._part(shape, given.get("density", 0.0)) for shape in self.f["shapes"]
                 if shape["body"] == path and shape["collides"]]  # fmt: skip
        solid = lump([part for part in parts if part is not None])
        mass = given.get("mass", 0.0) * self.kilogram or solid[0]
        if not 0.0 <= mass < math.inf:
            raise FileError(f"{at(link.line)}{owner}: mass is {mass:g} kg, expected one >= 0")
        link.mass, link.p_LB = mass, solid[1]
        link.inertia = solid[2] * (mass / solid[0]) if solid[0] > 0.0 else np.zeros((3, 3))
        if "centre" in given:
            centre = np.array(given["centre"]) * self.stretch[path] * self.metre
            if "inertia" not in given and np.abs(centre - link.p_LB).max() > 1e-6 and solid[0] > 0.0:
                self.report.add(
                    "approximated", owner, "its centre of mass is given, its inertia is its shapes'", link.line
                )
            link.p_LB = centre
        if "inertia" in given:
            R = rotation(given["axes"], f"{at(link.line)}{owner}: principalAxes")
            link.inertia = (R * (np.array(given["inertia"]) * unit)) @ R.T
        if not np.isfinite(link.inertia).all() or not np.isfinite(link.p_LB).all():
            raise FileError(f"{at(link.line)}{owner}: its centre of mass or inertia is not finite; correct it")

    def _part(self, shape: dict[str, Any], density: float) -> tuple[float, np.ndarray, np.ndarray] | None:
        """Mass, centre and inertia about it of a collider, in the body's frame."""
        found = shape.get("solid")
        if found is None:
            return None
        volume, centre, inertia = found
        own = shape["mass"]
        density = own.get("density", 0.0) or shape.get("density", 0.0) or density
        density *= self.kilogram / self.metre**3
        mass = own.get("mass", 0.0) * self.kilogram or (density or DENSITY) * volume
        return (mass, centre, inertia * (mass / volume)) if volume > 0.0 and 0.0 <= mass < math.inf else None

    # shapes ----------------------------------------------------------------------------------------

    def _shape(self, shape: dict[str, Any]) -> None:
        """Make a shape of a gprim, and with it volume, centre and inertia of density 1 in its body's frame."""
        owner = f"prim '{shape['path']}'"
        X_WS, scale = self._pose(shape["matrix"], owner)
        X = self.places[shape["body"]].inverse() @ X_WS
        if shape["kind"] == "Mesh":
            made = self._mesh(shape, scale, owner, X)
        else:
            made = self._primitive(shape, scale, owner, X)
        if made is None:
            return
        if shape["collides"] and not isinstance(made, Plane) and "solid" not in shape:
            R = rotation_matrix(np.asarray(made.orientation, float))
            centre = np.asarray(made.offset, float) + R @ made.center
            shape["solid"] = (made.volume, centre, made.volume * R @ made.unit_inertia() @ R.T)
        shape["made"] = made

    def _primitive(self, shape: dict[str, Any], scale: np.ndarray, owner: str, X: Pose) -> Shape | None:
        kind, s = shape["kind"], np.abs(scale) * self.metre
        k = AXES.get(shape.get("axis", "Z"), 2)
        if kind == "Plane":
            R = X.R @ turn(*{0: (1, math.pi / 2), 1: (0, -math.pi / 2), 2: (2, 0.0)}[k])
            return placed(Plane(), Pose(X.p, R)) if not shape["body"] else None
        if kind == "Cube":
            made = primitive("box", (shape["size"] * s).tolist())
        elif kind == "Sphere":
            self._even(s, owner, shape["line"])
            made = primitive("sphere", [float(shape["radius"] * s.max())])
        else:
            across = [s[(k + 1) % 3], s[(k + 2) % 3]]
            self._even(np.array(across), owner, shape["line"])
            sizes = [float(shape["radius"] * max(across)), float(shape["height"] * s[k])]
            X = Pose(X.p, X.R @ turn(*{0: (1, math.pi / 2), 1: (0, -math.pi / 2), 2: (2, 0.0)}[k]))
            if kind == "Cone":
                made = Cone(*sizes) if all(0.0 < size < math.inf for size in sizes) else None
            else:
                made = primitive(kind.lower(), sizes)
        if made is None:
            self.report.add("ignored", owner, f"a {kind} without size", shape["line"])
            return None
        return placed(made, X)

    def _even(self, scale: np.ndarray, owner: str, line: int) -> None:
        if np.ptp(scale) > 1e-6 * scale.max():
            self.report.add(
                "approximated", owner, "is scaled unevenly: the largest is taken, as UsdPhysics has it", line
            )

    def _mesh(self, shape: dict[str, Any], scale: np.ndarray, owner: str, X: Pose) -> Shape | None:
        if not self.options.meshes and not shape["collides"]:
            return None
        points = np.array(shape["points"], float).reshape(-1, 3) * scale * self.metre
        triangles = np.array(shape["triangles"], int).reshape(-1, 3)
        try:
            if not np.isfinite(points).all():
                raise ModelError("has points that are not finite")
            made = ConvexHull(few_corners(points) if len(points) > 256 else points)
        except ModelError as error:
            self.report.add("ignored", owner, f"mesh: {error!s:.200}", shape["line"])
            return None
        if shape["collides"]:
            solid = solid_of(points[triangles]) if len(triangles) else None
            if solid is not None:
                centre = points[triangles].reshape(-1, 3).max(axis=0) - solid.vertices.max(axis=0)
                shape["solid"] = (solid.volume, X.point(centre), X.R @ solid.inertia @ X.R.T)
            else:
                told = "mesh is not closed, or large: what it weighs is that of its hull"
                self.report.add("approximated", owner, told, shape["line"])
        self.report.add("approximated", owner, "mesh is drawn as its hull", shape["line"])
        return placed(made, X)

    def _colliders(self) -> None:
        """Hand shapes to links: what is seen, where a body has both."""
        touching = [shape for shape in self.f["shapes"] if shape["collides"]]
        if touching:
            told = f"{len(touching)} that touch: give bodies a material for contact"
            self.report.add("ignored", "PhysicsCollisionAPI", told, touching[0]["line"])
        seen = {shape["body"] for shape in self.f["shapes"] if shape["drawn"] and "made" in shape}
        for shape in self.f["shapes"]:
            if "made" not in shape or (shape["body"] in seen and not shape["drawn"]):
                continue
            if not shape["body"]:
                self.draft.ground_shapes.append(shape["made"])
                continue
            link = self.draft.links[self.names[shape["body"]]]
            if "colour" in shape:
                link.colour = link.colour or hex_colour(np.array(shape["colour"]))
            link.shapes.append(shape["made"])


def lump(parts: list[tuple[float, np.ndarray, np.ndarray]]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of several."""
    mass = sum(part[0] for part in parts)
    if not mass > 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = sum((part[0] * part[1] for part in parts), np.zeros(3)) / mass
    inertia = sum((about(part[2], part[0], part[1] - centre) for part in parts), np.zeros((3, 3)))
    return mass, centre, inertia
