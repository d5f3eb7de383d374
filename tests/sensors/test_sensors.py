"""What sensors measure, against closed forms and another ray caster; as parts: files, edits, results, controllers."""

import json
import math

import numpy as np
import pytest

import impulsar as im
from impulsar.io.codec import model_from_json, model_to_json
from impulsar.io.python import model_to_python
from impulsar.observe.rays import Rays

from ..control.pendulum import K, leaning, pendulum

S = im.sensors


def test_imu_of_an_arm_that_turns():
    """f = (-ω² r, 0, g) and ω at a lever arm r of an arm turning about the vertical."""
    model = im.Model("arm")
    model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0, 0))
    model.joint("pin", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 0, 1), motor=im.Motor(speed=4.0))
    model.sensor("imu", S.Imu("arm", (0.2, 0.0, 0.05)))
    quarter = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))
    model.sensor("turned", S.Imu("arm", (0.2, 0.0, 0.05), orientation=quarter))
    world = im.World(model, dt=0.01)
    world.step(37)
    f, g = 16.0 * 0.5, 9.81
    assert world.sensor("imu").value == pytest.approx([-f, 0, g, 0, 0, 4.0], abs=1e-9)
    assert world.sensor("turned").value == pytest.approx([0, f, g, 0, 0, 4.0], abs=1e-9)


def test_imu_of_a_pendulum_and_in_free_fall():
    """A pendulum of length l at θ: along the rod g cos θ + ω² r, across (g - r g l / k²) sin θ; falling, nothing."""
    model = im.Model("swing")
    model.body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-6), position=(0, 0, -0.5))
    model.body("stone", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(3, 0, 0), angular_velocity=(1, 2, 3))
    model.joint("pin", "revolute", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0))
    model.sensor("tip", S.Imu("rod", (0, 0, -0.5)))
    model.sensor("falls", S.Imu("stone"))
    world = im.World(model, dt=0.01, rtol=1e-10, atol=1e-10)
    world.apply(im.edits.SetState({"rod": {"position": (-0.5 * math.sin(1), 0, -0.5 * math.cos(1)),
                                           "orientation": (0, math.sin(0.5), 0, math.cos(0.5))}}))  # fmt: skip
    world.step(40)
    q, w, g = world.joint("pin").position, world.joint("pin").velocity, 9.81
    across = g * math.sin(q) - 1.0 * (0.5 * g * math.sin(q)) / (1 / 3)
    found = world.sensor("tip").value
    assert abs(found[0]) == pytest.approx(abs(across), rel=1e-6)
    assert found[2] == pytest.approx(g * math.cos(q) + w**2, rel=1e-6)
    assert world.sensor("falls").value[:3] == pytest.approx([0, 0, 0], abs=1e-9)


def test_force_and_torque_at_a_joint():
    """A rod welded to a wall is held by its weight, and by weight times arm; in its own axes too."""
    model = im.Model("beam")
    half = math.sqrt(0.5)
    model.body("beam", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), orientation=(half, 0, 0, half))
    model.joint("weld", "fixed", "ground", "beam", at=(0, 0, 0))
    model.sensor("own", S.ForceTorque("weld"))
    model.sensor("world", S.ForceTorque("weld", frame="world"))
    world = im.World(model)
    world.step(2)
    weight = 2.0 * 9.81
    assert world.sensor("world").value == pytest.approx([0, 0, weight, 0, -weight * 0.5, 0], abs=1e-9)
    assert world.sensor("own").value == pytest.approx([0, weight, 0, 0, 0, weight * 0.5], abs=1e-9)


def test_force_and_torque_at_a_point():
    """The torque about Q is that about the joint and p_QM × f; a point that moves the torque by half the weight."""
    model = im.Model("beam")
    half = math.sqrt(0.5)
    model.body("beam", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), orientation=(half, 0, 0, half))
    model.joint("weld", "fixed", "ground", "beam", at=(0, 0, 0))
    for frame in ("body", "world"):
        model.sensor(frame, S.ForceTorque("weld", at=(0.5, 0, 0), frame=frame))
    world = im.World(model_from_json(json.loads(json.dumps(model_to_json(model)))))
    world.step(2)
    weight = 2.0 * 9.81
    assert world.sensor("world").value == pytest.approx([0, 0, weight, 0, weight * 0.5, 0], abs=1e-9)
    assert world.sensor("body").value == pytest.approx([0, weight, 0, 0, 0, -weight * 0.5], abs=1e-9)


