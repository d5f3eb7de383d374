"""A mechanism in the room: placed, held, let go, by an emulated headset (IWER) on a real studio."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from .browser import Server, Studio
from .headset import ROOT, SMALL, TABLE, Headset, runtime

LINK = "link10"
GRIP = [0, 0, -0.01]  # of the link that is held


@pytest.fixture
def worn(open_scene: Callable[..., Studio]) -> Headset:
    """The ten pendula hanging at rest, in a headset, as it begins."""
    return Headset(open_scene(viewport=SMALL, script=runtime())).enter()


@pytest.fixture
def placed(worn: Headset) -> Headset:
    """The same, standing on the table before who looks."""
    worn.hold("left", (-0.3, 1.2, 0.2), (-1, 1.2, 0.2))  # out of the way
    worn.hold("right", (0.2, 1.3, -0.3), (0.0, TABLE, -0.7))
    worn.select()
    assert worn.state()["placing"] == "none"
    return worn


def point_of(headset: Headset, at: list[float] = GRIP) -> np.ndarray:
    """A point of the last link, in the room."""
    p, q = np.split(np.array(headset.studio.frame()["poses"][LINK]), [3])
    return headset.to_room(p + Rotation.from_quat(q).apply(at))


def take(headset: Headset, away: float = 0.4) -> np.ndarray:
    """Point at the last link from so far and press; where the controller is."""
    at = point_of(headset)
    controller = at + np.array([0.1, 0.1, 1.0]) * away
    headset.hold("right", controller, at)
    headset.button("right", "trigger", 1)
    headset.studio.until("() => impulsar.live().hands.length === 1")
    headset.studio.settle()
    return controller


def hand(studio: Studio) -> dict[str, Any]:
    studio.until("() => impulsar.live().hands.length === 1 && impulsar.frame().revision === impulsar.live().revision")
    (found,) = studio.frame()["hands"]
    return found


def test_button_is_there_where_a_headset_is(server: Server, open_page: Callable[..., Studio]) -> None:
    """Without a headset there is no button, and the page is as it was."""
    studio = open_page(server.link)
    assert not studio.page.locator("#headset").is_visible()
    assert studio.get("headset") is None


def test_emulator_is_not_in_the_page() -> None:
    """What tests wear is not what users load; the headset's code is a part of its own."""
    scripts = sorted((ROOT / "src" / "impulsar" / "studio" / "page").glob("*.js"))
    assert any(path.name.startswith("part-headset-") for path in scripts)
    for path in scripts:
        assert "Emulation" not in path.read_text(encoding="utf-8"), path.name
    assert "requestHitTestSource" not in (ROOT / "src/impulsar/studio/page/app.js").read_text(encoding="utf-8")


def test_placing_by_hit_test(worn: Headset) -> None:
    """The ring lies where the ray meets the table; select stands the mechanism there, upright, at true scale."""
    begun = worn.state()
    assert (begun["mode"], begun["placing"]) == ("immersive-ar", "hit")
    aim = np.array([0.3, TABLE, -0.9])
    worn.hold("right", (0.2, 1.3, -0.3), aim)
    assert "ring" in worn.state()["told"][2]
    worn.select()
    state = worn.state()
    assert state["placing"] == "none"
    assert state["placed"]["scale"] == 1
    up = worn.to_room((0, 0, 1)) - worn.to_room((0, 0, 0))
    assert np.allclose(up, (0, 1, 0), atol=1e-9)
    foot = worn.to_world(aim)  # under the chain that hangs at the origin, at its lowest drawn point
    assert np.hypot(*foot[:2]) < 0.01
    assert -0.52 < foot[2] < -0.5


