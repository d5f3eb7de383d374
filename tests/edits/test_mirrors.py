"""Mirror images of mechanisms, and mechanisms moved as a whole.

The law: the equations of motion are invariant under reflections that leave gravity where it is, so that a mirrored
mechanism, started mirrored, moves as the mirror image. Positions and velocities of bodies are polar vectors,
H v with H = 1 - 2nnᵀ, angular velocities axial ones, -H w; energies are equal.
"""

import math
from typing import Any

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.mirrors import mirrored_shape
from impulsar.author.rotations import rotation_matrix
from impulsar.author.shapes import Shape, compose

CLOSE = 1e-9  # of the law
POINT = (0.3, -0.2, 0.1)  # of the plane
NORMAL = np.array([0.8, 0.6, 0.0])  # across gravity
H = np.eye(3) - 2 * np.outer(NORMAL, NORMAL)


def image(p: Any) -> np.ndarray:
    return np.asarray(POINT) + H @ (np.asarray(p) - POINT)


def zoo() -> im.Model:
    """Bodies with skew inertias on joints of every type that has a sense: limits, motors, springs, friction, couplings,
    a closed loop by a spring, thrown into full motion."""
    model = im.Model("zoo")
    rng = np.random.default_rng(11)

    def body(name: str, position: tuple[float, float, float]) -> None:
        A = rng.normal(size=(3, 3))
        q = rng.normal(size=4)
        inertia = 1e-3 * (A @ A.T + 2 * np.eye(3))
        inertia = np.trace(inertia) * np.eye(3) - inertia  # a proper one
        model.body(name, 0.4, inertia, position, q / np.linalg.norm(q), shape=im.Box((0.05, 0.03, 0.02)))

    kinds: list[tuple[str, dict[str, Any]]] = [
        ("revolute", {"axis": (0.2, 1, 0.3), "limits": (-0.4, 0.6), "limit_restitution": 0.5}),
        ("prismatic", {"axis": (1, 0.2, 0), "stiffness": 40.0, "rest": 0.05, "limits": (-0.2, 0.3)}),
        ("cylindrical", {"axis": (0, 0.3, 1), "stiffness": {"slide": 60.0}, "rest": {"slide": -0.1},
                         "limits": {"slide": (-0.3, 0.1)}, "motor": {"angle": im.Motor(torque=0.02)}}),
        ("universal", {"axis": (0, 1, 0), "axis2": (1, 0, 0), "viscous": {"first": 0.01}}),
        ("spherical", {"stiffness": 0.5, "damping": 0.01, "limits": {"swing": 1.0, "twist": (-0.5, 0.8)},
                       "motor": im.Motor(torque=(0.01, -0.02, 0.015))}),
        ("planar", {"axis": (0, 1, 0.2), "stiffness": {"x": 30.0, "y": 50.0, "angle": 0.2},
                    "rest": {"x": 0.1, "y": -0.2}}),
        ("screw", {"axis": (0.1, 0, 1), "pitch": 0.03, "stiffness": 0.4}),
        ("pin-slot", {"axis": (0, 1, 0), "axis2": (1, 0, 0.3), "stiffness": {"slide": 35.0}, "rest": {"slide": 0.08}}),
        ("point-on-line", {"axis": (1, 0, 0.2), "stiffness": {"slide": 45.0},
                           "motor": {"slide": im.Motor(torque=im.Harmonic(1.0, 9.0, 0.4, 0.2))}}),
        ("point-on-plane", {"axis": (0.1, 0.1, 1), "stiffness": {"x": 25.0, "y": 20.0}, "rest": {"x": 0.05}}),
    ]  # fmt: skip
    for k, (kind, given) in enumerate(kinds):
        body(kind, (0.5 * k, 0.1, 0.2))
        model.joint(f"in {kind}", kind, model.ground, kind, at=(0.5 * k + 0.04, 0.12, 0.25), **given)
        body(f"after {kind}", (0.5 * k + 0.1, 0.2, 0.1))
        model.joint(
            f"after in {kind}", "revolute", kind, f"after {kind}", at=(0.5 * k + 0.05, 0.15, 0.15), axis=(1, 1, 0)
        )
        model.spring(
            f"spring of {kind}", model.ground, f"after {kind}", (0.5 * k, 0.5, 0), (0.5 * k + 0.1, 0.2, 0.13), 20
        )
    model.coupling("rack", "in cylindrical", "in prismatic", 0.1, group_a="angle")
    model.coupling("slides", "in cylindrical", "in pin-slot", -0.7, group_a="slide", group_b="slide")
    model.probe("tip", "after screw", (0.5 * 6 + 0.1, 0.25, 0.1))
    for own in model.bodies.values():
        own.velocity, own.angular_velocity = rng.normal(size=3), 3 * rng.normal(size=3)
    return model


