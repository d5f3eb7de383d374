"""Authoring: mass properties against closed forms, frames from points and axes, and every refusal."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import impulsar.author.model
from impulsar.author.errors import ModelError
from impulsar.author.joints import CATALOGUE
from impulsar.author.model import Model
from impulsar.author.parts import Motor
from impulsar.author.placing import frame_gap
from impulsar.author.profiles import Harmonic, Ramp
from impulsar.author.rotations import conjugate, multiply, quaternion, rotation_matrix
from impulsar.author.shapes import Box, Capsule, ConvexHull, Cylinder, Sphere

I3 = (1.0, 1.0, 1.0)
UNIT = (0.0, 0.0, 0.0, 1.0)
TURNED = tuple(np.array([0.1, -0.5, 0.3, 0.8]) / np.linalg.norm([0.1, -0.5, 0.3, 0.8]))
CORNERS = [(x, y, z) for x in (0, 2) for y in (0, 3) for z in (0, 4)]
inf, nan = math.inf, math.nan


def pair(**arm) -> Model:
    """A model of two bodies, arm and fore, in general positions."""
    model = Model()
    model.body("arm", **{"mass": 1, "inertia": I3, "position": (1, 2, 3), "orientation": TURNED, **arm})
    model.body("fore", mass=1, inertia=I3, position=(-1, 0, 2), orientation=tuple(-np.array(TURNED)[::-1]))
    return model


def test_rotations():
    """Quaternion, matrix and product agree: R(ab) = R(a)R(b), q(R(a)) = ±a, also at half turns."""
    a, b = np.array(TURNED), np.array([0.6, 0.0, -0.8, 0.0])
    for q in (a, b, np.array(UNIT), np.array([0.0, 1.0, 0.0, 0.0])):
        assert abs(quaternion(rotation_matrix(q)) @ q) == pytest.approx(1, abs=1e-15)
    product = rotation_matrix(a) @ rotation_matrix(b)
    np.testing.assert_allclose(rotation_matrix(multiply(a, b)), product, atol=1e-15)
    np.testing.assert_allclose(multiply(a, conjugate(a)), UNIT, atol=1e-15)


@pytest.mark.parametrize(
    ("shape", "volume", "inertia"),
    [
        (Box((2, 3, 4)), 24, (25 / 12, 20 / 12, 13 / 12)),
        (ConvexHull(CORNERS), 24, (25 / 12, 20 / 12, 13 / 12)),
        (Sphere(2), 32 / 3 * math.pi, (1.6, 1.6, 1.6)),
        (Cylinder(2, 6), 24 * math.pi, (4, 4, 2)),
    ],
)
def test_shape(shape, volume, inertia):
    """Closed forms for unit mass: box (b² + c²)/12, ball 2r²/5, cylinder r²/4 + l²/12 and r²/2."""
    assert shape.volume == pytest.approx(volume, rel=1e-14)
    np.testing.assert_allclose(shape.unit_inertia(), np.diag(inertia), rtol=1e-14, atol=1e-14)


def test_capsule():
    """By quadrature over discs: dI_zz = r²/2 dm, dI_xx = (r²/4 + z²) dm; and a short one is a ball."""
    r, length = 0.5, 2.0
    nodes, weights = np.polynomial.legendre.leggauss(8)  # exact: the integrands are polynomials of degree <= 5
    z, w = [], []
    for low, high in (
        (-length / 2 - r, -length / 2),
        (-length / 2, length / 2),
        (length / 2, length / 2 + r),
    ):
        z.append((low + high) / 2 + (high - low) / 2 * nodes)
        w.append((high - low) / 2 * weights)
    z, w = np.concatenate(z), np.concatenate(w)
    disc = r**2 - np.maximum(np.abs(z) - length / 2, 0) ** 2  # squared radius
    dm = math.pi * disc * w
    across, along = dm @ (disc / 4 + z**2), dm @ (disc / 2)
    shape = Capsule(r, length)
    assert shape.volume == pytest.approx(dm.sum(), rel=1e-14)
    np.testing.assert_allclose(shape.unit_inertia() * dm.sum(), np.diag([across, across, along]), rtol=1e-14)
    np.testing.assert_allclose(Capsule(r, 1e-12).unit_inertia(), Sphere(r).unit_inertia(), rtol=1e-11)


@pytest.mark.parametrize("given", [{"density": 0.5}, {"mass": 12}])
@pytest.mark.parametrize(
    "shape",
    [
        Box((2, 3, 4)),
        [Box((2, 3, 1), offset=(5, 0, 0.5)), Box((2, 3, 3), offset=(5, 0, 2.5))],
        [
            Box((2, 1, 4), offset=(0, -1, 0)),
            Box((4, 2, 2), offset=(0, 0.5, 0), orientation=(0, 0.5**0.5, 0, 0.5**0.5)),
        ],
        ConvexHull(CORNERS, offset=(7, 0, 0)),
    ],
)
def test_body_of_shapes(shape, given):
    """A box whole, in pieces, with a turned piece, and as a hull has the same mass, centre and inertia."""
    body = Model().body("b", shape=shape, position=(1, 2, 3), **given)
    assert body.mass == pytest.approx(12, rel=1e-14)
    np.testing.assert_allclose(body.inertia, np.diag((25, 20, 13)), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(body.position, (1, 2, 3))
    first_moment = sum(s.volume * (s.offset + rotation_matrix(s.orientation) @ s.center) for s in body.shapes)
    np.testing.assert_allclose(first_moment, 0, atol=1e-13)


def test_given_inertia_leaves_shapes_in_place():
    """With mass and inertia given, the origin is the author's, and shapes stay where they were put."""
    body = Model().body("b", mass=1, inertia=I3, shape=Box((1, 1, 1), offset=(0, 0, 2)))
    np.testing.assert_array_equal(body.shapes[0].offset, (0, 0, 2))
    tensor = [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]]
    np.testing.assert_array_equal(Model().body("b", mass=1, inertia=tensor).inertia, tensor)


