"""One HTML file with a recorded motion, which opens anywhere without a server: the studio's own picture plays it."""

import base64
import html
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..author.errors import ModelError
from ..world.world import World
from .geometry import meshes_by_digest, packed
from .parts import Parts
from .wire import to_text

if TYPE_CHECKING:
    import xarray as xr

PAGE = Path(__file__).parent / "page"
RATE = 60.0  # samples a second at most; the player draws cubics between them
DIGITS = 9  # of times [s]
FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Impulsar">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{css}</style>
</head>
<body class="player">
<header id="top"><strong id="title">{title}</strong><span class="spring"></span>
<button type="button" id="video" title="The whole motion, 1920 x 1080, 60 pictures a second">Video</button>
<button type="button" id="fit">Fit</button><button type="button" id="theme">Light or dark</button></header>
<section id="stage" aria-label="Picture of the mechanism">
<canvas id="canvas" tabindex="0" role="application" aria-label="3D view"></canvas><div id="labels"></div></section>
<div id="bar" role="group" aria-label="Time"></div>
<script id="motion" type="application/json">{motion}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def player_html(world: World, dataset: "xr.Dataset") -> str:
    """A result of a world, of its first world in a batch, as a page. `world` is asked for its parts only."""
    script, css = (PAGE / "player.js", PAGE / "player.css")
    if not script.is_file():
        raise ModelError("player: the page is not built; run `make page` in the repository, or install a wheel")
    parts = Parts()
    parts.update(world)
    scene = replace(parts.scene(world), scenes=[], quantities=[], methods=[], joint_kinds=[], materials=[])
    drawn = [
        *(one for body in scene.bodies for one in (*body.shapes, *body.visuals)),
        *scene.ground,
        *(o.shape for o in scene.obstacles),
    ]
    digests = {one.digest for one in drawn if one.digest is not None}
    meshes = {digest: base64.b64encode(packed(meshes_by_digest[digest])).decode() for digest in sorted(digests)}
    motion = {"scene": scene, "meshes": meshes, **motion_of(dataset, [body.name for body in scene.bodies])}
    return FRAME.format(
        title=html.escape(world.model.name),
        css=inside(css.read_text(encoding="utf-8"), "style"),
        motion=to_text(motion).replace("<", "\\u003c"),
        script=inside(script.read_text(encoding="utf-8"), "script"),
    )


def motion_of(dataset: "xr.Dataset", names: list[str]) -> dict[str, object]:
    """A result's motion of bodies, of its first world in a batch, packed for the page (client/src/motion.ts)."""
    one = dataset.isel(world=0) if "world" in dataset.dims else dataset
    one = one.sel(body=names).isel(time=_thinned(one["time"].values))
    rows = [one[what].values for what in ("position", "orientation", "angular_velocity", "velocity")]
    poses = np.concatenate(rows[:2], axis=-1).reshape(one.sizes["time"], -1)
    twists = np.concatenate(rows[2:], axis=-1).reshape(one.sizes["time"], -1)
    moments = np.hstack([poses, twists]).astype("<f4").tobytes()
    return {
        "times": [round(float(time), DIGITS) for time in one["time"].values],
        "moments": base64.b64encode(zlib.compress(moments, 9)).decode(),
    }


def _thinned(times: np.ndarray) -> np.ndarray:
    """Which samples are kept: the first, the last, and no more a second than RATE."""
    kept = [0]
    for k, time in enumerate(times):
        if time - times[kept[-1]] >= (1 - 1e-6) / RATE:
            kept.append(k)
    return np.array(kept if kept[-1] == len(times) - 1 else [*kept, len(times) - 1])


def inside(text: str, tag: str) -> str:
    """A text that does not end the element it stands in."""
    return text.replace(f"</{tag}", f"<\\/{tag}")
