"""What a world tells of how its steps are compiled."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..author.errors import ModelError
from ..engine.methods.base import refuse_compiling

if TYPE_CHECKING:
    from ..engine.compile.launch import Compilation
    from .background import Background
    from .runner import Runner


def compilation_of(runner: "Runner", background: "Background | None", refused: str) -> "Compilation | None":
    """How steps are compiled; None where they are not to be. background: of steps that are compiled beside the world;
    refused: why those of a batch, which would be, are not."""
    if runner.recipe is None and background is None and not refused:
        return None
    from ..engine.compile.launch import Compilation

    launch = runner.launch
    told: Compilation = launch.told() if hasattr(launch, "told") else Compilation(0, 0, 0, 0, "")
    beside = "" if background is None else background.refused
    return replace(told, refused=told.refused or beside or refused or _hindrance(runner, background is not None))


def _hindrance(runner: "Runner", beside: bool) -> str:
    """Why steps are the kernel's as things are, as far as it shows before one is compiled; empty: nothing hinders."""
    try:
        refuse_compiling(runner.method, runner.system)
    except ModelError as error:
        return str(error)
    if runner.system.channels.callables:
        return "inputs are formulas or Python callables, for which each step waits; take other profiles"
    if beside and runner.beats:
        return "controllers or sensors act inside of steps; take compile='now'"
    return ""
