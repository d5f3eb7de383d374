"""One HTML file with a recorded motion: it plays from the disk, without a server."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import impulsar as im
from impulsar.cli import main
from impulsar.studio.player import player_html

from .browser import Studio

READY = "() => window.player !== undefined && player.state().time > 0"


def test_a_motion_plays_from_a_file(browser: Browser, tmp_path: Path) -> None:
    """Play, pause, scrub; between samples bodies are where the run has them, to the cubics' fourth order."""
    path = tmp_path / "motion.html"
    assert main(["export", "four-bar", "--to", "html", "--duration", "0.5", "--out", str(path)]) == 0
    assert path.stat().st_size < 2e6
    page = browser.new_page(viewport={"width": 800, "height": 600})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    shown = Studio(page)
    page.goto(path.as_uri())
    shown.until(READY)
    page.click("#play")
    assert shown.ask("() => player.state().running") is False
    for time in (0.1234, 0.37, 0.5):
        page.evaluate("(t) => player.go(t)", time)
        state = shown.ask("() => player.state()")
        assert state["time"] == time
        truth = im.World(im.scene("four-bar")).run(0.5, at=[time], progress=False)
        for body, pose in state["poses"].items():
            assert pose[:3] == pytest.approx(truth["position"].sel(body=body).values[0], abs=1e-5)
    page.locator("#seek").fill("0.25")
    assert shown.ask("() => player.state()")["time"] == pytest.approx(0.25)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert shown.problems == []
    page.close()


def test_names_do_not_end_the_script(browser: Browser, tmp_path: Path) -> None:
    model = im.Model("</script><b>bold & <!-- name")
    model.body("</script>", mass=1.0, shape=im.Sphere(0.1))
    world = im.World(model)
    (tmp_path / "a.html").write_text(player_html(world, world.run(0.2, progress=False)), encoding="utf-8")
    page = browser.new_page()
    shown = Studio(page)
    page.goto((tmp_path / "a.html").as_uri())
    shown.until(READY)
    assert page.title() == model.name and shown.problems == []
    page.close()


def test_the_page_saves_its_recording(studio: Studio, browser: Browser, tmp_path: Path) -> None:
    studio.wait_time(0.3)
    studio.page.click("#files-button")
    with studio.page.expect_download() as saved:
        studio.page.get_by_role("button", name="Save motion (HTML, plays anywhere)").click()
    saved.value.save_as(tmp_path / "b.html")
    page = browser.new_page()
    shown = Studio(page)
    page.goto((tmp_path / "b.html").as_uri())
    shown.until(READY)
    assert len(shown.ask("() => player.state().poses")) == 10 and shown.problems == []
    page.close()


def test_a_video_is_shot_picture_by_picture(browser: Browser, tmp_path: Path) -> None:
    """0.25 s at 60 a second are 15 pictures, however slowly they are drawn; the browser plays what it wrote."""
    world = im.World(im.scene("four-bar"))
    (tmp_path / "a.html").write_text(player_html(world, world.run(0.25, 0.01, progress=False)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 640, "height": 480})
    shown = Studio(page)
    page.goto((tmp_path / "a.html").as_uri())
    shown.until(READY)
    page.evaluate("""() => { player.video([640, 360]).then(async (blob) => {
        const video = document.createElement("video");
        video.src = URL.createObjectURL(blob);
        video.onerror = () => { window.made = { error: video.error.message }; };
        await new Promise((done) => { video.onloadedmetadata = done; });
        const { duration, videoWidth, videoHeight } = video;
        const seen = [];
        for (const time of [0.02, 0.22]) {
          await new Promise((done) => { video.onseeked = done; video.currentTime = time; });
          const sheet = new OffscreenCanvas(64, 36);
          const pen = sheet.getContext("2d");
          pen.drawImage(video, 0, 0, 64, 36);
          seen.push([...pen.getImageData(0, 0, 64, 36).data].join());
        }
        window.made = { duration, videoWidth, videoHeight, moves: seen[0] !== seen[1], bytes: blob.size };
      }).catch((error) => { window.made = { error: String(error) }; }); }""")
    made = shown.until("() => window.made", patience=120)
    assert (made.get("videoWidth"), made.get("videoHeight"), made.get("moves")) == (640, 360, True), made
    assert made["duration"] == pytest.approx(0.25, abs=1e-3) and made["bytes"] > 2000
    assert shown.problems == []
    page.close()
