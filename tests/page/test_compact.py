"""The page as `world.view(compact=True)` shows it: the picture, play and one plot."""

import re

import impulsar as im

from .browser import Studio


def test_a_compact_view_has_the_picture_play_and_one_plot(browser) -> None:
    shown = im.World(im.scene("four-bar")).view(compact=True, served=True)
    try:
        assert shown.url.endswith("/?compact") and 'height="420"' in shown._repr_html_()
        page = browser.new_page(viewport={"width": 800, "height": shown.height})
        studio = Studio(page)
        page.goto(shown.url)
        assert re.search(r"\?compact$", page.url)
        studio.until("() => window.impulsar && impulsar.frames() > 1 && impulsar.drawn() > 1")
        for name in ("#tools", "#side", "#books", "#plot-bar", "#hint"):
            assert not page.is_visible(name), name
        assert page.is_visible("#play") and page.locator("#panes > :visible").count() == 1
        sizes = {name: page.locator(name).bounding_box() for name in ("#canvas", "#panes")}
        assert sizes["#canvas"]["height"] > 180 and sizes["#panes"]["height"] > 90
        assert sizes["#canvas"]["width"] == 800
        page.click("#play")
        studio.until("() => impulsar.status().paused")
        assert studio.problems == []
        page.close()
    finally:
        shown.stop()
