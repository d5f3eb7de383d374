"""Scenes: one file each, a function of its parameters that returns a model; every one takes `floor` besides.

Other packages add theirs by entry points of the group `impulsar.scenes`, each such a function, or a Scene.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..author.checks import flag, number, show
from ..author.errors import ModelError
from ..author.model import Model
from ..plugins import Registry
from . import (
    arch,
    ball_pit,
    cam,
    chain,
    cross_lift,
    dominoes,
    five_link,
    four_bar,
    geneva,
    grasp,
    manipulator,
    n_four_bar,
    newtons_cradle,
    peaucellier,
    ratchet,
    rolling_disc,
    slider_crank,
    stack,
    stone,
    ten_pendula,
    tippe_top,
    walker,
)
from .floors import BELOW, add_floor


@dataclass(frozen=True)
class Scene:
    """A mechanism by name."""

    name: str
    build: Callable[..., Model]
    below: float = BELOW  # where its floor is, under its lowest point, of its size

    @property
    def description(self) -> str:
        """One line."""
        return ((self.build.__doc__ or "").strip().splitlines() or [""])[0]

    @property
    def parameters(self) -> dict[str, object]:
        """Names and default values; `floor` is every scene's."""
        return {**self.own_parameters, "floor": False}

    @property
    def own_parameters(self) -> dict[str, object]:
        """Those of its function."""
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}

    def model(self, **parameters: Any) -> Model:
        """Its model; with floor=True one that has a floor below it."""
        asked = "floor" not in self.own_parameters and parameters.pop("floor", False)
        model = self.build(**parameters)
        if asked:
            add_floor(model, self.below)
        return model


MOST_PARTS = 100_000  # that a parameter of a scene may ask for
OWN = {
    scene.name: scene
    for scene in (
        Scene("ten-pendula", ten_pendula.build),
        Scene("cross-lift", cross_lift.build),
        Scene("five-link", five_link.build),
        Scene("peaucellier", peaucellier.build),
        Scene("slider-crank", slider_crank.build),
        Scene("four-bar", four_bar.build),
        Scene("n-four-bar", n_four_bar.build),
        Scene("manipulator", manipulator.build),
        Scene("chain", chain.build),
        Scene("grasp", grasp.build),
        Scene("stone", stone.build),
        Scene("stack", stack.build),
        Scene("dominoes", dominoes.build),
        Scene("arch", arch.build),
        Scene("ball-pit", ball_pit.build),
        Scene("newtons-cradle", newtons_cradle.build),
        Scene("rolling-disc", rolling_disc.build),
        Scene("tippe-top", tippe_top.build),
        Scene("cam", cam.build),
        Scene("ratchet", ratchet.build),
        Scene("geneva", geneva.build, below=0.15),  # room for the crank
        Scene("walker", walker.build),
    )
}


def check_scene(name: str, thing: Any) -> Scene:
    """A scene of an entry point; raises TypeError."""
    found = thing if isinstance(thing, Scene) else Scene(name, thing)
    if not callable(found.build) or found.name != name:
        raise TypeError(f"is {thing!r:.80}, expected a function that returns a Model, or a Scene of that name")
    wanting = [key for key, default in found.own_parameters.items() if default is inspect.Parameter.empty]
    if wanting:
        raise TypeError(f"parameters {', '.join(wanting)} have no default")
    return found


SCENES: Registry[Scene] = Registry("impulsar.scenes", OWN, check_scene)


def scene(name: str, **parameters: object) -> Model:
    """The model of a scene, with its parameters: scene("ten-pendula", start="30deg")."""
    if not isinstance(name, str) or name not in SCENES:
        raise ModelError(f"no scene {show(name)}; {_hint(name, SCENES)}")
    known = SCENES[name].parameters
    for key, value in parameters.items():
        if key not in known:
            raise ModelError(f"scene '{name}': no parameter {key!r}; {_hint(key, known)}")
        _check_kind(f"scene '{name}' with {key}={show(value)}", key, value, known[key])
    return SCENES[name].model(**parameters)


def _check_kind(owner: str, key: str, value: object, default: object) -> None:
    """A parameter is of the kind that its default is."""
    if isinstance(default, bool):
        flag(owner, key, value)
    elif isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int) or value > MOST_PARTS:
            raise ModelError(f"{owner}: {key} is {show(value)}, expected an integer >= 1, at most {MOST_PARTS}")
    elif isinstance(default, float):
        number(owner, key, value)
    elif isinstance(default, str) and not isinstance(value, str):
        raise ModelError(f"{owner}: {key} is {show(value)}, expected a text such as {default!r}")


def _hint(name: object, known: Mapping) -> str:
    close = get_close_matches(name[:100] if isinstance(name, str) else "", list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(known)}"