def test_select_takes_hold_and_the_mechanism_follows(placed: Headset) -> None:
    """The hand's target goes with the controller, to 0.2 mm; the link follows; let go, the books close within 1 %."""
    studio = placed.studio
    controller = take(placed)
    held = hand(studio)
    assert held["body"] == LINK
    before = np.array(held["values"][3:6])
    aimed = placed.to_world(point_of(placed, held["at"]))
    way = np.array([0.12, 0.08, 0.05])  # of the room
    placed.move("right", controller + way)
    goal = placed.to_world(placed.to_room(aimed) + way)
    studio.until(
        "(p) => Math.hypot(...p.map((x, k) => impulsar.frame().hands[0].values[3 + k] - x)) < 2e-3", list(goal)
    )
    studio.wait_time(1.5)
    values = np.array(hand(studio)["values"])
    assert np.linalg.norm(values[3:6] - before - (goal - aimed)) < 2e-4  # steps below 0.1 mm are not sent
    assert np.linalg.norm(values[:3] - values[3:6]) < 0.01  # 1000 N/m carry what the links weigh
    told, values = studio.ask("() => [impulsar.headset().held, impulsar.frame().hands[0].values]")
    assert [one["body"] for one in told] == [LINK]
    assert told[0]["force"] == pytest.approx(np.linalg.norm(values[6:9]), rel=1e-6)
    placed.button("right", "trigger", 0)
    studio.until("() => impulsar.live().hands.length === 0")
    assert placed.state()["held"] == []
    assert studio.get("percent") < 1.0


SHARE = """async () => { // of the pixels of each eye's halves that something is drawn on: left eye's left half first
  const canvas = document.querySelector("canvas#canvas"), pad = document.createElement("canvas");
  [pad.width, pad.height] = [canvas.width, canvas.height];
  const pen = pad.getContext("2d", { willReadFrequently: true });
  const found = [0, 0, 0, 0];
  for (let picture = 0; picture < 600 && !found.some((count) => count > 0); picture++) { // empty while the page rests
    await new Promise(requestAnimationFrame);
    pen.clearRect(0, 0, pad.width, pad.height);
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, pad.width, pad.height);
    for (let k = 0; k < pad.width * pad.height; k++) {
      found[Math.floor((4 * (k % pad.width)) / pad.width)] += data[4 * k + 3] > 0;
    }
  }
  return found;
}"""


def test_what_the_headset_measures_hides_what_is_behind_it(placed: Headset) -> None:
    """Depth sensing is asked for by what scripts can read. A wall nearer than everything over the left half of each eye
    leaves nothing drawn there, and the right halves as they were; behind everything it hides nothing."""
    studio = placed.studio
    placed.press("play")
    studio.until("() => impulsar.status().paused")
    studio.ask("() => { device.stereoEnabled = true; }")
    placed.wait()
    assert placed.state()["measured"] == 0
    whole = studio.ask(SHARE)
    assert min(whole[:3]) > 50, whole
    for wall, left in ((0.15, 0), (20.0, 1)):
        studio.ask("(far) => { window.wall = far; }", wall)
        placed.wait()
        assert placed.state()["measured"] == 2
        found = studio.ask(SHARE)
        for half in (0, 2):
            assert found[half] == (0 if left == 0 else whole[half]), (wall, found, whole)
            assert found[half + 1] == whole[half + 1], (wall, found, whole)
    studio.ask("() => { window.wall = 0; }")
    placed.wait()
    assert placed.state()["measured"] == 0
    assert studio.ask(SHARE) == whole


def test_touch_takes_what_the_tip_is_at(placed: Headset) -> None:
    """A tip within 3 cm takes the link, wherever its ray points; turning the controller does not move its tip."""
    at = point_of(placed)
    placed.hold("right", np.add(at, (0, 0, 0.02)), np.add(at, (0, 1, 0.02)))
    placed.button("right", "trigger", 1)
    held = hand(placed.studio)
    assert held["body"] == LINK
    grip = placed.to_room(held["values"][3:6])
    placed.move("right", np.add(at, (0, 0.1, 0.02)))
    placed.studio.settle()
    placed.studio.wait_time(0.2)
    moved = placed.to_room(hand(placed.studio)["values"][3:6]) - grip
    assert np.allclose(moved, (0, 0.1, 0), atol=3e-4)
    placed.button("right", "trigger", 0)
    placed.studio.until("() => impulsar.live().hands.length === 0")


