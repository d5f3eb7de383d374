"""Edits by which a mechanism is built: from nothing, several at once, with other sizes, names and colours."""

import math
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.edits import polygons
from impulsar.engine.methods import METHODS
from impulsar.history import History
from impulsar.history.replay import replay
from impulsar.io import edit_from_json, edit_to_json, load_model, save_model

STEEL = 7850.0
Y = (0.0, 1.0, 0.0)


def link(name: str, start: tuple[float, float], end: tuple[float, float], radius: float = 0.005) -> edits.Add:
    """A capsule from end to end in the x-z plane."""
    (x0, z0), (x1, z1) = start, end
    half = math.atan2(x1 - x0, z1 - z0) / 2  # about y, from z
    options = {
        "shape": im.Capsule(radius=radius, length=math.hypot(x1 - x0, z1 - z0)),
        "density": STEEL,
        "position": ((x0 + x1) / 2, 0.0, (z0 + z1) / 2),
        "orientation": (0.0, math.sin(half), 0.0, math.cos(half)),
    }
    return edits.Add("body", name, options)


def pin(name: str, first: str, second: str, at: tuple[float, float]) -> edits.Add:
    options = {"type": "revolute", "first": first, "second": second, "at": (at[0], 0.0, at[1]), "axis": Y}
    return edits.Add("joint", name, options)


def four_bar() -> edits.Several:
    """Crank 0.1, coupler 0.25, rocker 0.2 over 0.25, in one edit."""
    a = 0.1 * math.cos(math.pi / 3), 0.1 * math.sin(math.pi / 3)
    d = 0.25, 0.0
    apart = math.dist(a, d)
    along = (0.25**2 - 0.2**2 + apart**2) / (2 * apart)
    up = math.sqrt(0.25**2 - along**2)
    e = (d[0] - a[0]) / apart, (d[1] - a[1]) / apart
    b = a[0] + along * e[0] - up * e[1], a[1] + along * e[1] + up * e[0]
    links = (link("crank", (0.0, 0.0), a), link("coupler", a, b), link("rocker", b, d))
    pins = (pin("O", "ground", "crank", (0.0, 0.0)), pin("A", "crank", "coupler", a))
    return edits.Several((*links, *pins, pin("B", "coupler", "rocker", b), pin("D", "ground", "rocker", d)))


# nothing at all ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_world_steps_takes_a_body_and_gives_it_back(method: str) -> None:
    """A body that is added at rest at t falls by g s²/2 in the time s after it, to the order of the method."""
    world = im.World(im.Model("nothing"), method=method, dt=0.001)
    world.step(5)
    assert world.energy().total == 0.0 and world.constraint_error() == 0.0
    world.add("body", "ball", shape=im.Sphere(0.1), density=1000.0)
    world.step(100)
    assert world.body("ball").position[2] == pytest.approx(-9.81 * 0.1**2 / 2, abs=9.81 * 0.001 * 0.1)
    world.remove("body", "ball")
    world.step(5)
    assert world.time == pytest.approx(0.11)
    assert not world.model.bodies


def test_an_empty_scene_is_kept_in_files_and_journals(tmp_path: Path) -> None:
    save_model(im.scene("empty"), tmp_path / "empty.json")
    model = load_model(tmp_path / "empty.json")
    assert not model.bodies
    history = History(im.World(model, dt=0.01), tmp_path / "day.journal")
    history.step(3)
    nothing = history.world.hash()
    history.apply(four_bar())
    history.step(20)
    built = history.world.hash()
    history.undo()
    assert history.world.hash() == nothing and not history.world.model.bodies
    history.redo()
    assert history.world.hash() == built
    history.close()
    again = replay(tmp_path / "day.journal", verify=True)
    assert again.checks and not again.wrong and again.history.world.hash() == built


def test_an_empty_world_has_no_freedom_and_a_picture() -> None:
    world = im.World(im.scene("empty"))
    assert im.analysis.mobility(world).freedoms == 0
    assert world.snapshot_png().startswith(b"\x89PNG")
    assert world.run(0.05, every=0.01).sizes["time"] == 6


# several at once --------------------------------------------------------------------------------------


