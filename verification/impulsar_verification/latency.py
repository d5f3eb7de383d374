"""How long a person waits for the picture of what the pointer did, over ten minutes of a studio in its own process.

    python -m impulsar_verification.latency [MINUTES]

A hand is moved 60 times a second. A third process does nothing but look at the clock every millisecond: where it too
saw nothing for a while, the machine stood, and no program on it could have answered. Such events are told apart.
"""

import multiprocessing
import re
import subprocess
import sys
import time
from typing import Any

import numpy as np

from impulsar.bench.session import drag
from impulsar.edits import Grab, Release
from impulsar.scenes import scene
from impulsar.studio.client import StudioClient

SCENE, BODY = "ten-pendula", "link10"
WORST = 0.035  # wanted of every event [s]
STOOD = 0.010  # without a look at the clock: the machine stood [s]


def watch(stop: Any, pipe: Any) -> None:
    """Send when and for how long the machine stood, until told to stop [monotonic s, s]."""
    stood, before = [], time.monotonic()
    while not stop.is_set():
        time.sleep(0.001)
        now = time.monotonic()
        if now - before > STOOD:
            stood.append((before, now))
        before = now
    pipe.send(stood)


def measure(link: str, minutes: float) -> np.ndarray:
    """When events were sent and how long each took [event, 2] [monotonic s, s]."""
    with StudioClient(link) as client:
        start = client.frame()
        client.edit(Grab("pointer", BODY))
        place = start.poses[list(scene(SCENE).bodies).index(BODY), :3].astype(float)
        found = drag(client, place, round(3600 * minutes))
        client.edit(Release("pointer"))
    return np.array(found)


def main(minutes: float) -> int:
    studio = subprocess.Popen(
        [sys.executable, "-m", "impulsar", "studio", SCENE, "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    stop, (near, far) = multiprocessing.Event(), multiprocessing.Pipe()
    watcher = multiprocessing.Process(target=watch, args=(stop, far), daemon=True)
    try:
        assert studio.stdout is not None
        link = next(found.group(0) for line in studio.stdout if (found := re.search(r"https?://\S+", line)))
        watcher.start()
        sent, took = measure(link, minutes).T
    finally:
        stop.set()
        studio.terminate()
    stood = np.array(near.recv()).reshape(-1, 2)
    watcher.join()
    is_stood = np.array(
        [((stood[:, 0] < at + late) & (stood[:, 1] > at)).any() for at, late in zip(sent, took, strict=True)]
    )
    worst = float(took[~is_stood].max())
    quantiles = " ".join(f"{name} {1e3 * np.quantile(took, q):.1f}" for name, q in (("median", 0.5), ("99.9 %", 0.999)))
    print(f"{len(took)} events over {minutes:g} min [ms]: {quantiles} worst {1e3 * took.max():.1f}")
    print(f"machine stood {len(stood)} times, for {1e3 * np.diff(stood).max(initial=0.0):.1f} ms at most; ", end="")
    print(f"worst of the {np.count_nonzero(~is_stood)} events beside it {1e3 * worst:.1f} ms, wanted {1e3 * WORST:.0f}")
    return int(worst > WORST)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0))
