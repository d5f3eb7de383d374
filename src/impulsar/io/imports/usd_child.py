"""What UsdPhysics finds in a stage: bodies, joints, shapes; `child` runs it.

Layers that a file names are looked for before the stage is composed, and must be under the folder; a file that names
others elsewhere, or by an expression, is refused. Lengths, masses and angles are as the file has them.
"""

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = "usd-core"
MOST_PRIMS = 100_000
MOST_LAYERS = 500
MOST_POINTS = 600_000  # of all meshes
MOST_DEEP = 60  # layers that lead to one another
SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Plane", "Mesh")
DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance")
# applied schemas that are read, or are no mechanics; and so names of properties
OURS = ("Physics", "MaterialBindingAPI", "GeomModelAPI", "CollectionAPI", "ColorSpaceAPI")
QUIET = ("physics", "xformOp", "primvars", "material", "collection", "inputs", "outputs", "info", "limit", "drive",
         "extent", "userProperties", "ui", "render", "model", "colorSpace", "proxyPrim")  # fmt: skip


def read(path: str, data: bytes) -> dict[str, Any]:
    """Everything of a stage that mechanics needs; `data` is the folder that files are under."""
    from pxr import Sdf, Usd, UsdGeom, UsdPhysics

    folder = Path(data.decode()).resolve()
    root = Sdf.Layer.FindOrOpen(path)
    if root is None:
        raise ValueError("is no USD file")
    notes: list[list[Any]] = []
    lines = prim_lines(Path(path).read_text(errors="replace")) if _is_text(path) else {}
    _check_layers(root, folder, notes)
    stage = Usd.Stage.Open(root)
    for layer in stage.GetUsedLayers():
        if layer.realPath and not Path(layer.realPath.split("[")[0]).resolve().is_relative_to(folder):
            raise ValueError("is composed of a file that is not under its folder; put it there")
    _open_instances(stage)
    found = Finder(stage, lines, notes).all()
    found["name"] = _name(stage)
    found["up"] = str(UsdGeom.GetStageUpAxis(stage))
    found["metres"] = UsdGeom.GetStageMetersPerUnit(stage)
    found["kilograms"] = UsdPhysics.GetStageKilogramsPerUnit(stage)
    own = {"metersPerUnit": found["metres"], "kilogramsPerUnit": found["kilograms"], "upAxis": found["up"]}
    notes += [note for layer in stage.GetUsedLayers() if layer != root for note in _other_units(layer, own)]
    errors = [" ".join(str(error).split()) for error in stage.GetCompositionErrors()]
    notes += [["ignored", "", text.replace(str(folder), "the folder")[:300], 0] for text in errors]
    return found


def _other_units(layer: Any, own: dict[str, Any]) -> list[list[Any]]:
    """Units of a file that is composed which are not those of the stage: USD takes its numbers as they stand."""
    head = layer.pseudoRoot
    given = {what: head.GetInfo(what) for what in own if head.HasInfo(what)}
    others = [f"{what} {value:g}" if what != "upAxis" else f"{what} {value}"
              for what, value in given.items() if value != own[what]]  # fmt: skip
    told = f"is made with {', '.join(others)}; its numbers are taken in the units of the stage, as USD has it"
    return [["ignored", f"layer '{layer.GetDisplayName()}'", told, 0]] if others else []


def _open_instances(stage: Any) -> None:
    """Make prims of instances like others, which can be found by their paths."""
    stage.SetEditTarget(stage.GetSessionLayer())
    count = 0
    while found := [prim for prim in stage.Traverse() if prim.IsInstance()]:
        count += len(found)
        if count > MOST_PRIMS:
            raise ValueError(f"has more than {MOST_PRIMS} instances; divide it")
        for prim in found:
            prim.SetInstanceable(False)


def _name(stage: Any) -> str:
    prim = stage.GetDefaultPrim() if stage.HasDefaultPrim() else None
    return str(prim.GetName()) if prim else ""