def test_turning_the_controller_turns_what_it_holds(placed: Headset) -> None:
    """The hand aims at the orientation that the body would have if it were rigid with the controller, to the 1 mrad
    below which nothing is sent; the link turns with it about its hinge, and back."""
    studio = placed.studio
    at = np.add(point_of(placed), (0, 0, 0.02))
    placed.move("right", at, [0, 0, 0, 1])
    placed.button("right", "trigger", 1)
    held = hand(studio)
    assert held["body"] == LINK and held["angular_stiffness"] > 0
    axis = placed.to_room((1, 0, 0)) - placed.to_room((0, 0, 0))  # of the hinges, in the room
    rest = Rotation.from_quat(studio.frame()["poses"][LINK][3:])
    ahead = """([q, angle]) => {
      const now = impulsar.frame().poses.link10.slice(3);
      return 2 * Math.acos(Math.min(1, Math.abs(q.reduce((sum, x, k) => sum + x * now[k], 0)))) > angle;
    }"""
    for angle in (0.6, -0.6):
        placed.move("right", at, Rotation.from_rotvec(angle * axis).as_quat())
        studio.settle()
        studio.wait_time(0.1)
        turn = Rotation.from_quat(hand(studio)["aim"]) * rest.inv()
        assert np.allclose(turn.as_rotvec(), (angle, 0, 0), atol=3e-3)
        turned_back = (Rotation.from_rotvec((-angle, 0, 0)) * rest).as_quat().tolist()
        studio.until(ahead, [turned_back, 0.6 + 0.3])  # farther from there than the half of the way
    placed.button("right", "trigger", 0)
    studio.until("() => impulsar.live().hands.length === 0")
    assert studio.get("percent") < 1.0


def test_pinch_of_a_tracked_hand(placed: Headset) -> None:
    """Fingers that pinch are a select: the link between them is taken, and let go."""
    studio = placed.studio
    studio.ask("() => { device.primaryInputMode = 'hand'; }")
    placed.wait(4)
    at = point_of(placed)
    placed.hold("right", np.add(at, (0, 0, 0.4)), at)
    studio.ask("() => device.hands.right.updatePinchValue(1)")
    assert hand(studio)["body"] == LINK
    studio.ask("() => device.hands.right.updatePinchValue(0)")
    studio.until("() => impulsar.live().hands.length === 0")


TAKEN_AWAY = {
    "session ends": "() => device.activeSession.end()",
    "headset taken off": "() => device.updateVisibilityState('hidden')",
    "menu of the system": "() => device.updateVisibilityState('visible-blurred')",
    "controller lost": "() => { device.controllers.right.connected = false; }",
    "tracking lost": """() => {
      const find = XRFrame.prototype.getPose;
      XRFrame.prototype.getPose = function (space, base) {
        return space === device.controllers.right.inputSource.targetRaySpace ? null : find.call(this, space, base);
      };
    }""",
}


@pytest.mark.parametrize("loss", TAKEN_AWAY)
def test_hand_lets_go_when_it_is_lost(placed: Headset, loss: str) -> None:
    """In mid-pull: the hand is released, and the simulation goes on."""
    studio = placed.studio
    controller = take(placed)
    placed.move("right", np.add(controller, (0.1, 0.05, 0)))
    studio.settle()
    studio.ask(TAKEN_AWAY[loss])
    studio.until("() => impulsar.live().hands.length === 0")
    studio.wait_time(0.2)
    assert not studio.get("status")["paused"]
    if loss == "session ends":
        studio.until("() => impulsar.headset() === null")
        drawn = studio.get("drawn")
        studio.until("(n) => impulsar.drawn() > n", drawn)  # the page draws again, by its own camera
        assert studio.page.locator("#headset").get_attribute("aria-pressed") == "false"


def test_three_touched_points(placed: Headset) -> None:
    """Origin, +x and level: the world stands there to 1e-6; points on one line are refused in words."""
    placed.press("points")
    origin, along = np.array([-0.2, 0.8, -0.6]), np.array([0.1, 0.8, -0.8])
    for point in (origin, along, 2 * along - origin):
        placed.hold("right", point, np.add(point, (0, -1, -0.2)))
        placed.select()
    assert "line of the others" in placed.state()["told"][2]
    for point in (origin, along, np.array([0.1, 0.8, -0.4])):
        placed.hold("right", point, np.add(point, (0, -1, -0.2)))
        placed.select()
    assert placed.state()["placing"] == "none"
    assert np.allclose(placed.to_room((0, 0, 0)), origin, atol=1e-6)
    x = (along - origin) / np.linalg.norm(along - origin)
    assert np.allclose(placed.to_room((1, 0, 0)), origin + x, atol=1e-6)
    assert np.allclose(placed.to_room((0, 0, 1)), np.add(origin, (0, 1, 0)), atol=1e-6)


