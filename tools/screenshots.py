"""Pictures of the studio's main views, into docs/images: `make screenshots`.

Drives the page as the browser tests do, in the same software-rendered Chromium.
"""

import sys
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from page.browser import FLAGS, SEASONED, Server, Studio, find_chromium  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MOST = 300_000  # bytes of a picture
COLOURS = 256  # of a picture: what a palette has
WIDE, PHONE = {"width": 1360, "height": 850}, {"width": 390, "height": 844}
LYING = {"width": 844, "height": 390}  # a phone in landscape


def shoot(studio: Studio, name: str) -> None:
    """Let the picture settle and save it."""
    time.sleep(0.4)
    studio.ask("() => document.querySelectorAll('.toast button').forEach((button) => button.click())")
    path = IMAGES / f"studio-{name}.png"
    studio.page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")
    if size > MOST:
        raise SystemExit(f"{path}: {size} bytes, expected at most {MOST}; make the view smaller")


def pulled(studio: Studio) -> None:
    """The ten pendula held aside by the mouse, the last one picked."""
    studio.fresh("ten-pendula")
    grip = studio.get("pixel", "link10", [0, 0, -0.02])
    studio.page.mouse.click(grip["x"], grip["y"])
    grip = studio.get("pixel", "link10", [0, 0, -0.02])
    studio.drag(grip, {"x": grip["x"] + 150, "y": grip["y"] - 95}, steps=12, release=False)
    studio.wait_time(2.0)


def lift(studio: Studio) -> None:
    """The cross-lift, one joint picked: its reaction is a choice."""
    studio.fresh("cross-lift")
    studio.wait_time(0.5)
    studio.pick("joint", studio.get("books")["indeterminate"][0])
    studio.page.select_option("select[aria-label='What to plot of the picked part']", "reaction force")
    studio.wait_time(1.0)


def manipulators(studio: Studio) -> None:
    """The slider-crank with a force, a torque and a driven joint."""
    studio.fresh("slider-crank")
    studio.page.select_option("#speed", "0.1")
    studio.wait_time(0.25)
    studio.pause()
    studio.page.locator("#seek").fill("0.25")  # the same pose in every picture
    studio.until("() => Math.abs(impulsar.frame().time - 0.25) < 1e-9")
    studio.tool("motion")  # before there are handles beside the joint
    pixel = studio.get("jointPixel", "pin")
    studio.page.mouse.click(pixel["x"], pixel["y"])
    studio.until("() => impulsar.live().motors.length === 1 && impulsar.pick()?.name === 'pin'")
    studio.type("value", "2.5")
    studio.settle()
    studio.tool("force")
    grip = studio.get("pixel", "rod")
    studio.drag(grip, {"x": grip["x"] + 30, "y": grip["y"] - 120})
    studio.until("() => impulsar.pick()?.kind === 'load' && impulsar.live().loads.length === 1")
    studio.tool("torque")
    grip = studio.get("pixel", "crank")
    studio.drag(grip, {"x": grip["x"] + 75, "y": grip["y"]})
    studio.until("() => impulsar.live().loads.length === 2")
    studio.tool("grab")
    studio.run()
    studio.wait_time(0.1)
    studio.pick("load", "torque 1")
    studio.page.select_option("select[aria-label='What to plot of the whole']", "work and loss")
    studio.wait_time(0.03)


def at_speed_one(studio: Studio) -> None:
    studio.page.select_option("#speed", "1")
    studio.page.select_option("select[aria-label='What to plot of the whole']", "energy")


def phone(studio: Studio, sheet: str) -> None:
    studio.page.click(f"#tabs button:has-text('{sheet}')")


def take(browser: Browser, server: Server) -> None:
    def page(size: dict[str, int], scheme: str, **options: bool) -> Studio:
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)  # type: ignore[arg-type]
        context.add_init_script(SEASONED)
        return Studio(context.new_page()).open(server.link)

    for scheme in ("light", "dark"):
        studio = page(WIDE, scheme)
        pulled(studio)
        shoot(studio, f"pull-{scheme}")
        studio.page.mouse.up()
        lift(studio)
        shoot(studio, f"lift-{scheme}")
        manipulators(studio)
        shoot(studio, f"manipulators-{scheme}")
        at_speed_one(studio)
        studio.page.context.close()
    small = page(PHONE, "light", has_touch=True, is_mobile=True)
    small.fresh("ten-pendula")
    shoot(small, "phone")
    small.page.context.close()
    for scheme in ("light", "dark"):
        small = page(PHONE, scheme, has_touch=True, is_mobile=True)
        small.fresh("cross-lift")
        phone(small, "Inspector")
        small.pick("joint", small.until("() => impulsar.books()?.indeterminate[0]"))
        shoot(small, f"phone-inspector-{scheme}")
        phone(small, "Plots")
        small.wait_time(1.0)
        shoot(small, f"phone-plots-{scheme}")
        small.page.context.close()


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    server = Server("ten-pendula")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            take(browser, server)
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
