"""A large world on its page: what is drawn of it, its time and books, the gallery, and what is refused."""

import json
from collections.abc import Callable, Iterator

import pytest
from websockets.sync.client import connect

from impulsar.studio.client import StudioClient
from impulsar.studio.large.window import most_bodies
from impulsar.studio.large_messages import FRAME_BYTES

from .browser import Server, Studio


@pytest.fixture(scope="module")
def large() -> Iterator[Server]:
    """A studio of its own, on a chain."""
    server = Server("chain", "--set", "n=1000", "--large")
    yield server
    server.stop()


@pytest.fixture
def chain(large: Server, open_page: Callable[..., Studio]) -> Studio:
    """The page on the chain, with time running."""
    with StudioClient(large.link, timeout=60.0) as client:
        body = json.dumps({"name": "chain", "parameters": {"n": 1000}}).encode()
        assert client.request("POST", "/api/large", body).status == 200
        line = f"{client.origin.replace('http', 'ws')}/large-line"
        with connect(line, additional_headers={"Cookie": client.cookie, "Origin": client.origin}) as socket:
            socket.send(json.dumps({"type": "large-control", "id": 1, "action": "run", "value": None}))
            while not (isinstance(item := socket.recv(timeout=60.0), str) and json.loads(item)["type"] == "reply"):
                pass
    return opened(open_page(large.link), 1000)


def opened(studio: Studio, bodies: int) -> Studio:
    """Wait until a world of so many bodies is there."""
    studio.until("() => window.impulsar && impulsar.scene && impulsar.scene() !== null")
    studio.until("(bodies) => impulsar.scene().bodies === bodies && impulsar.shown().here === bodies", bodies, 120.0)
    return studio


def choose(studio: Studio, name: str, **parameters: object) -> None:
    """Open a large scene by its card."""
    page = studio.page
    page.click("#scene-button")
    card = page.locator(".large-scenes form.card").filter(has=page.locator(f"button[aria-label='Open large {name}']"))
    card.locator("summary").click()
    for key, value in parameters.items():
        card.locator(f"input[name={key}]").fill(str(value))
    card.get_by_role("button", name="Open", exact=True).click()


def test_a_chain_hangs_and_is_told_of(chain: Studio) -> None:
    studio = chain
    studio.until("() => impulsar.shown().drawn === 1000")
    studio.until("() => impulsar.books()?.steps_per_second > 0")
    text = studio.page.text_content("#side") or ""
    for label in ("Bodies", "Joints", "Steps", "Parts of a step", "Kinetic", "Potential", "Imbalance", "Gap", "|J v|"):
        assert label in text
    assert not studio.page.locator("#side section", has_text="Contacts").is_visible()
    assert studio.get("books")["gap"] < 1e-12
    studio.until("() => impulsar.summary().includes('1 000 of 1 000 bodies drawn')")
    told = studio.get("summary")
    assert "frames/s" in told and "at most 512 kB" in told
    assert studio.get("largest") <= FRAME_BYTES


def test_time_stops_goes_by_steps_and_back(chain: Studio) -> None:
    studio = chain
    page = studio.page
    studio.until("() => impulsar.step() > 2")
    page.click("#play")
    studio.until("() => impulsar.status().paused && impulsar.isDrawn()")
    studio.until("() => impulsar.books().step === impulsar.step()")
    step = studio.get("step")
    page.click("#step")
    studio.until("(step) => impulsar.step() === step + 1", step)
    page.focus("#canvas")
    page.keyboard.press(".")
    studio.until("(step) => impulsar.step() === step + 2", step)
    page.click("#reset")
    studio.until("() => impulsar.step() === 0 && impulsar.time() === 0")
    page.select_option("#speed", "0.1")
    studio.until("() => impulsar.status().speed === 0.1")
    page.select_option("#speed", "1")
    page.keyboard.press("Escape")
    page.click("#play")
    studio.until("() => !impulsar.status().paused && impulsar.step() > 0")