def test_squeezes_carry_turn_and_scale(placed: Headset) -> None:
    """One squeeze carries the whole; two hands drawn apart to twice their distance make it twice as large.

    Held at that scale, the hand's target in the world goes half as far as the controller.
    """
    origin = placed.to_room((0, 0, 0))
    placed.button("right", "squeeze", 1)
    at = np.array([0.2, 1.3, -0.3])
    placed.move("right", np.add(at, (0.1, 0.05, 0.2)))
    placed.button("right", "squeeze", 0)
    assert np.allclose(placed.to_room((0, 0, 0)), np.add(origin, (0.1, 0.05, 0.2)), atol=1e-6)
    aside = placed.studio.ask("() => IWER.metaQuest3.controllerConfig.layout.right.gripOffsetMatrix[12]")
    for side, x in (("left", -0.1 + aside), ("right", 0.1 - aside)):  # so that the grips are 0.2 m apart
        placed.move(side, (x, 1.2, -0.4), (0, 0, 0, 1))
        placed.button(side, "squeeze", 1)
    placed.move("left", (-0.2 + aside, 1.2, -0.4))
    placed.move("right", (0.2 - aside, 1.2, -0.4))
    for side in ("left", "right"):
        placed.button(side, "squeeze", 0)
    assert placed.state()["placed"]["scale"] == pytest.approx(2, rel=1e-6)
    controller = take(placed)
    before = np.array(hand(placed.studio)["values"][3:6])
    placed.move("right", np.add(controller, (0, 0.1, 0)))
    placed.studio.settle()
    placed.studio.wait_time(0.2)
    assert np.allclose(np.array(hand(placed.studio)["values"][3:6]) - before, (0, 0, 0.05), atol=2e-4)
    placed.button("right", "trigger", 0)


def test_board(placed: Headset) -> None:
    """Time, scale, forces, undo and leaving by the board's buttons, each seen in the world or the session."""
    studio = placed.studio
    placed.press("play")
    studio.until("() => impulsar.status().paused")
    placed.press("play")
    studio.until("() => !impulsar.status().paused")
    placed.press("smaller")
    assert placed.state()["placed"]["scale"] == pytest.approx(0.8)
    placed.press("true")
    assert placed.state()["placed"]["scale"] == 1
    placed.press("forces")
    studio.until("() => impulsar.arrows('reactions').length === 10")
    controller = take(placed)
    placed.move("right", np.add(controller, (0.1, 0.1, 0)))
    studio.wait_time(0.3)
    placed.button("right", "trigger", 0)
    studio.until("() => impulsar.live().hands.length === 0 && impulsar.status().undo !== null")
    moved = studio.frame()["time"]
    placed.press("undo")
    studio.until("(time) => impulsar.frame().time < time", moved)
    placed.press("exit")
    studio.until("() => impulsar.headset() === null && document.body.dataset.headset === ''")


def test_controllers_pulse_and_sounds_are_made(placed: Headset) -> None:
    """The held controller shakes as the hand pulls; clip and release are heard, and by one switch no longer."""
    studio = placed.studio
    studio.ask(
        """() => {
          const [actuator] = device.controllers.right.inputSource.gamepad.hapticActuators;
          window.pulses = [];
          actuator.pulse = async (strength) => { pulses.push(strength); return true; };
        }"""
    )
    controller = take(placed)
    placed.move("right", np.add(controller, (0.1, 0.1, 0)))
    studio.until("() => pulses.some((strength) => strength > 0.02)")
    assert studio.ask("() => Math.max(...pulses)") <= 1
    placed.button("right", "trigger", 0)
    studio.until("() => impulsar.sounds().clip === 1 && impulsar.sounds().release === 1")
    placed.press("sound")
    placed.press("reset")  # it swings
    studio.until("() => impulsar.frame().books.kinetic < 1e-6")
    take(placed)
    placed.button("right", "trigger", 0)
    studio.until("() => impulsar.live().hands.length === 0")
    assert studio.get("sounds")["clip"] == 1


