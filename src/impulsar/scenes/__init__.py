"""Scenes: one file each, a function of its parameters that returns a model; every one takes `floor` besides.

Other packages add theirs by entry points of the group `impulsar.scenes`, each such a function, or a Scene.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..author.checks import flag, number, show
from ..author.errors import ModelError
from ..author.model import Model
from ..plugins import Registry
from . import (
    about,
    arch,
    ball_pit,
    bicycle_model,
    buoy,
    cam,
    chain,
    cross_lift,
    dominoes,
    five_bar,
    five_link,
    fluid_drop,
    four_bar,
    gear_train,
    geneva,
    gps_drive,
    grasp,
    jansen_leg,
    manipulator,
    minibaja,
    n_four_bar,
    newtons_cradle,
    peaucellier,
    quarter_car,
    ratchet,
    rolling_disc,
    scissor,
    six_bar,
    slider_crank,
    stack,
    stewart_platform,
    stone,
    suspension_corner,
    ten_pendula,
    tippe_top,
    walker,
)
from .about import Note
from .floors import BELOW, add_floor
from .parts import STARTS
from .suspension_corner import RIGS

if TYPE_CHECKING:
    from ..world.world import World


@dataclass(frozen=True)
class Scene:
    """A mechanism by name."""

    name: str
    build: Callable[..., Model]
    invite: str = ""  # a line on what to try
    below: float = BELOW  # where its floor is, under its lowest point, of its size
    choices: Mapping[str, Iterable[str]] = field(default_factory=dict)  # texts that a parameter may be
    about: Callable[["World"], list[Note]] | None = None  # what it is about, as it is now

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
        if isinstance(model, Model):
            model.scene = self.name
        return model


EMPTY = "empty"  # nothing but the ground; no mechanism, so that the catalogue does not have it
MOST_PARTS = 100_000  # that a parameter of a scene may ask for
OWN = {
    scene.name: scene
    for scene in (
        Scene("ten-pendula", ten_pendula.build, "Pull the last link, and let go.", choices={"start": STARTS}),
        Scene("cross-lift", cross_lift.build, "Press the plate down by hand.", choices={"case": cross_lift.CASES}),
        Scene("five-link", five_link.build, "Swing it: friction stops it for good.", choices={"start": STARTS}),
        Scene("peaucellier", peaucellier.build, "Pull the pin D off its line: you cannot.", about=about.peaucellier),
        Scene(
            "slider-crank", slider_crank.build, "Stop time and drag the slider through a turn.",
            about=about.slider_crank,
        ),
        Scene("quarter-car", quarter_car.build, "Make the damper weaker, and watch the wheel."),
        Scene("four-bar", four_bar.build, "Stop time and drag the crank around.", about=about.four_bar),
        Scene("n-four-bar", n_four_bar.build, "Watch it pass flat, where it could turn either way."),
        Scene("six-bar", six_bar.build, "Plot the ram's speed: back is twice as fast as forth.", about=about.six_bar),
        Scene("five-bar", five_bar.build, "Follow the pen, then change the motors."),
        Scene("scissor", scissor.build, "Plot the screw's force as the plate rises.", about=about.scissor),
        Scene(
            "jansen-leg", jansen_leg.build, "Follow the toe: it is flat on the ground for two fifths of a turn.",
            about=about.jansen_leg,
        ),
        Scene(
            "gear-train", gear_train.build, "Stand on the weight by hand: the motor feels a sixth.",
            about=about.gear_train,
        ),
        Scene("suspension-corner", suspension_corner.build, "Lift the wheel by hand.", choices={"rig": RIGS}),
        Scene(
            "stewart-platform", stewart_platform.build, "Pull the plate: the legs hold.",
            choices={"motion": stewart_platform.MOTIONS},
        ),
        Scene(
            "minibaja", minibaja.build, "Turn the rack: set the steering, or push the car by hand.",
            choices={"drive": minibaja.DRIVES, "road": minibaja.ROADS},
        ),
        Scene("bicycle-model", bicycle_model.build, "Raise the speed, and plot the slip angles."),
        Scene("gps-drive", gps_drive.build, "Make the houses twice as high: the fix is lost for longer."),
        Scene("manipulator", manipulator.build, "Hold a link back and look at the motors' torques."),
        Scene("chain", chain.build, "Give it 200 links.", choices={"start": STARTS}),
        Scene("grasp", grasp.build, "Loosen the grip to 0.98: it stays on the table.", choices={"thing": grasp.THINGS}),
        Scene("stone", stone.build, "Pull a finger off the stone."),
        Scene("stack", stack.build, "Pull out a box from below."),
        Scene("dominoes", dominoes.build, "Make them four times as high: twice as fast."),
        Scene("arch", arch.build, "Make it 0.09 m thick: it falls."),
        Scene("ball-pit", ball_pit.build, "Stir it."),
        Scene(
            "newtons-cradle", newtons_cradle.build, "Lift two balls and let go.",
            choices={"kind": newtons_cradle.KINDS},
        ),
        Scene("rolling-disc", rolling_disc.build, "Touch it while it rolls.", choices={"motion": rolling_disc.MOTIONS}),
        Scene("tippe-top", tippe_top.build, "Wait a second: it stands on its head.", about=about.tippe_top),
        Scene(
            "cam", cam.build, "Drive it beyond 40.4 rad/s: the follower flies off.",
            choices={"follower": cam.FOLLOWERS, "profile": cam.PROFILES},
        ),
        Scene("ratchet", ratchet.build, "Lift the pawl while the wheel is turned back."),
        Scene("geneva", geneva.build, "Hold the wheel while the pin enters.", below=0.15),  # room for the crank
        Scene("walker", walker.build, "Push it, or hold a foot."),
        Scene("fluid-drop", fluid_drop.build, "Make the water as dense as the steel, 7850: it stays where it is."),
        Scene("buoy", buoy.build, "Pull the buoy under by hand, and let go."),
    )
}  # fmt: skip


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
    """The model of a scene, with its parameters: scene("ten-pendula", start="30deg"); "empty" has only the ground."""
    if name == EMPTY and not parameters:
        return Model(EMPTY)
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
