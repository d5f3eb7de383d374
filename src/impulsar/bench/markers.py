"""Time to find a marker and its pose in a picture, beside what OpenCV takes to find its own corners."""

import time
from collections.abc import Callable

import numpy as np

from ..ar.markers import MarkerFinder, single
from ..ar.patterns import Marker, dictionary
from ..ar.status import opencv
from ..ar.synthetic import Renderer, printed
from ..validate.marker_cases import BOUNDS, LENS, visible

POSES = 20  # a distance


def run() -> list[dict]:
    """Median times of a picture, by distance."""
    marker = Marker(7)
    finder, random, renderer = MarkerFinder(LENS), np.random.default_rng(1), Renderer(LENS)
    options = opencv("markers").aruco.DetectorParameters()
    options.cornerRefinementMethod = opencv("markers").aruco.CORNER_REFINE_SUBPIX
    peer = opencv("markers").aruco.ArucoDetector(dictionary(marker.dictionary), options)
    rows = []
    for distance in BOUNDS:
        images = [renderer.render([printed(marker)], visible(random, distance, marker)) for _ in range(POSES)]
        ours = _median(images, lambda image: single(marker).poses(finder.find(image, [marker.number])))
        theirs = _median(images, peer.detectMarkers)
        rows.append({"distance [m]": distance, "pose [ms]": 1e3 * ours, "OpenCV's corners [ms]": 1e3 * theirs})
    return rows


def _median(images: list[np.ndarray], find: Callable[[np.ndarray], object]) -> float:
    find(images[0])
    times = []
    for image in images:
        began = time.perf_counter()
        find(image)
        times.append(time.perf_counter() - began)
    return float(np.median(times))