AXES = {"axis": (0, 3, 4), "axis2": (2, 0, 0)}


@pytest.mark.parametrize("type", [name for name in CATALOGUE if name != "distance"])
@pytest.mark.parametrize("ends", [("ground", "arm"), ("arm", "fore"), ("fore", "ground")])
def test_frames_from_point_and_axes(type, ends):
    """Both frames are at the world point, z along axis, x along axis2; the frames meet."""
    model = pair()
    joint = model.joint("j", type, *ends, at=(5, 6, 7), **AXES, pitch=0.1 if type == "screw" else None)
    known = {"ground": model.ground, **model.bodies}
    for name, p, q in ((joint.first, joint.p_PF, joint.q_PF), (joint.second, joint.p_CM, joint.q_CM)):
        R_WF = rotation_matrix(multiply(known[name].orientation, q))
        np.testing.assert_allclose(known[name].world_point(p), (5, 6, 7), atol=1e-14)
        np.testing.assert_allclose(R_WF[:, 2], (0, 0.6, 0.8), atol=1e-15)
        np.testing.assert_allclose(R_WF[:, 0], (1, 0, 0), atol=1e-15)
    assert max(frame_gap(joint, known[ends[0]], known[ends[1]])) < 1e-14
    model.check()


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1e-300), (1, 1, 1), (1e200, 0, 1)])
def test_axis_alone(axis):
    """Without axis2, x is some perpendicular; without axis, frames are along the world's axes."""
    model = pair()
    R_WF = rotation_matrix(model.joint("j", "revolute", "ground", "arm", at=(0, 0, 0), axis=axis).q_PF)
    scaled = np.array(axis) / np.abs(axis).max()
    np.testing.assert_allclose(R_WF[:, 2], scaled / np.linalg.norm(scaled), atol=1e-15)
    np.testing.assert_array_equal(model.joint("s", "spherical", "ground", "arm", at=(0, 0, 0)).q_PF, UNIT)


def test_distance():
    """The length is the authored distance of the two points."""
    model = pair()
    joint = model.joint("rod", "distance", "arm", "fore", at=(0, 0, 0), at_b=(0, 3, 4))
    assert joint.length == pytest.approx(5, rel=1e-15)
    np.testing.assert_allclose(model.bodies["fore"].world_point(joint.p_CM), (0, 3, 4), atol=1e-14)


def about(axis: int, angle: float) -> tuple[float, ...]:
    q = [0.0, 0.0, 0.0, math.cos(angle / 2)]
    q[axis] = math.sin(angle / 2)
    return tuple(q)


