"""The page's tests run in a real browser (Chromium, software WebGL) on a real studio."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from .browser import FLAGS, SEASONED, Server, Studio, find_chromium


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try once more what fails here: a press meets a picture that moves. The log shows it as RERUN."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=[".*"]))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A studio for the tests of this process, on the ten pendula hanging at rest."""
    server = Server("ten-pendula")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def nothing() -> Iterator[Server]:
    """Another, which begins with the empty scene."""
    server = Server("empty", "--paused")
    yield server
    server.stop()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Studio]]:
    """Opens links in contexts of their own; whatever the page complains of fails the test."""
    contexts: list[BrowserContext] = []
    studios: list[Studio] = []

    def open_page(link: str, script: str = "", **options: Any) -> Studio:
        context = browser.new_context(
            **{"viewport": {"width": 1000, "height": 680}, "accept_downloads": True, **options}
        )
        contexts.append(context)
        context.add_init_script(SEASONED + script)  # before the page's own
        studio = Studio(context.new_page())
        studios.append(studio)
        return studio.open(link)

    yield open_page
    problems = [problem for studio in studios for problem in studio.problems]
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def open_scene(server: Server, open_page: Callable[..., Studio]) -> Callable[..., Studio]:
    """Opens a page on a built-in scene at its start; options are those of `open_page`."""

    def open_scene(scene: str = "ten-pendula", keep_view: bool = True, **options: Any) -> Studio:
        return open_page(server.begin(scene), **options).ready(keep_view)

    return open_scene


@pytest.fixture
def open_empty(nothing: Server, open_page: Callable[..., Studio]) -> Callable[..., Studio]:
    """Opens a page on the empty scene, which is stopped, with the tool in hand; options are those of `open_page`."""

    def open_empty(**options: Any) -> Studio:
        studio = open_page(nothing.begin("empty", runs=False), **options)
        studio.until("() => impulsar.status().paused && impulsar.tool() === 'link' && impulsar.settled()")
        return studio

    return open_empty


@pytest.fixture
def studio(request: pytest.FixtureRequest, open_scene: Callable[..., Studio]) -> Studio:
    """The page on the scene that the test is marked with, or on the ten pendula, fresh."""
    mark = request.node.get_closest_marker("scene")
    return open_scene(*mark.args, **mark.kwargs) if mark else open_scene()
