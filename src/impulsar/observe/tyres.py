"""What tyres do now: contact, forces, slips, as the forces of an instant have them."""

import numpy as np
import warp as wp

from ..engine.forces.tyres import touch_road
from ..engine.spatial import angular, f64, linear, vec3
from ..engine.state import State, StateArrays, WorkArrays
from ..engine.system import System, SystemArrays
from .reading import Reading

SLIPS = ("slip", "angle", "camber", "deflection", "moment", "drag")


@wp.kernel(enable_backward=False)
def tyres_kernel(
    # model
    m: SystemArrays,
    # state in
    s: StateArrays,
    x: WorkArrays,
    # out
    point: wp.array2d(dtype=vec3),  # [tyre, world] of the contact [m]
    normal: wp.array2d(dtype=vec3),
    ahead: wp.array2d(dtype=vec3),  # the rolling direction in it
    patch: wp.array2d(dtype=vec3),  # forces along it, to the left, along the normal [N]
    force: wp.array2d(dtype=vec3),  # on the wheel, world axes [N]
    torque: wp.array2d(dtype=vec3),  # about the wheel's centre of mass [N m]
    slips: wp.array2d(dtype=f64),  # [6 · tyre + SLIPS]
):
    """Every tyre of a world."""
    w = wp.tid()
    for k in range(m.tyre_set.shape[0]):
        T = touch_road(m, s, x, k, w)
        point[k, w] = T.point
        normal[k, w] = T.normal
        ahead[k, w] = T.ahead
        patch[k, w] = T.force
        force[k, w] = linear(T.wrench)
        torque[k, w] = angular(T.wrench)
        slips[6 * k, w] = T.along
        slips[6 * k + 1, w] = wp.atan(T.across)
        slips[6 * k + 2, w] = T.camber
        slips[6 * k + 3, w] = wp.max(T.deflection, f64(0.0))
        slips[6 * k + 4, w] = T.moment
        slips[6 * k + 5, w] = T.drag


class Treads:
    """Reads the tyres of a system."""

    def __init__(self, system: System, state: State, work: WorkArrays):
        n, worlds, device = len(system.model.tyres), system.counts.worlds, system.device
        made = [wp.zeros((n, worlds), dtype=vec3, device=device) for _ in range(6)]
        made.append(wp.zeros((6 * n, worlds), dtype=f64, device=device))
        inputs = [system.arrays, state.arrays, work]
        self._reading = Reading(tyres_kernel, worlds, inputs, made) if n else None
        self._none = np.zeros((0, worlds, 3)), np.zeros((0, worlds))

    def vectors(self, name: str) -> np.ndarray:
        """Of "point", "normal", "ahead", "patch", "force" or "torque" [tyre, world, axis]."""
        if self._reading is None:
            return self._none[0]
        return self._reading.read()[("point", "normal", "ahead", "patch", "force", "torque").index(name)]

    def numbers(self, name: str) -> np.ndarray:
        """One of SLIPS [tyre, world]."""
        return self._none[1] if self._reading is None else self._reading.read()[6][SLIPS.index(name) :: 6]
