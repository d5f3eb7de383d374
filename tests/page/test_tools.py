"""Mirrors, groups, belts, racks and cams in a real browser: by mouse, by touch, and all that is built by keyboard."""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import mobility
from impulsar.author.cams import Lift
from impulsar.io import model_from_json as load
from impulsar.io import model_to_json

from .browser import Studio
from .test_build import CLOSE, Counted, draw_four_bar, joint_places, saved

BAR = ("link 1", "link 2", "link 3")


@pytest.fixture
def page(open_empty: Callable[..., Studio]) -> Studio:
    return open_empty()


@pytest.fixture
def tablet(open_empty: Callable[..., Studio]) -> Studio:
    return open_empty(has_touch=True, is_mobile=True)


def pick_all(studio: Studio, names: tuple[str, ...]) -> None:
    """By Shift in the list."""
    first, *more = names
    studio.pick("body", first)
    for name in more:
        studio.page.locator(f"#parts-list [data-name='{name}']").click(modifiers=["Shift"])


def check_kept(studio: Studio) -> dict:
    """What is saved comes back from its file and from Python to the same bits; returns it."""
    studio.settle()
    scene = saved(studio)
    model = load(scene)
    assert json.loads(json.dumps(model_to_json(model))) == scene
    names: dict = {}
    exec(im.to_python(model), names)
    assert json.loads(json.dumps(model_to_json(names["model"]))) == scene
    return scene


def undo(studio: Studio, bodies: int) -> None:
    studio.page.click("#undo")
    studio.until("(n) => impulsar.scene().bodies.length === n && impulsar.settled()", bodies)


# mirrors ---------------------------------------------------------------------------------------------


def test_a_four_bar_is_mirrored_by_mouse(page: Studio) -> None:
    """At x = 0.4: pivots at 0.8 and 0.55, two freedoms; one undo takes it back."""
    draw_four_bar(page)
    pick_all(page, BAR)
    page.page.click("#inspector-body button:has-text('Mirror…')")
    page.page.fill("dialog input[name='at in m']", "0.4")
    page.page.click("dialog button[type=submit]")
    page.until("() => impulsar.scene().bodies.length === 6 && !document.querySelector('dialog')")
    scene = check_kept(page)
    assert mobility(load(scene)).freedoms == 2
    found = joint_places(scene)
    for name, place in (("link 4", (0.8, 0, 0)), ("link 6", (0.55, 0, 0))):
        for side in found[frozenset(("ground", name))]:
            np.testing.assert_allclose(side, place, atol=CLOSE)
    undo(page, 3)


def test_a_link_is_mirrored_at_a_line(page: Studio) -> None:
    """The line is picked: through a pin and the other pivot, by two clicks; by the key X."""
    user = draw_four_bar(page)
    page.pick("body", "link 1")
    page.page.locator("#canvas").focus()
    user.key("x")
    page.page.click("dialog button:has-text('At a line')")
    user.click(user.at(0.0, 0.0))
    user.click(user.at(0.25, 0.0))
    page.until("() => impulsar.scene().bodies.length === 4 && impulsar.settled()")
    scene = saved(page)
    image = load(scene).bodies["link 4"]
    np.testing.assert_allclose(image.position, (0.025, 0, -0.05 * math.sin(math.pi / 3)), atol=1e-9)


# groups ----------------------------------------------------------------------------------------------


