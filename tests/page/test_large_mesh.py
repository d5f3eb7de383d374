"""A mesh of many triangles: it travels as binary beside the scene, is drawn, and is found by a pointer."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import impulsar as im
from impulsar.history import History
from impulsar.studio.geometry import MOST_IN_SCENE, digest_of, packed
from impulsar.studio.player import player_html
from impulsar.studio.server import Place
from impulsar.studio.server import Studio as Server
from impulsar.studio.session import Session

from .browser import Studio

RADIUS = 0.1  # [m]


def ball(rings: int) -> im.Mesh:
    """A ball of 2 n (n - 1) triangles, of n rings by n sectors."""
    n = rings
    u, v = np.linspace(0, np.pi, n + 1)[1:-1], np.arange(n) * 2 * np.pi / n
    side = [np.outer(np.sin(u), np.cos(v)).ravel(), np.outer(np.sin(u), np.sin(v)).ravel(), np.repeat(np.cos(u), n)]
    points = RADIUS * np.vstack([np.transpose(side), [0, 0, 1], [0, 0, -1]])
    i, j = (each.ravel() for each in np.meshgrid(np.arange(n - 2), np.arange(n), indexing="ij"))
    a, b, k, last = i * n + j, i * n + (j + 1) % n, np.arange(n), (n - 2) * n
    caps = [np.c_[np.full(n, len(points) - 2), k, (k + 1) % n]]
    caps.append(np.c_[np.full(n, len(points) - 1), last + (k + 1) % n, last + k])
    return im.Mesh(points, np.vstack([np.c_[a, a + n, b + n], np.c_[a, b + n, b], *caps]))


@pytest.fixture
def world() -> im.World:
    model = im.Model("ball")
    body = model.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), shape=ball(100))
    model.joint("hinge", "revolute", model.ground, body, at=(0, 0, 0.2), axis=(0, 1, 0))
    return im.World(model)


@pytest.fixture
def server(world: im.World) -> Iterator[Server]:
    server = Server(Session(History(world), im.World, History, "ball"), Place())
    server.start()
    yield server
    server.stop()


def test_it_is_fetched_drawn_and_picked(server: Server, open_page: Callable[..., Studio]) -> None:
    """The scene has its digest and no triangle; a pointer within its outline takes it, one beside it does not."""
    studio = open_page(server.url)
    studio.until("() => impulsar.keepView()")
    (shape,) = studio.get("scene")["bodies"][0]["shapes"]
    assert shape["triangles"] is None and len(shape["digest"]) == 64
    np.testing.assert_allclose(shape["points"], [[-RADIUS] * 3, [RADIUS] * 3], atol=1e-12)
    sent = studio.ask(
        """() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("api/geometry"))
                    .map(({ decodedBodySize }) => decodedBodySize)"""
    )
    assert sent == [8 + 12 * 9902 + 12 * 19_800]
    for share, picked in ((1.3, None), (0.9, "ball")):  # the ball is seen from the front: its outline is its radius
        at = studio.get("worldPixel", [share * RADIUS / 2**0.5, 0, share * RADIUS / 2**0.5])
        studio.page.mouse.click(at["x"], at["y"])
        studio.settle()
        assert (studio.get("pick") or {}).get("name") == picked


def test_small_ones_stay_in_the_scene_and_players_have_large_ones(world: im.World) -> None:
    assert digest_of(ball(50)) is None  # 4,900 triangles
    large = world.model.bodies["ball"].shapes[0]
    assert len(large.triangles) > MOST_IN_SCENE
    data = packed(large)
    counts = np.frombuffer(data, "<u4", 2)
    assert counts.tolist() == [len(large.vertices), len(large.triangles)] == [9902, 19_800]
    assert np.frombuffer(data, "<u4", offset=8 + 12 * counts[0]).reshape(-1, 3).tolist() == large.triangles.tolist()
    page = player_html(world, world.run(0.02, every=0.01, progress=False))
    assert f'"meshes":{{"{digest_of(large)}":"' in page.replace(": ", ":")
