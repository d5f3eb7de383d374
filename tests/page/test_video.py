"""A video of the recording, shot picture by picture in the page: its file, its times, and what its pictures show."""

import base64
import io
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import impulsar as im
from impulsar.studio.client import StudioClient

from .browser import Server, Studio

MASTERS = {0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x1F43B675, 0x1C53BB6B, 0xBB, 0xB7}  # hold other elements
DECODE = """([encoded, times]) => {
  const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([bytes], { type: "video/webm" }));
  video.onerror = () => { window.seen = { error: video.error.message }; };
  video.preload = "auto";
  video.oncanplaythrough = async () => {
    video.oncanplaythrough = null;
    const { duration, videoWidth, videoHeight } = video;
    const pictures = [];
    for (const time of times) {
      const isThere = new Promise((done) => video.requestVideoFrameCallback(done));
      video.currentTime = time;
      await isThere;
      const sheet = new OffscreenCanvas(videoWidth, videoHeight);
      const pen = sheet.getContext("2d");
      pen.drawImage(video, 0, 0);
      const blob = await sheet.convertToBlob();
      const data = new Uint8Array(await blob.arrayBuffer());
      pictures.push(btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join("")));
    }
    window.seen = { duration, videoWidth, videoHeight, pictures };
  };
}"""


def elements(data: bytes, at: int = 0, end: int | None = None) -> Iterator[tuple[int, int, bytes]]:
    """Id, place and content of all elements of a Matroska file (RFC 8794), in order; holders come before what they
    hold."""
    end = len(data) if end is None else end
    while at < end:
        start = at
        width = 9 - data[at].bit_length()
        found = int.from_bytes(data[at : at + width])
        at += width
        width = 9 - data[at].bit_length()
        length = int.from_bytes(data[at : at + width]) & ((1 << 7 * width) - 1)
        at += width
        assert at + length <= end, hex(found)
        yield found, start, data[at : at + length]
        if found in MASTERS:
            yield from elements(data, at, at + length)
        at += length


def parsed(data: bytes) -> dict[str, Any]:
    """What a WebM file says of itself."""
    found: dict[str, Any] = {"times": [], "keys": [], "clusters": [], "cues": []}
    cluster = unit = 0.0
    segment = next(at + 12 for id, at, _ in elements(data) if id == 0x18538067)  # where its content begins
    for id, at, content in elements(data):
        if id == 0x2AD7B1:
            unit = int.from_bytes(content) * 1e-9
        elif id == 0x4489:
            found["duration"] = struct.unpack(">d", content)[0] * unit
        elif id in (0xB0, 0xBA):
            found["width" if id == 0xB0 else "height"] = int.from_bytes(content)
        elif id == 0x86:
            found["codec"] = content.decode()
        elif id == 0x1F43B675:
            found["clusters"].append(at - segment)
        elif id == 0xF1:
            found["cues"].append(int.from_bytes(content))
        elif id == 0xE7:
            cluster = int.from_bytes(content)
        elif id == 0xA3:
            found["times"].append(unit * (cluster + struct.unpack(">h", content[1:3])[0]))
            found["keys"].append(bool(content[3] & 0x80))
    return found


@pytest.fixture
def stopped(open_scene: Callable[..., Studio]) -> Studio:
    """A four-bar that has run for a second or so and stands still, with a view that stays."""
    studio = open_scene("four-bar")
    studio.until("() => impulsar.frame().time >= 0.8")
    studio.pause()
    return studio


def make(studio: Studio, first: float, last: float, plots: str = "none", size: str = "1920 × 1080") -> bytes:
    """Make a video by the page's dialog."""
    page = studio.page
    page.click("#files-button")
    page.get_by_role("button", name="Save video of the recording…").click()
    dialog = page.get_by_role("dialog", name="Video of the recording")
    dialog.get_by_label("From [s]").fill(str(first))
    dialog.get_by_label("To [s]").fill(str(last))
    dialog.get_by_label("Plots").select_option(plots)
    assert dialog.get_by_label("Size").locator("option:checked").text_content() == "1920 × 1080"
    dialog.get_by_label("Size").select_option(size)
    with page.expect_download(timeout=180_000) as saved:
        dialog.get_by_role("button", name="Make the video").click()
    assert saved.value.suggested_filename == "four-bar.webm"
    return Path(saved.value.path()).read_bytes()


