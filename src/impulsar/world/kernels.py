"""Which kernels a world needs before it is shown; others come with what needs them first, or beside the world."""

from typing import Any

from ..author.model import Model
from ..edits.fit import fit_kernel
from ..engine import stand_ins
from ..engine.collector import uncollected
from ..engine.device import announce_compilation, expected, load_kernels
from ..engine.freedoms import coordinates_kernel, host_device
from ..engine.start.consistent import refresh_kernel
from ..engine.start.redundancy import rows_kernel
from ..engine.system.tree import has_loop
from ..engine.threads import usable_cores
from ..observe.readout import constraint_error_kernel

LATER = (fit_kernel, rows_kernel)  # with edits


def load(kernel: Any, model: Model, device: str, may_stand_in: bool) -> None:
    """Load the kernel of a method, and what every world of a model needs.

    may_stand_in: others may stand in for them while they are compiled, fifty times as slow.
    """
    kernels = [kernel, refresh_kernel, constraint_error_kernel, *expected]
    if model.couplings or model.tyres or has_loop(model):
        kernels.append(rows_kernel)
    with uncollected():
        if device != "cpu":
            announce_compilation(kernel, device)
            load_kernels(kernels, device)
            load_kernels([coordinates_kernel], host_device())
        elif may_stand_in and usable_cores() > 1:
            from .workshop import have_compiled

            stand_ins.begin([*kernels, coordinates_kernel], LATER, have_compiled)
        else:
            stand_ins.wait()
            announce_compilation(kernel, device)
            load_kernels([*kernels, coordinates_kernel], device)