def test_several_edits_are_all_made_or_none() -> None:
    world = im.World(im.scene("empty"), dt=0.001)
    before = world.hash()
    good = four_bar()
    with pytest.raises(edits.EditError, match="no body named 'craank'"):
        world.apply(edits.Several((*good.edits, pin("E", "ground", "craank", (0.0, 0.0)))))
    assert world.hash() == before and not world.model.bodies
    answer = world.apply(good)
    assert im.analysis.mobility(world).freedoms == 1
    assert world.constraint_error() < 1e-15
    assert answer.moved < 1e-15
    world.step(50)
    assert world.constraint_error() < 1e-12
    world.apply(answer.inverse)
    assert not world.model.bodies and not world.model.joints


@pytest.mark.parametrize("one", [edits.Pause(), edits.Grab("hand", "crank"), edits.Several((edits.Reset(),))])
def test_what_several_cannot_hold_is_refused(one: edits.Edit) -> None:
    world = im.World(im.scene("four-bar"))
    with pytest.raises(edits.EditError, match="give it by itself"):
        world.apply(edits.Several((one,)))


def test_several_edits_are_data() -> None:
    several = four_bar()
    again = edit_from_json(edit_to_json(several))
    assert isinstance(again, edits.Several) and edit_to_json(again) == edit_to_json(several)
    with pytest.raises(edits.EditError, match="no_such"):
        im.World(im.scene("four-bar")).apply(edits.Several((edits.SetParameter("no_such.mass", 1.0),)))
    with pytest.raises(edits.EditError, match="expected a number of at most"):
        im.World(im.scene("four-bar")).apply(edits.Several((edits.SetParameter("crank.mass", math.nan),)))


# sizes ------------------------------------------------------------------------------------------------


def test_a_longer_link_keeps_its_pins_at_its_ends_and_the_loop_closes() -> None:
    """Uniform rod with round ends: m = ρ π r² (l + 4 r / 3); pins stay l apart, ground pivots where they are."""
    world = im.World(im.scene("empty"), dt=0.001)
    world.apply(four_bar())
    answer = world.set("coupler.length", 0.28)
    assert world.constraint_error() < 1e-9
    assert 0 < answer.moved < 0.1
    a, b = (np.array(world.point("coupler", (0, 0, z))) for z in (-0.14, 0.14))
    assert np.linalg.norm(b - a) == pytest.approx(0.28, abs=1e-15)
    joint = world.model.joints["B"]
    assert abs(joint.p_PF[2]) == pytest.approx(0.14, abs=1e-15)
    assert world.model.bodies["coupler"].mass == pytest.approx(STEEL * math.pi * 0.005**2 * (0.28 + 4 * 0.005 / 3))
    for pivot, at in (("O", (0, 0, 0)), ("D", (0.25, 0, 0))):
        np.testing.assert_array_equal(world.model.joints[pivot].p_PF, at)
    world.apply(answer.inverse)
    assert world.model.bodies["coupler"].shapes[0].length == 0.25
    assert world.constraint_error() < 1e-9


def test_a_size_that_cannot_close_is_refused() -> None:
    world = im.World(im.scene("empty"), dt=0.001)
    world.apply(four_bar())
    before = world.hash()
    with pytest.raises(edits.EditError, match="cannot be assembled"):
        world.set("coupler.length", 0.9)
    with pytest.raises(edits.EditError, match="a Capsule has no size; sizes are: radius, length"):
        world.set("coupler.size", (1, 1, 1))
    with pytest.raises(edits.EditError, match="length is -1"):
        world.set("coupler.length", -1)
    assert world.hash() == before


def test_mass_follows_the_size_only_where_a_density_was_given() -> None:
    model = im.Model("two", gravity=(0, 0, 0))
    model.body("given", mass=2.0, shape=im.Box((1, 1, 1)))
    model.body("dense", density=10.0, shape=im.Box((1, 1, 1)), position=(5, 0, 0))
    world = im.World(model)
    for name in model.bodies:
        world.set(f"{name}.size", (2, 1, 1))
    assert world.model.bodies["given"].mass == 2.0
    assert world.model.bodies["dense"].mass == pytest.approx(20.0)
    world.set("dense.density", 5.0)
    assert world.model.bodies["dense"].mass == pytest.approx(10.0)
    world.set("dense.mass", 3.0)  # given from now on
    world.set("dense.size", (1, 1, 1))
    assert world.model.bodies["dense"].mass == 3.0 and world.model.bodies["dense"].density is None


