"""The README's animation, into docs/images/studio.webp: a turn of Jansen's leg and a swing of Peaucellier's linkage.

Drives the page as the browser tests do, in the same software-rendered Chromium: every picture is sought on the
timeline, so that the animation is even however fast the machine is.
"""

import io
import math
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from page.browser import FLAGS, Server, Studio, find_chromium  # noqa: E402

TARGET = ROOT / "docs" / "images" / "studio.webp"
MOST = 1_000_000  # bytes
SIZE = {"width": 1120, "height": 900}
WIDE = 620  # pixels of the animation
SHOWN = (("jansen-leg", 2 * math.pi / 3, True), ("peaucellier", 2 * math.pi, False))  # scene, its period [s], forces
PICTURES = 26  # of each
BETWEEN = 80  # [ms]


def picture(page: Page) -> Image.Image:
    shot = Image.open(io.BytesIO(page.locator("#stage").screenshot()))
    return shot.convert("RGB").resize((WIDE, round(WIDE * shot.height / shot.width)), Image.Resampling.LANCZOS)


def turn(studio: Studio, scene: str, period: float, forces: bool) -> list[Image.Image]:
    """A period of a scene, after the first, so that its paths are whole."""
    studio.fresh(scene)
    studio.until("() => impulsar.sweep()?.topology === impulsar.scene().topology")  # all of it is in the picture
    studio.ask("() => { document.querySelector('#hint').style.visibility = 'hidden'; }")
    studio.wait_time(2.05 * period)
    studio.pause()
    if forces:
        studio.page.click("#forces")
    found = []
    for k in range(PICTURES):
        time = period * (1 + k / PICTURES)
        studio.page.locator("#seek").fill(str(time))
        studio.until("(time) => Math.abs(impulsar.frame().time - time) < 0.02 && impulsar.settled()", time)
        studio.ask("() => document.querySelectorAll('.toast button').forEach((button) => button.click())")
        found.append(picture(studio.page))
    if forces:
        studio.page.click("#forces")
    return found


def main() -> None:
    server = Server(SHOWN[0][0])
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            studio = Studio(browser.new_context(viewport=SIZE).new_page()).open(server.link)
            pictures = [one for scene, period, forces in SHOWN for one in turn(studio, scene, period, forces)]
            browser.close()
    finally:
        server.stop()
    first, *others = pictures
    first.save(TARGET, save_all=True, append_images=others, duration=BETWEEN, loop=0, quality=60, method=4)
    size = TARGET.stat().st_size
    print(f"{TARGET.relative_to(ROOT)}: {len(pictures)} pictures, {size / 1000:.0f} kB")
    if size > MOST:
        raise SystemExit(f"{TARGET}: {size} bytes, expected at most {MOST}; take fewer or smaller pictures")


if __name__ == "__main__":
    main()
