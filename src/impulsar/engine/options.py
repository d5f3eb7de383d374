"""Options of methods as kernels read them: `m.options[Option.rtol]`.

An option has a name and no number that anybody need know: `places` gives each name a place in `SystemArrays.options`,
as an attribute of a class, which a kernel takes for a constant. `Option` has what the stages that methods share read; a
method with more of its own takes `own_options`, which has them as well.
"""

from typing import Any

MOST_OPTIONS = 32


def places(**at: int) -> Any:
    """A class whose attributes are places in an array, which kernels read as constants."""
    return type("Places", (), at)


SHARED = (
    "limit",  # of work in a nominal step, in the method's own unit
    "epsilon",  # largest impulse increment of a last sweep [N s, N m s]
    "warm_start",
    "split_impulses",
    "stick",
    "beta",
    "rtol",
    "atol",
    "impulse_step",  # largest impulsive sub-step [s]
    "fixed",  # size of sub-steps that are all alike, over the nominal step
    "modes",  # 1: friction and limits have modes in smooth sub-steps, 0: they are left to impulses
    "pair",  # 0: the one that is less work, 1: explicit, 2: implicit
    "steady",  # 1: sub-steps as long as the nominal step, whatever their error
    "closing",  # how a sub-step closes the joints; see engine/integrate/closing.py
    "alpha",  # of Baumgarte's stabilisation [1/s]
    "square",  # its β² [1/s²]
)
Option = places(**{name: place for place, name in enumerate(SHARED)})


def own_options(*names: str) -> Any:
    """Places of a method's own options, and of the shared ones."""
    taken = sorted({name for name in names if names.count(name) > 1 or hasattr(Option, name)})
    if taken or len(SHARED) + len(names) > MOST_OPTIONS:
        told = f"{', '.join(taken)} are taken" if taken else f"there is room for {MOST_OPTIONS - len(SHARED)}"
        raise ValueError(f"own options {', '.join(names)}: {told}; choose others")
    return type("Places", (Option,), {name: place for place, name in enumerate(names, len(SHARED))})