@pytest.mark.parametrize(
    ("type", "position", "orientation", "gap"),
    [
        ("fixed", (0, 3e-3, 4e-3), about(1, 0.02), (5e-3, 0.02)),
        ("revolute", (0, 0, 0.1), about(2, 1.0), (0.1, 0)),
        ("revolute", (0, 0, 0), about(2, 3.0), (0, 0)),
        ("revolute", (0, 0, 0), about(0, math.pi), (0, math.pi)),
        ("prismatic", (0, 0, 5), about(2, 0.1), (0, 0.1)),
        ("cylindrical", (0.2, 0, 5), about(2, 1), (0.2, 0)),
        ("universal", (0, 0, 0), about(1, 0.3), (0, 0.3)),
        ("universal", (0, 0, 0), about(0, 0.3), (0, 0)),
        ("spherical", (0, 0, 1e-5), about(1, 2), (1e-5, 0)),
        ("planar", (1, 2, 0), about(0, 2e-6), (0, 2e-6)),
        ("screw", (0, 0, 0.05), about(2, 0.5), (0, 0)),
        ("screw", (0, 0, 0.06), about(2, 0.5), (0.01, 0)),
        ("pin-slot", (1, 2, 0), about(2, 1), (2, 0)),
        ("point-on-line", (3, 4, 9), about(1, 1), (5, 0)),
        ("point-on-plane", (3, 4, 9), about(1, 1), (9, 0)),
        ("free", (3, 4, 9), about(1, 1), (0, 0)),
    ],
)
def test_frames_meet_along_locked_directions(type, position, orientation, gap):
    """M displaced in F: only what the type locks counts, and the error says by how much."""
    model = Model()
    model.body("arm", mass=1, inertia=I3, position=position, orientation=orientation)
    frames = {"frame_a": ((0, 0, 0), UNIT), "frame_b": ((0, 0, 0), UNIT)}
    joint = model.joint("j", type, "ground", "arm", **frames, pitch=0.1 if type == "screw" else None)
    found = frame_gap(joint, model.ground, model.bodies["arm"])
    assert found == pytest.approx(gap, rel=1e-9, abs=1e-15)
    if max(gap) == 0:
        model.check()
        return
    with pytest.raises(ModelError) as caught:
        model.check()
    assert f"joint 'j': frames do not meet at the authored pose: {found[0]:.3g} m" in str(caught.value)
    assert f"{found[1]:.3g} rad" in str(caught.value) and "move body 'arm'" in str(caught.value)


def test_features_by_group():
    """Plain values for one group, dicts for several, cone and twist for a ball."""
    model = pair()
    at = {"at": (0, 0, 0)}
    hinge = model.joint("h", "revolute", "ground", "arm", **at, axis=(0, 1, 0), friction=0.02, limits=(-1, inf))
    assert (hinge.features["angle"].friction, hinge.features["angle"].limits) == (0.02, (-1, inf))
    ball = model.joint("b", "spherical", "arm", "fore", **at, limits={"swing": 0.5, "twist": (-1, 1)})
    assert (ball.features["rotation"].swing, ball.features["rotation"].limits) == (0.5, (-1, 1))
    limits = {"slide": (-1, 1), "rotation": {"swing": 0.5}}
    line = model.joint("l", "point-on-line", "arm", "fore", **at, axis=(1, 0, 0), limits=limits, viscous={"slide": 2})
    assert line.features["slide"].limits == (-1, 1) and line.features["rotation"].swing == 0.5
    assert (line.features["slide"].viscous, line.features["rotation"].viscous) == (2, 0)
    drive = Motor(speed=(0, 0, Ramp(0, 1, 0, 1)), max_torque=3)
    assert model.joint("m", "spherical", "ground", "fore", **at, motor=drive).features["rotation"].motor is drive
    model.check()