def test_a_cut_through_a_beam_transmits_shear_and_moment():
    """A level beam of length L and weight w by length, cut at x by a fixed joint: w (L - x) and w (L - x)² / 2."""
    model, length, w = im.Model("cut"), 1.2, 30.0
    cuts = (0.0, 0.3, 0.8)
    before = "ground"
    for x, end in zip(cuts, (*cuts[1:], length), strict=True):
        mass, long = w * (end - x) / 9.81, end - x
        inertia = (1e-4, mass * long**2 / 12, mass * long**2 / 12)
        model.body(f"piece {x}", mass=mass, inertia=inertia, position=((x + end) / 2, 0, 0))
        model.joint(f"cut {x}", "fixed", before, f"piece {x}", at=(x, 0, 0))
        model.sensor(f"cell {x}", S.ForceTorque(f"cut {x}"))
        before = f"piece {x}"
    world = im.World(model)
    world.step(2)
    for x in cuts:
        expected = [0, 0, w * (length - x), 0, -w * (length - x) ** 2 / 2, 0]
        assert world.sensor(f"cell {x}").value == pytest.approx(expected, abs=1e-9)


def test_switches():
    """A ball falls on the floor: a ray from it is cut before it touches."""
    model = im.Model("ball")
    ball = im.Sphere(0.1)
    model.body("ball", mass=1.0, inertia=(0.004,) * 3, position=(0, 0, 0.5), shape=ball, material="rubber")
    model.material("rubber", friction=0.5)
    model.obstacle("floor", im.Plane(), material="rubber")
    down = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
    model.sensor("near", S.Proximity("ball", orientation=down, distance=0.25))
    model.sensor("touch", S.Touch("ball", threshold=1.0))
    world = im.World(model, dt=0.01)
    for _ in range(60):
        world.step()
        assert world.sensor("near").value == float(world.body("ball").position[2] < 0.25)
    assert world.sensor("touch").value == 1.0
    assert world.body("ball").position[2] == pytest.approx(0.1, abs=1e-4)


# rays -------------------------------------------------------------------------------------------------


def directions(count: int, seed: int) -> np.ndarray:
    d = np.random.default_rng(seed).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1, keepdims=True)


def shapes_world(**shapes) -> im.World:
    model = im.Model("shapes")
    model.body("far", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1000))
    for k, (name, shape) in enumerate(shapes.items()):
        model.obstacle(name, shape, position=(2.0 * k, 0.3, -0.2), orientation=(0.1, -0.3, 0.2, math.sqrt(0.86)))
    return im.World(model)


def test_lidar_beside_another_ray_caster():
    """1e4 rays from inside a rough closed mesh, a box and a hull: as trimesh's to 1e-9 of the distance."""
    import trimesh

    rng = np.random.default_rng(1)
    rough = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
    rough.vertices *= 1.0 + 0.2 * rng.random((len(rough.vertices), 1))
    points = rng.normal(size=(30, 3)) * 0.3
    shapes = {
        "mesh": im.Mesh(np.asarray(rough.vertices), np.asarray(rough.faces)),
        "box": im.Box((0.5, 0.9, 0.7)),
        "hull": im.ConvexHull(points),
    }
    world = shapes_world(**shapes)
    places = [world.model.obstacles[name] for name in shapes]
    meshes = [rough.copy(), trimesh.creation.box((0.5, 0.9, 0.7)), trimesh.convex.convex_hull(points)]
    for part, mesh in zip(places, meshes, strict=True):
        x, y, z, w = part.orientation
        turn = trimesh.transformations.quaternion_matrix((w, x, y, z))
        turn[:3, 3] = part.position
        mesh.apply_transform(turn)
    p, d = np.tile([-3.0, 0.1, 0.05], (10_000, 1)), directions(10_000, 2)
    d[:, 0] = np.abs(d[:, 0]) * 3.0  # towards them
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    found, normal = Rays(world.runner.bench).cast(p[:, None], d[:, None])
    every = trimesh.util.concatenate(meshes)
    at, ray, _ = every.ray.intersects_location(p, d, multiple_hits=True)
    expected = np.full(len(p), np.inf)
    np.minimum.at(expected, ray, np.linalg.norm(at - p[ray], axis=1))
    struck = np.isfinite(expected)
    assert 3000 < struck.sum() < 9900
    off_edge = struck == np.isfinite(found[:, 0])
    assert (~off_edge).sum() <= 3  # rays along an edge
    both = struck & off_edge
    assert np.abs(found[both, 0] / expected[both] - 1.0).max() < 1e-9
    assert (np.einsum("ij,ij->i", normal[both, 0], d[both]) < 0.0).all()


