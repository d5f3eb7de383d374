"""Models back in robots' formats: read again they move alike, and MuJoCo agrees."""

from xml.etree import ElementTree

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.author.rotations import conjugate, multiply, rotation_matrix
from impulsar.author.visuals import Visual
from impulsar.cli import main
from impulsar.io.export.mjcf import to_mjcf
from impulsar.io.export.sdf import to_sdf
from impulsar.io.export.urdf import to_urdf


def tree(*types: str, spring: bool = False) -> im.Model:
    """A chain of bodies of no symmetry on joints of these types, every second one joined from its own side."""
    rng = np.random.default_rng(len(types))
    model = im.Model("tree")
    before, at = model.ground, np.zeros(3)
    for k, type in enumerate(types):
        turn = rng.normal(size=4)
        body = model.body(
            f"b{k}", mass=1.0 + k, inertia=np.diag([0.1, 0.12, 0.05]) + 0.01, position=at + rng.normal(size=3) / 3,
            orientation=turn / np.linalg.norm(turn), shape=im.Box(size=(0.1, 0.2, 0.3)),
        )  # fmt: skip
        axis = rng.normal(size=3)
        axes = {} if type in ("spherical", "fixed") else {"axis": axis}
        if type in ("universal", "pin-slot"):
            axes["axis2"] = np.cross(axis, rng.normal(size=3))
        features = {"viscous": 0.3} if type in ("revolute", "prismatic") else {}
        ends = (before, body) if k % 2 == 0 else (body, before)
        model.joint(f"j{k}", type, *ends, at=at + rng.normal(size=3) / 3, **axes, **features)
        before, at = body, at + rng.normal(size=3) / 2
    if spring:
        model.spring("s", model.ground, before, at_a=(1, 1, 1), at_b=before.position, stiffness=20.0, damping=0.4,
                     free_length=0.3)  # fmt: skip
    return model


def at_random(world: im.World, seed: int) -> dict:
    """Poses and twists of a world after a random push."""
    rng = np.random.default_rng(seed)
    names = list(world.model.bodies)
    push = {name: {"velocity": rng.normal(size=3), "angular_velocity": 2 * rng.normal(size=3)} for name in names}
    world.apply(edits.SetState(push))
    for _ in range(40):
        world.step()
    return {
        name: {what: np.array(getattr(world.body(name), what)) for what in
               ("position", "orientation", "velocity", "angular_velocity")} for name in names
    }  # fmt: skip


def accelerations(world: im.World) -> dict[str, np.ndarray]:
    found = world.runner.bench.instant.read()[0]
    return {name: found[i, 0].copy() for name, i in world.runner.system.body_index.items()}


def compare(model: im.Model, back: im.Model, bound: float = 1e-9) -> None:
    """The same accelerations of all bodies at the same random states."""
    for seed in (1, 2):
        one, two = im.World(model, dt=0.005), im.World(back, dt=0.005)
        state = at_random(one, seed)
        for world in (one, two):  # which takes out of the velocities what the step left of the joints
            world.apply(edits.SetState(state))
        mine, theirs = accelerations(one), accelerations(two)
        scale = max(np.abs(a).max() for a in mine.values())
        for name, a in mine.items():
            assert np.abs(theirs[name] - a).max() < bound * scale, (seed, name)


TREES = [("revolute", "prismatic", "universal"), ("planar", "cylindrical"), ("pin-slot", "revolute", "revolute")]


@pytest.mark.parametrize("types", TREES)
def test_mjcf_and_urdf_read_again(types, tmp_path):
    """A tree of joints of several freedoms, in both directions, has the same accelerations when it is read again."""
    model = tree(*types)
    for name, text in (("a.xml", to_mjcf(model, 0.001)[0]), ("a.urdf", to_urdf(model)[0])):
        (tmp_path / name).write_text(text)
        compare(model, im.load(tmp_path / name))


def test_sdf_read_again(tmp_path):
    model = tree("revolute", "prismatic", "spherical", "universal")
    (tmp_path / "a.sdf").write_text(to_sdf(model)[0])
    compare(model, im.load(tmp_path / "a.sdf"))


def test_balls_and_free_bodies_read_again(tmp_path):
    model = tree("spherical", "revolute")
    model.body("loose", mass=0.5, inertia=(0.1, 0.2, 0.25), position=(2, 1, 0))
    (tmp_path / "a.xml").write_text(to_mjcf(model, 0.001)[0])
    compare(model, im.load(tmp_path / "a.xml"))