def decoded(studio: Studio, video: bytes, times: list[float]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What a browser makes of a file: what it says, and its pictures at some times."""
    studio.ask(DECODE, [base64.b64encode(video).decode(), times])
    seen = studio.until("() => window.seen", patience=120)
    assert "error" not in seen, seen
    data = [base64.b64decode(text) for text in seen.pop("pictures")]
    pictures = [np.asarray(Image.open(io.BytesIO(each)).convert("RGB"), float) for each in data]
    assert all(picture[:20, :20].mean() > 200 for picture in pictures)  # the light background, not an empty sheet
    return seen, pictures


def test_a_video_shows_the_recorded_motion(stopped: Studio) -> None:
    """12 pictures of 0.2 s, 1/60 s apart to the file's 0.1 ms; the coupler's middle is where a run has it, and not
    where it was at another time."""
    studio = stopped
    before = studio.frame()["time"], studio.frame()["poses"]
    video = make(studio, 0.2, 0.4)
    file = parsed(video)
    assert (file["width"], file["height"]) == (1920, 1080) and file["codec"] in ("V_VP9", "V_VP8")
    assert file["times"] == pytest.approx([k / 60 for k in range(12)], abs=0.6e-4)
    assert file["keys"] == [k == 0 for k in range(12)] and file["duration"] == pytest.approx(0.2)
    assert file["cues"] == file["clusters"] and file["clusters"]
    assert (
        studio.frame()["time"],
        studio.frame()["poses"],
    ) == before  # the session went nowhere, and the page shows it again

    shown = [(1 + 0.5) / 60, (10 + 0.5) / 60]  # the middle of two pictures' times
    seen, pictures = decoded(studio, video, shown)
    assert (seen["videoWidth"], seen["videoHeight"]) == (1920, 1080)
    assert seen["duration"] == pytest.approx(0.2, abs=1e-3)
    truth = im.World(im.scene("four-bar")).run(0.4, at=[0.2 + 1 / 60, 0.2 + 10 / 60], progress=False)
    places = truth["position"].sel(body="coupler").values
    height = studio.ask("() => document.getElementById('canvas').clientHeight")
    middle = studio.ask("""() => { const box = document.getElementById('canvas').getBoundingClientRect();
                                   return [box.left + box.width / 2, box.top + box.height / 2]; }""")
    for k, (place, other) in enumerate(zip(places, places[::-1], strict=True)):
        at, beside = (
            [1080 / height * (studio.get("worldPixel", p.tolist())[axis] - centre) + half
             for axis, centre, half in zip("xy", middle, (960, 540), strict=True)]
            for p in (place, other)
        )  # fmt: skip
        assert np.hypot(at[0] - beside[0], at[1] - beside[1]) > 60  # far enough to tell
        x, y = round(at[0]), round(at[1])
        here, later = (
            picture[y - 2 : y + 3, x - 2 : x + 3].mean(axis=(0, 1)) for picture in (pictures[k], pictures[1 - k])
        )
        assert np.abs(here - later).max() > 40, (here, later)


def test_plots_stand_beside_the_mechanism_in_a_video(stopped: Studio) -> None:
    """Below: the cursor goes through the plots from left to right as time goes on."""
    video = make(stopped, 0.1, 0.3, "below", "1280 × 720")
    _, pictures = decoded(stopped, video, [1.5 / 60, 10.5 / 60])
    field = [picture[int(0.75 * 720) : int(0.9 * 720), :] for picture in pictures]
    changed = np.abs(field[0] - field[1]).max(axis=2).max(axis=0) > 60
    columns = np.flatnonzero(changed)
    assert len(columns) and columns.max() - columns.min() > 100  # the cursor, at two places
    assert changed.mean() < 0.1  # the curves stand still


def test_a_video_is_given_up(stopped: Studio) -> None:
    studio, page = stopped, stopped.page
    page.click("#files-button")
    page.get_by_role("button", name="Save video of the recording…").click()
    dialog = page.get_by_role("dialog", name="Video of the recording")
    dialog.get_by_label("Speed", exact=True).select_option("0.05")
    dialog.get_by_role("button", name="Make the video").click()
    studio.until("() => Number(document.querySelector('dialog progress').value) > 0", patience=60)
    dialog.get_by_role("button", name="Cancel").click()
    studio.until("() => [...document.querySelectorAll('.toast')].some((e) => e.textContent.includes('given up'))")
    studio.run()
    studio.wait_time(0.1)  # the page shows the session again
    drawn = studio.get("drawn")
    studio.until("(before) => impulsar.drawn() > before + 2", drawn)


def test_what_is_not_recorded_is_refused(server: Server) -> None:
    """A request that asks for more than there is, or than one answer holds, says so."""
    with StudioClient(server.link) as client:
        for query, words in (
            ("since=-5&until=0&gap=0.01", "recorded"),
            ("since=0&until=1e6&gap=0.01", "at most"),
            ("since=0&until=1", "wanted"),
            ("since=0&until=0.1&gap=0.01&vectors=colour", "no vectors colour"),
        ):
            answer = client.request("GET", f"/api/frames?{query}")
            assert answer.status == 422 and words.encode() in answer.body, (query, answer.body)
