"""Files as models that can run: read by the loader of their suffix, loops closed, what was lost told or refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .author.errors import FileError
from .author.imports import ImportReport
from .author.model import GAP, Model
from .author.placing import frame_gap
from .author.rotations import conjugate, multiply, quaternion, rotation_matrix
from .io.imports import OPTIONS
from .io.imports.read import read_robot
from .io.loaders import load_model, read_model
from .io.xacro import expand

MOST_TOLD = 8  # losses that a refusal lists
PLAY = 1e-3  # [m, rad] that redundant loops may leave open
POINTED = ("spherical", "revolute")  # types whose second frame can be moved onto the first


def load(path: str | Path, strict: bool = False, **options: Any) -> Model:
    """The model of a file: JSON, URDF, SDF, MJCF, USD, STEP, and what other packages read. Raises `ModelError`.

    `model.import_report` lists every item of a robot's file that is ignored, changed or approximated, with its line;
    strict=True refuses any. Of URDF, SDF, MJCF and USD the options are:

    - snap [rad, m], such as 1e-4: axes that are nearly parallel, perpendicular or coincident are made exactly so.
    - base "fixed" or "floating": of links that hang on nothing; by default as the format has it.
    - fixed "merge" or "keep": fixed joints lump their links, or stay joints.
    - mend: True takes the mean of principal inertias that are of no body.
    - pose: where joints start, by the file's names [rad, m]; a ball by 4, a free joint by 7 numbers (xyzw).
    - key: a key frame of MJCF, by name or number.
    - meshes: False leaves meshes out; assets: a folder that meshes and included files are under.

    Those of STEP are density [kg/m³], one or by name of part, parts ("product" or "solid" is one body), base, meshes.

    Joint coordinates are the file's q. A loop that is open where the file has it is closed by `analysis.assemble`.
    """
    if not isinstance(strict, bool):
        raise FileError(f"strict is {strict!r:.60}, expected True or False")
    return ready(load_model(path, **options), strict)


def load_xacro(path: str | Path, strict: bool = False, **settings: Any) -> Model:
    """The model of a xacro file of the command line: options of URDF by name, all others are xacro's arguments."""
    options = {name: settings.pop(name) for name in list(settings) if name in OPTIONS}
    data, folder = expand(path, settings)
    try:
        return ready(read_robot(data, folder, Path(path).name, options), strict)
    except FileError as error:
        raise FileError(f"'{path!s:.200}', expanded: {error}") from error


def load_upload(name: str, data: bytes) -> Model:
    """The model of an uploaded file, ready to run; raises `ModelError`."""
    return ready(read_model(name, data))


def ready(model: Model, strict: bool = False) -> Model:
    """A model whose loops are closed; refused with its losses where strict."""
    report = model.import_report
    if report is None:
        return model
    gaps = _open_joints(model)
    if gaps:
        from .analysis.assembly import AssemblyError, assemble

        worst = max(gaps, key=lambda name: gaps[name])
        try:
            found = assemble(model)
        except AssemblyError as error:
            cure = "give pose= values near to where they do"
            raise FileError(f"'{report.file}': its loops do not close: {error}; {cure}") from error
        told = f"is open by {gaps[worst]:.3g} (m, rad) where the file has it: loops were closed"
        report.add("changed", f"joint '{worst}'", told)
        model = found.model
        model.import_report = report
        _meet(model, report)
    if strict and report.losses:
        told = "; ".join(str(note) for note in report.losses[:MOST_TOLD])
        rest = len(report.losses) - MOST_TOLD
        more = f"; and {rest} more" if rest > 0 else ""
        cure = "take them out of the file, or leave strict out to read it without them"
        raise FileError(f"strict: {report.summary()}: {told}{more}; {cure}")
    return model


def _open_joints(model: Model) -> dict[str, float]:
    """Joints whose frames do not meet, and by how much [m, rad]."""
    return {name: max(gap) for name in model.joints if max(gap := _gap(model, name)) > GAP}


def _meet(model: Model, report: ImportReport) -> None:
    """Move the second frame of loop joints by what the play of redundant ones left open."""
    for name, gap in _open_joints(model).items():
        joint = model.joints[name]
        if gap > PLAY or joint.type not in POINTED:
            continue  # the builder says what is wrong
        P, C = (model.ground if end == "ground" else model.bodies[end] for end in (joint.first, joint.second))
        q_CM = joint.q_CM
        if joint.type == "revolute":
            z = rotation_matrix(multiply(P.orientation, joint.q_PF))[:, 2]
            x = rotation_matrix(multiply(C.orientation, joint.q_CM))[:, 0]
            x = x - (x @ z) * z
            R_WM = np.column_stack([x, np.cross(z, x), z]) / [np.linalg.norm(x), np.linalg.norm(x), 1.0]
            q_CM = multiply(conjugate(C.orientation), quaternion(R_WM))
        p_CM = C.point(P.world_point(joint.p_PF))
        model.joints[name] = replace(joint, p_CM=p_CM, q_CM=q_CM)
        told = f"its loop is redundant but for play: the frame on '{C.name}' moved by {gap:.3g} (m, rad)"
        report.add("changed", f"joint '{name}'", told)


def _gap(model: Model, name: str) -> tuple[float, float]:
    joint = model.joints[name]
    P, C = (model.ground if end == "ground" else model.bodies[end] for end in (joint.first, joint.second))
    return frame_gap(joint, P, C)