def test_other_parts():
    """Points are stored in their bodies' frames; a spring's free length is the authored distance."""
    model = pair()
    arm, fore = model.bodies["arm"], model.bodies["fore"]
    spring = model.spring("s", arm, model.ground, at_a=(0, 0, 0), at_b=(0, 3, 4), stiffness=40e3)
    assert spring.free_length == 5
    np.testing.assert_allclose(arm.world_point(spring.p_PQ), 0, atol=1e-15)
    np.testing.assert_array_equal(spring.p_CQ, (0, 3, 4))
    load = model.load("push", "fore", force=Harmonic((0, 0, 1), 2.0), torque=lambda t: (0, t, 0), at=(1, 1, 1))
    np.testing.assert_allclose(fore.world_point(load.p_BQ), 1, atol=1e-15)
    np.testing.assert_array_equal(model.load("own", arm).p_BQ, 0)
    np.testing.assert_allclose(arm.world_point(model.probe("tip", arm, at=(4, 5, 6)).p_BQ), (4, 5, 6), atol=1e-14)
    model.joint("h", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("c", "cylindrical", arm, fore, at=(0, 0, 0), axis=(0, 1, 0))
    rack = model.coupling("rack", "h", model.joints["c"], ratio=0.01, group_b="slide")
    assert (rack.joint_a, rack.group_a, rack.joint_b, rack.group_b) == ("h", "angle", "c", "slide")
    model.at(2.0, "any edit")
    assert model.script == [(2.0, "any edit")]
    model.check()


def body(**given):
    return lambda model: model.body("b", **{"mass": 1, "inertia": I3, **given})


def joint(type="revolute", first="ground", second="arm", **given):
    given = {"at": (0, 0, 0), "axis": (0, 0, 1), **given}
    return lambda model: model.joint("j", type, first, second, **given)


def frames(a=((0, 0, 0), UNIT), b=((0, 0, 0), UNIT), **given):
    return lambda model: model.joint("j", "revolute", "ground", "arm", frame_a=a, frame_b=b, **given)


def spring(**given):
    given = {"first": "arm", "second": "fore", "at_a": (0, 0, 0), "at_b": (1, 0, 0), "stiffness": 1, **given}
    return lambda model: model.spring("s", **given)


def coupling(a="hinge", b="tube", **given):
    def call(model):
        model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 0, 1))
        model.joint("tube", "cylindrical", "arm", "fore", at=(0, 0, 0), axis=(0, 0, 1))
        model.joint("ball", "spherical", "arm", "fore", at=(0, 0, 0))
        model.coupling("c", a, b, **given)

    return call


