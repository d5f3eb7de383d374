"""Draw the scenes as the studio's gallery shows them: src/impulsar/studio/thumbnails, a strip of poses each.

    python tools/thumbnails.py [SCENE ...]

To be run again when a scene has changed, or is new.
"""

import io
import sys
from pathlib import Path

from PIL import Image

import impulsar as im
from impulsar.render import strip_png
from impulsar.scenes import OWN

FOLDER = Path(__file__).resolve().parents[1] / "src" / "impulsar" / "studio" / "thumbnails"
POSES, WIDTH = 12, 160  # as client/src/gallery.css has them
LONGEST = 4.0  # of what is shown [s]
SHOWN = {  # other than by default, so that there is something to see
    "ten-pendula": {"start": "30deg"},
    "cross-lift": {"case": "hand"},
    "ball-pit": {"n": 60},
    "stack": {"n": 6, "gap": 0.08, "offset": 0.01},
    "arch": {"thickness": 0.09},
}
LASTING = {
    "stack": 1.0,
    "stone": 6.0,
    "grasp": 8.0,
    "peaucellier": 6.3,
    "tippe-top": 3.0,
    "rolling-disc": 1.5,
    "fluid-drop": 0.4,
}


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names or OWN:
        model = im.scene(name, **SHOWN.get(name, {}))
        world = im.World(model)
        duration = LASTING.get(name, min(model.duration or LONGEST, LONGEST))
        every = world.dt * max(1, round(duration / world.dt / 60))
        result = world.run(duration, every, progress=False, variables=["position", "orientation"])
        strip = Image.open(io.BytesIO(strip_png(model, result, POSES, WIDTH)))
        strip.save(FOLDER / f"{name}.webp", quality=70, method=6)
        print(name, (FOLDER / f"{name}.webp").stat().st_size, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
