"""Building from nothing in a real browser, by mouse, by touch and by keyboard, and counted: a click, a tap, a drag, a
chord or a typed value is one action."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from impulsar.analysis import mobility
from impulsar.io import model_from_json as load

from .browser import Studio
from .test_touch import PHONE

CRANK, COUPLER, ROCKER, BASE = 0.1, 0.25, 0.2, 0.25
CLOSE = 1e-12  # of a joint from where it should be [m]


class Counted:
    """A page whose user is counted."""

    def __init__(self, studio: Studio, touch: bool = False) -> None:
        self.studio, self.touch, self.actions = studio, touch, 0

    def click(self, pixel: dict[str, float], times: int = 1) -> None:
        """On the picture, by the mouse or a finger; a double click is two actions."""
        self.actions += times
        if times == 2:
            self.studio.twice(pixel, self.touch)
        elif self.touch:
            self.studio.finger("touchStart", pixel)
            self.studio.finger("touchEnd")
        else:
            self.studio.page.mouse.move(pixel["x"], pixel["y"])
            self.studio.page.mouse.down()
            self.studio.page.mouse.up()

    def press(self, selector: str) -> None:
        """A button of the page."""
        self.actions += 1
        target = self.studio.page.locator(selector).first
        if self.touch:
            target.tap()
        else:
            target.click()

    def type(self, text: str, enter: bool = True) -> None:
        """A value; where a finger has to, it opens the field first."""
        self.actions += 1
        self.studio.page.keyboard.type(text)
        if enter:
            self.studio.page.keyboard.press("Enter")

    def key(self, chord: str) -> None:
        self.actions += 1
        self.studio.page.keyboard.press(chord)

    def at(self, x: float, z: float) -> dict[str, float]:
        """Pixel of a point of the work plane."""
        return self.studio.get("worldPixel", [x, 0.0, z])


def new_scene(studio: Studio) -> Studio:
    """The empty scene by the menu, as it is found: stopped, with the tool in hand."""
    asks = studio.get("status")["changed"]
    studio.page.click("#scene-button")
    studio.page.click("button[aria-label='New scene']")
    if asks:
        studio.page.click("dialog[aria-label='Not saved'] button:text('Open without saving')")
    studio.until("() => document.querySelector('dialog') === null && impulsar.scene().bodies.length === 0")
    studio.until("() => impulsar.status().paused && impulsar.tool() === 'link' && impulsar.settled()")
    return studio


@pytest.fixture
def page(open_empty: Callable[..., Studio]) -> Studio:
    return open_empty()


@pytest.fixture
def phone(open_empty: Callable[..., Studio]) -> Studio:
    return open_empty(**PHONE)


@pytest.fixture
def tablet(open_empty: Callable[..., Studio]) -> Studio:
    return open_empty(has_touch=True, is_mobile=True)


def saved(studio: Studio) -> dict[str, Any]:
    """The scene file that the page saves."""
    return json.loads(studio.ask("async () => (await fetch('api/scene.json')).text()"))


def rotation(q: list[float]) -> np.ndarray:
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def joint_places(scene: dict[str, Any]) -> dict[frozenset[str], list[np.ndarray]]:
    """World points of every joint's frames on its two bodies, by these."""
    poses = {
        body["name"]: (np.array(body.get("position", [0, 0, 0])), rotation(body.get("orientation", [0, 0, 0, 1])))
        for body in scene["bodies"]
    } | {"ground": (np.zeros(3), np.eye(3))}
    return {
        frozenset((joint["first"], joint["second"])): [
            poses[joint[end]][0] + poses[joint[end]][1] @ np.array(joint[frame])
            for end, frame in (("first", "p_PF"), ("second", "p_CM"))
        ]
        for joint in scene["joints"]
    }


def check_four_bar(studio: Studio) -> None:
    """Every joint on both of its bodies where the typed lengths and the grid say."""
    studio.until("() => impulsar.scene().joints.length === 4 && impulsar.settled()")
    found = joint_places(saved(studio))
    crank, coupler, rocker = (f"link {k}" for k in (1, 2, 3))
    A = CRANK * np.array([math.cos(math.pi / 3), 0.0, math.sin(math.pi / 3)])
    D = np.array([BASE, 0.0, 0.0])
    span = np.linalg.norm(D - A)
    along = (COUPLER**2 - ROCKER**2 + span**2) / (2 * span)
    e = (D - A) / span
    B = A + along * e + math.sqrt(COUPLER**2 - along**2) * np.array([-e[2], 0.0, e[0]])
    wanted = {
        frozenset(("ground", crank)): np.zeros(3),
        frozenset((crank, coupler)): A,
        frozenset((coupler, rocker)): B,
        frozenset((rocker, "ground")): D,
    }
    assert found.keys() == wanted.keys()
    for pair, point in wanted.items():
        for side in found[pair]:
            assert np.linalg.norm(side - point) < CLOSE, pair


