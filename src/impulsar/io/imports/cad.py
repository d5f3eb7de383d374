"""STEP: the parts of a CAD file as bodies, by OpenCASCADE in a process of its own (`cad_child`).

A product of an assembly is a body where it is placed, once for each time it is used; or each of its solids is. Volume,
centre and inertia are of the exact surfaces; what is drawn is their triangles. A file has no joints: bodies are free.
"""

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...author.errors import FileError, ModelError
from ...author.imports import ImportReport
from ...author.model import Model
from ...author.shapes import ConvexHull, Mesh, Shape
from ..solids import solid_of
from .apart import read_apart
from .build import Options, finish
from .draft import Draft, Link, Pose
from .drawing import few_corners
from .merging import about

MISSING = "needs OpenCASCADE to read STEP; install it by `pip install impulsar[cad]`"
MILLIMETRE = 1e-3  # [m]
WATER = 1000.0  # [kg/m³] where no density is given
PARTS = ("product", "solid")


@dataclass(frozen=True)
class CadOptions:
    """How a CAD file is read: keywords of `load`."""

    density: Any = None  # [kg/m³] of all parts, or by name
    parts: str = "product"  # what is one body: a product, or a "solid"
    base: str | None = None
    meshes: bool = True

    def __post_init__(self) -> None:
        if self.parts not in PARTS:
            raise FileError(f"parts is {self.parts!r:.60}, expected 'product' or 'solid'")
        given = self.density if isinstance(self.density, dict) else {"all": self.density}
        for value in given.values() if self.density is not None else ():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
                raise FileError(f"density is {value!r:.60}, expected a number > 0 [kg/m³], or such by name of part")


def read_cad(data: bytes, folder: Path | None, name: str, options: dict[str, Any]) -> Model:
    """The model of a STEP file; raises FileError."""
    given = CadOptions(**options)
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "part.step"
        path.write_bytes(data)
        found = read_apart("cad", "OpenCASCADE", str(path), given.parts.encode(), MISSING)
    if "refusal" in found:
        raise FileError(f"OpenCASCADE refuses it: {found['refusal'][:300]}")
    model = _model(found, given, Path(name).stem)
    assert model.import_report is not None
    model.import_report.file = name
    return model


def _model(found: dict[str, Any], given: CadOptions, name: str) -> Model:
    report, draft = ImportReport(format="STEP"), Draft(name[:100] or "parts")
    for part in found["open"]:
        report.add("ignored", f"part '{part}'", "encloses no solid, and so weighs nothing")
    if not found["parts"]:
        raise FileError("has no solid; export solids, not surfaces")
    known = given.density if isinstance(given.density, dict) else {}
    for unknown in set(known) - {part["name"] for part in found["parts"]}:
        names = ", ".join(repr(part["name"]) for part in found["parts"][:20])
        raise FileError(f"density of {unknown!r:.60}, but there is no such part; parts are: {names}")
    if given.density is None:
        report.add("approximated", "density", f"none is given: {WATER:g} kg/m³ of all parts; give density=")
    for part in found["parts"]:
        density = WATER if given.density is None else known.get(part["name"]) if known else given.density
        if density is None:
            density = WATER
            report.add("approximated", f"part '{part['name']}'", f"no density of it is given: {WATER:g} kg/m³")
        _part(part, float(density), given, draft, report)
    return finish(draft, report, Options(base=given.base, meshes=given.meshes), "floating")


def _part(part: dict[str, Any], density: float, given: CadOptions, draft: Draft, report: ImportReport) -> None:
    name, count = part["name"][:100] or "part", 1
    while name in draft.links:
        count += 1
        name = f"{part['name'][:100]} {count}"
    owner = f"part '{name}'"
    solids = [(volume, np.array(centre), np.array(inertia)) for volume, centre, inertia in part["solids"]]
    volume = sum(abs(one[0]) for one in solids)
    if not (volume > 0.0 and math.isfinite(volume)):
        raise FileError(f"{owner}: has a volume of {volume:g} mm³; mend it in its CAD program")
    centre = sum((abs(v) * c for v, c, _ in solids), np.zeros(3)) / volume
    inertia = sum((about(np.sign(v) * I, abs(v), c - centre) for v, c, I in solids), np.zeros((3, 3)))
    link = Link(name, 0, density * volume * MILLIMETRE**3, np.zeros(3), density * inertia * MILLIMETRE**5, called=owner)
    if given.meshes:
        shape = _shape((np.array(part["corners"], float).reshape(-1, 3, 3) - centre) * MILLIMETRE)
        if shape is None:
            report.add("ignored", owner, "its surface cannot be drawn")
        else:
            link.shapes.append(shape)
    draft.links[name] = link
    draft.roots[name] = Pose(centre * MILLIMETRE, np.eye(3))


def _shape(corners: np.ndarray) -> Shape | None:
    """Triangles as they are where they are few and closed, else their hull."""
    solid = solid_of(corners) if len(corners) else None
    try:
        if solid is not None:
            shift = corners.reshape(-1, 3).max(axis=0) - solid.vertices.max(axis=0)
            return Mesh(solid.vertices + shift, solid.triangles)
        return ConvexHull(few_corners(corners.reshape(-1, 3)))
    except ModelError:
        return None