def test_a_cone_that_grows_stays_where_it_stands() -> None:
    """Its centre of mass is a quarter up; the shape's own frame does not move."""
    model = im.Model("cone", gravity=(0, 0, 0))
    model.body("cone", density=10.0, shape=im.Cone(0.1, 0.4))
    model.probe("tip", "cone", at=np.add(model.bodies["cone"].shapes[0].offset, (0, 0, 0.2)))
    world = im.World(model)
    middle = model.bodies["cone"].position + model.bodies["cone"].shapes[0].offset
    world.set("cone.length", 0.8)
    body = world.model.bodies["cone"]
    np.testing.assert_allclose(world.body("cone").position + body.shapes[0].offset, middle, atol=1e-15)
    tip = world.body("cone").position + world.model.probes["tip"].p_BQ
    np.testing.assert_allclose(tip - middle, (0, 0, 0.4), atol=1e-15)


# names and colours ------------------------------------------------------------------------------------


def test_a_part_is_renamed_in_full_motion() -> None:
    """Nothing changes but the name: the same bits as without."""
    plain, renamed = (im.World(im.scene("four-bar"), dt=0.001) for _ in range(2))
    for world in (plain, renamed):
        world.step(100)
    answer = renamed.apply(edits.Rename("crank", "handle"))
    joint = next(iter(renamed.model.joints))
    renamed.apply(edits.Rename(joint, "main pin"))
    for world in (plain, renamed):
        world.step(100)
    np.testing.assert_array_equal(plain.body("crank").position, renamed.body("handle").position)
    assert list(renamed.model.bodies) == ["handle" if name == "crank" else name for name in plain.model.bodies]
    assert "crank" not in {end for own in renamed.model.joints.values() for end in (own.first, own.second)}
    np.testing.assert_array_equal(plain.joint(joint).reaction.force, renamed.joint("main pin").reaction.force)
    renamed.apply(answer.inverse)
    np.testing.assert_array_equal(plain.body("crank").position, renamed.body("crank").position)


@pytest.mark.parametrize(
    ("name", "to", "words"),
    [
        ("crank", "coupler", "taken by a body"),
        ("crnk", "x", "did you mean 'crank'"),
        ("crank", "ground", "reserved"),
        ("crank", "", "not empty"),
    ],
)
def test_names_that_cannot_be_are_refused(name: str, to: str, words: str) -> None:
    with pytest.raises(edits.EditError, match=words):
        im.World(im.scene("four-bar")).apply(edits.Rename(name, to))


def test_colours_are_kept(tmp_path: Path) -> None:
    world = im.World(im.scene("four-bar"))
    answer = world.set("crank.colour", "#AA3300")
    assert world.model.bodies["crank"].colour == "#aa3300"
    save_model(world.model, tmp_path / "a.json")
    assert load_model(tmp_path / "a.json").bodies["crank"].colour == "#aa3300"
    with pytest.raises(edits.EditError, match="expected text such as"):
        world.set("crank.colour", "red")
    world.apply(answer.inverse)
    assert world.model.bodies["crank"].colour is None


# drawing ----------------------------------------------------------------------------------------------

CRANK, COUPLER, ROCKER, BASE = 0.1, 0.25, 0.2, 0.25


def drawn_four_bar() -> edits.Draw:
    """As a person draws it: pivots at the grid, three lengths and one angle."""
    return edits.Draw(
        ("crank", "coupler", "rocker"),
        (
            edits.End(at=(0.0, 0.0), ground=True),
            edits.End(length=CRANK, angle=math.radians(60)),
            edits.End(length=COUPLER, toward=(0.3, 0.2)),
            edits.End(at=(BASE, 0.0), length=ROCKER, ground=True),
        ),
    )