def check_moving(studio: Studio) -> None:
    """The crank turns at the motor's speed, and the path of a point of the coupler grows."""
    studio.until("() => impulsar.frame().time > 0.3")
    studio.until("() => Math.abs(impulsar.frame().time) > 0.5 && impulsar.live().motors.length === 1")
    (motor,) = studio.get("live")["motors"]
    assert motor["quantity"] == "speed" and motor["value"] != 0
    studio.until("() => impulsar.traceLength('point 1 of link 2') > 3")


def test_the_empty_scene_is_where_one_begins(page: Studio) -> None:
    """It is stopped, can be run, and saved; the grid has numbers. The menu leads there, too."""
    new_scene(page)
    assert page.get("scene")["bodies"] == []
    page.until("() => impulsar.label('grid u0') === '0'")  # with the next picture
    page.run()
    page.until("() => impulsar.frame().time > 0.05")
    page.pause()
    assert "bodies" not in saved(page)


def test_a_four_bar_by_mouse(page: Studio) -> None:
    """Eight actions at most to an exact four-bar, eleven until it moves and draws its coupler curve."""
    user = Counted(page)
    user.click(user.at(0.0, 0.0))
    user.type("0.1 < 60")
    user.type("0.25", enter=False)
    user.click(user.at(0.28, 0.2))
    user.type("0.2", enter=False)
    user.click(user.at(BASE, 0.0), times=2)
    check_four_bar(page)
    assert user.actions <= 8
    user.press("#inspector-body button:has-text('By speed')")
    user.press("#tools button[data-tool=trace]")
    page.settle()  # a motor is new rows, and their frame has to come
    user.click(page.get("pixel", "link 2"))
    user.press("#play")
    check_moving(page)
    assert user.actions <= 11


def draw_by_touch(user: Counted) -> None:
    user.click(user.at(0.0, 0.0))
    user.press("#draw-value")
    user.type("0.1 < 60")
    user.type("0.25")
    user.type("0.2", enter=False)
    user.click(user.at(BASE, 0.0), times=2)
    check_four_bar(user.studio)
    assert user.actions <= 8


def test_a_four_bar_by_touch_on_a_tablet(tablet: Studio) -> None:
    user = Counted(tablet, touch=True)
    draw_by_touch(user)
    user.press("#inspector-body button:has-text('By speed')")
    user.press("#tools button[data-tool=trace]")
    tablet.settle()  # a motor is new rows, and their frame has to come
    user.click(tablet.get("pixel", "link 2"))
    user.press("#play")
    check_moving(tablet)
    assert user.actions <= 11


def test_a_four_bar_by_touch_on_a_phone(phone: Studio) -> None:
    """With no inspector in sight the motor is a tool."""
    user = Counted(phone, touch=True)
    draw_by_touch(user)
    user.press("#tools button[data-tool=motion]")
    user.click(user.at(0.0, 0.0))
    user.press("#tools button[data-tool=trace]")
    phone.settle()  # a motor is new rows, and their frame has to come
    user.click(phone.get("pixel", "link 2"))
    user.press("#play")
    check_moving(phone)


def test_a_four_bar_by_keyboard(page: Studio) -> None:
    """Points, lengths and angles typed; the motor, the path and time by keys."""
    user = Counted(page)
    page.page.locator("#canvas").focus()
    user.type("0, 0")
    user.type("0.1 < 60")
    user.type("0.25")
    user.type("0.2 to 0.25, 0")
    check_four_bar(page)
    assert user.actions <= 8
    user.key("m")
    user.key("Enter")
    page.until("() => impulsar.live().motors.length === 1")
    while page.get("pick") is None or page.get("pick")["name"] != "link 2":
        page.page.keyboard.press("]")
    user.key("p")
    user.key("Enter")
    user.key("Space")
    check_moving(page)


