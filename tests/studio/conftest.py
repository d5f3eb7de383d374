"""Studios to try things on: a real server on a free port, one per module."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import impulsar as im
from impulsar.history.history import History
from impulsar.studio.client import StudioClient
from impulsar.studio.large.session import LargeSession
from impulsar.studio.security import Limits
from impulsar.studio.server import Place, Studio
from impulsar.studio.session import Session

Make = Callable[..., Studio]


@pytest.fixture(scope="module")
def make_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Starts studios and ends them with the module."""
    running: list[Studio] = []

    def make(
        scene: str = "ten-pendula",
        limits: Limits | None = None,
        place: Place | None = None,
        large: LargeSession | None = None,
        **parameters,
    ) -> Studio:
        path = tmp_path_factory.mktemp("journal") / "session.journal"

        def history(world: im.World) -> History:
            path.unlink(missing_ok=True)
            return History(world, path)

        world = im.World(im.scene(scene, **parameters))
        studio = Studio(Session(history(world), im.World, history, scene), place, limits, large=large)
        studio.start()
        running.append(studio)
        return studio

    yield make
    for studio in running:
        studio.stop()


@pytest.fixture(scope="module")
def studio(make_studio: Make) -> Studio:
    return make_studio(start="30deg")


@pytest.fixture
def page(studio: Studio) -> Iterator[StudioClient]:
    """A client of a session that is at its start and runs; patient, because a method may have to be compiled."""
    with StudioClient(studio.url, timeout=90.0) as client:
        client.control("speed", 1.0)
        client.control("scene", name="ten-pendula", parameters={"start": "30deg"})
        client.control("run")
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