def test_edits_are_refused_by_name_and_have_no_buttons(chain: Studio) -> None:
    studio = chain
    answer = studio.ask("async () => await impulsar.edit({ edit: 'Grab', hand: 'pointer', body: 'link1' })")
    assert answer.startswith("refused: Grab: a large world takes no edits")
    for id in ("tools", "undo", "redo", "parts", "inspector"):
        assert studio.page.locator(f"#{id}").count() == 0


def test_a_body_is_pulled_by_the_pointer(chain: Studio) -> None:
    studio = chain
    page = studio.page
    choose(studio, "chain", n=12)
    opened(studio, 12)
    page.click("#fit")
    page.click("#pull")
    assert page.get_attribute("#pull", "aria-pressed") == "true"
    studio.until("() => impulsar.isDrawn() && impulsar.step() > 0")
    start = studio.get("pixel", 8)
    studio.drag(start, {"x": start["x"] + 120, "y": start["y"]}, release=False)
    assert studio.get("held") >= 0
    studio.until("() => impulsar.books().pull > 0 && impulsar.books().works.hand > 0")
    studio.until("() => / pulled by .* N/.test(impulsar.summary())")
    page.mouse.up()
    studio.until("() => impulsar.held() === -1 && impulsar.books().pull === 0")
    page.click("#pull")
    page.mouse.move(start["x"], start["y"])


def test_the_view_turns_and_everything_fits_again(chain: Studio) -> None:
    studio = chain
    page = studio.page
    box = page.locator("#canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for _ in range(12):
        page.mouse.move(x, y)
        page.mouse.wheel(0, 2000)  # away: the world is small
    page.mouse.move(x, y)
    studio.until("() => impulsar.isDrawn()")
    studio.drag({"x": x, "y": y}, {"x": x + 150, "y": y + 30})
    page.click("#fit")
    studio.until("() => impulsar.isDrawn() && impulsar.shown().inSight === 1000")
    for theme in ("light", "dark"):
        page.click("#theme")
        studio.until("() => impulsar.isDrawn()")
        assert theme in ("light", "dark")
    studio.until("() => impulsar.shown().drawn === 1000")


def test_more_bodies_than_a_frame_holds_all_come(chain: Studio) -> None:
    """The page says how many are drawn: software draws so many triangles and no more."""
    studio = chain
    bodies = most_bodies() + 20_000
    choose(studio, "chain", n=bodies)
    opened(studio, bodies)
    assert FRAME_BYTES / 2 < studio.get("largest") <= FRAME_BYTES
    studio.page.click("#fit")
    studio.until("(bodies) => impulsar.shown().inSight === bodies", bodies)
    shown = studio.get("shown")
    assert 10_000 < shown["drawn"] <= bodies
    studio.until("() => impulsar.summary().includes('63 008 bodies drawn')")


def test_the_gallery_leads_to_large_worlds_and_back(server: Server, open_page: Callable[..., Studio]) -> None:
    studio = open_page(server.begin("four-bar"))
    page = studio.page
    choose(studio, "chain", n="many")
    studio.until("() => [...document.querySelectorAll('.toast')].some((t) => t.textContent.includes('whole number'))")
    assert all("422" in problem for problem in studio.problems)  # the browser's own line about the refusal
    studio.problems.clear()
    page.keyboard.press("Escape")
    choose(studio, "boxes", n=60)
    page.wait_for_url("**/large")
    opened(studio, 60)
    studio.until("() => impulsar.books()?.contacts >= 0 && impulsar.step() > 0")
    text = page.text_content("#side") or ""
    assert "Contacts" in text and "Overlap" in text and "Since the start" in text
    page.click("#mechanisms")
    page.wait_for_url(lambda url: not url.endswith("large"))
    studio.until("() => window.impulsar?.frame && impulsar.frame() !== null && impulsar.status() !== null")
    assert studio.get("status")["paused"] and studio.get("status")["scene"] == "four-bar"
