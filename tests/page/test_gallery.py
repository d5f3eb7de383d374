"""The gallery: pictures of the scenes that move, what to try, choices as drop-downs, what was opened before."""

from PIL import Image

import impulsar as im
from impulsar.scenes import OWN
from impulsar.studio.describe import THUMBNAILS

from .browser import Studio


def test_every_scene_has_a_strip_of_twelve_poses() -> None:
    """`python tools/thumbnails.py` draws them."""
    assert sorted(path.stem for path in THUMBNAILS.glob("*.webp")) == sorted(OWN)
    for name in OWN:
        strip = Image.open(THUMBNAILS / f"{name}.webp").convert("RGBA")
        assert strip.size == (1920, 120)
        poses = [strip.crop((160 * k, 0, 160 * (k + 1), 120)).tobytes() for k in range(12)]
        assert len(set(poses)) > 3, name  # it moves


def test_scenes_are_chosen_by_their_pictures(studio: Studio) -> None:
    page = studio.page
    page.click("#scene-button")
    cards = page.locator(".gallery form.card")
    assert cards.count() == len(im.SCENES)
    assert page.locator(".gallery > *").first.get_by_role("button", name="New scene").count() == 1
    card = cards.filter(has=page.locator("button[aria-label='Open cam']"))
    card.scroll_into_view_if_needed()
    assert im.SCENES["cam"].invite in (card.text_content() or "")
    loaded = page.evaluate("() => fetch('api/scenes/cam.webp').then((answer) => answer.headers.get('content-type'))")
    assert loaded == "image/webp"
    card.locator(".picture").hover()
    name = "() => document.querySelector('.picture:hover .strip').getAnimations()[0]?.animationName"
    assert page.evaluate(name) == "strip"
    card.locator("summary").click()
    follower = card.locator("select[name=follower]")
    assert follower.locator("option").all_inner_texts() == ["flat", "roller"]
    follower.select_option("roller")
    card.get_by_role("button", name="Open", exact=True).click()
    studio.until("() => impulsar.scene().name.includes('roller') && document.querySelector('dialog') === null")


def test_what_was_opened_before_is_opened_again(studio: Studio) -> None:
    page = studio.page
    page.click("#scene-button")
    card = page.locator(".gallery form.card").filter(has=page.locator("button[aria-label='Open chain']"))
    card.locator("summary").click()
    card.locator("input[name=n]").fill("3")
    card.get_by_role("button", name="Open", exact=True).click()
    studio.until("() => impulsar.scene().bodies.length === 3 && document.querySelector('dialog') === null")
    studio.fresh("four-bar")
    page.click("#scene-button")
    page.get_by_role("group", name="Recent").get_by_role("button", name="chain, n = 3").click()
    studio.until("() => impulsar.scene().bodies.length === 3 && document.querySelector('dialog') === null")
