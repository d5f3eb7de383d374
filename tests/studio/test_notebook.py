"""The page inside a notebook, and pictures without a browser."""

import io
import json
import re
import subprocess
import sys
import urllib.request

import pytest
from PIL import Image

import impulsar as im


def test_a_view_is_a_frame_whose_address_opens_the_page() -> None:
    world = im.World(im.scene("four-bar"))
    shown = world.view(height=400, served=True)
    try:
        html = shown._repr_html_()
        found = re.search(r'<iframe src="(http://127\.0\.0\.1:\d+/t/[^"]+/)"', html)
        assert found is not None
        assert 'height="400"' in html
        with urllib.request.urlopen(f"{found[1]}api/scenes", timeout=10) as answer:
            assert "frame-ancestors http://localhost:*" in answer.headers["content-security-policy"]
            assert any(entry["name"] == "four-bar" for entry in json.load(answer))
        assert world.view().url == shown.url  # one server per world
        with pytest.raises(im.ModelError, match="height is 7"):
            world.view(height=7)
        with pytest.raises(im.edits.HeldError, match=r"view\.stop\(\)"):
            world.step()  # the page's session does
    finally:
        shown.stop()
    time = world.time
    assert world.paused or world.step()
    assert world.time >= time


def test_an_origin_that_is_none_is_refused() -> None:
    world = im.World(im.scene("four-bar"))
    with pytest.raises(im.ModelError, match="origin is"):
        world.view(origin="https://a.example; script-src *")


def test_a_snapshot_is_a_picture_of_the_size_asked_for() -> None:
    world = im.World(im.scene("cross-lift"))
    world.step(3)
    picture = Image.open(io.BytesIO(world.snapshot_png(width=600, height=400)))
    assert picture.format == "PNG"
    assert picture.size == (600, 400)
    assert len(picture.convert("RGB").getcolors(10**6)) > 20  # not an empty sheet
    with pytest.raises(im.ModelError, match="width is 5"):
        world.snapshot_png(width=5)


def test_importing_impulsar_imports_no_web_package() -> None:
    code = (
        "import sys, impulsar, impulsar.cli; impulsar.cli.build_parser();"
        "print([m for m in ('starlette', 'uvicorn', 'websockets', 'asyncio') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.strip().splitlines()[-1] == "[]"