def check_image(world: im.World, names: list[str]) -> None:
    for name in names:
        one, other = world.body(name), world.body(f"{name} 2")
        np.testing.assert_allclose(other.position, image(one.position), atol=CLOSE, err_msg=name)
        np.testing.assert_allclose(other.velocity, H @ one.velocity, atol=100 * CLOSE, err_msg=name)
        np.testing.assert_allclose(other.angular_velocity, -H @ one.angular_velocity, atol=100 * CLOSE, err_msg=name)


def test_a_mirrored_mechanism_moves_as_the_mirror_image() -> None:
    """Every joint type, mirrored in full motion at a plane that is none of the coordinates': poses to 1e-9 after 0.2 s,
    energies of the image alone equal to those of the mechanism alone."""
    world = im.World(zoo(), dt=0.001, rtol=1e-11, atol=1e-12)
    names = list(world.model.bodies)
    world.step(50)
    moment, energy = world.snapshot(), world.energy()
    answer = world.apply(edits.Mirror(tuple(names), tuple(NORMAL), POINT))
    assert answer.moved < 1e-12 and world.constraint_error() < 1e-10
    assert len(world.model.joints) == 40 and len(world.model.springs) == 20 and len(world.model.couplings) == 4
    check_image(world, names)
    world.step(200)
    check_image(world, names)
    tips = (
        world.point(body, world.model.probes[p].p_BQ)
        for body, p in (("after screw", "tip"), ("after screw 2", "tip 2"))
    )
    first, second = tips
    np.testing.assert_allclose(second, image(first), atol=CLOSE)
    alone = im.World(zoo(), dt=0.001, rtol=1e-11, atol=1e-12)
    alone.restore(moment)
    alone.apply(edits.Mirror(tuple(names), tuple(NORMAL), POINT))
    alone.apply(edits.Several(tuple(edits.Remove("body", name) for name in names)))
    for what in ("kinetic", "potential", "elastic"):
        assert getattr(alone.energy(), what) == pytest.approx(getattr(energy, what), rel=1e-9, abs=1e-9)
    world.restore(moment)
    alone.step(100)
    world.step(100)
    for what in ("kinetic", "potential", "elastic"):
        assert getattr(alone.energy(), what) == pytest.approx(getattr(world.energy(), what), rel=1e-7, abs=1e-9)