BODY, JOINT, CYL = "body 'b'", "joint 'j'", "cylindrical"
REFUSED = [
    # bodies
    (body(mass=-1), BODY, "mass is -1", "> 0 [kg]"),
    (body(mass=0), BODY, "mass is 0", "> 0 [kg]"),
    (body(mass=nan), BODY, "mass is nan", "finite number"),
    (body(mass=inf), BODY, "mass is inf", "finite number"),
    (body(mass=True), BODY, "mass is True", "finite number"),
    (body(mass="1"), BODY, "mass is '1'", "finite number"),
    (body(mass=None), BODY, "mass is None", "finite number"),
    (
        body(inertia=(1, 1, 3)),
        BODY,
        "(1, 1, 3)",
        "breaks the triangle inequality (Ixx + Iyy >= Izz); check units",
    ),
    (body(inertia=(3, 1, 1)), BODY, "(3, 1, 1)", "(Iyy + Izz >= Ixx); check units, expected kg m²"),
    (body(inertia=((2, 1, 0), (1, 2, 0), (0, 0, 5))), BODY, "(1, 3, 5)", "(I1 + I2 >= I3)"),
    (body(inertia=((2, 1, 0), (0, 2, 0), (0, 0, 3))), BODY, "((2, 1, 0), ", "not symmetric; give Ixy = Iyx"),
    (body(inertia=(0, 1, 1)), BODY, "(0, 1, 1)", "not positive definite; give principal values > 0"),
    (body(inertia=((1, 2, 0), (2, 1, 0), (0, 0, 1))), BODY, "(-1, 1, 3)", "not positive definite"),
    (body(inertia=(1, 1)), BODY, "(1, 1)", "expected 3 numbers or 3x3 numbers"),
    (body(inertia=(1, nan, 1)), BODY, "(1, nan, 1)", "finite numbers [kg m²]"),
    (body(inertia=2.0), BODY, "inertia is 2", "expected 3 numbers or 3x3"),
    (body(position=(0, 0)), BODY, "position is (0, 0)", "expected 3 numbers [m]"),
    (body(position=(0, 0, nan)), BODY, "position is (0, 0, nan)", "finite numbers [m]"),
    (body(position="here"), BODY, "position is 'here'", "expected 3 numbers"),
    (body(position=(0, 0, "1")), BODY, "position is (0, 0, '1')", "expected 3 numbers"),
    (body(position=(0, 0, True)), BODY, "position is (0, 0, True)", "expected 3 numbers"),
    (body(velocity=(inf, 0, 0)), BODY, "velocity is (inf, 0, 0)", "[m/s]"),
    (body(angular_velocity=3), BODY, "angular_velocity is 3", "[rad/s]"),
    (body(orientation=(0, 0, 0, 2)), BODY, "orientation has norm 2", "expected a unit quaternion xyzw"),
    (body(orientation=(0, 0, 0, 0)), BODY, "orientation has norm 0", "expected a unit quaternion xyzw"),
    (body(orientation=(0, 0, 1)), BODY, "orientation is (0, 0, 1)", "expected 4 numbers [xyzw]"),
    (body(shape="box"), BODY, "shape is 'box'", "Box(size)"),
    (body(shape=["box"], inertia=None), BODY, "shape is 'box'", "Box(size)"),
    (body(inertia=None), BODY, "has mass", "give mass and inertia, or shape and density"),
    (body(mass=None, inertia=None), BODY, "has nothing", "give mass and inertia"),
    (body(inertia=None, shape=Sphere(1), density=1), BODY, "has mass, shape, density", "or shape and mass"),
    (body(density=1000), BODY, "density is 1000", "give one of them"),
    (body(mass=None, inertia=None, shape=Sphere(1), density=-2), BODY, "density is -2", "> 0 [kg/m³]"),
    (lambda m: m.body("arm", mass=1, inertia=I3), "body 'arm'", "taken", "choose another"),
    (lambda m: m.body("ground", mass=1, inertia=I3), "body 'ground'", "reserved", "choose another"),
    (lambda m: m.body("", mass=1, inertia=I3), "body ''", "name is ''", "expected a string"),
    (lambda m: m.body(7, mass=1, inertia=I3), "body 7", "name is 7", "expected a string"),
    # joints: type, bodies, placement
    (joint("hinge"), JOINT, "'hinge'", "types are: fixed, revolute"),
    (joint("revolut"), JOINT, "'revolut'", "did you mean 'revolute'?"),
    (joint(3), JOINT, "no joint type 3", "types are: fixed"),
    (joint(second="amr"), JOINT, "no body named 'amr'", "did you mean 'arm'?"),
    (joint(second="wheel"), JOINT, "no body named 'wheel'", "known are: ground, arm, fore"),
    (joint(second=Model().body("arm", 1, I3)), JOINT, "'arm' is not of this model", "add it by model.body"),
    (joint(first="arm"), JOINT, "body 'arm' to itself", "give two bodies"),
    (lambda m: (joint()(m), joint()(m)), JOINT, "taken", "choose another"),
    (joint(at=None), JOINT, "at is None", "expected 3 numbers [m], or frame_a"),
    (joint(at=(0, 0, nan)), JOINT, "at is (0, 0, nan)", "finite numbers [m]"),
    (joint(axis=None), JOINT, "axis is None", "a revolute joint needs one"),
    (joint(axis=(0, 0, 0)), JOINT, "axis is (0, 0, 0)", "other than zero"),
    (joint(axis=(0, 0, inf)), JOINT, "axis is (0, 0, inf)", "finite numbers"),
    (joint("pin-slot"), JOINT, "axis2 is None", "slot's direction"),
    (joint("universal"), JOINT, "axis2 is None", "second shaft"),
    (joint("universal", axis2=(1, 0, 2e-6)), JOINT, "axis2 (1, 0, 2e-06)", "expected 90°"),
    (joint("universal", axis2=(0, 0, 0)), JOINT, "axis2 is (0, 0, 0)", "other than zero"),
    (joint(at_b=(1, 0, 0)), JOINT, "at_b is (1, 0, 0)", "a distance joint needs it, no other takes it"),
    (joint("distance", axis=None), JOINT, "at_b is None", "a distance joint needs it"),
    (joint("distance", at_b=(1, 0, 0)), JOINT, "axis is (0, 0, 1)", "remove it"),
    (joint("distance", axis=None, at_b=(0, 0, 0)), JOINT, "length from at to at_b is 0", "> 0 [m]"),
    (frames(b=None), JOINT, "frame_b is None", "expected (position, orientation xyzw)"),
    (frames(a=((0, 0, 0), (0, 0, 0, 3))), JOINT, "orientation of frame_a has norm 3", "unit quaternion"),
    (frames(b=((0, nan, 0), UNIT)), JOINT, "position of frame_b is (0, nan, 0)", "finite numbers"),
    (frames(at=(0, 0, 0)), JOINT, "both points and frames", "give at and axis, or the frames"),
    (joint("screw"), JOINT, "pitch is None", "other than 0 [m/rad]"),
    (joint("screw", pitch=0), JOINT, "pitch is 0", "use a revolute joint"),
    (joint(pitch=0.1), JOINT, "pitch is 0.1", "only screw joints have one; remove it"),
    (joint(loop="yes"), JOINT, "loop is 'yes'", "expected True, False or None"),
    # joints: features
    (joint(limits=(2, -2)), JOINT, "limits is (2, -2)", "lower <= upper [rad]"),
    (joint(limits=(nan, 1)), JOINT, "limits is nan", "lower <= upper [rad]"),
    (joint(limits=(inf, inf)), JOINT, "limits is (inf, inf)", "lower <= upper"),
    (joint(limits=1.0), JOINT, "limits is 1", "expected 2 numbers"),
    (joint(limits={"swing": 1}), JOINT, "limits is {'swing': 1}", "expected 2 numbers"),
    (joint(friction=-1), JOINT, "friction is -1", ">= 0 [N m]"),
    (joint("prismatic", friction=-1), JOINT, "friction is -1", ">= 0 [N]"),
    (joint(viscous=-1), JOINT, "viscous is -1", ">= 0 [N m s/rad]"),
    (joint(stiffness=-1), JOINT, "stiffness is -1", ">= 0 [N m/rad]"),
    (joint(damping=nan), JOINT, "damping is nan", ">= 0"),
    (joint(rest=inf), JOINT, "rest is inf", "finite number [rad]"),
    (joint(friction=True), JOINT, "friction is True", "finite number >= 0"),
    (joint(limit_restitution=1.1), JOINT, "limit_restitution is 1.1", "from 0 to 1"),
    (joint(limit_restitution=-0.1), JOINT, "limit_restitution is -0.1", "from 0 to 1"),
    (
        joint(CYL, friction=1),
        JOINT,
        "friction is 1",
        "several groups: slide, angle; give friction={'slide': ...}",
    ),
    (
        joint(CYL, friction={"turn": 1}),
        JOINT,
        "friction of 'turn'",
        "groups of a cylindrical joint: slide, angle",
    ),
    (joint(CYL, viscous={"slide": -3}), JOINT, "slide: viscous is -3", ">= 0 [N s/m]"),
    (joint("fixed", friction=1), JOINT, "friction is 1", "a fixed joint has none; remove it"),
    (joint("fixed", motor=Motor(speed=1)), JOINT, "motor is Motor(", "a fixed joint has none; remove it"),
    (
        joint("distance", axis=None, at_b=I3, limits=(0, 1)),
        JOINT,
        "limits is (0, 1)",
        "a distance joint has none",
    ),
    (joint("spherical", limits=(-1, 1)), JOINT, "limits is (-1, 1)", "{'swing': half angle, 'twist'"),
    (joint("spherical", limits={"swing": -1}), JOINT, "swing is -1", "a half angle > 0 [rad]"),
    (joint("spherical", limits={"twist": (1, 0)}), JOINT, "limits is (1, 0)", "lower <= upper [rad]"),
    (
        joint("spherical", limits={"cone": 1}),
        JOINT,
        "limits of 'cone'",
        "groups of a spherical joint: rotation",
    ),
    (joint("spherical", stiffness=1, rest=0.5), JOINT, "rest is 0.5", "give 0"),
    # motors
    (lambda m: Motor(), "motor", "none", "exactly one of speed, position and torque"),
    (lambda m: Motor(speed=1, torque=2), "motor", "speed=1, torque=2", "exactly one"),
    (lambda m: Motor(speed=1, max_torque=-1), "motor", "max_torque is -1", ">= 0"),
    (joint(motor=3), JOINT, "motor is 3", "expected a Motor(speed=...)"),
    (joint(motor=Motor(speed=nan)), JOINT, "nan", "finite number"),
    (joint(motor=Motor(speed=(1, 0, 0))), JOINT, "(1, 0, 0)", "expected a number, a profile or a callable"),
    (joint(motor=Motor(position=Ramp(None, 1, 0, 1))), JOINT, "start is None", "give a start"),
    (
        joint("spherical", motor=Motor(position=1)),
        JOINT,
        "motor position is 1",
        "give speed or torque as 3 numbers",
    ),
    (joint("spherical", motor=Motor(speed=1)), JOINT, "value is 1", "expected 3 numbers"),
    # springs, loads, probes, couplings, the model
    (spring(stiffness=-1), "spring 's'", "stiffness is -1", ">= 0 [N/m]"),
    (spring(damping=-1), "spring 's'", "damping is -1", ">= 0 [N s/m]"),
    (spring(free_length=nan), "spring 's'", "free_length is nan", ">= 0 [m]"),
    (spring(at_a=(0, 0)), "spring 's'", "at_a is (0, 0)", "expected 3 numbers [m]"),
    (spring(second="arm"), "spring 's'", "body 'arm' to itself", "give two bodies"),
    (spring(at_b=(0, 0, nan)), "spring 's'", "at_b is (0, 0, nan)", "finite numbers"),
    (
        spring(at_b=(0, 0, 0), free_length=0.1),
        "spring 's'",
        "free_length 0.1 m",
        "move at_b or give free_length=0",
    ),
    (lambda m: (spring()(m), spring()(m)), "spring 's'", "taken", "choose another"),
    (lambda m: m.load("l", "arm", force=(0, 1)), "load 'l'", "force: value is (0, 1)", "expected 3 numbers"),
    (lambda m: m.load("l", "arm", torque=(0, 0, nan)), "load 'l'", "torque: value: number is nan", "finite"),
    (lambda m: m.load("l", "arm", force=Harmonic(1, 1)), "load 'l'", "Harmonic has 1", "expected 3"),
    (lambda m: m.load("l", "arm", frame="link"), "load 'l'", "frame is 'link'", "'world' or 'body'"),
    (lambda m: m.load("l", "ground"), "load 'l'", "acts on 'ground'", "give another body"),
    (lambda m: m.load("l", "rm"), "load 'l'", "no body named 'rm'", "did you mean 'arm'?"),
    (lambda m: m.probe("p", "arm", at=(1, 2)), "probe 'p'", "at is (1, 2)", "expected 3 numbers [m]"),
    (coupling(group_b="slide", ratio=0), "coupling 'c'", "ratio is 0", "other than 0"),
    (coupling(), "coupling 'c'", "group is None", "can be coupled by: slide, angle"),
    (coupling(group_b="turn"), "coupling 'c'", "group is 'turn'", "can be coupled by: slide, angle"),
    (coupling(b="ball"), "coupling 'c'", "joint 'ball' (spherical)", "use a joint with a slide or an angle"),
    (coupling(b="hing"), "coupling 'c'", "no joint named 'hing'", "did you mean 'hinge'?"),
    (coupling(b="hinge"), "coupling 'c'", "angle of 'hinge' to itself", "give another"),
    (lambda m: m.at(-1, None), "model 'model'", "is -1", ">= 0 [s]"),
    (lambda m: Model("m", gravity=9.81), "model 'm'", "gravity is 9.81", "expected 3 numbers [m/s²]"),
    # shapes
    (lambda m: Box((1, -1, 1)), "Box", "size is (1, -1, 1)", "> 0 [m]"),
    (lambda m: Sphere(0), "Sphere", "radius is 0", "> 0 [m]"),
    (lambda m: Cylinder(1, nan), "Cylinder", "length is nan", "> 0 [m]"),
    (lambda m: Capsule("1", 1), "Capsule", "radius is '1'", "> 0 [m]"),
    (lambda m: Box(I3, offset=(0, 0)), "Box", "offset is (0, 0)", "expected 3 numbers"),
    (lambda m: Box(I3, orientation=(0, 0, 0, 2)), "Box", "norm 2", "unit quaternion xyzw"),
    (lambda m: ConvexHull(CORNERS[:4]), "ConvexHull", "4 points without volume", "not flat"),
    (lambda m: ConvexHull(CORNERS[:3]), "ConvexHull", "3 points without volume", "4 or more"),
    (lambda m: ConvexHull([]), "ConvexHull", "0 points", "4 or more"),
    (lambda m: ConvexHull([(0, 0, nan)]), "ConvexHull", "points[0] is (0, 0, nan)", "finite"),
]