def joint_places(model: im.Model) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """World points of the frames of all joints on both bodies, at the authored pose."""
    bodies = {"ground": model.ground, **model.bodies}
    return {
        name: (bodies[own.first].world_point(own.p_PF), bodies[own.second].world_point(own.p_CM))
        for name, own in model.joints.items()
    }


def test_a_drawn_four_bar_is_exact() -> None:
    """A is at 60° on its circle; B is at its lengths from A and D, on the side that was pointed at."""
    world = im.World(im.scene("empty"), dt=0.001)
    answer = world.apply(drawn_four_bar())
    assert answer.moved < 1e-15
    at = {
        frozenset((own.first, own.second)): joint_places(world.model)[name] for name, own in world.model.joints.items()
    }
    O, A, B, D = (
        at[frozenset(pair)]
        for pair in (("ground", "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("rocker", "ground"))
    )
    wanted = CRANK * np.array([math.cos(math.pi / 3), 0.0, math.sin(math.pi / 3)])
    for found, expected in ((O, np.zeros(3)), (A, wanted), (D, np.array([BASE, 0.0, 0.0]))):
        for side in found:
            np.testing.assert_allclose(side, expected, atol=1e-15)
    for side in B:
        assert np.linalg.norm(side - A[0]) == pytest.approx(COUPLER, abs=1e-15)
        assert np.linalg.norm(side - D[0]) == pytest.approx(ROCKER, abs=1e-15)
    assert B[0][2] > A[0][2]
    assert [body.shapes[0].length for body in world.model.bodies.values()] == [CRANK, COUPLER, ROCKER]
    assert im.analysis.mobility(world).freedoms == 1
    world.run(1.0)
    assert world.constraint_error() < 1e-10
    world.apply(answer.inverse)
    assert not world.model.bodies


def test_a_link_is_drawn_from_a_body_that_has_moved() -> None:
    """Pinned where the end is now, to the last bits, and in the plane of that body."""
    world = im.World(im.scene("empty"), dt=0.001)
    first = edits.Draw(("a",), (edits.End(at=(0, 0), ground=True), edits.End(at=(0.3, 0.0))), origin=(0, 0.7, 0))
    world.apply(first)
    world.run(0.2)
    tip = world.point("a", (0, 0, 0.15))
    world.apply(edits.Draw(("b",), (edits.End(body="a", point=(0, 0, 0.15)), edits.End(length=0.2, angle=0.0))))
    np.testing.assert_allclose(world.point("b", (0, 0, -0.1)), tip, atol=1e-15)
    np.testing.assert_allclose(world.point("b", (0, 0, 0.1)), np.add(tip, (0.2, 0, 0)), atol=1e-15)
    (pin,) = [own for own in world.model.joints.values() if own.second == "b"]
    np.testing.assert_allclose(pin.p_PF, (0, 0, 0.15), atol=1e-15)
    assert world.constraint_error() < 1e-12


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((edits.End(length=1.0, angle=0.0), edits.End(at=(1, 0))), "end 1: is the first one"),
        ((edits.End(at=(0, 0)), edits.End(length=1.0)), "end 2: has no direction"),
        ((edits.End(at=(0, 0)), edits.End(at=(0, 0))), "length is 0"),
        (
            (edits.End(at=(0, 0)), edits.End(at=(1, 0), length=2.0)),
            "the end before it, but the length is 2",
        ),
        ((edits.End(at=(0, 0)),), "expected one more than the 1 links"),
        ((edits.End(body="nobody"), edits.End(at=(1, 0))), "no body named 'nobody'"),
    ],
)
def test_drawings_that_cannot_be_are_refused(ends: tuple[edits.End, ...], words: str) -> None:
    world = im.World(im.scene("empty"))
    with pytest.raises(edits.EditError, match=words):
        world.apply(edits.Draw(("link",), ends))
    assert not world.model.bodies


def test_lengths_that_do_not_meet_are_refused() -> None:
    ends = (*drawn_four_bar().ends[:3], edits.End(at=(2.0, 0.0), length=ROCKER))
    with pytest.raises(edits.EditError, match="do not meet over"):
        im.World(im.scene("empty")).apply(edits.Draw(("a", "b", "c"), ends))