def test_the_image_of_a_body_is_a_body() -> None:
    """Its inertia S I S is that of the mirrored shapes, its orientation a rotation; twice mirrored it is the first."""
    model = im.Model("stone", gravity=(0, 0, 0))
    rng = np.random.default_rng(3)
    shapes = [
        im.ConvexHull(rng.normal(size=(12, 3)), offset=(0.1, 0.2, -0.1)),
        im.Cone(0.3, 0.5, offset=(0.5, 0.1, 0), orientation=(0.5, 0.5, -0.5, 0.5)),
        im.Box((0.2, 0.4, 0.1), offset=(-0.3, 0, 0.2), orientation=(0, math.sin(0.3), 0, math.cos(0.3))),
    ]
    model.body("stone", density=500, shape=shapes, position=(1, 2, 3), orientation=(0, 0.6, 0, 0.8))
    world = im.World(model)
    world.apply(edits.Mirror(("stone",), tuple(NORMAL), POINT))
    one, other = (world.model.bodies[name] for name in ("stone", "stone 2"))
    volume, inertia, placed = compose(other.shapes)
    assert volume * 500 == pytest.approx(other.mass, rel=1e-12)
    np.testing.assert_allclose(other.mass * inertia, other.inertia, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([shape.offset for shape in placed], [shape.offset for shape in other.shapes], atol=1e-12)
    R = rotation_matrix(other.orientation)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R @ other.inertia @ R.T, H @ world_inertia(one) @ H, atol=1e-9)
    for shape, of in zip(one.shapes, other.shapes, strict=True):
        assert sorted(map(tuple, corners(other, of).round(9))) == sorted(
            map(tuple, np.array([image(p) for p in corners(one, shape)]).round(9))
        )
    again = world.apply(edits.Mirror(("stone 2",), tuple(NORMAL), POINT))
    third = world.model.bodies["stone 3"]
    np.testing.assert_allclose(third.position, one.position, atol=1e-14)
    np.testing.assert_allclose(rotation_matrix(third.orientation), rotation_matrix(one.orientation), atol=1e-14)
    assert np.array_equal(third.inertia, one.inertia)
    assert isinstance(again.inverse, edits.Several)


def world_inertia(body: Any) -> np.ndarray:
    R = rotation_matrix(body.orientation)
    return R @ body.inertia @ R.T


def corners(body: Any, shape: Shape) -> np.ndarray:
    """Points that a shape is known by, in the world."""
    if isinstance(shape, im.ConvexHull):
        local = np.asarray(shape.points)
    elif isinstance(shape, im.Box):
        local = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * shape.size / 2
    else:  # the tip and the middle of the base
        local = np.array([(0, 0, shape.length / 2), (0, 0, -shape.length / 2)])  # type: ignore[attr-defined]
    local = np.asarray(shape.offset) + local @ rotation_matrix(shape.orientation).T
    return body.position + local @ rotation_matrix(body.orientation).T


def test_a_mesh_keeps_its_outside() -> None:
    """A tetrahedron: the image encloses its volume with triangles that face outwards, or it would be refused."""
    vertices, triangles = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
    found = mirrored_shape(im.Mesh(vertices, triangles, offset=(1, 0, 0)))
    np.testing.assert_array_equal(found.offset, (-1, 0, 0))
    np.testing.assert_array_equal(found.vertices, np.array(vertices) * (-1, 1, 1))  # type: ignore[attr-defined]


def test_a_line_of_bodies_is_a_plane() -> None:
    """Through two points of bodies, across the plane they are drawn in: to the last bits, whatever the normal says."""
    world = im.World(im.scene("four-bar"), dt=0.001)
    world.step(100)
    a, b = (world.point(name) for name in ("coupler", "rocker"))
    plane = {"point": ("coupler", (0, 0, 0)), "along": ("rocker", (0, 0, 0))}
    world.apply(edits.Mirror(("crank",), normal=(0.3, 0.7, 0), **plane))
    e = (b - a) / np.linalg.norm(b - a)
    p = world.point("crank") - a
    np.testing.assert_allclose(world.point("crank 2"), a + 2 * (p @ e) * e - p + 2 * p * (0, 0, 1), atol=1e-15)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (edits.Mirror(()), "expected names of bodies"),
        (edits.Mirror(("crnk",)), "did you mean 'crank'"),
        (edits.Mirror(("crank",), (0, 0, 0)), "other than zero"),
        (edits.Mirror(("crank",), (1, 0, 0), (0, 0, 0), (1, 0, 0)), "across the line"),
        (edits.Mirror(("crank",), (1, 0, 0), (0, 0, 0), (0, 0, 0)), "two points that differ"),
        (edits.Shift(("crank",), axis=(0, 0, 0)), "other than zero"),
    ],
)
def test_what_has_no_image_is_refused(edit: edits.Edit, words: str) -> None:
    world = im.World(im.scene("four-bar"))
    with pytest.raises(edits.EditError, match=words):
        world.apply(edit)


