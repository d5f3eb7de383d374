"""Scenes of large worlds as pages offer them, how many bodies they have, and what becomes a large world."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...author.errors import ModelError
from ...author.model import Model
from ...author.names import closest
from ...engine.large.bulk import Bulk
from .. import messages as ms

MOST_BODIES = 4_000_000
BEGINS = {  # sizes with which the studio begins, that a core steps several times a second
    "chain": {"n": 10_000},
    "tree": {"n": 10_000},
    "spheres": {"n": 5_000},
    "boxes": {"n": 1_000},
    "net": {"n": 40},
    "settling": {"n": 5_000},
    "hopper": {"n": 1_000},
    "conveyor": {"plates": 100},
}
BODIES: dict[str, Callable[[dict[str, Any]], int]] = {  # of scenes whose n is something else
    "net": lambda p: p["n"] ** 2,
    "hopper": lambda p: p["n"] + 1,
    "conveyor": lambda p: 2 * p["plates"],
}
INVITES = {
    "chain": "Hangs from its first link; ask for 100,000 links, and look at the gap of its joints.",
    "tree": "Every link carries two more; it swings and folds, its joints closed to rounding.",
    "spheres": "They fall, and come to rest: see the kinetic energy go and the overlap stay.",
    "boxes": "Each was turned at random; they tumble into a pile.",
    "stack": "Ten cubes that stay where they are.",
    "net": "Flat at first; it falls and swings from its first row.",
    "settling": "Glass in water: they reach their terminal speed and settle.",
    "hopper": "The gate opens after a second.",
    "conveyor": "A motor pulls the first plate; the boxes slip until friction has brought them along.",
}


@dataclass(frozen=True)
class Source:
    """What a large world is made of, and where it is from."""

    scene: str
    parameters: dict[str, Any]
    what: Bulk | Model
    dt: float


def entries() -> list[ms.SceneEntry]:
    """What there is to choose from."""
    return [
        ms.SceneEntry(
            name=name,
            description=((build.__doc__ or "").strip().splitlines() or [""])[0].replace("`", ""),
            parameters=_defaults(name),
            choices={},
            invite=INVITES.get(name, ""),
            picture=False,
        )
        for name, build in _scenes().items()
    ]


def _defaults(name: str) -> dict[str, Any]:
    own = {key: each.default for key, each in inspect.signature(_scenes()[name]).parameters.items()}
    return own | BEGINS.get(name, {})


def is_large_scene(name: str) -> bool:
    return name in _scenes()


def check(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """All parameters of a scene; refused before anything is made of them."""
    if name not in _scenes():
        raise ModelError(f"large scene '{name}': unknown; {closest(name, list(_scenes()))}")
    known = _defaults(name)
    for key in parameters:
        if key not in known:
            raise ModelError(f"large scene '{name}': no parameter '{key}'; {closest(key, list(known))}")
    settings = known | parameters
    for key, value in settings.items():
        is_whole = isinstance(known[key], int) and not isinstance(known[key], bool)
        if is_whole and isinstance(value, float) and value.is_integer():
            settings[key] = value = int(value)  # as JSON has it
        if is_whole and (isinstance(value, bool) or not isinstance(value, int)):
            raise ModelError(f"large scene '{name}': {key} is {value!r}, expected a whole number")
    asked = BODIES.get(name, lambda p: p["n"])(settings)
    if asked > MOST_BODIES:
        raise ModelError(f"large scene '{name}': {asked:,} bodies, expected at most {MOST_BODIES:,} in the studio")
    return settings


def source_of(name: str, parameters: dict[str, Any], dt: float | None = None) -> Source:
    """A scene of the catalogue, made."""
    settings = check(name, parameters)
    from ...scale.large.command import bulk_by_name, default_step

    bulk = bulk_by_name(name, settings)
    return Source(name, settings, bulk, dt or default_step(bulk))


def _scenes() -> dict[str, Callable[..., Any]]:
    """By name; none of large worlds, nor SciPy, is loaded before somebody asks for them."""
    from ...scale.large.command import scenes

    return scenes()
