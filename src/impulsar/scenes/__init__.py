"""Built-in scenes: one file each, a function of its parameters that returns a model."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from ..author.checks import flag, number, show
from ..author.errors import ModelError
from ..author.model import Model
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


MOST_PARTS = 100_000  # that a parameter of a scene may ask for
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
    if not isinstance(name, str) or name not in SCENES:
        raise ModelError(f"no scene {show(name)}; {_hint(name, SCENES)}")
    known = SCENES[name].parameters
    for key, value in parameters.items():
        if key not in known:
            raise ModelError(f"scene '{name}': no parameter {key!r}; {_hint(key, known)}")
        _check_kind(f"scene '{name}' with {key}={show(value)}", key, value, known[key])
    return SCENES[name].build(**parameters)


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


def _hint(name: object, known: dict) -> str:
    close = get_close_matches(name[:100] if isinstance(name, str) else "", list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(known)}"