@pytest.mark.parametrize("scene", ["four-bar", "peaucellier"])
def test_loops_read_again(scene, tmp_path):
    """Hinges that close loops: as two points in MJCF, <loop_joint> in URDF, a joint like others in SDF."""
    model = im.scene(scene)
    for joint in model.joints.values():
        for features in joint.features.values():
            features.motor = None
    forms = {"a.xml": to_mjcf(model, 0.001)[0], "a.sdf": to_sdf(model)[0], "a.urdf": to_urdf(model)[0]}
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        back = im.load(tmp_path / name)
        back.gravity = model.gravity  # which URDF does not have
        compare(model, back)


def test_couplings_read_again(tmp_path):
    model = tree("revolute", "revolute", "prismatic")
    model.coupling("gear", "j0", "j1", ratio=-2.0)
    for name, text in (("a.xml", to_mjcf(model, 0.001)[0]), ("a.urdf", to_urdf(model)[0]), ("a.sdf", to_sdf(model)[0])):
        (tmp_path / name).write_text(text)
        back = im.load(tmp_path / name)
        assert len(back.couplings) == 1
        compare(model, back)


def test_couplings_of_both_shafts_and_probes_in_sdf(tmp_path):
    """A universal joint whose second shaft leads a slide, joined from its own side; a probe comes back where it was."""
    model = tree("prismatic", "universal")
    model.coupling("cam", "j1", "j0", ratio=0.3, group_a="second")
    model.probe("tip", "b1", at=(0.3, 0.2, 0.1))
    text, report = to_sdf(model)
    assert not report.losses
    (tmp_path / "a.sdf").write_text(text)
    back = im.load(tmp_path / "a.sdf", strict=True)
    compare(model, back)
    assert np.abs(back.probes["tip"].p_BQ - model.probes["tip"].p_BQ).max() < 1e-14
    model.coupling("sum", {"j0": 1.0, "j1.first": 2.0, "j1.second": 1.0})
    with pytest.raises(ModelError, match="coupling 'sum': SDF has no counterpart of a coupling but of two axes"):
        to_sdf(model)


def test_motors_read_again_from_mjcf(tmp_path):
    """Servos with gains, gear and bound, a torque behind a gear: at no signal the same accelerations; rigid ones are
    listed."""
    motors = {
        "j0": im.Motor(position=0.0, kp=30.0, kv=2.0, gear=3.0, max_torque=9.0),
        "j1": im.Motor(speed=0.0, kv=5.0, gear=-2.0),
        "j2": im.Motor(torque=0.0, gear=4.0, max_torque=2.0),
    }
    model = tree("revolute", "prismatic", "revolute")
    for name, motor in motors.items():
        (features,) = model.joints[name].features.values()
        features.motor = motor
    (tmp_path / "a.xml").write_text(to_mjcf(model, 0.001)[0])
    back = im.load(tmp_path / "a.xml", strict=True)
    for name, motor in motors.items():
        (features,) = back.joints[name].features.values()
        assert vars(features.motor) == vars(motor)
    compare(model, back)
    model.joints["j0"].features["angle"].motor = im.Motor(position=0.0)
    text, report = to_mjcf(model, 0.001)
    assert "j0 motor" not in text
    assert "joint 'j0' angle: its motor (position) is not written" in str(report)