def test_a_group_is_made_moved_hidden_copied_and_removed(page: Studio) -> None:
    draw_four_bar(page)
    pick_all(page, BAR)
    page.page.click("#inspector-body button:has-text('Group')")
    page.until("() => impulsar.pick()?.name === 'group 1' && impulsar.settled()")
    assert page.get("picked") == [*BAR, *(own["name"] for own in page.get("scene")["joints"][1:3])]
    assert page.page.locator("#parts-list [aria-label=Groups] [data-name='group 1']").count() == 1
    page.type("name", "linkage")
    page.until("() => impulsar.pick()?.name === 'linkage' && impulsar.settled()")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("h")
    assert page.get("hidden") == 5
    page.page.keyboard.press("h")
    assert page.get("hidden") == 0
    page.page.click("#inspector-body button:has-text('Move…')")
    page.page.fill("dialog input[name='shift x in m']", "0.1")
    page.page.keyboard.press("Enter")
    page.until("() => !document.querySelector('dialog') && impulsar.settled()")
    pivots = sorted(joint["p_PF"][0] for joint in saved(page)["joints"] if joint["first"] == "ground")
    np.testing.assert_allclose(pivots, [0.1, 0.35], atol=CLOSE)
    page.page.click("#inspector-body button:has-text('Copy…')")
    page.page.keyboard.press("Enter")
    page.until("() => impulsar.scene().bodies.length === 6 && !document.querySelector('dialog')")
    scene = check_kept(page)
    assert [group["name"] for group in scene["groups"]] == ["linkage", "linkage 2"]
    page.pick("element", "linkage 2")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("Delete")
    page.until("() => impulsar.scene().bodies.length === 3 && impulsar.settled()")
    assert [own["name"] for own in saved(page)["groups"]] == ["linkage"]
    undo(page, 6)
    page.pick("element", "linkage")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("Control+Shift+g")
    page.until("() => impulsar.scene().elements.length === 1 && impulsar.settled()")
    assert page.get("picked")[:3] == list(BAR) and len(page.get("scene")["bodies"]) == 6


def test_a_group_by_touch(tablet: Studio) -> None:
    """Three taps in the list with *Several* on, and one on Group."""
    draw_four_bar(tablet)
    tablet.page.locator("#parts-list [data-name='link 1']").tap()
    tablet.page.locator("#parts-several").tap()
    for name in BAR[1:]:
        tablet.page.locator(f"#parts-list [data-name='{name}']").tap()
    tablet.until("() => impulsar.picked().filter((name) => name.startsWith('link')).length === 3")
    tablet.page.locator("#parts-several").tap()
    tablet.page.locator("#inspector-body button:has-text('Group')").tap()
    tablet.until("() => impulsar.pick()?.name === 'group 1' && impulsar.settled()")
    assert set(BAR) <= set(saved(tablet)["groups"][0]["parts"])


# belts and racks -------------------------------------------------------------------------------------


def draw_discs(studio: Studio) -> Counted:
    """A disc of 0.06 m at the origin and one of 0.03 m at 0.2 m, by drags with typed radii."""
    user = Counted(studio)
    studio.tool("body")
    studio.page.select_option("#hint select[aria-label*=disc]", "disc")
    for k, (x, radius) in enumerate(((0.0, "0.06"), (0.2, "0.03"))):
        studio.page.fill("#draw-value", radius)
        studio.drag(user.at(x, 0.0), user.at(x, 0.05))
        studio.until("(n) => impulsar.scene().bodies.length === n && impulsar.settled()", k + 1)
    return user


@pytest.mark.parametrize(("kind", "ratio"), [("belt", 2.0), ("crossed belt", -2.0), ("gear", -2.0)])
def test_two_discs_are_coupled_by_two_clicks(page: Studio, kind: str, ratio: float) -> None:
    """By the ratio of their radii and the sign of an open belt, a crossed one, a gear; the belt is drawn and runs."""
    user = draw_discs(page)
    page.tool("joint")
    page.page.select_option("#hint select[aria-label*=revolute]", kind)
    user.click(user.at(0.0, 0.0))
    user.click(user.at(0.2, 0.0))
    page.until("() => impulsar.scene().couplings.length === 1 && impulsar.settled()")
    (coupling,) = check_kept(page)["couplings"]
    assert coupling["ratio"] == ratio
    assert coupling.get("belt") == (None if kind == "gear" else 0.06)
    drawn = page.get("belts")
    assert [belt["crossed"] for belt in drawn] == ([] if kind == "gear" else [kind != "belt"])
    page.pick("joint", "pin of disc 1")
    page.page.click("#inspector-body button:has-text('By speed')")
    page.run()
    page.until("() => impulsar.frame().time > 1")
    page.pause()
    page.settle()
    if kind != "gear":
        (belt,) = page.get("belts")
        x, y, z, w = page.frame()["poses"]["disc 1"][3:]
        turned = 2 * math.atan2(math.hypot(x, y, z), w)  # of the axis that it was drawn about, and on
        assert belt["marks"] > 10 and abs(belt["turned"]) > 1 and turned > 0