def test_drawings_are_data() -> None:
    drawing = drawn_four_bar()
    assert edit_from_json(edit_to_json(drawing)) == drawing


def test_a_part_is_placed_at_a_point_of_a_body() -> None:
    """("arm", p) is the world point of p of the arm: as authored in a model, as it is now in an edit."""
    world = im.World(im.scene("empty"), dt=0.001)
    world.apply(edits.Draw(("arm",), (edits.End(at=(0, 0), ground=True), edits.End(at=(0.3, 0.0)))))
    world.run(0.3)
    tip = world.point("arm", (0, 0, 0.15))
    world.add("body", "block", shape=im.Box((0.04, 0.04, 0.04)), density=100.0, position=("arm", (0, 0, 0.15)))
    np.testing.assert_allclose(world.body("block").position, tip, atol=1e-15)
    world.add("joint", "pin", type="revolute", first="arm", second="block", at=("arm", (0, 0, 0.15)), axis=Y)
    np.testing.assert_allclose(world.model.joints["pin"].p_PF, (0, 0, 0.15), atol=1e-15)
    np.testing.assert_allclose(world.model.joints["pin"].p_CM, (0, 0, 0), atol=1e-15)
    world.add(
        "spring", "coil", first="ground", second="block", at_a=(1, 0, 0), at_b=("block", (0, 0, 0)), stiffness=1.0
    )
    np.testing.assert_allclose(world.model.springs["coil"].free_length, np.linalg.norm(tip - (1, 0, 0)), rtol=1e-14)
    with pytest.raises(edits.EditError, match="no body named 'arn'; did you mean 'arm'"):
        world.add("probe", "p", body="arm", at=("arn", (0, 0, 0)))


# copies -----------------------------------------------------------------------------------------------


def test_a_copy_moves_as_the_first_does() -> None:
    """A four-bar and its copy a metre aside, in full motion: the same motion, shifted, and the books doubled."""
    world = im.World(im.scene("empty"), dt=0.001)
    world.apply(drawn_four_bar())
    world.run(0.1)
    before = world.energy()
    answer = world.apply(edits.Copy(("crank", "coupler", "rocker"), shift=(0.0, 1.0, 0.0)))
    assert list(world.model.bodies)[3:] == ["crank 2", "coupler 2", "rocker 2"]
    assert len(world.model.joints) == 8
    assert answer.moved < 1e-12 and world.constraint_error() < 1e-9
    assert answer.energy == pytest.approx(before.kinetic + before.potential, rel=1e-9)
    world.run(0.3)
    for name in ("crank", "coupler", "rocker"):
        np.testing.assert_allclose(
            world.body(f"{name} 2").position, np.add(world.body(name).position, (0, 1, 0)), atol=1e-7
        )
    world.apply(answer.inverse)
    assert len(world.model.bodies) == 3 and len(world.model.joints) == 4


def test_a_pattern_around_a_line() -> None:
    """Five more pendula, each a sixth of a turn about z from the one before, their pins on a circle."""
    world = im.World(im.scene("empty"), dt=0.001)
    ends = (edits.End(at=(0.3, 0.0), ground=True), edits.End(at=(0.5, 0.0)))
    world.apply(edits.Draw(("arm",), ends))
    world.apply(edits.Copy(("arm",), angle=math.pi / 3, count=5))
    assert [name for name in world.model.bodies] == ["arm", *(f"arm {k}" for k in range(2, 7))]
    for k, joint in enumerate(world.model.joints.values()):
        wanted = 0.3 * np.array([math.cos(k * math.pi / 3), math.sin(k * math.pi / 3), 0.0])
        np.testing.assert_allclose(joint.p_PF, wanted, atol=1e-15)
    world.run(0.2)
    heights = [world.body(name).position[2] for name in world.model.bodies]
    np.testing.assert_allclose(heights, heights[0], atol=1e-9)
    assert heights[0] < -0.01


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (edits.Copy(()), "expected names of bodies"),
        (edits.Copy(("crank", "crank")), "each once"),
        (edits.Copy(("crnk",)), "did you mean 'crank'"),
        (edits.Copy(("crank",), count=0), "from 1 to 100"),
        (edits.Copy(("crank",), axis=(0, 0, 0)), "other than zero"),
    ],
)
def test_copies_that_cannot_be_are_refused(edit: edits.Copy, words: str) -> None:
    world = im.World(im.scene("four-bar"))
    with pytest.raises(edits.EditError, match=words):
        world.apply(edit)