def test_undo_takes_a_drawing_back(page: Studio) -> None:
    user = Counted(page)
    before = page.ask("() => impulsar.hash()")
    user.click(user.at(0.0, 0.0))
    user.type("0.1 < 60")
    user.key("Enter")
    page.until("() => impulsar.scene().joints.length === 2")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("Control+z")
    page.until("() => impulsar.scene().bodies.length === 0 && impulsar.settled()")
    assert page.ask("() => impulsar.hash()") == before


def test_what_is_typed_wrongly_is_said(page: Studio) -> None:
    user = Counted(page)
    user.click(user.at(0.0, 0.0))
    user.type("0.1 < much")
    page.until("() => document.querySelector('.toast') !== null")
    assert "type a length" in page.page.locator(".toast").first.inner_text()
    assert page.get("scene")["bodies"] == []


def test_a_link_is_pinned_to_the_end_it_is_drawn_from(page: Studio) -> None:
    """By a drag from end to end, then by another from the end of the first: exactly there."""
    user = Counted(page)
    page.drag(user.at(0.0, 0.0), user.at(0.2, 0.0))
    page.page.keyboard.press("Escape")
    page.until("() => impulsar.scene().bodies.length === 1 && impulsar.settled()")
    page.drag(user.at(0.2, 0.0), user.at(0.2, 0.15))
    page.page.keyboard.press("Escape")
    page.until("() => impulsar.scene().bodies.length === 2 && impulsar.settled()")
    found = joint_places(saved(page))
    assert found.keys() == {frozenset(("ground", "link 1")), frozenset(("link 1", "link 2"))}
    for side in found[frozenset(("link 1", "link 2"))]:
        assert np.linalg.norm(side - (0.2, 0.0, 0.0)) < CLOSE


# more than links ---------------------------------------------------------------------------------------


def choose(studio: Studio, option: str) -> None:
    """An entry of the tool's own list."""
    studio.page.locator("#hint select").first.select_option(option)


def reopened(studio: Studio) -> None:
    """Saved, opened from the file and saved again it is the same, text for text, and moves alike bit for bit."""
    text = studio.ask("async () => (await fetch('api/scene.json')).text()")
    moved = []
    for _ in range(2):
        before = studio.get("scene")["topology"]
        answer = studio.ask(
            "async (text) => (await fetch('api/scene-file?name=again.json', {method: 'POST', body: text})).json()", text
        )
        assert answer["ok"], answer
        studio.until("(before) => impulsar.scene().topology !== before && impulsar.settled()", before)
        studio.pause()
        studio.page.click("#reset")
        studio.until("() => impulsar.frame().time === 0 && impulsar.settled()")
        assert studio.ask("async () => (await fetch('api/scene.json')).text()") == text
        for _ in range(5):
            studio.page.click("#step")
        studio.until("() => impulsar.frame().time > 0.045 && impulsar.settled()")
        moved.append(studio.ask("() => impulsar.hash()"))
    assert moved[0] == moved[1]


def test_a_six_bar_with_a_slider(page: Studio) -> None:
    """A four-bar, a rod from its coupler's pin, and a block on a guide: one freedom, every joint exact."""
    user = Counted(page)
    user.click(user.at(0.0, 0.0))
    user.type("0.1 < 60")
    user.type("0.25", enter=False)
    user.click(user.at(0.28, 0.2))
    user.type("0.2", enter=False)
    user.click(user.at(BASE, 0.0), times=2)
    check_four_bar(page)
    joint = next(own for own in page.get("scene")["joints"] if {own["first"], own["second"]} == {"link 2", "link 3"})
    user.click(page.get("jointPixel", joint["name"]))
    user.type("0.2 < -10")
    user.key("Escape")
    page.until("() => impulsar.scene().bodies.length === 4 && impulsar.settled()")
    user.press("#tools button[data-tool=body]")
    choose(page, "slider")
    page.page.locator("#canvas").focus()
    user.type("0.06", enter=False)
    tip = page.get("pixel", "link 4", [0, 0, 0.1])
    page.drag(tip, {"x": tip["x"] + 60, "y": tip["y"]})
    page.until("() => impulsar.scene().bodies.length === 5 && impulsar.settled()")
    scene = saved(page)
    found = joint_places(scene)
    block = next(body for body in scene["bodies"] if body["name"].startswith("slider"))
    end = found[frozenset(("link 2", "link 3"))][0] + 0.2 * np.array(
        [math.cos(math.radians(-10)), 0.0, math.sin(math.radians(-10))]
    )
    sides = found[frozenset(("link 4", block["name"]))]
    assert all(np.linalg.norm(side - end) < CLOSE for side in sides)
    assert block["shapes"][0]["size"][0] == 0.06
    guide = next(own for own in scene["joints"] if own["type"] == "prismatic")
    assert {guide["first"], guide["second"]} == {"ground", block["name"]}
    assert np.linalg.norm(rotation(guide["q_PF"])[:, 2] - (1.0, 0.0, 0.0)) < CLOSE
    model = load(scene)
    assert mobility(model).freedoms == 1
    reopened(page)