SURFACES = {
    "sphere": (im.Sphere(0.4), lambda x: np.linalg.norm(x, axis=-1) - 0.4),
    "box": (im.Box((0.4, 0.6, 0.8)), lambda x: (np.abs(x) - (0.2, 0.3, 0.4)).max(axis=-1)),
    "cylinder": (
        im.Cylinder(0.3, 0.8),
        lambda x: np.maximum(np.hypot(x[..., 0], x[..., 1]) - 0.3, np.abs(x[..., 2]) - 0.4),
    ),
    "capsule": (
        im.Capsule(0.2, 0.6),
        lambda x: (
            np.linalg.norm(np.stack([x[..., 0], x[..., 1], np.maximum(np.abs(x[..., 2]) - 0.3, 0)]), axis=0) - 0.2
        ),
    ),
    "cone": (
        im.Cone(0.3, 0.8),
        lambda x: np.maximum(-x[..., 2] - 0.4, np.hypot(x[..., 0], x[..., 1]) - 0.3 / 0.8 * (0.4 - x[..., 2])),
    ),
}


@pytest.mark.parametrize("name", SURFACES)
def test_each_shape_is_struck_where_its_surface_is(name):
    """The point is on the surface, and the way to it is outside (or, from within, inside); who misses never enters."""
    from impulsar.author.rotations import conjugate, rotate_all

    shape, surface = SURFACES[name]
    world = shapes_world(one=shape)
    part = world.model.obstacles["one"]
    for start, sign in ((np.array([-1.2, 0.2, 0.4]), 1.0), (part.position + 0.01, -1.0)):
        p, d = np.tile(start, (3000, 1)), directions(3000, 3)
        if sign > 0:
            d = part.position - start + 0.7 * d  # most of them towards it
            d /= np.linalg.norm(d, axis=1, keepdims=True)
        s = Rays(world.runner.bench).cast(p[:, None], d[:, None])[0][:, 0]

        def at(s, p=p, d=d):
            return surface(rotate_all(conjugate(part.orientation), p + s[:, None] * d - part.position))

        hit = np.isfinite(s)
        assert hit.all() if sign < 0 else 100 < hit.sum() < 2900
        assert np.abs(at(np.where(hit, s, 0.0))[hit]).max() < 1e-12
        for part_of in np.linspace(0.001, 0.999, 60):
            way = at(part_of * np.where(hit, s, 4.0))
            assert (sign * way > -1e-12).all()


def test_lidar_follows_its_body_and_has_a_reach():
    """A wall at x = 3: d = (3 - x) / cos(angle); own shapes are not seen; a batch has rows."""
    model = im.Model("robot", gravity=(0, 0, 0))
    model.body("robot", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0), shape=im.Box((0.4, 0.4, 0.4)))
    model.obstacle("wall", im.Plane(orientation=(0, -math.sqrt(0.5), 0, math.sqrt(0.5))), position=(3, 0, 0))
    az = (-1.4, -0.5, 0.0, 0.5, 2.0)
    model.sensor("scan", S.Lidar("robot", (0.1, 0, 0), azimuths=az, reach=10.0, rate=100.0))
    for worlds in (1, 2):
        world = im.World(model, dt=0.01, worlds=worlds)
        world.step(50)
        expected = [2.4 / math.cos(a) if 0 < 2.4 / math.cos(a) < 10 else math.inf for a in az]
        for row in np.atleast_2d(world.sensor("scan").value):
            assert row == pytest.approx(expected, rel=1e-12)


# as parts -----------------------------------------------------------------------------------------------


def equipped() -> im.Model:
    model = pendulum()
    model.sensor("imu", S.Imu("rod 2", (0, 0, 0.25), noise=(0.1, 0.01)))
    model.sensor("encoder", S.Encoder("q1", counts=4096, latency=0.002))
    model.sensor("scan", S.Lidar("rod 2", azimuths=(0.0, 1.0), elevations=(0.0, 0.1)))
    model.sensor("gps", S.Gps("rod 1", heading=0.3))
    model.sensor("force", S.ForceTorque("q2"))
    model.sensor("touch", S.Touch("rod 1"))
    model.sensor("near", S.Proximity("rod 1", distance=0.3))
    return model


