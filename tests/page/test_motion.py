"""What is shown between frames is the motion, not a slide show of it."""

from collections.abc import Callable

import numpy as np
import pytest

import impulsar as im

from .browser import Server, Studio

DT = 0.001  # step of the four-bar [s]
WIDEST = 0.03  # [s], between frames that are 0.017 s apart where the machine has time for them


@pytest.mark.timed  # a busy machine sends few frames that are near enough to each other to be judged
@pytest.mark.parametrize("speed", ["1", "0.1"])
def test_pictures_between_frames_show_the_true_poses(open_page: Callable[..., Studio], speed: str) -> None:
    """Frames some 16 steps apart: poses between them are within 1e-3 of the size of those the steps went through."""
    server = Server("four-bar", "--paused")
    try:
        studio = open_page(server.link, viewport={"width": 420, "height": 420})  # many pictures, however drawn
        studio.page.select_option("#speed", speed)
        studio.until("(speed) => impulsar.status().speed === Number(speed)", speed)
        studio.get("film")
        studio.get("record")
        studio.run()
        studio.until("(enough) => impulsar.drawn() > enough", studio.get("drawn") + 40)
        film = [one for one in studio.get("filmed") if one["time"] > 0]
        size = studio.get("scene")["size"]
        frames = [one["time"] for one in studio.get("recorded")]
    finally:
        server.stop()
    assert len(film) > 5
    world = im.World(im.scene("four-bar"))
    bodies = list(world.model.bodies)
    assert world.dt == DT
    true = [_poses(world, bodies)]
    for _ in range(int(film[-1]["time"] / DT) + 2):
        world.step()
        true.append(_poses(world, bodies))
    between = checked = 0
    for one in film:
        before = max((time for time in frames if time <= one["time"]), default=0.0)
        if min((time for time in frames if time > one["time"]), default=before) - before > WIDEST:
            continue  # a busy machine
        checked += 1
        k, share = divmod(one["time"] / DT, 1.0)
        wanted = (1 - share) * true[int(k)] + share * true[int(k) + 1]  # a step is 1 ms: straight to 1e-5
        shown = np.array(one["poses"]).reshape(-1, 7)
        assert np.abs(shown[:, :3] - wanted[:, :3]).max() < 1e-3 * size, one["time"]
        turned = [
            min(np.abs(a - b).max(), np.abs(a + b).max()) for a, b in zip(shown[:, 3:], wanted[:, 3:], strict=True)
        ]
        assert 2 * max(turned) < 2e-3, one["time"]  # of the angle: 1e-3 of the size at half of it
        between += abs(one["time"] / DT - round(one["time"] / DT)) > 0.01
    assert checked > 5 and between > 0, "poses of frames only"


def _poses(world: im.World, bodies: list[str]) -> np.ndarray:
    return np.array([[*world.body(name).position, *world.body(name).orientation] for name in bodies])
