"""USD: bodies, joints and shapes by UsdPhysics, and a run as time samples. Needs usd-core.

Poses are in double precision; inertias and the frames of joints are in single, as the schemas have them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...author import joints as codes
from ...author.errors import ModelError
from ...author.model import Model
from ...author.parts import Joint
from ...author.rotations import quaternion
from ...author.shapes import Box, Capsule, Cone, Cylinder, Shape, Sphere
from ...engine.system.tree import span
from .robots import ExportReport, note_rest, refused
from .surface import COLOURS, STILL, Surface, poses, shape_surface, surfaces

if TYPE_CHECKING:
    import xarray as xr

SUFFIXES = (".usda", ".usdc", ".usd")
FREE = {  # of freedoms: the axis of a D6 joint
    codes.SLIDE_X: "transX", codes.SLIDE_Y: "transY", codes.SLIDE_Z: "transZ", codes.TURN_Z: "rotZ",
    codes.TURN_X: "rotX", codes.BALL_X: "rotX", codes.BALL_Y: "rotY", codes.BALL_Z: "rotZ",
}  # fmt: skip
AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def to_usd(model: Model, dataset: "xr.Dataset | None", path: Path, strict: bool = False) -> ExportReport:
    """Write a stage of a model, with a run of it if there is one; what of the model is not in it, refused if strict."""
    if path.suffix not in SUFFIXES:
        raise ModelError(f"export: '{path}': USD is in files that end in {', '.join(SUFFIXES)}")
    from pxr import Usd

    stage = Usd.Stage.CreateInMemory(path.name)
    writer = _Stage(stage, model)
    if dataset is not None and len(model.bodies):
        writer.animate(dataset)
    writer.report.judge(strict)
    stage.GetRootLayer().Export(str(path))
    return writer.report


class _Stage:
    """A stage in the making."""

    def __init__(self, stage: Any, model: Model):
        from pxr import UsdGeom, UsdPhysics

        self.stage, self.model, self.report = stage, model, ExportReport(format="USD")
        note_rest(model, self.report)
        for kind in ("springs", "couplings"):
            for name in getattr(model, kind):
                self.report.add("ignored", f"{kind[:-1]} '{name}'", "has no counterpart")
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
        self.taken: set[str] = set()
        self.root = f"/{self._name(model.name)}"
        stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, self.root).GetPrim())
        self._scene()
        self.moves: dict[str, tuple[Any, Any]] = {}
        self.paths: dict[str, str] = {}
        for k, body in enumerate(model.bodies):
            self._body(body, model.bodies[body].colour or COLOURS[k % len(COLOURS)])
        for body_name, colour, found in surfaces(model):
            if body_name is None:
                self._still(colour, found)
        loops = {joint.name for joint in span(model).loops}
        for joint in model.joints.values():
            if joint.type != "free":
                self._joint(joint, joint.name in loops)

    def _name(self, text: str) -> str:
        """A name of a prim that is not taken."""
        from pxr import Tf

        plain = name = Tf.MakeValidIdentifier(text)
        k = 2
        while name in self.taken:
            name, k = f"{plain}_{k}", k + 1
        self.taken.add(name)
        return name

    def _scene(self) -> None:
        from pxr import Gf, UsdPhysics

        scene = UsdPhysics.Scene.Define(self.stage, f"{self.root}/{self._name('physics')}")
        size = float(np.linalg.norm(self.model.gravity))
        down = np.asarray(self.model.gravity) / size if size else np.array([0.0, 0.0, -1.0])
        scene.CreateGravityDirectionAttr(Gf.Vec3f(*down.tolist()))
        scene.CreateGravityMagnitudeAttr(size)

    def _body(self, name: str, colour: str) -> None:
        from pxr import Gf, UsdGeom, UsdPhysics

        body, path = self.model.bodies[name], f"{self.root}/{self._name(name)}"
        form = UsdGeom.Xform.Define(self.stage, path)
        move = form.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
        turn = form.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
        move.Set(Gf.Vec3d(*body.position.tolist()))
        turn.Set(_quat(body.orientation, Gf.Quatd))
        self.moves[name], self.paths[name] = (move, turn), path
        rigid = UsdPhysics.RigidBodyAPI.Apply(form.GetPrim())
        rigid.CreateVelocityAttr(Gf.Vec3f(*body.velocity.tolist()))
        rigid.CreateAngularVelocityAttr(Gf.Vec3f(*np.degrees(body.angular_velocity).tolist()))
        mass = UsdPhysics.MassAPI.Apply(form.GetPrim())
        mass.CreateMassAttr(float(body.mass))
        mass.CreateCenterOfMassAttr(Gf.Vec3f(0.0))
        values, axes = np.linalg.eigh(body.inertia)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*values.tolist()))
        mass.CreatePrincipalAxesAttr(_quat(quaternion(axes), Gf.Quatf))
        for k, visual in enumerate(body.visuals):
            drawn = self._shape(f"{path}/visual_{k}", visual.shape)
            drawn.CreateDisplayColorAttr([_colour(visual.colour or colour)])
        for k, shape in enumerate(body.shapes):
            drawn = self._shape(f"{path}/shape_{k}", shape)
            drawn.CreateDisplayColorAttr([_colour(colour)])
            if shape.material or body.material or body.visuals:
                UsdPhysics.CollisionAPI.Apply(drawn.GetPrim())
            if body.visuals:  # there to touch, as viewers hide it
                drawn.CreatePurposeAttr(UsdGeom.Tokens.guide)
        if body.has_link:
            link = UsdGeom.Xform.Define(self.stage, f"{path}/link")
            link.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*body.p_BL.tolist()))
            link.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(_quat(body.q_BL, Gf.Quatd))

    def _shape(self, path: str, shape: Shape) -> Any:
        """A gprim of a shape, in its body's frame."""
        from pxr import Gf, UsdGeom

        kinds = {Sphere: UsdGeom.Sphere, Cylinder: UsdGeom.Cylinder, Capsule: UsdGeom.Capsule, Cone: UsdGeom.Cone}
        if not isinstance(shape, Box | Sphere | Cylinder | Capsule | Cone):
            return self._mesh(path, shape_surface(shape))
        form = (UsdGeom.Cube if isinstance(shape, Box) else kinds[type(shape)]).Define(self.stage, path)
        form.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*shape.offset.tolist()))  # type: ignore[union-attr]
        form.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(_quat(np.asarray(shape.orientation), Gf.Quatd))
        if isinstance(shape, Box):
            form.CreateSizeAttr(1.0)
            form.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*np.asarray(shape.size).tolist()))
            return form
        form.CreateRadiusAttr(float(shape.radius))
        if not isinstance(shape, Sphere):
            form.CreateHeightAttr(float(shape.length))
            form.CreateAxisAttr("Z")
        return form

    def _mesh(self, path: str, surface: Surface) -> Any:
        from pxr import Gf, UsdGeom

        vertices, triangles = surface
        mesh = UsdGeom.Mesh.Define(self.stage, path)
        mesh.CreatePointsAttr([Gf.Vec3f(*point) for point in vertices.tolist()])
        mesh.CreateFaceVertexCountsAttr([3] * len(triangles))
        mesh.CreateFaceVertexIndicesAttr(triangles.ravel().tolist())
        mesh.CreateSubdivisionSchemeAttr("none")
        return mesh

    def _still(self, colour: str, found: list[Surface]) -> None:
        from pxr import UsdPhysics

        for surface in found:
            mesh = self._mesh(f"{self.root}/{self._name('ground')}", surface)
            mesh.CreateDisplayColorAttr([_colour(colour or STILL)])
            UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())

    def _joint(self, joint: Joint, closes: bool) -> None:
        from pxr import Gf, UsdPhysics

        if joint.type == "screw":
            raise refused("USD", f"joint '{joint.name}'", "a screw joint")
        kinds = {"fixed": UsdPhysics.FixedJoint, "revolute": UsdPhysics.RevoluteJoint}
        kinds |= {"prismatic": UsdPhysics.PrismaticJoint, "spherical": UsdPhysics.SphericalJoint}
        kinds["distance"] = UsdPhysics.DistanceJoint
        made = kinds.get(joint.type, UsdPhysics.Joint).Define(self.stage, f"{self.root}/{self._name(joint.name)}")
        for k, (body, p, q) in enumerate(
            ((joint.first, joint.p_PF, joint.q_PF), (joint.second, joint.p_CM, joint.q_CM))
        ):
            if body != "ground":
                (made.CreateBody0Rel() if k == 0 else made.CreateBody1Rel()).SetTargets([self.paths[body]])
            (made.CreateLocalPos0Attr, made.CreateLocalPos1Attr)[k](Gf.Vec3f(*p.tolist()))
            (made.CreateLocalRot0Attr, made.CreateLocalRot1Attr)[k](_quat(q, Gf.Quatf))
        if closes:
            made.CreateExcludeFromArticulationAttr(True)
        if joint.type in ("revolute", "prismatic"):
            made.CreateAxisAttr("Z")
            self._features(made, joint)
        elif joint.type == "distance":
            made.CreateMinDistanceAttr(float(joint.length or 0.0))
            made.CreateMaxDistanceAttr(float(joint.length or 0.0))
        elif joint.type not in kinds:
            free = {FREE[code] for code in joint.kind.freedoms}
            for axis in (one for one in AXES if one not in free):  # a lower limit above the upper one locks
                limit = UsdPhysics.LimitAPI.Apply(made.GetPrim(), axis)
                limit.CreateLowAttr(1.0)
                limit.CreateHighAttr(-1.0)
        if joint.type not in ("revolute", "prismatic") and any(
            vars(features) != vars(type(features)()) for features in joint.features.values()
        ):
            self.report.add("ignored", f"joint '{joint.name}'", f"what acts in a {joint.type} joint")

    def _features(self, made: Any, joint: Joint) -> None:
        """Limits, and spring and damper as a drive to rest; angles are in degrees."""
        from pxr import UsdPhysics

        is_hinge = joint.type == "revolute"
        (features,) = joint.features.values()
        scale = 180.0 / np.pi if is_hinge else 1.0
        for value, create in zip(
            features.limits or (), (made.CreateLowerLimitAttr, made.CreateUpperLimitAttr), strict=False
        ):
            create(float(np.clip(value * scale, -3e38, 3e38)))
        viscous = features.viscous + features.damping
        if features.stiffness or viscous:
            drive = UsdPhysics.DriveAPI.Apply(made.GetPrim(), "angular" if is_hinge else "linear")
            drive.CreateTypeAttr("force")
            drive.CreateStiffnessAttr(float(features.stiffness / scale))
            drive.CreateDampingAttr(float(viscous / scale))
            drive.CreateTargetPositionAttr(float(features.rest * scale))
        if features.friction:
            self.report.add("ignored", f"joint '{joint.name}'", f"friction of {features.friction:g}")

    def animate(self, dataset: "xr.Dataset") -> None:
        """Have bodies move; a time code is a sample."""
        from pxr import Gf

        names = list(self.moves)
        times, positions, orientations = poses(dataset, names)
        rate = (len(times) - 1) / float(times[-1] - times[0]) if len(times) > 1 else 60.0
        self.stage.SetTimeCodesPerSecond(rate)
        self.stage.SetFramesPerSecond(rate)
        self.stage.SetStartTimeCode(float(times[0]) * rate)
        self.stage.SetEndTimeCode(float(times[-1]) * rate)
        for k, name in enumerate(names):
            move, turn = self.moves[name]
            for t, p, q in zip((times * rate).tolist(), positions[:, k], orientations[:, k], strict=True):
                move.Set(Gf.Vec3d(*p.tolist()), t)
                turn.Set(_quat(q, Gf.Quatd), t)


def _quat(q: np.ndarray, kind: Any) -> Any:
    x, y, z, w = (float(value) for value in q)
    return kind(w, x, y, z)


def _colour(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
