"""Pictures of every scene, light, dark, on a phone and on one that lies, into out/gallery, and on sheets.

`python tools/gallery.py`: of all scenes; `python tools/gallery.py stack arch`: of some; `--kinds phone lying`: some
kinds of pictures.
"""

import argparse
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from screenshots import FLAGS, LYING, PHONE, ROOT, SEASONED, WIDE, Server, Studio, find_chromium

from impulsar.scenes import OWN

OUT = ROOT / "out" / "gallery"
HEIGHT = 560  # of a picture on a sheet [px]
PATIENCE = 300.0  # with a scene that is slow on a busy machine [s]
SHOWN = 1.0  # time of the mechanism at which it is taken [s]
KINDS = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "has_touch": True, "is_mobile": True},
    "lying": {"viewport": LYING, "color_scheme": "dark", "has_touch": True, "is_mobile": True},
}


def shoot(studio: Studio, scene: str, kind: str) -> Path:
    """One scene a second after it began, framed as a newcomer sees it."""
    studio.fresh(scene, keep_view=False)
    studio.until("(end) => impulsar.frame().time >= end", SHOWN)
    studio.pause()
    studio.settle()
    path = OUT / f"{scene}-{kind}.png"
    studio.page.screenshot(path=path)
    studio.run()
    return path


def sheet(paths: list[Path], name: str) -> None:
    """Pictures side by side."""
    pictures = [Image.open(path).convert("RGB") for path in paths]
    pictures = [picture.resize((picture.width * HEIGHT // picture.height, HEIGHT)) for picture in pictures]
    whole = Image.new("RGB", (sum(picture.width for picture in pictures), HEIGHT))
    at = 0
    for picture in pictures:
        whole.paste(picture, (at, 0))
        at += picture.width
    whole.save(OUT / f"sheet-{name}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=list(OWN))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    args = parser.parse_args()
    scenes: list[str] = args.scenes
    kinds: list[str] = args.kinds
    OUT.mkdir(parents=True, exist_ok=True)
    server = Server("ten-pendula")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            for kind in kinds:
                context = browser.new_context(**KINDS[kind])  # type: ignore[arg-type]
                context.add_init_script(SEASONED)
                studio = Studio(context.new_page(), PATIENCE).open(server.link)
                for scene in scenes:
                    shoot(studio, scene, kind)
                    print(f"{scene} {kind}: {studio.problems or 'fine'}", flush=True)
                    studio.problems.clear()
                studio.page.context.close()
            browser.close()
    finally:
        server.stop()
    for scene in scenes:
        sheet([OUT / f"{scene}-{kind}.png" for kind in kinds], scene)


if __name__ == "__main__":
    main()