def test_a_motor_that_is_a_callable_has_no_image_and_a_profile_has() -> None:
    """Only of a slide whose sign a mirror turns round; the value is the other one at all times."""
    for value, is_refused in ((lambda t: 1.0, True), (im.Table((0, 1), (0.0, 2.0)), False), (im.Formula("2*t"), False)):
        model = im.Model("piston", gravity=(0, 0, 0))
        model.body("piston", 1.0, (1, 1, 1))
        model.joint(
            "in", "cylindrical", "ground", "piston", (0, 0, 0), (0, 0, 1), motor={"slide": im.Motor(speed=value)}
        )
        world = im.World(model, dt=0.001)
        if is_refused:
            with pytest.raises(edits.EditError, match="give a profile"):
                world.apply(edits.Mirror(("piston",)))
            continue
        world.apply(edits.Mirror(("piston",), (0, 0, 1)))
        world.step(100)
        np.testing.assert_allclose(world.point("piston 2"), -world.point("piston"), atol=1e-12)
        assert world.point("piston")[2] > 0.005


def test_a_joint_that_is_cut_has_no_image() -> None:
    world = im.World(im.scene("four-bar"))
    joint = next(own for own in world.model.joints.values() if "ground" not in (own.first, own.second))
    world.apply(edits.Cut(joint.name))
    with pytest.raises(edits.EditError, match=f"'{joint.name}': is cut.*close it first"):
        world.apply(edits.Mirror((joint.first, joint.second)))


def test_whole_turns_are_those_of_the_first() -> None:
    """A hinge that has turned three times, with a limit at four: its image and its copy stop there too, not later."""
    model = im.Model("wheel", gravity=(0, 0, 0))
    model.body("wheel", 1.0, (1, 1, 1), angular_velocity=(0, 0, 20))
    model.joint("pin", "revolute", "ground", "wheel", (0, 0, 0), (0, 0, 1), limits=(-1, 8 * math.pi))
    world = im.World(model, dt=0.001)
    world.step(1000)
    world.apply(edits.Mirror(("wheel",), (1, 0, 0)))
    world.apply(edits.Copy(("wheel",), (0, 1, 0)))
    assert world.joint("pin").position == pytest.approx(20.0)
    for name in ("pin 2", "pin 3"):
        assert world.joint(name).position == pytest.approx(20.0)


# moved as a whole ------------------------------------------------------------------------------------


def test_a_mechanism_that_is_moved_goes_on_as_before() -> None:
    """A four-bar in full motion, turned about gravity and shifted with its pins: the same motion there; and back."""
    worlds = [im.World(im.scene("four-bar"), dt=0.001) for _ in range(2)]
    for world in worlds:
        world.step(100)
    up, angle, shift = np.array([0.0, 1.0, 0.0]), 0.7, np.array([0.1, 0.2, -0.3])
    names = tuple(worlds[0].model.bodies)
    assert not np.cross(worlds[0].model.gravity, up).any()
    energy = worlds[1].energy().kinetic
    answer = worlds[1].apply(edits.Shift(names, tuple(shift), angle, tuple(up)))
    assert answer.moved < 1e-12 and worlds[1].energy().kinetic == pytest.approx(energy, rel=1e-12)
    R = rotation_matrix((*(math.sin(angle / 2) * up), math.cos(angle / 2)))
    for world in worlds:
        world.step(100)
    for name in names:
        np.testing.assert_allclose(worlds[1].point(name), shift + R @ worlds[0].point(name), atol=1e-9)
    for world in worlds:
        world.apply(edits.Reset())
    for name in names:
        np.testing.assert_allclose(worlds[1].point(name), shift + R @ worlds[0].point(name), atol=1e-12)
    worlds[1].apply(answer.inverse)
    for name in names:
        np.testing.assert_allclose(worlds[1].point(name), worlds[0].point(name), atol=1e-12)