def test_mujoco_agrees(tmp_path):
    """MuJoCo's accelerations of the centres of mass on a tree with a spring, within 1e-9."""
    mujoco = pytest.importorskip("mujoco")
    model = tree("revolute", "universal", "prismatic", "spherical", spring=True)
    world = im.World(model, dt=0.005)
    at_random(world, 5)
    there = mujoco.MjModel.from_xml_string(to_mjcf(model, 0.001)[0])
    data = mujoco.MjData(there)
    coordinates = dict(
        zip(world.runner.readout.coordinates, zip(*world.runner.readout.freedoms(), strict=True), strict=True)
    )
    for k in range(there.njnt):
        name = mujoco.mj_id2name(there, mujoco.mjtObj.mjOBJ_JOINT, k)
        q, v = there.jnt_qposadr[k], there.jnt_dofadr[k]
        if there.jnt_type[k] == mujoco.mjtJoint.mjJNT_BALL:
            body = there.jnt_bodyid[k]
            parent = mujoco.mj_id2name(there, mujoco.mjtObj.mjOBJ_BODY, there.body_parentid[body])
            child = world.body(mujoco.mj_id2name(there, mujoco.mjtObj.mjOBJ_BODY, body))
            q_PL = np.roll(there.body_quat[body], -1)
            turn = multiply(conjugate(multiply(world.body(parent).orientation, q_PL)), child.orientation)
            data.qpos[q : q + 4] = np.roll(turn, 1)
            spin = child.angular_velocity - world.body(parent).angular_velocity
            data.qvel[v : v + 3] = rotation_matrix(child.orientation).T @ spin
        else:
            data.qpos[q], data.qvel[v] = (float(one[0]) for one in coordinates[name])
    mujoco.mj_forward(there, data)
    mujoco.mj_rnePostConstraint(there, data)
    mine = accelerations(world)
    scale = max(np.abs(a).max() for a in mine.values())
    for k in range(1, there.nbody):
        found = np.zeros(6)
        mujoco.mj_objectAcceleration(there, data, mujoco.mjtObj.mjOBJ_BODY, k, found, 0)
        found[3:] += there.opt.gravity
        name = mujoco.mj_id2name(there, mujoco.mjtObj.mjOBJ_BODY, k)
        assert np.allclose(data.xipos[k], world.body(name).position, atol=1e-12)
        assert np.abs(found - mine[name]).max() < 1e-9 * scale, name


@pytest.mark.parametrize("scene, freedoms", [("slider-crank", 3), ("manipulator", 8)])
def test_pinocchio_reads_urdf(scene, freedoms, tmp_path):
    """Slides without limits and capsules, as urdfdom wants them: all links with their shapes and masses; read again
    here, such a slide has no limits."""
    pin = pytest.importorskip("pinocchio")
    model, path = im.scene(scene), tmp_path / "a.urdf"
    path.write_text(to_urdf(model)[0])
    there, _, seen = pin.buildModelsFromUrdf(str(path))
    capsules = sum(isinstance(shape, im.Capsule) for body in model.bodies.values() for shape in body.shapes)
    assert capsules and seen.ngeoms == 2 * capsules + sum(len(body.shapes) for body in model.bodies.values())
    assert there.nv == freedoms
    at = pin.neutral(there)
    assert pin.computeTotalMass(there) == pytest.approx(sum(body.mass for body in model.bodies.values()))
    mine = sum(body.mass * np.array(body.position) for body in model.bodies.values())
    centre = pin.centerOfMass(there, there.createData(), at) * pin.computeTotalMass(there)
    assert np.abs(centre - mine).max() < 1e-9
    for joint in im.load(path).joints.values():
        if joint.name in model.joints:
            assert [f.limits for f in joint.features.values()] == [
                f.limits for f in model.joints[joint.name].features.values()
            ]


def test_names_in_sdf_are_its_own():
    """No two things that a link has share a name in SDF, and none has a name that it keeps."""
    model = tree("revolute", "prismatic")
    eyes = [Visual(im.Sphere(0.1), name="eye"), Visual(im.Sphere(0.2), name="eye")]
    model.body("b2", mass=1.0, inertia=(1, 1, 1), visual=eyes)
    root = ElementTree.fromstring(to_sdf(model)[0])
    assert root.find("world").get("name") != "world"
    for holder in (root.find("world/model"), *root.iter("link")):
        names = [one.get("name") for one in holder if one.get("name")]
        assert len(set(names)) == len(names)
    world = im.Model("m")
    world.body("world", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="keeps for itself"):
        to_sdf(world)


def test_what_does_not_fit_is_refused_or_listed(tmp_path, capsys):
    """Another mechanism is refused; what acts on it and is not written is listed, and refused where strict."""
    loop = im.scene("slider-crank")
    with pytest.raises(ModelError, match=r"prismatic|pin-slot|cylindrical"):
        to_mjcf(loop, 0.001)
    model = tree("revolute")
    model.load("push", "b0", force=(1, 0, 0))
    _, report = to_mjcf(model, 0.001)
    assert [str(note) for note in report] == ["ignored: load 'push': has no counterpart"]
    out = str(tmp_path / "a.urdf")
    assert main(["export", "peaucellier", "--to", "urdf", "--out", out, "--strict"]) == 2
    assert "strict" in capsys.readouterr().err
    assert main(["export", "peaucellier", "--to", "urdf", "--out", out]) == 0
    assert "motor" in capsys.readouterr().out