def test_a_gear_train(page: Studio) -> None:
    """Discs of 50 and 100 mm that mesh: the second turns back at half the speed."""
    user = Counted(page)
    user.press("#tools button[data-tool=body]")
    choose(page, "disc")
    for k, (radius, x) in enumerate(((0.05, 0.0), (0.1, 0.15))):
        page.page.locator("#canvas").focus()
        user.type(str(radius), enter=False)
        user.click(user.at(x, 0.0))
        page.until("(count) => impulsar.scene().bodies.length === count && impulsar.settled()", k + 1)
    user.press("#tools button[data-tool=joint]")
    choose(page, "gear")
    page.drag(page.get("pixel", "disc 1"), page.get("pixel", "disc 2"))
    page.until("() => impulsar.scene().couplings.length === 1 && impulsar.settled()")
    scene = saved(page)
    assert scene["couplings"][0]["ratio"] == -0.5
    assert [body["shapes"][0]["radius"] for body in scene["bodies"]] == [0.05, 0.1]
    for sides, x in zip(joint_places(scene).values(), (0.0, 0.15), strict=True):
        assert all(np.linalg.norm(side - (x, 0.0, 0.0)) < CLOSE for side in sides)
    assert mobility(load(scene)).freedoms == 1
    page.pick("joint", "pin of disc 1")
    page.page.click("#inspector-body button:has-text('By speed')")
    page.until("() => impulsar.live().motors.length === 1")
    page.run()
    page.until("() => impulsar.frame().time > 0.4")
    page.pause()
    page.settle()
    reopened(page)


def test_links_that_meet_are_pinned_by_one_click(page: Studio) -> None:
    """Two links whose ends lie on one point, and a click there: a joint between them, in the plane, at the point."""
    user = Counted(page)
    for start, end in (((0.0, 0.0), (0.2, 0.1)), ((0.4, 0.0), (0.2, 0.1))):
        before = len(page.get("scene")["bodies"])
        user.press("#tools button[data-tool=body]")
        choose(page, "link")
        page.drag(user.at(*start), user.at(*end))
        page.until("(before) => impulsar.scene().bodies.length > before && impulsar.settled()", before)
    user.press("#tools button[data-tool=joint]")
    user.click(user.at(0.2, 0.1))
    page.until("() => impulsar.scene().joints.length === 1 && impulsar.settled()")
    scene = saved(page)
    ((pair, sides),) = joint_places(scene).items()
    assert pair == {body["name"] for body in scene["bodies"]}
    assert all(np.linalg.norm(side - (0.2, 0.0, 0.1)) < CLOSE for side in sides)
    axis = rotation(scene["bodies"][0].get("orientation", [0, 0, 0, 1])) @ rotation(scene["joints"][0]["q_PF"])[:, 2]
    assert abs(abs(axis[1]) - 1) < CLOSE


# what is there, changed --------------------------------------------------------------------------------


def draw_four_bar(page: Studio) -> Counted:
    """By keys, quickly."""
    user = Counted(page)
    page.page.locator("#canvas").focus()
    for text in ("0, 0", "0.1 < 60", "0.25", "0.2 to 0.25, 0"):
        user.type(text)
    check_four_bar(page)
    return user