def test_a_disc_and_a_slider_are_a_rack(page: Studio) -> None:
    """The slider lies below the disc, where the rim goes along +x as the disc turns from u to v."""
    user = Counted(page)
    page.tool("body")
    page.page.select_option("#hint select[aria-label*=disc]", "disc")
    page.page.fill("#draw-value", "0.05")
    page.drag(user.at(0.0, 0.0), user.at(0.0, 0.05))
    page.until("() => impulsar.scene().bodies.length === 1 && impulsar.settled()")
    page.page.select_option("#hint select[aria-label*=disc]", "slider")
    page.page.fill("#draw-value", "0.04 < 0")
    page.drag(user.at(0.0, -0.1), user.at(0.1, -0.1))
    page.until("() => impulsar.scene().bodies.length === 2 && impulsar.settled()")
    page.tool("joint")
    page.page.select_option("#hint select[aria-label*=revolute]", "gear")
    user.click(user.at(0.0, 0.0))
    user.click(user.at(0.0, -0.1))
    page.until("() => impulsar.scene().couplings.length === 1 && impulsar.settled()")
    model = load(saved(page))
    (rack,) = model.couplings.values()
    assert abs(rack.ratio) == pytest.approx(0.05, rel=1e-12)
    world = im.World(model, dt=0.001)
    world.apply(im.edits.ApplyLoad("turn", "disc 1", torque=(0, 1e-3, 0)))  # y is into the picture: clockwise
    world.step(20)
    assert world.body("slider 1").velocity[0] == pytest.approx(
        -0.05 * world.body("disc 1").angular_velocity[1], rel=1e-9
    )
    assert world.body("slider 1").velocity[0] < 0  # the lowest point of a wheel that turns clockwise goes to -x


# cams ------------------------------------------------------------------------------------------------


def check_cam(studio: Studio, lift: float) -> None:
    """The follower goes as the lift curve says: the outline is a polygon, ρ (2π/360)²/8 from the curve, and a roller
    leaves it within a step by (v h)²/2ρ, v the rim's speed; both along the normal, aslant to the guide."""
    studio.run()
    studio.until("() => impulsar.frame().time > 0.4")
    studio.pause()
    studio.settle()
    model, h = load(check_kept(studio)), 0.001
    world = im.World(model, dt=h)
    (motor,) = [own.motor for own in model.joints["shaft of cam 1"].features.values()]
    far = float(np.linalg.norm(model.joints["guide of cam 1"].p_PF - model.joints["shaft of cam 1"].p_PF)) + lift
    rollers = [body for name, body in model.bodies.items() if name == "roller of cam 1"]
    radii = [shape.radius for body in rollers for shape in body.shapes]  # type: ignore[attr-defined]
    curve, beta = Lift(lift, *(math.radians(x) for x in (120, 60, 120))), math.radians(120)
    rho, slope = far + 2 * math.pi * lift / beta**2, 2 * lift / beta / far  # of a cycloidal cam, at most
    off = rho * (2 * math.pi / 360) ** 2 / 8 + sum((far * motor.speed * h) ** 2 / (2 * r) for r in radii)
    off *= math.hypot(1.0, slope)
    highest = 0.0
    for _ in range(100):
        world.step(10)
        lifted = world.joint("guide of cam 1").position
        assert lifted == pytest.approx(curve.value(world.joint("shaft of cam 1").position), abs=off)
        highest = max(highest, lifted)
    assert highest == pytest.approx(lift, abs=off)