def _is_text(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(5) == b"#usda"


def prim_lines(text: str) -> dict[str, int]:
    """Line of each prim of a text file by path: words are told from strings, comments and metadata."""
    import re

    token = re.compile(
        r'"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\'|\b(?:def|over|class)\b(?:[ \t]+\w+)?\s*"([^"\n]*)"'
        r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|@@@.*?@@@|@[^@\n]*@|#[^\n]*|[{}()\n]'
    )
    found: dict[str, int] = {}
    line, pending, rounds = 1, "", 0
    stack: list[str] = []
    for match in token.finditer(text):
        word = match.group()
        if match[1] is not None and rounds == 0:
            pending = match[1]
            found.setdefault("".join(f"/{name}" for name in (*stack, pending) if name), line)
        elif word == "(":
            rounds += 1
        elif word == ")":
            rounds = max(0, rounds - 1)
        elif word == "{":
            stack.append(pending if rounds == 0 else "")
            pending = pending if rounds else ""
        elif word == "}" and stack:
            stack.pop()
        line += word.count("\n")
        if len(stack) > 1_000:
            return found
    return found


def _check_layers(root: Any, folder: Path, notes: list[list[Any]]) -> None:
    """See that layers which lead to others are under the folder, before any of them is composed."""
    from pxr import Sdf

    seen = {root.identifier}
    waiting = [(root, 0)]
    while waiting:
        layer, depth = waiting.pop()
        _check_clips(layer)
        for name in layer.GetCompositionAssetDependencies():
            if not name:  # a prim of the same file
                continue
            if "`" in name:
                raise ValueError(f"names a file by the expression {name[:80]!r}; write its name out")
            identifier = layer.ComputeAbsolutePath(name)
            outer = identifier.split("[")[0]
            if "://" in identifier or not Path(outer).resolve().is_relative_to(folder):
                raise ValueError(
                    f"names the file {name[:80]!r}, which is not under the folder of the file; put it there, or give "
                    "assets= a folder that has both"
                )
            if identifier in seen:
                continue
            seen.add(identifier)
            if len(seen) > MOST_LAYERS or depth > MOST_DEEP:
                raise ValueError(f"is made of more than {MOST_LAYERS} files; flatten it")
            if not Path(outer).is_file():
                notes.append(["ignored", "", f"names the file {name[:80]!r}, which there is not", 0])
                continue
            other = Sdf.Layer.FindOrOpen(identifier)
            if other is None:
                notes.append(["ignored", "", f"names the file {name[:80]!r}, which is not read", 0])
                continue
            waiting.append((other, depth + 1))


def _check_clips(layer: Any) -> None:
    """Value clips open files that no composition names."""
    clips = []

    def look(path: Any) -> None:
        if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
            spec = layer.GetPrimAtPath(path)
            if spec is not None and spec.HasInfo("clips"):
                clips.append(str(path))

    layer.Traverse(layer.pseudoRoot.path, look)
    if clips:
        raise ValueError(f"prim <{clips[0]}> has value clips, which are not read; flatten it")


def _numbers(value: Any) -> list[float]:
    return [float(x) for x in value]


def _wxyz(q: Any) -> list[float]:
    return [float(q.GetReal()), *_numbers(q.GetImaginary())]


class Finder:
    """One stage on its way to JSON."""

    def __init__(self, stage: Any, lines: dict[str, int], notes: list[list[Any]]):
        self.stage, self.lines, self.notes = stage, lines, notes
        self.points = 0
        self.unread: dict[str, list[Any]] = {}

    def all(self) -> dict[str, Any]:
        from pxr import Usd, UsdGeom, UsdPhysics

        self.cache = UsdGeom.XformCache()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = UsdPhysics.LoadUsdPhysicsFromRange(self.stage, [self.stage.GetPseudoRoot().GetPath()])
        found: dict[str, Any] = {"notes": self.notes, "bodies": [], "joints": [], "shapes": [], "scenes": []}
        owners = set()
        for parsed_kind, (paths, descriptions) in parsed.items():
            kind_name = str(parsed_kind).split(".")[-1]
            for path, desc in zip(paths, descriptions, strict=True):
                if kind_name == "Scene":
                    gravity = [float(desc.gravityMagnitude), *_numbers(desc.gravityDirection)]
                    found["scenes"].append({"path": str(path), "line": self.line(path), "gravity": gravity})
                elif kind_name == "RigidBody":
                    owners.add(str(path))
                    found["bodies"].append(self.typed(path, self.body, path, desc))
                elif kind_name.endswith("Joint"):
                    kind = kind_name.removesuffix("Joint")
                    found["joints"].append(self.typed(path, self.joint, kind, path, desc))
        order: dict[str, int] = {}
        for prim in Usd.PrimRange(self.stage.GetPseudoRoot()):
            order[str(prim.GetPath())] = len(order)
            if len(order) > MOST_PRIMS:
                raise ValueError(f"has more than {MOST_PRIMS} prims; divide it")
            self.look(prim)
            if prim.GetTypeName() in SHAPES:
                shape = self.typed(prim.GetPath(), self.shape, prim, owners)
                if shape is not None:
                    found["shapes"].append(shape)
        for kind_name in ("bodies", "joints"):
            found[kind_name].sort(key=lambda part: order.get(part["path"], 0))
        for what, (path, times, line) in self.unread.items():
            often = f" ({times} times)" if times > 1 else ""
            self.notes.append(["ignored", path, f"{what} is not read{often}", line])
        return found

    def typed(self, path: Any, make: Callable[..., Any], *given: Any) -> Any:
        """Carry out; attributes can have any type in a file, whatever the schema says."""
        try:
            return make(*given)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"prim <{path}> has an attribute of a wrong type ({error!s:.80}); correct it") from error

    def line(self, path: Any) -> int:
        return self.lines.get(str(path), 0)

    def matrix(self, prim: Any) -> list[float]:
        """X_WP as 16 numbers, of column vectors."""
        rows = self.cache.GetLocalToWorldTransform(prim)
        return [float(rows[j][i]) for i in range(4) for j in range(4)]

    # what is not read ------------------------------------------------------------------------------

    def look(self, prim: Any) -> None:
        """Count schemas and properties of other programs, and what moves by itself."""
        type_name = str(prim.GetTypeName())
        if type_name in ("PointInstancer", "PhysicsCollisionGroup") or type_name.startswith(("Mjc", "Newton", "Physx")):
            self._count(type_name, prim)
        for name in self._schemas(prim):
            if not name.startswith(OURS):
                self._count(name, prim)
        for name in prim.GetAuthoredPropertyNames():
            space, colon, _ = name.partition(":")
            if colon and space not in QUIET:
                self._count(f"{space}:", prim)
        for attribute in prim.GetAuthoredAttributes():
            if attribute.GetNumTimeSamples() > 1:
                self._count("a time sample", prim)
                break

    def _schemas(self, prim: Any) -> list[str]:
        return [str(name) for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas()]

    def _count(self, what: str, prim: Any) -> None:
        path = str(prim.GetPath())
        first, times, line = self.unread.get(what, [path, 0, self.line(path)])
        self.unread[what] = [first, times + 1, line]

    # parts -----------------------------------------------------------------------------------------

    def body(self, path: Any, desc: Any) -> dict[str, Any]:
        prim = self.stage.GetPrimAtPath(path)
        parent = self.cache.GetParentToWorldTransform(prim)
        velocity = [_numbers(parent.TransformDir(v)) for v in (desc.linearVelocity, desc.angularVelocity)]
        return {
            "path": str(path), "line": self.line(path), "matrix": self.matrix(prim), "mass": self.mass(prim),
            "enabled": bool(desc.rigidBodyEnabled), "kinematic": bool(desc.kinematicBody), "velocity": velocity,
        }  # fmt: skip

    def mass(self, prim: Any) -> dict[str, Any]:
        """What MassAPI has, as far as it is given: zeros, and a centre at infinity, are not."""
        from pxr import UsdPhysics

        if not prim.HasAPI(UsdPhysics.MassAPI):
            return {}
        api = UsdPhysics.MassAPI(prim)
        found: dict[str, Any] = {}
        for what, value in (("mass", api.GetMassAttr().Get()), ("density", api.GetDensityAttr().Get())):
            if value:
                found[what] = float(value)
        centre, inertia, axes = (
            attribute.Get()
            for attribute in (api.GetCenterOfMassAttr(), api.GetDiagonalInertiaAttr(), api.GetPrincipalAxesAttr())
        )
        if centre is not None and all(math.isfinite(x) for x in centre):
            found["centre"] = _numbers(centre)
        if inertia is not None and any(inertia):
            found["inertia"] = _numbers(inertia)
            q = _wxyz(axes) if axes is not None else [0.0] * 4
            found["axes"] = q if any(q) else [1.0, 0.0, 0.0, 0.0]
        return found

    def joint(self, kind: str, path: Any, desc: Any) -> dict[str, Any]:
        found: dict[str, Any] = {
            "path": str(path), "line": self.line(path), "type": kind,
            "axis": str(getattr(desc, "axis", "")).split(".")[-1],
            "bodies": [str(desc.body0), str(desc.body1)], "enabled": bool(desc.jointEnabled),
            "targets": [str(desc.rel0), str(desc.rel1)], "valid": bool(desc.isValid),
            "mjc": any(name.startswith("Mjc") for name in self._schemas(self.stage.GetPrimAtPath(path))),
            "loop": bool(desc.excludeFromArticulation), "break": [float(desc.breakForce), float(desc.breakTorque)],
            "frames": [
                [_numbers(desc.localPose0Position), _wxyz(desc.localPose0Orientation)],
                [_numbers(desc.localPose1Position), _wxyz(desc.localPose1Orientation)],
            ],
        }  # fmt: skip
        if kind == "D6":
            found["limits"] = {_dof(pair.first): _limit(pair.second) for pair in desc.jointLimits}
            found["drives"] = {_dof(pair.first): _drive(pair.second) for pair in desc.jointDrives}
        elif hasattr(desc, "limit"):
            found["limits"] = {"": _limit(desc.limit)}
        if kind == "Distance":
            found["ends"] = [bool(desc.minEnabled), bool(desc.maxEnabled)]
        if hasattr(desc, "drive") and desc.drive.enabled:
            found["drives"] = {"": _drive(desc.drive)}
        return found

    def shape(self, prim: Any, owners: set[str]) -> dict[str, Any] | None:
        from pxr import UsdGeom, UsdPhysics, UsdShade

        kind, path = str(prim.GetTypeName()), str(prim.GetPath())
        owner = prim
        while owner and str(owner.GetPath()) not in owners:
            owner = owner.GetParent()
        form = UsdGeom.Imageable(prim)
        found: dict[str, Any] = {
            "path": path, "line": self.line(path), "kind": kind, "body": str(owner.GetPath()) if owner else "",
            "matrix": self.matrix(prim), "collides": bool(prim.HasAPI(UsdPhysics.CollisionAPI)),
            "drawn": form.ComputeVisibility() != "invisible" and str(form.ComputePurpose()) in ("default", "render"),
            "mass": self.mass(prim),
        }  # fmt: skip
        if found["collides"]:
            found["collides"] = bool(UsdPhysics.CollisionAPI(prim).GetCollisionEnabledAttr().Get())
        for what in ("size", "radius", "height", "axis"):
            attribute = prim.GetAttribute(what)
            value = attribute.Get() if attribute else None
            if value is not None:
                found[what] = str(value) if what == "axis" else float(value)
        colour = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()
        if colour:
            found["colour"] = _numbers(colour[0])
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        if material and material.GetPrim().HasAPI(UsdPhysics.MaterialAPI):
            density = UsdPhysics.MaterialAPI(material.GetPrim()).GetDensityAttr().Get()
            found["density"] = float(density or 0.0)
        if kind == "Mesh" and not self._mesh(prim, found):
            return None
        return found

    def _mesh(self, prim: Any, found: dict[str, Any]) -> bool:
        from pxr import UsdGeom

        mesh = UsdGeom.Mesh(prim)
        points, counts, corners = (
            attribute.Get() or []
            for attribute in (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
        )
        self.points += len(points) + len(corners)
        if self.points > MOST_POINTS:
            self.notes.append(["ignored", found["path"], f"meshes beyond {MOST_POINTS} points", found["line"]])
            return False
        found["points"] = [_numbers(point) for point in points]
        triangles, at = [], 0
        for count in counts:
            face = [int(k) for k in corners[at : at + max(int(count), 0)]]
            triangles += [[face[0], face[k], face[k + 1]] for k in range(1, len(face) - 1)]
            at += max(int(count), 0)
        found["triangles"] = [t for t in triangles if min(t) >= 0 and max(t) < len(points)]
        return True


def _dof(value: Any) -> str:
    name = str(value).split(".")[-1]
    return next((dof for dof in DOFS if dof.lower() == name.lower()), name)


def _limit(limit: Any) -> list[float]:
    return [float(limit.lower), float(limit.upper)]


def _drive(drive: Any) -> dict[str, Any]:
    names = ("targetPosition", "targetVelocity", "forceLimit", "stiffness", "damping")
    return {name: float(getattr(drive, name)) for name in names} | {"acceleration": bool(drive.acceleration)}