def test_sizes_names_and_places_are_set_in_the_inspector(page: Studio) -> None:
    """A longer coupler keeps its pins at its ends and the loop closes; names go everywhere; a pin goes elsewhere."""
    draw_four_bar(page)
    page.pick("body", "link 2")
    page.type("length", "0.26")
    page.until("() => impulsar.scene().bodies[1].shapes[0].length === 0.26 && impulsar.settled()")
    assert page.frame()["books"]["constraint_error"] < 1e-9
    scene = saved(page)
    ends = [own for own in scene["joints"] if "link 2" in (own["first"], own["second"])]
    for own in ends:
        at = own["p_PF"] if own["first"] == "link 2" else own["p_CM"]
        assert abs(abs(at[2]) - 0.13) < CLOSE and np.hypot(*at[:2]) < CLOSE
    page.type("name", "coupler")
    page.until("() => impulsar.pick()?.name === 'coupler' && impulsar.scene().bodies[1].name === 'coupler'")
    assert "link 2" not in json.dumps(saved(page))
    page.field("colour").evaluate("(input) => { input.value = '#aa3300'; input.dispatchEvent(new Event('change')); }")
    page.until("() => impulsar.scene().bodies[1].colour === '#aa3300'")
    page.pick("joint", "pin 1")
    page.type("at, in ground", "0.01", 0)
    page.until("() => impulsar.scene().joints[0].p_PF[0] === 0.01 && impulsar.settled()")
    page.type("axis", "1", 1)
    page.until("() => impulsar.settled()")
    pin = next(own for own in saved(page)["joints"] if own["name"] == "pin 1")
    assert np.linalg.norm(rotation(pin["q_PF"])[:, 2] - (0.0, 1.0, 0.0)) < CLOSE
    for _ in range(2):
        page.page.click("#undo")
        page.settle()
    page.until("() => impulsar.scene().joints[0].p_PF[0] === 0 && impulsar.settled()")


def test_several_are_picked_and_removed_as_one(page: Studio) -> None:
    user = draw_four_bar(page)
    page.pick("body", "link 2")
    page.page.locator("#parts-list [data-name='link 3']").click(modifiers=["Shift"])
    page.page.locator("#canvas").focus()
    user.key("Delete")
    page.until("() => impulsar.scene().bodies.length === 1 && impulsar.scene().joints.length === 1")
    page.page.click("#undo")
    page.until("() => impulsar.scene().bodies.length === 3 && impulsar.settled()")
    check_four_bar(page)


def test_the_freedoms_are_told_while_one_builds(page: Studio) -> None:
    draw_four_bar(page)
    told = "() => document.querySelector('#freedoms').textContent"
    page.until(f"() => ({told})() === '1 freedom; 3 redundant, out of plane'")
    user = Counted(page)
    page.page.locator("#canvas").focus()
    for text in ("0, 0.1", "0.1 < 45"):
        user.type(text)
    user.key("Escape")
    page.until(f"() => ({told})() === '2 freedoms; 3 redundant, out of plane'")


def test_bodies_are_copied_in_a_row(page: Studio) -> None:
    """Two more four-bars, each 0.4 m further along y, by keys; undo takes both back."""
    user = draw_four_bar(page)
    page.pick("body", "link 1")
    for name in ("link 2", "link 3"):
        page.page.locator(f"#parts-list [data-name='{name}']").click(modifiers=["Shift"])
    page.page.locator("#canvas").focus()
    user.key("Control+d")
    page.page.fill("dialog input[name=copies]", "2")
    page.page.fill("dialog input[name='shift x in m']", "0")
    page.page.fill("dialog input[name='shift y in m']", "0.4")
    page.page.keyboard.press("Enter")
    page.until("() => impulsar.scene().bodies.length === 9 && impulsar.scene().joints.length === 12")
    page.settle()
    scene = saved(page)
    assert mobility(load(scene)).freedoms == 3
    pivots = sorted(own["p_PF"][1] for own in scene["joints"] if own["first"] == "ground")
    np.testing.assert_allclose(pivots, [0.0, 0.0, 0.4, 0.4, 0.8, 0.8], atol=CLOSE)
    page.until("() => document.querySelector('dialog') === null")
    page.page.click("#undo")
    page.until("() => impulsar.scene().bodies.length === 3 && impulsar.settled()")


def test_a_chain_that_closes_is_a_plate(page: Studio) -> None:
    """A triangle from the end of a link, by four clicks."""
    user = Counted(page)
    page.drag(user.at(0.0, 0.0), user.at(0.2, 0.0))
    page.page.keyboard.press("Escape")
    page.until("() => impulsar.scene().bodies.length === 1 && impulsar.settled()")
    for point in ((0.2, 0.0), (0.4, 0.0), (0.3, 0.15), (0.2, 0.0)):
        user.click(user.at(*point))
    page.until("() => impulsar.scene().bodies.length === 2 && impulsar.settled()")
    scene = saved(page)
    assert scene["bodies"][1]["name"] == "plate 1"
    sides = joint_places(scene)[frozenset(("link 1", "plate 1"))]
    assert all(np.linalg.norm(side - (0.2, 0.0, 0.0)) < CLOSE for side in sides)
    np.testing.assert_allclose(scene["bodies"][1]["position"], (0.3, 0.0, 0.05), atol=CLOSE)