def test_a_cam_by_touch(tablet: Studio) -> None:
    """The tool, a tap where the shaft is, and the dialog's button: a cam that works."""
    user = Counted(tablet, touch=True)
    user.press("#tools button[data-tool=cam]")
    user.click(user.at(0.1, 0.0))
    tablet.until("() => document.querySelector('dialog[aria-label=Cam]') !== null")
    assert float(tablet.page.input_value("dialog input[name='shaft u in m']")) == pytest.approx(0.1)
    user.press("dialog button[type=submit]")
    tablet.until("() => impulsar.scene().bodies.length === 3 && !document.querySelector('dialog')")
    assert user.actions == 3
    lift = -load(saved(tablet)).joints["guide of cam 1"].features["slide"].rest
    check_cam(tablet, lift)


def test_a_flat_cam_by_mouse_with_typed_values(page: Studio) -> None:
    user = Counted(page)
    page.tool("cam")
    user.click(user.at(0.0, 0.0))
    for name, text in (("base radius in m", "0.05"), ("lift in m", "0.015"), ("speed in rad/s", "6")):
        page.page.fill(f"dialog input[name='{name}']", text)
    page.page.select_option("dialog select[name=follower]", "flat")
    page.page.click("dialog button[type=submit]")
    page.until("() => impulsar.scene().bodies.length === 2 && !document.querySelector('dialog')")
    check_cam(page, 0.015)
    undo(page, 0)


def test_a_cam_that_cannot_be_is_told_and_nothing_is_made(page: Studio) -> None:
    user = Counted(page)
    page.tool("cam")
    user.click(user.at(0.0, 0.0))
    page.page.fill("dialog input[name='rise in degrees']", "300")
    page.page.click("dialog button[type=submit]")
    page.until("() => [...document.querySelectorAll('.toast')].some((one) => one.textContent.includes('at most 360°'))")
    assert page.get("scene")["bodies"] == []
    page.page.keyboard.press("Escape")


# by keyboard alone -----------------------------------------------------------------------------------


def choose(user: Counted, key: str, name: str) -> None:
    """The tool's key again goes to its choices; letters find the entry, Escape goes back to the picture."""
    user.key(key)
    if user.studio.get("tool") and user.studio.ask("() => document.activeElement?.tagName") != "SELECT":
        user.key(key)
    user.studio.page.keyboard.type(name)
    user.key("Escape")


def test_discs_sliders_joints_springs_and_belts_by_keyboard(page: Studio) -> None:
    """No pointer: two discs with a belt, a link and a slider pinned to it, a spring."""
    user = Counted(page)
    page.page.locator("#canvas").focus()
    choose(user, "b", "disc")
    for k, texts in enumerate((("0, 0", "0.05"), ("0.2, 0", "0.025"))):
        for text in texts:
            user.type(text)
        page.until("(n) => impulsar.scene().bodies.length === n && impulsar.settled()", k + 1)
    page.page.keyboard.press("Escape")
    choose(user, "j", "belt")
    for text in ("0, 0", "0.2, 0"):
        user.type(text)
    page.until("() => impulsar.scene().couplings.length === 1 && impulsar.settled()")
    page.page.keyboard.press("Escape")
    user.key("l")
    for text in ("0, 0.2", "0.1 < 0"):
        user.type(text)
    user.key("Escape")
    page.until("() => impulsar.scene().bodies.length === 3 && impulsar.settled()")
    choose(user, "b", "slider")
    for text in ("0.1, 0.2", "0.04 < 0"):
        user.type(text)
    page.until("() => impulsar.scene().bodies.length === 4 && impulsar.settled()")
    page.page.keyboard.press("Escape")
    user.key("s")
    for text in ("0.1, 0.2", "0.1, 0.35"):
        user.type(text)
    page.until("() => impulsar.scene().springs.length === 1 && impulsar.settled()")
    scene = check_kept(page)
    (coupling,) = scene["couplings"]
    assert coupling["ratio"] == 2.0 and coupling["belt"] == 0.05
    kinds = sorted((joint["type"], joint["first"], joint["second"]) for joint in scene["joints"])
    assert kinds == [
        ("prismatic", "ground", "slider 1"),
        ("revolute", "ground", "disc 1"),
        ("revolute", "ground", "disc 2"),
        ("revolute", "ground", "link 1"),
        ("revolute", "link 1", "slider 1"),
    ]
    for pair, sides in joint_places(scene).items():
        assert np.linalg.norm(sides[0] - sides[1]) < CLOSE, pair
    (spring,) = scene["springs"]
    assert spring["second"] == "ground" or spring["first"] == "ground"