@pytest.mark.parametrize(("call", "name", "value", "cure"), REFUSED, ids=[f"{r[1]} {r[2]}" for r in REFUSED])
def test_refused_at_once(call, name, value, cure):
    """One line: the part's name, the value, the cure; and nothing is added to the model."""
    model = pair()
    with pytest.raises(ModelError) as caught:
        call(model)
    text = str(caught.value)
    assert text.startswith(name) and value in text and cure in text and "\n" not in text, text
    assert list(model.bodies) == ["arm", "fore"]
    if "the name is taken" not in text:
        assert "j" not in model.joints
        assert not (model.springs or model.loads or model.probes or model.couplings)


def full() -> Model:
    """One part of every kind."""
    model = pair()
    model.joint("j", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("k", "revolute", "arm", "fore", at=(0, 0, 1), axis=(0, 1, 0))
    model.spring("s", "arm", "fore", (0, 0, 0), (1, 0, 0), stiffness=1)
    model.load("l", "arm")
    model.probe("p", "arm", (0, 0, 0))
    model.coupling("c", "j", "k")
    return model


@pytest.mark.parametrize(
    ("part", "field", "value", "text"),
    [
        ("bodies arm", "mass", -1, "body 'arm': mass is -1"),
        ("bodies arm", "inertia", (1, 1, 3), "body 'arm': inertia (1, 1, 3) breaks"),
        ("bodies arm", "orientation", (0, 0, 0, 2), "body 'arm': orientation has norm 2"),
        ("bodies arm", "name", "leg", "body 'arm': is renamed 'leg'; add a new body"),
        (
            "bodies fore",
            "position",
            (-1, 0, 2.5),
            "joint 'k': frames do not meet at the authored pose: 0.5 m",
        ),
        ("joints j", "type", "ball", "joint 'j': no joint type 'ball'"),
        ("joints j", "type", "prismatic", "joint 'j': features of angle, expected those of slide"),
        ("joints j", "second", "amr", "joint 'j': no body named 'amr'; did you mean 'arm'?"),
        ("joints j", "pitch", 1, "joint 'j': pitch is 1"),
        ("springs s", "stiffness", nan, "spring 's': stiffness is nan"),
        ("springs s", "first", "fore", "spring 's': goes from body 'fore' to itself"),
        ("loads l", "body", "ground", "load 'l': acts on 'ground'"),
        ("loads l", "force", "up", "load 'l': force: value is 'up'"),
        ("probes p", "body", "", "probe 'p': no body named ''"),
        ("probes p", "p_BQ", (0, nan, 0), "probe 'p': at is (0, nan, 0)"),
        ("couplings c", "joint_b", "x", "coupling 'c': no joint named 'x'; known are: j, k"),
        ("couplings c", "group_b", "slide", "coupling 'c': group is 'slide'"),
        ("ground", "position", np.ones(3), "body 'ground': was moved"),
        ("", "gravity", (0, 0, nan), "model 'model': gravity is (0, 0, nan)"),
    ],
)
def test_check_sees_later_edits(part, field, value, text):
    """Parts are plain data: whatever was written into them since, check() tells."""
    model = full()
    model.check()
    kind, _, name = part.partition(" ")
    target = getattr(model, kind) if kind else model
    setattr(target[name] if name else target, field, value)
    with pytest.raises(ModelError) as caught:
        model.check()
    assert str(caught.value).startswith(text), caught.value


def test_spring_of_no_length():
    """Coincident ends need no direction where the free length is zero."""
    model = pair()
    spring(at_b=(0, 0, 0))(model)
    assert model.springs["s"].free_length == 0
    model.check()


def test_check_makes_arrays():
    """Sequences written into a body are arrays after check()."""
    model = full()
    model.bodies["arm"].velocity = [1, 2, 3]
    model.check()
    assert model.bodies["arm"].velocity.dtype == float


def test_no_warp_needed():
    """Authoring imports neither Warp nor SciPy, whatever the package's own __init__ does."""
    code = (
        "import sys, types; package = types.ModuleType('impulsar');"
        f"package.__path__ = [{str(Path(impulsar.author.model.__file__).parents[1])!r}];"
        "sys.modules['impulsar'] = package; import impulsar.author.model;"
        "sys.exit('warp' in sys.modules or 'scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