# plates -----------------------------------------------------------------------------------------------


def test_a_plate_is_the_prism_of_its_corners() -> None:
    """A right triangle: m = ρ a b t / 2, its centre at a third of the legs; pinned to the link it is drawn from."""
    world = im.World(im.scene("empty"), dt=0.001)
    world.apply(edits.Draw(("link",), (edits.End(at=(-0.2, 0.0), ground=True), edits.End(at=(0.0, 0.0)))))
    corners = (edits.End(body="link", point=(0, 0, 0.1)), edits.End(length=0.3, angle=0.0), edits.End(at=(0.0, 0.15)))
    answer = world.apply(edits.Plate("plate", corners, thickness=0.02, density=500.0))
    body = world.model.bodies["plate"]
    assert body.mass == pytest.approx(500.0 * 0.3 * 0.15 * 0.02 / 2)
    np.testing.assert_allclose(body.position, (0.1, 0.0, 0.05), atol=1e-15)
    (pin,) = [own for own in world.model.joints.values() if own.second == "plate"]
    assert pin.first == "link"
    np.testing.assert_allclose(body.world_point(pin.p_CM), (0, 0, 0), atol=1e-15)
    world.run(0.1)
    assert world.constraint_error() < 1e-10
    world.apply(answer.inverse)
    assert list(world.model.bodies) == ["link"]


def test_a_plate_that_is_not_convex_has_the_mass_of_its_area() -> None:
    """An L, drawn either way round, is two boxes: mass, centre and inertia by Steiner; a star fills its polygon."""
    corners = ((0, 0), (0.3, 0), (0.3, 0.1), (0.1, 0.1), (0.1, 0.2), (0, 0.2))
    t, density = 0.02, 500.0
    boxes = [(np.array((0.15, 0.05)), 0.3, 0.1), (np.array((0.05, 0.15)), 0.1, 0.1)]
    masses = np.array([density * a * b * t for _, a, b in boxes])
    centre = sum(m * at for m, (at, _, _) in zip(masses, boxes, strict=True)) / masses.sum()
    inertia = sum(
        m * ((a * a + b * b) / 12 + ((at - centre) ** 2).sum()) for m, (at, a, b) in zip(masses, boxes, strict=True)
    )
    for ring in (corners, corners[::-1]):
        world = im.World(im.scene("empty"))
        world.apply(edits.Plate("plate", tuple(edits.End(at=at) for at in ring), thickness=t, density=density))
        body = world.model.bodies["plate"]
        assert len(body.shapes) == 2 and body.mass == pytest.approx(masses.sum(), rel=1e-12)
        np.testing.assert_allclose(body.position, (centre[0], 0.0, centre[1]), atol=1e-15)
        assert body.inertia[2, 2] == pytest.approx(inertia, rel=1e-12)
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(4, 12))
        way = 2 * math.pi * np.arange(n) / n
        star = rng.uniform(0.3, 1.0, n)[:, None] * np.column_stack([np.cos(way), np.sin(way)])
        pieces = polygons.convex_pieces(star)
        assert sum(map(polygons.area_of, pieces)) == pytest.approx(polygons.area_of(star), rel=1e-12)
        assert len(pieces) <= n - 2 and all(polygons.area_of(piece) > 0 for piece in pieces)


def test_plates_that_are_no_plates_are_refused() -> None:
    for corners, words in (
        (((0, 0), (1, 1), (1, 0), (0, 1)), "cross each other"),
        (((0, 0), (1, 0), (2, 0)), "on a line|cross"),
        (((0, 0), (1, 0), (1, 0), (0, 1)), "are one"),
        (((0, 0), (1, 0)), "3 to 100 corners"),
    ):
        with pytest.raises(edits.EditError, match=words):
            im.World(im.scene("empty")).apply(edits.Plate("plate", tuple(edits.End(at=at) for at in corners)))
