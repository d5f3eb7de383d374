"""Animations, into docs/images: studio.webp, a turn of Jansen's leg and a swing of Peaucellier's linkage, for the
README; minibaja.webp, a car that drives over a curb; gps-drive.webp, one that drives into a street of houses, with its
satellites. Names of files as arguments choose among them.

Drives the page as the browser tests do, in the same software-rendered Chromium: every picture is sought on the
timeline, so that the animation is even however fast the machine is.
"""

import io
import math
import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from page.browser import FLAGS, GUIDED, Server, Studio, find_chromium  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MOST = 1_000_000  # bytes
SIZE = {"width": 1120, "height": 900}
WIDE = 620  # pixels of the animation
SHOWN = (("jansen-leg", 2 * math.pi / 3, True), ("peaucellier", 2 * math.pi, False))  # scene, its period [s], forces
PICTURES = 26  # of each
CURB = ("minibaja", "--set", "road=curb", "--set", "speed=3", "--set", "torque=60")
DRIVEN = (0.9, 2.4, 31)  # from, to [s], pictures
STREET = (8.0, 30.0, 34)
FARTHER = 27  # turns of the wheel from the car, so that houses are seen
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
    found = [sought(studio, period * (1 + k / PICTURES)) for k in range(PICTURES)]
    if forces:
        studio.page.click("#forces")
    return found


def sought(studio: Studio, time: float) -> Image.Image:
    """The picture of a moment."""
    studio.page.locator("#seek").fill(str(time))
    studio.until("(time) => Math.abs(impulsar.frame().time - time) < 0.02 && impulsar.settled()", time)
    studio.ask("() => document.querySelectorAll('.toast button').forEach((button) => button.click())")
    return picture(studio.page)


def mechanisms(studio: Studio) -> list[Image.Image]:
    return [one for scene, period, forces in SHOWN for one in turn(studio, scene, period, forces)]


def curb(studio: Studio) -> list[Image.Image]:
    """The car as it comes to the curb and over it, followed."""
    start, end, count = DRIVEN
    studio.run()
    studio.ask("() => { document.querySelector('#hint').style.visibility = 'hidden'; }")
    studio.until("(end) => impulsar.frame().time > end", end, patience=300)
    studio.pause()
    sought(studio, start)
    studio.page.click("#fit")
    studio.pick("body", "chassis")
    studio.page.click("#follow")
    studio.page.locator("#canvas").focus()
    studio.page.keyboard.press("Escape")
    studio.page.click("#forces")
    return [sought(studio, start + (end - start) * k / (count - 1)) for k in range(count)]


def street(studio: Studio) -> list[Image.Image]:
    """The car from open ground into the street, followed, its receiver's sky in the corner."""
    start, end, count = STREET
    studio.run()
    studio.ask("() => { document.querySelector('#hint').style.visibility = 'hidden'; }")
    studio.until("(end) => impulsar.frame().time > end", end, patience=300)
    studio.pause()
    studio.page.click("button:text('Iso')")
    for _ in range(FARTHER):
        studio.page.mouse.move(SIZE["width"] / 3, SIZE["height"] / 3)
        studio.page.mouse.wheel(0, 200)
        studio.settle()
    return [sought(studio, start + (end - start) * k / (count - 1)) for k in range(count)]


ANIMATIONS: dict[str, tuple[tuple[str, ...], Callable[[Studio], list[Image.Image]]]] = {
    "studio.webp": ((SHOWN[0][0],), mechanisms),
    "minibaja.webp": (CURB, curb),
    "gps-drive.webp": (("gps-drive",), street),
}


def make(name: str) -> None:
    """One of them."""
    arguments, film = ANIMATIONS[name]
    server = Server(*arguments)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            context = browser.new_context(viewport=SIZE)
            context.add_init_script(GUIDED)
            save(name, film(Studio(context.new_page()).open(server.link)))
            browser.close()
    finally:
        server.stop()


def save(name: str, pictures: list[Image.Image]) -> None:
    """Pictures as an animation."""
    first, *others = pictures
    target = IMAGES / name
    first.save(target, save_all=True, append_images=others, duration=BETWEEN, loop=0, quality=60, method=4)
    size = target.stat().st_size
    print(f"{target.relative_to(ROOT)}: {len(pictures)} pictures, {size / 1000:.0f} kB")
    if size > MOST:
        raise SystemExit(f"{target}: {size} bytes, expected at most {MOST}; take fewer or smaller pictures")


def main() -> None:
    for name in sys.argv[1:] or ANIMATIONS:
        make(name)


if __name__ == "__main__":
    main()
