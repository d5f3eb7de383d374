"""Built-in scenes: one file each, a function of its parameters that returns a model."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from ..model import Model, ModelError
from . import chain, cross_lift, five_link, four_bar, manipulator, n_four_bar, peaucellier, slider_crank, ten_pendula


@dataclass(frozen=True)
class Scene:
    """A built-in mechanism."""

    name: str
    build: Callable[..., Model]

    @property
    def description(self) -> str:
        """One line."""
        return (self.build.__doc__ or "").strip().splitlines()[0]

    @property
    def parameters(self) -> dict[str, object]:
        """Names and default values."""
        return {name: p.default for name, p in inspect.signature(self.build).parameters.items()}


SCENES = {
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
    )
}


def scene(name: str, **parameters: object) -> Model:
    """The model of a built-in scene, with its parameters: scene("ten-pendula", start="30deg")."""
    if name not in SCENES:
        raise ModelError(f"no scene {name!r}; {_hint(name, SCENES)}")
    known = SCENES[name].parameters
    for key in parameters:
        if key not in known:
            raise ModelError(f"scene '{name}': no parameter {key!r}; {_hint(key, known)}")
    return SCENES[name].build(**parameters)


def _hint(name: str, known: dict) -> str:
    close = get_close_matches(str(name), list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(known)}"