def test_two_people_each_with_a_hand(placed: Headset, server: Server, open_page: Callable[..., Studio]) -> None:
    """Somebody at a screen holds the same link: in the headset there are two hands, each with its force."""
    other = open_page(server.link, viewport=SMALL)
    pixel = other.get("pixel", LINK)
    other.drag(pixel, {"x": pixel["x"] + 6, "y": pixel["y"]}, release=False)  # hardly moved
    placed.studio.until("() => impulsar.live().hands.length === 1")
    at = point_of(placed)
    placed.hold("right", at, np.add(at, (0, 1, 0)))
    placed.button("right", "trigger", 1)
    placed.studio.until("() => impulsar.live().hands.length === 2")
    placed.studio.settle()
    placed.wait()
    assert placed.state()["tags"] == 2
    told, hands = placed.studio.ask("() => [impulsar.headset().held, impulsar.frame().hands]")
    assert [one["body"] for one in told] == [LINK]  # one's own, the second of two
    assert told[0]["force"] == pytest.approx(np.linalg.norm(hands[1]["values"][6:9]), rel=1e-6)
    other.page.mouse.up()
    placed.studio.until("() => impulsar.live().hands.length === 1")
    placed.button("right", "trigger", 0)


def test_falls_back_to_vr(open_scene: Callable[..., Studio]) -> None:
    """A headset that does not see the room stands the mechanism before the eyes."""
    script = runtime(("inline", "immersive-vr"))
    headset = Headset(open_scene(viewport=SMALL, script=script)).enter()
    state = headset.state()
    assert (state["mode"], state["placing"]) == ("immersive-vr", "none")
    assert -2 < headset.to_room((0, 0, 0))[2] < -0.4
    take(headset)
    headset.button("right", "trigger", 0)
    headset.studio.until("() => impulsar.live().hands.length === 0")


def test_falls_back_to_a_pair(open_scene: Callable[..., Studio]) -> None:
    """Where no session begins there are two pictures side by side, of two eyes; Escape ends it."""
    script = runtime() + "navigator.xr.requestSession = () => Promise.reject(new Error('no leave'));"
    studio = open_scene(viewport=SMALL, script=script)
    studio.page.click("#headset")
    studio.until("() => document.body.dataset.headset === 'pair'")
    studio.until(
        "() => [...document.querySelectorAll('.toast')].some((toast) => toast.textContent.includes('no leave'))"
    )
    drawn = studio.get("drawn")
    studio.until("(n) => impulsar.drawn() > n + 2", drawn)
    halves = studio.ask(
        """() => {
          const canvas = document.getElementById("canvas");
          const copy = document.createElement("canvas");
          copy.width = canvas.width; copy.height = canvas.height;
          const pen = copy.getContext("2d");
          pen.drawImage(canvas, 0, 0);
          const { data, width, height } = pen.getImageData(0, 0, canvas.width, canvas.height);
          const seen = [[], []];
          for (let y = 0; y < height; y += 2) for (let x = 0; x < width; x++) {
            const k = 4 * (y * width + x);
            const bright = data[k] + data[k + 1] + data[k + 2];
            if (data[k + 3] > 200 && bright < 500) seen[x < width / 2 ? 0 : 1].push(x % (width / 2));
          }
          return seen.map((xs) => [xs.length, xs.reduce((sum, x) => sum + x, 0) / xs.length]);
        }"""
    )
    (left, middle_left), (right, middle_right) = halves
    assert min(left, right) > 50  # the chain is in both
    assert max(left, right) < 1.5 * min(left, right)
    assert abs(middle_left - middle_right) < 40  # in the same place but for the parallax
    studio.page.keyboard.press("Escape")
    studio.until("() => document.body.dataset.headset === ''")