def test_plates_joints_groups_and_mirrors_by_keyboard(page: Studio) -> None:
    """A plate by typed corners, pinned by a typed point, mirrored at x = 0.5, both in a group."""
    user = Counted(page)
    page.page.locator("#canvas").focus()
    for text in ("0, 0", "0.2, 0", "0.1, 0.1", "plate"):
        user.type(text)
    page.until("() => impulsar.scene().bodies.length === 1 && impulsar.settled()")
    page.page.keyboard.press("Escape")
    choose(user, "j", "revolute")
    for text in ("0, 0", "0.3, 0.3"):  # from the plate's corner to the ground
        user.type(text)
    page.until("() => impulsar.scene().joints.length === 1 && impulsar.settled()")
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Escape")
    page.pick("body", "plate 1")
    page.page.locator("#canvas").focus()
    user.key("x")
    user.key("Tab")
    user.type("0.5")
    page.until("() => impulsar.scene().bodies.length === 2 && impulsar.scene().joints.length === 2")
    page.until("() => !document.querySelector('dialog') && impulsar.settled()")
    page.page.locator("#canvas").focus()
    user.key("Shift+BracketRight")
    user.key("Control+g")
    page.until("() => impulsar.scene().elements.length === 1 && impulsar.settled()")
    scene = check_kept(page)
    assert scene["groups"] == [{"name": "group 1", "parts": ["plate 1", "plate 2"]}]
    joint = load(scene).joints["joint 2"]
    np.testing.assert_allclose(joint.p_PF, (1.0, 0, 0), atol=CLOSE)


def test_a_cam_by_keyboard(page: Studio) -> None:
    user = Counted(page)
    page.page.locator("#canvas").focus()
    user.key("c")
    user.type("0.1, 0.05")
    page.until("() => document.querySelector('dialog[aria-label=Cam]') !== null")
    page.page.keyboard.press("Enter")
    page.until("() => impulsar.scene().bodies.length === 3 && !document.querySelector('dialog')")
    shaft = load(saved(page)).joints["shaft of cam 1"]
    np.testing.assert_allclose(shaft.p_PF, (0.1, 0, 0.05), atol=CLOSE)


def test_the_hint_has_one_line_beside_wide_pictures(open_scene: Callable[..., Studio]) -> None:
    """At 1200 px it is as high as one field, whatever the tool, and nothing of it is outside."""
    studio = open_scene(viewport={"width": 1200, "height": 760})
    for tool in ("grab", "force", "link", "body", "joint", "spring"):
        studio.tool(tool)
        box, fields = studio.ask(
            """() => {
                const hint = document.getElementById("hint");
                const ends = [...hint.querySelectorAll("input, select")].map((e) => e.getBoundingClientRect());
                const { left, right, height } = hint.getBoundingClientRect();
                return [[left, right, height], ends.map((e) => [e.left, e.right, e.height])];
            }"""
        )
        assert box[2] < 2 * max(height for _, _, height in fields), tool
        assert all(box[0] < left and right < box[1] for left, right, _ in fields), tool


def test_phones_choose_kinds_of_joints(open_scene: Callable[..., Studio]) -> None:
    size = {"width": 390, "height": 800}
    studio = open_scene(viewport=size, has_touch=True, is_mobile=True)
    studio.tool("joint")
    kinds = studio.page.locator("#hint select[aria-label*=revolute]")
    assert kinds.is_visible()
    kinds.select_option("prismatic")
    assert kinds.input_value() == "prismatic"