def test_files_and_scripts_bring_sensors_back():
    model = equipped()
    data = json.loads(json.dumps(model_to_json(model)))
    assert model_to_json(model_from_json(data)) == data
    scope: dict = {"im": im, "np": np}
    exec(model_to_python(model), scope)
    assert model_to_json(scope["model"]) == data
    data["sensors"][0]["sensor"]["sensor"] = "nose"
    with pytest.raises(ValueError, match="expected one of encoder, imu"):
        model_from_json(data)


def test_edits_add_change_rename_and_remove():
    world = im.World(pendulum(), dt=0.01)
    world.add("sensor", "imu", sensor=S.Imu("rod 2", noise=0.1))
    world.step(3)
    before = world.sensor("imu").value
    world.set("imu.noise", 0.0)
    assert np.array_equal(world.sensor("imu").value, before)  # what it has sampled stays
    world.step()
    assert world.sensor("imu").value[4] == pytest.approx(world.body("rod 2").angular_velocity[1], abs=1e-9)
    world.apply(im.edits.Rename("rod 2", "upper"))
    assert world.model.sensors["imu"].sensor.body == "upper"
    answer = world.remove("body", "upper")
    assert "sensor 'imu'" in answer.text and not world.model.sensors
    with pytest.raises(im.EditError, match="no sensor named 'imu'"):
        world.sensor("imu")


def test_results_and_signals_have_channels():
    world = im.World(equipped(), dt=0.01)
    world.set("imu.noise", 0.0)
    result = world.run(0.1, progress=False)
    rate = result["sensor"].sel(channel="imu.rate.y").values
    assert rate[1:] == pytest.approx(result["angular_velocity"].sel(body="rod 2", axis="y").values[1:], abs=1e-9)
    assert "gps.satellites" in result["channel"].values
    found = world.run(0.1, variables=["sensor.value"], progress=False)
    assert list(found.data_vars) == ["sensor"]


@pytest.mark.filterwarnings("ignore::impulsar.world.control.ControlWarning")
@pytest.mark.parametrize("steps, holds", [(19, True), (20, False)])
def test_encoders_that_are_late_fail_where_theory_says(steps, holds):
    """LQR at 1 kHz by encoders: holds at 19 ms of latency, not at 20; till the first sample comes there are faults."""
    world = leaning()
    for name in ("q1", "q2"):
        world.add("sensor", f"e {name}", sensor=S.Encoder(name, tachometer=True, rate=1000.0, latency=steps * 1e-3))
    gain = K[:, [0, 2, 1, 3]]
    world.attach("lqr", lambda t, y: -gain @ y, rate=1000.0, reads=("e q1", "e q2"), writes=("q1.torque", "q2.torque"))
    world.step(4000)
    worst = 0.0
    for _ in range(200):
        world.step(10)
        worst = max(worst, *(abs(world.joint(name).position) for name in ("q1", "q2")))
    assert bool(worst < 1e-3) is holds
    assert world.controllers["lqr"].faults <= steps + 1


def test_a_sensor_of_another_package():
    from dataclasses import dataclass

    @dataclass(eq=False)
    class Height(S.Sensor):
        """Height of a body [m]."""

        body: str = ""

        def channels(self):
            return [S.Channel("", "m")]

        def reader(self, bench):
            row = bench.system.body_index[self.body]
            return lambda now: bench.read("p_WB")[row, :, 2][None]

    with pytest.raises(TypeError, match="expected a subclass"):
        S.SENSORS["bad"] = dict
    S.SENSORS["height"] = Height
    try:
        model = pendulum()
        model.sensor("h", Height("rod 2"))
        data = model_to_json(model)
        world = im.World(model_from_json(data), dt=0.01)
        world.step(5)
        assert world.sensor("h").value == pytest.approx(world.body("rod 2").position[2], rel=1e-12)
        Height.reader = lambda self, bench: lambda now: 1 / 0 if now.bench.state.read("time")[0, 0] > 0.005 else [[0.0]]
        world = im.World(model, dt=0.01)
        with pytest.raises(im.StepError, match=r"sensor 'h': its reader raised ZeroDivisionError.*remove it"):
            world.step()
        world.remove("sensor", "h")
        world.step()
    finally:
        del S.SENSORS["height"]
